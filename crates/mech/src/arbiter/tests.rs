//! Tests of arbiters against the table `conformance/arbiters.toml`.

use super::*;
use crate::Registry;
use crate::params::Values;
use crate::testing::DecisionInputs;
use toml::{Table, Value};

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().expect(key)
}

/// Parses a request of an input, written as `INPUT` or `INPUT@STAMP`.
fn request(word: &str) -> Request {
    let (input, stamp) = word.split_once('@').unwrap_or((word, "0"));
    Request { input: PortId(input.parse().expect(word)), size: 1522, stamp: stamp.parse().expect(word) }
}

#[test]
fn requests_are_granted_as_the_table_says() {
    let path = format!("{}/../../conformance/arbiters.toml", env!("CARGO_MANIFEST_DIR"));
    let table: Table = std::fs::read_to_string(&path).expect(&path).parse().expect(&path);
    let cases = table["case"].as_array().expect("cases");
    assert!(cases.len() >= 7);
    for case in cases {
        let made = Registry::catalogue().make::<ArbiterSlot>(text(case, "arbiter"), &Values::default());
        let mut arbiter = made.expect("it is in the catalogue").for_switch(&SwitchContext::without_network(1, 4));
        for row in case["rows"].as_array().expect("rows") {
            let row = row.as_str().expect("a row");
            let (output, rest) = row.split_once(": ").expect(row);
            let (asking, granted) = rest.split_once(" -> ").expect(row);
            let requests: Vec<Request> = asking.split(' ').map(request).collect();
            let output = PortId(output.parse().expect(row));
            let found = arbiter.get().grant(output, &requests, &mut DecisionInputs::with_draws(&[]).env());
            assert_eq!(found, Some(PortId(granted.parse().expect(row))), "{}: {row}", text(case, "name"));
        }
    }
}
