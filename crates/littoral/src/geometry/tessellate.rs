//! Triangles of the simple shapes.
//!
//! Round shapes are profiles turned about an axis. Their rings are polygons of the circle's area, so that a cylinder
//! of few segments has its exact volume.

use std::f64::consts::{PI, TAU};

use glam::{DVec2, DVec3};

use super::TriangleMesh;

pub fn cuboid(min: DVec3, max: DVec3) -> TriangleMesh {
    let corner = |i: u32| {
        let pick = |axis: u32| if i >> axis & 1 == 0 { min[axis as usize] } else { max[axis as usize] };
        DVec3::new(pick(0), pick(1), pick(2))
    };
    let faces = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    TriangleMesh {
        positions: (0..8).map(corner).collect(),
        triangles: faces.into_iter().flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

/// As a fan from corner to corner; seen against the normal along × across it turns counterclockwise.
pub fn sheet(corner: DVec3, along: DVec3, across: DVec3) -> TriangleMesh {
    TriangleMesh {
        positions: vec![corner, corner + along, corner + along + across, corner + across],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

pub fn sphere(centre: DVec3, radius: f64, segments: usize) -> TriangleMesh {
    let rings = segments.div_ceil(2).max(3);
    let profile: Vec<DVec2> = arc(DVec2::ZERO, radius, -0.5 * PI, 0.5 * PI, rings).collect();
    turn(&profile, centre, DVec3::Y, segments, false)
}

pub fn capsule(from: DVec3, to: DVec3, radius: f64, segments: usize) -> TriangleMesh {
    let rings = segments.div_ceil(4).max(2);
    let height = from.distance(to);
    let lower = arc(DVec2::ZERO, radius, -0.5 * PI, 0.0, rings);
    let upper = arc(DVec2::new(0.0, height), radius, 0.0, 0.5 * PI, rings);
    let profile: Vec<DVec2> = lower.chain(upper).collect();
    turn(&profile, from, (to - from) / height, segments, false)
}

pub fn frustum(from: DVec3, to: DVec3, radii: [f64; 2], segments: usize) -> TriangleMesh {
    let height = from.distance(to);
    let rims = [DVec2::new(radii[0], 0.0), DVec2::new(radii[1], height)];
    let mut profile = vec![DVec2::ZERO];
    profile.extend(rims.into_iter().filter(|rim| rim.x > 0.0));
    profile.push(DVec2::new(0.0, height));
    turn(&profile, from, (to - from) / height, segments, false)
}

pub fn torus(centre: DVec3, axis: DVec3, radius: f64, tube: f64, segments: usize) -> TriangleMesh {
    let around = ((segments as f64 * tube / radius).ceil() as usize).clamp(8, segments.max(8));
    let middle = DVec2::new(radius, 0.0);
    let profile: Vec<DVec2> = arc(middle, equal_area(tube, around), -PI, PI, around).take(around).collect();
    turn(&profile, centre, axis, segments, true)
}

/// Radius of the corners of a polygon that has a circle's area: r² sin(2π/n)/(2π/n) = R².
fn equal_area(radius: f64, segments: usize) -> f64 {
    let angle = TAU / segments as f64;
    radius * (angle / angle.sin()).sqrt()
}

/// Points of an arc, both ends among them.
fn arc(centre: DVec2, radius: f64, from: f64, to: f64, steps: usize) -> impl Iterator<Item = DVec2> {
    (0..=steps).map(move |k| {
        let angle = from + (to - from) * k as f64 / steps as f64;
        // The poles lie on the axis exactly.
        let x = radius * angle.cos();
        centre + DVec2::new(if x.abs() < 1e-12 * radius { 0.0 } else { x }, radius * angle.sin())
    })
}

/// Turns a profile of (r, t) about an axis. It runs upwards (counterclockwise where it is a loop).
fn turn(profile: &[DVec2], origin: DVec3, axis: DVec3, segments: usize, looped: bool) -> TriangleMesh {
    let u = axis.any_orthonormal_vector();
    let v = axis.cross(u);
    let wider = equal_area(1.0, segments);
    let mut mesh = TriangleMesh::default();
    // A point on the axis is one corner, others are a ring.
    let rings: Vec<Vec<u32>> = profile
        .iter()
        .map(|q| {
            let start = mesh.positions.len() as u32;
            if q.x == 0.0 {
                mesh.positions.push(origin + axis * q.y);
                return vec![start; segments];
            }
            mesh.positions.extend((0..segments).map(|k| {
                let angle = TAU * k as f64 / segments as f64;
                origin + axis * q.y + (u * angle.cos() + v * angle.sin()) * (q.x * wider)
            }));
            (start..start + segments as u32).collect()
        })
        .collect();
    let pairs = if looped { rings.len() } else { rings.len() - 1 };
    for k in 0..pairs {
        let (low, high) = (&rings[k], &rings[(k + 1) % rings.len()]);
        for i in 0..segments {
            let next = (i + 1) % segments;
            let [a, b, c, d] = [low[i], low[next], high[next], high[i]];
            mesh.triangles
                .extend([[a, b, c], [a, c, d]].into_iter().filter(|[a, b, c]| a != b && b != c && c != a));
        }
    }
    mesh
}
