//! Numbers as people like to read them.

use std::time::Duration;

/// 1,234,567.
pub fn count(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut grouped = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// An estimate: three digits, then zeros.
pub fn about(number: f64) -> String {
    let scale = 10f64.powf((number.max(1.0).log10().floor() - 2.0).max(0.0));
    count(((number / scale).round() * scale) as u128)
}

pub fn bytes(bytes: f64) -> String {
    let (mut value, mut unit) = (bytes, "bytes");
    for larger in ["kB", "MB", "GB", "TB"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, larger);
    }
    if value < 9.95 && unit != "bytes" { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// 0.42 s, 12 s, 3 min 20 s, 2 h 5 min.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let whole = seconds.round() as u64;
    match whole {
        0..10 => format!("{seconds:.2} s"),
        10..60 => format!("{whole} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// A physical number, with as many digits as are worth reading.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-2..1e5).contains(&size) {
        let digits = if value == 0.0 { 0 } else { (3 - size.log10().floor() as i32).max(0) as usize };
        let text = format!("{value:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{value:.3e}")
    }
}

/// Columns of text, padded to line up; the last one may wrap as it likes.
pub fn columns(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows.iter().map(Vec::len).max().unwrap_or(0)).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// "1 frame", "2 frames".
pub fn plural(number: usize, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {one}{ending}", count(number as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!([count(7u32), count(1234u32), count(1_234_567u32)], ["7", "1,234", "1,234,567"]);
        assert_eq!([about(12.0), about(123_456.0)], ["12", "123,000"]);
        assert_eq!([bytes(312.0), bytes(1500.0), bytes(2.34e9)], ["312 bytes", "1.5 kB", "2.3 GB"]);
        assert_eq!(duration(Duration::from_millis(420)), "0.42 s");
        assert_eq!(duration(Duration::from_secs(200)), "3 min 20 s");
        assert_eq!(
            [number(0.0), number(0.5), number(1000.0), number(3e-5)],
            ["0", "0.5", "1000", "3.000e-5"]
        );
        assert_eq!([plural(1, "frame"), plural(0, "frame")], ["1 frame", "0 frames"]);
    }
}
