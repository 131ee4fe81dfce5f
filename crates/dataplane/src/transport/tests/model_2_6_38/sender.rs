//! Queue, timer and transmission of the reference model of a Linux 2.6.38 sender.
//!
//! Counts are computed from the queue whenever they are needed. Segments have numbers instead of bytes. The kernel's
//! hints for where a search continues are left out.

mod ack;
mod alert;

use std::collections::VecDeque;

/// State of the reference model, in the order of the kernel's states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Open,
    Disorder,
    Cwr,
    Recovery,
    Loss,
}

/// Congestion control of the reference model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    Reno,
    Bic,
    Dctcp,
}

/// Options of the reference model.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub law: Law,
    pub sack: bool,
    pub fack: bool,
    pub frto: bool,
    pub stamps: bool,
    pub ecn: bool,
    pub idle: bool,
    pub first: u32,
}

/// DupThresh, and the minimum RTO in ticks.
const DUPTHRESH: u32 = 3;
const FLOOR: i64 = 10;
/// Value of a slow start threshold that was never set.
pub const INFINITE: u32 = 0x7fff_ffff;

/// ACK of everything before the segment with number `ack`.
#[derive(Clone, Debug, Default)]
pub struct Ack {
    pub ack: u32,
    pub blocks: Vec<(u32, u32)>,
    pub ece: bool,
    /// Echoed timestamp; 0 for none.
    pub ecr: u64,
    /// Number of bytes that the ACK acknowledges.
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Seg {
    n: u32,
    at: u64,
    sacked: bool,
    lost: bool,
    again: bool,
    ever: bool,
    /// SND.NXT, as a segment number, when the segment was sent again.
    next: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    advanced: bool,
    acked: bool,
    again_acked: bool,
    later_again_acked: bool,
    sacked: bool,
    ece: bool,
    beyond: bool,
    original: bool,
    duplicate: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bic {
    needed: u32,
    largest: u32,
    at_loss: u32,
    cwnd: u32,
    time: u64,
    ratio: u32,
}

/// Reference model of a Linux 2.6.38 sender, written from the kernel's source.
#[derive(Clone, Debug)]
pub struct Model {
    set: Setup,
    queue: VecDeque<Seg>,
    pub una: u32,
    pub next: u32,
    pub written: u32,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub state: State,
    /// Present tick, and tick at which the timer fires.
    pub now: u64,
    pub timer: Option<u64>,
    pub rto: u64,
    /// Segments sent: number, true for a retransmission, true with CWR.
    pub sent: Vec<(u32, bool, bool)>,
    pub alpha: u32,
    count: u32,
    stamp: u64,
    used: u32,
    last_sent: u64,
    prior: u32,
    undo: Option<u32>,
    undo_again: u32,
    first_again: u64,
    high: u32,
    frto: u8,
    highmark: u32,
    reordering: u32,
    fack: bool,
    dups: u32,
    timeouts: u32,
    cwr: bool,
    srtt: i64,
    mdev: i64,
    mdev_max: i64,
    rttvar: i64,
    rtt_end: u32,
    bic: Bic,
    marked: u64,
    total: u64,
    window_end: u32,
    echo: u64,
}

impl Model {
    pub fn new(set: Setup, now: u64) -> Model {
        let mut m = Model {
            set,
            queue: VecDeque::new(),
            una: 0,
            next: 0,
            written: 0,
            cwnd: set.first,
            ssthresh: INFINITE,
            state: State::Open,
            now,
            timer: None,
            rto: 3000,
            sent: vec![],
            alpha: 0,
            count: 0,
            stamp: now,
            used: 0,
            last_sent: now,
            prior: 0,
            undo: None,
            undo_again: 0,
            first_again: 0,
            high: 0,
            frto: 0,
            highmark: 0,
            reordering: DUPTHRESH,
            fack: set.fack && set.sack,
            dups: 0,
            timeouts: 0,
            cwr: false,
            srtt: 0,
            mdev: 0,
            mdev_max: 0,
            rttvar: 0,
            rtt_end: 0,
            bic: Bic { ratio: 32, ..Bic::default() },
            marked: 0,
            total: 0,
            window_end: 0,
            echo: 0,
        };
        if set.stamps {
            m.sample(0);
        }
        m
    }

    fn count(&self, of: impl Fn(&Seg) -> bool) -> u32 {
        self.queue.iter().filter(|s| of(s)).count() as u32
    }
    fn out(&self) -> u32 {
        self.queue.len() as u32
    }
    fn sacked(&self) -> u32 {
        if self.set.sack { self.count(|s| s.sacked) } else { self.dups }
    }
    fn lost(&self) -> u32 {
        self.count(|s| s.lost)
    }
    fn again(&self) -> u32 {
        self.count(|s| s.again)
    }
    pub fn in_flight(&self) -> u32 {
        self.out() + self.again() - self.sacked() - self.lost()
    }
    /// Number of segments of the queue up to the highest SACK.
    fn reach(&self) -> u32 {
        self.queue.iter().rposition(|s| s.sacked).map_or(0, |i| i as u32 + 1)
    }
    fn reach_or_dups(&self) -> u32 {
        if self.set.sack { self.reach() } else { self.dups + 1 }
    }
    fn above_report(&self) -> u32 {
        self.queue.iter().rev().find(|s| s.sacked).map_or(self.una, |s| s.n + 1)
    }
    fn may_send(&self) -> bool {
        self.next < self.written && self.in_flight() < self.cwnd
    }
    fn arm(&mut self) {
        let due = self.now + self.rto;
        let limit = due + if self.rto < 256 { 0 } else { self.rto / 256 };
        let bit = (due ^ limit).checked_ilog2().unwrap_or(0);
        self.timer = Some(limit >> bit << bit);
    }
    fn sample(&mut self, ticks: u64) {
        let sample = (ticks as i64).max(1);
        if self.srtt == 0 {
            (self.srtt, self.mdev) = (8 * sample, 2 * sample);
            self.rttvar = self.mdev.max(FLOOR);
            (self.mdev_max, self.rtt_end) = (self.rttvar, self.next);
        } else {
            let error = sample - self.srtt / 8;
            self.srtt += error;
            let mut excess = error.abs() - self.mdev / 4;
            if error < 0 && excess > 0 {
                excess /= 8;
            }
            self.mdev += excess;
            if self.mdev > self.mdev_max {
                self.mdev_max = self.mdev;
                self.rttvar = self.rttvar.max(self.mdev);
            }
            if self.una > self.rtt_end {
                self.rttvar -= (self.rttvar - self.mdev_max).max(0) / 4;
                (self.rtt_end, self.mdev_max) = (self.next, FLOOR);
            }
        }
        self.rto = (self.srtt / 8 + self.rttvar).min(120_000) as u64;
    }
    fn learn(&mut self, degree: u32) {
        if degree > self.reordering {
            self.reordering = degree.min(127);
            self.fack = false;
        }
    }
    fn mark(&mut self, i: usize) {
        let s = &mut self.queue[i];
        s.lost |= !s.sacked;
    }

    /// Sends new data that the window has space for.
    pub fn push(&mut self) {
        let mut has_sent = false;
        while self.may_send() {
            let idle = self.now - self.last_sent;
            if self.set.idle && self.queue.is_empty() && idle > self.rto {
                self.restart(idle);
            }
            self.last_sent = self.now;
            let n = self.next;
            self.queue.push_back(Seg {
                n,
                at: self.now,
                sacked: false,
                lost: false,
                again: false,
                ever: false,
                next: 0,
            });
            self.sent.push((n, false, std::mem::take(&mut self.cwr) && self.set.ecn));
            self.next += 1;
            if self.frto == 2 {
                self.frto = 3;
            }
            if self.queue.len() == 1 {
                self.arm();
            }
            has_sent = true;
        }
        if !has_sent {
            return;
        }
        if self.out() >= self.cwnd {
            (self.used, self.stamp) = (0, self.now);
            return;
        }
        self.used = self.used.max(self.out());
        if self.set.idle && self.now - self.stamp >= self.rto {
            if self.state == State::Open {
                let used = self.used.max(self.set.first);
                if used < self.cwnd {
                    self.ssthresh = self.current_threshold();
                    self.cwnd = (self.cwnd + used) / 2;
                }
                self.used = 0;
            }
            self.stamp = self.now;
        }
    }
    fn restart(&mut self, idle: u64) {
        self.ssthresh = self.current_threshold();
        let least = self.set.first.min(self.cwnd);
        let mut left = idle as i64 - self.rto as i64;
        while left > 0 && self.cwnd > least {
            self.cwnd /= 2;
            left -= self.rto as i64;
        }
        self.cwnd = self.cwnd.max(least);
        (self.stamp, self.used) = (self.now, 0);
    }
    fn repeat(&mut self, i: usize) {
        let (now, next) = (self.now, self.next);
        let s = &mut self.queue[i];
        (s.at, s.again, s.ever, s.next) = (now, true, true, next);
        self.sent.push((s.n, true, false));
        self.last_sent = now;
        if self.first_again == 0 {
            self.first_again = now + 1;
        }
        self.undo_again += 1;
    }
    /// Sends lost segments again, and in recovery those missing below the highest SACK.
    fn repeat_lost(&mut self) {
        while self.in_flight() < self.cwnd {
            let is_lost = |s: &Seg| s.lost && !s.again;
            let is_hole = |s: &Seg| !s.lost && !s.again && !s.sacked && s.n < self.above_report();
            let may_fill = self.state == State::Recovery && self.set.sack && !self.may_send();
            let hole = || self.queue.iter().position(is_hole).filter(|_| may_fill);
            let Some(i) = self.queue.iter().position(is_lost).or_else(hole) else { return };
            self.repeat(i);
            if i == 0 {
                self.arm();
            }
        }
    }
    fn moderate(&mut self) {
        self.cwnd = self.cwnd.min(self.in_flight() + self.reordering);
        self.stamp = self.now;
    }
    fn current_threshold(&self) -> u32 {
        match self.state {
            State::Cwr | State::Recovery => self.ssthresh,
            _ => self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4),
        }
    }
    fn threshold(&mut self) -> u32 {
        let w = self.cwnd;
        if self.set.law == Law::Bic {
            self.bic.largest = if w < self.bic.largest { w * 1843 / 2048 } else { w };
            self.bic.at_loss = w;
            if w > 14 {
                return (w * 819 / 1024).max(2);
            }
        }
        (w / 2).max(2)
    }
}
