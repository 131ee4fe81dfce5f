//! Reader of one table of a scenario by its declared parameters.

use super::tree::{At, Data, Node, join};
use super::{meant, renamed, value};
use crate::diag::{Diagnostic, LONGEST_PATH, message, one_of, plain};
use crate::fault::Fault;
use crate::model::{Choice, Filled};
use mech::params::{Kind, Param, Spec, Value, Values};
use mech::{InSlot, Only, Registry};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// Collector of the faults of a scenario.
pub(super) struct Faults {
    file: String,
    pub found: Vec<Diagnostic>,
    seen: BTreeSet<Diagnostic>,
    /// Number of faults that were counted and not kept.
    pub more: usize,
    /// Number of all faults found; a fault that two variants share counts twice and is kept once.
    pub count: usize,
    /// Sizes that all variants read so far need together.
    pub asked: Asked,
    /// Variants that name another kind for the table of a setting, with that kind, by the setting's number.
    pub own_kinds: OwnKinds,
}

/// Largest number of faults that are shown.
const MOST_SHOWN: usize = 50;
/// Largest number of faults that are kept; further ones are only counted.
const MOST_KEPT: usize = 1000;

/// Type of [`Faults::own_kinds`].
pub(super) type OwnKinds = Rc<[Vec<(String, String)>]>;

impl Faults {
    pub fn new(file: &str) -> Faults {
        Faults {
            file: file.into(),
            found: Vec::new(),
            seen: BTreeSet::new(),
            more: 0,
            count: 0,
            asked: Asked::default(),
            own_kinds: OwnKinds::default(),
        }
    }
    /// Adds a fault at a place of the file.
    pub fn add(&mut self, at: &At, message: String) {
        self.add_with(at, || message);
    }
    /// Adds a fault at a place of the file; the message is only made if it is kept.
    pub fn add_with(&mut self, at: &At, message: impl FnOnce() -> String) {
        self.count += 1;
        if self.found.len() >= MOST_KEPT {
            self.more += 1;
            return;
        }
        let message = message();
        let (file, line) = match at.set {
            Some(_) => ("--set".to_string(), 0),
            None => (self.file.clone(), at.line),
        };
        let diagnostic = Diagnostic { file, line, field: plain(&at.path, LONGEST_PATH), message };
        if self.seen.insert(diagnostic.clone()) {
            self.found.push(diagnostic);
        }
    }
    /// Returns the first faults in the order of the file, those of the command line last, and the number of others.
    pub fn in_order(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|diagnostic| (diagnostic.line == 0, diagnostic.line));
        let more = self.more + self.found.len().saturating_sub(MOST_SHOWN);
        self.found.truncate(MOST_SHOWN);
        if more > 0 {
            let message = format!("and {more} more");
            self.found.push(Diagnostic { file: self.file, line: 0, field: String::new(), message });
        }
        self.found
    }
    /// Adds the faults that a builder found in a table.
    pub fn add_all(&mut self, table: &Node, faults: Vec<Fault>) {
        for fault in faults {
            self.add(&table.find(&fault.field), message(fault.found, fault.rule));
        }
    }
}

/// Sizes that all variants of a file need together. They are bounded, so that a small file cannot need unlimited memory
/// or time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// Number of ports of hosts and switches.
    pub ports: u64,
    /// Number of hosts times number of workloads.
    pub sources: u64,
    /// Number of switches times number of overrides.
    pub places: u64,
    /// Number of virtual output queues of a class.
    pub virtual_queues: u64,
}

impl Asked {
    /// Largest number of ports in all variants together: about a gigabyte.
    pub const MOST_PORTS: u64 = 4_000_000;
    /// Largest product of hosts and workloads in all variants together.
    pub const MOST_SOURCES: u64 = 10_000_000;
    /// Largest product of switches and overrides in all variants together.
    pub const MOST_PLACES: u64 = 30_000_000;
    /// Largest number of virtual output queues of a class in all variants together: some hundred megabytes.
    pub const MOST_VIRTUAL_QUEUES: u64 = 10_000_000;

    /// Returns true if any size is above its bound.
    pub fn too_much(self) -> bool {
        self.ports > Asked::MOST_PORTS
            || self.sources > Asked::MOST_SOURCES
            || self.places > Asked::MOST_PLACES
            || self.virtual_queues > Asked::MOST_VIRTUAL_QUEUES
    }
}

/// Largest number of kinds or variants that one message names.
const MOST_NAMED: usize = 4;

/// Parameters of a table, and its keys that other code reads.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    /// Parameters to read: those of the kind, and those of every kind.
    pub params: [&'a [Param]; 2],
    /// Keys that are known and read by other code.
    pub others: &'a [&'a str],
    /// Kinds that the table may have.
    pub kinds: &'a [&'static Spec],
}

impl<'a> Wanted<'a> {
    pub fn new(params: &'a [Param]) -> Wanted<'a> {
        Wanted { params: [params, &[]], others: &[], kinds: &[] }
    }
    /// Names the other kinds that have a key, and the variants in which a setting of it would have an effect.
    fn of_other_kinds(&self, name: &str, path: &str, own: &[(String, String)]) -> Option<String> {
        let has = |spec: &&&Spec| spec.params.iter().any(|param| param.name == name);
        let kinds: Vec<&str> = self.kinds.iter().filter(has).map(|spec| spec.kind).collect();
        let listed = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if kinds.is_empty() || kinds.len() > MOST_NAMED {
            return None;
        }
        let said = format!("it is a key of {}", listed(&kinds));
        let here = own.iter().filter(|(_, kind)| kinds.contains(&kind.as_str()));
        let variants: Vec<&str> = here.map(|(variant, _)| variant.as_str()).take(MOST_NAMED + 1).collect();
        match variants.as_slice() {
            [] => Some(said),
            [one] => Some(format!("{said}, as in variant `{one}`: set variants.{one}.{path}")),
            [one, ..] if variants.len() > MOST_NAMED => {
                Some(format!("{said}, as in variants `{one}` and others: set variants.{one}.{path}"))
            }
            all @ [one, ..] => Some(format!("{said}, as in variants {}: set variants.{one}.{path}", listed(all))),
        }
    }
    fn all(&self) -> impl Iterator<Item = &'a Param> + Clone + use<'a> {
        let [first, second] = self.params;
        first.iter().chain(second)
    }
    /// Returns the keys that are allowed below a dotted prefix.
    fn keys(&self, prefix: &str) -> Vec<&'a str> {
        let mut keys = Vec::new();
        for param in self.all() {
            let rest = if prefix.is_empty() { Some(param.name) } else { below(param.name, prefix) };
            let key = rest.and_then(|rest| rest.split('.').next());
            keys.extend(key.filter(|key| !keys.contains(key)));
        }
        if prefix.is_empty() {
            keys.extend(self.others);
        }
        keys.sort_by_key(|key| *key != "kind");
        keys
    }
}

/// Returns the part of a dotted name below a prefix.
fn below<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    name.strip_prefix(prefix)?.strip_prefix('.')
}

/// Reads the values of a table, with defaults. Faults are added to `faults`, and a wrong value is absent, so the
/// result is only to be used if nothing was added.
pub(super) fn read(table: &Node, wanted: Wanted, faults: &mut Faults) -> Option<Values> {
    let before = faults.count;
    let mut values = Values::default();
    let mut given = Vec::new();
    let own = faults.own_kinds.clone();
    flatten(table, "", (&wanted, &own), &mut |param, node| {
        given.push(param.name);
        let Some(node) = node else { return };
        if let (Kind::Sizes(kinds), Data::Table(_)) = (param.kind, &node.data) {
            let made = choice(node, Kinds::new(kinds), faults);
            values.0.extend(made.map(|made| (param.name.into(), Value::Table(made.kind, made.values))));
            return;
        }
        match value::read(param, node) {
            Ok(Some(value)) => drop(values.0.insert(param.name.into(), value)),
            Ok(None) => (),
            Err(message) => faults.add(&node.at, message),
        }
    })
    .into_iter()
    .for_each(|(at, message)| faults.add(&at, message));
    for param in wanted.all().filter(|param| !given.contains(&param.name)) {
        match value::default(param) {
            Some(value) => drop(values.0.entry(param.name.into()).or_insert(value)),
            None if param.default.is_none() => {
                faults.add(&table.find(param.name), message("nothing", value::allowed(param)));
            }
            None => (),
        }
    }
    (faults.count == before).then_some(values)
}

/// Calls `each` for every parameter that a table gives, without a value if a dotted name leads through something else
/// than a table. Returns the faults: unknown keys, and tables that are something else.
fn flatten<'a>(
    table: &Node,
    prefix: &str,
    (wanted, own): (&Wanted<'a>, &OwnKinds),
    each: &mut dyn FnMut(&'a Param, Option<&Node>),
) -> Vec<(At, String)> {
    let mut wrong = Vec::new();
    for (key, node) in table.entries() {
        if wrong.len() > MOST_KEPT {
            // The rest of a table is counted and not described.
            wrong.push((At::default(), String::new()));
            continue;
        }
        let name = join(prefix, key);
        if let Some(param) = wanted.all().find(|param| param.name == name) {
            each(param, Some(node));
        } else if prefix.is_empty() && wanted.others.contains(&key.as_str()) {
            continue;
        } else if wanted.all().any(|param| below(param.name, &name).is_some()) {
            match node.data {
                Data::Table(_) => wrong.extend(flatten(node, &name, (wanted, own), each)),
                _ => {
                    let keys = wanted.keys(&name).join(", ");
                    wrong.push((node.at.clone(), message(node.shown(), format!("a table of {keys}"))));
                    wanted.all().filter(|param| below(param.name, &name).is_some()).for_each(|param| each(param, None));
                }
            }
        } else {
            let (found, known) = (format!("unknown key `{key}`"), wanted.keys(prefix));
            let rule = match (renamed::key(key, &known), meant::key(key, &known, wanted.kinds)) {
                (Some(new), _) => new,
                (None, Some(meant)) => format!("{} ({meant})", one_of("", known)),
                (None, None) => one_of(key, known),
            };
            let own = node.at.set.and_then(|set| own.get(set)).map_or(&[][..], Vec::as_slice);
            let rule = match wanted.of_other_kinds(&name, &node.at.path, own) {
                Some(said) => format!("{rule} ({said})"),
                None => rule,
            };
            wrong.push((node.at.clone(), message(found, rule)));
        }
    }
    wrong
}

/// Returns the table of a key, or an empty table at the place where it would be.
pub(super) fn table<'a>(parent: &'a Node, key: &str, faults: &mut Faults) -> Option<Cow<'a, Node>> {
    match parent.get(key) {
        None => Some(Cow::Owned(Node::table(parent.lacks(key)))),
        Some(node) if matches!(node.data, Data::Table(_)) => Some(Cow::Borrowed(node)),
        Some(node) => {
            let meant = node.text().and_then(|typed| meant::table(key, typed));
            let rule = meant.map_or("a table".into(), |kind| format!("a table, such as {{ kind = {kind:?} }}"));
            faults.add(&node.at, message(node.shown(), rule));
            None
        }
    }
}

/// Returns the tables of a list of tables; none if the list is missing or something else.
pub(super) fn entries<'a>(parent: &'a Node, key: &str, faults: &mut Faults) -> Vec<&'a Node> {
    let Some(list) = parent.get(key) else { return Vec::new() };
    let Data::List(items) = &list.data else {
        faults.add(&list.at, message(list.shown(), format!("a list of tables, [[{}]]", list.at.path)));
        return Vec::new();
    };
    let is_table = |item: &&Node| matches!(item.data, Data::Table(_));
    for item in items.iter().filter(|item| !is_table(item)) {
        faults.add(&item.at, message(item.shown(), "a table"));
    }
    items.iter().filter(is_table).collect()
}

/// Returns the specification that the `kind` of a table names, or that of `default` if it has none.
pub(super) fn kind(
    table: &Node,
    specs: &[&'static Spec],
    default: Option<&str>,
    faults: &mut Faults,
) -> Option<&'static Spec> {
    let kinds = || specs.iter().map(|spec| spec.kind);
    let (at, found, typed) = match table.get("kind") {
        Some(node) => match node.text() {
            Some(text) => (node.at.clone(), node.shown(), text),
            None => (node.at.clone(), node.shown(), ""),
        },
        None => (table.lacks("kind"), "nothing".to_string(), default.unwrap_or("")),
    };
    let spec = specs.iter().find(|spec| spec.kind == typed).copied();
    if spec.is_none() {
        let kinds: Vec<_> = kinds().collect();
        let rule = match meant::kind(typed, specs) {
            Some(meant) => format!("{} ({meant})", one_of("", kinds)),
            None => one_of(typed, kinds),
        };
        faults.add(&at, message(found, rule));
    }
    spec
}

/// Kinds that a table may name, and other keys that it may have.
#[derive(Clone, Copy)]
pub(super) struct Kinds<'a> {
    pub specs: &'a [&'static Spec],
    /// Kind of a table that names none.
    pub default: Option<&'a str>,
    /// Parameters that every kind has.
    pub common: &'a [Param],
    /// Keys that other code reads.
    pub others: &'a [&'a str],
}

impl<'a> Kinds<'a> {
    /// Returns kinds of which a table must name one.
    pub const fn new(specs: &'a [&'static Spec]) -> Kinds<'a> {
        Kinds { specs, default: None, common: &[], others: &[] }
    }
    /// Returns kinds of which a table may name one; `default` applies without a `kind`.
    pub const fn or(specs: &'a [&'static Spec], default: &'a str) -> Kinds<'a> {
        Kinds { default: Some(default), ..Kinds::new(specs) }
    }
}

/// Reads the kind that a table chooses, with its values.
pub(super) fn choice(table: &Node, kinds: Kinds, faults: &mut Faults) -> Option<Choice> {
    let spec = kind(table, kinds.specs, kinds.default, faults)?;
    let others = [&["kind"], kinds.others].concat();
    let wanted = Wanted { params: [spec.params, kinds.common], others: &others, kinds: kinds.specs };
    let values = read(table, wanted, faults)?;
    Some(Choice { kind: spec.kind.to_string(), values })
}

/// Slot of a switch or host, with the mechanisms that may fill it.
pub(super) struct Slot<'a> {
    pub name: &'a str,
    pub registry: &'a Registry,
    pub kinds: Kinds<'a>,
}

/// Reads the mechanism that fills a slot. `parent` is the table that holds it.
pub(super) fn filled<S: InSlot>(parent: &Node, slot: Slot, faults: &mut Faults) -> Option<Filled<S>> {
    let Slot { name, registry, kinds } = slot;
    let table = table(parent, name, faults)?;
    let Choice { kind, mut values } = choice(&table, kinds, faults)?;
    let mechanism = registry.find::<S>(&kind)?;
    only(&table, mechanism.only, &mut values, faults);
    let slot = Arc::new((mechanism.make)(&values));
    Some(Filled { kind, values, slot })
}

/// Refuses parameters that have no effect in combination with the others if they are given, and drops them if they have
/// only their defaults. `table` is that of the mechanism.
fn only(table: &Node, only: &[Only], values: &mut Values, faults: &mut Faults) {
    let all = values.clone();
    for Only { key, by, words } in only {
        let word = all.word(by);
        if words.contains(&word) || values.0.remove(*key).is_none() {
            continue;
        }
        if let Some(node) = table.get(key) {
            let rule = format!("this key only with {by} = \"{}\"", words.join("\" or \""));
            faults.add(&node.at, message(format!("{} with {by} = {word:?}", node.shown()), rule));
        }
    }
}

/// Returns true if a text may name a variant, a folder of results or a kind of traffic.
pub(super) fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=100).contains(&text.len()) && text.chars().all(plain)
}

/// Rule for names of variants, folders of results and kinds of traffic.
pub(super) const NAME_RULE: &str = "a name of 1 to 100 letters, digits, `-` and `_`";
