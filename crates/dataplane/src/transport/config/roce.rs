//! RoCEv2 as a transport: established reliable connections that send at the rate that their NIC sets.

use super::{
    CongestionKind, EcnMode, MAX_MSS, MAX_WINDOW, PacingChoices, RackChoices, Recovery, TcpConfig, scaled_window,
};
use crate::Framing;
use crate::transport::kernel::Kernel;
use crate::transport::option_values::RtoFloor;
use mech::Head;
use mech::params::Values;
use units::Dur;

/// Upper limit of RoCE's parameters `header` and `ack_size`, in bytes.
const MAX_HEADER_BYTES: u64 = 512;

pub(super) fn roce_config(values: &Values, framing: Framing) -> TcpConfig {
    let mss = values.size("mss").clamp(1, MAX_MSS) as u16;
    let header = values.size("header").min(MAX_HEADER_BYTES) as u16;
    let rto = values.time("rto");
    let (receive_window, window_shift) = scaled_window(MAX_WINDOW);
    TcpConfig {
        law: CongestionKind::NicRate,
        recovery: Recovery::NewReno,
        ecn: if values.flag("ecn") { EcnMode::ByNic } else { EcnMode::Off },
        framing,
        mss,
        ttl: values.count_or_off("ttl").map_or(0, |n| n.clamp(1, 255) as u8),
        window_shift,
        tos: Head::NOT_TRIMMABLE,
        ack_ecn: 0,
        options: header.saturating_sub(framing.header),
        ack_size: values.size("ack_size").min(MAX_HEADER_BYTES) as u16,
        go_back_n: true,
        limited_transmit: false,
        timestamps: false,
        nagle: false,
        restart_after_idle: false,
        kernel: Kernel::None,
        fast_convergence: false,
        hystart: false,
        tail_on_ack: false,
        short_segments: false,
        quick_acks: 0,
        retransmission_timer: true,
        window_less_out_of_order: false,
        handshake: false,
        by_remaining: false,
        sack_opens_window: false,
        timeout_halves_pipe: false,
        probes_as_data: false,
        probe_after: u32::MAX,
        // Windows never limit a flow: the rate that the NIC sets does.
        max_window: MAX_WINDOW as u32,
        initial_window: MAX_WINDOW as u32,
        initial_ssthresh: MAX_WINDOW as u32,
        receive_window,
        peer_window: receive_window,
        peer_shift: window_shift,
        dupack_threshold: None,
        g: 0,
        initial_alpha: 0,
        initial_rto: rto,
        min_rto: rto,
        max_rto: rto,
        tick: Dur::ZERO,
        handshake_rtt: Dur::ZERO,
        seed: 0,
        granularity: Dur::us(1),
        delayed_ack: None,
        rto_floor: RtoFloor::Sum,
        rack: RackChoices::default(),
        keeps_metrics: false,
        pacing: PacingChoices::new(values, false),
        pack: None,
        bounce_signal: None,
    }
}

/// Returns the RoCE parameter that makes a frame too small, with its minimum ([`TcpConfig::undersized_frame`]).
pub(super) fn undersized_roce_frame(values: &Values, framing: &Framing) -> Option<(&'static str, u64)> {
    let header = u64::from(framing.header);
    let least = [("header", header), ("ack_size", header + u64::from(framing.link))];
    least.into_iter().find(|(name, least)| values.size(name) < *least)
}

/// Checks that RoCE's `header` and `ack_size` are at most 512 B ([`TcpConfig::check`]).
pub(super) fn check_roce(values: &Values) -> Result<(), (&'static str, &'static str)> {
    for name in ["header", "ack_size"] {
        if values.size(name) > MAX_HEADER_BYTES {
            return Err((name, "must be at most 512B"));
        }
    }
    Ok(())
}
