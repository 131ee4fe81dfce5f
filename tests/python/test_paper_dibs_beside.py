"""Tests of DIBS's comparisons of sections 4, 6 and 7: figures measure their rows and pair the right runs."""

import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from dibs_runs import FakeRuns, flows, packets, query_and_flow
from dibs_tables import PORTS, number, table
from dibs_tables import FakeRuns as InFatTree
from overspill_papers.dibs.measures import comparisons, mixed
from sample_runs import points_along
from small_paper import measures_exactly

from overspill.papers import paper_files
from overspill.papers.spec import Measured, Point, Runs

PAPER = Path(__file__).parents[2] / "papers" / "dibs"
ROWS: list[dict[str, Any]] = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
SWEEPS = paper_files.read_paper(PAPER).sweeps

QCT = {"dctcp": 40, "dctcp_nofr": 60, "dibs": 10, "spray": 38, "spray_nofr": 66, "pause": 12, "pool": 8}
QCT |= {"pool_pause": 9, "pool_pfc": 14, "pause_early": 30, "pause_late": 20, "pause_short": 25}
QCT |= {"pool_pause_early": 11, "pool_pause_late": 8, "cioq_dibs": 11, "cioq_twice_dibs": 13}
FCT = {"dibs": 3, "pause": 5, "ecn_dibs": 2.5}
DROPS = {"dctcp": 100, "pause_late": 7, "pool_pfc": 2, "ecn": 50, "ecn_dibs": 1, "dibs": 4}
RATES = points_along(comparisons.QPS_PATH, comparisons.QUERY_RATES)


def fake_runs(variants: str, points: list[Point] | None = None, **more: Any) -> FakeRuns:
    """Returns a sweep with the levels above.

    Other variants have a QCT of 20 ms plus the seed in ms, a background FCT of 2 ms, and no losses.
    """
    metrics: dict[str, Any] = {
        f"drops[reason={one}]": lambda *_: 0 for one in (*mixed.DROP_REASONS, "input_full")
    }
    metrics |= {
        "drops": lambda variant, *_: DROPS.get(variant, 0),
        "detours": lambda *_: 9,
        "pauses": lambda _, point, __: float(point[comparisons.QPS_PATH]),
        "reordered_share": lambda variant, *_: {"dctcp": 0.01, "dibs": 0.16}.get(variant, 0.3),
        "queue_all_mean": lambda variant, *_: 1 + 2 * (variant == "dibs_newreno"),
    }

    def times(variant: str, point: Point, seed: int) -> pa.Table:
        return query_and_flow(QCT.get(variant, 20) + seed, FCT.get(variant, 2))

    kept = {"flows": times, "packet_hist": packets}
    return FakeRuns(points or [{}], variants.split(), metrics | more, kept)


def detours(*taken: tuple[str, int]) -> InFatTree:
    """Returns runs with detours of one flow to host 0, by switch and port, and one detour of its ACKs."""
    rows = [(0, 1, 0, at, number(name), 0, port, at) for at, (name, port) in enumerate(taken)]
    steps = table(
        "flow n reverse step node wanted taken time_ps", *rows, (0, 2, 1, 0, number("agg0"), 0, 1, 0)
    )
    kept = {"ports": PORTS, "detour_steps": steps, "flows": table("flow dst", (0, 0))}
    return InFatTree(kept={name: lambda *_, one=one: one for name, one in kept.items()})


def ring_runs(*paused: tuple[int, int]) -> FakeRuns:
    """Returns runs on the ring of switches, with intervals of pauses in ms."""
    trace = table(
        "from_ps to_ps node port", *((a * 10**9, b * 10**9, 0, at) for at, (a, b) in enumerate(paused))
    )
    metrics: dict[str, Any] = {"drops": lambda *_: 0, "detours": lambda *_: 3}
    metrics["unfinished_flows"] = lambda variant, *_: 6 * (variant == "pause")
    return FakeRuns([{}], ("pause", "dibs"), metrics, {"pause_trace": lambda *_: trace})


def all_sweeps() -> dict[str, Runs]:
    usual = "dctcp dctcp_nofr dibs spray spray_nofr pause pool pool_pause pool_pfc"
    return {
        "beside": fake_runs(usual, RATES),
        "thresholds": fake_runs("pause_early pause_late pause_short pool_pause_early pool_pause_late"),
        "every_detour": detours(("agg0", 1), ("agg0", 2), ("agg0", 5), ("edge0", 4), ("agg4", 0)),
        "ring": ring_runs((1, 30_000), (2, 30_000), (29_900, 30_000), (5, 6)),
        "transports": fake_runs("ecn ecn_dibs qcn qcn_dibs", RATES),
        "transports_default": fake_runs("dibs_newreno dcqcn dcqcn_dibs"),
        "cioq": fake_runs("cioq_dctcp cioq_dibs cioq_twice_dctcp cioq_twice_dibs", RATES),
        "hyperx": fake_runs("dctcp dibs", RATES),
        "jellyfish": fake_runs("dctcp dibs", RATES),
    }


def rows_by_key(figure: str, **changed: Runs) -> dict[tuple[str, str], Measured]:
    every = list(comparisons.MEASURES[figure](all_sweeps() | changed))
    return {(one.case, one.metric): one for one in every}


@pytest.mark.parametrize("name", sorted(comparisons.MEASURES))
def test_a_comparison_measures_exactly_its_rows(name: str) -> None:
    measures_exactly(name, comparisons.MEASURES[name], all_sweeps(), ROWS)


def test_made_sweeps_have_the_variants_of_the_paper() -> None:
    for name, runs in all_sweeps().items():
        given = SWEEPS[name].variants or runs.variants
        assert list(runs.variants) == list(given), name


def test_packet_ecmp_is_compared_on_equal_hosts() -> None:
    got = rows_by_key("sec6c")
    assert got["300 qps, ECMP by packet over ECMP by flow", "p99_qct"].values[0] == pytest.approx(39 / 41)
    fixed = got["300 qps, ECMP by packet over ECMP by flow, no fast retransmit", "p99_qct"]
    assert fixed.values[0] == pytest.approx(67 / 61)
    assert got["2000 qps, ECMP by packet less dibs", "p99_qct"].values == pytest.approx([28] * 4)
    late = got["300 qps, dibs less ECMP by flow", "reordered_packets"]
    assert late.values == pytest.approx([15] * 4) and "spray 30 %" in late.note


def test_each_transport_is_compared_with_itself() -> None:
    got = rows_by_key("sec6d")
    assert got["300 qps, TCP with ECN", "rise_of_p99_fct"].values == pytest.approx([0.5] * 4)
    assert got["300 qps, TCP with ECN", "drops_dibs"].values == [1] * 4
    assert got["2000 qps, TCP with ECN", "drops_tail_drop_less_dibs"].values == [49] * 4
    assert got["300 qps, NewReno less RoCE with DCQCN", "mean_queue"].values == [2] * 4


def test_cioq_is_compared_with_output_queues_at_the_same_rate() -> None:
    got = rows_by_key("sec4d")
    ratio = got["2000 qps, CIOQ, 100 packets at both ends", "p99_qct_dibs_by_output_queued"]
    assert ratio.values[0] == pytest.approx(14 / 11)
    gain = got["300 qps, CIOQ, half at inputs", "p99_qct_tail_drop_less_dibs"]
    assert gain.values == pytest.approx([9] * 4)


def test_a_tail_that_is_only_a_bound_with_detours_has_no_value() -> None:
    def opened(variant: str, *_: Any) -> pa.Table:
        return query_and_flow(20, 2) if variant == "dctcp" else flows([[None]], [(5_000, 2.0)])

    runs = fake_runs("dctcp dibs", RATES)
    runs.kept = {"flows": opened}
    got = rows_by_key("sec7a", hyperx=runs)
    row = got["300 qps, HyperX", "p99_qct_tail_drop_less_dibs"]
    assert all(one != one for one in row.values) and "at least, in 4 of 4 runs" in row.note


def test_losses_of_flow_control_are_of_both_rates() -> None:
    got = rows_by_key("sec6a")
    assert got["both rates, PAUSE", "drops"].values == [0] * 4
    pfc = got["both rates, PFC in a pool", "drops"]
    assert pfc.values == [4] * 4 and pfc.note == "300 pauses a run at 300 qps, 2000 at 2000"
    assert got["2000 qps, PAUSE, XOFF 60 KB", "drops"].values == [7] * 4
    assert got["2000 qps, dctcp less dibs", "drops"].values == [96] * 4


def test_the_worst_threshold_is_held_against_dibs() -> None:
    got = rows_by_key("sec6a")
    assert got["2000 qps, PAUSE, XOFF 3 KB less 15 KB", "p99_qct"].values == pytest.approx([18] * 4)
    assert got["2000 qps, PAUSE, worst XOFF less dibs", "p99_qct"].values == pytest.approx([20] * 4)
    assert got["2000 qps, PAUSE in a pool, worst XOFF less dibs", "p99_qct"].values == pytest.approx([1] * 4)
    assert got["300 qps, PAUSE less dibs", "p99_fct"].values == pytest.approx([2] * 4)


def test_downstream_detours_are_of_the_receivers_pod() -> None:
    # Two of agg0's three detours lead to other edge switches; agg4 is in another pod.
    case = "300 qps, aggregation switches of the receiver's pod", "detours_to_other_edges"
    assert rows_by_key("sec6a")[case].values == pytest.approx([200 / 3] * 2)


def test_ports_that_stay_paused_are_counted() -> None:
    # The third pause began just before the end; the fourth ended earlier.
    one = rows_by_key("sec6b")["ring, PAUSE", "unfinished_flows"]
    assert one.values == [6] * 4 and one.note.endswith("2, 2, 2, 2")
    assert comparisons.count_endless_pauses(table("from_ps to_ps", (0, 1)).slice(1)) == 0
