//! Macros that define slots. A slot holds one mechanism, and its users cannot see which one. Mechanisms of the
//! catalogue are variants of an enum; mechanisms from outside are boxed trait objects.

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
                self.clone_boxed()
            }
        }

        $(impl From<$own> for $slot {
            fn from(own: $own) -> $slot {
                $slot($kind::$variant(own))
            }
        })*

        impl $slot {
            /// Creates a slot with a mechanism from outside the catalogue.
            pub fn custom(own: impl $trait + 'static) -> $slot {
                $slot($kind::Custom(Box::new(own)))
            }
            /// Returns the mechanism in the slot, mutable.
            #[inline]
            pub fn get(&mut self) -> &mut dyn $trait {
                match &mut self.0 {
                    $($kind::$variant(own) => own,)*
                    $kind::Custom(own) => &mut **own,
                }
            }
            /// Returns the mechanism in the slot, read-only.
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

/// Defines a slot that holds an agent, not yet assigned to a port, or no agent.
macro_rules! agent_slot {
    ($(#[$doc:meta])* $slot:ident) => {
        $(#[$doc])*
        #[derive(Clone, Default)]
        pub struct $slot($crate::AgentSlot);

        impl $slot {
            /// Slot without an agent.
            pub const NONE: $slot = $slot($crate::AgentSlot::NONE);

            /// Creates a slot with an agent of the catalogue or of another crate.
            pub fn new(agent: impl $crate::Agent + 'static) -> $slot {
                $slot($crate::AgentSlot::new(agent))
            }
            /// Returns the agent of the slot, read-only; `None` if the slot is empty.
            pub fn peek(&self) -> Option<&dyn $crate::Agent> {
                self.0.peek()
            }
            /// Returns a copy of the agent, assigned to a port with this transmission time per byte.
            pub fn for_port(&self, clock: units::ByteClock) -> $crate::AgentSlot {
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
