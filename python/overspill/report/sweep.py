"""Report of a sweep: an HTML page, and its figures."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from overspill import whole_files
from overspill.charts import sweep as drawing
from overspill.charts import sweep_data
from overspill.grouping import by_key
from overspill.report import page
from overspill.results import differences, formats, loads, metrics, pooled, store, tables, warnings
from overspill.results.differences import Difference
from overspill.results.finished_runs import Finished
from overspill.results.key import of_row
from overspill.results.labels import Line
from overspill.results.sweep import legend
from overspill.results.tables import Summary

ROWS_MOST = 4000


def write(sweep: Finished, folder: Path, formats: Collection[str] = ()) -> Path:
    """Writes `report.html`, and figures in these formats; returns the path of the page."""
    path = folder / store.REPORT
    whole_files.write_text(path, render(sweep, page.draw(drawing.of_sweep(sweep), folder, formats)))
    return path


def render(sweep: Finished, drawn: list[dict[str, Any]]) -> str:
    """Returns the page."""
    rows = every_row(sweep)
    return page.render(
        "sweep.html.j2",
        title=sweep.scenario,
        lines=lines(sweep),
        facts=sweep.facts,
        axes=[{"path": axis.path, "texts": formats.listing(axis.texts, 20)} for axis in sweep.axes],
        paths=[axis.path for axis in sweep.axes],
        figures=drawn,
        legend=legend(sweep),
        baseline=sweep.label(sweep.baseline) if compared(sweep) else "",
        rows=rows[:ROWS_MOST],
        left_out=max(0, len(rows) - ROWS_MOST),
        shown=sum(row["shown"] for row in rows),
    )


def lines(sweep: Finished) -> list[Line]:
    """Returns the lines above everything, with the number of figures if there are several axes."""
    found = warnings.lines(sweep, page=True)
    if len(sweep_data.free_axes(sweep)) > 1:
        shown = len(drawing.crossed_metrics(sweep))
        text = f"{shown} metrics; any other: overspill.plots.sweep(sweep, metric)"
        found.append(Line("figures", text))
    return found


def every_row(sweep: Finished) -> list[dict[str, Any]]:
    """Returns a row for every metric at every point, those of the figures first."""
    paths = [axis.path for axis in sweep.axes]
    names = sweep.metric_names
    drawn = {
        str(one)
        for _, _, wanted in drawing.FAMILIES
        for metric in wanted
        for one in pooled.shown(metric, names, sweep.kinds)
    }
    hidden = pooled.hidden(names, sweep.kinds)
    found = []
    scales, columns = units(sweep), tables.placed(sweep.summary)
    against, achieved = compared(sweep), loads.achieved(sweep)
    for row in sweep.summary.to_pylist():
        key = str(of_row(row))
        if key in hidden:
            continue
        span = sweep.ranges.get(tuple(row[name] for name in columns))
        factor, unit = scales[key]
        found.append(
            {
                "point": [asked(row, path, paths, achieved) for path in paths],
                "variant": sweep.label(str(row["variant"])),
                "title": formats.headed(title(key), unit),
                "name": key,
                "text": formats.cell(Summary.from_row(row, span), factor),
                "value": "" if row["mean"] is None else repr(float(row["mean"])),
                "n": row["n"],
                **beside(against.get((*(row[path] for path in paths), row["variant"], key)), factor),
                "shown": key in drawn,
            }
        )
    return sorted(found, key=lambda row: not row["shown"])


def compared(sweep: Finished) -> dict[tuple[str, ...], Difference]:
    """Returns the differences from the baseline by point, variant and metric."""
    paths = [axis.path for axis in sweep.axes]
    rows = [] if sweep.compared is None else sweep.compared.to_pylist()
    return {
        (*(row[path] for path in paths), row["variant"], str(of_row(row))): Difference(
            *(row[name] for name in differences.NUMBERS)
        )
        for row in rows
    }


def beside(one: Difference | None, factor: float) -> dict[str, str]:
    """Returns the text of a difference, its number to sort by, and its note."""
    if one is None:
        return {"difference": "", "by": "", "note": ""}
    mark = " *" if one.differs else ""
    return {"difference": formats.cell(one, factor) + mark, "by": repr(one.mean), "note": one.note}


def asked(
    row: dict[str, Any], path: str, paths: list[str], achieved: dict[str, dict[tuple[str, ...], str]]
) -> str:
    """Returns the value of an axis, with the achieved load if the axis requests another one."""
    text = str(row[path])
    known = achieved.get(path, {}).get(tuple(row[one] for one in paths))
    return f"{text} (achieved {known})" if known else text


def units(sweep: Finished) -> dict[str, tuple[float, str]]:
    """Returns one unit for every metric over all points."""
    rows = sweep.summary.to_pylist()
    means = by_key((str(of_row(row)), row["mean"] or 0.0) for row in rows)
    names = {str(of_row(row)): row["unit"] for row in rows}
    return {key: formats.scale(names[key], values) for key, values in means.items()}


def title(key: str) -> str:
    """Returns the title of a metric."""
    return metrics.find(key).title if metrics.base(key) in metrics.REGISTRY else key
