//! A scene, checked: what a run needs to know, with nothing left to go wrong.
//!
//! Text goes through three gates: parse (TOML with spans), check (everything a user can get wrong, all of it
//! reported at once), build (particles in place; cannot fail). [`load`] is the first two.

mod bodies;
mod check;
mod emitters;
mod estimate;
mod files;
mod forces;
mod json_schema;
pub mod keys;
mod looks;
mod markdown;
mod overrides;
mod picture;
mod pins;
mod problem;
mod read;
mod read_shape;
mod sections;
mod shapes;
mod solids;
mod suggest;
mod tree;
mod units;
mod values;

use std::sync::Arc;

use miette::NamedSource;
use sha2::{Digest, Sha256};

pub use emitters::{Fill, Jet, Opening, Profile, Rain, SurfaceSource};
pub use estimate::{
    StepLimit, at_most, automatic_sound_speed, fastest_flow, particle_count, solid_sample_count, sound_speed,
    step_limit, wall_sample_count,
};
pub use files::Files;
pub use forces::{Falloff, Force, ForceKind};
pub use json_schema::json_schema;
pub use markdown::key_tables;
pub use picture::{Camera, Colour, Container, Draw, Finish, Ground, Lamp, Look, Picture, Sky, Sun};
pub use pins::{Pin, PinTo, Where};
pub use problem::{Place, Problem, Problems, Severity};
pub use solids::{Free, Joint, JointKind, Mobility, Script, Shake, Solid, Weight};
pub use suggest::nearest as nearest_name;

use crate::behaviour::BehaviourUse;
use crate::geometry::{Mesh, Tree, Turned};
use crate::refine::{levels, spacing_of};
use crate::timeline::Curve;
use files::Shelf;
use read::{Context, Reader};
use tree::{Node, Value};
use values::Log;

/// Scalar columns a curve may run over, besides `time`.
pub const DRIVER_COLUMNS: &[&str] =
    &["density", "pressure", "speed", "concentration", "saturation", "x", "y", "z"];

/// Reads and checks a scene.
///
/// `name` is the file's name as shown to a user, `overrides` are `--set` texts such as `time.until=2`. All
/// problems are found at once; a scene that loads may still come with warnings. Files that the scene names are those
/// of the gallery: [`load_with`] finds others.
pub fn load(name: &str, text: &str, overrides: &[String]) -> Result<(Scene, Vec<Problem>), Problems> {
    load_with(name, text, overrides, &Files::embedded())
}

/// [`load`], with a place to find files that the scene names: meshes and terrain.
pub fn load_with(
    name: &str,
    text: &str,
    overrides: &[String],
    files: &Files,
) -> Result<(Scene, Vec<Problem>), Problems> {
    let source = Arc::new(NamedSource::new(name, text.to_owned()));
    let mut root = tree::parse(&source).map_err(|syntax| Problems::new(name, syntax))?;
    let log = Log::default();
    overrides::apply(&mut root, overrides, &log);
    let start = Place { source, span: 0..0 };
    let shelf = Shelf::new(files);
    let scene = read_scene(&root, name, &start, &log, &shelf);

    let mut problems = log.into_list();
    problems.sort_by_key(Problem::reading_order);
    let sound = problems.iter().all(|problem| problem.severity == Severity::Warning);
    match scene {
        Some(scene) if sound => Ok((Scene { hash: hash(&root, &shelf), ..scene }, problems)),
        _ => {
            if sound {
                // A gap in the checks: better an unhelpful error than a wrong scene.
                problems.push(Problem::error("incomplete", &start, "the scene could not be read"));
            }
            Err(Problems::new(name, problems))
        }
    }
}

fn read_scene(root: &Node, name: &str, start: &Place, log: &Log, files: &Shelf<'_>) -> Option<Scene> {
    let Value::Table(table) = &root.value else { return None };
    let dimensions = dimensions_of(table, start, files);
    let context = Context { log, dimensions, files };
    let root = Reader::new(&keys::ROOT, Some(table), start.clone(), context);
    let title = root.text("title").map_or_else(|| file_stem(name), str::to_owned);
    let dimensions_read = root.whole("dimensions");
    let seed = root.whole("seed");
    let world_reader = root.table("world");
    let world = world_reader.as_ref().map(sections::world);
    let sph_reader = root.table("sph");
    let mut sph = sph_reader.as_ref().and_then(sections::sph);
    let solver = root.table("solver").as_ref().and_then(sections::solver);
    let time_reader = root.table("time");
    let time = time_reader.as_ref().and_then(sections::time);

    let end_of_run = time.map(|time| time.until);
    // A spacing that could not be read has been reported: any will do.
    let spacing = sph.map_or(1.0, |sph| sph.spacing);
    let drafts: Vec<bodies::Draft> = root
        .tables("body")
        .iter()
        .enumerate()
        .map(|(index, body)| bodies::body(body, index, end_of_run, spacing))
        .collect();
    let refinements: Vec<Option<Refine>> =
        root.tables("refine").iter().map(|refine| bodies::refinement(refine, &drafts)).collect();
    let sinks: Vec<Option<Sink>> =
        root.tables("sink").iter().map(|sink| bodies::sink(sink, end_of_run)).collect();
    let forces: Vec<Option<Force>> =
        root.tables("force").iter().map(|force| forces::force(force, &drafts, time.as_ref())).collect();
    let slip = world.as_ref().and_then(|world| world.domain).map_or(0.0, |domain| domain.slip);
    let solids: Vec<solids::Draft> =
        root.tables("solid").iter().enumerate().map(|(k, solid)| solids::solid(solid, k, slip)).collect();
    solids::duplicate_names(&solids, &drafts, log);
    if let Some(domain) = world.as_ref().and_then(|world| world.domain) {
        solids::endless(&solids, &domain, dimensions, log);
    }
    let joints: Vec<Option<Joint>> =
        root.tables("joint").iter().map(|joint| solids::joint(joint, &solids)).collect();
    let pins: Vec<Option<Pin>> =
        root.tables("pin").iter().map(|pin| pins::pin(pin, &drafts, &solids, end_of_run)).collect();
    let pin_places: Vec<Place> = root.tables("pin").iter().map(|pin| pin.place("shape")).collect();
    let names: Vec<&str> = drafts.iter().map(|draft| draft.name.as_str()).collect();
    let interfaces: Vec<Option<Interface>> =
        root.tables("interface").iter().map(|one| bodies::interface(one, &names)).collect();
    let picture = looks::picture(&root, time.map(|time| time.frames_per_second));

    // The spacing of the finest particles is the world's: walls and time steps follow it.
    let coarsest = drafts.iter().map(|draft| draft.spacing).fold(0.0, f64::max);
    let finest_of = |(index, draft): (usize, &bodies::Draft)| {
        let rules = refinements.iter().flatten().filter(|one| one.is_for(index));
        let finest = rules.map(|one| one.finest).fold(draft.spacing, f64::min);
        spacing_of(draft.spacing, f64::from(levels(draft.spacing, finest, dimensions)), dimensions)
    };
    let finest = drafts.iter().enumerate().map(finest_of).fold(f64::INFINITY, f64::min);
    if let (Some(sph), true) = (&mut sph, finest.is_finite()) {
        sph.spacing = finest;
    }

    check::duplicate_names(&drafts, log);
    check::density_gains(&drafts, log);
    check::memories(&drafts, log);
    check::one_pressure(&drafts, log);
    check::one_memory(&drafts, log);
    check::sand(&drafts, log);
    check::springs_and_air(&drafts, log);
    check::stretch_limit(&drafts, log);
    check::pores(&drafts, log);
    if let Some(sph) = &sph {
        let geometry = check::Geometry { sph, coarsest, dimensions, log };
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

    let free_viscosity: Vec<bool> = drafts.iter().map(|draft| draft.free_viscosity).collect();
    let free_contact: Vec<bool> = drafts.iter().map(|draft| draft.free_contact).collect();
    if let Some(domain) = world.as_ref().and_then(|world| world.domain) {
        check::adhesion(&drafts, domain.walls, log);
    }

    if let (Some(solver), Some(domain)) = (&solver, world.as_ref().and_then(|world| world.domain)) {
        check::sizes(&drafts, finest, &domain, solver, !solids.is_empty(), log);
    }

    dimensions_read?;
    let world = world?;
    let mut scene = Scene {
        title,
        dimensions,
        gravity: world.gravity?,
        domain: world.domain?,
        sph: sph?,
        solver: solver?,
        time: time?,
        seed: seed?.unsigned_abs(),
        bodies: drafts.into_iter().map(|draft| draft.body).collect::<Option<_>>()?,
        interfaces: interfaces.into_iter().collect::<Option<_>>()?,
        refinements: refinements.into_iter().collect::<Option<_>>()?,
        sinks: sinks.into_iter().collect::<Option<_>>()?,
        forces: forces.into_iter().collect::<Option<_>>()?,
        solids: solids.into_iter().map(|draft| draft.solid).collect::<Option<_>>()?,
        joints: joints.into_iter().collect::<Option<_>>()?,
        pins: pins.into_iter().collect::<Option<_>>()?,
        picture: picture?,
        hash: String::new(),
    };
    bodies::choose_viscosities(&mut scene, &free_viscosity);
    bodies::choose_contacts(&mut scene, &free_contact);
    check::idle_pins(&scene, &pin_places, log);
    if let Some(reader) = &time_reader {
        check::integrator(&scene, reader, log);
        check::frame_count(&scene.time, &reader.place("until"), log);
        check::time_step(&scene, &reader.place("step"), &reader.place("minimum_step"), log);
    }
    Some(scene)
}

/// The dimensions decide how vectors are read, so they are looked up before anything is reported.
fn dimensions_of(table: &tree::Table, start: &Place, files: &Shelf<'_>) -> Dimensions {
    let silent = Context { log: &Log::default(), dimensions: Dimensions::Three, files };
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
/// run. A longer run goes on from a shorter one, and another light needs no other run. Of files, what they hold.
fn hash(root: &Node, files: &Shelf<'_>) -> String {
    let mut hasher = Sha256::new();
    identify(root, &mut Vec::new(), &mut hasher);
    files.used().iter().for_each(|(name, digest)| hasher.update(format!("{name:?} holds {digest:?}\n")));
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
                let top =
                    path.is_empty() || (path.len() == 2 && ["body", "solid"].contains(&path[0].as_str()));
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
    pub solver: Solver,
    pub time: Time,
    /// Seeds every pseudo-random choice of the run.
    pub seed: u64,
    pub bodies: Vec<Body>,
    /// Tensions between bodies.
    pub interfaces: Vec<Interface>,
    /// Where particles are finer than their body's.
    pub refinements: Vec<Refine>,
    /// Regions that remove what enters them.
    pub sinks: Vec<Sink>,
    /// Fields that push matter.
    pub forces: Vec<Force>,
    /// What is not made of particles.
    pub solids: Vec<Solid>,
    pub joints: Vec<Joint>,
    /// What holds particles.
    pub pins: Vec<Pin>,
    /// How it is looked at.
    pub picture: Picture,
    /// SHA-256 of all values that the run depends on (`time.until` left out), as hexadecimal digits.
    pub hash: String,
}

impl Scene {
    /// Distance at rest of the largest particles of any body, m. (The finest have that of [`Sph`].)
    pub fn coarsest(&self) -> f64 {
        self.bodies.iter().map(|body| body.spacing).fold(self.sph.spacing, f64::max)
    }
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
    /// How walls and solids push.
    pub walls: WallModel,
    /// Velocity of each side, m/s: a moving lid or belt. The wall itself stays in place.
    pub wall_velocity: [[[f64; 3]; 2]; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Open,
    Wall,
    Periodic,
}

/// How walls push, and what they do to the density; `docs/walls.md` compares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallModel {
    /// Boundary samples that continue the fluid, and press with the density of the fluid before them.
    Samples,
    /// The same, with densities and velocities that are summed like those of the fluid.
    Sph,
    /// Samples without volume that repel what comes close.
    LennardJones,
    /// Springs, dampers and friction against the surface.
    DiscreteElement,
}

impl WallModel {
    pub const NAMES: [(&'static str, WallModel); 4] = [
        ("samples", WallModel::Samples),
        ("sph", WallModel::Sph),
        ("lennard-jones", WallModel::LennardJones),
        ("discrete-element", WallModel::DiscreteElement),
    ];

    /// Whether samples push by contact alone, and have no volume.
    pub fn is_contact(self) -> bool {
        matches!(self, WallModel::LennardJones | WallModel::DiscreteElement)
    }
}

/// Discretisation.
#[derive(Clone, Copy, Debug)]
pub struct Sph {
    /// Distance between particles at rest, of the finest if bodies differ, m.
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

/// How well implicit solves must be done.
#[derive(Clone, Copy, Debug)]
pub struct Solver {
    /// Mean compression that the pressure may leave, as a fraction of the density.
    pub density_error: f32,
    /// Error of the momentum that implicit viscosity carries in a step, as a fraction of it.
    pub viscosity_error: f32,
    /// Strain that friction of grains may leave in a step where it could stop it.
    pub friction_error: f32,
    /// Even out the density by shifts of positions, and not through velocities.
    pub shift: bool,
    /// Most iterations of a solve.
    pub iterations: u32,
}

/// Clock settings.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// End of the run, s.
    pub until: f64,
    pub frames_per_second: f64,
    pub integrator: IntegratorName,
    /// Largest error that a step of `rk45` may make, m; a part of the spacing when not given.
    pub tolerance: Option<f64>,
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
    ExplicitEuler,
    VelocityVerlet,
    Verlet,
    Rk4,
    Rk45,
}

impl IntegratorName {
    pub const NAMES: [(&'static str, IntegratorName); 6] = [
        ("symplectic-euler", IntegratorName::SymplecticEuler),
        ("explicit-euler", IntegratorName::ExplicitEuler),
        ("velocity-verlet", IntegratorName::VelocityVerlet),
        ("verlet", IntegratorName::Verlet),
        ("rk4", IntegratorName::Rk4),
        ("rk45", IntegratorName::Rk45),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, one)| *one == self).map_or("", |(name, _)| name)
    }
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
    /// Distance between its particles when they are born, m.
    pub spacing: f64,
    /// Initial displacement from the lattice, at most this fraction of a spacing (0 to 0.5).
    pub jitter: f64,
    /// Of a sheet that holds its shape, m.
    pub thickness: f64,
    /// Sheets of particles on top of each other that it is made of.
    pub layers: usize,
    /// An emitter pauses while the body has so many particles.
    pub maximum: Option<usize>,
    pub behaviours: Vec<BehaviourUse>,
    pub look: Look,
}

impl Body {
    /// Whether it neither holds a shape nor is sand.
    pub fn is_fluid(&self) -> bool {
        !self.holds_shape() && !self.behaviours.iter().any(|used| used.schema.name == "sand")
    }

    /// Whether some behaviour keeps its particles in the places they have to each other.
    pub fn holds_shape(&self) -> bool {
        self.behaviours.iter().any(|used| crate::behaviours::holds_shape(used.schema))
    }
}

/// Particles that are halved where they are to be finer, and united where not.
#[derive(Clone, Debug)]
pub struct Refine {
    /// Places of the bodies it is for; all when absent.
    pub on: Option<Vec<u32>>,
    /// Smallest spacing, m.
    pub finest: f64,
    pub near: Near,
}

impl Refine {
    /// Whether it is for the body at this place.
    pub fn is_for(&self, body: usize) -> bool {
        self.on.as_ref().is_none_or(|bodies| bodies.contains(&(body as u32)))
    }
}

/// Where particles are finest.
#[derive(Clone, Debug)]
pub enum Near {
    /// Within a distance of a free surface, m.
    Surface { distance: f64 },
    /// Inside a shape.
    Region(Shape),
}

/// Where a body's particles come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// All of it, at the start.
    Shape(Shape),
    /// A stream through a nozzle.
    Jet(Jet),
    /// Drops at random places.
    Rain(Rain),
    /// A shape that is filled from the bottom up.
    Fill(Fill),
    /// Out of the surface of a shape.
    Surface(SurfaceSource),
}

/// A region, or a surface. What can be asked of it is in [`crate::geometry`].
#[derive(Clone, Debug)]
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
    /// One row of particles: a rope.
    Line {
        from: [f64; 3],
        to: [f64; 3],
    },
    /// Particles at the corners of a surface's triangles, and in its middle where `centre` says so.
    Net {
        of: Arc<Shape>,
        centre: bool,
    },
    /// All points within `radius` of a line.
    Capsule {
        from: [f64; 3],
        to: [f64; 3],
        radius: f64,
    },
    /// A cone, cut off at both ends; a cylinder where both radii are the same.
    Cone {
        from: [f64; 3],
        to: [f64; 3],
        radii: [f64; 2],
    },
    /// A ring: all points within `tube` of a circle across `axis`, which has length 1.
    Torus {
        centre: [f64; 3],
        axis: [f64; 3],
        radius: f64,
        tube: f64,
    },
    /// Everything behind a plane; `normal` has length 1 and points out of it.
    Plane {
        point: [f64; 3],
        normal: [f64; 3],
    },
    /// One layer of particles, in rings about an axis; and its surface.
    Turned {
        curve: Arc<Turned>,
        mesh: Arc<Mesh>,
    },
    /// Closed: what it encloses. Open: a thin sheet.
    Mesh(Arc<Mesh>),
    /// Made of other shapes.
    Tree(Arc<Tree>),
}

/// Where two bodies touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interface {
    /// Places of the two in the scene.
    pub between: [usize; 2],
    /// N/m.
    pub tension: f64,
}

/// A region that removes particles.
#[derive(Clone, Debug)]
pub struct Sink {
    pub shape: Shape,
    /// s; it takes particles while `from` ≤ t < `until`.
    pub from: f64,
    pub until: f64,
}
