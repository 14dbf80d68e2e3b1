//! Signed distances to the simple shapes, negative inside, exact.
//!
//! Shapes of revolution are measured in the half-plane (r, t) of a point: its distance r from the axis and its
//! place t along it. Kept honest by `distances_match_the_nearest_point_of_the_surface` in `mod.rs`.

use glam::{DVec2, DVec3};

pub fn cuboid(p: DVec3, min: DVec3, max: DVec3) -> f64 {
    let beyond = (min - p).max(p - max);
    beyond.max(DVec3::ZERO).length() + beyond.max_element().min(0.0)
}

pub fn sphere(p: DVec3, centre: DVec3, radius: f64) -> f64 {
    p.distance(centre) - radius
}

/// All points within `radius` of a line.
pub fn capsule(p: DVec3, from: DVec3, to: DVec3, radius: f64) -> f64 {
    let axis = to - from;
    let t = ((p - from).dot(axis) / axis.length_squared()).clamp(0.0, 1.0);
    p.distance(from + axis * t) - radius
}

/// A cone cut off at both ends; one radius may be 0. With two equal radii it is a cylinder.
pub fn frustum(p: DVec3, from: DVec3, to: DVec3, radii: [f64; 2]) -> f64 {
    let height = from.distance(to);
    let q = around_axis(p, from, (to - from) / height);
    let rim = [DVec2::new(radii[0], 0.0), DVec2::new(radii[1], height)];
    let caps = segment(q, DVec2::ZERO, rim[0]).min(segment(q, DVec2::new(0.0, height), rim[1]));
    let distance = caps.min(segment(q, rim[0], rim[1]));
    let width = radii[0] + (radii[1] - radii[0]) * q.y / height;
    let inside = q.y > 0.0 && q.y < height && q.x < width;
    if inside { -distance } else { distance }
}

/// A ring: all points within `tube` of a circle.
pub fn torus(p: DVec3, centre: DVec3, axis: DVec3, radius: f64, tube: f64) -> f64 {
    around_axis(p, centre, axis).distance(DVec2::new(radius, 0.0)) - tube
}

/// A parallelogram: a surface without inside.
pub fn sheet(p: DVec3, corner: DVec3, along: DVec3, across: DVec3) -> f64 {
    let far = corner + along + across;
    let halves = [[corner, corner + along, far], [corner, far, corner + across]];
    halves.map(|half| p.distance(closest_on_triangle(p, half).0)).into_iter().fold(f64::INFINITY, f64::min)
}

/// (r, t) of a point about an axis of length 1.
fn around_axis(p: DVec3, origin: DVec3, axis: DVec3) -> DVec2 {
    let t = (p - origin).dot(axis);
    DVec2::new((p - origin - axis * t).length(), t)
}

fn segment(p: DVec2, a: DVec2, b: DVec2) -> f64 {
    let edge = b - a;
    let length = edge.length_squared();
    // One end of a cone may be a point.
    let t = if length > 0.0 { ((p - a).dot(edge) / length).clamp(0.0, 1.0) } else { 0.0 };
    p.distance(a + edge * t)
}

/// Part of a triangle that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    Face,
    /// From this corner to the next.
    Edge(usize),
    Corner(usize),
}

/// The point of a triangle nearest to `p`, and the part it lies on.
///
/// The plane is divided into the regions that belong to the corners, the edges and the face by the signs of the
/// barycentric coordinates and of the projections on the edges.
pub fn closest_on_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> (DVec3, Feature) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Feature::Corner(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Feature::Corner(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Feature::Corner(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (b + (c - b) * t, Feature::Edge(1));
    }
    let sum = va + vb + vc;
    (a + ab * (vb / sum) + ac * (vc / sum), Feature::Face)
}
