//! Forces of bodies that hold a shape, and the solve that bears them at any time step.
//!
//! The energy of a body is a sum over its nodes [Mueller2004; Kugelstadt2021],
//!
//!   U = Σ_i V_i ψ(ε_i) + ½ Σ_i Σ_j w_ij e_ij·H_i e_ij,
//!
//! with the bonds, weights, fits F and what those leave, e = x_ji − F_i X_ji, of `structure/bonds.rs`. The strain is seen from the
//! rotation R that is nearest to F: ε = sym(RᵀF) − 1 (corotated), or ε = ½(FᵀF − 1) (Green). Hooke's law is
//! ψ = μ ε:ε + ½λ (tr ε)². The second sum holds what a linear fit cannot see: particles that go to and fro against their
//! neighbours (zero-energy modes [Ganzenmueller2015]); and, across a layer, its bending: see `behaviours/shell.rs`.
//!
//! Because e is orthogonal to the fit, the force is short. With M_i = V_i P_i A_i⁻¹ − H_i F_i and P = ∂ψ/∂F,
//!
//!   f_i = Σ_j w_ij [(M_i + M_j) X_ji + (H_i + H_j) x_ji]:
//!
//! whatever i feels from j, j feels from i, turned around. U does not change when the body turns, so that angular
//! momentum is kept too.
//!
//! Friction inside the material (Kelvin and Voigt) is the same law for ε + τ ε̇, with τ the viscosity over the modulus: the force
//! of the places x + τ v, with rotations as they are. No rotation is resisted.
//!
//! **Implicit.** With rotations held for a step, the force of the places at its end is f(x) + Δt K v, and
//!
//!   m v − Δt(Δt + τ) K v = m v* + Δt f(x)
//!
//! is solved for v by conjugate gradients ([Peer2018] does so for K of the same kind), with v* the velocities after all other forces. K is what a strain
//! of sym(Rᵀ δF) makes of Hooke's law: −K is symmetric, never negative. When they stop, velocities become v + r/m with r the residual, as in
//! `behaviours/implicit_viscosity.rs`: momentum is kept to rounding. A body that spins sees no strain in its velocities, and is
//! not slowed down; vibrations faster than the step are damped, as by any backward step.
//!
//! Cloth made of distances ([Lenaerts2009, 4.4.2]) has U = ½ Σ w_ij κ_ij (|x_ij| − |X_ij|)²: see `behaviours/sph_cloth.rs`.

use glam::{DVec3, Mat3, Quat, Vec3, Vec4};
use rayon::prelude::*;

use crate::behaviours::{Around, Solved};
use crate::columns::{ELASTIC_CHANGE, MASS, PIN, POSITION, REFERENCE, ROTATION, VELOCITY};
use crate::neighbourhood::Periods;
use crate::particles::Particles;
use crate::simd::{Level, Row, Simd, SimdBase, dispatch, load};
use crate::solids::Wrench;
use crate::solve::conjugate_gradients::{self, Entry, Narrow, Scratch, Stop, System};
use crate::structure::bonds::{Bond, Bonds, Fit};
use crate::structure::{Nodes, Pins, nodes::GONE};

/// Stiffness against what a linear fit leaves, over Young's modulus. The fit sees too little of the bending of the
/// outermost particles, and this adds what it lacks: at 0.9, beams of four
/// to eight particles bend as they should, within 5 and 1 %.
const HOLD: f32 = 0.9;

/// Nodes handled together by one thread.
const PIECE: usize = 64;

/// Square of the part of a velocity that rounding makes doubtful.
const ROUNDING: f64 = 1e-13;

/// What the nodes of a body make of their bonds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A volume: all strains.
    Solid,
    /// One layer: strains in its surface, and its bending.
    Layer,
    /// One layer: distances, and nothing else.
    Distances,
}

/// A body that holds its shape, with room to work in.
pub struct Elastic {
    pub body: u32,
    pub form: Form,
    pub bonds: Bonds,
    /// Node of the first member.
    first: u32,
    is_flat: bool,
    /// Members that were gone when bonds were last looked at.
    gone: usize,
    rows: Vec<u32>,
    pub matter: Vec<Matter>,
    place: Vec<Vec4>,
    turn: Vec<Quat>,
    pub flow: Vec<Flow>,
    pulls: Vec<Pull>,
    mass: Vec<f32>,
    pin: Vec<u32>,
    start: Vec<Vec4>,
    velocity: Vec<Vec4>,
    residual: Vec<Vec4>,
    direction: Vec<Vec4>,
    product: Vec<Vec4>,
    blocks: Vec<[Vec3; 3]>,
    sums: Vec<[f64; 3]>,
}

/// What a member is made of, now.
#[derive(Clone, Copy, Debug, Default)]
pub struct Matter {
    /// Young's modulus E, Pa.
    pub modulus: f32,
    /// Lamé's λ and μ, Pa; for a layer, those of plane stress.
    pub lame: f32,
    pub shear: f32,
    /// Rigidity over thickness, Pa·m²; layers only.
    pub rigidity: f32,
    /// τ, s.
    pub retardation: f32,
    /// Strain by Green instead of by rotation.
    pub is_green: bool,
    /// Stress at which it flows, Pa.
    pub yield_stress: f32,
    /// Strain that liquid in its pores has given it, in all directions.
    pub swelling: f32,
    /// Pressure of that liquid on what is around it, Pa.
    pub pore_stress: f32,
    /// What full pores add to λ, Pa: they yield to no quick change of volume. Their pressure is found once in some steps, and the solve
    /// must know how it will answer. It answers to places and not to speeds, as the rest does with τ: it is less by Δt/(Δt + τ).
    pub pore_stiffness: f32,
}

/// Strain that a member has got used to.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Plastic strain, seen from the rotation.
    pub strain: Mat3,
    /// All that it ever flowed.
    pub total: f32,
}

/// M and H of a member.
#[derive(Clone, Copy, Debug, Default)]
struct Pull {
    /// The columns of M; the fourth number of the first is h of H = h + l n⊗n.
    columns: [Vec4; 3],
    /// n and l: across layers; else zero.
    across: Vec4,
}

impl Pull {
    #[inline(always)]
    fn hold(&self) -> f32 {
        self.columns[0].w
    }

    /// H.
    fn held(&self) -> Mat3 {
        let normal = self.across.truncate();
        Mat3::from_diagonal(Vec3::splat(self.hold())) + outer(normal, normal) * self.across.w
    }
}

impl Elastic {
    /// `gone`: how many of its nodes were gone when the bonds were made.
    pub fn new(
        body: u32,
        form: Form,
        nodes: std::ops::Range<u32>,
        bonds: Bonds,
        is_flat: bool,
        gone: usize,
    ) -> Elastic {
        let n = bonds.len();
        Elastic {
            body,
            form,
            first: nodes.start,
            is_flat,
            gone,
            rows: vec![0; n],
            matter: vec![Matter::default(); n],
            place: vec![Vec4::ZERO; n],
            turn: vec![Quat::IDENTITY; n],
            flow: Vec::new(),
            pulls: vec![Pull::default(); n],
            mass: vec![0.0; n],
            pin: vec![0; n],
            start: vec![Vec4::ZERO; n],
            velocity: vec![Vec4::ZERO; n],
            residual: vec![Vec4::ZERO; n],
            direction: vec![Vec4::ZERO; n],
            product: vec![Vec4::ZERO; n],
            blocks: vec![[Vec3::ZERO; 3]; n],
            sums: Vec::new(),
            bonds,
        }
    }

    /// Rows of the members; `GONE` for those that are no more.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Nodes of the members.
    pub fn nodes(&self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.bonds.len()
    }

    /// Finds the members, and cuts the bonds of those that a sink has taken. Before anything else in a step.
    pub fn find(&mut self, nodes: &Nodes, particles: &mut Particles) {
        let own = self.nodes();
        self.rows.copy_from_slice(&nodes.rows()[own]);
        let gone = self.rows.iter().filter(|&&row| row == GONE).count();
        if gone != self.gone {
            self.gone = gone;
            let mut lost = Vec::new();
            for k in (0..self.bonds.len()).filter(|&k| self.rows[k] == GONE) {
                let left = self.bonds.of(k).iter().filter(|bond| bond.weight > 0.0);
                lost.extend(left.map(|bond| [k as u32, bond.partner]));
            }
            self.cut(&lost, particles);
        }
    }

    /// Cuts bonds, and numbers the pieces.
    pub fn cut(&mut self, pairs: &[[u32; 2]], particles: &mut Particles) {
        if pairs.is_empty() {
            return;
        }
        self.bonds.cut(pairs);
        let reference = particles.get_mut(&REFERENCE);
        for (row, piece) in self.rows.iter().zip(self.bonds.pieces()).filter(|(row, _)| **row != GONE) {
            reference[*row as usize].w = piece as f32;
        }
    }

    pub fn load_places(&mut self, particles: &Particles) {
        let position = particles.get(&POSITION);
        for (place, &row) in self.place.iter_mut().zip(&self.rows) {
            if row != GONE {
                *place = position[row as usize];
            }
        }
    }

    /// Loads places and rotations, finds strains and stresses there, and leaves M and H.
    pub fn strain(&mut self, periods: &Periods, particles: &mut Particles) {
        self.load_places(particles);
        if self.form == Form::Distances {
            return;
        }
        let mut rotation = particles.take(&ROTATION);
        for (turn, &row) in self.turn.iter_mut().zip(&self.rows) {
            if row != GONE {
                *turn = Quat::from_vec4(rotation[row as usize]);
                // As it was born: zeros.
                if turn.length_squared() == 0.0 {
                    *turn = Quat::IDENTITY;
                }
            }
        }
        let (bonds, place, matter, is_flat) = (&self.bonds, &self.place, &self.matter, self.is_flat);
        let (level, periods) = (Level::new(), Some(periods).filter(|periods| periods.any()));
        let node = |k: usize, turn: &mut Quat, flow: Option<&mut Flow>| {
            let fit = &bonds.fits[k];
            let sum = dispatch!(level, simd => sum_of(simd, k, bonds, place, periods));
            let f = complete(sum * fit.inverse, fit, is_flat, *turn);
            *turn = nearest_rotation(f, *turn);
            stress(f, Mat3::from_quat(*turn), fit, &matter[k], flow)
        };
        let rows = (&mut self.pulls, &mut self.turn).into_par_iter().with_min_len(PIECE).enumerate();
        if self.flow.is_empty() {
            rows.for_each(|(k, (pull, turn))| *pull = node(k, turn, None));
        } else {
            let rows = (&mut self.pulls, &mut self.turn, &mut self.flow).into_par_iter();
            let rows = rows.with_min_len(PIECE).enumerate();
            rows.for_each(|(k, (pull, turn, flow))| *pull = node(k, turn, Some(flow)));
        }
        for (turn, &row) in self.turn.iter().zip(&self.rows) {
            if row != GONE {
                rotation[row as usize] = Vec4::from(*turn);
            }
        }
        particles.put(&ROTATION, rotation);
    }

    /// Adds f(x) + τ K v over the mass to accelerations, after [`Elastic::strain`].
    pub fn accelerate(&mut self, periods: &Periods, particles: &Particles, acceleration: &mut [Vec4]) {
        let mut force = std::mem::take(&mut self.residual);
        self.forces(periods, &mut force);
        if self.matter.iter().any(|matter| matter.retardation > 0.0) {
            let velocity = particles.get(&VELOCITY);
            for (v, &row) in self.velocity.iter_mut().zip(&self.rows) {
                *v = if row == GONE { Vec4::ZERO } else { velocity[row as usize] };
            }
            let mut friction = std::mem::take(&mut self.product);
            let (mut pulls, v) = (std::mem::take(&mut self.pulls), std::mem::take(&mut self.velocity));
            self.stiffness(&v, |matter| matter.retardation, &mut pulls, &mut friction);
            force.iter_mut().zip(&friction).for_each(|(f, g)| *f += *g);
            (self.product, self.pulls, self.velocity) = (friction, pulls, v);
        }
        let mass = particles.get(&MASS);
        for (f, &row) in force.iter().zip(&self.rows).filter(|(_, row)| **row != GONE) {
            acceleration[row as usize] += *f / mass[row as usize];
        }
        self.residual = force;
    }

    /// Changes velocities as the forces at the end of the step do, after [`Elastic::strain`].
    pub fn solve(
        &mut self,
        around: &Around,
        periods: &Periods,
        pins: &Pins,
        particles: &mut Particles,
        pushes: &mut [Wrench],
    ) -> Solved {
        let dt = around.dt;
        let stop =
            Stop { error: around.solver.viscosity_error.into(), most_iterations: around.solver.iterations };
        let (mut all, mut changes) = (particles.take(&VELOCITY), particles.take(&ELASTIC_CHANGE));
        let held = particles.try_get(&PIN);
        for (k, &row) in self.rows.iter().enumerate() {
            // Who is gone has no bonds: any mass will do.
            let gone = row == GONE;
            let row = if gone { 0 } else { row as usize };
            self.mass[k] = if gone { 1.0 } else { particles.get(&MASS)[row] };
            self.pin[k] = held.map_or(0, |held| if gone { 0 } else { held[row] });
            self.start[k] = if gone { Vec4::ZERO } else { all[row] };
            let change = if gone || self.pin[k] > 0 { Vec4::ZERO } else { changes[row] };
            self.velocity[k] = self.start[k] + change;
        }

        // r = m (v* − v) + Δt f(x) + Δt(Δt + τ) K v.
        let take = |vector: &mut Vec<Vec4>| std::mem::take(vector);
        let (mut x, mut residual) = (take(&mut self.velocity), take(&mut self.residual));
        let (mut direction, mut product) = (take(&mut self.direction), take(&mut self.product));
        let mut pulls = std::mem::take(&mut self.pulls);
        let mut sums = std::mem::take(&mut self.sums);
        let factor = |matter: &Matter| dt * (dt + matter.retardation);
        self.forces_of(&pulls, periods, &mut residual);
        self.stiffness(&x, factor, &mut pulls, &mut product);
        let (mass, start, pin) = (&self.mass, &self.start, &self.pin);
        residual.iter_mut().enumerate().for_each(|(k, r)| {
            *r = *r * dt + product[k] + (start[k] - x[k]) * mass[k];
        });
        let mut blocks = std::mem::take(&mut self.blocks);
        self.diagonal(factor, &mut blocks);

        let system = System {
            apply: |p: &[Vec4], out: &mut [Vec4]| {
                self.stiffness(p, factor, &mut pulls, out);
                let rows = out.par_iter_mut().with_min_len(1024).enumerate();
                rows.for_each(|(k, out)| *out = p[k] * mass[k] - *out);
            },
            widen: Narrow,
            precondition: |k: usize, r: Vec4| {
                let [a, b, c] = blocks[k];
                let r = r.truncate();
                Vec4::new(a.dot(r), b.dot(r), c.dot(r), 0.0)
            },
            measure: |k: usize, x: Vec4, r: Vec4| {
                if pin[k] > 0 {
                    return [0.0; 2];
                }
                let (mass, carried) = (f64::from(mass[k]), x - start[k]);
                let doubtful = ROUNDING / stop.error.powi(2) * x.times(x);
                [r.times(r) / mass, mass * (carried.times(carried) + doubtful)]
            },
        };
        let scratch = Scratch { direction: &mut direction, product: &mut product, sums: &mut sums };
        let solved = conjugate_gradients::solve(system, stop, &mut x, &mut residual, scratch);

        // What is left of the error is added as a force would: momentum is kept. While it is large, that would throw
        // stiff things about: the body as a whole gets its momentum, unless somebody holds it.
        let is_done = f64::from(solved.residual) <= stop.error;
        let is_free = pin.iter().all(|&pin| pin == 0);
        let defect = residual.iter().fold(glam::DVec4::ZERO, |sum, r| sum + r.as_dvec4());
        let whole = mass.iter().map(|&mass| f64::from(mass)).sum::<f64>();
        let shift = if is_free { (defect / whole).as_vec4() } else { Vec4::ZERO };
        let place = &self.place;
        for (k, &row) in self.rows.iter().enumerate().filter(|(_, row)| **row != GONE) {
            if pin[k] > 0 {
                // What it takes to hold the particle is the holder's.
                if let Some(solid) = pins.solid_of(pin[k]).filter(|&solid| around.solids[solid].is_free()) {
                    let force = (residual[k].truncate() / dt).as_dvec3();
                    let arm: DVec3 = place[k].truncate().as_dvec3() - around.solids[solid].pose.position;
                    pushes[solid] += Wrench { force, torque: arm.cross(force) };
                }
                continue;
            }
            let now = x[k] + if is_done { residual[k] / mass[k] } else { shift };
            changes[row as usize] = now - start[k];
            all[row as usize] = now;
        }
        (self.velocity, self.residual, self.direction, self.product) = (x, residual, direction, product);
        (self.pulls, self.blocks, self.sums) = (pulls, blocks, sums);
        particles.put(&VELOCITY, all);
        particles.put(&ELASTIC_CHANGE, changes);
        solved
    }

    /// f(x) of all members, N, after [`Elastic::strain`].
    pub fn forces(&self, periods: &Periods, out: &mut [Vec4]) {
        self.forces_of(&self.pulls, periods, out);
    }

    fn forces_of(&self, pulls: &[Pull], periods: &Periods, out: &mut [Vec4]) {
        let (bonds, place, matter) = (&self.bonds, &self.place, &self.matter);
        let way = |k: usize, bond: &Bond| {
            let way = place[bond.partner as usize] - place[k];
            if periods.any() { periods.nearest(way).truncate() } else { way.truncate() }
        };
        if self.form != Form::Distances {
            let periods = Some(periods).filter(|periods| periods.any());
            pull_all(bonds, pulls, place, periods, out);
            return;
        }
        let force = |k: usize| {
            bonds.of(k).iter().fold(Vec3::ZERO, |sum, bond| {
                let way = way(k, bond);
                let longer = way.length() - bond.rest.length();
                let stiffness = pair_stiffness(k, bond, bonds, matter, |_| 1.0);
                sum + way.normalize_or_zero() * (stiffness * longer)
            })
        };
        let rows = out.par_iter_mut().with_min_len(PIECE).enumerate();
        rows.for_each(|(k, out)| *out = force(k).extend(0.0));
    }

    /// K y of all members, where `factor` of each multiplies its stiffness. Leaves M and H of that in `pulls`.
    fn stiffness(
        &self,
        y: &[Vec4],
        factor: impl Fn(&Matter) -> f32 + Sync + Copy,
        pulls: &mut [Pull],
        out: &mut [Vec4],
    ) {
        let (bonds, matter, turn, place) = (&self.bonds, &self.matter, &self.turn, &self.place);
        if self.form == Form::Distances {
            let way = |k: usize, bond: &Bond| (y[bond.partner as usize] - y[k]).truncate();
            let rows = out.par_iter_mut().with_min_len(PIECE).enumerate();
            rows.for_each(|(k, out)| {
                let force = bonds.of(k).iter().fold(Vec3::ZERO, |sum, bond| {
                    let along = (place[bond.partner as usize] - place[k]).truncate().normalize_or_zero();
                    let stiffness = pair_stiffness(k, bond, bonds, matter, factor);
                    sum + along * (stiffness * along.dot(way(k, bond)))
                });
                *out = force.extend(0.0);
            });
            return;
        }
        let level = Level::new();
        pulls.par_chunks_mut(PIECE).enumerate().for_each(|(piece, pulls)| {
            dispatch!(level, simd => {
                for (k, pull) in (piece * PIECE..).zip(pulls) {
                    let (fit, matter) = (&bonds.fits[k], &matter[k]);
                    let df = sum_of(simd, k, bonds, y, None) * fit.inverse;
                    let r = Mat3::from_quat(turn[k]);
                    let strain = fit.span * symmetric(r.transpose() * df) * fit.span;
                    let stress = hooke(strain, matter) + fit.span * (matter.pore_stiffness * trace(strain));
                    *pull = pull_of(r * stress, df, r, fit, matter, factor(matter));
                }
            });
        });
        pull_all(bonds, pulls, y, None, out);
    }

    /// Inverses of the blocks of 3 × 3 on the diagonal of m − K; zero for those that are held.
    fn diagonal(&self, factor: impl Fn(&Matter) -> f32 + Sync, blocks: &mut [[Vec3; 3]]) {
        let (bonds, place) = (&self.bonds, &self.place);
        // What a node's energy makes of the place of one whose part in its fit is g.
        let of_fit = |node: usize, g: Vec3| {
            let (fit, matter) = (&bonds.fits[node], &self.matter[node]);
            let r = Mat3::from_quat(self.turn[node]);
            let (q, across) = (r * g, r * fit.span * r.transpose());
            let block = across * (matter.shear * g.length_squared())
                + outer(q, q) * (matter.shear + matter.lame + matter.pore_stiffness);
            block * (fit.volume * factor(matter))
        };
        let hold = |node: usize| {
            let (fit, matter) = (&bonds.fits[node], &self.matter[node]);
            let r = Mat3::from_quat(self.turn[node]);
            pull_of(Mat3::ZERO, Mat3::ZERO, r, fit, matter, factor(matter)).held()
        };
        blocks.par_iter_mut().with_min_len(PIECE).enumerate().for_each(|(k, block)| {
            if self.pin[k] > 0 {
                *block = [Vec3::ZERO; 3];
                return;
            }
            let mut sum = Mat3::from_diagonal(Vec3::splat(self.mass[k]));
            if self.form == Form::Distances {
                for bond in bonds.of(k) {
                    let along = (place[bond.partner as usize] - place[k]).truncate().normalize_or_zero();
                    sum += outer(along, along) * pair_stiffness(k, bond, bonds, &self.matter, &factor);
                }
            } else {
                let (own, mut lean) = (hold(k), Vec3::ZERO);
                for bond in bonds.of(k).iter().filter(|bond| bond.weight > 0.0) {
                    let partner = bond.partner as usize;
                    sum += of_fit(partner, bonds.fits[partner].inverse * bond.rest * bond.weight);
                    sum += (own + hold(partner)) * bond.weight;
                    lean += bond.rest * bond.weight;
                }
                sum += of_fit(k, bonds.fits[k].inverse * lean);
            }
            let inverse = sum.inverse();
            // Symmetric: columns are rows.
            *block = [inverse.x_axis, inverse.y_axis, inverse.z_axis];
        });
    }

    /// U, J, after [`Elastic::strain`]: for tests and validations.
    pub fn energy(&self, periods: &Periods) -> f64 {
        let (bonds, place, matter) = (&self.bonds, &self.place, &self.matter);
        let way = |k: usize, bond: &Bond| periods.nearest(place[bond.partner as usize] - place[k]).truncate();
        let of = |k: usize| -> f64 {
            let (fit, matter) = (&bonds.fits[k], &matter[k]);
            if self.form == Form::Distances {
                let pair = |bond: &Bond| {
                    let longer = way(k, bond).length() - bond.rest.length();
                    f64::from(pair_stiffness(k, bond, bonds, &self.matter, |_| 1.0) * longer * longer)
                };
                return 0.25 * bonds.of(k).iter().map(pair).sum::<f64>();
            }
            let f = self.gradient(k, periods);
            let r = Mat3::from_quat(self.turn[k]);
            let strain = fit.span * (strain_of(f, r, matter)) * fit.span;
            let stress = hooke(strain, matter);
            let density = 0.5 * double_dot(strain, stress);
            let held = pull_of(Mat3::ZERO, Mat3::ZERO, r, fit, matter, 1.0).held();
            let left = bonds.of(k).iter().map(|bond| {
                let e = way(k, bond) - f * bond.rest;
                f64::from(bond.weight * e.dot(held * e))
            });
            f64::from(density * fit.volume) + 0.5 * left.sum::<f64>()
        };
        (0..bonds.len()).map(of).sum()
    }

    /// Deformation gradient of a member as it was at the last [`Elastic::strain`].
    pub fn gradient(&self, member: usize, periods: &Periods) -> Mat3 {
        let fit = &self.bonds.fits[member];
        let level = Level::new();
        let sum = dispatch!(level, simd => sum_of(simd, member, &self.bonds, &self.place, Some(periods)));
        complete(sum * fit.inverse, fit, self.is_flat, self.turn[member])
    }

    /// Where a bond's ends are from each other, over how far they were at rest.
    pub fn stretch(&self, member: usize, bond: &Bond, periods: &Periods) -> f32 {
        let way = self.place[bond.partner as usize] - self.place[member];
        periods.nearest(way).length() / bond.rest.length()
    }
}

/// y_ji, to the nearest image where there are periods.
#[inline(always)]
fn way<S: Simd>(simd: S, own: &Vec4, other: &Vec4, periods: Option<&Periods>) -> Row<S> {
    match periods {
        Some(periods) => load(simd, &periods.nearest(*other - *own)),
        None => load(simd, other) - load(simd, own),
    }
}

/// Σ w y ⊗ X. A row is a vector, and each number of X multiplies one at a time: rows of neighbours are loaded as they are.
#[inline(always)]
fn sum_of<S: Simd>(simd: S, k: usize, bonds: &Bonds, y: &[Vec4], periods: Option<&Periods>) -> Mat3 {
    let zero = Row::splat(simd, 0.0);
    let (mut a, mut b, mut c) = (zero, zero, zero);
    for bond in bonds.of(k) {
        let y = way(simd, &y[k], &y[bond.partner as usize], periods) * Row::splat(simd, bond.weight);
        a += y * Row::splat(simd, bond.rest.x);
        b += y * Row::splat(simd, bond.rest.y);
        c += y * Row::splat(simd, bond.rest.z);
    }
    Mat3::from_cols(vector(a), vector(b), vector(c))
}

/// Σ w [(M_i + M_j) X + (H_i + H_j) y].
#[inline(always)]
fn pulled<S: Simd>(
    simd: S,
    k: usize,
    bonds: &Bonds,
    pulls: &[Pull],
    y: &[Vec4],
    periods: Option<&Periods>,
) -> Vec3 {
    let own = &pulls[k];
    let (a, b, c) = (load(simd, &own.columns[0]), load(simd, &own.columns[1]), load(simd, &own.columns[2]));
    let mut sum = Row::splat(simd, 0.0);
    for bond in bonds.of(k) {
        let other = &pulls[bond.partner as usize];
        let y = way(simd, &y[k], &y[bond.partner as usize], periods);
        // The same sums at both ends, in whatever order: the force is the other's, turned around, to the last bit.
        let mut force = (a + load(simd, &other.columns[0])) * Row::splat(simd, bond.rest.x)
            + (b + load(simd, &other.columns[1])) * Row::splat(simd, bond.rest.y)
            + (c + load(simd, &other.columns[2])) * Row::splat(simd, bond.rest.z)
            + (y * Row::splat(simd, own.hold()) + y * Row::splat(simd, other.hold()));
        if own.across.w != 0.0 || other.across.w != 0.0 {
            let y = vector(y);
            let lifted = |pull: &Pull| pull.across * (pull.across.w * pull.across.truncate().dot(y));
            force += load(simd, &(lifted(own) + lifted(other)));
        }
        sum += force * Row::splat(simd, bond.weight);
    }
    vector(sum)
}

fn pull_all(bonds: &Bonds, pulls: &[Pull], y: &[Vec4], periods: Option<&Periods>, out: &mut [Vec4]) {
    let level = Level::new();
    out.par_chunks_mut(PIECE).enumerate().for_each(|(piece, out)| {
        dispatch!(level, simd => {
            for (k, out) in (piece * PIECE..).zip(out) {
                *out = pulled(simd, k, bonds, pulls, y, periods).extend(0.0);
            }
        });
    });
}

#[inline(always)]
fn vector<S: Simd>(row: Row<S>) -> Vec3 {
    let [x, y, z, _] = row.to_array();
    Vec3::new(x, y, z)
}

/// Gives a fit the directions that it says nothing of: across a layer its normal, else what they were.
fn complete(f: Mat3, fit: &Fit, is_flat: bool, turn: Quat) -> Mat3 {
    if is_flat {
        return f + outer(Vec3::Z, Vec3::Z);
    }
    if fit.normal != Vec3::ZERO {
        let [a, b, c] = [f.x_axis, f.y_axis, f.z_axis];
        let normal = Mat3::from_cols(b.cross(c), c.cross(a), a.cross(b)) * fit.normal;
        return f + outer(normal.try_normalize().unwrap_or(turn * fit.normal), fit.normal);
    }
    f + Mat3::from_quat(turn) * (Mat3::IDENTITY - fit.span)
}

/// The rotation R for which tr(RᵀF) is largest, by Newton's method from one that is near; where that has no use, as
/// [Mueller2016] goes. F may be turned inside out.
fn nearest_rotation(f: Mat3, start: Quat) -> Quat {
    let mut turn = start;
    for _ in 0..30 {
        let c = Mat3::from_quat(turn).transpose() * f;
        let torque = Vec3::new(c.y_axis.z - c.z_axis.y, c.z_axis.x - c.x_axis.z, c.x_axis.y - c.y_axis.x);
        let s = symmetric(c);
        let trace = s.x_axis.x + s.y_axis.y + s.z_axis.z;
        let slope = Mat3::from_diagonal(Vec3::splat(trace)) - s;
        let minor = slope.x_axis.x * slope.y_axis.y - slope.x_axis.y * slope.y_axis.x;
        let determinant = slope.determinant();
        let size = c.x_axis.length_squared() + c.y_axis.length_squared() + c.z_axis.length_squared();
        let is_hill = slope.x_axis.x > 0.0 && minor > 0.0 && determinant > 1e-3 * size * size.sqrt();
        let by = if is_hill { slope.inverse() * torque } else { torque / (trace.abs() + 1e-6 * size.sqrt()) };
        let by = by.clamp_length_max(1.0);
        // A turn by 2 atan(|by|/2): the same to first order, and exactly rounded.
        turn = (turn * Quat::from_xyzw(0.5 * by.x, 0.5 * by.y, 0.5 * by.z, 1.0)).normalize();
        if by.length_squared() < 1e-8 {
            break;
        }
    }
    turn
}

fn strain_of(f: Mat3, r: Mat3, matter: &Matter) -> Mat3 {
    if matter.is_green {
        (f.transpose() * f - Mat3::IDENTITY) * 0.5
    } else {
        symmetric(r.transpose() * f) - Mat3::IDENTITY
    }
}

/// M and H of a member with gradient F and rotation R, after its material has flowed as far as it must.
fn stress(f: Mat3, r: Mat3, fit: &Fit, matter: &Matter, flow: Option<&mut Flow>) -> Pull {
    let mut strain = fit.span * strain_of(f, r, matter) * fit.span - fit.span * matter.swelling;
    if let Some(flow) = flow {
        strain -= flow.strain;
        strain = flow.give_way(strain, matter);
    }
    // Effective stress [Lenaerts2009, Eq. 6.11]: what the liquid bears, the body need not.
    let stress = hooke(strain, matter) - fit.span * matter.pore_stress;
    let piola = if matter.is_green { f * stress } else { r * stress };
    pull_of(piola, f, r, fit, matter, 1.0)
}

impl Default for Flow {
    fn default() -> Flow {
        Flow { strain: Mat3::ZERO, total: 0.0 }
    }
}

impl Flow {
    /// Von Mises' criterion: takes from an elastic strain what makes √(3/2) |dev σ| more than the yield stress.
    pub(crate) fn give_way(&mut self, strain: Mat3, matter: &Matter) -> Mat3 {
        let third = trace(strain) / 3.0;
        let deviator = strain - Mat3::from_diagonal(Vec3::splat(third));
        let size = double_dot(deviator, deviator).sqrt();
        let most = matter.yield_stress / (6.0f32.sqrt() * matter.shear);
        if size.is_nan() || size <= most {
            return strain;
        }
        let part = deviator * (1.0 - most / size);
        self.strain += part;
        self.total += (2.0f32 / 3.0).sqrt() * (size - most);
        strain - part
    }
}

#[inline(always)]
fn hooke(strain: Mat3, matter: &Matter) -> Mat3 {
    strain * (2.0 * matter.shear) + Mat3::from_diagonal(Vec3::splat(matter.lame * trace(strain)))
}

/// M = V P A⁻¹ − H F and H, times a factor.
#[inline(always)]
fn pull_of(piola: Mat3, f: Mat3, r: Mat3, fit: &Fit, matter: &Matter, factor: f32) -> Pull {
    let hold = if fit.spread > 0.0 { HOLD * matter.modulus * fit.volume / fit.spread * factor } else { 0.0 };
    let mut across = Vec4::ZERO;
    let mut held = f * hold;
    if matter.rigidity > 0.0 && fit.fourth > 0.0 {
        // A curvature κ leaves κ r²cos²θ/2; the mean of cos⁴θ is 3/8.
        let bend = 32.0 / 3.0 * matter.rigidity * fit.volume / fit.fourth * factor;
        let normal = r * fit.normal;
        across = normal.extend(bend - hold);
        held += outer(normal, f.transpose() * normal) * across.w;
    }
    let map = piola * fit.inverse * (fit.volume * factor) - held;
    Pull { columns: [map.x_axis.extend(hold), map.y_axis.extend(0.0), map.z_axis.extend(0.0)], across }
}

/// Stiffness of a bond that knows its length only, N/m. Bonds in all directions of a plane, each with κ, have Young's
/// modulus κ Σ w r²/6V and Poisson's ratio 1/3.
#[inline(always)]
fn pair_stiffness(
    k: usize,
    bond: &Bond,
    bonds: &Bonds,
    matter: &[Matter],
    factor: impl Fn(&Matter) -> f32,
) -> f32 {
    let one = |k: usize| {
        let (fit, matter) = (&bonds.fits[k], &matter[k]);
        if fit.spread > 0.0 { matter.modulus * fit.volume / fit.spread * factor(matter) } else { 0.0 }
    };
    // Σ w r² = 2 spread in a plane: 6/2, and the mean of both ends.
    1.5 * (one(k) + one(bond.partner as usize)) * bond.weight
}

#[inline(always)]
fn trace(m: Mat3) -> f32 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

#[inline(always)]
fn symmetric(m: Mat3) -> Mat3 {
    (m + m.transpose()) * 0.5
}

/// a ⊗ b.
fn outer(a: Vec3, b: Vec3) -> Mat3 {
    Mat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn double_dot(a: Mat3, b: Mat3) -> f32 {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}
