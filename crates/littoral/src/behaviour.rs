//! What a behaviour is, to everything that is not physics: a [`Schema`].
//!
//! The schema is data. Scene checking, `littoral behaviours <name>`, the JSON Schema for editors and `--set`
//! are all derived from it, so that a new behaviour is described once, beside its law.

use crate::timeline::Curve;

/// A model a body can follow: its properties, their units and what they mean.
#[derive(Debug)]
pub struct Schema {
    /// As written in a scene: `[body.behaviours.<name>]`.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// The equation, in plain text.
    pub law: &'static str,
    /// What a weight of one half does.
    pub half_weight: &'static str,
    /// Where it comes from: a key of the bibliography, and the equation's number.
    pub reference: &'static str,
    pub properties: &'static [Property],
}

impl Schema {
    /// Place of a property in [`Schema::properties`], and so in [`BehaviourUse::values`].
    pub fn index_of(&self, property: &str) -> Option<usize> {
        self.properties.iter().position(|p| p.name == property)
    }
}

/// One adjustable quantity of a behaviour.
#[derive(Debug)]
pub struct Property {
    pub name: &'static str,
    pub meaning: &'static str,
    pub kind: Kind,
}

/// What values a property takes.
#[derive(Debug)]
pub enum Kind {
    /// May be keyframed over time or over a column.
    Number {
        unit: Unit,
        default: Default,
        min: f64,
        max: f64,
    },
    /// A vector, fixed for the whole run.
    Vector {
        unit: Unit,
        default: Default3,
    },
    /// One of a few words.
    Choice {
        options: &'static [&'static str],
        default: usize,
    },
    Switch {
        default: bool,
    },
}

/// Where a number comes from when a scene does not give it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    Value(f64),
    /// Derived from the rest of the scene; the text says how.
    Automatic(&'static str),
    /// The scene, or the material it names, must give it.
    Required,
}

/// The same for a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default3 {
    Value([f64; 3]),
    Automatic(&'static str),
}

/// Units that properties and scene keys are measured in; values inside are always SI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Pure number.
    One,
    Metre,
    /// Permeability.
    SquareMetre,
    Second,
    MetrePerSecond,
    MetrePerSecondSquared,
    KilogramPerCubicMetre,
    Pascal,
    PascalSecond,
    NewtonPerMetre,
    /// Gas stiffness k in p = k(ρ − ρ₀): a squared speed.
    SquareMetrePerSecondSquared,
    /// Diffusivity.
    SquareMetrePerSecond,
    PerSecond,
    CubicMetrePerSecond,
    Degree,
    Kelvin,
    /// A moment; of bending stiffness for each metre of width, N·m²/m.
    NewtonMetre,
    /// Drag of a surface: a pressure over a velocity.
    PascalSecondPerMetre,
    /// The same over a derivative of order q.
    PascalSecondToTheOrderPerMetre,
    /// What a derivative of order q is multiplied with to be a number of the path's own unit.
    SecondToTheOrder,
}

impl Unit {
    /// As printed after a number; empty for a pure number.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::One => "",
            Unit::Metre => "m",
            Unit::SquareMetre => "m²",
            Unit::Second => "s",
            Unit::MetrePerSecond => "m/s",
            Unit::MetrePerSecondSquared => "m/s²",
            Unit::KilogramPerCubicMetre => "kg/m³",
            Unit::Pascal => "Pa",
            Unit::PascalSecond => "Pa·s",
            Unit::NewtonPerMetre => "N/m",
            Unit::SquareMetrePerSecondSquared => "m²/s²",
            Unit::SquareMetrePerSecond => "m²/s",
            Unit::PerSecond => "1/s",
            Unit::CubicMetrePerSecond => "m³/s",
            Unit::Degree => "°",
            Unit::Kelvin => "K",
            Unit::NewtonMetre => "N·m",
            Unit::PascalSecondPerMetre => "Pa·s/m",
            Unit::PascalSecondToTheOrderPerMetre => "Pa·s^q/m",
            Unit::SecondToTheOrder => "s^q",
        }
    }
}

/// A behaviour as one body uses it, after checking.
#[derive(Clone, Debug)]
pub struct BehaviourUse {
    pub schema: &'static Schema,
    /// 0 to 1: how much of the law the particle feels.
    pub weight: Curve,
    /// In the order of [`Schema::properties`].
    pub values: Vec<Value>,
}

/// A checked value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(Curve),
    Vector([f64; 3]),
    Choice(usize),
    Switch(bool),
    /// Left to the engine ([`Default::Automatic`]).
    Automatic,
}

impl BehaviourUse {
    /// With every property at its default; required ones are [`Value::Automatic`] until a material or a scene sets them.
    pub fn with_defaults(schema: &'static Schema) -> BehaviourUse {
        let values = schema
            .properties
            .iter()
            .map(|property| match property.kind {
                Kind::Number { default: Default::Value(v), .. } => Value::Number(Curve::constant(v)),
                Kind::Vector { default: Default3::Value(v), .. } => Value::Vector(v),
                Kind::Choice { default, .. } => Value::Choice(default),
                Kind::Switch { default } => Value::Switch(default),
                Kind::Number { .. } | Kind::Vector { .. } => Value::Automatic,
            })
            .collect();
        BehaviourUse { schema, weight: Curve::constant(1.0), values }
    }

    /// The value of a property of this schema.
    ///
    /// # Panics
    /// If the schema has no such property: a typing error in the engine, not in a scene.
    pub fn value(&self, property: &str) -> &Value {
        let index = self.schema.index_of(property);
        &self.values[index.unwrap_or_else(|| panic!("{} has no `{property}`", self.schema.name))]
    }
}
