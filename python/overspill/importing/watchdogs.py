"""PFC watchdog of the ports."""

from collections.abc import Sequence
from dataclasses import dataclass

from overspill.importing.class_maps import PortMaps
from overspill.importing.config_tables import ConfigTables, Row, parse_ports
from overspill.importing.omissions import Omissions, join_ports, most_common
from overspill.importing.switch_ports import SwitchPort

TABLE = "PFC_WD"
GLOBAL = "GLOBAL"  # key with the settings of all ports
ACTIONS = ("drop", "forward", "alert")
MOST_MILLISECONDS = 3_600_000


@dataclass(frozen=True)
class Watchdog:
    """Settings of the watchdog; times in ms."""

    action: str
    detection: int
    restoration: int | None


@dataclass(frozen=True)
class WatchdogSettings:
    """Watchdog of all ports; `None` without one."""

    watchdog: Watchdog | None
    poll_interval: int | None


def read_watchdog(row: Row) -> Watchdog:
    """Returns the watchdog of a port."""
    action = row.choice("action", ACTIONS, "drop")
    detection = row.required_number("detection_time", 1, MOST_MILLISECONDS)
    return Watchdog(action, detection, row.whole_number("restoration_time", 1, MOST_MILLISECONDS))


def read_watchdogs(
    config: ConfigTables, ports: Sequence[SwitchPort], omissions: Omissions
) -> WatchdogSettings:
    """Returns the watchdog that most ports have, and lists those with other settings."""
    known, rows = config.rows("PORT"), config.rows(TABLE)
    by_port: dict[str, Watchdog] = {}
    poll: int | None = None
    for row in rows.values():
        if row.key == GLOBAL:
            poll = row.whole_number("POLL_INTERVAL", 1, MOST_MILLISECONDS)
            if row.choice("BIG_RED_SWITCH", ("enable", "disable"), "disable") == "enable":
                text = "drops all lossless traffic, and stops watchdogs; the fragment keeps the watchdogs"
                omissions.add(f"{row.path}|BIG_RED_SWITCH", text)
            continue
        by_port.update(dict.fromkeys(parse_ports(row, row.key, known), read_watchdog(row)))
    values = {port.name: by_port.get(port.name) for port in ports}
    chosen = most_common(
        values,
        lambda names: f"{TABLE}|{names}",
        lambda own: "no watchdog" if own is None else f"the action {own.action} after {own.detection} ms",
        omissions,
    )
    if chosen is not None and chosen.restoration is None:
        omissions.add(f"{TABLE}|restoration_time", "not set; the fragment has the default of Overspill")
    return WatchdogSettings(chosen, poll if chosen is not None else None)


def list_watched_priorities(maps: PortMaps, omissions: Omissions) -> None:
    """Lists ports whose watchdog does not watch exactly the priorities with PFC."""
    enabled = maps.enabled_priorities()
    different = []
    for port in maps.names:
        row = maps.rows.get(port)
        watched = None if row is None else row.numbers("pfcwd_sw_enable")
        if watched is not None and tuple(watched) != enabled[port]:
            different.append(port)
    if different:
        text = "the watchdog watches other priorities than those with PFC; in the fragment it watches those"
        omissions.add(f"PORT_QOS_MAP|{join_ports(different)}|pfcwd_sw_enable", text)
