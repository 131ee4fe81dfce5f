"""Study of Linux hosts of 2011 and modern hosts in an incast: numbers, tables and figures of the page.

`make studies` runs it; `python -m studies.hosts --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Iterable, Sequence

from studies import common
from studies.common import Page, format_number, format_table, format_value, index_by_case, parse_arguments
from studies.hosts import figures
from studies.hosts.figures import space_before_unit
from studies.hosts.numbers import (
    CP_VARIANTS,
    DCTCP_VARIANTS,
    MEAN_COMPLETION,
    REPLY_TIMEOUTS,
    SINGLE_CHANGES,
    STUDY,
    TCP_VARIANTS,
    WORST_COMPLETION,
    Case,
    Plan,
    Row,
    Rows,
    reference_case,
    run_study,
)

VARIANT_GROUPS = {"TCP": TCP_VARIANTS, "DCTCP": DCTCP_VARIANTS, "CP": CP_VARIANTS}
MARGIN = 0.05
COUNT_METRICS = {
    REPLY_TIMEOUTS: "timeouts of servers",
    "retransmits": "retransmissions",
    "drops": "drops",
    "undos": "undos",
}


def distinct_configurations(found: Iterable[Row], connection: str) -> list[Case]:
    """Returns every configuration with this kind of connection, without its variant."""
    every = dict.fromkeys(Case(row.case.degree, row.case.rto, connection, "") for row in found)
    there = {(row.case.degree, row.case.rto, row.case.connection) for row in found}
    chosen = [at for at in every if (at.degree, at.rto, at.connection) in there]
    return sorted(chosen, key=lambda at: (len(at.rto), at.rto, int(at.degree)))


def variant_case(at: Case, variant: str) -> Case:
    """Returns a variant in a configuration, as the key of rows."""
    return Case(at.degree, at.rto, at.connection, variant)


def format_mean(row: Row | None) -> str:
    """Formats a mean with its half-width; large counts have no decimal places."""
    if row is None:
        return "–"
    if row.unit == "s":
        return format_value(row)
    half = (row.high - row.low) / 2
    return (
        f"{row.mean:.0f} ± {half:.0f}"
        if row.mean >= 10
        else f"{format_number(row.mean)} ± {format_number(half)}"
    )


def mean_table(found: Sequence[Row], group: Sequence[str], metric: str, connection: str = "new") -> str:
    """Table of a metric for each variant of a group, in every configuration."""
    rows = index_by_case(found)
    body = [
        [
            at.degree,
            space_before_unit(at.rto),
            *(format_mean(rows.get((variant_case(at, name), metric))) for name in group),
        ]
        for at in distinct_configurations(found, connection)
    ]
    return format_table(["servers", "minimum RTO", *(f"`{name}`" for name in group)], body)


def format_relative_difference(rows: Rows, case: Case, metric: str, name: str) -> str:
    """Formats a difference from a reference in percent."""
    return common.format_percent(
        common.relative_difference(rows, case, reference_case(case, name), (metric, name, MARGIN))
    )


def difference_table(found: Sequence[Row], connection: str = "new") -> str:
    """Table of differences of completion times in percent: 2011 from RFC 6675, modern from 2011."""
    rows = index_by_case(found)
    body = []
    for at in distinct_configurations(found, connection):
        line = [at.degree, space_before_unit(at.rto)]
        for ending in ("", "_dctcp", "_cp"):
            pairs = ((f"host_2011{ending}", "textbook"), (f"today{ending}", "host_2011"))
            line += [
                format_relative_difference(rows, variant_case(at, name), MEAN_COMPLETION, other)
                for name, other in pairs
            ]
        body.append(line)
    heads = (
        f"{group}: {less}" for group in VARIANT_GROUPS for less in ("2011 minus textbook", "today minus 2011")
    )
    return format_table(["servers", "minimum RTO", *heads], body)


def single_change_table(found: Sequence[Row]) -> str:
    """Table of the variants that change one rule of a Linux host of 2011."""
    rows = index_by_case(found)
    there = {(row.case.degree, row.case.rto) for row in found if row.case.variant in SINGLE_CHANGES}
    body = []
    for at in (at for at in distinct_configurations(found, "new") if (at.degree, at.rto) in there):
        for name in ("host_2011", "today", *SINGLE_CHANGES):
            case = variant_case(at, name)
            line = [
                space_before_unit(at.rto),
                f"`{name}`",
                *(format_mean(rows.get((case, one))) for one in (MEAN_COMPLETION, WORST_COMPLETION)),
            ]
            body.append(
                [
                    *line,
                    format_relative_difference(rows, case, MEAN_COMPLETION, "host_2011"),
                    *format_counts(rows, case),
                ]
            )
    heads = [
        "minimum RTO",
        "variant",
        "mean round (ms)",
        "longest round (ms)",
        "mean round minus that of `host_2011` (%)",
    ]
    return format_table([*heads, *COUNT_METRICS.values()], body)


def format_counts(rows: Rows, case: Case) -> list[str]:
    """Formats the counts of a configuration, such as timeouts, as table cells."""
    return [format_mean(rows.get((case, one))) for one in COUNT_METRICS]


def tables(found: Sequence[Row]) -> dict[str, str]:
    """Returns every table of the study's page by its name."""
    made = {
        f"{name}: {MEAN_COMPLETION}": mean_table(found, group, MEAN_COMPLETION)
        for name, group in VARIANT_GROUPS.items()
    }
    made |= {
        f"{name}: timeouts": mean_table(found, VARIANT_GROUPS[name], REPLY_TIMEOUTS)
        for name in ("TCP", "DCTCP")
    }
    made["differences"] = difference_table(found)
    made["kept"] = difference_table(found, "persistent")
    kept = [*TCP_VARIANTS, *DCTCP_VARIANTS, *CP_VARIANTS]
    made[f"kept: {MEAN_COMPLETION}"] = mean_table(found, kept, MEAN_COMPLETION, "persistent")
    made["asides"] = single_change_table(found)
    return made


def main(arguments: list[str] | None = None) -> None:
    """Performs the missing runs of the study, then writes its CSV file, tables and figures."""
    given = parse_arguments("hosts", __doc__, arguments)
    page = Page("hosts", STUDY, tables, figures.draw)
    page.publish(None if given.page else lambda: run_study(Plan(jobs=given.jobs), given.out))


if __name__ == "__main__":
    main()
