"""Runs that `make wheel` profiles: the compiler then optimizes for the branches that these runs take.

They are example scenarios, which together use every kind of transport and most mechanisms. A mechanism
that none of them uses is compiled for size, so it needs an example scenario.
"""

import sys
import tempfile
from pathlib import Path

import overspill

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"
# Scenarios with a short run of each; `web_search` alone would take most of the time.
OMITTED_SCENARIOS = {"web_search"}


def main() -> None:
    """Runs all example scenarios but the longest with one seed, with the tables that a usual run records."""
    for path in sorted(SCENARIOS.glob("*.toml")):
        if path.stem in OMITTED_SCENARIOS:
            continue
        with tempfile.TemporaryDirectory() as folder:
            results = overspill.run(path, out=Path(folder) / "out")
        print(f"{path.name}: {len(results.runs)} runs", file=sys.stderr)


if __name__ == "__main__":
    main()
