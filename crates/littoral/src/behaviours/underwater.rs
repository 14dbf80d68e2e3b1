//! Water around cloth and ropes that is not simulated: buoyancy, drag, and drag with a memory [Ozgen2010, 4.1].
//!
//! With w the velocity against the water, n the normal, A the area and ρ the density of the body, the force on a node is
//!
//!   f = −(ρ_w/ρ) m g − A (k_v w + k_n (w·n) n + k_h (D^q y·ŵ) ŵ),   ŵ = w/|w|,
//!
//! where y is the node's way against the water [Ozgen2010, Eqs. 2–4; the normal drag from their section 5]. Coefficients are for
//! a square metre of the surface, seen from one side, so that they do not depend on how finely it is cut. For pieces of a rope, A is
//! length × thickness, and what is normal is all that is across.
//!
//! - The projection on ŵ changes neither the work that history drag does, f·w = −A k_h D^q y·w, nor its sign over time: the kernel of D^q is
//!   positive, so that it never gives back more than it took. Where a node stands still against the water, there is no ŵ, and the force is
//!   −A k_h D^q y, which is also what Eq. 4 tends to on a straight way.
//! - D^q y at the end of a step is known + γ w (`memory.rs`). All three drags are taken at the velocity that they lead to,
//!   (m + Δt A (k_v + k_n n nᵀ + k_h γ ŵ ŵᵀ)) w' = m w − Δt A k_h (known·ŵ) ŵ: three unknowns for each node, and no limit of the step. ŵ and n are those
//!   before it. Drag comes before the springs, each solved on its own.
//!
//! Drag is linear, as in honey; a towel in water feels ½ ρ_w C |w|², which k = ½ ρ_w C |w| meets at one speed only. Water that moves with the cloth (added mass)
//! is left out, as in the paper. Kept honest by the tests below.

use glam::{Mat3, Vec3, Vec4};
use rayon::prelude::*;

use crate::behaviour::{BehaviourUse, Default, Default3, Kind, Property, Schema, Unit, Value};
use crate::behaviours::past::{self, is_ever_on};
use crate::behaviours::{Around, Behaviour, Solved};
use crate::columns::{MASS, PIN, POSITION, VELOCITY, WATER_MEMORY, WATER_PAST};
use crate::memory::{Measure, PastColumns, Remembers};
use crate::particles::{Particles, Vectors};
use crate::resolve::Resolved;
use crate::scene::Dimensions;
use crate::solids::Wrench;
use crate::solve::fractional::Of;
use crate::structure::nodes::Nodes;
use crate::structure::{Line, Sheet, Structure};

const fn number(name: &'static str, meaning: &'static str, unit: Unit, usual: f64) -> Property {
    Property {
        name,
        meaning,
        kind: Kind::Number { unit, default: Default::Value(usual), min: 0.0, max: 1e6 },
    }
}

pub static SCHEMA: Schema = Schema {
    name: "underwater",
    summary: "buoyancy and drag of water that is not simulated, on sheets, nets and ropes",
    law: "f = −w (ρ_w/ρ) m g − w A (k_v v + k_n (v·n) n + k_h (D^q x·v̂) v̂), v and x against the current",
    half_weight: "half the buoyancy and half the drag",
    reference: "Ozgen2010, 4.1; Ozgen2013, ch. 3",
    properties: &[
        number("fluid_density", "of the water, ρ_w: for buoyancy", Unit::KilogramPerCubicMetre, 1000.0),
        number("viscous_drag", "k_v, against the velocity", Unit::PascalSecondPerMetre, 0.0),
        number(
            "normal_drag",
            "k_n, against what of it is across the surface",
            Unit::PascalSecondPerMetre,
            0.0,
        ),
        number(
            "history_drag",
            "k_h, against the velocity, by the derivative of order q of the way",
            Unit::PascalSecondToTheOrderPerMetre,
            0.0,
        ),
        past::ORDER,
        past::REACH,
        past::steps(3.0),
        past::horizon(1.0),
        past::TOLERANCE,
        Property {
            name: "current",
            meaning: "velocity of the water",
            kind: Kind::Vector { unit: Unit::MetrePerSecond, default: Default3::Value([0.0; 3]) },
        },
        Property {
            name: "gravity",
            meaning: "acceleration of free fall, for buoyancy",
            kind: Kind::Vector {
                unit: Unit::MetrePerSecondSquared,
                default: Default3::Automatic("`world.gravity`"),
            },
        },
    ],
};

/// Whether water around bodies that use it in this way remembers.
pub fn remembers(used: &BehaviourUse) -> bool {
    is_ever_on(used, "history_drag")
}

static COLUMNS: PastColumns<Vectors> =
    PastColumns { source: &VELOCITY, past: &WATER_PAST, result: &WATER_MEMORY };

pub struct Underwater;

impl Behaviour for Underwater {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn is_local(&self) -> bool {
        true
    }

    fn remembers(&self, now: &Resolved) -> Option<Remembers<Vectors>> {
        let used = now.uses().find(|used| remembers(used))?;
        Some(Remembers {
            order: past::number(used, "order"),
            of: Of::Rates,
            reach: past::reach(used),
            measure: Measure::Derivative,
            columns: &COLUMNS,
        })
    }

    /// Buoyancy: the water that the body takes the place of has the volume m/ρ.
    fn strain(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        _particles: &mut Particles,
        acceleration: &mut [Vec4],
    ) {
        for (body, nodes) in structure.nodes.bodies() {
            let Some(used) = now.used_by(body) else { continue };
            let water = now.of_body(body, "fluid_density", around.time).unwrap_or(0.0);
            let ratio = used.weight.at(around.time) as f32 * water / around.rest_density[body as usize];
            let lift = vector(used, "gravity").extend(0.0) * -ratio;
            for row in nodes.filter_map(|node| structure.nodes.row(node)) {
                acceleration[row] += lift;
            }
        }
    }

    fn has_solve(&self, _used: &BehaviourUse) -> bool {
        true
    }

    fn solve(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        _pushes: &mut [Wrench],
    ) -> Option<Solved> {
        let is_flat = around.discretisation.dimensions == Dimensions::Two;
        let dt = f64::from(around.dt);
        let history = around.histories.iter().find(|history| history.keeps(&COLUMNS));
        let mut known = particles.workspace.borrow(if history.is_some() { particles.len() } else { 0 });
        let slope = history.map_or(0.0, |history| history.foresee(dt, particles, &mut known));
        let unit_rate = history.map_or(0.0, |history| history.foresee_unit_rate(dt));

        let Structure { nodes, sheets, lines, .. } = structure;
        let sheets = sheets.iter().map(|sheet| (sheet.body, Surface::Sheet(sheet)));
        let lines = lines.iter().map(|line| (line.body, Surface::Line(line, is_flat)));
        for (body, surface) in sheets.chain(lines) {
            let Some(used) = now.used_by(body) else { continue };
            let weight = used.weight.at(around.time) as f32;
            let drag = |name: &str| weight * now.of_body(body, name, around.time).unwrap_or(0.0);
            let water = Water {
                viscous: drag("viscous_drag"),
                normal: drag("normal_drag"),
                history: drag("history_drag"),
                current: vector(used, "current"),
                dt: around.dt,
                slope,
                unit_rate,
            };
            let rows = &nodes.rows()[surface.nodes()];
            let mut facing = particles.workspace.borrow(rows.len());
            surface.face(nodes, particles, &mut facing);
            let (velocity, mass, pin) =
                (particles.get(&VELOCITY), particles.get(&MASS), particles.try_get(&PIN));
            let across = surface.is_sheet();
            facing.par_iter_mut().zip(rows).with_min_len(512).for_each(|(facing, &row)| {
                let Some(&own) = velocity.get(row as usize) else { return };
                let row = row as usize;
                // What pins hold goes where they take it.
                if pin.is_some_and(|pin| pin[row] > 0) {
                    *facing = own;
                    return;
                }
                let known = known.get(row).map_or(Vec3::ZERO, |known| known.truncate());
                let slowed = water.slow(own.truncate(), mass[row], *facing, across, known);
                *facing = slowed.extend(own.w);
            });
            let velocity = particles.get_mut(&VELOCITY);
            for (new, &row) in facing.iter().zip(rows) {
                if let Some(velocity) = velocity.get_mut(row as usize) {
                    *velocity = *new;
                }
            }
            particles.workspace.give_back([facing]);
        }
        particles.workspace.give_back([known]);
        None
    }
}

fn vector(used: &BehaviourUse, name: &str) -> Vec3 {
    if let Value::Vector([x, y, z]) = used.value(name) {
        Vec3::new(*x as f32, *y as f32, *z as f32)
    } else {
        Vec3::ZERO
    }
}

/// The water around one body, in one step.
struct Water {
    /// Drags of a square metre, Pa·s/m and Pa·s^q/m.
    viscous: f32,
    normal: f32,
    history: f32,
    /// m/s.
    current: Vec3,
    /// s.
    dt: f32,
    /// What a new velocity adds to D^q of the way, and what all of the past does at a velocity of 1, s^{1−q}.
    slope: f32,
    unit_rate: f32,
}

impl Water {
    /// The velocity after a step of a node of the mass m, kg. `facing` is its normal, or the way of its rope, and its area, m².
    fn slow(&self, velocity: Vec3, mass: f32, facing: Vec4, is_sheet: bool, known: Vec3) -> Vec3 {
        let before = velocity - self.current;
        // D^q of the way against the water will be this + slope × the velocity against it.
        let known = known - self.current * (self.unit_rate - self.slope);
        let way = if before == Vec3::ZERO { known } else { before }.normalize_or_zero();
        let (n, push) = (facing.truncate(), self.dt * facing.w);
        let along = outer(n) * (push * self.normal);
        let normal =
            if is_sheet { along } else { Mat3::from_diagonal(Vec3::splat(push * self.normal)) - along };
        let matrix = Mat3::from_diagonal(Vec3::splat(mass + push * self.viscous))
            + normal
            + outer(way) * (push * self.history * self.slope);
        let after = before * mass - way * (push * self.history * known.dot(way));
        matrix.inverse() * after + self.current
    }
}

fn outer(n: Vec3) -> Mat3 {
    Mat3::from_cols(n * n.x, n * n.y, n * n.z)
}

/// What the water acts on.
enum Surface<'a> {
    Sheet(&'a Sheet),
    /// A rope; in 2-D, a sheet that is seen from its edge.
    Line(&'a Line, bool),
}

impl Surface<'_> {
    fn is_sheet(&self) -> bool {
        matches!(self, Surface::Sheet(_))
    }

    fn nodes(&self) -> std::ops::Range<usize> {
        let (Surface::Sheet(Sheet { nodes, .. }) | Surface::Line(Line { nodes, .. }, _)) = self;
        nodes.start as usize..nodes.end as usize
    }

    /// Finds the normal at each node, or the way of the rope, and the area around it, m²: a third of its triangles, half of its pieces.
    fn face(&self, nodes: &Nodes, particles: &Particles, facing: &mut [Vec4]) {
        let x = particles.get(&POSITION);
        let first = self.nodes().start;
        facing.fill(Vec4::ZERO);
        match self {
            Surface::Sheet(sheet) => {
                for corners in &sheet.triangles {
                    let [Some(a), Some(b), Some(c)] = corners.map(|node| nodes.row(node)) else { continue };
                    let cross = (x[b] - x[a]).truncate().cross((x[c] - x[a]).truncate());
                    let part = cross.extend(cross.length()) / 6.0;
                    corners.iter().for_each(|&node| facing[node as usize - first] += part);
                }
            }
            Surface::Line(line, is_flat) => {
                let width = if *is_flat { 1.0 } else { line.thickness as f32 };
                for node in line.nodes.start + 1..line.nodes.end {
                    let (Some(a), Some(b)) = (nodes.row(node - 1), nodes.row(node)) else { continue };
                    let way = (x[b] - x[a]).truncate();
                    let part = way.extend(0.5 * width * way.length());
                    for node in [node - 1, node] {
                        facing[node as usize - first] += part;
                    }
                }
            }
        }
        facing.iter_mut().for_each(|one| *one = one.truncate().normalize_or_zero().extend(one.w));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Checkpoint;
    use crate::scene::{self, Scene};
    use crate::world::World;

    fn scene(text: &str) -> Scene {
        scene::load("underwater", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain())).0
    }

    /// A sheet of 1.2 kg/m² of which 0.2 kg/m² are not carried by the water, alone in it.
    fn sheet(spacing: f64, across: &str, step: f64, underwater: &str, springs: &str) -> Scene {
        scene(&format!(
            "sph.spacing = {spacing}\ntime = {{ until = 10, step = {step} }}\n[[body]]\ndensity = 1200\nthickness = 0.001\n\
             shape.sheet = {{ corner = [0, 0, 0], along = [0.4, 0, 0], across = {across} }}\n\
             [body.behaviours.springs]\n{springs}\n[body.behaviours.underwater]\n{underwater}"
        ))
    }

    fn mean_velocity(world: &World) -> Vec3 {
        let (v, m) = (world.particles.get(&VELOCITY), world.particles.get(&MASS));
        let momentum: Vec4 = v.iter().zip(m).map(|(&v, &m)| v * m).sum();
        (momentum / m.iter().sum::<f32>()).truncate()
    }

    /// It sinks with its weight under water over its drag, however finely it is cut: (ρ − ρ_w) d g/(k_v + k_n) flat, and
    /// (ρ − ρ_w) d g/k_v on its edge.
    #[test]
    fn a_sheet_sinks_as_fast_as_water_lets_it() {
        let weight = 0.2 * 9.81;
        for (spacing, across, drag) in
            [(0.05, "[0, 0, 0.4]", 25.0), (0.1, "[0, 0, 0.4]", 25.0), (0.05, "[0, -0.4, 0]", 5.0)]
        {
            let scene = sheet(spacing, across, 5e-3, "viscous_drag = 5\nnormal_drag = 20", "");
            let mut world = World::new(&scene);
            world.advance_to(4.0).unwrap();
            let speed = -mean_velocity(&world).y;
            // A border's nodes have half the area of others, and half their mass: nothing bends. f32 and 4 s of 0.24 s each.
            assert!((speed * drag / weight - 1.0).abs() < 1e-3, "{spacing}, {across}: {speed} m/s");
        }
    }

    /// Released at rest with history drag alone, a = g' − b D^½ x has the solution v = g' t E_{3/2,2}(−b t^{3/2}), with b = k_h/(ρ d).
    #[test]
    fn history_drag_is_that_of_mittag_leffler() {
        let error = |step: f64| {
            let underwater = "history_drag = 6\nreach = \"whole\"\nhorizon = 10";
            let mut world = World::new(&sheet(0.1, "[0, 0, 0.4]", step, underwater, ""));
            let (pull, b) = (0.2 / 1.2 * 9.81, 6.0 / 1.2);
            let mut worst = 0.0f64;
            for k in 1..=10 {
                let t = 0.1 * f64::from(k);
                world.advance_to(t).unwrap();
                let z = -b * libm::pow(t, 1.5);
                let terms = (0..60).map(|k| {
                    libm::pow(-z, f64::from(k)) * if k % 2 == 0 { 1.0 } else { -1.0 }
                        / libm::tgamma(1.5 * f64::from(k) + 2.0)
                });
                let exact = pull * t * terms.sum::<f64>();
                worst = worst.max((-f64::from(mean_velocity(&world).y) - exact).abs() / pull);
            }
            worst
        };
        let errors = [4e-3, 2e-3, 1e-3].map(error);
        // Backward Euler: half the step, half the error; of speeds of some tenths of g'.
        assert!(errors[2] < 2e-3, "{errors:?}");
        for pair in errors.windows(2) {
            assert!((1.7..2.3).contains(&(pair[0] / pair[1])), "{errors:?}");
        }
    }

    const ALL: &str =
        "viscous_drag = 1\nnormal_drag = 4\nhistory_drag = 3\nfluid_density = 0\ngravity = [0, 0, 0]";
    const SPRINGS: &str = "stretch_stiffness = 100\nshear_stiffness = 20\nmemory = 0.05";

    fn thrown(reach: &str, more: &str) -> Scene {
        let underwater = format!("{ALL}\nreach = \"{reach}\"\n{more}");
        let text = format!(
            "world.gravity = [0, 0, 0]\nsph.spacing = 0.05\ntime = {{ until = 10, maximum_step = 4e-3 }}\n[[body]]\ndensity = 1200\n\
             thickness = 0.001\nvelocity = [0.5, 0.1, 0.8]\n\
             shape.sheet = {{ corner = [0, 0, 0], along = [0.4, 0, 0], across = [0, 0.4, 0] }}\n\
             [body.behaviours.springs]\n{SPRINGS}\nreach = \"{reach}\"\n[body.behaviours.underwater]\n{underwater}"
        );
        scene(&text)
    }

    /// Of what it is thrown with, water takes all, and gives none: with every reach, the energy only sinks in the end, and in
    /// a current the cloth comes to move as that does.
    #[test]
    fn water_takes_energy_and_carries_along() {
        for reach in ["window", "coimbra", "whole"] {
            let mut world = World::new(&thrown(reach, ""));
            let energy = |world: &World| -> f64 {
                let (v, m) = (world.particles.get(&VELOCITY), world.particles.get(&MASS));
                v.iter().zip(m).map(|(v, m)| 0.5 * f64::from(m * v.length_squared())).sum()
            };
            let start = energy(&world);
            let mut most = 0.0f64;
            for k in 1..=20 {
                world.advance_to(0.1 * f64::from(k)).unwrap();
                most = most.max(energy(&world));
            }
            assert!(most < start && energy(&world) < 0.01 * start, "{reach}: {most} of {start}");

            let mut world = World::new(&thrown(reach, "current = [0, 0.3, 0]"));
            world.advance_to(8.0).unwrap();
            let velocity = mean_velocity(&world);
            // The whole past of another velocity fades as t^−½ only, against a drag of k_v.
            assert!(velocity.distance(Vec3::Y * 0.3) < 0.03, "{reach}: {velocity}");
        }
    }

    #[test]
    fn a_resumed_run_remembers_the_same_bits() {
        for reach in ["coimbra", "whole"] {
            let scene = thrown(reach, "current = [0, 0.3, 0]");
            let mut world = World::new(&scene);
            world.advance_to(0.2).unwrap();
            world.forget_neighbours();
            let mut resumed = World::new(&scene);
            resumed.restore(Checkpoint::of(&scene, &world, 1)).unwrap();
            for world in [&mut world, &mut resumed] {
                world.advance_to(0.4).unwrap();
            }
            assert_eq!(world.particles.get(&POSITION), resumed.particles.get(&POSITION));
            assert_eq!(world.particles.get(&WATER_MEMORY), resumed.particles.get(&WATER_MEMORY));
        }
    }
}
