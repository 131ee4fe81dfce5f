"""Congestion notification: messages to sources, rate limits of flows, and memory of inputs."""

import numpy as np

from overspill.results.measures.declare import SECONDS_PER_PS, Metric, without_missing_values
from overspill.results.metric_key import Key
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

WINDOW_NOTE = "in the measurement window"

METRICS = [
    Metric(
        "cnms",
        "congestion messages",
        "packets",
        f"Congestion notification messages (CNMs) that switches created {WINDOW_NOTE}; also by workload of "
        "the flow that they concern, if there are several.",
        zero_shown=False,
        formula="Σ cnms over ports",
        source="IEEE 802.1Qau",
    ),
    Metric(
        "cnm_feedback_mean",
        "congestion feedback mean",
        "1",
        f"Mean of the quantized feedback of the CNMs created {WINDOW_NOTE}: 1 to 63, of which 63 is the "
        "strongest.",
        formula="Σ feedback / Σ cnms",
        source="IEEE 802.1Qau",
    ),
    Metric(
        "cnps",
        "CNPs",
        "packets",
        f"Congestion notification packets (CNPs) that receivers sent {WINDOW_NOTE} because packets arrived "
        "with ECN marks.",
        zero_shown=False,
        formula="Σ cnps over ports",
        source="Zhu et al., SIGCOMM 2015",
    ),
    Metric(
        "rate_limited_flows",
        "rate-limited flows",
        "flows",
        f"Flows with a rate limit at their host at some time {WINDOW_NOTE}.",
        zero_shown=False,
        formula="flows with limited > 0",
    ),
    Metric(
        "rate_limited_time_mean",
        "rate-limited time mean",
        "s",
        f"Mean time {WINDOW_NOTE} during which a flow had a rate limit, over the flows that had one.",
        formula="Σ limited / flows with limited > 0",
    ),
    Metric(
        "rate_limit_min",
        "rate limit min",
        "bit/s",
        f"Lowest rate limit of any flow {WINDOW_NOTE}.",
        formula="min limit over flows",
        order_statistic=True,
    ),
    Metric(
        "input_bytes_max",
        "input memory max",
        "B",
        f"Largest number of bytes in the memory of one input of a switch {WINDOW_NOTE}; congestion messages "
        "do not count.",
        "lower",
        formula="max bytes over inputs",
        order_statistic=True,
    ),
    Metric(
        "input_bytes_mean",
        "input memory mean",
        "B",
        f"Mean number of bytes over time {WINDOW_NOTE} in the memory of one input of a switch. The input "
        "with the highest mean counts.",
        "lower",
        formula="max over inputs of ∫ bytes dt / window",
    ),
]


def measure_congestion(run: RunData) -> dict[Key, Value]:
    """Measures congestion messages, rate limits and input buffers, if the scenario has them."""
    if run.window_ps[1] <= run.window_ps[0]:
        return {}
    return without_missing_values(measure_messages(run) | measure_rate_limits(run) | measure_inputs(run))


def measure_messages(run: RunData) -> dict[str, float | None]:
    """Measures the messages of congestion points and of receivers; empty if there are none."""
    if not run.recorded("congestion_points"):
        return {}
    columns = run.columns("congestion_points", "cnms", "cnps", "feedback")
    cnms, cnps, feedback = (int(one.sum()) for one in columns)
    return {"cnms": cnms, "cnm_feedback_mean": feedback / cnms if cnms else None, "cnps": cnps}


def measure_rate_limits(run: RunData) -> dict[str, float | None]:
    """Measures rate limits of flows; empty without rows, when no flow had one or none were recorded."""
    if not run.recorded("limited_flows"):
        return {}
    spent, lowest = run.columns("limited_flows", "limited_ps", "lowest_bps")
    some = spent > 0
    found: dict[str, float | None] = {"rate_limited_flows": int(some.sum())}
    if some.any():
        found["rate_limited_time_mean"] = float(spent[some].astype(np.float64).mean()) * SECONDS_PER_PS
        found["rate_limit_min"] = float(lowest[some].min())
    return found


def measure_inputs(run: RunData) -> dict[str, float | None]:
    """Measures the buffers of switch inputs; empty if no switch has any."""
    if not run.recorded("inputs"):
        return {}
    start, end = run.window_ps
    most, area = run.columns("inputs", "max_bytes", "byte_ps")
    return {"input_bytes_max": int(most.max()), "input_bytes_mean": float(area.max()) / (end - start)}
