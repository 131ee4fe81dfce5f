"""Tests that the checker of Python imports finds circles and imports against the order of packages."""

from pathlib import Path

import pytest

import python_circles


def write_package(folder: Path, **files: str) -> Path:
    """Creates a package of these files, named by their paths with `__` for `/`; returns its folder."""
    for name, text in files.items():
        path = folder / "overspill" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "overspill"


def test_two_modules_that_use_each_other_are_a_circle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write_package(
        tmp_path, results__a="from overspill.results.b import f\n", results__b="import overspill.results.a\n"
    )
    assert python_circles.main([str(root)]) == 1
    assert "2 files use each other in a circle" in capsys.readouterr().out


@pytest.mark.parametrize(
    "back",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from overspill.results import a\n",
        "def late() -> None:\n    from overspill.results import a\n",
    ],
)
def test_imports_for_type_checkers_and_in_functions_count(tmp_path: Path, back: str) -> None:
    files = {"results__a": "from overspill.results import b\n", "results__b": back}
    root = write_package(tmp_path, **files)
    assert python_circles.main([str(root)]) == 1


def test_relative_imports_count(tmp_path: Path) -> None:
    files = {"papers__a": "from .. import stats\nfrom .b import f\n", "papers__b": "from . import a\n"}
    assert python_circles.main([str(write_package(tmp_path, **files))]) == 1
    up = {"figures__a": "from ..measures import b\n", "measures__b": "from ..figures.a import f\n"}
    assert python_circles.main([str(write_package(tmp_path / "up", **up))]) == 1


def test_an_earlier_package_may_not_use_a_later_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = write_package(
        tmp_path,
        cli__a="from overspill.stats import b\n",
        stats__b="",
        stats__c="from overspill.cli import a\n",
    )
    assert python_circles.main([str(root)]) == 1
    assert capsys.readouterr().out == "overspill/stats/c.py:1: stats uses cli, which comes after it\n"


def test_a_chain_is_none(tmp_path: Path) -> None:
    root = write_package(
        tmp_path,
        cli__a="from overspill.report import b\n",
        report__b="from overspill.stats import c\n",
        stats__c="",
    )
    assert python_circles.main([str(root)]) == 0


def test_the_command_has_none() -> None:
    assert python_circles.main([]) == 0
