//! `[[body]]` and `[[sink]]`: where matter comes from, what it is made of and which laws it follows.

use super::emitters::{self, times};
use super::estimate::{flow_limit, friction_limit};
use super::keys::{ROOT, Range};
use super::looks::{self, Form};
use super::problem::{Place, Problem};
use super::read::Reader;
use super::read_shape::{self, Need};
use super::suggest::did_you_mean;
use super::tree::{Entry, Table, Value as Written};
use super::values;
use super::{Body, IntegratorName, Interface, Look, Near, Refine, Scene, Shape, Sink, Source};
use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit, Value};
use crate::behaviours;
use crate::materials::Material;
use crate::refine::{levels, spacing_of};
use crate::timeline::{Curve, Driver};

/// A body as far as it could be read, with the places that later checks point at.
pub struct Draft {
    pub name: String,
    /// Its name where it has one, its header where not.
    pub at: Place,
    /// Its shape or emitter.
    pub source_at: Place,
    pub source: Option<Source>,
    /// Most particles it may have.
    pub maximum: Option<usize>,
    /// Distance between its particles, m; that of the scene unless it has its own.
    pub spacing: f64,
    /// Where that is written, or would be.
    pub spacing_at: Place,
    /// Its viscosity is the material's: how it is computed is left to us.
    pub free_viscosity: bool,
    /// How it touches others is left to us.
    pub free_contact: bool,
    pub body: Option<Body>,
}

/// Rest density of a body without a material, kg/m³.
const PLAIN_DENSITY: f64 = 1000.0;

/// Weights of behaviours.
pub const WEIGHT: Range = Range { unit: Unit::One, min: 0.0, max: 1.0 };

/// Laws of which a body needs only one: writing one keeps the material from adding another.
const PRESSURES: [&str; 4] = ["incompressible", "tait", "gas", "double-density"];
const VISCOSITIES: [&str; 4] =
    ["viscosity", "artificial-viscosity", "implicit-viscosity", "impulse-viscosity"];

/// The name a body goes by: as written, or by its place in the file.
pub fn name_of(table: &Table, index: usize) -> String {
    match table.get("name").map(|entry| &entry.node.value) {
        Some(Written::Text(name)) => name.clone(),
        _ => format!("body-{}", index + 1),
    }
}

pub fn body(reader: &Reader<'_>, index: usize, end_of_run: Option<f64>, spacing: f64) -> Draft {
    let name = reader.text("name").map_or_else(|| format!("body-{}", index + 1), str::to_owned);
    check_name(reader, &name, "body");
    let material = reader.material("material");
    let source = source(reader, end_of_run);
    let density = density(reader, material);
    let velocity = reader.vector("velocity");
    let jitter = reader.number("jitter");
    let behaviours = behaviours(reader, material, &name);
    check_form(reader, source.as_ref());
    let is_sheet = matches!(source, Some(Source::Shape(Shape::Sheet { .. })));
    let form = match source {
        Some(Source::Shape(Shape::Sheet { .. })) => Form::Sheet,
        Some(Source::Shape(Shape::Net { .. } | Shape::Turned { .. })) => Form::Net,
        Some(Source::Shape(Shape::Line { .. })) => Form::Line,
        _ => Form::Other,
    };
    let look = looks::look(reader, material, form);
    let source_key = if reader.entry("emitter").is_some() { "emitter" } else { "shape" };
    if let (Some(entry), true) = (reader.entry("velocity"), reader.entry("emitter").is_some()) {
        let message = "an emitter's velocity is its own: `speed`, along its direction";
        reader.context.log.push(Problem::error("key-clash", &entry.key_at, message).label("leave this out"));
    }
    let spacing = reader.number("spacing").unwrap_or(spacing);
    let thickness = reader.number("thickness").unwrap_or(spacing);
    let layers = reader.whole("layers").map_or(1, |layers| layers as usize);
    if let (Some(entry), false) = (reader.entry("layers"), is_sheet) {
        let message = "only a sheet has layers";
        reader.context.log.push(
            Problem::error("key-clash", &entry.key_at, message)
                .label("leave this out")
                .help("or give the body `shape.sheet = { corner = …, along = …, across = … }`"),
        );
    }
    let is_thin = matches!(&source, Some(Source::Shape(shape)) if shape.is_thin());
    if let (Some(entry), Some(_), false) = (reader.entry("thickness"), &source, is_thin) {
        let message = "only one layer of particles has a thickness: this body is as thick as its shape";
        reader.context.log.push(
            Problem::error("key-clash", &entry.key_at, message)
                .label("leave this out")
                .help("layers are `shape.sheet`, `shape.net`, `shape.turned` and `shape.line`; that of a picture is `look.thickness`"),
        );
    }
    let maximum = reader.whole("maximum").map(|count| count as usize);
    if let (Some(entry), true) = (reader.entry("maximum"), reader.entry("shape").is_some()) {
        let message = "`maximum` is for emitters: a shape has all its particles at the start";
        reader.context.log.push(Problem::error("key-clash", &entry.key_at, message).label("leave this out"));
    }
    Draft {
        at: reader.entry("name").map_or_else(|| reader.at.clone(), |entry| entry.node.at.clone()),
        source_at: source_place(reader, source_key),
        source: source.clone(),
        maximum,
        spacing,
        spacing_at: reader.place("spacing"),
        free_contact: !has_written(reader, &["contact"]),
        free_viscosity: material.is_some() && !has_written(reader, &VISCOSITIES),
        body: complete(name.clone(), source, density, velocity, jitter, behaviours, look).map(|body| Body {
            maximum,
            spacing,
            thickness,
            layers,
            ..body
        }),
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
        maximum: None,
        spacing: 0.0,
        thickness: 0.0,
        layers: 1,
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

/// Laws for one layer want one, those for volumes do not, and all that hold a shape want one at the start.
fn check_form(reader: &Reader<'_>, source: Option<&Source>) {
    let Some(source) = source else { return };
    let is_layer = matches!(source, Source::Shape(shape) if shape.is_thin());
    let is_held = |entry: &Entry| behaviours::by_name(&entry.key).is_some_and(behaviours::holds_shape);
    let is_held = reader.entries("behaviours").iter().any(is_held);
    for entry in reader.entries("behaviours") {
        let name = entry.key.as_str();
        let Some(schema) = behaviours::by_name(name) else { continue };
        let (message, help) = if !matches!(source, Source::Shape(_)) && behaviours::holds_shape(schema) {
            let message = format!("`{name}` keeps a shape, and an emitter has none");
            (message, "give the body a `shape` instead of its `emitter`")
        } else if ["shell", "sph-cloth"].contains(&name) && !is_layer {
            let message = format!("`{name}` is for one layer of particles");
            (message, "use `shape.sheet` or `shape.turned`; for a volume, `elastic`")
        } else if name == "elastic" && is_layer {
            ("`elastic` is for volumes".to_owned(), "for one layer of particles, use `shell` or `sph-cloth`")
        } else if name == "contact" && !is_held {
            let message = "`contact` is for bodies that hold a shape".to_owned();
            (
                message,
                "add what holds it, such as `elastic` or `springs`; or leave `contact` out: a fluid keeps off by its pressure",
            )
        } else {
            continue;
        };
        reader.context.log.push(Problem::error("wrong-form", &entry.key_at, message).help(help));
    }
}

/// `noun` is what the name is of.
pub fn check_name(reader: &Reader<'_>, name: &str, noun: &str) {
    let place = reader.place("name");
    let allowed = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(allowed) {
        let message = format!("`{}` cannot be a {noun}'s name", name.escape_debug());
        reader.context.log.push(
            Problem::error("bad-name", &place, message)
                .label("expected letters, digits, `-` and `_`")
                .help("names are used in `--set NAME.BEHAVIOUR.PROPERTY=VALUE`"),
        );
    } else if ROOT.key(name).is_some() {
        let message = format!("`{name}` cannot be a {noun}'s name: it is a section of the scene");
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
        (Some(_), None) => read_shape::shape(reader, "shape", Need::Body).map(Source::Shape),
        (None, Some(_)) => emitters::emitter(reader, end_of_run),
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

pub fn sink(reader: &Reader<'_>, end_of_run: Option<f64>) -> Option<Sink> {
    let shape = read_shape::shape(reader, "shape", Need::Region);
    let (from, until) = times(reader, "sink", end_of_run)?;
    Some(Sink { shape: shape?, from, until })
}

/// `[[refine]]`.
pub fn refinement(reader: &Reader<'_>, drafts: &[Draft]) -> Option<Refine> {
    let log = reader.context.log;
    let on = super::forces::bodies(reader, drafts);
    let finest = reader.number("finest");
    let is_chosen = |index: usize| match &on {
        Some(Some(bodies)) => bodies.contains(&(index as u32)),
        _ => true,
    };
    let chosen: Vec<&Draft> = (0..drafts.len()).filter(|&k| is_chosen(k)).map(|k| &drafts[k]).collect();
    let coarsest = chosen.iter().map(|draft| draft.spacing).fold(0.0, f64::max);
    let near = match (reader.entry("near"), reader.entry("shape")) {
        (Some(_), None) => reader.word("near").and_then(|_| {
            let distance = match reader.entry("distance") {
                Some(_) => reader.number("distance")?,
                None => 2.0 * coarsest,
            };
            Some(Near::Surface { distance })
        }),
        (None, Some(_)) => read_shape::shape(reader, "shape", Need::Region).map(Near::Region),
        (Some(near), Some(_)) => {
            let message = "particles are refined near a surface or in a `shape`, not both";
            log.push(Problem::error("key-clash", &near.key_at, message).help("write two [[refine]]"));
            None
        }
        (None, None) => {
            log.push(
                Problem::error("missing-key", &reader.at, "the refinement says nowhere where")
                    .label("neither `near` nor `shape`")
                    .help("add `near = \"surface\"`, or for instance `shape.box = { min = …, max = … }`"),
            );
            None
        }
    };
    if let (Some(entry), Some(_)) = (reader.entry("distance"), reader.entry("shape")) {
        let message = "`distance` is from a surface: a `shape` is as large as it is";
        log.push(Problem::error("key-clash", &entry.key_at, message).label("leave this out"));
    }
    let (on, finest, near) = (on?, finest?, near?);
    let dimensions = reader.context.dimensions;
    for draft in chosen {
        if levels(draft.spacing, finest, dimensions) == 0 {
            let message = format!("{} m is too coarse to refine `{}`", values::show(finest), draft.name);
            let most = spacing_of(draft.spacing, 1.0, dimensions);
            log.push(
                Problem::error("out-of-range", &reader.place("finest"), message)
                    .label(format!("at most {} m", values::show_rounded(0.999 * most)))
                    .also(&draft.spacing_at, format!("its spacing is {} m", values::show(draft.spacing)))
                    .help("a particle is halved at least once; or name other bodies in `on`"),
            );
        }
    }
    Some(Refine { on, finest, near })
}

/// `[[interface]]`, with the names of all bodies.
pub fn interface(reader: &Reader<'_>, names: &[&str]) -> Option<Interface> {
    let tension = reader.number("tension");
    let between = reader.two_bodies("between", names);
    Some(Interface { between: between?, tension: tension? })
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
    if (material.is_some() || has(&uses, &["sand"])) && !has(&uses, &PRESSURES) {
        implied.push("incompressible");
    }
    let has_grains = material.is_some_and(|material| material.friction.is_some());
    if has_grains && !has(&uses, &["sand"]) {
        implied.push("sand");
    }
    if material.is_some() && !has_grains && !has(&uses, &VISCOSITIES) {
        implied.push("viscosity");
    }
    if material.is_some_and(|material| material.thickening.is_some()) && !has(&uses, &["yielding-springs"]) {
        implied.push("yielding-springs");
    }
    if uses.iter().any(|used| behaviours::holds_shape(used.schema)) && !has(&uses, &["contact"]) {
        implied.push("contact");
    }
    for schema in implied.into_iter().filter_map(behaviours::by_name) {
        let mut implied = BehaviourUse::with_defaults(schema);
        fill_from_material(&mut implied, material);
        uses.push(implied);
    }

    // A material that is misspelt has been reported; its pressure would have been there.
    let holds_shape = uses.iter().any(|used| behaviours::holds_shape(used.schema));
    if !has(&uses, &PRESSURES) && !holds_shape && reader.entry("material").is_none() {
        let message = format!("nothing keeps the particles of `{name}` apart");
        reader.context.log.push(
            Problem::warning("no-pressure", &reader.at, message)
                .label("neither a material nor a pressure behaviour: dust")
                .help("add `material = \"water\"`, or [body.behaviours.incompressible]"),
        );
    }
    // A law of no weight costs nothing.
    uses.retain(|one| one.weight.as_constant() != Some(0.0));
    in_order(&mut uses);
    uses
}

/// Whether a body's file names one of these behaviours.
fn has_written(reader: &Reader<'_>, names: &[&str]) -> bool {
    reader.entries("behaviours").iter().any(|entry| names.contains(&entry.key.as_str()))
}

/// An implicit step costs about as much as this many explicit ones.
const COST_OF_IMPLICIT: f64 = 4.0;

/// Gives thick liquids implicit viscosity: bodies that leave it to their material, where explicit friction would need
/// steps more than four times shorter than sound and flow do. Who writes one or the other gets it.
pub fn choose_viscosities(scene: &mut Scene, free: &[bool]) {
    let Some(flow) = flow_limit(scene) else { return };
    let longest = flow.step.min(scene.time.maximum_step);
    let is_thick = |body: &Body| {
        friction_limit(scene, body).is_some_and(|limit| COST_OF_IMPLICIT * limit.step < longest)
    };
    let thick: Vec<bool> =
        scene.bodies.iter().zip(free).map(|(body, free)| *free && is_thick(body)).collect();
    for (body, _) in scene.bodies.iter_mut().zip(thick).filter(|(_, thick)| *thick) {
        for used in body.behaviours.iter_mut().filter(|used| used.schema.name == "viscosity") {
            // The two have the same property.
            used.schema = &behaviours::implicit_viscosity::SCHEMA;
        }
        in_order(&mut body.behaviours);
    }
}

/// Gives bodies that leave it to us discrete elements, where the integrator has no place for impulses.
pub fn choose_contacts(scene: &mut Scene, free: &[bool]) {
    if scene.time.integrator == IntegratorName::SymplecticEuler {
        return;
    }
    let bodies = scene.bodies.iter_mut().zip(free).filter(|(_, free)| **free);
    for used in bodies.flat_map(|(body, _)| &mut body.behaviours) {
        if std::ptr::eq(used.schema, &behaviours::contact::SCHEMA) {
            let method = used.schema.index_of("method").expect("a property of contact");
            used.values[method] = Value::Choice(behaviours::contact::DISCRETE_ELEMENTS);
        }
    }
}

/// The order of the registry, whatever the order of writing.
fn in_order(uses: &mut [BehaviourUse]) {
    uses.sort_by_key(|one| behaviour_names().iter().position(|name| *name == one.schema.name));
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
