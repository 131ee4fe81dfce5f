"""Results in the formats of other tools, and flows that can be run again."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from overspill import atomic_files
from overspill.errors import BadInput
from overspill.results import results_folder, summary_tables
from overspill.results.columns import U32_NONE, U64_NONE
from overspill.results.results import Results
from overspill.results.rundata import RunData

PS_PER_NS = 1000
# Destination ports by which scripts of the HPCC simulator distinguish incast from everything else.
OTHER_DESTINATION_PORT, INCAST_DESTINATION_PORT = 100, 200
FIRST_SOURCE_PORT, SOURCE_PORTS = 10_000, 50_000


@dataclass(frozen=True)
class ExportedFile:
    """Exported file, and the number of unfinished flows of the run that it leaves out."""

    path: Path
    unfinished: int


def hpcc_address(node: int) -> int:
    """Returns the IPv4 address of a node as in the HPCC simulator.

    It is 11.x.y.1, where x and y are the bytes of the node's id.
    """
    return 0x0B00_0001 + (node // 256 << 16) + (node % 256 << 8)


def host_ids(run: RunData) -> np.ndarray:
    """Returns the id of each host: its name if all nodes have numbers as names, else its number.

    Raises `BadInput` for an id above 65535, which has no address.
    """
    nodes = run.summary["nodes"]
    if all(node["name"].isascii() and node["name"].isdigit() for node in nodes):
        found = [int(node["name"]) for node in nodes]
    else:
        found = list(range(len(nodes)))
    hosts = [i for i, node in zip(found, nodes, strict=True) if node["host"]]
    if hosts and max(hosts) > 0xFFFF:
        raise BadInput(
            f"{run.variant}: found a host with id {max(hosts)}; expected ids up to 65535, the largest in "
            "an address"
        )
    return np.array(hosts, np.int64)


def round_to_ns(ps: np.ndarray) -> np.ndarray:
    """Rounds picoseconds to the nearest nanosecond."""
    return np.asarray((ps.astype(np.uint64) + np.uint64(PS_PER_NS // 2)) // np.uint64(PS_PER_NS))


def exported_flow_columns(run: RunData, *names: str) -> dict[str, np.ndarray]:
    """Returns columns of those flows that have a transport and are not endless."""
    table = run.table("flows")
    if table is None:
        return {name: np.zeros(0, np.uint64) for name in names}
    keep = run.column("flows", "raw") == 0
    workloads = run.summary["traffic"]
    endless = [i for i, workload in enumerate(workloads) if workload.get("endless")]
    keep &= ~np.isin(run.column("flows", "traffic"), endless)
    return {name: run.column("flows", name)[keep] for name in names if name in table.column_names}


def format_hpcc(run: RunData) -> tuple[str, int]:
    """Returns the text of HPCC's `fct.txt`, one line per finished flow, and the number of unfinished flows.

    Fields are: sip dip sport dport size start_ns fct_ns standalone_fct_ns. Lines are in the order of the
    flows' ends. `standalone_fct` is this simulator's: the FCT of the same flow alone.
    """
    found = exported_flow_columns(
        run, "src", "dst", "bytes", "start_ps", "end_ps", "ideal_ps", "query", "role"
    )
    data = found.get("role", np.zeros(len(found["src"]), np.uint8)) == 0
    done = data & (found["end_ps"] != U64_NONE)
    columns = {name: values[done] for name, values in found.items()}
    order = np.argsort(columns["end_ps"], kind="stable")
    host = host_ids(run)
    times = [columns["start_ps"], columns["end_ps"] - columns["start_ps"], columns["ideal_ps"]]
    start, fct, alone = (round_to_ns(each) for each in times)
    pairs: Counter[tuple[int, int]] = Counter()
    ports = np.zeros(len(order), np.int64)
    for at, pair in enumerate(zip(columns["src"].tolist(), columns["dst"].tolist(), strict=True)):
        ports[at] = FIRST_SOURCE_PORT + pairs[pair] % SOURCE_PORTS
        pairs[pair] += 1
    lines = []
    for at in order.tolist():
        src, dst = (hpcc_address(int(host[columns[end][at]])) for end in ("src", "dst"))
        incast = columns["query"][at] != U32_NONE
        port = INCAST_DESTINATION_PORT if incast else OTHER_DESTINATION_PORT
        told = f"{ports[at]} {port} {columns['bytes'][at]}"
        lines.append(f"{src:08x} {dst:08x} {told} {start[at]} {fct[at]} {max(1, alone[at])}\n")
    return "".join(lines), int(np.count_nonzero(data & ~done))


def format_trace(run: RunData) -> tuple[str, int]:
    """Returns all flows but raw and endless ones as lines that `kind = "trace"` reads, and 0.

    Unfinished flows are included, so the number of flows left out is 0. Lines have queries if there are any.
    """
    found = exported_flow_columns(run, "start_ps", "src", "dst", "bytes", "traffic", "query")
    names = [summary_tables.escape_formula(node["name"]) for node in run.summary["nodes"]]
    workloads = [summary_tables.escape_formula(one["name"]) for one in run.summary["traffic"]]
    asked = bool((found["query"] != U32_NONE).any())
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("start", "source", "destination", "bytes", *(["query"] if asked else [])))
    for start, src, dst, size, traffic, query in zip(*(one.tolist() for one in found.values()), strict=True):
        label = "" if query == U32_NONE else f"{workloads[traffic]} {query}"
        writer.writerow((f"{start}ps", names[src], names[dst], size, *([label] if asked else [])))
    return out.getvalue(), 0


FORMATS: dict[str, tuple[Callable[[RunData], tuple[str, int]], str, str]] = {
    "hpcc": (format_hpcc, "fct", "txt"),
    "csv": (format_trace, "flows", "csv"),
}


def load(folder: Path) -> Results:
    """Returns the results to export; raises `BadInput` unless `overspill run` wrote them."""
    if results_folder.is_sweep_manifest(results_folder.parse_manifest(folder, "`overspill run`")):
        raise BadInput(
            f"{folder}: found a sweep; expected a folder of `overspill run`, since a sweep keeps flows "
            "only with `--tables flows`"
        )
    return Results.load(folder)


def write(
    results: Results, form: str, out: Path | None = None, only: tuple[str | None, int | None] = (None, None)
) -> Iterator[ExportedFile]:
    """Writes runs in a format of another tool, one file per run.

    Args:
        results: Results of a single point.
        form: `hpcc` (`fct_SCENARIO_VARIANT_SEED.txt`) or `csv` (`flows_....csv`).
        out: Folder of the files, or the file itself, with a suffix, if there is one run. Default: `export` in
            the folder of the results.
        only: Variant and seed to write; `None` for all.

    Yields:
        Each file as it is written.

    Raises:
        BadInput: If the format, the variant or the seed does not exist, or a file cannot be written.

    Examples:
        >>> import overspill
        >>> from pathlib import Path
        >>> results = overspill.run("incast.toml", variants=["drop"])
        >>> for written in overspill.export.write(results, "csv", Path("flows.csv")):
        ...     print(written.path, written.unfinished)
        flows.csv 0

    """
    if form not in FORMATS:
        raise BadInput(f"--format: found {form!r}; expected one of {', '.join(FORMATS)}")
    make, stem, suffix = FORMATS[form]
    variant, seed = only
    if variant is not None and variant not in results.variants:
        raise BadInput(f"--variants: found {variant!r}; expected one of {', '.join(results.variants)}")
    runs = [run for name in results.variants for run in results.runs_of(name) if variant in (None, name)]
    runs = [run for run in runs if seed in (None, run.seed)]
    if not runs:
        raise BadInput(
            f"--seed: found {seed}; expected the seed of a run: {', '.join(map(str, seeds_of(results)))}"
        )
    single = out is not None and bool(out.suffix) and not out.is_dir()
    if single and len(runs) > 1:
        raise BadInput(
            f"--out: found the file {out} for {len(runs)} runs; expected a folder, or --variants and --seed"
        )
    folder = out or (results.folder or Path()) / "export"
    for run in runs:
        scenario, variant = map(results_folder.path_component, (results.scenario, run.variant))
        name = f"{stem}_{scenario}_{variant}_{run.seed}.{suffix}"
        path = folder if single else folder / name
        text, unfinished = make(run)
        with atomic_files.report_write_errors(path, BadInput):
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_files.write_text(path, text)
        yield ExportedFile(path, unfinished)


def seeds_of(results: Results) -> list[int]:
    """Returns the seeds of all runs."""
    return sorted({run.seed for run in results.runs})
