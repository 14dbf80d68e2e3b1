//! Triangles of a surface that is known by its distance: surface nets.
//!
//! A cell of a lattice through which the surface passes gets one corner, near the middle of where it crosses the
//! cell's edges, put on the surface along the gradient; cells around a crossed edge make a quadrilateral. Blocks far
//! from the surface are left out: a distance is 1-Lipschitz, so that no surface is nearer to a block's centre than
//! the distance there. In the plane the same makes an outline. Edges sharper than a cell are cut off by less than it.
//! Kept honest by `nets_of_a_ball_are_closed` and the volumes in `mod.rs`.

use std::collections::HashMap;

use glam::{DVec3, I64Vec3};
use rayon::prelude::*;

use super::TriangleMesh;

/// A signed distance, or a bound of it.
pub type Distance<'a> = dyn Fn(DVec3) -> f64 + Sync + 'a;

/// Its gradient, of length 1.
pub type Normal<'a> = dyn Fn(DVec3) -> DVec3 + Sync + 'a;

/// The surface where a distance is 0.
#[derive(Clone, Copy)]
pub struct Level<'a> {
    pub distance: &'a Distance<'a>,
    /// Where the gradient comes from; without, from differences, which take six distances.
    pub normal: Option<&'a Normal<'a>>,
}

/// Cells along a block's edge.
const BLOCK: i64 = 4;

/// Corners of a cell.
const CORNERS: [I64Vec3; 8] = [
    I64Vec3::new(0, 0, 0),
    I64Vec3::new(1, 0, 0),
    I64Vec3::new(0, 1, 0),
    I64Vec3::new(1, 1, 0),
    I64Vec3::new(0, 0, 1),
    I64Vec3::new(1, 0, 1),
    I64Vec3::new(0, 1, 1),
    I64Vec3::new(1, 1, 1),
];

const AXES: [I64Vec3; 3] = [I64Vec3::X, I64Vec3::Y, I64Vec3::Z];

/// Where lattice points lie.
#[derive(Clone, Copy)]
struct Lattice {
    origin: DVec3,
    cell: f64,
    /// Cells along each axis.
    count: I64Vec3,
    flat: bool,
}

impl Lattice {
    fn new((min, max): (DVec3, DVec3), cell: f64, flat: bool) -> Lattice {
        let count = ((max - min) / cell).ceil().max(DVec3::ONE);
        let count = I64Vec3::new(count.x as i64, count.y as i64, if flat { 1 } else { count.z as i64 });
        // A point of the lattice on a flat face would be neither inside nor outside: it is shifted by no round part.
        Lattice { origin: min - DVec3::new(0.5137, 0.5219, 0.5311) * cell, cell, count: count + 1, flat }
    }

    fn point(&self, at: I64Vec3) -> DVec3 {
        let mut p = self.origin + at.as_dvec3() * self.cell;
        if self.flat {
            p.z = 0.0;
        }
        p
    }

    /// Blocks that the surface may pass through, in a fixed order.
    fn blocks(&self, distance: &Distance<'_>) -> Vec<I64Vec3> {
        let widest = self.count.max_element();
        let mut size = BLOCK;
        while size < widest {
            size *= 2;
        }
        let mut level = vec![I64Vec3::ZERO];
        while size > BLOCK {
            size /= 2;
            let children = |corner: &I64Vec3| {
                let corner = *corner;
                CORNERS.into_iter().map(move |step| corner + step * size)
            };
            let near = |corner: &I64Vec3| {
                let outside = corner.cmpge(self.count).any() || (self.flat && corner.z > 0);
                let middle = self.origin + (corner.as_dvec3() + 0.5 * size as f64) * self.cell;
                let middle = if self.flat { middle.with_z(0.0) } else { middle };
                // Half a diagonal; a little more for distances that are rounded.
                let reach = 0.5 * 3f64.sqrt() * 1.01 * size as f64 * self.cell;
                !outside && distance(middle).abs() <= reach
            };
            level = level.par_iter().flat_map_iter(children).filter(near).collect();
        }
        level
    }
}

/// Cells with their corners, and crossed edges of one block.
#[derive(Default)]
struct Piece {
    corners: Vec<(I64Vec3, DVec3)>,
    /// Start, axis, and whether it leads out of the shape.
    edges: Vec<(I64Vec3, usize, bool)>,
}

/// Sweeps of [`even_out`].
const SWEEPS: usize = 12;

/// Moves the corners of a surface to the middle of their neighbours and back onto it, a few times: no triangle stays so thin
/// that what is made of its angles is ill.
pub fn even_out(mesh: &mut TriangleMesh, level: Level<'_>, cell: f64) {
    for _ in 0..SWEEPS {
        let mut middle = vec![(DVec3::ZERO, 0.0); mesh.positions.len()];
        for &[a, b, c] in &mesh.triangles {
            for (a, b) in [(a, b), (b, c), (c, a)] {
                middle[a as usize].0 += mesh.positions[b as usize];
                middle[a as usize].1 += 1.0;
            }
        }
        let moved = mesh.positions.par_iter().zip(middle).map(|(&from, (sum, count))| {
            let to = if count > 0.0 { from.lerp(sum / count, 0.7) } else { from };
            project(level, to, cell, false)
        });
        mesh.positions = moved.collect();
    }
}

/// The surface within bounds.
pub fn surface(level: Level<'_>, bounds: (DVec3, DVec3), cell: f64) -> TriangleMesh {
    let lattice = Lattice::new(bounds, cell, false);
    let (positions, index, edges) = crossings(level, &lattice);
    let mut mesh = TriangleMesh { positions, triangles: Vec::new() };
    for (at, axis, out) in edges {
        let (u, v) = (AXES[(axis + 1) % 3], AXES[(axis + 2) % 3]);
        // The four cells around the edge, counterclockwise as seen from its end.
        let around = [at - u - v, at - v, at, at - u].map(|cell| index.get(&cell).copied());
        let [Some(a), Some(b), Some(c), Some(d)] = around else { continue };
        let quad = if out { [a, b, c, d] } else { [d, c, b, a] };
        let p = quad.map(|i| mesh.positions[i as usize]);
        // Along the shorter diagonal.
        let [a, b, c, d] = quad;
        if p[0].distance_squared(p[2]) <= p[1].distance_squared(p[3]) {
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        } else {
            mesh.triangles.extend([[a, b, d], [b, c, d]]);
        }
    }
    mesh
}

/// The outline in the plane z = 0 where `distance` is 0: segments with the inside on their left.
pub fn outline(distance: &Distance<'_>, bounds: (DVec3, DVec3), cell: f64) -> Vec<[DVec3; 2]> {
    let lattice = Lattice::new(bounds, cell, true);
    let (positions, index, edges) = crossings(Level { distance, normal: None }, &lattice);
    let mut segments = Vec::new();
    for (at, axis, out) in edges {
        let across = AXES[1 - axis];
        let around = [at - across, at].map(|cell| index.get(&cell).copied());
        let [Some(a), Some(b)] = around else { continue };
        // Along x outwards, the outline runs up; along y outwards, it runs back.
        let [a, b] = if out == (axis == 0) { [a, b] } else { [b, a] };
        segments.push([positions[a as usize], positions[b as usize]]);
    }
    segments
}

type Crossings = (Vec<DVec3>, HashMap<I64Vec3, u32>, Vec<(I64Vec3, usize, bool)>);

fn crossings(level: Level<'_>, lattice: &Lattice) -> Crossings {
    let blocks = lattice.blocks(level.distance);
    let pieces: Vec<Piece> = blocks.par_iter().map(|&block| piece(level, lattice, block)).collect();
    let mut positions = Vec::new();
    let mut index = HashMap::new();
    let mut edges = Vec::new();
    for piece in pieces {
        for (cell, corner) in piece.corners {
            index.insert(cell, positions.len() as u32);
            positions.push(corner);
        }
        edges.extend(piece.edges);
    }
    (positions, index, edges)
}

fn piece(level: Level<'_>, lattice: &Lattice, block: I64Vec3) -> Piece {
    const SIDE: usize = BLOCK as usize + 1;
    let planes = if lattice.flat { 1 } else { SIDE };
    let mut values = [[[0.0f64; SIDE]; SIDE]; SIDE];
    for (k, plane) in values.iter_mut().enumerate().take(planes) {
        for (j, row) in plane.iter_mut().enumerate() {
            for (i, value) in row.iter_mut().enumerate() {
                *value = (level.distance)(lattice.point(block + I64Vec3::new(i as i64, j as i64, k as i64)));
            }
        }
    }
    let value = |at: I64Vec3| values[at.z as usize][at.y as usize][at.x as usize];
    let axes = if lattice.flat { 2 } else { 3 };
    let depth = if lattice.flat { 1 } else { BLOCK };
    let mut piece = Piece::default();
    for k in 0..depth {
        for j in 0..BLOCK {
            for i in 0..BLOCK {
                let at = I64Vec3::new(i, j, k);
                for (axis, step) in AXES.into_iter().enumerate().take(axes) {
                    let (here, there) = (value(at), value(at + step));
                    if (here < 0.0) != (there < 0.0) {
                        piece.edges.push((block + at, axis, here < 0.0));
                    }
                }
                if let Some(corner) = corner(level, lattice, block, at, &value) {
                    piece.corners.push((block + at, corner));
                }
            }
        }
    }
    piece
}

/// The corner of a cell, if the surface passes through it.
fn corner(
    level: Level<'_>,
    lattice: &Lattice,
    block: I64Vec3,
    at: I64Vec3,
    value: &dyn Fn(I64Vec3) -> f64,
) -> Option<DVec3> {
    let count = if lattice.flat { 4 } else { 8 };
    let (mut sum, mut crossed) = (DVec3::ZERO, 0);
    for (i, &a) in CORNERS[..count].iter().enumerate() {
        for &b in CORNERS[i + 1..count].iter().filter(|&&b| (b - a).abs().element_sum() == 1) {
            let (va, vb) = (value(at + a), value(at + b));
            if (va < 0.0) != (vb < 0.0) {
                let (pa, pb) = (lattice.point(block + at + a), lattice.point(block + at + b));
                sum += pa.lerp(pb, va / (va - vb));
                crossed += 1;
            }
        }
    }
    (crossed > 0).then(|| project(level, sum / f64::from(crossed), lattice.cell, lattice.flat))
}

/// Moves a point onto the surface, by no more than a cell.
pub fn project(level: Level<'_>, start: DVec3, cell: f64, flat: bool) -> DVec3 {
    let Level { distance, normal } = level;
    let (mut p, mut d) = (start, distance(start));
    for _ in 0..3 {
        if d.abs() < 1e-9 * cell {
            break;
        }
        let slope = normal.map_or_else(|| gradient(distance, p, 1e-3 * cell, flat), |normal| normal(p));
        let moved = p - slope * d;
        let left = distance(moved);
        // Across an edge, a gradient may lead astray.
        if moved.distance(start) > cell || left.abs() >= d.abs() {
            break;
        }
        (p, d) = (moved, left);
    }
    p
}

/// Direction in which a distance grows, by central differences; of length 1, or 0 where there is none.
pub fn gradient(distance: &Distance<'_>, p: DVec3, step: f64, flat: bool) -> DVec3 {
    let slope = |axis: DVec3| distance(p + axis * step) - distance(p - axis * step);
    let z = if flat { 0.0 } else { slope(DVec3::Z) };
    DVec3::new(slope(DVec3::X), slope(DVec3::Y), z).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::super::mesh::Mesh;
    use super::*;

    #[test]
    fn nets_of_a_ball_are_closed() {
        let ball = |p: DVec3| p.length() - 1.0;
        let net =
            surface(Level { distance: &ball, normal: None }, (DVec3::splat(-1.0), DVec3::splat(1.0)), 0.1);
        let mesh = Mesh::new(&net.positions, &net.triangles).unwrap();
        assert!(mesh.is_closed());
        let worst = net.positions.iter().map(|p| (p.length() - 1.0).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-6, "{worst}");
    }

    #[test]
    fn an_outline_runs_around_its_inside() {
        let disc = |p: DVec3| p.length() - 1.0;
        let line = outline(&disc, (DVec3::splat(-1.0), DVec3::splat(1.0)), 0.05);
        let mass = super::super::MassProperties::of_outline(&line);
        assert!((mass.volume - std::f64::consts::PI).abs() < 5e-3, "{}", mass.volume);
        assert!((mass.inertia.z_axis.z - 0.5 * std::f64::consts::PI).abs() < 5e-3);
    }
}
