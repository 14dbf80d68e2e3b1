//! Time integration.
//!
//! Most integrators evaluate forces once a step, and say what happens before and after that. Symplectic Euler kicks
//! and drifts after the forces; explicit Euler drifts and kicks. Velocity Verlet [Bayraktar2010, Eq. 5.25] kicks by half
//! with the last acceleration and drifts before them, and kicks by the other half after. Verlet's own form
//! [Bayraktar2010, Eq. 5.23] knows positions and no velocities. Methods of several stages are in `runge_kutta`.
//!
//! `docs/integrators.md` compares them. Kept honest by `littoral validate integrator-orders`.

mod runge_kutta;
#[cfg(test)]
mod tests;

use glam::Vec4;
use rayon::prelude::*;

pub use runge_kutta::Method;

use crate::columns::{ACCELERATION, CLEARANCE, MEAN_VELOCITY, POSITION, VELOCITY};
use crate::particles::Particles;
use crate::scene::{Dimensions, Domain, IntegratorName, Side};
use crate::solids::Guard;
use crate::world::World;

/// Adds the columns that an integrator keeps for each particle.
pub fn require_columns(integrator: IntegratorName, particles: &mut Particles) {
    if integrator == IntegratorName::Verlet {
        particles.require(&MEAN_VELOCITY);
    }
    if let Some(method) = Method::of(integrator) {
        method.require_columns(particles);
    }
}

pub fn before_forces(world: &mut World, dt: f64) {
    if world.clock.settings.integrator == IntegratorName::VelocityVerlet {
        if world.clock.steps == 0 {
            world.evaluate_forces(dt as f32);
        }
        move_particles(world, 0.5 * dt as f32, dt);
        // Forces are taken where, and so also when, the particles have arrived.
        world.clock.time += dt;
    }
}

pub fn after_forces(world: &mut World, dt: f64) {
    match world.clock.settings.integrator {
        IntegratorName::SymplecticEuler => {
            move_particles(world, dt as f32, dt);
            world.clock.time += dt;
        }
        IntegratorName::ExplicitEuler => {
            move_particles(world, 0.0, dt);
            move_particles(world, dt as f32, 0.0);
            world.clock.time += dt;
        }
        IntegratorName::VelocityVerlet => move_particles(world, 0.5 * dt as f32, 0.0),
        IntegratorName::Verlet => {
            verlet(world, dt);
            world.clock.time += dt;
        }
        IntegratorName::Rk4 | IntegratorName::Rk45 => unreachable!("they have a step of their own"),
    }
}

/// Verlet's x_{n+1} = 2 x_n − x_{n−1} + a h², for steps of any length.
///
/// d_n = x_n − x_{n−1} over the step h_n is the velocity in the middle of that step. From there to the middle of the next
/// step, of length h, are (h_n + h)/2: d_{n+1}/h = d_n/h_n + a_n (h_n + h)/2. With equal steps that is Verlet's formula. The
/// middle of that time is not t_n if the steps differ, which is an error of a' (h² − h_n²)/8 in the velocity; from step
/// to step such terms cancel but for the first and the last, and the order stays 2.
///
/// d_n/h_n is kept, and not x_{n−1}: the difference of two positions has lost what gravity adds in a short step, and in a
/// periodic box it jumps. Somebody who has not moved yet, or was held by a wall or a solid, starts from the velocity,
/// with h_n = 0. Laws and frames see the velocity at the end of the step, d/h + a h/2.
fn verlet(world: &mut World, dt: f64) {
    let h = dt as f32;
    let columns = (&VELOCITY, &MEAN_VELOCITY);
    world.particles.update2(columns, |velocity, mean, particles| {
        let rows = (velocity, mean, particles.get(&ACCELERATION)).into_par_iter().with_min_len(8192);
        rows.for_each(|(v, mean, a)| {
            let before = if mean.w > 0.0 { mean.with_w(0.0) } else { *v };
            *v = before + *a * (0.5 * (mean.w + h));
            *mean = v.with_w(h);
        });
    });
    move_particles(world, 0.0, dt);
    world.particles.update2(columns, |velocity, mean, particles| {
        let rows = (velocity, mean, particles.get(&ACCELERATION)).into_par_iter().with_min_len(8192);
        rows.for_each(|(v, mean, a)| {
            if mean.with_w(0.0) != *v {
                mean.w = 0.0;
            }
            *v += *a * (0.5 * h);
        });
    });
}

/// Velocities take the forces: the first half of symplectic Euler, before a solve.
pub fn kick(world: &mut World, dt: f64) {
    move_particles(world, dt as f32, 0.0);
}

/// Positions take the velocities: the second half.
pub fn drift(world: &mut World, dt: f64) {
    if let Some(shifts) = world.pressure_solve.shifts() {
        let farthest = world.particles.update(&POSITION, |position, _| {
            let rows = position.par_iter_mut().with_min_len(8192).zip(shifts);
            let moved = rows.map(|(position, shift)| {
                *position += *shift;
                shift.length_squared()
            });
            moved.reduce(|| 0.0, f32::max).sqrt()
        });
        world.neighbourhood.slack -= farthest;
    }
    move_particles(world, 0.0, dt);
    world.clock.time += dt;
}

/// Largest speed and acceleration (squared), and how often a wall had to catch a particle.
#[derive(Clone, Copy)]
struct Extremes {
    /// Before walls took their part of it: what bounds how far a particle went.
    travel2: f32,
    speed2: f32,
    acceleration2: f32,
    caught: u64,
}

impl Extremes {
    const NONE: Extremes = Extremes { travel2: 0.0, speed2: 0.0, acceleration2: 0.0, caught: 0 };

    /// The larger of both; not a number, once either is.
    fn and(self, other: Extremes) -> Extremes {
        let larger = |a: f32, b: f32| if a >= b || a.is_nan() { a } else { b };
        Extremes {
            travel2: larger(self.travel2, other.travel2),
            speed2: larger(self.speed2, other.speed2),
            acceleration2: larger(self.acceleration2, other.acceleration2),
            caught: self.caught + other.caught,
        }
    }
}

/// v += a·kick, x += v·dt, then walls and periods.
fn move_particles(world: &mut World, kick: f32, dt: f64) {
    let box_ = Container::new(&world.domain, world.discretisation.spacing);
    // Solids first: what they would hit, they push.
    let travel = if dt > 0.0 { world.move_solids(dt) } else { 0.0 };
    let drift = dt as f32;
    let lists = &world.neighbourhood;
    let up_to_date = lists.slack >= 0.0 && lists.bounds().0 == world.particles.len();
    let d = &world.discretisation;
    let guard = Guard::new(
        &world.solids,
        &world.walls,
        up_to_date.then_some(lists),
        d.spacing,
        d.dimensions == Dimensions::Two,
    );
    let row = |i: usize, x: &mut Vec4, v: &mut Vec4, a: &Vec4, clearance: Option<&mut Vec4>| {
        *v += *a * kick;
        let travel2 = v.length_squared();
        let caught = if drift > 0.0 {
            let from = *x;
            *x += *v * drift;
            let caught = clearance.is_some_and(|clearance| guard.hold(i, from, x, v, clearance));
            box_.hold(x, v) || caught
        } else {
            false
        };
        Extremes {
            travel2,
            speed2: v.length_squared(),
            acceleration2: a.length_squared(),
            caught: u64::from(caught),
        }
    };
    let particles = &mut world.particles;
    let mut clearance = guard.is_needed().then(|| particles.take(&CLEARANCE));
    let extremes = particles.update2((&POSITION, &VELOCITY), |position, velocity, particles| {
        let acceleration = particles.get(&ACCELERATION);
        let worst = (|| Extremes::NONE, Extremes::and);
        match &mut clearance {
            None => {
                let rows = (position, velocity, acceleration).into_par_iter().with_min_len(8192);
                rows.enumerate().map(|(i, (x, v, a))| row(i, x, v, a, None)).reduce(worst.0, worst.1)
            }
            Some(clearance) => {
                let rows = (position, velocity, acceleration, clearance).into_par_iter().with_min_len(2048);
                rows.enumerate().map(|(i, (x, v, a, c))| row(i, x, v, a, Some(c))).reduce(worst.0, worst.1)
            }
        }
    });
    if let Some(clearance) = clearance {
        particles.put(&CLEARANCE, clearance);
    }
    world.clock.speed = extremes.speed2.sqrt();
    world.clock.acceleration = extremes.acceleration2.sqrt();
    world.caught += extremes.caught;
    world.neighbourhood.slack -= (extremes.travel2.sqrt() * drift).max(travel);
}

/// Depth behind a wall at which a particle has got past it, in spacings.
pub(crate) const CAUGHT_BEYOND: f32 = 0.1;

/// The box as the integrator needs it.
struct Container {
    low: Vec4,
    high: Vec4,
    period: Vec4,
    periodic: bool,
    /// Deeper than this, a particle has got past the wall; less deep, it lies on it. m².
    depth2: f32,
}

impl Container {
    /// Into the box, along periodic axes.
    #[inline(always)]
    fn wrap(&self, x: &mut Vec4) {
        if !self.periodic {
            return;
        }
        for axis in 0..3 {
            let length = self.period[axis];
            if length > 0.0 {
                if x[axis] < self.low[axis] {
                    x[axis] += length;
                }
                // Also after the line above: rounding may land a particle on the upper edge itself.
                if x[axis] >= self.high[axis] {
                    x[axis] -= length;
                }
            }
        }
    }

    /// The shortest of a displacement's images.
    #[inline(always)]
    fn shortest(&self, mut way: Vec4) -> Vec4 {
        if self.periodic {
            for axis in 0..3 {
                let length = self.period[axis];
                if length > 0.0 {
                    way[axis] -= length * (way[axis] / length).round();
                }
            }
        }
        way
    }

    fn new(domain: &Domain, spacing: f32) -> Container {
        let mut container = Container {
            low: Vec4::NEG_INFINITY,
            high: Vec4::INFINITY,
            period: Vec4::ZERO,
            periodic: false,
            depth2: (CAUGHT_BEYOND * spacing).powi(2),
        };
        for axis in 0..3 {
            let (min, max) = (domain.min[axis] as f32, domain.max[axis] as f32);
            if domain.sides[axis][0] == Side::Wall {
                container.low[axis] = min;
            }
            if domain.sides[axis][1] == Side::Wall {
                container.high[axis] = max;
            }
            if domain.sides[axis][0] == Side::Periodic {
                container.period[axis] = max - min;
                (container.low[axis], container.high[axis]) = (min, max);
                container.periodic = true;
            }
        }
        container
    }

    /// Puts a particle that got past a wall back onto it, without its speed into the wall; wraps periodic axes.
    /// Tells whether the particle had got past the wall: boundary samples should have stopped it before. (A single
    /// drop lies on the surface itself, pressed by nothing: that does not count.)
    #[inline(always)]
    fn hold(&self, x: &mut Vec4, v: &mut Vec4) -> bool {
        self.wrap(x);
        let inside = x.clamp(self.low, self.high);
        if inside == *x {
            return false;
        }
        let out = *x - inside;
        for axis in 0..3 {
            if out[axis] * v[axis] > 0.0 {
                v[axis] = 0.0;
            }
        }
        *x = inside;
        out.length_squared() > self.depth2
    }
}
