//! Workloads whose flows start when others have ended.

use super::*;
use std::collections::BTreeMap;

const QUERY: [(&str, &str); 3] = [("degree", "5"), ("response", "20KB"), ("qps", "5000")];
const INCAST: [(&str, &str); 4] = [("senders", "5"), ("receiver", "random"), ("size", "20KB"), ("qps", "5000")];

/// Returns all messages that start before an instant, if each is delivered `latency` after its start.
fn messages_delivered_after(net: &Topology, kind: &str, given: &[(&str, &str)], latency: Dur) -> Vec<FlowSpec> {
    let traffic = workload(net, kind, given).unwrap().0;
    let end = Time(Dur::ms(20).0);
    let mut reaction = traffic.follow_ups(3, 9).expect("something follows");
    let first = traffic.flows(3, net, 9, end).zip(0u64..);
    let mut due: BTreeMap<(Time, u64), FlowSpec> = first.map(|(flow, n)| ((flow.start, n), flow)).collect();
    let (mut all, mut n, mut said) = (Vec::new(), due.len() as u64, Vec::new());
    while let Some(((start, _), message)) = due.pop_first() {
        all.push(message);
        let now = start.saturating_add(latency);
        reaction.on_delivered(&message, now, &mut said);
        for next in said.drain(..) {
            assert_eq!(next.src, message.dst, "a host acts on what reached it");
            assert_ne!(next.src, next.dst);
            assert!(next.start >= now, "and not before that");
            n += 1;
            if next.start < end {
                due.insert((next.start, n), next);
            }
        }
    }
    all
}

type Draws = BTreeMap<(u32, FlowRole, u64, u32), (HostId, HostId, u64)>;

fn draws_by_message(all: &[FlowSpec]) -> Draws {
    let key = |flow: &FlowSpec| (flow.query, flow.role, flow.tag, flow.connection);
    all.iter().map(|flow| (key(flow), (flow.src, flow.dst, flow.bytes))).collect()
}

#[test]
fn a_query_without_requests_is_an_incast() {
    let net = star(9);
    for more in [&[][..], &[("jitter", "3us")], &[("stop", "500ms"), ("class", "3")]] {
        let query = flows(&net, "query", &[&QUERY[..], &[("request", "0B")], more].concat());
        assert!(query == flows(&net, "incast", &[&INCAST[..], more].concat()), "{more:?}");
        assert!(query.len() > 5000);
    }
    let traffic = workload(&net, "query", &[&QUERY[..], &[("request", "0B")]].concat()).unwrap().0;
    assert!(traffic.follow_ups(0, 1).is_none() && !traffic.is_closed_loop());
}

#[test]
fn requests_go_from_the_target_to_the_hosts_that_an_incast_would_draw() {
    let net = star(9);
    let asked = flows(&net, "query", &QUERY);
    let burst = flows(&net, "incast", &INCAST);
    assert_eq!(asked.len(), burst.len());
    let ends = |flow: &FlowSpec| (flow.query, flow.start, flow.dst, flow.src);
    let (mut one, mut other): (Vec<_>, Vec<_>) =
        (asked.iter().map(ends).collect(), burst.iter().map(|f| (f.query, f.start, f.src, f.dst)).collect());
    one.sort_unstable();
    other.sort_unstable();
    assert_eq!(one, other);
    assert!(asked.iter().all(|flow| flow.role == FlowRole::Request && flow.bytes == 200));
}

#[test]
fn what_is_drawn_does_not_depend_on_when_messages_arrive() {
    let net = star(9);
    let rpc = [("reply", "web_search"), ("think", "100us"), ("think_gaps", "exponential"), ("service_jitter", "30us")];
    let query = [&QUERY[..2], &[("interval", "1ms"), ("service_jitter", "30us")]].concat();
    for (kind, given) in [("request_reply", &rpc[..]), ("query", &query)] {
        let (soon, late) = (
            messages_delivered_after(&net, kind, given, Dur::us(20)),
            messages_delivered_after(&net, kind, given, Dur::us(150)),
        );
        let (a, b) = (draws_by_message(&soon), draws_by_message(&late));
        let shared = b.iter().filter(|(key, _)| a.contains_key(key)).count();
        assert!(shared > 100, "{kind}: {shared}");
        assert!(b.iter().all(|(key, what)| a.get(key).is_none_or(|other| other == what)), "{kind}");
    }
}

#[test]
fn every_request_is_answered_once_by_a_size_and_after_a_time_of_its_own() {
    let net = star(9);
    let given = [("degree", "8"), ("response", "uniform min=1KB max=90KB"), ("service_jitter", "1ms")];
    let all = messages_delivered_after(&net, "query", &given, Dur::us(20));
    let mut answers: Vec<_> = all.iter().filter(|flow| flow.role == FlowRole::Data).collect();
    assert_eq!((all.len(), answers.len()), (16, 8));
    answers.sort_by_key(|flow| flow.bytes);
    assert!(answers.windows(2).all(|two| two[0].bytes < two[1].bytes));
    assert!(!answers.is_sorted_by_key(|flow| flow.start), "the largest does not take longest: {answers:?}");
}

#[test]
fn nothing_is_asked_from_the_stop_on_and_what_was_asked_is_answered() {
    let net = star(9);
    let starts = |stop: &str| -> Vec<u64> {
        let given = [("reply", "1KB"), ("sessions", "1"), ("think", "10us"), ("stop", stop)];
        messages_delivered_after(&net, "request_reply", &given, Dur::us(20))
            .iter()
            .map(|flow| flow.start.0 / 1_000_000)
            .collect()
    };
    assert_eq!(starts("1us"), [0, 20], "the answer starts after the stop");
    assert_eq!((starts("50us"), starts("51us")), (vec![0, 20], vec![0, 20, 50, 70]));
}

#[test]
fn every_session_keeps_a_connection_each_way() {
    let given = [("reply", "1KB"), ("sessions", "5"), ("requests", "3")];
    let mut ways = BTreeMap::new();
    for flow in messages_delivered_after(&star(9), "request_reply", &given, Dur::us(20)) {
        let way = (flow.query % 5, flow.role, flow.src, flow.dst);
        assert_eq!(*ways.entry(flow.connection).or_insert(way), way);
    }
    assert_eq!(ways.len(), 10);
}

#[test]
fn more_sessions_leave_the_draws_of_the_others_alone() {
    let net = star(9);
    let given = |sessions| [("reply", "hadoop"), ("requests", "4"), ("sessions", sessions)];
    let of = |sessions: &'static str, n: u32| -> BTreeMap<(u32, u64, FlowRole), (HostId, HostId, u64)> {
        let all = messages_delivered_after(&net, "request_reply", &given(sessions), Dur::us(20)).into_iter();
        let all = all.map(|f| ((f.query % n, f.tag, f.role), (f.src, f.dst, f.bytes)));
        all.filter(|((session, ..), _)| *session < 5).collect()
    };
    assert_eq!(of("5", 5), of("12", 12));
    assert_eq!(of("5", 5).len(), 5 * 4 * 2);
}

#[test]
fn pairs_are_drawn_taken_in_turn_or_all() {
    let net = star(6);
    let ends = |given: &[(&str, &str)]| -> Vec<(u32, u32)> {
        let all = flows(&net, "request_reply", &[&[("reply", "1KB")], given].concat());
        let mut all: Vec<_> = all.iter().map(|f| (f.query, (f.src.0, f.dst.0))).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, ends)| ends).collect()
    };
    let turn = [("clients", "h0 h1"), ("servers", "h1 2"), ("pairs", "in_turn"), ("sessions", "5")];
    assert_eq!(ends(&turn), [(0, 1), (1, 2), (0, 1), (1, 2), (0, 1)]);
    assert_eq!(ends(&[("clients", "h0 h1"), ("servers", "h1 h2"), ("pairs", "all")]), [(0, 1), (0, 2), (1, 2)]);
    assert_eq!(ends(&[("servers", "h1")]), [(0, 1), (2, 1), (3, 1), (4, 1), (5, 1)]);
    let random = ends(&[("sessions", "600")]);
    assert!(random.iter().enumerate().all(|(i, (client, server))| *client == i as u32 % 6 && client != server));
    let hits = |server| random.iter().filter(|ends| ends.1 == server).count();
    assert!((0..6).all(|server| (60..140).contains(&hits(server))), "{:?}", (0..6).map(hits).collect::<Vec<_>>());
}

#[test]
fn what_sessions_and_queries_cannot_be_is_said() {
    let net = star(4);
    let rpc = |more: &[(&str, &str)]| faults(&net, "request_reply", &[&[("reply", "1KB")], more].concat());
    let query =
        |more: &[(&str, &str)]| faults(&net, "query", &[&[("degree", "3"), ("response", "1KB")], more].concat());
    assert_eq!(rpc(&[("clients", "h0 h9")]), ["clients: `h9`; names of hosts, or numbers of hosts from 0 to 3"]);
    assert_eq!(
        rpc(&[("clients", "h0 h1"), ("servers", "h1")]),
        ["servers: the client `h1` as the only server; another server than the client itself"]
    );
    assert_eq!(rpc(&[("think", "1us"), ("clock", "2us")]), ["clock: 2us; no value if `think` is given"]);
    assert_eq!(rpc(&[("pairs", "all"), ("sessions", "2")]), ["sessions: 2; no value if `pairs` is `all`"]);
    let sizes = faults(&net, "request_reply", &[("reply", "nowhere")]);
    assert!(sizes[0].starts_with("reply: `nowhere`: no such file; "), "{sizes:?}");
    assert_eq!(
        faults(&net, "request_reply", &[("reply", "0B")]),
        ["reply: 0B; a size from 1B to 1PB, or a distribution"]
    );
    assert_eq!(
        query(&[("request", "0B"), ("service", "1us")]),
        ["service: 1us; no value if `request` is 0B, because there are no requests"]
    );
    assert_eq!(query(&[("target", "h7")]), ["target: `h7`; the name of a host, from `h0` to `h3`"]);
    assert_eq!(query(&[("qps", "5"), ("repeat", "2")]), ["qps: 5; no value if `repeat` is given"]);
}
