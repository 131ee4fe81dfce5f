"""Questions that the cells leave open: how much jitter, what ends phase-locking, and whether time does."""

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from cell import FAIR, NETWORKS, SECONDS, SEEDS, Cell, metric, spread

MANY = 96  # seeds of incasts, whose completion depends on single timeouts
SIZES = (0, 0.1, 0.25, 0.5, 1)
OF_LINUX = ("Linux, Reno", "Linux, CUBIC", "Linux, DCTCP")
LONG = 40  # s, eight times `SECONDS`
LOCKED = ("RFC 6675, Reno", "RFC 6675, CUBIC")
STAY = ((0, 0), (0.1, 0), (0.5, 100))  # mean jitter in frames, and clock error in ppm
SMALL_NETWORKS = ("dumbbell", "star")
TENTH = 0.1
# Kinds of transports, and the settings of `linux` that the other kinds do not have by default.
BASES = {
    "`cubic`": 'kind = "cubic"',
    "`sack`": 'kind = "sack"',
    "`linux`": 'kind = "linux"',
}
EACH_ACKED = "delayed_ack = false\nquick_acks = false"
# Shorter than the minimum RTO.
DELAYED = 'delayed_ack = true\ndelayed_ack_timeout = "5ms"'
CHANGES = {
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
        DELAYED,
        f"{DELAYED}\nquick_acks = true",
    ),
    "`sack`": ("", DELAYED),
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
        EACH_ACKED,
        "tso = false\nhystart = false",
        f"{EACH_ACKED}\nhystart = false",
        f"{EACH_ACKED}\ntso = false",
        f"{EACH_ACKED}\ntso = false\nhystart = false",
        f'recovery = "sack"\n{EACH_ACKED}',
        f'recovery = "sack"\n{EACH_ACKED}\nhystart = false',
        f'recovery = "sack"\n{EACH_ACKED}\nhystart = false\ntimestamps = false',
        f'congestion_control = "reno"\n{EACH_ACKED}\ntso = false',
    ),
}


# Changes that may explain why an incast takes longer with jitter of a tenth of a frame than without.
SLOWER = ("", "hystart = false", "tso = false", 'tick = "0us"')
# Clock resolutions that may affect the drops of long flows.
RENO = 'congestion_control = "reno"'
TICKED = (
    *(f'tick = "{tick}"' for tick in ("0us", "1ms", "4ms", "10ms")),
    f'{RENO}\ntick = "0us"',
    f'{RENO}\ntick = "4ms"',
)
OF_LONG = ("jain", "drops")


@dataclass(frozen=True)
class Sample:
    """A metric of a cell over a number of seeds; long flows last for `seconds`."""

    cell: Cell
    metric: str  # one of `OF_LONG`, or qct_mean
    move: str  # largest offset added to a start
    seeds: int
    seconds: int = SECONDS

    def measure(self) -> list[float]:
        """Runs the sample and returns the metric of every seed."""
        cell = self.cell
        text = cell.long(self.move, self.seconds) if self.metric in OF_LONG else cell.incast(self.move)
        return metric(text, self.metric, self.seeds)

    def kept(self, values: list[float]) -> dict[str, Any]:
        """Returns the sample and its values as a line of the results file."""
        return {"sample": asdict(self), "values": values}

    @classmethod
    def read(cls, line: dict[str, Any]) -> "Sample":
        """Reads a sample from a line of the results file."""
        return cls(**{**line["sample"], "cell": Cell(**line["sample"]["cell"])})


Values = dict[Sample, list[float]]


def samples() -> list[Sample]:
    """Returns all samples of the questions."""
    sizes = [sized(network, law, size) for network, law, size in product(NETWORKS, OF_LINUX, SIZES)]
    changed = [one for base in BASES for network, said in rows(base) for one in changes(network, base, said)]
    slower = [without(said, size) for said, size in product(SLOWER, SIZES)]
    stays = product(SMALL_NETWORKS, LOCKED, STAY, (SECONDS, LONG))
    drops = [lost(network, said) for network, said in product(SMALL_NETWORKS, TICKED)]
    return list(dict.fromkeys([*sizes, *slower, *changed, *(stay(*each) for each in stays), *drops]))


def sized(network: str, law: str, frames: float) -> Sample:
    """Returns the sample of an incast with jitter of this size."""
    cell = Cell(1, network, law, frames, 0)
    return Sample(cell, "qct_mean", f"{cell.frame_ns}ns", MANY)


def without(said: str, frames: float) -> Sample:
    """Returns the sample of a CUBIC incast in a dumbbell, with `linux` hosts that lack one feature."""
    return sized("dumbbell", f"{BASES['`linux`']}\n{said}" if said else "Linux, CUBIC", frames)


def lost(network: str, said: str) -> Sample:
    """Returns the sample of drops of long flows, with `linux` hosts that have this clock resolution."""
    cell = Cell(1, network, f"{BASES['`linux`']}\n{said}", TENTH, 0)
    return Sample(cell, "drops", f"{cell.frame_ns}ns", SEEDS)


def stay(network: str, law: str, setting: tuple[float, int], seconds: int) -> Sample:
    """Returns the sample of long flows that last for `seconds`."""
    cell = Cell(1, network, law, *setting)
    return Sample(cell, "jain", f"{cell.frame_ns}ns", SEEDS, seconds)


def rows(base: str) -> list[tuple[str, str]]:
    """Returns the networks and changes of a base kind."""
    return list(product(SMALL_NETWORKS, CHANGES[base]))


def changes(network: str, base: str, said: str) -> list[Sample]:
    """Returns the samples of long flows with a change of a base kind: exact starts and moved starts."""
    cell = Cell(1, network, f"{BASES[base]}\n{said}".strip(), TENTH, 0)
    return [Sample(cell, "jain", move, SEEDS) for move in ("0ns", f"{cell.frame_ns}ns")]


def tables(found: Values) -> list[str]:
    """Returns all tables, each after its title."""
    by_jitter = (
        "\n**How much jitter**: an incast's completion in ms, by the mean jitter in frames. "
        f"{MANY} seeds, with starts moved by up to a frame's time.\n"
    )
    by_less = (
        "\n**Which feature makes it longer**: completion of CUBIC's incast in a dumbbell in ms, "
        f"with one feature turned off. {MANY} seeds.\n"
    )
    by_change = (
        "\n**What of `linux` ends the locking**: runs in which two flows do not share the link fairly, with "
        "jitter of a tenth of a frame. Hosts have a kind with the given settings.\n"
    )
    by_time = (
        "\n**Whether time ends it**: runs in which two flows do not share the link fairly, "
        f"after {SECONDS} s and after {LONG} s. Starts are moved by up to a frame's time.\n"
    )
    by_tick = (
        f"\n**What ticks lose**: drops of two long flows in {SECONDS} s, by the clock of `linux`. "
        f"{SEEDS} seeds.\n"
    )
    all_of = {
        by_jitter: jitter_table, by_less: less_table, by_change: changes_table, by_time: time_table,
        by_tick: tick_table,
    }  # fmt: skip
    return [line for title, made in all_of.items() for line in (title, *made(found))]


def table(head: list[str], lines: list[list[str]]) -> list[str]:
    """Formats a table from cells."""
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return [f"| {' | '.join(head)} |", "| --- " * len(head) + "|", *shown]


def jitter_table(found: Values) -> list[str]:
    """Returns the table of incasts by the size of the jitter."""
    lines = [
        [network, law, *completions(found, [sized(network, law, size) for size in SIZES])]
        for network, law in product(NETWORKS, OF_LINUX)
    ]
    return table(["network", "hosts", *(f"{size:g}" for size in SIZES)], lines)


def less_table(found: Values) -> list[str]:
    """Returns the table of the incast that jitter makes longer, by the missing feature."""
    rows = {said: [without(said, size) for size in SIZES] for said in SLOWER}
    lines = [[shown(said), *completions(found, asked)] for said, asked in rows.items()]
    return table(["Linux, CUBIC", *(f"{size:g}" for size in SIZES)], lines)


def completions(found: Values, asked: list[Sample]) -> list[str]:
    """Formats means of incast completions in ms."""
    every = [found.get(one) for one in asked]
    return [spread([1e3 * value for value in each]) if each else "not run" for each in every]


def shown(said: str) -> str:
    """Formats settings for a table cell."""
    return ", ".join(f"`{line}`" for line in said.splitlines()) or "as it is"


def changes_table(found: Values) -> list[str]:
    """Returns the table of long flows of hosts that differ in one setting."""
    lines = []
    for base in BASES:
        for said in CHANGES[base]:
            counts = [unfair(found, changes(network, base, said)) for network in SMALL_NETWORKS]
            lines.append([base, shown(said), *counts])
    return table(["kind", "with", *SMALL_NETWORKS], lines)


def time_table(found: Values) -> list[str]:
    """Returns the table of long flows of two durations."""
    lines = []
    for network, law, setting in product(SMALL_NETWORKS, LOCKED, STAY):
        counts = [unfair(found, [stay(network, law, setting, seconds)]) for seconds in (SECONDS, LONG)]
        lines.append([network, law, label(setting), *counts])
    return table(["network", "hosts", "jitter", f"{SECONDS} s", f"{LONG} s"], lines)


def tick_table(found: Values) -> list[str]:
    """Returns the table of drops of long flows by clock resolution."""
    every = {said: [found.get(lost(network, said)) for network in SMALL_NETWORKS] for said in TICKED}
    lines = [
        [shown(said), *(spread(each) if each else "not run" for each in drops)]
        for said, drops in every.items()
    ]
    return table(["`linux` with", *SMALL_NETWORKS], lines)


def label(setting: tuple[float, int]) -> str:
    """Formats a column head: mean jitter in frames, and clock error in ppm."""
    frames, ppm = setting
    return f"{frames:g}" + (f", {ppm} ppm" if ppm else "")


def unfair(found: Values, asked: list[Sample]) -> str:
    """Formats the number of unfair runs over all these samples."""
    if any(one not in found for one in asked):
        return "not run"
    return counted([value for one in asked for value in found[one]])


def counted(runs: list[float]) -> str:
    """Formats the number of unfair runs among these, in bold unless it is 0."""
    count = sum(value < FAIR for value in runs)
    return f"**{count}** of {len(runs)}" if count else f"0 of {len(runs)}"
