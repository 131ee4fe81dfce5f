"""`make bench-linux`: incasts on this machine's own TCP, and the same starts replayed in Overspill."""

import argparse
import json
import platform
import sys
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from typing import Any

from rich.console import Console

import cases
import host_delays
import kernel_runs
import netns
import page
import replay
from cases import Case, Plan
from host_delays import HostDelays
from kernel_runs import KernelSetup
from outcome import Outcome, UnusableRun
from overspill import OverspillError
from placement import PlacementKind, choose_placement
from verdict import Row, compare_case, row_document

RESULT = kernel_runs.ROOT / "out" / "bench-linux.json"
EXIT_UNAVAILABLE, EXIT_MISSED = 2, 1
console = Console(width=None if sys.stdout.isatty() else 120)


def print_progress(line: str) -> None:
    """Prints a line of progress."""
    console.print(line, style="dim", highlight=False, markup=False)


def print_row(row: Row, which: str = "") -> None:
    """Prints the differences of one case in one line."""
    parts = []
    for name, each in row.differences.items():
        mark = "" if each.holds else " !"
        apart = f"{each.relative_difference:+.0%}" if each.relative_difference != float("inf") else "+∞"
        low, high = each.interval
        parts.append(f"{name} {each.kernel:.4g} ({low:.4g} to {high:.4g}) : {each.ours:.4g} ({apart}){mark}")
    console.print(
        f"{row.case.name + which:44}" + "; ".join(parts), highlight=False, markup=False, soft_wrap=True
    )


@dataclass(frozen=True)
class Bench:
    """Plan, kernel setup and host delays shared by all cases."""

    plan: Plan
    setup: KernelSetup
    host_delays: HostDelays

    def run_on_kernel(self, case: Case, repeats: range) -> list[Outcome]:
        """Runs a case on the kernel and returns the outcomes."""
        return [
            outcome for outcome, _ in kernel_runs.measure_repeats(case, repeats, self.setup, print_progress)
        ]

    def measure_row(self, case: Case, repeats: range) -> Row:
        """Measures a case on both sides.

        Each run of the kernel is replayed several times, since Overspill draws the delays of hosts at random.
        """
        kernel = self.run_on_kernel(case, repeats)
        replayed = [
            replay.replay_run(
                case, outcome, replay.ReplayRandomness(self.host_delays, 1 + n * self.plan.replays + again)
            )
            for n, outcome in zip(repeats, kernel, strict=True)
            for again in range(self.plan.replays)
        ]
        return compare_case(case, kernel, replayed, self.plan.tolerance)

    def case(self, case: Case) -> Row:
        """Measures a case as planned, and repeats it with further runs if the first are out of tolerance."""
        first, last = self.plan.repeats, self.plan.repeats + self.plan.further_repeats
        row = self.measure_row(case, range(first))
        print_row(row)
        if row.holds or first == last:
            return row
        others = range(first, last)
        further = self.measure_row(case, others)
        print_row(further, f", {last - first} others")
        kernel_repeat = compare_case(
            case,
            self.run_on_kernel(case, others),
            self.run_on_kernel(case, range(first)),
            self.plan.tolerance,
        )
        row = replace(row, further=further, kernel_repeat=kernel_repeat)
        return row if row.passes else replace(row, without=self.measure_without_mechanisms(case))

    def measure_without_mechanisms(self, case: Case) -> dict[str, Row]:
        """Compares the kernel's usual runs with runs without one mechanism, for each mechanism."""
        first, last = self.plan.repeats, self.plan.repeats + self.plan.further_repeats
        usual, rows = self.run_on_kernel(case, range(first, last)), {}
        for name in page.MECHANISM_SYSCTLS:
            setup = replace(self.setup, settings=self.setup.settings | {name: "0"})
            off = replace(self, setup=setup).run_on_kernel(case, range(self.plan.repeats))
            rows[name] = compare_case(case, off, usual, self.plan.tolerance)
        return rows


def parse_arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", default="*", help="cases whose name matches this pattern, such as 'cubic-n40-*'"
    )
    parser.add_argument(
        "--repeats", type=int, help="runs of each case, and no further ones, instead of what cases.toml says"
    )
    parser.add_argument("--sysctl", action="append", default=[], metavar="NAME=VALUE",
                        help="of net.ipv4, in the kernel's runs: what explains a difference")  # fmt: skip
    parser.add_argument("--together", action="store_true",
                        help="frames are forwarded by the processor that has the hosts")  # fmt: skip
    parser.add_argument(
        "--publish", action="store_true", help="write the tables of docs/internals/linux.md anew"
    )
    return parser.parse_args()


def results_document(bench: Bench, rows: list[Row]) -> dict[str, Any]:
    """Contents of `out/bench-linux.json`."""
    return {
        "kernel": platform.release().partition("-")[0],
        "placement": bench.setup.placement.kind,
        "repeats": bench.plan.repeats,
        "replays": bench.plan.replays,
        "further": bench.plan.further_repeats,
        "late": asdict(bench.host_delays),
        "sysctls": netns.SYSCTLS | bench.setup.settings,
        "congestion_controls_left_out": page.missing_controls(),
        "rows": [row_document(row) for row in rows],
    }


def run_bench(asked: argparse.Namespace) -> int:
    """Runs the chosen cases and returns the exit status."""
    plan = cases.read_plan()
    chosen = [case for case in plan.cases if fnmatch(case.name, asked.only)]
    if not chosen:
        raise UnusableRun(f"no case matches {asked.only!r}; a name is like {plan.cases[0].name}")
    if asked.repeats:
        plan = replace(plan, repeats=asked.repeats, further_repeats=0)
    settings = dict(pair.split("=", 1) for pair in asked.sysctl)
    netns.check_availability()
    placement = choose_placement(PlacementKind.TOGETHER if asked.together else PlacementKind.APART)
    with netns.enlarged_backlog(), netns.real_time_ksoftirqd():
        late = host_delays.measure_host_delays(placement)
        print_progress(page.describe_host_delays(asdict(late)))
        all_of_it = Bench(plan, KernelSetup(placement, plan.spread_us, settings), late)
        rows = [all_of_it.case(case) for case in chosen]
    result = results_document(all_of_it, rows)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
    missed = [row for row in rows if not row.passes]
    undecided = sum(row.is_undecided for row in rows)
    console.print(
        f"{len(rows) - len(missed) - undecided} of {len(rows)} cases are within the tolerance, "
        f"{undecided} undecided and {len(missed)} missed; written to {RESULT}"
    )
    for row in missed:
        for name, switches in row.decisive_mechanisms.items():
            hangs = f"hangs on {', '.join(switches)}" if switches else "hangs on none of the mechanisms"
            console.print(f"{row.case.name}: {name} {hangs}", highlight=False, markup=False)
    if asked.publish:
        page.publish(result)
    return EXIT_MISSED if any(not all(row.decisive_mechanisms.values()) for row in missed) else 0


def main() -> int:
    """Returns 2 without network namespaces here, 1 if a missed case depends on no mechanism, else 0."""
    try:
        return run_bench(parse_arguments())
    except netns.Unavailable as error:
        console.print(
            f"bench-linux: network namespaces cannot be had here: {error}", highlight=False, markup=False
        )
        console.print("It needs Linux, root (or CAP_NET_ADMIN and CAP_SYS_ADMIN), and iproute2.")
        return EXIT_UNAVAILABLE
    except (UnusableRun, OverspillError, ValueError) as error:
        console.print(f"bench-linux: {error}", style="bold", highlight=False, markup=False)
        return EXIT_MISSED
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
