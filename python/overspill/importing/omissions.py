"""List of the settings of a configuration that a scenario cannot express."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

MOST_PORTS = 4  # that a line names
Value = TypeVar("Value", bound=Hashable)


def join_ports(ports: Iterable[str]) -> str:
    """Joins the names of ports; a long list is cut, with their number."""
    names = list(ports)
    if len(names) <= MOST_PORTS:
        return ",".join(names)
    return f"{','.join(names[:MOST_PORTS])},… ({len(names)} ports)"


class Omissions:
    """Settings that a scenario cannot express, by table and key, in the order in which they were found."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def add(self, where: str, text: str) -> None:
        """Adds a setting, named by table, key and field; the first text about it stays."""
        self.found.setdefault(where, text)

    def lines(self) -> list[str]:
        """Returns a line for each setting."""
        return [f"{where}: {text}" for where, text in self.found.items()]


def most_common(
    values: Mapping[str, Value],
    where: Callable[[str], str],
    describe: Callable[[Value], str],
    omissions: Omissions,
) -> Value | None:
    """Returns the value that most ports have, and lists the ports with another one.

    A scenario has one value for all ports. Among equally frequent values, that of the first port is taken.
    `where` returns the place of a setting from the names of its ports. `None` is returned without any port.
    """
    ports_by_value: dict[Value, list[str]] = {}
    for port, value in values.items():
        ports_by_value.setdefault(value, []).append(port)
    if not ports_by_value:
        return None
    chosen = max(ports_by_value, key=lambda value: len(ports_by_value[value]))
    for value, ports in ports_by_value.items():
        if value != chosen:
            text = f"found {describe(value)}; the fragment has {describe(chosen)} at all ports"
            omissions.add(where(join_ports(ports)), text)
    return chosen
