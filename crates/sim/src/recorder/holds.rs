//! ACKs that are held at ports, and the states of the agents that hold them, over time.

use super::Scope;
use dataplane::EventLocation;
use units::{Dur, Time};

/// Number of states of an agent that holds ACKs: at rest, congested, lightly congested.
pub(crate) const HOLD_STATES: usize = 3;

/// Row for the ACKs that a port held in one time bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HoldRow {
    /// Integral over the time bin of the number of held packets, in packets times picoseconds.
    pub(crate) area: f64,
    /// Number of the port, counted over the whole network.
    pub(crate) port: u32,
    pub(crate) bin: u32,
    pub(crate) max: u32,
    /// Picoseconds of the time bin in each state other than rest.
    pub(crate) spent: [u64; HOLD_STATES - 1],
}

/// Record of the packets that a port holds, and of its agent's states.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PortHolds {
    state: u8,
    packets: u32,
    bytes: u64,
    /// Instant up to which the record is complete.
    since: Time,
    /// Number of the open time bin.
    bin: u32,
    bin_area: u128,
    bin_max: u32,
    bin_spent: [u64; HOLD_STATES],
    /// Packets held and released inside the measurement window; the most packets and bytes held at one time.
    pub(crate) held: u64,
    pub(crate) released: u64,
    pub(crate) most: u32,
    pub(crate) most_bytes: u64,
    /// Packets times picoseconds inside the measurement window, how often rest ended, and the time in each state.
    pub(crate) area: u128,
    pub(crate) times: u64,
    pub(crate) bin_times: [Dur; HOLD_STATES],
}

impl PortHolds {
    fn is_at_rest(&self) -> bool {
        self.state == 0 && self.packets == 0
    }

    /// Adds the time up to `now`, with unchanged held packets and state, to the record.
    fn advance(&mut self, scope: &Scope, port: u32, now: Time, rows: &mut Vec<HoldRow>) {
        while self.since < now {
            let bin = scope.bin_of(self.since);
            if bin != self.bin {
                self.end_open_bin(port, rows);
                self.bin = bin;
                self.bin_max = self.packets;
            }
            let edge = Time((u64::from(bin) + 1).saturating_mul(scope.bin.0));
            let end = if self.is_at_rest() { now } else { now.min(edge) };
            self.advance_in_bin(scope, end);
        }
        let bin = scope.bin_of(now);
        if bin != self.bin {
            self.end_open_bin(port, rows);
            (self.bin, self.bin_max) = (bin, self.packets);
        }
    }

    fn advance_in_bin(&mut self, scope: &Scope, end: Time) {
        let state = usize::from(self.state).min(HOLD_STATES - 1);
        let length = end.since(self.since).0;
        self.bin_area += u128::from(self.packets) * u128::from(length);
        self.bin_spent[state] += length;
        let (first, last) = (self.since.max(scope.from), end.min(scope.to));
        let inside = last.max(first).since(first);
        self.area += u128::from(self.packets) * u128::from(inside.0);
        self.bin_times[state] += inside;
        self.since = end;
    }

    fn end_open_bin(&mut self, port: u32, rows: &mut Vec<HoldRow>) {
        let [_, spent @ ..] = std::mem::take(&mut self.bin_spent);
        let (area, max) = (std::mem::take(&mut self.bin_area) as f64, std::mem::take(&mut self.bin_max));
        if max > 0 || spent != [0; HOLD_STATES - 1] {
            rows.push(HoldRow { area, port, bin: self.bin, max, spent });
        }
    }
}

/// Records of all ports that hold ACKs.
#[derive(Clone, Debug)]
pub(crate) struct HoldingPorts {
    /// Record of each port, by the port's number over the whole network.
    pub(crate) ports: Vec<PortHolds>,
}

impl HoldingPorts {
    pub(crate) fn new(ports: usize) -> HoldingPorts {
        HoldingPorts { ports: vec![PortHolds::default(); ports] }
    }

    fn advance_port(&mut self, scope: &Scope, at: EventLocation, rows: &mut Vec<HoldRow>) -> &mut PortHolds {
        let one = &mut self.ports[at.port as usize];
        one.advance(scope, at.port, at.now, rows);
        one
    }

    pub(crate) fn record_held(&mut self, scope: &Scope, at: EventLocation, size: u16, rows: &mut Vec<HoldRow>) {
        let counts = scope.covers(at.now);
        let one = self.advance_port(scope, at, rows);
        one.packets += 1;
        one.bytes += u64::from(size);
        one.bin_max = one.bin_max.max(one.packets);
        if counts {
            one.held += 1;
            one.most = one.most.max(one.packets);
            one.most_bytes = one.most_bytes.max(one.bytes);
        }
    }

    pub(crate) fn record_released(&mut self, scope: &Scope, at: EventLocation, size: u16, rows: &mut Vec<HoldRow>) {
        let counts = scope.covers(at.now);
        let one = self.advance_port(scope, at, rows);
        one.packets -= 1;
        one.bytes -= u64::from(size);
        one.released += u64::from(counts);
    }

    pub(crate) fn record_state(&mut self, scope: &Scope, at: EventLocation, state: u8, rows: &mut Vec<HoldRow>) {
        let counts = scope.covers(at.now);
        let one = self.advance_port(scope, at, rows);
        one.times += u64::from(counts && one.state == 0 && state != 0);
        one.state = state;
    }

    /// Writes the rows of time bins before `bin`.
    pub(crate) fn end_bins_before(&mut self, scope: &Scope, bin: u32, rows: &mut Vec<HoldRow>) {
        let start = Time(u64::from(bin).saturating_mul(scope.bin.0));
        self.ports.iter_mut().zip(0..).for_each(|(one, port)| one.advance(scope, port, start.max(one.since), rows));
    }

    /// Completes the record at the end of the run, and writes the open time bin.
    pub(crate) fn close(&mut self, scope: &Scope, now: Time, rows: &mut Vec<HoldRow>) {
        for (one, port) in self.ports.iter_mut().zip(0..) {
            one.advance(scope, port, now, rows);
            one.end_open_bin(port, rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOPE: Scope = Scope { from: Time(100), to: Time(200), bin: Dur(50), ..Scope::EMPTY };

    fn at(now: u64) -> EventLocation {
        EventLocation { now: Time(now), node: 3, port: 1 }
    }

    #[test]
    fn held_frames_are_recorded_by_time_bin_and_over_the_window() {
        let (mut ports, mut rows) = (HoldingPorts::new(2), Vec::new());
        ports.record_state(&SCOPE, at(60), 1, &mut rows);
        ports.record_held(&SCOPE, at(70), 64, &mut rows);
        ports.record_held(&SCOPE, at(110), 64, &mut rows);
        ports.record_state(&SCOPE, at(160), 2, &mut rows);
        ports.record_released(&SCOPE, at(160), 64, &mut rows);
        ports.record_state(&SCOPE, at(230), 0, &mut rows);
        ports.record_released(&SCOPE, at(230), 64, &mut rows);
        ports.close(&SCOPE, Time(400), &mut rows);
        let row = |bin, max, area, spent| HoldRow { area, port: 1, bin, max, spent };
        let expected = [
            row(1, 1, 30.0, [40, 0]),
            row(2, 2, 10.0 + 80.0, [50, 0]),
            row(3, 2, 20.0 + 40.0, [10, 40]),
            row(4, 1, 30.0, [0, 30]),
        ];
        assert_eq!(rows, expected);
        let one = ports.ports[1];
        assert_eq!((one.held, one.released, one.most, one.most_bytes), (1, 1, 2, 128));
        assert_eq!((one.times, one.bin_times[1], one.bin_times[2]), (0, Dur(60), Dur(40)));
        assert_eq!(one.area, 10 + 100 + 40);
        assert_eq!(ports.ports[0].bin_times[0], Dur(100), "at rest");
    }

    #[test]
    fn finished_time_bins_are_written_before_the_next_change() {
        let (mut ports, mut rows) = (HoldingPorts::new(2), Vec::new());
        ports.record_state(&SCOPE, at(120), 1, &mut rows);
        ports.record_held(&SCOPE, at(120), 64, &mut rows);
        assert_eq!(ports.ports[1].times, 1);
        ports.end_bins_before(&SCOPE, 3, &mut rows);
        assert_eq!(rows, [HoldRow { area: 30.0, port: 1, bin: 2, max: 1, spent: [30, 0] }]);
        ports.end_bins_before(&SCOPE, 3, &mut rows);
        assert_eq!(rows.len(), 1, "once");
    }
}
