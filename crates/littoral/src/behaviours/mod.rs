//! The registry: one line for each behaviour.
//!
//! A behaviour is a file here: its schema, its law, its tests. The step asks every behaviour in use, in the
//! order of the registry, for its share of each stage ([`Behaviour`]); most have a share in one or two.

pub mod adhesion;
pub mod air;
pub mod artificial_viscosity;
pub mod cohesion;
pub mod contact;
pub mod dispersion;
pub mod double_density;
pub mod drag;
pub mod elastic;
pub mod gas;
pub mod gravity;
pub mod implicit_viscosity;
pub mod impulse_viscosity;
pub mod incompressible;
#[cfg(test)]
mod law_tests;
pub mod past;
pub mod porous;
pub mod pressure;
pub mod rigid;
pub mod sand;
pub mod shell;
pub mod sph_cloth;
pub mod springs;
pub mod stretch_limit;
pub mod tait;
pub mod tension;
pub mod underwater;
pub mod viscosity;
pub mod viscous_memory;
pub mod wall_contact;
pub mod yielding_springs;

use std::ops::Range;

use glam::Vec4;

use crate::backend::cpu::Rows;
use crate::backend::wgsl::Wgsl;
use crate::behaviour::{BehaviourUse, Schema};
use crate::discretisation::Discretisation;
use crate::interfaces::Interfaces;
use crate::memory::{History, PastColumns, Remembers};
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::particles::{Particles, Scalars, Vectors};
use crate::resolve::Resolved;
use crate::scene::Solver;
use crate::simd::{Lanes3, Simd};
use crate::solids::{SolidState, Wrench};
use crate::structure::Structure;
use crate::timestep::Limits;

/// Every behaviour a scene may name, in the order they are listed to a user.
pub static REGISTRY: &[&dyn Behaviour] = &[
    &gravity::Gravity,
    &incompressible::Incompressible,
    &tait::Tait,
    &gas::Gas,
    &viscosity::Viscosity,
    &artificial_viscosity::ArtificialViscosity,
    &implicit_viscosity::ImplicitViscosity,
    &viscous_memory::ViscousMemory,
    &impulse_viscosity::ImpulseViscosity,
    &sand::Sand,
    &yielding_springs::YieldingSprings,
    &double_density::DoubleDensity,
    &cohesion::Cohesion,
    &adhesion::Adhesion,
    &tension::curvature::CurvatureTension,
    &tension::centroid::CentroidTension,
    &tension::pairwise::PairwiseTension,
    &dispersion::Dispersion,
    &drag::Drag,
    &underwater::Underwater,
    &elastic::Elastic,
    &shell::Shell,
    &sph_cloth::SphCloth,
    &springs::Springs,
    &rigid::Rigid,
    &stretch_limit::StretchLimit,
    &air::Air,
    &contact::Contact,
    &porous::Porous,
];

// The pair laws, for the loop that adds up all forces in one sweep over the neighbours.
pair_laws! {
    Pressure(pressure::Law),
    Viscosity(viscosity::Law<'a>),
    ArtificialViscosity(artificial_viscosity::Law<'a>),
    Cohesion(cohesion::Law<'a>),
    Adhesion(adhesion::Law<'a>),
    WallContact(wall_contact::Law<'a>),
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

    /// Adds the columns that the behaviour keeps for each particle.
    fn require_columns(&self, _particles: &mut Particles) {}

    /// Fills its columns for particles that have just been added to a body, at `time`, s.
    fn born(&self, _now: &Resolved, _body: u32, _time: f64, _born: Range<usize>, _particles: &mut Particles) {
    }

    /// What it remembers of the particles' pasts, the same for all bodies; asked when the world is built. The world keeps the
    /// columns, and the result up to date.
    fn remembers(&self, _now: &Resolved) -> Option<Remembers<Vectors>> {
        None
    }

    /// The same of a column of scalars.
    fn remembers_scalar(&self, _now: &Resolved) -> Option<Remembers<Scalars>> {
        None
    }

    /// Adds to masses that have been set to rest density × volume.
    fn weigh(&self, _now: &Resolved, _particles: &mut Particles) {}

    /// Stage 3: fills columns of its own from the neighbourhood (normals, say), before any force is summed.
    fn prepare(&self, _now: &Resolved, _around: &Around, _particles: &mut Particles) {}

    /// Stage 4: adds to the acceleration, m/s², particle by particle.
    fn accelerate(&self, _now: &Resolved, _particles: &Particles, _acceleration: &mut [Vec4]) {}

    /// Stage 4: the force between two particles.
    fn pair_law<'a>(&self, _now: &'a Resolved, _d: &Discretisation) -> Option<Law<'a>> {
        None
    }

    /// Whether it keeps the particles of a body in the places they have to each other: they become nodes.
    fn holds_shape(&self) -> bool {
        false
    }

    /// Whether it asks neither for neighbours nor for walls: in a world of such laws, nobody has to look for them but contact.
    fn is_local(&self) -> bool {
        self.holds_shape()
    }

    /// Makes its links between the nodes of each body that uses it, from their places at rest ([`crate::columns::REFERENCE`]):
    /// at the start, and again after a checkpoint was read.
    fn link(
        &self,
        _now: &Resolved,
        _d: &Discretisation,
        _structure: &mut Structure,
        _particles: &mut Particles,
    ) {
    }

    /// Stage 4: adds to the acceleration, m/s², what links between nodes do; may cut them, or make them yield.
    fn strain(
        &self,
        _now: &Resolved,
        _around: &Around,
        _structure: &mut Structure,
        _particles: &mut Particles,
        _acceleration: &mut [Vec4],
    ) {
    }

    /// Whether there is a [`Behaviour::solve`], used in this way.
    fn has_solve(&self, _used: &BehaviourUse) -> bool {
        false
    }

    /// Stage 6, after velocities took the forces and before positions take the velocities: changes velocities, or
    /// columns of its own, by more than a force could in one step. The rows hold velocities as they are now. What it
    /// does to solids is added to `pushes`, one for each.
    fn solve(
        &self,
        _now: &Resolved,
        _around: &Around,
        _structure: &mut Structure,
        _particles: &mut Particles,
        _pushes: &mut [Wrench],
    ) -> Option<Solved> {
        None
    }

    /// The same after the pressure was solved for: what follows from it.
    fn rub(
        &self,
        _now: &Resolved,
        _around: &Around,
        _structure: &mut Structure,
        _particles: &mut Particles,
        _pushes: &mut [Wrench],
    ) -> Option<Solved> {
        None
    }

    /// Stage 8, after positions took the velocities: changes positions, and velocities to match. Returns how far it has
    /// moved a particle at most, m.
    fn relax(
        &self,
        _now: &Resolved,
        _around: &Around,
        _structure: &mut Structure,
        _particles: &mut Particles,
    ) -> f32 {
        0.0
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

/// Where a behaviour that works on whole columns stands.
pub struct Around<'a> {
    /// Sums over neighbours.
    pub rows: Rows<'a>,
    pub discretisation: &'a Discretisation,
    /// Rest density of each body now, kg/m³.
    pub rest_density: &'a [f32],
    pub solver: &'a Solver,
    /// Tensions between bodies that the scene names.
    pub interfaces: &'a Interfaces,
    pub solids: &'a [SolidState],
    /// What behaviours remember.
    pub histories: &'a [History<Vectors>],
    /// At the start of the step, s.
    pub time: f64,
    /// s.
    pub dt: f32,
}

impl Around<'_> {
    /// The history that a behaviour asked for by [`Behaviour::remembers`].
    ///
    /// # Panics
    /// If it did not.
    pub fn history(&self, columns: &'static PastColumns<Vectors>) -> &History<Vectors> {
        self.histories.iter().find(|history| history.keeps(columns)).expect("a history that was asked for")
    }
}

/// How a solve went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solved {
    pub iterations: u32,
    /// What is left of the error, in the solver's own measure.
    pub residual: f32,
}

/// What time-step limits are made of.
pub struct LimitState<'a> {
    pub discretisation: &'a Discretisation,
    /// Smallest rest density of any body now, kg/m³.
    pub lightest: f32,
    /// Fastest particle, m/s.
    pub speed: f32,
    /// Largest acceleration by forces, m/s².
    pub acceleration: f32,
    /// Whether there are bodies that hold no shape.
    pub has_fluid: bool,
    pub structure: &'a Structure,
    /// Part of its step that explicit friction may take where it has a memory.
    pub memory_ease: f32,
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

/// Whether a behaviour sums over neighbours or walls.
pub fn sums_over_neighbours(schema: &'static Schema) -> bool {
    REGISTRY.iter().any(|behaviour| std::ptr::eq(behaviour.schema(), schema) && !behaviour.is_local())
}

/// Whether a behaviour makes nodes of the particles that use it.
pub fn holds_shape(schema: &'static Schema) -> bool {
    REGISTRY.iter().any(|behaviour| std::ptr::eq(behaviour.schema(), schema) && behaviour.holds_shape())
}
