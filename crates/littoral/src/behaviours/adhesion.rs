//! Adhesion: walls and solids attract the fluid, so that it clings to them.
//!
//! The force of a wall sample b on particle i is −κ V_i V_b (x_i − x_b) W, as between two particles under
//! `cohesion`, with κ such that parting the fluid from the wall takes the work W_a for each area. By Young and
//! Dupré, W_a = σ(1 + cos θ) for a fluid of surface tension σ that meets the wall at the angle θ: 2σ wets it
//! completely, 0 not at all. In [Bayraktar2010, 5.1.3] fluid clings by negative pressures, which have no number that
//! could be measured, and which a fluid that is only pressed does not have.
//!
//! The wall must be as thick as the kernels' support, as boundary samples are (`world.walls` "samples" and "sph"). On
//! solids thinner than that, the fluid is held with less. Kept honest by the work of parting in `law_tests.rs` and by
//! the scene `adhesion`.

use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::cohesion::strength_of_unit_tension;
use crate::behaviours::{Behaviour, Law as AnyLaw, LimitState};
use crate::discretisation::Discretisation;
use crate::kernels::Kernel;
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::resolve::{Coefficient, Resolved};
use crate::simd::*;
use crate::timestep::{Limit, Limits};

pub static SCHEMA: Schema = Schema {
    name: "adhesion",
    summary: "fluid clings to walls and solids",
    law: "f_i = −w κ V_i Σ V_b (x_i − x_b) W over wall samples, with κ such that fluid and wall part at the work W_a",
    half_weight: "half the attraction",
    reference: "Bayraktar2010, 5.1.3; Akinci2013",
    properties: &[Property {
        name: "work_of_adhesion",
        meaning: "work of parting fluid and wall, J/m²: σ(1 + cos θ) for the contact angle θ",
        kind: Kind::Number { unit: Unit::NewtonPerMetre, default: Default::Required, min: 0.0, max: 1e3 },
    }],
};

pub struct Adhesion;

impl Behaviour for Adhesion {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn pair_law<'a>(&self, now: &'a Resolved, d: &Discretisation) -> Option<AnyLaw<'a>> {
        let work = now.weighted("work_of_adhesion").coefficient();
        (!work.is_zero()).then(|| AnyLaw::Adhesion(Law::new(work, d)))
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        // As for cohesion; the wall does not give way, so the reduced mass is the particle's own.
        let d = state.discretisation;
        let strength = now.weighted("work_of_adhesion").max() * 0.5 * strength_of_unit_tension(d);
        if strength > 0.0 {
            limits.offer(Limit::Stiffness, (state.lightest / strength).sqrt());
        }
    }
}

/// −κ V_i V_b (x_i − x_b) W.
#[derive(Clone, Copy)]
pub struct Law<'a> {
    kernel: Kernel,
    work: Coefficient<'a>,
    /// κ for a work of adhesion of 1 J/m².
    strength: f32,
}

impl<'a> Law<'a> {
    pub fn new(work: Coefficient<'a>, d: &Discretisation) -> Law<'a> {
        // Two halves of a fluid part at the work 2σ.
        Law { kernel: d.density, work, strength: 0.5 * strength_of_unit_tension(d) }
    }
}

impl PairLaw for Law<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, _own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        Lanes3::zero(pair.simd)
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let strength = -self.work.at(own.index) * own.volume * self.strength;
        wall.x * (wall.volume * strength * wall.w(&self.kernel))
    }
}
