//! The same for a granular material: its particles change places, and their ways are found anew at every step of the pores.
//!
//! Between neighbours within 1.8 spacings, of any body that holds the same liquid, there is a way with
//!
//!   G_ij = ½ w_ij (t_i + t_j),   t_i = 4 d V_i/(s_i + s),   s_i = Σ_j w_ij r_ij²,   w = (1 − r²/R²)²,
//!
//! with s that of a lattice. Inside, that makes the trace of ½ Σ_j G_ij X_ij ⊗ X_ij that of V_i κ (`network.rs`): grains have no axes, and one
//! number does for all directions. At a face, s_i is some two thirds of s, and grains conduct along it as well as those inside. Walls close pores: they count as neighbours where the surface is looked for.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::flow::{Ways, for_each_slice};
use super::network::{Member, Way};
use crate::columns::*;
use crate::discretisation::Discretisation;
use crate::resolve::Resolved;
use crate::structure::nodes::GONE;
use crate::world::World;

/// R, in spacings.
const REACH: f32 = 1.8;

/// Grains are at the surface where their neighbours, walls among them, lie to one side by so much: Σ w X over Σ w |X|. At a flat
/// face it is 0.26.
const LEAN: f32 = 0.15;

/// The porous grains of a world, as they stand.
#[derive(Default)]
pub struct Grains {
    /// Rows of the particles, ascending.
    pub rows: Vec<u32>,
    /// Place in `rows` of each particle of the world, or `GONE`.
    place_of: Vec<u32>,
    pub around: Vec<Around>,
}

/// What is around a grain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around {
    pub member: Member,
    /// Out of the material, at its surface.
    pub out: Vec3,
    /// No surface is near: fluid may get here all the same.
    pub is_buried: bool,
    /// t, m (1 in 2-D) over the unit of w r².
    scale: f32,
    ways: u32,
}

impl Grains {
    /// Looks for the grains of those bodies, and for their surface.
    pub fn find(&mut self, world: &World, now: &Resolved, bodies: &[u32]) {
        let particles = &world.particles;
        let (body, position, volume) =
            (particles.get(&BODY), particles.get(&POSITION), particles.get(&PORE_VOLUME));
        self.rows.clear();
        self.rows.extend((0..body.len() as u32).filter(|&row| bodies.contains(&body[row as usize])));
        self.place_of.clear();
        self.place_of.resize(body.len(), GONE);
        for (k, &row) in self.rows.iter().enumerate() {
            self.place_of[row as usize] = k as u32;
        }
        let liquid = now.field("liquid_density");
        let d = &world.discretisation;
        let (reach, is_flat) = (REACH * d.spacing, d.dimensions.count() == 2);
        let dimensions = d.dimensions.count() as f32;
        let (rows, place_of, complete) = (&self.rows, &self.place_of, complete(d));
        self.around.resize(rows.len(), Around::default());
        self.around.par_iter_mut().with_min_len(512).zip(rows).for_each(|(around, &row)| {
            let i = row as usize;
            let way_to = |other: Vec4| world.periods.nearest((other - position[i]).with_w(0.0)).truncate();
            let (mut spread, mut ways) = (0.0, 0);
            let (mut lean, mut length) = (Vec3::ZERO, 0.0);
            for &other in world.neighbourhood.particles(i).as_slice() {
                let way = way_to(position[other as usize]);
                let weight = weight(way, reach);
                if weight > 0.0 && other != row && place_of[other as usize] != GONE {
                    if liquid.at(other as usize) == liquid.at(i) {
                        (spread, ways) = (spread + weight * way.length_squared(), ways + 1);
                    }
                    (lean, length) = (lean + way * weight, length + weight * way.length());
                }
            }
            for &sample in world.neighbourhood.walls(i).as_slice() {
                let way = way_to(world.walls.place[sample as usize]);
                let weight = weight(way, reach);
                (lean, length) = (lean + way * weight, length + weight * way.length());
            }
            let is_buried = lean.length() < LEAN * length;
            let side = if is_flat { volume[i].sqrt() } else { libm::cbrtf(volume[i]) };
            // A face of a cell of this volume, from its middle; in 2-D, for each metre of depth.
            let member = Member {
                volume: volume[i],
                opening: if is_flat { 2.0 } else { 2.0 * side },
                depth: 0.5 * side,
                area: if is_flat { side } else { side * side },
            };
            let out = if is_buried { Vec3::ZERO } else { -lean.normalize_or_zero() };
            let scale = 4.0 * dimensions * volume[i] / (spread + complete);
            *around = Around { member, out, is_buried, scale, ways };
        });
    }

    /// Adds the ways to those of the cells before them.
    pub fn link(&self, world: &World, now: &Resolved, ways: &mut Ways) {
        let liquid = now.field("liquid_density");
        let (first, before) = (ways.starts.len() as u32 - 1, ways.all.len());
        let mut end = before as u32;
        ways.starts.extend(self.around.iter().map(|around| {
            end += around.ways;
            end
        }));
        ways.all.resize(end as usize, Way::default());
        let position = world.particles.get(&POSITION);
        let reach = REACH * world.discretisation.spacing;
        let starts = &ways.starts[first as usize..];
        for_each_slice(starts, &mut ways.all[before..], |k, out| {
            let (i, own) = (self.rows[k] as usize, &self.around[k]);
            let near = world.neighbourhood.particles(i).as_slice().iter().filter_map(|&other| {
                let place = self.place_of[other as usize];
                let way = world.periods.nearest((position[other as usize] - position[i]).with_w(0.0));
                let weight = weight(way.truncate(), reach);
                let is_near = place != GONE && weight > 0.0 && other != self.rows[k];
                (is_near && liquid.at(other as usize) == liquid.at(i)).then(|| {
                    let conductance = 0.5 * weight * (own.scale + self.around[place as usize].scale);
                    Way { partner: first + place, conductance }
                })
            });
            out.iter_mut().zip(near).for_each(|(out, way)| *out = way);
        });
    }
}

/// w.
fn weight(way: Vec3, reach: f32) -> f32 {
    let left = 1.0 - way.length_squared() / (reach * reach);
    if left > 0.0 { left * left } else { 0.0 }
}

/// s, m².
fn complete(d: &Discretisation) -> f32 {
    let steps = REACH.ceil() as i32;
    let depth = if d.dimensions.count() == 2 { 0 } else { steps };
    let mut sum = 0.0;
    for x in -steps..=steps {
        for y in -steps..=steps {
            for z in -depth..=depth {
                let way = Vec3::new(x as f32, y as f32, z as f32) * d.spacing;
                sum += weight(way, REACH * d.spacing) * way.length_squared();
            }
        }
    }
    sum
}
