//! Every key of a scene file as data: the reader, the JSON Schema and the tables in `docs/scene-format.md` are all
//! made from what stands here. (Behaviours bring their own schemas, materials their own list.)

use crate::behaviour::Unit;

/// A table of the scene file.
#[derive(Debug)]
pub struct Section {
    /// As a user would call it: `[sph]`.
    pub name: &'static str,
    pub meaning: &'static str,
    pub keys: &'static [Key],
}

impl Section {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub meaning: &'static str,
    pub want: Want,
    pub fallback: Fallback,
}

/// What a key takes.
#[derive(Debug)]
pub enum Want {
    Text,
    Whole {
        min: i64,
        max: i64,
    },
    Number(Range),
    /// A number, or keys over time.
    Curve(Range),
    Vector(Unit),
    /// A list of vectors.
    Vectors(Unit),
    /// A vector with three components even in a flat world: lights stand in front of it.
    Spatial(Unit),
    /// A vector, or keys over time; three components even in a flat world.
    Motion(Unit),
    /// A vector of the world, or keys over time.
    Path(Unit),
    /// A list of texts; the word says of what.
    Texts(&'static str),
    /// "#rrggbb", or three numbers from 0 to 1.
    Colour,
    /// Two whole numbers.
    Size {
        min: i64,
        max: i64,
    },
    Flag,
    Word(&'static [&'static str]),
    Words(&'static [&'static str]),
    /// The name of a material.
    Material,
    /// For each named side of the box, a vector.
    SideVectors(Unit),
    Table(&'static Section),
    /// A table that holds exactly one of its keys.
    OneOf(&'static Section),
    /// A list of such tables.
    ManyOf(&'static Section),
    /// The names of two bodies.
    TwoBodies,
    /// `[[name]]`, any number of times.
    Tables(&'static Section),
    /// Tables named after behaviours.
    Behaviours,
}

/// Numbers from `min` to `max`, both allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub unit: Unit,
    pub min: f64,
    pub max: f64,
}

const fn range(unit: Unit, min: f64, max: f64) -> Range {
    Range { unit, min, max }
}

/// What happens when a key is not written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fallback {
    Required,
    Number(f64),
    Vector([f64; 3]),
    Flag(bool),
    Word(&'static str),
    /// Worked out from the rest of the scene; the text says how.
    Derived(&'static str),
}

const fn key(name: &'static str, want: Want, fallback: Fallback, meaning: &'static str) -> Key {
    Key { name, meaning, want, fallback }
}

/// Names of the sides of the box, and of both sides of an axis at once.
pub const SIDES: &[&str] = &["-x", "+x", "-y", "+y", "-z", "+z", "x", "y", "z"];
pub const AXES: &[&str] = &["x", "y", "z"];
/// In the order of [`super::KernelName::NAMES`]; a test compares the two.
pub const KERNELS: &[&str] = &["cubic-spline", "poly6", "spiky", "viscosity", "desbrun", "wendland"];
/// In the order of [`super::PressureForm::NAMES`]; likewise.
pub const PRESSURE_FORMS: &[&str] = &["quotients", "sum"];
/// In the order of [`super::WallModel::NAMES`]; likewise.
pub const WALLS: &[&str] = &["samples", "sph", "lennard-jones", "discrete-element"];
/// In the order of [`super::IntegratorName::NAMES`]; likewise.
pub const INTEGRATORS: &[&str] =
    &["symplectic-euler", "explicit-euler", "velocity-verlet", "verlet", "rk4", "rk45"];
pub const DENSITIES: &[&str] = &["plain", "normalised"];

/// In the order of [`super::Draw::NAMES`]; likewise.
pub const DRAWS: &[&str] = &["surface", "particles", "grains", "sheet", "yarn", "rope", "mesh", "nothing"];
/// In the order of [`super::Finish::NAMES`]; likewise.
pub const FINISHES: &[&str] = &["clear", "diffuse", "glossy", "metal", "wax", "glow"];
/// Fields that surfaces are cut from: the picture crate's; a test of the command compares.
pub const SURFACES: &[&str] = &["anisotropic", "smoothed", "colour", "zhu-bridson", "bayraktar"];
/// Kinds of sky; the command has a test that each is one of its own.
pub const SKIES: &[&str] = &["daylight", "overcast", "studio", "dusk", "uniform"];
pub const CONTAINERS: &[&str] = &["edges", "glass", "nothing"];

/// Times: far longer than anyone will wait, and short enough for any step.
const TIME: Range = range(Unit::Second, 0.0, 1e6);
/// Distances of particles: from microns to hills.
const SPACING: Range = range(Unit::Metre, 1e-6, 1e3);
const POSITIVE_TIME: Range = range(Unit::Second, 1e-12, 1e6);

pub static ROOT: Section = Section {
    name: "the scene",
    meaning: "Keys at the top of the file, before any section.",
    keys: &[
        key("title", Want::Text, Fallback::Derived("the file's name"), "shown in lists and above plots"),
        key("dimensions", Want::Whole { min: 2, max: 3 }, Fallback::Number(3.0), "2 or 3; in 2-D, z stays 0"),
        key(
            "seed",
            Want::Whole { min: 0, max: i64::MAX },
            Fallback::Number(1.0),
            "seeds every pseudo-random choice of the run",
        ),
        key("world", Want::Table(&WORLD), Fallback::Derived("all defaults"), "where everything happens"),
        key("sph", Want::Table(&SPH), Fallback::Required, "how matter is cut into particles"),
        key(
            "solver",
            Want::Table(&SOLVER),
            Fallback::Derived("all defaults"),
            "how well implicit solves are done",
        ),
        key("time", Want::Table(&TIMES), Fallback::Derived("all defaults"), "the clock"),
        key("body", Want::Tables(&BODY), Fallback::Required, "matter; at least one"),
        key(
            "interface",
            Want::Tables(&INTERFACE),
            Fallback::Derived("the difference of the two surface tensions"),
            "tensions between bodies",
        ),
        key(
            "refine",
            Want::Tables(&REFINE),
            Fallback::Derived("none"),
            "where particles are finer than their body's",
        ),
        key("sink", Want::Tables(&SINK), Fallback::Derived("none"), "regions that remove what enters them"),
        key("force", Want::Tables(&FORCE), Fallback::Derived("none"), "fields that push matter"),
        key(
            "solid",
            Want::Tables(&SOLID),
            Fallback::Derived("none"),
            "obstacles, containers, things that float",
        ),
        key("joint", Want::Tables(&JOINT), Fallback::Derived("none"), "what holds solids together"),
        key(
            "pin",
            Want::Tables(&PIN),
            Fallback::Derived("none"),
            "what holds particles of cloth and elastic bodies",
        ),
        key("picture", Want::Table(&PICTURE), Fallback::Derived("all defaults"), "how films are made"),
        key("camera", Want::Table(&CAMERA), Fallback::Derived("all defaults"), "where films are seen from"),
        key("sky", Want::Table(&SKY), Fallback::Derived("all defaults"), "light from all around"),
        key("sun", Want::Table(&SUN), Fallback::Derived("all defaults"), "light from one side"),
        key("ground", Want::Table(&GROUND), Fallback::Derived("all defaults"), "what everything stands on"),
        key("lamp", Want::Tables(&LAMP), Fallback::Derived("none"), "rectangles that shine"),
    ],
};

/// Keys of a scene and of a body that change pictures only: not part of what is simulated.
pub const LOOKS_ONLY: &[&str] = &["title", "picture", "camera", "sky", "sun", "ground", "lamp", "look"];

pub static WORLD: Section = Section {
    name: "[world]",
    meaning: "The surroundings.",
    keys: &[
        key(
            "gravity",
            Want::Vector(Unit::MetrePerSecondSquared),
            Fallback::Vector([0.0, -9.81, 0.0]),
            "acceleration of free fall",
        ),
        key(
            "box",
            Want::Table(&BOX),
            Fallback::Derived("no box: the world goes on for ever"),
            "a container; its sides are walls unless said otherwise",
        ),
        key(
            "slip",
            Want::Number(range(Unit::One, 0.0, 1.0)),
            Fallback::Number(0.0),
            "0: fluid sticks to the walls; 1: it glides freely",
        ),
        key(
            "walls",
            Want::Word(WALLS),
            Fallback::Word("samples"),
            "how walls push: `docs/walls.md` says what each is good for",
        ),
        key(
            "wall_velocity",
            Want::SideVectors(Unit::MetrePerSecond),
            Fallback::Derived("walls at rest"),
            "walls that move along themselves, such as a lid: `{ \"+y\" = [1, 0, 0] }`",
        ),
    ],
};

pub static BOX: Section = Section {
    name: "world.box",
    meaning: "An axis-aligned container.",
    keys: &[
        key("min", Want::Vector(Unit::Metre), Fallback::Required, "lower corner"),
        key("max", Want::Vector(Unit::Metre), Fallback::Required, "upper corner"),
        key(
            "open",
            Want::Words(SIDES),
            Fallback::Derived("none"),
            "sides without a wall: \"+y\" is the upper one, \"y\" means both",
        ),
        key(
            "periodic",
            Want::Words(AXES),
            Fallback::Derived("none"),
            "axes on which what leaves on one side comes back on the other",
        ),
    ],
};

pub static SPH: Section = Section {
    name: "[sph]",
    meaning: "How matter is cut into particles.",
    keys: &[
        key(
            "spacing",
            Want::Number(SPACING),
            Fallback::Required,
            "distance between particles at rest: halve it for 8 times the particles",
        ),
        key(
            "support",
            Want::Number(range(Unit::One, 1.2, 4.0)),
            Fallback::Number(2.0),
            "reach of a particle's influence, in spacings",
        ),
        key(
            "kernel",
            Want::Word(KERNELS),
            Fallback::Word("cubic-spline"),
            "sets the density and the pressure kernel at once",
        ),
        key("density_kernel", Want::Word(KERNELS), Fallback::Derived("`kernel`"), "weighs the density sum"),
        key(
            "pressure_kernel",
            Want::Word(KERNELS),
            Fallback::Derived("`kernel`"),
            "its slope pushes particles apart",
        ),
        key(
            "viscosity_kernel",
            Want::Word(KERNELS),
            Fallback::Word("viscosity"),
            "its Laplacian carries friction",
        ),
        key(
            "density",
            Want::Word(DENSITIES),
            Fallback::Word("plain"),
            "\"normalised\" divides the density by the kernel sum, so that it does not drop at a free surface",
        ),
        key(
            "pressure_form",
            Want::Word(PRESSURE_FORMS),
            Fallback::Word("quotients"),
            "the symmetric pressure force: p/ρ² of both added, or the sum of both pressures over ρρ",
        ),
    ],
};

pub static SOLVER: Section = Section {
    name: "[solver]",
    meaning: "How well implicit solves are done.",
    keys: &[
        key(
            "density_error",
            Want::Number(range(Unit::One, 1e-7, 0.1)),
            Fallback::Number(1e-3),
            "compression that a step of `incompressible` may leave (root mean square; five times as much for any one particle), as a fraction of the density",
        ),
        key(
            "viscosity_error",
            Want::Number(range(Unit::One, 1e-6, 0.1)),
            Fallback::Number(1e-3),
            "error of the momentum that `implicit-viscosity` carries in a step, as a fraction of it; and that `elastic`, `shell` and `sph-cloth` do",
        ),
        key(
            "friction_error",
            Want::Number(range(Unit::One, 1e-9, 0.1)),
            Fallback::Number(3e-6),
            "strain that the friction of `sand` may leave in a step, where it could be stopped (root mean square)",
        ),
        key(
            "shift",
            Want::Flag,
            Fallback::Flag(false),
            "even out the density of `incompressible` by shifts of positions, not through velocities: for flows without a free surface",
        ),
        key(
            "iterations",
            Want::Whole { min: 1, max: 100_000 },
            Fallback::Number(200.0),
            "most iterations of a solve",
        ),
    ],
};

pub static TIMES: Section = Section {
    name: "[time]",
    meaning: "The clock.",
    keys: &[
        key("until", Want::Number(POSITIVE_TIME), Fallback::Number(2.0), "end of the run"),
        key(
            "frames_per_second",
            Want::Number(range(Unit::PerSecond, 1e-3, 1e6)),
            Fallback::Number(30.0),
            "frames written for each second of simulated time",
        ),
        key(
            "integrator",
            Want::Word(INTEGRATORS),
            Fallback::Word("symplectic-euler"),
            "how time advances; [integrators.md](integrators.md) compares them",
        ),
        key(
            "tolerance",
            Want::Number(range(Unit::Metre, 1e-12, 1e6)),
            Fallback::Derived("10⁻⁴ of the spacing"),
            "error that a step of `rk45` may make in a position",
        ),
        key("step", Want::Number(POSITIVE_TIME), Fallback::Derived("adapts itself"), "a fixed time step"),
        key(
            "maximum_step",
            Want::Number(POSITIVE_TIME),
            Fallback::Derived("a frame's length"),
            "the adaptive step never exceeds this",
        ),
        key(
            "minimum_step",
            Want::Number(POSITIVE_TIME),
            Fallback::Number(1e-8),
            "the run stops with an error when stability asks for less",
        ),
        key(
            "caution",
            Want::Number(range(Unit::One, 0.01, 2.0)),
            Fallback::Number(1.0),
            "multiplies every limit of the adaptive step: below 1 is more careful",
        ),
    ],
};

pub static INTERFACE: Section = Section {
    name: "[[interface]]",
    meaning: "Where two bodies touch. Surface tension models act on it: see docs/surface-tension.md.",
    keys: &[
        key("between", Want::TwoBodies, Fallback::Required, "their names: `[\"oil\", \"water\"]`"),
        key(
            "tension",
            Want::Number(range(Unit::NewtonPerMetre, 0.0, 1e3)),
            Fallback::Required,
            "interface tension of the two",
        ),
    ],
};

pub static BODY: Section = Section {
    name: "[[body]]",
    meaning: "Matter that shares a name, a material and its behaviours.",
    keys: &[
        key(
            "name",
            Want::Text,
            Fallback::Derived("`body-1`, `body-2`, … in order"),
            "letters, digits, `-` and `_`; used by `--set` and in frames",
        ),
        key("material", Want::Material, Fallback::Derived("none"), "brings density and behaviours along"),
        key(
            "density",
            Want::Curve(range(Unit::KilogramPerCubicMetre, 1e-3, 1e5)),
            Fallback::Derived("the material's, or 1000"),
            "rest density ρ₀; may change over time",
        ),
        key(
            "shape",
            Want::OneOf(&SHAPE),
            Fallback::Derived("this or `emitter`"),
            "filled with particles at the start",
        ),
        key(
            "emitter",
            Want::OneOf(&EMITTER),
            Fallback::Derived("this or `shape`"),
            "adds particles while it runs",
        ),
        key(
            "velocity",
            Want::Vector(Unit::MetrePerSecond),
            Fallback::Vector([0.0; 3]),
            "initial velocity; an emitter has its own `speed` instead",
        ),
        key(
            "maximum",
            Want::Whole { min: 1, max: 200_000_000 },
            Fallback::Derived("none"),
            "most particles an emitter's body may have: it pauses there until some are gone",
        ),
        key(
            "spacing",
            Want::Number(SPACING),
            Fallback::Derived("`sph.spacing`"),
            "distance between its particles at rest, where it is to be finer or coarser than other bodies",
        ),
        key(
            "thickness",
            Want::Number(LENGTH),
            Fallback::Derived("a spacing"),
            "of a sheet that holds its shape: its mass is density × area × thickness",
        ),
        key(
            "layers",
            Want::Whole { min: 1, max: 9 },
            Fallback::Number(1.0),
            "of particles in a sheet that holds its shape, `thickness` apart from the first to the last: knitwear has 3",
        ),
        key(
            "jitter",
            Want::Number(range(Unit::One, 0.0, 0.5)),
            Fallback::Number(0.0),
            "random initial displacement, at most this fraction of a spacing",
        ),
        key(
            "behaviours",
            Want::Behaviours,
            Fallback::Derived("`gravity`, and what the material brings"),
            "laws the body follows, each `[body.behaviours.NAME]`",
        ),
        key("look", Want::Table(&LOOK), Fallback::Derived("the material's"), "how it looks in pictures"),
    ],
};

/// Lengths of things in a scene.
const LENGTH: Range = range(Unit::Metre, 1e-9, 1e6);
/// Fillets: 0 for none.
const SMOOTH: Range = range(Unit::Metre, 0.0, 1e3);

/// Shapes are made of shapes: those that are refer back to this.
pub static SHAPE: Section = Section {
    name: "shape",
    meaning: "A region; exactly one of these.",
    keys: &[
        key("box", Want::Table(&SHAPE_BOX), Fallback::Derived(""), "an axis-aligned box"),
        key("sphere", Want::Table(&SPHERE), Fallback::Derived(""), "a ball; a disc in 2-D"),
        key("cylinder", Want::Table(&CYLINDER), Fallback::Derived(""), "a round rod with flat ends"),
        key("capsule", Want::Table(&CAPSULE), Fallback::Derived(""), "a round rod with round ends"),
        key("cone", Want::Table(&CONE), Fallback::Derived(""), "a cone, or one cut off: a cup, a funnel"),
        key("torus", Want::Table(&TORUS), Fallback::Derived(""), "a ring"),
        key("plane", Want::Table(&PLANE), Fallback::Derived(""), "everything behind a plane; not for bodies"),
        key("sheet", Want::Table(&SHEET), Fallback::Derived(""), "one layer of particles; 3-D only"),
        key("line", Want::Table(&LINE), Fallback::Derived(""), "one row of particles: a rope; for bodies"),
        key("net", Want::Table(&NET), Fallback::Derived(""), "particles on a surface; for bodies, 3-D only"),
        key(
            "turned",
            Want::Table(&TURNED),
            Fallback::Derived(""),
            "one layer of particles: a curve turned about an axis; 3-D only",
        ),
        key("mesh", Want::Table(&MESH), Fallback::Derived(""), "triangles from a file; 3-D only"),
        key("heightfield", Want::Table(&HEIGHTFIELD), Fallback::Derived(""), "terrain; 3-D only"),
        key("union", Want::Table(&UNION), Fallback::Derived(""), "several shapes as one"),
        key("difference", Want::Table(&DIFFERENCE), Fallback::Derived(""), "the first without the others"),
        key("intersection", Want::Table(&INTERSECTION), Fallback::Derived(""), "what all have in common"),
        key("shell", Want::Table(&SHELL), Fallback::Derived(""), "the skin of another shape: it is hollow"),
        key("round", Want::Table(&ROUND), Fallback::Derived(""), "another shape, grown and with round edges"),
        key("place", Want::Table(&PLACE), Fallback::Derived(""), "another shape, scaled, turned and moved"),
    ],
};

pub static CYLINDER: Section = Section {
    name: "shape.cylinder",
    meaning: "A round rod with flat ends; a slanted rectangle in 2-D.",
    keys: &[
        key("from", Want::Vector(Unit::Metre), Fallback::Required, "middle of one end"),
        key("to", Want::Vector(Unit::Metre), Fallback::Required, "middle of the other"),
        key("radius", Want::Number(LENGTH), Fallback::Required, "its radius"),
    ],
};

pub static CAPSULE: Section = Section {
    name: "shape.capsule",
    meaning: "A round rod with round ends: all that is within `radius` of a line.",
    keys: &[
        key("from", Want::Vector(Unit::Metre), Fallback::Required, "one end of the line"),
        key("to", Want::Vector(Unit::Metre), Fallback::Required, "the other"),
        key("radius", Want::Number(LENGTH), Fallback::Required, "its radius"),
    ],
};

pub static CONE: Section = Section {
    name: "shape.cone",
    meaning: "A cone, or one that is cut off.",
    keys: &[
        key("from", Want::Vector(Unit::Metre), Fallback::Required, "middle of its base"),
        key("to", Want::Vector(Unit::Metre), Fallback::Required, "its tip, or the middle of its other end"),
        key("radius", Want::Number(range(Unit::Metre, 0.0, 1e6)), Fallback::Required, "radius at `from`"),
        key("top", Want::Number(range(Unit::Metre, 0.0, 1e6)), Fallback::Number(0.0), "radius at `to`"),
    ],
};

pub static TORUS: Section = Section {
    name: "shape.torus",
    meaning: "A ring: all that is within `tube` of a circle.",
    keys: &[
        key("centre", Want::Vector(Unit::Metre), Fallback::Required, "its middle"),
        key(
            "axis",
            Want::Spatial(Unit::One),
            Fallback::Vector([0.0, 1.0, 0.0]),
            "the way through its hole; in 2-D always across the plane",
        ),
        key("radius", Want::Number(LENGTH), Fallback::Required, "of the circle"),
        key("tube", Want::Number(LENGTH), Fallback::Required, "radius of the ring's tube"),
    ],
};

pub static PLANE: Section = Section {
    name: "shape.plane",
    meaning: "Everything behind a plane.",
    keys: &[
        key("point", Want::Vector(Unit::Metre), Fallback::Required, "any point of the plane"),
        key(
            "normal",
            Want::Vector(Unit::One),
            Fallback::Required,
            "points out of the shape; any length but 0",
        ),
    ],
};

/// Turning, for meshes and for whatever is placed.
pub static ROTATE: Section = Section {
    name: "rotate",
    meaning: "A turn about an axis through the shape's origin, counterclockwise as seen from the axis's tip.",
    keys: &[
        key(
            "axis",
            Want::Spatial(Unit::One),
            Fallback::Derived("[0, 1, 0]; in 2-D [0, 0, 1]"),
            "any length but 0",
        ),
        key("degrees", Want::Number(range(Unit::Degree, -3600.0, 3600.0)), Fallback::Required, "how far"),
    ],
};

const SCALE: Want = Want::Number(range(Unit::One, 1e-6, 1e6));

pub static MESH: Section = Section {
    name: "shape.mesh",
    meaning: "Triangles from a file.",
    keys: &[
        key(
            "file",
            Want::Text,
            Fallback::Required,
            "OBJ, PLY, STL, glTF or GLB; looked for beside the scene, then where the command was given",
        ),
        key("scale", SCALE, Fallback::Number(1.0), "multiplies its lengths: 0.001 for a file in millimetres"),
        key("rotate", Want::Table(&ROTATE), Fallback::Derived("not turned"), "turned after it was scaled"),
        key(
            "at",
            Want::Vector(Unit::Metre),
            Fallback::Vector([0.0; 3]),
            "where the file's origin comes to lie",
        ),
        key("flip", Want::Flag, Fallback::Flag(false), "turns a mesh that is inside out"),
    ],
};

pub static HEIGHTFIELD: Section = Section {
    name: "shape.heightfield",
    meaning: "Terrain over a rectangle. Its lowest point lies at the bottom of a box, its highest at the top.",
    keys: &[
        key(
            "min",
            Want::Vector(Unit::Metre),
            Fallback::Required,
            "lower corner of the box around its surface",
        ),
        key("max", Want::Vector(Unit::Metre), Fallback::Required, "upper corner"),
        key(
            "file",
            Want::Text,
            Fallback::Derived("this or `noise`"),
            "heights: a grey picture (PNG, PGM), or rows of numbers; columns along x, rows along z",
        ),
        key("noise", Want::Table(&NOISE), Fallback::Derived("this or `file`"), "hills by chance"),
        key(
            "base",
            Want::Number(range(Unit::Metre, -1e6, 1e6)),
            Fallback::Derived("a tenth of its longer side below `min`"),
            "y of the floor it stands on",
        ),
    ],
};

pub static NOISE: Section = Section {
    name: "shape.heightfield.noise",
    meaning: "Hills of several sizes on top of each other.",
    keys: &[
        key("size", Want::Number(LENGTH), Fallback::Required, "distance between the largest hills"),
        key(
            "octaves",
            Want::Whole { min: 1, max: 10 },
            Fallback::Number(4.0),
            "sizes of hills, each half the last",
        ),
        key(
            "roughness",
            Want::Number(range(Unit::One, 0.0, 1.0)),
            Fallback::Number(0.5),
            "height of each size over that of the last",
        ),
        key(
            "seed",
            Want::Whole { min: 0, max: i64::MAX },
            Fallback::Number(1.0),
            "other numbers, other hills",
        ),
    ],
};

pub static UNION: Section = Section {
    name: "shape.union",
    meaning: "Several shapes as one.",
    keys: &[
        key("of", Want::ManyOf(&SHAPE), Fallback::Required, "`[{ sphere = { … } }, { box = { … } }]`"),
        key("smooth", Want::Number(SMOOTH), Fallback::Number(0.0), "width of the fillet where they meet"),
    ],
};

pub static DIFFERENCE: Section = Section {
    name: "shape.difference",
    meaning: "The first shape without the others.",
    keys: &[
        key("of", Want::ManyOf(&SHAPE), Fallback::Required, "what is cut, then what it is cut with"),
        key(
            "smooth",
            Want::Number(SMOOTH),
            Fallback::Number(0.0),
            "how far the edges of the cut are rounded",
        ),
    ],
};

pub static INTERSECTION: Section = Section {
    name: "shape.intersection",
    meaning: "What all the shapes have in common.",
    keys: &[
        key("of", Want::ManyOf(&SHAPE), Fallback::Required, "at least one"),
        key("smooth", Want::Number(SMOOTH), Fallback::Number(0.0), "how far the edges are rounded"),
    ],
};

pub static SHELL: Section = Section {
    name: "shape.shell",
    meaning: "The skin of a shape.",
    keys: &[
        key("of", Want::OneOf(&SHAPE), Fallback::Required, "what is hollowed out"),
        key(
            "thickness",
            Want::Number(LENGTH),
            Fallback::Required,
            "inwards from the surface; of a sheet or an open mesh, half to each side",
        ),
    ],
};

pub static ROUND: Section = Section {
    name: "shape.round",
    meaning: "A shape that is grown by a radius, so that its edges are round.",
    keys: &[
        key("of", Want::OneOf(&SHAPE), Fallback::Required, "what is grown"),
        key("radius", Want::Number(LENGTH), Fallback::Required, "how far"),
    ],
};

pub static PLACE: Section = Section {
    name: "shape.place",
    meaning: "A shape elsewhere: scaled, then turned, then moved.",
    keys: &[
        key("of", Want::OneOf(&SHAPE), Fallback::Required, "what is placed"),
        key("at", Want::Vector(Unit::Metre), Fallback::Vector([0.0; 3]), "where its origin comes to lie"),
        key("rotate", Want::Table(&ROTATE), Fallback::Derived("not turned"), "about its origin"),
        key("scale", SCALE, Fallback::Number(1.0), "multiplies its lengths"),
    ],
};

pub static TURNED: Section = Section {
    name: "shape.turned",
    meaning: "A bowl, a vase, a dome: one layer of particles on the surface that a curve makes when it is turned about an axis.",
    keys: &[
        key(
            "profile",
            Want::Vectors(Unit::Metre),
            Fallback::Required,
            "points of the curve, two at least: `[[0, 0, 0], [0.1, 0.02, 0], [0.15, 0.1, 0]]`; only their distance from the axis and their height along it matter",
        ),
        key("centre", Want::Vector(Unit::Metre), Fallback::Vector([0.0; 3]), "a point of the axis"),
        key(
            "axis",
            Want::Vector(Unit::One),
            Fallback::Vector([0.0, 1.0, 0.0]),
            "its direction; any length but 0",
        ),
    ],
};

pub static SHEET: Section = Section {
    name: "shape.sheet",
    meaning: "A parallelogram of particles, one spacing thick, with rows along `along` that follow each other along `across`.",
    keys: &[
        key("corner", Want::Vector(Unit::Metre), Fallback::Required, "where its first particle stands"),
        key("along", Want::Vector(Unit::Metre), Fallback::Required, "from there to the end of the first row"),
        key(
            "across",
            Want::Vector(Unit::Metre),
            Fallback::Required,
            "from there to the start of the last row",
        ),
    ],
};

pub static LINE: Section = Section {
    name: "shape.line",
    meaning: "A row of particles, as wide as it is thick: a rope or a chain, for bodies that hold a shape.",
    keys: &[
        key("from", Want::Vector(Unit::Metre), Fallback::Required, "where its first particle stands"),
        key("to", Want::Vector(Unit::Metre), Fallback::Required, "and its last one"),
    ],
};

pub static NET: Section = Section {
    name: "shape.net",
    meaning: "Particles at the corners of a surface's triangles: cloth of any cut, or the skin of a soft body. A mesh keeps its own triangles; other shapes get some of about a spacing.",
    keys: &[
        key("of", Want::OneOf(&SHAPE), Fallback::Required, "what has the surface"),
        key(
            "centre",
            Want::Flag,
            Fallback::Flag(false),
            "another particle in its middle, which springs hold to all others; the body then has the mass of what it encloses",
        ),
    ],
};

pub static SHAPE_BOX: Section = Section {
    name: "shape.box",
    meaning: "An axis-aligned box.",
    keys: &[
        key("min", Want::Vector(Unit::Metre), Fallback::Required, "lower corner"),
        key("max", Want::Vector(Unit::Metre), Fallback::Required, "upper corner"),
    ],
};

pub static SPHERE: Section = Section {
    name: "shape.sphere",
    meaning: "A ball; a disc in 2-D.",
    keys: &[
        key("centre", Want::Vector(Unit::Metre), Fallback::Required, "its middle"),
        key("radius", Want::Number(range(Unit::Metre, 1e-9, 1e6)), Fallback::Required, "its radius"),
    ],
};

pub static EMITTER: Section = Section {
    name: "emitter",
    meaning: "A source of particles; exactly one of these.",
    keys: &[
        key("jet", Want::Table(&JET), Fallback::Derived(""), "a stream through a nozzle (a slit in 2-D)"),
        key("rain", Want::Table(&RAIN), Fallback::Derived(""), "drops at random places of a region"),
        key("fill", Want::Table(&FILL), Fallback::Derived(""), "a shape that is filled from the bottom up"),
        key("surface", Want::Table(&SURFACE), Fallback::Derived(""), "out of the surface of a shape"),
    ],
};

/// Speeds, from a standstill on.
const SPEED: Range = range(Unit::MetrePerSecond, 0.0, 1e4);
const ACCELERATION: Range = range(Unit::MetrePerSecondSquared, 0.0, 1e9);
const RELAXATION_TIME: Range = range(Unit::Second, 1e-6, 1e9);

const FROM: Key = key("from", Want::Number(TIME), Fallback::Number(0.0), "when it starts");
const UNTIL: Key = key("until", Want::Number(TIME), Fallback::Derived("the end of the run"), "when it stops");
const RADIUS: Key = key(
    "radius",
    Want::Number(LENGTH),
    Fallback::Derived("this, or `width` and `height`"),
    "of a round opening; half a slit in 2-D",
);
const WIDTH: Key = key(
    "width",
    Want::Number(LENGTH),
    Fallback::Derived("this, or `radius`"),
    "of a rectangle, along its level side (x where it points up or down); length of a slit in 2-D",
);
const HEIGHT: Key = key(
    "height",
    Want::Number(LENGTH),
    Fallback::Derived("with `width`"),
    "of a rectangle, along its other side; 3-D only",
);

pub const PROFILES: &[&str] = &["flat", "parabolic"];
pub const FALLOFFS: &[&str] = &["smooth", "flat"];

pub static JET: Section = Section {
    name: "emitter.jet",
    meaning: "A stream through a nozzle (a slit in 2-D).",
    keys: &[
        key("at", Want::Path(Unit::Metre), Fallback::Required, "centre of the nozzle; may move"),
        key("direction", Want::Vector(Unit::One), Fallback::Required, "where it points; any length but 0"),
        RADIUS,
        WIDTH,
        HEIGHT,
        key("speed", Want::Curve(SPEED), Fallback::Required, "mean speed of the flow; may change over time"),
        key(
            "profile",
            Want::Word(PROFILES),
            Fallback::Word("flat"),
            "the same speed all over the nozzle, or that of developed laminar flow, 0 at its rim",
        ),
        FROM,
        UNTIL,
    ],
};

pub static RAIN: Section = Section {
    name: "emitter.rain",
    meaning: "Drops at random places of a disc or a rectangle (a slit in 2-D).",
    keys: &[
        key("at", Want::Path(Unit::Metre), Fallback::Required, "middle of the region; may move"),
        key(
            "direction",
            Want::Vector(Unit::One),
            Fallback::Vector([0.0, -1.0, 0.0]),
            "where drops fall; the region lies across it",
        ),
        RADIUS,
        WIDTH,
        HEIGHT,
        key(
            "rate",
            Want::Curve(range(Unit::MetrePerSecond, 0.0, 1e3)),
            Fallback::Required,
            "volume for each area and time: 1 mm/h is a litre an hour on a square metre; may change over time",
        ),
        key("speed", Want::Number(SPEED), Fallback::Number(0.0), "of the drops when they are born"),
        key(
            "diameter",
            Want::Number(LENGTH),
            Fallback::Derived("one particle"),
            "of a drop; smaller ones than a particle are a particle, and fewer",
        ),
        FROM,
        UNTIL,
    ],
};

pub static FILL: Section = Section {
    name: "emitter.fill",
    meaning: "A shape that is filled from the bottom up, with matter at rest.",
    keys: &[
        key("shape", Want::OneOf(&SHAPE), Fallback::Required, "what is filled"),
        key(
            "rate",
            Want::Curve(range(Unit::CubicMetrePerSecond, 0.0, 1e9)),
            Fallback::Required,
            "volume for each time (m²/s in 2-D); may change over time",
        ),
        key(
            "level",
            Want::Number(range(Unit::Metre, -1e9, 1e9)),
            Fallback::Derived("all of the shape"),
            "height up to which it is filled: y, or the distance against gravity from the origin",
        ),
        FROM,
        UNTIL,
    ],
};

pub static SURFACE: Section = Section {
    name: "emitter.surface",
    meaning: "Out of the surface of a shape, along its normal.",
    keys: &[
        key("shape", Want::OneOf(&SHAPE), Fallback::Required, "whose surface"),
        key("speed", Want::Curve(SPEED), Fallback::Required, "of what leaves; may change over time"),
        key(
            "rate",
            Want::Curve(range(Unit::MetrePerSecond, 0.0, 1e3)),
            Fallback::Derived("`speed`: a closed film"),
            "volume for each area and time; less than `speed` makes drops",
        ),
        key(
            "facing",
            Want::Vector(Unit::One),
            Fallback::Derived("all of it"),
            "only where the surface faces this way, within 45°: [0, -1, 0] for a shower head",
        ),
        key(
            "motion",
            Want::Path(Unit::Metre),
            Fallback::Derived("it stays"),
            "how far the shape has moved from where it is written; carries what leaves along",
        ),
        FROM,
        UNTIL,
    ],
};

pub static REFINE: Section = Section {
    name: "[[refine]]",
    meaning: "Where particles are halved until they are fine enough, and united again where they need not be.",
    keys: &[
        key("on", Want::Texts("bodies"), Fallback::Derived("all bodies"), "names of the bodies it is for"),
        key(
            "finest",
            Want::Number(SPACING),
            Fallback::Required,
            "spacing that particles come down to; never less",
        ),
        key(
            "near",
            Want::Word(&["surface"]),
            Fallback::Derived("this or `shape`"),
            "`surface`: near free surfaces, wherever they move",
        ),
        key(
            "distance",
            Want::Number(range(Unit::Metre, 0.0, 1e3)),
            Fallback::Derived("twice the body's spacing"),
            "how far from a surface particles are finest",
        ),
        key(
            "shape",
            Want::OneOf(&SHAPE),
            Fallback::Derived("this or `near`"),
            "the region where they are finest",
        ),
    ],
};

pub static SINK: Section = Section {
    name: "[[sink]]",
    meaning: "A region that removes what enters it.",
    keys: &[key("shape", Want::OneOf(&SHAPE), Fallback::Required, "the region"), FROM, UNTIL],
};

pub static FORCE: Section = Section {
    name: "[[force]]",
    meaning: "A field that pushes matter; exactly one kind each.",
    keys: &[
        key("on", Want::Texts("bodies"), Fallback::Derived("all bodies"), "names of the bodies that feel it"),
        FROM,
        UNTIL,
        key(
            "strength",
            Want::Curve(range(Unit::One, -1e6, 1e6)),
            Fallback::Number(1.0),
            "multiplies it; may change over time",
        ),
        key("localised", Want::Table(&LOCALISED), Fallback::Derived(""), "a push inside a ball"),
        key("attractor", Want::Table(&ATTRACTOR), Fallback::Derived(""), "pulls towards a point or a line"),
        key("repeller", Want::Table(&ATTRACTOR), Fallback::Derived(""), "pushes away from it"),
        key("vortex", Want::Table(&VORTEX), Fallback::Derived(""), "drives a swirl around an axis"),
        key("explosion", Want::Table(&EXPLOSION), Fallback::Derived(""), "a shell that spreads"),
        key("shake", Want::Table(&SHAKE), Fallback::Derived(""), "what is felt in a box that is shaken"),
        key("wind", Want::Table(&WIND), Fallback::Derived(""), "drags everything to one velocity"),
        key(
            "expression",
            Want::Texts("formulas"),
            Fallback::Derived(""),
            "an acceleration in m/s², one formula of x, y, z, vx, vy, vz and t for each axis",
        ),
    ],
};

pub static LOCALISED: Section = Section {
    name: "force.localised",
    meaning: "A push inside a ball.",
    keys: &[
        key("at", Want::Path(Unit::Metre), Fallback::Required, "its middle; may move"),
        key("radius", Want::Number(LENGTH), Fallback::Required, "its radius"),
        key(
            "acceleration",
            Want::Vector(Unit::MetrePerSecondSquared),
            Fallback::Required,
            "where it pushes, and how hard, in its middle",
        ),
        key(
            "falloff",
            Want::Word(FALLOFFS),
            Fallback::Word("smooth"),
            "(1 − r²/R²)² towards its rim, or the same all over",
        ),
    ],
};

pub static ATTRACTOR: Section = Section {
    name: "force.attractor",
    meaning: "Pulls towards a point, or a line; a `repeller` has the same keys, and pushes.",
    keys: &[
        key("at", Want::Path(Unit::Metre), Fallback::Required, "where it is; may move"),
        key(
            "axis",
            Want::Spatial(Unit::One),
            Fallback::Derived("a point"),
            "direction of the line through `at`",
        ),
        key(
            "acceleration",
            Want::Number(ACCELERATION),
            Fallback::Required,
            "at the distance `radius`, where it is strongest",
        ),
        key(
            "radius",
            Want::Number(LENGTH),
            Fallback::Required,
            "inside, it falls to 0 in the middle, as inside a planet",
        ),
        key(
            "power",
            Want::Number(range(Unit::One, 0.0, 20.0)),
            Fallback::Number(2.0),
            "p of its fall (radius/r)^p outside",
        ),
        key("reach", Want::Number(LENGTH), Fallback::Derived("no end"), "where it has faded to nothing"),
    ],
};

pub static VORTEX: Section = Section {
    name: "force.vortex",
    meaning: "Drives the swirl of Lamb and Oseen around an axis.",
    keys: &[
        key("at", Want::Path(Unit::Metre), Fallback::Required, "a point of its axis; may move"),
        key(
            "axis",
            Want::Spatial(Unit::One),
            Fallback::Derived("[0, 1, 0]; [0, 0, 1] in 2-D"),
            "around which it turns, as a right-handed screw",
        ),
        key(
            "speed",
            Want::Number(range(Unit::MetrePerSecond, -1e4, 1e4)),
            Fallback::Required,
            "of the swirl at `radius`, where it is fastest",
        ),
        key("radius", Want::Number(LENGTH), Fallback::Required, "of its core"),
        key(
            "relaxation_time",
            Want::Number(RELAXATION_TIME),
            Fallback::Required,
            "in which matter at `radius` takes on its speed, to 1/e",
        ),
        key("reach", Want::Number(LENGTH), Fallback::Derived("no end"), "where it has faded to nothing"),
    ],
};

pub static EXPLOSION: Section = Section {
    name: "force.explosion",
    meaning: "A shell that spreads, and pushes outwards what it passes.",
    keys: &[
        key("at", Want::Vector(Unit::Metre), Fallback::Required, "its middle"),
        key("time", Want::Number(TIME), Fallback::Number(0.0), "when it goes off"),
        key(
            "duration",
            Want::Number(range(Unit::Second, 1e-9, 1e6)),
            Fallback::Required,
            "time that the shell takes to `radius`; it passes a particle in a quarter of it",
        ),
        key("radius", Want::Number(LENGTH), Fallback::Required, "how far it reaches"),
        key(
            "speed",
            Want::Number(SPEED),
            Fallback::Required,
            "velocity that it gives near its middle; (1 − r/radius)² of it further out",
        ),
    ],
};

pub static SHAKE: Section = Section {
    name: "force.shake",
    meaning: "What is felt in a box that is shaken by amplitude · sin(2π frequency · t).",
    keys: &[
        key("amplitude", Want::Number(range(Unit::Metre, 0.0, 1e6)), Fallback::Required, "to either side"),
        key(
            "frequency",
            Want::Number(range(Unit::PerSecond, 1e-6, 1e6)),
            Fallback::Required,
            "how often it comes and goes",
        ),
        key("direction", Want::Vector(Unit::One), Fallback::Required, "along which it is shaken"),
    ],
};

pub static WIND: Section = Section {
    name: "force.wind",
    meaning: "Drags everything to one velocity.",
    keys: &[
        key("velocity", Want::Vector(Unit::MetrePerSecond), Fallback::Required, "of the air"),
        key(
            "relaxation_time",
            Want::Number(RELAXATION_TIME),
            Fallback::Required,
            "in which matter takes it on, to 1/e",
        ),
    ],
};

pub static SOLID: Section = Section {
    name: "[[solid]]",
    meaning: "Something that is not made of particles: an obstacle, a container, a thing that moves or floats.",
    keys: &[
        key(
            "name",
            Want::Text,
            Fallback::Derived("`solid-1`, `solid-2`, … in order"),
            "letters, digits, `-` and `_`; used by joints and in frames",
        ),
        key("shape", Want::OneOf(&SHAPE), Fallback::Required, "where it stands at the start"),
        key(
            "inside",
            Want::Flag,
            Fallback::Flag(false),
            "the shape is a hollow that keeps fluid in: everything outside it is solid",
        ),
        key(
            "slip",
            Want::Number(range(Unit::One, 0.0, 1.0)),
            Fallback::Derived("`world.slip`"),
            "0: fluid sticks to it; 1: it glides freely",
        ),
        key(
            "motion",
            Want::Table(&MOTION),
            Fallback::Derived("it stands still"),
            "moves it as written, whatever pushes against it",
        ),
        key(
            "free",
            Want::Table(&FREE),
            Fallback::Derived("it is held"),
            "lets fluid, gravity and other solids move it",
        ),
        key("look", Want::Table(&LOOK), Fallback::Derived("plain"), "how it looks in pictures"),
    ],
};

pub static MOTION: Section = Section {
    name: "solid.motion",
    meaning: "A motion that nothing can disturb: places, turning and shaking add up.",
    keys: &[
        key(
            "pivot",
            Want::Vector(Unit::Metre),
            Fallback::Derived("the middle of the shape"),
            "the point of the solid, at the start, that `position` places and that it turns about",
        ),
        key(
            "position",
            Want::Motion(Unit::Metre),
            Fallback::Derived("the pivot stays where it is"),
            "where the pivot is: `[[0, [0, 0, 0]], [2, [1, 0, 0]]]`",
        ),
        key(
            "axis",
            Want::Spatial(Unit::One),
            Fallback::Vector([0.0, 0.0, 1.0]),
            "what it turns about, counterclockwise seen from the tip; any length but 0",
        ),
        key(
            "turning",
            Want::Number(range(Unit::PerSecond, -1e4, 1e4)),
            Fallback::Number(0.0),
            "whole turns per second",
        ),
        key(
            "angle",
            Want::Curve(range(Unit::Degree, -1e6, 1e6)),
            Fallback::Number(0.0),
            "how far it is turned; keys over time",
        ),
        key("shake", Want::Table(&SOLID_SHAKE), Fallback::Derived("none"), "a sine to and fro"),
    ],
};

pub static PIN: Section = Section {
    name: "[[pin]]",
    meaning: "Holds particles of bodies that have a shape, or moves them as written.",
    keys: &[
        key(
            "on",
            Want::Texts("bodies"),
            Fallback::Derived("all that hold a shape"),
            "names of the bodies whose particles it takes",
        ),
        key(
            "shape",
            Want::OneOf(&SHAPE),
            Fallback::Derived("this or `nearest`"),
            "takes all particles inside it when it starts",
        ),
        key(
            "nearest",
            Want::Vectors(Unit::Metre),
            Fallback::Derived("this or `shape`"),
            "takes the particle nearest to each of these points: `[[0, 1, 0], [1, 1, 0]]`",
        ),
        key(
            "to",
            Want::Text,
            Fallback::Derived("the world"),
            "name of a solid that carries them; a free one feels their pull",
        ),
        key(
            "motion",
            Want::Table(&MOTION),
            Fallback::Derived("they stay where they are"),
            "moves them as a solid would be; without a `pivot`, `position` is how far from their start",
        ),
        FROM,
        UNTIL,
    ],
};

pub static SOLID_SHAKE: Section = Section {
    name: "motion.shake",
    meaning: "A displacement of amplitude × sin(2π × frequency × t).",
    keys: &[
        key("amplitude", Want::Number(range(Unit::Metre, 0.0, 1e6)), Fallback::Required, "half the way"),
        key(
            "frequency",
            Want::Number(range(Unit::PerSecond, 0.0, 1e5)),
            Fallback::Required,
            "how often per second",
        ),
        key("direction", Want::Vector(Unit::One), Fallback::Required, "along this; any length but 0"),
    ],
};

pub static FREE: Section = Section {
    name: "solid.free",
    meaning: "A rigid body. Give its `density` or its `mass`.",
    keys: &[
        key(
            "density",
            Want::Number(range(Unit::KilogramPerCubicMetre, 1e-3, 1e6)),
            Fallback::Derived("this or `mass`"),
            "of the whole shape",
        ),
        key(
            "mass",
            Want::Number(range(Unit::One, 1e-12, 1e12)),
            Fallback::Derived("this or `density`"),
            "in kg; per metre of depth in 2-D",
        ),
        key("velocity", Want::Vector(Unit::MetrePerSecond), Fallback::Vector([0.0; 3]), "initial velocity"),
        key(
            "angular_velocity",
            Want::Spatial(Unit::PerSecond),
            Fallback::Vector([0.0; 3]),
            "initial turning about its centre of mass, rad/s",
        ),
        key(
            "friction",
            Want::Number(range(Unit::One, 0.0, 10.0)),
            Fallback::Number(0.5),
            "Coulomb's coefficient against other solids and the box",
        ),
        key(
            "restitution",
            Want::Number(range(Unit::One, 0.0, 1.0)),
            Fallback::Number(0.0),
            "part of the speed that is left after a bounce off a solid",
        ),
    ],
};

/// In the order of [`super::JointKind::NAMES`]; a test compares the two.
pub const JOINTS: &[&str] = &["fixed", "ball", "hinge", "slider"];

pub static JOINT: Section = Section {
    name: "[[joint]]",
    meaning: "Holds a free solid to another solid, or to the world.",
    keys: &[
        key("kind", Want::Word(JOINTS), Fallback::Required, "which motions it leaves"),
        key("solid", Want::Text, Fallback::Required, "name of a free solid"),
        key("to", Want::Text, Fallback::Derived("the world"), "name of another solid"),
        key("at", Want::Vector(Unit::Metre), Fallback::Required, "the point that both share at the start"),
        key(
            "axis",
            Want::Spatial(Unit::One),
            Fallback::Vector([0.0, 0.0, 1.0]),
            "of a hinge, what it turns about; of a slider, what it moves along; any length but 0",
        ),
    ],
};

pub static PICTURE: Section = Section {
    name: "[picture]",
    meaning: "How films and stills are made.",
    keys: &[
        key(
            "size",
            Want::Size { min: 16, max: 16_384 },
            Fallback::Derived("[1280, 720]"),
            "width and height in pixels",
        ),
        key(
            "samples",
            Want::Whole { min: 1, max: 65_536 },
            Fallback::Number(16.0),
            "light paths for each pixel: more are cleaner and slower",
        ),
        key(
            "exposure",
            Want::Number(range(Unit::One, -20.0, 20.0)),
            Fallback::Number(0.0),
            "in stops: each doubles the light",
        ),
        key(
            "motion_blur",
            Want::Number(range(Unit::One, 0.0, 1.0)),
            Fallback::Number(0.0),
            "part of a frame's time during which the shutter is open; film cameras: 0.5",
        ),
        key(
            "surface",
            Want::Word(SURFACES),
            Fallback::Word("anisotropic"),
            "field that surfaces are cut from",
        ),
        key(
            "cell",
            Want::Number(range(Unit::One, 0.1, 2.0)),
            Fallback::Number(0.5),
            "width of the lattice that surfaces are cut from, in spacings",
        ),
        key("hollows", Want::Flag, Fallback::Flag(true), "whether air that a fluid encloses is shown"),
        key("container", Want::Word(CONTAINERS), Fallback::Word("edges"), "how the box is shown"),
        key(
            "frames_per_second",
            Want::Number(range(Unit::PerSecond, 1.0, 240.0)),
            Fallback::Derived(
                "those of `[time]`; 30 (slow motion, or time lapse) where they are above 60 or below 10",
            ),
            "pictures that a film shows in a second",
        ),
        key(
            "poster",
            Want::Number(TIME),
            Fallback::Derived("two fifths of the run"),
            "time of the frame that stands for the film",
        ),
    ],
};

pub static CAMERA: Section = Section {
    name: "[camera]",
    meaning: "Where pictures are taken from.",
    keys: &[
        key(
            "at",
            Want::Motion(Unit::Metre),
            Fallback::Derived("in front, above, and far enough to see all"),
            "where it stands; keys make it move: `[[0, [1, 1, 3]], [2, [2, 1, 3]]]`",
        ),
        key(
            "look_at",
            Want::Motion(Unit::Metre),
            Fallback::Derived("the middle of the scene"),
            "what is in the middle of the picture; may move",
        ),
        key(
            "field_of_view",
            Want::Curve(range(Unit::Degree, 1.0, 150.0)),
            Fallback::Number(30.0),
            "from the bottom to the top of the picture; may change over time",
        ),
        key(
            "aperture",
            Want::Number(range(Unit::Metre, 0.0, 10.0)),
            Fallback::Number(0.0),
            "radius of the lens: 0 keeps everything sharp",
        ),
        key(
            "focus",
            Want::Number(range(Unit::Metre, 1e-6, 1e6)),
            Fallback::Derived("the distance of `look_at`"),
            "distance of what is sharp",
        ),
    ],
};

/// Strengths of light, as a factor on what is usual.
const STRENGTH: Want = Want::Number(range(Unit::One, 0.0, 1e6));

pub static SKY: Section = Section {
    name: "[sky]",
    meaning: "Light from all around, and the backdrop.",
    keys: &[
        key("kind", Want::Word(SKIES), Fallback::Word("daylight"), "colours, from the zenith to the horizon"),
        key("strength", STRENGTH, Fallback::Number(1.0), "multiplies its light"),
        key("zenith", Want::Colour, Fallback::Derived("by `kind`"), "colour above"),
        key("horizon", Want::Colour, Fallback::Derived("by `kind`"), "colour around"),
    ],
};

pub static SUN: Section = Section {
    name: "[sun]",
    meaning: "Light from one direction.",
    keys: &[
        key(
            "direction",
            Want::Spatial(Unit::One),
            Fallback::Vector([-0.5, 1.0, 0.35]),
            "where it stands, seen from the scene; any length but 0",
        ),
        key("strength", STRENGTH, Fallback::Number(1.0), "multiplies its light; 0: no sun"),
        key(
            "size",
            Want::Number(range(Unit::Degree, 0.0, 60.0)),
            Fallback::Number(4.0),
            "across, as seen: the larger, the softer its shadows",
        ),
        key("colour", Want::Colour, Fallback::Derived("a warm white"), "its colour"),
    ],
};

pub static GROUND: Section = Section {
    name: "[ground]",
    meaning: "An endless floor.",
    keys: &[
        key("show", Want::Flag, Fallback::Flag(true), "whether there is one"),
        key(
            "height",
            Want::Number(range(Unit::Metre, -1e6, 1e6)),
            Fallback::Derived("the floor of the box, or below everything"),
            "y of the floor",
        ),
        key("colour", Want::Colour, Fallback::Derived("pale sand"), "its colour"),
        key(
            "tiles",
            Want::Number(range(Unit::Metre, 0.0, 1e6)),
            Fallback::Derived("a round length that suits the scene"),
            "width of its tiles; 0: none",
        ),
    ],
};

pub static LAMP: Section = Section {
    name: "[[lamp]]",
    meaning: "A rectangle that shines to one side.",
    keys: &[
        key("at", Want::Spatial(Unit::Metre), Fallback::Required, "its middle"),
        key("look_at", Want::Spatial(Unit::Metre), Fallback::Required, "what it shines at"),
        key("width", Want::Number(range(Unit::Metre, 1e-6, 1e6)), Fallback::Required, "its width"),
        key("height", Want::Number(range(Unit::Metre, 1e-6, 1e6)), Fallback::Required, "its height"),
        key("colour", Want::Colour, Fallback::Derived("white"), "its colour"),
        key("strength", STRENGTH, Fallback::Number(10.0), "radiance; a white ground in the sun has about 1"),
    ],
};

pub static LOOK: Section = Section {
    name: "[body.look]",
    meaning: "How a body looks.",
    keys: &[
        key(
            "draw",
            Want::Word(DRAWS),
            Fallback::Derived("`surface`; `rope` for a line"),
            "what is drawn for its particles",
        ),
        key(
            "finish",
            Want::Word(FINISHES),
            Fallback::Derived("the material's, or `glossy`"),
            "what light does with it",
        ),
        key(
            "colour",
            Want::Colour,
            Fallback::Derived("the material's"),
            "its colour; of clear bodies, that of white light after `depth`",
        ),
        key(
            "roughness",
            Want::Number(range(Unit::One, 0.0, 1.0)),
            Fallback::Derived("the material's, or 0.3"),
            "0 is a mirror, 1 is chalk",
        ),
        key(
            "index",
            Want::Number(range(Unit::One, 1.0, 4.0)),
            Fallback::Derived("the material's, or 1.5"),
            "refractive index",
        ),
        key(
            "depth",
            Want::Number(range(Unit::Metre, 1e-6, 1e6)),
            Fallback::Derived("the material's, or 1 cm"),
            "how far light gets inside: until it has the `colour` (clear), between two deflections (wax)",
        ),
        key(
            "porosity",
            Want::Number(range(Unit::One, 0.0, 1.0)),
            Fallback::Number(0.4),
            "part of the volume that is pores: how much darker it is when wet",
        ),
        key("grains", Want::Whole { min: 1, max: 1000 }, Fallback::Number(12.0), "grains for each particle"),
        key(
            "advected",
            Want::Flag,
            Fallback::Flag(false),
            "grains drift with the flow, instead of keeping to their particle",
        ),
        key(
            "thickness",
            Want::Number(range(Unit::Metre, 1e-6, 1e3)),
            Fallback::Derived("a spacing; of yarn, 0.38 spacings; of a rope, its own"),
            "of a sheet, of its yarn, or of a rope",
        ),
        key(
            "mesh",
            Want::Text,
            Fallback::Derived("none"),
            "OBJ file of a mesh that the particles carry, with `draw = \"mesh\"`; looked for beside the scene, then where the command was given",
        ),
    ],
};

/// Keys of a curve written as a table. Not a [`Section`] of its own: any number of a behaviour may be one.
pub const CURVE_KEYS: &[&str] = &["over", "formula", "keys", "ease"];

/// Words people try first, and what this format calls them.
pub const OTHER_WORDS: &[(&str, &str)] = &[
    ("resolution", "sph"),
    ("simulation", "time"),
    ("domain", "world"),
    ("fluid", "body"),
    ("bodies", "body"),
    ("sinks", "sink"),
    ("refinement", "refine"),
    ("forces", "force"),
    ("field", "force"),
    ("localized", "localised"),
    ("formula", "expression"),
    ("solids", "solid"),
    ("obstacle", "solid"),
    ("boundary", "solid"),
    ("rigid", "solid"),
    ("rigid_body", "solid"),
    ("joints", "joint"),
    ("dim", "dimensions"),
    ("particle_spacing", "spacing"),
    ("particle_radius", "spacing"),
    ("h", "support"),
    ("smoothing_length", "support"),
    ("fps", "frames_per_second"),
    ("dt", "step"),
    ("time_step", "step"),
    ("max_step", "maximum_step"),
    ("min_step", "minimum_step"),
    ("end", "until"),
    ("duration", "until"),
    ("start", "from"),
    ("g", "gravity"),
    ("center", "centre"),
    ("position", "at"),
    ("r", "radius"),
    ("ball", "sphere"),
    ("cube", "box"),
    ("disc", "sphere"),
    ("rod", "cylinder"),
    ("pipe", "cylinder"),
    ("ring", "torus"),
    ("frustum", "cone"),
    ("terrain", "heightfield"),
    ("subtract", "difference"),
    ("minus", "difference"),
    ("hollow", "shell"),
    ("transform", "place"),
    ("rotation", "rotate"),
    ("angle", "degrees"),
    ("path", "file"),
    ("cuboid", "box"),
    ("rho", "density"),
    ("rest_density", "density"),
    ("behaviors", "behaviours"),
    ("behavior", "behaviours"),
    ("behaviour", "behaviours"),
    ("mu", "dynamic_viscosity"),
    ("viscosity", "dynamic_viscosity"),
    ("sigma", "surface_tension"),
    ("speed_of_sound", "sound_speed"),
    ("c", "sound_speed"),
    ("gamma", "exponent"),
    ("surface-tension", "pairwise-tension"),
    ("surface_tension", "pairwise-tension"),
    ("interfaces", "interface"),
    ("wcsph", "tait"),
    ("oil", "olive-oil"),
    ("glycerol", "glycerine"),
    ("glycerin", "glycerine"),
    ("alcohol", "ethanol"),
    ("magma", "lava"),
    ("quicksilver", "mercury"),
    ("sea-water", "seawater"),
    ("cubic", "cubic-spline"),
    ("euler", "symplectic-euler"),
    ("verlet", "velocity-verlet"),
    ("leapfrog", "velocity-verlet"),
    ("normalized", "normalised"),
    ("minimum", "min"),
    ("maximum", "max"),
    ("color", "colour"),
    ("render", "picture"),
    ("film", "picture"),
    ("light", "lamp"),
    ("backdrop", "sky"),
    ("environment", "sky"),
    ("floor", "ground"),
    ("fov", "field_of_view"),
    ("target", "look_at"),
    ("spp", "samples"),
    ("appearance", "look"),
    ("ior", "index"),
    ("top", "+y"),
    ("bottom", "-y"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Draw, Finish, IntegratorName, JointKind, KernelName, PressureForm};

    #[test]
    fn words_are_those_of_the_engine() {
        assert_eq!(KERNELS, KernelName::NAMES.map(|(name, _)| name));
        assert_eq!(INTEGRATORS, IntegratorName::NAMES.map(|(name, _)| name));
        assert_eq!(PRESSURE_FORMS, PressureForm::NAMES.map(|(name, _)| name));
        assert_eq!(DRAWS, Draw::NAMES.map(|(name, _)| name));
        assert_eq!(FINISHES, Finish::NAMES.map(|(name, _)| name));
        assert_eq!(JOINTS, JointKind::NAMES.map(|(name, _)| name));
    }
}
