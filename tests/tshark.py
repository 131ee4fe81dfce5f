"""Fields that Wireshark's own dissectors read in a capture."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

CHECKSUM_OPTIONS = (
    "-o",
    "ip.check_checksum:TRUE",
    "-o",
    "tcp.check_checksum:TRUE",
    "-o",
    "udp.check_checksum:TRUE",
)
SEPARATOR = "\t"
GOOD_CHECKSUM = "1"  # value of a checksum's status


def skip_without_tshark() -> None:
    """Skips a test if tshark is missing, or fails it if tools are required."""
    if shutil.which("tshark") is None:
        if os.environ.get("OVERSPILL_REQUIRE_TOOLS") == "1":
            pytest.fail("tshark is not installed, and OVERSPILL_REQUIRE_TOOLS=1 says that it must be")
        pytest.skip("tshark is not installed (Debian: apt install tshark), so no capture can be read back")


def read_fields(capture: Path, names: Sequence[str], only: str = "") -> list[list[str]]:
    """Returns a row of these fields for each frame that the display filter selects."""
    skip_without_tshark()
    chosen = [part for name in names for part in ("-e", name)]
    filtered = ["-Y", only] if only else []
    form = ("-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=,")
    command = ["tshark", "-n", "-r", str(capture), *CHECKSUM_OPTIONS, *filtered, *form, *chosen]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [line.split(SEPARATOR) for line in done.stdout.splitlines()]


def check_capture(capture: Path) -> int:
    """Asserts that every frame is dissected completely and every checksum correct; returns their number."""
    assert read_fields(capture, ["frame.number", "_ws.expert.message"], "_ws.malformed || _ws.short") == []
    names = ["ip.checksum.status", "tcp.checksum.status", "udp.checksum.status", "_ws.col.Protocol"]
    rows = read_fields(capture, names)
    for ip, tcp, udp, protocol in rows:
        assert (ip, tcp or udp, tcp and udp) == (GOOD_CHECKSUM, GOOD_CHECKSUM, ""), (ip, tcp, udp)
        assert protocol == ("TCP" if tcp else "UDP"), "zeros are taken for no other protocol"
    return len(rows)
