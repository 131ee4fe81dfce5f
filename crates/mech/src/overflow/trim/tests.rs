use super::*;
use crate::buffer::BufferSlot;
use crate::testing::{DecisionInputs, parse_head, switch_without_packets, values};
use crate::{Acts, PortId, Stream, StreamPurpose, View};
use property::for_all;
use proptest::collection::vec;
use proptest::sample::select;
use units::Time;

const OUT: PortId = PortId(0);
const DATA: QueueId = QueueId::normal(0);

fn buffer_of_bytes(limit: u64) -> BufferSlot {
    BufferSlot::per_port(Some(Amount::Bytes(limit)))
}
fn trim(given: &str) -> Trim {
    Trim::new(&values(&SPEC, given))
}
/// Returns the fate of an arrival at port 0, which has a limit of 3000 B and these packets queued.
/// A draw below 0.5 cuts the arrival. The identifiers of the queued packets are returned, too.
fn fates(given: &str, waiting: &[&str], arriving: &str, draws: &[f64]) -> (Fate, Vec<PktId>) {
    let mut state = switch_without_packets(2, buffer_of_bytes(3000));
    let ids = waiting.iter().map(|text| {
        let pkt = parse_head(text);
        state.push(String::new(), pkt, (OUT, pkt.queue()))
    });
    let ids: Vec<PktId> = ids.collect();
    let at = ForwardingContext { view: &state, ingress: PortId(1), output: OUT };
    let mut desk = DecisionInputs::with_draws(draws);
    let fate = trim(given).admit(&parse_head(arriving), &at, &mut desk.env());
    (fate, ids)
}
fn fate(given: &str, waiting: &[&str], arriving: &str) -> Fate {
    fates(given, waiting, arriving, &[]).0
}

const BUFFER_FULL: Fate = Fate::Drop(DropReason::BufferFull);
const OVER_THRESHOLD: [&str; 3] = ["data cpa", "data cpa", "data cpa size=1"];

#[test]
fn threshold_is_compared_with_the_backlog_before_the_arrival() {
    assert_eq!(fate("", &["data", "data"], "data cpa"), Fate::Enqueue(DATA), "3000 B are not over");
    assert_eq!(fate("", &OVER_THRESHOLD, "data cpa"), Fate::Trim(DATA));
    assert_eq!(fate("", &["data", "data"], "data"), Fate::Enqueue(DATA));
}

#[test]
fn above_the_threshold_only_uncut_data_with_cpa_is_cut() {
    for lost in ["data", "ack size=66", "syn size=66", "cpa size=66", "cpa syn data", "fin size=66"] {
        assert_eq!(fate("", &OVER_THRESHOLD, lost), BUFFER_FULL, "{lost}");
    }
    for kept in ["cpa ppl size=66", "ack ppl size=66", "cpa data ppl"] {
        assert_eq!(fate("", &OVER_THRESHOLD, kept), Fate::Enqueue(DATA), "{kept}: never cut again");
    }
    let data_and_extra = ["data", "data", "data size=1001"];
    assert_eq!(fate("extra=1000B", &data_and_extra, "cpa ppl size=66"), BUFFER_FULL);
    assert_eq!(fate("extra=1001B", &data_and_extra, "cpa ppl size=66"), Fate::Enqueue(DATA));
}

#[test]
fn trimmable_selects_packets_by_cpa_by_class_or_any_payload() {
    let kinds = ["data", "data cpa", "data class=3", "size=66 class=3"];
    for (given, cut) in [
        ("", [false, true, false, false]),
        ("trimmable=class trimmable_class=3", [false, false, true, false]),
        ("trimmable=class trimmable_class=0", [true, true, false, false]),
        ("trimmable=any", [true, true, true, false]),
    ] {
        let found = kinds.map(|kind| matches!(fate(given, &OVER_THRESHOLD, kind), Fate::Trim(_)));
        assert_eq!(found, cut, "{given}");
    }
}

#[test]
fn packet_marked_not_trimmable_is_dropped() {
    for given in ["", "trimmable=class trimmable_class=3", "trimmable=any", "trimmable=any no_room=return extra=0B"] {
        assert!(
            matches!(fate(given, &OVER_THRESHOLD, "data cpa class=3"), Fate::Trim(_) | Fate::TrimAndReturn),
            "{given}"
        );
        assert_eq!(fate(given, &OVER_THRESHOLD, "data cpa class=3 not_trimmable"), BUFFER_FULL, "{given}");
    }
}

#[test]
fn packet_no_longer_than_trim_size_is_not_cut() {
    assert_eq!(fate("trim_size=128B", &OVER_THRESHOLD, "data cpa size=129"), Fate::Trim(DATA));
    assert_eq!(fate("trim_size=128B", &OVER_THRESHOLD, "data cpa size=128"), BUFFER_FULL);
    for (min_size, size) in [(0, 66), (64, 66), (128, 128), (256, 256), (9000, 1500)] {
        assert_eq!(CutEffect { min_size, ..CutEffect::default() }.size_after_cut(1500, 66), size);
    }
}

#[test]
fn headers_with_header_class_are_counted_separately() {
    let given = "header_class=6 extra=200B";
    let headers = ["cpa ppl size=66 class=6"; 3];
    let both = [&headers[..], &["data cpa", "data cpa"]].concat();
    assert_eq!(fate(given, &both, "data cpa"), Fate::Enqueue(DATA), "3000 B of data, 198 B of headers");
    let over = [&both[..], &["data size=1"]].concat();
    assert_eq!(fate(given, &over, "data cpa"), Fate::Trim(QueueId::normal(6)));
    assert_eq!(fate(given, &over, "data"), BUFFER_FULL);
    let full = [&over[..], &["cpa ppl size=3 class=6"]].concat();
    assert_eq!(fate(given, &full, "cpa ppl size=66 class=6"), BUFFER_FULL, "201 B of headers");
    assert_eq!(fate(&format!("{given} no_room=return"), &full, "data cpa"), Fate::TrimAndReturn);
}

#[test]
fn victim_coin_trims_the_last_queued_or_the_arriving_packet() {
    let tail = |waiting: &[&str], draw: f64| fates("victim=coin", waiting, "data cpa", &[draw]);
    assert_eq!(tail(&OVER_THRESHOLD[..2], 0.9).0, Fate::Enqueue(DATA), "nothing is drawn where there is room");
    let waiting = ["data cpa", "data cpa", "data cpa", "cpa ppl size=66", "data", "data cpa size=64"];
    assert_eq!(tail(&waiting, 0.4).0, Fate::Trim(DATA));
    let (fate, ids) = tail(&waiting, 0.6);
    assert_eq!(fate, Fate::TrimQueued(ids[2]), "neither a header, nor a normal packet, nor the smallest frame");
    assert_eq!(fates("victim=coin", &["data", "data", "data"], "data cpa", &[]).0, Fate::Trim(DATA), "none may be cut");
}

#[test]
fn header_that_does_not_fit_is_returned_once_and_a_pack_never() {
    let full = ["data", "data", "data", "data"];
    let given = "no_room=return extra=1000B";
    assert_eq!(fate(given, &full, "data cpa"), Fate::TrimAndReturn);
    assert_eq!(fate(given, &full, "ack ppl size=66"), BUFFER_FULL, "a PACK is as long as it was sent");
    assert_eq!(fate(given, &full, "data"), BUFFER_FULL);
    assert_eq!(fate("extra=1000B", &full, "data cpa"), Fate::Trim(DATA), "lost by the switch, and counted");
    let mut state = switch_without_packets(2, buffer_of_bytes(3000));
    state.fill_up(4, parse_head("data"), (OUT, DATA));
    let at = ForwardingContext { view: &state, ingress: PortId(1), output: OUT };
    let cut = Head { size: 66, ..parse_head("cpa ppl") };
    let back = Head { flags: cut.flags.with(Flags::RETURNED), ..cut };
    let of = |pkt: &Head| trim(given).admit(pkt, &at, &mut DecisionInputs::with_draws(&[]).env());
    assert_eq!((of(&cut), of(&back)), (Fate::ReturnToSource, BUFFER_FULL));
}

#[test]
fn cut_sets_the_header_class_and_the_ecn_codepoint() {
    let cut = |given: &str, text: &str| {
        let mut pkt = parse_head(text);
        trim(given).cut_effect().mark_as_cut(&mut pkt);
        assert!(pkt.flags.has(Flags::PPL) && !pkt.flags.has(Flags::PAYLOAD));
        (pkt.class(), pkt.ecn())
    };
    use crate::Ecn::{Ce, Ect0, NotEct};
    assert_eq!(cut("", "data cpa ect class=2"), (2, Ect0));
    assert_eq!(cut("ecn=ce header_class=7", "data cpa ect class=2"), (7, Ce));
    assert_eq!(cut("ecn=ce", "data cpa"), (0, NotEct), "it could not carry one");
    assert_eq!(cut("ecn=not_ect", "data cpa ect"), (0, NotEct));
}

#[test]
fn limit_in_packets_grows_by_one_for_64_bytes_of_extra() {
    let waits = |n: u32, text: &str| {
        let mut state = switch_without_packets(2, BufferSlot::per_port(Some(Amount::Packets(3))));
        state.fill_up(n, parse_head("data"), (OUT, DATA));
        let at = ForwardingContext { view: &state, ingress: PortId(1), output: OUT };
        trim("extra=128B").admit(&parse_head(text), &at, &mut DecisionInputs::with_draws(&[]).env())
    };
    assert_eq!((waits(2, "data cpa"), waits(3, "data cpa")), (Fate::Enqueue(DATA), Fate::Trim(DATA)));
    assert_eq!((waits(4, "cpa ppl"), waits(5, "cpa ppl")), (Fate::Enqueue(DATA), BUFFER_FULL));
}

/// Returns the number of headers lost of 10,000 arrivals that are sent at a rate in Mb/s.
/// Packets of 864 B (850 B and the Ethernet header) arrive at a full port of 1 Gb/s, and are 66 B after the cut.
fn headers_lost(mbps: i64, extra: &str) -> u32 {
    let (mut trim, mut state) = (trim(&format!("extra={extra}")), switch_without_packets(2, buffer_of_bytes(8640)));
    // `credit` is the bytes that the 1 Gb/s link could have begun to send, times the arrival rate in Mb/s. So each
    // arrival adds 864 x 1000, and each sent byte costs `mbps`.
    let (mut lost, mut credit) = (0, 0);
    let pkt = parse_head("data cpa size=864");
    for _ in 0..10_000 {
        let at = ForwardingContext { view: &state, ingress: PortId(1), output: OUT };
        let fate = trim.admit(&pkt, &at, &mut DecisionInputs::with_draws(&[]).env());
        let mut own = pkt;
        if let Fate::Trim(_) = fate {
            own.size = trim.cut_effect().size_after_cut(864, 66);
            trim.cut_effect().mark_as_cut(&mut own);
        }
        match state.accepts((OUT, DATA), own.size, trim.extra_memory(&own)) {
            true => _ = state.push(String::new(), own, (OUT, DATA)),
            false => lost += 1,
        }
        credit += 864 * 1000;
        while credit >= 0 {
            let Some((id, size)) = state.first_packet_size(OUT, DATA) else { break };
            credit -= i64::from(size) * mbps;
            state.remove_from_queue(id);
            state.free_memory(id);
        }
    }
    lost
}

#[test]
fn burst_of_864_byte_packets_at_13_gbps_loses_no_header() {
    let share = f64::from(CutEffect::default().size_after_cut(864, 66)) / 864.0;
    assert!((share - 0.0763).abs() < 0.0002 && (1.0 - share - 0.9237).abs() < 0.0002, "CP §4.6, note 5: {share}");
    assert!((1.0 / share - 13.1).abs() < 0.05);
    // Extra memory of two packets is enough: a whole packet is stored at the threshold itself, and as many bytes of
    // headers arrive while another one leaves.
    for mbps in [2000, 12_500, 13_000] {
        assert_eq!(headers_lost(mbps, "1728B"), 0, "{mbps}");
    }
    assert!(headers_lost(12_500, "1514B") <= 20, "one packet of extra memory is enough for all but 0.2%");
    assert!(headers_lost(13_400, "1728B") > 100, "more than 1 / 7.63 % of the rate is too much");
}

#[test]
fn only_uncut_cpa_packets_are_cut_and_the_memory_limit_is_kept() {
    // Arrivals of these kinds; after every fourth on average, a packet leaves.
    let kinds =
        &["data", "data cpa", "ack size=66", "cpa ppl size=66", "ack ppl size=66", "data cpa size=200", "syn size=66"];
    let arrivals = vec((select(kinds), 0..4), 0..=800);
    for given in ["", "header_class=5", "victim=coin", "victim=coin header_class=5", "trim_size=128B no_room=return"] {
        for_all(12, &arrivals, |arrivals| {
            let (mut trim, mut state) = (trim(given), switch_without_packets(2, buffer_of_bytes(6000)));
            let mut draws = Stream::new(4, 0, StreamPurpose::Custom(2));
            for (kind, leaves) in arrivals {
                let pkt = parse_head(kind);
                let at = ForwardingContext { view: &state, ingress: PortId(1), output: OUT };
                let mut acts = Acts::default();
                let mut env = Env { now: Time(0), rng: &mut draws, acts: &mut acts };
                let (mut own, fate) = (pkt, trim.admit(&pkt, &at, &mut env));
                let whole = |pkt: &Head| pkt.flags.has(Flags::CPA.with(Flags::PAYLOAD)) && !pkt.flags.has(Flags::PPL);
                match fate {
                    Fate::Trim(_) | Fate::TrimAndReturn => assert!(whole(&pkt), "{given}: {pkt:?}"),
                    Fate::TrimQueued(id) => assert!(whole(&state.stored[&id].head), "{given}"),
                    Fate::ReturnToSource => assert!(pkt.flags.has(Flags::PPL)),
                    _ => {}
                }
                if let Fate::Trim(_) = fate {
                    own.size = trim.cut_effect().size_after_cut(pkt.size, 66);
                    trim.cut_effect().mark_as_cut(&mut own);
                }
                if let Fate::Enqueue(queue) | Fate::Trim(queue) = fate {
                    if state.accepts((OUT, queue), own.size, trim.extra_memory(&own)) {
                        assert_eq!(queue, own.queue(), "{given}");
                        state.push(String::new(), own, (OUT, queue));
                    }
                }
                let used = state.port_backlog(OUT).1;
                assert!(used <= 6000 + 1500 + trim.extra.0 + 66, "{given}: {used}");
                if leaves == 0 {
                    if let Some((id, _)) = [QueueId::normal(5), DATA].iter().find_map(|q| state.first_packet(OUT, *q)) {
                        state.remove_from_queue(id);
                        state.free_memory(id);
                    }
                }
            }
        });
    }
}

#[test]
fn trim_check_refuses_conflicts_and_warns_of_no_effect() {
    let said = |given: &str, beside: &CheckContext| {
        let mut report = Report::default();
        trim(given).check(beside, &mut report);
        (report.errors.iter().map(|wrong| wrong.key.to_string()).collect::<Vec<_>>(), report.warnings.len())
    };
    let of = |memory| CheckContext { memory, ..CheckContext::EMPTY };
    let in_bytes = of(Some(Amount::Bytes(128 << 10)));
    assert_eq!(said("", &in_bytes), (vec![], 0));
    assert_eq!(said("", &CheckContext { shared: true, ..in_bytes }), (vec![], 1));
    assert_eq!(said("", &of(None)), (vec![], 1));
    assert_eq!(said("", &of(Some(Amount::Packets(100)))), (vec![], 1));
    assert_eq!(said("header_class=7", &of(Some(Amount::Packets(100)))), (vec!["header_class".to_string()], 0));
    assert_eq!(said("header_class=7", &in_bytes), (vec![], 0));
    for (size, wrong) in [("1B", true), ("63B", true), ("64B", false), ("65535B", false), ("65536B", true)] {
        assert_eq!(said(&format!("trim_size={size}"), &in_bytes).0.len(), usize::from(wrong), "{size}");
    }
}

#[test]
fn trim_needs_memory_class_and_removal_as_configured() {
    let needs = trim("header_class=6 extra=1000B").needs();
    assert_eq!((needs.cut_memory, needs.cut_class, needs.removes_packets), (Some(Bytes(1000)), Some(6), false));
    assert_eq!((trim("").needs().cut_memory, trim("").needs().cut_class), (Some(Bytes(4096)), None));
    assert!(trim("victim=coin").needs().removes_packets);
    assert!(trim("no_room=return").needs().returns_to_source && !trim("").needs().returns_to_source);
    assert_eq!((trim("").cut_effect().delay, trim("cut_delay=56ns").cut_effect().delay), (Dur::ZERO, Dur::ns(56)));
    assert_eq!(
        (trim("").admit_calls(), trim("header_class=6").admit_calls()),
        (AdmitCalls::WhenFull, AdmitCalls::Always)
    );
}
