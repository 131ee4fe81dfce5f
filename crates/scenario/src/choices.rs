//! The choices of the tables that are no mechanisms, each declared once.

use mech::choice;

choice! {
    /// Whether simultaneous arrivals see each other.
    pub enum Simultaneous {
        /// Each is decided and applied before the next.
        InTurn = "in_turn",
        /// All are decided on the state before any is stored.
        Snapshot = "snapshot",
    }
}

choice! {
    /// The order of simultaneous arrivals at a switch.
    pub enum Ties {
        /// Permuted by the seed, anew at every instant.
        Random = "random",
        /// By port number.
        Port = "port",
    }
}

choice! {
    /// How long a frame spends between the queue of a host's NIC and the wire.
    pub enum NicJitter {
        /// Exponentially distributed.
        Exponential = "exponential",
        /// Uniform from 0 to twice the mean.
        Uniform = "uniform",
    }
}

choice! {
    /// Whose goodput is followed over time.
    pub enum Goodput {
        /// Every host's.
        Hosts = "hosts",
        /// Every host's and every flow's.
        Flows = "flows",
        /// Nobody's.
        None = "none",
    }
}

choice! {
    /// Where a flow ends.
    pub enum FctEnd {
        /// The last payload byte is at the receiver.
        LastByte = "last_byte",
        /// The sender has got the acknowledgement of everything.
        SenderAck = "sender_ack",
    }
}

choice! {
    /// The model of a switch.
    pub(crate) enum ModelKind {
        OutputQueued = "output_queued",
        Cioq = "cioq",
        Fabric = "fabric",
    }
}

choice! {
    /// What a node of a custom topology is, and what a port leads to.
    pub(crate) enum NodeKind {
        Host = "host",
        Switch = "switch",
    }
}
