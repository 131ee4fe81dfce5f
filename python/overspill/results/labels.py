"""Facts that stand beside numbers, each under a label, and what each label means."""

from dataclasses import dataclass

from overspill.errors import plain

LABELS = {
    "PARTIAL RESULT": (
        "Runs ended before their time, or are missing: their window is cut, and so is what they count."
    ),
    "INTERRUPTED": "Somebody or something stopped the command; what was finished by then is shown.",
    "FAILED": "A run failed; the text says why. The others are shown.",
    "UNFINISHED FLOWS": (
        "Measured flows that did not finish before the drain ended. What depends on them is a lower bound "
        "(`> x`), and no variant is called best. `measure.drain` gives them longer."
    ),
    "DEADLOCK": (
        "Paused ports that wait for each other in a cycle: none of them will ever send that class again."
    ),
    "NOT KNOWN": ("An older version wrote these results without the data that some warnings need."),
    "NOTHING MEASURED": "No flow starts in the measurement window (`measure.from` to `measure.to`).",
    "NOT COMPARED": "Variants carry different traffic or measure differently, so nobody is called best.",
    "NOT STEADY": (
        "The second half of the measurement window differs from the first: queues or slowdowns still grow or "
        "shrink, and means depend on how long the run was."
    ),
    "STARVED FLOWS": (
        "Flows that got next to nothing while their peers did not: same workload, size, path and start. "
        "Packets that reach a full queue in the same order again and again do that, and real hosts are not "
        "that even. Flows with a window got less than 1% of their peers' mean, raw sources less than 25%; "
        "queue pairs (RoCE) waited for timeouts for 25% of their time or more, or never finished. The text "
        "names the one that got least and the parameter that ends it. `overspill run --check-phase` finds "
        "results that depend on starts, not flows that stay phase-locked at any start."
    ),
    "SEEDS ALIKE": (
        "Three seeds or more gave the same number, all of them or the means of flows to six digits. Either "
        "nothing random reaches the flows, or their packets are in step. Seeds are no repetition then, and "
        "an interval of ± 0 says nothing of how sure the number is: give starts a `jitter`, or see "
        "`overspill run --check-phase`."
    ),
    "HANGS ON TIES": (
        "Metrics that moved by more than their own interval when all starts were moved by less than the time "
        "of one frame (`overspill run --check-phase`): they hang on who came first at an instant."
    ),
    "phase check": (
        "What became of the runs that `overspill run --check-phase` did once more with all starts moved by "
        "less than the time of one frame: nothing moved, or the starts were scattered already."
    ),
    "PHASE CHECK": (
        "Runs of `overspill run --check-phase` that are missing, or workloads whose starts cannot be moved: "
        "of these the check says nothing."
    ),
    "SAME RUN": (
        "Variants that are equal in every metric, in all that is counted over the whole run (events, "
        "packet-hops, flows, its end) and, of one point, in every flow: what they change never came into "
        "play. Where nothing was lost, marked, detoured, bounced, cut, returned, held or paused, and no CNM "
        "or CNP was sent, no buffer ever ran out. If only the measurement window was recorded, this holds "
        "for the window alone."
    ),
    "UNEQUAL MEMORY": (
        "The switches of the variants do not have the same memory in all, bounce queues included."
    ),
    "FEW SEEDS": (
        "With fewer than ten seeds intervals are rough, and with two there are none: do not quote them."
    ),
    "few samples": (
        "Percentiles beyond which fewer than five samples of a seed lie: little more than the maximum."
    ),
    "scenario": "The name of the scenario, the seeds, and what was set.",
    "measured": (
        "The measurement window: which flows count, how much of the start is left out as warm-up, and for "
        "how long after it the run goes on for flows to finish."
    ),
    "ended": (
        "The simulated time at which the runs of each variant stopped, from the first seed to the last: all "
        "measured flows were finished and no event was left, or `duration` and the drain were over. Timers "
        "that are still set keep a run going, so this does not tell when traffic ended; FCT and QCT do."
    ),
    "censored flows": (
        "Measured flows that did not finish, of all: of their FCT only a lower bound is known."
    ),
    "offered load": (
        "What a workload asks for over the whole measurement window, as a share of the links and in the "
        "bytes that are named; where it sends in a part of the window alone (`start`, `stop`, `repeat`), "
        "also what it asks for while it sends, and when that is."
    ),
    "achieved load": (
        "What arrived of it in the measurement window, over its whole length, in the same terms as the "
        "offered load, and what was started in the window: drawn sizes and gaps miss what is asked for."
    ),
    "carried load": "What links carried of everything in the measurement window, by level of the network.",
    "switch memory": "Memory of all switches of a tier: buffers, bounce queues and input buffers.",
    "deadlock": "Variants whose ports may pause each other and that had no deadlock.",
    "transport": "Transport settings of variants: kind, congestion control, initial window, RTO, MSS, ECN.",
    "event": "A change of the network, when, and the frames that it cost each variant.",
    "simulated": "Packet-hops and events of all runs.",
    "note": "What a user should know of the scenario, and is no error.",
    "swept": "The axes of a sweep and their values.",
    "together": "Axes that move together.",
    "finished": "Points, variants and runs of a sweep that are done.",
    "labels": "Names of variants, each with the `label` that tables and figures show.",
    "figures": "How many metrics of a sweep have figures, and how to draw the others.",
    "Run": "The run in which a packet was followed: scenario, variant, seed.",
    "Packet": "The packet that was followed: its flow, and which of its emissions.",
    "PART": "Not all of a paper was asked for.",
}

# Labels that one command alone prints; all others stand above the tables of `run` and `sweep` alike.
ALONE = {
    "NOT KNOWN": "sweep",
    "HANGS ON TIES": "run --check-phase",
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
    """A fact about the results; `loud` where it limits what they mean."""

    label: str
    text: str
    loud: bool = False

    def __post_init__(self) -> None:
        """What a user has set or named is told on one line, whatever it has."""
        object.__setattr__(self, "text", plain(self.text))
