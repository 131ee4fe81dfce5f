"""Tests of bounces, distances and ports' separate queues, against runs and tables worked out by hand."""

from pathlib import Path

import numpy as np
import pytest
from test_metrics import column, sample_run

import overspill
from overspill import charts
from overspill.charts.chart_spec import Bars, Line
from overspill.results import metrics
from overspill.results.columns import build_table
from overspill.results.rundata import RunData

pytestmark = pytest.mark.usefixtures("compiled")

# crates/sim/tests/bouncing.rs works this run out: the last of six frames is bounced once.
TWO = """
name = "two"
duration = "1ms"
[host]
nic_jitter = "0us"
[topology]
kind = "star"
n = 3
link = { rate = "1Gbps", delay = "1us" }
[switch]
ties = "port"
buffer = { kind = "per_port", size = "2pkt" }
overflow = { kind = "bounce", theta = 0.5, lambda = 1000000, bounce_size = "3pkt", round_to = 0 }
[measure]
sub_queues = true
[[traffic]]
name = "a"
kind = "constant"
source = "h0"
destination = "h2"
payload = "1460B"
rate = "1Gbps"
bytes = "wire"
stop = "30us"
[[traffic]]
name = "b"
kind = "constant"
source = "h1"
destination = "h2"
payload = "1460B"
rate = "1Gbps"
bytes = "wire"
stop = "30us"
"""


def two_switch_metrics(tmp_path: Path, *sets: str) -> dict[str, float]:
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    results = overspill.run(path, sets=sets)
    return {name: one.value for name, one in results.values["default"][1].items()}


def test_one_bounce_gives_what_is_worked_out_by_hand(tmp_path: Path) -> None:
    found = two_switch_metrics(tmp_path)
    assert found["bounced_share"] == pytest.approx(1 / 6)
    assert found["bounced_share[traffic=b]"] == pytest.approx(1 / 3)
    assert found["bounces_per_bounced"] == found["max_bounced_distance_max"] == 1
    assert found["max_bounced_distance_mean"] == pytest.approx(1 / 6)
    assert found["max_bounced_distance_mean[traffic=a]"] == 0
    assert "bounces_per_bounced[traffic=a]" not in found
    # Five packets cross the switch once; one crosses it twice, and its host in between.
    assert (found["total_hop_mean"], found["total_hop_max"]) == (pytest.approx(8 / 6), 3)
    assert (
        sum(one for name, one in found.items() if name.startswith("bounces[tier=")) == found["bounces"] == 1
    )


def test_delays_deviate_from_their_mean_over_all_workloads(tmp_path: Path) -> None:
    # Delays are 26.608 us plus 0, 1, 1, 2, 2 and 3 frame times: 0, 1 and 2 for `a`, 1, 2 and 3 for `b`.
    found = two_switch_metrics(tmp_path)
    assert found["delay_std"] == pytest.approx(12.304e-6 * np.sqrt(5.5 / 6))
    assert found["delay_std[traffic=a]"] == pytest.approx(12.304e-6 * np.sqrt(2 / 3))
    assert found["delay_mean"] == pytest.approx(26.608e-6 + 12.304e-6 * 1.5)


def test_the_time_above_theta_is_of_queues_that_were_asked_about(tmp_path: Path) -> None:
    # Toward h2 the normal queue has two of two for 24.608 us of 1 ms, the bounce queue never two of three.
    found = two_switch_metrics(tmp_path)
    assert found["time_above_theta"] == pytest.approx(0.024608 / 2)
    assert found["utilisation_variance"] == 0, "there is one switch"


@pytest.mark.parametrize(
    "sets",
    [
        ["measure.sub_queues=false"],
        ["switch.overflow={kind='tail_drop'}"],
        ["switch.buffer.size='4KB'", "switch.overflow.bounce_size='4KB'"],
    ],
)
def test_nothing_is_said_of_queues_that_are_not_followed_never_bounce_or_count_bytes(
    tmp_path: Path, sets: list[str]
) -> None:
    found = two_switch_metrics(tmp_path, *sets)
    assert not {"time_above_theta", "utilisation_variance"} & set(found)
    assert "total_hop_mean" in found and "max_bounced_distance_mean" in found


def run_with_held(
    rows: list[tuple[int, int, int, int, float, int]], held: list[tuple[int, ...]], early: int = 0
) -> RunData:
    """Returns a run from rows of `sub_queues`, and of node, port, queue, packets, percent, and decisions.

    The percentage is that of the window. Queues count as full `early` packets before their limit.
    """
    node, port, queue, limit, theta, data = zip(*rows, strict=True)
    columns = {"node": column("u32", *node), "port": column("u16", *port), "queue": column("u8", *queue)}
    columns |= {"limit": column("u64", *limit), "theta": column("f64", *theta), "data": column("u64", *data)}
    columns["full_from"] = column("u64", *[one - early for one in limit])
    run = sample_run()
    percent = (run.window_ps[1] - run.window_ps[0]) // 100
    node, port, queue, packets, share, decisions = zip(*held, strict=True)
    lengths = {"node": column("u32", *node), "port": column("u16", *port), "queue": column("u8", *queue)}
    lengths |= {
        "packets": column("u32", *packets),
        "time_ps": column("u64", *[one * percent for one in share]),
    }
    lengths |= {"arrivals": column("u64", *decisions), "decisions": column("u64", *decisions)}
    return sample_run(
        sub_queues=build_table("sub_queues", columns), sub_queue_hist=build_table("sub_queue_hist", lengths)
    )


def test_a_switch_is_as_full_as_the_port_that_most_data_were_to_leave_by() -> None:
    # Switch 2: port 1 has most data; its queues are filled by a half and by a tenth, 0.3 together. Switch 3:
    # port 0 has most data and is empty, whatever is queued at port 1.
    rows = [(2, 0, 0, 10, 0.5, 4), (2, 0, 1, 10, 0.5, 0), (2, 1, 0, 10, 0.5, 5), (2, 1, 1, 20, 0.5, 2)]
    rows += [(3, 0, 0, 10, 0.5, 9), (3, 0, 1, 10, 0.5, 0), (3, 1, 0, 10, 0.5, 8), (3, 1, 1, 10, 0.5, 0)]
    held = [(2, 0, 0, 9, 100, 1), (2, 1, 0, 5, 60, 0), (2, 1, 0, 10, 20, 3), (2, 1, 1, 4, 50, 1)]
    held += [(3, 1, 0, 10, 100, 0), (3, 0, 0, 0, 100, 7)]
    found = metrics.measure(run_with_held(rows, held))
    assert found["utilisation_variance"].value == pytest.approx(0.15**2)
    # Queues with decisions: 0.9 all the time; above a half for a fifth (a half itself is not); a fifth;
    # nothing.
    assert found["time_above_theta"].value == pytest.approx((1 + 0.2 + 0 + 0) / 4)


def test_a_queue_that_counts_as_full_is_above_any_theta() -> None:
    rows = [(2, 0, 0, 100, 0.99, 4), (2, 0, 1, 100, 0.99, 4)]
    held = [(2, 0, 0, 97, 10, 1), (2, 0, 0, 98, 20, 1), (2, 0, 0, 99, 30, 1), (2, 0, 1, 97, 100, 1)]
    # 98 and 99 of 100 places are not above 0.99, but count as full if three packets may arrive together.
    assert metrics.measure(run_with_held(rows, held))["time_above_theta"].value == 0
    assert metrics.measure(run_with_held(rows, held, early=2))["time_above_theta"].value == pytest.approx(
        0.25
    )


def test_switches_that_do_not_bounce_count_for_the_variance_alone() -> None:
    rows = [(2, 0, 0, 10, 0.5, 4), (2, 0, 1, 10, 0.5, 0), (3, 0, 0, 10, 1.0, 4)]
    held = [(2, 0, 0, 4, 100, 4), (3, 0, 0, 10, 100, 4)]
    found = metrics.measure(run_with_held(rows, held))
    assert found["utilisation_variance"].value == pytest.approx(0.4**2)
    assert found["time_above_theta"].value == 0


def test_figures_tell_where_packets_were_bounced_and_how_far(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(TWO + "[variants.drop]\nswitch.overflow = { kind = 'tail_drop' }\n[variants.bounce]\n")
    found = charts.build_charts(overspill.run(path))
    (panel,) = found["bounces-switches"].panels
    (bar,) = (mark for mark in panel.marks if isinstance(mark, Bars))
    assert (panel.x.ticks, bar.height.tolist(), bar.entry) == (((0.0, "s0"),), [1], "bounce")
    far, hops = found["bounced"].panels
    (bar,) = (mark for mark in far.marks if isinstance(mark, Bars))
    assert bar.height.tolist() == pytest.approx([5 / 6, 1 / 6]), (
        "both workloads, one of which was never bounced"
    )
    (line,) = (mark for mark in hops.marks if isinstance(mark, Line))
    assert (line.x.tolist(), line.y.tolist()) == ([1, 1, 3], pytest.approx([0, 5 / 6, 1]))


def test_there_is_no_figure_where_nothing_was_bounced(tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    path.write_text(TWO)
    found = charts.build_charts(overspill.run(path, sets=["switch.buffer.size=50pkt"]))
    assert not {"bounces-switches", "bounced"} & set(found)
