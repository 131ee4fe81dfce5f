//! What is meant where a scenario names something as papers and other tools do, or where it does not belong.

use crate::settings::FRAMING;
use crate::{topology, traffic};
use dataplane::transport;
use mech::params::Spec;
use mech::{Alias, Registry};

/// Other names of what is no mechanism.
const ALIASES: &[Alias] = &[
    Alias::new("tcp", "TCP", ("transport", "newreno")),
    Alias::new("clos", "a Clos network", ("topology", "leaf_spine")),
    Alias::new("switch", "a single switch", ("topology", "star")),
    Alias::new("cbr", "CBR", ("traffic", "constant")),
    Alias::new("udp", "UDP", ("traffic", "constant")),
    Alias::new("onoff", "on-off traffic", ("traffic", "bursts")),
    Alias::new("rpc", "RPC", ("traffic", "request_reply")),
    Alias::new("shuffle", "a shuffle", ("traffic", "all_to_all")),
    Alias::new("allreduce", "all-reduce", ("traffic", "all_reduce")),
    Alias::new("partitionaggregate", "partition-aggregate", ("traffic", "query")),
    Alias::new("csv", "a CSV file", ("traffic", "trace")),
];

fn aliases() -> impl Iterator<Item = &'static Alias> {
    mech::ALIASES.iter().chain(ALIASES)
}

fn plain(typed: &str) -> String {
    typed.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).take(40).collect()
}

/// Everything that has kinds.
fn declared() -> Vec<&'static Spec> {
    let fixed = [FRAMING, topology::SPECS, transport::SPECS, traffic::SPECS];
    let mut all = Registry::catalogue().specs();
    all.extend(fixed.into_iter().flatten());
    all
}

/// What is meant by a name that is none of these kinds.
pub(super) fn kind(typed: &str, specs: &[&'static Spec]) -> Option<String> {
    let typed = plain(typed);
    let named = || aliases().filter(|alias| alias.typed == typed);
    let is_here = |alias: &&Alias| specs.iter().any(|spec| (spec.slot, spec.kind) == (alias.slot, alias.kind));
    if let Some(Alias { said, kind, .. }) = named().find(is_here) {
        return Some(format!("{said} is `{kind}`"));
    }
    let elsewhere = declared().into_iter().find(|spec| plain(spec.kind) == typed && spec.kind != "none");
    if let Some(spec) = elsewhere.filter(|spec| specs.iter().all(|here| here.slot != spec.slot)) {
        return Some(format!("`{}` is a kind of `{}`", spec.kind, spec.slot));
    }
    named().next().map(|Alias { said, kind, slot, .. }| format!("{said} is `{kind}` of `{slot}`"))
}

/// The kind that is meant where a name stands in place of the table of a key.
pub(super) fn table(key: &str, typed: &str) -> Option<&'static str> {
    let typed = plain(typed);
    let of_key = |slot: &str| slot.rsplit('.').next() == Some(key);
    let alias = aliases().find(|alias| of_key(alias.slot) && alias.typed == typed).map(|alias| alias.kind);
    let spec = || declared().into_iter().find(|spec| of_key(spec.slot) && plain(spec.kind) == typed);
    alias.or_else(|| spec().map(|spec| spec.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_means_what_there_is_and_is_no_kind_itself() {
        let all = declared();
        for Alias { typed, slot, kind, .. } in aliases() {
            assert!(all.iter().any(|spec| (spec.slot, spec.kind) == (*slot, *kind)), "{typed}");
            assert!(!all.iter().any(|spec| (spec.slot, spec.kind) == (*slot, *typed)), "{typed}");
            assert_eq!(plain(typed), *typed);
        }
    }
}
