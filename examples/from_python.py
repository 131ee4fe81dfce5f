"""Run of a scenario from Python, with a line for each variant: `.venv/bin/python examples/from_python.py`."""

from pathlib import Path

import pyarrow.compute as pc

import overspill

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "incast.toml"

results = overspill.run(SCENARIO, seeds=3, sets={"traffic.burst.senders": 60})
for variant, by_seed in results.values.items():
    tails = [values["fct_p99"].value * 1e3 for values in by_seed.values()]
    flows = results.flows.filter(pc.equal(results.flows["variant"], variant))
    print(
        f"{variant:16} {flows.num_rows} flows, FCT p99 {min(tails):.2f} to {max(tails):.2f} ms over {len(tails)} seeds"
    )
