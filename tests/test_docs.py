"""Tests of the documentation: the site builds, and the tutorial and the notebook run word by word."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from matplotlib.figure import Figure
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs/tutorial.md"
MAX_README_LINES = 90  # longest README in lines
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def build_site(folder: Path) -> subprocess.CompletedProcess[str]:
    """Builds the site of the sources in a folder."""
    words = ["-m", "zensical", "build", "--clean", "--strict", "--config-file", str(folder / "zensical.toml")]
    return subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)


def load_script(name: str) -> ModuleType:
    """Returns the script `docs/NAME.py` as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / f"docs/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_site_builds_without_a_warning_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    command = [sys.executable, "docs/site.py", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = build_site(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {
        path.relative_to(tmp_path / "site-source").as_posix() for path in tmp_path.glob("site-source/**/*.md")
    }
    built = {re.sub(r"(^|/)README$", r"\1index", page.removesuffix(".md")) for page in pages}
    assert [page for page in built if not (tmp_path / f"site/{page}.html").is_file()] == []
    page = (tmp_path / "site/mechanisms/bounce.html").read_text()
    assert "source/scenarios/packet_bounce.toml.html" in page, "links out of docs/ have pages"
    assert (tmp_path / "site/source/scenarios/packet_bounce.toml.html").is_file()
    assert 'id="overspill.run"' in (tmp_path / "site/python.html").read_text()


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("[a](#page)", 0),
        ("[a](gone.md)", 1),
        ("[a](index.md#gone)", 1),
        ("[a](#gone)", 1),
        ("::: overspill.gone", 1),
    ],
)
def test_the_build_of_the_site_fails_at_a_wrong_link(tmp_path: Path, text: str, status: int) -> None:
    (tmp_path / "zensical.toml").write_text((ROOT / "docs/zensical.toml").read_text())
    (tmp_path / "site-source").mkdir()
    (tmp_path / "site-source/index.md").write_text(f"# Page\n\n{text}\n")
    assert build_site(tmp_path).returncode == status


def test_wrong_links_to_files_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = load_script("site")
    docs = tmp_path / "docs"
    monkeypatch.setattr(site, "ROOT", tmp_path)
    monkeypatch.setattr(site, "DOCS", docs)
    monkeypatch.setattr(site, "MUTATIONS", docs / "internals/mutations.md")
    monkeypatch.setattr(site, "mutations_page", lambda: "[core](../../core/a.rs)")
    for folder in (docs, tmp_path / "core"):
        folder.mkdir()
    (tmp_path / "core/a.rs").write_text("fn a() {}")
    (tmp_path / "core/b.gz").write_bytes(b"\x1f\x8b")
    wrong = "[a](gone.md) ![b](images/gone.png) [c](gone.csv) [d](/)"
    (docs / "index.md").write_text(
        f"{wrong} [e](../core/a.rs#L1) [f](../core) [h](../core/b.gz)\n```\n[g](code.md)\n```\n"
    )
    expected = [
        f"docs/index.md: found a link to {link}; expected a file of the project"
        for link in ("gone.md", "images/gone.png", "gone.csv", "/")
    ]
    assert site.write_pages(tmp_path / "out") == expected
    assert "[e](source/core/a.rs.md#L1) [f](source/core/files.md)" in (tmp_path / "out/index.md").read_text()
    assert (tmp_path / "out/internals/mutations.md").read_text() == "[core](../source/core/a.rs.md)"
    assert "```rust\nfn a() {}" in (tmp_path / "out/source/core/a.rs.md").read_text()
    assert (tmp_path / "out/source/core/files.md").read_text() == "# core\n\n- `a.rs`\n- `b.gz`"
    assert (tmp_path / "out/source/core/b.gz").read_bytes() == b"\x1f\x8b"
    nav = ["index.md", {"Start": ["gone.md", "source/core/a.rs.md"]}]
    assert site.missing_pages(nav, tmp_path / "out") == [
        "zensical.toml: found gone.md in nav; expected a page"
    ]


def test_every_page_of_the_docs_is_on_the_site() -> None:
    nav = (ROOT / "docs/zensical.toml").read_text()
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f'"{page}",\n' not in nav] == []


def test_every_page_of_the_docs_is_linked_from_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text()
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    pages += [
        f"../{path.relative_to(ROOT).as_posix()}"
        for folder in ("papers", "studies")
        for path in (ROOT / folder).glob("*/README.md")
    ]
    assert [page for page in pages if page != "index.md" and f"]({page})" not in index] == []


def test_the_readme_is_short_and_leads_to_the_index() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= MAX_README_LINES
    assert "](docs/index.md)" in text


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder in which every block of the tutorial was run, in order."""
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    printed: list[str] = []
    for kind, text in BLOCK.findall(TUTORIAL.read_text()):
        if kind in ("toml", "python"):
            (folder / {"toml": "tutorial.toml", "python": "tutorial.py"}[kind]).write_text(text)
        for line in text.splitlines() if kind == "sh" else ():
            if line != "make setup":
                done = subprocess.run(line.split(), cwd=folder, capture_output=True, text=True, check=False)
                assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
                printed.append(done.stdout)
    # The first two commands print the tables that the text mentions; `report` prints only the path of its
    # page.
    tables = [one for one in printed if "censored flows" in one and "swept" not in one]
    for name, text in zip(("sixteen.txt", "six.txt"), tables, strict=True):
        (folder / name).write_text(text)
    return folder


def test_the_tutorial_ends_at_its_figures(followed: Path) -> None:
    named = re.findall(r"`(out/[\w/.-]+|\w+\.png)`", TUTORIAL.read_text())
    assert len(named) >= 5
    assert [name for name in named if not (followed / name).exists()] == []
    assert (followed / "qct.png").stat().st_size > 10_000
    kinds = {path.suffix for path in (followed / "out/tutorial/figures").iterdir()}
    assert kinds == {".png", ".svg", ".pdf"}
    # The tutorial requests no other formats.
    assert not (followed / "out/tutorial-sweep/figures").exists()


def numbers_after(text: str, start: str) -> list[str]:
    """Returns the numbers between a phrase of the tutorial and the end of that sentence."""
    sentence = re.search(re.escape(start) + r"(.*?)\.(?:\s|$)", " ".join(text.split()))
    assert sentence is not None, start
    return re.findall(r"\d[\d,]*(?:\.\d+)?", sentence[1])


def rounded_like(value: float, number: str) -> str:
    """Returns a value rounded to the last digit of a written number that is not an ending zero."""
    decimals = len(number.partition(".")[2])
    digits = decimals or len(number.rstrip("0")) - len(number)
    return f"{round(value, digits):,.{decimals}f}"


def test_the_numbers_in_the_tutorial_are_those_of_its_runs(followed: Path) -> None:
    import overspill

    def means(folder: str, metric: str) -> dict[str, float]:
        values = overspill.Results.load(followed / folder).values
        return {
            name: sum(one[metric].value for one in by_seed.values()) / len(by_seed)
            for name, by_seed in values.items()
        }

    text = TUTORIAL.read_text()
    slow, mean, lost, again, timeouts = (
        means("out/tutorial", metric)
        for metric in ("qct_p99", "qct_mean", "drops", "retransmits", "timeouts")
    )
    told = {
        "`QCT mean` is about": (1e3 * mean["drop"], 1e3 * mean["mark"]),
        "4 ms with `mark`. It is": (1e3 * mean["detour"], 1e3 * mean["bounce"]),
        "`QCT p99` is": (1e3 * slow["drop"], 1e3 * slow["mark"]),
        "27 ms with `mark`. It is": (1e3 * slow["detour"], 1e3 * slow["bounce"]),
        "(row `retransmissions`): about": (again["detour"], again["bounce"]),
    }
    for start, values in told.items():
        numbers = numbers_after(text, start)
        assert [rounded_like(*pair) for pair in zip(values, numbers, strict=True)] == numbers, start
    flows = re.search(r"bounce 0 of (\d+)", (followed / "sixteen.txt").read_text())
    assert flows is not None
    packets = 14 * int(flows[1]) / 10  # of a seed: 20 KB are 14 segments of 1,448 bytes
    assert numbers_after(text, "The second number is") == [f"{100 * again['bounce'] / packets:.0f}"]
    assert min(lost["drop"], lost["mark"]) > 0 == max(lost["detour"], lost["bounce"])
    assert min(timeouts["drop"], timeouts["mark"]) > 0 == max(timeouts["detour"], timeouts["bounce"])
    six, tail = means("out/six", "qct_mean"), means("out/six", "qct_p99")
    longer = [100 * (one["bounce"] / one["mark"] - 1) for one in (six, tail)]
    assert numbers_after(text, "`bounce` is slower: its `QCT mean` is")[:1] == [f"{longer[0]:.0f}"]
    assert numbers_after(text, "5% longer and its `QCT p99`")[:1] == [f"{longer[1]:.0f}"]
    assert set(means("out/six", "drops").values()) == {0}


def test_the_rows_that_the_tutorial_looks_for_are_printed(followed: Path) -> None:
    step = TUTORIAL.read_text().partition("Look for three rows:")[2].partition("\n\nMost losses")[0]
    named = re.findall(r"`([^`]+)`", step)
    assert named == ["QCT mean", "QCT p99", "drops", "busiest queue max"]
    rows = (followed / "sixteen.txt").read_text().splitlines()
    assert [name for name in named if not any(row.startswith(f"{name} (") for row in rows)] == []
    assert any(row.startswith("few samples") and "QCT p99" in row for row in rows)


def test_six_senders_make_mark_and_detour_one_run_and_drop_as_fast(followed: Path) -> None:
    import overspill

    told = (followed / "six.txt").read_text()
    assert re.search(r"^SAME RUN .*: mark and detour are identical runs$", told, re.MULTILINE)
    values = overspill.Results.load(followed / "out/six").values
    keys = list(values["drop"][1])
    times = [key for key in keys if key.startswith(("fct_", "qct_"))]
    marks, mean = overspill.Key("marks"), overspill.Key("fct_mean")
    assert len(times) >= 10
    for seed, own in values["drop"].items():
        marked = values["mark"][seed]
        assert own[marks].value == 0 < marked[marks].value
        assert own[mean].value < values["bounce"][seed][mean].value
        for key in times:
            slowest = key.partition("[")[0].endswith("_p99.9")
            assert own[key].value == pytest.approx(marked[key].value, rel=5e-2 if slowest else 1e-2), key


def test_the_notebook_runs_from_its_first_cell_to_its_last() -> None:
    book = nbformat.read(ROOT / "examples/incast.ipynb", as_version=4)
    where = {"metadata": {"path": str(ROOT)}}
    NotebookClient(book, timeout=300, kernel_name="python3", resources=where).execute()
    outputs = [out for cell in book.cells for out in cell.get("outputs", [])]
    pictures = [out for out in outputs if "image/png" in out.get("data", {})]
    assert len(pictures) == 2, "the queue and the sweep"


def test_the_figures_of_mechanisms_can_be_drawn_anew_and_each_is_on_a_page() -> None:
    figures = load_script("figures")
    pages = "".join(path.read_text() for path in (ROOT / "docs/mechanisms").glob("*.md"))
    for name, draw in figures.FIGURES.items():
        assert f"../images/{name}.png" in pages and (ROOT / f"docs/images/{name}.png").is_file()
        axes = Figure().subplots()
        draw(axes)
        assert axes.lines or axes.patches, name
