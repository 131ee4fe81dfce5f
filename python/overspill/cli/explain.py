"""Command `overspill explain`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from overspill import shipped_files
from overspill.cli.console import print_document, print_path, stderr_console, stdout_console
from overspill.cli.options import VARIANTS_OPTION_NAMES
from overspill.errors import BadInput, cut_user_text

if TYPE_CHECKING:
    from overspill.charts import mechanism_curves
    from overspill.results import metrics


def explain(
    name: Annotated[str, typer.Argument(help="Mechanism, setting, parameter, metric or term.")],
    scenario: Annotated[
        str | None,
        typer.Argument(
            help="Scenario file (TOML); `memory SCENARIO` prints packets until a mark, a pause and a loss."
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE[,VALUE...]",
            help="Parameter of the curve, or setting of the scenario; may be repeated.",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            metavar="SIZE",
            help="Capacity in frames of the queue in the curve (default: 100); memory: frame size "
            "(default: 64B).",
        ),
    ] = None,
    port: Annotated[int | None, typer.Option(min=0, help="Memory: input port (default: 0).")] = None,
    egress: Annotated[
        int | None, typer.Option(min=0, help="Memory: output port (default: the first other port).")
    ] = None,
    switch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Memory: switch (default: the first).")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option(*VARIANTS_OPTION_NAMES, metavar="NAME", help="Memory: variant (default: the first)."),
    ] = None,
    class_: Annotated[
        int | None,
        typer.Option("--class", min=0, max=7, help="Memory: class (default: all classes of the traffic)."),
    ] = None,
    groups: Annotated[
        int | None,
        typer.Option(min=1, help="Memory: number of congested groups or queues (default: 1, then up to 4)."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help=("Draw the curve into a .png, .svg or .pdf file.")),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")] = False,
) -> None:
    """Explain a name: its effect, source and parameters, and the curve of bounce and red.

    `overspill explain memory SCENARIO` explains the memory of a switch.
    """
    from overspill.charts import mechanism_curves
    from overspill.cli import catalogue, curve_table, explain_memory
    from overspill.results import metrics, results_folder

    options = explain_memory.MemoryOptions(
        sets or (), port, egress, switch, variant, class_, size, groups, as_json
    )
    given = options.given
    if name.casefold() == "memory":
        given += ["--size"] * (size is not None) + ["--set"] * bool(sets)
    if scenario is not None or given:
        check_memory_arguments(name, scenario, (given, file))
        return explain_memory.explain_memory(str(scenario), options)
    queue_size = None if size is None else parse_queue_size(size)
    found = catalogue.find_name(name)
    drawn = read_curve(found, name, (sets or [], queue_size, file))
    if as_json:
        print_document(results_folder.dump_json(build_document(name, found, drawn)))
    elif isinstance(found, str):
        stdout_console().print(Text(found))
    elif isinstance(found, metrics.Metric):
        print_metric(found, stdout_console())
    else:
        print_entries(name, found, stdout_console())
        if drawn is not None:
            curve_table.print_curves(drawn, queue_size, stdout_console())
    if drawn is not None and file is not None:
        mechanism_curves.save_curves(drawn, file)
        print_path(stderr_console() if as_json else stdout_console(), "written", file)


def check_memory_arguments(name: str, scenario: str | None, given: tuple[list[str], Path | None]) -> None:
    """Raises `BadInput` for arguments of `memory` with another name, or options without a scenario."""
    options, file = given
    if name.casefold() != "memory":
        found = f"{options[0]} for {name!r}" if options else f"a scenario for {name!r}"
        raise BadInput(f"explain: found {found}; expected it only in `overspill explain memory SCENARIO`")
    if scenario is None:
        raise BadInput(f"explain memory: found {options[0]} and no scenario; expected a scenario file")
    if file is not None:
        raise BadInput("explain memory: found --out; expected it only for a mechanism with a curve")
    shipped_files.check_scenario_path(scenario)


def parse_queue_size(text: str) -> int:
    """Parses the capacity of a queue in frames."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**9):
        raise BadInput(f"--size: found {cut_user_text(text)}; expected a number of frames from 1")
    return int(text)


def print_metric(found: "metrics.Metric", console: Console) -> None:
    """Prints the meaning and the formula of a metric."""
    title = "" if found.title == found.name else f": {found.title}"
    console.print(Text(f"{found.name}{title}", "bold"))
    better = "" if found.better == "none" else f" {found.better.capitalize()} is better."
    console.print(Text(f"{found.doc} Unit: {found.unit}.{better}"))
    source = f" [{found.source}]" if found.source else ""
    console.print(Text(f"  = {found.formula}{source}"))


def print_entries(name: str, found: list[dict[str, Any]], console: Console) -> None:
    """Prints entries of the catalogue with their parameters, below the meaning of an alias."""
    from overspill.cli import catalogue

    for text in dict.fromkeys(map(catalogue.describe_alias, aliases_of_entries(name, found))):
        console.print(Text(text))
    for spec in found:
        console.print(Text(f"{spec['slot']} {spec['kind']}".strip(), "bold"))
        cite = f" [{spec['cite']}]" if spec["cite"] else ""
        console.print(Text(spec["doc"] + cite))
        for parameter in spec["params"]:
            line = Text(f"  {parameter['name']}", "bold")
            console.print(line.append(f" {catalogue.describe_type(parameter)}", "not bold dim"))
            console.print(Text(f"      {parameter['doc']}"))
        if told := catalogue.equivalent_settings(spec):
            console.print(Text(told))
    if told := catalogue.describe_namesakes(name, found):
        console.print(Text(told))


def aliases_of_entries(name: str, found: Any) -> list[dict[str, Any]]:
    """Returns the aliases by which entries were found; empty if `name` is their own name."""
    from overspill.cli import catalogue

    rows = catalogue.find_aliases(name)
    if not isinstance(found, list):
        return rows if isinstance(found, str) else []
    there = {(spec["slot"], spec["kind"]) for spec in found}
    own = any(name.casefold() in catalogue.names_of_entry(spec) for spec in found)
    return [] if own else [one for one in rows if (one["slot"], one["kind"]) in there]


def build_document(name: str, found: Any, drawn: "mechanism_curves.Curves | None") -> dict[str, Any]:
    """Returns the explanation of a name as one JSON document; `curve` has all points of its lines."""
    from overspill.results import metrics

    made: dict[str, Any] = {"name": name, "aliases": aliases_of_entries(name, found)}
    if isinstance(found, metrics.Metric):
        fields = ("name", "title", "doc", "unit", "better", "formula", "source")
        known = {key: getattr(found, key) for key in fields}
        return made | {"entries": [], "metric": known, "text": None, "curve": None}
    made |= {"entries": found if isinstance(found, list) else [], "metric": None}
    made["text"] = found if isinstance(found, str) else None
    if drawn is None:
        return made | {"curve": None}
    lines = [{"label": one.label, "x": one.x.tolist(), "y": one.y.tolist()} for one in drawn.lines]
    told = {key: drawn.axis_facts[key] for key in ("x", "y", "of_size", "note")}
    return made | {"curve": {"kind": drawn.kind, "settings": drawn.settings, **told, "lines": lines}}


def read_curve(
    found: object, name: str, given: tuple[list[str], int | None, Path | None]
) -> "mechanism_curves.Curves | None":
    """Returns the curve of a mechanism; raises `BadInput` for options of a curve if it has none."""
    from overspill.charts import mechanism_curves
    from overspill.engine import core

    sets, size, file = given
    if file is not None:
        mechanism_curves.check_file_suffix(file)
    kinds = [spec["kind"] for spec in found if spec["kind"]] if isinstance(found, list) else []
    for kind in kinds[:1]:
        drawn = mechanism_curves.read_curves(kind, sets)
        if drawn is not None:
            mechanism_curves.check_queue_size(drawn, size)
            return drawn
    if sets or size is not None or file is not None:
        known = ", ".join(mechanism_curves.mechanisms_with_curves(core.catalogue()))
        option = "--set" if sets else "--size" if size is not None else "--out"
        raise BadInput(f"explain: found {option} for {name!r}; expected a mechanism with a curve: {known}")
    return None
