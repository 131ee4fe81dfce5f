"""Tests that run every console block of README.md and docs and compare its output, or say why not."""

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from overspill import cli
from overspill.engine import core
from overspill.errors import BadInput

ROOT = Path(__file__).parents[1]
PAGES = tuple(
    path
    for places in ("README.md", "docs/**/*.md", "studies/*/README.md", "papers/*/README.md")
    for path in sorted(ROOT.glob(places))
)
FENCE_PATTERN = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PROGRAMS = (".venv/bin/", "make", "pip", "cargo", "wireshark", "export", "dask", "PYTHONMALLOC=")
ELISION = "..."

SWEEP = "a sweep of 90 runs or more: longer than 5 s"
MAKE = "builds, tests or publishes: a target of the Makefile, which CI runs"
MACHINE = "needs another program, machine or privilege"
SEEDS = "ten seeds, 30 runs or more: longer than 5 s"
DEMO = "prints the table of `make demo`, which OUTPUTS compares with the README"
PAPER = "runs of a paper: minutes"
STUDY = "a sweep of a study, which `make studies` runs: hours"
TUTORIAL = "tests/test_docs.py follows the tutorial word by word"
OWN_MECHANISM = "tests/test_own_answer.py builds and runs a copy of the example"
# Commands that are not run here, by their first words, with the reason.
NOT_RUN = {
    "make": MAKE,
    "overspill demo": DEMO,
    "cargo bench": MAKE,
    ".venv/bin/python benches/": "a benchmark: longer than 5 s",
    "pip install": MACHINE,
    "wireshark": MACHINE,
    "dask": MACHINE,
    "export DASK_DISTRIBUTED": MACHINE,
    "PYTHONMALLOC=malloc valgrind": MACHINE,
    "export OVERSPILL_CORE": OWN_MECHANISM,
    ".venv/bin/overspill run examples/own_answer": OWN_MECHANISM,
    ".venv/bin/overspill list mechanisms": OWN_MECHANISM,
    ".venv/bin/overspill report out/incast --figures": "draws every figure three times: longer than 5 s",
    ".venv/bin/overspill sweep scenarios/incast": SWEEP,
    ".venv/bin/overspill sweep scenarios/web_search": SWEEP,
    ".venv/bin/overspill sweep studies/": STUDY,
    ".venv/bin/overspill sweep tutorial.toml": TUTORIAL,
    ".venv/bin/overspill run tutorial.toml": TUTORIAL,
    ".venv/bin/overspill report out/tutorial": TUTORIAL,
    ".venv/bin/python tutorial.py": TUTORIAL,
    ".venv/bin/overspill run scenarios/incast.toml --seeds 10": SEEDS,
    ".venv/bin/overspill paper pabo tab1": PAPER,
    ".venv/bin/overspill paper pabo fig7a": PAPER,
    ".venv/bin/overspill paper pabo #": PAPER,
}
# Blocks of output without their command, by page and first line, with that command.
OUTPUTS = {
    (
        "README.md",
        "drop          detour          bounce",
    ): ".venv/bin/overspill run scenarios/incast.toml --seeds 5",
    ("docs/howto/trace.md", "incast, detour, seed 1:"): (
        ".venv/bin/overspill trace scenarios/incast.toml --packet most_detoured"
    ),
    ("docs/howto/import_sonic.md", "leaf, default, switch s0:"): (
        ".venv/bin/overspill explain memory out/leaf.toml --class 3"
    ),
    ("docs/howto/switch_memory.md", "switch_memory, alpha_1, switch s0:"): (
        ".venv/bin/overspill explain memory scenarios/switch_memory.toml"
    ),
    ("docs/howto/switch_memory.md", "switch.buffer.profiles.pg_lossless"): (
        ".venv/bin/overspill sweep scenarios/switch_memory.toml --variants alpha_1 --seeds 1 --metric pauses "
        "--over switch.buffer.profiles.pg_lossless.threshold.dynamic_th=-5..1:2"
    ),
    ("docs/howto/switch_memory.md", "...\nclass 3, 8 groups, until a loss"): (
        ".venv/bin/overspill explain memory scenarios/switch_memory.toml --class 3 --groups 8"
    ),
}
DATA = {
    ("docs/howto/papers.md", "mine/paper.toml"): "the files of a paper",
    ("docs/mechanisms/abq.md", "q > K: X = min"): "a diagram of states",
    ("docs/mechanisms/pause.md", "W = wire(F)"): "a formula, tested in crates/scenario",
    ("docs/mechanisms/pause.md", "headroom = "): "a formula, tested in crates/scenario",
    ("docs/scenarios.md", "bad.toml:2:"): "errors of a scenario, tested below",
    ("docs/scenarios.md", "bytes,share"): "a file of sizes",
    ("docs/scenarios.md", "start,source,destination,bytes"): "a file of flows",
}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def code_blocks() -> Iterator[tuple[str, str]]:
    """Yields page and text of all blocks without a language of their own."""
    for page in PAGES:
        yield from (
            (name_of(page), body)
            for kind, body in FENCE_PATTERN.findall(page.read_text())
            if kind in ("", "sh", "text")
        )


def is_console(body: str) -> bool:
    return body.startswith(PROGRAMS)


def split_commands(body: str) -> list[str]:
    """Returns the commands of a block; a command continued on the next line is one."""
    return [line for line in body.replace("\\\n", " ").splitlines() if line.strip()]


def reason_not_run(command: str) -> str | None:
    """Returns the reason for not running a command."""
    plain = " ".join(command.split())
    bare = plain.partition(" #")[0]
    marked = f"{bare} #"
    return next(
        (
            why
            for start, why in NOT_RUN.items()
            if (marked if start.endswith("#") else plain).startswith(start)
        ),
        None,
    )


ALL_COMMANDS = [
    (page, command) for page, body in code_blocks() if is_console(body) for command in split_commands(body)
]
COMMANDS_RUN = list(
    dict.fromkeys(
        shlex.join(shlex.split(command, comments=True))
        for _, command in ALL_COMMANDS
        if not reason_not_run(command)
    )
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the project's scenarios and papers, and the first scenario of the guide."""
    made = tmp_path_factory.mktemp("commands")
    for name in ("scenarios", "papers", "examples", "studies"):
        (made / name).symlink_to(ROOT / name)
    (made / "out").mkdir()
    first = next(
        body
        for kind, body in FENCE_PATTERN.findall((ROOT / "docs/scenarios.md").read_text())
        if kind == "toml"
    )
    (made / "first.toml").write_text(first)
    return made


@pytest.fixture(scope="module")
def printed(folder: Path) -> dict[str, str]:
    """Returns the output of each command that is run, in the order of the pages."""
    core.use_backend(None)
    before, found = Path.cwd(), {}
    os.chdir(folder)
    try:
        for command in COMMANDS_RUN:
            program, *arguments = shlex.split(command)
            target = Path(arguments[arguments.index(">") + 1]) if ">" in arguments else None
            arguments = arguments[: arguments.index(">")] if target else arguments
            assert program == ".venv/bin/overspill", command
            out, err = io.StringIO(), io.StringIO()
            with (
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                pytest.raises(SystemExit) as left,
            ):
                cli.main(arguments)
            assert left.value.code in (0, None), f"{command}\n{out.getvalue()}\n{err.getvalue()}"
            if target:
                target.write_text(out.getvalue())
            found[command] = out.getvalue()
    finally:
        os.chdir(before)
    return found


def test_every_page_with_commands_of_a_clone_leads_to_those_of_a_wheel() -> None:
    # A custom mechanism needs a clone.
    clone = {"docs/commands.md", "docs/howto/own_answer.md"}
    pages = [page for page in PAGES if page.is_relative_to(ROOT / "docs") and name_of(page) not in clone]
    found = {name_of(page): page.read_text() for page in pages if ".venv/bin/overspill" in page.read_text()}
    assert len(found) >= 8
    link = "commands.md#with-an-installed-wheel)"
    assert [name for name, text in found.items() if link not in text.partition("\n## ")[0]] == []
    examples = {path.name for path in (ROOT / "scenarios").glob("*.toml")}
    printed = re.findall(
        r"overspill demo (\w+) --print > (\S+\.toml)", (ROOT / "docs/commands.md").read_text()
    )
    assert printed and all(f"{name}.toml" == file and file in examples for name, file in printed)


def test_every_block_is_classified() -> None:
    others = [(page, body) for page, body in code_blocks() if not is_console(body)]
    known = {**OUTPUTS, **DATA}
    unknown = [
        (page, body.splitlines()[0])
        for page, body in others
        if not any(page == where and body.lstrip().startswith(first) for where, first in known)
    ]
    assert unknown == [], "say in OUTPUTS or DATA what it is"
    unused = [
        start
        for start in NOT_RUN
        if not any(reason_not_run(command) == NOT_RUN[start] for _, command in ALL_COMMANDS)
    ]
    assert unused == [], "no page has such a command any more"


def test_every_command_that_is_not_listed_runs(printed: dict[str, str], folder: Path) -> None:
    assert len(printed) >= 15
    assert (folder / "out/incast.json").read_text().startswith("{")
    assert list((folder / "out/formats/export").iterdir()) != []


@pytest.mark.parametrize(("page", "first"), OUTPUTS)
def test_outputs_on_pages_are_what_the_command_prints(page: str, first: str, printed: dict[str, str]) -> None:
    (block,) = [body for where, body in code_blocks() if where == page and body.lstrip().startswith(first)]
    lines = [line.rstrip() for line in printed[shlex.join(shlex.split(OUTPUTS[page, first]))].splitlines()]
    at = 0
    for chunk in re.split(rf"^{re.escape(ELISION)}$\n", block, flags=re.MULTILINE):
        wanted = [line.rstrip() for line in chunk.splitlines()]
        places = [place for place in range(at, len(lines)) if lines[place : place + len(wanted)] == wanted]
        assert places, "\n".join(["not printed so:", *wanted, "printed:", *lines[at:]])
        at = places[0] + len(wanted)


def test_errors_on_the_page_are_those_of_such_a_file(tmp_path: Path) -> None:
    (block,) = [body for page, body in code_blocks() if page == "docs/scenarios.md" and "bad.toml:2:" in body]
    lines = ['name = "bad"', 'duration = "200"', "[switch.buffer]", 'kind = "per_port"', 'size = "60kb"']
    lines += ["[switch.overflow]", 'kind = "drop"', "[topology]", 'kind = "star"', "n = 3"]
    lines += [
        "[[traffic]]",
        'name = "x"',
        'kind = "incast"',
        "senders = 1",
        'receiver = "h0"',
        'size = "1KB"',
    ]
    path = tmp_path / "bad.toml"
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput) as refused:
        core.load_document("bad.toml", path.read_text(), [])
    assert refused.value.lines == [line.strip() for line in block.splitlines()]
