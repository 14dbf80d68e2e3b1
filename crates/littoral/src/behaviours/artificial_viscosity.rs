//! Monaghan's artificial viscosity, in Pa·s [Monaghan2005; Lenaerts2009, Eqs. 3.11–3.13].
//!
//! The force of j on i is V_i V_j 2(d+2) μ (v_ij·x_ij)/(x_ij² + 0.01h²) ∇W, along the line between the two, so
//! that it keeps angular momentum too. In the seed, μ is a number without unit that is multiplied by h c; the
//! factor 2(d+2) is what makes the same expression μ∇²v for a flow without divergence. Kept honest by
//! `littoral validate poiseuille-artificial`.

use crate::backend::wgsl::Wgsl;
use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::viscosity::{WallFriction, offer_diffusion_limit};
use crate::behaviours::{Behaviour, Law as AnyLaw, LimitState, longest_step};
use crate::discretisation::Discretisation;
use crate::kernels::{Kernel, lattice_sum};
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::resolve::{Coefficient, Resolved};
use crate::simd::*;
use crate::timestep::Limits;

pub static SCHEMA: Schema = Schema {
    name: "artificial-viscosity",
    summary: "friction along the line between two particles; keeps angular momentum",
    law: "f = w 2(d+2) μ Σ V_j (v_ij·x_ij)/(x_ij² + 0.01 h²) ∇W",
    half_weight: "half the dynamic viscosity",
    reference: "Monaghan2005; Lenaerts2009, Eqs. 3.11–3.13",
    properties: &[
        Property {
            name: "dynamic_viscosity",
            meaning: "dynamic viscosity μ it amounts to in shear flow",
            kind: Kind::Number { unit: Unit::PascalSecond, default: Default::Required, min: 0.0, max: 1e7 },
        },
        Property {
            name: "approaching_only",
            meaning: "act only on particles that approach each other (twice as strongly, so that μ stays true)",
            kind: Kind::Switch { default: true },
        },
    ],
};

pub struct ArtificialViscosity;

impl Behaviour for ArtificialViscosity {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn pair_law<'a>(&self, now: &'a Resolved, d: &Discretisation) -> Option<AnyLaw<'a>> {
        let strength = now.weighted("dynamic_viscosity").coefficient();
        let approaching_only = now.field("approaching_only").coefficient();
        (!strength.is_zero()).then(|| AnyLaw::ArtificialViscosity(Law::new(strength, approaching_only, d)))
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        let d = state.discretisation;
        let law = Law::new(Coefficient::Uniform(1.0), Coefficient::Uniform(0.0), d);
        let sides = 1.0 + f64::from(now.field("approaching_only").max());
        // Weight of the velocity difference along x.
        let rate = lattice_sum(&d.pressure, f64::from(d.spacing), |x, r| {
            let slope = -f64::from(d.pressure.slope_at(r as f32)) / r;
            sides * f64::from(law.factor) * x[0] * x[0] / (r * r + f64::from(law.softening)) * slope
        });
        offer_diffusion_limit(now.weighted("dynamic_viscosity").max(), rate as f32, state, limits);
    }

    fn wgsl(&self, now: &Resolved, state: &LimitState) -> Option<Wgsl> {
        let law = Law::new(Coefficient::Uniform(1.0), Coefficient::Uniform(0.0), state.discretisation);
        Some(
            Wgsl::new(include_str!("artificial_viscosity.wgsl"))
                .constant("factor", law.factor)
                .constant("softening", law.softening)
                .constant("longest_step", longest_step(self, now, state))
                .table("approaching_only", now.by_body("approaching_only"))
                .table("strength", now.weighted_by_body("dynamic_viscosity")),
        )
    }
}

/// V_i V_j 2(d+2) μ (v_ij·x_ij)/(x_ij² + 0.01h²) ∇W.
#[derive(Clone, Copy)]
pub struct Law<'a> {
    kernel: Kernel,
    strength: Coefficient<'a>,
    /// 1 where only approaching pairs count, and count double: in any shear flow they are half of all. Two bodies
    /// that differ meet half way.
    approaching_only: Coefficient<'a>,
    /// 2(d+2), made exact on the lattice at rest.
    factor: f32,
    softening: f32,
    friction: WallFriction,
}

impl<'a> Law<'a> {
    pub fn new(strength: Coefficient<'a>, approaching_only: Coefficient<'a>, d: &Discretisation) -> Law<'a> {
        // [Monaghan2005] softens by 0.01 of the smoothing length squared; in ours, as in [Lenaerts2009, Eq. 3.12], h is
        // the support.
        let softening = 0.01 * f64::from(d.support).powi(2);
        // For v = (y²/2, 0, 0) the force must be 1: −Σ V x²y²/(2(r² + η²)) W'/r, without the factor sought.
        let sum = lattice_sum(&d.pressure, f64::from(d.spacing), |x, r| {
            let slope = f64::from(d.pressure.slope_at(r as f32)) / r;
            -0.5 * (x[0] * x[1]).powi(2) / (r * r + softening) * slope
        });
        Law {
            kernel: d.pressure,
            strength,
            approaching_only,
            factor: (1.0 / sum) as f32,
            softening: softening as f32,
            friction: WallFriction::new(d),
        }
    }

    /// Force for a relative velocity v_i − v_j, from x_ij, x_ij² + 0.01h² and the kernel's slope.
    #[inline(always)]
    fn along<S: Simd>(
        &self,
        (x, softened, gradient_over_r): (Lanes3<S>, Lanes<S>, Lanes<S>),
        velocity: Lanes3<S>,
        strength: Lanes<S>,
        approaching_only: Lanes<S>,
    ) -> Lanes3<S> {
        let all = velocity.dot(x);
        let approaching = all.min(splat(softened.token(), 0.0)) * 2.0;
        let closing = all + (approaching - all) * approaching_only;
        x * (strength * self.factor * closing / softened * gradient_over_r)
    }
}

impl PairLaw for Law<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        // SAFETY: the loop only offers valid rows.
        let (strength, only) = unsafe {
            (
                self.strength.mean(pair.simd, own.index, pair.others),
                self.approaching_only.mean(pair.simd, own.index, pair.others),
            )
        };
        let velocity = Lanes3::splat(pair.simd, own.velocity.truncate().into()) - pair.velocity;
        let softened = pair.r * pair.r + pair.area(self.softening);
        let at = (pair.x, softened, pair.gradient_over_r(&self.kernel));
        self.along(at, velocity, strength * pair.volume * own.volume, only)
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let strength = wall.volume * (self.strength.at(own.index) * own.volume) * self.friction.grip(wall);
        let velocity = Lanes3::splat(wall.simd, own.velocity.truncate().into()) - wall.velocity;
        let softened = wall.r * wall.r + wall.area(self.softening);
        let at = (wall.x, softened, wall.gradient_over_r(&self.kernel));
        self.along(at, velocity, strength, splat(wall.simd, self.approaching_only.at(own.index)))
    }
}
