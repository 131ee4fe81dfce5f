//! Hosts that pause the far end of their link: NICs that send pause frames without end, and slow receivers.
//!
//! Other hosts have no state for this. The NIC sends the frames as a switch does, and refreshes each pause.

use super::receive_buffer::ReceiveBuffer;
use super::{Host, HostStep, HostTimer, NIC};
use crate::core::Alarm;
use crate::end_table::PacketTally;
use crate::{Out, PauseFrame, Pkt};
use mech::ClassSet;
use units::{Dur, Rate, Time};

/// Duration of a pause in a frame, in quanta.
const QUANTA: u16 = u16::MAX;

/// Cause of the pauses that a host sends in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseCause {
    /// The NIC pauses the far end for the whole period.
    Storm,
    /// The host takes frames from the receive buffer of its NIC at a limited rate.
    SlowReceiver {
        /// Rate at which the host takes frames.
        drain: Rate,
        /// Bytes in the buffer from which on the NIC pauses the far end.
        xoff: u64,
        /// Bytes in the buffer at which the NIC resumes the far end.
        xon: u64,
    },
}

/// Period in which a host pauses the far end of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PausePeriod {
    /// Start of the period.
    pub from: Time,
    /// End of the period; [`Time::NEVER`] if it lasts until the end of the run.
    pub until: Time,
    /// Classes that the host pauses, and whose frames pass its receive buffer.
    pub classes: ClassSet,
    /// Cause of the pauses.
    pub cause: PauseCause,
}

/// Periods in which a host pauses the far end of its link, and settings of its pause frames.
#[derive(Clone)]
pub struct HostPauses {
    /// Periods in the order of their start; those of one cause do not overlap.
    pub periods: Vec<PausePeriod>,
    /// Time after which a pause is requested again: half of the shortest duration of a pause at the far end.
    pub refresh: Dur,
    /// True for PAUSE frames (802.3x), which pause all classes; false for PFC.
    pub whole: bool,
}

/// State of a host that pauses the far end of its link at times.
#[derive(Clone)]
pub(super) struct PausingHost {
    setup: HostPauses,
    /// Number of the next period to start.
    next: usize,
    storm: Option<PausePeriod>,
    slow: Option<(PausePeriod, ReceiveBuffer)>,
    /// Classes that the NIC has paused at the far end.
    requested: ClassSet,
    refresh: Alarm,
    drain: Alarm,
}

impl PausingHost {
    /// Creates the state before the first period.
    pub(super) fn new(setup: HostPauses) -> PausingHost {
        PausingHost {
            setup,
            next: 0,
            storm: None,
            slow: None,
            requested: ClassSet::NONE,
            refresh: Alarm::OFF,
            drain: Alarm::OFF,
        }
    }

    /// Returns the next instant at which a period starts or ends; [`Time::NEVER`] if none does.
    fn next_boundary(&self) -> Time {
        let begin = self.setup.periods.get(self.next).map(|period| period.from);
        let ends = [self.storm.map(|storm| storm.until), self.slow.as_ref().map(|(slow, _)| slow.until)];
        ends.into_iter().chain([begin]).flatten().fold(Time::NEVER, Time::min)
    }

    /// Starts the periods that begin by `now`.
    fn start_periods(&mut self, now: Time) {
        while let Some(period) = self.setup.periods.get(self.next).copied().filter(|period| period.from <= now) {
            self.next += 1;
            match period.cause {
                PauseCause::Storm => self.storm = Some(period),
                PauseCause::SlowReceiver { drain, xoff, xon } => {
                    self.slow = Some((period, ReceiveBuffer::new(drain.clock(), xoff, xon)));
                }
            }
        }
    }

    /// Returns the classes that must be paused now.
    fn wanted_pauses(&self) -> ClassSet {
        let storm = self.storm.map_or(ClassSet::NONE, |storm| storm.classes);
        let full = self.slow.as_ref().filter(|(_, buffer)| buffer.is_paused());
        storm.union(full.map_or(ClassSet::NONE, |(slow, _)| slow.classes))
    }

    fn frame(&self, xoff: ClassSet, xon: ClassSet) -> PauseFrame {
        let quanta = if xoff == ClassSet::NONE { 0 } else { QUANTA };
        PauseFrame { xoff, xon, quanta, whole: self.setup.whole }
    }

    /// Returns the next frame to deliver from the receive buffer, by `now`.
    fn pop_drained(&mut self, now: Time) -> Option<Pkt> {
        self.slow.as_mut().and_then(|(_, buffer)| buffer.pop(now))
    }
}

impl Host {
    /// Sets the timer of the first period in which this host pauses the far end, before the run.
    pub fn plan_pauses<O: Out>(&self, out: &mut O) {
        let first = self.pausing.as_ref().map(|pausing| pausing.next_boundary());
        first.into_iter().for_each(|at| out.set_timer(HostTimer::PausePeriod.index(), at));
    }

    /// Returns the frames that wait in the NIC's receive buffer.
    pub(super) fn receive_buffer_tally(&self) -> PacketTally {
        let slow = self.pausing.as_ref().and_then(|pausing| pausing.slow.as_ref());
        slow.map_or_else(PacketTally::default, |(_, buffer)| buffer.waiting())
    }

    /// Handles a received frame for this host: it waits in the receive buffer, or passes up the stack.
    #[cold]
    pub(super) fn receive_while_pausing<O: Out>(&mut self, pkt: &Pkt, step: &mut HostStep<O>) {
        let Some(pausing) = &mut self.pausing else { return };
        let slow = pausing.slow.as_mut().filter(|(slow, _)| slow.classes.has(pkt.head.class()));
        let Some((_, buffer)) = slow else { return self.pass_up(pkt, step) };
        buffer.push(step.now, pkt);
        self.set_drain_timer(step);
        self.request_pauses(step);
    }

    /// Sets the timer for the first frame of the receive buffer.
    fn set_drain_timer<O: Out>(&mut self, step: &mut HostStep<O>) {
        let Some(pausing) = &mut self.pausing else { return };
        let end = pausing.slow.as_ref().and_then(|(_, buffer)| buffer.next_end()).unwrap_or(Time::NEVER);
        let event = pausing.drain.set(end);
        event.into_iter().for_each(|at| step.out.set_timer(HostTimer::Drain.index(), at));
    }

    /// Handles the timer of the receive buffer: drained frames pass up the stack.
    pub(super) fn on_drain_timer<O: Out>(&mut self, step: &mut HostStep<O>) {
        let Some(pausing) = &mut self.pausing else { return };
        if let Err(again) = pausing.drain.on_event(step.now) {
            return again.into_iter().for_each(|at| step.out.set_timer(HostTimer::Drain.index(), at));
        }
        self.pass_up_drained(step.now, step);
        self.set_drain_timer(step);
        self.request_pauses(step);
    }

    /// Passes the frames up the stack whose last byte is drained by an instant.
    fn pass_up_drained<O: Out>(&mut self, by: Time, step: &mut HostStep<O>) {
        while let Some(pkt) = self.pausing.as_mut().and_then(|pausing| pausing.pop_drained(by)) {
            self.pass_up(&pkt, step);
        }
    }

    /// Ends and starts the periods whose instant has come. At the end of a slow receiver, its buffer drains immediately.
    pub(super) fn on_pause_period_timer<O: Out>(&mut self, step: &mut HostStep<O>) {
        let Some(pausing) = &mut self.pausing else { return };
        pausing.storm = pausing.storm.filter(|storm| storm.until > step.now);
        if pausing.slow.as_ref().is_some_and(|(slow, _)| slow.until <= step.now) {
            self.pass_up_drained(Time::NEVER, step);
            self.pausing.iter_mut().for_each(|pausing| pausing.slow = None);
        }
        let Some(pausing) = &mut self.pausing else { return };
        pausing.start_periods(step.now);
        let next = pausing.next_boundary();
        if next < Time::NEVER {
            step.out.set_timer(HostTimer::PausePeriod.index(), next);
        }
        self.set_drain_timer(step);
        self.request_pauses(step);
    }

    /// Sends a pause frame if the classes that must be paused have changed. It names all of them, so that one timer
    /// refreshes all.
    fn request_pauses<O: Out>(&mut self, step: &mut HostStep<O>) {
        let Some(pausing) = &mut self.pausing else { return };
        let (wanted, requested) = (pausing.wanted_pauses(), pausing.requested);
        if wanted == requested {
            return;
        }
        pausing.requested = wanted;
        let frame = pausing.frame(wanted, requested.minus(wanted));
        let refresh = pausing.setup.refresh;
        let due = if wanted == ClassSet::NONE { Time::NEVER } else { step.now.saturating_add(refresh) };
        self.send_pause_request(frame, due, step);
    }

    /// Queues a pause frame at the NIC, and sets the instant at which the pause is requested again.
    fn send_pause_request<O: Out>(&mut self, frame: PauseFrame, refresh: Time, step: &mut HostStep<O>) {
        self.nic.queue_pause_frame(NIC, frame, step.now, &mut step.out);
        let event = self.pausing.as_mut().and_then(|pausing| pausing.refresh.set(refresh));
        event.into_iter().for_each(|at| step.out.set_timer(HostTimer::PauseRefresh.index(), at));
    }

    /// Requests the present pauses of the far end again, if there are any.
    pub(super) fn repeat_pause_request<O: Out>(&mut self, step: &mut HostStep<O>) {
        let Some(pausing) = self.pausing.as_ref().filter(|pausing| pausing.requested != ClassSet::NONE) else { return };
        let frame = pausing.frame(pausing.requested, ClassSet::NONE);
        let due = step.now.saturating_add(pausing.setup.refresh);
        self.send_pause_request(frame, due, step);
    }

    /// Handles the timer that refreshes pauses.
    pub(super) fn on_pause_refresh_timer<O: Out>(&mut self, step: &mut HostStep<O>) {
        let Some(pausing) = &mut self.pausing else { return };
        match pausing.refresh.on_event(step.now) {
            Ok(()) => self.repeat_pause_request(step),
            Err(again) => again.into_iter().for_each(|at| step.out.set_timer(HostTimer::PauseRefresh.index(), at)),
        }
    }
}
