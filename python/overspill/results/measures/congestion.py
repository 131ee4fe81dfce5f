"""Congestion that is told: messages to sources, rate limits of flows, and memory of inputs."""

import numpy as np

from overspill.results.key import Key
from overspill.results.measures.declare import PS, Metric, present
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

WINDOW = "in the measurement window"

METRICS = [
    Metric(
        "cnms",
        "congestion messages",
        "packets",
        f"Congestion notification messages (CNMs) that switches made {WINDOW}. By workload of the flow that "
        "they are about, too, where there are several.",
        zero_shown=False,
        formula="Σ cnms over ports",
        source="IEEE 802.1Qau",
    ),
    Metric(
        "cnm_feedback_mean",
        "congestion feedback mean",
        "1",
        f"The quantized feedback of the messages that were made {WINDOW}, the mean of all: 1 to 63, of which "
        "63 is the strongest.",
        formula="Σ feedback / Σ cnms",
        source="IEEE 802.1Qau",
    ),
    Metric(
        "cnps",
        "CNPs",
        "packets",
        f"Congestion notification packets (CNPs) that receivers sent {WINDOW} since packets came marked.",
        zero_shown=False,
        formula="Σ cnps over ports",
        source="Zhu et al., SIGCOMM 2015",
    ),
    Metric(
        "rate_limited_flows",
        "rate-limited flows",
        "flows",
        f"Flows that their host limited to a rate at some time {WINDOW}.",
        zero_shown=False,
        formula="flows with limited > 0",
    ),
    Metric(
        "rate_limited_time_mean",
        "rate-limited time mean",
        "s",
        f"How long a flow was limited {WINDOW}, the mean of those that were limited at some time in it.",
        formula="Σ limited / flows with limited > 0",
    ),
    Metric(
        "rate_limit_min",
        "rate limit min",
        "bit/s",
        f"The lowest limit that any flow had {WINDOW}.",
        formula="min limit over flows",
        order_statistic=True,
    ),
    Metric(
        "input_bytes_max",
        "input memory max",
        "B",
        f"The most bytes that the memory of one input of a switch held {WINDOW}; congestion messages "
        "are not counted.",
        "lower",
        formula="max bytes over inputs",
        order_statistic=True,
    ),
    Metric(
        "input_bytes_mean",
        "input memory mean",
        "B",
        f"What the memory of one input of a switch held, mean over the time {WINDOW}, of the input with the "
        "highest.",
        "lower",
        formula="max over inputs of ∫ bytes dt / window",
    ),
]


def congested(run: RunData) -> dict[Key, Value]:
    """Messages, limits and inputs; nothing of what the scenario's switches and hosts do not have."""
    if run.window_ps[1] <= run.window_ps[0]:
        return {}
    return present(messages(run) | limits(run) | inputs(run))


def messages(run: RunData) -> dict[str, float | None]:
    """Congestion messages points and receivers; nothing where nobody makes any."""
    if not run.recorded("congestion_points"):
        return {}
    columns = run.columns("congestion_points", "cnms", "cnps", "feedback")
    cnms, cnps, feedback = (int(one.sum()) for one in columns)
    return {"cnms": cnms, "cnm_feedback_mean": feedback / cnms if cnms else None, "cnps": cnps}


def limits(run: RunData) -> dict[str, float | None]:
    """Rate limits of flows; without a row nothing is known, or no flow ever had one."""
    if not run.recorded("limited_flows"):
        return {}
    spent, lowest = run.columns("limited_flows", "limited_ps", "lowest_bps")
    some = spent > 0
    found: dict[str, float | None] = {"rate_limited_flows": int(some.sum())}
    if some.any():
        found["rate_limited_time_mean"] = float(spent[some].astype(np.float64).mean()) * PS
        found["rate_limit_min"] = float(lowest[some].min())
    return found


def inputs(run: RunData) -> dict[str, float | None]:
    """Memory of inputs; nothing where no switch has inputs."""
    if not run.recorded("inputs"):
        return {}
    start, end = run.window_ps
    most, area = run.columns("inputs", "max_bytes", "byte_ps")
    return {"input_bytes_max": int(most.max()), "input_bytes_mean": float(area.max()) / (end - start)}
