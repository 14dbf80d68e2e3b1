use glam::Vec4;
use libm::{pow, sin, tgamma};

use super::*;
use crate::columns::{MASS, VELOCITY};
use crate::particles::{ColumnSpec, Part, Scalars, Vectors};

static LEVEL_PAST: [Scalars; MOST_COLUMNS] = past_columns!(Scalars, "level", "m/s");
static LEVEL_RESULT: Scalars =
    Scalars(ColumnSpec { name: "level_result", unit: "", in_frames: false, part: Part::Intensive });
static LEVEL: PastColumns<Scalars> = PastColumns { source: &MASS, past: &LEVEL_PAST, result: &LEVEL_RESULT };

static SWIFT_PAST: [Vectors; MOST_COLUMNS] = past_columns!(Vectors, "swift", "m/s");
static SWIFT_RESULT: Vectors =
    Vectors(ColumnSpec { name: "swift_result", unit: "", in_frames: false, part: Part::Intensive });
static SWIFT: PastColumns<Vectors> =
    PastColumns { source: &VELOCITY, past: &SWIFT_PAST, result: &SWIFT_RESULT };

const WHOLE: Reach = Reach::Whole { tolerance: 1e-4, horizon: 10.0 };
const WINDOW: Reach = Reach::Window { steps: 12, rule: Rule::Trapezoid };

fn levels(order: f64, of: Of, reach: Reach, count: usize) -> (History<Scalars>, Particles) {
    let history = History::new(Remembers { order, of, reach, measure: Measure::Derivative, columns: &LEVEL });
    let mut particles = Particles::default();
    history.require_columns(&mut particles);
    particles.resize(count);
    (history, particles)
}

/// Steps that differ by a factor of six.
fn step(k: u32) -> f64 {
    1e-3 * (1.0 + 0.7 * sin(1.3 * f64::from(k)))
}

#[test]
fn a_scalar_column_of_rates_or_of_values_on_uneven_steps() {
    // f = t², from its rate and from itself, against 2 t^{2−q}/Γ(3−q).
    for q in [0.2, 0.5, 0.8] {
        for of in [Of::Rates, Of::Values] {
            let (mut history, mut particles) = levels(q, of, WHOLE, 1);
            history.born(0..1, &mut particles);
            let mut time = 0.0;
            for k in 0..2000 {
                time += step(k);
                let source = if of == Of::Rates { 2.0 * time } else { time * time };
                particles.get_mut(&MASS)[0] = source as f32;
                history.advance(step(k), &mut particles);
            }
            let exact = 2.0 * pow(time, 2.0 - q) / tgamma(3.0 - q);
            let ours = f64::from(particles.get(&LEVEL_RESULT)[0]);
            assert!((ours / exact - 1.0).abs() < 2e-4, "q = {q}, {of:?}: {ours} {exact}");
        }
    }
}

#[test]
fn a_million_small_steps_are_not_lost_to_rounding() {
    // A rate of 1: each step adds a millionth to the slowest sums.
    let (mut history, mut particles) =
        levels(0.5, Of::Rates, Reach::Whole { tolerance: 1e-4, horizon: 1e3 }, 1);
    particles.get_mut(&MASS)[0] = 1.0;
    history.born(0..1, &mut particles);
    for _ in 0..1_000_000 {
        history.advance(1e-3, &mut particles);
    }
    let exact = response(0.5, 1e3);
    let ours = f64::from(particles.get(&LEVEL_RESULT)[0]);
    assert!((ours / exact - 1.0).abs() < 1e-4, "{ours} {exact}");
}

#[test]
fn what_is_foreseen_comes_true() {
    for reach in [WINDOW, Reach::Window { steps: 5, rule: Rule::Coimbra }, WHOLE] {
        for of in [Of::Rates, Of::Values] {
            let (mut history, mut particles) = levels(0.4, of, reach, 3);
            history.born(0..3, &mut particles);
            for k in 0..40 {
                let dt = step(k);
                let mut known = vec![0.0; 3];
                let coefficient = history.foresee(dt, &particles, &mut known);
                let new = [1.0, sin(f64::from(k)) as f32, 0.1 * k as f32];
                particles.get_mut(&MASS).copy_from_slice(&new);
                history.advance(dt, &mut particles);
                for ((known, new), result) in known.iter().zip(new).zip(particles.get(&LEVEL_RESULT)) {
                    let foreseen = known + coefficient * new;
                    // Values take differences: their digits are those of the largest value over the shortest step.
                    assert!((foreseen - result).abs() < 2e-5 * (1.0 + result.abs()), "{foreseen} {result}");
                }
            }
        }
    }
}

#[test]
fn a_newborn_has_always_moved_as_it_does() {
    for reach in [WINDOW, WHOLE] {
        for measure in [Measure::Derivative, Measure::Mean] {
            let what = Remembers { order: 0.5, of: Of::Rates, reach, measure, columns: &SWIFT };
            let mut history = History::new(what);
            let mut particles = Particles::default();
            history.require_columns(&mut particles);
            particles.resize(1);
            particles.get_mut(&VELOCITY)[0] = Vec4::X;
            history.born(0..1, &mut particles);
            (0..50).for_each(|k| history.advance(step(k), &mut particles));
            particles.resize(2);
            particles.get_mut(&VELOCITY)[1] = Vec4::X;
            history.born(1..2, &mut particles);
            for k in 50..60 {
                let [old, new] = particles.get(&SWIFT_RESULT) else { panic!("two particles") };
                assert!((*old - *new).length() < 2e-3 * old.length(), "{reach:?}, {measure:?}: {old} {new}");
                if measure == Measure::Mean {
                    assert!((old.x - 1.0).abs() < 1e-5, "{reach:?}: the mean of a constant rate is {old}");
                }
                history.advance(step(k), &mut particles);
            }
        }
    }
}

#[test]
fn a_past_is_sorted_saved_and_united_with_its_particle() {
    for reach in [WINDOW, WHOLE] {
        let (mut history, mut particles) = levels(0.5, Of::Rates, reach, 3);
        let rate = |i: usize, k: u32| (i as f32 + 1.0) * sin(0.1 * f64::from(k)) as f32;
        let set = |particles: &mut Particles, order: &[usize], k| {
            let mass = particles.get_mut(&MASS);
            mass.iter_mut().zip(order).for_each(|(mass, &i)| *mass = rate(i, k));
        };
        history.born(0..3, &mut particles);
        for k in 0..30 {
            set(&mut particles, &[0, 1, 2], k);
            history.advance(step(k), &mut particles);
        }
        particles.reorder(&[2, 0, 1]);
        let (saved, columns) = (history.bits(), particles.clone());
        for k in 30..50 {
            set(&mut particles, &[2, 0, 1], k);
            history.advance(step(k), &mut particles);
        }
        // The operator is linear: the third has three times what the first has.
        let result = particles.get(&LEVEL_RESULT).to_vec();
        assert!((result[0] - 3.0 * result[1]).abs() < 2e-6 * result[0].abs(), "{result:?}");

        let (mut resumed, _) = levels(0.5, Of::Rates, reach, 3);
        assert!(resumed.restore(&saved));
        let mut particles = columns;
        for k in 30..50 {
            set(&mut particles, &[2, 0, 1], k);
            resumed.advance(step(k), &mut particles);
        }
        assert_eq!(particles.get(&LEVEL_RESULT), result, "the same bits");
        assert!(!resumed.restore(&HistoryBits { taken: 0, elapsed: 0, steps: vec![0; 3] }));
    }
}
