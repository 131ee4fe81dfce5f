//! Text of a scenario as a tree, in which every value has the location where it was written.

use super::Source;
use crate::diag::{Diagnostic, MAX_PATH_CHARS, format_fault, format_ordinal, truncate};
use std::collections::BTreeSet;
use toml_edit::{Document, Item, TableLike, Value};

/// Location where a value was written: line in the file, dotted path, and number of its `--set`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Location {
    /// Line in the file, from 1.
    pub line: usize,
    /// Dotted path as written, `variants.x.` included. Entries of lists appear by name, or as the `1st`, the `2nd`.
    pub path: String,
    /// Number of the `--set` that wrote the value, if one did.
    pub set: Option<usize>,
}

/// Value of a scenario, with the location where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub at: Location,
    pub data: Data,
}

/// Type and content of a value.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    Text(String),
    Integer(i64),
    Number(f64),
    Boolean(bool),
    Date(String),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
}

impl Node {
    /// Returns an empty table.
    pub fn table(at: Location) -> Node {
        Node { at, data: Data::Table(Vec::new()) }
    }
    /// Returns the entries of a table; none for any other value.
    pub fn entries(&self) -> &[(String, Node)] {
        match &self.data {
            Data::Table(entries) => entries,
            _ => &[],
        }
    }
    /// Returns the value of a key of a table.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(k, _)| k == key).map(|(_, node)| node)
    }
    /// Sets the value of a key of a table, and replaces an old one.
    pub fn put(&mut self, key: &str, node: Node) {
        if let Data::Table(entries) = &mut self.data {
            match entries.iter_mut().find(|(k, _)| k == key) {
                Some((_, old)) => *old = node,
                None => entries.push((key.to_string(), node)),
            }
        }
    }
    /// Returns the elements of a list; none for any other value.
    pub fn items(&self) -> &[Node] {
        match &self.data {
            Data::List(items) => items,
            _ => &[],
        }
    }
    /// Returns the text of a value; `None` if the value is no text.
    pub fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }
    /// Returns the location that a key missing in this table would have, for messages about the key.
    pub fn missing_key_location(&self, key: &str) -> Location {
        Location { path: join_path(&self.at.path, key), ..self.at.clone() }
    }
    /// Returns the location of a dotted name below this table, as far as it exists. An empty name is the table itself.
    pub fn locate(&self, name: &str) -> Location {
        if name.is_empty() {
            return self.at.clone();
        }
        let mut node = self;
        let mut rest = name.split('.');
        while let Some(key) = rest.next() {
            let next = match &node.data {
                Data::List(items) => key.parse::<usize>().ok().and_then(|i| items.get(i)),
                _ => node.get(key),
            };
            match next {
                Some(found) => node = found,
                None => {
                    let tail = rest.fold(key.to_string(), |tail, key| join_path(&tail, key));
                    return node.missing_key_location(&tail);
                }
            }
        }
        node.at.clone()
    }
    /// Formats the value for messages.
    pub fn format_value(&self) -> String {
        match &self.data {
            Data::Text(text) => format!("{:?}", truncate(text, 60)),
            Data::Integer(n) => n.to_string(),
            Data::Number(n) => format!("{n:?}").to_lowercase(),
            Data::Boolean(flag) => flag.to_string(),
            Data::Date(date) => format!("the date {date}"),
            Data::List(_) => "a list".into(),
            Data::Table(_) => "a table".into(),
        }
    }
    /// Returns the values directly in a table or list.
    fn children(&self) -> impl Iterator<Item = &Node> {
        self.entries().iter().map(|(_, node)| node).chain(self.items())
    }
    /// Counts this value and all values, tables and lists below it.
    pub fn count_values(&self) -> usize {
        1 + self.children().map(Node::count_values).sum::<usize>()
    }
    /// Adds the numbers of the `--set`s that wrote a value at or below this node: a leaf, or an empty table or list.
    ///
    /// A table that a setting made only for its value does not count: a later setting may have replaced the value.
    pub fn collect_value_settings(&self, found: &mut BTreeSet<usize>) {
        if self.children().next().is_none() {
            found.extend(self.at.set);
        }
        self.children().for_each(|node| node.collect_value_settings(found));
    }
    /// Adds the numbers of the `--set`s that wrote this value or one below it.
    pub fn collect_settings(&self, found: &mut BTreeSet<usize>) {
        found.extend(self.at.set);
        self.children().for_each(|node| node.collect_settings(found));
    }
}

/// Formats `path.key`, cut near the longest path that messages show. Every value keeps its path, so that long keys
/// would otherwise take memory in proportion to their length times the number of values below them.
pub(crate) fn join_path(path: &str, key: &str) -> String {
    if path.len() > 4 * MAX_PATH_CHARS {
        return path.to_string();
    }
    let key = match key.len() > MAX_PATH_CHARS {
        true => key.char_indices().nth(MAX_PATH_CHARS + 1).map_or(key, |(end, _)| &key[..end]),
        false => key,
    };
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

/// Parses a scenario's text into a tree.
pub(super) fn parse_document(source: &Source) -> Result<Node, Diagnostic> {
    let lines = LineOffsets::new(&source.text);
    let broken = |line, message| Diagnostic { file: source.path.clone(), line, field: String::new(), message };
    if source.text.trim().is_empty() {
        let rule = "a scenario, with at least `name`, `duration`, `[topology]` and one `[[traffic]]`";
        return Err(broken(1, format_fault("an empty file", rule)));
    }
    let doc = Document::parse(source.text.as_str()).map_err(|error| {
        let line = error.span().map_or(1, |span| lines.line_at(span.start));
        let why = error.message().trim().replace('\n', ", ");
        let found = format!("text that is not TOML ({why})");
        broken(line, format_fault(found, "TOML 1.0"))
    })?;
    let at = Location { line: 1, ..Location::default() };
    Ok(TreeBuilder { lines, set: None }.convert_table(doc.as_table(), at))
}

/// Parses the value of a `--set`: TOML if it is valid, otherwise bare text.
pub(super) fn parse_value(text: &str, at: Location) -> Result<Node, String> {
    match text.trim().parse::<Value>() {
        Ok(value) => Ok(TreeBuilder { lines: LineOffsets::new(""), set: at.set }.convert_value(&value, at)),
        Err(error) if text.trim_start().starts_with(['"', '\'', '[', '{']) => Err(error.message().trim().to_string()),
        Err(_) => Ok(Node { at, data: Data::Text(text.trim().to_string()) }),
    }
}

/// Offsets of line ends, to convert byte offsets to lines.
struct LineOffsets(Vec<usize>);

impl LineOffsets {
    fn new(text: &str) -> LineOffsets {
        LineOffsets(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }
    fn line_at(&self, offset: usize) -> usize {
        self.0.partition_point(|end| *end < offset) + 1
    }
}

/// Converter of parsed TOML to a tree, for a file or for the value of a `--set`.
struct TreeBuilder {
    lines: LineOffsets,
    set: Option<usize>,
}

impl TreeBuilder {
    fn convert_table(&self, table: &dyn TableLike, at: Location) -> Node {
        let mut entries = Vec::new();
        for (name, item) in table.iter() {
            let key = table.get_key_value(name).map(|(key, _)| key);
            let span = key.and_then(|key| key.span()).or_else(|| item.span());
            let line = span.map_or(at.line, |span| self.lines.line_at(span.start));
            let at = Location { line, path: join_path(&at.path, name), set: self.set };
            entries.push((name.to_string(), self.convert_item(item, at)));
        }
        Node { at, data: Data::Table(entries) }
    }
    fn convert_item(&self, item: &Item, at: Location) -> Node {
        match item {
            Item::Value(value) => self.convert_value(value, at),
            Item::Table(table) => self.convert_table(table, at),
            Item::ArrayOfTables(tables) => {
                let each = tables.iter().enumerate().map(|(i, table)| {
                    self.convert_table(
                        table,
                        self.element_location(&at, i, Some(table as &dyn TableLike), table.span()),
                    )
                });
                Node { data: Data::List(each.collect()), at }
            }
            Item::None => Node::table(at),
        }
    }
    fn convert_value(&self, value: &Value, at: Location) -> Node {
        let data = match value {
            Value::String(text) => Data::Text(text.value().clone()),
            Value::Integer(n) => Data::Integer(*n.value()),
            Value::Float(n) => Data::Number(*n.value()),
            Value::Boolean(flag) => Data::Boolean(*flag.value()),
            Value::Datetime(date) => Data::Date(date.value().to_string()),
            Value::InlineTable(table) => return self.convert_table(table, at),
            Value::Array(items) => {
                let each = items.iter().enumerate().map(|(i, item)| {
                    let table = item.as_inline_table().map(|table| table as &dyn TableLike);
                    self.convert_value(item, self.element_location(&at, i, table, item.span()))
                });
                Data::List(each.collect())
            }
        };
        Node { at, data }
    }
    /// Returns the location of an element of a list, by its name if it has one.
    fn element_location(
        &self,
        list: &Location,
        i: usize,
        table: Option<&dyn TableLike>,
        span: Option<std::ops::Range<usize>>,
    ) -> Location {
        let name = table.and_then(|table| table.get("name")?.as_str()).filter(|name| !name.is_empty());
        let path = join_path(&list.path, name.unwrap_or(&format_ordinal(i)));
        Location { line: span.map_or(list.line, |span| self.lines.line_at(span.start)), path, set: self.set }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_a_long_key_has_a_bounded_length() {
        let long = "é".repeat(200_000);
        let path = (0..100).fold(join_path("", &long), |path, _| join_path(&path, &long));
        assert!(path.len() < 8 * MAX_PATH_CHARS, "{} bytes", path.len());
        assert_eq!(join_path("a", "b"), "a.b");
    }
}
