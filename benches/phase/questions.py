"""What the cells of the study leave open: how much jitter, what ends the locking, and whether time does."""

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from cell import FAIR, NETWORKS, SECONDS, SEEDS, Cell, metric, spread

MANY = 96  # seeds of incasts, where a timeout more or less decides
SIZES = (0, 0.1, 0.25, 0.5, 1)
OF_LINUX = ("Linux, Reno", "Linux, CUBIC", "Linux, DCTCP")
LONG = 40  # s, eight times as long
LOCKED = ("RFC 6675, Reno", "RFC 6675, CUBIC")
STAY = ((0, 0), (0.1, 0), (0.5, 100))  # mean jitter in frames, and millionths
SMALL_NETWORKS = ("dumbbell", "star")
TENTH = 0.1
# Kinds, and what is said beside them: what `linux` has and the others have not.
BASES = {
    "`cubic`": 'kind = "cubic"',
    "`sack`": 'kind = "sack"',
    "`linux`": 'kind = "linux"',
}
EACH_ACKED = "delayed_ack = false\nquick_acks = false"
# Shorter than the least timeout.
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


# Of the incast that takes longer with a tenth of a frame than without: what may have a part in it.
SLOWER = ("", "hystart = false", "tso = false", 'tick = "0us"')
# Of long flows: whether what their clocks count in matters to what is lost.
RENO = 'congestion_control = "reno"'
TICKED = (
    *(f'tick = "{tick}"' for tick in ("0us", "1ms", "4ms", "10ms")),
    f'{RENO}\ntick = "0us"',
    f'{RENO}\ntick = "4ms"',
)
OF_LONG = ("jain", "drops")


@dataclass(frozen=True)
class Sample:
    """A metric of so many seeds of a cell; long flows last for `seconds`."""

    cell: Cell
    metric: str  # of `OF_LONG`, or qct_mean
    move: str  # by which starts are moved at most
    seeds: int
    seconds: int = SECONDS

    def measure(self) -> list[float]:
        """Its runs."""
        cell = self.cell
        text = cell.long(self.move, self.seconds) if self.metric in OF_LONG else cell.incast(self.move)
        return metric(text, self.metric, self.seeds)

    def kept(self, values: list[float]) -> dict[str, Any]:
        """As it is written to a file."""
        return {"sample": asdict(self), "values": values}

    @classmethod
    def read(cls, line: dict[str, Any]) -> "Sample":
        """As it was written."""
        return cls(**{**line["sample"], "cell": Cell(**line["sample"]["cell"])})


Values = dict[Sample, list[float]]


def samples() -> list[Sample]:
    """All that is asked."""
    sizes = [sized(network, law, size) for network, law, size in product(NETWORKS, OF_LINUX, SIZES)]
    changed = [one for base in BASES for network, said in rows(base) for one in changes(network, base, said)]
    slower = [without(said, size) for said, size in product(SLOWER, SIZES)]
    stays = product(SMALL_NETWORKS, LOCKED, STAY, (SECONDS, LONG))
    drops = [lost(network, said) for network, said in product(SMALL_NETWORKS, TICKED)]
    return list(dict.fromkeys([*sizes, *slower, *changed, *(stay(*each) for each in stays), *drops]))


def sized(network: str, law: str, frames: float) -> Sample:
    """An incast with jitter of this size."""
    cell = Cell(1, network, law, frames, 0)
    return Sample(cell, "qct_mean", f"{cell.frame_ns}ns", MANY)


def without(said: str, frames: float) -> Sample:
    """The same of CUBIC in a dumbbell, with hosts of today that have one thing less."""
    return sized("dumbbell", f"{BASES['`linux`']}\n{said}" if said else "Linux, CUBIC", frames)


def lost(network: str, said: str) -> Sample:
    """What long flows of hosts of today with such clocks lose."""
    cell = Cell(1, network, f"{BASES['`linux`']}\n{said}", TENTH, 0)
    return Sample(cell, "drops", f"{cell.frame_ns}ns", SEEDS)


def stay(network: str, law: str, setting: tuple[float, int], seconds: int) -> Sample:
    """Long flows that last for so long."""
    cell = Cell(1, network, law, *setting)
    return Sample(cell, "jain", f"{cell.frame_ns}ns", SEEDS, seconds)


def rows(base: str) -> list[tuple[str, str]]:
    """Networks, and what is said beside a kind."""
    return list(product(SMALL_NETWORKS, CHANGES[base]))


def changes(network: str, base: str, said: str) -> list[Sample]:
    """Long flows of hosts that differ from a kind in this."""
    cell = Cell(1, network, f"{BASES[base]}\n{said}".strip(), TENTH, 0)
    return [Sample(cell, "jain", move, SEEDS) for move in ("0ns", f"{cell.frame_ns}ns")]


def tables(found: Values) -> list[str]:
    """The tables, each after what it shows."""
    by_jitter = (
        "\n**How much jitter**: an incast's completion, ms, by the mean of the jitter in frames; "
        f"{MANY} seeds, starts moved by up to a frame.\n"
    )
    by_less = (
        f"\n**What makes it longer**: the same of CUBIC in a dumbbell, {MANY} seeds, with one thing less.\n"
    )
    by_change = (
        "\n**What of `linux` ends the locking**: runs in which two flows do not share the link fairly, with "
        "a tenth of a frame of jitter, where hosts differ in this from a kind.\n"
    )
    by_time = (
        f"\n**Whether time ends it**: the same after {SECONDS} s and after {LONG} s, with starts moved by "
        "up to a frame.\n"
    )
    by_tick = (
        f"\n**What ticks lose**: drops of two long flows in {SECONDS} s by the clock of `linux`, "
        f"{SEEDS} seeds.\n"
    )
    all_of = {
        by_jitter: jitter_table, by_less: less_table, by_change: changes_table, by_time: time_table,
        by_tick: tick_table,
    }  # fmt: skip
    return [line for title, made in all_of.items() for line in (title, *made(found))]


def table(head: list[str], lines: list[list[str]]) -> list[str]:
    """A table of cells."""
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return [f"| {' | '.join(head)} |", "| --- " * len(head) + "|", *shown]


def jitter_table(found: Values) -> list[str]:
    """Incasts by the size of the jitter."""
    lines = [
        [network, law, *completions(found, [sized(network, law, size) for size in SIZES])]
        for network, law in product(NETWORKS, OF_LINUX)
    ]
    return table(["network", "hosts", *(f"{size:g}" for size in SIZES)], lines)


def less_table(found: Values) -> list[str]:
    """The incast that jitter makes longer, by what hosts have not."""
    rows = {said: [without(said, size) for size in SIZES] for said in SLOWER}
    lines = [[shown(said), *completions(found, asked)] for said, asked in rows.items()]
    return table(["Linux, CUBIC", *(f"{size:g}" for size in SIZES)], lines)


def completions(found: Values, asked: list[Sample]) -> list[str]:
    """Means of incasts, ms."""
    every = [found.get(one) for one in asked]
    return [spread([1e3 * value for value in each]) if each else "not run" for each in every]


def shown(said: str) -> str:
    """What is said beside a kind, in a table."""
    return ", ".join(f"`{line}`" for line in said.splitlines()) or "as it is"


def changes_table(found: Values) -> list[str]:
    """Long flows of hosts that differ in one thing."""
    lines = []
    for base in BASES:
        for said in CHANGES[base]:
            counts = [unfair(found, changes(network, base, said)) for network in SMALL_NETWORKS]
            lines.append([base, shown(said), *counts])
    return table(["kind", "with", *SMALL_NETWORKS], lines)


def time_table(found: Values) -> list[str]:
    """Long flows of two durations."""
    lines = []
    for network, law, setting in product(SMALL_NETWORKS, LOCKED, STAY):
        counts = [unfair(found, [stay(network, law, setting, seconds)]) for seconds in (SECONDS, LONG)]
        lines.append([network, law, label(setting), *counts])
    return table(["network", "hosts", "jitter", f"{SECONDS} s", f"{LONG} s"], lines)


def tick_table(found: Values) -> list[str]:
    """Drops of long flows, by their clocks."""
    every = {said: [found.get(lost(network, said)) for network in SMALL_NETWORKS] for said in TICKED}
    lines = [
        [shown(said), *(spread(each) if each else "not run" for each in drops)]
        for said, drops in every.items()
    ]
    return table(["`linux` with", *SMALL_NETWORKS], lines)


def label(setting: tuple[float, int]) -> str:
    """A column: the mean of the jitter in frames, and millionths by which clocks are off."""
    frames, ppm = setting
    return f"{frames:g}" + (f", {ppm} ppm" if ppm else "")


def unfair(found: Values, asked: list[Sample]) -> str:
    """Runs that are not fair, of all."""
    if any(one not in found for one in asked):
        return "not run"
    return counted([value for one in asked for value in found[one]])


def counted(runs: list[float]) -> str:
    """How many of these are not fair; marked where there are any."""
    count = sum(value < FAIR for value in runs)
    return f"**{count}** of {len(runs)}" if count else f"0 of {len(runs)}"
