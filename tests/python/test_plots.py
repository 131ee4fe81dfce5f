"""Tests of figures: the same port in all panels, counts as in the table, and a readable size."""

import subprocess
import sys
from pathlib import Path

import chart_samples
import pyarrow.compute as pc
import pytest

from overspill import Results, charts, plots, run, sweep
from overspill.charts import activity, common, queues
from overspill.charts import sweep as sweep_charts


def results_with_variants(tmp_path: Path, count: int) -> Results:
    path = tmp_path / "many.toml"
    path.write_text('name = "many"\n' + "".join(f"[variants.v{i}]\n" for i in range(count)))
    return run(path)


def test_every_panel_shows_the_same_port(scenario: Path) -> None:
    results = run(scenario)
    runs = {variant: results.runs_of(variant)[0] for variant in results.variants}
    ports, why = queues.select_ports(runs)
    assert len(set(ports.values())) == 1 and set(ports) == set(runs)
    ranks = [queues.rank_ports(one) for one in runs.values()]
    drops = {port: sum(one[port][0] for one in ranks if port in one) for port in ranks[0]}
    assert drops[ports["drop"]] == max(drops.values()) > 0
    assert why == "the port with most drops in the window over all variants"


def test_titles_count_as_the_table_does(scenario: Path) -> None:
    results = run(scenario)
    first = results.runs_of("drop")[0]
    assert activity.count_window_events(first, 0) == results.values["drop"][1]["drops"].value
    figure = plots.activity_over_time(results, 1)
    assert figure is not None
    marks = f"{int(results.values['drop'][1]['marks'].value):,}"
    assert f"drop: {marks} marks in the window (seed 1)" in [axes.get_title("left") for axes in figure.axes]
    assert all(axes.patches for axes in figure.axes[:3])
    assert [text.get_text() for axes in figure.axes[:3] for text in axes.texts] == []


@pytest.mark.parametrize("count", [1, 7, 14])
def test_figures_of_many_variants_stay_on_a_screen(tmp_path: Path, count: int) -> None:
    results = results_with_variants(tmp_path, count)
    for figure in (plots.queue_over_time(results), plots.activity_over_time(results, 0)):
        assert figure is not None and figure.get_figheight() * 150 <= 1600


def test_few_flows_have_no_tail(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = run(scenario)
    whole = plots.distribution(results, "fct")
    assert whole is not None and len(whole.axes) == 2
    assert whole.axes[0].get_xlabel() == "FCT, log scale"
    few = plots.distribution(results, "qct")
    assert few is not None and len(few.axes) == 1


def test_curves_that_coincide_differ_in_dashes_and_width(three_seeds: Results) -> None:
    looks = [common.line_style_of_variant(three_seeds, variant) for variant in three_seeds.variants]
    assert len({one.dash for one in looks}) == len({one.width for one in looks}) == 3


def test_few_counts_have_an_even_scale_of_colours() -> None:
    assert not activity.colours_for_counts(3, "").log
    assert activity.colours_for_counts(1000, "").log


def test_a_variant_without_drops_has_an_empty_panel(scenario: Path) -> None:
    figure = plots.activity_over_time(run(scenario), 2)
    assert figure is not None
    titles = [axes.get_title("left") for axes in figure.axes]
    assert "drop: 0 detours in the window (seed 1)" in titles
    notes = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert notes == ["no detours", "no detours"]


def test_figures_of_workloads_name_them(scenario: Path) -> None:
    captions = {name: caption for name, (caption, _) in plots.figures(run(scenario)).items()}
    assert captions["fct-burst"].startswith("Flow completion times of burst:")
    assert captions["fct-background"].startswith("Flow completion times of background:")


def test_a_workload_with_all_the_flows_has_no_figure_of_its_own(scenario: Path) -> None:
    results = run(scenario)
    table = results.table("flows")
    assert set(table["traffic"].to_pylist()) == {0, 1}
    alone = {variant: table.filter(pc.equal(table["traffic"], 1)) for variant in results.variants}
    found = charts.build_charts(chart_samples.with_table(results, "flows", alone))
    assert "fct" in found and not {"fct-burst", "fct-background"} & set(found)


def test_the_figure_of_one_metric_has_its_title_once(scenario: Path) -> None:
    found = sweep(scenario, {"switch.x": [1, 2]}, seeds=2)
    figure = plots.sweep(found, "fct_p99")
    assert figure is not None
    titles = [text.get_text() for text in figure.texts] + [axes.get_title("left") for axes in figure.axes]
    assert titles.count("FCT p99") == 1
    family = sweep_charts.build_sweep_charts(found)["sweep-fct"]
    assert "FCT mean [burst]" in [panel.title for panel in family.panels]


def test_the_module_is_there_without_an_import_of_its_own() -> None:
    code = "import overspill; print(overspill.plots.sweep.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "sweep\n"


def test_an_unknown_distribution_is_refused(scenario: Path) -> None:
    with pytest.raises(ValueError, match="fct, qct"):
        plots.distribution(run(scenario), "rtt")
