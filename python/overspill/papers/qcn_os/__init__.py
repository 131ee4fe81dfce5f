"""QCN-OS's table, equations, figures and claims, by their ids."""

from overspill.papers.qcn_os import arrivals, fabric, laws, others, output, parameters, sampling
from overspill.papers.spec import Code

CODE = Code(
    parameters.FIGURES
    | arrivals.FIGURES
    | laws.FIGURES
    | others.FIGURES
    | sampling.FIGURES
    | output.FIGURES
    | fabric.FIGURES
)
