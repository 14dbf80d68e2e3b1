//! How a scene is to be looked at: camera, light, ground, and the look of each body.
//!
//! Plain data, in SI and as the user wrote it. Nothing here changes what a run computes, so none of it is part of
//! a scene's identity: a film can be rendered again, in another light, from the frames that are there.

use crate::timeline::{Curve, Motion};

/// `[picture]` and what goes with it.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Paths a pixel.
    pub samples: u32,
    /// Stops: each doubles the light.
    pub exposure: f64,
    /// Part of the time between two frames during which the shutter is open.
    pub motion_blur: f64,
    /// How surfaces are drawn around particles.
    pub surface: &'static str,
    /// Width of the lattice that surfaces are cut from, in spacings.
    pub cell: f64,
    /// Whether air that a fluid encloses is shown.
    pub hollows: bool,
    /// How the box is shown.
    pub container: Container,
    /// Pictures that a film shows in a second.
    pub frames_per_second: f64,
    /// Time of the frame that stands for the film, s.
    pub poster: Option<f64>,
    pub camera: Camera,
    pub sky: Sky,
    pub sun: Sun,
    pub ground: Ground,
    pub lamps: Vec<Lamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    Edges,
    Glass,
    Nothing,
}

/// `[camera]`. What is absent is chosen so that the scene fills the picture.
#[derive(Clone, Debug)]
pub struct Camera {
    pub at: Option<Motion>,
    pub look_at: Option<Motion>,
    /// From the bottom to the top of the picture, degrees.
    pub field_of_view: Curve,
    /// Radius of the lens, m; 0 keeps everything sharp.
    pub aperture: f64,
    /// Distance of what is sharp, m; that of `look_at` when absent.
    pub focus: Option<f64>,
}

/// Colours as on a screen (sRGB), each from 0 to 1.
pub type Colour = [f64; 3];

/// `[sky]`.
#[derive(Clone, Debug)]
pub struct Sky {
    pub kind: &'static str,
    pub strength: f64,
    pub zenith: Option<Colour>,
    pub horizon: Option<Colour>,
}

/// `[sun]`.
#[derive(Clone, Debug)]
pub struct Sun {
    /// Where it stands, seen from the scene; any length.
    pub direction: [f64; 3],
    pub strength: f64,
    /// As seen, degrees across: the larger, the softer its shadows.
    pub size: f64,
    pub colour: Colour,
}

/// `[ground]`.
#[derive(Clone, Debug)]
pub struct Ground {
    pub show: bool,
    /// m; below everything when absent.
    pub height: Option<f64>,
    pub colour: Colour,
    /// Width of its tiles, m; 0 for none, chosen by the size of the scene when absent.
    pub tiles: Option<f64>,
}

/// `[[lamp]]`: a rectangle that shines to one side.
#[derive(Clone, Debug)]
pub struct Lamp {
    /// Its middle, m.
    pub at: [f64; 3],
    pub look_at: [f64; 3],
    /// m.
    pub width: f64,
    pub height: f64,
    pub colour: Colour,
    pub strength: f64,
}

/// `[body.look]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    pub draw: Draw,
    pub finish: Finish,
    pub colour: Colour,
    /// 0 is a mirror, 1 is chalk.
    pub roughness: f64,
    /// Refractive index.
    pub index: f64,
    /// How far light gets inside, m: until white light has the body's colour (clear), between two deflections (wax).
    pub depth: f64,
    /// Part of the volume that is pores: how much darker it is when wet.
    pub porosity: f64,
    /// Grains for each particle.
    pub grains: u32,
    /// Whether grains drift with the flow.
    pub advected: bool,
    /// Of a sheet, of its yarn or of a rope, m; when absent, a spacing, or the rope's own.
    pub thickness: Option<f64>,
    /// File of a mesh that the particles carry.
    pub mesh: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// A surface around all particles that look the same.
    Surface,
    /// Balls.
    Particles,
    /// Many small grains for each particle.
    Grains,
    /// A smooth cloth through a sheet of particles.
    Sheet,
    /// Knitted yarn through a sheet of particles.
    Yarn,
    /// A round thread through a line of particles.
    Rope,
    /// A mesh from a file, bound to the particles at the first frame.
    Mesh,
    Nothing,
}

impl Draw {
    pub const NAMES: [(&'static str, Draw); 8] = [
        ("surface", Draw::Surface),
        ("particles", Draw::Particles),
        ("grains", Draw::Grains),
        ("sheet", Draw::Sheet),
        ("yarn", Draw::Yarn),
        ("rope", Draw::Rope),
        ("mesh", Draw::Mesh),
        ("nothing", Draw::Nothing),
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Light goes through, bent and tinted: water, honey, glass.
    Clear,
    Diffuse,
    /// Paint under lacquer.
    Glossy,
    Metal,
    /// Light goes in and comes out elsewhere: wax, milk, skin.
    Wax,
    /// It glows by itself.
    Glow,
}

impl Finish {
    pub const NAMES: [(&'static str, Finish); 6] = [
        ("clear", Finish::Clear),
        ("diffuse", Finish::Diffuse),
        ("glossy", Finish::Glossy),
        ("metal", Finish::Metal),
        ("wax", Finish::Wax),
        ("glow", Finish::Glow),
    ];
}

impl Look {
    /// Of a body without a material.
    pub const PLAIN: Look = Look {
        draw: Draw::Surface,
        finish: Finish::Glossy,
        colour: [0.80, 0.45, 0.30],
        roughness: 0.3,
        index: 1.5,
        depth: 0.01,
        porosity: 0.4,
        grains: 12,
        advected: false,
        thickness: None,
        mesh: None,
    };

    /// A liquid one can look into: `colour` is what `depth` metres of it make of white light.
    pub const fn clear(colour: Colour, depth: f64, index: f64) -> Look {
        Look { finish: Finish::Clear, colour, depth, index, roughness: 0.0, ..Look::PLAIN }
    }

    /// Light is deflected every `depth` metres inside.
    pub const fn wax(colour: Colour, depth: f64) -> Look {
        Look { finish: Finish::Wax, colour, depth, ..Look::PLAIN }
    }

    pub const fn grains(colour: Colour) -> Look {
        Look { draw: Draw::Grains, finish: Finish::Diffuse, colour, roughness: 1.0, ..Look::PLAIN }
    }

    pub const fn opaque(finish: Finish, colour: Colour, roughness: f64) -> Look {
        Look { finish, colour, roughness, ..Look::PLAIN }
    }
}
