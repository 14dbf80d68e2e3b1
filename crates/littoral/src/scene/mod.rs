//! A scene, checked: what a run needs to know, with nothing left to go wrong.
//!
//! Text goes through three gates: parse (TOML with spans), check (everything a user can get wrong, all of it
//! reported at once), build (particles in place; cannot fail). [`load`] is the first two.

mod bodies;
mod check;
mod estimate;
mod json_schema;
pub mod keys;
mod looks;
mod markdown;
mod overrides;
mod picture;
mod problem;
mod read;
mod sections;
mod shapes;
mod suggest;
mod tree;
mod units;
mod values;

use std::sync::Arc;

use miette::NamedSource;
use sha2::{Digest, Sha256};

pub use estimate::{
    StepLimit, automatic_sound_speed, fastest_flow, particle_count, sound_speed, step_limit,
    wall_sample_count,
};
pub use json_schema::json_schema;
pub use markdown::key_tables;
pub use picture::{Camera, Colour, Container, Draw, Finish, Ground, Lamp, Look, Picture, Sky, Sun};
pub use problem::{Place, Problem, Problems, Severity};
pub use suggest::nearest as nearest_name;

use crate::behaviour::BehaviourUse;
use crate::timeline::Curve;
use read::{Context, Reader};
use tree::{Node, Value};
use values::Log;

/// Scalar columns a curve may run over, besides `time`.
pub const DRIVER_COLUMNS: &[&str] = &["density", "pressure", "speed", "x", "y", "z"];

/// Reads and checks a scene.
///
/// `name` is the file's name as shown to a user, `overrides` are `--set` texts such as `time.until=2`. All
/// problems are found at once; a scene that loads may still come with warnings.
pub fn load(name: &str, text: &str, overrides: &[String]) -> Result<(Scene, Vec<Problem>), Problems> {
    let source = Arc::new(NamedSource::new(name, text.to_owned()));
    let mut root = tree::parse(&source).map_err(|syntax| Problems::new(name, syntax))?;
    let log = Log::default();
    overrides::apply(&mut root, overrides, &log);
    let start = Place { source, span: 0..0 };
    let scene = read_scene(&root, name, &start, &log);

    let mut problems = log.into_list();
    problems.sort_by_key(Problem::reading_order);
    let sound = problems.iter().all(|problem| problem.severity == Severity::Warning);
    match scene {
        Some(scene) if sound => Ok((Scene { hash: hash(&root), ..scene }, problems)),
        _ => {
            if sound {
                // A gap in the checks: better an unhelpful error than a wrong scene.
                problems.push(Problem::error("incomplete", &start, "the scene could not be read"));
            }
            Err(Problems::new(name, problems))
        }
    }
}

fn read_scene(root: &Node, name: &str, start: &Place, log: &Log) -> Option<Scene> {
    let Value::Table(table) = &root.value else { return None };
    let dimensions = dimensions_of(table, start);
    let context = Context { log, dimensions };
    let root = Reader::new(&keys::ROOT, Some(table), start.clone(), context);
    let title = root.text("title").map_or_else(|| file_stem(name), str::to_owned);
    let dimensions_read = root.whole("dimensions");
    let seed = root.whole("seed");
    let world_reader = root.table("world");
    let world = world_reader.as_ref().map(sections::world);
    let sph_reader = root.table("sph");
    let sph = sph_reader.as_ref().and_then(sections::sph);
    let time_reader = root.table("time");
    let time = time_reader.as_ref().and_then(sections::time);

    let end_of_run = time.map(|time| time.until);
    let drafts: Vec<bodies::Draft> = root
        .tables("body")
        .iter()
        .enumerate()
        .map(|(index, body)| bodies::body(body, index, end_of_run))
        .collect();
    let sinks: Vec<Option<Sink>> = root.tables("sink").iter().map(bodies::sink).collect();
    let picture = looks::picture(&root, time.map(|time| time.frames_per_second));

    check::duplicate_names(&drafts, log);
    if let Some(sph) = &sph {
        let geometry = check::Geometry { sph, dimensions, log };
        geometry.overlaps(&drafts);
        let domain = world.as_ref().and_then(|world| world.domain);
        if let (Some(domain), Some(reader)) = (&domain, &world_reader) {
            geometry.periods(domain, &reader.place("box"));
            geometry.wall_samples(domain, &reader.place("box"));
            geometry.placement(&drafts, domain);
        }
        if let (Some(end), Some(reader)) = (end_of_run, &sph_reader) {
            geometry.particle_total(&drafts, end, &reader.place("spacing"));
        }
    }

    dimensions_read?;
    let world = world?;
    let scene = Scene {
        title,
        dimensions,
        gravity: world.gravity?,
        domain: world.domain?,
        sph: sph?,
        time: time?,
        seed: seed?.unsigned_abs(),
        bodies: drafts.into_iter().map(|draft| draft.body).collect::<Option<_>>()?,
        sinks: sinks.into_iter().collect::<Option<_>>()?,
        picture: picture?,
        hash: String::new(),
    };
    if let Some(reader) = &time_reader {
        check::frame_count(&scene.time, &reader.place("until"), log);
        check::time_step(&scene, &reader.place("step"), &reader.place("minimum_step"), log);
    }
    Some(scene)
}

/// The dimensions decide how vectors are read, so they are looked up before anything is reported.
fn dimensions_of(table: &tree::Table, start: &Place) -> Dimensions {
    let silent = Context { log: &Log::default(), dimensions: Dimensions::Three };
    match Reader::new(&keys::ROOT, Some(table), start.clone(), silent).whole("dimensions") {
        Some(2) => Dimensions::Two,
        _ => Dimensions::Three,
    }
}

fn file_stem(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.strip_suffix(".toml").unwrap_or(file).to_owned()
}

/// Identifies what is simulated: all values, whether written or overridden, except for looks and for the end of the
/// run. A longer run goes on from a shorter one, and another light needs no other run.
fn hash(root: &Node) -> String {
    let mut hasher = Sha256::new();
    identify(root, &mut Vec::new(), &mut hasher);
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Feeds every value with its path; a body's own names (`behaviours.gravity`) cannot be mistaken for looks, which
/// stand at the top or right below a body.
fn identify(node: &Node, path: &mut Vec<String>, hasher: &mut Sha256) {
    match &node.value {
        Value::Table(table) => {
            // A law with all its defaults is an empty table; an empty section says nothing.
            if path.len() > 2 {
                hasher.update(format!("{path:?} table\n"));
            }
            let mut entries: Vec<_> = table.entries.iter().collect();
            entries.sort_by(|a, b| a.key.cmp(&b.key));
            for entry in entries {
                let top = path.is_empty() || (path.len() == 2 && path[0] == "body");
                let look = top && keys::LOOKS_ONLY.contains(&entry.key.as_str());
                let end = path.len() == 1 && path[0] == "time" && entry.key == "until";
                if look || end {
                    continue;
                }
                path.push(entry.key.clone());
                identify(&entry.node, path, hasher);
                path.pop();
            }
        }
        Value::List(items) => {
            hasher.update(format!("{path:?} list of {}\n", items.len()));
            for (index, item) in items.iter().enumerate() {
                path.push(index.to_string());
                identify(item, path, hasher);
                path.pop();
            }
        }
        leaf => hasher.update(format!("{path:?} {leaf:?}\n")),
    }
}

/// A checked scene. Lengths in m, times in s, all values SI.
#[derive(Clone, Debug)]
pub struct Scene {
    pub title: String,
    pub dimensions: Dimensions,
    /// m/s².
    pub gravity: [f64; 3],
    pub domain: Domain,
    pub sph: Sph,
    pub time: Time,
    /// Seeds every pseudo-random choice of the run.
    pub seed: u64,
    pub bodies: Vec<Body>,
    /// Regions that remove what enters them.
    pub sinks: Vec<Sink>,
    /// How it is looked at.
    pub picture: Picture,
    /// SHA-256 of all values that the run depends on (`time.until` left out), as hexadecimal digits.
    pub hash: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimensions {
    /// x and y; z stays 0, masses are per metre of depth.
    Two,
    Three,
}

impl Dimensions {
    pub fn count(self) -> usize {
        match self {
            Dimensions::Two => 2,
            Dimensions::Three => 3,
        }
    }
}

/// Where the world ends.
#[derive(Clone, Copy, Debug)]
pub struct Domain {
    /// Corners of the box, m. Sides that are open on both ends may be infinitely far away.
    pub min: [f64; 3],
    pub max: [f64; 3],
    /// For each axis, its lower and its upper side. A periodic axis is periodic on both.
    pub sides: [[Side; 2]; 3],
    /// 0: the fluid sticks to the walls (no slip); 1: it glides freely.
    pub slip: f64,
    /// Velocity of each side, m/s: a moving lid or belt. The wall itself stays in place.
    pub wall_velocity: [[[f64; 3]; 2]; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Open,
    Wall,
    Periodic,
}

/// Discretisation.
#[derive(Clone, Copy, Debug)]
pub struct Sph {
    /// Distance between particles at rest, m.
    pub spacing: f64,
    /// Support radius of the kernels, in spacings.
    pub support: f64,
    pub density_kernel: KernelName,
    pub pressure_kernel: KernelName,
    pub viscosity_kernel: KernelName,
    /// Divide the density by the kernel sum, so that it does not drop at free surfaces [LE 3.5].
    pub normalised_density: bool,
    pub pressure_form: PressureForm,
}

/// The two symmetric pressure forces [LE 3.10; BA 3.20, 3.21].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PressureForm {
    /// p_i/ρ_i² + p_j/ρ_j².
    Quotients,
    /// (p_i + p_j)/(ρ_i ρ_j).
    Sum,
}

impl PressureForm {
    pub const NAMES: [(&'static str, PressureForm); 2] =
        [("quotients", PressureForm::Quotients), ("sum", PressureForm::Sum)];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelName {
    CubicSpline,
    Poly6,
    Spiky,
    Viscosity,
    Desbrun,
    Wendland,
}

impl KernelName {
    pub const NAMES: [(&'static str, KernelName); 6] = [
        ("cubic-spline", KernelName::CubicSpline),
        ("poly6", KernelName::Poly6),
        ("spiky", KernelName::Spiky),
        ("viscosity", KernelName::Viscosity),
        ("desbrun", KernelName::Desbrun),
        ("wendland", KernelName::Wendland),
    ];
}

/// Clock settings.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// End of the run, s.
    pub until: f64,
    pub frames_per_second: f64,
    pub integrator: IntegratorName,
    /// A fixed time step, s; adaptive when absent.
    pub fixed_step: Option<f64>,
    /// The adaptive step never exceeds this, s (a frame's length when not given).
    pub maximum_step: f64,
    /// The run stops with an error when stability asks for less than this, s.
    pub minimum_step: f64,
    /// Multiplies every limit of the adaptive step: 1 is the documented default.
    pub caution: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegratorName {
    SymplecticEuler,
    VelocityVerlet,
}

/// Matter that shares a name, a material and its behaviours.
#[derive(Clone, Debug)]
pub struct Body {
    pub name: String,
    pub source: Source,
    /// ρ₀, kg/m³, over time.
    pub rest_density: Curve,
    /// Initial velocity, m/s.
    pub velocity: [f64; 3],
    /// Initial displacement from the lattice, at most this fraction of a spacing (0 to 0.5).
    pub jitter: f64,
    pub behaviours: Vec<BehaviourUse>,
    pub look: Look,
}

/// Where a body's particles come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// All of it, at the start.
    Shape(Shape),
    /// A jet through a round nozzle (a slit in 2-D).
    Jet(Jet),
}

#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Box {
        min: [f64; 3],
        max: [f64; 3],
    },
    Sphere {
        centre: [f64; 3],
        radius: f64,
    },
    /// One layer of particles: rows from `corner` along `along`, one after the other along `across`.
    Sheet {
        corner: [f64; 3],
        along: [f64; 3],
        across: [f64; 3],
    },
}

#[derive(Clone, Debug)]
pub struct Jet {
    /// Centre of the nozzle, m.
    pub at: [f64; 3],
    /// Unit vector of the flow.
    pub direction: [f64; 3],
    /// Radius of the nozzle, m.
    pub radius: f64,
    /// m/s.
    pub speed: f64,
    /// s; the jet runs while `from` ≤ t < `until`.
    pub from: f64,
    pub until: f64,
}

/// A region that removes particles.
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    pub shape: Shape,
}
