//! Mechanisms with parameters as files of other simulators describe them: tables that a scenario could have written.
//!
//! Loaders of such files name no mechanism themselves; parameters are checked as those of a scenario are.

use units::{Bytes, Dur, Rate};

/// Value of a parameter in a [`Preset`].
#[derive(Clone, Debug, PartialEq)]
pub enum PresetValue {
    /// A word or a quantity with its unit.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// Any number.
    Number(f64),
    /// A flag.
    Flag(bool),
}

/// A kind of mechanism with some of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Value of `kind`.
    pub kind: &'static str,
    /// Parameters by name.
    pub values: Vec<(&'static str, PresetValue)>,
}

/// Constants of DCQCN that a file gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DcqcnConstants {
    /// Least time between two cuts of a flow's rate.
    pub cut_interval: Option<Dur>,
    /// Time without a CNP after which alpha shrinks.
    pub alpha_timer: Option<Dur>,
    /// Time between two increases.
    pub rate_timer: Option<Dur>,
    /// Gain of alpha.
    pub gain: Option<f64>,
    /// Number of increases of fast recovery.
    pub recoveries: u64,
    /// Additive increase.
    pub additive: Option<Rate>,
    /// Hyper increase.
    pub hyper: Option<Rate>,
    /// Least rate of a flow.
    pub least: Option<Rate>,
}

fn text(value: impl ToString) -> PresetValue {
    PresetValue::Text(value.to_string())
}

impl Preset {
    /// A slot that is left empty.
    pub fn nothing() -> Preset {
        Preset { kind: "none", values: Vec::new() }
    }
    /// Marks of the instantaneous queue at random: none up to `min`, with probability `max_p` at `max`, all above it.
    /// Returns RED between two thresholds, by which packets that cannot carry a mark pass.
    pub fn marks_between(min: Bytes, max: Bytes, max_p: f64) -> Preset {
        if min == max {
            // A step marks from its threshold on, and here from a byte above it.
            return Preset { kind: "ecn_threshold", values: vec![("k", text(Bytes(max.0.saturating_add(1))))] };
        }
        let values = vec![
            ("min", text(min)),
            ("max", text(max)),
            ("max_p", PresetValue::Number(max_p)),
            ("weight", PresetValue::Whole(1)),
            ("gaps", text("geometric")),
            ("gentle", PresetValue::Flag(false)),
            ("not_ect", text("pass")),
        ];
        Preset { kind: "red", values }
    }
    /// PFC with XOFF as a fraction of the free memory and XON a fixed number of bytes below it; losses do not end the run.
    pub fn dynamic_pfc(part: f64, offset: Bytes) -> Preset {
        let values = vec![
            ("alpha", PresetValue::Number(part)),
            ("offset", text(offset)),
            ("lossless", PresetValue::Flag(false)),
        ];
        Preset { kind: "pfc", values }
    }
    /// One memory for all ports without a limit for any, some of it reserved for each.
    pub fn shared_memory(size: Bytes, reserved: Bytes) -> Preset {
        let values = vec![("size", text(size)), ("alpha", PresetValue::Number(1e9)), ("reserved", text(reserved))];
        Preset { kind: "shared", values }
    }
    /// NICs that serve flows in turn, each at its rate.
    pub fn flows_in_turn() -> Preset {
        Preset { kind: "round_robin", values: Vec::new() }
    }
    /// DCQCN with a timer and without a byte counter.
    pub fn dcqcn(constants: &DcqcnConstants) -> Preset {
        let quantity = |value: Option<String>| value.map(PresetValue::Text);
        let given = [
            ("cnp_interval", quantity(constants.cut_interval.map(|time| time.to_string()))),
            ("alpha_timer", quantity(constants.alpha_timer.map(|time| time.to_string()))),
            ("rate_timer", quantity(constants.rate_timer.map(|time| time.to_string()))),
            ("g", constants.gain.map(PresetValue::Number)),
            // The stage of the increase that is being made counts, so that recovery ends one below the threshold.
            ("threshold", Some(PresetValue::Whole(constants.recoveries + 1))),
            // More than any flow sends.
            ("byte_counter", Some(text("1000000GB"))),
            ("r_ai", quantity(constants.additive.map(|rate| rate.to_string()))),
            ("r_hai", quantity(constants.hyper.map(|rate| rate.to_string()))),
            ("min_rate", quantity(constants.least.map(|rate| rate.to_string()))),
        ];
        let values = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Preset { kind: "dcqcn", values: values.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HOST_SLOTS, Registry, SLOTS};
    use units::Dur;

    #[test]
    fn presets_name_declared_kinds_and_parameters() {
        let registry = Registry::catalogue();
        let slots = SLOTS.iter().map(|(slot, _)| registry.of_switch(slot));
        let all: Vec<_> = slots.chain(HOST_SLOTS.iter().map(|(slot, _)| registry.of_host(slot))).flatten().collect();
        let us = Some(Dur::us(1));
        let rate = Some(Rate::gbps(1));
        let dcqcn = DcqcnConstants {
            cut_interval: us,
            alpha_timer: us,
            rate_timer: us,
            gain: Some(0.5),
            recoveries: 5,
            additive: rate,
            hyper: rate,
            least: rate,
        };
        for preset in [
            Preset::nothing(),
            Preset::marks_between(Bytes(1), Bytes(2), 0.1),
            Preset::marks_between(Bytes(1), Bytes(1), 0.1),
            Preset::dynamic_pfc(0.125, Bytes(1)),
            Preset::shared_memory(Bytes(1), Bytes(1)),
            Preset::flows_in_turn(),
            Preset::dcqcn(&dcqcn),
        ] {
            let has = |name: &str| {
                all.iter().any(|spec| spec.kind == preset.kind && spec.params.iter().any(|param| param.name == name))
            };
            assert!(all.iter().any(|spec| spec.kind == preset.kind), "{}", preset.kind);
            preset.values.iter().for_each(|(name, _)| assert!(has(name), "{} has no {name}", preset.kind));
        }
    }
}
