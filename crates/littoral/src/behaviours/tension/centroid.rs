//! Surface tension from particle normals [Bayraktar2010, 3.2.2 and 5.3].
//!
//! The normal of a particle is the way from the centroid of its neighbours to itself [Bayraktar2010, Eqs. 5.6, 5.7]:
//! zero in the bulk, long at the surface. The force is that of the curvature model, −σ (∇·n̂) n [Bayraktar2010,
//! Eq. 3.28], with four slips mended: Eq. 3.26 has the sign of the divergence turned around; n is a length there,
//! and must integrate to one across the surface for σ to be a tension; a centroid that counts every neighbour the
//! same jumps when one enters, so that ours is weighed with the kernel; and the divergence is normalised as in
//! `curvature.rs`. The normals saturate at the surface, where the colour's gradient depends on how many neighbours
//! are left: they are smoother on splashed water.
//!
//! Neighbours of all bodies count alike, so that it acts at free surfaces only. Kept honest by `littoral validate
//! drop-pressure drop-period`.

use glam::Vec4;

use super::curvature::{Calibration, Field, Scratch, bend};
use super::{FlatSurface, Phases, layer_sum, offer_capillary_limit};
use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Around, Behaviour, LimitState};
use crate::columns::{BODY, CENTROID_TENSION, SURFACE_NORMAL};
use crate::kernels::Kernel;
use crate::pair::{Own, Pair, Sum, WallPair};
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::simd::*;
use crate::timestep::Limits;

pub static SCHEMA: Schema = Schema {
    name: "centroid-tension",
    summary: "surface tension from normals that point away from the centroid of the neighbours",
    law: "f = w σ κ n, n ∝ Σ V_j (x_j − x_i) W / Σ V_j W, κ = −∇·n̂",
    half_weight: "half the surface tension",
    reference: "Bayraktar2010, Eqs. 3.26–3.28, 5.6, 5.7",
    properties: &[Property {
        name: "surface_tension",
        meaning: "surface tension σ against air",
        kind: Kind::Number { unit: Unit::NewtonPerMetre, default: Default::Required, min: 0.0, max: 1e3 },
    }],
};

pub struct CentroidTension;

impl Behaviour for CentroidTension {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn require_columns(&self, particles: &mut Particles) {
        super::require_columns(particles);
        particles.require(&CENTROID_TENSION);
    }

    fn prepare(&self, now: &Resolved, around: &Around, particles: &mut Particles) {
        let d = around.discretisation;
        let mut normal = particles.take(&SURFACE_NORMAL);
        around.rows.sum(&Centroid { kernel: &d.density }, &mut normal);
        particles.put(&SURFACE_NORMAL, normal);

        let calibration = Calibration::new(&FlatSurface::new(&d.density, d, |above| {
            let weight = |r: f64| f64::from(d.density.w_at(r as f32));
            let own = f64::from(d.cell_volume()) * weight(0.0);
            let way = layer_sum(&d.density, d, above, |x, r| x[0] * weight(r));
            way / (own + layer_sum(&d.density, d, above, |_, r| weight(r)))
        }));
        let mut out = particles.take(&CENTROID_TENSION);
        let mut scratch = Scratch::take(particles);
        out.fill(Vec4::ZERO);
        let phases = Phases::new(now, around.interfaces, particles.get(&BODY));
        let normal = particles.get(&SURFACE_NORMAL);
        let surface = Field { kernel: d.density, normal, calibration, phases, at_interface: false };
        bend(surface, around, &mut scratch, particles, &mut out);
        scratch.put(particles);
        particles.put(&CENTROID_TENSION, out);
    }

    fn accelerate(&self, _now: &Resolved, particles: &Particles, acceleration: &mut [Vec4]) {
        let tension = particles.get(&CENTROID_TENSION);
        acceleration.iter_mut().zip(tension).for_each(|(a, tension)| *a += *tension);
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        offer_capillary_limit(now, state, limits);
    }
}

/// From the particle to the centroid of its neighbours: inwards.
struct Centroid<'a> {
    kernel: &'a Kernel,
}

impl Sum for Centroid<'_> {
    /// Σ V (x_i − x_j) W and Σ V W.
    type Partial<S: Simd> = (Lanes3<S>, Lanes<S>);
    /// m.
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Self::Partial<S> {
        (Lanes3::zero(simd), splat(simd, 0.0))
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &Pair<S>, (way, weight): &mut Self::Partial<S>) {
        let share = pair.volume * pair.w(self.kernel);
        *way = *way + pair.x * share;
        *weight += share;
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, _own: &Own, wall: &WallPair<S>, (way, weight): &mut Self::Partial<S>) {
        let share = wall.volume * wall.w(self.kernel);
        *way = *way + wall.x * share;
        *weight += share;
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, (way, weight): Self::Partial<S>) -> Vec4 {
        super::vector(way) * (-1.0 / sum(weight).max(f32::MIN_POSITIVE))
    }
}
