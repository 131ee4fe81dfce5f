"""The Rust core: a scenario goes in as text, results come out as JSON and plain column buffers."""

from typing import Any, TypedDict

class ScenarioError(ValueError):
    """`args[0]` is a list of lines, each `file:line: field: found X; expected Y`."""

class Status(TypedDict):
    """How far a run is."""

    done: bool
    time_ps: int
    end_ps: int  # the planned horizon
    events: int
    hops: int
    rows: int  # that wait in the longest of the tables that grow
    flows_started: int
    flows_completed: int

def aliases() -> str:
    """JSON list of `typed`, `said`, `slot`, `kind`, `param`, `note`: names from papers and other tools."""

def catalogue() -> str:
    """JSON list of `slot`, `kind`, `doc`, `cite`, `params`."""

def check_nesting(path: str, text: str) -> None:
    """`ScenarioError` for a TOML text whose tables and lists are nested more than 32 levels deep."""

def curve(kind: str, sets: list[str], steps: int, places: list[float] = ...) -> str | None:
    """JSON: the curve of a mechanism with settings `NAME=VALUE`; `None` where it has none.

    `x`, `y` say what the axes are, `of_size` whether `x` is a share of a queue's size. `places` is 0 and so
    many steps where there is something to see; `values` has a list for each of `lines`, and `asked` the
    same over the places that were given. `note` may be empty.
    `ScenarioError` where a setting is wrong.
    """

def numbered() -> str:
    """JSON: what small numbers in tables stand for, lists from 0 on.

    `packet_hist`, `fates` and `reorder` are of those tables; `doing` is what happens to a packet that is
    traced, where losses are counted on by their reasons.
    """

def schema() -> str:
    """The JSON Schema of a scenario."""

def version() -> str:
    """The version of the core."""

class Scenario:
    """A scenario, read and checked once for all its runs; threads may share it."""

    def __init__(self, path: str, text: str, sets: list[str]) -> None: ...
    def document(self) -> str:
        """JSON: `name`, `seed`, `duration_ps`, `variants`, `labels`, `notes`, `resolved`, `memory`,
        `networks`, `network_of`.

        In `memory`, `buffer` and `total` are of a whole switch, `bounce` of each port. `networks` has each
        network of the variants once, as `network` tells it, null where it has more than 5000 nodes;
        `network_of` is variant -> index in `networks`.
        """

    def network(self, variant: str) -> str:
        """JSON: `nodes`, a list of `{name, tier, host}`, hosts first, and `links`, each once.

        A link is `{a, a_port, b, b_port, rate, delay, rate_bps, delay_ps, back, weight}`: `a` and `b` are
        indices in `nodes`, as `node` is in the tables, and `a_port`, `b_port` are the numbers of `port`
        there. `rate` and `delay` are exact texts. They are those from `a` to `b`; `back`, where they differ,
        has the same four from `b` to `a`.
        """

    def run(
        self,
        variant: str,
        seed: int,
        max_events: int | None = None,
        pcap: list[str] = ...,
        pcap_snaplen: int | None = None,
    ) -> Run:
        """A run of one variant with one seed, which has not begun.

        `pcap` names links and hosts whose frames are captured, with at most `pcap_snaplen` bytes of each.
        """

    def links(self, variant: str, pcap: list[str]) -> list[str]:
        """The names of the links that a variant captures, each once; `ScenarioError` where there is none."""

    def trace(
        self,
        variant: str,
        seed: int,
        packet: str | tuple[int, bool, int],
        at_ps: tuple[int, int, int] | None = None,
    ) -> Trace:
        """The trace of a packet of one variant with one seed, which is not looked for yet.

        The packet is that most often `"detoured"`, `"bounced"` or `"trimmed"`, or (flow, whether its receiver
        sent it, emission). `at_ps` are three instants at which queues are looked at, in place of the usual.
        """

class Run:
    """One variant of a scenario with one seed."""

    def advance(self, max_events: int, max_rows: int = ...) -> Status:
        """Go on for about so many events; the GIL is released meanwhile.

        Less where one of the tables that grow with simulated time (`packets`, `queue_trace`, `activity`,
        `host_goodput`, `flow_goodput`, `links`, `detour_steps`) has `max_rows` rows; some events are
        taken in any case.
        """

    def take(self, at_least: int) -> dict[str, Any]:
        """Each of these tables that has at least so many rows, as in `results`, which has the rest then."""

    def captured(self, at_most: int) -> list[bytes]:
        """The next bytes of each capture, with at most so many frames; none where nothing waits."""

    def results(self) -> dict[str, Any]:
        """`summary`: JSON text; `tables`: table -> column -> (dtype, little-endian buffer).

        The summary's `wire_bits` tells what the links carried within the measurement window, by level:
        `{"host" | "tor_uplink" | "bisection": {"bits": n, "capacity_bps": x}}`; a level may be missing.
        `received_bytes` is payload that arrived in order in the window, a number for each workload
        of `traffic`; `stop` is one of done, drained_out, max_events, max_packets. In `packet_hist`, the sum
        of all values stands in any row of its (traffic, metric, data), or spread over them; in
        `queue_sojourn`, in any row of its (node, port). `fates` has, by workload and by ACKs and
        data, counts of what happened in the window: 0 drop, 1 mark, 2 detour, 3 bounce. `reorder` has, by
        workload, counts of packets by metric: 0 displacement (early below 0) and 1 reorder buffer
        occupancy (RFC 5236), 2 extent of reordered packets (RFC 4737), and 3 all packets received, at the
        value 0.
        """

class Trace:
    """The trace of a packet, looked for in passes over the same run."""

    def advance(self, max_events: int) -> dict[str, Any]:
        """Go on for about so many events, or to the end of the pass.

        `Status` of the pass, and `pass`: 1 finds, 2 follows, 3 looks around; and `over` where it has ended.
        `ScenarioError` where there is no such packet, with what there is.
        """

    def results(self) -> dict[str, Any]:
        """`summary`: JSON text; `tables`: table -> column -> (dtype, little-endian buffer); once it is done.

        The summary has `flow`, `reverse`, `n`, the hosts `src` and `dst`, `ended` (false: under way when the
        run ended), `window_ps`, `instants_ps`, `detours_left_out`. `steps` has what happened: `time_ps`,
        `node`, `what` (0 emitted, 1 arrived, 2 detoured, 3 bounced, 4 marked, 5 stored, 6 started, 7
        delivered, 8 + reason lost), `port` (that it came in by, was to leave by, or leaves by), `taken` (of a
        detour, else 65535), `before` (frames that waited before a stored one, else 4294967295), `size`.
        `detours` has `time_ps`, `node` of all detours in the window; `occupancy` has `at_ps`, `node`, `port`,
        `packets` at the three instants, of switch ports where anything waited.
        """
