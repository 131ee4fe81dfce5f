//! Tests of frames of a limited flow that a switch has bounced (PABO), and that its host sends again.

use super::{FRAME, WIRE, at, half, registry};
use crate::common::scenario_of;
use crate::common::watched::watch_with_hooks;
use dataplane::Pkt;
use mech::FlowId;
use sim::{EventLocation, Observer, Options, RunHooks};
use units::{Rate, Time};

/// Record of start times of frames of h0, sent for the first time and again after a bounce, and of its rate limits.
#[derive(Clone, Default)]
struct Seen {
    first: Vec<u64>,
    again: Vec<u64>,
    limits: Vec<(u64, Option<Rate>)>,
}

impl Observer for Seen {
    fn on_transmit(&mut self, at: EventLocation, pkt: &Pkt, end: Time) {
        if at.node == 0 {
            let begins = end.0 - (u64::from(pkt.head.size) + WIRE - FRAME) * 800;
            if pkt.head.bounces == 0 { self.first.push(begins) } else { self.again.push(begins) }
        }
    }
    fn on_rate_limit(&mut self, at: EventLocation, _flow: FlowId, rate: Option<Rate>) {
        self.limits.push((at.now.0, rate));
    }
}

/// Test that bounced frames neither wait for the rate limiter nor count for its byte counter.
/// Frames arrive at 10 Gb/s at a port of 1 Gb/s that holds four until, after about 300 us, six messages leave 171.7
/// Mb/s. Frames bounced meanwhile go back and forth until the port has space.
#[test]
fn bounced_frames_bypass_rate_limiter_and_byte_counter() {
    let text = format!(
        "name = \"bounced\"\nduration = \"10ms\"\n[topology]\nkind = \"custom\"\n\
         node = [{{ name = \"h0\", kind = \"host\" }}, {{ name = \"h1\", kind = \"host\" }}, \
         {{ name = \"s\", kind = \"switch\" }}]\n\
         link = [{{ a = \"s\", b = \"h0\", rate = \"10Gbps\", delay = \"1us\" }}, \
         {{ a = \"s\", b = \"h1\", rate = \"1Gbps\", delay = \"1us\" }}]\n[host]\nnic = {{ kind = \"round_robin\" }}\n\
         reaction = {{ kind = \"qcn\", jitter = 0, timer = \"1s\", byte_counter = \"{}B\" }}\n[switch]\n\
         buffer = {{ kind = \"per_port\", size = \"4pkt\" }}\n\
         overflow = {{ kind = \"bounce\", theta = 0.5, bounce_size = \"200pkt\" }}\n\
         notify = {{ kind = \"script\", tell = [300000000, 300000000, 300000000, 300000000, 300000000, 300000000], \
         feedback = [63, 63, 63, 63, 63, 63] }}\n{}",
        10 * FRAME,
        half(20)
    );
    let hooks = RunHooks { observer: Seen::default(), tap: (), change_switch: &|_, _| {} };
    let mut world = watch_with_hooks(&scenario_of(&text, registry()), 1, Options::default(), hooks);
    world.run();
    assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
    let Seen { first, again, limits } = world.observer();
    let mut rate = 10_000_000_000;
    (0..6).for_each(|_| rate = rate * 65 / 128);
    assert_eq!(limits[5].1, at(rate));
    let (slow, raised) = (limits[5].0, limits[6].0);
    let between = |frames: &[u64]| -> Vec<u64> {
        frames.iter().copied().filter(|begins| (slow..=raised).contains(begins)).collect()
    };
    let (first, again) = (between(first), between(again));
    // Frames that leave for the first time keep the distance of the limit, and ten of them end the byte counter.
    let distance = Rate::bps(rate).time(WIRE).0;
    assert!(first.windows(2).all(|two| two[1] - two[0] >= distance), "{first:?}");
    let before = world.observer().first.iter().filter(|begins| (limits[0].0..slow).contains(*begins)).count();
    assert_eq!((first.len() + before, first.last()), (10, Some(&raised)));
    // Frames that leave again are as close as the link permits; they alone would end the byte counter.
    assert!(again.len() > 10 && again.windows(2).any(|two| two[1] - two[0] < 2 * WIRE * 800), "{again:?}");
}
