//! Curves: a number that may change over time, or over a particle's own state.
//!
//! Every weight and every numeric property of a behaviour is a [`Curve`]. A plain number is a curve with one
//! key. A curve is driven by the clock, or by a scalar column such as temperature, in which case each particle
//! has its own value. Before the first key and after the last, a curve holds still.

use std::sync::Arc;

use crate::forces::expression::Program;

/// What a curve runs over.
#[derive(Clone, Debug, PartialEq)]
pub enum Driver {
    /// Simulated time, s.
    Time,
    /// A scalar column of the particle itself, by name, in that column's unit.
    Column(&'static str),
    /// A formula of the particle's place and velocity and of the time.
    Formula(Arc<Formula>),
}

/// A formula, as it was written.
#[derive(Clone, Debug)]
pub struct Formula {
    pub text: String,
    pub program: Program,
}

impl PartialEq for Formula {
    fn eq(&self, other: &Formula) -> bool {
        self.text == other.text
    }
}

/// How a curve goes from one key to the next.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Ease {
    /// Keeps the earlier key's value until the next key.
    Step,
    /// A straight line.
    #[default]
    Linear,
    /// s²(3 − 2s): starts and ends at rest.
    Smooth,
    /// A cubic through all keys without a kink, and without overshooting any of them [FritschButland1984].
    Cubic,
}

impl Ease {
    /// The names a scene file may use, in the order of the variants.
    pub const NAMES: [&'static str; 4] = ["step", "linear", "smooth", "cubic"];

    pub fn from_name(name: &str) -> Option<Ease> {
        match name {
            "step" => Some(Ease::Step),
            "linear" => Some(Ease::Linear),
            "smooth" => Some(Ease::Smooth),
            "cubic" => Some(Ease::Cubic),
            _ => None,
        }
    }
}

/// A value at a place on the driver's axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    pub at: f64,
    pub value: f64,
}

/// A number over time or over a column; never empty, keys in rising order.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub driver: Driver,
    pub ease: Ease,
    keys: Vec<Key>,
}

impl Curve {
    pub fn constant(value: f64) -> Curve {
        Curve { driver: Driver::Time, ease: Ease::Linear, keys: vec![Key { at: 0.0, value }] }
    }

    /// `None` when there is no key, or when two keys are out of order.
    pub fn new(driver: Driver, ease: Ease, keys: Vec<Key>) -> Option<Curve> {
        let ordered = keys.windows(2).all(|pair| pair[0].at < pair[1].at);
        (!keys.is_empty() && ordered).then_some(Curve { driver, ease, keys })
    }

    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The value, where it is the same at all times and for all particles.
    pub fn as_constant(&self) -> Option<f64> {
        let first = self.keys[0].value;
        self.keys.iter().all(|key| key.value == first).then_some(first)
    }

    /// Largest value the curve can take: easing never overshoots its keys.
    pub fn max(&self) -> f64 {
        self.keys.iter().map(|key| key.value).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Smallest value.
    pub fn min(&self) -> f64 {
        self.keys.iter().map(|key| key.value).fold(f64::INFINITY, f64::min)
    }

    /// All values times a factor.
    #[must_use]
    pub fn times(&self, factor: f64) -> Curve {
        let keys = self.keys.iter().map(|key| Key { at: key.at, value: key.value * factor }).collect();
        Curve { driver: self.driver.clone(), ease: self.ease, keys }
    }

    /// Places inside (a, b) where the curve jumps.
    pub fn jumps(&self, a: f64, b: f64) -> impl Iterator<Item = f64> + '_ {
        let steps = self.ease == Ease::Step;
        self.keys.iter().skip(1).map(|key| key.at).filter(move |&at| steps && a < at && at < b)
    }

    /// ∫ from a to b: exact for every way to ease, as all are cubics from key to key.
    pub fn integral(&self, a: f64, b: f64) -> f64 {
        let inside = self.keys.iter().map(|key| key.at).filter(|&at| a < at && at < b);
        let (mut sum, mut start) = (0.0, a);
        for end in inside.chain([b]) {
            let width = end - start;
            // Gauss's two points, inside the stretch: a step's value at its very end is the next one's.
            let offset = 0.5 * (1.0 - 1.0 / 3.0f64.sqrt()) * width;
            sum += 0.5 * width * (self.at(start + offset) + self.at(end - offset));
            start = end;
        }
        sum
    }

    /// Value at a place on the driver's axis.
    pub fn at(&self, place: f64) -> f64 {
        let next = self.keys.partition_point(|key| key.at <= place);
        if next == 0 {
            return self.keys[0].value;
        }
        let a = self.keys[next - 1];
        let Some(b) = self.keys.get(next) else { return a.value };
        let s = (place - a.at) / (b.at - a.at);
        let s = match self.ease {
            Ease::Step => 0.0,
            Ease::Linear => s,
            Ease::Smooth => s * s * (3.0 - 2.0 * s),
            Ease::Cubic => return self.cubic(next - 1, s),
        };
        a.value + (b.value - a.value) * s
    }

    /// Hermite's cubic between key `i` and the next, at a fraction `s` of the way.
    fn cubic(&self, i: usize, s: f64) -> f64 {
        let (a, b) = (self.keys[i], self.keys[i + 1]);
        let width = b.at - a.at;
        let (slope_a, slope_b) = (self.slope(i) * width, self.slope(i + 1) * width);
        let rise = s * s * (3.0 - 2.0 * s);
        let swing = s * (1.0 - s) * (slope_a * (1.0 - s) - slope_b * s);
        a.value + (b.value - a.value) * rise + swing
    }

    /// Slope at a key: the harmonic mean of the slopes to both sides, 0 at an extremum and at the ends.
    fn slope(&self, i: usize) -> f64 {
        if i == 0 || i + 1 == self.keys.len() {
            return 0.0;
        }
        let secant = |a: Key, b: Key| (b.value - a.value) / (b.at - a.at);
        let before = secant(self.keys[i - 1], self.keys[i]);
        let after = secant(self.keys[i], self.keys[i + 1]);
        if before * after <= 0.0 { 0.0 } else { 2.0 * before * after / (before + after) }
    }
}

/// A place, or anything else with three components, that may move over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    pub components: [Curve; 3],
}

impl Motion {
    pub fn constant(value: [f64; 3]) -> Motion {
        Motion { components: value.map(Curve::constant) }
    }

    pub fn at(&self, time: f64) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.components[axis].at(time))
    }

    /// Corners of the box that it never leaves.
    pub fn bounds(&self) -> ([f64; 3], [f64; 3]) {
        ([0, 1, 2].map(|axis| self.components[axis].min()), [0, 1, 2].map(|axis| self.components[axis].max()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(ease: Ease) -> Curve {
        let keys = vec![Key { at: 1.0, value: 2.0 }, Key { at: 3.0, value: 6.0 }];
        Curve::new(Driver::Time, ease, keys).unwrap()
    }

    #[test]
    fn holds_before_the_first_key_and_after_the_last() {
        for ease in [Ease::Step, Ease::Linear, Ease::Smooth, Ease::Cubic] {
            assert_eq!(ramp(ease).at(-5.0), 2.0);
            assert_eq!(ramp(ease).at(3.0), 6.0);
            assert_eq!(ramp(ease).at(99.0), 6.0);
        }
    }

    #[test]
    fn easings_differ_in_between() {
        assert_eq!(ramp(Ease::Step).at(2.9), 2.0);
        assert_eq!(ramp(Ease::Linear).at(1.5), 3.0);
        assert_eq!(ramp(Ease::Smooth).at(1.5), 2.0 + 4.0 * (0.0625 * 2.5));
    }

    #[test]
    fn a_cubic_goes_through_its_keys_without_kink_or_overshoot() {
        let values = [0.0, 1.0, 1.2, 5.0, 5.0, 2.0];
        let keys = values.iter().enumerate().map(|(i, &value)| Key { at: i as f64, value }).collect();
        let curve = Curve::new(Driver::Time, Ease::Cubic, keys).unwrap();
        for i in 0..5 {
            let (low, high) = (values[i].min(values[i + 1]), values[i].max(values[i + 1]));
            assert_eq!(curve.at(i as f64), values[i]);
            for k in 0..=50 {
                let value = curve.at(i as f64 + k as f64 / 50.0);
                assert!((low - 1e-12..=high + 1e-12).contains(&value), "{value} at key {i} + {k}/50");
            }
            // Both one-sided slopes at the next key.
            let (at, step) = ((i + 1) as f64, 1e-5);
            let left = (curve.at(at) - curve.at(at - step)) / step;
            let right = (curve.at(at + step) - curve.at(at)) / step;
            assert!((left - right).abs() < 1e-3, "kink at {at}: {left} and {right}");
        }
    }

    #[test]
    fn integrals_are_exact() {
        // 2 until 1 s, up to 6 at 3 s, 6 after: 4 s of it, whatever the ease, by symmetry.
        for ease in [Ease::Linear, Ease::Smooth, Ease::Cubic] {
            assert!((ramp(ease).integral(0.0, 4.0) - (2.0 + 8.0 + 6.0)).abs() < 1e-12);
            let halves = ramp(ease).integral(0.3, 1.7) + ramp(ease).integral(1.7, 3.2);
            assert!((ramp(ease).integral(0.3, 3.2) - halves).abs() < 1e-12);
        }
        assert!((ramp(Ease::Step).integral(0.0, 4.0) - (2.0 * 3.0 + 6.0)).abs() < 1e-12);
        assert_eq!(Curve::constant(3.0).integral(1.0, 1.5), 1.5);
    }

    #[test]
    fn refuses_keys_out_of_order() {
        let key = |at| Key { at, value: 0.0 };
        assert!(Curve::new(Driver::Time, Ease::Linear, vec![key(1.0), key(1.0)]).is_none());
        assert!(Curve::new(Driver::Time, Ease::Linear, vec![]).is_none());
    }
}
