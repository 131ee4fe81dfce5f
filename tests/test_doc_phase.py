"""Tests that numbers in the prose of docs/internals/phase.md match its tables."""

import re
from pathlib import Path

TEXT = (Path(__file__).parents[1] / "docs/internals/phase.md").read_text()
WORDS = " ".join(TEXT.partition("<!-- made by")[0].split())


def table(section: str, first: str, leading: int) -> dict[tuple[str, ...], dict[str, str]]:
    """Returns rows of a section's table, by their leading cells; the table's header begins with `first`."""
    lines = iter(TEXT.partition(f"**{section}**")[2].splitlines())
    header = next(line for line in lines if line.startswith(first))
    names = [cell.strip() for cell in header.strip("|").split("|")]
    next(lines)
    found = {}
    for line in lines:
        if not line.startswith("|"):
            break
        cells = [cell.strip().replace("*", "") for cell in line.strip("|").split("|")]
        found[tuple(cells[:leading])] = dict(zip(names[leading:], cells[leading:], strict=True))
    return found


def unfair(cell: str) -> int:
    return int(cell.partition(" of ")[0])


def test_counts_of_unfair_runs_in_words_are_those_of_the_tables() -> None:
    slow = table("Long flows", "| Gb/s | network | hosts | 0 | 0, 100", 3)["1", "fat_tree", "Linux, CUBIC"]
    at = {jitter: unfair(cell) for jitter, cell in slow.items()}
    assert (
        f"({at['0.1']} of 96 runs; {at['0.25']}, {at['0.5']} and {at['1']} with a quarter, a half and a "
        f"whole frame; {at['0']} without)"
    ) in WORDS
    half = f"{at['0.5, 100 ppm']} of 96 runs are unfair with half a frame, in place of {at['0.5']}"
    assert f"{half}, and none with two" in WORDS and at["2, 100 ppm"] == 0
    fast = table("Long flows", "| Gb/s | network | hosts | 0 | 0.1", 3)
    cubic = {jitter: unfair(cell) for jitter, cell in fast["10", "star", "Linux, CUBIC"].items()}
    assert (
        f"in {cubic['0.1']} of 16 runs ({cubic['0']} without jitter, {cubic['0.5']} and {cubic['1']} with"
        in WORDS
    )
    assert not any(map(unfair, fast["10", "star", "Linux, Reno"].values()))
    assert "Two flows of Reno share the link in every run" in WORDS


def test_incasts_in_words_are_those_of_the_tables() -> None:
    found = table("An incast's completion, ms", "| Gb/s | network | hosts | 0 | 0, 100", 3)
    exact, moved = re.findall(r"[\d.]+(?= ±)", found["1", "dumbbell", "Linux, CUBIC"]["0"])[:2]
    reno = re.findall(r"[\d.]+(?= ±)", found["1", "leaf_spine", "Linux, Reno"]["0"])[:2]
    said = f"takes {float(exact):.0f} ms with exact starts and {float(moved):.0f} ms with starts"
    assert (
        f"{said} a nanosecond apart, one of Reno in a leaf-spine {float(reno[0]):.0f} and "
        f"{float(reno[1]):.0f} ms" in WORDS
    )
    many = table("How much jitter", "| network | hosts |", 2)["dumbbell", "Linux, CUBIC"]
    tenth, none = (float(many[jitter].split()[0]) for jitter in ("0.1", "0"))
    assert f"takes {tenth:.0f} ms with a tenth and {none:.0f} without" in WORDS


def test_what_ends_the_locking_in_words_is_in_the_table() -> None:
    found = table("What of `linux` ends the locking", "| kind | with |", 2)
    sums = {(kind.strip("`"), more): sum(map(unfair, row.values())) for (kind, more), row in found.items()}
    delayed = '`delayed_ack = true`, `delayed_ack_timeout = "5ms"`'
    off = "`delayed_ack = false`, `quick_acks = false`"
    assert sums["cubic", '`recovery = "rack"`, `tso = true`'] == sums["cubic", delayed] == 0
    hystart, all_of = sums["cubic", "`hystart = true`"], sums["cubic", "as it is"]
    assert f"with HyStart {hystart} are, of {all_of}." in WORDS
    assert f"with them {sums['cubic', f'{delayed}, `quick_acks = true`']} are." in WORDS
    rack, stamps = sums["cubic", '`recovery = "rack"`'], sums["cubic", "`timestamps = true`"]
    assert f"RACK-TLP and timestamps lessen it to {rack} and {stamps} runs" in WORDS
    alone = sums["linux", '`recovery = "sack"`']
    assert f"({alone} run with" in WORDS
    both, three = (
        sums["linux", "`tso = false`, `hystart = false`"],
        f"{off}, `tso = false`, `hystart = false`",
    )
    assert f"Without bursts and HyStart {both} runs are unfair" in WORDS
    assert f"without all three {sums['linux', three]}." in WORDS
    sack = f'`recovery = "sack"`, {off}, `hystart = false`'
    later = sums["linux", f"{sack}, `timestamps = false`"]
    assert f"{sums['linux', sack]} are, and without timestamps, too, {later}:" in WORDS


def test_time_and_ticks_in_words_are_those_of_the_tables() -> None:
    found = table("Whether time ends it", "| network | hosts | jitter |", 3)
    jittered = [row for key, row in found.items() if key[2] != "0"]
    early, late = (sum(unfair(row[after]) for row in jittered) for after in ("5 s", "40 s"))
    assert (
        f"With jitter {early} of {8 * len(jittered)} runs were unfair after 5 s, and {late} after 40 s"
        in WORDS
    )
    ticks = table("What ticks lose", "| `linux` with |", 1)
    drops = {key[0]: [float(cell.split()[0]) for cell in row.values()] for key, row in ticks.items()}
    exact, fast, slow = (drops[f'`tick = "{tick}"`'] for tick in ("0us", "1ms", "4ms"))
    assert {round(more / less) for more, less in zip(slow, exact, strict=True)} == {9, 10}
    assert "Two long flows lose nine to ten times as many frames" in WORDS
    assert fast[0] <= exact[0] and f"and {100 * (fast[1] / exact[1] - 1):.0f} % more in the star" in WORDS
    reno = [drops[f'`congestion_control = "reno"`, `tick = "{tick}"`'] for tick in ("0us", "4ms")]
    assert reno[0] == reno[1]
