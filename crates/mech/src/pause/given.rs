//! Parameters common to both kinds of pause.

use crate::params::{Kind, MaybeOff};
use crate::pause_levels::Level;
use crate::{Beside, Report, params};
use units::{Bytes, Dur};

/// Default of `offset`, in bytes.
const OFFSET_LEFT_OUT: u64 = 3000;

params! {
    /// Thresholds at which the far end is paused and resumed.
    pub(crate) struct Thresholds {
        xoff: Option<Bytes> = {
            doc: "XOFF threshold: memory in use from which on the far end is paused. Together with `xon`, instead of \
                  `alpha`.",
            kind: Kind::Size { min: 1 },
            default: Some(""),
        },
        xon: Option<Bytes> = {
            doc: "XON threshold, less than `xoff`: memory in use down to which the far end stays paused, and at which \
                  it is resumed.",
            kind: Kind::Size { min: 0 },
            default: Some(""),
        },
        alpha: Option<f64> = {
            doc: "Dynamic XOFF threshold, instead of `xoff`: this factor times the free memory of the shared buffer.",
            kind: Kind::Number { min: 0.0, max: 1e9, below_max: false },
            default: Some(""),
        },
        offset: Option<Bytes> = {
            doc: "Difference by which XON is below XOFF, with `alpha`. The default is 3 KB.",
            kind: Kind::Size { min: 0 },
            default: Some(""),
        },
    }
}

params! {
    /// Contents and effect of pause frames.
    pub(crate) struct Frames {
        quanta: u64 = {
            doc: "Duration of a pause, in units of 512 bit times of the port.",
            kind: Kind::Count { min: 1, max: 65_535 },
            default: Some("65535"),
        },
        refresh: MaybeOff = {
            doc: "Time after which the far end is paused again while the count is above XON, in the unit of `quanta`. \
                  The default is half of `quanta`.",
            kind: Kind::CountOrOff { min: 1, max: 65_535 },
            default: Some(""),
        },
        response: Dur = {
            doc: "Time from the arrival of a pause frame at the far end until it takes effect there.",
            kind: Kind::Time { min: 0 },
            default: Some("0us"),
        },
        lossless: bool = {
            doc: "Ends the run with an error if a packet of a paused class finds no memory. Otherwise the loss is \
                  counted.",
            kind: Kind::Flag,
            default: Some("true"),
        },
    }
}

impl Thresholds {
    /// Returns the thresholds as a level.
    pub(super) fn level(&self) -> Level {
        if let (Some(xoff), Some(xon)) = (self.xoff, self.xon) {
            return Level::Fixed { xoff: xoff.0, xon: xon.0 };
        }
        let offset = self.offset.map_or(OFFSET_LEFT_OUT, |offset| offset.0);
        Level::OfFree { alpha: (self.alpha.unwrap_or_default() * (1u64 << 32) as f64) as u64, offset }
    }
    /// Reports thresholds that are neither fixed nor dynamic, or both.
    pub(super) fn check(&self, beside: &Beside, report: &mut Report) {
        match (self.xoff, self.xon, self.alpha) {
            (Some(xoff), Some(xon), None) if xon >= xoff => {
                report.wrong("xon", xon, format!("less than xoff = {xoff}"));
            }
            (Some(_), Some(_), None) => {}
            (None, None, Some(_)) if !beside.shared => {
                let found = format!("alpha with a `{}` buffer", beside.buffer);
                report.wrong("alpha", found, "a `shared` buffer with alpha");
            }
            (None, None, Some(_)) => {}
            (None, None, None) => report.wrong("kind", "neither xoff nor alpha", "xoff and xon, or alpha"),
            (_, _, Some(_)) => report.wrong("alpha", "alpha together with xoff or xon", "xoff and xon, or alpha"),
            (Some(_), None, None) => report.wrong("xoff", "xoff without xon", "xoff and xon"),
            (None, Some(_), None) => report.wrong("xon", "xon without xoff", "xoff and xon"),
        }
        if self.offset.is_some() && self.alpha.is_none() {
            report.wrong("offset", "offset without alpha", "offset only with alpha; with xoff, the key is xon");
        }
    }
}

impl Frames {
    /// Reports a refresh after the pause has expired.
    pub(super) fn check(&self, report: &mut Report) {
        if let MaybeOff::Count(refresh) = self.refresh
            && refresh > self.quanta
        {
            report.wrong("refresh", refresh, format!("at most quanta = {}", self.quanta));
        }
    }
}
