//! Rules over a window of steps of any lengths.
//!
//! An interval from age a to age b = a + h contributes w_new g_new + w_old g_old, where g is the rate f′ at its two ends.
//! With M₀ = ∫ K = (b^{1−q} − a^{1−q})/Γ(2−q) and M₁ = ∫ τ K = (1−q)(b^{2−q} − a^{2−q})/((2−q) Γ(2−q)), a rate that is a straight
//! line gives w_old = (M₁ − a M₀)/h and w_new = M₀ − w_old: for equal steps, these add up to the product-trapezoidal
//! weights of [OzgenSumengen2013, Eq. 9].
//!
//! The window ends where its oldest interval does. [OzgenSumengen2013] drops what is older but keeps the weights of an infinite past,
//! so that the sum of weights jumps when the window has filled; here it grows as T^{1−q}/Γ(2−q) with the time T in the
//! window, and stays there. Steps before the start have no length, and so no weight: the path starts at rest.

use libm::{pow, tgamma};

use super::Of;

/// How an interval is integrated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Exact for rates that are straight lines between steps. Second order.
    Trapezoid,
    /// Coimbra's: Simpson's rule on kernel and rate, and in the newest step a tenth apart, next to the singularity, where the
    /// rate is taken as constant [Ozgen2010, Eq. 6]. As printed, the kernel's integral over the newest step comes out 3 % too
    /// large however short the step, which makes the rule one of order 1 − q. Here each interval's weights are scaled to the
    /// kernel's exact integral; then it is of order 2 − q.
    Coimbra,
}

/// Weights of the rates at the two ends of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Term {
    pub new: f64,
    pub old: f64,
}

/// Weights of an interval that ended `age` ago and was `step` long, s.
pub fn interval(q: f64, rule: Rule, of: Of, age: f64, step: f64) -> Term {
    if step <= 0.0 {
        return Term::default();
    }
    let mass = mass(q, age, age + step);
    if of == Of::Values {
        // The rate is the difference over the step, and constant: weight of that difference.
        return Term { new: mass / step, old: -mass / step };
    }
    match rule {
        Rule::Trapezoid => {
            let (a, b) = (age, age + step);
            let moment = (1.0 - q) / (2.0 - q) * (pow(b, 2.0 - q) - pow(a, 2.0 - q)) / tgamma(2.0 - q);
            let old = (moment - a * mass) / step;
            Term { new: mass - old, old }
        }
        Rule::Coimbra if age > 0.0 => simpson(q, age, age + step),
        Rule::Coimbra => {
            let near = 0.1 * step;
            let far = simpson(q, near, step);
            Term { new: far.new + self::mass(q, 0.0, near), old: far.old }
        }
    }
}

/// Simpson's rule from age a to b, scaled so that a constant rate is integrated exactly.
fn simpson(q: f64, a: f64, b: f64) -> Term {
    let kernel = |age: f64| pow(age, -q);
    // The rate half way is the mean of those at the ends.
    let half_way = 2.0 * kernel(0.5 * (a + b));
    let (new, old) = (kernel(a) + half_way, kernel(b) + half_way);
    let scale = mass(q, a, b) / (new + old);
    Term { new: scale * new, old: scale * old }
}

/// ∫ K from age a to age b: what a rate of 1 gives, and so D^q t = [`response`] of its age.
fn mass(q: f64, a: f64, b: f64) -> f64 {
    (pow(b, 1.0 - q) - pow(a, 1.0 - q)) / tgamma(2.0 - q)
}

/// D^q of a path of rate 1 that started `age` ago.
pub fn response(q: f64, age: f64) -> f64 {
    mass(q, 0.0, age)
}

/// Weights over the last steps, newest first: of the newest rate or value, then of the one at the start of each step.
pub fn window(q: f64, rule: Rule, of: Of, steps: &[f64]) -> Vec<f64> {
    let mut weights = vec![0.0; steps.len() + 1];
    let mut age = 0.0;
    for (k, &step) in steps.iter().enumerate() {
        let term = interval(q, rule, of, age, step);
        weights[k] += term.new;
        weights[k + 1] += term.old;
        age += step;
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uneven(count: usize) -> Vec<f64> {
        (0..count).map(|k| 0.01 * (1.0 + 0.7 * libm::sin(1.3 * k as f64))).collect()
    }

    #[test]
    fn equal_steps_give_the_published_weights() {
        // [OzgenSumengen2013, Eq. 9], which is right for a path that starts where the window does.
        let (q, h, n) = (0.5, 0.02, 10);
        let scale = pow(h, 1.0 - q) / tgamma(3.0 - q);
        let ours = window(q, Rule::Trapezoid, Of::Rates, &vec![h; n]);
        for (k, weight) in ours.iter().enumerate() {
            let p = |x: f64| pow(x, 2.0 - q);
            let k = k as f64;
            let nf = n as f64;
            let published = if k == 0.0 {
                1.0
            } else if k < nf {
                p(k - 1.0) - 2.0 * p(k) + p(k + 1.0)
            } else {
                p(nf - 1.0) - pow(nf, 1.0 - q) * (nf + q - 2.0)
            };
            assert!((weight - scale * published).abs() < 1e-12, "{k}: {weight} {}", scale * published);
        }
    }

    #[test]
    fn lines_are_exact_on_uneven_steps() {
        // D^q of t is T^{1−q}/Γ(2−q) by every rule; of t², 2 T^{2−q}/Γ(3−q) by the trapezoid.
        for q in [0.1, 0.5, 0.9] {
            let steps = uneven(40);
            let end: f64 = steps.iter().sum();
            for rule in [Rule::Trapezoid, Rule::Coimbra] {
                let total: f64 = window(q, rule, Of::Rates, &steps).iter().sum();
                assert!((total / response(q, end) - 1.0).abs() < 1e-12, "{rule:?}");
            }
            let mut time = end;
            let mut sum = 0.0;
            for (k, weight) in window(q, Rule::Trapezoid, Of::Rates, &steps).iter().enumerate() {
                sum += weight * 2.0 * time;
                time -= steps.get(k).copied().unwrap_or(0.0);
            }
            let exact = 2.0 * pow(end, 2.0 - q) / tgamma(3.0 - q);
            assert!((sum / exact - 1.0).abs() < 1e-11, "q = {q}: {sum} {exact}");
        }
    }

    #[test]
    fn as_printed_the_newest_step_counts_too_much() {
        // [Ozgen2010, Eq. 6] for a rate of 1 over one step, against 2 √(h/π).
        let h = 0.01f64;
        let printed = (0.15 * h / libm::sqrt(std::f64::consts::PI))
            * (1.0 / libm::sqrt(h) + 4.0 / libm::sqrt(0.55 * h) + 1.0 / libm::sqrt(0.1 * h))
            + (0.05 * h / libm::sqrt(std::f64::consts::PI))
                * (8.0 * libm::sqrt(2.0) / 3.0 / libm::sqrt(0.05 * h) - 4.0 / 3.0 / libm::sqrt(0.1 * h));
        assert!((printed / response(0.5, h) - 1.0329).abs() < 1e-4);
    }

    #[test]
    fn nothing_jumps_when_the_window_fills() {
        // A rate of 1 from the start on: the sum of weights never falls, and rises less and less.
        let (q, n, h) = (0.5, 10, 0.01);
        let (mut before, mut rise) = (0.0, f64::INFINITY);
        for taken in 1..30 {
            let steps: Vec<f64> = (0..n).map(|k| if k < taken { h } else { 0.0 }).collect();
            let sum: f64 = window(q, Rule::Trapezoid, Of::Rates, &steps).iter().sum();
            let now = sum - before;
            assert!(now >= -1e-12 && now <= rise + 1e-12, "after {taken} steps");
            (before, rise) = (sum, now);
        }
    }
}
