"""QCN-OS's table, equations, figures and claims, by their ids."""

from overspill.papers.qcn_os import (
    arrivals,
    benefits,
    cnms,
    fabric,
    laws,
    many,
    mixed,
    others,
    output,
    parameters,
    sampling,
    subflows,
)
from overspill.papers.spec import Code

CODE = Code(
    parameters.FIGURES
    | arrivals.FIGURES
    | laws.FIGURES
    | others.FIGURES
    | sampling.FIGURES
    | output.FIGURES
    | fabric.FIGURES
    | benefits.FIGURES
    | mixed.FIGURES
    | subflows.FIGURES
    | many.FIGURES
    | cnms.FIGURES
)
