//! Catmull–Rom curves: smooth, and through all their points.

use glam::Vec3;

/// Place and slope (for each unit of t) of the curve through `points`, t of the way from point `interval` to the next.
/// Beyond its ends the curve goes on straight. In Hermite's form, which meets the points to the last bit.
pub(crate) fn catmull_rom(points: &[Vec3], interval: usize, t: f32) -> (Vec3, Vec3) {
    let (b, c) = (points[interval], points[interval + 1]);
    let a = interval.checked_sub(1).map_or(2.0 * b - c, |k| points[k]);
    let d = points.get(interval + 2).copied().unwrap_or(2.0 * c - b);
    let (m, n) = (0.5 * (c - a), 0.5 * (d - b));
    let (t2, t3) = (t * t, t * t * t);
    let place =
        b * (2.0 * t3 - 3.0 * t2 + 1.0) + m * (t3 - 2.0 * t2 + t) + c * (3.0 * t2 - 2.0 * t3) + n * (t3 - t2);
    let slope = (c - b) * (6.0 * t - 6.0 * t2) + m * (3.0 * t2 - 4.0 * t + 1.0) + n * (3.0 * t2 - 2.0 * t);
    (place, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meets_its_points_with_central_slopes() {
        let points =
            [Vec3::ZERO, Vec3::new(1.0, 0.3, 0.1), Vec3::new(2.0, 1.1, 0.0), Vec3::new(2.3, 2.0, 0.7)];
        for interval in 0..3 {
            assert_eq!(catmull_rom(&points, interval, 0.0).0, points[interval]);
            assert_eq!(catmull_rom(&points, interval, 1.0).0, points[interval + 1]);
        }
        let slope = 0.5 * (points[2] - points[0]);
        assert!(catmull_rom(&points, 0, 1.0).1.distance(slope) < 1e-6);
        assert!(catmull_rom(&points, 1, 0.0).1.distance(slope) < 1e-6);
        // The slope is that of the place.
        let [before, after] = [0.49, 0.51].map(|t| catmull_rom(&points, 1, t).0);
        assert!((50.0 * (after - before)).distance(catmull_rom(&points, 1, 0.5).1) < 1e-3);
    }
}
