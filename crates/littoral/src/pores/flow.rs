//! The flow inside: one implicit step of Darcy's law for all porous particles together.
//!
//! Liquid of mass m_i in pores that hold C_i has a fill f_i = m_i/C_i and a pressure p(f_i) (`law.rs`). It flows along the ways
//! of the network (`network.rs`), from i to j and through the surface from the outside,
//!
//!   Q_ij = (ρ/μ) K_ij G_ij k(f) (Φ_i − Φ_j),   Φ = p − ρ g·x,        Q_i = (ρ/μ) K_i B_i (Φ_out − Φ_i),
//!
//! with the harmonic mean of both permeabilities, and k(f) of the one that it comes from. Pressures are those at the end of the step,
//! by Newton's method: with ψ the change of the pressures,
//!
//!   (C/p′) ψ + Δt T ψ = m⁰ − m + Δt (flows at p),
//!
//! where T is the symmetric matrix of all ways, with negative entries off its diagonal only: conjugate gradients, scaled by it. A step of
//! any length keeps fills between the lowest and the highest around.
//!
//! What is taken from one particle is given to another, whatever the solve has left: a flow is computed from both ends with the same
//! bits, in double precision. One that has less than all its flows would take gives each of them the same part of it.

use glam::DVec3;
use rayon::prelude::*;

use super::law::Law;
use super::network::Way;
use crate::behaviours::Solved;

/// Newton's steps, at most; and the change of a fill below which there are no more.
const NEWTON: u32 = 8;
const NEWTON_ERROR: f64 = 1e-4;

/// Steps of conjugate gradients in each of them, and the part of the residual that they leave.
const MOST_ITERATIONS: u32 = 80;
const RESIDUAL: f64 = 1e-4;

/// Cells in a piece of parallel work, and in a part of a sum.
const PIECE: usize = 1024;

/// A porous particle, as a step sees it. Masses and conductances are for each metre of depth in 2-D.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    /// Row of the particle, or `GONE`.
    pub row: u32,
    /// Place of its body among the porous ones.
    pub body: u32,
    /// Grain with others on all sides: open only to fluid that has come there.
    pub is_buried: bool,
    /// Liquid in its pores, kg.
    pub liquid: f64,
    /// Liquid on its outside, kg.
    pub film: f64,
    /// Liquid that its pores hold, kg.
    pub capacity: f64,
    /// P_c, Pa.
    pub strength: f64,
    /// k, Pa.
    pub stiffness: f64,
    /// ρ K/μ, s: times a conductance in metres, what one pascal drives through in a second.
    pub mobility: f64,
    /// ρ g·x, Pa.
    pub head: f64,
    /// ρ g, Pa/m.
    pub weight: DVec3,
    /// ρ K B/μ, kg/(Pa·s); 0 inside.
    pub opening: f64,
    /// Part of the opening that liquid stands before.
    pub coverage: f64,
    /// Pressure that the liquid or the air outside would have at the particle's own height, Pa.
    pub outside: f64,
    /// The same of liquid, as a mean over the last moments, Pa.
    pub felt: f64,
    pub velocity: DVec3,
    /// Of particle, liquid and film, kg.
    pub mass: f64,
}

impl Cell {
    pub fn fill(&self) -> f64 {
        self.liquid / self.capacity
    }

    /// What one pascal drives through its surface: out where it pushes; in where liquid stands.
    fn gate(&self, pressure: f64) -> f64 {
        if pressure > self.outside { self.opening } else { self.opening * self.coverage }
    }
}

/// All ways, from cell to cell: those of cell k stand at `starts[k]` to `starts[k + 1]`.
#[derive(Default)]
pub struct Ways {
    pub starts: Vec<u32>,
    pub all: Vec<Way>,
}

impl Ways {
    #[inline]
    pub fn of(&self, cell: usize) -> std::ops::Range<usize> {
        self.starts[cell] as usize..self.starts[cell + 1] as usize
    }
}

/// What a step has done to a cell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change {
    /// Liquid that has come along the ways, less what went, kg.
    pub gained: f64,
    /// Momentum of what came, less that of what went, kg·m/s.
    pub momentum: DVec3,
    /// What it asks of the outside, kg; below 0, what it gives.
    pub asked: f64,
    /// At the end of the step, Pa.
    pub pressure: f64,
}

/// Memory of the solve, kept from step to step.
#[derive(Default)]
pub struct Flow {
    fill: Vec<f64>,
    pressure: Vec<f64>,
    /// dp/df, Pa.
    slope: Vec<f64>,
    /// Of each way, kg/(Pa·s).
    transmission: Vec<f64>,
    gate: Vec<f64>,
    /// C/p′ + Δt T's diagonal.
    diagonal: Vec<f64>,
    change: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
    /// Part of what it has promised that a cell can give.
    means: Vec<f64>,
    parts: Vec<f64>,
}

impl Flow {
    /// One step of `dt`, s; `laws` are those of the bodies.
    pub fn step(
        &mut self,
        cells: &[Cell],
        ways: &Ways,
        laws: &[Law],
        dt: f64,
        changes: &mut Vec<Change>,
    ) -> Solved {
        let n = cells.len();
        for column in [
            &mut self.fill,
            &mut self.pressure,
            &mut self.slope,
            &mut self.gate,
            &mut self.diagonal,
            &mut self.change,
            &mut self.residual,
            &mut self.direction,
            &mut self.image,
            &mut self.means,
        ] {
            column.resize(n, 0.0);
        }
        self.fill.iter_mut().zip(cells).for_each(|(fill, cell)| *fill = cell.fill());
        self.find_pressures(cells, laws);
        self.find_transmissions(cells, ways, laws);
        let mut solved = Solved::default();
        for round in 0..NEWTON {
            if round > 0 {
                self.find_pressures(cells, laws);
            }
            self.aim(cells, ways, laws, dt);
            let one = self.solve(ways, dt);
            solved.iterations += one.iterations;
            solved.residual = one.residual;
            let rows = (&mut self.fill, &self.change, &self.slope).into_par_iter().with_min_len(PIECE);
            let largest = rows.map(|(fill, change, slope)| {
                let (before, after) = (*fill, *fill + change / slope);
                // Slopes are others beyond the kink at 1: no step goes past it.
                *fill = if (before - 1.0) * (after - 1.0) < 0.0 { 1.0 } else { after };
                (*fill - before).abs()
            });
            if largest.reduce(|| 0.0, f64::max) < NEWTON_ERROR {
                break;
            }
        }
        self.apply(cells, ways, dt, changes);
        solved
    }

    fn find_pressures(&mut self, cells: &[Cell], laws: &[Law]) {
        let rows = (&mut self.pressure, &mut self.slope, &mut self.gate, &self.fill).into_par_iter();
        rows.with_min_len(PIECE).zip(cells).for_each(|((pressure, slope, gate, &fill), cell)| {
            let law = &laws[cell.body as usize];
            (*pressure, *slope) = law.pressure(fill, cell.strength, cell.stiffness);
            *gate = cell.gate(*pressure);
        });
    }

    fn find_transmissions(&mut self, cells: &[Cell], ways: &Ways, laws: &[Law]) {
        let flow: Vec<f64> = cells
            .par_iter()
            .with_min_len(PIECE)
            .map(|cell| laws[cell.body as usize].flow(cell.fill()))
            .collect();
        let pressure = &self.pressure;
        let potential = |k: usize| pressure[k] - cells[k].head;
        self.transmission.resize(ways.all.len(), 0.0);
        let each = |k: usize, out: &mut [f64]| {
            let own = &cells[k];
            for (way, out) in ways.of(k).zip(out) {
                let l = ways.all[way].partner as usize;
                let other = &cells[l];
                let sum = own.mobility + other.mobility;
                let mobility = if sum > 0.0 { 2.0 * own.mobility * other.mobility / sum } else { 0.0 };
                // What flows comes from where the potential is higher.
                let (a, b) = (potential(k), potential(l));
                let passed = if a > b {
                    flow[k]
                } else if a < b {
                    flow[l]
                } else {
                    flow[k].max(flow[l])
                };
                *out = f64::from(ways.all[way].conductance) * mobility * passed;
            }
        };
        for_each_slice(&ways.starts, &mut self.transmission, each);
    }

    /// Right-hand side and diagonal for the pressures as they are.
    fn aim(&mut self, cells: &[Cell], ways: &Ways, laws: &[Law], dt: f64) {
        let (pressure, transmission) = (&self.pressure, &self.transmission);
        let (fill, gate) = (&self.fill, &self.gate);
        let steepest = |k: usize| laws[cells[k].body as usize].steepest(cells[k].strength);
        let potential = |k: usize| pressure[k] - cells[k].head;
        let rows = (&mut self.residual, &mut self.diagonal, &mut self.slope).into_par_iter();
        rows.with_min_len(PIECE).enumerate().for_each(|(k, (residual, diagonal, slope))| {
            let (cell, own) = (&cells[k], potential(k));
            let (mut flow, mut sum) = (gate[k] * (cell.outside - pressure[k]), gate[k]);
            for way in ways.of(k) {
                flow += transmission[way] * (potential(ways.all[way].partner as usize) - own);
                sum += transmission[way];
            }
            *residual = cell.liquid - fill[k] * cell.capacity + dt * flow;
            // At the kink, the slope of the side that it will go to.
            if fill[k] == 1.0 && *residual < 0.0 {
                *slope = steepest(k);
            }
            *diagonal = cell.capacity / *slope + dt * sum;
        });
    }

    /// (C/p′ + Δt T) ψ = r, from ψ = 0.
    fn solve(&mut self, ways: &Ways, dt: f64) -> Solved {
        self.change.fill(0.0);
        let product = |flow: &mut Flow| {
            let (residual, diagonal) = (&flow.residual, &flow.diagonal);
            sum_parts(&mut flow.parts, residual.len(), |k| residual[k] * residual[k] / diagonal[k])
        };
        let first = product(self);
        let (mut last, mut now, mut iterations) = (f64::INFINITY, first, 0);
        while iterations < MOST_ITERATIONS && now > RESIDUAL * RESIDUAL * first && now > 0.0 {
            iterations += 1;
            let turn = now / last;
            let rows = (&mut self.direction, &self.residual, &self.diagonal).into_par_iter();
            rows.with_min_len(PIECE).for_each(|(direction, residual, diagonal)| {
                *direction = residual / diagonal + if turn == 0.0 { 0.0 } else { turn * *direction };
            });
            let (direction, transmission, diagonal) = (&self.direction, &self.transmission, &self.diagonal);
            self.image.par_iter_mut().with_min_len(PIECE).enumerate().for_each(|(k, image)| {
                let others: f64 =
                    ways.of(k).map(|way| transmission[way] * direction[ways.all[way].partner as usize]).sum();
                *image = diagonal[k] * direction[k] - dt * others;
            });
            let (direction, image) = (&self.direction, &self.image);
            let curvature = sum_parts(&mut self.parts, image.len(), |k| direction[k] * image[k]);
            let length = now / curvature;
            let rows = (&mut self.change, &mut self.residual, direction, image).into_par_iter();
            rows.with_min_len(PIECE).for_each(|(change, residual, direction, image)| {
                *change += length * direction;
                *residual -= length * image;
            });
            (last, now) = (now, product(self));
        }
        let left = if first > 0.0 { (now / first).sqrt() } else { 0.0 };
        Solved { iterations, residual: left as f32 }
    }

    /// Flows at the pressures that were found, and what they make of each cell.
    fn apply(&mut self, cells: &[Cell], ways: &Ways, dt: f64, changes: &mut Vec<Change>) {
        let rows = self.pressure.par_iter_mut().with_min_len(PIECE).zip(&self.change);
        rows.for_each(|(pressure, change)| *pressure += change);
        let (pressure, transmission, gate) = (&self.pressure, &self.transmission, &self.gate);
        let potential = |k: usize| pressure[k] - cells[k].head;
        // From cell k, along a way.
        let flow = |k: usize, way: usize| {
            dt * transmission[way] * (potential(k) - potential(ways.all[way].partner as usize))
        };
        let outwards = |k: usize| dt * gate[k] * (pressure[k] - cells[k].outside);
        self.means.par_iter_mut().with_min_len(PIECE).enumerate().for_each(|(k, means)| {
            let promised = ways.of(k).map(|way| flow(k, way).max(0.0)).sum::<f64>() + outwards(k).max(0.0);
            // Rounding may leave less than nothing of what has been given away.
            let owned = cells[k].liquid.max(0.0);
            *means = if promised > owned { owned / promised } else { 1.0 };
        });
        let means = &self.means;
        changes.resize(cells.len(), Change::default());
        changes.par_iter_mut().with_min_len(PIECE).enumerate().for_each(|(k, change)| {
            let out = outwards(k);
            *change = Change {
                gained: 0.0,
                momentum: DVec3::ZERO,
                asked: if out > 0.0 { -out * means[k] } else { -out },
                pressure: pressure[k],
            };
            for way in ways.of(k) {
                let l = ways.all[way].partner as usize;
                let out = flow(k, way);
                let (out, velocity) = if out > 0.0 {
                    (out * means[k], cells[k].velocity)
                } else {
                    (out * means[l], cells[l].velocity)
                };
                change.gained -= out;
                change.momentum -= velocity * out;
            }
            // No more comes in than brings the pores to the pressure outside.
            let cell = &cells[k];
            let most = cell.capacity * (1.0 + cell.outside.max(0.0) / cell.stiffness);
            change.asked = change.asked.min((most - cell.liquid - change.gained).max(0.0));
        });
    }
}

/// Calls for each cell with its part of a column that stands way by way.
pub fn for_each_slice<T: Send>(starts: &[u32], column: &mut [T], each: impl Fn(usize, &mut [T]) + Sync) {
    let mut pieces = Vec::new();
    let (mut rest, mut first) = (column, 0);
    while first + 1 < starts.len() {
        let end = (first + PIECE).min(starts.len() - 1);
        let (piece, behind) = rest.split_at_mut((starts[end] - starts[first]) as usize);
        pieces.push((first..end, piece));
        (rest, first) = (behind, end);
    }
    pieces.into_par_iter().for_each(|(cells, piece)| {
        let base = starts[cells.start];
        for k in cells {
            each(k, &mut piece[(starts[k] - base) as usize..(starts[k + 1] - base) as usize]);
        }
    });
}

/// Σ over all cells, in a fixed order.
fn sum_parts(parts: &mut Vec<f64>, n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    parts.resize(n.div_ceil(PIECE), 0.0);
    parts.par_iter_mut().enumerate().for_each(|(part, sum)| {
        *sum = (part * PIECE..((part + 1) * PIECE).min(n)).map(&term).sum();
    });
    parts.iter().sum()
}
