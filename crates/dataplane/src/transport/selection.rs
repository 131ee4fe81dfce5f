//! Which transport each host has for a flow, and what two hosts agree on.
//!
//! A sender goes by the transport of its host, a receiver by that of its own, as far as both ends have what it
//! needs: selective acknowledgments (RFC 2018 §2), PACK (CP §4.3), timestamps (RFC 7323 §1.3) and ECN (RFC 3168 §6.1.1)
//! are used where both have them, and windows are read by the scale of who advertises them. What DCTCP's echo is, nobody negotiates
//! (RFC 8257 §3): a receiver echoes marks in its own way. A SYN offers what both ends have.
//!
//! Workloads may have transports of their own. Of flows with the same one all hosts have theirs by one row.

use super::TcpConfig;
use super::config::{EcnMode, RackChoices, Recovery};
use mech::HostId;
use std::collections::BTreeSet;
use units::Dur;

/// The transports of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Stacks {
    /// That of all hosts and flows, where they have one; else that of most.
    base: TcpConfig,
    /// Of each pair of transports, what an end with the first does toward one with the second; empty where all hosts
    /// have one.
    pairs: Vec<TcpConfig>,
    kinds: usize,
    /// See [`super::FlowInfo::row`].
    rows: Vec<Row>,
    /// By workload, its row; empty where all have the first.
    of_traffic: Vec<u8>,
    /// By row in use, the numbers in it; rows in use are those of workloads with flows.
    in_use: Vec<BTreeSet<u8>>,
}

/// By host, the number of its transport for some flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// That of all hosts, where they have one.
    pub of_all: u8,
    /// By host; empty where all have one.
    pub of_host: Vec<u8>,
}

impl Row {
    /// Of a host.
    fn at_host(&self, host: HostId) -> usize {
        usize::from(self.of_host.get(host.0 as usize).copied().unwrap_or(self.of_all))
    }
    /// Whether any host has this one.
    pub fn has(&self, number: u8) -> bool {
        self.numbers().contains(&number)
    }
    /// The numbers in it.
    fn numbers(&self) -> BTreeSet<u8> {
        if self.of_host.is_empty() { BTreeSet::from([self.of_all]) } else { self.of_host.iter().copied().collect() }
    }
}

/// The two ends of a flow, as one of them sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// [`super::FlowInfo::row`].
    pub row: u8,
    /// The host of this end.
    pub own: HostId,
    /// That of the other.
    pub peer: HostId,
}

impl Stacks {
    /// The same transport at every host.
    pub fn of_all(tcp: TcpConfig) -> Stacks {
        Stacks { base: tcp, pairs: Vec::new(), kinds: 1, rows: Vec::new(), of_traffic: Vec::new(), in_use: Vec::new() }
    }

    /// By row and host, its number in `all`; by workload, its row, and whether it has flows. PRECONDITION: there is one
    /// transport and one row at least; in a row all have the same `mss`, `ttl` and way to connect, and all are RoCE or none.
    pub fn by_row(all: &[TcpConfig], rows: Vec<Row>, of_traffic: Vec<(u8, bool)>) -> Stacks {
        let pairs = all.iter().flat_map(|own| all.iter().map(|peer| own.toward(peer)));
        let flows = || of_traffic.iter().filter(|(_, has_flows)| *has_flows).map(|(row, _)| *row);
        let used: BTreeSet<u8> = if flows().count() > 0 { flows().collect() } else { BTreeSet::from([0]) };
        Stacks {
            base: all[0].clone(),
            pairs: pairs.collect(),
            kinds: all.len(),
            in_use: used.iter().map(|row| rows[usize::from(*row)].numbers()).collect(),
            rows,
            of_traffic: of_traffic.into_iter().map(|(row, _)| row).collect(),
        }
    }

    /// The same with what is drawn from this seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Stacks {
        let pairs = self.pairs.into_iter().map(|tcp| tcp.with_seed(seed)).collect();
        Stacks { base: self.base.with_seed(seed), pairs, ..self }
    }

    /// That of `[transport]`: what packets without one go by, and what is the same for all.
    #[inline]
    pub fn base(&self) -> &TcpConfig {
        &self.base
    }

    /// The row of the flows of a workload.
    #[inline]
    pub fn row_of(&self, traffic: u16) -> u8 {
        self.of_traffic.get(usize::from(traffic)).copied().unwrap_or(0)
    }

    /// What goes at one end of a flow.
    #[inline]
    pub fn at(&self, ends: impl FnOnce() -> Ends) -> &TcpConfig {
        if self.pairs.is_empty() { &self.base } else { self.between(ends()) }
    }

    #[inline(never)]
    fn between(&self, Ends { row, own, peer }: Ends) -> &TcpConfig {
        let row = &self.rows[usize::from(row)];
        &self.pairs[row.at_host(own) * self.kinds + row.at_host(peer)]
    }

    /// What flows go by at either end, of all pairs of hosts that may have one.
    fn used(&self) -> impl Iterator<Item = &TcpConfig> {
        let pairs = self.in_use.iter().flat_map(move |numbers| self.among(numbers));
        self.pairs.is_empty().then_some(&self.base).into_iter().chain(pairs)
    }

    fn among(&self, numbers: &BTreeSet<u8>) -> impl Iterator<Item = &TcpConfig> + use<'_> {
        let numbers: Vec<usize> = numbers.iter().map(|number| usize::from(*number)).collect();
        let pairs =
            numbers.clone().into_iter().flat_map(move |own| numbers.clone().into_iter().map(move |peer| (own, peer)));
        pairs.map(|(own, peer)| &self.pairs[own * self.kinds + peer])
    }

    /// The most that any host's has of something.
    pub fn most<T: Ord>(&self, of: impl Fn(&TcpConfig) -> T) -> T {
        let first = of(self.used().next().unwrap_or(&self.base));
        self.used().map(of).fold(first, T::max)
    }

    /// What the flows of a workload go by at either end, of all pairs of hosts.
    pub fn of_workload(&self, traffic: u16) -> impl Iterator<Item = &TcpConfig> {
        let numbers = self.rows.get(usize::from(self.row_of(traffic))).map(Row::numbers).unwrap_or_default();
        self.pairs.is_empty().then_some(&self.base).into_iter().chain(self.among(&numbers))
    }

    /// Smallest sample that senders take from an earlier handshake, with the `handshake_rtt` that gives it.
    pub fn least_sample(&self) -> Option<(Dur, Dur)> {
        let open = self.used().filter(|tcp| !tcp.handshake);
        open.map(|tcp| (tcp.first_sample(), tcp.handshake_rtt)).filter(|(sample, _)| *sample > Dur::ZERO).min()
    }

    /// What a user should know of transports that meet.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for note in self.in_use.iter().flat_map(|numbers| self.notes_among(numbers)) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }

    fn notes_among(&self, numbers: &BTreeSet<u8>) -> Vec<String> {
        let own = |number: &u8| &self.pairs[usize::from(*number) * (self.kinds + 1)];
        let has = |holds: fn(&TcpConfig) -> bool| numbers.iter().any(|number| holds(own(number)));
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

    /// Whether it holds of the transport of any host for any flow.
    pub fn any(&self, holds: impl Fn(&TcpConfig) -> bool) -> bool {
        self.used().any(holds)
    }
}

impl TcpConfig {
    /// First sample of a connection that is open before its flow; 0 for none. Linux 2.6.38 counts it in ticks, one at least.
    fn first_sample(&self) -> Dur {
        match (self.follows_linux_2_6_38(), self.timestamps) {
            (false, _) => self.handshake_rtt,
            (true, false) => Dur::ZERO,
            (true, true) => Dur((self.handshake_rtt.0 / self.tick.0).max(1).saturating_mul(self.tick.0)),
        }
    }
    /// The same at an end whose other end has this transport.
    pub(super) fn toward(&self, peer: &TcpConfig) -> TcpConfig {
        let has_sack = self.recovery.has_sack() && peer.recovery.has_sack();
        let recovery = match self.recovery {
            own if has_sack || !own.has_sack() => own,
            // Partial ACKs are all that is left to go by (RFC 6582).
            _ => Recovery::NewReno,
        };
        let by_segment = self.kernel.keeps_segments(recovery);
        TcpConfig {
            recovery,
            rack: if by_segment { self.rack.with(recovery) } else { RackChoices::default() },
            pacing: self.pacing.only_if(by_segment),
            ecn: if peer.ecn == EcnMode::Off { EcnMode::Off } else { self.ecn },
            ack_ecn: if peer.ecn == EcnMode::Off { 0 } else { self.ack_ecn },
            timestamps: self.timestamps && peer.timestamps,
            options: if self.timestamps && !peer.timestamps { 0 } else { self.options },
            pack: self.pack.filter(|_| has_sack && peer.pack.is_some()),
            sack_opens_window: self.sack_opens_window && has_sack,
            timeout_halves_pipe: self.timeout_halves_pipe && has_sack,
            peer_window: peer.receive_window,
            peer_shift: peer.window_shift,
            ..self.clone()
        }
    }
}
