//! Parameters common to PAUSE and PFC.

use crate::params::{NumberOrOff, ParamKind};
use crate::pause_levels::PauseLevels;
use crate::{CheckContext, Report, params};
use units::{Bytes, Dur};

/// Default of the parameter `offset`, in bytes.
const DEFAULT_OFFSET_BYTES: u64 = 3000;

params! {
    /// Parameter values: thresholds at which the far end is paused and resumed.
    pub(crate) struct PauseThresholds {
        xoff: Option<Bytes> = {
            doc: "XOFF threshold: memory in use from which on the far end is paused. Set together with `xon`, or set \
                  `alpha` instead.",
            kind: ParamKind::Size { min: 1 },
            default: Some(""),
        },
        xon: Option<Bytes> = {
            doc: "XON threshold, less than `xoff`: memory in use down to which the far end stays paused, and at which \
                  it is resumed.",
            kind: ParamKind::Size { min: 0 },
            default: Some(""),
        },
        alpha: Option<f64> = {
            doc: "Dynamic XOFF threshold, instead of `xoff`: this factor times the free memory of the shared buffer.",
            kind: ParamKind::Number { min: 0.0, max: 1e9, below_max: false },
            default: Some(""),
        },
        offset: Option<Bytes> = {
            doc: "Difference by which XON is below XOFF, with `alpha`. The default is 3 KB.",
            kind: ParamKind::Size { min: 0 },
            default: Some(""),
        },
    }
}

params! {
    /// Parameter values: contents and effect of pause frames.
    pub(crate) struct PauseFrames {
        quanta: u64 = {
            doc: "Duration of a pause, in quanta of 512 bit times of the port.",
            kind: ParamKind::Count { min: 1, max: 65_535 },
            default: Some("65535"),
        },
        refresh: NumberOrOff = {
            doc: "Time after which the far end is paused again while the count is above XON, in the unit of `quanta`. \
                  The default is half of `quanta`.",
            kind: ParamKind::CountOrOff { min: 1, max: 65_535 },
            default: Some(""),
        },
        response: Dur = {
            doc: "Time from the arrival of a pause frame at the far end until it takes effect there.",
            kind: ParamKind::Time { min: 0 },
            default: Some("0us"),
        },
        response_by_rate: bool = {
            doc: "Sets the response time by link rate (IEEE 802.3 §31B.3.7), in quanta of 512 bit times: 1 up to \
                  100 Mb/s, 2 up to 1 Gb/s, 67 up to 10 Gb/s, 80 up to 25 Gb/s, 118 up to 40 Gb/s, 147 up to 50 Gb/s, \
                  394 up to 100 Gb/s, 453 up to 200 Gb/s, and 905 above.",
            kind: ParamKind::Flag,
            default: Some("false"),
        },
        lossless: bool = {
            doc: "Ends the run with an error if no memory is free for a packet of a paused class. With `false`, the \
                  loss is counted and the run continues.",
            kind: ParamKind::Flag,
            default: Some("true"),
        },
    }
}

impl PauseThresholds {
    /// Returns the key of a threshold that the scenario sets, if any.
    pub(super) fn given_key(&self) -> Option<&'static str> {
        let keys = [
            ("xoff", self.xoff.is_some()),
            ("xon", self.xon.is_some()),
            ("alpha", self.alpha.is_some()),
            ("offset", self.offset.is_some()),
        ];
        keys.into_iter().find(|(_, given)| *given).map(|(key, _)| key)
    }
    /// Returns the XOFF and XON thresholds, fixed or dynamic.
    pub(super) fn to_levels(&self) -> PauseLevels {
        if let (Some(xoff), Some(xon)) = (self.xoff, self.xon) {
            return PauseLevels::Fixed { xoff: xoff.0, xon: xon.0 };
        }
        let offset = self.offset.map_or(DEFAULT_OFFSET_BYTES, |offset| offset.0);
        PauseLevels::ShareOfFree { alpha: (self.alpha.unwrap_or_default() * (1u64 << 32) as f64) as u64, offset }
    }
    /// Reports pause thresholds that are neither fixed nor dynamic, or both.
    pub(super) fn check(&self, beside: &CheckContext, report: &mut Report) {
        match (self.xoff, self.xon, self.alpha) {
            (Some(xoff), Some(xon), None) if xon >= xoff => {
                report.add_error("xon", xon, format!("less than xoff = {xoff}"));
            }
            (Some(_), Some(_), None) => {}
            (None, None, Some(_)) if !beside.shared => {
                let of_queues = beside.buffer == "shared";
                let what = if of_queues { " and per = \"queue\"" } else { "" };
                let found = format!("alpha with a buffer of kind `{}`{what}", beside.buffer);
                let rule = match of_queues {
                    true => "a `shared` buffer with per = \"port\", or xoff and xon",
                    false => "a `shared` buffer with per = \"port\"",
                };
                report.add_error("alpha", found, rule);
            }
            (None, None, Some(_)) => {}
            (None, None, None) => report.add_error("kind", "neither xoff nor alpha", "xoff and xon, or alpha"),
            (_, _, Some(_)) => report.add_error("alpha", "alpha together with xoff or xon", "xoff and xon, or alpha"),
            (Some(_), None, None) => report.add_error("xoff", "xoff without xon", "xoff and xon"),
            (None, Some(_), None) => report.add_error("xon", "xon without xoff", "xoff and xon"),
        }
        if self.offset.is_some() && self.alpha.is_none() {
            report.add_error("offset", "offset without alpha", "offset only with alpha; with xoff, set xon instead");
        }
    }
}

impl PauseFrames {
    /// Reports a refresh time that is longer than the pause.
    pub(super) fn check(&self, report: &mut Report) {
        if self.response_by_rate && self.response != Dur::ZERO {
            report.add_error("response", self.response, "no `response` with response_by_rate = true");
        }
        if let NumberOrOff::Count(refresh) = self.refresh {
            if refresh > self.quanta {
                report.add_error("refresh", refresh, format!("at most quanta = {}", self.quanta));
            }
        }
    }
}
