//! Tests of the table that gives each host its transport for each workload.

use super::pair::config;
use crate::transport::{EndPair, TcpConfig, TransportRow, TransportTable};
use mech::HostId;
use mech::params::Value;
use units::Dur;

/// Returns a table: `[transport]` is DCTCP, host 1 has NewReno, workload 1 RoCE, and workload 2 at host 1 SACK.
fn stacks(flows: [bool; 3]) -> TransportTable {
    let all = ["dctcp", "newreno", "roce", "sack"].map(|kind| config(kind, &[]));
    let hosts =
        |default_number, one| TransportRow { default_number, host_numbers: vec![default_number, one, default_number] };
    let rows = vec![hosts(0, 1), TransportRow { default_number: 2, host_numbers: Vec::new() }, hosts(0, 3)];
    TransportTable::from_rows(&all, rows, [0, 1, 2].into_iter().zip(flows).collect())
}

fn at(stacks: &TransportTable, traffic: u16, own: u32, peer: u32) -> &TcpConfig {
    stacks.config_at(|| EndPair { row: stacks.row_of(traffic), own: HostId(own), peer: HostId(peer) })
}

#[test]
fn each_end_has_the_transport_of_its_host_and_workload() {
    let stacks = stacks([true; 3]);
    let dctcp = config("dctcp", &[]);
    assert_eq!(at(&stacks, 0, 0, 2), &dctcp);
    assert_eq!(at(&stacks, 9, 0, 2), &dctcp, "one that is not listed has the first row");
    assert!(!at(&stacks, 0, 0, 1).is_ecn_capable(), "the other end has no ECN");
    assert!([at(&stacks, 1, 0, 1), at(&stacks, 1, 1, 0)].iter().all(|tcp| tcp.is_rate_based()));
    assert!((0..3).all(|host| !at(&stacks, 2, host, 0).is_rate_based()));
    assert_eq!(at(&stacks, 2, 1, 1), &config("sack", &[]));
    assert_eq!(at(&stacks, 0, 1, 1), &config("newreno", &[]));
    let of = |traffic: u16| stacks.workload_configs(traffic).count();
    assert_eq!([of(0), of(1), of(2)], [4, 1, 4], "pairs");
}

#[test]
fn only_transports_of_existing_flows_count() {
    let [all, tcp, roce] = [[true; 3], [true, false, true], [false, true, false]].map(stacks);
    assert_eq!([&all, &tcp, &roce].map(|one| one.any_config(TcpConfig::is_rate_based)), [true, false, true]);
    assert_eq!([&all, &tcp, &roce].map(|one| one.any_config(|tcp| !tcp.is_rate_based())), [true, true, false]);
    let told = |one: &TransportTable| {
        one.mixing_warnings().iter().any(|note| note.contains("between a host with SACK and a host without"))
    };
    assert_eq!([&all, &tcp, &roce].map(told), [true, true, false], "RoCE has none and meets none");
    assert!(stacks([false; 3]).any_config(|tcp| !tcp.is_rate_based()), "where there are no flows, the first row");
    assert_eq!(roce.default_config(), &config("dctcp", &[]), "packets without a transport go by it all the same");
    assert_eq!(all.max_of(TcpConfig::initial_window_bytes), config("roce", &[]).initial_window_bytes());
    assert_eq!(tcp.max_of(TcpConfig::initial_window_bytes), config("dctcp", &[]).initial_window_bytes());
}

#[test]
fn handshake_sample_is_only_of_established_connections() {
    let rtt = |us| ("handshake_rtt", Value::Time(Dur::us(us)));
    let opened = config("sack", &[rtt(3), ("connection", Value::Word("handshake".into()))]);
    let all = [config("sack", &[rtt(9)]), opened];
    let rows = vec![TransportRow::default(), TransportRow { default_number: 1, host_numbers: Vec::new() }];
    let stacks = TransportTable::from_rows(&all, rows, vec![(0, true), (1, true)]);
    assert_eq!(stacks.min_handshake_sample(), Some((Dur::us(9), Dur::us(9))));
}
