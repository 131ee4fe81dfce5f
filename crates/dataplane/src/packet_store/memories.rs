//! Contents of a node's two kinds of memory: the buffers of output ports, and the memories of inputs.

use super::{PacketStore, may_join_output, memory_use};
use crate::inputs::{Inputs, StuckBytes};
use crate::port::QueueAt;
use mech::{ClassSet, Fill, Lane, PortId, QueueId};

/// Frame in a memory of this node; congestion messages are left out.
pub(crate) struct SampledFrame {
    /// Queue that the frame waits in, or is to join.
    pub(crate) at: QueueAt,
    /// Memory slot of the frame: its index in the node's arena.
    pub(crate) slot: u32,
    /// True if the frame is in the memory of its input and not in a buffer.
    pub(crate) at_input: bool,
}

impl PacketStore {
    /// Returns the bytes of a class in the buffer of a port.
    pub(crate) fn buffered_bytes(&self, port: PortId, class: u8) -> u64 {
        let own = &self.ports[usize::from(port.0)];
        if own.computed {
            // A port with computed departures has one class and one queue.
            return if class == 0 { own.queued_total().1 } else { 0 };
        }
        let queues = Lane::PAUSED.map(|lane| QueueAt { port, queue: QueueId::new(class, lane) });
        let cut = |at| self.cutting.as_ref().map_or(0, |cutting| cutting.backlog(at).1);
        queues.into_iter().map(|at| own.backlog(at.queue).1 + cut(at)).sum()
    }

    /// Returns the used part and the limit of a port's buffer, without congestion messages.
    pub(crate) fn output_fill(&self, port: PortId) -> Fill {
        let own = &self.ports[usize::from(port.0)];
        if let Some(pools) = &self.pools {
            // The queue that is the nearest to its limit limits the port.
            let fills = (0..8).map(|number| pools.queue_fill(port, number));
            let free = |fill: &Fill| fill.limit.unwrap_or(u64::MAX).saturating_sub(fill.used);
            return fills.min_by_key(free).unwrap_or(Fill { used: 0, limit: None });
        }
        if self.pool.on {
            return self.buffer.peek().fill(&self.usage(own));
        }
        let (all, elsewhere) = (
            own.queued_without_notices(),
            self.inputs.as_ref().map_or((0, 0), |inputs| inputs.data_waiting_for_output(port)),
        );
        self.buffer.peek().fill(&memory_use((all.0 - elsewhere.0, all.1 - elsewhere.1)))
    }

    /// Returns the bytes that stay in the memory of inputs forever if ports never send the classes `stuck` again.
    pub(crate) fn stuck_bytes_at_inputs(&self, stuck: &[ClassSet]) -> Vec<StuckBytes> {
        let Some(inputs) = &self.inputs else { return Vec::new() };
        inputs.stuck_bytes(&self.arena, &|to, size| {
            self.fits_beside_stuck_frames(inputs, stuck[usize::from(to.port.0)], to, size)
        })
    }

    /// Returns true if a frame fits a queue of its output once only frames of the classes `stuck` are left there.
    ///
    /// All classes share the buffer: frames that stay in it, or hold space in it already, keep out what does not fit
    /// beside them. Congestion messages are never paused.
    fn fits_beside_stuck_frames(&self, inputs: &Inputs, stuck: ClassSet, to: QueueAt, size: u16) -> bool {
        let (lane, port) = (to.queue.lane(), &self.ports[usize::from(to.port.0)]);
        let counts = |own: &u8| stuck.has(*own) && (lane == Lane::Normal || *own == to.queue.class());
        let there = (0..8).filter(counts).map(|own| {
            let queue = QueueId::new(own, lane);
            let ((packets, bytes), comes) = (port.backlog(queue), inputs.incoming_bytes(QueueAt { queue, ..to }));
            (packets + u32::from(comes > 0), bytes + u64::from(comes))
        });
        let used = memory_use(there.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1)));
        !Lane::PAUSED.contains(&lane) || may_join_output(&self.buffer, &self.lanes, (to.queue, &used), size)
    }

    /// Returns all frames that agents may sample.
    pub(crate) fn sampled_frames(&self) -> Vec<SampledFrame> {
        let mut all = Vec::new();
        for (port, own) in (0..).map(PortId).zip(&self.ports) {
            let queues = (0..).map(QueueId).zip(&own.rest.queues).filter(|(queue, _)| queue.lane() != Lane::Notice);
            for (queue, frames) in queues {
                let here = |slot| SampledFrame { at: QueueAt { port, queue }, slot, at_input: false };
                all.extend(self.arena.ids(frames).map(here));
            }
        }
        let cut = self.cutting.iter().flat_map(|cutting| cutting.headers_for_queues());
        all.extend(cut.map(|(at, slot)| SampledFrame { at, slot, at_input: false }));
        let at_inputs = self.inputs.iter().flat_map(|inputs| inputs.stored_frames(&self.arena));
        all.extend(at_inputs.map(|(at, slot)| SampledFrame { at, slot, at_input: true }));
        all
    }
}
