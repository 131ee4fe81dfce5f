"""Measures the cost of tables, and of the whole command: part of `make bench`, after the whole runs.

Runs with tables, and runs by the command `overspill run` with all its input and output, are timed. Each
alternates with the same run of the core alone. `share` is its speed divided by that of the core. It is stored
in the run's row of out/bench.json, with its interval.
"""

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from turns import FEWEST, ROOT, ROUNDS, Broken, Command, Program, Timed, compiled, in_turns

RESULT = ROOT / "out" / "bench.json"
TABLES, COMMAND = "_tables", "_command"
CASES = ("k8_1g_tables", "k16_1g_tables", "k8_1g_command", "k16_1g_command")


def share(program: Path, case: str, rounds: int) -> dict[str, Any]:
    """Measures one case, with tables or through the command, against the core alone."""
    plain = Program(program, case.removesuffix(TABLES).removesuffix(COMMAND))
    if case.endswith(TABLES):
        return beside(Program(program, case), plain, rounds)
    with TemporaryDirectory() as folder:
        scenario = Path(folder) / f"{plain.case}.toml"
        scenario.write_text(plain.scenario(), encoding="utf-8")
        command = Command(scenario)
        command.speed()  # A first run, not measured: Python compiles its modules.
        return beside(command, plain, rounds)


def beside(one: Timed, plain: Program, rounds: int) -> dict[str, Any]:
    """Returns the speed of `one` as a share of the core's speed, with its interval."""
    turns = in_turns(one, plain, rounds)
    if not turns.same_packets:
        raise Broken(f"{one} and {plain.case} differ in their packet-hops")
    ratio = turns.ratio
    return {"share": ratio.ratio, "share_low": ratio.low, "share_high": ratio.high, "share_of": plain.case}


def write(found: dict[str, dict[str, Any]]) -> None:
    """Merges the shares into the rows of these cases in `out/bench.json`."""
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
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("cases", nargs="*", metavar="RUN", help=f"of {', '.join(CASES)}; all by default")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    if asked.rounds < FEWEST:
        parser.error(f"argument --rounds: found {asked.rounds}; expected {FEWEST} or more, for an interval")
    if unknown := set(asked.cases) - set(CASES):
        parser.error(f"no run {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
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
