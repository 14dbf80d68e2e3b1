//! What a picture is made of: camera, lights, things and their looks. Plain data, metres and linear RGB.

use crate::mesh::Mesh;
use glam::{Vec3, vec3};

/// Everything a picture shows.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    pub camera: Camera,
    pub sky: Sky,
    pub sun: Option<Sun>,
    pub lamps: Vec<Lamp>,
    pub ground: Option<Ground>,
    pub things: Vec<Thing>,
}

#[derive(Clone, Copy, Debug)]
pub struct Camera {
    pub at: Vec3,
    pub look_at: Vec3,
    pub up: Vec3,
    /// How the picture's height is spanned.
    pub view: View,
    /// Radius of the lens, m; 0 sees everything sharp.
    pub aperture: f32,
    /// Distance from the lens to the plane that is sharp, m.
    pub focus: f32,
}

#[derive(Clone, Copy, Debug)]
pub enum View {
    /// Vertical angle, radians.
    Perspective(f32),
    /// Height of what the picture shows, m; all rays are parallel.
    Orthographic(f32),
}

impl Default for Camera {
    fn default() -> Self {
        let (at, look_at) = (vec3(0.0, 1.2, 4.0), vec3(0.0, 0.4, 0.0));
        let view = View::Perspective(35f32.to_radians());
        Self { at, look_at, up: Vec3::Y, view, aperture: 0.0, focus: at.distance(look_at) }
    }
}

/// Light from all around. Smooth, since it is sampled by the surfaces alone, but for a studio's light: small
/// bright lights belong into [`Sun`] and [`Lamp`].
#[derive(Clone, Copy, Debug)]
pub enum Sky {
    /// The same radiance from everywhere.
    Uniform(Vec3),
    /// From `below` over a band at the `horizon` to the `zenith`, with a `glow` around the direction `towards`.
    Gradient { zenith: Vec3, horizon: Vec3, below: Vec3, glow: Vec3, towards: Vec3 },
    /// A dim surround with one large soft light in the direction `towards`, as in a studio.
    Studio { surround: Vec3, light: Vec3, towards: Vec3 },
}

impl Default for Sky {
    /// A clear late morning: blue above, pale and slightly warm at the horizon.
    fn default() -> Self {
        Sky::Gradient {
            zenith: vec3(0.14, 0.28, 0.58),
            horizon: vec3(1.02, 0.99, 0.95),
            below: vec3(0.26, 0.25, 0.24),
            glow: vec3(0.60, 0.42, 0.22),
            towards: Sun::default().direction,
        }
    }
}

/// A distant disc.
#[derive(Clone, Copy, Debug)]
pub struct Sun {
    /// Unit vector towards the sun.
    pub direction: Vec3,
    /// Power that falls on a square metre facing the sun, in the unit of the sky's radiance times steradian.
    pub irradiance: Vec3,
    /// Radians. The real sun has 0.0047; a larger one makes softer shadows and calmer glints.
    pub angular_radius: f32,
}

impl Default for Sun {
    fn default() -> Self {
        Self {
            direction: vec3(-0.55, 0.72, 0.42).normalize(),
            irradiance: vec3(4.3, 3.7, 2.95),
            angular_radius: 0.02,
        }
    }
}

/// A rectangle that shines to the side of `edge_u` × `edge_v`.
#[derive(Clone, Copy, Debug)]
pub struct Lamp {
    pub corner: Vec3,
    pub edge_u: Vec3,
    pub edge_v: Vec3,
    pub radiance: Vec3,
}

/// An infinite horizontal plane that fades into the horizon.
#[derive(Clone, Debug)]
pub struct Ground {
    /// m.
    pub height: f32,
    pub look: Look,
    pub tiles: Option<Tiles>,
    /// Distance from the camera's target at which the ground has faded to 1/e, m.
    pub fade: f32,
}

#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Edge of a tile, m.
    pub size: f32,
    /// Every other tile has this colour instead of the look's.
    pub second: Vec3,
    /// Width of the joints, m, and their colour.
    pub joint: f32,
    pub joint_colour: Vec3,
}

impl Default for Ground {
    fn default() -> Self {
        Self {
            height: 0.0,
            look: Look::Glossy { colour: vec3(0.46, 0.44, 0.41), roughness: 0.4 },
            tiles: Some(Tiles::default()),
            fade: 12.0,
        }
    }
}

impl Default for Tiles {
    fn default() -> Self {
        Self {
            size: 0.25,
            second: vec3(0.34, 0.325, 0.305),
            joint: 0.006,
            joint_colour: vec3(0.2, 0.195, 0.19),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Thing {
    pub shape: Shape,
    pub look: Look,
}

#[derive(Clone, Debug)]
pub enum Shape {
    /// The attributes `colour` (3, multiplies the look's colour) and `wetness` (1, from 0 to 1) are used where
    /// the mesh has them. Without normals the mesh looks faceted.
    Mesh(Mesh),
    /// `colours` and `wetness` are empty or have one entry for each sphere.
    Spheres { centres: Vec<Vec3>, radii: Vec<f32>, colours: Vec<Vec3>, wetness: Vec<f32> },
    /// Round threads through all points of a strand (Catmull–Rom). `radii` has one entry for each point;
    /// `colours` and `wetness` are empty or have one entry for each point. `strands` are the numbers of points,
    /// strand after strand.
    Curves { points: Vec<Vec3>, radii: Vec<f32>, strands: Vec<usize>, colours: Vec<Vec3>, wetness: Vec<f32> },
}

/// How a thing answers light.
#[derive(Clone, Copy, Debug)]
pub enum Look {
    /// Matt. `porosity` (0 to 1) says how much it darkens when it is wet.
    Diffuse { colour: Vec3, porosity: f32 },
    /// Diffuse under a clear coat, like glazed tile or plastic. Roughness from 0 to 1.
    Glossy { colour: Vec3, roughness: f32 },
    /// `colour` is the reflectance at normal incidence.
    Metal { colour: Vec3, roughness: f32 },
    /// Water, honey, glass: a closed surface around a medium that absorbs `absorption` per metre. Where clear
    /// things overlap, the one with the higher refractive `index` is there.
    Clear { index: f32, absorption: Vec3, roughness: f32 },
    /// Light enters, scatters with this mean free path (m), and leaves elsewhere. The surface must be closed.
    Wax { colour: Vec3, mean_free_path: f32, roughness: f32 },
    /// Yarn: `translucency` (0 to 1) of the scattered light leaves on the far side. For threads alone: meshes and
    /// spheres have no far side here, and lose the sunlight that would leave there.
    Fibre { colour: Vec3, translucency: f32, porosity: f32 },
    /// Shines by itself, most where it is seen squarely, and hardly reflects: lava, embers. It is met by chance only, so that a small one is noisy;
    /// light scenes with a [`Lamp`].
    Glow { radiance: Vec3 },
}

impl Look {
    /// Absorbs red first; the coefficients of clean water would show no colour in a laboratory tank, so they
    /// are about four times those of Pope & Fry (1997).
    pub const WATER: Look =
        Look::Clear { index: 1.333, absorption: Vec3::new(1.6, 0.32, 0.14), roughness: 0.0 };
    pub const HONEY: Look =
        Look::Clear { index: 1.49, absorption: Vec3::new(1.8, 9.0, 42.0), roughness: 0.0 };
    pub const GLASS: Look =
        Look::Clear { index: 1.52, absorption: Vec3::new(0.6, 0.25, 0.45), roughness: 0.0 };
    pub const WAX: Look =
        Look::Wax { colour: Vec3::new(0.93, 0.82, 0.62), mean_free_path: 0.004, roughness: 0.35 };
    pub const SAND: Look = Look::Diffuse { colour: Vec3::new(0.62, 0.50, 0.34), porosity: 0.4 };
    pub const STEEL: Look = Look::Metal { colour: Vec3::new(0.62, 0.60, 0.57), roughness: 0.25 };
    pub const GOLD: Look = Look::Metal { colour: Vec3::new(1.00, 0.77, 0.34), roughness: 0.25 };
    pub const COTTON: Look =
        Look::Fibre { colour: Vec3::new(0.80, 0.76, 0.70), translucency: 0.35, porosity: 0.7 };
}

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub width: usize,
    pub height: usize,
    /// Paths for each pixel.
    pub samples: usize,
    /// The first sample's number: frames that will be averaged take disjoint ranges of samples.
    pub first_sample: usize,
    /// Scattering events on a path. Clear surfaces do not count.
    pub bounces: usize,
    pub seed: u64,
    /// Light that comes by more than one scattering event is compressed above this radiance, and the sun
    /// mirrored by clear surfaces above four times this. Infinity keeps every path as it is.
    pub firefly: f32,
    /// Gaps between clear things up to this width are seen as closed, m.
    pub gap: f32,
    pub denoise: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            width: 640,
            height: 360,
            samples: 32,
            first_sample: 0,
            bounces: 4,
            seed: 1,
            firefly: 3.0,
            gap: 0.0,
            denoise: true,
        }
    }
}
