//! Comments in captures that describe the history of a packet, which is in no header.

use dataplane::Pkt;

/// Describes the bounces, detours and cut of a packet before it crossed the link.
/// Example: `bounced 2 times, detoured 1 time, cut from 1518 to 64 B`.
/// Returns `None` if nothing happened to it. Sizes are those of frames with their check sequence.
pub fn describe_history(pkt: &Pkt) -> Option<String> {
    let head = &pkt.head;
    let cut = (head.size < head.orig_size).then(|| format!("cut from {} to {} B", head.orig_size, head.size));
    let parts = [format_times("bounced", head.bounces), format_times("detoured", head.detours), cut];
    let said: Vec<String> = parts.into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join(", "))
}

fn format_times(what: &str, count: u8) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("{what} 1 time")),
        // The 8-bit counters of a packet saturate, so 255 stands for any larger number too.
        u8::MAX => Some(format!("{what} 255 times or more")),
        n => Some(format!("{what} {n} times")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_lists_only_events_that_happened() {
        let mut pkt = Pkt::default();
        (pkt.head.size, pkt.head.orig_size) = (1518, 1518);
        assert_eq!(describe_history(&pkt), None);
        (pkt.head.bounces, pkt.head.detours) = (2, 1);
        assert_eq!(describe_history(&pkt).unwrap(), "bounced 2 times, detoured 1 time");
        (pkt.head.bounces, pkt.head.detours, pkt.head.size) = (0, 255, 64);
        assert_eq!(describe_history(&pkt).unwrap(), "detoured 255 times or more, cut from 1518 to 64 B");
    }
}
