"""Schedulers and WRED profiles of queues."""

from collections.abc import Sequence
from dataclasses import dataclass

from overspill.importing.config_tables import NUMBERS, ConfigTables, Row
from overspill.importing.omissions import Omissions, join_ports, most_common
from overspill.importing.port_bindings import Bindings, read_bindings
from overspill.importing.switch_ports import SwitchPort

TABLE = "QUEUE"
SCHEDULER_TYPES = ("DWRR", "WRR", "STRICT")
LARGEST_WEIGHT = 1_000_000
ECN_MODES = (
    "ecn_none",
    "ecn_green",
    "ecn_yellow",
    "ecn_red",
    "ecn_green_yellow",
    "ecn_green_red",
    "ecn_yellow_red",
    "ecn_all",
)
GREEN_MODES = ("ecn_green", "ecn_green_yellow", "ecn_green_red", "ecn_all")
COLOURED_FIELDS = ("min_threshold", "max_threshold", "drop_probability")
SWITCH_VALUES = ("true", "false")


@dataclass(frozen=True)
class QueueSchedule:
    """Scheduling of a queue: strict or by weight, and its maximum rate in bytes per second."""

    strict: bool = False
    weight: int = 1
    max_rate: int | None = None
    burst: int | None = None


@dataclass(frozen=True)
class WredProfile:
    """Thresholds in bytes at which a queue marks or drops packets, and the probability at the higher one."""

    name: str
    least: int
    most: int
    probability: int  # percent
    marks: bool


def read_schedule(row: Row, omissions: Omissions) -> QueueSchedule:
    """Returns the scheduling of a row of SCHEDULER, and lists what a scenario does not have."""
    kind = row.choice("type", SCHEDULER_TYPES, "WRR")
    weight = row.whole_number("weight", 1, LARGEST_WEIGHT) or 1
    if kind == "WRR":
        omissions.add(f"{row.path}|type", "WRR counts packets; the fragment shares bytes (DWRR)")
    if row.whole_number("cir") or row.whole_number("cbs"):
        omissions.add(f"{row.path}|cir", "minimum rates and their burst (cir, cbs); a scenario has none")
    if row.whole_number("priority"):
        omissions.add(f"{row.path}|priority", "strict queues are served by their numbers alone")
    rate, burst = row.whole_number("pir") or None, row.whole_number("pbs") or None
    if row.choice("meter_type", ("packets", "bytes"), "bytes") == "packets" and rate is not None:
        omissions.add(f"{row.path}|meter_type", "maximum rates in packets; the fragment has no maximum rate")
        rate = burst = None
    strict = kind == "STRICT"
    return QueueSchedule(strict, 1 if strict else weight, rate, burst)


def read_wred(row: Row, omissions: Omissions) -> WredProfile | None:
    """Returns the profile of green packets; `None` if it neither marks nor drops them."""
    mode = row.choice("ecn", ECN_MODES, "ecn_none")
    marks, drops = mode in GREEN_MODES, is_enabled(row, "wred_green_enable")
    list_colours(row, mode, omissions)
    if not marks and not drops:
        return None
    prefix, probability_field = "green", "green_drop_probability"
    if marks and "ecn_green_min_threshold" in row.fields:
        prefix, probability_field = "ecn_green", "ecn_green_mark_probability"
        text = "thresholds of drops beside those of marks; the fragment has those of marks alone"
        omissions.add(f"{row.path}|green_min_threshold", text)
    least = row.required_number(f"{prefix}_min_threshold")
    most = row.required_number(f"{prefix}_max_threshold", max(least, 1))
    probability = row.whole_number(probability_field, 0, 100)
    if marks and not drops:
        text = "not set, so packets that are not ECN-capable pass; in the fragment they are dropped"
        omissions.add(f"{row.path}|wred_green_enable", text)
    return WredProfile(row.key, least, most, 100 if probability is None else probability, marks)


def is_enabled(row: Row, field: str) -> bool:
    """Returns true if a field with a truth value is set."""
    value = row.fields.get(field)
    if isinstance(value, bool):
        return value
    return row.choice(field, SWITCH_VALUES, "false") == "true"


def list_colours(row: Row, mode: str, omissions: Omissions) -> None:
    """Lists profiles that treat yellow or red packets in another way than green ones."""
    green = {field: row.text(f"green_{field}") for field in COLOURED_FIELDS}
    for colour in ("yellow", "red"):
        own = {field: row.text(f"{colour}_{field}") for field in COLOURED_FIELDS}
        if any(value is not None and value != green[field] for field, value in own.items()):
            omissions.add(f"{row.path}|{colour}", "other thresholds; all packets of a scenario are green")
    if mode not in ("ecn_all", "ecn_none"):
        omissions.add(f"{row.path}|ecn", f"{mode} depends on colours; all packets of a scenario are green")


class QueueTable:
    """Reader of QUEUE."""

    def __init__(self, config: ConfigTables, ports: Sequence[SwitchPort], omissions: Omissions) -> None:
        self.config, self.omissions = config, omissions
        self.names = [port.name for port in ports]
        known = dict.fromkeys(self.names)
        fields = ("scheduler", "wred_profile")
        self.bindings: Bindings = read_bindings(config, TABLE, fields, known, omissions)

    def chosen_row(self, field: str, table: str, number: int) -> Row | None:
        """Returns the row of `table` that most ports bind to a queue."""
        found: dict[str, Row | None] = {}
        for port in self.names:
            binding = self.bindings.row(field, port, number)
            found[port] = None if binding is None else self.config.reference(binding, field, table)
        paths = {port: None if row is None else row.path for port, row in found.items()}

        def where(ports: str) -> str:
            return f"{TABLE}|{ports}|{number}|{field}"

        chosen = most_common(paths, where, lambda path: path or "nothing", self.omissions)
        return next((row for row in found.values() if row is not None and row.path == chosen), None)

    def schedules(self, used_queues: set[int]) -> list[QueueSchedule]:
        """Returns the scheduling of queues 0 to 7."""
        rows = [self.chosen_row("scheduler", "SCHEDULER", number) for number in range(NUMBERS)]
        missing = [number for number, row in enumerate(rows) if row is None and number in used_queues]
        if missing:
            text = "no scheduler; the fragment has round robin with weight 1, the default of SAI"
            self.omissions.add(f"{TABLE}|{join_ports(self.names)}|{','.join(map(str, missing))}", text)
        return [QueueSchedule() if row is None else read_schedule(row, self.omissions) for row in rows]

    def wred_profiles(self) -> dict[WredProfile, list[int]]:
        """Returns the WRED profiles in use, each with its queues."""
        found: dict[WredProfile, list[int]] = {}
        for number in range(NUMBERS):
            row = self.chosen_row("wred_profile", "WRED_PROFILE", number)
            profile = None if row is None else read_wred(row, self.omissions)
            if profile is not None:
                found.setdefault(profile, []).append(number)
        return found
