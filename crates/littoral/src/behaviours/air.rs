//! Air around cloth and ropes: resistance, wind and gusts, by the direction in which the surface faces.
//!
//! With u the velocity of the air relative to a triangle of the area A and the normal n,
//!
//!   f = ½ ρ A (C_n |u_n| u_n + C_t |u_t| u_t),   u_n = (u·n) n,  u_t = u − u_n,
//!
//! a third of it at each corner. [Bayraktar2010, Eq. 4.6] has c (n·u) n: linear, as for honey. Pieces of a rope feel what is across
//! them, ½ ρ d L C_n |u_n| u_n. The surface is open to the air on both sides; of a closed one, both the front and the back are.
//!
//! Cloth weighs less than the air it moves: taken at the start of a step, the force would turn velocities around. It is taken
//! at the velocity that it leads to, which for a piece of the mass m is u' = u − (c Δt/m) u'², c = ½ ρ A C: so
//! u' = 2u/(1 + √(1 + 4 c Δt u/m)). It never pushes too far, and needs no limit of the step.
//!
//! Gusts are a sum of waves that drift with the wind and turn over in their own time: each moves the air across its direction,
//! so that it flows in nowhere and out of nowhere, and depends on place, time and seed alone.
//!
//! The air itself is not simulated: there is no wake, and one cloth does not shelter another. Kept honest by the tests below.

use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

use crate::behaviour::{Default, Default3, Kind, Property, Schema, Unit};
use crate::behaviours::{Around, Behaviour};
use crate::columns::{MASS, POSITION, VELOCITY};
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::scene::Dimensions;
use crate::sources::uniform;
use crate::structure::{Structure, nodes::Nodes};

const fn number(
    name: &'static str,
    meaning: &'static str,
    unit: Unit,
    usual: f64,
    range: [f64; 2],
) -> Property {
    let [min, max] = range;
    Property { name, meaning, kind: Kind::Number { unit, default: Default::Value(usual), min, max } }
}

pub static SCHEMA: Schema = Schema {
    name: "air",
    summary: "air resistance, wind and gusts on sheets, nets and ropes, by the way they face",
    law: "f = ½ w ρ A (C_n |u_n| u_n + C_t |u_t| u_t), u = wind + gusts − v",
    half_weight: "half the force",
    reference: "Bayraktar2010, 4.1.2; Hoerner1965",
    properties: &[
        Property {
            name: "wind",
            meaning: "velocity of the air",
            kind: Kind::Vector { unit: Unit::MetrePerSecond, default: Default3::Value([0.0; 3]) },
        },
        number("density", "of the air, ρ", Unit::KilogramPerCubicMetre, 1.2, [0.0, 1e4]),
        number("normal_drag", "C_n, for air that meets the surface", Unit::One, 1.2, [0.0, 100.0]),
        number("tangential_drag", "C_t, for air that flows along it", Unit::One, 0.02, [0.0, 100.0]),
        number(
            "gusts",
            "root mean square of what gusts add to the wind",
            Unit::MetrePerSecond,
            0.0,
            [0.0, 1e3],
        ),
        number("gust_size", "length of the middle ones of their waves", Unit::Metre, 1.0, [1e-6, 1e6]),
        number("gust_seed", "chooses among gusts", Unit::One, 1.0, [0.0, 1e9]),
    ],
};

pub struct Air;

impl Behaviour for Air {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn is_local(&self) -> bool {
        true
    }

    fn strain(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        acceleration: &mut [Vec4],
    ) {
        let is_flat = around.discretisation.dimensions == Dimensions::Two;
        let Structure { nodes, sheets, lines, .. } = structure;
        for sheet in sheets.iter().filter(|sheet| now.is_used_by(sheet.body)) {
            let flow = Flow::new(now, sheet.body, around.time, is_flat);
            let mut forces = particles.workspace.borrow(sheet.triangles.len());
            let rows = sheet.triangles.par_iter().zip(&mut forces).with_min_len(1024);
            rows.for_each(|(corners, force)| {
                *force = flow.on_triangle(*corners, nodes, particles, around.dt) / 3.0;
            });
            // One after the other: a corner adds up its triangles in their order.
            let mass = particles.get(&MASS);
            for (corners, force) in sheet.triangles.iter().zip(&forces) {
                for row in corners.iter().filter_map(|&node| nodes.row(node)) {
                    acceleration[row] += *force / mass[row];
                }
            }
            particles.workspace.give_back([forces]);
        }
        for line in lines.iter().filter(|line| now.is_used_by(line.body)) {
            let flow = Flow::new(now, line.body, around.time, is_flat);
            let mass = particles.get(&MASS);
            for node in line.nodes.start + 1..line.nodes.end {
                let (Some(a), Some(b)) = (nodes.row(node - 1), nodes.row(node)) else { continue };
                let force = 0.5 * flow.on_piece([a, b], line.thickness as f32, particles, around.dt);
                acceleration[a] += force / mass[a];
                acceleration[b] += force / mass[b];
            }
        }
    }
}

/// Waves that gusts are made of.
const WAVES: usize = 16;

#[derive(Clone, Copy)]
struct Wave {
    /// 2π over its length, along its way, 1/m.
    number: Vec3,
    /// m/s, across its way.
    swing: Vec3,
    /// Its phase where x is 0, now.
    phase: f32,
}

/// The air at one time, and what a body takes of it.
struct Flow {
    wind: Vec3,
    /// Half of the density times each coefficient, kg/m³.
    normal: f32,
    tangential: f32,
    waves: [Wave; WAVES],
    is_gusty: bool,
    is_flat: bool,
}

impl Flow {
    fn new(now: &Resolved, body: u32, time: f64, is_flat: bool) -> Flow {
        let number = |name: &str| now.of_body(body, name, time).unwrap_or(0.0);
        let used = now.used_by(body).expect("asked for bodies that use it");
        let half = 0.5 * used.weight.at(time) as f32 * number("density");
        let wind =
            if let crate::behaviour::Value::Vector(wind) = used.value("wind") { *wind } else { [0.0; 3] };
        let wind = DVec3::from(wind);
        let (strength, size) = (f64::from(number("gusts")), f64::from(number("gust_size")));
        let seed = number("gust_seed") as u64;
        Flow {
            wind: wind.as_vec3(),
            normal: half * number("normal_drag"),
            tangential: half * number("tangential_drag"),
            waves: std::array::from_fn(|k| wave(k as u32, seed, strength, size, wind, time, is_flat)),
            is_gusty: strength > 0.0,
            is_flat,
        }
    }

    /// Velocity of the air, m/s.
    fn at(&self, x: Vec3) -> Vec3 {
        let mut air = self.wind;
        if self.is_gusty {
            for wave in &self.waves {
                air += wave.swing * (wave.number.dot(x) + wave.phase).cos();
            }
        }
        air
    }

    /// The force on a surface of area A (m²) and mass m (kg), N.
    fn force(&self, air: Vec3, normal: Vec3, area: f32, mass: f32, dt: f32) -> Vec3 {
        let across = normal * air.dot(normal);
        let push = |flow: Vec3, c: f32| {
            let (speed, c) = (flow.length(), c * area);
            flow * (c * speed * slowed(c * dt * speed / mass).powi(2))
        };
        push(across, self.normal) + push(air - across, self.tangential)
    }

    fn on_triangle(&self, corners: [u32; 3], nodes: &Nodes, particles: &Particles, dt: f32) -> Vec4 {
        let [Some(a), Some(b), Some(c)] = corners.map(|node| nodes.row(node)) else { return Vec4::ZERO };
        let (x, v, m) = (particles.get(&POSITION), particles.get(&VELOCITY), particles.get(&MASS));
        let cross = (x[b] - x[a]).truncate().cross((x[c] - x[a]).truncate());
        let area = 0.5 * cross.length();
        let middle = ((x[a] + x[b] + x[c]) / 3.0).truncate();
        let velocity = ((v[a] + v[b] + v[c]) / 3.0).truncate();
        // Six triangles meet at a corner.
        let mass = (m[a] + m[b] + m[c]) / 6.0;
        self.force(self.at(middle) - velocity, cross.normalize_or_zero(), area, mass, dt).extend(0.0)
    }

    /// A piece of a rope; in 2-D, of a sheet that is seen from its edge.
    fn on_piece(&self, [a, b]: [usize; 2], thickness: f32, particles: &Particles, dt: f32) -> Vec4 {
        let (x, v, m) = (particles.get(&POSITION), particles.get(&VELOCITY), particles.get(&MASS));
        let along = (x[b] - x[a]).truncate();
        let air = self.at(((x[a] + x[b]) * 0.5).truncate()) - ((v[a] + v[b]) * 0.5).truncate();
        let way = along.normalize_or_zero();
        let across = air - way * air.dot(way);
        let area = along.length() * if self.is_flat { 1.0 } else { thickness };
        let mass = 0.5 * (m[a] + m[b]);
        self.force(air, across.normalize_or_zero(), area, mass, dt).extend(0.0)
    }
}

/// What is left of a speed, as a part of it, by a resistance that would take `part` of it at its start.
fn slowed(part: f32) -> f32 {
    2.0 / (1.0 + (1.0 + 4.0 * part).sqrt())
}

/// One of the waves of a gust, at a time. All have the same share of the mean square.
fn wave(k: u32, seed: u64, strength: f64, size: f64, wind: DVec3, time: f64, is_flat: bool) -> Wave {
    let chance = |axis: u32| uniform(seed, k, axis);
    // Lengths from half the size to twice it.
    let number =
        std::f64::consts::TAU / (size * 2f64.powf(2.0 * (f64::from(k) + chance(0)) / WAVES as f64 - 1.0));
    let turn = std::f64::consts::TAU * chance(1);
    let height = if is_flat { 0.0 } else { 2.0 * uniform(seed.wrapping_add(1), k, 0) - 1.0 };
    let flat = (1.0 - height * height).sqrt();
    let way = DVec3::new(flat * turn.cos(), flat * turn.sin(), height);
    let (one, other) =
        if is_flat { (DVec3::new(-way.y, way.x, 0.0), DVec3::ZERO) } else { way.any_orthonormal_pair() };
    let (sin, cos) = if is_flat {
        (0.0, 1.0)
    } else {
        (std::f64::consts::TAU * uniform(seed.wrapping_add(1), k, 1)).sin_cos()
    };
    let swing = (one * cos + other * sin) * strength * (2.0 / WAVES as f64).sqrt();
    let start = std::f64::consts::TAU * uniform(seed.wrapping_add(1), k, 2);
    let phase = start + number * (strength - way.dot(wind)) * time;
    Wave {
        number: (way * number).as_vec3(),
        swing: swing.as_vec3(),
        phase: phase.rem_euclid(std::f64::consts::TAU) as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene;
    use crate::world::World;

    fn world(text: &str) -> World {
        let (scene, _) =
            scene::load("air", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
        World::new(&scene)
    }

    /// A light sheet that lies flat in the air sinks with √(2σg/(ρC)), one on its edge much faster.
    #[test]
    fn a_sheet_sinks_as_fast_as_air_lets_it() {
        let sink = |across: &str, air: &str| {
            let text = format!(
                "[sph]\nspacing = 0.05\n[time]\nuntil = 2\nmaximum_step = 1e-3\n[[body]]\ndensity = 200\nthickness = 0.001\n\
                 shape.sheet = {{ corner = [0, 0, 0], along = [0.4, 0, 0], across = {across} }}\n\
                 [body.behaviours.springs]\n[body.behaviours.air]\n{air}"
            );
            let mut world = world(&text);
            world.advance_to(2.0).unwrap();
            let velocity = world.particles.get(&VELOCITY);
            velocity.iter().map(|v| v.y).sum::<f32>() / velocity.len() as f32
        };
        let expected = (2.0 * 0.2 * 9.81 / (1.2 * 1.2f32)).sqrt();
        let flat = -sink("[0, 0, 0.4]", "");
        // Taken at the end of the step, the force lags by c Δt u/m = 0.6 %.
        assert!((flat / expected - 1.0).abs() < 0.02, "{flat} m/s instead of {expected}");
        assert!(-sink("[0, 0.4, 0]", "") > 4.0 * expected);
        // Wind from below holds it up.
        let held = sink("[0, 0, 0.4]", &format!("wind = [0, {expected}, 0]"));
        assert!(held.abs() < 0.02 * expected, "{held}");
    }

    #[test]
    fn gusts_flow_in_nowhere_and_have_their_strength() {
        for is_flat in [false, true] {
            let waves = std::array::from_fn(|k| wave(k as u32, 7, 2.0, 0.5, DVec3::X, 3.0, is_flat));
            let flow =
                Flow { wind: Vec3::ZERO, normal: 0.0, tangential: 0.0, waves, is_gusty: true, is_flat };
            let (mut square, mut inflow, mut slope) = (0.0, 0.0f32, 0.0f32);
            let count = 4000;
            for i in 0..count {
                let place = |axis| 20.0 * uniform(1, i, axis) as f32;
                let x = Vec3::new(place(0), place(1), if is_flat { 0.0 } else { place(2) });
                square += flow.at(x).length_squared();
                let step = 5e-3;
                let change =
                    |axis: Vec3| (flow.at(x + axis * step) - flow.at(x - axis * step)) / (2.0 * step);
                inflow = inflow.max((change(Vec3::X).x + change(Vec3::Y).y + change(Vec3::Z).z).abs());
                slope = slope.max(change(Vec3::X).length());
            }
            let strength = (square / count as f32).sqrt();
            assert!((strength - 2.0).abs() < 0.1, "{strength}");
            // Central differences of a wave are off by (kΔx)²/6, 3 in a thousand for the shortest.
            assert!(inflow < 0.02 * slope, "{inflow} of {slope}");
        }
    }
}
