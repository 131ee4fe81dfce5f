//! PFC watchdog of a node's ports: polls of the queues that far ends pause, and the action in a pause storm.
//!
//! Polls are events only while a queue is paused or in a storm. Between two pauses, the instants of the last departure
//! and of the last pause frame are enough to know what a poll would have seen. So a port without pauses has no events.

use super::alarm::CoreTimer;
use super::memory_accounting::Frame;
use super::pausing::queues_of_class;
use super::{Core, StepContext};
use crate::accounts::MemorySides;
use crate::packet_store::Fib;
use crate::port::QueueAt;
use crate::{Out, Outcome, Pkt};
use mech::overflow::DropReason;
use mech::pause::{QueueSample, QueueWatch, StormChange, Watchdog, WatchdogAction};
use mech::{ClassSet, Head, Lane, PortId, QueueId};
use units::Time;

/// Pause storm that the watchdog of a port detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseStorm {
    /// Port whose queue was paused.
    pub port: PortId,
    /// Number of the queue, 0 to 7.
    pub queue: u8,
    /// Action of the watchdog.
    pub action: WatchdogAction,
    /// Instant of the detection.
    pub from: Time,
    /// Instant of the restoration; [`Time::NEVER`] if the storm has not ended.
    pub to: Time,
    /// Number of packets that the watchdog dropped in this storm.
    pub dropped: u64,
}

/// Watchdogs of a node's ports.
#[derive(Clone)]
pub(super) struct NodeWatchdogs {
    ports: Vec<Option<Box<PortWatchdog>>>,
    /// All storms so far, in the order of their detection.
    storms: Vec<PauseStorm>,
}

#[derive(Clone)]
struct PortWatchdog {
    watchdog: Watchdog,
    /// Instant of the next poll; [`Time::NEVER`] while all queues are at rest.
    next_poll: Time,
    /// Queues, by number.
    queues: [WatchedQueue; 8],
}

/// State of one queue of a port.
#[derive(Clone, Copy, Default)]
struct WatchedQueue {
    /// Traffic classes of the queue; none if PFC at this port covers none of them, so that the queue is not watched.
    classes: ClassSet,
    /// Bits of the queue and of the bounce queue beside it.
    bits: u32,
    watch: QueueWatch,
    last_sent: Option<Time>,
    last_pause: Option<Time>,
    /// Classes whose packets are dropped if they come in by the port, while the watchdog drops.
    dropped_arrivals: ClassSet,
    /// Index of the present storm among all storms of the node.
    storm: Option<usize>,
}

impl NodeWatchdogs {
    fn port(&mut self, port: PortId) -> Option<&mut PortWatchdog> {
        self.ports.get_mut(usize::from(port.0))?.as_deref_mut()
    }
}

impl PortWatchdog {
    /// Returns the present storm of the first queue for which `applies` is true.
    fn storm_that(&self, applies: impl Fn(&WatchedQueue) -> bool) -> Option<usize> {
        self.queues.iter().find(|queue| applies(queue)).and_then(|queue| queue.storm)
    }
}

impl Core {
    /// Sets up the watchdogs that the `pause` slots of the ports declare.
    pub(super) fn add_watchdogs(&mut self) {
        let ports: Vec<Option<Box<PortWatchdog>>> =
            (0..self.store.ports.len()).map(|port| self.new_watchdog(PortId(port as u16))).collect();
        let any = ports.iter().any(Option::is_some);
        self.watchdogs = any.then(|| Box::new(NodeWatchdogs { ports, storms: Vec::new() }));
    }

    fn new_watchdog(&self, port: PortId) -> Option<Box<PortWatchdog>> {
        let pausing = self.pausing_at(port)?;
        let watchdog = pausing.watchdog()?;
        let mut queues = [WatchedQueue::default(); 8];
        for class in (0..8).filter(|class| pausing.pause_group(*class).has(*class)) {
            let number = self.store.resolve_queue(QueueId::normal(class)).class();
            let shares = |other: &u8| self.store.resolve_queue(QueueId::normal(*other)).class() == number;
            let queue = &mut queues[usize::from(number)];
            // The queue resumes as a whole, so classes that only share it ignore their pauses, too.
            queue.classes = (0..8).filter(shares).fold(queue.classes, |set, one| set.union(ClassSet::single(one)));
            queue.bits |= queues_of_class(class.into(), &self.store.waits_in);
        }
        Some(Box::new(PortWatchdog { watchdog, next_poll: Time::NEVER, queues }))
    }

    /// Records that a frame of a queue begins to leave.
    #[cold]
    pub(super) fn watch_departure(&mut self, at: QueueAt, now: Time) {
        if at.queue.lane() == Lane::Notice {
            return;
        }
        let queue = self.watchdogs.as_mut().and_then(|all| all.port(at.port));
        queue.into_iter().for_each(|port| port.queues[usize::from(at.queue.class())].last_sent = Some(now));
    }

    /// Records a frame that pauses classes at a port, and schedules the next poll if none is pending.
    pub(super) fn watch_pause_frame<O: Out>(&mut self, port: PortId, xoff: ClassSet, now: Time, out: &mut O) {
        let Some(own) = self.watchdogs.as_mut().and_then(|all| all.port(port)) else { return };
        let mut paused = false;
        for queue in own.queues.iter_mut().filter(|queue| queue.classes.0 & xoff.0 != 0) {
            (queue.last_pause, paused) = (Some(now), true);
        }
        if paused && own.next_poll == Time::NEVER {
            let at = own.watchdog.first_poll(now);
            own.next_poll = at;
            self.schedule_timer(CoreTimer::Watchdog(port), at, out);
        }
    }

    /// Returns the classes whose pauses a port ignores, because the watchdog acts on a storm.
    pub(super) fn ignored_pauses(&self, port: PortId) -> ClassSet {
        let own = self.watchdogs.as_ref().and_then(|all| all.ports[usize::from(port.0)].as_deref());
        let Some(own) = own.filter(|own| own.watchdog.ends_pauses()) else { return ClassSet::NONE };
        let ignored = own.queues.iter().filter(|queue| queue.watch.in_storm());
        ignored.fold(ClassSet::NONE, |set, queue| set.union(queue.classes))
    }

    /// Returns the classes that are paused at a port and whose pause its watchdog ends by an instant.
    pub fn classes_resumed_by_watchdog(&self, port: PortId, by: Time) -> ClassSet {
        let own = self.watchdogs.as_ref().and_then(|all| all.ports[usize::from(port.0)].as_deref());
        let own = own.filter(|own| own.watchdog.ends_pauses()).zip(self.pausing.as_ref());
        let Some((own, pausing)) = own else { return ClassSet::NONE };
        let Watchdog { detection_time, poll_interval, .. } = own.watchdog;
        let since = &pausing.gates[usize::from(port.0)].since;
        // The pause may begin just after a poll.
        let end = |class: &u8| since[usize::from(*class)].saturating_add(detection_time).saturating_add(poll_interval);
        let watched = own.queues.iter().fold(ClassSet::NONE, |set, one| set.union(one.classes));
        let ended = (0..8).filter(|class| watched.has(*class) && end(class) <= by);
        ended.fold(ClassSet::NONE, |set, class| set.union(ClassSet::single(class)))
    }

    /// Returns the pause storms that the watchdogs of this node detected, in the order of their detection; `None` if
    /// the node has no watchdog.
    pub fn pause_storms(&self) -> Option<&[PauseStorm]> {
        self.watchdogs.as_ref().map(|all| &all.storms[..])
    }

    /// Returns true if the watchdog drops a packet because it came in by the port of a queue in a storm.
    #[cold]
    pub(super) fn watchdog_drops_arrival(&self, head: &Head, to: QueueAt) -> bool {
        to.queue.lane() != Lane::Notice && self.storm_of_arrival(head).is_some()
    }

    fn storm_of_arrival(&self, head: &Head) -> Option<usize> {
        let own = self.watchdogs.as_ref()?.ports.get(usize::from(head.ingress.0))?.as_deref()?;
        own.storm_that(|queue| queue.dropped_arrivals.has(head.class()))
    }

    /// Counts a packet that the watchdog drops, for the storm of its queue or of the port by which it came in.
    #[cold]
    pub(super) fn count_watchdog_drop(&mut self, head: &Head, to: QueueAt) {
        let own = self.watchdogs.as_ref().and_then(|all| all.ports[usize::from(to.port.0)].as_deref());
        let refuses =
            |queue: &WatchedQueue| queue.dropped_arrivals != ClassSet::NONE && queue.bits & to.queue.bit() != 0;
        let storm = own.and_then(|own| own.storm_that(refuses)).or_else(|| self.storm_of_arrival(head));
        let all = self.watchdogs.as_mut();
        all.zip(storm).into_iter().for_each(|(all, storm)| all.storms[storm].dropped += 1);
    }

    /// Polls all queues of a port, and schedules the next poll unless all are at rest.
    pub(super) fn poll_watchdog<F: Fib, O: Out>(&mut self, port: PortId, step: &mut StepContext<F, O>) {
        let now = step.now;
        let Some(own) = self.watchdogs.as_mut().and_then(|all| all.port(port)) else { return };
        // A reset has cancelled this poll, or another one is pending.
        if own.next_poll != now {
            return;
        }
        let (watchdog, last_poll) = (own.watchdog, Time(now.0.saturating_sub(own.watchdog.poll_interval.0)));
        let mut busy = false;
        for number in 0..8 {
            let Some(sample) = self.sample_queue(port, number, last_poll) else { continue };
            let Some(own) = self.watchdogs.as_mut().and_then(|all| all.port(port)) else { return };
            let change = own.queues[number].watch.poll(&watchdog, &sample);
            busy |= sample.paused || !own.queues[number].watch.is_at_rest();
            match change {
                Some(StormChange::Detected) => self.begin_storm(port, number, watchdog.action, step),
                Some(StormChange::Restored) => self.end_storm(port, number, now),
                None => {}
            }
        }
        // A received pause that takes effect later may stall a queue without a further pause frame.
        busy |= self.has_pending_pauses(port);
        let next = if busy { now.saturating_add(watchdog.poll_interval) } else { Time::NEVER };
        self.watchdogs.as_mut().and_then(|all| all.port(port)).into_iter().for_each(|own| own.next_poll = next);
        if busy {
            self.schedule_timer(CoreTimer::Watchdog(port), next, step.out);
        }
    }

    /// Returns the observations about a queue since the last poll; `None` if it is not watched.
    fn sample_queue(&mut self, port: PortId, number: usize, last_poll: Time) -> Option<QueueSample> {
        let queue = self.watchdogs.as_mut()?.port(port)?.queues[number];
        if queue.classes == ClassSet::NONE {
            return None;
        }
        let gate = &self.pausing.as_ref()?.gates[usize::from(port.0)];
        let mut paused = (0..8).filter(|class| queue.classes.has(*class) && gate.paused.has(*class));
        let since = paused.clone().map(|class| gate.since[usize::from(class)]).min();
        let at_inputs = self.store.inputs.as_ref().map_or(0, |inputs| inputs.waiting_queues(port));
        let waiting = self.store.ports[usize::from(port.0)].rest.eligible | at_inputs;
        Some(QueueSample {
            occupied: waiting & queue.bits != 0,
            // A frame that begins to leave at the instant of a poll may do so before or after it. It counts for both.
            sent: queue.last_sent.is_some_and(|at| at >= last_poll),
            paused: paused.next().is_some(),
            pause_received: queue.last_pause.is_some_and(|at| at > last_poll || last_poll == Time::ZERO),
            paused_throughout: since.is_some_and(|since| since <= last_poll),
        })
    }

    /// Begins the action of the watchdog on a queue.
    fn begin_storm<F: Fib, O: Out>(
        &mut self,
        port: PortId,
        number: usize,
        action: WatchdogAction,
        step: &mut StepContext<F, O>,
    ) {
        let groups = match action {
            WatchdogAction::Drop => self.pause_groups_of_queue(port, number),
            _ => ClassSet::NONE,
        };
        let Some(all) = self.watchdogs.as_mut() else { return };
        let storm = PauseStorm { port, queue: number as u8, action, from: step.now, to: Time::NEVER, dropped: 0 };
        let index = all.storms.len();
        all.storms.push(storm);
        let Some(own) = all.port(port) else { return };
        let queue = &mut own.queues[number];
        (queue.storm, queue.dropped_arrivals) = (Some(index), groups);
        let WatchedQueue { classes, bits, .. } = *queue;
        if !matches!(action, WatchdogAction::Drop | WatchdogAction::Forward) {
            return;
        }
        if action == WatchdogAction::Forward {
            step.out.report_outcome(Outcome::PausesIgnored(port));
        } else {
            self.drops_arrivals = true;
            let p = &mut self.store.ports[usize::from(port.0)];
            p.refuse_queues(p.rest.refused | bits);
            for queue in QueueId::iter_set(bits) {
                self.drop_stalled_queue(QueueAt { port, queue }, step);
            }
        }
        for class in (0..8).filter(|class| classes.has(*class)) {
            self.resume_class(port, class.into(), step.now, step.out);
        }
    }

    /// Returns the classes that PFC counts together with those of a queue, for packets that come in by the port.
    fn pause_groups_of_queue(&self, port: PortId, number: usize) -> ClassSet {
        let own = self.watchdogs.as_ref().and_then(|all| all.ports[usize::from(port.0)].as_deref());
        let Some((own, pausing)) = own.zip(self.pausing_at(port)) else { return ClassSet::NONE };
        let classes = (0..8).filter(|class| own.queues[number].classes.has(*class));
        classes.fold(ClassSet::NONE, |set, class| set.union(pausing.pause_group(class)))
    }

    /// Drops all packets that wait in a queue in a storm, in the buffer and at inputs.
    fn drop_stalled_queue<F: Fib, O: Out>(&mut self, at: QueueAt, step: &mut StepContext<F, O>) {
        let mut taken: Vec<Pkt> = std::iter::from_fn(|| self.pop_queued(at.port, at.queue, step)).collect();
        while let Some((slot, pkt)) = self.pop_at_inputs(at) {
            self.report_crossing(at.port, &pkt, step.out);
            self.count_removed(Frame { at, slot, head: &pkt.head }, MemorySides::INPUT, step);
            taken.push(pkt);
        }
        if !taken.is_empty() {
            self.on_queue_empty(step.now, at);
        }
        for pkt in taken {
            self.drop(&pkt, at.port, DropReason::Watchdog, step);
        }
    }

    /// Ends the action of the watchdog on a queue.
    fn end_storm(&mut self, port: PortId, number: usize, now: Time) {
        let Some(all) = self.watchdogs.as_mut() else { return };
        let NodeWatchdogs { ports, storms } = &mut **all;
        let Some(own) = ports[usize::from(port.0)].as_deref_mut() else { return };
        let queue = &mut own.queues[number];
        queue.storm.take().into_iter().for_each(|storm| storms[storm].to = now);
        queue.dropped_arrivals = ClassSet::NONE;
        let bits = queue.bits;
        self.drops_arrivals = ports.iter().flatten().any(|own| {
            own.watchdog.action == WatchdogAction::Drop && own.queues.iter().any(|queue| queue.storm.is_some())
        });
        let p = &mut self.store.ports[usize::from(port.0)];
        p.refuse_queues(p.rest.refused & !bits);
    }

    /// Ends all storms of a port whose link goes down or comes back, and forgets what the watchdog has seen.
    pub(super) fn reset_watchdog(&mut self, port: PortId, now: Time) {
        for number in 0..8 {
            let Some(own) = self.watchdogs.as_mut().and_then(|all| all.port(port)) else { return };
            own.next_poll = Time::NEVER;
            let queue = &mut own.queues[number];
            (queue.watch, queue.last_sent, queue.last_pause) = (QueueWatch::default(), None, None);
            if queue.storm.is_some() {
                self.end_storm(port, number, now);
            }
        }
    }
}
