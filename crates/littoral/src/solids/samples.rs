//! Boundary samples of solids [Akinci2012].
//!
//! One layer, half a spacing below the surface: a fluid at rest before a flat face goes on as its own lattice would,
//! one spacing from the samples. A sample stands for the volume
//!
//!   V_b = V_flat S_flat / Σ_b′ W(x_b − x_b′)
//!
//! where S_flat is the sum over a flat lattice of samples, and V_flat makes the first layer of a resting fluid before
//! such a lattice exactly as dense as it should be, with the run's own kernel and support: where samples stand closer
//! (on edges, in corners, on curves) each stands for less. Thin sheets have their samples on the surface.
//!
//! For pressure laws that give walls a pressure of their own (`behaviours/pressure.rs`), a sample's share is the
//! kernel sum over a lattice of fluid before it, with those places left out that lie in the solid.
//! Samples of sheets see fluid on two sides, cannot tell which of them presses, and have no pressure of their own.
//!
//! Kept honest by `a_fluid_before_a_flat_face_has_its_rest_density` and `still_water_stays_on_a_solid_floor`.

use glam::DVec3;
use rayon::prelude::*;

use super::SolidState;
use crate::discretisation::Discretisation;
use crate::geometry::SurfaceSample;
use crate::scene::{Dimensions, Domain, Shape, Side};
use crate::walls::{LEAST_SHARE, Walls};

/// A boundary sample in its solid's own coordinates, which have their origin at the solid's centre.
#[derive(Clone, Copy, Debug)]
pub struct LocalSample {
    pub position: DVec3,
    /// Towards the fluid; zero on sheets, which have it on both sides.
    pub normal: DVec3,
    /// Behind the surface, m.
    pub depth: f64,
    /// m³; m² in 2-D.
    pub volume: f64,
    /// Part of the kernel that resting fluid fills; 0 where the sample has no pressure of its own.
    pub share: f64,
}

/// A flat lattice of samples, measured.
pub struct Calibration {
    /// Volume of a sample, m³.
    pub volume: f64,
    /// Σ W over the samples themselves, 1/m³.
    pub sum: f64,
}

impl Calibration {
    pub fn new(d: &Discretisation) -> Calibration {
        let spacing = f64::from(d.spacing);
        // Sum of the kernel over one layer of a lattice, `height` spacings away.
        let layer = |height: f64| -> f64 {
            across(d).map(|[a, b]| kernel(d, spacing * DVec3::new(a, b, height).length())).sum()
        };
        let fluid: f64 = (0..=reach(d)).map(|height| layer(height as f64)).sum::<f64>() * cell(d);
        Calibration { volume: (1.0 - fluid) / layer(1.0), sum: layer(0.0) }
    }

    /// Volumes of samples that stand at these places.
    pub fn volumes(&self, places: &[DVec3], d: &Discretisation) -> Vec<f64> {
        let sample = |position: &DVec3| SurfaceSample { position: *position, normal: DVec3::ZERO, area: 0.0 };
        let samples: Vec<SurfaceSample> = places.iter().map(sample).collect();
        let crowd = Crowd::new(&samples, f64::from(d.support));
        let volume = |place: &DVec3| {
            let mut sum = 0.0;
            crowd.each_near(*place, |other| sum += kernel(d, other.position.distance(*place)));
            self.volume * self.sum / sum
        };
        places.par_iter().map(volume).collect()
    }
}

fn kernel(d: &Discretisation, r: f64) -> f64 {
    f64::from(d.density.w_at(r as f32))
}

fn cell(d: &Discretisation) -> f64 {
    f64::from(d.spacing).powi(d.dimensions.count() as i32)
}

/// Spacings within the support.
fn reach(d: &Discretisation) -> i32 {
    (d.support / d.spacing).ceil() as i32
}

/// Places of a layer of the lattice within reach, in spacings: a square in 3-D, a row in 2-D.
fn across(d: &Discretisation) -> impl Iterator<Item = [f64; 2]> + use<> {
    let n = reach(d);
    let m = if d.dimensions == Dimensions::Three { n } else { 0 };
    (-n..=n).flat_map(move |a| (-m..=m).map(move |b| [f64::from(a), f64::from(b)]))
}

/// Samples of the k-th solid.
pub fn sample(
    solids: &[SolidState],
    k: usize,
    shape: &Shape,
    domain: &Domain,
    d: &Discretisation,
    calibration: &Calibration,
) -> Vec<LocalSample> {
    let solid = &solids[k];
    let spacing = f64::from(d.spacing);
    let geometry = &solid.geometry;
    let thin = geometry.is_thin();
    let below = if solid.inside { -0.5 * spacing } else { 0.5 * spacing };
    let depth = if thin { 0.0 } else { below };
    let (min, max) = geometry.bounds();
    // Levels outside a shape are cut off by the box around it: hollows other than boxes are sampled on the surface.
    let shifted = solid.inside && !matches!(shape, Shape::Box { .. });
    let depth = if shifted { 0.0 } else { depth };
    let mut found = if min.is_finite() && max.is_finite() {
        geometry.surface_samples(spacing, depth)
    } else {
        // An endless shape matters within the box only.
        let margin = DVec3::splat(2.0 * f64::from(d.support));
        let within = (DVec3::from(domain.min) - margin, DVec3::from(domain.max) + margin);
        geometry.surface_samples_within(spacing, depth, within)
    };
    if shifted {
        found.iter_mut().for_each(|sample| sample.position += 0.5 * spacing * sample.normal);
    }
    if solid.is_fixed() {
        let others: Vec<&SolidState> = solids
            .iter()
            .enumerate()
            .filter(|(j, other)| *j != k && other.is_fixed())
            .map(|(_, s)| s)
            .collect();
        found.retain(|sample| {
            let buried =
                |other: &&SolidState| !other.geometry.is_thin() && other.distance(sample.position) < -spacing;
            is_in_box(sample.position, domain) && !others.iter().any(buried)
        });
    }

    let crowd = Crowd::new(&found, f64::from(d.support));
    let side = if solid.inside { -1.0 } else { 1.0 };
    found
        .par_iter()
        .with_min_len(256)
        .map(|sample| {
            let mut sum = 0.0;
            crowd.each_near(sample.position, |other| {
                // The far side of a thin wall is another surface, which another fluid sees.
                let r = other.position.distance(sample.position);
                if r < 0.99 * spacing || other.normal.dot(sample.normal) > -0.5 {
                    sum += kernel(d, r);
                }
            });
            let normal = if thin { DVec3::ZERO } else { side * sample.normal };
            let share = if thin { 0.0 } else { share(solid, sample.position, normal, d) };
            LocalSample {
                position: sample.position - solid.origin,
                normal,
                depth: if thin { 0.0 } else { 0.5 * spacing },
                volume: calibration.volume * calibration.sum / sum,
                share,
            }
        })
        .collect()
}

/// Walls of the box hold the fluid there: no sample is needed behind them.
fn is_in_box(p: DVec3, domain: &Domain) -> bool {
    (0..3).all(|axis| {
        let [low, high] = domain.sides[axis].map(|side| side == Side::Wall);
        !(low && p[axis] < domain.min[axis] || high && p[axis] > domain.max[axis])
    })
}

/// Σ V W over a lattice of fluid that stands on the face of a sample, as far as the solid leaves room for it. The solid
/// is taken where the scene places its shape.
///
/// A distance d at q tells that all places within d − c of q are farther than c from the solid, and all within c − d
/// are not: before a flat face, one place above and one below it answer for all others.
fn share(solid: &SolidState, at: DVec3, normal: DVec3, d: &Discretisation) -> f64 {
    let spacing = f64::from(d.spacing);
    let (along, other) = if d.dimensions == Dimensions::Three {
        normal.any_orthonormal_pair()
    } else {
        (DVec3::new(-normal.y, normal.x, 0.0), DVec3::ZERO)
    };
    let n = reach(d);
    // On a flat face, fluid stands half a spacing out and the samples half a spacing in.
    let clear = 0.25 * spacing;
    let distance =
        |p: DVec3| if solid.inside { -solid.geometry.distance(p) } else { solid.geometry.distance(p) };
    let reach = f64::from(n);
    // From H spacings above a flat face, the first layer is clear as far aside as R² = H/2 − 7/16.
    let outposts = [2.0 * reach * reach, reach + 1.0, -reach].map(|height| at + normal * (height * spacing));
    let mut known: Vec<(DVec3, f64)> = outposts.into_iter().map(|q| (q, distance(q))).collect();
    let mut is_free = |p: DVec3| {
        let told = known.iter().find_map(|&(q, distance)| {
            (p.distance(q) < (distance - clear).abs()).then_some(distance > clear)
        });
        told.unwrap_or_else(|| {
            let distance = distance(p);
            known.push((p, distance));
            distance > clear
        })
    };
    let mut sum = 0.0;
    for [a, b] in across(d) {
        for height in -n..=n {
            let offset = spacing * (along * a + other * b + normal * f64::from(height));
            let weight = kernel(d, offset.length());
            if weight > 0.0 && is_free(at + offset) {
                sum += weight;
            }
        }
    }
    sum * cell(d)
}

impl Walls {
    /// Adds the samples of a solid; their places are written by the solid.
    pub(crate) fn extend(&mut self, samples: &[LocalSample], owner: u32, slip: f32, d: &Discretisation) {
        for sample in samples {
            self.place.push(glam::Vec4::new(0.0, 0.0, 0.0, sample.volume as f32));
            self.motion.push(glam::Vec4::ZERO);
            self.face.push(glam::Vec4::new(0.0, 0.0, 0.0, sample.depth as f32));
            self.owner.push(owner);
            self.support.push(d.support);
            self.hold.push(1.0 - slip);
            let share = sample.share as f32;
            if share > LEAST_SHARE {
                self.pressing.push(self.share.len() as u32);
            }
            self.share.push(share);
        }
    }
}

/// Samples in cells, to find those near a place.
struct Crowd {
    width: f64,
    cells: std::collections::HashMap<[i64; 3], Vec<SurfaceSample>>,
}

impl Crowd {
    fn new(samples: &[SurfaceSample], width: f64) -> Crowd {
        let mut crowd = Crowd { width, cells: std::collections::HashMap::new() };
        for sample in samples {
            let cell = crowd.cell(sample.position);
            crowd.cells.entry(cell).or_default().push(*sample);
        }
        crowd
    }

    fn cell(&self, p: DVec3) -> [i64; 3] {
        p.to_array().map(|x| (x / self.width).floor() as i64)
    }

    /// All points within one width, and some more, always in the same order.
    fn each_near(&self, p: DVec3, mut tell: impl FnMut(&SurfaceSample)) {
        let [x, y, z] = self.cell(p);
        for dz in -1..=1 {
            for dy in -1..=1 {
                for dx in -1..=1 {
                    for other in self.cells.get(&[x + dx, y + dy, z + dz]).into_iter().flatten() {
                        tell(other);
                    }
                }
            }
        }
    }
}
