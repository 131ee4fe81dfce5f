//! Bound of the nesting depth of tables and lists, checked before a text is parsed.
//!
//! A parser that descends level by level needs a bound. Without one, a text of a few kilobytes exhausts its stack.

use super::tree::join_path;
use crate::diag::{Diagnostic, MAX_PATH_CHARS, format_fault, sanitize};
use toml_parser::parser::{EventReceiver, parse_document, parse_key, parse_value};
use toml_parser::{ErrorSink, ParseError, Source, Span, decoder::Encoding};

/// Largest number of nested tables and lists; each part of a dotted key is a level.
pub(super) const MAX_NESTING_LEVELS: usize = 32;

/// Checks that no value of a TOML text is nested deeper than 32 levels. The text may have any other fault.
///
/// # Errors
/// Returns the first value that is nested deeper, with file, line and key.
pub fn check_nesting(path: &str, text: &str) -> Result<(), Diagnostic> {
    let Some((offset, field)) = NestingLevels::default().find_first_beyond(text) else { return Ok(()) };
    Err(Diagnostic {
        file: path.into(),
        line: text[..offset].bytes().filter(|byte| *byte == b'\n').count() + 1,
        field: sanitize(&field, MAX_PATH_CHARS),
        message: too_deep_message(),
    })
}

/// Returns the message about a value that is nested too deep.
pub(super) fn too_deep_message() -> String {
    let found = format!("tables and lists nested more than {MAX_NESTING_LEVELS} levels deep");
    format_fault(found, format!("at most {MAX_NESTING_LEVELS} levels; each part of a dotted key counts as one"))
}

/// Returns true if a dotted path, with the value that is set there, is not nested too deep.
pub(super) fn is_within_bound(path: &str, value: &str) -> bool {
    let mut levels = NestingLevels::default();
    parse_key(&Source::new(path).lex().into_vec(), &mut levels, &mut IgnoreErrors);
    levels.header = std::mem::take(&mut levels.key_parts);
    if levels.header > MAX_NESTING_LEVELS {
        return false;
    }
    parse_value(&Source::new(value).lex().into_vec(), &mut levels, &mut IgnoreErrors);
    levels.first_excess.is_none()
}

/// Sink that discards parse errors; the full parser reports them later.
struct IgnoreErrors;

impl ErrorSink for IgnoreErrors {
    fn report_error(&mut self, _error: ParseError) {}
}

/// Key, list or table of a TOML text that has begun and not ended.
#[derive(PartialEq)]
enum OpenItem {
    /// Key with this number of dotted parts, whose value has not ended.
    Pair(usize),
    List,
    Table,
}

/// Start and end of a dotted key in the text, if there is one.
type KeySpan = Option<(usize, usize)>;

/// Nesting level at the present position in a TOML text, and the first position where it exceeds the bound.
#[derive(Default)]
struct NestingLevels {
    /// Number of dotted parts of the last table header, plus one if it opens an entry of a list of tables.
    header: usize,
    header_span: KeySpan,
    in_header: bool,
    open_items: Vec<OpenItem>,
    /// Number of dotted parts of the key that is being read, and its position in the text.
    key_parts: usize,
    key_span: KeySpan,
    /// Offset, table header and key of the first value that is nested too deep.
    first_excess: Option<(usize, KeySpan, KeySpan)>,
}

impl NestingLevels {
    /// Returns the offset of the first value of a document beyond the bound, and its dotted key as written.
    fn find_first_beyond(mut self, text: &str) -> Option<(usize, String)> {
        parse_document(&Source::new(text).lex().into_vec(), &mut self, &mut IgnoreErrors);
        let (offset, header, key) = self.first_excess?;
        let written = |span: KeySpan| span.map_or("", |(start, end)| &text[start..end]);
        let field = if key.is_none() { written(header).to_string() } else { join_path(written(header), written(key)) };
        Some((offset, field))
    }

    fn count_levels(&self) -> usize {
        let inside = self.open_items.iter().map(|open| match open {
            OpenItem::Pair(parts) => *parts,
            OpenItem::List => 1,
            OpenItem::Table => 0,
        });
        self.header + self.key_parts + inside.sum::<usize>()
    }

    /// Records the first offset at which the nesting is too deep; returns true if there is none so far.
    fn check_level(&mut self, offset: usize) -> bool {
        let beyond = self.count_levels() > MAX_NESTING_LEVELS;
        if beyond && self.first_excess.is_none() {
            self.first_excess = Some((offset, self.header_span, self.key_span));
        }
        self.first_excess.is_none()
    }

    fn begin_header(&mut self) {
        (self.header, self.header_span, self.in_header) = (0, None, true);
        self.begin_statement();
    }

    fn begin_statement(&mut self) {
        self.open_items.clear();
        (self.key_parts, self.key_span) = (0, None);
    }

    fn end_header(&mut self, more: usize, offset: usize) {
        self.in_header = false;
        self.header = std::mem::take(&mut self.key_parts) + more;
        self.check_level(offset);
    }

    fn begin_value(&mut self, open: OpenItem, offset: usize) -> bool {
        self.key_parts = 0;
        self.open_items.push(open);
        self.check_level(offset)
    }

    /// Closes a list or a table, and the key whose value it is.
    fn end_value(&mut self, ended: Option<OpenItem>) {
        if let Some(at) = ended.and_then(|ended| self.open_items.iter().rposition(|open| *open == ended)) {
            self.open_items.truncate(at);
        }
        if matches!(self.open_items.last(), Some(OpenItem::Pair(_))) {
            self.open_items.pop();
        }
        self.key_parts = 0;
    }
}

impl EventReceiver for NestingLevels {
    fn std_table_open(&mut self, _span: Span, _error: &mut dyn ErrorSink) {
        self.begin_header();
    }
    fn std_table_close(&mut self, span: Span, _error: &mut dyn ErrorSink) {
        self.end_header(0, span.start());
    }
    fn array_table_open(&mut self, _span: Span, _error: &mut dyn ErrorSink) {
        self.begin_header();
    }
    fn array_table_close(&mut self, span: Span, _error: &mut dyn ErrorSink) {
        self.end_header(1, span.start());
    }
    fn inline_table_open(&mut self, span: Span, _error: &mut dyn ErrorSink) -> bool {
        self.begin_value(OpenItem::Table, span.start())
    }
    fn inline_table_close(&mut self, _span: Span, _error: &mut dyn ErrorSink) {
        self.end_value(Some(OpenItem::Table));
    }
    fn array_open(&mut self, span: Span, _error: &mut dyn ErrorSink) -> bool {
        self.begin_value(OpenItem::List, span.start())
    }
    fn array_close(&mut self, _span: Span, _error: &mut dyn ErrorSink) {
        self.end_value(Some(OpenItem::List));
    }
    fn simple_key(&mut self, span: Span, _kind: Option<Encoding>, _error: &mut dyn ErrorSink) {
        self.key_parts += 1;
        let place = if self.in_header { &mut self.header_span } else { &mut self.key_span };
        // Messages name the key of the whole statement, not a key inside its value.
        if self.open_items.is_empty() {
            *place = Some((place.map_or(span.start(), |(start, _)| start), span.end()));
        }
        self.check_level(span.start());
    }
    fn key_val_sep(&mut self, span: Span, _error: &mut dyn ErrorSink) {
        let parts = std::mem::take(&mut self.key_parts);
        self.begin_value(OpenItem::Pair(parts), span.start());
    }
    fn scalar(&mut self, _span: Span, _kind: Option<Encoding>, _error: &mut dyn ErrorSink) {
        self.end_value(None);
    }
    fn value_sep(&mut self, _span: Span, _error: &mut dyn ErrorSink) {
        self.end_value(None);
    }
    fn newline(&mut self, _span: Span, _error: &mut dyn ErrorSink) {
        if !self.open_items.iter().any(|open| matches!(open, OpenItem::List | OpenItem::Table)) {
            self.begin_statement();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that texts with 32 nesting levels are accepted, and that texts with more are refused.
    fn assert_nesting_limit(deep: impl Fn(usize) -> String, line: usize, field: &str) {
        assert_eq!(check_nesting("a.toml", &deep(MAX_NESTING_LEVELS)), Ok(()));
        for levels in [MAX_NESTING_LEVELS + 1, 500, 20_000] {
            let fault = check_nesting("a.toml", &deep(levels)).unwrap_err();
            assert_eq!((fault.line, fault.field.starts_with(field)), (line, true), "{fault}");
            assert!(fault.message.contains("found tables and lists nested more than 32 levels deep; expected"));
        }
    }

    fn dotted_key(parts: usize) -> String {
        vec!["a"; parts].join(".")
    }

    #[test]
    fn every_form_of_nesting_counts_its_levels() {
        assert_nesting_limit(|n| format!("x = 1\n\n{} = 1\n", dotted_key(n)), 3, "a.a.a");
        assert_nesting_limit(|n| format!("\n[{}]\n", dotted_key(n)), 2, "a.a.a");
        assert_nesting_limit(|n| format!("[[{}]]\n", dotted_key(n - 1)), 1, "a.a.a");
        assert_nesting_limit(|n| format!("[b]\nx.y = {}{}\n", "[".repeat(n - 3), "]".repeat(n - 3)), 2, "b.x.y");
        assert_nesting_limit(|n| format!("[b]\nx = {}1{}\n", "{a = ".repeat(n - 2), "}".repeat(n - 2)), 2, "b.x");
        assert_nesting_limit(|n| format!("x = [\n{{ y = [{{ {} = 1 }}] }}]\n", dotted_key(n - 4)), 2, "x");
    }

    #[test]
    fn neighbouring_values_add_no_nesting_levels() {
        let wide = (0..200).map(|n| format!("k{n}.a = {{ b = [1.5, [2], {{ c = 3 }}], d = 1 }}\n"));
        let tables =
            (0..200).map(|n| format!("[t.u{n}]\nv = [\n  1, # of [many\n  '''['''\n]\n[[t.list{n}]]\nw = 1\n"));
        let text: String = wide.chain(tables).collect();
        assert_eq!(check_nesting("a.toml", &text), Ok(()));
    }

    #[test]
    fn invalid_toml_passes_the_nesting_check() {
        for broken in ["a = \n", "a\n", "= 1\n", "[a\n", "]]]]\n", "a = 1}\n"] {
            assert_eq!(check_nesting("a.toml", &broken.repeat(100)), Ok(()), "{broken:?}");
        }
        assert_eq!(check_nesting("a.toml", &format!("a = {}", "{".repeat(100_000))), Ok(()), "no levels without keys");
        assert!(check_nesting("a.toml", &format!("a = {}", "[".repeat(100_000))).is_err());
    }

    #[test]
    fn path_and_value_of_a_setting_share_the_nesting_limit() {
        let lists = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(is_within_bound(&dotted_key(30), &lists(2)) && !is_within_bound(&dotted_key(30), &lists(3)));
        assert!(is_within_bound(&dotted_key(32), "bare text.a.b [") && !is_within_bound(&dotted_key(33), "1"));
        assert!(is_within_bound("a", "{ b = 1, c = [2] }") && !is_within_bound("a", &lists(500)));
    }
}
