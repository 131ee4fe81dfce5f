"""The study of hosts of 2011 and of today in one incast: its numbers, and the tables and figures of its page.

`make studies` runs it; `python -m studies.hosts --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Iterable, Sequence

from studies import common
from studies.common import Page, asked, by_case, number, value, written
from studies.hosts import figures
from studies.hosts.figures import spaced
from studies.hosts.numbers import (
    ASIDES,
    COMPLETION,
    CP,
    DCTCP,
    MAIN,
    STUDY,
    TIMEOUTS,
    WORST,
    Case,
    Plan,
    Row,
    Rows,
    reference,
    run,
)

GROUPS = {"TCP": MAIN, "DCTCP": DCTCP, "CP": CP}
MARGIN = 0.05
COUNTS = {
    TIMEOUTS: "timeouts of servers",
    "retransmits": "retransmissions",
    "drops": "drops",
    "undos": "undos",
}


def points(found: Iterable[Row], connection: str) -> list[Case]:
    """Returns every point with this kind of connection, as a case without a variant."""
    every = dict.fromkeys(Case(row.case.degree, row.case.rto, connection, "") for row in found)
    there = {(row.case.degree, row.case.rto, row.case.connection) for row in found}
    chosen = [at for at in every if (at.degree, at.rto, at.connection) in there]
    return sorted(chosen, key=lambda at: (len(at.rto), at.rto, int(at.degree)))


def at_point(at: Case, variant: str) -> Case:
    """Returns the case of a variant at a point."""
    return Case(at.degree, at.rto, at.connection, variant)


def shown(row: Row | None) -> str:
    """Formats mean and half-width of a row; large counts have no decimal places."""
    if row is None:
        return "–"
    if row.unit == "s":
        return value(row)
    half = (row.high - row.low) / 2
    return f"{row.mean:.0f} ± {half:.0f}" if row.mean >= 10 else f"{number(row.mean)} ± {number(half)}"


def means(found: Sequence[Row], group: Sequence[str], metric: str, connection: str = "new") -> str:
    """Table of a metric for each variant of a group, at every point."""
    rows = by_case(found)
    body = [
        [at.degree, spaced(at.rto), *(shown(rows.get((at_point(at, name), metric))) for name in group)]
        for at in points(found, connection)
    ]
    return written(["servers", "minimum RTO", *(f"`{name}`" for name in group)], body)


def percent(rows: Rows, case: Case, metric: str, name: str) -> str:
    """Formats a difference from a reference in percent."""
    return common.percent(common.difference_text(rows, case, reference(case, name), (metric, name, MARGIN)))


def differences(found: Sequence[Row], connection: str = "new") -> str:
    """Table of differences of completion in percent: hosts of 2011 from RFC 6675, modern hosts from 2011."""
    rows = by_case(found)
    body = []
    for at in points(found, connection):
        line = [at.degree, spaced(at.rto)]
        for ending in ("", "_dctcp", "_cp"):
            pairs = ((f"host_2011{ending}", "textbook"), (f"today{ending}", "host_2011"))
            line += [percent(rows, at_point(at, name), COMPLETION, other) for name, other in pairs]
        body.append(line)
    heads = (f"{group}: {less}" for group in GROUPS for less in ("2011 minus textbook", "today minus 2011"))
    return written(["servers", "minimum RTO", *heads], body)


def asides(found: Sequence[Row]) -> str:
    """Table of the variants that change one rule of a host of 2011."""
    rows = by_case(found)
    there = {(row.case.degree, row.case.rto) for row in found if row.case.variant in ASIDES}
    body = []
    for at in (at for at in points(found, "new") if (at.degree, at.rto) in there):
        for name in ("host_2011", "today", *ASIDES):
            case = at_point(at, name)
            line = [
                spaced(at.rto),
                f"`{name}`",
                *(shown(rows.get((case, one))) for one in (COMPLETION, WORST)),
            ]
            body.append([*line, percent(rows, case, COMPLETION, "host_2011"), *counts(rows, case)])
    heads = ["minimum RTO", "variant", "mean (ms)", "longest (ms)", "difference from `host_2011` (%)"]
    return written([*heads, *COUNTS.values()], body)


def counts(rows: Rows, case: Case) -> list[str]:
    """Formats the counts of a case."""
    return [shown(rows.get((case, one))) for one in COUNTS]


def tables(found: Sequence[Row]) -> dict[str, str]:
    """Returns every table of the page by its name."""
    made = {f"{name}: {COMPLETION}": means(found, group, COMPLETION) for name, group in GROUPS.items()}
    made |= {f"{name}: timeouts": means(found, GROUPS[name], TIMEOUTS) for name in ("TCP", "DCTCP")}
    made["differences"] = differences(found)
    made["kept"] = differences(found, "persistent")
    kept = [*MAIN, *DCTCP, *CP]
    made[f"kept: {COMPLETION}"] = means(found, kept, COMPLETION, "persistent")
    made["asides"] = asides(found)
    return made


def main(arguments: list[str] | None = None) -> None:
    """Runs what the store lacks, then writes the CSV file, the tables and the figures."""
    given = asked("hosts", __doc__, arguments)
    page = Page("hosts", STUDY, tables, figures.draw)
    page.publish(None if given.page else lambda: run(Plan(jobs=given.jobs), given.out))


if __name__ == "__main__":
    main()
