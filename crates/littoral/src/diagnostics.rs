//! Sums over all particles that tell how a run fares.
//!
//! Terms are added in f64, in blocks of a fixed size and in a fixed order, so that the sums are the same bits
//! for any number of threads.

use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::behaviour::Value;
use crate::columns::{BODY, DENSITY, MASS, POSITION, VELOCITY};
use crate::pores::Water;
use crate::scene::{Body, Scene};
use crate::timeline::Driver;
use crate::world::World;

/// Energies are per metre of depth in 2-D worlds, as masses are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// ½ Σ m v², J.
    pub kinetic_energy: f64,
    /// −Σ m g·x, J.
    pub potential_energy: f64,
    /// Σ m v, kg·m/s.
    pub momentum: [f64; 3],
    /// Largest ρ/ρ₀ − 1. Only excess counts: beside a free surface, kernels are not full and ρ is below ρ₀.
    pub density_error_max: f64,
    /// Mean of the same, 0 where ρ is below ρ₀.
    pub density_error_mean: f64,
    /// Where the liquid is, kg, where something is porous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub water: Option<Water>,
}

const BLOCK: usize = 4096;

/// Measures the world as it is.
pub fn measure(scene: &Scene, world: &World) -> Diagnostics {
    let particles = &world.particles;
    let (mass, body) = (particles.get(&MASS), particles.get(&BODY));
    let (position, velocity) = (particles.get(&POSITION), particles.get(&VELOCITY));
    let density = particles.get(&DENSITY);
    let gravity: Vec<DVec3> =
        scene.bodies.iter().map(|body| gravity(scene, body, world.clock.time)).collect();

    let block = |start: usize| {
        let mut sum = Sums::default();
        for i in start..(start + BLOCK).min(particles.len()) {
            let m = f64::from(mass[i]);
            let v = velocity[i].truncate().as_dvec3();
            let x = position[i].truncate().as_dvec3();
            let rest = f64::from(world.bodies[body[i] as usize].rest_density);
            let excess = (f64::from(density[i]) / rest - 1.0).max(0.0);
            sum.kinetic += 0.5 * m * v.length_squared();
            sum.potential -= m * gravity[body[i] as usize].dot(x);
            sum.momentum += m * v;
            sum.excess += excess;
            sum.worst = sum.worst.max(excess);
        }
        sum
    };
    let starts: Vec<usize> = (0..particles.len()).step_by(BLOCK).collect();
    let blocks: Vec<Sums> = starts.into_par_iter().map(block).collect();
    let total = blocks.into_iter().fold(Sums::default(), Sums::and);
    let count = particles.len().max(1) as f64;
    Diagnostics {
        kinetic_energy: total.kinetic,
        potential_energy: total.potential,
        momentum: total.momentum.to_array(),
        density_error_max: total.worst,
        density_error_mean: total.excess / count,
        water: world.water(),
    }
}

#[derive(Clone, Copy, Default)]
struct Sums {
    kinetic: f64,
    potential: f64,
    momentum: DVec3,
    excess: f64,
    worst: f64,
}

impl Sums {
    fn and(self, other: Sums) -> Sums {
        Sums {
            kinetic: self.kinetic + other.kinetic,
            potential: self.potential + other.potential,
            momentum: self.momentum + other.momentum,
            excess: self.excess + other.excess,
            worst: self.worst.max(other.worst),
        }
    }
}

/// Gravity that a body feels, m/s². Where its weight runs over a column there is no potential; it counts in full.
fn gravity(scene: &Scene, body: &Body, time: f64) -> DVec3 {
    let Some(gravity) = body.behaviours.iter().find(|one| one.schema.name == "gravity") else {
        return DVec3::ZERO;
    };
    let acceleration = match gravity.value("acceleration") {
        Value::Vector(own) => *own,
        _ => scene.gravity,
    };
    let weight = if gravity.weight.driver == Driver::Time { gravity.weight.at(time) } else { 1.0 };
    weight * DVec3::from(acceleration)
}
