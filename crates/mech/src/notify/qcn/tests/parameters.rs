//! Tests of errors and warnings about parameters of QCN's congestion point.

use super::*;
use std::borrow::Cow;

/// Returns the keys and values of QCN's parameter errors, and the first words of the warnings.
fn errors_and_warnings(given: &str) -> (Vec<(Cow<'static, str>, String)>, Vec<String>) {
    let keys: Vec<&str> =
        given.split_whitespace().filter_map(|pair| pair.split_once('=')).map(|(key, _)| key).collect();
    let is_given = |key: &str| keys.contains(&key);
    let mut report = Report::default();
    Qcn::new(&values(&SPEC, given)).check(&CheckContext { is_set: &is_given, ..CheckContext::EMPTY }, &mut report);
    let wrong = report.errors.into_iter().map(|wrong| (wrong.key, wrong.found)).collect();
    let notes = report.warnings.into_iter().map(|note| note.split(':').take(2).collect::<Vec<_>>().join(":"));
    (wrong, notes.collect())
}

fn no_errors_or_warnings() -> (Vec<(Cow<'static, str>, String)>, Vec<String>) {
    (Vec::new(), Vec::new())
}

#[test]
fn qcn_settings_that_fit_have_no_errors_or_warnings() {
    for given in [
        "",
        "at=inputs",
        "at=inputs culprit=occupancy unit=64B",
        "at=outputs culprit=occupancy unit=64B jitter=0",
        "at=inputs culprit=two_samples index=backlog keep_alive=120us",
        "at=inputs culprit=occupancy keep_alive=120us",
    ] {
        assert_eq!(errors_and_warnings(given), no_errors_or_warnings(), "{given}");
    }
}

#[test]
fn a_clock_is_for_drawn_culprits_at_inputs() {
    let found = |given: &str| errors_and_warnings(given).0;
    let at_outputs = [("keep_alive".into(), "keep_alive with at = \"outputs\"".to_string())];
    assert_eq!(found("keep_alive=1us"), at_outputs);
    assert_eq!(found("keep_alive=1us culprit=occupancy at=outputs"), at_outputs);
    let by_arrival = [("keep_alive".into(), "keep_alive with culprit = \"arrival\"".to_string())];
    assert_eq!(found("keep_alive=1us at=inputs"), by_arrival);
}

#[test]
fn what_has_no_effect_is_told() {
    for (given, note) in [
        ("unit=256B", "qcn: unit has no effect with culprit = \"arrival\", because no flow is drawn from the memory"),
        ("index=backlog", "qcn: index has no effect with culprit = \"arrival\", because no two flows are compared"),
        (
            "index=first_hop culprit=occupancy",
            "qcn: index has no effect with culprit = \"occupancy\", because no two flows are compared",
        ),
        ("culprit=two_samples", "qcn: culprit = \"two_samples\" equals `occupancy` at outputs"),
        (
            "jitter=0",
            "qcn: culprit = \"arrival\" without jitter may notify the same source every time if sources send at constant \
             rates. Set jitter",
        ),
    ] {
        assert_eq!(errors_and_warnings(given), (Vec::new(), vec![note.to_string()]), "{given}");
    }
}
