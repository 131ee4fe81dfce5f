"""Questions that the cells leave open: how much jitter, what ends phase-locking, and whether time does."""

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from cell import LONG_FLOW_SECONDS, MIN_FAIR_JAIN, NETWORKS, SEEDS, Cell, format_interval, run_metric

INCAST_SEEDS = 96  # seeds of incasts, whose completion depends on single timeouts
JITTER_SIZES = (0, 0.1, 0.25, 0.5, 1)
LINUX_TRANSPORTS = ("Linux, Reno", "Linux, CUBIC", "Linux, DCTCP")
LONGER_SECONDS = 40  # s, eight times `SECONDS`
PHASE_LOCKED_TRANSPORTS = ("RFC 6675, Reno", "RFC 6675, CUBIC")
JITTER_SETTINGS = ((0, 0), (0.1, 0), (0.5, 100))  # mean jitter in frames, and clock error in ppm
SMALL_NETWORKS = ("dumbbell", "star")
TENTH_OF_FRAME = 0.1
# Kinds of transports, and the settings of `linux` that the other kinds do not have by default.
BASE_KINDS = {
    "`cubic`": 'kind = "cubic"',
    "`sack`": 'kind = "sack"',
    "`linux`": 'kind = "linux"',
}
ACK_EVERY_SEGMENT = "delayed_ack = false\nquick_acks = false"
# Shorter than the minimum RTO.
DELAYED_ACKS = 'delayed_ack = true\ndelayed_ack_timeout = "5ms"'
CHANGES_OF_KIND = {
    "`cubic`": (
        "",
        'recovery = "rack"',
        'recovery = "rack"\ntlp = false',
        'recovery = "rack"\ntimer_slack = "2ms"',
        'recovery = "rack"\ntick = "4ms"',
        'handshake_rtt = "100us"',
        'rto_floor = "deviation"',
        'mss = "1448B"',
        "timestamps = true",
        "hystart = true",
        'recovery = "rack"\ntso = true',
        DELAYED_ACKS,
        f"{DELAYED_ACKS}\nquick_acks = true",
    ),
    "`sack`": ("", DELAYED_ACKS),
    "`linux`": (
        "",
        'congestion_control = "reno"',
        'recovery = "sack"',
        "tlp = false",
        'window_in_recovery = "threshold"',
        "frto = false\neifel = false\ndsack_undo = false",
        'timer_slack = "0us"',
        'tick = "0us"',
        'handshake_rtt = "0us"',
        'rto_floor = "sum"',
        'mss = "1460B"',
        "timestamps = false",
        "fast_convergence = false",
        "quick_acks = false",
        "hystart = false",
        "tso = false",
        ACK_EVERY_SEGMENT,
        "tso = false\nhystart = false",
        f"{ACK_EVERY_SEGMENT}\nhystart = false",
        f"{ACK_EVERY_SEGMENT}\ntso = false",
        f"{ACK_EVERY_SEGMENT}\ntso = false\nhystart = false",
        f'recovery = "sack"\n{ACK_EVERY_SEGMENT}',
        f'recovery = "sack"\n{ACK_EVERY_SEGMENT}\nhystart = false',
        f'recovery = "sack"\n{ACK_EVERY_SEGMENT}\nhystart = false\ntimestamps = false',
        f'congestion_control = "reno"\n{ACK_EVERY_SEGMENT}\ntso = false',
    ),
}


# Changes that may explain why an incast takes longer with jitter of a tenth of a frame than without.
MISSING_FEATURES = ("", "hystart = false", "tso = false", 'tick = "0us"')
# Clock resolutions that may affect the drops of long flows.
RENO = 'congestion_control = "reno"'
CLOCK_RESOLUTIONS = (
    *(f'tick = "{tick}"' for tick in ("0us", "1ms", "4ms", "10ms")),
    f'{RENO}\ntick = "0us"',
    f'{RENO}\ntick = "4ms"',
)
LONG_FLOW_METRICS = ("jain", "drops")


@dataclass(frozen=True)
class Sample:
    """A metric of a cell over a number of seeds; long flows last for `seconds`."""

    cell: Cell
    metric: str  # one of `LONG_FLOW_METRICS`, or qct_mean
    move: str  # largest offset added to a start
    seeds: int
    seconds: int = LONG_FLOW_SECONDS

    def measure(self) -> list[float]:
        """Runs the sample and returns the metric of every seed."""
        cell = self.cell
        text = (
            cell.long_flows_scenario(self.move, self.seconds)
            if self.metric in LONG_FLOW_METRICS
            else cell.incast_scenario(self.move)
        )
        return run_metric(text, self.metric, self.seeds)

    def to_json(self, values: list[float]) -> dict[str, Any]:
        """Returns the sample and its values as a line of the results file."""
        return {"sample": asdict(self), "values": values}

    @classmethod
    def from_json(cls, line: dict[str, Any]) -> "Sample":
        """Reads a sample from a line of the results file."""
        return cls(**{**line["sample"], "cell": Cell(**line["sample"]["cell"])})


Values = dict[Sample, list[float]]


def all_samples() -> list[Sample]:
    """Returns all samples of the questions."""
    sizes = [
        incast_sample(network, law, size)
        for network, law, size in product(NETWORKS, LINUX_TRANSPORTS, JITTER_SIZES)
    ]
    changed = [
        one
        for base in BASE_KINDS
        for network, said in change_rows(base)
        for one in change_samples(network, base, said)
    ]
    slower = [feature_sample(said, size) for said, size in product(MISSING_FEATURES, JITTER_SIZES)]
    stays = product(
        SMALL_NETWORKS, PHASE_LOCKED_TRANSPORTS, JITTER_SETTINGS, (LONG_FLOW_SECONDS, LONGER_SECONDS)
    )
    drops = [drops_sample(network, said) for network, said in product(SMALL_NETWORKS, CLOCK_RESOLUTIONS)]
    return list(
        dict.fromkeys([*sizes, *slower, *changed, *(duration_sample(*each) for each in stays), *drops])
    )


def incast_sample(network: str, law: str, frames: float) -> Sample:
    """Returns the sample of an incast with jitter of this size."""
    cell = Cell(1, network, law, frames, 0)
    return Sample(cell, "qct_mean", f"{cell.frame_ns}ns", INCAST_SEEDS)


def feature_sample(said: str, frames: float) -> Sample:
    """Returns the sample of a CUBIC incast in a dumbbell, with `linux` hosts that lack one feature."""
    return incast_sample("dumbbell", f"{BASE_KINDS['`linux`']}\n{said}" if said else "Linux, CUBIC", frames)


def drops_sample(network: str, said: str) -> Sample:
    """Returns the sample of drops of long flows, with `linux` hosts that have this clock resolution."""
    cell = Cell(1, network, f"{BASE_KINDS['`linux`']}\n{said}", TENTH_OF_FRAME, 0)
    return Sample(cell, "drops", f"{cell.frame_ns}ns", SEEDS)


def duration_sample(network: str, law: str, setting: tuple[float, int], seconds: int) -> Sample:
    """Returns the sample of long flows that last for `seconds`."""
    cell = Cell(1, network, law, *setting)
    return Sample(cell, "jain", f"{cell.frame_ns}ns", SEEDS, seconds)


def change_rows(base: str) -> list[tuple[str, str]]:
    """Returns the networks and changes of a base kind."""
    return list(product(SMALL_NETWORKS, CHANGES_OF_KIND[base]))


def change_samples(network: str, base: str, said: str) -> list[Sample]:
    """Returns the samples of long flows with a change of a base kind: exact starts and moved starts."""
    cell = Cell(1, network, f"{BASE_KINDS[base]}\n{said}".strip(), TENTH_OF_FRAME, 0)
    return [Sample(cell, "jain", move, SEEDS) for move in ("0ns", f"{cell.frame_ns}ns")]


def all_tables(found: Values) -> list[str]:
    """Returns all tables, each after its title."""
    by_jitter = (
        "\n**How much jitter**: an incast's completion in ms, by the mean jitter in frames. "
        f"{INCAST_SEEDS} seeds, with starts moved by up to a frame's time.\n"
    )
    by_less = (
        "\n**Which feature makes it longer**: completion of CUBIC's incast in a dumbbell in ms, "
        f"with one feature turned off. {INCAST_SEEDS} seeds.\n"
    )
    by_change = (
        "\n**What of `linux` ends the locking**: runs in which two flows do not share the link fairly, with "
        "jitter of a tenth of a frame. Hosts have a kind with the given settings.\n"
    )
    by_time = (
        "\n**Whether time ends it**: runs in which two flows do not share the link fairly, "
        f"after {LONG_FLOW_SECONDS} s and after {LONGER_SECONDS} s. "
        "Starts are moved by up to a frame's time.\n"
    )
    by_tick = (
        f"\n**What ticks lose**: drops of two long flows in {LONG_FLOW_SECONDS} s, by the clock of `linux`. "
        f"{SEEDS} seeds.\n"
    )
    all_of = {
        by_jitter: jitter_table, by_less: feature_table, by_change: changes_table, by_time: duration_table,
        by_tick: tick_table,
    }  # fmt: skip
    return [line for title, made in all_of.items() for line in (title, *made(found))]


def format_table(head: list[str], lines: list[list[str]]) -> list[str]:
    """Formats a table from cells."""
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return [f"| {' | '.join(head)} |", "| --- " * len(head) + "|", *shown]


def jitter_table(found: Values) -> list[str]:
    """Returns the table of incasts by the size of the jitter."""
    lines = [
        [
            network,
            law,
            *format_completions(found, [incast_sample(network, law, size) for size in JITTER_SIZES]),
        ]
        for network, law in product(NETWORKS, LINUX_TRANSPORTS)
    ]
    return format_table(["network", "hosts", *(f"{size:g}" for size in JITTER_SIZES)], lines)


def feature_table(found: Values) -> list[str]:
    """Returns the table of the incast that jitter makes longer, by the missing feature."""
    rows = {said: [feature_sample(said, size) for size in JITTER_SIZES] for said in MISSING_FEATURES}
    lines = [[format_settings(said), *format_completions(found, asked)] for said, asked in rows.items()]
    return format_table(["Linux, CUBIC", *(f"{size:g}" for size in JITTER_SIZES)], lines)


def format_completions(found: Values, asked: list[Sample]) -> list[str]:
    """Formats means of incast completions in ms."""
    every = [found.get(one) for one in asked]
    return [format_interval([1e3 * value for value in each]) if each else "not run" for each in every]


def format_settings(said: str) -> str:
    """Formats settings for a table cell."""
    return ", ".join(f"`{line}`" for line in said.splitlines()) or "as it is"


def changes_table(found: Values) -> list[str]:
    """Returns the table of long flows of hosts that differ in one setting."""
    lines = []
    for base in BASE_KINDS:
        for said in CHANGES_OF_KIND[base]:
            counts = [
                format_unfair_runs(found, change_samples(network, base, said)) for network in SMALL_NETWORKS
            ]
            lines.append([base, format_settings(said), *counts])
    return format_table(["kind", "with", *SMALL_NETWORKS], lines)


def duration_table(found: Values) -> list[str]:
    """Returns the table of long flows of two durations."""
    lines = []
    for network, law, setting in product(SMALL_NETWORKS, PHASE_LOCKED_TRANSPORTS, JITTER_SETTINGS):
        counts = [
            format_unfair_runs(found, [duration_sample(network, law, setting, seconds)])
            for seconds in (LONG_FLOW_SECONDS, LONGER_SECONDS)
        ]
        lines.append([network, law, format_jitter(setting), *counts])
    return format_table(
        ["network", "hosts", "jitter", f"{LONG_FLOW_SECONDS} s", f"{LONGER_SECONDS} s"], lines
    )


def tick_table(found: Values) -> list[str]:
    """Returns the table of drops of long flows by clock resolution."""
    every = {
        said: [found.get(drops_sample(network, said)) for network in SMALL_NETWORKS]
        for said in CLOCK_RESOLUTIONS
    }
    lines = [
        [format_settings(said), *(format_interval(each) if each else "not run" for each in drops)]
        for said, drops in every.items()
    ]
    return format_table(["`linux` with", *SMALL_NETWORKS], lines)


def format_jitter(setting: tuple[float, int]) -> str:
    """Formats a column head: mean jitter in frames, and clock error in ppm."""
    frames, ppm = setting
    return f"{frames:g}" + (f", {ppm} ppm" if ppm else "")


def format_unfair_runs(found: Values, asked: list[Sample]) -> str:
    """Formats the number of unfair runs over all these samples."""
    if any(one not in found for one in asked):
        return "not run"
    return format_unfair_count([value for one in asked for value in found[one]])


def format_unfair_count(runs: list[float]) -> str:
    """Formats the number of unfair runs among these, in bold unless it is 0."""
    count = sum(value < MIN_FAIR_JAIN for value in runs)
    return f"**{count}** of {len(runs)}" if count else f"0 of {len(runs)}"
