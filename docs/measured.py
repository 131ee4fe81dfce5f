"""Measured numbers that pages quote: `python docs/measured.py` runs the scenarios into `docs/measured.csv`.

With names of measurements it runs these alone and keeps the other rows. A test compares pages and file.
"""

import argparse
import csv
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import overspill
from overspill.papers import paper_code
from overspill.results import metric_key
from overspill.results.results import Results
from overspill.results.rundata import RunData
from overspill.stats import paired

ROOT = Path(__file__).resolve().parents[1]
MEASURED_CSV = Path(__file__).with_suffix(".csv")
NUMBER_COLUMNS = ("mean", "ci95", "smallest", "largest")
COLUMNS = ("measurement", "variant", "metric", "unit", "seeds", *NUMBER_COLUMNS, "command")
SCALES = {"": 1.0, "ms": 1e3, "us": 1e6, "Gb/s": 1e-9, "KB": 1e-3, "%": 100.0}
LINUX_DCTCP = (
    '{{ kind = "linux_dctcp", mss = "1446B", min_rto = "10ms", initial_rto = "10ms", '
    'connection = "handshake"{} }}'
)
Sets = Mapping[str, str]


@dataclass(frozen=True)
class Measurement:
    """Runs of one scenario, and the metrics of each variant with their units."""

    scenario: str
    metrics: Mapping[str, str]
    sets: Sets = field(default_factory=dict)
    variants: Sequence[str] = ()
    seeds: int = 1

    @property
    def command(self) -> str:
        """Shell command that makes the same runs."""
        words = [".venv/bin/overspill", "run", self.scenario]
        words += ["--seeds", str(self.seeds)] if self.seeds > 1 else []
        words += ["--variants", ",".join(self.variants)] if self.variants else []
        words += [word for path, value in self.sets.items() for word in ("--set", f"{path}={value}")]
        return shlex.join(words)

    def run(self) -> Results:
        """Returns the finished runs, held in memory."""
        sets = [f"{path}={value}" for path, value in self.sets.items()]
        chosen = self.variants or None
        return overspill.run(ROOT / self.scenario, seeds=self.seeds, sets=sets, variants=chosen)

    def rows(self, name: str) -> Iterator[tuple[str, ...]]:
        """Yields the rows of the file for these runs."""
        results = self.run()
        for variant in self.variants or results.variants:
            for metric, unit in self.metrics.items():
                values = [SCALES[unit] * value for value in metric_by_seed(results, variant, metric)]
                half = paired.half_width(values) if len(values) > 1 else None
                numbers = (paired.mean(values), "" if half is None else half, min(values), max(values))
                texts = (one if isinstance(one, str) else f"{one:.6g}" for one in numbers)
                yield name, variant, metric, unit, str(len(values)), *texts, self.command


def goodput_from_110_to_150_ms(run: RunData) -> float:
    """Payload rate of the victim's receiver h1 in the last 40 ms of both flows, in bit/s."""
    bins, nodes, received = run.columns("host_goodput", "bin", "node", "bytes")
    width = run.summary["bin_ps"]
    first, last = 110_000_000_000 // width, 150_000_000_000 // width
    mask = (nodes == 1) & (bins >= first) & (bins < last)
    return float(received[mask].astype(np.float64).sum()) * 8 / 0.04


def packet_hops(run: RunData) -> float:
    """Number of links crossed by packets, over all packets."""
    return float(run.summary["hops"])


def lossless_segments(run: RunData) -> float:
    """Data segments of 1460 B that flows need without losses."""
    (sizes,) = run.columns("flows", "bytes")
    return float(np.ceil(sizes / 1460).sum())


def port_columns(run: RunData, host: str, table: str, *names: str) -> Iterator[np.ndarray]:
    """Returns columns of a table, at the port of the star's switch that leads to a host."""
    switch = len(run.summary["nodes"]) - 1
    nodes, ports, *columns = run.columns(table, "node", "port", *names)
    mask = (nodes == switch) & (ports == int(host.removeprefix("h")))
    return (column[mask].astype(np.float64) for column in columns)


def marked_share(run: RunData) -> float:
    """Marked frames divided by sent frames, at the port to h0."""
    sent, marked = port_columns(run, "h0", "ports", "sent", "marked")
    return float(marked[0] / sent[0])


def mean_packets(run: RunData) -> float:
    """Time-weighted mean length of the queue to h0 in frames."""
    packets, time = port_columns(run, "h0", "queue_hist", "packets", "time_ps")
    return float((packets * time).sum() / time.sum())


def jain_of_received_bytes(run: RunData) -> float:
    """Jain's index of the received bytes of flows."""
    (received,) = run.columns("flows", "received")
    shares = received.astype(np.float64)
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


# Measures of these pages that are not metrics of results.
PAGE_METRICS: Mapping[str, Callable[[RunData], float]] = {
    "goodput_from_110_to_150_ms": goodput_from_110_to_150_ms,
    "jain_of_all": jain_of_received_bytes,
    "marked_share": marked_share,
    "mean_queue_of_1066_B": lambda run: 1066 * mean_packets(run),
    "mean_queue_of_1522_B": lambda run: 1522 * mean_packets(run),
    "packet_hops": packet_hops,
    "segments": lossless_segments,
}


def metric_by_seed(results: Results, variant: str, metric: str) -> list[float]:
    """Values of a metric or of a measure of these pages, by seed."""
    if metric in PAGE_METRICS:
        return [PAGE_METRICS[metric](run) for run in results.runs_of(variant)]
    return [
        float(values[metric_key.parse_known_key(metric)].value) for values in results.values[variant].values()
    ]


def fabric_settings(times: int = 1, stages: int = 2) -> Sets:
    """Settings that multiply all rates and sizes of papers/qcn-os/fabric.toml, except frames and timers."""

    def rate(gbps: float) -> str:
        return f"{gbps * times:g}Gbps"

    def size(kb: int) -> str:
        return f"{kb * times}KB"

    sets = {"duration": "150ms", "measure.goodput": "hosts"}
    if times > 1:
        sets |= {
            "topology.link": f'{{ rate = "{rate(10)}", delay = "250ns" }}',
            "switch.fabric.link_rate": rate(2.5),
            "switch.fabric.link_buffer": size(32),
            "switch.fabric.stage_buffer": size(32),
            "switch.input_buffer": size(150),
            "switch.buffer.size": size(150),
            "switch.pause.xoff": size(110),
            "switch.pause.xon": size(44),
        }
        for flow in ("f1", "f2"):
            sets |= {
                f"traffic.{flow}.rate": rate(5),
                f"traffic.{flow}.backlog": size(64),
                # The time of one frame at the flow's rate, as in the scenario.
                f"traffic.{flow}.jitter": f"{2_467_200 // times}ps",
            }
        for variant in FABRIC_VARIANTS[1:]:
            notify, reaction = f"variants.{variant}.switch.notify", f"variants.{variant}.host.reaction"
            sets |= {
                f"{notify}.q_eq": size(60),
                f"{notify}.interval": size(150),
                f"{reaction}.byte_counter": size(150),
                f"{reaction}.r_ai": f"{5 * times}Mbps",
                f"{reaction}.r_hai": f"{50 * times}Mbps",
                f"{reaction}.min_rate": f"{5 * times}Mbps",
            }
    if stages > 2:
        sets |= {"switch.fabric.elements": str(stages), "topology.n": str(2 * stages)}
    return sets


FABRIC_VARIANTS = ("pfc", "os_in", "two_samples", "os_acks")
VICTIM_METRICS = {"goodput_from_110_to_150_ms": "Gb/s"}
QUERY_METRICS = {"qct_mean": "ms", "drops": ""}
CIOQ_MODEL = {"switch.model": "cioq"}


def measure_fabric(sets: Sets, variants: Sequence[str] = FABRIC_VARIANTS) -> Measurement:
    """Runs of QCN-OS's blocking fabric with other settings."""
    return Measurement("papers/qcn-os/fabric.toml", VICTIM_METRICS, sets, variants, 5)


def measure_models(
    name: str, scenario: str, variants: Mapping[str, str], seeds: int
) -> dict[str, Measurement]:
    """Runs of an example scenario with both switch models; each variant has a counter of its own."""
    return {
        f"{name}, {variant}, {model}": Measurement(
            scenario, QUERY_METRICS | ({count: ""} if count else {}), sets, (variant,), seeds
        )
        for variant, count in variants.items()
        for model, sets in (("output_queued", {}), ("cioq", {f"variants.{variant}.switch.model": "cioq"}))
    }


def measure_pabo(packets: int, more: Sets, metrics: Mapping[str, str], variant: str) -> Measurement:
    """Runs of PABO's section V with switches that have input buffers."""
    sets = {**CIOQ_MODEL, "traffic.bursts.packets": str(packets), **more}
    return Measurement("papers/pabo/hop_by_hop.toml", metrics, sets, (variant,), 10)


def measure_abq(more: str) -> Measurement:
    """Runs of ABQ's network of 1000 hosts with modern Linux hosts."""
    sets = {"variants.abq.transport": LINUX_DCTCP.format(more)}
    return Measurement(
        "papers/abq/scale.toml", {"hold_time_mean": "ms", "drops[reason=hold_full]": ""}, sets, ("abq",)
    )


def measure_dcqcn(gbps: int, flows: int) -> Measurement:
    """Runs of raw flows that DCQCN limits, with thresholds in proportion to the link rate."""
    sources = ", ".join(f'"h{n}"' for n in range(1, flows + 1))
    sets = {
        "topology.n": str(flows + 1),
        "topology.link.rate": f"{gbps}Gbps",
        "traffic.long.rate": f"{gbps}Gbps",
        "traffic.long.sources": f"[{sources}]",
        "switch.marking.min": f"{4 * gbps}KB",
        "switch.marking.max": f"{16 * gbps}KB",
    }
    metrics = {"marked_share": "%", "mean_queue_of_1522_B": "KB", "jain_of_all": ""}
    return Measurement("docs/measured/dcqcn.toml", metrics, sets, seeds=3)


LOSS_METRICS = {"drops": "", "drop_ratio": "%"}
SMALL_INPUTS = {"switch.input_buffer": "6KB", "switch.speedup": "3"}
MEASUREMENTS: Mapping[str, Measurement] = {
    "roce_incast": Measurement("docs/measured/roce_incast.toml", {"drops": "", "retransmits": ""}),
    "roce_qcn": Measurement("docs/measured/roce_qcn.toml", {"mean_queue_of_1066_B": "KB"}),
    **{
        f"dcqcn, {gbps} Gb/s, {flows}": measure_dcqcn(gbps, flows)
        for gbps, flows in ((40, 2), (40, 4), (40, 10), (25, 2), (100, 2))
    },
    "roce_tcp": Measurement(
        "scenarios/roce_tcp.toml",
        {"fct_p99[size=0-100KB]": "us", "qct_mean": "ms", "pauses": "", "drops": ""},
        seeds=5,
    ),
    **measure_models(
        "incast",
        "scenarios/incast.toml",
        {"detour": "detours", "bounce": "bounces", "drop": ""},
        10,
    ),
    **measure_models("trim", "scenarios/trim.toml", {"cp": "trims", "uec": "trims", "drop": ""}, 5),
    **measure_models("abq", "scenarios/abq.toml", {"abq": "held_acks"}, 5),
    "fabric, 10 Gb/s": measure_fabric(fabric_settings()),
    "fabric, 40 Gb/s": measure_fabric(fabric_settings(4)),
    "fabric, 100 Gb/s": measure_fabric(fabric_settings(10)),
    "fabric, eight stages": measure_fabric(fabric_settings(stages=8)),
    "fabric, round_robin": measure_fabric(
        {**fabric_settings(), "switch.arbiter": '{ kind = "round_robin" }'}, ("two_samples", "os_acks")
    ),
    **{
        f"pabo inputs, {packets}": measure_pabo(packets, {}, {"input_bytes_max": "KB"}, "pabo")
        for packets in (501, 1501, 2501)
    },
    **{
        f"pabo inputs, {size}": measure_pabo(501, {"switch.input_buffer": size}, {"drops": ""}, "pabo")
        for size in ("120KB", "100KB")
    },
    **{
        f"pabo small inputs, {packets}": measure_pabo(packets, SMALL_INPUTS, LOSS_METRICS, "without")
        for packets in (501, 2501)
    },
    "packet_bounce": Measurement(
        "scenarios/packet_bounce.toml", {"drops": "", "drop_ratio": "%", "bounced_share": "%"}, seeds=10
    ),
    "bounce_storm": Measurement(
        "docs/measured/bounce_storm.toml",
        {
            "slowdown_mean[traffic=search]": "",
            "bounces": "",
            "drops": "",
            "drops[reason=ttl_expired]": "",
        },
        seeds=10,
    ),
    "abq, linux_dctcp": measure_abq(""),
    "abq, linux_dctcp, 65535 B": measure_abq(', receive_window = "65535B"'),
    "trim": Measurement(
        "scenarios/trim.toml", {"packet_hops": "", "qct_mean": "ms"}, variants=("drop", "cp", "ndp")
    ),
    "trim, ndp": Measurement(
        "scenarios/trim.toml", {"trims": "", "returned": "", "segments": ""}, variants=("ndp",)
    ),
    **{
        f"trim, one query of {senders}": Measurement(
            "scenarios/trim.toml",
            {"trims": ""},
            {"traffic.query.senders": str(senders), "traffic.query.repeat": "1"},
            ("ndp",),
        )
        for senders in (10, 20, 40)
    },
}


def read_rows(path: Path = MEASURED_CSV) -> list[dict[str, str]]:
    """Returns the rows of the file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_measurements(chosen: Iterable[str]) -> None:
    """Runs these measurements and writes their rows after each; the other rows stay."""
    paper_code.make_inputs(ROOT / "papers/abq")  # flows of `papers/abq/scale.toml`, not in git
    rows: dict[str, list[tuple[str, ...]]] = {name: [] for name in MEASUREMENTS}
    for row in read_rows() if MEASURED_CSV.exists() else ():
        if row["measurement"] in rows:
            rows[row["measurement"]].append(tuple(row[column] for column in COLUMNS))
    for name in chosen:
        print(f"{name}: {MEASUREMENTS[name].command}", flush=True)
        rows[name] = list(MEASUREMENTS[name].rows(name))
        with MEASURED_CSV.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(COLUMNS)
            out.writerows(row for made in rows.values() for row in made)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measurement", nargs="*", help="names of measurements (default: all)")
    write_measurements(parser.parse_args().measurement or MEASUREMENTS)
