//! No fluid passes a sheet.
//!
//! Pressure keeps fluid off cloth and shells, but a force is no promise: where a sheet is stretched or hit by a jet,
//! particles would slip between its nodes [Lenaerts2009, 4.4.1]. So each fluid particle near a sheet is followed through the
//! step against the triangles, which move too: with s₀ and s₁ its heights over a triangle's plane before and after, it
//! has passed where the signs differ and the point of crossing, at s₀/(s₀ − s₁) of the step, is in the triangle. It is put
//! back on its side, a small gap away, and an impulse between it and the three corners takes the speed of approach: momentum
//! is kept. The seed displaces particles of the fluid from particles of the shell, which leaves holes where those are
//! stretched apart; a triangle has none.
//!
//! A weave with pores lets some through: those particles, chosen by their number, for which it does not exist.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::Structure;
use super::nodes::GONE;
use crate::columns::{BODY, ID, MASS, NODE, PIN, POSITION, VELOCITY};
use crate::neighbourhood::Neighbourhood;
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::sources::uniform;

/// Fluid stays so far from a sheet, in spacings. At rest it is about a spacing away.
const GAP: f32 = 0.1;

/// A triangle is so much larger than its corners say, in its own width: no particle finds the seam of two.
const SEAM: f32 = 0.02;

/// Triangles that a particle may be put back from in one step: in a fold there are two.
const BENDS: usize = 4;

/// Particles that a thread looks at in one go.
const CHUNK: usize = 1024;

/// Memory of the barrier.
#[derive(Default)]
pub struct Barrier {
    /// Positions before the step.
    before: Vec<Vec4>,
    /// Triangles of each node: where its own start, and those.
    starts: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    /// How many triangles that was made of.
    count: usize,
    chunks: Vec<Vec<Hit>>,
    /// Times a particle was put back that had got through.
    pub caught: u64,
}

/// A particle against a triangle.
#[derive(Clone, Copy)]
struct Hit {
    particle: u32,
    corners: [u32; 3],
    weights: [f32; 3],
    /// Towards the particle's side.
    normal: Vec3,
    place: Vec3,
    passed: bool,
}

/// What the barrier needs to know of the world.
pub struct Setting<'a> {
    pub lists: &'a Neighbourhood,
    /// m.
    pub spacing: f32,
    pub seed: u64,
    /// Half the shortest length after which space repeats, m.
    pub period: f32,
}

impl Barrier {
    /// Notes where everybody is before positions take the velocities.
    pub fn remember(&mut self, particles: &Particles) {
        let position = particles.get(&POSITION);
        self.before.resize(position.len(), Vec4::ZERO);
        self.before.copy_from_slice(position);
    }

    /// Puts back whoever got through. Returns how far a particle was moved at most, m.
    pub fn hold(
        &mut self,
        now: &Resolved,
        at: &Setting,
        structure: &Structure,
        particles: &mut Particles,
    ) -> f32 {
        self.sort_triangles(structure);
        let count = particles.len();
        self.chunks.resize_with(count.div_ceil(CHUNK), Vec::new);
        let look = Look {
            at,
            barrier: (&self.starts, &self.triangles),
            before: &self.before,
            rows: structure.nodes.rows(),
            position: particles.get(&POSITION),
            number: particles.get(&NODE),
            id: particles.get(&ID),
            body: particles.get(&BODY),
            pores: now.field("pores"),
            weight: now.weight(),
        };
        self.chunks.par_iter_mut().enumerate().for_each(|(c, hits)| {
            hits.clear();
            (c * CHUNK..(c * CHUNK + CHUNK).min(count)).for_each(|i| look.follow(i, hits));
        });
        // One after the other: each impulse sees what those before it have done. They are few.
        let rows = structure.nodes.rows();
        let (mut position, mut velocity) = (particles.take(&POSITION), particles.take(&VELOCITY));
        let (mass, pins) = (particles.get(&MASS), particles.try_get(&PIN));
        let inverse_mass =
            |row: usize| if pins.is_some_and(|pins| pins[row] > 0) { 0.0 } else { 1.0 / mass[row] };
        let mut farthest = 0.0f32;
        for hit in self.chunks.iter().flatten() {
            let i = hit.particle as usize;
            farthest = farthest.max(position[i].truncate().distance(hit.place));
            position[i] = hit.place.extend(0.0);
            self.caught += u64::from(hit.passed);
            let corners = hit.corners.map(|node| rows[node as usize] as usize);
            let mut sheet = Vec3::ZERO;
            let mut gives_way = inverse_mass(i);
            for (&row, weight) in corners.iter().zip(hit.weights) {
                sheet += velocity[row].truncate() * weight;
                gives_way += weight * weight * inverse_mass(row);
            }
            let approach = (velocity[i].truncate() - sheet).dot(hit.normal);
            if approach >= 0.0 || gives_way <= 0.0 {
                continue;
            }
            let impulse = hit.normal.extend(0.0) * (-approach / gives_way);
            velocity[i] += impulse * inverse_mass(i);
            for (&row, weight) in corners.iter().zip(hit.weights) {
                velocity[row] -= impulse * (weight * inverse_mass(row));
            }
        }
        particles.put(&POSITION, position);
        particles.put(&VELOCITY, velocity);
        farthest
    }

    /// Files triangles under their corners; anew only where some have been torn away.
    fn sort_triangles(&mut self, structure: &Structure) {
        let all = || structure.sheets.iter().flat_map(|sheet| &sheet.triangles);
        let count = all().count();
        if count == self.count && self.starts.len() == structure.nodes.len() + 1 {
            return;
        }
        self.count = count;
        self.starts.clear();
        self.starts.resize(structure.nodes.len() + 1, 0);
        all().flatten().for_each(|&node| self.starts[node as usize + 1] += 1);
        for node in 0..structure.nodes.len() {
            self.starts[node + 1] += self.starts[node];
        }
        self.triangles.resize(3 * count, [0; 3]);
        for triangle in all() {
            for &node in triangle {
                let place = &mut self.starts[node as usize];
                self.triangles[*place as usize] = *triangle;
                *place += 1;
            }
        }
        // Each start has become the end.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// Memory, bytes.
    pub fn bytes(&self) -> usize {
        let hits: usize = self.chunks.iter().map(|hits| size_of::<Hit>() * hits.capacity()).sum();
        16 * self.before.capacity() + 4 * self.starts.capacity() + 12 * self.triangles.capacity() + hits
    }
}

struct Look<'a> {
    at: &'a Setting<'a>,
    barrier: (&'a [u32], &'a [[u32; 3]]),
    before: &'a [Vec4],
    rows: &'a [u32],
    position: &'a [Vec4],
    number: &'a [u32],
    id: &'a [u32],
    body: &'a [u32],
    pores: &'a crate::resolve::Field,
    weight: &'a crate::resolve::Field,
}

impl Look<'_> {
    /// Follows a particle of fluid past all triangles near it.
    fn follow(&self, i: usize, hits: &mut Vec<Hit>) {
        if self.number[i] > 0 {
            return;
        }
        let start = self.before[i].truncate();
        let mut end = self.position[i].truncate();
        // Whoever left the world on one side and came in on the other has passed nothing.
        if start.distance(end) > self.at.period {
            return;
        }
        let chance = || uniform(self.at.seed, self.id[i], 3) as f32;
        for _ in 0..BENDS {
            let mut first: Option<(f32, Hit)> = None;
            for &j in self.at.lists.particles(i).as_slice() {
                let j = j as usize;
                let node = self.number[j];
                // Triangles reach as far as their longest edge; a stretched one is filed under all three corners.
                if node == 0 || self.weight.at(j) <= 0.0 {
                    continue;
                }
                let own = self.barrier.0[node as usize - 1] as usize..self.barrier.0[node as usize] as usize;
                if own.is_empty() || self.pores.at(j) > chance() {
                    continue;
                }
                for corners in &self.barrier.1[own] {
                    if let Some((when, hit)) = self.meet(i, start, end, *corners)
                        && first.as_ref().is_none_or(|(earliest, _)| when < *earliest)
                    {
                        first = Some((when, hit));
                    }
                }
            }
            let Some((_, hit)) = first else { return };
            end = hit.place;
            hits.push(hit);
        }
    }

    /// When, as a part of the step, a particle meets a triangle; and where it is put.
    fn meet(&self, i: usize, start: Vec3, end: Vec3, corners: [u32; 3]) -> Option<(f32, Hit)> {
        let rows = corners.map(|node| self.rows[node as usize]);
        if rows.contains(&GONE) {
            return None;
        }
        let old = rows.map(|row| self.before[row as usize].truncate());
        let new = rows.map(|row| self.position[row as usize].truncate());
        let normal = |[a, b, c]: [Vec3; 3]| (b - a).cross(c - a).normalize_or_zero();
        let (n0, n1) = (normal(old), normal(new));
        let (s0, s1) = ((start - old[0]).dot(n0), (end - new[0]).dot(n1));
        let gap = GAP * self.at.spacing;
        let side = if s0 < 0.0 { -1.0 } else { 1.0 };
        let passed = s1 * side <= 0.0;
        // A hair within the gap is no contact: else what was put there would be put there again for ever.
        if s1 * side >= 0.999 * gap {
            return None;
        }
        let when = if passed && s0 != s1 { (s0 / (s0 - s1)).clamp(0.0, 1.0) } else { 1.0 };
        let at = [0, 1, 2].map(|k| old[k].lerp(new[k], when));
        let weights = barycentric(at, start.lerp(end, when))?;
        if weights.iter().any(|&w| w < -SEAM) {
            return None;
        }
        debug_assert_eq!(self.body[rows[0] as usize], self.body[rows[1] as usize]);
        let place = end + n1 * (side * gap - s1);
        Some((when, Hit { particle: i as u32, corners, weights, normal: n1 * side, place, passed }))
    }
}

/// Weights of the corners that make the point of a triangle's plane nearest to a point.
fn barycentric([a, b, c]: [Vec3; 3], p: Vec3) -> Option<[f32; 3]> {
    let (u, v, w) = (b - a, c - a, p - a);
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let (wu, wv) = (w.dot(u), w.dot(v));
    let area = uu * vv - uv * uv;
    if area <= 0.0 {
        return None;
    }
    let second = (vv * wu - uv * wv) / area;
    let third = (uu * wv - uv * wu) / area;
    Some([1.0 - second - third, second, third])
}
