//! Where rays meet triangles, spheres and threads.
//!
//! `obvhs` builds a binary hierarchy of boxes (locally ordered clustering); we fold it into nodes of eight
//! children and leaves of up to four primitives of one kind, and test four at a time with [`glam::Vec4`].
//! Nodes of four took a fifth longer, and reinsertion did not lessen the nodes that rays visit.
//!
//! - Triangles: the watertight test of Woop, Benthin & Wald (2013), edges counted to both sides, so that no ray
//!   slips between two triangles.
//! - Spheres: both crossings, by the distance of the centre from the ray, which keeps f32 accurate from afar.
//! - Threads: Catmull–Rom curves cut into straight pieces swept by a sphere of linearly changing radius. Only
//!   where a ray enters: a ray that starts inside a thread leaves it freely.
//!
//! Of two hits at the same distance the primitive with the lower number wins, whatever the hierarchy looks
//! like. Kept honest by `hits_equal_brute_force` and `threads_equal_dense_spheres`.

use super::sampler::Stream;
use super::scene::{Shape, Thing};
use crate::spline::catmull_rom;
use glam::{Vec3, Vec3A, Vec4};
use obvhs::aabb::Aabb;
use obvhs::bvh2::Bvh2;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};

/// How finely a curve is cut: the pieces leave it by at most this part of its radius.
const CURVE_TOLERANCE: f32 = 0.05;
const MOST_PIECES: usize = 16;
/// Children of a node.
const WIDTH: usize = 8;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub origin: Vec3,
    /// Unit vector.
    pub direction: Vec3,
    pub reach: f32,
}

/// Where a ray meets a primitive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub distance: f32,
    pub primitive: u32,
    /// Weights of the triangle's second and third vertex; for threads `u` is the place along the piece.
    pub u: f32,
    pub v: f32,
}

/// Which part of which thing a primitive is: triangle, sphere, or piece of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub thing: u32,
    pub element: u32,
}

/// A straight piece of a thread, between two spheres.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub a: Vec3,
    pub b: Vec3,
    pub radius_a: f32,
    pub radius_b: f32,
    /// Directions of the curve at both ends, not of unit length.
    pub tangent_a: Vec3,
    pub tangent_b: Vec3,
    /// Number of the curve's point before the piece, and where the piece lies between it and the next.
    pub point: u32,
    pub from: f32,
    pub to: f32,
    primitive: u32,
}

#[repr(align(64))]
struct Node {
    /// Lower and upper bounds of the children, by axis, four at a time.
    bounds: [[[Vec4; 2]; 3]; 2],
    children: [Child; WIDTH],
}

/// What a child is (top two bits), how many primitives a leaf of pieces has (next two, less one), and its
/// index.
#[derive(Clone, Copy, PartialEq)]
struct Child(u32);

const INNER: u32 = 0;
const TRIANGLES: u32 = 1;
const SPHERES: u32 = 2;
const PIECES: u32 = 3;

impl Child {
    fn new(kind: u32, count: usize, index: usize) -> Self {
        assert!(index < 1 << 28, "too many primitives for the hierarchy: {index}");
        Child(kind << 30 | (count as u32 - 1) << 28 | index as u32)
    }
    fn kind(self) -> u32 {
        self.0 >> 30
    }
    fn count(self) -> usize {
        (self.0 >> 28 & 3) as usize + 1
    }
    fn index(self) -> usize {
        (self.0 & 0x0fff_ffff) as usize
    }
}

/// Up to four triangles: vertices by number and axis.
struct TriangleBlock {
    vertices: [[Vec4; 3]; 3],
    primitives: [u32; 4],
}

struct SphereBlock {
    centres: [Vec4; 3],
    radii: Vec4,
    primitives: [u32; 4],
}

#[derive(Default)]
pub(crate) struct Bvh {
    nodes: Vec<Node>,
    root: Option<Child>,
    /// Nodes that can wait at the same time: three on each level.
    most_waiting: usize,
    triangles: Vec<TriangleBlock>,
    spheres: Vec<SphereBlock>,
    /// In the order of the leaves.
    leaf_pieces: Vec<Piece>,
    pub owners: Vec<Owner>,
    /// All pieces of threads, by `Owner::element`.
    pub pieces: Vec<Piece>,
}

/// Nodes that wait to be visited and the distance at which the ray enters them; kept between rays to save
/// allocations.
pub(crate) type Stack = Vec<(u32, f32)>;

impl Bvh {
    pub fn new(things: &[Thing]) -> Self {
        let mut bvh = Bvh::default();
        let mut boxes = Vec::new();
        let mut kinds = Vec::new();
        for (number, thing) in things.iter().enumerate() {
            // What has no finite place cannot be seen, and would spoil the boxes around it.
            let mut add = |kind: u32, element: usize, bounds: Aabb| {
                if !bounds.min.is_finite() || !bounds.max.is_finite() {
                    return u32::MAX;
                }
                bvh.owners.push(Owner { thing: number as u32, element: element as u32 });
                boxes.push(bounds);
                kinds.push(kind);
                kinds.len() as u32 - 1
            };
            match &thing.shape {
                Shape::Mesh(mesh) => {
                    for (element, triangle) in mesh.triangles.iter().enumerate() {
                        let corners = triangle.map(|vertex| mesh.positions[vertex as usize].into());
                        add(TRIANGLES, element, Aabb::from_points(&corners));
                    }
                }
                Shape::Spheres { centres, radii, .. } => {
                    for (element, (&centre, &radius)) in centres.iter().zip(radii).enumerate() {
                        add(SPHERES, element, Aabb::new((centre - radius).into(), (centre + radius).into()));
                    }
                }
                Shape::Curves { points, radii, strands, .. } => {
                    for mut piece in cut_into_pieces(points, radii, strands) {
                        let low = (piece.a - piece.radius_a).min(piece.b - piece.radius_b);
                        let high = (piece.a + piece.radius_a).max(piece.b + piece.radius_b);
                        piece.primitive = add(PIECES, bvh.pieces.len(), Aabb::new(low.into(), high.into()));
                        bvh.pieces.push(piece);
                    }
                }
            }
        }
        if boxes.is_empty() {
            return bvh;
        }
        let indices = (0..boxes.len() as u32).collect();
        let distinct: Vec<Aabb> =
            boxes.iter().enumerate().map(|(i, bounds)| made_distinct(bounds, i)).collect();
        let tree =
            PlocBuilder::new().build(PlocSearchDistance::Low, &distinct, indices, SortPrecision::U64, 2);
        let mut folding = Folding { sizes: vec![(0, 0); tree.nodes.len()], tree, boxes, kinds, things, bvh };
        folding.measure(0);
        folding.bvh.root = Some(folding.fold(0, 1));
        folding.bvh
    }

    /// Calls `accept` for the hits within the ray's reach, in no order; it returns the new reach, and a
    /// negative one ends the search.
    #[inline]
    fn search(&self, ray: &Ray, stack: &mut Stack, mut accept: impl FnMut(Hit) -> f32) {
        let Some(mut child) = self.root else { return };
        let prepared = PreparedRay::new(ray);
        let mut reach = ray.reach;
        if stack.len() < self.most_waiting {
            stack.resize(self.most_waiting, (0, 0.0));
        }
        let mut waiting = 0;
        loop {
            match child.kind() {
                INNER => {
                    let node = &self.nodes[child.index()];
                    let (mut mask, enter) = node.entered(&prepared, reach);
                    if mask != 0 {
                        // The nearest child comes next, the others wait, the farthest lowest.
                        let mut next = mask.trailing_zeros() as usize;
                        mask &= mask - 1;
                        let first = waiting;
                        while mask != 0 {
                            let mut other = mask.trailing_zeros() as usize;
                            mask &= mask - 1;
                            if enter[other] < enter[next] {
                                std::mem::swap(&mut next, &mut other);
                            }
                            let mut at = waiting;
                            while at > first && stack[at - 1].1 < enter[other] {
                                stack[at] = stack[at - 1];
                                at -= 1;
                            }
                            stack[at] = (node.children[other].0, enter[other]);
                            waiting += 1;
                        }
                        child = node.children[next];
                        continue;
                    }
                }
                TRIANGLES => {
                    prepared.meet_triangles(&self.triangles[child.index()], &mut reach, &mut accept);
                }
                SPHERES => prepared.meet_spheres(&self.spheres[child.index()], &mut reach, &mut accept),
                _ => {
                    for piece in &self.leaf_pieces[child.index()..child.index() + child.count()] {
                        if let Some((distance, u)) = meet_piece(ray, piece, reach) {
                            reach = accept(Hit { distance, primitive: piece.primitive, u, v: 0.0 });
                        }
                    }
                }
            }
            // A negative reach is below every distance: nothing that waits is visited.
            loop {
                if waiting == 0 {
                    return;
                }
                waiting -= 1;
                if stack[waiting].1 <= reach {
                    child = Child(stack[waiting].0);
                    break;
                }
            }
        }
    }

    /// The nearest hit, if `only` says so of one thing alone.
    pub fn nearest(&self, ray: &Ray, only: Option<u32>, stack: &mut Stack) -> Option<Hit> {
        let mut nearest: Option<Hit> = None;
        self.search(ray, stack, |hit| {
            let reach = nearest.map_or(ray.reach, |nearest| nearest.distance);
            let before = hit.distance < reach
                || nearest.is_some_and(|n| hit.distance == n.distance && hit.primitive < n.primitive);
            let wanted = only.is_none_or(|thing| self.owners[hit.primitive as usize].thing == thing);
            if !(before && wanted) {
                return reach;
            }
            nearest = Some(hit);
            hit.distance
        });
        nearest
    }

    /// Calls `pass` for every hit until it answers `false`: something is in the way. Says whether the way is
    /// free.
    pub fn is_free(&self, ray: &Ray, stack: &mut Stack, mut pass: impl FnMut(Hit) -> bool) -> bool {
        let mut free = true;
        self.search(ray, stack, |hit| {
            free = pass(hit);
            if free { ray.reach } else { -1.0 }
        });
        free
    }
}

/// The box moved by some millionths of its distance from the origin, elsewhere for each index. Where thousands of
/// boxes are alike, each would find the same neighbour best, and the tree would become a chain.
fn made_distinct(bounds: &Aabb, index: usize) -> Aabb {
    let mut stream = Stream::seeded(index as u32);
    let shift = Vec3A::from_array([(); 3].map(|()| stream.next() - 0.5));
    let far = bounds.min.abs().max(bounds.max.abs()).max_element();
    let shift = shift * (4e-6 * far + 1e-9);
    Aabb { min: bounds.min + shift, max: bounds.max + shift }
}

/// Turns the binary tree into nodes of eight.
struct Folding<'a> {
    tree: Bvh2,
    /// Of the primitives.
    boxes: Vec<Aabb>,
    kinds: Vec<u32>,
    things: &'a [Thing],
    /// For every node of the binary tree: the number of primitives below, and their kind (or `INNER` when
    /// mixed).
    sizes: Vec<(usize, u32)>,
    bvh: Bvh,
}

impl Folding<'_> {
    /// Finds the sizes, and the true bounds.
    fn measure(&mut self, at: usize) -> (usize, u32) {
        let node = self.tree.nodes[at];
        let first = node.first_index as usize;
        self.sizes[at] = if node.is_leaf() {
            let primitive = self.tree.primitive_indices[first] as usize;
            self.tree.nodes[at].set_aabb(self.boxes[primitive]);
            (1, self.kinds[primitive])
        } else {
            let (left, right) = (self.measure(first), self.measure(first + 1));
            let nodes = &mut self.tree.nodes;
            let bounds = nodes[first].aabb().union(nodes[first + 1].aabb());
            nodes[at].set_aabb(bounds);
            (left.0 + right.0, if left.1 == right.1 { left.1 } else { INNER })
        };
        self.sizes[at]
    }

    fn is_leaf(&self, at: usize) -> bool {
        let (count, kind) = self.sizes[at];
        count <= 4 && kind != INNER
    }

    fn fold(&mut self, at: usize, level: usize) -> Child {
        if self.is_leaf(at) {
            return self.leaf(at);
        }

        // Open the largest child until there are enough.
        let first = self.tree.nodes[at].first_index as usize;
        let mut children = [first; WIDTH];
        children[1] = first + 1;
        let mut count = 2;
        while count < WIDTH {
            let area = |i: usize| self.tree.nodes[children[i]].aabb().half_area();
            let open = (0..count)
                .filter(|&i| !self.is_leaf(children[i]))
                .max_by(|&i, &j| area(i).total_cmp(&area(j)));
            let Some(open) = open else { break };
            let first = self.tree.nodes[children[open]].first_index as usize;
            children[open] = first;
            children[count] = first + 1;
            count += 1;
        }

        self.bvh.most_waiting = self.bvh.most_waiting.max((WIDTH - 1) * level);
        let index = self.bvh.nodes.len();
        self.bvh.nodes.push(Node {
            bounds: [[[Vec4::INFINITY; 2]; 3], [[Vec4::NEG_INFINITY; 2]; 3]],
            children: [Child::new(INNER, 1, 0); WIDTH],
        });
        for (lane, &child) in children[..count].iter().enumerate() {
            let folded = self.fold(child, level + 1);
            let bounds = *self.tree.nodes[child].aabb();
            let node = &mut self.bvh.nodes[index];
            node.children[lane] = folded;
            for axis in 0..3 {
                node.bounds[0][axis][lane / 4][lane % 4] = bounds.min[axis];
                node.bounds[1][axis][lane / 4][lane % 4] = bounds.max[axis];
            }
        }
        Child::new(INNER, 1, index)
    }

    fn primitives_below(&self, at: usize, into: &mut Vec<u32>) {
        let node = self.tree.nodes[at];
        let first = node.first_index as usize;
        if node.is_leaf() {
            into.push(self.tree.primitive_indices[first]);
        } else {
            self.primitives_below(first, into);
            self.primitives_below(first + 1, into);
        }
    }

    fn leaf(&mut self, at: usize) -> Child {
        let mut below = Vec::with_capacity(4);
        self.primitives_below(at, &mut below);
        let kind = self.sizes[at].1;
        let bvh = &mut self.bvh;
        if kind == PIECES {
            let first = bvh.leaf_pieces.len();
            bvh.leaf_pieces.extend(
                below.iter().map(|&primitive| bvh.pieces[bvh.owners[primitive as usize].element as usize]),
            );
            return Child::new(kind, below.len(), first);
        }

        // Lanes without a primitive hold a triangle without area, or a sphere that is nowhere.
        let mut triangles = TriangleBlock { vertices: [[Vec4::ZERO; 3]; 3], primitives: [u32::MAX; 4] };
        let mut spheres =
            SphereBlock { centres: [Vec4::ZERO; 3], radii: Vec4::splat(-1.0), primitives: [u32::MAX; 4] };
        for (lane, &primitive) in below.iter().enumerate() {
            let owner = bvh.owners[primitive as usize];
            match &self.things[owner.thing as usize].shape {
                Shape::Mesh(mesh) => {
                    triangles.primitives[lane] = primitive;
                    for (corner, &vertex) in mesh.triangles[owner.element as usize].iter().enumerate() {
                        for axis in 0..3 {
                            triangles.vertices[corner][axis][lane] = mesh.positions[vertex as usize][axis];
                        }
                    }
                }
                Shape::Spheres { centres, radii, .. } => {
                    spheres.primitives[lane] = primitive;
                    spheres.radii[lane] = radii[owner.element as usize];
                    for (axis, centre) in spheres.centres.iter_mut().enumerate() {
                        centre[lane] = centres[owner.element as usize][axis];
                    }
                }
                Shape::Curves { .. } => unreachable!("pieces are handled above"),
            }
        }
        if kind == TRIANGLES {
            bvh.triangles.push(triangles);
            Child::new(kind, 1, bvh.triangles.len() - 1)
        } else {
            bvh.spheres.push(spheres);
            Child::new(kind, 1, bvh.spheres.len() - 1)
        }
    }
}

impl Node {
    /// Which children the ray enters, as bits, and where.
    #[inline]
    fn entered(&self, ray: &PreparedRay, reach: f32) -> (u32, [f32; WIDTH]) {
        let half = |part: usize| {
            let slab = |side: usize, axis: usize| {
                (self.bounds[side][axis][part] - ray.origins[axis]) * ray.inverses[axis]
            };
            let near = |axis: usize| slab(ray.negative[axis], axis);
            let far = |axis: usize| slab(1 - ray.negative[axis], axis);
            let enter = near(0).max(near(1)).max(near(2).max(Vec4::ZERO));
            // The factor makes up for rounding: two units in the last place (Ize 2013).
            let leave = (far(0).min(far(1)).min(far(2)) * 1.000_000_4).min(Vec4::splat(reach));
            (enter.cmple(leave).bitmask(), enter.to_array())
        };
        let ((mask_a, [a, b, c, d]), (mask_b, [e, f, g, h])) = (half(0), half(1));
        (mask_a | mask_b << 4, [a, b, c, d, e, f, g, h])
    }
}

/// A ray with what all boxes and triangles need of it.
struct PreparedRay {
    /// Of the origin, four times each coordinate; and of the inverse direction.
    origins: [Vec4; 3],
    inverses: [Vec4; 3],
    direction: Vec3,
    /// 1 where the direction is negative.
    negative: [usize; 3],
    /// The axes of the watertight test, the one along which the ray goes fastest last, and its shear.
    axes: [usize; 3],
    shear: Vec3,
}

impl PreparedRay {
    fn new(ray: &Ray) -> Self {
        let direction = ray.direction;
        // A finite inverse: 0 · ∞ would be no number. No scene is 10³⁰ m wide.
        let invert = |x: f32| if x.abs() < 1e-30 { 1e30f32.copysign(x) } else { 1.0 / x };
        let inverse = Vec3::new(invert(direction.x), invert(direction.y), invert(direction.z));
        let z = direction.abs().max_position();
        let axes = [(z + 1) % 3, (z + 2) % 3, z];
        let shear = Vec3::new(direction[axes[0]], direction[axes[1]], 1.0) * inverse[z];
        Self {
            origins: [0, 1, 2].map(|axis| Vec4::splat(ray.origin[axis])),
            inverses: [0, 1, 2].map(|axis| Vec4::splat(inverse[axis])),
            direction,
            negative: [0, 1, 2].map(|axis| (inverse[axis] < 0.0) as usize),
            axes,
            shear,
        }
    }

    #[inline]
    fn meet_triangles(&self, block: &TriangleBlock, reach: &mut f32, accept: &mut impl FnMut(Hit) -> f32) {
        let [x, y, z] = self.axes;
        let (origin_x, origin_y, origin_z) = (self.origins[x], self.origins[y], self.origins[z]);
        let (shear_x, shear_y) = (Vec4::splat(self.shear.x), Vec4::splat(self.shear.y));
        // Corners in the frame where the ray starts at 0 and runs along z.
        let corner = |number: usize| {
            let vertices = &block.vertices[number];
            let along = vertices[z] - origin_z;
            (vertices[x] - origin_x - shear_x * along, vertices[y] - origin_y - shear_y * along, along)
        };
        let (ax, ay, az) = corner(0);
        let (bx, by, bz) = corner(1);
        let (cx, cy, cz) = corner(2);

        // Twice the signed areas that the ray's foot spans with the edges.
        let u = cx * by - cy * bx;
        let v = ax * cy - ay * cx;
        let w = bx * ay - by * ax;
        let least = u.min(v).min(w);
        let most = u.max(v).max(w);
        let area = u + v + w;
        let inside = least.cmpge(Vec4::ZERO) | most.cmple(Vec4::ZERO);
        if !inside.any() {
            return;
        }
        let distance = (u * az + v * bz + w * cz) * self.shear.z / area;
        let hit = inside
            & area.cmpne(Vec4::ZERO)
            & distance.cmpgt(Vec4::ZERO)
            & distance.cmple(Vec4::splat(*reach));
        let mut mask = hit.bitmask();
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            if distance[lane] > *reach {
                continue;
            }
            let primitive = block.primitives[lane];
            *reach = accept(Hit {
                distance: distance[lane],
                primitive,
                u: v[lane] / area[lane],
                v: w[lane] / area[lane],
            });
        }
    }

    #[inline]
    fn meet_spheres(&self, block: &SphereBlock, reach: &mut f32, accept: &mut impl FnMut(Hit) -> f32) {
        // The foot of the centre on the ray, and half the chord around it.
        let [x, y, z] = [0, 1, 2].map(|axis| block.centres[axis] - self.origins[axis]);
        let d = self.direction;
        let foot = x * d.x + y * d.y + z * d.z;
        let (off_x, off_y, off_z) = (x - foot * d.x, y - foot * d.y, z - foot * d.z);
        let square = block.radii * block.radii - (off_x * off_x + off_y * off_y + off_z * off_z);
        let mut mask = (square.cmpge(Vec4::ZERO) & block.radii.cmpgt(Vec4::ZERO)).bitmask();
        while mask != 0 {
            let lane = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let chord = square[lane].sqrt();
            for distance in [foot[lane] - chord, foot[lane] + chord] {
                if distance > 0.0 && distance <= *reach {
                    *reach = accept(Hit { distance, primitive: block.primitives[lane], u: 0.0, v: 0.0 });
                }
            }
        }
    }
}

/// Where a ray enters the hull of all spheres from (a, rₐ) to (b, r_b), and how far along the piece that is.
///
/// The hull's side is the set of points p whose distance to the sphere with the best parameter is least: with
/// s = b − a, δ = rₐ − r_b and q = p − a, that is |q|²·(s² − δ²) − (q·s)² + 2 (q·s) δ rₐ − s² rₐ² = 0, a
/// quadratic along the ray. The origin is first moved next to the piece, which keeps f32 accurate from afar.
fn meet_piece(ray: &Ray, piece: &Piece, reach: f32) -> Option<(f32, f32)> {
    let d = ray.direction;
    let moved = (0.5 * (piece.a + piece.b) - ray.origin).dot(d);
    let from_a = ray.origin + d * moved - piece.a;
    let axis = piece.b - piece.a;
    let taper = piece.radius_a - piece.radius_b;
    let (ra, rb) = (piece.radius_a, piece.radius_b);
    let axis2 = axis.length_squared();
    let (axis_from, axis_d, d_from) = (axis.dot(from_a), axis.dot(d), d.dot(from_a));
    let width2 = axis2 - taper * taper;

    let mut nearest: Option<(f32, f32)> = None;
    let mut offer = |distance: f32, along: f32| {
        let distance = distance + moved;
        if distance > 0.0 && distance <= reach && nearest.is_none_or(|(other, _)| distance < other) {
            nearest = Some((distance, along));
        }
    };
    if width2 > 0.0 {
        let k2 = width2 - axis_d * axis_d;
        let k1 = width2 * d_from - axis_from * axis_d + axis_d * taper * ra;
        let k0 = width2 * from_a.length_squared() - axis_from * axis_from + 2.0 * axis_from * taper * ra
            - axis2 * ra * ra;
        let root = k1 * k1 - k0 * k2;
        if root >= 0.0 && k2.abs() > 1e-12 * axis2 {
            let distance = (-root.sqrt() - k1) / k2;
            let along = axis_from - ra * taper + distance * axis_d;
            if along > 0.0 && along < width2 {
                offer(distance, along / width2);
            }
        }
    }

    // The spheres at both ends, outside the side's part.
    for (from, radius, end) in [(from_a, ra, 0.0), (from_a - axis, rb, 1.0)] {
        let foot = -d.dot(from);
        let root = radius * radius - (from + d * foot).length_squared();
        if root >= 0.0 {
            let distance = foot - root.sqrt();
            let along = axis_from - ra * taper + distance * axis_d;
            if (end == 0.0 && along <= 0.0) || (end == 1.0 && along >= width2) {
                offer(distance, end);
            }
        }
    }
    nearest
}

fn cut_into_pieces(points: &[Vec3], radii: &[f32], strands: &[usize]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut first = 0;
    for &length in strands {
        let end = first + length;
        let strand = &points[first..end];
        for i in first..end.max(first + 1) - 1 {
            // A chord of a curve with second derivative c over a parameter step h leaves it by c h² / 8.
            let at = |t| catmull_rom(strand, i - first, t).1;
            let bend = (at(0.5) - at(0.0)).length().max((at(1.0) - at(0.5)).length()) * 2.0;
            let tolerance = CURVE_TOLERANCE * radii[i].min(radii[i + 1]);
            let count = ((bend / (8.0 * tolerance.max(1e-12))).sqrt().ceil() as usize).clamp(1, MOST_PIECES);
            for part in 0..count {
                let (from, to) = (part as f32 / count as f32, (part + 1) as f32 / count as f32);
                let radius = |t: f32| radii[i] + (radii[i + 1] - radii[i]) * t;
                let (a, tangent_a) = catmull_rom(strand, i - first, from);
                let (b, tangent_b) = catmull_rom(strand, i - first, to);
                pieces.push(Piece {
                    a,
                    b,
                    tangent_a,
                    tangent_b,
                    radius_a: radius(from),
                    radius_b: radius(to),
                    point: i as u32,
                    from,
                    to,
                    primitive: 0,
                });
            }
        }
        first = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::super::{Look, Scene, Thing};
    use super::*;
    use crate::mesh::Mesh;
    use glam::{DVec3, vec3};

    fn random(stream: &mut Stream) -> Vec3 {
        vec3(stream.next(), stream.next(), stream.next()) - 0.5
    }

    fn rays(count: usize, stream: &mut Stream) -> Vec<Ray> {
        (0..count)
            .map(|_| {
                let origin = random(stream) * 6.0;
                let direction = (random(stream) - origin).normalize();
                Ray { origin, direction, reach: f32::INFINITY }
            })
            .collect()
    }

    fn thing(shape: Shape) -> Thing {
        Thing { shape, look: Look::SAND }
    }

    /// Distance to a triangle in f64 (Möller & Trumbore 1997), and how far the hit is inside.
    fn triangle_distance(ray: &Ray, corners: [DVec3; 3]) -> Option<f64> {
        let (e1, e2) = (corners[1] - corners[0], corners[2] - corners[0]);
        let d = ray.direction.as_dvec3();
        let p = d.cross(e2);
        let s = ray.origin.as_dvec3() - corners[0];
        let det = e1.dot(p);
        let (u, q) = (s.dot(p) / det, s.cross(e1));
        let v = d.dot(q) / det;
        let t = e2.dot(q) / det;
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0).then_some(t)
    }

    #[test]
    fn hits_equal_brute_force() {
        let stream = &mut Stream::seeded(7);
        let mut mesh = Mesh::default();
        for _ in 0..700 {
            let at = random(stream);
            let first = mesh.positions.len() as u32;
            mesh.positions.extend([at, at + 0.2 * random(stream), at + 0.2 * random(stream)]);
            mesh.triangles.push([first, first + 1, first + 2]);
        }
        let centres: Vec<Vec3> = (0..300).map(|_| random(stream)).collect();
        let radii: Vec<f32> = (0..300).map(|_| 0.04 * stream.next()).collect();
        let spheres = Shape::Spheres {
            centres: centres.clone(),
            radii: radii.clone(),
            colours: vec![],
            wetness: vec![],
        };
        let scene =
            Scene { things: vec![thing(Shape::Mesh(mesh.clone())), thing(spheres)], ..Scene::default() };
        let bvh = Bvh::new(&scene.things);
        let mut hits = 0;
        for ray in rays(3000, stream) {
            let triangles = mesh.triangles.iter().enumerate().filter_map(|(i, triangle)| {
                let corners = triangle.map(|vertex| mesh.positions[vertex as usize].as_dvec3());
                triangle_distance(&ray, corners).map(|t| (t, i))
            });
            let balls = centres.iter().zip(&radii).enumerate().filter_map(|(i, (centre, &radius))| {
                let (l, d) = ((*centre - ray.origin).as_dvec3(), ray.direction.as_dvec3());
                let chord2 = (radius as f64).powi(2) - (l - d * l.dot(d)).length_squared();
                let crossings = [-1.0, 1.0].map(|side| l.dot(d) + side * chord2.max(0.0).sqrt());
                let first = crossings.into_iter().find(|&distance| distance > 0.0)?;
                (chord2 >= 0.0).then_some((first, 700 + i))
            });
            let expected = triangles.chain(balls).min_by(|a, b| a.0.total_cmp(&b.0));
            let got = bvh.nearest(&ray, None, &mut Stack::new());
            match (expected, got) {
                (None, None) => {}
                (Some((distance, primitive)), Some(hit)) => {
                    hits += 1;
                    // Rays that graze a sphere lose half the digits of f32 in the square root.
                    assert!((hit.distance as f64 - distance).abs() < 1e-4, "{distance} {hit:?}");
                    assert_eq!(hit.primitive as usize, primitive);
                }
                other => panic!("{ray:?}: {other:?}"),
            }
        }
        assert!(hits > 500, "{hits}");
    }

    #[test]
    fn many_primitives_may_lie_in_one_place() {
        let count = 20_000;
        let (centres, radii) = (vec![Vec3::X; count], vec![0.5; count]);
        let spheres = Shape::Spheres { centres, radii, colours: vec![], wetness: vec![] };
        let mesh = Shape::Mesh(Mesh {
            positions: vec![vec3(3.0, -1.0, -1.0), vec3(3.0, 1.0, -1.0), vec3(3.0, 0.0, 1.0)],
            triangles: vec![[0, 1, 2]; count],
            ..Mesh::default()
        });
        let bvh = Bvh::new(&[thing(spheres), thing(mesh)]);
        // A tree, not a chain.
        assert!(bvh.most_waiting < 40 * WIDTH, "{}", bvh.most_waiting);
        for (x, distance, primitive) in [(-1.0, 1.5, 0), (2.0, 1.0, count as u32)] {
            let ray = Ray { origin: x * Vec3::X, direction: Vec3::X, reach: f32::INFINITY };
            let hit = bvh.nearest(&ray, None, &mut Stack::new()).unwrap();
            assert_eq!((hit.distance, hit.primitive), (distance, primitive));
        }
    }

    #[test]
    fn no_ray_slips_between_triangles() {
        // A closed fan of slivers around the axis of the ray: all rays go exactly at vertices and edges.
        let n = 37;
        let mut mesh = Mesh { positions: vec![vec3(0.1, 0.2, 0.3)], ..Mesh::default() };
        for k in 0..n {
            let angle = k as f32 / n as f32 * std::f32::consts::TAU;
            mesh.positions.push(vec3(0.1 + angle.cos(), 0.2 + angle.sin(), 0.3 + 0.3 * (3.0 * angle).sin()));
            mesh.triangles.push([0, 1 + k, 1 + (k + 1) % n]);
        }
        let bvh = Bvh::new(&[thing(Shape::Mesh(mesh.clone()))]);
        let stream = &mut Stream::seeded(3);
        for i in 0..4000 {
            let k = 1 + (i % n as usize);
            let target = mesh.positions[0].lerp(mesh.positions[k], 0.999 * stream.next());
            let origin = target + vec3(random(stream).x, random(stream).y, 2.0 + stream.next());
            let ray = Ray { origin, direction: (target - origin).normalize(), reach: f32::INFINITY };
            assert!(bvh.nearest(&ray, None, &mut Stack::new()).is_some(), "{ray:?}");
        }
    }

    #[test]
    fn threads_equal_dense_spheres() {
        let stream = &mut Stream::seeded(11);
        let points: Vec<Vec3> =
            (0..8).map(|i| 0.8 * random(stream) + vec3(i as f32 * 0.1 - 0.4, 0.0, 0.0)).collect();
        let radii: Vec<f32> = (0..8).map(|_| 0.01 + 0.03 * stream.next()).collect();
        let strands = vec![5, 3];
        let curves = Shape::Curves {
            points: points.clone(),
            radii: radii.clone(),
            strands,
            colours: vec![],
            wetness: vec![],
        };
        let bvh = Bvh::new(&[thing(curves)]);
        let mut dense = Vec::new();
        for (first, end) in [(0, 5), (5, 8)] {
            for i in first..end - 1 {
                for k in 0..=2000 {
                    let t = k as f32 / 2000.0;
                    let radius = radii[i] + (radii[i + 1] - radii[i]) * t;
                    dense.push((catmull_rom(&points[first..end], i - first, t).0, radius));
                }
            }
        }
        let (mut hits, mut differ) = (0, 0);
        for ray in rays(3000, stream) {
            let expected = dense
                .iter()
                .filter_map(|&(centre, radius)| {
                    let foot = (centre - ray.origin).dot(ray.direction);
                    let root =
                        radius * radius - (ray.origin + ray.direction * foot - centre).length_squared();
                    (root >= 0.0).then(|| foot - root.sqrt())
                })
                .min_by(f32::total_cmp);
            let got = bvh.nearest(&ray, None, &mut Stack::new()).map(|hit| hit.distance);
            match (expected, got) {
                (None, None) => {}
                (Some(expected), Some(got)) => {
                    hits += 1;
                    // The pieces may leave the curve by a twentieth of a radius, more in depth where a ray
                    // grazes.
                    differ += ((expected - got).abs() > 0.2 * 0.04) as usize;
                }
                _ => differ += 1,
            }
        }
        assert!(hits > 200 && differ * 20 < hits, "{differ} of {hits} differ");
    }
}
