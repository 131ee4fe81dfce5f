"""Plays cases of `conformance/tcp` to the kernel's sender, step by step, and compares what it sends."""

import re
import socket
import tomllib
from dataclasses import replace
from pathlib import Path

import record
import scenario
import wire
from scenario import MSS, Reply

# Parameters of the transport that the bench can give to a kernel.
_SUPPORTED_SETTINGS = {
    "tick",
    "timestamps",
    "handshake_rtt",
    "hystart",
    "ecn",
    "recovery",
    "limited_transmit",
    "congestion_control",
    "tlp",
}


class UnresponsivePeer(scenario.Receiver):
    """Far end that never replies by itself."""

    def arrival_time(self, start: int, now: int) -> int | None:
        """Returns `None`: the network drops every segment."""
        return None


def _is_supported(step: str) -> bool:
    words = [word for word in step.partition("|")[0].partition("->")[0].split() if word[0] != "+"]
    return words[0] in ("open", "expire", "wait") or (words[0] in ("write", "ack") and words[1].isdigit())


def _parse_settings(transport: str) -> scenario.Flow | None:
    kind, *words = transport.split()
    given = dict(word.split("=") for word in words)
    if kind != "linux" or set(given) - _SUPPORTED_SETTINGS or "handshake_rtt" not in given:
        return None
    rtt = _parse_time(given["handshake_rtt"])
    flow = scenario.draw_flow(0)
    return replace(
        flow,
        control=given.get("congestion_control", "cubic"),
        sack=given.get("recovery", "rack") == "rack",
        timestamps=given.get("timestamps", "true") == "true",
        ecn=given.get("ecn", "false") == "true",
        handshake=rtt,
        writes=(),
    )


def _parse_time(text: str) -> int:
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()  # type: ignore[union-attr]
    return int(float(number) * {"us": 1, "ms": 1000, "s": 1_000_000}[unit])


def _parse_sack_blocks(text: str) -> list[tuple[int, int]]:
    found = []
    for word in text.split(","):
        if ".." in word:
            first, last = word.split("..")
            found.append((int(first), int(last)))
            continue
        first, _, last = word.partition("-")
        found.append((int(first) * MSS, (int(last or first) + 1) * MSS))
    return found


def _parse_numbers(text: str) -> list[int]:
    found: list[int] = []
    for word in text.split():
        first, _, last = word.split("/")[0].partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


class Case(record.Player):
    """Case of `conformance/tcp` played to the kernel."""

    def run(self, steps: list[str]) -> list[str]:
        """Returns the steps that differ."""
        self.receiver, self.ticks = UnresponsivePeer(self.flow), record.find_ticks()
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        wrong = []
        try:
            self._open()
            self.receiver = UnresponsivePeer(self.flow)
            at = record.now_us() + 2000
            for step in steps:
                what, _, checks = step.partition("|")
                event, _, sends = what.partition("->")
                words = event.split()
                if words[0][0] == "+":
                    at += _parse_time(words.pop(0)[1:])
                before = len(self.lines)
                at = max(at, self._do(words, at))
                line = self.lines[-1] if len(self.lines) > before else "nothing"
                wrong += self._compare(step, line, _parse_numbers(sends), checks)
        finally:
            self.close()
        return wrong

    def _do(self, words: list[str], at: int) -> int:
        if words[0] in ("open", "wait"):
            return at
        if words[0] == "expire":
            if not self._wait(record.now_us() + 4_000_000):
                self.lines.append("no timer")
            return self.last
        self._wait(at)
        given = dict(word.split("=") for word in words[2:] if "=" in word)
        if words[0] == "write":
            self._step(int(words[1]))
            return self.last
        echo = int(given["ecr"][1:]) if "ecr" in given else max(self.emissions - 1, 0)
        self._step(
            Reply(
                at,
                int(words[1]) * MSS,
                _parse_sack_blocks(given["sack"]) if "sack" in given else [],
                echo,
                "ece" in words,
            )
        )
        return self.last

    @staticmethod
    def _compare(step: str, line: str, sends: list[int], checks: str) -> list[str]:
        done = line.split(" ; ")[0]
        sent = _parse_numbers(done.split("|")[0].partition(">")[2])
        found = done.partition("|")[2].split()
        wrong = [] if sent == sends else [f"`{step}`: the kernel {line}"]
        for check in checks.split():
            name, value = check.split("=")
            place = {"cwnd": 0, "ssthresh": 1}.get(name)
            if place is not None and found and found[place] != "-" and int(found[place]) * MSS != int(value):
                wrong.append(f"`{step}`: {name}: the kernel {line}")
        return wrong


def play_cases(tun: int, path: Path) -> int:
    """Plays the cases of a file that the benchmark can play; returns the number of cases that differ."""
    played = wrong = 0
    for case in tomllib.loads(path.read_text())["case"]:
        flow = _parse_settings(case["transport"]) if case["end"] == "sender" else None
        if not flow or not all(map(_is_supported, case["steps"])):
            continue
        played += 1
        Path("/sys/module/tcp_cubic/parameters/hystart").write_text(
            "0" if "hystart=false" in case["transport"] else "1"
        )
        wire.set_sysctl("tcp_early_retrans", "0" if "tlp=false" in case["transport"] else "3")
        found = Case(tun, flow).run(case["steps"])
        wrong += bool(found)
        for line in found:
            print(f"{case['name']}\n  {line}")
    Path("/sys/module/tcp_cubic/parameters/hystart").write_text("1")
    print(f"{played - wrong} of {played} cases agree")
    return wrong
