//! Triangle meshes: exact signed distances.
//!
//! The nearest point comes from a tree of boxes over the triangles. Its sign is that of (p − q)·n, where n is the
//! angle-weighted pseudonormal of the face, edge or corner q lies on: right everywhere for a closed mesh
//! [Baerentzen2005]. A mesh with a rim is a thin sheet: its distance is never negative.
//!
//! Corners at the same place are made one, so that files that repeat them (STL always does) are closed all the same.
//! Kept honest by `a_tree_finds_what_brute_force_finds` and `a_mesh_sphere_is_a_sphere`.

use std::collections::BTreeMap;

use glam::DVec3;

use super::TriangleMesh;
use super::primitives::{Feature, closest_on_triangle};

/// Triangles in a leaf of the tree.
const LEAF: usize = 4;

/// Corners closer than this part of the mesh's size are one.
const WELD: f64 = 1e-7;

/// A triangle whose box has more than so many times its area is filed in pieces: slivers that lie askew, such as those
/// of a fan, fill boxes that every search would have to enter.
const WASTE: f64 = 4.0;

/// Pieces are not cut any smaller than this part of the mesh's size.
const PIECE: f64 = 1.0 / 64.0;

/// A mesh, ready for questions.
#[derive(Debug)]
pub struct Mesh {
    surface: TriangleMesh,
    closed: bool,
    face_normals: Vec<DVec3>,
    /// Of the edges of each triangle, the first from its first corner to its second.
    edge_normals: Vec<[DVec3; 3]>,
    corner_normals: Vec<DVec3>,
    nodes: Vec<Node>,
    /// Triangles in the order of the leaves, and their corners beside each other: what a search reads.
    order: Vec<u32>,
    corners: Vec<[DVec3; 3]>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    min: DVec3,
    max: DVec3,
    /// Of a leaf: its first triangle in `order`. Of a branch: its second child; the first one follows it.
    start: u32,
    /// Triangles of a leaf; 0 for a branch.
    count: u32,
}

/// The point of a mesh nearest to another.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    pub point: DVec3,
    /// Pseudonormal there, of length 1.
    pub normal: DVec3,
    pub distance: f64,
}

/// Why triangles do not enclose anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Defect {
    #[error("has no triangles")]
    Empty,
    #[error("has {0} edges where triangles turn against each other")]
    Twisted(usize),
    #[error("is inside out: its triangles turn clockwise as seen from outside")]
    InsideOut,
}

impl Mesh {
    /// Makes corners one that lie together, drops triangles without area, and finds out whether it is closed.
    pub fn new(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<Mesh, Defect> {
        let surface = weld(positions, triangles);
        if surface.triangles.is_empty() {
            return Err(Defect::Empty);
        }
        let edges = edges_of(&surface);
        // An edge that is passed as often one way as the other has a triangle on each side.
        let open = edges.values().filter(|passes| passes.forward + passes.backward == 1).count();
        let twisted =
            edges.values().filter(|p| p.forward + p.backward > 1 && p.forward != p.backward).count();
        if twisted > 0 && open == 0 {
            return Err(Defect::Twisted(twisted));
        }
        let closed = open == 0;
        if closed && super::MassProperties::of_mesh(&surface).volume <= 0.0 && is_inside_out(&surface) {
            return Err(Defect::InsideOut);
        }
        let face_normals: Vec<DVec3> =
            surface.corners().map(|[a, b, c]| (b - a).cross(c - a).normalize_or_zero()).collect();
        let mut corner_normals = vec![DVec3::ZERO; surface.positions.len()];
        let mut edge_sums: BTreeMap<(u32, u32), DVec3> = BTreeMap::new();
        for (&triangle, &normal) in surface.triangles.iter().zip(&face_normals) {
            let corners = triangle.map(|i| surface.positions[i as usize]);
            for k in 0..3 {
                let (before, here, next) = (corners[(k + 2) % 3], corners[k], corners[(k + 1) % 3]);
                corner_normals[triangle[k] as usize] += normal * (next - here).angle_between(before - here);
                *edge_sums.entry(sorted(triangle[k], triangle[(k + 1) % 3])).or_default() += normal;
            }
        }
        let edge = |a: u32, b: u32| edge_sums[&sorted(a, b)].normalize_or_zero();
        let edge_normals =
            surface.triangles.iter().map(|&[a, b, c]| [edge(a, b), edge(b, c), edge(c, a)]).collect();
        corner_normals.iter_mut().for_each(|normal| *normal = normal.normalize_or_zero());
        let (nodes, order) = build(&surface);
        let corners_of = |&t: &u32| surface.triangles[t as usize].map(|i| surface.positions[i as usize]);
        let corners = order.iter().map(corners_of).collect();
        Ok(Mesh { surface, closed, face_normals, edge_normals, corner_normals, nodes, order, corners })
    }

    pub fn surface(&self) -> &TriangleMesh {
        &self.surface
    }

    /// Whether it encloses a volume.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub fn bounds(&self) -> (DVec3, DVec3) {
        (self.nodes[0].min, self.nodes[0].max)
    }

    /// Signed where the mesh is closed, else how far away it is, m.
    pub fn distance(&self, p: DVec3) -> f64 {
        let nearest = self.nearest(p);
        if self.closed && (p - nearest.point).dot(nearest.normal) < 0.0 {
            -nearest.distance
        } else {
            nearest.distance
        }
    }

    pub fn nearest(&self, p: DVec3) -> Nearest {
        let mut best = (f64::INFINITY, DVec3::ZERO, 0usize, Feature::Face);
        // Deep enough for any tree: its halves are equal.
        let mut stack = [(0u32, 0.0f64); 64];
        stack[0] = (0, self.nodes[0].distance_squared(p));
        let mut top = 1;
        while top > 0 {
            top -= 1;
            let (index, away) = stack[top];
            if away >= best.0 {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.count > 0 {
                let leaf = node.start as usize..(node.start + node.count) as usize;
                for (corners, &triangle) in self.corners[leaf.clone()].iter().zip(&self.order[leaf]) {
                    let (point, feature) = closest_on_triangle(p, *corners);
                    let squared = p.distance_squared(point);
                    if squared < best.0 {
                        best = (squared, point, triangle as usize, feature);
                    }
                }
                continue;
            }
            let children =
                [index + 1, node.start].map(|child| (child, self.nodes[child as usize].distance_squared(p)));
            let [near, far] =
                if children[0].1 <= children[1].1 { children } else { [children[1], children[0]] };
            stack[top] = far;
            stack[top + 1] = near;
            top += 2;
        }
        let (squared, point, triangle, feature) = best;
        let normal = match feature {
            Feature::Face => self.face_normals[triangle],
            Feature::Edge(k) => self.edge_normals[triangle][k],
            Feature::Corner(k) => self.corner_normals[self.surface.triangles[triangle][k] as usize],
        };
        Nearest { point, normal, distance: squared.sqrt() }
    }
}

impl Node {
    fn distance_squared(&self, p: DVec3) -> f64 {
        (self.min - p).max(p - self.max).max(DVec3::ZERO).length_squared()
    }
}

fn sorted(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

/// How often an edge is passed each way.
#[derive(Clone, Copy, Debug, Default)]
struct Passes {
    forward: usize,
    backward: usize,
}

fn edges_of(surface: &TriangleMesh) -> BTreeMap<(u32, u32), Passes> {
    let mut edges: BTreeMap<(u32, u32), Passes> = BTreeMap::new();
    for triangle in &surface.triangles {
        for k in 0..3 {
            let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
            let passes = edges.entry(sorted(a, b)).or_default();
            if a < b { passes.forward += 1 } else { passes.backward += 1 }
        }
    }
    edges
}

/// Whether the volume is negative, and not just nothing.
fn is_inside_out(surface: &TriangleMesh) -> bool {
    let sum: f64 = surface.corners().map(|[a, b, c]| a.dot(b.cross(c))).sum();
    sum < 0.0
}

/// One corner for all at the same place; no triangle without area.
fn weld(positions: &[DVec3], triangles: &[[u32; 3]]) -> TriangleMesh {
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (min, max) = positions.iter().fold(start, |(min, max), &p| (min.min(p), max.max(p)));
    let width = ((max - min).length() * WELD).max(f64::MIN_POSITIVE);
    let mut surface = TriangleMesh::default();
    let mut known: BTreeMap<[i64; 3], u32> = BTreeMap::new();
    let new: Vec<u32> = positions
        .iter()
        .map(|&p| {
            let cell = ((p - min) / width).round().to_array().map(|x| x as i64);
            *known.entry(cell).or_insert_with(|| {
                surface.positions.push(p);
                surface.positions.len() as u32 - 1
            })
        })
        .collect();
    for triangle in triangles {
        let [a, b, c] = triangle.map(|i| new[i as usize]);
        let [p, q, r] = [a, b, c].map(|i| surface.positions[i as usize]);
        if a != b && b != c && c != a && (q - p).cross(r - p) != DVec3::ZERO {
            surface.triangles.push([a, b, c]);
        }
    }
    surface
}

/// Boxes around halves of halves, split where the centres of the triangles reach farthest.
fn build(surface: &TriangleMesh) -> (Vec<Node>, Vec<u32>) {
    let size = surface.bounds().map_or(0.0, |(min, max)| (max - min).length());
    let mut pieces = Vec::with_capacity(surface.triangles.len());
    for (triangle, corners) in surface.corners().enumerate() {
        cut(triangle as u32, corners, PIECE * size, &mut pieces);
    }
    let corners: Vec<[DVec3; 3]> = pieces.iter().map(|(_, corners)| *corners).collect();
    let centres: Vec<DVec3> = corners.iter().map(|[a, b, c]| (*a + *b + *c) / 3.0).collect();
    let mut order: Vec<u32> = (0..corners.len() as u32).collect();
    let mut nodes = Vec::with_capacity(corners.len());
    split(&mut nodes, &mut order, 0, &corners, &centres);
    // The nearest point of a triangle is asked of the whole of it, by whichever piece it was found.
    order.iter_mut().for_each(|piece| *piece = pieces[*piece as usize].0);
    (nodes, order)
}

/// A triangle in pieces whose boxes are not much larger than they are: halved across its longest edge.
fn cut(triangle: u32, corners: [DVec3; 3], least: f64, pieces: &mut Vec<(u32, [DVec3; 3])>) {
    let [a, b, c] = corners;
    let box_ = a.max(b).max(c) - a.min(b).min(c);
    let area = 0.5 * (b - a).cross(c - a).length();
    let faces = box_.x * box_.y + box_.y * box_.z + box_.z * box_.x;
    if faces <= WASTE * area || box_.length() <= least {
        pieces.push((triangle, corners));
        return;
    }
    let lengths = [a.distance_squared(b), b.distance_squared(c), c.distance_squared(a)];
    let longest = (0..3).max_by(|&i, &j| lengths[i].total_cmp(&lengths[j])).unwrap_or(0);
    let [a, b, c] = [corners[longest], corners[(longest + 1) % 3], corners[(longest + 2) % 3]];
    let middle = 0.5 * (a + b);
    cut(triangle, [a, middle, c], least, pieces);
    cut(triangle, [middle, b, c], least, pieces);
}

fn split(nodes: &mut Vec<Node>, order: &mut [u32], first: usize, corners: &[[DVec3; 3]], centres: &[DVec3]) {
    let start = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let around = |points: &mut dyn Iterator<Item = DVec3>| {
        points.fold(start, |(min, max), p| (min.min(p), max.max(p)))
    };
    let (min, max) = around(&mut order.iter().flat_map(|&t| corners[t as usize]));
    let index = nodes.len();
    nodes.push(Node { min, max, start: first as u32, count: order.len() as u32 });
    if order.len() <= LEAF {
        return;
    }
    let (low, high) = around(&mut order.iter().map(|&t| centres[t as usize]));
    let axis = (high - low).max_position();
    let middle = order.len() / 2;
    // By number where centres are level: the same tree every time.
    order.select_nth_unstable_by(middle, |&a, &b| {
        centres[a as usize][axis].total_cmp(&centres[b as usize][axis]).then(a.cmp(&b))
    });
    let (left, right) = order.split_at_mut(middle);
    split(nodes, left, first, corners, centres);
    nodes[index].start = nodes.len() as u32;
    nodes[index].count = 0;
    split(nodes, right, first + middle, corners, centres);
}

#[cfg(test)]
mod tests {
    use super::super::tessellate;
    use super::*;

    fn globe(segments: usize) -> Mesh {
        let mesh = tessellate::sphere(DVec3::new(0.1, 0.2, -0.3), 1.0, segments);
        Mesh::new(&mesh.positions, &mesh.triangles).unwrap()
    }

    /// Points all over a box of ±2.
    fn points(count: u64) -> impl Iterator<Item = DVec3> {
        (0..count).map(|i| {
            let x = |axis: u64| 4.0 * super::super::chance(i * 3 + axis, 7) - 2.0;
            DVec3::new(x(0), x(1), x(2))
        })
    }

    #[test]
    fn a_tree_finds_what_brute_force_finds() {
        let mesh = globe(24);
        for p in points(300) {
            let all = mesh.surface.corners().map(|corners| p.distance(closest_on_triangle(p, corners).0));
            let least = all.fold(f64::INFINITY, f64::min);
            assert!((mesh.nearest(p).distance - least).abs() < 1e-12);
        }
    }

    #[test]
    fn slivers_are_found_where_they_are() {
        // A fan over a disc that lies askew, closed by another one: every triangle is long and thin.
        let turn = glam::DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.7);
        let rim = |k: u32| {
            let (s, c) = (f64::from(k) * std::f64::consts::TAU / 400.0).sin_cos();
            turn * DVec3::new(c, 0.0, s)
        };
        let mut positions: Vec<DVec3> = (0..400).map(rim).collect();
        positions.extend([turn * DVec3::new(0.0, 0.1, 0.0), turn * DVec3::new(0.0, -0.1, 0.0)]);
        let halves = |k: u32| [[400, (k + 1) % 400, k], [401, k, (k + 1) % 400]];
        let mesh = Mesh::new(&positions, &(0..400).flat_map(halves).collect::<Vec<_>>()).unwrap();
        assert!(mesh.is_closed() && mesh.order.len() > mesh.surface.triangles.len());
        for p in points(300) {
            let all = mesh.surface.corners().map(|corners| p.distance(closest_on_triangle(p, corners).0));
            let least = all.fold(f64::INFINITY, f64::min);
            assert!((mesh.nearest(p).distance - least).abs() < 1e-12);
        }
    }

    #[test]
    fn a_mesh_sphere_is_a_sphere() {
        let mesh = globe(96);
        assert!(mesh.is_closed());
        for p in points(2000) {
            let exact = p.distance(DVec3::new(0.1, 0.2, -0.3)) - 1.0;
            // Chords of 96 segments leave the circle by r(1 − cos(π/96)) = 5·10⁻⁴.
            assert!((mesh.distance(p) - exact).abs() < 1.2e-3, "{p}: {} {exact}", mesh.distance(p));
        }
    }

    #[test]
    fn defects_are_told_apart() {
        let cube = tessellate::cuboid(DVec3::ZERO, DVec3::ONE);
        assert!(Mesh::new(&cube.positions, &cube.triangles).unwrap().is_closed());
        let flipped: Vec<_> = cube.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        assert_eq!(Mesh::new(&cube.positions, &flipped).unwrap_err(), Defect::InsideOut);
        let mut one = cube.triangles.clone();
        one[0].swap(0, 1);
        assert_eq!(Mesh::new(&cube.positions, &one).unwrap_err(), Defect::Twisted(3));
        assert!(!Mesh::new(&cube.positions, &cube.triangles[1..]).unwrap().is_closed());
        assert_eq!(Mesh::new(&cube.positions, &[[0, 0, 1]]).unwrap_err(), Defect::Empty);
    }

    #[test]
    fn corners_that_are_written_three_times_are_one() {
        let cube = tessellate::cuboid(DVec3::ZERO, DVec3::ONE);
        let soup: Vec<DVec3> = cube.corners().flatten().collect();
        let triangles: Vec<[u32; 3]> = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let mesh = Mesh::new(&soup, &triangles).unwrap();
        assert_eq!((mesh.surface.positions.len(), mesh.is_closed()), (8, true));
    }
}
