//! Reader of one table of a scenario according to its declared parameters.

use super::tree::{Data, Location, Node, join_path};
use super::{aliases, renamed_keys, value};
use crate::diag::{Diagnostic, MAX_PATH_CHARS, format_fault, format_one_of, sanitize};
use crate::fault::Fault;
use crate::model::{Choice, FilledSlot};
use mech::params::{Param, ParamKind, Spec, Value, Values};
use mech::{ParamCondition, Registry, RegistrySlot};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// Collector of the faults of a scenario.
pub(super) struct Faults {
    file: String,
    pub diagnostics: Vec<Diagnostic>,
    seen: BTreeSet<Diagnostic>,
    /// Number of faults that were counted and not kept.
    pub omitted: usize,
    /// Number of all faults found; a fault that two variants share counts twice and is kept once.
    pub count: usize,
    /// Sizes that determine memory and time, added up over all variants read so far.
    pub total_sizes: TotalSizes,
    /// Pairs (variant, kind) for each `--set` setting: variants that give another kind to the setting's table.
    pub variant_kinds: VariantKinds,
}

/// Largest number of faults that the loader shows.
const MAX_SHOWN_FAULTS: usize = 50;
/// Largest number of faults that the loader keeps; it only counts further ones.
const MAX_KEPT_FAULTS: usize = 1000;

/// Pairs (variant, kind) for each `--set` setting: variants that give another kind to the setting's table.
pub(super) type VariantKinds = Rc<[Vec<(String, String)>]>;

impl Faults {
    pub fn new(file: &str) -> Faults {
        Faults {
            file: file.into(),
            diagnostics: Vec::new(),
            seen: BTreeSet::new(),
            omitted: 0,
            count: 0,
            total_sizes: TotalSizes::default(),
            variant_kinds: VariantKinds::default(),
        }
    }
    /// Adds a fault at a location in the file or on the command line.
    pub fn add_fault(&mut self, at: &Location, message: String) {
        self.add_fault_lazily(at, || message);
    }
    /// Adds a fault at a location in the file or on the command line; the message is only made if the fault is kept.
    pub fn add_fault_lazily(&mut self, at: &Location, message: impl FnOnce() -> String) {
        self.count += 1;
        if self.diagnostics.len() >= MAX_KEPT_FAULTS {
            self.omitted += 1;
            return;
        }
        let message = message();
        let (file, line) = match at.set {
            Some(_) => ("--set".to_string(), 0),
            None => (self.file.clone(), at.line),
        };
        let diagnostic = Diagnostic { file, line, field: sanitize(&at.path, MAX_PATH_CHARS), message };
        if self.seen.insert(diagnostic.clone()) {
            self.diagnostics.push(diagnostic);
        }
    }
    /// Returns the first faults in the order of the file, those of the command line last. A final diagnostic counts the
    /// faults that are left out.
    pub fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| (diagnostic.line == 0, diagnostic.line));
        let more = self.omitted + self.diagnostics.len().saturating_sub(MAX_SHOWN_FAULTS);
        self.diagnostics.truncate(MAX_SHOWN_FAULTS);
        if more > 0 {
            let message = format!("and {more} more");
            self.diagnostics.push(Diagnostic { file: self.file, line: 0, field: String::new(), message });
        }
        self.diagnostics
    }
    /// Adds the faults that a builder found in a table.
    pub fn add_all(&mut self, table: &Node, faults: Vec<Fault>) {
        for fault in faults {
            self.add_fault(&table.locate(&fault.field), format_fault(fault.found, fault.rule));
        }
    }
}

/// Sizes that determine memory and time, added up over all variants of a file. They are bounded, so that a small file
/// cannot need unlimited memory or time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TotalSizes {
    /// Number of ports of hosts and switches.
    pub ports: u64,
    /// Number of hosts times number of workloads.
    pub sources: u64,
    /// Number of switches times number of overrides.
    pub override_checks: u64,
    /// Number of virtual output queues of one traffic class.
    pub virtual_queues: u64,
}

impl TotalSizes {
    /// Largest number of ports in all variants together; they take about a gigabyte of memory.
    pub const MAX_PORTS: u64 = 4_000_000;
    /// Largest product of hosts and workloads in all variants together.
    pub const MAX_SOURCES: u64 = 10_000_000;
    /// Largest product of switches and overrides in all variants together.
    pub const MAX_OVERRIDE_CHECKS: u64 = 30_000_000;
    /// Largest number of virtual output queues of one traffic class in all variants together; they take some hundred
    /// megabytes.
    pub const MAX_VIRTUAL_QUEUES: u64 = 10_000_000;

    /// Returns true if the sum of any size over all variants exceeds its bound.
    pub fn exceeds_bounds(self) -> bool {
        self.ports > TotalSizes::MAX_PORTS
            || self.sources > TotalSizes::MAX_SOURCES
            || self.override_checks > TotalSizes::MAX_OVERRIDE_CHECKS
            || self.virtual_queues > TotalSizes::MAX_VIRTUAL_QUEUES
    }
}

/// Largest number of kinds or variants that one message names.
const MAX_LISTED_KINDS: usize = 4;

/// Parameters of a table, and its keys that other code reads.
#[derive(Clone, Copy)]
pub(super) struct AllowedKeys<'a> {
    /// Parameters to read from the table: those of its kind, and those that every kind has.
    pub params: [&'a [Param]; 2],
    /// Keys that the table may have, and that other code reads.
    pub other_keys: &'a [&'a str],
    /// Kinds that the table may have.
    pub kinds: &'a [&'static Spec],
}

impl<'a> AllowedKeys<'a> {
    pub fn new(params: &'a [Param]) -> AllowedKeys<'a> {
        AllowedKeys { params: [params, &[]], other_keys: &[], kinds: &[] }
    }
    /// Describes the other kinds that have an unknown key, and the variants of those kinds, as advice for the user.
    fn describe_other_kinds(&self, name: &str, path: &str, own: &[(String, String)]) -> Option<String> {
        let has = |spec: &&&Spec| spec.params.iter().any(|param| param.name == name);
        let kinds: Vec<&str> = self.kinds.iter().filter(has).map(|spec| spec.kind).collect();
        let listed = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if kinds.is_empty() || kinds.len() > MAX_LISTED_KINDS {
            return None;
        }
        let said = format!("this key belongs to the kind {}", listed(&kinds));
        let here = own.iter().filter(|(_, kind)| kinds.contains(&kind.as_str()));
        let variants: Vec<&str> = here.map(|(variant, _)| variant.as_str()).take(MAX_LISTED_KINDS + 1).collect();
        match variants.as_slice() {
            [] => Some(said),
            [one] => Some(format!("{said}, which variant `{one}` uses; to set it there, write variants.{one}.{path}")),
            [one, ..] if variants.len() > MAX_LISTED_KINDS => Some(format!(
                "{said}, which variants `{one}` and others use; to set it there, write \
                              variants.{one}.{path}"
            )),
            all @ [one, ..] => Some(format!(
                "{said}, which variants {} use; to set it there, write \
                                             variants.{one}.{path}",
                listed(all)
            )),
        }
    }
    fn parameters(&self) -> impl Iterator<Item = &'a Param> + Clone + use<'a> {
        let [first, second] = self.params;
        first.iter().chain(second)
    }
    /// Returns the keys that may follow a dotted prefix, such as `rate` after `link`.
    fn keys_below(&self, prefix: &str) -> Vec<&'a str> {
        let mut keys = Vec::new();
        for param in self.parameters() {
            let rest = if prefix.is_empty() { Some(param.name) } else { strip_parent(param.name, prefix) };
            let key = rest.and_then(|rest| rest.split('.').next());
            keys.extend(key.filter(|key| !keys.contains(key)));
        }
        if prefix.is_empty() {
            keys.extend(self.other_keys);
        }
        keys.sort_by_key(|key| *key != "kind");
        keys
    }
}

/// Removes a dotted prefix from a name; returns `None` if the name does not begin with it.
fn strip_parent<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    name.strip_prefix(prefix)?.strip_prefix('.')
}

/// Reads the values of a table, with defaults. Adds the faults of the table to `faults`, and returns `None` if there
/// are any.
pub(super) fn read_values(table: &Node, wanted: AllowedKeys, faults: &mut Faults) -> Option<Values> {
    let before = faults.count;
    let mut values = Values::default();
    let mut given = Vec::new();
    let own = faults.variant_kinds.clone();
    visit_parameters(table, "", (&wanted, &own), &mut |param, node| {
        given.push(param.name);
        let Some(node) = node else { return };
        let read = match read_nested(&param.kind, node, faults) {
            Some(nested) => Ok(nested),
            None => value::read_value(param, node),
        };
        match read {
            Ok(Some(value)) => drop(values.0.insert(param.name.into(), value)),
            Ok(None) => (),
            Err(message) => faults.add_fault(&node.at, message),
        }
    })
    .into_iter()
    .for_each(|(at, message)| faults.add_fault(&at, message));
    for param in wanted.parameters().filter(|param| !given.contains(&param.name)) {
        match value::default_value(param) {
            Some(value) => drop(values.0.entry(param.name.into()).or_insert(value)),
            None if param.default.is_none() => {
                faults.add_fault(&table.locate(param.name), format_fault("nothing", value::describe_allowed(param)));
            }
            None => (),
        }
    }
    (faults.count == before).then_some(values)
}

/// Reads a table, or tables, as the value of a parameter. Returns `None` if the value is no table of its kind, and
/// `Some(None)` if the tables have faults.
fn read_nested(kind: &ParamKind, node: &Node, faults: &mut Faults) -> Option<Option<Value>> {
    let read = |node: &Node, spec: &Spec, faults: &mut Faults| match node.data {
        Data::Table(_) => read_values(node, AllowedKeys::new(spec.params), faults),
        _ => {
            faults.add_fault(&node.at, format_fault(node.format_value(), "a table"));
            None
        }
    };
    Some(match (kind, &node.data) {
        (ParamKind::Sizes(kinds) | ParamKind::Table(kinds), Data::Table(_)) => {
            let made = read_choice(node, AllowedKinds::new(kinds), faults);
            made.map(|made| Value::Table(made.kind, made.values))
        }
        (ParamKind::Named(spec), Data::Table(tables)) => {
            let mut all = Vec::new();
            for (name, table) in tables {
                if !is_name(name) {
                    faults.add_fault(&table.at, format_fault(format!("the name {name:?}"), NAME_RULE));
                }
                all.extend(read(table, spec, faults).map(|given| (name.clone(), given)));
            }
            (all.len() == tables.len()).then_some(Value::Named(all))
        }
        (ParamKind::List(spec), Data::List(tables)) => {
            let all: Vec<Values> = tables.iter().filter_map(|table| read(table, spec, faults)).collect();
            (all.len() == tables.len()).then_some(Value::List(all))
        }
        _ => return None,
    })
}

/// Calls `each` for every parameter that a table sets; the value is `None` if a prefix of the dotted name is no table.
/// Returns the faults: unknown keys, and prefixes that are no tables.
fn visit_parameters<'a>(
    table: &Node,
    prefix: &str,
    (wanted, own): (&AllowedKeys<'a>, &VariantKinds),
    each: &mut dyn FnMut(&'a Param, Option<&Node>),
) -> Vec<(Location, String)> {
    let mut wrong = Vec::new();
    for (key, node) in table.entries() {
        if wrong.len() > MAX_KEPT_FAULTS {
            // So many faults are not kept: each further key only counts as one, and no message is made.
            wrong.push((Location::default(), String::new()));
            continue;
        }
        let name = join_path(prefix, key);
        if let Some(param) = wanted.parameters().find(|param| param.name == name) {
            each(param, Some(node));
        } else if prefix.is_empty() && wanted.other_keys.contains(&key.as_str()) {
            continue;
        } else if wanted.parameters().any(|param| strip_parent(param.name, &name).is_some()) {
            match node.data {
                Data::Table(_) => wrong.extend(visit_parameters(node, &name, (wanted, own), each)),
                _ => {
                    let keys = wanted.keys_below(&name).join(", ");
                    wrong.push((
                        node.at.clone(),
                        format_fault(node.format_value(), format!("a table with the keys {keys}")),
                    ));
                    wanted
                        .parameters()
                        .filter(|param| strip_parent(param.name, &name).is_some())
                        .for_each(|param| each(param, None));
                }
            }
        } else {
            let (found, known) = (format!("unknown key `{key}`"), wanted.keys_below(prefix));
            let rule =
                match (renamed_keys::suggest_renamed_key(key, &known), aliases::suggest_key(key, &known, wanted.kinds))
                {
                    (Some(new), _) => new,
                    (None, Some(meant)) => format!("{} ({meant})", format_one_of("", known)),
                    (None, None) => format_one_of(key, known),
                };
            let own = node.at.set.and_then(|set| own.get(set)).map_or(&[][..], Vec::as_slice);
            let rule = match wanted.describe_other_kinds(&name, &node.at.path, own) {
                Some(said) => format!("{rule} ({said})"),
                None => rule,
            };
            wrong.push((node.at.clone(), format_fault(found, rule)));
        }
    }
    wrong
}

/// Returns the table at a key, or an empty table if the key is missing; any other value is a fault.
pub(super) fn find_table<'a>(parent: &'a Node, key: &str, faults: &mut Faults) -> Option<Cow<'a, Node>> {
    match parent.get(key) {
        None => Some(Cow::Owned(Node::table(parent.missing_key_location(key)))),
        Some(node) if matches!(node.data, Data::Table(_)) => Some(Cow::Borrowed(node)),
        Some(node) => {
            let meant = node.text().and_then(|typed| aliases::kind_for_word(key, typed));
            let rule = meant.map_or("a table".into(), |kind| format!("a table, such as {{ kind = {kind:?} }}"));
            faults.add_fault(&node.at, format_fault(node.format_value(), rule));
            None
        }
    }
}

/// Returns the tables of a list such as `[[traffic]]`; none if the list is missing, and a fault if it is something
/// else.
pub(super) fn list_tables<'a>(parent: &'a Node, key: &str, faults: &mut Faults) -> Vec<&'a Node> {
    let Some(list) = parent.get(key) else { return Vec::new() };
    let Data::List(items) = &list.data else {
        faults.add_fault(
            &list.at,
            format_fault(list.format_value(), format!("a list of tables, written as [[{}]]", list.at.path)),
        );
        return Vec::new();
    };
    let is_table = |item: &&Node| matches!(item.data, Data::Table(_));
    for item in items.iter().filter(|item| !is_table(item)) {
        faults.add_fault(&item.at, format_fault(item.format_value(), "a table"));
    }
    items.iter().filter(is_table).collect()
}

/// Returns the declaration of the kind that a table names, or of the kind `default` if the table names none.
pub(super) fn read_kind(
    table: &Node,
    specs: &[&'static Spec],
    default: Option<&str>,
    faults: &mut Faults,
) -> Option<&'static Spec> {
    let kinds = || specs.iter().map(|spec| spec.kind);
    let (at, found, typed) = match table.get("kind") {
        Some(node) => match node.text() {
            Some(text) => (node.at.clone(), node.format_value(), text),
            None => (node.at.clone(), node.format_value(), ""),
        },
        None => (table.missing_key_location("kind"), "nothing".to_string(), default.unwrap_or("")),
    };
    let spec = specs.iter().find(|spec| spec.kind == typed).copied();
    if spec.is_none() {
        let kinds: Vec<_> = kinds().collect();
        let rule = match aliases::suggest_kind(typed, specs) {
            Some(meant) => format!("{} ({meant})", format_one_of("", kinds)),
            None => format_one_of(typed, kinds),
        };
        faults.add_fault(&at, format_fault(found, rule));
    }
    spec
}

/// Kinds that a table may have as its `kind`, and other keys that it may have.
#[derive(Clone, Copy)]
pub(super) struct AllowedKinds<'a> {
    pub specs: &'a [&'static Spec],
    /// Kind of the table if it does not have the key `kind`.
    pub default: Option<&'a str>,
    /// Parameters that the table may have, whatever its kind is.
    pub common: &'a [Param],
    /// Keys of the table that other code reads.
    pub other_keys: &'a [&'a str],
}

impl<'a> AllowedKinds<'a> {
    /// Creates a choice of kinds for a table that must have the key `kind`.
    pub const fn new(specs: &'a [&'static Spec]) -> AllowedKinds<'a> {
        AllowedKinds { specs, default: None, common: &[], other_keys: &[] }
    }
    /// Creates a choice of kinds for a table that is of the kind `default` if it does not have the key `kind`.
    pub const fn with_default(specs: &'a [&'static Spec], default: &'a str) -> AllowedKinds<'a> {
        AllowedKinds { default: Some(default), ..AllowedKinds::new(specs) }
    }
}

/// Reads the kind that a table chooses, with its values.
pub(super) fn read_choice(table: &Node, kinds: AllowedKinds, faults: &mut Faults) -> Option<Choice> {
    let spec = read_kind(table, kinds.specs, kinds.default, faults)?;
    let others = [&["kind"], kinds.other_keys].concat();
    let wanted = AllowedKeys { params: [spec.params, kinds.common], other_keys: &others, kinds: kinds.specs };
    let values = read_values(table, wanted, faults)?;
    Some(Choice { kind: spec.kind.to_string(), values })
}

/// Name of a slot of a switch or host, with the mechanisms that may fill it.
pub(super) struct SlotContext<'a> {
    pub name: &'a str,
    pub registry: &'a Registry,
    pub kinds: AllowedKinds<'a>,
}

/// Reads the mechanism that fills a slot. `parent` is the table that holds it.
pub(super) fn read_slot<S: RegistrySlot>(
    parent: &Node,
    slot: SlotContext,
    faults: &mut Faults,
) -> Option<FilledSlot<S>> {
    let SlotContext { name, registry, kinds } = slot;
    let table = find_table(parent, name, faults)?;
    let Choice { kind, mut values } = read_choice(&table, kinds, faults)?;
    let mechanism = registry.find::<S>(&kind)?;
    refuse_ineffective(&table, mechanism.conditions, &mut values, faults);
    let slot = Arc::new((mechanism.make)(&values));
    Some(FilledSlot { kind, values, slot })
}

/// Removes parameters that have no effect with the values of others, and adds a fault for each of them that the table
/// sets. `table` is that of the mechanism.
fn refuse_ineffective(table: &Node, only: &[ParamCondition], values: &mut Values, faults: &mut Faults) {
    let all = values.clone();
    for ParamCondition { key, other_key: by, words } in only {
        let word = all.word(by);
        if words.contains(&word) || values.0.remove(*key).is_none() {
            continue;
        }
        if let Some(node) = table.get(key) {
            let rule = format!("`{key}` only with {by} = \"{}\"", words.join("\" or \""));
            faults.add_fault(&node.at, format_fault(format!("{} with {by} = {word:?}", node.format_value()), rule));
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
