//! Flows that start when others have ended.
//!
//! What a host does next depends on what has reached it, so the flows of such a workload cannot be
//! listed beforehand: only the first ones come from [`Flows`](super::Flows). Hosts, sizes and times
//! are drawn at a place that the message itself names, so that they are the same in every variant
//! of a scenario: only instants move.

use super::FlowSpec;
use super::collective::Collective;
use super::query::Answers;
use super::request_reply::Replies;
use units::Time;

/// What follows upon the messages of a workload: plain data.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// Requests are answered, and answers followed by the next request.
    Sessions(Replies),
    /// Ranks of a collective operation send on what they have received.
    Collective(Collective),
    /// Requests are answered.
    Answers(Answers),
}

impl Reaction {
    /// The last byte of `message`, one of the workload's, is at its receiver: appends the messages that
    /// follow upon that. Each starts at or after `now`, at the host that received.
    ///
    /// One that shares the query of `message` is part of what was begun: it counts where that counts.
    pub fn delivered(&mut self, message: &FlowSpec, now: Time, out: &mut Vec<FlowSpec>) {
        match self {
            Reaction::Sessions(replies) => replies.delivered(message, now, out),
            Reaction::Collective(collective) => collective.delivered(message, now, out),
            Reaction::Answers(answers) => answers.delivered(message, now, out),
        }
    }
}
