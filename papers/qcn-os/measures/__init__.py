"""QCN-OS's figures, equations, table and claims, by their ids."""

from . import congestion_points, fabric, sampling, schemes, workloads

FIGURES = sampling.MEASURES | fabric.MEASURES

MEASURES = schemes.MEASURES | congestion_points.MEASURES | FIGURES | workloads.MEASURES
