import re
from pathlib import Path

import pytest

from overspill.cli import table
from overspill.engine import core
from overspill.report import metrics_page, names, reference
from overspill.results import metrics

pytestmark = pytest.mark.usefixtures("compiled")

ROOT = Path(__file__).resolve().parents[2]


def test_the_reference_is_what_the_catalogue_says() -> None:
    page = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    assert page == reference.build_page(), "docs/reference.md is out of date: run `make docs`"


def test_every_entry_of_the_catalogue_is_in_the_reference() -> None:
    page = reference.build_page()
    for spec in core.catalogue():
        if spec["kind"]:
            assert f"### {spec['slot']}: `{spec['kind']}`\n" in page
        for param in spec["params"]:
            assert f"| `{param['name']}` |" in page


def test_every_ready_scenario_is_valid_and_compares_variants() -> None:
    files = sorted((ROOT / "scenarios").glob("*.toml"))
    assert len(files) >= 5
    for file in files:
        loaded = core.load_document(str(file), file.read_text(encoding="utf-8"), [])
        assert loaded["name"] == file.stem
        assert len(loaded["variants"]) >= 2


PAGES = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_the_documents_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://", "#")):
            assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize(
    ("page", "variants"),
    [
        ("docs/scenarios.md", ["no_marks", "marks"]),
        ("docs/tutorial.md", ["drop", "mark", "detour", "bounce"]),
    ],
)
def test_the_first_scenario_of_a_document_is_valid(page: str, variants: list[str]) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    first = text.partition("```toml\n")[2].partition("```")[0]
    assert core.load_document(page, first, [])["variants"] == variants


def test_the_page_on_metrics_is_what_their_declarations_say() -> None:
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    assert page == metrics_page.build_page(), "docs/metrics.md is out of date: run `make docs`"


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/metrics.md"])
def test_the_documents_say_of_all_metrics_what_the_table_says_below_itself(page: str) -> None:
    told = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert "--all prints all but 18 that are 0 in every run" in table.describe_metric_counts(15, 79, 97)
    assert re.search(r"`--all` prints (?:[^.;]*: )?all (?:metrics )?that are not 0 in every run", told), told


def test_names_of_tables_and_reasons_are_those_of_the_core() -> None:
    known = (ROOT / "python/overspill/results/names.py").read_text(encoding="utf-8")
    assert known == names.format_module(), "results/names.py is out of date: run `make docs`"


def test_every_metric_has_a_formula_on_the_page() -> None:
    page = metrics_page.build_page()
    for metric in metrics.ALL_METRICS:
        assert metric.formula and "|" not in metric.formula
        assert f"| `{metric.name}` | {metric.unit} | {metric.formula} |" in page
    assert "{{" not in page


def test_names_of_percentiles_and_extremes_are_order_statistics() -> None:
    for metric in metrics.ALL_METRICS:
        extreme = bool(re.search(r"_(p\d+(\.\d)?|min|max)$", metric.name))
        assert metric.order_statistic == extreme, metric.name
