"""Tests of sweeps over the factor of a dynamic threshold, which has two keys."""

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

import overspill

pytestmark = pytest.mark.usefixtures("compiled")

CHIP = Path(__file__).parents[2] / "scenarios/switch_memory.toml"
THRESHOLD = "switch.buffer.profiles.pg_lossless.threshold"


def count_pauses(path: str, values: list[str]) -> list[float]:
    """Returns the number of pauses of the variant `alpha_1` at each of these values."""
    results = overspill.sweep(CHIP, {path: values}, seeds=1, variants="alpha_1")
    rows = {
        row[path]: row["value"]
        for row in results.metrics.to_pylist()
        if (row["metric"], row["by"]) == ("pauses", "")
    }
    return [rows[value] for value in values]


def test_other_key_of_the_factor_is_refused_before_any_run(command: Callable[..., Ran]) -> None:
    ran = command("sweep", CHIP, "--over", f"{THRESHOLD}.alpha=0.5,1", "--seeds", 1)
    assert (ran.status, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    assert f"{THRESHOLD}.dynamic_th: found dynamic_th together with alpha; expected " in line


def test_both_keys_of_the_factor_give_equal_pauses() -> None:
    exponents = count_pauses(f"{THRESHOLD}.dynamic_th", ["-3", "1"])
    tables = [f"{{ kind = 'dynamic', alpha = {alpha} }}" for alpha in (0.125, 2)]
    assert count_pauses(THRESHOLD, tables) == exponents
    assert exponents[0] > exponents[1] > 0
