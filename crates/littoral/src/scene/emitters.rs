//! `emitter = …` of a body: jets, rain, shapes that are filled, surfaces that let particles out.

use super::problem::Problem;
use super::read::Reader;
use super::read_shape::{self, Need};
use super::shapes::length;
use super::values::show;
use super::{Dimensions, Shape, Source};
use crate::timeline::{Curve, Driver, Motion};

/// A stream through a nozzle.
#[derive(Clone, Debug)]
pub struct Jet {
    /// Centre of the nozzle, m.
    pub at: Motion,
    /// Unit vector of the flow.
    pub direction: [f64; 3],
    pub opening: Opening,
    /// Mean over the opening, m/s.
    pub speed: Curve,
    pub profile: Profile,
    /// s; the jet runs while `from` ≤ t < `until`.
    pub from: f64,
    pub until: f64,
}

/// Drops that fall from a region.
#[derive(Clone, Debug)]
pub struct Rain {
    /// Middle of the region, m.
    pub at: Motion,
    /// Unit vector; the region lies across it.
    pub direction: [f64; 3],
    pub opening: Opening,
    /// Volume for each area and time, m/s.
    pub rate: Curve,
    /// Of the drops at birth, m/s.
    pub speed: f64,
    /// Of a drop, m; one particle where absent.
    pub diameter: Option<f64>,
    pub from: f64,
    pub until: f64,
}

/// A shape that is filled from the bottom up.
#[derive(Clone, Debug)]
pub struct Fill {
    pub shape: Shape,
    /// m³/s (m²/s in 2-D).
    pub rate: Curve,
    /// Height up to which it is filled, m; all of it where absent.
    pub level: Option<f64>,
    pub from: f64,
    pub until: f64,
}

/// A shape that lets particles out through its surface.
#[derive(Clone, Debug)]
pub struct SurfaceSource {
    pub shape: Shape,
    /// How far the shape has moved, m.
    pub motion: Motion,
    /// Along the normal, m/s.
    pub speed: Curve,
    /// Volume for each area and time, m/s; as much as flows at `speed` where absent.
    pub rate: Option<Curve>,
    /// Unit vector: only what faces this way within 45° takes part.
    pub facing: Option<[f64; 3]>,
    pub from: f64,
    pub until: f64,
}

/// Form of a nozzle or of a region that rains.
#[derive(Clone, Debug, PartialEq)]
pub enum Opening {
    /// A disc; in 2-D, a slit as long as its diameter.
    Round { radius: f64 },
    /// In 2-D, a slit of that width.
    Rectangle { width: f64, height: f64 },
}

impl Opening {
    /// m² (m in 2-D).
    pub fn area(&self, dimensions: Dimensions) -> f64 {
        match (self, dimensions) {
            (_, Dimensions::Two) => 2.0 * self.half_width(),
            (Opening::Round { radius }, Dimensions::Three) => std::f64::consts::PI * radius * radius,
            (Opening::Rectangle { width, height }, Dimensions::Three) => width * height,
        }
    }

    pub fn half_width(&self) -> f64 {
        self.half_size()[0]
    }

    /// Half of the width, and of the height.
    pub fn half_size(&self) -> [f64; 2] {
        match self {
            Opening::Round { radius } => [*radius; 2],
            Opening::Rectangle { width, height } => [0.5 * width, 0.5 * height],
        }
    }

    pub fn is_round(&self) -> bool {
        matches!(self, Opening::Round { .. })
    }

    /// How far it reaches along each axis, across a direction.
    fn reach(&self, direction: [f64; 3], dimensions: Dimensions) -> [f64; 3] {
        let half = self.half_size();
        let (u, v) = crate::sources::across(direction.into(), dimensions);
        std::array::from_fn(|axis| match (self, dimensions) {
            // A disc across a direction reaches r·sin of the angle between that and the axis.
            (Opening::Round { radius }, Dimensions::Three) => {
                radius * (1.0 - direction[axis].powi(2)).max(0.0).sqrt()
            }
            _ => half[0] * u[axis].abs() + half[1] * v[axis].abs(),
        })
    }
}

/// How fast a jet flows across its opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    Flat,
    /// Developed laminar flow.
    Parabolic,
}

impl Source {
    /// Box in which particles of the source are born, at any time.
    pub fn bounds(&self, dimensions: Dimensions) -> ([f64; 3], [f64; 3]) {
        match self {
            Source::Shape(shape) => shape.bounds(dimensions),
            Source::Fill(fill) => fill.shape.bounds(dimensions),
            Source::Jet(jet) => grown(jet.at.bounds(), jet.opening.reach(jet.direction, dimensions)),
            Source::Rain(rain) => {
                let drop = 0.5 * rain.diameter.unwrap_or(0.0);
                let reach = rain.opening.reach(rain.direction, dimensions);
                let flat = |axis: usize| axis >= dimensions.count();
                let reach = std::array::from_fn(|axis| if flat(axis) { 0.0 } else { reach[axis] + drop });
                grown(rain.at.bounds(), reach)
            }
            Source::Surface(one) => {
                let ((min, max), (from, to)) = (one.shape.bounds(dimensions), one.motion.bounds());
                (
                    std::array::from_fn(|axis| min[axis] + from[axis]),
                    std::array::from_fn(|axis| max[axis] + to[axis]),
                )
            }
        }
    }

    /// Lowest and highest value of x·`direction` over where particles are born.
    pub fn extent_along(&self, direction: [f64; 3]) -> (f64, f64) {
        match self {
            Source::Shape(shape) => shape.extent_along(direction),
            Source::Fill(fill) => fill.shape.extent_along(direction),
            _ => {
                let (min, max) = self.bounds(Dimensions::Three);
                Shape::Box { min, max }.extent_along(direction)
            }
        }
    }

    /// Fastest that particles are when they are born, m/s; that of a shape is the body's.
    pub fn birth_speed(&self) -> f64 {
        match self {
            Source::Shape(_) | Source::Fill(_) => 0.0,
            Source::Jet(jet) => {
                let peak = match (jet.profile, jet.opening.is_round()) {
                    (Profile::Flat, _) => 1.0,
                    (Profile::Parabolic, true) => 2.0,
                    // The most a rectangle has is that of a square.
                    (Profile::Parabolic, false) => 2.1,
                };
                jet.speed.max() * peak + top_speed(&jet.at)
            }
            Source::Rain(rain) => rain.speed + top_speed(&rain.at),
            Source::Surface(one) => one.speed.max() + top_speed(&one.motion),
        }
    }

    /// About how much it emits by the end of the run, m³ (m² in 2-D).
    pub fn content(&self, dimensions: Dimensions, spacing: f64, end_of_run: f64) -> f64 {
        let flows = |curve: &Curve, from: f64, until: f64| {
            let until = until.min(end_of_run);
            if from < until { curve.integral(from, until) } else { 0.0 }
        };
        match self {
            Source::Shape(shape) => shape.content(dimensions, spacing),
            Source::Jet(jet) => jet.opening.area(dimensions) * flows(&jet.speed, jet.from, jet.until),
            Source::Rain(rain) => rain.opening.area(dimensions) * flows(&rain.rate, rain.from, rain.until),
            Source::Fill(fill) => {
                fill.shape.content(dimensions, spacing).min(flows(&fill.rate, fill.from, fill.until))
            }
            Source::Surface(one) => {
                let rate = one.rate.as_ref().unwrap_or(&one.speed);
                surface_area(&one.shape, dimensions) * flows(rate, one.from, one.until)
            }
        }
    }
}

fn grown((min, max): ([f64; 3], [f64; 3]), by: [f64; 3]) -> ([f64; 3], [f64; 3]) {
    (std::array::from_fn(|axis| min[axis] - by[axis]), std::array::from_fn(|axis| max[axis] + by[axis]))
}

/// Fastest of a motion, m/s, looked at between its keys.
fn top_speed(motion: &Motion) -> f64 {
    let keys = motion.components[0].keys();
    let between = |pair: &[crate::timeline::Key]| {
        let (start, width) = (pair[0].at, (pair[1].at - pair[0].at) / 16.0);
        let speed = |k: u32| {
            let (a, b) = (start + f64::from(k) * width, start + f64::from(k + 1) * width);
            let (a, b) = (motion.at(a), motion.at(b));
            length(std::array::from_fn(|axis| b[axis] - a[axis])) / width
        };
        (0..16).map(speed).fold(0.0, f64::max)
    };
    keys.windows(2).map(between).fold(0.0, f64::max)
}

/// About the area of a shape's surface, m² (m in 2-D): that of the box around it.
fn surface_area(shape: &Shape, dimensions: Dimensions) -> f64 {
    let (min, max) = shape.bounds(dimensions);
    let size: [f64; 3] = std::array::from_fn(|axis| max[axis] - min[axis]);
    match dimensions {
        Dimensions::Two => 2.0 * (size[0] + size[1]),
        Dimensions::Three => 2.0 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]),
    }
}

/// The emitter of a body.
pub fn emitter(reader: &Reader<'_>, end_of_run: Option<f64>) -> Option<Source> {
    let (kind, table) = reader.one_of("emitter")?;
    let time = times(&table, kind, end_of_run);
    match kind {
        "rain" => rain(&table, time).map(Source::Rain),
        "fill" => fill(&table, time).map(Source::Fill),
        "surface" => surface(&table, time).map(Source::Surface),
        _ => jet(&table, time).map(Source::Jet),
    }
}

/// When something runs: `from` and `until`, which is infinite where it is not written. Not the end of the run
/// itself: a run that goes on beyond it must be like one that was longer at first.
pub fn times(reader: &Reader<'_>, what: &str, end_of_run: Option<f64>) -> Option<(f64, f64)> {
    let from = reader.number("from");
    let endless = reader.entry("until").is_none();
    let until = if endless { Some(f64::INFINITY) } else { reader.number("until") };
    let (from, until) = (from?, until?);
    let ends = if endless { end_of_run.unwrap_or(f64::INFINITY) } else { until };
    if from >= ends {
        let key = if endless { "from" } else { "until" };
        let message = format!("the {what} starts at {} s, when it has ended ({} s)", show(from), show(ends));
        let problem = Problem::error("out-of-range", &reader.place(key), message);
        reader.context.log.push(problem.help("`from` comes before `until`, and before the run ends"));
        return None;
    }
    Some((from, until))
}

/// A curve that can run over time only: what it belongs to is no particle.
pub fn over_time(reader: &Reader<'_>, key: &str) -> Option<Curve> {
    let curve = reader.curve(key)?;
    if curve.driver != Driver::Time {
        let message = format!("`{key}` can change over time only");
        reader.context.log.push(
            Problem::error("unknown-name", &reader.place(key), message).label("expected `over = \"time\"`"),
        );
        return None;
    }
    Some(curve)
}

/// A vector made one long; `what` is said to point nowhere where it cannot be.
pub fn unit_vector(reader: &Reader<'_>, key: &str, what: &str) -> Option<[f64; 3]> {
    let vector = reader.vector(key)?;
    let norm = length(vector);
    if norm == 0.0 {
        let problem =
            Problem::error("zero-direction", &reader.place(key), format!("the {what} points nowhere"));
        reader.context.log.push(problem.label("expected a vector that is not 0"));
        return None;
    }
    Some(vector.map(|component| component / norm))
}

fn opening(reader: &Reader<'_>) -> Option<Opening> {
    let flat = reader.context.dimensions == Dimensions::Two;
    let (radius, width, height) = (reader.entry("radius"), reader.entry("width"), reader.entry("height"));
    let log = reader.context.log;
    match (radius, width, height) {
        (Some(_), None, None) => reader.number("radius").map(|radius| Opening::Round { radius }),
        (Some(_), Some(other), _) | (Some(_), None, Some(other)) => {
            let message = format!("`radius` and `{}`: an opening is round or a rectangle", other.key);
            log.push(Problem::error("key-clash", &other.key_at, message).label("leave one out"));
            None
        }
        (None, Some(_), None) if flat => {
            reader.number("width").map(|width| Opening::Rectangle { width, height: 0.0 })
        }
        (None, _, Some(height)) if flat => {
            let problem =
                Problem::error("flat-world", &height.key_at, "a slit has no `height`: the scene is 2-D");
            log.push(problem.help("its length is its `width`"));
            None
        }
        (None, Some(_), Some(_)) => {
            let (width, height) = (reader.number("width"), reader.number("height"));
            Some(Opening::Rectangle { width: width?, height: height? })
        }
        _ => {
            let message = format!("{} has no size", reader.section.name);
            let help =
                if flat { "add `radius`, or `width`" } else { "add `radius`, or `width` and `height`" };
            log.push(Problem::error("missing-key", &reader.at, message).help(help));
            None
        }
    }
}

fn jet(reader: &Reader<'_>, time: Option<(f64, f64)>) -> Option<Jet> {
    let at = reader.motion("at");
    let direction = unit_vector(reader, "direction", "jet");
    let opening = opening(reader);
    let speed = over_time(reader, "speed");
    let profile = reader.word("profile");
    let (from, until) = time?;
    Some(Jet {
        at: at?,
        direction: direction?,
        opening: opening?,
        speed: speed?,
        profile: if profile? == "parabolic" { Profile::Parabolic } else { Profile::Flat },
        from,
        until,
    })
}

fn rain(reader: &Reader<'_>, time: Option<(f64, f64)>) -> Option<Rain> {
    let at = reader.motion("at");
    let direction = unit_vector(reader, "direction", "rain");
    let opening = opening(reader);
    let rate = over_time(reader, "rate");
    let speed = reader.number("speed");
    let diameter = reader.number("diameter");
    let (from, until) = time?;
    Some(Rain {
        at: at?,
        direction: direction?,
        opening: opening?,
        rate: rate?,
        speed: speed?,
        diameter,
        from,
        until,
    })
}

fn fill(reader: &Reader<'_>, time: Option<(f64, f64)>) -> Option<Fill> {
    let shape = read_shape::shape(reader, "shape", Need::Region);
    let rate = over_time(reader, "rate");
    let level = reader.number("level");
    let (from, until) = time?;
    Some(Fill { shape: shape?, rate: rate?, level, from, until })
}

fn surface(reader: &Reader<'_>, time: Option<(f64, f64)>) -> Option<SurfaceSource> {
    let shape = read_shape::shape(reader, "shape", Need::Region);
    let motion = match reader.entry("motion") {
        Some(_) => reader.motion("motion"),
        None => Some(Motion::constant([0.0; 3])),
    };
    let speed = over_time(reader, "speed");
    let rate = match reader.entry("rate") {
        Some(_) => Some(over_time(reader, "rate")?),
        None => None,
    };
    let facing = match reader.entry("facing") {
        Some(_) => Some(unit_vector(reader, "facing", "surface")?),
        None => None,
    };
    let (from, until) = time?;
    Some(SurfaceSource { shape: shape?, motion: motion?, speed: speed?, rate, facing, from, until })
}
