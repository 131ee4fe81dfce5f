"""Maps of a port: DSCP to class, class to group and queue, and the priorities of PFC."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from overspill.importing.config_tables import (
    NUMBERS,
    ConfigTables,
    Row,
    parse_ports,
    parse_whole_number,
)
from overspill.importing.omissions import Omissions, join_ports, most_common
from overspill.importing.switch_ports import SwitchPort

DSCPS = 64
GLOBAL = "global"  # key of PORT_QOS_MAP for maps of the whole switch
NO_MAP = "no map"
Numbers = tuple[int, ...]
# Fields of PORT_QOS_MAP without a counterpart in a scenario.
UNSUPPORTED_FIELDS = {
    "dot1p_to_tc_map": "classes by the priority of VLAN tags; the fragment has classes by DSCP alone",
    "tc_to_dscp_map": "switches rewrite DSCPs; packets keep theirs in a scenario",
    "tc_to_dot1p_map": "switches rewrite VLAN priorities; frames have no VLAN tag in a scenario",
    "dscp_to_fc_map": "forwarding classes by DSCP",
    "exp_to_fc_map": "forwarding classes of MPLS",
    "mpls_tc_to_tc_map": "classes of MPLS",
    "scheduler": "maximum rate of a whole port; set the rate of the link instead",
}


@dataclass(frozen=True)
class MapTable:
    """Table of maps, with the ranges of its keys and values."""

    name: str
    field: str  # of PORT_QOS_MAP, which binds a map to a port
    keys: int
    largest_value: int


GROUP_MAP = MapTable("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map", NUMBERS, NUMBERS - 1)
QUEUE_MAP = MapTable("TC_TO_QUEUE_MAP", "tc_to_queue_map", NUMBERS, 255)
DSCP_MAP = MapTable("DSCP_TO_TC_MAP", "dscp_to_tc_map", DSCPS, NUMBERS - 1)
PFC_QUEUE_MAP = MapTable("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map", NUMBERS, 255)
PFC_GROUP_MAP = MapTable("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_to_pg_map", NUMBERS, NUMBERS - 1)


@dataclass(frozen=True)
class ClassMaps:
    """Maps of all ports, and the lossless groups of each port."""

    class_to_group: Numbers
    class_to_queue: Numbers
    dscp_to_class: Numbers | None
    paused_groups: Mapping[str, Numbers]  # groups for whose classes PFC is enabled, by port
    names: Sequence[str]  # maps in use, for a comment


def read_map(row: Row, table: MapTable, omissions: Omissions) -> dict[int, int]:
    """Returns the entries of a map; entries for classes above 7 are left out."""
    entries: dict[int, int] = {}
    for key in row.fields:
        number = parse_whole_number(key)
        if number is None or number < 0:
            raise row.error("", f"the entry {key}", f"entries from 0 to {table.keys - 1}")
        value = row.required_number(key, 0, table.largest_value)
        if number >= table.keys:
            omissions.add(f"{row.path}|{key}", f"found an entry above {table.keys - 1}; a scenario has none")
        else:
            entries[number] = value
    return entries


class PortMaps:
    """Reader of PORT_QOS_MAP and of the maps that it binds."""

    def __init__(self, config: ConfigTables, ports: Sequence[SwitchPort], omissions: Omissions) -> None:
        self.config, self.omissions = config, omissions
        self.rows: dict[str, Row] = {}
        self.global_row: Row | None = None
        known = config.rows("PORT")
        for row in config.rows("PORT_QOS_MAP").values():
            if row.key == GLOBAL:
                self.global_row = row
                continue
            self.rows.update(dict.fromkeys(parse_ports(row, row.key, known), row))
        self.names = [port.name for port in ports]
        self.used: dict[str, None] = {}

    def map_of_port(self, port: str, table: MapTable) -> Row | None:
        """Returns the map that is bound to a port, or else to the switch."""
        for row in (self.rows.get(port), self.global_row):
            if row is not None and (found := self.config.reference(row, table.field, table.name)) is not None:
                return found
        return None

    def read(
        self, table: MapTable, complete: Callable[[Row | None, dict[int, int]], Numbers | None]
    ) -> Numbers | None:
        """Returns the map that most ports have, made complete by a function."""
        values: dict[str, Numbers | None] = {}
        names: dict[Numbers | None, str] = {}
        for port in self.names:
            row = self.map_of_port(port, table)
            entries = {} if row is None else read_map(row, table, self.omissions)
            values[port] = complete(row, entries)
            names.setdefault(values[port], NO_MAP if row is None else row.path)
        chosen = most_common(
            values,
            lambda ports: f"PORT_QOS_MAP|{ports}|{table.field}",
            lambda value: names[value],
            self.omissions,
        )
        self.used[names.get(chosen, NO_MAP)] = None
        return chosen

    def complete_classes(self, table: MapTable) -> Callable[[Row | None, dict[int, int]], Numbers]:
        """Returns the function that completes a map of classes; SAI puts classes without an entry into 0."""

        def complete(row: Row | None, entries: dict[int, int]) -> Numbers:
            if row is None:
                where = f"PORT_QOS_MAP|{table.field}"
                self.omissions.add(where, "found no map; the fragment keeps the number of each class")
                return tuple(range(NUMBERS))
            missing = [key for key in range(NUMBERS) if key not in entries]
            if missing:
                text = f"found no entry for {', '.join(map(str, missing))}; the fragment has 0 there"
                self.omissions.add(row.path, text)
            return tuple(self.number_in_model(row, key, entries.get(key, 0)) for key in range(NUMBERS))

        return complete

    def number_in_model(self, row: Row, key: int, value: int) -> int:
        """Returns a queue or group from 0 to 7; above 7, that of the number of the class."""
        if value < NUMBERS:
            return value
        text = f"found queue {value}; a scenario has queues 0 to 7, and the fragment has queue {key}"
        self.omissions.add(f"{row.path}|{key}", text)
        return key

    def enabled_priorities(self) -> dict[str, Numbers]:
        """Returns the priorities of each port with PFC."""
        found = {}
        for port in self.names:
            row = self.rows.get(port)
            found[port] = tuple((row.numbers("pfc_enable") if row is not None else None) or ())
        return found

    def paused_groups(self, class_to_group: Numbers, class_to_queue: Numbers) -> dict[str, Numbers]:
        """Returns the groups of each port with PFC, and lists pauses that stop other queues in a scenario."""
        groups: dict[str, Numbers] = {}
        different: dict[tuple[int, Numbers, Numbers], list[str]] = {}
        for port, priorities in self.enabled_priorities().items():
            to_group, to_queue = (self.pfc_map(port, table) for table in (PFC_GROUP_MAP, PFC_QUEUE_MAP))
            own = {priority: to_group.get(priority, priority) for priority in priorities}
            groups[port] = tuple(sorted(set(own.values())))
            for group in groups[port]:
                paused = {to_queue.get(one, one) for one in priorities if own[one] == group}
                modelled = {class_to_queue[one] for one in range(NUMBERS) if class_to_group[one] == group}
                if paused != modelled:
                    case = (group, tuple(sorted(paused)), tuple(sorted(modelled)))
                    different.setdefault(case, []).append(port)
        for (group, paused_queues, modelled_queues), ports in different.items():
            text = f"a pause of group {group} stops {list_queues(paused_queues)}; in the fragment it stops "
            where = f"PORT_QOS_MAP|{join_ports(ports)}|pfc_to_queue_map"
            self.omissions.add(where, text + list_queues(modelled_queues))
        return groups

    def pfc_map(self, port: str, table: MapTable) -> dict[int, int]:
        """Returns a map of the priorities of PFC; empty if the port does not have it."""
        row = self.map_of_port(port, table)
        return {} if row is None else read_map(row, table, self.omissions)

    def list_unsupported_fields(self) -> None:
        """Lists the fields of PORT_QOS_MAP without a counterpart in a scenario."""
        for field, text in UNSUPPORTED_FIELDS.items():
            ports = [one for one in self.names if one in self.rows and field in self.rows[one].fields]
            if ports:
                self.omissions.add(f"PORT_QOS_MAP|{join_ports(ports)}|{field}", text)


def list_queues(queues: Numbers) -> str:
    """Lists the numbers of queues."""
    if not queues:
        return "no queue"
    return f"queue{'s' * (len(queues) > 1)} {', '.join(map(str, queues))}"


def read_class_maps(maps: PortMaps) -> ClassMaps:
    """Returns the maps of the ports that the scenario has."""
    to_group = maps.read(GROUP_MAP, maps.complete_classes(GROUP_MAP))
    to_queue = maps.read(QUEUE_MAP, maps.complete_classes(QUEUE_MAP))
    # SAI gives class 0 to packets with a DSCP that has no entry.
    dscps = maps.read(
        DSCP_MAP,
        lambda row, entries: None if row is None else tuple(entries.get(dscp, 0) for dscp in range(DSCPS)),
    )
    assert to_group is not None and to_queue is not None
    paused = maps.paused_groups(to_group, to_queue)
    maps.list_unsupported_fields()
    return ClassMaps(to_group, to_queue, dscps, paused, [one for one in maps.used if one != NO_MAP])
