"""Papers that are published and drawn again: what is written, what is refused."""

import gzip
import json
import os
from pathlib import Path

import fake_core
from small_paper import Paper, read_files

from overspill.papers import merge_publications
from overspill.papers.published_files import read_json, write_json


def test_whole_papers_are_published(paper: Paper) -> None:
    folder, old = Path("papers/small"), set(read_files(Path("papers/small")))
    ran = paper("--publish", "--what-if")
    assert ran.status == 0 and ran.out.splitlines()[-1].endswith("papers/small")
    made = {"rows.json", "what_if.json.gz", "plotted.json.gz", "README.md", "images/fig1.png"}
    assert set(read_files(folder)) - old == made
    assert len((folder / "images/fig1.png").read_bytes()) < 60_000
    assert paper("--publish").status == 0
    assert set(read_files(folder)) - old == made - {"what_if.json.gz"}, (
        "what a run did not make is none of it"
    )
    ran = paper("--seeds", 1, "--publish")
    assert ran.status == 2 and "expected the paper's own numbers of seeds" in ran.err
    ran = paper("--publish", "--no-report")
    assert ran.status == 2 and "expected a page to publish" in ran.err


def test_selected_figures_replace_what_is_published_of_them_alone(paper: Paper) -> None:
    folder = Path("papers/small")
    ran = paper("fig1", "--publish")
    assert ran.status == 2 and "expected a first run of the whole paper, without --figures" in ran.err
    assert paper("--publish", "--what-if").status == 0
    whole = read_files(folder)
    rows = json.loads(whole["rows.json"])
    assert rows["command"] == "overspill paper small --papers papers --what-if"
    stale = {**rows, "seeds": {"grid": 9, "single": 8}, "warnings": ["LATE: grid: x", "LATE: single: y"]}
    for row in stale["rows"]:
        row["measured"] = -1
    (folder / "rows.json").write_text(json.dumps(stale))
    write_json(folder / "plotted.json.gz", {}, 3)
    assert paper("fig1", "--publish").status == 0
    made = json.loads((folder / "rows.json").read_text())
    again = [row["measured"] for row in made["rows"]]
    assert again == [json.loads(whole["rows.json"])["rows"][at]["measured"] for at in (0, 1)] + [-1] * 4
    assert (
        made["seeds"] == {"grid": 3, "single": 8}
        and made["part"] == ""
        and made["figures"] == rows["figures"]
    )
    assert "LATE: single: y" in made["warnings"] and "LATE: grid: x" not in made["warnings"]
    assert (folder / "images/fig1.png").read_bytes() == whole["images/fig1.png"]
    assert (folder / "what_if.json.gz").read_bytes() == whole["what_if.json.gz"]
    # With the other figures and the sensitivity runs all is as if it was published at once.
    assert paper("fig2", "fig3", "--what-if", "--publish").status == 0
    assert read_files(folder) == whole


def test_selected_figures_are_refused_if_rows_of_others_have_changed(paper: Paper) -> None:
    assert paper("--publish").status == 0
    path = Path("papers/small/rows.toml")
    path.write_text(path.read_text().replace("min = 1", "min = 2"))
    ran = paper("fig1", "--publish")
    assert ran.status == 2 and "fig2, all, bounces has changed in rows.toml" in ran.err
    assert paper("fig2", "--publish").status == 0
    assert json.loads(Path("papers/small/rows.json").read_text())["rows"][3]["tolerance"] == {"min": 2}


def test_broken_plotted_data_are_named_and_replace_nothing(paper: Paper) -> None:
    assert paper("--publish").status == 0
    path, page = Path("papers/small/plotted.json.gz"), Path("papers/small/README.md").read_bytes()
    data = path.read_bytes()
    odd = gzip.compress(b'{"fig1": {}}')
    for broken in (data[:20], b"no gzip", gzip.compress(b"[1]"), odd):
        path.write_bytes(broken)
        ran = paper("--redraw", "--publish")
        assert ran.status == 2 and "plotted.json.gz: " in ran.err, broken
        assert Path("papers/small/README.md").read_bytes() == page
    path.unlink()
    ran = paper("--redraw", "--publish")
    assert ran.status == 2 and "no plotted data of fig1" in ran.err
    ran = paper("--redraw")
    assert ran.status == 0 and "the page omits them" in ran.err


def test_redraw_says_that_rows_have_changed_since(paper: Paper) -> None:
    assert paper("--publish").status == 0
    assert "has changed since" not in paper("--redraw").err
    rows = Path("papers/small/rows.toml")
    rows.write_text(rows.read_text() + "\n# more\n")
    ran = paper("--redraw")
    assert ran.status == 0 and "small: rows.toml has changed since its rows were published" in ran.err


def test_redraw_has_the_titles_of_sensitivity_runs_as_they_are(paper: Paper) -> None:
    assert paper("--publish", "--what-if").status == 0
    path = Path("papers/small/paper.toml")
    path.write_text(path.read_text().replace('title = "another y"', 'title = "reworded"'))
    assert paper("--redraw", "--publish").status == 0
    assert read_json(Path("papers/small/what_if.json.gz"))["settings"][0]["title"] == "reworded"
    assert "reworded" in Path("papers/small/README.md").read_text()


def test_redraw_takes_no_option_of_runs(paper: Paper) -> None:
    assert paper("--publish").status == 0
    for options in (("fig1",), ("--seeds", 1), ("--jobs", 1), ("--json",), ("--no-report",), ("--what-if",)):
        ran = paper("--redraw", *options)
        assert ran.status == 2 and "expected only --out, --figures or --publish" in ran.err


def test_errors_in_a_papers_code_name_its_file(paper: Paper) -> None:
    path = Path("papers/small/measures.py")
    for text, said in (
        ("1 / 0", "ZeroDivisionError"),
        ("x = (", "SyntaxError"),
        ("MEASURES = [1]", "no MEASURES"),
    ):
        path.write_text(text)
        ran = paper()
        assert ran.status == 1 and "papers/small/measures" in ran.err and said in ran.err


def test_what_is_published_is_drawn_again_without_a_run(paper: Paper) -> None:
    ran = paper("--redraw")
    assert ran.status == 2 and "found no such file; expected the rows of" in ran.err
    assert paper("--publish").status == 0
    made = {name: path for name, path in read_files(Path("out/papers/small")).items() if "sweeps" not in name}
    fake_core.behaviour.crash = True
    ran = paper("--redraw")
    assert ran.status == 0 and ran.out.strip() == "page: out/papers/small/published/page.html"
    assert read_files(Path("out/papers/small/published")) == made
    Path("papers/small/README.md").write_text("stale")
    assert paper("--redraw", "--publish").status == 0
    assert Path("papers/small/README.md").read_bytes() == made["README.md"]


def test_the_page_needs_nothing_from_elsewhere(paper: Paper) -> None:
    assert paper().status == 0
    page = Path("out/papers/small/page.html").read_text()
    assert "http" not in page.replace("http://www.w3.org", "") and "<script" not in page
    assert 'id="fig1"' in page and "✓ reproduced" in page and "– later" in page
    assert 'src="data:image/svg+xml;base64,' in page
    readme = Path("out/papers/small/README.md").read_text()
    assert "![Flows](images/fig1.png)" in readme
    assert str(os.getcwd()) not in page + readme
    # Rows without a run are reported at the top, and at their figure.
    assert " Not run: 1.\n" in readme
    assert "4 rows count: 4 reproduced; 1 row has no run" in page
    assert "1 of 1 rows that count are reproduced; 1 row has no run" in page
    assert "2 of 2 rows that count are reproduced.<" in page


def test_the_command_of_a_part_with_sensitivity_runs_is_kept_once() -> None:
    earlier, part = "overspill paper small", "overspill paper small fig1 --what-if"
    with_runs = merge_publications.with_sensitivity_option(earlier, part)
    assert with_runs == "overspill paper small --what-if"
    assert merge_publications.with_sensitivity_option(with_runs, part) == with_runs
    assert merge_publications.with_sensitivity_option(earlier, "overspill paper small fig1") == earlier
