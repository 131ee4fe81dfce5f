"""Paper as data: experiments, figures and open parameters (`paper.toml`), rows and claims."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill import BadInput
from overspill.papers import claims, code, rows
from overspill.papers.claims import Claim
from overspill.papers.rows import Row
from overspill.papers.spec import Draw, Measure
from overspill.papers.toml_fields import REQUIRED, Fields, document
from overspill.results.names import TABLES

PAPER, ROWS, CLAIMS = "paper.toml", "rows.toml", "claims.toml"
MOST_ON_PAGE = 3  # figures on the page of a paper
MOST_SETTINGS = 8  # sensitivity runs, each with one open parameter changed
VARIABLE = "OVERSPILL_PAPERS"
NAMED = re.compile(
    r"(?:what ifs?|[Ss]ensitivity runs?)(?:,[^:]*)?:? ([^).;]*)"
)  # the names in a sentence about sensitivity runs
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]*")


@dataclass(frozen=True)
class Experiment:
    """Sweep that figures depend on; its results are in a folder of its name."""

    name: str
    scenario: Path
    over: Mapping[str, Any]
    zips: Sequence[str]
    sets: Sequence[str]
    seeds: int
    variants: Sequence[str] | None
    tables: Sequence[str]


@dataclass(frozen=True)
class Shown:
    """Figure, table or claim: its sweeps, and its claim in our words."""

    id: str
    title: str
    sweeps: Sequence[str]
    claim: str


@dataclass(frozen=True)
class WhatIf:
    """Sensitivity run: an open parameter changed alone, and the sweeps that are run again with it."""

    name: str
    title: str
    sweeps: Sequence[str]
    sets: Sequence[str]
    seeds: int | None


@dataclass(frozen=True)
class Study:
    """Study of the project that extends or contradicts the paper: a folder of `studies`."""

    name: str
    says: str


@dataclass(frozen=True)
class Paper:
    """Paper whose files are checked; `digest` is the SHA-256 of its rows and tolerances."""

    folder: Path
    name: str
    title: str
    cite: str
    sweeps: Mapping[str, Experiment]
    figures: Mapping[str, Shown]
    what_ifs: Sequence[WhatIf]
    rows: Sequence[Row]
    digest: str
    assumptions: Sequence[str] = ()
    on_page: Sequence[str] = ()
    history: Sequence[str] = ()
    claims: Sequence[Claim] = ()
    studies: Sequence[Study] = ()

    @property
    def at(self) -> list[str]:
        """Arguments by which a command finds the paper: `--papers DIR`, unless it is in a usual place."""
        folder = self.folder.parent.resolve()
        if folder in (one.resolve() for one in usual_places()):
            return []
        # Published files name no folder of the machine.
        below = folder.is_relative_to(Path.cwd())
        return ["--papers", shlex.quote(str(folder.relative_to(Path.cwd()))) if below else "DIR"]

    def rows_of(self, figure: str) -> list[Row]:
        """Returns the rows of a figure, in the order of the file."""
        return [row for row in self.rows if row.figure == figure]

    def measures(self) -> Mapping[str, Measure]:
        """Returns the functions that compute the rows of figures, by id."""
        return code.load(self.folder, code.MEASURES, self.figures)

    def drawings(self) -> Mapping[str, Draw]:
        """Returns the functions that draw figures, by id."""
        return code.load(self.folder, code.DRAWINGS, self.figures)


def places(given: Path | None = None) -> list[Path]:
    """Returns the folders that may have papers: the given one, the environment's, or the default ones.

    The default ones are those of the repository and of the wheel.
    """
    if named := given or (Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None):
        return [named]
    return usual_places()


def usual_places() -> list[Path]:
    """Folders of papers in the repository and in the wheel."""
    here = Path(__file__).resolve()
    return [here.parents[3] / "papers", here.parents[1] / "shipped" / "papers"]


def home(given: Path | None = None) -> Path | None:
    """Returns the first of these folders that has a paper; raises `BadInput` if a given one is not valid."""
    known = places(given)
    if len(known) == 1:
        option = "--papers" if given else VARIABLE
        if not known[0].is_dir():
            raise BadInput(f"{option}: {known[0]} is not a folder; expected one with NAME/{PAPER}")
        if (known[0] / PAPER).is_file():
            raise BadInput(f"{option}: {known[0]} is a paper; expected the folder that it is in")
    return next((one for one in known if any(one.glob(f"*/{PAPER}"))), None)


def names(given: Path | None = None) -> list[str]:
    """Returns the names of all papers."""
    folder = home(given)
    return [] if folder is None else sorted(path.parent.name for path in folder.glob(f"*/{PAPER}"))


def titles() -> list[tuple[str, str]]:
    """Returns the names of all papers with their titles, or with the error of one that is not valid."""
    folder, found = home(), []
    for name in names():
        assert folder is not None
        try:
            title = str(document(folder / name / PAPER)[0].get("title", ""))
        except BadInput as error:
            title = f"incomplete: {error.lines[0]}"
        found.append((name, title))
    return found


def describe_absence(given: Path | None = None) -> str:
    """Describes where no papers were found."""
    looked = ", ".join(map(str, places(given)))
    return f"no papers found in {looked}; set {VARIABLE} to their folder"


def load(name: str, given: Path | None = None) -> Paper:
    """Returns a paper by its name; raises `BadInput` with all errors in its files."""
    folder, known = home(given), names(given)
    if folder is None:
        raise BadInput(f"paper: {describe_absence(given)}, or give it with --papers")
    if name not in known:
        raise BadInput(f"paper: found {name!r}; expected one of {', '.join(known)}")
    return read(folder / name)


def read(folder: Path) -> Paper:
    """Returns the paper in a folder."""
    path = folder / PAPER
    given, _ = document(path)
    top = Fields(path, "", given)
    name = top.text("name")
    if name != folder.name:
        raise top.wrong("name", repr(name), f"that of its folder, {folder.name!r}")
    title, cite = top.text("title"), top.text("cite")
    assumptions, on_page = top.texts("assumptions", []), top.texts("on_page", [])
    history = top.texts("history", [])
    sweeps = keyed([experiment(path, at, one) for at, one in enumerate(top.tables("sweep"), 1)], path)
    tables = enumerate(top.tables("figure"), 1)
    figures = keyed([shown(path, (at, one), list(sweeps)) for at, one in tables], path)
    settings = [what_if(path, (at, one), list(sweeps)) for at, one in enumerate(top.tables("what_if"), 1)]
    studies = [study(path, at, one) for at, one in enumerate(top.tables("study"), 1)]
    top.done()
    keyed(settings, path)
    if not figures:
        raise top.wrong("figure", "none", "one table [[figure]] or more")
    if both := sorted(set(sweeps) & set(figures)):
        raise top.wrong(
            "figure", f"{both[0]!r}, which is a sweep as well", "different names of sweeps and figures"
        )
    if len(on_page) > MOST_ON_PAGE or not set(on_page) <= set(figures):
        raise top.wrong("on_page", repr(list(on_page)), f"{MOST_ON_PAGE} ids of figures at most")
    if len(settings) > MOST_SETTINGS:
        raise top.wrong("what_if", f"{len(settings)} tables", f"{MOST_SETTINGS} at most")
    known, digest = rows.load(folder / ROWS, figures)
    check_names(path, assumptions, known, [one.name for one in settings])
    said = claims.load(folder / CLAIMS, known)
    return Paper(
        folder,
        name,
        title,
        cite,
        sweeps,
        figures,
        settings,
        known,
        digest,
        assumptions,
        on_page,
        history,
        said,
        studies,
    )


def check_names(path: Path, assumptions: Sequence[str], known: Sequence[Row], settings: list[str]) -> None:
    """Raises `BadInput` if assumptions or notes name sensitivity runs that do not exist."""
    texts = [(f"{path}: assumptions", one) for one in assumptions]
    place = path.with_name(ROWS)
    texts += [(f"{place}: row {row.figure}, {row.case}, {row.metric}: note", row.note) for row in known]
    wrong = [
        f"{where}: found sensitivity run {name}; expected some of {', '.join(settings) or 'none'}"
        for where, text in texts
        for rest in NAMED.findall(text)
        for name in re.findall(r"`(\w+)`", rest)
        if name not in settings
    ]
    if wrong:
        raise BadInput(wrong)


def keyed(given: Sequence[Any], path: Path) -> dict[str, Any]:
    """Returns tables by name; raises `BadInput` if two have the same."""
    found: dict[str, Any] = {}
    for one in given:
        key = one.id if isinstance(one, Shown) else one.name
        if key in found:
            raise BadInput(f"{path}: found {key!r} twice; expected each name once")
        found[key] = one
    return found


def named(fields: Fields, field: str) -> str:
    """Returns a name that can be a component of a path."""
    found = fields.text(field)
    if not NAME.fullmatch(found):
        raise fields.wrong(field, repr(found), "letters, digits, and _ . - after the first")
    return found


def place(kind: str, at: int, given: Any, field: str) -> str:
    """Describes the place of a table: its kind and number, with its name if it has one."""
    told = given.get(field) if isinstance(given, Mapping) else None
    return f"{kind} {at} ({told})" if isinstance(told, str) else f"{kind} {at}"


def experiment(path: Path, at: int, given: Any) -> Experiment:
    """Parses a table `[[sweep]]`."""
    fields = Fields(path, place("sweep", at, given, "name"), given)
    name, scenario = named(fields, "name"), path.parent / fields.text("scenario")
    if not scenario.is_file():
        raise fields.wrong(
            "scenario", (f"{scenario.name!r}, which is not a file"), f"a scenario in {path.parent}"
        )
    over = fields.take("over", {})
    if not isinstance(over, Mapping):
        raise fields.wrong("over", repr(over), 'fields and their values, such as { "switch.x" = [1, 2] }')
    made = Experiment(
        name,
        scenario,
        over,
        fields.texts("zip", []),
        sets(fields, []),
        fields.whole("seeds", 10),
        fields.texts("variants") if "variants" in fields.given else fields.take("variants", None),
        fields.known("tables", TABLES, []),
    )
    fields.done()
    return made


def sets(fields: Fields, default: Any) -> list[str]:
    """Returns settings in the form of `--set`."""
    found = fields.texts("set", default)
    for one in found:
        path, equals, value = one.partition("=")
        if not equals or not path.strip() or not value.strip():
            raise fields.wrong("set", repr(one), "path=value, such as switch.buffer.size=50pkt")
    return found


def shown(path: Path, numbered: tuple[int, Any], sweeps: list[str]) -> Shown:
    """Parses a table `[[figure]]`."""
    fields = Fields(path, place("figure", numbered[0], numbered[1], "id"), numbered[1])
    made = Shown(
        named(fields, "id"), fields.text("title"), fields.known("sweeps", sweeps, []), fields.text("claim")
    )
    fields.done()
    return made


def study(path: Path, at: int, given: Any) -> Study:
    """Parses a table `[[study]]`."""
    fields = Fields(path, place("study", at, given, "page"), given)
    made = Study(named(fields, "page"), fields.text("says"))
    fields.done()
    return made


def what_if(path: Path, numbered: tuple[int, Any], sweeps: list[str]) -> WhatIf:
    """Parses a table `[[what_if]]`."""
    fields = Fields(path, place("what_if", numbered[0], numbered[1], "name"), numbered[1])
    made = WhatIf(
        named(fields, "name"),
        fields.text("title"),
        fields.known("sweeps", sweeps),
        sets(fields, REQUIRED),
        fields.whole("seeds") if "seeds" in fields.given else fields.take("seeds", None),
    )
    fields.done()
    if not made.sweeps or not made.sets:
        raise fields.wrong("sweeps" if not made.sweeps else "set", "none", "one or more")
    return made
