//! What agents follow: bytes by port and class, and between which levels nobody need be called.

use mech::{Account, Head, PortId};

/// One account.
#[derive(Clone, Copy, Debug)]
struct Counter {
    bytes: u64,
    levels: (u64, u64),
}

impl Counter {
    const EMPTY: Counter = Counter { bytes: 0, levels: Account::UNWATCHED };

    #[inline]
    fn is_outside(&self) -> bool {
        Account::is_outside(self.bytes, self.levels)
    }
}

/// The accounts of a node; those of a kind that nobody follows are not there. Classes are eight a port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accounts {
    output: Box<[Counter]>,
    arrived: Box<[Counter]>,
    entered: Box<[Counter]>,
    input: Box<[Counter]>,
    all_input: Box<[Counter]>,
}

/// Bytes that come or go, of a frame or of a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delta {
    /// The port that the frame waits to leave by; `None` where it is held.
    port: Option<PortId>,
    ingress: PortId,
    class: u8,
    bytes: i64,
    /// It was stored now.
    arrives: bool,
}

impl Delta {
    /// A frame is stored at a port.
    pub(crate) fn stored(port: PortId, head: &Head) -> Delta {
        Delta { arrives: true, ..Delta::of(Some(port), head, i64::from(head.size)) }
    }
    /// A frame that waited at a port is gone.
    pub(crate) fn left(port: PortId, head: &Head) -> Delta {
        Delta::of(Some(port), head, -i64::from(head.size))
    }
    /// So many bytes of a frame that waits at a port are cut off.
    pub(crate) fn trimmed(port: PortId, head: &Head, bytes: u16) -> Delta {
        Delta::of(Some(port), head, -i64::from(bytes))
    }
    /// A frame is held before lookup.
    pub(crate) fn held(head: &Head) -> Delta {
        Delta::of(None, head, i64::from(head.size))
    }
    /// A frame that was held goes on.
    pub(crate) fn released(head: &Head) -> Delta {
        Delta::of(None, head, -i64::from(head.size))
    }
    fn of(port: Option<PortId>, head: &Head, bytes: i64) -> Delta {
        Delta { port, ingress: head.ingress, class: head.class(), bytes, arrives: false }
    }
    /// The accounts that it changes, in the order in which agents are told.
    #[inline]
    pub(crate) fn accounts(&self) -> impl Iterator<Item = Account> + use<> {
        let Delta { port, ingress, class, arrives, .. } = *self;
        let output = port.map(Account::Output);
        let arrived = port.filter(|_| arrives).map(|port| Account::Arrived(port, class));
        let entered = arrived.map(|_| Account::Entered(ingress, class));
        let input = [Some(Account::Input(ingress, class)), Some(Account::AllInput(ingress))];
        [output, arrived, entered].into_iter().chain(input).flatten()
    }
}

impl Accounts {
    /// Those of so many ports that somebody follows.
    pub(crate) fn new(ports: usize, followed: &[Account]) -> Accounts {
        let of = |wanted: bool, count: usize| vec![Counter::EMPTY; if wanted { count } else { 0 }].into_boxed_slice();
        let any = |is: fn(&Account) -> bool| followed.iter().any(is);
        Accounts {
            output: of(any(|of| matches!(of, Account::Output(_))), ports),
            arrived: of(any(|of| matches!(of, Account::Arrived(..))), ports * 8),
            entered: of(any(|of| matches!(of, Account::Entered(..))), ports * 8),
            input: of(any(|of| matches!(of, Account::Input(..) | Account::AllInput(_))), ports * 8),
            all_input: of(any(|of| matches!(of, Account::AllInput(_))), ports),
        }
    }

    #[inline]
    fn counter(&mut self, of: Account) -> Option<&mut Counter> {
        let class_of = |port: PortId, class: u8| usize::from(port.0) * 8 + usize::from(class);
        match of {
            Account::Output(port) => self.output.get_mut(usize::from(port.0)),
            Account::Arrived(port, class) => self.arrived.get_mut(class_of(port, class)),
            Account::Entered(port, class) => self.entered.get_mut(class_of(port, class)),
            Account::Input(port, class) => self.input.get_mut(class_of(port, class)),
            Account::AllInput(port) => self.all_input.get_mut(usize::from(port.0)),
        }
    }

    /// Counts what comes or goes; whether an account is outside of its levels now.
    #[inline]
    pub(crate) fn change(&mut self, delta: &Delta) -> bool {
        let mut outside = false;
        for of in delta.accounts() {
            if let Some(counter) = self.counter(of) {
                counter.bytes = counter.bytes.wrapping_add_signed(delta.bytes);
                outside |= counter.is_outside();
            }
        }
        outside
    }

    /// The bytes of an account that is outside of its levels.
    pub(crate) fn outside(&mut self, of: Account) -> Option<u64> {
        self.counter(of).filter(|counter| counter.is_outside()).map(|counter| counter.bytes)
    }
    /// Between which levels nobody is to be called.
    pub(crate) fn set_levels(&mut self, of: Account, levels: (u64, u64)) {
        self.counter(of).into_iter().for_each(|counter| counter.levels = levels);
    }
    /// Bytes of a class that came in by a port and are still here; 0 where nobody follows them.
    pub(crate) fn input(&self, port: PortId, class: u8) -> u64 {
        self.input.get(usize::from(port.0) * 8 + usize::from(class)).map_or(0, |counter| counter.bytes)
    }
    /// Bytes of a class that were ever stored at a port; 0 where nobody follows them.
    pub(crate) fn arrived(&self, port: PortId, class: u8) -> u64 {
        self.arrived.get(usize::from(port.0) * 8 + usize::from(class)).map_or(0, |counter| counter.bytes)
    }
    /// Bytes of a class that came in by a port and were stored; 0 where nobody follows them.
    pub(crate) fn entered(&self, port: PortId, class: u8) -> u64 {
        self.entered.get(usize::from(port.0) * 8 + usize::from(class)).map_or(0, |counter| counter.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_follows_is_not_counted_and_what_is_held_waits_at_no_output() {
        let (a, b) = (PortId(0), PortId(1));
        let mut accounts = Accounts::new(2, &[Account::Output(b), Account::AllInput(a)]);
        accounts.set_levels(Account::Output(b), (0, 100));
        let head = Head { size: 80, ingress: a, ..Head::default() };
        assert!(!accounts.change(&Delta::held(&head)) && !accounts.change(&Delta::stored(b, &head)));
        assert!(accounts.change(&Delta::stored(b, &head)), "160 bytes wait");
        assert_eq!(accounts.outside(Account::Output(b)), Some(160));
        assert_eq!((accounts.input(a, 0), accounts.arrived(b, 0)), (240, 0));
        assert!(!accounts.change(&Delta::trimmed(b, &head, 60)), "100 bytes are inside");
        assert!(!accounts.change(&Delta::released(&head)) && !accounts.change(&Delta::left(b, &head)));
        assert_eq!((accounts.input(a, 0), accounts.outside(Account::Output(b))), (20, None));
    }
}
