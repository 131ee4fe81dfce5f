"""Command `overspill explain memory SCENARIO`: packets until a mark, a pause and a loss."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from overspill.cli import console, table
from overspill.engine import axis_values, core, memory_comparison, source, switch_memory
from overspill.engine.memory_comparison import ComparedCase, ComparedClass, Probe, ProbedSwitch
from overspill.engine.memory_reasons import MEASURES, nearest
from overspill.errors import BadInput, cut_user_text
from overspill.results import formats, results_folder

EVENTS = {
    "mark": "packets until a mark",
    "pause": "packets until a pause",
    "headroom": "packets in headroom after it",
    "ingress_loss": "packets until a loss at ingress",
    "egress_loss": "packets until a loss at egress",
    "resume": "departures until the resume",
}
HEADS = ("class", "congested", "event", "closed form", "dataplane")
RIGHT_ALIGNED_COLUMNS = (0, 3, 4)
DEFAULT_FRAME = 64  # bytes
LARGEST_FRAME = 65_535  # bytes


@dataclass(frozen=True)
class MemoryOptions:
    """Options of the command; `None` takes the default."""

    sets: Sequence[str] = ()
    port: int | None = None
    egress: int | None = None
    switch: str | None = None
    variant: str | None = None
    class_: int | None = None
    size: str | None = None
    groups: int | None = None
    as_json: bool = False

    @property
    def given(self) -> list[str]:
        """Names of the options that only this command has, as far as they are given."""
        values = {
            "--port": self.port,
            "--egress": self.egress,
            "--switch": self.switch,
            "--variant": self.variant,
            "--class": self.class_,
            "--groups": self.groups,
        }
        return [name for name, value in values.items() if value is not None]


def explain_memory(path: str, options: MemoryOptions) -> None:
    """Prints the limits of the memory of a switch by closed form and by the dataplane."""
    text = source.read_scenario_file(path)
    scenario = core.load_scenario(text.path, text.text, source.parse_overrides(options.sets))
    document = core.document_of(scenario)
    variant = select_variant(document["variants"], options.variant)
    name, settings = memory_comparison.select_switch(document, variant, options.switch)
    ingress = options.port or 0
    egress = options.egress if options.egress is not None else int(ingress == 0)
    resolved = document["resolved"][variant]
    smallest = switch_memory.size_in_bytes(resolved["framing"]["min_frame"])
    size = parse_frame_size(options.size or f"{max(DEFAULT_FRAME, smallest)}B", smallest)
    probe = Probe(variant, name, ingress, egress, size)
    links_change = any("link" in one for one in resolved.get("event") or [])
    switch = memory_comparison.open_switch(scenario, probe, settings, links_change)
    traffic = resolved.get("traffic", [])
    classes = select_classes([int(one.get("class", 0)) for one in traffic], options.class_)
    found = [memory_comparison.compare_class(switch, class_, options.groups) for class_ in classes]
    if options.as_json:
        console.print_document(results_folder.dump_json(build_document(document["name"], switch, found)))
    else:
        print_classes(document["name"], switch, found, console.stdout_console())


def select_variant(names: Sequence[str], wanted: str | None) -> str:
    """Returns the wanted variant, or the first."""
    if wanted is not None and wanted not in names:
        raise BadInput(f"--variant: found {cut_user_text(wanted)!r}; expected one of {', '.join(names)}")
    return names[0] if wanted is None else wanted


def select_classes(used: Sequence[int], wanted: int | None) -> list[int]:
    """Returns the wanted class, or all classes of the traffic."""
    return sorted(set(used) or {0}) if wanted is None else [wanted]


def parse_frame_size(text: str, smallest: int) -> int:
    """Parses the size of a frame, at least `smallest` bytes; a number without a unit is in bytes."""
    found = axis_values.in_base_unit(text)
    is_size = found is not None and found[1] in ("B", "") and found[0].denominator == 1
    if found is None or not is_size or not smallest <= found[0] <= LARGEST_FRAME:
        raise BadInput(
            f"--size: found {cut_user_text(text)}; expected a frame size from {smallest}B "
            f"(`framing.min_frame`) to {LARGEST_FRAME}B"
        )
    return int(found[0])


def describe_port(switch: ProbedSwitch, port: int) -> str:
    """Describes a port by its number and the node at its far end."""
    return f"port {port} ({switch.links[port].far_end})"


def print_classes(name: str, switch: ProbedSwitch, found: Sequence[ComparedClass], out: Console) -> None:
    """Prints a table with a row for each class, number of congested accounts and event."""
    print_head(name, switch, found, out)
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for at, text in enumerate(HEADS):
        grid.add_column(text, justify="right" if at in RIGHT_ALIGNED_COLUMNS else "left", no_wrap=True)
    for one in found:
        for case in one.cases:
            for row in rows_of_case(one, case):
                grid.add_row(*row)
    table.print_full_width(out, grid)
    print_differences(found, out)


def print_head(name: str, switch: ProbedSwitch, found: Sequence[ComparedClass], out: Console) -> None:
    """Prints the ports, the frames, what each class fills, and notes."""
    probe, memory = switch.probe, switch.memory
    head = f"{name}, {probe.variant}, switch {probe.switch}: from {describe_port(switch, probe.ingress)} to "
    head += describe_port(switch, probe.egress)
    out.print(Text(head, "bold"), soft_wrap=True)
    told = f"Frames of {probe.size:,} B"
    if memory is not None:
        cells = memory.cell_bytes(probe.size) // memory.cell
        told += f" take {cells:,} {'cell' if cells == 1 else 'cells'} of {memory.cell:,} B"
        if memory.slices > 1:
            told += f", in slice {memory.slice(probe.ingress, probe.egress)} (of slices 0 to "
            told += f"{memory.slices - 1})"
    out.print(Text(f"{told}. Outputs send nothing while memory fills."), soft_wrap=True)
    for one in found:
        if one.group is not None:
            told = f"Class {one.class_} is in group {one.group} and queue {one.queue}."
            for case in one.cases:
                if case.congested > 1:
                    told += f" {case.congested} {one.congests}: {case.filled}."
            out.print(Text(told), soft_wrap=True)
        for note in one.notes:
            out.print(Text(f"Class {one.class_}: {note}"), soft_wrap=True)
    out.print()


def rows_of_case(one: ComparedClass, case: ComparedCase) -> list[tuple[str, ...]]:
    """Returns the rows of a case: the events that happen by at least one of the two methods."""
    congested = count_congested(one, case)
    rows: list[tuple[str, ...]] = []
    for measure, text in EVENTS.items():
        closed, measured = getattr(case.closed, measure), case.measured[measure]
        if closed is not None or measured is not None:
            cells = (str(one.class_), congested, text) if not rows else ("", "", text)
            rows.append((*cells, format_frames(closed), format_frames(measured)))
    return rows or [(str(one.class_), congested, "no limit", "-", "-")]


def count_congested(one: ComparedClass, case: ComparedCase) -> str:
    """Returns the number of congested groups, queues or ports with its noun."""
    return f"{case.congested} {one.congests.removesuffix('s') if case.congested == 1 else one.congests}"


def format_frames(count: Fraction | int | None) -> str:
    """Formats a number of frames, with one decimal unless it is whole."""
    if count is None:
        return "-"
    return formats.format_number(float(count), 0 if count == int(count) else 1)


def print_differences(found: Sequence[ComparedClass], out: Console) -> None:
    """Prints the reasons for differences of more than a frame."""
    lines = [
        f"class {one.class_}, {count_congested(one, case)}, {text}"
        for one in found
        for case in one.cases
        for text in case.differences
    ]
    out.print()
    if not lines:
        out.print(Text("Both methods agree within one packet."), soft_wrap=True)
    for line in lines:
        out.print(Text(line), soft_wrap=True)


def build_document(name: str, switch: ProbedSwitch, found: Sequence[ComparedClass]) -> dict[str, Any]:
    """Returns the comparison as one JSON document."""
    probe, memory = switch.probe, switch.memory
    made: dict[str, Any] = {"scenario": name, "variant": probe.variant, "switch": probe.switch}
    made |= {"port": probe.ingress, "egress": probe.egress, "size": probe.size, "buffer": switch.kind}
    made["cell"] = None if memory is None else memory.cell
    made["slice"] = None if memory is None else memory.slice(probe.ingress, probe.egress)
    made["classes"] = [
        {
            "class": one.class_,
            "group": one.group,
            "queue": one.queue,
            "congests": one.congests,
            "notes": list(one.notes),
            "cases": [document_of_case(case) for case in one.cases],
        }
        for one in found
    ]
    return made


def document_of_case(case: ComparedCase) -> dict[str, Any]:
    """Returns the limits of a case as JSON; the closed form has exact numbers, rounded to nine digits."""
    closed = {measure: getattr(case.closed, measure) for measure in MEASURES}
    return {
        "congested": case.congested,
        "filled": case.filled,
        "closed_form": {
            measure: None if count is None else round(float(count), 9) for measure, count in closed.items()
        },
        # The nearest whole number, half a frame up, is what tests of devices compare.
        "closed_form_packets": {
            measure: None if count is None else nearest(count) for measure, count in closed.items()
        },
        "dataplane": dict(case.measured),
        "differences": list(case.differences),
    }
