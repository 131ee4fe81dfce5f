//! PABO §II-G: what a source does with its packets that come back.
//!
//! It puts each back into its NIC, in the bounce queue, for another try. The paper adds that such
//! packets may tell the source of congestion which the network cannot handle, and that it would lower
//! its rate by how severe that is, "measured by for example" how many came back within some time. It
//! gives no law and no experiment uses one, nor does the authors' code: `none` is the default.
//!
//! The law of `window_cut` is ours. Data frames of a flow that come back are counted; a count is over
//! when `window` has passed since its first frame, or when what was under way at a cut is acknowledged.
//! Once `threshold` frames have come back, the congestion window is cut from what it was to
//! (1 - `cut` × share), share being their payload over the bytes that were under way, at most 1; as
//! more come back it is cut further, never below two segments. So a flight that came back whole is cut
//! by `cut`. That is one cut a window of data, whichever signal asks for it: a mark, a loss or this.

use crate::params;
use crate::params::{Kind, Spec, Values};
use crate::{Head, HostId, Mechanism};
use units::{Dur, Time};

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reinject;

impl Reinject {
    /// Whether `me` sends `pkt` out again instead of taking it.
    pub fn wants(self, pkt: &Head, me: HostId) -> bool {
        pkt.bounces > 0 && pkt.dst != me && pkt.src == me
    }
}

const NONE: Spec = Spec {
    slot: "host.bounce_signal",
    kind: "none",
    doc: "A source sends bounced packets again, and its transport is not informed.",
    cite: "PABO §II-G",
    params: &[],
};

params! {
    /// The values of its parameters.
    pub(crate) struct Given {
        window: Dur = {
            doc: "Time within which the frames of a flow that come back are counted together.",
            kind: Kind::Time { min: 1 },
            default: Some("1ms"),
        },
        threshold: u64 = {
            doc: "So many frames have to come back within it.",
            kind: Kind::Count { min: 1, max: 1_000_000 },
            default: Some("1"),
        },
        cut: f64 = {
            doc: "Share of the congestion window that is cut where the whole flight came back.",
            kind: Kind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("0.5"),
        },
    }
}

const WINDOW_CUT: Spec = Spec {
    slot: "host.bounce_signal",
    kind: "window_cut",
    doc: "A source cuts its congestion window in proportion to the share of its flight that came back, once a \
          window of data; the law is not the paper's, which gives none.",
    cite: "PABO §II-G",
    params: Given::PARAMS,
};

/// How a source's transport is informed of bounced packets; `None` is not at all.
pub type BounceSignal = Option<WindowCut>;

/// The mechanisms of this slot.
pub const ALL: &[Mechanism<BounceSignal>] =
    &[Mechanism::new(&NONE, |_| None), Mechanism::new(&WINDOW_CUT, |values| Some(WindowCut::new(values)))];

/// The law of `window_cut`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowCut {
    window: Dur,
    threshold: u64,
    cut: f64,
}

/// What has come back of one flow and is counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Returned {
    since: Time,
    frames: u64,
    bytes: u64,
}

impl WindowCut {
    /// From validated parameters.
    pub fn new(values: &Values) -> WindowCut {
        let Given { window, threshold, cut } = Given::read(values);
        WindowCut { window, threshold, cut }
    }
    /// Counts a frame with so many bytes of payload that came back at `now`; whether enough have.
    pub fn count(&self, returned: &mut Returned, now: Time, payload: u16) -> bool {
        if returned.frames == 0 || now.since(returned.since) >= self.window {
            *returned = Returned { since: now, frames: 0, bytes: 0 };
        }
        returned.frames += 1;
        returned.bytes += u64::from(payload);
        returned.frames >= self.threshold
    }
    /// What a window of so many bytes is cut to, with `flight` bytes under way, before any floor.
    pub fn cut(&self, window: u32, flight: u32, returned: &Returned) -> u32 {
        let share = (returned.bytes as f64 / f64::from(flight.max(1))).min(1.0);
        (f64::from(window) * (1.0 - self.cut * share)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{head, values};

    fn law(given: &str) -> WindowCut {
        WindowCut::new(&values(&WINDOW_CUT, given))
    }

    #[test]
    fn only_what_its_source_gets_back_goes_out_again() {
        assert!(Reinject.wants(&head("dst=9 src=1 np=1"), HostId(1)));
        assert!(Reinject.wants(&head("dst=9 src=1 np=200"), HostId(1)));
        assert!(!Reinject.wants(&head("dst=9 src=1 np=1"), HostId(9)));
        assert!(!Reinject.wants(&head("dst=9 src=1"), HostId(1)));
        assert!(!Reinject.wants(&head("dst=9 src=2 np=1"), HostId(1)), "a flooded copy of somebody else's");
    }

    #[test]
    fn frames_are_counted_together_for_a_window_from_the_first_of_them_on() {
        let (law, mut back) = (law("window=1ms threshold=3"), Returned::default());
        let enough = [0, 400, 999, 999].map(|us| law.count(&mut back, Time::ZERO + Dur::us(us), 1000));
        assert_eq!(enough, [false, false, true, true]);
        assert_eq!((back.frames, back.bytes), (4, 4000));
        assert!(!law.count(&mut back, Time::ZERO + Dur::ms(1), 500));
        assert_eq!((back.frames, back.bytes), (1, 500));
    }

    #[test]
    fn the_cut_is_in_proportion_to_the_share_of_the_flight() {
        let back = |bytes| Returned { since: Time::ZERO, frames: 1, bytes };
        let half = law("");
        assert_eq!(half.cut(20_000, 10_000, &back(0)), 20_000);
        assert_eq!(half.cut(20_000, 10_000, &back(1_000)), 19_000);
        assert_eq!(half.cut(20_000, 10_000, &back(10_000)), 10_000);
        assert_eq!(half.cut(20_000, 10_000, &back(99_000)), 10_000, "a frame may come back more than once");
        assert_eq!(law("cut=1").cut(20_000, 10_000, &back(5_000)), 10_000);
        assert_eq!(law("cut=0").cut(20_000, 10_000, &back(5_000)), 20_000);
        assert_eq!(half.cut(20_000, 0, &back(1)), 10_000);
    }

    #[test]
    fn the_default_is_to_hear_nothing() {
        assert_eq!(ALL[0].spec.kind, "none");
        assert_eq!((ALL[0].make)(&Values::default()), None);
    }
}
