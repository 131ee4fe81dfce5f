"""Tests of warnings of sweeps: every label that a run prints, loads, and differences from a baseline."""

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from sweep_folders import Command

from overspill import Results
from overspill.charts import sweep as drawing
from overspill.cli import sweep_table
from overspill.report import sweep as report
from overspill.results import achieved_loads, differences, gather_sweep, pointwise_lines, warnings
from overspill.results.axes import Axis, Point
from overspill.results.cache import RunStore, StoredRun
from overspill.results.line_labels import COMMAND_OF_LABEL, LABEL_MEANINGS
from overspill.results.metric_key import Key
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

SEEDS = [1, 2, 3]
OFFERED = {"fraction": 0.65, "of": "host", "bytes": "payload", "bps": 1e9}
SUMMARY: dict[str, Any] = {
    "flows": {"measured": 40, "unfinished": 0, "raw": 0},
    "stop": "done",
    "conserved": True,
    "deadlock": None,
    "allow_unfinished": False,
    "end_ps": 9 * 10**9,
    "starved": [],
    "window_ps": [0, 8 * 10**9],
    "drain_ps": 10**12,
    "events": 700,
    "hops": 600,
    "traffic": [{"name": "w", "kind": "poisson", "offered": OFFERED}],
    "changes": [{"at_ps": 10**9, "link": "a:b", "what": "down", "loses": True}],
    "quiet": False,
    "traffic_met": {"flows": "f", "spoken": [[], []]},
    "achieved_loads": [[0, 0.4, 0.66]],
    "event_costs": [[0, 340, 0]],
    "may_pause": True,
}
# Parts of the summary that only one variant has; each causes one label or more.
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "cut": {"stop": "max_events"},
    "left": {"flows": {"measured": 40, "unfinished": 3, "raw": 0}},
    "stuck": {"deadlock": {"class": 0, "cycle": ["a:b", "b:a"], "at_ps": 5}},
    "idle": {"flows": {"measured": 0, "raw": 0}},
    "starving": {"starved": [{"traffic": "w", "flows": 4, "starved": 1, "share": 0.001}]},
    "alike": {},
    "twin": {},
    "drifting": {},
    "late": {},
    "blind": {
        "shared_by_classes": {"port": "s0:4", "classes": [0, 3], "drops": 9},
        "lossless_losses": {
            "packets": 5,
            "groups": 2,
            "most": {"at_ps": 10**9, "port": "s0:2", "group": 3, "packets": 4},
        },
        "pause_storms": {"count": 2, "dropped": 7, "first": {"at_ps": 10**9, "port": "s0:1", "queue": 3}},
    },
}


def entry(variant: str, seed: int, **changed: Any) -> StoredRun:
    place = list(CASES).index({"twin": "alike"}.get(variant, variant))
    time = 1e-3 * (1 + place) + (0 if variant in ("alike", "twin") else seed * 1e-6)
    values = {Key("fct_mean"): Value(time), Key("fct_p99"): Value(2 * time, samples=40)}
    values |= {Key("load_wire", of="host"): Value(0.41), Key("drops"): Value(3.0)}
    values |= {Key("achieved_load", traffic="w"): Value(0.4)}
    if variant == "late":
        values |= {Key("drops"): Value(0.0), Key("data_drops"): Value(10.0 + seed)}
    halves = {"goodput": (1.0, 2.0 + seed / 100)} if variant == "drifting" else {}
    return StoredRun(values, SUMMARY | CASES[variant] | changed, halves=halves)


def settings() -> str:
    memory = {"tier": "leaf", "count": 1, "ports": 2, "buffer": "1KB"}
    return json.dumps(
        {
            "resolved": {
                one: {
                    "measure": {"from": "1us" if one == "plain" else "0s"},
                    "traffic": [{"name": "w", "kind": "poisson"}],
                    "transport": {"kind": "reno", "mss": "1448B"},
                }
                for one in CASES
            },
            "memory": {
                one: {"switches": [memory | {"total": {"bytes": 1 + (one == "plain")}}]} for one in CASES
            },
        }
    )


def sweep_facts(points: list[Point]) -> dict[str, Any]:
    axes = [Axis("traffic.w.load.fraction", ["0.3", "0.65"], [0.3, 0.65])]
    return {
        "name": "all",
        "variants": list(CASES),
        "labels": {"plain": "as it is", "starving": "with little"},
        "seeds": SEEDS,
        "overspill": "0.2.0",
        "sets": [],
        "notes": ["a note"],
        "interrupted": True,
        "failures": ["w: the run failed"],
        "max_events": None,
        "tables": [],
        "baseline": "plain",
        "together": [],
        "axes": [asdict(one) for one in axes],
        "points": [{"values": list(one.values.values()), "configs": {}} for one in points],
    }


def results_of_sweep(folder: Path, **changed: Any) -> Results:
    """Builds a sweep with the artificial runs at two points."""
    store = RunStore(folder)
    points = [Point(at, {"traffic.w.load.fraction": text}, ()) for at, text in enumerate(("0.3", "0.65"))]
    planned = []
    for point in points:
        keys = {one: [f"{point.index}{one}{seed}" for seed in SEEDS] for one in CASES}
        for one in CASES:
            for seed in SEEDS:
                store.store_run(f"{point.index}{one}{seed}", entry(one, seed, **changed), {})
        planned.append(gather_sweep.PlannedPoint(point, keys, settings()))
    facts = sweep_facts(points)
    return gather_sweep.gather_grid(facts, [Axis(**one) for one in facts["axes"]], planned, store)


def results_of_point() -> Results:
    """Builds results with the artificial runs at one point."""
    facts = {key: one for key, one in sweep_facts([]).items() if key not in ("axes", "points", "together")}
    runs = []
    for variant in CASES:
        for seed in SEEDS:
            one = entry(variant, seed)
            run = RunData({**one.summary, "variant": variant, "seed": seed}, {})
            run.values, run.halves = one.values, one.halves
            runs.append(run)
    return Results(facts | json.loads(settings()), runs)


def labels(results: Results) -> set[str]:
    return {line.label for line in warnings.result_lines(results)}


def test_every_label_of_a_run_is_one_of_a_sweep(tmp_path: Path) -> None:
    both = set(LABEL_MEANINGS) - set(COMMAND_OF_LABEL)
    assert labels(results_of_point()) == both
    assert labels(results_of_sweep(tmp_path)) == both | {"swept", "finished"}


def test_loss_outside_of_the_window_is_named_with_its_runs() -> None:
    found = [line for line in warnings.warnings(results_of_point()) if line.label == "LOST OUTSIDE WINDOW"]
    (line,) = found
    assert line.text.startswith("late, seeds 1-3: `drops` is 0, because it counts the measurement window")
    assert "11 to 13 data packets of measured flows were lost" in line.text
    kept = results_of_point()
    for by_seed in kept.values["late"].values():
        by_seed[Key("drops")] = Value(1.0)
    assert "LOST OUTSIDE WINDOW" not in labels(kept)


def test_document_of_a_sweep_has_every_loud_label(tmp_path: Path) -> None:
    sweep = results_of_sweep(tmp_path)
    loud = {line.label for line in warnings.result_lines(results_of_point()) if line.loud}
    assert loud <= {one.partition(":")[0] for one in sweep.document()["cautions"]}


def test_text_that_holds_at_every_point_names_none(tmp_path: Path) -> None:
    said = {line.label: line.text for line in warnings.result_lines(results_of_sweep(tmp_path))}
    assert said["UNEQUAL MEMORY"].startswith("the switches of the variants have unequal memory")
    assert said["achieved load"].startswith("w 0.4 of all hosts' links")
    assert "(0.66 started in the window)" in said["achieved load"]
    assert "340 on the link" in said["event"]


def test_text_that_differs_by_point_names_the_point() -> None:
    facts = sweep_facts([Point(at, {"x": str(at)}, ()) for at in range(3)])
    texts = [{"text": f"t{at}", "loud": False, "points": [at]} for at in range(3)]
    facts["lines"] = [{"label": "ended", "left_out": 0, "texts": texts}]
    (line,) = pointwise_lines.merged_lines(facts)
    assert line.text == "traffic.w.load.fraction=0: t0 (and 2 more: `lines` in manifest.json)"


def test_runs_kept_without_warnings_are_said_to_be_unknown(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    old = entry("plain", 1)
    for name in ("traffic_met", "achieved_loads", "event_costs"):
        old.summary.pop(name)
    store.store_run("00", old, {})
    point = Point(0, {"traffic.w.load.fraction": "0.3"}, ())
    facts = sweep_facts([point]) | {"seeds": [1], "variants": ["plain"]}
    planned = [gather_sweep.PlannedPoint(point, {"plain": ["00"]}, settings())]
    made = gather_sweep.gather_grid(facts, [Axis(**one) for one in facts["axes"]], planned, store)
    assert "NOT KNOWN" in labels(made) and "UNEQUAL MEMORY" not in labels(made)
    del made.facts["lines"]
    assert "NOT KNOWN" in labels(made), "a manifest of an older version has no lines"


def test_closed_loops_are_compared_by_their_first_messages() -> None:
    from overspill.results import fairness

    spoken = {(0, at): [(0, 1, 2, 9)] * 200 for at in range(4)}
    cut, whole = fairness.first_messages(spoken, cut=True), fairness.first_messages(spoken, cut=False)
    assert [len(every) for _, every in cut] == [200, 200, 100]
    assert [len(every) for _, every in whole] == [200, 200]


def test_labels_of_variants_stand_in_tables_of_differences_and_on_the_page(tmp_path: Path) -> None:
    sweep = results_of_sweep(tmp_path)
    (told,) = [line.text for line in warnings.result_lines(sweep) if line.label == "labels"]
    assert told == "plain = as it is; starving = with little"
    out = io.StringIO()
    sweep_table.print_sweep(sweep, ["fct_mean"], Console(file=out, width=300))
    head = out.getvalue().partition("difference from as it is\n")[2].splitlines()[0]
    assert "with little" in head and "starving" not in head and "twin" in head
    page = report.render_sweep_page(sweep, [])
    assert "difference from as it is" in page and "<td>with little</td>" in page
    assert sweep.document()["labels"]["plain"] == "as it is" and sweep.document()["baseline"] == "plain"


def test_load_that_was_not_achieved_stands_beside_its_axis(tmp_path: Path) -> None:
    sweep = results_of_sweep(tmp_path)
    path = "traffic.w.load.fraction"
    assert achieved_loads.achieved_load_texts(sweep) == {path: {("0.3",): "0.4", ("0.65",): "0.4"}}
    axis = drawing.swept_field_axis(sweep, 0)
    assert axis.label == f"{path} requested (achieved)"
    assert axis.ticks == ((0.3, "0.3 (0.4)"), (0.65, "0.65 (0.4)"))
    chart = drawing.chart_metric(sweep, "fct_mean")
    assert chart is not None and "0.4 for a requested load of 0.65" in chart.caption


def test_differences_of_a_point_are_from_the_baseline(tmp_path: Path) -> None:
    sweep = results_of_sweep(tmp_path)
    found = differences.differences_of_metric(sweep.differences, sweep.axes, "fct_mean")
    one = found["0.3", "starving"]
    assert one.n == 3 and one.mean == pytest.approx(5e-3) and one.low <= one.mean <= one.high
    assert one.note == "no *: a run was cut" and not one.differs


def test_sweep_prints_differences_from_the_named_baseline(command: Command, scenario: Path) -> None:
    args = ("sweep", scenario, "--over", "switch.x=1,2", "--seeds", 10, "--metric", "drops", "--out", "o")
    ran = command(*args, "--baseline", "detour", "--no-report")
    assert ran.status == 0
    table = ran.out.partition("difference from detour\n")[2].splitlines()
    assert table[0].split() == ["switch.x", "drop", "bounce"]
    assert "*" in table[1] and "±" in table[1]
    wrong = command(*args, "--baseline", "nobody")
    assert wrong.status == 2 and "--baseline: found nobody; expected one of drop, detour, bounce" in wrong.err
    made = Results.load("o")
    row = made.differences.to_pylist()[0]
    assert (row["baseline"], row["variant"]) == ("detour", "drop")
    assert (Path("o") / "differences.csv").is_file()
    known = json.loads(command(*args, "--json").out)["points"][0]["variants"]
    assert known[0]["metrics"]["fct_mean"].get("difference") is None, "the first variant is the baseline"
    assert known[1]["metrics"]["fct_mean"]["difference"]["baseline"] == "drop"
    Path("o/differences.parquet").unlink()
    facts = json.loads(Path("o/manifest.json").read_text())
    assert "differences.parquet" in facts["outputs"]
