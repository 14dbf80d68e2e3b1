//! Weight: a = g. Kept honest by `free_fall` and `hydrostatic-column`.

use crate::backend::wgsl::Wgsl;
use crate::behaviour::{Default3, Kind, Property, Schema, Unit};
use crate::behaviours::{Behaviour, LimitState};
use crate::particles::Particles;
use crate::resolve::Resolved;
use glam::Vec4;
use rayon::prelude::*;

pub static SCHEMA: Schema = Schema {
    name: "gravity",
    summary: "falls; every body has it unless its weight is 0",
    law: "a = w g",
    half_weight: "falls with half the acceleration",
    reference: "Lenaerts2009, 7.2.1",
    properties: &[Property {
        name: "acceleration",
        meaning: "acceleration of free fall",
        kind: Kind::Vector {
            unit: Unit::MetrePerSecondSquared,
            default: Default3::Automatic("`world.gravity`"),
        },
    }],
};

pub struct Gravity;

impl Behaviour for Gravity {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn is_local(&self) -> bool {
        true
    }

    fn accelerate(&self, now: &Resolved, _particles: &Particles, acceleration: &mut [Vec4]) {
        let weight = now.weight();
        let [x, y, z] = now.vector("acceleration");
        if let (Some(w), Some(x), Some(y), Some(z)) =
            (weight.as_uniform(), x.as_uniform(), y.as_uniform(), z.as_uniform())
        {
            let g = Vec4::new(x, y, z, 0.0) * w;
            acceleration.par_iter_mut().with_min_len(16384).for_each(|a| *a += g);
            return;
        }
        acceleration.par_iter_mut().with_min_len(16384).enumerate().for_each(|(i, a)| {
            *a += Vec4::new(x.at(i), y.at(i), z.at(i), 0.0) * weight.at(i);
        });
    }

    fn wgsl(&self, now: &Resolved, _state: &LimitState) -> Option<Wgsl> {
        let along = |axis| now.components_by_body("acceleration", axis);
        let wgsl = Wgsl::new(include_str!("gravity.wgsl")).table("weight", now.weight_by_body());
        Some(wgsl.table("x", along(0)).table("y", along(1)).table("z", along(2)))
    }
}
