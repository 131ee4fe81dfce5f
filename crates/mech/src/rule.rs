//! Rules of the slots. A mechanism that breaks a rule ends the run: its decision cannot be carried out, and results
//! without it would be those of another mechanism.

use crate::{FlowId, HostId, PktId, PortId, QueueId, TimerId};
use core::fmt::{Display, Formatter, Result};

/// Rule that a mechanism broke. Its text states the violation and its remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The mechanism used something that [`Needs`](crate::Needs), or another method of its trait, does not declare.
    Undeclared {
        /// Name of the call or value that was used.
        used: &'static str,
        /// Name of the declaration that allows the use.
        declare: &'static str,
    },
    /// The mechanism requested an action that its slot does not allow.
    ForbiddenAction,
    /// The mechanism named a port that the node does not have.
    NoPort(PortId),
    /// The mechanism named a queue that packets of this kind may not enter.
    NoQueue(QueueId),
    /// The mechanism chose a next hop that is not in the list.
    NoHop,
    /// The mechanism chose a packet that is queued at another port, or at an input.
    QueuedElsewhere(PktId),
    /// The mechanism chose a packet that is not queued in the node.
    NoPacket(PktId),
    /// The mechanism removed or cut more queued packets for one arrival than there were.
    TooManyRemovals {
        /// Number of removals and cuts for one arrival.
        removals: u32,
    },
    /// The mechanism chose a packet that is not in the queue that it named.
    NotQueued(QueueId, PktId),
    /// The mechanism chose a queue that is empty or paused.
    NotEligible(QueueId),
    /// The mechanism granted a transfer to an input that requested none.
    NotRequested(PortId),
    /// The mechanism armed a timer with a number above 7.
    NoTimer(TimerId),
    /// The mechanism's timers expire again and again at one instant.
    EndlessTimers,
    /// The mechanism named a flow that the run does not have.
    NoFlow(FlowId),
    /// The mechanism named a host that the network does not have.
    NoHost(HostId),
    /// The mechanism chose an internal link of a `fabric` switch that does not leave the stage of the frame.
    NoStageLink(usize),
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Rule::Undeclared { used, declare } => write!(f, "the mechanism used {used}. Declare {declare}"),
            Rule::ForbiddenAction => f.write_str(
                "the mechanism pushed an action. Only agents may push actions; an overflow mechanism may set \
                 `acts.mark`",
            ),
            Rule::NoPort(PortId(port)) => {
                write!(
                    f,
                    "the mechanism named port {port}, which the node does not have. Ports have numbers below \
                           `view.ports()`"
                )
            }
            Rule::NoQueue(QueueId(queue)) => write!(
                f,
                "the mechanism named queue {queue}. A packet waits in the normal or the bounce queue of a class from 0 \
                 to 7 (`QueueId::normal(class)`)"
            ),
            Rule::NoHop => f.write_str(
                "the mechanism chose a next hop outside the list. Return an index below \
                                        `hops.len()`",
            ),
            Rule::QueuedElsewhere(PktId(id)) => write!(
                f,
                "the mechanism chose packet {id}, which is queued at another port or at an input. Choose a packet from \
                 a queue of `at.output`"
            ),
            Rule::NoPacket(PktId(id)) => write!(
                f,
                "the mechanism chose packet {id}, which is not queued there. Take the id from `view.first_packet` or \
                 `view.visit_packets` in the same call"
            ),
            Rule::TooManyRemovals { removals } => write!(
                f,
                "the mechanism removed or cut queued packets {removals} times for one arrival, more often than there \
                 were packets in the queues. Return another `Fate` if the arrival still does not fit"
            ),
            Rule::NotQueued(QueueId(queue), PktId(id)) => {
                write!(
                    f,
                    "the mechanism chose packet {id} of queue {queue}, which is not queued there. Take the id from \
                     `port.view`"
                )
            }
            Rule::NotEligible(QueueId(queue)) => {
                write!(
                    f,
                    "the mechanism chose queue {queue}, which is empty or paused. Choose a queue of \
                           `port.eligible`"
                )
            }
            Rule::NotRequested(PortId(input)) => {
                write!(
                    f,
                    "the mechanism granted a transfer to input {input}, which requested none. Return an input of \
                           `requests`"
                )
            }
            Rule::NoTimer(TimerId(id)) => write!(f, "the mechanism armed timer {id}. Timers have numbers from 0 to 7"),
            Rule::EndlessTimers => f.write_str(
                "the timers of the mechanism expire again and again at the same instant. Set the next timer to a later \
                 instant, or clear it with `Time::NEVER`",
            ),
            Rule::NoFlow(FlowId(flow)) => {
                write!(
                    f,
                    "the mechanism named flow {flow}, which the run does not have. Take the flow from a packet \
                           or an occupant"
                )
            }
            Rule::NoHost(HostId(host)) => {
                write!(
                    f,
                    "the mechanism named host {host}, which the network does not have. Take the host from a \
                           packet or an occupant"
                )
            }
            Rule::NoStageLink(link) => write!(
                f,
                "the mechanism chose internal link {link}, which does not leave the stage of the frame. Return the \
                 index of a link in `links()` that leaves stage `at`"
            ),
        }
    }
}
