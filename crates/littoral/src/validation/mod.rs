//! Physics against known answers: `littoral validate`.
//!
//! Each validation builds a scene as a user would, runs it, and compares what it measures with a closed
//! solution, a series or a published experiment. Tolerances are stated with their reasons. A validation that
//! cannot fail is worthless: the tests run some of them on a tampered scene (a law with its sign flipped)
//! and expect them to fail.

mod archimedes;
pub mod cavity;
mod conservation;
mod dam_break;
mod dispersion;
mod drop;
mod elastic;
mod fractional;
mod free_fall;
mod hydrostatic;
mod integrators;
mod kernel_moments;
mod layers;
mod pores;
mod rayleigh_taylor;
mod ropes_and_cloth;
mod sand;
mod shear;
mod spring_stiffness;
mod taylor_green;
mod terminal_velocity;
mod torque_free;
mod two_sizes;
mod wet_sand;

use crate::scene::{self, Scene};
use crate::step::StepError;
use crate::timeline::Curve;
use crate::world::World;

/// All validations, in the order they are run.
pub static ALL: &[&Validation] = &[
    &kernel_moments::KERNEL_MOMENTS,
    &free_fall::FREE_FALL,
    &integrators::INTEGRATOR_ORDERS,
    &fractional::FRACTIONAL_ORDERS,
    &fractional::FRACTIONAL_EXPONENTIALS,
    &fractional::BASSET_SPHERE,
    &fractional::FRACTIONAL_OSCILLATOR,
    &conservation::CONSERVATION,
    &hydrostatic::HYDROSTATIC_COLUMN,
    &hydrostatic::HYDROSTATIC_INCOMPRESSIBLE,
    &layers::HYDROSTATIC_LAYERS,
    &two_sizes::TWO_SIZES,
    &shear::COUETTE,
    &shear::POISEUILLE,
    &shear::POISEUILLE_ARTIFICIAL,
    &shear::POISEUILLE_IMPLICIT,
    &taylor_green::TAYLOR_GREEN,
    &torque_free::TORQUE_FREE,
    &archimedes::ARCHIMEDES,
    &archimedes::ARCHIMEDES_PARTICLES,
    &terminal_velocity::TERMINAL_VELOCITY,
    &cavity::CAVITY,
    &cavity::CAVITY_FAST,
    &cavity::CAVITY_MEMORY,
    &rayleigh_taylor::RAYLEIGH_TAYLOR,
    &dam_break::DAM_BREAK,
    &drop::DROP_OSCILLATION,
    &drop::DROP_PRESSURE,
    &drop::DROP_PERIOD,
    &drop::DROP_IN_FLUID,
    &dispersion::DISPERSION,
    &elastic::CANTILEVER,
    &elastic::CANTILEVER_SHEET,
    &elastic::UNIAXIAL,
    &elastic::FREE_ROTATION,
    &elastic::FRACTURE,
    &ropes_and_cloth::CATENARY,
    &ropes_and_cloth::HANGING_CLOTH,
    &ropes_and_cloth::PENDULUM,
    &spring_stiffness::SPRING_STIFFNESS,
    &sand::SAND_REPOSE,
    &sand::SAND_COLUMN,
    &sand::SILO,
    &pores::DARCY,
    &pores::WICKING,
    &pores::CAPILLARY_RISE,
    &pores::WATER_KEPT,
    &pores::SOAKED_BLOCK,
    &wet_sand::WET_SAND,
    &wet_sand::MOIST_COLUMN,
];

/// A piece of physics with a known answer.
pub struct Validation {
    pub name: &'static str,
    /// What is compared with what.
    pub what: &'static str,
    /// Runs it; `tamper` may change the scene before it is built, and does nothing in earnest.
    pub run: fn(tamper: &Tamper) -> Result<Vec<Check>, StepError>,
}

/// Changes a checked scene, to show that a validation notices.
pub type Tamper = dyn Fn(&mut Scene) + Sync;

/// One number against another.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Check {
    pub quantity: String,
    pub unit: &'static str,
    pub measured: f64,
    pub expected: f64,
    /// Largest accepted |measured − expected|, in the quantity's unit.
    pub tolerance: f64,
    pub passed: bool,
}

impl Check {
    /// Accepts `measured` within `tolerance` of `expected`.
    pub fn near(
        quantity: impl Into<String>,
        unit: &'static str,
        measured: f64,
        expected: f64,
        tolerance: f64,
    ) -> Check {
        // A measurement that is not a number compares false, and so fails.
        let passed = (measured - expected).abs() <= tolerance;
        Check { quantity: quantity.into(), unit, measured, expected, tolerance, passed }
    }

    /// Accepts an error of at most `tolerance`.
    pub fn below(quantity: impl Into<String>, unit: &'static str, measured: f64, tolerance: f64) -> Check {
        Check::near(quantity, unit, measured, 0.0, tolerance)
    }
}

/// Builds the world of a scene given as text.
///
/// # Panics
/// If the text is not a correct scene: it is part of this program.
fn world(text: &str, tamper: &Tamper) -> World {
    let (mut scene, _) = scene::load("validation", text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    tamper(&mut scene);
    World::new(&scene)
}

/// Turns a behaviour's effect around: what a sign error in its law would do.
pub fn flip(behaviour: &'static str) -> impl Fn(&mut Scene) + Sync {
    move |scene| {
        for body in &mut scene.bodies {
            for used in body.behaviours.iter_mut().filter(|used| used.schema.name == behaviour) {
                used.weight = Curve::constant(-used.weight.max());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::IntegratorName;

    fn passes(validation: &Validation, tamper: &Tamper) -> bool {
        all_pass((validation.run)(tamper))
    }

    fn all_pass(checks: Result<Vec<Check>, StepError>) -> bool {
        checks.is_ok_and(|checks| checks.iter().all(|check| check.passed))
    }

    /// One for each kind of law; `./test` runs them all in earnest.
    #[test]
    fn a_flipped_sign_is_noticed() {
        let cases: [(&Validation, &'static str); 7] = [
            (&free_fall::FREE_FALL, "gravity"),
            (&shear::POISEUILLE, "viscosity"),
            (&drop::DROP_OSCILLATION, "cohesion"),
            (&drop::DROP_PRESSURE, "curvature-tension"),
            (&dispersion::DISPERSION, "dispersion"),
            (&ropes_and_cloth::HANGING_CLOTH, "springs"),
            (&spring_stiffness::SPRING_STIFFNESS, "yielding-springs"),
        ];
        for (validation, behaviour) in cases {
            assert!(!passes(validation, &flip(behaviour)), "{} does not notice {behaviour}", validation.name);
        }
    }

    /// Of one of the three columns: each must notice, and what pulls where it should push makes clumps, which take long.
    #[test]
    fn a_flipped_pressure_is_noticed() {
        assert!(!all_pass(hydrostatic::column(2, "quotients", "tait", &flip("tait"))));
    }

    #[test]
    fn springs_stiffen_as_they_should() {
        assert!(passes(&spring_stiffness::SPRING_STIFFNESS, &|_| ()));
    }

    /// The tension of an interface is no behaviour's: it is taken away instead.
    #[test]
    fn a_missing_interface_tension_is_noticed() {
        let without = |scene: &mut Scene| {
            scene.interfaces.iter_mut().for_each(|interface| interface.tension = 0.0);
        };
        assert!(!passes(&drop::DROP_IN_FLUID, &without));
    }

    #[test]
    fn pores_keep_their_water() {
        assert!(passes(&pores::WATER_KEPT, &|_| ()));
    }

    /// Pores have no sign to flip: they let through a third more instead.
    #[test]
    fn another_permeability_is_noticed() {
        let other = |scene: &mut Scene| {
            for used in scene.bodies.iter_mut().flat_map(|body| &mut body.behaviours) {
                if let Some(k) = used.schema.index_of("permeability")
                    && let crate::behaviour::Value::Number(curve) = &mut used.values[k]
                {
                    *curve = curve.times(1.3);
                }
            }
        };
        assert!(!passes(&pores::DARCY, &other));
        assert!(!passes(&pores::WICKING, &other));
    }

    #[test]
    fn another_integrator_is_noticed() {
        let other = |scene: &mut Scene| scene.time.integrator = IntegratorName::SymplecticEuler;
        assert!(!passes(&integrators::INTEGRATOR_ORDERS, &other));
    }

    /// A box that falls gains energy.
    #[test]
    fn gravity_is_noticed() {
        assert!(!passes(&torque_free::TORQUE_FREE, &|scene| scene.gravity = [0.0, -1e-3, 0.0]));
    }

    #[test]
    fn names_are_unique() {
        for (k, one) in ALL.iter().enumerate() {
            assert!(ALL[..k].iter().all(|other| other.name != one.name));
        }
    }
}
