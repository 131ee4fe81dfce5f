"""Flows that QCN notifies at an input, and the effect on a victim: `.venv/bin/python examples/qcn.py`."""

from pathlib import Path

import overspill
from overspill import plots

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "qcn.toml"


def main(duration: str = "100ms") -> None:
    """Prints a line for each variant, and draws the rates at which flows send."""
    results = overspill.run(SCENARIO, sets={"duration": duration})
    for variant, by_seed in results.values.items():
        (values,) = by_seed.values()
        victim, culprit = (count_cnms(values, name) for name in ("victim", "culprit"))
        print(
            f"{variant:10} victim {values['goodput[traffic=victim]'].value / 1e9:4.2f} Gbit/s, "
            f"told {victim:3} times; culprit {values['goodput[traffic=culprit]'].value / 1e9:4.2f} Gbit/s, "
            f"told {culprit:3} times; {int(values['pauses'].value):4} pauses"
        )
    figure = plots.sent_rates(results)
    if figure is not None:
        out = Path("out")
        out.mkdir(exist_ok=True)
        figure.savefig(out / "sent_rates.png")
        print(f"figure: {out / 'sent_rates.png'}")


def count_cnms(values: dict[overspill.Key, overspill.Value], workload: str) -> int:
    """Returns the number of CNMs that switches sent to the source of a workload; PFC alone sends none."""
    name = f"cnms[traffic={workload}]"
    return int(values[name].value) if name in values else 0


if __name__ == "__main__":
    main()
