//! What a pair law sees, and what it gives back.
//!
//! A law is a small pure function: two rows and their distance in, a force out. It is written over eight
//! neighbours at once and knows nothing of loops, threads or lists. Forces are sums over a particle's own
//! neighbours only, so a law must be antisymmetric in the two particles for momentum to be kept.

use glam::Vec4;

use crate::kernels::Kernel;
use crate::scene::Dimensions;
use crate::simd::{LANES, Lanes, Lanes3, Simd, gather_scalar, splat};

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

/// How much shorter the world's support is than those of a pair: 1/s for a support of s h.
#[derive(Clone, Copy)]
pub struct Shrink<S: Simd> {
    pub own: Lanes<S>,
    pub other: Lanes<S>,
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
    /// `None` where all particles have one size: then it costs nothing.
    pub shrink: Option<Shrink<S>>,
}

/// Eight wall samples near a particle.
#[derive(Clone, Copy)]
pub struct WallPair<'a, S: Simd> {
    pub simd: S,
    /// Rows of the samples; all valid.
    pub others: &'a [u32; LANES],
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
    /// See [`crate::walls::Walls::hold`].
    pub holds: &'a [f32],
    /// That of the particle: a wall has no size of its own. `None` where all have one size.
    pub shrink: Option<Lanes<S>>,
}

impl<S: Simd> WallPair<'_, S> {
    /// How firmly each sample holds what passes it: 1 for no slip, 0 for free slip. Loaded only when asked for.
    #[inline(always)]
    pub fn hold(&self) -> Lanes<S> {
        // SAFETY: all rows are valid, and the loop has compared the column's length with theirs.
        unsafe { gather_scalar(self.simd, self.holds, self.others) }
    }
}

/// Kernels as the pair has them: laws ask here, not the kernel itself, so that a pair may have a support of its own.
///
/// With u = 1/s, a kernel of the support s h is W(r; s h) = u^d W(u r; h).
macro_rules! kernels_of_pair {
    ($pair:ident) => {
        impl<S: Simd> $pair<'_, S> {
            /// W.
            #[inline(always)]
            pub fn w(&self, kernel: &Kernel) -> Lanes<S> {
                w(kernel, self.r, self.mean_shrink())
            }

            /// What x_i − x_j is multiplied by to give ∇W.
            #[inline(always)]
            pub fn gradient_over_r(&self, kernel: &Kernel) -> Lanes<S> {
                gradient_over_r(kernel, self.r, self.mean_shrink())
            }

            /// ∇²W.
            #[inline(always)]
            pub fn laplacian(&self, kernel: &Kernel) -> Lanes<S> {
                match self.mean_shrink() {
                    None => kernel.laplacian(self.r),
                    Some(u) => kernel.laplacian(self.r * u) * power(kernel, u) * (u * u),
                }
            }

            /// A part of h², as many times as the square of the pair's size.
            #[inline(always)]
            pub fn area(&self, area: f32) -> Lanes<S> {
                match self.mean_shrink() {
                    None => splat(self.simd, area),
                    Some(u) => splat(self.simd, area) / (u * u),
                }
            }
        }
    };
}
kernels_of_pair!(Pair);
kernels_of_pair!(WallPair);

impl<S: Simd> Pair<'_, S> {
    /// For the support (h_i + h_j)/2, which makes every law symmetric.
    #[inline(always)]
    fn mean_shrink(&self) -> Option<Lanes<S>> {
        self.shrink.map(|Shrink { own, other }| own * other * 2.0 / (own + other))
    }

    /// W for the support of the particle itself.
    #[inline(always)]
    pub fn own_w(&self, kernel: &Kernel) -> Lanes<S> {
        w(kernel, self.r, self.shrink.map(|shrink| shrink.own))
    }

    /// [`Pair::gradient_over_r`] for the support of the particle itself.
    #[inline(always)]
    pub fn own_gradient_over_r(&self, kernel: &Kernel) -> Lanes<S> {
        gradient_over_r(kernel, self.r, self.shrink.map(|shrink| shrink.own))
    }

    /// The same for the neighbour's.
    #[inline(always)]
    pub fn other_gradient_over_r(&self, kernel: &Kernel) -> Lanes<S> {
        gradient_over_r(kernel, self.r, self.shrink.map(|shrink| shrink.other))
    }
}

impl<S: Simd> WallPair<'_, S> {
    #[inline(always)]
    fn mean_shrink(&self) -> Option<Lanes<S>> {
        self.shrink
    }
}

#[inline(always)]
fn w<S: Simd>(kernel: &Kernel, r: Lanes<S>, shrink: Option<Lanes<S>>) -> Lanes<S> {
    match shrink {
        None => kernel.w(r),
        Some(u) => kernel.w(r * u) * power(kernel, u),
    }
}

#[inline(always)]
fn gradient_over_r<S: Simd>(kernel: &Kernel, r: Lanes<S>, shrink: Option<Lanes<S>>) -> Lanes<S> {
    match shrink {
        None => kernel.gradient_over_r(r),
        Some(u) => kernel.gradient_over_r(r * u) * power(kernel, u) * (u * u),
    }
}

/// u^d.
#[inline(always)]
fn power<S: Simd>(kernel: &Kernel, u: Lanes<S>) -> Lanes<S> {
    match kernel.dimensions {
        Dimensions::Two => u * u,
        Dimensions::Three => u * u * u,
    }
}

/// A sum over the neighbours of every particle: whatever is not a force ([`PairLaw`]).
pub trait Sum: Sync {
    /// What has been added up so far, for each of eight lanes.
    type Partial<S: Simd>: Copy;
    type Total: Send;

    /// Whether a particle's sum is that over no neighbours at all, whoever they are.
    fn skips(&self, _own: &Own) -> bool {
        false
    }

    fn start<S: Simd>(&self, simd: S) -> Self::Partial<S>;

    /// Adds eight neighbours; terms must vanish for lanes out of reach, as kernels do.
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut Self::Partial<S>);

    /// Adds eight wall samples.
    fn add_walls<S: Simd>(&self, _own: &Own, _wall: &WallPair<S>, _partial: &mut Self::Partial<S>) {}

    fn finish<S: Simd>(&self, own: &Own, partial: Self::Partial<S>) -> Self::Total;
}

/// Eight neighbours of a particle whose kernels are known from before ([`crate::backend::cpu::Slopes`]).
#[derive(Clone, Copy)]
pub struct SlopedPair<'a, S: Simd> {
    pub simd: S,
    /// Rows of the neighbours; all valid.
    pub others: &'a [u32; LANES],
    /// x_i − x_j, m.
    pub x: Lanes3<S>,
    /// What x is multiplied by to give ∇W; zero for lanes that do not count.
    pub gradient_over_r: Lanes<S>,
    /// As [`Own::volume`], m³.
    pub volume: Lanes<S>,
    /// Velocity of the neighbours, m/s.
    pub velocity: Lanes3<S>,
}

/// A sum of gradients that is taken again and again while positions stay, as in a solve; over particles only.
pub trait SlopedSum: Sync {
    /// Whether gradients are those of the neighbours' kernels, where these have supports of their own.
    const OF_OTHERS: bool;
    type Partial<S: Simd>: Copy;
    type Total: Send;

    /// As [`Sum::skips`].
    fn skips(&self, _own: &Own) -> bool {
        false
    }

    fn start<S: Simd>(&self, simd: S) -> Self::Partial<S>;

    fn add<S: Simd>(&self, own: &Own, pair: &SlopedPair<S>, partial: &mut Self::Partial<S>);

    fn finish<S: Simd>(&self, own: &Own, partial: Self::Partial<S>) -> Self::Total;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::KernelName;
    use crate::simd::*;

    /// A stretched kernel is the kernel of the longer support, in 2-D and 3-D.
    #[test]
    fn a_pair_has_the_kernel_of_its_own_support() {
        for (dimensions, name) in [Dimensions::Two, Dimensions::Three]
            .into_iter()
            .flat_map(|d| KernelName::NAMES.map(|(_, n)| (d, n)))
        {
            let kernel = |support: f64| Kernel::new(name, dimensions, support);
            let (own, other) = (1.6, 2.4);
            let (h, r) = (0.1, 0.11f32);
            dispatch!(Level::new(), simd => {
                let lanes = |v: f32| splat(simd, v);
                let pair = Pair {
                    simd,
                    others: &[0; LANES],
                    x: Lanes3::splat(simd, [r, 0.0, 0.0]),
                    r: lanes(r),
                    volume: lanes(1.0),
                    velocity: Lanes3::zero(simd),
                    pressure: lanes(0.0),
                    shrink: Some(Shrink { own: lanes(1.0 / own), other: lanes(1.0 / other) }),
                };
                let near = |got: Lanes<_>, want: f32| {
                    let got = got.to_array()[0];
                    // f32; the kernels' own constants are rounded too.
                    assert!((got - want).abs() <= 2e-5 * want.abs().max(1e-3), "{name:?}: {got} for {want}");
                };
                let basic = kernel(h);
                let [small, mean, large] = [own, 0.5 * (own + other), other].map(|s| kernel(h * f64::from(s)));
                near(pair.w(&basic), mean.w_at(r));
                near(pair.gradient_over_r(&basic), mean.slope_at(r) / r);
                near(pair.laplacian(&basic), mean.laplacian_at(r));
                near(pair.own_w(&basic), small.w_at(r));
                near(pair.own_gradient_over_r(&basic), small.slope_at(r) / r);
                near(pair.other_gradient_over_r(&basic), large.slope_at(r) / r);
                near(pair.area(1.0), 4.0);
            });
        }
    }
}
