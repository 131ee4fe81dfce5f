//! Parser of mechanism parameters from text, without a scenario.

use crate::params::{ParamKind, Spec, Value, Values};
use toml::{Table, Value as Toml};

fn parse_value(param: &'static str, kind: &ParamKind, text: &str) -> Value {
    let wrong = |_| -> Value { panic!("`{text}` is not a value of {param}: {kind:?}") };
    match kind {
        ParamKind::Flag => Value::Flag(text == "true"),
        ParamKind::CountOrOff { .. } if text == "off" => Value::Off,
        ParamKind::Count { .. } | ParamKind::CountOrOff { .. } => Value::Count(text.parse().expect(param)),
        ParamKind::Number { .. } => Value::Number(text.parse().expect(param)),
        ParamKind::Time { .. } => units::parse_dur(text).map_or_else(wrong, Value::Time),
        ParamKind::Rate => units::parse_rate(text).map_or_else(wrong, Value::Rate),
        ParamKind::Amount { .. } => units::parse_amount(text).map_or_else(wrong, Value::Amount),
        ParamKind::Size { .. } => units::parse_bytes(text).map_or_else(wrong, Value::Size),
        ParamKind::Choice(words) if !words.contains(&text) => panic!("`{text}` is not in {words:?} of {param}"),
        ParamKind::Choice(_) | ParamKind::Text => Value::Word(text.to_owned()),
        ParamKind::TextsOr(words) if words.contains(&text) => Value::Word(text.to_owned()),
        ParamKind::TextsOr(_) => Value::Texts(text.split(',').map(str::to_owned).collect()),
        ParamKind::Texts => Value::Texts(text.split(',').map(str::to_owned).collect()),
        ParamKind::Counts { .. } => {
            let numbers = text.trim_matches(['[', ']']).split(',').map(str::trim).filter(|n| !n.is_empty());
            Value::Counts(numbers.map(|n| n.parse().expect(param)).collect())
        }
        ParamKind::RatesOrOff => {
            let rate = |text: &str| (text != "off").then(|| units::parse_rate(text).expect(param));
            Value::Rates(text.split(',').map(rate).collect())
        }
        ParamKind::Numbers
        | ParamKind::DscpClasses
        | ParamKind::Sizes(_)
        | ParamKind::Table(_)
        | ParamKind::Named(_)
        | ParamKind::List(_) => {
            panic!("{param}: tests cannot set a list of dimensionless numbers, flow sizes or tables")
        }
    }
}

/// Converts a TOML value as a scenario has it. Quantities are text, and texts have no quotes in `parse_value`.
fn convert_value(param: &'static str, kind: &ParamKind, value: &Toml) -> Value {
    let table = |value: &Toml| value.as_table().expect(param).clone();
    match kind {
        ParamKind::Table(specs) => {
            let mut given = table(value);
            let name = given.remove("kind").expect("a kind");
            let name = name.as_str().expect("a name");
            let spec = specs.iter().find(|spec| spec.kind == name).expect(name);
            Value::Table(name.into(), table_values(spec, &given))
        }
        ParamKind::Named(spec) => {
            let each = table(value).into_iter().map(|(name, own)| (name, table_values(spec, &table(&own))));
            Value::Named(each.collect())
        }
        ParamKind::List(spec) => {
            let each = value.as_array().expect(param).iter().map(|own| table_values(spec, &table(own)));
            Value::List(each.collect())
        }
        ParamKind::Counts { .. } => {
            let each = value.as_array().expect(param).iter().map(|n| n.as_integer().expect(param) as u64);
            Value::Counts(each.collect())
        }
        _ => parse_value(param, kind, value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str()),
    }
}

/// Converts the parameters of a table; the rest have their defaults.
fn table_values(spec: &Spec, given: &Table) -> Values {
    let mut values = Values::default();
    for param in spec.params {
        let default = || param.default.filter(|text| !text.is_empty());
        let value = match given.get(param.name) {
            Some(own) => Some(convert_value(param.name, &param.kind, own)),
            None => default().map(|text| parse_value(param.name, &param.kind, text)),
        };
        values.0.extend(value.map(|value| (param.name.to_owned(), value)));
    }
    let unknown = given.keys().find(|key| spec.params.iter().all(|param| param.name != key.as_str()));
    assert!(unknown.is_none(), "{} has no parameter {unknown:?}", spec.slot);
    values
}

/// Parses the parameters of a mechanism from a TOML document, as in a scenario; the rest have their defaults.
pub fn toml_values(spec: &Spec, text: &str) -> Values {
    table_values(spec, &text.parse::<Table>().expect("a TOML document"))
}

/// Parses the parameters of a mechanism from `name=value name=value`; the rest have their defaults.
pub fn values(spec: &Spec, given: &str) -> Values {
    let mut values = Values::default();
    let mut given: Vec<_> = given.split_whitespace().map(|pair| pair.split_once('=').expect(pair)).collect();
    for param in spec.params {
        let own = given.iter().position(|(name, _)| *name == param.name).map(|i| given.remove(i).1);
        if let Some(text) = own.or(param.default).filter(|text| !text.is_empty()) {
            values.0.insert(param.name.to_owned(), parse_value(param.name, &param.kind, text));
        }
    }
    assert!(given.is_empty(), "{} has no parameters {given:?}", spec.kind);
    values
}
