//! Trace of one packet, and the activity of switches around it.
//!
//! The run is repeated with an observer as a filter, so that other runs pay nothing. If the packet is not given by
//! its identity, a pass finds it. The next pass follows it, and the last records the network around it. All passes
//! are the same run, bit for bit, since observers do not affect it.

mod around;
mod end;
mod missing;
mod most;
mod plan;
mod steps;
mod tables;

pub use end::RunEnd;
pub use missing::Missing;
pub use most::Often;
pub use steps::{Step, What};

use crate::identity::PacketId;
use crate::{Options, Progress, World, build};
use around::Around;
use dataplane::{Body, Observer};
use mech::Notice;
use most::Most;
use plan::Plan;
use scenario::Scenario;
use std::sync::Arc;
use steps::Steps;
use units::{Dur, Time};

/// Number of events after which a pass checks if it can end.
const SLICE: u64 = 1 << 14;
/// Shortest time that is observed before and after a packet trace.
const MARGIN: Dur = Dur(1_000_000);
/// Number of instants at which queue lengths are recorded.
pub const INSTANTS: usize = 3;

/// Choice of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Packet with the most detours, bounces or cuts, or the first that is held or is a congestion message. It may be
    /// delivered, lost or sent back to its source; among equals it is the first to end. A packet's own counts end at
    /// 255.
    Most(Often),
    /// Packet with this identity.
    This(PacketId),
}

/// Progress of a tracer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Number of the pass: 1 finds the packet, 2 follows it, 3 observes the network around it.
    pub pass: u8,
    /// Progress of the run in this pass.
    pub progress: Progress,
    /// Latest end of the pass, as planned.
    pub until: Time,
    /// True if the pass is over.
    pub over: bool,
    /// True if all passes are over.
    pub done: bool,
}

/// Search for a packet trace, in passes.
pub struct Tracer {
    scenario: Arc<Scenario>,
    seed: u64,
    wanted: Wanted,
    /// Instants that the user asked for.
    instants: Option<[Time; INSTANTS]>,
    plan: Arc<Plan>,
    pass: Pass,
    id: Option<PacketId>,
    steps: Option<Steps>,
    end: Option<RunEnd>,
    around: Option<Around>,
}

enum Pass {
    Find(Box<World<Most>>),
    Follow(Box<World<Steps>>, Option<Time>),
    Look(Box<World<Around>>),
}

/// Continuation after a pass that can end.
enum Next {
    Follow(Option<(PacketId, Time)>),
    Look(Steps),
    Rest(Around),
}

impl Tracer {
    /// Returns a tracer before its first pass. Queue lengths are recorded at `instants`, in any order. By default
    /// these are the packet's first detour or bounce, its last, and half-way between. For a packet with fewer than
    /// two of them, they are both ends of the trace, and half-way.
    ///
    /// # Errors
    /// Returns [`Missing::Build`] if the run cannot be built.
    pub fn new(
        scenario: Arc<Scenario>,
        seed: u64,
        wanted: Wanted,
        instants: Option<[Time; INSTANTS]>,
    ) -> Result<Tracer, Missing> {
        let plan = Arc::new(Plan::new(&scenario.topology));
        let pass = match wanted {
            Wanted::Most(often) => Pass::Find(begin(&scenario, seed, Most::new(often))?),
            Wanted::This(id) => Pass::Follow(begin(&scenario, seed, Steps::new(id, plan.clone()))?, None),
        };
        let id = if let Wanted::This(id) = wanted { Some(id) } else { None };
        Ok(Tracer { scenario, seed, wanted, instants, plan, pass, id, steps: None, end: None, around: None })
    }

    /// Advances by about `max_events` events, or to the end of the pass.
    ///
    /// # Errors
    /// Returns an error if there is no such packet.
    pub fn advance(&mut self, max_events: u64) -> Result<Stage, Missing> {
        let mut left = max_events;
        loop {
            let slice = left.min(SLICE);
            let stage = self.slice(slice)?;
            left -= slice;
            if left == 0 || stage.over {
                return Ok(stage);
            }
        }
    }

    /// Advances the pass, and starts the next one at its end.
    fn slice(&mut self, events: u64) -> Result<Stage, Missing> {
        let progress = match &mut self.pass {
            Pass::Find(world) => world.advance(events),
            Pass::Follow(world, _) => world.advance(events),
            Pass::Look(world) => world.advance(events),
        };
        let (now, stopped) = (progress.now, progress.stop.is_some());
        let (pass, until, next) = match &self.pass {
            Pass::Find(world) => (1, self.horizon(now), stopped.then(|| Next::Follow(world.observer().found()))),
            Pass::Follow(world, end) => {
                let (probe, until) = (world.observer(), end.unwrap_or(self.horizon(now)));
                (2, until, (stopped || probe.ended).then(|| Next::Look(probe.clone())))
            }
            Pass::Look(world) => {
                let until = self.window().1;
                (3, until, (stopped || now > until).then(|| Next::Rest(world.observer().clone())))
            }
        };
        let stage = Stage { pass, progress, until, over: next.is_some(), done: next.is_some() && pass == 3 };
        if let (Pass::Follow(world, _), true) = (&mut self.pass, stopped) {
            self.end = RunEnd::from_world(world);
        }
        match next {
            None => {}
            Some(Next::Follow(found)) => self.follow(found)?,
            Some(Next::Look(steps)) => self.look(steps)?,
            Some(Next::Rest(mut around)) => {
                around.close();
                self.around = Some(around);
            }
        }
        Ok(stage)
    }

    fn follow(&mut self, found: Option<(PacketId, Time)>) -> Result<(), Missing> {
        let often = if let Wanted::Most(often) = self.wanted { often } else { Often::Detoured };
        let (id, end) = found.ok_or(Missing::None(often))?;
        let world = begin(&self.scenario, self.seed, Steps::new(id, self.plan.clone()))?;
        (self.id, self.pass) = (Some(id), Pass::Follow(world, Some(end)));
        Ok(())
    }

    fn look(&mut self, steps: Steps) -> Result<(), Missing> {
        let id = self.id();
        if steps.steps.is_empty() {
            let flow = id.flow >= steps.flows;
            let why = if flow { Missing::Flow(id, steps.flows) } else { Missing::Packet(id, steps.emissions) };
            let failed = self.end.as_ref().and_then(|end| end.describe_failure(&self.scenario));
            return Err(match failed {
                Some(failed) => Missing::Failed(Box::new(why), failed),
                None => why,
            });
        }
        self.steps = Some(steps);
        let around = Around::new(self.window(), &self.instants(), self.plan.ports);
        self.pass = Pass::Look(begin(&self.scenario, self.seed, around)?);
        Ok(())
    }

    /// Returns the planned end of a run that is at `now`.
    fn horizon(&self, now: Time) -> Time {
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
    pub fn steps(&self) -> &[Step] {
        &self.found().steps
    }

    /// Returns the packet as it was at its last step.
    pub fn packet(&self) -> &dataplane::Pkt {
        self.found().last.as_ref().expect("a packet trace has a step")
    }

    /// Returns the contents of the packet, if it is a congestion message.
    pub fn message(&self) -> Option<Notice> {
        match self.packet().body() {
            Body::Notice(notice) => Some(notice),
            _ => None,
        }
    }

    /// Returns true if the packet was delivered, lost or sent back to its source; otherwise it was in flight when the
    /// run ended.
    pub fn has_ended(&self) -> bool {
        self.found().ended
    }

    /// Returns the end of the run, if the packet was in flight then, or if its run failed.
    pub fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    fn found(&self) -> &Steps {
        self.steps.as_ref().expect("the packet was followed")
    }

    fn ends(&self) -> (Time, Time) {
        let steps = self.steps();
        (steps[0].at.now, steps[steps.len() - 1].at.now)
    }

    /// Returns the instants at which queue lengths are recorded, in order.
    pub fn instants(&self) -> [Time; INSTANTS] {
        let mut all = self.instants.unwrap_or_else(|| {
            let (first, last) = self.ends();
            let mut turns = self.steps().iter().filter(|step| matches!(step.what, What::Detoured | What::Bounced));
            let (one, other) = (turns.next(), turns.next_back());
            let (from, to) = one.zip(other).map_or((first, last), |(one, other)| (one.at.now, other.at.now));
            [from, from + Dur((to.0 - from.0) / 2), to]
        });
        all.sort_unstable();
        all
    }

    /// Returns the interval in which detours are recorded: the packet trace, as much time before and after it, and
    /// all instants.
    pub fn window(&self) -> (Time, Time) {
        let ((first, last), instants) = (self.ends(), self.instants());
        let margin = MARGIN.0.max(last.0 - first.0);
        let (from, to) = (Time(first.0.saturating_sub(margin)), last.saturating_add(Dur(margin)));
        (from.min(instants[0]), to.max(instants[INSTANTS - 1]))
    }
}

fn begin<P: Observer>(scenario: &Scenario, seed: u64, probe: P) -> Result<Box<World<P>>, Missing> {
    build(scenario, seed, Options::default(), probe).map(Box::new).map_err(Missing::Build)
}
