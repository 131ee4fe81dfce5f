"""Runs in threads that start and end, with the core alone: `python thread_program.py FILE_OF_CORE SCENARIO`.

The first thread loads the core and ends. Other threads run one after the other and side by side. The main
thread runs last, and the interpreter ends after all others have ended. No other module is loaded, so that
valgrind takes seconds.
"""

import importlib.machinery
import importlib.util
import json
import sys
import threading
from typing import Any

FILE, SCENARIO = sys.argv[1:]
ONE_AFTER_THE_OTHER, SIDE_BY_SIDE = 3, 4
found: dict[str, Any] = {}


def load() -> None:
    """Loads the core into this process."""
    loader = importlib.machinery.ExtensionFileLoader("_core", FILE)
    spec = importlib.util.spec_from_loader("_core", loader)
    assert spec is not None
    found["core"] = importlib.util.module_from_spec(spec)
    loader.exec_module(found["core"])


def run() -> None:
    """Does one short run, and checks that its summary is equal to that of the first run."""
    with open(SCENARIO, encoding="utf-8") as file:
        scene = found["core"].Scenario(SCENARIO, file.read(), [])
    run = scene.run(json.loads(scene.document())["variants"][0], 1, 3000)
    while not run.advance(1000)["done"]:
        pass
    summary = run.results()["summary"]
    assert found.setdefault("summary", summary) == summary


def run_first_load() -> None:
    """Loads the core and runs, in a thread that ends."""
    load()
    run()


def run_together(count: int, work: Any) -> None:
    """Runs a function in `count` threads simultaneously, and joins them."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


run_together(1, run_first_load)
for _ in range(ONE_AFTER_THE_OTHER):
    run_together(1, run)
run_together(SIDE_BY_SIDE, run)
run()
print("all threads are gone")
