//! Which transport each host has, and what two hosts agree on.
//!
//! A sender goes by the transport of its host, a receiver by that of its own, as far as both ends have what it
//! needs: selective acknowledgments (RFC 2018 §2), PACK (CP §4.3), timestamps (RFC 7323 §1.3) and ECN (RFC 3168 §6.1.1)
//! are used where both have them, and windows are read by the scale of who advertises them. What DCTCP's echo is, nobody negotiates
//! (RFC 8257 §3): a receiver echoes marks in its own way. A SYN offers what both ends have.

use super::TcpConfig;
use super::config::{EcnMode, RackChoices, Recovery};
use mech::HostId;
use units::Dur;

/// The transports of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Stacks {
    /// That of all hosts, where they have one; else that of most.
    base: TcpConfig,
    /// Of each pair of transports, what an end with the first does toward one with the second; empty where all hosts
    /// have one.
    pairs: Vec<TcpConfig>,
    kinds: usize,
    /// By host, the number of its transport.
    of_host: Vec<u8>,
}

impl Stacks {
    /// The same transport at every host.
    pub fn of_all(tcp: TcpConfig) -> Stacks {
        Stacks { base: tcp, pairs: Vec::new(), kinds: 1, of_host: Vec::new() }
    }

    /// By host, its number in `all`. PRECONDITION: there is one at least, and all have the same `mss`, `ttl` and way to
    /// connect.
    pub fn by_host(all: &[TcpConfig], of_host: Vec<u8>) -> Stacks {
        let pairs = all.iter().flat_map(|own| all.iter().map(|peer| own.toward(peer)));
        Stacks { base: all[0].clone(), pairs: pairs.collect(), kinds: all.len(), of_host }
    }

    /// The same with what is drawn from this seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Stacks {
        let pairs = self.pairs.into_iter().map(|tcp| tcp.with_seed(seed)).collect();
        Stacks { base: self.base.with_seed(seed), pairs, ..self }
    }

    /// What all hosts have in common: sizes of segments, the time to live, how connections open.
    #[inline]
    pub fn base(&self) -> &TcpConfig {
        &self.base
    }

    /// What goes at one end of a flow: `ends` are its host and that of the other end.
    #[inline]
    pub fn at(&self, ends: impl FnOnce() -> (HostId, HostId)) -> &TcpConfig {
        if self.pairs.is_empty() { &self.base } else { self.between(ends()) }
    }

    #[inline(never)]
    fn between(&self, (own, peer): (HostId, HostId)) -> &TcpConfig {
        let [own, peer] = [own, peer].map(|host| usize::from(self.of_host[host.0 as usize]));
        &self.pairs[own * self.kinds + peer]
    }

    /// The most that any host's has of something.
    pub fn most<T: Ord>(&self, of: impl Fn(&TcpConfig) -> T) -> T {
        self.pairs.iter().map(&of).fold(of(&self.base), T::max)
    }

    /// The least round-trip time that any host is told an earlier handshake has measured.
    pub fn least_sample(&self) -> Option<Dur> {
        let all = std::iter::once(&self.base).chain(&self.pairs);
        all.map(|tcp| tcp.handshake_rtt).filter(|rtt| *rtt > Dur::ZERO && !self.base.handshake).min()
    }

    /// What a user should know of transports that meet.
    pub fn notes(&self) -> Vec<String> {
        let own = |number: usize| &self.pairs[number * self.kinds + number];
        let kinds = if self.pairs.is_empty() { 0 } else { self.kinds };
        let has = |holds: fn(&TcpConfig) -> bool| (0..kinds).any(|number| holds(own(number)));
        let mut notes = Vec::new();
        if has(|tcp| tcp.recovery.has_sack()) && has(|tcp| !tcp.recovery.has_sack()) {
            notes.push("transports of hosts: between one with SACK and one without none is used, and losses are mended as NewReno does".into());
        }
        if has(|tcp| tcp.ecn == EcnMode::Off) && has(|tcp| tcp.ecn != EcnMode::Off) {
            notes.push("transports of hosts: between one with ECN and one without no packet can be marked".into());
        }
        if has(|tcp| tcp.ecn == EcnMode::Exact) && has(|tcp| tcp.ecn == EcnMode::Latched) {
            notes.push(
                "transports of hosts: a DCTCP sender hears of a mark until CWR where its receiver echoes as RFC 3168 has \
                 it, and takes that for more marks; other senders halve once for DCTCP's echoes"
                    .into(),
            );
        }
        if has(TcpConfig::takes_packs) && has(|tcp| !tcp.takes_packs()) {
            notes.push(
                "transports of hosts: data between one with pack and one without says that it must not be cut, and is dropped where it \
                 would be (CP §4.1)"
                    .into(),
            );
        }
        if has(|tcp| tcp.timestamps) && has(|tcp| !tcp.timestamps) {
            notes.push("transports of hosts: between one with timestamps and one without none are sent".into());
        }
        notes
    }

    /// Whether it holds of the transport of any host.
    pub fn any(&self, holds: impl Fn(&TcpConfig) -> bool) -> bool {
        holds(&self.base) || self.pairs.iter().any(holds)
    }
}

impl TcpConfig {
    /// The same at an end whose other end has this transport.
    fn toward(&self, peer: &TcpConfig) -> TcpConfig {
        let has_sack = self.recovery.has_sack() && peer.recovery.has_sack();
        let recovery = match self.recovery {
            own if has_sack || !own.has_sack() => own,
            // Partial ACKs are all that is left to go by (RFC 6582).
            _ => Recovery::NewReno,
        };
        TcpConfig {
            recovery,
            rack: if recovery == Recovery::Rack { self.rack } else { RackChoices::default() },
            pacing: self.pacing.only_if(recovery == Recovery::Rack),
            ecn: if peer.ecn == EcnMode::Off { EcnMode::Off } else { self.ecn },
            timestamps: self.timestamps && peer.timestamps,
            pack: self.pack.filter(|_| has_sack && peer.pack.is_some()),
            sack_opens_window: self.sack_opens_window && has_sack,
            peer_window: peer.receive_window,
            peer_shift: peer.window_shift,
            ..self.clone()
        }
    }
}
