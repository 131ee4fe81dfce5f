//! NIC with a queue for each flow: it takes one frame at a time, and transports create a segment when it leaves.

use super::{Host, HostStep, HostTimer, NIC};
use crate::flow_queues::{NextFrame, NicQueues};
use crate::flows::REMOVED_SLOT;
use crate::stack::StackDelay;
use crate::{Out, Pkt};
use mech::FlowId;
use mech::host::{FlowQueues, Reaction};
use units::{Dur, Time};

/// State of a host whose NIC has a queue for each flow.
#[derive(Clone)]
pub(super) struct PullState {
    queues: NicQueues,
    /// Flows with a segment ready, and their classes, while the announcement to the NIC passes the stack.
    announced: StackDelay<(FlowId, u8)>,
    /// True while the NIC requests a segment from a transport.
    /// The stack does not delay this segment, because it has delayed its announcement.
    is_requesting: bool,
    /// Instant of the pending event of the rate limiters; [`Time::NEVER`] if none is pending.
    event: Time,
    /// Reaction point, which changes the rates of flows, if the host has one.
    pub(super) reacting: Option<ReactionState>,
}

/// Reaction point of a host (its rate control after congestion messages), and its pending event.
#[derive(Clone)]
pub(super) struct ReactionState {
    pub(super) point: Box<dyn Reaction>,
    /// Instant of the pending event for the timers of the reaction point.
    pub(super) event: Time,
    /// Number of congestion messages that the reaction point has created.
    pub(super) made: u32,
}

impl PullState {
    /// Creates the state from the rate limits of flows' data, the stack's delay and jitter, and the reaction point.
    pub(super) fn new(order: FlowQueues, delay: Dur, jitter: Dur, reaction: Option<Box<dyn Reaction>>) -> PullState {
        PullState {
            queues: NicQueues::new(order),
            announced: StackDelay::new(delay, jitter),
            is_requesting: false,
            event: Time::NEVER,
            reacting: reaction.map(|point| ReactionState { point, event: Time::NEVER, made: 0 }),
        }
    }
    pub(super) fn queues(&self) -> &NicQueues {
        &self.queues
    }
    pub(super) fn queues_and_reaction(&mut self) -> (&mut NicQueues, Option<&mut ReactionState>) {
        (&mut self.queues, self.reacting.as_mut())
    }
    /// Returns true while the NIC requests a segment from a transport.
    pub(super) fn is_pulling(&self) -> bool {
        self.is_requesting
    }
    /// Adds a frame to its flow's queue at the NIC.
    pub(super) fn push(&mut self, pkt: &Pkt, now: Time) {
        self.queues.push(pkt, now);
    }
}

impl Host {
    /// Announces to the NIC that a transport has a segment of a flow ready.
    #[cold]
    pub(super) fn announce<O: Out>(&mut self, flow: FlowId, step: &mut HostStep<O>) {
        let (now, class) = (step.now, step.flows.info(flow).class);
        let Some(pulled) = &mut self.pulled else { return };
        if pulled.is_requesting || pulled.announced.is_instant() {
            pulled.queues.on_segment_ready(flow, class, now);
        } else if pulled.queues.announce(flow, class) {
            if let Some(at) = pulled.announced.push(now, (flow, class), &mut self.stack_rng) {
                step.out.set_timer(HostTimer::Announced.index(), at);
            }
        }
    }

    /// Handles announcements of ready segments that have passed the stack.
    pub(super) fn on_announced<O: Out>(&mut self, step: &mut HostStep<O>) {
        let Some(pulled) = &mut self.pulled else { return };
        while let Some((flow, class)) = pulled.announced.pop(step.now) {
            // The flow may have ended while its announcement passed the stack.
            if step.flows.ends[flow.0 as usize].sender != REMOVED_SLOT {
                pulled.queues.on_segment_ready(flow, class, step.now);
            }
        }
        pulled.announced.next_ready().into_iter().for_each(|at| step.out.set_timer(HostTimer::Announced.index(), at));
    }

    /// Handles the event of a rate limiter. The end of the step then takes the next frame.
    pub(super) fn on_limiter_timer(&mut self, now: Time) {
        if let Some(pulled) = self.pulled.as_mut().filter(|pulled| pulled.event == now) {
            pulled.event = Time::NEVER;
        }
    }

    /// Takes the next frame if the link is idle and nothing waits ahead of it, and schedules the next attempt.
    #[cold]
    pub(super) fn pull_next<O: Out>(&mut self, step: &mut HostStep<O>) {
        let (now, paused) = (step.now, self.nic.paused_classes(NIC));
        if self.nic.is_idle(NIC, now) {
            if let Some(mut pkt) = self.next_frame(step) {
                self.nic.admit(&mut pkt, NIC, &mut step.nic_step());
            }
        }
        let Some(pulled) = &mut self.pulled else { return };
        let more = pulled.queues.is_ready(paused, now);
        if let Some(at) = pulled.queues.next_limiter_time().filter(|at| *at < pulled.event) {
            pulled.event = at;
            step.out.set_timer(HostTimer::Limiter.index(), at);
        }
        self.nic.set_more_frames(NIC, more, now, &mut step.out);
    }

    fn next_frame<O: Out>(&mut self, step: &mut HostStep<O>) -> Option<Pkt> {
        let (paused, framing) = (self.nic.paused_classes(NIC), self.framing);
        loop {
            let pulled = self.pulled.as_mut()?;
            match pulled.queues.take_next(paused, step.now, |size| framing.wire_size(size))? {
                NextFrame::Frame(pkt) => {
                    if pulled.reacting.is_some() {
                        self.report_sent_frame(&pkt, step);
                    }
                    return Some(pkt);
                }
                NextFrame::Segment(flow) => {
                    pulled.is_requesting = true;
                    let slot = step.flows.ends[flow.0 as usize].sender;
                    self.call_sender(slot, step, |sender, io| sender.send_for_nic(io));
                    self.pulled.iter_mut().for_each(|pulled| pulled.is_requesting = false);
                }
            }
        }
    }
}
