//! Parameters, declared once as the source of validation, command-line help, schema and reference.

mod typed;

pub use typed::{NumberOrOff, ParamType, WordOr};

use std::collections::BTreeMap;
use units::{Amount, Bytes, Dur, Rate};

/// Declaration of a table in a scenario: a mechanism, a topology, a transport, a kind of traffic, or fixed settings.
#[derive(Debug)]
pub struct Spec {
    /// Path of the table in the scenario: `switch.overflow`, `topology`, `traffic`.
    pub slot: &'static str,
    /// Name: the value of `kind`; empty for a table without kinds.
    pub kind: &'static str,
    /// Description in one sentence.
    pub doc: &'static str,
    /// Source: paper or standard, with the clause.
    pub cite: &'static str,
    /// Parameters, in the order of display.
    pub params: &'static [Param],
}

/// Declaration of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Key in the scenario, as in the paper.
    pub name: &'static str,
    /// Description in one sentence, with the paper's symbol and clause.
    pub doc: &'static str,
    /// Allowed values.
    pub kind: ParamKind,
    /// Default, written as in a scenario without quotes; `None` if the parameter is required.
    pub default: Option<&'static str>,
}

/// Kind of the values of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// Boolean, `true` or `false`.
    Flag,
    /// Whole number in a closed range.
    Count {
        /// Smallest allowed number.
        min: u64,
        /// Largest allowed number.
        max: u64,
    },
    /// Whole number in a closed range, or the word `off`.
    CountOrOff {
        /// Smallest allowed number.
        min: u64,
        /// Largest allowed number.
        max: u64,
    },
    /// Dimensionless number in a closed or half-open range.
    Number {
        /// Smallest allowed number.
        min: f64,
        /// Largest allowed number.
        max: f64,
        /// True if `max` itself is refused.
        below_max: bool,
    },
    /// Duration, with a minimum.
    Time {
        /// Smallest allowed duration, in picoseconds.
        min: u64,
    },
    /// Data rate.
    Rate,
    /// Number of packets or bytes, with a minimum.
    Amount {
        /// Smallest allowed number, in the unit of the value.
        min: u64,
    },
    /// Number of bytes, with a minimum.
    Size {
        /// Smallest allowed number of bytes.
        min: u64,
    },
    /// Word out of a list.
    Choice(&'static [&'static str]),
    /// Text, such as a name or a path.
    Text,
    /// List of texts, such as names of hosts.
    Texts,
    /// List of texts, or a word out of a list.
    TextsOr(&'static [&'static str]),
    /// List of dimensionless numbers, each at least 0.
    Numbers,
    /// List of whole numbers, each in a closed range.
    Counts {
        /// Smallest allowed number.
        min: u64,
        /// Largest allowed number.
        max: u64,
    },
    /// Flow sizes: one size, the name of a distribution or of a file, or a table of one of these kinds.
    Sizes(&'static [&'static Spec]),
}

/// Validated value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Value of [`ParamKind::Flag`].
    Flag(bool),
    /// Value of [`ParamKind::Count`], or number of [`ParamKind::CountOrOff`].
    Count(u64),
    /// Word `off` of [`ParamKind::CountOrOff`].
    Off,
    /// Value of [`ParamKind::Number`].
    Number(f64),
    /// Value of [`ParamKind::Time`].
    Time(Dur),
    /// Value of [`ParamKind::Rate`].
    Rate(Rate),
    /// Value of [`ParamKind::Amount`].
    Amount(Amount),
    /// Value of [`ParamKind::Size`].
    Size(Bytes),
    /// Value of [`ParamKind::Choice`] or [`ParamKind::Text`], or a word of [`ParamKind::TextsOr`].
    Word(String),
    /// Value of [`ParamKind::Texts`], or a list of [`ParamKind::TextsOr`].
    Words(Vec<String>),
    /// Value of [`ParamKind::Numbers`].
    Numbers(Vec<f64>),
    /// Value of [`ParamKind::Counts`].
    Counts(Vec<u64>),
    /// Kind and values of a table of [`ParamKind::Sizes`]; its texts are words.
    Table(String, Values),
}

/// Validated parameters of one table: all that were given or have a default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(pub BTreeMap<String, Value>);

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $variant:ident => $out:ty, $convert:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// Panics if no parameter of this name and kind is declared. That is a fault of the program, not of the input.
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
        /// Returns a boolean.
        flag: Flag => bool, |v: &bool| *v;
        /// Returns a whole number.
        count: Count => u64, |v: &u64| *v;
        /// Returns a dimensionless number.
        number: Number => f64, |v: &f64| *v;
        /// Returns a duration.
        time: Time => Dur, |v: &Dur| *v;
        /// Returns a data rate.
        rate: Rate => Rate, |v: &Rate| *v;
        /// Returns a number of packets or bytes.
        amount: Amount => Amount, |v: &Amount| *v;
        /// Returns a size in bytes.
        size: Size => u64, |v: &Bytes| v.0;
        /// Returns a word.
        word: Word => &str, |v| -> &str { let v: &String = v; v.as_str() };
        /// Returns a list of texts.
        words: Words => &[String], |v| -> &[String] { let v: &Vec<String> = v; v.as_slice() };
        /// Returns a list of numbers.
        numbers: Numbers => &[f64], |v| -> &[f64] { let v: &Vec<f64> = v; v.as_slice() };
        /// Returns a list of whole numbers.
        counts: Counts => &[u64], |v| -> &[u64] { let v: &Vec<u64> = v; v.as_slice() };
    }

    /// Returns a whole number, or `None` for `off`.
    ///
    /// # Panics
    /// Panics like the other getters.
    pub fn count_or_off(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(Value::Off) => None,
            _ => Some(self.count(name)),
        }
    }
    /// Returns a word, or the list of texts of [`ParamKind::TextsOr`] as the error.
    ///
    /// # Errors
    /// Returns the list, if the value is one.
    ///
    /// # Panics
    /// Panics like the other getters.
    pub fn one_of_or_words(&self, name: &str) -> Result<&str, &[String]> {
        match self.0.get(name) {
            Some(Value::Words(list)) => Err(list),
            _ => Ok(self.word(name)),
        }
    }
    /// Returns a value as a Rust type.
    ///
    /// # Panics
    /// Panics like the other getters.
    pub fn get<T: ParamType>(&self, name: &str) -> T {
        T::from_values(self, name)
    }
    /// Returns true if the parameter was given or has a default.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// Joins the parameters of several structs into one list, for a [`Spec`].
///
/// # Panics
/// Panics at compile time if there are not exactly `N` parameters.
#[must_use]
pub const fn join_params<const N: usize>(parts: &[&[Param]]) -> [Param; N] {
    let mut all = [Param { name: "", doc: "", kind: ParamKind::Flag, default: None }; N];
    let (mut at, mut part) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() {
            all[at] = parts[part][i];
            (i, at) = (i + 1, at + 1);
        }
        part += 1;
    }
    assert!(at == N, "N is the number of parameters");
    all
}
