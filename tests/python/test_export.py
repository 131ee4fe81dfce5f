"""Tests of results in the formats of other tools."""

import csv
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from overspill import BadInput, Results, run
from overspill.results import export
from overspill.results.metric_key import Key

ROOT = Path(__file__).parents[2]


def slowdowns(path: Path, port: str) -> list[tuple[float, int]]:
    """Returns size and slowdown of the lines of a destination port, as HPCC's fct_analysis.py reads them."""
    fields = [line.split() for line in path.read_text().splitlines()]
    chosen = [one for one in fields if one[3] == port and int(one[5]) < 3_000_000_000]
    return sorted((max(1.0, int(one[6]) / int(one[7])), int(one[4])) for one in chosen)


def rows_of(results: Results, variant: str) -> list[dict[str, int]]:
    """Returns the flows of a variant."""
    return [flow for flow in results.flows.to_pylist() if flow["variant"] == variant]


def test_fct_txt_is_what_the_scripts_of_hpcc_read(compiled: None, tmp_path: Path) -> None:
    results = run(ROOT / "scenarios" / "formats.toml", out=tmp_path / "out")
    written = list(export.write(results, "hpcc"))
    names = [one.path.relative_to(tmp_path / "out").as_posix() for one in written]
    assert names == ["export/fct_formats_no_marks_1.txt", "export/fct_formats_marks_1.txt"]
    lines = written[1].path.read_text().splitlines()
    flows = rows_of(results, "marks")
    assert len(lines) == len(flows) == 29
    ends = []
    for line in lines:
        sip, dip, sport, dport, size, start, fct, alone = line.split(" ")
        # node id to address and back, as in HPCC's simulator
        src, dst = ((int(ip, 16) >> 8) & 0xFFFF for ip in (sip, dip))
        assert len(sip) == 8 and int(sip, 16) == 0x0B000001 + (src // 256) * 0x10000 + (src % 256) * 0x100
        assert int(sport) >= 10_000 and dport == "100"
        ends.append(int(start) + int(fct))
        near = [flow for flow in flows if abs(flow["start_ps"] / 1000 - int(start)) <= 0.5]
        (found,) = [flow for flow in near if (flow["src"], flow["dst"]) == (src, dst)]
        assert found["bytes"] == int(size)
        assert abs((found["end_ps"] - found["start_ps"]) / 1000 - int(fct)) <= 0.5
        assert abs(found["ideal_ps"] / 1000 - int(alone)) <= 0.5
        assert int(fct) >= int(alone) - 1
    assert all(later - earlier >= -1 for earlier, later in pairwise(ends))
    read = slowdowns(written[1].path, "100")
    assert len(read) == 29 and read[-1][0] > 5


def test_addresses_are_those_of_the_simulator() -> None:
    assert [f"{export.hpcc_address(node):08x}" for node in (0, 1, 255, 256, 513)] == [
        "0b000001", "0b000101", "0b00ff01", "0b010001", "0b020101",
    ]  # fmt: skip


def test_flows_of_queries_have_the_port_of_incasts(three_seeds: Results, tmp_path: Path) -> None:
    written = list(export.write(three_seeds, "hpcc", tmp_path / "fct.txt", ("drop", 2)))
    assert [one.path for one in written] == [tmp_path / "fct.txt"]
    assert len(slowdowns(tmp_path / "fct.txt", "200")) == 320
    assert len(slowdowns(tmp_path / "fct.txt", "100")) == 1500 - 320


def test_flows_as_csv_run_again_as_they_were(compiled: None, tmp_path: Path) -> None:
    results = run(ROOT / "scenarios" / "formats.toml")
    (written,) = export.write(results, "csv", tmp_path / "again.csv", ("marks", 1))
    with written.path.open() as file:
        assert next(csv.reader(file)) == ["start", "source", "destination", "bytes"]
    shutil.copy(ROOT / "scenarios" / "hpcc_topology.txt", tmp_path)
    text = (ROOT / "scenarios" / "formats.toml").read_text()
    head, _, rest = text.partition("# Files of this family")
    again = (
        head
        + '[[traffic]]\nname = "again"\nkind = "trace"\nfile = "again.csv"\n'
        + rest[rest.index("[variants") :]
    )
    (tmp_path / "again.toml").write_text(again)
    replay = run(tmp_path / "again.toml")

    def flow_rows(results: Results) -> list[tuple[int, ...]]:
        columns = ("start_ps", "src", "dst", "bytes")
        return sorted(tuple(flow[name] for name in columns) for flow in rows_of(results, "marks"))

    assert flow_rows(replay) == flow_rows(results)
    assert len(flow_rows(replay)) == 29


def test_unfinished_flows_are_left_out_of_fct_txt_and_counted(
    command: Callable[..., object], scenario: Path, tmp_path: Path
) -> None:
    command("run", scenario, "--set", "fake.unfinished=7", "--out", tmp_path / "out", "--no-report")
    left = command("export", tmp_path / "out", "--format", "hpcc", "--variant", "drop")
    assert left.status == 0  # type: ignore[attr-defined]
    assert "7 unfinished flows are left out" in left.err  # type: ignore[attr-defined]
    text = (tmp_path / "out" / "export" / "fct_incast_drop_1.txt").read_text()
    assert text.count("\n") == 1493


def test_what_cannot_be_exported_is_bad_input(three_seeds: Results, tmp_path: Path) -> None:
    for arguments, said in [
        (("json",), "--format: found 'json'; expected one of hpcc, csv"),
        (("csv", tmp_path / "x.csv"), "for 9 runs; expected a folder, or --variants and --seed"),
        (("csv", None, ("gone", None)), "--variants: found 'gone'; expected one of drop, detour, bounce"),
        (("csv", None, (None, 9)), "--seed: found 9; expected the seed of a run: 1, 2, 3"),
        (("csv", Path("/dev/null/x.csv"), ("drop", 1)), "cannot be written"),
    ]:
        with pytest.raises(BadInput) as refused:
            list(export.write(three_seeds, *arguments))  # type: ignore[arg-type]
        assert said in str(refused.value)


def test_a_host_that_a_spreadsheet_would_compute_is_marked_and_read_again(
    compiled: None, tmp_path: Path
) -> None:
    hosts = ("=1+1", "@h", "-2")
    nodes = ", ".join(f'{{ name = "{host}", kind = "host" }}' for host in hosts)
    links = ", ".join(f'{{ a = "{host}", b = "s", rate = "1Gbps", delay = "1us" }}' for host in hosts)
    scenario = tmp_path / "odd.toml"
    text = f"""
name = "odd"
duration = "10ms"
[topology]
kind = "custom"
node = [{nodes}, {{ name = "s", kind = "switch" }}]
link = [{links}]
"""
    burst = """
[[traffic]]
name = "burst"
kind = "incast"
senders = 2
receiver = "=1+1"
size = "10KB"
"""
    scenario.write_text(text + burst)
    first = run(scenario, out=tmp_path / "one")
    (written,) = export.write(first, "csv")
    cells = {cell for line in written.path.read_text().splitlines() for cell in line.split(",")}
    assert {"'=1+1", "'@h", "-2"} <= cells and not {"=1+1", "@h"} & cells
    shutil.copy(written.path, tmp_path / "flows.csv")
    again = '[[traffic]]\nname = "burst"\nkind = "trace"\nfile = "flows.csv"\n'
    scenario.write_text(text + again)
    second = run(scenario)
    assert [first.flows[name].to_pylist() for name in ("src", "dst", "bytes")] == [
        second.flows[name].to_pylist() for name in ("src", "dst", "bytes")
    ]


INCASTS = """
name = "incasts"
duration = "20ms"
[topology]
kind = "star"
n = 9
[switch]
buffer = { kind = "per_port", size = "30pkt" }
[measure]
drain = "1s"
[[traffic]]
name = "burst"
kind = "incast"
senders = 6
receiver = "random"
size = "20KB"
interval = "4ms"
jitter = "20us"
[[traffic]]
name = "rest"
kind = "permutation"
size = "50KB"
"""


def test_a_replayed_incast_has_the_completion_times_of_its_queries(compiled: None, tmp_path: Path) -> None:
    path = tmp_path / "incasts.toml"
    path.write_text(INCASTS)
    made = run(path, out=tmp_path / "out", seed=7)
    (written,) = export.write(made, "csv", tmp_path / "flows.csv")
    text = written.path.read_text()
    assert (
        text.startswith("start,source,destination,bytes,query\n") and ",burst 4\n" in text and ",\n" in text
    )
    replay = tmp_path / "replay.toml"
    head = INCASTS.partition("[[traffic]]")[0]
    replay.write_text(head + '[[traffic]]\nname = "t"\nkind = "trace"\nfile = "flows.csv"\n')
    (before,), (after,) = made.runs, run(replay, seed=7).runs
    for name in ("qct_mean", "qct_p99", "fct_mean"):
        assert after.values[Key(name)] == before.values[Key(name)], name
    assert after.values[Key("qct_p99")].samples == 5


def test_without_queries_the_csv_has_no_column_of_them(compiled: None, tmp_path: Path) -> None:
    path = tmp_path / "shuffle.toml"
    path.write_text(
        INCASTS.partition("[[traffic]]")[0] + '[[traffic]]\nname = "p"\nkind = "permutation"\nsize = "9KB"\n'
    )
    (written,) = export.write(run(path, out=tmp_path / "out"), "csv")
    assert written.path.read_text().splitlines()[0] == "start,source,destination,bytes"
