"""Tests that the list of deliberate faults stays true."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import mutate
from overspill import _core

TABLES = mutate.read_tables()
FAULTS = [fault for table in TABLES for fault in (*table.faults, *table.equivalent)]
CASES = mutate.ROOT / "conformance" / "tcp"
RULES = ("RFC ", "pFabric ", "Linux ", "INET ")


def rules_of_faults(claimed: bool) -> set[str]:
    """Returns the rules of conformance/tcp/README.md with cases, or those that are not modelled."""
    rows = [line.split("|") for line in (CASES / "README.md").read_text().splitlines()]
    rows = [row for row in rows if len(row) > 3 and row[1].strip().startswith(RULES)]
    return {row[1].strip() for row in rows if ("not modelled" not in row[2]) == claimed}


def rules_of_cases() -> dict[str, str]:
    """Returns the rule of each conformance case, by file and name."""
    tables = {path.stem: mutate.tomllib.loads(path.read_text())["case"] for path in CASES.glob("*.toml")}
    return {f"{stem}: {case['name']}": case["rule"] for stem, cases in tables.items() for case in cases}


def test_every_fault_applies_to_its_file() -> None:
    for fault in FAULTS:
        text = (mutate.ROOT / fault.file).read_text()
        assert fault.apply(text) != text, f"{fault.name}: changes nothing"


def test_every_rule_that_is_claimed_has_a_fault_and_none_that_is_not() -> None:
    faulty = {rule for table in TABLES for fault in table.faults for rule in fault.rules}
    assert rules_of_faults(claimed=True) - faulty == set(), "no fault"
    assert {rule for rule in faulty if rule.startswith(RULES)} <= rules_of_faults(claimed=True)


def test_every_mechanism_of_the_catalogue_has_a_fault() -> None:
    faulty = {rule for table in TABLES for fault in table.faults for rule in fault.rules}
    specs = [spec for spec in json.loads(_core.catalogue()) if spec["slot"].startswith("switch.")]
    kinds = {f"{spec['slot']}.{spec['kind']}" for spec in specs if spec["kind"]}
    assert len(kinds) >= 14
    assert kinds - faulty == set(), "no fault"


def test_every_fault_says_what_caught_it_and_every_equivalent_one_why() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names)), "two of one name"
    for table in TABLES:
        assert all(fault.caught_by for fault in table.faults), table.name
        assert all(fault.why for fault in table.equivalent), table.name


def test_what_caught_a_fault_of_a_rule_is_a_case_of_that_rule() -> None:
    rules = rules_of_cases()
    for fault in FAULTS:
        claimed = {rule for rule in fault.rules if rule.startswith(RULES)}
        if claimed:
            assert {rules.get(name) for name in fault.caught_by} == claimed, fault.name


def names_of_tests() -> set[str]:
    """Returns the names of all tests: functions, modules, and what a macro makes."""
    rust = "\n".join(path.read_text() for path in mutate.ROOT.glob("crates/**/*.rs"))
    python = list(mutate.ROOT.glob("tests/**/test_*.py"))
    names = set(re.findall(r"#\[test\]\s+(?:#\[[^\n]*\]\s+)*fn (\w+)", rust))
    names |= set(re.findall(r"\b\w+_conforms?_to_\w+", rust))
    names |= {name for path in python for name in re.findall(r"def (test_\w+)", path.read_text())}
    return names | {path.stem for path in python}


def test_everything_that_caught_a_fault_exists() -> None:
    found = {name for fault in FAULTS for name in fault.caught_by}
    found -= rules_of_cases().keys() | {mutate.ABORTED_TEXT}
    assert not {name.rpartition("::")[2] for name in found} - names_of_tests()


def test_what_catches_a_fault_is_copied_with_it() -> None:
    paths = {fault.tests.split()[1] for fault in FAULTS if fault.tests.startswith(mutate.PYTEST_PREFIX)}
    assert paths
    assert not [path for path in paths if not path.startswith(mutate.PYTHON_PATHS)]


def test_the_page_has_every_fault() -> None:
    page = mutate.build_page()
    assert all(fault.fault.replace("|", "\\|") in page or fault.fault in page for fault in FAULTS)


def test_a_text_is_replaced_where_it_is_said_to_be_and_refused_elsewhere() -> None:
    fault = replace(FAULTS[0], find="a", replace="b", nth=None)
    assert fault.apply("xax") == "xbx"
    assert replace(fault, nth=2).apply("aaa") == "aba"
    for text, nth in [("xx", None), ("aa", None), ("aa", 3)]:
        with pytest.raises(mutate.UnusableFault, match="occurs"):
            replace(fault, nth=nth).apply(text)


def test_what_failed_is_read_from_the_output_of_the_tests() -> None:
    out = "\n".join(
        [
            "---- conformance::rfc_1 stdout ----",
            "rfc5681.toml, RFC 5681 §4.1: after less than a timeout: the window stays",
            "  step 2",
            "",
            "failures:",
            "    conformance::rfc_1",
            "",
            "test result: FAILED. 1 passed; 1 failed",
        ]
    )
    failed = mutate.parse_failures(out)
    assert failed.tests == ["conformance::rfc_1"]
    assert failed.cases == [("rfc5681", "RFC 5681 §4.1", "after less than a timeout: the window stays")]
    fault = replace(FAULTS[0], rules=("RFC 5681 §4.1", "RFC 5681 §4.2"))
    assert fault.missed(failed) == ["RFC 5681 §4.2"]
    assert failed.caught_by(("RFC 5681 §4.1",)) == ["rfc5681: after less than a timeout: the window stays"]
    assert failed.caught_by(("sender",)) == ["conformance::rfc_1"]


def test_what_failed_of_python_is_read_from_its_summary() -> None:
    out = "\n".join(
        [
            "F.E [100%]",
            "FAILED tests/python/test_in_step.py::test_a_share[x-y] - assert 1 == 2",
            "FAILED tests/python/test_in_step.py::test_a_share[z] - AssertionError",
            "ERROR tests/python/test_phase.py - ImportError",
        ]
    )
    assert mutate.parse_python_failures(out) == ["test_in_step::test_a_share", "test_phase"]


def test_outcomes_stay_known_while_their_own_sources_are_the_same(tmp_path: Path) -> None:
    by_group = {fault.reads: fault for fault in FAULTS}
    assert by_group.keys() <= mutate.source_groups().keys()
    book = tmp_path / "outcomes.json"
    before = {group: "a" for group in by_group}
    book.write_text(json.dumps(before | {fault.key: ["caught"] for fault in by_group.values()}))
    now = before | {"python": "b", "mech": "b"}
    known = mutate.results_still_valid(book, now)
    assert known == now | {f.key: ["caught"] for group, f in by_group.items() if now[group] == "a"}


def test_lower_crates_are_listed_with_all_crates_that_they_need() -> None:
    for name, needed in mutate.LOWER_CRATES.items():
        manifest = mutate.tomllib.loads((mutate.ROOT / "crates" / name / "Cargo.toml").read_text())
        direct = manifest["dependencies"].keys() & {"units", "wire", "scenario", "sim", *mutate.LOWER_CRATES}
        indirect = {crate for one in direct for crate in mutate.LOWER_CRATES.get(one, ())}
        assert set(needed) == direct | indirect


def test_hash_of_sources_ignores_comments_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    hashes = []
    for text in (
        "fn f() {\n    // why\n    1\n}\n",
        "/// New.\nfn f() {\n    1\n}\n",
        "fn f() {\n    2\n}\n",
    ):
        (tmp_path / "lib.rs").write_text(text)
        hashes.append(mutate.hash_sources(("lib.rs",)))
    assert hashes[0] == hashes[1] != hashes[2]
