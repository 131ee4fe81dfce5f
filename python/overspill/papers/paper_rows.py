"""Published values of a paper, row by row, with tolerances (`rows.toml`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overspill import BadInput
from overspill.papers.toml_fields import TableFields, is_finite_number, read_toml
from overspill.papers.verdicts import NEW_ROW, VERDICTS, RowRevision

ROW_BASES = ("text", "table", "axis", "derived", "calibrated", "own_model", "setting")
COUNTED_BASES = ("text", "table", "axis")  # results of the paper itself
ROW_KINDS = ("exact", "value", "ratio", "order")
TOLERANCE_FORMS = "{ abs }, { rel }, { factor }, { min, max } (one of them may be left out) or { prediction }"

CaseAndMetric = tuple[str, str]  # case and metric


@dataclass(frozen=True)
class Tolerance:
    """Range of measured values in the row's unit, with both ends included.

    With `prediction`, a share, the published value must be in the interval of one of our runs instead. A
    published text must be among the most frequent ones, which together have that share of them.
    """

    form: Mapping[str, float]
    low: float = -math.inf
    high: float = math.inf
    prediction: float | None = None


@dataclass(frozen=True)
class Row:
    """Published number or statement, identified by figure, case and metric."""

    figure: str
    case: str
    metric: str
    unit: str
    published: float | str | None
    basis: str
    kind: str
    tolerance: Tolerance | None
    is_one_run: bool
    is_for_later: bool
    note: str
    revised: RowRevision | None = None
    repeat: str = ""

    @property
    def key(self) -> CaseAndMetric:
        """Case and metric of the row, by which the figure's code names it."""
        return self.case, self.metric

    @property
    def is_counted(self) -> bool:
        """True if the paper publishes the value of the row and it is measured."""
        return self.basis in COUNTED_BASES and not self.is_for_later


def load_rows(path: Path, figures: Iterable[str]) -> tuple[list[Row], str]:
    """Returns every row of `rows.toml`, and the file's SHA-256; raises `BadInput` with all errors."""
    given, digest = read_toml(path)
    top = TableFields(path, "", given)
    tables, known = top.take_tables("row"), list(figures)
    settings = top.take_texts("revised_settings", [])
    top.refuse_unread()
    found: list[Row] = []
    wrong: list[str] = []
    seen: dict[tuple[str, str, str], int] = {}
    for at, table in enumerate(tables, 1):
        try:
            row = parse_row(path, (at, table), known, settings)
            first = seen.setdefault((row.figure, *row.key), at)
            if first != at:
                place = f"{path}: row {at} ({row.figure}, {row.case}, {row.metric})"
                raise BadInput(
                    f"{place}: found it in row {first} as well; expected each figure, case, metric once"
                )
            found.append(row)
        except BadInput as error:
            wrong += error.lines
    without = [figure for figure in known if figure not in {row.figure for row in found}]
    wrong += [
        f"{path}: found no row of figure {figure}; expected one or more" for figure in without if not wrong
    ]
    reasons = [row.revised.reason for row in found if row.revised is not None]
    wrong += [
        f"{path}: revised_settings: found {why!r}; expected the `why` of some row"
        for why in settings
        if why not in reasons and not wrong
    ]
    if wrong:
        raise BadInput(wrong)
    return found, digest


def parse_row(path: Path, numbered: tuple[int, Any], figures: list[str], settings: Sequence[str] = ()) -> Row:
    """Parses one row of `rows.toml`; `settings` are the reasons of revisions that changed only settings."""
    at, given = numbered
    told = given if isinstance(given, Mapping) else {}
    name = ", ".join(str(told[key]) for key in ("figure", "case", "metric") if key in told)
    fields = TableFields(path, f"row {at} ({name})" if name else f"row {at}", given)
    row = Row(
        figure=fields.take_word("figure", figures),
        case=fields.take_text("case"),
        metric=fields.take_text("metric"),
        unit=fields.take_text("unit", ""),
        published=parse_published(fields),
        basis=fields.take_word("basis", ROW_BASES),
        kind=fields.take_word("kind", ROW_KINDS),
        tolerance=parse_tolerance(fields),
        is_one_run=fields.take_flag("one_run"),
        is_for_later=fields.take_flag("later"),
        note=fields.take_text("note", ""),
        revised=parse_revision(fields, settings),
        repeat=fields.take_text("repeat", ""),
    )
    fields.refuse_unread()
    check_consistency(fields, row)
    return row


def parse_published(fields: TableFields) -> float | str | None:
    """Parses the published value of a row: a number, a text, or nothing."""
    found: Any = fields.take_any("published", None)
    if found is None or is_finite_number(found) or (isinstance(found, str) and found.strip()):
        return found  # type: ignore[no-any-return]
    raise fields.field_error("published", repr(found), "a number, a text, or nothing")


def parse_revision(fields: TableFields, settings: Sequence[str]) -> RowRevision | None:
    """Parses the revision of a row after a first run: its former verdict, and the reason."""
    given = fields.take_any("revised", None)
    if given is None:
        return None
    inner = TableFields(fields.file, f"{fields.where}: revised", given)
    verdict, why = inner.take_word("verdict", (*VERDICTS, NEW_ROW)), inner.take_text("why")
    inner.refuse_unread()
    return RowRevision(verdict, why, why in settings)


def parse_tolerance(fields: TableFields) -> Tolerance | None:
    """Parses the tolerance of a row, a table such as `{abs = 5}`."""
    given = fields.take_any("tolerance", None)
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(is_finite_number(one) for one in given.values()):
        raise fields.field_error("tolerance", repr(given), TOLERANCE_FORMS)
    form: dict[str, float] = dict(given)
    value: Any = fields.given.get("published")
    names = set(form)
    if names and names <= {"min", "max"}:
        low, high = form.get("min", -math.inf), form.get("max", math.inf)
        if low > high:
            raise fields.field_error("tolerance", repr(form), "min at most max")
        return Tolerance(form, low, high)
    if len(names) != 1 or not names <= {"abs", "rel", "factor", "prediction"}:
        raise fields.field_error("tolerance", repr(form), TOLERANCE_FORMS)
    if not is_finite_number(value) and not (isinstance(value, str) and names == {"prediction"}):
        raise fields.field_error("tolerance", repr(form), "{ min, max }, since no number is published")
    if names == {"prediction"}:
        if not 0 < form["prediction"] < 1:
            raise fields.field_error("tolerance", repr(form), "prediction between 0 and 1, such as 0.95")
        return Tolerance(form, prediction=float(form["prediction"]))
    return tolerance_around(fields, form, float(value))


def tolerance_around(fields: TableFields, form: dict[str, float], value: float) -> Tolerance:
    """Returns a tolerance around a published number."""
    [(name, size)] = form.items()
    if name == "factor":
        if size < 1 or value <= 0:
            raise fields.field_error(
                "tolerance", repr(form), "factor of 1 or more, and a published number above 0"
            )
        return Tolerance(form, value / size, value * size)
    if size < 0:
        raise fields.field_error("tolerance", repr(form), f"{name} of 0 or more")
    reach = size * abs(value) if name == "rel" else size
    return Tolerance(form, value - reach, value + reach)


def check_consistency(fields: TableFields, row: Row) -> None:
    """Raises `BadInput` if fields of a row contradict each other."""
    if row.is_for_later and not row.note.strip():
        raise fields.field_error("note", "nothing", "the reason why the row is for later")
    if isinstance(row.published, str):
        if row.kind != "exact":
            raise fields.field_error("kind", repr(row.kind), "exact, since a text is published")
        if row.tolerance is not None and row.tolerance.prediction is None:
            expected = "none or { prediction }, since a text is published"
            raise fields.field_error("tolerance", repr(dict(row.tolerance.form)), expected)
    elif row.tolerance is None and not row.is_for_later:
        raise fields.field_error("tolerance", "nothing", TOLERANCE_FORMS)
    predicts = row.tolerance is not None and row.tolerance.prediction is not None
    # Basis `derived` needs no `one_run`: a value that is derived from numbers of one run is of that run.
    if predicts and is_finite_number(row.published) and not row.is_one_run and row.basis != "derived":
        raise fields.field_error("tolerance", "{ prediction } without one_run", "it only if one run is shown")
    if row.is_one_run and not is_finite_number(row.published):
        raise fields.field_error("one_run", "true", "it only if a number is published")
