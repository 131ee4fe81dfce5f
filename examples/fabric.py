"""Protection of a victim flow from a slow link inside a switch: `.venv/bin/python examples/fabric.py`."""

from pathlib import Path

import overspill

SCENARIO = Path(__file__).resolve().parent.parent / "scenarios" / "fabric.toml"


def main(duration: str = "80ms") -> None:
    """Prints for each variant the goodput of both flows, and the number of pauses of their adapter."""
    results = overspill.run(SCENARIO, sets={"duration": duration})
    for variant, by_seed in results.values.items():
        (values,) = by_seed.values()
        victim, culprit = (values[f"goodput[traffic={name}]"].value / 1e9 for name in ("victim", "culprit"))
        print(
            f"{variant:19} victim {victim:4.2f} Gbit/s, culprit {culprit:4.2f} Gbit/s, "
            f"{int(values['pauses'].value):3} pauses"
        )


if __name__ == "__main__":
    main()
