//! Tests of `keep_alive`: a timer by which QCN samples its queue while the far end is paused.

use super::*;

/// Creates a congestion point at an input above its set point, with a timer of 10 us.
fn bench(draws: &[f64]) -> Bench {
    let mut bench =
        Bench::new("at=inputs jitter=0 culprit=occupancy keep_alive=10us", DecisionInputs::with_draws(draws));
    bench.memory = Memory::with_flows(256, &[(110_000, 1000)]);
    bench
}

fn class(n: u8) -> ClassSet {
    ClassSet::single(n)
}

impl Bench {
    /// Informs the agent of a pause frame sent to the far end, `us` microseconds after the start.
    fn pause(&mut self, us: u64, xoff: ClassSet, xon: ClassSet) {
        self.now = Time(us * 1_000_000);
        self.qcn.on_pause_sent(xoff, xon, &mut self.desk.env_at(self.now));
        assert_eq!(self.last_notice(), None);
    }
    /// Lets the sampling timer expire, and returns the congestion message that follows, if any.
    fn expire_timer(&mut self) -> Option<SentNotice> {
        self.now = self.clock.take().expect("it runs");
        let at = AgentContext { view: &self.memory, port: PORT, stored: None };
        self.qcn.on_timer(SAMPLE_TIMER, &at, &mut self.desk.env_at(self.now));
        self.last_notice()
    }
    /// Returns the time at which the sampling timer expires, in microseconds, if it runs.
    fn next_expiry(&self) -> Option<u64> {
        self.clock.map(|at| at.0 / 1_000_000)
    }
}

#[test]
fn a_clock_samples_from_pause_to_resume() {
    let mut bench = bench(&[0.001, 0.999]);
    bench.pause(5, class(3), ClassSet::NONE);
    assert_eq!(bench.next_expiry(), Some(15));
    assert_eq!(bench.expire_timer(), Some((0, 56, 50_000, 110_000)));
    assert_eq!(bench.next_expiry(), Some(25));
    assert_eq!(bench.expire_timer(), Some((0, 10, 50_000, 0)));
    bench.pause(30, ClassSet::NONE, class(3));
    assert_eq!(bench.next_expiry(), None);
    assert_eq!(bench.desk.rng.remaining_draws(), 0);
    bench.pause(40, class(3), ClassSet::NONE);
    assert_eq!(bench.next_expiry(), Some(50));
}

#[test]
fn a_pause_that_is_sent_again_does_not_set_the_clock_anew() {
    let mut bench = bench(&[0.51]);
    bench.pause(0, class(3), ClassSet::NONE);
    bench.pause(6, class(3), ClassSet::NONE);
    assert_eq!(bench.next_expiry(), Some(10));
    assert!(bench.expire_timer().is_some());
    bench.pause(16, ClassSet::ALL, ClassSet::NONE);
    assert_eq!(bench.next_expiry(), Some(20));
}

#[test]
fn other_classes_neither_start_nor_stop_it() {
    let mut bench = bench(&[]);
    bench.pause(0, class(2), ClassSet::NONE);
    assert_eq!(bench.next_expiry(), None);
    bench.pause(1, class(3), ClassSet::NONE);
    bench.pause(2, class(4), class(2));
    assert_eq!(bench.next_expiry(), Some(11));
    // In a frame that pauses and resumes, its own class counts.
    bench.pause(3, class(2), ClassSet::ALL.minus(class(2)));
    assert_eq!(bench.next_expiry(), None);
}

#[test]
fn a_sample_of_the_clock_is_one_like_any_and_bytes_are_counted_from_there() {
    let mut bench = bench(&[0.001]);
    assert_eq!(bench.add_arrival(0, 149_000), None);
    bench.pause(0, class(3), ClassSet::NONE);
    assert!(bench.expire_timer().is_some());
    // Feedback is 56: the interval is 18.5 KB from now on, and 110 KB is the old length.
    assert_eq!(bench.bytes_until_sample(), 18_500);
    bench.memory.frames.truncate(60);
    assert_eq!(bench.expire_timer(), None);
    assert_eq!((bench.bytes_until_sample(), bench.next_expiry()), (150_000, Some(30)));
}

#[test]
fn a_link_that_changes_stops_it_and_the_next_pause_starts_it() {
    let mut bench = bench(&[]);
    bench.pause(0, class(3), ClassSet::NONE);
    bench.qcn.on_link_change(PORT, &mut bench.desk.env());
    // The caller has cleared the timer.
    bench.clock = None;
    assert_eq!(bench.last_notice(), None);
    bench.pause(50, class(3), ClassSet::NONE);
    assert_eq!(bench.next_expiry(), Some(60));
}

#[test]
fn lengths_and_intervals_go_on_where_a_link_changes() {
    let mut bench = Bench::without_jitter("");
    bench.set_queue(100_000, 150_000);
    bench.set_queue(100_000, 1500);
    bench.qcn.on_link_change(PORT, &mut bench.desk.env());
    assert_eq!(bench.bytes_until_sample(), 20_000);
    assert_eq!(bench.set_queue(100_000, 20_000), Some((0, 8, 40_000, 0)));
}

#[test]
fn without_a_period_there_is_no_clock() {
    for at in ["inputs", "outputs"] {
        let mut bench = Bench::without_jitter(&format!("at={at}"));
        bench.pause(0, ClassSet::ALL, ClassSet::NONE);
        bench.pause(1, ClassSet::NONE, ClassSet::ALL);
        assert_eq!(bench.next_expiry(), None);
    }
}
