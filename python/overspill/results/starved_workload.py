"""Starved flows, as a run's summary keeps them and as warnings name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from overspill.results.rundata import RunData


@dataclass(frozen=True)
class StarvedWorkload:
    """Starved flows of one workload in one run."""

    traffic: str
    flows: int  # all flows of the workload
    starved: int
    share: float  # largest share that a starved flow got, of the mean of its peers
    kind: str = "window"  # kind of sender: `window`, `raw`; `stalled`, `early`, `unfinished` (queue pairs)
    worst: str = ""  # the flow that got least, in words


def name_flow(run: RunData, flows: Mapping[str, np.ndarray], place: int) -> str:
    """Returns hosts and number of a flow: `h0 -> h2 (flow 1)`."""
    ends = " -> ".join(run.node_name(int(flows[end][place])) for end in ("src", "dst"))
    return f"{ends} (flow {int(flows['flow'][place])})"
