//! Warnings about parameters of a transport that contradict each other, or have no effect together.

use super::config::{MAX_WINDOW, window_bytes};
use super::kernel::Kernel;
use super::option_values::{CongestionControl, Connection, Priority, Recovery};
use mech::params::Values;
use units::Dur;

/// Returns the warnings about the parameters of a transport; `given` returns true for those written in the scenario.
pub fn parameter_warnings(kind: &str, values: &Values, given: &dyn Fn(&str) -> bool) -> Vec<String> {
    // Every parameter of RoCE has an effect.
    if kind == "roce" {
        return Vec::new();
    }
    let asked = GivenParameters { kernel: Kernel::for_transport(kind), values, given };
    let by_kind = match asked.kernel {
        Kernel::Linux2_6_38 => asked.linux_2_6_38_warnings(),
        Kernel::None | Kernel::Linux6_18 => asked.loss_detection_warnings(),
    };
    let first = [
        asked.timeout_warnings(),
        asked.delayed_ack_warnings(),
        asked.window_warnings(),
        asked.unused_parameter_warnings(),
        by_kind,
    ];
    [
        first.concat(),
        asked.pacing_warnings(),
        asked.pack_warnings(),
        asked.handshake_warnings(),
        asked.tick_warnings(),
        asked.bound_warnings(),
    ]
    .concat()
}

struct GivenParameters<'a> {
    kernel: Kernel,
    values: &'a Values,
    given: &'a dyn Fn(&str) -> bool,
}

impl GivenParameters<'_> {
    fn is_given(&self, name: &str) -> bool {
        (self.given)(name)
    }

    /// Returns true if the transport has the flag parameter `name`, and it is true.
    fn is_on(&self, name: &str) -> bool {
        self.values.has(name) && self.values.flag(name)
    }

    /// Warnings about an `initial_rto` that has no effect, or is outside of `min_rto` and `max_rto`.
    fn timeout_warnings(&self) -> Vec<String> {
        if !self.values.has("initial_rto") || !self.is_on("retransmission_timer") {
            return Vec::new();
        }
        let is_open = self.values.get::<Connection>("connection") == Connection::Established;
        let rtt = self.values.time("handshake_rtt");
        let forgets = self.kernel == Kernel::Linux2_6_38 && !self.is_on("timestamps");
        if is_open && !forgets && (self.kernel.is_linux() || rtt > Dur::ZERO) {
            let why = match self.kernel.is_linux() {
                true => "without connection = \"handshake\", because handshake_rtt and min_rto set the first timeout \
                         of established connections"
                    .into(),
                false => {
                    format!(
                        "with handshake_rtt = {rtt}, because this first sample sets the first timeout of \
                             established connections"
                    )
                }
            };
            let note = || format!("transport.initial_rto has no effect {why}");
            return self.is_given("initial_rto").then(note).into_iter().collect();
        }
        let [initial, min, max] = ["initial_rto", "min_rto", "max_rto"].map(|name| self.values.time(name));
        if initial > max {
            return vec![format!(
                "transport.initial_rto = {initial} is above max_rto, so that max_rto = {max} is used"
            )];
        }
        match self.is_given("initial_rto") {
            true if initial < min => vec![format!(
                "transport.initial_rto = {initial} is below min_rto, so that min_rto \
                                                   = {min} is used"
            )],
            false if initial > min && self.is_given("min_rto") => vec![format!(
                "transport.min_rto = {min} does not change initial_rto, whose default of {initial} is the timeout of a \
                 flow until its first sample of the round-trip time. Set initial_rto as well"
            )],
            _ => Vec::new(),
        }
    }

    /// Warnings about `min_rto` and `max_rto` that are shorter than a tick, or no whole number of ticks.
    fn tick_warnings(&self) -> Vec<String> {
        let values = self.values;
        let ticks = values.has("tick")
            && (self.detects_losses_by_time() || self.is_linux_without_sack() || self.kernel == Kernel::Linux2_6_38);
        if !ticks || !self.is_on("retransmission_timer") || values.time("tick") == Dur::ZERO {
            return Vec::new();
        }
        let [tick, least, most] = ["tick", "min_rto", "max_rto"].map(|name| values.time(name));
        let whole = Dur(least.0.div_ceil(tick.0).saturating_mul(tick.0));
        let mut notes = Vec::new();
        if tick > least && self.is_given("tick") {
            notes.push(format!(
                "transport.tick = {tick} is above min_rto = {least}, so that min_rto is rounded up to \
                                one tick"
            ));
        } else if tick > least && self.is_given("min_rto") {
            // Linux 2.6.38 has no exact timers.
            let other = match self.kernel {
                Kernel::Linux2_6_38 => "set a shorter tick",
                Kernel::None | Kernel::Linux6_18 => "set a shorter tick, or \"0us\" for exact timers",
            };
            notes.push(format!(
                "transport.min_rto = {least} is below the default tick = {tick} and is rounded up to one tick: {other}"
            ));
        }
        if whole > most && ["max_rto", "min_rto", "tick"].into_iter().any(|name| self.is_given(name)) {
            notes.push(format!(
                "transport.max_rto = {most} is below min_rto in whole ticks of {tick}: both become {whole}"
            ));
        }
        notes
    }

    /// Warning about `rto_floor`, which has no effect if all timeouts are equal.
    fn bound_warnings(&self) -> Vec<String> {
        let values = self.values;
        let same = values.has("min_rto") && values.time("min_rto") == values.time("max_rto");
        let note = || {
            "transport.rto_floor has no effect with min_rto = max_rto, because all timeouts are \
                       equal"
                .to_string()
        };
        let told = same && self.is_given("rto_floor") && self.is_on("retransmission_timer");
        told.then(note).into_iter().collect()
    }

    fn delayed_ack_warnings(&self) -> Vec<String> {
        let timeout = self.values.time("delayed_ack_timeout");
        if !self.is_on("delayed_ack") {
            let told = self.is_given("delayed_ack_timeout");
            let note = || format!("transport.delayed_ack_timeout = {timeout} has no effect without delayed_ack = true");
            return told.then(note).into_iter().collect();
        }
        let least = if self.values.has("min_rto") { "min_rto" } else { "rto" };
        let rto = self.values.time(least);
        let note = || {
            format!(
                "transport.delayed_ack_timeout = {timeout} is not below {least} = {rto}. If a flow has an odd number \
                 of segments, the timer of its sender may expire before the last ACK is sent. Reduce \
                 delayed_ack_timeout, or increase {least}"
            )
        };
        let is_late = timeout >= rto && self.is_on("retransmission_timer");
        // Linux 6.18 keeps the delay below min_rto, whatever the parameter says.
        (is_late && self.kernel != Kernel::Linux6_18).then(note).into_iter().collect()
    }

    /// Warnings about congestion windows above the receive window, which limits them.
    fn window_warnings(&self) -> Vec<String> {
        let receive = self.values.size("receive_window").min(MAX_WINDOW);
        let above = |name: &&str| {
            self.is_given(name)
                && self.values.has(name)
                && window_bytes(self.values, name, self.values.size("mss")) > receive
        };
        let found = ["initial_window", "max_window"].into_iter().filter(above);
        found
            .map(|name| {
                format!(
                    "transport.{name} is above receive_window, which limits the window of a \
                                  sender"
                )
            })
            .collect()
    }

    /// Warnings about `handshake_rtt` if the connection's own handshake measures the round-trip time.
    fn handshake_warnings(&self) -> Vec<String> {
        let said = self.is_given("handshake_rtt") && self.values.has("handshake_rtt");
        let shakes = self.values.get::<Connection>("connection") == Connection::Handshake;
        let note =
            || "transport.handshake_rtt has no effect with connection = \"handshake\", which measures it".to_string();
        (said && shakes).then(note).into_iter().collect()
    }

    fn detects_losses_by_time(&self) -> bool {
        let values = self.values;
        values.has("tlp") && (!values.has("recovery") || values.get::<Recovery>("recovery") == Recovery::Rack)
    }

    /// Returns true for a Linux 6.18 sender without SACK, which follows all other rules of its kernel.
    fn is_linux_without_sack(&self) -> bool {
        self.kernel == Kernel::Linux6_18 && self.values.get::<Recovery>("recovery") == Recovery::NewReno
    }

    /// Warnings about parameters that have no effect without, or with, detection of losses by time.
    fn loss_detection_warnings(&self) -> Vec<String> {
        let values = self.values;
        let rack = self.detects_losses_by_time();
        let told = |name: &&str| values.has(name) && self.is_given(name);
        if self.is_linux_without_sack() {
            let silent = ["tlp", "dsack_undo", "timer_slack"];
            let note = |name: &str| format!("transport.{name} has no effect with recovery = \"newreno\"");
            return silent.into_iter().filter(told).map(note).collect();
        }
        if !rack {
            let silent = [
                "tlp",
                "window_in_recovery",
                "frto",
                "eifel",
                "dsack_undo",
                "timer_slack",
                "tick",
                "tso",
                "tso_rtt_log",
                "pacing",
            ];
            let note = |name: &str| format!("transport.{name} has no effect without recovery = \"rack\"");
            return silent.into_iter().filter(told).map(note).collect();
        }
        let found = [
            (
                self.is_on("limited_transmit"),
                "limited_transmit",
                "with recovery = \"rack\", because SACKed bytes do not count as in flight",
            ),
            (
                self.is_given("timeout_flight"),
                "timeout_flight",
                "with recovery = \"rack\", because SACKed bytes never count as in flight",
            ),
            (self.is_given("eifel") && !self.is_on("timestamps"), "eifel", "without timestamps = true"),
        ];
        let silent = found.into_iter().filter(|(is, ..)| *is);
        silent.map(|(_, name, why)| format!("transport.{name} has no effect {why}")).collect()
    }

    /// Warnings about parameters that have no effect on a Linux 2.6.38 host.
    fn linux_2_6_38_warnings(&self) -> Vec<String> {
        let has_stamps = self.is_on("timestamps");
        let found = [
            (
                self.is_on("limited_transmit"),
                "limited_transmit",
                "with this kind, because each SACKed segment allows a new segment anyway",
            ),
            (self.is_given("handshake_rtt") && !has_stamps, "handshake_rtt", "without timestamps = true"),
        ];
        let silent = found.into_iter().filter(|(is, ..)| *is);
        silent.map(|(_, name, why)| format!("transport.{name} has no effect {why}")).collect()
    }

    /// Warnings about parameters of pacing that have no effect, and about an unknown rate at the start.
    fn pacing_warnings(&self) -> Vec<String> {
        let values = self.values;
        if !values.has("pacing") {
            return Vec::new();
        }
        let has = |name: &str| self.detects_losses_by_time() && values.flag(name);
        let reno = values.has("congestion_control")
            && values.get::<CongestionControl>("congestion_control") == CongestionControl::Reno;
        let starts_slowly = self.is_on("hystart") && !reno;
        let mut notes = Vec::new();
        if !has("pacing") && !has("tso") && !starts_slowly {
            let told = ["pacing_ss_ratio", "pacing_ca_ratio"].into_iter().filter(|name| self.is_given(name));
            notes.extend(told.map(|name| format!("transport.{name} has no effect without pacing, tso or hystart")));
        }
        if self.detects_losses_by_time() && !has("tso") && self.is_given("tso_rtt_log") {
            notes.push("transport.tso_rtt_log has no effect without tso = true".to_string());
        }
        let is_open = values.get::<Connection>("connection") == Connection::Established;
        if has("pacing") && is_open && values.time("handshake_rtt") == Dur::ZERO {
            notes.push(
                "transport.pacing has no effect before the first ACK of a flow, because with handshake_rtt = 0us the \
                 rate is unknown until then"
                    .to_string(),
            );
        }
        notes
    }

    /// Warnings about parameters that have no effect without PACKs (precise ACKs), or together with them.
    fn pack_warnings(&self) -> Vec<String> {
        let has_pack = self.is_on("pack");
        let (names, why) = match has_pack {
            true => (&["dupack_threshold", "limited_transmit"][..], "with pack = true"),
            false => (&["pack_dupack_threshold", "pack_reaction"][..], "without pack = true"),
        };
        let more = |name: &str| match name {
            "dupack_threshold" => ", because pack_dupack_threshold is used instead",
            "limited_transmit" => ": SACKed bytes do not count as in flight",
            _ => "",
        };
        let limits =
            self.is_on("limited_transmit") && !self.detects_losses_by_time() && self.kernel != Kernel::Linux2_6_38;
        let told = |name: &&&str| self.is_given(name) && (**name != "limited_transmit" || limits);
        names.iter().filter(told).map(|name| format!("transport.{name} has no effect {why}{}", more(name))).collect()
    }

    /// Parameters that have no effect without a retransmission timer.
    fn parameters_without_timer(&self) -> Vec<&'static str> {
        let by_age = self.kernel == Kernel::Linux2_6_38;
        let mut silent = Vec::new();
        if by_age && self.is_on("fack") {
            // A segment that is older than the timeout begins a recovery even without a timer (`tcp_head_timedout`).
            return vec!["frto"];
        }
        // Delayed ACKs of Linux 6.18 wait for less than `min_rto`, with or without a timer.
        if !(self.kernel == Kernel::Linux6_18 && self.is_on("delayed_ack")) {
            silent.push("min_rto");
        }
        silent.extend(["max_rto", "initial_rto", "rto", "rto_floor", "probe_after", "probe_priority"]);
        if self.detects_losses_by_time() || by_age {
            silent.push("frto");
        }
        // Probes and the reordering timer need a round-trip time as well.
        if !self.detects_losses_by_time() {
            silent.push("handshake_rtt");
        }
        silent
    }

    /// Warnings about parameters of the scenario that have no effect together with the other ones.
    fn unused_parameter_warnings(&self) -> Vec<String> {
        let values = self.values;
        let fixed = !values.has("min_rto");
        let threshold = values.count_or_off("dupack_threshold");
        let no_probes = values.has("probe_after") && values.count_or_off("probe_after").is_none();
        let reno = values.has("hystart")
            && values.has("congestion_control")
            && values.get::<CongestionControl>("congestion_control") == CongestionControl::Reno;
        let found = [
            (reno && self.is_given("hystart"), "hystart", "with congestion_control = \"reno\""),
            (reno && self.is_given("fast_convergence"), "fast_convergence", "with congestion_control = \"reno\""),
            (
                self.is_on("limited_transmit") && threshold.is_none_or(|n| n == 1),
                "limited_transmit",
                "with this dupack_threshold, because the first duplicate ACK already shows a loss",
            ),
            (
                self.is_given("clock_granularity") && fixed && !self.is_on("timestamps"),
                "clock_granularity",
                "without timestamps = true, because the timeout is fixed",
            ),
            (
                self.is_on("limited_transmit") && self.is_on("sack_opens_window"),
                "limited_transmit",
                "with sack_opens_window = true, because SACKed bytes free window space immediately",
            ),
            (
                self.is_on("window_less_out_of_order") && values.size("receive_window") >= MAX_WINDOW,
                "window_less_out_of_order",
                "with a receive_window as large as this",
            ),
            (
                self.is_given("quick_acks") && self.is_on("quick_acks") && !self.is_on("delayed_ack"),
                "quick_acks",
                "without delayed_ack = true, because no ACK is delayed",
            ),
            (
                self.is_on("tail_on_ack") && !self.is_on("nagle"),
                "tail_on_ack",
                "without nagle = true, because short segments are not delayed",
            ),
            (self.is_given("probe_priority") && no_probes, "probe_priority", "with probe_after = \"off\""),
            (
                self.is_given("probe_priority") && values.get::<Priority>("priority") == Priority::None,
                "probe_priority",
                "with priority = \"none\", because the rank of all packets is 0",
            ),
        ];
        let silent = found.into_iter().filter(|(is, ..)| *is);
        let mut notes: Vec<String> =
            silent.map(|(_, name, why)| format!("transport.{name} has no effect {why}")).collect();
        if !self.is_on("retransmission_timer") {
            let told: Vec<&str> =
                self.parameters_without_timer().into_iter().filter(|name| self.is_given(name)).collect();
            if !told.is_empty() {
                let told = told.join(", ");
                notes.push(format!("transport.retransmission_timer = false also disables {told}"));
            }
        }
        notes
    }
}
