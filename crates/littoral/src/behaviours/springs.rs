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

use glam::{DVec3, Mat3, Vec3, Vec4};
use rayon::prelude::*;

use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit, Value};
use crate::behaviours::past::{self, is_ever_on, number as constant};
use crate::behaviours::{Around, Behaviour, LimitState, Solved};
use crate::columns::{
    ACCELERATION, MASS, PIN, POSITION, REFERENCE, SPRING_MEMORY, SPRING_PAST, TORN, VELOCITY,
};
use crate::discretisation::Discretisation;
use crate::memory::{Measure, PastColumns, Remembers};
use crate::particles::{Particles, Vectors};
use crate::resolve::Resolved;
use crate::scene::Dimensions;
use crate::solids::Wrench;
use crate::solve::conjugate_gradients::{self, Entry, Stop, System, Widen};
use crate::solve::fractional::Of;
use crate::solve::patches::Patches;
use crate::solve::skyline::Skyline;
use crate::structure::nodes::GONE;
use crate::structure::springs::{Builder, Half, Net, SpringKind};
use crate::structure::{Structure, slots};
use crate::timestep::{Limit, Limits};

const fn number(name: &'static str, meaning: &'static str, unit: Unit, usual: f64, max: f64) -> Property {
    Property { name, meaning, kind: Kind::Number { unit, default: Default::Value(usual), min: 0.0, max } }
}

pub static SCHEMA: Schema = Schema {
    name: "springs",
    summary: "cloth, ropes and soft bodies: particles joined by springs that may tear",
    law: "m a_i = −w Σ_j (k(|x_ij| − L) + τk n·v_ij) n + g x_ij, by backward Euler",
    half_weight: "half the stiffness",
    reference: "Ozgen2013, 6.3; Bayraktar2010, 4.1, 5.6; BaraffWitkin1998",
    properties: &[
        number(
            "stretch_stiffness",
            "of cloth: tension over strain, for each metre of width",
            Unit::NewtonPerMetre,
            1000.0,
            1e9,
        ),
        number(
            "shear_stiffness",
            "of cloth with rows: shear force over angle, for each metre of width",
            Unit::NewtonPerMetre,
            200.0,
            1e9,
        ),
        number(
            "bend_stiffness",
            "of cloth: moment over curvature, for each metre of width",
            Unit::NewtonMetre,
            1e-5,
            1e6,
        ),
        number("young_modulus", "of soft bodies: stress over strain, inside", Unit::Pascal, 1e4, 1e11),
        number(
            "compression",
            "part of the stiffness that stretch and shear springs have when they are pushed together",
            Unit::One,
            1.0,
            1.0,
        ),
        number(
            "stretch_damping",
            "friction of stretch springs over their stiffness",
            Unit::Second,
            0.0,
            10.0,
        ),
        number("shear_damping", "friction of shear springs over their stiffness", Unit::Second, 0.0, 10.0),
        number(
            "bend_damping",
            "friction of bending over its stiffness; it also slows the turning of what is bent",
            Unit::Second,
            0.0,
            10.0,
        ),
        number("inner_damping", "friction of inner springs over their stiffness", Unit::Second, 0.0, 10.0),
        number(
            "memory",
            "viscoelasticity of all springs over their stiffness: what multiplies the derivative of order q of their ends' ways",
            Unit::SecondToTheOrder,
            0.0,
            100.0,
        ),
        past::ORDER,
        past::REACH,
        past::steps(3.0),
        past::horizon(1.0),
        past::TOLERANCE,
        number(
            "tear_strain",
            "springs longer than this, over their length at rest less 1, are cut; 0 for never",
            Unit::One,
            0.0,
            100.0,
        ),
        Property {
            name: "across",
            meaning: "springs through a closed net, from each corner to the one opposite",
            kind: Kind::Switch { default: true },
        },
        Property {
            name: "method",
            meaning: "how velocities follow from forces",
            kind: Kind::Choice {
                options: &["implicit", "undamped", "explicit", "filter", "neighbours"],
                default: 0,
            },
        },
        Property {
            name: "error",
            meaning: "what the solve may leave, as a fraction of what springs do in a step",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(1e-2), min: 1e-7, max: 0.5 },
        },
        Property {
            name: "iterations",
            meaning: "after which the solve ends in any case; fewer are faster, and leave fine cloth longer than it should be",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(20.0), min: 1.0, max: 1e4 },
        },
    ],
};

/// How velocities follow from forces, in the order of the property's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Implicit,
    Undamped,
    Explicit,
    Filter,
    Neighbours,
}

impl Method {
    fn of(used: &BehaviourUse) -> Method {
        use Method::*;
        let all = [Implicit, Undamped, Explicit, Filter, Neighbours];
        if let Value::Choice(k) = used.value("method") { all[*k] } else { Implicit }
    }
}

/// Whether springs used in this way remember.
pub fn remember(used: &BehaviourUse) -> bool {
    is_ever_on(used, "memory")
}

/// Whether the method has room for a memory: its friction is a part of the solve.
pub fn may_remember(used: &BehaviourUse) -> bool {
    matches!(Method::of(used), Method::Implicit | Method::Undamped)
}

static COLUMNS: PastColumns<Vectors> =
    PastColumns { source: &VELOCITY, past: &SPRING_PAST, result: &SPRING_MEMORY };

/// Place of `filter` among the methods.
pub const FILTER: usize = Method::Filter as usize;

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
            let Structure { nets, nodes, sheets, .. } = structure;
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
                for sheet in sheets.iter_mut().filter(|sheet| sheet.body == net.body) {
                    sheet.triangles = net.whole_triangles();
                }
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

/// What a step makes of springs.
#[derive(Clone, Copy)]
struct Step {
    /// s; 0 where only forces are asked for.
    dt: f32,
    /// Of the stiffness, what acts on velocities: 1, or 1/4.
    part: f32,
    /// Whether forces have friction in them.
    friction: bool,
    matrix: Matrix,
}

/// What is made of K.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Matrix {
    None,
    /// The Jacobian, less what would make it indefinite.
    True,
    /// The same number in all directions, whatever the springs do.
    Constant,
    /// The same with no number below 0 beside the diagonal.
    Dominant,
}

/// Rows of the nodes of a net, and vectors of its solve: filled anew in every step.
#[derive(Default)]
pub struct Scratch {
    pub(crate) place: Vec<Vec4>,
    /// Velocities after all other forces, and before them, m/s.
    motion: Vec<Vec4>,
    old: Vec<Vec4>,
    mass: Vec<f32>,
    is_held: Vec<bool>,
    /// Properties of the four kinds of springs.
    strength: Vec<Vec4>,
    /// Friction of each kind over its stiffness, s.
    damping: [f32; 4],
    /// Viscoelasticity of all kinds over their stiffness, s^q, and friction that comes of it in this step, s.
    memory: f32,
    late_friction: f32,
    /// What is known of D^q of the nodes' ways at the end of the step; only where there is a memory.
    recalled: Vec<Vec4>,
    compression: f32,
    tear_strain: f32,
    is_gone: Vec<bool>,
    /// Nodes whose springs have been cut since they are gone.
    lost: usize,
    /// What springs pull their ends with, N.
    pull: Vec<Vec4>,
    force: Vec<Vec4>,
    /// For each spring: what its part of the matrix is made of, a + s sᵀ, as (s, a).
    stiff: Vec<Vec4>,
    blocks: Vec<[Vec4; 3]>,
    patches: Patches,
    x: Vec<Vec4>,
    pub(crate) residual: Vec<Vec4>,
    direction: Vec<Vec4>,
    product: Vec<Vec4>,
    sums: Vec<[f64; 3]>,
    strain: Vec<f32>,
    factor: Factor,
}

impl Scratch {
    /// Fetches what particles know.
    fn gather(&mut self, rows: &[u32], now: &Resolved, particles: &Particles, dt: f32) {
        let count = rows.len();
        for vector in [&mut self.place, &mut self.motion, &mut self.old, &mut self.strength] {
            vector.resize(count, Vec4::ZERO);
        }
        self.mass.resize(count, 1.0);
        self.is_held.resize(count, false);
        self.is_gone.resize(count, false);
        let columns = (particles.get(&POSITION), particles.get(&VELOCITY), particles.get(&MASS));
        let pin = particles.try_get(&PIN);
        // While forces are summed, accelerations are away: nothing has kicked the velocities yet.
        let acceleration = particles.get(&ACCELERATION);
        let of = |name: &str| now.weighted(name).coefficient();
        let strength = ["stretch_stiffness", "shear_stiffness", "bend_stiffness", "young_modulus"].map(of);
        let vectors = (&mut self.place, &mut self.motion, &mut self.old, &mut self.strength);
        let marks = (&mut self.mass, &mut self.is_held, &mut self.is_gone);
        let all = vectors.into_par_iter().zip(marks.into_par_iter()).zip(rows).with_min_len(MIN_ROWS);
        all.for_each(|(((place, motion, old, stiffness), (mass, is_held, is_gone)), &row)| {
            if row == GONE {
                // Its springs are cut; it only must not disturb.
                (*is_held, *is_gone) = (true, true);
                return;
            }
            let row = row as usize;
            *place = columns.0[row];
            *motion = columns.1[row];
            *old = *motion - acceleration.get(row).map_or(Vec4::ZERO, |a| *a * dt);
            *mass = columns.2[row];
            *is_held = pin.is_some_and(|pin| pin[row] > 0);
            let [stretch, shear, bend, inner] = strength.map(|one| one.at(row));
            *stiffness = Vec4::new(along_threads(stretch, shear), shear, bend, inner);
        });
        let first = rows.iter().find(|row| **row != GONE).map_or(0, |&row| row as usize);
        let number = |name: &str| now.field(name).at(first);
        self.damping = ["stretch_damping", "shear_damping", "bend_damping", "inner_damping"].map(number);
        (self.compression, self.tear_strain) = (number("compression"), number("tear_strain"));
    }

    /// Fetches what nodes remember: `known`, by row, and how much a new velocity adds to it, s^{1−q}.
    fn recall(&mut self, rows: &[u32], memory: f32, slope: f32, known: &[Vec4]) {
        (self.memory, self.late_friction) = (memory, memory * slope);
        self.recalled.clear();
        if memory > 0.0 {
            let of = |&row: &u32| if row == GONE { Vec4::ZERO } else { known[row as usize] };
            self.recalled.extend(rows.iter().map(of));
        }
    }

    /// Gives velocities back.
    fn scatter(&self, rows: &[u32], particles: &mut Particles) {
        let velocity = particles.get_mut(&VELOCITY);
        for (x, &row) in self.x.iter().zip(rows).filter(|(_, row)| **row != GONE) {
            velocity[row as usize] = *x;
        }
    }
}

/// What stretch springs must add so that cloth has the stiffness it is to have: the diagonals carry some too.
///
/// Springs of Y along the threads and S along the diagonals make C₁₁ = Y + S, C₁₂ = S. A strip that is free to get narrower
/// has the stiffness C₁₁ − C₁₂²/C₁₁ = Y (Y + 2S)/(Y + S); solved for Y.
fn along_threads(stretch: f32, shear: f32) -> f32 {
    let free = stretch - 2.0 * shear;
    0.5 * (free + (stretch * stretch + 4.0 * shear * shear).sqrt())
}

impl Net {
    /// Forces of all springs where the nodes stand, and the matrix of a step; see the module.
    fn linearise(&mut self, step: &Step) {
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
            let n = if length > 0.0 { x / length } else { Vec4::ZERO };
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
                    let tension = k * (stretch / length.max(f32::MIN_POSITIVE)).max(0.0);
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
    fn times(&self, stiff: &[Vec4], node: usize, x: &[Vec4]) -> Vec4 {
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

    /// Backward Euler, or its kin without loss, by conjugate gradients.
    fn implicit(&mut self, dt: f32, is_undamped: bool, stop: Stop) -> Solved {
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
        let Scratch {
            motion,
            old,
            mass,
            is_held,
            force,
            stiff,
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
        x.copy_from_slice(motion);
        // What the stiffness acts on: velocities, or what has changed of them.
        product.iter_mut().enumerate().for_each(|(k, moved)| {
            *moved = if is_undamped { x[k] - old[k] } else { x[k] };
        });
        residual.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(node, r)| {
            *r = (motion[node] - x[node]) * mass[node] + force[node] * dt - self.times(stiff, node, product);
        });
        let system = System {
            apply: |p: &[Vec4], out: &mut [Vec4]| {
                out.par_iter_mut().with_min_len(MIN_ROWS).enumerate().for_each(|(node, out)| {
                    *out = p[node] * mass[node] + self.times(stiff, node, p);
                });
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
                let (mass, carried) = (f64::from(mass[node]), x - motion[node]);
                let doubtful = ROUNDING / stop.error.powi(2) * x.times(x);
                [r.times(r) / mass, mass * (carried.times(carried) + doubtful)]
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

    fn add(&mut self, residual: &[Vec4], to: &mut [Vec4]) {
        self.patches.solve(residual, self.is_held);
        let patches = &*self.patches;
        to.par_iter_mut().with_min_len(4096).enumerate().for_each(|(node, to)| {
            if !self.is_held[node] {
                *to += patches.of(node);
            }
        });
    }
}

/// Square of the part of a velocity that rounding makes doubtful.
const ROUNDING: f64 = 1e-13;

/// Nodes that a thread takes at once.
const MIN_ROWS: usize = 512;

impl Net {
    /// Cuts springs that are too long, and those of nodes that are gone. Tells whether it has.
    ///
    /// Of the springs at a node, only the one under the greatest strain is cut in a step: the tear relieves the others, or
    /// they are next. Otherwise a tear would be as wide as the strain around its tip.
    fn tear(&mut self) -> bool {
        let gone = self.scratch.is_gone.iter().filter(|gone| **gone).count();
        let mut cut: Vec<u32> = Vec::new();
        if gone > self.scratch.lost {
            self.scratch.lost = gone;
            let ends = |(node, _): (usize, &bool)| self.halves(node).iter().map(|half| half.spring);
            let all = self.scratch.is_gone.iter().enumerate().filter(|(_, gone)| **gone);
            cut.extend(all.flat_map(ends));
        }
        let limit = self.scratch.tear_strain;
        if limit > 0.0 {
            let mut strain = std::mem::take(&mut self.scratch.strain);
            strain.resize(self.springs.len(), 0.0);
            let place = &self.scratch.place;
            let of = |(k, strain): (usize, &mut f32)| {
                let spring = &self.springs[k];
                let [a, b] = spring.ends.map(|end| place[end as usize]);
                let is_asked = spring.kind != SpringKind::Bend && !self.is_cut(k);
                *strain = if is_asked { a.distance(b) / spring.rest - 1.0 } else { f32::NEG_INFINITY };
            };
            strain.par_iter_mut().with_min_len(8 * MIN_ROWS).enumerate().for_each(of);
            let is_most = |&k: &usize| {
                let ahead = |other: &u32| {
                    let other = *other as usize;
                    strain[other] > strain[k] || (strain[other] == strain[k] && other < k)
                };
                let ends = self.springs[k].ends.map(|end| self.halves(end as usize));
                !ends.iter().flat_map(|halves| halves.iter()).any(|half| ahead(&half.spring))
            };
            let long = (0..strain.len()).filter(|&k| strain[k] > limit);
            cut.extend(long.filter(is_most).map(|k| k as u32));
            self.scratch.strain = strain;
        }
        if cut.is_empty() {
            return false;
        }
        self.cut(cut);
        true
    }

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
    fn neighbours(&mut self, dt: f32) -> Solved {
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
    fn filter(&mut self, dt: f32) -> Solved {
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
struct Factor {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Checkpoint;
    use crate::scene::{self, Scene};
    use crate::world::World;

    fn scene(text: &str) -> Scene {
        let (scene, _) =
            scene::load("springs", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
        scene
    }

    /// A piece of cloth, crumpled by its own velocities, in weightlessness.
    fn thrown(method: &str, step: f64) -> World {
        let text = format!(
            r#"
            world.gravity = [0, 0, 0]
            sph.spacing = 0.05
            time = {{ until = 1, step = {step} }}
            [[body]]
            density = 300
            thickness = 0.001
            shape.sheet = {{ corner = [0.3, 0.2, 0], along = [0.5, 0, 0], across = [0, 0.4, 0] }}
            [body.behaviours.springs]
            stretch_stiffness = 100
            shear_stiffness = 30
            bend_stiffness = 1e-4
            error = 1e-4
            method = "{method}"
            "#
        );
        let mut world = World::new(&scene(&text));
        world.particles.update(&VELOCITY, |velocity, particles| {
            for (velocity, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                let spin = Vec3::new(0.3, 1.0, 2.0).cross(x.truncate());
                let wave = Vec3::new((9.0 * x.y).sin(), (7.0 * x.x).cos(), (11.0 * (x.x + x.y)).sin());
                *velocity = (Vec3::new(0.5, 0.2, -0.1) + spin + 0.5 * wave).extend(0.0);
            }
        });
        world
    }

    /// Momentum and angular momentum, f64.
    fn momenta(world: &World) -> (DVec3, DVec3) {
        let (x, v) = (world.particles.get(&POSITION), world.particles.get(&VELOCITY));
        let rows = x.iter().zip(v).zip(world.particles.get(&MASS));
        rows.fold((DVec3::ZERO, DVec3::ZERO), |(p, l), ((x, v), m)| {
            let push = v.truncate().as_dvec3() * f64::from(*m);
            (p + push, l + x.truncate().as_dvec3().cross(push))
        })
    }

    #[test]
    fn momentum_is_kept_and_angular_momentum_nearly() {
        // What the angular momentum may lose in 0.2 s, as a part of it: explicit forces lie on the lines between nodes and
        // keep it; backward Euler damps turning at the rate ω²Δt/2 where it stretches the cloth; the isotropic
        // approximations take it for a motion that springs resist.
        for (method, loss) in [("explicit", 1e-5), ("undamped", 2e-2), ("implicit", 5e-2), ("filter", 1.0)] {
            let mut world = thrown(method, 5e-4);
            let (p, l) = momenta(&world);
            world.advance_to(0.2).unwrap();
            let (q, k) = momenta(&world);
            assert!((q - p).length() < 2e-5 * p.length(), "{method}: momentum {p} became {q}");
            assert!((k - l).length() < loss * l.length(), "{method}: angular momentum {l} became {k}");
        }
    }

    /// A weight on a spring with a memory, pulled and let go, against the same equation of one number, its convolution summed
    /// over the whole past in f64: m x'' = −k x − k_d D^½ x.
    #[test]
    fn a_spring_remembers_as_its_convolution_says() {
        let (stiffness, memory, until) = (40.0, 0.15, 0.5);
        // A rope of two nodes 0.1 m apart and 0.01 m thick, pinned at one: the spring has k = Y × thickness/length.
        let scene = |method: &str, step: f64| {
            scene(&format!(
                r#"
                world.gravity = [0, 0, 0]
                sph.spacing = 0.1
                time = {{ until = 1, step = {step} }}
                [[body]]
                density = 1000
                thickness = 0.01
                shape.line = {{ from = [0, 0, 0], to = [0.1, 0, 0] }}
                [body.behaviours.springs]
                stretch_stiffness = {stiffness}
                shear_stiffness = 0
                memory = {memory}
                reach = "whole"
                horizon = 5
                error = 1e-6
                method = "{method}"
                [[pin]]
                nearest = [[0, 0, 0]]
                "#
            ))
        };
        let far_end = |world: &World| {
            let x = world.particles.get(&POSITION);
            (0..x.len()).max_by(|&a, &b| x[a].x.total_cmp(&x[b].x)).expect("two nodes")
        };
        let speed = 0.2f64;
        let run = |method: &str, step: f64| {
            let mut world = World::new(&scene(method, step));
            assert_eq!(world.particles.len(), 2);
            let end = far_end(&world);
            world.particles.get_mut(&VELOCITY)[end].x = speed as f32;
            world.advance_to(until).unwrap();
            let end = far_end(&world);
            f64::from(world.particles.get(&POSITION)[end].x) - 0.1
        };
        let mass = {
            let world = World::new(&scene("implicit", 1e-3));
            f64::from(world.particles.get(&MASS)[far_end(&world)])
        };
        // The trapezoidal rule throughout, which is of second order: D = known + γ v.
        let k = stiffness * 0.01 / 0.1;
        let exact = {
            let count = 2000;
            let h = until / f64::from(count);
            let (mut x, mut rates, mut force) = (0.0, vec![speed], 0.0);
            for n in 1..=count as usize {
                let weights = crate::solve::fractional::window(
                    0.5,
                    crate::solve::fractional::Rule::Trapezoid,
                    Of::Rates,
                    &vec![h; n],
                );
                let known: f64 = weights[1..].iter().zip(rates.iter().rev()).map(|(w, v)| w * v).sum();
                // m (v' − v) = ½ h (f + f'), f' = −k (x + ½ h (v + v')) − k_d (known + γ v').
                let v = rates[n - 1];
                let still = -k * (x + 0.5 * h * v) - memory * k * known;
                let matrix = mass + 0.5 * h * (0.5 * h * k + memory * k * weights[0]);
                let new = (mass * v + 0.5 * h * (force + still)) / matrix;
                x += 0.5 * h * (v + new);
                force = -k * x - memory * k * (known + weights[0] * new);
                rates.push(new);
            }
            x
        };
        // By then it has all but come to rest. Backward Euler is of the first order in the step.
        let errors = [2e-3, 1e-3, 5e-4].map(|step| (run("implicit", step) - exact).abs() / exact.abs());
        assert!(errors[2] < 0.2 && errors[1] / errors[2] > 1.7 && errors[0] / errors[1] > 1.7, "{errors:?}");
        let undamped = (run("undamped", 1e-3) - exact).abs() / exact.abs();
        assert!(undamped < 0.05, "{undamped} of {exact}");
    }

    /// Whatever springs remember, they pull both ends alike.
    #[test]
    fn springs_with_a_memory_keep_momentum() {
        for memory in ["reach = \"coimbra\"", "reach = \"whole\""] {
            let scene = scene(&format!(
                r#"
                world.gravity = [0, 0, 0]
                sph.spacing = 0.05
                time = {{ until = 1, step = 2e-3 }}
                [[body]]
                density = 300
                thickness = 0.001
                velocity = [1, 0.3, 0.2]
                shape.sheet = {{ corner = [0.3, 0.2, 0], along = [0.5, 0, 0], across = [0, 0.4, 0] }}
                [body.behaviours.springs]
                memory = 0.05
                {memory}
                "#
            ));
            let mut world = World::new(&scene);
            world.particles.get_mut(&VELOCITY)[0] += Vec4::new(0.0, 3.0, 3.0, 0.0);
            let (p, _) = momenta(&world);
            world.advance_to(0.2).unwrap();
            let (q, _) = momenta(&world);
            assert!((q - p).length() < 2e-5 * p.length(), "{memory}: momentum {p} became {q}");
        }
    }

    /// With short steps, all methods follow the same motion.
    #[test]
    fn methods_agree_on_short_steps() {
        let after = |method: &str| {
            let mut world = thrown(method, 2e-5);
            world.advance_to(0.02).unwrap();
            let rows = world.structure.nodes.rows().to_vec();
            rows.iter().map(|&row| world.particles.get(&POSITION)[row as usize]).collect::<Vec<_>>()
        };
        let explicit = after("explicit");
        let start = thrown("explicit", 2e-5);
        let way = start.particles.get(&POSITION)[0].distance(explicit[0]);
        // The approximations resist turning: at this step, by some per cent.
        for (method, part) in [("implicit", 0.02), ("undamped", 0.02), ("filter", 0.1), ("neighbours", 0.1)] {
            let worst = after(method).iter().zip(&explicit).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            assert!(worst < part * way, "{method}: {worst} m apart after {way} m");
        }
    }

    /// Cloth that hangs from two corners and tears.
    fn tearing() -> Scene {
        scene(
            r#"
            sph.spacing = 0.05
            time = { until = 1, maximum_step = 2e-3 }
            [[body]]
            density = 300
            thickness = 0.001
            shape.sheet = { corner = [0, 0, 0], along = [0.6, 0, 0], across = [0, 0, 0.6] }
            [body.behaviours.springs]
            stretch_stiffness = 30
            shear_stiffness = 5
            tear_strain = 0.15
            [[pin]]
            nearest = [[0, 0, 0], [0.6, 0, 0]]
            "#,
        )
    }

    fn bits(world: &World) -> Vec<[u32; 4]> {
        world.particles.get(&POSITION).iter().map(|p| p.to_array().map(f32::to_bits)).collect()
    }

    #[test]
    fn cuts_survive_a_checkpoint_and_go_on_with_the_same_bits() {
        let scene = tearing();
        let mut world = World::new(&scene);
        world.advance_to(0.4).unwrap();
        let cuts: Vec<_> = world.structure.nets[0].cuts().collect();
        let triangles = world.structure.sheets[0].triangles.clone();
        assert!(!cuts.is_empty() && triangles.len() < 2 * 12 * 12, "nothing has torn");
        assert!(world.particles.get(&TORN).iter().any(|torn| *torn != 0));
        world.forget_neighbours();
        let checkpoint = Checkpoint::of(&scene, &world, 0);
        let mut other = World::new(&scene);
        other.restore(checkpoint).unwrap();
        assert_eq!(other.structure.nets[0].cuts().collect::<Vec<_>>(), cuts);
        assert_eq!(other.structure.sheets[0].triangles, triangles);
        for world in [&mut world, &mut other] {
            world.advance_to(0.6).unwrap();
        }
        assert_eq!(bits(&world), bits(&other));
    }

    #[test]
    fn threads_do_not_change_bits() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let mut world = World::new(&tearing());
                world.advance_to(0.3).unwrap();
                bits(&world)
            })
        };
        assert_eq!(on(1), on(3));
    }

    /// Explicit springs at their own limit neither blow up nor hang through.
    #[test]
    fn explicit_springs_are_stable_at_their_limit() {
        let scene = scene(
            r#"
            sph.spacing = 0.05
            time = { until = 1 }
            [[body]]
            density = 300
            thickness = 0.001
            shape.sheet = { corner = [0, 0, 0], along = [0.4, 0, 0], across = [0, 0, 0.4] }
            [body.behaviours.springs]
            method = "explicit"
            stretch_damping = 1e-4
            [[pin]]
            nearest = [[0, 0, 0], [0.4, 0, 0]]
            "#,
        );
        let mut world = World::new(&scene);
        world.advance_to(0.05).unwrap();
        assert_eq!(world.clock.binding, Limit::Stiffness);
        world.advance_to(0.8).unwrap();
        let lowest = world.particles.get(&POSITION).iter().map(|p| p.y).fold(0.0, f32::min);
        // It swings, from corners at a height of 0.
        assert!((-0.75..-0.05).contains(&lowest), "{lowest}");
    }

    /// A ball of jelly, pressed flat along y by 1 % everywhere, pushes back as Hooke's law says: the stress of a bar with
    /// free sides is E ε.
    #[test]
    fn a_filled_bar_has_its_young_modulus() {
        let scene = scene(
            r#"
            world.gravity = [0, 0, 0]
            sph.spacing = 0.05
            time = { until = 3, maximum_step = 5e-3 }
            [[body]]
            density = 1000
            shape.box = { min = [0, 0, 0], max = [0.4, 1, 0.4] }
            [body.behaviours.springs]
            young_modulus = 1e4
            [body.behaviours.drag]
            relaxation_time = 0.1
            [[pin]]
            shape.box = { min = [-1, -1, -1], max = [2, 0.05, 2] }
            [[pin]]
            shape.box = { min = [-1, 0.95, -1], max = [2, 2, 2] }
            motion.position = [[0, [0, 0, 0]], [0.5, [0, 0.0475, 0]]]
            "#,
        );
        let mut world = World::new(&scene);
        world.advance_to(3.0).unwrap();
        // 19 gaps of 0.05 m pulled by 5 %: the force through the middle, from its springs.
        let net = &mut world.structure.nets[0];
        let place: Vec<Vec4> = net.scratch.place.clone();
        let mut force = 0.0;
        for spring in &net.springs {
            let [a, b] = spring.ends.map(|end| place[end as usize]);
            if (a.y < 0.525) != (b.y < 0.525) {
                let stretch = a.distance(b) - spring.rest;
                force += spring.share * 1e4 * stretch * ((a.y - b.y).abs() / a.distance(b));
            }
        }
        let expected = 1e4 * 0.05 * 0.4 * 0.4;
        // Springs in the surface carry all of their force, though half of their cell is missing: 8 nodes across make
        // about a tenth; clamped ends add a little.
        assert!((0.85..1.1).contains(&(force / expected)), "{force} N instead of {expected}");
    }
}
