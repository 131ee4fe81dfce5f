"""Report of a sweep: an HTML page, and its figures."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from overspill import atomic_files
from overspill.charts import sweep as drawing
from overspill.charts import sweep_data
from overspill.grouping import group_by_key
from overspill.report import page
from overspill.results import (
    achieved_loads,
    differences,
    formats,
    metrics,
    pooled_workloads,
    results_folder,
    summary_tables,
    warnings,
)
from overspill.results.differences import Difference
from overspill.results.finished_runs import FinishedRuns
from overspill.results.line_labels import Line
from overspill.results.metric_key import key_from_row
from overspill.results.summary_tables import MetricSummary
from overspill.results.sweep_document import sweep_legend

MAX_ROWS = 4000


def write_sweep_report(sweep: FinishedRuns, folder: Path, formats: Collection[str] = ()) -> Path:
    """Writes `report.html`, and figures in the given formats; returns the path of the page."""
    path = folder / results_folder.REPORT_FILE
    atomic_files.write_text(
        path,
        render_sweep_page(
            sweep, page.save_and_describe_charts(drawing.build_sweep_charts(sweep), folder, formats)
        ),
    )
    return path


def render_sweep_page(sweep: FinishedRuns, drawn: list[dict[str, Any]]) -> str:
    """Returns the HTML page of a sweep's results."""
    rows = metric_rows(sweep)
    return page.render_template(
        "sweep.html.j2",
        title=sweep.scenario,
        lines=page_lines(sweep),
        facts=sweep.facts,
        axes=[{"path": axis.path, "texts": formats.format_listing(axis.texts, 20)} for axis in sweep.axes],
        paths=[axis.path for axis in sweep.axes],
        figures=drawn,
        legend=sweep_legend(sweep),
        baseline=sweep.label(sweep.baseline) if differences_by_key(sweep) else "",
        rows=rows[:MAX_ROWS],
        left_out=max(0, len(rows) - MAX_ROWS),
        shown=sum(row["shown"] for row in rows),
    )


def page_lines(sweep: FinishedRuns) -> list[Line]:
    """Returns the lines at the top of a sweep's page; for several axes also how many metrics have figures."""
    found = warnings.result_lines(sweep, page=True)
    if len(sweep_data.independent_axes(sweep)) > 1:
        shown = len(drawing.crossed_metrics(sweep))
        text = f"{shown} metrics; any other: overspill.plots.sweep(sweep, metric)"
        found.append(Line("figures", text))
    return found


def metric_rows(sweep: FinishedRuns) -> list[dict[str, Any]]:
    """Returns a table row for every metric at every point, metrics with a figure first."""
    paths = [axis.path for axis in sweep.axes]
    names = sweep.metric_names
    drawn = {
        str(one)
        for _, _, wanted in drawing.METRIC_FAMILIES
        for metric in wanted
        for one in pooled_workloads.shown_keys(metric, names, sweep.kinds)
    }
    hidden = pooled_workloads.hidden_metrics(names, sweep.kinds)
    found = []
    scales, columns = metric_units(sweep), summary_tables.identity_columns(sweep.summary)
    against, achieved = differences_by_key(sweep), achieved_loads.achieved_load_texts(sweep)
    for row in sweep.summary.to_pylist():
        key = str(key_from_row(row))
        if key in hidden:
            continue
        span = sweep.ranges.get(tuple(row[name] for name in columns))
        factor, unit = scales[key]
        found.append(
            {
                "point": [format_axis_value(row, path, paths, achieved) for path in paths],
                "variant": sweep.label(str(row["variant"])),
                "title": formats.title_with_unit(metric_title(key), unit),
                "name": key,
                "text": formats.format_cell(MetricSummary.from_row(row, span), factor),
                "value": "" if row["mean"] is None else repr(float(row["mean"])),
                "n": row["n"],
                **format_difference(
                    against.get((*(row[path] for path in paths), row["variant"], key)), factor
                ),
                "shown": key in drawn,
            }
        )
    return sorted(found, key=lambda row: not row["shown"])


def differences_by_key(sweep: FinishedRuns) -> dict[tuple[str, ...], Difference]:
    """Returns the differences from the baseline by point, variant and metric."""
    paths = [axis.path for axis in sweep.axes]
    rows = [] if sweep.compared is None else sweep.compared.to_pylist()
    return {
        (*(row[path] for path in paths), row["variant"], str(key_from_row(row))): Difference(
            *(row[name] for name in differences.NUMBER_COLUMNS)
        )
        for row in rows
    }


def format_difference(one: Difference | None, factor: float) -> dict[str, str]:
    """Returns the text of a difference, its number to sort by, and its note."""
    if one is None:
        return {"difference": "", "by": "", "note": ""}
    mark = " *" if one.differs else ""
    return {"difference": formats.format_cell(one, factor) + mark, "by": repr(one.mean), "note": one.note}


def format_axis_value(
    row: dict[str, Any], path: str, paths: list[str], achieved: dict[str, dict[tuple[str, ...], str]]
) -> str:
    """Formats the value of an axis, with the achieved load if that differs from the requested one."""
    text = str(row[path])
    known = achieved.get(path, {}).get(tuple(row[one] for one in paths))
    return f"{text} (achieved {known})" if known else text


def metric_units(sweep: FinishedRuns) -> dict[str, tuple[float, str]]:
    """Returns factor and name of each metric's unit, which is the same at all points."""
    rows = sweep.summary.to_pylist()
    means = group_by_key((str(key_from_row(row)), row["mean"] or 0.0) for row in rows)
    names = {str(key_from_row(row)): row["unit"] for row in rows}
    return {key: formats.select_unit(names[key], values) for key, values in means.items()}


def metric_title(key: str) -> str:
    """Returns the title of a metric for a sweep page, or its key if the metric is not known."""
    return metrics.find_metric(key).title if metrics.registered_name(key) in metrics.REGISTRY else key
