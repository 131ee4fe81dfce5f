//! Static forwarding table: every switch has the routes to every host from the start.

use crate::params::Spec;

pub(super) const SPEC: Spec = Spec {
    slot: "switch.fib",
    kind: "static",
    doc: "Gives every switch the routes to every host.",
    cite: "",
    params: &[],
};
