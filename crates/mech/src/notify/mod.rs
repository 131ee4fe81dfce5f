//! The notify slot: who is told, by a message upstream?
//!
//! It is filled by an [`crate::Agent`], a congestion point: it follows [`crate::Account::Arrived`] and asks for
//! [`crate::Act::Emit`]. The catalogue has no answer but none yet.
