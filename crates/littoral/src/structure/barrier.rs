//! No fluid passes a sheet.
//!
//! Pressure keeps fluid off cloth and shells, but a force is no promise: where a sheet is stretched, hit by a jet, or wet
//! by a single layer of particles, they would slip between its nodes [Lenaerts2009, 4.4.1]. So each fluid particle near a
//! sheet is looked at before and after positions take the velocities. The nearest point of the sheet tells on which side of
//! it the particle is; who has changed sides, and crossed a triangle on the way, has passed. It is put back on its
//! side, a small gap away, as is whoever has come closer than that; and an impulse between it and the corners of the
//! triangle takes the speed of approach: momentum is kept. The seed displaces particles of the fluid from particles of the
//! shell, which leaves holes where those are stretched apart; a triangle has none.
//!
//! Where the nearest point is on an edge or at a corner, several triangles have it; the one that the particle stands
//! highest over tells the side, as a mean of their normals would [Baerentzen2005]. At the rim there are no sides: whoever goes
//! around it has passed nothing. A rolled sheet shows its front to its own back, so that sides change without a crossing:
//! that is why both are asked for.
//!
//! A weave with pores lets some through: those particles, chosen by their number, for which it does not exist.

use std::collections::HashSet;

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

/// A triangle is so much larger than its corners say, in its own width, when it is asked whether somebody crossed it:
/// triangles turn while they move, and no particle must find the seam of two.
const SEAM: f32 = 0.2;

/// Times that a particle may be put back in one step: in a fold there are two triangles.
const BENDS: usize = 3;

/// Nodes of a sheet whose triangles are looked at, the nearest to a particle.
const NEAREST: usize = 5;

/// Sheets that a particle may be near to at once.
const SHEETS: usize = 4;

/// Particles that a thread looks at in one go.
const CHUNK: usize = 1024;

/// Memory of the barrier.
#[derive(Default)]
pub struct Barrier {
    /// Positions before the step.
    before: Vec<Vec4>,
    /// Triangles of each node: where its own start, and those.
    starts: Vec<u32>,
    triangles: Vec<Triangle>,
    /// Whether each node is on a rim.
    rim: Vec<bool>,
    /// How many triangles that was made of.
    count: usize,
    chunks: Vec<Vec<Hit>>,
    /// Times a particle was put back that had got through.
    pub caught: u64,
}

/// A triangle of a sheet.
#[derive(Clone, Copy, Default)]
struct Triangle {
    corners: [u32; 3],
    /// Whether the edge from each corner to the next is the rim.
    rim: [bool; 3],
}

/// The point of a sheet that is nearest to a place.
#[derive(Clone, Copy)]
struct Nearest {
    distance: f32,
    /// Over the triangle's plane, m.
    height: f32,
    triangle: Triangle,
    weights: [f32; 3],
    /// Of the triangle.
    normal: Vec3,
    point: Vec3,
    at_rim: bool,
}

impl Nearest {
    fn side(&self) -> f32 {
        if self.height < 0.0 { -1.0 } else { 1.0 }
    }
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
            barrier: (&self.starts, &self.triangles, &self.rim),
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
        // Of an edge inside, the other side's triangle names it the other way round.
        let edges = |corners: &[u32; 3]| [0, 1, 2].map(|k| [corners[k], corners[(k + 1) % 3]]);
        let known: HashSet<[u32; 2]> = all().flat_map(edges).collect();
        self.rim.clear();
        self.rim.resize(structure.nodes.len(), false);
        self.triangles.resize(3 * count, Triangle::default());
        for corners in all() {
            let rim = edges(corners).map(|[a, b]| !known.contains(&[b, a]));
            for k in (0..3).filter(|&k| rim[k]) {
                self.rim[corners[k] as usize] = true;
                self.rim[corners[(k + 1) % 3] as usize] = true;
            }
            for &node in corners {
                let place = &mut self.starts[node as usize];
                self.triangles[*place as usize] = Triangle { corners: *corners, rim };
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
        16 * self.before.capacity()
            + 4 * self.starts.capacity()
            + size_of::<Triangle>() * self.triangles.capacity()
            + self.rim.capacity()
            + hits
    }
}

struct Look<'a> {
    at: &'a Setting<'a>,
    barrier: (&'a [u32], &'a [Triangle], &'a [bool]),
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
    /// Follows a particle of fluid past the sheets near it.
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
        let mut near = [Near::NONE; SHEETS];
        for &j in self.at.lists.particles(i).as_slice() {
            let j = j as usize;
            let node = self.number[j];
            if node > 0 && self.barrier.0[node as usize - 1] < self.barrier.0[node as usize] {
                let distance2 = self.position[j].truncate().distance_squared(end);
                let sheet = near.iter_mut().find(|one| one.body == self.body[j] || one.count == 0);
                if let Some(sheet) = sheet {
                    sheet.add(self.body[j], distance2, j as u32);
                }
            }
        }
        if near[0].count == 0 {
            return;
        }
        let chance = uniform(self.at.seed, self.id[i], 3) as f32;
        for _ in 0..BENDS {
            let mut is_free = true;
            for sheet in near.iter().filter(|sheet| sheet.count > 0) {
                let row = sheet.rows[0] as usize;
                if self.weight.at(row) > 0.0
                    && self.pores.at(row) <= chance
                    && let Some(hit) = self.meet(i, start, end, sheet)
                {
                    end = hit.place;
                    hits.push(hit);
                    is_free = false;
                }
            }
            if is_free {
                return;
            }
        }
    }

    /// Where a particle is put that has passed a sheet, or come too close to it.
    fn meet(&self, i: usize, start: Vec3, end: Vec3, near: &Near) -> Option<Hit> {
        let gap = GAP * self.at.spacing;
        let after = self.nearest(end, near, self.position)?;
        let moved = |row: &u32| self.position[*row as usize].distance(self.before[*row as usize]);
        let sheet = near.rows[..near.count].iter().map(moved).fold(0.0, f32::max);
        // Nodes that are near move much alike; twice as far as they do, nothing can have happened.
        if after.distance > gap + start.distance(end) + 2.0 * sheet || after.at_rim {
            return None;
        }
        let before = self.nearest(start, near, self.before)?;
        if before.at_rim {
            return None;
        }
        let side = before.side();
        let passed = after.side() != side && self.crosses(start, end, near);
        let side = if passed { side } else { after.side() };
        // A hair within the gap is no contact: else what was put there would be put there again for ever.
        if !passed && after.distance >= 0.999 * gap {
            return None;
        }
        let away = (end - after.point) * if passed { -1.0 } else { 1.0 };
        let normal = away.try_normalize().filter(|n| n.dot(after.normal) * side > 0.5);
        let normal = normal.unwrap_or(after.normal * side);
        Some(Hit {
            particle: i as u32,
            corners: after.triangle.corners,
            weights: after.weights,
            normal,
            place: after.point + normal * gap,
            passed,
        })
    }

    /// Triangles at the nodes of a sheet that are near.
    fn triangles<'a>(&'a self, near: &'a Near) -> impl Iterator<Item = &'a Triangle> + 'a {
        near.rows[..near.count].iter().flat_map(|&row| {
            let node = self.number[row as usize] as usize - 1;
            &self.barrier.1[self.barrier.0[node] as usize..self.barrier.0[node + 1] as usize]
        })
    }

    /// Places of a triangle's corners; `None` where one is gone.
    fn places(&self, triangle: &Triangle, position: &[Vec4]) -> Option<[Vec3; 3]> {
        let rows = triangle.corners.map(|node| self.rows[node as usize]);
        (!rows.contains(&GONE)).then(|| rows.map(|row| position[row as usize].truncate()))
    }

    fn nearest(&self, p: Vec3, near: &Near, position: &[Vec4]) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        for triangle in self.triangles(near) {
            let Some([a, b, c]) = self.places(triangle, position) else { continue };
            let weights = nearest_weights([a, b, c], p);
            let point = a * weights[0] + b * weights[1] + c * weights[2];
            let distance = point.distance(p);
            let normal = (b - a).cross(c - a).normalize_or_zero();
            let height = (p - a).dot(normal);
            let tie = 1e-4 * self.at.spacing;
            let is_better = best.as_ref().is_none_or(|best| {
                distance < best.distance - tie
                    || (distance < best.distance + tie && height.abs() > best.height.abs())
            });
            if is_better {
                let at_rim = (0..3).any(|k| {
                    let (next, other) = ((k + 1) % 3, (k + 2) % 3);
                    let on_edge = weights[other] <= 0.0;
                    let at_corner = weights[next] <= 0.0 && on_edge;
                    on_edge && triangle.rim[k] || at_corner && self.barrier.2[triangle.corners[k] as usize]
                });
                best =
                    Some(Nearest { distance, height, triangle: *triangle, weights, normal, point, at_rim });
            }
        }
        best
    }

    /// Whether the way of a particle crosses a triangle near it, both moving.
    fn crosses(&self, start: Vec3, end: Vec3, near: &Near) -> bool {
        self.triangles(near).any(|triangle| {
            let (Some(old), Some(new)) =
                (self.places(triangle, self.before), self.places(triangle, self.position))
            else {
                return false;
            };
            let height = |[a, b, c]: [Vec3; 3], p: Vec3| (p - a).dot((b - a).cross(c - a));
            let (s0, s1) = (height(old, start), height(new, end));
            if s0 * s1 > 0.0 || s0 == s1 {
                return false;
            }
            let when = s0 / (s0 - s1);
            let at = [0, 1, 2].map(|k| old[k].lerp(new[k], when));
            let weights = barycentric(at, start.lerp(end, when));
            weights.is_some_and(|weights| weights.iter().all(|&w| w >= -SEAM))
        })
    }
}

/// The nodes of a sheet that are nearest to a particle.
#[derive(Clone, Copy)]
struct Near {
    body: u32,
    count: usize,
    distances2: [f32; NEAREST],
    rows: [u32; NEAREST],
}

impl Near {
    const NONE: Near =
        Near { body: u32::MAX, count: 0, distances2: [f32::INFINITY; NEAREST], rows: [0; NEAREST] };

    /// Puts a node in its place, and drops the farthest.
    fn add(&mut self, body: u32, distance2: f32, row: u32) {
        self.body = body;
        let Some(place) = self.distances2.iter().position(|&other| distance2 < other) else { return };
        self.distances2.copy_within(place..NEAREST - 1, place + 1);
        self.rows.copy_within(place..NEAREST - 1, place + 1);
        (self.distances2[place], self.rows[place]) = (distance2, row);
        self.count = (self.count + 1).min(NEAREST);
    }
}

/// Weights of the corners that make the point of a triangle nearest to a point: inside, on an edge, or a corner.
fn nearest_weights([a, b, c]: [Vec3; 3], p: Vec3) -> [f32; 3] {
    if let Some(weights) = barycentric([a, b, c], p)
        && weights.iter().all(|&w| w >= 0.0)
    {
        return weights;
    }
    // Outside, the nearest point is on the edge that is nearest.
    let corners = [a, b, c];
    let mut best = (f32::INFINITY, [1.0, 0.0, 0.0]);
    for k in 0..3 {
        let (from, to) = (corners[k], corners[(k + 1) % 3]);
        let edge = to - from;
        let t = ((p - from).dot(edge) / edge.length_squared().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        let distance2 = (from + edge * t).distance_squared(p);
        if distance2 < best.0 {
            let mut weights = [0.0; 3];
            (weights[k], weights[(k + 1) % 3]) = (1.0 - t, t);
            best = (distance2, weights);
        }
    }
    best.1
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
