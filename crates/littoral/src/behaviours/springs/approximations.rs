//! Backward Euler with one number for each spring: `filter` and `neighbours`.

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use super::forces::{Matrix, Step};
use super::rows::{MIN_ROWS, Scratch};
use crate::behaviours::Solved;
use crate::solve::skyline::Skyline;
use crate::structure::springs::{Half, Net};

impl Net {
    /// Right-hand side of the approximations: Δt times all forces, and the friction that makes them stable.
    fn impulses(&mut self, dt: f32, matrix: Matrix) {
        self.linearise(&Step { dt, part: 1.0, friction: true, matrix });
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.residual.resize(self.nodes.len(), Vec4::ZERO);
        let Scratch { motion, old, mass, is_held, force, stiff, residual, .. } = &mut scratch;
        residual.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(node, r)| {
            let springs = force[node] * dt - self.times(stiff, node, old);
            *r = springs + (motion[node] - old[node]) * if is_held[node] { 0.0 } else { mass[node] };
        });
        self.scratch = scratch;
    }

    /// Two sweeps of Jacobi's method.
    pub(super) fn neighbours(&mut self, dt: f32) -> Solved {
        self.impulses(dt, Matrix::Dominant);
        let mut scratch = std::mem::take(&mut self.scratch);
        let count = self.nodes.len();
        scratch.x.resize(count, Vec4::ZERO);
        scratch.product.resize(count, Vec4::ZERO);
        let Scratch { motion, old, mass, is_held, stiff, residual, product, x, .. } = &mut scratch;
        let of = |half: &Half| stiff[half.spring as usize].w;
        let diagonal = |node: usize| mass[node] + self.halves(node).iter().map(of).sum::<f32>();
        product.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(node, first)| {
            *first = if is_held[node] { Vec4::ZERO } else { residual[node] / diagonal(node) };
        });
        x.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(node, x)| {
            let around = self.halves(node).iter();
            let others: Vec4 = around.map(|half| product[half.partner as usize] * of(half)).sum();
            *x = if is_held[node] {
                motion[node]
            } else {
                old[node] + (residual[node] + others) / diagonal(node)
            };
        });
        self.scratch = scratch;
        Solved { iterations: 2, residual: 0.0 }
    }

    /// A factor of the constant matrix, applied.
    pub(super) fn filter(&mut self, dt: f32) -> Solved {
        self.impulses(dt, Matrix::Constant);
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut factor = std::mem::take(&mut scratch.factor);
        let is_new = factor.renew(self, &scratch);
        scratch.x.clear();
        scratch.x.extend_from_slice(&scratch.residual);
        factor.solve(&scratch.is_held, &mut scratch.x);
        let Scratch { x, old, motion, is_held, .. } = &mut scratch;
        for (k, x) in x.iter_mut().enumerate() {
            *x = if is_held[k] { motion[k] } else { old[k] + *x };
        }
        scratch.factor = factor;
        self.scratch = scratch;
        Solved { iterations: u32::from(is_new), residual: 0.0 }
    }
}

/// Cholesky's factor of M + Δt² K. The inverse itself, as in [Desbrun1999], is full.
#[derive(Default)]
pub(super) struct Factor {
    /// What the matrix was made of.
    key: Vec<f32>,
    matrix: Skyline,
    solution: Vec<DVec3>,
}

impl Factor {
    /// Factors again if anything has changed; tells whether.
    fn renew(&mut self, net: &Net, scratch: &Scratch) -> bool {
        let held = scratch.is_held.iter().map(|held| f32::from(u8::from(*held)));
        let key =
            || scratch.stiff.iter().map(|s| s.w).chain(scratch.mass.iter().copied()).chain(held.clone());
        if key().eq(self.key.iter().copied()) {
            return false;
        }
        self.key = key().collect();
        let count = net.nodes.len();
        let is_free = |node: usize, other: u32| !scratch.is_held[other as usize] && !scratch.is_held[node];
        let first = |node: usize| {
            let partners = net.halves(node).iter().map(|half| half.partner);
            partners
                .filter(|&other| is_free(node, other))
                .min()
                .map_or(node as u32, |least| least.min(node as u32))
        };
        self.matrix = Skyline::new((0..count).map(first));
        for node in 0..count {
            for half in net.halves(node) {
                let (other, stiff) =
                    (half.partner as usize, f64::from(scratch.stiff[half.spring as usize].w));
                if other < node && is_free(node, half.partner) {
                    *self.matrix.at(node, other) -= stiff;
                }
                *self.matrix.at(node, node) += stiff;
            }
            *self.matrix.at(node, node) += f64::from(scratch.mass[node]);
        }
        self.matrix.factor();
        true
    }

    /// Solves for the free nodes; the others get 0.
    fn solve(&mut self, is_held: &[bool], x: &mut [Vec4]) {
        self.solution.clear();
        let start = |(x, held): (&Vec4, &bool)| if *held { DVec3::ZERO } else { x.truncate().as_dvec3() };
        self.solution.extend(x.iter().zip(is_held).map(start));
        self.matrix.solve(&mut self.solution);
        x.iter_mut().zip(&self.solution).for_each(|(x, y)| *x = y.as_vec3().extend(0.0));
    }
}
