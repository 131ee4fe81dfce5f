"""Thin adapter over the Rust core, and the only module that selects another core.

`_core.pyi` declares the interface of a core.
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


CORE_VARIABLE = "OVERSPILL_CORE"
"""Environment variable that names another compiled core: a module, or the file of one."""

_backend: ModuleType | None = None


def use_backend(backend: ModuleType | None) -> None:
    """Selects the core that later calls use; `None` selects the compiled core of the package."""
    global _backend
    _backend = backend


def load_compiled(named: str) -> ModuleType:
    """Loads a compiled core by name: a module, or the file of one (`own.so`, `libown.so`)."""
    file = Path(named)
    if file.suffix not in (*importlib.machinery.EXTENSION_SUFFIXES, ".so", ".dylib", ".dll"):
        return importlib.import_module(named)
    # Python looks for a function `PyInit_NAME`, which has no `lib`: Cargo puts that before the file name.
    name = file.name.split(".")[0].removeprefix("lib")
    loader = importlib.machinery.ExtensionFileLoader(name, str(file.resolve()))
    spec = importlib.util.spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(f"{file} is not a module")
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def check_version(core: ModuleType) -> None:
    """Raises `ImportError` if a core has another version than the installed package."""
    from importlib import metadata

    try:
        package = metadata.version("overspill")
    except metadata.PackageNotFoundError:
        return
    if core.version() != package:
        raise ImportError(f"it has version {core.version()}, and the package {package}")


def backend() -> ModuleType:
    """Returns the core in use; raises `Failed` if it cannot be loaded."""
    global _backend
    if _backend is None:
        named = os.environ.get(CORE_VARIABLE, "")
        try:
            loaded = load_compiled(named or "overspill._core")
            if named:
                check_version(loaded)
            _backend = loaded
        except ImportError as error:
            what = f"the core that {CORE_VARIABLE} names" if named else "the compiled core"
            build = "build it, or unset the variable" if named else "build it with `make setup`"
            raise Failed(f"{what} cannot be loaded ({error}); {build}") from error
    return _backend


def load_scenario(path: str, text: str, sets: list[str]) -> Scenario:
    """Returns the validated scenario; raises `BadInput` with the core's lines if it is not valid."""
    core = backend()
    try:
        return cast("Scenario", core.Scenario(path, text, sets))
    except core.ScenarioError as error:
        raise BadInput(error_lines(error)) from error


def parse_toml(path: str, text: str) -> dict[str, Any]:
    """Returns a TOML text as a dictionary; raises `TOMLDecodeError` if it is not TOML.

    Raises `BadInput` if it is nested too deep, since `tomllib` and readers of its result have no bound of
    their own.
    """
    core = backend()
    try:
        core.check_nesting(path, text)
    except core.ScenarioError as error:
        raise BadInput(error_lines(error)) from error
    return tomllib.loads(text)


def captured_links(scenario: Scenario, variant: str, pcap: list[str]) -> list[str]:
    """Returns the names of the links that a variant captures; raises `BadInput` for an unknown link."""
    try:
        return scenario.links(variant, pcap)
    except backend().ScenarioError as error:
        raise BadInput(error_lines(error)) from error


def load_document(path: str, text: str, sets: list[str]) -> dict[str, Any]:
    """Returns the resolved document of a scenario: its variants with all defaults."""
    return document_of(load_scenario(path, text, sets))


def document_of(scenario: Scenario) -> dict[str, Any]:
    """Returns the resolved document of a validated scenario."""
    return cast(dict[str, Any], json.loads(scenario.document()))


def catalogue() -> list[dict[str, Any]]:
    """Returns the declarations of all tables and mechanisms that a scenario may have."""
    return cast(list[dict[str, Any]], json.loads(backend().catalogue()))


def aliases() -> list[dict[str, str]]:
    """Returns aliases: names from papers, standards and other tools (`typed`), Overspill's names (`said`).

    Keys of each: `typed`, `said`, `slot`, `kind`, `param` and `note`.
    """
    return cast(list[dict[str, str]], json.loads(backend().aliases()))


def curve(kind: str, sets: list[str], steps: int, places: Sequence[float] = ()) -> dict[str, Any] | None:
    """Returns the curve of a mechanism, such as its marking probability by queue length.

    Args:
        kind: Name of the mechanism, as `overspill list mechanisms` prints it.
        sets: Settings of the mechanism, as `NAME=VALUE` texts.
        steps: Number of steps along x.
        places: Further x positions, whose values are under `asked`.

    Returns:
        The curve with axes (`x`, `y`), positions (`places`), and `values` of each of `lines`. `None` if the
        mechanism has no curve.

    Raises:
        BadInput: If a setting is not valid.

    """
    core = backend()
    try:
        found = core.curve(kind, sets, steps, list(places))
    except core.ScenarioError as error:
        raise BadInput(error_lines(error)) from error
    return None if found is None else cast(dict[str, Any], json.loads(found))


def list_numbered_kinds() -> dict[str, list[str]]:
    """Returns the names of numbered kinds in tables, such as reasons; the number is the index in its list."""
    return cast(dict[str, list[str]], json.loads(backend().number_names()))


def schema() -> str:
    """Returns the JSON Schema of a scenario."""
    return cast(str, backend().schema())


def version() -> str:
    """Returns the version of the core."""
    return cast(str, backend().version())


def error_lines(error: BaseException) -> list[str]:
    """Returns the lines of a scenario error, which is raised with a list of lines or with one text."""
    first = error.args[0] if error.args else "the scenario is not valid"
    return [str(line) for line in first] if isinstance(first, list | tuple) else [str(first)]
