"""Effect of held ACKs on a queue and on queries: `.venv/bin/python examples/abq.py`."""

from pathlib import Path

import overspill
from overspill import plots

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "abq.toml"


def main(senders: int = 40) -> None:
    """Prints a line for each variant, and draws the port that held the most ACKs."""
    results = overspill.run(SCENARIO, sets={"traffic.query.senders": senders})
    for variant, by_seed in results.values.items():
        (values,) = by_seed.values()
        held = int(values["held_acks"].value) if "held_acks" in values else 0
        waited = values["hold_time_mean"].value * 1e6 if held else 0.0
        print(
            f"{variant:10} {int(values['drops'].value):4} drops, QCT p99 {values['qct_p99'].value * 1e3:6.2f} ms, "
            f"{held:5} ACKs held for {waited:3.0f} us each"
        )
    figure = plots.held_acks(results)
    if figure is not None:
        out = Path("out")
        out.mkdir(exist_ok=True)
        figure.savefig(out / "held_acks.png")
        print(f"figure: {out / 'held_acks.png'}")


if __name__ == "__main__":
    main()
