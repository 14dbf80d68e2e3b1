//! Surface tension from the curvature of the surface [Morris2000].
//!
//! The force on a volume is σ κ n: tension, curvature, and the gradient n of the colour field, which is zero but
//! near the surface and integrates to one across it. Curvature is κ = −∇·n̂ with inward normals, so that a sphere
//! has 2/R. Four things differ from the paper:
//!
//! - The divergence is taken along the surface, and normalised by what the same sum makes of the tangential
//!   distance x_t: κ = (d − 1) Σ V n̂_j·x_t W'/r / Σ V x_t²W'/r. On a sphere, any set of neighbours then gives a mean of
//!   their 1/r_j exactly; the plain sum lacks the half of the kernel that has no particles.
//! - Particles stand below the surface and bend more than it does: κ(R − δ) is brought back to κ(R), with δ the
//!   mean depth of where n acts.
//! - Directions are smoothed over the neighbours before their divergence is taken, and so is the curvature before it
//!   acts: a surface of particles is rough, its tips have longer normals than its dents, and the force would be
//!   too large by half.
//! - n is scaled so that it integrates to one over the layers of particles that there are.
//!
//! Normals shorter than a fifth of those in the outermost layer have no reliable direction [Morris2000, Eq. 20] and take
//! no part in the curvature; but the force is σ κ̄ n for them too, with κ̄ from their neighbours. For then it is
//! proportional to what a uniform pressure p does at the surface, −2 p n, wherever particles stand: the sum of n over the
//! layers depends on the bonds across a plane inside alone. Left out, the force would depend on how far the tension has
//! pressed the outer layers together.
//!
//! Particles must lie evenly: with the cubic spline they pair up, the surface turns rough, and the pressure in a drop is
//! up to 30 % too high. Forces are not pairwise: momentum is kept on average only, and thin sheets, where n vanishes, do
//! not feel it. Kept honest by `littoral validate drop-pressure drop-period drop-in-fluid`.

use glam::Vec4;

use super::{FlatSurface, Phases, curvatures, find_normals, offer_capillary_limit};
use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Around, Behaviour, LimitState};
use crate::columns::{
    BODY, CURVATURE, CURVATURE_TENSION, INTERFACE_NORMAL, MASS, SURFACE_DIRECTION, SURFACE_NORMAL, VOLUME,
};
use crate::kernels::Kernel;
use crate::pair::{Own, Pair, Sum};
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::simd::*;
use crate::timestep::Limits;

pub static SCHEMA: Schema = Schema {
    name: "curvature-tension",
    summary: "surface tension from the curvature of the colour field",
    law: "f = w σ κ ∇c, κ = −∇·n̂, for every free surface and interface",
    half_weight: "half the surface tension",
    reference: "Morris2000; Bayraktar2010, Eqs. 3.24–3.28",
    properties: &[Property {
        name: "surface_tension",
        meaning: "surface tension σ against air; against other bodies see `[[interface]]`",
        kind: Kind::Number { unit: Unit::NewtonPerMetre, default: Default::Required, min: 0.0, max: 1e3 },
    }],
};

pub struct CurvatureTension;

impl Behaviour for CurvatureTension {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn require_columns(&self, particles: &mut Particles) {
        super::require_columns(particles);
        particles.require(&CURVATURE_TENSION);
    }

    fn prepare(&self, now: &Resolved, around: &Around, particles: &mut Particles) {
        let d = around.discretisation;
        find_normals(now, around, &d.density, particles);
        let calibration = Calibration::new(&FlatSurface::of_colour(&d.density, d));
        let mut out = particles.take(&CURVATURE_TENSION);
        let mut scratch = Scratch::take(particles);
        out.fill(Vec4::ZERO);
        let phases = Phases::new(now, around.interfaces, particles.get(&BODY));
        let normal = particles.get(&SURFACE_NORMAL);
        let surface = Field { kernel: d.density, normal, calibration, phases, at_interface: false };
        bend(surface, around, &mut scratch, particles, &mut out);
        if phases.several() {
            // Each side takes one half. Both together stand on the interface, so that there is no depth to take out.
            let calibration = Calibration { scale: 0.5 * calibration.scale, shortest: 0.0, depth: 0.0 };
            let normal = particles.get(&INTERFACE_NORMAL);
            let interface = Field { normal, calibration, at_interface: true, ..surface };
            bend(interface, around, &mut scratch, particles, &mut out);
        }
        scratch.put(particles);
        particles.put(&CURVATURE_TENSION, out);
    }

    fn accelerate(&self, _now: &Resolved, particles: &Particles, acceleration: &mut [Vec4]) {
        let tension = particles.get(&CURVATURE_TENSION);
        acceleration.iter_mut().zip(tension).for_each(|(a, tension)| *a += *tension);
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        offer_capillary_limit(now, state, limits);
    }
}

/// What a flat surface says about normals.
#[derive(Clone, Copy)]
pub struct Calibration {
    /// Makes normals integrate to one.
    pub scale: f32,
    /// Shorter normals have no direction, 1/m (or the normals' own unit).
    pub shortest: f32,
    /// Mean depth at which normals act, m.
    pub depth: f32,
}

/// Length below which a normal has no direction, in those of the outermost layer.
const UNRELIABLE: f64 = 0.2;

impl Calibration {
    pub fn new(flat: &FlatSurface) -> Calibration {
        Calibration {
            scale: (1.0 / flat.integral(|normal| normal)) as f32,
            shortest: (UNRELIABLE * flat.normals[0]) as f32,
            depth: flat.mean_depth(|normal| normal) as f32,
        }
    }
}

/// A field of inward normals on its way to a force.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    pub kernel: Kernel,
    pub normal: &'a [Vec4],
    pub calibration: Calibration,
    pub phases: Phases<'a>,
    /// Whether normals carry their tension, and point the other way beyond the interface.
    pub at_interface: bool,
}

/// From normals to accelerations, which are added to `out`.
pub fn bend(field: Field, around: &Around, scratch: &mut Scratch, particles: &Particles, out: &mut [Vec4]) {
    around.rows.sum(&Directions(field), &mut scratch.direction);
    let curvatures = curvatures(around.discretisation);
    let directions = &scratch.direction;
    around.rows.sum(&Curvature { field, directions, curvatures }, &mut scratch.curvature);
    let (volume, mass) = (particles.get(&VOLUME), particles.get(&MASS));
    let force = Force { field, directions, curvature: &scratch.curvature, volume, mass };
    around.rows.each(&force, out, |out, force| *out += force);
}

/// Columns that are taken out while a field bends.
pub struct Scratch {
    direction: Vec<Vec4>,
    curvature: Vec<f32>,
}

impl Scratch {
    pub fn take(particles: &mut Particles) -> Scratch {
        Scratch { direction: particles.take(&SURFACE_DIRECTION), curvature: particles.take(&CURVATURE) }
    }

    pub fn put(self, particles: &mut Particles) {
        particles.put(&SURFACE_DIRECTION, self.direction);
        particles.put(&CURVATURE, self.curvature);
    }
}

/// Σ V n_j W over neighbours, as a direction; its fourth entry is the length of the own normal. Both are zero where
/// the own normal does not count.
struct Directions<'a>(Field<'a>);

impl Sum for Directions<'_> {
    type Partial<S: Simd> = Lanes3<S>;
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut Lanes3<S>) {
        // SAFETY: the loop only offers valid rows.
        let (other, _) = unsafe { gather(pair.simd, self.0.normal, pair.others) };
        let mut weight = pair.volume * pair.w(&self.0.kernel);
        if self.0.at_interface {
            weight *= self.0.phases.side(own, pair);
        }
        *partial = *partial + other * weight;
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, partial: Lanes3<S>) -> Vec4 {
        let own = self.0.normal[own.index].truncate().length();
        if own <= self.0.calibration.shortest {
            return Vec4::ZERO;
        }
        super::vector(partial).truncate().normalize_or_zero().extend(own)
    }
}

/// κ = (d − 1) Σ V n̂_j·x_t W'/r / Σ V x_t²W'/r.
struct Curvature<'a> {
    field: Field<'a>,
    directions: &'a [Vec4],
    curvatures: f32,
}

impl Sum for Curvature<'_> {
    /// Σ V n̂_j·x_t W'/r and Σ V x_t²W'/r.
    type Partial<S: Simd> = (Lanes<S>, Lanes<S>);
    /// 1/m.
    type Total = f32;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Self::Partial<S> {
        (splat(simd, 0.0), splat(simd, 0.0))
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, (turn, reach): &mut Self::Partial<S>) {
        let simd = pair.simd;
        let unit = Lanes3::splat(simd, self.directions[own.index].truncate().into());
        // SAFETY: the loop only offers valid rows.
        let (mut other, length) = unsafe { gather(simd, self.directions, pair.others) };
        if self.field.at_interface {
            other = other * self.field.phases.side(own, pair);
        }
        let zero = splat(simd, 0.0);
        let weight = pair.volume * pair.gradient_over_r(&self.field.kernel);
        let weight = length.simd_gt(zero).select(weight, zero);
        let along = pair.x - unit * pair.x.dot(unit);
        *turn += weight * other.dot(along);
        *reach += weight * along.dot(along);
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, (turn, reach): Self::Partial<S>) -> f32 {
        let reach = sum(reach);
        // Nobody beside it: a single drop, whose curvature these particles cannot tell.
        if self.directions[own.index].w == 0.0 || reach >= -f32::MIN_POSITIVE {
            return 0.0;
        }
        // No surface can bend more sharply than its particles see.
        let sharpest = 1.0 / self.field.kernel.support;
        let one = (sum(turn) / reach).clamp(-sharpest, sharpest);
        self.curvatures * one / (1.0 + one * self.field.calibration.depth)
    }
}

/// σ κ̄ n/ρ, with κ̄ the mean of the curvature around, weighed with the length of normals.
struct Force<'a> {
    field: Field<'a>,
    directions: &'a [Vec4],
    curvature: &'a [f32],
    volume: &'a [f32],
    mass: &'a [f32],
}

impl Sum for Force<'_> {
    /// Σ V |n_j| κ_j W and Σ V |n_j| W.
    type Partial<S: Simd> = (Lanes<S>, Lanes<S>);
    /// m/s².
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Self::Partial<S> {
        (splat(simd, 0.0), splat(simd, 0.0))
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, (bent, weights): &mut Self::Partial<S>) {
        let simd = pair.simd;
        // SAFETY: the loop only offers valid rows.
        let ((_, length), mut curvature) = unsafe {
            (gather(simd, self.directions, pair.others), gather_scalar(simd, self.curvature, pair.others))
        };
        if self.field.at_interface {
            curvature *= self.field.phases.side(own, pair);
        }
        let weight = pair.volume * length * pair.w(&self.field.kernel);
        *bent += weight * curvature;
        *weights += weight;
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, (bent, weights): Self::Partial<S>) -> Vec4 {
        let i = own.index;
        let curvature = sum(bent) / sum(weights).max(f32::MIN_POSITIVE);
        let tension = if self.field.at_interface { 1.0 } else { self.field.phases.surface.at(i) };
        let scale = self.field.calibration.scale * self.volume[i] / self.mass[i];
        self.field.normal[i] * (tension * curvature * scale)
    }
}
