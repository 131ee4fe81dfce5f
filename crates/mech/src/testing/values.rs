//! Parser of mechanism parameters from text, without a scenario.

use crate::params::{ParamKind, Spec, Value, Values};

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
        ParamKind::Counts { .. } => Value::Counts(text.split(',').map(|n| n.parse().expect(param)).collect()),
        ParamKind::Numbers | ParamKind::Sizes(_) => {
            panic!("{param}: tests cannot set a list of dimensionless numbers or flow sizes")
        }
    }
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
