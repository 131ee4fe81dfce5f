"""Labelled lines beside the numbers of results, and the meaning of each label."""

from collections.abc import Sequence
from dataclasses import dataclass

from overspill.errors import escape_unprintable

LABEL_MEANINGS = {
    "PARTIAL RESULT": (
        "Runs that were stopped before their planned end, or are missing. If they were stopped in the "
        "measurement window, their counts cover only a part of it."
    ),
    "INTERRUPTED": "The command was stopped. Runs that were finished by then are shown.",
    "FAILED": "A run failed, for the reason in the text. The other runs are shown.",
    "UNFINISHED FLOWS": (
        "Measured flows that did not finish before the drain ended. Values that depend on them are lower "
        "bounds (`> x`), and no variant is called best. A longer `measure.drain` gives them more time."
    ),
    "DEADLOCK": "Paused ports that wait for each other in a cycle: none ever sends the paused class again.",
    "NOT KNOWN": "An older version wrote these results without the data that some warnings need.",
    "NOTHING MEASURED": "No flow starts in the measurement window (`measure.from` to `measure.to`).",
    "LOST OUTSIDE WINDOW": (
        "Measured flows lost data before or after the measurement window, and no packet was lost in it. "
        "`drops` counts the window, and `data_drops` the whole run."
    ),
    "NOT COMPARED": (
        "Variants with different traffic or different `[measure]`, so that no variant is called best."
    ),
    "NOT STEADY": (
        "The second half of the measurement window differs from the first: queues or slowdowns still grow or "
        "shrink. Means then depend on the length of the run."
    ),
    "STARVED FLOWS": (
        "Flows that got almost nothing while their peers of the same workload, size, path and start did "
        "not. Packets that reach a full queue in the same order again and again cause this; real hosts "
        "are not that regular. Limits: flows with a window get less than 1% of their peers' mean, raw "
        "sources less than 25%. Queue pairs (RoCE) wait for timeouts for 25% of their time or more, or "
        "never finish. The text names the flow that got least, and a parameter that helps. `overspill "
        "run --check-phase` finds results that depend on starts, but not flows that stay phase-locked at "
        "any start."
    ),
    "SEEDS ALIKE": (
        "At least three seeds gave identical results, or means over flows that agree to six digits. Either "
        "random draws do not affect the flows, or their packets are phase-locked. Such seeds give no "
        "independent repetitions, and an interval of ± 0 is not a measure of certainty. Give starts a "
        "`jitter`, or see `overspill run --check-phase`."
    ),
    "SENSITIVE TO TIE-BREAKING": (
        "Metrics that changed by more than their own interval when all starts moved by less than the "
        "time of one frame (`overspill run --check-phase`). They depend on the order of simultaneous "
        "events."
    ),
    "phase check": (
        "Result of the runs that `overspill run --check-phase` repeats with all starts moved by less "
        "than the time of one frame: no metric changed, or the starts had such a jitter already."
    ),
    "PHASE CHECK": (
        "Runs of `overspill run --check-phase` that are missing, or workloads whose starts cannot be "
        "moved. The check does not cover them."
    ),
    "SAME RUN": (
        "Variants with equal results: every metric and all counts of the whole run (events, packet-hops, "
        "flows, end time). A run, but not a sweep, also compares every flow. The settings in which the "
        "variants differ had no effect. `no buffer overflowed and no mechanism acted`: nothing was "
        "lost, marked, detoured, bounced, cut, returned, held or paused, and no CNM or CNP was sent. If only "
        "the measurement window was recorded, this is true for the window alone."
    ),
    "UNEQUAL MEMORY": ("The switches of the variants have unequal memory in total, including bounce queues."),
    "PAUSE STORMS": (
        "Queues that pauses stopped for the `detection_time` of a PFC watchdog, less at most one poll. "
        "The table `pause_storms` lists them."
    ),
    "LOSSLESS LOST": (
        "Packets of lossless priority groups that switches lost for lack of memory, with `lossless = false` "
        "or without pauses. The group with the most losses is named."
    ),
    "SHARED MEMORY": (
        "Variants that lost packets at a port whose buffer has one limit for several traffic classes. The "
        "port with the most losses is named."
    ),
    "FEW SEEDS": (
        "Intervals of fewer than ten seeds are rough, and two seeds give none. Quote results of ten or more."
    ),
    "few samples": ("Percentiles with fewer than five samples of a seed beyond them: close to the maximum."),
    "scenario": "Name of the scenario, its seeds, and the settings given by `--set`.",
    "measured": (
        "The measurement window: which flows count, how much of the start is excluded as warm-up, and "
        "for how long after the window the run continues so that flows can finish."
    ),
    "ended": (
        "Simulated time at which the runs of each variant stopped, from the first seed to the last: all "
        "measured flows were finished and no event was left, or `duration` and the drain were over. "
        "Timers that are still set keep a run going, so this is not the end of the traffic; for that see "
        "FCT and QCT."
    ),
    "censored flows": (
        "Number of measured flows that did not finish, of all measured flows. Only a lower bound of "
        "their FCT is known."
    ),
    "offered load": (
        "Load that a workload requests over the whole measurement window, as a share of the links and in "
        "the bytes that are named. If it sends in a part of the window only (`start`, `stop`, `repeat`), "
        "also its load while it sends, and that time."
    ),
    "achieved load": (
        "Payload of the workload that arrived in the measurement window, over the whole window, in the "
        "same terms as the offered load; and the load of the flows that started in the window. Random "
        "sizes and gaps do not meet the offered load exactly."
    ),
    "carried load": "Load of all traffic on the links in the measurement window, by level of the network.",
    "switch memory": "Memory of all switches of a tier: buffers, bounce queues and input buffers.",
    "deadlock": "Variants whose ports may pause each other and that had no deadlock.",
    "transport": "Transport settings of variants: kind, congestion control, initial window, RTO, MSS, ECN.",
    "event": "Change of the network, its time, and the frames that it cost each variant.",
    "simulated": "Packet-hops and events of all runs.",
    "note": "Advice about the scenario that is not an error.",
    "swept": "Axes of a sweep and their values.",
    "together": "Axes that move together.",
    "finished": "Points, variants and runs of a sweep that are finished.",
    "labels": "Names of variants, each with the `label` that tables and figures show.",
    "figures": "Number of metrics of a sweep that have figures, and the function that draws the others.",
    "Run": "Run in which a packet was followed: scenario, variant, seed.",
    "Packet": (
        "Packet that was followed: its flow, and its number among the packets that this end of the flow sent."
    ),
    "PART": "Only a part of a paper was requested.",
}

# Labels that only one command prints; all others are above the tables of both `run` and `sweep`.
COMMAND_OF_LABEL = {
    "NOT KNOWN": "sweep",
    "SENSITIVE TO TIE-BREAKING": "run --check-phase",
    "phase check": "run --check-phase",
    "PHASE CHECK": "run --check-phase",
    "swept": "sweep",
    "together": "sweep",
    "finished": "sweep",
    "figures": "sweep",
    "Run": "trace",
    "Packet": "trace",
    "PART": "paper",
}


@dataclass(frozen=True)
class Line:
    """Labelled statement about results; `loud` if it limits what the numbers mean."""

    label: str
    text: str
    loud: bool = False

    def __post_init__(self) -> None:
        """Escapes line breaks and control characters, which names and settings of a user may have."""
        object.__setattr__(self, "text", escape_unprintable(self.text))


def limit_lines(label: str, texts: Sequence[str], most: int, where: str, loud: bool = False) -> list[Line]:
    """Returns at most `most` lines of a label; the last one says how many more there are, and where."""
    left = len(texts) - most
    more = f" (and {left} more: {where})" if left > 0 else ""
    shown = texts[:most]
    return [Line(label, text + (more if at == len(shown) - 1 else ""), loud) for at, text in enumerate(shown)]
