//! `[[force]]`: fields that act on all bodies, or on some.

use super::emitters::{over_time, times, unit_vector};
use super::problem::{Place, Problem};
use super::read::Reader;
use super::suggest::{did_you_mean, list_of};
use super::values::{self, Log, show};
use super::{Dimensions, Time, bodies::Draft};
use crate::forces::PULSE;
use crate::forces::expression::{FUNCTIONS, Program, VARIABLES};
use crate::timeline::{Curve, Motion};

/// A force field; see `forces.rs`.
#[derive(Clone, Debug)]
pub struct Force {
    /// Bodies that feel it, by their places in the scene; all where absent.
    pub on: Option<Vec<u32>>,
    /// s; it acts while `from` ≤ t < `until`.
    pub from: f64,
    pub until: f64,
    /// Multiplies it.
    pub strength: Curve,
    pub kind: ForceKind,
}

#[derive(Clone, Debug)]
pub enum ForceKind {
    Localised {
        at: Motion,
        radius: f64,
        /// m/s².
        acceleration: [f64; 3],
        falloff: Falloff,
    },
    /// An attractor, or with a negative acceleration a repeller.
    Pull {
        at: Motion,
        /// Unit vector, where it is a line.
        axis: Option<[f64; 3]>,
        /// Towards it, at `radius`, m/s².
        acceleration: f64,
        radius: f64,
        power: f64,
        /// May be infinite.
        reach: f64,
    },
    Vortex {
        at: Motion,
        axis: [f64; 3],
        /// Fastest swirl, at `radius`, m/s.
        speed: f64,
        radius: f64,
        relaxation_time: f64,
        reach: f64,
    },
    Explosion {
        at: [f64; 3],
        time: f64,
        /// Time that the shell takes to its full radius, s.
        duration: f64,
        radius: f64,
        /// Velocity that it gives next to its middle, m/s.
        speed: f64,
    },
    Shake {
        amplitude: f64,
        /// Hz.
        frequency: f64,
        direction: [f64; 3],
    },
    Wind {
        velocity: [f64; 3],
        relaxation_time: f64,
    },
    /// m/s² along each axis.
    Expression(Box<[Program; 3]>),
}

/// How a push fades inside its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Falloff {
    Smooth,
    Flat,
}

/// Kinds of fields, of which an entry has exactly one.
const KINDS: [&str; 8] =
    ["localised", "attractor", "repeller", "vortex", "explosion", "shake", "wind", "expression"];

pub fn force(reader: &Reader<'_>, drafts: &[Draft], time: Option<&Time>) -> Option<Force> {
    let log = reader.context.log;
    let on = bodies(reader, drafts);
    let window = times(reader, "force", time.map(|time| time.until));
    let strength = over_time(reader, "strength");
    let given: Vec<&str> = KINDS.into_iter().filter(|kind| reader.entry(kind).is_some()).collect();
    let kind = match given.as_slice() {
        ["expression"] => expression(reader).map(ForceKind::Expression),
        [kind] => field(kind, &reader.table(kind)?, time),
        [] => {
            log.push(
                Problem::error("missing-key", &reader.at, "the force has no field")
                    .label(format!("expected one of {}", list_of(&KINDS))),
            );
            None
        }
        [first, second, ..] => {
            let at = reader.entry(second).map_or(&reader.at, |entry| &entry.key_at);
            let message = format!("a force is `{first}` or `{second}`, not both");
            log.push(Problem::error("key-clash", at, message).help("write each under its own [[force]]"));
            None
        }
    };
    let (from, until) = window?;
    Some(Force { on: on?, from, until, strength: strength?, kind: kind? })
}

/// The bodies named by `on`.
pub fn bodies(reader: &Reader<'_>, drafts: &[Draft]) -> Option<Option<Vec<u32>>> {
    let Some(names) = reader.texts("on") else {
        return reader.entry("on").is_none().then_some(None);
    };
    let known: Vec<&str> = drafts.iter().map(|draft| draft.name.as_str()).collect();
    let mut found = Vec::new();
    for (name, at) in &names {
        match known.iter().position(|one| one == name) {
            Some(index) => found.push(index as u32),
            None => reader.context.log.push(values::unknown_word(at, name, &known, "body")),
        }
    }
    (found.len() == names.len()).then_some(Some(found))
}

fn field(kind: &str, reader: &Reader<'_>, time: Option<&Time>) -> Option<ForceKind> {
    match kind {
        "localised" => localised(reader),
        "attractor" => pull(reader, 1.0),
        "repeller" => pull(reader, -1.0),
        "vortex" => vortex(reader),
        "explosion" => explosion(reader, time),
        "shake" => shake(reader),
        _ => {
            let (velocity, relaxation_time) = (reader.vector("velocity"), reader.number("relaxation_time"));
            Some(ForceKind::Wind { velocity: velocity?, relaxation_time: relaxation_time? })
        }
    }
}

fn localised(reader: &Reader<'_>) -> Option<ForceKind> {
    let (at, radius) = (reader.motion("at"), reader.number("radius"));
    let (acceleration, falloff) = (reader.vector("acceleration"), reader.word("falloff"));
    let falloff = if falloff? == "flat" { Falloff::Flat } else { Falloff::Smooth };
    Some(ForceKind::Localised { at: at?, radius: radius?, acceleration: acceleration?, falloff })
}

/// A distance that may be left out: everywhere.
fn reach(reader: &Reader<'_>) -> Option<f64> {
    if reader.entry("reach").is_some() { reader.number("reach") } else { Some(f64::INFINITY) }
}

/// The axis of a field. In a flat world the only one is out of the plane.
fn axis(reader: &Reader<'_>) -> Option<[f64; 3]> {
    let axis = unit_vector(reader, "axis", "axis")?;
    if reader.context.dimensions == Dimensions::Two && axis[2].abs() != 1.0 {
        let message = "`axis` lies in the plane: the scene is 2-D";
        let problem = Problem::error("flat-world", &reader.place("axis"), message);
        reader.context.log.push(problem.label("expected [0, 0, 1], or [0, 0, -1]"));
        return None;
    }
    Some(axis)
}

fn pull(reader: &Reader<'_>, sign: f64) -> Option<ForceKind> {
    let line = match reader.entry("axis") {
        Some(_) => Some(axis(reader)?),
        None => None,
    };
    let (at, acceleration, radius) =
        (reader.motion("at"), reader.number("acceleration"), reader.number("radius"));
    let (power, reach) = (reader.number("power"), reach(reader));
    Some(ForceKind::Pull {
        at: at?,
        axis: line,
        acceleration: sign * acceleration?,
        radius: radius?,
        power: power?,
        reach: reach?,
    })
}

fn vortex(reader: &Reader<'_>) -> Option<ForceKind> {
    let axis = match (reader.entry("axis"), reader.context.dimensions) {
        (Some(_), _) => axis(reader),
        (None, Dimensions::Two) => Some([0.0, 0.0, 1.0]),
        (None, Dimensions::Three) => Some([0.0, 1.0, 0.0]),
    };
    let (at, speed, radius) = (reader.motion("at"), reader.number("speed"), reader.number("radius"));
    let (relaxation_time, reach) = (reader.number("relaxation_time"), reach(reader));
    Some(ForceKind::Vortex {
        at: at?,
        axis: axis?,
        speed: speed?,
        radius: radius?,
        relaxation_time: relaxation_time?,
        reach: reach?,
    })
}

fn explosion(reader: &Reader<'_>, time: Option<&Time>) -> Option<ForceKind> {
    let (at, start, duration) = (reader.vector("at"), reader.number("time"), reader.number("duration"));
    let (radius, speed) = (reader.number("radius"), reader.number("speed"));
    if let (Some(step), Some(duration)) = (time.and_then(|time| time.fixed_step), duration)
        && step > 0.25 * PULSE * duration
    {
        let message = format!("a fixed step of {} s passes over the explosion", show(step));
        reader.context.log.push(
            Problem::error("unstable-step", &reader.place("duration"), message)
                .label(format!("its shell takes {} s to pass a particle", show(PULSE * duration)))
                .help("leave `time.step` out to let it adapt, or make the explosion slower"),
        );
        return None;
    }
    Some(ForceKind::Explosion { at: at?, time: start?, duration: duration?, radius: radius?, speed: speed? })
}

fn shake(reader: &Reader<'_>) -> Option<ForceKind> {
    let (amplitude, frequency) = (reader.number("amplitude"), reader.number("frequency"));
    let direction = unit_vector(reader, "direction", "shaking");
    Some(ForceKind::Shake { amplitude: amplitude?, frequency: frequency?, direction: direction? })
}

/// One formula for each axis.
fn expression(reader: &Reader<'_>) -> Option<Box<[Program; 3]>> {
    let formulas = reader.texts("expression")?;
    let flat = reader.context.dimensions == Dimensions::Two;
    let wanted = reader.context.dimensions.count();
    if formulas.len() != wanted && !(flat && formulas.len() == 3) {
        let message =
            format!("`expression` has {} formulas; expected {wanted}, one for each axis", formulas.len());
        let at = reader.place("expression");
        reader.context.log.push(Problem::error("wrong-type", &at, message));
        return None;
    }
    let read: Vec<Option<Program>> =
        formulas.iter().map(|(text, at)| formula(text, at, reader.context.log)).collect();
    let mut programs: Vec<Program> = read.into_iter().collect::<Option<_>>()?;
    if flat {
        programs.resize(3, Program::parse("0").ok()?);
    }
    <[Program; 3]>::try_from(programs).ok().map(Box::new)
}

/// A formula, or `None` after the log has been told why there is none.
pub fn formula(text: &str, at: &Place, log: &Log) -> Option<Program> {
    let mistake = match Program::parse(text) {
        Ok(program) => return Some(program),
        Err(mistake) => mistake,
    };
    let known: Vec<&str> = VARIABLES.into_iter().chain(["pi", "e"]).chain(FUNCTIONS).collect();
    let near = mistake.unknown.as_ref().and_then(|word| did_you_mean(word, &known));
    let problem = Problem::error("bad-formula", &within(at, text, mistake.at), mistake.message);
    log.push(problem.label(near.unwrap_or_default()).help_if(mistake.unknown.map(|_| {
        format!("variables: {}, pi and e; functions: {}", VARIABLES.join(", "), FUNCTIONS.join(", "))
    })));
    None
}

/// A stretch of a text's place; all of it where the text is written with escapes, so that bytes do not match.
fn within(at: &Place, text: &str, span: std::ops::Range<usize>) -> Place {
    let written = &at.source.inner()[at.span.clone()];
    let Some(quote) = written.find(text).filter(|_| !text.is_empty()) else { return at.clone() };
    let start = at.span.start + quote;
    Place { source: at.source.clone(), span: start + span.start..start + span.end }
}
