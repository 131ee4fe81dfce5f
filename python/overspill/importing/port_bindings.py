"""Bindings of profiles to groups and queues of ports, from tables with keys such as `Ethernet0|3-4`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from overspill.importing.config_tables import NUMBERS, ConfigTables, Row, parse_port_numbers
from overspill.importing.omissions import Omissions

PortNumber = tuple[str, int]


@dataclass
class Bindings:
    """Rows of a table by port and number of a group or queue, for each field that binds something."""

    table: str
    rows: dict[str, dict[PortNumber, Row]] = field(default_factory=dict)

    def row(self, field_name: str, port: str, number: int) -> Row | None:
        """Returns the row that binds a field at a port and number; `None` without one."""
        return self.rows.get(field_name, {}).get((port, number))

    def numbers(self, field_name: str, ports: Sequence[str]) -> set[int]:
        """Returns the numbers for which a field is bound at one of the ports."""
        wanted = set(ports)
        return {number for port, number in self.rows.get(field_name, {}) if port in wanted}


def read_bindings(
    config: ConfigTables, table: str, fields: Sequence[str], ports: Mapping[str, object], omissions: Omissions
) -> Bindings:
    """Returns the bindings of a table; `ports` are the ports that the scenario has.

    Several rows may have different fields of one queue. Two rows with different values of one field are an
    error, because the switch would take either.
    """
    known, found = config.rows("PORT"), Bindings(table)
    for row in config.rows(table).values():
        key = parse_port_numbers(row, known)
        if key is None:
            omissions.add(row.path, "the CPU port and virtual output queues have no counterpart")
            continue
        high = [number for number in key.numbers if number >= NUMBERS]
        if high and any(port in ports for port in key.ports):
            omissions.add(row.path, f"numbers from {high[0]} on; a scenario has groups and queues 0 to 7")
        for name in fields:
            if row.text(name) in (None, ""):
                continue
            own = found.rows.setdefault(name, {})
            for pair in key.pairs():
                other = own.setdefault(pair, row)
                if other.text(name) != row.text(name):
                    what = f"{row.text(name)}, but {other.path} has {other.text(name)}"
                    raise row.error(name, what, f"one value for {pair[0]}|{pair[1]}")
    return found
