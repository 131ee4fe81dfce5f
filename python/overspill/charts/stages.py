"""Figures of what is inside a `fabric` switch over time: buffers, and what internal links carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from overspill.charts import common, goodput
from overspill.charts.common import Period
from overspill.charts.queues import Trace
from overspill.charts.spec import COLOURS, Axis, Chart, Entry, Kind, Line, Look, Mark, Panel
from overspill.results import formats
from overspill.results.names import FABRIC_BUFFERS
from overspill.results.rundata import RunData

if TYPE_CHECKING:
    from overspill.results.results import Results

TRACE = "fabric_trace"
SHOWN = len(COLOURS)
STEPS = 300
FULL = Look("#444444", (4.0, 2.0), 1.1)
Place = tuple[int, int]  # a node, and its buffer


@dataclass(frozen=True)
class Inside:
    """The buffers of one switch that a figure shows, in their order, and how many there are."""

    runs: Mapping[str, RunData]
    node: int
    shown: tuple[int, ...]
    every: int

    @property
    def first(self) -> RunData:
        """A run that has them."""
        return next(iter(self.runs.values()))

    @property
    def switch(self) -> str:
        """Its name."""
        return self.first.node_name(self.node)

    def look(self, buffer: int) -> Look:
        """A buffer's, the same in every panel."""
        return Look(COLOURS[self.shown.index(buffer)], width=1.4)

    def legend(self, links: bool) -> list[Entry]:
        """An entry for each."""
        return [
            Entry(str(one), name(self.first, (self.node, one), links), self.look(one)) for one in self.shown
        ]

    def rows(self, run: RunData, buffer: int, *columns: str) -> list[np.ndarray]:
        """Columns of a buffer's rows over time."""
        node, own, *more = run.columns(TRACE, "node", "buffer", *columns)
        keep = (node == self.node) & (own == buffer)
        return [one[keep] for one in more]


@dataclass(frozen=True)
class Shown:
    """What a figure says, and its axes."""

    name: str
    title: str
    caption: str
    legend: list[Entry]
    period: Period
    label: str
    kind: Kind


def buffers(results: Results) -> Chart | None:
    """How full the buffers are that hold most; `None` where none is followed."""
    inside = chosen(results, "mean_bytes", FABRIC_BUFFERS)
    if inside is None:
        return None
    period = common.period_of(results, (TRACE,))

    def draw(run: RunData, buffer: int) -> Line:
        at, _, mean = Trace("", *inside.rows(run, buffer, "bin", "max_bytes", "mean_bytes")).steps(
            run, period
        )
        return Line(at, mean, inside.look(buffer), str(buffer), "post")

    which = (
        f"the {len(inside.shown)} that hold most of {inside.every}"
        if inside.every > SHOWN
        else "all that ever held any"
    )
    caption = (
        f"Bytes that are taken in the buffers inside {inside.switch}, {which}, mean of a step of time: by "
        "frames that lie there, come there and leave."
    )
    title = f"Buffers inside {inside.switch} over time"
    shown = Shown("fabric-buffers", title, caption, inside.legend(links=False), period, "bytes", "bytes")
    return stacked(results, inside, shown, draw)


def links(results: Results) -> Chart | None:
    """What the internal links carry that carry most; `None` where none is followed."""
    inside = chosen(results, "bytes", ("behind_link",))
    if inside is None:
        return None
    period = common.period_of(results, (TRACE,))

    def draw(run: RunData, buffer: int) -> Line:
        bins, size = inside.rows(run, buffer, "bin", "bytes")
        rates = goodput.rate(run, (bins, size), (period, STEPS))
        return Line(
            period.edges(run, STEPS), np.append(rates, rates[-1:]), inside.look(buffer), str(buffer), "post"
        )

    whole = capacity(inside)
    which = (
        f"the {len(inside.shown)} that carry most of {inside.every}"
        if inside.every > SHOWN
        else "all that carry any"
    )
    step = formats.time(goodput.width_ps(inside.first, period, STEPS))
    dashed = " Dashed: the rate of a link." if whole else ""
    caption = (
        f"What internal links of {inside.switch} carry, {which}, in bins of {step}, frames without preamble "
        f"and gap.{dashed}"
    )
    title = f"Internal links of {inside.switch} over time"
    legend = inside.legend(links=True) + ([Entry("whole", "rate of a link", FULL)] if whole else [])
    shown = Shown("internal-links", title, caption, legend, period, "carried", "rate")
    return stacked(results, inside, shown, draw, whole)


def chosen(results: Results, weight: str, places: tuple[str, ...]) -> Inside | None:
    """The buffers with most of a column over all first seeds, of the switch that has most in all."""
    every = common.first_runs(results)
    runs = {variant: run for variant, run in every.items() if common.has(run, TRACE)}
    sums: dict[Place, float] = {}
    for run in runs.values():
        known = of_places(run, places)
        node, buffer, amount = run.columns(TRACE, "node", "buffer", weight)
        every_place, index = np.unique(np.array([node, buffer]), axis=1, return_inverse=True)
        held = np.zeros(every_place.shape[1])
        np.add.at(held, index.reshape(-1), amount.astype(np.float64))
        for (at, one), more in zip(every_place.T.tolist(), held.tolist(), strict=True):
            if (at, one) in known and more > 0:
                sums[at, one] = sums.get((at, one), 0.0) + more
    if not sums:
        return None
    whole = {at: sum(sums[one] for one in sums if one[0] == at) for at in {at for at, _ in sums}}
    switch = min(whole, key=lambda one: (-whole[one], one))
    own = sorted((one for one in sums if one[0] == switch), key=lambda one: (-sums[one], one))
    return Inside(runs, switch, tuple(sorted(one for _, one in own[:SHOWN])), len(own))


def of_places(run: RunData, places: tuple[str, ...]) -> set[Place]:
    """The buffers at such places."""
    node, buffer, place = run.columns("fabric_buffers", "node", "buffer", "place")
    numbers = [FABRIC_BUFFERS.index(one) for one in places]
    keep = np.isin(place, numbers)
    return set(zip(node[keep].tolist(), buffer[keep].tolist(), strict=True))


def name(run: RunData, at: Place, links: bool = False) -> str:
    """`before link 0, stage 0 to 1`, `stage 0, input from h1`; of a link `link 0, stage 0 to 1`."""
    nodes, own, stage, place, number = (
        one.tolist() for one in run.columns("fabric_buffers", "node", "buffer", "stage", "place", "number")
    )
    known = {(a, b): rest for a, b, *rest in zip(nodes, own, stage, place, number, strict=True)}
    its_stage, where, of = known[at]
    if FABRIC_BUFFERS[where] == "port":
        node, port, peer = run.columns("ports", "node", "port", "peer")
        far = peer[(node == at[0]) & (port == of)]
        return f"stage {its_stage}, input from {run.node_name(int(far[0])) if len(far) else f'port {of}'}"
    # The buffer in front of a link belongs to the stage that it leaves, the one behind it to the next.
    other = known[at[0], at[1] + (1 if FABRIC_BUFFERS[where] == "link" else -1)][0]
    if FABRIC_BUFFERS[where] == "link":
        return f"before link {of}, stage {its_stage} to {other}"
    return f"link {of}, stage {other} to {its_stage}" if links else f"stage {its_stage}, input from link {of}"


def capacity(inside: Inside) -> float:
    """The rate of all internal links, where it is one in all runs; else 0."""
    found = set()
    for run in inside.runs.values():
        node, place, rate = run.columns("fabric_buffers", "node", "place", "rate_bps")
        own = (node == inside.node) & (place == FABRIC_BUFFERS.index("behind_link"))
        found |= set(rate[own].tolist())
    return float(found.pop()) if len(found) == 1 else 0.0


def stacked(
    results: Results, inside: Inside, shown: Shown, draw: Callable[[RunData, int], Line], whole: float = 0.0
) -> Chart:
    """One panel a variant; `whole` is a level that all have."""
    drawn = {variant: [draw(run, one) for one in inside.shown] for variant, run in inside.runs.items()}
    highest = max(float(line.y.max(initial=0)) for lines in drawn.values() for line in lines)
    y = Axis(shown.label, shown.kind, shown=(0, 1.06 * max(highest, whole, 1.0)))
    panels = []
    for variant, run in inside.runs.items():
        marks: list[Mark] = [*common.outside(run, shown.period), *common.changes(run, shown.period)]
        if whole:
            marks.append(Line(np.array(shown.period.seconds), np.full(2, whole), FULL, "whole"))
        title = f"{common.label(results, variant)} (seed {run.seed})"
        panels.append(Panel(title, shown.period.axis(), y, [*marks, *drawn[variant]]))
    height, columns = common.height_of(len(panels), 1.9), common.columns_of(len(panels))
    caption = f"{shown.caption} First seed of each variant. {common.GREY}"
    return Chart(
        shown.name, shown.title, caption, panels, columns, height, shown.legend,
        share_x=True, share_y=True, down=True,
    )  # fmt: skip
