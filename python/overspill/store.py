"""Results on disk: Parquet per run, `manifest.json` with everything that made them, `results.json`."""

import hashlib
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from overspill.errors import BadInput, Failed
from overspill.rundata import RunData

MANIFEST = "manifest.json"
RESULTS = "results.json"
FORMAT = 1


def slug(name: str) -> str:
    """A name as one part of a path; different names stay different."""
    safe = re.sub(r"[^A-Za-z0-9_.\-]", lambda match: "".join(f"%{b:02X}" for b in match[0].encode()), name)
    return re.sub(r"^\.", "%2E", safe) or "%"


def prepare(out: Path) -> None:
    """Make the folder, and take away the results of an earlier run in it."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"--out: {out} is a file; expected a folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        if (out / MANIFEST).is_file():
            # The manifest goes first: a folder with one is always whole.
            (out / MANIFEST).unlink()
            shutil.rmtree(out / "runs", ignore_errors=True)
            for old in (RESULTS, "report.html"):
                (out / old).unlink(missing_ok=True)
    except OSError as error:
        raise Failed(f"{out}: cannot be written: {error.strerror}") from error


def folder(out: Path, run: RunData) -> Path:
    """Where a run's tables lie."""
    return out / "runs" / slug(run.variant) / f"seed-{run.seed}"


def write_run(out: Path, run: RunData) -> RunData:
    """Write a run's tables; the run that reads them from there."""
    place = folder(out, run)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name in run.names:
            pq.write_table(run.table(name), place / f"{name}.parquet", compression="zstd")
    except OSError as error:
        raise Failed(f"{place}: cannot be written: {error.strerror}") from error
    return run.stored(place)


def write_json(path: Path, value: Any) -> None:
    """Write a document, numbers in full."""
    try:
        path.write_text(dump(value) + "\n", encoding="utf-8")
    except OSError as error:
        raise Failed(f"{path}: cannot be written: {error.strerror}") from error


def dump(value: Any) -> str:
    """JSON as everywhere here: indented, keys in their own order, no NaN."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(out: Path, facts: dict[str, Any], runs: Sequence[RunData]) -> dict[str, Any]:
    """Write `manifest.json`: the facts, and each run with its summary and the hashes of its files."""
    entries = []
    for run in runs:
        place = folder(out, run)
        files = sorted(place.glob("*.parquet"))
        hashes = {file.relative_to(out).as_posix(): digest(file) for file in files}
        entries.append({"variant": run.variant, "seed": run.seed, "summary": run.summary, "files": hashes})
    manifest = {"format": FORMAT, **facts, "runs": entries}
    write_json(out / MANIFEST, manifest)
    return manifest


def read_manifest(out: Path) -> dict[str, Any]:
    """The manifest of a folder of results."""
    path = out / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{out}: no {MANIFEST} here; expected a folder that `overspill run` wrote") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise BadInput(f"{path}: found another format; expected format {FORMAT}")
    return manifest


def read_runs(out: Path, manifest: dict[str, Any]) -> list[RunData]:
    """The runs of a manifest; `BadInput` where a file is missing or was changed."""
    runs = []
    try:
        for entry in manifest["runs"]:
            for name, expected in entry["files"].items():
                check(out / name, expected)
            runs.append(RunData(entry["summary"], folder(out, RunData(entry["summary"], {}))))
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{out / MANIFEST}: not a whole manifest: {error}") from None
    return runs


def check(path: Path, expected: str) -> None:
    """A file is there and is the one that was written."""
    if not path.is_file():
        raise BadInput(f"{path}: missing; the manifest names it")
    found = digest(path)
    if found != expected:
        raise BadInput(f"{path}: found SHA-256 {found[:12]}...; the manifest says {expected[:12]}...")
