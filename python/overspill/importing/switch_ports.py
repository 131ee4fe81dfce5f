"""Ports of the configuration that the scenario has: their rates, cables and pipes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from overspill.errors import BadInput, cut_user_text
from overspill.importing.chips import Chip
from overspill.importing.config_tables import ConfigTables, Row, parse_whole_number
from overspill.importing.omissions import Omissions, join_ports

FRONT_PANEL = re.compile(r"Ethernet(\d+)")
CABLE = re.compile(r"(\d+(?:\.\d+)?)m")
RATE = re.compile(r"(\d+(?:\.\d+)?)\s*([MGT]bps|)")
MEGABITS = {"Mbps": 1, "Gbps": 1000, "Tbps": 1_000_000, "": 1}
DEFAULT_MTU = 9100  # bytes, of SONiC
PS_PER_METRE = 5000  # light in glass
# Fields of PORT with an effect on memory or pauses that a scenario cannot express.
UNSUPPORTED_FIELDS = {"pfc_asym": ("off", "asymmetric PFC; the fragment pauses both directions alike")}


def format_rate(megabits: int) -> str:
    """Formats a rate given in Mb/s as scenarios have it."""
    for unit in ("Tbps", "Gbps"):
        if megabits % MEGABITS[unit] == 0:
            return f"{megabits // MEGABITS[unit]}{unit}"
    return f"{megabits}Mbps"


def format_delay(metres: Fraction) -> str:
    """Formats the propagation delay of a cable as scenarios have it."""
    picoseconds = metres * PS_PER_METRE
    for unit, size in (("us", 1_000_000), ("ns", 1000)):
        if (whole := picoseconds / size * 1000).denominator == 1 and picoseconds >= size:
            return f"{float(whole / 1000):g}{unit}"
    return f"{max(1, int(picoseconds))}ps"


@dataclass(frozen=True)
class SwitchPort:
    """Port of the switch, with its number in the scenario."""

    name: str
    number: int
    speed: int  # Mb/s
    lanes: tuple[int, ...]
    mtu: int
    cable: str | None  # such as `300m`
    pipe: int

    @property
    def cable_metres(self) -> Fraction | None:
        """Length of the cable; `None` if the configuration does not have it."""
        return None if self.cable is None else Fraction(self.cable.removesuffix("m"))


def natural_order(name: str) -> tuple[str, int]:
    """Returns the key that sorts names by their trailing number."""
    head = name.rstrip("0123456789")
    return head, int(name[len(head) :] or 0)


def read_cables(config: ConfigTables) -> dict[str, str]:
    """Returns the length of the cable of each port, such as `300m`."""
    row = config.only_row("CABLE_LENGTH")
    lengths: dict[str, str] = {}
    for port in row.fields if row is not None else ():
        assert row is not None
        text = row.text(port) or ""
        if not CABLE.fullmatch(text):
            raise row.error(port, text or "an empty text", "a length such as 300m")
        lengths[port] = text
    return lengths


def parse_speed(text: str) -> int:
    """Parses the rate of the option `--speed` into Mb/s."""
    found = RATE.fullmatch(text.strip())
    megabits = Fraction(found[1]) * MEGABITS[found[2]] if found else Fraction(0)
    if megabits.denominator != 1 or megabits < 1:
        raise BadInput(f"--speed: found {cut_user_text(text)}; expected a rate such as 100Gbps")
    return int(megabits)


def select_names(config: ConfigTables, names: Sequence[str] | None, speed: str | None) -> list[str]:
    """Returns the names of the ports that the scenario has, in the order of their numbers."""
    rows = config.rows("PORT")
    if not rows:
        raise BadInput(f"{config.file}: PORT: found no ports; expected a row for each port")
    unknown = [one for one in names or () if one not in rows]
    if unknown:
        raise BadInput(f"--ports: found {cut_user_text(unknown[0])}; expected ports of {config.file}: PORT")
    front = [one for one in rows if FRONT_PANEL.fullmatch(one)] or list(rows)
    chosen = sorted(dict.fromkeys(names or front), key=natural_order)
    if speed is not None:
        megabits = parse_speed(speed)
        chosen = [one for one in chosen if rows[one].whole_number("speed") == megabits]
        if not chosen:
            known = sorted({rows[one].required_number("speed", 1) for one in names or front})
            rates = ", ".join(map(format_rate, known))
            raise BadInput(f"--speed: found {speed}, the rate of no port; expected one of {rates}")
    return chosen


def read_lanes(row: Row) -> tuple[int, ...]:
    """Returns the lanes of a port; empty if the configuration does not have them."""
    text = row.text("lanes")
    found = [parse_whole_number(one) for one in (text or "").split(",") if one.strip()]
    if any(one is None or one < 0 for one in found):
        raise row.error("lanes", text, "numbers separated by commas")
    return tuple(one for one in found if one is not None)


def assign_pipes(
    names: Sequence[str], lanes: dict[str, tuple[int, ...]], chip: Chip
) -> tuple[dict[str, int], str]:
    """Returns the pipe of each port, and the reason if lanes do not determine it."""
    if chip.pipes < 2:
        return dict.fromkeys(names, 0), ""
    if chip.lanes_per_pipe is not None and all(lanes[one] for one in names):
        pipes = {one: (min(lanes[one]) - 1) // chip.lanes_per_pipe for one in names}
        if all(0 <= pipe < chip.pipes for pipe in pipes.values()):
            return pipes, ""
    by_order = {one: at * chip.pipes // len(names) for at, one in enumerate(names)}
    return by_order, f"{chip.pipes} pipes with equal parts of the ports, in the order of their names"


def read_ports(
    config: ConfigTables,
    selection: tuple[Sequence[str] | None, str | None],
    chip: Chip,
    omissions: Omissions,
) -> list[SwitchPort]:
    """Returns the ports that the scenario has; `selection` has the options `--ports` and `--speed`."""
    names = select_names(config, *selection)
    rows, cables = config.rows("PORT"), read_cables(config)
    for port in cables:
        if port not in rows:
            row = config.only_row("CABLE_LENGTH")
            assert row is not None
            raise row.error(port, "a port without a row", "ports of the table PORT")
    every = sorted((one for one in rows if FRONT_PANEL.fullmatch(one)), key=natural_order) or list(rows)
    lanes = {one: read_lanes(rows[one]) for one in {*every, *names}}
    pipes, reason = assign_pipes([one for one in every if one in lanes], lanes, chip)
    if reason:
        omissions.add("PORT|lanes", f"found no lanes that determine pipes; the fragment has {reason}")
    for field, (usual, text) in UNSUPPORTED_FIELDS.items():
        unusual = [one for one in names if rows[one].text(field) not in (None, usual)]
        if unusual:
            omissions.add(f"PORT|{join_ports(unusual)}|{field}", text)
    return [
        SwitchPort(
            name,
            number,
            rows[name].required_number("speed", 1, 10_000_000),
            lanes[name],
            rows[name].whole_number("mtu", 1) or DEFAULT_MTU,
            cables.get(name),
            pipes.get(name, 0),
        )
        for number, name in enumerate(names)
    ]
