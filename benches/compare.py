"""The tree as it is against an earlier revision, in turns: `make bench BEFORE=rev`.

The revision is checked out and compiled under out/before, with a target directory of its own. The command
fails if a run has certainly become slower: if the interval of its ratio, speed now divided by speed before,
ends below 0.98.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from alternating_rounds import (
    MIN_ROUNDS,
    ROOT,
    ROUNDS,
    FailedMeasurement,
    Program,
    compile_bench,
    describe_load,
    measure_alternately,
)

CASES = ("k8_1g", "k16_1g", "k8_100g", "k16_100g")
CLONE_FOLDER = ROOT / "out" / "before"
RESULT = ROOT / "out" / "bench-before.json"
# A run fails if the upper end of the interval of its speed ratio is below this limit.
MIN_SPEED_RATIO = 0.98
# A comparison with fewer rounds is reported as a trial.
MIN_ROUNDS_FOR_VERDICT = 9


def git(*words: str, at: Path = ROOT) -> str:
    """Returns the output of a git command."""
    done = subprocess.run(["git", *words], cwd=at, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FailedMeasurement(f"`git {' '.join(words)}` failed: {done.stderr.strip()}")
    return done.stdout.strip()


def commit_hash(rev: str) -> str:
    """Returns the hash of the commit that a revision names."""
    try:
        return git("rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}")
    except FailedMeasurement:
        raise FailedMeasurement(
            f"BEFORE={rev}: no such revision; expected a commit, a tag or a branch"
        ) from None


def check_out_commit(sha: str) -> Path:
    """Returns the tree of a commit, in a clone that shares this repository's objects."""
    tree = CLONE_FOLDER / "tree"
    checkout = ("checkout", "--quiet", "--force", "--detach", sha)
    if (tree / ".git").exists():
        try:
            git(*checkout, at=tree)
            return tree
        except FailedMeasurement:
            pass  # The clone is unusable, for example because the repository has moved: clone it again.
    shutil.rmtree(tree, ignore_errors=True)
    CLONE_FOLDER.mkdir(parents=True, exist_ok=True)
    git("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(tree))
    git(*checkout, at=tree)
    return tree


def compare_builds(now: Path, before: Path, case: str, rounds: int) -> dict[str, Any]:
    """Compares the two builds on one case, in alternating rounds."""
    turns = measure_alternately(Program(now, case), Program(before, case), rounds)
    ratio = turns.ratio
    return {
        "name": case,
        "ratio": ratio.ratio,
        "low": ratio.low,
        "high": ratio.high,
        "slower": ratio.high < MIN_SPEED_RATIO,
        "same_packets": turns.same_packets,
        "now_hops_per_cpu_s": [round(speed.per_second) for speed in turns.one],
        "before_hops_per_cpu_s": [round(speed.per_second) for speed in turns.other],
    }


def print_row(run: dict[str, Any]) -> None:
    """Prints the table row of a case."""
    notes = ["SLOWER"] if run["slower"] else []
    notes += [] if run["same_packets"] else ["other packets than before"]
    best = (max(run[f"{state}_hops_per_cpu_s"]) / 1e6 for state in ("before", "now"))
    print(
        f"{run['name']:<16}" + "".join(f" {speed:>13.2f}" for speed in best),
        f"{run['ratio']:>7.3f} {run['low']:>7.3f} {run['high']:>7.3f}  {', '.join(notes)}".rstrip(),
        flush=True,
    )


def compare_cases(
    now: Path, before: Path, rounds: int, cases: tuple[str, ...] = CASES
) -> list[dict[str, Any]]:
    """Compares all cases and prints each when it is done; printed speeds are those of the fastest rounds."""
    print(f"{'run':<16} {'before, M/s':>13} {'now, M/s':>13} {'ratio':>7} {'low':>7} {'high':>7}")
    runs = []
    for case in cases:
        runs.append(compare_builds(now, before, case, rounds))
        print_row(runs[-1])
    return runs


def exit_status(runs: list[dict[str, Any]]) -> int:
    """Returns the exit status: 1 if any case became slower."""
    slower = [run["name"] for run in runs if run["slower"]]
    if slower:
        print(
            f"slower than before, the interval ends below {MIN_SPEED_RATIO}: {', '.join(slower)}",
            file=sys.stderr,
        )
    return 1 if slower else 0


def compare_revision(rev: str, rounds: int) -> int:
    """Compiles both revisions, compares them and writes the result."""
    sha = commit_hash(rev)
    changed = bool(git("status", "--porcelain", "--untracked-files=no"))
    here = commit_hash("HEAD") + (" and changes" if changed else "")
    print(f"Compiling {rev} ({sha[:10]}) under {CLONE_FOLDER.relative_to(ROOT)}, and this tree", flush=True)
    before, now = compile_bench(check_out_commit(sha), CLONE_FOLDER / "target"), compile_bench(ROOT)
    load = describe_load()
    runs = compare_cases(now, before, rounds)
    document = {
        "before": {"rev": rev, "commit": sha},
        "now": here,
        "rounds": rounds,
        "trial": rounds < MIN_ROUNDS_FOR_VERDICT,
        "time": "CPU time of the process, user and system",
        "limit": MIN_SPEED_RATIO,
        "load": {"before": load, "after": describe_load()},
        "runs": runs,
    }
    RESULT.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    trial = (
        f"; a trial, of fewer than {MIN_ROUNDS_FOR_VERDICT} rounds" if rounds < MIN_ROUNDS_FOR_VERDICT else ""
    )
    print(f"{rounds} rounds{trial}; machine before: {load}, after: {describe_load()}")
    print(f"written to {RESULT.relative_to(ROOT)}")
    return exit_status(runs)


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("rev", help="the revision to compare with")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    if asked.rounds < MIN_ROUNDS:
        parser.error(
            f"argument --rounds: found {asked.rounds}; expected {MIN_ROUNDS} or more, for an interval"
        )
    try:
        return compare_revision(asked.rev, asked.rounds)
    except FailedMeasurement as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
