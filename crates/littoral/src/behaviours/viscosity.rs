//! Laplacian viscosity [Mueller2003; Bayraktar2010, Eq. 3.22].
//!
//! The force of j on i is V_i V_j μ (v_j − v_i) ∇²W, with the kernel made for it, whose Laplacian is positive, so
//! that it always brings velocities together. It keeps momentum exactly, angular momentum only on average. The
//! factor 1/(2ρ_j) and the own mass in Eq. 3.22 do not make a force of μ∇²v; ours follows from V_i μ∇²v and Eq.
//! 2.6 of Lenaerts. Two fluids share the mean of their viscosities. Kept honest by `littoral validate couette
//! poiseuille`.

use crate::backend::wgsl::Wgsl;
use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Behaviour, Law as AnyLaw, LimitState, longest_step};
use crate::discretisation::Discretisation;
use crate::kernels::{Kernel, lattice_sum};
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::resolve::{Coefficient, Resolved};
use crate::scene::WallModel;
use crate::simd::*;
use crate::timestep::{Limit, Limits};

pub static SCHEMA: Schema = Schema {
    name: "viscosity",
    summary: "inner friction: neighbours pull each other to a common velocity",
    law: "f = w μ ∇²v, by the Laplacian of the viscosity kernel",
    half_weight: "half the dynamic viscosity",
    reference: "Mueller2003; Lenaerts2009, Eq. 3.9; Bayraktar2010, Eq. 3.22",
    properties: &[Property {
        name: "dynamic_viscosity",
        meaning: "dynamic viscosity μ",
        kind: Kind::Number { unit: Unit::PascalSecond, default: Default::Required, min: 0.0, max: 1e7 },
    }],
};

pub struct Viscosity;

impl Behaviour for Viscosity {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn pair_law<'a>(&self, now: &'a Resolved, d: &Discretisation) -> Option<AnyLaw<'a>> {
        let strength = now.weighted("dynamic_viscosity").coefficient();
        (!strength.is_zero()).then(|| AnyLaw::Viscosity(Law::new(strength, d)))
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        let kernel = &state.discretisation.viscosity;
        let rate = lattice_sum(kernel, f64::from(state.discretisation.spacing), |_, r| {
            f64::from(kernel.laplacian_at(r as f32))
        });
        let correction = Law::new(Coefficient::Uniform(1.0), state.discretisation).correction;
        offer_diffusion_limit(
            now.weighted("dynamic_viscosity").max(),
            rate as f32 * correction,
            state,
            limits,
        );
    }

    fn wgsl(&self, now: &Resolved, state: &LimitState) -> Option<Wgsl> {
        let strength = now.weighted("dynamic_viscosity").coefficient();
        let law = Law::new(strength, state.discretisation);
        Some(
            Wgsl::new(include_str!("viscosity.wgsl"))
                .constant("correction", law.correction)
                .constant("longest_step", longest_step(self, now, state))
                .table("strength", now.weighted_by_body("dynamic_viscosity")),
        )
    }
}

/// A particle among neighbours at rest loses its velocity at the rate ν Σ V L, with L the law's weight of a
/// velocity difference; the fastest mode decays at most twice as fast, so explicit steps are stable below the
/// inverse of that rate. We stay at 0.4 of it: beside walls the rate is higher. For the Laplacian this is close
/// to the customary ℓ²/(8ν) [Morris1997]. A memory changes which modes grow: see `viscous_memory::ease`.
pub fn offer_diffusion_limit(dynamic_viscosity: f32, rate: f32, state: &LimitState, limits: &mut Limits) {
    if dynamic_viscosity > 0.0 {
        limits.offer(Limit::Viscosity, 0.4 * state.memory_ease * state.lightest / (dynamic_viscosity * rate));
    }
}

/// V_i V_j μ (v_j − v_i) ∇²W.
#[derive(Clone, Copy)]
pub struct Law<'a> {
    kernel: Kernel,
    strength: Coefficient<'a>,
    /// Makes the lattice at rest exact for a quadratic velocity field.
    correction: f32,
    friction: WallFriction,
}

impl<'a> Law<'a> {
    pub fn new(strength: Coefficient<'a>, d: &Discretisation) -> Law<'a> {
        let laplacian = |r: f64| f64::from(d.viscosity.laplacian_at(r as f32));
        // For v = x²/2 the Laplacian is 1.
        let sum = lattice_sum(&d.viscosity, f64::from(d.spacing), |x, r| laplacian(r) * x[0] * x[0] / 2.0);
        Law { kernel: d.viscosity, strength, correction: (1.0 / sum) as f32, friction: WallFriction::new(d) }
    }
}

impl PairLaw for Law<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        // SAFETY: the loop only offers valid rows.
        let strength = unsafe { self.strength.mean(pair.simd, own.index, pair.others) };
        let own_velocity = Lanes3::splat(pair.simd, own.velocity.truncate().into());
        let scale = strength * pair.volume * (own.volume * self.correction) * pair.laplacian(&self.kernel);
        (pair.velocity - own_velocity) * scale
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let strength = self.strength.at(own.index) * own.volume * self.correction;
        let scale = wall.volume * wall.laplacian(&self.kernel) * strength * self.friction.grip(wall);
        (wall.velocity - Lanes3::splat(wall.simd, own.velocity.truncate().into())) * scale
    }
}

/// How strongly a wall holds the fluid beside it.
///
/// Behind a wall that must stop the flow, the velocity field is continued as its mirror image: a sample at
/// depth d_b, seen from a particle at height d_i, has velocity v_w − (d_b/d_i)(v_i − v_w), so that the straight
/// line between the two passes v_w at the surface [Morris1997]. The difference of velocities is then
/// 1 + d_b/d_i times that of the wall and the particle. The ratio is bounded for particles that touch the wall.
/// SPH walls have velocities of their own (see `step.rs`).
#[derive(Clone, Copy)]
pub struct WallFriction {
    closest: f32,
    /// The velocity of samples is continued already.
    interpolated: bool,
}

impl WallFriction {
    pub fn new(d: &Discretisation) -> WallFriction {
        WallFriction { closest: 0.25 * d.spacing, interpolated: d.walls == WallModel::Sph }
    }

    /// For walls of given velocity, whatever the scene's walls are.
    pub fn mirrored(d: &Discretisation) -> WallFriction {
        WallFriction { interpolated: false, ..WallFriction::new(d) }
    }

    /// Factor of the velocity difference between wall and particle.
    #[inline(always)]
    pub fn grip<S: Simd>(&self, wall: &WallPair<S>) -> Lanes<S> {
        if self.interpolated {
            return splat(wall.simd, 1.0);
        }
        let height = wall.x.dot(wall.normal) - wall.depth;
        let ratio = wall.depth / height.max(splat(wall.simd, self.closest));
        // On edges and corners there is no normal, the height is not known, and the wall's own velocity is used.
        let flat = wall.normal.dot(wall.normal);
        (flat * ratio.min(splat(wall.simd, 4.0)) + 1.0) * wall.hold()
    }
}
