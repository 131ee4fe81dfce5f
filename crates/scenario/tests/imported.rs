//! Networks and flows of other simulators in a scenario.

use crate::common::shown;
use mech::Registry;
use scenario::{Loaded, Source, load};

const SCENARIO: &str = "name = \"imported\"\nduration = \"1ms\"\n[topology]\nkind = \"hpcc\"\nfile = \"net\"\n[[traffic]]\n\
                        name = \"f\"\nkind = \"permutation\"\nsize = \"10MB\"\n";
const NET: &str = "3 1 2\n2\n0 2 100Gbps 0.001ms 0.001\n1 2 100Gbps 0.001ms 0\n";

fn imported(more: &str) -> Result<Loaded, String> {
    let files = Box::new(|_: &str| Ok(Box::new(NET.as_bytes()) as Box<dyn std::io::BufRead>));
    let text = format!("{SCENARIO}{more}");
    let source = Source { path: "test.toml".into(), text, files, registry: Registry::catalogue() };
    load(&source, &[]).map_err(|found| shown(&found))
}

#[test]
fn an_hpcc_error_rate_corrupts_both_ways_from_the_start() {
    let loaded = imported("").expect("a scenario");
    let events = &loaded.variants[0].events;
    let said: Vec<_> = events.iter().map(|event| format!("{} {} {}", event.at, event.target, event.change)).collect();
    assert_eq!(said, ["0ps 0:2 corruption 0.001"]);
    assert_eq!(events[0].link_change().map_or(0, |(_, senders)| senders.len()), 2, "both directions");
    let shown = &loaded.resolved["default"]["event"][0];
    assert_eq!((&shown["kind"], &shown["link"]), (&"corruption".into(), &"0:2".into()));
    assert_eq!(shown["probability"], 0.001);
}

#[test]
fn an_event_that_contradicts_an_error_rate_is_refused() {
    let event =
        |at: &str| format!("[[event]]\nkind = \"corruption\"\nat = \"{at}\"\nlink = \"0\"\nprobability = 0.5\n");
    let found = imported(&event("0ps")).expect_err("two rates at one instant");
    assert!(found.contains("a second event of this kind for the link at this instant"), "{found}");
    assert_eq!(imported(&event("1us")).expect("a change later").variants[0].events.len(), 2);
}

#[test]
fn defaults_beside_an_imported_network_are_noted() {
    let said = |more: &str| imported(more).expect("a scenario").notes.join("\n");
    let note = "the imported files have no settings of switches and transports. Overspill uses its own defaults";
    let all = said("");
    let how = "of the original simulator, or set `topology.config` to the configuration file of that simulator";
    assert!(all.contains(how), "{all}");
    assert!(all.contains(note) && all.contains("`transport.kind = linux`") && all.contains("100pkt"), "{all}");
    let some = said("[transport]\nkind = \"newreno\"\n");
    assert!(some.contains(note) && !some.contains("transport.kind"), "{some}");
    let none = said(
        "[transport]\nkind = \"newreno\"\n[switch]\nbuffer = { kind = \"per_port\", size = \"1MB\" }\nmarking = { kind = \"none\" }\n",
    );
    assert!(!none.contains(note), "{none}");
}
