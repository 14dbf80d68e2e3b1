//! Evens out particles that a lattice leaves in the way of a curved surface.
//!
//! A lattice that is cut off at a surface leaves some particles right on it and others a whole spacing away. Those
//! near the surface are moved: apart where two are closer than a spacing, and inwards where one is closer to the
//! surface than half a spacing, a few times over. Their number stays, and so does the volume they stand for.
//! Particles next to a flat face that the lattice fits are in place already, and stay there. In features thinner
//! than a spacing, inwards ends in the middle. Kept honest by `particles_keep_their_distance_from_curved_walls`.

use glam::DVec3;
use rayon::prelude::*;

use super::Geometry;
use super::sample::Grid;

/// Times that particles are moved.
const SWEEPS: usize = 8;
/// A lattice at rest is not disturbed: what is this part of a spacing apart is far enough.
const ENOUGH: f64 = 0.98;
/// Part of the way that a particle is pushed in one sweep.
const CAUTION: f64 = 0.6;

/// Moves those of the points that are within a spacing of the surface; `spacing` is the least of the lattice.
pub fn settle(points: &mut [DVec3], geometry: &Geometry, spacing: f64) {
    let near: Vec<u32> = (0..points.len() as u32)
        .into_par_iter()
        .filter(|&i| geometry.distance(points[i as usize]) > -1.2 * spacing)
        .collect();
    let mut loose = vec![false; points.len()];
    near.iter().for_each(|&i| loose[i as usize] = true);
    for _ in 0..SWEEPS {
        let grid = Grid::new(points.iter().copied(), spacing);
        let moved: Vec<DVec3> = near
            .par_iter()
            .map(|&i| {
                let p = points[i as usize];
                inwards(geometry, p + apart(&grid, points, &loose, i, spacing), spacing)
            })
            .collect();
        near.iter().zip(moved).for_each(|(&i, p)| points[i as usize] = p);
    }
}

/// The push of all points that are too close.
fn apart(grid: &Grid, points: &[DVec3], loose: &[bool], i: u32, spacing: f64) -> DVec3 {
    let (p, reach) = (points[i as usize], ENOUGH * spacing);
    let mut push = DVec3::ZERO;
    grid.for_each_near(p, reach, |j| {
        let away = p - points[j];
        let distance = away.length();
        if j != i as usize && distance < reach && distance > 0.0 {
            // Both move half the way, or one all of it.
            let share = if loose[j] { 0.5 } else { 1.0 };
            push += away * (share * CAUTION * (reach - distance) / distance);
        }
    });
    push.clamp_length_max(0.25 * spacing)
}

/// Half a spacing inside the surface, or as far as there is room.
fn inwards(geometry: &Geometry, p: DVec3, spacing: f64) -> DVec3 {
    let depth = geometry.distance(p);
    let missing = depth + 0.5 * ENOUGH * spacing;
    if missing <= 0.0 {
        return p;
    }
    let normal = geometry.normal(p);
    let steps = [1.0, 0.5, 0.25].map(|part| p - normal * (missing * part));
    steps.into_iter().find(|&q| geometry.distance(q) < depth).unwrap_or(p)
}
