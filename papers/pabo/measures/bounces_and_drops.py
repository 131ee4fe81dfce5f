"""Measures of bounces and drops in PABO's fat-tree (table II, figure 11, sections VI-C, VI-D, VIII)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import SeedCurve, build_measured, metric_along_points, names_with_counts
from overspill.papers.spec import Measure, Measured, Runs, Sweeps

from . import fat_tree
from .fat_tree import MANY_TO_ONE, PABO, SCENARIOS, WITHOUT, PacketMetric

DATA_NOTE = "drops of every kind by data packets delivered or dropped"
DATA_AND_ACK_NOTE = "drops of every kind by data packets and ACKs delivered or dropped"
# Sweep that gives the heaviest case larger bounce queues than the paper, and its path.
BOUNCE_SIZE_SWEEP, BOUNCE_SIZE_PATH = "room", "variants.pabo.switch.overflow.bounce_size"


def scenario_pairs(scenarios: Sequence[str] = MANY_TO_ONE) -> list[tuple[str, str]]:
    """Returns pairs of incast scenarios: each with the next smaller one."""
    return list(zip(scenarios[1:], scenarios[:-1], strict=True))


def measure_table_2(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures the share of bounced packets, and their largest bounced distance."""
    bounced = {name: fat_tree.packet_statistic(sweeps[name], fat_tree.bounced_share) for name in SCENARIOS}
    for name in SCENARIOS:
        yield build_measured(name, "bounced_share", bounced[name], fat_tree.BASE_NOTE)
    for name in SCENARIOS:
        yield build_measured(name, "share_of_0", fat_tree.packet_statistic(sweeps[name], unbounced_share))
        yield build_measured(
            name, "share_above_1", fat_tree.packet_statistic(sweeps[name], far_bounced_share)
        )
    for less, more in (("3to1", "12to1"), ("3to1", "6to1"), ("6to1", "9to1"), ("9to1", "12to1")):
        yield build_measured(f"{less} less {more}", "bounced_share", bounced[less] - bounced[more])


def unbounced_share(table: pa.Table) -> float:
    """Packets with a largest bounced distance of 0, in %."""
    return fat_tree.read_histogram(table, PacketMetric.MAX_BOUNCED_DISTANCE).share(0, 0)


def far_bounced_share(table: pa.Table) -> float:
    """Packets with a largest bounced distance above 1, in %."""
    return fat_tree.read_histogram(table, PacketMetric.MAX_BOUNCED_DISTANCE).share(2)


def measure_figure_11(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures bounces by switch."""
    found = {name: fat_tree.bounces_by_switch(sweeps[name]) for name in MANY_TO_ONE}
    total = {name: np.array([sum(one.values()) for one in by_seed]) for name, by_seed in found.items()}
    for more, less in scenario_pairs():
        yield build_measured(f"{more} less {less}", "bounces", total[more] - total[less])
    yield Measured("3to1", "bouncing_switches", [names_with_counts(one) for one in found["3to1"]])
    share = {name: [fat_tree.percent_shares(one) for one in by_seed] for name, by_seed in found.items()}
    yield measure_smallest_share(share, "6to1", "C1", "C4")
    yield measure_switch_share(share, "6to1", "S11")
    yield measure_switch_share(share, "6to1", "S12")
    yield measure_last_hop_excess(share, "6to1")
    yield measure_smallest_share(share, "9to1", "C1", "C4", "S11")
    yield measure_switch_share(share, "9to1", "S12")
    yield measure_last_hop_excess(share, "9to1")
    yield measure_smallest_share(share, "12to1", "C1", "C4", "S11", "S12")
    yield measure_last_hop_excess(share, "12to1")


SwitchShares = dict[str, list[dict[str, float]]]


def measure_smallest_share(share: SwitchShares, case: str, *switches: str) -> Measured:
    """Returns the smallest share of bounces of several switches, as a row."""
    by_seed = [min(one[switch] for switch in switches) for one in share[case]]
    return build_measured(case, "_".join(("least_of", *switches)), by_seed)


def measure_switch_share(share: SwitchShares, case: str, switch: str) -> Measured:
    """Returns the share of bounces of a switch, as a row."""
    return build_measured(case, f"share_of_{switch}", [one[switch] for one in share[case]])


def measure_last_hop_excess(share: SwitchShares, case: str) -> Measured:
    """Returns the share of bounces of S9 minus the largest share of another switch, as a row."""
    others = [max(value for name, value in one.items() if name != "S9") for one in share[case]]
    return build_measured(
        case, "S9_less_next", [one["S9"] - next_ for one, next_ in zip(share[case], others, strict=True)]
    )


def measure_many_to_one(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures drops without PABO and with it, and bounces of a bounced packet."""
    for name in MANY_TO_ONE:
        yield from measure_drops(name, sweeps[name])
    yield from measure_drop_shares_12_to_1(sweeps["12to1"])
    often = {
        name: fat_tree.packet_statistic(sweeps[name], fat_tree.bounces_per_bounced) for name in MANY_TO_ONE
    }
    for more, less in scenario_pairs():
        yield build_measured(f"{more} less {less}", "bounces_per_bounced_packet", often[more] - often[less])


def measure_drops(name: str, runs: Runs) -> Iterable[Measured]:
    """Yields drop rates, and the switches that drop packets."""
    case, lost = f"{name}, without PABO", fat_tree.drops_by_node(runs, WITHOUT)
    yield build_measured(case, "drop_rate", fat_tree.drop_rates(runs, WITHOUT), DATA_NOTE)
    yield build_measured(
        case, "drop_rate_with_acks", fat_tree.drop_rates(runs, WITHOUT, acks=True), DATA_AND_ACK_NOTE
    )
    yield Measured(
        case, "dropping_switches", [names_with_counts(one) for one in lost], format_drop_locations(lost)
    )
    with_it = [sum(one.values()) for one in fat_tree.drops_by_node(runs, PABO)]
    yield build_measured(f"{name}, PABO", "drops", with_it, describe_drops_with_pabo(runs))


def format_drop_locations(lost: Sequence[Mapping[str, int]]) -> str:
    """Formats the packets dropped at each node, if some seed dropped them at more than one."""
    if all(sum(count > 0 for count in one.values()) < 2 for one in lost):
        return ""
    by_node = {name: [one[name] for one in lost if one[name]] for name in lost[0]}
    told = [f"{name} {format_counts(counts, len(lost))}" for name, counts in by_node.items() if counts]
    return f"packets lost: {', '.join(told)}"


def format_counts(counts: Sequence[int], seeds: int) -> str:
    """Formats the range of counts: `59 to 63 (59 in 29 of 30 seeds)`, `5 to 16 (in 6 of 30 seeds)`."""
    least, most = min(counts), max(counts)
    span = f"{least}" if least == most else f"{least} to {most}"
    if len(counts) < seeds:
        return f"{span} (in {len(counts)} of {seeds} seeds)"
    [(usual, often)] = Counter(counts).most_common(1)
    return f"{span} ({usual} in {often} of {seeds} seeds)" if least < most and 2 * often > seeds else span


def describe_drops_with_pabo(runs: Runs) -> str:
    """Describes the seeds that dropped packets with PABO, by queue, and their unfinished replies."""
    told = []
    replies = fat_tree.replies_by_seed(runs, PABO)
    for table, reply in zip(runs.tables("ports", PABO), replies, strict=True):
        kinds = {
            name: columns.column_to_numpy(table, name)
            for name in table.column_names
            if name.startswith("drop_")
        }
        nodes = fat_tree.SWITCHES | fat_tree.HOSTS
        found = [
            f"{int(counts.sum())} {name.removeprefix('drop_')} "
            f"at {names_with_counts(fat_tree.counts_by_node(runs, table, counts, nodes))}"
            for name, counts in kinds.items()
            if counts.sum()
        ]
        if reply.unfinished and found:
            found.append(f"{reply.unfinished} replies hang, of {reply.unfinished_servers}")
        told.append(", ".join(found))
    return fat_tree.join_seed_notes(runs, told)


def measure_drop_shares_12_to_1(runs: Runs) -> Iterable[Measured]:
    """Yields shares of the drops with 12 senders and without PABO: at C1, at S9, and their difference."""
    case, share = (
        "12to1, without PABO",
        [fat_tree.percent_shares(one) for one in fat_tree.drops_by_node(runs, WITHOUT)],
    )
    for switch in ("C1", "S9"):
        yield build_measured(case, f"share_of_drops_at_{switch}", [one[switch] for one in share])
    yield build_measured(case, "drops_at_S9_less_C1", [one["S9"] - one["C1"] for one in share])


def measure_many_to_many(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures two groups of servers whose paths meet at S11 and part at S9."""
    runs = sweeps["mtom"]
    yield from measure_drops("mtom", runs)
    bounced = fat_tree.bounces_by_switch(runs)
    share = [fat_tree.percent_shares(one) for one in bounced]
    for switch in ("C1", "C2", "S11"):
        yield build_measured("mtom, PABO", f"share_of_bounces_at_{switch}", [one[switch] for one in share])
    yield build_measured("mtom, PABO", "bounces_at_S9", [one["S9"] for one in bounced])


def measure_conclusion(sweeps: Sweeps) -> Iterable[Measured]:
    """Measures drops with PABO and the paper's queues over every sweep and point, seed by seed.

    It also measures the smallest bounce queue without drops in 12 to 1.
    """
    lost = {name: drops_by_seed(runs) for name, runs in sweeps.items() if name != BOUNCE_SIZE_SWEEP}
    told = [
        describe_seeds_with_drops(name, sweeps[name], counts) for name, counts in lost.items() if counts.any()
    ]
    yield build_measured(
        "every run with PABO", "drops", sum_over_sweeps(list(lost.values())), "; ".join(told)
    )
    sizes, losses = drops_by_bounce_size(sweeps[BOUNCE_SIZE_SWEEP])
    short = [
        f"{size} ({count} of {len(losses)} seeds)"
        for size, count in zip(sizes, count_seeds_with_drops(losses), strict=True)
    ]
    note = f"seeds that lose packets, by size: {', '.join(short)}"
    yield build_measured(
        "12to1", "bounce_queue_without_loss", [smallest_size_without_drops(sizes, losses)], note
    )


def drops_by_bounce_size(runs: Runs) -> tuple[list[int], SeedCurve]:
    """Returns the sizes of the bounce queues in frames, and the drops of each, seeds by sizes."""
    sizes = [int(point[BOUNCE_SIZE_PATH].removesuffix("pkt")) for point in runs.points]
    return sizes, metric_along_points(runs, "drops", PABO, runs.points)


def count_seeds_with_drops(losses: SeedCurve) -> list[int]:
    """Returns the number of seeds with drops, by size."""
    return [int(count) for count in (losses > 0).sum(axis=0)]


def smallest_size_without_drops(sizes: list[int], losses: SeedCurve) -> float:
    """Returns the smallest size from which on no seed drops a packet; NaN if there is none."""
    enough = float("nan")
    for size, count in sorted(zip(sizes, count_seeds_with_drops(losses), strict=True), reverse=True):
        if count:
            break
        enough = size
    return enough


def drops_by_seed(runs: Runs) -> np.ndarray:
    """Drops of a sweep's runs with PABO, summed over its points."""
    bounce = [variant for variant in runs.variants if variant != WITHOUT]
    return np.asarray(
        np.sum([metric_along_points(runs, "drops", one, runs.points).sum(axis=1) for one in bounce], axis=0)
    )


def sum_over_sweeps(lost: list[np.ndarray]) -> np.ndarray:
    """Returns the sum over sweeps by seed; sweeps with fewer seeds add to the first seeds only."""
    found = np.zeros(max(len(one) for one in lost))
    for one in lost:
        found[: len(one)] += one
    return found


def describe_seeds_with_drops(name: str, runs: Runs, lost: np.ndarray) -> str:
    """Describes the seeds of a sweep with drops."""
    found = [f"seed {seed} ({count:.0f})" for seed, count in zip(runs.seeds, lost, strict=True) if count]
    points = f" over {len(runs.points)} points" if len(runs.points) > 1 else ""
    return f"{name}{points}: {', '.join(found)}"


MEASURES: dict[str, Measure] = {
    "tab2": measure_table_2,
    "fig11": measure_figure_11,
    "secVI-C": measure_many_to_one,
    "secVI-D": measure_many_to_many,
    "secVIII": measure_conclusion,
}
