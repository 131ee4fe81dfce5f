"""Parts of a page that results and sweeps share: figures in four formats, the frame, plotly's script."""

from __future__ import annotations

import io
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from overspill.charts import mpl as paper
from overspill.charts import web
from overspill.charts.spec import Chart, Look

PIXELS = 150  # per inch, of PNG
KINDS = ("png", "svg", "pdf")


def draw(charts: Mapping[str, Chart], folder: Path) -> list[dict[str, Any]]:
    """Save every chart in three formats, the same bytes every time; each as a part of the page."""
    place = folder / "figures"
    place.mkdir(parents=True, exist_ok=True)
    for name, chart in charts.items():
        save(chart, place, name)
    return [block(chart) for chart in charts.values()]


def save(chart: Chart, place: Path, name: str) -> None:
    """Save a chart as PNG, SVG and PDF."""
    save_figure(paper.figure(chart), place, name)


def save_figure(figure: Figure, place: Path, name: str) -> None:
    """Save a figure of matplotlib as PNG, SVG and PDF."""
    FigureCanvasAgg(figure)
    with paper.style(), mpl.rc_context({"svg.hashsalt": name}):
        # Laid out once, not anew for every format.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        figure.savefig(place / f"{name}.png", dpi=PIXELS, metadata={"Software": None})
        nobody = {"CreationDate": None, "Producer": None, "Creator": None}
        figure.savefig(place / f"{name}.pdf", metadata=nobody)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    (place / f"{name}.svg").write_text(text.getvalue(), encoding="utf-8")


def block(chart: Chart) -> dict[str, Any]:
    """A chart as a part of the page: its words, its legend, and what plotly draws."""
    wide, narrow = web.figure(chart), web.figure(chart, narrow=True)
    return {
        "name": chart.name,
        "title": chart.title,
        "caption": chart.caption,
        "height": wide["layout"]["height"],
        "legend": [
            {"key": one.key, "label": one.label, "symbol": one.symbol, "stroke": stroke(one.look)}
            for one in chart.legend
        ],
        "json": web.dump({"data": wide["data"], "wide": wide["layout"], "narrow": narrow["layout"]}),
        "links": [{"kind": kind, "path": f"figures/{chart.name}.{kind}"} for kind in KINDS],
    }


def stroke(look: Look) -> dict[str, str]:
    """A line of the legend as attributes of SVG."""
    dash = " ".join(f"{length * look.width:.3g}" for length in look.dash)
    return {
        "colour": look.colour,
        "width": f"{look.width:g}",
        "dash": dash or "none",
        "opacity": f"{look.opacity:g}",
    }


def render(template: str, **values: Any) -> str:
    """A page of one of the templates."""
    loader = jinja2.PackageLoader("overspill", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(template).render(plotly=plotly_script(), **values) + "\n"


def plotly_script() -> str:
    """The script that draws, whole, so that the page needs nothing from elsewhere."""
    source = resources.files("plotly").joinpath("package_data/plotly.min.js")
    return source.read_text(encoding="utf-8").replace("</script", "<\\/script")
