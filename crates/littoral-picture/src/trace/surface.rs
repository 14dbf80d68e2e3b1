//! The scene made ready for rays, and what they find where they hit.

use super::bvh::{Bvh, Hit, Owner, Ray, Stack};
use super::scene::{Ground, Look, Scene, Shape};
use crate::mesh::{Attribute, Mesh};
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// A scene with its hierarchy of boxes.
pub struct Prepared<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) bvh: Bvh,
    /// The medium inside of every thing that is clear.
    pub(crate) media: Vec<Option<Medium>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Medium {
    pub index: f32,
    /// 1/m.
    pub absorption: Vec3,
    pub roughness: f32,
}

/// What a ray has hit. Normals point out of the thing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    pub point: Vec3,
    /// Of the triangle itself: tells inside from outside.
    pub flat_normal: Vec3,
    /// Interpolated.
    pub normal: Vec3,
    pub tint: Vec3,
    pub wetness: f32,
    /// Diameter of a thread, m; 0 for everything else.
    pub thickness: f32,
}

impl<'a> Prepared<'a> {
    pub fn new(scene: &'a Scene) -> Self {
        let media = scene.things.iter().map(|thing| match thing.look {
            Look::Clear { index, absorption, roughness } => Some(Medium { index, absorption, roughness }),
            _ => None,
        });
        Self { scene, bvh: Bvh::new(&scene.things), media: media.collect() }
    }

    /// Distance to the nearest thing for each ray of origin and unit direction, m; infinity where there is
    /// none. The ground does not count. To focus a camera, or to time the hierarchy.
    pub fn distances(&self, rays: &[(Vec3, Vec3)]) -> Vec<f32> {
        rays.par_chunks(1024)
            .flat_map_iter(|rays| {
                let mut stack = Stack::new();
                rays.iter().map(move |&(origin, direction)| {
                    let ray = Ray { origin, direction, reach: f32::INFINITY };
                    self.bvh.nearest(&ray, None, &mut stack).map_or(f32::INFINITY, |hit| hit.distance)
                })
            })
            .collect()
    }

    pub(crate) fn surface(&self, hit: &Hit, ray: &Ray) -> Surface {
        let Owner { thing, element } = self.bvh.owners[hit.primitive as usize];
        let element = element as usize;
        match &self.scene.things[thing as usize].shape {
            Shape::Mesh(mesh) => on_triangle(mesh, element, hit),
            Shape::Spheres { centres, radii, colours, wetness } => {
                let centre = centres[element];
                let normal = (ray.origin + ray.direction * hit.distance - centre).normalize_or(Vec3::Y);
                Surface {
                    point: centre + normal * radii[element],
                    flat_normal: normal,
                    normal,
                    tint: colours.get(element).copied().unwrap_or(Vec3::ONE),
                    wetness: wetness.get(element).copied().unwrap_or(0.0),
                    thickness: 0.0,
                }
            }
            Shape::Curves { colours, wetness, .. } => {
                let piece = &self.bvh.pieces[element];
                let point = ray.origin + ray.direction * hit.distance;
                let out = point - piece.a.lerp(piece.b, hit.u);
                // Square to the curve, not to the straight piece; but not at the round ends.
                let tangent = piece.tangent_a.lerp(piece.tangent_b, hit.u).normalize_or_zero();
                let flat_normal = out.normalize_or(Vec3::Y);
                let along = flat_normal.dot(tangent);
                let normal =
                    if along.abs() < 0.5 { (flat_normal - tangent * along).normalize() } else { flat_normal };
                let place = piece.from + (piece.to - piece.from) * hit.u;
                let before = piece.point as usize;
                Surface {
                    point,
                    flat_normal,
                    normal,
                    tint: if colours.is_empty() {
                        Vec3::ONE
                    } else {
                        colours[before].lerp(colours[before + 1], place)
                    },
                    wetness: if wetness.is_empty() {
                        0.0
                    } else {
                        wetness[before] + (wetness[before + 1] - wetness[before]) * place
                    },
                    thickness: 2.0 * (piece.radius_a + (piece.radius_b - piece.radius_a) * hit.u),
                }
            }
        }
    }

    /// The clear things around a point: those whose inside is seen first by looking up.
    pub(crate) fn media_at(&self, point: Vec3, stack: &mut Stack) -> Inside {
        let mut inside = Inside::default();
        let direction = Vec3::new(0.013, 1.0, 0.027).normalize();
        let ray = Ray { origin: point, direction, reach: f32::INFINITY };
        for thing in (0..self.media.len()).filter(|&thing| self.media[thing].is_some()) {
            let hit = self.bvh.nearest(&ray, Some(thing as u32), stack);
            if hit.is_some_and(|hit| self.surface(&hit, &ray).flat_normal.dot(direction) > 0.0) {
                inside.add(thing as u32);
            }
        }
        inside
    }

    /// The medium that is at a place inside these things: the one with the highest index, air where there is
    /// none.
    pub(crate) fn medium(&self, inside: &Inside) -> Medium {
        let air = Medium { index: 1.0, absorption: Vec3::ZERO, roughness: 0.0 };
        inside
            .things()
            .filter_map(|thing| self.media[thing as usize])
            .fold(air, |best, medium| if medium.index > best.index { medium } else { best })
    }
}

fn on_triangle(mesh: &Mesh, element: usize, hit: &Hit) -> Surface {
    let corners = mesh.triangles[element].map(|vertex| vertex as usize);
    let [a, b, c] = corners.map(|vertex| mesh.positions[vertex]);
    let weights = [1.0 - hit.u - hit.v, hit.u, hit.v];
    let flat_normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
    let normal = if mesh.normals.is_empty() {
        flat_normal
    } else {
        let sum: Vec3 = corners.iter().zip(weights).map(|(&vertex, w)| mesh.normals[vertex] * w).sum();
        sum.normalize_or(flat_normal)
    };
    let at_hit = |attribute: &Attribute, component: usize| -> f32 {
        let at = |vertex: usize| attribute.values[vertex * attribute.width + component];
        corners.iter().zip(weights).map(|(&vertex, w)| at(vertex) * w).sum()
    };
    let tint = mesh.attribute("colour").map(|colour| [0, 1, 2].map(|component| at_hit(colour, component)));
    let wetness = mesh.attribute("wetness").map(|wetness| at_hit(wetness, 0));
    Surface {
        point: a * weights[0] + b * weights[1] + c * weights[2],
        flat_normal,
        normal,
        tint: tint.map_or(Vec3::ONE, Vec3::from_array),
        wetness: wetness.unwrap_or(0.0),
        thickness: 0.0,
    }
}

/// The clear things that a path is inside of (Schmidt & Budge 2002, with the refractive index as priority).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inside {
    things: [u32; 6],
    count: usize,
}

impl Inside {
    pub fn things(&self) -> impl Iterator<Item = u32> {
        self.things[..self.count].iter().copied()
    }

    pub fn contains(&self, thing: u32) -> bool {
        self.things[..self.count].contains(&thing)
    }

    /// More than six nested things are not told apart.
    pub fn add(&mut self, thing: u32) {
        if !self.contains(thing) && self.count < self.things.len() {
            self.things[self.count] = thing;
            self.count += 1;
        }
    }

    pub fn remove(&mut self, thing: u32) {
        if let Some(at) = self.things[..self.count].iter().position(|&other| other == thing) {
            self.count -= 1;
            self.things[at] = self.things[self.count];
        }
    }
}

impl Look {
    pub(crate) fn recoloured(mut self, new: Vec3) -> Look {
        match &mut self {
            Look::Diffuse { colour, .. }
            | Look::Glossy { colour, .. }
            | Look::Metal { colour, .. }
            | Look::Wax { colour, .. }
            | Look::Fibre { colour, .. }
            | Look::Glow { radiance: colour } => *colour = new,
            Look::Clear { .. } => {}
        }
        self
    }

    fn colour(&self) -> Vec3 {
        match *self {
            Look::Diffuse { colour, .. }
            | Look::Glossy { colour, .. }
            | Look::Metal { colour, .. }
            | Look::Wax { colour, .. }
            | Look::Fibre { colour, .. }
            | Look::Glow { radiance: colour } => colour,
            Look::Clear { .. } => Vec3::ONE,
        }
    }
}

impl Ground {
    /// Distance to the plane, for rays from above.
    pub(crate) fn meet(&self, ray: &Ray) -> Option<f32> {
        let distance = (self.height - ray.origin.y) / ray.direction.y;
        (ray.direction.y < 0.0 && distance > 0.0 && distance < ray.reach).then_some(distance)
    }

    /// The mean colour of a patch of the given `size` around a point, m.
    pub(crate) fn colour(&self, point: Vec3, size: Vec2) -> Vec3 {
        let own = self.look.colour();
        let Some(tiles) = self.tiles else { return own };
        let place = Vec2::new(point.x, point.z) / tiles.size;
        let size = (size / tiles.size).max(Vec2::splat(1e-4));
        let [x, y] = [0, 1].map(|axis| mean_sign(place[axis], size[axis]));
        let tile = own.lerp(tiles.second, 0.5 - 0.5 * x * y);
        let joint = tiles.joint / tiles.size;
        let [x, y] = [0, 1].map(|axis| mean_joint(place[axis], size[axis], joint));
        tile.lerp(tiles.joint_colour, x + y - x * y)
    }
}

/// Mean over a window of the wave that is 1 on even and −1 on odd tiles: the difference of its integrals.
fn mean_sign(place: f32, size: f32) -> f32 {
    let integral = |x: f32| 1.0 - 2.0 * ((0.5 * x) - (0.5 * x).floor() - 0.5).abs();
    ((integral(place + 0.5 * size) - integral(place - 0.5 * size)) / size).clamp(-1.0, 1.0)
}

/// Mean over a window of the pulse that is 1 on joints, which lie around the whole numbers.
fn mean_joint(place: f32, size: f32, joint: f32) -> f32 {
    let integral = |x: f32| {
        let x = x + 0.5 * joint;
        x.floor() * joint + (x - x.floor()).min(joint)
    };
    ((integral(place + 0.5 * size) - integral(place - 0.5 * size)) / size).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Tiles;
    use glam::vec3;

    #[test]
    fn a_patch_of_ground_is_the_mean_of_its_points() {
        let tiles = Tiles { size: 0.5, second: vec3(0.1, 0.2, 0.3), joint: 0.05, joint_colour: Vec3::ZERO };
        let ground = Ground { tiles: Some(tiles), ..Ground::default() };
        let (at, size) = (vec3(0.3, 0.0, 0.7), Vec2::new(0.9, 0.4));
        let n = 200;
        let mut sum = Vec3::ZERO;
        for i in 0..n * n {
            let part = Vec2::new((i % n) as f32 + 0.5, (i / n) as f32 + 0.5) / n as f32 - 0.5;
            sum += ground.colour(at + vec3(part.x * size.x, 0.0, part.y * size.y), Vec2::ZERO);
        }
        // Tiles and joints are averaged one by one, not their product: a per cent or two.
        let mean = sum / (n * n) as f32;
        assert!((mean - ground.colour(at, size)).abs().max_element() < 0.02, "{mean}");
    }

    #[test]
    fn attributes_are_interpolated() {
        let attribute =
            |name: &str, width, values: &[f32]| Attribute { name: name.into(), width, values: values.into() };
        let mesh = Mesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            triangles: vec![[0, 1, 2]],
            attributes: vec![
                attribute("colour", 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
                attribute("wetness", 1, &[0.0, 1.0, 0.5]),
            ],
            ..Mesh::default()
        };
        let found = on_triangle(&mesh, 0, &Hit { distance: 1.0, primitive: 0, u: 0.25, v: 0.5 });
        assert_eq!(found.tint, vec3(0.25, 0.25, 0.5));
        assert_eq!((found.wetness, found.normal), (0.5, Vec3::Z));
        assert_eq!(found.point, vec3(0.25, 0.5, 0.0));
    }

    #[test]
    fn the_denser_medium_is_there_where_two_overlap() {
        let thing = |look| super::super::Thing { shape: Shape::Mesh(Mesh::default()), look };
        let scene = Scene { things: vec![thing(Look::HONEY), thing(Look::WATER)], ..Scene::default() };
        let prepared = Prepared::new(&scene);
        let mut inside = Inside::default();
        assert_eq!(prepared.medium(&inside).index, 1.0);
        inside.add(1);
        assert_eq!(prepared.medium(&inside).index, 1.333);
        inside.add(0);
        assert_eq!(prepared.medium(&inside).index, 1.49);
        inside.remove(0);
        assert_eq!(prepared.medium(&inside).index, 1.333);
    }
}
