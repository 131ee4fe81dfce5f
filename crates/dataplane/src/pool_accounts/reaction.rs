//! Reaction of lossless groups to changes of their pool by others (`react = "pool"`).
//!
//! A dynamic limit falls when other groups fill the pool, and rises when their frames leave. A running group that
//! shares u bytes is at its limit if u / α bytes of the pool are free. While more than the largest u / α is free, no
//! group is at its limit. This one comparison replaces a search of all groups.

use super::{GroupAt, PoolAccounts};
use mech::PortId;

/// Bounds on the free bytes of each pool, between which no group is stopped or released.
#[derive(Clone, Debug)]
pub(super) struct PoolReaction {
    bounds: Vec<Bounds>,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// A running group may be at its limit if at most this number of bytes is free.
    stops_at: u64,
    /// A stopped group may be released if at least this number of bytes is free.
    releases_at: u64,
}

impl PoolReaction {
    pub(super) fn new(pools: usize) -> PoolReaction {
        PoolReaction { bounds: vec![Bounds { stops_at: 0, releases_at: u64::MAX }; pools] }
    }
    /// Makes the next arrival search all groups.
    pub(super) fn search_again(&mut self) {
        self.bounds.iter_mut().for_each(|bounds| bounds.stops_at = u64::MAX);
    }
}

/// Returns the free bytes of a pool of which α times is `limit`: rounded up if `rounds_up`, otherwise rounded down.
fn free_at_limit(limit: u64, alpha: Option<u64>, rounds_up: bool) -> u64 {
    match alpha {
        Some(0) | None => {
            if rounds_up {
                u64::MAX
            } else {
                0
            }
        }
        Some(alpha) => {
            let free = (u128::from(limit) << 32) / u128::from(alpha) + u128::from(rounds_up);
            u64::try_from(free).unwrap_or(u64::MAX)
        }
    }
}

impl PoolAccounts {
    /// Stops or releases groups of the same pool as a group that has changed, if the pool alone has moved their limits.
    ///
    /// `departed` is the use of the pool before a departure; `None` after an arrival.
    #[inline]
    pub(super) fn react(&mut self, group: GroupAt, departed: Option<u64>) {
        if self.reaction.is_some() {
            self.react_to_pool(group, departed);
        }
    }

    fn react_to_pool(&mut self, changed: GroupAt, departed: Option<u64>) {
        let (slice, port, number) = changed;
        let Some(pool) = self.group(slice, port, number).map(|group| group.profile.pool) else { return };
        self.widen_bounds(changed);
        let at = self.pool_index(slice, pool);
        let used = departed.unwrap_or(self.pools[at].shared);
        let free = self.layout.pools[pool].size.saturating_sub(used);
        let Some(bounds) = self.reaction.as_ref().map(|reaction| reaction.bounds[at]) else { return };
        if if departed.is_none() { free <= bounds.stops_at } else { free >= bounds.releases_at } {
            self.search_groups(slice, pool, departed);
        }
    }

    /// Widens the bounds of a pool so that they include one group.
    fn widen_bounds(&mut self, (slice, port, number): GroupAt) {
        let Some(group) = self.group(slice, port, number) else { return };
        let Some(rules) = group.profile.lossless else { return };
        let (pool, alpha) = (self.pool_index(slice, group.profile.pool), group.profile.threshold.alpha());
        let stopped = self.groups[self.index(slice, port, number)].stopped;
        let fixed = group.profile.threshold.fixed_limit().is_some();
        let (shared, beyond) = (group.shared(), self.use_beyond_reserve(slice, port, number));
        let Some(reaction) = &mut self.reaction else { return };
        let bounds = &mut reaction.bounds[pool];
        if stopped && !fixed {
            let least = if beyond <= rules.xon { 0 } else { free_at_limit(beyond + rules.xon_offset, alpha, false) };
            bounds.releases_at = bounds.releases_at.min(least);
        } else if shared > 0 && !fixed {
            bounds.stops_at = bounds.stops_at.max(free_at_limit(shared, alpha, true));
        }
    }

    /// Stops or releases each group of a pool whose limit has moved past its use, and computes the bounds again.
    fn search_groups(&mut self, slice: usize, pool: usize, departed: Option<u64>) {
        let at = self.pool_index(slice, pool);
        if let Some(reaction) = &mut self.reaction {
            reaction.bounds[at] = Bounds { stops_at: 0, releases_at: u64::MAX };
        }
        let accounts = (0..self.ports as u16).flat_map(|port| (0..8).map(move |number| (PortId(port), number)));
        for (port, number) in accounts {
            let Some(group) = self.group(slice, port, number).filter(|group| group.profile.pool == pool) else {
                continue;
            };
            if group.profile.lossless.is_none() {
                continue;
            }
            let stopped = self.groups[self.index(slice, port, number)].stopped;
            let at = (slice, port, number);
            match departed {
                None if !stopped && group.shared() > 0 => self.stop_if_full(at),
                Some(used) if stopped => self.release_below(at, self.xon_level_with(at, used)),
                _ => {}
            }
            self.widen_bounds(at);
        }
    }
}
