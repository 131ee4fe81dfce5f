"""Puts deliberate faults into the code, one at a time, and says whether the tests catch them.

The faults are data: `tests/mutations/*.toml`, which `make docs` makes a page of. `make mutations` runs all,
`make mutations MUTATIONS=rfc6298` those in which the words occur. It works on a copy of the tree under
out/mutations and goes on where it was interrupted.
"""

import argparse
import fcntl
import hashlib
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import time
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "mutations"
ABORTED_TEXT = "the tests end before their time"
SCRATCH_FOLDER = ROOT / "out" / "mutations"
# Sources of a build and its tests.
SOURCE_PATHS = (
    "Cargo.toml",
    "Cargo.lock",
    "crates",
    "conformance",
    "golden",
    "docs/internals/truth.md",
    "docs/mechanisms",
    "scenarios",
    "benches/whole_runs.rs",
    "benches/micro",
    "examples",
)
# Sources of tests in a crate below `scenario`, besides the crates.
LOWER_PATHS = ("Cargo.toml", "Cargo.lock", "conformance")
LOWER_CRATES = {"mech": ("units",), "dataplane": ("units", "mech"), "wire": ("units", "mech", "dataplane")}
# Sources of the Python tests, with the core that is built there, if any.
PYTHON_PATHS = (
    "pyproject.toml",
    "python",
    "tests/python",
    "papers",
    "scenarios/sonic",
    "scenarios/switch_memory.toml",
    "docs/howto/import_sonic.md",
)
PYTEST_PREFIX = (
    "pytest "  # first word of `tests` for faults in Python; other faults name a Rust package and a target
)
TEST_SECONDS = 300
TEST_MEMORY = 6 << 30
# Without optimization if building takes longer than the tests.
CARGO_PROFILE = {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_TEST_DEBUG": "0"}
QUICK_PROFILE = CARGO_PROFILE | {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_TEST_OPT_LEVEL": "0"}
# A failure is enough: inputs are neither shrunk nor kept.
PROPTEST = {"PROPTEST_MAX_SHRINK_ITERS": "0", "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1"}

CASE_PATTERN = re.compile(
    r"^(rfc\d+|pfabric|linux(?:_[\d_]+)?|inet|cp)\.toml, ((?:RFC|pFabric|Linux|INET|CP|NDP) [^:]*): (.*)$",
    re.MULTILINE,
)
FAILED_PATTERN = re.compile(r"^    ([\w:]+)$", re.MULTILINE)
PYTHON_FAILED_PATTERN = re.compile(r"^(?:FAILED|ERROR) \S*?(\w+)\.py(?:::(\w+))?", re.MULTILINE)


class UnusableFault(Exception):
    """A fault that does not apply to its file."""


@dataclass(frozen=True)
class Fault:
    """A deliberate fault."""

    table: str
    rules: tuple[str, ...]
    fault: str
    file: str
    find: str
    replace: str
    nth: int | None
    tests: str
    caught_by: tuple[str, ...]
    optimized: bool = False
    why: str = ""

    @property
    def name(self) -> str:
        return f"{self.table}: {self.fault}"

    @property
    def expected(self) -> str:
        return "survived" if self.why else "caught"

    def apply(self, text: str) -> str:
        """Returns the text with the fault in it."""
        parts, nth = text.split(self.find), self.nth or 1
        if not nth < len(parts) or (self.nth is None and len(parts) > 2):
            said = f"{nth} times or more" if self.nth else "once"
            raise UnusableFault(
                f"{self.name}: `find` occurs {len(parts) - 1} times in {self.file}, not {said}"
            )
        return self.find.join(parts[:nth]) + self.replace + self.find.join(parts[nth:])

    @property
    def reads(self) -> str:
        """Name of the group of sources on which the fault's outcome depends; see `source_groups`."""
        package = self.tests.split()[0]
        if self.tests.startswith(PYTEST_PREFIX):
            return "python"
        return package if package in LOWER_CRATES else "all crates"

    @property
    def key(self) -> str:
        """Key of the fault's outcome, apart from the sources."""
        return repr((self.rules, self.file, self.find, self.replace, self.nth, self.tests))

    def missed(self, failed: "FailedTests") -> list[str]:
        """Returns the rules of RFCs without a failed case."""
        seen = {rule for _, rule, _ in failed.cases}
        return [rule for rule in self.rules if rule.startswith("RFC ") and rule not in seen]


@dataclass
class FaultTable:
    """A file of faults."""

    name: str
    title: str
    about: str
    faults: list[Fault] = field(default_factory=list)
    equivalent: list[Fault] = field(default_factory=list)


@dataclass
class FailedTests:
    """Failures: names of tests, and cases of conformance/tcp as file, rule, name."""

    tests: list[str]
    cases: list[tuple[str, str, str]]

    def caught_by(self, rules: tuple[str, ...]) -> list[str]:
        """Returns the first failed case of each rule, or else the first failed test."""
        found = []
        for rule in rules:
            found += [f"{file}: {name}" for file, of, name in self.cases if of == rule][:1]
        return found or self.tests[:1]

    def shown(self) -> str:
        lines = [f"{file}, {rule}: {name}" for file, rule, name in self.cases] or self.tests
        more = [f"and {len(lines) - 3} more"] if len(lines) > 3 else []
        return "".join(f"    {line}\n" for line in [*lines[:3], *more])


def as_tuple(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def parse_fault(table: str, head: dict[str, Any], row: dict[str, Any]) -> Fault:
    return Fault(
        table=table,
        rules=as_tuple(row["rule"]),
        fault=row["fault"],
        file=f"{head['folder']}/{row['file']}",
        find=row["find"],
        replace=row["replace"],
        nth=row.get("nth"),
        tests=row.get("tests", head["tests"]),
        caught_by=as_tuple(row.get("caught_by", [])),
        optimized=head.get("optimized", False),
        why=row.get("why", ""),
    )


def read_table(path: Path) -> FaultTable:
    data = tomllib.loads(path.read_text())
    table = FaultTable(path.stem, data["title"], data["about"])
    table.faults = [parse_fault(path.stem, data, row) for row in data.get("fault", [])]
    table.equivalent = [parse_fault(path.stem, data, row) for row in data.get("equivalent", [])]
    return table


def read_tables() -> list[FaultTable]:
    return sorted(
        (read_table(path) for path in FOLDER.glob("*.toml")), key=lambda t: (t.name[:3] != "rfc", t.name)
    )


class SourceTree:
    """Copy of the sources into which faults are inserted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "tree"
        self.target = folder / "target"
        self.sync()

    def sync(self) -> None:
        """Makes the copy equal to the tree; only differences are written, so that little is rebuilt."""
        wanted = {
            path.relative_to(ROOT)
            for top in (*SOURCE_PATHS, *PYTHON_PATHS)
            for path in list_files(ROOT / top)
        }
        for path in list_files(self.folder):
            if path.relative_to(self.folder) not in wanted:
                path.unlink()
        for path in sorted(wanted):
            write_if_changed(self.folder / path, (ROOT / path).read_bytes())

    def cargo(
        self, command: list[str], optimized: bool, seconds: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        env = os.environ | (CARGO_PROFILE if optimized else QUICK_PROFILE)
        env |= PROPTEST | {"CARGO_TARGET_DIR": str(self.target), "CARGO_TERM_COLOR": "never"}
        return subprocess.run(
            ["cargo", "test", *command],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=seconds,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (TEST_MEMORY, TEST_MEMORY)),
        )

    def pytest(self, tests: str) -> tuple[str, FailedTests]:
        """Runs Python tests on the sources of the copy."""
        own = ROOT / ".venv" / "bin" / "python"
        python = str(own) if own.exists() else sys.executable
        command = [python, "-m", "pytest", "-rfE", "--tb=no", "-p", "no:cacheprovider", *shlex.split(tests)]
        env = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(self.folder / "python")}
        try:
            ran = subprocess.run(
                command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=TEST_SECONDS
            )
        except subprocess.TimeoutExpired:
            return "caught", FailedTests(["the tests do not end"], [])
        found = parse_python_failures(ran.stdout)
        # 0: all passed; 1: some failed; any other status: the tests did not run properly.
        if ran.returncode == 1 and found:
            return "caught", FailedTests(found, [])
        if ran.returncode == 0:
            return "survived", FailedTests([], [])
        return "no such tests", FailedTests([ran.stdout[-2000:]], [])

    def run(self, tests: str, optimized: bool) -> tuple[str, FailedTests]:
        """Builds and runs tests; returns `survived`, `caught` or `does not build`, and the failures."""
        if tests.startswith(PYTEST_PREFIX):
            return self.pytest(tests.removeprefix(PYTEST_PREFIX))
        package, *rest = shlex.split(tests)
        words = 2 if rest[0] == "--test" else 1
        command, filters = ["--package", f"overspill-{package}", *rest[:words]], rest[words:]
        built = self.cargo([*command, "--no-run"], optimized)
        if built.returncode:
            return "does not build", FailedTests([built.stderr[-2000:]], [])
        try:
            ran = self.cargo([*command, "--no-fail-fast", "--", *filters], optimized, TEST_SECONDS)
        except subprocess.TimeoutExpired:
            return "caught", FailedTests(["the tests do not end"], [])
        out = ran.stdout + ran.stderr
        if not ran.returncode:
            if " 0 passed" in out:
                return "no such tests", FailedTests([tests], [])
            return "survived", FailedTests([], [])
        return "caught", parse_failures(out)

    def try_fault(self, fault: Fault) -> tuple[str, FailedTests]:
        path = self.folder / fault.file
        right = path.read_text()
        try:
            path.write_text(fault.apply(right))
        except UnusableFault as e:
            return "does not apply", FailedTests([str(e)], [])
        try:
            outcome, failed = self.run(fault.tests, fault.optimized)
        finally:
            path.write_text(right)
        if outcome == "caught" and fault.missed(failed):
            outcome = "no case of " + ", ".join(fault.missed(failed))
        return outcome, failed


def parse_failures(out: str) -> FailedTests:
    """Returns the failed tests and cases from cargo's output."""
    last = out.rpartition("\nfailures:\n")[2]
    names = sorted(set(FAILED_PATTERN.findall(last))) or [ABORTED_TEXT]
    return FailedTests(names, sorted(set(CASE_PATTERN.findall(out))))


def parse_python_failures(out: str) -> list[str]:
    """Returns the failed Python tests as `test_file::test_name`, each once."""
    names = ("::".join(part for part in found if part) for found in PYTHON_FAILED_PATTERN.findall(out))
    return sorted(set(names))


def list_files(top: Path) -> list[Path]:
    found = [top] if top.is_file() else [path for path in top.rglob("*") if path.is_file()]
    return [path for path in found if "__pycache__" not in path.parts]


def write_if_changed(path: Path, data: bytes) -> None:
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def source_groups() -> dict[str, tuple[str, ...]]:
    """Returns the sources of each group of tests: of a lower crate, of all crates, of Python."""
    lower = {
        name: (*LOWER_PATHS, *(f"crates/{crate}" for crate in (*needed, name)))
        for name, needed in LOWER_CRATES.items()
    }
    return lower | {"all crates": SOURCE_PATHS, "python": PYTHON_PATHS}


def hash_sources(tops: tuple[str, ...]) -> str:
    """Returns a hash of all inputs of outcomes: the sources, the cases and the recorded digests."""
    h = hashlib.sha256()
    for path in sorted(path for top in tops for path in list_files(ROOT / top) if path.suffix != ".so"):
        data = path.read_bytes()
        h.update(b"\n".join(code_lines(data)) if path.suffix == ".rs" else data)
    return h.hexdigest()


def code_lines(rust: bytes) -> list[bytes]:
    """Returns the lines that are not comments: a reworded comment leaves all outcomes valid."""
    return [line for line in rust.splitlines() if not line.lstrip().startswith(b"//")]


def results_still_valid(book: Path, now: dict[str, str]) -> dict[str, Any]:
    """Returns the outcomes of earlier runs whose sources are unchanged."""
    known = json.loads(book.read_text()) if book.exists() else {}
    faults = [fault for table in read_tables() for fault in (*table.faults, *table.equivalent)]
    same = (fault for fault in faults if known.get(fault.reads) == now[fault.reads])
    return now | {fault.key: known[fault.key] for fault in same if fault.key in known}


def record_result(fault: Fault, caught_by: list[str]) -> None:
    """Writes the tests that caught a fault into its table."""
    path = FOLDER / f"{fault.table}.toml"
    text = path.read_text()
    start = text.index(f"fault = {json.dumps(fault.fault, ensure_ascii=False)}\n")
    end = text.find("\n[[", start) % (len(text) + 1)
    entry = re.sub(r"^caught_by = .*\n", "", text[start:end].rstrip("\n") + "\n", flags=re.MULTILINE)
    value = caught_by[0] if len(caught_by) == 1 else caught_by
    entry += f"caught_by = {json.dumps(value, ensure_ascii=False)}\n"
    path.write_text(text[:start] + entry + text[end:])


def run_campaign(words: list[str], scratch: Path, keep: bool) -> int:
    """Runs the faults in which all words occur; returns the number with an unexpected outcome."""
    chosen = [f for t in read_tables() for f in (*t.faults, *t.equivalent)]
    chosen = [f for f in chosen if all(w in f"{f.name} {f.file} {f.rules}" for w in words)]
    chosen.sort(key=lambda f: (f.optimized, f.tests))
    scratch.mkdir(parents=True, exist_ok=True)
    lock = (scratch / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(f"another run works in {scratch}; `--scratch` names another folder")
    book = scratch / "outcomes.json"
    known = results_still_valid(book, {name: hash_sources(tops) for name, tops in source_groups().items()})
    tree, wrong, counts = SourceTree(scratch), [], Counter[str]()
    for n, fault in enumerate(chosen, 1):
        key, began = fault.key, time.monotonic()
        if known.get(key, [""])[0] != fault.expected:
            outcome, failed = tree.try_fault(fault)
            known[key] = [outcome, failed.tests, failed.cases]
            book.write_text(json.dumps(known))
        outcome, failed = known[key][0], FailedTests(known[key][1], [tuple(case) for case in known[key][2]])
        counts[outcome] += 1
        print(f"[{n}/{len(chosen)}] {outcome}: {fault.name} ({time.monotonic() - began:.0f} s)")
        print(failed.shown(), end="", flush=True)
        if outcome != fault.expected:
            wrong.append(f"not as it should be, {outcome}: {fault.name}")
        elif keep and outcome == "caught":
            record_result(fault, failed.caught_by(fault.rules))
    print("\n".join([*wrong, ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))]))
    return len(wrong) if chosen else 1


def markdown_row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def location_of(fault: Fault) -> str:
    """Returns a short form of the fault's file: `dataplane: transport/rto.rs`."""
    return fault.file.removeprefix("crates/").replace("/src/", ": ").replace("dataplane: transport/", "")


def build_page() -> str:
    """Returns the page of all faults as Markdown."""
    all_tables = read_tables()
    faults = sum(len(t.faults) for t in all_tables)
    out = [(FOLDER / "page.md").read_text().rstrip().replace("{faults}", str(faults))]
    for t in all_tables:
        out += [f"\n## {t.title}\n", t.about.strip()]
        if t.faults:
            out += ["", "| rule | fault | where | caught by |", "| --- | --- | --- | --- |"]
            out += [
                markdown_row("; ".join(f.rules), f.fault, f"`{location_of(f)}`", "; ".join(f.caught_by))
                for f in t.faults
            ]
        if t.equivalent:
            out += ["\nNot to be told from the right code:\n"]
            out += [f"- {f.fault} (`{location_of(f)}`): {f.why}" for f in t.equivalent]
    return "\n".join(out) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only faults in which all of these occur")
    parser.add_argument("--scratch", type=Path, default=SCRATCH_FOLDER, help="where to work; out/mutations")
    parser.add_argument("--record", action="store_true", help="write `caught_by` into the tables")
    args = parser.parse_args()
    return 1 if run_campaign(args.words, args.scratch.resolve(), args.record) else 0


if __name__ == "__main__":
    sys.exit(main())
