//! Viscosity as impulses between particles that approach each other, linear and quadratic in their speed [Clavet2005, 3.6; Ozgen2013,
//! Algorithm 1].
//!
//! Two particles that approach at the speed u along the line between them get the impulses ∓ m Δt (1 − r/h)(σu + βu²), with
//! m the reduced mass m_i m_j/(m_i + m_j): for equal masses, half of the seed's change of velocity for each, and momentum is kept for
//! all others. The linear term smooths the flow; the quadratic one only stops particles from flying through each other. The
//! seed lets each impulse see the last one; here all see the same velocities. Strengths are
//! per pair, and so depend on the spacing: for a viscosity in Pa·s there are `viscosity` and `implicit-viscosity`.
//! Walls and solids take part as something very heavy, and feel the opposite.

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Around, Behaviour, LimitState, Solved};
use crate::columns::{MASS, VELOCITY};
use crate::kernels::lattice_sum;
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::particles::Particles;
use crate::resolve::{Coefficient, Resolved};
use crate::simd::*;
use crate::solids::Wrench;
use crate::structure::Structure;
use crate::timestep::{Limit, Limits};

pub static SCHEMA: Schema = Schema {
    name: "impulse-viscosity",
    summary: "impulses between approaching particles, linear and quadratic in their speed",
    law: "m_i Δv_i = −w Δt Σ m_ij (1 − r/h)(σu + βu²) x_ij/r where u = −v_ij·x_ij/r > 0, with m_ij = m_i m_j/(m_i + m_j)",
    half_weight: "half the impulses",
    reference: "Clavet2005, 3.6; Ozgen2013, Algorithm 1",
    properties: &[
        Property {
            name: "linear",
            meaning: "rate σ: smooths the flow",
            kind: Kind::Number { unit: Unit::PerSecond, default: Default::Value(5.0), min: 0.0, max: 1e6 },
        },
        Property {
            name: "quadratic",
            meaning: "strength β, 1/m: stops fast particles",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.0), min: 0.0, max: 1e6 },
        },
    ],
};

pub struct ImpulseViscosity;

impl Behaviour for ImpulseViscosity {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn has_solve(&self, _used: &BehaviourUse) -> bool {
        true
    }

    fn solve(
        &self,
        now: &Resolved,
        around: &Around,
        _structure: &mut Structure,
        particles: &mut Particles,
        pushes: &mut [Wrench],
    ) -> Option<Solved> {
        let mass = particles.take(&MASS);
        let law = Law {
            linear: now.weighted("linear").coefficient(),
            quadratic: now.weighted("quadratic").coefficient(),
            mass: &mass,
            per_support: 1.0 / around.discretisation.support,
        };
        let mut acceleration = particles.workspace.borrow(mass.len());
        acceleration.fill(Vec4::ZERO);
        around.rows.add_forces(&[law], &mass, &mut acceleration);
        let velocity = particles.get_mut(&VELOCITY);
        velocity.par_iter_mut().with_min_len(8192).zip(&acceleration).for_each(|(v, a)| *v += *a * around.dt);
        particles.workspace.give_back([acceleration]);
        let centres: Vec<DVec3> = around.solids.iter().map(|solid| solid.pose.position).collect();
        around.rows.reactions(&[law], &centres, &mut Vec::new(), pushes);
        particles.put(&MASS, mass);
        None
    }

    /// No particle may be turned around by all its neighbours together.
    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        let d = state.discretisation;
        let near =
            lattice_sum(&d.density, f64::from(d.spacing), |_, r| (1.0 - r / f64::from(d.support)).max(0.0));
        let near = near as f32 / d.cell_volume();
        let strength = now.weighted("linear").max() + now.weighted("quadratic").max() * 2.0 * state.speed;
        limits.offer(Limit::Viscosity, 1.0 / (near * strength).max(f32::MIN_POSITIVE));
    }
}

#[derive(Clone, Copy)]
struct Law<'a> {
    linear: Coefficient<'a>,
    quadratic: Coefficient<'a>,
    mass: &'a [f32],
    per_support: f32,
}

impl Law<'_> {
    /// (1 − r/h)(σu + βu²) x/r; nothing for who parts.
    #[inline(always)]
    fn slowing<S: Simd>(
        &self,
        (x, r): (Lanes3<S>, Lanes<S>),
        velocity: Lanes3<S>,
        [linear, quadratic]: [Lanes<S>; 2],
    ) -> Lanes3<S> {
        let nothing = splat(r.simd, 0.0);
        let along = x * (splat(r.simd, 1.0) / r.max(splat(r.simd, f32::MIN_POSITIVE)));
        let approach = (nothing - velocity.dot(along)).max(nothing);
        let near = (splat(r.simd, 1.0) - r * self.per_support).max(nothing);
        along * (near * (linear + quadratic * approach) * approach)
    }
}

impl PairLaw for Law<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        let velocity = Lanes3::splat(pair.simd, own.velocity.truncate().into()) - pair.velocity;
        // SAFETY: the loop only offers valid rows, and there is a number for each.
        let (strengths, other) = unsafe {
            let mean = |strength: Coefficient| strength.mean(pair.simd, own.index, pair.others);
            ([mean(self.linear), mean(self.quadratic)], gather_scalar(pair.simd, self.mass, pair.others))
        };
        let mass = self.mass[own.index];
        self.slowing((pair.x, pair.r), velocity, strengths) * (other * mass / (other + mass))
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let velocity = Lanes3::splat(wall.simd, own.velocity.truncate().into()) - wall.velocity;
        let strengths =
            [self.linear, self.quadratic].map(|strength| splat(wall.simd, strength.at(own.index)));
        self.slowing((wall.x, wall.r), velocity, strengths) * splat(wall.simd, self.mass[own.index])
    }
}
