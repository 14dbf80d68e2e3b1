//! Round numbers for axes and colour bars: ranges, ticks and their labels.
//!
//! Ticks are 1, 2 or 5 times a power of ten apart. Kept honest by the tests below.

/// From the lowest to the highest value shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    pub fn new(low: f64, high: f64) -> Range {
        Range { low, high }
    }

    /// The range of the finite values, or `None` when there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Range> {
        values.into_iter().filter(|value| value.is_finite()).fold(None, |range: Option<Range>, value| {
            match range {
                None => Some(Range::new(value, value)),
                Some(range) => Some(Range::new(range.low.min(value), range.high.max(value))),
            }
        })
    }

    /// The range of the finite values but for a share (such as 0.01) of them that lie at its ends, half at each: a few
    /// splashes must not take the colours from everything else.
    pub fn of_most(values: impl IntoIterator<Item = f64>, share_left_out: f64) -> Option<Range> {
        let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let last = values.len().checked_sub(1)?;
        let cut = (0.5 * share_left_out.clamp(0.0, 1.0) * last as f64) as usize;
        let low = *values.select_nth_unstable_by(cut, f64::total_cmp).1;
        let high = *values.select_nth_unstable_by(last - cut, f64::total_cmp).1;
        Some(Range { low, high })
    }

    /// Widened to round numbers, a fifth of a tick at most on each side: 0.03 … 3.11 becomes 0 … 3.2. Starts at 0
    /// when the values nearly do, and is never empty.
    pub fn rounded(self) -> Range {
        let Range { mut low, mut high } = self;
        // Nothing to tell apart (within what f32 input can tell): make room around the value.
        if high - low <= 1e-6 * low.abs().max(high.abs()) {
            let value = 0.5 * (low + high);
            return if value == 0.0 {
                Range::new(0.0, 1.0)
            } else {
                Range::new(value - 0.1 * value.abs(), value + 0.1 * value.abs()).rounded()
            };
        }
        if low > 0.0 && low < 0.25 * high {
            low = 0.0;
        }
        if high < 0.0 && high > 0.25 * low {
            high = 0.0;
        }
        // An end that is round already must not move because of round-off.
        let unit = step_for(high - low, 5) / 5.0;
        let slack = 1e-6;
        Range::new(unit * (low / unit + slack).floor(), unit * (high / unit - slack).ceil())
    }

    /// The smallest round range about 0 that holds this one, for maps with a middle.
    pub fn symmetric(self) -> Range {
        let most = Range::new(0.0, self.low.abs().max(self.high.abs())).rounded().high;
        Range::new(-most, most)
    }

    /// Where a value lies: 0 at the low end, 1 at the high end, outside beyond them. NaN stays NaN.
    pub fn fraction(self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// About `count` round numbers within the range.
    pub fn ticks(self, count: usize) -> Vec<f64> {
        let step = step_for(self.high - self.low, count);
        let first = (self.low / step - 1e-6).ceil();
        let last = (self.high / step + 1e-6).floor();
        if !(last - first).is_finite() {
            return Vec::new();
        }
        (0..=(last - first) as usize).map(|k| (first + k as f64) * step).collect()
    }
}

/// The distance of about `count` ticks over this length: 1, 2 or 5 times a power of ten.
fn step_for(length: f64, count: usize) -> f64 {
    let rough = length / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= 0.999 * rough).unwrap_or(10.0);
    step * power
}

/// Labels for ticks: as many decimals as tell them apart, and the power of ten (a multiple of 3) taken out of all of
/// them so that none needs more than four digits before the point or five after it.
pub fn labels(ticks: &[f64]) -> (Vec<String>, i32) {
    let largest = ticks.iter().fold(0.0f64, |most, tick| most.max(tick.abs()));
    let power = if largest > 0.0 && !(1e-2..1e4).contains(&largest) {
        3 * (largest.log10() / 3.0).floor() as i32
    } else {
        0
    };
    let step = ticks.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(f64::INFINITY, f64::min);
    let step = if step.is_finite() && step > 0.0 { step } else { largest / 5.0 } / 10f64.powi(power);
    let decimals = if step > 0.0 { (-(step * 1.001).log10().floor()).clamp(0.0, 9.0) as usize } else { 0 };
    (ticks.iter().map(|tick| number(tick / 10f64.powi(power), decimals)).collect(), power)
}

/// A number with a real minus sign, and never a negative zero.
pub fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| byte == b'0' || byte == b'.') => digits.to_string(),
        Some(digits) => format!("−{digits}"),
        None => text,
    }
}

/// "name, unit", with the power of ten that [`labels`] took out: "pressure, 10³ Pa".
pub fn heading(name: &str, unit: &str, power: i32) -> String {
    let unit = match (power, unit) {
        (0, unit) => unit.to_string(),
        (power, "") => power_of_ten(power),
        (power, unit) => format!("{} {unit}", power_of_ten(power)),
    };
    match (name, unit.as_str()) {
        (name, "") => name.to_string(),
        ("", unit) => unit.to_string(),
        (name, unit) => format!("{name}, {unit}"),
    }
}

/// 10³, 10⁻⁶.
pub fn power_of_ten(power: i32) -> String {
    let plain = power.to_string();
    let raised = plain.chars().map(|character| match character {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    });
    format!("10{}", raised.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_become_round() {
        let rounded = |low, high| {
            let range = Range::new(low, high).rounded();
            (number(range.low, 4), number(range.high, 4))
        };
        assert_eq!(rounded(0.03, 3.11), ("0.0000".into(), "3.2000".into()));
        assert_eq!(rounded(0.0, 3.2), ("0.0000".into(), "3.2000".into()));
        assert_eq!(rounded(-0.71, 0.32), ("−0.8000".into(), "0.4000".into()));
        assert_eq!(rounded(993.4, 1012.2), ("993.0000".into(), "1013.0000".into()));
        assert_eq!(rounded(0.0, 0.0), ("0.0000".into(), "1.0000".into()));
        assert_eq!(Range::new(-3.11, 1.0).symmetric(), Range::new(-3.2, 3.2));
    }

    #[test]
    fn a_constant_gets_room_on_both_sides() {
        for value in [1000.0, -0.001, 3.0e20] {
            let range = Range::new(value, value).rounded();
            assert!(range.low < value && value < range.high, "{range:?}");
        }
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Range::new(0.0, 3.2).ticks(4), vec![0.0, 1.0, 2.0, 3.0]);
        assert_eq!(Range::new(-1.0, 1.0).ticks(4), vec![-1.0, -0.5, 0.0, 0.5, 1.0]);
        let ticks = Range::new(0.1, 0.7).ticks(3);
        assert_eq!(labels(&ticks).0, ["0.2", "0.4", "0.6"]);
    }

    #[test]
    fn labels_take_out_powers_of_a_thousand() {
        let (texts, power) = labels(&[0.0, 50_000.0, 100_000.0]);
        assert_eq!((texts, power), (vec!["0".into(), "50".into(), "100".into()], 3));
        assert_eq!(heading("pressure", "Pa", power), "pressure, 10³ Pa");
        let (texts, power) = labels(&[0.0, 2e-5]);
        assert_eq!((texts, power), (vec!["0".into(), "20".into()], -6));
        assert_eq!(heading("", "s", power), "10⁻⁶ s");
        assert_eq!(heading("iterations", "", 0), "iterations");
    }

    #[test]
    fn numbers_use_a_minus_and_no_negative_zero() {
        assert_eq!(number(-1.5, 1), "−1.5");
        assert_eq!(number(-0.04, 1), "0.0");
    }

    #[test]
    fn a_few_values_far_away_can_be_left_out() {
        let values = || (0..1000).map(|k| f64::from((k * 7) % 1000)).chain([1e9, f64::NAN]);
        assert_eq!(Range::of_most(values(), 0.01), Some(Range::new(5.0, 995.0)));
        assert_eq!(Range::of_most(values(), 0.0), Some(Range::new(0.0, 1e9)));
        assert_eq!(Range::of_most([3.0], 1.0), Some(Range::new(3.0, 3.0)));
        assert_eq!(Range::of_most([], 0.5), None);
    }

    #[test]
    fn nothing_finite_has_no_range() {
        assert_eq!(Range::of([f64::NAN, f64::INFINITY]), None);
        assert_eq!(Range::of([f64::NAN, 2.0, -1.0]), Some(Range::new(-1.0, 2.0)));
    }
}
