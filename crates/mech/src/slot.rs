//! What every slot is: an opaque choice of one mechanism. Who asks it does not know which; the
//! catalogue's own are called without a table of functions, those from outside through one.

macro_rules! slot {
    (
        $(#[$doc:meta])*
        $slot:ident($kind:ident) of $trait:ident { $($variant:ident($own:ty),)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $slot($kind);

        #[derive(Clone)]
        enum $kind {
            $($variant($own),)*
            Custom(Box<dyn $trait>),
        }

        impl Clone for Box<dyn $trait> {
            fn clone(&self) -> Box<dyn $trait> {
                self.boxed()
            }
        }

        $(impl From<$own> for $slot {
            fn from(own: $own) -> $slot {
                $slot($kind::$variant(own))
            }
        })*

        impl $slot {
            /// A mechanism from outside the catalogue.
            pub fn custom(own: impl $trait + 'static) -> $slot {
                $slot($kind::Custom(Box::new(own)))
            }
            /// The mechanism.
            #[inline]
            pub fn get(&mut self) -> &mut dyn $trait {
                match &mut self.0 {
                    $($kind::$variant(own) => own,)*
                    $kind::Custom(own) => &mut **own,
                }
            }
            /// The mechanism, to read.
            #[inline]
            pub fn peek(&self) -> &dyn $trait {
                match &self.0 {
                    $($kind::$variant(own) => own,)*
                    $kind::Custom(own) => &**own,
                }
            }
        }

        impl core::fmt::Debug for $slot {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(match &self.0 {
                    $($kind::$variant(_) => stringify!($variant),)*
                    $kind::Custom(_) => "Custom",
                })
            }
        }
    };
}

/// What every slot is whose answers are agents: one for no port in particular, or none.
macro_rules! agent_slot {
    ($(#[$doc:meta])* $slot:ident) => {
        $(#[$doc])*
        #[derive(Clone, Default)]
        pub struct $slot($crate::AgentSlot);

        impl $slot {
            /// No agent.
            pub const NONE: $slot = $slot($crate::AgentSlot::NONE);

            /// An agent, of the catalogue or from outside.
            pub fn new(agent: impl $crate::Agent + 'static) -> $slot {
                $slot($crate::AgentSlot::new(agent))
            }
            /// The agent, to read.
            pub fn peek(&self) -> Option<&dyn $crate::Agent> {
                self.0.peek()
            }
            /// The agent of a port of this rate.
            pub fn for_port(&self, clock: units::Clock) -> $crate::AgentSlot {
                self.0.for_port(clock)
            }
        }

        impl core::fmt::Debug for $slot {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(if self.peek().is_some() { "Some" } else { "None" })
            }
        }
    };
}
