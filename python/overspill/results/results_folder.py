"""Results on disk: Parquet files per run, `manifest.json` with all inputs, and `results.json`."""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overspill import atomic_files
from overspill.errors import BadInput
from overspill.results.rundata import RunData
from overspill.results.table_streams import file_digest

MANIFEST_FILE = "manifest.json"
RESULTS_FILE = "results.json"
REPORT_FILE = "report.html"
PLAN_FILE = "store/plan.json"  # plan of a sweep whose tables are not written yet
STAGING_PREFIX = ".overspill-new-"  # prefix of a staging folder; the process id follows
NEW_FOLDER_ADVICE = "remove the file, or give a new folder"  # advice if new results are to be written
MANIFEST_FORMAT = 1
REPORT_KEYS = ("report", "digest")  # entries of a manifest that a page changes
LONG_KEYS = ("networks", "runs")  # long entries of a manifest, which come last
LongLines = Mapping[str, Sequence[str]]
SWEEP_FORMAT_PREFIX = "overspill-sweep"  # beginning of the format of a sweep's manifest
SWEEP_FORMAT = f"{SWEEP_FORMAT_PREFIX}-1"


# Names that Windows reserves for devices, also with a suffix.
DEVICE_NAME = re.compile(r"(?:CON|PRN|AUX|NUL|COM[0-9]|LPT[0-9])(?=\.|$)", re.IGNORECASE)


def path_component(name: str) -> str:
    """Returns a name as one component of a path on any system; different names stay different.

    Names that differ only in the case of letters are one path on some systems: `refuse_equal_paths`.
    """
    safe = re.sub(r"[^A-Za-z0-9_.\-]", lambda match: "".join(f"%{b:02X}" for b in match[0].encode()), name)
    # A first dot hides a file, and Windows ignores a last one.
    safe = re.sub(r"^\.|\.$", "%2E", safe) or "%"
    return f"%{ord(safe[0]):02X}{safe[1:]}" if DEVICE_NAME.match(safe) else safe


def refuse_equal_paths(option: str, names: Iterable[str]) -> None:
    """Raises `BadInput` if two names differ only in the case of letters, which some file systems ignore."""
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(path_component(name).lower(), name)
        if other != name:
            raise BadInput(
                f"{option}: found {other} and {name}; expected names that differ in more than the case of "
                "letters, since some file systems ignore it"
            )


class StagingFolder:
    """New results beside the old ones in the same folder, which they replace once they are complete.

    The caller holds the folder's store, so that no other command writes there.
    """

    def __init__(self, out: Path) -> None:
        self.out, self.folder = out, out / f"{STAGING_PREFIX}{os.getpid()}"
        with atomic_files.report_write_errors(shorten_path(str(out))):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)

    def commit(self, kept: Iterable[str] = ()) -> None:
        """Moves new files into place, then removes files that only the old manifest lists, except `kept`."""
        new = {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()}
        with atomic_files.report_write_errors(self.out):
            old = files_in_manifest(self.out) - new - set(kept)
            # The manifest goes last: until then the old one reveals that files are missing.
            for name in sorted(new, key=lambda name: (name == MANIFEST_FILE, name)):
                (self.out / name).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / name).replace(self.out / name)
            remove_files(self.out, old)
        self.discard()

    def discard(self) -> None:
        """Removes the new files if they were not moved into place."""
        shutil.rmtree(self.folder, ignore_errors=True)


def shorten_path(text: str) -> str:
    """Returns a path shortened in the middle to fit on a line."""
    return text if len(text) <= 100 else f"{text[:60]}...{text[-30:]}"


def files_in_manifest(out: Path) -> set[str]:
    """Returns the files of the results in a folder, as their manifest lists them."""
    if not (out / MANIFEST_FILE).is_file():
        return set()
    manifest = read_manifest(out)
    names = {MANIFEST_FILE, RESULTS_FILE, *manifest.get("report", ())}
    for entry in manifest.get("runs", ()):
        names |= set(entry.get("files", ()))
    return {name for name in names if is_inside(name)}


def is_inside(name: str) -> bool:
    """Returns true if a name in a manifest stays in its folder."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def remove_files(out: Path, names: Iterable[str]) -> None:
    """Removes files, and the folders that become empty."""
    for name in names:
        (out / name).unlink(missing_ok=True)
        for parent in (out / name).parents:
            if parent == out or not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()


def list_report_in_manifest(out: Path, names: Iterable[str], more: bool = False) -> None:
    """Lists the report's files in the manifest, so that later results replace exactly these.

    They replace the files listed before, unless `more` is set.
    """
    manifest = read_manifest(out)
    before = {name for name in manifest.get("report", ()) if is_inside(name)}
    listed = set(names) | (before if more else set())
    remove_files(out, before - listed)
    told = manifest | {"report": sorted(listed)}
    lines = long_lines(told)
    write_text(out / MANIFEST_FILE, dump_manifest(with_digest(told, lines), lines))


def run_folder(out: Path, run: RunData) -> Path:
    """Returns the folder of a run's tables."""
    return out / "runs" / path_component(run.variant) / f"seed-{run.seed}"


def write_table(table: pa.Table, path: Path) -> None:
    """Writes a table to a compressed Parquet file."""
    with atomic_files.replace_file(path) as new:
        pq.write_table(table, new, compression="zstd")


def write_json(path: Path, value: Any) -> None:
    """Writes a document, with numbers in full precision."""
    write_text(path, dump_json(value))


def write_text(path: Path, text: str) -> None:
    """Writes a document completely or not at all."""
    with atomic_files.report_write_errors(path):
        atomic_files.write_text(path, text + "\n")


def dump_json(value: Any) -> str:
    """Returns JSON with indentation, keys in their own order, and no NaN."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def dump_entries(value: Any, levels: int) -> str:
    """Returns JSON with each entry of the outer levels on its own line, which keeps large documents small."""
    if levels == 0 or not value or not isinstance(value, Mapping | list):
        return json.dumps(value, separators=(",", ": "), ensure_ascii=False, allow_nan=False)
    if isinstance(value, list):
        return "[\n" + ",\n".join(dump_entries(entry, levels - 1) for entry in value) + "\n]"
    entries = (f"{json.dumps(key)}: {dump_entries(entry, levels - 1)}" for key, entry in value.items())
    return "{\n" + ",\n".join(entries) + "\n}"


def dump_manifest(manifest: Mapping[str, Any], lines: LongLines) -> str:
    """Returns a manifest as JSON, with each network and each run on one line, which is faster to write."""
    parts = [dump_json(short_entries(manifest)).removesuffix("\n}")]
    parts += (f'  "{name}": [\n    ' + ",\n    ".join(texts) + "\n  ]" for name, texts in lines.items())
    return ",\n".join(parts) + "\n}"


def short_entries(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the entries of a manifest that are written with indentation."""
    return {key: value for key, value in manifest.items() if not is_long_entry(key, value)}


def is_long_entry(key: str, value: Any) -> bool:
    """Returns true if the items of a manifest's entry are written one per line."""
    return key in LONG_KEYS and isinstance(value, list | tuple)


def long_lines(manifest: Mapping[str, Any]) -> LongLines:
    """Returns the entries of a manifest whose items are written one per line, each item as JSON."""
    return {
        name: [json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in manifest[name]]
        for name in LONG_KEYS
        if is_long_entry(name, manifest.get(name))
    }


def write_manifest(out: Path, facts: dict[str, Any], runs: Sequence[RunData]) -> str:
    """Writes `manifest.json` with facts, runs, summaries and hashes of files; returns its identity."""
    entries = []
    for run in runs:
        place = run_folder(out, run)
        captures = (place / path.name for path in run.captures.values())
        files = sorted([*place.glob("*.parquet"), *captures])
        known = {file: run.digests.get(file.name) or file_digest(file) for file in files}
        run.digests = {file.name: found for file, found in known.items()}
        hashes = {file.relative_to(out).as_posix(): found for file, found in known.items()}
        entry = {"variant": run.variant, "seed": run.seed, "summary": run.summary, "files": hashes}
        entries.append(entry | ({"key": run.key} if run.key else {}))
    manifest = {"format": MANIFEST_FORMAT, **facts, "runs": entries}
    lines = long_lines(manifest)
    write_text(out / MANIFEST_FILE, dump_manifest(with_digest(manifest, lines), lines))
    return results_identity(manifest, lines)


def parse_manifest(out: Path, writers: str, then: str = "run again") -> dict[str, Any]:
    """Returns the manifest of a folder, of any format; raises `BadInput` if there is no valid one.

    `writers` names the commands that write such a folder. `then` is the advice if the manifest was changed.
    """
    path, expected = out / MANIFEST_FILE, f"expected a folder that {writers} wrote"
    try:
        if not out.exists():
            raise BadInput(f"{shorten_path(str(out))}: no such folder; {expected}")
        if not out.is_dir():
            raise BadInput(f"{out}: a file; {expected}")
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if (out / PLAN_FILE).is_file():
            expected = f"expected a finished sweep. Run `overspill report {out}` to write its tables"
        raise BadInput(f"{out}: no {MANIFEST_FILE} here; {expected}") from None
    except OSError as error:
        raise BadInput(f"{shorten_path(str(path))}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{path}: found no JSON; {expected}") from None
    if not isinstance(manifest, dict):
        raise BadInput(f"{path}: found no object of JSON; {expected}")
    if "digest" not in manifest:
        raise BadInput(f"{path}: found no digest; {expected}; {then}")
    if manifest.pop("digest") != manifest_digest(manifest):
        raise BadInput(f"{path}: changed since it was written; {expected}; {then}")
    return manifest


def manifest_digest(manifest: Mapping[str, Any], lines: LongLines | None = None) -> str:
    """Returns the SHA-256 of a manifest; `lines` are its long lines, if they are computed already."""
    made = hashlib.sha256(json.dumps(short_entries(manifest), ensure_ascii=True).encode())
    for name, texts in (long_lines(manifest) if lines is None else lines).items():
        made.update("\n".join(("", name, *texts)).encode())
    return made.hexdigest()


def with_digest(manifest: Mapping[str, Any], lines: LongLines | None = None) -> dict[str, Any]:
    """Returns a manifest as it is written, with a digest that reveals changes."""
    known = {key: value for key, value in manifest.items() if key != "digest"}
    return known | {"digest": manifest_digest(known, lines)}


def results_identity(manifest: Mapping[str, Any], lines: LongLines | None = None) -> str:
    """Returns the SHA-256 that identifies results: of their manifest without the report's files."""
    known = dict(sorted((key, value) for key, value in manifest.items() if key not in REPORT_KEYS))
    return manifest_digest(known, lines)


def is_sweep_manifest(manifest: dict[str, Any]) -> bool:
    """Returns true if a manifest describes a sweep."""
    return str(manifest.get("format", "")).startswith(SWEEP_FORMAT_PREFIX)


def read_manifest(out: Path, then: str = "run again") -> dict[str, Any]:
    """Reads the manifest of results of one point; `then` is the advice to a user if it was changed."""
    manifest = parse_manifest(out, "`overspill run`", then)
    if is_sweep_manifest(manifest):
        raise BadInput(f"{out}: is a sweep; expected a folder that `overspill run` wrote")
    if manifest.get("format") != MANIFEST_FORMAT:
        raise BadInput(f"{out / MANIFEST_FILE}: found another format; expected format {MANIFEST_FORMAT}")
    return manifest


def read_runs(out: Path, manifest: dict[str, Any]) -> list[RunData]:
    """Returns the runs of a manifest; raises `BadInput` if a file is missing or was changed."""
    runs = []
    try:
        for entry in manifest["runs"]:
            for name, expected in entry["files"].items():
                check_file(out / name, expected)
            known = {PurePosixPath(name).name: found for name, found in entry["files"].items()}
            place = run_folder(out.absolute(), RunData(entry["summary"], {}))
            run = RunData(entry["summary"], place, known)
            run.key = str(entry.get("key", ""))
            runs.append(run)
    except (KeyError, TypeError, AttributeError):
        raise BadInput(f"{out / MANIFEST_FILE}: incomplete manifest of `overspill run`") from None
    return runs


def check_file(path: Path, expected: str) -> None:
    """Raises `BadInput` unless a file exists with the SHA-256 that the manifest has."""
    if not path.is_file():
        raise BadInput(f"{path}: missing; the manifest names it")
    found = file_digest(path)
    if found != expected:
        raise BadInput(
            f"{path}: found SHA-256 {found[:12]}...; expected {expected[:12]}... as in the manifest"
        )
