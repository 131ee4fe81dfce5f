"""Tests of axes as users write them, and of the points of their grid."""

import itertools
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TEXTS, TOML_VALUES, decimal_text

from overspill import BadInput
from overspill.engine import axis_values, point_checks, toml_values
from overspill.engine.grid import build_grid
from overspill.results.axes import Point


def texts(text: str) -> list[str]:
    return axis_values.parse_values("x", text)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("20", ["20"]),
        ("20, 40 ,80", ["20", "40", "80"]),
        ('"a,b",c', ['"a,b"', "c"]),
        ('\'a,b\',"c\\",d"', ["'a,b'", '"c\\",d"']),
        (
            '{ kind = "detour", policy = "random" },{ kind = "tail_drop" }',
            ['{ kind = "detour", policy = "random" }', '{ kind = "tail_drop" }'],
        ),
        ("[1,2],[3,[4,5]]", ["[1,2]", "[3,[4,5]]"]),
        ("1..4:1", ["1", "2", "3", "4"]),
        ("1..4:2", ["1", "3"]),
        ("4..1:-1", ["4", "3", "2", "1"]),
        ("0.1..0.3:0.1", ["0.1", "0.2", "0.3"]),
        ("10KB..30KB:10KB", ["10KB", "20KB", "30KB"]),
        ("5,10..20:5,100", ["5", "10", "15", "20", "100"]),
        ("lin(1,5,3)", ["1", "3", "5"]),
        ("lin(0.0,1,5)", ["0", "0.25", "0.5", "0.75", "1"]),
        ("lin(1,2,4)", ["1", "2"]),
        ("log(1KB,1000KB,4)", ["1KB", "10KB", "100KB", "1000KB"]),
        ("log(10,100,3)", ["10", "32", "100"]),
        ("log(1.0,100,3)", ["1", "10", "100"]),
        ("log(10.0us,1000us,5)", ["10us", "31.6228us", "100us", "316.228us", "1000us"]),
        (
            "1.0000000000000001..1.0000000000000002:0.0000000000000001",
            ["1.0000000000000001", "1.0000000000000002"],
        ),
        ("1e-20s..2e-20s:1e-20s", ["0.00000000000000000001s", "0.00000000000000000002s"]),
        ("lin(0.12345678,0.2,2)", ["0.12345678", "0.2"]),
        ("lin(1.00000001,1.00000002,3)", ["1.00000001", "1.00000002"]),
        ("../flows.csv,flows..csv", ["../flows.csv", "flows..csv"]),
    ],
)
def test_values_are_listed_ranged_and_spaced(given: str, found: list[str]) -> None:
    assert texts(given) == found


@pytest.mark.parametrize(
    "given",
    [
        "1,,2",
        "1,",
        '"a,b',
        "[1,2",
        "1],2",
        "1..4:0",
        "1..4:-1",
        "1KB..4MB:1KB",
        "1KB..4:1",
        "10KB..50KB:10",
        "10..50KB:10KB",
        "10..30KB:10",
        "1..4:1KB",
        "1..1e12:1",
        "lin(1,2)",
        "lin(1,2,1)",
        "lin(1KB,2MB,3)",
        "lin(1,2KB,3)",
        "log(1KB,20,3)",
        "log(0,2,3)",
        "log(a,b,3)",
        "log(1,10,1000000)",
    ],
)
def test_what_is_no_list_of_values_is_bad_input(given: str) -> None:
    with pytest.raises(BadInput, match="--over: x: found"):
        texts(given)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("20,40", ([20.0, 40.0], "")),
        ("10pkt,20pkt", ([10.0, 20.0], "pkt")),
        ("500us,1ms", ([500.0, 1000.0], "us")),
        ("1KiB,1KB", ([1.0, 1000 / 1024], "KiB")),
        ("1/2 Gbps,100Mbps", ([0.5, 0.1], "Gbps")),
        ("10pkt,20KB", None),
        ("20,40KB", None),
        ("true,false", None),
        ("reno,dctcp", None),
        ("1 apple,2 apples", None),
        ("off,3", None),
    ],
)
def test_quantities_of_one_dimension_are_numbers(given: str, found: tuple[list[float], str] | None) -> None:
    axis = build_grid([f"x={given}"]).axes[0]
    assert (axis.numbers, axis.unit) == (found or (None, ""))


def test_points_cross_every_axis_with_the_last_one_fastest() -> None:
    made = build_grid(["a=1,2", "b=x,y,z"])
    assert len(made) == 6
    points = list(made.points())
    assert [str(point) for point in points[:4]] == ["a=1, b=x", "a=1, b=y", "a=1, b=z", "a=2, b=x"]
    assert [point.index for point in points] == list(range(6))
    assert points[5].sets == ("a=2", "b=z")


def test_axes_that_move_together_are_not_crossed() -> None:
    made = build_grid(["a=1,2", "b=x,y", "c=7,8"], ["a,c"])
    assert [tuple(point.values.values()) for point in made.points()] == [
        ("1", "x", "7"),
        ("1", "y", "7"),
        ("2", "x", "8"),
        ("2", "y", "8"),
    ]
    assert len(made) == 4


@pytest.mark.parametrize(
    ("zips", "message"),
    [
        (["a,nope"], "found nope"),
        (["a"], "two or more paths"),
        (["a,b"], "different numbers of values"),
    ],
)
def test_only_axes_of_equal_length_move_together(zips: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        build_grid(["a=1,2", "b=1,2,3"], zips)


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ([], "found nothing"),
        (["a"], "expected path=a,b,c"),
        (["=1"], "expected path=a,b,c"),
        (["a= "], "expected path=a,b,c"),
        (["a=1", "a=2"], "a: found it twice"),
        (["a=1,2,1"], "found 1 twice"),
        (['a="x",x'], "found x twice"),
        (["seed=1,2"], "--seed and --seeds"),
        (["metric=1"], "expected a key of a scenario"),
        (["name=a,b"], "--over: name: found a field that changes no run"),
        (["description=a"], "--over: description: found a field that changes no run"),
        (["a=1..1000:1", "b=1..1000:1"], "found 1000000 points"),
    ],
)
def test_what_is_no_grid_is_bad_input(over: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        build_grid(over)


def test_python_values_become_what_the_command_line_takes() -> None:
    over = {
        "a": [20, 40],
        "b": [True, False],
        "c": [{"kind": "detour", "hops": [1, 2], "on": True}],
        "d": ["10pkt"],
        "e": 5,
        "f": "1..3:1",
    }
    made = build_grid(over)
    assert made.given[:2] == [["20", "40"], ["true", "false"]]
    assert made.given[2] == ['{ "kind" = "detour", "hops" = [1, 2], "on" = true }']
    assert made.given[3:] == [["10pkt"], ["5"], ["1", "2", "3"]]
    assert made.axes[0].numbers == [20.0, 40.0]


def test_quotes_around_a_whole_value_are_not_shown_but_passed_on() -> None:
    made = build_grid(['a="10pkt",20pkt'])
    assert made.axes[0].texts == ["10pkt", "20pkt"] and made.given[0] == ['"10pkt"', "20pkt"]
    assert made.axes[0].numbers == [10.0, 20.0]


def test_an_empty_list_from_python_is_bad_input() -> None:
    with pytest.raises(BadInput, match="expected one value or more"):
        build_grid({"a": []})


DECIMALS = st.builds(
    lambda digits, places: Fraction(digits, 10**places), st.integers(1, 9999), st.integers(0, 25)
)
UNITS = st.sampled_from([unit for family in axis_values.UNIT_DIMENSIONS for unit in family])


@given(DECIMALS, DECIMALS, st.integers(1, 8), UNITS, st.booleans())
def test_random_ranges_have_every_step_exactly(
    first: Fraction, step: Fraction, count: int, unit: str, down: bool
) -> None:
    exact = [first + at * step for at in range(count)]
    if down:
        exact.reverse()
    span = f"{decimal_text(exact[0])}{unit}..{decimal_text(exact[-1])}{unit}"
    sign = "-" if down else ""
    assert texts(f"{span}:{sign}{decimal_text(step)}{unit}") == [
        f"{decimal_text(one)}{unit}" for one in exact
    ]


@given(st.sampled_from(["lin", "log"]), DECIMALS, DECIMALS, st.integers(2, 9), UNITS)
def test_random_spacings_lead_from_end_to_end(
    kind: str, first: Fraction, last: Fraction, count: int, unit: str
) -> None:
    ends = [f"{decimal_text(one)}{unit}" for one in (first, last)]
    found = texts(f"{kind}({ends[0]},{ends[1]},{count})")
    numbers = [Fraction(text.removesuffix(unit)) for text in found]
    assert [found[0], found[-1]] == ends and len(set(found)) == len(found) <= count
    assert numbers == sorted(numbers, reverse=last < first)


@given(st.lists(TOML_VALUES, min_size=1, max_size=4))
def test_random_values_between_commas_come_back(values: list[object]) -> None:
    made = [toml_values.format_toml(one) for one in values]
    assert axis_values.split_at_commas("x", " , ".join(made)) == made


@given(st.integers(0, 10**6), st.integers(0, 6), UNITS, UNITS)
def test_random_quantities_are_the_same_numbers_in_every_unit(
    digits: int, places: int, unit: str, other: str
) -> None:
    given = decimal_text(Fraction(digits, 10**places))
    found = axis_values.numbers_in_one_unit([f"1{other}", f"{given} {unit}"])
    family = next(one for one in axis_values.UNIT_DIMENSIONS if unit in one)
    if other not in family:
        assert found is None
        return
    assert found == ([1.0, float(Fraction(given) * family[unit] / family[other])], other)


@given(
    st.dictionaries(
        st.sampled_from(["a", "b.c", "d", "e"]),
        st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True),
    ),
    st.data(),
)
def test_random_grids_have_every_combination_once_and_in_order(
    over: dict[str, list[int]], data: st.DataObject
) -> None:
    sizes = sorted({len(values) for values in over.values()})
    size = data.draw(st.sampled_from(sizes)) if sizes else 0
    together = [path for path, values in over.items() if len(values) == size]
    zips = [together] if len(together) > 1 and data.draw(st.booleans()) else []
    grid = build_grid(over, zips, single=True)
    # Axes that vary together are in the place of the first of them.
    ranges = [[path] for path in over if not zips or path not in together[1:]]
    groups = [together if zips and group[0] == together[0] else group for group in ranges]
    expected = []
    for chosen in itertools.product(*(range(len(over[group[0]])) for group in groups)):
        at = {path: place for group, place in zip(groups, chosen, strict=True) for path in group}
        expected.append({path: str(over[path][at[path]]) for path in over})
    points = list(grid.points())
    assert [point.values for point in points] == expected and len(grid) == len(points)
    assert len({str(point) for point in points}) == len(points)
    assert [point.index for point in points] == list(range(len(points)))
    assert all(
        point.sets == tuple(f"{path}={text}" for path, text in point.values.items()) for point in points
    )


@given(TEXTS, TEXTS)
def test_random_texts_are_axes_or_bad_input(path: str, text: str) -> None:
    try:
        (axis,) = build_grid([f"{path}={text}"]).axes
    except BadInput as error:
        assert str(error).startswith("--over: ")
    else:
        assert path.partition("=")[0].strip() == axis.path and axis.texts


def test_an_error_about_a_part_of_a_swept_path_names_the_option_over() -> None:
    grid = build_grid(["switch.bufer.size=1pkt,2pkt"])
    line = point_checks.locate_error("--set: switch.bufer: found unknown key", list(grid.points()), grid)
    assert line == "--over: switch.bufer: found unknown key"


def error_lines(over: list[str], error: Callable[[Point], str]) -> list[str]:
    """Returns the lines shown if every point of a grid has this error."""
    grid = build_grid(over)
    wrong: dict[str, list[Point]] = {}
    for point in grid.points():
        wrong.setdefault(error(point), []).append(point)
    return point_checks.first_error_lines(wrong, grid)


def test_an_error_of_several_swept_values_is_shown_once() -> None:
    def error(point: Point) -> str:
        value = point.values["a.rate"]
        return f'--set: a.rate: found "{value}", no rate; expected a rate (did you mean "{value}s"?)'

    start = '--over: a.rate: found "1Gbp", no rate; expected a rate (did you mean "1Gbps"?)'
    assert error_lines(["a.rate=lin(1Gbp,10Gbp,10)"], error) == [
        f"{start} (at 10 of 10 points, first a.rate=1Gbp)"
    ]
    assert error_lines(["a.rate=1Gbp,2Gbp", "b=1,2,3"], error) == [
        f"{start} (at 6 of 6 points, first a.rate=1Gbp, b=1)"
    ]
    # All points have the same line.
    assert error_lines(["a.rate=1Gbp", "b=1,2,3"], error) == [start]


def test_errors_that_differ_in_more_than_the_swept_value_stay_apart() -> None:
    def error(point: Point) -> str:
        limit = "2" if point.values["a"] == "7" else "3"
        return f"--set: a: found {point.values['a']}; expected {limit} or less"

    assert error_lines(["a=7,8,9"], error) == [
        "--over: a: found 7; expected 2 or less (at a=7)",
        "--over: a: found 8; expected 3 or less (at 2 of 3 points, first a=8)",
    ]


def test_an_error_of_another_key_with_a_swept_value_stays() -> None:
    lines = error_lines(
        ["a=7,8"], lambda point: f"f.toml:3: b: found 5; expected {point.values['a']} or more"
    )
    assert lines == [
        "f.toml:3: b: found 5; expected 7 or more (at a=7)",
        "f.toml:3: b: found 5; expected 8 or more (at a=8)",
    ]


def test_ninety_values_with_one_error_hide_no_other_error() -> None:
    def error(point: Point) -> str:
        return f"--set: a: found {point.values['a']}; expected a unit" if point.index < 90 else "b: found 1"

    assert error_lines(["a=1..91:1"], error) == [
        "--over: a: found 1; expected a unit (at 90 of 91 points, first a=1)",
        "b: found 1 (at a=91)",
    ]
