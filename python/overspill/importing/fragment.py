"""Text of a scenario fragment in TOML, with comments that name the tables of its values."""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from overspill.engine.toml_values import format_toml
from overspill.importing.buffer_profiles import Pool, Profile
from overspill.importing.chips import Chip
from overspill.importing.class_maps import ClassMaps
from overspill.importing.memory_accounts import AccountEntry, MemoryAccounts, Selector
from overspill.importing.queue_profiles import QueueSchedule, WredProfile
from overspill.importing.switch_ports import SwitchPort, format_delay, format_rate
from overspill.importing.watchdogs import WatchdogSettings

LINE_LENGTH = 110
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
BITS = {"Tbps": 10**12, "Gbps": 10**9, "Mbps": 10**6, "Kbps": 1000, "bps": 1}


@dataclass(frozen=True)
class Imported:
    """Settings that a scenario expresses, from all tables of a configuration."""

    source: str
    device: str  # platform and type of the switch, as far as the configuration has them
    chip: Chip
    ports: Sequence[SwitchPort]
    pools: Sequence[Pool]
    maps: ClassMaps
    accounts: MemoryAccounts
    schedules: Sequence[QueueSchedule]
    wred: Mapping[WredProfile, Sequence[int]]
    watchdogs: WatchdogSettings

    @property
    def lossless_classes(self) -> list[int]:
        """Classes whose group is lossless at some port."""
        groups = {
            number for entry in self.accounts.groups if entry.profile.lossless for number in entry.numbers
        }
        return [at for at, group in enumerate(self.maps.class_to_group) if group in groups]


def comment(text: str) -> list[str]:
    """Returns the lines of a comment; lines after the first of a list item are indented."""
    indent = "  " if text.startswith("- ") else ""
    lines = textwrap.wrap(
        text, LINE_LENGTH - 2, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return [f"# {line}" for line in lines]


def format_bytes(size: int) -> str:
    """Formats a size as scenarios have it."""
    return f"{size}B"


def format_bits_per_second(bytes_per_second: int) -> str:
    """Formats a rate given in bytes per second."""
    bits = 8 * bytes_per_second
    unit, size = next((unit, size) for unit, size in BITS.items() if bits % size == 0)
    return f"{bits // size}{unit}"


def format_key(name: str) -> str:
    """Formats the name of a table as a key."""
    return name if BARE_KEY.fullmatch(name) else format_toml(name)


def setting(key: str, value: object) -> str:
    """Returns the line of a key and its value; keys of a table need no quotes."""
    if isinstance(value, dict):
        return f"{key} = {{ {', '.join(setting(*pair) for pair in value.items())} }}"
    return f"{key} = {format_toml(value)}"


def write_fragment(found: Imported, omitted: Sequence[str]) -> str:
    """Returns the text of the fragment; `omitted` are the settings that it cannot express."""
    sections = [
        describe_source(found),
        describe_topology(found.ports),
        describe_traffic(found),
        write_buffer(found),
        *([write_pause(found)] if found.lossless_classes else []),
        write_scheduler(found.schedules),
        *([write_marking(found.wred)] if found.wred else []),
        *([write_dscps(found.maps)] if found.maps.dscp_to_class is not None else []),
        describe_omitted(omitted),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def describe_source(found: Imported) -> list[str]:
    """Returns the comment at the top."""
    chip = found.chip
    facts = (
        f"Cells of {chip.cell} B, {chip.slices} {'slice' if chip.slices == 1 else 'slices'}, pool sizes of "
    )
    facts += {"shared": "shared memory alone", "reserves": "shared memory and reserves"}.get(
        chip.size_includes, "shared memory, reserves and headroom"
    )
    facts += f": chip {chip.name}. Sources: {chip.source}." if chip.name else ": options of the command."
    lines = comment(f"Switch memory, queues and pauses of {found.source} (SONiC){found.device}.")
    return [*lines, *comment(facts), *(comment(chip.note) if chip.note else [])]


def describe_topology(ports: Sequence[SwitchPort]) -> list[str]:
    """Returns the comment about ports and links."""
    lines = comment("Ports of the switch. Port n is the link to host hn in a star.")
    kinds: dict[tuple[int, str | None], list[SwitchPort]] = {}
    for port in ports:
        kinds.setdefault((port.speed, port.cable), []).append(port)
    for (speed, cable), own in kinds.items():
        link = f'rate = "{format_rate(speed)}"'
        metres = own[0].cable_metres
        if metres:
            link += f', delay = "{format_delay(metres)}"'
        numbers = list_numbers([port.number for port in own])
        names = own[0].name if len(own) == 1 else f"{own[0].name} to {own[-1].name}"
        length = "cable of unknown length" if cable is None else f"cable of {cable}, 5 ns for each metre"
        lines += comment(f"- {numbers} ({names}): link = {{ {link} }}; {length}")
    return lines


def list_numbers(numbers: Sequence[int]) -> str:
    """Lists numbers, with ranges for consecutive ones."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{one[0]}" if len(one) == 1 else f"{one[0]} to {one[-1]}" for one in parts)


def describe_traffic(found: Imported) -> list[str]:
    """Returns the comment about keys of workloads."""
    lossless = found.lossless_classes
    told = f"lossless: {', '.join(map(str, lossless))}" if lossless else "all lossy"
    lines = comment(
        f"A workload selects its class by `class` or `dscp` in [[traffic]]. Classes 0 to 7, {told}."
    )
    dscps = found.maps.dscp_to_class
    if dscps is None:
        return lines
    for class_ in range(8):
        own = [dscp for dscp, value in enumerate(dscps) if value == class_]
        lines += comment(f"- class {class_}: " + (f"DSCP {list_numbers(own)}" if own else "no DSCP"))
    return lines


def write_buffer(found: Imported) -> list[str]:
    """Returns the tables of `switch.buffer`."""
    chip, maps = found.chip, found.maps
    lines = ["[switch.buffer]", setting("kind", "pools"), setting("cell", format_bytes(chip.cell))]
    if chip.slices > 1:
        lines += [setting("slices", chip.slices), setting("pipes", [port.pipe for port in found.ports])]
        lines += [setting("slice_of", list(chip.slice_of))]
    lines += [setting("size_includes", chip.size_includes)]
    lines += comment(f"Classes, groups and queues: {', '.join(maps.names) or 'no map is bound to a port'}.")
    lines += [setting("class_to_group", list(maps.class_to_group))]
    lines += [setting("class_to_queue", list(maps.class_to_queue))]
    profiles = found.accounts.profiles()
    used = {profile.pool.name for profile in profiles}
    for pool in found.pools:
        if pool.name in used:
            lines += ["", f"[switch.buffer.pools.{format_key(pool.name)}]", *write_pool(pool)]
    for profile in profiles:
        lines += ["", f"[switch.buffer.profiles.{format_key(profile.name)}]", *write_profile(profile)]
    for key, number, entries in (
        ("groups", "group", found.accounts.groups),
        ("queues", "queue", found.accounts.queues),
    ):
        for entry in entries:
            lines += ["", f"[[switch.buffer.{key}]]", *write_entry(number, entry)]
    return lines


def write_pool(pool: Pool) -> list[str]:
    """Returns the settings of a pool."""
    lines = [setting("side", pool.side), setting("size", format_bytes(pool.size))]
    if pool.headroom is not None:
        lines.append(setting("headroom", format_bytes(pool.headroom)))
    if pool.over_subscribe_ratio is not None:
        lines.append(setting("over_subscribe_ratio", pool.over_subscribe_ratio))
    return lines


def write_profile(profile: Profile) -> list[str]:
    """Returns the settings of a profile."""
    lines = [setting("pool", profile.pool.name)]
    if profile.reserve:
        lines.append(setting("reserve", format_bytes(profile.reserve)))
    if profile.dynamic_th is not None:
        lines.append(setting("threshold", {"kind": "dynamic", "dynamic_th": profile.dynamic_th}))
    elif profile.static_limit is not None:
        limit = format_bytes(profile.static_limit)
        lines.append(setting("threshold", {"kind": "static", "limit": limit}))
    if profile.lossless:
        lines.append(setting("lossless", True))
    sizes = {"xoff": profile.xoff, "xon": profile.xon, "xon_offset": profile.xon_offset}
    return lines + [setting(key, format_bytes(size)) for key, size in sizes.items() if size is not None]


def write_entry(number: str, entry: AccountEntry) -> list[str]:
    """Returns the settings of an entry of `groups` or `queues`."""
    lines = [setting(number, list(entry.numbers)), setting("profile", entry.profile.name)]
    selector: Selector = entry.selector
    if selector.rate is not None:
        lines.append(setting("rate", format_rate(selector.rate)))
    if selector.ports:
        lines.append(setting("ports", list(selector.ports)))
    return lines


def write_pause(found: Imported) -> list[str]:
    """Returns `switch.pause`, with the watchdog if there is one."""
    lines = ["[switch.pause]", setting("kind", "pfc"), setting("response_by_rate", True)]
    lines += comment("A loss in a lossless class is counted as `input_full`. With true, it ends the run.")
    lines.append(setting("lossless", False))
    own = found.watchdogs.watchdog
    if own is None:
        return lines
    lines += comment("PFC_WD")
    times = {
        "detection_time": own.detection,
        "restoration_time": own.restoration,
        "poll_interval": found.watchdogs.poll_interval,
    }
    lines.append(setting("watchdog", own.action))
    return lines + [setting(key, f"{time}ms") for key, time in times.items() if time is not None]


def write_scheduler(schedules: Sequence[QueueSchedule]) -> list[str]:
    """Returns `switch.scheduler` for queues 0 to 7."""
    strict = [number for number, one in enumerate(schedules) if one.strict]
    lines = ["[switch.scheduler]", *comment("QUEUE and SCHEDULER: entry n of a list is that of queue n.")]
    if len(strict) == len(schedules):
        lines.append(setting("kind", "strict_priority"))
    else:
        lines += [setting("kind", "round_robin"), setting("weights", [one.weight for one in schedules])]
        lines += [setting("strict", strict)] if strict else []
    if any(one.max_rate is not None for one in schedules):
        rates = ["off" if one.max_rate is None else format_bits_per_second(one.max_rate) for one in schedules]
        lines.append(setting("max_rate", rates))
        bursts = [one.burst for one in schedules if one.burst is not None]
        lines += [setting("burst", format_bytes(max(bursts)))] if bursts else []
    return lines


def write_marking(wred: Mapping[WredProfile, Sequence[int]]) -> list[str]:
    """Returns `switch.marking` for the queues with a WRED profile."""
    lines = ["[switch.marking]", setting("kind", "wred")]
    for profile, queues in wred.items():
        lines += ["", *comment(f"WRED_PROFILE|{profile.name}"), "[[switch.marking.queues]]"]
        lines += [setting("queue", list(queues)), setting("min", format_bytes(profile.least))]
        lines += [setting("max", format_bytes(profile.most))]
        lines.append(setting("probability", profile.probability / 100))
        lines.append(setting("ecn", "all" if profile.marks else "none"))
    return lines


def write_dscps(maps: ClassMaps) -> list[str]:
    """Returns `dscp_to_class`, with the DSCPs whose class is not the default of a scenario."""
    lines = comment("DSCPs that are left out have the class of their three high bits.")
    changed = {at: value for at, value in enumerate(maps.dscp_to_class or ()) if value != at >> 3}
    if not changed:
        return ["# Each DSCP has the class of its three high bits, as a scenario has by default."]
    return ["[dscp_to_class]", *lines, *(setting(str(dscp), class_) for dscp, class_ in changed.items())]


def describe_omitted(omitted: Iterable[str]) -> list[str]:
    """Returns the comment about settings that the fragment cannot express."""
    items = [line for text in omitted for line in comment(f"- {text}")]
    return [*comment("Not expressed:"), *items] if items else comment("All settings are expressed.")
