//! Counter-based random numbers: one independent stream per seed, node and purpose.
//!
//! Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A draw is a pure function
//! of seed, node, purpose and the number of earlier draws. So an additional host or mechanism does not change the draws
//! of any other.

/// Purpose of a random stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPurpose {
    /// Draws of the overflow mechanism of a switch.
    Overflow,
    /// Draws of the marking mechanism of a queue: its port, and the number of its class, counted from the lowest class
    /// in use.
    Marking(u16, u8),
    /// Draws of the routing mechanism of a switch.
    Routing,
    /// Draws of an agent: its port, and its number there, 0 to 2.
    Agent(u16, u8),
    /// Draws of the arbiter of a switch.
    Arbiter,
    /// Order of simultaneous arrivals at a switch.
    Ties,
    /// Seed of a switch's flow hash.
    Hash,
    /// Jitter of a host's network stack.
    Stack,
    /// Draws of a traffic source, given by its position in the scenario.
    Traffic(u16),
    /// Draws of a raw source (without a transport), given by its position in the scenario.
    Raw(u16),
    /// Gaps between packets of a raw source, given by its position in the scenario.
    Gaps(u16),
    /// Draws for messages that follow others in a traffic entry, given by its position in the scenario.
    Reply(u16),
    /// Losses on the outgoing link of a port; each frame draws at its own position of the stream.
    Link(u16),
    /// Delays of frames between the queue of a host's NIC and the link.
    Nic,
    /// Draws of the reaction point of a host.
    Reaction,
    /// Clock offset of a port.
    Clock(u16),
    /// Purpose outside this list, such as those of tests.
    Custom(u16),
}

impl StreamPurpose {
    const fn stream_word(self) -> u32 {
        match self {
            StreamPurpose::Overflow => 1 << 16,
            StreamPurpose::Marking(port, 0) => 2 << 16 | port as u32,
            StreamPurpose::Marking(port, class) => (0x7f00 + class as u32) << 16 | port as u32,
            StreamPurpose::Routing => 3 << 16,
            StreamPurpose::Arbiter => 4 << 16,
            StreamPurpose::Ties => 5 << 16,
            StreamPurpose::Hash => 6 << 16,
            StreamPurpose::Stack => 7 << 16,
            StreamPurpose::Traffic(n) => 8 << 16 | n as u32,
            StreamPurpose::Raw(n) => 9 << 16 | n as u32,
            StreamPurpose::Custom(n) => 10 << 16 | n as u32,
            StreamPurpose::Gaps(n) => 11 << 16 | n as u32,
            StreamPurpose::Reply(n) => 12 << 16 | n as u32,
            // `which` has 8 bits, so agents may take the words from 13 << 16 up to 268 << 16, which all other purposes
            // avoid. Marking of other classes than the lowest has those from 0x7f01 << 16 up to 0x7f07 << 16.
            StreamPurpose::Agent(port, which) => (13 + which as u32) << 16 | port as u32,
            StreamPurpose::Link(n) => 0x7fff << 16 | n as u32,
            StreamPurpose::Clock(n) => 0x7ffe << 16 | n as u32,
            StreamPurpose::Nic => 0x7ffd << 16,
            StreamPurpose::Reaction => 0x7ffc << 16,
        }
    }
}

/// Stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    node: u32,
    purpose: u32,
    block: u64,
    words: [u32; 4],
    left: u8,
    /// Draws that a test has set; one more draw than these is an error of the test.
    #[cfg(test)]
    script: Option<std::collections::VecDeque<u64>>,
}

const PHILOX_ROUNDS: usize = 10;
const PHILOX_MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const PHILOX_WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..PHILOX_ROUNDS {
        let a = u64::from(PHILOX_MULTIPLIERS[0]) * u64::from(counter[0]);
        let b = u64::from(PHILOX_MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(PHILOX_WEYL[0]), key[1].wrapping_add(PHILOX_WEYL[1])];
    }
    counter
}

impl Stream {
    /// Creates the stream of a seed, a node and a purpose.
    pub fn new(seed: u64, node: u32, purpose: StreamPurpose) -> Stream {
        let key = [seed as u32, (seed >> 32) as u32];
        Stream {
            key,
            node,
            purpose: purpose.stream_word(),
            block: 0,
            words: [0; 4],
            left: 0,
            #[cfg(test)]
            script: None,
        }
    }
    /// Moves the stream to its `n`-th position, so that draws from there do not depend on earlier draws.
    /// Positions are 256 blocks of 128 bits apart. PRECONDITION: `n` is below 2⁵⁶.
    pub fn at_position(mut self, n: u64) -> Stream {
        (self.block, self.left) = (n << 8, 0);
        self
    }
    /// Creates a stream that returns these numbers, each in `[0, 1)`, and panics at one draw more.
    #[cfg(test)]
    pub(crate) fn scripted(draws: &[f64]) -> Stream {
        let words = draws.iter().map(|u| (u * (1u64 << 53) as f64) as u64).map(|word| word << 11);
        Stream { script: Some(words.collect()), ..Stream::new(0, 0, StreamPurpose::Custom(0)) }
    }
    /// Returns the number of scripted draws that are left.
    #[cfg(test)]
    pub(crate) fn remaining_draws(&self) -> usize {
        self.script.as_ref().map_or(0, |script| script.len())
    }
    /// Returns 32 random bits.
    #[inline]
    pub fn u32(&mut self) -> u32 {
        if self.left == 0 {
            let counter = [self.block as u32, (self.block >> 32) as u32, self.node, self.purpose];
            self.words = philox(counter, self.key);
            self.block += 1;
            self.left = 4;
        }
        self.left -= 1;
        self.words[3 - self.left as usize]
    }
    /// Returns 64 random bits.
    pub fn u64(&mut self) -> u64 {
        #[cfg(test)]
        if let Some(script) = &mut self.script {
            return script.pop_front().expect("a draw that the test does not state");
        }
        u64::from(self.u32()) | u64::from(self.u32()) << 32
    }
    /// Returns a number in `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
    /// Returns a whole number in `[0, n)`, each equally likely. PRECONDITION: `n > 0`.
    pub fn uniform_below(&mut self, n: u64) -> u64 {
        // Lemire, "Fast random integer generation in an interval" (2019). Without the rejected products, some numbers
        // would be more likely than others.
        let mut product = u128::from(self.u64()) * u128::from(n);
        if (product as u64) < n {
            let reject = n.wrapping_neg() % n;
            while (product as u64) < reject {
                product = u128::from(self.u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }
    /// Returns an exponentially distributed number of the given mean, bit-identical on every machine.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log1p(-self.uniform()) * mean
    }
}

/// Returns a well-mixed hash of two words (finalizer of MurmurHash3), for flow hashes, not for draws.
#[inline]
pub const fn hash_mix(a: u64, b: u64) -> u64 {
    let mut x = a ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 33;
    x = x.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x ^= x >> 33;
    x = x.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ x >> 33
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_matches_the_published_test_vectors() {
        // Random123, kat_vectors: philox 4x32 10.
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn streams_differ_by_seed_node_and_purpose() {
        let first = |node, purpose| Stream::new(1, node, purpose).u64();
        let all = [
            first(0, StreamPurpose::Overflow),
            first(1, StreamPurpose::Overflow),
            first(0, StreamPurpose::Routing),
            first(0, StreamPurpose::Marking(1, 0)),
            first(0, StreamPurpose::Marking(1, 1)),
            first(0, StreamPurpose::Marking(1, 7)),
            Stream::new(2, 0, StreamPurpose::Overflow).u64(),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
        assert_eq!(first(3, StreamPurpose::Ties), first(3, StreamPurpose::Ties));
    }

    #[test]
    fn at_position_skips_the_earlier_draws_of_a_stream() {
        let stream = || Stream::new(1, 2, StreamPurpose::Reply(3));
        let mut whole = stream();
        let all: Vec<u64> = (0..2 * 256 * 2 + 1).map(|_| whole.u64()).collect();
        assert_eq!(
            [stream().at_position(0).u64(), stream().at_position(1).u64(), stream().at_position(2).u64()],
            [all[0], all[512], all[1024]]
        );
    }

    #[test]
    fn draws_are_uniform_and_exponential() {
        let mut s = Stream::new(7, 7, StreamPurpose::Custom(0));
        let mut bins = [0u32; 10];
        (0..100_000).for_each(|_| bins[s.uniform_below(10) as usize] += 1);
        // 5 standard deviations of a binomial(100000, 0.1) are 474.
        assert!(bins.iter().all(|n| n.abs_diff(10_000) < 474), "{bins:?}");
        let mean = (0..100_000).map(|_| s.exponential(3.0)).sum::<f64>() / 1e5;
        assert!((mean - 3.0).abs() < 5.0 * 3.0 / 1e5f64.sqrt(), "{mean}");
    }
}
