"""What this machine offers."""

import os
from concurrent.futures import ThreadPoolExecutor


class Abandoned:
    """Whether threads were left behind that nothing stops: the interpreter would wait for them at its end."""

    threads = False


def leave(pool: ThreadPoolExecutor, at_once: bool) -> None:
    """End a pool; `at_once` does not wait for what it is at."""
    Abandoned.threads = Abandoned.threads or at_once
    pool.shutdown(wait=not at_once, cancel_futures=True)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
