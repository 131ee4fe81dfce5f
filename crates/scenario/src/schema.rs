//! JSON Schema of scenario files, made from the declarations, for editors and for programs that write scenarios.
//!
//! The schema has types, units, ranges and keys. Relations between values of several keys are checked by
//! [`load`](crate::load()) only.

use crate::events;
use crate::load::{default_value, default_word, specs};
use crate::settings;
use crate::traffic::is_raw_kind;
use mech::params::{Param, ParamKind, Spec, Value};
use mech::{HOST_SLOTS, Registry, SLOTS};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

const NUMBER_PATTERN: &str = r"[0-9]+(\.[0-9]+)?(/[0-9]+(\.[0-9]+)?)?";
const NAME_PATTERN: &str = "^[A-Za-z0-9_-]{1,100}$";

/// Form of a table in the schema: complete, or merged into another table that has the remaining keys.
#[derive(Clone, Copy, PartialEq)]
enum Completeness {
    Complete,
    Partial,
}

/// Returns the JSON Schema (draft 2020-12) of a scenario as JSON data.
pub fn scenario_schema(registry: &Registry) -> Json {
    let mut scenario = table_schemas(Completeness::Complete, registry);
    let variant = table_schemas(Completeness::Partial, registry);
    let variants = json!({
        "type": "object",
        "description": "Variants to compare, each merged into the scenario: a table with a `kind` replaces the whole \
                        table, lists replace lists, other keys merge. `traffic.NAME` names one workload.",
        "propertyNames": { "pattern": NAME_PATTERN },
        "additionalProperties": { "$ref": "#/$defs/variant" },
    });
    scenario.insert("variants".into(), variants);
    let own = table_schema(settings::SCENARIO.params, Completeness::Complete);
    let mut required: Vec<Json> = own["required"].as_array().cloned().unwrap_or_default();
    required.extend([json!("topology"), json!("traffic")]);
    scenario.extend(own["properties"].as_object().cloned().unwrap_or_default());
    scenario.insert("name".into(), json!({ "type": "string", "pattern": NAME_PATTERN }));
    let mut over = variant;
    let keys = ["duration", "description", "reroute_delay", "dead_port", "dscp_to_class"];
    over.extend(keys.into_iter().filter_map(|key| Some((key.to_string(), scenario.get(key)?.clone()))));
    let label = "Label of the variant in tables and figures, any text; files and commands use its name.";
    over.insert("label".into(), json!({ "type": "string", "minLength": 1, "maxLength": 60, "description": label }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Overspill scenario",
        "description": settings::SCENARIO.doc,
        "type": "object",
        "properties": scenario,
        "required": required,
        "additionalProperties": false,
        "$defs": {
            "variant": { "type": "object", "properties": over, "additionalProperties": false },
        },
    })
}

/// Returns the JSON Schemas of the tables that a scenario or a variant may have.
fn table_schemas(part: Completeness, registry: &Registry) -> Map<String, Json> {
    let [topology, transport, traffic] = specs().map(|(_, specs)| specs);
    let own = choice_schema(transport, Completeness::Partial, Some(settings::DEFAULT_TRANSPORT));
    let entry =
        add_transport(add_params(choice_schema(traffic, Completeness::Complete, None), settings::TRAFFIC.params), &own);
    let mut workloads = json!({ "type": "array", "minItems": 1, "items": entry });
    if part == Completeness::Partial {
        let over = add_transport(choice_schema(traffic, Completeness::Partial, None), &own);
        let named =
            json!({ "type": "object", "propertyNames": { "pattern": NAME_PATTERN }, "additionalProperties": over });
        workloads = json!({ "anyOf": [workloads, named] });
    }
    let event = add_params(choice_schema(events::SPECS, Completeness::Complete, None), events::EVENT.params);
    let mut host = table_schema(settings::HOST.params, part);
    for (slot, default) in HOST_SLOTS {
        host["properties"][slot] = choice_schema(&registry.host_specs(slot), part, Some(default));
    }
    let place = table_schema(settings::WHERE.params, part);
    let each = json!({
        "type": "object",
        "description": settings::WHERE.doc,
        "properties": {
            "where": place,
            "switch": switch_schema(Completeness::Partial, registry),
            "transport": choice_schema(transport, Completeness::Partial, Some(settings::DEFAULT_TRANSPORT)),
        },
        "required": ["where"],
        "additionalProperties": false,
    });
    let all = [
        ("topology", add_graph(choice_schema(topology, part, None))),
        ("framing", choice_schema(settings::FRAMING, part, Some("ethernet"))),
        ("host", host),
        ("switch", switch_schema(part, registry)),
        ("override", json!({ "type": "array", "items": each })),
        ("transport", choice_schema(transport, part, Some(settings::DEFAULT_TRANSPORT))),
        ("measure", table_schema(settings::MEASURE.params, part)),
        ("traffic", workloads),
        ("event", json!({ "type": "array", "items": event })),
    ];
    all.map(|(key, value)| (key.to_string(), value)).into_iter().collect()
}

fn switch_schema(part: Completeness, registry: &Registry) -> Json {
    let mut switch = table_schema(settings::SWITCH.params, part);
    for (slot, default) in SLOTS {
        switch["properties"][slot] = choice_schema(&registry.switch_specs(slot), part, Some(default));
    }
    switch["description"] = json!(settings::SWITCH.doc);
    switch
}

/// Returns the JSON Schema of a table of one of several kinds. A table that is merged into another may also have
/// parameters without a kind.
fn choice_schema(specs: &[&Spec], part: Completeness, default: Option<&str>) -> Json {
    let tacit = |spec: &Spec| part == Completeness::Complete && default == Some(spec.kind);
    let mut kinds: Vec<Json> = specs.iter().map(|spec| kind_schema(spec, tacit(spec))).collect();
    if part == Completeness::Partial {
        let tables = kinds.iter().filter_map(|kind| kind["properties"].as_object());
        let keys: BTreeSet<String> = tables.flat_map(|table| table.keys().cloned()).collect();
        let keys = json!({ "enum": keys });
        kinds.push(json!({ "type": "object", "not": { "required": ["kind"] }, "propertyNames": keys }));
    }
    match default {
        Some(default) => json!({ "oneOf": kinds, "default": { "kind": default } }),
        None => json!({ "oneOf": kinds }),
    }
}

/// Returns the JSON Schema of a table of this kind; its key `kind` may be missing if `tacit` is true.
fn kind_schema(spec: &Spec, tacit: bool) -> Json {
    let mut table = table_schema(spec.params, Completeness::Complete);
    table["description"] =
        json!(if spec.cite.is_empty() { spec.doc.into() } else { format!("{} ({})", spec.doc, spec.cite) });
    table["properties"]["kind"] = json!({ "const": spec.kind });
    if !tacit {
        let mut required = vec![json!("kind")];
        required.extend(table["required"].as_array().cloned().unwrap_or_default());
        table["required"] = required.into();
    }
    table
}

/// Adds these parameters to every kind in a JSON Schema.
fn add_params(mut choice: Json, params: &[Param]) -> Json {
    let common = table_schema(params, Completeness::Complete);
    for kind in choice["oneOf"].as_array_mut().into_iter().flatten() {
        for (key, value) in common["properties"].as_object().into_iter().flatten() {
            if kind["properties"].get(key).is_none() {
                kind["properties"][key] = value.clone();
            }
        }
        let required = common["required"].as_array().cloned().unwrap_or_default();
        if let Some(all) = kind["required"].as_array_mut() {
            let new: Vec<Json> = required.into_iter().filter(|key| !all.contains(key)).collect();
            all.extend(new);
        }
    }
    choice
}

/// Adds the key `transport` to the JSON Schema of every kind of traffic that has flows.
fn add_transport(mut choice: Json, own: &Json) -> Json {
    for kind in choice["oneOf"].as_array_mut().into_iter().flatten() {
        if !is_raw_kind(kind["properties"]["kind"]["const"].as_str().unwrap_or_default()) {
            kind["properties"]["transport"] = own.clone();
            if let Some(keys) = kind.pointer_mut("/propertyNames/enum").and_then(Json::as_array_mut) {
                keys.push(json!("transport"));
            }
        }
    }
    choice
}

/// Adds the lists of nodes and links to the JSON Schema of a custom topology.
fn add_graph(mut topology: Json) -> Json {
    for kind in topology["oneOf"].as_array_mut().into_iter().flatten() {
        if kind["properties"]["kind"]["const"] == "custom" {
            for (key, spec) in [("node", &settings::NODE), ("link", &settings::LINK)] {
                let item = table_schema(spec.params, Completeness::Complete);
                let list = json!({ "type": "array", "description": spec.doc, "items": item });
                let also = kind["properties"][key].take();
                kind["properties"][key] = if also.is_null() { list } else { json!({ "anyOf": [list, also] }) };
            }
        }
    }
    topology
}

/// Returns the JSON Schema of a table with these parameters; dotted names are nested tables.
fn table_schema(params: &[Param], part: Completeness) -> Json {
    let mut table = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    for param in params {
        let mut below = &mut table;
        let mut keys = param.name.split('.').peekable();
        while let Some(key) = keys.next() {
            if part == Completeness::Complete && param.default.is_none() {
                let names = below["required"].as_array().cloned().unwrap_or_default();
                if !names.contains(&json!(key)) {
                    below["required"] = names.into_iter().chain([json!(key)]).collect();
                }
            }
            if keys.peek().is_none() {
                below["properties"][key] = param_schema(param);
                break;
            }
            if below["properties"].get(key).is_none() {
                below["properties"][key] = json!({ "type": "object", "properties": {}, "additionalProperties": false });
            }
            below = &mut below["properties"][key];
        }
    }
    table
}

/// Returns the JSON Schema of one parameter.
fn param_schema(param: &Param) -> Json {
    let mut schema = match param.kind {
        ParamKind::Flag => json!({ "type": "boolean" }),
        ParamKind::Count { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        ParamKind::CountOrOff { min, max } => {
            json!({ "anyOf": [{ "type": "integer", "minimum": min, "maximum": max }, { "const": "off" }] })
        }
        ParamKind::Number { min, max, below_max } => {
            let max_key = if below_max { "exclusiveMaximum" } else { "maximum" };
            json!({ "type": "number", "minimum": min, max_key: max })
        }
        ParamKind::Time { .. } => quantity_schema("(ps|ns|us|µs|ms|s)"),
        ParamKind::Rate => quantity_schema(RATE_UNITS),
        ParamKind::Amount { .. } => quantity_schema("(pkt|B|KB|MB|GB|KiB|MiB|GiB)"),
        ParamKind::Size { .. } => quantity_schema("(B|KB|MB|GB|KiB|MiB|GiB)"),
        ParamKind::Choice(words) => json!({ "enum": words }),
        ParamKind::Text => json!({ "type": "string" }),
        ParamKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        ParamKind::TextsOr(words) => {
            json!({ "anyOf": [{ "enum": words }, { "type": "array", "items": { "type": "string" } }] })
        }
        ParamKind::Numbers => json!({ "type": "array", "items": { "type": "number", "minimum": 0 } }),
        ParamKind::Counts { min, max } => {
            json!({ "type": "array", "items": { "type": "integer", "minimum": min, "maximum": max } })
        }
        ParamKind::RatesOrOff => {
            json!({ "type": "array", "items": { "anyOf": [quantity_schema(RATE_UNITS), { "const": "off" }] } })
        }
        ParamKind::DscpClasses => json!({
            "type": "object",
            "propertyNames": { "pattern": "^([0-9]|[1-5][0-9]|6[0-3])$" },
            "additionalProperties": { "type": "integer", "minimum": 0, "maximum": 7 },
        }),
        ParamKind::Sizes(specs) => {
            json!({ "anyOf": [{ "type": "string" }, choice_schema(specs, Completeness::Complete, None)] })
        }
        ParamKind::Table(specs) => choice_schema(specs, Completeness::Complete, None),
        ParamKind::Named(spec) => json!({
            "type": "object",
            "propertyNames": { "pattern": NAME_PATTERN },
            "additionalProperties": table_schema(spec.params, Completeness::Complete),
        }),
        ParamKind::List(spec) => {
            json!({ "type": "array", "items": table_schema(spec.params, Completeness::Complete) })
        }
    };
    if let Some(word) = default_word(param) {
        schema = json!({ "anyOf": [schema, { "const": word }], "default": word });
    }
    if let Some(value) = default_value(param) {
        schema["default"] = default_json(&value, param.default.unwrap_or_default());
    }
    schema["description"] = json!(param.doc);
    schema
}

/// Pattern of the units of data rates.
const RATE_UNITS: &str = "(bps|Kbps|Mbps|Gbps|Tbps)";

fn quantity_schema(units: &str) -> Json {
    json!({ "type": "string", "pattern": format!("^ *{NUMBER_PATTERN} *{units} *$") })
}

/// Returns a default as JSON data; quantities are text as they are declared.
fn default_json(value: &Value, text: &str) -> Json {
    match value {
        Value::Flag(flag) => json!(flag),
        Value::Count(n) => json!(n),
        Value::Number(n) => json!(n),
        Value::Texts(words) => json!(words),
        Value::Numbers(numbers) => json!(numbers),
        Value::Counts(counts) => json!(counts),
        _ => json!(text),
    }
}
