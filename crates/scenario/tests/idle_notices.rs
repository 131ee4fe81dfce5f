//! Congestion points, or parts of them, that have no effect: each gives a note or is refused.

use crate::common::{loaded, refused, star};

/// Returns the notes of a small scenario whose switch has these lines, without the one about the missing reaction.
fn notes(switch: &str, traffic: &str) -> Vec<String> {
    let all = loaded(&star(&format!("{traffic}[switch]\n{switch}\n")), &[]).notes;
    let own = all.iter().map(|note| note.strip_prefix("default: ").expect("of the one variant").to_string());
    own.filter(|note| !note.starts_with("switch.notify has no effect on flows with host.reaction")).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn a_queue_that_is_never_congested_since_its_buffer_is_full_before_is_told() {
    let with = |buffer: &str, more: &str| {
        notes(
            &format!("buffer = {{ kind = \"per_port\", size = \"{buffer}\" }}\nnotify = {{ kind = \"qcn\"{more} }}"),
            "",
        )
    };
    // 3 q - 60 KB reaches one step, 4762 B, at 21,588 B.
    let said = "switch.notify sends no congestion notifications at s0 and switches like it: notification begins above \
                21587B, but the buffer of a port is only ";
    assert_eq!(with("21587B", ""), [format!("{said}21587B")]);
    assert_eq!(with("21588B", ""), NONE);
    assert_eq!(with("14pkt", ""), [format!("{said}14pkt")]);
    assert_eq!(with("15pkt", ""), NONE);
    assert_eq!(with("14pkt", ", at = \"inputs\""), NONE, "what came in by a port waits at all others");
    assert_eq!(with("14pkt", ", q_eq = \"9KB\""), NONE);
    assert_eq!(notes("buffer = { kind = \"unlimited\" }\nnotify = { kind = \"qcn\" }", ""), NONE);
}

#[test]
fn a_class_that_no_packet_has_is_told() {
    let of = |class: u8, traffic: &str| {
        notes(
            &format!("buffer = {{ kind = \"unlimited\" }}\nnotify = {{ kind = \"qcn\", class = {class} }}"),
            &format!("class = {traffic}\n"),
        )
    };
    assert_eq!(
        of(3, "2"),
        ["switch.notify sends no congestion notifications: no packet has class 3, the only class \
                             that it samples"]
    );
    assert_eq!(
        of(0, "2"),
        ["switch.notify sends no congestion notifications: no packet has class 0, the only class \
                             that it samples"]
    );
    assert_eq!(of(2, "2"), NONE);
}

#[test]
fn a_clock_that_runs_while_nobody_is_paused_is_told() {
    let with = |pause: &str| {
        let clock = "notify = { kind = \"qcn\", at = \"inputs\", culprit = \"occupancy\", keep_alive = \"120us\" }";
        notes(&format!("buffer = {{ kind = \"per_port\", size = \"600KB\" }}\n{pause}\n{clock}"), "")
    };
    let said = "switch.notify.keep_alive has no effect: no port with this mechanism pauses its far end. Set \
                switch.pause, or remove keep_alive";
    assert_eq!(with(""), [said]);
    assert_eq!(with("pause = { kind = \"pfc\", xoff = \"40KB\", xon = \"20KB\" }"), NONE);
}

#[test]
fn a_clock_where_frames_go_on_coming_or_where_none_is_told_of_is_refused() {
    let with = |more: &str| {
        refused(&star(&format!("[switch]\nnotify = {{ kind = \"qcn\", keep_alive = \"1us\"{more} }}\n")), &[])
    };
    let outputs = with("");
    let rule = "expected at = \"inputs\", because outputs need no clock: frames still arrive there while a far end is \
                paused";
    assert!(
        outputs.ends_with(&format!("switch.notify.keep_alive: found keep_alive with at = \"outputs\"; {rule}")),
        "{outputs}"
    );
    let arrival = with(", at = \"inputs\"");
    let rule = "expected `occupancy` or `two_samples`, because a sample by a clock has no arriving frame whose source \
                could be notified";
    assert!(
        arrival.ends_with(&format!("switch.notify.keep_alive: found keep_alive with culprit = \"arrival\"; {rule}")),
        "{arrival}"
    );
}

#[test]
fn unused_unit_and_index_of_qcn_warn() {
    let with =
        |more: &str| notes(&format!("buffer = {{ kind = \"unlimited\" }}\nnotify = {{ kind = \"qcn\"{more} }}"), "");
    let unit = "qcn: unit has no effect with culprit = \"arrival\", because no flow is drawn from the memory";
    assert_eq!(with(", unit = \"256B\""), [unit]);
    assert_eq!(with(", unit = \"64B\", culprit = \"occupancy\""), NONE);
    let index = "qcn: index has no effect with culprit = \"occupancy\", because no two flows are compared";
    assert_eq!(with(", index = \"backlog\", culprit = \"occupancy\""), [index]);
    assert_eq!(with(", at = \"inputs\", index = \"backlog\", culprit = \"two_samples\""), NONE);
}

#[test]
fn messages_without_a_reaction_point_and_reaction_points_without_messages_are_told() {
    let host = |reaction: &str| format!("[host]\nnic = {{ kind = \"round_robin\" }}\nreaction = {{ {reaction} }}\n");
    let with = |reaction: &str, notify: &str| {
        let switch = "[switch]\nbuffer = { kind = \"unlimited\" }\n";
        loaded(&star(&format!("{}{switch}notify = {{ {notify} }}\n", host(reaction))), &[]).notes
    };
    let [qcn, none] = ["kind = \"qcn\"", "kind = \"none\""];
    assert_eq!(with(qcn, qcn), NONE);
    assert_eq!(with(none, none), NONE);
    let unheard = "default: switch.notify has no effect on flows with host.reaction = \"none\": sources ignore \
                   congestion notifications and keep their rates. Set host.reaction = \"qcn\", or remove switch.notify";
    assert_eq!(with(none, qcn), [unheard]);
    let untold = "default: host.reaction has no effect with switch.notify = \"none\": switches send no congestion \
                  notifications. Set switch.notify = \"qcn\", or remove host.reaction";
    assert_eq!(with(qcn, none), [untold]);
    // If notices are for a class that no packet has, the note on unsent notices is the only one.
    let of_class = with(qcn, "kind = \"qcn\", class = 3");
    assert_eq!(
        of_class,
        ["default: switch.notify sends no congestion notifications: no packet has class 3, the only \
                           class that it samples"]
    );
    // One switch that sends notices is enough.
    let some = "[[override]]\nwhere = { node = \"s0\" }\nswitch.notify = { kind = \"qcn\" }\n";
    let text = star(&format!("{}[switch]\nbuffer = {{ kind = \"unlimited\" }}\n{some}", host(qcn)));
    assert_eq!(loaded(&text, &[]).notes, NONE);
}

#[test]
fn an_input_that_is_never_congested_since_its_memory_is_full_before_is_told() {
    let with = |q_eq: &str| {
        let buffer = "model = \"cioq\"\ninput_buffer = \"150KB\"\nbuffer = { kind = \"per_port\", size = \"150KB\" }";
        notes(&format!("{buffer}\nnotify = {{ kind = \"qcn\", at = \"inputs\", q_eq = \"{q_eq}\" }}"), "")
    };
    let said = "switch.notify sends no congestion notifications at s0 and switches like it: notification begins above \
                359788B, but input_buffer is only 150KB";
    assert_eq!(with("1MB"), [said]);
    assert_eq!(with("60KB"), NONE);
}

#[test]
fn memory_that_holds_no_full_frame_is_told() {
    let of = |switch: &str| {
        let all = loaded(&star(&format!("[switch]\n{switch}\n")), &[]).notes;
        all.into_iter().filter(|note| note.contains("is less than a full frame")).collect::<Vec<_>>()
    };
    let said = |key: &str| {
        vec![format!(
            "default: {key} = 500B is less than a full frame of 1518B: all full frames are lost. Increase this size"
        )]
    };
    assert_eq!(of("buffer = { kind = \"per_port\", size = \"500B\" }"), said("switch.buffer.size"));
    let inputs = "buffer = { kind = \"per_port\", size = \"150KB\" }\nmodel = \"cioq\"\ninput_buffer";
    assert_eq!(of(&format!("{inputs} = \"500B\"")), said("switch.input_buffer"));
    assert_eq!(of(&format!("{inputs} = \"1518B\"")), NONE);
    assert_eq!(of("buffer = { kind = \"per_port\", size = \"1pkt\" }"), NONE);
    let inside = |key: &str, size: &str| {
        let fabric = format!("fabric = {{ kind = \"mesh\", link_rate = \"1Gbps\", {key} = \"{size}\" }}");
        of(&format!("buffer = {{ kind = \"per_port\", size = \"150KB\" }}\nmodel = \"fabric\"\n{fabric}"))
    };
    assert_eq!(inside("stage_buffer", "500B"), said("switch.fabric.stage_buffer"));
    let far = said("switch.fabric.link_buffer")[0].replace("all full frames", "all full frames for another stage");
    assert_eq!(inside("link_buffer", "500B"), [far]);
    assert_eq!(inside("link_buffer", "1518B"), NONE);
}

/// Warning about a `fabric` input whose memory of copies limits it to less than its link.
/// 100 KB in each ms is 800 Mb/s of 1 Gb/s; 125 KB is all of it.
#[test]
fn copies_that_keep_an_input_below_its_link_are_told() {
    let of = |memory: &str, fabric: &str, more: &str| {
        let fabric = format!("fabric = {{ kind = \"mesh\", link_rate = \"1Gbps\", {fabric} }}");
        let switch = format!("model = \"fabric\"\n{fabric}\ninput_buffer = \"{memory}\"\n{more}");
        let text = format!("[switch]\n{switch}\nbuffer = {{ kind = \"per_port\", size = \"150KB\" }}\n");
        let all = loaded(&star(&text), &[]).notes;
        all.into_iter().filter(|note| note.contains("ack_delay")).collect::<Vec<_>>()
    };
    let copies = |delay: &str| format!("end_to_end = true, ack_delay = \"{delay}\"");
    let said = |delay: &str, what: &str| {
        vec![format!(
            "default: switch.fabric.ack_delay = {delay} is too long for inputs with links of 1Gbps at s0 and switches \
             like it: their memory fills with copies that wait for an acknowledgement, and {what}"
        )]
    };
    let full = |most: &str, memory: &str| format!("an input carries at most {most} with its memory of {memory}");
    assert_eq!(of("100KB", &copies("1ms"), ""), said("1ms", &full("800Mbps", "100KB")));
    assert_eq!(of("20pkt", &copies("1ms"), ""), said("1ms", &full("242Mbps", "30360B")));
    assert_eq!(of("2KB", &copies("1s"), ""), said("1s", &full("16Kbps", "2KB")));
    assert_eq!(of("125KB", &copies("1ms"), ""), NONE);
    assert_eq!(of("100KB", &copies("1us"), ""), NONE);
    assert_eq!(of("100KB", &copies("0s"), ""), NONE);
    assert_eq!(of("100KB", "end_to_end = false, ack_delay = \"1ms\"", ""), NONE);
    // Copies count for PAUSE and PFC.
    let pause =
        |xoff: &str| format!("pause = {{ kind = \"pfc\", xoff = \"{xoff}\", xon = \"2KB\", lossless = false }}");
    let paused = "an input pauses its link at 20KB";
    assert_eq!(of("125KB", &copies("1ms"), &pause("20KB")), said("1ms", paused));
    assert_eq!(of("125KB", &copies("160us"), &pause("20KB")), NONE);
}
