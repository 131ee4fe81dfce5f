"""`make bench-linux`: incasts on this machine's own TCP, and the same starts replayed in Overspill."""

import argparse
import json
import platform
import sys
from dataclasses import replace
from fnmatch import fnmatch

from rich.console import Console

import cases
import measured
import netns
import ours
import page
import scatter
from cases import Case, Plan
from outcome import Broken
from overspill import OverspillError
from verdict import Row, compare, document

RESULT = measured.ROOT / "out" / "bench-linux.json"
UNAVAILABLE, MISSED = 2, 1
console = Console(width=None if sys.stdout.isatty() else 120)


def tell(line: str) -> None:
    """Progress, one line at a time."""
    console.print(line, style="dim", highlight=False, markup=False)


def show(row: Row) -> None:
    """A case in a line."""
    parts = []
    for name, each in row.differences.items():
        mark = "" if each.holds else " !"
        apart = f"{each.apart:+.0%}" if each.apart != float("inf") else "+∞"
        parts.append(f"{name} {each.kernel:.5g} ± {each.half_width:.2g} : {each.ours:.5g} ({apart}){mark}")
    console.print(f"{row.case.name:44}" + "; ".join(parts), highlight=False, markup=False, soft_wrap=True)


def one(case: Case, plan: Plan, settings: dict[str, str], scatter_ns: int) -> Row:
    """A case on both sides: each run of the kernel is replayed some times, since chance is ours to repeat."""
    kernel = [outcome for outcome, _ in measured.measure(case, plan, settings, tell)]
    replayed = [
        ours.replay(case, outcome, ours.Chance(scatter_ns, 1 + n * plan.replays + again))
        for n, outcome in enumerate(kernel)
        for again in range(plan.replays)
    ]
    row = compare(case, kernel, replayed, plan.tolerance)
    show(row)
    return row


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", default="*", help="cases whose name matches this pattern, such as 'cubic-n40-*'"
    )
    parser.add_argument("--repeats", type=int, help="runs of each case, instead of what cases.toml says")
    parser.add_argument("--sysctl", action="append", default=[], metavar="NAME=VALUE",
                        help="of net.ipv4, in the kernel's runs: what explains a difference")  # fmt: skip
    parser.add_argument(
        "--publish", action="store_true", help="write the tables of docs/internals/linux.md anew"
    )
    return parser.parse_args()


def bench(asked: argparse.Namespace) -> int:
    """All that was asked for; the exit status."""
    plan = cases.read()
    chosen = [case for case in plan.cases if fnmatch(case.name, asked.only)]
    if not chosen:
        raise Broken(f"no case matches {asked.only!r}; a name is like {plan.cases[0].name}")
    plan = replace(plan, repeats=asked.repeats or plan.repeats)
    settings = dict(pair.split("=", 1) for pair in asked.sysctl)
    netns.check()
    with netns.deep_backlog(), netns.prompt_interrupts():
        late = scatter.probe()
        tell(f"hosts are late by {late['scatter_ns'] / 1000:.1f} us on average")
        rows = [one(case, plan, settings, late["scatter_ns"]) for case in chosen]
    RESULT.parent.mkdir(exist_ok=True)
    told = {
        "kernel": platform.release().partition("-")[0],
        "repeats": plan.repeats,
        "replays": plan.replays,
        "scatter": late,
        "sysctls": netns.SYSCTLS | settings,
        "congestion_controls_left_out": page.left_out(),
        "rows": [document(row) for row in rows],
    }
    RESULT.write_text(json.dumps(told, indent=1, allow_nan=False) + "\n")
    missed = [row for row in rows if not row.holds]
    console.print(
        f"{len(rows) - len(missed)} of {len(rows)} cases are within the tolerance; written to {RESULT}"
    )
    if asked.publish:
        page.publish(told)
    return MISSED if missed else 0


def main() -> int:
    """The exit status: 2 where this machine has no namespaces, 1 where a case is out of tolerance."""
    try:
        return bench(arguments())
    except netns.Unavailable as error:
        console.print(
            f"bench-linux: network namespaces cannot be had here: {error}", highlight=False, markup=False
        )
        console.print("It needs Linux, root (or CAP_NET_ADMIN and CAP_SYS_ADMIN), and iproute2.")
        return UNAVAILABLE
    except (Broken, OverspillError, ValueError) as error:
        console.print(f"bench-linux: {error}", style="bold", highlight=False, markup=False)
        return MISSED
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
