//! Table of names from papers, standards and other tools, with the kind or key of scenarios that each stands for.
//! No other table has such names.

/// Name from a paper, a standard or another tool, and its kind or key in scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Name from a paper, standard or tool, reduced to lower-case letters and digits.
    pub normalized: &'static str,
    /// Name from a paper, standard or tool, as written in a sentence.
    pub written: &'static str,
    /// Scenario table that has the kind or key, as in [`Spec::slot`](crate::params::Spec::slot).
    pub slot: &'static str,
    /// Kind that the name stands for; empty if its key belongs to several kinds of the table.
    pub kind: &'static str,
    /// Key that the name stands for; empty if it stands for the kind itself.
    pub param: &'static str,
    /// Sentence about how the meaning of the name differs here; empty if it does not.
    pub note: &'static str,
}

impl Alias {
    /// Creates an alias that stands for a kind of a scenario table.
    const fn new(typed: &'static str, said: &'static str, (slot, kind): (&'static str, &'static str)) -> Alias {
        Alias { normalized: typed, written: said, slot, kind, param: "", note: "" }
    }
    /// Returns the alias, changed to stand for a key of its kind.
    const fn with_key(self, param: &'static str) -> Alias {
        Alias { param, ..self }
    }
    /// Returns the alias with a sentence about a difference in meaning.
    const fn with_note(self, note: &'static str) -> Alias {
        Alias { note, ..self }
    }
}

const DETOUR: (&str, &str) = ("switch.overflow", "detour");
const BOUNCE: (&str, &str) = ("switch.overflow", "bounce");
const TRIM: (&str, &str) = ("switch.overflow", "trim");
const TAIL_DROP: (&str, &str) = ("switch.overflow", "tail_drop");
const ECN_THRESHOLD: (&str, &str) = ("switch.marking", "ecn_threshold");
const RED: (&str, &str) = ("switch.marking", "red");
const SHARED_BUFFER: (&str, &str) = ("switch.buffer", "shared");
const ROUND_ROBIN: (&str, &str) = ("switch.scheduler", "round_robin");
const STRICT_PRIORITY: (&str, &str) = ("switch.scheduler", "strict_priority");
const SPRAY: (&str, &str) = ("switch.routing", "spray");
const WEIGHTED: (&str, &str) = ("switch.routing", "weighted");
const POOLS: (&str, &str) = ("switch.buffer", "pools");
const POOL_PROFILE: (&str, &str) = ("switch.buffer.profiles.NAME", "");
const PFC: (&str, &str) = ("switch.pause", "pfc");
const PAUSE: (&str, &str) = ("switch.pause", "pause");
const QCN_CONGESTION_POINT: (&str, &str) = ("switch.notify", "qcn");
const QCN_REACTION_POINT: (&str, &str) = ("host.reaction", "qcn");
const TRANSPORT: (&str, &str) = ("transport", "");
const SCENARIO: (&str, &str) = ("", "");
const INCAST: (&str, &str) = ("traffic", "incast");

const INSTANTANEOUS_NOTE: &str = "RED compares an average queue length. With `weight = 1` the average is the \
                                  instantaneous length, as in DCQCN.";
const ONE_THRESHOLD_NOTE: &str = "K is both Kmin and Kmax: every packet is marked from K on.";
const BYTE_MARKING_NOTE: &str =
    "Weights count bytes (deficit round robin), and a class of weight 1 sends `quantum` bytes in a turn.";
const PER_PACKET_NOTE: &str = "A path is drawn for each packet, not for each flow.";
const ONE_MAP_NOTE: &str = "One map applies to all hosts, switches and ports: no port has a map of its own.";
const PORT_THRESHOLD_NOTE: &str = "The threshold applies to a whole port, or to each queue with `per = \"queue\"`.";
const SWITCH_ONLY_NOTE: &str = "Only the switch of NDP is modelled, not the receivers that pull.";
const HEADROOM_NOTE: &str = "Headroom is not a setting of a pause mechanism: Overspill computes the headroom from rate, \
                             delay and frame size of a link, and warns if `xoff` leaves less. With \
                             `switch.buffer = pools`, `xoff` of a profile is the headroom.";
const WATCHDOG_NOTE: &str = "Without it, a deadlock is detected and reported, and ends the command with status 3.";

/// All aliases from papers, standards and other tools. A name with several meanings has an entry for each.
pub const ALIASES: &[Alias] = &[
    // Overflow.
    Alias::new("dibs", "DIBS", DETOUR),
    Alias::new("deflection", "deflection", DETOUR),
    Alias::new("pabo", "PABO", BOUNCE),
    Alias::new("cp", "CP", TRIM),
    Alias::new("cut", "cutting", TRIM),
    Alias::new("cuttingpayload", "cutting payload", TRIM),
    Alias::new("ndp", "NDP's switch", TRIM).with_note(SWITCH_ONLY_NOTE),
    Alias::new("packettrimming", "packet trimming", TRIM),
    Alias::new("sai", "SAI's packet trimming", TRIM),
    Alias::new("sonic", "SONiC's packet trimming", TRIM),
    Alias::new("uec", "UEC's packet trimming", TRIM),
    Alias::new("drop", "drop", TAIL_DROP),
    Alias::new("droptail", "drop tail", TAIL_DROP),
    Alias::new("pfabric", "pFabric's drop", ("switch.overflow", "evict")),
    Alias::new("pfabric", "pFabric's order", ("switch.scheduler", "srpt")),
    // Marking.
    Alias::new("dctcp", "DCTCP's marking", ECN_THRESHOLD),
    Alias::new("ecn", "ECN", ECN_THRESHOLD),
    Alias::new("ecn", "ECN", RED),
    Alias::new("kmin", "Kmin", RED).with_key("min").with_note(INSTANTANEOUS_NOTE),
    Alias::new("kmax", "Kmax", RED).with_key("max").with_note(INSTANTANEOUS_NOTE),
    Alias::new("pmax", "Pmax", RED).with_key("max_p"),
    Alias::new("kmin", "Kmin", ECN_THRESHOLD).with_key("k").with_note(ONE_THRESHOLD_NOTE),
    Alias::new("kmax", "Kmax", ECN_THRESHOLD).with_key("k").with_note(ONE_THRESHOLD_NOTE),
    // PAUSE and congestion notification.
    Alias::new("qbb", "IEEE 802.1Qbb", PFC),
    Alias::new("8021qbb", "IEEE 802.1Qbb", PFC),
    Alias::new("priorityflowcontrol", "priority flow control", PFC),
    Alias::new("8023x", "IEEE 802.3x", PAUSE),
    Alias::new("xonoffset", "the XON offset", PFC).with_key("offset"),
    Alias::new("xonoffset", "the XON offset", PAUSE).with_key("offset"),
    Alias::new("headroom", "headroom", PFC).with_key("xoff").with_note(HEADROOM_NOTE),
    Alias::new("headroom", "headroom", PAUSE).with_key("xoff").with_note(HEADROOM_NOTE),
    Alias::new("headroom", "headroom", POOL_PROFILE).with_key("xoff"),
    Alias::new("pfcwatchdog", "the PFC watchdog", PFC).with_key("watchdog").with_note(WATCHDOG_NOTE),
    Alias::new("pfcwd", "the PFC watchdog", PFC).with_key("watchdog").with_note(WATCHDOG_NOTE),
    Alias::new("qau", "IEEE 802.1Qau", QCN_CONGESTION_POINT),
    Alias::new("qau", "IEEE 802.1Qau", QCN_REACTION_POINT),
    Alias::new("8021qau", "IEEE 802.1Qau", QCN_CONGESTION_POINT),
    Alias::new("8021qau", "IEEE 802.1Qau", QCN_REACTION_POINT),
    Alias::new("quantizedcongestionnotification", "quantized congestion notification", QCN_CONGESTION_POINT),
    Alias::new("quantizedcongestionnotification", "quantized congestion notification", QCN_REACTION_POINT),
    Alias::new("qcnos", "QCN-OS", QCN_CONGESTION_POINT).with_note("Set `culprit = \"occupancy\"`."),
    Alias::new("occupancysampling", "occupancy sampling", QCN_CONGESTION_POINT)
        .with_note("Set `culprit = \"occupancy\"`."),
    Alias::new("cnp", "CNP", ("host.reaction", "dcqcn")),
    // Buffers.
    Alias::new("dt", "the dynamic threshold", SHARED_BUFFER).with_note(PORT_THRESHOLD_NOTE),
    Alias::new("dynamicthreshold", "the dynamic threshold", SHARED_BUFFER).with_note(PORT_THRESHOLD_NOTE),
    Alias::new("dynamicth", "SONiC's `dynamic_th`", SHARED_BUFFER)
        .with_key("alpha")
        .with_note("A `dynamic_th` of n is `alpha` = 2^n."),
    Alias::new("slice", "a slice of a chip's memory", POOLS).with_key("slices"),
    Alias::new("static", "a static buffer", ("switch.buffer", "per_port")),
    Alias::new("infinite", "an infinite buffer", ("switch.buffer", "unlimited")),
    // Schedulers.
    Alias::new("drr", "DRR", ROUND_ROBIN),
    Alias::new("dwrr", "DWRR", ROUND_ROBIN),
    Alias::new("wrr", "WRR", ROUND_ROBIN).with_note(BYTE_MARKING_NOTE),
    Alias::new("wfq", "WFQ", ROUND_ROBIN).with_note(BYTE_MARKING_NOTE),
    Alias::new("sp", "SP", STRICT_PRIORITY),
    Alias::new("strict", "strict priority", STRICT_PRIORITY),
    Alias::new("strictpriority", "strict priority", STRICT_PRIORITY),
    // Routing.
    Alias::new("packetspraying", "packet spraying", SPRAY),
    Alias::new("randompacketspraying", "random packet spraying", SPRAY),
    Alias::new("rps", "random packet spraying", SPRAY),
    Alias::new("wcmp", "WCMP", WEIGHTED).with_note(PER_PACKET_NOTE),
    Alias::new("ksp", "KSP", ("switch.routing", "k_shortest")),
    // Transports.
    Alias::new("tcp", "TCP", ("transport", "newreno")),
    Alias::new("iw", "IW", TRANSPORT).with_key("initial_window"),
    Alias::new("initcwnd", "initcwnd", TRANSPORT).with_key("initial_window"),
    Alias::new("ssthresh", "ssthresh", TRANSPORT).with_key("initial_ssthresh"),
    Alias::new("rwnd", "rwnd", TRANSPORT).with_key("receive_window"),
    Alias::new("rtomin", "the minimum RTO", TRANSPORT).with_key("min_rto"),
    Alias::new("minimumrto", "the minimum RTO", TRANSPORT).with_key("min_rto"),
    Alias::new("rto", "RTO", TRANSPORT)
        .with_key("min_rto")
        .with_note("The RTO follows measured round-trip times; `min_rto` is its minimum."),
    Alias::new("delack", "delayed ACK", TRANSPORT).with_key("delayed_ack"),
    // Networks and traffic.
    Alias::new("dscptotcmap", "SONiC's DSCP_TO_TC_MAP", SCENARIO).with_key("dscp_to_class").with_note(ONE_MAP_NOTE),
    Alias::new("clos", "a Clos network", ("topology", "leaf_spine")).with_note("`leaf_spine` has two tiers."),
    Alias::new("clos", "a Clos network", ("topology", "fat_tree")).with_note("`fat_tree` has three tiers."),
    Alias::new("switch", "a single switch", ("topology", "star")),
    Alias::new("bandwidth", "bandwidth", ("topology", "")).with_key("link.rate"),
    Alias::new("latency", "latency", ("topology", "")).with_key("link.delay"),
    Alias::new("cbr", "CBR", ("traffic", "constant")),
    Alias::new("udp", "UDP", ("traffic", "constant")),
    Alias::new("onoff", "on-off traffic", ("traffic", "bursts")),
    Alias::new("rpc", "RPC", ("traffic", "request_reply")),
    Alias::new("shuffle", "a shuffle", ("traffic", "all_to_all")),
    Alias::new("allreduce", "all-reduce", ("traffic", "all_reduce")),
    Alias::new("partitionaggregate", "partition-aggregate", ("traffic", "query")),
    Alias::new("fanin", "fan-in", INCAST).with_key("senders"),
    Alias::new("csv", "a CSV file", ("traffic", "trace")),
];
