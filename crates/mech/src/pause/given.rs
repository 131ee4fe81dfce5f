//! Parameters that both kinds of pause have.

use crate::params::{Kind, MaybeOff};
use crate::pause_levels::Level;
use crate::{Beside, Report, params};
use units::{Bytes, Dur};

/// `offset` where it is left out, bytes.
const OFFSET_LEFT_OUT: u64 = 3000;

params! {
    /// When the far end is paused and resumed.
    pub(crate) struct Thresholds {
        xoff: Option<Bytes> = {
            doc: "XOFF threshold: memory in use from which the far end is paused. With `xon`, instead of `alpha`.",
            kind: Kind::Size { min: 1 },
            default: Some(""),
        },
        xon: Option<Bytes> = {
            doc: "XON threshold: memory in use down to which the far end is resumed; less than `xoff`.",
            kind: Kind::Size { min: 0 },
            default: Some(""),
        },
        alpha: Option<f64> = {
            doc: "Dynamic threshold, instead of `xoff`: the factor of the free memory of the shared buffer that is XOFF.",
            kind: Kind::Number { min: 0.0, max: 1e9, below_max: false },
            default: Some(""),
        },
        offset: Option<Bytes> = {
            doc: "With `alpha`: XON is so much below XOFF; 3KB by default.",
            kind: Kind::Size { min: 0 },
            default: Some(""),
        },
    }
}

params! {
    /// What a pause frame says, and what it is worth.
    pub(crate) struct Frames {
        quanta: u64 = {
            doc: "How long a frame pauses the far end, in units of 512 bit times of the port.",
            kind: Kind::Count { min: 1, max: 65_535 },
            default: Some("65535"),
        },
        refresh: MaybeOff = {
            doc: "After so many quanta the far end is paused again while the count is above XON; half of `quanta` by default.",
            kind: Kind::CountOrOff { min: 1, max: 65_535 },
            default: Some(""),
        },
        response: Dur = {
            doc: "Time from the arrival of a pause frame at the far end until it takes effect there.",
            kind: Kind::Time { min: 0 },
            default: Some("0us"),
        },
        lossless: bool = {
            doc: "Whether the run fails where a packet of a paused class finds no memory; otherwise the loss is counted.",
            kind: Kind::Flag,
            default: Some("true"),
        },
    }
}

impl Thresholds {
    /// What they come to.
    pub(super) fn level(&self) -> Level {
        if let (Some(xoff), Some(xon)) = (self.xoff, self.xon) {
            return Level::Fixed { xoff: xoff.0, xon: xon.0 };
        }
        let offset = self.offset.map_or(OFFSET_LEFT_OUT, |offset| offset.0);
        Level::OfFree { alpha: (self.alpha.unwrap_or_default() * (1u64 << 32) as f64) as u64, offset }
    }
    /// They are fixed or of what is free, one or the other.
    pub(super) fn check(&self, beside: &Beside, report: &mut Report) {
        match (self.xoff, self.xon, self.alpha) {
            (Some(xoff), Some(xon), None) if xon >= xoff => {
                report.wrong("xon", xon, format!("less than xoff = {xoff}"));
            }
            (Some(_), Some(_), None) => {}
            (None, None, Some(_)) if !beside.shared => {
                let found = format!("alpha beside a `{}` buffer", beside.buffer);
                report.wrong("alpha", found, "a `shared` buffer beside alpha");
            }
            (None, None, Some(_)) => {}
            (None, None, None) => report.wrong("kind", "neither xoff nor alpha", "xoff and xon, or alpha"),
            (_, _, Some(_)) => report.wrong("alpha", "alpha beside xoff or xon", "xoff and xon, or alpha"),
            (Some(_), None, None) => report.wrong("xoff", "xoff without xon", "xoff and xon"),
            (None, Some(_), None) => report.wrong("xon", "xon without xoff", "xoff and xon"),
        }
        if self.offset.is_some() && self.alpha.is_none() {
            report.wrong("offset", "offset without alpha", "offset beside alpha; beside xoff it is xon");
        }
    }
}

impl Frames {
    /// A pause is refreshed before it is over.
    pub(super) fn check(&self, report: &mut Report) {
        if let MaybeOff::Count(refresh) = self.refresh
            && refresh > self.quanta
        {
            report.wrong("refresh", refresh, format!("at most quanta = {}", self.quanta));
        }
    }
}
