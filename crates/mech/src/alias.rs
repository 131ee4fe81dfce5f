//! Names by which papers and other tools know what a scenario names otherwise.

/// A name that is not one of a scenario's.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The name in small letters and digits alone.
    pub typed: &'static str,
    /// As a sentence says it.
    pub said: &'static str,
    /// The table of what is meant, as in [`Spec::slot`](crate::params::Spec::slot).
    pub slot: &'static str,
    /// What is meant.
    pub kind: &'static str,
}

impl Alias {
    /// A name, as a sentence says it, and the table and the kind that it stands for.
    #[must_use]
    pub const fn new(typed: &'static str, said: &'static str, (slot, kind): (&'static str, &'static str)) -> Alias {
        Alias { typed, said, slot, kind }
    }
}

const DETOUR: (&str, &str) = ("switch.overflow", "detour");
const BOUNCE: (&str, &str) = ("switch.overflow", "bounce");
const TRIM: (&str, &str) = ("switch.overflow", "trim");
const TAIL_DROP: (&str, &str) = ("switch.overflow", "tail_drop");
const THRESHOLD: (&str, &str) = ("switch.marking", "ecn_threshold");
const SHARED: (&str, &str) = ("switch.buffer", "shared");
const ROUND_ROBIN: (&str, &str) = ("switch.scheduler", "round_robin");

/// Other names of the mechanisms of this crate.
pub const ALIASES: &[Alias] = &[
    Alias::new("dibs", "DIBS", DETOUR),
    Alias::new("deflection", "deflection", DETOUR),
    Alias::new("pabo", "PABO", BOUNCE),
    Alias::new("cp", "CP", TRIM),
    Alias::new("cut", "cutting", TRIM),
    Alias::new("ndp", "NDP's switch", TRIM),
    Alias::new("packettrimming", "packet trimming", TRIM),
    Alias::new("sai", "SAI's packet trimming", TRIM),
    Alias::new("uec", "UEC's packet trimming", TRIM),
    Alias::new("drop", "drop", TAIL_DROP),
    Alias::new("droptail", "drop tail", TAIL_DROP),
    Alias::new("pfabric", "pFabric's drop", ("switch.overflow", "evict")),
    Alias::new("pfabric", "pFabric's order", ("switch.scheduler", "srpt")),
    Alias::new("dctcp", "DCTCP's marking", THRESHOLD),
    Alias::new("ecn", "ECN", THRESHOLD),
    Alias::new("wred", "WRED", ("switch.marking", "red")),
    Alias::new("8021qbb", "IEEE 802.1Qbb", ("switch.pause", "pfc")),
    Alias::new("priorityflowcontrol", "priority flow control", ("switch.pause", "pfc")),
    Alias::new("8023x", "IEEE 802.3x", ("switch.pause", "pause")),
    Alias::new("dt", "the dynamic threshold", SHARED),
    Alias::new("dynamicthreshold", "the dynamic threshold", SHARED),
    Alias::new("static", "a static buffer", ("switch.buffer", "per_port")),
    Alias::new("infinite", "an infinite buffer", ("switch.buffer", "unlimited")),
    Alias::new("drr", "DRR", ROUND_ROBIN),
    Alias::new("wrr", "WRR", ROUND_ROBIN),
    Alias::new("sp", "SP", ("switch.scheduler", "strict_priority")),
    Alias::new("packetspraying", "packet spraying", ("switch.routing", "spray")),
    Alias::new("rps", "random packet spraying", ("switch.routing", "spray")),
    Alias::new("wcmp", "WCMP", ("switch.routing", "weighted")),
    Alias::new("ksp", "KSP", ("switch.routing", "k_shortest")),
];
