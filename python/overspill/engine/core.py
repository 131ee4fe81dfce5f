"""A thin adapter over the Rust core, and the one place where another core can be put in."""

import importlib
import importlib.machinery
import importlib.util
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from overspill.errors import BadInput, Failed


class CoreRun(Protocol):
    """One variant with one seed."""

    def advance(self, max_events: int, max_rows: int = ...) -> dict[str, Any]:
        """Go on for at most so many events; less where a table has so many rows."""

    def take(self, at_least: int) -> dict[str, Any]:
        """The columns of the tables that grow and have at least so many rows, which the core forgets."""

    def captured(self, at_most: int) -> list[bytes]:
        """The next bytes of each capture, with at most so many frames."""

    def results(self) -> dict[str, Any]:
        """The summary and the columns."""


class CoreTrace(Protocol):
    """A packet trace that is looked for."""

    def advance(self, max_events: int) -> dict[str, Any]:
        """Go on for about so many events."""

    def results(self) -> dict[str, Any]:
        """The summary and the columns."""


class CoreScenario(Protocol):
    """A scenario, checked once for all its runs."""

    def document(self) -> str:
        """What it means, as JSON."""

    def network(self, variant: str) -> str:
        """The network of a variant, as JSON."""

    def run(
        self,
        variant: str,
        seed: int,
        max_events: int | None = None,
        pcap: list[str] = ...,
        pcap_snaplen: int | None = None,
    ) -> CoreRun:
        """A run that has not begun, cut after `max_events` events if given, with captures of links."""

    def links(self, variant: str, pcap: list[str]) -> list[str]:
        """The names of the links that would be captured."""

    def trace(
        self,
        variant: str,
        seed: int,
        packet: str | tuple[int, bool, int],
        at_ps: tuple[int, int, int] | None = None,
    ) -> CoreTrace:
        """The trace of a packet, which is not looked for yet."""


class Core(Protocol):
    """What `overspill._core` offers."""

    ScenarioError: type[ValueError]

    def Scenario(self, path: str, text: str, sets: list[str]) -> CoreScenario:
        """The scenario, validated."""

    def catalogue(self) -> str:
        """What a scenario may name, as JSON."""

    def curve(self, kind: str, sets: list[str], steps: int, places: list[float] = ...) -> str | None:
        """The curve of a mechanism, as JSON."""

    def schema(self) -> str:
        """The JSON Schema of a scenario."""

    def version(self) -> str:
        """The version of the core."""


VARIABLE = "OVERSPILL_CORE"
"""The environment variable that names another compiled core: a module, or the file of one."""

_backend: Core | None = None


def use(backend: Core | None) -> None:
    """Take this core from now on; `None` goes back to the compiled one."""
    global _backend
    _backend = backend


def compiled(named: str) -> Core:
    """The compiled core that is named: a module, or the file of one (`own.so`, `libown.so`)."""
    file = Path(named)
    if file.suffix not in (*importlib.machinery.EXTENSION_SUFFIXES, ".so", ".dylib", ".dll"):
        return cast(Core, importlib.import_module(named))
    # The module's own name is that of the file, which Cargo calls lib<name>.
    name = file.name.split(".")[0].removeprefix("lib")
    loader = importlib.machinery.ExtensionFileLoader(name, str(file.resolve()))
    spec = importlib.util.spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(f"{file} is no module")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return cast(Core, module)


def backend() -> Core:
    """The core in use."""
    global _backend
    if _backend is None:
        named = os.environ.get(VARIABLE, "")
        try:
            _backend = compiled(named or "overspill._core")
        except ImportError as error:
            what = f"the core that {VARIABLE} names" if named else "the compiled core"
            build = "build it, or unset the variable" if named else "build it with `make setup`"
            raise Failed(f"{what} cannot be loaded ({error}); {build}") from error
    return _backend


def scenario(path: str, text: str, sets: list[str]) -> CoreScenario:
    """The validated scenario; `BadInput` with the core's lines otherwise."""
    core = backend()
    try:
        return core.Scenario(path, text, sets)
    except core.ScenarioError as error:
        raise BadInput(error_lines(error)) from error


def links(scenario: CoreScenario, variant: str, pcap: list[str]) -> list[str]:
    """The names of the links that a variant would capture; `BadInput` where it has none of a name."""
    try:
        return scenario.links(variant, pcap)
    except backend().ScenarioError as error:
        raise BadInput(error_lines(error)) from error


def load(path: str, text: str, sets: list[str]) -> dict[str, Any]:
    """What a scenario means: its variants, with every default filled in."""
    return document(scenario(path, text, sets))


def document(scenario: CoreScenario) -> dict[str, Any]:
    """The same of a scenario that is validated."""
    return cast(dict[str, Any], json.loads(scenario.document()))


def catalogue() -> list[dict[str, Any]]:
    """What a scenario may name."""
    return cast(list[dict[str, Any]], json.loads(backend().catalogue()))


def curve(kind: str, sets: list[str], steps: int, places: Sequence[float] = ()) -> dict[str, Any] | None:
    """The curve of a mechanism with these settings, if it has one; `BadInput` where one is wrong."""
    core = backend()
    try:
        found = core.curve(kind, sets, steps, list(places))
    except core.ScenarioError as error:
        raise BadInput(error_lines(error)) from error
    return None if found is None else cast(dict[str, Any], json.loads(found))


def schema() -> str:
    """The JSON Schema of a scenario."""
    return backend().schema()


def version() -> str:
    """The version of the core."""
    return backend().version()


def error_lines(error: BaseException) -> list[str]:
    """The lines of a scenario error, whichever way it was raised."""
    first = error.args[0] if error.args else "the scenario is not valid"
    return [str(line) for line in first] if isinstance(first, list | tuple) else [str(first)]
