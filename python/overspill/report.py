"""One page of HTML that works offline, and its figures as PNG, SVG and PDF."""

from __future__ import annotations

import io
import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from overspill import formats, header, plots, store, table
from overspill.errors import Failed

if TYPE_CHECKING:
    from overspill.results import Results

PIXELS = 150  # per inch, of PNG


def write(results: Results, folder: Path) -> Path:
    """Write `report.html` and `figures/`; the page's path."""
    try:
        place = folder / "figures"
        place.mkdir(parents=True, exist_ok=True)
        drawn = [
            {"name": name, "caption": caption, "svg": draw(figure, place, name)}
            for name, (caption, figure) in plots.figures(results).items()
        ]
        page = folder / "report.html"
        page.write_text(render(results, drawn), encoding="utf-8")
        files = [f"figures/{one['name']}.{kind}" for one in drawn for kind in ("png", "svg", "pdf")]
        store.list_report(folder, [page.name, *files])
    except OSError as error:
        raise Failed(f"{folder}: the report cannot be written: {error.strerror}") from error
    return page


def draw(figure: Figure, place: Path, name: str) -> str:
    """Save a figure in three formats, the same bytes every time; its SVG for the page."""
    FigureCanvasAgg(figure)
    with plots.style(), mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(place / f"{name}.png", dpi=PIXELS, metadata={"Software": None})
        figure.savefig(
            place / f"{name}.pdf", metadata={"CreationDate": None, "Producer": None, "Creator": None}
        )
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    (place / f"{name}.svg").write_text(text.getvalue(), encoding="utf-8")
    return inline(text.getvalue(), name)


def inline(svg: str, name: str) -> str:
    """An SVG as part of a page: no prologue, no metadata, ids that no other figure has."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'(xlink:href="#|url\(#)', rf"\g<1>{name}-", body)
    # The page sets the size; the viewBox keeps the shape.
    head, rest = body.split(">", 1)
    return re.sub(r' (?:width|height)="[^"]*"', "", head) + ">" + rest


def render(results: Results, drawn: list[dict[str, str]]) -> str:
    """The page."""
    source = resources.files("overspill").joinpath("templates/report.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(source).render(
        results=results,
        facts=results.facts,
        lines=header.lines(results),
        variants=results.variants,
        rows=table.shown(results),
        legend=table.legend(results),
        figures=drawn,
        memory=memory(results),
        runs=[run_facts(run.summary) for run in results.runs],
        resolved=store.dump(results.facts["resolved"]),
    )


def memory(results: Results) -> list[dict[str, Any]]:
    """Switch memory, one row a variant and tier."""
    return [
        {
            "variant": variant,
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


def run_facts(summary: dict[str, Any]) -> dict[str, Any]:
    """One run as a row of the page."""
    flows = summary["flows"]
    return {
        "variant": summary["variant"],
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
