"""Queries in a network whose switches cut packets: `.venv/bin/python examples/cut_packets.py`.

Prints for every variant of `scenarios/trim.toml` the completion time of queries, the numbers of lost, cut and
returned packets, and the port that cut the most.
"""

from pathlib import Path

import pyarrow.compute as pc

import overspill

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "trim.toml"
COUNTS = ("drops", "trims", "returned")

# This sets a key of one variant: the hardware of CP's paper takes 56 ns to cut a packet.
results = overspill.run(SCENARIO, seeds=2, sets={"variants.cp.switch.overflow.cut_delay": "56ns"})
for variant, by_seed in results.values.items():
    runs = list(by_seed.values())
    counts = [f"{sum(one[name].value for one in runs):.0f} {name}" for name in COUNTS if name in runs[0]]
    print(
        f"{variant:5} QCT p99 {max(one['qct_p99'].value for one in runs) * 1e3:.2f} ms; {', '.join(counts)}"
    )
    ports = results.ports.filter(pc.equal(results.ports["variant"], variant))
    if "trims" in runs[0]:
        most = ports.sort_by([("trimmed", "descending")]).slice(0, 1).to_pylist()[0]
        print(f"      most at port {most['port']} of node {most['node']}: {most['trimmed']} packets")
