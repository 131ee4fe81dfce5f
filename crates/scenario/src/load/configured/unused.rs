//! Notes about HPCC's configuration file: settings that it made, and settings that have no effect.

use super::Overlay;
use super::hosts::DCQCN;
use crate::load::tree::Node;
use crate::model::Choice;
use crate::settings::ROCE;
use crate::topology::Setting;

/// Keys of the file that a table of the scenario replaces.
const REPLACED: [(&str, &[&str]); 5] = [
    ("switch.marking", &["ENABLE_QCN", "KMIN_MAP", "KMAX_MAP", "PMAX_MAP"]),
    ("switch.pause", &["ENABLE_PFC"]),
    ("switch.buffer", &["BUFFER_SIZE"]),
    ("transport", &["CC_MODE", "PACKET_PAYLOAD_SIZE"]),
    ("host.reaction", &["RATE_AI", "RATE_HAI", "RP_TIMER", "EWMA_GAIN"]),
];
/// Settings of hosts with which a key of the file matters.
#[derive(Clone, Copy)]
enum Beside {
    Anything,
    Roce,
    Dcqcn,
}
/// Key that Overspill cannot express, test for values that matter, settings of hosts with which it does, and the
/// reason.
type WithoutEffect = (&'static str, fn(f64) -> bool, Beside, &'static str);
/// Keys that have no effect in Overspill.
const WITHOUT_EFFECT: [WithoutEffect; 7] = [
    ("USE_DYNAMIC_PFC_THRESHOLD", is_off, Beside::Anything, "it has no effect in that simulator either"),
    ("HAS_WIN", is_on, Beside::Roce, "`roce` has no window"),
    ("RATE_BOUND", is_off, Beside::Roce, "flows are always rate-limited"),
    ("L2_ACK_INTERVAL", |bytes| bytes != 1.0, Beside::Roce, "`roce` acknowledges each packet"),
    ("L2_BACK_TO_ZERO", is_on, Beside::Roce, "`roce` goes back to the lost packet"),
    ("CLAMP_TARGET_RATE", is_off, Beside::Dcqcn, "each cut clamps the target rate"),
    ("ACK_HIGH_PRIO", is_on, Beside::Anything, "ACKs have the class of their data"),
];
/// Largest number of unknown keys that a note names.
const MOST_NAMED: usize = 5;

impl Overlay<'_> {
    /// Returns the notes for the user, each once.
    pub(super) fn notes(&self, made: &Choice) -> Vec<String> {
        let path = &self.config.path;
        let set = (!self.set.is_empty()).then(|| format!("`{path}` sets {}", self.set.join(", ")));
        let all =
            [set, self.replaced(), self.unused(), self.commented(), self.other_topology(made), self.other_flows()];
        all.into_iter().flatten().collect()
    }

    /// Returns a note about keys whose table the scenario sets itself.
    fn replaced(&self) -> Option<String> {
        let given = |key: &&str| self.config.get(key).is_some();
        let here = REPLACED.iter().filter(|(table, _)| self.own.contains(table));
        let keys: Vec<&str> = here.flat_map(|(_, keys)| keys.iter().copied().filter(|key| given(key))).collect();
        let tables: Vec<String> = self.own.iter().map(|table| format!("`{table}`")).collect();
        (!keys.is_empty()).then(|| {
            let path = &self.config.path;
            format!(
                "`{path}`: these keys have no effect, because the scenario sets {}: {}",
                tables.join(", "),
                keys.join(", ")
            )
        })
    }

    /// Returns a note about keys that Overspill cannot express.
    fn unused(&self) -> Option<String> {
        let config = self.config;
        let mut found = self.ruled_out.clone();
        let mode = config.number_or("CC_MODE", DCQCN);
        if mode != DCQCN && !self.own.contains(&"transport") {
            found.push(format!("CC_MODE {mode} ({} is not modelled: set `transport`)", mode_name(mode)));
        }
        let (is_roce, has_dcqcn) = (self.is_roce(), self.has_dcqcn);
        for (key, has_effect, beside, why) in WITHOUT_EFFECT {
            let applies = match beside {
                Beside::Anything => true,
                Beside::Roce => is_roce,
                Beside::Dcqcn => has_dcqcn,
            };
            let value = config.number(key).filter(|value| applies && has_effect(*value));
            found.extend(value.map(|value| format!("{key} {value} ({why})")));
        }
        let hyper = config.rate("RATE_HAI").filter(|_| has_dcqcn);
        found.extend(hyper.map(|rate| format!("RATE_HAI {rate} (no hyper increase without a byte counter)")));
        if let Some(Setting::Numbers(all)) = config.get("LINK_DOWN")
            && let [time, a, b] = all[..]
            && time > 0.0
        {
            found.push(format!(
                "LINK_DOWN (write an `[[event]]` of kind `link_down` for `{a}:{b}`, {time} us after flows start)"
            ));
        }
        let (names, count) = &config.unknown;
        if *count > 0 {
            let more = if *count > MOST_NAMED { format!(" and {} more", count - MOST_NAMED) } else { String::new() };
            let named: Vec<&str> = names.iter().take(MOST_NAMED).map(String::as_str).collect();
            found.push(format!("unknown keys {}{more}", named.join(", ")));
        }
        (!found.is_empty()).then(|| {
            format!(
                "`{}` has settings that have no effect in Overspill, so results may differ from those of the HPCC simulator: {}",
                config.path,
                found.join("; ")
            )
        })
    }

    fn commented(&self) -> Option<String> {
        let (line, key) = self.config.commented?;
        let path = &self.config.path;
        Some(format!(
            "`{path}`, line {line}: {key} after `#` is a comment in Overspill, but the HPCC simulator reads it. Delete the line so \
             that both use the same settings"
        ))
    }

    /// Returns a note if the file names another topology than the scenario.
    fn other_topology(&self, made: &Choice) -> Option<String> {
        let (there, here) = (self.config.text("TOPOLOGY_FILE")?, made.values.word("file"));
        (name_of(there) != name_of(here)).then(|| {
            let path = &self.config.path;
            format!("`{path}` names the topology `{there}`, and the scenario reads `{here}`: its settings may be for another network")
        })
    }

    /// Returns a note if the file names other flows than the scenario's file of flows.
    fn other_flows(&self) -> Option<String> {
        let there = self.config.text("FLOW_FILE")?;
        let traffic = self.document.get("traffic").map_or(&[][..], Node::items);
        let of_kind = traffic.iter().filter(|one| one.get("kind").and_then(Node::text) == Some("hpcc"));
        let files: Vec<&str> = of_kind.filter_map(|one| one.get("file")?.text()).collect();
        let first = files.first()?;
        files.iter().all(|here| name_of(here) != name_of(there)).then(|| {
            let path = &self.config.path;
            format!("`{path}` names the flows `{there}`, and the scenario reads `{first}`")
        })
    }

    fn kind_of(&self, key: &str) -> Option<&str> {
        key.split('.').try_fold(&self.document, |node, key| node.get(key))?.get("kind")?.text()
    }
    fn is_roce(&self) -> bool {
        self.kind_of("transport") == Some(ROCE)
    }
}

fn is_on(value: f64) -> bool {
    value != 0.0
}

fn is_off(value: f64) -> bool {
    value == 0.0
}

/// Returns the usual name of the congestion control of a `CC_MODE`.
fn mode_name(mode: f64) -> &'static str {
    match mode as u64 {
        3 => "HPCC",
        7 => "TIMELY",
        8 => "rate-based DCTCP",
        10 => "HPCC-PINT",
        _ => "it",
    }
}

/// Returns the name of a file without its folders.
fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
