//! Smooths a skin where the fluid is dense enough, and gives it normals.
//!
//! Each pass moves a vertex to the mean of its neighbours, by a weight that is 0 on drops and threads of single
//! particles, so that they do not shrink, and 1 on flat water and sheets (after Löschner et al. 2023, who count
//! neighbours likewise). Vertices on a wall stay on it; those at the rim follow the free surface alone, which would
//! else be dragged along the wall. Drops and threads are polished instead. Kept honest by `balls_keep_their_volume`, `flat_water_is_flat`, `a_tank_is_flat_at_its_walls`.

use super::Wall;
use super::bins::Bins;
use super::cubes::Skin;
use super::fields::{Bell, REACH};
use crate::mesh::Mesh;
use glam::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// The triangles around each vertex.
struct Fans {
    starts: Vec<u32>,
    /// The vertex that follows in each triangle, and the one after it.
    next: Vec<u32>,
    last: Vec<u32>,
}

impl Fans {
    fn new(vertices: usize, triangles: &[[u32; 3]]) -> Self {
        let mut starts = vec![0u32; vertices + 1];
        for vertex in triangles.iter().flatten() {
            starts[*vertex as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            starts[vertex + 1] += starts[vertex];
        }
        let mut free = starts.clone();
        let (mut next, mut last) = (vec![0; 3 * triangles.len()], vec![0; 3 * triangles.len()]);
        for &[a, b, c] in triangles {
            for (vertex, second, third) in [(a, b, c), (b, c, a), (c, a, b)] {
                let slot = &mut free[vertex as usize];
                next[*slot as usize] = second;
                last[*slot as usize] = third;
                *slot += 1;
            }
        }
        Self { starts, next, last }
    }

    fn range(&self, vertex: usize) -> Range<usize> {
        self.starts[vertex] as usize..self.starts[vertex + 1] as usize
    }

    /// Neighbours; each comes once in a closed mesh.
    fn around(&self, vertex: usize) -> &[u32] {
        &self.next[self.range(vertex)]
    }

    fn triangles(&self, vertex: usize) -> impl Iterator<Item = [usize; 2]> + Clone + '_ {
        self.range(vertex).map(|corner| [self.next[corner] as usize, self.last[corner] as usize])
    }
}

/// A skin whose vertices may move.
pub struct LooseSkin<'a> {
    skin: Skin,
    fans: Fans,
    walls: &'a [Wall],
    /// On a wall, and at a triangle of the free surface.
    rim: Vec<bool>,
    /// 0 on drops and threads, 1 on surfaces.
    weights: Vec<f32>,
    /// Normals of drops and threads; zero elsewhere.
    polished: Vec<Vec3>,
}

/// The fluid below the skin: its bells, sorted into bins.
#[derive(Clone, Copy)]
pub struct Fluid<'a> {
    pub bins: &'a Bins,
    /// Of each bin.
    pub bells: &'a [Vec<Bell>],
    /// m.
    pub spacing: f32,
}

impl<'a> Fluid<'a> {
    /// Bells that may reach further than a radius (m) from a position.
    fn near(self, position: Vec3, radius: f32) -> impl Iterator<Item = &'a Bell> {
        self.bins.touching(position - radius, position + radius).flat_map(move |bin| &self.bells[bin])
    }
}

impl<'a> LooseSkin<'a> {
    pub fn new(skin: Skin, walls: &'a [Wall], fluid: Fluid) -> Self {
        let fans = Fans::new(skin.positions.len(), &skin.triangles);
        let weights = skin.positions.par_iter().map(|&position| crowded(position, fluid)).collect();
        let mut loose = Self { skin, fans, walls, rim: vec![], weights, polished: vec![] };
        let vertices = (0..loose.skin.positions.len()).into_par_iter();
        let is_rim = |vertex| {
            let mut triangles = loose.fans.triangles(vertex);
            loose.skin.walls[vertex] != 0 && triangles.any(|others| !loose.is_on_wall(vertex, others))
        };
        loose.rim = vertices.map(is_rim).collect();
        loose
    }

    /// A triangle of a wall has all its corners on that wall.
    fn is_on_wall(&self, vertex: usize, others: [usize; 2]) -> bool {
        let on = &self.skin.walls;
        on[vertex] & on[others[0]] & on[others[1]] != 0
    }

    /// Averaging S alone shrinks what is round. So what it took is averaged too, and given back:
    ///   S x + S (x − S x) = (1 − (1 − S)²) x.
    /// Bumps of a few cells, where S is near 0, are gone all the same; waves and drops, where it is near 1, stay.
    /// A ball of 4 spacings loses 4 % of its volume by 20 passes, instead of 30 %.
    pub fn smooth(&mut self, passes: u32) {
        if passes == 0 {
            return;
        }
        let rough = self.skin.positions.clone();
        let smooth = self.averaged(rough.clone(), passes);
        let lost = rough.par_iter().zip(&smooth).map(|(rough, smooth)| *rough - *smooth).collect();
        let given_back = self.averaged(lost, passes);
        let on = &self.skin.walls;
        let place = |vertex: usize| in_front(smooth[vertex] + given_back[vertex], on[vertex], self.walls);
        self.skin.positions = (0..smooth.len()).into_par_iter().map(place).collect();
    }

    fn averaged(&self, mut values: Vec<Vec3>, passes: u32) -> Vec<Vec3> {
        let mut previous = values.clone();
        for _ in 0..passes {
            std::mem::swap(&mut values, &mut previous);
            values.par_iter_mut().enumerate().with_min_len(4096).for_each(|(vertex, value)| {
                *value = previous[vertex];
                if self.weights[vertex] > 0.0 {
                    *value += self.shift(vertex, &previous) * self.weights[vertex];
                }
            });
        }
        values
    }

    /// From a vertex to the mean of its neighbours, along the walls it lies on.
    fn shift(&self, vertex: usize, values: &[Vec3]) -> Vec3 {
        let around = self.fans.around(vertex);
        let on = self.skin.walls[vertex];
        if !self.rim[vertex] {
            let sum: Vec3 = around.iter().map(|&other| values[other as usize]).sum();
            let shift = sum / around.len() as f32 - values[vertex];
            return if on == 0 { shift } else { along(shift, on, self.walls) };
        }
        let is_free = |other: &usize| self.skin.walls[*other] == 0 || self.rim[*other];
        let (sum, count) = around
            .iter()
            .map(|&other| other as usize)
            .filter(is_free)
            .fold((Vec3::ZERO, 0.0), |(sum, count), other| (sum + values[other], count + 1.0));
        along(sum / f32::max(count, 1.0) - values[vertex], on, self.walls)
    }

    /// Drops and threads are no larger than a few cells, and show it. Their vertices go on to the true iso surface
    /// by Newton's method, and take their normals from the field.
    pub fn polish(&mut self, iso: f32, fluid: Fluid) {
        let reach = REACH * fluid.spacing;
        // Newton may lead astray where the field is flat: about the size of a cell is enough.
        let farthest = 0.3 * fluid.spacing;
        let polish = |nearby: &mut Vec<Bell>, vertex: usize| {
            let start = self.skin.positions[vertex];
            let share = 1.0 - self.weights[vertex];
            if share <= 0.0 || self.skin.walls[vertex] != 0 {
                return (start, Vec3::ZERO);
            }
            nearby.clear();
            let touches = |bell: &&Bell| (bell.centre - start).abs().cmplt(bell.extent + farthest).all();
            nearby.extend(fluid.near(start, reach).filter(touches));
            let mut position = start;
            let mut gradient = Vec3::ZERO;
            for _ in 0..3 {
                let bells = nearby.iter().map(|bell| bell.at(position));
                let (value, slope) =
                    bells.fold((0.0, Vec3::ZERO), |sum, term| (sum.0 + term.0, sum.1 + term.1));
                let step = slope * ((iso - value) / slope.length_squared().max(1e-20));
                position += step.clamp_length_max(farthest / 3.0);
                gradient = slope;
            }
            (
                in_front(start + (position - start) * share, 0, self.walls),
                -gradient.normalize_or_zero() * share,
            )
        };
        let polished: Vec<_> =
            (0..self.skin.positions.len()).into_par_iter().map_init(Vec::new, polish).collect();
        (self.skin.positions, self.polished) = polished.into_iter().unzip();
    }

    /// Normals weighted by area; of the free surface alone at a rim, so that the surface is shaded truly up to the
    /// wall; and straight into the wall on a wall.
    pub fn finish(self) -> Mesh {
        let positions = &self.skin.positions;
        let normal = |vertex: usize| {
            let here = positions[vertex];
            let area = |[a, b]: [usize; 2]| (positions[a] - here).cross(positions[b] - here);
            let triangles = self.fans.triangles(vertex);
            let free: Vec3 =
                triangles.clone().filter(|&others| !self.is_on_wall(vertex, others)).map(area).sum();
            // Triangles without area, or none that is free.
            let normal = free.try_normalize().unwrap_or_else(|| match self.skin.walls[vertex] {
                0 => triangles.map(area).find_map(Vec3::try_normalize).unwrap_or(Vec3::Y),
                on => -self.walls[on.trailing_zeros() as usize].normal,
            });
            match self.polished.get(vertex) {
                Some(polished) => {
                    (normal * self.weights[vertex] + *polished).try_normalize().unwrap_or(normal)
                }
                None => normal,
            }
        };
        let normals = (0..positions.len()).into_par_iter().map(normal).collect();
        Mesh { normals, positions: self.skin.positions, triangles: self.skin.triangles, attributes: vec![] }
    }
}

/// Particles this far from a vertex tell how crowded it is there, spacings.
const NEARBY: f32 = 1.25;

/// 0 on drops and threads, 1 on surfaces. A thread has a crowd of 0.18, a sheet of 0.44.
fn crowded(position: Vec3, fluid: Fluid) -> f32 {
    let radius = NEARBY * fluid.spacing;
    let (mut sum, mut weights) = (0.0, 1e-6);
    for bell in fluid.near(position, radius) {
        let w = (1.0 - bell.centre.distance_squared(position) / (radius * radius)).max(0.0);
        sum += w * bell.crowd;
        weights += w;
    }
    let f = ((sum / weights - 0.15) / 0.25).clamp(0.0, 1.0);
    f * f * (3.0 - 2.0 * f)
}

/// What was given back may have been too much: out from behind all walls, along those that the vertex lies on.
fn in_front(mut position: Vec3, on: u32, walls: &[Wall]) -> Vec3 {
    for wall in walls {
        let distance = wall.distance(position);
        if distance < 0.0 {
            let way = if on == 0 { wall.normal } else { along(wall.normal, on, walls) };
            if way.length_squared() > 1e-3 {
                position -= way * (distance / way.length_squared());
            }
        }
    }
    position
}

/// The part of a shift that stays on some walls.
fn along(shift: Vec3, on: u32, walls: &[Wall]) -> Vec3 {
    let on = |index: &usize| on >> index & 1 == 1;
    let mut normals = (0..walls.len()).filter(on).map(|index| walls[index].normal);
    match (normals.next(), normals.next(), normals.next()) {
        (Some(normal), None, None) => shift.reject_from_normalized(normal),
        (Some(first), Some(second), None) => {
            let edge = first.cross(second).try_normalize();
            edge.map_or(Vec3::ZERO, |edge| shift.project_onto_normalized(edge))
        }
        _ => Vec3::ZERO,
    }
}
