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
    Word(&'static [&'static str]),
    Words(&'static [&'static str]),
    /// The name of a material.
    Material,
    /// For each named side of the box, a vector.
    SideVectors(Unit),
    Table(&'static Section),
    /// A table that holds exactly one of its keys.
    OneOf(&'static Section),
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
pub const INTEGRATORS: &[&str] = &["symplectic-euler", "velocity-verlet"];
pub const DENSITIES: &[&str] = &["plain", "normalised"];

/// Times: far longer than anyone will wait, and short enough for any step.
const TIME: Range = range(Unit::Second, 0.0, 1e6);
const POSITIVE_TIME: Range = range(Unit::Second, 1e-12, 1e6);

pub static ROOT: Section = Section {
    name: "the scene",
    meaning: "Keys at the top of the file, before any section.",
    keys: &[
        key("title", Want::Text, Fallback::Derived("the file's name"), "shown above films and in lists"),
        key("dimensions", Want::Whole { min: 2, max: 3 }, Fallback::Number(3.0), "2 or 3; in 2-D, z stays 0"),
        key(
            "seed",
            Want::Whole { min: 0, max: i64::MAX },
            Fallback::Number(1.0),
            "seeds every pseudo-random choice of the run",
        ),
        key("world", Want::Table(&WORLD), Fallback::Derived("all defaults"), "where everything happens"),
        key("sph", Want::Table(&SPH), Fallback::Required, "how matter is cut into particles"),
        key("time", Want::Table(&TIMES), Fallback::Derived("all defaults"), "the clock"),
        key("body", Want::Tables(&BODY), Fallback::Required, "matter; at least one"),
        key("sink", Want::Tables(&SINK), Fallback::Derived("none"), "regions that remove what enters them"),
    ],
};

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
            Want::Number(range(Unit::Metre, 1e-6, 1e3)),
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
        key("integrator", Want::Word(INTEGRATORS), Fallback::Word("symplectic-euler"), "how time advances"),
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
            "initial velocity; a jet has its own `speed` instead",
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
    ],
};

pub static SHAPE: Section = Section {
    name: "shape",
    meaning: "A region; exactly one of these.",
    keys: &[
        key("box", Want::Table(&SHAPE_BOX), Fallback::Derived(""), "an axis-aligned box"),
        key("sphere", Want::Table(&SPHERE), Fallback::Derived(""), "a ball; a disc in 2-D"),
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
    keys: &[key(
        "jet",
        Want::Table(&JET),
        Fallback::Derived(""),
        "a stream through a round nozzle (a slit in 2-D)",
    )],
};

pub static JET: Section = Section {
    name: "emitter.jet",
    meaning: "A stream through a round nozzle (a slit in 2-D).",
    keys: &[
        key("at", Want::Vector(Unit::Metre), Fallback::Required, "centre of the nozzle"),
        key("direction", Want::Vector(Unit::One), Fallback::Required, "where it points; any length but 0"),
        key(
            "radius",
            Want::Number(range(Unit::Metre, 1e-9, 1e6)),
            Fallback::Required,
            "radius of the nozzle",
        ),
        key(
            "speed",
            Want::Number(range(Unit::MetrePerSecond, 1e-6, 1e4)),
            Fallback::Required,
            "speed of the flow",
        ),
        key("from", Want::Number(TIME), Fallback::Number(0.0), "when it starts"),
        key("until", Want::Number(TIME), Fallback::Derived("the end of the run"), "when it stops"),
    ],
};

pub static SINK: Section = Section {
    name: "[[sink]]",
    meaning: "A region that removes what enters it.",
    keys: &[key("shape", Want::OneOf(&SHAPE), Fallback::Required, "the region")],
};

/// Keys of a curve written as a table. Not a [`Section`] of its own: any number of a behaviour may be one.
pub const CURVE_KEYS: &[&str] = &["over", "keys", "ease"];

/// Words people try first, and what this format calls them.
pub const OTHER_WORDS: &[(&str, &str)] = &[
    ("resolution", "sph"),
    ("simulation", "time"),
    ("domain", "world"),
    ("fluid", "body"),
    ("bodies", "body"),
    ("sinks", "sink"),
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
    ("surface-tension", "cohesion"),
    ("surface_tension", "cohesion"),
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
    ("top", "+y"),
    ("bottom", "-y"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{KernelName, PressureForm};

    #[test]
    fn words_are_those_of_the_engine() {
        assert_eq!(KERNELS, KernelName::NAMES.map(|(name, _)| name));
        assert_eq!(PRESSURE_FORMS, PressureForm::NAMES.map(|(name, _)| name));
    }
}
