//! Rigid bodies of particles: those keep their places to each other, and move as one.
//!
//! How is in `structure/rigid.rs`. In a step, the velocities that forces have made become one motion before the pressure is solved for; pressure and
//! contact move the body, not its particles; and after positions took the velocities, the shape is put right. The mass is that of the particles,
//! whatever they hold: a `porous` body gets heavier as it soaks.
//!
//! Unlike a [[solid]], which is a shape with a surface and rapier's business, this is a body of nodes like `elastic`: a boundary that
//! fluids push, a thing that `contact` keeps from others. Its surface is as rough as balls a spacing apart are.

use glam::DVec3;

use crate::behaviour::{BehaviourUse, Schema};
use crate::behaviours::{Around, Behaviour, Solved};
use crate::columns::{REFERENCE, SUPPORT, VELOCITY};
use crate::discretisation::Discretisation;
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::scene::Dimensions;
use crate::solids::Wrench;
use crate::structure::bonds::Bonds;
use crate::structure::nodes::GONE;
use crate::structure::{RigidBodies, Structure};

pub static SCHEMA: Schema = Schema {
    name: "rigid",
    summary: "moves as one rigid body, with the momentum and angular momentum of its particles",
    law: "v = V + Ω × (x − c), V = Σ m v/M, Ω = I⁻¹ Σ m (x − c) × v; x = c + R (X − X̄) of the places at rest",
    half_weight: "goes half the way to that motion and to that shape in each step",
    reference: "Lenaerts2009, 4.3; Horn1987",
    properties: &[],
};

pub struct Rigid;

impl Behaviour for Rigid {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn holds_shape(&self) -> bool {
        true
    }

    fn link(&self, now: &Resolved, d: &Discretisation, structure: &mut Structure, particles: &mut Particles) {
        let is_flat = d.dimensions == Dimensions::Two;
        structure.rigid = RigidBodies::default();
        for (_, nodes) in structure.nodes.bodies().filter(|(body, _)| now.is_used_by(*body)) {
            let rows = &structure.nodes.rows()[nodes.start as usize..nodes.end as usize];
            let own = |row: u32| (row != GONE).then_some(row as usize);
            let (reference, support) = (particles.get(&REFERENCE), particles.get(&SUPPORT));
            // Who is gone has no neighbours.
            let place = |&row: &u32| own(row).map_or(DVec3::NAN, |row| reference[row].truncate().as_dvec3());
            let places: Vec<DVec3> = rows.iter().map(place).collect();
            let support = rows.iter().find_map(|&row| own(row)).map_or(d.support, |row| support[row]);
            let spacing = f64::from(support) * f64::from(d.spacing) / f64::from(d.support);
            let bonds = Bonds::new(&places, &vec![1.0; places.len()], spacing, d.dimensions, false);
            structure.rigid.add(&bonds, nodes.start, rows, is_flat, particles.get_mut(&REFERENCE));
        }
    }

    fn has_solve(&self, _used: &BehaviourUse) -> bool {
        true
    }

    /// The last of those that hold a shape: what the others have made of the velocities becomes one motion.
    fn solve(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        _pushes: &mut [Wrench],
    ) -> Option<Solved> {
        structure.rigid.find(now.weight(), &structure.nodes, around.rows.periods(), particles);
        structure.rigid.project(particles.get_mut(&VELOCITY));
        None
    }

    fn rub(
        &self,
        _now: &Resolved,
        _around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        _pushes: &mut [Wrench],
    ) -> Option<Solved> {
        structure.rigid.project(particles.get_mut(&VELOCITY));
        None
    }

    fn relax(
        &self,
        _now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
    ) -> f32 {
        structure.rigid.settle(f64::from(around.dt), around.rows.periods(), particles)
    }
}
