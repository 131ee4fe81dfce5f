//! Accounts of switch memory with pools: what each priority group and each queue uses, and which frames they admit.
//!
//! Rules of an account, in this order: a frame uses the free reserve; then the shared memory, if the use before it is
//! below the limit and the pool has space; then, in a lossless group, headroom. Departures free headroom, then shared
//! memory, then the reserve. All sizes are in bytes of whole cells.

mod consistency;
mod losses;
mod reaction;
#[cfg(test)]
pub(crate) mod tests;

pub use losses::GroupLosses;

use crate::inputs::StuckBytes;
use mech::buffer::{MemoryLayout, MemoryView, ProfileRules};
use mech::{Fill, MemorySide, PortId};
use reaction::PoolReaction;
use std::collections::BTreeMap;
use std::sync::Arc;
use units::Time;

/// Frame in the accounts: where it came in and where it leaves, with its class, its queue and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountedFrame {
    /// Input port; `None` if it is not known, as for a decision that concerns no arrival.
    pub(crate) ingress: Option<PortId>,
    pub(crate) class: u8,
    pub(crate) egress: PortId,
    /// Number of the queue at the output port, from 0 to 7.
    pub(crate) queue: u8,
    pub(crate) size: u16,
}

/// Part of a pool that one slice of the memory has.
#[derive(Clone, Copy, Debug, Default)]
struct PoolUse {
    /// Bytes that accounts use beyond their reserves.
    shared: u64,
    /// Bytes of shared headroom in use.
    headroom: u64,
    /// Numbers of accounts that use shared memory, by the number of the group or queue.
    congested: [u32; 8],
}

/// Bytes that a priority group uses in one slice.
#[derive(Clone, Copy, Debug, Default)]
struct GroupUse {
    /// Bytes in the reserve and in shared memory.
    used: u64,
    /// Bytes in headroom.
    headroom: u64,
    /// True from the arrival that reaches the limit until the use is down to the level of XON.
    stopped: bool,
}

/// Memory that an arrival finds at ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placement {
    /// Reserve, or reserve and shared memory.
    Main,
    Headroom,
}

/// Slice, port and number of a group or queue.
type GroupAt = (usize, PortId, u8);

/// Account of a switch with its profile.
#[derive(Clone, Copy)]
struct Account<'a> {
    side: MemorySide,
    port: PortId,
    number: u8,
    slice: usize,
    profile: &'a ProfileRules,
    used: u64,
}

impl Account<'_> {
    fn shared(&self) -> u64 {
        self.used.saturating_sub(self.profile.reserve)
    }
}

/// Accounts of all groups and queues of a switch.
#[derive(Clone, Debug)]
pub(crate) struct PoolAccounts {
    layout: Arc<MemoryLayout>,
    ports: usize,
    /// Pools, by slice and number.
    pools: Box<[PoolUse]>,
    /// Groups, by slice, port and number.
    groups: Box<[GroupUse]>,
    /// Bytes of queues, by slice, port and number.
    queues: Box<[u64]>,
    /// Number of slices in which a group is stopped, by port and group.
    stopped_slices: Box<[u8]>,
    /// Groups that have just been stopped or released, for the agents that pause their classes.
    signals: Vec<(PortId, u8)>,
    /// True if agents follow groups.
    signalled: bool,
    reaction: Option<PoolReaction>,
    /// Losses of lossless groups, in the order of their first loss.
    losses: Vec<GroupLosses>,
    /// Time of the present step, for thresholds that depend on it.
    pub(crate) now: Time,
}

impl PoolAccounts {
    pub(crate) fn new(layout: Arc<MemoryLayout>, signalled: bool) -> PoolAccounts {
        let ports = layout.groups.len() / 8;
        let accounts = layout.slices * ports * 8;
        let reaction = layout.reacts_to_pool.then(|| PoolReaction::new(layout.slices * layout.pools.len()));
        PoolAccounts {
            ports,
            pools: vec![PoolUse::default(); layout.slices * layout.pools.len()].into(),
            groups: vec![GroupUse::default(); accounts].into(),
            queues: vec![0; accounts].into(),
            stopped_slices: vec![0; ports * 8].into(),
            signals: Vec::new(),
            signalled,
            reaction,
            losses: Vec::new(),
            now: Time::ZERO,
            layout,
        }
    }

    /// Returns the pools, profiles and sizes of the switch.
    pub(crate) fn layout(&self) -> &MemoryLayout {
        &self.layout
    }
    /// Returns the place of an account among all accounts of its side.
    fn index(&self, slice: usize, port: PortId, number: u8) -> usize {
        (slice * self.ports + usize::from(port.0)) * 8 + usize::from(number)
    }
    fn pool_index(&self, slice: usize, pool: usize) -> usize {
        slice * self.layout.pools.len() + pool
    }
    fn group_number(&self, class: u8) -> u8 {
        self.layout.class_to_group[usize::from(class & 7)]
    }
    fn slice_of(&self, frame: &CountedFrame) -> usize {
        self.layout.slice(frame.ingress.unwrap_or(frame.egress), frame.egress)
    }

    #[inline]
    fn group(&self, slice: usize, port: PortId, number: u8) -> Option<Account<'_>> {
        let rules = self.layout.groups[usize::from(port.0) * 8 + usize::from(number)];
        let used = self.groups[self.index(slice, port, number)].used;
        Some(Account { side: MemorySide::Input, port, number, slice, profile: self.layout.profile(rules)?, used })
    }
    #[inline]
    fn queue(&self, slice: usize, port: PortId, number: u8) -> Option<Account<'_>> {
        let rules = self.layout.queues[usize::from(port.0) * 8 + usize::from(number)];
        let used = self.queues[self.index(slice, port, number)];
        Some(Account { side: MemorySide::Output, port, number, slice, profile: self.layout.profile(rules)?, used })
    }

    /// Returns the limit of the shared memory of an account.
    #[inline]
    fn limit(&self, account: &Account) -> u64 {
        self.limit_with(account, self.pools[self.pool_index(account.slice, account.profile.pool)].shared)
    }
    /// Returns the limit of the shared memory of an account while `pool_used` bytes of its pool are in use.
    #[inline]
    fn limit_with(&self, account: &Account, pool_used: u64) -> u64 {
        let pool_size = self.layout.pools[account.profile.pool].size;
        account.profile.threshold.limit((pool_size, pool_used), || self.view(account, pool_used))
    }
    #[cold]
    fn view(&self, account: &Account, pool_used: u64) -> MemoryView {
        let at = |number| self.index(account.slice, account.port, number);
        let port_used = match account.side {
            MemorySide::Input => (0..8).map(|number| self.groups[at(number)].used).sum(),
            MemorySide::Output => (0..8).map(|number| self.queues[at(number)]).sum(),
        };
        let pool = self.pool_index(account.slice, account.profile.pool);
        let slices = 0..self.layout.slices;
        let busy = |number: &u8| slices.clone().any(|slice| self.queues[self.index(slice, account.port, *number)] > 0);
        MemoryView {
            now: self.now,
            side: account.side,
            port: account.port,
            number: account.number,
            slice: account.slice as u8,
            used: account.used,
            reserve: account.profile.reserve,
            port_used,
            pool_size: self.layout.pools[account.profile.pool].size,
            pool_used,
            congested: self.pools[pool].congested[usize::from(account.number)],
            clock: self.layout.clocks[usize::from(account.port.0)],
            busy_queues: (0..8).filter(busy).count() as u32,
        }
    }

    /// Returns true if an account admits `bytes` to its reserve or to shared memory. `extra` raises its limit.
    #[inline]
    fn admits(&self, account: &Account, bytes: u64, extra: u64) -> bool {
        let (after, reserve) = (account.used + bytes, account.profile.reserve);
        if after <= reserve {
            return true;
        }
        let pool = self.pools[self.pool_index(account.slice, account.profile.pool)].shared;
        let joins = after - reserve.max(account.used);
        let fits_pool = pool + joins <= self.layout.pools[account.profile.pool].size;
        fits_pool && account.shared() < self.limit(account).saturating_add(extra)
    }

    fn ingress_placement(&self, slice: usize, port: PortId, number: u8, bytes: u64) -> Option<Placement> {
        let Some(group) = self.group(slice, port, number) else { return Some(Placement::Main) };
        if self.admits(&group, bytes, 0) {
            return Some(Placement::Main);
        }
        group.profile.lossless?;
        let own = self.layout.groups[usize::from(port.0) * 8 + usize::from(number)].headroom;
        let fits_own = self.groups[self.index(slice, port, number)].headroom + bytes <= own;
        let used = self.pools[self.pool_index(slice, group.profile.pool)].headroom;
        let fits_pool = self.layout.pools[group.profile.pool].headroom.is_none_or(|size| used + bytes <= size);
        (fits_own && fits_pool).then_some(Placement::Headroom)
    }

    /// Returns the side whose account refuses a frame; `None` if both admit it. `extra` raises the limit of the queue.
    #[inline]
    pub(crate) fn refusal(&self, frame: &CountedFrame, extra: u64) -> Option<MemorySide> {
        let (slice, bytes) = (self.slice_of(frame), self.layout.cell_bytes(frame.size));
        let number = self.group_number(frame.class);
        if frame.ingress.is_some_and(|port| self.ingress_placement(slice, port, number, bytes).is_none()) {
            return Some(MemorySide::Input);
        }
        let queue = self.queue(slice, frame.egress, frame.queue);
        queue.is_some_and(|queue| !self.admits(&queue, bytes, extra)).then_some(MemorySide::Output)
    }

    /// Adds a frame to its accounts. PRECONDITION: the frame has an input port, and no account refuses it.
    pub(crate) fn store(&mut self, frame: &CountedFrame) {
        let Some(group) = self.group_of(frame) else { return };
        match self.add(frame, group) {
            // A frame that takes headroom found no shared memory, whatever the limit is now.
            Placement::Headroom => self.stop(group),
            Placement::Main => self.stop_if_full(group),
        }
        self.react(group, None);
    }

    /// Stops the lossless group of a frame that no memory was left for.
    pub(crate) fn stop_refused(&mut self, frame: &CountedFrame) {
        let group = self.group_of(frame).filter(|(slice, port, number)| {
            self.group(*slice, *port, *number).is_some_and(|group| group.profile.lossless.is_some())
        });
        group.into_iter().for_each(|group| self.stop(group));
    }

    /// Removes a frame from its accounts.
    pub(crate) fn free(&mut self, frame: &CountedFrame) {
        let Some(group) = self.group_of(frame) else { return };
        // The level of XON is that of the instant: the departing frame still counts in the pool.
        let level = self.xon_level_if_stopped(group);
        let before = self.pool_use(group);
        self.remove(frame, group);
        self.release_below(group, level);
        self.react(group, before);
    }

    /// Changes the accounts of a frame that has become shorter.
    pub(crate) fn shorten(&mut self, before: &CountedFrame, after: &CountedFrame) {
        let (Some(old), Some(new)) = (self.group_of(before), self.group_of(after)) else { return };
        let level = self.xon_level_if_stopped(old);
        let used = self.pool_use(old);
        self.remove(before, old);
        self.add(after, new);
        self.release_below(old, level);
        self.react(old, used);
    }

    /// Returns the bytes in use of a group's pool.
    fn pool_use(&self, (slice, port, number): GroupAt) -> Option<u64> {
        let group = self.group(slice, port, number)?;
        Some(self.pools[self.pool_index(slice, group.profile.pool)].shared)
    }

    /// Returns slice, port and number of a frame's group; `None` if its input port is not known.
    fn group_of(&self, frame: &CountedFrame) -> Option<GroupAt> {
        Some((self.slice_of(frame), frame.ingress?, self.group_number(frame.class)))
    }

    /// Adds a frame to its accounts, and returns the memory of the group that it takes.
    fn add(&mut self, frame: &CountedFrame, group: GroupAt) -> Placement {
        let (slice, ingress, number) = group;
        let bytes = self.layout.cell_bytes(frame.size);
        let at = self.index(slice, ingress, number);
        let placement = self.ingress_placement(slice, ingress, number, bytes).unwrap_or(Placement::Main);
        if placement == Placement::Headroom {
            self.groups[at].headroom += bytes;
            self.change_headroom(group, |used| used + bytes);
        } else {
            self.groups[at].used += bytes;
            self.change_shared(MemorySide::Input, group, self.groups[at].used - bytes);
        }
        let queue = self.index(slice, frame.egress, frame.queue);
        self.queues[queue] += bytes;
        self.change_shared(MemorySide::Output, (slice, frame.egress, frame.queue), self.queues[queue] - bytes);
        placement
    }

    fn remove(&mut self, frame: &CountedFrame, group: GroupAt) {
        let (slice, ingress, number) = group;
        let bytes = self.layout.cell_bytes(frame.size);
        let at = self.index(slice, ingress, number);
        let of_headroom = self.groups[at].headroom.min(bytes);
        if of_headroom > 0 {
            self.groups[at].headroom -= of_headroom;
            self.change_headroom(group, |used| used - of_headroom);
        }
        self.groups[at].used -= bytes - of_headroom;
        self.change_shared(MemorySide::Input, group, self.groups[at].used + bytes - of_headroom);
        let queue = self.index(slice, frame.egress, frame.queue);
        self.queues[queue] -= bytes;
        self.change_shared(MemorySide::Output, (slice, frame.egress, frame.queue), self.queues[queue] + bytes);
    }

    /// Updates the shared headroom of the pool of a group.
    fn change_headroom(&mut self, (slice, port, number): GroupAt, change: impl Fn(u64) -> u64) {
        if let Some(pool) = self.group(slice, port, number).map(|group| group.profile.pool) {
            let pool = self.pool_index(slice, pool);
            self.pools[pool].headroom = change(self.pools[pool].headroom);
        }
    }

    /// Updates the use of a pool after the use of an account has changed from `before` bytes.
    #[inline]
    fn change_shared(&mut self, side: MemorySide, (slice, port, number): GroupAt, before: u64) {
        let account = match side {
            MemorySide::Input => self.group(slice, port, number),
            MemorySide::Output => self.queue(slice, port, number),
        };
        let Some(account) = account else { return };
        let (was, is) = (before.saturating_sub(account.profile.reserve), account.shared());
        let pool = self.pool_index(slice, account.profile.pool);
        let pool = &mut self.pools[pool];
        pool.shared = pool.shared + is - was;
        let congested = &mut pool.congested[usize::from(number)];
        *congested = *congested + u32::from(is > 0) - u32::from(was > 0);
    }

    /// Returns the bytes of a group in shared memory and headroom.
    fn use_beyond_reserve(&self, slice: usize, port: PortId, number: u8) -> u64 {
        let headroom = self.groups[self.index(slice, port, number)].headroom;
        self.group(slice, port, number).map_or(0, |group| group.shared()) + headroom
    }

    /// Returns the use beyond the reserve at which a lossless group is resumed now; `None` if it is lossy.
    fn xon_level(&self, at: GroupAt) -> Option<u64> {
        self.xon_level_with(at, self.pool_use(at)?)
    }
    /// Returns the use at which a group is resumed while `pool_used` bytes of its pool are in use.
    fn xon_level_with(&self, (slice, port, number): GroupAt, pool_used: u64) -> Option<u64> {
        let group = self.group(slice, port, number)?;
        let rules = group.profile.lossless?;
        Some(rules.xon.max(self.limit_with(&group, pool_used).saturating_sub(rules.xon_offset)))
    }
    #[inline]
    fn xon_level_if_stopped(&self, group: GroupAt) -> Option<u64> {
        self.groups[self.index(group.0, group.1, group.2)].stopped.then(|| self.xon_level(group)).flatten()
    }

    /// Stops a lossless group whose shared memory has reached its limit.
    #[inline]
    fn stop_if_full(&mut self, (slice, port, number): GroupAt) {
        // A group within its reserve is not at its limit, even if the limit is 0.
        let is_full = |group: Account| {
            let limit = group.profile.reserve.saturating_add(self.limit(&group));
            group.profile.lossless.is_some() && group.used >= limit
        };
        if self.group(slice, port, number).is_some_and(is_full) {
            self.stop((slice, port, number));
        }
    }

    fn stop(&mut self, (slice, port, number): GroupAt) {
        let at = self.index(slice, port, number);
        if !std::mem::replace(&mut self.groups[at].stopped, true) {
            self.count_stopped(port, number, 1);
        }
    }

    /// Releases a stopped group whose headroom is empty and whose use is at most the level of XON.
    ///
    /// If a group were resumed earlier, the next pause would find less headroom than it may need.
    #[inline]
    fn release_below(&mut self, (slice, port, number): GroupAt, level: Option<u64>) {
        let at = self.index(slice, port, number);
        let is_below = |level| self.groups[at].headroom == 0 && self.use_beyond_reserve(slice, port, number) <= level;
        if level.is_some_and(is_below) {
            self.groups[at].stopped = false;
            self.count_stopped(port, number, -1);
        }
    }

    fn count_stopped(&mut self, port: PortId, number: u8, by: i8) {
        let slices = &mut self.stopped_slices[usize::from(port.0) * 8 + usize::from(number)];
        let before = *slices;
        *slices = slices.wrapping_add_signed(by);
        if self.signalled && (before == 0) != (*slices == 0) {
            self.signals.push((port, number));
        }
    }

    /// Treats all groups of a port as running, since its far end has lost its pauses with the link. The next arrival
    /// that finds a group at its limit stops it again.
    pub(crate) fn forget_stopped(&mut self, port: PortId) {
        for number in 0..8 {
            for slice in 0..self.layout.slices {
                let at = self.index(slice, port, number);
                self.groups[at].stopped = false;
            }
            self.stopped_slices[usize::from(port.0) * 8 + usize::from(number)] = 0;
        }
        self.signals.retain(|(of, _)| *of != port);
        if let Some(reaction) = &mut self.reaction {
            reaction.search_again();
        }
    }
    /// Returns true if a group is stopped in some slice: its far end must be paused.
    pub(crate) fn is_stopped(&self, port: PortId, group: u8) -> bool {
        self.stopped_slices[usize::from(port.0) * 8 + usize::from(group & 7)] > 0
    }
    /// Returns true if groups were stopped or released since the last call of [`PoolAccounts::take_signal`].
    #[inline]
    pub(crate) fn has_signals(&self) -> bool {
        !self.signals.is_empty()
    }
    /// Returns a group that has just been stopped or released.
    pub(crate) fn take_signal(&mut self) -> Option<(PortId, u8)> {
        if self.signals.is_empty() { None } else { Some(self.signals.remove(0)) }
    }

    /// Returns the bytes at which the group of a class is resumed if only the bytes `stays` are left in the switch.
    ///
    /// With several slices the bytes of each are unknown, and the level is that of a group alone in its pool.
    pub(crate) fn resume_level(&self, port: PortId, class: u8, stays: &[StuckBytes]) -> Option<u64> {
        let group = self.group(0, port, self.group_number(class))?;
        let rules = group.profile.lossless?;
        let mut bytes: BTreeMap<(PortId, u8), u64> = BTreeMap::new();
        for own in stays {
            *bytes.entry((own.ingress, self.group_number(own.class))).or_default() += own.bytes;
        }
        let same_pool = |(at, bytes): (&(PortId, u8), &u64)| {
            let other = self.group(0, at.0, at.1)?;
            let counts =
                other.profile.pool == group.profile.pool && (self.layout.slices == 1 || *at == (port, group.number));
            counts.then(|| bytes.saturating_sub(other.profile.reserve))
        };
        let limit = self.limit_with(&group, bytes.iter().filter_map(same_pool).sum());
        let level = group.profile.reserve.saturating_add(rules.xon.max(limit.saturating_sub(rules.xon_offset)));
        // Its headroom, which leaves first, must be empty too.
        let own = (0..self.layout.slices).map(|slice| &self.groups[self.index(slice, port, group.number)]);
        let (used, headroom) = own.fold((0, 0), |(used, headroom), own| (used + own.used, headroom + own.headroom));
        Some(if headroom > 0 { level.min(used) } else { level })
    }

    /// Returns use and limit of a queue in the slice where it is nearest to its limit, reserves included.
    pub(crate) fn queue_fill(&self, port: PortId, number: u8) -> Fill {
        let fills = (0..self.layout.slices).filter_map(|slice| {
            let queue = self.queue(slice, port, number)?;
            let limit = queue.profile.reserve.saturating_add(self.limit(&queue));
            Some(Fill { used: queue.used, limit: Some(limit) })
        });
        let free = |fill: &Fill| fill.limit.unwrap_or(u64::MAX).saturating_sub(fill.used);
        fills.min_by_key(free).unwrap_or(Fill { used: 0, limit: None })
    }
    /// Returns use and headroom of a group in the slice where the least headroom is free.
    pub(crate) fn headroom_fill(&self, port: PortId, class: u8) -> Fill {
        let number = self.group_number(class);
        let size = self.layout.groups[usize::from(port.0) * 8 + usize::from(number)].headroom;
        let used = |slice: usize| self.groups[self.index(slice, port, number)].headroom;
        Fill { used: (0..self.layout.slices).map(used).max().unwrap_or(0), limit: Some(size) }
    }
    /// Returns the largest limit of a class's group over all slices, reserve included.
    pub(crate) fn group_limit(&self, port: PortId, class: u8) -> u64 {
        let number = self.group_number(class);
        let groups = (0..self.layout.slices).filter_map(|slice| self.group(slice, port, number));
        groups.map(|group| group.profile.reserve.saturating_add(self.limit(&group))).max().unwrap_or(0)
    }
    /// Returns the bytes that the group of a class uses at a port, headroom included.
    pub(crate) fn group_bytes(&self, port: PortId, class: u8) -> u64 {
        let number = self.group_number(class);
        let own = |slice: usize| self.groups[self.index(slice, port, number)];
        (0..self.layout.slices).map(own).map(|group| group.used + group.headroom).sum()
    }
}
