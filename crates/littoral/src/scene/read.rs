//! Reads one table of a scene against its [`Section`]: unknown keys, missing keys, types, ranges, units.

use super::Dimensions;
use super::files::Shelf;
use super::keys::{self, Fallback, Key, Section, Want};
use super::problem::{Place, Problem};
use super::suggest::{did_you_mean, list_of, nearest};
use super::tree::{Entry, Node, Table, Value};
use super::values::{self, Log};
use crate::materials::{self, Material};
use crate::timeline::{Curve, Motion};

/// What every reader needs to know.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub log: &'a Log,
    pub dimensions: Dimensions,
    /// Files that the scene names.
    pub files: &'a Shelf<'a>,
}

/// A table that is being read. Getters return `None` where the key is absent and has no default, and after they
/// have logged a problem; either way, reading goes on.
pub struct Reader<'a> {
    pub section: &'static Section,
    /// `None` when the whole table was left out.
    table: Option<&'a Table>,
    /// Where to point when something is missing.
    pub at: Place,
    pub context: Context<'a>,
}

/// Where a key belongs that stands in the wrong section: after `[world]`, every line is the world's.
fn home(key: &str) -> Option<String> {
    if keys::ROOT.key(key).is_some() {
        return Some("it belongs at the top of the file, before any section".into());
    }
    let sections = [&keys::WORLD, &keys::SPH, &keys::TIMES, &keys::SOLVER];
    let section = sections.into_iter().find(|section| section.key(key).is_some())?;
    Some(format!("a key of {}", section.name))
}

impl<'a> Reader<'a> {
    pub fn new(
        section: &'static Section,
        table: Option<&'a Table>,
        at: Place,
        context: Context<'a>,
    ) -> Reader<'a> {
        let reader = Reader { section, table, at, context };
        reader.refuse_unknown_keys();
        reader
    }

    fn refuse_unknown_keys(&self) {
        let names = self.names();
        let entries = self.table.map_or(&[][..], |table| &table.entries);
        for entry in entries.iter().filter(|entry| !names.contains(&entry.key.as_str())) {
            let message = format!("`{}` is not a key of {}", entry.key, self.section.name);
            self.context.log.push(
                Problem::error("unknown-key", &entry.key_at, message)
                    .label(did_you_mean(&entry.key, &names).or_else(|| home(&entry.key)).unwrap_or_default())
                    .help(format!("keys of {}: {}", self.section.name, names.join(", "))),
            );
        }
    }

    fn spec(&self, name: &str) -> &'static Key {
        self.section.key(name).unwrap_or_else(|| panic!("{} has no key `{name}`", self.section.name))
    }

    /// The entry as written, if it is.
    pub fn entry(&self, name: &str) -> Option<&'a Entry> {
        self.table.and_then(|table| table.get(name))
    }

    /// Where a key's value stands; the whole table where it was left out.
    pub fn place(&self, name: &str) -> Place {
        self.entry(name).map_or_else(|| self.at.clone(), |entry| entry.node.at.clone())
    }

    /// The entry, logging its absence where it is required.
    fn wanted(&self, name: &str) -> Option<&'a Entry> {
        let entry = self.entry(name);
        if entry.is_none() && self.spec(name).fallback == Fallback::Required && !self.is_misspelt(name) {
            self.log_missing(self.spec(name));
        }
        entry
    }

    /// Whether an unknown key was probably meant to be this one: it has been reported, and once is enough.
    fn is_misspelt(&self, name: &str) -> bool {
        let names = self.names();
        let entries = self.table.map_or(&[][..], |table| &table.entries);
        let mut unknown = entries.iter().filter(|entry| !names.contains(&entry.key.as_str()));
        unknown.any(|entry| nearest(&entry.key, &names) == Some(name))
    }

    fn names(&self) -> Vec<&'static str> {
        self.section.keys.iter().map(|key| key.name).collect()
    }

    fn log_missing(&self, key: &Key) {
        let message = format!("{} has no `{}`", self.section.name, key.name);
        let unit = match &key.want {
            Want::Number(range) | Want::Curve(range) => range.unit.symbol(),
            Want::Vector(unit) | Want::Vectors(unit) | Want::Spatial(unit) => unit.symbol(),
            Want::Motion(unit) | Want::Path(unit) => unit.symbol(),
            _ => "",
        };
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        self.context.log.push(
            Problem::error("missing-key", &self.at, message)
                .label(format!("`{}` is missing", key.name))
                .help(format!("`{}`{unit}: {}", key.name, key.meaning)),
        );
    }

    pub fn text(&self, name: &str) -> Option<&'a str> {
        values::text(&self.wanted(name)?.node, name, self.context.log)
    }

    pub fn whole(&self, name: &str) -> Option<i64> {
        let key = self.spec(name);
        let Want::Whole { min, max } = key.want else { panic!("`{name}` is not a whole number") };
        match self.wanted(name) {
            Some(entry) => values::whole(&entry.node, min, max, name, self.context.log),
            None => match key.fallback {
                Fallback::Number(value) => Some(value as i64),
                _ => None,
            },
        }
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        let key = self.spec(name);
        let Want::Number(range) = &key.want else { panic!("`{name}` is not a number") };
        match self.wanted(name) {
            Some(entry) => values::number(&entry.node, range, name, self.context.log),
            None => match key.fallback {
                Fallback::Number(value) => Some(value),
                _ => None,
            },
        }
    }

    pub fn curve(&self, name: &str) -> Option<Curve> {
        let key = self.spec(name);
        let Want::Curve(range) = &key.want else { panic!("`{name}` is not a curve") };
        match (self.wanted(name), key.fallback) {
            (Some(entry), _) => values::curve(&entry.node, range, name, self.context.log),
            (None, Fallback::Number(value)) => Some(Curve::constant(value)),
            (None, _) => None,
        }
    }

    pub fn motion(&self, name: &str) -> Option<Motion> {
        let (unit, dimensions) = match self.spec(name).want {
            Want::Path(unit) => (unit, self.context.dimensions),
            Want::Motion(unit) => (unit, Dimensions::Three),
            _ => panic!("`{name}` is not a motion"),
        };
        values::motion(&self.wanted(name)?.node, unit, dimensions, name, self.context.log)
    }

    /// A list of texts, each with its place.
    pub fn texts(&self, name: &str) -> Option<Vec<(String, Place)>> {
        values::texts(&self.wanted(name)?.node, name, self.context.log)
    }

    pub fn colour(&self, name: &str) -> Option<[f64; 3]> {
        values::colour(&self.wanted(name)?.node, name, self.context.log)
    }

    pub fn size(&self, name: &str) -> Option<[u32; 2]> {
        let Want::Size { min, max } = self.spec(name).want else { panic!("`{name}` is not a size") };
        values::size(&self.wanted(name)?.node, min, max, name, self.context.log)
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        match (self.wanted(name), self.spec(name).fallback) {
            (Some(entry), _) => values::flag(&entry.node, name, self.context.log),
            (None, Fallback::Flag(value)) => Some(value),
            (None, _) => None,
        }
    }

    pub fn vector(&self, name: &str) -> Option<[f64; 3]> {
        let key = self.spec(name);
        let (unit, dimensions) = match key.want {
            Want::Vector(unit) => (unit, self.context.dimensions),
            Want::Spatial(unit) => (unit, Dimensions::Three),
            _ => panic!("`{name}` is not a vector"),
        };
        match self.wanted(name) {
            Some(entry) => values::vector(&entry.node, unit, dimensions, name, self.context.log),
            None => match key.fallback {
                Fallback::Vector(value) => Some(value),
                _ => None,
            },
        }
    }

    pub fn vectors(&self, name: &str) -> Option<Vec<[f64; 3]>> {
        let Want::Vectors(unit) = self.spec(name).want else { panic!("`{name}` is not a list of vectors") };
        let (log, dimensions) = (self.context.log, self.context.dimensions);
        values::vectors(&self.wanted(name)?.node, unit, dimensions, name, log)
    }

    pub fn word(&self, name: &str) -> Option<&'static str> {
        let key = self.spec(name);
        let Want::Word(options) = key.want else { panic!("`{name}` is not a word") };
        match self.wanted(name) {
            Some(entry) => {
                values::word(&entry.node, options, name, name, self.context.log).map(|i| options[i])
            }
            None => match key.fallback {
                Fallback::Word(value) => Some(value),
                _ => None,
            },
        }
    }

    pub fn words(&self, name: &str) -> Vec<(&'static str, Place)> {
        let Want::Words(options) = self.spec(name).want else { panic!("`{name}` is not a list of words") };
        let noun = if options == super::keys::AXES { "axis" } else { "side of the box" };
        self.wanted(name)
            .map_or_else(Vec::new, |entry| values::words(&entry.node, options, name, noun, self.context.log))
    }

    pub fn material(&self, name: &str) -> Option<&'static Material> {
        let names = materials::names();
        let index = values::word(&self.wanted(name)?.node, &names, name, "material", self.context.log)?;
        materials::by_name(names[index])
    }

    /// Places of two different bodies among `names`.
    pub fn two_bodies(&self, name: &str, names: &[&str]) -> Option<[usize; 2]> {
        let node = &self.wanted(name)?.node;
        let Value::List(items) = &node.value else {
            self.context.log.push(values::wrong_type(node, name, "two names of bodies"));
            return None;
        };
        let [a, b] = items.as_slice() else {
            let message = format!("`{name}` is a list of {}; expected two names of bodies", items.len());
            self.context.log.push(Problem::error("wrong-type", &node.at, message));
            return None;
        };
        let find = |item: &Node| {
            let body = values::text(item, name, self.context.log)?;
            let found = names.iter().position(|known| *known == body);
            if found.is_none() {
                self.context.log.push(values::unknown_word(&item.at, body, names, "body"));
            }
            found
        };
        let (a, b) = (find(a), find(b));
        let between = [a?, b?];
        if between[0] == between[1] {
            let message = format!("`{name}` names the same body twice");
            self.context.log.push(
                Problem::error("same-body", &node.at, message)
                    .help("a body's own tension is the `surface_tension` of its behaviour"),
            );
            return None;
        }
        Some(between)
    }

    /// A table below this one. One that was left out reads as an empty one, so that its defaults apply.
    pub fn table(&self, name: &str) -> Option<Reader<'a>> {
        let Want::Table(section) = self.spec(name).want else { panic!("`{name}` is not a table") };
        let Some(entry) = self.entry(name) else {
            if self.is_misspelt(name) {
                return None;
            }
            return Some(Reader::new(section, None, self.at.clone(), self.context));
        };
        let table = self.as_table(&entry.node, name)?;
        Some(Reader::new(section, Some(table), entry.key_at.clone(), self.context))
    }

    /// A table below this one that holds exactly one of its keys: that key, and its table.
    pub fn one_of(&self, name: &str) -> Option<(&'static str, Reader<'a>)> {
        let Want::OneOf(section) = self.spec(name).want else { panic!("`{name}` is not a choice") };
        let entry = self.wanted(name)?;
        self.choice(section, &entry.node, &entry.key_at, name)
    }

    /// A list of tables that each hold exactly one key of a section: `None` for each one that is wrong.
    pub fn many_of(&self, name: &str) -> Option<Vec<Option<(&'static str, Reader<'a>)>>> {
        let Want::ManyOf(section) = self.spec(name).want else { panic!("`{name}` is not a list of choices") };
        let entry = self.wanted(name)?;
        let Value::List(items) = &entry.node.value else {
            let message = format!("`{name}` is {}; expected a list", entry.node.value.describe());
            let names: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
            self.context.log.push(
                Problem::error("wrong-type", &entry.node.at, message)
                    .label("expected [{ … }, { … }]")
                    .help(format!("each one {}", list_of(&names))),
            );
            return None;
        };
        if items.is_empty() {
            let message = format!("`{name}` is an empty list");
            self.context.log.push(Problem::error("missing-key", &entry.node.at, message));
            return None;
        }
        Some(items.iter().map(|item| self.choice(section, item, &item.at, name)).collect())
    }

    /// The one key that a table holds, and its table.
    fn choice(
        &self,
        section: &'static Section,
        node: &'a Node,
        at: &Place,
        name: &str,
    ) -> Option<(&'static str, Reader<'a>)> {
        let table = self.as_table(node, name)?;
        let choice = Reader::new(section, Some(table), at.clone(), self.context);
        let names: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
        let given: Vec<&Entry> =
            table.entries.iter().filter(|entry| names.contains(&entry.key.as_str())).collect();
        match given.as_slice() {
            [one] => {
                let key = section.key(&one.key)?;
                Some((key.name, choice.table(key.name)?))
            }
            [] => {
                // An unknown key has been logged already, and says more.
                if table.entries.is_empty() {
                    let message = format!("`{name}` is empty; expected {}", list_of(&names));
                    self.context.log.push(Problem::error("missing-key", &node.at, message));
                }
                None
            }
            [first, second, ..] => {
                let message =
                    format!("`{name}` is both `{}` and `{}`; expected one of them", first.key, second.key);
                self.context.log.push(Problem::error("key-clash", &second.key_at, message));
                None
            }
        }
    }

    /// `[[name]]`, each as a reader; an empty list where there is none.
    pub fn tables(&self, name: &str) -> Vec<Reader<'a>> {
        let Want::Tables(section) = self.spec(name).want else { panic!("`{name}` is not a list of tables") };
        let Some(entry) = self.wanted(name) else { return Vec::new() };
        let Value::List(items) = &entry.node.value else {
            let message = format!("`{name}` is {}; expected [[{name}]]", entry.node.value.describe());
            self.context.log.push(
                Problem::error("wrong-type", &entry.key_at, message)
                    .label(format!("expected [[{name}]]"))
                    .help(format!("write each {name} under its own [[{name}]]")),
            );
            return Vec::new();
        };
        let reader = |item: &'a Node| {
            let table = self.as_table(item, name)?;
            Some(Reader::new(section, Some(table), item.at.clone(), self.context))
        };
        items.iter().filter_map(reader).collect()
    }

    /// The entries of a table whose keys are not fixed.
    pub fn entries(&self, name: &str) -> &'a [Entry] {
        let Some(entry) = self.wanted(name) else { return &[] };
        self.as_table(&entry.node, name).map_or(&[], |table| &table.entries)
    }

    fn as_table(&self, node: &'a Node, name: &str) -> Option<&'a Table> {
        match &node.value {
            Value::Table(table) => Some(table),
            other => {
                let message = format!("`{name}` is {}; expected a table", other.describe());
                self.context.log.push(
                    Problem::error("wrong-type", &node.at, message).label("expected a table { … } or [ … ]"),
                );
                None
            }
        }
    }
}
