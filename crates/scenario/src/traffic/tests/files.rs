use super::{format_faults, star, with_files, workload};
use crate::topology::tests::custom;
use crate::traffic::*;

type ReadFlows = (Vec<(String, u32, u32, u64, u8)>, Vec<String>);

/// Reads a file's flows as (start, source, destination, bytes, class), and the notes.
fn read(net: &Topology, kind: &str, given: &[(&str, &str)], text: &str) -> Result<ReadFlows, Vec<String>> {
    let all = [&[("file", "f")], given].concat();
    let (traffic, notes) = with_files(net, kind, &all, &|_| Ok(text.into())).map_err(format_faults)?;
    let flows = traffic.flows(0, net, 1, Time(Dur::s(1).0));
    Ok((flows.map(|f| (f.start.to_string(), f.src.0, f.dst.0, f.bytes, f.class)).collect(), notes))
}

const FLOWS: &str = "3\n0 1 3 100 1000 2.000001\n2 3 3 200 64000 2.0000005\n\n1 0 5 100 7 2.1\n";

#[test]
fn an_hpcc_flow_file_is_read_from_its_origin_on() {
    let (flows, notes) = read(&star(4), "hpcc", &[("origin", "2s"), ("class", "1")], FLOWS).unwrap();
    let said = [("500ns", 2, 3, 64_000, 1), ("1us", 0, 1, 1000, 1), ("100ms", 1, 0, 7, 1)];
    assert_eq!(flows, said.map(|(at, src, dst, bytes, class)| (at.to_string(), src, dst, bytes, class)));
    assert_eq!(notes, ["traffic `t`: Overspill ignores the 2 different destination ports in `f`"]);
    let (none, notes) = read(&star(4), "hpcc", &[], FLOWS).unwrap();
    assert!(none.is_empty(), "the run of a second is over");
    assert!(notes[0].contains("3 of 3 flows in `f` start at or after the duration"), "{notes:?}");
}

#[test]
fn a_priority_group_may_be_a_class() {
    let (flows, _) = read(&star(4), "hpcc", &[("origin", "2s"), ("priority_group", "class")], FLOWS).unwrap();
    assert_eq!(flows.iter().map(|flow| flow.4).collect::<Vec<_>>(), [3, 3, 5]);
    let highest = |given: &[(&str, &str)]| {
        let all = [&[("file", "f")], given].concat();
        with_files(&star(4), "hpcc", &all, &|_| Ok(FLOWS.into())).unwrap().0.class()
    };
    assert_eq!(
        (highest(&[("class", "1")]), highest(&[("priority_group", "class")])),
        (1, 5),
        "ports have queues for it"
    );
}

#[test]
fn an_id_is_the_name_of_a_node_before_it_is_a_number() {
    let net = custom(&["0", "1 host", "2 host"], &["0 1 1", "0 2 1"]).unwrap();
    let (flows, _) = read(&net, "hpcc", &[], "1\n1 2 3 100 9 0\n").unwrap();
    assert_eq!(flows, [("0ps".to_string(), 0, 1, 9, 0)]);
    let wrong = read(&net, "hpcc", &[], "1\n0 2 3 100 9 0\n").unwrap_err();
    assert_eq!(
        wrong,
        ["file: `f`, line 2: source `0`; the name of a host, or the number of a host from 0 to \
                        1"],
        "0 is a switch"
    );
}

#[test]
fn a_name_behind_an_apostrophe_is_the_name_that_tables_write_so() {
    let net = custom(&["=1 host", "'@2 host", "s"], &["=1 s 1", "'@2 s 1"]).unwrap();
    let said = "start,source,destination,bytes\n1us,'=1,'@2,9\n";
    assert_eq!(read(&net, "trace", &[], said).unwrap().0, [("1us".to_string(), 0, 1, 9, 0)]);
}

#[test]
fn a_malformed_hpcc_flow_file_is_refused_with_its_line() {
    for (text, said) in [
        ("", "no lines; the number of flows"),
        ("0 1 3 100 1000 2\n", "line 1: `0 1 3 100 1000 2`; the number of flows"),
        ("0\n", "line 1: `0`; the number of flows"),
        ("2\n0 1 3 100 1000 0\n", "line 1: a count of 2 flows, but 1 lines with flows; the number of flows"),
        (
            "1\n0 1 3 100\n",
            "line 2: 4 fields; 6 fields: source, destination, priority group, destination port, bytes, start in \
             seconds; or 5 fields, without the port or the group",
        ),
        ("1\n0 9 3 100 1000 0\n", "line 2: destination `9`; the name of a host, or the number of a host from 0 to 3"),
        ("1\n1 1 3 100 1000 0\n", "line 2: `1` sends to itself; a destination other than the source"),
        ("1\n0 1 8 100 1000 0\n", "line 2: priority group `8`; a whole number from 0 to 7"),
        ("1\n0 1 3 x 1000 0\n", "line 2: destination port `x`; a whole number from 0 to 65535"),
        ("1\n0 1 3 100 0 0\n", "line 2: size `0`; a whole number of bytes, at least 1"),
        ("1\n0 1 3 100 9 -1\n", "line 2: start `-1`; a number of seconds, at least 0"),
    ] {
        assert_eq!(read(&star(4), "hpcc", &[], text).unwrap_err(), [format!("file: `f`, {said}")], "{text:?}");
    }
    let early = read(&star(4), "hpcc", &[("origin", "2s")], "1\n0 1 3 100 9 1.5\n").unwrap_err();
    assert_eq!(early, ["file: `f`, line 2: start `1.5`; seconds from `origin`, 2s, on"]);
}

#[test]
fn what_follows_the_flows_of_an_hpcc_file_is_not_read() {
    let text = "2\n0 1 3 100 1000 0\n2 3 3 100 64000 0.5\n\nFirst line: flow #\n0 1 3 100 9 0\n";
    assert_eq!(read(&star(4), "hpcc", &[], text).unwrap().0.len(), 2);
}

#[test]
fn hpcc_flows_of_five_numbers_lack_the_port_or_the_group() {
    let class = |text| read(&star(4), "hpcc", &[("priority_group", "class")], text).unwrap().0;
    assert_eq!(class("1\n0 1 3 1000 0.5\n"), [("500ms".to_string(), 0, 1, 1000, 3)]);
    assert_eq!(class("1\n0 1 100 1000 0.5\n"), [("500ms".to_string(), 0, 1, 1000, 0)]);
}

#[test]
fn a_size_of_0_in_a_connection_matrix_has_no_end() {
    let (flows, _) = read(&star(4), "htsim", &[("unit", "ps")], &CM.replace("size 10 ", "size 0 ")).unwrap();
    assert_eq!(flows.iter().map(|flow| flow.3).collect::<Vec<_>>(), [ENDLESS_BYTES, 2_000_000, 1]);
    let endless = |text: &str| {
        let all = [("file", "f"), ("unit", "ps")];
        with_files(&star(4), "htsim", &all, &|_| Ok(text.into())).unwrap().0.is_endless()
    };
    assert!(endless("Nodes 4\nConnections 1\n0->3 start 0 size 0\n") && !endless(CM));
}

#[test]
fn other_lines_before_the_connections_are_not_read_as_in_htsim() {
    let text = CM.replace("Nodes 4", "Generated for a test\nNodes 4");
    assert_eq!(read(&star(4), "htsim", &[("unit", "ps")], &text), read(&star(4), "htsim", &[("unit", "ps")], CM));
}

const CM: &str = "# burst\nNodes 4\nConnections 3\n0->3 id 1 start 1000000 size 2000000\n1->3 start 0.5 size 10 prio 3\n\
                  2->3 id 3 start 2e6 size 1\n";

#[test]
fn a_connection_matrix_is_read_in_the_unit_that_is_said() {
    let starts = |unit| {
        let (flows, notes) = read(&star(4), "htsim", &[("unit", unit)], CM).unwrap();
        assert_eq!(notes.last().unwrap(), "traffic `t`: Overspill ignores the priorities of 1 flows in `f`");
        flows.into_iter().map(|flow| (flow.0, flow.1)).collect::<Vec<_>>()
    };
    assert_eq!(starts("ps"), [("1ps".to_string(), 1), ("1us".into(), 0), ("2us".into(), 2)]);
    assert_eq!(starts("us"), [("500ns".to_string(), 1)], "the others start after a second");
}

#[test]
fn what_a_connection_matrix_may_not_hold_is_said_of_its_line() {
    let built = "flows with a start time, because triggers and failures are not supported";
    for (from, to, said) in [
        ("Nodes 4", "Nodes 5", "line 2: 5 nodes; at most the 4 hosts of the network".to_string()),
        ("Nodes 4\n", "", "no line `Nodes`; `Nodes N` before the connections".into()),
        ("Connections 3\n", "", "no line `Connections`; `Connections C` before the connections".into()),
        (
            "Connections 3",
            "Connections 4",
            "`Connections 4`, but 3 lines with connections; the number of lines with connections".into(),
        ),
        ("Connections 3", "Connections", "line 3: `Connections`; `Connections` and a whole number".into()),
        ("Connections 3", "Triggers 1", format!("line 3: `Triggers`; {built}")),
        ("start 1000000", "trigger 1", format!("line 4: `trigger`; {built}")),
        ("prio 3", "send_done_trigger 1", format!("line 5: `send_done_trigger`; {built}")),
        ("prio 3", "trigger id 1 oneshot", format!("line 5: `trigger`; {built}")),
        ("2->3 id 3", "trigger id 1 oneshot\n2->3", format!("line 6: `trigger`; {built}")),
        ("prio 3", "prio", "line 5: `prio` without a value; a value after this word".into()),
        ("start 1000000 ", "", "line 4: a flow without `start`; `start` and a number".into()),
        (" size 2000000", "", "line 4: a flow without `size`; `size` and a number".into()),
        ("2->3", "2>3", "line 6: `2>3`; `Nodes`, `Connections` or `source->destination`".into()),
        ("2->3", "2->4", "line 6: destination `4`; the name of a host, or the number of a host from 0 to 3".into()),
    ] {
        assert_eq!(CM.matches(from).count(), 1, "{from}");
        let wrong = read(&star(4), "htsim", &[("unit", "ps")], &CM.replace(from, to)).unwrap_err();
        assert_eq!(wrong, [format!("file: `f`, {said}")]);
    }
}

#[test]
fn a_flow_file_of_opera_counts_nanoseconds() {
    let (flows, _) = read(&star(4), "opera", &[], "0 1 1500 2000\n3 2 9 0.5\n").unwrap();
    assert_eq!(flows, [("500ps".to_string(), 3, 2, 9, 0), ("2us".into(), 0, 1, 1500, 0)]);
    let wrong = read(&star(4), "opera", &[], "0 1 1500\n").unwrap_err();
    assert_eq!(wrong, ["file: `f`, line 1: 3 fields; 4 fields: source, destination, bytes, start in ns"]);
    assert_eq!(read(&star(4), "opera", &[], "# none\n").unwrap_err(), ["file: `f`, no flows; at least one line"]);
}

#[test]
fn size_files_of_other_tools_are_read_as_they_are_written() {
    // HPCC: bytes and percent. TrafficGenerator: bytes and shares. YAPS: packets, 1, shares. CSV with a header.
    let hpcc = "0 0\n10000 15\n20000 20\n30000 30\n1000000 70\n10000000 100\n";
    let generator = "0 0\n10000 0.15\n20000 0.2\n30000 0.3\n1000000 0.7\n10000000 1\n";
    let csv = "size,cdf\n0,0\n10000,0.15\n20000,0.2\n30000,0.3\n1000000,0.7\n10000000,1\n";
    let yaps = "0 1 0\n10 1 0.15\n20 1 0.2\n30 1 0.3\n1000 1 0.7\n10000 1 1\n";
    let means = [hpcc, generator, csv].map(|text| Sizes::parse(text).unwrap().0.mean_bytes());
    // 0.15·5000 + 0.05·15000 + 0.1·25000 + 0.4·515000 + 0.3·5500000
    assert!(means.iter().all(|mean| (mean - 1_860_000.0).abs() < 1e-6), "{means:?}");
    let (packets, how) = Sizes::parse(yaps).unwrap();
    assert_eq!(how, "packets of 1460 B and shares from 0 to 1");
    assert!((packets.mean_bytes() / 1460.0 - 1860.0).abs() < 1e-9);
}

fn trace(text: &str, given: &[(&str, &str)]) -> Result<(Vec<FlowSpec>, Vec<String>), Vec<String>> {
    let net = star(4);
    let all = [&[("file", "f.csv")], given].concat();
    let (traffic, notes) = with_files(&net, "trace", &all, &|_| Ok(text.into())).map_err(format_faults)?;
    Ok((traffic.flows(0, &net, 1, Time(Dur::s(1).0)).collect(), notes))
}

#[test]
fn a_trace_is_read_in_any_order_by_name_or_number() {
    let text =
        "\u{feff}start, source, destination, bytes\r\n# late\r\n2ms,h1,h0,20KB\r\n\r\n0.5,3,h2,7\r\n1.5s,0,1,1\r\n";
    let (flows, notes) = trace(text, &[("unit", "us"), ("class", "2")]).unwrap();
    let plain: Vec<_> = flows.iter().map(|f| (f.start.to_string(), f.src.0, f.dst.0, f.bytes, f.class)).collect();
    assert_eq!(plain, [("500ns".into(), 3, 2, 7, 2), ("2ms".into(), 1, 0, 20_000, 2)]);
    assert_eq!(
        notes,
        ["traffic `t`: 1 of 3 flows in `f.csv` start at or after the duration of 1s and are left out. \
                        Increase `duration` to include these flows"]
    );
}

#[test]
fn a_trace_may_be_quoted_and_its_columns_in_any_order() {
    let plain = trace("start,source,destination,bytes\n1us,h0,h1,10\n2us,h2,h3,20\n", &[]).unwrap().0;
    let quoted =
        "# by hand\n\"Bytes\",\"Source\",\"Destination\",\"Start\"\n10,\"h0\",\"h1\",\"1us\"\n\n20,h2,h3,\"2us\"\n";
    assert_eq!(trace(quoted, &[]).unwrap().0, plain);
    let twice = trace("start,start,source,bytes\n1us,2us,h1,10\n", &[]).unwrap_err();
    assert!(twice[0].contains("the header"), "{twice:?}");
}

#[test]
fn flows_with_the_same_text_in_the_column_query_form_one() {
    let text = "query,start,source,destination,bytes\n\
                late,9us,h0,h1,1\nb 7,2us,h0,h1,1\n,1us,h1,h2,1\nb 7,4us,h2,h1,1\nlate,2s,h3,h1,1\n07,3us,h3,h1,1\n";
    let flows = trace(text, &[]).unwrap().0;
    // Queries are numbered in the order of their first flows; their texts are no numbers.
    let plain: Vec<_> = flows.iter().map(|f| (f.start.0 / 1_000_000, f.query)).collect();
    assert_eq!(plain, [(1, u32::MAX), (2, 0), (3, 1), (4, 0), (9, 2)]);
    let (traffic, _) = with_files(&star(4), "trace", &[("file", "f")], &|_| Ok(text.into())).unwrap();
    let size = traffic.query_size();
    assert_eq!(
        [0, 1, 2, 3].map(|query| size.count_messages(query)),
        [2, 1, 2, 0],
        "what starts too late is of its query"
    );
    let none = "start,source,destination,bytes,query\n1us,h0,h1,1,\n";
    let (traffic, _) = with_files(&star(4), "trace", &[("file", "f")], &|_| Ok(none.into())).unwrap();
    assert_eq!(traffic.query_size(), QuerySize::None);
    let short = trace("start,source,destination,bytes,query\n1us,h0,h1,1\n", &[]).unwrap_err();
    assert_eq!(short, ["file: `f.csv`, line 2: 4 fields; 5 fields"]);
}

#[test]
fn a_malformed_trace_is_refused_with_its_line() {
    const H: &str = "start,source,destination,bytes\n";
    let host = "the name of a host, or the number of a host from 0 to 3";
    for (text, said) in [
        (String::new(), "no lines; the header `start,source,destination,bytes` and one line per flow".into()),
        (H.into(), "no flows; at least one line after the header".into()),
        (
            "src,dst\n".into(),
            "line 1: `src,dst`; the header `start,source,destination,bytes`, or with a column `query`".into(),
        ),
        (format!("{H}1us,h0,h1\n"), "line 2: 3 fields; 4 fields".into()),
        (format!("{H}\n1us,h0,h9,1\n"), format!("line 3: destination `h9`; {host}")),
        (format!("{H}1us,7,h1,1\n"), format!("line 2: source `7`; {host}")),
        (format!("{H}1us,h1,1,1\n"), "line 2: `h1` sends to itself; a destination other than the source".into()),
        (
            format!("{H}1us,h0,h1,0\n"),
            "line 2: bytes `0`; a whole number of bytes, at least 1, or a size such as `20KB`".into(),
        ),
        (
            format!("{H}1us,h0,h1,-5\n"),
            "line 2: bytes `-5`; a whole number of bytes, at least 1, or a size such as `20KB`".into(),
        ),
        (
            format!("{H}15,h0,h1,1\n"),
            "line 2: start `15` has no unit; a time with its unit, such as `1.5ms`, or the \
                                      key `unit` in the scenario"
                .into(),
        ),
        (
            format!("{H}-1us,h0,h1,1\n"),
            "line 2: start `-1us` is negative; a time with its unit, such as `1.5ms`, or \
                                        the key `unit` in the scenario"
                .into(),
        ),
        (
            format!("{H}NaN,h0,h1,1\n"),
            "line 2: start `NaN` does not start with a number; a time with its unit, such as \
                                       `1.5ms`, or the key `unit` in the scenario"
                .into(),
        ),
    ] {
        assert_eq!(trace(&text, &[]).unwrap_err(), [format!("file: `f.csv`, {said}")], "{text:?}");
    }
    let two = trace(&format!("{H}x,h0,h1,1\n1us,h0,h1,1\n1us,h5,h1,1\n"), &[]).unwrap_err();
    assert_eq!(two.len(), 2);
    assert_eq!(
        format_faults(workload(&star(4), "trace", &[("file", "gone.csv")]).unwrap_err()),
        ["file: `gone.csv`: no such file; a file that can be read"]
    );
}
