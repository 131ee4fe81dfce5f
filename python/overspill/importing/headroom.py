"""Headroom of lossless groups: from the lookup file, or computed as by the dynamic buffer model."""

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from overspill.errors import BadInput, cut_user_text
from overspill.importing.chips import KIB, Chip
from overspill.importing.config_tables import ConfigTables, parse_whole_number, read_text_file
from overspill.importing.switch_ports import CABLE, SwitchPort

LOOKUP_COLUMNS = ("speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset")
REQUIRED_COLUMNS = 6
SMALLEST_FRAME = 64  # bytes
METRES_PER_SECOND = 198_000_000  # in a cable, by SONiC's formula
MANY_LANES = 8  # lanes of a port with twice the pipeline latency
# Response times by link rate in pause quanta of 512 bit times: rate in Mb/s, IEEE 802.3 31B.3.7.
PAUSE_QUANTA = {
    100: 1,
    1000: 2,
    10_000: 67,
    25_000: 80,
    40_000: 118,
    50_000: 147,
    100_000: 394,
    200_000: 453,
    400_000: 905,
    800_000: 905,
}


@dataclass(frozen=True)
class Headroom:
    """Headroom and thresholds of a lossless group, in bytes; `None` leaves a value to the core."""

    size: int | None
    xon: int | None
    xoff: int | None
    xon_offset: int | None = None
    threshold: int | None = None


@dataclass(frozen=True)
class LookupFile:
    """Lines of a `pg_profile_lookup.ini` by speed and cable."""

    path: str
    lines: dict[tuple[int, str], Headroom]

    def find(self, port: SwitchPort) -> Headroom:
        """Returns the line for the speed and cable of a port."""
        found = self.lines.get((port.speed, port.cable or ""))
        if found is None:
            what = f"no line for speed {port.speed} and cable {port.cable or '(no length)'} of {port.name}"
            known = ", ".join(f"{speed} {cable}" for speed, cable in self.lines)
            raise BadInput(
                f"{self.path}: found {what}; expected one of {cut_user_text(known) or 'its lines'}"
            )
        return found


def read_lookup_file(path: str | Path) -> LookupFile:
    """Reads a `pg_profile_lookup.ini`, whose lines have numbers and a cable separated by spaces."""
    text = read_text_file(path, "a SONiC pg_profile_lookup.ini")
    lines: dict[tuple[int, str], Headroom] = {}
    for at, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        numbers = [parse_whole_number(one) for one in (fields[0], *fields[2:])]
        is_whole = all(one is not None for one in numbers)
        if not (
            REQUIRED_COLUMNS <= len(fields) <= len(LOOKUP_COLUMNS) and is_whole and CABLE.fullmatch(fields[1])
        ):
            rule = f"the columns {', '.join(LOOKUP_COLUMNS)}, such as 100000 300m 1248 2288 268736 0 2288"
            raise BadInput(f"{path}:{at}: found {cut_user_text(line.strip())}; expected {rule}")
        speed, size, xon, xoff, threshold, *offset = (one for one in numbers if one is not None)
        least = min(size, xon, xoff, *offset, speed)
        if least < 0:
            raise BadInput(f"{path}:{at}: found {least}; expected sizes of at least 0")
        lines[speed, fields[1]] = Headroom(size, xon, xoff, offset[0] if offset else None, threshold)
    return LookupFile(str(path), lines)


@dataclass(frozen=True)
class DynamicModel:
    """Parameters of the dynamic buffer model."""

    frame: int  # bytes of the largest lossless frame
    small_percentage: int  # share of frames of 64 B
    default_threshold: int
    over_subscribe_ratio: int

    def cell_factor(self, cell: int) -> Fraction:
        """Returns the memory that frames take, per byte of the frames."""
        smaller, larger = Fraction(2 * cell, 1 + cell), Fraction(cell, SMALLEST_FRAME)
        worst = larger if cell > 2 * SMALLEST_FRAME else smaller
        return (100 - self.small_percentage + self.small_percentage * worst) / 100

    def compute(self, port: SwitchPort, chip: Chip, shares_headroom: bool) -> Headroom:
        """Returns the headroom of a port, as the formula of SONiC for Spectrum chips computes it.

        The headroom is that of IEEE 802.1Qbb: frames in the cable both ways, in the interfaces, and in the
        response time of the far end. Their memory is rounded up to KiB.
        """
        metres = port.cable_metres
        if chip.delays is None or metres is None:
            return Headroom(0, None, None)
        quanta = PAUSE_QUANTA.get(port.speed)
        response = chip.delays.peer_response if quanta is None else Fraction(quanta * 512, 8)
        # The formula divides by 1024 where the rate in bits would need 1000.
        on_cable = 2 * metres * port.speed * Fraction(10**9, METRES_PER_SECOND) / (8 * KIB)
        in_flight = port.mtu + on_cable + chip.delays.mac_and_phy + response
        xoff = round_up_to_kib(self.frame + in_flight * self.cell_factor(chip.cell))
        many = len(port.lanes) == MANY_LANES
        xon = round_up_to_kib(Fraction(2 * chip.delays.pipeline - KIB if many else chip.delays.pipeline))
        own = 0 if shares_headroom else xoff + (port.mtu if many else 0)
        return Headroom(round_up_to_kib(Fraction(xon + own)), xon, xoff)


def round_up_to_kib(size: Fraction) -> int:
    """Rounds a size up to whole KiB."""
    return math.ceil(size / KIB) * KIB


def read_dynamic_model(config: ConfigTables) -> DynamicModel | None:
    """Returns the parameters of the dynamic buffer model; `None` if the switch uses the traditional one."""
    row = config.rows("DEVICE_METADATA").get("localhost")
    if row is None or row.choice("buffer_model", ("traditional", "dynamic"), "traditional") == "traditional":
        return None
    parameters, pattern = (
        config.only_row("DEFAULT_LOSSLESS_BUFFER_PARAMETER"),
        config.only_row("LOSSLESS_TRAFFIC_PATTERN"),
    )
    for table, found in (
        ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", parameters),
        ("LOSSLESS_TRAFFIC_PATTERN", pattern),
    ):
        if found is None:
            rule = "a row, because DEVICE_METADATA|localhost has buffer_model = dynamic"
            raise BadInput(f"{config.file}: {table}: found no row; expected {rule}")
    assert parameters is not None and pattern is not None
    return DynamicModel(
        pattern.required_number("mtu", SMALLEST_FRAME, 65_535),
        pattern.required_number("small_packet_percentage", 0, 100),
        parameters.required_number("default_dynamic_th", -16, 16),
        parameters.whole_number("over_subscribe_ratio", 0, 1_000_000) or 0,
    )
