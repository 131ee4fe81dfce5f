//! Every switch knows the ways to every host from the start, and they stay.

use crate::params::Spec;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.fib",
    kind: "static",
    doc: "Every switch has the routes to every host.",
    cite: "",
    params: &[],
};
