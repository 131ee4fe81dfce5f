"""Pools and profiles of the buffer tables, in the terms of `switch.buffer`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from overspill.errors import BadInput, cut_user_text
from overspill.importing.chips import Chip
from overspill.importing.config_tables import ConfigTables, Row
from overspill.importing.headroom import MANY_LANES, DynamicModel, Headroom, LookupFile
from overspill.importing.omissions import Omissions
from overspill.importing.switch_ports import DEFAULT_MTU, SwitchPort

SIDES = ("ingress", "egress")
MODES = ("dynamic", "static")
LOSSLESS_POOL = "ingress_lossless_pool"  # pool of the profiles that SONiC makes itself
COMPUTED_PROFILE = "NULL"  # profile of a group whose headroom the switch computes
LARGEST_EXPONENT = 16


@dataclass(frozen=True)
class Pool:
    """Pool of shared memory; sizes in bytes."""

    name: str
    side: str
    size: int
    mode: str
    headroom: int | None = None
    over_subscribe_ratio: int | None = None

    @property
    def shares_headroom(self) -> bool:
        """True if the groups of the pool share headroom."""
        return self.headroom is not None or self.over_subscribe_ratio is not None


@dataclass(frozen=True)
class Profile:
    """Profile of groups or queues; sizes in bytes."""

    name: str
    pool: Pool
    reserve: int = 0
    dynamic_th: int | None = None
    static_limit: int | None = None
    lossless: bool = False
    xoff: int | None = None
    xon: int | None = None
    xon_offset: int | None = None


@dataclass(frozen=True)
class BufferOptions:
    """Facts outside the configuration that determine pools and profiles."""

    chip: Chip
    lookup: LookupFile | None
    pool_sizes: Mapping[str, int]


class BufferTables:
    """Reader of BUFFER_POOL and BUFFER_PROFILE."""

    def __init__(self, config: ConfigTables, options: BufferOptions, dynamic: DynamicModel | None) -> None:
        self.config, self.options, self.dynamic = config, options, dynamic
        self.omissions = Omissions()
        self.pools = {name: self.read_pool(row) for name, row in config.rows("BUFFER_POOL").items()}
        if not self.pools:
            raise BadInput(f"{config.file}: BUFFER_POOL: found no pools; expected a row for each pool")
        unknown = [one for one in options.pool_sizes if one not in self.pools]
        if unknown:
            known = ", ".join(self.pools)
            raise BadInput(f"--pool-size: found {cut_user_text(unknown[0])}; expected pools such as {known}")
        self.known: dict[tuple[str, str], Profile] = {}

    def read_pool(self, row: Row) -> Pool:
        """Returns a pool; its size may come from the option `--pool-size`."""
        side = row.choice("type", SIDES, "")
        if not side:
            raise row.error("type", "nothing", f"one of {', '.join(SIDES)}")
        mode = row.choice("mode", MODES, "dynamic")
        size = self.options.pool_sizes.get(row.key, row.whole_number("size", 1))
        if size is None:
            rule = f"a size, or --pool-size {row.key}=BYTES with the size that the switch computed"
            raise row.error("size", "nothing", rule)
        headroom = row.whole_number("xoff") or None if side == "ingress" else None
        ratio = None if self.dynamic is None or headroom is not None else self.dynamic.over_subscribe_ratio
        shares = side == "ingress" and bool(ratio) and self.holds_lossless_groups(row.key)
        if row.text("percentage") is not None and "size" not in row.fields:
            self.omissions.add(f"{row.path}|percentage", f"the fragment has the size {size}B of --pool-size")
        return Pool(row.key, side, size, mode, headroom, ratio if shares else None)

    def holds_lossless_groups(self, pool: str) -> bool:
        """Returns true if the headroom of lossless groups belongs to a pool."""
        if pool == LOSSLESS_POOL:
            return True
        rows = self.config.rows("BUFFER_PROFILE").values()
        lossless = [one for one in rows if "xoff" in one.fields and "pool" in one.fields]
        return any(
            self.config.find(one, "pool", one.text("pool") or "", "BUFFER_POOL").key == pool
            for one in lossless
        )

    def profile(self, row: Row, port: SwitchPort) -> Profile:
        """Returns the profile of a row; computed headroom depends on the port."""
        if row.choice("headroom_type", ("static", "dynamic"), "static") == "dynamic":
            threshold = row.whole_number("dynamic_th", -LARGEST_EXPONENT, LARGEST_EXPONENT)
            pool = self.config.reference(row, "pool", "BUFFER_POOL")
            return self.computed_profile(row, port, threshold, LOSSLESS_POOL if pool is None else pool.key)
        key = (row.table, row.key)
        if key not in self.known:
            self.known[key] = self.read_profile(row)
        return self.known[key]

    def read_profile(self, row: Row) -> Profile:
        """Returns a profile with all its values in the configuration."""
        found = self.config.reference(row, "pool", "BUFFER_POOL")
        if found is None:
            raise row.error("pool", "nothing", "a row of BUFFER_POOL")
        pool = self.pools[found.key]
        dynamic = row.whole_number("dynamic_th", -LARGEST_EXPONENT, LARGEST_EXPONENT)
        static = row.whole_number("static_th")
        if (dynamic is None) == (static is None):
            what = "neither dynamic_th nor static_th" if dynamic is None else "dynamic_th and static_th"
            raise row.error("", what, "one of them, because it decides the mode of the profile")
        xoff = row.whole_number("xoff") if pool.side == "ingress" else None
        size = row.whole_number("size") or 0
        lossless = xoff is not None
        reserve = self.reserve_without_headroom(row, pool, size, xoff or 0)
        action = row.choice("packet_discard_action", ("drop", "trim"), "drop")
        if action == "trim":
            text = 'cut packets; add `switch.overflow = { kind = "trim", … }` by hand'
            self.omissions.add(f"{row.path}|packet_discard_action", text)
        return Profile(
            row.key,
            pool,
            reserve,
            dynamic,
            # A static limit of 0 means no limit, so that only the pool limits the account.
            static or None,
            lossless,
            xoff,
            row.whole_number("xon") if lossless else None,
            row.whole_number("xon_offset") if lossless else None,
        )

    def reserve_without_headroom(self, row: Row, pool: Pool, size: int, xoff: int) -> int:
        """Returns the size of a profile, without its headroom if the pool has no shared headroom."""
        if pool.shares_headroom or xoff == 0:
            return size
        if size < xoff:
            rule = f"at least xoff ({xoff}), because the pool {pool.name} has no headroom of its own (xoff)"
            raise row.error("size", size, rule)
        return size - xoff

    def lossless_profile(self, row: Row, port: SwitchPort) -> Profile:
        """Returns the profile that the switch itself makes for a lossless group without one in the file."""
        if self.dynamic is not None:
            return self.computed_profile(row, port, None, LOSSLESS_POOL)
        if port.cable is None:
            raise self.no_headroom(row, port, "a length in CABLE_LENGTH")
        name = f"pg_lossless_{port.speed}_{port.cable}_profile"
        given = self.config.rows("BUFFER_PROFILE").get(name)
        if given is not None:
            return self.profile(given, port)
        if self.options.lookup is None:
            rule = f"BUFFER_PROFILE|{name}, a profile with xoff, or --lookup pg_profile_lookup.ini"
            raise self.no_headroom(row, port, rule)
        found = self.options.lookup.find(port)
        pool = self.pool_for_made_profile(row)
        profile = self.profile_of_headroom(name, pool, found)
        if pool.mode == "static":
            return replace(profile, static_limit=found.threshold or None)
        return replace(profile, dynamic_th=found.threshold)

    def no_headroom(self, row: Row, port: SwitchPort, expected: str) -> BadInput:
        """Returns the error about a lossless group without headroom."""
        return row.error("profile", f"no headroom for a lossless group of {port.name}", expected)

    def pool_for_made_profile(self, row: Row) -> Pool:
        """Returns the pool of profiles that the switch makes itself."""
        if LOSSLESS_POOL not in self.pools:
            raise row.error("profile", f"no pool {LOSSLESS_POOL}", f"BUFFER_POOL|{LOSSLESS_POOL}")
        return self.pools[LOSSLESS_POOL]

    def profile_of_headroom(self, name: str, pool: Pool, found: Headroom) -> Profile:
        """Returns a lossless profile; without shared headroom, its size includes the headroom."""
        size = found.size or 0
        reserve = size if pool.shares_headroom else max(0, size - (found.xoff or 0))
        return Profile(
            name,
            pool,
            reserve,
            lossless=True,
            xoff=found.xoff,
            xon=found.xon,
            xon_offset=found.xon_offset,
        )

    def computed_profile(self, row: Row, port: SwitchPort, threshold: int | None, pool_name: str) -> Profile:
        """Returns a profile with the headroom of the dynamic buffer model."""
        if self.dynamic is None:
            rule = "buffer_model = dynamic in DEVICE_METADATA|localhost, or a profile with xoff"
            raise row.error("headroom_type", "dynamic", rule)
        if port.cable is None:
            raise self.no_headroom(row, port, "a length in CABLE_LENGTH")
        if pool_name not in self.pools:
            raise row.error("profile", f"no pool {pool_name}", f"BUFFER_POOL|{pool_name}")
        pool, usual = self.pools[pool_name], self.dynamic.default_threshold
        chosen = usual if threshold is None else threshold
        name = f"pg_lossless_{port.speed}_{port.cable}"
        name += f"_mtu{port.mtu}" if port.mtu != DEFAULT_MTU else ""
        name += "_8lane" if len(port.lanes) == MANY_LANES else ""
        name += "_profile" if chosen == usual else f"_th{chosen}_profile"
        given = self.config.rows("BUFFER_PROFILE").get(name)
        if given is not None and "xoff" in given.fields:
            return self.profile(given, port)
        found = self.dynamic.compute(port, self.options.chip, pool.shares_headroom)
        if found.xoff is None:
            text = (
                "no delays of the chip are known; the fragment leaves headroom to Overspill (xoff is not set)"
            )
            self.omissions.add("LOSSLESS_TRAFFIC_PATTERN", text)
        return replace(self.profile_of_headroom(name, pool, found), dynamic_th=chosen)
