//! All tables, kinds and parameters that a scenario may name, as data for help and documentation.

use crate::load::{describe_allowed, specs};
use crate::settings;
use mech::Registry;
use mech::params::{Param, ParamKind, Spec};
use serde_json::{Value as Json, json};

/// Returns every declaration: fixed tables, topologies, framings, mechanisms slot by slot, transports, traffic,
/// distributions of flow sizes, and events.
pub fn declarations(registry: &Registry) -> Vec<&'static Spec> {
    let [topologies, transports, traffic] = specs().map(|(_, specs)| specs.to_vec());
    let tables = settings::TABLES.to_vec();
    let sizes = crate::traffic::SIZES.to_vec();
    [
        tables,
        topologies,
        settings::FRAMING.to_vec(),
        add_nested(registry.specs()),
        transports,
        traffic,
        sizes,
        crate::events::SPECS.to_vec(),
    ]
    .concat()
}

/// Returns declarations, each followed by those of the tables that its parameters contain.
fn add_nested(specs: Vec<&'static Spec>) -> Vec<&'static Spec> {
    let below = |spec: &'static Spec| spec.params.iter().flat_map(|param| param.kind.nested_specs());
    specs.into_iter().flat_map(|spec| [vec![spec], add_nested(below(spec).collect())].concat()).collect()
}

/// Returns mechanisms, topologies, transports, traffic and fixed tables as a list of
/// `{slot, kind, doc, cite, params: [{name, doc, type, required, default, allowed}]}`.
///
/// The `kind` of a fixed table is empty. `default` is text; it is null if the parameter is required or has no value by
/// default. `allowed` describes the accepted values in words.
pub fn catalogue_json(registry: &Registry) -> Json {
    declarations(registry).into_iter().map(spec_json).collect()
}

/// Returns names from papers, standards and other tools as a list of `{typed, said, slot, kind, param, note}`, as in
/// [`mech::Alias`].
pub fn aliases_json() -> Json {
    let one = |alias: &mech::Alias| {
        let mech::Alias { normalized: typed, written: said, slot, kind, param, note } = alias;
        json!({ "typed": typed, "said": said, "slot": slot, "kind": kind, "param": param, "note": note })
    };
    mech::ALIASES.iter().map(one).collect()
}

fn spec_json(spec: &Spec) -> Json {
    let params: Vec<Json> = spec.params.iter().map(param_json).collect();
    json!({ "slot": spec.slot, "kind": spec.kind, "doc": spec.doc, "cite": spec.cite, "params": params })
}

fn param_json(param: &Param) -> Json {
    json!({
        "name": param.name,
        "doc": param.doc,
        "type": type_name(&param.kind),
        "required": param.default.is_none(),
        "default": param.default.filter(|text| !text.is_empty()),
        "allowed": describe_allowed(param),
    })
}

/// Returns the word for a kind of value in the catalogue.
fn type_name(kind: &ParamKind) -> &'static str {
    match kind {
        ParamKind::Flag => "flag",
        ParamKind::Count { .. } => "count",
        ParamKind::CountOrOff { .. } => "count_or_off",
        ParamKind::Number { .. } => "number",
        ParamKind::Time { .. } => "time",
        ParamKind::Rate => "rate",
        ParamKind::Amount { .. } => "amount",
        ParamKind::Size { .. } => "size",
        ParamKind::Choice(_) => "choice",
        ParamKind::Text => "text",
        ParamKind::Texts => "texts",
        ParamKind::TextsOr(_) => "texts_or_word",
        ParamKind::Numbers => "numbers",
        ParamKind::Counts { .. } => "counts",
        ParamKind::RatesOrOff => "rates_or_off",
        ParamKind::DscpClasses => "dscp_classes",
        ParamKind::Sizes(_) => "sizes",
        ParamKind::Table(_) => "table",
        ParamKind::Named(_) => "named_tables",
        ParamKind::List(_) => "tables",
    }
}
