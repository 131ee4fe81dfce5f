"""Tests of figure files: only requested formats, each drawn once, with fonts that venues accept."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran
from matplotlib.figure import Figure

from overspill import plots, report, run
from overspill.charts import figure_files
from overspill.results.results import Results

Command = Callable[..., Ran]


def kinds(folder: str) -> set[str]:
    """Returns the formats of the figures in a folder of results."""
    return {path.suffix[1:] for path in Path(folder, "figures").glob("*")}


def test_nobody_gets_figures_that_he_did_not_ask_for(command: Command, scenario: Path) -> None:
    assert command("run", scenario, "--out", "o").status == 0
    page = Path("o/report.html").read_text()
    assert not Path("o/figures").exists()
    assert '<figure id="fct"' in page and not re.findall(r"figures/[\w-]+\.\w+", page)
    over = ("--over", "switch.x=1,2", "--out", "s")
    assert command("sweep", scenario, "--seeds", 1, *over).status == 0
    assert Path("s/report.html").is_file() and not Path("s/figures").exists()


@pytest.mark.usefixtures("quick")
def test_the_rest_of_the_figures_can_be_had_later_and_the_page_links_what_is_there(
    command: Command, scenario: Path
) -> None:
    assert command("run", scenario, "--out", "o", "--figures", "svg").status == 0
    assert kinds("o") == {"svg"}
    assert set(re.findall(r"figures/fct\.\w+", Path("o/report.html").read_text())) == {"figures/fct.svg"}
    assert command("report", "o", "--figures", "pdf").status == 0
    assert kinds("o") == {"svg", "pdf"}
    page = Path("o/report.html").read_text()
    assert set(re.findall(r"figures/fct\.(\w+)", page)) == {"svg", "pdf"}
    assert command("report", "o").status == 0
    assert Path("o/report.html").read_text() == page, "what is there stays, and stays linked"
    assert command("run", scenario, "--out", "o").status == 0
    assert kinds("o") == {"svg", "pdf"}, "the same results: the figures are still theirs"
    # New results remove all earlier figures.
    assert command("run", scenario, "--out", "o", "--seed", 9).status == 0
    assert kinds("o") == set()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--figures", "gif"), "--figures: found 'gif'; expected pdf, svg, png or some of these"),
        (("--figures", "svg,"), "--figures: found ''; expected pdf, svg, png or some of these"),
        (
            ("--figures", "svg", "--no-report"),
            "--figures: found together with --no-report; expected only one of them, because figures are part "
            "of the report",
        ),
    ],
)
def test_formats_that_are_not_known_are_refused_before_anything_runs(
    command: Command, scenario: Path, arguments: tuple[str, ...], told: str
) -> None:
    for first in (("run", scenario), ("sweep", scenario, "--over", "switch.x=1")):
        ran = command(*first, "--out", "o", *arguments)
        assert (ran.status, ran.err) == (2, f"{told}\n")
        assert not Path("o").exists()


@pytest.mark.parametrize("formats", [(), ("svg",), ("pdf", "svg", "png")])
def test_a_figure_is_drawn_once_for_each_format_that_was_asked_for(
    three_seeds: Results, monkeypatch: pytest.MonkeyPatch, formats: tuple[str, ...]
) -> None:
    drawn, draw = [0], Figure.draw

    def counted(self: Figure, renderer: Any) -> None:
        drawn[0] += 1
        draw(self, renderer)

    monkeypatch.setattr(Figure, "draw", counted)
    assert three_seeds.folder is not None
    report.write(three_seeds, three_seeds.folder, formats)
    names = {path.stem for path in (three_seeds.folder / "figures").glob("*")}
    assert drawn == [len(names) * len(formats)]
    assert bool(names) == bool(formats)


def test_a_page_does_not_load_what_draws_files(tmp_path: Path) -> None:
    from test_imports import COMMAND, loaded_modules

    scenario = Path(__file__).parents[2] / "scenarios/linear.toml"
    found = loaded_modules(COMMAND, "run", scenario, where=tmp_path)
    assert found - {"numpy.ma"} == {"numpy", "pyarrow", "overspill._core", "jinja2"}


def test_fonts_in_pdf_are_truetype(scenario: Path, tmp_path: Path) -> None:
    results = run(scenario)
    figure = plots.distribution(results, "fct")
    assert figure is not None
    # A figure saved by a user, and one saved by the command.
    figure.savefig(tmp_path / "own.pdf")
    figure = plots.distribution(results, "fct")
    assert figure is not None
    figure_files.save_figure(figure, tmp_path, "fct", ["pdf"])
    for name in ("own.pdf", "fct.pdf"):
        content = (tmp_path / name).read_bytes()
        assert b"/Subtype /CIDFontType2" in content and b"/FontFile2" in content
        assert b"Type3" not in content and b"Type 3" not in content
