"""Generates the tables of `docs/internals/linux.md` from the results."""

from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "internals" / "linux.md"
BEGIN, END = "<!-- made by make bench-linux -->", "<!-- end of what is made -->"
AVAILABLE_CONTROLS_FILE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
NEEDED_CONTROLS = ("reno", "cubic", "dctcp")


# Mechanisms that can be switched off by setting a sysctl of `net.ipv4` to 0.
MECHANISM_SYSCTLS = ("tcp_frto", "tcp_early_retrans", "tcp_dsack", "tcp_timestamps", "tcp_recovery")


def missing_controls() -> list[str]:
    """Congestion controls that this kernel does not have."""
    have = AVAILABLE_CONTROLS_FILE.read_text().split()
    return [name for name in NEEDED_CONTROLS if name not in have]


def format_number(value: float) -> str:
    """Formats a value with four significant digits."""
    return f"{value:.4g}"


def describe_host_delays(late: dict[str, int]) -> str:
    """Describes the host delays that the probe measured."""
    return (
        f"a reply takes {late['delay_ns'] / 1000:.1f} µs plus a random {late['jitter_ns'] / 1000:.1f} µs "
        f"on average; a handshake takes {late['handshake_ns'] / 1000:.0f} µs, and a frame "
        f"{late['frame_ns'] / 1000:.1f} µs of the sender's processor"
    )


def format_quantity(each: dict[str, Any]) -> str:
    """Formats a quantity: the kernel's mean and interval, Overspill's mean, and their difference."""
    apart = "only ours" if each["apart"] is None else f"{100 * each['apart']:+.1f} %"
    mark = "" if each["holds"] else " **!**"
    low, high = each["interval"]
    spread = f"± {(high - low) / 2:.2g}" if each["kernel"] else f"(up to {high:.2g})"
    return f"{format_number(each['kernel'])} {spread} / {format_number(each['ours'])} ({apart}){mark}"


def format_case(case: dict[str, Any]) -> str:
    """Formats the columns that identify a case."""
    load = f"{case['flows']} × {case['bytes'] // 1000} KB"
    columns = (
        case["congestion_control"],
        load,
        case["buffer_packets"],
        case["rate_mbps"],
        case["rto_min_ms"],
    )
    return " | ".join(map(str, columns))


def comparison_table(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the table that compares the kernel and Overspill case by case."""
    quantities = ("completion_median", "retransmissions", "timeouts", "drops")
    lines = [
        "| congestion control | flows | buffer, packets | Mb/s | RTOmin, ms | median completion, ms "
        "| retransmissions | timeouts | drops |",
        "| --- " * 9 + "|",
    ]
    return lines + [
        f"| {format_case(row['case'])} | "
        + " | ".join(format_quantity(row[name]) for name in quantities)
        + " |"
        for row in rows
    ]


def distribution_table(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the table of completion times at some shares of flows."""
    shares = rows[0]["completion_ms"]["shares"]
    named = ["longest" if share == 1.0 else f"{round(100 * share)} %" for share in shares]
    lines = [
        "| congestion control | flows | buffer, packets | Mb/s | RTOmin, ms | " + " | ".join(named) + " |",
        "| --- " * (5 + len(shares)) + "|",
    ]
    for row in rows:
        both = zip(row["completion_ms"]["kernel"], row["completion_ms"]["ours"], strict=True)
        cells = (f"{format_number(kernel)} / {format_number(ours)}" for kernel, ours in both)
        lines.append(f"| {format_case(row['case'])} | " + " | ".join(cells) + " |")
    return lines


def describe_counts(told: dict[str, Any]) -> str:
    """Describes how many cases are within the tolerance."""
    rows = told["rows"]
    held, passed, open_ = (sum(row[name] for row in rows) for name in ("holds", "passes", "undecided"))
    missing = ", ".join(told["congestion_controls_left_out"])
    without = f" Left out, because this kernel was built without it: {missing}." if missing else ""
    return (
        f"Linux {told['kernel']}, {told['repeats']} runs of each case, "
        f"replayed {told['replays']} times each; processors: {told['placement']}; "
        f"{describe_host_delays(told['late'])}. "
        f"By these runs, {held} of {len(rows)} cases are within the tolerance. The others ran "
        f"{told['further']} times more. By these further runs, {passed - held - open_} are within it, and "
        f"{len(rows) - passed} are not (they are *missed*). {open_} cannot be decided, because the kernel's "
        f"own two sets of runs differ as much.{without}"
    )


def describe_further_runs(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the lines on cases that were out of tolerance in the first runs, by their further runs."""
    again = [row["further"] for row in rows if row["further"] is not None]
    if not again:
        return []
    lines = [
        f"The {len(again)} cases that were out of tolerance, by their further runs alone:",
        "",
        *comparison_table(again),
        "",
    ]
    for row in rows:
        if row["itself"]:
            what = " and ".join(name.replace("_", " ") for name in row["itself"])
            told = format_case(row["case"]).replace(" |", ",")
            lines += [
                f"The kernel's first runs are out of tolerance of its own further runs: {told}: {what}.",
                "",
            ]
    return lines


def describe_switched_off(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the lines on missed cases: the kernel's results with each mechanism switched off."""
    lines: list[str] = []
    for row in rows:
        if not row["without"]:
            continue
        case = format_case(row["case"]).replace(" |", ",")
        for name, switches in row["hangs_on"].items():
            hangs = ", ".join(f"`{each}`" for each in switches) or "none"
            quantity = name.replace("_", " ")
            lines += [f"Missed: {case}: {quantity}. Mechanisms that change it in the kernel: {hangs}.", ""]
        lines += [
            "The kernel with one mechanism switched off (mean ± half of its 95 % interval):",
            "",
            "| mechanism switched off | median completion, ms | retransmissions | timeouts |",
            "| --- | --- | --- | --- |",
        ]
        for name, without in row["without"].items():
            cells = (without[quantity] for quantity in ("completion_median", "retransmissions", "timeouts"))
            lines.append(f"| `{name}` | " + " | ".join(map(format_kernel_mean, cells)) + " |")
        lines.append("")
    return lines


def format_kernel_mean(each: dict[str, Any]) -> str:
    """Formats the kernel's mean and interval of a quantity."""
    low, high = each["interval"]
    return f"{format_number(each['kernel'])} ± {(high - low) / 2:.2g}"


def generated_part(told: dict[str, Any]) -> str:
    """Returns the generated part of the page."""
    rows = told["rows"]
    lines = [
        describe_counts(told),
        "",
        "A cell has the kernel's mean over runs ± half of its 95 % interval, a slash, and Overspill's mean "
        "(with its distance from the kernel's mean). **!** marks a value out of tolerance.",
        "",
        *comparison_table(rows),
        "",
        *describe_further_runs(rows),
        *describe_switched_off(rows),
        "Completion times of all flows of all runs, in ms: kernel / Overspill. The head of a column has the "
        "share of flows that took no longer.",
        "",
        *distribution_table(rows),
    ]
    return "\n".join(lines)


def publish(told: dict[str, Any]) -> None:
    """Replaces the generated part of the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{generated_part(told)}\n\n{END}{after}")
