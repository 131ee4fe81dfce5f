//! Computation of the memory of a switch from the tables of a scenario.

use super::super::ThresholdSlot;
use super::layout::{AccountRules, Assignment, BufferPort, LosslessRules, MemoryLayout, PoolLimits, ProfileRules};
use super::params::{
    GroupParams, Params, PoolParams, PoolSide, ProfileParams, QueueParams, React, Release, SizeIncludes,
};
use crate::PriorityGroups;
use crate::params::Values;
use units::{Bytes, Rate};

/// Parsed tables of `switch.buffer`, before they are applied to the ports of a switch.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) given: Params,
    pub(super) pools: Vec<Pool>,
    pub(super) profiles: Vec<Profile>,
    pub(super) groups: Vec<Assignment>,
    pub(super) queues: Vec<Assignment>,
    /// Names of pools in profiles, and names of profiles in entries, that do not exist: key, name and kind.
    pub(super) unknown_names: Vec<(String, String, &'static str)>,
}

/// Pool as given in a scenario.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub(super) name: String,
    pub(super) given: PoolParams,
}

/// Profile as given in a scenario, with the number of its pool.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub(super) name: String,
    pub(super) given: ProfileParams,
    pub(super) pool: usize,
    pub(super) threshold: ThresholdSlot,
}

/// Entry of `groups` or `queues` as given in a scenario.
struct Entry {
    numbers: Vec<u64>,
    profile: String,
    ports: Option<Vec<u64>>,
    rate: Option<Rate>,
}

impl From<GroupParams> for Entry {
    fn from(GroupParams { group: numbers, profile, ports, rate }: GroupParams) -> Entry {
        Entry { numbers, profile, ports, rate }
    }
}

impl From<QueueParams> for Entry {
    fn from(QueueParams { queue: numbers, profile, ports, rate }: QueueParams) -> Entry {
        Entry { numbers, profile, ports, rate }
    }
}

/// Returns the first eight numbers of a list as an array; missing ones are 0.
fn eight(list: &[u64]) -> [u8; 8] {
    std::array::from_fn(|i| list.get(i).map_or(0, |number| *number as u8 & 7))
}

impl Setup {
    /// Reads the tables of validated parameters. Unknown names are kept for `check`.
    pub(super) fn new(values: &Values) -> Setup {
        let given = Params::read(values);
        let pools: Vec<Pool> =
            given.pools.iter().map(|(name, own)| Pool { name: name.clone(), given: PoolParams::read(own) }).collect();
        let mut unknown_names = Vec::new();
        let mut profiles = Vec::new();
        for (name, own) in &given.profiles {
            let own = ProfileParams::read(own);
            let pool = pools.iter().position(|pool| pool.name == own.pool).unwrap_or_else(|| {
                unknown_names.push((format!("profiles.{name}.pool"), own.pool.clone(), "pool"));
                0
            });
            let kind = own.threshold.as_ref().map(|threshold| (threshold.0.as_str(), &threshold.1));
            let threshold = ThresholdSlot::from_values(kind);
            profiles.push(Profile { name: name.clone(), given: own, pool, threshold });
        }
        let mut assign = |key: &str, entries: Vec<Entry>| {
            let entry = |(i, Entry { numbers, profile, ports, rate }): (usize, Entry)| {
                let found = profiles.iter().position(|own| own.name == profile).unwrap_or_else(|| {
                    unknown_names.push((format!("{key}.{i}.profile"), profile.clone(), "profile"));
                    0
                });
                let numbers = numbers.iter().map(|number| *number as u8).collect();
                Assignment { numbers, profile: found as u8, ports, rate }
            };
            entries.into_iter().enumerate().map(entry).collect::<Vec<_>>()
        };
        let of_groups = given.groups.iter().flatten().map(|own| GroupParams::read(own).into());
        let groups = assign("groups", of_groups.collect());
        let of_queues = given.queues.iter().flatten().map(|own| QueueParams::read(own).into());
        let queues = assign("queues", of_queues.collect());
        Setup { given, pools, profiles, groups, queues, unknown_names }
    }

    /// Returns the kind of groups that classes belong to. With unknown names they count as lossless: the errors about
    /// the names suffice.
    pub(super) fn priority_groups(&self) -> PriorityGroups {
        let in_use = |number: &u8| self.given.class_to_group.contains(&u64::from(*number));
        let is_lossless = |entry: &Assignment| {
            entry.numbers.iter().any(in_use) && self.profiles[usize::from(entry.profile)].given.lossless
        };
        if !self.pools.iter().any(|pool| pool.given.side == PoolSide::Ingress) {
            PriorityGroups::Absent
        } else if !self.unknown_names.is_empty() || self.groups.iter().any(is_lossless) {
            PriorityGroups::Lossless
        } else {
            PriorityGroups::Lossy
        }
    }

    /// Returns the sum of the sizes of the pools of one side, with their shared headroom.
    pub(super) fn nominal_bytes(&self) -> u64 {
        let ingress = self.pools.iter().any(|pool| pool.given.side == PoolSide::Ingress);
        let side = if ingress { PoolSide::Ingress } else { PoolSide::Egress };
        let own = self.pools.iter().filter(|pool| pool.given.side == side);
        let sizes = own.map(|pool| pool.given.size.0.saturating_add(pool.given.headroom.map_or(0, |own| own.0)));
        sizes.fold(0, u64::saturating_add)
    }

    fn whole_cells(&self, bytes: u64) -> u64 {
        let cell = self.given.cell.0;
        bytes / cell * cell
    }

    fn profile_rules(&self, profile: &Profile) -> ProfileRules {
        let given = &profile.given;
        let bytes = |size: Option<Bytes>| size.map_or(0, |size| size.0);
        let lossless = given.lossless.then(|| LosslessRules {
            given_headroom: given.xoff.map(|own| self.whole_cells(own.0)),
            xon: bytes(given.xon),
            xon_offset: bytes(given.xon_offset),
        });
        // A reserve that is no whole number of cells is rounded up: a chip reserves whole cells for it.
        let reserve = given.reserve.0.div_ceil(self.given.cell.0).saturating_mul(self.given.cell.0);
        let (name, threshold) = (profile.name.clone(), profile.threshold.clone());
        ProfileRules { name, pool: profile.pool, reserve, threshold, lossless }
    }

    /// Returns the memory for a switch with these ports.
    pub(super) fn layout(&self, ports: &[BufferPort]) -> MemoryLayout {
        let given = &self.given;
        let (cell, slices) = (given.cell.0, given.slices as usize);
        let profiles: Vec<ProfileRules> = self.profiles.iter().map(|own| self.profile_rules(own)).collect();
        let account = |all: &[Assignment], port: usize, number: u8| {
            let profile = Assignment::find(all, port, ports[port].rate, number);
            let lossless = profile.and_then(|own| profiles[usize::from(own)].lossless);
            let computed = || ports[port].link.worst_case_headroom(cell, given.worst_frame.0 as u16);
            let headroom = lossless.map_or(0, |own| own.given_headroom.unwrap_or_else(computed));
            AccountRules { profile, headroom }
        };
        let accounts = |all: &[Assignment]| -> Vec<AccountRules> {
            (0..ports.len() * 8).map(|i| account(all, i / 8, (i % 8) as u8)).collect()
        };
        let (groups, queues) = (accounts(&self.groups), accounts(&self.queues));
        let pipe_count = given.slice_of.len().isqrt();
        let mut layout = MemoryLayout {
            cell,
            slices,
            pools: Vec::new(),
            profiles,
            class_to_group: eight(&given.class_to_group),
            class_to_queue: eight(&given.class_to_queue),
            frees_at_end: given.release == Release::End,
            reacts_to_pool: given.react == React::Pool,
            clocks: ports.iter().map(|port| port.rate.clock()).collect(),
            groups,
            queues,
            unused_entries: self.unused_entries(ports),
            pipes: given.pipes.iter().map(|pipe| *pipe as u8).collect(),
            slice_of: given.slice_of.iter().map(|slice| *slice as u8).collect(),
            pipe_count,
        };
        layout.pools = (0..self.pools.len()).map(|pool| self.pool_limits(pool, &layout)).collect();
        layout
    }

    /// Returns the sizes of a pool in one slice. Reserves and headroom are subtracted if `size` includes them.
    fn pool_limits(&self, number: usize, layout: &MemoryLayout) -> PoolLimits {
        let pool = &self.pools[number];
        let is_ingress = pool.given.side == PoolSide::Ingress;
        let own = if is_ingress { &layout.groups } else { &layout.queues };
        let members =
            || own.iter().filter_map(|one| Some((one, layout.profile(*one)?))).filter(|(_, p)| p.pool == number);
        let reserves = members().map(|(_, profile)| profile.reserve).fold(0, u64::saturating_add);
        let headrooms = members().map(|(account, _)| account.headroom).fold(0, u64::saturating_add);
        let per_slice = |bytes: u64| self.whole_cells(bytes / self.given.slices);
        let by_ratio = pool.given.over_subscribe_ratio.map(|ratio| self.whole_cells((headrooms as f64 / ratio) as u64));
        let headroom = pool.given.headroom.map(|own| per_slice(own.0)).or(by_ratio);
        let included = match self.given.size_includes {
            SizeIncludes::Shared => 0,
            SizeIncludes::Reserves => reserves,
            SizeIncludes::Headroom => reserves.saturating_add(headroom.unwrap_or(headrooms)),
        };
        let size = per_slice(pool.given.size.0).saturating_sub(included);
        PoolLimits { name: pool.name.clone(), is_ingress, size, headroom }
    }
}
