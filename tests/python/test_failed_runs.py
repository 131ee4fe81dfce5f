"""Tests of lines about failed runs, and of limits on lines above the table of a sweep."""

from typing import Any

from overspill import Results
from overspill.results import failed_runs, header, warnings
from overspill.results.axes import Axis
from overspill.results.failed_runs import RunPlace

LOSS = "the run failed: a packet was lost: switch leaf{}, port {}"
OTHER = "the run failed: no memory: 5 B"


def sweep_with(failures: list[str], notes: list[str], **changed: Any) -> Results:
    """Returns a sweep of the sizes 0 to 8 with two variants and three seeds, none of which finished."""
    sizes = [str(size) for size in range(9)]
    missing = [{"point": [size], "variant": one, "seeds": [1, 2, 3]} for size in sizes for one in "ab"]
    facts = {
        "variants": ["a", "b"],
        "seeds": [1, 2, 3],
        "points": [{"values": [size]} for size in sizes],
        "runs": {"finished": 0},
        "missing": missing,
        "failures": failures,
        "notes": notes,
        "interrupted": False,
        "unfinished": [],
        "partial": [],
    }
    return Results(facts | changed, axes=[Axis("x.size", sizes)])


def failed_texts(results: Results, page: bool = False) -> list[str]:
    return [line.text for line in failed_runs.failed_run_lines(results, page)]


def test_runs_with_one_cause_share_a_line() -> None:
    lost = [
        f"x.size={at}: {one} seed {seed}: {LOSS.format(at, seed)}"
        for at in (0, 1)
        for one in "ab"
        for seed in (1, 2)
    ]
    count, loss, other = failed_texts(sweep_with([*lost, f"x.size=4: a seed 3: {OTHER}"], []))
    assert count.startswith("9 of 54 runs failed and are not in the means")
    assert loss.startswith(f"x.size=0, 1: a, b, seeds 1, 2: {LOSS.format(0, 1)}; the others differ")
    assert other == f"x.size=4: a, seed 3: {OTHER}"


def test_six_causes_are_shown_and_twelve_on_a_page() -> None:
    some = [f"x.size={at}: a seed 1: the run failed: cause {'xyz'[at % 3] * (at + 1)}" for at in range(9)]
    texts = failed_texts(sweep_with(some, []))
    assert len(texts) == 7 and texts[-1].endswith("cause zzzzzz (and 3 more: `failures` in manifest.json)")
    assert len(failed_texts(sweep_with(some, []), page=True)) == 10


def test_failure_without_a_run_is_a_line_of_its_own() -> None:
    assert failed_texts(sweep_with(["5 runs are no longer in the store"], [])) == [
        "5 runs are no longer in the store"
    ]
    assert failed_texts(sweep_with([], [])) == []


def test_points_of_several_axes_are_named_in_full() -> None:
    places = [RunPlace(f"x=1, y={y}", "a", 1) for y in (2, 3)]
    assert failed_runs.format_places(places) == "x=1, y=2 | x=1, y=3: a, seed 1"
    single = [RunPlace("", "a", 1), RunPlace("", "a", 2), RunPlace("", "b", 2)]
    assert failed_runs.format_places(single) == "a, seeds 1, 2; b, seed 2"


def test_causes_of_a_single_point_share_a_line() -> None:
    facts = {
        "variants": ["a"],
        "seeds": [1, 2],
        "failures": [f"a seed {seed}: {LOSS.format(0, seed)}" for seed in (1, 2)],
        "interrupted": False,
    }
    found = Results(facts)
    assert [line.text.partition("; the")[0] for line in header.failed_runs.failed_run_lines(found)][1:] == [
        f"a, seeds 1, 2: {LOSS.format(0, 1)}"
    ]


def test_notes_that_differ_in_numbers_share_a_line() -> None:
    notes = [f"{one}: buffer of {at}KB is small (at x.size={at})" for at in range(9) for one in "ab"]
    texts = [
        line.text for line in warnings.note_lines(sweep_with([], [*notes, "a: holds everywhere"]), False)
    ]
    assert texts == [
        "a, b: buffer of 0KB is small (at x.size=0) "
        "(and 8 more with other numbers: `notes` in manifest.json)",
        "a: holds everywhere",
    ]
    many = sweep_with([], [f"note {'n' * at}" for at in range(1, 10)])
    assert len(warnings.note_lines(many, False)) == 6
    assert warnings.note_lines(many, False)[-1].text == "note nnnnnn (and 3 more: `notes` in manifest.json)"
    assert len(warnings.note_lines(many, True)) == 9


def test_six_places_of_unfinished_flows_are_shown() -> None:
    left = [
        {"point": [str(at)], "variant": "a", "seeds": [1], "unfinished": 2, "measured": 4} for at in range(9)
    ]
    lines = warnings.sweep_warnings(sweep_with([], [], unfinished=left))
    assert [line.label for line in lines] == ["UNFINISHED FLOWS"] * 6
    assert lines[-1].text.endswith("(and 3 more: `unfinished` in manifest.json)")
    assert lines[0].text == "x.size=0: a, seed 1: 2 of 4 measured flows did not finish"
