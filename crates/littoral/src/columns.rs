//! The known columns, with their units.
//!
//! A column is named here once; a behaviour that needs another adds a line. Who reads and writes which column
//! is said in the behaviours.

use crate::memory::MOST_COLUMNS;
use crate::particles::{ColumnSpec, Indices, Part, Scalars, Vectors};
use crate::past_columns;

/// Where the particle is, m.
pub static POSITION: Vectors =
    Vectors(ColumnSpec { name: "position", unit: "m", in_frames: true, part: Part::Intensive });
/// m/s.
pub static VELOCITY: Vectors =
    Vectors(ColumnSpec { name: "velocity", unit: "m/s", in_frames: true, part: Part::Intensive });
/// Sum of all forces over mass, at the last evaluation, m/s².
pub static ACCELERATION: Vectors =
    Vectors(ColumnSpec { name: "acceleration", unit: "m/s²", in_frames: false, part: Part::Intensive });
/// Mean velocity of the last step, m/s, and in the fourth place the step's length, s: 0 for who starts anew from `VELOCITY`.
/// Kept by `time.integrator = "verlet"`.
pub static MEAN_VELOCITY: Vectors =
    Vectors(ColumnSpec { name: "mean-velocity", unit: "m/s", in_frames: false, part: Part::Own });
/// Where a step of several stages began: scratch within it.
pub static START_POSITION: Vectors =
    Vectors(ColumnSpec { name: "start-position", unit: "m", in_frames: false, part: Part::Own });
pub static START_VELOCITY: Vectors =
    Vectors(ColumnSpec { name: "start-velocity", unit: "m/s", in_frames: false, part: Part::Own });
/// Accelerations of all its stages but the last, m/s²: scratch.
pub static STAGES: [Vectors; 5] =
    [stage("stage-1"), stage("stage-2"), stage("stage-3"), stage("stage-4"), stage("stage-5")];

const fn stage(name: &'static str) -> Vectors {
    Vectors(ColumnSpec { name, unit: "m/s²", in_frames: false, part: Part::Own })
}
/// kg (kg per metre of depth in 2-D).
pub static MASS: Scalars =
    Scalars(ColumnSpec { name: "mass", unit: "kg", in_frames: true, part: Part::Extensive });
/// Volume that the particle fills at rest, m³ (m² in 2-D).
pub static VOLUME: Scalars =
    Scalars(ColumnSpec { name: "volume", unit: "m³", in_frames: false, part: Part::Extensive });
/// Support radius of the particle's kernel, m.
pub static SUPPORT: Scalars =
    Scalars(ColumnSpec { name: "support", unit: "m", in_frames: true, part: Part::Own });
/// kg/m³.
pub static DENSITY: Scalars =
    Scalars(ColumnSpec { name: "density", unit: "kg/m³", in_frames: true, part: Part::Intensive });
/// Pa.
pub static PRESSURE: Scalars =
    Scalars(ColumnSpec { name: "pressure", unit: "Pa", in_frames: true, part: Part::Intensive });
/// Where the distance to the solids that stay was last asked for, m, and what it was at least: between the two, nothing is
/// in the way. Kept by `solids/guard.rs`.
pub static CLEARANCE: Vectors =
    Vectors(ColumnSpec { name: "clearance", unit: "m", in_frames: false, part: Part::Own });
/// What implicit viscosity made of the velocity in the last step, m/s.
pub static VISCOUS_CHANGE: Vectors =
    Vectors(ColumnSpec { name: "viscous-change", unit: "m/s", in_frames: false, part: Part::Intensive });
/// What frictions with a memory have of past velocities: see `memory.rs`.
pub static VISCOUS_PAST: [Vectors; MOST_COLUMNS] = past_columns!(Vectors, "viscous", "m/s");
/// Mean of past velocities, m/s.
pub static VISCOUS_MEAN: Vectors =
    Vectors(ColumnSpec { name: "viscous_mean", unit: "m/s", in_frames: false, part: Part::Intensive });
/// The velocity that friction acts on, where it is not the particle's own, m/s; and how much of it is the mean of the past.
pub static VISCOUS_VELOCITY: Vectors =
    Vectors(ColumnSpec { name: "viscous_velocity", unit: "m/s", in_frames: false, part: Part::Intensive });
/// What springs with a memory have of past velocities.
pub static SPRING_PAST: [Vectors; MOST_COLUMNS] = past_columns!(Vectors, "spring", "m/s");
/// D^q of the particle's path as its springs remember it, m/s^q.
pub static SPRING_MEMORY: Vectors =
    Vectors(ColumnSpec { name: "spring_memory", unit: "m/s^q", in_frames: false, part: Part::Intensive });
/// What the water around a particle has of past velocities.
pub static WATER_PAST: [Vectors; MOST_COLUMNS] = past_columns!(Vectors, "water", "m/s");
/// D^q of the particle's path as the water around it remembers it, m/s^q.
pub static WATER_MEMORY: Vectors =
    Vectors(ColumnSpec { name: "water_memory", unit: "m/s^q", in_frames: false, part: Part::Intensive });
/// How often the particle has been halved since it was born as one of its body's spacing.
pub static LEVEL: Indices = Indices(ColumnSpec { name: "level", unit: "", in_frames: true, part: Part::Own });
/// About how far the nearest free surface is, m.
pub static SURFACE_DISTANCE: Scalars =
    Scalars(ColumnSpec { name: "surface_distance", unit: "m", in_frames: false, part: Part::Intensive });
/// Never used twice in a run; the order of rows in a frame.
pub static ID: Indices = Indices(ColumnSpec { name: "id", unit: "", in_frames: true, part: Part::Own });
/// Place of the particle's body in the scene.
pub static BODY: Indices = Indices(ColumnSpec { name: "body", unit: "", in_frames: true, part: Part::Own });
/// Gradient of the colour of all matter, 1/m, as a model of surface tension last left it: scratch within a step.
pub static SURFACE_NORMAL: Vectors =
    Vectors(ColumnSpec { name: "surface_normal", unit: "1/m", in_frames: false, part: Part::Intensive });
/// The same between bodies, with the tension of each interface, N/m².
pub static INTERFACE_NORMAL: Vectors =
    Vectors(ColumnSpec { name: "interface_normal", unit: "N/m²", in_frames: false, part: Part::Intensive });
/// Smoothed direction of a normal, and its own length: scratch.
pub static SURFACE_DIRECTION: Vectors =
    Vectors(ColumnSpec { name: "surface_direction", unit: "", in_frames: false, part: Part::Intensive });
/// Of the surface that a particle is near to, as its normals last had it: scratch.
pub static CURVATURE: Scalars =
    Scalars(ColumnSpec { name: "curvature", unit: "1/m", in_frames: false, part: Part::Intensive });
/// What each model of surface tension makes of it, m/s².
pub static CURVATURE_TENSION: Vectors =
    Vectors(ColumnSpec { name: "curvature_tension", unit: "m/s²", in_frames: false, part: Part::Intensive });
pub static CENTROID_TENSION: Vectors =
    Vectors(ColumnSpec { name: "centroid_tension", unit: "m/s²", in_frames: false, part: Part::Intensive });
pub static PAIRWISE_TENSION: Vectors =
    Vectors(ColumnSpec { name: "pairwise_tension", unit: "m/s²", in_frames: false, part: Part::Intensive });
/// Part of the particle's volume that is solute, 0 to 1.
pub static CONCENTRATION: Scalars =
    Scalars(ColumnSpec { name: "concentration", unit: "", in_frames: true, part: Part::Intensive });
/// What of the concentration a single number cannot hold.
pub static CONCENTRATION_REST: Scalars =
    Scalars(ColumnSpec { name: "concentration_rest", unit: "", in_frames: false, part: Part::Intensive });
/// Both of them after a step: scratch.
pub static MIXED: Vectors =
    Vectors(ColumnSpec { name: "mixed", unit: "", in_frames: false, part: Part::Intensive });
/// Momentum that solute has brought in a step, kg·m/s, and the concentration before it: scratch.
pub static SOLUTE_FLOW: Vectors =
    Vectors(ColumnSpec { name: "solute_flow", unit: "", in_frames: false, part: Part::Intensive });
/// Part of a porous particle's pores that is full, 0 to 1.
pub static SATURATION: Scalars =
    Scalars(ColumnSpec { name: "saturation", unit: "", in_frames: true, part: Part::Intensive });
/// Liquid in its pores, kg (kg per metre of depth in 2-D).
pub static LIQUID: Scalars =
    Scalars(ColumnSpec { name: "liquid", unit: "kg", in_frames: true, part: Part::Extensive });
/// What of that a single number cannot hold.
pub static LIQUID_REST: Scalars =
    Scalars(ColumnSpec { name: "liquid_rest", unit: "kg", in_frames: false, part: Part::Extensive });
/// Liquid on its outside that is not enough for a particle of its own, kg.
pub static FILM: Scalars =
    Scalars(ColumnSpec { name: "film", unit: "kg", in_frames: true, part: Part::Extensive });
/// What of that a single number cannot hold.
pub static FILM_REST: Scalars =
    Scalars(ColumnSpec { name: "film_rest", unit: "kg", in_frames: false, part: Part::Extensive });
/// Pressure of the liquid in its pores, Pa; below 0 where they pull.
pub static PORE_PRESSURE: Scalars =
    Scalars(ColumnSpec { name: "pore_pressure", unit: "Pa", in_frames: true, part: Part::Intensive });
/// What of that pushes an elastic body apart, Pa.
pub static PORE_STRESS: Scalars =
    Scalars(ColumnSpec { name: "pore_stress", unit: "Pa", in_frames: false, part: Part::Intensive });
/// How much more of it a change of volume would bring, Pa.
pub static PORE_STIFFNESS: Scalars =
    Scalars(ColumnSpec { name: "pore_stiffness", unit: "Pa", in_frames: false, part: Part::Intensive });
/// How hard a porous layer is pressed by what touches it, Pa: a mean over the last moments.
pub static SQUEEZE: Scalars =
    Scalars(ColumnSpec { name: "squeeze", unit: "Pa", in_frames: false, part: Part::Intensive });
/// Pressure of the fluid before its surface, Pa: a mean over the last moments.
pub static FELT_PRESSURE: Scalars =
    Scalars(ColumnSpec { name: "felt_pressure", unit: "Pa", in_frames: false, part: Part::Intensive });
/// Strain that an elastic body has got by what it holds.
pub static SWELLING: Scalars =
    Scalars(ColumnSpec { name: "swelling", unit: "", in_frames: false, part: Part::Intensive });
/// Mass of a porous particle without any liquid, kg; 0 for all others.
pub static DRY_MASS: Scalars =
    Scalars(ColumnSpec { name: "dry_mass", unit: "kg", in_frames: false, part: Part::Extensive });
/// Volume of its material with its pores at rest, m³ (m² in 2-D).
pub static PORE_VOLUME: Scalars =
    Scalars(ColumnSpec { name: "pore_volume", unit: "m³", in_frames: false, part: Part::Extensive });
/// Permeability where the particle was at the start, m².
pub static PERMEABILITY: Scalars =
    Scalars(ColumnSpec { name: "permeability", unit: "m²", in_frames: false, part: Part::Intensive });
/// Number of the particle among those of bodies that hold a shape, and 1; 0 for the others. See `structure/nodes.rs`.
pub static NODE: Indices = Indices(ColumnSpec { name: "node", unit: "", in_frames: false, part: Part::Own });
/// Number of the pin that holds the particle, and 1; 0 where none does. See `structure/pins.rs`.
pub static PIN: Indices = Indices(ColumnSpec { name: "pin", unit: "", in_frames: false, part: Part::Own });
/// Where that pin holds it, in the pin's own frame, m.
pub static PIN_PLACE: Vectors =
    Vectors(ColumnSpec { name: "pin_place", unit: "m", in_frames: false, part: Part::Own });
/// Where the particle stands in its body's shape at rest, m; the fourth number tells fragments apart.
pub static REFERENCE: Vectors =
    Vectors(ColumnSpec { name: "reference", unit: "m", in_frames: false, part: Part::Own });
/// Which triangles of its sheet are gone: one bit for each that has this node as its lowest corner. See
/// `structure::slots`.
pub static TORN: Indices = Indices(ColumnSpec { name: "torn", unit: "", in_frames: true, part: Part::Own });
/// How the neighbourhood at rest has turned, as a quaternion. See `solve/elastic.rs`.
pub static ROTATION: Vectors =
    Vectors(ColumnSpec { name: "rotation", unit: "", in_frames: false, part: Part::Own });
/// What elasticity made of the velocity in the last step, m/s.
pub static ELASTIC_CHANGE: Vectors =
    Vectors(ColumnSpec { name: "elastic-change", unit: "m/s", in_frames: false, part: Part::Intensive });
/// Plastic strain along x, y and z, and all that the particle ever flowed.
pub static PLASTIC_STRAIN: Vectors =
    Vectors(ColumnSpec { name: "plastic_strain", unit: "", in_frames: false, part: Part::Own });
/// Plastic strain in yz, xz and xy.
pub static PLASTIC_SHEAR: Vectors =
    Vectors(ColumnSpec { name: "plastic_shear", unit: "", in_frames: false, part: Part::Own });
/// Shear modulus of a fluid of yielding springs, Pa.
pub static STIFFNESS: Scalars =
    Scalars(ColumnSpec { name: "stiffness", unit: "Pa", in_frames: true, part: Part::Intensive });
/// How fast the neighbourhood deforms, beyond the onset of thickening, 1/s. See `behaviours/yielding_springs.rs`.
pub static STRAIN_RATE: Scalars =
    Scalars(ColumnSpec { name: "strain_rate", unit: "1/s", in_frames: false, part: Part::Intensive });
/// D^q of the strain that this adds up to, s^−q.
pub static REMEMBERED_STRAIN: Scalars =
    Scalars(ColumnSpec { name: "remembered_strain", unit: "", in_frames: false, part: Part::Intensive });
/// Its past: see `memory.rs`.
pub static STRAIN_PAST: [Scalars; crate::memory::MOST_COLUMNS] =
    crate::past_columns!(Scalars, "strain", "1/s");
/// What yielding springs made of the velocity in the last step, m/s.
pub static TIE_CHANGE: Vectors =
    Vectors(ColumnSpec { name: "tie_change", unit: "m/s", in_frames: false, part: Part::Intensive });
/// Deviatoric stress by friction between grains, Pa: xx, yy, zz; and yz, xz, xy. See `solve/granular.rs`.
pub static FRICTION_AXES: Vectors =
    Vectors(ColumnSpec { name: "friction_axes", unit: "Pa", in_frames: false, part: Part::Intensive });
pub static FRICTION_SHEARS: Vectors =
    Vectors(ColumnSpec { name: "friction_shears", unit: "Pa", in_frames: false, part: Part::Intensive });
/// What friction with walls does to a grain, m/s².
pub static WALL_FRICTION: Vectors =
    Vectors(ColumnSpec { name: "wall_friction", unit: "m/s²", in_frames: false, part: Part::Own });
