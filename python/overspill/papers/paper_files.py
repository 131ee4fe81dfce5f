"""Paper as data: sweeps, figures and open parameters (`paper.toml`), rows and claims."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill import BadInput
from overspill.papers import claims, paper_code, paper_rows
from overspill.papers.claims import Claim
from overspill.papers.paper_rows import Row
from overspill.papers.spec import Draw, Measure
from overspill.papers.toml_fields import REQUIRED, TableFields, read_toml
from overspill.results.names import TABLES
from overspill.shipped_files import PAPERS, find_folders

PAPER_FILE, ROWS_FILE, CLAIMS_FILE = "paper.toml", "rows.toml", "claims.toml"
MAX_FIGURES_ON_PAGE = 3  # figures on the page of a paper
MAX_SENSITIVITY_RUNS = 8  # sensitivity runs, each with one open parameter changed
FOLDER_VARIABLE = "OVERSPILL_PAPERS"
SENSITIVITY_MENTION = re.compile(
    r"(?:what ifs?|[Ss]ensitivity runs?)(?:,[^:]*)?:? ([^).;]*)"
)  # the names in a sentence about sensitivity runs
NAME_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]*")


@dataclass(frozen=True)
class PaperSweep:
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
class PaperFigure:
    """Figure, table or claim of a paper: its sweeps, and a paraphrase of its claim."""

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
class RelatedStudy:
    """Study of the project that extends or contradicts the paper: a folder of `studies`."""

    name: str
    summary: str


@dataclass(frozen=True)
class Paper:
    """Paper, read from checked files; `digest` is the SHA-256 of its rows and tolerances."""

    folder: Path
    name: str
    title: str
    cite: str
    sweeps: Mapping[str, PaperSweep]
    figures: Mapping[str, PaperFigure]
    what_ifs: Sequence[WhatIf]
    rows: Sequence[Row]
    digest: str
    assumptions: Sequence[str] = ()
    figures_on_page: Sequence[str] = ()
    mechanisms: Sequence[str] = ()  # pages in docs/mechanisms
    history: Sequence[str] = ()
    claims: Sequence[Claim] = ()
    studies: Sequence[RelatedStudy] = ()
    terms: Sequence[str] = ()  # explanations of the names in rows

    @property
    def folder_arguments(self) -> list[str]:
        """Arguments by which a command finds the paper: `--papers DIR`, unless it is in a usual place."""
        folder = self.folder.parent.resolve()
        if folder in (one.resolve() for one in find_folders(PAPERS)):
            return []
        # The command is in published files, which must not name folders of the machine that made them.
        below = folder.is_relative_to(Path.cwd())
        return ["--papers", shlex.quote(str(folder.relative_to(Path.cwd()))) if below else "DIR"]

    def rows_of(self, figure: str) -> list[Row]:
        """Returns the rows of a figure, in the order of `rows.toml`."""
        return [row for row in self.rows if row.figure == figure]

    def measures(self) -> Mapping[str, Measure]:
        """Returns the functions that compute the rows of figures, by id."""
        return paper_code.load_functions(self.folder, paper_code.MEASURES_TABLE, self.figures)

    def drawings(self) -> Mapping[str, Draw]:
        """Returns the functions that draw figures, by id."""
        return paper_code.load_functions(self.folder, paper_code.DRAWINGS_TABLE, self.figures)


def paper_folders(given: Path | None = None) -> list[Path]:
    """Returns the folders that may have papers: the given one, the environment's, or the default ones.

    The default ones are those of the repository and of the wheel.
    """
    if named := given or (Path(os.environ[FOLDER_VARIABLE]) if os.environ.get(FOLDER_VARIABLE) else None):
        return [named]
    return find_folders(PAPERS)


def find_paper_folder(given: Path | None = None) -> Path | None:
    """Returns the first of these folders that has a paper; raises `BadInput` if a given one is not valid."""
    known = paper_folders(given)
    if len(known) == 1:
        option = "--papers" if given else FOLDER_VARIABLE
        if not known[0].is_dir():
            raise BadInput(f"{option}: {known[0]} is not a folder; expected one with NAME/{PAPER_FILE}")
        if (known[0] / PAPER_FILE).is_file():
            raise BadInput(f"{option}: {known[0]} is a paper; expected the folder that it is in")
    return next((one for one in known if any(one.glob(f"*/{PAPER_FILE}"))), None)


def paper_names(given: Path | None = None) -> list[str]:
    """Returns the names of all papers."""
    folder = find_paper_folder(given)
    return [] if folder is None else sorted(path.parent.name for path in folder.glob(f"*/{PAPER_FILE}"))


def paper_titles() -> list[tuple[str, str]]:
    """Returns the names of all papers with their titles, or with the error of one that is not valid."""
    folder, found = find_paper_folder(), []
    for name in paper_names():
        assert folder is not None
        try:
            title = str(read_toml(folder / name / PAPER_FILE)[0].get("title", ""))
        except BadInput as error:
            title = f"incomplete: {error.lines[0]}"
        found.append((name, title))
    return found


def describe_absence(given: Path | None = None) -> str:
    """Describes the folders in which no papers were found."""
    looked = ", ".join(map(str, paper_folders(given)))
    return f"no papers found in {looked}; set {FOLDER_VARIABLE} to their folder"


def load_paper(name: str, given: Path | None = None) -> Paper:
    """Returns a paper by its name; raises `BadInput` with all errors in its files."""
    folder, known = find_paper_folder(given), paper_names(given)
    if folder is None:
        raise BadInput(f"paper: {describe_absence(given)}, or give it with --papers")
    if name not in known:
        raise BadInput(f"paper: found {name!r}; expected one of {', '.join(known)}")
    return read_paper(folder / name)


def read_paper(folder: Path) -> Paper:
    """Reads and checks the files of the paper in a folder."""
    path = folder / PAPER_FILE
    given, _ = read_toml(path)
    top = TableFields(path, "", given)
    name = top.take_text("name")
    if name != folder.name:
        raise top.field_error("name", repr(name), f"that of its folder, {folder.name!r}")
    title, cite = top.take_text("title"), top.take_text("cite")
    assumptions, on_page = top.take_texts("assumptions", []), top.take_texts("on_page", [])
    mechanisms = top.take_texts("mechanisms", [])
    terms = top.take_texts("terms", [])
    history = top.take_texts("history", [])
    sweeps = index_by_name(
        [parse_sweep(path, at, one) for at, one in enumerate(top.take_tables("sweep"), 1)], path
    )
    tables = enumerate(top.take_tables("figure"), 1)
    figures = index_by_name([parse_figure(path, (at, one), list(sweeps)) for at, one in tables], path)
    settings = [
        parse_what_if(path, (at, one), list(sweeps)) for at, one in enumerate(top.take_tables("what_if"), 1)
    ]
    studies = [parse_study(path, at, one) for at, one in enumerate(top.take_tables("study"), 1)]
    top.refuse_unread()
    index_by_name(settings, path)
    if not figures:
        raise top.field_error("figure", "none", "one table [[figure]] or more")
    if both := sorted(set(sweeps) & set(figures)):
        raise top.field_error(
            "figure", f"{both[0]!r}, which is a sweep as well", "different names of sweeps and figures"
        )
    if len(on_page) > MAX_FIGURES_ON_PAGE or not set(on_page) <= set(figures):
        raise top.field_error("on_page", repr(list(on_page)), f"{MAX_FIGURES_ON_PAGE} ids of figures at most")
    if len(settings) > MAX_SENSITIVITY_RUNS:
        raise top.field_error("what_if", f"{len(settings)} tables", f"{MAX_SENSITIVITY_RUNS} at most")
    known, digest = paper_rows.load_rows(folder / ROWS_FILE, figures)
    check_names(path, assumptions, known, [one.name for one in settings])
    said = claims.load_claims(folder / CLAIMS_FILE, known)
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
        mechanisms,
        history,
        said,
        studies,
        terms,
    )


def check_names(path: Path, assumptions: Sequence[str], known: Sequence[Row], settings: list[str]) -> None:
    """Raises `BadInput` if assumptions or notes name sensitivity runs that do not exist."""
    texts = [(f"{path}: assumptions", one) for one in assumptions]
    place = path.with_name(ROWS_FILE)
    texts += [(f"{place}: row {row.figure}, {row.case}, {row.metric}: note", row.note) for row in known]
    wrong = [
        f"{where}: found sensitivity run {name}; expected some of {', '.join(settings) or 'none'}"
        for where, text in texts
        for rest in SENSITIVITY_MENTION.findall(text)
        for name in re.findall(r"`(\w+)`", rest)
        if name not in settings
    ]
    if wrong:
        raise BadInput(wrong)


def index_by_name(given: Sequence[Any], path: Path) -> dict[str, Any]:
    """Returns tables of a TOML file by name; raises `BadInput` if two have the same name."""
    found: dict[str, Any] = {}
    for one in given:
        key = one.id if isinstance(one, PaperFigure) else one.name
        if key in found:
            raise BadInput(f"{path}: found {key!r} twice; expected each name once")
        found[key] = one
    return found


def parse_path_name(fields: TableFields, field: str) -> str:
    """Returns a name from a TOML file that can be a component of a path."""
    found = fields.take_text(field)
    if not NAME_PATTERN.fullmatch(found):
        raise fields.field_error(field, repr(found), "letters, digits, and _ . - after the first")
    return found


def describe_table_position(kind: str, at: int, given: Any, field: str) -> str:
    """Describes the position of a TOML table for an error message: kind, number and name."""
    told = given.get(field) if isinstance(given, Mapping) else None
    return f"{kind} {at} ({told})" if isinstance(told, str) else f"{kind} {at}"


def parse_sweep(path: Path, at: int, given: Any) -> PaperSweep:
    """Parses a `[[sweep]]` table of `paper.toml`."""
    fields = TableFields(path, describe_table_position("sweep", at, given, "name"), given)
    name, scenario = parse_path_name(fields, "name"), path.parent / fields.take_text("scenario")
    if not scenario.is_file():
        raise fields.field_error(
            "scenario", (f"{scenario.name!r}, which is not a file"), f"a scenario in {path.parent}"
        )
    over = fields.take_any("over", {})
    if not isinstance(over, Mapping):
        raise fields.field_error(
            "over", repr(over), 'fields and their values, such as { "switch.x" = [1, 2] }'
        )
    made = PaperSweep(
        name,
        scenario,
        over,
        fields.take_texts("zip", []),
        parse_settings(fields, []),
        fields.take_whole_number("seeds", 10),
        fields.take_texts("variants") if "variants" in fields.given else fields.take_any("variants", None),
        fields.take_known_names("tables", TABLES, []),
    )
    fields.refuse_unread()
    return made


def parse_settings(fields: TableFields, default: Any) -> list[str]:
    """Returns settings of a TOML table in the form `path=value`, as `--set` takes them."""
    found = fields.take_texts("set", default)
    for one in found:
        path, equals, value = one.partition("=")
        if not equals or not path.strip() or not value.strip():
            raise fields.field_error("set", repr(one), "path=value, such as switch.buffer.size=50pkt")
    return found


def parse_figure(path: Path, numbered: tuple[int, Any], sweeps: list[str]) -> PaperFigure:
    """Parses a `[[figure]]` table of `paper.toml`."""
    fields = TableFields(path, describe_table_position("figure", numbered[0], numbered[1], "id"), numbered[1])
    made = PaperFigure(
        parse_path_name(fields, "id"),
        fields.take_text("title"),
        fields.take_known_names("sweeps", sweeps, []),
        fields.take_text("claim"),
    )
    fields.refuse_unread()
    return made


def parse_study(path: Path, at: int, given: Any) -> RelatedStudy:
    """Parses a `[[study]]` table of `paper.toml`."""
    fields = TableFields(path, describe_table_position("study", at, given, "page"), given)
    made = RelatedStudy(parse_path_name(fields, "page"), fields.take_text("says"))
    fields.refuse_unread()
    return made


def parse_what_if(path: Path, numbered: tuple[int, Any], sweeps: list[str]) -> WhatIf:
    """Parses a `[[what_if]]` table of `paper.toml`, a sensitivity run."""
    fields = TableFields(
        path, describe_table_position("what_if", numbered[0], numbered[1], "name"), numbered[1]
    )
    made = WhatIf(
        parse_path_name(fields, "name"),
        fields.take_text("title"),
        fields.take_known_names("sweeps", sweeps),
        parse_settings(fields, REQUIRED),
        fields.take_whole_number("seeds") if "seeds" in fields.given else fields.take_any("seeds", None),
    )
    fields.refuse_unread()
    if not made.sweeps or not made.sets:
        raise fields.field_error("sweeps" if not made.sweeps else "set", "none", "one or more")
    return made
