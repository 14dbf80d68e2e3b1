//! Loops over neighbours, on all cores, eight neighbours at a time.
//!
//! Each loop gathers: particle i sums over its own list, in list order, and writes its own row. The result is
//! the same bits for any number of threads. What a pair needs is first packed into two rows of four
//! ([`Rows`]), so that a neighbour costs two 16-byte loads.

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use crate::kernels::Kernel;
use crate::neighbourhood::{Neighbourhood, Periods};
use crate::pair::{Own, Pair, PairLaw, Shrink, SlopedPair, SlopedSum, Sum, WallPair};
use crate::simd::*;
use crate::solids::Wrench;
use crate::walls::Walls;

/// What loops read of particles and wall samples.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// x, y, z: position; w: volume.
    place: &'a [Vec4],
    /// x, y, z: velocity; w: pressure term.
    motion: &'a [Vec4],
    walls: &'a Walls,
    /// As the walls' own, or in their place.
    wall_motion: &'a [Vec4],
    lists: &'a Neighbourhood,
    periods: &'a Periods,
    /// 1/s for each particle of the support s h; empty where all have the support h.
    shrink: &'a [f32],
}

/// (dW/dr)/r of every pair, kept while positions stay: a solve that goes over the pairs ten times in a step needs
/// neither roots nor kernels again. 4 bytes for each pair, in the blocks of the lists.
#[derive(Default)]
pub struct Slopes {
    pieces: Vec<SlopePiece>,
}

impl Slopes {
    /// Memory, bytes.
    pub fn bytes(&self) -> usize {
        let piece = |piece: &SlopePiece| {
            4 * (piece.starts.capacity() + LANES * (piece.own.capacity() + piece.others.capacity()))
        };
        self.pieces.iter().map(piece).sum()
    }
}

impl Slopes {
    /// Room for any other number of each pair, to be filled by pieces of [`PIECE`] particles.
    pub(crate) fn pieces_for(&mut self, particles: usize) -> &mut [SlopePiece] {
        self.pieces.resize_with(particles.div_ceil(PIECE), SlopePiece::default);
        &mut self.pieces
    }
}

#[derive(Default)]
pub(crate) struct SlopePiece {
    /// First block of each particle.
    starts: Vec<u32>,
    /// For the particle's own support; zero for lanes that do not count.
    own: Vec<[f32; LANES]>,
    /// For the neighbours' supports; empty where all have one.
    others: Vec<[f32; LANES]>,
}

impl SlopePiece {
    pub(crate) fn clear(&mut self) {
        self.starts.clear();
        self.own.clear();
        self.others.clear();
    }

    /// The next blocks are those of the next particle.
    pub(crate) fn begin(&mut self) {
        self.starts.push(self.own.len() as u32);
    }

    /// Numbers of the next eight neighbours, in the order of the list.
    pub(crate) fn push(&mut self, numbers: [f32; LANES]) {
        self.own.push(numbers);
    }
}

/// Particles in a piece of parallel work.
pub(crate) const PIECE: usize = 1024;

/// Beyond every kernel's reach, and small enough that its powers stay finite, m.
const FAR: f32 = 1e6;

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
        assert!(walls.hold.len() == samples && walls.owner.len() == samples);
        Rows { place, motion, walls, wall_motion: &walls.motion, lists, periods, shrink: &[] }
    }

    pub fn periods(&self) -> &'a Periods {
        self.periods
    }

    pub(crate) fn lists(&self) -> &'a Neighbourhood {
        self.lists
    }

    /// The same rows for particles of several sizes: 1/s for each, or nothing where all have one.
    ///
    /// # Panics
    /// If there is not one number for each particle.
    pub fn with_sizes(&self, shrink: &'a [f32]) -> Rows<'a> {
        assert!(shrink.is_empty() || shrink.len() == self.place.len());
        Rows { shrink, ..*self }
    }

    /// The same rows with another velocity and fourth entry for each particle: a direction of search, say.
    ///
    /// # Panics
    /// If there is not one row for each particle.
    pub fn with_motion(&self, motion: &'a [Vec4]) -> Rows<'a> {
        assert_eq!(motion.len(), self.place.len());
        Rows { motion, ..*self }
    }

    /// The same rows with other velocities and pressure terms of the wall samples.
    ///
    /// # Panics
    /// If there is not one row for each sample.
    pub fn with_wall_motion(&self, wall_motion: &'a [Vec4]) -> Rows<'a> {
        assert_eq!(wall_motion.len(), self.walls.len());
        Rows { wall_motion, ..*self }
    }

    /// The same rows with another fourth entry of the positions in place of the volume; the positions must be the same.
    ///
    /// # Panics
    /// If there is not one row for each particle.
    pub fn with_place(&self, place: &'a [Vec4]) -> Rows<'a> {
        assert_eq!(place.len(), self.place.len());
        Rows { place, ..*self }
    }

    /// Whether particles have different sizes.
    pub fn have_sizes(&self) -> bool {
        !self.shrink.is_empty()
    }

    /// x, y, z: position; w: volume.
    pub fn place(&self) -> &'a [Vec4] {
        self.place
    }

    /// Velocities of the wall samples, and pressure terms.
    pub fn wall_motion(&self) -> &'a [Vec4] {
        self.wall_motion
    }

    /// Sums over the neighbours of every particle, into its place of `out`.
    pub fn sum<L: Sum>(&self, law: &L, out: &mut [L::Total]) {
        self.each(law, out, |out, total| *out = total);
    }

    /// The same; `write` says what becomes of a total.
    pub fn each<L: Sum, T: Send>(&self, law: &L, out: &mut [T], write: impl Fn(&mut T, L::Total) + Sync) {
        assert_eq!(out.len(), self.place.len());
        let level = Level::new();
        out.par_chunks_mut(PIECE).enumerate().for_each(|(piece, out)| {
            dispatch!(level, simd => {
                if self.shrink.is_empty() {
                    for (k, out) in out.iter_mut().enumerate() {
                        write(out, self.sum_at::<_, _, false>(simd, law, piece * PIECE + k, |_| ()));
                    }
                } else {
                    for (k, out) in out.iter_mut().enumerate() {
                        write(out, self.sum_at::<_, _, true>(simd, law, piece * PIECE + k, |_| ()));
                    }
                }
            });
        });
    }

    /// Lets `see` look at the neighbours of a particle, eight at a time, and at how many of them count.
    #[inline(always)]
    pub(crate) fn each_block<S: Simd>(&self, simd: S, own: &Own, mut see: impl FnMut(&Pair<S>, usize)) {
        let mut tail = [0; LANES];
        let list = self.lists.particles(own.index);
        for b in 0..list.blocks() {
            let (others, count) = list.block(b, &mut tail);
            // SAFETY: `Rows::new` compared the lists' bounds with the rows.
            let ((at, volume), (velocity, pressure)) =
                unsafe { (gather(simd, self.place, others), gather(simd, self.motion, others)) };
            let (x, r) = self.separation(simd, own.position, at, count);
            see(&Pair { simd, others, x, r, volume, velocity, pressure, shrink: None }, count);
        }
    }

    /// Sums over wall samples alone, for the particles that are near any; `write` gets their place of `out`.
    pub fn each_near_walls<L: Sum, T: Send>(
        &self,
        law: &L,
        out: &mut [T],
        write: impl Fn(&mut T, L::Total) + Sync,
    ) {
        assert_eq!(out.len(), self.place.len());
        let level = Level::new();
        out.par_chunks_mut(PIECE).enumerate().for_each(|(piece, out)| {
            dispatch!(level, simd => {
                let mut tail = [0; LANES];
                for (k, out) in out.iter_mut().enumerate() {
                    let i = piece * PIECE + k;
                    let list = self.lists.walls(i);
                    if list.is_empty() {
                        continue;
                    }
                    let own = self.own(i);
                    let mut partial = law.start(simd);
                    for b in 0..list.blocks() {
                        let (others, count) = list.block(b, &mut tail);
                        let wall = self.wall_pair(simd, own.position, others, count);
                        law.add_walls(&own, &wall, &mut partial);
                    }
                    write(out, law.finish::<_>(&own, partial));
                }
            });
        });
    }

    /// As [`Rows::sum`], and keeps the slopes of a kernel for [`Rows::sum_sloped`].
    pub fn sum_and_slopes<L: Sum>(
        &self,
        law: &L,
        out: &mut [L::Total],
        kernel: &Kernel,
        slopes: &mut Slopes,
    ) {
        assert_eq!(out.len(), self.place.len());
        let level = Level::new();
        slopes.pieces.resize_with(out.len().div_ceil(PIECE), SlopePiece::default);
        let pieces = out.par_chunks_mut(PIECE).zip(&mut slopes.pieces).enumerate();
        pieces.for_each(|(piece, (out, slopes))| {
            let SlopePiece { starts, own, others } = slopes;
            starts.clear();
            own.clear();
            others.clear();
            dispatch!(level, simd => {
                for (k, out) in out.iter_mut().enumerate() {
                    starts.push(own.len() as u32);
                    let i = piece * PIECE + k;
                    *out = if self.shrink.is_empty() {
                        self.sum_at::<_, _, false>(simd, law, i, |pair: &Pair<_>| {
                            own.push(pair.own_gradient_over_r(kernel).to_array());
                        })
                    } else {
                        self.sum_at::<_, _, true>(simd, law, i, |pair: &Pair<_>| {
                            own.push(pair.own_gradient_over_r(kernel).to_array());
                            others.push(pair.other_gradient_over_r(kernel).to_array());
                        })
                    };
                }
            });
        });
    }

    /// Sums of gradients, with the slopes that were kept for these positions. Whom the law that kept them skips, this one must skip too.
    ///
    /// # Panics
    /// If the slopes are not of as many particles.
    pub fn sum_sloped<L: SlopedSum>(&self, law: &L, slopes: &Slopes, out: &mut [L::Total]) {
        assert_eq!(out.len(), self.place.len());
        assert_eq!(slopes.pieces.len(), out.len().div_ceil(PIECE));
        let level = Level::new();
        out.par_chunks_mut(PIECE).zip(&slopes.pieces).enumerate().for_each(|(piece, (out, slopes))| {
            dispatch!(level, simd => {
                let blocks = if L::OF_OTHERS && !slopes.others.is_empty() { &slopes.others } else { &slopes.own };
                for (k, out) in out.iter_mut().enumerate() {
                    let blocks = &blocks[slopes.starts[k] as usize..];
                    *out = self.sum_sloped_at(simd, law, piece * PIECE + k, blocks);
                }
            });
        });
    }

    #[inline(always)]
    fn sum_sloped_at<S: Simd, L: SlopedSum>(
        &self,
        simd: S,
        law: &L,
        i: usize,
        slopes: &[[f32; LANES]],
    ) -> L::Total {
        let own = self.own(i);
        let mut partial = law.start(simd);
        if law.skips(&own) {
            return law.finish(&own, partial);
        }
        let mut tail = [0; LANES];
        let list = self.lists.particles(i);
        for (b, slopes) in slopes[..list.blocks()].iter().enumerate() {
            let (others, _) = list.block(b, &mut tail);
            // SAFETY: `Rows::new` compared the lists' bounds with the rows.
            let ((at, volume), (velocity, _)) =
                unsafe { (gather(simd, self.place, others), gather(simd, self.motion, others)) };
            let x = self.offset(simd, own.position, at);
            let gradient_over_r = Lanes::load_array_ref(simd, slopes);
            law.add(&own, &SlopedPair { simd, others, x, gradient_over_r, volume, velocity }, &mut partial);
        }
        law.finish(&own, partial)
    }

    #[inline(always)]
    pub(crate) fn own(&self, i: usize) -> Own {
        let (place, motion) = (self.place[i], self.motion[i]);
        Own { index: i, position: place, velocity: motion, pressure: motion.w, volume: place.w }
    }

    /// `SIZES`: whether particles have different sizes. Compiled twice, so that one size costs nothing.
    #[inline(always)]
    fn sum_at<S: Simd, L: Sum, const SIZES: bool>(
        &self,
        simd: S,
        law: &L,
        i: usize,
        mut see: impl FnMut(&Pair<S>),
    ) -> L::Total {
        let own = self.own(i);
        let place = own.position;
        let mut partial = law.start(simd);
        if law.skips(&own) {
            return law.finish(&own, partial);
        }
        let mut tail = [0; LANES];
        let list = self.lists.particles(i);
        for b in 0..list.blocks() {
            let (others, count) = list.block(b, &mut tail);
            // SAFETY: `Rows::new` compared the lists' bounds with the rows.
            let ((at, volume), (velocity, pressure)) =
                unsafe { (gather(simd, self.place, others), gather(simd, self.motion, others)) };
            let (x, r) = self.separation(simd, place, at, count);
            // SAFETY: as above; `Rows::with_sizes` compared the lengths.
            let shrink = SIZES.then(|| Shrink {
                own: splat(simd, self.shrink[i]),
                other: unsafe { gather_scalar(simd, self.shrink, others) },
            });
            let pair = Pair { simd, others, x, r, volume, velocity, pressure, shrink };
            law.add(&own, &pair, &mut partial);
            see(&pair);
        }
        let list = self.lists.walls(i);
        for b in 0..list.blocks() {
            let (others, count) = list.block(b, &mut tail);
            let shrink = SIZES.then(|| splat(simd, self.shrink[i]));
            let wall = WallPair { shrink, ..self.wall_pair(simd, place, others, count) };
            law.add_walls(&own, &wall, &mut partial);
        }
        law.finish(&own, partial)
    }

    /// Σ_j V_j W(x_i − x_j) over particles and walls, with the particle's own support.
    pub fn kernel_sum(&self, kernel: &Kernel, out: &mut [f32]) {
        self.sum(&KernelSum(kernel), out);
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
                let (_, r) = self.separation(simd, from, at, count);
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

    /// Σ_j V_j v_j W / Σ_j V_j W for the k-th wall sample near particles; `None` if none is within reach.
    pub fn velocity_at_wall(&self, kernel: &Kernel, k: usize) -> Option<Vec4> {
        let from = self.walls.place[self.lists.near_walls()[k] as usize];
        let list = self.lists.of_near_wall(k);
        let level = Level::new();
        let (weight, [x, y, z]) = dispatch!(level, simd => {
            let (mut weight, mut momentum) = (splat(simd, 0.0), Lanes3::zero(simd));
            let mut tail = [0; LANES];
            for b in 0..list.blocks() {
                let (others, count) = list.block(b, &mut tail);
                // SAFETY: `Rows::new` compared the lists' bounds with the rows.
                let ((at, volume), (velocity, _)) =
                    unsafe { (gather(simd, self.place, others), gather(simd, self.motion, others)) };
                let (_, r) = self.separation(simd, from, at, count);
                let w = volume * kernel.w(r);
                weight += w;
                momentum = momentum + velocity * w;
            }
            (sum(weight), momentum.sum())
        });
        (weight > 0.0).then(|| Vec4::new(x, y, z, 0.0) / weight)
    }

    /// Adds the forces of all laws, over mass, to `acceleration`.
    pub fn add_forces<L: PairLaw>(&self, laws: &[L], mass: &[f32], acceleration: &mut [Vec4]) {
        self.each(&Forces { laws, mass }, acceleration, |sum, force| *sum += force);
    }

    /// What the particles' forces on walls do to solids, by all laws: the opposite of each wall force, applied at the
    /// sample, added to the wrench of the solid it belongs to. `centres` are those that torques are taken about, one
    /// for each solid; `scratch` is kept from call to call.
    ///
    /// Chunks of particles add up their own, in f64, and are added in their order: the same bits for any number of
    /// threads.
    pub fn reactions<L: PairLaw>(
        &self,
        laws: &[L],
        centres: &[DVec3],
        scratch: &mut Vec<Wrench>,
        out: &mut [Wrench],
    ) {
        assert_eq!(centres.len(), out.len());
        if out.is_empty() || laws.is_empty() {
            return;
        }
        let level = Level::new();
        let count = self.place.len();
        scratch.clear();
        scratch.resize(count.div_ceil(PIECE) * out.len(), Wrench::default());
        scratch.par_chunks_mut(out.len()).enumerate().for_each(|(piece, sums)| {
            dispatch!(level, simd => {
                for i in piece * PIECE..((piece + 1) * PIECE).min(count) {
                    self.add_reactions(simd, laws, centres, i, sums);
                }
            });
        });
        for sums in scratch.chunks(out.len()) {
            for (total, sum) in out.iter_mut().zip(sums) {
                *total += *sum;
            }
        }
    }

    #[inline(always)]
    fn add_reactions<S: Simd, L: PairLaw>(
        &self,
        simd: S,
        laws: &[L],
        centres: &[DVec3],
        i: usize,
        sums: &mut [Wrench],
    ) {
        let list = self.lists.walls(i);
        let (place, motion) = (self.place[i], self.motion[i]);
        let own = Own { index: i, position: place, velocity: motion, pressure: motion.w, volume: place.w };
        let mut tail = [0; LANES];
        for b in 0..list.blocks() {
            let (others, count) = list.block(b, &mut tail);
            // Most walls are the box's, which feels nothing.
            if others[..count].iter().all(|&sample| self.walls.owner[sample as usize] == 0) {
                continue;
            }
            let wall = self.wall_pair(simd, place, others, count);
            let mut force = Lanes3::zero(simd);
            for law in laws {
                force = force + law.wall_force(&own, &wall);
            }
            let [x, y, z] = [force.x, force.y, force.z].map(Lanes::to_array);
            for (k, &sample) in others[..count].iter().enumerate() {
                let owner = self.walls.owner[sample as usize] as usize;
                if owner > 0 {
                    let force = -DVec3::new(f64::from(x[k]), f64::from(y[k]), f64::from(z[k]));
                    let arm = self.walls.place[sample as usize].truncate().as_dvec3() - centres[owner - 1];
                    sums[owner - 1] += Wrench { force, torque: arm.cross(force) };
                }
            }
        }
    }

    /// Eight wall samples as a law sees them.
    #[inline(always)]
    fn wall_pair<'o, S: Simd>(
        &'o self,
        simd: S,
        place: Vec4,
        others: &'o [u32; LANES],
        count: usize,
    ) -> WallPair<'o, S> {
        // SAFETY: `Rows::new` compared the lists' bounds with the rows.
        let ((at, volume), (velocity, pressure), (normal, depth)) = unsafe {
            (
                gather(simd, &self.walls.place, others),
                gather(simd, self.wall_motion, others),
                gather(simd, &self.walls.face, others),
            )
        };
        let (x, r) = self.separation(simd, place, at, count);
        let holds = &self.walls.hold;
        WallPair { simd, others, x, r, volume, velocity, pressure, normal, depth, holds, shrink: None }
    }

    /// x_i − x_j to the nearest image, and its length; lanes from `count` on are put out of every kernel's reach.
    #[inline(always)]
    fn separation<S: Simd>(&self, simd: S, from: Vec4, at: Lanes3<S>, count: usize) -> (Lanes3<S>, Lanes<S>) {
        let x = self.offset(simd, from, at);
        let r = x.dot(x).sqrt();
        if count < LANES {
            return (x, first(simd, count).select(r, splat(simd, FAR)));
        }
        (x, r)
    }

    /// x_i − x_j to the nearest image.
    #[inline(always)]
    fn offset<S: Simd>(&self, simd: S, from: Vec4, at: Lanes3<S>) -> Lanes3<S> {
        let mut x = Lanes3::splat(simd, from.truncate().into()) - at;
        if self.periods.any() {
            let wrap = |x: Lanes<S>, length: f32| {
                if length > 0.0 { x - (x * (1.0 / length)).round_ties_even() * length } else { x }
            };
            let [lx, ly, lz] = self.periods.length;
            x = Lanes3 { x: wrap(x.x, lx), y: wrap(x.y, ly), z: wrap(x.z, lz) };
        }
        x
    }
}

/// Σ V W.
struct KernelSum<'a>(&'a Kernel);

impl Sum for KernelSum<'_> {
    type Partial<S: Simd> = Lanes<S>;
    type Total = f32;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes<S> {
        splat(simd, 0.0)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &Pair<S>, partial: &mut Lanes<S>) {
        *partial += pair.volume * pair.own_w(self.0);
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, _own: &Own, wall: &WallPair<S>, partial: &mut Lanes<S>) {
        *partial += wall.volume * wall.w(self.0);
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, partial: Lanes<S>) -> f32 {
        sum(partial)
    }
}

/// The forces of all laws, over mass.
struct Forces<'a, L> {
    laws: &'a [L],
    mass: &'a [f32],
}

impl<L: PairLaw> Sum for Forces<'_, L> {
    type Partial<S: Simd> = Lanes3<S>;
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut Lanes3<S>) {
        for law in self.laws {
            *partial = *partial + law.force(own, pair);
        }
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, own: &Own, wall: &WallPair<S>, partial: &mut Lanes3<S>) {
        for law in self.laws {
            *partial = *partial + law.wall_force(own, wall);
        }
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, partial: Lanes3<S>) -> Vec4 {
        let [x, y, z] = partial.sum();
        Vec4::new(x, y, z, 0.0) / self.mass[own.index]
    }
}
