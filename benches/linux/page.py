"""The tables of `docs/internals/linux.md`, made from the results: nothing of them is written by hand."""

from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "internals" / "linux.md"
BEGIN, END = "<!-- made by make bench-linux -->", "<!-- end of what is made -->"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
WANTED = ("reno", "cubic", "dctcp")


def left_out() -> list[str]:
    """What this kernel was built without."""
    have = AVAILABLE.read_text().split()
    return [name for name in WANTED if name not in have]


def number(value: float) -> str:
    """Four significant digits."""
    return f"{value:.4g}"


def cell(each: dict[str, Any]) -> str:
    """A quantity: the kernel's mean and interval, ours, and how far apart."""
    apart = "only ours" if each["apart"] is None else f"{100 * each['apart']:+.1f} %"
    mark = "" if each["holds"] else " **!**"
    return f"{number(each['kernel'])} ± {each['half_width']:.2g} / {number(each['ours'])} ({apart}){mark}"


def settings(case: dict[str, Any]) -> str:
    """The columns that say which case it is."""
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
    """Kernel and Overspill by case."""
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
    """Completion times at some shares of flows."""
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


def made(told: dict[str, Any]) -> str:
    """All that stands between the marks."""
    rows = told["rows"]
    held = sum(row["holds"] for row in rows)
    missing = ", ".join(told["congestion_controls_left_out"])
    without = f" Left out, since this kernel was built without: {missing}." if missing else ""
    lines = [
        f"Linux {told['kernel']}, {told['repeats']} runs of each case, "
        f"replayed {told['replays']} times each; "
        f"hosts are late by {told['scatter']['scatter_ns'] / 1000:.1f} µs on average; "
        f"{held} of {len(rows)} cases are within the tolerance.{without}",
        "",
        "Kernel (mean over runs ± half of its 95 % interval) / Overspill (how far from the kernel's mean).",
        "",
        *sides(rows),
        "",
        "Completion times of all flows of all runs, in ms, by the share of flows that took no longer:"
        " kernel / Overspill.",
        "",
        *distributions(rows),
    ]
    return "\n".join(lines)


def publish(told: dict[str, Any]) -> None:
    """Replaces what stands between the marks."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{made(told)}\n\n{END}{after}")
