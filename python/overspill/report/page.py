"""Common parts of all pages: figures, the frame, and plotly's script."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jinja2

from overspill.charts import files, web
from overspill.charts.spec import Chart, Look
from overspill.errors import plain


def draw(charts: Mapping[str, Chart], folder: Path, formats: Collection[str] = ()) -> list[dict[str, Any]]:
    """Saves every chart in these formats and in those that exist; returns each as a part of the page."""
    kinds = wanted(charts, folder, formats)
    files.save(charts, folder, kinds)
    return [block(chart, kinds) for chart in charts.values()]


def wanted(charts: Mapping[str, Chart], folder: Path, formats: Collection[str]) -> list[str]:
    """Returns these formats, and those in which charts exist."""
    return [one for one in files.FORMATS if one in {*formats, *files.there(folder, charts)}]


def names(charts: Mapping[str, Chart], folder: Path, formats: Collection[str]) -> list[str]:
    """Returns the files that `draw` will save, relative to the folder."""
    return files.names(charts, wanted(charts, folder, formats))


def block(chart: Chart, kinds: Collection[str] = ()) -> dict[str, Any]:
    """Returns a chart as a part of the page: its texts, its legend, and the data for plotly."""
    wide, narrow = web.figure(chart), web.figure(chart, narrow=True)
    links = [{"kind": kind, "path": f"{files.PLACE}/{chart.name}.{kind}"} for kind in kinds]
    return {
        "name": chart.name,
        "title": chart.title,
        "caption": " ".join(part for part in (chart.note, chart.caption) if part),
        "height": wide["layout"]["height"],
        "legend": [
            {"key": one.key, "label": one.label, "symbol": one.symbol, "stroke": stroke(one.look)}
            for one in chart.legend
        ],
        "json": web.dump({"data": wide["data"], "wide": wide["layout"], "narrow": narrow["layout"]}),
        "links": links,
        "images": [link for link in links if link["kind"] in ("svg", "png")][:1],
    }


def stroke(look: Look) -> dict[str, str]:
    """Returns the line of a legend entry as attributes of SVG."""
    dash = " ".join(f"{length * look.width:.3g}" for length in look.dash)
    return {
        "colour": look.colour,
        "width": f"{look.width:g}",
        "dash": dash or "none",
        "opacity": f"{look.opacity:g}",
    }


def render(template: str, **values: Any) -> str:
    """Returns a page made from a template."""
    loader = jinja2.PackageLoader("overspill", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["plain"] = plain
    return environment.get_template(template).render(plotly=plotly_script(), **values) + "\n"


def plotly_script() -> str:
    """Returns the whole script of plotly, so that the page works offline."""
    # Found without importing plotly, which takes longer than making the page.
    found = find_spec("plotly")
    assert found is not None and found.submodule_search_locations
    source = Path(found.submodule_search_locations[0]) / "package_data/plotly.min.js"
    return source.read_text(encoding="utf-8").replace("</script", "<\\/script")
