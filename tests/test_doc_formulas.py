"""Tests that evaluate the formulas on the pages of mechanisms as written, against the code."""

import json
import math
import re
from pathlib import Path

import pytest

import overspill
from overspill import _core

PAGES = Path(__file__).parents[1] / "docs/mechanisms"
BASE = """
name = "formulas"
duration = "{duration}"
[host]
nic_jitter = "0us"
[topology]
kind = "star"
n = 4
link = {{ rate = "10Gbps", delay = "1us" }}
[[traffic]]
name = "flood"
kind = "constant"
sources = ["h1", "h2", "h3"]
destination = "h0"
rate = "9Gbps"
ecn = true
{more}
"""


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text()


def scenario(folder: Path, more: str, duration: str = "300us") -> Path:
    path = folder / "formulas.toml"
    path.write_text(BASE.format(more=more, duration=duration))
    return path


def evaluate(formula: str, **values: float) -> float:
    """Evaluates a formula of a page: products without a sign, exp, and the page's own letters."""
    python = formula.replace("−", "-").replace("·", "*")
    for letter, name in (("λ", "lam"), ("θ", "theta"), ("α", "alpha"), ("Q_eq", "q_eq")):
        python = python.replace(letter, name)
    python = re.sub(r"\b(lam|\d+)\(", r"\1*(", python)
    python = re.sub(r"\b(\d)(w)\b", r"\1*\2", python)
    return float(eval(python, {"__builtins__": {}, "exp": math.exp}, dict(values)))


def test_bounce_decides_by_equation_4_of_its_page() -> None:
    found = re.search(r"P = (\(exp.*\))    for u > θ, else 0", page("bounce"))
    assert found is not None
    places = [0.3, 0.5, 0.55, 0.75, 0.9, 1.0]
    for theta, lam in ((0.5, 5.0), (0.8, 50.0)):
        told = json.loads(_core.curve("bounce", [f"theta={theta}", f"lambda={lam}"], 1, places) or "")
        for n, heights in enumerate(told["asked"]):
            for u, height in zip(places, heights, strict=True):
                wanted = evaluate(found[1], u=u, theta=theta, lam=lam, n=n) if u > theta else 0.0
                assert height == pytest.approx(wanted, abs=1e-12), (theta, lam, n, u)


def test_red_rises_as_its_page_says() -> None:
    text = " ".join(page("red").split())
    assert "Between an average of `min` and `max` the probability of a mark rises from 0 to `max_p`." in text
    assert "With `gentle = true` it rises further, to 1 at twice `max`." in text
    assert "With `gentle = false` it is 1 above `max`." in text
    low, high, most = 10.0, 40.0, 0.25
    given = ["min=10pkt", "max=40pkt", "max_p=0.25"]
    places = [5.0, 10.0, 20.0, 39.0, 50.0, 79.0, 80.0, 100.0]
    rising = [min(max(at - low, 0) / (high - low), 1) * most for at in places]
    beyond = [min((at - high) / high, 1) * (1 - most) if at > high else 0 for at in places]
    gentle = json.loads(_core.curve("red", given, 1, places) or "")["asked"][0]
    assert gentle == pytest.approx([one + more for one, more in zip(rising, beyond, strict=True)])
    steep = json.loads(_core.curve("red", [*given, "gentle=false"], 1, places) or "")["asked"][0]
    assert steep == pytest.approx([1.0 if at > high else one for one, at in zip(rising, places, strict=True)])


def test_a_packet_that_finds_k_waiting_is_marked_and_none_before(tmp_path: Path) -> None:
    text = " ".join(page("ecn_threshold").split())
    assert "The switch marks an arriving packet if K or more is already queued." in text
    path = scenario(tmp_path, '[switch]\nmarking = { kind = "ecn_threshold", k = "4pkt" }\n', "20us")
    seen = set()
    for n in range(12):
        steps = overspill.trace(path, f"flow=0,n={n}").document()["steps"]
        at_switch = [step for step in steps if step["node"] == "s0"]
        marked = any(step["what"] == "marked" for step in at_switch)
        seen |= {(step["before"] >= 4, marked) for step in at_switch if step["what"] == "stored"}
    assert seen == {(False, False), (True, True)}


@pytest.mark.parametrize("alpha", [0.5, 1, 4])
def test_a_busy_port_settles_at_the_share_of_its_page(tmp_path: Path, alpha: float) -> None:
    found = re.search(r"A single busy port settles at (\S+ ?\+? ?\S*\)) of\s+the pool", page("buffer"))
    assert found is not None
    more = f'[switch]\nbuffer = {{ kind = "shared", size = "120KB", alpha = {alpha}, reserved = "5KB" }}\n'
    results = overspill.run(scenario(tmp_path, more), jobs=1)
    largest = max(results.ports.column("max_bytes").to_pylist())
    pool, reserve = 120_000 - 4 * 5_000, 5_000
    limit = reserve + evaluate(found[1], alpha=alpha) * pool
    assert abs(largest - limit) < 1_518, "within a frame"


def test_feedback_of_qcn_is_that_of_its_page(tmp_path: Path) -> None:
    text = page("qcn")
    rows = {cells[1].strip(): cells[2] for line in text.splitlines() if len(cells := line.split("|")) == 5}
    sum_of, limits = rows["Fb"].split(", at least 0 and at most ")
    scaled = rows["F6"].partition(",")[0]
    switch = '[switch]\nnotify = { kind = "qcn" }\nbuffer = { kind = "per_port", size = "400KB" }\n'
    more = f"{switch}[measure]\nnotices = true\n"
    notices = overspill.run(scenario(tmp_path, more, "2ms"), jobs=1).table("notices").to_pylist()
    assert len(notices) > 50 and len({one["feedback"] for one in notices}) > 8
    for one in notices:
        # Messages give lengths in units of 64 B, so that each is known to within one unit.
        found = []
        for off in (-64, 64):
            values = {"w": 2, "q_eq": 60_000, "q_off": one["q_off"] + off, "q_delta": one["q_delta"] + off}
            most = evaluate(limits, **values)
            fb = min(max(evaluate(sum_of, **values), 0), most)
            found.append(int(evaluate(scaled, **values, Fb=fb)))
        assert found[0] <= one["feedback"] <= found[1], one


def test_intervals_and_steps_of_qcn_are_those_of_its_page() -> None:
    text = page("qcn")
    assert "w = 2: up to 300 KB" in text and (2 * 2 + 1) * 60 == 300
    assert "a step is 4.76 KB" in text and round(300 / 63, 2) == 4.76
    code = (PAGES.parents[1] / "crates/mech/src/notify/qcn/feedback.rs").read_text()
    found = re.search(r"const \w*INTERVALS: \[u128; 8\] = \[([\d, ]+)\]", code)
    row = re.search(r"^\| I_s, KB \| (.*) \|$", text, re.MULTILINE)
    assert found is not None and row is not None
    assert [float(one) for one in row[1].split(" | ")] == [int(one) / 2 for one in found[1].split(",")]
    # A frame ends an interval half a frame late on average, and the excess is not carried over.
    rate = 10e9 / 8 * 1522 / 1542
    first, last = (rate / (1000 * interval + 1522 / 2) for interval in (150, 18.5))
    samples = f"there are {first:,.0f} samples a second, and up to {round(last, -3):,.0f} under congestion"
    assert samples in " ".join(text.split())


def test_memory_that_one_port_takes_is_that_of_the_page_on_detours(tmp_path: Path) -> None:
    found = re.search(
        r"Of 1.7 MB for eight ports with 15 KB reserved, one port holds ([\d,]+) full frames of 1,518 B, "
        r"and each other port takes nine more",
        " ".join(page("detour").split()),
    )
    assert found is not None
    more = '[switch]\nbuffer = { kind = "shared", size = "1700KB", alpha = 1000000000, reserved = "15KB" }\n'
    path = scenario(tmp_path, more, "2ms")
    path.write_text(path.read_text().replace("n = 4", "n = 8"))
    ports = overspill.run(path, jobs=1).ports.to_pylist()
    assert max(port["max_bytes"] for port in ports) // 1518 == int(found[1].replace(",", ""))
    assert 15_000 // 1518 == 9


def test_detours_that_a_ttl_allows_are_those_of_the_page() -> None:
    text = " ".join(page("detour").split())
    formula = r"permits the d detours for which 5 \+ 2 d ≤ t − 1. "
    found = re.search(formula + r"That is (\d+) with 12, (\d+) with 24 and (\d+) with 48", text)
    assert found is not None
    assert [int(one) for one in found.groups()] == [(ttl - 1 - 5) // 2 for ttl in (12, 24, 48)]
