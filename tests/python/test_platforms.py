"""Tests that the package works without modules and names that only POSIX systems have."""

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import overspill
from overspill import BadInput
from overspill.charts.sweep import chart_file_name
from overspill.results import results_folder

PACKAGE = Path(overspill.__file__).parent
MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty")
OS_NAMES = """
    O_DIRECTORY O_NOFOLLOW O_NONBLOCK WNOHANG chown chroot fchmod fchown fork forkpty getegid geteuid getgid
    getgrouplist getpgid getpgrp getpriority getresuid getsid getuid initgroups killpg lchown mkfifo mknod
    nice openpty pipe2 posix_fadvise posix_fallocate posix_spawn pread pwrite sched_getaffinity
    sched_setaffinity sched_yield sendfile setpgid setsid statvfs sync sysconf tcgetpgrp uname wait wait3
    wait4 waitid
"""
SIGNAL_NAMES = """
    SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGQUIT SIGSTOP SIGTSTP SIGUSR1 SIGUSR2 alarm getitimer
    pause pthread_kill pthread_sigmask setitimer siginterrupt sigpending sigtimedwait sigwait sigwaitinfo
"""
NAMES = {"os": OS_NAMES.split(), "signal": SIGNAL_NAMES.split()}
# Uses in functions that do without the name or module if it is missing.
GUARDED = {"engine/machine.py: os.sched_getaffinity", "engine/memory.py: import resource"}

# Other packages have loaded these modules already, as they have others in their place on other systems.
HIDE = f"""
import importlib, os, pkgutil, signal, sys
import filelock, matplotlib.figure, numpy, psutil, pyarrow.parquet, rich.console, scipy.special, typer
filelock.lock_descriptor
for name in {MODULES!r}:
    sys.modules[name] = None
for module, names in {NAMES!r}.items():
    for name in names:
        if hasattr(sys.modules[module], name):
            delattr(sys.modules[module], name)
"""
IMPORT_ALL = f"""
import distributed
{HIDE}
import overspill
for found in pkgutil.walk_packages(overspill.__path__, "overspill."):
    if found.name != "overspill.__main__":
        importlib.import_module(found.name)
"""
COMMAND = HIDE + "from overspill import cli\ncli.main(sys.argv[1:])"

SCENARIO = """
name = "nul"
duration = "1ms"
[topology]
kind = "star"
n = 3
link = { rate = "1Gbps", delay = "1us" }
[switch]
buffer = { kind = "per_port", size = "10pkt" }
[[traffic]]
name = "query"
kind = "incast"
senders = 2
receiver = "h0"
size = "5KB"
[variants.aux]
[variants.other]
"""


def run_python(code: str, *arguments: object, where: Path) -> subprocess.CompletedProcess[str]:
    """Runs code in a new Python, in a folder."""
    line = [sys.executable, "-c", code, *map(str, arguments)]
    env = os.environ | {"PYTHONPATH": str(PACKAGE.parent), "OVERSPILL_TRACEBACK": "1"}
    return subprocess.run(line, cwd=where, env=env, capture_output=True, text=True, check=False)


def posix_uses(path: Path) -> set[str]:
    """Returns the uses of POSIX-only modules and names in a source file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {f"import {one.name}" for one in node.names if one.name in MODULES}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"import {node.module}"} if node.module in MODULES else set()
            module = node.module or ""
            found |= {f"{module}.{one.name}" for one in node.names if one.name in NAMES.get(module, ())}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = node.value.id
            found |= {f"{name}.{node.attr}"} if node.attr in NAMES.get(name, ()) else set()
    return {f"{path.relative_to(PACKAGE).as_posix()}: {use}" for use in found}


def test_posix_names_are_used_only_where_they_may_be_missing() -> None:
    found = set().union(*map(posix_uses, PACKAGE.rglob("*.py")))
    assert {use for use in found if not use.startswith("shipped/")} == GUARDED


def test_every_module_can_be_imported_without_posix(tmp_path: Path) -> None:
    ran = run_python(IMPORT_ALL, where=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_commands_work_without_posix(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO, encoding="utf-8")
    commands = [
        ("run", "small.toml", "--seeds", 2, "--jobs", 2, "--pcap", "h0", "--out", "o"),
        ("report", "o", "--figures", "svg"),
        ("sweep", "small.toml", "--over", "traffic.query.senders=1,2", "--seeds", 2),
        ("report", "out/%6Eul-sweep"),
        ("export", "o", "--format", "csv"),
    ]
    for arguments in commands:
        ran = run_python(COMMAND, *arguments, where=tmp_path)
        assert ran.returncode == 0, f"{arguments}: {ran.stderr}"
    names = {path.name for path in tmp_path.rglob("*")}
    assert {"report.html", "%61ux", "%6Eul-sweep", "export"} <= names
    assert [name for name in names if name.endswith(".pcapng")]
    assert not [name for name in names if set(name) & set('<>:"/\\|?*') or name.endswith((".", " "))]


@pytest.mark.parametrize("name", ["con", "NUL", "Com1", "lpt9.txt", "aux", "prn.a.b"])
def test_names_of_devices_on_windows_are_no_names_of_files(name: str) -> None:
    found = results_folder.path_component(name)
    assert found[0] == "%" and not found.endswith(".") and found != results_folder.path_component(name[1:])


def test_names_that_only_begin_as_devices_do_stay() -> None:
    for name in ("console", "auxiliary", "com10", "nullify", "a.con", "DCQCN", "v1.5"):
        assert results_folder.path_component(name) == name
    assert results_folder.path_component("v1.") == "v1%2E"
    assert results_folder.path_component("..") == "%2E%2E"


@pytest.mark.parametrize("names", [("a", "A"), ("drop", "ECN", "ecn"), ("h0:s0", "h0:S0")])
def test_names_that_differ_only_in_case_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(BadInput) as caught:
        results_folder.refuse_equal_paths("--variants", names)
    pair = [name for name in names if name.lower() == names[-1].lower()]
    start = f"--variants: found {pair[0]} and {pair[1]}; expected names that differ in more than the case"
    assert str(caught.value).startswith(start)


def test_names_that_differ_in_more_than_case_are_paths() -> None:
    names = ["DIBS", "ecn", "ECN2", "h0:s0", "h0~s0", "", "Ä", "ä", "con", "CON"]
    results_folder.refuse_equal_paths("--variants", [*names, "DIBS"])
    assert len({results_folder.path_component(name).lower() for name in names}) == len(names)


@pytest.mark.parametrize("command", [overspill.run, overspill.sweep])
def test_variants_that_differ_only_in_case_are_refused(
    tmp_path: Path, command: Callable[..., object]
) -> None:
    file = tmp_path / "case.toml"
    file.write_text(SCENARIO.replace("variants.aux", "variants.OTHER"), encoding="utf-8")
    more = {} if command is overspill.run else {"over": {"switch.x": [1, 2]}}
    with pytest.raises(BadInput, match=r"^--variants: found OTHER and other; expected names"):
        command(file, seeds=1, out=tmp_path / "out", **more)
    assert not (tmp_path / "out").exists()
    command(file, seeds=1, out=tmp_path / "out", variants=["other"], **more)
    assert (tmp_path / "out" / "manifest.json").is_file()


@pytest.mark.usefixtures("compiled")
def test_links_that_differ_only_in_case_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "case.toml"
    links = [f'{{ a = "{host}", b = "s0", rate = "1Gbps", delay = "1us" }}' for host in ("h0", "h1", "H1")]
    nodes = [f'{{ name = "{host}", kind = "host" }}' for host in ("h0", "h1", "H1")]
    nodes.append('{ name = "s0", kind = "switch" }')
    topology = f'kind = "custom"\nnode = [{", ".join(nodes)}]\nlink = [{", ".join(links)}]\n'
    start, end = SCENARIO.index('kind = "star"'), SCENARIO.index("[switch]")
    text = SCENARIO[:start] + topology + SCENARIO[end:]
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"^--pcap: found h1:s0 and H1:s0; expected names"):
        overspill.run(file, seeds=1, pcap=["h1", "H1"])
    overspill.run(file, seeds=1, pcap=["h0", "H1"])


def test_files_of_sweep_figures_have_names_for_any_system() -> None:
    assert chart_file_name("fct_p99[traffic=a/b: <c>?]") == "sweep-fct_p99[traffic=a%2Fb%3A %3Cc%3E%3F]"


def test_output_in_a_narrow_encoding_is_complete(tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(PACKAGE.parent), "PYTHONIOENCODING": "cp1252"}
    line = [sys.executable, "-m", "overspill", "list", "metrics"]
    ran = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"") and b"\\u03b8" in ran.stdout
