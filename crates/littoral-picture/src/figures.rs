//! Closed shapes made of triangles, and the normals of any mesh.
//!
//! The shapes serve as detailed meshes for carried bodies and as known answers in tests.
//! Kept honest by `figures_are_closed_and_have_their_volume`.

use glam::Vec3;

use crate::mesh::Mesh;

/// A sphere about the origin, from an icosahedron whose triangles are split in four, `splits` times:
/// 20 · 4^splits triangles. `radius` in m.
pub fn sphere(radius: f32, splits: u32) -> Mesh {
    // Twelve corners: cyclic permutations of (0, ±1, ±φ).
    let golden = (1.0 + 5f32.sqrt()) / 2.0;
    let mut directions: Vec<Vec3> = Vec::new();
    for [a, b] in [[1.0, golden], [1.0, -golden], [-1.0, golden], [-1.0, -golden]] {
        directions.extend([Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)]);
    }
    directions.iter_mut().for_each(|d| *d = d.normalize());
    // Its faces are the triples of corners that are neighbours of one another.
    let edge = 1.06;
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for a in 0..12 {
        for b in 0..12 {
            for c in 0..12 {
                let [p, q, r] = [a, b, c].map(|k| directions[k]);
                let neighbours = p.distance(q) < edge && q.distance(r) < edge && r.distance(p) < edge;
                if a < b && a < c && b != c && neighbours && (q - p).cross(r - p).dot(p) > 0.0 {
                    triangles.push([a as u32, b as u32, c as u32]);
                }
            }
        }
    }
    for _ in 0..splits {
        let edges = sorted_edges(&triangles);
        let base = directions.len() as u32;
        for &[a, b] in &edges {
            directions.push((directions[a as usize] + directions[b as usize]).normalize());
        }
        let middle = |a: u32, b: u32| {
            base + edges.binary_search(&[a.min(b), a.max(b)]).expect("every edge is listed") as u32
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
                [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
            })
            .collect();
    }
    let positions = directions.iter().map(|&d| radius * d).collect();
    Mesh { positions, normals: directions, triangles, attributes: Vec::new() }
}

/// A ring about the y axis: `ring` the distance of the tube's middle from the axis, `tube` its radius, both in m;
/// `around` and `across` the number of steps each way, 3 or more.
pub fn torus(ring: f32, tube: f32, around: usize, across: usize) -> Mesh {
    let mut mesh = Mesh::default();
    for i in 0..around {
        let (sin, cos) = (i as f32 / around as f32 * std::f32::consts::TAU).sin_cos();
        let outwards = Vec3::new(cos, 0.0, sin);
        for j in 0..across {
            let (up, out) = (j as f32 / across as f32 * std::f32::consts::TAU).sin_cos();
            let normal = out * outwards + up * Vec3::Y;
            mesh.positions.push(ring * outwards + tube * normal);
            mesh.normals.push(normal);
            let at = |i: usize, j: usize| ((i % around) * across + j % across) as u32;
            let [a, b, c, d] = [at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

/// Edges as pairs, the lower vertex first, each once.
pub(crate) fn sorted_edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Unit normals at the vertices: the sum of the normals of the triangles around each, weighted by their area.
/// Where that sum is zero (no triangle, or a fold) the normal points up.
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|k| positions[k as usize]);
        let twice_area = (b - a).cross(c - a);
        triangle.iter().for_each(|&k| normals[k as usize] += twice_area);
    }
    normals.into_iter().map(|n| n.normalize_or(Vec3::Y)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn figures_are_closed_and_have_their_volume() {
        let ball = sphere(0.5, 4);
        assert_eq!(ball.triangles.len(), 20 * 256);
        assert!(ball.is_closed());
        assert!((ball.volume() / (4.0 / 3.0 * PI * 0.125) - 1.0).abs() < 5e-3);
        assert!((ball.area() / PI - 1.0).abs() < 5e-3);

        let ring = torus(1.0, 0.25, 96, 48);
        assert!(ring.is_closed());
        assert!((ring.volume() / (2.0 * PI * PI * 0.0625) - 1.0).abs() < 5e-3);

        for mesh in [ball, ring] {
            for (a, b) in mesh.normals.iter().zip(vertex_normals(&mesh.positions, &mesh.triangles)) {
                assert!(a.dot(b) > 0.999);
            }
        }
    }

    #[test]
    fn a_missing_or_turned_triangle_is_noticed() {
        let mut mesh = sphere(1.0, 1);
        mesh.triangles[3].swap(0, 1);
        assert!(!mesh.is_closed());
        mesh.triangles.swap_remove(3);
        assert!(!mesh.is_closed());
    }
}
