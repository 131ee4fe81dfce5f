"""Results of a scenario: finished runs in memory, and their folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overspill.errors import BadInput
from overspill.results import cache, differences, results_document, summary_tables, write_results
from overspill.results import results_folder as files
from overspill.results.axes import Axis
from overspill.results.finished_runs import FinishedRuns

WRITER_COMMANDS = "`overspill run` or `overspill sweep`"
SHARED_FACTS = ("name", "variants", "seeds", "sets", "notes", "interrupted", "resolved", "memory", "scenario")


@dataclass
class Results(FinishedRuns):
    """Finished runs of a scenario: metrics, tables and warnings, and the folder that holds them.

    `values` has the metrics of a single point by variant and seed. `metrics` and `summary` are tables of all
    values and of their means over seeds. Tables of all runs are properties such as `flows` and `queue_trace`;
    `runs_of` returns single runs.

    Examples:
        >>> import overspill
        >>> results = overspill.run("incast.toml")
        >>> results.values["drop"][1]["fct_mean"].samples
        8
        >>> results.flows.column_names[:4]
        ['variant', 'seed', 'flow', 'traffic']
        >>> [run.seed for run in results.runs_of("mark")]
        [1]

    """

    def document(self) -> dict[str, Any]:
        """Returns the document that `--json` prints."""
        return results_document.build_document(self)

    def save(self, folder: str | Path) -> None:
        """Writes tables, manifest and documents into a folder, as `out` of a run does.

        Raises `BadInput` if the results are already in another folder, or if the folder has runs that these
        lack.
        """
        if self.folder is not None and self.folder.resolve() == Path(folder).resolve():
            return
        if self.folder is not None:
            raise BadInput(f"{folder}: these results are already in {self.folder}; copy that folder")
        with cache.lock_store(Path(folder)):
            write_results.refuse_other_command(Path(folder), self.of_sweep)
            write_results.write_unless_fewer_runs(self, Path(folder))
        if self.folder is None:
            raise BadInput(f"{folder}: has results with runs that these lack; save them in another folder")

    @staticmethod
    def load(folder: str | Path) -> Results:
        """Reads results that `Results.save` or a command wrote; raises `BadInput` if they are not complete.

        Examples:
            >>> import overspill
            >>> overspill.run("incast.toml").save("out/incast")
            >>> overspill.Results.load("out/incast").variants
            ['drop', 'mark']

        """
        out = Path(folder)
        manifest = files.parse_manifest(out, WRITER_COMMANDS)
        return load_sweep(out, manifest) if files.is_sweep_manifest(manifest) else load_point(out)


def load_point(out: Path) -> Results:
    """Returns the results of one point from a folder."""
    manifest = files.read_manifest(out)
    runs = files.read_runs(out, manifest)
    missing = [name for name in SHARED_FACTS if name not in manifest]
    if missing:
        raise BadInput(f"{out / files.MANIFEST_FILE}: incomplete manifest: no {', '.join(missing)}")
    facts = {key: value for key, value in manifest.items() if key not in ("format", "runs", "report")}
    return Results(facts, runs, out.absolute(), identity=files.results_identity(manifest))


def load_sweep(out: Path, facts: dict[str, Any]) -> Results:
    """Returns the results of a sweep from a folder and its manifest."""
    path = out / files.MANIFEST_FILE
    if facts.get("format") != files.SWEEP_FORMAT:
        raise BadInput(f"{path}: found another format; expected {files.SWEEP_FORMAT}")
    try:
        for name in summary_tables.TABLE_FILES:
            files.check_file(out / name, facts["outputs"][name])
        axes = [Axis(**axis) for axis in facts["axes"]]
        values, summary = (
            pq.ParquetFile(out / name).read()
            for name in (summary_tables.METRICS_FILE, summary_tables.MEANS_FILE)
        )
        compared = None
        if differences.FILE_NAME in facts["outputs"]:
            files.check_file(out / differences.FILE_NAME, facts["outputs"][differences.FILE_NAME])
            compared = pq.ParquetFile(out / differences.FILE_NAME).read()
    except (KeyError, TypeError, AttributeError, OSError, pa.ArrowException):
        raise BadInput(f"{path}: incomplete manifest of `overspill sweep`") from None
    known = files.results_identity(facts)
    made = Results(facts, folder=out.absolute(), axes=axes, tidy=(values, summary), identity=known)
    made.compared = compared
    return made
