//! Invalid scenarios, each with its exact message: `malformed.toml`.

use scenario::{Source, load};
use std::path::Path;
use toml_edit::{Document, Table};

fn text<'a>(case: &'a Table, key: &str) -> Option<&'a str> {
    case.get(key)?.as_str()
}

fn texts(case: &Table, key: &str) -> Vec<String> {
    let items = case.get(key).and_then(|item| item.as_array());
    items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_string)).collect()
}

/// Returns the scenario text of a case: its own, or the common one with one place changed or lines added.
fn scenario(case: &Table, base: &str) -> String {
    if let Some(own) = text(case, "text") {
        return own.to_string();
    }
    let mut scenario = base.to_string();
    let changes = texts(case, "change");
    if let [from, to] = changes.as_slice() {
        assert_eq!(scenario.matches(from.as_str()).count(), 1, "{from:?} is once in the base");
        scenario = scenario.replace(from, to);
    }
    scenario + text(case, "add").unwrap_or_default()
}

fn messages(case: &Table, base: &str) -> Vec<String> {
    let source = Source::new("bad.toml", scenario(case, base), Path::new("."));
    match load(&source, &texts(case, "set")) {
        Ok(_) => vec!["nothing is wrong".into()],
        Err(found) => found.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn every_malformed_scenario_is_refused_with_its_exact_messages() {
    let table = Document::parse(include_str!("malformed.toml")).expect("the table of cases is TOML");
    let base = table.get("base").and_then(|base| base.as_str()).expect("a base");
    let cases = table.get("case").and_then(|cases| cases.as_array_of_tables()).expect("cases");
    assert!(cases.len() >= 40, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let (expected, found) = (texts(case, "errors"), messages(case, base));
        assert!(!expected.is_empty(), "a case without errors");
        if expected != found {
            let name = text(case, "name").unwrap_or("a case without a name");
            wrong.push(format!("# {name}\n  expected {expected:#?}\n  found {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_base_of_the_cases_is_right() {
    let table = Document::parse(include_str!("malformed.toml")).expect("the table of cases is TOML");
    let base = table.get("base").and_then(|base| base.as_str()).expect("a base");
    assert_eq!(messages(&Table::new(), base), ["nothing is wrong"]);
}
