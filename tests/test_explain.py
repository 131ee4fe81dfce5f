"""Tests that all printed terms can be explained, and also the terms of papers and standards."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from overspill import _core
from overspill.cli import catalogue, terms
from overspill.engine import core
from overspill.errors import BadInput
from overspill.results import header, metrics, table_cells
from overspill.results.line_labels import LABEL_MEANINGS
from overspill.results.results import Results

ROOT = Path(__file__).parents[1]
CODE = sorted((ROOT / "python/overspill").rglob("*.py"))


def explain_name(name: str) -> str:
    """Returns the result of `overspill explain` as text."""
    found = catalogue.find_name(name)
    if isinstance(found, str):
        return found
    return " ".join(spec["kind"] for spec in found) if isinstance(found, list) else found.name


def test_top_level_keys_have_the_owner_scenario() -> None:
    choices = catalogue.describe_choices(core.catalogue(), "drop")
    assert "drop, a value of dead_port of the scenario (choice" in choices
    assert explain_name("dead_port").startswith("dead_port, of the scenario (choice")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("DIBS", "detour"),
        ("PABO", "bounce"),
        ("CP", "trim"),
        ("UEC", "trim"),
        ("SONiC", "trim"),
        ("PFC", "pfc"),
        ("802.1Qau", "qcn"),
        ("QCN-OS", "qcn"),
        ("ECN", "ecn_threshold"),
        ("Dctcp", "dctcp"),
    ],
)
def test_a_mechanism_is_found_by_what_papers_and_standards_call_it(name: str, kind: str) -> None:
    for said in (name, name.lower(), name.upper(), name.capitalize()):
        assert kind in explain_name(said).split(), said


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("RTOs", ("timeouts", "min_rto")),
        ("RTO", ("timeouts", "min_rto", "initial_rto")),
        ("rto", ("timeouts", "min_rto", "default 45us")),
        ("FCT", ("fct_mean", "fct_p99", "flow completion time")),
        ("QCT", ("qct_mean", "query completion time")),
        ("TCP", ("newreno", "dctcp", "retransmits")),
        ("CNM", ("six bits", "cnms", "cnm_feedback_mean", "notices", "first_cnm", "qcn")),
        ("CNP", ("marked", "cnps", "cnp_interval", "dcqcn", "docs/mechanisms/dcqcn.md")),
        ("q_off", ("set point", "q_eq", "64 B", "docs/mechanisms/qcn.md")),
        ("q_delta", ("last sample", "switch.notify", "docs/mechanisms/qcn.md")),
        ("VOQ", ("virtual output queue", "input_buffer", "oldest_first", "docs/mechanisms/cioq.md")),
        ("cioq", ("arbiter", "a value of model of switch", "speedup", "docs/mechanisms/cioq.md")),
        ("congestion point", ("q_eq", "culprit", "switch.notify")),
        ("reaction points", ("rate_limits", "byte_counter", "host.reaction", "round_robin")),
        ("censored", ("lower bound", "unfinished_flows", "measure.drain")),
        ("slowdown", ("slowdown_mean", "slowdown_p99", "alone")),
        ("retransmissions", ("retransmits", "fast_retransmits")),
        ("p99", ("k-th smallest",)),
        ("packet-hops", ("one link", "simulated")),
        ("Holm", ("several comparisons", "0.05/m")),
        ("PG", ("priority group", "xoff", "switch.pause pfc")),
        ("MMU", ("memory management unit", "switch.overflow", "switch.buffer shared")),
    ],
)
def test_words_of_the_field_say_what_they_mean(word: str, told: tuple[str, ...]) -> None:
    found = explain_name(word)
    assert all(one.casefold() in found.casefold() for one in told), found


@pytest.mark.parametrize("term", terms.TERMS, ids=lambda term: term.words[0])
def test_what_a_word_of_the_field_points_to_is_there(term: terms.Term) -> None:
    specs = catalogue.core.catalogue()
    assert all(any(one.name.startswith(name) for one in metrics.ALL_METRICS) for name in term.metrics)
    assert all(terms.describe_owners(name, specs) != "of " for name in term.parameters)
    assert not term.page or (ROOT / "docs/mechanisms" / term.page).is_file()
    assert {*term.kinds} <= {name for spec in specs for name in terms.entry_names(spec)}
    for word in term.words:
        assert explain_name(word).startswith(f"{term.words[0]}: ")


def test_a_setting_of_a_word_is_not_another_of_the_same_name() -> None:
    found = explain_name("reaction point")
    assert re.search(r"target +of host\.reaction qcn$", found, re.MULTILINE), found
    assert re.search(r"hosts +of override\.where$", explain_name("override"), re.MULTILINE)


def test_models_of_switches_are_listed_with_what_each_does() -> None:
    found = [name for slot, name, _ in catalogue.list_entries("mechanisms") if slot == "switch.model"]
    (model,) = [
        one
        for spec in catalogue.core.catalogue()
        if spec["slot"] == "switch" and not spec["kind"]
        for one in spec["params"]
        if one["name"] == "model"
    ]
    assert found == re.findall("`([^`]+)`", model["allowed"]) == ["output_queued", "cioq", "fabric"]


def test_words_in_place_of_quantities_and_keys_that_texts_tell_of_are_found() -> None:
    assert explain_name("tenth_frame").startswith("tenth_frame, a value of nic_jitter of host (time")
    assert "unless `back` sets the reverse direction" in explain_name("back")
    override = explain_name("override")
    assert override.startswith("override: Settings of some ports") and "hosts  of override.where" in override


ALIASES = catalogue.core.aliases()
FIELD = (
    *("headroom", "kmin", "Kmax", "Pmax", "WRED", "DRR", "DWRR", "WRR", "WCMP", "deflection", "RPS", "Clos"),
    *("DT", "dynamic threshold", "CNP", "RTO", "IW", "NDP", "DIBS", "PABO", "CP", "packet trimming"),
    *("PFC watchdog", "watchdog", "strict priority", "random packet spraying", "xon_offset", "dynamic_th"),
)


@pytest.mark.parametrize("word", FIELD)
def test_words_that_the_field_uses_are_explained(word: str) -> None:
    for said in (word, word.lower(), word.upper()):
        assert explain_name(said)


@pytest.mark.parametrize("alias", ALIASES, ids=lambda one: f"{one['typed']}-{one['slot']}-{one['param']}")
def test_every_alias_is_explained_with_what_it_is_here(alias: dict[str, str]) -> None:
    found = catalogue.find_name(alias["typed"])
    own = alias["typed"] in {
        name for spec in catalogue.core.catalogue() for name in catalogue.names_of_entry(spec)
    }
    if alias["typed"] in terms.TERM_OF_WORD or own:
        return  # explained as a term of its own
    if isinstance(found, str):
        assert not alias["param"] or catalogue.describe_alias(alias) in found
    else:
        assert isinstance(found, list)
        there = {(spec["slot"], spec["kind"]) for spec in found}
        assert alias["param"] or (alias["slot"], alias["kind"]) in there


def test_explain_says_how_the_meaning_of_a_word_differs() -> None:
    command = [sys.executable, "-m", "overspill", "explain", "wcmp"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    meant = "In Overspill, WCMP is `weighted` of `switch.routing`."
    first = f"{meant} A path is drawn for each packet, not for each flow."
    assert done.stdout.splitlines()[:2] == [first, "switch.routing weighted"]


def test_a_hint_names_no_word_twice() -> None:
    for word in ("dctp", "dqcn", "detor", "boucne"):
        with pytest.raises(BadInput, match="did you mean") as refused:
            catalogue.find_name(word)
        names = refused.value.lines[0].partition("did you mean ")[2].rstrip("?").split(" or ")
        assert len(set(names)) == len(names)


def test_a_category_that_is_not_there_says_which_may_be_meant() -> None:
    for said, meant in (("transport", "transports"), ("metric", "metrics"), ("papers_", "papers")):
        with pytest.raises(BadInput, match=f"list: found '{said}'.*; did you mean {meant}"):
            catalogue.list_entries(said)


def test_of_a_connection_of_linux_that_has_no_sample_the_first_timeout_is_told() -> None:
    assert "With 0us there is no such sample, and the first timeout is `min_rto`" in explain_name(
        "linux.handshake_rtt"
    )
    assert "the first timeout is `initial_rto`" in explain_name("sack.handshake_rtt")


SMALL = {"to", "the", "of", "a", "an", "at", "least"}


def test_every_word_of_the_labels_of_the_default_table_is_explained() -> None:
    titles = [
        metrics.REGISTRY[name].title
        for name in (*table_cells.FIRST_METRICS, *table_cells.METRICS_WITHOUT_FLOWS)
    ]
    words = {word for title in titles for word in title.replace(",", " ").split()} - SMALL
    assert {"FCT", "slowdown", "busiest", "RTOs", "ECN", "retransmissions"} <= words
    for one in words | {title.partition(",")[0] for title in titles}:
        assert explain_name(one), one


def test_what_a_metric_means_is_told_by_itself() -> None:
    docs = [one.doc for one in metrics.ALL_METRICS]
    assert not [doc for doc in docs if doc.startswith(("The same", "The longest of", "Of measured flows."))]
    assert metrics.REGISTRY["detoured_share"].doc != metrics.REGISTRY["bounced_share"].doc


@pytest.mark.parametrize("metric", metrics.ALL_METRICS, ids=lambda metric: metric.name)
def test_the_title_of_every_row_is_explained(metric: metrics.Metric) -> None:
    """Checks every title; a label with the same words takes precedence."""
    for title in (metric.title, f"{metric.title} (ms)", f"{metric.title} [agg] (pkt)", metric.title.upper()):
        found = explain_name(title)
        assert found.startswith(tuple(LABEL_MEANINGS)) or metrics.REGISTRY[found].title == metric.title, title


def labels() -> set[str]:
    """Returns every label that the code puts before a fact: of a `Line`, or of a row of a sweep's page."""
    found = set()
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Line":
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    found.add(first.value)
    page = (ROOT / "python/overspill/report/sweep.py").read_text()
    return found | set(re.findall(r'[\[\n(] *\("([^"]+)", ', page))


def test_every_label_in_the_code_has_a_meaning() -> None:
    missing = labels() - set(LABEL_MEANINGS)
    assert missing == set() and len(labels()) > 20


@pytest.mark.parametrize("label", LABEL_MEANINGS)
def test_every_label_is_explained(label: str) -> None:
    for said in (label, label.lower(), label.upper()):
        assert explain_name(said)


def test_all_that_a_run_prints_is_explained(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "overspill", "run", str(ROOT / "scenarios/incast.toml"), "--out"]
    subprocess.run([*command, str(tmp_path / "out"), "--no-report"], check=True, capture_output=True)
    results = Results.load(tmp_path / "out")
    for line in header.header_lines(results):
        assert explain_name(line.label)
    rows = [row for row in results.rows if row.is_visible]
    assert len(rows) > 50
    for row in rows:
        assert explain_name(table_cells.format_row(row)[0]) and explain_name(row.metric.name)


def test_what_trim_is_in_the_field_is_told_and_may_stand_in_a_scenario() -> None:
    (spec,) = catalogue.find_name("UEC")
    told = catalogue.equivalent_settings(spec)
    assert all(name in told for name in ("CP:", "UEC:", "SAI, SONiC:", "NDP:"))
    page = (ROOT / "docs/mechanisms/trim.md").read_text()
    base = (ROOT / "scenarios/trim.toml").read_text().split("[variants.")[0]
    for name, tables in catalogue.EQUIVALENT_SETTINGS["switch.overflow.trim"]:
        made = base
        for key, table in tables.items():
            made = made.replace("[switch]\n", f"[switch]\n{key} = {table}\n")
        made = made.replace('overflow = { kind = "tail_drop" }\n', "")
        resolved = json.loads(_core.Scenario("made.toml", made, []).document())["resolved"]["default"]
        assert resolved["switches"][0]["overflow"]["kind"] == "trim"
        # The page has the same table, with sizes besides.
        values = tomllib.loads(f"overflow = {tables['overflow']}")["overflow"].items()
        lines = [line.strip() for line in page.splitlines() if line.startswith("    overflow")]
        assert any(values <= tomllib.loads(line)["overflow"].items() for line in lines), name


def test_metric_of_a_workload_is_explained_as_tables_name_it() -> None:
    given, printed = (catalogue.find_name(name) for name in ("qct_mean[traffic=ring]", "qct_mean[ring]"))
    assert given == printed and isinstance(given, metrics.Metric) and given.title == "QCT mean [ring]"
