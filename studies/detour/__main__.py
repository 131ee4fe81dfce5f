"""Study of detour policies of DIBS: numbers, tables and figures of the page.

`make studies` runs it; `python -m studies.detour --page` runs nothing and takes the committed CSV.
"""

from collections.abc import Callable, Iterable, Sequence

from studies import common
from studies.common import (
    Page,
    format_difference,
    format_table,
    format_value,
    group_by_label,
    parse_arguments,
)
from studies.detour import figures
from studies.detour.numbers import (
    BACKGROUND,
    DETOURED_SHARE,
    DETOURS_MEAN,
    DETOURS_TAIL,
    ENTROPY,
    LINK_UTILISATION,
    NETWORKS,
    POLICIES,
    QCT,
    QCT_TAIL,
    STUDY,
    TUNED_VARIANTS,
    Case,
    Plan,
    Row,
    chosen_setting,
    run_study,
)

Cells = common.Cells[Case]
COLUMN_HEADS = {
    QCT: "QCT mean (ms)",
    QCT_TAIL: "QCT p99 (ms)",
    BACKGROUND: "FCT p99, short background (ms)",
    DETOURED_SHARE: "detoured (%)",
    DETOURS_MEAN: "detours per detoured packet, mean",
    DETOURS_TAIL: "detours per detoured packet, p99",
    "drop_ratio": "lost (%)",
    "timeouts": "timeouts",
    ENTROPY: "entropy (nat)",
    LINK_UTILISATION: "utilisation between switches (%)",
}
TUNED_COLUMN_HEADS = {
    **{metric: COLUMN_HEADS[metric] for metric in (QCT, QCT_TAIL, BACKGROUND, DETOURED_SHARE)},
    "bounced_share": "bounced (%)",
    **{metric: COLUMN_HEADS[metric] for metric in ("drop_ratio", "timeouts", ENTROPY, LINK_UTILISATION)},
}
TABLE_NAMES = {QCT: "qct", QCT_TAIL: "qct tail", BACKGROUND: "background"}
NETWORK_GROUPS = {
    "fat_tree": ("fat_tree",),
    "lean": ("hyperx", "jellyfish"),
    "paths": ("hyperx, 8 paths", "jellyfish, 8 paths", "hyperx_wide"),
}


def format_bold(row: Row, reference: str) -> str:
    """Formats a mean with its half-width, the mean in bold if it differs significantly from a reference."""
    mean, _, half = format_value(row).partition(" ± ")
    return f"**{mean}** ± {half}" if row.differs(reference) else f"{mean} ± {half}"


def mean_table(cells: Cells, heads: dict[str, str], reference: str) -> str:
    """Table of the means of several metrics, one line for each variant."""
    body = (
        [name, *(format_bold(cell[one], reference) if one in cell else "–" for one in heads)]
        for name, cell in cells.items()
    )
    return format_table(["variant", *heads.values()], body)


def format_variant(row: Row) -> str:
    """Formats the variant's name as code."""
    return f"`{row.case.variant}`"


def difference_table(found: Sequence[Row], metric: str, networks: Iterable[str]) -> str:
    """Table of differences from the policy `random` in ms, and of its values, by network and load."""
    rows = [one for one in found if one.metric == metric and one.case.series == "policy"]
    points = {
        (one.case.network, one.case.load): None
        for name in networks
        for one in rows
        if one.case.network == name
    }
    at = {(one.case.network, one.case.load, one.case.variant): one for one in rows}
    body = []
    for variant in ("random", *(name for name in POLICIES if name != "random")):
        there = [at.get((*point, variant)) for point in points]
        show: Callable[[Row], str] = (
            format_value if variant == "random" else lambda row: format_difference(row, "random")
        )
        body.append([f"`{variant}`", *("" if one is None else show(one) for one in there)])
    heads = [f"{network}, {load} qps" for network, load in points]
    return format_table(["", *heads], body)


def tried_settings_table(found: Sequence[Row]) -> str:
    """Table of all tried settings of DIBS, PABO and the shared buffer, with the chosen ones in bold."""
    rows = [one for one in found if one.metric == QCT]
    best = {chosen_setting(found, name) for name in TUNED_VARIANTS}
    group = {variant: at for at, names in enumerate(TUNED_VARIANTS.values()) for variant in names}
    body = []
    for row in sorted(rows, key=lambda row: (group[row.case.variant], row.mean)):
        mark = "**" if row.case in best else ""
        body.append([f"`{row.case.variant}`", f"{mark}{row.case.setting}{mark}", format_value(row)])
    return format_table(["overflow", "setting", "QCT mean (ms)"], body)


def tables(found: Sequence[Row]) -> dict[str, str]:
    """Returns every table of the study's page by its name."""
    made = {}
    for metric, name in TABLE_NAMES.items():
        for group, networks in NETWORK_GROUPS.items():
            made[f"{name}, {group}"] = difference_table(found, metric, networks)
    for network in NETWORKS:
        there = [one for one in found if (one.case.series, one.case.network) == ("policy", network)]
        load = "4000" if network == "hyperx_wide" else "2000"
        cells = group_by_label((one for one in there if one.case.load == load), format_variant)
        if cells:
            made[f"{network}, {load}"] = mean_table(cells, COLUMN_HEADS, "random")
    for series in ("aside", "swapped"):
        asides = [one for one in found if one.case.series == series]
        for network in dict.fromkeys(one.case.network for one in asides):
            cells = group_by_label((one for one in asides if one.case.network == network), format_variant)
            made[f"{series}, {network}"] = mean_table(cells, COLUMN_HEADS, "random")
    made["tried"] = tried_settings_table([one for one in found if one.case.series == "tune"])
    duel = [one for one in found if one.case.series == "duel"]
    for load in dict.fromkeys(one.case.load for one in duel):
        cells = group_by_label((one for one in duel if one.case.load == load), format_variant)
        made[f"duel, {load}"] = mean_table(cells, TUNED_COLUMN_HEADS, "dibs_tuned")
    return made


def main(arguments: list[str] | None = None) -> None:
    """Performs the missing runs of the study, then writes its CSV file, tables and figures."""
    given = parse_arguments("detour", __doc__, arguments)
    page = Page("detour", STUDY, tables, figures.draw)
    page.publish(None if given.page else lambda: run_study(Plan(jobs=given.jobs), given.out))


if __name__ == "__main__":
    main()
