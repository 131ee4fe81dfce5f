"""Loader of a paper's Python code: the modules `measures` and `figures` in its folder."""

from __future__ import annotations

import hashlib
import importlib
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from overspill import Failed, Unwritable
from overspill.atomic_files import write_text

PACKAGE_NAME = "overspill_papers"
MEASURES_TABLE, DRAWINGS_TABLE = (
    ("measures", "MEASURES"),
    ("figures", "DRAWINGS"),
)  # modules, and the table that each has


def register_package(folder: Path) -> str:
    """Makes the folder of a paper a package; returns its name, such as `overspill_papers.qcn_os`.

    A package of another folder with the same name is replaced.
    """
    if PACKAGE_NAME not in sys.modules:
        sys.modules[PACKAGE_NAME] = empty_package(PACKAGE_NAME, [])
    name = f"{PACKAGE_NAME}." + re.sub(r"\W", "_", folder.name)
    path = [str(folder.resolve())]
    known = sys.modules.get(name)
    if known is None or list(known.__path__) != path:
        for one in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
            del sys.modules[one]
        sys.modules[name] = empty_package(name, path)
    return name


def empty_package(name: str, path: list[str]) -> ModuleType:
    """Returns a new package without code."""
    made = ModuleType(name)
    made.__path__ = path
    return made


def make_inputs(folder: Path) -> None:
    """Writes the files that `inputs.py` of a paper makes, if any is missing.

    Raises `Failed` if they differ on this machine, and `Unwritable` if the folder cannot be written.
    """
    if not (folder / "inputs.py").is_file():
        return
    module = importlib.import_module(f"{register_package(folder)}.inputs")
    if all((folder / name).is_file() for name in module.INPUTS):
        return
    made = {name: text() for name, text in module.INPUTS.items()}
    if hashlib.sha256("".join(made.values()).encode()).hexdigest() != module.DIGEST:
        raise Failed(
            f"{folder / 'inputs.py'}: made other files than for the published rows (`DIGEST`); "
            "restore inputs.py"
        )
    try:
        for name, text in made.items():
            (folder / name).parent.mkdir(exist_ok=True)
            write_text(folder / name, text)
    except OSError as error:
        raise Unwritable(f"{folder}: cannot be written: {error.strerror or error}") from error


def load_functions(folder: Path, given: tuple[str, str], figures: Collection[str]) -> Mapping[str, Any]:
    """Returns the functions of a paper's `measures` or `figures` by figure id; `figures` may be missing.

    Raises `Failed` if other code is missing, or has a function for an unknown id.
    """
    name, table = given
    module = f"{register_package(folder)}.{name}"
    importlib.invalidate_caches()
    try:
        loaded = importlib.import_module(module)
    except Exception as error:
        if not isinstance(error, ModuleNotFoundError) or error.name != module:
            raise Failed(f"{folder / name}: cannot be loaded: {type(error).__name__}: {error}") from error
        if given == DRAWINGS_TABLE:
            return {}
        raise Failed(f"{folder}: no code: expected {name}.py, or a folder {name}, with {table}") from None
    found: Mapping[str, Any] | None = getattr(loaded, table, None)
    if not isinstance(found, Mapping):
        raise Failed(f"{folder / name}: no {table}; expected functions by ids of figures")
    if unknown := [one for one in found if one not in figures]:
        raise Failed(f"{folder / name}: {table} has {unknown[0]!r}, which is not a figure of the paper")
    return found
