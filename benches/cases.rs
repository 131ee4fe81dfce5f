//! Benchmark cases of `whole_runs.rs`.

/// Benchmark case: a network, its traffic, and whether the recorder is attached.
pub struct Case {
    /// Name of the case.
    pub name: &'static str,
    topology: &'static str,
    rate: &'static str,
    jitter: &'static str,
    buffer: &'static str,
    mark: &'static str,
    overflow: &'static str,
    traffic: &'static str,
    /// True if the recorder keeps the tables that `overspill run` keeps by default (no `[measure]` section).
    pub tables: bool,
}

const K8: &str = "kind = \"fat_tree\"\nk = 8";
const K16: &str = "kind = \"fat_tree\"\nk = 16";
const STAR: &str = "kind = \"star\"\nn = 101";
const PERMUTATION: &str = "kind = \"permutation\"\nsize = \"1MB\"";
const QUERIES: &str = "kind = \"incast\"\nsenders = 40\nreceiver = \"random\"\nsize = \"20KB\"\nqps = 2000";
const INCAST: &str =
    "kind = \"incast\"\nsenders = 100\nreceiver = \"h0\"\nsize = \"100KB\"\ninterval = \"10ms\"\nrepeat = 10";

const GIGABIT: Case = Case {
    name: "k8_1g",
    topology: K8,
    rate: "1Gbps",
    jitter: "0us",
    buffer: "100pkt",
    mark: "15pkt",
    overflow: "tail_drop",
    traffic: PERMUTATION,
    tables: false,
};
const HUNDRED: Case = Case { name: "k8_100g", rate: "100Gbps", buffer: "300pkt", mark: "65pkt", ..GIGABIT };

/// All benchmark cases.
///
/// - A permutation in fat-trees of 128 and 1024 hosts at 1 and 100 Gb/s.
/// - At 1 Gb/s, the 128-host case also with NIC jitter, and both sizes also with default tables.
/// - A 100-to-1 incast at 100 Gb/s.
/// - Incast queries whose overflow is detoured.
pub const CASES: &[Case] = &[
    GIGABIT,
    Case { name: "k16_1g", topology: K16, ..GIGABIT },
    HUNDRED,
    Case { name: "k16_100g", topology: K16, ..HUNDRED },
    Case { name: "k8_1g_jitter", jitter: "tenth_frame", ..GIGABIT },
    Case { name: "k8_1g_tables", tables: true, ..GIGABIT },
    Case { name: "k16_1g_tables", topology: K16, tables: true, ..GIGABIT },
    Case { name: "incast_100g", topology: STAR, traffic: INCAST, ..HUNDRED },
    Case { name: "k8_query_detour", mark: "20pkt", overflow: "detour", traffic: QUERIES, ..GIGABIT },
];

impl Case {
    /// Returns the scenario file of the case.
    pub fn scenario(&self) -> String {
        format!(
            "name = \"{}\"\nduration = \"100ms\"\n[host]\nnic_jitter = \"{}\"\n[topology]\n{}\n\
             link = {{ rate = \"{}\", delay = \"1us\" }}\n[switch]\n\
             buffer = {{ kind = \"per_port\", size = \"{}\" }}\n\
             marking = {{ kind = \"ecn_threshold\", k = \"{}\" }}\noverflow = {{ kind = \"{}\" }}\n\
             [transport]\nkind = \"dctcp\"\nrecovery = \"sack\"\nmin_rto = \"10ms\"\n\
             [[traffic]]\nname = \"load\"\n{}\n",
            self.name, self.jitter, self.topology, self.rate, self.buffer, self.mark, self.overflow, self.traffic
        )
    }
}
