//! Cloth that cannot be stretched: after positions took the velocities, edges that are too long are put right.
//!
//! Two ways: along a list that runs out from what is held, in one pass ([Ozgen2013, ch. 6], `directional`), or over all
//! edges again and again ([Provot1995], `iterative`). Orders, corrections and where we differ from print are in
//! `structure/web.rs`. Here stands what is held: pinned nodes. Each set of them has a list of its own, made when it first occurs
//! and kept: a pin that comes or goes with time changes the list. In print, what touches a knee is held as well. That was tried, and
//! left out: a cloth that lies on a solid slides and is let go of, and every change of the list was a kick of up to 400 %.
//!
//! Velocities take the corrections with them, v += d/Δt by mass, as positions in Verlet's method do. The law needs no springs,
//! and goes with them. Sequential within a cloth, so that results are the same bits for any number of threads.
//! Kept honest by `hanging_cloths_keep_their_lengths`, `momentum_is_kept` and the tests of the lists.

use std::ops::Range;
use std::time::{Duration, Instant};

use glam::{DVec3, Vec3};

use crate::behaviour::{BehaviourUse, Default, Default3, Kind, Property, Schema, Unit, Value};
use crate::behaviours::{Around, Behaviour};
use crate::columns::{MASS, PIN, POSITION, REFERENCE, VELOCITY};
use crate::discretisation::Discretisation;
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::scene::Scene;
use crate::structure::nodes::{GONE, Nodes};
use crate::structure::web::{self, Bounds, Expansion, Firsts, Map, Motion, Plan, State, Web};
use crate::structure::{Sheet, Structure};
use crate::world::World;

pub static SCHEMA: Schema = Schema {
    name: "stretch-limit",
    summary: "cloth whose edges are not stretched by more than a limit",
    law: "|x_i − x_j| ≤ (1 + limit) l for neighbours i, j of a sheet a way l apart at rest, and for the diagonals of its cells",
    half_weight: "half of each correction",
    reference: "Ozgen2013, ch. 6; Provot1995",
    properties: &[
        Property {
            name: "method",
            meaning: "`directional`: one pass along a list that starts at what is held; `iterative`: passes over all edges",
            kind: Kind::Choice { options: &["directional", "iterative"], default: 0 },
        },
        Property {
            name: "limit",
            meaning: "largest stretch of an edge that is left alone",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.01), min: 0.0, max: 10.0 },
        },
        Property {
            name: "compression",
            meaning: "largest shortening of an edge that is left alone; at 1, all are",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(1.0), min: 0.0, max: 1.0 },
        },
        Property {
            name: "passes",
            meaning: "directional: passes along the list in a step",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(1.0), min: 1.0, max: 1000.0 },
        },
        Property {
            name: "iterations",
            meaning: "iterative: passes over all edges in a step, at most",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(10.0), min: 1.0, max: 10_000.0 },
        },
        Property {
            name: "visits",
            meaning: "directional: how often a particle is reached by the list, at most",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(6.0), min: 1.0, max: 100.0 },
        },
        Property {
            name: "order",
            meaning: "directional: which edges a front takes first: horizontal, vertical, or diagonal (shear)",
            kind: Kind::Choice { options: &ORDER_NAMES, default: 0 },
        },
        Property {
            name: "expansion",
            meaning: "directional: `fronts`: a front takes all its edges of one kind before those of the next; `nodes`: particle by particle, as printed",
            kind: Kind::Choice { options: &["fronts", "nodes"], default: 0 },
        },
        Property {
            name: "momentum",
            meaning: "directional: whether the first particle of an edge feels the push on the second; not so in print, where energy grows",
            kind: Kind::Switch { default: true },
        },
        Property {
            name: "recoil",
            meaning: "directional: share of each correction that the first particle takes, where the cloth is held in several places",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.3), min: 0.0, max: 0.5 },
        },
        Property {
            name: "down",
            meaning: "directional: which way the cloth hangs from what holds it, in the scene as written",
            kind: Kind::Vector { unit: Unit::One, default: Default3::Automatic("as gravity pulls") },
        },
    ],
};

const ORDER_NAMES: [&str; 6] = [
    "horizontal-vertical-shear",
    "horizontal-shear-vertical",
    "vertical-horizontal-shear",
    "vertical-shear-horizontal",
    "shear-horizontal-vertical",
    "shear-vertical-horizontal",
];

const ORDERS: [[web::Kind; 3]; 6] = {
    use web::Kind::{Horizontal, Shear, Vertical};
    [
        [Horizontal, Vertical, Shear],
        [Horizontal, Shear, Vertical],
        [Vertical, Horizontal, Shear],
        [Vertical, Shear, Horizontal],
        [Shear, Horizontal, Vertical],
        [Shear, Vertical, Horizontal],
    ]
};

/// Lists that are kept; the one unused for longest goes first.
const MAPS: usize = 64;

pub struct StretchLimit;

impl Behaviour for StretchLimit {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn holds_shape(&self) -> bool {
        true
    }

    fn link(
        &self,
        now: &Resolved,
        _d: &Discretisation,
        structure: &mut Structure,
        particles: &mut Particles,
    ) {
        let used = structure.sheets.iter().filter_map(|sheet| Some((sheet, now.used_by(sheet.body)?)));
        let limited = used.map(|(sheet, used)| Limited::new(sheet, used, &structure.nodes, particles));
        structure.limited = limited.collect();
    }

    fn relax(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
    ) -> f32 {
        let Structure { nodes, limited, .. } = structure;
        limited.iter_mut().map(|cloth| cloth.enforce(now, around, nodes, particles)).fold(0.0, f32::max)
    }
}

/// A cloth with its lists.
#[derive(Clone, Debug)]
pub struct Limited {
    pub body: u32,
    pub nodes: Range<u32>,
    pub web: Web,
    way: Way,
    /// Lists by the sets they are for, the last used one last.
    maps: Vec<(Vec<State>, Map)>,
    /// Wall time that its corrections took so far; how many lists had to be made, and their part of that time.
    pub spent: Duration,
    pub lists_made: u32,
    pub listing: Duration,
    // Scratch.
    states: Vec<State>,
    motion: Motion,
}

/// What a scene says of it that does not change with time.
#[derive(Clone, Copy, Debug)]
struct Way {
    is_iterative: bool,
    plan: Plan,
    momentum: bool,
}

impl Way {
    fn new(used: &BehaviourUse) -> Way {
        let choice = |name| if let Value::Choice(k) = used.value(name) { *k } else { 0 };
        let switch = |name| matches!(used.value(name), Value::Switch(true));
        let visits = if let Value::Number(curve) = used.value("visits") { curve.at(0.0) } else { 1.0 };
        let expansion = if choice("expansion") == 0 { Expansion::Fronts } else { Expansion::Nodes };
        Way {
            is_iterative: choice("method") == 1,
            plan: Plan { order: ORDERS[choice("order")], visits: visits.round() as u32, expansion },
            momentum: switch("momentum"),
        }
    }
}

impl Limited {
    fn new(sheet: &Sheet, used: &BehaviourUse, nodes: &Nodes, particles: &Particles) -> Limited {
        let reference = particles.get(&REFERENCE);
        let place = |&row: &u32| if row == GONE { Vec3::NAN } else { reference[row as usize].truncate() };
        let range = sheet.nodes.start as usize..sheet.nodes.end as usize;
        let rest: Vec<Vec3> = nodes.rows()[range].iter().map(place).collect();
        let down =
            if let Value::Vector(down) = used.value("down") { DVec3::from(*down) } else { DVec3::NEG_Y };
        let down = down.as_vec3().normalize_or_zero();
        let web = match sheet.grid {
            Some(grid) => Web::of_grid(grid, &rest, down),
            None => {
                let local = |corners: &[u32; 3]| corners.map(|node| node - sheet.nodes.start);
                Web::of_triangles(&sheet.triangles.iter().map(local).collect::<Vec<_>>(), &rest, down)
            }
        };
        Limited {
            body: sheet.body,
            nodes: sheet.nodes.clone(),
            web,
            way: Way::new(used),
            maps: Vec::new(),
            spent: Duration::ZERO,
            lists_made: 0,
            listing: Duration::ZERO,
            states: Vec::new(),
            motion: Motion::default(),
        }
    }

    /// Lets go of edges between nodes that have been torn apart.
    pub(crate) fn cut(&mut self, is_torn: impl Fn([u32; 2]) -> bool) {
        let first = self.nodes.start;
        if self.web.cut(|ends| is_torn(ends.map(|node| first + node))) {
            self.maps.clear();
        }
    }

    /// Puts its edges right. Returns how far it has moved a particle at most, m.
    fn enforce(&mut self, now: &Resolved, around: &Around, nodes: &Nodes, particles: &mut Particles) -> f32 {
        let start = Instant::now();
        let rows = &nodes.rows()[self.nodes.start as usize..self.nodes.end as usize];
        self.gather(rows, now, particles);
        let number = |name: &str| now.of_body(self.body, name, around.time).unwrap_or(0.0);
        let bounds = Bounds { shortest: 1.0 - number("compression"), longest: 1.0 + number("limit") };
        for (light, state) in self.motion.lightness.iter_mut().zip(&self.states) {
            *light = if *state == State::Free { *light } else { 0.0 };
        }
        if self.way.is_iterative {
            web::iterate(&self.web.edges, number("iterations").round() as u32, bounds, &mut self.motion);
        } else {
            let recoil = number("recoil");
            let passes = number("passes").round() as u32;
            let k = self.map();
            let map = &self.maps[k].1;
            let recoil = if map.holds > 1 { recoil } else { 0.0 };
            let firsts = Firsts { recoil, momentum: self.way.momentum };
            (0..passes).for_each(|_| web::direct(&map.list, bounds, firsts, &mut self.motion));
        }
        let moved = self.write_back(rows, around.dt, particles);
        self.spent += start.elapsed();
        moved
    }

    /// Places, masses and what is held, node by node.
    fn gather(&mut self, rows: &[u32], now: &Resolved, particles: &Particles) {
        let (position, mass, pin) = (particles.get(&POSITION), particles.get(&MASS), particles.try_get(&PIN));
        let (weight, motion) = (now.weight().coefficient(), &mut self.motion);
        self.states.clear();
        motion.places.clear();
        motion.lightness.clear();
        motion.weight.clear();
        motion.pushes.clear();
        motion.pushes.resize(rows.len(), Vec3::ZERO);
        for &row in rows {
            if row == GONE {
                self.states.push(State::Gone);
                motion.places.push(Vec3::NAN);
                motion.lightness.push(0.0);
                motion.weight.push(0.0);
                continue;
            }
            let row = row as usize;
            let is_pinned = pin.is_some_and(|pin| pin[row] > 0);
            self.states.push(if is_pinned { State::Fixed } else { State::Free });
            motion.places.push(position[row].truncate());
            motion.lightness.push(1.0 / mass[row]);
            motion.weight.push(weight.at(row));
        }
    }

    /// Place of the list for what is held now.
    fn map(&mut self) -> usize {
        match self.maps.iter().rposition(|(states, _)| *states == self.states) {
            Some(k) => self.maps[k..].rotate_left(1),
            None => {
                let start = Instant::now();
                self.lists_made += 1;
                if self.maps.len() == MAPS {
                    self.maps.remove(0);
                }
                self.maps.push((self.states.clone(), self.web.map(&self.states, &self.way.plan)));
                self.listing += start.elapsed();
            }
        }
        self.maps.len() - 1
    }

    fn write_back(&self, rows: &[u32], dt: f32, particles: &mut Particles) -> f32 {
        particles.update2((&POSITION, &VELOCITY), |position, velocity, _| {
            let mut farthest = 0.0f32;
            let corrected = self.motion.places.iter().zip(&self.motion.pushes);
            for (&row, (place, push)) in rows.iter().zip(corrected).filter(|(row, _)| **row != GONE) {
                let (position, velocity) = (&mut position[row as usize], &mut velocity[row as usize]);
                farthest = farthest.max(position.truncate().distance_squared(*place));
                *position = place.extend(position.w);
                *velocity += (*push / dt).extend(0.0);
            }
            farthest.sqrt()
        })
    }
}

/// Largest and mean stretch of each cloth that is limited, as parts of the lengths at rest.
pub fn stretch(world: &World) -> Vec<(f32, f32)> {
    let position = world.particles.get(&POSITION);
    let place = |node: u32| world.structure.nodes.row(node).map_or(Vec3::NAN, |row| position[row].truncate());
    let of_cloth = |cloth: &Limited| cloth.web.stretch(&cloth.nodes.clone().map(place).collect::<Vec<_>>());
    world.structure.limited.iter().map(of_cloth).collect()
}

/// A correction map as a picture shows it.
pub struct Shown {
    pub body: String,
    /// When what it is for is held, s.
    pub time: f64,
    /// Rows and columns, where there are any.
    pub grid: Option<(usize, usize)>,
    /// Places at rest, m.
    pub rest: Vec<Vec3>,
    pub down: Vec3,
    pub states: Vec<State>,
    pub map: Map,
}

/// Every correction map that the pins of a scene ask for, as the cloths stand at the start.
pub fn maps(scene: &Scene) -> Vec<Shown> {
    let mut world = World::new(scene);
    let mut times: Vec<f64> = scene.pins.iter().flat_map(|pin| [pin.from, pin.until]).collect();
    times.push(0.0);
    times.retain(|time| time.is_finite() && *time < scene.time.until);
    times.sort_by(f64::total_cmp);
    times.dedup();
    let mut shown: Vec<Shown> = Vec::new();
    for time in times {
        let d = world.discretisation.dimensions;
        world.structure.pins.set(time, &world.solids, d, &mut world.particles);
        for cloth in world.structure.limited.iter().filter(|cloth| !cloth.way.is_iterative) {
            let rows = &world.structure.nodes.rows()[cloth.nodes.start as usize..cloth.nodes.end as usize];
            let pin = world.particles.try_get(&PIN);
            let is_held = |row: u32| pin.is_some_and(|pin| pin[row as usize] > 0);
            let states: Vec<State> =
                rows.iter().map(|&row| if is_held(row) { State::Fixed } else { State::Free }).collect();
            let body = &scene.bodies[cloth.body as usize].name;
            if shown.iter().any(|other| other.body == *body && other.states == states) {
                continue;
            }
            let reference = world.particles.get(&REFERENCE);
            let sheet = world.structure.sheets.iter().find(|sheet| sheet.body == cloth.body);
            shown.push(Shown {
                body: body.clone(),
                time,
                grid: sheet.and_then(|sheet| sheet.grid),
                rest: rows.iter().map(|&row| reference[row as usize].truncate()).collect(),
                down: DVec3::from(scene.gravity).as_vec3().normalize_or_zero(),
                map: cloth.web.map(&states, &cloth.way.plan),
                states,
            });
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Checkpoint;
    use crate::columns::ID;
    use crate::scene;

    /// A cloth of 1 m by 1 m that hangs, with springs much too weak to hold it.
    fn hanging(spacing: f64, law: &str, pin: &str) -> Scene {
        let text = format!(
            r#"
            [sph]
            spacing = {spacing}
            [time]
            until = 2
            step = 2.5e-4
            [[body]]
            name = "cloth"
            density = 400
            thickness = 0.0005
            shape.sheet = {{ corner = [0, 0, 0], along = [1, 0, 0], across = [0, -1, 0] }}
            [body.behaviours]
            springs = {{ method = "explicit", stretch_stiffness = 20, shear_stiffness = 10 }}
            drag = {{ relaxation_time = 5 }}
            stretch-limit = {{ {law} }}
            [[force]]
            expression = ["0", "0", "1"]
            {pin}
            "#
        );
        scene::load("hanging", &text, &[]).unwrap_or_else(|problems| panic!("{problems}")).0
    }

    const TOP: &str = "[[pin]]\nshape.box = { min = [-0.1, -0.001, -0.1], max = [1.1, 0.1, 0.1] }";
    const CORNER: &str = "[[pin]]\nnearest = [[1, 0, 0]]";

    fn largest_stretch(scene: &Scene, from: f64) -> f32 {
        let mut world = World::new(scene);
        let mut most = 0.0f32;
        world
            .advance_with(scene.time.until, |world| {
                if world.clock.time > from {
                    most = most.max(stretch(world)[0].0);
                }
            })
            .unwrap();
        most
    }

    /// [Ozgen2013, 6.5]: 1681 particles, one pass, no visible stretch. Springs alone stretch by more than a tenth.
    #[test]
    fn hanging_cloths_keep_their_lengths() {
        for pin in [TOP, CORNER] {
            let most = largest_stretch(&hanging(0.025, "", pin), 0.0);
            assert!(most < 0.03, "{pin}: {most}");
        }
        let without = largest_stretch(&hanging(0.05, "weight = 1e-9", TOP), 1.0);
        assert!(without > 0.05, "{without}");
    }

    #[test]
    fn iterations_keep_lengths_too() {
        // Until it hangs straight down for the first time, where it is pulled most.
        let stretch = |law: &str| {
            let mut scene = hanging(0.05, law, CORNER);
            scene.time.until = 1.0;
            largest_stretch(&scene, 0.0)
        };
        let once = stretch("method = \"iterative\", iterations = 1");
        let often = stretch("method = \"iterative\", iterations = 20");
        assert!(often < 0.02 && often < once, "{often}, {once}");
    }

    /// Whatever is corrected: a cloth that nothing holds falls as one.
    #[test]
    fn momentum_is_kept() {
        let scene = hanging(0.05, "method = \"iterative\", limit = 0.001", "");
        let mut world = World::new(&scene);
        // Pulled apart by its corners.
        let corners = [0u32, 20, 420, 440];
        for (row, id) in world.particles.get(&ID).to_vec().into_iter().enumerate() {
            if let Some(k) = corners.iter().position(|corner| *corner == id) {
                world.particles.get_mut(&VELOCITY)[row] =
                    glam::Vec4::new(3.0 * (k as f32 - 1.5), 1.0, k as f32, 0.0);
            }
        }
        let momentum = |world: &World| {
            let rows = world.particles.get(&VELOCITY).iter().zip(world.particles.get(&MASS));
            rows.map(|(v, m)| v.truncate().as_dvec3() * f64::from(*m)).sum::<DVec3>()
        };
        let mass: f64 = world.particles.get(&MASS).iter().map(|m| f64::from(*m)).sum();
        let before = momentum(&world);
        world.step(2.5e-4).unwrap();
        // Forces and drag are known; at 0.2/s, drag takes a twenty-thousandth.
        let known = (DVec3::new(0.0, -9.80665, 0.0) * mass + DVec3::new(0.0, 0.0, 1.0) * mass) * 2.5e-4;
        let error = (momentum(&world) - before - known).length();
        assert!(error < 1e-4 * before.length().max(mass), "{error} of {before}");
        assert!(stretch(&world)[0].0 > 0.0);
    }

    #[test]
    fn a_resumed_run_makes_the_same_bits() {
        let second = "[[pin]]\nnearest = [[0, 0, 0]]\nuntil = 0.05";
        let scene = hanging(0.05, "", &format!("{CORNER}\n{second}"));
        let mut straight = World::new(&scene);
        straight.advance_to(0.04).unwrap();
        straight.forget_neighbours();
        let mut resumed = World::new(&scene);
        resumed.restore(Checkpoint::of(&scene, &straight, 1)).unwrap();
        for world in [&mut straight, &mut resumed] {
            world.advance_to(0.08).unwrap();
        }
        let bits = |world: &World| -> Vec<[u32; 4]> {
            world.particles.get(&POSITION).iter().map(|p| p.to_array().map(f32::to_bits)).collect()
        };
        assert_eq!(bits(&straight), bits(&resumed));
        // Before and after one corner was let go.
        assert_eq!(straight.structure.limited[0].lists_made, 2);
    }

    #[test]
    fn pins_that_come_and_go_have_maps_of_their_own() {
        let second = "[[pin]]\nnearest = [[0, 0, 0]]\nfrom = 0.5\nuntil = 1";
        let shown = maps(&hanging(0.05, "", &format!("{CORNER}\n{second}")));
        let held = |shown: &Shown| shown.states.iter().filter(|state| **state == State::Fixed).count();
        assert_eq!(shown.iter().map(held).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(shown.iter().map(|shown| shown.map.holds).collect::<Vec<_>>(), [1, 2]);
    }
}
