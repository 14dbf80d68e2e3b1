//! Springs as forces, and as a matrix that acts on velocities.

use glam::Vec4;
use rayon::prelude::*;

use super::rows::{MIN_ROWS, Scratch};
use crate::structure::springs::{Net, SpringKind};

/// What a step makes of springs.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// s; 0 where only forces are asked for.
    pub(super) dt: f32,
    /// Of the stiffness, what acts on velocities: 1, or 1/4.
    pub(super) part: f32,
    /// Whether forces have friction in them.
    pub(super) friction: bool,
    pub(super) matrix: Matrix,
}

/// What is made of K.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Matrix {
    None,
    /// The Jacobian, less what would make it indefinite.
    True,
    /// The same number in all directions, whatever the springs do.
    Constant,
    /// The same with no number below 0 beside the diagonal.
    Dominant,
}

impl Net {
    /// Forces of all springs where the nodes stand, and the matrix of a step; see the module.
    pub(super) fn linearise(&mut self, step: &Step) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let count = self.nodes.len();
        scratch.force.resize(count, Vec4::ZERO);
        scratch.stiff.resize(self.springs.len(), Vec4::ZERO);
        scratch.pull.resize(self.springs.len(), Vec4::ZERO);
        let (memory, late) = (scratch.memory, scratch.late_friction);
        let Scratch { place, old, strength, damping, recalled, compression, force, stiff, pull, .. } =
            &mut scratch;
        let rows = (&self.springs, &mut *pull, &mut *stiff).into_par_iter().with_min_len(4 * MIN_ROWS);
        rows.enumerate().for_each(|(number, (spring, pull, stiff))| {
            let [first, second] = spring.ends.map(|end| end as usize);
            let x = place[first] - place[second];
            let mean = (strength[first] + strength[second]) * 0.5;
            let (share, bend) = self.shares(number);
            let square = step.part * step.dt * step.dt;
            let g = bend * mean.z;
            let cg = g * (damping[2] + late);
            let mut v = Vec4::ZERO;
            *pull = x * g;
            let mut remembered = Vec4::ZERO;
            if memory > 0.0 {
                remembered = (recalled[first] - recalled[second]) * memory;
                *pull += remembered * g;
            }
            if step.friction {
                v = old[first] - old[second];
                *pull += v * cg;
            }
            if share == 0.0 {
                let w = square * g + step.dt * cg;
                *stiff = Vec4::ZERO.with_w(if step.matrix == Matrix::Dominant { w.abs() } else { w });
                return;
            }
            let length = x.length();
            let over_length = if length > 0.0 { 1.0 / length } else { 0.0 };
            let n = x * over_length;
            let stretch = length - spring.rest;
            let whole = share * mean[spring.kind as usize];
            let gives_way = stretch < 0.0 && matches!(spring.kind, SpringKind::Stretch | SpringKind::Shear);
            let k = if gives_way { whole * *compression } else { whole };
            let c = k * (damping[spring.kind as usize] + late);
            *pull += n * (k * (stretch + n.dot(remembered)));
            if step.friction {
                *pull += n * (c * n.dot(v));
            }
            *stiff = match step.matrix {
                Matrix::None => Vec4::ZERO,
                Matrix::True => {
                    let tension = k * (stretch * over_length).max(0.0);
                    let b = square * (k - tension) + step.dt * c;
                    (n * b.max(0.0).sqrt()).with_w(square * (tension + g) + step.dt * cg)
                }
                Matrix::Constant => Vec4::ZERO.with_w(square * (whole + g) + step.dt * (c + cg)),
                Matrix::Dominant => Vec4::ZERO.with_w(square * (whole + g.abs()) + step.dt * (c + cg.abs())),
            };
        });
        force.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(node, force)| {
            *force = Vec4::ZERO;
            for half in self.halves(node) {
                // Towards the second end, which has the higher number.
                let pull = pull[half.spring as usize];
                *force += if node < half.partner as usize { -pull } else { pull };
            }
        });
        self.scratch = scratch;
    }

    /// The springs' part of the matrix times a vector, at one node.
    #[inline(always)]
    pub(super) fn times(&self, stiff: &[Vec4], node: usize, x: &[Vec4]) -> Vec4 {
        let own = x[node];
        let (firm, loose) = self.firm_and_loose(node);
        let mut sum = Vec4::ZERO;
        for half in firm {
            let (d, stiff) = (own - x[half.partner as usize], stiff[half.spring as usize]);
            let s = stiff.with_w(0.0);
            sum += d * stiff.w + s * s.dot(d);
        }
        for half in loose {
            sum += (own - x[half.partner as usize]) * stiff[half.spring as usize].w;
        }
        sum
    }
}
