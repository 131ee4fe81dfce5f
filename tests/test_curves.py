"""Tests that `overspill explain bounce` and `red` print and draw the curve of their decision."""

import json
from pathlib import Path

import pytest

from overspill import _core, cli
from overspill.engine import core


@pytest.fixture
def explain(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # noqa: ANN201
    """Returns a function that calls the command and returns its status and output."""
    core.use_backend(None)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as left:
            cli.main(["explain", *arguments])
        said = capfd.readouterr()
        return left.value.code, said.out, said.err

    return call


def row(out: str, first: str) -> list[str]:
    """Returns the cells of the table row that begins with a text."""
    return next(cells for line in out.splitlines() if (cells := line.split())[:1] == [first])


def test_bounce_is_explained_with_equation_4_for_three_np(explain) -> None:  # noqa: ANN001
    status, out, _ = explain("bounce", "--set", "theta=0.5", "--set", "lambda=5", "--size", "200")
    assert status == 0 and "with theta=0.5, lambda=5" in out and "PABO" in out
    assert "np = 0" in out and "np = 2" in out and "█" in out
    assert row(out, "0.75") == ["0.75", "150", "0.7773", "0.6514", "0.6027"]
    assert row(out, "0.5")[2:] == ["0.0000"] * 3 and row(out, "1")[2:] == ["1.0000"] * 3


def test_several_values_of_lambda_are_several_curves_of_np_0(explain) -> None:  # noqa: ANN001
    status, out, _ = explain("bounce", "--set", "theta=0.5", "--set", "lambda=5,15,25")
    assert status == 0 and "with np = 0, theta=0.5" in out and "lambda=25" in out
    assert row(out, "0.75") == ["0.75", "75", "0.7773", "0.9770", "0.9981"]


def test_several_values_of_theta_are_told_to_the_last_digit(explain) -> None:  # noqa: ANN001
    status, out, _ = explain("bounce", "--set", "theta=0.8,0.5")
    exact = [_core.curve("bounce", [f"theta={theta}"], 1, [0.85]) for theta in (0.8, 0.5)]
    highs = [f"{json.loads(one or '')['asked'][0][0]:.4f}" for one in exact]
    assert status == 0 and row(out, "0.85") == ["0.85", "85", *highs] and highs[0] == "0.9180"


def test_red_has_a_curve_over_its_average_queue(explain) -> None:  # noqa: ANN001
    status, out, _ = explain("red", "--set", "max_p=0.2")
    assert status == 0 and "average queue, in packets" in out
    assert row(out, "15") == ["15", "0.2000"]
    why = " ".join(explain("red", "--size", "9")[2].split())
    found = "--size: found 9 for 'red', whose curve is over the average queue, in packets; expected `--size`"
    assert f"{found} only for" in why


def test_explain_json_has_the_entry_and_its_curve(explain) -> None:  # noqa: ANN001
    status, out, _ = explain("PABO", "--set", "theta=0.5", "--set", "lambda=5", "--json")
    told = json.loads(out)
    assert status == 0 and [one["said"] for one in told["aliases"]] == ["PABO"]
    assert [spec["kind"] for spec in told["entries"]] == ["bounce"] and told["metric"] is None
    lines = told["curve"]["lines"]
    assert [line["label"] for line in lines] == ["np = 0", "np = 1", "np = 2"]
    at = lines[0]["x"].index(0.75)
    assert [round(line["y"][at], 4) for line in lines] == [0.7773, 0.6514, 0.6027]


def test_explain_json_has_metrics_and_texts_of_words(explain) -> None:  # noqa: ANN001
    metric = json.loads(explain("fct_p99", "--json")[1])
    assert metric["metric"]["name"] == "fct_p99" and metric["curve"] is None and metric["entries"] == []
    word = json.loads(explain("QCT", "--json")[1])
    assert word["text"].startswith("QCT: Query completion time") and word["metric"] is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["bounce", "--set", "theta=1.5"], "--set: theta: found 1.5; expected a number of at least 0 and"),
        (["bounce", "--set", "lamda=5"], "did you mean `lambda`?"),
        (["bounce", "--set", "theta"], "found `theta`; expected a setting PATH=VALUE"),
        (["bounce", "--set", "lambda=5,,6"], "no value"),
        (["bounce", "--set", "lambda=1,2,3", "--set", "theta=.1,.2,.3"], "at most 8 curves"),
        (["red", "--set", "max=20pkt,30KB"], "found 30KB, in bytes beside min = 5pkt"),
        (["bounce", "--out", "curve.gif"], "expected a file that ends with .png, .svg, .pdf"),
        (
            ["detour", "--set", "x=1"],
            "found --set for 'detour'; expected a mechanism with a curve: bounce, red",
        ),
        (["fct_p99", "--out", "curve.png"], "found --out for 'fct_p99'"),
    ],
)
def test_what_cannot_be_drawn_is_bad_input(explain, given: list[str], told: str) -> None:  # noqa: ANN001
    status, _, err = explain(*given)
    assert status == 2 and told in " ".join(err.split())


def test_the_figure_is_drawn_in_every_format_and_the_same_twice(explain, tmp_path: Path) -> None:  # noqa: ANN001
    for kind, first in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        files = [tmp_path / f"{name}.{kind}" for name in ("one", "two")]
        for file in files:
            assert explain("bounce", "--set", "theta=0.5", "--set", "lambda=5,15", "--out", str(file))[0] == 0
        one, two = (file.read_bytes() for file in files)
        assert one == two and one.startswith(first)
    status, _, err = explain("bounce", "--out", str(tmp_path / "nowhere" / "curve.png"))
    assert status == 1 and "cannot be written" in err


def test_a_mechanism_without_a_curve_is_explained_as_before(explain) -> None:  # noqa: ANN001
    assert _core.curve("detour", [], 10) is None
    assert "over" not in explain("tail_drop")[1].split("\n")[-2]
    told = json.loads(_core.curve("bounce", ["lambda=0", "theta=0"], 4) or "")
    assert told["values"][0] == [0, 0, 0.25, 0.5, 0.75, 1], "a straight line"
