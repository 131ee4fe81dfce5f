"""`make bench-ns3`: Overspill's speed beside that of ns-3 on the same work, and small runs in both."""

import json
import sys
from dataclasses import asdict
from typing import Any

from cross_check import DRAWS, MAX_DIFFERENCE, QUANTITIES, Row, cross_check
from ns3 import ROOT, MissingRequirement, compile_twin, install_ns3
from rich.console import Console
from rich.table import Table
from speed import Speed, compare_speeds, describe_load

from overspill import OverspillError

RESULT = ROOT / "out" / "bench-ns3.json"
console = Console(width=None if sys.stdout.isatty() else 120)


def print_progress(line: str) -> None:
    """Prints a line of progress."""
    console.print(line, style="dim", highlight=False)


def print_speed(found: Speed, loads: tuple[str, str]) -> None:
    """Prints every round and the ratio of the speeds."""
    table = Table(title="128-host fat-tree, permutation, 1 MB a host", title_justify="left")
    for name in ("run", "on"):
        table.add_column(name)
    for name in ("M packet-hops/s", "packet-hops", "events/hop", "RSS MB"):
        table.add_column(name, justify="right")
    for rows in (found.ours, found.theirs):
        for row in rows:
            table.add_row(
                row["name"],
                row["on"],
                f"{row['packet_hops_per_s'] / 1e6:.3f}",
                str(row["packet_hops"]),
                f"{row['events_per_packet_hop']:.3f}",
                f"{row['rss_bytes'] / 1e6:.1f}",
            )
    console.print(table)
    by_medians = f"{found.ratio_of_medians:.1f} by the medians"
    console.print(f"Overspill / ns-3: {found.ratio:.1f} by the fastest rounds, {by_medians}")
    console.print(f"Machine before: {loads[0]}; after: {loads[1]}", highlight=False)
    if not found.same_packets:
        console.print(
            "The permutation may differ: whole_runs.rs no longer runs the scenario in speed.py.", style="bold"
        )


def format_difference(row: Row) -> str:
    """Formats a difference with its interval, in percent."""
    text = "only one" if row.difference is None else f"{100 * row.difference:+.2f} ± {100 * row.spread:.2f}"
    return text if row.agrees else f"[bold]{text} ![/bold]"


def print_check(rows: list[Row]) -> None:
    """Prints both simulators' results side by side."""
    title = f"Matched dumbbells, means of {DRAWS} draws of starts; ! is more than {MAX_DIFFERENCE:.0%} apart"
    table = Table(title=title, title_justify="left")
    for name in ("transport", "flows", "quantity"):
        table.add_column(name)
    for name in ("Overspill", "ns-3", "apart %", "ns-3, our rules", "apart %"):
        table.add_column(name, justify="right")
    by_case = {(row.transport, row.flows, row.quantity, row.rules): row for row in rows}
    for transport, n, quantity in dict.fromkeys((row.transport, row.flows, row.quantity) for row in rows):
        stock, ours = (by_case[transport, n, quantity, rules] for rules in ("stock", "ours"))
        if stock.ours == stock.theirs == ours.theirs == 0:
            continue
        table.add_row(
            transport,
            str(n),
            QUANTITIES[quantity],
            f"{stock.ours:.6g}",
            f"{stock.theirs:.6g}",
            format_difference(stock),
            f"{ours.theirs:.6g}",
            format_difference(ours),
        )
    console.print(table)
    apart = sum(not row.agrees for row in rows if row.rules == "stock")
    if apart:
        console.print(
            f"{apart} quantities differ by more than {MAX_DIFFERENCE:.0%}: "
            "docs/internals/ns3.md names the causes."
        )


def results_document(found: Speed, rows: list[Row], loads: tuple[str, str]) -> dict[str, Any]:
    """Contents of `out/bench-ns3.json`."""
    runs = [found.fastest_round(found.ours), found.fastest_round(found.theirs)]
    return {
        "runs": runs,
        "ratio": round(found.ratio, 2),
        "ratio_of_medians": round(found.ratio_of_medians, 2),
        "rounds": found.ours + found.theirs,
        "same_packets": found.same_packets,
        "load": {"before": loads[0], "after": loads[1]},
        "cross_check": [{**asdict(row), "agrees": row.agrees} for row in rows],
    }


def main() -> int:
    """Runs the speed comparison and the cross-check."""
    try:
        install_ns3()
        program = compile_twin()
        before = describe_load()
        found = compare_speeds(program, print_progress)
        loads = (before, describe_load())
        print_speed(found, loads)
        rows = cross_check(program, print_progress)
        print_check(rows)
    except (MissingRequirement, OverspillError, RuntimeError) as error:
        console.print(f"bench-ns3: {error}", style="bold", highlight=False, markup=False)
        return 1
    except KeyboardInterrupt:
        return 130
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(results_document(found, rows, loads), indent=1, allow_nan=False) + "\n")
    console.print(f"written to {RESULT.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
