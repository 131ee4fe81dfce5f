//! Tests of the PFC watchdog of a switch, poll by poll.
//! It polls every 10 us, detects a storm after 20 us and ends its action after 30 us without a pause.

use super::pausing::{Direct, PauseRecording, pfc_frame_of, pfc_with, pkt, step_at, switch_with};
use crate::PauseStorm;
use crate::core::DeadPortPolicy;
use crate::switch::*;
use mech::overflow::DropReason;
use mech::params::Value;
use mech::pause::WatchdogAction;
use units::{Dur, Time};

/// Pause of about 33 ms at 1 Gb/s: it never expires in these tests.
const QUANTA: u16 = u16::MAX;

/// Switch with a watchdog, and the calls that it made.
struct Watched {
    switch: Switch,
    out: PauseRecording,
}

impl Watched {
    fn new(action: &str) -> Watched {
        Watched::with_response(action, Dur::ZERO)
    }

    fn with_response(action: &str, response: Dur) -> Watched {
        let time = |us| Value::Time(Dur::us(us));
        let agent = pfc_with([
            ("watchdog", Value::Word(action.into())),
            ("detection_time", time(20)),
            ("restoration_time", time(30)),
            ("poll_interval", time(10)),
        ]);
        Watched { switch: switch_with(response, agent), out: PauseRecording::default() }
    }

    fn arrive(&mut self, us: u64, arrivals: &mut [Pkt]) {
        step_at(&mut self.switch, us * 1000, arrivals, &mut self.out);
    }

    /// A frame from the far end of port 1 pauses or resumes class 1.
    fn pause(&mut self, us: u64, stop: bool) {
        let (stop, go) = if stop { (0b10, 0) } else { (0, 0b10) };
        self.arrive(us, &mut [pfc_frame_of(QUANTA, 1, (stop, go))]);
    }

    /// Lets the poll at this instant happen.
    fn poll(&mut self, us: u64) {
        let due = self.out.timers.iter().rev().find(|(_, at)| *at == Time(us * 1_000_000));
        let (index, at) = *due.expect("a poll is due");
        self.switch.on_timer(index, step_at!(at, &mut self.out));
        self.switch.finish_step(step_at!(at, &mut self.out));
        assert!(self.switch.conserves_packets(), "at {us} us");
    }

    fn storms(&self) -> &[PauseStorm] {
        self.switch.core().pause_storms().unwrap()
    }
    fn dropped_at(&self, port: usize) -> u64 {
        self.switch.core().ports()[port].counts().dropped[DropReason::Watchdog as usize]
    }
    /// Returns the sizes of the frames that ports sent since the last call.
    fn sent(&mut self) -> Vec<(u16, u16)> {
        self.out.sent().into_iter().filter_map(|(port, frame)| Some((port, frame.ok()?))).collect()
    }
}

/// Brings port 1 into a storm of class 1, detected at 20 us, with two frames of class 1 in its queue.
fn in_storm(action: &str) -> Watched {
    let mut at = Watched::new(action);
    at.pause(1, true);
    at.arrive(2, &mut [pkt(0, 1, (1, 100)), pkt(2, 1, (1, 200))]);
    at.poll(10);
    assert!(at.storms().is_empty() && at.sent().is_empty());
    at.poll(20);
    at
}

fn storm(action: WatchdogAction, (from, to): (u64, Option<u64>), dropped: u64) -> PauseStorm {
    let to = to.map_or(Time::NEVER, |us| Time(us * 1_000_000));
    PauseStorm { port: PortId(1), queue: 1, action, from: Time(from * 1_000_000), to, dropped }
}

#[test]
fn drop_empties_the_queue_and_drops_what_comes_for_it_or_in_by_its_port() {
    let mut at = in_storm("drop");
    assert_eq!((at.storms(), at.dropped_at(1)), (&[storm(WatchdogAction::Drop, (20, None), 2)][..], 2));
    assert_eq!(at.out.paused, [(1, 1, true), (1, 1, false)], "the pause has no effect any more");
    // For the queue; from the port in its class; and three frames that have nothing to do with it.
    at.arrive(21, &mut [pkt(0, 1, (1, 100)), pkt(1, 2, (1, 100))]);
    assert_eq!((at.dropped_at(1), at.dropped_at(2), at.sent()), (3, 1, vec![]));
    at.arrive(22, &mut [pkt(0, 2, (1, 101)), pkt(0, 1, (2, 102)), pkt(1, 3, (2, 103))]);
    let mut sent = at.sent();
    sent.sort_unstable();
    assert_eq!(sent, [(1, 102), (2, 101), (3, 103)]);
    assert_eq!(at.storms()[0].dropped, 4);
    assert!(at.out.lost.is_empty(), "losses by the watchdog break no promise");
    assert!(at.out.ignored.is_empty(), "nothing is sent in spite of a pause");
}

#[test]
fn action_ends_after_the_restoration_time_without_a_pause() {
    let mut at = in_storm("drop");
    at.pause(25, true);
    assert_eq!(at.out.paused.len(), 2, "a pause in a storm has no effect");
    for us in [30, 40, 50] {
        at.poll(us);
    }
    at.arrive(55, &mut [pkt(0, 1, (1, 100))]);
    assert_eq!((at.storms()[0].to, at.dropped_at(1)), (Time::NEVER, 3));
    at.poll(60);
    assert_eq!(at.storms(), [storm(WatchdogAction::Drop, (20, Some(60)), 3)]);
    let polls = at.out.timers.len();
    at.arrive(61, &mut [pkt(0, 1, (1, 100)), pkt(1, 2, (1, 104))]);
    let mut sent = at.sent();
    sent.sort_unstable();
    assert_eq!(sent, [(1, 100), (2, 104)]);
    assert_eq!(at.out.timers.len(), polls, "no poll while nothing is paused");
    at.pause(65, true);
    assert_eq!(at.out.paused.last(), Some(&(1, 1, true)), "pauses have their effect again");
    assert!(at.out.timers[polls..].iter().any(|(_, at)| *at == Time(70_000_000)), "{:?}", at.out.timers);
}

#[test]
fn forward_sends_in_spite_of_pauses() {
    let mut at = in_storm("forward");
    assert_eq!(at.sent(), [(1, 100)]);
    at.pause(21, true);
    at.arrive(22, &mut [pkt(1, 2, (1, 105))]);
    at.switch.step(&[PortId(1)], &mut [], step_at!(Time(23_000_000), &mut at.out));
    let mut sent = at.sent();
    sent.sort_unstable();
    assert_eq!(sent, [(1, 200), (2, 105)]);
    assert_eq!((at.storms(), at.dropped_at(1)), (&[storm(WatchdogAction::Forward, (20, None), 0)][..], 0));
    assert_eq!(at.out.ignored, [PortId(1)]);
}

#[test]
fn alert_only_records_the_storm() {
    let mut at = in_storm("alert");
    assert!(at.sent().is_empty() && at.out.ignored.is_empty());
    at.poll(30);
    at.pause(35, false);
    assert_eq!(at.sent(), [(1, 100)]);
    at.poll(40);
    assert_eq!(at.storms(), [storm(WatchdogAction::Alert, (20, Some(40)), 0)]);
}

#[test]
fn queue_that_sends_between_pauses_is_in_no_storm() {
    let mut at = Watched::new("drop");
    at.pause(1, true);
    at.arrive(2, &mut [pkt(0, 1, (1, 100)), pkt(0, 1, (1, 200))]);
    at.poll(10);
    at.pause(11, false);
    at.pause(12, true);
    assert_eq!(at.sent(), [(1, 100)]);
    for us in [20, 30] {
        at.poll(us);
    }
    assert!(at.storms().is_empty(), "one frame left between the polls at 10 and 20 us");
    at.poll(40);
    assert_eq!(at.storms(), [storm(WatchdogAction::Drop, (40, None), 1)]);
}

#[test]
fn empty_queue_is_in_a_storm_if_it_is_paused_throughout() {
    let mut at = Watched::new("drop");
    at.pause(1, true);
    for us in [10, 20] {
        at.poll(us);
        assert!(at.storms().is_empty(), "it was not paused at 0 us");
    }
    at.poll(30);
    assert_eq!(at.storms(), [storm(WatchdogAction::Drop, (30, None), 0)]);
}

/// Test of a pause frame that takes effect 15 us after its arrival at 1 us: the polls go on in between.
#[test]
fn pause_that_takes_effect_after_a_poll_is_found() {
    let mut at = Watched::with_response("drop", Dur::us(15));
    at.pause(1, true);
    at.poll(10);
    // Another timer at this instant makes the pause take effect.
    at.poll(16);
    assert_eq!(at.out.paused, [(1, 1, true)]);
    at.arrive(17, &mut [pkt(0, 1, (1, 100))]);
    at.poll(20);
    assert!(at.storms().is_empty());
    at.poll(30);
    assert_eq!(at.storms(), [storm(WatchdogAction::Drop, (30, None), 1)]);
}

#[test]
fn class_that_pfc_does_not_pause_has_no_watchdog() {
    let mut at = Watched::new("drop");
    at.arrive(1, &mut [pfc_frame_of(QUANTA, 1, (0b1, 0)), pkt(0, 1, (0, 100))]);
    assert!(at.sent().is_empty());
    let polls = at.out.timers.iter().filter(|(_, at)| *at == Time(10_000_000));
    assert_eq!(polls.count(), 0);
}

#[test]
fn link_that_goes_down_ends_the_storm() {
    let mut at = in_storm("drop");
    at.switch.on_links_down(&[PortId(1)], DeadPortPolicy::Drop, step_at!(Time(25_000_000), &mut at.out));
    assert_eq!(at.storms(), [storm(WatchdogAction::Drop, (20, Some(25)), 2)]);
    at.arrive(26, &mut [pkt(0, 1, (1, 100)), pkt(0, 2, (1, 106))]);
    assert_eq!((at.dropped_at(1), at.sent()), (2, vec![(2, 106)]), "a dead link is another reason");
    at.switch.on_link_up(PortId(1), step_at!(Time(28_000_000), &mut at.out));
    at.arrive(29, &mut [pkt(0, 1, (1, 107))]);
    assert_eq!(at.sent(), [(1, 107)]);
}
