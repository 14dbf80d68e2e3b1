//! What a step fetches from the particles of a net, and gives back.

use glam::Vec4;
use rayon::prelude::*;

use super::approximations::Factor;
use super::eights::Eights;
use crate::columns::{ACCELERATION, MASS, PIN, POSITION, VELOCITY};
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::solve::patches::Patches;
use crate::structure::nodes::GONE;

/// Nodes that a thread takes at once.
pub(super) const MIN_ROWS: usize = 512;

/// Rows of the nodes of a net, and vectors of its solve: filled anew in every step.
#[derive(Default)]
pub struct Scratch {
    pub(crate) place: Vec<Vec4>,
    /// Velocities after all other forces, and before them, m/s.
    pub(super) motion: Vec<Vec4>,
    pub(super) old: Vec<Vec4>,
    pub(super) mass: Vec<f32>,
    pub(super) is_held: Vec<bool>,
    /// Properties of the four kinds of springs.
    pub(super) strength: Vec<Vec4>,
    /// Friction of each kind over its stiffness, s.
    pub(super) damping: [f32; 4],
    /// Viscoelasticity of all kinds over their stiffness, s^q, and friction that comes of it in this step, s.
    pub(super) memory: f32,
    pub(super) late_friction: f32,
    /// What is known of D^q of the nodes' ways at the end of the step; only where there is a memory.
    pub(super) recalled: Vec<Vec4>,
    pub(super) compression: f32,
    pub(super) tear_strain: f32,
    pub(super) is_gone: Vec<bool>,
    /// Nodes whose springs have been cut since they are gone.
    pub(super) lost: usize,
    /// What springs pull their ends with, N.
    pub(super) pull: Vec<Vec4>,
    pub(super) force: Vec<Vec4>,
    /// For each spring: what its part of the matrix is made of, a + s sᵀ, as (s, a).
    pub(super) stiff: Vec<Vec4>,
    pub(super) eights: Eights,
    pub(super) blocks: Vec<[Vec4; 3]>,
    pub(super) patches: Patches,
    pub(super) x: Vec<Vec4>,
    pub(crate) residual: Vec<Vec4>,
    pub(super) direction: Vec<Vec4>,
    pub(super) product: Vec<Vec4>,
    pub(super) sums: Vec<[f64; 3]>,
    pub(super) strain: Vec<f32>,
    pub(super) factor: Factor,
}

impl Scratch {
    /// Fetches what particles know.
    pub(super) fn gather(&mut self, rows: &[u32], now: &Resolved, particles: &Particles, dt: f32) {
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
    pub(super) fn recall(&mut self, rows: &[u32], memory: f32, slope: f32, known: &[Vec4]) {
        (self.memory, self.late_friction) = (memory, memory * slope);
        self.recalled.clear();
        if memory > 0.0 {
            let of = |&row: &u32| if row == GONE { Vec4::ZERO } else { known[row as usize] };
            self.recalled.extend(rows.iter().map(of));
        }
    }

    /// Gives velocities back.
    pub(super) fn scatter(&self, rows: &[u32], particles: &mut Particles) {
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
