//! How far back a behaviour remembers: properties that all behaviours with a memory share, and what they mean to `memory.rs`.

use crate::behaviour::{BehaviourUse, Default, Kind, Property, Unit, Value};
use crate::memory::{MOST_COLUMNS, Reach};
use crate::solve::fractional::{LOWEST_TOLERANCE, ORDERS, Rule};

/// What must be the same for all bodies, and at all times: particles have one past.
pub const COMMON: [&str; 5] = ["order", "reach", "steps", "horizon", "tolerance"];

pub const ORDER: Property = Property {
    name: "order",
    meaning: "order q of the derivative: at 1 only the present counts, at 0 all of the past counts alike",
    kind: Kind::Number { unit: Unit::One, default: Default::Value(0.5), min: ORDERS[0], max: ORDERS[1] },
};

pub const REACH: Property = Property {
    name: "reach",
    meaning: "how far back: over the last steps by the product-trapezoidal rule or by Coimbra's, or over the whole past",
    kind: Kind::Choice { options: &["window", "coimbra", "whole"], default: 0 },
};

pub const fn steps(usual: f64) -> Property {
    Property {
        name: "steps",
        meaning: "steps of the window; a whole number",
        kind: Kind::Number {
            unit: Unit::One,
            default: Default::Value(usual),
            min: 1.0,
            max: MOST_COLUMNS as f64,
        },
    }
}

pub const fn horizon(usual: f64) -> Property {
    Property {
        name: "horizon",
        meaning: "time after which the whole past fades",
        kind: Kind::Number { unit: Unit::Second, default: Default::Value(usual), min: 1e-9, max: 1e9 },
    }
}

pub const TOLERANCE: Property = Property {
    name: "tolerance",
    meaning: "relative error of the kernel up to the horizon, where the whole past counts",
    kind: Kind::Number { unit: Unit::One, default: Default::Value(1e-4), min: LOWEST_TOLERANCE, max: 0.1 },
};

/// A property that does not change.
pub fn number(used: &BehaviourUse, property: &str) -> f64 {
    match used.value(property) {
        Value::Number(curve) => curve.at(0.0),
        Value::Choice(k) => *k as f64,
        other => unreachable!("`{property}` is {other:?}"),
    }
}

pub fn reach(used: &BehaviourUse) -> Reach {
    let steps = number(used, "steps") as usize;
    match used.value("reach") {
        Value::Choice(0) => Reach::Window { steps, rule: Rule::Trapezoid },
        Value::Choice(1) => Reach::Window { steps, rule: Rule::Coimbra },
        _ => Reach::Whole { tolerance: number(used, "tolerance"), horizon: number(used, "horizon") },
    }
}

/// Whether a number is ever more than 0.
pub fn is_ever_on(used: &BehaviourUse, property: &str) -> bool {
    matches!(used.value(property), Value::Number(curve) if curve.max() > 0.0)
}
