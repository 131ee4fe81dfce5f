"""A core that simulates nothing: plausible tables for a leaf-spine, with the same draws for every variant."""

import json
import os
import signal
import threading
import time
import tomllib
from typing import Any

import numpy as np

from overspill.results.names import DROP_REASONS

US, MS = 1_000_000, 1_000_000_000
SIZES = "`web_search` (DCTCP, mean 1.71 MB), `imc10` (Benson et al., 196 KB), or a file."
U32, U64 = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF
LEAVES, SPINES, PER_LEAF = 24, 8, 4
HOSTS = LEAVES * PER_LEAF
WINDOW, END, BIN = (5 * MS, 55 * MS), 80 * MS, 100 * US
LINK = 1e9


class ScenarioError(ValueError):
    """Error of a scenario, as the core has it."""


class Behaviour:
    """Behaviour of the fake that a test may set."""

    interrupt_after: int | None = None
    unconserved = False
    crash = False
    crash_seed: int | None = None
    hammer = False
    user: threading.Thread | None = None
    steps = 4
    stuck_after: int | None = None  # number of finished runs after which a step takes a minute
    stuck_building = False  # true if building a network takes the minute

    def __init__(self) -> None:
        self.finished = 0
        self.lock = threading.Lock()


behaviour = Behaviour()


def reset() -> None:
    """Restores the default behaviour."""
    global behaviour
    behaviour = Behaviour()


def always_interrupt() -> None:
    """Sends many interrupts, like an impatient user."""
    for _ in range(40):
        time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)


def never_return() -> None:
    """Blocks for a minute, whatever signal arrives."""
    if behaviour.stuck_after is not None and behaviour.finished >= behaviour.stuck_after:
        time.sleep(60)


def parse(path: str, text: str, sets: list[str]) -> dict[str, Any]:
    try:
        scenario = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError([f"{path}:1: file: found {error}; expected TOML"]) from error
    for pair in sets:
        key, value = pair.split("=", 1)
        if key.startswith("variants."):
            _, variant, name = key.split(".", 2)
            scenario["variants"].setdefault(variant, {})[name] = value
            continue
        if not key.startswith(("fake.", "switch.", "measure.")):
            raise ScenarioError([f"--set: {key}: found an unknown key; expected a key of the schema"])
        group, name = key.split(".", 1)
        scenario.setdefault(group, {})[name] = value
    if "name" not in scenario:
        raise ScenarioError([f"{path}:1: name: found nothing; expected a name", f"{path}:1: second line"])
    return scenario


def document(scenario: dict[str, Any]) -> str:
    given = scenario.get("variants", {"default": {}})
    variants = list(given)
    labels = {name: one["label"] for name, one in given.items() if "label" in one}
    given = {name: {key: one[key] for key in one if key != "label"} for name, one in given.items()}
    allow = str(scenario.get("measure", {}).get("allow_unfinished", False)).lower() == "true"
    resolved = {
        name: {
            "duration": "60ms",
            "measure": {"from": "5ms", "drain": "20ms", "allow_unfinished": allow},
            "fake": scenario.get("fake", {}),
            "switch": {**scenario.get("switch", {}), **given[name]},
            "file": scenario.get("file", ""),
        }
        for name in variants
    }
    told = [str(scenario["fake"]["note"])] if "note" in scenario.get("fake", {}) else []
    return json.dumps(
        {
            "name": scenario["name"],
            "seed": 1,
            "duration_ps": 60 * MS,
            "variants": variants,
            "labels": labels,
            "notes": ["web_search.csv: read as 0-1 (last value is 1)", *told],
            "resolved": resolved,
            "memory": {name: {"switches": memory(name)} for name in variants},
        }
    )


def memory(variant: str) -> list[dict[str, Any]]:
    bounce = 50 if variant == "bounce" else 0
    size = 50 if variant in ("bounce", "slim") else 100
    return [
        {
            "tier": tier,
            "count": count,
            "ports": ports,
            "buffer": f"{size * ports}pkt",
            "bounce": f"{bounce}pkt" if bounce else None,
            "total": {"packets": (size + bounce) * ports},
        }
        for tier, count, ports in (("leaf", LEAVES, 12), ("spine", SPINES, 24))
    ]


def aliases() -> str:
    return "[]"


def catalogue() -> str:
    parameter = {
        "name": "size",
        "doc": "Frames or bytes.",
        "type": "amount",
        "default": "100pkt",
        "allowed": "",
    }
    model = {
        "name": "model",
        "doc": "Where frames wait.",
        "type": "choice",
        "default": "output_queued",
        "allowed": "one of `output_queued`, `cioq`",
    }
    specs = [
        ("switch", "", "Every switch.", "", [model]),
        ("switch.overflow", "tail_drop", "A frame that finds no room is lost.", "", []),
        ("switch.overflow", "detour", "It leaves by another port.", "DIBS §2", []),
        ("switch.buffer", "per_port", "Each port has its own memory.", "", [parameter]),
        ("topology", "leaf_spine", "Leaves and spines.", "", []),
        ("transport", "dctcp", "DCTCP.", "RFC 8257", []),
        ("traffic", "incast", "Many to one.", "", []),
        ("traffic", "poisson", "Many to many.", "", [{**parameter, "name": "sizes", "doc": SIZES}]),
        ("measure", "", "What counts.", "", [{**parameter, "name": "bin", "default": None}]),
    ]
    keys = ("slot", "kind", "doc", "cite", "params")
    return json.dumps([dict(zip(keys, spec, strict=True)) for spec in specs])


def check_nesting(path: str, text: str) -> None:
    """Accepts every text."""


def curve(kind: str, sets: list[str], steps: int, places: list[float]) -> str | None:
    return None


def schema() -> str:
    return json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"})


def version() -> str:
    return "0.2.0"


class Scenario:
    """A checked scenario."""

    def __init__(self, path: str, text: str, sets: list[str]) -> None:
        self.parsed = parse(path, text, sets)

    def document(self) -> str:
        return document(self.parsed)

    def run(self, variant: str, seed: int, max_events: int | None = None) -> "Run":
        return Run(self.parsed, variant, seed, max_events)


class Run:
    """An artificial run of one variant with one seed."""

    def __init__(self, scenario: dict[str, Any], variant: str, seed: int, max_events: int | None) -> None:
        self.options = scenario.get("fake", {})
        self.allow = str(scenario.get("measure", {}).get("allow_unfinished", False)).lower() == "true"
        self.variant, self.seed, self.max_events, self.step = variant, seed, max_events, 0
        if behaviour.stuck_building:
            never_return()
        if behaviour.crash or behaviour.crash_seed == seed:
            raise RuntimeError("queue 3 lost a packet")

    def advance(self, max_events: int, max_rows: int = 2**63) -> dict[str, Any]:
        if not behaviour.stuck_building:
            never_return()
        self.step += 1
        done = self.step >= behaviour.steps
        if behaviour.interrupt_after is not None and behaviour.finished >= behaviour.interrupt_after:
            if behaviour.finished < 10**6:
                behaviour.finished = 10**6
                os.kill(os.getpid(), signal.SIGINT)
                if behaviour.hammer:
                    behaviour.user = threading.Thread(target=always_interrupt)
                    behaviour.user.start()
            time.sleep(0.05)
            done = False
        time.sleep(0.001)
        return {
            "done": done,
            "time_ps": END * self.step // behaviour.steps,
            "end_ps": END,
            "events": self.step * 1000,
            "hops": self.step * 900,
            "rows": 0,
            "flows_started": 10,
            "flows_completed": self.step,
        }

    def results(self) -> dict[str, Any]:
        made = FakeResults(
            self.variant, self.seed, int(self.options.get("unfinished", 0)), self.max_events is not None
        )
        made.allow = self.allow
        with behaviour.lock:
            behaviour.finished += 1
        return {"summary": json.dumps(made.summary()), "tables": made.tables()}


def nodes() -> list[dict[str, Any]]:
    hosts = [{"name": f"h{i}", "tier": "host", "host": True} for i in range(HOSTS)]
    leaves = [{"name": f"leaf{i}", "tier": "leaf", "host": False} for i in range(LEAVES)]
    spines = [{"name": f"spine{i}", "tier": "spine", "host": False} for i in range(SPINES)]
    return hosts + leaves + spines


class FakeResults:
    """Columns of one run."""

    def __init__(self, variant: str, seed: int, unfinished: int, cut: bool) -> None:
        self.variant, self.seed, self.cut = variant, seed, cut
        self.allow = False
        self.shared = np.random.default_rng(seed)
        self.own = np.random.default_rng([seed, *variant.encode()])
        self.end = 30 * MS if cut else END
        self.flows = self.make_flows(40 if cut else unfinished)

    def make_flows(self, unfinished: int) -> dict[str, np.ndarray]:
        rng, n, queries = self.shared, 1500, 8
        burst = 40 * queries
        size = np.where(rng.random(n) < 0.7, rng.integers(2_000, 90_000, n), (rng.pareto(1.2, n) + 1) * 2e5)
        size = np.minimum(size, 3e7).astype(np.uint64)
        start = np.sort(rng.integers(0, 60 * MS, n)).astype(np.uint64)
        query = np.full(n, U32, np.uint32)
        query[:burst] = np.repeat(np.arange(queries), 40)
        size[:burst] = 20_000
        start[:burst] = (np.repeat(np.arange(queries), 40) * 7 + 1) * MS + rng.integers(0, 20 * US, burst)
        src = rng.integers(0, HOSTS, n)
        dst = (src + rng.integers(1, HOSTS, n)) % HOSTS
        dst[:burst] = np.repeat(rng.integers(0, HOSTS, queries), 40)
        src[:burst] = (dst[:burst] + 4 + np.tile(np.arange(40), queries)) % HOSTS
        ideal = (size * 8 * 1e3 * 1.06 + 30 * US).astype(np.uint64)
        factor = {"drop": 1.0, "detour": 0.5, "bounce": 0.6}.get(self.variant, 1.0)
        time = ideal * (1 + rng.exponential(1.5 * factor, n) + self.own.exponential(0.3, n))
        lost = self.own.random(n) < 0.03 * factor
        time += lost * 10 * MS * (1 + (self.own.random(n) < 0.1))
        end = start + time.astype(np.uint64)
        end[self.own.choice(n, unfinished, replace=False)] = U64
        end[(end != U64) & (end > self.end)] = U64 if self.cut else self.end
        measured = ((start >= WINDOW[0]) & (start < WINDOW[1])).astype(np.uint8)
        flows = {"flow": np.arange(n, dtype=np.uint32), "traffic": (np.arange(n) >= burst).astype(np.uint16)}
        flows |= {"query": query, "src": src.astype(np.uint32), "dst": dst.astype(np.uint32), "bytes": size}
        flows |= {"start_ps": start, "end_ps": end, "ideal_ps": ideal, "measured": measured}
        flows |= {"raw": np.zeros(n, np.uint8), "retransmits": (lost * 4).astype(np.uint32)}
        flows |= {"fast_retransmits": (lost * 1).astype(np.uint32), "timeouts": lost.astype(np.uint32)}
        flows |= {"ece_acks": np.zeros(n, np.uint32), "received": np.where(end == U64, size // 2, size)}
        return flows

    def ports(self) -> dict[str, np.ndarray]:
        rows = [(i, 0, HOSTS + i // PER_LEAF) for i in range(HOSTS)]
        for leaf in range(LEAVES):
            rows += [(HOSTS + leaf, p, leaf * PER_LEAF + p) for p in range(PER_LEAF)]
            rows += [(HOSTS + leaf, PER_LEAF + s, HOSTS + LEAVES + s) for s in range(SPINES)]
        for spine in range(SPINES):
            rows += [(HOSTS + LEAVES + spine, leaf, HOSTS + leaf) for leaf in range(LEAVES)]
        node, port, peer = (np.array(column) for column in zip(*rows, strict=True))
        n = len(rows)
        sent = self.own.integers(20_000, 90_000, n).astype(np.uint64)
        columns = {
            "node": node.astype(np.uint32),
            "port": port.astype(np.uint16),
            "peer": peer.astype(np.uint32),
        }
        columns |= {"rate_bps": np.full(n, LINK), "enqueued": sent, "enqueued_bytes": sent * 1000}
        columns |= {"sent": sent, "sent_bytes": sent * 1000, "queued": np.zeros(n, np.uint64)}
        switch = node >= HOSTS
        columns["marked"] = (switch * self.own.integers(0, 60, n)).astype(np.uint64)
        columns["detoured"] = (switch * self.own.integers(0, 40, n) * (self.variant == "detour")).astype(
            np.uint64
        )
        columns["bounced"] = (switch * self.own.integers(0, 30, n) * (self.variant == "bounce")).astype(
            np.uint64
        )
        for reason in DROP_REASONS:
            columns[f"drop_{reason}"] = np.zeros(n, np.uint64)
        if self.variant not in ("detour", "bounce"):
            columns["drop_buffer_full"] = (switch * self.own.integers(0, 25, n)).astype(np.uint64)
        if self.variant == "detour":
            columns["drop_no_detour"] = (switch * self.own.integers(0, 2, n)).astype(np.uint64)
        columns["max_packets"] = (switch * 100).astype(np.uint32)
        columns["max_bytes"] = (switch * 150_000).astype(np.uint64)
        return columns

    def peak(self) -> int:
        return {"drop": 100, "detour": 100, "bounce": 50}.get(self.variant, 90)

    def queue_hist(self) -> dict[str, np.ndarray]:
        nodes, packets, times = [], [], []
        for leaf in range(6):
            for level in range(0, self.peak() + 1):
                nodes.append(HOSTS + leaf)
                packets.append(level)
                times.append(int(MS * 4 * np.exp(-level / (30 - 4 * leaf)) * (1 + 0.1 * self.own.random())))
        n = len(nodes)
        columns = {"node": np.array(nodes, np.uint32), "port": np.zeros(n, np.uint16)}
        columns |= {"packets": np.array(packets, np.uint32), "time_ps": np.array(times, np.uint64)}
        columns["arrivals"] = (columns["time_ps"] // (12 * US)).astype(np.uint64)
        return columns

    def queue_trace(self) -> dict[str, np.ndarray]:
        rows = []
        bins = int(self.end // BIN)
        for leaf in range(6):
            for start in range(10, bins, 70):
                length = int(self.own.integers(8, 25))
                for step in range(min(length, bins - start)):
                    level = self.peak() * (1 - step / length) / (1 + leaf) + self.own.random() * 3
                    rows.append((start + step, HOSTS + leaf, 0, min(level * 1.1, self.peak()), level * 0.8))
        bin_, node, port, high, mean = zip(*rows, strict=True)
        columns = {"bin": np.array(bin_, np.uint32), "node": np.array(node, np.uint32)}
        columns |= {"port": np.array(port, np.uint16), "max_packets": np.array(high, np.uint32)}
        return columns | {"mean_packets": np.array(mean, np.float64)}

    def activity(self) -> dict[str, np.ndarray]:
        kinds = {"detour": (1, 2), "bounce": (1, 3)}.get(self.variant, (0, 1))
        rows = []
        bins = int(self.end // BIN)
        for kind in kinds:
            for switch in range(LEAVES + SPINES):
                for start in range(10, bins, 70):
                    for step in range(min(int(self.own.integers(1, 20)), bins - start)):
                        count = self.own.poisson(30 / (1 + switch) * np.exp(-step / 6))
                        if count:
                            rows.append((start + step, HOSTS + switch, kind, count))
        bin_, node, kind, count = zip(*rows, strict=True)
        columns = {"bin": np.array(bin_, np.uint32), "node": np.array(node, np.uint32)}
        return columns | {"kind": np.array(kind, np.uint8), "count": np.array(count, np.uint64)}

    def packet_hist(self) -> dict[str, np.ndarray]:
        rows = []
        low = 8 * US
        for bucket in range(40):
            high = int(low * 1.25)
            count = int(50_000 * np.exp(-(((bucket - 8) / 5) ** 2)) + self.own.integers(1, 9))
            rows.append((1, 0, low, high, count, count * (low + high) / 2))
            low = high
        for hops, count in ((2, 5000), (4, 150_000), (6, 900 if self.variant != "drop" else 0)):
            rows.append((1, 1, hops, hops + 1, count, hops * count))
        for metric, name in ((2, "detour"), (3, "bounce")):
            some = 900 if self.variant == name else 0
            rows += [(1, metric, 0, 1, 155_900 - some, 0.0), (1, metric, 1, 2, some, some)]
        columns = list(zip(*rows, strict=True))
        dtypes = (np.uint8, np.uint8, np.uint64, np.uint64, np.uint64, np.float64)
        names = ("data", "metric", "low", "high", "count", "sum")
        return {name: np.array(c, t) for name, c, t in zip(names, columns, dtypes, strict=True)}

    def tables(self) -> dict[str, dict[str, tuple[str, bytes]]]:
        made = {
            "flows": self.flows,
            "ports": self.ports(),
            "queue_hist": self.queue_hist(),
            "queue_trace": self.queue_trace(),
            "activity": self.activity(),
            "packet_hist": self.packet_hist(),
        }
        short = {
            "uint8": "u8",
            "uint16": "u16",
            "uint32": "u32",
            "uint64": "u64",
            "int64": "i64",
            "float64": "f64",
        }
        return {
            name: {key: (short[str(column.dtype)], column.tobytes()) for key, column in columns.items()}
            for name, columns in made.items()
        }

    def summary(self) -> dict[str, Any]:
        measured = self.flows["measured"] != 0
        open_ended = self.flows["end_ps"] == U64
        seconds = (WINDOW[1] - WINDOW[0]) / 1e12
        wire = {"host": {"bits": 0.34 * LINK * HOSTS * seconds, "capacity_bps": LINK * HOSTS}}
        return {
            "variant": self.variant,
            "seed": self.seed,
            "nodes": nodes(),
            "traffic": [
                {"name": "burst", "kind": "incast", "offered": None},
                {
                    "name": "background",
                    "kind": "poisson",
                    "offered": {"fraction": 0.3, "of": "host", "bytes": "payload", "bps": 0.3 * LINK * HOSTS},
                },
            ],
            "bin_ps": BIN,
            "end_ps": self.end,
            "window_ps": list(WINDOW),
            "stop": "max_events" if self.cut else "drained_out" if open_ended.any() else "done",
            "events": 1_234_567,
            "hops": 987_654,
            "conserved": not behaviour.unconserved,
            "flows": {
                "started": len(measured),
                "completed": int((~open_ended).sum()),
                "measured": int(measured.sum()),
                "unfinished": int((measured & open_ended).sum()),
                "raw": 0,
            },
            "wire_bits": wire,
            "received_bytes": [int(5e6), int(0.29 * LINK * HOSTS * seconds / 8)],
            "drain_ps": 20 * MS,
            "allow_unfinished": self.allow,
        }
