//! Flows that start when others have ended.
//!
//! The next message of a host depends on those that it has received. So the flows of such a workload cannot be listed
//! in advance: only the first ones come from [`Flows`](super::Flows). Hosts, sizes and times are drawn from streams
//! that the message identifies. They are the same in every variant of a scenario; only instants differ.

use super::FlowSpec;
use super::collective::Collective;
use super::query::QueryAnswers;
use super::request_reply::Replies;
use units::Time;

/// Generator of the messages of a workload that start when other messages have arrived.
#[derive(Clone, Debug)]
pub enum FollowUps {
    /// Sessions: requests are answered, and answers are followed by the next request.
    Sessions(Replies),
    /// Collective operations: ranks send on the data that they have received.
    Collective(Collective),
    /// Queries: requests are answered.
    Answers(QueryAnswers),
}

impl FollowUps {
    /// Handles the arrival of the last byte of `message`: appends the messages that its receiver sends next, each at or
    /// after `now`.
    ///
    /// A message with the same query as `message` belongs to it, and is measured if that one is.
    pub fn on_delivered(&mut self, message: &FlowSpec, now: Time, out: &mut Vec<FlowSpec>) {
        match self {
            FollowUps::Sessions(replies) => replies.on_delivered(message, now, out),
            FollowUps::Collective(collective) => collective.on_delivered(message, now, out),
            FollowUps::Answers(answers) => answers.on_delivered(message, now, out),
        }
    }
}
