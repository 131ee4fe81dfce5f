//! Tests of `cut_delay` of `trim`: a header is queued or sent back later by this time, and nothing else changes.

use super::{AS_NAMED, DELAY, Delivered, EventLocation, FAST, FRAMES, Observer, SLOW, burst, run, text};
use crate::common::watched::{Watching, watch_with_hooks};
use crate::common::{column, run_with, scenario};
use dataplane::Pkt;
use mech::HostId;
use sim::{Options, RunHooks};
use units::Time;

/// Transmission time in ps of 64 B with preamble and gap at 1 Gb/s.
const HEADER: u64 = 672_000;

/// Returns a scenario of raw packets to a port that trims, with a buffer of `buffer` bytes.
fn cutting(buffer: &str, given: &str, frames: u64) -> String {
    let overflow = format!("overflow = {{ kind = \"trim\", trimmable = \"any\"{given} }}");
    text(&format!("buffer = {{ kind = \"per_port\", size = \"{buffer}\" }}\n{overflow}"), &burst(frames, "1us"))
}
fn delivered(world: &Watching<Delivered>) -> Vec<(u64, u32)> {
    world.observer().0.iter().map(|(at, _, pkt)| (*at, pkt.emission)).collect()
}

/// Test that a delay shorter than the wait in the queue changes no departure.
/// A header waits behind ten frames of 12304 ns, or, in a class of its own, until the frame in transmission has ended.
/// None ends in the 56 ns after a cut: frame i arrives 1230.4 i ns after the first, and a header of 64 B leaves in 672
/// ns.
#[test]
fn trim_delay_shorter_than_the_wait_changes_no_departure() {
    let leaves = |given: &str| delivered(&run(&cutting("15180B", given, FRAMES), AS_NAMED));
    assert_eq!(leaves(", cut_delay = \"56ns\""), leaves(""));
    assert_eq!(leaves("").len() as u64, FRAMES);
}

/// Record of transmissions by ports: node, end, packet, and true if the packet is returned to its source.
#[derive(Clone, Default)]
struct Sent(Vec<(u32, u64, u32, bool)>);

impl Observer for Sent {
    fn on_transmit(&mut self, at: EventLocation, pkt: &Pkt, end: Time) {
        self.0.push((at.node, end.0, pkt.emission, pkt.head.flags.has(mech::Flags::RETURNED)));
    }
}

/// Test of headers that are returned to their source.
/// Five headers do not fit, as in the test without a delay. Each goes back 56 ns later, by a link that is otherwise
/// idle; the others wait longer than that.
#[test]
fn a_header_that_goes_back_leaves_56_ns_later_and_all_else_when_it_did() {
    let sent = |given: &str| {
        let text = cutting("15180B", &format!(", extra = \"1620B\", no_room = \"return\"{given}"), FRAMES);
        let hooks = RunHooks { observer: Sent::default(), tap: (), change_switch: AS_NAMED };
        let mut world = watch_with_hooks(&scenario(&text, ""), 1, Options::default(), hooks);
        world.run();
        assert!(world.conserves_packets(), "{:?}", world.describe_imbalance());
        let mut all = world.observer().0.clone();
        all.sort_unstable();
        all
    };
    let (at_once, later) = (sent(""), sent(", cut_delay = \"56ns\""));
    let moved = at_once.iter().map(|(node, end, pkt, back)| (*node, end + u64::from(*back) * 56_000, *pkt, *back));
    assert_eq!(later, moved.collect::<Vec<_>>());
    assert_eq!(later.iter().filter(|(.., back)| *back).count(), 5);
}

/// Test of headers that find an idle port.
/// T is 1000 B: frame 0 leaves, 1 is queued, 2 and 3 are trimmed on arrival. 30 us later the port has been idle since
/// frame 1 left, and the headers leave immediately; with 56 ns more delay they leave 56 ns later.
#[test]
fn headers_at_an_idle_port_leave_after_the_trim_delay() {
    for delay in [30_000_000, 30_056_000] {
        let world = run(&cutting("1000B", &format!(", cut_delay = \"{delay}ps\""), 4), AS_NAMED);
        let first = FAST + DELAY;
        let header = |n: u64| (first + n * FAST + delay + HEADER + DELAY, n as u32);
        let expected = vec![(first + SLOW + DELAY, 0), (first + 2 * SLOW + DELAY, 1), header(2), header(3)];
        assert_eq!(delivered(&world), expected, "{delay}");
    }
}

/// Test of the buffer space of headers that are being trimmed, computed by hand.
/// T is 3000 B. Frames 1 and 2 are queued when 3 arrives; 3 to 9 are trimmed. So are 11 to 19 behind 10, 21 to 29
/// behind 20, and 30 to 39, since two frames have left by then but no header has. The first header is ready after 43.7
/// us, and queues behind 20, which starts to leave at 49.2 us. So the most frames are queued when 39 has arrived: 20
/// and 35 headers. The most bytes are queued when 29 has arrived: 10 and 20 and 25 headers.
#[test]
fn headers_being_trimmed_take_buffer_space() {
    let text = cutting("3000B", ", cut_delay = \"40us\"", FRAMES);
    let results = run_with(&scenario(&text, ""), 1, Options::default());
    let columns = ["trimmed", "max_packets", "max_bytes"].map(|name| column(&results, "ports", name));
    let port = columns[0].iter().position(|cut| *cut > 0).unwrap();
    assert_eq!(columns.map(|column| column[port]), [35, 36, 4636]);
}

/// Test of the buffer space of headers that have a class of their own.
/// Data is compared with T alone, so that frame 30 is stored too, and headers with E alone: 3 and 4 fit. While they are
/// being trimmed no other header fits, so that the 32 after them go back.
#[test]
fn headers_being_trimmed_take_space_of_their_own_class() {
    let given = ", cut_delay = \"40us\", header_class = 7, extra = \"100B\", no_room = \"return\"";
    let world = run(&cutting("3000B", given, FRAMES), AS_NAMED);
    let order: Vec<u32> = delivered(&world).into_iter().map(|(_, pkt)| pkt).collect();
    assert_eq!(order, [0, 1, 2, 10, 3, 4, 20, 30]);
    assert_eq!(world.host(HostId(0)).packets_returned(), 32);
}

/// Test of counters while headers are being trimmed.
/// Counters also balance if a link dies meanwhile, so that headers are lost.
#[test]
fn the_books_balance_at_any_instant_while_headers_are_being_cut() {
    let ways =
        ["", ", header_class = 7", ", victim = \"coin\", header_class = 7", ", extra = \"100B\", no_room = \"return\""];
    for given in ways {
        for event in ["", "event = [{ kind = \"link_down\", at = \"50us\", link = \"s:h1\" }]\n"] {
            let text = cutting("3000B", &format!("{given}, cut_delay = \"40us\""), FRAMES);
            let text = text.replace("[topology]", &format!("{event}[topology]"));
            let mut world = super::world(&text, Options::default(), AS_NAMED);
            while world.progress().stop.is_none() {
                world.advance(1);
                assert!(world.conserves_packets(), "{:?}: {:?}\n{text}", world.progress(), world.describe_imbalance());
            }
            assert_eq!((world.payload().waiting, world.payload().is_conserved()), (0, true), "{text}");
            assert!(world.payload().cut > 20_000, "{text}");
        }
    }
}
