//! Warnings about settings of pools, profiles and slices that have no effect.

use super::build::{Pool, Profile, Setup};
use super::layout::{Assignment, BufferPort, UnusedEntry};
use super::params::{PoolSide, React};
use crate::Report;
use std::collections::BTreeSet;
use units::Bytes;

impl Setup {
    /// Reports settings that have no effect, whatever the ports of the switch.
    pub(super) fn warn_unused(&self, report: &mut Report) {
        let used: BTreeSet<u8> = self.groups.iter().chain(&self.queues).map(|entry| entry.profile).collect();
        for (_, profile) in self.profiles.iter().enumerate().filter(|(i, _)| !used.contains(&(*i as u8))) {
            report.add_warning(format!("switch.buffer: no group or queue uses the profile `{}`", profile.name));
        }
        let is_unused = |number: &usize| self.profiles.iter().all(|profile| profile.pool != *number);
        for pool in (0..self.pools.len()).filter(is_unused).map(|number| &self.pools[number]) {
            report.add_warning(format!("switch.buffer: no profile uses the pool `{}`", pool.name));
        }
        self.warn_lossless_settings(report);
        self.warn_unused_slices(report);
        self.lossless_profiles().for_each(|profile| self.warn_high_xon(profile, report));
    }

    /// Returns the profiles of lossless groups, once for each entry.
    fn lossless_profiles(&self) -> impl Iterator<Item = &Profile> {
        let all = self.groups.iter().map(|entry| &self.profiles[usize::from(entry.profile)]);
        all.filter(|profile| profile.given.lossless)
    }

    /// Reports headroom and reactions without a lossless group, and a frame size from which no headroom is computed.
    fn warn_lossless_settings(&self, report: &mut Report) {
        let is_lossless = |number: usize| self.lossless_profiles().any(|profile| profile.pool == number);
        let lossy = |(number, pool): &(usize, &Pool)| pool.given.side == PoolSide::Ingress && !is_lossless(*number);
        for (_, pool) in self.pools.iter().enumerate().filter(lossy) {
            let keys = [
                ("headroom", pool.given.headroom.is_some()),
                ("over_subscribe_ratio", pool.given.over_subscribe_ratio.is_some()),
            ];
            for (key, _) in keys.into_iter().filter(|(_, given)| *given) {
                report.add_warning(format!(
                    "switch.buffer.pools.{}.{key} has no effect: no lossless group uses the pool",
                    pool.name
                ));
            }
        }
        if self.given.react == React::Pool && self.lossless_profiles().next().is_none() {
            report.add_warning("switch.buffer.react has no effect without a lossless group");
        }
        let computes = self.lossless_profiles().any(|profile| profile.given.xoff.is_none());
        if self.given.worst_frame != Bytes(64) && !computes {
            let why = "it counts for computed headroom alone, which only lossless groups without `xoff` have";
            report.add_warning(format!("switch.buffer.worst_frame has no effect: {why}"));
        }
    }

    /// Reports slices that no pair of pipes uses.
    fn warn_unused_slices(&self, report: &mut Report) {
        let used: BTreeSet<u64> = self.given.slice_of.iter().copied().collect();
        let unused = (0..self.given.slices).filter(|slice| !used.contains(slice)).count();
        if unused > 0 && !used.is_empty() {
            report.add_warning(format!(
                "switch.buffer: slice_of uses {} of {} slices. The memory of the others stays empty, and each slice \
                 has only its part of a pool. Set slices = {}, or use all slices",
                used.len(),
                self.given.slices,
                used.len()
            ));
        }
    }

    /// Reports an `xon` that is not below the highest limit of the profile.
    fn warn_high_xon(&self, profile: &Profile, report: &mut Report) {
        let (threshold, pool) = (&profile.threshold, &self.pools[profile.pool].given);
        let size = u128::from(pool.size.0 / self.given.slices);
        let of_free =
            threshold.alpha().map(|alpha| u64::try_from((u128::from(alpha) * size) >> 32).unwrap_or(u64::MAX));
        let Some((xon, limit)) = profile.given.xon.zip(threshold.fixed_limit().or(of_free)) else { return };
        if xon.0 >= limit {
            report.add_warning(format!(
                "switch.buffer.profiles.{}.xon = {xon} is not below the limit of {}: a paused group is resumed at its \
                 first departure without headroom in use. Decrease xon",
                profile.name,
                Bytes(limit)
            ));
        }
    }

    /// Returns the entries that apply to no account of a switch with these ports: none of them has their `ports` or
    /// `rate`, or later entries override them everywhere.
    pub(super) fn unused_entries(&self, ports: &[BufferPort]) -> Vec<UnusedEntry> {
        let of_list = |key: &'static str, all: &[Assignment]| {
            let applies = |(place, entry): (usize, &Assignment)| {
                (0..ports.len()).any(|port| {
                    let mut numbers = entry.numbers.iter();
                    numbers.any(|number| Assignment::find_place(all, port, ports[port].rate, *number) == Some(place))
                })
            };
            let unused = all.iter().enumerate().filter(|(place, entry)| !applies((*place, entry)));
            unused.map(|(place, _)| (key, place)).collect::<Vec<_>>()
        };
        [of_list("groups", &self.groups), of_list("queues", &self.queues)].concat()
    }
}
