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
    "drops": "lost frames",
    "timeouts": "timeouts",
    "held_acks": "ACKs held",
    "hold_time_mean": "mean hold time",
    "queue_busiest_mean": "longest mean queue",
}
COMPARED = {**TIMES, "drops": "drops", "timeouts": "timeouts", "queue_busiest_mean": "queue"}
PAIRS = (("abq", "dctcp"), ("abq_alone", "dctcp"), ("window", "dctcp"), ("abq_alone", "abq"))
HEADS = ["network", "degree", "reply (BDP)", "background (%)"]


def points(found: Iterable[Row]) -> list[Case]:
    """Returns every point as a case without a variant, sorted by network."""
    every = dict.fromkeys(Case(*row.case.point, "") for row in found)
    networks = list(PLACES)
    return sorted(every, key=lambda at: (networks.index(at.network), at.answer != "8", int(at.background)))


def told_apart(found: Iterable[Row]) -> list[Row]:
    """Returns the rows of the main seeds, without those of the seeds that were used to choose K."""
    return [row for row in found if not row.case.k]


def differences(found: Sequence[Row], variant: str, name: str) -> str:
    """Table of a variant's differences from a reference at every point, in percent of the reference."""
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
    """Formats mean and half-width; the hold time of ACKs is in µs."""
    if row is None:
        return "–"
    micro = row.metric == "hold_time_mean"
    return f"{number(1e6 * row.mean)} ± {number(1e6 * row.ci95)}" if micro else value(row)


def means(found: Sequence[Row], metric: str) -> str:
    """Table of a metric for each main variant at every point."""
    rows = by_case(found)
    body = []
    for at in points(found):
        there = (rows.get((replace(at, variant=name), metric)) for name in MAIN)
        body.append([*at.point, *(shown(one) for one in there)])
    return written([*HEADS, *(f"`{name}`" for name in MAIN)], body)


def tuning(found: Sequence[Row]) -> str:
    """Table of the tuning cost of each candidate of K, with the chosen one in bold.

    The cost is the square root of mean QCT (ms) times mean FCT of the background (ms).
    """
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
    """Table of each aside's differences from the variant of which it changes one thing.

    `abq_open` is also compared with its twin `dctcp_open`.
    """
    rows, body = by_case(found), []
    for case in dict.fromkeys(row.case for row in found if row.case.variant not in MAIN):
        of = own(case.variant)
        row = [case.network, f"`{case.variant}`", f"`{of}`"]
        row += [common.percent(relative_difference(rows, case, one, of)) for one in COMPARED]
        body.append(
            [*row, *(common.percent(relative_difference(rows, case, one, "twin")) for one in (QCT, QCT_TAIL))]
        )
    heads = ["network", "aside", "compared with", *(f"{one} (%)" for one in COMPARED.values())]
    return written([*heads, "QCT median minus `dctcp_open` (%)", "QCT p99 minus `dctcp_open` (%)"], body)


def tables(found: Sequence[Row]) -> dict[str, str]:
    """Returns every table of the page by its name."""
    rows = told_apart(found)
    made = {f"{variant} less {name}": differences(rows, variant, name) for variant, name in PAIRS}
    made |= {str(metric): means(rows, metric) for metric in (*TIMES, *COUNTS)}
    return made | {"asides": asides(rows), "tuning": tuning(found)}


def main(arguments: list[str] | None = None) -> None:
    """Runs what the store lacks, then writes the CSV file, the tables and the figures."""
    given = asked("abq", __doc__, arguments)
    page = Page("abq", STUDY, tables, figures.draw)
    page.publish(None if given.page else lambda: run(Plan(jobs=given.jobs), given.out))


if __name__ == "__main__":
    main()
