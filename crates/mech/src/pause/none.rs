//! Nobody is stopped.

use crate::params::Spec;

pub(super) const SPEC: Spec =
    Spec { slot: "switch.pause", kind: "none", doc: "No port is paused.", cite: "", params: &[] };

#[cfg(test)]
mod tests {
    use super::super::PauseSlot;
    use super::SPEC;
    use crate::testing::values;
    use units::Rate;

    #[test]
    fn without_pause_no_mechanism_is_asked() {
        let mut none = PauseSlot::build("none", &values(&SPEC, ""), Rate::gbps(1).clock()).expect("in the catalogue");
        assert!(none.get().is_none() && none.peek().is_none());
    }
}
