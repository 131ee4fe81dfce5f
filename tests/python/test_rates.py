"""Tests of goodput of hosts and flows, Jain's index, links and queueing times, worked out by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_metrics import MS, NONE32, NONE64, US, column, flows, ports, sample_run

from overspill.results import measures, metrics
from overspill.results.columns import build_table
from overspill.results.measures.rates import jain_index
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

BIN = MS


def goodput_table(name: str, who: str, rows: list[tuple[int, int, int]]) -> Any:
    bins, one, size = zip(*rows, strict=True)
    columns = {"bin": column("u32", *bins), who: column("u32", *one), "bytes": column("u64", *size)}
    return build_table(name, columns)


def traffic(**facts: bool) -> list[dict[str, Any]]:
    return [{"name": name, "offered": None} | (facts if name == "bg" else {}) for name in ("q", "bg", "raw")]


def test_jain_s_index_is_the_square_of_the_sum_over_n_sums_of_squares() -> None:
    assert measures.jain_index(np.array([3.0, 3.0, 3.0])) == pytest.approx(1.0)
    assert measures.jain_index(np.array([5.0, 0.0, 0.0, 0.0])) == pytest.approx(1 / 4)
    # By hand: (1 + 2 + 3)^2 / (3 (1 + 4 + 9)) = 36 / 42.
    assert measures.jain_index(np.array([1.0, 2.0, 3.0])) == pytest.approx(36 / 42)
    assert measures.jain_index(np.array([1.0])) is None
    assert measures.jain_index(np.zeros(3)) is None


@given(st.lists(st.floats(0, 1e12), min_size=2, max_size=20), st.integers(-30, 30))
def test_random_shares_have_an_index_from_one_nth_to_one(shares: list[float], power: int) -> None:
    values = np.array([round(one, 3) for one in shares])
    found = jain_index(values)
    assert (found is None) == (not values.any())
    if found is not None:
        assert (1 - 1e-12) / len(values) <= found <= 1 + 1e-12
        assert jain_index(np.ldexp(values, power)) == pytest.approx(found, rel=1e-14)
        assert jain_index(np.concatenate([values, values])) == pytest.approx(found)
        assert (found > 1 - 1e-12) == (values.max() - values.min() <= 1e-5 * values.max())


def test_flows_of_a_workload_share_by_what_each_got_over_its_own_time() -> None:
    # 1000 bytes in 10 us and in 40 us: shares of 4 and 1, (4 + 1)^2 / (2 (16 + 1)) = 25 / 34.
    found = metrics.measure(sample_run())
    assert found["jain[traffic=q]"].value == pytest.approx(25 / 34)
    # Only one flow of the other workload is measured, and raw sources have no share.
    assert "jain[traffic=bg]" not in found and "jain[traffic=raw]" not in found and "jain" not in found


def two_endless(**changed: Any) -> RunData:
    """Returns a run in which flows 2 and 3 of workload `bg` never end.

    Flow 2 begins at 2 ms and flow 3 at 0; the window is 1 to 11 ms.
    """
    ends = column("u64", 1 * MS + 10 * US, 1 * MS + 41 * US, NONE64, NONE64, NONE64)
    summary = {"traffic": traffic(endless=True), "bin_ps": BIN}
    return sample_run(flows=flows(end_ps=ends), summary=summary, **changed)


def test_endless_flows_have_goodput_but_no_completion_time() -> None:
    found = metrics.measure(two_endless())
    assert found["unfinished_flows"] == Value(0.0)
    assert "fct_mean[traffic=bg]" not in found and not found["fct_p99"].censored
    # From start to the end of the run at 20 ms: 200,000 bytes in 18 ms, 500 bytes in 20 ms.
    assert found["flow_goodput_min"].value == pytest.approx(500 * 8 / 20e-3)
    assert found["flow_goodput_mean"].value == pytest.approx((500 * 8 / 20e-3 + 200_000 * 8 / 18e-3) / 2)


def test_endless_flows_are_taken_in_whole_bins_where_these_were_counted() -> None:
    # Bins 0 and 11 are outside the window; flow 2 begins at 2 ms and so has 9 of 10 ms.
    rows = [(0, 2, 10**6), (2, 2, 9000), (1, 3, 4000), (10, 3, 6000), (11, 3, 10**6)]
    found = metrics.measure(two_endless(flow_goodput=goodput_table("flow_goodput", "flow", rows)))
    shares = np.array([9000 * 8 / 9e-3, 10_000 * 8 / 10e-3])
    assert found["flow_goodput_min"].value == pytest.approx(shares.min())
    assert found["flow_goodput_mean"].value == pytest.approx(shares.mean())
    assert found["jain[traffic=bg]"].value == pytest.approx(1.0)


def test_requests_count_for_queries_and_not_for_flows() -> None:
    # Flow 0 becomes a request: the query still begins with it at 1 ms and ends at 1.041 ms.
    role = column("u8", 1, 0, 0, 0, 0)
    found = metrics.measure(sample_run(flows=flows(role=role)))
    assert found["fct_mean[traffic=q]"].value == pytest.approx(40e-6)
    assert found["qct_p50"].value == pytest.approx(41e-6)


def test_a_query_counts_whole_where_its_first_message_is_measured() -> None:
    late = column("u8", 1, 0, 1, 0, 1)
    assert metrics.measure(sample_run(flows=flows(measured=late)))["qct_p50"].value == pytest.approx(41e-6)
    early = column("u8", 0, 1, 1, 0, 1)
    assert "qct_p50" not in metrics.measure(sample_run(flows=flows(measured=early)))
    lone = column("u32", *[NONE32] * 5)
    assert "qct_p50" not in metrics.measure(sample_run(flows=flows(query=lone)))


def test_hosts_that_receive_have_a_least_mean_and_largest_goodput() -> None:
    rows = [(0, 0, 10**6), (1, 0, 1000), (10, 0, 2000), (5, 2, 9000), (11, 2, 10**6)]
    run = sample_run(summary={"bin_ps": BIN}, host_goodput=goodput_table("host_goodput", "node", rows))
    found = metrics.measure(run)
    assert found["host_goodput_min"].value == pytest.approx(3000 * 8 / 10e-3)
    assert found["host_goodput_max"].value == pytest.approx(9000 * 8 / 10e-3)
    assert found["host_goodput_mean"].value == pytest.approx(6000 * 8 / 10e-3)
    assert "host_goodput_mean" not in metrics.measure(sample_run())


def counted_ports() -> Any:
    """Returns ports with frames of 1000 bytes.

    1125 of them on 1 Gb/s in 10 ms are 1125 x 1020 x 8 / 10^7 = 91.8 %.
    """
    sent = np.array([100, 100, 100, 300, 1125, 50], np.uint64)
    peers = column("u32", 3, 3, 3, 0, 3, 2)
    return (
        ports()
        .set_column(4, "sent", [sent])
        .append_column("sent_bytes", [sent * np.uint64(1000)])
        .set_column(2, "peer", [np.frombuffer(peers[1], "<u4")])
    )


def hosts_carried() -> dict[str, Any]:
    """Returns the bits that hosts sent, with 20 further bytes for each frame."""
    return {"wire_bits": {"host": {"bits": 300 * 1020 * 8, "capacity_bps": 3e9}}}


def test_a_link_is_hot_from_90_percent_on() -> None:
    found = metrics.measure(sample_run(ports=counted_ports(), summary=hosts_carried()))
    assert found["link_utilisation_max"].value == pytest.approx(0.918)
    assert found["link_utilisation_mean"].value == pytest.approx(1775 * 1020 * 8 / 1e7 / 6)
    assert found["hot_links"].value == pytest.approx(1 / 6)
    # There is one link between switches, at port 1 of the switch.
    assert found["hot_links[of=switches]"] == Value(1.0)
    assert "hot_link_share" not in found


def test_hot_links_by_bin_are_pairs_of_link_and_bin() -> None:
    # The window has bins 1 to 10 of 1 ms, 10^6 bits each. Exactly 90 % is hot; bin 0 and bin 11 do not count.
    rows = [(0, 3, 0, 10**6), (1, 3, 0, 900_000), (1, 3, 1, 10**6), (2, 0, 0, 899_999), (11, 3, 0, 10**6)]
    bins, node, port, bits = zip(*rows, strict=True)
    columns = {"bin": column("u32", *bins), "node": column("u32", *node)}
    columns |= {"port": column("u16", *port), "bits": column("u64", *bits)}
    summary = hosts_carried() | {"bin_ps": BIN}
    found = metrics.measure(
        sample_run(ports=counted_ports(), summary=summary, links=build_table("links", columns))
    )
    assert found["hot_link_share"].value == pytest.approx(2 / (6 * 10))
    assert found["hot_link_share_max"].value == pytest.approx(2 / 6)
    assert found["hot_link_share[of=switches]"].value == pytest.approx(1 / 10)


def test_waiting_times_are_of_switch_ports_and_at_the_busiest() -> None:
    # Port 2 is busiest: 3 frames wait 10 to 19 us, one 40 to 49 us; port 0: 96 frames 0 us; node 0 is a host.
    rows = [(3, 2, 10 * US, 20 * US, 3, 90 * US), (3, 2, 40 * US, 50 * US, 1, 0)]
    rows += [(3, 0, 0, 1, 96, 0), (0, 0, MS, 2 * MS, 50, 60 * MS)]
    kinds = {"node": "u32", "port": "u16", "low": "u64", "high": "u64", "count": "u64", "sum": "f64"}
    lists = zip(kinds.items(), zip(*rows, strict=True), strict=True)
    waits = build_table("queue_sojourn", {name: column(kind, *values) for (name, kind), values in lists})
    found = metrics.measure(sample_run(queue_sojourn=waits))
    assert found["sojourn_busiest_mean"].value == pytest.approx(22.5e-6)
    assert found["sojourn_busiest_p50"].value == pytest.approx(15e-6)
    assert found["sojourn_busiest_max"].value == pytest.approx(45e-6)
    assert found["sojourn_all_mean"].value == pytest.approx(0.9e-6)
    assert found["sojourn_all_p50"] == Value(0.0)
    assert found["sojourn_all_p99"].value == pytest.approx(15e-6)
    assert found["sojourn_all_p99"].samples == 100
    assert not [name for name in metrics.measure(sample_run()) if name.startswith("sojourn")]
