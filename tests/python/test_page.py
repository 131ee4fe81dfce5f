"""Tests of reports in a browser: every figure drawn, no network requests, searchable tables."""

import importlib.util
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chart_samples
import pytest

from overspill import report, run
from overspill.charts import figure_files
from overspill.charts import sweep as sweeping
from overspill.engine import core
from overspill.report import page
from overspill.report import sweep as sweepreport

SCENARIOS = Path(__file__).parents[2] / "scenarios"
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
DRAWN = """() => Array.from(document.querySelectorAll(".plot")).map((plot) => ({
    name: plot.id.replace(/-plot$/, ""),
    drawn: Array.from(plot.querySelectorAll("svg.main-svg")).map((one) => one.getBoundingClientRect())
        .filter((box) => box.height > 80 && box.width > 200).length,
    marks: plot.querySelectorAll(".trace, .hm, .bars path, .points path").length,
    panels: plot.querySelectorAll(".cartesianlayer .subplot").length,
}))"""


def skip_without(what: str) -> None:
    """Skips the test, or fails if all tools are required."""
    if os.environ.get("OVERSPILL_REQUIRE_TOOLS") == "1":
        pytest.fail(f"{what}, and OVERSPILL_REQUIRE_TOOLS=1")
    pytest.skip(what)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if importlib.util.find_spec("playwright") is None:
        skip_without("there is no playwright")
    if program is None:
        skip_without("there is no chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield opened
        opened.close()


@dataclass
class OpenPage:
    """A page, with its console messages and requests."""

    tab: Any
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


def open_page(browser: Any, path: Path, width: int = 1280) -> OpenPage:
    """Returns the page, once all its figures are drawn."""
    found = OpenPage(browser.new_page(viewport={"width": width, "height": 900}))
    found.tab.on("console", lambda message: found.said.append(message.text))
    found.tab.on("pageerror", lambda error: found.said.append(str(error)))
    found.tab.on("request", lambda request: found.asked.append(request.url))
    found.tab.goto(path.as_uri())
    found.tab.wait_for_selector("html[data-drawn]", state="attached", timeout=120_000)
    return found


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the report of a run of the compiled core."""
    core.use_backend(None)
    if importlib.util.find_spec("overspill._core") is None:
        skip_without("the core is not compiled")
    out = tmp_path_factory.mktemp("real") / "out"
    return report.write(run(SCENARIOS / "incast.toml", seeds=3, out=out), out)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a sweep over two axes."""
    made = chart_samples.results_of(chart_samples.sample_sweep([chart_samples.SIZES, chart_samples.THETA]))
    return sweepreport.write_sweep_report(made, tmp_path_factory.mktemp("swept"), figure_files.FIGURE_FORMATS)


@pytest.mark.parametrize("width", [1280, 390])
def test_every_figure_of_a_run_is_drawn_and_nothing_is_asked_for(
    browser: Any, real: Path, width: int
) -> None:
    found = open_page(browser, real, width)
    try:
        drawn = found.tab.evaluate(DRAWN)
        names = {one["name"] for one in drawn}
        assert {"network", "fct", "queue", "queue-cdf", "drops", "detours", "bounces"} <= names
        assert [one for one in drawn if not one["drawn"] or not one["marks"] or not one["panels"]] == []
        assert found.tab.locator("html").get_attribute("data-drawn") == str(len(drawn))
        assert found.said == []
        assert found.asked == [real.as_uri()]
        assert found.tab.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        found.tab.close()


def test_a_line_tells_its_numbers_and_can_be_hidden(browser: Any, real: Path) -> None:
    found = open_page(browser, real)
    try:
        plot = found.tab.locator("#fct-plot")
        plot.scroll_into_view_if_needed()
        # A point of a line, as plotly places it; another variant may lie on it.
        spot = plot.evaluate(
            """(plot) => {
                const point = plot.calcdata[0][10], full = plot._fullLayout;
                const box = plot.getBoundingClientRect();
                const [x, y] = [full.xaxis, full.yaxis];
                return [box.x + x._offset + x.c2p(point.x), box.y + y._offset + y.c2p(point.y)];
            }"""
        )
        found.tab.mouse.move(spot[0] - 4, spot[1])
        found.tab.mouse.move(spot[0], spot[1], steps=3)
        label = plot.locator(".hoverlayer .hovertext").first
        label.wait_for(timeout=10_000)
        assert "FCT:" in label.text_content() and "%" in label.text_content()
        lines = plot.locator(".scatterlayer .trace .js-line")
        before = lines.count()
        found.tab.locator("#fct .legend button").first.click()
        deadline = time.monotonic() + 10
        while lines.count() >= before and time.monotonic() < deadline:
            found.tab.wait_for_timeout(50)
        assert lines.count() == before - 2  # one in each panel
        assert found.tab.locator("#fct .legend button").first.get_attribute("aria-pressed") == "false"
    finally:
        found.tab.close()


def test_ticks_follow_the_zoom(browser: Any, real: Path) -> None:
    found = open_page(browser, real)
    try:
        plot = found.tab.locator("#fct-plot")
        texts = "(plot) => Array.from(plot.querySelectorAll('.xtick text')).map((one) => one.textContent)"
        before = plot.evaluate(texts)
        plot.evaluate("(plot) => Plotly.relayout(plot, {'xaxis.range': [-2.3, -2.2]})")
        fitting = "(old) => { const now = (%s)(document.getElementById('fct-plot'));"
        fitting += (
            " return now.length > 1 && now.join() !== old.join() && now.every((one) => one.endsWith('s')); }"
        )
        found.tab.wait_for_function(fitting % texts, arg=before, timeout=10_000)
        assert found.said == []
    finally:
        found.tab.close()


def test_the_table_of_metrics_is_searched_unfolded_and_sorted(browser: Any, real: Path) -> None:
    found = open_page(browser, real)
    try:
        rows = found.tab.locator("#metric-table tbody tr:visible")
        folded = rows.count()
        found.tab.locator("[data-unfold]").check()
        whole = rows.count()
        assert whole > folded > 10
        found.tab.locator("[data-filter]").fill("FCT p99")
        names = rows.locator("th").all_text_contents()
        assert names and all("FCT p99" in name for name in names) and len(names) < folded
        found.tab.locator("[data-filter]").fill("")
        found.tab.locator("#metric-table thead button").nth(1).click()
        values = [float(one) for one in rows.locator("td:nth-child(2)").evaluate_all(
            "(cells) => cells.map((cell) => cell.dataset.value).filter(Boolean)"
        )]  # fmt: skip
        assert len(values) > 20 and values == sorted(values)
        assert found.said == []
    finally:
        found.tab.close()


def test_every_figure_of_a_sweep_is_drawn(browser: Any, swept: Path) -> None:
    found = open_page(browser, swept)
    try:
        drawn = found.tab.evaluate(DRAWN)
        assert [one["name"].removeprefix("sweep-") for one in drawn] == [
            "fct_p99",
            "fct_mean",
            "drops",
            "goodput",
        ]
        assert [one for one in drawn if not one["drawn"] or not one["marks"] or one["panels"] != 3] == []
        assert found.said == [] and found.asked == [swept.as_uri()]
        found.tab.locator("[data-filter]").fill("bounce drops 80pkt 0.9")
        assert found.tab.locator("#metric-table tbody tr:visible").count() == 1
    finally:
        found.tab.close()


def test_every_kind_of_figure_is_drawn(browser: Any, tmp_path: Path, scenario: Path) -> None:
    from overspill import charts

    results = chart_samples.with_all_tables(run(scenario, seeds=3))
    path = tmp_path / "report.html"
    path.write_text(
        report.render_run_page(
            results, [page.chart_block(one) for one in charts.build_charts(results).values()]
        )
    )
    found = open_page(browser, path)
    try:
        drawn = found.tab.evaluate(DRAWN)
        assert {"goodput", "goodput-hosts", "goodput-flows", "links", "reorder", "sojourn"} <= {
            one["name"] for one in drawn
        }
        assert [one for one in drawn if not one["drawn"] or not one["marks"] or not one["panels"]] == []
        assert found.said == []
        assert path.stat().st_size < 9_000_000
    finally:
        found.tab.close()


def test_a_sweep_has_the_figures_that_its_page_names(swept: Path) -> None:
    for name in sweeping.build_sweep_charts(
        chart_samples.sample_sweep([chart_samples.SIZES, chart_samples.THETA])
    ):
        for kind in figure_files.FIGURE_FORMATS:
            assert (swept.parent / f"figures/{name}.{kind}").stat().st_size > 1000


def test_a_missing_browser_is_told_or_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVERSPILL_REQUIRE_TOOLS", "1")
    with pytest.raises(pytest.fail.Exception):
        skip_without("there is no chromium")
    monkeypatch.setenv("OVERSPILL_REQUIRE_TOOLS", "")
    with pytest.raises(pytest.skip.Exception, match="no chromium"):
        skip_without("there is no chromium")
