//! Mechanisms outside of the catalogue, in slots that a scenario fills.

use crate::common::{source, star};
use mech::ack_hold::AckHoldSlot;
use mech::host::{FlowAtNic, Reaction, ReactionSlot};
use mech::notify::NotifySlot;
use mech::params::{Spec, Values};
use mech::{Agent, CheckContext, Mechanism, Needs, Notice, Registry, Report};
use scenario::{Loaded, Source, load};

/// Agent for tests that follows no queue. It may need a lane for notices, and refuses a buffer without a limit.
#[derive(Clone)]
struct Idle {
    notices: bool,
}

impl Agent for Idle {
    fn needs(&self) -> Needs {
        Needs { sends_notices: self.notices, ..Needs::default() }
    }
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        if beside.memory.is_none() {
            report.add_error("kind", format!("it beside a `{}` buffer", beside.buffer), "a buffer with a limit");
        }
    }
    fn clone_boxed(&self) -> Box<dyn Agent> {
        Box::new(self.clone())
    }
}

struct Deaf;

impl Reaction for Deaf {
    fn on_notice(&mut self, _: &Notice, _: &mut FlowAtNic) {}
    fn clone_boxed(&self) -> Box<dyn Reaction> {
        Box::new(Deaf)
    }
}

const fn spec(slot: &'static str, kind: &'static str) -> Spec {
    Spec { slot, kind, doc: "Mine.", cite: "", params: &[] }
}

const HOLD: Spec = spec("switch.ack_hold", "hold");
const TELL: Spec = spec("switch.notify", "tell");
const DEAF: Spec = spec("host.reaction", "deaf");

fn load_with_own_mechanisms(text: &str) -> Result<Loaded, String> {
    let hold: fn(&Values) -> AckHoldSlot = |_| AckHoldSlot::new(Idle { notices: false });
    let registry = Registry::catalogue()
        .with_mechanism(Mechanism::new(&HOLD, hold))
        .with_mechanism(Mechanism::new(&TELL, |_| NotifySlot::new(Idle { notices: true })))
        .with_mechanism(Mechanism::new(&DEAF, |_| ReactionSlot::new(Deaf)));
    load(&Source { registry, ..source(text) }, &[]).map_err(|all| all.iter().map(|one| format!("{one}\n")).collect())
}

#[test]
fn agents_from_outside_fill_the_ports_that_an_override_names() {
    let tree = star("[[override]]\nwhere = { port = \"host\" }\nswitch.ack_hold = { kind = \"hold\" }\n");
    let loaded =
        load_with_own_mechanisms(&tree.replace("\"star\"\nn = 4", "\"fat_tree\"\nk = 4")).expect("it is right");
    let variant = &loaded.variants[0];
    for (node, switch) in variant.topology.switches().iter().zip(&variant.switches) {
        for (link, port) in node.ports.iter().zip(&switch.ports) {
            let kind = if link.peer < variant.topology.hosts { "hold" } else { "none" };
            assert_eq!(port.ack_hold.kind, kind, "{}", node.name);
            assert_eq!(port.agents().count(), usize::from(kind == "hold"));
        }
    }
    assert_eq!(loaded.resolved["default"]["switches"][0]["ports"]["host"]["ack_hold"]["kind"], "hold");
    assert!(loaded.notes.is_empty() && !variant.sends_notices());
}

#[test]
fn check_of_agents_sees_the_other_mechanisms() {
    let text = star("[switch]\nbuffer = { kind = \"unlimited\" }\nack_hold = { kind = \"hold\" }\n");
    let found =
        "test.toml:14: switch.ack_hold.kind: found it beside a `unlimited` buffer; expected a buffer with a limit\n";
    assert_eq!(load_with_own_mechanisms(&text).expect_err("it is wrong"), found);
}

#[test]
fn agents_stand_in_a_switch_whose_inputs_hold_frames() {
    let text = star("[switch]\nmodel = \"cioq\"\nack_hold = { kind = \"hold\" }\nnotify = { kind = \"tell\" }\n");
    let loaded = load_with_own_mechanisms(&text).expect("it is right");
    let port = &loaded.variants[0].switches[0].ports[0];
    assert_eq!((port.ack_hold.kind.as_str(), port.notify.kind.as_str(), port.agents().count()), ("hold", "tell", 2));
}

#[test]
fn a_reaction_needs_a_nic_with_rate_limiters() {
    let found = "test.toml:13: host.reaction.kind: found \"deaf\" with nic = \"fifo\"; expected \"none\", or nic = \
                 \"round_robin\", which has a rate limiter for each flow\n";
    assert_eq!(
        load_with_own_mechanisms(&star("[host]\nreaction = { kind = \"deaf\" }\n")).expect_err("it is wrong"),
        found
    );
}

#[test]
fn messages_that_change_nothing_and_reactions_that_get_none_are_noted() {
    let host = |reaction: &str| {
        format!("[host]\nnic = {{ kind = \"round_robin\" }}\nreaction = {{ kind = \"{reaction}\" }}\n")
    };
    let notes = |more: &str| load_with_own_mechanisms(&star(more)).expect("it is right").notes;
    let tell = "[switch]\nnotify = { kind = \"tell\" }\n";
    assert_eq!(notes(&format!("{}{tell}", host("deaf"))), [""; 0]);
    let none = "default: host.reaction has no effect with switch.notify = \"none\": switches send no congestion \
                notifications. Set switch.notify = \"qcn\", or remove host.reaction";
    assert_eq!(notes(&host("deaf")), [none]);
    let unheard = "default: switch.notify has no effect on flows with host.reaction = \"none\": sources ignore \
                   congestion notifications and keep their rates. Set host.reaction = \"qcn\", or remove switch.notify";
    assert_eq!(notes(tell), [unheard]);
}
