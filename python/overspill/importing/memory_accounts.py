"""Profiles of all groups and queues of the ports: entries of `groups` and `queues` in `switch.buffer`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from overspill.importing.buffer_profiles import COMPUTED_PROFILE, BufferTables, Pool, Profile
from overspill.importing.class_maps import ClassMaps
from overspill.importing.config_tables import NUMBERS, Row
from overspill.importing.omissions import Omissions, join_ports
from overspill.importing.port_bindings import Bindings, read_bindings
from overspill.importing.switch_ports import SwitchPort

NO_CABLE = "0m"  # length with which SONiC makes no lossless groups
PORT_PROFILE_LISTS = ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")


@dataclass(frozen=True)
class Selector:
    """Ports to which an entry applies: all, those with a rate in Mb/s, or those with listed numbers."""

    rate: int | None = None
    ports: tuple[int, ...] = ()


@dataclass(frozen=True)
class AccountEntry:
    """Entry of `groups` or `queues`: a profile for these numbers at some ports."""

    numbers: tuple[int, ...]
    profile: Profile
    selector: Selector


@dataclass(frozen=True)
class MemoryAccounts:
    """Entries of both sides."""

    groups: Sequence[AccountEntry]
    queues: Sequence[AccountEntry]

    def profiles(self) -> list[Profile]:
        """Returns all profiles in use, without repetition."""
        return list(dict.fromkeys(entry.profile for entry in (*self.groups, *self.queues)))


class AccountReader:
    """Reader of BUFFER_PG and BUFFER_QUEUE."""

    def __init__(
        self, tables: BufferTables, ports: Sequence[SwitchPort], maps: ClassMaps, omissions: Omissions
    ) -> None:
        self.tables, self.ports, self.maps, self.omissions = tables, ports, maps, omissions
        self.names = {port.name: port for port in ports}

    def bindings(self, table: str) -> Bindings:
        """Returns the profiles that a table binds."""
        return read_bindings(self.tables.config, table, ("profile",), self.names, self.omissions)

    def read(self) -> MemoryAccounts:
        """Returns the entries of both sides; a side without pools has none."""
        sides = {pool.side for pool in self.tables.pools.values()}
        groups = (
            self.side_entries("ingress", "BUFFER_PG", self.maps.class_to_group) if "ingress" in sides else []
        )
        queues = (
            self.side_entries("egress", "BUFFER_QUEUE", self.maps.class_to_queue) if "egress" in sides else []
        )
        return MemoryAccounts(groups, queues)

    def side_entries(self, side: str, table: str, class_map: Iterable[int]) -> list[AccountEntry]:
        """Returns the entries of one side."""
        bindings = self.bindings(table)
        in_use = set(class_map)
        bound = bindings.numbers("profile", list(self.names)) | in_use
        found = {
            number: {port.name: self.account_profile(side, bindings, port, number) for port in self.ports}
            for number in sorted(bound)
            if number < NUMBERS
        }
        self.check_pauses(side, found)
        self.fill_missing(side, table, found, in_use)
        return merge_entries(found, self.ports)

    def account_profile(self, side: str, bindings: Bindings, port: SwitchPort, number: int) -> Profile | None:
        """Returns the profile of a group or queue at a port; `None` if the configuration has none."""
        row = bindings.row("profile", port.name, number)
        paused = side == "ingress" and number in self.maps.paused_groups.get(port.name, ())
        if row is None:
            return self.made_profile(bindings.table, port, number) if paused else None
        if side == "ingress" and row.text("profile") == COMPUTED_PROFILE:
            return self.tables.lossless_profile(row, port)
        found = self.tables.config.reference(row, "profile", "BUFFER_PROFILE")
        assert found is not None
        profile = self.tables.profile(found, port)
        if profile.pool.side != side:
            what = f"{profile.name} of the {profile.pool.side} pool {profile.pool.name}"
            raise row.error("profile", what, f"a profile of an {side} pool")
        if paused and not profile.lossless:
            what = f"{profile.name}, a profile without headroom, for group {number} with PFC at {port.name}"
            raise row.error("profile", what, "a profile with xoff")
        return profile

    def made_profile(self, table: str, port: SwitchPort, number: int) -> Profile | None:
        """Returns the profile of a group with PFC and no row, as the traditional buffer model makes it."""
        row = Row(self.tables.config.file, table, f"{port.name}|{number}", {})
        if self.tables.dynamic is not None:
            raise self.tables.no_headroom(row, port, f"profile {COMPUTED_PROFILE}, or a profile with xoff")
        if port.cable == NO_CABLE:
            self.omissions.add(row.path, "PFC, but a cable of 0m; the switch makes no lossless group")
            return None
        return self.tables.lossless_profile(row, port)

    def check_pauses(self, side: str, found: Mapping[int, Mapping[str, Profile | None]]) -> None:
        """Lists lossless groups without PFC, which a scenario pauses nevertheless."""
        for number, profiles in found.items() if side == "ingress" else ():
            ports = [
                name
                for name, profile in profiles.items()
                if profile and profile.lossless and number not in self.maps.paused_groups.get(name, ())
            ]
            if ports:
                text = f"group {number} has headroom but no PFC; in the fragment it sends pauses"
                self.omissions.add(f"PORT_QOS_MAP|{join_ports(ports)}|pfc_enable", text)

    def fill_missing(
        self, side: str, table: str, found: dict[int, dict[str, Profile | None]], in_use: set[int]
    ) -> None:
        """Gives groups and queues without a row a profile without reserve and limit.

        The core needs a profile for each group and queue that has a class.
        """
        for number, profiles in found.items():
            missing = [name for name, profile in profiles.items() if profile is None]
            if not missing:
                continue
            if number not in in_use:
                # No class uses the number, so that only the ports with a row have a profile.
                found[number] = {name: profile for name, profile in profiles.items() if profile is not None}
                continue
            pool = self.pool_without_row(side, found)
            made = Profile(f"no_profile_{side}", pool)
            profiles.update(dict.fromkeys(missing, made))
            text = f"found no row; the fragment has no reserve and no limit there, in the pool {pool.name}"
            self.omissions.add(f"{table}|{join_ports(missing)}|{number}", text)

    def pool_without_row(self, side: str, found: Mapping[int, Mapping[str, Profile | None]]) -> Pool:
        """Returns the pool of groups or queues without a row: that of the first lossy ones, or the first."""
        every = [
            profile for profiles in found.values() for profile in profiles.values() if profile is not None
        ]
        lossy = [profile.pool for profile in every if not profile.lossless]
        own = [pool for pool in self.tables.pools.values() if pool.side == side]
        return (lossy or own)[0]


def merge_entries(
    found: Mapping[int, Mapping[str, Profile | None]], ports: Sequence[SwitchPort]
) -> list[AccountEntry]:
    """Returns entries in which numbers with the same profile at the same ports are together."""
    merged: dict[tuple[Profile, Selector], list[int]] = {}
    for number, profiles in found.items():
        own: dict[Profile, list[str]] = {}
        for name, profile in profiles.items():
            if profile is not None:
                own.setdefault(profile, []).append(name)
        for profile, names in own.items():
            for selector in select_ports(set(names), ports):
                merged.setdefault((profile, selector), []).append(number)
    return [AccountEntry(tuple(numbers), *key) for key, numbers in merged.items()]


def select_ports(names: set[str], ports: Sequence[SwitchPort]) -> Iterator[Selector]:
    """Yields the selectors of a set of ports: all, by rate if that suffices, or else by number."""
    if len(names) == len(ports):
        yield Selector()
        return
    rates = {port.speed for port in ports if port.name in names}
    if all(port.name in names for port in ports if port.speed in rates):
        yield from (Selector(rate=rate) for rate in sorted(rates))
        return
    yield Selector(ports=tuple(port.number for port in ports if port.name in names))


def list_port_limits(tables: BufferTables, ports: Sequence[SwitchPort], omissions: Omissions) -> None:
    """Lists the profiles of whole ports, which limit all groups or queues of a port together."""
    names = {port.name for port in ports}
    for table in PORT_PROFILE_LISTS:
        profiles: dict[str, None] = {}
        for row in tables.config.rows(table).values():
            # Old files have one row for many ports.
            if names & {one.strip() for one in row.key.split(",")}:
                found = tables.config.references(row, "profile_list", "BUFFER_PROFILE")
                profiles.update(dict.fromkeys(one.key for one in found))
        if profiles:
            text = f"reserves and limits of whole ports ({', '.join(profiles)}); a scenario has none"
            omissions.add(table, text)
