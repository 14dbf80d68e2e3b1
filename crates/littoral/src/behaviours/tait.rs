//! Tait pressure for weakly compressible fluids [Becker2007; Lenaerts2009, Eqs. 3.6–3.7].
//!
//! p = ρ₀c²/γ (δ^γ − 1) with δ = ρ/ρ₀, clamped at 0 unless `tension` is on: near a free surface the density is
//! underestimated, and tension there would be noise. Kept honest by `littoral validate hydrostatic-column`.

use crate::backend::wgsl::Wgsl;
use crate::behaviour::{Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Behaviour, LimitState, PressureLaw};
use crate::resolve::Resolved;
use crate::timestep::{Limit, Limits};

pub static SCHEMA: Schema = Schema {
    name: "tait",
    summary: "nearly incompressible fluid: pressure rises steeply with density",
    law: "p = w ρ₀c²/γ ((ρ/ρ₀)^γ − 1), at least 0 unless `tension` is on",
    half_weight: "half the pressure: a fluid √½ times as stiff in sound speed",
    reference: "Becker2007; Lenaerts2009, Eqs. 3.6, 3.7, 3.10; Bayraktar2010, Eqs. 3.20, 3.21",
    properties: &[
        Property {
            name: "sound_speed",
            meaning: "speed of sound c; ten times the fastest flow keeps density within 1 %",
            kind: Kind::Number {
                unit: Unit::MetrePerSecond,
                default: Default::Automatic("10 × the fastest flow the scene can make"),
                min: 1e-6,
                max: 1e5,
            },
        },
        Property {
            name: "exponent",
            meaning: "stiffening exponent γ",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(7.0), min: 1.0, max: 7.0 },
        },
        Property {
            name: "tension",
            meaning: "let the pressure fall below zero; for flows without a free surface",
            kind: Kind::Switch { default: false },
        },
        Property {
            name: "background",
            meaning: "pressure added everywhere, as a fraction of ρ₀c²; keeps stretched flows from clumping",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.0), min: 0.0, max: 1.0 },
        },
    ],
};

pub struct Tait;

impl Behaviour for Tait {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn has_pressure(&self) -> bool {
        true
    }

    fn pressure_law<'a>(&self, now: &'a Resolved) -> Option<PressureLaw<'a>> {
        let weight = now.weight().coefficient();
        let speed = now.field("sound_speed").coefficient();
        let exponent = now.field("exponent").coefficient();
        let tension = now.field("tension").coefficient();
        let background = now.field("background").coefficient();
        Some(Box::new(move |i, ratio, rest_density| {
            let stiffness = rest_density * speed.at(i) * speed.at(i);
            let mut share = stiffness * law(ratio, exponent.at(i));
            if tension.at(i) == 0.0 {
                share = share.max(0.0);
            }
            weight.at(i) * (share + stiffness * background.at(i))
        }))
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        let d = state.discretisation;
        limits.offer(
            Limit::Sound,
            0.4 * d.smoothing_length() / (fastest(now) + state.speed).max(f32::MIN_POSITIVE),
        );
    }

    fn wgsl(&self, now: &Resolved, _state: &LimitState) -> Option<Wgsl> {
        let wgsl = Wgsl::new(include_str!("tait.wgsl"))
            .constant("fastest", fastest(now))
            .table("weight", now.weight_by_body());
        let properties = ["sound_speed", "exponent", "tension", "background"];
        Some(properties.into_iter().fold(wgsl, |wgsl, name| wgsl.table(name, now.by_body(name))))
    }
}

/// Fastest sound in any body, m/s.
fn fastest(now: &Resolved) -> f32 {
    now.field("sound_speed").max() * now.weight().max().max(0.0).sqrt()
}

/// (δ^γ − 1)/γ. Whole exponents are multiplied out: exact on every machine, and faster.
#[inline(always)]
fn law(ratio: f32, exponent: f32) -> f32 {
    let power = if exponent == 7.0 {
        let cube = ratio * ratio * ratio;
        cube * cube * ratio
    } else if exponent == 1.0 {
        ratio
    } else {
        libm::powf(ratio, exponent)
    };
    (power - 1.0) / exponent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stiffness_at_rest_is_the_square_of_the_sound_speed() {
        // dp/dρ = c² at δ = 1, whatever the exponent: d law/dδ = 1.
        for exponent in [1.0, 3.5, 7.0] {
            let slope = (law(1.01, exponent) - law(0.99, exponent)) / 0.02;
            assert!((slope - 1.0).abs() < 1e-2, "{exponent}: {slope}"); // second differences of δ^7
        }
        assert_eq!(law(1.0, 7.0), 0.0);
    }
}
