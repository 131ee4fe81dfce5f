//! Marking mechanisms of a node, one for each queue: port and class.
//!
//! Lanes of a class share a mechanism. If one class is in use, a port has one mechanism. If several are, each class has
//! its own average and random numbers, so that frames of one class do not change the marks of another.

use crate::port::QueueAt;
use mech::Stream;
use mech::marking::{Marking, MarkingSlot};

/// Marking mechanisms of a node's queues, each with its random stream.
#[derive(Clone)]
pub(super) struct QueueMarking {
    lowest_class: u8,
    /// Number of classes from the lowest to the highest in use.
    classes: u8,
    /// Mechanisms by port and class.
    queues: Vec<(MarkingSlot, Stream)>,
}

impl QueueMarking {
    /// Creates the marking of a node that has no ports yet.
    pub(super) fn new(lowest_class: u8, top_class: u8) -> QueueMarking {
        QueueMarking { lowest_class, classes: top_class.saturating_sub(lowest_class) + 1, queues: Vec::new() }
    }
    /// Adds the mechanism of the next port, with a random stream for each class, numbered from the lowest class.
    pub(super) fn add_port(&mut self, slot: MarkingSlot, stream: impl Fn(u8) -> Stream) {
        self.queues.extend((0..self.classes).map(|class| (slot.clone(), stream(class))));
    }
    /// Returns the mechanism and the stream of a queue; `None` if it never marks.
    #[inline]
    pub(super) fn get_if_active(&mut self, at: QueueAt) -> Option<(&mut dyn Marking, &mut Stream)> {
        // Mechanisms may choose queues of classes below those of the scenario; these share the lowest state.
        let class = at.queue.class().saturating_sub(self.lowest_class);
        let index = usize::from(at.port.0) * usize::from(self.classes) + usize::from(class);
        let (slot, stream) = &mut self.queues[index];
        Some((slot.get_if_active()?, stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mech::marking::EcnThreshold;
    use mech::params::{Value, Values};
    use mech::{PortId, QueueId, StreamPurpose};
    use units::Amount;

    /// Creates the marking of two ports, and returns the next random number of the stream of each class at port 1.
    fn draws_of_classes(lowest: u8, top: u8) -> Vec<u32> {
        let values = Values([("k".to_string(), Value::Amount(Amount::Packets(5)))].into());
        let mut marking = QueueMarking::new(lowest, top);
        for port in 0..2 {
            let slot = MarkingSlot::from(EcnThreshold::new(&values));
            marking.add_port(slot, |class| Stream::new(7, 3, StreamPurpose::Marking(port, class)));
        }
        let mut draw = |class: u8| {
            let at = QueueAt { port: PortId(1), queue: QueueId::normal(class) };
            marking.clone().get_if_active(at).expect("an active mechanism").1.u32()
        };
        (0..=top).map(&mut draw).collect()
    }
    fn draw(class: u8) -> u32 {
        Stream::new(7, 3, StreamPurpose::Marking(1, class)).u32()
    }

    #[test]
    fn single_class_has_the_stream_of_the_port_whatever_its_number() {
        assert_eq!(draws_of_classes(0, 0), [draw(0)]);
        assert_eq!(draws_of_classes(3, 3), [draw(0); 4], "classes below share the lowest state");
    }

    #[test]
    fn each_of_several_classes_has_its_own_stream() {
        assert_eq!(draws_of_classes(0, 2), [draw(0), draw(1), draw(2)]);
        assert_eq!(draws_of_classes(1, 3), [draw(0), draw(0), draw(1), draw(2)]);
    }
}
