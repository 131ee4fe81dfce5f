"""Scenario that `overspill new` prints: the given names are checked, and the core checks every line."""

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from overspill.cli import catalogue
from overspill.cli.new_plan import COMPARISONS, Catalogue, Choices, Plan
from overspill.cli.new_sections import compose, describe_network, read_defaults, topology_section
from overspill.cli.new_text import Section, Setting, first_sentence, format_comment, render
from overspill.engine import core
from overspill.errors import BadInput
from overspill.results import metric_names

if TYPE_CHECKING:
    from overspill._core import Scenario

PATH = "new.toml"  # name of the scenario in errors of the core, which are written anew
PROBE_HEAD = 'name = "probe"\nduration = "1ms"'
PROBE_TRAFFIC = '[[traffic]]\nname = "probe"\nkind = "permutation"\nsize = "1KB"\n'


def read_catalogue() -> Catalogue:
    """Returns the catalogue of the core."""
    return Catalogue(core.catalogue(), catalogue.KINDS_OF_SETTINGS)


def check_name(option: str, name: str, known: Iterable[str], slot: str) -> None:
    """Raises `BadInput` for an unknown name, with similar names and names of other tools for `slot`."""
    names = list(known)
    if name not in names:
        kinds = dict.fromkeys(one["kind"] for one in catalogue.find_aliases(name) if one["slot"] == slot)
        said = " or ".join(kind for kind in kinds if kind in names)
        meant = f"; did you mean {said}?" if said else metric_names.similar_names_hint(name, names)
        raise BadInput(f"{option}: found {name!r}; expected one of {', '.join(names)}{meant}")


def check_choices(choices: Choices, known: Catalogue) -> None:
    """Raises `BadInput` for a name that the core does not have, and for missing or unused files."""
    check_name("topology", choices.topology, known.docs("topology"), "topology")
    options = {slot: name for name, slot in known.options.items()}
    for slot, kind in choices.kinds.items():
        check_name(f"--{options[slot]}", kind, known.docs(slot), slot)
    for kind in choices.traffic:
        check_name("--traffic", kind, known.docs("traffic"), "traffic")
    check_topology_file(choices, known)
    check_flow_files(choices, known)


def check_topology_file(choices: Choices, known: Catalogue) -> None:
    """Raises `BadInput` if the topology needs a file, or reads none."""
    kind, readers = choices.topology, known.file_readers("topology")
    if choices.topology_file is None and readers.get(kind):
        doc = first_sentence(known.docs("topology")[kind])
        raise BadInput(f"topology: found {kind!r} without a file; expected --file FILE. {doc}")
    if choices.topology_file is not None and kind not in readers:
        raise BadInput(f"--file: found with {kind!r}; expected it only with {', '.join(readers)}")


def check_flow_files(choices: Choices, known: Catalogue) -> None:
    """Raises `BadInput` unless each kind of traffic that reads a file has one."""
    readers, files = known.file_readers("traffic"), choices.flow_files
    reading = [kind for kind in choices.traffic if kind in readers]
    if len(reading) > len(files):
        kind = reading[len(files)]
        doc = first_sentence(known.docs("traffic")[kind])
        raise BadInput(f"--traffic: found {kind!r} without a file; expected --flows FILE. {doc}")
    if len(reading) < len(files):
        found = files[len(reading)]
        rule = f"one file for each --traffic of {', '.join(readers)}"
        raise BadInput(f"--flows: found {found!r}; expected {rule}")


class Draft:
    """Scenario for the choices of a user, checked by the core; `notes` are the core's notes about it."""

    def __init__(self, choices: Choices) -> None:
        known = read_catalogue()
        check_choices(choices, known)
        self.choices, self.known, self.options = choices, known, known.options
        topology = topology_section(known, choices)
        probe = self.load(render(PROBE_HEAD, [topology]) + PROBE_TRAFFIC)
        document = core.document_of(probe)
        network = describe_network(json.loads(probe.network(document["variants"][0])))
        defaults = read_defaults(known, document)
        plans = [Plan(choices, known, network, defaults, comparison) for comparison in COMPARISONS]
        drafts = [
            (plan, self.without_refused_defaults(plan, compose(plan, known, topology))) for plan in plans
        ]
        self.plan, self.sections = next((one for one in drafts if self.is_valid(one[1])), drafts[0])
        self.notes = [str(note) for note in core.document_of(self.load(render("", self.sections)))["notes"]]
        for section in self.sections:
            self.remove_refused_settings(section)

    def text(self) -> str:
        """Returns the scenario as text, with a comment at its head."""
        return render(self.header(), self.sections)

    def header(self) -> str:
        """Returns the comment at the head, which says how to run and change the scenario."""
        plan, hosts = self.plan, len(self.plan.network.hosts)
        traffic = ", ".join(f"`{kind}`" for kind in self.choices.traffic)
        kind = (
            self.choices.kinds[plan.compared]
            if plan.compared
            else next(iter(self.choices.kinds.values()), None)
        )
        compared = f", without and with `{kind}`" if plan.compared else ""
        about = (
            f"Traffic of kind {traffic} in a `{self.choices.topology}` network of {hosts} hosts{compared}."
        )
        lines = [
            *format_comment(about),
            "#",
            "# Save this text as FILE.toml, and run it:  overspill run FILE.toml",
            f"# Explain a name:                          overspill explain {kind or self.choices.topology}",
            "# Find other names:                        overspill new --list",
            "#",
            "# A line with `#` before its key has the default value. Remove the `#` to change it.",
            "# All settings: docs/reference.md of the repository, or  overspill schema.",
        ]
        return "\n".join(lines)

    def load(self, text: str) -> "Scenario":
        """Returns the validated scenario of a text; raises `BadInput` that names options instead of lines."""
        try:
            return core.load_scenario(PATH, text, [])
        except BadInput as error:
            raise BadInput([self.rename_error(line) for line in error.lines]) from None

    def is_valid(self, sections: list[Section], opened: Setting | None = None) -> bool:
        """Returns true if the core accepts these sections, with `opened` not commented out."""
        try:
            core.load_scenario(PATH, render("", sections, opened), [])
        except BadInput:
            return False
        return True

    def rename_error(self, line: str) -> str:
        """Returns an error of the core without the line number, and with the option instead of its table."""
        text = re.sub(rf"^{re.escape(PATH)}:\d+: ", "", line)
        text = re.sub(r"^topology\.file\b", "--file", text)
        text = re.sub(r"^traffic\S*\.file\b", "--flows", text)
        for name, slot in self.options.items():
            text = re.sub(rf"^(variants\.\w+\.)?{re.escape(slot)}(\.kind)?: ", f"--{name}: ", text)
        return text

    def without_refused_defaults(self, plan: Plan, sections: list[Section]) -> list[Section]:
        """Returns the sections without tables that the core refuses and that only name a default.

        An example is `fabric = none`, which no model of a switch accepts.
        """
        for slot in [slot for slot, kind in self.choices.kinds.items() if kind == plan.defaults[slot]]:
            rest = [one for one in sections if one.heading != f"[{slot}]"]
            if not self.is_valid(sections) and self.is_valid(rest):
                return rest
        return sections

    def remove_refused_settings(self, section: Section) -> None:
        """Removes the lines of optional settings that the core refuses beside the others."""
        refused = [one for one in section.settings if one.optional and not self.is_valid(self.sections, one)]
        names = {*section.further, *(one.key for one in refused)}
        section.settings = [one for one in section.settings if one not in refused]
        section.further = [name for name in section.order if name in names]
