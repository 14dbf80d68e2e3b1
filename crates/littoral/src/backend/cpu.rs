//! Loops over neighbours, on all cores, eight neighbours at a time.
//!
//! Each loop gathers: particle i sums over its own list, in list order, and writes its own row. The result is
//! the same bits for any number of threads. What a pair needs is first packed into two rows of four
//! ([`Rows`]), so that a neighbour costs two 16-byte loads.

use glam::Vec4;
use rayon::prelude::*;

use crate::kernels::Kernel;
use crate::neighbourhood::{Neighbourhood, Periods};
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::simd::*;
use crate::walls::Walls;

/// What loops read of particles and wall samples.
pub struct Rows<'a> {
    /// x, y, z: position; w: volume.
    place: &'a [Vec4],
    /// x, y, z: velocity; w: pressure term.
    motion: &'a [Vec4],
    walls: &'a Walls,
    lists: &'a Neighbourhood,
    periods: &'a Periods,
}

/// Particles in a piece of parallel work.
const PIECE: usize = 1024;

impl<'a> Rows<'a> {
    /// # Panics
    /// If the lists name rows that do not exist: this check is what makes the unchecked loads below sound.
    pub fn new(
        place: &'a [Vec4],
        motion: &'a [Vec4],
        walls: &'a Walls,
        lists: &'a Neighbourhood,
        periods: &'a Periods,
    ) -> Rows<'a> {
        let (particles, samples) = lists.bounds();
        assert!(place.len() == particles && motion.len() == particles);
        assert!(walls.place.len() == samples && walls.motion.len() == samples && walls.face.len() == samples);
        Rows { place, motion, walls, lists, periods }
    }

    /// Σ_j w_j W(x_i − x_j) over particles and walls, where w is the fourth entry of `place`.
    pub fn kernel_sum(&self, kernel: &Kernel, out: &mut [f32]) {
        assert_eq!(out.len(), self.place.len());
        let level = Level::new();
        out.par_chunks_mut(PIECE).enumerate().for_each(|(piece, out)| {
            dispatch!(level, simd => {
                for (k, out) in out.iter_mut().enumerate() {
                    *out = self.kernel_sum_at(simd, kernel, piece * PIECE + k);
                }
            });
        });
    }

    #[inline(always)]
    fn kernel_sum_at<S: Simd>(&self, simd: S, kernel: &Kernel, i: usize) -> f32 {
        let from = self.place[i];
        let mut total = splat(simd, 0.0);
        let sets = [(self.lists.particles(i), self.place), (self.lists.walls(i), &self.walls.place[..])];
        for (list, place) in sets {
            let mut tail = [0; LANES];
            for b in 0..list.blocks() {
                let (others, count) = list.block(b, &mut tail);
                // SAFETY: `Rows::new` compared the lists' bounds with the rows.
                let (at, weight) = unsafe { gather(simd, place, others) };
                let (_, r) = self.separation(simd, from, at, count, kernel.support);
                total += weight * kernel.w(r);
            }
        }
        sum(total)
    }

    /// Σ_j w_j W for the k-th wall sample near particles, over those alone, and the particle nearest to it; `None`
    /// if none is within reach.
    pub fn kernel_sum_at_wall(&self, kernel: &Kernel, k: usize) -> Option<(f32, usize)> {
        let from = self.walls.place[self.lists.near_walls()[k] as usize];
        let list = self.lists.of_near_wall(k);
        let level = Level::new();
        let mut nearest = (f32::INFINITY, usize::MAX);
        let sum = dispatch!(level, simd => {
            let mut total = splat(simd, 0.0);
            let mut tail = [0; LANES];
            for b in 0..list.blocks() {
                let (others, count) = list.block(b, &mut tail);
                // SAFETY: `Rows::new` compared the lists' bounds with the rows.
                let (at, weight) = unsafe { gather(simd, self.place, others) };
                let (_, r) = self.separation(simd, from, at, count, kernel.support);
                total += weight * kernel.w(r);
                for (k, r) in r.to_array().into_iter().enumerate().take(count) {
                    if r < nearest.0 {
                        nearest = (r, others[k] as usize);
                    }
                }
            }
            sum(total)
        });
        (nearest.0 < kernel.support).then_some((sum, nearest.1))
    }

    /// Adds the forces of all laws, over mass, to `acceleration`.
    pub fn add_forces<L: PairLaw>(&self, laws: &[L], mass: &[f32], support: f32, acceleration: &mut [Vec4]) {
        assert_eq!(acceleration.len(), self.place.len());
        let level = Level::new();
        acceleration.par_chunks_mut(PIECE).enumerate().for_each(|(piece, out)| {
            dispatch!(level, simd => {
                for (k, out) in out.iter_mut().enumerate() {
                    let i = piece * PIECE + k;
                    let own = Own {
                        index: i,
                        position: self.place[i],
                        velocity: self.motion[i],
                        pressure: self.motion[i].w,
                        volume: self.place[i].w,
                    };
                    let [x, y, z] = self.force_on(simd, laws, &own, support);
                    *out += Vec4::new(x, y, z, 0.0) / mass[i];
                }
            });
        });
    }

    #[inline(always)]
    fn force_on<S: Simd, L: PairLaw>(&self, simd: S, laws: &[L], own: &Own, support: f32) -> [f32; 3] {
        let mut total = Lanes3::zero(simd);
        let mut tail = [0; LANES];
        let list = self.lists.particles(own.index);
        for b in 0..list.blocks() {
            let (others, count) = list.block(b, &mut tail);
            // SAFETY: `Rows::new` compared the lists' bounds with the rows.
            let ((at, volume), (velocity, pressure)) =
                unsafe { (gather(simd, self.place, others), gather(simd, self.motion, others)) };
            let (x, r) = self.separation(simd, own.position, at, count, support);
            let pair = Pair { simd, others, x, r, volume, velocity, pressure };
            for law in laws {
                total = total + law.force(own, &pair);
            }
        }
        let list = self.lists.walls(own.index);
        for b in 0..list.blocks() {
            let (others, count) = list.block(b, &mut tail);
            // SAFETY: as above.
            let ((at, volume), (velocity, pressure), (normal, depth)) = unsafe {
                (
                    gather(simd, &self.walls.place, others),
                    gather(simd, &self.walls.motion, others),
                    gather(simd, &self.walls.face, others),
                )
            };
            let (x, r) = self.separation(simd, own.position, at, count, support);
            let wall = WallPair { simd, x, r, volume, velocity, pressure, normal, depth };
            for law in laws {
                total = total + law.wall_force(own, &wall);
            }
        }
        total.sum()
    }

    /// x_i − x_j to the nearest image, and its length; lanes from `count` on are put out of reach.
    #[inline(always)]
    fn separation<S: Simd>(
        &self,
        simd: S,
        from: Vec4,
        at: Lanes3<S>,
        count: usize,
        support: f32,
    ) -> (Lanes3<S>, Lanes<S>) {
        let mut x = Lanes3::splat(simd, from.truncate().into()) - at;
        if self.periods.any() {
            let wrap = |x: Lanes<S>, length: f32| {
                if length > 0.0 { x - (x * (1.0 / length)).round_ties_even() * length } else { x }
            };
            let [lx, ly, lz] = self.periods.length;
            x = Lanes3 { x: wrap(x.x, lx), y: wrap(x.y, ly), z: wrap(x.z, lz) };
        }
        let r = x.dot(x).sqrt();
        if count < LANES {
            return (x, first(simd, count).select(r, splat(simd, support)));
        }
        (x, r)
    }
}
