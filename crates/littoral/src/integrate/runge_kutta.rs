//! Runge–Kutta methods: forces at several states on the way make one step.
//!
//! With the coefficients A = (a_ij) and b of a method, c_i = Σ_j a_ij, a step of h from (x, v) at t evaluates
//!
//! k_i = a(x_i, v_i, t + c_i h), v_i = v + h Σ_j a_ij k_j, x_i = x + c_i h v + h² Σ_j (A²)_ij k_j
//!
//! and arrives at v + h Σ_j b_j k_j and x + h v + h² Σ_j (bA)_j k_j. (The method's own stages of x are velocities; put
//! in, only accelerations are left to keep.) `rk4` is the classic method. `rk45` is the pair of Cash and Karp
//! [CashKarp1990]: the difference between its methods of order 5 and 4 is the error of a step, and a step whose error is
//! above `time.tolerance` is taken back and repeated, shorter. The more accurate result is gone on with.
//!
//! The error is how far off a position is, in m: that of the step itself, or that of the velocity times the step, of
//! the particle that has the largest. All stages stand in columns, because a search for neighbours may put the
//! particles into another order between two of them.
//!
//! Limits: walls and solids hold particles at the end of a step, not at its stages; solids that move are refused, since
//! rapier has steps of its own. Kept honest by `methods_have_their_order` and `littoral validate integrator-orders`.

use glam::Vec4;
use rayon::prelude::*;

use super::{Container, move_particles};
use crate::columns::{ACCELERATION, POSITION, STAGES, START_POSITION, START_VELOCITY, VELOCITY};
use crate::forces;
use crate::particles::{Particles, Vectors};
use crate::scene::IntegratorName;
use crate::timers::Stage;
use crate::timestep::Limit;
use crate::world::World;

/// Coefficients of an explicit method.
pub struct Method {
    /// a_ij of the second stage and those after it: each sees the stages before.
    rows: &'static [&'static [f64]],
    /// b_j.
    weights: &'static [f64],
    /// Those of a method of one order less, where the step's error is asked for.
    lower: Option<&'static [f64]>,
}

static CLASSIC: Method = Method {
    rows: &[&[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
    weights: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    lower: None,
};

/// [CashKarp1990, Table I], orders 5 and 4.
static CASH_KARP: Method = Method {
    rows: &[
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[3.0 / 10.0, -9.0 / 10.0, 6.0 / 5.0],
        &[-11.0 / 54.0, 5.0 / 2.0, -70.0 / 27.0, 35.0 / 27.0],
        &[1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110_592.0, 253.0 / 4096.0],
    ],
    weights: &[37.0 / 378.0, 0.0, 250.0 / 621.0, 125.0 / 594.0, 0.0, 512.0 / 1771.0],
    lower: Some(&[2825.0 / 27648.0, 0.0, 18575.0 / 48384.0, 13525.0 / 55296.0, 277.0 / 14336.0, 1.0 / 4.0]),
};

/// The next step is so much shorter than the error would allow.
const SAFETY: f64 = 0.9;
/// A step changes by at most these factors from one to the next.
const CHANGE: [f64; 2] = [0.2, 5.0];

/// How much of each stage's acceleration is in a displacement and in a change of velocity.
struct Mix {
    /// c h, s.
    time: f64,
    /// s².
    position: Vec<f32>,
    /// s.
    velocity: Vec<f32>,
}

impl Method {
    /// `None` for integrators that evaluate forces once a step.
    pub fn of(integrator: IntegratorName) -> Option<&'static Method> {
        match integrator {
            IntegratorName::Rk4 => Some(&CLASSIC),
            IntegratorName::Rk45 => Some(&CASH_KARP),
            _ => None,
        }
    }

    fn stages(&self) -> usize {
        self.weights.len()
    }

    /// Adds the columns that a step needs. The last stage's acceleration stays where forces leave it.
    pub fn require_columns(&self, particles: &mut Particles) {
        particles.require(&START_POSITION);
        particles.require(&START_VELOCITY);
        STAGES[..self.stages() - 1].iter().for_each(|stage| particles.require(stage));
    }

    /// Coefficients of a state, r, and those of its positions, rA, for a step of h.
    fn mix(&self, r: &[f64], h: f64) -> Mix {
        let mut through = vec![0.0; r.len()];
        for (&part, row) in r.iter().skip(1).zip(self.rows) {
            through.iter_mut().zip(*row).for_each(|(sum, a)| *sum += part * a);
        }
        Mix {
            time: r.iter().sum::<f64>() * h,
            position: through.iter().map(|part| (part * h * h) as f32).collect(),
            velocity: r.iter().map(|part| (part * h) as f32).collect(),
        }
    }
}

/// Accelerations of the stages so far, in their order.
fn accelerations(particles: &Particles, count: usize, all: usize) -> Vec<&[Vec4]> {
    let column = |stage: usize| {
        if stage + 1 < all { particles.get(&STAGES[stage]) } else { particles.get(&ACCELERATION) }
    };
    (0..count).map(column).collect()
}

#[inline]
fn sum(parts: &[f32], accelerations: &[&[Vec4]], i: usize) -> Vec4 {
    parts.iter().zip(accelerations).fold(Vec4::ZERO, |sum, (part, a)| sum + a[i] * *part)
}

impl World {
    /// Stages 1 to 7 for methods of several stages. Returns the length of the step that was taken, s: at most `dt`.
    pub(crate) fn advance_by_stages(&mut self, method: &Method, dt: f64) -> f64 {
        let start = self.clock.time;
        self.evaluate_forces(dt as f32);
        self.timed(Stage::Motion, |world| {
            copy(&mut world.particles, &POSITION, &START_POSITION);
            copy(&mut world.particles, &VELOCITY, &START_VELOCITY);
            copy(&mut world.particles, &ACCELERATION, &STAGES[0]);
        });
        let mut h = dt;
        loop {
            for (before, row) in method.rows.iter().enumerate() {
                let mix = method.mix(row, h);
                self.timed(Stage::Motion, |world| set_out(world, method, &mix));
                // A force field that ends with the step acts until then.
                self.clock.time = (start + mix.time).min(forces::just_before(start + h));
                self.evaluate_forces(h as f32);
                if let Some(kept) = STAGES[..method.stages() - 1].get(before + 1) {
                    copy(&mut self.particles, &ACCELERATION, kept);
                }
            }
            match self.timed(Stage::Motion, |world| judge(world, method, h)) {
                Some(shorter) => h = shorter,
                None => break,
            }
        }
        self.clock.time = start;
        self.timed(Stage::Motion, |world| arrive(world, &method.mix(method.weights, h), h));
        self.clock.time = start + h;
        h
    }
}

fn copy(particles: &mut Particles, from: &'static Vectors, to: &'static Vectors) {
    particles.update(to, |to, particles| to.copy_from_slice(particles.get(from)));
}

/// Puts the particles into the state of a stage.
fn set_out(world: &mut World, method: &Method, mix: &Mix) {
    let box_ = Container::new(&world.domain, world.discretisation.spacing);
    let time = mix.time as f32;
    let farthest = world.particles.update2((&POSITION, &VELOCITY), |position, velocity, particles| {
        let stages = accelerations(particles, mix.velocity.len(), method.stages());
        let start = (particles.get(&START_POSITION), particles.get(&START_VELOCITY));
        let rows = (position, velocity, start.0, start.1).into_par_iter().with_min_len(4096).enumerate();
        let moved = rows.map(|(i, (x, v, x0, v0))| {
            let to = *x0 + (*v0 * time + sum(&mix.position, &stages, i));
            *v = *v0 + sum(&mix.velocity, &stages, i);
            let moved = box_.shortest(to - *x).length_squared();
            *x = to;
            box_.wrap(x);
            moved
        });
        moved.reduce(|| 0.0, f32::max).sqrt()
    });
    world.neighbourhood.slack -= farthest;
}

/// Looks at the error of a step of h, and chooses the next one. `Some` shorter step if this one must be repeated.
fn judge(world: &mut World, method: &Method, h: f64) -> Option<f64> {
    let lower = method.lower?;
    let difference: Vec<f64> = method.weights.iter().zip(lower).map(|(b, lower)| b - lower).collect();
    let mix = method.mix(&difference, h);
    let particles = &world.particles;
    let stages = accelerations(particles, method.stages(), method.stages());
    let rows = (0..particles.len()).into_par_iter().with_min_len(4096);
    let largest = |a: f32, b: f32| if a >= b || a.is_nan() { a } else { b };
    let error = rows.map(|i| {
        let (x, v) = (sum(&mix.position, &stages, i), sum(&mix.velocity, &stages, i));
        largest(x.length(), v.length() * h as f32)
    });
    let error = f64::from(error.reduce(|| 0.0, largest));
    let tolerance = world.tolerance();
    let factor = if error.is_finite() {
        // The error of a step grows with h⁵.
        (SAFETY * libm::pow(tolerance / error.max(1e-30), 0.2)).clamp(CHANGE[0], CHANGE[1])
    } else {
        CHANGE[0]
    };
    world.clock.proposed = Some(h * factor);
    // A step below the shortest is taken all the same: the run stops after it, and says why.
    if error <= tolerance || h * factor < world.clock.settings.minimum_step {
        return None;
    }
    world.clock.binding = Limit::Tolerance;
    Some(h * factor)
}

/// The step itself: from its start, with the mean velocity; walls and solids hold whom they must. What velocities have
/// gained beyond the mean comes after.
fn arrive(world: &mut World, mix: &Mix, h: f64) {
    let box_ = Container::new(&world.domain, world.discretisation.spacing);
    let all = mix.velocity.len();
    let mean: Vec<f32> = mix.position.iter().map(|part| (f64::from(*part) / h) as f32).collect();
    let mut start_velocity = world.particles.take(&START_VELOCITY);
    let farthest = world.particles.update2((&POSITION, &VELOCITY), |position, velocity, particles| {
        let stages = accelerations(particles, all, all);
        let start = particles.get(&START_POSITION);
        let rows = (position, velocity, start, &mut start_velocity).into_par_iter();
        let moved = rows.with_min_len(4096).enumerate().map(|(i, (x, v, x0, v0))| {
            let gain = sum(&mean, &stages, i);
            *v = *v0 + gain;
            *v0 = sum(&mix.velocity, &stages, i) - gain;
            let moved = box_.shortest(*x0 - *x).length_squared();
            *x = *x0;
            moved
        });
        moved.reduce(|| 0.0, f32::max).sqrt()
    });
    world.particles.put(&START_VELOCITY, start_velocity);
    world.neighbourhood.slack -= farthest;
    move_particles(world, 0.0, h);
    world.particles.update(&VELOCITY, |velocity, particles| {
        let rows = velocity.par_iter_mut().with_min_len(8192).zip(particles.get(&START_VELOCITY));
        rows.for_each(|(v, rest)| *v += *rest);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ b over all rooted trees of up to so many nodes must be one over the tree's density.
    fn order_conditions(method: &Method, b: &[f64]) -> Vec<(usize, f64)> {
        let s = method.stages();
        let row = |i: usize| if i == 0 { &[][..] } else { method.rows[i - 1] };
        let apply = |y: &[f64]| -> Vec<f64> {
            (0..s).map(|i| row(i).iter().zip(y).map(|(a, y)| a * y).sum()).collect()
        };
        let times = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a * b).collect() };
        let c = apply(&vec![1.0; s]);
        let (c2, ac) = (times(&c, &c), apply(&c));
        let c3 = times(&c2, &c);
        let trees = [
            (1, vec![1.0; s], 1.0),
            (2, c.clone(), 2.0),
            (3, c2.clone(), 3.0),
            (3, ac.clone(), 6.0),
            (4, c3.clone(), 4.0),
            (4, times(&c, &ac), 8.0),
            (4, apply(&c2), 12.0),
            (4, apply(&ac), 24.0),
            (5, times(&c3, &c), 5.0),
            (5, times(&c2, &ac), 10.0),
            (5, times(&ac, &ac), 20.0),
            (5, times(&c, &apply(&c2)), 15.0),
            (5, times(&c, &apply(&ac)), 30.0),
            (5, apply(&c3), 20.0),
            (5, apply(&times(&c, &ac)), 40.0),
            (5, apply(&apply(&c2)), 60.0),
            (5, apply(&apply(&ac)), 120.0),
        ];
        trees.map(|(order, y, density)| (order, times(b, &y).iter().sum::<f64>() - 1.0 / density)).to_vec()
    }

    #[test]
    fn methods_have_their_order() {
        let lower = CASH_KARP.lower.unwrap();
        for (method, b, order) in
            [(&CLASSIC, CLASSIC.weights, 4), (&CASH_KARP, CASH_KARP.weights, 5), (&CASH_KARP, lower, 4)]
        {
            let conditions = order_conditions(method, b);
            for (of, error) in &conditions {
                assert!(*of > order || error.abs() < 1e-14, "order {order}: {of}, {error}");
            }
            let next: Vec<_> = conditions.iter().filter(|(of, _)| *of == order + 1).collect();
            assert!(next.is_empty() || next.iter().any(|(_, error)| error.abs() > 1e-6), "more than {order}");
        }
    }
}
