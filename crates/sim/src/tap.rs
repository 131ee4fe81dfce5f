//! Taps, which see every frame that crosses a link.

use dataplane::{PacketExtension, Pkt};
use units::Time;

/// Frame whose last bit has reached the far end of a link. Lost frames never do.
#[derive(Clone, Copy, Debug)]
pub struct CrossedFrame<'a> {
    /// Instant of the last bit.
    pub at: Time,
    /// Number of the link: that of the port that sent the frame, counted over the whole network.
    pub link: u32,
    /// Packet in the state in which the far end receives it.
    pub pkt: &'a Pkt,
    /// TCP options of the packet.
    pub ext: Option<&'a PacketExtension>,
    /// Payload bytes of the whole flow; 0 for raw flows.
    pub flow_bytes: u64,
}

/// Tap that is called for frames on all links. `()` is called for none and compiles to nothing.
///
/// ```
/// use sim::{CrossedFrame, Options, Tap, build_with_tap};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// # const TEXT: &str = r#"
/// #     name = "one"
/// #     duration = "1ms"
/// #     transport.kind = "newreno"
/// #     topology = { kind = "star", n = 2, link = { rate = "1Gbps", delay = "1us" } }
/// #     [[traffic]]
/// #     name = "flow"
/// #     kind = "incast"
/// #     senders = 1
/// #     receiver = "h0"
/// #     size = "1000B"
/// # "#;
///
/// /// Number of frames with payload that have crossed any link.
/// #[derive(Clone, Default)]
/// struct DataFrames(Arc<AtomicU32>);
///
/// impl Tap for DataFrames {
///     fn on_frame_crossed(&mut self, crossed: &CrossedFrame<'_>) {
///         self.0.fetch_add(u32::from(crossed.pkt.payload > 0), Ordering::Relaxed);
///     }
/// }
///
/// // `TEXT` is a scenario with one flow of 1000 B over a switch.
/// let loaded = scenario::load(&scenario::Source::new("one.toml", TEXT, "".as_ref()), &[]).expect("it is valid");
/// let frames = DataFrames::default();
/// let mut world = build_with_tap(&loaded.variants[0], loaded.seed, Options::default(), (), frames.clone())?;
/// world.run();
/// assert_eq!(frames.0.load(Ordering::Relaxed), 2, "one packet crosses two links");
/// # Ok::<(), sim::BuildError>(())
/// ```
pub trait Tap: Clone + Send {
    /// True if the run calls [`Tap::on_frame_crossed`].
    const IS_ENABLED: bool = true;
    /// Receives a frame that has crossed a link.
    fn on_frame_crossed(&mut self, crossed: &CrossedFrame<'_>);
}

impl Tap for () {
    const IS_ENABLED: bool = false;
    fn on_frame_crossed(&mut self, _crossed: &CrossedFrame<'_>) {}
}
