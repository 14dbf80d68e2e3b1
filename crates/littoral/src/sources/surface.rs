//! The surface of any shape, as places from which particles can leave.
//!
//! Only one thing is asked of a shape: whether a point is inside. Lines of a lattice along each axis are followed
//! through the shape; where they cross its surface, the crossing is found by bisection and the normal n from how
//! much of a small sphere around it is outside. A surface element dA is crossed by |n_a| dA/s² lines along axis a,
//! so that crossings weighted with |n_a| s² add up to Σ n_a² dA = dA: the area. Crossings that stand too close to one
//! that was kept are left out; those that are kept share the area evenly.
//!
//! Kept honest by the area and the normals of a ball and a box, in the tests.

use glam::DVec3;

use super::contains;
use super::crowd::Crowd;
use super::nozzle::Place;
use crate::discretisation::Discretisation;
use crate::neighbourhood::Periods;
use crate::scene::{Dimensions, Shape};

/// Kept crossings are at least so far apart, in spacings.
const APART: f64 = 0.95;

/// A crossing of a line with the surface.
struct Crossing {
    at: DVec3,
    normal: DVec3,
    area: f64,
}

/// Places on the surface of a shape, from which columns leave along the normal; only those that face `facing` within
/// 45°, if given. A particle leaves when its column has the volume of a spacing's cube.
pub fn places(shape: &Shape, facing: Option<DVec3>, d: &Discretisation) -> Vec<Place> {
    let spacing = f64::from(d.spacing);
    let faces = |c: &Crossing| facing.is_none_or(|towards| c.normal.dot(towards) >= 0.5f64.sqrt() - 1e-3);
    let all: Vec<Crossing> = crossings(shape, d).into_iter().filter(faces).collect();
    let (min, max) = shape.bounds(d.dimensions);
    let mut crowd = Crowd::near(&[], &Periods::default(), min.into(), max.into(), APART * spacing);
    let mut kept = Vec::new();
    for one in &all {
        if crowd.has_room_at(one.at) {
            crowd.join(one.at);
            kept.push(one);
        }
    }
    let volume = spacing.powi(d.dimensions.count() as i32);
    let area = all.iter().map(|c| c.area).sum::<f64>() / kept.len().max(1) as f64;
    let place = |c: &&Crossing| Place {
        offset: c.at,
        direction: c.normal,
        pace: 1.0,
        interval: volume / area,
        volume,
    };
    kept.iter().map(place).collect()
}

fn crossings(shape: &Shape, d: &Discretisation) -> Vec<Crossing> {
    let spacing = f64::from(d.spacing);
    let (min, max) = shape.bounds(d.dimensions);
    let (min, max) = (DVec3::from(min), DVec3::from(max));
    let inside = |p: DVec3| contains(shape, p.as_vec3().extend(0.0), d.dimensions);
    let axes = d.dimensions.count();
    let lines = ((max - min) / spacing).round().max(DVec3::ONE);
    let step = (max - min) / lines;
    let mut all = Vec::new();
    for axis in 0..axes {
        let (b, c) = ((axis + 1) % axes, (axis + 2) % axes);
        let rows = if axes == 3 { lines[c] as usize } else { 1 };
        let share = if axes == 3 { step[b] * step[c] } else { step[b] };
        for k in 0..rows {
            for j in 0..lines[b] as usize {
                let mut start = min;
                start[b] += (j as f64 + 0.5) * step[b];
                if axes == 3 {
                    start[c] += (k as f64 + 0.5) * step[c];
                } else {
                    start.z = 0.0;
                }
                let on_line = |x: f64| {
                    let mut p = start;
                    p[axis] = x;
                    p
                };
                // From outside to outside, at half a spacing: thinner parts than that are not seen.
                let count = ((max[axis] - min[axis]) / (0.5 * spacing)).ceil() as usize + 2;
                let at = |i: usize| min[axis] + (i as f64 - 0.75) * 0.5 * spacing;
                for i in 0..=count {
                    let (a, b) = (at(i), at(i + 1));
                    if inside(on_line(a)) != inside(on_line(b)) {
                        let x = on_line(bisect(a, b, |x| inside(on_line(x))));
                        let normal = normal_at(x, 0.3 * spacing, d.dimensions, inside);
                        all.push(Crossing { at: x, normal, area: share * normal[axis].abs() });
                    }
                }
            }
        }
    }
    // Crossings that a line only grazes have no area, and a poor normal.
    all.retain(|c| c.area > 1e-3 * spacing.powi(axes as i32 - 1));
    all
}

/// Where the answer changes between `a` and `b`.
fn bisect(mut a: f64, mut b: f64, inside: impl Fn(f64) -> bool) -> f64 {
    let at_a = inside(a);
    for _ in 0..30 {
        let middle = 0.5 * (a + b);
        if inside(middle) == at_a { a = middle } else { b = middle }
    }
    0.5 * (a + b)
}

/// The outward normal: the mean direction to what is outside, over a small sphere of evenly spread points.
fn normal_at(x: DVec3, radius: f64, dimensions: Dimensions, inside: impl Fn(DVec3) -> bool) -> DVec3 {
    const POINTS: usize = 200;
    let golden = std::f64::consts::PI * (3.0 - 5.0f64.sqrt());
    let mut sum = DVec3::ZERO;
    for k in 0..POINTS {
        let direction = match dimensions {
            Dimensions::Two => {
                let angle = std::f64::consts::TAU * (k as f64 + 0.5) / POINTS as f64;
                DVec3::new(libm::cos(angle), libm::sin(angle), 0.0)
            }
            Dimensions::Three => {
                let z = 1.0 - (2.0 * k as f64 + 1.0) / POINTS as f64;
                let (ring, angle) = ((1.0 - z * z).sqrt(), golden * k as f64);
                DVec3::new(ring * libm::cos(angle), ring * libm::sin(angle), z)
            }
        };
        let sign = if inside(x + direction * radius) { -1.0 } else { 1.0 };
        sum += direction * sign;
    }
    sum.normalize_or(DVec3::Y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::tests::discretisation;

    fn area(places: &[Place]) -> f64 {
        places.iter().map(|p| p.volume / p.interval).sum()
    }

    #[test]
    fn a_ball_has_its_area_and_its_normals() {
        let ball = Shape::Sphere { centre: [0.1, 0.2, 0.3], radius: 0.5 };
        let places = places(&ball, None, &discretisation(0.05, Dimensions::Three));
        let exact = std::f64::consts::PI;
        // Lines a tenth of the radius apart: a per cent.
        assert!((area(&places) / exact - 1.0).abs() < 0.01, "{} of {exact}", area(&places));
        for place in &places {
            let radial = place.offset - DVec3::new(0.1, 0.2, 0.3);
            assert!((radial.length() - 0.5).abs() < 1e-5);
            // 200 points on a sphere are 14° apart.
            assert!(place.direction.dot(radial.normalize()) > 0.99, "{}", place.direction);
        }
        let dense = exact / 0.05f64.powi(2);
        assert!(places.len() as f64 > 0.6 * dense && (places.len() as f64) < 1.4 * dense, "{}", places.len());
    }

    #[test]
    fn a_box_faces_down_with_its_floor_alone() {
        let shape = Shape::Box { min: [0.0, 0.5, 0.0], max: [0.4, 0.6, 0.3] };
        let d = discretisation(0.02, Dimensions::Three);
        assert!((area(&places(&shape, None, &d)) / (2.0 * (0.12 + 0.04 + 0.03)) - 1.0).abs() < 0.02);
        let floor = places(&shape, Some(DVec3::NEG_Y), &d);
        assert!((area(&floor) / 0.12 - 1.0).abs() < 0.02, "{}", area(&floor));
        assert!(floor.iter().all(|p| (p.offset.y - 0.5).abs() < 1e-6 && p.direction.y < -0.9));
    }

    #[test]
    fn a_disc_has_its_circumference() {
        let disc = Shape::Sphere { centre: [0.0; 3], radius: 0.5 };
        let places = places(&disc, None, &discretisation(0.02, Dimensions::Two));
        assert!((area(&places) / std::f64::consts::PI - 1.0).abs() < 0.01, "{}", area(&places));
    }
}
