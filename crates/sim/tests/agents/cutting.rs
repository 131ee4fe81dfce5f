//! Answers that cut packets or send them back, in the same switch.

use super::{FRAMES, burst, run, text};
use dataplane::{Pkt, SwitchSetup};
use mech::overflow::{DropReason, Fate, Overflow, OverflowSlot};
use mech::testing::mechanisms::{Trim, parameters};
use mech::{Asks, Env, Flags, ForwardingContext, Head, HostId, Needs, PktId, QueueId};
use units::Bytes;

/// CP's rule for packets that did not say they may be cut, as raw ones do not.
#[derive(Clone)]
struct CutsAll(Trim);

impl Overflow for CutsAll {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, env: &mut Env) -> Fate {
        let may = Head { flags: pkt.flags.with(Flags::CPA), ..*pkt };
        self.0.admit(&may, at, env)
    }
    fn extra_room(&self, pkt: &Head) -> Bytes {
        self.0.extra_room(pkt)
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

/// T is ten frames. Eleven wait after frame 12; 13 to 19 are cut to 64 B, 17146 B wait. Then one leaves for every
/// ten: 20 finds 15628 B and is cut like the nine after it, 30 finds 14750 B and is not, 31 to 39 are.
#[test]
fn a_packet_over_the_threshold_loses_its_payload_and_its_header_arrives() {
    let text = text("buffer = { kind = \"per_port\", size = \"15180B\" }", &burst(FRAMES, "1us"));
    let trim = |_: u32, setup: &mut SwitchSetup| {
        setup.core.overflow = OverflowSlot::custom(CutsAll(Trim::new(&parameters("trim", "extra=2000B"))));
    };
    let world = run(&text, &trim);
    let cut = |pkt: &Pkt| pkt.head.flags.has(Flags::PPL) && pkt.payload == 0 && pkt.head.size == 64;
    let whole: Vec<u32> =
        world.observer().0.iter().filter(|(.., pkt)| !cut(pkt)).map(|(.., pkt)| pkt.emission).collect();
    assert_eq!(world.observer().0.len() as u64, FRAMES);
    assert_eq!(whole, (0..13).chain([30]).collect::<Vec<u32>>());
}

/// Where a packet does not fit, the last one that waits whole is cut.
#[derive(Clone)]
struct CutsTheLast;

impl Overflow for CutsTheLast {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, _env: &mut Env) -> Fate {
        let mut last: Option<PktId> = None;
        at.view.visit(at.out, QueueId::normal(0), &mut |id, head| {
            last = if head.flags.has(Flags::PAYLOAD) { Some(id) } else { last };
        });
        match last {
            _ if at.fits(at.out, pkt.queue(), pkt.size) => Fate::Enqueue(pkt.queue()),
            Some(id) => Fate::TrimWaiting(id),
            None => Fate::Drop(DropReason::BufferFull),
        }
    }
    fn asks(&self) -> Asks {
        Asks::WhenFull
    }
    fn needs(&self) -> Needs {
        Needs { removes: true, ..Needs::default() }
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

/// Room is 15180 B. Frames 2 to 11 fill it; 12 takes the payloads of 11 and 10, 13790 B wait. Each of 13 to 19 takes
/// that of the one before it, and 14174 B wait after 18; 20 finds room, 21 to 29 take, 30 finds room, 31 to 39 take.
/// 36 finds 15134 B, and one payload is not enough: it takes that of 29 too.
#[test]
fn a_packet_is_cut_where_it_waits_and_keeps_its_place() {
    let text = text("buffer = { kind = \"per_port\", size = \"15180B\" }", &burst(FRAMES, "1us"));
    let world = run(&text, &|_, setup| setup.core.overflow = OverflowSlot::custom(CutsTheLast));
    let order: Vec<u32> = world.observer().0.iter().map(|(.., pkt)| pkt.emission).collect();
    assert_eq!(order, (0..FRAMES as u32).collect::<Vec<u32>>());
    let whole: Vec<u32> =
        world.observer().0.iter().filter(|(.., pkt)| pkt.payload > 0).map(|(.., pkt)| pkt.emission).collect();
    assert_eq!(whole, (0..10).chain([19, 39]).collect::<Vec<u32>>());
}

/// What does not fit goes back.
#[derive(Clone)]
struct SendsBack;

impl Overflow for SendsBack {
    fn admit(&mut self, pkt: &Head, at: &ForwardingContext, _env: &mut Env) -> Fate {
        if at.fits(at.out, pkt.queue(), pkt.size) { Fate::Enqueue(pkt.queue()) } else { Fate::SendBack }
    }
    fn asks(&self) -> Asks {
        Asks::WhenFull
    }
    fn boxed(&self) -> Box<dyn Overflow> {
        Box::new(self.clone())
    }
}

/// Room is ten frames. After frame 11 there is none until the third leaves, when 20 comes, and the fourth, when 30
/// does: 8 + 9 + 9 go back.
#[test]
fn what_does_not_fit_goes_back_to_its_source_by_the_tables_of_the_switch() {
    let text = text("buffer = { kind = \"per_port\", size = \"10pkt\" }", &burst(FRAMES, "1us"));
    let world = run(&text, &|_, setup| setup.core.overflow = OverflowSlot::custom(SendsBack));
    let arrived: Vec<u32> = world.observer().0.iter().map(|(.., pkt)| pkt.emission).collect();
    assert_eq!(arrived, (0..12).chain([20, 30]).collect::<Vec<u32>>());
    assert_eq!((world.host(HostId(0)).returned(), world.host(HostId(1)).returned()), (26, 0));
}
