"""Import of a SONiC configuration: from its tables to a scenario fragment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from overspill.errors import BadInput, cut_user_text
from overspill.importing.buffer_profiles import BufferOptions, BufferTables
from overspill.importing.chips import ChipOptions, select_chip
from overspill.importing.class_maps import PortMaps, read_class_maps
from overspill.importing.config_tables import ConfigTables
from overspill.importing.fragment import Imported, write_fragment
from overspill.importing.headroom import read_dynamic_model, read_lookup_file
from overspill.importing.memory_accounts import AccountReader, list_port_limits
from overspill.importing.omissions import Omissions
from overspill.importing.queue_profiles import QueueSchedule, QueueTable
from overspill.importing.star_scenario import write_head
from overspill.importing.switch_ports import read_ports
from overspill.importing.watchdogs import list_watched_priorities, read_watchdogs

DEVICE_FIELDS = ("hwsku", "platform")
# Tables about queues and memory without a counterpart in a scenario.
UNSUPPORTED_TABLES = {
    "DOT1P_TO_TC_MAP": "classes by the priority of VLAN tags",
    "TC_TO_DSCP_MAP": "rewritten DSCPs",
    "TC_TO_DOT1P_MAP": "rewritten VLAN priorities",
    "DSCP_TO_FC_MAP": "forwarding classes",
    "EXP_TO_FC_MAP": "forwarding classes",
    "MPLS_TC_TO_TC_MAP": "classes of MPLS",
    "SWITCH_TRIMMING": 'cut packets; add `switch.overflow = { kind = "trim", … }` by hand',
    "PORT_STORM_CONTROL": "rate limits of broadcast and unknown packets",
}


@dataclass(frozen=True)
class SonicOptions:
    """Options of the command; `None` takes the default."""

    chip: ChipOptions = field(default_factory=ChipOptions)
    lookup: Path | None = None
    ports: Sequence[str] | None = None
    speed: str | None = None
    pool_sizes: Sequence[str] = ()
    star: bool = False  # whole scenario with the switch in a star


@dataclass(frozen=True)
class Fragment:
    """Text of a scenario fragment, and the settings that it cannot express."""

    text: str
    omitted: Sequence[str]


def parse_pool_sizes(given: Sequence[str]) -> dict[str, int]:
    """Parses the sizes of pools, each given as `NAME=BYTES`."""
    sizes = {}
    for text in given:
        name, equals, size = text.partition("=")
        digits = size.strip().removesuffix("B").strip()
        if not (
            equals and name.strip() and digits.isascii() and digits.isdigit() and 0 < int(digits) < 1 << 53
        ):
            rule = "NAME=BYTES such as ingress_lossless_pool=10875072B"
            raise BadInput(f"--pool-size: found {cut_user_text(text)}; expected {rule}")
        sizes[name.strip()] = int(digits)
    return sizes


def describe_device(config: ConfigTables) -> str:
    """Returns the type of the switch, as far as the configuration has it."""
    row = config.rows("DEVICE_METADATA").get("localhost")
    found = [row.text(name) for name in DEVICE_FIELDS] if row is not None else []
    known = [one for one in found if one]
    return f", switch {', '.join(known)}" if known else ""


def list_differing_bursts(schedules: Sequence[QueueSchedule], omissions: Omissions) -> None:
    """Lists bursts of queues that differ, since a scenario has one for all."""
    bursts = {one.burst for one in schedules if one.max_rate is not None}
    if len(bursts) > 1:
        omissions.add("SCHEDULER|pbs", "queues with different bursts; the fragment has the largest for all")


def import_sonic(path: str | Path, options: SonicOptions) -> Fragment:
    """Returns the scenario fragment of a `config_db.json`; raises `BadInput` if it is faulty."""
    chip = select_chip(options.chip)
    config = ConfigTables.read(path)
    lookup = None if options.lookup is None else read_lookup_file(options.lookup)
    dynamic = read_dynamic_model(config)
    tables = BufferTables(config, BufferOptions(chip, lookup, parse_pool_sizes(options.pool_sizes)), dynamic)
    omissions = tables.omissions
    ports = read_ports(config, (options.ports, options.speed), chip, omissions)
    port_maps = PortMaps(config, ports, omissions)
    maps = read_class_maps(port_maps)
    accounts = AccountReader(tables, ports, maps, omissions).read()
    list_port_limits(tables, ports, omissions)
    queues = QueueTable(config, ports, omissions)
    schedules = queues.schedules(set(maps.class_to_queue))
    list_differing_bursts(schedules, omissions)
    wred = queues.wred_profiles()
    watchdogs = read_watchdogs(config, ports, omissions)
    list_watched_priorities(port_maps, omissions)
    for table, text in UNSUPPORTED_TABLES.items():
        if config.rows(table):
            omissions.add(table, text)
    found = Imported(
        Path(config.file).name,
        describe_device(config),
        chip,
        ports,
        list(tables.pools.values()),
        maps,
        accounts,
        schedules,
        wred,
        watchdogs,
    )
    head = write_head(found, Path(config.file).stem) if options.star else ""
    return Fragment(head + write_fragment(found, omissions.lines()), omissions.lines())
