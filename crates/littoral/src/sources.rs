//! Where particles come from, and where they go: shapes, jets, sinks.

use glam::{DVec3, Vec3, Vec4};

use crate::columns::{BODY, DENSITY, ID, MASS, POSITION, SUPPORT, VELOCITY, VOLUME};
use crate::discretisation::Discretisation;
use crate::particles::Particles;
use crate::scene::{Dimensions, Jet, Shape};

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
    match *shape {
        Shape::Box { min, max } => {
            let (min, max) = (DVec3::from(min), DVec3::from(max));
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
            let centre = DVec3::from(centre);
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
            sheet(shape, DVec3::from(corner), DVec3::from(along), DVec3::from(across), spacing)
        }
    }
}

/// Particles of a sheet: row after row, each from its start to its end, with particles at all four corners.
fn sheet(shape: &Shape, corner: DVec3, along: DVec3, across: DVec3, spacing: f64) -> Vec<Newborn> {
    let (rows, columns) = shape.rows_and_columns(spacing).unwrap_or_default();
    let part = |k: usize, count: usize| if count > 1 { k as f64 / (count - 1) as f64 } else { 0.0 };
    let place = |row: usize, column: usize| corner + along * part(column, columns) + across * part(row, rows);
    let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    all.map(|(row, column)| Newborn { position: place(row, column), volume: spacing.powi(3) }).collect()
}

/// Whether a point is inside a shape.
pub fn contains(shape: &Shape, p: Vec4, dimensions: Dimensions) -> bool {
    let p = p.truncate().as_dvec3();
    match *shape {
        Shape::Box { min, max } => {
            (0..dimensions.count()).all(|axis| min[axis] <= p[axis] && p[axis] < max[axis])
        }
        Shape::Sphere { centre, radius } => p.distance_squared(DVec3::from(centre)) < radius * radius,
        // Sheets have no inside, and no sink is one.
        Shape::Sheet { .. } => false,
    }
}

/// A jet, with how much of it has come out so far.
#[derive(Clone, Debug)]
pub struct Emitter {
    pub body: u32,
    pub jet: Jet,
    /// Layers emitted so far.
    pub layers: u64,
    /// Places in the nozzle, relative to its centre.
    nozzle: Vec<DVec3>,
}

impl Emitter {
    pub fn new(body: u32, jet: &Jet, d: &Discretisation) -> Emitter {
        let direction = DVec3::from(jet.direction);
        let spacing = f64::from(d.spacing);
        let (u, v) = direction.any_orthonormal_pair();
        let reach = (jet.radius / spacing).ceil() as i64;
        let mut nozzle = Vec::new();
        for j in -reach..=reach {
            for i in -reach..=reach {
                let place = match d.dimensions {
                    // In the plane the nozzle is a slit, across the direction of flow.
                    Dimensions::Two if j == 0 => {
                        DVec3::new(-direction.y, direction.x, 0.0) * i as f64 * spacing
                    }
                    Dimensions::Two => continue,
                    Dimensions::Three => (u * i as f64 + v * j as f64) * spacing,
                };
                // A nozzle of whole spacings holds its rim, whatever rounding makes of it.
                if place.length() <= jet.radius * (1.0 + 1e-6) {
                    nozzle.push(place);
                }
            }
        }
        Emitter { body, jet: jet.clone(), layers: 0, nozzle }
    }

    /// Particles that have left the nozzle by time `t`, since the last call.
    ///
    /// A layer leaves each time the jet has advanced by one spacing, and starts as far out as it has come since,
    /// so that layers are evenly spaced whatever the time step.
    pub fn emit(&mut self, t: f64, d: &Discretisation) -> Vec<Newborn> {
        let spacing = f64::from(d.spacing);
        let volume = spacing.powi(d.dimensions.count() as i32);
        let mut born = Vec::new();
        if t < self.jet.from {
            return born;
        }
        let gone = (t - self.jet.from) * self.jet.speed;
        let due = (t.min(self.jet.until) - self.jet.from) * self.jet.speed;
        while self.layers as f64 * spacing <= due {
            let along = gone - self.layers as f64 * spacing;
            let start = DVec3::from(self.jet.at) + DVec3::from(self.jet.direction) * along;
            born.extend(self.nozzle.iter().map(|place| Newborn { position: start + place, volume }));
            self.layers += 1;
        }
        born
    }

    pub fn velocity(&self) -> Vec3 {
        (DVec3::from(self.jet.direction) * self.jet.speed).as_vec3()
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
fn uniform(seed: u64, id: u32, axis: u32) -> f64 {
    let mut z = seed ^ (u64::from(id) << 2 | u64::from(axis)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
