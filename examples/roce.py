"""RoCE storage together with TCP, in one class and in two: `.venv/bin/python examples/roce.py`."""

from pathlib import Path

import overspill
from overspill import plots

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "roce_tcp.toml"


def main(duration: str = "20ms") -> None:
    """Prints a line for each variant, and draws the distribution of the web flows' completion times."""
    spans = ("duration", "traffic.web.stop", "traffic.storage.stop")
    results = overspill.run(SCENARIO, sets=dict.fromkeys(spans, duration))
    for variant, by_seed in results.values.items():
        (values,) = by_seed.values()
        writes = values["qct_mean[traffic=storage]"].value * 1e3
        short = values["fct_p99[size=0-100KB]"].value * 1e6
        print(
            f"{variant:10} writes {writes:5.2f} ms; short flows {short:4.0f} us (p99); "
            f"{int(values['pauses'].value):4} pauses"
        )
    figure = plots.distribution(results, "fct", 1)
    if figure is not None:
        out = Path("out")
        out.mkdir(exist_ok=True)
        figure.savefig(out / "roce_fct.png")
        print(f"figure: {out / 'roce_fct.png'}")


if __name__ == "__main__":
    main()
