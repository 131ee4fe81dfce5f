"""Streams that congest a switch: the measured one, and others that fill groups or queues of its kind."""

import itertools
from collections.abc import Sequence

from overspill.engine import memory_limits
from overspill.engine.memory_limits import Case, Stream
from overspill.engine.switch_memory import CLASSES, Marking, SwitchMemory

StreamKind = tuple[bool, str | None, str | None, Marking | None, int]


def choose_streams(memory: SwitchMemory, size: int, own: Stream, wanted: int) -> list[Stream]:
    """Returns the measured stream and others of its kind that fill groups (if it is paused) or queues.

    Other groups send to the same output. Other queues get frames from the same input, unless the group of
    that input refuses them first. Then each queue gets frames from another input. There may be fewer than
    wanted.
    """
    streams = congested_streams(memory, own, wanted)
    if len(streams) > 1 and not memory.is_paused(own[0], own[2]):
        limits = memory_limits.compute_limits(Case(memory, size, streams))
        if limits.ingress_loss is not None:
            return spread_streams(memory, own, wanted)
    return streams


def stream_kind(memory: SwitchMemory, stream: Stream) -> StreamKind:
    """Returns what streams of one kind share: pauses, profiles at both sides, marks and the slice."""
    ingress, egress, class_ = stream
    queue = (egress, memory.class_to_queue[class_])
    return (
        memory.is_paused(ingress, class_),
        memory.groups.get((ingress, memory.class_to_group[class_])),
        memory.queues.get(queue),
        memory.marking.get(queue),
        memory.slice(ingress, egress),
    )


def classes_from(class_: int) -> list[int]:
    """Returns all classes, this one first."""
    return [class_, *(other for other in range(CLASSES) if other != class_)]


def congested_streams(memory: SwitchMemory, own: Stream, wanted: int) -> list[Stream]:
    """Returns streams of one kind: to the same output if they are paused, otherwise from the same input.

    Those of the measured class come first, in the order of ports. Each fills another group or queue.
    """
    ingress, egress, class_ = own
    by_group = memory.is_paused(ingress, class_)
    mapped = memory.class_to_group if by_group else memory.class_to_queue
    kind, found = stream_kind(memory, own), [own]
    taken = {(ingress if by_group else egress, mapped[class_])}
    for other, port in itertools.product(classes_from(class_), range(memory.ports)):
        stream = (port, egress, other) if by_group else (ingress, port, other)
        if len(found) == wanted:
            break
        if (
            stream[0] != stream[1]
            and (port, mapped[other]) not in taken
            and stream_kind(memory, stream) == kind
        ):
            found.append(stream)
            taken.add((port, mapped[other]))
    return found


def spread_streams(memory: SwitchMemory, own: Stream, wanted: int) -> list[Stream]:
    """Returns streams of one kind, each with a group and a queue that no other uses."""
    to_group, to_queue = memory.class_to_group, memory.class_to_queue
    kind, found = stream_kind(memory, own), [own]
    groups, queues = {(own[0], to_group[own[2]])}, {(own[1], to_queue[own[2]])}
    for class_, egress in itertools.product(classes_from(own[2]), range(memory.ports)):
        if len(found) == wanted:
            break
        if (egress, to_queue[class_]) in queues:
            continue
        inputs = (
            ingress
            for ingress in range(memory.ports)
            if ingress != egress
            and (ingress, to_group[class_]) not in groups
            and stream_kind(memory, (ingress, egress, class_)) == kind
        )
        if (first := next(inputs, None)) is not None:
            found.append((first, egress, class_))
            groups.add((first, to_group[class_]))
            queues.add((egress, to_queue[class_]))
    return found


def describe_streams(streams: Sequence[Stream], by_group: bool) -> str:
    """Describes the ports and classes of groups at input ports, or of queues at output ports."""
    at, parts = (0 if by_group else 1), []
    for class_ in dict.fromkeys(stream[2] for stream in streams):
        ports = sorted(stream[at] for stream in streams if stream[2] == class_)
        parts.append(f"{format_ports(ports)}, class {class_}")
    text = "; ".join(parts)
    return text if by_group else f"{text}; from {format_ports(sorted({stream[0] for stream in streams}))}"


def format_ports(ports: Sequence[int]) -> str:
    """Formats sorted numbers of ports, with ranges of three and more: `ports 0, 2 to 5 and 7`."""
    ranges: list[list[int]] = []
    for port in ports:
        if ranges and port == ranges[-1][-1] + 1:
            ranges[-1].append(port)
        else:
            ranges.append([port])
    texts = []
    for found in ranges:
        texts += [f"{found[0]} to {found[-1]}"] if len(found) > 2 else [str(port) for port in found]
    if len(ports) == 1:
        return f"port {ports[0]}"
    return f"ports {' and '.join([', '.join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]}"
