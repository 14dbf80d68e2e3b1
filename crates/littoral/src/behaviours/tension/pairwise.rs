//! Surface tension between pairs: a stress along the surface, and cohesion (in the spirit of [Akinci2013]).
//!
//! Both forces are opposite and equal for the two particles of a pair, so that momentum is kept exactly, and each is
//! calibrated to its share of the surface tension σ.
//!
//! **Stress.** A surface pulls along itself: T = σ (1 − n̂n̂)|n|, with n the gradient of the colour, spreads its
//! tension over the layers where n is not zero [Lafaurie1994], and
//!
//!   F_i = k Σ_j V_i V_j (T_i + T_j) ∇W
//!
//! makes the area small. [Akinci2013, Eq. 3] uses −γ(n_i − n_j) for that, which also keeps momentum; but its γ is no
//! tension, and it pushes the outermost particles off a flat surface, on which T has no force. k is found on
//! the layers of a flat lattice. |n| − ε takes its place, so that noise in the bulk does not count as surface.
//!
//! **Cohesion.** A pull along the surface alone lets its particles clump, as any tension in SPH does; attraction
//! presses them together and holds drops in one piece: f = −κ s_ij V_i V_j (A(q) − βR(q)) x̂ with Akinci's spline
//! A = q³(1 − q)³ and R = (1 − q)². β takes back half of the pull in the bulk: with all of it gone nothing holds
//! the drop together, and with none of it pressure has to, over the same distance, and takes most of the tension
//! back (which is why drops of `cohesion.rs` ring too slowly). The tension of a central force follows from the
//! bonds that a surface lacks [KirkwoodBuff1949]: σ = κ/32 Σ V r²g in 3-D, κ/(6π) Σ V r²g in 2-D; that does not count
//! the pressure that answers it, and a measured factor does the rest. Between bodies the bond is half the work of
//! adhesion, s_ij = (σ_i + σ_j − σ_ij)/2.
//!
//! Cohesion adds an inner pressure of some σ/h to the one that the surface makes: read differences, not values. Its
//! factor is that of free surfaces; fluids that fill their world do without it, and are nearer to theory then.
//! Kept honest by `littoral validate drop-period drop-in-fluid`, and by the tests in `mod.rs`.

use glam::Vec4;
use rayon::prelude::*;

use super::{FlatSurface, Phases, find_normals, layer_sum, offer_capillary_limit};
use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Around, Behaviour, LimitState};
use crate::columns::{BODY, INTERFACE_NORMAL, MASS, PAIRWISE_TENSION, SURFACE_NORMAL};
use crate::discretisation::Discretisation;
use crate::kernels::{Kernel, lattice_sum};
use crate::pair::{Own, Pair, Sum, WallPair};
use crate::particles::Particles;
use crate::resolve::{Coefficient, Resolved};
use crate::scene::Dimensions;
use crate::simd::*;
use crate::timestep::Limits;

pub static SCHEMA: Schema = Schema {
    name: "pairwise-tension",
    summary: "surface tension between pairs: a pull along the surface, and cohesion; keeps momentum exactly",
    law: "F = w k Σ V V (T_i + T_j) ∇W, T = σ(1 − n̂n̂)|n|; and attraction",
    half_weight: "half the surface tension",
    reference: "Akinci2013; KirkwoodBuff1949",
    properties: &[
        Property {
            name: "surface_tension",
            meaning: "surface tension σ against air; against other bodies see `[[interface]]`",
            kind: Kind::Number { unit: Unit::NewtonPerMetre, default: Default::Required, min: 0.0, max: 1e3 },
        },
        Property {
            name: "cohesion",
            meaning: "part of σ that attraction makes; the rest is a pull along the surface",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.45), min: 0.0, max: 1.0 },
        },
    ],
};

pub struct PairwiseTension;

impl Behaviour for PairwiseTension {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn require_columns(&self, particles: &mut Particles) {
        super::require_columns(particles);
        particles.require(&PAIRWISE_TENSION);
    }

    fn prepare(&self, now: &Resolved, around: &Around, particles: &mut Particles) {
        let d = around.discretisation;
        find_normals(now, around, &d.density, particles);
        let stress = Stress::new(d);
        let tension = now.weighted("surface_tension").coefficient();
        stress.of_surface(particles.get_mut(&SURFACE_NORMAL), tension);
        stress.of_interface(particles.get_mut(&INTERFACE_NORMAL));
        let mut out = particles.take(&PAIRWISE_TENSION);
        let forces = Forces {
            kernel: d.density,
            cohesion: Cohesion::new(d),
            share: now.field("cohesion").coefficient(),
            phases: Phases::new(now, around.interfaces, particles.get(&BODY)),
            surface: particles.get(&SURFACE_NORMAL),
            interface: particles.get(&INTERFACE_NORMAL),
            mass: particles.get(&MASS),
        };
        around.rows.sum(&forces, &mut out);
        particles.put(&PAIRWISE_TENSION, out);
    }

    fn accelerate(&self, _now: &Resolved, particles: &Particles, acceleration: &mut [Vec4]) {
        let tension = particles.get(&PAIRWISE_TENSION);
        acceleration.iter_mut().zip(tension).for_each(|(a, tension)| *a += *tension);
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        offer_capillary_limit(now, state, limits);
    }
}

/// How strongly normals of some length pull.
#[derive(Clone, Copy)]
struct Stress {
    /// ε, 1/m.
    noise: f32,
    /// k at a free surface, and at an interface.
    surface: f32,
    interface: f32,
}

/// ε over the length of normals in the outermost layer.
const NOISE: f64 = 0.2;

impl Stress {
    fn new(d: &Discretisation) -> Stress {
        let kernel = &d.density;
        let flat = FlatSurface::of_colour(kernel, d);
        let noise = NOISE * flat.normals[0];
        let stress = |layer: i32| flat.normals.get(layer as usize).map_or(0.0, |n| (n - noise).max(0.0));
        // Tension of the flat lattice: all bonds of a column of particles, along the surface.
        let layers = 2 * flat.normals.len() as i32;
        let bonds = |layer: i32| {
            layer_sum(kernel, d, layer, |x, r| {
                let other = layer - (x[0] / flat.spacing).round() as i32;
                let pull = -f64::from(kernel.slope_at(r as f32)) / r;
                0.5 * (stress(layer) + stress(other)) * x[1] * x[1] * pull
            })
        };
        let tension: f64 = (0..layers).map(|layer| bonds(layer) * flat.spacing).sum();
        // At an interface both sides pull, with neighbours all around.
        Stress {
            noise: noise as f32,
            surface: (1.0 / tension) as f32,
            interface: (0.5 / flat.integral(|normal| normal)) as f32,
        }
    }

    /// Turns normals into directions, with the stress along the surface as their fourth entry, Pa.
    fn of_surface(&self, normals: &mut [Vec4], tension: Coefficient) {
        normals.par_iter_mut().with_min_len(8192).enumerate().for_each(|(i, normal)| {
            let length = normal.truncate().length();
            let stress = self.surface * tension.at(i) * (length - self.noise).max(0.0);
            *normal = (normal.truncate() / length.max(f32::MIN_POSITIVE)).extend(stress);
        });
    }

    /// The same for normals that carry their tension.
    fn of_interface(&self, normals: &mut [Vec4]) {
        normals.par_iter_mut().with_min_len(8192).for_each(|normal| {
            let length = normal.truncate().length();
            *normal = (normal.truncate() / length.max(f32::MIN_POSITIVE)).extend(self.interface * length);
        });
    }
}

/// T x for T = s (1 − n̂n̂), with n̂ and s as lanes.
#[inline(always)]
fn pull_along<S: Simd>(normal: Lanes3<S>, stress: Lanes<S>, x: Lanes3<S>) -> Lanes3<S> {
    (x - normal * normal.dot(x)) * stress
}

#[inline(always)]
fn row<S: Simd>(simd: S, row: Vec4) -> (Lanes3<S>, Lanes<S>) {
    (Lanes3::splat(simd, row.truncate().into()), splat(simd, row.w))
}

/// How much of the pull in the bulk the repulsion takes back.
const REPULSION: f64 = 0.5;

/// What is left of the attraction that the missing bonds ask for: half of it makes the period of a drop right, at
/// three spacings to the support, where all of it made the tension of cohesion twice what it should be.
const MEASURED: f64 = 0.5;

/// Attraction, and repulsion of close neighbours.
#[derive(Clone, Copy)]
struct Cohesion {
    per_support: f32,
    /// κ for a tension of 1 N/m.
    strength: f32,
    /// β.
    repulsion: f32,
}

impl Cohesion {
    fn new(d: &Discretisation) -> Cohesion {
        let h = f64::from(d.support);
        let sum = |f: &dyn Fn(f64) -> f64| {
            lattice_sum(&d.density, f64::from(d.spacing), |_, r| if r < h { f(r) } else { 0.0 })
        };
        let attraction = |r: f64| (r / h).powi(3) * (1.0 - r / h).powi(3);
        let repulsion = |r: f64| (1.0 - r / h).powi(2);
        let balance = REPULSION * sum(&|r| r * attraction(r)) / sum(&|r| r * repulsion(r));
        let moment = sum(&|r| r * r * (attraction(r) - balance * repulsion(r)));
        let factor = match d.dimensions {
            Dimensions::Two => 1.0 / (6.0 * std::f64::consts::PI),
            Dimensions::Three => 1.0 / 32.0,
        };
        Cohesion {
            per_support: (1.0 / h) as f32,
            strength: (MEASURED / (factor * moment)) as f32,
            repulsion: balance as f32,
        }
    }

    /// κ(A − βR)/r for a tension of 1 N/m.
    #[inline(always)]
    fn pull_over_r<S: Simd>(&self, r: Lanes<S>) -> Lanes<S> {
        let q = r * self.per_support;
        let a = (splat(r.token(), 1.0) - q).max(splat(r.token(), 0.0));
        let spline = q * q * q * a * a * a;
        let tiny = splat(r.token(), 1e-6 / self.per_support);
        (spline - a * a * self.repulsion) * self.strength / r.max(tiny)
    }
}

struct Forces<'a> {
    kernel: Kernel,
    cohesion: Cohesion,
    /// Part of the tension that cohesion makes.
    share: Coefficient<'a>,
    phases: Phases<'a>,
    /// Direction of normals, and the stress along the surface.
    surface: &'a [Vec4],
    interface: &'a [Vec4],
    mass: &'a [f32],
}

impl Sum for Forces<'_> {
    type Partial<S: Simd> = Lanes3<S>;
    /// m/s².
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut Lanes3<S>) {
        let (simd, i) = (pair.simd, own.index);
        // SAFETY: the loop only offers valid rows.
        let ((other, stress), share) =
            unsafe { (gather(simd, self.surface, pair.others), self.share.mean(simd, i, pair.others)) };
        let (normal, own_stress) = row(simd, self.surface[i]);
        let mut along = pull_along(normal, own_stress, pair.x) + pull_along(other, stress, pair.x);
        let mut bond = (self.phases.surface_of(pair) + self.phases.surface.at(i)) * 0.5;
        if self.phases.several() {
            // SAFETY: as above.
            let (other, stress) = unsafe { gather(simd, self.interface, pair.others) };
            let (normal, own_stress) = row(simd, self.interface[i]);
            along = along + pull_along(normal, own_stress, pair.x) + pull_along(other, stress, pair.x);
            bond -= self.phases.interface(own, pair) * 0.5;
        }
        let along = along * ((splat(simd, 1.0) - share) * pair.gradient_over_r(&self.kernel));
        let pull = pair.x * (share * bond * self.cohesion.pull_over_r(pair.r));
        *partial = *partial + (along - pull) * (pair.volume * own.volume);
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, own: &Own, wall: &WallPair<S>, partial: &mut Lanes3<S>) {
        let (simd, i) = (wall.simd, own.index);
        let share = self.share.at(i);
        // The surface goes on behind the wall as it is, and the wall attracts half as much as the fluid: a right angle.
        let (normal, stress) = row(simd, self.surface[i]);
        let along = pull_along(normal, stress, wall.x) * wall.gradient_over_r(&self.kernel);
        let bond = 0.5 * share * self.phases.surface.at(i);
        let pull = wall.x * (self.cohesion.pull_over_r(wall.r) * bond);
        *partial = *partial + (along * splat(simd, 2.0 * (1.0 - share)) - pull) * (wall.volume * own.volume);
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, partial: Lanes3<S>) -> Vec4 {
        super::vector(partial) / self.mass[own.index]
    }
}
