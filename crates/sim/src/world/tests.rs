use super::*;

const SEEN: Seen = Seen {
    now: Time(5),
    events: 9,
    check_at: u64::MAX,
    unfinished: 1,
    begun: MOST_OPEN + 70,
    ended: 70,
    failed: false,
};

fn stop(seen: Seen) -> Option<Stop> {
    let schedule = Schedule {
        from: Time::ZERO,
        to: Time(1 << 40),
        duration: Time(1 << 40),
        drain: Dur(1 << 40),
        max_events: None,
        grid: Grid::of(Dur(1 << 40)),
    };
    match schedule.verdict(&seen, Time(1 << 39)) {
        Verdict::End(stop, _) => Some(stop),
        _ => None,
    }
}

#[test]
fn a_run_with_more_flows_than_fit_the_memory_is_stopped_whatever_few_events_began_them() {
    assert_eq!(stop(SEEN), None);
    assert_eq!(stop(Seen { ended: 69, ..SEEN }), Some(Stop::Overloaded), "too many at a time");
    assert_eq!(stop(Seen { begun: MOST_FLOWS, ended: MOST_FLOWS, ..SEEN }), None);
    assert_eq!(stop(Seen { begun: MOST_FLOWS + 1, ended: MOST_FLOWS, ..SEEN }), Some(Stop::Overloaded), "in all");
}
