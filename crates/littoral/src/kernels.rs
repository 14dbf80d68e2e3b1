//! Smoothing kernels: W, its derivative and its Laplacian, in 2-D and 3-D.
//!
//! Everything is written in q = r/h, where **h is the support radius**: W is zero from r = h on. (The cubic
//! spline's smoothing length, and Desbrun's h, are half of ours.) With C the normalisation over the plane or
//! space, a = max(0, 1 − q) and b = max(0, ½ − q):
//!
//! | kernel       | W/C                       | C in 2-D    | C in 3-D     |
//! |--------------|---------------------------|-------------|--------------|
//! | cubic spline | 2a³ − 8b³                 | 40/(7πh²)   | 8/(πh³)      |
//! | poly6        | (1 − q²)³                 | 4/(πh²)     | 315/(64πh³)  |
//! | spiky        | a³                        | 10/(πh²)    | 15/(πh³)     |
//! | viscosity    | see below                 | 40/(πh²)    | 15/(2πh³)    |
//! | Desbrun      | a³                        | 10/(πh²)    | 15/(πh³)     |
//! | Wendland C2  | a⁴(4q + 1)                | 7/(πh²)     | 21/(2πh³)    |
//!
//! Desbrun's kernel [Bayraktar2010, Eq. 3.34], written for a support of 2h, is the spiky kernel
//! [Bayraktar2010, Eq. 3.35] on its own support; we keep both names. The spline's normalisation 1/(πh)
//! printed there (Eq. 3.33) is neither the 2-D nor the 3-D one.
//!
//! Wendland's kernel is beyond the seeds: its Fourier transform is positive, so that particles do not pair up
//! when the support holds many of them [Dehnen2012].
//!
//! The viscosity kernel is defined by a Laplacian proportional to 1 − q with W = W' = 0 at the edge. In 3-D
//! that is [Mueller2003] −q³/2 + q² + 1/(2q) − 1. In 2-D, integrating (qW')'/q twice gives
//! q²/4 − q³/9 − ln(q)/6 − 5/36. Both are singular at r = 0, so neither can be used for density.
//!
//! Kept honest by the tests below and by `littoral validate kernel-moments`.

use std::f64::consts::PI;

use crate::scene::{Dimensions, KernelName};
use crate::simd::*;

/// A kernel with its support and dimension fixed.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    pub name: KernelName,
    pub dimensions: Dimensions,
    /// Support radius h, m.
    pub support: f32,
    per_support: f32,
    /// C, and C/h, C/h² for the derivatives.
    value: f32,
    slope: f32,
    curvature: f32,
}

impl Kernel {
    pub fn new(name: KernelName, dimensions: Dimensions, support: f64) -> Kernel {
        let h = support;
        let c = match dimensions {
            Dimensions::Two => match name {
                KernelName::CubicSpline => 40.0 / (7.0 * PI * h * h),
                KernelName::Poly6 => 4.0 / (PI * h * h),
                KernelName::Spiky | KernelName::Desbrun => 10.0 / (PI * h * h),
                KernelName::Viscosity => 40.0 / (PI * h * h),
                KernelName::Wendland => 7.0 / (PI * h * h),
            },
            Dimensions::Three => match name {
                KernelName::CubicSpline => 8.0 / (PI * h.powi(3)),
                KernelName::Poly6 => 315.0 / (64.0 * PI * h.powi(3)),
                KernelName::Spiky | KernelName::Desbrun => 15.0 / (PI * h.powi(3)),
                KernelName::Viscosity => 15.0 / (2.0 * PI * h.powi(3)),
                KernelName::Wendland => 21.0 / (2.0 * PI * h.powi(3)),
            },
        };
        Kernel {
            name,
            dimensions,
            support: h as f32,
            per_support: (1.0 / h) as f32,
            value: c as f32,
            slope: (c / h) as f32,
            curvature: (c / (h * h)) as f32,
        }
    }

    /// 1/h, and the factors of value, slope and Laplacian: what a device needs beside the kernel's name.
    pub fn factors(&self) -> [f32; 4] {
        [self.per_support, self.value, self.slope, self.curvature]
    }

    /// The same kernel times a factor: see [`crate::discretisation`].
    pub fn scaled(self, factor: f64) -> Kernel {
        let scale = |v: f32| (f64::from(v) * factor) as f32;
        Kernel {
            value: scale(self.value),
            slope: scale(self.slope),
            curvature: scale(self.curvature),
            ..self
        }
    }

    /// W(r).
    #[inline(always)]
    pub fn w<S: Simd>(&self, r: Lanes<S>) -> Lanes<S> {
        let (q, a, b) = self.pieces(r);
        let shape = match self.name {
            KernelName::CubicSpline => a * a * a * 2.0 - b * b * b * 8.0,
            KernelName::Poly6 => cube(self.one_minus_q2(q)),
            KernelName::Spiky | KernelName::Desbrun => a * a * a,
            KernelName::Viscosity => self.viscosity_shape(q, a),
            KernelName::Wendland => a * a * a * a * (q * 4.0 + 1.0),
        };
        shape * self.value
    }

    /// dW/dr ÷ r, so that ∇W = x · this; finite at r = 0, where the gradient is taken as zero.
    #[inline(always)]
    pub fn gradient_over_r<S: Simd>(&self, r: Lanes<S>) -> Lanes<S> {
        // Below a millionth of the support the direction is noise; x is zero there, and so is the product.
        let tiny = splat(r.token(), self.support * 1e-6);
        self.slope(r) / r.max(tiny)
    }

    /// dW/dr.
    #[inline(always)]
    pub fn slope<S: Simd>(&self, r: Lanes<S>) -> Lanes<S> {
        let (q, a, b) = self.pieces(r);
        let shape = match self.name {
            KernelName::CubicSpline => b * b * 24.0 - a * a * 6.0,
            KernelName::Poly6 => {
                let t = self.one_minus_q2(q);
                t * t * q * -6.0
            }
            KernelName::Spiky | KernelName::Desbrun => a * a * -3.0,
            KernelName::Wendland => a * a * a * q * -20.0,
            KernelName::Viscosity => {
                let q = q.max(splat(r.token(), 1e-6));
                let slope = match self.dimensions {
                    Dimensions::Two => q * 0.5 - q * q * (1.0 / 3.0) - splat(r.token(), 1.0 / 6.0) / q,
                    Dimensions::Three => q * q * -1.5 + q * 2.0 - splat(r.token(), 0.5) / (q * q),
                };
                a.simd_gt(splat(r.token(), 0.0)).select(slope, splat(r.token(), 0.0))
            }
        };
        shape * self.slope
    }

    /// ∇²W = W'' + (d − 1) W'/r.
    #[inline(always)]
    pub fn laplacian<S: Simd>(&self, r: Lanes<S>) -> Lanes<S> {
        let (q, a, b) = self.pieces(r);
        let sides = self.dimensions.count() as f32 - 1.0;
        let q_safe = q.max(splat(r.token(), 1e-6));
        let shape = match self.name {
            KernelName::CubicSpline => (a * 12.0 - b * 48.0) + (b * b * 24.0 - a * a * 6.0) * sides / q_safe,
            KernelName::Poly6 => {
                let t = self.one_minus_q2(q);
                t * (q * q * 24.0 - t * (6.0 * (sides + 1.0)))
            }
            KernelName::Spiky | KernelName::Desbrun => a * 6.0 - a * a * (3.0 * sides) / q_safe,
            KernelName::Wendland => a * a * ((q * 4.0 - 1.0) - a * sides) * 20.0,
            // 2-D: C(1 − q); 3-D: 6C(1 − q), which is 45/(πh⁵)(1 − q) as published.
            KernelName::Viscosity => match self.dimensions {
                Dimensions::Two => a,
                Dimensions::Three => a * 6.0,
            },
        };
        shape * self.curvature
    }

    #[inline(always)]
    fn pieces<S: Simd>(&self, r: Lanes<S>) -> (Lanes<S>, Lanes<S>, Lanes<S>) {
        let simd = r.token();
        let q = r * self.per_support;
        let zero = splat(simd, 0.0);
        (q, (splat(simd, 1.0) - q).max(zero), (splat(simd, 0.5) - q).max(zero))
    }

    #[inline(always)]
    fn one_minus_q2<S: Simd>(&self, q: Lanes<S>) -> Lanes<S> {
        (splat(q.token(), 1.0) - q * q).max(splat(q.token(), 0.0))
    }

    #[inline(always)]
    fn viscosity_shape<S: Simd>(&self, q: Lanes<S>, a: Lanes<S>) -> Lanes<S> {
        let simd = q.token();
        let q = q.max(splat(simd, 1e-6));
        let shape = match self.dimensions {
            Dimensions::Two => {
                let ln = Lanes::load_array(simd, q.to_array().map(f32::ln));
                q * q * 0.25 - cube(q) * (1.0 / 9.0) - ln * (1.0 / 6.0) - 5.0 / 36.0
            }
            Dimensions::Three => cube(q) * -0.5 + q * q + splat(simd, 0.5) / q - 1.0,
        };
        a.simd_gt(splat(simd, 0.0)).select(shape, splat(simd, 0.0))
    }

    // Single values, for set-up and tests: the same code, fed one distance.

    pub fn w_at(&self, r: f32) -> f32 {
        one(self, r, Which::Value)
    }

    pub fn slope_at(&self, r: f32) -> f32 {
        one(self, r, Which::Slope)
    }

    pub fn laplacian_at(&self, r: f32) -> f32 {
        one(self, r, Which::Laplacian)
    }
}

#[inline(always)]
fn cube<S: Simd>(v: Lanes<S>) -> Lanes<S> {
    v * v * v
}

#[derive(Clone, Copy)]
enum Which {
    Value,
    Slope,
    Laplacian,
}

fn one(kernel: &Kernel, r: f32, which: Which) -> f32 {
    dispatch!(Level::baseline(), simd => {
        let r = splat(simd, r);
        let v = match which {
            Which::Value => kernel.w(r),
            Which::Slope => kernel.slope(r),
            Which::Laplacian => kernel.laplacian(r),
        };
        v.to_array()[0]
    })
}

/// Σ V f(x, r) over a lattice of particles `spacing` apart, without the particle at the centre.
///
/// Laws use it to find how far a sum over particles at rest is from the integral it stands for.
pub fn lattice_sum(kernel: &Kernel, spacing: f64, f: impl Fn([f64; 3], f64) -> f64) -> f64 {
    let reach = (f64::from(kernel.support) / spacing).ceil() as i32;
    let depth = if kernel.dimensions == Dimensions::Three { reach } else { 0 };
    let volume = spacing.powi(kernel.dimensions.count() as i32);
    let mut sum = 0.0;
    for i in -reach..=reach {
        for j in -reach..=reach {
            for k in -depth..=depth {
                if (i, j, k) != (0, 0, 0) {
                    let x = [i, j, k].map(|n| f64::from(n) * spacing);
                    sum += volume * f(x, (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt());
                }
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMENSIONS: [Dimensions; 2] = [Dimensions::Two, Dimensions::Three];

    fn all() -> impl Iterator<Item = Kernel> {
        DIMENSIONS
            .into_iter()
            .flat_map(|d| KernelName::NAMES.iter().map(move |&(_, name)| Kernel::new(name, d, 0.3)))
    }

    /// ∫ f over the disc or ball of radius h, by the midpoint rule.
    fn integral(kernel: &Kernel, f: impl Fn(f32) -> f64) -> f64 {
        let n = 20_000;
        let h = f64::from(kernel.support);
        (0..n)
            .map(|k| {
                let r = h * (f64::from(k) + 0.5) / f64::from(n);
                let shell = match kernel.dimensions {
                    Dimensions::Two => 2.0 * PI * r,
                    Dimensions::Three => 4.0 * PI * r * r,
                };
                f(r as f32) * shell * h / f64::from(n)
            })
            .sum()
    }

    #[test]
    fn every_kernel_integrates_to_one() {
        for kernel in all() {
            let mass = integral(&kernel, |r| f64::from(kernel.w_at(r)));
            assert!((mass - 1.0).abs() < 1e-3, "{kernel:?}: {mass}"); // f32 cancellation near the edge
        }
    }

    #[test]
    fn slope_is_the_derivative_of_the_value() {
        for kernel in all() {
            for k in 1..40 {
                let r = kernel.support * k as f32 / 41.0;
                let d = kernel.support * 1e-3;
                let numeric = (kernel.w_at(r + d) - kernel.w_at(r - d)) / (2.0 * d);
                let scale = kernel.slope_at(r).abs() + 0.05 * kernel.value / kernel.support;
                let error = (kernel.slope_at(r) - numeric).abs() / scale;
                assert!(error < 5e-3, "{kernel:?} at {r}: {} against {numeric}", kernel.slope_at(r));
            }
        }
    }

    #[test]
    fn laplacian_is_the_divergence_of_the_gradient() {
        for kernel in all() {
            let power = kernel.dimensions.count() as i32 - 1;
            for k in 2..40 {
                let r = kernel.support * k as f32 / 41.0;
                let d = kernel.support * 1e-3;
                let flux = |r: f32| f64::from(r).powi(power) * f64::from(kernel.slope_at(r));
                let numeric = (flux(r + d) - flux(r - d)) / f64::from(2.0 * d) / f64::from(r).powi(power);
                let scale = numeric.abs() + 0.5 * f64::from(kernel.curvature);
                let error = (f64::from(kernel.laplacian_at(r)) - numeric).abs() / scale;
                assert!(error < 1e-2, "{kernel:?} at {r}: {} against {numeric}", kernel.laplacian_at(r));
            }
        }
    }

    #[test]
    fn viscosity_laplacian_reproduces_a_quadratic_field() {
        // ∫ ∇²W r²/(2d) = 1 by Green's theorem: Σ V (v_j − v_i) ∇²W then is ∇²v.
        for dimensions in DIMENSIONS {
            let kernel = Kernel::new(KernelName::Viscosity, dimensions, 0.3);
            let d = dimensions.count() as f64;
            let moment =
                integral(&kernel, |r| f64::from(kernel.laplacian_at(r)) * f64::from(r * r) / (2.0 * d));
            assert!((moment - 1.0).abs() < 1e-4, "{dimensions:?}: {moment}");
        }
    }

    #[test]
    fn nothing_beyond_the_support() {
        for kernel in all() {
            for r in [0.3, 0.31, 1.0, 1e9] {
                assert_eq!(kernel.w_at(r), 0.0);
                assert_eq!(kernel.slope_at(r), 0.0);
                assert_eq!(kernel.laplacian_at(r), 0.0);
            }
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for kernel in all() {
            let r = std::array::from_fn::<f32, 8, _>(|k| 0.037 * k as f32);
            let evaluate = |level: Level| {
                dispatch!(level, simd => {
                    let r = Lanes::load_array(simd, r);
                    [kernel.w(r), kernel.slope(r), kernel.laplacian(r)].map(|v| v.to_array().map(f32::to_bits))
                })
            };
            assert_eq!(evaluate(Level::baseline()), evaluate(Level::new()), "{kernel:?}");
        }
    }
}
