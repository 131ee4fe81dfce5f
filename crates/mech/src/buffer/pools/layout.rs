//! Pools, profiles and accounts of one switch: their sizes for its ports, in bytes of whole cells.

use super::super::ThresholdSlot;
use crate::headroom::PausedLink;
use crate::{ClassSet, PortId};
use units::{ByteClock, Rate};

/// Entry of `groups` or `queues` that has no effect: the key and the place in its list.
pub type UnusedEntry = (&'static str, usize);

/// Link of a switch port, as far as it determines memory.
#[derive(Clone, Copy, Debug)]
pub struct BufferPort {
    /// Link rate as in the scenario, by which profiles select ports.
    pub rate: Rate,
    /// Delays and rates that determine the headroom of the port.
    pub link: PausedLink,
}

/// Pool of shared memory in one slice.
#[derive(Clone, Debug)]
pub struct PoolLimits {
    /// Name of the pool in the scenario.
    pub name: String,
    /// True if the pool counts groups at ingress, false if it counts queues at egress.
    pub is_ingress: bool,
    /// Bytes that accounts share beyond their reserves.
    pub size: u64,
    /// Bytes of headroom that the groups of the pool share; `None` if the headroom of each group is its own.
    pub headroom: Option<u64>,
}

/// Rules of the accounts of a profile.
#[derive(Clone, Debug)]
pub struct ProfileRules {
    /// Name of the profile in the scenario.
    pub name: String,
    /// Number of the pool.
    pub pool: usize,
    /// Bytes reserved for each account.
    pub reserve: u64,
    /// Limit of the shared memory of an account.
    pub threshold: ThresholdSlot,
    /// Levels of a lossless group; `None` if the profile is lossy.
    pub lossless: Option<LosslessRules>,
}

/// Rules of a lossless group, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LosslessRules {
    /// Headroom as given in the scenario; `None` if it is computed for each port.
    pub given_headroom: Option<u64>,
    /// Use beyond the reserve at or below which a paused group is always resumed.
    pub xon: u64,
    /// Difference between the limit and the use beyond the reserve at which a paused group is resumed.
    pub xon_offset: u64,
}

/// Account of a group or queue at one port: its profile and its headroom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccountRules {
    /// Number of the profile; `None` if the account has none.
    pub profile: Option<u8>,
    /// Headroom in bytes.
    pub headroom: u64,
}

/// Entry of `groups` or `queues`: a profile for these numbers, at some ports or at all.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub(super) numbers: Vec<u8>,
    pub(super) profile: u8,
    pub(super) ports: Option<Vec<u64>>,
    pub(super) rate: Option<Rate>,
}

impl Assignment {
    /// Returns true if the entry applies to a port with this number and rate.
    pub(super) fn applies_to(&self, port: usize, rate: Rate) -> bool {
        self.ports.as_ref().is_none_or(|ports| ports.contains(&(port as u64)))
            && self.rate.is_none_or(|own| own == rate)
    }
    /// Returns the profile of a number at a port: that of the last entry that applies.
    pub(super) fn find(all: &[Assignment], port: usize, rate: Rate, number: u8) -> Option<u8> {
        Assignment::find_place(all, port, rate, number).map(|place| all[place].profile)
    }
    /// Returns the place of the last entry that applies to a number at a port.
    pub(super) fn find_place(all: &[Assignment], port: usize, rate: Rate, number: u8) -> Option<usize> {
        all.iter().rposition(|one| one.numbers.contains(&number) && one.applies_to(port, rate))
    }
}

/// Memory of a switch: pools, profiles, and the account of each group and queue of each port.
#[derive(Clone, Debug)]
pub struct MemoryLayout {
    /// Size of a cell in bytes.
    pub cell: u64,
    /// Number of slices.
    pub slices: usize,
    /// Pools, each with its sizes in one slice.
    pub pools: Vec<PoolLimits>,
    /// Profiles, to which accounts refer by number.
    pub profiles: Vec<ProfileRules>,
    /// Priority group of each class.
    pub class_to_group: [u8; 8],
    /// Queue of each class.
    pub class_to_queue: [u8; 8],
    /// True if memory becomes free at the end of a transmission, false if at its start.
    pub frees_at_end: bool,
    /// True if every change of a pool may pause or resume its lossless groups.
    pub reacts_to_pool: bool,
    /// Transmission time of a byte at each port.
    pub clocks: Vec<ByteClock>,
    /// Account of each group, `8 * port + group`.
    pub groups: Vec<AccountRules>,
    /// Account of each queue, `8 * port + queue`.
    pub queues: Vec<AccountRules>,
    /// Entries of `groups` and `queues` that apply to no account of this switch.
    pub unused_entries: Vec<UnusedEntry>,
    /// Pipe of each port; ports beyond the list are in pipe 0.
    pub(super) pipes: Vec<u8>,
    /// Slice of each pair of input pipe and output pipe, row by row; empty if all frames are in slice 0.
    pub(super) slice_of: Vec<u8>,
    /// Number of pipes, by which `slice_of` is divided into rows.
    pub(super) pipe_count: usize,
}

impl MemoryLayout {
    /// Returns the layout of one egress pool with cells of one byte. All queues have the same reserve and threshold.
    pub(in super::super) fn of_queues(
        (size, reserve): (u64, u64),
        threshold: ThresholdSlot,
        ports: &[BufferPort],
    ) -> MemoryLayout {
        let accounts = ports.len() * 8;
        let size = size.saturating_sub(reserve.saturating_mul(accounts as u64));
        let name = "shared".to_string();
        MemoryLayout {
            cell: 1,
            slices: 1,
            pools: vec![PoolLimits { name: name.clone(), is_ingress: false, size, headroom: None }],
            profiles: vec![ProfileRules { name, pool: 0, reserve, threshold, lossless: None }],
            class_to_group: [0, 1, 2, 3, 4, 5, 6, 7],
            class_to_queue: [0, 1, 2, 3, 4, 5, 6, 7],
            frees_at_end: false,
            reacts_to_pool: false,
            clocks: ports.iter().map(|port| port.rate.clock()).collect(),
            groups: vec![AccountRules::default(); accounts],
            queues: vec![AccountRules { profile: Some(0), headroom: 0 }; accounts],
            unused_entries: Vec::new(),
            pipes: Vec::new(),
            slice_of: Vec::new(),
            pipe_count: 0,
        }
    }
    /// Returns the bytes of the cells that a frame of `size` bytes takes.
    #[inline]
    pub const fn cell_bytes(&self, size: u16) -> u64 {
        (size as u64).div_ceil(self.cell) * self.cell
    }
    /// Returns the slice of a frame by its input port and its output port.
    #[inline]
    pub fn slice(&self, ingress: PortId, egress: PortId) -> usize {
        if self.slice_of.is_empty() {
            return 0;
        }
        let pipe = |port: PortId| usize::from(self.pipes.get(usize::from(port.0)).copied().unwrap_or(0));
        usize::from(self.slice_of[pipe(ingress) * self.pipe_count + pipe(egress)])
    }
    /// Returns the classes of each group.
    pub fn classes_of_groups(&self) -> [ClassSet; 8] {
        let mut classes = [ClassSet::NONE; 8];
        for (class, group) in (0..).zip(self.class_to_group) {
            let own = &mut classes[usize::from(group)];
            *own = own.union(ClassSet::single(class));
        }
        classes
    }
    /// Returns the profile of a group or queue; `None` if it has none.
    #[inline]
    pub fn profile(&self, account: AccountRules) -> Option<&ProfileRules> {
        self.profiles.get(usize::from(account.profile?))
    }
    /// Returns true if groups have accounts at ingress.
    pub fn has_groups(&self) -> bool {
        self.pools.iter().any(|pool| pool.is_ingress)
    }
    /// Returns true if a group of a port is lossless.
    pub fn is_lossless(&self, port: PortId, group: u8) -> bool {
        let account = self.groups[usize::from(port.0) * 8 + usize::from(group)];
        self.profile(account).is_some_and(|profile| profile.lossless.is_some())
    }
    /// Returns the bytes of the whole memory: the shared memory, reserves and headroom of the side with ingress pools,
    /// or of the egress side if there are none.
    pub fn total_bytes(&self) -> u64 {
        let ingress = self.pools.iter().any(|pool| pool.is_ingress);
        let sides = self.pools.iter().filter(|pool| pool.is_ingress == ingress);
        let pools = sides.map(|pool| pool.size.saturating_add(pool.headroom.unwrap_or(0))).fold(0, u64::saturating_add);
        let accounts = if ingress { &self.groups } else { &self.queues };
        let own = accounts.iter().filter_map(|account| Some((account, self.profile(*account)?)));
        let accounts = own.map(|(account, profile)| {
            let shared = self.pools[profile.pool].headroom.is_some();
            profile.reserve.saturating_add(if shared { 0 } else { account.headroom })
        });
        let slice = accounts.fold(pools, u64::saturating_add);
        slice.saturating_mul(self.slices as u64)
    }
}
