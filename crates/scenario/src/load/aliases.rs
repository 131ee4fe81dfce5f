//! Suggestions for kinds and keys that are written with a name of a paper or tool, or in the wrong table.

use crate::settings::FRAMING;
use crate::{topology, traffic};
use dataplane::transport;
use mech::params::Spec;
use mech::{ALIASES, Alias, Registry};

fn normalize(typed: &str) -> String {
    typed.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).take(40).collect()
}

/// Returns the declarations of all kinds of framing, topology, transport and traffic, and of all mechanisms.
fn all_declarations() -> Vec<&'static Spec> {
    let fixed = [FRAMING, topology::SPECS, transport::SPECS, traffic::SPECS];
    let mut all = Registry::catalogue().specs();
    all.extend(fixed.into_iter().flatten());
    all
}

/// Returns a hint for an unknown kind that is a name from papers or tools: a sentence with its name in Overspill.
pub(super) fn suggest_kind(typed: &str, specs: &[&'static Spec]) -> Option<String> {
    let typed = normalize(typed);
    let named = || ALIASES.iter().filter(|alias| alias.normalized == typed && alias.param.is_empty());
    let is_here = |alias: &&Alias| specs.iter().any(|spec| (spec.slot, spec.kind) == (alias.slot, alias.kind));
    if let Some(Alias { written: said, kind, note, .. }) = named().find(is_here) {
        return Some(append_note(format!("{said} is called `{kind}` in Overspill"), note));
    }
    let elsewhere = all_declarations().into_iter().find(|spec| normalize(spec.kind) == typed && spec.kind != "none");
    if let Some(spec) = elsewhere.filter(|spec| specs.iter().all(|here| here.slot != spec.slot)) {
        return Some(format!("`{}` is a kind of the table `{}`", spec.kind, spec.slot));
    }
    named().next().map(|Alias { written: said, kind, slot, note, .. }| {
        append_note(
            format!(
                "{said} is called `{kind}` in Overspill, \
                                                                             in the table `{slot}`"
            ),
            note,
        )
    })
}

/// Returns a hint for an unknown key that is a name from papers or tools: a sentence with its name in Overspill.
pub(super) fn suggest_key(typed: &str, known: &[&str], kinds: &[&'static Spec]) -> Option<String> {
    let typed = normalize(typed);
    let last = |param: &'static str| param.rsplit('.').next().unwrap_or(param);
    let of_table = |slot: &str| kinds.is_empty() || kinds.iter().any(|spec| spec.slot == slot);
    let is_here =
        |alias: &&Alias| alias.normalized == typed && known.contains(&last(alias.param)) && of_table(alias.slot);
    let Alias { written: said, param, note, .. } = ALIASES.iter().find(is_here)?;
    Some(append_note(format!("{said} is called `{}` in Overspill", last(param)), note))
}

/// Appends a note to a hint as a second sentence; an empty note changes nothing.
fn append_note(said: String, note: &str) -> String {
    if note.is_empty() { said } else { format!("{said}. {note}") }
}

/// Returns the kind that a word stands for, if a user wrote the word as the value of a key that needs a table.
pub(super) fn kind_for_word(key: &str, typed: &str) -> Option<&'static str> {
    let typed = normalize(typed);
    let of_key = |slot: &str| slot.rsplit('.').next() == Some(key);
    let is_kind = |alias: &&Alias| of_key(alias.slot) && alias.normalized == typed && alias.param.is_empty();
    let alias = ALIASES.iter().find(is_kind).map(|alias| alias.kind);
    let spec = || all_declarations().into_iter().find(|spec| of_key(spec.slot) && normalize(spec.kind) == typed);
    alias.or_else(|| spec().map(|spec| spec.kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::declarations;

    #[test]
    fn every_alias_names_a_declared_kind_or_key() {
        let all = declarations(&Registry::catalogue());
        for Alias { normalized: typed, slot, kind, param, .. } in ALIASES {
            let meant: Vec<_> =
                all.iter().filter(|spec| spec.slot == *slot && (kind.is_empty() || spec.kind == *kind)).collect();
            assert!(!meant.is_empty(), "{typed}");
            let has = |name: &str| meant.iter().any(|spec| spec.params.iter().any(|one| one.name == name));
            assert!(param.is_empty() || has(param), "{typed}");
            assert!(!all.iter().any(|spec| (spec.slot, spec.kind) == (*slot, *typed)), "{typed}");
            assert_eq!(normalize(typed), *typed);
        }
    }

    #[test]
    fn no_alias_is_listed_twice() {
        for (at, one) in ALIASES.iter().enumerate() {
            assert!(!ALIASES[..at].contains(one), "{}", one.normalized);
        }
    }
}
