"""Tests of eleven small runs, packet by packet, against a separate model (docs/internals/model.md)."""

import functools
import json
import re
import types
from pathlib import Path
from typing import Any

import pytest

import model
import overspill
from overspill import _core
from overspill.results.names import DROP_REASONS

FOLDER = Path(__file__).parent
RUNS = sorted(path.stem for path in (FOLDER / "runs").glob("*.toml"))
OUTCOMES = ("delivered", *DROP_REASONS)
ROW_COLUMNS = ("sent_ps", "end_ps", "hops", "detours", "bounces", "max_bounced_distance", "node")
# Settings that the model does not have. They are pinned in Overspill, whatever the default, if it has such a
# key.
PINS = {
    "recovery": "newreno",
    "sack": "false",
    "timestamps": "false",
    "nagle": "false",
    "restart_after_idle": "false",
    "retransmission_timer": "true",
    "window_less_out_of_order": "false",
    "connection": "established",
}
# Drop reasons and counters that each run has to exercise.
NEEDED_EVENTS = {
    "drop_2": {"buffer_full", "fast_retransmits", "timeouts"},
    "drop_3": {"buffer_full", "fast_retransmits", "timeouts"},
    "ecn_2": {"ece_acks"},
    "ecn_3": {"ece_acks", "buffer_full", "fast_retransmits"},
    "detour_2": {"detours", "ece_acks"},
    "detour_3": {"detours", "no_detour", "ttl_expired", "fast_retransmits", "timeouts"},
    "detour_4": {"detours", "detours_spent", "ece_acks"},
    "bounce_2": {"bounces"},
    "bounce_3": {"bounces", "bounce_queue_full", "ece_acks", "fast_retransmits", "timeouts"},
    "delayed_ack_2": {"ece_acks"},
    "echo_2": {"ece_acks", "timeouts"},
}
# Faults inserted into the model: a description, and the text that changes. The comparison must find each.
FAULTS = {
    "marking begins one packet above K": (
        ">= parse_quantity(self.marking",
        "> parse_quantity(self.marking",
    ),
    "a queue has room for one packet more": (">= self.limits[kind]\n", "> self.limits[kind]\n"),
    "departures come after arrivals of the same instant": (
        "port.node, 0, port.index",
        "port.node, 2, port.index",
    ),
    "arrivals of the same instant come from the last port on": ("1, ingress)", "1, -ingress)"),
    "a packet is dropped one hop after its TTL is used up": ("packet.ttl == 0", "packet.ttl < 0"),
    "a detour leaves no mark": ('packet.ect and self.overflow["mark_detoured"]', "False"),
    "no detour leads back": ('None if self.overflow.get("ingress", True) else', ""),
    "one detour more than may be": (">= self.most_detours", "> self.most_detours"),
    "bounced frames wait behind others": (
        "port.queues[1] or port.queues[0]",
        "port.queues[0] or port.queues[1]",
    ),
    "a bounced packet is compared with the length of the normal queue": ("int(packet.bounces > 0)", "0"),
    "a queue counts as full only at its limit": ("limit if length >=", "limit if False and length >="),
    "a switch that forwards brings a packet no nearer": (
        "else:  # PABO §III: bouncedDistance\n            packet.back = max(packet.back - 1, 0)",
        "else:\n            pass",
    ),
    "a host that sends a packet again brings it no nearer": (
        "append(packet)\n            packet.back = max(packet.back - 1, 0)",
        "append(packet)",
    ),
    "the distance falls below nought": (
        "bouncedDistance\n            packet.back = max(packet.back - 1, 0)",
        "bouncedDistance\n            packet.back -= 1",
    ),
    "a host sends back what was bounced in its normal queue": (
        "ports[node][0].queues[1].append",
        "ports[node][0].queues[0].append",
    ),
    "a cut by marks rounds the window down": (
        "int(self.cwnd * self.alpha / 2)",
        "-int(-self.cwnd * self.alpha // 2)",
    ),
    "RTTVAR keeps half instead of 3/4": ("- self.rttvar // 4", "- self.rttvar // 2"),
    "the granularity is no lower bound": (
        'max(parse_quantity(self.o["clock_granularity"]), 4 * self.rttvar)',
        "4 * self.rttvar",
    ),
    "segments sent again are timed": ("            self.timed = []\n", "            pass\n"),
    "a timeout does not back off": ("min(2 * self.rto", "min(self.rto"),
    "a second timeout cuts ssthresh again": ("if self.resent != self.una", "if True"),
    "congestion avoidance opens like slow start": (
        "min(new, self.mss) if slow else",
        "min(new, self.mss) if True else",
    ),
    "ssthresh counts what limited transmit sent": ("- self.una - self.limited) //", "- self.una) //"),
    "a partial ACK sends nothing again": (
        "    self.transmit(self.una)\n            self.cwnd = max",
        "    self.cwnd = max",
    ),
    "a partial ACK does not increase the window by a segment": ("(self.mss if new >= self.mss else 0)", "0"),
    "every partial ACK restarts the timer": ("later, self.partial = self.partial, True", "later = False"),
    "recovery ends at ssthresh whatever is under way": (
        "min(self.ssthresh, max(self.top - self.una, self.mss) + self.mss)",
        "self.ssthresh",
    ),
    "a timeout sends nothing again": ("0, False, self.una, []", "0, False, self.top, []"),
    "flight size counts what a timeout gave up": (
        "max((self.nxt - self.una) // 2",
        "max((self.top - self.una) // 2",
    ),
    "DCTCP cuts by alpha, not by half of it": ("self.alpha / 2", "self.alpha"),
    "an observation window ends one ACK early": ("self.una > self.window_end", "self.una >= self.window_end"),
    "every echo cuts the window": ("self.ecn and self.una > self.cut_end", "self.ecn"),
    "an ACK with an echo opens the window": (
        "if not ack.ece and not self.recovering:  # RFC 5681",
        "if not self.recovering:  # RFC 5681",
    ),
    "the echo does not end with CWR": ("and not data.cwr)", "and True)"),
    "data that arrived before a mark is acknowledged together with the mark": (
        "if self.waiting:\n",
        "if False:\n",
    ),
    "a delayed ACK waits twice as long": (
        'parse_quantity(self.o["delayed_ack_timeout"])',
        '2 * parse_quantity(self.o["delayed_ack_timeout"])',
    ),
    "only every third segment is acknowledged": ("self.waiting >= 2", "self.waiting >= 3"),
}


def pinned_settings(name: str) -> list[str]:
    """Returns settings for the keys of PINS that Overspill has."""
    kind = model.tomllib.loads((FOLDER / "runs" / f"{name}.toml").read_text())["transport"]["kind"]
    specs = json.loads(_core.catalogue())
    (spec,) = (spec for spec in specs if (spec["slot"], spec["kind"]) == ("transport", kind))
    known = {param["name"] for param in spec["params"]}
    return [f"transport.{key}={value}" for key, value in PINS.items() if key in known]


@functools.cache
def measured(name: str) -> tuple[dict[Any, Any], dict[str, int]]:
    """Returns Overspill's packets in the model's form, and the flows' counters."""
    results = overspill.run(FOLDER / "runs" / f"{name}.toml", sets=pinned_settings(name))
    rows = results.packets.to_pylist()
    packets = {
        (row["flow"], row["reverse"], row["emission"]): (
            *(row[key] for key in ROW_COLUMNS),
            OUTCOMES[row["fate"]],
        )
        for row in rows
    }
    assert len(packets) == len(rows), "a packet has one end"
    counters = ("ece_acks", "fast_retransmits", "timeouts")
    return packets, {key: sum(results.flows.column(key).to_pylist()) for key in counters}


def run_model(name: str, source: types.ModuleType = model) -> dict[Any, Any]:
    return source.World(FOLDER / "runs" / f"{name}.toml").run()


def differences(ours: dict[Any, Any], theirs: dict[Any, Any]) -> list[str]:
    """Returns the differing packets, ordered by the time of sending in either result."""
    either = ours | theirs
    keys = [
        key for key in sorted(either, key=lambda key: (either[key], key)) if ours.get(key) != theirs.get(key)
    ]
    return [f"{key}: model {ours.get(key)}, Overspill {theirs.get(key)}" for key in keys]


@pytest.mark.parametrize("name", RUNS)
def test_every_packet_has_the_times_and_the_fate_that_the_model_gives_it(name: str) -> None:
    found = differences(run_model(name), measured(name)[0])
    assert not found, "\n".join([f"{len(found)} packets differ; (flow, reverse, emission):", *found[:5]])


@pytest.mark.parametrize("name", RUNS)
def test_every_run_does_what_it_is_there_for(name: str) -> None:
    packets, counters = measured(name)
    seen = {key for key, count in counters.items() if count} | {row[-1] for row in packets.values()}
    seen |= {
        what
        for what, column in (("detours", 3), ("bounces", 4))
        if any(row[column] for row in packets.values())
    }
    assert seen >= NEEDED_EVENTS[name]


def test_all_runs_are_there() -> None:
    assert set(RUNS) == set(NEEDED_EVENTS)
    assert sum(len(measured(name)[0]) for name in RUNS) > 5000


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_model_is_a_difference(fault: str) -> None:
    right, wrong = FAULTS[fault]
    source = Path(model.__file__).read_text()
    assert source.count(right) == 1, "the fault's place is in the model once"
    faulty = types.ModuleType("faulty")
    exec(compile(source.replace(right, wrong), "faulty.py", "exec"), faulty.__dict__)
    assert any(differences(run_model(name, faulty), measured(name)[0]) for name in RUNS)


def test_counts_of_runs_on_the_page_are_those_of_the_runs() -> None:
    page = (FOLDER.parent / "docs/internals/model.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", page, re.MULTILINE))
    assert rows == {name: str(len(measured(name)[0])) for name in RUNS}
    assert f"| all | {sum(len(measured(name)[0]) for name in RUNS)} | |" in page
    kinds = {
        "drops": lambda packets, _: sum(row[-1] != "delivered" for row in packets.values()),
        "detours": lambda packets, _: sum(row[3] for row in packets.values()),
        "bounces": lambda packets, _: sum(row[4] for row in packets.values()),
        "marked ACKs": lambda _, counters: counters["ece_acks"],
    }
    quoted = re.findall(rf"^\| `(\w+)` \|.*?\b(\d+) ({'|'.join(kinds)})\b", page, re.MULTILINE)
    assert len(quoted) >= 6
    assert [
        (name, said, what) for name, said, what in quoted if int(said) != kinds[what](*measured(name))
    ] == []
