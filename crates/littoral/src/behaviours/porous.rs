//! Porous: a body whose particles hold liquid, which flows between them [Lenaerts2009, ch. 6; Bayraktar2010, 3.2.3].
//!
//! Here stands what a scene says of it, and what a body is at the start. The flow, and the exchange with the fluid around, are in
//! `pores/`, with their equations.
//!
//! Liquid changes the body: it is heavier, by all that it holds; swollen, by a strain of `swelling` times the saturation; and pushed
//! apart by the pressure in full pores, σ − ηp [Lenaerts2009, Eq. 6.11] (`solve/elastic.rs`). That it gets weaker is said
//! where its strength is: `young_modulus = { over = "saturation", keys = … }`. Grains of sand rub by the pressure less that of the
//! liquid in their pores (`behaviours/sand.rs`).

use crate::behaviour::{Default, Default3, Kind, Property, Schema, Unit};
use crate::behaviours::Behaviour;
use crate::columns::*;
use crate::discretisation::Discretisation;
use crate::particles::Particles;
use crate::pores::split;
use crate::resolve::{Resolved, value_at};
use crate::structure::Structure;

pub static SCHEMA: Schema = Schema {
    name: "porous",
    summary: "holds liquid in its pores: soaks it up, lets it flow inside, gives it back where it is squeezed or too full",
    law: "v = −(K/μ) S^β ∇(p − ρg·x), p = −P_c(1 − S)^α in pores that are not full; heavier, swollen, pushed apart by what it holds",
    half_weight: "the same as 1: pores are there or not",
    reference: "Lenaerts2009, 6.3–6.6; Bayraktar2010, Eqs. 3.30–3.32; Leverett1941; vanWyk1946; Bishop1959",
    properties: &[
        Property {
            name: "porosity",
            meaning: "part of the volume that is pores, φ",
            kind: Kind::Number { unit: Unit::One, default: Default::Required, min: 0.01, max: 0.99 },
        },
        Property {
            name: "permeability",
            meaning: "how easily liquid passes full pores, K; over x, y, z or a formula, it stays with the particles as they were at the start",
            kind: Kind::Number { unit: Unit::SquareMetre, default: Default::Required, min: 1e-20, max: 1e-4 },
        },
        Property {
            name: "permeability_along",
            meaning: "permeability along x, y and z of the body at rest, as parts of K",
            kind: Kind::Vector { unit: Unit::One, default: Default3::Value([1.0, 1.0, 1.0]) },
        },
        Property {
            name: "capillarity",
            meaning: "how pores pull: with (1 − S)^α, or by Leverett's J(S) with the surface tension",
            kind: Kind::Choice { options: &["power", "leverett"], default: 0 },
        },
        Property {
            name: "capillary_pressure",
            meaning: "pull of dry pores, P_c, where they pull with a power",
            kind: Kind::Number { unit: Unit::Pascal, default: Default::Value(15e3), min: 0.1, max: 1e8 },
        },
        Property {
            name: "capillary_exponent",
            meaning: "α: small, pores pull until they are nearly full",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.1), min: 0.01, max: 10.0 },
        },
        Property {
            name: "surface_tension",
            meaning: "σ in Leverett's P_c = σ √(φ/K)",
            kind: Kind::Number {
                unit: Unit::NewtonPerMetre,
                default: Default::Value(0.0728),
                min: 1e-6,
                max: 10.0,
            },
        },
        Property {
            name: "flow_exponent",
            meaning: "β: permeability falls to a part S^β in pores that are not full",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(7.0), min: 0.0, max: 20.0 },
        },
        Property {
            name: "pore_stiffness",
            meaning: "pressure that would widen full pores to twice their volume",
            kind: Kind::Number { unit: Unit::Pascal, default: Default::Value(5e4), min: 1.0, max: 1e10 },
        },
        Property {
            name: "squeeze_pressure",
            meaning: "of sheets, cloth and ropes: P in p = P (J⁻³ − 1), with J the thickness under a pressure p of contact over that at rest",
            kind: Kind::Number { unit: Unit::Pascal, default: Default::Value(1e3), min: 0.1, max: 1e10 },
        },
        Property {
            name: "stress_coupling",
            meaning: "η: part of the pressure in full pores that pushes an elastic body apart; in sand, of what full pores take off the grains and others press on them",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(1.0), min: 0.0, max: 1.0 },
        },
        Property {
            name: "swelling",
            meaning: "strain of an elastic body that is full",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.0), min: 0.0, max: 1.0 },
        },
        Property {
            name: "saturation",
            meaning: "part of the pores that is full at the start, S",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.0), min: 0.0, max: 1.0 },
        },
        Property {
            name: "liquid_density",
            meaning: "density ρ of what the pores hold; fluids of this density, within 1 %, are taken in",
            kind: Kind::Number {
                unit: Unit::KilogramPerCubicMetre,
                default: Default::Automatic("that of the first fluid of the scene, or 1000"),
                min: 1.0,
                max: 1e5,
            },
        },
        Property {
            name: "liquid_viscosity",
            meaning: "its dynamic viscosity μ",
            kind: Kind::Number {
                unit: Unit::PascalSecond,
                default: Default::Value(1e-3),
                min: 1e-7,
                max: 1e6,
            },
        },
    ],
};

pub struct Porous;

impl Behaviour for Porous {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn require_columns(&self, particles: &mut Particles) {
        for column in [
            &SATURATION,
            &LIQUID,
            &LIQUID_REST,
            &FILM,
            &FILM_REST,
            &PORE_PRESSURE,
            &PORE_STRESS,
            &PORE_STIFFNESS,
            &SQUEEZE,
            &FELT_PRESSURE,
            &SWELLING,
            &DRY_MASS,
            &PORE_VOLUME,
            &PERMEABILITY,
        ] {
            particles.require(column);
        }
    }

    fn weigh(&self, _now: &Resolved, particles: &mut Particles) {
        particles.update2((&MASS, &DRY_MASS), |mass, dry, particles| {
            let wet = particles.get(&LIQUID).iter().zip(particles.get(&FILM));
            for ((mass, dry), (liquid, film)) in
                mass.iter_mut().zip(dry).zip(wet).filter(|((_, dry), _)| **dry > 0.0)
            {
                *dry = *mass;
                *mass += liquid + film;
            }
        });
    }

    fn link(&self, now: &Resolved, d: &Discretisation, structure: &mut Structure, particles: &mut Particles) {
        for (body, nodes) in structure.nodes.bodies().filter(|(body, _)| now.is_used_by(*body)) {
            let rows = &structure.nodes.rows()[nodes.start as usize..nodes.end as usize];
            start(now, body, rows, true, particles);
        }
        let sheets = &structure.sheets;
        let thickness_of = |body: u32| {
            let own = sheets.iter().find(|sheet| sheet.body == body && sheet.layers == 1);
            own.map_or(0.0, |sheet| sheet.thickness)
        };
        structure.pores.link(now, d, &structure.nodes, thickness_of, particles);
        fill_grains(now, structure.pores.granular(), particles);
    }
}

/// Fills the pores of grains that have just been born.
pub fn fill_grains(now: &Resolved, bodies: &[u32], particles: &mut Particles) {
    for &body in bodies {
        let own = particles.get(&BODY).iter().zip(particles.get(&DRY_MASS)).enumerate();
        let dry = own.filter(|(_, (of, dry))| **of == body && **dry == 0.0);
        let rows: Vec<u32> = dry.map(|(row, _)| row as u32).collect();
        start(now, body, &rows, false, particles);
    }
}

/// Fills the pores of particles that have just been born; those that have come from a checkpoint know their dry mass.
fn start(now: &Resolved, body: u32, rows: &[u32], is_shaped: bool, particles: &mut Particles) {
    let number = |name: &str| now.of_body(body, name, 0.0).unwrap_or(0.0);
    let (porosity, density, saturation) =
        (number("porosity"), number("liquid_density"), number("saturation"));
    let permeability = now.curve_of(body, "permeability");
    for &row in rows.iter().filter(|row| **row != crate::structure::nodes::GONE) {
        let i = row as usize;
        if particles.get(&DRY_MASS)[i] > 0.0 {
            continue;
        }
        let dry = particles.get(&MASS)[i];
        // Of the material: a sheet's particles stand for another volume to the fluid around.
        let volume = if is_shaped { dry / particles.get(&DENSITY)[i] } else { particles.get(&VOLUME)[i] };
        let liquid = f64::from(density * porosity * saturation) * f64::from(volume);
        let own = permeability.as_ref().map_or(0.0, |curve| value_at(curve, 0.0, particles, i));
        particles.get_mut(&DRY_MASS)[i] = dry;
        particles.get_mut(&PORE_VOLUME)[i] = volume;
        particles.get_mut(&PERMEABILITY)[i] = own;
        (particles.get_mut(&LIQUID)[i], particles.get_mut(&LIQUID_REST)[i]) = split(liquid);
        particles.get_mut(&SATURATION)[i] = saturation;
        particles.get_mut(&MASS)[i] = (f64::from(dry) + liquid) as f32;
    }
}
