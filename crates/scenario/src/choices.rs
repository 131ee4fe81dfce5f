//! Enums of the words that parameters of fixed tables accept, each declared once.

use mech::choice;

choice! {
    /// Visibility of simultaneous arrivals at a switch to each other.
    pub enum SimultaneousArrivals {
        /// Each simultaneous arrival is decided and stored before the switch decides on the next one.
        InTurn = "in_turn",
        /// All simultaneous arrivals are decided on the queues as they are before any of them is stored.
        Snapshot = "snapshot",
    }
}

choice! {
    /// Order of simultaneous arrivals at a switch.
    pub enum TieOrder {
        /// Random permutation, drawn from the seed again at every instant.
        Random = "random",
        /// Order of port numbers.
        Port = "port",
    }
}

choice! {
    /// Distribution of the time that a frame spends between a host's NIC queue and the wire.
    pub enum NicJitter {
        /// Exponential distribution.
        Exponential = "exponential",
        /// Uniform distribution from 0 to twice the mean.
        Uniform = "uniform",
    }
}

choice! {
    /// Level of detail at which goodput is recorded over time.
    pub enum Goodput {
        /// Goodput of each host.
        Hosts = "hosts",
        /// Goodput of each host and of each flow.
        Flows = "flows",
        /// No goodput.
        None = "none",
    }
}

choice! {
    /// Event that ends a flow.
    pub enum FctEnd {
        /// Arrival of the last payload byte at the receiver.
        LastByte = "last_byte",
        /// Arrival of the acknowledgement of all data at the sender.
        SenderAck = "sender_ack",
    }
}

choice! {
    /// Queueing model of a switch.
    pub(crate) enum ModelKind {
        OutputQueued = "output_queued",
        Cioq = "cioq",
        Fabric = "fabric",
    }
}

choice! {
    /// Kind of a node of a custom topology, or of the far end of a port.
    pub(crate) enum NodeKind {
        Host = "host",
        Switch = "switch",
    }
}
