//! Nobody is stopped.

use crate::params::Spec;

pub(super) const SPEC: Spec =
    Spec { slot: "switch.pause", kind: "none", doc: "No port is paused.", cite: "", params: &[] };

#[cfg(test)]
mod tests {
    use super::super::PauseFor;
    use crate::Registry;
    use crate::params::Values;
    use units::Rate;

    #[test]
    fn without_pause_no_mechanism_is_asked() {
        let mut none = Registry::catalogue()
            .make::<PauseFor>("none", &Values::default())
            .expect("it is there")
            .at(Rate::gbps(1).clock());
        assert!(none.get().is_none() && none.pausing().is_none());
    }
}
