#![no_main]
//! Parses text as quantities: nothing panics, and a printed quantity parses to itself.

use libfuzzer_sys::fuzz_target;
use units::{parse_amount, parse_bytes, parse_dur, parse_rate};

fuzz_target!(|text: &str| {
    if let Ok(time) = parse_dur(text) {
        assert_eq!(parse_dur(&time.to_string()), Ok(time));
    }
    if let Ok(size) = parse_bytes(text) {
        assert_eq!(parse_bytes(&size.to_string()), Ok(size));
    }
    if let Ok(amount) = parse_amount(text) {
        assert_eq!(parse_amount(&amount.to_string()), Ok(amount));
    }
    if let Ok(rate) = parse_rate(text) {
        assert_eq!(parse_rate(&rate.to_string()), Ok(rate));
        let times = [0, 1, 1538, 65_535, u64::MAX].map(|bytes| rate.time(bytes));
        assert!(times.is_sorted(), "more bytes take longer: {times:?}");
        assert_eq!(rate.divide(1, 1), Some(rate));
    }
});
