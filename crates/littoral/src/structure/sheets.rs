//! Bodies of one layer of particles.

use std::ops::Range;

use glam::DVec3;
use rayon::prelude::*;

use crate::columns::{MASS, POSITION, VOLUME};
use crate::discretisation::Discretisation;
use crate::particles::Particles;
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
    /// m.
    pub thickness: f64,
}

impl Sheet {
    /// A grid of rows and columns. Diagonals change their direction from cell to cell, so that none is preferred.
    pub fn grid(body: u32, nodes: Range<u32>, (rows, columns): (usize, usize), thickness: f64) -> Sheet {
        let node = |row: usize, column: usize| nodes.start + (row * columns + column) as u32;
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
        Sheet { body, nodes, triangles, grid: Some((rows, columns)), thickness }
    }

    /// Triangles between nodes, counted from the body's first.
    pub fn of_triangles(body: u32, nodes: Range<u32>, triangles: &[[u32; 3]], thickness: f64) -> Sheet {
        let triangles = triangles.iter().map(|corners| corners.map(|corner| nodes.start + corner)).collect();
        Sheet { body, nodes, triangles, grid: None, thickness }
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
        let mut area = vec![0.0; places.len()];
        for corners in &self.triangles {
            let at = corners.map(|node| (node - self.nodes.start) as usize);
            let [a, b, c] = at.map(|k| places[k]);
            let third = (b - a).cross(c - a).length() / 6.0;
            at.into_iter().for_each(|k| area[k] += third);
        }
        area
    }

    /// Volume of the material around each node at rest, m³; 0 beside what is gone.
    pub(crate) fn volumes(&self, places: &[DVec3]) -> Vec<f32> {
        let volume = |area: f64| if area.is_finite() { (area * self.thickness) as f32 } else { 0.0 };
        self.areas(places).into_iter().map(volume).collect()
    }
}
