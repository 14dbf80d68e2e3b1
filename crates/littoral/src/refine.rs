//! Finer particles where they are wanted: halving and uniting.
//!
//! A body's particles are born with its spacing, at level 0. A particle of level L has been halved L times: it has 2^−L
//! of the volume and a spacing and a support 2^(−L/d) times as long. Where `[[refine]]` asks for finer particles than
//! there are, one becomes two, each with half of its mass and volume and with its velocity, on both sides of where it
//! was. Where coarser ones will do, two neighbours of one level become one at their centre of mass, with their momentum.
//! Both keep mass, momentum and centre of mass to round-off; uniting loses the energy of the motion against each other.
//!
//! What is wanted is a spacing: `finest` inside a region or within a distance of a free surface, growing by a part of
//! the way from there. A particle is halved if its halves would not be finer than that, by a little; two are united if
//! the one would still be so, by most of a level: nothing is halved and united to and fro.
//!
//! Nobody is put closer to a neighbour than neighbours in a flow come, and no two particles that see each other change
//! at once. Particles are looked at in their order, so that nothing depends on the number of threads.
//!
//! The distance to a surface spreads from neighbour to neighbour, D_i = min_j (D_j + |x_ij|), from particles that have
//! too little around them, and nobody within a cone away from what they have.
//!
//! Kept honest by the tests below and by `littoral validate two-sizes`.

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use crate::columns::*;
use crate::neighbourhood::Neighbourhood;
use crate::scene::{Dimensions, Near, Refine, Scene};
use crate::world::World;

/// Steps from one look at all particles to the next.
const EVERY: u64 = 5;

/// Times that distances spread from neighbour to neighbour at each look.
const SWEEPS: usize = 3;

/// Above this density, over that at rest, a particle is not at a surface. (At the surface of still water it is 0.6 to
/// 0.8; among particles in disorder it is hardly ever below 0.9, but now and then it is.)
const FILLED: f32 = 0.9;

/// A particle at a surface sees nobody within 45° of the way out [Marrone2010].
const CONE: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// Farther from any surface than anyone will ask, m.
pub const FAR: f32 = 1e6;

/// By how much the spacing may grow with the distance from where it is finest: a few layers for each level.
const GROWTH: f64 = 0.15;

/// How much of a level, at least, a particle must be too coarse to be halved, and too fine to be united.
const TOO_COARSE: f64 = 0.9;
const TOO_FINE: f64 = 1.8;

/// Closest that a particle may be put to another, over the mean of their spacings.
const CLOSEST: f32 = 0.65;

/// Two that unite are at most so far apart, in spacings.
const FARTHEST: f32 = 1.4;

/// At most one of so many particles changes at each look.
const SHARE: usize = 20;

/// What `[[refine]]` asks for, for each body.
pub struct Refinement {
    bodies: Vec<Sizes>,
    rules: Vec<Refine>,
    dimensions: Dimensions,
    wishes: Vec<Wish>,
    busy: Vec<bool>,
    distances: Vec<f32>,
    surface: Vec<bool>,
    /// Particles halved, and pairs united, since the world was made.
    pub halved: u64,
    pub united: u64,
}

/// The sizes that particles of a body may have.
struct Sizes {
    /// Levels from 0 to this.
    levels: u32,
    /// Of each level, m; likewise the following.
    spacing: Vec<f32>,
    support: Vec<f32>,
    /// Halved where the spacing wanted is at most this.
    halve: Vec<f64>,
    /// United where it is at least this.
    unite: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Stay,
    Halve,
    Unite,
}

/// How often particles of a spacing can be halved without becoming finer than `finest`.
pub fn levels(spacing: f64, finest: f64, dimensions: Dimensions) -> u32 {
    // Rounding must not cost a level where `finest` is a half or a quarter.
    (dimensions.count() as f64 * libm::log2(spacing / finest) + 1e-6).floor().max(0.0) as u32
}

/// The spacing of a level.
pub fn spacing_of(spacing: f64, level: f64, dimensions: Dimensions) -> f64 {
    spacing * libm::exp2(-level / dimensions.count() as f64)
}

impl Sizes {
    fn new(spacing: f64, levels: u32, support: f64, dimensions: Dimensions) -> Sizes {
        let at = |shift: f64| {
            (0..=levels).map(move |level| spacing_of(spacing, f64::from(level) + shift, dimensions))
        };
        Sizes {
            levels,
            spacing: at(0.0).map(|spacing| spacing as f32).collect(),
            support: at(0.0).map(|spacing| (spacing * support) as f32).collect(),
            halve: at(TOO_COARSE).collect(),
            unite: at(-TOO_FINE).collect(),
        }
    }
}

impl Refinement {
    /// `None` where all particles keep their sizes.
    pub fn new(scene: &Scene) -> Option<Refinement> {
        if scene.refinements.is_empty() {
            return None;
        }
        let rules = scene.refinements.clone();
        let sizes = |(body, spacing): (usize, f64)| {
            let own = rules.iter().filter(|rule| rule.is_for(body)).map(|rule| rule.finest);
            let levels = levels(spacing, own.fold(spacing, f64::min), scene.dimensions);
            Sizes::new(spacing, levels, scene.sph.support, scene.dimensions)
        };
        Some(Refinement {
            bodies: scene.bodies.iter().map(|body| body.spacing).enumerate().map(sizes).collect(),
            rules,
            dimensions: scene.dimensions,
            wishes: Vec::new(),
            busy: Vec::new(),
            distances: Vec::new(),
            surface: Vec::new(),
            halved: 0,
            united: 0,
        })
    }

    /// The spacing that is wanted at a place, m.
    fn wanted(&self, body: u32, at: Vec4, surface_distance: f32) -> f64 {
        let rules = self.rules.iter().filter(|rule| rule.is_for(body as usize));
        let wanted = rules.map(|rule| {
            let away = match &rule.near {
                Near::Surface { distance } => f64::from(surface_distance) - distance,
                Near::Region(shape) => shape.distance(at.truncate().as_dvec3()),
            };
            rule.finest + GROWTH * away.max(0.0)
        });
        wanted.fold(f64::INFINITY, f64::min)
    }

    fn wish(&self, body: u32, level: u32, at: Vec4, surface_distance: f32) -> Wish {
        let (sizes, level) = (&self.bodies[body as usize], level as usize);
        if sizes.levels == 0 {
            return Wish::Stay;
        }
        let wanted = self.wanted(body, at, surface_distance);
        if level < sizes.levels as usize && wanted <= sizes.halve[level] {
            Wish::Halve
        } else if level > 0 && wanted >= sizes.unite[level] {
            Wish::Unite
        } else {
            Wish::Stay
        }
    }
}

impl World {
    /// Halves and unites particles, at every fifth step.
    pub(crate) fn refine(&mut self, dt: f32) {
        if self.refinement.is_none() || !self.clock.steps.is_multiple_of(EVERY) {
            return;
        }
        self.find_neighbours(dt);
        let Some(mut refinement) = self.refinement.take() else { return };
        refinement.spread_distances(self);
        refinement.find_wishes(self);
        let changes = refinement.choose(self);
        if !changes.is_empty() {
            refinement.apply(&changes, self);
        }
        self.refinement = Some(refinement);
    }
}

/// What is to be done.
enum Change {
    /// A particle, and the way from it to one of its halves.
    Halve(usize, Vec4),
    Unite(usize, usize),
}

impl Refinement {
    /// Distances from surfaces, from those of the last look.
    fn spread_distances(&mut self, world: &mut World) {
        if !self.rules.iter().any(|rule| matches!(rule.near, Near::Surface { .. })) {
            return;
        }
        let mut surface = std::mem::take(&mut self.surface);
        let all = (0..world.particles.len()).into_par_iter().with_min_len(1024);
        all.map(|i| is_at_surface(i, world)).collect_into_vec(&mut surface);
        let new = &mut self.distances;
        let (lists, periods) = (&world.neighbourhood, &world.periods);
        for _ in 0..SWEEPS {
            world.particles.update(&SURFACE_DISTANCE, |old, particles| {
                let position = particles.get(&POSITION);
                new.resize(old.len(), 0.0);
                new.par_iter_mut().with_min_len(1024).enumerate().for_each(|(i, new)| {
                    if surface[i] {
                        *new = 0.0;
                        return;
                    }
                    let others = lists.particles(i).as_slice().iter().map(|&j| j as usize);
                    let through =
                        |j: usize| old[j] + periods.nearest(position[i] - position[j]).truncate().length();
                    *new = others.filter(|&j| j != i).map(through).fold(FAR, f32::min);
                });
                old.copy_from_slice(new);
            });
        }
        self.surface = surface;
    }

    fn find_wishes(&mut self, world: &World) {
        let particles = &world.particles;
        let (body, level) = (particles.get(&BODY), particles.get(&LEVEL));
        let (position, distance) = (particles.get(&POSITION), particles.get(&SURFACE_DISTANCE));
        let mut wishes = std::mem::take(&mut self.wishes);
        let all = (0..particles.len()).into_par_iter().with_min_len(1024);
        all.map(|i| self.wish(body[i], level[i], position[i], distance[i])).collect_into_vec(&mut wishes);
        self.wishes = wishes;
    }

    /// Changes that do not get in each other's way.
    fn choose(&mut self, world: &World) -> Vec<Change> {
        let particles = &world.particles;
        let (body, level) = (particles.get(&BODY), particles.get(&LEVEL));
        let position = particles.get(&POSITION);
        let lists = &world.neighbourhood;
        let mut busy = std::mem::take(&mut self.busy);
        busy.clear();
        busy.resize(particles.len(), false);
        let mut changes = Vec::new();
        let most = particles.len() / SHARE + SHARE;
        for i in 0..particles.len() {
            if changes.len() == most {
                break;
            }
            if busy[i] {
                continue;
            }
            let sizes = &self.bodies[body[i] as usize];
            let change = match self.wishes[i] {
                Wish::Stay => None,
                Wish::Halve => {
                    let spacing = sizes.spacing[level[i] as usize + 1];
                    self.way_apart(i, spacing, world).map(|way| Change::Halve(i, way))
                }
                Wish::Unite => {
                    let own = sizes.spacing[level[i] as usize];
                    let like = |&j: &usize| {
                        let same = (body[j], level[j], self.wishes[j]) == (body[i], level[i], Wish::Unite);
                        same && !busy[j] && j != i
                    };
                    let distance = |j: usize| (position[j] - position[i]).length();
                    let others = lists.particles(i).as_slice().iter().map(|&j| j as usize).filter(like);
                    let nearest = others.map(|j| (distance(j), j)).min_by(|a, b| a.0.total_cmp(&b.0));
                    nearest.filter(|(distance, _)| *distance < FARTHEST * own).and_then(|(_, j)| {
                        let middle = 0.5 * (position[i] + position[j]);
                        let spacing = sizes.spacing[level[i] as usize - 1];
                        (self.room(middle, spacing, i, j, world) >= CLOSEST).then_some(Change::Unite(i, j))
                    })
                }
            };
            let Some(change) = change else { continue };
            mark(&mut busy, lists, i);
            if let Change::Unite(_, j) = change {
                mark(&mut busy, lists, j);
            }
            changes.push(change);
        }
        self.busy = busy;
        changes
    }

    /// From a particle to one of its halves, along the direction with most room; `None` where there is not enough.
    fn way_apart(&self, i: usize, spacing: f32, world: &World) -> Option<Vec4> {
        let at = world.particles.get(&POSITION)[i];
        let ways = directions(self.dimensions).map(|direction| {
            let way = direction * (0.5 * spacing);
            let room = |place: Vec4| self.room(place, spacing, i, i, world);
            (room(at + way).min(room(at - way)), way)
        });
        let (room, way) = ways.fold((0.0, Vec4::ZERO), |best, one| if one.0 > best.0 { one } else { best });
        (room >= CLOSEST).then_some(way)
    }

    /// Distance of a place from the nearest particle or wall sample that i sees, over the mean of their spacings; j, too,
    /// is not counted.
    fn room(&self, place: Vec4, spacing: f32, i: usize, j: usize, world: &World) -> f32 {
        let particles = &world.particles;
        let (position, body, level) = (particles.get(&POSITION), particles.get(&BODY), particles.get(&LEVEL));
        let (lists, periods) = (&world.neighbourhood, &world.periods);
        let others = lists.particles(i).as_slice().iter().map(|&k| k as usize).filter(|&k| k != i && k != j);
        let apart = |other: Vec4| periods.nearest((place - other).with_w(0.0)).length();
        let from_particles = others.map(|k| {
            let own = self.bodies[body[k] as usize].spacing[level[k] as usize];
            apart(position[k]) / (0.5 * (spacing + own))
        });
        let finest = world.discretisation.spacing;
        let samples = lists.walls(i).as_slice().iter().map(|&sample| world.walls.place[sample as usize]);
        let from_walls = samples.map(|sample| apart(sample) / (0.5 * (spacing + finest)));
        from_particles.chain(from_walls).fold(f32::INFINITY, f32::min)
    }

    fn apply(&mut self, changes: &[Change], world: &mut World) {
        let particles = &mut world.particles;
        let mut gone = Vec::new();
        for change in changes {
            let i = match *change {
                Change::Halve(i, way) => {
                    particles.halve(i);
                    let new = particles.len() - 1;
                    let position = particles.get_mut(&POSITION);
                    let middle = position[i];
                    position[i] = middle + way;
                    // By as much as the other one has moved, in spite of rounding.
                    position[new] = middle - (position[i] - middle);
                    particles.get_mut(&ID)[new] = world.next_id;
                    world.next_id += 1;
                    particles.get_mut(&LEVEL)[i] += 1;
                    self.fit(particles, new, i);
                    self.halved += 1;
                    i
                }
                Change::Unite(i, j) => {
                    particles.unite(i, j);
                    particles.get_mut(&LEVEL)[i] -= 1;
                    gone.push(j);
                    self.united += 1;
                    i
                }
            };
            self.fit(particles, i, i);
        }
        if !gone.is_empty() {
            let mut keep = vec![true; particles.len()];
            gone.iter().for_each(|&j| keep[j] = false);
            particles.retain(&keep);
        }
        world.neighbourhood.slack = -1.0;
    }

    /// Gives particle `to` the level of `from`, and the support that goes with it.
    fn fit(&self, particles: &mut crate::particles::Particles, to: usize, from: usize) {
        let (level, body) = (particles.get(&LEVEL)[from], particles.get(&BODY)[from]);
        particles.get_mut(&LEVEL)[to] = level;
        particles.get_mut(&SUPPORT)[to] = self.bodies[body as usize].support[level as usize];
    }
}

fn is_at_surface(i: usize, world: &World) -> bool {
    let particles = &world.particles;
    let (position, support) = (particles.get(&POSITION), particles.get(&SUPPORT)[i]);
    let volume = particles.get(&VOLUME);
    if particles.get(&DENSITY)[i] * volume[i] > FILLED * particles.get(&MASS)[i] {
        return false;
    }
    let (lists, periods) = (&world.neighbourhood, &world.periods);
    let others = lists.particles(i).as_slice().iter().map(|&j| j as usize).filter(|&j| j != i);
    let others = others.map(|j| (position[j], volume[j]));
    let samples = lists.walls(i).as_slice().iter().map(|&sample| world.walls.place[sample as usize]);
    let all = || {
        let seen = others.clone().chain(samples.clone().map(|sample| (sample, sample.w)));
        let ways = seen.map(|(at, volume)| (periods.nearest((at - position[i]).with_w(0.0)), volume));
        ways.filter(|(way, _)| way.length_squared() < support * support)
    };
    // Away from where matter is.
    let out =
        -all().fold(Vec4::ZERO, |sum, (way, volume)| sum + way * (volume * (1.0 - way.length() / support)));
    let cone = CONE * out.length();
    all().all(|(way, _)| way.dot(out) <= cone * way.length())
}

/// Nobody that sees particle i may change with it.
fn mark(busy: &mut [bool], lists: &Neighbourhood, i: usize) {
    lists.particles(i).as_slice().iter().for_each(|&j| busy[j as usize] = true);
}

/// Axes and diagonals, one of each two that are opposite.
fn directions(dimensions: Dimensions) -> impl Iterator<Item = Vec4> {
    let depth = if dimensions == Dimensions::Three { 1 } else { 0 };
    let all = (-depth..=depth).flat_map(|z| (-1..=1).flat_map(move |y| (-1..=1).map(move |x| [x, y, z])));
    let half = all.filter(|[x, y, z]| (*z, *y, *x) > (0, 0, 0));
    half.map(|v| DVec3::from(v.map(f64::from)).normalize().as_vec3().extend(0.0))
}
