//! Backward Euler with the true Jacobian, and `undamped`: one solve by conjugate gradients.

use glam::{Mat3, Vec3, Vec4};
use rayon::prelude::*;

use super::eights::Eights;
use super::forces::{Matrix, Step};
use super::rows::{MIN_ROWS, Scratch};
use crate::behaviours::Solved;
use crate::solve::conjugate_gradients::{self, Stop, System, Widen};
use crate::solve::patches::Patches;
use crate::structure::springs::Net;

impl Net {
    /// Backward Euler, or its kin without loss, by conjugate gradients.
    pub(super) fn implicit(&mut self, dt: f32, is_undamped: bool, stop: Stop) -> Solved {
        let part = if is_undamped { 0.25 } else { 1.0 };
        self.linearise(&Step { dt, part, friction: is_undamped, matrix: Matrix::True });
        let mut scratch = std::mem::take(&mut self.scratch);
        let count = self.nodes.len();
        for vector in [&mut scratch.x, &mut scratch.residual, &mut scratch.direction, &mut scratch.product] {
            vector.resize(count, Vec4::ZERO);
        }
        scratch.blocks.resize(count, [Vec4::ZERO; 3]);
        if scratch.patches.is_empty() {
            let ends: Vec<[u32; 2]> = self.springs.iter().map(|spring| spring.ends).collect();
            scratch.patches = Patches::new(count, &ends);
        }
        if scratch.eights.is_empty() {
            scratch.eights = Eights::new(self);
        }
        let Scratch {
            motion,
            old,
            mass,
            is_held,
            force,
            stiff,
            eights,
            blocks,
            patches,
            x,
            residual,
            direction,
            product,
            sums,
            ..
        } = &mut scratch;
        // Blocks of the diagonal, inverted. Held nodes have none: they are never moved.
        blocks.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(node, block)| {
            *block = [Vec4::ZERO; 3];
            if is_held[node] {
                return;
            }
            let (firm, loose) = self.firm_and_loose(node);
            let (mut outer, mut all) = (Mat3::ZERO, mass[node]);
            for half in firm {
                let stiff = stiff[half.spring as usize];
                let s = stiff.truncate();
                outer += Mat3::from_cols(s * s.x, s * s.y, s * s.z);
                all += stiff.w;
            }
            all += loose.iter().map(|half| stiff[half.spring as usize].w).sum::<f32>();
            let inverse = (outer + Mat3::from_diagonal(Vec3::splat(all))).inverse();
            *block = [inverse.x_axis, inverse.y_axis, inverse.z_axis].map(|axis| axis.extend(0.0));
        });
        patches.set(mass, is_held, stiff, |node| {
            self.halves(node).iter().map(|half| (half.spring, half.partner))
        });
        eights.set(stiff);
        x.copy_from_slice(motion);
        // What the stiffness acts on: velocities, or what has changed of them.
        product.iter_mut().enumerate().for_each(|(k, moved)| {
            *moved = if is_undamped { x[k] - old[k] } else { x[k] };
        });
        eights.times(product, residual, |node, pull| force[node] * dt - pull);
        let doubtful = (ROUNDING / stop.error.powi(2)) as f32;
        let system = System {
            apply: |p: &[Vec4], out: &mut [Vec4]| {
                eights.times(p, out, |node, pull| p[node] * mass[node] + pull);
            },
            // Held nodes are never moved.
            precondition: |node: usize, r: Vec4| {
                let [a, b, c] = blocks[node];
                a * r.x + b * r.y + c * r.z
            },
            widen: WithPatches { patches, is_held },
            // The error of the momentum that springs carry, against that momentum (and against what f32 can tell).
            measure: |node: usize, x: Vec4, r: Vec4| {
                if is_held[node] {
                    return [0.0; 2];
                }
                let (mass, carried) = (mass[node], x - motion[node]);
                let size = carried.length_squared() + doubtful * x.length_squared();
                [f64::from(r.length_squared() / mass), f64::from(mass * size)]
            },
        };
        let vectors = conjugate_gradients::Scratch { direction, product, sums };
        let solved = conjugate_gradients::solve(system, stop, x, residual, vectors);
        // The momentum of each patch is then what forces and springs from outside make of it.
        WithPatches { patches, is_held }.add(residual, x);
        self.scratch = scratch;
        solved
    }
}

/// Lets whole patches move.
struct WithPatches<'a> {
    patches: &'a mut Patches,
    is_held: &'a [bool],
}

impl Widen<Vec4> for WithPatches<'_> {
    const IS_NEEDED: bool = true;

    fn add(&mut self, residual: &[Vec4], to: &mut [Vec4]) -> f64 {
        let along = self.patches.solve(residual, self.is_held);
        let (moves, of) = self.patches.moves();
        let rows = (to, of, self.is_held).into_par_iter().with_min_len(4096);
        rows.for_each(|(to, &patch, is_held)| {
            if !is_held {
                *to += moves[patch as usize];
            }
        });
        along
    }
}

/// Square of the part of a velocity that rounding makes doubtful.
const ROUNDING: f64 = 1e-13;
