//! Feedback of a congestion point from two lengths of its queue, its six bits, and the next sampling interval.

use crate::choice;

choice! {
    /// Rounding of the feedback to a whole number of six bits.
    pub(crate) enum Rounding {
        Floor = "floor",
        Nearest = "nearest",
    }
}

/// Constants of the feedback.
#[derive(Clone, Copy, Debug)]
pub(super) struct Curve {
    /// Set point Q_eq, in bytes.
    pub q_eq: u64,
    /// Weight w of the growth of the queue.
    pub w: u64,
    /// Rounding to a whole number.
    pub rounding: Rounding,
}

/// Largest feedback of six bits.
pub(super) const LARGEST: u8 = 63;

/// Sampling interval by the upper three bits of the feedback, in 300ths of I_s: 150, 75, 50, 37.5, 30, 25, 21.5 and
/// 18.5 KB of 150 (802.1Qau §30.2.1; public code has the same numbers).
const INTERVALS: [u128; 8] = [300, 150, 100, 75, 60, 50, 43, 37];

impl Curve {
    /// Returns the largest feedback in bytes: that of a queue that has grown from empty to twice Q_eq.
    fn most(&self) -> i128 {
        i128::from(self.q_eq) * (2 * i128::from(self.w) + 1)
    }

    /// Returns the feedback as six bits of a queue of `q` bytes that had `q_old` bytes at the last sample; 0 is no
    /// congestion.
    pub fn feedback(&self, q: u64, q_old: u64) -> u8 {
        let (q, most) = (i128::from(q), self.most());
        let fb = q - i128::from(self.q_eq) + i128::from(self.w) * (q - i128::from(q_old));
        let scaled = i128::from(LARGEST) * fb.clamp(0, most);
        let whole = match self.rounding {
            Rounding::Floor => scaled / most,
            Rounding::Nearest => (2 * scaled + most) / (2 * most),
        };
        whole as u8
    }

    /// Returns the longest queue, in bytes, that is no congestion at any growth.
    pub fn rests_up_to(&self) -> u64 {
        let most = self.most();
        // Smallest feedback in bytes that is not 0 in six bits.
        let least = match self.rounding {
            Rounding::Floor => most.div_euclid(63) + i128::from(most % 63 > 0),
            Rounding::Nearest => most.div_euclid(126) + i128::from(most % 126 > 0),
        };
        // Growth is at most q, from an empty queue, so the feedback is at most (w + 1) q - Q_eq. The result is the
        // largest q for which that is below `least`.
        let longest = (i128::from(self.q_eq) + least - 1) / (i128::from(self.w) + 1);
        u64::try_from(longest).unwrap_or(u64::MAX)
    }
}

/// Returns the bytes until the next sample after such feedback, with a base of `base` bytes.
pub(super) fn interval(base: u64, feedback: u8) -> u64 {
    (u128::from(base) * INTERVALS[usize::from(feedback) / 8] / 300) as u64
}
