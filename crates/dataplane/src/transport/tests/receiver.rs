//! Tests of the time of acknowledgements (RFC 5681 §4.2, RFC 9293 §3.10.7.4).

mod handshake;
mod sack;
mod timestamps;
mod window;

use super::*;
use crate::transport::Receiver;
use crate::{NO_EXT, PacketExtension, Timestamps};
use mech::Flags;

/// Receiver whose segments tests write by hand. Segments have 1000 bytes, and are named by their number.
struct End {
    cfg: TcpConfig,
    receiver: Receiver,
    now: Time,
    exts: ExtensionSlab,
    /// TSval of the next segment, if segments carry timestamps.
    stamp: u32,
    /// Packets that the last call sent.
    last: Vec<Pkt>,
}

impl End {
    fn new(bytes: u64, set: &[(&str, Value)]) -> End {
        End::with_flow(bytes, "newreno", set)
    }
    fn with_flow(bytes: u64, kind: &str, set: &[(&str, Value)]) -> End {
        let cfg = config(kind, set);
        let receiver = Receiver::new(&flow(bytes), &cfg);
        End { receiver, cfg, now: Time::ZERO, exts: ExtensionSlab::default(), stamp: 0, last: vec![] }
    }
    fn call(&mut self, f: impl FnOnce(&mut Receiver, &mut Io)) -> Vec<u32> {
        self.last.iter().for_each(|p| self.exts.free(p.ext));
        let mut out = ReleasedPackets::default();
        f(
            &mut self.receiver,
            &mut Io { now: self.now, cfg: &self.cfg, exts: &mut self.exts, out: &mut out, timers_set: &mut 0 },
        );
        self.last = out.take();
        self.last.iter().map(|p| p.ack).collect()
    }
    fn packet(&mut self, mut pkt: Pkt) -> Vec<u32> {
        if self.cfg.timestamps && pkt.ext == NO_EXT {
            let timestamps = Some(Timestamps { val: self.stamp, ecr: 0 });
            pkt.ext = self.exts.allocate(PacketExtension { timestamps, ..PacketExtension::default() });
        }
        let acks = self.call(|r, io| r.receive(&pkt, io));
        self.exts.free(pkt.ext);
        assert_eq!(
            self.exts.live_count(),
            self.last.iter().filter(|p| p.ext != NO_EXT).count(),
            "one for each that is sent"
        );
        acks
    }
    /// Delivers bytes `start..start + len`, and returns the numbers of the ACKs that leave.
    fn bytes(&mut self, start: u64, len: u32) -> Vec<u32> {
        let pkt = segment::data_segment(&flow(0), (start, len), 0, &self.cfg);
        self.packet(pkt)
    }
    fn segment(&mut self, n: u64) -> Vec<u32> {
        self.bytes(n * 1000, 1000)
    }
    /// Returns the last packet sent, and its options.
    fn sent(&self) -> (Pkt, PacketExtension) {
        let pkt = *self.last.last().expect("something was sent");
        (pkt, self.exts.get(pkt.ext).copied().unwrap_or_default())
    }
    /// Returns the SACK blocks of the last ACK.
    fn blocks(&self) -> Vec<(u32, u32)> {
        let (pkt, ext) = self.sent();
        let size = self.cfg.framing.frame_size(0, ext.option_bytes());
        assert_eq!((pkt.head.size, pkt.head.orig_size), (size, size), "options take room in the frame");
        assert!(ext.option_bytes() <= 40);
        ext.sack[..usize::from(ext.blocks)].to_vec()
    }
}

fn delayed() -> (&'static str, Value) {
    ("delayed_ack", Value::Flag(true))
}

#[test]
fn every_segment_is_acknowledged_and_a_gap_repeats_the_number_of_what_is_missing() {
    // RFC 5681 §4.2.
    let mut e = End::new(10_000, &[]);
    assert_eq!(e.segment(0), [1000]);
    assert_eq!((e.segment(2), e.segment(4), e.segment(5)), (vec![1000], vec![1000], vec![1000]));
    assert_eq!((e.receiver.received_bytes(), e.receiver.stats().waiting), (1000, 3000));
    assert_eq!(e.segment(1), [3000]);
    assert_eq!(e.segment(3), [6000]);
    assert_eq!((e.receiver.stats().out_of_order, e.receiver.stats().duplicates), (3, 0));
    assert!(!e.receiver.is_complete());
}

#[test]
fn duplicates_before_and_beyond_the_gap_are_acknowledged_and_counted() {
    let mut e = End::new(10_000, &[]);
    e.segment(0);
    assert_eq!(e.segment(0), [1000]);
    e.segment(2);
    assert_eq!(e.segment(2), [1000]);
    assert_eq!((e.receiver.stats().duplicates, e.receiver.stats().segments), (2, 4));
}

#[test]
fn a_segment_that_is_new_only_in_part_counts_what_is_new() {
    let mut e = End::new(10_000, &[]);
    e.segment(0);
    assert_eq!(e.bytes(500, 1000), [1500]);
    e.bytes(2000, 1000);
    assert_eq!(e.bytes(1500, 1000), [3000]);
}

#[test]
fn nothing_beyond_the_receive_window_is_kept() {
    let mut e = End::new(100_000, &[("receive_window", size(3000))]);
    assert_eq!(e.segment(3), [0]);
    assert_eq!(e.receiver.stats().waiting, 0);
    e.segment(2);
    assert_eq!(e.receiver.stats().waiting, 1000);
}

#[test]
fn receiver_ignores_packets_without_data() {
    let mut e = End::new(10_000, &[]);
    let ack = segment::ack_segment(&flow(0), 0, false, &e.cfg);
    let out = sent(e.now, &e.cfg, |io| e.receiver.receive(&ack, io));
    assert!(out.is_empty() && e.receiver.stats().segments == 0);
}

#[test]
fn a_delayed_ack_leaves_with_every_second_segment_or_in_time() {
    // RFC 5681 §4.2.
    let mut e = End::new(10_000, &[delayed()]);
    assert_eq!(e.segment(0), []);
    assert_eq!(e.receiver.deadline(), Some(Time::ZERO + Dur::ms(40)));
    assert_eq!(e.segment(1), [2000]);
    assert_eq!(e.receiver.deadline(), None);
    e.now += Dur::ms(1);
    assert_eq!(e.segment(2), []);
    e.now = Time::ZERO + Dur::ms(40);
    assert_eq!(e.call(|r, io| r.on_timer(io)), [], "too early");
    e.now = Time::ZERO + Dur::ms(41);
    assert_eq!(e.call(|r, io| r.on_timer(io)), [3000]);
    assert_eq!(e.last[0].head.flags, Flags::ACK.with(Flags::REVERSE));
    assert_eq!(e.receiver.deadline(), None);
}

#[test]
fn no_ack_is_delayed_at_a_gap_while_it_fills_or_at_the_end() {
    // RFC 5681 §4.2.
    let mut e = End::new(5_000, &[delayed()]);
    assert_eq!(e.segment(1), [0]);
    assert_eq!(e.segment(3), [0]);
    assert_eq!(e.segment(0), [2000]);
    assert_eq!(e.segment(2), [4000]);
    assert_eq!(e.segment(4), [5000], "the last byte");
    assert!(e.receiver.is_complete() && e.receiver.deadline().is_none());
}

#[test]
fn a_segment_that_is_old_in_part_is_acknowledged_at_once() {
    // RFC 5681 §4.2, RFC 2883 §4: duplicate data is reported immediately.
    let mut e = End::new(10_000, &[delayed()]);
    e.segment(0);
    assert_eq!(e.bytes(500, 1000), [1500]);
    assert_eq!(e.segment(0), [1500]);
    assert_eq!(e.receiver.stats().duplicates, 1);
}

#[test]
fn bytes_beyond_the_end_of_the_flow_are_no_bytes() {
    let mut e = End::new(1_500, &[]);
    assert_eq!((e.segment(0), e.segment(1), e.segment(2)), (vec![1000], vec![1500], vec![1500]));
    assert_eq!((e.receiver.received_bytes(), e.receiver.stats().duplicates), (1500, 1));
}

#[test]
fn the_end_of_a_burst_is_acknowledged_at_once() {
    let mut r = End::with_flow(1 << 20, "linux", &[]);
    let quick = (0..40).take_while(|n| !r.segment(*n).is_empty()).count();
    assert_eq!(quick, 16 + 6, "the first, while a kernel's window grows");
    r.segment(23);
    assert_eq!(r.segment(24), [0; 0], "the first of two");
    r.segment(25);
    let ext = r.exts.allocate(PacketExtension {
        push: true,
        timestamps: Some(Timestamps::default()),
        ..PacketExtension::default()
    });
    let pkt = Pkt { ext, ..segment::data_segment(&flow(0), (26_000, 1000), 0, &r.cfg) };
    assert_eq!(r.packet(pkt), [27_000]);
}
