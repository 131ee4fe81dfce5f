//! Six-bit feedback of a QCN congestion point from two lengths of its queue, and the interval until the next sample.

use crate::choice;

choice! {
    /// Choice of the rounding of QCN's feedback to a whole number of six bits.
    pub(crate) enum FeedbackRounding {
        Floor = "floor",
        Nearest = "nearest",
    }
}

/// Constants from which a QCN congestion point computes its feedback.
#[derive(Clone, Copy, Debug)]
pub(super) struct FeedbackCurve {
    /// Set point Q_eq of the queue length, in bytes.
    pub q_eq: u64,
    /// Weight w of the queue's growth in the feedback.
    pub w: u64,
    /// Rounding of the feedback to a whole number.
    pub rounding: FeedbackRounding,
}

/// Largest feedback of QCN, which has six bits.
pub(super) const MAX_FEEDBACK: u8 = 63;

/// Sampling intervals by the upper three bits of QCN's feedback, in 300ths of the base interval I_s.
/// For I_s = 150 KB they are 150, 75, 50, 37.5, 30, 25, 21.5 and 18.5 KB (802.1Qau §30.2.1; public code has the same
/// numbers).
const SAMPLING_INTERVALS: [u128; 8] = [300, 150, 100, 75, 60, 50, 43, 37];

impl FeedbackCurve {
    /// Returns QCN's largest feedback in bytes: that of a queue that has grown from empty to twice Q_eq.
    fn max_feedback_bytes(&self) -> i128 {
        i128::from(self.q_eq) * (2 * i128::from(self.w) + 1)
    }

    /// Returns QCN's six-bit feedback for a queue of `q` bytes that had `q_old` bytes at the last sample.
    /// Feedback of 0 means no congestion.
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

    /// Returns the longest queue, in bytes, for which the feedback is 0 however fast the queue has grown.
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

/// Returns the bytes until the next sample after this feedback, for a base interval of `base` bytes.
pub(super) fn sampling_interval(base: u64, feedback: u8) -> u64 {
    (u128::from(base) * SAMPLING_INTERVALS[usize::from(feedback) / 8] / 300) as u64
}
