//! Marching cubes on the blocks of the lattice.
//!
//! The table is made, not typed: for each pattern of corners, the crossed edges are joined into loops along the faces
//! of the cube, and the loops are cut into triangles. Two cells that share a face see the same corners there, and both
//! part inside corners that lie across a diagonal, so the mesh is closed. No triangle has an inner edge in a face of
//! its cube, so no edge belongs to four triangles, and around each vertex the triangles of four cells make one fan:
//! the mesh is manifold. (Deciding diagonals by the saddle point, after Nielson & Hamann 1991, would need extra
//! vertices inside some cells to stay so; at half a spacing such cells are rare.)

use super::Wall;
use super::blocks::{Block, Blocks, Lattice, wall_tolerance};
use super::fields::SIDE;
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::sync::LazyLock;

/// A mesh whose vertices know which walls they lie on.
pub struct Skin {
    pub positions: Vec<Vec3>,
    /// One bit for each wall.
    pub walls: Vec<u32>,
    pub triangles: Vec<[u32; 3]>,
}

/// Cube edges are numbered axis · 4 + which of the four; corners are x | y << 1 | z << 2.
const fn edge_corner(edge: usize) -> usize {
    let (axis, which) = (edge / 4, edge % 4);
    match axis {
        0 => which << 1,
        1 => which & 1 | (which & 2) << 1,
        _ => which,
    }
}

const fn edge_between(a: usize, b: usize) -> usize {
    let (low, axis_bit) = (a & b, a ^ b);
    match axis_bit {
        1 => low >> 1,
        2 => 4 + (low & 1 | (low & 4) >> 1),
        _ => 8 + low,
    }
}

/// The corners of face axis · 2 + side, in a circle that is counter-clockwise when seen from outside the cube.
fn face_corners(face: usize) -> [usize; 4] {
    let (axis, side) = (face / 2, face % 2);
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let base = side << axis;
    if side == 1 {
        [base, base | u, base | u | v, base | v]
    } else {
        [base, base | v, base | u | v, base | u]
    }
}

fn on_face(edge: usize, face: usize) -> bool {
    let corners = face_corners(face);
    let low = edge_corner(edge);
    corners.contains(&low) && corners.contains(&(low | 1 << (edge / 4)))
}

type Triangles = Vec<[u8; 3]>;

/// Triangles for each set of corners inside.
static TABLE: LazyLock<Vec<Triangles>> = LazyLock::new(|| {
    (0..=255).map(|corners| loops(corners).iter().flat_map(|polygon| cut(polygon)).collect()).collect()
});

/// Crossed edges joined along the faces, counter-clockwise when seen from outside the fluid.
fn loops(corners: u8) -> Vec<Vec<usize>> {
    let inside = |corner: usize| corners >> corner & 1 == 1;
    let mut next = [None; 12];
    for face in 0..6 {
        let circle = face_corners(face);
        for start in 0..4 {
            let at = |step: usize| circle[(start + step) % 4];
            // Walking round the face, we enter the fluid here ...
            if inside(at(0)) || !inside(at(1)) {
                continue;
            }
            // ... and leave it after the corners inside.
            let steps = (1..4).find(|&step| inside(at(step)) && !inside(at(step + 1))).expect("a way out");
            next[edge_between(at(0), at(1))] = Some(edge_between(at(steps), at(steps + 1)));
        }
    }
    let mut found = vec![];
    for first in 0..12 {
        let mut polygon = vec![];
        let mut edge = first;
        while let Some(following) = next[edge].take() {
            polygon.push(edge);
            edge = following;
        }
        if !polygon.is_empty() {
            found.push(polygon);
        }
    }
    found
}

/// Triangles of a loop, none of whose inner edges lies in a face of the cube.
fn cut(polygon: &[usize]) -> Triangles {
    fn solve(polygon: &[usize], triangles: &mut Triangles) -> bool {
        if polygon.len() < 3 {
            return true;
        }
        let (first, last) = (polygon[0], polygon[polygon.len() - 1]);
        let fine = |a: usize, b: usize, adjacent: bool| {
            adjacent || !(0..6).any(|face| on_face(a, face) && on_face(b, face))
        };
        for middle in 1..polygon.len() - 1 {
            let before = triangles.len();
            let apex = polygon[middle];
            if fine(first, apex, middle == 1) && fine(apex, last, middle == polygon.len() - 2) {
                triangles.push([first as u8, apex as u8, last as u8]);
                if solve(&polygon[..=middle], triangles) && solve(&polygon[middle..], triangles) {
                    return true;
                }
                triangles.truncate(before);
            }
        }
        false
    }
    // Which side of the loop is left open first matters not for a closed loop.
    let mut triangles = vec![];
    assert!(solve(polygon, &mut triangles), "{polygon:?} has no triangles");
    triangles
}

const WIDE: usize = SIDE + 1;

/// A block with its neighbours above, and the sides of its points and of those just above it.
struct Window<'a> {
    /// Neighbour x | y << 1 | z << 2 steps up, when it was evaluated; the block itself first.
    blocks: [Option<usize>; 8],
    all: &'a [Block],
    /// Nine bits for each row z · 9 + y.
    inside: [u16; WIDE * WIDE],
}

impl<'a> Window<'a> {
    fn new(index: usize, blocks: &'a Blocks) -> Self {
        let at = blocks.blocks[index].at;
        let step = |part: usize| IVec3::new(part as i32 & 1, part as i32 >> 1 & 1, part as i32 >> 2);
        let neighbours =
            std::array::from_fn(|part| if part == 0 { Some(index) } else { blocks.index(at + step(part)) });
        let mut window = Self { blocks: neighbours, all: &blocks.blocks, inside: [0; WIDE * WIDE] };
        for (part, neighbour) in neighbours.iter().enumerate() {
            let filled = neighbour.is_none() && blocks.is_filled(at + step(part));
            let extent = |bit: usize| if part >> bit & 1 == 1 { SIDE..WIDE } else { 0..SIDE };
            for z in extent(2) {
                for y in extent(1) {
                    let bits = match neighbour {
                        Some(neighbour) => blocks.blocks[*neighbour].inside[(z % SIDE) * SIDE + y % SIDE],
                        None if filled => 0xff,
                        None => 0,
                    } as u16;
                    window.inside[z * WIDE + y] |= if part & 1 == 1 { (bits & 1) << SIDE } else { bits };
                }
            }
        }
        window
    }

    /// The block that a point belongs to, and its row there; x is counted modulo 8.
    fn owner(&self, x: usize, y: usize, z: usize) -> (Option<usize>, usize) {
        (self.blocks[(x / SIDE) + 2 * (y / SIDE) + 4 * (z / SIDE)], (z % SIDE) * SIDE + y % SIDE)
    }

    /// Field less iso value. What was not evaluated lies behind a wall: the wall alone ends the fluid there.
    fn value(&self, x: usize, y: usize, z: usize) -> f32 {
        let (owner, row) = self.owner(x, y, z);
        owner.map_or(1.0, |owner| self.all[owner].values[row * SIDE + x % SIDE])
    }

    /// Whether the surface does not pass here at all.
    fn is_uniform(&self) -> bool {
        self.inside.iter().all(|&bits| bits == 0) || self.inside.iter().all(|&bits| bits == 0x1ff)
    }
}

/// The crossed edges that belong to a block: those that start at its points.
struct Crossings {
    /// Bit x of byte axis · 64 + z · 8 + y.
    bits: [u8; 192],
    /// How many come before each byte.
    before: [u16; 192],
    positions: Vec<Vec3>,
    walls: Vec<u32>,
}

/// Places of the bits that are set.
fn set_bits(mut bits: u8) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (place < 8).then_some(place)
    })
}

impl Crossings {
    fn new(window: &Window, block: &Block, lattice: &Lattice, walls: &[Wall]) -> Self {
        let mut crossings = Self { bits: [0; 192], before: [0; 192], positions: vec![], walls: vec![] };
        if window.is_uniform() {
            return crossings;
        }
        let walls = if block.walled { walls } else { &[] };
        for axis in 0..3 {
            for row in 0..SIDE * SIDE {
                let (y, z) = (row % SIDE, row / SIDE);
                let here = window.inside[z * WIDE + y];
                let above = match axis {
                    0 => here >> 1,
                    1 => window.inside[z * WIDE + y + 1],
                    _ => window.inside[(z + 1) * WIDE + y],
                };
                let byte = axis * 64 + row;
                crossings.before[byte] = crossings.positions.len() as u16;
                crossings.bits[byte] = (here ^ above) as u8;
                for x in set_bits(crossings.bits[byte]) {
                    let point = block.at * SIDE as i32 + IVec3::new(x as i32, y as i32, z as i32);
                    let ends = [point, point + IVec3::AXES[axis]].map(|at| lattice.point(at));
                    let up = |along: usize| (axis == along) as usize;
                    let values = [window.value(x, y, z), window.value(x + up(0), y + up(1), z + up(2))];
                    let (position, on) =
                        crossing(ends, values, here >> x & 1 == 1, walls, wall_tolerance(lattice));
                    crossings.positions.push(position);
                    crossings.walls.push(on);
                }
            }
        }
        crossings
    }

    fn index(&self, axis: usize, x: usize, y: usize, z: usize) -> u32 {
        let byte = axis * 64 + z * SIDE + y;
        self.before[byte] as u32 + (self.bits[byte] & ((1 << x) - 1)).count_ones()
    }
}

/// Where an edge leaves the fluid: at the iso value or at a wall, whichever comes first.
fn crossing(
    ends: [Vec3; 2],
    values: [f32; 2],
    first_inside: bool,
    walls: &[Wall],
    tolerance: f32,
) -> (Vec3, u32) {
    let (start, end, inner, outer) = if first_inside {
        (ends[0], ends[1], values[0], values[1])
    } else {
        (ends[1], ends[0], values[1], values[0])
    };
    // Never quite at an end: several vertices at one point would make triangles without area.
    let mut t = if outer <= 0.0 { (inner / (inner - outer)).clamp(1e-3, 1.0 - 1e-3) } else { 1.0 };
    for wall in walls {
        let (a, b) = (wall.distance(start), wall.distance(end));
        if b < -tolerance {
            t = t.min((a / (a - b)).max(0.0));
        }
    }
    let mut position = start + (end - start) * t;
    let mut on = 0;
    for (index, wall) in walls.iter().enumerate() {
        let distance = wall.distance(position);
        if distance.abs() < 2.0 * tolerance {
            position -= wall.normal * distance;
            on |= 1 << index;
        }
    }
    (position, on)
}

pub fn skin(blocks: &Blocks, walls: &[Wall]) -> Skin {
    let indices = || (0..blocks.blocks.len()).into_par_iter();
    let crossings: Vec<Crossings> = indices()
        .map(|index| {
            Crossings::new(&Window::new(index, blocks), &blocks.blocks[index], &blocks.lattice, walls)
        })
        .collect();
    let mut count = 0;
    let mut first = Vec::with_capacity(crossings.len());
    for crossings in &crossings {
        first.push(count);
        count += crossings.positions.len() as u32;
    }
    let triangles: Vec<Vec<[u32; 3]>> =
        indices().map(|index| cells(&Window::new(index, blocks), &crossings, &first)).collect();
    Skin {
        positions: crossings.iter().flat_map(|crossings| crossings.positions.iter().copied()).collect(),
        walls: crossings.iter().flat_map(|crossings| crossings.walls.iter().copied()).collect(),
        triangles: triangles.concat(),
    }
}

/// The triangles of a block's cells.
fn cells(window: &Window, crossings: &[Crossings], first: &[u32]) -> Vec<[u32; 3]> {
    let mut triangles = vec![];
    if window.is_uniform() {
        return triangles;
    }
    let vertex = |edge: u8, x: usize, y: usize, z: usize| {
        let (edge, corner) = (edge as usize, edge_corner(edge as usize));
        let (x, y, z) = (x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2));
        let owner = window.owner(x, y, z).0.expect("a crossed edge starts in an evaluated block");
        first[owner] + crossings[owner].index(edge / 4, x % SIDE, y % SIDE, z % SIDE)
    };
    for z in 0..SIDE {
        for y in 0..SIDE {
            let at = z * WIDE + y;
            let rows = [at, at + 1, at + WIDE, at + WIDE + 1].map(|row| window.inside[row]);
            let some = rows[0] | rows[1] | rows[2] | rows[3];
            let all = rows[0] & rows[1] & rows[2] & rows[3];
            let mixed = (some | some >> 1) & !(all & all >> 1);
            for x in set_bits(mixed as u8) {
                let corners = (0..4).fold(0, |bits, row| bits | (rows[row] >> x & 3) << (2 * row));
                let cut = TABLE[corners as usize].iter();
                triangles.extend(cut.map(|triangle| triangle.map(|edge| vertex(edge, x, y, z))));
            }
        }
    }
    triangles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_has_triangles_without_inner_edges_in_faces() {
        assert_eq!(TABLE.iter().filter(|triangles| triangles.is_empty()).count(), 2);
        for (case, triangles) in TABLE.iter().enumerate() {
            // Directed edges occur once; those without a partner lie in faces.
            let mut directed: Vec<(u8, u8)> =
                triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]).collect();
            let count = directed.len();
            directed.sort_unstable();
            directed.dedup();
            assert_eq!(directed.len(), count, "case {case:x}");
            for &(a, b) in &directed {
                let in_face = (0..6).any(|face| on_face(a as usize, face) && on_face(b as usize, face));
                assert_eq!(in_face, !directed.contains(&(b, a)), "case {case:x}: {a} {b}");
            }
        }
    }

    #[test]
    fn a_corner_is_cut_off_with_its_triangle_facing_out() {
        let middle = |edge: u8| {
            let corner = edge_corner(edge as usize);
            let mut at = Vec3::new((corner & 1) as f32, (corner >> 1 & 1) as f32, (corner >> 2) as f32);
            at[edge as usize / 4] += 0.5;
            at
        };
        let [a, b, c] = TABLE[1][0].map(middle);
        assert!((b - a).cross(c - a).dot(Vec3::ONE) > 0.0);
    }
}
