//! Memory shared by all ports. The limit of each port, or of each queue, grows with the free memory, above a reserved
//! minimum (Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", ToN 1998).

use super::{Buffer, BufferPort, Dynamic, MemoryLayout, MemoryUse};
use crate::params;
use crate::params::{ParamKind, Spec, Values};
use crate::{CheckContext, Fill, Report, choice};
use std::sync::Arc;
use units::{Amount, Bytes};

/// Shared buffer with dynamic thresholds.
#[derive(Clone, Debug)]
pub struct Shared {
    size: u64,
    /// Factor α of the threshold in units of 2⁻³², so that thresholds are whole numbers without rounding errors.
    alpha: u64,
    /// Factor α of the dynamic threshold, as given in the scenario.
    times: f64,
    reserved: u64,
    per: ThresholdOf,
    /// Accounts of queues, if each has a threshold of its own; `None` before the ports are known.
    layout: Option<Arc<MemoryLayout>>,
    /// Bytes of the memory that all ports share beyond their reserves, set by [`Buffer::for_ports`].
    pool: u64,
}

choice! {
    /// Part of a port that a threshold limits.
    pub enum ThresholdOf {
        Port = "port",
        Queue = "queue",
    }
}

params! {
    /// Parameter values of `shared`.
    pub(crate) struct Params {
        size: Bytes = {
            doc: "Memory of the switch, including the reserved minimum of all ports.",
            kind: ParamKind::Size { min: 64 },
            default: None,
        },
        alpha: f64 = {
            doc: "Factor α of the dynamic threshold: a port may hold its reserve and α times the free memory of the \
                  pool.",
            kind: ParamKind::Number { min: 0.0, max: 1e9, below_max: false },
            default: Some("1"),
        },
        reserved: Bytes = {
            doc: "Memory reserved for each port, or for each of its eight queues.",
            kind: ParamKind::Size { min: 0 },
            default: Some("0B"),
        },
        per: ThresholdOf = {
            doc: "Part that a threshold limits: a `port` with all its classes, or each `queue`, that is, each class of a \
                  port.",
            kind: ThresholdOf::KIND,
            default: Some("port"),
        },
    }
}

pub(super) const SPEC: Spec = Spec {
    slot: "switch.buffer",
    kind: "shared",
    doc: "Memory shared by all ports, each limited by a dynamic threshold.",
    cite: "Choudhury and Hahne 1998; DIBS §5.5.2",
    params: Params::PARAMS,
};

impl Shared {
    /// Creates the shared buffer from validated parameters.
    pub fn new(values: &Values) -> Shared {
        let Params { size: Bytes(size), alpha: times, reserved: Bytes(reserved), per } = Params::read(values);
        let alpha = (times * (1u64 << 32) as f64) as u64;
        Shared { size, alpha, times, reserved, per, layout: None, pool: size }
    }
    /// Returns the number of reserves of each port.
    fn reserves_each(&self) -> u64 {
        if self.per == ThresholdOf::Queue { 8 } else { 1 }
    }
    /// Returns true if the reserves of this number of ports fit into the memory.
    pub fn reserves_fit(&self, ports: u16) -> bool {
        self.reserved.saturating_mul(u64::from(ports)).saturating_mul(self.reserves_each()) <= self.size
    }
    fn limit(&self, now: &MemoryUse) -> u64 {
        let free = self.pool.saturating_sub(now.pool_shared_bytes);
        let own = now.bytes.saturating_sub(self.reserved);
        let threshold = (u128::from(self.alpha) * u128::from(free)) >> 32;
        // With a large α, the threshold could exceed the free memory and the port's own part of it. All ports together
        // could then exceed the memory.
        self.reserved.saturating_add(threshold.min(u128::from(own + free)) as u64)
    }
}

impl Buffer for Shared {
    fn admits(&self, now: &MemoryUse, size: u16) -> bool {
        now.bytes + u64::from(size) <= self.limit(now)
    }
    /// Returns true if a frame fits into the free shared memory and the port's reserve, whatever its threshold is.
    fn has_memory(&self, now: &MemoryUse, size: u16) -> bool {
        let free = self.pool.saturating_sub(now.pool_shared_bytes);
        now.bytes + u64::from(size) <= self.reserved.max(now.bytes).saturating_add(free)
    }
    fn fill(&self, now: &MemoryUse) -> Fill {
        Fill { used: now.bytes, limit: Some(self.limit(now)) }
    }
    fn total_memory(&self, _ports: u16) -> Option<Amount> {
        Some(Amount::Bytes(self.size))
    }
    fn reserved_bytes(&self) -> u64 {
        self.reserved
    }
    fn free_shared_bytes(&self, pool_shared_bytes: u64) -> Option<u64> {
        Some(self.pool.saturating_sub(pool_shared_bytes))
    }
    fn has_accounts(&self) -> bool {
        self.per == ThresholdOf::Queue
    }
    fn for_links(&mut self, ports: &[BufferPort]) {
        let threshold = Dynamic::with_alpha(self.times).into();
        self.layout = Some(Arc::new(MemoryLayout::of_queues((self.size, self.reserved), threshold, ports)));
    }
    fn layout(&self) -> Option<Arc<MemoryLayout>> {
        self.layout.clone().filter(|_| self.has_accounts())
    }
    /// Returns the bytes guaranteed to one port alone: its reserve and α/(1 + α) of the shared memory.
    fn guaranteed_bytes(&self, _frame: u16) -> Option<u64> {
        let (alpha, one) = (u128::from(self.alpha), 1u128 << 32);
        let share = alpha * u128::from(self.pool) / (alpha + one);
        Some(self.reserved.saturating_add(share as u64))
    }
    /// Computes the memory that remains beyond the reserves of all ports. PRECONDITION: the reserves fit into `size`.
    fn for_ports(&mut self, ports: u16) {
        self.pool = self.size.saturating_sub(self.reserved.saturating_mul(u64::from(ports)));
    }
    /// Reports reserves of all ports that together exceed the memory.
    fn check(&self, beside: &CheckContext, report: &mut Report) {
        let Some(ports) = beside.ports.filter(|ports| !self.reserves_fit(*ports)) else { return };
        let each = if self.per == ThresholdOf::Queue { "queue of " } else { "of " };
        let all = if ports == 1 { "port" } else { "ports" };
        let found = format!("{} for each {each}{ports} {all}", Bytes(self.reserved));
        report.add_error(
            "reserved",
            found,
            format!(
                "a `reserved` that fits into size = {} for all ports \
                                                     together",
                Bytes(self.size)
            ),
        );
    }
    fn describe(&self, _frame: u16) -> Option<String> {
        let per = if self.per == ThresholdOf::Queue { " per queue" } else { "" };
        Some(format!("shared, alpha = {}{per}", self.times))
    }
    fn clone_boxed(&self) -> Box<dyn Buffer> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::values;
    use property::for_all;
    use proptest::collection::vec;

    fn shared(given: &str, ports: u16) -> Shared {
        let mut memory = Shared::new(&values(&SPEC, given));
        memory.for_ports(ports);
        memory
    }
    /// Returns the memory in use as port `port` sees it, if the ports hold these bytes.
    fn memory_use(memory: &Shared, held: &[u64], port: usize) -> MemoryUse {
        let beyond = |bytes: &u64| bytes.saturating_sub(memory.reserved);
        let pool_shared_bytes = held.iter().map(beyond).sum();
        MemoryUse { packets: 0, bytes: held[port], pool_bytes: held.iter().sum(), pool_shared_bytes }
    }

    #[test]
    fn one_busy_port_holds_alpha_times_the_free_memory() {
        // Choudhury and Hahne: Q = α B / (1 + α S) with S = 1 busy queue.
        for (alpha, share) in [("0.5", 333_333u64), ("1", 500_000), ("2", 666_666), ("8", 888_888)] {
            let memory = shared(&format!("size=1MB alpha={alpha}"), 4);
            let mut held = [0u64; 4];
            while memory.admits(&memory_use(&memory, &held, 0), 1) {
                held[0] += 1;
            }
            assert!(held[0] - share <= 1, "α = {alpha}: {}", held[0]);
        }
    }

    #[test]
    fn large_alpha_is_complete_sharing_as_in_dibs_5_5_2() {
        let memory = shared("size=1700KB alpha=1000000000 reserved=15000B", 8);
        let mut held = [0u64; 8];
        while memory.admits(&memory_use(&memory, &held, 3), 1500) {
            held[3] += 1500;
        }
        // 1,700,000 - 8 x 15,000 = 1,580,000 B of the pool and 15,000 B of the port: 1063 frames.
        assert_eq!(held[3], 1_594_500);
        assert!((0..10).all(|i| memory.admits(&MemoryUse { bytes: i * 1500, ..memory_use(&memory, &held, 0) }, 1500)));
        assert!(memory.admits(&memory_use(&memory, &held, 0), 15_000));
        assert!(!memory.admits(&memory_use(&memory, &held, 0), 15_501));
    }

    #[test]
    fn memory_is_never_exceeded_and_reserves_stay_available() {
        // Each packet arrives at a port; in one case of three, bytes leave the port instead.
        let packets = vec((0..8_usize, 64..=1518_u16, 0..3), 0..=2000);
        for (alpha, reserved) in
            [("0", 0u64), ("0.125", 1000), ("1", 0), ("1", 3000), ("16", 2000), ("1000000000", 1500)]
        {
            let memory = shared(&format!("size=50000B alpha={alpha} reserved={reserved}B"), 8);
            for_all(24, &packets, |packets| {
                let mut held = [0u64; 8];
                for (port, size, kind) in packets {
                    let now = memory_use(&memory, &held, port);
                    if kind == 0 {
                        held[port] -= held[port].min(u64::from(size));
                    } else if memory.admits(&now, size)
                        || memory.admits_with_extra_memory(&now, size, (now.bytes, Bytes(4096)))
                    {
                        held[port] += u64::from(size);
                    } else {
                        assert!(held[port] + u64::from(size) > reserved, "the reserve was refused");
                    }
                    assert!(held.iter().sum::<u64>() <= 50_000, "{held:?}");
                    assert!(now.bytes <= 50_000);
                }
            });
        }
    }

    #[test]
    fn threshold_grows_with_alpha_and_shrinks_with_other_queues() {
        let at = |alpha: f64, others: u64| {
            let memory = shared(&format!("size=100KB alpha={alpha} reserved=1000B"), 4);
            memory.fill(&memory_use(&memory, &[5000, others, 0, 0], 0)).limit.unwrap()
        };
        let alphas = [0.0, 0.125, 0.5, 1.0, 2.0, 16.0];
        assert!(alphas.windows(2).all(|two| at(two[0], 20_000) < at(two[1], 20_000) || two[0] >= 1.0));
        assert!(alphas.windows(2).all(|two| at(two[0], 20_000) <= at(two[1], 20_000)));
        assert!([0, 10_000, 50_000, 80_000].windows(2).all(|two| at(0.5, two[0]) > at(0.5, two[1])));
        assert_eq!(at(0.0, 0), 1000);
        // Of a pool of 96,000 B, port 0 uses 4000 and port 1 19,000, so that 73,000 are free.
        assert_eq!(at(0.5, 20_000), 1000 + 36_500);
    }

    #[test]
    fn reserves_larger_than_memory_do_not_fit() {
        assert!(shared("size=10KB reserved=1000B", 10).reserves_fit(10));
        assert!(!shared("size=10KB reserved=1001B", 10).reserves_fit(10));
        assert!(!shared("size=10KB reserved=18446744073709551615B", 10).reserves_fit(10));
        assert_eq!(shared("size=10KB", 10).total_memory(10), Some(Amount::Bytes(10_000)));
    }
}
