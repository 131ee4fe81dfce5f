//! Published flow-size distributions: (bytes, cumulative share in thousandths).
//!
//! Several files have the same name in public tools; the comments say which ones are used here.

/// Published flow-size distribution that a scenario may name.
pub(super) struct SizeTable {
    pub name: &'static str,
    pub points: &'static [(u64, u32)],
}

const PACKET_BYTES: u64 = 1460;

pub(super) const TABLES: &[SizeTable] = &[
    // Alizadeh et al., "DCTCP", SIGCOMM 2010, as in `DCTCP_CDF.txt` of HKUST-SING/TrafficGenerator; the
    // same points as `WebSearch_distribution.txt` of HPCC. Mean 1,711,250 B.
    SizeTable {
        name: "web_search",
        points: &[
            (0, 0),
            (10_000, 150),
            (20_000, 200),
            (30_000, 300),
            (50_000, 400),
            (80_000, 530),
            (200_000, 600),
            (1_000_000, 700),
            (2_000_000, 800),
            (5_000_000, 900),
            (10_000_000, 970),
            (30_000_000, 1000),
        ],
    },
    // Greenberg et al., "VL2", SIGCOMM 2009, as in `VL2_CDF.txt` of HKUST-SING/TrafficGenerator. pFabric
    // and ABM use other tables of this name, with means of 7.5 and 5.0 MB. Mean 12,658,199 B.
    SizeTable {
        name: "data_mining",
        points: &[
            (0, 0),
            (180, 100),
            (216, 200),
            (560, 300),
            (900, 400),
            (1_100, 500),
            (1_870, 600),
            (3_160, 700),
            (10_000, 800),
            (400_000, 900),
            (3_160_000, 950),
            (100_000_000, 980),
            (1_000_000_000, 1000),
        ],
    },
    // Roy et al., "Inside the social network's (datacenter) network", SIGCOMM 2015, as in
    // `FbHdp_distribution.txt` of HPCC. Mean 120,421 B.
    SizeTable {
        name: "hadoop",
        points: &[
            (0, 0),
            (100, 10),
            (200, 20),
            (300, 50),
            (350, 150),
            (400, 200),
            (500, 300),
            (600, 400),
            (700, 500),
            (1_000, 600),
            (2_000, 670),
            (7_000, 700),
            (30_000, 720),
            (50_000, 820),
            (80_000, 870),
            (120_000, 900),
            (300_000, 950),
            (1_000_000, 975),
            (2_000_000, 990),
            (10_000_000, 1000),
        ],
    },
];

/// Benson et al., "Network traffic characteristics of data centers in the wild", IMC 2010, as in
/// `CDF_aditya.txt` of the YAPS simulator: (packets of 1460 B, cumulative share in ten-thousandths).
/// Mean 134 packets.
const IMC10: &[(u64, u32)] = &[
    (1, 0),
    (1, 5000),
    (2, 6000),
    (3, 7000),
    (5, 7500),
    (7, 8000),
    (40, 8125),
    (72, 8250),
    (137, 8500),
    (267, 9000),
    (1187, 9500),
    (2107, 10_000),
];

/// Returns the names of all built-in distributions.
pub(super) fn table_names() -> Vec<&'static str> {
    TABLES.iter().map(|table| table.name).chain(["imc10"]).collect()
}

/// Returns the points of the built-in distribution of this name: bytes and cumulative share from 0 to 1.
pub(super) fn table_points(name: &str) -> Option<Vec<(f64, f64)>> {
    if name == "imc10" {
        return Some(IMC10.iter().map(|(x, c)| ((x * PACKET_BYTES) as f64, f64::from(*c) / 10_000.0)).collect());
    }
    let table = TABLES.iter().find(|table| table.name == name)?;
    Some(table.points.iter().map(|(x, c)| (*x as f64, f64::from(*c) / 1000.0)).collect())
}
