"""Fields that Wireshark's own dissectors read in a capture."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

CHECKED = ("-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE")
SEPARATOR = "\t"
GOOD = "1"  # value of a checksum's status


def need() -> None:
    """Skips a test if tshark is missing, or fails it if tools are required."""
    if shutil.which("tshark") is None:
        if os.environ.get("OVERSPILL_REQUIRE_TOOLS") == "1":
            pytest.fail("tshark is not installed, and OVERSPILL_REQUIRE_TOOLS=1 says that it must be")
        pytest.skip("tshark is not installed (Debian: apt install tshark), so no capture can be read back")


def fields(capture: Path, names: Sequence[str], only: str = "") -> list[list[str]]:
    """Returns a row of these fields for each frame that the display filter selects."""
    need()
    chosen = [part for name in names for part in ("-e", name)]
    filtered = ["-Y", only] if only else []
    form = ("-T", "fields", "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=,")
    command = ["tshark", "-n", "-r", str(capture), *CHECKED, *filtered, *form, *chosen]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [line.split(SEPARATOR) for line in done.stdout.splitlines()]


def assert_sound(capture: Path) -> int:
    """Asserts that every frame is dissected completely and every checksum correct; returns their number."""
    assert fields(capture, ["frame.number", "_ws.expert.message"], "_ws.malformed || _ws.short") == []
    names = ["ip.checksum.status", "tcp.checksum.status", "udp.checksum.status", "_ws.col.Protocol"]
    rows = fields(capture, names)
    for ip, tcp, udp, protocol in rows:
        assert (ip, tcp or udp, tcp and udp) == (GOOD, GOOD, ""), (ip, tcp, udp)
        assert protocol == ("TCP" if tcp else "UDP"), "zeros are taken for no other protocol"
    return len(rows)
