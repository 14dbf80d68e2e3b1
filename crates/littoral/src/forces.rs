//! Force fields: accelerations that depend on where a particle is, how fast it moves, and when.
//!
//! | field | acceleration |
//! |---|---|
//! | localised | a f(r): a push in a region, f = (1 − r²/R²)² or 1 inside [FS, 5: sources that stir a periodic box] |
//! | attractor, repeller | ∓a (R/r)^p outside R, falling to 0 at the middle as inside a planet |
//! | vortex | (u/u₀)(u − v·θ) θ/τ towards the swirl u(r) of Lamb and Oseen, fastest (u₀) at the core's radius R |
//! | explosion | a shell that spreads from 0 to R and leaves the velocity Δv (1 − r/R)² behind |
//! | shake | A ω² sin ωt along a direction: what is felt in a box that is shaken by A sin ωt |
//! | wind | (u − v)/τ |
//! | expression | formulas of x, y, z, vx, vy, vz and t |
//!
//! All are multiplied by the entry's strength. They act on each particle alone, as accelerations: a heavy fluid is
//! moved like a light one. Distances are to the nearest image where space is periodic. Limits: a vortex drives the
//! swirl only, pressure has to hold the fluid in; a shaken box has no walls that move (a lid that rubs would differ).
//!
//! Time: a step never passes the moment at which a field starts, jumps or ends ([`Forces::next_event`]), and the step
//! after it is short enough for what starts there. Kept honest by exact values and motions, in the tests.

pub mod expression;

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use crate::columns::{BODY, POSITION, VELOCITY};
use crate::neighbourhood::Periods;
use crate::particles::Particles;
use crate::scene::{Dimensions, Falloff, Force, ForceKind};
use crate::timestep::{Limit, Limits};

/// Lamb and Oseen's vortex is fastest at its core's radius with this α: 1 + 2α = e^α.
const LAMB_OSEEN: f64 = 1.256_431_208_626_17;

/// Time for which an explosion pushes a particle, over the time its shell takes to its full radius.
pub const PULSE: f64 = 0.25;
/// Largest value of the pulse 30 s²(1 − s)².
const PULSE_PEAK: f64 = 1.875;
/// Inside this part of its radius, an explosion pushes less and less: in its middle it has no direction.
const EXPLOSION_CORE: f64 = 0.05;

/// Steps that a pulse, and a period of shaking, are made of at least.
const STEPS_PER_PULSE: f64 = 8.0;
const STEPS_PER_PERIOD: f64 = 40.0;

/// All force fields of a world.
#[derive(Clone, Debug, Default)]
pub struct Forces {
    list: Vec<Force>,
    periods: Periods,
    flat: bool,
    /// Times at which something starts, jumps or ends, s, in rising order.
    events: Vec<f64>,
}

/// Two times that are the same but for rounding.
fn tolerance(t: f64) -> f64 {
    1e-9 * t.abs().max(1e-3)
}

/// So little before `t` that nothing has begun or ended since but what does so at `t` itself, s.
pub fn just_before(t: f64) -> f64 {
    t - 2.0 * tolerance(t)
}

impl Forces {
    pub fn new(list: &[Force], periods: Periods, dimensions: Dimensions) -> Forces {
        let mut events: Vec<f64> = list.iter().flat_map(events).collect();
        events.retain(|event| event.is_finite());
        events.sort_by(f64::total_cmp);
        Forces { list: list.to_vec(), periods, flat: dimensions == Dimensions::Two, events }
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The next moment that a step must not pass, s; infinite if there is none.
    pub fn next_event(&self, t: f64) -> f64 {
        let next = self.events.iter().find(|&&event| event > t + tolerance(t));
        next.copied().unwrap_or(f64::INFINITY)
    }

    /// Stage 4: adds all fields at time `t`.
    pub fn accelerate(&self, t: f64, particles: &Particles, acceleration: &mut [Vec4]) {
        let (bodies, x, v) = (particles.get(&BODY), particles.get(&POSITION), particles.get(&VELOCITY));
        for now in self.active(t) {
            acceleration.par_iter_mut().with_min_len(2048).enumerate().for_each(|(i, a)| {
                if now.force.acts_on(bodies[i]) {
                    *a += self.one(&now, x[i], v[i], t);
                }
            });
        }
    }

    /// The sum of all fields for one particle.
    pub fn at(&self, body: u32, x: Vec4, v: Vec4, t: f64) -> Vec4 {
        let active = self.active(t).filter(|now| now.force.acts_on(body));
        active.map(|now| self.one(&now, x, v, t)).fold(Vec4::ZERO, |sum, a| sum + a)
    }

    /// Stage 11: the longest step that the fields can bear, for particles with this smoothing length, m.
    pub fn limit(&self, t: f64, particles: &Particles, length: f32, limits: &mut Limits) {
        for now in self.active(t) {
            match &now.force.kind {
                ForceKind::Vortex { relaxation_time, .. } | ForceKind::Wind { relaxation_time, .. } => {
                    let rate = now.strength.abs() / relaxation_time;
                    limits.offer(Limit::Drag, (0.5 / rate.max(f64::MIN_POSITIVE)) as f32);
                }
                ForceKind::Shake { frequency, .. } => {
                    limits.offer(Limit::Forcing, (1.0 / (STEPS_PER_PERIOD * frequency)) as f32);
                }
                ForceKind::Explosion { duration, speed, .. } => {
                    let pulse = PULSE * duration;
                    limits.offer(Limit::Forcing, (pulse / STEPS_PER_PULSE) as f32);
                    let peak = now.strength.abs() * speed * PULSE_PEAK / pulse;
                    limits.offer_motion(length, 0.0, peak as f32);
                }
                _ => {}
            }
        }
        // Accelerations are known from the last step, except where something has just begun.
        let begins = |event: &f64| (event - t).abs() <= tolerance(t);
        if !self.is_empty() && (t == 0.0 || self.events.iter().any(begins)) {
            let (bodies, x, v) = (particles.get(&BODY), particles.get(&POSITION), particles.get(&VELOCITY));
            let rows = (0..particles.len()).into_par_iter().with_min_len(2048);
            let peak = rows.map(|i| self.at(bodies[i], x[i], v[i], t).length()).reduce(|| 0.0, f32::max);
            limits.offer_motion(length, 0.0, peak);
        }
    }

    /// The fields that act at time `t`.
    fn active(&self, t: f64) -> impl Iterator<Item = Now<'_>> {
        self.list.iter().filter_map(move |force| Now::of(force, t))
    }

    fn one(&self, now: &Now, x: Vec4, v: Vec4, t: f64) -> Vec4 {
        let (x, v) = (x.truncate().as_dvec3(), v.truncate().as_dvec3());
        let mut a = now.acceleration(x, self.nearest(x - now.centre), v, t) * now.strength;
        if self.flat {
            a.z = 0.0;
        }
        a.as_vec3().extend(0.0)
    }

    /// The shortest of a displacement's images.
    fn nearest(&self, mut r: DVec3) -> DVec3 {
        for axis in 0..3 {
            let length = f64::from(self.periods.length[axis]);
            if length > 0.0 {
                r[axis] -= length * (r[axis] / length).round();
            }
        }
        r
    }
}

/// When something about a field is sudden.
fn events(force: &Force) -> Vec<f64> {
    let mut all = vec![force.from, force.until];
    all.extend(force.strength.jumps(0.0, f64::INFINITY));
    if let ForceKind::Explosion { time, duration, .. } = force.kind {
        all.extend([time, time + duration * (1.0 + PULSE)]);
    }
    all
}

/// A field with its numbers at one moment.
struct Now<'a> {
    force: &'a Force,
    strength: f64,
    centre: DVec3,
}

impl Now<'_> {
    fn of(force: &Force, t: f64) -> Option<Now<'_>> {
        let (start, end) = match force.kind {
            ForceKind::Explosion { time, duration, .. } => {
                (force.from.max(time), force.until.min(time + duration * (1.0 + PULSE)))
            }
            _ => (force.from, force.until),
        };
        let strength = force.strength.at(t);
        if t < start - tolerance(t) || t >= end - tolerance(t) || strength == 0.0 {
            return None;
        }
        let centre = match &force.kind {
            ForceKind::Localised { at, .. } | ForceKind::Pull { at, .. } | ForceKind::Vortex { at, .. } => {
                at.at(t)
            }
            ForceKind::Explosion { at, .. } => *at,
            _ => [0.0; 3],
        };
        Some(Now { force, strength, centre: centre.into() })
    }

    /// m/s², at strength 1, for a particle at `x`, at `r` from the field's centre.
    fn acceleration(&self, x: DVec3, r: DVec3, v: DVec3, t: f64) -> DVec3 {
        match &self.force.kind {
            ForceKind::Localised { radius, acceleration, falloff, .. } => {
                let inside = 1.0 - r.length_squared() / (radius * radius);
                let share = match falloff {
                    _ if inside <= 0.0 => return DVec3::ZERO,
                    Falloff::Smooth => inside * inside,
                    Falloff::Flat => 1.0,
                };
                DVec3::from(*acceleration) * share
            }
            ForceKind::Pull { axis, acceleration, radius, power, reach, .. } => {
                let r = axis.map_or(r, |axis| r - DVec3::from(axis) * r.dot(axis.into()));
                let distance = r.length();
                if distance == 0.0 {
                    return DVec3::ZERO;
                }
                let size =
                    if distance < *radius { distance / radius } else { falling(radius / distance, *power) };
                r * (-acceleration * size * fading(distance, *reach) / distance)
            }
            ForceKind::Vortex { axis, speed, radius, relaxation_time, reach, .. } => {
                let axis = DVec3::from(*axis);
                let r = r - axis * r.dot(axis);
                let distance = r.length();
                if distance == 0.0 {
                    return DVec3::ZERO;
                }
                let along = axis.cross(r) / distance;
                let share = lamb_oseen(distance / radius);
                let rate = share * fading(distance, *reach) / relaxation_time;
                along * (rate * (speed * share - v.dot(along)))
            }
            ForceKind::Explosion { time, duration, radius, speed, .. } => {
                let distance = r.length();
                if distance == 0.0 || distance >= *radius {
                    return DVec3::ZERO;
                }
                let width = PULSE * duration;
                let s = (t - time - duration * distance / radius) / width;
                if !(0.0..1.0).contains(&s) {
                    return DVec3::ZERO;
                }
                let pulse = 30.0 * s * s * (1.0 - s) * (1.0 - s) / width;
                let part = distance / radius;
                let gain = speed * (1.0 - part).powi(2) * (part / EXPLOSION_CORE).min(1.0);
                r * (gain * pulse / distance)
            }
            ForceKind::Shake { amplitude, frequency, direction } => {
                let rate = std::f64::consts::TAU * frequency;
                let phase = rate * (t - self.force.from);
                DVec3::from(*direction) * (amplitude * rate * rate * libm::sin(phase))
            }
            ForceKind::Wind { velocity, relaxation_time } => (DVec3::from(*velocity) - v) / *relaxation_time,
            ForceKind::Expression(formulas) => {
                let variables = [x.x, x.y, x.z, v.x, v.y, v.z, t];
                DVec3::from([0, 1, 2].map(|axis| formulas[axis].eval(&variables)))
            }
        }
    }
}

/// q^p for q in (0, 1].
fn falling(q: f64, power: f64) -> f64 {
    match power {
        0.0 => 1.0,
        1.0 => q,
        2.0 => q * q,
        _ => libm::pow(q, power),
    }
}

/// Falls smoothly to 0 at `reach`.
fn fading(distance: f64, reach: f64) -> f64 {
    let inside = (1.0 - (distance / reach).powi(2)).max(0.0);
    inside * inside
}

/// Speed of the vortex over its largest, at a distance in core radii.
fn lamb_oseen(q: f64) -> f64 {
    (1.0 + 0.5 / LAMB_OSEEN) * (1.0 - libm::exp(-LAMB_OSEEN * q * q)) / q
}

impl Force {
    pub fn acts_on(&self, body: u32) -> bool {
        self.on.as_ref().is_none_or(|bodies| bodies.contains(&body))
    }

    /// About the fastest flow, m/s, that the field makes of matter at rest within `extent`, m. Formulas are not
    /// looked into.
    pub fn flow(&self, extent: f64) -> f64 {
        let strength = self.strength.max().abs().max(self.strength.min().abs());
        match &self.kind {
            // Through the whole region at full strength.
            ForceKind::Localised { radius, acceleration, .. } => {
                (2.0 * strength * DVec3::from(*acceleration).length() * 2.0 * radius).sqrt()
            }
            ForceKind::Pull { acceleration, radius, power, reach, .. } => {
                let far = (extent.min(*reach) / radius).max(1.0);
                let outside =
                    if *power == 1.0 { far.ln() } else { (1.0 - far.powf(1.0 - power)) / (power - 1.0) };
                (2.0 * strength * acceleration.abs() * radius * (0.5 + outside)).sqrt()
            }
            ForceKind::Vortex { speed, .. } => speed.abs(),
            ForceKind::Explosion { speed, .. } => strength * speed,
            ForceKind::Shake { amplitude, frequency, .. } => {
                strength * amplitude * std::f64::consts::TAU * frequency
            }
            ForceKind::Wind { velocity, .. } => DVec3::from(*velocity).length(),
            ForceKind::Expression(_) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests;
