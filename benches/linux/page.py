"""Generates the tables of `docs/internals/linux.md` from the results."""

from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "internals" / "linux.md"
BEGIN, END = "<!-- made by make bench-linux -->", "<!-- end of what is made -->"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
WANTED = ("reno", "cubic", "dctcp")


# Mechanisms that can be switched off by setting a sysctl of `net.ipv4` to 0.
SWITCHES = ("tcp_frto", "tcp_early_retrans", "tcp_dsack", "tcp_timestamps", "tcp_recovery")


def left_out() -> list[str]:
    """Congestion controls that this kernel does not have."""
    have = AVAILABLE.read_text().split()
    return [name for name in WANTED if name not in have]


def number(value: float) -> str:
    """Formats a value with four significant digits."""
    return f"{value:.4g}"


def lateness(late: dict[str, int]) -> str:
    """Describes the host delays that the probe measured."""
    return (
        f"an answer takes {late['delay_ns'] / 1000:.1f} µs, and {late['jitter_ns'] / 1000:.1f} µs more "
        f"on average by chance; a handshake {late['handshake_ns'] / 1000:.0f} µs, and a frame "
        f"{late['frame_ns'] / 1000:.1f} µs of the sender's processor"
    )


def cell(each: dict[str, Any]) -> str:
    """Formats a quantity: the kernel's mean and interval, Overspill's mean, and their difference."""
    apart = "only ours" if each["apart"] is None else f"{100 * each['apart']:+.1f} %"
    mark = "" if each["holds"] else " **!**"
    low, high = each["interval"]
    spread = f"± {(high - low) / 2:.2g}" if each["kernel"] else f"(up to {high:.2g})"
    return f"{number(each['kernel'])} {spread} / {number(each['ours'])} ({apart}){mark}"


def settings(case: dict[str, Any]) -> str:
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


def sides(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the table that compares the kernel and Overspill case by case."""
    quantities = ("completion_median", "retransmissions", "timeouts", "drops")
    lines = [
        "| congestion control | flows | buffer, packets | Mb/s | RTOmin, ms | median completion, ms "
        "| retransmissions | timeouts | drops |",
        "| --- " * 9 + "|",
    ]
    return lines + [
        f"| {settings(row['case'])} | " + " | ".join(cell(row[name]) for name in quantities) + " |"
        for row in rows
    ]


def distributions(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the table of completion times at some shares of flows."""
    shares = rows[0]["completion_ms"]["shares"]
    named = ["longest" if share == 1.0 else f"{round(100 * share)} %" for share in shares]
    lines = [
        "| congestion control | flows | buffer, packets | Mb/s | RTOmin, ms | " + " | ".join(named) + " |",
        "| --- " * (5 + len(shares)) + "|",
    ]
    for row in rows:
        both = zip(row["completion_ms"]["kernel"], row["completion_ms"]["ours"], strict=True)
        cells = (f"{number(kernel)} / {number(ours)}" for kernel, ours in both)
        lines.append(f"| {settings(row['case'])} | " + " | ".join(cells) + " |")
    return lines


def counted(told: dict[str, Any]) -> str:
    """Describes how many cases are within the tolerance."""
    rows = told["rows"]
    held, passed, open_ = (sum(row[name] for row in rows) for name in ("holds", "passes", "undecided"))
    missing = ", ".join(told["congestion_controls_left_out"])
    without = f" Left out, since this kernel was built without: {missing}." if missing else ""
    return (
        f"Linux {told['kernel']}, {told['repeats']} runs of each case, "
        f"replayed {told['replays']} times each; processors: {told['placement']}; {lateness(told['late'])}. "
        f"{held} of {len(rows)} cases are within the tolerance by these runs; of the others, each run "
        f"{told['further']} times more, {passed - held - open_} are by those, {open_} cannot be "
        f"decided, since the kernel's own two sets of runs are as far apart, and {len(rows) - passed} are "
        f"missed.{without}"
    )


def further(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the lines on cases that were out of tolerance in the first runs, by their further runs."""
    again = [row["further"] for row in rows if row["further"] is not None]
    if not again:
        return []
    lines = [f"The {len(again)} that were out of tolerance, by further runs alone:", "", *sides(again), ""]
    for row in rows:
        if row["itself"]:
            what = " and ".join(name.replace("_", " ") for name in row["itself"])
            told = settings(row["case"]).replace(" |", ",")
            lines += [
                f"The kernel's first runs are out of tolerance of its further ones: {told}: {what}.",
                "",
            ]
    return lines


def off(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the lines on missed cases: the kernel's results with each mechanism switched off."""
    lines: list[str] = []
    for row in rows:
        if not row["without"]:
            continue
        case = settings(row["case"]).replace(" |", ",")
        for name, switches in row["hangs_on"].items():
            hangs = ", ".join(f"`{each}`" for each in switches) or "none of these"
            lines += [f"Missed: {case}: {name.replace('_', ' ')}. What moves it in the kernel: {hangs}.", ""]
        lines += [
            "The kernel with one mechanism switched off (mean ± half of its 95 % interval):",
            "",
            "| off | median completion, ms | retransmissions | timeouts |",
            "| --- | --- | --- | --- |",
        ]
        for name, without in row["without"].items():
            cells = (without[quantity] for quantity in ("completion_median", "retransmissions", "timeouts"))
            lines.append(f"| `{name}` | " + " | ".join(map(alone, cells)) + " |")
        lines.append("")
    return lines


def alone(each: dict[str, Any]) -> str:
    """Formats the kernel's mean and interval of a quantity."""
    low, high = each["interval"]
    return f"{number(each['kernel'])} ± {(high - low) / 2:.2g}"


def made(told: dict[str, Any]) -> str:
    """Returns the generated part of the page."""
    rows = told["rows"]
    lines = [
        counted(told),
        "",
        "Kernel (mean over runs ± half of its 95 % interval) / Overspill (how far from the kernel's mean).",
        "",
        *sides(rows),
        "",
        *further(rows),
        *off(rows),
        "Completion times of all flows of all runs, in ms, by the share of flows that took no longer:"
        " kernel / Overspill.",
        "",
        *distributions(rows),
    ]
    return "\n".join(lines)


def publish(told: dict[str, Any]) -> None:
    """Replaces the generated part of the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{made(told)}\n\n{END}{after}")
