"""Kernel counters in `/proc/net/netstat` and `/proc/net/softnet_stat`."""


def parse_netstat(text: str) -> dict[str, int]:
    """Returns the counters of `TcpExt` by name."""
    lines = [line.split() for line in text.splitlines() if line.startswith("TcpExt:")]
    if len(lines) != 2 or len(lines[0]) != len(lines[1]):
        raise ValueError("no TcpExt in /proc/net/netstat")
    return {name: int(value) for name, value in zip(lines[0][1:], lines[1][1:], strict=True)}


def count_backlog_drops(text: str) -> int:
    """Returns the packets dropped at a full processor backlog: the second column, in hex."""
    return sum(int(line.split()[1], 16) for line in text.splitlines())
