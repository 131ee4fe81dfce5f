//! Schema and catalogue, compared with the loader.

use mech::Registry;
use scenario::{Source, catalogue_json, load, scenario_schema};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn kinds(slot: &str) -> Vec<String> {
    let all = catalogue_json(&Registry::catalogue());
    let of_slot = all.as_array().expect("a list").iter().filter(|spec| spec["slot"] == slot);
    of_slot.map(|spec| spec["kind"].as_str().expect("text").to_string()).collect()
}

#[test]
fn the_catalogue_names_every_mechanism_and_table() {
    assert_eq!(kinds("switch.overflow"), ["tail_drop", "detour", "bounce", "trim", "evict"]);
    assert_eq!(kinds("switch.buffer"), ["per_port", "shared", "pools", "unlimited"]);
    assert_eq!(kinds("framing"), ["ethernet", "mtu", "payload"]);
    for slot in ["topology", "transport", "traffic", "switch.routing", "switch.marking", "switch.scheduler"] {
        assert!(!kinds(slot).is_empty(), "{slot}");
    }
    for table in ["", "host", "switch", "measure", "override.where", "topology.node", "topology.link"] {
        assert_eq!(kinds(table), [""], "{table}");
    }
}

#[test]
fn a_parameter_says_its_type_its_default_and_what_it_takes() {
    let all = catalogue_json(&Registry::catalogue());
    let find = |slot: &str, kind: &str, name: &str| {
        let spec = all.as_array().expect("a list").iter().find(|s| s["slot"] == slot && s["kind"] == kind).expect("it");
        let params = spec["params"].as_array().expect("a list");
        params.iter().find(|param| param["name"] == name).expect("the parameter").clone()
    };
    let theta = find("switch.overflow", "bounce", "theta");
    assert_eq!(
        (&theta["type"], &theta["default"], &theta["required"]),
        (&"number".into(), &"0.8".into(), &false.into())
    );
    assert_eq!(theta["allowed"], "a number of at least 0 and below 1");
    let size = find("switch.buffer", "shared", "size");
    assert_eq!((&size["default"], &size["required"]), (&Json::Null, &true.into()));
    let queue = find("host", "", "nic_queue");
    assert_eq!((&queue["default"], &queue["required"]), (&"unlimited".into(), &false.into()));
}

#[test]
fn the_schema_knows_every_key_of_the_file_and_refuses_others() {
    let schema = scenario_schema(&Registry::catalogue());
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let mut keys: Vec<&String> = schema["properties"].as_object().expect("properties").keys().collect();
    keys.sort();
    let all = "dead_port description dscp_to_class duration event format framing host measure name override reroute_delay seed switch \
               topology traffic transport variants";
    assert_eq!(keys, all.split(' ').collect::<Vec<_>>());
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["name", "duration", "topology", "traffic"]));
    assert!(schema["$defs"]["variant"]["properties"].get("seed").is_none());
}

#[test]
fn a_mechanism_in_the_schema_has_its_parameters_with_units_ranges_and_defaults() {
    let schema = scenario_schema(&Registry::catalogue());
    let kinds = schema["properties"]["switch"]["properties"]["overflow"]["oneOf"].as_array().expect("kinds");
    let bounce = kinds.iter().find(|kind| kind["properties"]["kind"]["const"] == "bounce").expect("bounce");
    let theta = &bounce["properties"]["theta"];
    assert_eq!(
        (&theta["type"], &theta["exclusiveMaximum"], &theta["default"]),
        (&"number".into(), &1.0.into(), &0.8.into())
    );
    let size = &bounce["properties"]["bounce_size"];
    assert!(size["pattern"].as_str().expect("a pattern").contains("pkt"), "{size}");
    assert_eq!(bounce["required"], serde_json::json!(["kind"]));
    let tail_drop = kinds.iter().find(|kind| kind["properties"]["kind"]["const"] == "tail_drop").expect("tail_drop");
    assert_eq!(tail_drop.get("required"), None, "the default kind may go without saying");
    let queue = &schema["properties"]["host"]["properties"]["nic_queue"];
    assert_eq!(queue["anyOf"][1]["const"], "unlimited");
    let link = &schema["properties"]["topology"]["oneOf"][0]["properties"]["link"];
    assert_eq!(link["properties"]["rate"]["type"], "string");
}

#[test]
fn a_table_of_a_variant_has_a_kind_and_its_parameters_or_some_parameters_alone() {
    let schema = scenario_schema(&Registry::catalogue());
    let kinds = schema["$defs"]["variant"]["properties"]["transport"]["oneOf"].as_array().expect("kinds");
    let (alone, whole) = kinds.split_last().expect("kinds");
    assert!(whole.iter().all(|kind| kind["required"] == serde_json::json!(["kind"])), "{whole:?}");
    assert_eq!(alone["not"]["required"], serde_json::json!(["kind"]));
    let keys = alone["propertyNames"]["enum"].as_array().expect("keys");
    assert!(keys.contains(&"dupack_threshold".into()) && !keys.contains(&"theta".into()), "{keys:?}");
}

#[test]
fn every_kind_of_traffic_in_the_schema_takes_a_name_a_class_and_jitter() {
    let schema = scenario_schema(&Registry::catalogue());
    for kind in schema["properties"]["traffic"]["items"]["oneOf"].as_array().expect("kinds") {
        for key in ["name", "class", "jitter"] {
            assert!(kind["properties"].get(key).is_some(), "{key} of {}", kind["properties"]["kind"]["const"]);
        }
        let required = kind["required"].as_array().expect("required");
        assert!(required.contains(&"name".into()) && required.contains(&"kind".into()), "{required:?}");
    }
}

#[test]
fn nothing_that_is_cut_off_or_garbled_makes_the_loader_panic() {
    let text = include_str!("incast.toml").replace("k = 8", "k = 2");
    let ends = text.char_indices().map(|(at, _)| at);
    let mut loaded = 0;
    for end in ends.clone() {
        loaded += usize::from(load(&Source::new("cut.toml", &text[..end], Path::new(".")), &[]).is_ok());
    }
    for at in ends {
        for junk in ["\"", "=", "[", "9", "-", "\n"] {
            let garbled = format!("{}{junk}{}", &text[..at], &text[at + 1..]);
            loaded += usize::from(load(&Source::new("garbled.toml", garbled, Path::new(".")), &[]).is_ok());
        }
    }
    assert!(loaded > 10, "some still load: {loaded}");
}

/// Collects the Rust source files of a folder, without tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// Returns the names of all mechanisms, and the names among them that are also a parameter, a value or a slot.
fn names() -> (BTreeSet<&'static str>, BTreeSet<&'static str>) {
    let registry = Registry::catalogue();
    let names: BTreeSet<&str> = registry.specs().iter().map(|spec| spec.kind).collect();
    let all = catalogue_json(&registry);
    let mechanisms = |spec: &&Json| {
        let slot = spec["slot"].as_str().unwrap();
        slot.starts_with("switch.") || slot.starts_with("host.")
    };
    let others = all.as_array().unwrap().iter().filter(|spec| !mechanisms(spec));
    let params: Vec<&Json> = others.flat_map(|spec| spec["params"].as_array().unwrap()).collect();
    let is_word = |name: &&str| {
        let said = |param: &&Json| {
            let allowed = param["allowed"].as_str().unwrap();
            param["name"] == **name
                || allowed.contains(&format!("\"{name}\""))
                || allowed.contains(&format!("`{name}`"))
        };
        params.iter().any(said) || mech::SLOTS.iter().any(|(slot, _)| slot == name)
    };
    let words = names.iter().copied().filter(is_word).collect();
    (names, words)
}

#[test]
fn no_mechanism_is_known_by_its_name_outside_of_mech() {
    let (names, words) = names();
    assert_eq!(words, BTreeSet::from(["none", "pause", "unlimited"]), "what else is a word of its own");
    let mut files = Vec::new();
    for krate in ["dataplane", "scenario", "sim"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src"), &mut files);
    }
    assert!(files.len() > 100, "{}", files.len());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        for name in names.difference(&words) {
            assert!(!code.contains(&format!("\"{name}\"")), "{} knows \"{name}\"", path.display());
        }
    }
}
