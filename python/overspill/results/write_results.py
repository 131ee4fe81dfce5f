"""Writing of results into their folder in place of earlier ones, which survive an interrupted command."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overspill.atomic_files import report_write_errors
from overspill.errors import BadInput, Unwritable
from overspill.results import differences, replaced_results, results_document, results_folder, summary_tables
from overspill.results.finished_runs import FinishedRuns
from overspill.results.rundata import RunData
from overspill.results.table_streams import file_digest


def refuse_other_command(out: Path, sweep: bool) -> None:
    """Raises `BadInput` if a folder has results of `sweep` when `run` is to write there, or the reverse."""
    if (out / results_folder.MANIFEST_FILE).is_file():
        mine, other = ("overspill sweep", "overspill run")[:: 1 if sweep else -1]
        if (
            results_folder.is_sweep_manifest(
                results_folder.parse_manifest(out, f"`{mine}`", results_folder.NEW_FOLDER_ADVICE)
            )
            != sweep
        ):
            raise BadInput(f"--out: {out} has results of `{other}`; expected a new folder or one of `{mine}`")


def write_unless_fewer_runs(results: FinishedRuns, out: Path) -> None:
    """Writes results, unless they are incomplete and earlier results in the folder have runs they lack.

    Complete results replace any earlier ones, and record which.
    """
    before = replaced_results.read_manifest_if_any(out) if has_fewer_runs(results, out) else None
    if results.missing and before is not None:
        return
    results.replaced = (
        None if before is None else replaced_results.ReplacedResults(before, results.facts, out)
    )
    if results.of_sweep:
        write_sweep(results, out)
        return
    staging = results_folder.StagingFolder(out)
    try:
        stage_point(results, staging)
    except BaseException:
        staging.discard()
        raise


def has_fewer_runs(results: FinishedRuns, out: Path) -> bool:
    """Returns true if earlier results in a folder have runs that the new results lack."""
    try:
        before = results_folder.parse_manifest(out, "overspill")
    except BadInput:
        return False
    return not run_keys_of_manifest(before) <= run_keys_of_results(results)


def run_keys_of_manifest(manifest: Mapping[str, Any]) -> set[str]:
    """Returns the keys of the runs that a manifest lists."""
    if results_folder.is_sweep_manifest(dict(manifest)):
        missing = {
            (repr(one["point"]), one["variant"], seed)
            for one in manifest.get("missing", ())
            for seed in one["seeds"]
        }
        return {
            f"{config} {seed} {manifest.get('max_events')}"
            for point in manifest.get("points", ())
            for variant, config in point["configs"].items()
            for seed in manifest.get("seeds", ())
            if (repr(point["values"]), variant, seed) not in missing
        }
    return {
        str(entry.get("key") or f"{entry.get('variant')} {entry.get('seed')}")
        for entry in manifest.get("runs", ())
    }


def run_keys_of_results(results: FinishedRuns) -> set[str]:
    """Returns the keys of the runs of results."""
    if results.of_sweep:
        return run_keys_of_manifest(results.facts)
    return {run.key or f"{run.variant} {run.seed}" for run in results.runs}


def stage_point(results: FinishedRuns, staging: results_folder.StagingFolder) -> None:
    """Writes the results of one point to a staging folder, which then replaces earlier results."""
    runs = [move_tables(staging.folder, run) for run in results.runs]
    results_folder.write_json(
        staging.folder / results_folder.RESULTS_FILE, results_document.build_document(results)
    )
    drawn = unchanged_report_files(results, staging)
    facts = results.facts | ({"report": drawn} if drawn else {})
    identity = results_folder.write_manifest(staging.folder, facts, runs)
    staging.commit(drawn)
    results.identity = identity
    results.folder = staging.out
    results.runs = [run.with_tables_in(results_folder.run_folder(staging.out, run)) for run in runs]


def unchanged_report_files(results: FinishedRuns, staging: results_folder.StagingFolder) -> list[str]:
    """Returns files of the earlier report in the folder if its results equal the new ones, else none."""
    try:
        before = results_folder.parse_manifest(staging.out, "overspill")
        same = (staging.out / results_folder.RESULTS_FILE).read_bytes() == (
            staging.folder / results_folder.RESULTS_FILE
        ).read_bytes()
    except (BadInput, OSError):
        return []
    return (
        list(before.get("report", ()))
        if same and run_keys_of_manifest(before) == run_keys_of_results(results)
        else []
    )


def move_tables(out: Path, run: RunData) -> RunData:
    """Puts a run's tables and captures into its folder of results; returns the run that uses them there."""
    place = results_folder.run_folder(out, run)
    with report_write_errors(place):
        # The staging folder is new, and `refuse_equal_paths` has refused variants with the same folder.
        place.mkdir(parents=True)
        for name in run.names:
            file, there = place / f"{name}.parquet", run.file(name)
            if there is None:
                results_folder.write_table(run.table(name), file)
            else:
                link_or_copy(there, file)
        for there in run.captures.values():
            link_or_copy(there, place / there.name)
    return run.with_tables_in(place)


def link_or_copy(there: Path, file: Path) -> None:
    """Links a file under a second name, or copies it if the file system has no hard links."""
    try:
        os.link(there, file)
    except OSError:
        shutil.copyfile(there, file)


def write_sweep(results: FinishedRuns, out: Path) -> None:
    """Writes tables (Parquet and CSV) and manifest of a sweep into a staging folder, then into place."""
    staging = results_folder.StagingFolder(out)
    try:
        files = [
            *summary_tables.write_parquet_and_csv(
                results.metrics, staging.folder / summary_tables.METRICS_FILE, results.labels
            ),
            *summary_tables.write_parquet_and_csv(
                results.summary, staging.folder / summary_tables.MEANS_FILE, results.labels
            ),
        ]
        if results.compared is not None:
            files += summary_tables.write_parquet_and_csv(
                results.compared, staging.folder / differences.FILE_NAME, results.labels
            )
        facts = results.facts | {"outputs": {path.name: file_digest(path) for path in files}}
        results_folder.write_json(
            staging.folder / results_folder.MANIFEST_FILE, results_folder.with_digest(facts)
        )
        if not is_same_manifest(facts, out):
            results_folder.remove_files(out, report_files(out))
        for name in (*(path.name for path in files), results_folder.MANIFEST_FILE):
            (staging.folder / name).replace(out / name)
    except OSError as error:
        raise Unwritable(f"{out}: cannot be written: {error.strerror or error}") from error
    finally:
        staging.discard()
    (out / results_folder.PLAN_FILE).unlink(missing_ok=True)
    results.facts = facts
    results.identity = results_folder.results_identity(facts)
    results.folder = out


def is_same_manifest(facts: Mapping[str, Any], out: Path) -> bool:
    """Returns true if a folder's manifest has the same results, so that its report remains valid."""
    try:
        known = results_folder.parse_manifest(out, "`overspill sweep`")
    except BadInput:
        return False
    return {**known, "outputs": None} == {**json.loads(results_folder.dump_json(facts)), "outputs": None}


def report_files(out: Path) -> list[str]:
    """Returns the files of a sweep's report and of its figures that exist."""
    figures = [path.relative_to(out).as_posix() for path in sorted((out / "figures").glob("sweep-*"))]
    return [name for name in (results_folder.REPORT_FILE, *figures) if (out / name).is_file()]
