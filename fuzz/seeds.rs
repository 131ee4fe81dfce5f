//! Writes the seed corpus and the dictionaries. It runs in `fuzz/`, before the targets.
//!
//! A seed of `scenario` is a scenario's text, its `--set` settings and the text of every file that it names. A NUL
//! byte, which no TOML may contain, separates them.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::{env, fs};
use toml_edit::{Document, Table};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Words of TOML and of the loader that are in no declaration.
const MORE: &[&str] = &[
    "[[override]]",
    "[[traffic]]",
    "[[topology.node]]",
    "[[topology.link]]",
    "[variants.",
    "[measure]",
    "[switch]",
    "where",
    "node",
    "link",
    "traffic",
    "override",
    "variants",
    "kind",
    "random",
    "h0",
    "edge0",
    "true",
    "false",
    "inf",
    "nan",
    "\"\"\"",
    "'''",
    "{ ",
    " }",
    " = ",
    "\u{0}",
    "1979-05-27",
    "start,source,destination,bytes\n",
    "Nodes ",
    "Connections ",
    "->",
    "Tier ",
    "Podsize ",
    "Radix_Down ",
    "Radix_Up ",
    "<graphml>",
    "<graph edgedefault=\"directed\">",
    "<node id=\"",
    "<edge source=\"",
    "<data key=\"",
    "</data>",
    "ps",
    "ns",
    "us",
    "µs",
    "ms",
    "s",
    "pkt",
    "B",
    "KB",
    "MB",
    "GB",
    "KiB",
    "MiB",
    "GiB",
    "bps",
    "Kbps",
    "Mbps",
    "Gbps",
    "Tbps",
    "/",
    "18446744073709551615",
    "9223372036854775807",
    "4294967295",
    "65535",
    "1e308",
];

/// Bytes of frames: EtherTypes and versions, lengths of headers with CP's bits, options.
const FRAME_WORDS: &[&[u8]] = &[
    b"\x08\x00\x45",
    b"\x08\x00\x46",
    b"\x40\x00\x40\x06",
    b"\x50\x10",
    b"\x58\x10",
    b"\x5c\x10",
    b"\x54\x10",
    b"\x88\x18",
    b"\x8c\x13",
    b"\x02\x04\x05\xb4",
    b"\x01\x03\x03\x07",
    b"\x04\x02",
    b"\xfd\x02",
    b"\x01\x01\x08\x0a",
    b"\x01\x01\x05\x0a",
    b"\x01\x01\x05\x1a",
];

fn main() -> Result<()> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = fuzz.parent().ok_or("no folder above fuzz/")?;
    let corpus = fuzz.join("corpus/scenario");
    fs::create_dir_all(&corpus)?;
    let scenarios = root.join("scenarios");
    let written = ready(&corpus, &scenarios)?
        + write_imported_formats(&corpus, &scenarios)?
        + malformed(&corpus, root)?
        + declared(&corpus)?;
    let words = words();
    let quantities = quantities(&fuzz.join("corpus/quantity"), &words)?;
    let dictionary: String = words.iter().map(|word| entry(word)).collect();
    fs::write(fuzz.join("scenario.dict"), &dictionary)?;
    fs::write(fuzz.join("quantity.dict"), MORE.iter().map(|word| entry(word)).collect::<String>())?;
    let frames = frames(&fuzz.join("corpus/wire"), root)?;
    fs::write(fuzz.join("wire.dict"), FRAME_WORDS.iter().map(|word| entry(word)).collect::<String>())?;
    println!("{written} scenarios, {quantities} quantities, {frames} frames, {} words", words.len());
    Ok(())
}

/// Returns an input of the target `scenario`.
fn seed(text: &str, sets: &[String], file: &str) -> String {
    format!("{text}\0{}\0{file}", sets.join("\n"))
}

/// Writes the example scenarios, each with a file of flows.
fn ready(corpus: &Path, folder: &Path) -> Result<usize> {
    let flows = fs::read_to_string(folder.join("flows.csv"))?;
    let mut count = 0;
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|end| end == "toml") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            fs::write(corpus.join(format!("ready-{name}")), seed(&fs::read_to_string(&path)?, &[], &flows))?;
            count += 1;
        }
    }
    Ok(count)
}

/// Writes scenarios with networks and flows in formats of other tools, one for each.
fn write_imported_formats(corpus: &Path, folder: &Path) -> Result<usize> {
    let networks = [("hpcc", "hpcc_topology.txt"), ("htsim", "pods.topo"), ("custom", "net.graphml")];
    let flows =
        [("hpcc", "hpcc_flows.txt"), ("htsim", "incast.cm"), ("opera", "opera_flows.txt"), ("trace", "flows.csv")];
    let burst = "name = \"burst\"\nkind = \"permutation\"\nsize = \"1KB\"\n";
    let head = "name = \"brought\"\nduration = \"10ms\"\n[topology]\n";
    for (kind, file) in networks {
        let link = if kind == "custom" { "link = { rate = \"1Gbps\", delay = \"1us\" }\n" } else { "" };
        let text = format!("{head}kind = \"{kind}\"\nfile = \"f\"\n{link}[[traffic]]\n{burst}");
        let file = fs::read_to_string(folder.join(file))?;
        fs::write(corpus.join(format!("brought-network-{kind}")), seed(&text, &[], &file))?;
    }
    for (kind, file) in flows {
        let unit = if kind == "htsim" { "unit = \"ps\"\n" } else { "" };
        let workload = format!("[[traffic]]\nname = \"flows\"\nkind = \"{kind}\"\nfile = \"f\"\n{unit}");
        let text = format!("{head}kind = \"star\"\nn = 16\n{workload}");
        let file = fs::read_to_string(folder.join(file))?;
        fs::write(corpus.join(format!("brought-flows-{kind}")), seed(&text, &[], &file))?;
    }
    Ok(networks.len() + flows.len())
}

/// Writes the cases of `malformed.toml`, and their base.
fn malformed(corpus: &Path, root: &Path) -> Result<usize> {
    let table = fs::read_to_string(root.join("crates/scenario/tests/malformed.toml"))?;
    let table = Document::parse(table)?;
    let base = table.get("base").and_then(|base| base.as_str()).ok_or("no base")?;
    let cases = table.get("case").and_then(|cases| cases.as_array_of_tables()).ok_or("no cases")?;
    fs::write(corpus.join("base"), seed(base, &[], "size,cdf\n0,0\n1000,1\n"))?;
    for (number, case) in cases.iter().enumerate() {
        let file = text(case, "file").unwrap_or("size,cdf\n0,0\n1000,1\n");
        let scenario = scenario(case, base);
        fs::write(corpus.join(format!("malformed-{number}")), seed(&scenario, &texts(case, "set"), file))?;
    }
    Ok(cases.len() + 1)
}

fn text<'a>(case: &'a Table, key: &str) -> Option<&'a str> {
    case.get(key)?.as_str()
}

fn texts(case: &Table, key: &str) -> Vec<String> {
    let items = case.get(key).and_then(|item| item.as_array());
    items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_string)).collect()
}

fn scenario(case: &Table, base: &str) -> String {
    if let Some(own) = text(case, "text") {
        return own.to_string();
    }
    let changed = match texts(case, "change").as_slice() {
        [from, to] => base.replacen(from, to, 1),
        _ => base.to_string(),
    };
    changed + text(case, "add").unwrap_or_default()
}

/// Writes a small scenario for every declared kind, with required values filled in.
fn declared(corpus: &Path) -> Result<usize> {
    let catalogue = scenario::catalogue_json(&mech::Registry::catalogue());
    let mut count = 0;
    for spec in catalogue.as_array().ok_or("no catalogue")? {
        let (slot, kind) = (spec["slot"].as_str().unwrap_or(""), spec["kind"].as_str().unwrap_or(""));
        if kind.is_empty() || slot == "traffic.sizes" {
            continue;
        }
        let params = spec["params"].as_array().ok_or("no parameters")?;
        let values = params.iter().map(|param| {
            let name = param["name"].as_str().unwrap_or("");
            format!("{name} = {}\n", example(param["type"].as_str().unwrap_or(""), param))
        });
        let body: String = values.collect();
        let table = if slot == "traffic" { "[[traffic]]\nname = \"more\"" } else { &format!("[{slot}]") };
        let topology = if slot == "topology" { "" } else { "[topology]\nkind = \"star\"\nn = 4\n" };
        let text = format!(
            "name = \"all\"\nduration = \"10ms\"\n{topology}{table}\nkind = \"{kind}\"\n{body}[[traffic]]\nname = \
             \"burst\"\nkind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\nsize = \"20KB\"\n"
        );
        fs::write(corpus.join(format!("declared-{slot}-{kind}")), seed(&text, &[], "0 0\n1000 1\n"))?;
        count += 1;
    }
    Ok(count)
}

/// Returns a value for a parameter: its default, or a plain one of its type.
fn example(kind: &str, param: &serde_json::Value) -> String {
    let quoted = !matches!(kind, "flag" | "count" | "number" | "texts" | "numbers");
    match param["default"].as_str() {
        Some(text) if quoted => format!("{text:?}"),
        Some(text) => text.to_string(),
        None => match kind {
            "flag" => "true",
            "count" | "count_or_off" => "4",
            "number" => "1.0",
            "time" => "\"1us\"",
            "rate" => "\"1Gbps\"",
            "amount" => "\"50pkt\"",
            "size" | "sizes" => "\"10KB\"",
            "texts" => "[\"h1\", \"h2\"]",
            "numbers" => "[1, 2]",
            _ => "\"h1\"",
        }
        .to_string(),
    }
}

/// Returns every name, kind and word of the catalogue.
fn words() -> BTreeSet<String> {
    let mut words: BTreeSet<String> = MORE.iter().map(ToString::to_string).collect();
    let catalogue = scenario::catalogue_json(&mech::Registry::catalogue());
    for spec in catalogue.as_array().into_iter().flatten() {
        let kind = ["slot", "kind"].into_iter().filter_map(|key| spec[key].as_str());
        words.extend(kind.flat_map(|text| text.split('.')).map(str::to_string));
        for param in spec["params"].as_array().into_iter().flatten() {
            words.extend(param["name"].as_str().into_iter().flat_map(|text| text.split('.')).map(str::to_string));
            words.extend(param["default"].as_str().map(str::to_string));
            let allowed = param["allowed"].as_str().unwrap_or("").split(['`', '"']).skip(1).step_by(2);
            words.extend(allowed.map(str::to_string));
        }
    }
    words.retain(|word| !word.is_empty() && word.len() <= 40);
    words
}

fn quantities(corpus: &Path, words: &BTreeSet<String>) -> Result<usize> {
    fs::create_dir_all(corpus)?;
    let given = words.iter().filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).map(String::as_str);
    let more = ["1/3 Gbps", "12.304us", "1.5KiB", "0.1/0.3 Tbps", "18446744073709551615ps", "100pkt", "0.5 ns"];
    let all: Vec<&str> = given.chain(more).collect();
    for (number, text) in all.iter().enumerate() {
        fs::write(corpus.join(format!("quantity-{number}")), text)?;
    }
    Ok(all.len())
}

/// Writes the frames of `conformance/cp/wire.toml`, before and after changes by switches.
fn frames(corpus: &Path, root: &Path) -> Result<usize> {
    fs::create_dir_all(corpus)?;
    let table = Document::parse(fs::read_to_string(root.join("conformance/cp/wire.toml"))?)?;
    let cases = table.get("case").and_then(|cases| cases.as_array_of_tables()).ok_or("no cases")?;
    let steps = |case: &Table| case.get("step").and_then(|steps| steps.as_array_of_tables()).cloned();
    let after = cases.iter().filter_map(steps).flatten().filter_map(|step| text(&step, "after").map(str::to_string));
    let before = cases.iter().filter_map(|case| text(case, "frame").map(str::to_string));
    let all: Vec<String> = before.chain(after).collect();
    for (number, frame) in all.iter().enumerate() {
        fs::write(corpus.join(format!("frame-{number}")), bytes(frame)?)?;
    }
    Ok(all.len())
}

/// Parses hexadecimal digits with blanks anywhere; `00*9` is nine bytes.
fn bytes(text: &str) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for word in text.split_whitespace() {
        let (digits, times) = word.split_once('*').unwrap_or((word, "1"));
        for _ in 0..times.parse()? {
            for at in (0..digits.len()).step_by(2) {
                all.push(u8::from_str_radix(digits.get(at..at + 2).ok_or("half a byte")?, 16)?);
            }
        }
    }
    Ok(all)
}

/// Formats a line of a dictionary: printable characters as they are, others as bytes.
fn entry(word: impl AsRef<[u8]>) -> String {
    let plain = |byte: u8| (byte.is_ascii_graphic() || byte == b' ') && byte != b'"' && byte != b'\\';
    let bytes = word.as_ref().iter();
    let spelt: String =
        bytes.map(|&b| if plain(b) { (b as char).to_string() } else { format!("\\x{b:02X}") }).collect();
    format!("\"{spelt}\"\n")
}
