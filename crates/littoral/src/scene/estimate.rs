//! What a scene will ask for, before it runs: its fastest flow, its speed of sound, its time step, its particles.
//!
//! Weakly compressible fluids need a speed of sound about ten times their fastest flow: the density then varies
//! by about (v/c)² = 1 % [Monaghan1994]. A scene that does not give one gets it from here.

use glam::DVec3;

use super::shapes::length;
use super::{Body, Dimensions, Domain, Mobility, Scene, Side, Solid, Source, Sph};
use crate::behaviour::{BehaviourUse, Value};
use crate::behaviours::viscous_memory;
use crate::geometry::Geometry;

/// Sound over flow: a density that varies by about 1 %.
const SOUND_OVER_FLOW: f64 = 10.0;

/// Slower flows than this, m/s, are not worth a softer fluid: a scene at rest still needs some stiffness.
const SLOWEST_FLOW: f64 = 0.01;

/// Fraction of the time sound or a particle takes to cross ℓ, half a kernel's support.
const COURANT: f64 = 0.4;

/// Fraction of the time momentum takes to diffuse over ℓ.
const DIFFUSION: f64 = 0.125;

/// Friction that bounds the time step.
const EXPLICIT_VISCOSITIES: [&str; 2] = ["viscosity", "artificial-viscosity"];

/// Speed of sound for bodies that leave it to the scene, m/s: ten times the fastest flow.
pub fn automatic_sound_speed(scene: &Scene) -> f64 {
    SOUND_OVER_FLOW * fastest_flow(scene)
}

/// Fastest flow the scene can make, m/s: what moves from the start, sped up by the deepest fall, v² = v₀² + 2gH;
/// or the speed that surface tension alone stands for, if that is faster.
pub fn fastest_flow(scene: &Scene) -> f64 {
    let walls = scene.domain.wall_velocity.iter().flatten().map(|&velocity| length(velocity));
    let solids = scene.solids.iter().map(|solid| solid_speed(solid, scene.dimensions));
    let start = scene.bodies.iter().map(initial_speed).chain(walls).chain(solids).fold(0.0, f64::max);
    let fall = scene.bodies.iter().map(|body| fall_squared(scene, body)).fold(0.0, f64::max);
    let forced = scene.forces.iter().map(|force| force.flow(extent(scene))).fold(0.0, f64::max);
    let capillary = scene.bodies.iter().map(|body| capillary_speed(body, &scene.sph)).fold(0.0, f64::max);
    (start * start + fall + forced * forced).sqrt().max(capillary).max(SLOWEST_FLOW)
}

/// From one end of all matter, or of the box, to the other, m.
fn extent(scene: &Scene) -> f64 {
    let size = |axis: usize| {
        let domain = &scene.domain;
        if domain.min[axis].is_finite() && domain.max[axis].is_finite() {
            return domain.max[axis] - domain.min[axis];
        }
        let bounds = scene.bodies.iter().map(|body| body.source.bounds(scene.dimensions));
        let ends = bounds.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (min, max)| {
            (low.min(min[axis]), high.max(max[axis]))
        });
        (ends.1 - ends.0).max(0.0)
    };
    length([0, 1, 2].map(size))
}

fn initial_speed(body: &Body) -> f64 {
    match &body.source {
        Source::Shape(_) => length(body.velocity),
        source => source.birth_speed(),
    }
}

/// How fast a solid moves by itself, m/s: as thrown, or as its script says.
fn solid_speed(solid: &Solid, dimensions: Dimensions) -> f64 {
    match &solid.mobility {
        Mobility::Fixed => 0.0,
        Mobility::Free(free) => length(free.velocity),
        Mobility::Scripted(script) => {
            let (min, max) = solid.shape.bounds(dimensions);
            let across = length(std::array::from_fn(|axis| max[axis] - min[axis]));
            script.fastest(across)
        }
    }
}

/// 2gH for one body, m²/s²; 0 where it does not fall.
fn fall_squared(scene: &Scene, body: &Body) -> f64 {
    let Some(gravity) = body.behaviours.iter().find(|one| one.schema.name == "gravity") else { return 0.0 };
    let acceleration = match gravity.value("acceleration") {
        Value::Vector(own) => *own,
        _ => scene.gravity,
    };
    let strength = length(acceleration);
    if strength == 0.0 {
        return 0.0;
    }
    let up = acceleration.map(|component| -component / strength);
    2.0 * gravity.weight.max() * strength * fall_height(scene, up)
}

/// From the highest point of all matter down to the floor; without a floor, down to its own lowest point.
fn fall_height(scene: &Scene, up: [f64; 3]) -> f64 {
    let extents = scene.bodies.iter().map(|body| body.source.extent_along(up));
    let (low, high) =
        extents.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (a, b)| (low.min(a), high.max(b)));
    let floor = floor_along(&scene.domain, up).unwrap_or(low);
    (high - floor).max(0.0)
}

/// Lowest value of x·`up` inside the box; `None` where no wall holds the fall.
fn floor_along(domain: &Domain, up: [f64; 3]) -> Option<f64> {
    let mut floor = 0.0;
    for axis in (0..3).filter(|&axis| up[axis] != 0.0) {
        let end = if up[axis] > 0.0 { 0 } else { 1 };
        if domain.sides[axis][end] != Side::Wall {
            return None;
        }
        floor += up[axis] * [domain.min[axis], domain.max[axis]][end];
    }
    Some(floor)
}

/// √(p/ρ) for the inner pressure p = 10 σ/h that attraction within the support h builds up in the bulk: ten times
/// this speed lets the fluid shrink by 1 %. (σ and p are the third and the second moment of the same kernel; 10
/// holds within a fifth for all of them.)
fn capillary_speed(body: &Body, sph: &Sph) -> f64 {
    let tension = |one: &BehaviourUse| match one.schema.name {
        // Two halves of the same fluid part at twice the surface tension.
        "adhesion" => 0.5 * weighted_max(one, "work_of_adhesion"),
        _ if one.schema.index_of("surface_tension").is_some() => weighted_max(one, "surface_tension"),
        _ => 0.0,
    };
    let tension = body.behaviours.iter().map(tension).fold(0.0, f64::max);
    let inner_pressure = 10.0 * tension / (sph.support * sph.spacing);
    (inner_pressure / least_density(body)).sqrt()
}

/// Largest value of a property times its weight; 0 where the engine chooses.
fn weighted_max(one: &BehaviourUse, property: &str) -> f64 {
    match one.value(property) {
        Value::Number(curve) => curve.max() * one.weight.max(),
        _ => 0.0,
    }
}

fn least_density(body: &Body) -> f64 {
    body.rest_density.keys().iter().map(|key| key.value).fold(f64::INFINITY, f64::min)
}

/// Speed of sound a body ends up with, m/s; 0 without a pressure behaviour.
pub fn sound_speed(scene: &Scene, body: &Body) -> f64 {
    let automatic = automatic_sound_speed(scene);
    let of = |one: &BehaviourUse| match one.schema.name {
        "tait" | "double-density" => match one.value("sound_speed") {
            Value::Number(curve) => curve.max() * one.weight.max().sqrt(),
            _ => automatic,
        },
        "gas" => match one.value("stiffness") {
            Value::Number(curve) => (curve.max() * one.weight.max()).sqrt(),
            _ => automatic,
        },
        _ => 0.0,
    };
    body.behaviours.iter().map(of).fold(0.0, f64::max)
}

/// Friction that acts on approaching particles alone is twice as strong where it acts.
fn friction_factor(one: &BehaviourUse) -> f64 {
    let halved =
        one.schema.index_of("approaching_only").is_some_and(|i| one.values[i] == Value::Switch(true));
    if halved { 2.0 } else { 1.0 }
}

/// A longest stable time step, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct StepLimit {
    /// s.
    pub step: f64,
    pub reason: &'static str,
}

/// The strictest limit on the time step that can be known before the run; `None` where nothing moves.
pub fn step_limit(scene: &Scene) -> Option<StepLimit> {
    let friction = scene.bodies.iter().filter_map(|body| friction_limit(scene, body));
    flow_limit(scene).into_iter().chain(friction).min_by(|a, b| a.step.total_cmp(&b.step))
}

/// What sound and motion allow.
pub fn flow_limit(scene: &Scene) -> Option<StepLimit> {
    let flow = fastest_flow(scene);
    let speeds = scene.bodies.iter().map(|body| sound_speed(scene, body) + flow);
    speeds.max_by(f64::total_cmp).map(|speed| StepLimit {
        step: COURANT * smoothing_length(scene) / speed,
        reason: "sound and flow may not cross a kernel in one step",
    })
}

/// What explicit friction allows a body.
pub fn friction_limit(scene: &Scene, body: &Body) -> Option<StepLimit> {
    let viscosity = body
        .behaviours
        .iter()
        .filter(|one| EXPLICIT_VISCOSITIES.contains(&one.schema.name))
        .map(|one| friction_factor(one) * weighted_max(one, "dynamic_viscosity"))
        .fold(0.0, f64::max);
    (viscosity > 0.0).then(|| StepLimit {
        step: DIFFUSION
            * viscous_memory::ease_of(body)
            * smoothing_length(scene).powi(2)
            * least_density(body)
            / viscosity,
        reason: "viscosity may not carry momentum across a kernel in one step",
    })
}

fn smoothing_length(scene: &Scene) -> f64 {
    0.5 * scene.sph.support * scene.sph.spacing
}

/// About how many particles a source makes by the end of the run.
pub fn particle_count(source: &Source, spacing: f64, dimensions: Dimensions, end_of_run: f64) -> f64 {
    source.content(dimensions, spacing, end_of_run) / spacing.powi(dimensions.count() as i32)
}

/// The same for a body that may have so many at once.
pub fn at_most(count: f64, maximum: Option<usize>) -> f64 {
    maximum.map_or(count, |maximum| count.min(maximum as f64))
}

/// About how many samples the surface of a solid takes; none for a shape without end.
pub fn solid_sample_count(solid: &Solid, sph: &Sph, dimensions: Dimensions) -> f64 {
    let geometry = Geometry::of(&solid.shape, dimensions);
    match dimensions {
        Dimensions::Two => {
            let outline = geometry.outline(sph.spacing);
            outline.iter().map(|[a, b]| a.distance(*b)).sum::<f64>() / sph.spacing
        }
        Dimensions::Three => {
            let mesh = geometry.triangles(sph.spacing);
            let area =
                |corners: [DVec3; 3]| 0.5 * (corners[1] - corners[0]).cross(corners[2] - corners[0]).length();
            mesh.corners().map(area).sum::<f64>() / sph.spacing.powi(2)
        }
    }
}

/// About how many samples the walls of the box take: layers as deep as the longest support behind each side.
pub fn wall_sample_count(domain: &Domain, sph: &Sph, coarsest: f64, dimensions: Dimensions) -> f64 {
    let layers = if domain.walls.is_contact() { 1.0 } else { (sph.support * coarsest / sph.spacing).ceil() };
    let cells = |axis: usize| (domain.max[axis] - domain.min[axis]) / sph.spacing + 2.0 * layers;
    let mut samples = 0.0;
    for axis in 0..dimensions.count() {
        let walls = domain.sides[axis].iter().filter(|side| **side == Side::Wall).count() as f64;
        if walls > 0.0 {
            let area: f64 = (0..dimensions.count()).filter(|&other| other != axis).map(cells).product();
            samples += walls * layers * area;
        }
    }
    samples
}
