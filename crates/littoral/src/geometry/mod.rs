//! Geometry of every shape a scene can name: distances, surfaces, samples, masses.
//!
//! A shape is asked one question above all: how far is it to the surface, and on which side are we? Distances are
//! negative inside, exact for simple shapes and meshes, and a bound that never exceeds the true distance for trees
//! of shapes. Everything else is made from that. In 2-D, z plays no part: boxes and discs are endless across the
//! plane, and questions are asked at z = 0.

mod formats;
mod heightfield;
mod mass;
mod mesh;
mod nets;
mod primitives;
mod sample;
mod settle;
mod tessellate;
mod tree;
mod turned;

use std::sync::Arc;

use glam::{DQuat, DVec3};

pub use formats::{FormatError, read_mesh};
pub use heightfield::{Grid as HeightGrid, Noise, terrain};
pub use mass::MassProperties;
pub use mesh::{Defect, Mesh};
pub use settle::settle;
pub use tree::{Operation, Placement, Tree};
pub use turned::Turned;

use crate::scene::{Dimensions, Shape};
use tree::Measured;

/// Corners of a box, lower and upper.
pub type Bounds = (DVec3, DVec3);

/// Cells across a tree's longest side when its mass is measured.
const MEASURE: f64 = 96.0;

/// Cells across the longest side at most, whatever is asked for.
const MOST_CELLS: f64 = 600.0;

/// Beyond anything in a 2-D world, across its plane, m.
const ACROSS: f64 = 1e9;

/// A shape, prepared for questions. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Geometry {
    shape: Arc<Shape>,
    flat: bool,
}

/// Triangles, counterclockwise as seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    pub positions: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// The corners of each triangle.
    pub fn corners(&self) -> impl Iterator<Item = [DVec3; 3]> {
        self.triangles.iter().map(|triangle| triangle.map(|i| self.positions[i as usize]))
    }

    fn bounds(&self) -> Option<Bounds> {
        let first = *self.positions.first()?;
        Some(self.positions.iter().fold((first, first), |(min, max), &p| (min.min(p), max.max(p))))
    }
}

/// A point that stands for a patch of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceSample {
    pub position: DVec3,
    /// Outwards, of length 1. Of a thin surface: as its triangles turn.
    pub normal: DVec3,
    /// Of the patch, m²; in 2-D its length, m.
    pub area: f64,
}

impl Geometry {
    /// A shape in space.
    pub fn new(shape: &Shape) -> Geometry {
        Geometry { shape: Arc::new(shape.clone()), flat: false }
    }

    /// A shape in the plane z = 0.
    pub fn flat(shape: &Shape) -> Geometry {
        Geometry { shape: Arc::new(flattened(shape)), flat: true }
    }

    pub fn of(shape: &Shape, dimensions: Dimensions) -> Geometry {
        match dimensions {
            Dimensions::Two => Geometry::flat(shape),
            Dimensions::Three => Geometry::new(shape),
        }
    }

    /// Signed distance to the surface, negative inside, m: exact, or a bound that is closer to 0. Of a thin surface,
    /// how far away it is.
    pub fn distance(&self, p: DVec3) -> f64 {
        self.shape.distance(if self.flat { p.with_z(0.0) } else { p })
    }

    /// Unit vector away from the shape: the gradient of the distance. On a thin surface, as its triangles turn.
    pub fn normal(&self, p: DVec3) -> DVec3 {
        let p = if self.flat { p.with_z(0.0) } else { p };
        if let Shape::Mesh(mesh) | Shape::Turned { mesh, .. } = &*self.shape {
            let nearest = mesh.nearest(p);
            let away = p - nearest.point;
            // So close that the direction is lost in rounding.
            if away.length() < 1e-9 * (mesh.bounds().1 - mesh.bounds().0).length() {
                return nearest.normal;
            }
            let inside = mesh.is_closed() && away.dot(nearest.normal) < 0.0;
            return away.normalize() * if inside { -1.0 } else { 1.0 };
        }
        if let Shape::Sheet { along, across, .. } = &*self.shape
            && self.distance(p) < 1e-9 * DVec3::from(*along).length()
        {
            return DVec3::from(*along).cross(DVec3::from(*across)).normalize_or(DVec3::Y);
        }
        let step = 1e-6 * self.size();
        let gradient = nets::gradient(&|p| self.shape.distance(p), p, step, self.flat);
        // In the middle of a ball all ways lead out.
        gradient.try_normalize().unwrap_or(DVec3::Y)
    }

    /// Whether it is a surface without inside: a sheet, or a mesh with a rim.
    pub fn is_thin(&self) -> bool {
        self.shape.is_thin()
    }

    /// Smallest box around it, m; endless where the shape is. In 2-D, z is 0.
    pub fn bounds(&self) -> Bounds {
        let (min, max) = self.shape.tight_bounds(self.flat);
        if self.flat { (min.with_z(0.0), max.with_z(0.0)) } else { (min, max) }
    }

    pub fn contains(&self, p: DVec3) -> bool {
        self.distance(p) < 0.0
    }

    /// Its surface as triangles of about the size of a cell. Meshes give their own. A shape without end has none:
    /// see [`Geometry::triangles_within`]. In 2-D: empty, see [`Geometry::outline`].
    pub fn triangles(&self, cell: f64) -> TriangleMesh {
        if self.flat { TriangleMesh::default() } else { self.shape.triangles(cell) }
    }

    /// The part of its surface that lies in a box.
    pub fn triangles_within(&self, cell: f64, within: Bounds) -> TriangleMesh {
        self.level_set(cell, 0.0, Some(within))
    }

    /// Its outline in the plane: segments with the inside on their left.
    pub fn outline(&self, cell: f64) -> Vec<[DVec3; 2]> {
        self.outline_at(cell, 0.0, self.bounds())
    }

    fn outline_at(&self, cell: f64, depth: f64, bounds: Bounds) -> Vec<[DVec3; 2]> {
        if !(bounds.0.is_finite() && bounds.1.is_finite()) {
            return Vec::new();
        }
        if let (Shape::Box { min, max }, true) = (&*self.shape, depth == 0.0) {
            let (a, c) = (DVec3::from(*min).with_z(0.0), DVec3::from(*max).with_z(0.0));
            let (b, d) = (DVec3::new(c.x, a.y, 0.0), DVec3::new(a.x, c.y, 0.0));
            return vec![[a, b], [b, c], [c, d], [d, a]];
        }
        nets::outline(&|p| self.shape.distance(p) + depth, bounds, self.finest(cell, bounds))
    }

    /// Points evenly spread over the surface, `depth` inside of it (on it where it is thin), about `spacing` apart;
    /// no part of it is farther than 0.8 spacings from one. See `sample.rs`.
    pub fn surface_samples(&self, spacing: f64, depth: f64) -> Vec<SurfaceSample> {
        let bounds = self.bounds();
        if !(bounds.0.is_finite() && bounds.1.is_finite()) {
            return Vec::new();
        }
        match (&*self.shape, self.flat) {
            (Shape::Box { min, max }, flat) => {
                sample::on_box(DVec3::from(*min), DVec3::from(*max), spacing, depth, flat)
            }
            (Shape::Tree(tree), flat) if matches!(tree.operation, Operation::Place(_)) => {
                let (Operation::Place(place), Shape::Box { min, max }) = (tree.operation, &tree.of[0]) else {
                    unreachable!("only boxes are placed: see `Shape::placed`")
                };
                let scale = place.scale;
                let (min, max) = (DVec3::from(*min), DVec3::from(*max));
                let own = sample::on_box(min, max, spacing / scale, depth / scale, flat);
                let moved = |sample: SurfaceSample| SurfaceSample {
                    position: place.apply(sample.position),
                    normal: place.rotation * sample.normal,
                    area: sample.area * if flat { scale } else { scale * scale },
                };
                own.into_iter().map(moved).collect()
            }
            (_, true) => sample::on_outline(&self.outline_at(0.25 * spacing, depth, bounds), spacing),
            (_, false) => sample::surface_samples(self, spacing, depth, None),
        }
    }

    /// The same for the part of the surface that lies in a box: for planes, and for terrain larger than the world. The box
    /// must reach as deep as the samples.
    pub fn surface_samples_within(&self, spacing: f64, depth: f64, within: Bounds) -> Vec<SurfaceSample> {
        if self.flat {
            return sample::on_outline(&self.outline_at(0.25 * spacing, depth, within), spacing);
        }
        sample::surface_samples(self, spacing, depth, Some(within))
    }

    /// Volume, centre and inertia; all zero for thin and for endless shapes.
    pub fn mass_properties(&self) -> MassProperties {
        self.shape.mass(self.flat)
    }

    /// Triangles of the surface `depth` inside.
    fn level_set(&self, cell: f64, depth: f64, within: Option<Bounds>) -> TriangleMesh {
        if self.is_thin() || (depth == 0.0 && within.is_none()) {
            return self.shape.triangles(cell);
        }
        let own = self.shape.rough_bounds();
        let bounds = within.map_or(own, |(min, max)| (own.0.max(min), own.1.min(max)));
        if !(bounds.0.is_finite() && bounds.1.is_finite()) || bounds.0.cmpge(bounds.1).any() {
            return TriangleMesh::default();
        }
        self.with_level(depth, |level| nets::surface(level, bounds, self.finest(cell, bounds)))
    }

    /// The surface `depth` inside. Meshes know their normals.
    fn with_level<T>(&self, depth: f64, tell: impl FnOnce(nets::Level<'_>) -> T) -> T {
        let normal = |p: DVec3| self.normal(p);
        let known = matches!(&*self.shape, Shape::Mesh(_) | Shape::Turned { .. })
            .then_some(&normal as &nets::Normal<'_>);
        tell(nets::Level { distance: &|p| self.shape.distance(p) + depth, normal: known })
    }

    fn finest(&self, cell: f64, bounds: Bounds) -> f64 {
        fine_enough(cell, self.shape.thinnest(), bounds)
    }

    /// Length that its features have, m.
    fn size(&self) -> f64 {
        let (min, max) = self.shape.rough_bounds();
        let size = (max - min).with_z(if self.flat { 0.0 } else { (max - min).z });
        if size.is_finite() { size.length() } else { 1.0 }
    }
}

/// Cells small enough for the thinnest wall, and not too many.
fn fine_enough(cell: f64, thinnest: f64, (min, max): Bounds) -> f64 {
    cell.min(0.4 * thinnest).max((max - min).max_element() / MOST_CELLS)
}

impl Shape {
    /// See [`Geometry::distance`].
    pub(crate) fn distance(&self, p: DVec3) -> f64 {
        match self {
            Shape::Box { min, max } => primitives::cuboid(p, DVec3::from(*min), DVec3::from(*max)),
            Shape::Sphere { centre, radius } => primitives::sphere(p, DVec3::from(*centre), *radius),
            Shape::Sheet { corner, along, across } => {
                primitives::sheet(p, DVec3::from(*corner), DVec3::from(*along), DVec3::from(*across))
            }
            Shape::Line { from, to } => primitives::capsule(p, DVec3::from(*from), DVec3::from(*to), 0.0),
            Shape::Net { of, .. } => of.distance(p),
            Shape::Capsule { from, to, radius } => {
                primitives::capsule(p, DVec3::from(*from), DVec3::from(*to), *radius)
            }
            Shape::Cone { from, to, radii } => {
                primitives::frustum(p, DVec3::from(*from), DVec3::from(*to), *radii)
            }
            Shape::Torus { centre, axis, radius, tube } => {
                primitives::torus(p, DVec3::from(*centre), DVec3::from(*axis), *radius, *tube)
            }
            Shape::Plane { point, normal } => (p - DVec3::from(*point)).dot(DVec3::from(*normal)),
            Shape::Mesh(mesh) | Shape::Turned { mesh, .. } => mesh.distance(p),
            Shape::Tree(tree) => tree.distance(p),
        }
    }

    pub fn is_thin(&self) -> bool {
        match self {
            Shape::Sheet { .. } | Shape::Turned { .. } | Shape::Line { .. } | Shape::Net { .. } => true,
            Shape::Mesh(mesh) => !mesh.is_closed(),
            Shape::Tree(tree) => tree.is_thin(),
            _ => false,
        }
    }

    /// The thinnest wall that was asked for, m.
    fn thinnest(&self) -> f64 {
        match self {
            Shape::Tree(tree) => tree.thinnest(),
            _ => f64::INFINITY,
        }
    }

    /// A box that surely holds it.
    fn rough_bounds(&self) -> Bounds {
        match self {
            Shape::Tree(tree) => tree.rough_bounds(),
            _ => self.tight_bounds(false),
        }
    }

    fn tight_bounds(&self, flat: bool) -> Bounds {
        let around = |points: &[DVec3], reach: DVec3| {
            let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            let (min, max) = points.iter().fold(start, |(min, max), &p| (min.min(p), max.max(p)));
            (min - reach, max + reach)
        };
        // A disc across an axis of length 1 reaches r sin of the angle between them.
        let disc =
            |axis: DVec3, radius: f64| (DVec3::ONE - axis * axis).max(DVec3::ZERO).map(f64::sqrt) * radius;
        match self {
            Shape::Box { min, max } => (DVec3::from(*min), DVec3::from(*max)),
            Shape::Sphere { centre, radius } => around(&[DVec3::from(*centre)], DVec3::splat(*radius)),
            Shape::Sheet { corner, along, across } => {
                let [c, a, b] = [corner, along, across].map(|v| DVec3::from(*v));
                around(&[c, c + a, c + b, c + a + b], DVec3::ZERO)
            }
            Shape::Line { from, to } => around(&[DVec3::from(*from), DVec3::from(*to)], DVec3::ZERO),
            Shape::Net { of, .. } => of.tight_bounds(flat),
            Shape::Capsule { from, to, radius } => {
                around(&[DVec3::from(*from), DVec3::from(*to)], DVec3::splat(*radius))
            }
            Shape::Cone { from, to, radii } => {
                let (from, to) = (DVec3::from(*from), DVec3::from(*to));
                let axis = (to - from).normalize_or(DVec3::Y);
                let (a, b) = (around(&[from], disc(axis, radii[0])), around(&[to], disc(axis, radii[1])));
                (a.0.min(b.0), a.1.max(b.1))
            }
            Shape::Torus { centre, axis, radius, tube } => {
                around(&[DVec3::from(*centre)], disc(DVec3::from(*axis), *radius) + *tube)
            }
            Shape::Plane { point, normal } => half_space(DVec3::from(*point), DVec3::from(*normal)),
            Shape::Mesh(mesh) | Shape::Turned { mesh, .. } => mesh.bounds(),
            Shape::Tree(tree) => {
                let of = |shape: &Shape| shape.tight_bounds(flat);
                match tree.operation {
                    Operation::Union { smooth: 0.0 } => {
                        let hull = |a: Bounds, b: Bounds| (a.0.min(b.0), a.1.max(b.1));
                        tree.of.iter().map(of).reduce(hull).unwrap_or_default()
                    }
                    Operation::Round { radius } => (of(&tree.of[0]).0 - radius, of(&tree.of[0]).1 + radius),
                    Operation::Shell { .. } if !tree.of[0].is_thin() => of(&tree.of[0]),
                    Operation::Place(_) => tree.rough_bounds(),
                    _ => self.measured(flat).map_or_else(|| tree.rough_bounds(), |measured| measured.bounds),
                }
            }
        }
    }

    fn mass(&self, flat: bool) -> MassProperties {
        let nothing = MassProperties { volume: 0.0, centre: DVec3::ZERO, inertia: glam::DMat3::ZERO };
        if self.is_thin() {
            return nothing;
        }
        match self {
            Shape::Tree(_) => self.measured(flat).map_or(nothing, |measured| measured.mass),
            _ => self.measure(flat).map_or(nothing, |measured| measured.mass),
        }
    }

    /// What a look at the whole surface tells of a tree; kept.
    fn measured(&self, flat: bool) -> Option<Measured> {
        let Shape::Tree(tree) = self else { return self.measure(flat) };
        let kept = &tree.measured[usize::from(flat)];
        if kept.get().is_none()
            && let Some(measured) = self.measure(flat)
        {
            let _ = kept.set(measured);
        }
        kept.get().copied()
    }

    /// `None` for shapes without end.
    fn measure(&self, flat: bool) -> Option<Measured> {
        let (mut min, mut max) = self.rough_bounds();
        if flat {
            (min.z, max.z) = (0.0, 0.0);
        }
        if !(min.is_finite() && max.is_finite()) {
            return None;
        }
        let cell = (max - min).max_element() / MEASURE;
        if min.cmpgt(max).any() || cell <= 0.0 {
            let mass = MassProperties::of_mesh(&TriangleMesh::default());
            return Some(Measured { bounds: (min, min), mass });
        }
        let cell = fine_enough(cell, self.thinnest(), (min, max));
        let inside = |(a, b): Bounds| (a.max(min), b.min(max));
        if flat {
            let geometry = Geometry { shape: Arc::new(self.clone()), flat };
            let outline = geometry.outline_at(cell, 0.0, (min, max));
            let points = TriangleMesh { positions: outline.concat(), triangles: Vec::new() };
            let bounds = points.bounds().map_or((min, min), inside);
            return Some(Measured { bounds, mass: MassProperties::of_outline(&outline) });
        }
        let mesh = self.triangles(cell);
        Some(Measured {
            bounds: mesh.bounds().map_or((min, min), inside),
            mass: MassProperties::of_mesh(&mesh),
        })
    }

    fn triangles(&self, cell: f64) -> TriangleMesh {
        let segments = |radius: f64| ((std::f64::consts::TAU * radius / cell).ceil() as usize).clamp(16, 512);
        match self {
            Shape::Box { min, max } => tessellate::cuboid(DVec3::from(*min), DVec3::from(*max)),
            Shape::Sphere { centre, radius } => {
                tessellate::sphere(DVec3::from(*centre), *radius, segments(*radius))
            }
            Shape::Sheet { corner, along, across } => {
                tessellate::sheet(DVec3::from(*corner), DVec3::from(*along), DVec3::from(*across))
            }
            Shape::Line { .. } => TriangleMesh::default(),
            Shape::Net { of, .. } => of.net(cell),
            Shape::Capsule { from, to, radius } => {
                tessellate::capsule(DVec3::from(*from), DVec3::from(*to), *radius, segments(*radius))
            }
            Shape::Cone { from, to, radii } => {
                let segments = segments(radii[0].max(radii[1]));
                tessellate::frustum(DVec3::from(*from), DVec3::from(*to), *radii, segments)
            }
            Shape::Torus { centre, axis, radius, tube } => {
                let (centre, axis) = (DVec3::from(*centre), DVec3::from(*axis));
                tessellate::torus(centre, axis, *radius, *tube, segments(radius + tube))
            }
            Shape::Plane { .. } => TriangleMesh::default(),
            Shape::Mesh(mesh) | Shape::Turned { mesh, .. } => mesh.surface().clone(),
            Shape::Tree(tree) => match tree.operation {
                Operation::Place(placement) => {
                    let mesh = tree.of[0].triangles(cell / placement.scale);
                    let positions = mesh.positions.iter().map(|&p| placement.apply(p)).collect();
                    TriangleMesh { positions, ..mesh }
                }
                _ => {
                    let bounds = tree.rough_bounds();
                    if !(bounds.0.is_finite() && bounds.1.is_finite()) || bounds.0.cmpge(bounds.1).any() {
                        return TriangleMesh::default();
                    }
                    let level = nets::Level { distance: &|p| tree.distance(p), normal: None };
                    nets::surface(level, bounds, fine_enough(cell, tree.thinnest(), bounds))
                }
            },
        }
    }

    /// Triangles of its surface that are about as large as a cell, to be corners of which particles stand: a mesh's own, and
    /// of all other shapes a net of even cells.
    pub fn net(&self, cell: f64) -> TriangleMesh {
        let mut mesh = match self {
            Shape::Net { of, .. } => of.net(cell),
            Shape::Mesh(_) => self.triangles(cell),
            _ if self.is_thin() => self.triangles(cell),
            _ => {
                let (bounds, level) =
                    (self.rough_bounds(), nets::Level { distance: &|p| self.distance(p), normal: None });
                if !(bounds.0.is_finite() && bounds.1.is_finite()) || bounds.0.cmpge(bounds.1).any() {
                    return TriangleMesh::default();
                }
                let mut mesh = nets::surface(level, bounds, fine_enough(cell, self.thinnest(), bounds));
                nets::even_out(&mut mesh, level, cell);
                mesh
            }
        };
        // Corners of no triangle.
        let mut place = vec![u32::MAX; mesh.positions.len()];
        let mut positions = Vec::new();
        for corner in mesh.triangles.iter_mut().flatten() {
            let place = &mut place[*corner as usize];
            if *place == u32::MAX {
                *place = positions.len() as u32;
                positions.push(mesh.positions[*corner as usize]);
            }
            *corner = *place;
        }
        TriangleMesh { positions, ..mesh }
    }

    /// A curve turned about an axis; `None` where that is no surface.
    pub fn turned(curve: Turned) -> Option<Shape> {
        // So fine that a chord of the widest ring is 10⁻³ of it off.
        let widest = curve.curve.iter().map(|p| p.x).fold(0.0, f64::max);
        let layer = curve.layer((0.08 * widest).max(1e-3 * curve.length()).max(f64::MIN_POSITIVE));
        let mesh = Mesh::new(&layer.positions, &layer.triangles).ok()?;
        Some(Shape::Turned { curve: Arc::new(curve), mesh: Arc::new(mesh) })
    }

    /// The same shape elsewhere: scaled, turned, moved.
    pub fn placed(&self, place: &Placement) -> Shape {
        let (point, length) = (|p: [f64; 3]| place.apply(p.into()).to_array(), |x: f64| x * place.scale);
        let way = |v: [f64; 3]| (place.rotation * DVec3::from(v)).to_array();
        let edge = |v: [f64; 3]| (place.rotation * DVec3::from(v) * place.scale).to_array();
        match self {
            Shape::Box { min, max } if place.rotation == DQuat::IDENTITY => {
                Shape::Box { min: point(*min), max: point(*max) }
            }
            Shape::Box { .. } => Shape::Tree(Tree::new(Operation::Place(*place), vec![self.clone()])),
            Shape::Sphere { centre, radius } => {
                Shape::Sphere { centre: point(*centre), radius: length(*radius) }
            }
            Shape::Sheet { corner, along, across } => {
                Shape::Sheet { corner: point(*corner), along: edge(*along), across: edge(*across) }
            }
            Shape::Line { from, to } => Shape::Line { from: point(*from), to: point(*to) },
            Shape::Net { of, centre } => Shape::Net { of: Arc::new(of.placed(place)), centre: *centre },
            Shape::Capsule { from, to, radius } => {
                Shape::Capsule { from: point(*from), to: point(*to), radius: length(*radius) }
            }
            Shape::Cone { from, to, radii } => {
                Shape::Cone { from: point(*from), to: point(*to), radii: radii.map(length) }
            }
            Shape::Torus { centre, axis, radius, tube } => Shape::Torus {
                centre: point(*centre),
                axis: way(*axis),
                radius: length(*radius),
                tube: length(*tube),
            },
            Shape::Plane { point: p, normal } => Shape::Plane { point: point(*p), normal: way(*normal) },
            Shape::Turned { curve, .. } => {
                let curve = Turned {
                    curve: curve.curve.iter().map(|&p| p * place.scale).collect(),
                    centre: place.apply(curve.centre),
                    axis: place.rotation * curve.axis,
                };
                // Moved, it is as sound as it was.
                Shape::turned(curve).unwrap_or_else(|| self.clone())
            }
            Shape::Mesh(mesh) => {
                let surface = mesh.surface();
                let positions: Vec<DVec3> = surface.positions.iter().map(|&p| place.apply(p)).collect();
                // Moved triangles are as sound as they were.
                let moved = Mesh::new(&positions, &surface.triangles);
                moved.map_or_else(|_| self.clone(), |mesh| Shape::Mesh(Arc::new(mesh)))
            }
            Shape::Tree(tree) => {
                let operation = match tree.operation {
                    Operation::Union { smooth } => Operation::Union { smooth: length(smooth) },
                    Operation::Difference { smooth } => Operation::Difference { smooth: length(smooth) },
                    Operation::Intersection { smooth } => Operation::Intersection { smooth: length(smooth) },
                    Operation::Shell { thickness } => Operation::Shell { thickness: length(thickness) },
                    Operation::Round { radius } => Operation::Round { radius: length(radius) },
                    Operation::Place(first) => {
                        let both = Placement {
                            at: place.apply(first.at),
                            rotation: place.rotation * first.rotation,
                            scale: place.scale * first.scale,
                        };
                        return Shape::Tree(Tree::new(Operation::Place(both), tree.of.clone()));
                    }
                };
                Shape::Tree(Tree::new(operation, tree.of.iter().map(|shape| shape.placed(place)).collect()))
            }
        }
    }
}

/// The box around all points below a plane: endless, except where the plane lies across an axis.
fn half_space(point: DVec3, normal: DVec3) -> Bounds {
    let (mut min, mut max) = (DVec3::NEG_INFINITY, DVec3::INFINITY);
    for axis in 0..3 {
        if normal[axis] >= 1.0 - 1e-12 {
            max[axis] = point[axis];
        } else if normal[axis] <= -1.0 + 1e-12 {
            min[axis] = point[axis];
        }
    }
    (min, max)
}

/// A shape for the plane: boxes reach across it, and rings lie in it.
pub(crate) fn flattened(shape: &Shape) -> Shape {
    match shape {
        Shape::Box { min, max } => {
            Shape::Box { min: [min[0], min[1], -ACROSS], max: [max[0], max[1], ACROSS] }
        }
        Shape::Torus { centre, radius, tube, .. } => {
            Shape::Torus { centre: *centre, axis: [0.0, 0.0, 1.0], radius: *radius, tube: *tube }
        }
        Shape::Tree(tree) => Shape::Tree(Tree::new(tree.operation, tree.of.iter().map(flattened).collect())),
        other => other.clone(),
    }
}

/// A number in [0, 1) that depends on its place in a sequence and the sequence alone (the SplitMix64 finaliser).
fn chance(index: u64, sequence: u64) -> f64 {
    let mut z = (index << 3 | sequence).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests;
