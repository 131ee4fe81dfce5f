"""Earlier results of a folder that a later command replaced, and the command that shows them again."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill.errors import BadInput
from overspill.results import formats, results_folder


@dataclass(frozen=True)
class ReplacedResults:
    """Manifest of results that are no longer in their folder; the store there keeps their runs."""

    before: Mapping[str, Any]
    after: Mapping[str, Any]
    out: Path

    @property
    def is_of_same_text(self) -> bool:
        """True if the scenario file has not changed since."""
        return self.before.get("scenario") == self.after.get("scenario")

    @property
    def changed_files(self) -> list[str]:
        """Names of files used by the scenario that have changed since the results were written."""
        before, after = (dict(one.get("files") or {}) for one in (self.before, self.after))
        return [name for name, digest in before.items() if after.get(name, digest) != digest]

    @property
    def has_all_variants(self) -> bool:
        """True if these results have every variant of the scenario."""
        try:
            known = tomllib.loads(str(self.before["scenario"]["text"])).get("variants", {})
        except (tomllib.TOMLDecodeError, KeyError, TypeError):
            return False
        return set(self.before["variants"]) >= set(known)

    def command_words(self, scenario: str) -> list[str]:
        """Returns the command line that shows these results again, given the path of the scenario file."""
        grid = "points" in self.before
        found = ["overspill", "sweep" if grid else "run", scenario]
        if grid:
            found += [word for axis in self.before["axes"] for word in ("--over", format_axis_option(axis))]
            found += [word for paths in self.before["together"] for word in ("--zip", ",".join(paths))]
            found += ["--baseline", self.before["baseline"]] if self.before.get("baseline") else []
        found += [word for text in self.before["sets"] for word in ("--set", text)]
        found += ["--seed", str(self.before["seeds"][0]), "--seeds", str(len(self.before["seeds"]))]
        if not self.has_all_variants:
            found += ["--variants", ",".join(self.before["variants"])]
        if self.before.get("tables") and grid:
            found += ["--tables", ",".join(self.before["tables"])]
        if self.before.get("max_events") is not None:
            found += ["--max-events", str(self.before["max_events"])]
        return [*found, "--out", str(self.out)]

    def describe(self, scenario: str) -> str:
        """Returns one or two sentences: the results that were replaced, and how to show them again."""
        seeds = len(self.before["seeds"])
        counted = f"{seeds} seed{'s' if seeds > 1 else ''} of {', '.join(self.before['variants'])}"
        settings = f" with {', '.join(self.before['sets'])}" if self.before["sets"] else ""
        what = f"earlier results ({counted}{settings}) were replaced; {self.out / 'store'} keeps their runs"
        if not self.is_of_same_text:
            return f"{what}. The scenario file has changed since"
        if self.changed_files:
            changed = formats.format_listing(self.changed_files)
            return f"{what}. Files of the scenario have changed since: {changed}"
        return f"{what}. `{shlex.join(self.command_words(scenario))}` shows them again"


def format_axis_option(axis: Mapping[str, Any]) -> str:
    """Formats an axis of a sweep as the option `--over` takes it."""
    return f"{axis['path']}={','.join(axis['texts'])}"


def read_manifest_if_any(out: Path) -> Mapping[str, Any] | None:
    """Returns the manifest of a folder, if it has one that can be read."""
    try:
        return results_folder.parse_manifest(out, "overspill")
    except BadInput:
        return None
