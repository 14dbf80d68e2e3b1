//! `[world]`, `[sph]`, `[solver]` and `[time]`: from tables to the parts of a [`Scene`](super::Scene).

use super::problem::Problem;
use super::read::Reader;
use super::values;
use super::{
    Dimensions, Domain, IntegratorName, KernelName, PressureForm, Side, Solver, Sph, Time, WallModel,
};
use crate::behaviour::Unit;
use crate::scene::keys::SIDES;

/// Gravity and the box.
pub struct World {
    pub gravity: Option<[f64; 3]>,
    pub domain: Option<Domain>,
}

pub fn world(reader: &Reader<'_>) -> World {
    let domain = match reader.entry("box") {
        Some(_) => reader.table("box").and_then(|table| walls(&table)),
        None => Some(unbounded()),
    };
    let slip = reader.number("slip");
    let walls = reader.word("walls").and_then(wall_model);
    let domain = domain.zip(slip.zip(walls)).map(|(domain, (slip, walls))| Domain { slip, walls, ..domain });
    World { gravity: reader.vector("gravity"), domain: wall_velocities(reader, domain) }
}

fn wall_model(name: &str) -> Option<WallModel> {
    WallModel::NAMES.iter().find(|(known, _)| *known == name).map(|(_, model)| *model)
}

fn unbounded() -> Domain {
    Domain {
        min: [f64::NEG_INFINITY; 3],
        max: [f64::INFINITY; 3],
        sides: [[Side::Open; 2]; 3],
        slip: 0.0,
        walls: WallModel::Samples,
        wall_velocity: [[[0.0; 3]; 2]; 3],
    }
}

fn walls(reader: &Reader<'_>) -> Option<Domain> {
    let corners = reader.vector("min").zip(reader.vector("max"));
    let sides = sides(reader);
    let (min, max) = corners?;
    let count = reader.context.dimensions.count();
    if let Some(axis) = (0..count).find(|&axis| min[axis] >= max[axis]) {
        let message = format!("the box is empty along {}: `max` must be above `min`", AXIS_NAMES[axis]);
        reader.context.log.push(Problem::error("empty-shape", &reader.place("max"), message));
        return None;
    }
    let mut domain = Domain { min, max, sides, ..unbounded() };
    if reader.context.dimensions == Dimensions::Two {
        (domain.min[2], domain.max[2]) = (f64::NEG_INFINITY, f64::INFINITY);
    }
    Some(domain)
}

const AXIS_NAMES: [&str; 3] = ["x", "y", "z"];

/// The axis of a side, and which of its ends are meant (lower, upper).
fn parse_side(name: &str) -> Option<(usize, [bool; 2])> {
    let axis = AXIS_NAMES.iter().position(|axis| name.ends_with(axis))?;
    match &name[..name.len() - 1] {
        "-" => Some((axis, [true, false])),
        "+" => Some((axis, [false, true])),
        _ => Some((axis, [true, true])),
    }
}

/// How a side is written in a scene.
pub fn side_name(axis: usize, end: usize) -> String {
    format!("{}{}", ["-", "+"][end], AXIS_NAMES[axis])
}

fn sides(reader: &Reader<'_>) -> [[Side; 2]; 3] {
    let mut sides = [[Side::Wall; 2]; 3];
    let flat = reader.context.dimensions == Dimensions::Two;
    if flat {
        sides[2] = [Side::Open; 2];
    }
    let wishes = [("open", Side::Open), ("periodic", Side::Periodic)];
    for (key, wish) in wishes {
        for (name, place) in reader.words(key) {
            let Some((axis, ends)) = parse_side(name) else { continue };
            let problem = if flat && axis == 2 {
                Some(Problem::error("flat-world", &place, format!("a 2-D scene has no side `{name}`")))
            } else if wish == Side::Periodic && sides[axis].contains(&Side::Open) {
                let message = format!("the {name} axis is both open and periodic");
                let problem = Problem::error("side-clash", &place, message).label("open as well");
                Some(problem.help("leave it out of `open` or out of `periodic`"))
            } else {
                None
            };
            problem.into_iter().for_each(|problem| reader.context.log.push(problem));
            (0..2).filter(|&end| ends[end]).for_each(|end| sides[axis][end] = wish);
        }
    }
    sides
}

/// Moving walls: they glide along themselves and stay in place.
fn wall_velocities(reader: &Reader<'_>, domain: Option<Domain>) -> Option<Domain> {
    let log = reader.context.log;
    let mut domain = domain;
    for entry in reader.entries("wall_velocity") {
        let Some((axis, ends)) =
            SIDES.contains(&entry.key.as_str()).then(|| parse_side(&entry.key)).flatten()
        else {
            log.push(values::unknown_word(&entry.key_at, &entry.key, SIDES, "side of the box"));
            continue;
        };
        let what = format!("wall_velocity of {}", entry.key);
        let velocity =
            values::vector(&entry.node, Unit::MetrePerSecond, reader.context.dimensions, &what, log);
        let Some(velocity) = velocity else { continue };
        if velocity[axis] != 0.0 {
            log.push(
                Problem::error(
                    "out-of-range",
                    &entry.node.at,
                    format!("the wall {} leaves its place", entry.key),
                )
                .label(format!("the {} component must be 0", AXIS_NAMES[axis])),
            );
        }
        let Some(domain) = &mut domain else { continue };
        for end in (0..2).filter(|&end| ends[end]) {
            if domain.sides[axis][end] != Side::Wall {
                let message = format!("there is no wall at {}", side_name(axis, end));
                log.push(Problem::error("side-clash", &entry.key_at, message).label("open, or periodic"));
            }
            domain.wall_velocity[axis][end] = velocity;
        }
    }
    domain
}

pub fn sph(reader: &Reader<'_>) -> Option<Sph> {
    let log = reader.context.log;
    let both = kernel(reader, "kernel");
    let density_kernel = kernel(reader, "density_kernel").or(both);
    let pressure_kernel = kernel(reader, "pressure_kernel").or(both);
    let written = |key: &'static str| if reader.entry(key).is_some() { key } else { "kernel" };
    if density_kernel == Some(KernelName::Viscosity) {
        let key = written("density_kernel");
        log.push(
            Problem::error(
                "unsuitable-kernel",
                &reader.place(key),
                "`viscosity` cannot be the density kernel",
            )
            .label("infinite at distance 0")
            .help("use cubic-spline, poly6 or spiky for the density; viscosity has it by default"),
        );
    }
    if pressure_kernel == Some(KernelName::Poly6) {
        let key = written("pressure_kernel");
        log.push(
            Problem::warning("unsuitable-kernel", &reader.place(key), "`poly6` is a poor pressure kernel")
                .label("no slope near 0: particles that come close are not pushed apart")
                .help("use `density_kernel = \"poly6\"` and leave the pressure to cubic-spline or spiky"),
        );
    }
    let viscosity_kernel = kernel(reader, "viscosity_kernel");
    if viscosity_kernel.is_some_and(|kernel| kernel != KernelName::Viscosity) {
        let message = "the Laplacian of this kernel changes its sign";
        log.push(
            Problem::warning("unsuitable-kernel", &reader.place("viscosity_kernel"), message)
                .label("negative at short range: particles that come close drive each other")
                .help("`viscosity` is made for this, and is the default"),
        );
    }
    let spacing = reader.number("spacing");
    let support = reader.number("support");
    let density = reader.word("density");
    let pressure_form = reader.word("pressure_form");
    Some(Sph {
        spacing: spacing?,
        support: support?,
        density_kernel: density_kernel?,
        pressure_kernel: pressure_kernel?,
        viscosity_kernel: viscosity_kernel?,
        normalised_density: density? == "normalised",
        pressure_form: match pressure_form? {
            "sum" => PressureForm::Sum,
            _ => PressureForm::Quotients,
        },
    })
}

fn kernel(reader: &Reader<'_>, key: &str) -> Option<KernelName> {
    let name = reader.word(key)?;
    KernelName::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kernel)| *kernel)
}

pub fn solver(reader: &Reader<'_>) -> Option<Solver> {
    let density_error = reader.number("density_error");
    let viscosity_error = reader.number("viscosity_error");
    let friction_error = reader.number("friction_error");
    let shift = reader.flag("shift");
    let iterations = reader.whole("iterations");
    Some(Solver {
        density_error: density_error? as f32,
        viscosity_error: viscosity_error? as f32,
        friction_error: friction_error? as f32,
        shift: shift?,
        iterations: iterations? as u32,
    })
}

pub fn time(reader: &Reader<'_>) -> Option<Time> {
    let until = reader.number("until");
    let frames_per_second = reader.number("frames_per_second");
    let integrator = reader.word("integrator");
    let tolerance = reader.number("tolerance");
    let fixed_step = reader.number("step");
    let maximum_step = reader.number("maximum_step");
    let minimum_step = reader.number("minimum_step");
    let caution = reader.number("caution");
    let time = Time {
        until: until?,
        frames_per_second: frames_per_second?,
        integrator: IntegratorName::NAMES.iter().find(|(name, _)| Some(*name) == integrator)?.1,
        tolerance,
        fixed_step,
        maximum_step: maximum_step.unwrap_or(1.0 / frames_per_second?),
        minimum_step: minimum_step?,
        caution: caution?,
    };
    if time.minimum_step > time.maximum_step {
        let key = if reader.entry("maximum_step").is_some() { "maximum_step" } else { "minimum_step" };
        let message = format!(
            "`minimum_step` ({} s) is above `maximum_step` ({} s)",
            values::show(time.minimum_step),
            values::show_rounded(time.maximum_step)
        );
        reader.context.log.push(Problem::error("out-of-range", &reader.place(key), message));
    }
    Some(time)
}
