"""Scenarios of switches with pools, and their comparisons, for tests of `overspill explain memory`."""

from fractions import Fraction
from pathlib import Path
from typing import Any

from overspill.engine import (
    core,
    memory_comparison,
    memory_limits,
    memory_reasons,
    source,
)
from overspill.engine.memory_comparison import ComparedClass, Probe, ProbedSwitch

CHIP = Path(__file__).parents[2] / "scenarios/switch_memory.toml"


EGRESS = 5  # output port in the tests of the chip


def open_switch(path: Path, sets: list[str], ports: tuple[int, int], size: int) -> ProbedSwitch:
    """Returns the first switch of a scenario, ready to be measured."""
    scenario = core.load_scenario(str(path), source.read_scenario_file(path).text, sets)
    document = core.document_of(scenario)
    variant = document["variants"][0]
    name, settings = memory_comparison.select_switch(document, variant, None)
    return memory_comparison.open_switch(scenario, Probe(variant, name, *ports, size), settings)


def compare_chip(class_: int, groups: int, cells: int = 1292) -> memory_comparison.ComparedCase:
    """Returns the limits of the chip with this number of congested groups and cells of headroom."""
    sets = [f"switch.buffer.profiles.pg_lossless.xoff={cells * 208}B"]
    switch = open_switch(CHIP, sets, (0, EGRESS), 64)
    return memory_comparison.compare_class(switch, class_, groups).cases[-1]


def nearest(count: Fraction | None) -> int:
    """Returns the nearest whole number of frames, half a frame up."""
    assert count is not None
    return (count + Fraction(1, 2)).__floor__()


SETTINGS: dict[str, Any] = {
    "cell": 208,
    "pool": 1_000_000,
    "alpha": "1.0",
    "reserve": 0,
    "headroom": "",
    "lossless": True,
    "xoff": "60000B",
    "offset": 0,
    "more": "",
    "queue": "",
    "marking": 'kind = "none"',
}


def write_scenario(path: Path, **changed: Any) -> Path:
    """Writes a scenario of a switch of 8 ports with one ingress pool and one egress pool."""
    own = SETTINGS | changed
    rules = f'lossless = true\nxon_offset = "{own["offset"]}B"' if own["lossless"] else ""
    if own["lossless"] and own["xoff"]:
        rules += f'\nxoff = "{own["xoff"]}"'
    limit = own.get("limit")
    threshold = (
        f'kind = "dynamic", alpha = {own["alpha"]}'
        if limit is None
        else f'kind = "static", limit = "{limit}"'
    )
    path.write_text(
        f"""
name = "pools"
duration = "1ms"
[topology]
kind = "star"
n = 8
link = {{ rate = "100Gbps", delay = "1us" }}
[switch]
pause = {{ kind = "{"pfc" if own["lossless"] else "none"}" }}
marking = {{ {own["marking"]} }}
[switch.buffer]
kind = "pools"
cell = "{own["cell"]}B"
{own["more"]}
[switch.buffer.pools.in]
side = "ingress"
size = "{own["pool"]}B"
{own["headroom"]}
[switch.buffer.pools.out]
side = "egress"
size = "4MB"
[switch.buffer.profiles.pg]
pool = "in"
reserve = "{own["reserve"]}B"
threshold = {{ {threshold} }}
{rules}
[switch.buffer.profiles.q]
pool = "out"
{own["queue"]}
[[switch.buffer.groups]]
group = [0, 1, 2, 3, 4, 5, 6, 7]
profile = "pg"
[[switch.buffer.queues]]
queue = [0, 1, 2, 3, 4, 5, 6, 7]
profile = "q"
[[traffic]]
name = "t"
kind = "constant"
source = "h0"
destination = "h1"
rate = "1Gbps"
payload = "1000B"
class = 3
""".replace('kind = "pfc"', 'kind = "pfc", lossless = false')
    )
    return path


def compare(path: Path, size: int, groups: int, sets: list[str] | None = None) -> ComparedClass:
    """Returns the limits of class 3 from port 0 to port 5."""
    return memory_comparison.compare_class(open_switch(path, sets or [], (0, EGRESS), size), 3, groups)


def memory_case(path: Path, size: int = 64) -> memory_limits.Case:
    """Returns the case of class 3 alone, from port 0 to port 5."""
    memory = open_switch(path, [], (0, EGRESS), size).memory
    assert memory is not None
    return memory_limits.Case(memory, size, [(0, EGRESS, 3)])


def fake_counts(limits: memory_limits.Limits, **changed: int | None) -> dict[str, int | None]:
    """Returns counts that agree with the closed form, except for these."""
    counts = {name: getattr(limits, name) for name in memory_reasons.MEASURES}
    nearest = {name: None if own is None else memory_reasons.nearest(own) for name, own in counts.items()}
    return nearest | changed
