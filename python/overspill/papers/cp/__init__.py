"""CP's figures, tables and claims, by their ids."""

from collections.abc import Iterator

from overspill.papers.cp import (
    beside,
    bottlenecks,
    claims,
    incast,
    out_of_order,
    outcast,
    realistic,
    slow_flow,
)
from overspill.papers.cp.schemes import Sweeps
from overspill.papers.spec import Code, Figure, Measured


def besides(sweeps: Sweeps) -> Iterator[Measured]:
    """Section 6.2's claims that no figure shows, of one bottleneck and of two."""
    yield from outcast.rto_alike(sweeps)
    yield from bottlenecks.besides(sweeps)


CODE = Code(
    claims.FIGURES
    | incast.FIGURES
    | slow_flow.FIGURES
    | outcast.FIGURES
    | bottlenecks.FIGURES
    | {"sec6.2": Figure(besides)}
    | beside.FIGURES
    | out_of_order.FIGURES
    | realistic.FIGURES
)
