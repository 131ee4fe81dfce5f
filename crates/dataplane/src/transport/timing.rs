//! Round-trip samples without timestamps and without a record of every segment (RFC 6298 §3).
//!
//! What leaves at one instant is one burst with one send time, so that every ACK of a first window
//! gives a sample; two bursts are timed at once, which gives about two to four samples a round
//! trip later. A retransmission forgets both, and what was sent before is never timed (Karn).

use units::{Dur, Time};

const BURSTS: usize = 2;

#[derive(Clone, Copy, Debug, Default)]
struct Burst {
    at: Time,
    start: u32,
    end: u32,
}

/// The bursts that are timed, oldest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timing {
    bursts: [Burst; BURSTS],
    len: u8,
}

fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

impl Timing {
    /// New data left. PRECONDITION: it was never sent before.
    #[inline]
    pub fn sent(&mut self, now: Time, start: u32, end: u32) {
        let len = usize::from(self.len);
        if len > 0 {
            let last = &mut self.bursts[len - 1];
            if last.at == now && last.end == start {
                last.end = end;
                return;
            }
        }
        if len < BURSTS {
            self.bursts[len] = Burst { at: now, start, end };
            self.len += 1;
        }
    }
    /// Everything before `ack` is acknowledged: the age of the newest timed byte among it.
    #[inline]
    pub fn acked(&mut self, now: Time, ack: u32) -> Option<Dur> {
        let mut sample = None;
        while self.len > 0 && after(ack, self.bursts[0].start) {
            sample = Some(now.since(self.bursts[0].at));
            if after(self.bursts[0].end, ack) {
                break;
            }
            self.bursts.rotate_left(1);
            self.len -= 1;
        }
        sample
    }
    /// Something was sent again: an ACK would not say of which sending it is (Karn).
    pub fn clear(&mut self) {
        self.len = 0;
    }
}
