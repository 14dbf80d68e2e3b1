//! Geometry of the shapes a scene can name: extents, contents, and whether two of them meet.
//!
//! In 2-D a box is a rectangle and a sphere is a disc; z plays no part.

use glam::DVec3;

use super::{Dimensions, Shape};
use crate::geometry::Geometry;
use crate::sources;

impl Shape {
    /// Corners of the smallest axis-aligned box around the shape, m.
    pub fn bounds(&self, dimensions: Dimensions) -> ([f64; 3], [f64; 3]) {
        let (min, max) = Geometry::of(self, dimensions).bounds();
        (min.to_array(), max.to_array())
    }

    /// Volume in m³ (area in m² in 2-D) when filled with particles of this spacing.
    pub fn content(&self, dimensions: Dimensions, spacing: f64) -> f64 {
        use std::f64::consts::PI;
        match (self, dimensions) {
            (Shape::Box { min, max }, _) => {
                (0..dimensions.count()).map(|axis| max[axis] - min[axis]).product()
            }
            (Shape::Sphere { radius, .. }, Dimensions::Two) => PI * radius.powi(2),
            (Shape::Sphere { radius, .. }, Dimensions::Three) => 4.0 / 3.0 * PI * radius.powi(3),
            (Shape::Sheet { .. }, _) => {
                let (rows, columns) = self.rows_and_columns(spacing).unwrap_or_default();
                (rows * columns) as f64 * spacing.powi(3)
            }
            (Shape::Line { .. }, _) => {
                self.points_in_line(spacing).unwrap_or_default() as f64
                    * spacing.powi(dimensions.count() as i32)
            }
            (Shape::Net { centre, .. }, _) => {
                (self.net(spacing).positions.len() + usize::from(*centre)) as f64 * spacing.powi(3)
            }
            (Shape::Turned { curve, .. }, _) => curve.layer(spacing).positions.len() as f64 * spacing.powi(3),
            _ => Geometry::of(self, dimensions).mass_properties().volume,
        }
    }

    /// Of a sheet: how many rows, and how many particles in each.
    pub fn rows_and_columns(&self, spacing: f64) -> Option<(usize, usize)> {
        let Shape::Sheet { along, across, .. } = self else { return None };
        let count = |edge: [f64; 3]| (length(edge) / spacing).round() as usize + 1;
        Some((count(*across), count(*along)))
    }

    /// Of a line: how many particles.
    pub fn points_in_line(&self, spacing: f64) -> Option<usize> {
        let Shape::Line { from, to } = self else { return None };
        let way: [f64; 3] = std::array::from_fn(|axis| to[axis] - from[axis]);
        Some((length(way) / spacing).round() as usize + 1)
    }

    /// Whether the shape is too small to hold a particle of the lattice that fills it.
    ///
    /// A box is stretched to whole particles, so half a spacing across is enough; a sphere's lattice has a cell's
    /// corner at its centre, so that the first particles are half a cell's diagonal away.
    pub fn is_empty(&self, dimensions: Dimensions, spacing: f64) -> bool {
        let count = dimensions.count();
        match self {
            Shape::Box { min, max } => (0..count).any(|axis| max[axis] - min[axis] < 0.5 * spacing),
            Shape::Sphere { radius, .. } => *radius <= 0.5 * spacing * (count as f64).sqrt(),
            Shape::Sheet { .. } => {
                self.rows_and_columns(spacing).is_some_and(|(rows, columns)| rows.min(columns) < 2)
            }
            Shape::Line { .. } => self.points_in_line(spacing).is_some_and(|count| count < 2),
            Shape::Net { .. } => self.net(spacing).positions.is_empty(),
            Shape::Turned { .. } => false,
            _ => sources::misses(self, dimensions, spacing),
        }
    }

    /// Whether two shapes share more than a skin of `tolerance`, m.
    pub fn overlaps(&self, other: &Shape, dimensions: Dimensions, tolerance: f64) -> bool {
        let count = dimensions.count();
        // A sheet counts as the box around it: too much where it is slanted.
        let boxed = |shape: &Shape| match shape {
            Shape::Sheet { .. } | Shape::Line { .. } => {
                let (min, max) = shape.bounds(dimensions);
                Shape::Box { min, max }
            }
            _ => shape.clone(),
        };
        match (&boxed(self), &boxed(other)) {
            (Shape::Box { min: a, max: b }, Shape::Box { min: c, max: d }) => {
                (0..count).all(|axis| a[axis].max(c[axis]) + tolerance < b[axis].min(d[axis]))
            }
            (Shape::Sphere { centre: a, radius: r }, Shape::Sphere { centre: b, radius: s }) => {
                distance(*a, *b, count) + tolerance < r + s
            }
            (Shape::Box { min, max }, Shape::Sphere { centre, radius })
            | (Shape::Sphere { centre, radius }, Shape::Box { min, max }) => {
                // `clamp` would panic on a box that is inside out.
                let nearest = std::array::from_fn(|axis| centre[axis].max(min[axis]).min(max[axis]));
                distance(nearest, *centre, count) + tolerance < *radius
            }
            (one, two) => share_space(one, two, dimensions, tolerance),
        }
    }

    /// Lowest and highest value of x·`direction` over the shape; of shapes that are not simple, over the box around them.
    pub fn extent_along(&self, direction: [f64; 3]) -> (f64, f64) {
        match self {
            Shape::Box { min, max } => {
                let lower =
                    (0..3).map(|axis| (direction[axis] * min[axis]).min(direction[axis] * max[axis])).sum();
                let upper =
                    (0..3).map(|axis| (direction[axis] * min[axis]).max(direction[axis] * max[axis])).sum();
                (lower, upper)
            }
            Shape::Sphere { centre, radius } => {
                let middle = dot(*centre, direction);
                let reach = radius * dot(direction, direction).sqrt();
                (middle - reach, middle + reach)
            }
            Shape::Mesh(mesh) | Shape::Turned { mesh, .. } => {
                let along = mesh.surface().positions.iter().map(|p| p.dot(direction.into()));
                along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
            }
            _ => {
                let (min, max) = self.bounds(Dimensions::Three);
                Shape::Box { min, max }.extent_along(direction)
            }
        }
    }
}

/// Looks for a point inside both shapes, deeper than a skin.
///
/// How deep a point is in both is 1-Lipschitz: a cube whose middle is farther out than half its diagonal holds no such point.
/// Others are cut into eight, until they are as small as half a spacing: less than that in common is let pass.
fn share_space(one: &Shape, two: &Shape, dimensions: Dimensions, tolerance: f64) -> bool {
    let (one, two) = (Geometry::of(one, dimensions), Geometry::of(two, dimensions));
    let ((a, b), (c, d)) = (one.bounds(), two.bounds());
    let (min, max) = (a.max(c), b.min(d));
    if !(min.is_finite() && max.is_finite()) || min.cmpgt(max).any() {
        return false;
    }
    let depth = |p: DVec3| one.distance(p).max(two.distance(p));
    let corners = if dimensions == Dimensions::Two { 4 } else { 8 };
    // The tolerance is a thousandth of a spacing.
    let finest = (500.0 * tolerance).max((max - min).max_element() / 128.0);
    let mut size = (max - min).max_element();
    let mut cubes = vec![0.5 * (min + max)];
    while !cubes.is_empty() {
        let reach = 0.5 * 3f64.sqrt() * size;
        let mut next = Vec::new();
        for middle in cubes {
            let deep = depth(middle);
            if deep < -tolerance {
                return true;
            }
            if deep <= reach && size > finest {
                next.extend((0..corners).map(|i: usize| {
                    let side = |axis: usize| if i >> axis & 1 == 0 { -0.25 } else { 0.25 };
                    let z = if corners == 4 { 0.0 } else { side(2) };
                    middle + DVec3::new(side(0), side(1), z) * size
                }));
            }
        }
        cubes = next;
        size *= 0.5;
    }
    false
}

pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn distance(a: [f64; 3], b: [f64; 3], count: usize) -> f64 {
    (0..count).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::Dimensions::{Three, Two};
    use super::*;

    fn unit_box() -> Shape {
        Shape::Box { min: [0.0; 3], max: [1.0; 3] }
    }

    fn ball(centre: [f64; 3], radius: f64) -> Shape {
        Shape::Sphere { centre, radius }
    }

    #[test]
    fn touching_is_not_overlapping() {
        let beside = Shape::Box { min: [1.0, 0.0, 0.0], max: [2.0, 1.0, 1.0] };
        assert!(!unit_box().overlaps(&beside, Three, 1e-9));
        assert!(!unit_box().overlaps(&ball([1.5, 0.5, 0.5], 0.5), Three, 1e-9));
        assert!(!ball([0.0; 3], 1.0).overlaps(&ball([2.0, 0.0, 0.0], 1.0), Three, 1e-9));
    }

    #[test]
    fn a_ball_near_a_corner_is_measured_from_the_corner() {
        // Its bounding box reaches into the unit box, the ball does not: √3 × 0.1 > 0.15.
        let near = ball([1.1, 1.1, 1.1], 0.15);
        assert!(!unit_box().overlaps(&near, Three, 1e-9));
        // Seen from above it does: √2 × 0.1 < 0.15.
        assert!(unit_box().overlaps(&near, Two, 1e-9));
        assert!(unit_box().overlaps(&ball([0.5; 3], 0.1), Three, 1e-9));
    }

    #[test]
    fn extents_along_a_slanted_direction() {
        let (low, high) = unit_box().extent_along([1.0, -1.0, 0.0]);
        assert_eq!((low, high), (-1.0, 1.0));
        let (low, high) = ball([1.0, 0.0, 0.0], 0.5).extent_along([0.0, 1.0, 0.0]);
        assert_eq!((low, high), (-0.5, 0.5));
    }
}
