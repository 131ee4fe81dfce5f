"""A network as it is drawn: nodes and links."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A node of the network."""

    name: str
    tier: str
    host: bool


@dataclass(frozen=True)
class Link:
    """A link between two nodes, by their numbers; the delay is unknown where only ports are told.

    Rate and delay are from `a` to `b`, `back` the other way, if they differ.
    """

    a: int
    b: int
    rate_bps: float
    delay_ps: int | None
    back: tuple[float, int] | None = None


@dataclass(frozen=True)
class Network:
    """Nodes and links."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
