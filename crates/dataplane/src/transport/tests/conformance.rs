//! Tests that run the conformance cases of `conformance/tcp/`, one file per RFC or paper.
//!
//! The list of rules in their README must match the cases.

mod ends;
mod network;
mod pending;
pub(super) mod script;

use ends::End;
use pending::PENDING;
use script::{Outcome, lines, text};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use toml::{Table, Value as Toml};

const FILES: [&str; 23] = [
    "rfc5681",
    "rfc6582",
    "rfc2018",
    "rfc6675",
    "rfc2883",
    "rfc7323",
    "rfc8257",
    "rfc3168",
    "rfc6298",
    "rfc3042",
    "rfc9293",
    "rfc9438",
    "rfc8985",
    "rfc9937",
    "rfc5682",
    "rfc3522",
    "rfc3708",
    "linux",
    "linux_2_6_38",
    "inet",
    "pfabric",
    "cp",
    "roce",
];

fn folder() -> String {
    format!("{}/../../conformance/tcp", env!("CARGO_MANIFEST_DIR"))
}

fn cases(file: &str) -> Vec<Table> {
    let path = format!("{}/{file}.toml", folder());
    let table: Table = std::fs::read_to_string(&path).expect(&path).parse().unwrap_or_else(|e| panic!("{path}: {e}"));
    let all = table.get("case").and_then(Toml::as_array).into_iter().flatten();
    all.map(|case| case.as_table().expect("a [[case]]").clone()).collect()
}

const KEYS: [&str; 12] =
    ["rule", "name", "end", "transport", "bytes", "steps", "network", "delay", "gap", "data", "acks", "trace"];

fn run(case: &Table) -> Outcome {
    if let Some(key) = case.keys().find(|k| !KEYS.contains(&k.as_str()) && *k != "outcome") {
        return Err(format!("a case has no key `{key}`"));
    }
    let cfg = script::transport(text(case, "transport"))?;
    let bytes = case.get("bytes").map_or(1_000_000, |b| b.as_integer().unwrap_or(0) as u64);
    let mut end = match text(case, "end") {
        "sender" => End::sender(bytes, cfg),
        "receiver" => End::receiver(bytes, cfg),
        "pair" => return network::run(case, bytes, cfg),
        other => return Err(format!("no end `{other}`")),
    };
    let steps = lines(case, "steps");
    if steps.is_empty() {
        return Err("no steps".into());
    }
    let play = |(i, line): (usize, &&str)| end.play(line).map_err(|e| format!("step {}, `{line}`: {e}", i + 1));
    steps.iter().enumerate().try_for_each(play)
}

/// Returns the result of [`run`] for a conformance case, with a panic as a failure.
fn outcome(case: &Table) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| run(case))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("?")))
    })
}

/// Returns true if [`PENDING`] names a conformance case by `file: name`, or its whole file.
fn is_pending(file: &str, name: &str) -> bool {
    PENDING.iter().any(|p| *p == file || p.split_once(": ") == Some((file, name)))
}

fn conforms(file: &str) {
    let mut wrong = vec![];
    for case in cases(file) {
        let name = text(&case, "name");
        match (outcome(&case), is_pending(file, name)) {
            (Err(e), false) => wrong.push(format!("{file}.toml, {}: {name}\n  {e}", text(&case, "rule"))),
            (Ok(()), true) if !PENDING.contains(&file) => {
                wrong.push(format!("{file}.toml: {name}\n  is pending, but holds"))
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} cases\n\n{}\n", wrong.len(), wrong.join("\n\n"));
}

macro_rules! conforms {
    ($($test:ident: $file:literal;)*) => {
        $(
            #[test]
            fn $test() {
                conforms($file);
            }
        )*
        const TESTED: &[&str] = &[$($file),*];
    };
}

conforms! {
    congestion_control_conforms_to_rfc_5681: "rfc5681";
    newreno_conforms_to_rfc_6582: "rfc6582";
    selective_acknowledgements_conform_to_rfc_2018: "rfc2018";
    recovery_by_sack_conforms_to_rfc_6675: "rfc6675";
    duplicate_sack_conforms_to_rfc_2883: "rfc2883";
    timestamps_and_window_scaling_conform_to_rfc_7323: "rfc7323";
    dctcp_conforms_to_rfc_8257: "rfc8257";
    ecn_conforms_to_rfc_3168: "rfc3168";
    the_retransmission_timer_conforms_to_rfc_6298: "rfc6298";
    limited_transmit_conforms_to_rfc_3042: "rfc3042";
    windows_nagle_and_handshake_conform_to_rfc_9293: "rfc9293";
    cubic_conforms_to_rfc_9438: "rfc9438";
    losses_found_by_time_conform_to_rfc_8985: "rfc8985";
    rate_reduction_conforms_to_rfc_9937: "rfc9937";
    timeouts_without_reason_are_undone_by_rfc_5682: "rfc5682";
    recoveries_without_reason_are_undone_by_rfc_3522: "rfc3522";
    recoveries_without_reason_are_undone_by_rfc_3708: "rfc3708";
    options_of_linux_do_as_linux: "linux";
    hosts_of_2011_do_as_linux_2_6_38: "linux_2_6_38";
    options_of_inet_do_as_inet: "inet";
    rate_control_conforms_to_pfabric: "pfabric";
    packs_conform_to_cp: "cp";
    reliable_connections_conform_to_roce: "roce";
}

/// Returns each rule in the table `| rule | cases or "not modelled" | ... |` of the README, and true if it has cases.
fn rows() -> BTreeMap<String, bool> {
    let path = format!("{}/README.md", folder());
    let page = std::fs::read_to_string(&path).expect(&path);
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let rule = cells.get(1).filter(|rule| {
            ["RFC ", "pFabric ", "Linux ", "INET ", "CP ", "NDP ", "RoCE "].iter().any(|of| rule.starts_with(of))
        })?;
        Some(((*rule).to_owned(), !cells.get(2)?.starts_with("not ")))
    };
    page.lines().filter_map(row).collect()
}

#[test]
fn every_rule_that_is_claimed_has_a_case_and_every_case_a_rule() {
    assert_eq!(TESTED, FILES);
    let rows = rows();
    let mut used = BTreeSet::new();
    let mut wrong = vec![];
    for file in FILES {
        let mut names = BTreeSet::new();
        for case in cases(file) {
            let (rule, name) = (text(&case, "rule").to_owned(), text(&case, "name").to_owned());
            match rows.get(&rule) {
                Some(true) => {}
                Some(false) => wrong.push(format!("{file}: `{rule}` is said not to be modelled")),
                None => wrong.push(format!("{file}: `{rule}` is not in the table")),
            }
            if name.is_empty() || !names.insert(name.clone()) {
                wrong.push(format!("{file}: `{name}` is no name of its own"));
            }
            used.insert(rule);
        }
        for p in PENDING.iter().filter_map(|p| p.split_once(": ")).filter(|p| p.0 == file) {
            if !names.contains(p.1) {
                wrong.push(format!("{file}: no case `{}` is pending", p.1));
            }
        }
    }
    wrong.extend(
        rows.iter().filter(|(r, claimed)| **claimed && !used.contains(*r)).map(|(r, _)| format!("`{r}` has no case")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the error message of a conformance case that is wrong in one place.
fn complaint(toml: &str) -> String {
    let case: Table = toml.parse().expect("TOML");
    outcome(&case).expect_err("a case that fails")
}

#[test]
fn a_case_that_fails_says_what_was_expected_and_what_came() {
    let of = |steps: &str| complaint(&format!("end = 'sender'\ntransport = 'newreno'\nsteps = ['start -> {steps}']"));
    assert_eq!(
        of("0-8 9/cwr"),
        "step 1, `start -> 0-8 9/cwr`: segments\n    expected [0 1 2 3 4 5 6 7 8 9/cwr]\n    came     [0 1 2 3 4 5 6 7 8 9]"
    );
    assert!(of("0-9 | cwnd=9000").ends_with("cwnd\n    expected 9000\n    came     10000"));
    assert!(of("0-9 | timer=+9ms").ends_with("timer\n    expected +9ms\n    came     +10ms"));
    assert!(of("0-9/ecn=ect").contains("came     [0/ecn=not "));
    assert!(of("0-9 | cvnd=1").contains("no variable `cvnd`"));
    assert!(complaint("end = 'sender'\ntransport = 'newreno mms=3'\nsteps = ['start']").contains("knows no mms"));
    assert!(
        complaint("end = 'sender'\ntransport = 'reno'\nsteps = ['start -> 0-9', '+1s wait']").contains("expires at")
    );
    assert!(
        complaint("end = 'sender'\ntransport = 'reno'\nsteps = ['start -> 0-9', 'ack 1 ecee']").contains("unknown")
    );
}
