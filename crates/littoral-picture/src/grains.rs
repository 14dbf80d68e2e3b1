//! Sand as millions of grains: spheres placed around the particles of a coarse simulation.
//!
//! [`grains`]: each particle has a fixed set of grains, drawn from its id, so that frames do not flicker [LE 5.3.2].
//! Grains lie anywhere in a ball wider than a cell of the particles' lattice, which hides the lattice; where
//! particles drift apart the ball widens, which hides that they are clumps.
//!
//! [`Advected`]: grains that move with the flow between frames [LE 5.3.1], along v(x) = Σ W vⱼ / Σ W, the velocity
//! of the particles around, normalised so that grains at the edge do not lag. The flow of an SPH simulation is not
//! quite free of divergence, so grains would bunch over time: each is drawn back to its fixed place in proportion to
//! the way it travels, which leaves sand at rest at rest. A grain without particles around starts again at its own.
//!
//! Wet sand [LE 6.7]: grains are darkened [LE 6.13] by the renderer, which knows the wetness, and, as the sand turns to mud, sink and shrink to nothing one by one, while a
//! surface that lay hidden beneath dry grains rises to take their place ([`Fade`]). No transparency is needed, only
//! spheres and triangles.
//!
//! Grains deep inside the sand are not made: never those less than three spacings below the surface, so that what
//! comes and goes is out of sight.
//!
//! Limits: grains overlap, and do not turn with their particle.
//! Kept honest by `grains_belong_to_ids`, `only_deep_grains_are_hidden`, `advected_grains_follow_a_rotation`.

use std::ops::{AddAssign, Mul};

use glam::{IVec3, Vec3, Vec4};
use rayon::prelude::*;

use crate::chance::Chance;
use crate::mesh::Mesh;
use crate::nearby::{Nearby, floor};

/// What sand looks like.
#[derive(Clone, Debug)]
pub struct Sand {
    /// Spacing of the particles, m.
    pub spacing: f32,
    /// Grains of one particle.
    pub per_particle: usize,
    /// How far a grain may lie from its particle, in spacings.
    pub reach: f32,
    /// How much wider the grains of a lonely particle lie, 1 or more.
    pub scatter: f32,
    /// Median radius of a grain, m.
    pub radius: f32,
    /// Standard deviation of the logarithm of the radius.
    pub radius_spread: f32,
    /// Colours of dry grains (linear RGB) and the share of each.
    pub colours: Vec<(Vec3, f32)>,
    /// Standard deviation of a grain's brightness, as a part of it.
    pub shade_spread: f32,
    pub fade: Fade,
    /// Leave out grains that cannot be seen.
    pub hide_deep: bool,
    pub seed: u64,
}

impl Sand {
    /// Sand of a beach, in grains that fill the volume of their particle like a loose packing.
    pub fn new(spacing: f32, per_particle: usize) -> Sand {
        // n · 4/3 π r³ = 0.6 spacing³
        let radius = spacing * (0.6 * 0.75 / std::f32::consts::PI / per_particle.max(1) as f32).cbrt();
        Sand {
            spacing,
            per_particle,
            reach: 0.75,
            scatter: 1.6,
            radius,
            radius_spread: 0.25,
            colours: vec![
                (Vec3::new(0.58, 0.42, 0.25), 0.62), // iron-stained quartz
                (Vec3::new(0.72, 0.62, 0.46), 0.25), // clear quartz
                (Vec3::new(0.42, 0.24, 0.12), 0.09), // feldspar
                (Vec3::new(0.10, 0.08, 0.07), 0.04), // dark minerals
            ],
            shade_spread: 0.12,
            fade: Fade::default(),
            hide_deep: true,
            seed: 0,
        }
    }
}

/// From grains to a surface as sand gets wet.
#[derive(Clone, Copy, Debug)]
pub struct Fade {
    /// Wetness up to which all is grains.
    pub from: f32,
    /// Wetness from which all is surface.
    pub to: f32,
}

impl Default for Fade {
    fn default() -> Fade {
        Fade { from: 0.55, to: 0.95 }
    }
}

impl Fade {
    /// How much of its radius a grain keeps. `luck` (0 to 1) is the grain's own: it drowns early or late.
    pub fn grain(&self, wetness: f32, luck: f32) -> f32 {
        let half = 0.5 * (self.to - self.from);
        let start = self.from + luck * half;
        1.0 - smooth_step(start, start + half, wetness)
    }

    /// How far the surface has risen to its full height, 0 to 1.
    pub fn surface(&self, wetness: f32) -> f32 {
        smooth_step(self.from, self.to, wetness)
    }

    /// Lowers a surface below dry grains: by `depth` (m, about one spacing) where the vertices' `wetness` is low, by
    /// nothing where it is high. A surface without that attribute is dry. Sand thinner than twice the depth turns
    /// inside out: make no surface for it, or a smaller depth.
    pub fn sink(&self, surface: &mut Mesh, depth: f32) {
        let wetness =
            surface.attribute("wetness").map(|attribute| attribute.values.clone()).unwrap_or_default();
        surface.positions.par_iter_mut().zip(&surface.normals).enumerate().for_each(
            |(k, (position, normal))| {
                let wetness = wetness.get(k).copied().unwrap_or(0.0);
                *position -= depth * (1.0 - self.surface(wetness)) * normal;
            },
        );
    }
}

fn smooth_step(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from).max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The particles of a body of sand in one frame, in any order.
#[derive(Clone, Copy)]
pub struct Particles<'a> {
    /// m.
    pub positions: &'a [Vec3],
    /// One for each particle, all different, the same in every frame.
    pub ids: &'a [u32],
    /// Saturation, 0 (dry) to 1; empty: all dry.
    pub wetness: &'a [f32],
}

impl Particles<'_> {
    fn check(&self) {
        assert_eq!(self.positions.len(), self.ids.len(), "one id for each particle");
        let counts = [0, self.positions.len()];
        assert!(counts.contains(&self.wetness.len()), "wetness for each particle, or for none");
    }

    fn wetness(&self, k: usize) -> f32 {
        self.wetness.get(k).copied().unwrap_or(0.0)
    }
}

/// Spheres to draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grains {
    /// m.
    pub centres: Vec<Vec3>,
    /// m, above 0.
    pub radii: Vec<f32>,
    /// Linear RGB, as when dry: the renderer darkens what is wet [LE 6.13].
    pub colours: Vec<Vec3>,
    /// 0 to 1, for a shinier material where wet.
    pub wetness: Vec<f32>,
}

/// What is the same for a grain in all frames.
struct Character {
    luck: f32,
    /// In the unit ball.
    offset: Vec3,
    radius: f32,
    colour: Vec3,
}

/// The first draw of a grain's stream: cheap where only this is asked.
fn luck(sand: &Sand, id: u32, number: usize) -> (f32, Chance) {
    let mut chance = Chance::of([sand.seed, (id as u64) << 32 | number as u64]);
    (chance.unit(), chance)
}

fn character(sand: &Sand, id: u32, number: usize) -> Character {
    let (luck, mut chance) = luck(sand, id, number);
    let offset = chance.in_ball();
    let radius = sand.radius * (sand.radius_spread * chance.bell()).exp();
    let mut share = chance.unit() * sand.colours.iter().map(|colour| colour.1).sum::<f32>();
    let kind = sand.colours.iter().find(|colour| {
        share -= colour.1;
        share < 0.0
    });
    let colour = kind.or(sand.colours.last()).map_or(Vec3::splat(0.5), |colour| colour.0);
    let shade = 1.0 + sand.shade_spread * chance.bell();
    Character { luck, offset, radius, colour: (shade * colour).clamp(Vec3::ZERO, Vec3::ONE) }
}

/// Grains of one chunk of particles: places to write them to.
struct Slots<'a> {
    centres: &'a mut [Vec3],
    radii: &'a mut [f32],
    colours: &'a mut [Vec3],
    wetness: &'a mut [f32],
}

/// Particles that one thread takes at a time.
const CHUNK: usize = 512;

impl Grains {
    /// Grains in the order of their particles. For grain `number` of particle k, `shown` says whether it can be
    /// seen, `wetness` how wet it is, and `place`, given its own offset in the unit ball, where it lies and where it
    /// sinks to as it drowns.
    fn build(
        sand: &Sand,
        ids: &[u32],
        shown: impl Fn(usize, usize) -> bool + Sync,
        wetness: impl Fn(usize, usize) -> f32 + Sync,
        place: impl Fn(usize, usize, Vec3) -> [Vec3; 2] + Sync,
    ) -> Grains {
        let is_drawn = |k: usize, number: usize| {
            if !shown(k, number) {
                return false;
            }
            let wetness = wetness(k, number);
            wetness <= sand.fade.from || sand.fade.grain(wetness, luck(sand, ids[k], number).0) > 0.0
        };
        let chunk = |c: usize| c * CHUNK..((c + 1) * CHUNK).min(ids.len());
        let chunks = ids.len().div_ceil(CHUNK);

        // First count, so that every chunk knows its slots.
        let count = |k: usize| (0..sand.per_particle).filter(|&number| is_drawn(k, number)).count();
        let counts: Vec<usize> = (0..chunks).into_par_iter().map(|c| chunk(c).map(count).sum()).collect();
        let total = counts.iter().sum();
        let mut grains = Grains {
            centres: vec![Vec3::ZERO; total],
            radii: vec![0.0; total],
            colours: vec![Vec3::ZERO; total],
            wetness: vec![0.0; total],
        };
        let Grains { centres, radii, colours, wetness: wet } = &mut grains;
        let mut rest = Slots { centres, radii, colours, wetness: wet };
        let mut slots = Vec::with_capacity(chunks);
        for count in counts {
            let (centres, more_centres) = rest.centres.split_at_mut(count);
            let (radii, more_radii) = rest.radii.split_at_mut(count);
            let (colours, more_colours) = rest.colours.split_at_mut(count);
            let (wet, more_wet) = rest.wetness.split_at_mut(count);
            slots.push(Slots { centres, radii, colours, wetness: wet });
            rest =
                Slots { centres: more_centres, radii: more_radii, colours: more_colours, wetness: more_wet };
        }

        slots.into_par_iter().enumerate().for_each(|(c, slots)| {
            let mut next = 0;
            for k in chunk(c) {
                for number in (0..sand.per_particle).filter(|&number| is_drawn(k, number)) {
                    let Character { luck, offset, radius, colour } = character(sand, ids[k], number);
                    let wetness = wetness(k, number);
                    let [dry, drowned] = place(k, number, offset);
                    let scale = sand.fade.grain(wetness, luck);
                    slots.centres[next] = drowned.lerp(dry, scale);
                    slots.radii[next] = radius * scale;
                    slots.colours[next] = colour;
                    slots.wetness[next] = wetness;
                    next += 1;
                }
            }
        });
        grains
    }
}

/// The fixed grains of all particles, in the order of the particles [LE 5.3.2].
pub fn grains(sand: &Sand, particles: &Particles) -> Grains {
    particles.check();
    let widths = widths(sand, particles.positions);
    let shown = Deep::new(sand, particles.positions).shows(particles.positions);
    Grains::build(
        sand,
        particles.ids,
        |k, _| shown[k],
        |k, _| particles.wetness(k),
        |k, _, offset| [particles.positions[k] + widths[k] * offset, particles.positions[k]],
    )
}

/// How far from each particle its grains lie, m: wider where particles have drifted apart.
fn widths(sand: &Sand, positions: &[Vec3]) -> Vec<f32> {
    let (radius, support) = (sand.reach * sand.spacing, 2.0 * sand.spacing);
    if sand.scatter <= 1.0 {
        return vec![radius; positions.len()];
    }
    // Weights add up to 5.2 in a full lattice, to about 3 at its surface and to 1 for a particle alone.
    const LOOSE: f32 = 2.5;
    let nearby = Nearby::new(positions, support);
    let width = |&at: &Vec3| {
        let mut sum = 0.0;
        nearby.within(at, support, |found| sum += weight(found.squared_distance, support));
        let loose = ((LOOSE - sum) / (LOOSE - 1.0)).clamp(0.0, 1.0);
        radius * (1.0 + (sand.scatter - 1.0) * loose)
    };
    positions.par_iter().map(width).collect()
}

fn weight(squared_distance: f32, support: f32) -> f32 {
    (1.0 - squared_distance / (support * support)).max(0.0).powi(3)
}

/// Where grains cannot be seen. Space is cut into cells of one and a half spacings, fixed in the world. A cell is
/// deep when all cells up to three away hold particles: two full cells, three spacings, lie between it and the air.
struct Deep {
    cells_per_metre: f32,
    /// Cells that hold particles, in order, and which of them are deep.
    cells: Vec<[i32; 3]>,
    deep: Vec<bool>,
}

impl Deep {
    fn new(sand: &Sand, positions: &[Vec3]) -> Deep {
        const LAYERS: usize = 3;
        let mut inside =
            Deep { cells_per_metre: 1.0 / (1.5 * sand.spacing), cells: Vec::new(), deep: Vec::new() };
        if !sand.hide_deep {
            return inside;
        }
        inside.cells = positions.par_iter().map(|&p| inside.cell(p)).collect();
        inside.cells.par_sort_unstable();
        inside.cells.dedup();
        inside.deep = vec![true; inside.cells.len()];
        let around: Vec<IVec3> = (0..27).map(|k| IVec3::new(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1)).collect();
        for _ in 0..LAYERS {
            let still_deep = |&cell: &[i32; 3]| {
                around.iter().all(|&step| inside.is_deep(IVec3::from(cell).wrapping_add(step).to_array()))
            };
            inside.deep = inside.cells.par_iter().map(still_deep).collect();
        }
        inside
    }

    fn cell(&self, place: Vec3) -> [i32; 3] {
        floor(place * self.cells_per_metre).to_array()
    }

    fn is_deep(&self, cell: [i32; 3]) -> bool {
        self.cells.binary_search(&cell).is_ok_and(|k| self.deep[k])
    }

    /// For each place, whether it can be seen.
    fn shows(&self, places: &[Vec3]) -> Vec<bool> {
        places.par_iter().map(|&place| !self.is_deep(self.cell(place))).collect()
    }
}

/// Grains that flow; the caller keeps them from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Advected {
    /// Particles the grains belong to, in order.
    ids: Vec<u32>,
    /// `per_particle` grains of each, m.
    positions: Vec<Vec3>,
}

/// How far a grain travels before it is drawn back to its fixed place, in spacings.
const RETURN: f32 = 12.0;

impl Advected {
    /// Moves the grains from one frame to the next: `particles` at the first, `velocities` in m/s, `dt` in s.
    /// Give the mean velocity over the interval (the difference of two frames over their time): then the grains
    /// arrive where the particles arrive. Particles that are new bring their grains, those that are gone take theirs.
    /// More `substeps` follow a faster turning flow.
    pub fn advance(
        &mut self,
        sand: &Sand,
        particles: &Particles,
        velocities: &[Vec3],
        dt: f32,
        substeps: usize,
    ) {
        particles.check();
        assert_eq!(velocities.len(), particles.ids.len(), "one velocity for each particle");
        // In the order of ids, whatever order they come in: the sums below keep their bits.
        let mut order: Vec<u32> = (0..particles.ids.len() as u32).collect();
        order.par_sort_unstable_by_key(|&k| particles.ids[k as usize]);
        let ids: Vec<u32> = order.iter().map(|&k| particles.ids[k as usize]).collect();
        let starts: Vec<Vec3> = order.iter().map(|&k| particles.positions[k as usize]).collect();
        let velocities: Vec<Vec3> = order.iter().map(|&k| velocities[k as usize]).collect();
        self.meet(sand, &ids, &starts);

        let h = dt / substeps.max(1) as f32;
        let particles_at = |time: f32| -> Vec<Vec3> {
            starts.par_iter().zip(&velocities).map(|(x, v)| x + time * v).collect()
        };
        for substep in 0..substeps.max(1) {
            let time = substep as f32 * h;
            let [first, middle, last] = [time, time + 0.5 * h, time + h].map(particles_at);
            let start = Flow::new(sand, &first, &velocities);
            let halfway = Flow::new(sand, &middle, &velocities);
            let widths = widths(sand, &last);
            self.positions.par_chunks_mut(sand.per_particle.max(1)).enumerate().for_each(|(k, grains)| {
                for (number, grain) in grains.iter_mut().enumerate() {
                    let home = last[k] + widths[k] * character(sand, ids[k], number).offset;
                    // Halfway by the flow at the start, then all the way by the flow halfway.
                    let half = start.at(*grain).map(|velocity| *grain + 0.5 * h * velocity);
                    *grain = match half.and_then(|half| halfway.at(half)) {
                        Some(velocity) => {
                            let moved = *grain + h * velocity;
                            let travelled = h * velocity.length() / (RETURN * sand.spacing);
                            moved.lerp(home, 1.0 - (-travelled).exp())
                        }
                        None => home,
                    };
                }
            });
        }
    }

    /// Keeps the grains of known particles, makes those of new ones.
    fn meet(&mut self, sand: &Sand, ids: &[u32], positions: &[Vec3]) {
        let n = sand.per_particle;
        if self.ids == ids && self.positions.len() == n * ids.len() {
            return;
        }
        let widths = widths(sand, positions);
        let mut all = vec![Vec3::ZERO; n * ids.len()];
        all.par_chunks_mut(n.max(1)).enumerate().for_each(|(k, grains)| {
            let known = self.ids.binary_search(&ids[k]).ok();
            match known.and_then(|old| self.positions.get(old * n..(old + 1) * n)) {
                Some(known) => grains.copy_from_slice(known),
                None => {
                    for (number, grain) in grains.iter_mut().enumerate() {
                        *grain = positions[k] + widths[k] * character(sand, ids[k], number).offset;
                    }
                }
            }
        });
        self.positions = all;
        self.ids = ids.to_vec();
    }

    /// The grains in a frame whose particles are `particles`; wetness is that of the particles around each grain.
    pub fn grains(&mut self, sand: &Sand, particles: &Particles) -> Grains {
        particles.check();
        let mut order: Vec<u32> = (0..particles.ids.len() as u32).collect();
        order.par_sort_unstable_by_key(|&k| particles.ids[k as usize]);
        let take = |k: &u32| particles.positions[*k as usize];
        let ids: Vec<u32> = order.iter().map(|&k| particles.ids[k as usize]).collect();
        let positions: Vec<Vec3> = order.iter().map(take).collect();
        self.meet(sand, &ids, &positions);

        let n = sand.per_particle;
        // Wetness, and the middle of the particles around: inwards, for a grain at the surface.
        let around: Vec<Vec4> = if particles.wetness.is_empty() {
            Vec::new()
        } else {
            let known: Vec<Vec4> =
                order.iter().map(|&k| take(&k).extend(particles.wetness(k as usize))).collect();
            let flow = Flow::new(sand, &positions, &known);
            let own = |k: usize| known[k / n];
            (0..n * ids.len()).into_par_iter().map(|k| flow.at(self.positions[k]).unwrap_or(own(k))).collect()
        };
        let shown = Deep::new(sand, &positions).shows(&self.positions);
        Grains::build(
            sand,
            &ids,
            |k, number| shown[k * n + number],
            |k, number| around.get(k * n + number).map_or(0.0, |around| around.w),
            |k, number, _| {
                let grain = self.positions[k * n + number];
                [grain, around.get(k * n + number).map_or(grain, |around| around.truncate())]
            },
        )
    }
}

/// What is known at the particles, anywhere between them: Σ W fⱼ / Σ W.
struct Flow<'a, T> {
    nearby: Nearby,
    support: f32,
    values: &'a [T],
}

impl<'a, T: Copy + Default + AddAssign + Mul<f32, Output = T>> Flow<'a, T> {
    fn new(sand: &Sand, positions: &[Vec3], values: &'a [T]) -> Flow<'a, T> {
        // About 20 neighbours in a lattice.
        let support = 1.75 * sand.spacing;
        Flow { nearby: Nearby::new(positions, support), support, values }
    }

    /// `None` where hardly a particle is heard: a single one more than 1.4 spacings away.
    fn at(&self, place: Vec3) -> Option<T> {
        const LOST: f32 = 0.047;
        let (mut sum, mut weights) = (T::default(), 0.0);
        self.nearby.within(place, self.support, |found| {
            let weight = weight(found.squared_distance, self.support);
            sum += self.values[found.index] * weight;
            weights += weight;
        });
        (weights > LOST).then(|| sum * (1.0 / weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    fn block(n: i32, spacing: f32) -> Vec<Vec3> {
        (0..n * n * n)
            .map(|k| Vec3::new((k % n) as f32, (k / n % n) as f32, (k / n / n) as f32) * spacing)
            .collect()
    }

    fn dry<'a>(positions: &'a [Vec3], ids: &'a [u32]) -> Particles<'a> {
        Particles { positions, ids, wetness: &[] }
    }

    #[test]
    fn grains_belong_to_ids() {
        let sand = Sand::new(0.01, 20);
        let positions = block(5, 0.01);
        let ids: Vec<u32> = (0..125).map(|k| 7 * k + 3).collect();
        let first = grains(&sand, &dry(&positions, &ids));
        assert_eq!(first.centres.len(), 125 * 20);
        // Moved, and in another order: the same grains around the same particles.
        let shift = Vec3::new(0.5, 0.25, 0.0);
        let moved: Vec<Vec3> = positions.iter().rev().map(|p| p + shift).collect();
        let ids: Vec<u32> = ids.iter().rev().copied().collect();
        let second = grains(&sand, &dry(&moved, &ids));
        for k in 0..125 {
            for g in 0..20 {
                let (a, b) = (k * 20 + g, (124 - k) * 20 + g);
                assert!(second.centres[b].distance(first.centres[a] + shift) < 1e-6);
                assert_eq!((first.radii[a], first.colours[a]), (second.radii[b], second.colours[b]));
            }
        }
    }

    #[test]
    fn grains_fill_the_sand_evenly() {
        // Inside a block, equal boxes smaller than a cell hold numbers of grains that differ by chance alone.
        let sand = Sand { hide_deep: false, ..Sand::new(1.0, 40) };
        let positions = block(12, 1.0);
        let ids: Vec<u32> = (0..1728).collect();
        let all = grains(&sand, &dry(&positions, &ids));
        // Half-cells along x, counted over the inner part: on particles and between them.
        let mut counts = [0.0f64; 2];
        for c in &all.centres {
            if c.min_element() > 2.0 && c.max_element() < 9.0 {
                counts[((c.x + 0.25).rem_euclid(1.0) >= 0.5) as usize] += 1.0;
            }
        }
        let ratio = counts[0] / counts[1];
        assert!((0.8..1.25).contains(&ratio), "{ratio}"); // a ball of the volume of a cell gives 1.5
        // Volume: six tenths, with the mean of r³ over the median's: exp(4.5 σ²).
        let volume: f64 =
            all.radii.iter().map(|&r| 4.0 / 3.0 * std::f64::consts::PI * (r as f64).powi(3)).sum();
        let expected = 0.6 * 1728.0 * (4.5 * 0.25f64 * 0.25).exp();
        assert!((volume / expected - 1.0).abs() < 0.03, "{volume} {expected}");
    }

    #[test]
    fn only_deep_grains_are_hidden() {
        let sand = Sand::new(0.01, 4);
        let n = 20;
        let positions = block(n, 0.01);
        let mut hidden = 0;
        // Wherever the block lies relative to the cells.
        for shift in [0.0, 0.0031, 0.0077] {
            let moved: Vec<Vec3> = positions.iter().map(|p| p + Vec3::splat(shift)).collect();
            for (p, shown) in positions.iter().zip(Deep::new(&sand, &moved).shows(&moved)) {
                let depth = p.min_element().min(0.01 * (n - 1) as f32 - p.max_element());
                assert!(shown || depth > 0.0299, "{p}");
                assert!(!shown || depth < 0.0601, "{p}");
                hidden += !shown as usize;
            }
        }
        assert!(hidden > 3 * 700, "{hidden}");
    }

    #[test]
    fn lonely_particles_scatter_their_grains() {
        let sand = Sand::new(0.01, 200);
        let farthest = |positions: &[Vec3]| {
            let ids: Vec<u32> = (0..positions.len() as u32).collect();
            let grains = grains(&sand, &dry(positions, &ids));
            let middle = positions.len() / 2;
            let of_one = &grains.centres[middle * 200..][..200];
            of_one.iter().map(|c| c.distance(positions[middle])).fold(0.0, f32::max)
        };
        let packed = farthest(&block(3, 0.01));
        let alone = farthest(&[Vec3::ZERO]);
        assert!(packed <= 0.0075 && packed > 0.007, "{packed}");
        assert!(alone <= 0.012 && alone > 0.0112, "{alone}");
    }

    #[test]
    fn wet_grains_are_told_and_drown() {
        let sand = Sand::new(0.01, 500);
        let draw = |wetness: f32| {
            grains(&sand, &Particles { positions: &[Vec3::ZERO], ids: &[9], wetness: &[wetness] })
        };
        let (dry, moist, mud) = (draw(0.0), draw(0.5), draw(0.85));
        // The renderer darkens them by their wetness; here they keep their colour and size.
        assert_eq!((&dry.radii, &dry.colours), (&moist.radii, &moist.colours));
        assert!(moist.wetness.iter().all(|&wetness| wetness == 0.5));
        assert!((200..300).contains(&mud.radii.len()));
        assert!(mud.radii.iter().all(|&r| r > 0.0));
        // They sink towards their particle as they shrink.
        let farthest = |g: &Grains| g.centres.iter().map(|c| c.length()).fold(0.0, f32::max);
        assert!(farthest(&mud) < 0.8 * farthest(&dry));
        assert_eq!(draw(0.95).radii.len(), 0);
        // No step anywhere: total cross-section changes little with little wetness.
        let area = |w: f32| draw(w).radii.iter().map(|r| r * r).sum::<f32>();
        for k in 0..100 {
            let (a, b) = (area(0.01 * k as f32), area(0.01 * (k + 1) as f32));
            assert!(b <= a && a - b < 0.06 * area(0.0));
        }
    }

    #[test]
    fn the_surface_rises_as_grains_drown() {
        let mut mesh = crate::figures::sphere(1.0, 1);
        let count = mesh.positions.len();
        let wetness = (0..count).map(|k| [0.0, 0.75, 1.0][k % 3]).collect();
        mesh.attributes.push(crate::mesh::Attribute { name: "wetness".into(), width: 1, values: wetness });
        Fade::default().sink(&mut mesh, 0.1);
        for (k, p) in mesh.positions.iter().enumerate() {
            assert!((p.length() - [0.9, 0.95, 1.0][k % 3]).abs() < 1e-5);
        }
    }

    #[test]
    fn advected_grains_follow_a_rotation() {
        // A block turns by a right angle about the y axis through its middle, in 30 frames.
        let spacing = 0.01;
        let start = block(10, spacing);
        let ids: Vec<u32> = (0..1000).collect();
        let middle = Vec3::splat(0.045);
        let turned = |frame: usize| -> Vec<Vec3> {
            let turn = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2 * frame as f32 / 30.0);
            start.iter().map(|p| middle + turn * (p - middle)).collect()
        };
        let sand = Sand { hide_deep: false, scatter: 1.0, ..Sand::new(spacing, 8) };
        let mut advected = Advected::default();
        let before = advected.grains(&sand, &dry(&start, &ids)).centres;
        let dt = 1.0 / 30.0;
        for frame in 0..30 {
            let (from, to) = (turned(frame), turned(frame + 1));
            let velocities: Vec<Vec3> = from.iter().zip(&to).map(|(a, b)| (b - a) / dt).collect();
            advected.advance(&sand, &dry(&from, &ids), &velocities, dt, 1);
        }
        let after = advected.grains(&sand, &dry(&turned(30), &ids)).centres;
        let quarter = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
        // Most turn with the block; the fixed places they are drawn to do not turn, a small pull over this way.
        let mut errors: Vec<f32> = before
            .iter()
            .zip(&after)
            .map(|(a, b)| b.distance(middle + quarter * (a - middle)) / spacing)
            .collect();
        errors.sort_by(f32::total_cmp);
        let (median, worst) = (errors[errors.len() / 2], errors[errors.len() - 1]);
        assert!(median < 0.35 && worst < 1.6, "{median} {worst}");
    }

    #[test]
    fn advected_grains_fall_with_their_sand_and_rest_with_it() {
        let spacing = 0.01;
        let start = block(6, spacing);
        let ids: Vec<u32> = (0..216).collect();
        let sand = Sand { hide_deep: false, scatter: 1.0, ..Sand::new(spacing, 8) };
        let mut advected = Advected::default();
        let before = advected.grains(&sand, &dry(&start, &ids)).centres;
        // 10 m/s: many spacings in a frame.
        advected.advance(&sand, &dry(&start, &ids), &[Vec3::new(0.0, -10.0, 0.0); 216], 0.1, 2);
        let fallen: Vec<Vec3> = start.iter().map(|p| p - Vec3::Y).collect();
        let after = advected.grains(&sand, &dry(&fallen, &ids)).centres;
        for (a, b) in before.iter().zip(&after) {
            assert!((a - Vec3::Y).distance(*b) < 1e-5);
        }
        advected.advance(&sand, &dry(&fallen, &ids), &[Vec3::ZERO; 216], 0.1, 2);
        assert_eq!(after, advected.grains(&sand, &dry(&fallen, &ids)).centres);
    }

    #[test]
    fn advected_grains_come_go_and_start_again() {
        let sand = Sand { hide_deep: false, ..Sand::new(0.01, 10) };
        let mut advected = Advected::default();
        let two = [Vec3::ZERO, Vec3::X];
        assert_eq!(advected.grains(&sand, &dry(&two, &[4, 9])).centres.len(), 20);
        // A particle leaves its grains behind in one leap: they start again around it.
        let leapt = [Vec3::ZERO, Vec3::Y];
        advected.advance(&sand, &dry(&leapt, &[4, 9]), &[Vec3::ZERO; 2], 0.1, 1);
        let all = advected.grains(&sand, &dry(&leapt, &[4, 9])).centres;
        assert!(all[10..].iter().all(|c| c.distance(Vec3::Y) < 0.0121));
        // One is gone, one is new.
        let all = advected.grains(&sand, &dry(&[Vec3::Z, Vec3::Y], &[11, 9])).centres;
        assert_eq!(all.len(), 20);
        assert!(all.iter().all(|c| c.distance(Vec3::Y) < 0.0121 || c.distance(Vec3::Z) < 0.0121));
    }

    #[test]
    fn order_and_threads_do_not_change_a_bit() {
        let sand = Sand::new(0.01, 6);
        let positions = block(9, 0.01);
        let ids: Vec<u32> = (0..729).collect();
        let wetness: Vec<f32> = positions.iter().map(|p| 10.0 * p.x).collect();
        let velocities: Vec<Vec3> = positions.iter().map(|p| Vec3::new(3.0 * p.y, -1.0, p.x)).collect();
        let run = |threads: usize, reversed: bool| {
            fn turn<T: Copy>(values: &[T], reversed: bool) -> Vec<T> {
                if reversed { values.iter().rev().copied().collect() } else { values.to_vec() }
            }
            let (positions, ids) = (turn(&positions, reversed), turn(&ids, reversed));
            let (wetness, velocities) = (turn(&wetness, reversed), turn(&velocities, reversed));
            let particles = Particles { positions: &positions, ids: &ids, wetness: &wetness };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut advected = Advected::default();
                advected.advance(&sand, &particles, &velocities, 0.03, 2);
                (advected.grains(&sand, &particles), grains(&sand, &particles))
            })
        };
        let (one, three, reversed) = (run(1, false), run(3, false), run(2, true));
        assert_eq!(one, three);
        assert_eq!(one.0, reversed.0);
    }
}
