//! Presets: mechanisms and parameters from files of other simulators, as tables of a scenario.
//!
//! Loaders of such files name no mechanism themselves. The parameters are checked like those of a scenario.

use units::{Bytes, Dur, Rate};

/// Value of a parameter in a [`Preset`].
#[derive(Clone, Debug, PartialEq)]
pub enum PresetValue {
    /// Word, or quantity with its unit, as text.
    Text(String),
    /// Whole number.
    Whole(u64),
    /// Number that need not be whole.
    Number(f64),
    /// Boolean value.
    Flag(bool),
}

/// Kind of a mechanism with values for some of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Name of the kind, the value of `kind`.
    pub kind: &'static str,
    /// Names and values of the parameters that are set.
    pub values: Vec<(&'static str, PresetValue)>,
}

/// Constants of DCQCN in a file of another simulator; `None` leaves the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DcqcnConstants {
    /// Minimum time between two cuts of a flow's rate.
    pub cut_interval: Option<Dur>,
    /// Time without a CNP after which alpha decreases.
    pub alpha_timer: Option<Dur>,
    /// Time between two increases of the rate.
    pub rate_timer: Option<Dur>,
    /// Gain g by which DCQCN updates its congestion estimate alpha.
    pub gain: Option<f64>,
    /// Number of increases in fast recovery.
    pub recoveries: u64,
    /// Rate that an additive increase adds.
    pub additive_increase: Option<Rate>,
    /// Rate that a hyper increase adds.
    pub hyper_increase: Option<Rate>,
    /// Minimum rate of a flow.
    pub min_rate: Option<Rate>,
}

fn text_value(value: impl ToString) -> PresetValue {
    PresetValue::Text(value.to_string())
}

impl Preset {
    /// Returns the preset that leaves a slot empty (`none`).
    pub fn empty_slot() -> Preset {
        Preset { kind: "none", values: Vec::new() }
    }
    /// Returns the preset of RED on the instantaneous queue, with probability `max_p` at `max`.
    /// No packet is marked up to `min`, and every packet above `max`. Packets that are not ECN-capable pass unmarked.
    pub fn instantaneous_red(min: Bytes, max: Bytes, max_p: f64) -> Preset {
        if min == max {
            // `ecn_threshold` marks from `k` on. The described simulator marks only above `min`, hence one byte more.
            return Preset { kind: "ecn_threshold", values: vec![("k", text_value(Bytes(max.0.saturating_add(1))))] };
        }
        let values = vec![
            ("min", text_value(min)),
            ("max", text_value(max)),
            ("max_p", PresetValue::Number(max_p)),
            ("weight", PresetValue::Whole(1)),
            ("gaps", text_value("geometric")),
            ("gentle", PresetValue::Flag(false)),
            ("not_ect", text_value("pass")),
        ];
        Preset { kind: "red", values }
    }
    /// Returns the preset of PFC with XOFF at a fraction of the free memory and XON `offset` below it.
    /// A loss does not end the run.
    pub fn dynamic_pfc(part: f64, offset: Bytes) -> Preset {
        let values = vec![
            ("alpha", PresetValue::Number(part)),
            ("offset", text_value(offset)),
            ("lossless", PresetValue::Flag(false)),
        ];
        Preset { kind: "pfc", values }
    }
    /// Returns the preset of a buffer that all ports share, with a reserve for each and no other limit.
    pub fn shared_memory(size: Bytes, reserved: Bytes) -> Preset {
        let values =
            vec![("size", text_value(size)), ("alpha", PresetValue::Number(1e9)), ("reserved", text_value(reserved))];
        Preset { kind: "shared", values }
    }
    /// Returns the preset of a NIC whose queues serve flows in turn, each at its rate.
    pub fn round_robin_nic() -> Preset {
        Preset { kind: "round_robin", values: Vec::new() }
    }
    /// Returns the preset of DCQCN with a timer and without a byte counter.
    pub fn dcqcn(constants: &DcqcnConstants) -> Preset {
        let quantity = |value: Option<String>| value.map(PresetValue::Text);
        let given = [
            ("cnp_interval", quantity(constants.cut_interval.map(|time| time.to_string()))),
            ("alpha_timer", quantity(constants.alpha_timer.map(|time| time.to_string()))),
            ("rate_timer", quantity(constants.rate_timer.map(|time| time.to_string()))),
            ("g", constants.gain.map(PresetValue::Number)),
            // The DCQCN mechanism counts the stage of the current increase, so fast recovery ends one stage below
            // `threshold`.
            ("threshold", Some(PresetValue::Whole(constants.recoveries + 1))),
            // No flow sends that much, so the byte counter never expires.
            ("byte_counter", Some(text_value("1000000GB"))),
            ("r_ai", quantity(constants.additive_increase.map(|rate| rate.to_string()))),
            ("r_hai", quantity(constants.hyper_increase.map(|rate| rate.to_string()))),
            ("min_rate", quantity(constants.min_rate.map(|rate| rate.to_string()))),
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
        let slots = SLOTS.iter().map(|(slot, _)| registry.switch_specs(slot));
        let all: Vec<_> = slots.chain(HOST_SLOTS.iter().map(|(slot, _)| registry.host_specs(slot))).flatten().collect();
        let us = Some(Dur::us(1));
        let rate = Some(Rate::gbps(1));
        let dcqcn = DcqcnConstants {
            cut_interval: us,
            alpha_timer: us,
            rate_timer: us,
            gain: Some(0.5),
            recoveries: 5,
            additive_increase: rate,
            hyper_increase: rate,
            min_rate: rate,
        };
        for preset in [
            Preset::empty_slot(),
            Preset::instantaneous_red(Bytes(1), Bytes(2), 0.1),
            Preset::instantaneous_red(Bytes(1), Bytes(1), 0.1),
            Preset::dynamic_pfc(0.125, Bytes(1)),
            Preset::shared_memory(Bytes(1), Bytes(1)),
            Preset::round_robin_nic(),
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
