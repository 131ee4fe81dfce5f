//! Keys of configuration files of the HPCC ns-3 simulator, and the values that each accepts.

/// Key of a configuration file.
pub(super) struct Key {
    pub name: &'static str,
    pub form: ValueForm,
}

/// Form of the value of a key.
#[derive(Clone, Copy)]
pub(super) enum ValueForm {
    Number(Range),
    /// List of numbers of a fixed length.
    Numbers(&'static [Range]),
    Rate,
    /// Text of a single word.
    Text,
    /// Map: a number of entries, then the rate of a link and a number for each.
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
    const fn integers(what: &'static str, min: f64, max: f64) -> Range {
        Range { what, min, max, is_whole: true }
    }
    const fn reals(what: &'static str, min: f64, max: f64) -> Range {
        Range { what, min, max, is_whole: false }
    }
    /// Returns true if a number is in the range.
    pub fn contains(&self, n: f64) -> bool {
        (self.min..=self.max).contains(&n) && (!self.is_whole || n.fract() == 0.0)
    }
    /// Formats the range for messages.
    pub fn describe(&self) -> String {
        let kind = if self.is_whole { "a whole number" } else { "a number" };
        let gap = if self.what.is_empty() { "" } else { ", " };
        format!("{}{gap}{kind} from {} to {}", self.what, self.min, self.max)
    }
}

/// Largest value of the HPCC simulator's whole numbers.
const MAX_U32: f64 = u32::MAX as f64;

/// Range for the number of entries of a map.
pub(super) const ENTRY_COUNT: Range = Range::integers("the number of entries", 1.0, MAX_U32);
/// Range for the rate of a link in bit/s.
pub(super) const LINK_BITS_PER_SECOND: Range = Range::integers("the rate of a link in bit/s", 1.0, 1e15);

const FLAG: ValueForm = ValueForm::Number(Range::integers("1 or 0, for yes or no", 0.0, MAX_U32));
const INTEGER: ValueForm = ValueForm::Number(Range::integers("", 0.0, MAX_U32));
const PROBABILITY: Range = Range::reals("a probability", 0.0, 1.0);
const MICROSECONDS: ValueForm = ValueForm::Number(Range::reals("a time in us", 1.0, 1e9));
// The HPCC simulator multiplies thresholds by 1000, and sizes by 1024 twice, in 32 bits.
const KILOBYTES: ValueForm = ValueForm::Map(Range::integers("a threshold in KB", 0.0, 4_294_967.0));

macro_rules! keys {
    ($($name:literal: $takes:expr,)*) => {
        /// All known keys of HPCC's configuration files.
        pub(super) const KEYS: &[Key] = &[$(Key { name: $name, form: $takes }),*];
    };
}

keys! {
    "ENABLE_QCN": FLAG,
    "ENABLE_PFC": FLAG,
    "USE_DYNAMIC_PFC_THRESHOLD": FLAG,
    "BUFFER_SIZE": ValueForm::Number(Range::integers("a size in MiB", 1.0, 4095.0)),
    "KMIN_MAP": KILOBYTES,
    "KMAX_MAP": KILOBYTES,
    "PMAX_MAP": ValueForm::Map(PROBABILITY),
    "PACKET_PAYLOAD_SIZE": ValueForm::Number(Range::integers("a payload in bytes", 1.0, 9000.0)),
    "CC_MODE": INTEGER,
    "ALPHA_RESUME_INTERVAL": MICROSECONDS,
    "RATE_DECREASE_INTERVAL": MICROSECONDS,
    "RP_TIMER": MICROSECONDS,
    "EWMA_GAIN": ValueForm::Number(Range::reals("a gain", 1e-6, 1.0)),
    "FAST_RECOVERY_TIMES": ValueForm::Number(Range::integers("", 0.0, 999_999.0)),
    "CLAMP_TARGET_RATE": FLAG,
    "RATE_AI": ValueForm::Rate,
    "RATE_HAI": ValueForm::Rate,
    "MIN_RATE": ValueForm::Rate,
    "DCTCP_RATE_AI": ValueForm::Rate,
    "RATE_BOUND": FLAG,
    "HAS_WIN": FLAG,
    "ERROR_RATE_PER_LINK": ValueForm::Number(PROBABILITY),
    "L2_ACK_INTERVAL": INTEGER,
    "L2_BACK_TO_ZERO": FLAG,
    "L2_CHUNK_SIZE": INTEGER,
    "ACK_HIGH_PRIO": FLAG,
    "LINK_DOWN": ValueForm::Numbers(&[
        Range::integers("a time in us", 0.0, 1e18),
        Range::integers("the id of a node", 0.0, MAX_U32),
        Range::integers("the id of a node", 0.0, MAX_U32),
    ]),
    "TOPOLOGY_FILE": ValueForm::Text,
    "FLOW_FILE": ValueForm::Text,
    // Listed only so that they are not reported as unknown: keys for output, for other congestion control, or for
    // nothing.
    "TRACE_FILE": ValueForm::Text,
    "TRACE_OUTPUT_FILE": ValueForm::Text,
    "FCT_OUTPUT_FILE": ValueForm::Text,
    "PFC_OUTPUT_FILE": ValueForm::Text,
    "QLEN_MON_FILE": ValueForm::Text,
    "QLEN_MON_START": ValueForm::Text,
    "QLEN_MON_END": ValueForm::Text,
    "ENABLE_TRACE": INTEGER,
    "SIMULATOR_STOP_TIME": ValueForm::Text,
    "PAUSE_TIME": ValueForm::Text,
    "DATA_RATE": ValueForm::Text,
    "LINK_DELAY": ValueForm::Text,
    "GLOBAL_T": INTEGER,
    "VAR_WIN": INTEGER,
    "FAST_REACT": INTEGER,
    "U_TARGET": ValueForm::Text,
    "MI_THRESH": INTEGER,
    "INT_MULTI": INTEGER,
    "MULTI_RATE": INTEGER,
    "SAMPLE_FEEDBACK": INTEGER,
    "PINT_LOG_BASE": ValueForm::Text,
    "PINT_PROB": ValueForm::Text,
}
