"""Report of results at one point: an HTML page that works offline, and its figures."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overspill import atomic_files, charts
from overspill.charts import saturation
from overspill.errors import escape_unprintable
from overspill.report import page, settings_card
from overspill.results import formats, header, network_changes, results_folder, table_cells

if TYPE_CHECKING:
    from overspill.results.metric_rows import MetricRow
    from overspill.results.results import Results


def write_run_report(results: Results, folder: Path, formats: Collection[str] = ()) -> Path:
    """Writes `report.html`, and figures in the given formats; returns the path of the page."""
    path, made = folder / results_folder.REPORT_FILE, charts.build_charts(results)
    # Listed before they are drawn, so that later results remove them even if this command is killed.
    results_folder.list_report_in_manifest(
        folder, [path.name, *page.saved_file_names(made, folder, formats)], more=True
    )
    drawn = page.save_and_describe_charts(made, folder, formats)
    atomic_files.write_text(path, render_run_page(results, drawn))
    saved = [link["path"] for one in drawn for link in one["links"]]
    results_folder.list_report_in_manifest(folder, [path.name, *saved])
    return path


def render_run_page(results: Results, drawn: list[dict[str, Any]]) -> str:
    """Returns the HTML page of a run's results."""
    return page.render_template(
        "report.html.j2",
        title=results.scenario,
        facts=results.facts,
        lines=header.header_lines(results),
        variants=results.variants,
        labels={variant: results.label(variant) for variant in results.variants},
        rows=metric_rows(results),
        legend=table_cells.cells_legend(results),
        figures=drawn,
        left_out=charts.list_omitted_figures(results),
        card=settings_card.setting_rows(results),
        changes=network_event_rows(results),
        memory=memory_rows(results),
        saturation=saturation.tree_rows(results),
        overlap=saturation.OVERLAP_NOTE,
        runs=[run_row(run.summary, results.label(run.variant)) for run in results.runs],
        resolved="\n".join(
            map(escape_unprintable, results_folder.dump_json(results.facts["resolved"]).split("\n"))
        ),
    )


def metric_rows(results: Results) -> list[dict[str, Any]]:
    """Returns a table row for every metric that has a value, those of the printed table first."""
    known = [row for row in results.rows if row.has_value]
    first = {row.metric.name for row in table_cells.select_rows(known, results.kinds)}
    shown = table_cells.without_mixed_workloads(known, results.kinds)
    made = [metric_row(row, row.metric.name in first, len(results.seeds)) for row in shown]
    return sorted(made, key=lambda row: not row["shown"])


def metric_row(row: MetricRow, shown: bool, seeds: int) -> dict[str, Any]:
    """Returns the table row of a metric: name, meaning, and each variant's text, number and mark."""
    title, texts = table_cells.format_row(row, seeds)
    found = {}
    for variant, (text, best) in texts.items():
        mean = row.cells[variant].mean
        found[variant] = {"text": text, "best": best, "value": "" if mean is None else repr(float(mean))}
    return {
        "title": title,
        "name": row.metric.name,
        "doc": row.metric.doc,
        "shown": shown,
        "cells": found,
        "note": row.note,
    }


def network_event_rows(results: Results) -> list[dict[str, Any]]:
    """Returns a table row for each event of the network, with its cost in every variant."""
    return [
        {
            "at": formats.format_time(row.change.at_ps),
            "link": row.change.link,
            "what": row.change.what,
            "costs": [row.format_lost_frames(variant) for variant in results.variants],
        }
        for row in network_changes.network_event_rows(results)
    ]


def memory_rows(results: Results) -> list[dict[str, Any]]:
    """Returns a table row on switch memory for each variant and tier."""
    return [
        {
            "variant": results.label(variant),
            "tier": one["tier"],
            "count": one["count"],
            "ports": one["ports"],
            "buffer": one["buffer"] or "unlimited",
            "bounce": one.get("bounce") or "-",
            "total": header.format_total_memory(one["total"]),
        }
        for variant in results.variants
        for one in results.facts["memory"].get(variant, {}).get("switches", [])
    ]


def run_row(summary: dict[str, Any], variant: str) -> dict[str, Any]:
    """Returns the row of one run in the table of runs: seed, end, flows, events, and more."""
    flows = summary["flows"]
    return {
        "variant": variant,
        "seed": summary["seed"],
        "end": formats.format_time(summary["end_ps"]),
        "stop": summary["stop"].replace("_", " "),
        "flows": f"{flows['completed']} of {flows['started']}",
        "measured": f"{flows['measured']} ({flows.get('unfinished', 0)} unfinished)",
        "events": formats.format_number(summary["events"]),
        "hops": formats.format_number(summary["hops"]),
        "conserved": "yes" if summary["conserved"] else "NO",
        "config": summary.get("config_hash", "")[:12],
    }
