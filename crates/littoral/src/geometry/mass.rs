//! Volume, centre and inertia of a body of unit density.
//!
//! A closed mesh is the sum of the tetrahedra from one point to its triangles, each counted with its sign. Of a
//! tetrahedron (0, a, b, c) with v = a·(b × c)/6: ∫1 = v, ∫x = v (a+b+c)/4 and
//! ∫x xᵀ = v/20 (s sᵀ + a aᵀ + b bᵀ + c cᵀ) with s = a + b + c. An outline in the plane is the same with triangles.
//! Kept honest by `masses_are_those_of_the_textbook` in `mod.rs`.

use glam::{DMat3, DVec3};

use super::TriangleMesh;

#[derive(Clone, Copy, Debug)]
pub struct MassProperties {
    /// m³; in 2-D an area, m².
    pub volume: f64,
    pub centre: DVec3,
    /// About the centre, for density 1, m⁵; in 2-D only its zz component counts, m⁴.
    pub inertia: DMat3,
}

impl MassProperties {
    pub fn of_mesh(mesh: &TriangleMesh) -> MassProperties {
        // Seen from a point of the mesh: far from the origin, digits would be lost.
        let origin = mesh.positions.first().copied().unwrap_or_default();
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for corners in mesh.corners() {
            let [a, b, c] = corners.map(|p| p - origin);
            let v = a.dot(b.cross(c)) / 6.0;
            let s = a + b + c;
            volume += v;
            first += s * (v / 4.0);
            second += (outer(s) + outer(a) + outer(b) + outer(c)) * (v / 20.0);
        }
        MassProperties::from_moments(origin, volume, first, second)
    }

    /// Of an area with this outline, counterclockwise.
    pub fn of_outline(segments: &[[DVec3; 2]]) -> MassProperties {
        let origin = segments.first().map_or(DVec3::ZERO, |segment| segment[0]);
        let (mut area, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for segment in segments {
            let [a, b] = segment.map(|p| p - origin);
            let v = 0.5 * a.cross(b).z;
            let s = a + b;
            area += v;
            first += s * (v / 3.0);
            second += (outer(s) + outer(a) + outer(b)) * (v / 12.0);
        }
        MassProperties::from_moments(origin, area, first, second)
    }

    fn from_moments(origin: DVec3, volume: f64, first: DVec3, second: DMat3) -> MassProperties {
        if volume <= 0.0 {
            return MassProperties { volume: 0.0, centre: origin, inertia: DMat3::ZERO };
        }
        let mean = first / volume;
        let about = second - outer(mean) * volume;
        let trace = about.x_axis.x + about.y_axis.y + about.z_axis.z;
        MassProperties { volume, centre: origin + mean, inertia: DMat3::IDENTITY * trace - about }
    }
}

fn outer(a: DVec3) -> DMat3 {
    DMat3::from_cols(a * a.x, a * a.y, a * a.z)
}
