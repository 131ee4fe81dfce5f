//! Static threshold: the limit of each account is a fixed number of bytes, or there is none.

use super::{MemoryView, Threshold};
use crate::params;
use crate::params::{ParamKind, Spec, Values};
use units::Bytes;

/// Static threshold in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    bytes: u64,
}

params! {
    /// Parameter values of the static threshold.
    pub(crate) struct Params {
        limit: Option<Bytes> = {
            doc: "Memory beyond its reserve that an account may use. With 0 it uses no shared memory. Left out: only \
                  the size of the pool limits it.",
            kind: ParamKind::Size { min: 0 },
            default: Some(""),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.buffer.profiles.NAME.threshold",
    kind: "static",
    doc: "Limits an account to a fixed size, if it has `limit`.",
    cite: "",
    params: Params::PARAMS,
};

impl Fixed {
    /// Threshold without a limit: only the size of the pool limits an account.
    pub const UNLIMITED: Fixed = Fixed { bytes: u64::MAX };

    /// Creates the static threshold from validated parameters.
    pub fn new(values: &Values) -> Fixed {
        Params::read(values).limit.map_or(Fixed::UNLIMITED, |limit| Fixed { bytes: limit.0 })
    }
    /// Returns the limit in bytes.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }
}

impl Threshold for Fixed {
    fn limit(&self, _now: &MemoryView) -> u64 {
        self.bytes
    }
    fn clone_boxed(&self) -> Box<dyn Threshold> {
        Box::new(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::values;

    #[test]
    fn limit_is_a_size_or_absent() {
        assert_eq!(Fixed::new(&values(&SPEC, "limit=30KB")).bytes(), 30_000);
        assert_eq!(Fixed::new(&values(&SPEC, "")), Fixed::UNLIMITED);
    }
}
