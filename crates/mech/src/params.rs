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
    /// Value of `kind` in the table; empty for a table without kinds.
    pub kind: &'static str,
    /// Description of the table in one sentence.
    pub doc: &'static str,
    /// Source of the mechanism or setting: paper or standard, with the clause.
    pub cite: &'static str,
    /// Parameters of the table, in the order of display.
    pub params: &'static [Param],
}

/// Declaration of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Key of the parameter in a scenario, as in the paper.
    pub name: &'static str,
    /// Description of the parameter in one sentence, with the paper's symbol and clause.
    pub doc: &'static str,
    /// Kind and range of the allowed values.
    pub kind: ParamKind,
    /// Default value, written as in a scenario without quotes; `None` if the parameter is required.
    pub default: Option<&'static str>,
}

/// Kind of the values of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// Boolean, `true` or `false`.
    Flag,
    /// Whole number in a closed range.
    Count {
        /// Smallest allowed value of the parameter.
        min: u64,
        /// Largest allowed value of the parameter.
        max: u64,
    },
    /// Whole number in a closed range, or the word `off`.
    CountOrOff {
        /// Smallest allowed value of the parameter.
        min: u64,
        /// Largest allowed value of the parameter.
        max: u64,
    },
    /// Dimensionless number in a closed or half-open range.
    Number {
        /// Smallest allowed value of the parameter.
        min: f64,
        /// Largest allowed value of the parameter.
        max: f64,
        /// True if the value `max` itself is not allowed.
        below_max: bool,
    },
    /// Duration, with a minimum.
    Time {
        /// Smallest allowed duration, in picoseconds.
        min: u64,
    },
    /// Positive data rate.
    Rate,
    /// Number of packets or bytes, with a minimum.
    Amount {
        /// Smallest allowed value of the parameter, in packets or bytes as given.
        min: u64,
    },
    /// Number of bytes, with a minimum.
    Size {
        /// Smallest allowed number of bytes.
        min: u64,
    },
    /// Word out of a list of allowed words.
    Choice(&'static [&'static str]),
    /// Text, such as a name or a path.
    Text,
    /// List of texts, such as names of hosts.
    Texts,
    /// List of texts, or a word out of a list of allowed words.
    TextsOr(&'static [&'static str]),
    /// List of dimensionless numbers, each at least 0.
    Numbers,
    /// List of whole numbers, each in a closed range.
    Counts {
        /// Smallest allowed number in the list.
        min: u64,
        /// Largest allowed number in the list.
        max: u64,
    },
    /// List of positive data rates, each of which may be the word `off` instead.
    RatesOrOff,
    /// Table of traffic classes, 0 to 7, by DSCP, 0 to 63.
    DscpClasses,
    /// Flow sizes: one size, the name of a distribution or of a file, or a table of one of these kinds.
    Sizes(&'static [&'static Spec]),
    /// Table of one of these kinds.
    Table(&'static [&'static Spec]),
    /// Table of tables, each under a name that the scenario chooses.
    Named(&'static Spec),
    /// List of tables.
    List(&'static Spec),
}

/// Validated value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Boolean of a parameter of kind [`ParamKind::Flag`].
    Flag(bool),
    /// Whole number of a parameter of kind [`ParamKind::Count`] or [`ParamKind::CountOrOff`].
    Count(u64),
    /// Word `off` of a parameter of kind [`ParamKind::CountOrOff`].
    Off,
    /// Dimensionless number of a parameter of kind [`ParamKind::Number`].
    Number(f64),
    /// Duration of a parameter of kind [`ParamKind::Time`].
    Time(Dur),
    /// Data rate of a parameter of kind [`ParamKind::Rate`].
    Rate(Rate),
    /// Number of packets or bytes of a parameter of kind [`ParamKind::Amount`].
    Amount(Amount),
    /// Size in bytes of a parameter of kind [`ParamKind::Size`].
    Size(Bytes),
    /// Word or text of a parameter of kind [`ParamKind::Choice`], [`ParamKind::Text`] or [`ParamKind::TextsOr`].
    Word(String),
    /// List of texts of a parameter of kind [`ParamKind::Texts`] or [`ParamKind::TextsOr`].
    Texts(Vec<String>),
    /// List of dimensionless numbers of a parameter of kind [`ParamKind::Numbers`].
    Numbers(Vec<f64>),
    /// List of whole numbers of a parameter of kind [`ParamKind::Counts`].
    Counts(Vec<u64>),
    /// List of data rates of a parameter of kind [`ParamKind::RatesOrOff`]; `None` is the word `off`.
    Rates(Vec<Option<Rate>>),
    /// Traffic classes by DSCP of a parameter of kind [`ParamKind::DscpClasses`], without DSCPs that are left out.
    DscpClasses(BTreeMap<u8, u8>),
    /// Kind and values of a table ([`ParamKind::Sizes`] or [`ParamKind::Table`]); its texts are words.
    Table(String, Values),
    /// Tables with their names, in the order of the scenario ([`ParamKind::Named`]).
    Named(Vec<(String, Values)>),
    /// List of tables ([`ParamKind::List`]).
    List(Vec<Values>),
}

impl ParamKind {
    /// Returns the declarations of the tables that a value of this kind contains.
    pub fn nested_specs(&self) -> Vec<&'static Spec> {
        match self {
            ParamKind::Sizes(specs) | ParamKind::Table(specs) => specs.to_vec(),
            ParamKind::Named(spec) | ParamKind::List(spec) => vec![spec],
            _ => Vec::new(),
        }
    }
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
        /// Returns the value of a boolean parameter.
        flag: Flag => bool, |v: &bool| *v;
        /// Returns the value of a parameter that is a whole number.
        count: Count => u64, |v: &u64| *v;
        /// Returns the value of a parameter that is a dimensionless number.
        number: Number => f64, |v: &f64| *v;
        /// Returns the value of a parameter that is a duration.
        time: Time => Dur, |v: &Dur| *v;
        /// Returns the value of a parameter that is a data rate.
        rate: Rate => Rate, |v: &Rate| *v;
        /// Returns the value of a parameter that is a number of packets or bytes.
        amount: Amount => Amount, |v: &Amount| *v;
        /// Returns the value of a parameter that is a size, in bytes.
        size: Size => u64, |v: &Bytes| v.0;
        /// Returns the value of a parameter that is a word.
        word: Word => &str, |v| -> &str { let v: &String = v; v.as_str() };
        /// Returns the value of a parameter that is a list of texts.
        texts: Texts => &[String], |v| -> &[String] { let v: &Vec<String> = v; v.as_slice() };
        /// Returns the value of a parameter that is a list of dimensionless numbers.
        numbers: Numbers => &[f64], |v| -> &[f64] { let v: &Vec<f64> = v; v.as_slice() };
        /// Returns the value of a parameter that is a list of whole numbers.
        counts: Counts => &[u64], |v| -> &[u64] { let v: &Vec<u64> = v; v.as_slice() };
        /// Returns the tables of a parameter that is a table of named tables, with their names.
        named: Named => &[(String, Values)], |v| -> &[(String, Values)] { let v: &Vec<(String, Values)> = v; v };
        /// Returns the tables of a parameter that is a list of tables.
        list: List => &[Values], |v| -> &[Values] { let v: &Vec<Values> = v; v };
    }

    /// Returns the value of a parameter that is a whole number, or `None` for `off`.
    ///
    /// # Panics
    /// Panics like the other getters.
    pub fn count_or_off(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(Value::Off) => None,
            _ => Some(self.count(name)),
        }
    }
    /// Returns the word of a parameter of kind [`ParamKind::TextsOr`], or its list of texts as the error.
    ///
    /// # Errors
    /// Returns the list, if the value is one.
    ///
    /// # Panics
    /// Panics like the other getters.
    pub fn word_or_texts(&self, name: &str) -> Result<&str, &[String]> {
        match self.0.get(name) {
            Some(Value::Texts(list)) => Err(list),
            _ => Ok(self.word(name)),
        }
    }
    /// Returns the value of a parameter as this Rust type.
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
