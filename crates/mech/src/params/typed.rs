//! Validated parameters as structs and enums, each declared once.

use super::{Value, Values};
use units::{Amount, Bytes, Dur, Rate};

/// Declares the parameters of a mechanism, and a struct with their values.
///
/// The macro defines a struct with a typed field for each parameter, `PARAMS` for its [`Spec`](crate::params::Spec),
/// and `read`, which takes validated values. A field of type `Option` may be left out of the scenario. A comma after
/// the last entry of any list is optional.
///
/// ```
/// use mech::params::ParamKind;
/// use mech::units::{Amount, Dur};
///
/// mech::params! {
///     /// Values of the parameters.
///     pub struct Params {
///         limit: Amount = {
///             doc: "Queue length from which on packets are dropped.",
///             kind: ParamKind::Amount { min: 1 },
///             default: Some("20pkt"),
///         },
///         wait: Dur = { doc: "Time between two drops.", kind: ParamKind::Time { min: 1 }, default: Some("10us") }
///     }
/// }
///
/// assert_eq!(Params::PARAMS[1].name, "wait");
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$doc:meta])*
        $vis:vis struct $given:ident {
            $($name:ident: $ty:ty = { doc: $text:expr, kind: $kind:expr, default: $default:expr $(,)? }),* $(,)?
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        $vis struct $given {
            $(#[doc = $text] pub $name: $ty,)*
        }

        impl $given {
            /// Declarations of the parameters.
            $vis const PARAMS: &'static [$crate::params::Param] = &[$($crate::params::Param {
                name: stringify!($name),
                doc: $text,
                kind: $kind,
                default: $default,
            }),*];

            /// Reads the parameters from validated values.
            $vis fn read(values: &$crate::params::Values) -> $given {
                $given { $($name: $crate::params::ParamType::from_values(values, stringify!($name)),)* }
            }
        }
    };
}

/// Declares an enum for a parameter whose value is one of a few words, one for each variant.
/// The macro also defines `KIND` for the parameter, and the conversion of a validated word into a variant.
#[macro_export]
macro_rules! choice {
    (
        $(#[$doc:meta])*
        $vis:vis enum $choice:ident { $($(#[$of:meta])* $variant:ident = $word:literal),* $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $choice {
            $($(#[$of])* #[doc = concat!("`", $word, "`")] $variant,)*
        }

        impl $choice {
            /// Parameter kind that allows exactly these words.
            #[allow(dead_code)]
            $vis const KIND: $crate::params::ParamKind = $crate::params::ParamKind::Choice($choice::WORDS);

            /// Words of all variants, as in scenarios.
            $vis const WORDS: &'static [&'static str] = &[$($word),*];

            /// Returns the word of the variant in scenarios.
            #[allow(dead_code)]
            $vis const fn word(self) -> &'static str {
                match self {
                    $($choice::$variant => $word,)*
                }
            }
        }

        impl $crate::params::ParamType for $choice {
            fn from_values(values: &$crate::params::Values, name: &str) -> $choice {
                match values.word(name) {
                    $($word => $choice::$variant,)*
                    other => panic!("`{other}` is not a word of parameter `{name}`"),
                }
            }
        }
    };
}

/// Rust type in which a validated parameter can be read.
///
/// ```
/// use mech::params::{ParamType, Value, Values};
///
/// mech::choice! {
///     /// Order of a list.
///     enum Order {
///         Oldest = "oldest_first",
///         Newest = "newest_first",
///     }
/// }
///
/// let given = [("order", Value::Word("newest_first".into())), ("limit", Value::Count(8))];
/// let values = Values(given.map(|(name, value)| (name.to_string(), value)).into());
/// assert_eq!(Order::from_values(&values, "order"), Order::Newest);
/// assert_eq!(values.get::<u64>("limit"), 8);
/// assert_eq!(values.get::<Option<u64>>("delay"), None);
/// ```
pub trait ParamType {
    /// Returns the value of the parameter with this name.
    ///
    /// # Panics
    /// Panics if no parameter of this name and type is declared. That is a fault of the program, not of the input.
    fn from_values(values: &Values, name: &str) -> Self;
}

/// Value of [`ParamKind::CountOrOff`](super::ParamKind::CountOrOff), for parameters without a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOrOff {
    /// Parameter that the scenario leaves out.
    LeftOut,
    /// Word `off` in place of a number.
    Off,
    /// Whole number given in the scenario.
    Count(u64),
}

impl ParamType for NumberOrOff {
    fn from_values(values: &Values, name: &str) -> NumberOrOff {
        match values.0.get(name) {
            None => NumberOrOff::LeftOut,
            Some(Value::Off) => NumberOrOff::Off,
            Some(_) => NumberOrOff::Count(u64::from_values(values, name)),
        }
    }
}

/// Word, or list of texts, of [`ParamKind::TextsOr`](super::ParamKind::TextsOr).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordOr<W> {
    /// Word that the parameter allows in place of a list.
    Word(W),
    /// List of texts given in the scenario.
    List(Vec<String>),
}

macro_rules! typed {
    ($($ty:ty: $variant:ident,)*) => {$(
        impl ParamType for $ty {
            fn from_values(values: &Values, name: &str) -> $ty {
                match values.0.get(name) {
                    Some(Value::$variant(value)) => value.clone(),
                    other => panic!("parameter `{name}` is not a declared {}: {other:?}", stringify!($variant)),
                }
            }
        }
    )*};
}

typed! {
    bool: Flag,
    u64: Count,
    f64: Number,
    Dur: Time,
    Rate: Rate,
    Amount: Amount,
    Bytes: Size,
    String: Word,
    Vec<String>: Texts,
    Vec<f64>: Numbers,
    Vec<u64>: Counts,
    Vec<Option<Rate>>: Rates,
    Vec<(String, Values)>: Named,
    Vec<Values>: List,
}

/// Optional parameter, read as `None` if it was left out or is `off`.
impl<T: ParamType> ParamType for Option<T> {
    fn from_values(values: &Values, name: &str) -> Option<T> {
        match values.0.get(name) {
            None | Some(Value::Off) => None,
            Some(_) => Some(T::from_values(values, name)),
        }
    }
}

impl<W: ParamType> ParamType for WordOr<W> {
    fn from_values(values: &Values, name: &str) -> WordOr<W> {
        match values.0.get(name) {
            Some(Value::Texts(_)) => WordOr::List(ParamType::from_values(values, name)),
            _ => WordOr::Word(ParamType::from_values(values, name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Param, ParamKind, Spec, join_params};
    use crate::testing::values;

    choice! {
        /// Test choice of two words.
        enum Side {
            Left = "left",
            Right = "right_hand",
        }
    }

    params! {
        /// Test parameters of several types.
        struct MixedParams {
            share: f64 = {
                doc: "A share.",
                kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
                default: Some("0.5"),
            },
            most: Option<u64> = {
                doc: "A number or off.",
                kind: ParamKind::CountOrOff { min: 1, max: 9 },
                default: Some("off"),
            },
            size: Option<Amount> = { doc: "May be left out.", kind: ParamKind::Amount { min: 1 }, default: Some(""), },
            hosts: WordOr<String> = { doc: "All, or some.", kind: ParamKind::TextsOr(&["all"]), default: Some("all"), },
        }
    }

    params! {
        /// Test parameters that are choices.
        struct SideParams {
            first: Side = { doc: "One.", kind: Side::KIND, default: Some("right_hand"), },
            other: Option<Side> = { doc: "The other.", kind: Side::KIND, default: Some(""), },
        }
    }

    choice! {
        /// Test choice without a comma after its last entry.
        enum ChoiceWithoutComma {
            Yes = "yes",
            No = "no"
        }
    }

    params! {
        /// Test parameters without commas after their last entries.
        struct ParamsWithoutCommas {
            share: f64 = {
                doc: "A share.",
                kind: ParamKind::Number { min: 0.0, max: 1.0, below_max: false },
                default: Some("1")
            },
            answer: ChoiceWithoutComma = { doc: "A word.", kind: ChoiceWithoutComma::KIND, default: Some("no") }
        }
    }

    const SPEC: Spec = Spec { slot: "", kind: "", doc: "", cite: "", params: MixedParams::PARAMS };

    #[test]
    fn trailing_commas_of_params_and_choice_are_optional() {
        const SPEC: Spec = Spec { slot: "", kind: "", doc: "", cite: "", params: ParamsWithoutCommas::PARAMS };
        let given = ParamsWithoutCommas::read(&values(&SPEC, "share=0.5 answer=yes"));
        assert_eq!((given.share, given.answer), (0.5, ChoiceWithoutComma::Yes));
        assert_eq!(ChoiceWithoutComma::WORDS, ["yes", "no"]);
    }

    #[test]
    fn params_declares_a_spec_and_a_struct() {
        assert_eq!(SPEC.params.iter().map(|param| param.name).collect::<Vec<_>>(), ["share", "most", "size", "hosts"]);
        let plain = MixedParams::read(&values(&SPEC, ""));
        assert_eq!((plain.share, plain.most, plain.size), (0.5, None, None));
        assert_eq!(plain.hosts, WordOr::Word("all".into()));
        let given = MixedParams::read(&values(&SPEC, "share=1 most=3 size=9B hosts=h1,h2"));
        assert_eq!((given.share, given.most, given.size), (1.0, Some(3), Some(Amount::Bytes(9))));
        assert_eq!(given.hosts, WordOr::List(vec!["h1".into(), "h2".into()]));
    }

    #[test]
    fn choice_declares_words_and_variants() {
        const JOINED_PARAMS: [Param; 6] = join_params(&[MixedParams::PARAMS, SideParams::PARAMS]);
        const JOINED_SPEC: Spec = Spec { slot: "", kind: "", doc: "", cite: "", params: &JOINED_PARAMS };
        assert_eq!(JOINED_PARAMS.map(|param| param.name)[3..], ["hosts", "first", "other"]);
        assert!(matches!(Side::KIND, ParamKind::Choice(["left", "right_hand"])));
        let sides = SideParams::read(&values(&JOINED_SPEC, "other=left"));
        assert_eq!((sides.first, sides.other), (Side::Right, Some(Side::Left)));
        assert_eq!([Side::Left, Side::Right].map(Side::word), ["left", "right_hand"]);
        assert_eq!(values(&JOINED_SPEC, "first=left").get::<Side>("first"), Side::Left);
    }
}
