//! Thresholds of switch memory: the limit of the shared memory that one group or queue may use.

mod dynamic;
mod fixed;

pub use dynamic::Dynamic;
pub use fixed::Fixed;

use crate::params::{Spec, Values};
use crate::{MemorySide, PortId, QueueId, Report};
use units::{ByteClock, Rate, Time};

/// Memory state from which a threshold computes its limit: one account, its port and its pool. All sizes are in bytes
/// of whole cells, in one slice of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryView {
    /// Time of the arrival or departure.
    pub now: Time,
    /// Side of the account: `Input` for a priority group, `Output` for a queue.
    pub side: MemorySide,
    /// Port of the account: input port of a group, output port of a queue.
    pub port: PortId,
    /// Number of the group or queue, from 0 to 7.
    pub number: u8,
    /// Slice of the memory, counted from 0.
    pub slice: u8,
    /// Bytes that the account uses, without headroom.
    pub used: u64,
    /// Bytes that are reserved for the account.
    pub reserve: u64,
    /// Bytes that all accounts of this port and side use in the slice, without headroom.
    pub port_used: u64,
    /// Size of the pool in this slice, without reserves and headroom.
    pub pool_size: u64,
    /// Bytes of the pool in use in this slice.
    pub pool_used: u64,
    /// Count of accounts, at all ports, that have the same `number` and use bytes of the pool beyond their reserve.
    pub congested: u32,
    /// Transmission time of a byte at the port.
    pub clock: ByteClock,
    /// Number n of queues of the port that hold a packet. If the port serves its queues in turn, each drains at 1/n of
    /// the port's rate or faster.
    pub busy_queues: u32,
}

impl MemoryView {
    /// View of an account that uses nothing, in a pool without memory.
    pub const EMPTY: MemoryView = MemoryView {
        now: Time::ZERO,
        side: MemorySide::Output,
        port: PortId(0),
        number: 0,
        slice: 0,
        used: 0,
        reserve: 0,
        port_used: 0,
        pool_size: 0,
        pool_used: 0,
        congested: 0,
        clock: Rate::gbps(1).clock(),
        busy_queues: 0,
    };

    /// Returns the bytes of the pool that the account uses, beyond its reserve.
    pub const fn shared(&self) -> u64 {
        self.used.saturating_sub(self.reserve)
    }
    /// Returns the free bytes of the pool.
    pub const fn pool_free(&self) -> u64 {
        self.pool_size.saturating_sub(self.pool_used)
    }
}

/// Queued packet that a threshold removes to make memory free for an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reclaim {
    /// The packet that joined the queue last.
    Last(PortId, QueueId),
    /// The packet that is the first to leave the queue.
    First(PortId, QueueId),
}

/// Rule for the limit of the shared memory that one group or queue may use.
///
/// ```
/// use mech::buffer::{MemoryView, Threshold};
///
/// /// Equal share of the pool for each account that uses it now.
/// #[derive(Clone)]
/// struct EqualShare;
///
/// impl Threshold for EqualShare {
///     fn limit(&self, now: &MemoryView) -> u64 {
///         now.pool_size / u64::from(now.congested.max(1))
///     }
///     fn clone_boxed(&self) -> Box<dyn Threshold> {
///         Box::new(self.clone())
///     }
/// }
///
/// let pool = MemoryView { pool_size: 90_000, pool_used: 60_000, congested: 3, ..MemoryView::EMPTY };
/// assert_eq!(EqualShare.limit(&pool), 30_000);
/// assert_eq!(EqualShare.limit(&MemoryView { congested: 0, ..pool }), 90_000);
/// ```
pub trait Threshold: Send + Sync {
    /// Returns the limit of the bytes that the account may use beyond its reserve.
    ///
    /// A frame joins the shared memory if the use before it is below this limit.
    fn limit(&self, now: &MemoryView) -> u64;
    /// Returns the queued packet to remove for an arrival that does not fit, if the threshold reclaims memory.
    ///
    /// No switch calls this method yet. It fixes the signature for later versions.
    fn reclaim(&self, _now: &MemoryView) -> Option<Reclaim> {
        None
    }
    /// Reports parameters that conflict.
    fn check(&self, _report: &mut Report) {}
    /// Returns a boxed copy of the threshold, with its state.
    fn clone_boxed(&self) -> Box<dyn Threshold>;
}

/// Declarations of the thresholds that a profile may name.
pub(super) const SPECS: &[&Spec] = &[&dynamic::SPEC, &fixed::SPEC];

slot! {
    /// Threshold of a profile.
    ThresholdSlot(Limiter) of Threshold {
        Dynamic(Dynamic),
        Fixed(Fixed),
    }
}

impl ThresholdSlot {
    /// Creates a threshold from its kind and validated parameters; without a kind, there is no limit.
    pub(super) fn from_values(kind: Option<(&str, &Values)>) -> ThresholdSlot {
        match kind {
            Some(("dynamic", values)) => Dynamic::new(values).into(),
            Some((_, values)) => Fixed::new(values).into(),
            None => Fixed::UNLIMITED.into(),
        }
    }
    /// Returns the limit of the shared memory of an account. `pool` holds the size of the pool and its bytes in use.
    #[inline]
    pub fn limit(&self, pool: (u64, u64), view: impl FnOnce() -> MemoryView) -> u64 {
        match &self.0 {
            Limiter::Dynamic(own) => own.limit_of_free(pool.0.saturating_sub(pool.1)),
            Limiter::Fixed(own) => own.bytes(),
            Limiter::Custom(own) => own.limit(&view()),
        }
    }
    /// Returns the limit of an account if it never changes.
    pub fn fixed_limit(&self) -> Option<u64> {
        match &self.0 {
            Limiter::Fixed(own) => Some(own.bytes()),
            _ => None,
        }
    }
    /// Returns the factor α in units of 2⁻³², if the limit is that multiple of the free memory.
    pub fn alpha(&self) -> Option<u64> {
        match &self.0 {
            Limiter::Dynamic(own) => Some(own.alpha()),
            _ => None,
        }
    }
}
