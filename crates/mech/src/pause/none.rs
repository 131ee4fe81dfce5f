//! Pause mechanism `none`: a port never pauses its far end.

use crate::params::Spec;

pub(super) const SPEC: Spec =
    Spec { slot: "switch.pause", kind: "none", doc: "Pauses no port.", cite: "", params: &[] };

#[cfg(test)]
mod tests {
    use super::super::PauseSlot;
    use crate::Registry;
    use crate::params::Values;
    use units::Rate;

    #[test]
    fn pause_none_has_no_agent() {
        let none = Registry::catalogue().make::<PauseSlot>("none", &Values::default()).expect("it is there");
        assert!(none.for_port(Rate::gbps(1).clock()).peek().is_none() && none.pausing().is_none());
    }
}
