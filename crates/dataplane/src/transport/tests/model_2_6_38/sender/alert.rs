//! States, window growth and undo of the reference model of a Linux 2.6.38 sender.

use super::*;

impl Model {
    pub(super) fn grow(&mut self, in_flight: u32) {
        self.stamp = self.now;
        if self.cwnd.saturating_sub(in_flight) > self.reordering {
            return;
        }
        if self.cwnd <= self.ssthresh {
            self.count += self.cwnd;
            while self.count >= self.cwnd {
                self.count -= self.cwnd;
                self.cwnd += 1;
            }
            return;
        }
        let needed = if self.set.law == Law::Bic { self.bic_needed() } else { self.cwnd };
        if self.count >= needed {
            (self.count, self.cwnd) = (0, self.cwnd + 1);
        } else {
            self.count += 1;
        }
    }
    fn bic_needed(&mut self) -> u32 {
        let (w, b) = (self.cwnd, &mut self.bic);
        if b.cwnd == w && self.now - b.time <= 31 {
            return b.needed;
        }
        (b.cwnd, b.time) = (w, self.now);
        if w <= 14 {
            b.needed = w;
            return w;
        }
        let slow = w * 5;
        let mut acks = if w < b.largest {
            let far = (b.largest - w) / 4;
            if far > 16 {
                w / 16
            } else if far <= 1 {
                slow
            } else {
                w / far
            }
        } else if w < b.largest + 4 {
            slow
        } else if w < b.largest + 48 {
            w * 3 / (w - b.largest)
        } else {
            w / 16
        };
        if b.at_loss == 0 {
            acks = acks.min(20);
        }
        b.needed = (acks * 16 / b.ratio).max(1);
        b.needed
    }

    pub(super) fn alert(&mut self, acked: u32, f: Flags) {
        let is_dup = !f.advanced && !f.acked;
        let mut looks = is_dup || f.sacked && self.reach_or_dups() > self.reordering;
        if f.ece {
            self.prior = 0;
        }
        if self.fack && f.beyond && self.una < self.high && self.state != State::Open && self.reach() > self.reordering
        {
            self.mark_head(self.reach() - self.reordering, false);
        }
        if self.state == State::Open {
            self.first_again = 0;
        } else if self.una >= self.high && self.leave() {
            return;
        }
        let mut begins = false;
        match self.state {
            State::Recovery if f.advanced => looks = self.undo_partial(acked),
            State::Recovery => self.add_dup(is_dup),
            _ => {
                if self.state == State::Loss && !self.goes_on(f) {
                    return;
                }
                if !self.set.sack && f.advanced {
                    self.dups = 0;
                }
                self.add_dup(is_dup);
                if self.state == State::Disorder {
                    self.undo_by_twice();
                }
                if !self.sees_loss() {
                    return self.stay_open(f);
                }
                self.high = self.next;
                (self.undo, self.undo_again, self.prior) = (Some(self.una), self.again(), 0);
                if self.state < State::Cwr {
                    if !f.ece {
                        self.prior = self.current_threshold();
                    }
                    (self.ssthresh, self.cwr) = (self.threshold(), true);
                }
                (self.count, self.state, begins) = (0, State::Recovery, true);
            }
        }
        if looks || self.fack && self.is_head_overdue() {
            self.score(begins);
        }
        self.fall(f);
        self.repeat_lost();
    }
    fn add_dup(&mut self, is_dup: bool) {
        if is_dup && !self.set.sack {
            self.dups += 1;
            self.limit_dups(0);
        }
    }
    fn leave(&mut self) -> bool {
        let is_beyond = self.una > self.high;
        match self.state {
            State::Loss => {
                self.timeouts = 0;
                return self.undo_recovery();
            }
            State::Cwr if is_beyond => {
                self.complete();
                self.state = State::Open;
            }
            State::Disorder => {
                self.undo_by_twice();
                if self.undo.is_none() || !self.set.sack || is_beyond {
                    (self.undo, self.state) = (None, State::Open);
                }
            }
            State::Recovery => {
                self.dups = 0;
                if self.undo_recovery() {
                    return true;
                }
                self.complete();
            }
            State::Cwr | State::Open => {}
        }
        false
    }
    fn complete(&mut self) {
        self.cwnd = self.cwnd.min(self.ssthresh);
        self.stamp = self.now;
    }
    fn goes_on(&mut self, f: Flags) -> bool {
        if f.acked {
            self.timeouts = 0;
        }
        if f.advanced {
            self.dups = 0;
        }
        if !self.may_undo() {
            self.moderate();
            self.repeat_lost();
            return false;
        }
        self.queue.iter_mut().for_each(|s| s.lost = false);
        self.give_back(true);
        (self.timeouts, self.undo) = (0, None);
        if self.set.sack {
            self.state = State::Open;
        }
        self.set.sack
    }
    fn sees_loss(&self) -> bool {
        if self.frto > 0 {
            return false;
        }
        let seen = if self.fack { self.reach() } else { self.sacked() + 1 };
        if self.lost() > 0 || seen > self.reordering || self.fack && self.is_head_overdue() {
            return true;
        }
        self.out() <= self.reordering && self.sacked() >= (self.out() / 2).max(DUPTHRESH) && !self.may_send()
    }
    fn is_overdue(&self, i: usize) -> bool {
        self.now - self.queue[i].at > self.rto
    }
    fn is_head_overdue(&self) -> bool {
        !self.queue.is_empty() && self.is_overdue(0)
    }
    fn score(&mut self, begins: bool) {
        if !self.set.sack {
            self.mark_head(1, true);
        } else if self.fack {
            self.mark_head(self.reach().saturating_sub(self.reordering).max(1), false);
        } else if self.sacked() >= self.reordering {
            self.mark_head(self.sacked() - self.reordering, false);
        } else if begins {
            self.mark_head(1, true);
        }
        if self.fack && self.is_head_overdue() {
            let overdue = (0..self.queue.len()).take_while(|i| self.is_overdue(*i)).count();
            (0..overdue).for_each(|i| self.mark(i));
        }
    }
    fn mark_head(&mut self, segments: u32, first_alone: bool) {
        let mut cnt = 0;
        for i in 0..self.queue.len() {
            let s = self.queue[i];
            cnt += u32::from(self.fack || !self.set.sack || s.sacked);
            if s.n >= self.high || cnt > segments {
                return;
            }
            self.mark(i);
            if first_alone {
                return;
            }
        }
    }
    fn fall(&mut self, f: Flags) {
        let is_dup = !f.advanced && !f.acked;
        if !(f.acked || f.sacked || f.advanced || f.duplicate || !self.set.sack && is_dup) {
            return;
        }
        let due = self.count + 1;
        self.count = due % 2;
        let least = if self.set.law == Law::Bic { self.ssthresh } else { self.ssthresh / 2 };
        if self.cwnd > least {
            self.cwnd -= due / 2;
        }
        self.cwnd = self.cwnd.min(self.in_flight() + 1);
        self.stamp = self.now;
    }

    fn was_sent_again(&self) -> bool {
        self.again() > 0 || self.queue.front().is_some_and(|s| s.ever)
    }
    pub(super) fn keep_open(&mut self) {
        let is_out = self.sacked() + self.lost() > 0 || self.was_sent_again() || self.undo.is_some();
        let state = if is_out { State::Disorder } else { State::Open };
        if self.state != state {
            (self.state, self.high) = (state, self.next);
        }
    }
    fn stay_open(&mut self, f: Flags) {
        if self.frto == 0 && !self.was_sent_again() {
            self.first_again = 0;
        }
        if f.ece {
            self.enter_cwr(true);
        }
        if self.state != State::Cwr {
            self.keep_open();
            self.moderate();
        } else if self.set.law != Law::Dctcp {
            self.fall(f);
        }
    }

    fn may_undo(&self) -> bool {
        let is_older = self.set.stamps && self.echo > 0 && self.echo < self.first_again;
        self.undo.is_some() && (self.undo_again == 0 || self.first_again == 0 || is_older)
    }
    fn give_back(&mut self, restores: bool) {
        if self.prior == 0 {
            self.cwnd = self.cwnd.max(self.ssthresh);
        } else {
            let before = if self.set.law == Law::Bic { self.bic.largest } else { self.ssthresh.saturating_mul(2) };
            self.cwnd = self.cwnd.max(before);
            if restores && self.prior > self.ssthresh {
                (self.ssthresh, self.cwr) = (self.prior, false);
            }
        }
        self.moderate();
    }
    fn undo_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.give_back(true);
            self.undo = None;
        }
        if self.una == self.high && !self.set.sack {
            self.moderate();
            return true;
        }
        self.state = State::Open;
        false
    }
    fn undo_by_twice(&mut self) {
        if self.undo.is_some() && self.undo_again == 0 {
            self.give_back(true);
            self.undo = None;
        }
    }
    fn undo_partial(&mut self, acked: u32) -> bool {
        let reach = self.reach_or_dups();
        if !self.may_undo() {
            return !self.set.sack || reach > self.reordering;
        }
        if !self.was_sent_again() {
            self.first_again = 0;
        }
        self.learn(reach + acked);
        self.give_back(false);
        false
    }
}
