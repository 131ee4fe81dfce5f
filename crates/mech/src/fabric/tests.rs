//! Tests of wirings against the table `conformance/fabrics.toml`.

use super::*;
use crate::Registry;
use crate::params::{Value, Values};
use toml::{Table, Value as Toml};

/// Creates the wiring that a case of the table describes, with internal links of 1 Gb/s.
fn make_fabric(case: &Toml) -> FabricSlot {
    let given = case["fabric"].as_table().expect("a fabric");
    let kind = given["kind"].as_str().expect("its kind");
    let registry = Registry::catalogue();
    let spec = registry.find::<FabricSlot>(kind).expect(kind).spec;
    let mut values = Values::default();
    for param in spec.params {
        let value = match (param.name, given.get(param.name)) {
            (_, Some(count)) => Value::Count(count.as_integer().expect("a count") as u64),
            ("link_rate", _) => Value::Rate(Rate::gbps(1)),
            ("lists", _) => Value::Word("by_exit".into()),
            ("end_to_end", _) => Value::Flag(false),
            ("ack_delay", _) => Value::Time(Dur::ZERO),
            _ => Value::Size(Bytes(32_000)),
        };
        values.0.insert(param.name.into(), value);
    }
    registry.make::<FabricSlot>(kind, &values).expect(kind)
}

fn texts<'a>(case: &'a Toml, key: &str) -> Vec<&'a str> {
    case[key].as_array().expect(key).iter().map(|text| text.as_str().expect(key)).collect()
}

/// Returns the stages that a frame with this flow hash crosses from one stage to another.
fn stages_on_path(fabric: &dyn Fabric, from: u16, to: u16, hash: u32) -> Vec<u16> {
    let (links, mut at, mut stages) = (fabric.links(), from, Vec::new());
    while at != to {
        let link = links[fabric.next_link(at, to, hash)];
        assert_eq!(link.from, at, "a link that begins elsewhere");
        at = link.to;
        stages.push(at);
        assert!(stages.len() <= links.len(), "a way that does not end");
    }
    stages
}

#[test]
fn links_and_paths_match_the_conformance_table() {
    let path = format!("{}/../../conformance/fabrics.toml", env!("CARGO_MANIFEST_DIR"));
    let table: Table = std::fs::read_to_string(&path).expect(&path).parse().expect(&path);
    let cases = table["case"].as_array().expect("cases");
    assert!(cases.len() >= 5);
    for case in cases {
        let (slot, name) = (make_fabric(case), case["name"].as_str().expect("a name"));
        let fabric = slot.peek();
        let ports: Vec<u16> =
            case["ports"].as_array().expect("ports").iter().map(|n| n.as_integer().expect("a stage") as u16).collect();
        let dealt = (0..ports.len() as u16).map(|port| stage_of(port, ports.len() as u16, fabric.edge_stages()));
        assert_eq!(dealt.collect::<Vec<u16>>(), ports, "{name}");
        let links: Vec<String> = fabric.links().iter().map(|link| format!("{}-{}", link.from, link.to)).collect();
        assert_eq!(links, texts(case, "links"), "{name}");
        for said in texts(case, "ways") {
            let (ends, stages) = said.split_once(": ").expect(said);
            let mut words = ends.split(' ');
            let mut number = || words.next().expect(said).parse::<u16>().expect(said);
            let (from, to) = (number(), number());
            let hashes = match words.next() {
                Some(hash) => vec![hash.trim_start_matches('#').parse().expect(said)],
                None => vec![0, 1, 7, u32::MAX],
            };
            let expected: Vec<u16> = stages.split(' ').map(|stage| stage.parse().expect(said)).collect();
            for hash in hashes {
                assert_eq!(stages_on_path(fabric, from, to, hash), expected, "{name}: {said}, hash {hash}");
            }
        }
    }
}

#[test]
fn folded_clos_spreads_flows_evenly_over_core_stages() {
    let cases = "[fabric]\nkind = \"folded_clos\"\nelements = 4\ncores = 3\n".parse::<Table>().expect("a case");
    let slot = make_fabric(&Toml::Table(cases));
    let mut flows = [0; 3];
    (0..3000).for_each(|hash| flows[usize::from(stages_on_path(slot.peek(), 0, 2, hash)[0] - 4)] += 1);
    assert!(flows.iter().all(|count| (900..1100).contains(count)), "{flows:?}");
}
