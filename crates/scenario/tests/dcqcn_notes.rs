//! Warnings about receivers that never send notices, and about sources that ignore them.

use crate::common::{loaded, star};

/// Returns the notes of a small scenario whose hosts have DCQCN; its raw sources have these lines.
fn notes(source: &str, switch: &str) -> Vec<String> {
    let host = "[host]\nnic = { kind = \"round_robin\" }\nreaction = { kind = \"dcqcn\" }\n";
    let traffic = format!(
        "[[traffic]]\nname = \"raw\"\nkind = \"constant\"\nsource = \"h1\"\ndestination = \"h0\"\nrate = \"1Gbps\"\n{source}"
    );
    let text = star(&format!("{host}[switch]\nbuffer = {{ kind = \"unlimited\" }}\n{switch}\n{traffic}"));
    let all = loaded(&text, &[]).notes;
    let of_both = |note: &String| note.contains("host.reaction") || note.contains("CNP");
    all.into_iter()
        .filter(of_both)
        .map(|note| note.strip_prefix("default: ").expect("of the one variant").into())
        .collect()
}

const RED: &str = "marking = { kind = \"red\" }";
const ECN: &str = "ecn = true\n";
const NO_MARKS: &str = "host.reaction has no effect: receivers send CNPs only for marked packets, and no packet is \
                        marked. Set switch.marking, and ecn = true for the RoCE transport or the raw source";
const NONE: [&str; 0] = [];

#[test]
fn dcqcn_warns_if_no_packet_may_be_marked() {
    assert_eq!(notes(ECN, RED), NONE);
    assert_eq!(notes(ECN, ""), [NO_MARKS]);
    assert_eq!(notes("", RED), [NO_MARKS]);
    let detour = "overflow = { kind = \"detour\", mark_detoured = true }";
    assert_eq!(notes(ECN, detour), NONE, "it may mark what it detours");
}

#[test]
fn messages_of_switches_that_no_source_listens_to_are_said() {
    let other = "switch.notify has no effect on flows: the reaction \"dcqcn\" uses CNPs of receivers, not congestion \
                 notifications of switches. Remove switch.notify, or set host.reaction = \"qcn\"";
    assert_eq!(notes(ECN, &format!("{RED}\nnotify = {{ kind = \"qcn\" }}")), [other]);
}

#[test]
fn a_run_with_receivers_that_tell_records_messages() {
    let text = |measure: &str| format!("[measure]\nnotices = true\n{measure}");
    let all = |more: &str| loaded(&star(&text(more)), &[]).notes;
    let silent = |notes: Vec<String>| notes.iter().any(|note| note.contains("measure.notices records nothing"));
    assert!(silent(all("")));
    assert!(!silent(all("[host]\nnic = { kind = \"round_robin\" }\nreaction = { kind = \"dcqcn\" }\n")));
}
