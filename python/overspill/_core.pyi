"""Interface of the Rust core: scenarios are text, results are JSON and plain column buffers."""

from collections.abc import Sequence
from typing import Any, TypedDict

class ScenarioError(ValueError):
    """Error in a scenario; `args[0]` is a list of lines, each `file:line: field: found X; expected Y`."""

class Status(TypedDict):
    """Progress of a run."""

    done: bool
    time_ps: int
    end_ps: int  # planned end: of the duration, and after that of the drain
    events: int
    hops: int
    rows: int  # rows that wait in the longest of the tables that grow with simulated time
    flows_started: int
    flows_completed: int

def aliases() -> str:
    """Returns a JSON list of names from papers and other tools, with the project's names.

    Keys of each: `typed`, `said`, `slot`, `kind`, `param` and `note`.
    """

def catalogue() -> str:
    """Returns a JSON list of everything that a scenario may name.

    Keys of each: `slot`, `kind`, `doc`, `cite` and `params`.
    """

def check_nesting(path: str, text: str) -> None:
    """Raises `ScenarioError` for a TOML text with tables and lists nested more than 32 levels deep."""

def curve(kind: str, sets: list[str], steps: int, places: list[float] = ...) -> str | None:
    """Returns the curve of a mechanism with settings `NAME=VALUE` as JSON; `None` if it has none.

    `x` and `y` are the titles of the axes; `of_size` is true if `x` is a share of a queue's size. The
    result's `places` are 0 and `steps` steps over the range in which the curve changes. `values` has a list
    for each of `lines`, and `asked` has their values at the `places` given. `note` may be empty. Raises
    `ScenarioError` for a wrong setting.
    """

def number_names() -> str:
    """Returns the meanings of small numbers in tables as JSON: lists from 0 on.

    `packet_hist`, `fates` and `reorder` are of those tables, and `fabric_buffers` of its column `place`.
    `doing` has the events of a packet trace; the numbers of losses follow, in the order of their reasons.
    """

def schema() -> str:
    """Returns the JSON Schema of a scenario."""

def version() -> str:
    """Returns the version of the core."""

class Scenario:
    """Scenario that is read and checked once for all its runs; threads may share it."""

    def __init__(self, path: str, text: str, sets: list[str]) -> None: ...
    def document(self) -> str:
        """Returns the scenario as JSON, with every default filled in.

        Keys: `name`, `seed`, `duration_ps`, `variants`, `labels`, `notes`, `resolved`, `memory`, `networks`,
        `network_of`. In `memory`, `buffer` and `total` are of a whole switch, `bounce` of each port.
        `networks` has each network of the variants once, in the form of `network`, and null for more than
        5000 nodes; `network_of` is variant -> index in `networks`.
        """

    def network(self, variant: str) -> str:
        """Returns a variant's network as JSON: `nodes`, hosts first, and `links`, each once.

        A node is `{name, tier, host}`. A link is `{a, a_port, b, b_port, rate, delay, rate_bps, delay_ps,
        back, weight}`: `a` and `b` are indices in `nodes`, as `node` is in tables, and `a_port`, `b_port` are
        the numbers of `port` there. `rate` and `delay` are exact texts. They are those from `a` to `b`;
        `back` has the same four from `b` to `a` if they differ.
        """

    def run(
        self,
        variant: str,
        seed: int,
        max_events: int | None = None,
        pcap: list[str] = ...,
        pcap_snaplen: int | None = None,
    ) -> Run:
        """Returns a run of one variant with one seed, which has not begun.

        `pcap` names links and hosts whose frames are captured, with at most `pcap_snaplen` bytes of each.
        """

    def probe_memory(
        self,
        variant: str,
        switch: str,
        streams: Sequence[tuple[int, int, int]],
        size: int,
    ) -> str:
        """Returns the frames that a switch admits until a mark, a pause and a loss, as JSON.

        Keys: `mark`, `pause`, `ingress_loss`, `egress_loss`, `headroom`, `resume`; null if it did not happen.
        Each stream has an input port, an output port and a class. Outputs send nothing. The streams send
        frames of `size` bytes in turn, and the first one is measured.
        """

    def switch_links(self, variant: str, switch: str) -> str:
        """Returns the links of a switch as a JSON list, in the order of its ports.

        Keys: `port`, `far_end`, `rate_bps`, `back_rate_bps`, `delay_ps`, `back_delay_ps`, `response_ps`,
        `frame` and `gap`. `back` is the direction from the far end; sizes are in bytes.
        """

    def links(self, variant: str, pcap: list[str]) -> list[str]:
        """Returns the names of the links that a variant captures, each once; or raises `ScenarioError`."""

    def trace(
        self,
        variant: str,
        seed: int,
        packet: str | tuple[int, bool, int],
        at_ps: tuple[int, int, int] | None = None,
    ) -> Trace:
        """Returns the trace of a packet of one variant with one seed, before its first pass.

        The packet is the one most often `"detoured"`, `"bounced"` or `"trimmed"`, the first `"held"`, the
        first CNM (`"tells"`), or (flow, true if its receiver sent it, emission). `at_ps` are three instants
        at which queues are recorded, instead of the default ones.
        """

class Run:
    """Run of one variant of a scenario with one seed."""

    def advance(self, max_events: int, max_rows: int = ...) -> Status:
        """Advances by about `max_events` events; the GIL is released meanwhile.

        It returns earlier once one of the tables that grow with simulated time has `max_rows` rows to take.
        Some events are processed in any case.
        """

    def take(self, at_least: int) -> dict[str, Any]:
        """Takes the rows of each growing table with at least `at_least` of them; `results` has the rest."""

    def captured(self, at_most: int) -> list[bytes]:
        """Returns the next bytes of each capture, with at most `at_most` frames; empty without any."""

    def results(self) -> dict[str, Any]:
        """Returns `summary`, a JSON text, and `tables`: table -> column -> (dtype, little-endian buffer).

        In the summary, `wire_bits` is what the links carried within the measurement window, by level:
        `{"host" | "tor_uplink" | "bisection": {"bits": n, "capacity_bps": x}}`; a level may be missing.
        `received_bytes` is the payload that arrived in order in the window, a number for each workload of
        `traffic`. `stop` is one of done, drained_out, max_events, max_packets.

        In `packet_hist`, the sum of all values is in any row of its (traffic, metric, data), or divided among
        them; in `queue_sojourn`, in any row of its (node, port). `fates` has counts of events in the window,
        by workload and by ACKs and data; `number_names` has the names of their kinds. `reorder` has, by
        workload, counts of packets by metric: 0 displacement (early below 0) and 1 reorder buffer occupancy
        (RFC 5236), 2 extent of reordered packets (RFC 4737), and 3 all packets received, at the value 0.
        """

class Trace:
    """Trace of a packet, which is found in passes over the same run."""

    def advance(self, max_events: int) -> dict[str, Any]:
        """Advances by about `max_events` events, or to the end of the pass.

        Returns the `Status` of the pass, with `pass` (1 finds, 2 follows, 3 records the surroundings) and
        with `over`, true at the end of a pass. Raises `ScenarioError` if there is no such packet, with the
        packets that there are.
        """

    def results(self) -> dict[str, Any]:
        """Returns `summary`, a JSON text, and `tables` as for a run, once the trace is done.

        The summary has `flow`, `reverse`, `n`, `notice`, `message`, the hosts `src` and `dst`, `ended`
        (false: in flight when the run ended), `run_end`, `window_ps`, `instants_ps`, `detours_left_out`.
        `steps` has the events of the packet: `time_ps`, `node`, `what` (an index of `doing` of
        `number_names`; losses follow, by reason), `port` (input, planned output, or output), `taken` (of a
        detour, else 65535), `before` (frames queued before a stored one, else 4294967295), `size`, `buffer`.
        `detours` has `time_ps` and `node` of all detours in the window. `occupancy` has `at_ps`, `node`,
        `port` and `packets` of switch ports with queued frames at the three instants.
        """
