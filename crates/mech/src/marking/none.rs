//! No marks.

use crate::params::Spec;

pub(super) const SPEC: Spec =
    Spec { slot: "switch.marking", kind: "none", doc: "Nothing is marked.", cite: "RFC 3168 §5", params: &[] };
