//! `[[body]]` and `[[sink]]`: where matter comes from, what it is made of and which laws it follows.

use super::keys::{ROOT, Range};
use super::problem::{Place, Problem};
use super::read::Reader;
use super::shapes::{cross, length};
use super::suggest::did_you_mean;
use super::tree::{Entry, Table, Value as Written};
use super::values::{self, show};
use super::{Body, Dimensions, Jet, Look, Shape, Sink, Source, looks};
use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit, Value};
use crate::behaviours;
use crate::materials::Material;
use crate::timeline::{Curve, Driver};

/// A body as far as it could be read, with the places that later checks point at.
pub struct Draft {
    pub name: String,
    /// Its name where it has one, its header where not.
    pub at: Place,
    /// Its shape or emitter.
    pub source_at: Place,
    pub source: Option<Source>,
    pub body: Option<Body>,
}

/// Rest density of a body without a material, kg/m³.
const PLAIN_DENSITY: f64 = 1000.0;

/// Weights of behaviours.
pub const WEIGHT: Range = Range { unit: Unit::One, min: 0.0, max: 1.0 };

/// Laws of which a body needs only one: writing one keeps the material from adding another.
const PRESSURES: [&str; 2] = ["tait", "gas"];
const VISCOSITIES: [&str; 2] = ["viscosity", "artificial-viscosity"];

/// The name a body goes by: as written, or by its place in the file.
pub fn name_of(table: &Table, index: usize) -> String {
    match table.get("name").map(|entry| &entry.node.value) {
        Some(Written::Text(name)) => name.clone(),
        _ => format!("body-{}", index + 1),
    }
}

pub fn body(reader: &Reader<'_>, index: usize, end_of_run: Option<f64>) -> Draft {
    let name = reader.text("name").map_or_else(|| format!("body-{}", index + 1), str::to_owned);
    check_name(reader, &name);
    let material = reader.material("material");
    let source = source(reader, end_of_run);
    let density = density(reader, material);
    let velocity = reader.vector("velocity");
    let jitter = reader.number("jitter");
    let behaviours = behaviours(reader, material, &name);
    let is_sheet = matches!(source, Some(Source::Shape(Shape::Sheet { .. })));
    let look = looks::look(reader, material, is_sheet);
    let source_key = if reader.entry("emitter").is_some() { "emitter" } else { "shape" };
    if let (Some(entry), true) = (reader.entry("velocity"), reader.entry("emitter").is_some()) {
        let message = "a jet's velocity is its `speed` along its `direction`";
        reader.context.log.push(Problem::error("key-clash", &entry.key_at, message).label("leave this out"));
    }
    Draft {
        at: reader.entry("name").map_or_else(|| reader.at.clone(), |entry| entry.node.at.clone()),
        source_at: source_place(reader, source_key),
        source: source.clone(),
        body: complete(name.clone(), source, density, velocity, jitter, behaviours, look),
        name,
    }
}

fn complete(
    name: String,
    source: Option<Source>,
    rest_density: Option<Curve>,
    velocity: Option<[f64; 3]>,
    jitter: Option<f64>,
    behaviours: Vec<BehaviourUse>,
    look: Option<Look>,
) -> Option<Body> {
    Some(Body {
        name,
        source: source?,
        rest_density: rest_density?,
        velocity: velocity?,
        jitter: jitter?,
        behaviours,
        look: look?,
    })
}

/// The innermost text that describes the source: `{ min = …, max = … }`.
fn source_place(reader: &Reader<'_>, key: &str) -> Place {
    match reader.entry(key).map(|entry| &entry.node) {
        Some(node) => match &node.value {
            Written::Table(table) if table.entries.len() == 1 => table.entries[0].node.at.clone(),
            _ => node.at.clone(),
        },
        None => reader.at.clone(),
    }
}

fn check_name(reader: &Reader<'_>, name: &str) {
    let place = reader.place("name");
    let allowed = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(allowed) {
        let message = format!("`{}` cannot be a body's name", name.escape_debug());
        reader.context.log.push(
            Problem::error("bad-name", &place, message)
                .label("expected letters, digits, `-` and `_`")
                .help("names are used in `--set NAME.BEHAVIOUR.PROPERTY=VALUE`"),
        );
    } else if ROOT.key(name).is_some() {
        let message = format!("`{name}` cannot be a body's name: it is a section of the scene");
        reader.context.log.push(Problem::error("bad-name", &place, message).label("choose another name"));
    }
}

/// Rest density: as written, else the material's.
fn density(reader: &Reader<'_>, material: Option<&Material>) -> Option<Curve> {
    let Some(entry) = reader.entry("density") else {
        return Some(Curve::constant(material.map_or(PLAIN_DENSITY, |material| material.density)));
    };
    let curve = reader.curve("density")?;
    if curve.driver != Driver::Time {
        let message = "the rest density can change over time only";
        reader.context.log.push(
            Problem::error("unknown-name", &entry.node.at, message).label("expected `over = \"time\"`"),
        );
        return None;
    }
    Some(curve)
}

fn source(reader: &Reader<'_>, end_of_run: Option<f64>) -> Option<Source> {
    let (shape, emitter) = (reader.entry("shape"), reader.entry("emitter"));
    match (shape, emitter) {
        (Some(_), None) => shape_of(reader).map(Source::Shape),
        (None, Some(_)) => {
            let (_, jet) = reader.one_of("emitter")?;
            read_jet(&jet, end_of_run).map(Source::Jet)
        }
        (Some(_), Some(emitter)) => {
            let message = "a body has a `shape` or an `emitter`, not both";
            reader.context.log.push(
                Problem::error("key-clash", &emitter.key_at, message)
                    .help("make two bodies of the same material"),
            );
            None
        }
        (None, None) => {
            reader.context.log.push(
                Problem::error("missing-key", &reader.at, "the body has neither `shape` nor `emitter`")
                    .label("nothing to make particles from")
                    .help("add for instance `shape.box = { min = [0, 0, 0], max = [1, 1, 1] }`"),
            );
            None
        }
    }
}

/// The region a `shape` key describes.
fn shape_of(reader: &Reader<'_>) -> Option<Shape> {
    let (kind, table) = reader.one_of("shape")?;
    if kind == "sphere" {
        let (centre, radius) = (table.vector("centre"), table.number("radius"));
        return Some(Shape::Sphere { centre: centre?, radius: radius? });
    }
    if kind == "sheet" {
        return sheet(&table);
    }
    let (min, max) = (table.vector("min"), table.vector("max"));
    let (min, max) = (min?, max?);
    let axes = ["x", "y", "z"];
    if let Some(axis) = (0..table.context.dimensions.count()).find(|&axis| min[axis] >= max[axis]) {
        let message = format!(
            "the box is empty: along {}, `max` ({}) is not above `min` ({})",
            axes[axis],
            show(max[axis]),
            show(min[axis])
        );
        table.context.log.push(Problem::error("empty-shape", &table.place("max"), message));
        return None;
    }
    Some(Shape::Box { min, max })
}

fn sheet(table: &Reader<'_>) -> Option<Shape> {
    let (corner, along, across) = (table.vector("corner"), table.vector("along"), table.vector("across"));
    let log = table.context.log;
    if table.context.dimensions == Dimensions::Two {
        let problem = Problem::error("flat-world", &table.at, "a 2-D scene has no sheets");
        log.push(problem.help("a box of one spacing's height is a row of particles"));
        return None;
    }
    let (corner, along, across) = (corner?, along?, across?);
    if length(cross(along, across)) <= 1e-6 * length(along) * length(across) {
        let message = "`along` and `across` point the same way: the sheet is a line";
        log.push(Problem::error("empty-shape", &table.place("across"), message));
        return None;
    }
    Some(Shape::Sheet { corner, along, across })
}

fn read_jet(reader: &Reader<'_>, end_of_run: Option<f64>) -> Option<Jet> {
    let log = reader.context.log;
    let at = reader.vector("at");
    let direction = reader.vector("direction");
    let radius = reader.number("radius");
    let speed = reader.number("speed");
    let from = reader.number("from");
    let until = match reader.entry("until") {
        Some(_) => reader.number("until"),
        None => Some(end_of_run.unwrap_or(f64::INFINITY)),
    };
    let norm = direction.map(length);
    if norm == Some(0.0) {
        let problem = Problem::error("zero-direction", &reader.place("direction"), "the jet points nowhere");
        log.push(problem.label("expected a vector that is not 0"));
        return None;
    }
    if let (Some(from), Some(until)) = (from, until)
        && from >= until
    {
        let key = if reader.entry("until").is_some() { "until" } else { "from" };
        let message = format!("the jet starts at {} s, when it has ended ({} s)", show(from), show(until));
        log.push(Problem::error("out-of-range", &reader.place(key), message));
        return None;
    }
    // Not the end of the run itself: a run that goes on beyond it must be like one that was longer at first.
    let endless = reader.entry("until").is_none();
    let (direction, norm) = (direction?, norm?);
    Some(Jet {
        at: at?,
        direction: direction.map(|component| component / norm),
        radius: radius?,
        speed: speed?,
        from: from?,
        until: if endless { f64::INFINITY } else { until? },
    })
}

pub fn sink(reader: &Reader<'_>) -> Option<Sink> {
    shape_of(reader).map(|shape| Sink { shape })
}

/// The laws a body follows: those written, those its material brings, and gravity.
fn behaviours(reader: &Reader<'_>, material: Option<&Material>, name: &str) -> Vec<BehaviourUse> {
    let mut uses: Vec<BehaviourUse> =
        reader.entries("behaviours").iter().filter_map(|entry| behaviour(reader, entry, material)).collect();
    let has = |uses: &[BehaviourUse], names: &[&str]| uses.iter().any(|u| names.contains(&u.schema.name));

    let mut implied = Vec::new();
    if !has(&uses, &["gravity"]) {
        implied.push("gravity");
    }
    if material.is_some() && !has(&uses, &PRESSURES) {
        implied.push("tait");
    }
    if material.is_some() && !has(&uses, &VISCOSITIES) {
        implied.push("viscosity");
    }
    for schema in implied.into_iter().filter_map(behaviours::by_name) {
        let mut implied = BehaviourUse::with_defaults(schema);
        fill_from_material(&mut implied, material);
        uses.push(implied);
    }

    // A material that is misspelt has been reported; its pressure would have been there.
    if !has(&uses, &PRESSURES) && reader.entry("material").is_none() {
        let message = format!("nothing keeps the particles of `{name}` apart");
        reader.context.log.push(
            Problem::warning("no-pressure", &reader.at, message)
                .label("neither a material nor a pressure behaviour: dust")
                .help("add `material = \"water\"`, or [body.behaviours.tait]"),
        );
    }
    // A law of no weight costs nothing.
    uses.retain(|one| one.weight.as_constant() != Some(0.0));
    // The order of the registry, whatever the order of writing.
    uses.sort_by_key(|one| behaviour_names().iter().position(|name| *name == one.schema.name));
    uses
}

/// Names of all behaviours, in the registry's order.
pub fn behaviour_names() -> Vec<&'static str> {
    behaviours::REGISTRY.iter().map(|behaviour| behaviour.schema().name).collect()
}

fn fill_from_material(one: &mut BehaviourUse, material: Option<&Material>) {
    let Some(material) = material else { return };
    for (property, value) in one.schema.properties.iter().zip(&mut one.values) {
        if let (Value::Automatic, Some(number)) = (&value, material.property(property.name)) {
            *value = Value::Number(Curve::constant(number));
        }
    }
}

fn behaviour(reader: &Reader<'_>, entry: &Entry, material: Option<&Material>) -> Option<BehaviourUse> {
    let log = reader.context.log;
    let Some(schema) = behaviours::by_name(&entry.key) else {
        log.push(values::unknown_word(&entry.key_at, &entry.key, &behaviour_names(), "behaviour"));
        return None;
    };
    let Written::Table(table) = &entry.node.value else {
        let message =
            format!("`{}` is {}; expected its properties", schema.name, entry.node.value.describe());
        log.push(Problem::error("wrong-type", &entry.node.at, message).label("expected a table").help(
            format!("write [body.behaviours.{}], or `{} = {{}}` for all defaults", schema.name, schema.name),
        ));
        return None;
    };
    let mut one = BehaviourUse::with_defaults(schema);
    fill_from_material(&mut one, material);
    for written in &table.entries {
        set_property(reader, &mut one, written);
    }
    for (property, value) in schema.properties.iter().zip(&one.values) {
        let required = matches!(property.kind, Kind::Number { default: Default::Required, .. });
        if required && *value == Value::Automatic && table.get(property.name).is_none() {
            log_missing_property(reader, schema, property, &entry.key_at);
        }
    }
    Some(one)
}

fn set_property(reader: &Reader<'_>, one: &mut BehaviourUse, written: &Entry) {
    let (log, node) = (reader.context.log, &written.node);
    if written.key == "weight" {
        if let Some(weight) = values::curve(node, &WEIGHT, "weight", log) {
            one.weight = weight;
        }
        return;
    }
    let Some(index) = one.schema.index_of(&written.key) else {
        let mut known: Vec<&str> = one.schema.properties.iter().map(|property| property.name).collect();
        known.push("weight");
        let message = format!("`{}` is not a property of `{}`", written.key, one.schema.name);
        log.push(
            Problem::error("unknown-key", &written.key_at, message)
                .label(did_you_mean(&written.key, &known).unwrap_or_default())
                .help(format!("properties of `{}`: {}", one.schema.name, known.join(", "))),
        );
        return;
    };
    let property = &one.schema.properties[index];
    let value = match property.kind {
        Kind::Number { unit, min, max, .. } => {
            values::curve(node, &Range { unit, min, max }, property.name, log).map(Value::Number)
        }
        Kind::Vector { unit, .. } => {
            values::vector(node, unit, reader.context.dimensions, property.name, log).map(Value::Vector)
        }
        Kind::Choice { options, .. } => {
            values::word(node, options, property.name, property.name, log).map(Value::Choice)
        }
        Kind::Switch { .. } => values::flag(node, property.name, log).map(Value::Switch),
    };
    if let Some(value) = value {
        one.values[index] = value;
    }
}

fn log_missing_property(reader: &Reader<'_>, schema: &Schema, property: &Property, at: &Place) {
    let message = format!("`{}` has no `{}`", schema.name, property.name);
    reader.context.log.push(
        Problem::error("missing-key", at, message)
            .label(format!("`{}` is missing", property.name))
            .help(format!("give it ({}), or name a `material` that knows it", property.meaning)),
    );
}
