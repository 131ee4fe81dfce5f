//! A histogram with buckets of bounded relative width: exact below 128, within 1/64 above.

const BITS: u32 = 6;
const OCTAVE: usize = 1 << BITS;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    /// By power of two; one that nothing was counted in is empty.
    octaves: Vec<Box<[u64]>>,
    sum: u128,
}

fn bucket(value: u64) -> usize {
    let shift = value.checked_ilog2().unwrap_or(0).saturating_sub(BITS);
    ((shift as usize) << BITS) + (value >> shift) as usize
}

/// The half-open range of values of a bucket.
fn bounds(bucket: usize) -> (u64, u64) {
    let shift = (bucket >> BITS).saturating_sub(1) as u32;
    let mantissa = (bucket - ((shift as usize) << BITS)) as u64;
    (mantissa << shift, (mantissa + 1).checked_shl(shift).unwrap_or(u64::MAX))
}

impl Histogram {
    pub(crate) fn add(&mut self, value: u64) {
        let i = bucket(value);
        let (octave, place) = (i / OCTAVE, i % OCTAVE);
        if self.octaves.len() <= octave {
            self.octaves.resize(octave + 1, Box::default());
        }
        let counts = &mut self.octaves[octave];
        if counts.is_empty() {
            *counts = vec![0; OCTAVE].into_boxed_slice();
        }
        counts[place] += 1;
        self.sum += u128::from(value);
    }
    /// Every bucket that is not empty: from, below, count.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let octaves = self.octaves.iter().enumerate();
        let all = octaves.flat_map(|(octave, counts)| counts.iter().zip(octave * OCTAVE..));
        all.filter(|(count, _)| **count > 0).map(|(count, i)| (bounds(i).0, bounds(i).1, *count))
    }
    /// The sum of all values.
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
            let (low, high) = bounds(bucket(value));
            assert!(low <= value && value < high, "{value} not in [{low}, {high})");
            assert!(high - low == 1 || (high - low) * 64 <= low, "{value}: [{low}, {high})");
        }
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        for i in 0..3000 {
            assert_eq!(bounds(i).1, bounds(i + 1).0);
        }
    }

    #[test]
    fn values_far_apart_are_told_apart_and_what_lies_between_takes_no_memory() {
        let mut histogram = Histogram::default();
        [0, 3, 3, 1 << 40, 63, 64].into_iter().for_each(|value| histogram.add(value));
        let low: Vec<_> = histogram.buckets().map(|(low, _, count)| (low, count)).collect();
        assert_eq!(low, [(0, 1), (3, 2), (63, 1), (64, 1), (1 << 40, 1)]);
        assert_eq!(histogram.sum(), 133 + (1 << 40));
        assert_eq!(histogram.octaves.iter().filter(|counts| !counts.is_empty()).count(), 3);
    }
}
