//! Notes about HPCC's configuration file: settings that take effect, and settings that have no effect.

use super::ConfigurationOverlay;
use super::hosts::CC_MODE_DCQCN;
use crate::diag::format_no_effect;
use crate::load::tree::Node;
use crate::model::Choice;
use crate::settings::ROCE_KIND;
use crate::topology::Setting;

/// Keys of the file that a table of the scenario replaces.
const KEYS_BY_TABLE: [(&str, &[&str]); 5] = [
    ("switch.marking", &["ENABLE_QCN", "KMIN_MAP", "KMAX_MAP", "PMAX_MAP"]),
    ("switch.pause", &["ENABLE_PFC"]),
    ("switch.buffer", &["BUFFER_SIZE"]),
    ("transport", &["CC_MODE", "PACKET_PAYLOAD_SIZE"]),
    ("host.reaction", &["RATE_AI", "RATE_HAI", "RP_TIMER", "EWMA_GAIN"]),
];
/// Condition on hosts under which a key of the file matters: any hosts, hosts with RoCE, or hosts with DCQCN.
#[derive(Clone, Copy)]
enum HostCondition {
    Any,
    Roce,
    Dcqcn,
}
/// Key of the file that Overspill ignores: its name, a test for values that matter, the condition on hosts under which
/// they matter, and the reason.
type IneffectiveKey = (&'static str, fn(f64) -> bool, HostCondition, &'static str);
/// Keys that have no effect in Overspill.
const INEFFECTIVE_KEYS: [IneffectiveKey; 7] = [
    ("USE_DYNAMIC_PFC_THRESHOLD", is_off, HostCondition::Any, "the HPCC simulator ignores this key too"),
    ("HAS_WIN", is_on, HostCondition::Roce, "the transport `roce` has no window"),
    ("RATE_BOUND", is_off, HostCondition::Roce, "flows of the transport `roce` are always rate-limited"),
    ("L2_ACK_INTERVAL", |bytes| bytes != 1.0, HostCondition::Roce, "the transport `roce` acknowledges each packet"),
    ("L2_BACK_TO_ZERO", is_on, HostCondition::Roce, "the transport `roce` goes back only to the lost packet"),
    ("CLAMP_TARGET_RATE", is_off, HostCondition::Dcqcn, "each rate cut of `dcqcn` clamps the target rate"),
    ("ACK_HIGH_PRIO", is_on, HostCondition::Any, "ACKs always have the class of their data"),
];
/// Largest number of unknown keys that a note names.
const MAX_LISTED_KEYS: usize = 5;

impl ConfigurationOverlay<'_> {
    /// Returns the notes about the configuration file for the user, each once.
    pub(super) fn list_notes(&self, made: &Choice) -> Vec<String> {
        let path = &self.config.path;
        let set = (!self.set.is_empty()).then(|| format!("`{path}` sets {}", self.set.join(", ")));
        let all = [
            set,
            self.note_replaced_keys(),
            self.note_ineffective_keys(),
            self.note_commented_keys(),
            self.note_other_topology(made),
            self.note_other_flows(),
        ];
        all.into_iter().flatten().collect()
    }

    /// Returns a note about keys whose table the scenario sets itself.
    fn note_replaced_keys(&self) -> Option<String> {
        let given = |key: &&str| self.config.get(key).is_some();
        let here = KEYS_BY_TABLE.iter().filter(|(table, _)| self.tables_set_by_scenario.contains(table));
        let keys: Vec<&str> = here.flat_map(|(_, keys)| keys.iter().copied().filter(|key| given(key))).collect();
        let tables: Vec<String> = self.tables_set_by_scenario.iter().map(|table| format!("`{table}`")).collect();
        (!keys.is_empty()).then(|| {
            let path = &self.config.path;
            format!("`{path}`: {}, because the scenario sets {}", format_no_effect(&keys), tables.join(", "))
        })
    }

    /// Returns a note about keys of the file whose effect Overspill does not model.
    fn note_ineffective_keys(&self) -> Option<String> {
        let config = self.config;
        let mut found = self.ruled_out.clone();
        let mode = config.number_or("CC_MODE", CC_MODE_DCQCN);
        if mode != CC_MODE_DCQCN && !self.tables_set_by_scenario.contains(&"transport") {
            found.push(format!("CC_MODE {mode} ({} is not modelled; set another `transport`)", cc_mode_name(mode)));
        }
        let (is_roce, has_dcqcn) = (self.is_roce(), self.has_dcqcn);
        for (key, has_effect, beside, why) in INEFFECTIVE_KEYS {
            let applies = match beside {
                HostCondition::Any => true,
                HostCondition::Roce => is_roce,
                HostCondition::Dcqcn => has_dcqcn,
            };
            let value = config.number(key).filter(|value| applies && has_effect(*value));
            found.extend(value.map(|value| format!("{key} {value} ({why})")));
        }
        let hyper = config.rate("RATE_HAI").filter(|_| has_dcqcn);
        found.extend(hyper.map(|rate| {
            format!(
                "RATE_HAI {rate} (`dcqcn` without a byte counter has no hyper \
                                               increase)"
            )
        }));
        if let Some(Setting::Numbers(all)) = config.get("LINK_DOWN") {
            if let Some([time, a, b]) = <[f64; 3]>::try_from(&all[..]).ok().filter(|[time, ..]| *time > 0.0) {
                found.push(format!(
                    "LINK_DOWN (write an `[[event]]` of kind `link_down` for `{a}:{b}`, {time} us after flows start)"
                ));
            }
        }
        let (names, count) = &config.unknown;
        if *count > 0 {
            let more =
                if *count > MAX_LISTED_KEYS { format!(" and {} more", count - MAX_LISTED_KEYS) } else { String::new() };
            let named: Vec<&str> = names.iter().take(MAX_LISTED_KEYS).map(String::as_str).collect();
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

    fn note_commented_keys(&self) -> Option<String> {
        let (line, key) = self.config.commented_key?;
        let path = &self.config.path;
        Some(format!(
            "`{path}`, line {line}: {key} after `#` is a comment in Overspill, but the HPCC simulator reads it. Delete the line so \
             that both use the same settings"
        ))
    }

    /// Returns a note if the file names another topology than the scenario.
    fn note_other_topology(&self, made: &Choice) -> Option<String> {
        let (there, here) = (self.config.text("TOPOLOGY_FILE")?, made.values.word("file"));
        (file_name(there) != file_name(here)).then(|| {
            let path = &self.config.path;
            format!(
                "`{path}` was written for the topology `{there}`, but the scenario reads `{here}`. Check that the \
                     settings fit this network"
            )
        })
    }

    /// Returns a note if the file names other flows than the scenario's file of flows.
    fn note_other_flows(&self) -> Option<String> {
        let there = self.config.text("FLOW_FILE")?;
        let traffic = self.document.get("traffic").map_or(&[][..], Node::items);
        let of_kind = traffic.iter().filter(|one| one.get("kind").and_then(Node::text) == Some("hpcc"));
        let files: Vec<&str> = of_kind.filter_map(|one| one.get("file")?.text()).collect();
        let first = files.first()?;
        files.iter().all(|here| file_name(here) != file_name(there)).then(|| {
            let path = &self.config.path;
            format!(
                "`{path}` was written for the flow file `{there}`, but the scenario reads `{first}`. Check that \
                     this is intended"
            )
        })
    }

    fn kind_of_table(&self, key: &str) -> Option<&str> {
        key.split('.').try_fold(&self.document, |node, key| node.get(key))?.get("kind")?.text()
    }
    fn is_roce(&self) -> bool {
        self.kind_of_table("transport") == Some(ROCE_KIND)
    }
}

fn is_on(value: f64) -> bool {
    value != 0.0
}

fn is_off(value: f64) -> bool {
    value == 0.0
}

/// Returns the usual name of the congestion control of a `CC_MODE`.
fn cc_mode_name(mode: f64) -> &'static str {
    match mode as u64 {
        3 => "HPCC",
        7 => "TIMELY",
        8 => "rate-based DCTCP",
        10 => "HPCC-PINT",
        _ => "this mode",
    }
}

/// Returns the name of a file without its folders.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
