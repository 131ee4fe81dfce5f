//! Random draws that are identified by a message, so that they do not depend on its time.
//!
//! Variants of a scenario then have the same sizes and times, although their messages arrive at other instants.

use mech::{Stream, StreamPurpose};

/// Purpose of a random draw for a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum DrawPurpose {
    Size = 0,
    Think = 1,
    Service = 2,
    Jitter = 3,
}

/// Random draws for the messages of a workload.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageDraws {
    pub seed: u64,
    /// Index of the workload in the scenario.
    pub workload: u16,
}

impl MessageDraws {
    /// Returns the random stream for the `n`-th message of a session or a query. PRECONDITION: `n` is below 2⁵⁴.
    pub fn stream(self, who: u32, what: DrawPurpose, n: u64) -> Stream {
        Stream::new(self.seed, who, StreamPurpose::Reply(self.workload)).at_position(n << 2 | what as u64)
    }
}
