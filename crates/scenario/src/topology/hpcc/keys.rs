//! Keys of configuration files of the HPCC ns-3 simulator, and the values that each accepts.

/// Key of a configuration file.
pub(super) struct Key {
    pub name: &'static str,
    pub takes: Takes,
}

/// Form of the value of a key.
#[derive(Clone, Copy)]
pub(super) enum Takes {
    Number(Range),
    /// Fixed number of numbers.
    Numbers(&'static [Range]),
    Rate,
    /// Any single word.
    Text,
    /// Number of entries, then the rate of a link and a number for each.
    Map(Range),
}

/// Range of a number.
#[derive(Clone, Copy)]
pub(super) struct Range {
    what: &'static str,
    min: f64,
    max: f64,
    is_whole: bool,
}

impl Range {
    const fn whole(what: &'static str, min: f64, max: f64) -> Range {
        Range { what, min, max, is_whole: true }
    }
    const fn any(what: &'static str, min: f64, max: f64) -> Range {
        Range { what, min, max, is_whole: false }
    }
    /// Returns true if a number is in the range.
    pub fn has(&self, n: f64) -> bool {
        (self.min..=self.max).contains(&n) && (!self.is_whole || n.fract() == 0.0)
    }
    /// Formats the range for messages.
    pub fn rule(&self) -> String {
        let kind = if self.is_whole { "a whole number" } else { "a number" };
        let gap = if self.what.is_empty() { "" } else { ", " };
        format!("{}{gap}{kind} from {} to {}", self.what, self.min, self.max)
    }
}

/// Largest value of the HPCC simulator's whole numbers.
const U32: f64 = u32::MAX as f64;

/// Number of entries of a map.
pub(super) const COUNT: Range = Range::whole("the number of entries", 1.0, U32);
/// Rate of a link.
pub(super) const BITS: Range = Range::whole("the rate of a link in bit/s", 1.0, 1e15);

const FLAG: Takes = Takes::Number(Range::whole("1 or 0, for yes or no", 0.0, U32));
const WHOLE: Takes = Takes::Number(Range::whole("", 0.0, U32));
const PROBABILITY: Range = Range::any("a probability", 0.0, 1.0);
const MICROSECONDS: Takes = Takes::Number(Range::any("a time in us", 1.0, 1e9));
// The HPCC simulator multiplies thresholds by 1000, and sizes by 1024 twice, in 32 bits.
const KILOBYTES: Takes = Takes::Map(Range::whole("a threshold in KB", 0.0, 4_294_967.0));

macro_rules! keys {
    ($($name:literal: $takes:expr,)*) => {
        /// All known keys.
        pub(super) const KEYS: &[Key] = &[$(Key { name: $name, takes: $takes }),*];
    };
}

keys! {
    "ENABLE_QCN": FLAG,
    "ENABLE_PFC": FLAG,
    "USE_DYNAMIC_PFC_THRESHOLD": FLAG,
    "BUFFER_SIZE": Takes::Number(Range::whole("a size in MiB", 1.0, 4095.0)),
    "KMIN_MAP": KILOBYTES,
    "KMAX_MAP": KILOBYTES,
    "PMAX_MAP": Takes::Map(PROBABILITY),
    "PACKET_PAYLOAD_SIZE": Takes::Number(Range::whole("a payload in bytes", 1.0, 9000.0)),
    "CC_MODE": WHOLE,
    "ALPHA_RESUME_INTERVAL": MICROSECONDS,
    "RATE_DECREASE_INTERVAL": MICROSECONDS,
    "RP_TIMER": MICROSECONDS,
    "EWMA_GAIN": Takes::Number(Range::any("a gain", 1e-6, 1.0)),
    "FAST_RECOVERY_TIMES": Takes::Number(Range::whole("", 0.0, 999_999.0)),
    "CLAMP_TARGET_RATE": FLAG,
    "RATE_AI": Takes::Rate,
    "RATE_HAI": Takes::Rate,
    "MIN_RATE": Takes::Rate,
    "DCTCP_RATE_AI": Takes::Rate,
    "RATE_BOUND": FLAG,
    "HAS_WIN": FLAG,
    "ERROR_RATE_PER_LINK": Takes::Number(PROBABILITY),
    "L2_ACK_INTERVAL": WHOLE,
    "L2_BACK_TO_ZERO": FLAG,
    "L2_CHUNK_SIZE": WHOLE,
    "ACK_HIGH_PRIO": FLAG,
    "LINK_DOWN": Takes::Numbers(&[
        Range::whole("a time in us", 0.0, 1e18),
        Range::whole("the id of a node", 0.0, U32),
        Range::whole("the id of a node", 0.0, U32),
    ]),
    "TOPOLOGY_FILE": Takes::Text,
    "FLOW_FILE": Takes::Text,
    // Keys of output, and keys that affect other congestion control or nothing.
    "TRACE_FILE": Takes::Text,
    "TRACE_OUTPUT_FILE": Takes::Text,
    "FCT_OUTPUT_FILE": Takes::Text,
    "PFC_OUTPUT_FILE": Takes::Text,
    "QLEN_MON_FILE": Takes::Text,
    "QLEN_MON_START": Takes::Text,
    "QLEN_MON_END": Takes::Text,
    "ENABLE_TRACE": WHOLE,
    "SIMULATOR_STOP_TIME": Takes::Text,
    "PAUSE_TIME": Takes::Text,
    "DATA_RATE": Takes::Text,
    "LINK_DELAY": Takes::Text,
    "GLOBAL_T": WHOLE,
    "VAR_WIN": WHOLE,
    "FAST_REACT": WHOLE,
    "U_TARGET": Takes::Text,
    "MI_THRESH": WHOLE,
    "INT_MULTI": WHOLE,
    "MULTI_RATE": WHOLE,
    "SAMPLE_FEEDBACK": WHOLE,
    "PINT_LOG_BASE": Takes::Text,
    "PINT_PROB": Takes::Text,
}
