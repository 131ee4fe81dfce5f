"""Network to draw, as a graph of nodes and links."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """Node of a drawn network."""

    name: str
    tier: str
    is_host: bool


@dataclass(frozen=True)
class Link:
    """Link between two nodes, given by their numbers; the delay is `None` if only ports are known.

    Rate and delay are from `a` to `b`; `opposite_direction` has those of the other direction if they differ.
    """

    a: int
    b: int
    rate_bps: float
    delay_ps: int | None
    opposite_direction: tuple[float, int] | None = None


@dataclass(frozen=True)
class Network:
    """Nodes and links of a network."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
