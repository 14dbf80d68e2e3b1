//! Where particles come from, and where they go: shapes, emitters, sinks.

mod crowd;
mod emitter;
mod exchange;
mod nozzle;
mod surface;

use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

pub use emitter::{Emitter, Ledger, LedgerBits};
pub(crate) use exchange::is_inside;
pub use exchange::{Drain, exchange};
pub(crate) use nozzle::across;

use crate::columns::{BODY, DENSITY, ID, MASS, POSITION, SUPPORT, VELOCITY, VOLUME};
use crate::discretisation::Discretisation;
use crate::geometry::{self, Geometry};
use crate::particles::Particles;
use crate::scene::{Dimensions, Shape};

/// A particle to be born.
pub struct Newborn {
    pub position: DVec3,
    /// Volume it fills, m³ (m² in 2-D).
    pub volume: f64,
}

/// Particles that fill a shape: a cubic lattice, stretched a little where a box is not a whole number of
/// spacings long, so that it is filled exactly.
pub fn fill(shape: &Shape, d: &Discretisation) -> Vec<Newborn> {
    let spacing = f64::from(d.spacing);
    let flat = d.dimensions == Dimensions::Two;
    match shape {
        Shape::Box { min, max } => {
            let (min, max) = (DVec3::from(*min), DVec3::from(*max));
            let count = ((max - min) / spacing).round().max(DVec3::ONE);
            let step = (max - min) / count;
            let planes = if flat { 1 } else { count.z as usize };
            let volume = if flat { step.x * step.y } else { step.x * step.y * step.z };
            let mut particles = Vec::with_capacity(count.x as usize * count.y as usize * planes);
            for k in 0..planes {
                for j in 0..count.y as usize {
                    for i in 0..count.x as usize {
                        let mut position = min + (DVec3::new(i as f64, j as f64, k as f64) + 0.5) * step;
                        if flat {
                            position.z = 0.0;
                        }
                        particles.push(Newborn { position, volume });
                    }
                }
            }
            particles
        }
        Shape::Sphere { centre, radius } => {
            let (centre, radius) = (DVec3::from(*centre), *radius);
            let reach = (radius / spacing).ceil() as i64;
            let planes = if flat { 0..1 } else { -reach..reach };
            let volume = spacing.powi(d.dimensions.count() as i32);
            let mut particles = Vec::new();
            for k in planes {
                for j in -reach..reach {
                    for i in -reach..reach {
                        let mut offset = (DVec3::new(i as f64, j as f64, k as f64) + 0.5) * spacing;
                        if flat {
                            offset.z = 0.0;
                        }
                        if offset.length() < radius {
                            particles.push(Newborn { position: centre + offset, volume });
                        }
                    }
                }
            }
            particles
        }
        Shape::Sheet { corner, along, across } => {
            sheet(shape, DVec3::from(*corner), DVec3::from(*along), DVec3::from(*across), spacing)
        }
        Shape::Line { from, to } => {
            let (from, to) = (DVec3::from(*from), DVec3::from(*to));
            let count = shape.points_in_line(spacing).unwrap_or_default();
            let volume = spacing.powi(d.dimensions.count() as i32);
            let place = |k: usize| from.lerp(to, k as f64 / (count - 1) as f64);
            (0..count).map(|k| Newborn { position: place(k), volume }).collect()
        }
        Shape::Net { centre, .. } => {
            let mesh = shape.net(spacing);
            let middle = geometry::MassProperties::of_mesh(&mesh).centre;
            let places = mesh.positions.into_iter().chain(centre.then_some(middle));
            places.map(|position| Newborn { position, volume: spacing.powi(3) }).collect()
        }
        Shape::Turned { curve, .. } => {
            let volume = spacing.powi(3);
            let places = curve.layer(spacing).positions;
            places.into_iter().map(|position| Newborn { position, volume }).collect()
        }
        _ => {
            let cell = cell(shape, d.dimensions, spacing);
            let mut places = lattice(shape, &cell, d.dimensions);
            let least = if flat { cell.step.truncate().min_element() } else { cell.step.min_element() };
            geometry::settle(&mut places, &Geometry::of(shape, d.dimensions), least);
            places.into_iter().map(|position| Newborn { position, volume: cell.volume }).collect()
        }
    }
}

/// The lattice that fills the box around a shape.
struct Cell {
    min: DVec3,
    step: DVec3,
    count: [usize; 3],
    volume: f64,
}

/// Stretched like a box's: a shape with a flat floor and a flat top is filled level, half a step from both.
fn cell(shape: &Shape, dimensions: Dimensions, spacing: f64) -> Cell {
    let (min, max) = shape.bounds(dimensions);
    let (min, max) = (DVec3::from(min), DVec3::from(max));
    let count = ((max - min) / spacing).round().max(DVec3::ONE);
    let step = (max - min) / count;
    let axes = dimensions.count();
    Cell {
        min,
        step,
        count: count.to_array().map(|n| n as usize),
        volume: step.to_array()[..axes].iter().product(),
    }
}

/// Places of the lattice that lie inside a shape: the middles of its cells, row by row along x.
///
/// A distance tells how far the next ones are on the same side: whole runs need one look.
fn lattice(shape: &Shape, cell: &Cell, dimensions: Dimensions) -> Vec<DVec3> {
    let Cell { min, step, count, .. } = *cell;
    let geometry = Geometry::of(shape, dimensions);
    let flat = dimensions == Dimensions::Two;
    let planes = if flat { 1 } else { count[2] };
    let row = |row: usize| {
        let (j, k) = (row % count[1], row / count[1]);
        let place = |i: usize| {
            let p = min + (DVec3::new(i as f64, j as f64, k as f64) + 0.5) * step;
            if flat { p.with_z(0.0) } else { p }
        };
        let mut inside = Vec::new();
        let mut i = 0;
        while i < count[0] {
            let distance = geometry.distance(place(i));
            // Rounding must not carry a run across the surface.
            let run = ((distance.abs() / step.x - 1e-6).floor().max(0.0) as usize).saturating_add(1);
            let end = i.saturating_add(run).min(count[0]);
            if distance < 0.0 {
                inside.extend((i..end).map(place));
            }
            i = end;
        }
        inside
    };
    (0..count[1] * planes).into_par_iter().flat_map_iter(row).collect()
}

/// Whether the lattice that fills a shape misses it. Shapes of more than a few cells hold some.
pub fn misses(shape: &Shape, dimensions: Dimensions, spacing: f64) -> bool {
    let cell = cell(shape, dimensions, spacing);
    let few = 30.0 * cell.volume;
    let content = shape.content(dimensions, spacing);
    content <= 0.0 || (content < few && lattice(shape, &cell, dimensions).is_empty())
}

/// Particles of a sheet: row after row, each from its start to its end, with particles at all four corners.
fn sheet(shape: &Shape, corner: DVec3, along: DVec3, across: DVec3, spacing: f64) -> Vec<Newborn> {
    let (rows, columns) = shape.rows_and_columns(spacing).unwrap_or_default();
    let part = |k: usize, count: usize| if count > 1 { k as f64 / (count - 1) as f64 } else { 0.0 };
    let place = |row: usize, column: usize| corner + along * part(column, columns) + across * part(row, rows);
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    all.map(|(row, column)| Newborn { position: place(row, column), volume: spacing.powi(3) }).collect()
}

/// A sheet's particles as so many layers, one after the other, `thickness` apart from the first to the last.
pub fn layered(sheet: &[Newborn], shape: &Shape, layers: usize, thickness: f64) -> Vec<Newborn> {
    let Shape::Sheet { along, across, .. } = shape else { unreachable!("only sheets have layers") };
    let normal = DVec3::from(*along).cross(DVec3::from(*across)).normalize();
    let height = |layer: usize| (layer as f64 / (layers - 1) as f64 - 0.5) * thickness;
    let layer = |layer: usize| {
        let volume = |one: &Newborn| one.volume / layers as f64;
        sheet
            .iter()
            .map(move |one| Newborn { position: one.position + normal * height(layer), volume: volume(one) })
    };
    (0..layers).flat_map(layer).collect()
}

/// Whether a point is inside a shape.
pub fn contains(shape: &Shape, p: Vec4, dimensions: Dimensions) -> bool {
    let p = p.truncate().as_dvec3();
    match shape {
        // Boxes side by side share no point.
        Shape::Box { min, max } => {
            (0..dimensions.count()).all(|axis| min[axis] <= p[axis] && p[axis] < max[axis])
        }
        // In 2-D, trees were made to reach across the plane when the scene was read.
        _ => shape.distance(p) < 0.0,
    }
}

/// Adds particles to the world's; `jitter` is the largest displacement, m.
#[allow(clippy::too_many_arguments)] // a particle has this many properties at birth
pub fn add(
    particles: &mut Particles,
    born: &[Newborn],
    body: u32,
    velocity: Vec3,
    rest_density: f64,
    next_id: &mut u32,
    jitter: (f64, u64),
    d: &Discretisation,
) {
    let start = particles.len();
    particles.resize(start + born.len());
    let first_id = *next_id;
    *next_id += born.len() as u32;
    for (k, newborn) in born.iter().enumerate() {
        let i = start + k;
        let id = first_id + k as u32;
        let mut position = newborn.position;
        for axis in 0..d.dimensions.count() {
            position[axis] += jitter.0 * (2.0 * uniform(jitter.1, id, axis as u32) - 1.0);
        }
        particles.get_mut(&POSITION)[i] = position.as_vec3().extend(0.0);
        particles.get_mut(&VELOCITY)[i] = velocity.extend(0.0);
        particles.get_mut(&MASS)[i] = (rest_density * newborn.volume) as f32;
        particles.get_mut(&VOLUME)[i] = newborn.volume as f32;
        particles.get_mut(&SUPPORT)[i] = d.support;
        // Until the first step has found the true one.
        particles.get_mut(&DENSITY)[i] = rest_density as f32;
        particles.get_mut(&ID)[i] = id;
        particles.get_mut(&BODY)[i] = body;
    }
}

/// A number in [0, 1) that depends on seed, particle and axis alone (the SplitMix64 finaliser).
pub(crate) fn uniform(seed: u64, id: u32, axis: u32) -> f64 {
    let mut z = seed ^ (u64::from(id) << 2 | u64::from(axis)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use crate::discretisation::Discretisation;
    use crate::scene::{self, Dimensions};

    /// That of a plain scene.
    pub fn discretisation(spacing: f64, dimensions: Dimensions) -> Discretisation {
        let text = format!(
            "dimensions = {}\nsph.spacing = {spacing}\n[[body]]\nmaterial = \"water\"\n\
             shape.sphere = {{ centre = [0, 0, 0], radius = {} }}",
            dimensions.count(),
            2.0 * spacing
        );
        let (scene, _) = scene::load("test", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
        Discretisation::new(&scene)
    }
}
