//! Every switch knows the ways to every host from the start, and they stay.

use crate::params::Spec;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.fib",
    kind: "static",
    doc: "Every switch knows the ways to every host, as the routes give them.",
    cite: "",
    params: &[],
};
