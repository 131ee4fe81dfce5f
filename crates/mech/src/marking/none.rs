//! No marks.

use crate::params::Spec;

pub(super) const SPEC: Spec =
    Spec { slot: "switch.marking", kind: "none", doc: "Nothing is marked.", cite: "RFC 3168 §5", params: &[] };

#[cfg(test)]
mod tests {
    use super::super::MarkingSlot;
    use super::SPEC;
    use crate::testing::values;

    #[test]
    fn without_marks_no_mechanism_is_asked() {
        let mut none = MarkingSlot::build("none", &values(&SPEC, "")).expect("it is in the catalogue");
        assert!(none.get().is_none());
    }
}
