//! Drop from the front: a full queue loses its oldest packet, and the arrival is stored. The sender detects the loss a
//! queue's length earlier than with tail drop (Lakshman et al., "The Drop from Front Strategy in TCP and in TCP over
//! ATM", INFOCOM 1996).

use mech::overflow::{DropReason, Fate, Overflow, OverflowSlot};
use mech::params::Spec;
use mech::{AdmitCalls, Env, ForwardingContext, Head, Mechanism, Needs, QueueId, Registry};
use pyo3::prelude::*;

/// Overflow mechanism that drops from the front.
#[derive(Clone, Debug)]
pub struct DropFront;

/// Declaration of the mechanism, which scenarios, `explain` and the schema use.
pub const SPEC: Spec = Spec {
    slot: "switch.overflow",
    kind: "drop_front",
    doc: "A full queue loses its oldest packet, and the one that arrives is stored.",
    cite: "Lakshman et al. 1996",
    params: &[],
};

/// Entry of the mechanism for a registry; NICs may use it too.
pub const MINE: Mechanism<OverflowSlot> = Mechanism::new(&SPEC, |_| OverflowSlot::custom(DropFront)).allowed_at_nic();

impl Overflow for DropFront {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, _env: &mut Env) -> Fate {
        let queue = QueueId::normal(pkt.class());
        if at.fits(at.output, queue, pkt.size) {
            return Fate::Enqueue(queue);
        }
        match at.view.first_packet(at.output, queue) {
            Some((oldest, _)) => Fate::Evict(oldest),
            None => Fate::Drop(DropReason::BufferFull),
        }
    }
    fn admit_calls(&self) -> AdmitCalls {
        AdmitCalls::WhenFull
    }
    fn needs(&self) -> Needs {
        Needs { removes_packets: true, ..Needs::default() }
    }
    fn clone_boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

/// Core of Overspill with one additional mechanism.
#[pymodule]
fn own_answer(module: &Bound<'_, PyModule>) -> PyResult<()> {
    overspill::core(module, Registry::catalogue().with_mechanism(MINE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::{Source, load};
    use sim::{Column, Options, Recorder, Results, build};
    use std::path::Path;

    fn run(variant: &str) -> Results {
        let source = Source::new("scenario.toml", include_str!("../scenario.toml"), Path::new(""));
        let loaded = load(&source.with_registry(Registry::catalogue().with_mechanism(MINE)), &[])
            .expect("the scenario is right");
        let scenario = loaded.variants.into_iter().find(|v| v.variant == variant).expect("it is there");
        let mut world =
            build(&scenario, 1, Options::default(), Recorder::from_scenario(&scenario)).expect("it is built");
        world.run();
        world.results(&scenario)
    }
    fn lost(results: &Results, reason: &str) -> u64 {
        let column = results.table("ports").and_then(|t| t.columns.iter().find(|(name, _)| *name == reason));
        if let Some((_, Column::U64(counts))) = column { counts.iter().sum() } else { panic!("no {reason}") }
    }

    #[test]
    fn the_oldest_packet_is_lost_and_none_that_arrives() {
        let (tail, front) = (run("tail_drop"), run("drop_front"));
        assert!(lost(&tail, "drop_buffer_full") > 0 && lost(&tail, "drop_evicted") == 0);
        assert!(lost(&front, "drop_evicted") > 0 && lost(&front, "drop_buffer_full") == 0);
        assert!(front.conserved);
    }
}
