//! Tests of frames against `conformance/cp/wire.toml`: as bytes, as fields, and after changes by a switch.

use crate::{
    Checksums, CpPacket, LengthField, LostRange, Segment, TcpFlags, Trim, cut_payload, read_checksums, set_ce,
    set_dscp, set_ece,
};
use dataplane::Timestamps;
use toml::{Table, Value};

/// Reader of one table of a test case; each key is removed when it is read.
struct TableReader(Table);

impl TableReader {
    fn text(&mut self, key: &str) -> Option<String> {
        self.0.remove(key).map(|value| value.as_str().expect(key).to_string())
    }
    fn number(&mut self, key: &str) -> Option<u32> {
        self.0.remove(key).map(|value| parse_number(&value))
    }
    fn flag(&mut self, key: &str, default: bool) -> bool {
        self.0.remove(key).map_or(default, |value| value.as_bool().expect(key))
    }
    fn numbers(&mut self, key: &str) -> Option<(u32, u32)> {
        self.0.remove(key).map(|value| parse_pair(&value))
    }
    fn tables(&mut self, key: &str) -> Vec<TableReader> {
        let tables = self.0.remove(key).map(|value| value.as_array().expect(key).clone());
        tables.into_iter().flatten().map(|value| TableReader(value.as_table().expect(key).clone())).collect()
    }
    fn expect_empty(self) {
        assert!(self.0.is_empty(), "unknown keys: {:?}", self.0.keys().collect::<Vec<_>>());
    }
}

fn parse_number(value: &Value) -> u32 {
    u32::try_from(value.as_integer().expect("a number")).expect("32 bits")
}

fn parse_pair(value: &Value) -> (u32, u32) {
    match value.as_array().expect("a pair").as_slice() {
        [first, second] => (parse_number(first), parse_number(second)),
        _ => panic!("not a pair: {value}"),
    }
}

/// Parses bytes from pairs of hexadecimal digits, with optional blanks between bytes; `00*9` is nine zero bytes.
fn parse_hex(text: &str) -> Vec<u8> {
    let byte = |digits: &str| u8::from_str_radix(digits, 16).expect("two digits");
    text.split_whitespace()
        .flat_map(|word| match word.split_once('*') {
            Some((one, times)) => vec![byte(one); times.parse().expect("a number")],
            None => word.as_bytes().chunks(2).map(|two| byte(std::str::from_utf8(two).unwrap())).collect(),
        })
        .collect()
}

fn parse_flags(names: &str) -> TcpFlags {
    let all = [
        ("FIN", TcpFlags::FIN),
        ("SYN", TcpFlags::SYN),
        ("RST", TcpFlags::RST),
        ("PSH", TcpFlags::PSH),
        ("ACK", TcpFlags::ACK),
        ("URG", TcpFlags::URG),
        ("ECE", TcpFlags::ECE),
        ("CWR", TcpFlags::CWR),
        ("AE", TcpFlags::AE),
        ("PPL", TcpFlags::PPL),
        ("CPA", TcpFlags::CPA),
    ];
    let bit = |name| all.iter().find(|(known, _)| *known == name).expect(name).1;
    names.split(' ').fold(TcpFlags(0), |set, name| set.with(bit(name)))
}

fn parse_length_field(word: &str) -> LengthField {
    match word {
        "ip" => LengthField::Ip,
        "payload" => LengthField::Payload,
        _ => panic!("unknown length field: {word}; expected `ip` or `payload`"),
    }
}

/// Reads the segment that a table of fields describes.
fn read_segment(given: &mut TableReader) -> Segment {
    let mut made = Segment {
        source_mac: [2, 0, 10, 0, 0, 1],
        destination_mac: [2, 0, 10, 0, 0, 2],
        source_port: 37_100,
        destination_port: 50_000,
        sequence: given.number("sequence").unwrap_or(1000),
        acknowledgement: given.number("acknowledgement").unwrap_or(1),
        flags: parse_flags(&given.text("flags").expect("flags")),
        window: 0x1000,
        payload: given.number("payload").unwrap_or(0) as u16,
        ..Segment::default()
    };
    (made.ip.source, made.ip.destination) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    (made.ip.tos, made.ip.identification) = (given.number("tos").unwrap_or(2) as u8, 7);
    (made.ip.dont_fragment, made.ip.ttl) = (true, 64);
    if given.flag("back", false) {
        (made.source_mac, made.destination_mac) = (made.destination_mac, made.source_mac);
        (made.ip.source, made.ip.destination) = (made.ip.destination, made.ip.source);
        (made.source_port, made.destination_port) = (made.destination_port, made.source_port);
    }
    let options = &mut made.options;
    options.mss = given.number("mss").map(|mss| mss as u16);
    options.window_scale = given.number("scale").map(|scale| scale as u8);
    options.sack_permitted = given.flag("sack_permitted", false);
    options.pack_permitted = given.flag("pack_permitted", false);
    options.timestamps = given.numbers("timestamps").map(|(val, ecr)| Timestamps { val, ecr });
    let blocks = given.0.remove("sack").map(|blocks| blocks.as_array().expect("blocks").clone()).unwrap_or_default();
    options.blocks = blocks.len() as u8;
    options.sack.iter_mut().zip(&blocks).for_each(|(place, block)| *place = parse_pair(block));
    made
}

/// Checks that bytes are read as these fields and, unless the case says otherwise, written from them.
fn check_fields(mut given: TableReader, frame: &[u8], length: LengthField) {
    let expected = read_segment(&mut given);
    assert_eq!(Segment::read(frame, length), Ok(expected));
    assert_eq!(read_checksums(frame, length), Ok(Checksums { ipv4: true, tcp: true }));
    if given.flag("written", true) {
        assert_eq!(expected.to_frame(length).unwrap(), frame, "as it is written");
    }
    let packet = match given.text("packet").expect("packet").as_str() {
        "Normal" => CpPacket::Normal,
        "Enabled" => CpPacket::Enabled,
        "Cut" => CpPacket::Cut,
        "Pack" => CpPacket::Pack,
        other => panic!("unknown type of CP packet: {other}"),
    };
    assert_eq!(expected.cp_packet(), packet);
    let range = |edges: (u32, u32)| LostRange { left: edges.0, right: edges.1 };
    assert_eq!(expected.lost_range(), given.numbers("lost").map(range), "lost");
    assert_eq!(expected.reported_loss(), given.numbers("reported").map(range), "reported");
    given.expect_empty();
}

/// Applies a switch's change to a frame; returns the remaining length, or the reason for a refusal.
fn apply_change(words: &str, frame: &mut [u8]) -> Result<usize, String> {
    let all = frame.len();
    let number = |word: &str| word.parse().expect("a number");
    let trim = |bytes: &str, from: Option<&str>, to: &str| Trim {
        bytes: bytes.parse().expect("bytes"),
        trimmable: from.map(number),
        trimmed: number(to),
    };
    match words.split(' ').collect::<Vec<_>>().as_slice() {
        ["cut", how] => cut_payload(frame, parse_length_field(how)).map_err(|why| why.to_string()),
        ["trim", bytes, "to", to] => trim(bytes, None, to).apply(frame).map_err(|why| why.to_string()),
        ["trim", bytes, "from", from, "to", to] => {
            trim(bytes, Some(from), to).apply(frame).map_err(|why| why.to_string())
        }
        ["ece"] => set_ece(frame).map(|()| all).map_err(|why| why.to_string()),
        ["dscp", to] => set_dscp(frame, number(to)).map(|()| all).map_err(|why| why.to_string()),
        ["ce"] => match set_ce(frame).map_err(|why| why.to_string())? {
            true => Ok(all),
            false => Err("not ECN-capable".to_string()),
        },
        _ => panic!("unknown action of a switch: `{words}`"),
    }
}

fn run_step(mut given: TableReader, before: &[u8]) {
    let words = given.text("act").expect("act");
    let mut frame = before.to_vec();
    let did = apply_change(&words, &mut frame);
    match (given.text("after"), given.text("refused")) {
        (Some(after), None) => {
            frame.truncate(did.expect(&words));
            assert_eq!(frame, parse_hex(&after), "{words}");
        }
        (None, Some(why)) => {
            assert_eq!(did, Err(why), "{words}");
            assert_eq!(frame, before, "{words}: a refused frame must be unchanged");
        }
        _ => panic!("{words}: expected either `after` or `refused`"),
    }
    given.expect_empty();
}

#[test]
fn frames_match_wire_toml() {
    let path = format!("{}/../../conformance/cp/wire.toml", env!("CARGO_MANIFEST_DIR"));
    let mut table = TableReader(toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap());
    let cases = table.tables("case");
    assert!(cases.len() >= 30, "{} cases", cases.len());
    table.expect_empty();
    for mut case in cases {
        println!("wire.toml: {}", case.text("name").expect("name"));
        case.text("source").expect("source");
        let length = case.text("length").map_or(LengthField::Ip, |word| parse_length_field(&word));
        let frame = parse_hex(&case.text("frame").expect("frame"));
        case.tables("step").into_iter().for_each(|given| run_step(given, &frame));
        match (case.0.remove("fields"), case.text("refused")) {
            (Some(Value::Table(given)), None) => check_fields(TableReader(given), &frame, length),
            (None, Some(why)) => assert_eq!(Segment::read(&frame, length).unwrap_err().to_string(), why),
            _ => panic!("expected either `fields` or `refused`"),
        }
        case.expect_empty();
    }
}
