//! Linear gas pressure [Desbrun1996; Lenaerts2009, 3.2].
//!
//! p = k (ρ − ρ₀), clamped at 0 unless `tension` is on. Softer than Tait's at the same speed of sound √k once
//! the fluid is compressed. Kept honest by `littoral validate conservation`.

use crate::backend::wgsl::Wgsl;
use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Behaviour, LimitState, PressureLaw};
use crate::resolve::Resolved;
use crate::timestep::{Limit, Limits};

pub static SCHEMA: Schema = Schema {
    name: "gas",
    summary: "soft fluid: pressure rises in proportion to density",
    law: "p = w k (ρ − ρ₀), at least 0 unless `tension` is on",
    half_weight: "half the pressure: a fluid √½ times as stiff in sound speed",
    reference: "Desbrun1996; Lenaerts2009, 3.2",
    properties: &[
        Property {
            name: "stiffness",
            meaning: "k, the square of the speed of sound",
            kind: Kind::Number {
                unit: Unit::SquareMetrePerSecondSquared,
                default: Default::Automatic("(10 × the fastest flow the scene can make)²"),
                min: 1e-12,
                max: 1e10,
            },
        },
        Property {
            name: "tension",
            meaning: "let the pressure fall below zero; for flows without a free surface",
            kind: Kind::Switch { default: false },
        },
    ],
};

pub struct Gas;

impl Behaviour for Gas {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn has_pressure(&self) -> bool {
        true
    }

    fn pressure_law<'a>(&self, now: &'a Resolved) -> Option<PressureLaw<'a>> {
        let stiffness = now.weighted("stiffness").coefficient();
        let tension = now.field("tension").coefficient();
        Some(Box::new(move |i, ratio, rest_density| {
            let share = stiffness.at(i) * rest_density * (ratio - 1.0);
            if tension.at(i) == 0.0 { share.max(0.0) } else { share }
        }))
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        let d = state.discretisation;
        let speed = now.weighted("stiffness").max().max(0.0).sqrt();
        limits.offer(Limit::Sound, 0.4 * d.smoothing_length() / (speed + state.speed).max(f32::MIN_POSITIVE));
    }

    fn wgsl(&self, now: &Resolved, _state: &LimitState) -> Option<Wgsl> {
        Some(
            Wgsl::new(include_str!("gas.wgsl"))
                .constant("fastest", now.weighted("stiffness").max().max(0.0).sqrt())
                .table("stiffness", now.weighted_by_body("stiffness"))
                .table("tension", now.by_body("tension")),
        )
    }
}
