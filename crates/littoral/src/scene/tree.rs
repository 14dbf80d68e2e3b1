//! TOML text as a tree that remembers where everything stood.
//!
//! The tree owns its text, so that values of the scene file and of `--set` can sit side by side in it, each
//! pointing into its own source.

use std::ops::Range;

use toml::de::{DeInteger, DeTable, DeValue};

use super::problem::{Place, Problem, Source};

/// Deeper nesting than any scene has; bounds recursion on hostile text.
const MAX_DEPTH: usize = 32;

/// Syntax errors shown at once: one slip often makes the parser stumble again and again.
const MAX_SYNTAX_ERRORS: usize = 5;

#[derive(Clone, Debug)]
pub struct Node {
    pub value: Value,
    pub at: Place,
}

#[derive(Clone, Debug)]
pub enum Value {
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
    Date,
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// With its article, for "expected …, found …".
    pub fn describe(&self) -> &'static str {
        match self {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Number(_) => "a number",
            Value::Flag(_) => "a boolean",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Keys in the order of the parser; a key occurs once.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub key: String,
    pub key_at: Place,
    pub node: Node,
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

/// The document as a table, or its syntax errors.
pub fn parse(source: &Source) -> Result<Node, Vec<Problem>> {
    let (document, errors) = DeTable::parse_recoverable(source.inner());
    if !errors.is_empty() {
        return Err(errors.iter().take(MAX_SYNTAX_ERRORS).map(|e| syntax_problem(source, e, 0)).collect());
    }
    let at = place(source, document.span(), 0);
    let table = convert_table(source, document.get_ref(), 0, 0).map_err(|deep| vec![*deep])?;
    Ok(Node { value: Value::Table(table), at })
}

/// A single value that starts at `offset` of the source: the right-hand side of a `--set`.
pub fn parse_value(source: &Source, offset: usize) -> Result<Node, Box<Problem>> {
    let value = DeValue::parse(&source.inner()[offset..])
        .map_err(|e| Box::new(syntax_problem(source, &e, offset)))?;
    convert(source, value.get_ref(), value.span(), offset, 0)
}

fn syntax_problem(source: &Source, error: &toml::de::Error, offset: usize) -> Problem {
    let span = error.span().unwrap_or(0..0);
    Problem::error("syntax", &place(source, span, offset), format!("not valid TOML: {}", error.message()))
}

fn place(source: &Source, span: Range<usize>, offset: usize) -> Place {
    // The parser may point one past the end; nothing that shows a place should have to mind.
    let length = source.inner().len();
    let start = (span.start + offset).min(length);
    let end = (span.end + offset).clamp(start, length);
    Place { source: source.clone(), span: start..end }
}

fn convert(
    source: &Source,
    value: &DeValue<'_>,
    span: Range<usize>,
    offset: usize,
    depth: usize,
) -> Result<Node, Box<Problem>> {
    let at = place(source, span, offset);
    if depth > MAX_DEPTH {
        return Err(Problem::error("syntax", &at, format!("nested more than {MAX_DEPTH} deep")).into());
    }
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => convert_integer(integer),
        // The parser has checked the digits; "inf" and "nan" are refused later, with a better message.
        DeValue::Float(float) => Value::Number(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| convert(source, item.get_ref(), item.span(), offset, depth + 1))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(table) => Value::Table(convert_table(source, table, offset, depth)?),
    };
    Ok(Node { value, at })
}

fn convert_table(
    source: &Source,
    table: &DeTable<'_>,
    offset: usize,
    depth: usize,
) -> Result<Table, Box<Problem>> {
    let mut entries = Vec::new();
    for (key, value) in table.iter() {
        entries.push(Entry {
            key: key.get_ref().to_string(),
            key_at: place(source, key.span(), offset),
            node: convert(source, value.get_ref(), value.span(), offset, depth + 1)?,
        });
    }
    Ok(Table { entries })
}

/// Integers beyond 64 bits become numbers: no key takes one, and the range check will say so.
fn convert_integer(integer: &DeInteger<'_>) -> Value {
    match i64::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(value) => Value::Integer(value),
        Err(_) => Value::Number(integer.as_str().parse().unwrap_or(f64::MAX)),
    }
}
