//! `--set PATH=VALUE`: one value of a scene, replaced from the command line.
//!
//! A path starts with a section (`time.until=2`) or with a body's name, after which a behaviour's name may stand
//! without `behaviours` before it: `water.viscosity.dynamic_viscosity=0.01`. The value is TOML; a text needs no
//! quotes (`water.material=honey`, `sph.spacing=5 mm`).

use std::ops::Range;
use std::sync::Arc;

use miette::NamedSource;

use super::bodies;
use super::keys::{BODY, ROOT, Want};
use super::problem::{Place, Problem, Source};
use super::suggest::did_you_mean;
use super::tree::{self, Entry, Node, Table, Value};
use super::values::Log;
use crate::behaviours;

/// Name of the virtual file that holds an override's text.
pub const FILE: &str = "--set";

/// One step of a path.
struct Step {
    name: String,
    at: Place,
}

/// Puts each override in its place in the tree.
pub fn apply(root: &mut Node, overrides: &[String], log: &Log) {
    for text in overrides {
        let source: Source = Arc::new(NamedSource::new(FILE, text.clone()));
        if let Err(problem) = apply_one(root, &source) {
            log.push(*problem);
        }
    }
}

fn apply_one(root: &mut Node, source: &Source) -> Result<(), Box<Problem>> {
    let text = source.inner();
    let Some(equals) = text.find('=') else {
        return Err(bad(&place(source, 0..text.len()), "an override needs a value")
            .label("expected PATH=VALUE")
            .help("for instance `time.until=2`")
            .into());
    };
    let steps = path(source, equals)?;
    let node = value(source, equals + 1)?;
    let steps = resolve(root, steps)?;
    insert(root, &steps, node)
}

fn bad(at: &Place, message: impl Into<String>) -> Problem {
    Problem::error("bad-override", at, message)
}

fn place(source: &Source, span: Range<usize>) -> Place {
    Place { source: source.clone(), span }
}

fn path(source: &Source, end: usize) -> Result<Vec<Step>, Box<Problem>> {
    let mut start = 0;
    let mut steps = Vec::new();
    for part in source.inner()[..end].split('.') {
        let at = place(source, start..start + part.len());
        start += part.len() + 1;
        let name = part.trim().trim_matches('"').to_owned();
        if name.is_empty() {
            return Err(bad(&at, "an override's path has an empty part").label("expected a name").into());
        }
        steps.push(Step { name, at });
    }
    Ok(steps)
}

/// The value as TOML; a text may stand without quotes.
fn value(source: &Source, start: usize) -> Result<Node, Box<Problem>> {
    let written = &source.inner()[start..];
    let trimmed = written.trim();
    let at = start + (written.len() - written.trim_start().len());
    if trimmed.is_empty() {
        return Err(bad(&place(source, start..source.inner().len()), "an override needs a value")
            .label("nothing here")
            .into());
    }
    match tree::parse_value(source, start) {
        Ok(node) => Ok(node),
        Err(_) if !trimmed.starts_with(['[', '{', '"', '\'']) => {
            Ok(Node { value: Value::Text(trimmed.to_owned()), at: place(source, at..at + trimmed.len()) })
        }
        Err(problem) => Err(problem),
    }
}

/// Where a path leads in the tree: sections by name, bodies by their number below `body`.
fn resolve(root: &Node, steps: Vec<Step>) -> Result<Vec<Step>, Box<Problem>> {
    let first = &steps[0];
    if let Some(key) = ROOT.key(&first.name) {
        let absent = matches!(&root.value, Value::Table(table) if table.get(key.name).is_none());
        if absent && matches!(key.want, Want::Tables(_)) {
            return Err(bad(&first.at, format!("the scene has no [[{}]]", key.name))
                .label("overrides change what is there")
                .into());
        }
        return Ok(steps);
    }
    let names = body_names(root);
    let Some(index) = names.iter().position(|name| *name == first.name) else {
        let mut known: Vec<&str> = ROOT.keys.iter().map(|key| key.name).collect();
        known.extend(names.iter().map(String::as_str));
        return Err(bad(&first.at, format!("there is no section and no body called `{}`", first.name))
            .label(did_you_mean(&first.name, &known).unwrap_or_default())
            .help(format!(
                "bodies: {}; sections: world, sph, time, picture, camera, sky, sun, ground",
                names.join(", ")
            ))
            .into());
    };
    let at = first.at.clone();
    let step = |name: &str| Step { name: name.to_owned(), at: at.clone() };
    let mut resolved = vec![step("body"), step(&(index + 1).to_string())];
    let Some(second) = steps.get(1) else {
        return Err(bad(&first.at, format!("what of `{}`?", first.name))
            .label("a path goes on: NAME.KEY or NAME.BEHAVIOUR.PROPERTY")
            .into());
    };
    if BODY.key(&second.name).is_none() {
        if behaviours::by_name(&second.name).is_none() {
            let mut known = bodies::behaviour_names();
            known.extend(BODY.keys.iter().map(|key| key.name));
            let message = format!("`{}` is neither a behaviour nor a key of a body", second.name);
            return Err(bad(&second.at, message)
                .label(did_you_mean(&second.name, &known).unwrap_or_default())
                .help(format!("behaviours and keys: {}", known.join(", ")))
                .into());
        }
        resolved.push(step("behaviours"));
    }
    resolved.extend(steps.into_iter().skip(1));
    Ok(resolved)
}

fn body_names(root: &Node) -> Vec<String> {
    let Value::Table(table) = &root.value else { return Vec::new() };
    let Some(Value::List(items)) = table.get("body").map(|entry| &entry.node.value) else {
        return Vec::new();
    };
    let name = |(index, item): (usize, &Node)| match &item.value {
        Value::Table(table) => bodies::name_of(table, index),
        _ => format!("body-{}", index + 1),
    };
    items.iter().enumerate().map(name).collect()
}

fn insert(node: &mut Node, steps: &[Step], value: Node) -> Result<(), Box<Problem>> {
    let Some((step, rest)) = steps.split_first() else {
        *node = value;
        return Ok(());
    };
    let found = node.value.describe();
    match &mut node.value {
        Value::Table(table) => insert(entry(table, step), rest, value),
        Value::List(items) => match item(items, step) {
            Some(item) => insert(item, rest, value),
            None => {
                let message = format!("there is no number `{}` in this list of {}", step.name, items.len());
                Err(bad(&step.at, message).label("expected 1, 2, …").into())
            }
        },
        _ => Err(bad(&step.at, format!("`{}` is a part of {found}", step.name))
            .label("nothing to set here")
            .into()),
    }
}

/// `[[body]]` and `[[sink]]` are counted from 1, as in `body-1`.
fn item<'a>(items: &'a mut [Node], step: &Step) -> Option<&'a mut Node> {
    let number: usize = step.name.parse().ok()?;
    items.get_mut(number.checked_sub(1)?)
}

/// The entry of this name, made if need be; from now on it points at the override.
fn entry<'a>(table: &'a mut Table, step: &Step) -> &'a mut Node {
    if table.get(&step.name).is_none() {
        let node = Node { value: Value::Table(Table::default()), at: step.at.clone() };
        table.entries.push(Entry { key: step.name.clone(), key_at: step.at.clone(), node });
    }
    let index = table.entries.iter().position(|entry| entry.key == step.name).unwrap_or(0);
    &mut table.entries[index].node
}
