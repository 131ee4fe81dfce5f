//! Transports of some hosts, which overrides name.

use crate::common::{loaded, refused, star};

fn text(over: &str) -> String {
    star(&format!("[transport]\nkind = \"dctcp\"\nmin_rto = \"5ms\"\n[[override]]\n{over}\n"))
}

const TWO: &str = "where = { hosts = [\"h1\", \"h2\"] }\n";

#[test]
fn hosts_that_are_named_have_their_own_transport_and_the_last_override_wins() {
    let more = "transport = { kind = \"sack\", min_rto = \"1ms\", initial_rto = \"1ms\" }\n[[override]]\n\
                where = { hosts = [\"h2\"] }\ntransport.delayed_ack = true";
    let all = loaded(&text(&format!("{TWO}{more}")), &[]);
    let scenario = &all.variants[0];
    assert_eq!(scenario.transport.kind, "dctcp");
    let own = &scenario.own_transports;
    assert_eq!(own.host_numbers, [0, 1, 2, 0]);
    assert!(own.kinds.iter().all(|one| one.kind == "sack" && one.values.time("min_rto") == units::Dur::ms(1)));
    assert_eq!([0, 1].map(|i| own.kinds[i].values.flag("delayed_ack")), [false, true], "laid upon the one before");
    let told = &all.resolved["default"]["transports"];
    assert_eq!(told[0]["hosts"], serde_json::json!(["h1"]));
    assert_eq!(told[1]["transport"]["delayed_ack"], serde_json::json!(true));
}

#[test]
fn a_transport_that_says_the_same_is_none_of_its_own() {
    let all = loaded(&text(&format!("{TWO}transport.min_rto = \"5ms\"")), &[]);
    assert!(all.variants[0].own_transports.kinds.is_empty() && all.variants[0].own_transports.host_numbers.is_empty());
    assert!(all.resolved["default"].get("transports").is_none());
}

#[test]
fn what_a_new_kind_resets_and_what_two_ends_do_not_have_in_common_is_told() {
    let marking = "[switch]\nmarking = { kind = \"ecn_threshold\", k = \"5pkt\" }\n";
    let with = |over: &str| loaded(&(text(&format!("{TWO}{over}\n")) + marking), &[]).notes;
    let found = with("transport = { kind = \"newreno\" }");
    let said = [
        "override: transport: the new kind = \"newreno\" replaces the whole table, and drops earlier values: min_rto \
         is 10ms instead of 5ms",
        "hosts have different transports: connections between a host with SACK and a host without SACK recover losses",
        "hosts have different transports: packets between a host with ECN and a host without ECN cannot be marked",
    ];
    for said in said {
        assert!(found.iter().any(|note| note.starts_with(&format!("default: {said}"))), "{said}: {found:?}");
    }
    let latched = with("transport = { kind = \"newreno\", ecn = true, min_rto = \"5ms\" }");
    assert!(latched.iter().any(|note| note.contains("repeats each echo until CWR")), "{latched:?}");
    let stamps = with("transport.timestamps = true");
    let of_hosts = |notes: &[String]| {
        notes.iter().filter(|note| note.contains("hosts have different transports")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(
        of_hosts(&stamps),
        ["default: hosts have different transports: connections between a host with timestamps and a host without \
          timestamps do not use timestamps"]
    );
    assert_eq!(of_hosts(&with("transport.min_rto = \"6ms\"")), [""; 0]);
}

#[test]
fn what_hosts_cannot_differ_in_and_what_is_about_switches_is_refused() {
    for (over, said) in [
        (
            format!("{TWO}transport.mss = \"1000B\""),
            "transport.mss: found 1KB; expected 1460B, as in [transport], because all hosts",
        ),
        (format!("{TWO}transport.ttl = 9"), "transport.ttl: found 9; expected"),
        (
            format!("{TWO}transport.connection = \"handshake\""),
            "transport.connection: found handshake; expected established",
        ),
        (format!("{TWO}transport.kind = \"tcp\""), "kind"),
        (TWO.into(), "transport: found nothing; expected transport = { … }"),
        (
            format!("{TWO}switch.ties = \"port\"\ntransport.nagle = false"),
            "expected no keys for switches in an override for hosts",
        ),
        (
            "where = { hosts = [\"h1\"], tier = \"edge\" }\ntransport.nagle = false".into(),
            "expected no keys for switches in an override for hosts",
        ),
        ("where = { hosts = [\"h9\"] }\ntransport.nagle = false".into(), "found unknown host `h9`"),
        ("where = { hosts = [] }\ntransport.nagle = false".into(), "found no hosts; expected at least one host"),
        (
            "where = { tier = \"edge\" }\ntransport.nagle = false".into(),
            "expected a list of the hosts that get this transport",
        ),
        (format!("{TWO}transport = 3"), "found 3; expected a table"),
    ] {
        let found = refused(&text(&over), &[]);
        assert!(found.contains(said), "{over}: {found}");
    }
}

#[test]
fn what_is_said_of_all_hosts_and_is_not_theirs_is_told() {
    let of = |over: &str, more: &str| {
        let text = star(&format!("[transport]\nkind = \"dctcp\"\nmin_rto = \"5ms\"\n[[override]]\n{over}\n{more}"));
        let all = loaded(&text, &[]).notes.into_iter();
        all.filter(|note| note.contains("another `kind`")).collect::<Vec<_>>()
    };
    let [sack, least] = ["transport.kind = \"sack\"", "transport.min_rto = \"6ms\""].map(|said| format!("{TWO}{said}"));
    let variants = "[variants.a]\n[variants.b]\ntransport = { kind = \"reno\", min_rto = \"7ms\" }\n";
    let said = "b: transport.kind, transport.min_rto do not apply to h1, h2, because [[override]] sets another `kind` \
                for these hosts";
    assert_eq!(of(&sack, variants), [said]);
    assert_eq!((of(&sack, ""), of(&least, variants)), (vec![], vec![]));
    let own = "[variants.b]\ntransport.kind = \"reno\"\noverride = [{ where = { hosts = [\"h1\"] }, transport = { kind = \"sack\" } }]\n";
    assert_eq!(of(&least, own), [""; 0], "the variant says both");
    let all = "where = { hosts = [\"h0\", \"h1\", \"h2\", \"h3\"] }\ntransport.kind = \"sack\"";
    let said = "transport.kind, transport.min_rto have no effect, because every host gets another `kind` by \
                [[override]]";
    assert_eq!(of(all, ""), [format!("default: {said}")]);
    assert_eq!(of(all, "[variants.a]\n"), [format!("a: {said}")]);
}

#[test]
fn settings_and_what_some_hosts_have_of_their_own_are_told_apart() {
    let notes = loaded(&text(&format!("{TWO}transport.kind = \"sack\"")), &["transport.kind=reno"]).notes;
    let said = "default: transport.kind does not apply to h1, h2, because [[override]] sets another `kind` for these \
                hosts";
    assert!(notes.iter().any(|note| note == said), "{notes:?}");
}

#[test]
fn a_transport_that_is_that_of_all_hosts_anyway_and_one_that_nothing_has_are_told() {
    let said = "default: override for h1 and equal hosts: `transport` has no effect, because its values equal those of \
                [transport]";
    let with = |over: &str| loaded(&text(&format!("{TWO}{over}")), &[]).notes;
    assert!(with("transport.min_rto = \"5ms\"").iter().any(|note| note == said));
    assert!(!with("transport.min_rto = \"6ms\"").iter().any(|note| note == said));
    let raw = "kind = \"constant\"\nsource = \"h0\"\ndestination = \"h1\"\nrate = \"1Mbps\"\n";
    let all = star("");
    let all = all[..all.find("[[traffic]]").expect("it has one")].to_string();
    let over = format!("[[traffic]]\nname = \"w\"\n{raw}[[override]]\n{TWO}transport.tlp = false\n");
    let said = "default: override: `transport` has no effect, because all traffic is sent without a transport";
    assert_eq!(loaded(&format!("{all}{over}"), &[]).notes, [said]);
}
