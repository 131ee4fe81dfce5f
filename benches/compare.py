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

from turns import FEWEST, ROOT, ROUNDS, Broken, Program, compiled, in_turns, machine

CASES = ("k8_1g", "k16_1g", "k8_100g", "k16_100g")
PLACE = ROOT / "out" / "before"
RESULT = ROOT / "out" / "bench-before.json"
# A run fails if the upper end of the interval of its speed ratio is below this limit.
LIMIT = 0.98
# A comparison with fewer rounds is reported as a trial.
ENOUGH = 9


def git(*words: str, at: Path = ROOT) -> str:
    """Returns the output of a git command."""
    done = subprocess.run(["git", *words], cwd=at, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Broken(f"`git {' '.join(words)}` failed: {done.stderr.strip()}")
    return done.stdout.strip()


def commit(rev: str) -> str:
    """Returns the hash of the commit that a revision names."""
    try:
        return git("rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}")
    except Broken:
        raise Broken(f"BEFORE={rev}: no such revision; expected a commit, a tag or a branch") from None


def checked_out(sha: str) -> Path:
    """Returns the tree of a commit, in a clone that shares this repository's objects."""
    tree = PLACE / "tree"
    checkout = ("checkout", "--quiet", "--force", "--detach", sha)
    if (tree / ".git").exists():
        try:
            git(*checkout, at=tree)
            return tree
        except Broken:
            pass  # The clone is unusable, for example because the repository has moved: clone it again.
    shutil.rmtree(tree, ignore_errors=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    git("clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(tree))
    git(*checkout, at=tree)
    return tree


def compared(now: Path, before: Path, case: str, rounds: int) -> dict[str, Any]:
    """Compares the two builds on one case, in alternating rounds."""
    turns = in_turns(Program(now, case), Program(before, case), rounds)
    ratio = turns.ratio
    return {
        "name": case,
        "ratio": ratio.ratio,
        "low": ratio.low,
        "high": ratio.high,
        "slower": ratio.high < LIMIT,
        "same_packets": turns.same_packets,
        "now_hops_per_cpu_s": [round(speed.per_second) for speed in turns.one],
        "before_hops_per_cpu_s": [round(speed.per_second) for speed in turns.other],
    }


def show(run: dict[str, Any]) -> None:
    """Prints the table row of a case."""
    notes = ["SLOWER"] if run["slower"] else []
    notes += [] if run["same_packets"] else ["other packets than before"]
    best = (max(run[f"{state}_hops_per_cpu_s"]) / 1e6 for state in ("before", "now"))
    print(
        f"{run['name']:<16}" + "".join(f" {speed:>13.2f}" for speed in best),
        f"{run['ratio']:>7.3f} {run['low']:>7.3f} {run['high']:>7.3f}  {', '.join(notes)}".rstrip(),
        flush=True,
    )


def compare(now: Path, before: Path, rounds: int, cases: tuple[str, ...] = CASES) -> list[dict[str, Any]]:
    """Compares all cases and prints each when it is done; printed speeds are those of the fastest rounds."""
    print(f"{'run':<16} {'before, M/s':>13} {'now, M/s':>13} {'ratio':>7} {'low':>7} {'high':>7}")
    runs = []
    for case in cases:
        runs.append(compared(now, before, case, rounds))
        show(runs[-1])
    return runs


def verdict(runs: list[dict[str, Any]]) -> int:
    """Returns the exit status: 1 if any case became slower."""
    slower = [run["name"] for run in runs if run["slower"]]
    if slower:
        print(f"slower than before, the interval ends below {LIMIT}: {', '.join(slower)}", file=sys.stderr)
    return 1 if slower else 0


def measure(rev: str, rounds: int) -> int:
    """Compiles both revisions, compares them and writes the result."""
    sha = commit(rev)
    changed = bool(git("status", "--porcelain", "--untracked-files=no"))
    here = commit("HEAD") + (" and changes" if changed else "")
    print(f"Compiling {rev} ({sha[:10]}) under {PLACE.relative_to(ROOT)}, and this tree", flush=True)
    before, now = compiled(checked_out(sha), PLACE / "target"), compiled(ROOT)
    load = machine()
    runs = compare(now, before, rounds)
    document = {
        "before": {"rev": rev, "commit": sha},
        "now": here,
        "rounds": rounds,
        "trial": rounds < ENOUGH,
        "time": "CPU time of the process, user and system",
        "limit": LIMIT,
        "load": {"before": load, "after": machine()},
        "runs": runs,
    }
    RESULT.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    trial = f"; a trial, of fewer than {ENOUGH} rounds" if rounds < ENOUGH else ""
    print(f"{rounds} rounds{trial}; machine before: {load}, after: {machine()}")
    print(f"written to {RESULT.relative_to(ROOT)}")
    return verdict(runs)


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("rev", help="the revision to compare with")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    if asked.rounds < FEWEST:
        parser.error(f"argument --rounds: found {asked.rounds}; expected {FEWEST} or more, for an interval")
    try:
        return measure(asked.rev, asked.rounds)
    except Broken as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
