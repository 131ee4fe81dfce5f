//! Check that the accounts equal the cells of the stored frames.

use super::{CountedFrame, GroupUse, PoolAccounts, PoolUse};
use mech::PortId;

impl PoolAccounts {
    /// Returns true if the accounts are those of exactly these frames, and no pool exceeds its size.
    pub(crate) fn equal(&self, frames: impl Iterator<Item = CountedFrame>) -> bool {
        let (mut groups, mut queues) = (vec![0u64; self.groups.len()], vec![0u64; self.queues.len()]);
        for frame in frames {
            let Some(ingress) = frame.ingress else { return false };
            let (slice, bytes) = (self.slice_of(&frame), self.layout.cell_bytes(frame.size));
            groups[self.index(slice, ingress, self.group_number(frame.class))] += bytes;
            queues[self.index(slice, frame.egress, frame.queue)] += bytes;
        }
        let of_group = |group: &GroupUse| group.used + group.headroom;
        let same = self.groups.iter().map(of_group).eq(groups) && self.queues.iter().copied().eq(queues);
        same && self.pools_are_consistent()
    }

    /// Returns true if the use of each pool is the sum of its accounts, and no pool and no headroom exceeds its size.
    fn pools_are_consistent(&self) -> bool {
        let mut sums = vec![PoolUse::default(); self.pools.len()];
        let mut within_headroom = true;
        for slice in 0..self.layout.slices {
            for (port, number) in (0..self.ports as u16).flat_map(|port| (0..8).map(move |n| (PortId(port), n))) {
                let own = self.groups[self.index(slice, port, number)];
                within_headroom &=
                    own.headroom <= self.layout.groups[usize::from(port.0) * 8 + usize::from(number)].headroom;
                for account in [self.group(slice, port, number), self.queue(slice, port, number)].into_iter().flatten()
                {
                    let sum = &mut sums[self.pool_index(slice, account.profile.pool)];
                    sum.shared += account.shared();
                    sum.headroom += if account.side == mech::MemorySide::Input { own.headroom } else { 0 };
                    sum.congested[usize::from(number)] += u32::from(account.shared() > 0);
                }
            }
        }
        let limits = self.layout.pools.iter().cycle();
        within_headroom
            && self.pools.iter().zip(sums).zip(limits).all(|((pool, sum), limits)| {
                let headroom = limits.headroom.is_none_or(|size| pool.headroom <= size);
                (pool.shared, pool.headroom, pool.congested) == (sum.shared, sum.headroom, sum.congested)
                    && pool.shared <= limits.size
                    && headroom
            })
    }
}
