//! What both kinds of pause share: thresholds, quanta and refreshing.

use crate::Account;
use crate::params::{Kind, Param, Value, Values};
use units::{Clock, Dur};

pub(super) const XOFF: Param = Param {
    name: "xoff",
    doc: "XOFF threshold: memory in use from which the far end is paused. With `xon`, instead of `alpha`.",
    kind: Kind::Size { min: 1 },
    default: Some(""),
};
pub(super) const XON: Param = Param {
    name: "xon",
    doc: "XON threshold: memory in use down to which the far end is resumed; less than `xoff`.",
    kind: Kind::Size { min: 0 },
    default: Some(""),
};
pub(super) const ALPHA: Param = Param {
    name: "alpha",
    doc: "Dynamic threshold, instead of `xoff`: the factor of the free memory of the shared buffer that is XOFF.",
    kind: Kind::Number { min: 0.0, max: 1e9, below_max: false },
    default: Some(""),
};
pub(super) const OFFSET: Param = Param {
    name: "offset",
    doc: "With `alpha`: XON is so much below XOFF; 3KB by default.",
    kind: Kind::Size { min: 0 },
    default: Some(""),
};
pub(super) const QUANTA: Param = Param {
    name: "quanta",
    doc: "How long a frame pauses the far end, in units of 512 bit times of the port.",
    kind: Kind::Count { min: 1, max: 65_535 },
    default: Some("65535"),
};
pub(super) const REFRESH: Param = Param {
    name: "refresh",
    doc: "After so many quanta the far end is paused again while the count is above XON; half of `quanta` by default.",
    kind: Kind::CountOrOff { min: 1, max: 65_535 },
    default: Some(""),
};
pub(super) const RESPONSE: Param = Param {
    name: "response",
    doc: "Time from the arrival of a pause frame at the far end until it takes effect there.",
    kind: Kind::Time { min: 0 },
    default: Some("0us"),
};
pub(super) const LOSSLESS: Param = Param {
    name: "lossless",
    doc: "Whether the run fails where a packet of a paused class finds no memory; otherwise the loss is counted.",
    kind: Kind::Flag,
    default: Some("true"),
};

/// `offset` where it is left out, bytes.
const OFFSET_LEFT_OUT: u64 = 3000;
/// Bytes in a quantum: 512 bits.
const QUANTUM: u64 = 64;

/// How much memory in use is too much, and how much is little enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// As many bytes at any time.
    Fixed {
        /// Stop from here on.
        xoff: u64,
        /// Go from here down.
        xon: u64,
    },
    /// A multiple of what is free in the memory that all ports share.
    OfFree {
        /// The multiple, in units of 2⁻³².
        alpha: u64,
        /// Bytes between stop and go.
        offset: u64,
    },
}

impl Level {
    /// From validated parameters.
    pub fn new(values: &Values) -> Level {
        if values.has("xoff") {
            return Level::Fixed { xoff: values.size("xoff"), xon: values.size("xon") };
        }
        let offset = if values.has("offset") { values.size("offset") } else { OFFSET_LEFT_OUT };
        Level::OfFree { alpha: (values.number("alpha") * (1u64 << 32) as f64) as u64, offset }
    }
    /// Bytes from which to say stop, and down to which to say go.
    pub fn at(&self, free: Option<u64>) -> (u64, u64) {
        match *self {
            Level::Fixed { xoff, xon } => (xoff, xon),
            Level::OfFree { alpha, offset } => {
                let times = (u128::from(alpha) * u128::from(free.unwrap_or(u64::MAX))) >> 32;
                let xoff = u64::try_from(times).unwrap_or(u64::MAX);
                (xoff, xoff.saturating_sub(offset))
            }
        }
    }
}

/// What is to be said now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Xoff,
    Xon,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) level: Level,
    pub(super) quanta: u16,
    /// The time of all of them.
    pub(super) duration: Dur,
    pub(super) refresh: Option<Dur>,
    pub(super) lossless: bool,
}

impl Rules {
    /// From validated parameters, for a port of this rate.
    pub(super) fn new(values: &Values, clock: Clock) -> Rules {
        let quanta = values.count("quanta");
        let refresh = match values.0.get("refresh") {
            Some(Value::Off) => None,
            Some(_) => values.count_or_off("refresh"),
            None => Some((quanta / 2).max(1)),
        };
        Rules {
            level: Level::new(values),
            quanta: quanta as u16,
            duration: clock.time(quanta * QUANTUM),
            refresh: refresh.map(|quanta| clock.time(quanta * QUANTUM)),
            lossless: values.flag("lossless"),
        }
    }

    /// Between which levels nothing is to be said. Levels that follow the free memory move with every frame of
    /// the switch, so that each change of one's own bytes is looked at.
    pub(super) fn levels(&self, stopped: bool) -> (u64, u64) {
        match self.level {
            Level::Fixed { xon, .. } if stopped => (xon.saturating_add(1), u64::MAX),
            Level::Fixed { xoff, .. } => (0, xoff.saturating_sub(1)),
            Level::OfFree { .. } => Account::EVERY_CHANGE,
        }
    }

    /// Whether `used` bytes, after a packet was stored or left, change what was said last.
    pub(super) fn turn(&self, stopped: bool, (used, stored): (u64, bool), free: Option<u64>) -> Option<Signal> {
        let (xoff, xon) = self.level.at(free);
        match (stored, stopped) {
            (true, false) if used >= xoff => Some(Signal::Xoff),
            (false, true) if used <= xon => Some(Signal::Xon),
            _ => None,
        }
    }

    /// What is to be said when it is time to say stop again.
    pub(super) fn again(&self, used: u64, free: Option<u64>) -> Signal {
        if used <= self.level.at(free).1 { Signal::Xon } else { Signal::Xoff }
    }
}
