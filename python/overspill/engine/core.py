"""A thin adapter over the Rust core, and the one place where another core can be put in.

`_core.pyi` says what a core offers.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import json
import os
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from overspill.errors import BadInput, Failed

if TYPE_CHECKING:
    from overspill._core import Scenario


VARIABLE = "OVERSPILL_CORE"
"""The environment variable that names another compiled core: a module, or the file of one."""

_backend: ModuleType | None = None


def use(backend: ModuleType | None) -> None:
    """Take this core from now on; `None` goes back to the compiled one."""
    global _backend
    _backend = backend


def compiled(named: str) -> ModuleType:
    """The compiled core that is named: a module, or the file of one (`own.so`, `libown.so`)."""
    file = Path(named)
    if file.suffix not in (*importlib.machinery.EXTENSION_SUFFIXES, ".so", ".dylib", ".dll"):
        return importlib.import_module(named)
    # The module's own name is that of the file, which Cargo calls lib<name>.
    name = file.name.split(".")[0].removeprefix("lib")
    loader = importlib.machinery.ExtensionFileLoader(name, str(file.resolve()))
    spec = importlib.util.spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(f"{file} is no module")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def backend() -> ModuleType:
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


def scenario(path: str, text: str, sets: list[str]) -> Scenario:
    """The validated scenario; `BadInput` with the core's lines otherwise."""
    core = backend()
    try:
        return cast("Scenario", core.Scenario(path, text, sets))
    except core.ScenarioError as error:
        raise BadInput(error_lines(error)) from error


def parsed(path: str, text: str) -> dict[str, Any]:
    """Returns a TOML text as a dictionary.

    `BadInput` if it is nested too deep, since `tomllib` and readers of its result have no bound of their own;
    `TOMLDecodeError` if it is no TOML.
    """
    core = backend()
    try:
        core.check_nesting(path, text)
    except core.ScenarioError as error:
        raise BadInput(error_lines(error)) from error
    return tomllib.loads(text)


def links(scenario: Scenario, variant: str, pcap: list[str]) -> list[str]:
    """The names of the links that a variant would capture; `BadInput` where it has none of a name."""
    try:
        return scenario.links(variant, pcap)
    except backend().ScenarioError as error:
        raise BadInput(error_lines(error)) from error


def load(path: str, text: str, sets: list[str]) -> dict[str, Any]:
    """What a scenario means: its variants, with every default filled in."""
    return document(scenario(path, text, sets))


def document(scenario: Scenario) -> dict[str, Any]:
    """The same of a scenario that is validated."""
    return cast(dict[str, Any], json.loads(scenario.document()))


def catalogue() -> list[dict[str, Any]]:
    """What a scenario may name."""
    return cast(list[dict[str, Any]], json.loads(backend().catalogue()))


def aliases() -> list[dict[str, str]]:
    """Names from papers, standards and other tools (`typed`, `said`), each with what it stands for.

    Keys of each: `typed`, `said`, `slot`, `kind`, `param` and `note`.
    """
    return cast(list[dict[str, str]], json.loads(backend().aliases()))


def curve(kind: str, sets: list[str], steps: int, places: Sequence[float] = ()) -> dict[str, Any] | None:
    """The curve of a mechanism with these settings, if it has one; `BadInput` where one is wrong."""
    core = backend()
    try:
        found = core.curve(kind, sets, steps, list(places))
    except core.ScenarioError as error:
        raise BadInput(error_lines(error)) from error
    return None if found is None else cast(dict[str, Any], json.loads(found))


def numbered() -> dict[str, list[str]]:
    """What small numbers in tables stand for, by table, from 0 on."""
    return cast(dict[str, list[str]], json.loads(backend().numbered()))


def schema() -> str:
    """The JSON Schema of a scenario."""
    return cast(str, backend().schema())


def version() -> str:
    """The version of the core."""
    return cast(str, backend().version())


def error_lines(error: BaseException) -> list[str]:
    """The lines of a scenario error, whichever way it was raised."""
    first = error.args[0] if error.args else "the scenario is not valid"
    return [str(line) for line in first] if isinstance(first, list | tuple) else [str(first)]
