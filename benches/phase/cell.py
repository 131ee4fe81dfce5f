"""Scenario of the phase study: a network, a transport, jitter and clock errors."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import overspill
from overspill import OverspillError
from overspill.stats.paired import half_width, mean

SEEDS = 8  # seeds of long flows
MIN_FAIR_JAIN = 0.9  # Jain's index; long flows that share a link with less are unfair
FRAME_BYTES = 1538  # bytes of a full-size frame with preamble and gap
LONG_FLOW_SECONDS = 5  # duration of long flows: many timeouts at any rate
BUFFER_PACKETS = 100
MARKING_THRESHOLDS = {1: 20, 10: 65}
NETWORKS = {
    "dumbbell": ("n = 16", "h0 h1", "h16 h17", 16, "h16"),
    "star": ("n = 17", "h0 h1", "h16 h16", 16, "h16"),
    "leaf_spine": ("leaves = 5\nspines = 2\nhosts_per_leaf = 4", "h0 h4", "h16 h16", 16, "h16"),
    "fat_tree": ("k = 4", "h0 h4 h8", "h12 h12 h12", 12, "h12"),
}
TRANSPORTS = {
    "Linux, Reno": 'kind = "linux"\ncongestion_control = "reno"',
    "Linux, CUBIC": 'kind = "linux"',
    "Linux, DCTCP": 'kind = "linux_dctcp"',
    "RFC 6675, Reno": 'kind = "sack"',
    "RFC 6675, CUBIC": 'kind = "cubic"',
    "RFC 6675, DCTCP": 'kind = "dctcp"\nrecovery = "sack"',
}
START_OFFSETS = ("0ns", "1ns", "frame")


@dataclass(frozen=True)
class Cell:
    """A network at a rate, a transport, mean jitter in frames, and clock errors in ppm."""

    gbps: int
    network: str
    law: str  # key of `TRANSPORTS`, or the text of `[transport]`
    frames: float
    ppm: int

    @property
    def frame_ns(self) -> int:
        """Transmission time of a full-size frame in ns."""
        return FRAME_BYTES * 8 // self.gbps

    def scenario(self, duration: float, traffic: str) -> str:
        """Returns a scenario with this traffic."""
        link = f'{{ rate = "{self.gbps}Gbps", delay = "10us" }}'
        middle = f"\nbottleneck = {link}" if self.network == "dumbbell" else ""
        marks = f'marking = {{ kind = "ecn_threshold", k = "{MARKING_THRESHOLDS[self.gbps]}pkt" }}\n'
        buffer = f'buffer = {{ kind = "per_port", size = "{BUFFER_PACKETS}pkt" }}\n'
        return (
            f'name = "phase"\nduration = "{duration}s"\n'
            f'[host]\nnic_jitter = "{round(self.frames * self.frame_ns)}ns"\nclock_ppm = {self.ppm}\n'
            f'[topology]\nkind = "{self.network}"\n{NETWORKS[self.network][0]}\nlink = {link}{middle}\n'
            f"[switch]\n{buffer}clock_ppm = {self.ppm}\n{marks if self.law.endswith('DCTCP') else ''}"
            f'[transport]\n{TRANSPORTS.get(self.law, self.law)}\nmin_rto = "10ms"\n'
            f'[measure]\ndrain = "5s"\n[[traffic]]\n{traffic}'
        )

    def long_flows_scenario(self, move: str, seconds: int = LONG_FLOW_SECONDS) -> str:
        """Returns the scenario of long flows that share one link."""
        _, sources, destinations, _, _ = NETWORKS[self.network]
        ends = f"sources = {json.dumps(sources.split())}\ndestinations = {json.dumps(destinations.split())}\n"
        head = f'name = "long"\nkind = "long_lived"\njitter = "{move}"\n'
        return self.scenario(seconds, head + ends)

    def incast_scenario(self, move: str) -> str:
        """Returns the scenario of one incast query."""
        _, _, _, senders, receiver = NETWORKS[self.network]
        who = f'senders = {senders}\nreceiver = "{receiver}"\npick = "first"\nsize = "64KB"\n'
        return self.scenario(0.02, f'name = "query"\nkind = "incast"\njitter = "{move}"\n{who}')


def run_metric(text: str, name: str, seeds: int) -> list[float]:
    """Runs the scenario and returns the metric of every seed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "phase.toml"
        file.write_text(text)
        results = overspill.run(file, seeds=seeds)
    found = [float(one) for one in results.metric(name).column("value").to_pylist()]
    if len(found) != seeds:
        raise OverspillError(f"{name} of {len(found)} seeds, not {seeds}: a run was stopped")
    return found


def format_interval(values: list[float]) -> str:
    """Formats a mean and its 95% interval."""
    return f"{mean(values):.1f} ± {half_width(values) or 0.0:.1f}"
