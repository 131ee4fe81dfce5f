//! Flow sizes as points of a cumulative distribution, linear between points.

/// Distribution of flow sizes, given by points.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SizePoints {
    /// Points (bytes, cumulative share) of the distribution, both non-decreasing; the last share is 1.
    pub points: Vec<(f64, f64)>,
}

/// Bytes of a packet in files that count sizes in packets, as pFabric's do.
const PACKET_BYTES: f64 = 1460.0;

impl SizePoints {
    /// Parses a file of a flow-size distribution; also returns the convention that the file follows. Its lines are
    /// `size share` or pFabric's `packets 1 share`, separated by spaces or commas. A first line of words and comments
    /// after `#` are skipped.
    ///
    /// # Errors
    /// Returns what was found, with the number of the line, and what is expected.
    pub fn parse(text: &str) -> Result<(SizePoints, &'static str), (String, String)> {
        let rows = parse_rows(text)?;
        let Some((line, last)) = rows.last().map(|(line, row)| (*line, row[row.len() - 1])) else {
            return Err(("no points".into(), "at least one line of a size and its cumulative share".into()));
        };
        let (packets, percent) = (rows[0].1.len() == 3, (last - 100.0).abs() < 1e-6);
        if !percent && (last - 1.0).abs() >= 1e-6 {
            return Err((format!("line {line}: the last share is {last}"), "1 or 100".into()));
        }
        let (unit, whole) = (if packets { PACKET_BYTES } else { 1.0 }, if percent { 100.0 } else { 1.0 });
        let mut points: Vec<_> = rows.iter().map(|(_, row)| (row[0] * unit, row[row.len() - 1] / whole)).collect();
        let end = points.len() - 1;
        points[end].1 = 1.0;
        if points[end].0 < 1.0 {
            return Err((format!("line {line}: the largest size is {}", points[end].0), "at least 1 byte".into()));
        }
        let how = match (packets, percent) {
            (false, false) => "bytes and shares from 0 to 1",
            (false, true) => "bytes and shares from 0 to 100",
            (true, false) => "packets of 1460 B and shares from 0 to 1",
            (true, true) => "packets of 1460 B and shares from 0 to 100",
        };
        Ok((SizePoints { points }, how))
    }

    /// Returns the quantile `u` of flow sizes: the size below which this share of flows is, in whole bytes, at least 1.
    pub fn quantile(&self, u: f64) -> u64 {
        let at = self.points.partition_point(|(_, share)| *share <= u).min(self.points.len() - 1);
        let (high, to) = self.points[at];
        let size = match at.checked_sub(1).map(|before| self.points[before]) {
            Some((low, from)) if to > from => low + (high - low) * ((u - from) / (to - from)),
            _ => high,
        };
        ((size + 0.5) as u64).max(1)
    }

    /// Returns the mean flow size in bytes, with linear interpolation between points.
    pub fn mean_bytes(&self) -> f64 {
        self.integrate(|low, high| (low + high) / 2.0)
    }

    /// Returns the mean number of segments of `segment` payload bytes.
    pub fn mean_segments(&self, segment: f64) -> f64 {
        // Integral of the number of segments over the sizes from 0 to x, in closed form: exact for sizes that are
        // uniform between two points.
        let area = |x: f64| {
            let full = (x / segment).floor();
            segment * full * (full + 1.0) / 2.0 + (full + 1.0) * (x - full * segment)
        };
        self.integrate(|low, high| match high > low {
            true => (area(high) - area(low)) / (high - low),
            false => (low / segment).ceil().max(1.0),
        })
    }

    /// Returns the mean of a function of flow sizes; `mean_over` returns its mean over an interval of uniform sizes.
    fn integrate(&self, mean_over: impl Fn(f64, f64) -> f64) -> f64 {
        let (first, share) = self.points[0];
        let pieces = self.points.windows(2).map(|w| (w[1].1 - w[0].1) * mean_over(w[0].0, w[1].0));
        share * mean_over(first, first) + pieces.sum::<f64>()
    }
}

/// Row of numbers in a text, with the number of its line.
type NumberedRow = (usize, Vec<f64>);

/// Parses the rows of numbers of a text.
fn parse_rows(text: &str) -> Result<Vec<NumberedRow>, (String, String)> {
    let mut rows: Vec<NumberedRow> = Vec::new();
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.split('#').next().unwrap_or("");
        let words: Vec<_> = line.split(|c: char| c.is_whitespace() || c == ',').filter(|w| !w.is_empty()).collect();
        if words.is_empty() || rows.is_empty() && words[0].starts_with(char::is_alphabetic) && is_header(&words) {
            continue;
        }
        let wrong = |found: String, rule: &str| Err((format!("line {}: {found}", i + 1), rule.to_owned()));
        let mut row = Vec::new();
        for word in &words {
            match word.parse::<f64>() {
                Ok(n) if n.is_finite() && (0.0..=1e15).contains(&n) => row.push(n),
                _ => return wrong(format!("`{word}`"), "a number from 0 to 1e15"),
            }
        }
        let columns = rows.first().map(|(_, first)| first.len());
        if !(2..=3).contains(&row.len()) || columns.is_some_and(|n| n != row.len()) {
            return wrong(format!("{} columns", row.len()), "2 or 3 columns, the same number in every line");
        }
        if let Some((_, before)) = rows.last() {
            if row[0] < before[0] {
                return wrong(format!("size {} after {}", row[0], before[0]), "sizes that never decrease");
            }
            let (was, is) = (before[before.len() - 1], row[row.len() - 1]);
            if is < was {
                return wrong(format!("share {is} after {was}"), "shares that never decrease");
            }
        }
        rows.push((i + 1, row));
    }
    Ok(rows)
}

/// Returns true if no word of a line is a number; `NaN` and `inf` count as numbers.
fn is_header(words: &[&str]) -> bool {
    words.iter().all(|word| word.parse::<f64>().is_err())
}

#[cfg(test)]
mod tests {
    use super::super::tables;
    use super::*;

    fn built_in(name: &str) -> SizePoints {
        SizePoints { points: tables::table_points(name).unwrap() }
    }

    #[test]
    fn the_built_in_distributions_have_their_published_means() {
        for (name, mean) in [("web_search", 1_711_250.0), ("data_mining", 12_658_199.0), ("hadoop", 120_421.0)] {
            assert!((built_in(name).mean_bytes() - mean).abs() < 1.0, "{name}: {}", built_in(name).mean_bytes());
        }
        let packets = built_in("imc10").mean_bytes() / PACKET_BYTES;
        assert!((packets - 134.0).abs() < 0.5, "{packets}");
        for name in tables::table_names() {
            assert_eq!(built_in(name).points.last().unwrap().1, 1.0);
            assert!(built_in(name).points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1), "{name}");
        }
    }

    #[test]
    fn quantiles_are_linear_between_points_and_jump_where_points_do() {
        let web = built_in("web_search");
        assert_eq!([web.quantile(0.15), web.quantile(0.175), web.quantile(0.53)], [10_000, 15_000, 80_000]);
        assert_eq!([web.quantile(0.0), web.quantile(1.0)], [1, 30_000_000]);
        let imc = built_in("imc10");
        assert_eq!(
            [imc.quantile(0.0), imc.quantile(0.4999), imc.quantile(0.55), imc.quantile(0.6)],
            [1460, 1460, 2190, 2920]
        );
        // A first share above 0 is the share of the smallest size.
        let (steps, _) = SizePoints::parse("100 0.5\n200 1").unwrap();
        assert_eq!([steps.quantile(0.2), steps.quantile(0.75)], [100, 150]);
        assert_eq!(steps.mean_bytes(), 125.0);
    }

    #[test]
    fn the_mean_of_the_quantiles_is_the_mean() {
        for name in tables::table_names() {
            let (sizes, n) = (built_in(name), 200_000);
            let sum: f64 = (0..n).map(|i| sizes.quantile((f64::from(i) + 0.5) / f64::from(n)) as f64).sum();
            assert!((sum / f64::from(n) / sizes.mean_bytes() - 1.0).abs() < 1e-4, "{name}");
        }
    }

    #[test]
    fn each_convention_is_known_by_its_columns_and_its_last_share() {
        for (text, how, mean) in [
            ("0 0\n1000 1\n", "bytes and shares from 0 to 1", 500.0),
            ("size,cdf\r\n0, 0\r\n1000, 100\r\n", "bytes and shares from 0 to 100", 500.0),
            ("# packets\n1 1 0\n1 1 1.0\n", "packets of 1460 B and shares from 0 to 1", 1460.0),
            ("2\t1\t100", "packets of 1460 B and shares from 0 to 100", 2920.0),
        ] {
            let (sizes, said) = SizePoints::parse(text).unwrap();
            assert_eq!((said, sizes.mean_bytes()), (how, mean));
        }
    }

    #[test]
    fn a_malformed_distribution_is_refused_with_its_line() {
        for (text, found, rule) in [
            ("", "no points", "at least one line of a size and its cumulative share"),
            ("size cdf\n", "no points", "at least one line of a size and its cumulative share"),
            ("0 0\n10 0.5\n", "line 2: the last share is 0.5", "1 or 100"),
            ("0 0\n10 x\n", "line 2: `x`", "a number from 0 to 1e15"),
            ("0 0\n10 NaN\n", "line 2: `NaN`", "a number from 0 to 1e15"),
            ("nan nan\n", "line 1: `nan`", "a number from 0 to 1e15"),
            ("-1 0\n10 1\n", "line 1: `-1`", "a number from 0 to 1e15"),
            ("0 0\n\n10 1 1\n", "line 3: 3 columns", "2 or 3 columns, the same number in every line"),
            ("10\n", "line 1: 1 columns", "2 or 3 columns, the same number in every line"),
            ("10 0\n5 1\n", "line 2: size 5 after 10", "sizes that never decrease"),
            ("1 0.5\n5 0.2\n", "line 2: share 0.2 after 0.5", "shares that never decrease"),
            ("0 0\n0 1\n", "line 2: the largest size is 0", "at least 1 byte"),
        ] {
            assert_eq!(SizePoints::parse(text), Err((found.to_owned(), rule.to_owned())), "{text:?}");
        }
    }
}
