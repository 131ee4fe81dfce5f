//! Numbers in the tables of documentation pages.

/// Returns the cells of a page's table whose header begins with `header`; an empty first cell gets the value above it.
pub fn rows<'a>(page: &'a str, header: &str) -> Vec<Vec<&'a str>> {
    let table = page.lines().skip_while(|line| !line.starts_with(header)).skip(2);
    let mut found: Vec<Vec<&str>> = Vec::new();
    for line in table.take_while(|line| line.starts_with('|')) {
        let mut cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if cells[0].is_empty() {
            cells[0] = found.last().expect("a row above")[0];
        }
        found.push(cells);
    }
    assert!(!found.is_empty(), "the page has no table {header}");
    found
}

/// Formats a value with as many decimals as a table cell has.
pub fn digits_of(cell: &str, value: f64) -> String {
    let decimals = cell.split_once('.').map_or(0, |(_, part)| part.chars().take_while(char::is_ascii_digit).count());
    format!("{value:.decimals$}")
}

/// Asserts that the numbers in a table cell are these values, rounded to the digits of the cell.
pub fn assert_cell(cell: &str, values: &[f64]) {
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let words: Vec<&str> = cell.split(' ').filter(is_number).collect();
    let expected: Vec<String> = words.iter().zip(values).map(|(word, value)| digits_of(word, *value)).collect();
    assert_eq!((words.len(), &words[..]), (values.len(), &expected.iter().map(String::as_str).collect::<Vec<_>>()[..]));
}
