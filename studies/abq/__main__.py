"""Study of ABQ (held ACKs) beyond its article: numbers, tables and figures of the page.

`make studies` runs it; `python -m studies.abq --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from studies import common
from studies.abq import figures
from studies.abq.numbers import (
    BACKGROUND,
    BACKGROUND_TAIL,
    MAIN_VARIANTS,
    NETWORKS,
    QCT,
    QCT_MEAN,
    QCT_TAIL,
    STUDY,
    TUNED_VARIANTS,
    Case,
    Plan,
    Row,
    base_variant,
    chosen_k,
    relative_difference,
    run_study,
)
from studies.common import Page, format_number, format_table, format_value, index_by_case, parse_arguments

TIME_METRICS = {
    QCT: "QCT median",
    QCT_TAIL: "QCT p99",
    BACKGROUND: "background FCT mean",
    BACKGROUND_TAIL: "background FCT p99",
}
COUNT_METRICS = {
    "drops": "lost frames",
    "timeouts": "timeouts",
    "held_acks": "ACKs held",
    "hold_time_mean": "mean hold time",
    "queue_busiest_mean": "longest mean queue",
}
COMPARED_METRICS = {**TIME_METRICS, "drops": "drops", "timeouts": "timeouts", "queue_busiest_mean": "queue"}
VARIANT_PAIRS = (("abq", "dctcp"), ("abq_alone", "dctcp"), ("window", "dctcp"), ("abq_alone", "abq"))
COLUMN_HEADS = ["network", "senders", "reply (BDP)", "background (%)"]


def distinct_configurations(found: Iterable[Row]) -> list[Case]:
    """Returns every configuration without its variant, sorted by network."""
    every = dict.fromkeys(Case(*row.case.point, "") for row in found)
    networks = list(NETWORKS)
    return sorted(every, key=lambda at: (networks.index(at.network), at.answer != "8", int(at.background)))


def rows_of_main_seeds(found: Iterable[Row]) -> list[Row]:
    """Returns the rows of the main seeds, without those of the seeds that choose the threshold K."""
    return [row for row in found if not row.case.k]


def difference_table(found: Sequence[Row], variant: str, name: str) -> str:
    """Table of a variant's difference from a reference in each configuration, in percent of the reference."""
    rows = index_by_case(found)
    body = [
        [
            *at.point,
            *(
                common.format_percent(relative_difference(rows, replace(at, variant=variant), one, name))
                for one in COMPARED_METRICS
            ),
        ]
        for at in distinct_configurations(found)
    ]
    return format_table([*COLUMN_HEADS, *(f"{one} (%)" for one in COMPARED_METRICS.values())], body)


def format_mean(row: Row | None) -> str:
    """Formats mean and half-width; the hold time of ACKs is in µs."""
    if row is None:
        return "–"
    micro = row.metric == "hold_time_mean"
    return (
        f"{format_number(1e6 * row.mean)} ± {format_number(1e6 * row.ci95)}" if micro else format_value(row)
    )


def mean_table(found: Sequence[Row], metric: str) -> str:
    """Table of a metric for each main variant in each configuration."""
    rows = index_by_case(found)
    body = []
    for at in distinct_configurations(found):
        there = (rows.get((replace(at, variant=name), metric)) for name in MAIN_VARIANTS)
        body.append([*at.point, *(format_mean(one) for one in there)])
    return format_table([*COLUMN_HEADS, *(f"`{name}`" for name in MAIN_VARIANTS)], body)


def tuning_table(found: Sequence[Row]) -> str:
    """Table of the tuning cost of each candidate for the threshold K, with the chosen one in bold.

    The cost is the square root of mean QCT (ms) times mean FCT of the background (ms).
    """
    rows = index_by_case(found)
    tried = list(dict.fromkeys(row.case.k for row in found if row.case.k))
    body = []
    for at in dict.fromkeys(Case(*row.case.point, "") for row in found if row.case.k):
        for name in TUNED_VARIANTS:
            best, cells = chosen_k(found, at.network, name), []
            for k in tried:
                both = [rows.get((replace(at, variant=name, k=k), one)) for one in (QCT_MEAN, BACKGROUND)]
                of = [one.displayed_mean for one in both if one is not None]
                text = format_number((of[0] * of[1]) ** 0.5) if len(of) == 2 else "–"
                cells.append(f"**{text}**" if float(k) == best else text)
            body.append([at.network, f"`{name}`", *cells])
    return format_table(["network", "variant", *(f"{k} BDP" for k in tried)], body)


def single_change_table(found: Sequence[Row]) -> str:
    """Table of the difference of each single-change variant from the variant that it changes.

    `abq_open` is also compared with its twin `dctcp_open`.
    """
    rows, body = index_by_case(found), []
    for case in dict.fromkeys(row.case for row in found if row.case.variant not in MAIN_VARIANTS):
        of = base_variant(case.variant)
        row = [case.network, f"`{case.variant}`", f"`{of}`"]
        row += [common.format_percent(relative_difference(rows, case, one, of)) for one in COMPARED_METRICS]
        body.append(
            [
                *row,
                *(
                    common.format_percent(relative_difference(rows, case, one, "twin"))
                    for one in (QCT, QCT_TAIL)
                ),
            ]
        )
    heads = ["network", "aside", "compared with", *(f"{one} (%)" for one in COMPARED_METRICS.values())]
    heads += [f"`abq_open` minus `dctcp_open`: {one} (%)" for one in ("QCT median", "QCT p99")]
    return format_table(heads, body)


def tables(found: Sequence[Row]) -> dict[str, str]:
    """Returns every table of the study's page by its name."""
    rows = rows_of_main_seeds(found)
    made = {
        f"{variant} less {name}": difference_table(rows, variant, name) for variant, name in VARIANT_PAIRS
    }
    made |= {str(metric): mean_table(rows, metric) for metric in (*TIME_METRICS, *COUNT_METRICS)}
    return made | {"asides": single_change_table(rows), "tuning": tuning_table(found)}


def main(arguments: list[str] | None = None) -> None:
    """Performs the missing runs of the study, then writes its CSV file, tables and figures."""
    given = parse_arguments("abq", __doc__, arguments)
    page = Page("abq", STUDY, tables, figures.draw)
    page.publish(None if given.page else lambda: run_study(Plan(jobs=given.jobs), given.out))


if __name__ == "__main__":
    main()
