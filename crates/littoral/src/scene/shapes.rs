//! Geometry of the shapes a scene can name: extents, contents, and whether two of them meet.
//!
//! In 2-D a box is a rectangle and a sphere is a disc; z plays no part.

use super::{Dimensions, Shape};

impl Shape {
    /// Corners of the smallest axis-aligned box around the shape, m.
    pub fn bounds(&self, dimensions: Dimensions) -> ([f64; 3], [f64; 3]) {
        match *self {
            Shape::Box { min, max } => (min, max),
            Shape::Sphere { centre, radius } => {
                let mut reach = [radius; 3];
                reach[dimensions.count()..].fill(0.0);
                (
                    std::array::from_fn(|axis| centre[axis] - reach[axis]),
                    std::array::from_fn(|axis| centre[axis] + reach[axis]),
                )
            }
            Shape::Sheet { corner, along, across } => {
                let ends = |axis: usize| {
                    let [c, a, b] = [corner[axis], along[axis], across[axis]];
                    [c, c + a, c + b, c + a + b]
                };
                (
                    std::array::from_fn(|axis| ends(axis).into_iter().fold(f64::INFINITY, f64::min)),
                    std::array::from_fn(|axis| ends(axis).into_iter().fold(f64::NEG_INFINITY, f64::max)),
                )
            }
        }
    }

    /// Volume in m³ (area in m² in 2-D) when filled with particles of this spacing.
    pub fn content(&self, dimensions: Dimensions, spacing: f64) -> f64 {
        use std::f64::consts::PI;
        match (*self, dimensions) {
            (Shape::Box { min, max }, _) => {
                (0..dimensions.count()).map(|axis| max[axis] - min[axis]).product()
            }
            (Shape::Sphere { radius, .. }, Dimensions::Two) => PI * radius.powi(2),
            (Shape::Sphere { radius, .. }, Dimensions::Three) => 4.0 / 3.0 * PI * radius.powi(3),
            (Shape::Sheet { .. }, _) => {
                let (rows, columns) = self.rows_and_columns(spacing).unwrap_or_default();
                (rows * columns) as f64 * spacing.powi(3)
            }
        }
    }

    /// Of a sheet: how many rows, and how many particles in each.
    pub fn rows_and_columns(&self, spacing: f64) -> Option<(usize, usize)> {
        let Shape::Sheet { along, across, .. } = *self else { return None };
        let count = |edge: [f64; 3]| (length(edge) / spacing).round() as usize + 1;
        Some((count(across), count(along)))
    }

    /// Whether the shape is too small to hold a particle of the lattice that fills it.
    ///
    /// A box is stretched to whole particles, so half a spacing across is enough; a sphere's lattice has a cell's
    /// corner at its centre, so that the first particles are half a cell's diagonal away.
    pub fn is_empty(&self, dimensions: Dimensions, spacing: f64) -> bool {
        let count = dimensions.count();
        match *self {
            Shape::Box { min, max } => (0..count).any(|axis| max[axis] - min[axis] < 0.5 * spacing),
            Shape::Sphere { radius, .. } => radius <= 0.5 * spacing * (count as f64).sqrt(),
            Shape::Sheet { .. } => false,
        }
    }

    /// Whether two shapes share more than a skin of `tolerance`, m.
    pub fn overlaps(&self, other: &Shape, dimensions: Dimensions, tolerance: f64) -> bool {
        let count = dimensions.count();
        // A sheet counts as the box around it: too much where it is slanted.
        let boxed = |shape: &Shape| match shape {
            Shape::Sheet { .. } => {
                let (min, max) = shape.bounds(dimensions);
                Shape::Box { min, max }
            }
            _ => *shape,
        };
        match (boxed(self), boxed(other)) {
            (Shape::Sheet { .. }, _) | (_, Shape::Sheet { .. }) => unreachable!("boxed"),
            (Shape::Box { min: a, max: b }, Shape::Box { min: c, max: d }) => {
                (0..count).all(|axis| a[axis].max(c[axis]) + tolerance < b[axis].min(d[axis]))
            }
            (Shape::Sphere { centre: a, radius: r }, Shape::Sphere { centre: b, radius: s }) => {
                distance(a, b, count) + tolerance < r + s
            }
            (Shape::Box { min, max }, Shape::Sphere { centre, radius })
            | (Shape::Sphere { centre, radius }, Shape::Box { min, max }) => {
                // `clamp` would panic on a box that is inside out.
                let nearest = std::array::from_fn(|axis| centre[axis].max(min[axis]).min(max[axis]));
                distance(nearest, centre, count) + tolerance < radius
            }
        }
    }

    /// Lowest and highest value of x·`direction` over the shape.
    pub fn extent_along(&self, direction: [f64; 3]) -> (f64, f64) {
        match *self {
            Shape::Box { min, max } => {
                let lower =
                    (0..3).map(|axis| (direction[axis] * min[axis]).min(direction[axis] * max[axis])).sum();
                let upper =
                    (0..3).map(|axis| (direction[axis] * min[axis]).max(direction[axis] * max[axis])).sum();
                (lower, upper)
            }
            Shape::Sphere { centre, radius } => {
                let middle = dot(centre, direction);
                let reach = radius * dot(direction, direction).sqrt();
                (middle - reach, middle + reach)
            }
            Shape::Sheet { .. } => {
                let (min, max) = self.bounds(Dimensions::Three);
                Shape::Box { min, max }.extent_along(direction)
            }
        }
    }
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
