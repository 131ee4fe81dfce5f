//! Effects of ACKs and timeouts on the reference model of a Linux 2.6.38 sender.

use super::*;

impl Model {
    pub fn receive(&mut self, of: &Ack) {
        if of.ack < self.una {
            if self.set.sack && !of.blocks.is_empty() {
                self.read_blocks(of, self.una, &mut Flags::default());
                if self.state == State::Open {
                    self.keep_open();
                }
            }
            return self.push();
        }
        self.echo = of.ecr;
        let (una, reach, in_flight) = (self.una, self.reach(), self.in_flight());
        let mut f = Flags { advanced: of.ack > una, ece: of.ece && self.set.ecn, ..Flags::default() };
        self.una = of.ack;
        if self.set.sack && !of.blocks.is_empty() {
            self.read_blocks(of, una, &mut f);
        }
        self.estimate(of, f);
        let out = self.out();
        if out == 0 {
            return self.push();
        }
        self.clean(reach, of.ecr, &mut f);
        let asks = self.frto > 0 && self.ask(f);
        if self.highmark < self.una {
            self.highmark = 0;
        }
        let is_dubious = !(f.acked || f.advanced) || f.sacked || f.ece || self.state != State::Open;
        let is_held = f.ece && self.cwnd >= self.ssthresh || matches!(self.state, State::Cwr | State::Recovery);
        if f.acked && !asks && !(is_dubious && is_held) {
            self.grow(in_flight);
        }
        if is_dubious {
            self.alert(out - self.out(), f);
        }
        self.push();
    }

    fn estimate(&mut self, of: &Ack, f: Flags) {
        let bytes = if f.advanced { of.bytes } else { 536 };
        self.total += bytes;
        self.marked += if f.ece { bytes } else { 0 };
        if self.una >= self.window_end {
            let rise = (self.marked << 6) / self.total.max(1);
            self.alpha = (self.alpha - (self.alpha >> 4) + rise as u32).min(1024);
            (self.marked, self.total, self.window_end) = (0, 0, self.next);
        }
    }

    fn read_blocks(&mut self, of: &Ack, before: u32, f: &mut Flags) {
        let blocks = &of.blocks;
        let is_inside = |a: (u32, u32), b: (u32, u32)| a.0 >= b.0 && a.1 <= b.1;
        f.duplicate = blocks[0].0 < of.ack || blocks.len() > 1 && is_inside(blocks[0], blocks[1]);
        if f.duplicate && blocks[0].1 <= before && self.undo.is_some_and(|from| blocks[0].1 > from) {
            self.undo_again = self.undo_again.saturating_sub(1);
        }
        if self.queue.is_empty() {
            return;
        }
        let twice = Some(blocks[0]).filter(|b| f.duplicate && self.is_valid(*b, true));
        let mut used: Vec<(u32, u32)> = blocks.iter().copied().filter(|b| self.is_valid(*b, false)).collect();
        used.extend(twice.filter(|b| b.0 <= self.una));
        used.sort_by_key(|b| b.0);
        let (mut low, mut is_open) = (self.out(), twice);
        for b in used {
            f.beyond |= b.1 > self.high;
            for i in 0..self.queue.len() {
                let n = self.queue[i].n;
                if n >= b.0 && n < b.1 {
                    let is_twice = is_open.is_some_and(|t| n >= t.0 && n < t.1);
                    self.report(i, is_twice, &mut low, f);
                }
            }
            if is_open.is_some_and(|t| is_inside(t, b)) {
                is_open = None;
            }
            f.original &= b.1 <= self.highmark;
        }
        self.lose_again();
        let is_asked = self.highmark > 0 && self.una <= self.highmark;
        if low < self.reach() && (self.state != State::Loss || self.undo.is_some()) && !is_asked {
            self.learn(self.reach() - low);
        }
    }
    /// Returns true if a SACK block is valid: above the ACK, or a duplicate that crosses it.
    /// One below is never valid, because the kernel's test of its bound was reversed until Linux 3.1.
    fn is_valid(&self, b: (u32, u32), is_twice: bool) -> bool {
        if b.1 > self.next || b.0 >= b.1 {
            return false;
        }
        b.0 > self.una || is_twice && self.undo.is_some_and(|from| b.1 > self.una && b.1 > from)
    }
    fn report(&mut self, i: usize, is_twice: bool, low: &mut u32, f: &mut Flags) {
        let (mut s, above) = (self.queue[i], self.above_report());
        if is_twice && s.ever {
            if self.undo.is_some_and(|from| s.n + 1 > from) {
                self.undo_again = self.undo_again.saturating_sub(1);
            }
            if s.sacked {
                *low = (*low).min(i as u32);
            }
        }
        if s.n < self.una {
            return;
        }
        if !s.sacked {
            if s.again {
                if s.lost {
                    (s.again, s.lost) = (false, false);
                }
            } else {
                if !s.ever {
                    if s.n < above {
                        *low = (*low).min(i as u32);
                    }
                    f.original |= s.n < self.highmark;
                }
                s.lost = false;
            }
            (s.sacked, f.sacked) = (true, true);
        }
        if is_twice {
            s.again = false;
        }
        self.queue[i] = s;
    }
    fn lose_again(&mut self) {
        let above = self.above_report();
        if !self.fack || self.state != State::Recovery {
            return;
        }
        for i in 0..self.queue.len() {
            let s = self.queue[i];
            if s.n >= self.una && s.again && above > s.next {
                self.queue[i].again = false;
                self.queue[i].lost = !s.sacked;
            }
        }
    }

    fn clean(&mut self, reach: u32, ecr: u64, f: &mut Flags) {
        let (mut acked, mut first) = (0, None);
        let (above, mut low) = (self.reach(), self.out());
        while let Some(s) = self.queue.front().copied().filter(|s| s.n < self.una) {
            if s.ever {
                f.again_acked = true;
                f.later_again_acked |= f.acked;
                first = None;
            } else {
                first = first.or(Some(self.now - s.at));
                if !s.sacked {
                    low = low.min(acked);
                }
            }
            acked += 1;
            f.acked = true;
            self.queue.pop_front();
        }
        if acked == 0 {
            return;
        }
        match (self.set.stamps, first) {
            (true, _) => self.sample(self.now + 1 - ecr),
            (false, Some(ticks)) if !f.again_acked => self.sample(ticks),
            _ => {}
        }
        if self.queue.is_empty() {
            self.timer = None
        } else {
            self.arm()
        }
        if !self.set.sack {
            self.dups = self.dups.saturating_sub(acked - 1);
            self.limit_dups(acked);
        } else if low < reach {
            self.learn(above - low);
        }
        if self.state == State::Open {
            self.bic.ratio = self.bic.ratio + acked - (self.bic.ratio >> 4);
        }
    }
    pub(super) fn limit_dups(&mut self, acked: u32) {
        let holes = self.lost().max(1).min(self.out());
        if self.dups + holes > self.out() {
            self.dups = self.out() - holes;
            self.learn(self.out() + acked);
        }
    }

    fn ask(&mut self, f: Flags) -> bool {
        if f.acked {
            self.timeouts = 0;
        }
        if f.later_again_acked || self.frto >= 2 && f.again_acked {
            self.undo = None;
        }
        let progress = f.acked || f.sacked;
        if self.una >= self.highmark {
            self.lose_all(if self.frto == 1 { 2 } else { 3 }, f);
            return true;
        }
        if !self.set.sack {
            if !f.acked {
                self.lose_all(if self.frto == 1 { 0 } else { 3 }, f);
                return true;
            }
        } else if !f.acked && self.frto == 1 {
            self.cwnd = self.cwnd.min(self.in_flight());
            return true;
        } else if self.frto >= 2 && (!progress || f.sacked && !f.original) {
            self.lose_all(3, f);
            return true;
        }
        if self.frto == 1 {
            (self.cwnd, self.frto) = (self.in_flight() + 2, 2);
            if !self.may_send() {
                self.lose_all(2, f);
            }
            return true;
        }
        self.enter_cwr(false);
        (self.frto, self.undo) = (0, None);
        false
    }
    fn lose_all(&mut self, allowed: u32, f: Flags) {
        self.dups = 0;
        let keeps_first = self.frto == 1 && !f.acked;
        for (i, s) in self.queue.iter_mut().enumerate() {
            if !(keeps_first && i == 0) {
                if s.ever {
                    self.undo = None;
                }
                s.again = false;
            }
            s.lost = !s.sacked;
        }
        self.cwnd = self.in_flight() + allowed;
        self.enter_loss();
    }
    fn enter_loss(&mut self) {
        (self.count, self.stamp, self.frto) = (0, self.now, 0);
        self.reordering = self.reordering.min(DUPTHRESH);
        (self.state, self.high, self.cwr) = (State::Loss, self.next, true);
        self.bic = Bic { ratio: 32, ..Bic::default() };
    }
    pub(super) fn enter_cwr(&mut self, cuts: bool) {
        self.prior = 0;
        if self.state >= State::Cwr {
            return;
        }
        self.undo = None;
        if self.set.law == Law::Dctcp {
            self.cwnd = (self.cwnd - ((self.cwnd * self.alpha) >> 11)).max(2);
            if cuts {
                self.ssthresh = self.cwnd;
            }
        } else {
            if cuts {
                self.ssthresh = self.threshold();
            }
            self.cwnd = self.cwnd.min(self.in_flight() + 1);
        }
        (self.count, self.high, self.stamp) = (0, self.next, self.now);
        (self.cwr, self.state) = (true, State::Cwr);
    }

    pub fn expire(&mut self) {
        self.timer = None;
        if self.queue.is_empty() {
            return;
        }
        let cuts = self.una == self.high
            || (self.state == State::Loss || self.frto > 0) && self.timeouts == 0
            || self.frto == 0 && self.state <= State::Disorder;
        let second = self.queue.iter().skip(1).find(|s| s.ever || !s.sacked);
        let may_ask = self.set.sack || self.again() <= 1 && second.is_none_or(|s| !s.ever);
        if self.set.frto && may_ask {
            self.enter_frto(cuts);
        } else {
            if cuts || self.state <= State::Disorder {
                self.prior = self.current_threshold();
                self.ssthresh = self.threshold();
            }
            (self.cwnd, self.dups) = (1, 0);
            (self.undo, self.undo_again) = (Some(self.una), 0);
            for s in &mut self.queue {
                if s.ever {
                    self.undo = None;
                }
                (s.again, s.lost) = (false, !s.sacked);
            }
            self.enter_loss();
        }
        self.repeat(0);
        self.timeouts += 1;
        self.rto = (self.rto * 2).min(120_000);
        self.arm();
    }
    fn enter_frto(&mut self, cuts: bool) {
        if cuts {
            self.prior = self.current_threshold();
            let cwnd = self.cwnd;
            if self.frto > 0 {
                self.cwnd = 2;
            }
            self.ssthresh = self.threshold();
            self.cwnd = cwnd;
        }
        self.undo = Some(self.una).filter(|_| !self.queue[0].ever);
        self.undo_again = 0;
        self.queue[0].again = false;
        self.cwnd = self.cwnd.min(self.in_flight() + 1);
        let goes_on = self.set.sack && (self.frto > 0 || self.state >= State::Recovery) && self.high > self.una;
        self.highmark = if goes_on { self.high } else { self.next };
        (self.state, self.high, self.frto) = (State::Disorder, self.next, 1);
    }
}
