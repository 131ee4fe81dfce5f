//! Feedback of a congestion point from two lengths of its queue, its six bits, and the next sampling interval.

use crate::choice;

choice! {
    /// Rounding of the feedback to a whole number of six bits.
    pub(crate) enum FeedbackRounding {
        Floor = "floor",
        Nearest = "nearest",
    }
}

/// Constants of the feedback.
#[derive(Clone, Copy, Debug)]
pub(super) struct FeedbackCurve {
    /// Set point Q_eq, in bytes.
    pub q_eq: u64,
    /// Weight w of the growth of the queue.
    pub w: u64,
    /// Rounding to a whole number.
    pub rounding: FeedbackRounding,
}

/// Largest feedback of six bits.
pub(super) const MAX_FEEDBACK: u8 = 63;

/// Sampling interval by the upper three bits of the feedback, in 300ths of I_s: 150, 75, 50, 37.5, 30, 25, 21.5 and
/// 18.5 KB of 150 (802.1Qau §30.2.1; public code has the same numbers).
const SAMPLING_INTERVALS: [u128; 8] = [300, 150, 100, 75, 60, 50, 43, 37];

impl FeedbackCurve {
    /// Returns the largest feedback in bytes: that of a queue that has grown from empty to twice Q_eq.
    fn max_feedback_bytes(&self) -> i128 {
        i128::from(self.q_eq) * (2 * i128::from(self.w) + 1)
    }

    /// Returns the feedback as six bits of a queue of `q` bytes that had `q_old` bytes at the last sample; 0 is no
    /// congestion.
    pub fn feedback(&self, q: u64, q_old: u64) -> u8 {
        let (q, most) = (i128::from(q), self.max_feedback_bytes());
        let fb = q - i128::from(self.q_eq) + i128::from(self.w) * (q - i128::from(q_old));
        let scaled = i128::from(MAX_FEEDBACK) * fb.clamp(0, most);
        let whole = match self.rounding {
            FeedbackRounding::Floor => scaled / most,
            FeedbackRounding::Nearest => (2 * scaled + most) / (2 * most),
        };
        whole as u8
    }

    /// Returns the longest queue, in bytes, that is no congestion at any growth.
    pub fn max_uncongested_bytes(&self) -> u64 {
        let most = self.max_feedback_bytes();
        // Smallest feedback in bytes that is not 0 in six bits.
        let least = match self.rounding {
            FeedbackRounding::Floor => most.div_euclid(63) + i128::from(most % 63 > 0),
            FeedbackRounding::Nearest => most.div_euclid(126) + i128::from(most % 126 > 0),
        };
        // Growth is at most q, from an empty queue, so the feedback is at most (w + 1) q - Q_eq. The result is the
        // largest q for which that is below `least`.
        let longest = (i128::from(self.q_eq) + least - 1) / (i128::from(self.w) + 1);
        u64::try_from(longest).unwrap_or(u64::MAX)
    }
}

/// Returns the bytes until the next sample after such feedback, with a base of `base` bytes.
pub(super) fn sampling_interval(base: u64, feedback: u8) -> u64 {
    (u128::from(base) * SAMPLING_INTERVALS[usize::from(feedback) / 8] / 300) as u64
}
