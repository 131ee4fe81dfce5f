//! Recordings of flows at a Linux kernel's sender, parsed from text.

use units::{Dur, Time};

/// Event of a recorded line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Application writes this number of segments.
    Write(u64),
    /// ACK with the number of the first missing segment, blocks, the echoed emission, and the echo of a mark.
    Ack { number: u64, blocks: Vec<(u64, u64)>, echo: Option<usize>, ece: bool },
    /// Expiry of a timer of the kernel, which makes it send.
    Timer,
    /// End of the recording.
    End,
}

/// Recorded event, with the segments that the kernel then sent, and its state after it.
#[derive(Clone, Debug)]
pub struct Line {
    pub at: Time,
    pub event: Event,
    pub sent: Vec<u64>,
    pub cwnd: u64,
    /// Slow start threshold in segments; `None` before any cut.
    pub ssthresh: Option<u64>,
}

/// Recording of one flow at a Linux kernel's sender.
#[derive(Clone, Debug)]
pub struct Recording {
    pub seed: u64,
    pub control: String,
    pub sack: bool,
    pub stamps: bool,
    pub ecn: bool,
    /// Round-trip time of the handshake in microseconds.
    pub rtt: u64,
    pub lines: Vec<Line>,
}

fn number(word: &str) -> u64 {
    word.parse().unwrap_or_else(|_| panic!("`{word}` is no number"))
}

impl Recording {
    /// Parses all recordings of a text; each begins with a line `flow`.
    pub fn read_all(text: &str) -> Vec<Recording> {
        let mut all: Vec<Recording> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix("flow ") {
                Some(head) => all.push(Recording::head(head)),
                None => all.last_mut().into_iter().for_each(|of| of.lines.push(Line::read(line))),
            }
        }
        all
    }

    fn head(line: &str) -> Recording {
        let words: Vec<&str> = line.split_whitespace().collect();
        let of = |key: &str| words.iter().find_map(|w| w.strip_prefix(key)?.strip_prefix('=')).unwrap_or("0");
        Recording {
            seed: number(words[0]),
            control: words[1].into(),
            sack: of("sack") == "1",
            stamps: of("stamps") == "1",
            ecn: of("ecn") == "1",
            rtt: number(of("rtt")),
            lines: Vec::new(),
        }
    }

    /// Number of segments that the application writes.
    pub fn segments(&self) -> u64 {
        let written = |line: &Line| if let Event::Write(count) = line.event { count } else { 0 };
        self.lines.iter().map(written).sum()
    }
}

impl Line {
    fn read(line: &str) -> Line {
        let line = line.split(';').next().unwrap_or("");
        let (what, after) = line.split_once('|').unwrap_or((line, ""));
        let (event, sent) = what.split_once('>').unwrap_or((what, ""));
        let mut words = event.split_whitespace();
        let first = words.next().expect("an event");
        let rest: Vec<&str> = words.collect();
        let (event, at) = match first.split_at(1) {
            ("w", at) => (Event::Write(number(rest[0])), at),
            ("a", at) => (ack(&rest), at),
            ("t", at) => (Event::Timer, at),
            _ => (Event::End, first.trim_start_matches("end")),
        };
        let at = if at.is_empty() { rest[0] } else { at };
        let mut windows = after.split_whitespace();
        Line {
            at: Time::ZERO + Dur::us(number(at)),
            event,
            sent: sent.split_whitespace().flat_map(range).collect(),
            cwnd: windows.next().map_or(0, number),
            ssthresh: windows.next().filter(|high| *high != "-").map(number),
        }
    }
}

fn ack(words: &[&str]) -> Event {
    let block = |word: &str| word.split_once('-').map(|(from, to)| (number(from), number(to)));
    Event::Ack {
        number: number(words[0]),
        blocks: words.iter().skip(1).flat_map(|word| word.split(',').filter_map(block)).collect(),
        echo: words.iter().find_map(|word| word.strip_prefix('#')).map(|n| number(n) as usize),
        ece: words.contains(&"ece"),
    }
}

/// Parses a range of numbers: `3-5` is 3, 4, 5.
fn range(word: &str) -> std::ops::RangeInclusive<u64> {
    let (from, to) = word.split_once('-').unwrap_or((word, word));
    number(from)..=number(to)
}
