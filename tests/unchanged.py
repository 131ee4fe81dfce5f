"""Compares two checkouts: published rows, and results of the example scenarios.

`python tests/unchanged.py BEFORE AFTER` takes two folders whose cores are built. A move of
code changes no result. Versions, hashes and prose do not count. Every difference is printed. The exit
status is 1 if there is any.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROSE_KEYS = {"overspill", "tolerances", "title", "note", "notes", "cautions"}
ROW_FILES = ("rows.json", "what_if.json", "what_if.json.gz")
PUBLISHED_FOLDERS = ("papers", "docs/reproduction")  # folders of papers in newer and in older checkouts


def comparable_part(document: Any) -> Any:
    """Returns a document without versions, hashes and prose."""
    if isinstance(document, dict):
        return {key: comparable_part(value) for key, value in document.items() if key not in PROSE_KEYS}
    return [comparable_part(value) for value in document] if isinstance(document, list) else document


def find_differences(before: Any, after: Any, place: str) -> Iterator[str]:
    """Yields places at which two documents differ, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from find_differences(before.get(key), after.get(key), f"{place}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, pair in enumerate(zip(before, after, strict=True)):
            yield from find_differences(*pair, f"{place}[{at}]")
    elif before != after or type(before) is not type(after):
        yield f"{place}: {json.dumps(before)[:120]} became {json.dumps(after)[:120]}"


def read_published(checkout: Path) -> dict[str, Any]:
    """Returns the published rows of a checkout by paper and file."""
    found = {}
    for folder in PUBLISHED_FOLDERS:
        for name in ROW_FILES:
            for path in sorted((checkout / folder).glob(f"*/{name}")):
                data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
                found[f"{path.parent.name}/{name.removesuffix('.gz')}"] = comparable_part(json.loads(data))
    return found


def measure_scenario(checkout: Path, scenario: Path, out: Path) -> Any:
    """Returns the results of one seed of a scenario, run by a checkout's own code."""
    command = [
        sys.executable,
        "-m",
        "overspill",
        "run",
        str(scenario),
        "--seeds",
        "1",
        "--no-report",
        "--out",
        str(out),
    ]
    ran = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(checkout / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    results = out / "results.json"
    if not results.exists():
        sys.exit(f"{checkout}: no results of {scenario.name}:\n{ran.stderr}")
    return comparable_part(json.loads(results.read_text(encoding="utf-8")))


def compare_all(before: Path, after: Path) -> Iterator[str]:
    """Yields all differences; progress goes to standard error."""
    rows = read_published(before), read_published(after)
    for name in sorted(rows[0].keys() | rows[1].keys()):
        print(name, file=sys.stderr)
        yield from find_differences(rows[0].get(name), rows[1].get(name), name)
    for scenario in sorted((after / "scenarios").glob("*.toml")):
        print(scenario.name, file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            pair = [
                measure_scenario(side, scenario, Path(folder, side.name + str(at)))
                for at, side in enumerate((before, after))
            ]
        yield from find_differences(*pair, scenario.name)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    found = list(compare_all(*(Path(given).resolve() for given in sys.argv[1:3])))
    print(*found, sep="\n") if found else print("nothing is different")
    sys.exit(bool(found))
