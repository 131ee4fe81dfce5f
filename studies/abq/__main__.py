"""The study of held ACKs beyond their article: its numbers, and the tables and figures of its page.

`make studies` runs it; `python -m studies.abq --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from studies import common
from studies.abq import figures
from studies.abq.numbers import (
    BACKGROUND,
    BACKGROUND_TAIL,
    MAIN,
    PLACES,
    QCT,
    QCT_MEAN,
    QCT_TAIL,
    STUDY,
    TUNED,
    Case,
    Plan,
    Row,
    chosen,
    own,
    relative_difference,
    run,
)
from studies.common import Page, asked, by_case, number, value, written

TIMES = {
    QCT: "QCT median",
    QCT_TAIL: "QCT p99",
    BACKGROUND: "background FCT mean",
    BACKGROUND_TAIL: "background FCT p99",
}
COUNTS = {
    "drops": "frames lost",
    "timeouts": "timeouts",
    "held_acks": "ACKs held",
    "hold_time_mean": "how long they wait",
    "queue_busiest_mean": "longest mean queue",
}
COMPARED = {**TIMES, "drops": "lost", "timeouts": "timeouts", "queue_busiest_mean": "queue"}
PAIRS = (("abq", "dctcp"), ("abq_alone", "dctcp"), ("window", "dctcp"), ("abq_alone", "abq"))
HEADS = ["network", "degree", "answers (BDP)", "background (%)"]


def points(found: Iterable[Row]) -> list[Case]:
    """Every point as a case without a variant, those of a network together."""
    every = dict.fromkeys(Case(*row.case.point, "") for row in found)
    networks = list(PLACES)
    return sorted(every, key=lambda at: (networks.index(at.network), at.answer != "8", int(at.background)))


def told_apart(found: Iterable[Row]) -> list[Row]:
    """Rows of the seeds that tell, without those by which a K was chosen."""
    return [row for row in found if not row.case.k]


def differences(found: Sequence[Row], variant: str, name: str) -> str:
    """A variant less a reference at every point, in per cent of the reference."""
    rows = by_case(found)
    body = [
        [
            *at.point,
            *(
                common.percent(relative_difference(rows, replace(at, variant=variant), one, name))
                for one in COMPARED
            ),
        ]
        for at in points(found)
    ]
    return written([*HEADS, *(f"{one} (%)" for one in COMPARED.values())], body)


def shown(row: Row | None) -> str:
    """Mean and half-width; how long ACKs wait in µs."""
    if row is None:
        return "–"
    micro = row.metric == "hold_time_mean"
    return f"{number(1e6 * row.mean)} ± {number(1e6 * row.ci95)}" if micro else value(row)


def means(found: Sequence[Row], metric: str) -> str:
    """A metric of every main variant at every point."""
    rows = by_case(found)
    body = []
    for at in points(found):
        there = (rows.get((replace(at, variant=name), metric)) for name in MAIN)
        body.append([*at.point, *(shown(one) for one in there)])
    return written([*HEADS, *(f"`{name}`" for name in MAIN)], body)


def tuning(found: Sequence[Row]) -> str:
    """Of each candidate the root of mean QCT (ms) times mean FCT of the background; bold was chosen."""
    rows = by_case(found)
    tried = list(dict.fromkeys(row.case.k for row in found if row.case.k))
    body = []
    for at in dict.fromkeys(Case(*row.case.point, "") for row in found if row.case.k):
        for name in TUNED:
            best, cells = chosen(found, at.network, name), []
            for k in tried:
                both = [rows.get((replace(at, variant=name, k=k), one)) for one in (QCT_MEAN, BACKGROUND)]
                of = [one.shown for one in both if one is not None]
                text = number((of[0] * of[1]) ** 0.5) if len(of) == 2 else "–"
                cells.append(f"**{text}**" if float(k) == best else text)
            body.append([at.network, f"`{name}`", *cells])
    return written(["network", "variant", *(f"{k} BDP" for k in tried)], body)


def asides(found: Sequence[Row]) -> str:
    """Each aside, less what it changes one thing of; `abq_open` less its twin as well."""
    rows, body = by_case(found), []
    for case in dict.fromkeys(row.case for row in found if row.case.variant not in MAIN):
        of = own(case.variant)
        row = [case.network, f"`{case.variant}`", f"`{of}`"]
        row += [common.percent(relative_difference(rows, case, one, of)) for one in COMPARED]
        body.append(
            [*row, *(common.percent(relative_difference(rows, case, one, "twin")) for one in (QCT, QCT_TAIL))]
        )
    heads = ["network", "aside", "less", *(f"{one} (%)" for one in COMPARED.values())]
    return written([*heads, "QCT median, less `dctcp_open` (%)", "QCT p99, the same (%)"], body)


def tables(found: Sequence[Row]) -> dict[str, str]:
    """Every table of the page by its name."""
    rows = told_apart(found)
    made = {f"{variant} less {name}": differences(rows, variant, name) for variant, name in PAIRS}
    made |= {str(metric): means(rows, metric) for metric in (*TIMES, *COUNTS)}
    return made | {"asides": asides(rows), "tuning": tuning(found)}


def main(arguments: list[str] | None = None) -> None:
    """Run what the store does not have, then write CSV, tables and figures."""
    given = asked("abq", __doc__, arguments)
    page = Page("abq", STUDY, tables, figures.draw)
    page.publish(None if given.page else lambda: run(Plan(jobs=given.jobs), given.out))


if __name__ == "__main__":
    main()
