//! Names from papers, standards and other tools, with the kind or key of scenarios for each: the only such table.

/// Name from a paper, a standard or another tool, and its kind or key in scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Name in lower-case letters and digits alone.
    pub typed: &'static str,
    /// Name as written in a sentence.
    pub said: &'static str,
    /// Table of the kind or key, as in [`Spec::slot`](crate::params::Spec::slot).
    pub slot: &'static str,
    /// Kind; empty if the key belongs to several kinds of the table.
    pub kind: &'static str,
    /// Key; empty if the name stands for the kind itself.
    pub param: &'static str,
    /// Sentence about a difference in meaning; empty if there is none.
    pub note: &'static str,
}

impl Alias {
    /// Returns an alias of a kind of a table.
    const fn new(typed: &'static str, said: &'static str, (slot, kind): (&'static str, &'static str)) -> Alias {
        Alias { typed, said, slot, kind, param: "", note: "" }
    }
    /// Returns an alias of a key.
    const fn key(self, param: &'static str) -> Alias {
        Alias { param, ..self }
    }
    /// Returns the alias with a sentence about its meaning.
    const fn but(self, note: &'static str) -> Alias {
        Alias { note, ..self }
    }
}

const DETOUR: (&str, &str) = ("switch.overflow", "detour");
const BOUNCE: (&str, &str) = ("switch.overflow", "bounce");
const TRIM: (&str, &str) = ("switch.overflow", "trim");
const TAIL_DROP: (&str, &str) = ("switch.overflow", "tail_drop");
const THRESHOLD: (&str, &str) = ("switch.marking", "ecn_threshold");
const RED: (&str, &str) = ("switch.marking", "red");
const SHARED: (&str, &str) = ("switch.buffer", "shared");
const ROUND_ROBIN: (&str, &str) = ("switch.scheduler", "round_robin");
const STRICT: (&str, &str) = ("switch.scheduler", "strict_priority");
const SPRAY: (&str, &str) = ("switch.routing", "spray");
const WEIGHTED: (&str, &str) = ("switch.routing", "weighted");
const PFC: (&str, &str) = ("switch.pause", "pfc");
const PAUSE: (&str, &str) = ("switch.pause", "pause");
const POINT: (&str, &str) = ("switch.notify", "qcn");
const REACTION: (&str, &str) = ("host.reaction", "qcn");
const TRANSPORT: (&str, &str) = ("transport", "");
const INCAST: (&str, &str) = ("traffic", "incast");

const INSTANTANEOUS: &str = "RED compares an average queue. With `weight = 1` it is the instantaneous queue, as in \
                             DCQCN.";
const ONE_THRESHOLD: &str = "K is both Kmin and Kmax: every packet is marked from K on.";
const BY_BYTES: &str =
    "Weights count bytes (deficit round robin), and a class of weight 1 sends `quantum` bytes in a turn.";
const NOT_BY_FLOW: &str = "A path is drawn for each packet, not for each flow.";
const OF_PORTS: &str = "The threshold applies to a whole port, not to each class.";
const SWITCH_ALONE: &str = "Only the switch of NDP is modelled; its receivers, which pull, are not.";
const HEADROOM: &str = "Headroom is not a setting. It is computed from rate, delay and frame size of a link. The \
                        loader warns if `xoff` leaves less.";
const NO_WATCHDOG: &str = "There is no watchdog: no paused queue is drained. A deadlock is detected and reported, and ends the \
                           command with status 3.";

/// All names from papers, standards and other tools. A name with several meanings has a row for each.
pub const ALIASES: &[Alias] = &[
    // Overflow.
    Alias::new("dibs", "DIBS", DETOUR),
    Alias::new("deflection", "deflection", DETOUR),
    Alias::new("pabo", "PABO", BOUNCE),
    Alias::new("cp", "CP", TRIM),
    Alias::new("cut", "cutting", TRIM),
    Alias::new("cuttingpayload", "cutting payload", TRIM),
    Alias::new("ndp", "NDP's switch", TRIM).but(SWITCH_ALONE),
    Alias::new("packettrimming", "packet trimming", TRIM),
    Alias::new("sai", "SAI's packet trimming", TRIM),
    Alias::new("sonic", "SONiC's packet trimming", TRIM),
    Alias::new("uec", "UEC's packet trimming", TRIM),
    Alias::new("drop", "drop", TAIL_DROP),
    Alias::new("droptail", "drop tail", TAIL_DROP),
    Alias::new("pfabric", "pFabric's drop", ("switch.overflow", "evict")),
    Alias::new("pfabric", "pFabric's order", ("switch.scheduler", "srpt")),
    // Marking.
    Alias::new("dctcp", "DCTCP's marking", THRESHOLD),
    Alias::new("ecn", "ECN", THRESHOLD),
    Alias::new("ecn", "ECN", RED),
    Alias::new("wred", "WRED", RED).but("One profile applies to all classes; `gentle` and `not_ect` are as in RED."),
    Alias::new("kmin", "Kmin", RED).key("min").but(INSTANTANEOUS),
    Alias::new("kmax", "Kmax", RED).key("max").but(INSTANTANEOUS),
    Alias::new("pmax", "Pmax", RED).key("max_p"),
    Alias::new("kmin", "Kmin", THRESHOLD).key("k").but(ONE_THRESHOLD),
    Alias::new("kmax", "Kmax", THRESHOLD).key("k").but(ONE_THRESHOLD),
    // PAUSE and congestion notification.
    Alias::new("qbb", "IEEE 802.1Qbb", PFC),
    Alias::new("8021qbb", "IEEE 802.1Qbb", PFC),
    Alias::new("priorityflowcontrol", "priority flow control", PFC),
    Alias::new("8023x", "IEEE 802.3x", PAUSE),
    Alias::new("xonoffset", "the XON offset", PFC).key("offset"),
    Alias::new("xonoffset", "the XON offset", PAUSE).key("offset"),
    Alias::new("headroom", "headroom", PFC).key("xoff").but(HEADROOM),
    Alias::new("headroom", "headroom", PAUSE).key("xoff").but(HEADROOM),
    Alias::new("pfcwatchdog", "the PFC watchdog", PFC).but(NO_WATCHDOG),
    Alias::new("watchdog", "the PFC watchdog", PFC).but(NO_WATCHDOG),
    Alias::new("qau", "IEEE 802.1Qau", POINT),
    Alias::new("qau", "IEEE 802.1Qau", REACTION),
    Alias::new("8021qau", "IEEE 802.1Qau", POINT),
    Alias::new("8021qau", "IEEE 802.1Qau", REACTION),
    Alias::new("quantizedcongestionnotification", "quantized congestion notification", POINT),
    Alias::new("quantizedcongestionnotification", "quantized congestion notification", REACTION),
    Alias::new("qcnos", "QCN-OS", POINT).but("Set `culprit = \"occupancy\"`."),
    Alias::new("occupancysampling", "occupancy sampling", POINT).but("Set `culprit = \"occupancy\"`."),
    Alias::new("cnp", "CNP", ("host.reaction", "dcqcn")),
    // Buffers.
    Alias::new("dt", "the dynamic threshold", SHARED).but(OF_PORTS),
    Alias::new("dynamicthreshold", "the dynamic threshold", SHARED).but(OF_PORTS),
    Alias::new("dynamicth", "SONiC's `dynamic_th`", SHARED).key("alpha").but("A `dynamic_th` of n is `alpha` = 2^n."),
    Alias::new("static", "a static buffer", ("switch.buffer", "per_port")),
    Alias::new("infinite", "an infinite buffer", ("switch.buffer", "unlimited")),
    // Schedulers.
    Alias::new("drr", "DRR", ROUND_ROBIN),
    Alias::new("dwrr", "DWRR", ROUND_ROBIN),
    Alias::new("wrr", "WRR", ROUND_ROBIN).but(BY_BYTES),
    Alias::new("wfq", "WFQ", ROUND_ROBIN).but(BY_BYTES),
    Alias::new("sp", "SP", STRICT),
    Alias::new("strict", "strict priority", STRICT),
    Alias::new("strictpriority", "strict priority", STRICT),
    // Routing.
    Alias::new("packetspraying", "packet spraying", SPRAY),
    Alias::new("randompacketspraying", "random packet spraying", SPRAY),
    Alias::new("rps", "random packet spraying", SPRAY),
    Alias::new("wcmp", "WCMP", WEIGHTED).but(NOT_BY_FLOW),
    Alias::new("ksp", "KSP", ("switch.routing", "k_shortest")),
    // Transports.
    Alias::new("tcp", "TCP", ("transport", "newreno")),
    Alias::new("iw", "IW", TRANSPORT).key("initial_window"),
    Alias::new("initcwnd", "initcwnd", TRANSPORT).key("initial_window"),
    Alias::new("ssthresh", "ssthresh", TRANSPORT).key("initial_ssthresh"),
    Alias::new("rwnd", "rwnd", TRANSPORT).key("receive_window"),
    Alias::new("rtomin", "the minimum RTO", TRANSPORT).key("min_rto"),
    Alias::new("minimumrto", "the minimum RTO", TRANSPORT).key("min_rto"),
    Alias::new("rto", "RTO", TRANSPORT)
        .key("min_rto")
        .but("The RTO follows measured round-trip times; `min_rto` is its minimum."),
    Alias::new("delack", "delayed ACK", TRANSPORT).key("delayed_ack"),
    // Networks and traffic.
    Alias::new("clos", "a Clos network", ("topology", "leaf_spine")).but("It has two tiers."),
    Alias::new("clos", "a Clos network", ("topology", "fat_tree")).but("It has three tiers."),
    Alias::new("switch", "a single switch", ("topology", "star")),
    Alias::new("bandwidth", "bandwidth", ("topology", "")).key("link.rate"),
    Alias::new("latency", "latency", ("topology", "")).key("link.delay"),
    Alias::new("cbr", "CBR", ("traffic", "constant")),
    Alias::new("udp", "UDP", ("traffic", "constant")),
    Alias::new("onoff", "on-off traffic", ("traffic", "bursts")),
    Alias::new("rpc", "RPC", ("traffic", "request_reply")),
    Alias::new("shuffle", "a shuffle", ("traffic", "all_to_all")),
    Alias::new("allreduce", "all-reduce", ("traffic", "all_reduce")),
    Alias::new("partitionaggregate", "partition-aggregate", ("traffic", "query")),
    Alias::new("fanin", "fan-in", INCAST).key("senders"),
    Alias::new("csv", "a CSV file", ("traffic", "trace")),
];
