"""Results of a scenario: finished runs in memory, and their folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overspill.errors import BadInput
from overspill.results import cache, commit, differences, document, tables
from overspill.results import store as files
from overspill.results.axes import Axis
from overspill.results.finished_runs import Finished

WRITERS = "`overspill run` or `overspill sweep`"
FACTS = ("name", "variants", "seeds", "sets", "notes", "interrupted", "resolved", "memory", "scenario")


@dataclass
class Results(Finished):
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
        return document.build_document(self)

    def save(self, folder: str | Path) -> None:
        """Writes tables, manifest and documents into a folder, as `out` of a run does.

        Raises `BadInput` if the results are already in another folder, or if the folder has runs that these
        lack.
        """
        if self.folder is not None and self.folder.resolve() == Path(folder).resolve():
            return
        if self.folder is not None:
            raise BadInput(f"{folder}: these results are already in {self.folder}; copy that folder")
        with cache.held(Path(folder)):
            commit.refuse_others(Path(folder), self.of_sweep)
            commit.write(self, Path(folder))
        if self.folder is None:
            raise BadInput(f"{folder}: has results with runs that these lack; save them in another folder")

    @staticmethod
    def load(folder: str | Path) -> Results:
        """Returns results that `save` or the command wrote; raises `BadInput` if they are not complete.

        Examples:
            >>> import overspill
            >>> overspill.run("incast.toml").save("out/incast")
            >>> overspill.Results.load("out/incast").variants
            ['drop', 'mark']

        """
        out = Path(folder)
        manifest = files.parse_manifest(out, WRITERS)
        return loaded_sweep(out, manifest) if files.of_sweep(manifest) else loaded_point(out)


def loaded_point(out: Path) -> Results:
    """Returns the results of one point from a folder."""
    manifest = files.read_manifest(out)
    runs = files.read_runs(out, manifest)
    missing = [name for name in FACTS if name not in manifest]
    if missing:
        raise BadInput(f"{out / files.MANIFEST}: incomplete manifest: no {', '.join(missing)}")
    facts = {key: value for key, value in manifest.items() if key not in ("format", "runs", "report")}
    return Results(facts, runs, out.absolute(), identity=files.identity(manifest))


def loaded_sweep(out: Path, facts: dict[str, Any]) -> Results:
    """Returns the results of a sweep from a folder and its manifest."""
    path = out / files.MANIFEST
    if facts.get("format") != files.SWEEP_FORMAT:
        raise BadInput(f"{path}: found another format; expected {files.SWEEP_FORMAT}")
    try:
        for name in tables.FILES:
            files.check(out / name, facts["outputs"][name])
        axes = [Axis(**axis) for axis in facts["axes"]]
        values, summary = (pq.ParquetFile(out / name).read() for name in (tables.METRICS, tables.MEANS))
        compared = None
        if differences.FILE in facts["outputs"]:
            files.check(out / differences.FILE, facts["outputs"][differences.FILE])
            compared = pq.ParquetFile(out / differences.FILE).read()
    except (KeyError, TypeError, AttributeError, OSError, pa.ArrowException):
        raise BadInput(f"{path}: incomplete manifest of `overspill sweep`") from None
    known = files.identity(facts)
    made = Results(facts, folder=out.absolute(), axes=axes, tidy=(values, summary), identity=known)
    made.compared = compared
    return made
