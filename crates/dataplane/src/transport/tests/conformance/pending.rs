//! Conformance cases of rules that are not built yet. They must fail, so that the list cannot outlive its reason.

/// Names of pending conformance cases: `file: name` of one case, or `file` for all of its cases, pass or fail.
pub const PENDING: &[&str] = &[];
