//! Springs: cloth, ropes, and soft bodies.
//!
//! A spring of the constant k pulls its ends i and j together with
//!
//!   f_i = −(k (|x| − L) + c n·v) n,   x = x_i − x_j,  v = v_i − v_j,  n = x/|x|,
//!
//! and bending adds −g x for pairs that need no length at rest [Ozgen2013, Eq. 6.1; Bayraktar2010, Eq. 4.2, where the sign
//! of the friction is misprinted]. Where k, g and L come from is told in `structure/springs.rs`. Friction is c = τk: a time τ for
//! each kind, whatever the resolution.
//!
//! Springs may remember [Ozgen2010, Eq. 5]: k_d D^q x of both ends in the place of c v, along n, with k_d = `memory` k; q = ½ lies
//! between a spring and a friction. D^q x at the end of a step is what is known of it plus γ times the new velocity (`memory.rs`), so
//! that to the solve it is a pull k_d n n·(known_i − known_j) and a friction k_d γ: stable whatever the step. What is
//! remembered are ways, not strains: a body that turns by an angle φ within its memory feels some φ² of it.
//!
//! Four ways lead from forces to velocities:
//!
//! - `implicit`: backward Euler with the true Jacobian [BaraffWitkin1998]. With u the velocities after all other forces,
//!   (M + Δt D + Δt² K) v = M u + Δt f(x), where a spring contributes K = k (n nᵀ + max(0, 1 − L/|x|)(1 − n nᵀ)) + g.
//!   Without the max, a compressed spring would make the matrix indefinite. Conjugate gradients start from u, so that however
//!   early they stop they have only taken energy away (from last step's change, what is not yet solved would go on from step
//!   to step, and shake the cloth). Blocks of 3 × 3 and whole patches precondition them (`solve/patches.rs`); the patches have the last word, so that
//!   each has the momentum that forces give it. An oscillation of frequency ω loses ω²Δt/2 of its amplitude in a second: as by
//!   friction with τ = Δt.
//! - `undamped`: the same with K/4, acting on the *change* of velocity: (M + Δt D + Δt² K/4)(v − v₀) = M(u − v₀) + Δt f(x, v₀). With velocities
//!   half a step behind positions that is the mean of the force at x − Δt v₀, x, x and x + Δt v: of second order, stable at any step for
//!   linear springs, and without loss.
//! - `explicit`: a force like any other; the step is limited by the stiffest node.
//! - `filter` [Desbrun1999] and `neighbours` [Kang2000; Bayraktar2010, Eqs. 5.37–5.45]: backward Euler with K_ij = −k for whatever direction. The
//!   matrix then changes only with the step: `filter` factors it once and again whenever the step, a mass, a stiffness, a
//!   pin or a cut changes. `neighbours` does two sweeps of Jacobi's method instead,
//!   Δv_i ≈ (Δt f̃_i + Δt² Σ k_ij Δt f̃_j/(m_j + Δt² Σ_l k_jl))/(m_i + Δt² Σ_j k_ij), with f̃_i = f_i + Δt Σ k_ij (v_j − v_i), f of all forces.
//!   [Bayraktar2010] prints h for Δt in Eq. 5.42, i for j in 5.43, and H_ii = k n_i without its minus. Both resist turning.
//!
//! Pinned nodes keep their velocity: their rows have no unknown. `docs/springs.md` compares the methods.
//! Kept honest by `littoral validate catenary`, `hanging-cloth` and `pendulum`, and by the tests below.
//!
//! The parts: `schema.rs`, what can be set; `rows.rs`, what a step fetches and keeps; `forces.rs`, springs as forces and as a matrix; `eights.rs`, the same times a vector;
//! `implicit.rs`, `undamped` too; `approximations.rs`, `filter` and `neighbours`; `tear.rs`.

mod approximations;
mod eights;
mod forces;
mod implicit;
mod rows;
mod schema;
mod tear;
#[cfg(test)]
mod tests;

pub use rows::Scratch;
pub use schema::{FILTER, SCHEMA, may_remember, remember};

use glam::{DVec3, Vec4};

use crate::behaviour::{BehaviourUse, Schema, Value};
use crate::behaviours::past::{self, number as constant};
use crate::behaviours::{Around, Behaviour, LimitState, Solved};
use crate::columns::{MASS, PIN, REFERENCE, SPRING_MEMORY, SPRING_PAST, TORN, VELOCITY};
use crate::discretisation::Discretisation;
use crate::memory::{Measure, PastColumns, Remembers};
use crate::particles::{Particles, Vectors};
use crate::resolve::Resolved;
use crate::scene::Dimensions;
use crate::solids::Wrench;
use crate::solve::conjugate_gradients::Stop;
use crate::solve::fractional::Of;
use crate::structure::nodes::GONE;
use crate::structure::springs::{Builder, Net};
use crate::structure::{Structure, open, slots};
use crate::timestep::{Limit, Limits};
use forces::{Matrix, Step};
use schema::Method;

static COLUMNS: PastColumns<Vectors> =
    PastColumns { source: &VELOCITY, past: &SPRING_PAST, result: &SPRING_MEMORY };

pub struct Springs;

impl Behaviour for Springs {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn holds_shape(&self) -> bool {
        true
    }

    fn require_columns(&self, particles: &mut Particles) {
        particles.require(&TORN);
    }

    fn remembers(&self, now: &Resolved) -> Option<Remembers<Vectors>> {
        let used = now.uses().find(|used| remember(used))?;
        Some(Remembers {
            order: constant(used, "order"),
            of: Of::Rates,
            reach: past::reach(used),
            measure: Measure::Derivative,
            columns: &COLUMNS,
        })
    }

    fn link(&self, now: &Resolved, d: &Discretisation, structure: &mut Structure, particles: &mut Particles) {
        structure.nets.clear();
        let bodies: Vec<u32> = structure.nodes.bodies().map(|(body, _)| body).collect();
        for body in bodies {
            if let Some(used) = now.used_by(body) {
                let mut net = make(body, used, d, structure, particles);
                let rows = &structure.nodes.rows()[net.nodes.start as usize..net.nodes.end as usize];
                let mass = particles.get(&MASS);
                let mass: Vec<f32> =
                    rows.iter().map(|&row| if row == GONE { 1.0 } else { mass[row as usize] }).collect();
                net.weigh(&mass);
                structure.nets.push(net);
            }
        }
    }

    fn strain(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        acceleration: &mut [Vec4],
    ) {
        for k in 0..structure.nets.len() {
            let Structure { nets, nodes, sheets, limited, .. } = structure;
            let net = &mut nets[k];
            let Some(used) = now.used_by(net.body) else { continue };
            let rows = &nodes.rows()[net.nodes.start as usize..net.nodes.end as usize];
            let is_explicit = Method::of(used) == Method::Explicit;
            let tears = now.of_body(net.body, "tear_strain", around.time).is_some_and(|strain| strain > 0.0);
            if !(is_explicit || tears || rows.contains(&GONE)) {
                continue;
            }
            net.scratch.gather(rows, now, particles, around.dt);
            if net.tear() {
                let torn = particles.get_mut(&TORN);
                let slots = slots(net.first_triangles());
                for triangle in net.gone_triangles() {
                    let (node, bit) = slots[triangle];
                    if let Some(row) = nodes.row(node) {
                        torn[row] |= 1 << bit;
                    }
                }
                open(net, sheets, limited);
            }
            if is_explicit {
                net.linearise(&Step { dt: 0.0, part: 0.0, friction: true, matrix: Matrix::None });
                for ((&row, force), mass) in rows.iter().zip(&net.scratch.force).zip(&net.scratch.mass) {
                    if row != GONE {
                        acceleration[row as usize] += *force / *mass;
                    }
                }
            }
        }
    }

    fn has_solve(&self, used: &BehaviourUse) -> bool {
        Method::of(used) != Method::Explicit
    }

    fn solve(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        pushes: &mut [Wrench],
    ) -> Option<Solved> {
        let mut worst: Option<Solved> = None;
        let history = around.histories.iter().find(|history| history.keeps(&COLUMNS));
        let mut known = particles.workspace.borrow(if history.is_some() { particles.len() } else { 0 });
        let slope =
            history.map_or(0.0, |history| history.foresee(f64::from(around.dt), particles, &mut known));
        let Structure { nets, nodes, pins, .. } = structure;
        for net in nets {
            let Some(used) = now.used_by(net.body) else { continue };
            let method = Method::of(used);
            if method == Method::Explicit {
                continue;
            }
            let rows = &nodes.rows()[net.nodes.start as usize..net.nodes.end as usize];
            net.scratch.gather(rows, now, particles, around.dt);
            let memory = now.of_body(net.body, "memory", around.time).unwrap_or(0.0);
            net.scratch.recall(rows, memory, slope, &known);
            let solved = match method {
                Method::Filter => net.filter(around.dt),
                Method::Neighbours => net.neighbours(around.dt),
                _ => {
                    let of_body =
                        |name: &str| now.of_body(net.body, name, around.time).expect("it has springs");
                    let error = f64::from(of_body("error"));
                    let stop = Stop { error, most_iterations: of_body("iterations") as u32 };
                    net.implicit(around.dt, method == Method::Undamped, stop)
                }
            };
            net.scratch.scatter(rows, particles);
            // What it takes to hold pinned nodes, for whoever holds them.
            let pin = particles.try_get(&PIN);
            for (k, &row) in rows.iter().enumerate() {
                let held_by = pin.filter(|_| row != GONE).map_or(0, |pin| pin[row as usize]);
                if let Some(solid) = pins.holder(held_by) {
                    let force = net.scratch.residual[k].truncate().as_dvec3() / f64::from(around.dt);
                    let arm = net.scratch.place[k].truncate().as_dvec3() - around.solids[solid].pose.position;
                    pushes[solid] += Wrench { force, torque: arm.cross(force) };
                }
            }
            let more = worst.is_none_or(|worst| solved.iterations > worst.iterations);
            worst = if more { Some(solved) } else { worst };
        }
        particles.workspace.give_back([known]);
        worst
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        for net in &state.structure.nets {
            if !now.used_by(net.body).is_some_and(|used| Method::of(used) == Method::Explicit) {
                continue;
            }
            let most = |property: &str| now.weighted(property).max();
            let names = ["stretch_stiffness", "shear_stiffness", "bend_stiffness", "young_modulus"];
            let springs: f32 = names.iter().zip(net.crowd).map(|(name, crowd)| most(name) * crowd).sum();
            // No row of M⁻¹K adds up to more (Gershgorin).
            let fastest = (2.0 * (springs + most("bend_stiffness") * net.crowd[4])).sqrt();
            let times = ["stretch_damping", "shear_damping", "bend_damping", "inner_damping"];
            let time = times.iter().map(|name| now.field(name).max()).fold(0.0, f32::max);
            let damping = 0.5 * fastest * time;
            limits.offer(
                Limit::Stiffness,
                0.9 * 2.0 / fastest.max(f32::MIN_POSITIVE) * ((1.0 + damping * damping).sqrt() - damping),
            );
        }
    }
}

/// The springs of a body, from its shape at rest.
fn make(
    body: u32,
    used: &BehaviourUse,
    d: &Discretisation,
    structure: &Structure,
    particles: &Particles,
) -> Net {
    let nodes = structure.nodes.of_body(body);
    let reference = particles.get(&REFERENCE);
    let place =
        |node| structure.nodes.row(node).map_or(DVec3::ZERO, |row| reference[row].truncate().as_dvec3());
    let builder = Builder::new(body, nodes.clone(), nodes.clone().map(place).collect());
    let is_flat = d.dimensions == Dimensions::Two;
    if let Some(sheet) = structure.sheets.iter().find(|sheet| sheet.body == body) {
        return match sheet.grid {
            Some(grid) => builder.grid(sheet, grid),
            None => builder.mesh(sheet, *used.value("across") == Value::Switch(true) && sheet.is_closed()),
        };
    }
    if let Some(line) = structure.lines.iter().find(|line| line.body == body) {
        // In 2-D, all is for each metre of depth.
        return builder.line(if is_flat { 1.0 } else { line.thickness });
    }
    builder.filled(f64::from(d.spacing), is_flat)
}
