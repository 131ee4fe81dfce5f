//! Options that both ends offer when a connection opens (RFC 9293 §3.5).

use super::TcpConfig;
use crate::{PacketExtension, SynOptions, Timestamps};

/// Returns the TCP options of a SYN.
/// The scale is offered even if it is 0 (RFC 7323 §2.2). The largest segment includes options, whose bytes its sender
/// subtracts again (RFC 6691 §2).
pub(super) fn syn_options(cfg: &TcpConfig, timestamps: Timestamps) -> PacketExtension {
    let syn = SynOptions {
        mss: cfg.mss + cfg.data_option_bytes(),
        window_scale: Some(cfg.window_shift),
        sack_permitted: cfg.recovery.has_sack(),
        pack_permitted: cfg.pack.is_some(),
    };
    PacketExtension { syn: Some(syn), timestamps: cfg.timestamps.then_some(timestamps), ..PacketExtension::default() }
}

impl TcpConfig {
    /// Bytes of options in the SYN of a handshake, and in its reply; `None` for established connections.
    pub fn syn_option_bytes(&self) -> Option<u16> {
        self.handshake.then(|| syn_options(self, Timestamps::default()).option_bytes())
    }
    /// Window field of a SYN and of its reply, which is never scaled (RFC 7323 §2.2).
    pub(super) fn syn_window(&self) -> u16 {
        self.receive_window.min(65_535) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::pair::config;
    use mech::params::Value;

    #[test]
    fn syn_offers_options_of_transport() {
        let bytes = |kind: &str, stamps: bool| {
            let set = [("connection", Value::Word("handshake".into())), ("timestamps", Value::Flag(stamps))];
            config(kind, &set).syn_option_bytes()
        };
        assert_eq!([bytes("reno", false), bytes("sack", false)], [Some(8), Some(12)]);
        assert_eq!([bytes("reno", true), bytes("sack", true)], [Some(20), Some(20)]);
        assert_eq!(config("sack", &[]).syn_option_bytes(), None);
    }
}
