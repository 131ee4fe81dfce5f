"""Tests of the packages that crates.io gets of the Rust crates; `make crates` compiles them."""

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
MAX_PACKAGE_BYTES = 2_000_000  # largest size of the sources of a package in bytes
# Files of a package other than its sources.
FILES = {
    ".cargo_vcs_info.json",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
}


def run_cargo(*arguments: str) -> str:
    done = subprocess.run(
        ["cargo", *arguments, "--offline"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def published_crates() -> dict[str, Path]:
    """Returns the folder of each crate that may be published, by the name of its package."""
    return {
        one["name"]: Path(one["manifest_path"]).parent for one in all_packages() if one["publish"] is None
    }


def all_packages() -> list[dict[str, Any]]:
    """Returns the metadata of all packages of the workspace."""
    found: list[dict[str, Any]] = json.loads(run_cargo("metadata", "--no-deps", "--format-version", "1"))[
        "packages"
    ]
    return found


def test_packages_have_sources_readme_and_licences_alone() -> None:
    crates = published_crates()
    folders = {path.parent for path in ROOT.glob("crates/*/Cargo.toml")}
    assert folders - set(crates.values()) == {ROOT / "crates/property"} and set(crates.values()) <= folders
    for name, folder in crates.items():
        files = set(run_cargo("package", "--list", "--allow-dirty", "--package", name).splitlines())
        sources = {file for file in files if file.startswith("src/") or file == "build.rs"}
        # A checkout without git has no revision.
        assert files - sources | {".cargo_vcs_info.json"} == FILES, name
        assert "src/lib.rs" in sources
        assert sum((folder / file).stat().st_size for file in sources) <= MAX_PACKAGE_BYTES, name


def test_packages_do_not_depend_on_crates_that_are_not_published() -> None:
    crates = published_crates()
    users = set()
    for package in (one for one in all_packages() if one["name"] in crates):
        for used in package["dependencies"]:
            if "path" in used and used["name"] not in crates:
                # Cargo leaves a development dependency without a version out of the package.
                assert (used["kind"], used["req"]) == ("dev", "*"), f"{package['name']}: {used['name']}"
                users.add((package["name"].removeprefix("overspill-"), used["name"]))
    assert users == {(name, "overspill-property") for name in ("mech", "dataplane", "wire", "sim")}


@pytest.mark.parametrize("licence", ["LICENSE-APACHE", "LICENSE-MIT"])
def test_licence_of_a_crate_is_that_of_the_repository(licence: str) -> None:
    for folder in published_crates().values():
        assert (folder / licence).read_text(encoding="utf-8") == (ROOT / licence).read_text(encoding="utf-8")


def test_crates_depend_on_the_workspace_version() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    versions = {one["version"] for one in workspace["dependencies"].values() if "path" in one}
    assert versions == {workspace["package"]["version"]}


def test_page_of_the_crates_has_a_line_for_each() -> None:
    page = (ROOT / "crates/README.md").read_text(encoding="utf-8")
    assert [name for name in published_crates() if f"| `{name}` |" not in page] == []


def test_lock_file_is_up_to_date() -> None:
    assert "overspill-py v" in run_cargo("tree", "--workspace", "--locked", "--depth", "0")
