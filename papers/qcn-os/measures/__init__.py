"""QCN-OS's figures, equations, table and claims, by their ids.

`schemes`: table I. `sampling`: figures 3 to 7. `fabric`: figures 8 to 11. `congestion_points`: equations,
and a hotspot at an output. `workloads`: claims of the text.
"""

from . import congestion_points, fabric, sampling, schemes, workloads

FIGURES = sampling.MEASURES | fabric.MEASURES

MEASURES = schemes.MEASURES | congestion_points.MEASURES | FIGURES | workloads.MEASURES
