//! Interface of a node to its driver.

use crate::transport::{SegmentRun, SenderStats};
use crate::{BrokenRule, EventLocation, LosslessViolation, Observer, Pkt};
use mech::{FlowId, PortId};
use units::{Dur, Time};

/// Driver of a node, such as the simulator: carries out the node's requests, and provides its observer.
///
/// The example drives a switch by hand, with host `n` behind port `n`:
///
/// ```
/// use dataplane::{EventLocation, Out, Outcome, ExtensionSlab, Pkt, SwitchStep};
/// use mech::{Head, HostId, PortId};
/// use units::Time;
/// # use dataplane::{CoreSetup, Framing, PortSetup, Routes, Switch, SwitchSetup};
/// # use mech::routing::{Ecmp, NextHops};
/// # use mech::{buffer, fib, marking, overflow, scheduler};
/// #
/// # struct Direct;
/// # impl Routes for Direct {
/// #     fn next_hops(&self, _switch: u32, host: HostId) -> NextHops<'_> {
/// #         NextHops::Only(PortId(host.0 as u16))
/// #     }
/// # }
/// # let port = |_| PortSetup {
/// #     clock: units::Rate::gbps(1).clock(),
/// #     is_switch: false,
/// #     marking: marking::MarkingSlot::none(),
/// #     scheduler: scheduler::Fifo.into(),
/// #     pause: None,
/// #     agents: Vec::new(),
/// #     changes: false,
/// # };
/// # let core = CoreSetup {
/// #     node: 0,
/// #     seed: 1,
/// #     framing: Framing::ETHERNET,
/// #     buffer: buffer::BufferSlot::per_port(None),
/// #     overflow: overflow::TailDrop.into(),
/// #     lanes: mech::Lanes::default(),
/// #     lowest_class: 0,
/// #     top_class: 0,
/// #     may_compute: false,
/// #     ports: (0..4).map(port).collect(),
/// #     inputs: None,
/// # };
/// # let (fib, routing) = (fib::FibSlot::from_routes(), Ecmp::default().into());
/// # let mut switch = Switch::new(SwitchSetup { core, fib, routing, snapshot: false, shuffle: false });
///
/// /// Driver that records the port and the end of each transmission.
/// struct Wire(Vec<(PortId, Time)>, ());
///
/// impl Out for Wire {
///     type Observer = ();
///     fn transmit(&mut self, port: PortId, _pkt: &Pkt, end: Time) {
///         self.0.push((port, end));
///     }
///     fn schedule_wake(&mut self, _port: PortId, _at: Time) {}
///     fn set_timer(&mut self, _index: u32, _at: Time) {}
///     fn report_outcome(&mut self, _what: Outcome<'_>) {}
///     fn observer(&mut self) -> &mut () {
///         &mut self.1
///     }
///     fn event_location(&self, port: PortId) -> EventLocation {
///         EventLocation { now: Time::ZERO, node: 0, port: u32::from(port.0) }
///     }
/// }
///
/// let mut wire = Wire(Vec::new(), ());
/// let head = Head { dst: HostId(2), size: 1500, orig_size: 1500, ttl: 64, ..Head::default() };
/// let mut arrivals = [Pkt { head, ext: dataplane::NO_EXT, ..Pkt::default() }];
/// let exts = &mut ExtensionSlab::default();
/// switch.step(&[], &mut arrivals, &mut SwitchStep { now: Time::ZERO, routes: &Direct, exts, out: &mut wire });
/// assert_eq!(wire.0, [(PortId(2), Time(12_160_000))], "1500 B and 20 B of preamble and gap at 1 Gb/s");
/// ```
pub trait Out {
    /// Observer of the node.
    type Observer: Observer;

    /// Sends a frame by `port`; its last bit leaves at `end`.
    fn transmit(&mut self, port: PortId, pkt: &Pkt, end: Time);
    /// Sends the frames of a run of segments by `port`, each immediately after the one before.
    /// `ends` is the instant at which the last bit of the first leaves, and the time between two such instants.
    fn transmit_run(&mut self, port: PortId, run: &SegmentRun, ends: (Time, Dur)) {
        let mut end = ends.0;
        for pkt in run.packets() {
            self.transmit(port, &pkt, end);
            end = end.saturating_add(ends.1);
        }
    }
    /// Schedules a call of the node's `on_transmit_end(port)` at `at`, when the port can send again.
    /// Something waits for the port then.
    fn schedule_wake(&mut self, port: PortId, at: Time);
    /// Schedules a call of the node's `on_timer(index)` at `at`.
    fn set_timer(&mut self, index: u32, at: Time);
    /// Reports that a flow, a message or the whole run has ended.
    fn report_outcome(&mut self, what: Outcome<'_>);

    /// Returns the observer of the node.
    fn observer(&mut self) -> &mut Self::Observer;
    /// Returns true if the run has a flow of this number.
    fn has_flow(&self, _flow: FlowId) -> bool {
        true
    }
    /// Returns the present instant, the node, and the number of a port in the whole network, for observers.
    fn event_location(&self, port: PortId) -> EventLocation;
}

/// End of a flow, of a message or of the whole run, or a fact on which the end of the run depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome<'a> {
    /// The last byte of a flow has arrived.
    FlowReceived(FlowId),
    /// The sender of a flow has an acknowledgement for every byte.
    FlowAcknowledged(FlowId, &'a SenderStats),
    /// The run ends: a packet of a lossless class was lost for want of memory.
    LosslessViolated(&'a LosslessViolation),
    /// The watchdog of a port sends in spite of pauses from now on, so that the far end may lose packets.
    PausesIgnored(PortId),
    /// The run ends: a mechanism broke a rule of its slot.
    RuleBroken(&'a BrokenRule),
}
