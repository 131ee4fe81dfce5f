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

from alternating_rounds import (
    MIN_ROUNDS,
    ROOT,
    ROUNDS,
    Command,
    FailedMeasurement,
    Program,
    TimedProgram,
    compile_bench,
    measure_alternately,
)

RESULT = ROOT / "out" / "bench.json"
TABLES_SUFFIX, COMMAND_SUFFIX = "_tables", "_command"
CASES = ("k8_1g_tables", "k16_1g_tables", "k8_1g_command", "k16_1g_command")


def measure_case_share(program: Path, case: str, rounds: int) -> dict[str, Any]:
    """Measures one case, with tables or through the command, against the core alone."""
    plain = Program(program, case.removesuffix(TABLES_SUFFIX).removesuffix(COMMAND_SUFFIX))
    if case.endswith(TABLES_SUFFIX):
        return compare_with_core(Program(program, case), plain, rounds)
    with TemporaryDirectory() as folder:
        scenario = Path(folder) / f"{plain.case}.toml"
        scenario.write_text(plain.scenario(), encoding="utf-8")
        command = Command(scenario)
        command.speed()  # A first run, not measured: Python compiles its modules.
        return compare_with_core(command, plain, rounds)


def compare_with_core(one: TimedProgram, plain: Program, rounds: int) -> dict[str, Any]:
    """Returns the speed of `one` as a share of the core's speed, with its interval."""
    turns = measure_alternately(one, plain, rounds)
    if not turns.same_packets:
        raise FailedMeasurement(f"{one} and {plain.case} differ in their packet-hops")
    ratio = turns.ratio
    return {"share": ratio.ratio, "share_low": ratio.low, "share_high": ratio.high, "share_of": plain.case}


def merge_into_results(found: dict[str, dict[str, Any]]) -> None:
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
    if asked.rounds < MIN_ROUNDS:
        parser.error(
            f"argument --rounds: found {asked.rounds}; expected {MIN_ROUNDS} or more, for an interval"
        )
    if unknown := set(asked.cases) - set(CASES):
        parser.error(f"no run {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    try:
        program = compile_bench(ROOT)
        print(f"{'run':<16} {'of':<8} {'share':>6} {'low':>6} {'high':>6}")
        found = {}
        for case in asked.cases or CASES:
            row = found[case] = measure_case_share(program, case, asked.rounds)
            numbers = " ".join(f"{row[key]:>6.3f}" for key in ("share", "share_low", "share_high"))
            print(f"{case:<16} {row['share_of']:<8} {numbers}", flush=True)
    except FailedMeasurement as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    merge_into_results(found)
    print(f"written to {RESULT.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
