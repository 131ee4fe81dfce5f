"""Ten small runs, packet by packet, beside a model that shares no code with Overspill (docs/internals/model.md)."""

import functools
import json
import types
from pathlib import Path
from typing import Any

import model
import overspill
import pytest
from overspill import _core
from overspill.measures import REASONS

FOLDER = Path(__file__).parent
RUNS = sorted(path.stem for path in (FOLDER / "runs").glob("*.toml"))
FATES = ("delivered", *REASONS)
ROW = ("sent_ps", "end_ps", "hops", "detours", "bounces", "node")
# What the model does not know stays as it is, whatever the default: set where Overspill has such a key.
PINS = {
    "recovery": "newreno",
    "sack": "false",
    "timestamps": "false",
    "nagle": "false",
    "restart_after_idle": "false",
    "retransmission_timer": "true",
    "window_less_out_of_order": "false",
    "connection": "established",
}
# Run: packets, of them lost; detours, bounces, marked ACKs, fast retransmits and timeouts.
EXPECTED: dict[str, tuple[int, ...]] = {}
# What is put into the model's source, to see that the comparison would find it.
FAULTS = {
    "a queue that holds K is not marked yet": ("len(port.queues[kind]) >= number(marking", "len(port.queues[kind]) > number(marking"),
}


def pins(name: str) -> list[str]:
    """Settings for the keys of PINS that Overspill knows."""
    kind = model.tomllib.loads((FOLDER / "runs" / f"{name}.toml").read_text())["transport"]["kind"]
    specs = json.loads(_core.catalogue())
    (spec,) = (spec for spec in specs if (spec["slot"], spec["kind"]) == ("transport", kind))
    known = {param["name"] for param in spec["params"]}
    return [f"transport.{key}={value}" for key, value in PINS.items() if key in known]


@functools.cache
def measured(name: str) -> tuple[dict[Any, Any], dict[str, int]]:
    """Overspill's packets in the model's form, and the flows' counters."""
    results = overspill.run(FOLDER / "runs" / f"{name}.toml", sets=pins(name))
    rows = results.packets.to_pylist()
    packets = {
        (row["flow"], row["reverse"], row["emission"]): (*(row[key] for key in ROW), FATES[row["fate"]])
        for row in rows
    }
    assert len(packets) == len(rows), "a packet has one end"
    counters = ("marked_acks", "fast_retransmits", "timeouts")
    return packets, {key: sum(results.flows.column(key).to_pylist()) for key in counters}


def modelled(name: str, source: types.ModuleType = model) -> dict[Any, Any]:
    return source.World(FOLDER / "runs" / f"{name}.toml").run()


def differences(ours: dict[Any, Any], theirs: dict[Any, Any]) -> list[str]:
    """What differs, in the order in which it was sent or, where only one has it, would have been."""
    either = ours | theirs
    keys = [key for key in sorted(either, key=lambda key: (either[key], key)) if ours.get(key) != theirs.get(key)]
    return [f"{key}: model {ours.get(key)}, Overspill {theirs.get(key)}" for key in keys]


@pytest.mark.parametrize("name", RUNS)
def test_every_packet_has_the_times_and_the_fate_that_the_model_gives_it(name: str) -> None:
    found = differences(modelled(name), measured(name)[0])
    assert not found, "\n".join([f"{len(found)} packets differ; (flow, reverse, emission):", *found[:5]])


@pytest.mark.parametrize("name", RUNS)
def test_every_run_does_what_it_is_there_for(name: str) -> None:
    packets, counters = measured(name)
    lost = sum(row[-1] != "delivered" for row in packets.values())
    detours, bounces = (sum(row[column] for row in packets.values()) for column in (3, 4))
    assert (len(packets), lost, detours, bounces, *counters.values()) == EXPECTED.get(name)


def test_the_runs_meet_every_fate_partial_acks_and_backoff() -> None:
    fates = {row[-1] for name in RUNS for row in measured(name)[0].values()}
    assert fates == {"delivered", "buffer_full", "bounce_queue_full", "no_detour", "ttl_expired"}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_model_is_a_difference(fault: str) -> None:
    right, wrong = FAULTS[fault]
    source = Path(model.__file__).read_text()
    assert source.count(right) == 1, "the fault's place is in the model once"
    faulty = types.ModuleType("faulty")
    exec(compile(source.replace(right, wrong), "faulty.py", "exec"), faulty.__dict__)
    assert any(differences(modelled(name, faulty), measured(name)[0]) for name in RUNS)
