"""Tests of claims of ABQ's article that have no figure: their measures on handmade tables."""

import numpy as np
import pytest
from abq_runs import LEAF, MS, SPINES, FakeRuns, crossing_table, flows, hist, holds, ports, senders, table
from overspill_papers.abq.measures import comparisons, incast, schemes

from overspill import Failed
from overspill.papers.spec import Measure

US = 10**6
LATE = 50 * US  # delay of a held ACK


def values(measure: Measure, runs: FakeRuns, sweep: str) -> dict[tuple[str, str], list[float]]:
    found = measure({sweep: runs})
    return {(one.case, one.metric): [float(value) for value in one.values] for one in found}


def test_queue_has_the_most_bytes_and_acks_of_its_own_port() -> None:
    tables = {
        "flows": flows(5, 10),
        "ports": ports(3, longest=70),
        "queue_hist": hist((40, 4), window=990),
        "holds": holds(8, congested=3, most=12),
    }
    found = schemes.read_queue(tables, 0)
    assert (found.max_length, found.max_held_acks, found.max_held_kb) == pytest.approx((105, 12, 0.72))
    assert (found.ack_wait_ps, found.congested_ps) == (8 * MS, 3 * MS)


def runs_with_waits(waited: int = 0) -> FakeRuns:
    """Returns runs of ABQ at 10, 50 and 100 senders, with constant queue lengths for all of 10 ms."""
    points = senders(10, 50, 100)
    return FakeRuns(
        points,
        metrics={"sojourn_busiest_mean": lambda _, point, seed: 100e-6 * seed},
        kept={
            "flows": lambda *_: flows(10, again=2),
            "ports": lambda *_: ports(5, longest=79),
            "queue_hist": lambda _, point, __: hist((10 * (1 + points.index(point)), 10), window=990),
            "holds": lambda _, point, __: holds(waited, most=7 * (1 + points.index(point))),
        },
        seeds=[1],
    )


def test_lengths_of_abq_are_by_senders_and_over_the_fewest() -> None:
    found = values(incast.MEASURES["claim-queue"], runs_with_waits(), "incast")
    assert found["ABQ, n = 50", "mean_queue"] == pytest.approx([30])
    assert found["ABQ, n = 100", "p95_queue"] == pytest.approx([45])
    assert found["ABQ, n = 100", "free_above_longest_queue"] == pytest.approx([1.5])
    assert found["ABQ, 50 senders by 10", "mean_queue"] == pytest.approx([2])
    assert found["ABQ, 100 senders by 10", "p95_queue"] == pytest.approx([3])
    # The payload of 32,768 B arrives in 10 ms.
    assert found["ABQ, n = 10", "goodput_by_the_most_possible"] == pytest.approx([26.2144 / 948.819 * 100])


def test_delay_is_of_data_and_of_all_acks() -> None:
    found = values(incast.MEASURES["claim-delay"], runs_with_waits(waited=1), "incast")
    # There are 23 segments and two retransmissions, of which five are lost: 20 ACKs.
    assert found["ABQ, n = 50", "queueing_delay"] == pytest.approx([100 + 1000 / 20])


def test_memory_is_the_most_that_the_input_queue_held() -> None:
    found = values(incast.MEASURES["claim-memory"], runs_with_waits(), "incast")
    assert found["ABQ, n = 100", "most_held"] == pytest.approx([0.06 * 21])
    assert found["ABQ, n = 10", "most_held_acks"] == [7]


def test_pairs_are_compared_seed_by_seed_over_all_senders() -> None:
    took = {"abq": (10, 30), "no_corrector": (20, 50), "ten_acks": (12, 30), "one_ack": (15, 30)}
    points = senders(10, 20)
    kept = {
        "flows": lambda one, point, _: flows(took[one][points.index(point)]),
        "ports": lambda one, *_: ports(len(one)),
        "queue_hist": lambda *_: hist((10, 5), window=990),
        "holds": lambda one, *_: holds(0, congested=len(one)),
    }
    runs = FakeRuns(points, list(took), kept=kept, seeds=[1])
    found = values(comparisons.MEASURES["claim-alone"], runs, "alone")
    assert found["no corrector less ABQ", "p99_fct"] == pytest.approx([15])
    assert found["no corrector less ABQ", "drops"] == pytest.approx([9])
    assert found["no corrector less ABQ", "time_congested"] == pytest.approx([9])
    assert found["one ACK less ABQ, n = 10", "p50_fct"] == pytest.approx([5])
    goodput = [32_768 * 8e-3 / ms for ms in (10, 30, 12, 30)]
    assert found["ABQ less ten ACKs", "goodput"] == pytest.approx([(sum(goodput[:2]) - sum(goodput[2:])) / 2])


def test_paths_show_by_the_first_packet_of_each_direction() -> None:
    packets = crossing_table(
        (0, 0, 0, 0), (1, 0, 0, 10 * US), (1, 0, 1, 0), (0, 1, 0, 10 * US + US), (1, 1, 0, US)
    )
    assert comparisons.find_paths(packets, reverse=False) == {0: False, 1: True}
    assert comparisons.find_paths(packets, reverse=True) == {0: True, 1: False}


def test_flows_count_if_acks_wait_for_data_of_the_other_path() -> None:
    longer = 10 * US
    opened = [(one, way, 0, 0) for one in range(4) for way in (0, 1)]
    opened[1] = (0, 1, 0, longer)  # ACKs of flow 0 return by the other path, and are held twice
    late = [(0, 1, 1, longer + LATE), (0, 1, 2, longer + LATE)]
    opened[3] = (1, 1, 0, longer)  # ACKs of flow 1 return by the other path, and are not held
    prompt = [(1, 1, 1, longer + US)]
    rightly = [(2, 1, 1, LATE)]  # ACKs of flow 2 are held with their own data
    assert comparisons.count_wrongly_held(crossing_table(*opened, *late, *prompt, *rightly)) == 1


def test_a_flow_whose_path_is_unknown_is_refused() -> None:
    with pytest.raises(Failed, match="without its first packet in one direction"):
        comparisons.count_wrongly_held(crossing_table((0, 0, 0, 0), (0, 1, 1, 0)))


def test_lengths_between_switches_are_means_of_both_ports() -> None:
    first, other, last = SPINES[0], SPINES[1], 3
    tables = {
        "flows": flows(10),
        "ports": table(node=[LEAF, LEAF, LEAF], port=[1, 2, 3], peer=[first, other, last]),
        "queue_hist": table(
            node=[LEAF] * 4,
            port=[1, 1, 2, 3],
            packets=[0, 20, 10, 70],
            time_ps=[5 * MS, 5 * MS, 10 * MS, 10 * MS],
        ),
    }
    assert comparisons.mean_queue_kb(tables, LEAF, SPINES) == pytest.approx(1.5 * (10 + 10) / 2)


def test_a_difference_has_the_names_of_both_and_their_means() -> None:
    kept = {"flows": lambda one, *_: flows(10 if one == "red" else 5)}
    runs = FakeRuns(senders(10), ["red", "red_abq"], kept=kept)
    found = comparisons.paired_difference(runs, ("red", "red_abq"), "p50_fct")
    assert (found.case, found.note) == ("RED less RED with ABQ", "RED 10, RED with ABQ 5")
    assert np.allclose(found.values, 5)
