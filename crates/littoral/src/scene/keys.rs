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
    /// A vector with three components even in a flat world: lights stand in front of it.
    Spatial(Unit),
    /// A vector, or keys over time; three components even in a flat world.
    Motion(Unit),
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
pub const INTEGRATORS: &[&str] = &["symplectic-euler", "velocity-verlet"];
pub const DENSITIES: &[&str] = &["plain", "normalised"];

/// In the order of [`super::Draw::NAMES`]; likewise.
pub const DRAWS: &[&str] = &["surface", "particles", "grains", "sheet", "yarn", "mesh", "nothing"];
/// In the order of [`super::Finish::NAMES`]; likewise.
pub const FINISHES: &[&str] = &["clear", "diffuse", "glossy", "metal", "wax", "glow"];
/// Fields that surfaces are cut from: the picture crate's; a test of the command compares.
pub const SURFACES: &[&str] = &["anisotropic", "smoothed", "colour", "zhu-bridson", "bayraktar"];
/// Kinds of sky; the command has a test that each is one of its own.
pub const SKIES: &[&str] = &["daylight", "overcast", "studio", "dusk", "uniform"];
pub const CONTAINERS: &[&str] = &["edges", "glass", "nothing"];

/// Times: far longer than anyone will wait, and short enough for any step.
const TIME: Range = range(Unit::Second, 0.0, 1e6);
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
        key("time", Want::Table(&TIMES), Fallback::Derived("all defaults"), "the clock"),
        key("body", Want::Tables(&BODY), Fallback::Required, "matter; at least one"),
        key("sink", Want::Tables(&SINK), Fallback::Derived("none"), "regions that remove what enters them"),
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
        key("look", Want::Table(&LOOK), Fallback::Derived("the material's"), "how it looks in pictures"),
    ],
};

pub static SHAPE: Section = Section {
    name: "shape",
    meaning: "A region; exactly one of these.",
    keys: &[
        key("box", Want::Table(&SHAPE_BOX), Fallback::Derived(""), "an axis-aligned box"),
        key("sphere", Want::Table(&SPHERE), Fallback::Derived(""), "a ball; a disc in 2-D"),
        key("sheet", Want::Table(&SHEET), Fallback::Derived(""), "one layer of particles; 3-D only"),
    ],
};

pub static REGION: Section = Section {
    name: "shape",
    meaning: "A region; exactly one of these.",
    keys: &[
        key("box", Want::Table(&SHAPE_BOX), Fallback::Derived(""), "an axis-aligned box"),
        key("sphere", Want::Table(&SPHERE), Fallback::Derived(""), "a ball; a disc in 2-D"),
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
    keys: &[key("shape", Want::OneOf(&REGION), Fallback::Required, "the region")],
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
        key("draw", Want::Word(DRAWS), Fallback::Word("surface"), "what is drawn for its particles"),
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
            Fallback::Derived("a spacing; of yarn, 0.38 spacings"),
            "of a sheet, or of its yarn",
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
    use crate::scene::{Draw, Finish, KernelName, PressureForm};

    #[test]
    fn words_are_those_of_the_engine() {
        assert_eq!(KERNELS, KernelName::NAMES.map(|(name, _)| name));
        assert_eq!(PRESSURE_FORMS, PressureForm::NAMES.map(|(name, _)| name));
        assert_eq!(DRAWS, Draw::NAMES.map(|(name, _)| name));
        assert_eq!(FINISHES, Finish::NAMES.map(|(name, _)| name));
    }
}
