//! What a pair law sees, and what it gives back.
//!
//! A law is a small pure function: two rows and their distance in, a force out. It is written over eight
//! neighbours at once and knows nothing of loops, threads or lists. Forces are sums over a particle's own
//! neighbours only, so a law must be antisymmetric in the two particles for momentum to be kept.

use glam::Vec4;

use crate::simd::{LANES, Lanes, Lanes3, Simd};

/// The particle whose force is being summed.
#[derive(Clone, Copy)]
pub struct Own {
    pub index: usize,
    pub position: Vec4,
    pub velocity: Vec4,
    /// Pressure as it enters the pair force, Pa (see `behaviours/pressure.rs`).
    pub pressure: f32,
    /// Volume as it enters the pair force, m³.
    pub volume: f32,
}

/// Eight neighbours of a particle.
#[derive(Clone, Copy)]
pub struct Pair<'a, S: Simd> {
    pub simd: S,
    /// Rows of the neighbours; all valid.
    pub others: &'a [u32; LANES],
    /// x_i − x_j, m.
    pub x: Lanes3<S>,
    /// |x_i − x_j|, m; at least the support for lanes that do not count.
    pub r: Lanes<S>,
    /// As [`Own::volume`], m³.
    pub volume: Lanes<S>,
    /// Velocity of the neighbours, m/s.
    pub velocity: Lanes3<S>,
    /// As [`Own::pressure`], Pa.
    pub pressure: Lanes<S>,
}

/// Eight wall samples near a particle.
#[derive(Clone, Copy)]
pub struct WallPair<S: Simd> {
    pub simd: S,
    pub x: Lanes3<S>,
    pub r: Lanes<S>,
    /// Volume that the sample stands for, m³.
    pub volume: Lanes<S>,
    /// Velocity of the wall, m/s.
    pub velocity: Lanes3<S>,
    /// As [`Own::pressure`], Pa.
    pub pressure: Lanes<S>,
    /// Outward normal of the wall; zero on edges and corners.
    pub normal: Lanes3<S>,
    /// Depth of the sample behind the wall's surface, m.
    pub depth: Lanes<S>,
}

/// A force between two particles.
pub trait PairLaw: Copy + Sync {
    /// Force on the particle from each of eight neighbours, N (N/m in 2-D).
    fn force<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes3<S>;

    /// The same from wall samples.
    fn wall_force<S: Simd>(&self, _own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        Lanes3::zero(wall.simd)
    }
}

/// Makes the enum of all pair laws: the loop matches on it (a branch that never changes during a step), so that
/// every law is compiled into the loop for each instruction set.
macro_rules! pair_laws {
    ($($name:ident($law:ty)),* $(,)?) => {
        /// Any pair law.
        #[derive(Clone, Copy)]
        pub enum Law<'a> { $($name($law)),* }

        impl<'a> PairLaw for Law<'a> {
            #[inline(always)]
            fn force<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes3<S> {
                match self { $(Law::$name(law) => law.force(own, pair)),* }
            }
            #[inline(always)]
            fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
                match self { $(Law::$name(law) => law.wall_force(own, wall)),* }
            }
        }
    };
}
