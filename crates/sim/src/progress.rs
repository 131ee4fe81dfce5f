//! Records of flows, the progress of a run, and the reason for its end.

use dataplane::transport::SenderStats;
use mech::FlowId;
use scenario::traffic::{FlowRole, FlowSpec};
use units::Time;

/// Record of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// Instant at which the first byte is handed to the transport.
    pub start: Time,
    /// End of the flow by the scenario's `measure.fct_end`; [`Time::NEVER`] while it is unfinished.
    pub end: Time,
    /// Index of the workload in the scenario's traffic.
    pub traffic: u16,
    /// Number of the query, `u32::MAX` for none.
    pub query: u32,
    /// True if the flow is measured. A flow that the arrival of a message of its query started is measured if that
    /// message is. Any other flow is measured if it starts inside the measurement window.
    pub measured: bool,
    /// True if the run waits for the flow: it is measured, or the first message of its query is.
    pub awaited: bool,
    /// Role of the flow: data, or the request for data.
    pub role: FlowRole,
    /// Number by which the workload identifies the flow.
    pub tag: u64,
    /// Number, within the workload, of the persistent connection that carries the flow;
    /// [`scenario::traffic::OWN_CONNECTION`] for a connection of its own.
    pub connection_number: u32,
    /// Flow whose connection carries this one; the flow itself if it has its own connection.
    pub connection: FlowId,
    /// Counts of retransmissions, timeouts and ACKs of the sender, taken when it ends.
    pub sender: SenderCounts,
}

impl FlowRecord {
    /// Record of a flow that starts.
    pub(crate) fn new(spec: &FlowSpec, connection: FlowId, measured: bool) -> FlowRecord {
        FlowRecord {
            start: spec.start,
            end: Time::NEVER,
            traffic: spec.traffic,
            query: spec.query,
            measured,
            awaited: measured,
            role: spec.role,
            tag: spec.tag,
            connection_number: spec.connection,
            connection,
            sender: SenderCounts::default(),
        }
    }
}

/// Counts of a sender that remain after its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounts {
    /// Segments retransmitted, in whole or in part.
    pub retransmits: u32,
    /// Losses detected by duplicate ACKs.
    pub fast_retransmits: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// ACKs with an echo of congestion (ECE).
    pub ece_acks: u32,
    /// PACKs received (CP §4.3).
    pub packs: u32,
    /// Tail loss probes sent.
    pub tlp_probes: u32,
    /// Loss recoveries and timeouts that were undone as spurious.
    pub undos: u32,
}

impl From<&SenderStats> for SenderCounts {
    fn from(stats: &SenderStats) -> SenderCounts {
        SenderCounts {
            retransmits: stats.retransmissions,
            fast_retransmits: stats.fast_retransmits,
            timeouts: stats.timeouts,
            ece_acks: stats.echoes,
            packs: stats.packs,
            tlp_probes: stats.tlp_probes,
            undos: stats.undos,
        }
    }
}

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Every flow that the run waits for has finished, and the duration is over or no event is pending.
    Done,
    /// Unfinished flows remain that the run waits for, but the drain is over or no event is pending.
    DrainedOut,
    /// The bound on events is reached.
    MaxEvents,
    /// The load has no bound: there are more packets or live flows than memory is planned for.
    Overloaded,
    /// A packet of a lossless class found no free buffer space.
    LosslessViolation,
    /// A mechanism broke a rule of its slot.
    BrokenRule,
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Reason for the end of the run; `None` while it goes on.
    pub stop: Option<StopReason>,
    /// Simulated time reached.
    pub now: Time,
    /// Number of events processed.
    pub events: u64,
    /// Number of packets that reached the far end of a link.
    pub hops: u64,
    /// Number of flows that have started.
    pub started: u64,
    /// Number of flows that have finished.
    pub completed: u64,
}
