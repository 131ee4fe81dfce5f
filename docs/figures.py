"""Figures of README and the pages on mechanisms: `python docs/figures.py` draws them into `docs/images`."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

import overspill
from overspill import plots
from overspill.charts.chart_spec import COLOURS
from overspill.charts.figure_files import save_small
from overspill.results.results import Results

IMAGES = Path(__file__).parent / "images"
SCENARIOS = Path(__file__).parents[1] / "scenarios"
BLUE, RED, GREEN, PINK = COLOURS[:4]


def run_scenario(text: str, seeds: int = 1) -> Results:
    """Runs a scenario and returns its results, held in memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.toml"
        path.write_text(text, encoding="utf-8")
        return overspill.run(path, seeds=seeds)


def draw_demo() -> Figure:
    """Draws the figure of the README as the report of the demo has it: the queue before the receiver."""
    figure = plots.queue_over_time(overspill.run(SCENARIOS / "incast.toml", seeds=5))
    assert figure is not None
    return figure


def draw_bounce(axes: Axes) -> None:
    """Draws equation 4 for packets with different numbers of earlier bounces."""
    u = np.linspace(0, 1, 400)
    for n, colour in enumerate((BLUE, RED, GREEN)):
        rate = 50 * (0.8 - u) / (n + 1)
        share = np.where(u > 0.8, np.expm1(rate) / np.expm1(50 * -0.2 / (n + 1)), 0.0)
        axes.plot(u, share, color=colour, label=f"λ = 50, n = {n}")
    axes.plot(u, np.maximum((u - 0.8) / 0.2, 0), color=PINK, linestyle="--", label="λ = 0")
    axes.set(
        xlabel="utilisation u of the queue",
        ylabel="probability of a bounce",
        title="θ = 0.8; n: earlier bounces of the packet",
    )


def draw_red(axes: Axes) -> None:
    """Draws the marking probability, before marks are spread."""
    average = np.linspace(0, 35, 500)
    slope = 0.1 * np.clip((average - 5) / 10, 0, 1)
    gentle = np.where(average > 15, np.minimum(0.1 + 0.9 * (average - 15) / 15, 1), slope)
    axes.plot(average, np.where(average < 5, 0, gentle), color=BLUE, label="gentle")
    axes.plot(average, np.where(average > 15, 1, slope), color=RED, linestyle="--", label="gentle = false")
    axes.set(
        xlabel="average queue (packets)", ylabel="probability of a mark", title="min 5, max 15, max_p 0.1"
    )


def draw_buffer(axes: Axes) -> None:
    """Draws the share of the pool that busy ports converge to under dynamic thresholds."""
    alpha = np.logspace(-2, 2, 200)
    for ports, colour in ((1, BLUE), (2, RED), (4, GREEN)):
        axes.plot(
            alpha,
            alpha / (1 + ports * alpha),
            color=colour,
            label=f"{ports} busy ports" if ports > 1 else "one busy port",
        )
    axes.set(xscale="log", xlabel="α", ylabel="share of the pool per port", title="α / (1 + n·α)")


def draw_tail_drop(axes: Axes) -> None:
    """Draws the frames dropped in an incast over the number of senders."""
    counts = list(range(4, 41, 4))
    text = """
name = "tail"
duration = "20ms"
[host]
nic_jitter = "0us"
[topology]
kind = "star"
n = 41
link = { rate = "10Gbps", delay = "1us" }
[[traffic]]
name = "burst"
kind = "incast"
senders = 4
receiver = "h40"
pick = "first"
size = "14600B"
[transport]
kind = "newreno"
"""
    for size, colour in (("50pkt", BLUE), ("100pkt", RED), ("200pkt", GREEN)):
        lost = []
        for count in counts:
            sized = text.replace("senders = 4", f"senders = {count}")
            values = run_scenario(
                f'{sized}\n[switch]\nbuffer = {{ kind = "per_port", size = "{size}" }}\n'
            ).values
            lost.append(values["default"][1]["drops"].value)
        axes.plot(
            counts,
            lost,
            color=colour,
            marker="o",
            markersize=3,
            label=f"buffer of {size.replace('pkt', ' packets')}",
        )
    axes.set(
        xlabel="simultaneous senders, 10 packets each", ylabel="frames dropped", title="10 Gb/s, TCP NewReno"
    )


def draw_ecn_threshold(axes: Axes) -> None:
    """Draws the queue of two long flows that share a link, without and with marking."""
    results = run_scenario("""
name = "marks"
duration = "10ms"
[host]
nic_jitter = "0us"
[topology]
kind = "dumbbell"
n = 2
link = { rate = "10Gbps", delay = "10us" }
[switch]
buffer = { kind = "per_port", size = "250pkt" }
[transport]
kind = "dctcp"
[measure]
bin = "20us"
allow_unfinished = true
drain = "0s"
[[traffic]]
name = "long"
kind = "incast"
senders = 2
receiver = "h2"
pick = "first"
size = "1GB"
[variants.no_marks]
[variants.marks_65]
switch.marking = { kind = "ecn_threshold", k = "65pkt" }
""")
    for variant, colour, label in (("no_marks", RED, "no marks"), ("marks_65", BLUE, "K = 65")):
        trace = results.runs_of(variant)[0].table("queue_trace").to_pydict()
        total: dict[int, float] = {}
        for at, mean in zip(trace["bin"], trace["mean_packets"], strict=True):
            total[at] = max(total.get(at, 0.0), mean)
        axes.plot(
            [0.02 * at for at in sorted(total)],
            [total[at] for at in sorted(total)],
            color=colour,
            label=label,
        )
    axes.set(xlabel="time (ms)", ylabel="queue (packets)", title="two DCTCP flows, one 10 Gb/s link")


def draw_detour(axes: Axes) -> None:
    """Draws the distribution of detours of an incast's packets."""
    results = overspill.run(Path(__file__).parents[1] / "scenarios/incast.toml", seeds=5)
    tables = [one.table("packet_hist") for one in results.runs_of("detour")]
    most = 12
    share = np.zeros((len(tables), most + 1))
    for row, table in enumerate(tables):
        for data, metric, low, count in zip(
            *(table.column(c).to_pylist() for c in ("data", "metric", "low", "count")), strict=True
        ):
            if data and metric == 2:
                share[row, min(low, most)] += count
    share /= share.sum(axis=1, keepdims=True)
    axes.bar(range(most + 1), share.mean(axis=0), color=BLUE, label="forty senders, 20 KB each, five seeds")
    axes.set_xticks(range(0, most + 1, 2), [*(str(one) for one in range(0, most, 2)), f"{most}+"])
    axes.set(
        xlabel="detours of a packet", ylabel="share of data packets", title="fat-tree of 128 hosts, 1 Gb/s"
    )


def draw_routing_split(axes: Axes) -> None:
    """Draws the share of frames on each of four spines."""
    results = run_scenario("""
name = "split"
duration = "20ms"
[host]
nic_jitter = "0us"
[topology]
kind = "leaf_spine"
leaves = 2
spines = 4
hosts_per_leaf = 16
link = { rate = "10Gbps", delay = "1us" }
[[traffic]]
name = "flows"
kind = "incast"
senders = 16
receiver = "h16"
pick = "first"
size = "1MB"
[transport]
kind = "newreno"
dupack_threshold = "off"
[switch]
buffer = { kind = "unlimited" }
[variants.ecmp]
switch.routing = { kind = "ecmp" }
[variants.spray]
switch.routing = { kind = "spray" }
""")
    for offset, (variant, colour) in enumerate((("ecmp", RED), ("spray", BLUE))):
        one = results.runs_of(variant)[0]
        node, port, sent = one.columns("ports", "node", "port", "sent")
        leaf = next(i for i, n in enumerate(one.summary["nodes"]) if n["name"] == "leaf0")
        up = sent[(node == leaf)][np.argsort(port[node == leaf])][-4:].astype(float)
        axes.bar(np.arange(4) + 0.4 * offset - 0.2, up / up.sum(), 0.38, color=colour, label=variant)
    axes.axhline(0.25, color="#444444", linewidth=0.8)
    axes.set_xticks(range(4), [f"spine{i}" for i in range(4)])
    axes.set_ylim(0, 0.5)
    axes.set(ylabel="share of upward frames", title="16 flows of 1 MB, from leaf0")


def draw_scheduler_delay(axes: Axes) -> None:
    """Draws the delays of two classes, by scheduler."""
    results = run_scenario("""
name = "classes"
duration = "50ms"
[host]
nic_jitter = "0us"
[topology]
kind = "star"
n = 3
link = { rate = "1Gbps", delay = "1us" }
[measure]
packets = true
[[traffic]]
name = "high"
kind = "constant"
source = "h0"
destination = "h2"
rate = "450Mbps"
gaps = "exponential"
class = 7
[[traffic]]
name = "low"
kind = "constant"
source = "h1"
destination = "h2"
rate = "450Mbps"
gaps = "exponential"
class = 0
[variants.strict_priority]
switch.scheduler = { kind = "strict_priority" }
[variants.fifo]
switch.scheduler = { kind = "fifo" }
""")
    for variant, style in (("strict_priority", "-"), ("fifo", "--")):
        one = results.runs_of(variant)[0]
        flow, sent, end, fate = one.columns("packets", "flow", "sent_ps", "end_ps", "fate")
        for which, colour in ((0, BLUE), (1, RED)):
            keep = (flow == which) & (fate == 0)
            delay = np.sort((end[keep] - sent[keep]).astype(float)) / 1e6
            name = ("high", "low")[which]
            axes.plot(
                delay,
                np.arange(1, len(delay) + 1) / len(delay),
                color=colour,
                linestyle=style,
                label=f"{variant}, {name}",
            )
    axes.set(
        xscale="log",
        xlabel="delay (µs)",
        ylabel="share of packets",
        title="two Poisson sources, 45% each, one link",
    )


def draw_link_failure(axes: Axes) -> None:
    """Draws frames lost since 4 ms around an outage, by the delay until routes avoid the link."""
    results = overspill.run(SCENARIOS / "link_failure.toml", seeds=1)
    shown = ("none", "at_once", "after_50us", "after_1ms", "detour")
    first, last = 4e-3, 9e-3
    for variant, colour in zip(shown, COLOURS, strict=False):
        (found,) = results.runs_of(variant)
        bins, kind, count = found.columns("activity", "bin", "kind", "count")
        at = bins * (int(found.summary["bin_ps"]) * 1e-12)
        keep = (kind == 0) & (at >= first) & (at < last)
        order = np.argsort(at[keep], kind="stable")
        when, lost = 1e3 * at[keep][order], np.cumsum(count[keep][order])
        axes.step([4, *when, 9], [0, *lost, *lost[-1:]], where="post", color=colour, label=variant)
    for event in results.runs_of("at_once")[0].changes:
        axes.axvline(event.at_ps * 1e-9, color="#444b52", linestyle="--", linewidth=1)
    axes.set(xlabel="time (ms)", ylabel="frames dropped after 4 ms", title="a link is down from 5 to 8 ms")


FIGURES: dict[str, Callable[[Axes], None]] = {
    "tail-drop": draw_tail_drop,
    "bounce": draw_bounce,
    "detour": draw_detour,
    "ecn-threshold": draw_ecn_threshold,
    "red": draw_red,
    "buffer": draw_buffer,
    "routing-split": draw_routing_split,
    "scheduler-delay": draw_scheduler_delay,
    "link-failure": draw_link_failure,
}


def main() -> None:
    """Draws all figures."""
    save_small(draw_demo(), IMAGES / "incast-queue.png")
    print("docs/images/incast-queue.png")
    for name, draw in FIGURES.items():
        with plots.style(), mpl.rc_context({"axes.titlesize": 9.5}):
            figure = Figure(figsize=(6.2, 3.3), layout="constrained")
            axes = figure.subplots()
            draw(axes)
            axes.set_ylim(bottom=0)
            if axes.get_xscale() == "log":
                axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
                axes.xaxis.set_minor_formatter(NullFormatter())
            axes.legend()
            save_small(figure, IMAGES / f"{name}.png")
            print(f"docs/images/{name}.png")


if __name__ == "__main__":
    main()
