//! Reaction of a source to packets that are bounced back to it (PABO §II-G).
//!
//! The source puts each packet back into the bounce queue of its NIC for another try. The paper adds that such packets
//! may inform the source of congestion that the network cannot handle. The source would lower its rate by the severity,
//! "measured by for example" the number that came back within some time. The paper gives no law, and neither its
//! experiments nor the authors' code use one: `none` is the default.
//!
//! The law of `window_cut` is ours. Data frames of a flow that come back are counted. A count ends when `window` has
//! passed since its first frame, or when the data in flight at a cut is acknowledged. Once `threshold` frames have come
//! back, the congestion window is multiplied by (1 - `cut` × share). The share is their payload over the bytes in
//! flight, at most 1. As more come back, the window is cut further, but never below two segments. So a flight that came
//! back completely cuts the window by `cut`. There is one such cut per window of data, whichever signal causes it: a
//! mark, a loss or this one.

use crate::params;
use crate::params::{ParamKind, Spec, Values};
use crate::{Head, HostId, Mechanism};
use units::{Dur, Time};

/// Rule by which a host sends its own bounced packets again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reinject;

impl Reinject {
    /// Returns true if host `me` sends `pkt` again instead of receiving it.
    pub fn applies_to(self, pkt: &Head, me: HostId) -> bool {
        // A flooded copy of another host's packet may arrive too, so the source must be `me`.
        pkt.bounces > 0 && pkt.dst != me && pkt.src == me
    }
}

const NONE_SPEC: Spec = Spec {
    slot: "host.bounce_signal",
    kind: "none",
    doc: "Sends bounced packets again without informing the transport of their source.",
    cite: "PABO §II-G",
    params: &[],
};

params! {
    /// Parameter values of `window_cut`.
    pub(crate) struct Params {
        window: Dur = {
            doc: "Time for which returning frames of a flow are counted together, from the first such frame on.",
            kind: ParamKind::Time { min: 1 },
            default: Some("1ms"),
        },
        threshold: u64 = {
            doc: "Number of returning frames within `window` from which on the congestion window is cut.",
            kind: ParamKind::Count { min: 1, max: 1_000_000 },
            default: Some("1"),
        },
        cut: f64 = {
            doc: "Share of the congestion window that is cut if all data in flight came back.",
            kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
            default: Some("0.5"),
        },
    }
}

const WINDOW_CUT_SPEC: Spec = Spec {
    slot: "host.bounce_signal",
    kind: "window_cut",
    doc: "Cuts the congestion window of a source in proportion to the share of its data in flight that came back, once \
          a window of data. The paper gives no law for this reaction; this one is our own.",
    cite: "PABO §II-G",
    params: Params::PARAMS,
};

/// Reaction of a source's transport to its bounced packets; `None` is no reaction.
pub type BounceSignal = Option<WindowCut>;

/// Mechanisms of the slot `bounce_signal` of hosts.
pub const ALL: &[Mechanism<BounceSignal>] =
    &[Mechanism::new(&NONE_SPEC, |_| None), Mechanism::new(&WINDOW_CUT_SPEC, |values| Some(WindowCut::new(values)))];

/// Reaction `window_cut`: cuts the congestion window of a flow whose frames came back to their source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowCut {
    window: Dur,
    threshold: u64,
    cut: f64,
}

/// Number and payload of the frames of one flow that came back and are counted together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReturnedFrames {
    since: Time,
    frames: u64,
    bytes: u64,
}

impl WindowCut {
    /// Creates `window_cut` from validated parameters.
    pub fn new(values: &Values) -> WindowCut {
        let Params { window, threshold, cut } = Params::read(values);
        WindowCut { window, threshold, cut }
    }
    /// Counts a frame with `payload` bytes that came back to its source, and returns true if the threshold is reached.
    pub fn count_returned(&self, returned: &mut ReturnedFrames, now: Time, payload: u16) -> bool {
        if returned.frames == 0 || now.since(returned.since) >= self.window {
            *returned = ReturnedFrames { since: now, frames: 0, bytes: 0 };
        }
        returned.frames += 1;
        returned.bytes += u64::from(payload);
        returned.frames >= self.threshold
    }
    /// Returns the congestion window in bytes after the cut, with `flight` bytes in flight, before any minimum.
    pub fn window_after_cut(&self, window: u32, flight: u32, returned: &ReturnedFrames) -> u32 {
        // A frame may come back more than once, so the share is limited to 1.
        let share = (returned.bytes as f64 / f64::from(flight.max(1))).min(1.0);
        (f64::from(window) * (1.0 - self.cut * share)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{parse_head, values};

    fn window_cut(given: &str) -> WindowCut {
        WindowCut::new(&values(&WINDOW_CUT_SPEC, given))
    }

    #[test]
    fn source_sends_only_its_own_bounced_packets_again() {
        assert!(Reinject.applies_to(&parse_head("dst=9 src=1 np=1"), HostId(1)));
        assert!(Reinject.applies_to(&parse_head("dst=9 src=1 np=200"), HostId(1)));
        assert!(!Reinject.applies_to(&parse_head("dst=9 src=1 np=1"), HostId(9)));
        assert!(!Reinject.applies_to(&parse_head("dst=9 src=1"), HostId(1)));
        assert!(!Reinject.applies_to(&parse_head("dst=9 src=2 np=1"), HostId(1)), "a flooded copy of somebody else's");
    }

    #[test]
    fn returned_frames_are_counted_within_one_window() {
        let (law, mut back) = (window_cut("window=1ms threshold=3"), ReturnedFrames::default());
        let enough = [0, 400, 999, 999].map(|us| law.count_returned(&mut back, Time::ZERO + Dur::us(us), 1000));
        assert_eq!(enough, [false, false, true, true]);
        assert_eq!((back.frames, back.bytes), (4, 4000));
        assert!(!law.count_returned(&mut back, Time::ZERO + Dur::ms(1), 500));
        assert_eq!((back.frames, back.bytes), (1, 500));
    }

    #[test]
    fn window_cut_is_proportional_to_the_returned_share() {
        let back = |bytes| ReturnedFrames { since: Time::ZERO, frames: 1, bytes };
        let half = window_cut("");
        assert_eq!(half.window_after_cut(20_000, 10_000, &back(0)), 20_000);
        assert_eq!(half.window_after_cut(20_000, 10_000, &back(1_000)), 19_000);
        assert_eq!(half.window_after_cut(20_000, 10_000, &back(10_000)), 10_000);
        assert_eq!(
            half.window_after_cut(20_000, 10_000, &back(99_000)),
            10_000,
            "a frame may come back more than once"
        );
        assert_eq!(window_cut("cut=1").window_after_cut(20_000, 10_000, &back(5_000)), 10_000);
        assert_eq!(window_cut("cut=0").window_after_cut(20_000, 10_000, &back(5_000)), 20_000);
        assert_eq!(half.window_after_cut(20_000, 0, &back(1)), 10_000);
    }

    #[test]
    fn default_bounce_signal_is_none() {
        assert_eq!(ALL[0].spec.kind, "none");
        assert_eq!((ALL[0].make)(&Values::default()), None);
    }
}
