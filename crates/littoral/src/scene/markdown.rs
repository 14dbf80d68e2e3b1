//! The tables of `docs/scene-format.md`, made from what the reader uses; a test keeps the document up to date.

use super::keys::{self, Fallback, Key, Section, Want};
use super::suggest::list_of;
use super::units;
use super::values::{show, show_range};
use crate::behaviour::{Default, Default3, Kind, Property, Unit};
use crate::behaviours;
use crate::materials::MATERIALS;

/// Every table with the name it has in the document.
pub fn key_tables() -> Vec<(&'static str, String)> {
    let mut tables: Vec<(&'static str, String)> = [
        &keys::ROOT,
        &keys::WORLD,
        &keys::BOX,
        &keys::SPH,
        &keys::TIMES,
        &keys::SOLVER,
        &keys::BODY,
        &keys::SHAPE,
        &keys::SHAPE_BOX,
        &keys::SPHERE,
        &keys::CYLINDER,
        &keys::CAPSULE,
        &keys::CONE,
        &keys::TORUS,
        &keys::PLANE,
        &keys::SHEET,
        &keys::LINE,
        &keys::NET,
        &keys::TURNED,
        &keys::MESH,
        &keys::ROTATE,
        &keys::HEIGHTFIELD,
        &keys::NOISE,
        &keys::UNION,
        &keys::DIFFERENCE,
        &keys::INTERSECTION,
        &keys::SHELL,
        &keys::ROUND,
        &keys::PLACE,
        &keys::JET,
        &keys::RAIN,
        &keys::FILL,
        &keys::SURFACE,
        &keys::INTERFACE,
        &keys::REFINE,
        &keys::SINK,
        &keys::FORCE,
        &keys::LOCALISED,
        &keys::ATTRACTOR,
        &keys::VORTEX,
        &keys::EXPLOSION,
        &keys::SHAKE,
        &keys::WIND,
        &keys::SOLID,
        &keys::MOTION,
        &keys::SOLID_SHAKE,
        &keys::FREE,
        &keys::JOINT,
        &keys::PICTURE,
        &keys::CAMERA,
        &keys::SKY,
        &keys::SUN,
        &keys::GROUND,
        &keys::LAMP,
        &keys::LOOK,
    ]
    .into_iter()
    .map(|section| (section.name, section_table(section)))
    .collect();
    tables.push(("materials", material_table()));
    tables.push(("behaviours", behaviour_tables()));
    tables.push(("units", unit_table()));
    tables
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    line(&head) + &rule + &rows.map(|row| line(&row)).collect::<String>()
}

fn section_table(section: &Section) -> String {
    let row = |key: &Key| {
        vec![format!("`{}`", key.name), takes(&key.want), fallback(&key.fallback), key.meaning.to_owned()]
    };
    table(&["key", "takes", "default", "meaning"], section.keys.iter().map(row))
}

fn takes(want: &Want) -> String {
    match want {
        Want::Text => "a text".to_owned(),
        Want::Whole { max: i64::MAX, min } => format!("a whole number from {min}"),
        Want::Whole { min, max } if *max == min + 1 => format!("{min} or {max}"),
        Want::Whole { min, max } => format!("a whole number from {min} to {max}"),
        Want::Number(range) => show_range(range),
        Want::Curve(range) => format!("{}, or keys", show_range(range)),
        Want::Vector(Unit::One) | Want::Spatial(Unit::One) => "a vector".to_owned(),
        Want::Vector(unit) | Want::Spatial(unit) => format!("a vector, {}", unit.symbol()),
        Want::Vectors(unit) => format!("a list of vectors, {}", unit.symbol()),
        Want::Motion(unit) | Want::Path(unit) => format!("a vector, {}, or keys", unit.symbol()),
        Want::Texts(what) => format!("a list of {what}"),
        Want::Colour => "a colour".to_owned(),
        Want::Size { .. } => "two whole numbers".to_owned(),
        Want::Flag => "true or false".to_owned(),
        Want::Word(options) => list_of(options),
        Want::Words(options) if options.len() > 3 => "a list of sides".to_owned(),
        Want::Words(_) => "a list of axes".to_owned(),
        Want::Material => "a material".to_owned(),
        Want::TwoBodies => "two names of bodies".to_owned(),
        Want::SideVectors(unit) => format!("sides and vectors, {}", unit.symbol()),
        Want::Table(_) | Want::Behaviours => "a table".to_owned(),
        Want::OneOf(section) if section.keys.len() > 3 => format!("a {}", section.name),
        Want::OneOf(section) => {
            let names: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
            list_of(&names)
        }
        Want::ManyOf(section) => format!("a list of {}s", section.name),
        Want::Tables(_) => "tables".to_owned(),
    }
}

fn fallback(fallback: &Fallback) -> String {
    match fallback {
        Fallback::Required => "**required**".to_owned(),
        Fallback::Number(value) => show(*value),
        Fallback::Vector(value) => format!("[{}]", value.map(show).join(", ")),
        Fallback::Word(word) => format!("`{word}`"),
        Fallback::Flag(flag) => flag.to_string(),
        Fallback::Derived(how) => (*how).to_owned(),
    }
}

fn material_table() -> String {
    let head = ["name", "what", "density, kg/m³", "dynamic viscosity, Pa·s", "surface tension, N/m"];
    let rows = MATERIALS.iter().map(|material| {
        vec![
            format!("`{}`", material.name),
            material.summary.to_owned(),
            show(material.density),
            show(material.dynamic_viscosity),
            show(material.surface_tension),
        ]
    });
    table(&head, rows)
}

fn behaviour_tables() -> String {
    let all = behaviours::REGISTRY.iter().map(|behaviour| behaviour.schema());
    let one = |schema: &crate::behaviour::Schema| {
        let rows = schema.properties.iter().map(property_row);
        format!(
            "### `{}`\n{}.\n\n`{}`. A weight of one half: {}.\n\n{}",
            schema.name,
            schema.summary,
            schema.law,
            schema.half_weight,
            table(&["property", "takes", "default", "meaning"], rows)
        )
    };
    all.map(one).collect::<Vec<_>>().join("\n")
}

fn property_row(property: &Property) -> Vec<String> {
    let (takes, default) = match property.kind {
        Kind::Number { unit, default, min, max } => {
            let default = match default {
                Default::Value(value) => show(value),
                Default::Automatic(how) => how.to_owned(),
                Default::Required => "the material's, else **required**".to_owned(),
            };
            (format!("{}, or keys", show_range(&keys::Range { unit, min, max })), default)
        }
        Kind::Vector { unit, default } => {
            let default = match default {
                Default3::Value(value) => format!("[{}]", value.map(show).join(", ")),
                Default3::Automatic(how) => how.to_owned(),
            };
            (format!("a vector, {}", unit.symbol()), default)
        }
        Kind::Choice { options, default } => (list_of(options), format!("`{}`", options[default])),
        Kind::Switch { default } => ("true or false".to_owned(), default.to_string()),
    };
    vec![format!("`{}`", property.name), takes, default, property.meaning.to_owned()]
}

fn unit_table() -> String {
    let rows = units::all().map(|unit| {
        let plain = if unit == Unit::One { "–" } else { unit.symbol() };
        vec![units::quantity(unit).to_owned(), plain.to_owned(), units::accepted(unit)]
    });
    table(&["quantity", "plain numbers are in", "or a text with"], rows)
}
