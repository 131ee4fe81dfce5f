"""Random lossy flows on the kernel of this machine and on the transport `linux`, packet by packet.

A process in a network namespace of its own plays the far end and the network of the kernel's TCP through a
TUN device, and writes down what the kernel sends and which window it has after each event. The tests of the
crate `dataplane` play the same to `linux`, and report the first difference. It needs Linux and root.
"""

import argparse
import multiprocessing
import os
import platform
import subprocess
import sys
from collections import Counter
from pathlib import Path

import kernel_cases
import receive
import record
import scenario
import wire

ROOT = Path(__file__).resolve().parents[3]
OUT = ROOT / "out" / "bench-linux-exact"
# Attempts to record a flow; an attempt fails if the machine was late.
MAX_TRIES = 5
# Smallest share of recorded flows that must agree in every segment and window.
MIN_AGREEMENT = 0.95
COMPARE_COMMAND = ["cargo", "test", "--quiet", "--package", "dataplane", "--lib", "kernel::flows_of_a_file"]


def _record(seeds: list[int], path: Path, receives: bool) -> None:
    tun = wire.enter_namespace()
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
    listener = receive.open_listener() if receives else None
    with path.open("w") as out:
        for seed in seeds:
            for _ in range(MAX_TRIES):
                try:
                    if listener:
                        port = 20_000 + seed % 40_000
                        lines = receive.Player(tun, receive.draw_stream(seed), listener, port).play()
                    else:
                        lines = record.Player(tun, scenario.draw_flow(seed)).play()
                except record.TimingDisturbed:
                    continue
                out.write("\n".join(lines) + "\n")
                break


def _record_all(seeds: range, jobs: int, receives: bool) -> Path:
    OUT.mkdir(parents=True, exist_ok=True)
    whole = OUT / f"{'arrivals' if receives else 'flows'}-{seeds.start}-{len(seeds)}.txt"
    parts = [whole.with_suffix(f".{n}") for n in range(jobs)]
    running = [
        multiprocessing.Process(target=_record, args=(list(seeds)[n::jobs], part, receives))
        for n, part in enumerate(parts)
    ]
    for job in running:
        job.start()
    for job in running:
        job.join()
    whole.write_text("".join(part.read_text() for part in parts))
    for part in parts:
        part.unlink()
    return whole


def _compare(path: Path) -> float:
    """Prints the differences in a recording and returns the share of flows that agree."""
    told = subprocess.run(
        [*COMPARE_COMMAND, "--", "--ignored", "--nocapture"],
        cwd=ROOT,
        env={**os.environ, "OVERSPILL_FLOWS": str(path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    differs = [line.split(" ", 5) for line in told if line.startswith("differs ")]
    for _, seed, _, line, kind, text in differs:
        print(f"  seed {seed}, line {line}: {kind}: {text}")
    agree, of = next(
        (int(line.split()[1]), int(line.split()[3])) for line in told if line.startswith("agree ")
    )
    counts = Counter(words[4] for words in differs).most_common()
    kinds = ", ".join(f"{kind} {count}" for kind, count in counts)
    print(f"{path.name}: {agree} of {of} agree ({agree / of:.1%}); first differences: {kinds or 'none'}")
    return agree / of


def main() -> int:
    """Records flows and arrivals, and compares them; returns 1 if too few agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first flow")
    parser.add_argument("--flows", type=int, default=1000, help="number of flows")
    parser.add_argument("--arrivals", type=int, default=500, help="number of streams of arrivals")
    parser.add_argument("--jobs", type=int, default=16, help="flows at a time")
    parser.add_argument("--cases", type=Path, help="play these cases of conformance/tcp to the kernel")
    of = parser.parse_args()
    try:
        if of.cases:
            return min(kernel_cases.play_cases(wire.enter_namespace(), of.cases), 1)
        print(f"Linux {platform.release()}")
        flows = _record_all(range(of.seed, of.seed + of.flows), of.jobs, receives=False)
        arrivals = _record_all(range(of.seed, of.seed + of.arrivals), of.jobs, receives=True)
    except (wire.Unavailable, PermissionError) as error:
        print(f"not run: {error}", file=sys.stderr)
        return 2
    return int(min(_compare(flows), _compare(arrivals)) < MIN_AGREEMENT)


if __name__ == "__main__":
    sys.exit(main())
