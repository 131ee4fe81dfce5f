//! Cases of what is not built yet: they must fail, so that the list cannot outlive its reason.

/// `file: name` of a case, or `file` for all of its cases, pass or fail.
pub const PENDING: &[&str] = &[];
