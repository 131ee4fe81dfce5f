"""Command `overspill new`."""

from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperCommand, TyperOption

from overspill.cli.console import print_document, stderr_console, stdout_console
from overspill.errors import BadInput, escape_unprintable

CHOSEN = "overspill.new"  # key of the chosen mechanisms in the data of the command line


class SlotCommand(TyperCommand):
    """Command with an option for each slot in the catalogue of the core, which is loaded only if it runs."""

    slots: list[TyperOption] | None = None

    def get_params(self, ctx: Any) -> list[Any]:
        """Returns the declared options, and those of the slots.

        Each call must return the same objects: by them the parser keeps the order of the command line.
        """
        if self.slots is None:
            self.slots = slot_options()
        return [*self.params, *self.slots, *super().get_params(ctx)[len(self.params) :]]


def slot_options() -> list[TyperOption]:
    """Returns an option for each slot, which stores its value in the data of the command line."""
    from overspill.cli import new_scenario

    known = new_scenario.read_catalogue()
    return [
        TyperOption(
            param_decls=list(dict.fromkeys((f"--{name}", f"--{name.replace('_', '-')}"))),
            type=str,
            metavar="NAME",
            help=f"{slot}: {', '.join(known.docs(slot))}.",
            expose_value=False,
            callback=store_choice(slot),
            rich_help_panel="Mechanisms",
        )
        for name, slot in known.options.items()
    ]


def store_choice(slot: str) -> Any:
    """Returns the callback of an option, which stores the chosen mechanism of a slot."""

    def store(ctx: Any, param: Any, value: str | None) -> None:
        """Stores a value unless the option is absent."""
        if value is not None:
            ctx.meta.setdefault(CHOSEN, {})[slot] = value

    return store


def new(
    ctx: typer.Context,
    topology: Annotated[
        str | None, typer.Argument(help="Topology, such as leaf_spine.", show_default=False)
    ] = None,
    traffic: Annotated[
        list[str] | None,
        typer.Option("--traffic", metavar="NAME", help="Kind of traffic (default: incast); may be repeated."),
    ] = None,
    topology_file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="File of a topology that is read from one, relative to the scenario.",
        ),
    ] = None,
    flow_files: Annotated[
        list[str] | None,
        typer.Option(
            "--flows",
            metavar="FILE",
            help="File of a kind of traffic that is read from one; may be repeated.",
        ),
    ] = None,
    list_names: Annotated[
        bool, typer.Option("--list", help="List all topologies, mechanisms and kinds of traffic.")
    ] = False,
) -> None:
    """Print a commented scenario, ready to run: a topology, traffic, and the chosen mechanisms.

    The first mechanism that differs from its default is compared with that default. Others are part of both
    variants.
    """
    from overspill.cli import new_plan, new_scenario

    if list_names:
        print_names()
        return
    known = new_scenario.read_catalogue()
    if topology is None:
        names = ", ".join(known.docs("topology"))
        raise BadInput(f"topology: found nothing; expected one of {names}, or --list")
    choices = new_plan.Choices(
        topology=topology,
        kinds=ctx.meta.get(CHOSEN, {}),
        traffic=tuple(traffic or ("incast",)),
        topology_file=topology_file,
        flow_files=tuple(flow_files or ()),
    )
    draft = new_scenario.Draft(choices)
    print_document(draft.text().rstrip("\n"))
    for note in draft.notes:
        stderr_console().print(Text(escape_unprintable(f"note: {note}")), soft_wrap=True)


def print_names() -> None:
    """Prints all names that a scenario may have, grouped by the option that takes them."""
    from overspill.cli import new_scenario, new_text, table

    known = new_scenario.read_catalogue()
    options = {slot: f"--{name} ({slot})" for name, slot in known.options.items()}
    options |= {"topology": "topology (the argument)", "traffic": "--traffic"}
    slots = dict.fromkeys(("topology", "traffic", *known.options.values(), *known.kinds))
    entries = [
        (options.get(slot, f"{slot} (no option; see docs/scenarios.md)"), name, new_text.first_sentence(doc))
        for slot in slots
        for name, doc in known.docs(slot).items()
    ]
    table.print_groups(entries, stdout_console())
