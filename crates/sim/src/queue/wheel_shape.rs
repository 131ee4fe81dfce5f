//! Width and number of the wheel's slots, chosen from counts of recent events.
//!
//! The decision is a function of counts of pushes, pops and slots. It uses no clock, so that a run and its clone
//! decide alike. The order of events does not depend on it.

/// Width and number of a wheel's slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WheelShape {
    /// Binary logarithm of the slot width in picoseconds.
    pub shift: u32,
    /// Number of slots, a power of two.
    pub slots: usize,
}

impl WheelShape {
    /// Initial shape: slots of 8 ns, with a horizon of 8.4 us.
    pub(super) const FIRST: WheelShape = WheelShape { shift: 13, slots: MIN_SLOTS };

    fn widened(self) -> WheelShape {
        WheelShape { shift: (self.shift + 1).min(MAX_SHIFT), ..self }
    }
    fn narrowed(self) -> WheelShape {
        WheelShape { shift: self.shift.saturating_sub(1), ..self }
    }
    fn with_more_slots(self) -> WheelShape {
        WheelShape { slots: (self.slots * 2).min(MAX_SLOTS), ..self }
    }
    fn with_fewer_slots(self) -> WheelShape {
        WheelShape { slots: (self.slots / 2).max(MIN_SLOTS), ..self }
    }
}

const MIN_SLOTS: usize = 1 << 10;
const MAX_SLOTS: usize = 1 << 16;
const MAX_SHIFT: u32 = 48;

/// Counts of events and slots since the last decision about the wheel's shape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShapeStatistics {
    /// Number of events taken from the queue since the last decision about the wheel's shape.
    pub pops: u64,
    /// Number of slots opened since the last decision about the wheel's shape.
    pub opened: u64,
    /// Number of different times among the events taken from opened slots. Simultaneous events count as one, since no
    /// width separates them.
    pub times: u64,
    /// Number of events pushed into slots of the farther half of the wheel.
    pub outer: u64,
    /// Number of events pushed beyond the wheel, at less than eight times its horizon.
    pub beyond: u64,
    /// Number of events pushed beyond the wheel at any distance.
    pub far: u64,
}

impl ShapeStatistics {
    /// Returns the width and number of slots to use until the next decision. `pushes` counts pushes since the last one.
    ///
    /// A slot with Poisson arrivals of mean m holds m / (1 - exp(-m)) events when it is opened. By measurement, a
    /// wheel is fastest with m between 0.15 and 0.8: most opened slots then hold one event, which the processor's
    /// branch prediction guesses right. The thresholds of opposite decisions are more than a factor of two apart in
    /// m, so that a steady run keeps its shape.
    pub fn choose_shape(&self, shape: WheelShape, pushes: u64) -> WheelShape {
        let lonely = 100 * self.times < 106 * self.opened; // m < 0.12
        let thin = 5 * self.times < 6 * self.opened || self.opened == 0; // m < 0.38
        let crowded = 2 * self.times > 3 * self.opened; // m > 0.87
        if crowded && self.outer * 16 <= pushes {
            shape.narrowed()
        } else if crowded && shape.slots < MAX_SLOTS {
            shape.narrowed().with_more_slots()
        } else if self.beyond * 8 > pushes || self.far * 2 > pushes {
            match thin {
                true => shape.widened(),
                false if self.beyond * 8 > pushes => shape.with_more_slots(),
                false => shape,
            }
        } else if lonely {
            shape.widened().with_fewer_slots()
        } else if (self.outer + self.beyond) * 64 < pushes {
            shape.with_fewer_slots()
        } else {
            shape
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: WheelShape = WheelShape { shift: 16, slots: 4096 };

    #[test]
    fn shape_is_kept_if_slots_mostly_hold_one_event() {
        let tally = ShapeStatistics { pops: 1250, opened: 1000, times: 1250, outer: 300, ..ShapeStatistics::default() };
        assert_eq!(tally.choose_shape(SHAPE, 1250), SHAPE);
    }

    #[test]
    fn crowded_slots_are_halved_and_a_used_horizon_is_kept() {
        let near = ShapeStatistics { pops: 2000, opened: 1000, times: 2000, ..ShapeStatistics::default() };
        assert_eq!(near.choose_shape(SHAPE, 2000), WheelShape { shift: 15, slots: 4096 });
        let wide = ShapeStatistics { outer: 1000, ..near };
        assert_eq!(wide.choose_shape(SHAPE, 2000), WheelShape { shift: 15, slots: 8192 });
        let full = WheelShape { shift: 16, slots: MAX_SLOTS };
        assert_eq!(wide.choose_shape(full, 2000), full);
        assert_eq!(near.choose_shape(WheelShape { shift: 0, slots: 4096 }, 2000), WheelShape { shift: 0, slots: 4096 });
    }

    #[test]
    fn simultaneous_events_do_not_narrow_the_slots() {
        let tally =
            ShapeStatistics { pops: 50_000, opened: 1000, times: 1250, outer: 20_000, ..ShapeStatistics::default() };
        assert_eq!(tally.choose_shape(SHAPE, 50_000), SHAPE);
    }

    #[test]
    fn lonely_slots_are_doubled() {
        let tally = ShapeStatistics { pops: 1020, opened: 1000, times: 1020, outer: 500, ..ShapeStatistics::default() };
        assert_eq!(tally.choose_shape(SHAPE, 1020), WheelShape { shift: 17, slots: 2048 });
    }

    #[test]
    fn idle_far_half_of_the_wheel_is_removed() {
        let tally = ShapeStatistics { pops: 1250, opened: 1000, times: 1250, outer: 3, ..ShapeStatistics::default() };
        assert_eq!(tally.choose_shape(SHAPE, 1250), WheelShape { shift: 16, slots: 2048 });
        let least = WheelShape { shift: 16, slots: MIN_SLOTS };
        assert_eq!(tally.choose_shape(least, 1250), least);
    }

    #[test]
    fn events_beyond_the_wheel_make_it_reach_farther() {
        let beyond = ShapeStatistics {
            pops: 1300,
            opened: 1000,
            times: 1300,
            beyond: 500,
            far: 500,
            ..ShapeStatistics::default()
        };
        assert_eq!(beyond.choose_shape(SHAPE, 1300), WheelShape { shift: 16, slots: 8192 });
        let thin = ShapeStatistics { times: 1150, ..beyond };
        assert_eq!(thin.choose_shape(SHAPE, 1300), WheelShape { shift: 17, slots: 4096 });
        let only_far = ShapeStatistics { pops: 1000, far: 1000, ..ShapeStatistics::default() };
        assert_eq!(only_far.choose_shape(SHAPE, 1000), WheelShape { shift: 17, slots: 4096 });
        let widest = WheelShape { shift: MAX_SHIFT, slots: 4096 };
        assert_eq!(only_far.choose_shape(widest, 1000), widest);
    }

    #[test]
    fn a_few_far_timers_change_nothing() {
        let tally = ShapeStatistics {
            pops: 1300,
            opened: 1000,
            times: 1250,
            outer: 300,
            far: 60,
            ..ShapeStatistics::default()
        };
        assert_eq!(tally.choose_shape(SHAPE, 1300), SHAPE);
    }
}
