"""What the tables of an ordinary run cost: part of `make bench`, after the whole runs.

Each run with tables is timed in turns with the same run without any; `share` is its speed over the other's.
It goes into the run's row of out/bench.json, with its interval.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from turns import FEWEST, ROOT, ROUNDS, Broken, Program, compiled, in_turns

RESULT = ROOT / "out" / "bench.json"
SUFFIX = "_tables"
CASES = ("k8_1g_tables", "k16_1g_tables")


def share(program: Path, case: str, rounds: int) -> dict[str, Any]:
    """One run with tables beside the same without."""
    plain = case.removesuffix(SUFFIX)
    turns = in_turns(Program(program, case), Program(program, plain), rounds)
    if not turns.same_packets:
        raise Broken(f"{case} and {plain} differ in their packet-hops")
    ratio = turns.ratio
    return {"share": ratio.ratio, "share_low": ratio.low, "share_high": ratio.high, "share_of": plain}


def write(found: dict[str, dict[str, Any]]) -> None:
    """Into the rows of these runs."""
    document = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {"runs": []}
    for name, values in found.items():
        rows = [row for row in document["runs"] if row["name"] == name]
        if not rows:
            rows = [{"name": name}]
            document["runs"] += rows
        rows[0].update(values)
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def main() -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("cases", nargs="*", metavar="RUN", help=f"of {', '.join(CASES)}; all by default")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    if asked.rounds < FEWEST:
        parser.error(f"argument --rounds: found {asked.rounds}; expected {FEWEST} or more, for an interval")
    if unknown := set(asked.cases) - set(CASES):
        parser.error(f"no run {', '.join(sorted(unknown))} with tables; there are {', '.join(CASES)}")
    try:
        program = compiled(ROOT)
        print(f"{'run':<16} {'of':<8} {'share':>6} {'low':>6} {'high':>6}")
        found = {}
        for case in asked.cases or CASES:
            row = found[case] = share(program, case, asked.rounds)
            numbers = " ".join(f"{row[key]:>6.3f}" for key in ("share", "share_low", "share_high"))
            print(f"{case:<16} {row['share_of']:<8} {numbers}", flush=True)
    except Broken as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    write(found)
    print(f"written to {RESULT.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
