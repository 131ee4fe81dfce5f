"""Tests that measured numbers on pages equal the rows of docs/measured.csv, which docs/measured.py writes."""

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from doc_quotes import QUOTES, Cell, Quote
from overspill.engine import core
from overspill.errors import BadInput
from overspill.papers.published_files import ROWS_FILE, WHAT_IF_FILE, read_json

DOCS = Path(__file__).parents[1] / "docs"
PAGES = DOCS / "mechanisms"
NUMBER = r"(\d[\d,]*(?:\.\d+)?)(?: ± (\d[\d,]*(?:\.\d+)?))?"


@cache
def module() -> ModuleType:
    """Loads docs/measured.py as a module."""
    spec = importlib.util.spec_from_file_location("measured", DOCS / "measured.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["measured"] = made
    spec.loader.exec_module(made)
    return made


@cache
def rows() -> dict[tuple[str, str, str], dict[str, str]]:
    return {(row["measurement"], row["variant"], row["metric"]): row for row in module().read_rows()}


def row_of(cell: Cell) -> dict[str, str]:
    return rows()[cell.key]


def page(name: str) -> str:
    return " ".join((PAGES / f"{name}.md").read_text().split())


def number_pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text).replace(r"\{\}", NUMBER).replace(re.escape(r"#\#"), r"[\d.]+"))


def format_like(value: float, text: str) -> str:
    """Formats a value with as many decimals as a text has."""
    return f"{value:,.{len(text.partition('.')[2])}f}"


@pytest.mark.parametrize("quote", QUOTES, ids=lambda quote: f"{quote.page}: {quote.text[:40]}")
def test_a_quoted_number_is_that_of_the_file(quote: Quote) -> None:
    found = list(number_pattern(quote.text).finditer(page(quote.page)))
    assert found, "the page has no such text"
    if "{}" not in quote.text:
        assert [cell for cell in quote.cells if float(row_of(cell)["largest"])] == []
        return
    (one,) = found
    texts = list(zip(one.groups()[::2], one.groups()[1::2], strict=True))
    for (mean, half), cell in zip(texts, quote.cells, strict=True):
        assert mean == format_like(cell.factor * float(row_of(cell)[cell.value]), mean), cell
        assert half is None or half == format_like(cell.factor * float(row_of(cell)["ci95"]), half), cell


def test_every_row_of_the_file_is_quoted_by_a_page() -> None:
    quoted = {cell.key for quote in QUOTES for cell in quote.cells}
    assert {key for key in rows() if key not in quoted} == UNQUOTED


# Rows that support words of a page, in the tests below, and variants of an example besides the quoted ones.
UNQUOTED = {
    ("abq, linux_dctcp", "abq", "drops[reason=hold_full]"),
    ("pabo inputs, 501", "pabo", "input_bytes_max"),
    ("pabo inputs, 1501", "pabo", "input_bytes_max"),
    ("pabo small inputs, 2501", "without", "drops"),
    ("packet_bounce", "drop", "bounced_share"),
    ("trim", "cp", "packet_hops"),
}


def test_every_interval_on_a_page_of_a_mechanism_is_quoted() -> None:
    """Checks all pages; intervals of bounce.md's table come from PABO's rows (tests/test_doc_numbers.py)."""
    for path in sorted(PAGES.glob("*.md")):
        text = page(path.stem)
        spans = [
            found.span()
            for quote in QUOTES
            if quote.page == path.stem
            for found in number_pattern(quote.text).finditer(text)
        ]
        table = text.partition("| | published | output-queued | `cioq` |")[2].partition(" The models agree")[
            0
        ]
        spans += [(text.index(table), text.index(table) + len(table))] if table else []
        for one in re.finditer(r"\d ± \d", text):
            assert any(start <= one.start() < end for start, end in spans), text[
                one.start() - 80 : one.end() + 20
            ]


def test_the_file_has_the_measurements_and_commands_of_the_script() -> None:
    made = module()
    metrics = {name: set(one.metrics) for name, one in made.MEASUREMENTS.items()}
    written: dict[str, set[str]] = {}
    for (name, _, metric), row in rows().items():
        written.setdefault(name, set()).add(metric)
        assert row["command"] == made.MEASUREMENTS[name].command
        assert int(row["seeds"]) == made.MEASUREMENTS[name].seeds
    assert written == metrics, "run `python docs/measured.py`"


def test_a_measurement_that_is_run_again_gives_the_rows_of_the_file() -> None:
    made = module()
    again = [
        dict(zip(made.COLUMNS, row, strict=True))
        for row in made.MEASUREMENTS["roce_incast"].rows("roce_incast")
    ]
    assert again == [row for row in made.read_rows() if row["measurement"] == "roce_incast"]


def largest_value(measurement: str, variant: str, metric: str) -> float:
    return float(rows()[measurement, variant, metric]["largest"])


def test_words_of_pages_agree_with_the_rows_that_they_rest_on() -> None:
    inputs = [
        largest_value(f"pabo inputs, {packets}", "pabo", "input_bytes_max") for packets in (501, 1501, 2501)
    ]
    assert inputs[2] == max(inputs), "bounce.md: at most so many at any load"
    assert largest_value("abq, linux_dctcp", "abq", "drops[reason=hold_full]") > 0, (
        "abq.md: input queues overflow"
    )
    two = [
        row
        for key, row in rows().items()
        if re.fullmatch(r"dcqcn, \d+ Gb/s, 2", key[0]) and "queue" in key[2]
    ]
    below = [
        100 - float(row[end]) / (4 * int(row["measurement"].split()[1])) * 100
        for row in two
        for end in ("smallest", "largest")
    ]
    (said,) = re.finditer(r"the mean queue is (\d+) to (\d+)% below K_min", page("dcqcn"))
    assert len(two) == 3 and said.groups() == (f"{min(below):.0f}", f"{max(below):.0f}")
    assert float(rows()["dcqcn, 40 Gb/s, 10", "default", "mean_queue_of_1522_B"]["smallest"]) > 160


def test_paths_that_routing_refuses_are_those_above_the_bound_of_its_page() -> None:
    text = (
        'name = "paths"\nduration = "1ms"\n[topology]\nkind = "jellyfish"\nswitches = 1000\ndegree = 12\n'
        'hosts_per_switch = 1\nlink = { rate = "1Gbps", delay = "1us" }\n[switch]\nrouting = '
        '{ kind = "k_shortest", k = 8 }\n'
        '[[traffic]]\nname = "x"\nkind = "incast"\nsenders = 1\nreceiver = "h0"\nsize = "1KB"\n'
    )
    with pytest.raises(BadInput) as refused:
        core.load_document("paths.toml", text, [])
    bound = re.search(r"the ports of the network of at most (\d+);", str(refused.value))
    said = re.search(r"times the ports of the network is above ([\d,]+)\.", page("routing"))
    assert bound is not None and said is not None and int(bound[1]) == int(said[1].replace(",", ""))


def test_distances_from_the_kernel_are_the_means_of_the_published_table() -> None:
    text = (DOCS / "internals/linux.md").read_text()
    table = re.split(r"^\| congestion control .* drops \|$", text, flags=re.MULTILINE)[1].partition("\n\n")[0]
    cases = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| cubic ")]
    means = []
    for column in (5, 6):
        found = [re.search(r"\(([+-][\d.]+) %\)", case[column]) for case in cases]
        means.append(sum(abs(float(one[1])) for one in found if one) / len(found))
        assert all(found)
    said = re.search(
        r"Over the (\d+) \[cases with CUBIC\]\S+ the mean distance from the kernel is ([\d.]+)% in median "
        r"completions and ([\d.]+)% in retransmissions",
        page("hosts"),
    )
    assert said is not None
    assert said.groups() == (str(len(cases)), *(f"{mean:.1f}" for mean in means))


def published_rows(paper: str, name: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    found = read_json(DOCS.parent / f"papers/{paper}/{name}") or {}
    return {(row["figure"], row["case"], row["metric"]): row for row in found["rows"]}


def test_losses_of_pabo_on_its_page_are_those_of_the_published_rows() -> None:
    base, inside = published_rows("pabo", ROWS_FILE), published_rows("pabo", WHAT_IF_FILE)
    loads = ("mild", "moderate", "severe")
    for load in loads:
        key = ("secV-B", f"{load}, PABO", "drops")
        values = (base[key]["published"], base[key]["measured"], inside[key]["settings"]["cioq"]["measured"])
        assert [float(value) for value in values] == [0, 0, 0]
    text = page("bounce")
    assert "| drops, any load | 0 | 0 | 0 |" in text
    said = re.search(
        r"In the mild, moderate and severe load ([\d.]+), ([\d.]+) and ([\d.]+)% of the packets are lost "
        r"with `cioq`, compared with ([\d.]+), ([\d.]+) and ([\d.]+)% in the output-queued switch",
        text,
    )
    assert said is not None
    keys = [("secV-B", f"{load}, without PABO", "drop_rate") for load in loads]
    lost = [inside[key]["settings"]["cioq"]["measured"] for key in keys] + [
        base[key]["measured"] for key in keys
    ]
    assert list(said.groups()) == [f"{value:.2f}" for value in lost]
    packets = 5 * 3 * 2501
    fewer = packets * base[keys[2]]["measured"] / 100 - largest_value(
        "pabo small inputs, 2501", "without", "drops"
    )
    assert f"are lost, {fewer:.0f} packets fewer than without inputs" in text


def test_verdicts_that_inputs_change_are_those_that_the_page_names() -> None:
    base, inside = published_rows("pabo", ROWS_FILE), published_rows("pabo", WHAT_IF_FILE)
    bounced = {
        key: row for key, row in inside.items() if "cioq" in row["settings"] and "without" not in key[1]
    }
    changed = [
        key for key, row in bounced.items() if row["settings"]["cioq"]["verdict"] != base[key]["verdict"]
    ]
    assert len(bounced) > 30
    assert changed == [("tab1", "severe", "share_of_1"), ("tab1", "severe", "share_of_2")]
    assert "The verdicts on bouncing are the same, except for two shares of the severe load." in page(
        "bounce"
    )
    for key in changed:
        beyond = abs(inside[key]["settings"]["cioq"]["measured"] - base[key]["published"]) - 0.2
        assert 0 < beyond < 0.1
        assert base[key]["tolerance"] == {"abs": 0.2}


def test_lost_headers_on_the_page_of_trim_are_those_of_cp_s_rows() -> None:
    found = published_rows("cp", ROWS_FILE)[
        "sec4.6c", "MapReduce, 250 senders, room for one frame", "headers_lost"
    ]
    assert f"With space for one, {found['measured']:.2f}% of the headers are lost if 250 senders" in page(
        "trim"
    )
