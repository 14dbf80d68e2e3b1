//! Cloth whose particles keep their distances, and nothing else [Lenaerts2009, 4.4.2].
//!
//! Like a shell, but of the neighbourhood at rest only lengths are kept: orientations are free to change, so that it folds. Each bond is a
//! spring along the line between its ends, with the weight w that SPH gives it:
//!
//!   f_i = Σ_j κ_ij w_ij (|x_ij| − |X_ij|) x_ji/|x_ij|,   κ = 3 (E_i V_i/S_i + E_j V_j/S_j)/2,
//!
//! where S = Σ w r²/2. Springs in all directions of a plane make a sheet of Young's modulus E and Poisson's ratio 1/3; those
//! of a grid, with eight neighbours, are a fifth stiffer along its rows and softer across. Bending is not resisted
//! at all, but for what the next nearest neighbours do: bonds across a fold get shorter, by a second-order amount.
//!
//! [Lenaerts2009] damps cloth by artificial viscosity; here it is inner friction η ε̇ along the bonds, which resists no rotation.
//!
//! Reads `POSITION`, `REFERENCE`, `MASS`; keeps `ELASTIC_CHANGE`. Kept honest by a test in `elastic.rs`.

use super::elastic::{VISCOSITY, follow_breaks, for_each, link, worse};
use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Around, Behaviour, Solved};
use crate::columns::ELASTIC_CHANGE;
use crate::discretisation::Discretisation;
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::solids::Wrench;
use crate::solve::elastic::{Form, Matter};
use crate::structure::Structure;

pub static SCHEMA: Schema = Schema {
    name: "sph-cloth",
    summary: "a layer that keeps distances and folds freely",
    law: "f = Σ κ w (|x_ij| − |X_ij|) x_ji/|x_ij|, with κ so that the sheet has Young's modulus E",
    half_weight: "half the stiffness, and half the inner friction",
    reference: "Lenaerts2009, 4.4.2",
    properties: &[
        Property {
            name: "young_modulus",
            meaning: "Young's modulus E of the sheet; Poisson's ratio is 1/3",
            kind: Kind::Number { unit: Unit::Pascal, default: Default::Required, min: 1e-3, max: 1e13 },
        },
        VISCOSITY,
        Property {
            name: "break_strain",
            meaning: "strain at which a bond is cut; 0: never",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.0), min: 0.0, max: 1e3 },
        },
    ],
};

pub struct SphCloth;

impl Behaviour for SphCloth {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn holds_shape(&self) -> bool {
        true
    }

    fn require_columns(&self, particles: &mut Particles) {
        particles.require(&ELASTIC_CHANGE);
    }

    fn link(&self, now: &Resolved, d: &Discretisation, structure: &mut Structure, particles: &mut Particles) {
        link(Form::Distances, now, d, structure, particles);
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
        let (modulus, viscosity) = (now.weighted("young_modulus"), now.weighted("viscosity"));
        for_each(Form::Distances, false, now, structure, |body, structure| {
            let periods = around.rows.periods();
            body.find(&structure.nodes, particles);
            body.describe(|row| Matter {
                modulus: modulus.at(row),
                retardation: viscosity.at(row) / modulus.at(row).max(f32::MIN_POSITIVE),
                ..Matter::default()
            });
            follow_breaks(body, now.field("break_strain"), None, periods, particles);
            body.strain(periods, particles);
            solved = worse(solved, body.solve(around, periods, &structure.pins, particles, pushes));
        });
        solved
    }
}
