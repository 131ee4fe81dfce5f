"""Measures of retransmissions: with PABO, whose runs disable them, and by the baseline's timer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from overspill import columns
from overspill.papers.common import build_measured, divide_by_seed, divide_or_nan
from overspill.papers.spec import Measure, Measured, Point, Runs, Sweeps

from .claims import COEXISTENCE_SWEEPS
from .fat_tree import PABO, REQUEST_ROLE, SCENARIOS, WITHOUT

RECOVERING_SWEEP = "recovering"
MIN_RTO_PATH = "transport.min_rto"
END_MS = 10_000.0  # end of the runs of section VI

RequestKey = tuple[int, int, int]  # workload, server, and index of the session's request, from 0


@dataclass(frozen=True)
class Reply:
    """Time in ms from a request to the last byte of its reply, or to the end of the run if unfinished."""

    time: float
    finished: bool
    timeouts: int


Replies = Mapping[RequestKey, Reply]


def read_replies(table: pa.Table) -> Replies:
    """Returns the replies in table `flows`, by session and request.

    The numbers of queries depend on the variant; sessions and requests do not.
    """
    wanted = ("traffic", "query", "role", "start_ps", "end_ps", "dst", "timeouts")
    rows = table.select(list(wanted)).to_pylist()
    answers = {(one["traffic"], one["query"]): one for one in rows if one["role"] != REQUEST_ROLE}
    asked: dict[tuple[int, int], list[tuple[float, Reply]]] = {}
    for one in rows:
        if one["role"] == REQUEST_ROLE:
            begin, answer = one["start_ps"] / 1e9, answers.get((one["traffic"], one["query"]))
            end = None if answer is None or answer["end_ps"] is None else answer["end_ps"] / 1e9
            expired = 0 if answer is None else int(answer["timeouts"])
            reply = Reply((END_MS if end is None else end) - begin, end is not None, expired)
            asked.setdefault((one["traffic"], one["dst"]), []).append((begin, reply))
    return {
        (traffic, server, at): reply
        for (traffic, server), session in asked.items()
        for at, (_, reply) in enumerate(sorted(session, key=lambda pair: pair[0]))
    }


def mean_reply_time(found: Replies) -> float:
    """Mean time of finished and unfinished replies in ms; NaN without any."""
    return divide_or_nan(sum(one.time for one in found.values()), len(found))


def mean_reply_time_by_seed(runs: Runs, variant: str, point: Point | None = None) -> np.ndarray:
    """Mean time of replies in ms, by seed."""
    return np.array([mean_reply_time(read_replies(table)) for table in runs.tables("flows", variant, point)])


def describe_unfinished(runs: Runs, variant: str) -> str:
    """Describes the number of seeds with unfinished replies."""
    count = sum(
        any(not one.finished for one in read_replies(table).values())
        for table in runs.tables("flows", variant)
    )
    return f"in {count} of {len(runs.seeds)} seeds replies of {variant} hang" if count else ""


def measure_recovery(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures needless retransmissions with PABO, and times of replies with and without retransmission."""
    ratios = []
    for name in SCENARIOS:
        runs = sweeps[COEXISTENCE_SWEEPS[name]]
        needless = [
            column_total(table, "retransmits") - column_total(table, "data_drops")
            for table in runs.tables("flows", RECOVERING_SWEEP)
        ]
        on, off = mean_reply_time_by_seed(runs, RECOVERING_SWEEP), mean_reply_time_by_seed(runs, PABO)
        told = f"replies take {on.mean():.1f} ms with retransmission, {off.mean():.1f} ms without"
        yield build_measured(name, "retransmits_less_losses", needless, told)
        ratios.append(divide_by_seed(on, off))
        yield build_measured(name, "fct_on_by_off", ratios[-1], describe_unfinished(runs, PABO))
    yield build_measured("worst of five", "fct_on_by_off", np.max(ratios, axis=0))


def column_total(table: pa.Table, column: str) -> int:
    """Returns the sum of a column of table `flows`."""
    return int(columns.column_to_numpy(table, column).sum())


def measure_timer(sweeps: Sweeps) -> Iterator[Measured]:
    """Measures the share of the baseline's completion time that its retransmission timer causes."""
    for name in SCENARIOS:
        runs, beside = sweeps[f"{name}_rto"], sweeps[COEXISTENCE_SWEEPS[name]]
        points = {point[MIN_RTO_PATH]: point for point in runs.points}
        tables = runs.tables("flows", WITHOUT, points["1s"])
        found, pabo = list(map(read_replies, tables)), list(map(read_replies, beside.tables("flows", PABO)))
        yield build_measured(name, "timeouts_of_recoveries", list(map(timeout_share, tables)))
        yield build_measured(name, "replies_with_a_timeout", list(map(share_with_timeout, found)))
        yield build_measured(name, "fct_with_a_timeout_by_without", list(map(timeout_slowdown, found)))
        leads = [share_saved_with_timeout(one, other) for one, other in zip(found, pabo, strict=True)]
        yield build_measured(name, "lead_in_replies_with_a_timeout", leads)
        took = {rto: mean_reply_time_by_seed(runs, WITHOUT, point) for rto, point in points.items()}
        with_it = mean_reply_time_by_seed(beside, PABO)
        told = [f"{rto} {took[rto].mean():.1f} ms" for rto in ("10ms", "100ms", "1s")]
        told += [f"PABO {with_it.mean():.1f} ms"]
        yield build_measured(
            name, "fct_1s_by_10ms", divide_by_seed(took["1s"], took["10ms"]), ", ".join(told)
        )
        yield build_measured(
            name,
            "fct_100ms_by_PABO",
            divide_by_seed(took["100ms"], with_it),
            describe_unfinished(beside, PABO),
        )
        yield build_measured(name, "fct_10ms_by_PABO", divide_by_seed(took["10ms"], with_it))


def timeout_share(table: pa.Table) -> float:
    """Timeouts in % of all timeouts and fast retransmits; NaN if there are neither."""
    expired, fast = column_total(table, "timeouts"), column_total(table, "fast_retransmits")
    return 100 * divide_or_nan(expired, expired + fast)


def share_with_timeout(found: Replies) -> float:
    """Replies whose sender had a timeout, in %."""
    return 100 * divide_or_nan(sum(one.timeouts > 0 for one in found.values()), len(found))


def timeout_slowdown(found: Replies) -> float:
    """Mean time of replies with a timeout divided by that of replies without; NaN if either are missing."""
    late, others = (
        [one.time for one in found.values() if (one.timeouts > 0) == flag] for flag in (True, False)
    )
    return divide_or_nan(mean_of_values(late), mean_of_values(others)) if late and others else float("nan")


def mean_of_values(values: Sequence[float]) -> float:
    """Mean of a sequence of numbers."""
    return sum(values) / len(values)


def share_saved_with_timeout(without: Replies, pabo: Replies) -> float:
    """Share of the time saved by PABO that is in replies with a timeout, in %.

    Only replies that finish in both runs count.
    """
    both = [key for key, one in without.items() if one.finished and key in pabo and pabo[key].finished]
    saved = {key: without[key].time - pabo[key].time for key in both}
    late = sum(time for key, time in saved.items() if without[key].timeouts > 0)
    return 100 * divide_or_nan(late, sum(saved.values()))


MEASURES: dict[str, Measure] = {
    "claim-recovery": measure_recovery,
    "claim-timer": measure_timer,
}
