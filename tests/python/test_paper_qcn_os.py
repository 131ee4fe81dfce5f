"""Tests that QCN-OS's figures measure exactly their rows and are drawn, and of differences of scenarios."""

import tomllib

import pytest
from overspill_papers.qcn_os.figures import DRAWINGS
from overspill_papers.qcn_os.measures import MEASURES
from qcn_os_runs import PAPER, all_sweeps
from small_paper import count_marked_points, has_code_for, measures_exactly

from overspill.papers import paper_files

ROWS = tomllib.loads((PAPER / "rows.toml").read_text())["row"]
SWEEPS = all_sweeps()


def test_every_figure_has_code_unless_all_its_rows_are_for_later() -> None:
    has_code_for(MEASURES, paper_files.read_paper(PAPER).figures, ROWS)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_figure_measures_exactly_its_rows(name: str) -> None:
    now = [row for row in ROWS if not row.get("later")]
    measures_exactly(name, MEASURES[name], SWEEPS, now)


@pytest.mark.parametrize("name", sorted(DRAWINGS))
def test_a_figure_is_drawn_with_what_was_published_where_it_has_a_place(name: str) -> None:
    places = {
        "fig3": 2,
        "fig4": 3,
        "fig6": 6,
        "fig7": 2,
        "eq1-3": 6,
        "eq4-5": 6,
        "fig9": 8,
        "fig10": 4,
        "fig11": 2,
    }
    assert count_marked_points(name, DRAWINGS[name], SWEEPS, ROWS) == [0, places.get(name, 0)]


def test_every_row_runs() -> None:
    assert not [row for row in ROWS if row.get("later")]


def test_subflows_are_the_flows_of_the_fabric_divided_by_ten() -> None:
    whole, parts = (tomllib.loads((PAPER / name).read_text()) for name in ("fabric.toml", "subflows.toml"))
    assert parts["switch"] == whole["switch"] and parts["host"] == whole["host"]
    assert all(whole["variants"][name] == parts["variants"][name] for name in parts["variants"])
    divided = {"rate": "500Mbps", "flows": 10, "jitter": "24672ns", "backlog": "6400B"}
    later = [{}, {"stop": "350ms"}]
    assert parts["traffic"] == [
        one | divided | more for one, more in zip(whole["traffic"], later, strict=True)
    ]


def test_figure_3_runs_what_the_others_run_but_for_qcn_and_the_last_flow() -> None:
    five, six = (tomllib.loads((PAPER / name).read_text()) for name in ("baseline.toml", "hotspot.toml"))
    # No reaction point limits a flow without QCN.
    assert five["switch"] == six["switch"]
    assert five["host"] == six["host"] | {"nic": {"kind": "round_robin"}}
    ends = {"h5": "h4", "h6": "h5"}
    moved = [one | {"destination": ends[one["destination"]]} for one in six["traffic"][:-1]]
    assert five["traffic"] == moved
    assert list(five["variants"]) == ["pfc"] and five["variants"]["pfc"] == six["variants"]["pfc"] == {}


def test_at_100_gbps_rates_and_sizes_are_ten_times_as_large() -> None:
    sets = dict(one.split("=") for one in sweep("fast")["set"])
    scenario = tomllib.loads((PAPER / "hotspot.toml").read_text())
    mib = {"byte_counter": "150KB", "r_ai": "5Mbps", "r_hai": "50Mbps", "min_rate": "5Mbps"}
    for path, value in sets.items():
        *way, last = path.split(".")
        if last in mib:
            assert value == ten_times(mib[last])
        elif last == "jitter":  # jitter of one frame's transmission time
            assert (value, last_row_of(scenario, way)["jitter"]) == ("246720ps", "2467200ps")
        else:
            assert value == ten_times(last_row_of(scenario, way)[last]), path


def sweep(name: str) -> dict[str, list[str]]:
    """Returns a sweep of the paper."""
    sweeps = tomllib.loads((PAPER / "paper.toml").read_text())["sweep"]
    return next(one for one in sweeps if one["name"] == name)


def last_row_of(table: dict, way: list[str]) -> dict:
    """Returns the table at a path; in a list of workloads, the entry with that name."""
    for part in way:
        table = next(one for one in table if one["name"] == part) if isinstance(table, list) else table[part]
    return table


def ten_times(text: str) -> str:
    """Returns ten times a quantity."""
    number = text.rstrip("KBMGbps")
    return f"{10 * int(number)}{text.removeprefix(number)}"
