"""Results: the finished runs of a scenario, on disk and back."""

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
    """The finished runs of a scenario, and the folder that holds them."""

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        return document.build_document(self)

    def save(self, folder: str | Path) -> None:
        """Write tables, manifest and documents, as `out` does."""
        if self.folder is not None and self.folder.resolve() == Path(folder).resolve():
            return
        if self.folder is not None:
            raise BadInput(f"{folder}: these results already lie in {self.folder}; copy that folder")
        with cache.held(Path(folder)):
            commit.refuse_others(Path(folder), self.of_sweep)
            commit.write(self, Path(folder))
        if self.folder is None:
            raise BadInput(f"{folder}: has results with runs that these lack; save them elsewhere")

    @staticmethod
    def load(folder: str | Path) -> Results:
        """Results that `save` or the command wrote; `BadInput` where they are not whole."""
        out = Path(folder)
        manifest = files.parse_manifest(out, WRITERS)
        return loaded_sweep(out, manifest) if files.of_sweep(manifest) else loaded_point(out)


def loaded_point(out: Path) -> Results:
    """The results of one point."""
    manifest = files.read_manifest(out)
    runs = files.read_runs(out, manifest)
    missing = [name for name in FACTS if name not in manifest]
    if missing:
        raise BadInput(f"{out / files.MANIFEST}: not a whole manifest: no {', '.join(missing)}")
    facts = {key: value for key, value in manifest.items() if key not in ("format", "runs", "report")}
    return Results(facts, runs, out.absolute(), identity=files.identity(manifest))


def loaded_sweep(out: Path, facts: dict[str, Any]) -> Results:
    """The results of a sweep."""
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
        raise BadInput(f"{path}: not a whole manifest of `overspill sweep`") from None
    known = files.identity(facts)
    made = Results(facts, folder=out.absolute(), axes=axes, tidy=(values, summary), identity=known)
    made.compared = compared
    return made
