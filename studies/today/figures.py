"""Figures of the study of occupancy sampling in modern networks."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from overspill import plots
from overspill.plots import COLOURS
from studies.common import save_figures
from studies.today.numbers import (
    BASE_BUFFER,
    FLOW_COUNTS,
    HOT_GOODPUT,
    MAIN_VARIANTS,
    MANY_FLOWS_VARIANTS,
    PAUSED_FRACTION,
    RING_GOODPUT,
    RING_MEAN,
    THIRD_OF_BUFFER,
    VICTIMS_GOODPUT,
    WRITES_MEAN,
    Case,
    GoodputStep,
    Row,
)

VARIANT_LABELS = {
    "pfc": "PFC alone (pfc)",
    "dcqcn": "DCQCN (dcqcn)",
    "qcn_out": "QCN, arrivals at outputs (qcn_out)",
    "qcn_as": "QCN, arrivals at inputs (qcn_as)",
    "qcn_os": "QCN, occupancy at inputs (qcn_os)",
    "two_samples": "QCN, two samples at inputs (two_samples)",
}
VARIANT_COLOURS = dict(zip(VARIANT_LABELS, COLOURS, strict=False))
# Lines may overlap: the first ones are wide, so that they show between the dashes of the later ones.
LINE_STYLES = {name: plots.look(at) for at, name in enumerate(VARIANT_LABELS)}
# Series, title and upper limit in Gb/s of each panel.
PANELS = (("victims", "seven victims", 720), ("hot", "hot link", 105))
BAR_LABELS = {
    RING_MEAN: "all-reduce, mean",
    RING_GOODPUT: "goodput of the ring",
    WRITES_MEAN: "writes, mean",
    PAUSED_FRACTION: "time paused",
}


def draw(rows: Sequence[Row], courses: Sequence[GoodputStep], folder: Path) -> list[Path]:
    """Draws the figures as PNG files."""
    return save_figures(
        lambda: {
            "hotspot": draw_hotspot(courses),
            "trade": draw_trade_off(rows),
            "reduce": draw_all_reduce(rows),
            "many": draw_many_flows(courses),
        },
        folder,
    )


def draw_lines(axes: Axes, courses: Sequence[GoodputStep], variants: Sequence[str]) -> None:
    """Draws goodput over time, with a line and its 95% band for each variant."""
    for name in variants:
        found = [one for one in courses if one.variant == name]
        if not found:
            continue
        width = found[1].start - found[0].start if len(found) > 1 else 0.0
        at = [1e3 * (one.start + width / 2) for one in found]
        low, high = ([1e-9 * max(0.0, getattr(one, end)) for one in found] for end in ("low", "high"))
        means = [1e-9 * one.mean for one in found]
        axes.plot(at, means, label=VARIANT_LABELS[name], **plots.line(LINE_STYLES[name]))
        axes.fill_between(at, low, high, color=VARIANT_COLOURS[name], alpha=0.15, linewidth=0)
    axes.set(ylim=(0, None))


def select_goodput_steps(
    courses: Sequence[GoodputStep], series: str, point: str, who: str
) -> list[GoodputStep]:
    """Returns the goodput over time of some hosts in one configuration."""
    return [one for one in courses if (one.series, one.point, one.who) == (series, point, who)]


def draw_hotspot(courses: Sequence[GoodputStep]) -> Figure:
    """Draws the goodput of victims and of the hot link over time, with both buffer sizes."""
    memories = [
        one for one in (BASE_BUFFER, THIRD_OF_BUFFER) if select_goodput_steps(courses, "hotspot", one, "hot")
    ] or [BASE_BUFFER]
    figure = Figure(figsize=(9.5, 2.8 * len(memories) + 0.8), layout="constrained")
    for row, memory in zip(
        figure.subplots(len(memories), 2, squeeze=False, sharex=True), memories, strict=True
    ):
        for axes, (who, title, top) in zip(row, PANELS, strict=True):
            draw_lines(axes, select_goodput_steps(courses, "hotspot", memory, who), MAIN_VARIANTS)
            axes.set(title=f"{title}, {memory} per input", ylabel="goodput (Gb/s)", ylim=(0, top))
            axes.axvline(1, color="0.6", linewidth=0.8, linestyle=":")
    for axes in figure.axes[-2:]:
        axes.set_xlabel("time (ms)")
    return add_legend(figure, 3)


def draw_trade_off(rows: Sequence[Row]) -> Figure:
    """Draws every variant by the goodput of its victims and of its hot link."""
    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    axes = figure.subplots()
    small = any((row.case.series, row.case.point) == ("hotspot", THIRD_OF_BUFFER) for row in rows)
    for point, marker in ((BASE_BUFFER, "o"), (THIRD_OF_BUFFER, "s")):
        found: dict[str, dict[str, Row]] = {}
        for row in rows:
            if (row.case.series, row.case.point) == ("hotspot", point):
                found.setdefault(row.case.variant, {})[row.metric] = row
        for name, of in found.items():
            x, y = of[VICTIMS_GOODPUT], of[HOT_GOODPUT]
            colour = VARIANT_COLOURS[name] if name in MAIN_VARIANTS else "0.45"
            axes.errorbar(
                [1e-9 * x.mean],
                [1e-9 * y.mean],
                xerr=[[1e-9 * (x.mean - x.low)], [1e-9 * (x.high - x.mean)]],
                yerr=[[1e-9 * (y.mean - y.low)], [1e-9 * (y.high - y.mean)]],
                color=colour,
                marker=marker,
                markersize=5,
                markerfacecolor=colour if marker == "o" else "white",
                capsize=2,
                elinewidth=0.8,
            )
            if marker == "o":
                axes.annotate(
                    name,
                    (1e-9 * x.mean, 1e-9 * y.mean),
                    (4, LABEL_OFFSETS.get(name, 5)),
                    textcoords="offset points",
                    fontsize=7.5,
                    color=colour,
                )
    axes.set(
        xlabel="goodput of the seven victims (Gb/s), 1 to 30 ms",
        ylabel="goodput of the hot link (Gb/s)",
        xlim=(0, None),
        ylim=(0, 110),
        title=f"circles: {BASE_BUFFER} per input" + ("; squares: 0.5 MB" if small else ""),
    )
    return figure


# Vertical offsets in points of labels that would overlap.
LABEL_OFFSETS = {
    **{"pfc": -14, "pfc_shared": 12, "qcn_os": -14},
    **{"dcqcn": -14, "dcqcn_shared": 12},
}


def draw_all_reduce(rows: Sequence[Row]) -> Figure:
    """Draws the difference of each scheme from PFC alone, for all-reduce times and concurrent writes."""
    known = {row.metric: row for row in rows if row.case == Case("reduce", BASE_BUFFER, "pfc")}
    figure = Figure(figsize=(9.5, 2.6), layout="constrained")
    for axes, (metric, name) in zip(
        figure.subplots(1, len(BAR_LABELS), sharey=True), BAR_LABELS.items(), strict=True
    ):
        chosen_rows = [row for row in rows if row.case.variant in MAIN_VARIANTS and row.metric == metric]
        for row in chosen_rows:
            if (row.case.series, row.case.point) == ("reduce", BASE_BUFFER) and "pfc" in row.differences:
                mean, low, high = (100 * one / known[metric].mean for one in row.differences["pfc"])
                axes.errorbar(
                    [mean],
                    [MAIN_VARIANTS.index(row.case.variant)],
                    xerr=[[mean - low], [high - mean]],
                    color=VARIANT_COLOURS[row.case.variant],
                    marker="o",
                    markersize=5,
                    capsize=3,
                )
        axes.axvline(0, color="0.4", linewidth=0.8)
        axes.set(title=name, xlabel="difference from pfc (%)", ylim=(len(MAIN_VARIANTS) - 0.5, 0.5))
        axes.set_yticks(range(1, len(MAIN_VARIANTS)), MAIN_VARIANTS[1:])
    return figure


def draw_many_flows(courses: Sequence[GoodputStep]) -> Figure:
    """Draws the victim's goodput over time, by the number of flows of victim and culprit."""
    figure = Figure(figsize=(9.5, 5.4), layout="constrained")
    for axes, count in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, FLOW_COUNTS, strict=True):
        draw_lines(
            axes, select_goodput_steps(courses, "many", f"10 Gb/s, {count}", "victims"), MANY_FLOWS_VARIANTS
        )
        axes.set(title=f"{count} flow{'s' * (count > 1)} each of victim and culprit")
        axes.axvline(5, color="0.6", linewidth=0.8, linestyle=":")
    figure.axes[0].set_ylim(0, 5.6)
    for axes in figure.axes[::2]:
        axes.set_ylabel("goodput of the victim (Gb/s)")
    for axes in figure.axes[-2:]:
        axes.set_xlabel("time (ms)")
    return add_legend(figure, 3)


def add_legend(figure: Figure, columns: int) -> Figure:
    """Adds one legend above all panels."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)
    return figure
