"""Figures of the study of Linux hosts of 2011 and modern hosts."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from overspill.plots import COLOURS, DASHES, GREY
from studies.common import save_figures, set_plain_log_labels
from studies.hosts.numbers import (
    CP_VARIANTS,
    DCTCP_VARIANTS,
    MEAN_COMPLETION,
    REPLY_TIMEOUTS,
    TCP_VARIANTS,
    Row,
)

HOST_LABELS = ("RFC 6675", "Linux 2.6.38 (2011)", "Linux 6.18 (today)")
VARIANT_GROUPS = {
    "TCP, tail drop": TCP_VARIANTS,
    "DCTCP, tail drop": DCTCP_VARIANTS,
    "TCP with CP": CP_VARIANTS,
}
# Reply of a server in ms at 1 Gb/s: 46 segments, each with 90 B of headers, preamble and gap.
MIN_REPLY_MS = (65_536 + 46 * 90) * 8e-6


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draws the figures of the rows as PNG files."""
    return save_figures(
        lambda: {"completion": draw_grid(rows, MEAN_COMPLETION), "timeouts": draw_grid(rows, REPLY_TIMEOUTS)},
        folder,
    )


def space_before_unit(time: str) -> str:
    """Formats a time from a scenario with a space before its unit: `200 ms`."""
    return time.replace("ms", " ms")


def draw_grid(rows: Sequence[Row], metric: str) -> Figure:
    """Draws a metric over the number of servers: a row per minimum RTO, a column per mechanism."""
    timeouts = list(dict.fromkeys(row.case.rto for row in rows))
    figure = Figure(figsize=(9.5, 3.1 * len(timeouts) + 0.7), layout="constrained")
    panels = figure.subplots(len(timeouts), len(VARIANT_GROUPS), squeeze=False, sharey="row")
    for line, rto in zip(panels, timeouts, strict=True):
        for axes, (title, group) in zip(line, VARIANT_GROUPS.items(), strict=True):
            draw_panel(axes, [row for row in rows if (row.case.rto, row.metric) == (rto, metric)], group)
            axes.set_title(f"{title}, minimum RTO {space_before_unit(rto)}")
        line[0].set_ylabel(
            "completion of a round, mean (ms)"
            if metric == MEAN_COMPLETION
            else "timeouts of servers in 20 rounds"
        )
    if metric == MEAN_COMPLETION:
        for axes in panels.flat:
            servers = sorted({int(row.case.degree) for row in rows})
            full = [MIN_REPLY_MS * n for n in servers]
            axes.plot(servers, full, color=GREY, linestyle=":", label="minimum at full link rate", zorder=0)
            axes.set(yscale="log", ylim=(0.8 * full[0], None))
            set_plain_log_labels(axes)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    return figure


def draw_panel(axes: Axes, rows: Sequence[Row], group: Sequence[str]) -> None:
    """Draws one line for each host, with 95% intervals."""
    for at, (name, label) in enumerate(zip(group, HOST_LABELS, strict=True)):
        found = [row for row in rows if (row.case.variant, row.case.connection) == (name, "new")]
        found.sort(key=lambda row: int(row.case.degree))
        low = [max(0.0, row.display_factor * (row.mean - row.low)) for row in found]
        high = [max(0.0, row.display_factor * (row.high - row.mean)) for row in found]
        axes.errorbar(
            [int(row.case.degree) for row in found],
            [row.displayed_mean for row in found],
            [low, high],
            label=label,
            color=COLOURS[at],
            linestyle=(0, DASHES[at % len(DASHES)]),
            marker="os^"[at],
            markersize=4,
            capsize=2,
            elinewidth=0.7,
        )
    axes.set(xlabel="servers", xlim=(0, None))
    if not rows or rows[0].unit != "s":
        axes.set_ylim(0, None)
