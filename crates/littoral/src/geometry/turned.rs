//! Surfaces of revolution: a curve turned about an axis, as rings of points with triangles between them.

use std::f64::consts::TAU;

use glam::{DQuat, DVec2, DVec3};

use super::TriangleMesh;

/// A curve in the half plane beside an axis, and that axis in space.
#[derive(Clone, Debug)]
pub struct Turned {
    /// Distance from the axis and height along it, m.
    pub curve: Vec<DVec2>,
    pub centre: DVec3,
    /// Of length 1.
    pub axis: DVec3,
}

impl Turned {
    /// The curve through points in space, of which only distance and height matter.
    pub fn through(points: &[[f64; 3]], centre: [f64; 3], axis: [f64; 3]) -> Turned {
        let (centre, axis) = (DVec3::from(centre), DVec3::from(axis));
        let flat = |point: &[f64; 3]| {
            let from = DVec3::from(*point) - centre;
            let height = from.dot(axis);
            DVec2::new((from - axis * height).length(), height)
        };
        Turned { curve: points.iter().map(flat).collect(), centre, axis }
    }

    /// Along the curve, m.
    pub fn length(&self) -> f64 {
        self.curve.windows(2).map(|ends| ends[0].distance(ends[1])).sum()
    }

    /// Points about `spacing` apart, ring after ring from the start of the curve to its end, and the triangles between them.
    pub fn layer(&self, spacing: f64) -> TriangleMesh {
        let steps = (self.length() / spacing).round().max(1.0);
        let turn = DQuat::from_rotation_arc(DVec3::Y, self.axis);
        let mut layer = TriangleMesh::default();
        // First point, and how many, and the angle of the first.
        let mut last: Option<(u32, usize, f64)> = None;
        for step in 0..=steps as usize {
            let at = self.at(self.length() * step as f64 / steps);
            let count = match at.x / spacing {
                r if r < 0.3 => 1,
                r => ((TAU * r).round() as usize).max(4),
            };
            // Every other ring starts half a step further on: triangles are nearly even.
            let start = if step % 2 == 1 { 0.5 / count as f64 } else { 0.0 };
            let first = layer.positions.len() as u32;
            for k in 0..count {
                let (sin, cos) = (TAU * (start + k as f64 / count as f64)).sin_cos();
                let radius = if count == 1 { 0.0 } else { at.x };
                layer.positions.push(self.centre + turn * DVec3::new(radius * cos, at.y, -radius * sin));
            }
            let ring = (first, count, start);
            if let Some(last) = last {
                join(last, ring, &mut layer.triangles);
            }
            last = Some(ring);
        }
        layer
    }

    /// The point of the curve after a way along it, m.
    fn at(&self, way: f64) -> DVec2 {
        let mut left = way;
        for ends in self.curve.windows(2) {
            let length = ends[0].distance(ends[1]);
            if left <= length {
                return ends[0].lerp(ends[1], if length > 0.0 { left / length } else { 0.0 });
            }
            left -= length;
        }
        *self.curve.last().expect("a curve has points")
    }
}

/// Triangles between two rings, each a first point, a number of points and the turn of the first: whichever ring is behind goes on.
fn join(a: (u32, usize, f64), b: (u32, usize, f64), triangles: &mut Vec<[u32; 3]>) {
    // A ring of one point does not go on.
    let steps = |(_, count, _): (u32, usize, f64)| if count > 1 { count } else { 0 };
    let point = |(first, count, _): (u32, usize, f64), k: usize| first + (k % count) as u32;
    let angle = |(_, count, start): (u32, usize, f64), k: usize| start + k as f64 / count as f64;
    let (mut i, mut j) = (0, 0);
    while i < steps(a) || j < steps(b) {
        if i < steps(a) && (j == steps(b) || angle(a, i + 1) <= angle(b, j + 1)) {
            triangles.push([point(a, i), point(a, i + 1), point(b, j)]);
            i += 1;
        } else {
            triangles.push([point(a, i), point(b, j + 1), point(b, j)]);
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half a ball: an open surface of 2πr², with one rim, whose edges all have two triangles but for that.
    #[test]
    fn a_bowl_is_whole() {
        let angles = (0..=32).map(|k| 0.25 * TAU * f64::from(k) / 32.0);
        let points: Vec<[f64; 3]> = angles.map(|a| [a.sin(), 1.0 - a.cos(), 0.0]).collect();
        let layer = Turned::through(&points, [0.0; 3], [0.0, 1.0, 0.0]).layer(0.1);
        let area: f64 = layer.corners().map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length()).sum();
        assert!((area / TAU - 1.0).abs() < 0.01, "{area}");
        let mut edges = std::collections::HashMap::new();
        for triangle in &layer.triangles {
            for k in 0..3 {
                let (a, b) = (triangle[k], triangle[(k + 1) % 3]);
                *edges.entry((a.min(b), a.max(b))).or_insert(0) += if a < b { 1 } else { -1 };
            }
        }
        let rim = edges.values().filter(|passes| **passes != 0).count();
        assert_eq!(rim, (TAU / 0.1).round() as usize);
    }
}
