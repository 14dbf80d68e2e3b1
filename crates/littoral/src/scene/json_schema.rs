//! A JSON Schema of the scene format, for editors that complete and check TOML as it is written.
//!
//! Made from the tables the reader itself uses, so that it cannot lag behind. What a schema cannot say (bodies
//! that overlap, steps that are unstable) stays with [`super::load`].

use serde_json::{Map, Value, json};

use super::keys::{EMITTER, Fallback, Key, ROOT, Range, SHAPE, SIDES, Section, Want};
use super::values::show_range;
use super::{DRIVER_COLUMNS, units};
use crate::behaviour::{Default, Default3, Kind, Property, Schema, Unit};
use crate::behaviours;
use crate::materials;
use crate::timeline::Ease;

/// The schema of a whole scene file.
pub fn json_schema() -> Value {
    let mut schema = section(&ROOT);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("littoral scene");
    // Shapes are made of shapes: what can hold itself has a name.
    schema["$defs"] = json!({ SHAPE.name: choice(&SHAPE), EMITTER.name: choice(&EMITTER) });
    schema
}

fn section(section: &Section) -> Value {
    let properties: Map<String, Value> =
        section.keys.iter().map(|key| (key.name.to_owned(), described(key))).collect();
    let required: Vec<&str> =
        section.keys.iter().filter(|key| key.fallback == Fallback::Required).map(|key| key.name).collect();
    json!({
        "type": "object",
        "description": section.meaning,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn described(key: &Key) -> Value {
    let mut schema = wanted(&key.want);
    let unit = match &key.want {
        Want::Number(range) | Want::Curve(range) => Some(range.unit),
        Want::Vector(unit)
        | Want::Vectors(unit)
        | Want::Spatial(unit)
        | Want::Motion(unit)
        | Want::Path(unit)
        | Want::SideVectors(unit) => Some(*unit),
        _ => None,
    };
    let default = match key.fallback {
        Fallback::Derived("") | Fallback::Required => None,
        Fallback::Derived(how) => Some(how.to_owned()),
        Fallback::Number(value) => Some(super::values::show(value)),
        Fallback::Vector(value) => Some(format!("{value:?}")),
        Fallback::Word(word) => Some(format!("\"{word}\"")),
        Fallback::Flag(flag) => Some(flag.to_string()),
    };
    schema["description"] = json!(description(key.meaning, unit, default));
    schema
}

fn description(meaning: &str, unit: Option<Unit>, default: Option<String>) -> String {
    let mut text = meaning.to_owned();
    if let Some(symbol) = unit.map(Unit::symbol).filter(|symbol| !symbol.is_empty()) {
        text += &format!(", in {symbol}");
    }
    if let Some(default) = default {
        text += &format!(" (default: {default})");
    }
    text
}

fn wanted(want: &Want) -> Value {
    match want {
        Want::Text => json!({ "type": "string" }),
        Want::Whole { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Want::Number(range) => number(range),
        Want::Curve(range) => curve(range),
        Want::Vector(unit) | Want::Spatial(unit) => vector(*unit),
        Want::Vectors(unit) => json!({ "type": "array", "minItems": 1, "items": vector(*unit) }),
        Want::Motion(unit) | Want::Path(unit) => motion(*unit),
        Want::Texts(_) => json!({ "type": "array", "items": { "type": "string" } }),
        Want::Colour => json!({ "anyOf": [
            { "type": "string", "pattern": "^#[0-9a-fA-F]{6}$" },
            { "type": "array", "items": { "type": "number", "minimum": 0, "maximum": 1 }, "minItems": 3, "maxItems": 3 },
        ] }),
        Want::Size { min, max } => {
            let item = json!({ "type": "integer", "minimum": min, "maximum": max });
            json!({ "type": "array", "items": item, "minItems": 2, "maxItems": 2 })
        }
        Want::Flag => json!({ "type": "boolean" }),
        Want::Word(options) => json!({ "enum": options }),
        Want::Words(options) => json!({ "type": "array", "items": { "enum": options } }),
        Want::Material => json!({ "enum": materials::names() }),
        Want::TwoBodies => {
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 })
        }
        Want::SideVectors(unit) => {
            let sides: Map<String, Value> =
                SIDES.iter().map(|side| ((*side).to_owned(), vector(*unit))).collect();
            json!({ "type": "object", "properties": sides, "additionalProperties": false })
        }
        Want::Table(below) => section(below),
        Want::OneOf(below) => json!({ "$ref": format!("#/$defs/{}", below.name) }),
        Want::ManyOf(below) => {
            let item = json!({ "$ref": format!("#/$defs/{}", below.name) });
            json!({ "type": "array", "items": item, "minItems": 1 })
        }
        Want::Tables(below) => json!({ "type": "array", "items": section(below) }),
        Want::Behaviours => {
            let all = behaviours::REGISTRY.iter().map(|behaviour| behaviour.schema());
            let tables: Map<String, Value> =
                all.map(|schema| (schema.name.to_owned(), behaviour(schema))).collect();
            json!({ "type": "object", "properties": tables, "additionalProperties": false })
        }
    }
}

/// A table that holds exactly one of its keys.
fn choice(below: &Section) -> Value {
    let mut schema = section(below);
    (schema["minProperties"], schema["maxProperties"]) = (json!(1), json!(1));
    schema
}

/// A number in SI, or a text with a unit.
fn number(range: &Range) -> Value {
    let text = format!("a number with a unit: {}", units::accepted(range.unit));
    json!({ "anyOf": [
        { "type": "number", "minimum": range.min, "maximum": range.max, "description": show_range(range) },
        { "type": "string", "description": text },
    ] })
}

fn vector(unit: Unit) -> Value {
    let item = json!({ "anyOf": [
        { "type": "number" },
        { "type": "string", "description": format!("a number with a unit: {}", units::accepted(unit)) },
    ] });
    json!({ "type": "array", "items": item, "minItems": 2, "maxItems": 3 })
}

fn motion(unit: Unit) -> Value {
    let key = json!({
        "type": "array",
        "prefixItems": [{ "type": ["number", "string"] }, vector(unit)],
        "minItems": 2,
        "maxItems": 2,
    });
    let keys =
        json!({ "type": "array", "items": key, "minItems": 1, "description": "pairs [time, [x, y, z]]" });
    let table = json!({
        "type": "object",
        "properties": { "keys": keys, "ease": { "enum": Ease::NAMES } },
        "required": ["keys"],
        "additionalProperties": false,
    });
    json!({ "anyOf": [vector(unit), keys, table] })
}

fn curve(range: &Range) -> Value {
    let at = json!({ "type": ["number", "string"] });
    let key = json!({ "type": "array", "prefixItems": [at, number(range)], "minItems": 2, "maxItems": 2 });
    let keys = json!({ "type": "array", "items": key, "minItems": 1, "description": "pairs [at, value]" });
    let drivers: Vec<&str> = std::iter::once("time").chain(DRIVER_COLUMNS.iter().copied()).collect();
    let table = json!({
        "type": "object",
        "properties": {
            "over": { "enum": drivers },
            "formula": { "type": "string" },
            "keys": keys,
            "ease": { "enum": Ease::NAMES },
        },
        "required": ["keys"],
        "additionalProperties": false,
    });
    json!({ "anyOf": [number(range), keys, table] })
}

fn behaviour(schema: &Schema) -> Value {
    let mut properties: Map<String, Value> =
        schema.properties.iter().map(|one| (one.name.to_owned(), property(one))).collect();
    let mut weight = curve(&super::bodies::WEIGHT);
    weight["description"] =
        json!(format!("how much of the law is felt; one half: {} (default: 1)", schema.half_weight));
    properties.insert("weight".to_owned(), weight);
    json!({
        "type": "object",
        "description": format!("{}: {}", schema.summary, schema.law),
        "properties": properties,
        "additionalProperties": false,
    })
}

fn property(property: &Property) -> Value {
    let (mut schema, unit, default) = match property.kind {
        Kind::Number { unit, default, min, max } => {
            let default = match default {
                Default::Value(value) => Some(super::values::show(value)),
                Default::Automatic(how) => Some(how.to_owned()),
                Default::Required => Some("the material's".to_owned()),
            };
            (curve(&Range { unit, min, max }), Some(unit), default)
        }
        Kind::Vector { unit, default } => {
            let default = match default {
                Default3::Value(value) => format!("{value:?}"),
                Default3::Automatic(how) => how.to_owned(),
            };
            (vector(unit), Some(unit), Some(default))
        }
        Kind::Choice { options, default } => {
            (json!({ "enum": options }), None, Some(format!("\"{}\"", options[default])))
        }
        Kind::Switch { default } => (json!({ "type": "boolean" }), None, Some(default.to_string())),
    };
    schema["description"] = json!(description(property.meaning, unit, default));
    schema
}
