//! Inputs of a mechanism's decision, for tests of mechanisms.

use super::{SwitchState, parse_packet};
use crate::{Acts, Head, Stream};

/// Inputs that a test gives a mechanism for one decision, and what the mechanism requested.
pub struct DecisionInputs {
    /// Random stream from which the mechanism draws.
    pub rng: Stream,
    /// Actions that the mechanism requested.
    pub acts: Acts,
}

impl DecisionInputs {
    /// Creates the inputs of a decision, with exactly these random draws, each in `[0, 1)`.
    pub fn with_draws(draws: &[f64]) -> DecisionInputs {
        DecisionInputs { rng: Stream::scripted(draws), acts: Acts::default() }
    }
    /// Creates the inputs of a decision, with random draws of this seed.
    pub fn with_seed(seed: u64) -> DecisionInputs {
        DecisionInputs { rng: Stream::new(seed, 0, crate::StreamPurpose::Overflow), acts: Acts::default() }
    }
    /// Returns the environment of a decision at time 0.
    pub fn env(&mut self) -> crate::Env<'_> {
        self.env_at(units::Time::ZERO)
    }
    /// Returns the environment of a decision at this time.
    pub fn env_at(&mut self, now: units::Time) -> crate::Env<'_> {
        crate::Env { now, rng: &mut self.rng, acts: &mut self.acts }
    }
}

/// Parses a packet as described in a conformance table, without its name.
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

/// Creates a buffer with a limit of `n` packets for each port.
pub fn buffer_of_packets(n: u64) -> crate::buffer::BufferSlot {
    crate::buffer::BufferSlot::per_port(Some(units::Amount::Packets(n)))
}

/// Returns the χ² statistic of counts against equal expectations.
pub fn chi_square(counts: &[u32]) -> f64 {
    let expected = counts.iter().sum::<u32>() as f64 / counts.len() as f64;
    counts.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum()
}
