"""Tests of `overspill new`: each printed scenario loads and runs, and all its settings have an effect."""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran

import overspill
from overspill.cli import new_examples, new_sections
from overspill.cli.new_plan import Catalogue, Choices
from overspill.cli.new_scenario import Draft, read_catalogue
from overspill.engine import core
from overspill.errors import BadInput

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "scenarios"
OPTIONAL_LINE = re.compile(r"^# ([\w.]+ = .+)$", re.MULTILINE)
FILES = {"hpcc": "hpcc_topology.txt", "htsim": "pods.topo"}
FLOW_FILES = {
    "trace": "flows.csv",
    "hpcc": "hpcc_flows.txt",
    "htsim": "incast.cm",
    "opera": "opera_flows.txt",
}
# Mechanisms for some networks only. All others are tried in a leaf-spine network.
FITTING_TOPOLOGY = {"two_level": "fat_tree"}
# Traffic without finished flows: packets without a transport, and flows without an end.
ENDLESS_TRAFFIC = ("constant", "bursts", "long_lived")


def names(slot: str) -> list[str]:
    """Returns the kinds of a slot in the compiled core."""
    core.use_backend(None)
    return list(read_catalogue().docs(slot))


def mechanisms() -> Iterator[tuple[str, str]]:
    """Yields slot and kind of every mechanism that has an option."""
    core.use_backend(None)
    known = read_catalogue()
    for slot in known.options.values():
        yield from ((slot, kind) for kind in known.docs(slot))


TOPOLOGIES, TRAFFIC, MECHANISMS = names("topology"), names("traffic"), list(mechanisms())
pytestmark = pytest.mark.usefixtures("compiled")


def draft(topology: str, *kinds: tuple[str, str], traffic: str = "incast") -> Draft:
    """Returns the scenario for a topology, mechanisms and traffic, in the folder of the example files."""
    files = (FLOW_FILES[traffic],) if traffic in FLOW_FILES else ()
    return Draft(Choices(topology, dict(kinds), (traffic,), FILES.get(topology), files))


def draft_with(slot: str, kind: str) -> Draft:
    """Returns the scenario with one mechanism, in a network that it fits."""
    return draft(FITTING_TOPOLOGY.get(kind, "leaf_spine"), (slot, kind))


def run_text(text: str, folder: Path) -> dict[str, Any]:
    """Returns the results of a scenario with one seed as a document."""
    path = folder / "made.toml"
    path.write_text(text)
    return overspill.run(path, out=folder / "out").document()


def finished_flows(document: dict[str, Any]) -> list[int]:
    """Returns the number of finished flows of each variant; fails if flows are unfinished."""
    for variant in document["variants"]:
        assert variant["unfinished"] == 0
    return [variant["flows"]["completed"] for variant in document["variants"]]


@pytest.mark.parametrize("topology", [one for one in TOPOLOGIES if one not in FILES])
def test_default_traffic_overflows_a_buffer_and_finishes(topology: str, tmp_path: Path) -> None:
    made = draft(topology)
    document = run_text(made.text(), tmp_path)
    assert made.notes == document["notes"] == document["cautions"] == []
    assert document["variants"][0]["metrics"]["drops"]["mean"] > 0
    assert finished_flows(document)[0] >= 7
    assert len(made.plan.network.hosts) in range(8, 65)


@pytest.mark.parametrize("topology", FILES)
def test_topology_of_a_file_runs(topology: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SCENARIOS)
    text = draft(topology).text().replace(FILES[topology], str(SCENARIOS / FILES[topology]))
    assert finished_flows(run_text(text, tmp_path))[0] > 0


def test_drawn_network_of_a_file_needs_no_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SCENARIOS)
    made = Draft(Choices("custom", topology_file="net.graphml"))
    assert 'file = "net.graphml"' in made.text()
    assert made.plan.network.receiver == "b3"


@pytest.mark.parametrize("traffic", [one for one in TRAFFIC if one not in FLOW_FILES])
def test_traffic_runs(traffic: str, tmp_path: Path) -> None:
    made = draft("leaf_spine", traffic=traffic)
    assert made.notes == []
    document = run_text(made.text(), tmp_path)
    assert finished_flows(document)[0] > 0 or traffic in ENDLESS_TRAFFIC


@pytest.mark.parametrize("traffic", FLOW_FILES)
def test_traffic_of_a_file_loads(traffic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SCENARIOS)
    assert f'file = "{FLOW_FILES[traffic]}"' in draft("leaf_spine", traffic=traffic).text()


@pytest.mark.parametrize(("slot", "kind"), MECHANISMS)
def test_mechanism_has_an_effect_and_valid_lines(slot: str, kind: str) -> None:
    made = draft_with(slot, kind)
    text = made.text()
    # The file pauses one of two classes, and says that the other may take its memory.
    expected = ["class 1 may fill the memory that packets of paused classes need"] if kind == "pfc" else []
    assert [note.split(": ")[2].split(". ")[0] for note in made.notes] == expected
    lines = check_optional_lines(text)
    tables = tomllib.loads(text)
    compared = slot.startswith(("switch.", "host.")) and kind != made.plan.defaults[slot]
    assert list(tables.get("variants", {}))[1:] == ([kind] if compared else [])
    assert f'"{kind}"' in text or (slot, kind) == ("switch.fabric", "none")
    parameters = [one for one in made.known.parameters(slot, kind) if one["default"] is not None]
    if slot not in ("transport", *made.known.scalars) and compared:
        assert all(re.search(rf"\b{one['name']}\b", text) for one in parameters)
    assert lines >= 8


def check_optional_lines(text: str) -> int:
    """Loads a scenario once for each optional line that is not commented out; returns their number."""
    found = list(OPTIONAL_LINE.finditer(text))
    for one in found:
        core.load_document("made.toml", text[: one.start()] + one[1] + text[one.end() :], [])
    return len(found)


@pytest.mark.parametrize("topology", [one for one in TOPOLOGIES if one not in FILES])
def test_optional_lines_of_topologies_are_valid(topology: str) -> None:
    text = draft(topology).text()
    assert check_optional_lines(text) >= 8
    assert text.count("\n") <= 90
    assert max(map(len, text.splitlines())) <= 110


def test_plain_scenario_has_the_common_tables() -> None:
    tables = tomllib.loads(draft("leaf_spine").text())
    assert list(tables) == ["name", "duration", "topology", "switch", "transport", "traffic"]
    assert tables["switch"] == {"buffer": {"kind": "per_port", "size": "100pkt"}}


@pytest.mark.parametrize(
    ("kind", "drops"), [("detour", 0), ("bounce", 0), ("trim", 0)], ids=["detour", "bounce", "trim"]
)
def test_baseline_and_mechanism_have_equal_memory(kind: str, drops: int, tmp_path: Path) -> None:
    document = run_text(draft("leaf_spine", ("switch.overflow", kind)).text(), tmp_path)
    baseline, variant = document["variants"]
    assert (baseline["name"], variant["name"]) == ("tail_drop", kind)
    assert baseline["metrics"]["drops"]["mean"] > variant["metrics"]["drops"]["mean"] == drops
    assert document["cautions"] == []
    finished_flows(document)


def test_needed_settings_have_a_reason() -> None:
    text = draft("star", ("host.reaction", "dcqcn")).text()
    assert '# The reaction limits the rate of RoCE flows.\n[transport]\nkind = "roce"' in text
    assert "# A queue and a rate limit for each flow.\n[host.nic]" in text
    assert draft("star", ("switch.fib", "learning")).plan.own["switch.fib"].values == {}
    assert draft("fat_tree", ("switch.fib", "learning")).plan.own["switch.fib"].values == {"preset": "all"}


def test_second_mechanism_is_in_both_variants() -> None:
    made = draft("star", ("switch.overflow", "detour"), ("switch.marking", "ecn_threshold"))
    tables = tomllib.loads(made.text())
    assert tables["switch"]["marking"]["kind"] == "ecn_threshold"
    assert tables["transport"]["ecn"] is True
    assert list(tables["variants"]) == ["tail_drop", "detour"]


def test_mechanisms_that_need_each_other_share_a_variant() -> None:
    made = draft("star", ("switch.model", "cioq"), ("switch.arbiter", "oldest_first"))
    tables = tomllib.loads(made.text())
    assert set(tables["variants"]["cioq"]["switch"]) >= {"model", "arbiter"}
    # Without this NIC, RoCE is not valid: no variant is left to compare with.
    assert "variants" not in tomllib.loads(
        draft("star", ("host.nic", "round_robin"), ("transport", "roce")).text()
    )


@pytest.mark.parametrize("values", [new_examples.NEEDS, new_examples.VALUES, new_examples.REASONS])
def test_examples_name_entries_of_the_catalogue(values: dict[str, Any]) -> None:
    known = read_catalogue()
    for name, about in values.items():
        slot, _, kind = name.rpartition(".")
        assert kind in known.docs(slot), name
        for need in about if isinstance(about, tuple) else ():
            assert not need.kind or need.kind in known.docs(need.table.replace("host.sch", "switch.sch"))
        keys = about if isinstance(about, dict) else ()
        assert set(keys) <= {one["name"] for one in known.parameters(slot, kind)}


def test_new_slot_gets_an_option_and_values_by_type() -> None:
    types = ("time", "count", "choice", "counts")
    params = [
        {
            "name": type_,
            "type": type_,
            "default": None,
            "required": True,
            "allowed": "`a`, from 7",
            "doc": "D.",
        }
        for type_ in types
    ]
    spec = {
        "slot": "switch.police",
        "kind": "token_bucket",
        "doc": "Drops bursts.",
        "cite": "",
        "params": params,
    }
    known = Catalogue([*core.catalogue(), spec], {})
    assert known.options["police"] == "switch.police"
    assert [new_sections.example_value(one) for one in params] == ["10us", 7, "a", [2, 2]]


def test_list_has_every_name_of_the_catalogue(command: Callable[..., Ran]) -> None:
    ran = command("new", "--list")
    listed = {line.split()[0] for line in ran.out.splitlines() if line.startswith("  ")}
    assert listed >= {one["kind"] for one in core.catalogue() if one["kind"] and one["slot"].count(".") < 2}
    assert "--overflow (switch.overflow)" in ran.out
    assert "cioq" in listed


def test_printed_scenario_runs_as_it_is(command: Callable[..., Ran]) -> None:
    ran = command("new", "star", "--overflow", "detour", "--ack-hold", "none")
    assert (ran.status, ran.err) == (0, "")
    Path("mine.toml").write_text(ran.out)
    assert command("run", "mine.toml", "--no-report").status == 0
    assert command("new", "star", "--ack_hold", "none").status == 0


def test_note_of_the_loader_is_printed(command: Callable[..., Ran]) -> None:
    ran = command("new", "star", "--overflow", "bounce", "--buffer", "unlimited")
    assert ran.status == 0
    assert "note: bounce: bounce has no effect with an unlimited buffer" in ran.err
    assert (
        "[variants.unlimited]" in command("new", "star", "--buffer", "unlimited", "--overflow", "bounce").out
    )


def test_help_has_every_slot(command: Callable[..., Ran]) -> None:
    out = command("new", "--help").out
    assert all(f"--{name}" in out for name in read_catalogue().options)
    assert re.search(r"\bnew\b", command("--help").out)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), "topology: found nothing; expected one of star, dumbbell, "),
        (("leaf_spin",), "topology: found 'leaf_spin'; expected one of star, .*; did you mean leaf_spine?"),
        (("star", "--overflow", "detuor"), "--overflow: found 'detuor'; .*evict; did you mean detour?"),
        (("star", "--overflow", "drop"), "--overflow: found 'drop'; .*; did you mean tail_drop?"),
        (("star", "--traffic", "incst"), "--traffic: found 'incst'; .*; did you mean incast?"),
        (("hpcc",), "topology: found 'hpcc' without a file; expected --file FILE. Topology file of"),
        (("star", "--file", "x"), "--file: found with 'star'; expected it only with custom, hpcc, htsim"),
        (("custom", "--file", "x"), "--file: found `x`: cannot be read"),
        (("star", "--traffic", "trace"), "--traffic: found 'trace' without a file; expected --flows FILE."),
        (("star", "--flows", "x"), "--flows: found 'x'; expected one file for each --traffic of trace, "),
        (("star", "--traffic", "trace", "--flows", "x"), "--flows: found `x`: cannot be read"),
        (("star", "--routing", "two_level"), '--routing: found "two_level" in a network that is not'),
        (("star", "--arbitr", "x"), "No such option: --arbitr"),
    ],
    ids=lambda given: "_".join(given).replace("--", "") if isinstance(given, tuple) else "",
)
def test_wrong_names_are_refused(arguments: tuple[str, ...], error: str, command: Callable[..., Ran]) -> None:
    ran = command("new", *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert re.search(error.replace("?", r"\?"), ran.err), ran.err


def test_refused_combination_names_an_option() -> None:
    with pytest.raises(BadInput, match=r'^--buffer: found "shared" with model = "cioq"'):
        draft("star", ("switch.buffer", "shared"), ("switch.model", "cioq"))


@pytest.mark.parametrize("slot_and_kind", [("switch.overflow", "bounce"), ("switch.overflow", "trim")])
def test_comment_says_how_to_sweep_the_buffers_of_both_variants(
    slot_and_kind: tuple[str, str], tmp_path: Path
) -> None:
    slot, kind = slot_and_kind
    text = draft("star", (slot, kind)).text()
    words = " ".join(text.replace("\n#", " ").split())
    own = f"variants.{kind}.switch.buffer.size"
    assert "`--over switch.buffer.size=…` does not change this variant" in words
    assert f"add `--over {own}=…` and `--zip switch.buffer.size,{own}`" in words
    path = tmp_path / "made.toml"
    path.write_text(text)
    unit = "pkt" if kind == "bounce" else "KB"
    sizes = {"switch.buffer.size": [f"40{unit}", f"90{unit}"], own: [f"30{unit}", f"60{unit}"]}
    swept = overspill.sweep(path, sizes, zips=[tuple(sizes)], seeds=1)
    by_variant: dict[str, set[float]] = {}
    for row in swept.means("fct_mean").to_pylist():
        by_variant.setdefault(row["variant"], set()).add(row["mean"])
    assert [len(values) for values in by_variant.values()] == [2, 2]


def test_variant_without_a_size_of_its_own_has_no_hint() -> None:
    assert "does not change this variant" not in draft("star", ("switch.overflow", "detour")).text()


@pytest.mark.parametrize("order", [1, -1])
def test_red_that_is_chosen_beside_dcqcn_has_its_values(order: int) -> None:
    chosen = [("host.reaction", "dcqcn"), ("switch.marking", "red")][::order]
    text = draft("star", *chosen).text()
    tables = tomllib.loads(text)
    place = tables if order == 1 else tables["variants"]["red"]
    paper = {"min": "40KB", "max": "160KB", "max_p": 0.2, "weight": 1, "gentle": False, "gaps": "geometric"}
    assert place["switch"]["marking"].items() >= paper.items()
    assert "# RED as in DCQCN (Zhu et al., SIGCOMM 2015)" in text
    assert check_optional_lines(text) >= 8
    assert 'min = "30pkt"' in draft("star", ("switch.marking", "red")).text()


def test_chosen_mechanism_keeps_values_that_suffice() -> None:
    made = draft("star", ("transport", "dctcp"), ("switch.marking", "ecn_threshold"))
    assert made.plan.own["switch.marking"].values == {"k": "65pkt"}
    assert made.plan.own["switch.marking"].comment == ""
