//! Derivatives of order q: their orders of accuracy, the whole past at a constant cost, and two motions that remember.

use std::f64::consts::PI;

use libm::{cos, exp, pow, sin, sqrt, tgamma};

use super::{Check, Validation};
use crate::columns::VELOCITY;
use crate::memory::{History, MOST_COLUMNS, Measure, PastColumns, Reach, Remembers};
use crate::particles::{ColumnSpec, Part, Particles, Vectors};
use crate::past_columns;
use crate::solve::fractional::{Of, Rule, window};

pub static FRACTIONAL_ORDERS: Validation = Validation {
    name: "fractional-orders",
    what: "half-derivatives of t, t² and sin t by both rules, on equal and on uneven steps: orders of the error",
    run: |_| Ok(orders()),
};

pub static FRACTIONAL_EXPONENTIALS: Validation = Validation {
    name: "fractional-exponentials",
    what: "the whole past by a sum of exponentials, over a million uneven steps: within its bound",
    run: |_| Ok(exponentials()),
};

pub static BASSET_SPHERE: Validation = Validation {
    name: "basset-sphere",
    what: "a sphere that settles in a viscous fluid with Basset's history force: its exact speed",
    run: |_| Ok([0.4, 2.5, 8.0].into_iter().flat_map(sphere).collect()),
};

pub static FRACTIONAL_OSCILLATOR: Validation = Validation {
    name: "fractional-oscillator",
    what: "a mass on a spring, damped by a derivative of order q of its way: Mittag-Leffler functions",
    run: |_| Ok([0.3, 0.5, 0.8].into_iter().map(oscillator).collect()),
};

static PAST: [Vectors; MOST_COLUMNS] = past_columns!(Vectors, "validation", "m/s");
static RESULT: Vectors =
    Vectors(ColumnSpec { name: "validation_result", unit: "", in_frames: false, part: Part::Intensive });
static COLUMNS: PastColumns<Vectors> = PastColumns { source: &VELOCITY, past: &PAST, result: &RESULT };

/// D^q sin(ωt)/ω, by its series.
fn of_sine(q: f64, frequency: f64, t: f64) -> f64 {
    let mut sum = 0.0;
    for k in 0..80 {
        let power = 2.0 * f64::from(k) + 1.0 - q;
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        sum += sign * pow(frequency, 2.0 * f64::from(k)) * pow(t, power) / tgamma(power + 1.0);
    }
    sum
}

/// Ends of steps from 0 to `end`; uneven ones differ by a factor of four, in a pattern that stays when they get shorter.
fn times(end: f64, count: u32, uneven: bool) -> Vec<f64> {
    let place = |k: u32| {
        let x = f64::from(k) / f64::from(count);
        let bend = if uneven { 0.6 / (2.0 * PI * 3.0) * sin(2.0 * PI * 3.0 * x) } else { 0.0 };
        end * (x + bend)
    };
    (0..=count).map(place).collect()
}

/// A path by its rate or values, and its half-derivative.
type Path = (&'static str, fn(f64) -> f64, fn(f64) -> f64, fn(f64) -> f64);

const PATHS: [Path; 3] = [
    ("t", |t| t, |_| 1.0, |t| 2.0 * sqrt(t / PI)),
    ("t²", |t| t * t, |t| 2.0 * t, |t| 2.0 * pow(t, 1.5) / (0.75 * sqrt(PI))),
    ("sin t", sin, cos, |t| of_sine(0.5, 1.0, t)),
];

fn orders() -> Vec<Check> {
    let end = 2.0;
    let rules = [
        ("trapezoid", Rule::Trapezoid, Of::Rates, 2.0),
        // The rate is constant in a tenth of the newest step: ∫ K × O(h) there.
        ("Coimbra", Rule::Coimbra, Of::Rates, 1.5),
        // A constant rate in each step: the same.
        ("trapezoid, of values", Rule::Trapezoid, Of::Values, 1.5),
    ];
    let mut checks = Vec::new();
    for (rule_name, rule, of, order) in rules {
        for uneven in [false, true] {
            let kind = if uneven { "uneven" } else { "equal" };
            for (name, value, rate, exact) in PATHS {
                let error = |count: u32| {
                    let times = times(end, count, uneven);
                    let steps: Vec<f64> = times.windows(2).rev().map(|pair| pair[1] - pair[0]).collect();
                    let weights = window(0.5, rule, of, &steps);
                    let known = times.iter().rev().map(|&t| if of == Of::Rates { rate(t) } else { value(t) });
                    let sum: f64 = weights.iter().zip(known).map(|(weight, known)| weight * known).sum();
                    (sum / exact(end) - 1.0).abs()
                };
                let label = |what: &str| format!("{what} of D^½ {name} ({rule_name}, {kind} steps)");
                let fine = error(1280);
                // Straight lines are exact for every rule, and parabolas by straight rates: there is no order to measure.
                if fine < 1e-11 {
                    checks.push(Check::below(label("error"), "", fine, 1e-11));
                    continue;
                }
                let measured = libm::log2(error(320) / fine) / 2.0;
                checks.push(Check::near(label("order of the error"), "", measured, order, 0.1));
            }
        }
    }
    checks
}

/// A particle that remembers.
fn alone(order: f64, of: Of, reach: Reach) -> (History<Vectors>, Particles) {
    let what = Remembers { order, of, reach, measure: Measure::Derivative, columns: &COLUMNS };
    let history = History::new(what);
    let mut particles = Particles::default();
    history.require_columns(&mut particles);
    particles.resize(1);
    (history, particles)
}

fn exponentials() -> Vec<Check> {
    let (tolerance, horizon) = (1e-4, 10.0);
    let mut checks = Vec::new();
    for (q, steps) in [(0.2, 100_000), (0.5, 1_000_000), (0.8, 100_000)] {
        let (mut history, mut particles) = alone(q, Of::Rates, Reach::Whole { tolerance, horizon });
        // A rate of 1 + cos 2t, which is never negative, so that the error of the kernel bounds that of the result.
        let rate = |t: f64| 1.0 + cos(2.0 * t);
        particles.get_mut(&VELOCITY)[0].x = rate(0.0) as f32;
        history.born(0..1, &mut particles);
        let (mut time, mut worst) = (0.0, 0.0f64);
        for k in 0..steps {
            // Over the whole horizon, up to a factor of nine apart.
            let dt = horizon / f64::from(steps) * (1.0 + 0.8 * sin(0.37 * f64::from(k)));
            time += dt;
            particles.get_mut(&VELOCITY)[0].x = rate(time) as f32;
            history.advance(dt, &mut particles);
            if k % 20_000 == 19_999 || k == 99 {
                let exact = pow(time, 1.0 - q) / tgamma(2.0 - q) + of_sine(q, 2.0, time);
                worst = worst.max((f64::from(particles.get(&RESULT)[0].x) / exact - 1.0).abs());
            }
        }
        checks.push(Check::below(
            format!("largest relative error over {steps} steps (q = {q})"),
            "",
            worst,
            tolerance,
        ));
        let bytes = history.bytes_per_particle() as f64;
        checks.push(Check::below(format!("memory of a particle (q = {q})"), "bytes", bytes, 400.0));
    }
    checks
}

/// (ρ_p + ρ_f/2) V v′ = (ρ_p − ρ_f) V g − 6πμa v − 6πa²√(μρ_f) D^½ v, in units of the final speed and of the time m/(6πμa): v′ = 1 − v − β D^½ v with
/// β² = 9/(2ρ_p/ρ_f + 1) [Ozgen2010, 3].
fn sphere(density_ratio: f64) -> Vec<Check> {
    let beta = sqrt(9.0 / (2.0 * density_ratio + 1.0));
    let exact = |t: f64| {
        // The inverse of 1/(s(s + β√s + 1)) along its branch cut, r = x²; by the trapezoidal rule in ln x.
        let sum: f64 = (-400..=200)
            .map(|k| {
                let x = exp(0.04 * f64::from(k));
                x * exp(-x * x * t) / ((1.0 - x * x) * (1.0 - x * x) + beta * beta * x * x)
            })
            .sum();
        1.0 - 2.0 * beta / PI * 0.04 * sum
    };
    let reach = Reach::Whole { tolerance: 1e-4, horizon: 10.0 };
    let (mut history, mut particles) = alone(0.5, Of::Values, reach);
    history.born(0..1, &mut particles);
    let (mut time, mut speed): (f64, f64) = (0.0, 0.0);
    let mut known = [glam::Vec4::ZERO];
    let (mut worst, mut next) = (0.0f64, 0.5);
    while time < 10.0 {
        // Short at the start, where the force is singular; then longer, and uneven.
        let dt = (0.02 * time).clamp(1e-4, 2e-3) * (1.0 + 0.5 * sin(1000.0 * time));
        let coefficient = f64::from(history.foresee(dt, &particles, &mut known));
        speed = (speed + dt * (1.0 - beta * f64::from(known[0].x))) / (1.0 + dt * (1.0 + beta * coefficient));
        time += dt;
        particles.get_mut(&VELOCITY)[0].x = speed as f32;
        history.advance(dt, &mut particles);
        if time > next {
            worst = worst.max((speed - exact(time)).abs());
            next += 0.5;
        }
    }
    let label = |what: &str| format!("{what} of a sphere of {density_ratio} times the fluid's density");
    // What Basset's force is about: without it the speed would be 1 − e^−t.
    let share = (1.0 - exp(-time)) - exact(time);
    vec![
        Check::below(label("largest error of the speed, over the final one,"), "", worst, 1e-3),
        Check::near(
            label("speed lost to the past after 10 times m/(6πμa),"),
            "",
            (1.0 - exp(-time)) - speed,
            share,
            1e-3,
        ),
    ]
}

/// x″ + η D^q x + x = 0 from x = 1 at rest, implicitly by the trapezoidal rule.
fn oscillator(q: f64) -> Check {
    let eta = 0.5;
    // 1 − L⁻¹ of 1/(s(s² + ηs^q + 1)), expanded: a sum of Mittag-Leffler functions as their double series.
    let exact = |t: f64| {
        let mut sum = 0.0;
        for j in 0..60 {
            let mut choose = if j % 2 == 0 { 1.0 } else { -1.0 };
            for n in 0..=j {
                let power = f64::from(2 * j + 2) - q * f64::from(n);
                sum += choose * pow(eta, f64::from(n)) * pow(t, power) / tgamma(power + 1.0);
                choose *= f64::from(j - n) / f64::from(n + 1);
            }
        }
        1.0 - sum
    };
    let reach = Reach::Whole { tolerance: 1e-4, horizon: 10.0 };
    let (mut history, mut particles) = alone(q, Of::Rates, reach);
    history.born(0..1, &mut particles);
    let (mut place, mut speed, mut force) = (1.0, 0.0, -1.0);
    let mut known = [glam::Vec4::ZERO];
    let (mut worst, mut next) = (0.0f64, 0.5);
    let mut time = 0.0;
    while time < 10.0 {
        let half = 0.5 * 2e-3 * (1.0 + 0.5 * sin(1000.0 * time));
        let coefficient = f64::from(history.foresee(2.0 * half, &particles, &mut known));
        let known = f64::from(known[0].x);
        // The force at the end is −(x + ½Δt(v + v₁)) − η(known + coefficient v₁).
        let fixed = -(place + half * speed) - eta * known;
        let new = (speed + half * (force + fixed)) / (1.0 + half * (half + eta * coefficient));
        place += half * (speed + new);
        force = fixed - (half + eta * coefficient) * new;
        speed = new;
        time += 2.0 * half;
        particles.get_mut(&VELOCITY)[0].x = speed as f32;
        history.advance(2.0 * half, &mut particles);
        if time > next {
            worst = worst.max((place - exact(time)).abs());
            next += 0.5;
        }
    }
    Check::below(format!("largest error of the place, over the first (q = {q})"), "", worst, 1e-3)
}
