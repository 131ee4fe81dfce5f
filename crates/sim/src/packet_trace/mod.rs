//! Trace of one packet, and the activity of switches around it.
//!
//! The run is repeated with an observer as a filter, so that other runs pay nothing. If the packet is not given by
//! its identity, a pass finds it. The next pass follows it, and the last records the network around it. All passes
//! are the same run, bit for bit, since observers do not affect it.

mod error;
mod packet_search;
mod port_table;
mod run_end;
mod steps;
mod tables;
mod window_recorder;

pub use error::TraceError;
pub use packet_search::PacketProperty;
pub use run_end::RunEnd;
pub use steps::{PacketStep, StepKind};

use crate::identity::PacketId;
use crate::{Options, Progress, World, build};
use dataplane::{Observer, PacketBody};
use mech::Notice;
use packet_search::PacketSearch;
use port_table::PortTable;
use scenario::Scenario;
use std::sync::Arc;
use steps::StepRecorder;
use units::{Dur, Time};
use window_recorder::WindowRecorder;

/// Number of events after which a pass of the trace checks if it can end.
const EVENTS_PER_CHECK: u64 = 1 << 14;
/// Shortest time that is observed before and after a packet trace.
const MIN_MARGIN: Dur = Dur(1_000_000);
/// Number of instants at which queue lengths are recorded.
pub const SNAPSHOT_COUNT: usize = 3;

/// Choice of the packet to trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketChoice {
    /// Packet with the most detours, bounces or trims, or the first that is held or is a congestion message. It may be
    /// delivered, lost or sent back to its source; among equals it is the first to end. A packet's own counts end at
    /// 255.
    MostOften(PacketProperty),
    /// Packet with this identity: flow, origin and number.
    Identity(PacketId),
}

/// Progress of a tracer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceProgress {
    /// Number of the pass: 1 finds the packet, 2 follows it, 3 observes the network around it.
    pub pass: u8,
    /// Progress of the run that this pass executes.
    pub progress: Progress,
    /// Latest end of the pass, in simulated time.
    pub until: Time,
    /// True if the present pass is over.
    pub is_pass_over: bool,
    /// True if all passes of the trace are over.
    pub is_done: bool,
}

/// Search for a packet trace, in passes.
pub struct Tracer {
    scenario: Arc<Scenario>,
    seed: u64,
    wanted: PacketChoice,
    /// Instants at which the user wants queue lengths.
    instants: Option<[Time; SNAPSHOT_COUNT]>,
    plan: Arc<PortTable>,
    pass: TracePass,
    id: Option<PacketId>,
    steps: Option<StepRecorder>,
    end: Option<RunEnd>,
    window_record: Option<WindowRecorder>,
}

enum TracePass {
    FindPacket(Box<World<PacketSearch>>),
    FollowPacket(Box<World<StepRecorder>>, Option<Time>),
    ObserveWindow(Box<World<WindowRecorder>>),
}

/// Action that follows a pass.
enum AfterPass {
    FollowPacket(Option<(PacketId, Time)>),
    ObserveWindow(StepRecorder),
    Finish(WindowRecorder),
}

impl Tracer {
    /// Creates a tracer before its first pass. Queue lengths are recorded at `instants`, in any order. By default these
    /// are the packet's first detour or bounce, its last, and half-way between. For a packet with fewer than two of
    /// them, they are both ends of the trace, and half-way.
    ///
    /// # Errors
    /// Returns [`TraceError::Build`] if the run cannot be built.
    pub fn new(
        scenario: Arc<Scenario>,
        seed: u64,
        wanted: PacketChoice,
        instants: Option<[Time; SNAPSHOT_COUNT]>,
    ) -> Result<Tracer, TraceError> {
        let plan = Arc::new(PortTable::new(&scenario.topology));
        let pass = match wanted {
            PacketChoice::MostOften(often) => {
                TracePass::FindPacket(build_world(&scenario, seed, PacketSearch::new(often))?)
            }
            PacketChoice::Identity(id) => {
                TracePass::FollowPacket(build_world(&scenario, seed, StepRecorder::new(id, plan.clone()))?, None)
            }
        };
        let id = if let PacketChoice::Identity(id) = wanted { Some(id) } else { None };
        Ok(Tracer { scenario, seed, wanted, instants, plan, pass, id, steps: None, end: None, window_record: None })
    }

    /// Advances by about `max_events` events, or to the end of the pass.
    ///
    /// # Errors
    /// Returns an error if there is no such packet.
    pub fn advance(&mut self, max_events: u64) -> Result<TraceProgress, TraceError> {
        let mut left = max_events;
        loop {
            let slice = left.min(EVENTS_PER_CHECK);
            let stage = self.advance_pass(slice)?;
            left -= slice;
            if left == 0 || stage.is_pass_over {
                return Ok(stage);
            }
        }
    }

    /// Advances the present pass of the trace, and starts the next pass at its end.
    fn advance_pass(&mut self, events: u64) -> Result<TraceProgress, TraceError> {
        let progress = match &mut self.pass {
            TracePass::FindPacket(world) => world.advance(events),
            TracePass::FollowPacket(world, _) => world.advance(events),
            TracePass::ObserveWindow(world) => world.advance(events),
        };
        let (now, stopped) = (progress.now, progress.stop.is_some());
        let (pass, until, next) = match &self.pass {
            TracePass::FindPacket(world) => {
                (1, self.planned_end(now), stopped.then(|| AfterPass::FollowPacket(world.observer().found_packet())))
            }
            TracePass::FollowPacket(world, end) => {
                let (probe, until) = (world.observer(), end.unwrap_or(self.planned_end(now)));
                (2, until, (stopped || probe.ended).then(|| AfterPass::ObserveWindow(probe.clone())))
            }
            TracePass::ObserveWindow(world) => {
                let until = self.window().1;
                (3, until, (stopped || now > until).then(|| AfterPass::Finish(world.observer().clone())))
            }
        };
        let stage =
            TraceProgress { pass, progress, until, is_pass_over: next.is_some(), is_done: next.is_some() && pass == 3 };
        if let (TracePass::FollowPacket(world, _), true) = (&mut self.pass, stopped) {
            self.end = RunEnd::from_world(world);
        }
        match next {
            None => {}
            Some(AfterPass::FollowPacket(found)) => self.start_packet_pass(found)?,
            Some(AfterPass::ObserveWindow(steps)) => self.start_window_pass(steps)?,
            Some(AfterPass::Finish(mut around)) => {
                around.record_remaining_lengths();
                self.window_record = Some(around);
            }
        }
        Ok(stage)
    }

    fn start_packet_pass(&mut self, found: Option<(PacketId, Time)>) -> Result<(), TraceError> {
        let often = if let PacketChoice::MostOften(often) = self.wanted { often } else { PacketProperty::Detoured };
        let (id, end) = found.ok_or(TraceError::None(often))?;
        let world = build_world(&self.scenario, self.seed, StepRecorder::new(id, self.plan.clone()))?;
        (self.id, self.pass) = (Some(id), TracePass::FollowPacket(world, Some(end)));
        Ok(())
    }

    fn start_window_pass(&mut self, steps: StepRecorder) -> Result<(), TraceError> {
        let id = self.id();
        if steps.steps.is_empty() {
            let flow = id.flow >= steps.flows;
            let why = if flow { TraceError::Flow(id, steps.flows) } else { TraceError::Packet(id, steps.emissions) };
            let failed = self.end.as_ref().and_then(|end| end.describe_failure(&self.scenario));
            return Err(match failed {
                Some(failed) => TraceError::Failed(Box::new(why), failed),
                None => why,
            });
        }
        self.steps = Some(steps);
        let around = WindowRecorder::new(self.window(), &self.instants(), self.plan.ports);
        self.pass = TracePass::ObserveWindow(build_world(&self.scenario, self.seed, around)?);
        Ok(())
    }

    /// Returns the planned end of a run that has reached `now`: the duration, or the drain after it.
    fn planned_end(&self, now: Time) -> Time {
        let duration = Time(self.scenario.duration.0);
        if now <= duration { duration } else { duration.saturating_add(self.scenario.measure.drain) }
    }
}

/// Results of a trace. PRECONDITION of all methods: the last pass has begun.
impl Tracer {
    /// Returns the identity of the packet.
    pub fn id(&self) -> PacketId {
        self.id.expect("the packet is known")
    }

    /// Returns the steps of the packet, in the order of time.
    pub fn steps(&self) -> &[PacketStep] {
        &self.recorded_steps().steps
    }

    /// Returns the packet as it was at its last step.
    pub fn packet(&self) -> &dataplane::Pkt {
        self.recorded_steps().last.as_ref().expect("a packet trace has a step")
    }

    /// Returns the contents of the packet, if it is a congestion message.
    pub fn notice(&self) -> Option<Notice> {
        match self.packet().body() {
            PacketBody::Notice(notice) => Some(notice),
            _ => None,
        }
    }

    /// Returns true if the packet was delivered, lost or sent back to its source; otherwise it was in flight when the
    /// run ended.
    pub fn has_ended(&self) -> bool {
        self.recorded_steps().ended
    }

    /// Returns the end of the run, if the packet was in flight then, or if its run failed.
    pub fn run_end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    fn recorded_steps(&self) -> &StepRecorder {
        self.steps.as_ref().expect("the packet was followed")
    }

    fn first_and_last_instant(&self) -> (Time, Time) {
        let steps = self.steps();
        (steps[0].at.now, steps[steps.len() - 1].at.now)
    }

    /// Returns the instants at which queue lengths are recorded, in order.
    pub fn instants(&self) -> [Time; SNAPSHOT_COUNT] {
        let mut all = self.instants.unwrap_or_else(|| {
            let (first, last) = self.first_and_last_instant();
            let mut turns =
                self.steps().iter().filter(|step| matches!(step.kind, StepKind::Detoured | StepKind::Bounced));
            let (one, other) = (turns.next(), turns.next_back());
            let (from, to) = one.zip(other).map_or((first, last), |(one, other)| (one.at.now, other.at.now));
            [from, from + Dur((to.0 - from.0) / 2), to]
        });
        all.sort_unstable();
        all
    }

    /// Returns the interval in which detours are recorded: the packet trace, at least as much time before and after it,
    /// and all instants of recorded queue lengths.
    pub fn window(&self) -> (Time, Time) {
        let ((first, last), instants) = (self.first_and_last_instant(), self.instants());
        let margin = MIN_MARGIN.0.max(last.0 - first.0);
        let (from, to) = (Time(first.0.saturating_sub(margin)), last.saturating_add(Dur(margin)));
        (from.min(instants[0]), to.max(instants[SNAPSHOT_COUNT - 1]))
    }
}

fn build_world<P: Observer>(scenario: &Scenario, seed: u64, probe: P) -> Result<Box<World<P>>, TraceError> {
    build(scenario, seed, Options::default(), probe).map(Box::new).map_err(TraceError::Build)
}
