//! Histogram with buckets of bounded relative width: exact below 128, within 1/64 above.

const OCTAVE_BITS: u32 = 6;
const BUCKETS_PER_OCTAVE: usize = 1 << OCTAVE_BITS;
/// Bound below which each value has its own bucket.
const EXACT_BELOW: u64 = 2 << OCTAVE_BITS;

/// Histogram of whole numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    zeros: u64,
    /// Index of the first bucket that is stored.
    first: usize,
    /// Counts of values, from the first bucket on; buckets below the smallest value take no memory. Counts have 32
    /// bits, since a run has a histogram for each queue and goes through all of them.
    counts: Vec<u32>,
    /// Index of a bucket for each time that its 32-bit count has wrapped.
    rounds: Vec<usize>,
    sum: u128,
    /// Sum of the squares of values that share a bucket; those of the other values follow from their counts.
    squares: u128,
}

fn bucket_index(value: u64) -> usize {
    let shift = (value | 1).ilog2().saturating_sub(OCTAVE_BITS);
    ((shift as usize) << OCTAVE_BITS) + (value >> shift) as usize
}

/// Returns the half-open range of values of a bucket.
fn bucket_bounds(bucket: usize) -> (u64, u64) {
    let shift = (bucket >> OCTAVE_BITS).saturating_sub(1) as u32;
    let mantissa = (bucket - ((shift as usize) << OCTAVE_BITS)) as u64;
    (mantissa << shift, (mantissa + 1).checked_shl(shift).unwrap_or(u64::MAX))
}

impl Histogram {
    #[inline(always)]
    pub(crate) fn add(&mut self, value: u64) {
        if value == 0 {
            self.zeros += 1;
            return;
        }
        let i = bucket_index(value);
        self.ensure_bucket(i);
        self.increment(i);
        self.sum += u128::from(value);
        if value >= EXACT_BELOW {
            self.squares += u128::from(value) * u128::from(value);
        }
    }

    /// Adds a number of zeros, and other values. PRECONDITION: none of these is 0.
    #[inline(always)]
    pub(crate) fn add_each(&mut self, zeros: u64, others: &[u64]) {
        self.zeros += zeros;
        for value in others {
            let i = bucket_index(*value);
            self.ensure_bucket(i);
            self.increment(i);
            self.sum += u128::from(*value);
            if *value >= EXACT_BELOW {
                self.squares += u128::from(*value) * u128::from(*value);
            }
        }
    }

    /// Removes a value. PRECONDITION: it was added.
    pub(crate) fn remove(&mut self, value: u64) {
        if value == 0 {
            self.zeros -= 1;
            return;
        }
        let i = bucket_index(value);
        let count = &mut self.counts[i - self.first];
        if *count == 0 {
            let round = self.rounds.iter().position(|at| *at == i).expect("it was counted");
            self.rounds.swap_remove(round);
        }
        *count = count.wrapping_sub(1);
        self.sum -= u128::from(value);
        if value >= EXACT_BELOW {
            self.squares -= u128::from(value) * u128::from(value);
        }
    }

    /// Adds all values of another histogram.
    pub(crate) fn add_all(&mut self, other: &Histogram) {
        self.zeros += other.zeros;
        self.sum += other.sum;
        self.squares += other.squares;
        for (i, count) in (other.first..).zip(&other.counts).filter(|(_, count)| **count > 0) {
            self.ensure_bucket(i);
            let at = &mut self.counts[i - self.first];
            let (count, round) = at.overflowing_add(*count);
            *at = count;
            self.rounds.extend(round.then_some(i));
        }
        for i in &other.rounds {
            self.ensure_bucket(*i);
            self.rounds.push(*i);
        }
    }

    /// Counts a value in a bucket that is stored.
    #[inline(always)]
    fn increment(&mut self, i: usize) {
        let count = &mut self.counts[i - self.first];
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.record_overflow(i);
        }
    }

    #[cold]
    fn record_overflow(&mut self, i: usize) {
        self.rounds.push(i);
    }

    /// Returns the buckets that have a count, with their numbers of values.
    fn stored_buckets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        (self.first..).zip(&self.counts).map(|(i, count)| {
            let rounds = self.rounds.iter().filter(|at| **at == i).count() as u64;
            (i, (rounds << u32::BITS) + u64::from(*count))
        })
    }

    #[inline(always)]
    fn ensure_bucket(&mut self, i: usize) {
        if i.wrapping_sub(self.first) >= self.counts.len() {
            self.extend_buckets(i);
        }
    }

    /// Extends the stored buckets up to an index, by all buckets of a power of two together.
    #[cold]
    fn extend_buckets(&mut self, i: usize) {
        let octave = i / BUCKETS_PER_OCTAVE * BUCKETS_PER_OCTAVE;
        if self.counts.is_empty() {
            self.first = octave;
        }
        let below = self.first.saturating_sub(octave);
        self.counts.splice(0..0, std::iter::repeat_n(0, below));
        self.first -= below;
        let len = self.counts.len().max(octave + BUCKETS_PER_OCTAVE - self.first);
        self.counts.resize(len, 0);
    }

    /// Returns every bucket that is not empty: its first value, the first value above it, and its count.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let zeros = (self.zeros > 0).then_some((0, 1, self.zeros));
        let full = self.stored_buckets().filter(|(_, count)| *count > 0);
        zeros.into_iter().chain(full.map(|(i, count)| (bucket_bounds(i).0, bucket_bounds(i).1, count)))
    }
    /// Returns the number of buckets that are not empty.
    pub(crate) fn buckets_in_use(&self) -> usize {
        usize::from(self.zeros > 0) + self.stored_buckets().filter(|(_, count)| *count > 0).count()
    }
    /// Returns true if there is no value.
    pub(crate) fn is_empty(&self) -> bool {
        self.buckets_in_use() == 0
    }
    /// Returns the number of zeros.
    pub(crate) fn zeros(&self) -> u64 {
        self.zeros
    }
    /// Sets the number of zeros.
    pub(crate) fn set_zeros(&mut self, zeros: u64) {
        self.zeros = zeros;
    }
    /// Returns the sum of the squared deviations of all values from their mean. It is exact in whole numbers around the
    /// mean rounded down, and the excess is subtracted at the end. Floating-point sums would lose their precision by
    /// cancellation.
    pub(crate) fn squared_deviations(&self) -> f64 {
        let n = u128::from(self.zeros + self.stored_buckets().map(|(_, count)| count).sum::<u64>());
        let Some(mean) = self.sum.checked_div(n) else { return 0.0 };
        let rest = (self.sum % n) as f64;
        let exact = self.buckets().filter(|(low, ..)| *low < EXACT_BELOW);
        let squares: u128 = exact.map(|(low, _, count)| u128::from(low * low) * u128::from(count)).sum();
        let around = self.squares + squares + n * mean * mean - 2 * mean * self.sum;
        around as f64 - rest * rest / n as f64
    }
    /// Returns the sum of all values.
    pub(crate) fn sum(&self) -> u128 {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket_and_buckets_are_narrow() {
        let values = (0..2000u64).chain((1..60).flat_map(|s| [(1 << s) - 1, 1 << s, (1 << s) + 1, 3 << s]));
        for value in values {
            let (low, high) = bucket_bounds(bucket_index(value));
            assert!(low <= value && value < high, "{value} not in [{low}, {high})");
            assert!(high - low == 1 || (high - low) * 64 <= low, "{value}: [{low}, {high})");
        }
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        for i in 0..3000 {
            assert_eq!(bucket_bounds(i).1, bucket_bounds(i + 1).0);
        }
    }

    #[test]
    fn values_come_out_in_order_after_any_insertion_order() {
        let mut histogram = Histogram::default();
        [1 << 20, 0, 1 << 40, 3, 3, 64, 63, 0].into_iter().for_each(|value| histogram.add(value));
        let low: Vec<_> = histogram.buckets().map(|(low, _, count)| (low, count)).collect();
        assert_eq!(low, [(0, 2), (3, 2), (63, 1), (64, 1), (1 << 20, 1), (1 << 40, 1)]);
        assert_eq!(histogram.sum(), 133 + (1 << 20) + (1 << 40));
        assert_eq!(histogram.buckets_in_use(), low.len());
    }

    /// Test of squared deviations against values computed by hand.
    /// The values 3, 4, 5 and 8, also far from 0, differ from their mean by -2, -1, 0 and 3: 14. With a fifth, 7, and
    /// a zero the mean is 4.5.
    #[test]
    fn squared_deviations_are_exact_for_large_values() {
        let of = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.add(*value));
            histogram.squared_deviations()
        };
        for far in [0, 1 << 40, 1 << 50] {
            assert_eq!(of(&[3, 4, 5, 8].map(|value| far + value)), 14.0);
        }
        assert_eq!(of(&[126, 127, 128, 131]), 14.0, "at the end of what is exact");
        assert_eq!([of(&[3, 4, 5, 8, 7, 0]), of(&[]), of(&[0, 0]), of(&[1 << 60])], [41.5, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn counts_beyond_32_bits_are_exact() {
        let (mut histogram, mut other) = (Histogram::default(), Histogram::default());
        let many = u64::from(u32::MAX);
        for one in [&mut histogram, &mut other] {
            one.add_each(0, &[5, 9]);
            one.counts[bucket_index(5) - one.first] = u32::MAX;
        }
        let of = |one: &Histogram| one.buckets().map(|(low, _, count)| (low, count)).collect::<Vec<_>>();
        histogram.add(5);
        assert_eq!(of(&histogram), [(5, many + 1), (9, 1)]);
        histogram.remove(5);
        assert_eq!((of(&histogram), histogram.rounds.len()), (vec![(5, many), (9, 1)], 0));
        histogram.add_all(&other);
        histogram.add_all(&other);
        assert_eq!((of(&histogram), histogram.buckets_in_use()), (vec![(5, 3 * many), (9, 3)], 2));
        let mut last = Histogram::default();
        last.add_all(&histogram);
        assert_eq!(of(&last), of(&histogram));
    }

    #[test]
    fn buckets_below_the_smallest_value_take_no_memory() {
        let mut histogram = Histogram::default();
        [0, 1 << 30, (1 << 31) - 1].into_iter().for_each(|value| histogram.add(value));
        assert_eq!(histogram.counts.len(), BUCKETS_PER_OCTAVE);
        histogram.add(1 << 28);
        assert_eq!(histogram.counts.len(), 3 * BUCKETS_PER_OCTAVE);
    }
}
