//! From particles to a closed surface.
//!
//! Sites (particles, and their images behind walls) are sorted into bins; a field is evaluated on blocks of a lattice
//! where the surface passes; marching cubes make triangles of it; the triangles are smoothed where fluid is dense.
//! Everything is gathered in a fixed order, so that the same cloud gives the same bits on any number of threads, and
//! the lattice is anchored in the world, so that frames agree.
//!
//! The mesh is closed, manifold, and turned outwards, whatever the particles do (`any_cloud_is_closed_and_manifold`).
//! Iso values put the surface of still water half a spacing above its topmost particles (`still_water_stands_right`).
//!
//! Limits: a hollow smaller than a bin (2.5 spacings) inside dense fluid may be taken for full. Walls are whole planes:
//! what has spilled behind one is not drawn. Where a wall is not along an axis, the rim of the fluid on it is bevelled
//! by up to a cell.
//!
//! References: [LE] Lenaerts' thesis; [BA] Bayraktar's; Zhu & Bridson, Animating sand as a fluid, 2005; Solenthaler,
//! Schläfli & Pajarola, A unified particle model for fluid-solid interactions, 2007; Yu & Turk, Reconstructing
//! surfaces of particle-based fluids using anisotropic kernels, 2013; Löschner, Böttcher, Jeske & Bender, Weighted
//! Laplacian smoothing for surface reconstruction of particle-based fluids, 2023.

mod bins;
mod blocks;
mod cubes;
mod fields;
mod interpolate;
mod smooth;
#[cfg(test)]
mod tests;

#[cfg(test)]
use interpolate::interpolate;
pub use interpolate::{Column, interpolate_columns};

use crate::mesh::Mesh;
use bins::Bins;
use blocks::{Evaluator, Lattice};
use fields::Shaper;
use glam::Vec3;
use rayon::prelude::*;
use smooth::{Fluid, LooseSkin};

/// Particles to be wrapped.
#[derive(Clone, Copy, Debug)]
pub struct Cloud<'a> {
    /// m. Particles whose position is not finite are left out.
    pub positions: &'a [Vec3],
    /// Distance between particles at rest, m.
    pub spacing: f32,
    /// m³ for each particle; spacing³ when None.
    pub volumes: Option<&'a [f32]>,
}

/// What the surface is an iso surface of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Field {
    /// Bells stretched along the neighbourhood: keeps flat water flat, sheets thin, drops small.
    #[default]
    Anisotropic,
    /// The colour field, and a smoothed mesh.
    Smoothed,
    /// Σ V W [LE 2.8].
    Colour,
    /// Distance to the mean position of the neighbours, with Solenthaler's correction for hollows.
    ZhuBridson,
    /// Bells that shrink towards the surface [BA 5.10]. Drops of a few particles vanish.
    Bayraktar,
}

impl Field {
    pub const NAMES: [(&'static str, Field); 5] = [
        ("anisotropic", Field::Anisotropic),
        ("smoothed", Field::Smoothed),
        ("colour", Field::Colour),
        ("zhu-bridson", Field::ZhuBridson),
        ("bayraktar", Field::Bayraktar),
    ];

    /// The value at the surface of still water; for Zhu and Bridson's field, the radius of a particle in spacings.
    pub fn iso(self) -> f32 {
        match self {
            Field::Anisotropic => 0.53,
            Field::Smoothed | Field::Colour => 0.6,
            Field::ZhuBridson => 0.55,
            Field::Bayraktar => 1.5,
        }
    }

    /// Passes over the mesh, for cells of half a spacing.
    fn passes(self) -> f32 {
        match self {
            Field::Anisotropic => 22.0,
            Field::Smoothed => 25.0,
            Field::Colour | Field::ZhuBridson | Field::Bayraktar => 0.0,
        }
    }

    /// Passes over a mesh with cells of so many spacings. As smooth in metres would take the square of the ratio;
    /// fine lattices are asked for to see more, so they are smoothed less.
    pub fn smoothing(self, cell: f32) -> u32 {
        (self.passes() * 0.5 / cell).round() as u32
    }
}

/// A plane that the fluid leans on: fluid is where normal · x ≥ offset.
#[derive(Clone, Copy, Debug)]
pub struct Wall {
    /// Unit vector into the fluid.
    pub normal: Vec3,
    /// m.
    pub offset: f32,
}

impl Wall {
    /// How far inside a position is, m.
    fn distance(&self, position: Vec3) -> f32 {
        self.normal.dot(position) - self.offset
    }

    fn mirror(&self, position: Vec3) -> Vec3 {
        position - 2.0 * self.distance(position) * self.normal
    }

    /// The largest distance of a box's corners.
    fn highest(&self, low: Vec3, high: Vec3) -> f32 {
        self.distance(Vec3::select(self.normal.cmpgt(Vec3::ZERO), high, low))
    }

    /// The smallest.
    fn lowest(&self, low: Vec3, high: Vec3) -> f32 {
        self.distance(Vec3::select(self.normal.cmpgt(Vec3::ZERO), low, high))
    }
}

/// How to wrap them.
#[derive(Clone, Debug)]
pub struct Options {
    pub field: Field,
    /// Edge of a lattice cell, spacings. Where walls along an axis come in pairs, a little is added or taken so that
    /// a whole number of cells fits between them.
    pub cell: f32,
    /// [`Field::iso`] when None.
    pub iso: Option<f32>,
    /// Passes over the mesh; [`Field::smoothing`] when None.
    pub smoothing: Option<u32>,
    /// Up to 32.
    pub walls: Vec<Wall>,
    /// Whether air that the fluid alone encloses is shown, as bubbles.
    pub hollows: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { field: Field::default(), cell: 0.5, iso: None, smoothing: None, walls: vec![], hollows: true }
    }
}

/// Wraps the particles. Empty when there are none.
pub fn surface(cloud: &Cloud, options: &Options) -> Mesh {
    let &Cloud { spacing, positions, .. } = cloud;
    let &Options { field, ref walls, .. } = options;
    let lattice = Lattice::new(options.cell * spacing, walls);
    let reach = fields::SEARCH * spacing;
    let bins = Bins::new(&bins::sites(cloud, walls, reach + lattice.step.max_element()), reach);
    let shaper = Shaper::new(&bins, walls, field, spacing, positions.len());
    let iso = options.iso.unwrap_or(field.iso());
    let mut evaluator = Evaluator::new(&bins, &shaper, lattice, walls, field, iso, spacing);
    let mut blocks = evaluator.run();
    if !options.hollows {
        blocks.fill_hollows();
    }
    let fluid = Fluid { bins: &bins, bells: evaluator.bells(), spacing };
    let mut skin = LooseSkin::new(cubes::skin(&blocks, walls), walls, fluid);
    skin.smooth(options.smoothing.unwrap_or(field.smoothing(options.cell)));
    // Zhu and Bridson's field is no sum of bells.
    if field != Field::ZhuBridson {
        skin.polish(iso, fluid);
    }
    skin.finish()
}

/// The same mesh with sharp rims: triangles that lie on a wall get vertices of their own, with the wall's normal. For
/// shading; where two vertices now share a place, the mesh is no longer closed by its numbers.
pub fn split_at_walls(mesh: &Mesh, walls: &[Wall]) -> Mesh {
    let wall_of = |triangle: &[u32; 3]| {
        let corners = triangle.map(|vertex| mesh.positions[vertex as usize]);
        let tolerance = 1e-3 * corners[0].distance(corners[1]).max(corners[0].distance(corners[2]));
        let round_off = 1e-6 * corners[0].length();
        walls.iter().position(|wall| corners.iter().all(|&c| wall.distance(c).abs() <= tolerance + round_off))
    };
    let on: Vec<Option<usize>> = mesh.triangles.par_iter().map(wall_of).collect();
    let mut split = mesh.clone();
    for (index, wall) in walls.iter().enumerate() {
        // From an old vertex to its copy on this wall.
        let mut copies = vec![u32::MAX; mesh.positions.len()];
        let triangles = split.triangles.iter_mut().zip(&on).filter(|(_, on)| **on == Some(index));
        for (triangle, _) in triangles {
            *triangle = triangle.map(|vertex| {
                let copy = &mut copies[vertex as usize];
                if *copy == u32::MAX {
                    *copy = split.positions.len() as u32;
                    split.positions.push(mesh.positions[vertex as usize]);
                    split.normals.push(-wall.normal);
                    for (attribute, from) in split.attributes.iter_mut().zip(&mesh.attributes) {
                        let values = &from.values[vertex as usize * from.width..][..from.width];
                        attribute.values.extend_from_slice(values);
                    }
                }
                *copy
            });
        }
    }
    split.without_lone_vertices()
}
