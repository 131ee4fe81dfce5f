//! Parameters, declared once: validation, command-line help, schema and docs come from here.

mod typed;

pub use typed::{MaybeOff, Typed, WordOr};

use std::collections::BTreeMap;
use units::{Amount, Bytes, Dur, Rate};

/// What a scenario may name: a mechanism, a topology, a transport, a kind of traffic, or a fixed
/// table of settings.
#[derive(Debug)]
pub struct Spec {
    /// The table it stands in, as a path in the scenario: `switch.overflow`, `topology`, `traffic`.
    pub slot: &'static str,
    /// Its name: the value of `kind`; empty for a table that has no kinds.
    pub kind: &'static str,
    /// One sentence: what it does.
    pub doc: &'static str,
    /// Where it comes from: paper or standard, with the clause.
    pub cite: &'static str,
    /// Its parameters, in the order in which they are shown.
    pub params: &'static [Param],
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The key in the scenario, as in the paper.
    pub name: &'static str,
    /// One sentence: what it is, with the paper's symbol and clause.
    pub doc: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// The default, written as in a scenario without quotes; `None` where it must be given.
    pub default: Option<&'static str>,
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number in a closed range.
    Count {
        /// Smallest allowed.
        min: u64,
        /// Largest allowed.
        max: u64,
    },
    /// A whole number in a closed range, or the word `off`.
    CountOrOff {
        /// Smallest allowed.
        min: u64,
        /// Largest allowed.
        max: u64,
    },
    /// A dimensionless number in a closed or half-open range.
    Number {
        /// Smallest allowed.
        min: f64,
        /// Largest allowed.
        max: f64,
        /// Whether `max` itself is refused.
        below_max: bool,
    },
    /// A length of time, at least so many picoseconds.
    Time {
        /// Smallest allowed, in picoseconds.
        min: u64,
    },
    /// A rate.
    Rate,
    /// Packets or bytes, at least so many.
    Amount {
        /// Smallest allowed, in whichever unit was given.
        min: u64,
    },
    /// Bytes, at least so many.
    Size {
        /// Smallest allowed, in bytes.
        min: u64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text: a name, a path.
    Text,
    /// A list of texts: names of hosts.
    Texts,
    /// A list of texts, or one of these words.
    TextsOr(&'static [&'static str]),
    /// A list of dimensionless numbers, each at least 0.
    Numbers,
    /// A list of whole numbers, each in a closed range.
    Counts {
        /// Smallest allowed.
        min: u64,
        /// Largest allowed.
        max: u64,
    },
    /// Sizes of flows: one size, the name of a distribution or of a file, or a table of one of these
    /// kinds.
    Sizes(&'static [&'static Spec]),
}

/// A validated value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of [`Kind::Flag`].
    Flag(bool),
    /// Of [`Kind::Count`] and [`Kind::CountOrOff`].
    Count(u64),
    /// `off`, of [`Kind::CountOrOff`].
    Off,
    /// Of [`Kind::Number`].
    Number(f64),
    /// Of [`Kind::Time`].
    Time(Dur),
    /// Of [`Kind::Rate`].
    Rate(Rate),
    /// Of [`Kind::Amount`].
    Amount(Amount),
    /// Of [`Kind::Size`].
    Size(Bytes),
    /// Of [`Kind::Choice`] and [`Kind::Text`], and a word of [`Kind::TextsOr`].
    Word(String),
    /// Of [`Kind::Texts`] and [`Kind::TextsOr`].
    Words(Vec<String>),
    /// Of [`Kind::Numbers`].
    Numbers(Vec<f64>),
    /// Of [`Kind::Counts`].
    Counts(Vec<u64>),
    /// A table of a kind, of [`Kind::Sizes`]; its texts are words.
    Table(String, Values),
}

/// The validated parameters of one table: every declared one that was given or has a default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(pub BTreeMap<String, Value>);

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $variant:ident => $out:ty, $convert:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// Where no parameter of this name and kind was declared: a fault of the program, not of input.
        pub fn $name(&self, name: &str) -> $out {
            match self.0.get(name) {
                Some(Value::$variant(v)) => $convert(v),
                other => panic!("parameter `{name}` is not a declared {}: {other:?}", stringify!($variant)),
            }
        }
    )*};
}

impl Values {
    getters! {
        /// A flag.
        flag: Flag => bool, |v: &bool| *v;
        /// A whole number.
        count: Count => u64, |v: &u64| *v;
        /// A dimensionless number.
        number: Number => f64, |v: &f64| *v;
        /// A length of time.
        time: Time => Dur, |v: &Dur| *v;
        /// A rate.
        rate: Rate => Rate, |v: &Rate| *v;
        /// Packets or bytes.
        amount: Amount => Amount, |v: &Amount| *v;
        /// A size.
        size: Size => u64, |v: &Bytes| v.0;
        /// A word.
        word: Word => &str, |v| -> &str { let v: &String = v; v.as_str() };
        /// A list of words.
        words: Words => &[String], |v| -> &[String] { let v: &Vec<String> = v; v.as_slice() };
        /// A list of numbers.
        numbers: Numbers => &[f64], |v| -> &[f64] { let v: &Vec<f64> = v; v.as_slice() };
        /// A list of whole numbers.
        counts: Counts => &[u64], |v| -> &[u64] { let v: &Vec<u64> = v; v.as_slice() };
    }

    /// A whole number, or `None` for `off`.
    ///
    /// # Panics
    /// As the other getters.
    pub fn count_or_off(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(Value::Off) => None,
            _ => Some(self.count(name)),
        }
    }
    /// A word, or as the error a list of texts, of [`Kind::TextsOr`].
    ///
    /// # Errors
    /// The list.
    ///
    /// # Panics
    /// As the other getters.
    pub fn one_of_or_words(&self, name: &str) -> Result<&str, &[String]> {
        match self.0.get(name) {
            Some(Value::Words(list)) => Err(list),
            _ => Ok(self.word(name)),
        }
    }
    /// A value of a type.
    ///
    /// # Panics
    /// As the other getters.
    pub fn get<T: Typed>(&self, name: &str) -> T {
        T::from_values(self, name)
    }
    /// Whether a parameter without a default was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// The parameters of several structs as one list, for a [`Spec`].
///
/// # Panics
/// Where they are not `N`, when the program is compiled.
#[must_use]
pub const fn joined<const N: usize>(parts: &[&[Param]]) -> [Param; N] {
    let mut all = [Param { name: "", doc: "", kind: Kind::Flag, default: None }; N];
    let (mut at, mut part) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() {
            all[at] = parts[part][i];
            (i, at) = (i + 1, at + 1);
        }
        part += 1;
    }
    assert!(at == N, "as many parameters as there are");
    all
}
