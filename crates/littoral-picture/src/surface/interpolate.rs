//! What particles carry, at the vertices of a mesh.

use super::bins::{Bins, sites};
use super::{Cloud, fields};
use crate::mesh::{Attribute, Mesh};
use glam::Vec3;
use rayon::prelude::*;

/// Numbers of the particles, `width` for each.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    pub name: &'a str,
    pub width: usize,
    pub values: &'a [f32],
}

/// For tests: adds a column as an attribute of the mesh; see [`interpolate_columns`].
#[cfg(test)]
pub fn interpolate(cloud: &Cloud, mesh: &mut Mesh, name: &str, width: usize, values: &[f32]) {
    interpolate_columns(cloud, mesh, &[Column { name, width, values }]);
}

/// Adds columns as attributes: Σ w v / Σ w with w = V (1 − q²)³ within two spacings (Shepard; [LE 2.10, 2.11]), so that no
/// value leaves the range of its neighbours. A vertex that no particle reaches gets 0. Exact for constants; for a
/// linear field off by its gradient times the distance to the mean of the neighbours, about half a spacing at a surface.
///
/// Neighbours are found once for all columns.
pub fn interpolate_columns(cloud: &Cloud, mesh: &mut Mesh, columns: &[Column]) {
    let reach = fields::REACH * cloud.spacing;
    let bins = Bins::new(&sites(cloud, &[], reach), reach);
    let width: usize = columns.iter().map(|column| column.width).sum();
    if width == 0 {
        return;
    }
    // Row by row, all columns of a vertex side by side.
    let mut rows = vec![0.0; width * mesh.positions.len()];
    rows.par_chunks_mut(width).zip(&mesh.positions).with_min_len(1024).for_each(|(row, &position)| {
        let near = |site: &&super::bins::Site| site.position.distance_squared(position) < reach * reach;
        let mut weights = 0.0;
        let bins_near = bins.touching(position - Vec3::splat(reach), position + Vec3::splat(reach));
        for site in bins_near.flat_map(|bin| &bins.sites[bins.range(bin)]).filter(near) {
            let t = 1.0 - site.position.distance_squared(position) / (reach * reach);
            let weight = site.volume * t * t * t;
            weights += weight;
            let mut slots = row.iter_mut();
            for column in columns {
                let values = &column.values[column.width * site.particle as usize..][..column.width];
                for (value, slot) in values.iter().zip(slots.by_ref()) {
                    *slot += weight * value;
                }
            }
        }
        if weights > 0.0 {
            row.iter_mut().for_each(|slot| *slot /= weights);
        }
    });
    let mut first = 0;
    for column in columns {
        let part = |row: &[f32]| row[first..first + column.width].to_vec();
        let values = rows.par_chunks(width).flat_map_iter(part).collect();
        mesh.attributes.push(Attribute { name: column.name.to_owned(), width: column.width, values });
        first += column.width;
    }
}
