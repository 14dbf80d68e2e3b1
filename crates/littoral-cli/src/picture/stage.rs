//! The surroundings of a picture: camera, light, ground and the box, from what the scene says or from its bounds.

use glam::{Vec3, vec3};
use littoral::scene::{self, Container, Dimensions, Scene, Side};
use littoral_picture::colour;
use littoral_picture::trace::{self, Look, Shape, Thing};

use super::framing::{self, Bounds};

/// What stays the same in all pictures of a film, but for the camera.
pub struct Stage<'a> {
    scene: &'a Scene,
    pub bounds: Bounds,
    /// y of the floor, m.
    pub floor: f32,
    pub size: [u32; 2],
}

pub fn vector(v: [f64; 3]) -> Vec3 {
    vec3(v[0] as f32, v[1] as f32, v[2] as f32)
}

/// From a screen's colour to light.
pub fn linear(screen: [f64; 3]) -> Vec3 {
    Vec3::from_array(screen.map(|stored| colour::linear_from_srgb(stored as f32)))
}

/// What skies are made of: zenith, horizon and the ground's haze below it, in linear light; and the glow of the sun.
struct SkyColours {
    zenith: Vec3,
    horizon: Vec3,
    below: Vec3,
    glow: Vec3,
}

impl<'a> Stage<'a> {
    pub fn new(scene: &'a Scene, size: [u32; 2], seen: Option<Bounds>) -> Stage<'a> {
        let bounds = framing::bounds(scene, seen);
        let floor = match scene.picture.ground.height {
            Some(height) => height as f32,
            None => framing::floor(scene, &bounds),
        };
        Stage { scene, bounds, floor, size }
    }

    /// Length that the scene is to be judged by, m.
    pub fn scale(&self) -> f32 {
        self.bounds.size().max_element()
    }

    /// Vertical field of view at a time, radians.
    fn field_of_view(&self, time: f64) -> f32 {
        (self.scene.picture.camera.field_of_view.at(time) as f32).to_radians()
    }

    /// Width of a pixel where the camera looks at the start, m.
    pub fn pixel(&self) -> f32 {
        let camera = self.camera(0.0);
        2.0 * (0.5 * self.field_of_view(0.0)).tan() * camera.at.distance(camera.look_at) / self.size[1] as f32
    }

    pub fn camera(&self, time: f64) -> trace::Camera {
        let wish = &self.scene.picture.camera;
        let flat = self.scene.dimensions == Dimensions::Two;
        let aspect = self.size[0] as f32 / self.size[1] as f32;
        let angle = self.field_of_view(time);
        let usual = framing::view(&self.bounds, flat, angle, aspect);
        let look_at = wish.look_at.as_ref().map_or(usual.look_at, |motion| vector(motion.at(time)));
        let at = match &wish.at {
            Some(motion) => vector(motion.at(time)),
            // Seen from the usual side and distance, whatever is looked at.
            None => look_at + (usual.at - usual.look_at),
        };
        let focus = wish.focus.map_or(at.distance(look_at), |focus| focus as f32);
        // Straight up or down there is no "up" in the picture but z.
        let steep = (look_at - at).normalize_or(Vec3::Z).dot(Vec3::Y).abs() > 0.999;
        trace::Camera {
            at,
            look_at,
            up: if steep { Vec3::NEG_Z } else { Vec3::Y },
            view: trace::View::Perspective(angle),
            aperture: wish.aperture as f32,
            focus,
        }
    }

    /// Everything but the bodies.
    pub fn set(&self, time: f64) -> trace::Scene {
        trace::Scene {
            camera: self.camera(time),
            sky: self.sky(),
            sun: self.sun(),
            lamps: self.scene.picture.lamps.iter().map(lamp).collect(),
            ground: self.ground(),
            things: self.container(),
        }
    }

    /// The same surroundings in plain white light, where colours mean what a legend says.
    pub fn plain_set(&self, time: f64) -> trace::Scene {
        let sun = trace::Sun {
            direction: self.sun_direction(),
            irradiance: Vec3::splat(2.2),
            angular_radius: 0.05,
        };
        trace::Scene {
            camera: self.camera(time),
            sky: trace::Sky::Uniform(Vec3::splat(0.8)),
            sun: Some(sun),
            lamps: Vec::new(),
            ground: self.ground(),
            things: if self.is_boxed() { vec![self.rods()] } else { Vec::new() },
        }
    }

    /// Whether the camera moves: noise that stays in place then looks like dirt on the lens.
    pub fn is_moving(&self) -> bool {
        let camera = &self.scene.picture.camera;
        let motions = camera.at.iter().chain(&camera.look_at).flat_map(|motion| &motion.components);
        motions.chain([&camera.field_of_view]).any(|curve| curve.as_constant().is_none())
    }

    /// Unit vector towards the sun.
    pub fn sun_direction(&self) -> Vec3 {
        vector(self.scene.picture.sun.direction).normalize()
    }

    fn sun(&self) -> Option<trace::Sun> {
        let wish = &self.scene.picture.sun;
        if wish.strength == 0.0 {
            return None;
        }
        // Diffused by cloud, or low and far away, it is weaker.
        let strength = match self.scene.picture.sky.kind {
            "overcast" => 0.3,
            "studio" => 0.7,
            "dusk" => 0.6,
            _ => 1.5,
        };
        let usual = trace::Sun::default();
        let power = usual.irradiance.max_element() * strength * wish.strength as f32;
        let warmth = if self.scene.picture.sky.kind == "dusk" { vec3(1.0, 0.62, 0.36) } else { Vec3::ONE };
        Some(trace::Sun {
            direction: self.sun_direction(),
            irradiance: linear(wish.colour) * warmth * power,
            angular_radius: 0.5 * (wish.size as f32).to_radians(),
        })
    }

    fn sky(&self) -> trace::Sky {
        let wish = &self.scene.picture.sky;
        let towards = self.sun_direction();
        let usual = match wish.kind {
            "overcast" => SkyColours {
                zenith: vec3(0.78, 0.81, 0.86),
                horizon: vec3(0.86, 0.87, 0.88),
                below: vec3(0.45, 0.45, 0.45),
                glow: Vec3::ZERO,
            },
            "dusk" => SkyColours {
                zenith: vec3(0.07, 0.11, 0.28),
                horizon: vec3(0.95, 0.52, 0.33),
                below: vec3(0.12, 0.11, 0.13),
                glow: vec3(1.1, 0.45, 0.16),
            },
            "studio" => {
                let surround = wish.horizon.map_or(vec3(0.42, 0.43, 0.45), linear);
                let light = wish.zenith.map_or(vec3(3.2, 3.1, 3.0), linear);
                let strength = wish.strength as f32;
                return trace::Sky::Studio {
                    surround: surround * strength,
                    light: light * strength,
                    towards,
                };
            }
            "uniform" => {
                let colour = wish.zenith.or(wish.horizon).map_or(Vec3::ONE, linear);
                return trace::Sky::Uniform(colour * wish.strength as f32);
            }
            // A clear day at the beach.
            _ => SkyColours {
                zenith: vec3(0.085, 0.19, 0.44),
                horizon: vec3(0.42, 0.52, 0.62),
                below: vec3(0.21, 0.19, 0.16),
                glow: vec3(0.42, 0.31, 0.18),
            },
        };
        let strength = wish.strength as f32;
        trace::Sky::Gradient {
            zenith: wish.zenith.map_or(usual.zenith, linear) * strength,
            horizon: wish.horizon.map_or(usual.horizon, linear) * strength,
            below: usual.below * strength,
            glow: usual.glow * strength,
            towards,
        }
    }

    /// Width of a tile, m.
    pub fn tile(&self) -> f32 {
        match self.scene.picture.ground.tiles {
            Some(size) if size > 0.0 => size as f32,
            _ => framing::round_length(0.12 * self.scale()),
        }
    }

    fn ground(&self) -> Option<trace::Ground> {
        let wish = &self.scene.picture.ground;
        if !wish.show {
            return None;
        }
        let colour = linear(wish.colour);
        let size = self.tile();
        let tiles = (wish.tiles != Some(0.0)).then(|| trace::Tiles {
            size,
            second: 0.9 * colour,
            joint: 0.02 * size,
            joint_colour: 0.6 * colour,
        });
        Some(trace::Ground {
            height: self.floor,
            look: Look::Glossy { colour, roughness: 0.5 },
            tiles,
            fade: 9.0 * self.scale(),
        })
    }

    /// The box: its edges as thin rods, or its walls as panes.
    fn container(&self) -> Vec<Thing> {
        if !self.is_boxed() {
            return Vec::new();
        }
        let mut things = vec![self.rods()];
        if self.scene.picture.container == Container::Glass {
            things.extend(self.panes());
        }
        things
    }

    /// Whether there is a box, and it is to be seen.
    fn is_boxed(&self) -> bool {
        let walled = self.scene.domain.sides.iter().flatten().any(|side| *side == Side::Wall);
        walled && self.bounds.size().is_finite() && self.scene.picture.container != Container::Nothing
    }

    /// Edges of the box, as pairs of corners.
    pub fn edges(&self) -> Vec<[Vec3; 2]> {
        let corners = self.bounds.corners();
        let pairs = (0..8usize).flat_map(|k| [1, 2, 4].map(|bit| (k, k | bit)));
        let sides = &self.scene.domain.sides;
        let has_walls = sides.iter().flatten().any(|side| *side == Side::Wall);
        let edges = pairs.filter(|(a, b)| a != b).map(|(a, b)| [corners[a], corners[b]]);
        if has_walls { edges.collect() } else { Vec::new() }
    }

    fn rods(&self) -> Thing {
        let radius = 0.0018 * self.scale();
        let (mut points, mut strands) = (Vec::new(), Vec::new());
        for [a, b] in self.edges() {
            // Just outside, so that water at the wall does not touch them.
            let outwards = |p: Vec3| p + radius * (p - self.bounds.centre()).signum();
            points.extend([outwards(a), outwards(a.lerp(b, 0.5)), outwards(b)]);
            strands.push(3);
        }
        let shape = Shape::Curves {
            radii: vec![radius; points.len()],
            points,
            strands,
            colours: Vec::new(),
            wetness: Vec::new(),
        };
        Thing { shape, look: Look::Metal { colour: vec3(0.30, 0.31, 0.33), roughness: 0.35 } }
    }

    /// A pane behind each upright wall, of glass; it reaches into the water by a hair, so that no air is between.
    fn panes(&self) -> Vec<Thing> {
        let sides = &self.scene.domain.sides;
        let thick = 0.006 * self.scale();
        let mut panes = Vec::new();
        for (axis, end) in [(0, 0), (0, 1), (2, 0), (2, 1)] {
            if sides[axis][end] != Side::Wall {
                continue;
            }
            let mut pane = self.bounds;
            if end == 0 {
                pane.max[axis] = pane.min[axis] + 0.02 * thick;
                pane.min[axis] -= thick;
            } else {
                pane.min[axis] = pane.max[axis] - 0.02 * thick;
                pane.max[axis] += thick;
            }
            pane.min.y -= 0.02 * thick;
            panes.push(Thing { shape: Shape::Mesh(block(&pane)), look: Look::GLASS });
        }
        panes
    }
}

/// An axis-aligned block with flat faces.
fn block(bounds: &Bounds) -> littoral_picture::mesh::Mesh {
    let mut mesh = littoral_picture::mesh::Mesh::default();
    let centre = bounds.centre();
    let half = 0.5 * bounds.size();
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut normal = Vec3::ZERO;
            normal[axis] = sign;
            let (mut u, mut v) = (Vec3::ZERO, Vec3::ZERO);
            u[(axis + 1) % 3] = half[(axis + 1) % 3];
            v[(axis + 2) % 3] = sign * half[(axis + 2) % 3];
            let face = centre + normal * half[axis];
            let first = mesh.positions.len() as u32;
            mesh.positions.extend([face - u - v, face + u - v, face + u + v, face - u + v]);
            mesh.normals.extend([normal; 4]);
            mesh.triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
    }
    mesh
}

fn lamp(wish: &scene::Lamp) -> trace::Lamp {
    let at = vector(wish.at);
    let forward = (vector(wish.look_at) - at).normalize();
    let side = forward.any_orthonormal_pair();
    // Level, unless it points straight up or down.
    let right = forward.cross(Vec3::Y).try_normalize().unwrap_or(side.0);
    let up = right.cross(forward);
    // edge_u × edge_v points forwards.
    let (edge_u, edge_v) = (up * wish.height as f32, right * wish.width as f32);
    trace::Lamp {
        corner: at - 0.5 * (edge_u + edge_v),
        edge_u,
        edge_v,
        radiance: linear(wish.colour) * wish.strength as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sky_is_one_of_its_own() {
        let text = "[sph]\nspacing = 0.1\n[[body]]\nmaterial = \"water\"\nshape.box = { min = [0, 0, 0], max = [1, 1, 1] }";
        let sky = |kind: &str| {
            let (scene, _) = scene::load("sky.toml", text, &[format!("sky.kind={kind}")]).unwrap();
            format!("{:?}", Stage::new(&scene, [16, 9], None).sky())
        };
        let mut skies: Vec<String> = scene::keys::SKIES.iter().map(|kind| sky(kind)).collect();
        skies.sort();
        skies.dedup();
        assert_eq!(skies.len(), scene::keys::SKIES.len());
    }

    #[test]
    fn lamps_shine_at_what_they_look_at() {
        for (at, look_at) in [([0.0, 2.0, 0.0], [0.0; 3]), ([1.0, 1.0, 1.0], [0.0, 0.5, 0.0])] {
            let wish = scene::Lamp { at, look_at, width: 0.5, height: 0.2, colour: [1.0; 3], strength: 1.0 };
            let lamp = lamp(&wish);
            let forward = (vector(look_at) - vector(at)).normalize();
            let shines = lamp.edge_u.cross(lamp.edge_v);
            assert!(shines.normalize().dot(forward) > 0.999 && (shines.length() - 0.1).abs() < 1e-6);
        }
    }
}
