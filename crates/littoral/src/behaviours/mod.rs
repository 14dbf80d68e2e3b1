//! The registry: one line for each behaviour.
//!
//! A behaviour is a file here: its schema, its law, its tests. The step asks every behaviour in use, in the
//! order of the registry, for its share of each stage ([`Behaviour`]); most have a share in one or two.

pub mod artificial_viscosity;
pub mod cohesion;
pub mod drag;
pub mod gas;
pub mod gravity;
#[cfg(test)]
mod law_tests;
pub mod pressure;
pub mod tait;
pub mod viscosity;

use glam::Vec4;

use crate::backend::wgsl::Wgsl;
use crate::behaviour::Schema;
use crate::discretisation::Discretisation;
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::simd::{Lanes3, Simd};
use crate::timestep::Limits;

/// Every behaviour a scene may name, in the order they are listed to a user.
pub static REGISTRY: &[&dyn Behaviour] = &[
    &gravity::Gravity,
    &tait::Tait,
    &gas::Gas,
    &viscosity::Viscosity,
    &artificial_viscosity::ArtificialViscosity,
    &cohesion::Cohesion,
    &drag::Drag,
];

// The pair laws, for the loop that adds up all forces in one sweep over the neighbours.
pair_laws! {
    Pressure(pressure::Law),
    Viscosity(viscosity::Law<'a>),
    ArtificialViscosity(artificial_viscosity::Law<'a>),
    Cohesion(cohesion::Law<'a>),
}

/// What a behaviour contributes to the stages of a step.
pub trait Behaviour: Sync {
    fn schema(&self) -> &'static Schema;

    /// Stage 3: a pressure that follows from the density.
    fn pressure_law<'a>(&self, _now: &'a Resolved) -> Option<PressureLaw<'a>> {
        None
    }

    /// Whether there is a [`Behaviour::pressure_law`]: density and pressure forces are needed only then.
    fn has_pressure(&self) -> bool {
        false
    }

    /// Stage 4: adds to the acceleration, m/s², particle by particle.
    fn accelerate(&self, _now: &Resolved, _particles: &Particles, _acceleration: &mut [Vec4]) {}

    /// Stage 4: the force between two particles.
    fn pair_law<'a>(&self, _now: &'a Resolved, _d: &Discretisation) -> Option<Law<'a>> {
        None
    }

    /// The same law as text for a device, with its numbers; `None` where that is not written yet.
    fn wgsl(&self, _now: &Resolved, _state: &LimitState) -> Option<Wgsl> {
        None
    }

    /// Stage 11: the longest time step the law can bear.
    fn limit(&self, _now: &Resolved, _state: &LimitState, _limits: &mut Limits) {}
}

/// Pressure, Pa, that the law of particle i makes of a density over the rest density, and of that, kg/m³.
pub type PressureLaw<'a> = Box<dyn Fn(usize, f32, f32) -> f32 + Sync + 'a>;

/// What time-step limits are made of.
pub struct LimitState<'a> {
    pub discretisation: &'a Discretisation,
    /// Smallest rest density of any body now, kg/m³.
    pub lightest: f32,
    /// Fastest particle, m/s.
    pub speed: f32,
}

/// The step a behaviour's own limit allows, s; for laws whose limit does not depend on the motion.
fn longest_step(behaviour: &dyn Behaviour, now: &Resolved, state: &LimitState) -> f32 {
    let mut limits = Limits::new(f32::MAX);
    behaviour.limit(now, state, &mut limits);
    limits.step
}

pub fn by_name(name: &str) -> Option<&'static Schema> {
    REGISTRY.iter().map(|behaviour| behaviour.schema()).find(|schema| schema.name == name)
}
