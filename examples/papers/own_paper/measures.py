"""The numbers of each figure, from the runs of its sweeps."""

from collections.abc import Iterator

from overspill.papers.spec import Measured, Sweeps


def drop_ratios(runs: Sweeps) -> Iterator[Measured]:
    """Share of packets that are dropped in percent, by length of the burst."""
    sweep = runs["bursts"]
    for point in sweep.points:
        case = f"{point['traffic.burst.packets']} packets"
        yield Measured(case, "drop_ratio", list(100 * sweep.metric("drop_ratio", "default", point)))


MEASURES = {"fig1": drop_ratios}
