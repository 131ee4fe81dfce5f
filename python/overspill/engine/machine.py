"""Cores of this machine, and threads that are abandoned when a command ends."""

import os
from concurrent.futures import ThreadPoolExecutor


class AbandonedThreads:
    """Flag for abandoned threads, for which the interpreter would wait at its exit."""

    exist = False


def shut_down_pool(pool: ThreadPoolExecutor, at_once: bool) -> None:
    """Shuts down a thread pool; with `at_once`, running work is abandoned."""
    AbandonedThreads.exist = AbandonedThreads.exist or at_once
    pool.shutdown(wait=not at_once, cancel_futures=True)


def count_cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
