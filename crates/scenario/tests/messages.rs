//! Length and form of messages and names, for any contents of a file.

use crate::common::{loaded, refused, source, star};
use mech::Registry;
use scenario::{Source, declarations, load};

/// Returns the errors or notes of a scenario text with settings of the command line.
fn load_messages(text: &str, sets: &[String]) -> Vec<String> {
    match load(&source(text), sets) {
        Ok(loaded) => loaded.notes,
        Err(found) => found.iter().map(ToString::to_string).collect(),
    }
}

fn check(what: &str, said: &[String]) {
    for one in said {
        let shown: String = one.chars().take(200).collect();
        assert!(one.chars().count() < 3000, "{what}: {} characters: {shown}", one.chars().count());
        assert!(!one.chars().any(char::is_control), "{what}: {shown:?}");
    }
}

#[test]
fn no_value_however_long_makes_a_message_long_or_speaks_to_a_terminal() {
    let long = "\u{1b}[31mx\u{7}".repeat(20_000);
    for spec in declarations(&Registry::catalogue()) {
        let slot = if spec.slot == "traffic" { "traffic.burst" } else { spec.slot };
        for param in spec.params {
            let path = format!("{slot}.{}", param.name);
            let path = path.trim_start_matches('.');
            let kind = if spec.kind.is_empty() { vec![] } else { vec![format!("{slot}.kind={}", spec.kind)] };
            for value in [format!("{long:?}"), format!("[{long:?}]")] {
                let value = value.replace("\\u{1b}", "\\u001b").replace("\\u{7}", "\\u0007");
                check(path, &load_messages(&star(""), &[kind.clone(), vec![format!("{path}={value}")]].concat()));
            }
        }
    }
}

#[test]
fn keys_settings_and_files_are_told_in_short_too() {
    let long = "y\\u0007".repeat(20_000);
    for text in [
        star(&format!("[\"{long}\"]\na = 1\n")),
        star(&format!("[switch]\n\"{long}\" = 1\n")),
        star(&format!("[variants.\"{long}\"]\n")),
        star(&format!("[switch.overflow]\nkind = \"{long}\"\n")),
        star(&format!("[transport]\nkind = \"sack\"\n[variants.a.transport]\nkind = \"sack\"\nmin_rto = \"{long}\"\n")),
        format!("{long} = 1"),
    ] {
        check("a file", &load_messages(&text, &[]));
    }
    let long = "z\u{1b}".repeat(20_000);
    for set in
        [long.clone(), format!("{long}=1"), format!("seed={long}"), format!("seed=\"{long}"), format!("a.{long}=1")]
    {
        check("a setting", &load_messages(&star(""), &[set]));
    }
    let trace = star("").replace(
        "kind = \"incast\"\nsenders = 2\nreceiver = \"h0\"\nsize = \"20KB\"",
        "kind = \"trace\"\nfile = \"f\"",
    );
    for text in [long.clone(), format!("start,source,destination,bytes\n1us,{long},h1,9\n{long},h0,h1,9\n")] {
        let files =
            Box::new(move |_: &str| Ok(Box::new(std::io::Cursor::new(text.clone())) as Box<dyn std::io::BufRead>));
        let found = load(&Source { files, ..source(&trace) }, &[]).expect_err("it is no file of flows");
        check("a file of flows", &found.iter().map(ToString::to_string).collect::<Vec<_>>());
    }
}

/// Returns a scenario of two hosts, with this name for one host and this tier for the switch.
fn custom(host: &str, tier: &str) -> String {
    format!(
        "name = \"c\"\nduration = \"1ms\"\n[topology]\nkind = \"custom\"\n\
         node = [{{ name = \"{host}\", kind = \"host\" }}, {{ name = \"s\", kind = \"switch\", tier = \"{tier}\" }}, \
         {{ name = \"b\", kind = \"host\" }}]\n\
         link = [{{ a = \"{host}\", b = \"s\", rate = \"1Gbps\", delay = \"1us\" }}, {{ a = \"s\", b = \"b\", rate = \"1Gbps\", delay = \
         \"1us\" }}]\n[[traffic]]\nname = \"t\"\nkind = \"permutation\"\nsize = \"1KB\"\n"
    )
}

#[test]
fn names_have_no_control_characters_and_no_spaces_around_them() {
    let found = |host: &str, tier: &str| refused(&custom(host, tier), &[]);
    for (host, shown, rule) in [
        ("a\\u0007", "\"a\\u{7}\"", "a name without control characters"),
        ("a\\nb", "\"a\\nb\"", "a name without control characters"),
        ("\\u202ea", "\"\\u{202e}a\"", "a name without control characters"),
        (" a", "\" a\"", "a name without spaces before or after it"),
        ("a ", "\"a \"", "a name without spaces before or after it"),
    ] {
        let found = found(host, "leaf");
        assert!(found.ends_with(&format!(".name: found {shown}; expected {rule}")), "{found}");
    }
    let tier = found("a", "up\\u0000");
    assert!(tier.ends_with("s.tier: found \"up\\0\"; expected a name without control characters"), "{tier}");
    assert!(loaded(&custom("rack 1, höst", "leaf tier"), &[]).notes.is_empty(), "spaces within are no matter");
    let named = |text: String| refused(&text, &[]);
    let rule = "expected a name of 1 to 100 letters, digits, `-` and `_`";
    let scenario = named(star("").replace("\"small\"", "\"sm\\u001ball\""));
    assert!(scenario.contains("name: found \"sm\\u{1b}all\"") && scenario.ends_with(rule), "{scenario}");
    let variant = named(star("[variants.\"a\\u0007\"]\n"));
    assert!(
        variant.contains("variants.a\\u{7}: found a variant called \"a\\u{7}\"") && variant.contains(rule),
        "{variant}"
    );
}
