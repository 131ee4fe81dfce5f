"""Queries a database of advisories for every locked crate and package: `make audit`.

The database is osv.dev, which includes RustSec and PyPA; OSV_URL names another one with the same interface.
The exit status is 1 if an advisory is known. If the database is not available, a message says so, and the
status is 0.
"""

import json
import os
import re
import sys
import tomllib
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
URL = "https://api.osv.dev"
TIMEOUT_SECONDS = 30
MAX_QUERIES = 500  # queries in one request; osv.dev takes 1000
PIN_PATTERN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)


class LockedPackage(NamedTuple):
    """Version of a crate or package."""

    ecosystem: str
    name: str
    version: str


class DatabaseUnavailable(Exception):
    """The database did not respond."""


def read_crates(path: Path) -> set[LockedPackage]:
    """Returns the crates that a Cargo.lock takes from a registry, without those of the workspace."""
    rows = tomllib.loads(path.read_text())["package"]
    return {LockedPackage("crates.io", row["name"], row["version"]) for row in rows if "source" in row}


def read_packages(path: Path) -> set[LockedPackage]:
    """Returns the packages that a file of requirements pins, for any Python and system."""
    return {LockedPackage("PyPI", *pin) for pin in PIN_PATTERN.findall(path.read_text())}


def read_all_locks(root: Path) -> dict[str, set[LockedPackage]]:
    """Returns all locked versions, by the name of the file that locks them."""
    found = {name: read_crates(root / name) for name in ("Cargo.lock", "fuzz/Cargo.lock")}
    for path in sorted((root / "requirements").glob("*.lock")):
        found[str(path.relative_to(root))] = read_packages(path)
    return found


def query_of(one: LockedPackage, page: str = "") -> dict[str, Any]:
    asked = {"package": {"ecosystem": one.ecosystem, "name": one.name}, "version": one.version}
    return asked | ({"page_token": page} if page else {})


def query_all(url: str, queries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the response to each query, in order."""
    request = urllib.request.Request(
        f"{url}/v1/querybatch",
        data=json.dumps({"queries": queries}).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as reply:
            results = json.load(reply)["results"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatabaseUnavailable(str(error)) from error
    if len(results) != len(queries):
        raise DatabaseUnavailable(f"{len(results)} answers to {len(queries)} queries")
    return list(results)


def find_advisories(url: str, locked: list[LockedPackage]) -> dict[LockedPackage, list[str]]:
    """Returns the known advisories of each version that has any."""
    found: dict[LockedPackage, list[str]] = {}
    left = [(one, "") for one in locked]
    while left:
        now, left = left[:MAX_QUERIES], left[MAX_QUERIES:]
        for (one, _), answer in zip(now, query_all(url, [query_of(*each) for each in now]), strict=True):
            ids = [row["id"] for row in answer.get("vulns", [])]
            if ids:
                found.setdefault(one, []).extend(ids)
            if page := answer.get("next_page_token"):
                left.append((one, page))
    return found


def report_advisories(url: str, files: dict[str, set[LockedPackage]]) -> int:
    """Prints the known advisories and returns the exit status."""
    locked = sorted(set().union(*files.values()))
    try:
        found = find_advisories(url, locked)
    except DatabaseUnavailable as error:
        print(f"NOT AUDITED: {url} cannot be had ({error});")
        print(f"known advisories on {len(locked)} locked crates and packages were not looked for.")
        return 0
    for one, ids in sorted(found.items()):
        where = ", ".join(name for name, held in files.items() if one in held)
        print(f"{one.name} {one.version} ({where}): {', '.join(sorted(ids))}")
        print("".join(f"    https://osv.dev/vulnerability/{each}\n" for each in sorted(ids)), end="")
    print(f"{len(locked)} locked crates and packages, {len(found)} of them with known advisories")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(report_advisories(os.environ.get("OSV_URL", URL), read_all_locks(ROOT)))
