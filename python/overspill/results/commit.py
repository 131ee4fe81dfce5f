"""Results put into their folder in place of earlier ones, which survive an interrupted command."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overspill.errors import BadInput, Unwritable
from overspill.results import differences, document, overwritten, store, tables
from overspill.results.finished_runs import Finished
from overspill.results.rundata import RunData
from overspill.results.stream import file_digest
from overspill.whole_files import writing


def refuse_others(out: Path, sweep: bool) -> None:
    """Raises `BadInput` if a folder has results of the other command."""
    if (out / store.MANIFEST).is_file():
        mine, other = ("overspill sweep", "overspill run")[:: 1 if sweep else -1]
        if store.of_sweep(store.parse_manifest(out, f"`{mine}`", store.ANOTHER)) != sweep:
            raise BadInput(f"--out: {out} has results of `{other}`; expected a new folder or one of `{mine}`")


def write(results: Finished, out: Path) -> None:
    """Writes results, unless runs are missing that earlier results in the folder have.

    Complete results replace any earlier ones, and record which.
    """
    before = overwritten.read(out) if not_there(results, out) else None
    if results.missing and before is not None:
        return
    results.replaced = None if before is None else overwritten.Replaced(before, results.facts, out)
    if results.of_sweep:
        write_sweep(results, out)
        return
    staging = store.Staging(out)
    try:
        place(results, staging)
    except BaseException:
        staging.discard()
        raise


def not_there(results: Finished, out: Path) -> bool:
    """Returns true if earlier results in a folder have runs that these lack."""
    try:
        before = store.parse_manifest(out, "overspill")
    except BadInput:
        return False
    return not before_keys(before) <= keys(results)


def before_keys(manifest: Mapping[str, Any]) -> set[str]:
    """Returns the keys that identify the runs of a manifest."""
    if store.of_sweep(dict(manifest)):
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


def keys(results: Finished) -> set[str]:
    """Returns the keys that identify the runs of results."""
    if results.of_sweep:
        return before_keys(results.facts)
    return {run.key or f"{run.variant} {run.seed}" for run in results.runs}


def place(results: Finished, staging: store.Staging) -> None:
    """Writes the results of one point to a staging folder, which then replaces earlier results."""
    runs = [put(staging.folder, run) for run in results.runs]
    store.write_json(staging.folder / store.RESULTS, document.build_document(results))
    drawn = still_drawn(results, staging)
    facts = results.facts | ({"report": drawn} if drawn else {})
    identity = store.write_manifest(staging.folder, facts, runs)
    staging.commit(drawn)
    results.identity = identity
    results.folder = staging.out
    results.runs = [run.stored(store.folder(staging.out, run)) for run in runs]


def still_drawn(results: Finished, staging: store.Staging) -> list[str]:
    """Returns the page and the figures of earlier results in the folder, if those are equal to these."""
    try:
        before = store.parse_manifest(staging.out, "overspill")
        same = (staging.out / store.RESULTS).read_bytes() == (staging.folder / store.RESULTS).read_bytes()
    except (BadInput, OSError):
        return []
    return list(before.get("report", ())) if same and before_keys(before) == keys(results) else []


def put(out: Path, run: RunData) -> RunData:
    """Puts a run's tables and captures into its folder, and returns the run that reads them from there."""
    place = store.folder(out, run)
    with writing(place):
        place.mkdir(parents=True, exist_ok=True)
        for name in run.names:
            file, there = place / f"{name}.parquet", run.file(name)
            if there is None:
                store.write_table(run.table(name), file)
            else:
                linked(there, file)
        for there in run.captures.values():
            linked(there, place / there.name)
    return run.stored(place)


def linked(there: Path, file: Path) -> None:
    """Links a file under a second name, or copies it if the file system has no hard links."""
    try:
        os.link(there, file)
    except OSError:
        shutil.copyfile(there, file)


def write_sweep(results: Finished, out: Path) -> None:
    """Writes the tables of a sweep as Parquet and CSV, and its manifest, to a staging folder first."""
    staging = store.Staging(out)
    try:
        files = [
            *tables.write(results.metrics, staging.folder / tables.METRICS, results.labels),
            *tables.write(results.summary, staging.folder / tables.MEANS, results.labels),
        ]
        if results.compared is not None:
            files += tables.write(results.compared, staging.folder / differences.FILE, results.labels)
        facts = results.facts | {"outputs": {path.name: file_digest(path) for path in files}}
        store.write_json(staging.folder / store.MANIFEST, store.sealed(facts))
        if not described(facts, out):
            store.remove(out, pages(out))
        for name in (*(path.name for path in files), store.MANIFEST):
            (staging.folder / name).replace(out / name)
    except OSError as error:
        raise Unwritable(f"{out}: cannot be written: {error.strerror or error}") from error
    finally:
        staging.discard()
    (out / store.PLAN).unlink(missing_ok=True)
    results.facts = facts
    results.identity = store.identity(facts)
    results.folder = out


def described(facts: Mapping[str, Any], out: Path) -> bool:
    """Returns true if a folder's manifest is of the same results, so that a page beside it is, too."""
    try:
        known = store.parse_manifest(out, "`overspill sweep`")
    except BadInput:
        return False
    return {**known, "outputs": None} == {**json.loads(store.dump(facts)), "outputs": None}


def pages(out: Path) -> list[str]:
    """Returns the files of a sweep's report and of its figures that exist."""
    figures = [path.relative_to(out).as_posix() for path in sorted((out / "figures").glob("sweep-*"))]
    return [name for name in (store.REPORT, *figures) if (out / name).is_file()]
