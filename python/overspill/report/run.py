"""Report of results at one point: an HTML page that works offline, and its figures."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overspill import charts, whole_files
from overspill.charts import saturation
from overspill.errors import plain
from overspill.report import card, page
from overspill.results import cells, changes, formats, header, store

if TYPE_CHECKING:
    from overspill.results.results import Results
    from overspill.results.rows import Row


def write(results: Results, folder: Path, formats: Collection[str] = ()) -> Path:
    """Writes `report.html`, and figures in these formats; returns the path of the page."""
    path, made = folder / store.REPORT, charts.of_results(results)
    # Listed before they are drawn: if the command is stopped meanwhile, they are replaced with these results.
    store.list_report(folder, [path.name, *page.names(made, folder, formats)], more=True)
    drawn = page.draw(made, folder, formats)
    whole_files.write_text(path, render(results, drawn))
    saved = [link["path"] for one in drawn for link in one["links"]]
    store.list_report(folder, [path.name, *saved])
    return path


def render(results: Results, drawn: list[dict[str, Any]]) -> str:
    """Returns the page."""
    return page.render(
        "report.html.j2",
        title=results.scenario,
        facts=results.facts,
        lines=header.lines(results),
        variants=results.variants,
        labels={variant: results.label(variant) for variant in results.variants},
        rows=every_metric(results),
        legend=cells.legend(results),
        figures=drawn,
        left_out=charts.left_out(results),
        card=card.rows(results),
        changes=change_rows(results),
        memory=memory(results),
        saturation=saturation.rows(results),
        overlap=saturation.OVERLAP,
        runs=[run_facts(run.summary, results.label(run.variant)) for run in results.runs],
        resolved="\n".join(map(plain, store.dump(results.facts["resolved"]).split("\n"))),
    )


def every_metric(results: Results) -> list[dict[str, Any]]:
    """Returns a row for every metric that has a value, those of the printed table first."""
    known = [row for row in results.rows if row.known]
    first = {row.metric.name for row in cells.printed(known, results.kinds)}
    shown = cells.without_pooled(known, results.kinds)
    made = [metric_row(row, row.metric.name in first) for row in shown]
    return sorted(made, key=lambda row: not row["shown"])


def metric_row(row: Row, shown: bool) -> dict[str, Any]:
    """Returns the row of a metric: name, meaning, and each variant's text, number and mark."""
    title, texts = cells.cells(row)
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


def change_rows(results: Results) -> list[dict[str, Any]]:
    """Returns a row for each event of the network, with its cost in every variant."""
    return [
        {
            "at": formats.time(row.change.at_ps),
            "link": row.change.link,
            "what": row.change.what,
            "costs": [row.text(variant) for variant in results.variants],
        }
        for row in changes.rows(results)
    ]


def memory(results: Results) -> list[dict[str, Any]]:
    """Returns a row of switch memory for each variant and tier."""
    return [
        {
            "variant": results.label(variant),
            "tier": one["tier"],
            "count": one["count"],
            "ports": one["ports"],
            "buffer": one["buffer"] or "unlimited",
            "bounce": one.get("bounce") or "-",
            "total": header.total_text(one["total"]),
        }
        for variant in results.variants
        for one in results.facts["memory"].get(variant, {}).get("switches", [])
    ]


def run_facts(summary: dict[str, Any], variant: str) -> dict[str, Any]:
    """Returns the row of one run."""
    flows = summary["flows"]
    return {
        "variant": variant,
        "seed": summary["seed"],
        "end": formats.time(summary["end_ps"]),
        "stop": summary["stop"].replace("_", " "),
        "flows": f"{flows['completed']} of {flows['started']}",
        "measured": f"{flows['measured']} ({flows.get('unfinished', 0)} unfinished)",
        "events": formats.number(summary["events"]),
        "hops": formats.number(summary["hops"]),
        "conserved": "yes" if summary["conserved"] else "NO",
        "config": summary.get("config_hash", "")[:12],
    }
