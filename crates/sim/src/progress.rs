//! What is kept of a run's flows, how far it is, and why it ended.

use dataplane::transport::SenderStats;
use mech::FlowId;
use scenario::traffic::{FlowSpec, Role};
use units::Time;

/// One flow's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// First byte handed to the transport.
    pub start: Time,
    /// End by the scenario's convention; [`Time::NEVER`] while unfinished.
    pub end: Time,
    /// Which workload of the scenario's traffic it comes from.
    pub traffic: u16,
    /// Its query, `u32::MAX` for none.
    pub query: u32,
    /// Whether it counts: it started inside the measurement window, or what it is part of did.
    pub measured: bool,
    /// Whether the run waits for it: it counts, or it is a message of a query whose first one does.
    pub awaited: bool,
    /// What it is for.
    pub role: Role,
    /// What its workload knows it by.
    pub tag: u64,
    /// The number, within its workload, of the persistent connection that carries it; [`scenario::traffic::OWN`]
    /// for one of its own.
    pub channel: u32,
    /// The flow whose connection carries it; itself where it has its own.
    pub connection: FlowId,
    /// What its sender did.
    pub sender: SenderCounts,
}

impl FlowRecord {
    /// The record of a flow that starts.
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
            channel: spec.connection,
            connection,
            sender: SenderCounts::default(),
        }
    }
}

/// What is kept of a sender once it is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounts {
    /// Segments sent again, in whole or in part.
    pub retransmits: u32,
    /// Losses found by duplicate ACKs.
    pub fast_retransmits: u32,
    /// Expiries of the retransmission timer.
    pub timeouts: u32,
    /// ACKs that carried an echo of congestion.
    pub ece_acks: u32,
    /// PACKs that came (CP §4.3).
    pub packs: u32,
    /// Tail loss probes.
    pub tlp_probes: u32,
    /// Recoveries and timeouts that were undone.
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

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Nothing is left to happen, or the duration is over and every flow that counts has finished.
    Done,
    /// The drain is over and flows that count are unfinished.
    DrainedOut,
    /// The bound on events was reached.
    MaxEvents,
    /// More packets or live flows than fit a sensible memory: the load has no bound.
    Overloaded,
    /// A packet that should never be lost found no memory.
    LosslessViolation,
    /// A mechanism broke a rule of its slot.
    BrokenRule,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Why it ended, if it has.
    pub stop: Option<Stop>,
    /// Simulated time reached.
    pub now: Time,
    /// Events taken from the queue.
    pub events: u64,
    /// Packets that finished a link.
    pub hops: u64,
    /// Flows begun.
    pub started: u64,
    /// Flows finished.
    pub completed: u64,
}
