//! Interface of observers to a run that is divided into partitions.

use dataplane::{Observer, Pkt};

/// Partitions of nodes and ports in a divided run, and the numbers of its flows in the whole run.
#[derive(Clone, Copy, Debug)]
pub struct Owners<'a> {
    /// Partition of each node.
    pub nodes: &'a [u32],
    /// Partition of the node of each port, by the port's number over the whole network.
    pub ports: &'a [u32],
    /// First port of each node.
    pub base: &'a [u32],
    /// Number of each flow in the whole run, by its number in the partitions.
    pub ranks: &'a [u32],
}

impl Owners<'_> {
    /// Returns the node of a port.
    pub fn node_of(&self, port: u32) -> u32 {
        self.base.partition_point(|first| *first <= port) as u32 - 1
    }
}

/// Observer of a divided run: each partition has one of its own.
///
/// ```
/// use dataplane::Pkt;
/// use sim::{Divided, Observer, Options, Owners, Spot, run_divided};
/// # const TEXT: &str = r#"
/// #     name = "one"
/// #     duration = "1ms"
/// #     transport.kind = "newreno"
/// #     topology = { kind = "star", n = 2, link = { rate = "1Gbps", delay = "1us" } }
/// #     [[traffic]]
/// #     name = "flow"
/// #     kind = "incast"
/// #     senders = 1
/// #     receiver = "h0"
/// #     size = "1000B"
/// # "#;
///
/// /// Number of packets that have reached their transports.
/// #[derive(Clone, Default)]
/// struct Deliveries(u64);
///
/// impl Observer for Deliveries {
///     fn delivered(&mut self, _at: Spot, _pkt: &Pkt) {
///         self.0 += 1;
///     }
/// }
///
/// impl Divided for Deliveries {
///     type Attached = ();
///     fn detach(&mut self, _pkt: &Pkt) {}
///     fn attach(&mut self, _pkt: &Pkt, _attached: ()) {}
///     fn gather(parts: Vec<Deliveries>, _owners: &Owners<'_>) -> Deliveries {
///         Deliveries(parts.iter().map(|part| part.0).sum())
///     }
/// }
///
/// // `TEXT` is a scenario with one flow of 1000 B over a switch.
/// let loaded = scenario::load(&scenario::Source::new("one.toml", TEXT, "".as_ref()), &[]).expect("it is valid");
/// let options = Options { partitions: 2, ..Options::default() };
/// let world = run_divided(&loaded.variants[0], loaded.seed, options, Deliveries::default())?;
/// assert_eq!(world.observer().0, 2, "a data packet and its ACK");
/// # Ok::<(), sim::BuildError>(())
/// ```
pub trait Divided: Observer + Clone + Send {
    /// State that the observer keeps of a packet in flight.
    type Attached: Send;
    /// Prepares the observer, before the run, to be that of one partition.
    fn divide(&mut self) {}
    /// Returns the packets that transports have made since the last call. If [`Observer::emitted`] is wanted, the
    /// partition of the receiver gets them before any of them arrives.
    fn take_emitted(&mut self) -> Vec<Pkt> {
        Vec::new()
    }
    /// Removes and returns the state of a packet that goes on to another partition.
    fn detach(&mut self, pkt: &Pkt) -> Self::Attached;
    /// Adds the state of a packet that has come from another partition.
    fn attach(&mut self, pkt: &Pkt, attached: Self::Attached);
    /// Makes one observer of those of all partitions, in the order of partitions, after the run.
    fn gather(parts: Vec<Self>, owners: &Owners<'_>) -> Self;
}

impl Divided for () {
    type Attached = ();
    fn detach(&mut self, _pkt: &Pkt) {}
    fn attach(&mut self, _pkt: &Pkt, _attached: ()) {}
    fn gather(_parts: Vec<()>, _owners: &Owners<'_>) {}
}
