//! `[[solid]]` and `[[joint]]`: what is not made of particles, how it moves, and what holds it.

use super::bodies::{self, check_name};
use super::looks::{self, Form, optional};
use super::problem::{Place, Problem};
use super::read::Reader;
use super::read_shape::{self, Need};
use super::shapes::length;
use super::suggest::did_you_mean;
use super::values::Log;
use super::{Dimensions, Domain, Look, Shape};
use crate::geometry::Geometry;
use crate::timeline::{Curve, Driver, Ease, Motion};

/// Something that fluid flows around, in, or against.
#[derive(Clone, Debug)]
pub struct Solid {
    pub name: String,
    /// Where it stands at the start.
    pub shape: Shape,
    /// The shape is a hollow: what is outside it is solid.
    pub inside: bool,
    /// 0: the fluid sticks to it; 1: it glides freely.
    pub slip: f64,
    pub mobility: Mobility,
    pub look: Look,
}

/// What moves a solid.
#[derive(Clone, Debug)]
pub enum Mobility {
    /// Nothing.
    Fixed,
    /// The scene.
    Scripted(Box<Script>),
    /// Whatever pushes it.
    Free(Free),
}

/// A motion that nothing disturbs.
#[derive(Clone, Debug)]
pub struct Script {
    /// A point of the solid at the start, m; the middle of its shape where it is not given.
    pub pivot: Option<[f64; 3]>,
    /// Where the pivot is; it stays where it is without.
    pub position: Option<Motion>,
    /// Unit vector.
    pub axis: [f64; 3],
    /// Turns per second.
    pub turning: f64,
    /// Degrees, over time.
    pub angle: Curve,
    pub shake: Option<Shake>,
}

/// amplitude × sin(2π frequency t).
#[derive(Clone, Copy, Debug)]
pub struct Shake {
    /// m.
    pub amplitude: f64,
    /// Hz.
    pub frequency: f64,
    /// Unit vector.
    pub direction: [f64; 3],
}

impl Script {
    /// A bound on how fast it ever moves a solid of this width, m/s.
    pub fn fastest(&self, width: f64) -> f64 {
        use std::f64::consts::TAU;
        let places = self
            .position
            .as_ref()
            .map_or(0.0, |motion| length(std::array::from_fn(|axis| steepest(&motion.components[axis]))));
        let turning = TAU * self.turning.abs() + steepest(&self.angle).to_radians();
        let shake = self.shake.map_or(0.0, |shake| TAU * shake.frequency * shake.amplitude);
        places + turning * width + shake
    }
}

/// Largest slope of a curve over time, per second: that of the straight lines between its keys, and half as much again,
/// which no easing exceeds. A step has none: what jumps is not a motion.
fn steepest(curve: &Curve) -> f64 {
    if curve.ease == Ease::Step {
        return 0.0;
    }
    let slopes =
        curve.keys().windows(2).map(|pair| (pair[1].value - pair[0].value) / (pair[1].at - pair[0].at));
    1.5 * slopes.fold(0.0, |most, slope| slope.abs().max(most))
}

/// A rigid body.
#[derive(Clone, Copy, Debug)]
pub struct Free {
    pub weight: Weight,
    /// m/s.
    pub velocity: [f64; 3],
    /// rad/s.
    pub angular_velocity: [f64; 3],
    pub friction: f64,
    pub restitution: f64,
}

/// How heavy it is.
#[derive(Clone, Copy, Debug)]
pub enum Weight {
    /// kg/m³.
    Density(f64),
    /// kg; kg/m in 2-D.
    Mass(f64),
}

/// Holds a solid to another.
#[derive(Clone, Copy, Debug)]
pub struct Joint {
    pub kind: JointKind,
    /// Place of a free solid in [`super::Scene::solids`].
    pub solid: usize,
    /// Place of the other; the world where there is none.
    pub to: Option<usize>,
    /// The point that both share at the start, m.
    pub at: [f64; 3],
    /// Unit vector.
    pub axis: [f64; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    Fixed,
    Ball,
    Hinge,
    Slider,
}

impl JointKind {
    pub const NAMES: [(&'static str, JointKind); 4] = [
        ("fixed", JointKind::Fixed),
        ("ball", JointKind::Ball),
        ("hinge", JointKind::Hinge),
        ("slider", JointKind::Slider),
    ];
}

/// A solid as far as it could be read.
pub struct Draft {
    pub name: String,
    pub at: Place,
    /// Whether something may move it.
    pub is_free: bool,
    pub solid: Option<Solid>,
}

/// `world_slip` is what it has where it says nothing.
pub fn solid(reader: &Reader<'_>, index: usize, world_slip: f64) -> Draft {
    let name = reader.text("name").map_or_else(|| format!("solid-{}", index + 1), str::to_owned);
    check_name(reader, &name, "solid");
    let at = reader.entry("name").map_or_else(|| reader.at.clone(), |entry| entry.node.at.clone());
    let shape = read_shape::shape(reader, "shape", Need::Solid);
    let inside = reader.flag("inside");
    let slip = match reader.entry("slip") {
        Some(_) => reader.number("slip"),
        None => Some(world_slip),
    };
    let mobility = mobility(reader);
    let form = if let Some(Shape::Sheet { .. }) = shape { Form::Sheet } else { Form::Other };
    let look = looks::look(reader, None, form);
    if inside == Some(true) && reader.entry("free").is_some() {
        let message = "a hollow in an endless solid cannot be free: it has no mass";
        let problem = Problem::error("key-clash", &reader.place("inside"), message);
        reader.context.log.push(problem.help("leave out `free`, or model the container's wall as a shape"));
    }
    if let (Some(shape), Some(entry)) = (&shape, reader.entry("free"))
        && Geometry::of(shape, reader.context.dimensions).mass_properties().volume <= 0.0
    {
        let message = format!("`{name}` cannot be free: its shape holds no volume to give it a mass");
        let problem = Problem::error("key-clash", &entry.key_at, message);
        reader.context.log.push(problem.help("give it a closed shape: a box, a mesh without holes, a shell"));
    }
    if let Some(shape) = &shape
        && inside == Some(true)
        && shape.is_thin()
    {
        let message = format!("`{name}` has no inside: its shape is a surface");
        let problem = Problem::error("key-clash", &reader.place("inside"), message);
        reader.context.log.push(problem.help("leave out `inside`: a thin shape holds fluid on both sides"));
    }
    let is_free = reader.entry("free").is_some();
    let complete = || {
        Some(Solid {
            name: name.clone(),
            shape: shape?,
            inside: inside?,
            slip: slip?,
            mobility: mobility?,
            look: look?,
        })
    };
    Draft { solid: complete(), name, at, is_free }
}

fn mobility(reader: &Reader<'_>) -> Option<Mobility> {
    match (reader.entry("motion"), reader.entry("free")) {
        (None, None) => Some(Mobility::Fixed),
        (Some(_), None) => {
            script(&reader.table("motion")?).map(|script| Mobility::Scripted(Box::new(script)))
        }
        (None, Some(_)) => free(&reader.table("free")?).map(Mobility::Free),
        (Some(_), Some(free)) => {
            let message = "a solid is moved by its `motion` or it is `free`, not both";
            let problem = Problem::error("key-clash", &free.key_at, message);
            reader.context.log.push(problem.help("join a free solid to a moved one with [[joint]]"));
            None
        }
    }
}

pub fn script(reader: &Reader<'_>) -> Option<Script> {
    let flat = reader.context.dimensions == Dimensions::Two;
    let pivot = optional(reader, "pivot", |reader| reader.vector("pivot"));
    let position = optional(reader, "position", |reader| reader.motion("position"));
    let axis = direction(reader, "axis");
    let turning = reader.number("turning");
    let angle = reader.curve("angle");
    let shake = match reader.entry("shake") {
        Some(_) => reader.table("shake").and_then(|shake| read_shake(&shake)).map(Some),
        None => Some(None),
    };
    let (axis, angle) = (axis?, angle?);
    if flat && (axis[0] != 0.0 || axis[1] != 0.0) {
        let message = "a 2-D scene turns about z only";
        let problem = Problem::error("flat-world", &reader.place("axis"), message);
        reader.context.log.push(problem.label("expected [0, 0, 1] or [0, 0, -1]"));
        return None;
    }
    if let Some(Some(position)) = &position
        && flat
        && position.components[2].as_constant() != Some(0.0)
    {
        let message = "a 2-D scene has no third direction to move in";
        let problem = Problem::error("flat-world", &reader.place("position"), message);
        reader.context.log.push(problem.label("expected a third component of 0"));
        return None;
    }
    if angle.driver != Driver::Time {
        let message = "a solid has no particles to ask: its angle changes over time only";
        let problem = Problem::error("unknown-name", &reader.place("angle"), message);
        reader.context.log.push(problem.label("expected `over = \"time\"`"));
        return None;
    }
    Some(Script { pivot: pivot?, position: position?, axis, turning: turning?, angle, shake: shake? })
}

fn read_shake(reader: &Reader<'_>) -> Option<Shake> {
    let (amplitude, frequency) = (reader.number("amplitude"), reader.number("frequency"));
    let direction = direction(reader, "direction");
    Some(Shake { amplitude: amplitude?, frequency: frequency?, direction: direction? })
}

fn free(reader: &Reader<'_>) -> Option<Free> {
    let density = optional(reader, "density", |reader| reader.number("density"));
    let mass = optional(reader, "mass", |reader| reader.number("mass"));
    let (velocity, angular_velocity) = (reader.vector("velocity"), reader.vector("angular_velocity"));
    let (friction, restitution) = (reader.number("friction"), reader.number("restitution"));
    let log = reader.context.log;
    let weight = match (density?, mass?) {
        (Some(density), None) => Weight::Density(density),
        (None, Some(mass)) => Weight::Mass(mass),
        (None, None) => {
            let problem = Problem::error("missing-key", &reader.at, "a free solid has no weight");
            log.push(problem.label("`density` or `mass` is missing").help("wood: `density = 600`"));
            return None;
        }
        (Some(_), Some(_)) => {
            let message = "a free solid has a `density` or a `mass`, not both";
            log.push(Problem::error("key-clash", &reader.place("mass"), message));
            return None;
        }
    };
    let angular_velocity = angular_velocity?;
    if reader.context.dimensions == Dimensions::Two && angular_velocity[..2] != [0.0; 2] {
        let message = "a 2-D scene turns about z only";
        let problem = Problem::error("flat-world", &reader.place("angular_velocity"), message);
        log.push(problem.label("expected [0, 0, …]"));
        return None;
    }
    Some(Free {
        weight,
        velocity: velocity?,
        angular_velocity,
        friction: friction?,
        restitution: restitution?,
    })
}

pub fn joint(reader: &Reader<'_>, solids: &[Draft]) -> Option<Joint> {
    let kind = reader.word("kind");
    let place_of = |key: &str| {
        let name = reader.text(key)?;
        let found = solids.iter().position(|solid| solid.name == name);
        if found.is_none() {
            let names: Vec<&str> = solids.iter().map(|solid| solid.name.as_str()).collect();
            let message = format!("there is no solid called `{name}`");
            let problem = Problem::error("unknown-name", &reader.place(key), message);
            let problem = problem.label(did_you_mean(name, &names).unwrap_or_default());
            reader.context.log.push(problem.help(format!("solids of this scene: {}", names.join(", "))));
        }
        found
    };
    let solid = place_of("solid");
    let to = optional(reader, "to", |_| place_of("to"));
    let (at, axis) = (reader.vector("at"), direction(reader, "axis"));
    let (solid, to) = (solid?, to?);
    if !solids[solid].is_free {
        let message = format!("`{}` is not free: nothing to hold", solids[solid].name);
        let problem = Problem::error("key-clash", &reader.place("solid"), message);
        reader.context.log.push(problem.help("name the free one as `solid`, and the other as `to`"));
        return None;
    }
    if to == Some(solid) {
        let message = "a joint holds a solid to another, not to itself";
        reader.context.log.push(Problem::error("key-clash", &reader.place("to"), message));
        return None;
    }
    let kind = kind.and_then(|name| JointKind::NAMES.iter().find(|(known, _)| *known == name))?.1;
    Some(Joint { kind, solid, to, at: at?, axis: axis? })
}

/// A shape without end is sampled within the box, so there must be one.
pub fn endless(solids: &[Draft], domain: &Domain, dimensions: Dimensions, log: &Log) {
    let bounded = |axis: usize| domain.min[axis].is_finite() && domain.max[axis].is_finite();
    if (0..dimensions.count()).all(bounded) {
        return;
    }
    for draft in solids {
        let Some(solid) = &draft.solid else { continue };
        let (min, max) = Geometry::of(&solid.shape, dimensions).bounds();
        if !(min.is_finite() && max.is_finite()) {
            let message = format!("`{}` goes on for ever", draft.name);
            let problem = Problem::error("endless-solid", &draft.at, message);
            log.push(problem.label("it needs `world.box` to end at").help("sides of the box may be `open`"));
        }
    }
}

pub fn duplicate_names(solids: &[Draft], bodies: &[bodies::Draft], log: &Log) {
    for (index, solid) in solids.iter().enumerate() {
        let earlier = solids[..index].iter().find(|other| other.name == solid.name).map(|other| &other.at);
        let body = bodies.iter().find(|body| body.name == solid.name).map(|body| &body.at);
        if let Some(first) = earlier.or(body) {
            let message = format!("the name `{}` is taken", solid.name);
            let problem = Problem::error("duplicate-name", &solid.at, message);
            log.push(problem.label("choose another name").also(first, "the first one"));
        }
    }
}

/// A vector, made one long.
fn direction(reader: &Reader<'_>, key: &str) -> Option<[f64; 3]> {
    let vector = reader.vector(key)?;
    let norm = length(vector);
    if norm == 0.0 {
        let problem = Problem::error("zero-direction", &reader.place(key), format!("`{key}` points nowhere"));
        reader.context.log.push(problem.label("expected a vector that is not 0"));
        return None;
    }
    Some(vector.map(|component| component / norm))
}
