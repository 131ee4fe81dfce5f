//! Checks of the tables of `switch.buffer` with `kind = "pools"`.

use super::build::{Pool, Setup};
use super::layout::Assignment;
use super::params::{PoolSide, SizeIncludes};
use crate::{CheckContext, Report};
use std::collections::BTreeSet;
use units::{Bytes, Rate};

/// Returns a number with its noun, in the plural unless it is one.
fn count(noun: &str, number: usize) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

impl Setup {
    /// Reports tables that conflict with each other or with the ports of the switch.
    pub(super) fn check(&self, beside: &CheckContext, report: &mut Report) {
        self.check_names(report);
        self.check_slices(report);
        self.check_maps(report);
        if self.given.worst_frame.0 > u64::from(u16::MAX) {
            report.add_error("worst_frame", self.given.worst_frame, format!("at most {}", Bytes(u16::MAX.into())));
        }
        self.check_pools(report);
        self.check_profiles(report);
        if self.unknown_names.is_empty() {
            self.check_sides(report);
            self.warn_unused(report);
            self.check_ports(beside, report);
        }
    }

    fn check_names(&self, report: &mut Report) {
        for (key, name, kind) in &self.unknown_names {
            let known: Vec<&str> = match *kind {
                "pool" => self.pools.iter().map(|pool| pool.name.as_str()).collect(),
                _ => self.profiles.iter().map(|profile| profile.name.as_str()).collect(),
            };
            // Without any pool or profile, the error about that suffices.
            if !known.is_empty() {
                let rule = format!("one of `{}`", known.join("`, `"));
                report.add_error(key.clone(), format!("unknown {kind} `{name}`"), rule);
            }
        }
        if self.pools.is_empty() {
            report.add_error("pools", "no pool", "at least one pool");
        }
        if self.profiles.is_empty() || self.profiles.len() > usize::from(u8::MAX) {
            report.add_error("profiles", count("profile", self.profiles.len()), "1 to 255 profiles");
        }
    }

    /// Reports a `slice_of` that is missing or not a square table, and slices and pipes that do not exist.
    fn check_slices(&self, report: &mut Report) {
        let (given, table) = (&self.given, &self.given.slice_of);
        let pipes = table.len().isqrt();
        let is_square = pipes * pipes == table.len();
        if !is_square {
            let rule = "one slice for each pair of an input pipe and an output pipe, so 1, 4, 9, 16, … numbers";
            report.add_error("slice_of", count("number", table.len()), rule);
        }
        if given.slices > 1 && table.is_empty() {
            report.add_error("slice_of", "nothing", "the slice of each pair of pipes, since there are several slices");
        }
        if let Some(slice) = table.iter().find(|slice| **slice >= given.slices) {
            let rule = match given.slices {
                1 => "slice 0 alone, because slices = 1".to_string(),
                slices => format!("slices from 0 to {}", slices - 1),
            };
            report.add_error("slice_of", slice, rule);
        }
        if let Some(pipe) = given.pipes.iter().find(|pipe| is_square && **pipe as usize >= pipes.max(1)) {
            let rule = match pipes {
                0 => "pipe 0 alone without `slice_of`, which has the slice of each pair of pipes".to_string(),
                1 => "pipe 0 alone, because slice_of has one number".to_string(),
                _ => format!("pipes from 0 to {}, as in slice_of", pipes - 1),
            };
            report.add_error("pipes", pipe, rule);
        }
    }

    /// Reports maps of classes that do not have eight entries.
    fn check_maps(&self, report: &mut Report) {
        let maps = [("class_to_group", &self.given.class_to_group), ("class_to_queue", &self.given.class_to_queue)];
        for (key, map) in maps.into_iter().filter(|(_, map)| map.len() != 8) {
            report.add_error(key, count("number", map.len()), "8 numbers, for classes 0 to 7");
        }
    }

    fn check_pools(&self, report: &mut Report) {
        for pool in &self.pools {
            let key = |name: &str| format!("pools.{}.{name}", pool.name);
            let own = &pool.given;
            if own.side == PoolSide::Egress && own.headroom.is_some() {
                report.add_error(key("headroom"), "headroom of an egress pool", "no `headroom` at egress");
            }
            if own.side == PoolSide::Egress && own.over_subscribe_ratio.is_some() {
                report.add_error(
                    key("over_subscribe_ratio"),
                    "over_subscribe_ratio of an egress pool",
                    "no `over_subscribe_ratio` at egress",
                );
            }
            if own.headroom.is_some() && own.over_subscribe_ratio.is_some() {
                report.add_error(key("headroom"), "headroom together with over_subscribe_ratio", "one of the two");
            }
            if own.size.0 / self.given.slices < self.given.cell.0 {
                let rule = match self.given.slices {
                    1 => format!("at least a cell of {}", self.given.cell),
                    slices => format!("at least a cell of {} for each of {slices} slices", self.given.cell),
                };
                report.add_error(key("size"), own.size, rule);
            }
        }
    }

    fn check_profiles(&self, report: &mut Report) {
        for profile in &self.profiles {
            let key = |name: &str| format!("profiles.{}.{name}", profile.name);
            let own = &profile.given;
            let mut of_threshold = Report::default();
            profile.threshold.peek().check(&mut of_threshold);
            for error in of_threshold.errors {
                report.add_error(key(&format!("threshold.{}", error.key)), error.found, error.rule);
            }
            let given = [("xoff", own.xoff), ("xon", own.xon), ("xon_offset", own.xon_offset)];
            for (name, _) in given.into_iter().filter(|(_, size)| size.is_some() && !own.lossless) {
                let rule = format!("lossless = true, or no `{name}`");
                report.add_error(key(name), format!("`{name}` of a lossy profile"), rule);
            }
        }
    }

    /// Reports groups with egress profiles, and queues with ingress or lossless profiles.
    fn check_sides(&self, report: &mut Report) {
        for (entries, key, side) in
            [(&self.groups, "groups", PoolSide::Ingress), (&self.queues, "queues", PoolSide::Egress)]
        {
            for (i, entry) in entries.iter().enumerate() {
                let profile = &self.profiles[usize::from(entry.profile)];
                let pool = &self.pools[profile.pool];
                if pool.given.side != side {
                    let found = format!(
                        "profile `{}`, whose pool `{}` is an {} pool",
                        profile.name,
                        pool.name,
                        pool.given.side.word()
                    );
                    report.add_error(
                        format!("{key}.{i}.profile"),
                        found,
                        format!("a profile of an {} pool", side.word()),
                    );
                } else if profile.given.lossless && side == PoolSide::Egress {
                    let found = format!("lossless profile `{}` of queues", profile.name);
                    report.add_error(format!("{key}.{i}.profile"), found, "a lossless profile of groups only");
                }
            }
        }
    }

    /// Reports groups and queues in use without a profile, entries for ports that do not exist, and reserves and
    /// headroom that exceed a pool.
    fn check_ports(&self, beside: &CheckContext, report: &mut Report) {
        let Some(rates) = beside.rates else { return };
        let sides = [
            (&self.groups, "groups", PoolSide::Ingress, &self.given.class_to_group),
            (&self.queues, "queues", PoolSide::Egress, &self.given.class_to_queue),
        ];
        for (entries, key, side, map) in sides {
            if !self.pools.iter().any(|pool| pool.given.side == side) {
                continue;
            }
            let in_use: BTreeSet<u8> = map.iter().map(|number| *number as u8 & 7).collect();
            let missing = |number: u8| {
                rates.iter().enumerate().find(|(port, rate)| Assignment::find(entries, *port, **rate, number).is_none())
            };
            if let Some((number, (port, rate))) = in_use.iter().find_map(|number| Some((number, missing(*number)?))) {
                let what = key.trim_end_matches('s');
                let rule = format!("a profile for each {what} to which a class belongs, at each port");
                report.add_error(key, format!("no profile for {what} {number} of port {port} ({rate})"), rule);
            }
            for (i, entry) in entries.iter().enumerate() {
                if let Some(port) = entry.ports.iter().flatten().find(|port| **port as usize >= rates.len()) {
                    report.add_error(format!("{key}.{i}.ports"), port, format!("ports from 0 to {}", rates.len() - 1));
                }
            }
            self.check_reserves(entries, (side, rates), report);
        }
    }

    /// Reports pools whose size does not hold the reserves and headroom that it includes. Headroom that is computed from
    /// links is unknown here.
    fn check_reserves(&self, entries: &[Assignment], (side, rates): (PoolSide, &[Rate]), report: &mut Report) {
        if self.given.size_includes == SizeIncludes::Shared {
            return;
        }
        let with_headroom = self.given.size_includes == SizeIncludes::Headroom;
        let shared = |pool: &Pool| pool.given.headroom.map(|own| own.0 / self.given.slices).filter(|_| with_headroom);
        let mut reserves: Vec<u64> = self.pools.iter().map(|pool| shared(pool).unwrap_or(0)).collect();
        let accounts = rates.iter().enumerate().flat_map(|port| (0..8).map(move |number| (port, number)));
        for ((port, rate), number) in accounts {
            if let Some(profile) = Assignment::find(entries, port, *rate, number) {
                let own = &self.profiles[usize::from(profile)];
                let pool = &self.pools[own.pool].given;
                let is_own = with_headroom && pool.headroom.is_none() && pool.over_subscribe_ratio.is_none();
                let headroom = own.given.xoff.filter(|_| is_own).map_or(0, |own| own.0);
                let taken = own.given.reserve.0.saturating_add(headroom);
                reserves[own.pool] = reserves[own.pool].saturating_add(taken);
            }
        }
        for (pool, reserve) in self.pools.iter().zip(reserves).filter(|(pool, _)| pool.given.side == side) {
            let size = pool.given.size.0 / self.given.slices;
            if reserve > size {
                let what = if with_headroom { "reserves and headroom" } else { "reserves" };
                let found = format!("{} in each slice, less than {} of {what}", Bytes(size), Bytes(reserve));
                report.add_error(
                    format!("pools.{}.size", pool.name),
                    found,
                    format!("a size that includes all {what}"),
                );
            }
        }
    }
}
