//! Cases of what is not built yet: they must fail, so that the list cannot outlive its reason.

/// `file: name` of a case, or `file` for all of its cases, pass or fail.
pub const PENDING: &[&str] = &[
    "rfc5681: after a SYN was sent again the initial window is one segment",
    "rfc5681: the first ACK of new data sets the window to the threshold",
    "rfc5681: an ACK of a part of the window ends fast recovery too",
    "rfc5681: a second loss in the window needs three duplicate ACKs of its own",
    "rfc5681: after more than a timeout without sending the window is at most the initial one",
    "rfc3042: with SACK a duplicate ACK that tells nothing new sends nothing",
    "rfc6298: a SYN that is not answered is sent again with a doubled timeout",
    "rfc6298: with the timer off nothing is awaited and nothing sent again by time",
    "rfc6298: with the timer off a lost last segment stays lost",
];
