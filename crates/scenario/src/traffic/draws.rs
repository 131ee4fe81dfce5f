//! Draws that a message names itself, so that they do not depend on when it is sent.

use mech::{Purpose, Stream};

/// What a draw of a message is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Size = 0,
    Think = 1,
    Service = 2,
    Jitter = 3,
}

/// The draws of a workload's messages, each by its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    pub seed: u64,
    /// The place of the workload in the scenario.
    pub workload: u16,
}

impl Draws {
    /// The stream of the `n`-th message of a session or a query. PRECONDITION: `n` is below 2⁵⁴.
    pub fn stream(self, who: u32, what: What, n: u64) -> Stream {
        Stream::new(self.seed, who, Purpose::Reply(self.workload)).at(n << 2 | what as u64)
    }
}
