//! Surface tension as attraction between neighbours [Becker2007; Lenaerts2009, Eq. 3.14].
//!
//! The force of j on i is −κ V_i V_j (x_i − x_j) W. The seed's κ has to be tuned for each resolution; ours follows
//! from the surface tension that is asked for. On rest volumes the force is antisymmetric for any two masses,
//! which κ m_j is not. The order of the tension is right, its value only roughly: see `docs/validation.md`. Kept
//! honest by `littoral validate drop-oscillation` and by the work of parting in `law_tests.rs`.

use crate::backend::wgsl::Wgsl;
use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Behaviour, Law as AnyLaw, LimitState, longest_step};
use crate::discretisation::Discretisation;
use crate::kernels::Kernel;
use crate::pair::{Own, Pair, PairLaw};
use crate::resolve::{Coefficient, Resolved};
use crate::scene::Dimensions;
use crate::simd::*;
use crate::timestep::{Limit, Limits};

pub static SCHEMA: Schema = Schema {
    name: "cohesion",
    summary: "surface tension: neighbours attract, so that drops round off",
    law: "f_i = −w κ V_i Σ V_j (x_i − x_j) W, with κ such that two halves part at the work 2σ",
    half_weight: "half the attraction",
    reference: "Becker2007; Lenaerts2009, Eq. 3.14",
    properties: &[Property {
        name: "surface_tension",
        meaning: "surface tension σ the attraction amounts to",
        kind: Kind::Number { unit: Unit::NewtonPerMetre, default: Default::Required, min: 0.0, max: 1e3 },
    }],
};

pub struct Cohesion;

impl Behaviour for Cohesion {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn pair_law<'a>(&self, now: &'a Resolved, d: &Discretisation) -> Option<AnyLaw<'a>> {
        let tension = now.weighted("surface_tension").coefficient();
        (!tension.is_zero()).then(|| AnyLaw::Cohesion(Law::new(tension, d)))
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        // Neighbours pull like springs of stiffness κ V² W: K/m sums to κ/ρ, and Δt ≤ ½ · 2√(m/K)/√2.
        // [Bayraktar2010, Eq. 5.28] prints 2m/K, which is not a time.
        let strength = now.weighted("surface_tension").max() * strength_of_unit_tension(state.discretisation);
        if strength > 0.0 {
            limits.offer(Limit::Stiffness, 0.7 * (state.lightest / strength).sqrt());
        }
    }

    fn wgsl(&self, now: &Resolved, state: &LimitState) -> Option<Wgsl> {
        Some(
            Wgsl::new(include_str!("cohesion.wgsl"))
                .constant("strength", strength_of_unit_tension(state.discretisation))
                .constant("longest_step", longest_step(self, now, state))
                .table("tension", now.weighted_by_body("surface_tension")),
        )
    }
}

/// −κ V_i V_j (x_i − x_j) W.
#[derive(Clone, Copy)]
pub struct Law<'a> {
    kernel: Kernel,
    tension: Coefficient<'a>,
    /// κ for a surface tension of 1 N/m.
    strength: f32,
}

impl<'a> Law<'a> {
    pub fn new(tension: Coefficient<'a>, d: &Discretisation) -> Law<'a> {
        Law { kernel: d.density, tension, strength: strength_of_unit_tension(d) }
    }
}

/// κ that makes the work of parting two halves of the fluid 2 N/m.
///
/// Bonds across a plane, n²|r_z| for each separation r, hold the energy −u(r); two surfaces share it. With
/// u' = κV²rW and nV = 1, integrating by parts: σ = (π/8) κ ∫ r⁵W dr in 3-D, σ = (1/3) κ ∫ r⁴W dr in 2-D.
pub fn strength_of_unit_tension(d: &Discretisation) -> f32 {
    let (power, factor) = match d.dimensions {
        Dimensions::Two => (4, 1.0 / 3.0),
        Dimensions::Three => (5, std::f64::consts::PI / 8.0),
    };
    let h = f64::from(d.support);
    let n = 1000;
    let moment: f64 = (0..n)
        .map(|k| h * (f64::from(k) + 0.5) / f64::from(n))
        .map(|r| r.powi(power) * f64::from(d.density.w_at(r as f32)) * h / f64::from(n))
        .sum();
    (1.0 / (factor * moment)) as f32
}

impl PairLaw for Law<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        // SAFETY: the loop only offers valid rows.
        let tension = unsafe { self.tension.mean(pair.simd, own.index, pair.others) };
        pair.x * (tension * pair.volume * (-own.volume * self.strength) * pair.w(&self.kernel))
    }
}
