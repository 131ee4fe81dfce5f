use super::values;
use crate::topology::*;
use units::Bytes;

const NET: &str = "3 1 2\n2\n0 2 25Gbps 1us 0\n1 2 100Gbps 1us 0.5\n";
const CONFIG: &str = "ENABLE_QCN 1\nCC_MODE 1\nRATE_AI 50Mb/s\nKMIN_MAP 2 25000000000 100 100000000000 400\n\
                      KMAX_MAP 2 25000000000 400 100000000000 1600\nPMAX_MAP 2 25000000000 0.2 100000000000 0.8\n\
                      BUFFER_SIZE 32\n";

/// Parses a configuration file; returns its contents and the links that corrupt frames, or its faults, one a line.
fn read(config: &str) -> Result<(Configuration, Vec<CorruptedLink>), String> {
    let files = |name: &str| match name {
        "net" => Ok(NET.to_string()),
        "config" => Ok(config.to_string()),
        _ => Err("cannot be read (no such file)".into()),
    };
    let (found, corrupted) = (RefCell::default(), RefCell::default());
    let given = TopologyInputs {
        files: &files,
        configuration: Some(&found),
        corrupted: Some(&corrupted),
        ..TopologyInputs::empty()
    };
    let spec = SPECS.iter().find(|spec| spec.kind == "hpcc").unwrap();
    let name = if config == "no such file" { "nowhere" } else { "config" };
    let values = values(spec, &[("file", "net"), ("config", name)]);
    let line = |f: Fault| format!("{}: {}; {}", f.field, f.found, f.rule);
    match build("hpcc", &values, &given) {
        Ok(_) => Ok((found.into_inner().expect("the file was read"), corrupted.into_inner())),
        Err(faults) => Err(faults.into_iter().map(line).collect::<Vec<_>>().join("\n")),
    }
}

fn config(text: &str) -> Configuration {
    read(text).unwrap_or_else(|found| panic!("{found}")).0
}

#[test]
fn thresholds_are_of_1000_bytes_by_the_rate_of_ports() {
    let found = config(CONFIG);
    let k = found.thresholds(100_000_000_000).unwrap();
    assert_eq!((k.kmin, k.kmax, k.pmax), (Bytes(400_000), Bytes(1_600_000), 0.8));
    assert_eq!(found.thresholds(25_000_000_000).unwrap().kmin, Bytes(100_000));
    assert_eq!((found.number("BUFFER_SIZE"), found.rate("RATE_AI")), (Some(32.0), Some(Rate::mbps(50))));
}

#[test]
fn a_rate_without_a_threshold_is_refused_by_name() {
    let (found, rule) = config(CONFIG).thresholds(40_000_000_000).unwrap_err();
    assert_eq!(found, "line 4: no entry of KMIN_MAP for 40Gbps, only for 25Gbps, 100Gbps");
    assert_eq!(rule, "an entry for the rate of every port of a switch, in bit/s");
    assert_eq!(config("CC_MODE 1").thresholds(1).unwrap_err().0, "no KMIN_MAP");
}

#[test]
fn thresholds_in_the_wrong_order_are_refused() {
    let (found, _) = config(&CONFIG.replace(" 100 ", " 500 ")).thresholds(25_000_000_000).unwrap_err();
    assert_eq!(found, "line 4: 500 in KMIN_MAP and 400 in KMAX_MAP for 25Gbps");
}

#[test]
fn line_ends_and_comments_do_not_matter() {
    let plain = config(CONFIG);
    assert_eq!(config(&CONFIG.replace('\n', "\r\n")), plain);
    assert_eq!(config(&CONFIG.replace('\n', " {text of CC_MODE, and more}\n")), plain);
    assert_eq!(config(&format!("\u{feff}{CONFIG}# the end\n")), plain);
    let wrapped = config(&CONFIG.replace(' ', "\n"));
    assert_eq!(wrapped.thresholds(25_000_000_000), plain.thresholds(25_000_000_000));
}

#[test]
fn a_key_behind_a_number_sign_is_noted_and_not_read() {
    let found = config(&format!("{CONFIG}# CC_MODE 3\n#BUFFER_SIZE 1\n"));
    assert_eq!((found.number("CC_MODE"), found.number("BUFFER_SIZE")), (Some(1.0), Some(32.0)));
    assert_eq!(found.commented_key, Some((8, "CC_MODE")));
}

#[test]
fn the_last_value_counts_and_maps_add_up() {
    let found = config(&format!("{CONFIG}BUFFER_SIZE 8\nKMIN_MAP 1 40000000000 7\n"));
    assert_eq!(found.number("BUFFER_SIZE"), Some(8.0));
    assert!(found.thresholds(25_000_000_000).is_ok());
    assert!(found.thresholds(40_000_000_000).unwrap_err().0.contains("KMAX_MAP"), "of 40 Gb/s KMIN_MAP is there");
}

#[test]
fn unknown_keys_are_kept_and_their_values_skipped() {
    let found = config(&format!("{CONFIG}NIC_TOTAL_PAUSE_TIME 0\nRTO 100 us\n"));
    assert_eq!(found.unknown, (vec!["NIC_TOTAL_PAUSE_TIME".into(), "RTO".into()], 2));
}

#[test]
fn an_error_rate_is_of_links_without_their_own() {
    let (_, found) = read(&format!("{CONFIG}ERROR_RATE_PER_LINK 0.001\n")).unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.link.as_str(), one.probability)).collect();
    assert_eq!(found, [("0:2", 0.001), ("1:2", 0.5)]);
}

#[test]
fn faults_of_a_configuration_name_file_line_and_rule() {
    let key = "a key, such as `BUFFER_SIZE`; the first number after a map's key is the number of its entries";
    let kilobytes = "a threshold in KB, a whole number from 0 to 4294967";
    let rate = "a rate with its unit (bps, Kbps, Mbps, Gbps, Tbps) from 1bps to 1000Tbps, such as `10Gbps`";
    let bits = "the rate of a link in bit/s, a whole number from 1 to 1000000000000000";
    for (from, to, said) in [
        ("BUFFER_SIZE 32", "BUFFER_SIZE -1", "line 7: BUFFER_SIZE `-1`; a size in MiB, a whole number from 1 to 4095"),
        (
            "BUFFER_SIZE 32",
            "BUFFER_SIZE 4096",
            "line 7: BUFFER_SIZE `4096`; a size in MiB, a whole number from 1 to 4095",
        ),
        (
            "BUFFER_SIZE 32",
            "BUFFER_SIZE big",
            "line 7: BUFFER_SIZE `big`; a size in MiB, a whole number from 1 to 4095",
        ),
        (
            "BUFFER_SIZE 32",
            "BUFFER_SIZE nan",
            "line 7: BUFFER_SIZE `nan`; a size in MiB, a whole number from 1 to 4095",
        ),
        (
            "BUFFER_SIZE 32\n",
            "BUFFER_SIZE",
            "line 7: the end of the file; a size in MiB, a whole number from 1 to 4095 after BUFFER_SIZE",
        ),
        (
            "ENABLE_QCN 1",
            "ENABLE_QCN yes",
            "line 1: ENABLE_QCN `yes`; 1 or 0, for yes or no, a whole number from 0 to 4294967295",
        ),
        ("RATE_AI 50Mb/s", "RATE_AI 50", &format!("line 3: RATE_AI `50`; {rate}")),
        (
            "RATE_AI 50Mb/s",
            "RATE_AI",
            "line 4: `KMIN_MAP` in place of a value of RATE_AI; a rate with its unit, such as `50Mb/s`",
        ),
        ("KMIN_MAP 2 25000000000 100", "KMIN_MAP 2 25000000000 -1", &format!("line 4: KMIN_MAP `-1`; {kilobytes}")),
        ("KMIN_MAP 2 25000000000 100", "KMIN_MAP 2 25Gbps 100", &format!("line 4: KMIN_MAP `25Gbps`; {bits}")),
        ("KMIN_MAP 2", "KMIN_MAP 1", &format!("line 4: `100000000000` after the entries of a map; {key}")),
        ("KMIN_MAP 2", "KMIN_MAP 3", &format!("line 5: `KMAX_MAP` in place of a value of KMIN_MAP; {bits}")),
        ("KMIN_MAP 2", "KMIN_MAP 1000000000", &format!("line 5: `KMAX_MAP` in place of a value of KMIN_MAP; {bits}")),
        (
            "KMIN_MAP 2",
            "KMIN_MAP 0",
            "line 4: KMIN_MAP `0`; the number of entries, a whole number from 1 to 4294967295",
        ),
        (" 0.8", " 1.5", "line 6: PMAX_MAP `1.5`; a probability, a number from 0 to 1"),
        ("CC_MODE 1", "7 CC_MODE 1", &format!("line 2: `7` at the start of a line; {key}")),
    ] {
        let text = CONFIG.replace(from, to);
        assert_ne!(text, CONFIG, "{from}");
        let found = read(&text).err().unwrap_or_else(|| panic!("accepted: {to}"));
        assert_eq!(found, said.replacen("line", "config: `config`, line", 1), "{to}");
    }
}

#[test]
fn other_files_are_no_configuration() {
    let none = "config: `config`, line 1: no known key; a configuration file of the HPCC simulator, with keys such as \
                `BUFFER_SIZE 32`";
    for text in ["", "\n\n", "{\"buffer\": 32}", "# BUFFER_SIZE 32", "[switch]\nbuffer = 1"] {
        assert_eq!(read(text).unwrap_err(), none, "{text}");
    }
    assert!(read(NET).unwrap_err().starts_with("config: `config`, line 1: `3` at the start of a line; a key"));
    let missing = "config: `nowhere`: cannot be read (no such file); a file that can be read";
    assert_eq!(read("no such file").unwrap_err(), missing);
}

#[test]
fn all_faults_of_a_configuration_are_found_together() {
    let found = read("BUFFER_SIZE x\nENABLE_QCN 1\nRATE_AI y\nKMIN_MAP 2 a 1 b 2\nPMAX_MAP 1 1 2\n").unwrap_err();
    let lines: Vec<_> = found.lines().map(|line| line.split(':').nth(1).unwrap()).collect();
    assert_eq!(lines, [" `config`, line 1", " `config`, line 3", " `config`, line 4", " `config`, line 5"]);
}
