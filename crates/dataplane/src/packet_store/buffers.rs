//! What lies in the buffers of ports, and what at inputs, where these are two memories.

use super::{PacketStore, joins, uses};
use crate::port::QueueAt;
use mech::{ClassSet, Fill, Lane, PortId, QueueId};

/// A frame that lies here, not of a message about congestion.
pub(crate) struct Lying {
    /// The queue that it waits in, or is to join.
    pub(crate) at: QueueAt,
    /// Where it lies in the arena.
    pub(crate) slot: u32,
    /// It is in the memory of its input and not in a buffer.
    pub(crate) at_input: bool,
}

impl PacketStore {
    /// Bytes of a class in the buffer of a port.
    pub(crate) fn in_buffer(&self, port: PortId, class: u8) -> u64 {
        let own = &self.ports[usize::from(port.0)];
        if own.computed {
            // One class and one queue.
            return if class == 0 { own.all().1 } else { 0 };
        }
        let queues = Lane::PAUSED.map(|lane| QueueAt { port, queue: QueueId::new(class, lane) });
        let cut = |at| self.cutting.as_ref().map_or(0, |cutting| cutting.backlog(at).1);
        queues.into_iter().map(|at| own.backlog(at.queue).1 + cut(at)).sum()
    }

    /// How full the buffer of a port is, messages about congestion not counted.
    pub(crate) fn output_fill(&self, port: PortId) -> Fill {
        let own = &self.ports[usize::from(port.0)];
        if self.pool.on {
            return self.buffer.peek().fill(&self.usage(own));
        }
        let (all, elsewhere) = (own.counted(), self.inputs.as_ref().map_or((0, 0), |inputs| inputs.counted_for(port)));
        self.buffer.peek().fill(&uses((all.0 - elsewhere.0, all.1 - elsewhere.1)))
    }

    /// Bytes of a class that never leave the memory of inputs while these may not leave by an output, by input. The buffer
    /// there is of all classes: those that stay in it, or have their room in it already, keep out what does not fit
    /// beside them, and all that is behind it.
    pub(crate) fn stays_at_inputs(&self, output: PortId, class: u8, stuck: ClassSet) -> Vec<u64> {
        let (Some(inputs), port) = (&self.inputs, &self.ports[usize::from(output.0)]) else { return Vec::new() };
        // What stays there hangs on all that lies inside: nothing is claimed.
        if inputs.stages.is_some() {
            return Vec::new();
        }
        let mut stays = vec![0; self.ports.len()];
        for lane in Lane::PAUSED {
            let counts = |own: &u8| stuck.has(*own) && (lane == Lane::Normal || *own == class);
            let there = (0..8).filter(counts).map(|own| {
                let queue = QueueId::new(own, lane);
                let ((packets, bytes), crosses) = (port.backlog(queue), inputs.crossing(output, queue));
                (packets + u32::from(crosses > 0), bytes + u64::from(crosses))
            });
            let used = uses(there.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1)));
            let to = QueueAt { port: output, queue: QueueId::new(class, lane) };
            let fits = |size| joins(&self.buffer, &self.lanes, (to.queue, &used), size);
            let blocked = inputs.blocked(to, &self.arena, fits);
            stays.iter_mut().zip(blocked).for_each(|(sum, bytes)| *sum += bytes);
        }
        stays
    }

    /// All frames that agents may sample.
    pub(crate) fn lying(&self) -> Vec<Lying> {
        let mut all = Vec::new();
        for (port, own) in (0..).map(PortId).zip(&self.ports) {
            let queues = (0..).map(QueueId).zip(&own.rest.queues).filter(|(queue, _)| queue.lane() != Lane::Notice);
            for (queue, frames) in queues {
                let here = |slot| Lying { at: QueueAt { port, queue }, slot, at_input: false };
                all.extend(self.arena.ids(frames).map(here));
            }
        }
        let cut = self.cutting.iter().flat_map(|cutting| cutting.to_queues());
        all.extend(cut.map(|(at, slot)| Lying { at, slot, at_input: false }));
        let at_inputs = self.inputs.iter().flat_map(|inputs| inputs.slots(&self.arena));
        all.extend(at_inputs.map(|(at, slot)| Lying { at, slot, at_input: true }));
        all
    }
}
