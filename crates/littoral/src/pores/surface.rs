//! Where pores meet the fluid around them: particles shrink, vanish, grow and are born.
//!
//! A fluid particle touches a porous one at the surface if it is within 1.5 spacings. What pores ask for is shared among those that
//! touch, the nearer ones giving more, and none more than half of itself at a time. Mass and volume go down together, and the support
//! stays: to the pressure it is a particle that fills less and less of its place, which neighbours close slowly, without a shock. Below a tenth of a
//! whole particle, what is left joins the film of the nearest porous one. So does one that has come among the porous ones: small, and
//! held from all sides, it would have to stand any pressure, and be thrown out (by 250 kPa, at 11 m/s, where water was poured on a sponge).
//!
//! What pores push out joins the film; the film makes fluid particles whole that touch it, as far as there is room around them, and where the films of a porous particle
//! and its neighbours have gathered a whole one, that is born beside the surface, if there is room for it. Everything that changes hands
//! brings its velocity along.
//!
//! Films run down: one of thickness h, on a surface that falls by s = sin θ, moves with the mean velocity u = ρ g s h²/3μ of a layer that
//! flows by its weight [Nusselt1916]. It goes to the porous particle within reach to which the way is steepest, of the same body or of one
//! that touches it; under water it stays. So what is pressed out between two layers of cloth comes to light, and what runs gathers at the lowest place and drips.

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use super::flow::{Cell, Change, Ways};
use super::{BLOWS, apart};
use crate::columns::*;
use crate::discretisation::Discretisation;
use crate::resolve::Resolved;
use crate::sources::{Newborn, is_inside};
use crate::structure::nodes::GONE;
use crate::world::{BodyState, World};

/// Fluid within this of a porous particle touches it, in spacings.
const REACH: f32 = 1.5;

/// Sum of weights from which the surface is covered: water that lies on a face has 0.5.
const COVERED: f64 = 0.3;

/// Part of itself that a fluid particle gives away at a time, at most.
const MOST: f64 = 0.5;

/// Part of a whole particle below which it vanishes.
const LEAST: f64 = 0.1;

/// Part of a film that runs on at a time, at most.
const MOST_OF_FILM: f64 = 0.5;

/// Films stay where no way falls by more than this sine.
const LEVEL_GROUND: f64 = 0.05;

/// Sum of 1 − r/reach over porous particles from which a fluid particle is among them. On a flat face it is 0.6, sunk into it 1.7.
const AMONG: f32 = 1.7;

/// A fluid particle is born no closer to another than this, in spacings; and only where it would be compressed no more than that.
const ROOM: f32 = 0.8;
const FULL: f32 = 1.02;

/// By so much of a whole particle one grows at a time where all of its surroundings are empty: its own part of δ is a third.
const GROWTH: f32 = 1.5;

/// What changed hands was of one density, within this part of it.
const SAME_DENSITY: f32 = 0.01;

/// Room to work in.
#[derive(Default)]
pub struct Surface {
    /// Fluid that touches each cell: row and weight.
    touches: Vec<Vec<(u32, f32)>>,
    /// What is asked of each particle, kg; then the part of it that it gives.
    asked: Vec<f64>,
    /// Rows that something is asked of.
    givers: Vec<u32>,
    /// For each porous body, the bodies of its liquid.
    liquids: Vec<Vec<bool>>,
    /// And what their liquid is like: density, kg/m³, and viscosity, Pa·s.
    kinds: Vec<(f64, f64)>,
    /// Fluid particles that have vanished.
    gone: Vec<u32>,
    /// Cell at the surface that each particle is, or `GONE`.
    cell_of: Vec<u32>,
}

impl Surface {
    /// Finds who touches whom, and the pressure before the pores.
    pub fn touch(&mut self, cells: &mut [Cell], world: &World, now: &Resolved, dt: f64) {
        let part = 1.0 - libm::exp(-dt / BLOWS);
        let is_liquid = |of: u32| {
            let wanted = now.of_body(of, "liquid_density", world.clock.time).unwrap_or(0.0);
            let same = |density: f32| (density - wanted).abs() <= SAME_DENSITY * wanted;
            world.bodies.iter().map(|body| body.is_fluid && same(body.rest_density)).collect()
        };
        let number = |of: u32, name: &str| f64::from(now.of_body(of, name, world.clock.time).unwrap_or(0.0));
        let kind = |of: u32| (number(of, "liquid_density"), number(of, "liquid_viscosity"));
        self.kinds = now.bodies().map(kind).collect();
        self.liquids = now.bodies().map(is_liquid).collect();
        self.touches.resize_with(cells.len(), Vec::new);
        let particles = &world.particles;
        let (position, volume) = (particles.get(&POSITION), particles.get(&VOLUME));
        let (body, pressure) = (particles.get(&BODY), particles.get(&PRESSURE));
        let reach = REACH * world.discretisation.spacing;
        let (whole, support) = (world.discretisation.cell_volume(), world.discretisation.support);
        let liquids = &self.liquids;
        let rows = cells.par_iter_mut().zip(&mut self.touches).with_min_len(256);
        rows.for_each(|(cell, touches)| {
            touches.clear();
            if cell.row == GONE || cell.opening == 0.0 {
                return;
            }
            let (liquid, at) = (&liquids[cell.body as usize], position[cell.row as usize]);
            // Pressures flicker from particle to particle: a mean over all that is near.
            let (mut total, mut pushed, mut pushing) = (0.0, 0.0, 0.0);
            for &other in world.neighbourhood.particles(cell.row as usize).as_slice() {
                let j = other as usize;
                if !liquid[body[j] as usize] {
                    continue;
                }
                let way = world.periods.nearest((position[j] - at).with_w(0.0));
                let (length, filled) = (way.length(), volume[j] / whole);
                let weight = (1.0 - length / reach) * filled;
                if weight > 0.0 {
                    touches.push((other, weight));
                    total += f64::from(weight);
                }
                let weight = f64::from((1.0 - length / support).max(0.0) * filled);
                let head = cell.weight.dot(way.truncate().as_dvec3());
                // One that has shrunk stands for a whole one with less pressure: to bear the same, it has more.
                pushed += weight * (f64::from(pressure[j] * filled) - head);
                pushing += weight;
            }
            cell.coverage = if cell.film > 0.0 { 1.0 } else { (total / COVERED).min(1.0) };
            // And over the last moments: pressures answer what pores take and give, from step to step.
            let felt = if total > 0.0 { pushed / pushing } else { 0.0 };
            cell.felt += part * (felt - cell.felt);
            if cell.is_buried && total > 0.0 {
                // Fluid among grains bears what they bear.
                cell.outside = cell.stiffness * (cell.fill() - 1.0).max(0.0);
            } else if cell.is_buried {
                (cell.opening, cell.coverage) = (0.0, 0.0);
            } else if total > 0.0 {
                cell.outside = cell.felt;
            }
        });
    }

    /// Pores take what they ask for from the film, then from the fluid that touches them; or give to the film.
    pub fn exchange(&mut self, cells: &mut [Cell], changes: &[Change], world: &mut World) {
        let particles = &mut world.particles;
        self.asked.clear();
        self.asked.resize(particles.len(), 0.0);
        self.givers.clear();
        let of_fluid = |cell: &Cell, change: &Change| (change.asked - cell.film).max(0.0);
        for ((cell, change), touches) in cells.iter().zip(changes).zip(&self.touches) {
            let wanted = of_fluid(cell, change);
            if wanted > 0.0 && !touches.is_empty() {
                let total: f64 = touches.iter().map(|touch| f64::from(touch.1)).sum();
                for &(row, weight) in touches {
                    if self.asked[row as usize] == 0.0 {
                        self.givers.push(row);
                    }
                    self.asked[row as usize] += wanted * f64::from(weight) / total;
                }
            }
        }
        let asked = &mut self.asked;
        let mut mass = particles.take(&MASS);
        let volume = particles.get_mut(&VOLUME);
        for &row in &self.givers {
            let (i, asked) = (row as usize, &mut asked[row as usize]);
            let before = f64::from(mass[i]);
            let after = (before - asked.min(MOST * before)) as f32;
            // What it has lost is what rounding has left: that is given, no more and no less.
            *asked = (before - f64::from(after)) / *asked;
            volume[i] *= after / mass[i];
            mass[i] = after;
        }
        particles.put(&MASS, mass);
        let velocity = particles.get(&VELOCITY);
        for ((cell, change), touches) in cells.iter_mut().zip(changes).zip(&self.touches) {
            if change.asked < 0.0 {
                cell.liquid += change.asked;
                cell.film -= change.asked;
                continue;
            }
            let (of_film, of_fluid) = (change.asked.min(cell.film), of_fluid(cell, change));
            cell.film -= of_film;
            cell.liquid += of_film;
            if of_fluid > 0.0 && !touches.is_empty() {
                let total: f64 = touches.iter().map(|touch| f64::from(touch.1)).sum();
                for &(row, weight) in touches {
                    let got = of_fluid * f64::from(weight) / total * asked[row as usize];
                    cell.take_in(got, velocity[row as usize].truncate().as_dvec3());
                    cell.liquid += got;
                }
            }
        }
    }

    /// What is too small joins a film; films make fluid whole again, or let go of a new particle.
    pub fn let_go(&mut self, cells: &mut [Cell], ways: &Ways, normals: &[DVec3], world: &mut World, dt: f64) {
        self.gone.clear();
        self.swallow(cells, world);
        self.make_whole(cells, world);
        self.run_down(cells, world, dt);
        self.give_birth(cells, ways, normals, world);
    }

    fn swallow(&mut self, cells: &mut [Cell], world: &mut World) {
        let particles = &mut world.particles;
        let (mass, body) = (particles.get(&MASS), particles.get(&BODY));
        let whole = wholes(&world.discretisation, &world.bodies);
        let mut nearest: Vec<(u32, f32, usize)> = Vec::new();
        for (k, touches) in self.touches.iter().enumerate() {
            nearest.extend(touches.iter().map(|&(row, weight)| (row, weight, k)));
        }
        // The nearest one has it.
        nearest.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        let velocity = particles.get(&VELOCITY);
        for touches in nearest.chunk_by(|a, b| a.0 == b.0) {
            let (row, _, k) = touches[0];
            let part = f64::from(mass[row as usize]) / whole[body[row as usize] as usize];
            let is_among = || touches.iter().map(|touch| touch.1).sum::<f32>() > AMONG * part as f32;
            if part >= LEAST && !is_among() {
                continue;
            }
            let left = f64::from(mass[row as usize]);
            cells[k].take_in(left, velocity[row as usize].truncate().as_dvec3());
            cells[k].film += left;
            self.gone.push(row);
        }
    }

    fn make_whole(&mut self, cells: &mut [Cell], world: &mut World) {
        let particles = &mut world.particles;
        let (mut mass, mut volume) = (particles.take(&MASS), particles.take(&VOLUME));
        let mut velocity = particles.take(&VELOCITY);
        let (body, density) = (particles.get(&BODY), particles.get(&DENSITY));
        let whole = wholes(&world.discretisation, &world.bodies);
        for (cell, touches) in cells.iter_mut().zip(&self.touches) {
            for &(row, _) in touches {
                let i = row as usize;
                let lacks = whole[body[i] as usize] - f64::from(mass[i]);
                if cell.film <= 0.0 || lacks <= 0.0 || self.gone.contains(&row) {
                    continue;
                }
                let room = (1.0 - density[i] / world.bodies[body[i] as usize].rest_density).max(0.0);
                let most = f64::from(GROWTH * room) * whole[body[i] as usize];
                let before = f64::from(mass[i]);
                let after = (before + lacks.min(cell.film).min(most)) as f32;
                let given = f64::from(after) - before;
                if given <= 0.0 || given > cell.film {
                    continue;
                }
                let own = velocity[i].truncate().as_dvec3();
                let mixed = (own * before + cell.velocity * given) / f64::from(after);
                velocity[i] = mixed.as_vec3().extend(0.0);
                volume[i] *= after / mass[i];
                mass[i] = after;
                cell.film -= given;
                cell.mass -= given;
            }
        }
        particles.put(&MASS, mass);
        particles.put(&VOLUME, volume);
        particles.put(&VELOCITY, velocity);
    }

    fn run_down(&mut self, cells: &mut [Cell], world: &World, dt: f64) {
        if cells.iter().all(|cell| cell.film <= 0.0) {
            return;
        }
        self.cell_of.clear();
        self.cell_of.resize(world.particles.len(), GONE);
        for (k, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.row != GONE && cell.opening > 0.0) {
            self.cell_of[cell.row as usize] = k as u32;
        }
        let (cell_of, kinds, position) = (&self.cell_of, &self.kinds, world.particles.get(&POSITION));
        let (spacing, whole) =
            (f64::from(world.discretisation.spacing), f64::from(world.discretisation.cell_volume()));
        let all = &*cells;
        let run = |(cell, touches): (&Cell, &Vec<(u32, f32)>)| {
            // Under water there is nothing to run down in.
            let is_covered = || touches.iter().map(|touch| f64::from(touch.1)).sum::<f64>() > COVERED;
            if cell.row == GONE || cell.film <= 0.0 || is_covered() {
                return None;
            }
            let (density, viscosity) = kinds[cell.body as usize];
            let down = cell.weight.try_normalize()?;
            let at = position[cell.row as usize];
            let near = world.neighbourhood.particles(cell.row as usize);
            let ways = near.as_slice().iter().filter_map(|&other| {
                let to = cell_of[other as usize];
                let way = world.periods.nearest((position[other as usize] - at).with_w(0.0));
                let length = f64::from(way.length());
                let is_near = to != GONE && length > 0.0 && length < f64::from(REACH) * spacing;
                // Onto what holds the same liquid.
                let is_alike = || kinds[all[to as usize].body as usize].0 == density;
                (is_near && is_alike()).then(|| (to, length, way.truncate().as_dvec3().dot(down) / length))
            });
            let steepest = ways.max_by(|a, b| a.2.total_cmp(&b.2).then(b.0.cmp(&a.0)))?;
            let (to, length, slope) = steepest;
            let thickness = spacing * cell.film / (density * whole);
            let speed = cell.weight.length() * slope * thickness * thickness / (3.0 * viscosity);
            (slope > LEVEL_GROUND).then(|| (to as usize, cell.film * (speed * dt / length).min(MOST_OF_FILM)))
        };
        let runs: Vec<Option<(usize, f64)>> =
            all.par_iter().zip(&self.touches).with_min_len(512).map(run).collect();
        for (k, run) in runs.into_iter().enumerate() {
            if let Some((to, moved)) = run {
                cells[k].film -= moved;
                cells[k].mass -= moved;
                let velocity = cells[k].velocity;
                cells[to].take_in(moved, velocity);
                cells[to].film += moved;
            }
        }
    }

    fn give_birth(&mut self, cells: &mut [Cell], ways: &Ways, normals: &[DVec3], world: &mut World) {
        let mut born: Vec<Vec4> = Vec::new();
        let wholes = wholes(&world.discretisation, &world.bodies);
        for k in 0..cells.len() {
            let cell = cells[k];
            if cell.row == GONE || cell.film <= 0.0 {
                continue;
            }
            let Some(liquid) = self.liquids[cell.body as usize].iter().position(|is| *is) else { continue };
            let whole = wholes[liquid];
            let near = ways.of(k).map(|way| ways.all[way].partner as usize);
            let gathered = cell.film + near.clone().map(|l| cells[l].film).sum::<f64>();
            let most = near.clone().map(|l| cells[l].film).fold(0.0, f64::max);
            // A little more than a whole one: rounding must not leave less than nothing.
            if gathered < whole * (1.0 + 1e-6) || cell.film < 0.5 * most {
                continue;
            }
            let weight = world.weight_of(world.particles.get(&BODY)[cell.row as usize], world.clock.time);
            let Some(place) = self.place(&cell, normals[k], weight, &born, world) else { continue };
            let one = Newborn {
                position: place.truncate().as_dvec3(),
                volume: f64::from(world.discretisation.cell_volume()),
            };
            let start = world.particles.len();
            world.add(liquid as u32, &[one], glam::Vec3::ZERO, 0.0);
            world.particles.get_mut(&PRESSURE)[start] = 0.0;
            let mass = f64::from(world.particles.get(&MASS)[start]);
            // From its own film first, and from all others in like parts.
            let own = cell.film.min(mass);
            let part = (mass - own) / (gathered - cell.film).max(f64::MIN_POSITIVE);
            let mut momentum = cell.velocity * own;
            cells[k].film -= own;
            cells[k].mass -= own;
            let mut left = mass - own;
            for l in near {
                let given = (cells[l].film * part).min(left);
                momentum += cells[l].velocity * given;
                cells[l].film -= given;
                cells[l].mass -= given;
                left -= given;
            }
            // What rounding has left over.
            cells[k].film -= left;
            cells[k].mass -= left;
            let velocity = (momentum / mass).as_vec3().extend(0.0);
            world.particles.get_mut(&VELOCITY)[start] = velocity;
            world.particles.get_mut(&ACCELERATION)[start] = weight;
            born.push(place);
        }
        if !born.is_empty() {
            world.neighbourhood.slack = -1.0;
        }
    }

    /// A place beside the surface with room for a fluid particle.
    fn place(&self, cell: &Cell, normal: DVec3, weight: Vec4, born: &[Vec4], world: &World) -> Option<Vec4> {
        let spacing = world.discretisation.spacing;
        let particles = &world.particles;
        let position = particles.get(&POSITION);
        let at = position[cell.row as usize].with_w(0.0);
        let down = weight.truncate().as_dvec3().normalize_or_zero();
        let flat = world.discretisation.dimensions.count() == 2;
        let near = world.neighbourhood.particles(cell.row as usize);
        let (volume, whole) = (particles.get(&VOLUME), world.discretisation.cell_volume());
        let has_room = |place: Vec4| {
            let kernel = &world.discretisation.density;
            let part = |&other: &u32| {
                volume[other as usize] * kernel.w_at(apart(world, place, position[other as usize]))
            };
            let all = near.as_slice().iter().filter(|other| !self.gone.contains(other));
            if whole * kernel.w_at(0.0) + all.map(part).sum::<f32>() > FULL {
                return false;
            }
            let is_far = |other: Vec4| apart(world, place, other) >= ROOM * spacing;
            let others =
                near.as_slice().iter().filter(|other| **other != cell.row && !self.gone.contains(other));
            let p = place.truncate().as_dvec3();
            let clear = 0.5 * f64::from(spacing);
            others.into_iter().all(|&other| is_far(position[other as usize]))
                && born.iter().all(|other| is_far(*other))
                && DVec3::AXES.into_iter().all(|axis| {
                    [clear, -clear].into_iter().all(|by| is_inside(&world.domain, p + axis * by * 0.8))
                })
                && world.solids.iter().all(|solid| solid.distance(p) >= clear)
        };
        // Out of the body, leaning down; to both sides of a layer; and straight down.
        let ways = [normal + down * 0.5, normal, -normal + down * 0.5, normal + down * 2.0, down];
        let ways = ways.into_iter().map(|way| if flat { way.with_z(0.0) } else { way });
        ways.filter_map(DVec3::try_normalize)
            .map(|way| at + (way.as_vec3() * spacing).extend(0.0))
            .find(|&place| has_room(place))
    }

    /// Removes those that have vanished.
    pub fn bury(&mut self, world: &mut World) {
        if self.gone.is_empty() {
            return;
        }
        let mut keep = vec![true; world.particles.len()];
        self.gone.iter().for_each(|&row| keep[row as usize] = false);
        world.particles.retain(&keep);
        world.neighbourhood.slack = -1.0;
        self.gone.clear();
    }
}

/// Mass of a whole particle of each body, kg.
fn wholes(d: &Discretisation, bodies: &[BodyState]) -> Vec<f64> {
    bodies.iter().map(|body| f64::from(d.cell_volume()) * f64::from(body.rest_density)).collect()
}

impl Cell {
    /// A grain that has been buried takes in its film, as far as there is room; films inside would have nowhere to run.
    pub fn soak_up(&mut self) {
        if self.is_buried {
            let taken = self.film.min((self.capacity - self.liquid).max(0.0));
            self.film -= taken;
            self.liquid += taken;
        }
    }

    /// Mass that comes with a velocity.
    fn take_in(&mut self, mass: f64, velocity: DVec3) {
        let whole = self.mass + mass;
        self.velocity = (self.velocity * self.mass + velocity * mass) / whole;
        self.mass = whole;
    }
}
