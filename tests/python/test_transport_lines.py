"""Tests that the header lists the transport settings in force, by variant if they differ."""

from typing import Any

import pytest

from overspill.results import transports

LINUX = {
    "kind": "linux",
    "congestion_control": "cubic",
    "initial_window": "10pkt",
    "min_rto": "200ms",
    "mss": "1448B",
    "ecn": False,
}
DCTCP = {"kind": "linux_dctcp", "initial_window": "10pkt", "min_rto": "5ms", "mss": "1448B"}
ROCE = {"kind": "roce", "rto": "1ms", "mss": "1KB", "ecn": True}
TEXTS = {
    "linux": "linux, cubic, initial window 10pkt, minimum RTO 200ms, MSS 1448B, ECN off",
    "dctcp": "linux_dctcp, initial window 10pkt, minimum RTO 5ms, MSS 1448B, ECN on",
    "roce": "roce, RTO 1ms, MSS 1KB, ECN on",
}


class FakeResults:
    def __init__(self, **resolved: Any) -> None:
        self.facts, self.variants = {"resolved": resolved}, list(resolved)


def scenario(transport: Any, *own: Any, kind: str = "incast") -> dict[str, Any]:
    traffic = [
        {"name": f"w{n}", "kind": kind, **({"transport": one} if one else {})} for n, one in enumerate(own)
    ]
    return {"transport": transport, "traffic": traffic}


def texts(**resolved: Any) -> list[str]:
    return [line.text for line in transports.transport_lines(FakeResults(**resolved))]  # type: ignore[arg-type]


def test_variants_with_one_transport_share_a_line_without_names() -> None:
    assert texts(a=scenario(LINUX, None), b=scenario(LINUX, None)) == [TEXTS["linux"]]


def test_transports_that_differ_have_a_line_each() -> None:
    found = texts(a=scenario(LINUX, None), b=scenario(DCTCP, None), c=scenario(LINUX, None))
    assert found == [f"a, c: {TEXTS['linux']}", f"b: {TEXTS['dctcp']}"]


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ([None, ROCE], f"{TEXTS['dctcp']}; w1 {TEXTS['roce']}"),
        ([ROCE], f"w0 {TEXTS['roce']}"),
    ],
)
def test_workloads_with_a_transport_of_their_own_are_named(own: list[Any], said: str) -> None:
    assert texts(a=scenario(DCTCP, *own)) == [said]


def test_raw_sources_have_no_transport_line() -> None:
    assert texts(a=scenario(LINUX, None, kind="constant")) == []
