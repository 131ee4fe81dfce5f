//! Interface of observers to a run that is divided into partitions.

use dataplane::{Observer, Pkt};

/// Partition of each node and port of a divided run, and the number of each flow in the whole run.
#[derive(Clone, Copy, Debug)]
pub struct PartitionOwners<'a> {
    /// Partition of each node, by node number.
    pub nodes: &'a [u32],
    /// Partition of the node of each port, by the port's number over the whole network.
    pub ports: &'a [u32],
    /// Number of each node's first port, counted over the whole network.
    pub base: &'a [u32],
    /// Number of each flow in the whole run, by its number in the partitions.
    pub flow_numbers: &'a [u32],
}

impl PartitionOwners<'_> {
    /// Returns the node of a port.
    pub fn node_of(&self, port: u32) -> u32 {
        self.base.partition_point(|first| *first <= port) as u32 - 1
    }
}

/// Observer of a divided run, of which each partition has its own copy.
///
/// ```
/// use dataplane::Pkt;
/// use sim::{DividedObserver, Observer, Options, PartitionOwners, EventLocation, run_divided};
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
///     fn on_delivery(&mut self, _at: EventLocation, _pkt: &Pkt) {
///         self.0 += 1;
///     }
/// }
///
/// impl DividedObserver for Deliveries {
///     type PacketState = ();
///     fn detach_packet_state(&mut self, _pkt: &Pkt) {}
///     fn attach_packet_state(&mut self, _pkt: &Pkt, _attached: ()) {}
///     fn merge(parts: Vec<Deliveries>, _owners: &PartitionOwners<'_>) -> Deliveries {
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
pub trait DividedObserver: Observer + Clone + Send {
    /// State that the observer keeps of a packet in flight, and that moves with the packet to another partition.
    type PacketState: Send;
    /// Prepares the copy of the observer for one partition, before the run.
    fn prepare_partition(&mut self) {}
    /// Returns the packets that transports have made since the last call. If [`Observer::on_emit`] is wanted, the
    /// partition of the receiver gets them before any of them arrives.
    fn take_emitted_packets(&mut self) -> Vec<Pkt> {
        Vec::new()
    }
    /// Removes and returns the state of a packet that goes on to another partition.
    fn detach_packet_state(&mut self, pkt: &Pkt) -> Self::PacketState;
    /// Adds the observer's state of a packet that has come from another partition.
    fn attach_packet_state(&mut self, pkt: &Pkt, attached: Self::PacketState);
    /// Merges the observers of all partitions, in the order of partitions, after the run.
    fn merge(parts: Vec<Self>, owners: &PartitionOwners<'_>) -> Self;
}

impl DividedObserver for () {
    type PacketState = ();
    fn detach_packet_state(&mut self, _pkt: &Pkt) {}
    fn attach_packet_state(&mut self, _pkt: &Pkt, _attached: ()) {}
    fn merge(_parts: Vec<()>, _owners: &PartitionOwners<'_>) {}
}
