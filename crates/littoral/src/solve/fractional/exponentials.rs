//! The kernel as a sum of exponentials: the whole past, at a constant cost for each step.
//!
//! K(τ) = τ^−q/Γ(1−q) = 1/(Γ(q)Γ(1−q)) ∫ e^{−sτ} s^{q−1} ds over all decay rates s. In ln s, the trapezoidal rule is
//! exponentially accurate: with a spacing of 0.9, a relative error of 10⁻⁴ [Beylkin2010]. Rates far above one over
//! the shortest time are left out. Infinitely many below one over the longest time are left: over [0, T] they hardly differ,
//! and the two that have the same first four moments stand for them all.
//!
//! With S = ∫ e^{−s(t−σ)} f′(σ) dσ for each rate, a step of length h takes e^{−sh} S and adds its own part, and D^q is the sum
//! of w S over the past before the newest step, which is integrated exactly. So the error is that of the kernel between the newest step
//! and the horizon, and does not depend on whether steps are equal. Far beyond the horizon the sum fades exponentially.

use libm::{exp, expm1, log, pow, sqrt, tgamma};

use super::Of;

/// Longest over shortest time for which the error is bounded.
pub const SPAN: f64 = 1e6;

/// Smallest relative error that can be asked for.
pub const LOWEST_TOLERANCE: f64 = 1e-5;

/// Σ w e^{−sτ} in place of τ^−q/Γ(1−q).
#[derive(Clone, Debug, PartialEq)]
pub struct Exponentials {
    order: f64,
    /// Decay rate s, 1/s, and weight w of each.
    pub terms: Vec<(f64, f64)>,
    /// Largest relative error from horizon/[`SPAN`] to the horizon, measured.
    pub error: f64,
}

/// What a step of length h does to one exponential: S ← S + fade S + old f′_old + new f′_new.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update {
    /// e^{−sh} − 1.
    pub fade: f64,
    pub old: f64,
    pub new: f64,
}

impl Exponentials {
    /// The fewest terms of this kind that keep a relative error of `tolerance` up to `horizon`, s.
    pub fn fit(order: f64, tolerance: f64, horizon: f64) -> Exponentials {
        let mut spacing = 3.0;
        loop {
            let fit = Exponentials::with_spacing(order, tolerance, horizon, spacing);
            if fit.error <= tolerance {
                return fit;
            }
            spacing -= 0.05;
            assert!(spacing > 0.2, "no sum of exponentials for q = {order} within {tolerance}");
        }
    }

    fn with_spacing(q: f64, tolerance: f64, horizon: f64, spacing: f64) -> Exponentials {
        let scale = spacing / (tgamma(q) * tgamma(1.0 - q));
        // Terms at or below `low` are merged: the error of that grows with the fourth power of its rate times the horizon.
        let low = libm::floor(log(pow(tolerance / 1e-4, 0.25).min(1.0)) / spacing - log(SPAN) / spacing);
        // What is above `high` has decayed to the tolerance within the shortest time.
        let high = libm::ceil(log(0.6 * log(1.0 / tolerance)) / spacing);
        let mut terms: Vec<(f64, f64)> = Vec::new();

        // Moments of the merged ones, with s in units of the largest: geometric series.
        let at_low = exp(spacing * low);
        let moment = |k: f64| scale * exp(q * spacing * low) / -expm1(-(q + k) * spacing);
        let [m0, m1, m2, m3] = [0.0, 1.0, 2.0, 3.0].map(moment);
        // Their two Gauss nodes are the roots of x² + b x + c, which is orthogonal to 1 and x.
        let determinant = m0 * m2 - m1 * m1;
        let b = (m1 * m2 - m0 * m3) / determinant;
        let c = (m1 * m3 - m2 * m2) / determinant;
        let root = sqrt(b * b - 4.0 * c);
        let (x, y) = ((-b - root) / 2.0, (-b + root) / 2.0);
        terms.push((x * at_low, (m1 - y * m0) / (x - y)));
        terms.push((y * at_low, (m1 - x * m0) / (y - x)));

        let mut place = low + 1.0;
        while place <= high {
            let s = exp(spacing * place);
            terms.push((s, scale * pow(s, q)));
            place += 1.0;
        }
        // So far in units of the shortest time.
        let error = error(q, &terms);
        let unit = horizon / SPAN;
        let terms = terms.into_iter().map(|(s, w)| (s / unit, w * pow(unit, -q))).collect();
        Exponentials { order: q, terms, error }
    }

    /// The same times e^{−τ rate}: beyond 1/rate it has faded, and its integral is finite. (The newest step is taken without it,
    /// as steps are much shorter.)
    pub fn tempered(mut self, rate: f64) -> Exponentials {
        self.terms.iter_mut().for_each(|(s, _)| *s += rate);
        self
    }

    /// Σ w e^{−sτ}.
    pub fn kernel(&self, age: f64) -> f64 {
        self.terms.iter().map(|(s, w)| w * exp(-s * age)).sum()
    }

    /// What S of the k-th term makes of a step.
    pub fn update(&self, k: usize, of: Of, step: f64) -> Update {
        let x = self.terms[k].0 * step;
        let fade = expm1(-x);
        // ∫ e^{−s(h−σ)} dσ / h, and the same with the weight σ/h of the new end.
        let (all, new) = if x < 1e-3 {
            (1.0 - x / 2.0 + x * x / 6.0, 0.5 - x / 6.0 + x * x / 24.0)
        } else {
            (-fade / x, (1.0 + fade / x) / x)
        };
        match of {
            Of::Rates => Update { fade, old: step * (all - new), new: step * new },
            // The rate is (f_new − f_old)/h.
            Of::Values => Update { fade, old: -all, new: all },
        }
    }

    /// S of the k-th term for a path of rate 1 that started `age` ago.
    pub fn state_of_unit_rate(&self, k: usize, age: f64) -> f64 {
        let s = self.terms[k].0;
        -expm1(-s * age) / s
    }

    pub fn order(&self) -> f64 {
        self.order
    }
}

/// Largest relative error for times from 1 to [`SPAN`].
fn error(q: f64, terms: &[(f64, f64)]) -> f64 {
    // It oscillates with the spacing of the terms: 20 samples for each factor of e see every crest.
    let samples = 280;
    let worst = (0..=samples).map(|k| {
        let time = exp(log(SPAN) * f64::from(k) / f64::from(samples));
        let sum: f64 = terms.iter().map(|(s, w)| w * exp(-s * time)).sum();
        (sum * tgamma(1.0 - q) * pow(time, q) - 1.0).abs()
    });
    worst.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_below_the_tolerance_between_its_samples_too() {
        for q in [0.05, 0.2, 0.5, 0.8, 0.95] {
            for tolerance in [1e-2, 1e-3, 1e-4, LOWEST_TOLERANCE] {
                let horizon = 50.0;
                let fit = Exponentials::fit(q, tolerance, horizon);
                assert!(fit.terms.iter().all(|&(s, w)| s > 0.0 && w > 0.0));
                let worst = (0..5000).map(|k| {
                    let age = horizon * pow(SPAN, f64::from(k) / 4999.0 - 1.0);
                    (fit.kernel(age) / (pow(age, -q) / tgamma(1.0 - q)) - 1.0).abs()
                });
                let worst = worst.fold(0.0, f64::max);
                assert!(worst < 1.05 * tolerance, "q = {q}, {tolerance}: {worst}");
                // Few enough for a particle's columns.
                let most = if tolerance >= 1e-4 { 23 } else { 31 };
                assert!(fit.terms.len() <= most, "q = {q}, {tolerance}: {}", fit.terms.len());
            }
        }
    }

    #[test]
    fn a_step_is_integrated_exactly() {
        // f′ = 3 + 2σ over a step, against the closed form, for slow and fast terms.
        let fit = Exponentials::fit(0.5, 1e-4, 1.0);
        let h = 1e-3;
        for (k, &(s, _)) in fit.terms.iter().enumerate() {
            let update = fit.update(k, Of::Rates, h);
            let ours = update.old * 3.0 + update.new * (3.0 + 2.0 * h);
            let x = s * h;
            let exact = if x < 1e-4 {
                3.0 * h + h * h
            } else {
                -3.0 * expm1(-x) / s + 2.0 * (h / s + expm1(-x) / (s * s))
            };
            assert!((ours / exact - 1.0).abs() < 1e-4, "{k}: {ours} {exact}");
        }
    }
}
