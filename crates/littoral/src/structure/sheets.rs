//! Bodies of one layer of particles.

use std::collections::HashMap;
use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;

use crate::columns::{MASS, POSITION, VOLUME};
use crate::discretisation::Discretisation;
use crate::particles::Particles;
use crate::scene::Dimensions;
use crate::solids::Calibration;

/// A cloth or shell: nodes with triangles between them.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Place of the body in the scene.
    pub body: u32,
    pub nodes: Range<u32>,
    /// Corners of each, as nodes.
    pub triangles: Vec<[u32; 3]>,
    /// How many rows, and how many nodes in each, where it is a grid: row after row, each from its start to its end.
    pub grid: Option<(usize, usize)>,
    /// Grids on top of each other, one after the other among the nodes; the triangles are those of the middle one.
    pub layers: usize,
    /// m.
    pub thickness: f64,
}

/// A rope: nodes in a row.
#[derive(Clone, Debug)]
pub struct Line {
    /// Place of the body in the scene.
    pub body: u32,
    pub nodes: Range<u32>,
    /// m.
    pub thickness: f64,
}

impl Line {
    /// Gives its particles, which stand at `start` and after, their masses: half of each piece between two of them to either,
    /// as wide as it is thick; and the volumes that fluids see. In 2-D all is for each metre of depth.
    pub(crate) fn weigh(
        &self,
        start: usize,
        density: f64,
        d: &Discretisation,
        calibration: &Calibration,
        particles: &mut Particles,
    ) {
        let count = self.nodes.len();
        let places: Vec<DVec3> = particles.get(&POSITION)[start..start + count]
            .iter()
            .map(|place| place.truncate().as_dvec3())
            .collect();
        let across = if d.dimensions == Dimensions::Two { self.thickness } else { self.thickness.powi(2) };
        let mut mass = vec![0.0; count];
        for k in 1..count {
            let half = 0.5 * density * across * places[k].distance(places[k - 1]);
            mass[k - 1] += half;
            mass[k] += half;
        }
        let own = &mut particles.get_mut(&MASS)[start..start + count];
        own.iter_mut().zip(mass).for_each(|(own, mass)| *own = mass as f32);
        let volumes = calibration.volumes(&places, d);
        let volume = &mut particles.get_mut(&VOLUME)[start..start + count];
        volume.iter_mut().zip(volumes).for_each(|(volume, sample)| *volume = sample as f32);
    }
}

/// For each triangle, its lowest corner and its number among those that have the same one: where a frame keeps whether it is
/// gone (`TORN`). Of more than 32 at a corner, the last ones share a place.
pub fn slots(triangles: &[[u32; 3]]) -> Vec<(u32, u32)> {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    let slot = |corners: &[u32; 3]| {
        let lowest = corners.iter().copied().fold(u32::MAX, u32::min);
        let count = counts.entry(lowest).or_insert(0);
        *count += 1;
        (lowest, (*count - 1).min(31))
    };
    triangles.iter().map(slot).collect()
}

impl Sheet {
    /// Whether every edge of its triangles has one on either side.
    pub fn is_closed(&self) -> bool {
        let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
        for [a, b, c] in &self.triangles {
            for (a, b) in [(a, b), (b, c), (c, a)] {
                *edges.entry([*a.min(b), *a.max(b)]).or_insert(0) += if a < b { 1 } else { -1 };
            }
        }
        !edges.is_empty() && edges.values().all(|balance| *balance == 0)
    }

    /// A grid of rows and columns. Diagonals change their direction from cell to cell, so that none is preferred.
    pub fn grid(
        body: u32,
        nodes: Range<u32>,
        (rows, columns): (usize, usize),
        layers: usize,
        thickness: f64,
    ) -> Sheet {
        let first = nodes.start + (layers / 2 * rows * columns) as u32;
        let node = |row: usize, column: usize| first + (row * columns + column) as u32;
        let mut triangles = Vec::new();
        for row in 0..rows.saturating_sub(1) {
            for column in 0..columns.saturating_sub(1) {
                let [a, b] = [node(row, column), node(row, column + 1)];
                let [c, d] = [node(row + 1, column), node(row + 1, column + 1)];
                let halves =
                    if (row + column) % 2 == 0 { [[a, b, d], [a, d, c]] } else { [[a, b, c], [b, d, c]] };
                triangles.extend(halves);
            }
        }
        Sheet { body, nodes, triangles, grid: Some((rows, columns)), layers, thickness }
    }

    /// Gives its particles the mass of what a closed sheet encloses: tetrahedra from its triangles to its last node, which
    /// stands in its middle, with a quarter of each for each corner.
    pub(crate) fn weigh_inside(&self, start: usize, density: f64, particles: &mut Particles) {
        let count = self.nodes.len();
        let place = |k: usize| particles.get(&POSITION)[start + k].truncate().as_dvec3();
        let middle = place(count - 1);
        let mut volume = vec![0.0; count];
        for corners in &self.triangles {
            let at = corners.map(|node| (node - self.nodes.start) as usize);
            let [a, b, c] = at.map(|k| place(k) - middle);
            // Seen from the middle, a fold may turn its back: matter all the same.
            let quarter = a.dot(b.cross(c)).abs() / 24.0;
            at.into_iter().chain([count - 1]).for_each(|k| volume[k] += quarter);
        }
        let mass = &mut particles.get_mut(&MASS)[start..start + count];
        mass.iter_mut().zip(volume).for_each(|(mass, volume)| *mass = (density * volume) as f32);
    }

    /// Triangles between nodes, counted from the body's first.
    pub fn of_triangles(body: u32, nodes: Range<u32>, triangles: &[[u32; 3]], thickness: f64) -> Sheet {
        let triangles = triangles.iter().map(|corners| corners.map(|corner| nodes.start + corner)).collect();
        Sheet { body, nodes, triangles, grid: None, layers: 1, thickness }
    }

    /// Gives its particles, which stand at `start` and after, their masses: a third of each triangle's to each of its
    /// corners; and the volumes that fluids see.
    pub(crate) fn weigh(
        &self,
        start: usize,
        density: f64,
        d: &Discretisation,
        calibration: &Calibration,
        particles: &mut Particles,
    ) {
        let count = self.nodes.len();
        let places: Vec<DVec3> = particles.get(&POSITION)[start..start + count]
            .iter()
            .map(|place| place.truncate().as_dvec3())
            .collect();
        let area = self.areas(&places);
        let mass = &mut particles.get_mut(&MASS)[start..start + count];
        mass.iter_mut().zip(&area).for_each(|(mass, area)| *mass = (density * self.thickness * area) as f32);
        let volumes = calibration.volumes(&places, d);
        let volume = &mut particles.get_mut(&VOLUME)[start..start + count];
        volume.par_iter_mut().zip(volumes).for_each(|(volume, sample)| *volume = sample as f32);
    }

    /// A third of each triangle to each of its corners, m².
    fn areas(&self, places: &[DVec3]) -> Vec<f64> {
        // Each layer has its part, shared like the middle one's.
        let in_layer = places.len() / self.layers;
        let mut area = vec![0.0; in_layer];
        for corners in &self.triangles {
            let at = corners.map(|node| (node - self.nodes.start) as usize);
            let [a, b, c] = at.map(|k| places[k]);
            let third = (b - a).cross(c - a).length() / 6.0 / self.layers as f64;
            at.into_iter().for_each(|k| area[k % in_layer] += third);
        }
        area.repeat(self.layers)
    }

    /// Volume of the material around each node at rest, m³; 0 beside what is gone.
    pub(crate) fn volumes(&self, places: &[DVec3]) -> Vec<f32> {
        let volume = |area: f64| if area.is_finite() { (area * self.thickness) as f32 } else { 0.0 };
        self.areas(places).into_iter().map(volume).collect()
    }
}
