"""Random lossy flows on the kernel of this machine and on the transport `linux`, packet by packet."""

import argparse
import multiprocessing
import os
import sys
from pathlib import Path

import cases
import receive
import record
import scenario
import wire

TRIES = 3


def _record(seeds: list[int], path: Path, receives: bool) -> None:
    tun = wire.enter_namespace()
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))
    listener = receive.listen() if receives else None
    with path.open("w") as out:
        for seed in seeds:
            for _ in range(TRIES):
                try:
                    if listener:
                        port = 20_000 + seed % 40_000
                        lines = receive.Player(tun, receive.draw(seed), listener, port).play()
                    else:
                        lines = record.Player(tun, scenario.draw(seed)).play()
                except record.Disturbed as why:
                    print(f"flow {seed}: {why}; again", file=sys.stderr)
                    continue
                out.write("\n".join(lines) + "\n")
                out.flush()
                break


def main() -> int:
    """Records flows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first flow")
    parser.add_argument("--flows", type=int, default=200, help="number of flows")
    parser.add_argument("--jobs", type=int, default=12, help="flows at a time")
    parser.add_argument("--out", type=Path, default=Path("out/bench-linux-exact"))
    parser.add_argument("--receiver", action="store_true", help="arrivals at the receiver, not flows of the sender")
    parser.add_argument("--cases", type=Path, help="play the cases of a file of conformance/tcp to the kernel")
    of = parser.parse_args()
    if of.cases:
        return min(cases.play(wire.enter_namespace(), of.cases), 1)
    of.out.mkdir(parents=True, exist_ok=True)
    seeds = list(range(of.seed, of.seed + of.flows))
    jobs = []
    for n in range(of.jobs):
        path = of.out / f"{of.seed}-{n}.txt"
        jobs.append(multiprocessing.Process(target=_record, args=(seeds[n :: of.jobs], path, of.receiver)))
        jobs[-1].start()
    for job in jobs:
        job.join()
    whole = of.out / f"{of.seed}.flows"
    parts = [of.out / f"{of.seed}-{n}.txt" for n in range(of.jobs)]
    whole.write_text("".join(part.read_text() for part in parts))
    for part in parts:
        part.unlink()
    print(whole)
    return 0


if __name__ == "__main__":
    sys.exit(main())
