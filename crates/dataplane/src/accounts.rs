//! Byte counters by port and class that agents follow, each with the levels between which no agent is called.

use mech::{Account, Head, PortId};

/// Byte count of an account, and the levels between which no agent is called.
#[derive(Clone, Copy, Debug)]
struct AccountCounter {
    bytes: u64,
    levels: (u64, u64),
}

impl AccountCounter {
    const EMPTY: AccountCounter = AccountCounter { bytes: 0, levels: Account::UNWATCHED };

    #[inline]
    fn is_outside_levels(&self) -> bool {
        Account::is_outside(self.bytes, self.levels)
    }
}

/// Byte counters of all accounts of a node, with eight classes for each port.
/// A kind of account that no agent follows has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Accounts {
    output: Box<[AccountCounter]>,
    arrived: Box<[AccountCounter]>,
    entered: Box<[AccountCounter]>,
    input: Box<[AccountCounter]>,
    all_input: Box<[AccountCounter]>,
}

/// Memories that a frame joins or leaves: the memory of its input, the buffer of its output, or both.
/// An output-queued switch has a single memory, which counts as both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemorySides {
    pub(crate) input: bool,
    pub(crate) output: bool,
}

impl MemorySides {
    const NONE: MemorySides = MemorySides { input: false, output: false };
    /// Memory of the input port by which a frame arrived.
    pub(crate) const INPUT: MemorySides = MemorySides { input: true, output: false };
    /// Buffer of the output port by which a frame will leave.
    pub(crate) const OUTPUT: MemorySides = MemorySides { input: false, output: true };
    /// Single memory of a switch without input memory, which counts as both input and output side.
    pub(crate) const BOTH: MemorySides = MemorySides { input: true, output: true };
}

/// Change of accounts when a frame, or a part of it, joins, changes or leaves a memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccountDelta {
    /// Output port of the frame; `None` if an agent holds the frame before lookup.
    port: Option<PortId>,
    ingress: PortId,
    class: u8,
    bytes: i64,
    /// Memories that the counted bytes join.
    joins: MemorySides,
    /// Memories that the counted bytes leave.
    leaves: MemorySides,
}

impl AccountDelta {
    /// Change of accounts when a frame for `port` is stored.
    pub(crate) fn for_stored(port: PortId, head: &Head, joins: MemorySides) -> AccountDelta {
        AccountDelta { joins, ..AccountDelta::from_head(Some(port), head) }
    }
    /// Change of accounts when a frame for `port` moves from the memory of its input to the buffer of the port.
    pub(crate) fn for_crossing(port: PortId, head: &Head) -> AccountDelta {
        AccountDelta {
            joins: MemorySides::OUTPUT,
            leaves: MemorySides::INPUT,
            ..AccountDelta::from_head(Some(port), head)
        }
    }
    /// Change of accounts when a frame moves from the stages of a `fabric` switch to the buffer of `port`.
    /// The frame counts as waiting for the port before and after.
    pub(crate) fn for_fabric_exit(port: PortId, head: &Head) -> AccountDelta {
        AccountDelta {
            joins: MemorySides::OUTPUT,
            leaves: MemorySides::OUTPUT,
            ..AccountDelta::from_head(Some(port), head)
        }
    }
    /// Change of accounts when a frame for `port` leaves the memories `leaves`.
    pub(crate) fn for_departure(port: PortId, head: &Head, leaves: MemorySides) -> AccountDelta {
        AccountDelta { leaves, ..AccountDelta::from_head(Some(port), head) }
    }
    /// Change of accounts when `bytes` of a frame for `port` are cut off.
    pub(crate) fn for_trim(port: PortId, head: &Head, bytes: u16, leaves: MemorySides) -> AccountDelta {
        AccountDelta { bytes: i64::from(bytes), ..AccountDelta::for_departure(port, head, leaves) }
    }
    /// Change of accounts when an agent holds a frame before lookup.
    pub(crate) fn for_hold(head: &Head) -> AccountDelta {
        AccountDelta { joins: MemorySides::INPUT, ..AccountDelta::from_head(None, head) }
    }
    /// Change of accounts when a held frame is released, or when a frame or its copy leaves the memory of its input.
    pub(crate) fn for_release(head: &Head) -> AccountDelta {
        AccountDelta { leaves: MemorySides::INPUT, ..AccountDelta::from_head(None, head) }
    }
    fn from_head(port: Option<PortId>, head: &Head) -> AccountDelta {
        let (joins, leaves) = (MemorySides::NONE, MemorySides::NONE);
        AccountDelta { port, ingress: head.ingress, class: head.class(), bytes: i64::from(head.size), joins, leaves }
    }
    /// Returns the accounts that change and by how much, in the order in which agents are called.
    /// A frame counts as waiting for its port in whichever memory it is.
    #[inline]
    pub(crate) fn accounts(&self) -> impl Iterator<Item = (Account, i64)> + use<> {
        let AccountDelta { port, ingress, class, bytes, joins, leaves } = *self;
        // A frame that moves between memories counts for its output port all the time, so joining and leaving cancel.
        let comes = |joins: bool, leaves: bool| (joins != leaves).then_some(if joins { bytes } else { -bytes });
        let waits = comes(joins != MemorySides::NONE, leaves != MemorySides::NONE);
        let output = port.zip(waits).map(|(port, by)| (Account::Output(port), by));
        let arrived = port.filter(|_| joins.output).map(|port| (Account::Arrived(port, class), bytes));
        let entered = port.filter(|_| joins.input).map(|_| (Account::Entered(ingress, class), bytes));
        let input = comes(joins.input, leaves.input);
        let of_class = input.map(|by| (Account::Input(ingress, class), by));
        let of_all = input.map(|by| (Account::AllInput(ingress), by));
        [output, arrived, entered, of_class, of_all].into_iter().flatten()
    }
}

impl Accounts {
    /// Creates counters for each kind of account in `followed`, for all `ports` ports.
    pub(crate) fn new(ports: usize, followed: &[Account]) -> Accounts {
        let of =
            |wanted: bool, count: usize| vec![AccountCounter::EMPTY; if wanted { count } else { 0 }].into_boxed_slice();
        let any = |is: fn(&Account) -> bool| followed.iter().any(is);
        Accounts {
            output: of(any(|account| matches!(account, Account::Output(_))), ports),
            arrived: of(any(|account| matches!(account, Account::Arrived(..))), ports * 8),
            entered: of(any(|account| matches!(account, Account::Entered(..))), ports * 8),
            // An agent that follows `Entered` may also call `View::allocated_bytes`, which reads `Input`.
            input: of(
                any(|account| matches!(account, Account::Input(..) | Account::AllInput(_) | Account::Entered(..))),
                ports * 8,
            ),
            all_input: of(any(|account| matches!(account, Account::AllInput(_))), ports),
        }
    }

    #[inline]
    fn counter(&mut self, account: Account) -> Option<&mut AccountCounter> {
        let class_of = |port: PortId, class: u8| usize::from(port.0) * 8 + usize::from(class);
        match account {
            Account::Output(port) => self.output.get_mut(usize::from(port.0)),
            Account::Arrived(port, class) => self.arrived.get_mut(class_of(port, class)),
            Account::Entered(port, class) => self.entered.get_mut(class_of(port, class)),
            Account::Input(port, class) => self.input.get_mut(class_of(port, class)),
            Account::AllInput(port) => self.all_input.get_mut(usize::from(port.0)),
            Account::Group(..) => None,
        }
    }

    /// Returns the bytes of an account; `None` if no agent follows accounts of this kind.
    pub(crate) fn bytes(&self, account: Account) -> Option<u64> {
        let class_of = |port: PortId, class: u8| (class < 8).then(|| usize::from(port.0) * 8 + usize::from(class));
        let counter = match account {
            Account::Output(port) => self.output.get(usize::from(port.0)),
            Account::Arrived(port, class) => self.arrived.get(class_of(port, class)?),
            Account::Entered(port, class) => self.entered.get(class_of(port, class)?),
            Account::Input(port, class) => self.input.get(class_of(port, class)?),
            Account::AllInput(port) => self.all_input.get(usize::from(port.0)),
            Account::Group(..) => None,
        };
        counter.map(|counter| counter.bytes)
    }

    /// Adds a change to the accounts, and returns true if one of them is outside of its levels now.
    #[inline]
    pub(crate) fn apply_delta(&mut self, delta: &AccountDelta) -> bool {
        let mut outside = false;
        for (account, by) in delta.accounts() {
            if let Some(counter) = self.counter(account) {
                // All changes of a frame are applied before the first agent is called, so that no agent sees half of a
                // move.
                counter.bytes = counter.bytes.wrapping_add_signed(by);
                outside |= counter.is_outside_levels();
            }
        }
        outside
    }

    /// Returns the bytes of an account that is outside of its levels; `None` if it is inside.
    pub(crate) fn bytes_outside_levels(&mut self, account: Account) -> Option<u64> {
        self.counter(account).filter(|counter| counter.is_outside_levels()).map(|counter| counter.bytes)
    }
    /// Sets the levels of an account, between which no agent is called.
    pub(crate) fn set_levels(&mut self, account: Account, levels: (u64, u64)) {
        self.counter(account).into_iter().for_each(|counter| counter.levels = levels);
    }
    /// Returns the bytes queued for an output port; `None` if no agent follows them.
    pub(crate) fn output_bytes(&self, port: PortId) -> Option<u64> {
        self.output.get(usize::from(port.0)).map(|counter| counter.bytes)
    }
    /// Returns the bytes of all classes that came in by a port and are still in the node; `None` if not followed.
    pub(crate) fn input_bytes(&self, port: PortId) -> Option<u64> {
        let classes = self.input.get(usize::from(port.0) * 8..)?.get(..8)?;
        Some(classes.iter().map(|counter| counter.bytes).sum())
    }
    /// Checks that the account of all classes of each input port equals the sum over its classes.
    pub(crate) fn is_consistent(&self) -> bool {
        let mut all = (0..).map(PortId).zip(&self.all_input);
        all.all(|(port, counter)| self.input_bytes(port) == Some(counter.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_followed_accounts_are_counted() {
        let (a, b) = (PortId(0), PortId(1));
        let mut accounts = Accounts::new(2, &[Account::Output(b), Account::AllInput(a)]);
        accounts.set_levels(Account::Output(b), (0, 100));
        let head = Head { size: 80, ingress: a, ..Head::default() };
        let stored = AccountDelta::for_stored(b, &head, MemorySides::BOTH);
        assert!(!accounts.apply_delta(&AccountDelta::for_hold(&head)) && !accounts.apply_delta(&stored));
        assert!(accounts.apply_delta(&stored), "160 bytes wait");
        assert_eq!(accounts.bytes_outside_levels(Account::Output(b)), Some(160));
        assert_eq!((accounts.bytes(Account::Input(a, 0)), accounts.bytes(Account::Arrived(b, 0))), (Some(240), None));
        assert!(
            !accounts.apply_delta(&AccountDelta::for_trim(b, &head, 60, MemorySides::BOTH)),
            "100 bytes are inside"
        );
        let left = AccountDelta::for_departure(b, &head, MemorySides::BOTH);
        assert!(!accounts.apply_delta(&AccountDelta::for_release(&head)) && !accounts.apply_delta(&left));
        assert_eq!(
            (accounts.bytes(Account::Input(a, 0)), accounts.bytes_outside_levels(Account::Output(b))),
            (Some(20), None)
        );
    }

    #[test]
    fn following_entered_bytes_also_counts_input_bytes() {
        let (a, b) = (PortId(0), PortId(1));
        let mut accounts = Accounts::new(2, &[Account::Entered(a, 0)]);
        let head = Head { size: 80, ingress: a, ..Head::default() };
        accounts.apply_delta(&AccountDelta::for_stored(b, &head, MemorySides::BOTH));
        accounts.apply_delta(&AccountDelta::for_stored(b, &head, MemorySides::BOTH));
        accounts.apply_delta(&AccountDelta::for_departure(b, &head, MemorySides::BOTH));
        let bytes = [Account::Entered(a, 0), Account::Input(a, 0)].map(|account| accounts.bytes(account));
        assert_eq!((bytes, accounts.input_bytes(a)), ([Some(160), Some(80)], Some(80)));
    }

    #[test]
    fn accounts_follow_a_frame_across_an_input_queued_switch() {
        let (a, b) = (PortId(0), PortId(1));
        let all = [Account::Output(b), Account::Arrived(b, 3), Account::Entered(a, 3), Account::AllInput(a)];
        let mut accounts = Accounts::new(2, &all);
        let mut head = Head { size: 80, ingress: a, ..Head::default() };
        head.set_class(3);
        let mut after = |delta: AccountDelta| {
            accounts.apply_delta(&delta);
            assert!(accounts.is_consistent());
            (
                accounts.output_bytes(b),
                accounts.bytes(Account::Arrived(b, 3)),
                accounts.bytes(Account::Entered(a, 3)),
                accounts.input_bytes(a),
            )
        };
        assert_eq!(
            after(AccountDelta::for_stored(b, &head, MemorySides::INPUT)),
            (Some(80), Some(0), Some(80), Some(80))
        );
        assert_eq!(after(AccountDelta::for_crossing(b, &head)), (Some(80), Some(80), Some(80), Some(0)));
        assert_eq!(
            after(AccountDelta::for_departure(b, &head, MemorySides::OUTPUT)),
            (Some(0), Some(80), Some(80), Some(0))
        );
        // A frame that is lost at its input does not increase the `Arrived` bytes of its output.
        assert_eq!(
            after(AccountDelta::for_stored(b, &head, MemorySides::INPUT)),
            (Some(80), Some(80), Some(160), Some(80))
        );
        assert_eq!(
            after(AccountDelta::for_departure(b, &head, MemorySides::INPUT)),
            (Some(0), Some(80), Some(160), Some(0))
        );
        // A held frame counts for its input only: it has no output yet, and it increases `Entered` only when stored.
        assert_eq!(after(AccountDelta::for_hold(&head)), (Some(0), Some(80), Some(160), Some(80)));
    }
}
