//! World of a single type for the observers of all tests. A type for each observer takes as long to compile as the
//! whole core.

use dataplane::{DequeuedFrame, EnqueuedFrame, EventLocation, ObservedEvents, Observer, Pkt};
use mech::overflow::DropReason;
use mech::{ClassSet, FlowId, QueueId};
use scenario::Scenario;
use sim::{Options, RunHooks, World, build_with_hooks};
use std::any::Any;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use units::{Rate, Time};

/// Flags of the events that an observer wants and that change the computation: emissions and departures.
pub const NOTHING: u8 = 0;
pub const EMISSIONS: u8 = 1;
pub const DEPARTURES: u8 = 2;

macro_rules! watch {
    ($($event:ident($($name:ident: $type:ty),*);)*) => {
        /// Observer as a trait object.
        trait Watch: Any {
            fn duplicate(&self) -> Box<dyn Watch>;
            fn as_any(&self) -> &dyn Any;
            $(fn $event(&mut self, $($name: $type),*);)*
        }

        impl<O: Observer + Clone + 'static> Watch for O {
            fn duplicate(&self) -> Box<dyn Watch> {
                Box::new(self.clone())
            }
            fn as_any(&self) -> &dyn Any {
                self
            }
            $(fn $event(&mut self, $($name: $type),*) {
                Observer::$event(self, $($name),*);
            })*
        }

        impl<const WANTS: u8> Observer for Watched<WANTS> {
            const OBSERVED: ObservedEvents = wants(WANTS);
            $(fn $event(&mut self, $($name: $type),*) {
                self.0.$event($($name),*);
            })*
        }
    };
}

dataplane::each_event!(watch);

const fn wants(which: u8) -> ObservedEvents {
    match which {
        NOTHING => ObservedEvents::NONE,
        EMISSIONS => ObservedEvents { emissions: true, ..ObservedEvents::NONE },
        _ => ObservedEvents::DEPARTURES,
    }
}

pub struct Watched<const WANTS: u8>(Box<dyn Watch>);

impl<const WANTS: u8> Clone for Watched<WANTS> {
    fn clone(&self) -> Self {
        Watched(self.0.duplicate())
    }
}

/// World of a run whose observer is of type `O`.
pub struct Watching<O, const WANTS: u8 = NOTHING> {
    world: World<Watched<WANTS>>,
    observer: PhantomData<O>,
}

impl<O: 'static, const WANTS: u8> Watching<O, WANTS> {
    pub fn observer(&self) -> &O {
        self.world.observer().0.as_any().downcast_ref().expect("it was built with this observer")
    }
}

impl<O, const WANTS: u8> Clone for Watching<O, WANTS> {
    fn clone(&self) -> Self {
        Watching { world: self.world.clone(), observer: PhantomData }
    }
}

impl<O, const WANTS: u8> Deref for Watching<O, WANTS> {
    type Target = World<Watched<WANTS>>;
    fn deref(&self) -> &Self::Target {
        &self.world
    }
}

impl<O, const WANTS: u8> DerefMut for Watching<O, WANTS> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.world
    }
}

/// Returns the world of a scenario at time zero, with an observer that wants neither emissions nor departures.
pub fn watch<O: Observer + Clone + 'static>(s: &Scenario, seed: u64, options: Options, observer: O) -> Watching<O> {
    watch_wanting(s, seed, options, observer)
}

/// Returns the world of a scenario at time zero, with an observer that wants the events in `WANTS`.
pub fn watch_wanting<O: Observer + Clone + 'static, const WANTS: u8>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    observer: O,
) -> Watching<O, WANTS> {
    build_watched(scenario, seed, options, RunHooks { observer, tap: (), change_switch: &|_, _| {} })
}

/// Returns the world of a scenario at time zero, with an observer and with changed switches.
pub fn watch_with_hooks<O: Observer + Clone + 'static>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    hooks: RunHooks<O, ()>,
) -> Watching<O> {
    build_watched(scenario, seed, options, hooks)
}

fn build_watched<O: Observer + Clone + 'static, const WANTS: u8>(
    scenario: &Scenario,
    seed: u64,
    options: Options,
    hooks: RunHooks<O, ()>,
) -> Watching<O, WANTS> {
    const {
        let (own, given) = (O::OBSERVED, wants(WANTS));
        assert!(own.queues == given.queues && own.departures == given.departures);
        assert!(own.emissions == given.emissions && own.arrivals == given.arrivals);
    };
    let RunHooks { observer, tap, change_switch: switch } = hooks;
    let hooks = RunHooks { observer: Watched(Box::new(observer)), tap, change_switch: switch };
    Watching { world: build_with_hooks(scenario, seed, options, hooks).unwrap(), observer: PhantomData }
}
