//! Learning table of bridges (IEEE 802.1Q §8.7): the source of a frame is behind the port that the frame came in by. A
//! frame for an unknown address is flooded to every other port.
//!
//! PABO: bounced frames teach nothing, because they come in from the side of their destination (§II-D, III). Detoured
//! frames teach nothing either, because they too have left the path from their source. Preset addresses are static
//! entries: the routes give their ports, learning does not replace them, and they do not age.

use super::{AddressTable, KnownAddresses, LookupDecision};
use crate::params::{ParamKind, Spec, Values, WordOr};
use crate::{Head, HostId, PortId, SwitchContext, choice, params};
use std::collections::BTreeMap;
use units::{Dur, Time};

choice! {
    /// Choice of the addresses known from the start if hosts are not listed: none, or all.
    pub(crate) enum PresetChoice {
        None = "none",
        All = "all",
    }
}

params! {
    /// Parameter values of `learning`.
    pub(crate) struct Params {
        preset: WordOr<PresetChoice> = {
            doc: "Addresses known from the start, by the routes and without ageing: none, all, or those of listed \
                  hosts.",
            kind: ParamKind::TextsOr(PresetChoice::WORDS),
            default: Some("none"),
        },
        ageing: Dur = {
            doc: "Ageing time: an entry that no frame confirms for this time is removed (IEEE 802.1Q §8.8.3: 300 s).",
            kind: ParamKind::Time { min: 1 },
            default: Some("300s"),
        },
    }
}

/// Name of the parameter that sets the addresses known from the start.
const PRESET: &str = Params::PARAMS[0].name;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.fib",
    kind: "learning",
    doc: "Learns the port of each source from forwarded frames, and floods frames for unknown addresses.",
    cite: "IEEE 802.1Q §8.7, §8.8; PABO §II-D, III",
    params: Params::PARAMS,
};

/// Hosts whose addresses are known from the start: none, all, or listed hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PresetHosts {
    None,
    All,
    /// Names of the listed hosts, and the sorted identifiers of those that exist.
    Hosts {
        names: Vec<String>,
        found: Vec<HostId>,
    },
}

/// Learning address table of one switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Learning {
    preset: PresetHosts,
    ageing: Dur,
    /// Learnt addresses: for each, the port of the last frame from which it was learnt, and the time of that frame.
    known: BTreeMap<HostId, (PortId, Time)>,
}

impl Learning {
    /// Creates the learning table from validated parameters; names of hosts are resolved later.
    pub fn new(values: &Values) -> Learning {
        let Params { preset, ageing } = Params::read(values);
        let preset = match preset {
            WordOr::Word(PresetChoice::None) => PresetHosts::None,
            WordOr::Word(PresetChoice::All) => PresetHosts::All,
            WordOr::List(names) => PresetHosts::Hosts { names, found: Vec::new() },
        };
        Learning { preset, ageing, known: BTreeMap::new() }
    }
}

impl AddressTable for Learning {
    fn for_switch(&mut self, own: &SwitchContext) {
        if let PresetHosts::Hosts { names, found } = &mut self.preset {
            *found = names.iter().filter_map(|name| (own.host)(name)).collect();
            found.sort_unstable();
        }
    }
    fn known_addresses(&self) -> KnownAddresses<'_> {
        match &self.preset {
            PresetHosts::None => KnownAddresses::None,
            PresetHosts::All => KnownAddresses::All,
            PresetHosts::Hosts { names, .. } => KnownAddresses::Hosts(PRESET, names),
        }
    }
    fn is_preset(&self, host: HostId) -> bool {
        match &self.preset {
            PresetHosts::None => false,
            PresetHosts::All => true,
            PresetHosts::Hosts { found, .. } => found.binary_search(&host).is_ok(),
        }
    }
    fn learned_port(&self, host: HostId, now: Time) -> Option<PortId> {
        let (port, seen) = self.known.get(&host)?;
        (now.since(*seen) < self.ageing).then_some(*port)
    }
    /// Stores the ingress port of a frame as the port of its source, in place of an earlier one.
    /// Bounced and detoured frames are ignored, and sources that are known from the start.
    fn learn(&mut self, pkt: &Head, now: Time) {
        if pkt.bounces == 0 && pkt.detours == 0 && !self.is_preset(pkt.src) {
            self.known.insert(pkt.src, (pkt.ingress, now));
        }
    }
    /// Forwards, floods or discards a frame, given the ports toward its destination (`out`) and its source (`back`).
    /// A frame may leave by its ingress port only if it was bounced or detoured. If the destination of such a frame is
    /// unknown, the frame goes back to the switch that sent it here, which has the address. A bounced frame that comes
    /// in from its source's side again is flooded.
    fn decide(&self, pkt: &Head, (out, back): (Option<PortId>, Option<PortId>)) -> LookupDecision {
        let turned = pkt.bounces > 0 || pkt.detours > 0;
        match out {
            Some(port) if port == pkt.ingress && !turned => LookupDecision::Filter,
            Some(port) => LookupDecision::Forward(port),
            None if pkt.detours > 0 || (pkt.bounces > 0 && back != Some(pkt.ingress)) => {
                LookupDecision::Forward(pkt.ingress)
            }
            None => LookupDecision::Flood,
        }
    }
    fn clone_boxed(&self) -> Box<dyn AddressTable> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{parse_head, values};

    const T0: Time = Time::ZERO;

    fn learning(given: &str) -> Learning {
        let number = |name: &str| name.strip_prefix('h')?.parse().ok().map(HostId);
        let mut learning = Learning::new(&values(&SPEC, given));
        learning.for_switch(&SwitchContext { host: &number, ..SwitchContext::without_network(0, 4) });
        learning
    }

    #[test]
    fn source_is_learnt_at_the_ingress_port_of_its_last_frame() {
        let mut fib = learning("");
        assert_eq!(fib.learned_port(HostId(4), T0), None);
        fib.learn(&parse_head("src=4 in=2"), T0);
        assert_eq!(fib.learned_port(HostId(4), T0), Some(PortId(2)));
        assert_eq!(fib.learned_port(HostId(5), T0), None);
        fib.learn(&parse_head("src=4 in=3"), T0 + Dur::us(1));
        assert_eq!(fib.learned_port(HostId(4), T0 + Dur::us(1)), Some(PortId(3)), "it has moved");
    }

    #[test]
    fn nothing_is_learnt_from_frames_that_were_bounced_or_detoured() {
        let mut fib = learning("");
        fib.learn(&parse_head("src=4 in=2"), T0);
        fib.learn(&parse_head("src=4 in=3 np=1"), T0 + Dur::us(1));
        fib.learn(&Head { detours: 1, ..parse_head("src=4 in=3") }, T0 + Dur::us(1));
        fib.learn(&parse_head("src=5 in=3 np=9"), T0);
        assert_eq!((fib.learned_port(HostId(4), T0), fib.learned_port(HostId(5), T0)), (Some(PortId(2)), None));
    }

    #[test]
    fn entry_ages_out_without_a_frame_for_the_ageing_time() {
        let mut fib = learning("ageing=10us");
        fib.learn(&parse_head("src=4 in=2"), T0);
        assert_eq!(fib.learned_port(HostId(4), T0 + (Dur::us(10) - Dur(1))), Some(PortId(2)));
        assert_eq!(fib.learned_port(HostId(4), T0 + Dur::us(10)), None);
        fib.learn(&parse_head("src=4 in=2"), T0 + Dur::us(9));
        assert_eq!(fib.learned_port(HostId(4), T0 + Dur::us(18)), Some(PortId(2)), "a frame renews it");
        assert_eq!(fib.learned_port(HostId(4), T0 + Dur::us(19)), None);
    }

    #[test]
    fn preset_addresses_are_never_replaced_by_learnt_ones() {
        let mut fib = learning("preset=h7,h4");
        assert_eq!([3, 4, 7].map(|host| fib.is_preset(HostId(host))), [false, true, true]);
        fib.learn(&parse_head("src=4 in=2"), T0);
        assert_eq!(fib.learned_port(HostId(4), T0), None);
        assert!(learning("preset=all").is_preset(HostId(99)) && !learning("preset=none").is_preset(HostId(0)));
    }

    #[test]
    fn unknown_is_flooded_and_a_frame_for_its_ingress_filtered() {
        let fib = learning("");
        let (at, other) = (Some(PortId(1)), Some(PortId(2)));
        assert_eq!(fib.decide(&parse_head("in=1"), (None, None)), LookupDecision::Flood);
        assert_eq!(fib.decide(&parse_head("in=1"), (other, at)), LookupDecision::Forward(PortId(2)));
        assert_eq!(fib.decide(&parse_head("in=1"), (at, None)), LookupDecision::Filter);
        assert_eq!(
            fib.decide(&parse_head("in=1 np=1"), (at, other)),
            LookupDecision::Forward(PortId(1)),
            "it was bounced from there"
        );
    }

    #[test]
    fn bounced_frame_for_an_aged_out_host_goes_back_by_ingress() {
        let fib = learning("");
        let (at, other) = (Some(PortId(1)), Some(PortId(2)));
        assert_eq!(fib.decide(&parse_head("in=1 np=1"), (None, other)), LookupDecision::Forward(PortId(1)));
        assert_eq!(fib.decide(&parse_head("in=1 np=1"), (None, None)), LookupDecision::Forward(PortId(1)));
        assert_eq!(
            fib.decide(&parse_head("in=1 np=1"), (None, at)),
            LookupDecision::Flood,
            "it comes from its source again"
        );
        assert_eq!(
            fib.decide(&Head { detours: 1, ..parse_head("in=1") }, (None, at)),
            LookupDecision::Forward(PortId(1))
        );
    }
}
