//! Surroundings of a decision, for the tests of mechanisms.

use super::{SwitchState, parse_packet};
use crate::{Acts, Head, Stream};

/// Random stream and requested actions around one decision.
pub struct DecisionInputs {
    /// Random stream.
    pub rng: Stream,
    /// Requested actions.
    pub acts: Acts,
}

impl DecisionInputs {
    /// Creates a desk with these draws, each in `[0, 1)`, and no more.
    pub fn with_draws(draws: &[f64]) -> DecisionInputs {
        DecisionInputs { rng: Stream::scripted(draws), acts: Acts::default() }
    }
    /// Creates a desk with the stream of a seed.
    pub fn with_seed(seed: u64) -> DecisionInputs {
        DecisionInputs { rng: Stream::new(seed, 0, crate::StreamPurpose::Overflow), acts: Acts::default() }
    }
    /// Returns the surroundings of a decision.
    pub fn env(&mut self) -> crate::Env<'_> {
        self.env_at(units::Time::ZERO)
    }
    /// Returns the surroundings of a decision at an instant.
    pub fn env_at(&mut self, now: units::Time) -> crate::Env<'_> {
        crate::Env { now, rng: &mut self.rng, acts: &mut self.acts }
    }
}

/// Returns a packet described as in a table, without its name.
pub fn parse_head(text: &str) -> Head {
    parse_packet(&format!("x {text}"), "").1
}

/// Creates a switch without packets, every port of which leads to a switch; host `n` is behind port `n`.
pub fn switch_without_packets(ports: u16, buffer: crate::buffer::BufferSlot) -> SwitchState {
    let routing = crate::routing::Ecmp::new(0).into();
    let mut state = SwitchState::new(ports, routing, buffer);
    state.switch_ports = (0..ports).collect();
    let hop = |port| vec![crate::routing::Hop { port: crate::PortId(port), weight: 1.0 }];
    state.fib = (0..ports).map(|port| (u32::from(port), hop(port))).collect();
    state
}

/// Creates memory of `n` packets for each port.
pub fn buffer_of_packets(n: u64) -> crate::buffer::BufferSlot {
    crate::buffer::BufferSlot::per_port(Some(units::Amount::Packets(n)))
}

/// Returns χ² of counts against equal expectations.
pub fn chi_square(counts: &[u32]) -> f64 {
    let expected = counts.iter().sum::<u32>() as f64 / counts.len() as f64;
    counts.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum()
}
