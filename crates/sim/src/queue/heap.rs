//! 4-ary min-heap, for events far ahead, and as the plain reference with which the wheel is compared.

use super::Key;

const ARITY: usize = 4;

/// Min-heap of keys in which every parent has four children.
#[derive(Clone, Debug, Default)]
pub struct FourAryHeap {
    keys: Vec<Key>,
}

impl FourAryHeap {
    /// Returns an empty heap.
    pub const fn new() -> FourAryHeap {
        FourAryHeap { keys: Vec::new() }
    }
    /// Returns the number of pending events.
    #[inline]
    pub fn len(&self) -> usize {
        self.keys.len()
    }
    /// Returns true if no event is pending.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
    /// Returns the next event without removing it.
    #[inline]
    pub fn peek(&self) -> Option<Key> {
        self.keys.first().copied()
    }
    /// Adds an event.
    #[inline]
    pub fn push(&mut self, key: Key) {
        self.keys.push(key);
        self.sift_up(self.keys.len() - 1, key);
    }
    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<Key> {
        let last = self.keys.pop()?;
        let Some(&first) = self.keys.first() else { return Some(last) };
        self.sift_down(last);
        Some(first)
    }

    fn sift_up(&mut self, mut at: usize, key: Key) {
        let keys = &mut self.keys[..];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if keys[parent] < key {
                break;
            }
            keys[at] = keys[parent];
            at = parent;
        }
        keys[at] = key;
    }

    /// Puts `key` in the place of the first key, and moves it down to its level.
    fn sift_down(&mut self, key: Key) {
        let keys = &mut self.keys[..];
        let mut at = 0;
        loop {
            let child = at * ARITY + 1;
            let (least, found) = match keys.get(child..child + ARITY) {
                Some(four) => least_of_four(four),
                None if child < keys.len() => min_key(&keys[child..]),
                None => break,
            };
            if key < found {
                break;
            }
            keys[at] = found;
            at = child + least;
        }
        keys[at] = key;
    }
}

/// Returns the smallest of four keys and its index. Two rounds of a knockout have shorter chains of dependent
/// comparisons than a scan.
#[inline]
fn least_of_four(keys: &[Key]) -> (usize, Key) {
    let left = if keys[1] < keys[0] { (1, keys[1]) } else { (0, keys[0]) };
    let right = if keys[3] < keys[2] { (3, keys[3]) } else { (2, keys[2]) };
    if right.1 < left.1 { right } else { left }
}

fn min_key(keys: &[Key]) -> (usize, Key) {
    let mut best = (0, keys[0]);
    for (i, &key) in keys.iter().enumerate().skip(1) {
        if key < best.1 {
            best = (i, key);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::StepPhase;
    use super::*;
    use mech::{Stream, StreamPurpose};
    use units::Time;

    #[test]
    fn any_number_of_keys_comes_out_in_order() {
        let mut rng = Stream::new(1, 0, StreamPurpose::Custom(0));
        for count in 0..200u32 {
            let mut heap = FourAryHeap::new();
            let mut expected: Vec<Key> =
                (0..count).map(|i| Key::new(Time(rng.uniform_below(50)), i, StepPhase::Arrival, 0)).collect();
            expected.iter().for_each(|&key| heap.push(key));
            expected.sort();
            assert_eq!(heap.len(), expected.len());
            for key in expected {
                assert_eq!(heap.peek(), Some(key));
                assert_eq!(heap.pop(), Some(key));
            }
            assert_eq!((heap.pop(), heap.peek(), heap.is_empty()), (None, None, true));
        }
    }
}
