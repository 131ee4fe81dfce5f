"""Simulation passes that find a packet, follow it, and record the switches near its destination."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overspill.engine import core, interrupts, source
from overspill.engine.chunk_size import ChunkSize
from overspill.engine.options import seed_range
from overspill.engine.task import Listener, Task
from overspill.errors import BadInput
from overspill.results import columns
from overspill.tracing import packet_choice as words
from overspill.tracing.packet_choice import PacketChoice
from overspill.tracing.packet_trace import PacketTrace

if TYPE_CHECKING:
    from overspill._core import Scenario

PASS_NAMES = ("", "finding the packet", "following the packet", "recording the switches near the packet")


@dataclass(frozen=True)
class TraceOptions:
    """Packet to trace, with the variant, seed and settings of its run."""

    packet: str
    variant: str | None = None
    seed: int | None = None
    sets: Iterable[str] | Mapping[str, object] = ()
    at: str | None = None
    listener: Listener = field(default_factory=Listener)


def trace(
    scenario: str | Path,
    packet: str,
    *,
    variant: str | None = None,
    seed: int | None = None,
    sets: Iterable[str] | Mapping[str, object] = (),
    at: str | None = None,
) -> PacketTrace:
    """Traces one packet: the nodes that it visits, what happens to it there, and nearby queues.

    Args:
        scenario: Path of the scenario file.
        packet: A name that `overspill trace --help` lists, such as `most_detoured`, or
            `flow=F,n=N[,reverse]`.
        variant: Variant to run. Default: the first whose switches do what `packet` names. For a packet given
            by its number, the first that detours, else bounces, trims, holds ACKs, or sends congestion
            messages, else the first.
        seed: Seed of the run. Default: the scenario's.
        sets: Settings that override fields of the scenario, as `path=value` texts or as a mapping by path.
        at: Three times at which queues are recorded, such as `1.2ms,1.5ms,2ms`. Default: its first and last
            detour or bounce, or both ends of the trace, and half-way between.

    Returns:
        The trace, of which `document()` is what `overspill trace --json` prints.

    Raises:
        BadInput: If there is no such packet, or an argument is not valid.

    Examples:
        >>> import overspill
        >>> packet = overspill.trace("incast.toml", "flow=0,n=0").document()
        >>> packet["fate"], packet["hops"]
        ('delivered', 2)

    """
    return run_passes_and_trace(scenario, TraceOptions(packet, variant, seed, sets, at))


def run_passes_and_trace(scenario: str | Path, options: TraceOptions) -> PacketTrace:
    """Simulates all passes and returns the trace; Ctrl-C raises `KeyboardInterrupt` within a second."""
    wanted, instants = PacketChoice.parse(options.packet), words.parse_instants(options.at)
    text = source.read_scenario_file(scenario)
    scene = core.load_scenario(text.path, text.text, source.parse_overrides(options.sets))
    loaded = core.document_of(scene)
    variant = words.select_variant(loaded, options.variant, wanted)
    words.check_instants(instants, loaded["resolved"][variant])
    seed = seed_range(loaded["seed"] if options.seed is None else options.seed, 1)[0]
    with interrupts.stop_on_signal() as asked:
        asked_for, job = (wanted, instants), Task(variant, seed)
        found = interrupts.run_interruptibly(
            lambda: run_passes(scene, job, asked_for, options.listener, asked), asked
        )
    facts = json.loads(found["summary"])
    facts |= {"scenario": loaded["name"], "variant": variant, "seed": seed}
    facts["instants_asked"] = instants is not None
    facts["topology"] = loaded["resolved"][variant]["topology"]["kind"]
    return PacketTrace(facts, columns.build_tables(found["tables"]), json.loads(scene.network(variant)))


PacketAndInstants = tuple[PacketChoice, tuple[int, int, int] | None]


def run_passes(
    scene: Scenario, job: Task, asked_for: PacketAndInstants, listener: Listener, stop: interrupts.StopRequest
) -> dict[str, Any]:
    """Simulates all passes and returns the results of the core."""
    packet, instants = asked_for
    listener.begin([job] * (len(PASS_NAMES) - 1 if packet.most_of_event else len(PASS_NAMES) - 2), ())
    try:
        going = scene.trace(job.variant, job.seed, packet.core_argument, instants)
        began, done, pace = time.monotonic(), False, ChunkSize()
        while not done:
            if stop.is_set():
                raise KeyboardInterrupt(stop.signal)
            before = time.monotonic()
            status = going.advance(pace.events)
            pace.adapt(time.monotonic() - before)
            done = status["done"]
            listener.advanced(name_task_of_pass(job, status), status)
            if status["over"]:
                listener.finished(name_task_of_pass(job, status), status, time.monotonic() - began)
                began = time.monotonic()
    except core.backend().ScenarioError as error:
        raise BadInput([f"--{line}" for line in core.error_lines(error)]) from error
    return going.results()


def name_task_of_pass(job: Task, status: Mapping[str, Any]) -> Task:
    """Returns the task of one pass, with the name that the progress display prints."""
    return Task(f"{PASS_NAMES[status['pass']]}: {job.variant}", job.seed)
