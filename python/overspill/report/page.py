"""Common parts of all HTML pages: figures, templates, and plotly's script."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jinja2

from overspill.charts import figure_files, plotly_figure
from overspill.charts.chart_spec import Chart, LineStyle
from overspill.errors import escape_unprintable


def save_and_describe_charts(
    charts: Mapping[str, Chart], folder: Path, formats: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Saves charts in the given formats and those saved earlier; returns each as a part of an HTML page."""
    kinds = formats_to_save(charts, folder, formats)
    figure_files.save_charts(charts, folder, kinds)
    return [chart_block(chart, kinds) for chart in charts.values()]


def formats_to_save(charts: Mapping[str, Chart], folder: Path, formats: Collection[str]) -> list[str]:
    """Returns the given formats, and those in which charts were saved earlier."""
    return [
        one
        for one in figure_files.FIGURE_FORMATS
        if one in {*formats, *figure_files.find_existing_formats(folder, charts)}
    ]


def saved_file_names(charts: Mapping[str, Chart], folder: Path, formats: Collection[str]) -> list[str]:
    """Returns the files that `save_and_describe_charts` will save, relative to the folder."""
    return figure_files.figure_file_names(charts, formats_to_save(charts, folder, formats))


def chart_block(chart: Chart, kinds: Collection[str] = ()) -> dict[str, Any]:
    """Returns a chart as a part of the HTML page: its texts, its legend, and the data for plotly."""
    wide, narrow = (
        plotly_figure.build_plotly_figure(chart),
        plotly_figure.build_plotly_figure(chart, narrow=True),
    )
    links = [{"kind": kind, "path": f"{figure_files.FIGURES_FOLDER}/{chart.name}.{kind}"} for kind in kinds]
    return {
        "name": chart.name,
        "title": chart.title,
        "caption": " ".join(part for part in (chart.note, chart.caption) if part),
        "height": wide["layout"]["height"],
        "legend": [
            {"key": one.key, "label": one.label, "symbol": one.symbol, "stroke": svg_stroke(one.look)}
            for one in chart.legend
        ],
        "json": plotly_figure.dump_json(
            {"data": wide["data"], "wide": wide["layout"], "narrow": narrow["layout"]}
        ),
        "links": links,
        "images": [link for link in links if link["kind"] in ("svg", "png")][:1],
    }


def svg_stroke(look: LineStyle) -> dict[str, str]:
    """Returns the line style of a legend entry as SVG attributes."""
    dash = " ".join(f"{length * look.width:.3g}" for length in look.dash)
    return {
        "colour": look.colour,
        "width": f"{look.width:g}",
        "dash": dash or "none",
        "opacity": f"{look.opacity:g}",
    }


def render_template(template: str, **values: Any) -> str:
    """Returns an HTML page from a template and its values."""
    loader = jinja2.PackageLoader("overspill", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["plain"] = escape_unprintable
    return environment.get_template(template).render(plotly=plotly_script(), **values) + "\n"


def plotly_script() -> str:
    """Returns the whole script of plotly, so that the page works offline."""
    # Found without importing plotly, which takes longer than making the page.
    found = find_spec("plotly")
    assert found is not None and found.submodule_search_locations
    source = Path(found.submodule_search_locations[0]) / "package_data/plotly.min.js"
    return source.read_text(encoding="utf-8").replace("</script", "<\\/script")
