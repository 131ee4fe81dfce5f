"""Parts of a page that results and sweeps share: figures, the frame, plotly's script."""

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
    """Save every chart in these formats and in those that are there; each as a part of the page."""
    kinds = wanted(charts, folder, formats)
    files.save(charts, folder, kinds)
    return [block(chart, kinds) for chart in charts.values()]


def wanted(charts: Mapping[str, Chart], folder: Path, formats: Collection[str]) -> list[str]:
    """These formats, and those in which charts are there."""
    return [one for one in files.FORMATS if one in {*formats, *files.there(folder, charts)}]


def names(charts: Mapping[str, Chart], folder: Path, formats: Collection[str]) -> list[str]:
    """The files that `draw` will save, from the folder."""
    return files.names(charts, wanted(charts, folder, formats))


def block(chart: Chart, kinds: Collection[str] = ()) -> dict[str, Any]:
    """A chart as a part of the page: its words, its legend, and what plotly draws."""
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
    environment.filters["plain"] = plain
    return environment.get_template(template).render(plotly=plotly_script(), **values) + "\n"


def plotly_script() -> str:
    """The script that draws, whole, so that the page needs nothing from elsewhere."""
    # Found without loading plotly, which takes longer than the page.
    found = find_spec("plotly")
    assert found is not None and found.submodule_search_locations
    source = Path(found.submodule_search_locations[0]) / "package_data/plotly.min.js"
    return source.read_text(encoding="utf-8").replace("</script", "<\\/script")
