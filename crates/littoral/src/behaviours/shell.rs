//! Thin shells: one layer of particles that resists stretching and bending.
//!
//! A sheet, or any body of one layer, of thickness t. In its surface it is Hooke's solid in plane stress, seen from the rotation of its tangent plane:
//! `solve/elastic.rs`, with fits that span two directions. Across it, neighbours of a layer with curvature κ lie
//! κ r²cos²θ/2 off the tangent plane. That is what the fit leaves, less what it left at rest: a curved shell is at rest as it was
//! made. The energy ½ Σ w β (n·e)² with β = 32 D V/(3t Σ w r⁴) is ½ D κ² for each m² of a layer that is bent to a cylinder, with
//!
//!   D = E t³/12(1 − ν²).
//!
//! Its anticlastic curvature, when it is free to have one, is that of ν = 1/3, whatever ν is in the surface: the sum knows one
//! number only. Particles are as far apart as the body's spacing, however thin the shell.
//!
//! [Lenaerts2009, 4.4] has the same model as for volumes on one layer, where bending is not resisted to first order.
//!
//! Reads `POSITION`, `REFERENCE`, `MASS`; keeps `ROTATION`, `ELASTIC_CHANGE`. Kept honest by `littoral validate cantilever-sheet`.

use super::elastic::{VISCOSITY, follow_breaks, for_each, link, worse};
use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Around, Behaviour, Solved};
use crate::columns::{ELASTIC_CHANGE, ROTATION};
use crate::discretisation::Discretisation;
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::solids::Wrench;
use crate::solve::elastic::{Form, Matter};
use crate::structure::Structure;

pub static SCHEMA: Schema = Schema {
    name: "shell",
    summary: "a layer that resists stretching and bending",
    law: "f = −∂U/∂x, U = Σ V (μ ε:ε + ½λ (tr ε)²) + ½ D κ² for each m², D = E t³/12(1 − ν²)",
    half_weight: "half the stiffness, and half the inner friction",
    reference: "Lenaerts2009, 4.4; Kugelstadt2021",
    properties: &[
        Property {
            name: "young_modulus",
            meaning: "Young's modulus E",
            kind: Kind::Number { unit: Unit::Pascal, default: Default::Required, min: 1e-3, max: 1e13 },
        },
        Property {
            name: "poisson_ratio",
            meaning: "Poisson's ratio ν",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.3), min: 0.0, max: 0.49 },
        },
        VISCOSITY,
        Property {
            name: "break_strain",
            meaning: "strain at which a bond is cut; 0: never",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.0), min: 0.0, max: 1e3 },
        },
    ],
};

pub struct Shell;

impl Behaviour for Shell {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn holds_shape(&self) -> bool {
        true
    }

    fn require_columns(&self, particles: &mut Particles) {
        particles.require(&ROTATION);
        particles.require(&ELASTIC_CHANGE);
    }

    fn link(&self, now: &Resolved, d: &Discretisation, structure: &mut Structure, particles: &mut Particles) {
        link(Form::Layer, now, d, structure, particles);
    }

    fn has_solve(&self, _used: &BehaviourUse) -> bool {
        true
    }

    fn solve(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        pushes: &mut [Wrench],
    ) -> Option<Solved> {
        let mut solved = None;
        let [modulus, ratio, viscosity] =
            [now.weighted("young_modulus"), now.field("poisson_ratio"), now.weighted("viscosity")];
        for_each(Form::Layer, false, now, structure, |body, structure| {
            let periods = around.rows.periods();
            let thickness = structure.thickness_of(body.body) as f32;
            body.find(&structure.nodes, particles);
            body.describe(|row| {
                let (e, nu) = (modulus.at(row), ratio.at(row));
                Matter {
                    modulus: e,
                    lame: e * nu / (1.0 - nu * nu),
                    shear: e / (2.0 * (1.0 + nu)),
                    rigidity: e * thickness * thickness / (12.0 * (1.0 - nu * nu)),
                    retardation: viscosity.at(row) / e.max(f32::MIN_POSITIVE),
                    ..Matter::default()
                }
            });
            follow_breaks(body, now.field("break_strain"), None, periods, particles);
            body.strain(periods, particles);
            solved = worse(solved, body.solve(around, periods, &structure.pins, particles, pushes));
        });
        solved
    }
}
