"""Debian's ns-3: installs it if missing, compiles our program against it, and runs it."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
OUT = ROOT / "out" / "ns3"
PACKAGES = ["libns3-dev", "libgsl-dev"]
TOOLS = {"g++": "g++", "pkg-config": "pkg-config"}
MODULES = [
    f"ns3-{name}"
    for name in (
        "core",
        "network",
        "internet",
        "point-to-point",
        "traffic-control",
        "nix-vector-routing",
    )
]


class MissingRequirement(Exception):
    """A requirement outside this program is missing or failed; the text says which, and what to do."""


def run_command(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command and returns the result, with its output as text."""
    return subprocess.run(command, capture_output=True, text=True, check=False)


def missing_packages() -> list[str]:
    """Returns the Debian packages that are needed and not installed."""
    wanted = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if wanted or run_command(["pkg-config", "--exists", *MODULES]).returncode:
        return wanted + PACKAGES
    # The packages' own link flags name this library by its path.
    flags = run_command(["pkg-config", "--libs", *MODULES]).stdout.split()
    return [] if all(Path(flag).exists() for flag in flags if flag.endswith("libgsl.so")) else PACKAGES


def install_ns3() -> None:
    """Installs ns-3 and a compiler if missing; raises `MissingRequirement` with instructions otherwise."""
    wanted = missing_packages()
    if not wanted:
        return
    by_hand = f"install {' '.join(wanted)} (Debian 12: ns-3.37) and run `make bench-ns3` again"
    if shutil.which("apt-get") is None:
        raise MissingRequirement(f"ns-3 is missing, and this system has no apt-get: {by_hand}")
    root = os.geteuid() == 0
    if not root and shutil.which("sudo") is None:
        raise MissingRequirement(f"ns-3 is missing, and only root may install it: {by_hand}")
    before = [] if root else ["sudo"]
    print(f"Installing {' '.join(wanted)}")
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for step in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *wanted]):
        if subprocess.run([*before, "apt-get", *step], env=environment, check=False).returncode:
            raise MissingRequirement(f"apt-get {step[0]} failed: {by_hand}")
    if missing_packages():
        raise MissingRequirement(f"after apt-get, pkg-config still does not find {' '.join(MODULES)}")


def compile_twin() -> Path:
    """Compiles our program with optimization, if its sources are newer, and returns its path."""
    sources = sorted(HERE.glob("*.cc")) + sorted(HERE.glob("*.hh"))
    program = OUT / "twin"
    if program.exists() and all(program.stat().st_mtime > source.stat().st_mtime for source in sources):
        return program
    OUT.mkdir(parents=True, exist_ok=True)
    print("Compiling benches/ns3/twin.cc")
    # The packages' flags contain a stray `;`.
    flags = (
        run_command(["pkg-config", "--cflags", "--libs", *MODULES])
        .stdout.replace("\\;", " ")
        .replace(";", " ")
    )
    units = [str(source) for source in sources if source.suffix == ".cc"]
    made = run_command(["g++", "-O3", "-DNDEBUG", "-std=c++17", *units, "-o", str(program), *flags.split()])
    if made.returncode:
        raise MissingRequirement(
            f"twin.cc does not compile against this ns-3 (made for 3.37):\n{made.stderr[-4000:]}"
        )
    return program


@dataclass(frozen=True)
class Flow:
    """Flow between two hosts, given by number."""

    source: int
    destination: int
    bytes: int
    start_ps: int


@dataclass
class Ns3Result:
    """Results of one run of ns-3."""

    packet_hops: int
    events: int
    seconds: float
    rss_bytes: int
    drops: int
    marks: int
    early_bytes: int
    flows: list[list[int]] = field(default_factory=list)


def format_setting(value: Any) -> str:
    """Formats a setting for ns-3's command line."""
    return str(int(value)) if isinstance(value, bool) else str(value)


def run_twin(program: Path, flows: list[Flow], settings: dict[str, Any]) -> Ns3Result:
    """Runs these flows with these settings of `twin`."""
    file = OUT / "flows.txt"
    file.write_text("".join(f"{f.source} {f.destination} {f.bytes} {f.start_ps}\n" for f in flows))
    given = {"flows": file, **settings}
    done = run_command(
        [str(program), *(f"--{name}={format_setting(value)}" for name, value in given.items())]
    )
    if done.returncode:
        raise MissingRequirement(f"ns-3 stopped with status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return Ns3Result(**json.loads(done.stdout))
