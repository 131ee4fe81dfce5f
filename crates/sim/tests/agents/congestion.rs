//! Tests of the congestion points of the catalogue (QCN) at inputs and outputs of switches, with a culprit and a
//! victim.

use super::{AS_NAMED, TO_H1, burst, run, text};
use crate::common::scenario;
use mech::{FlowId, HostId, Notice, PortId};
use sim::{Options, build};

/// Returns the settings of a congestion point with a set point of 6000 B, which samples after ten frames.
fn point(model: &str, at: &str) -> String {
    let notify = "kind = \"qcn\", q_eq = \"6000B\", interval = \"15180B\", jitter = 0";
    format!(
        "model = \"{model}\"\nbuffer = {{ kind = \"per_port\", size = \"100pkt\" }}\nnotify = {{ {notify}, at = \"{at}\" }}"
    )
}

/// Number of messages to h0, and quantized feedback, q_off and q_delta of the last one.
type ExpectedMessage = (u64, u8, i64, i64);

fn assert_messages(model: &str, at: &str, point_at: PortId, expected: &[(u64, ExpectedMessage)]) {
    for (frames, (times, feedback, q_off, q_delta)) in expected {
        let world = run(&text(&point(model, at), &burst(*frames, "2us")), AS_NAMED);
        // Messages give lengths in units of 64 B.
        let last =
            Notice::Cnm { feedback: *feedback, q_off: q_off / 64 * 64, q_delta: q_delta / 64 * 64, point: point_at };
        assert_eq!(
            world.host(HostId(0)).notice_stats(FlowId(0)),
            (*times, Some(last)),
            "{model}, {at}, {frames} frames"
        );
        assert_eq!(world.host(HostId(1)).notice_stats(FlowId(0)), (0, None));
        assert_eq!(world.observer().at(1, |_| true).len() as u64, *frames);
    }
}

/// Test of a congestion point at an input of a `cioq` switch, with feedback computed by hand.
/// A frame crosses in 6.072 us, so that floor(2 (i - 1) / 6.072) frames have left the input when frame i has arrived:
///
/// | frame | at the input | q_off | q_delta | Fb, at most 30000 | of 63 | next after |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | 10 | 8, 12144 B | 6144 | 12144 | 30432 | 63 | 1872 B |
/// | 12 | 9, 13662 B | 7662 | 1518 | 10698 | 22 | 5060 B |
/// | 16 | 12, 18216 B | 12216 | 4554 | 21324 | 44 | 2530 B |
/// | 18 | 13, 19734 B | 13734 | 1518 | 16770 | 35 | |
#[test]
fn congestion_point_at_an_input_counts_waiting_and_crossing() {
    let expected =
        [(10, (1, 63, 6144, 12144)), (12, (2, 22, 7662, 1518)), (16, (3, 44, 12216, 4554)), (18, (4, 35, 13734, 1518))];
    assert_messages("cioq", "inputs", PortId(0), &expected);
}

/// Test of a congestion point at an input of an output-queued switch.
/// Frames of a switch without input buffers count for their input until they begin to leave. These are the frames
/// queued at the output, since no others arrive.
#[test]
fn congestion_point_at_oq_input_counts_what_entered_there() {
    let expected = [(10, (1, 63, 6144, 12144)), (12, (2, 32, 9180, 3036)), (17, (4, 51, 15252, 4554))];
    assert_messages("output_queued", "inputs", PortId(0), &expected);
    assert_messages("output_queued", "outputs", PortId(TO_H1), &expected);
}

/// Test of a congestion point at an output of a `cioq` switch, with feedback computed by hand.
/// Frame k has crossed 6.072 k us after the first arrival, and 1 + floor(6.072 (k - 1) / 12.304) frames have begun to
/// leave by then:
///
/// | frame | in the buffer | q_off | q_delta | Fb | of 63 | next after |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | 10 | 5, 7590 B | 1590 | 7590 | 16770 | 35 | 3036 B |
/// | 12 | 6, 9108 B | 3108 | 1518 | 6144 | 12 | 7590 B |
/// | 17 | 9, 13662 B | 7662 | 4554 | 16770 | 35 | |
#[test]
fn congestion_point_at_cioq_output_counts_frames_that_crossed() {
    let expected = [(10, (1, 35, 1590, 7590)), (12, (2, 12, 3108, 1518)), (17, (3, 35, 7662, 4554))];
    assert_messages("cioq", "outputs", PortId(TO_H1), &expected);
}

/// Returns a scenario in which h0 sends at the same rate to h1, which takes all frames, and to h2, which takes a
/// fourth.
///
/// Both flows arrive by one port.
fn victim_and_culprit(model: &str, notify: &str) -> String {
    let source = |name: &str, to: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\nkind = \"constant\"\nsource = \"h0\"\ndestination = \"{to}\"\nrate = \"4Gbps\"\n"
        )
    };
    format!(
        "name = \"victim\"\nduration = \"4ms\"\n[topology]\nkind = \"custom\"\n\
         node = [{{ name = \"h0\", kind = \"host\" }}, {{ name = \"h1\", kind = \"host\" }}, \
         {{ name = \"h2\", kind = \"host\" }}, {{ name = \"s\", kind = \"switch\" }}]\n\
         link = [{{ a = \"s\", b = \"h0\", rate = \"10Gbps\", delay = \"1us\" }}, \
         {{ a = \"s\", b = \"h1\", rate = \"10Gbps\", delay = \"1us\" }}, \
         {{ a = \"s\", b = \"h2\", rate = \"1Gbps\", delay = \"1us\" }}]\n\
         [host]\nnic = {{ kind = \"round_robin\" }}\n\
         [switch]\nmodel = {model}\nbuffer = {{ kind = \"per_port\", size = \"150KB\" }}\n\
         notify = {{ kind = \"qcn\"{notify} }}\n{}{}",
        source("victim", "h1"),
        source("culprit", "h2")
    )
}

/// Returns the numbers of messages to the victim and to the culprit.
fn count_messages(model: &str, notify: &str) -> [u64; 2] {
    let scenario = scenario(&victim_and_culprit(model, notify), "");
    let mut world = build(&scenario, 1, Options::default(), ()).unwrap();
    world.run();
    assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
    [0, 1].map(|flow| world.host(HostId(0)).notice_stats(FlowId(flow)).0)
}

/// Test of the victim's share of messages, by model of the switch and by rule of sampling.
/// The victim has four of five stored arrivals if frames queue at outputs only, since three of four frames of the
/// culprit are lost there. It has half of the arrivals if frames queue at their input, which holds all.
#[test]
fn only_occupancy_sampling_at_inputs_spares_the_victim() {
    for (model, of_arrivals) in [("\"output_queued\"", 0.8), ("\"cioq\"\ninput_buffer = \"10MB\"", 0.5)] {
        let share = |notify: &str| {
            let [victim, culprit] = count_messages(model, notify);
            assert!(victim + culprit > 80, "{model}{notify}: {victim} and {culprit}");
            victim as f64 / (victim + culprit) as f64
        };
        let at_inputs =
            |culprit: &str| share(&format!(", at = \"inputs\", interval = \"50KB\", culprit = \"{culprit}\""));
        let [arrival, occupancy, two_samples] = ["arrival", "occupancy", "two_samples"].map(at_inputs);
        assert!((arrival - of_arrivals).abs() < 0.1, "{model}: {arrival}");
        assert!(occupancy < 0.1 && two_samples <= occupancy, "{model}: {occupancy}, {two_samples}");
        for culprit in ["arrival", "occupancy", "two_samples"] {
            assert_eq!(share(&format!(", interval = \"15KB\", culprit = \"{culprit}\"")), 0.0, "{model}, {culprit}");
        }
    }
}
