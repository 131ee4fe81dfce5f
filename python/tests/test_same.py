"""Variants that are one and the same run are said to be."""

from overspill.results import same
from overspill.stats.quantiles import Value


def values(**numbers: float) -> dict[int, dict[str, Value]]:
    return {seed: {name: Value(one) for name, one in numbers.items()} for seed in (1, 2)}


def test_variants_that_are_equal_to_the_digit_are_one_run_and_why_is_said_where_it_is_known() -> None:
    never = values(fct_mean=0.1, drops=0, marks=0)
    runs = {"a025": never, "a1": dict(never), "drop": values(fct_mean=0.2, drops=3), "a8": dict(never)}
    assert same.groups(runs) == [("a025", "a1", "a8")]
    assert same.told(runs) == ["the buffer was never short: a025, a1 and a8 are one and the same run"]


def test_a_mechanism_that_never_had_to_act_is_no_difference() -> None:
    ecn = values(fct_mean=0.1, drops=0)
    pfc = values(fct_mean=0.1, drops=0, pauses=0, paused_fraction_mean=0)
    assert same.groups({"ecn": ecn, "pfc": pfc}) == [("ecn", "pfc")]
    assert same.groups({"ecn": ecn, "pfc": values(fct_mean=0.1, drops=0, pauses=1)}) == []


def test_the_reason_is_not_said_where_packets_were_lost_or_nobody_counted() -> None:
    for numbers in ({"fct_mean": 0.1, "drops": 2}, {"fct_mean": 0.1}, {"drops": 0, "marks": 1}):
        one = values(**numbers)
        assert same.told({"a": one, "b": one}) == [
            "every number is the same: a and b are one and the same run"
        ]


def test_a_bound_a_seed_or_a_digit_makes_runs_different() -> None:
    one = values(fct_mean=0.1)
    assert same.groups({"a": one, "b": {1: one[1]}}) == []
    assert same.groups({"a": one, "b": values(fct_mean=0.1 + 1e-16 * 2)}) == []
    assert same.groups({"a": one, "b": {seed: {"fct_mean": Value(0.1, True)} for seed in one}}) == []
    assert same.groups({"a": one, "b": {}, "c": {}}) == []
