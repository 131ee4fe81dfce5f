"""Phase check (`--check-phase`): the same runs with all flow starts moved by less than a frame's time.

Metrics that depend only on the order of arrivals at the same instant change. The moves are drawn by the
parameter `jitter`, which every kind of traffic has, and which changes nothing else.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from tomllib import TOMLDecodeError
from typing import Any

from overspill.engine import core, point_checks
from overspill.engine.pcap import CaptureRequest
from overspill.engine.plan import Plan
from overspill.errors import BadInput
from overspill.results import active_interval

PHASE_LABEL = "phase check"
SIZE_PATTERN = re.compile(r"([0-9]+(?:\.[0-9]+)?)(B|KB|MB|KiB|MiB)")
BYTES_PER_UNIT = {"B": 1, "KB": 1000, "MB": 1000**2, "KiB": 1 << 10, "MiB": 1 << 20}
PS_PER_SECOND = 10**12
FRAME_OVERHEAD_KEYS = ("header", "link", "gap")  # parts of a frame beside its payload

VariantWorkload = tuple[str, str]  # variant, and name of one of its workloads


@dataclass(frozen=True)
class PhaseCheck:
    """Facts of a phase check, and the plan of its runs, which is `None` if there are no starts to move."""

    facts: dict[str, Any]
    plan: Plan | None


def plan_phase_check(plan: Plan) -> PhaseCheck | None:
    """Returns the phase check of a plan; `None` if it is not requested."""
    if not plan.options.check_phase:
        return None
    only = plan.checked.single_point
    assert only is not None
    frame = frame_time_ps(plan, only.document)
    resolved = only.document["resolved"]
    moves = {
        (variant, str(one["name"])): (active_interval.parse_time(one.get("jitter", "0ps")) or 0.0) < frame
        for variant in plan.checked.variants
        for one in resolved[variant].get("traffic", [])
    }
    sets, refused = jitter_settings(plan, [place for place, moved in moves.items() if moved], frame)
    made = plan_with_settings(plan, sets) if sets else None
    after = (
        {}
        if made is None or made.checked.single_point is None
        else made.checked.single_point.document["resolved"]
    )
    told: dict[str, Any] = {"frame_ps": frame, "moved": {}, "kept": {}, "refused": {}}
    for (variant, name), asked in moves.items():
        place = told["kept"]
        if asked:
            place = told["moved" if has_enough_jitter(after, variant, name, frame) else "refused"]
        if place is told["refused"]:
            why = (
                refused.get((variant, name))
                or refused.get(("", name))
                or ("the setting does not move its starts")
            )
            place.setdefault(variant, {})[name] = why
        else:
            place.setdefault(variant, []).append(name)
    return PhaseCheck(told, plan_with_variants(made, list(told["moved"])))


def frame_time_ps(plan: Plan, document: Mapping[str, Any]) -> int:
    """Returns the time of a full frame at the slowest host link of all variants, in ps."""
    slowest = [
        Fraction(full_frame_bytes(document["resolved"][variant]) * 8 * PS_PER_SECOND) / rate
        for variant in plan.checked.variants
        if (rate := slowest_host_rate(plan, document, variant))
    ]
    return max(math.ceil(max(slowest, default=Fraction(1))), 1)


def full_frame_bytes(resolved: Mapping[str, Any]) -> int:
    """Returns the bytes of a full segment with its headers, preamble and inter-packet gap."""
    framing = resolved.get("framing", {})
    own = (one.get("transport", {}) for one in resolved.get("traffic", []))
    longest = max(parse_size(one.get("mss")) for one in (resolved.get("transport", {}), *own))
    return longest + sum(parse_size(framing.get(one)) for one in FRAME_OVERHEAD_KEYS)


def parse_size(text: object) -> int:
    """Parses a size of a resolved scenario into bytes; 0 if it is no size."""
    parts = SIZE_PATTERN.fullmatch(str(text))
    return int(float(parts[1]) * BYTES_PER_UNIT[parts[2]]) if parts else 0


def slowest_host_rate(plan: Plan, document: Mapping[str, Any], variant: str) -> int:
    """Returns the rate in bits per second of the slowest host's link; 0 without hosts."""
    network = document["networks"][document["network_of"][variant]] if document.get("networks") else None
    if network is None:
        network = json.loads(plan.scene(plan.first).load().network(variant))
    hosts = {at for at, node in enumerate(network["nodes"]) if node["host"]}
    ways = [
        (end, line)
        for one in network["links"]
        for end, line in ((one["a"], one), (one["b"], one.get("back", one)))
    ]
    rates = [line["rate_bps"] for end, line in ways if end in hosts]
    return int(min(rates, default=0))


def jitter_settings(
    plan: Plan, wanted: Sequence[VariantWorkload], frame: int
) -> tuple[list[str], dict[VariantWorkload, str]]:
    """Returns jitter settings that move the starts of workloads, and the core's reasons for refused settings.

    Variants share a setting unless they have workloads of their own.
    """
    own = {variant for variant in plan.checked.variants if has_own_traffic(plan.base.source.text, variant)}
    places = dict.fromkeys((variant if variant in own else "", name) for variant, name in wanted)
    sets: list[str] = []
    refused: dict[VariantWorkload, str] = {}
    for variant, name in places:
        table = f"variants.{format_toml_key(variant)}.traffic" if variant else "traffic"
        one = f"{table}.{format_toml_key(name)}.jitter={frame}ps"
        try:
            core.load_scenario(plan.base.source.path, plan.base.source.text, [*plan.base.sets, *sets, one])
            sets.append(one)
        except BadInput as error:
            refused[variant, name] = " ".join(line.removeprefix("--set: ") for line in error.lines)
    return sets, refused


def format_toml_key(name: str) -> str:
    """Returns a name as a TOML key."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def has_own_traffic(text: str, variant: str) -> bool:
    """Returns true if a variant of the file has its own workloads in place of all others."""
    try:
        return "traffic" in core.parse_toml("the scenario", text).get("variants", {}).get(variant, {})
    except TOMLDecodeError:
        return False  # the core reports the error


def has_enough_jitter(resolved: Mapping[str, Any], variant: str, name: str, frame: int) -> bool:
    """Returns true if a workload's starts have a jitter of at least one frame's time in a variant."""
    every = resolved.get(variant, {}).get("traffic", [])
    return any(
        one["name"] == name and (active_interval.parse_time(one["jitter"]) or 0.0) >= frame for one in every
    )


def plan_with_settings(plan: Plan, sets: Sequence[str]) -> Plan:
    """Returns the plan of a phase check: the same runs with added settings; only their metrics are kept."""
    base = replace(plan.base, sets=(*plan.base.sets, *sets))
    options = replace(plan.options, sweep=True, single=True, check_phase=False, pcap=(), label=PHASE_LABEL)
    checked = point_checks.check_points(base, plan.grid, plan.checked.variants, lambda done: None)
    return replace(plan, base=base, checked=checked, options=options, pcap=CaptureRequest())


def plan_with_variants(plan: Plan | None, variants: Sequence[str]) -> Plan | None:
    """Returns the plan with only those variants in which some starts move; `None` if there are none."""
    if plan is None or not variants:
        return None
    checked = plan.checked
    configs = [{name: one[name] for name in variants} for one in checked.configs]
    return replace(plan, checked=replace(checked, variants=list(variants), configs=configs))


def run_keys(plan: Plan) -> Iterator[tuple[str, int, str]]:
    """Yields variant, seed and key of every run of a check."""
    for variant, config in plan.checked.configs[0].items():
        for seed in plan.seeds:
            yield variant, seed, plan.key(config, seed)
