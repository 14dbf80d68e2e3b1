//! Resistance of still air: a = −v/τ, the same for every particle of a body.
//!
//! A stand-in for the air that is not simulated: it does not know the shape of the body. Kept honest by the
//! exponential decay in the tests.

use crate::backend::wgsl::Wgsl;
use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Behaviour, LimitState, longest_step};
use crate::columns::VELOCITY;
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::timestep::{Limit, Limits};
use glam::Vec4;
use rayon::prelude::*;

pub static SCHEMA: Schema = Schema {
    name: "drag",
    summary: "slowed by still air",
    law: "a = −w v/τ",
    half_weight: "half the deceleration",
    reference: "Bayraktar2010, Eq. 4.5",
    properties: &[Property {
        name: "relaxation_time",
        meaning: "time τ in which a speed falls to 1/e",
        kind: Kind::Number { unit: Unit::Second, default: Default::Required, min: 1e-6, max: 1e9 },
    }],
};

pub struct Drag;

impl Behaviour for Drag {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn is_local(&self) -> bool {
        true
    }

    fn accelerate(&self, now: &Resolved, particles: &Particles, acceleration: &mut [Vec4]) {
        let (weight, time) = (now.weight().coefficient(), now.field("relaxation_time").coefficient());
        let velocity = particles.get(&VELOCITY);
        acceleration.par_iter_mut().with_min_len(8192).enumerate().for_each(|(i, a)| {
            *a -= velocity[i] * (weight.at(i) / time.at(i));
        });
    }

    fn limit(&self, now: &Resolved, _state: &LimitState, limits: &mut Limits) {
        limits.offer(Limit::Drag, 0.5 * now.field("relaxation_time").min());
    }

    fn wgsl(&self, now: &Resolved, state: &LimitState) -> Option<Wgsl> {
        Some(
            Wgsl::new(include_str!("drag.wgsl"))
                .constant("longest_step", longest_step(self, now, state))
                .table("weight", now.weight_by_body())
                .table("relaxation_time", now.by_body("relaxation_time")),
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::columns::VELOCITY;
    use crate::scene;
    use crate::world::World;

    #[test]
    fn speed_decays_exponentially() {
        let text = r#"
            [world]
            gravity = [0, 0, 0]
            [sph]
            spacing = 0.1
            [time]
            until = 1
            step = 1e-3
            [[body]]
            name = "dust"
            density = 1
            velocity = [3, 0, 4]
            shape.box = { min = [0, 0, 0], max = [0.3, 0.3, 0.3] }
            [body.behaviours.drag]
            relaxation_time = 0.5
            "#;
        let (scene, _) = scene::load("drag", text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
        let mut world = World::new(&scene);
        world.advance_to(1.0).unwrap();
        for v in world.particles.get(&VELOCITY) {
            // Euler's (1 − Δt/τ)ⁿ differs from the exponential by Δt t/(2τ²) = 0.2 %.
            assert!((v.length() - 5.0 * (-2.0f32).exp()).abs() < 5.0 * 3e-3 * (-2.0f32).exp());
        }
    }
}
