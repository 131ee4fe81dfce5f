"""Tests that the files for contributors agree with each other and with the files that they name."""

import hashlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "SECURITY.md", "docs/stability.md", "docs/internals/style.md")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
# Paths of the repository in code spans: at least one slash, or the name of a file at its top.
CODE_PATH = re.compile(r"`(\.?[\w.*-]+(?:/[\w.*-]*)+|[\w-]+\.(?:md|cff|toml|yml)|\.[\w-]+\.yaml)`")
# Files of a paper, of a user's results and of a build, which the text does not place.
NO_PATHS = {"paper.toml", "rows.toml", "claims.toml", "store/", ".venv/bin/overspill", "out/hypothesis"}

# Condition with `let` and `&&`, as rustfmt lays it out.
LET_CHAIN = re.compile(
    r"^\s*&& let |\b(?:if|while) [^;{}\n]*&& let |\b(?:if|while) let [^;=]*=(?!=)[^;{]*\n\s*&& ", re.MULTILINE
)


def named_paths(page: str) -> Iterator[Path]:
    """Yields the files and folders that a page names, from its links and its code."""
    text = (ROOT / page).read_text(encoding="utf-8")
    yield from ((ROOT / page).parent / found for found in LINK.findall(text))
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    names = (found for found in CODE_PATH.findall(prose) if found not in NO_PATHS)
    yield from (ROOT / found for found in names)


def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def workspace_package() -> dict[str, str]:
    """Returns version and oldest Rust of the workspace."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]


def workflow_commands(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


@pytest.mark.parametrize("page", PAGES)
def test_files_that_a_page_names_exist(page: str) -> None:
    places = list(named_paths(page))
    missing = [place for place in places if not (any(place.parent.glob(place.name)) or place.exists())]
    assert [place.relative_to(ROOT).as_posix() for place in missing] == []
    assert len(places) >= (30 if page == "CONTRIBUTING.md" else 1)


def test_citation_has_version_and_licences_of_the_workspace() -> None:
    citation, package = read_yaml(ROOT / "CITATION.cff"), workspace_package()
    assert citation["version"] == package["version"]
    assert " OR ".join(citation["license"]) == package["license"]


def test_bibtex_on_the_page_is_made_from_the_citation() -> None:
    citation = read_yaml(ROOT / "CITATION.cff")
    fields = {
        "title": citation["title"],
        "author": " and ".join(f"{{{author['name']}}}" for author in citation["authors"]),
        "version": citation["version"],
        "date": citation["date-released"],
        "license": " OR ".join(citation["license"]),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    page = (ROOT / "docs/citing.md").read_text()
    assert f"```bibtex\n@software{{overspill,\n{lines}\n}}\n```\n" in page
    assert f"Overspill {citation['version']}, scenario" in page
    scenario = re.search(
        r"^```toml\n(.*?)^```", (ROOT / "docs/tutorial.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert scenario is not None
    assert f"(SHA-256 {hashlib.sha256(scenario[1].encode()).hexdigest()[:8]}…)" in page


def test_newest_release_of_the_changelog_is_this_version() -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    releases = [heading for heading in headings if heading != "Unreleased"]
    assert headings.index(releases[0]) == headings.count("Unreleased") <= 1
    citation = read_yaml(ROOT / "CITATION.cff")
    assert releases[0] == f"{workspace_package()['version']} - {citation['date-released']}"


def test_workflow_calls_the_checks_of_this_repository() -> None:
    workflow = read_yaml(ROOT / ".github/workflows/ci.yml")
    jobs = workflow["jobs"]
    assert set(jobs) == {"test", "minimum", "wheels"}
    assert "bash .ci/run" in workflow_commands(jobs["test"]) and (ROOT / ".ci/run").is_file()
    targets = re.findall(r"make \S+ (\S+) (\S+)", workflow_commands(jobs["minimum"]))
    makefile = (ROOT / "Makefile").read_text()
    assert targets and all(f"\n{name}:" in makefile for pair in targets for name in pair)
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert len(used) >= 6
    assert [one for one in used if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", one)] == []


def test_oldest_versions_are_the_same_everywhere() -> None:
    rust = workspace_package()["rust-version"]
    python = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].strip(">=")
    minimum = read_yaml(ROOT / ".github/workflows/ci.yml")["jobs"]["minimum"]
    assert minimum["env"]["RUSTUP_TOOLCHAIN"] == rust and f"rust:{rust}-" in minimum["container"]["image"]
    assert f"make PYTHON=python{python} " in workflow_commands(minimum)
    assert f"Rust {rust} or newer" in (readme := (ROOT / "README.md").read_text())
    assert f"Python {python} or newer" in readme
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    assert f"cargo +{rust} check" in contributing and f"Python {python} or newer" in contributing


def test_toolchain_file_selects_a_rust_that_is_new_enough_and_has_the_lints() -> None:
    toolchain = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]
    oldest = tuple(int(part) for part in workspace_package()["rust-version"].split("."))
    channel = toolchain["channel"]
    assert channel == "stable" or tuple(int(part) for part in channel.split(".")) >= oldest
    assert set(toolchain["components"]) == {"clippy", "rustfmt"}


def test_sources_have_no_chains_of_let_before_the_rust_that_has_them() -> None:
    """Other syntax of newer compilers is found by the oldest one, which few machines have."""
    if tuple(int(part) for part in workspace_package()["rust-version"].split(".")) >= (1, 88):
        pytest.skip("Rust 1.88 has chains of let")
    folders = ("crates", "benches", "examples")
    sources = [path for folder in folders for path in (ROOT / folder).rglob("*.rs")]
    assert len(sources) > 100
    found = [path for path in sources if LET_CHAIN.search(path.read_text(encoding="utf-8"))]
    assert [path.relative_to(ROOT).as_posix() for path in found] == []


def test_forms_of_issues_have_what_the_forge_needs() -> None:
    forms = [path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]
    assert {path.stem for path in forms} == {"wrong_result", "crash", "paper", "feature"}
    for path in forms:
        form = read_yaml(path)
        assert {"name", "description", "body"} <= set(form), path.name
        names = [part["id"] for part in form["body"]]
        assert len(names) == len(set(names)), path.name
        assert all(part["attributes"]["label"] for part in form["body"]), path.name
        assert any(part.get("validations", {}).get("required") for part in form["body"]), path.name


def test_hooks_run_tools_of_this_repository() -> None:
    (repository,) = read_yaml(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert hook["language"] == "system"
        assert all((ROOT / word).is_file() for word in hook["entry"].split() if word.startswith("tests/"))
