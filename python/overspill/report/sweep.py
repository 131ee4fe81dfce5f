"""The page of a sweep, and its figures."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from overspill import whole_files
from overspill.charts import sweep as drawing
from overspill.charts import swept
from overspill.charts.swept import SweepResults
from overspill.errors import Failed, plain
from overspill.report import page
from overspill.results import formats, header, metrics, store, tables
from overspill.results.key import of_row
from overspill.results.sweep import cautions, legend
from overspill.results.tables import Summary

ROWS_MOST = 4000


def write(sweep: SweepResults, folder: Path, formats: Collection[str] = ()) -> Path:
    """Write `report.html`, and figures in these formats; the page's path."""
    try:
        drawn = page.draw(drawing.of_sweep(sweep), folder, formats)
        path = folder / store.REPORT
        whole_files.write_text(path, render(sweep, drawn))
    except OSError as error:
        raise Failed(f"{folder}: the report cannot be written: {error.strerror}") from error
    return path


def render(sweep: SweepResults, drawn: list[dict[str, Any]]) -> str:
    """The page."""
    facts: dict[str, Any] = getattr(sweep, "facts", {})
    rows = every_row(sweep)
    name = str(facts.get("name") or "sweep")
    return page.render(
        "sweep.html.j2",
        title=name,
        lines=lines(sweep, facts),
        facts=facts,
        axes=[{"path": axis.path, "texts": formats.listing(axis.texts, 20)} for axis in sweep.axes],
        paths=[axis.path for axis in sweep.axes],
        figures=drawn,
        legend=legend(sweep.summary),
        rows=rows[:ROWS_MOST],
        left_out=max(0, len(rows) - ROWS_MOST),
        shown=sum(row["shown"] for row in rows),
    )


def lines(sweep: SweepResults, facts: dict[str, Any]) -> list[dict[str, Any]]:
    """What is told above everything; what limits the results is loud."""
    runs = facts.get("runs") or {}
    found: list[tuple[str, str, bool]] = []
    if facts.get("interrupted") or runs.get("finished") != runs.get("planned"):
        found.append(
            ("PARTIAL RESULT", f"{runs.get('finished')} of {runs.get('planned')} runs are there", True)
        )
    found += [("FAILED", str(one), True) for one in facts.get("failures") or []]
    left = sum(int(one.get("unfinished", 0)) for one in facts.get("unfinished") or [])
    if left:
        found.append(("UNFINISHED FLOWS", f"{left} measured flows did not finish: bounds are marked >", True))
    for one in facts.get("deadlocks") or []:
        at = [*one["point"], one["variant"], f"seeds {formats.seeds(one['seeds'])}"]
        found.append(("DEADLOCK", f"{', '.join(at)}: {header.circle(one, len(one['seeds']))}", True))
    rough = [(line.label, line.text, line.loud) for line in cautions(facts)]
    found += [line for line in rough if line[2]]
    found += [("swept", f"{axis.path}: {formats.listing(axis.texts, 20)}", False) for axis in sweep.axes]
    found.append(("variants", formats.listing(swept.variants_of(sweep), 20), False))
    if facts.get("seeds"):
        found.append(("seeds", formats.seeds(facts["seeds"]), False))
    if runs:
        found.append(("runs", f"{runs.get('finished')} of {runs.get('planned')}", False))
    if len(swept.free_axes(sweep)) > 1:
        shown = len(drawing.crossed_metrics(sweep))
        text = f"{shown} metrics; any other: overspill.plots.sweep(sweep, metric)"
        found.append(("figures", text, False))
    found += [line for line in rough if not line[2]]
    found += [("note", str(note), False) for note in facts.get("notes") or []]
    return [{"label": label, "text": plain(text), "loud": loud} for label, text, loud in found]


def every_row(sweep: SweepResults) -> list[dict[str, Any]]:
    """Every metric at every point, in the order of the table; those of the figures first."""
    paths = [axis.path for axis in sweep.axes]
    drawn = {metric for _, _, wanted in drawing.FAMILIES for metric in wanted}
    found = []
    scales, names = units(sweep), tables.placed(sweep.summary)
    for row in sweep.summary.to_pylist():
        key = str(of_row(row))
        span = sweep.ranges.get(tuple(row[name] for name in names))
        factor, unit = scales[key]
        found.append(
            {
                "point": [str(row[path]) for path in paths],
                "variant": str(row["variant"]),
                "title": formats.headed(title(key), unit),
                "name": key,
                "text": formats.cell(Summary.of(row, span), factor),
                "value": "" if row["mean"] is None else repr(float(row["mean"])),
                "n": row["n"],
                "shown": key in drawn,
            }
        )
    return sorted(found, key=lambda row: not row["shown"])


def units(sweep: SweepResults) -> dict[str, tuple[float, str]]:
    """One unit for every metric, over all points."""
    means: dict[str, list[float]] = {}
    names: dict[str, str] = {}
    for row in sweep.summary.to_pylist():
        key = str(of_row(row))
        means.setdefault(key, []).append(row["mean"] or 0.0)
        names[key] = row["unit"]
    return {key: formats.scale(names[key], values) for key, values in means.items()}


def title(key: str) -> str:
    """A metric in words."""
    return metrics.find(key).title if metrics.base(key) in metrics.REGISTRY else key
