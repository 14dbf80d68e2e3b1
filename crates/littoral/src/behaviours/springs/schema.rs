//! What can be set of springs.

use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit, Value};
use crate::behaviours::past::{self, is_ever_on};

const fn number(name: &'static str, meaning: &'static str, unit: Unit, usual: f64, max: f64) -> Property {
    Property { name, meaning, kind: Kind::Number { unit, default: Default::Value(usual), min: 0.0, max } }
}

pub static SCHEMA: Schema = Schema {
    name: "springs",
    summary: "cloth, ropes and soft bodies: particles joined by springs that may tear",
    law: "m a_i = −w Σ_j (k(|x_ij| − L) + τk n·v_ij) n + g x_ij, by backward Euler",
    half_weight: "half the stiffness",
    reference: "Ozgen2013, 6.3; Bayraktar2010, 4.1, 5.6; BaraffWitkin1998",
    properties: &[
        number(
            "stretch_stiffness",
            "of cloth: tension over strain, for each metre of width",
            Unit::NewtonPerMetre,
            1000.0,
            1e9,
        ),
        number(
            "shear_stiffness",
            "of cloth with rows: shear force over angle, for each metre of width",
            Unit::NewtonPerMetre,
            200.0,
            1e9,
        ),
        number(
            "bend_stiffness",
            "of cloth: moment over curvature, for each metre of width",
            Unit::NewtonMetre,
            1e-5,
            1e6,
        ),
        number("young_modulus", "of soft bodies: stress over strain, inside", Unit::Pascal, 1e4, 1e11),
        number(
            "compression",
            "part of the stiffness that stretch and shear springs have when they are pushed together",
            Unit::One,
            1.0,
            1.0,
        ),
        number(
            "stretch_damping",
            "friction of stretch springs over their stiffness",
            Unit::Second,
            0.0,
            10.0,
        ),
        number("shear_damping", "friction of shear springs over their stiffness", Unit::Second, 0.0, 10.0),
        number(
            "bend_damping",
            "friction of bending over its stiffness; it also slows the turning of what is bent",
            Unit::Second,
            0.0,
            10.0,
        ),
        number("inner_damping", "friction of inner springs over their stiffness", Unit::Second, 0.0, 10.0),
        number(
            "memory",
            "viscoelasticity of all springs over their stiffness: what multiplies the derivative of order q of their ends' ways",
            Unit::SecondToTheOrder,
            0.0,
            100.0,
        ),
        past::ORDER,
        past::REACH,
        past::steps(3.0),
        past::horizon(1.0),
        past::TOLERANCE,
        number(
            "tear_strain",
            "springs longer than this, over their length at rest less 1, are cut; 0 for never",
            Unit::One,
            0.0,
            100.0,
        ),
        Property {
            name: "across",
            meaning: "springs through a closed net, from each corner to the one opposite",
            kind: Kind::Switch { default: true },
        },
        Property {
            name: "method",
            meaning: "how velocities follow from forces",
            kind: Kind::Choice {
                options: &["implicit", "undamped", "explicit", "filter", "neighbours"],
                default: 0,
            },
        },
        Property {
            name: "error",
            meaning: "what the solve may leave, as a fraction of what springs do in a step",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(1e-2), min: 1e-7, max: 0.5 },
        },
        Property {
            name: "iterations",
            meaning: "after which the solve ends in any case; fewer are faster, and leave fine cloth longer than it should be",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(20.0), min: 1.0, max: 1e4 },
        },
    ],
};

/// How velocities follow from forces, in the order of the property's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Implicit,
    Undamped,
    Explicit,
    Filter,
    Neighbours,
}

impl Method {
    pub(super) fn of(used: &BehaviourUse) -> Method {
        use Method::*;
        let all = [Implicit, Undamped, Explicit, Filter, Neighbours];
        if let Value::Choice(k) = used.value("method") { all[*k] } else { Implicit }
    }
}

/// Whether springs used in this way remember.
pub fn remember(used: &BehaviourUse) -> bool {
    is_ever_on(used, "memory")
}

/// Whether the method has room for a memory: its friction is a part of the solve.
pub fn may_remember(used: &BehaviourUse) -> bool {
    matches!(Method::of(used), Method::Implicit | Method::Undamped)
}

/// Place of `filter` among the methods.
pub const FILTER: usize = Method::Filter as usize;
