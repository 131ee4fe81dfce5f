//! The ack_hold slot, before lookup: are ACKs from this port's device held back?
//!
//! It is filled by an [`crate::Agent`] that follows [`crate::Account::Output`] of the port whose device sends the
//! ACKs, holds them by [`crate::Pass::Hold`] and lets them go by [`crate::Act::ReleaseHeld`]. The catalogue has
//! no answer but none yet.
