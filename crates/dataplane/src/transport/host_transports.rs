//! Table of the transport of each host for each workload, and of the features that two hosts agree on.
//!
//! A sender follows the transport of its host, a receiver that of its own. SACK (RFC 2018 §2), PACK (CP §4.3),
//! timestamps (RFC 7323 §1.3) and ECN (RFC 3168 §6.1.1) are used only if both ends have them. A window is read by the
//! scale of the end that advertises it.
//! DCTCP's echo is not negotiated (RFC 8257 §3): a receiver echoes marks in its own way. A SYN offers what both ends
//! have.
//!
//! Workloads may have transports of their own. A row gives all hosts their transports for the flows of one workload.

use super::TcpConfig;
use super::config::{EcnMode, RackChoices, Recovery};
use mech::HostId;
use std::collections::BTreeSet;
use units::Dur;

/// Transports of all hosts and workloads of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TransportTable {
    /// Transport of all hosts and flows if there is only one; otherwise the one of `[transport]`.
    base: TcpConfig,
    /// Configuration for each ordered pair of transports: for an end with the first if its peer has the second.
    /// Empty if all hosts have the same transport.
    pairs: Vec<TcpConfig>,
    kinds: usize,
    /// Assignments of transports to hosts, indexed by [`super::FlowInfo::row`].
    rows: Vec<TransportRow>,
    /// Index into `rows` for each workload; empty if all workloads use the first row.
    of_traffic: Vec<u8>,
    /// Numbers of the transports in each row of `rows` that a workload with flows uses.
    in_use: Vec<BTreeSet<u8>>,
}

/// Assignment of transports, by number, to all hosts for the flows of some workloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportRow {
    /// Number of the transport of all hosts that are not in `host_numbers`.
    pub default_number: u8,
    /// Number of each host's transport; empty if all hosts have the same one.
    pub host_numbers: Vec<u8>,
}

impl TransportRow {
    /// Returns the number of a host's transport.
    fn number_at(&self, host: HostId) -> usize {
        usize::from(self.host_numbers.get(host.0 as usize).copied().unwrap_or(self.default_number))
    }
    /// Returns true if any host has the transport with this number in this assignment.
    pub fn uses_transport(&self, number: u8) -> bool {
        self.numbers().contains(&number)
    }
    /// Returns the numbers of all transports in this assignment.
    fn numbers(&self) -> BTreeSet<u8> {
        if self.host_numbers.is_empty() {
            BTreeSet::from([self.default_number])
        } else {
            self.host_numbers.iter().copied().collect()
        }
    }
}

/// Both ends of a flow, as seen from one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndPair {
    /// Index of the flow's assignment of transports to hosts ([`super::FlowInfo::row`]).
    pub row: u8,
    /// Host of this end.
    pub own: HostId,
    /// Host of the other end.
    pub peer: HostId,
}

impl TransportTable {
    /// Creates a transport table with the same transport at every host.
    pub fn uniform(tcp: TcpConfig) -> TransportTable {
        TransportTable {
            base: tcp,
            pairs: Vec::new(),
            kinds: 1,
            rows: Vec::new(),
            of_traffic: Vec::new(),
            in_use: Vec::new(),
        }
    }

    /// Creates a transport table from rows of transport numbers, which are indices into `all`.
    /// `of_traffic` has the row of each workload, and true if that workload has flows.
    /// PRECONDITION: there is at least one transport and one row. The transports of a row have the same `mss`, `ttl`
    /// and connection, and all or none of them are RoCE.
    pub fn from_rows(all: &[TcpConfig], rows: Vec<TransportRow>, of_traffic: Vec<(u8, bool)>) -> TransportTable {
        let pairs = all.iter().flat_map(|own| all.iter().map(|peer| own.with_peer(peer)));
        let flows = || of_traffic.iter().filter(|(_, has_flows)| *has_flows).map(|(row, _)| *row);
        let used: BTreeSet<u8> = if flows().count() > 0 { flows().collect() } else { BTreeSet::from([0]) };
        TransportTable {
            base: all[0].clone(),
            pairs: pairs.collect(),
            kinds: all.len(),
            in_use: used.iter().map(|row| rows[usize::from(*row)].numbers()).collect(),
            rows,
            of_traffic: of_traffic.into_iter().map(|(row, _)| row).collect(),
        }
    }

    /// Returns this transport table with configurations for a run with this seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> TransportTable {
        let pairs = self.pairs.into_iter().map(|tcp| tcp.with_seed(seed)).collect();
        TransportTable { base: self.base.with_seed(seed), pairs, ..self }
    }

    /// Returns the transport of the scenario's `[transport]` section, which also applies to raw packets.
    #[inline]
    pub fn default_config(&self) -> &TcpConfig {
        &self.base
    }

    /// Returns the transport table row for the flows of a workload.
    #[inline]
    pub fn row_of(&self, traffic: u16) -> u8 {
        self.of_traffic.get(usize::from(traffic)).copied().unwrap_or(0)
    }

    /// Returns the transport configuration of one end of a flow.
    #[inline]
    pub fn config_at(&self, ends: impl FnOnce() -> EndPair) -> &TcpConfig {
        // If all hosts have the same transport, one comparison suffices, and the cost of looking up the ends is saved.
        if self.pairs.is_empty() { &self.base } else { self.config_between(ends()) }
    }

    #[inline(never)]
    fn config_between(&self, EndPair { row, own, peer }: EndPair) -> &TcpConfig {
        let row = &self.rows[usize::from(row)];
        &self.pairs[row.number_at(own) * self.kinds + row.number_at(peer)]
    }

    /// Transport configurations of all pairs of hosts that may have flows, from either end.
    fn used_configs(&self) -> impl Iterator<Item = &TcpConfig> {
        let pairs = self.in_use.iter().flat_map(move |numbers| self.configs_among(numbers));
        self.pairs.is_empty().then_some(&self.base).into_iter().chain(pairs)
    }

    fn configs_among(&self, numbers: &BTreeSet<u8>) -> impl Iterator<Item = &TcpConfig> + use<'_> {
        let numbers: Vec<usize> = numbers.iter().map(|number| usize::from(*number)).collect();
        let pairs =
            numbers.clone().into_iter().flat_map(move |own| numbers.clone().into_iter().map(move |peer| (own, peer)));
        pairs.map(|(own, peer)| &self.pairs[own * self.kinds + peer])
    }

    /// Returns the largest value of `of` over all transports in use.
    pub fn max_of<T: Ord>(&self, of: impl Fn(&TcpConfig) -> T) -> T {
        let first = of(self.used_configs().next().unwrap_or(&self.base));
        self.used_configs().map(of).fold(first, T::max)
    }

    /// Transport configurations of a workload's flows, for all pairs of hosts and from either end.
    pub fn workload_configs(&self, traffic: u16) -> impl Iterator<Item = &TcpConfig> {
        let numbers = self.rows.get(usize::from(self.row_of(traffic))).map(TransportRow::numbers).unwrap_or_default();
        self.pairs.is_empty().then_some(&self.base).into_iter().chain(self.configs_among(&numbers))
    }

    /// Returns the smallest round-trip sample of a handshake before the flow, and the `handshake_rtt` that gives it.
    pub fn min_handshake_sample(&self) -> Option<(Dur, Dur)> {
        let open = self.used_configs().filter(|tcp| !tcp.handshake);
        open.map(|tcp| (tcp.first_sample(), tcp.handshake_rtt)).filter(|(sample, _)| *sample > Dur::ZERO).min()
    }

    /// Returns warnings about hosts whose transports differ in features that both ends need.
    pub fn mixing_warnings(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for note in self.in_use.iter().flat_map(|numbers| self.mixing_warnings_among(numbers)) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }

    fn mixing_warnings_among(&self, numbers: &BTreeSet<u8>) -> Vec<String> {
        let own = |number: &u8| &self.pairs[usize::from(*number) * (self.kinds + 1)];
        let has = |holds: fn(&TcpConfig) -> bool| numbers.iter().any(|number| holds(own(number)));
        let mut notes = Vec::new();
        if has(|tcp| tcp.recovery.has_sack()) && has(|tcp| !tcp.recovery.has_sack()) {
            notes.push(
                "hosts have different transports: connections between a host with SACK and a host without SACK recover \
                 losses as NewReno does"
                    .into(),
            );
        }
        if has(|tcp| tcp.ecn == EcnMode::Off) && has(|tcp| tcp.ecn != EcnMode::Off) {
            notes.push(
                "hosts have different transports: packets between a host with ECN and a host without ECN cannot be \
                 marked"
                    .into(),
            );
        }
        if has(|tcp| tcp.ecn == EcnMode::Exact) && has(|tcp| tcp.ecn == EcnMode::Latched) {
            notes.push(
                "hosts have different transports, with two kinds of ECN echo. A receiver as in RFC 3168 repeats each \
                 echo until CWR, so that a DCTCP sender counts too many marks. Other senders halve their window only \
                 once for the echoes of a DCTCP receiver"
                    .into(),
            );
        }
        if has(TcpConfig::supports_packs) && has(|tcp| !tcp.supports_packs()) {
            notes.push(
                "hosts have different transports: data between a host with pack and a host without pack may not be \
                 cut, and is dropped instead (CP §4.1)"
                    .into(),
            );
        }
        if has(|tcp| tcp.timestamps) && has(|tcp| !tcp.timestamps) {
            notes.push(
                "hosts have different transports: connections between a host with timestamps and a host without \
                 timestamps do not use timestamps"
                    .into(),
            );
        }
        notes
    }

    /// Returns true if `holds` is true of the transport of any host for any flow.
    pub fn any_config(&self, holds: impl Fn(&TcpConfig) -> bool) -> bool {
        self.used_configs().any(holds)
    }
}

impl TcpConfig {
    /// Returns the first round-trip sample of an established connection; 0 if none. Linux 2.6.38 counts whole ticks.
    fn first_sample(&self) -> Dur {
        match (self.follows_linux_2_6_38(), self.timestamps) {
            (false, _) => self.handshake_rtt,
            (true, false) => Dur::ZERO,
            (true, true) => Dur((self.handshake_rtt.0 / self.tick.0).max(1).saturating_mul(self.tick.0)),
        }
    }
    /// Returns this configuration, restricted to features that the other end's transport `peer` has as well.
    pub(super) fn with_peer(&self, peer: &TcpConfig) -> TcpConfig {
        let has_sack = self.recovery.has_sack() && peer.recovery.has_sack();
        let recovery = match self.recovery {
            own if has_sack || !own.has_sack() => own,
            // Without SACK only partial ACKs show further losses (RFC 6582).
            _ => Recovery::NewReno,
        };
        let by_segment = self.kernel.keeps_segments(recovery);
        TcpConfig {
            recovery,
            rack: if by_segment { self.rack.with_recovery(recovery) } else { RackChoices::default() },
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
