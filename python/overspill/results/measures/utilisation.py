"""Utilisation of links, over the window and bin by bin."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from overspill.results.measures.declare import SECONDS_PER_PS, Metric, without_missing_values
from overspill.results.metric_key import NO_LABEL, Key, Label
from overspill.results.rundata import RunData
from overspill.stats.quantiles import Value

HOT_LINK_UTILISATION = 0.9
INTERPACKET_BYTES = 20  # bytes of preamble and gap beside a frame on Ethernet
LINK_NOTE = (
    "A link is one direction of a cable. Covers all links, and those between switches alone "
    "(`of=switches`). Wire bits are those of frames whose transmission began in that time, including "
    "preamble and gap."
)
DIBS_SOURCE = "DIBS, figure 4"
WINDOW_FORMULA = "uₗ = wire bits of l in the window / (rate·window)"
BIN_FORMULA = "uₗᵦ = wire bits of l in bin b / (rate·bin)"

METRICS = [
    Metric(
        "link_utilisation_mean",
        "link utilisation mean",
        "1",
        f"Mean utilisation of links in the measurement window. {LINK_NOTE}",
        formula=f"Σ uₗ / links; {WINDOW_FORMULA}",
    ),
    Metric(
        "link_utilisation_max",
        "link utilisation max",
        "1",
        f"Utilisation of the busiest link in the measurement window. {LINK_NOTE}",
        formula=f"max uₗ; {WINDOW_FORMULA}",
        order_statistic=True,
    ),
    Metric(
        "hot_links",
        "hot links over the window",
        "1",
        f"Share of links whose utilisation over the whole measurement window is at least 90%. {LINK_NOTE}",
        zero_shown=False,
        formula=f"links with uₗ ≥ 0.9 / links; {WINDOW_FORMULA}",
    ),
    Metric(
        "hot_link_share",
        "hot links",
        "1",
        "Mean share of links whose utilisation in a bin (`measure.bin`) is at least 90%, over the whole "
        f"bins in the measurement window. Needs `measure.links`. {LINK_NOTE}",
        formula=f"pairs (l, b) with uₗᵦ ≥ 0.9 / (links·bins); {BIN_FORMULA}",
        source=DIBS_SOURCE,
    ),
    Metric(
        "hot_link_share_max",
        "hot links, most in a bin",
        "1",
        "Largest share of links whose utilisation in a bin (`measure.bin`) is at least 90%, over the "
        f"bins in the measurement window. Needs `measure.links`. {LINK_NOTE}",
        formula=f"max over b of links with uₗᵦ ≥ 0.9 / links; {BIN_FORMULA}",
        source=DIBS_SOURCE,
        order_statistic=True,
    ),
]


@dataclass(frozen=True)
class DirectedLinks:
    """Links of a run, each direction separately, identified by the sending port."""

    node: np.ndarray
    port: np.ndarray
    rate: np.ndarray
    between_switches: np.ndarray
    window_bits: np.ndarray

    def links_by_label(self) -> Iterator[tuple[Label, np.ndarray]]:
        """Yields the links that a metric covers: all, and those between switches if there are both kinds."""
        yield NO_LABEL, np.ones(len(self.node), bool)
        if self.between_switches.any() and not self.between_switches.all():
            yield {"of": "switches"}, self.between_switches


def read_links(run: RunData) -> DirectedLinks | None:
    """Returns the links of a run, each direction separately; `None` if ports were not counted."""
    if not {"sent_bytes", "peer"} <= set(run.column_names("ports")):
        return None
    names = ("node", "port", "peer", "rate_bps", "sent", "sent_bytes")
    node, port, peer, rate, sent, size = run.columns("ports", *names)
    if not len(node):
        return None
    frames, size = sent.astype(np.float64), size.astype(np.float64)
    bits = (size + frames * wire_overhead(run, node, sent, size)) * 8
    return DirectedLinks(node, port, rate, ~run.is_host[node] & ~run.is_host[peer], bits)


def wire_overhead(run: RunData, node: np.ndarray, sent: np.ndarray, size: np.ndarray) -> float:
    """Returns the wire overhead of a frame in bytes, from hosts' counts; that of Ethernet without counts."""
    hosts = run.is_host[node]
    frames, wire = float(sent[hosts].sum()), run.summary.get("wire_bits", {}).get("host")
    if not frames or not wire or wire.get("bits") is None:
        return INTERPACKET_BYTES
    return max(0.0, float(round((wire["bits"] / 8 - float(size[hosts].sum())) / frames)))


def measure_links(run: RunData) -> dict[Key, Value]:
    """Measures utilisation and hot links over the window, and by bin if links were recorded."""
    found: dict[str, float | None] = {}
    known = read_links(run)
    start, end = run.window_ps
    if known is None or end <= start:
        return {}
    use = known.window_bits / (known.rate * (end - start) * SECONDS_PER_PS)
    hot = find_hot_links_by_bin(run, known)
    for label, which in known.links_by_label():
        found[Key("link_utilisation_mean", **label)] = float(use[which].mean())
        found[Key("link_utilisation_max", **label)] = float(use[which].max())
        found[Key("hot_links", **label)] = float((use[which] >= HOT_LINK_UTILISATION).mean())
        if hot is not None:
            share = hot[:, which].mean(axis=1)
            found[Key("hot_link_share", **label)] = float(share.mean())
            found[Key("hot_link_share_max", **label)] = float(share.max())
    return without_missing_values(found)


def find_hot_links_by_bin(run: RunData, known: DirectedLinks) -> np.ndarray | None:
    """Returns true for hot links, by whole bin of the window and link; `None` if links were not recorded."""
    width = int(run.summary["bin_ps"])
    start, end = run.window_ps
    first, last = -(-start // width), end // width
    if not run.recorded("links") or last <= first:
        return None
    hot = np.zeros((last - first, len(known.node)), bool)
    index = known.node.astype(np.uint64) << np.uint64(16) | known.port.astype(np.uint64)
    order = np.argsort(index)
    for batch in run.batches("links", ("bin", "node", "port", "bits")):
        bins, node, port, bits = (
            np.asarray(column.to_numpy(zero_copy_only=False)) for column in batch.columns
        )
        keep = (bins >= first) & (bins < last)
        key = node[keep].astype(np.uint64) << np.uint64(16) | port[keep].astype(np.uint64)
        link = order[np.searchsorted(index, key, sorter=order)]
        full = known.rate[link] * width * SECONDS_PER_PS
        hot[bins[keep].astype(np.int64) - first, link] = bits[keep] >= HOT_LINK_UTILISATION * full
    return hot
