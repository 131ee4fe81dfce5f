//! Tests of the memory that pausing needs beyond its thresholds, and of the error if it is too small.

use crate::common::{drops, rows, run, run_with, scenario, total};
use crate::pause::slow;
use sim::{Options, StopReason};
use units::Bytes;

/// Returns the scenario in which a pause needs the most headroom that the formula allows.
///
/// The frames from `a` are queued behind a link of 1 bit/s. The frame with which `xoff` is reached, exceeding it by all
/// but a byte, arrives a nanosecond after a frame of `c` has begun to leave toward `a`.
pub(crate) fn worst(size: u64) -> String {
    format!(
        r#"
name = "worst"
duration = "1ms"
[topology]
kind = "custom"
node = [
  {{ name = "a", kind = "host" }}, {{ name = "b", kind = "host" }}, {{ name = "c", kind = "host" }},
  {{ name = "s", kind = "switch" }},
]
link = [
  {{ a = "a", b = "s", rate = "1Gbps", delay = "18150ns" }},
  {{ a = "s", b = "b", rate = "1Kbps", delay = "1us" }},
  {{ a = "c", b = "s", rate = "1Gbps", delay = "18149ns" }},
]
[switch]
buffer = {{ kind = "per_port", size = "{size}B" }}
pause = {{ kind = "pfc", xoff = "{HIGH}B", xon = "0B" }}
[measure]
drain = "1ms"
allow_unfinished = true
[[traffic]]
name = "t"
kind = "constant"
source = "a"
destination = "b"
payload = "1460B"
rate = "1Gbps"
bytes = "wire"
[[traffic]]
name = "back"
kind = "constant"
source = "c"
destination = "a"
payload = "1460B"
rate = "1Gbps"
bytes = "wire"
"#
    )
}

/// XOFF threshold of ten frames and a byte: the eleventh queued frame exceeds it by 1517 B.
pub(crate) const HIGH: u64 = 15_181;

#[test]
fn the_headroom_that_is_computed_is_used_in_the_worst_case_and_a_byte_less_loses() {
    let text = worst(1_000_000);
    let headroom = scenario(&text, "").worst_case_link(3, 0).headroom_bytes();
    // Window: 1538 + 84 bytes of waiting and twice 18.15 us, 2268.75 each: four frames and 7.5 bytes, no more frame.
    assert_eq!(headroom, 1517 + 4 * 1518 + 1518);
    let most = run(&text, 1);
    let ports = rows(&most, "ports", ["node", "port", "max_bytes"]);
    let held = ports.iter().find(|row| row[..2] == [3, 1]).expect("the port toward b")[2];
    assert_eq!(held, HIGH + headroom);
    assert_eq!(run(&worst(held), 1).lost, None);
    let lost = run(&worst(held - 1), 1).lost.expect("one byte less is too little").lost;
    assert_eq!((lost.held, lost.xoff, lost.headroom), (held, HIGH, headroom));
}

/// Returns a scenario in which `a` sends to `x` over the switches `s` and `t`; `t` has a slow link to `x` and may
/// detour to `u` and back to `s`.
fn beside(overflow: &str, more: &str) -> String {
    format!(
        r#"
name = "beside"
duration = "3ms"
[topology]
kind = "custom"
node = [
  {{ name = "a", kind = "host" }}, {{ name = "x", kind = "host" }},
  {{ name = "s", kind = "switch" }}, {{ name = "t", kind = "switch" }}, {{ name = "u", kind = "switch" }},
]
link = [
  {{ a = "a", b = "s", rate = "10Gbps", delay = "1us" }},
  {{ a = "s", b = "t", rate = "10Gbps", delay = "2us" }},
  {{ a = "t", b = "u", rate = "10Gbps", delay = "1us" }},
  {{ a = "t", b = "x", rate = "100Mbps", delay = "1us" }},
]
[switch]
buffer = {{ kind = "per_port", size = "24KB" }}
overflow = {overflow}
pause = {{ kind = "pfc", xoff = "20KB", xon = "10KB" }}
{more}
[measure]
drain = "10ms"
[[override]]
where = {{ node = "s" }}
switch.buffer = {{ kind = "per_port", size = "400KB" }}
[[traffic]]
name = "f"
kind = "constant"
source = "a"
destination = "x"
rate = "10Gbps"
stop = "200us"
"#
    )
}

#[test]
fn a_packet_that_was_detoured_as_often_as_it_may_is_a_loss_too() {
    let lost = run(&beside(r#"{ kind = "detour", max_detours = 1 }"#, ""), 1);
    assert_eq!(lost.progress.stop, Some(StopReason::LosslessViolation));
    assert_eq!((total(&lost, "ports", "drop_detours_spent"), drops(&lost)), (1, 1));
    assert_eq!(lost.lost.expect("a packet was lost").node, 3);
}

/// Test of dynamic XOFF thresholds, which ports reach one after another.
/// Eight hosts send to a slow one, one after another: each is paused at half of the memory that the previous ones left.
#[test]
fn dynamic_thresholds_lose_if_ports_pause_one_after_another() {
    let node: String = (0..9).map(|i| format!("{{ name = \"h{i}\", kind = \"host\" }}, ")).collect();
    let link: String = (0..9)
        .map(|i| {
            let rate = if i == 0 { "10Mbps" } else { "10Gbps" };
            format!("{{ a = \"h{i}\", b = \"s\", rate = \"{rate}\", delay = \"2us\" }}, ")
        })
        .collect();
    let text = |apart: u64| {
        let flow = |i: u64| {
            format!(
                "[[traffic]]\nname = \"f{i}\"\nkind = \"constant\"\nsource = \"h{i}\"\ndestination = \"h0\"\n\
                 rate = \"10Gbps\"\nstart = \"{}us\"\nstop = \"4ms\"\n",
                (i - 1) * apart
            )
        };
        let flows: String = (1..9).map(flow).collect();
        format!(
            "name = \"pool\"\nduration = \"5ms\"\n[topology]\nkind = \"custom\"\nnode = [{node}{{ name = \"s\", \
             kind = \"switch\" }}]\nlink = [{link}]\n[switch]\nbuffer = {{ kind = \"shared\", size = \"1MB\", \
             alpha = 1000000 }}\npause = {{ kind = \"pfc\", alpha = 1 }}\n[measure]\nallow_unfinished = true\n\
             drain = \"0ms\"\n{flows}"
        )
    };
    assert_eq!(run(&text(0), 1).lost, None);
    let apart = text(420);
    let lost = run(&apart, 1).lost.expect("the last finds no room for its headroom");
    assert!(lost.lost.held > lost.lost.xoff && lost.lost.expired.is_none());
    // All hosts start together with a fifth of the memory: the free memory, and with it the threshold, vanishes within
    // the headroom.
    let small = scenario(&text(0).replace("1MB", "200KB"), "");
    let told = run_with(&small, 1, Options::default()).lost.expect("headroom is more than the pool").describe(&small);
    assert!(told.contains("above it exceeds the 9557B that may arrive after a pause request: xoff fell"), "{told}");
    assert!(told.contains("or a lower `switch.pause.alpha`, prevents such a loss"), "{told}");
}

/// Test of the error for a lost lossless packet.
/// The error names the cause: an expired pause, memory filled by other frames, or too little headroom.
#[test]
fn loss_error_blames_headroom_only_if_more_would_help() {
    let told = |text: &str| run(text, 1).lost.expect("a packet was lost").describe(&scenario(text, ""));
    let stop = |more: &str| slow(&format!(r#"{{ kind = "pfc", xoff = "20KB", xon = "10KB"{more} }}"#), "");
    let fast = |more: &str| stop(more).replace("stop = \"130us\"", "stop = \"2ms\"");
    // 100 quanta are 51.2 us, in which the slow link takes less than half a frame.
    let lapsed = told(&fast(r#", quanta = 100, refresh = "off""#));
    assert!(
        lapsed.contains(
            "but a pause lasts only 51200ns on this link and may have expired before its \
                             refresh"
        ),
        "{lapsed}"
    );
    assert!(!lapsed.contains("headroom") && lapsed.contains("A larger `quanta`, or a `refresh`, prevents"), "{lapsed}");
    assert_eq!(run(&fast(""), 1).lost, None);
    // The same pauses, but the memory is full before the first of them can have expired.
    let tight = told(&fast(r#", quanta = 100, refresh = "off""#).replace("100KB", "21KB"));
    assert!(tight.contains("so the headroom was less than") && tight.contains(", and the link needs"), "{tight}");
    assert!(tight.contains("More memory, or a lower `switch.pause.xoff`, prevents such a loss"), "{tight}");
    // The memory is filled by a class that the pause mechanism does not count.
    let other = "[[traffic]]\nname = \"kept\"\nkind = \"constant\"\nsource = \"a\"\ndestination = \"b\"\nclass = 1\n\
                 payload = \"1460B\"\nrate = \"1Gbps\"\nstart = \"1500us\"\n";
    let others = told(&format!("{}{other}", fast(", classes = [1]")));
    assert!(others.contains(
        "so there was no headroom, and the link needs a headroom of 4867B: other packets had \
                             filled the memory"
    ));
}

/// Test of the error for a packet that only the dynamic threshold of its output port refused.
/// With α = 1, the port holds at most half of the 40 KB and a part of a frame; the other half is still free.
#[test]
fn loss_error_names_alpha_of_a_buffer_with_free_memory() {
    let pause =
        slow(r#"{ kind = "pfc", xoff = "19KB", xon = "10KB" }"#, "").replace("stop = \"130us\"", "stop = \"2ms\"");
    let shared = pause.replace("kind = \"per_port\"", "kind = \"shared\", alpha = 1").replace("100KB", "40KB");
    let lost = run(&shared, 1).lost.expect("a packet was lost");
    let told = lost.describe(&scenario(&shared, ""));
    let (used, limit) = (lost.lost.fill.used, lost.lost.fill.limit.expect("a threshold"));
    assert!(lost.lost.over_threshold && limit == 40_000 - used, "{told}");
    let (now, most) = (Bytes(used), Bytes(limit));
    let full = match used > limit {
        true => format!("was full: {now} in use, above its limit of {most}, which falls as the shared memory fills"),
        false => format!("was full: {now} in use, with a limit of {most}"),
    };
    assert!(told.contains(&full), "{told}");
    let cure = "More memory, a larger `switch.buffer.alpha`, or a lower `switch.pause.xoff`, prevents such a loss";
    assert!(told.contains(cure), "{told}");
}
