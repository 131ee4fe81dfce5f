//! Who sees every frame that crosses a link.

use dataplane::{Ext, Pkt};
use units::Time;

/// A frame whose last bit has reached the far end of a link. Lost packets never do.
#[derive(Clone, Copy, Debug)]
pub struct Crossed<'a> {
    /// When.
    pub at: Time,
    /// The port that it left by, counted over the whole network.
    pub link: u32,
    /// The packet, as it is received.
    pub pkt: &'a Pkt,
    /// Its TCP options.
    pub ext: Option<&'a Ext>,
    /// Payload bytes of its whole flow; 0 for raw flows.
    pub flow_bytes: u64,
}

/// A tap on links. `()` sees nothing and compiles to nothing.
pub trait Tap: Clone + Send {
    /// Whether [`Tap::crossed`] is called at all.
    const LISTENS: bool = true;
    /// A frame has crossed a link.
    fn crossed(&mut self, crossed: &Crossed<'_>);
}

impl Tap for () {
    const LISTENS: bool = false;
    fn crossed(&mut self, _crossed: &Crossed<'_>) {}
}
