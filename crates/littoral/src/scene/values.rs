//! Reading single values: numbers with units, vectors, words, curves.
//!
//! Each function returns the value, or `None` after it has logged why there is none.

use std::cell::RefCell;
use std::sync::Arc;

use super::keys::{CURVE_KEYS, Range};
use super::problem::{Place, Problem};
use super::suggest::{did_you_mean, list_of};
use super::tree::{Node, Table, Value};
use super::units::{self, Trouble};
use super::{DRIVER_COLUMNS, Dimensions};
use crate::behaviour::Unit;
use crate::timeline::{Curve, Driver, Ease, Formula, Key, Motion};

/// Where problems are collected: reading goes on after the first.
#[derive(Debug, Default)]
pub struct Log {
    problems: RefCell<Vec<Problem>>,
}

impl Log {
    pub fn push(&self, problem: Problem) {
        self.problems.borrow_mut().push(problem);
    }

    pub fn into_list(self) -> Vec<Problem> {
        self.problems.into_inner()
    }
}

/// Enough digits to be exact where a person wrote the number, short where it is very large or small.
pub fn show(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || (1e-4..1e6).contains(&size) { format!("{number}") } else { format!("{number:e}") }
}

/// Three significant digits, for numbers that were computed.
pub fn show_rounded(number: f64) -> String {
    show(format!("{number:.2e}").parse().unwrap_or(number))
}

fn show_with_unit(number: f64, unit: Unit) -> String {
    format!("{} {}", show(number), unit.symbol()).trim_end().to_owned()
}

/// "0 to 1", "1.2 to 4 m", "at least 0 s".
pub fn show_range(range: &Range) -> String {
    if range.max == f64::INFINITY {
        return format!("at least {}", show_with_unit(range.min, range.unit));
    }
    format!("{} to {}", show(range.min), show_with_unit(range.max, range.unit))
}

pub fn wrong_type(node: &Node, what: &str, expected: &str) -> Problem {
    Problem::error(
        "wrong-type",
        &node.at,
        format!("`{what}` is {}; expected {expected}", node.value.describe()),
    )
    .label(format!("expected {expected}"))
}

/// A finite number in SI, from a number or from a text with a unit.
fn quantity(node: &Node, unit: Unit, what: &str, log: &Log) -> Option<f64> {
    let number = match &node.value {
        Value::Integer(integer) => *integer as f64,
        Value::Number(number) => *number,
        Value::Text(text) => match units::parse(text, unit) {
            Ok(number) => number,
            Err(trouble) => {
                log.push(unit_problem(node, text, trouble, unit, what));
                return None;
            }
        },
        _ => {
            log.push(wrong_type(node, what, units::quantity(unit)));
            return None;
        }
    };
    if !number.is_finite() {
        log.push(
            Problem::error("not-finite", &node.at, format!("`{what}` is not finite"))
                .label(format!("expected {}", units::quantity(unit))),
        );
        return None;
    }
    Some(number)
}

fn unit_problem(node: &Node, text: &str, trouble: Trouble, unit: Unit, what: &str) -> Problem {
    let expected = units::quantity(unit);
    let message = match &trouble {
        Trouble::NoNumber => format!("`{what}` is the text \"{text}\"; expected {expected}"),
        Trouble::NoUnit => format!("`{what}` is a text without a unit; expected {expected}"),
        Trouble::OtherKind { unit, measures } => {
            format!("`{unit}` measures {measures}; `{what}` is {expected}")
        }
        Trouble::Unknown { unit, .. } => format!("`{unit}` is not a unit of `{what}`; expected {expected}"),
    };
    let code = if trouble == Trouble::NoNumber { "wrong-type" } else { "wrong-unit" };
    let accepted = units::accepted(unit);
    let help = match trouble {
        Trouble::Unknown { near: Some(near), .. } => {
            format!("did you mean `{near}`? Accepted units: {accepted}")
        }
        _ if unit == Unit::One => "write a plain number, or a percentage such as \"50 %\"".to_owned(),
        _ => format!("write a plain number in {}, or a text with one of {accepted}", unit.symbol()),
    };
    Problem::error(code, &node.at, message).label(format!("expected {expected}")).help(help)
}

/// A number within its range.
pub fn number(node: &Node, range: &Range, what: &str, log: &Log) -> Option<f64> {
    let number = quantity(node, range.unit, what, log)?;
    if (range.min..=range.max).contains(&number) {
        return Some(number);
    }
    let shown = show_with_unit(number, range.unit);
    log.push(
        Problem::error(
            "out-of-range",
            &node.at,
            format!("`{what}` is {shown}; expected {}", show_range(range)),
        )
        .label(format!("expected {}", show_range(range))),
    );
    None
}

/// A whole number within `min..=max`.
pub fn whole(node: &Node, min: i64, max: i64, what: &str, log: &Log) -> Option<i64> {
    let expected = match max {
        i64::MAX => format!("a whole number from {min}"),
        _ if max == min + 1 => format!("{min} or {max}"),
        _ => format!("a whole number from {min} to {max}"),
    };
    match node.value {
        Value::Integer(integer) if (min..=max).contains(&integer) => return Some(integer),
        Value::Integer(integer) => log.push(
            Problem::error("out-of-range", &node.at, format!("`{what}` is {integer}; expected {expected}"))
                .label(format!("expected {expected}")),
        ),
        _ => log.push(wrong_type(node, what, &expected)),
    }
    None
}

pub fn flag(node: &Node, what: &str, log: &Log) -> Option<bool> {
    match node.value {
        Value::Flag(flag) => Some(flag),
        _ => {
            log.push(wrong_type(node, what, "true or false"));
            None
        }
    }
}

pub fn text<'a>(node: &'a Node, what: &str, log: &Log) -> Option<&'a str> {
    match &node.value {
        Value::Text(text) => Some(text),
        _ => {
            log.push(wrong_type(node, what, "a text"));
            None
        }
    }
}

/// Texts in a list, each with its place.
pub fn texts(node: &Node, what: &str, log: &Log) -> Option<Vec<(String, Place)>> {
    let Value::List(items) = &node.value else {
        log.push(wrong_type(node, what, "a list of texts"));
        return None;
    };
    items.iter().map(|item| Some((text(item, what, log)?.to_owned(), item.at.clone()))).collect()
}

/// One of a few words; its place among them. `what` is the key, `noun` says what the words are names of.
pub fn word(node: &Node, options: &[&str], what: &str, noun: &str, log: &Log) -> Option<usize> {
    let Value::Text(word) = &node.value else {
        log.push(wrong_type(node, what, "a text").help(format!("expected {}", list_of(options))));
        return None;
    };
    let found = options.iter().position(|option| option == word);
    if found.is_none() {
        log.push(unknown_word(&node.at, word, options, noun));
    }
    found
}

pub fn unknown_word(at: &Place, word: &str, options: &[&str], noun: &str) -> Problem {
    Problem::error("unknown-name", at, format!("there is no {noun} `{word}`"))
        .label(did_you_mean(word, options).unwrap_or_default())
        .help(format!("expected {}", list_of(options)))
}

/// Words in a list, each with its place.
pub fn words(
    node: &Node,
    options: &[&'static str],
    what: &str,
    noun: &str,
    log: &Log,
) -> Vec<(&'static str, Place)> {
    let Value::List(items) = &node.value else {
        log.push(wrong_type(node, what, "a list").help(format!("a list of {}", list_of(options))));
        return Vec::new();
    };
    let one = |item: &Node| Some((options[word(item, options, what, noun, log)?], item.at.clone()));
    items.iter().filter_map(one).collect()
}

/// Two or three numbers; in a flat world the third is 0.
pub fn vectors(
    node: &Node,
    unit: Unit,
    dimensions: Dimensions,
    what: &str,
    log: &Log,
) -> Option<Vec<[f64; 3]>> {
    let Value::List(items) = &node.value else {
        log.push(wrong_type(node, what, "a list of vectors [[x, y, z], …]"));
        return None;
    };
    if items.is_empty() {
        log.push(wrong_type(node, what, "at least one vector"));
        return None;
    }
    let read: Vec<_> = items.iter().map(|item| vector(item, unit, dimensions, what, log)).collect();
    read.into_iter().collect()
}

pub fn vector(node: &Node, unit: Unit, dimensions: Dimensions, what: &str, log: &Log) -> Option<[f64; 3]> {
    let expected = match dimensions {
        Dimensions::Two => "two numbers [x, y]",
        Dimensions::Three => "three numbers [x, y, z]",
    };
    let Value::List(items) = &node.value else {
        log.push(wrong_type(node, what, expected));
        return None;
    };
    let flat = dimensions == Dimensions::Two;
    if items.len() != 3 && !(flat && items.len() == 2) {
        let message = format!("`{what}` is a list of {}; expected {expected}", items.len());
        log.push(Problem::error("wrong-type", &node.at, message).label(format!("expected {expected}")));
        return None;
    }
    let range = Range { unit, min: -1e9, max: 1e9 };
    let mut vector = [0.0; 3];
    let mut complete = true;
    for (component, item) in vector.iter_mut().zip(items) {
        match number(item, &range, what, log) {
            Some(value) => *component = value,
            None => complete = false,
        }
    }
    if flat && vector[2] != 0.0 {
        let message = format!("`{what}` leaves the plane: the scene is 2-D");
        log.push(
            Problem::error("flat-world", &items[2].at, message)
                .label("expected 0, or nothing")
                .help("leave z out, or set `dimensions = 3`"),
        );
        return None;
    }
    complete.then_some(vector)
}

/// "#rrggbb", or three numbers from 0 to 1: as on a screen.
pub fn colour(node: &Node, what: &str, log: &Log) -> Option<[f64; 3]> {
    const EXPECTED: &str = "a colour such as \"#3366cc\" or [0.2, 0.4, 0.8]";
    match &node.value {
        Value::Text(text) => {
            let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii());
            let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            let Some(number) = number else {
                let message = format!("`{what}` is the text \"{text}\"; expected {EXPECTED}");
                log.push(Problem::error("wrong-type", &node.at, message).label("expected \"#rrggbb\""));
                return None;
            };
            Some([16, 8, 0].map(|shift| f64::from(number >> shift & 255) / 255.0))
        }
        Value::List(items) if items.len() == 3 => {
            let range = Range { unit: Unit::One, min: 0.0, max: 1.0 };
            let parts: Vec<f64> = items.iter().filter_map(|item| number(item, &range, what, log)).collect();
            parts.try_into().ok()
        }
        _ => {
            log.push(wrong_type(node, what, EXPECTED));
            None
        }
    }
}

/// `[width, height]`.
pub fn size(node: &Node, min: i64, max: i64, what: &str, log: &Log) -> Option<[u32; 2]> {
    let Value::List(items) = &node.value else {
        log.push(wrong_type(node, what, "two whole numbers [width, height]"));
        return None;
    };
    let [width, height] = items.as_slice() else {
        let message = format!("`{what}` is a list of {}; expected [width, height]", items.len());
        log.push(Problem::error("wrong-type", &node.at, message).label("expected [width, height]"));
        return None;
    };
    let (width, height) = (whole(width, min, max, what, log), whole(height, min, max, what, log));
    Some([width? as u32, height? as u32])
}

/// A vector, keys over time `[[t, [x, y, z]], …]`, or a table `{ keys, ease }`. Cameras may leave a flat world: their
/// `dimensions` are three.
pub fn motion(node: &Node, unit: Unit, dimensions: Dimensions, what: &str, log: &Log) -> Option<Motion> {
    match &node.value {
        Value::List(items) if matches!(items.first().map(|item| &item.value), Some(Value::List(_))) => {
            motion_keys(node, items, unit, dimensions, Ease::Cubic, what, log)
        }
        Value::Table(table) => {
            for entry in table.entries.iter().filter(|entry| !["keys", "ease"].contains(&entry.key.as_str()))
            {
                let message = format!("`{}` is not a key of a motion", entry.key);
                log.push(
                    Problem::error("unknown-key", &entry.key_at, message)
                        .help("keys of a motion: keys, ease"),
                );
            }
            let ease = match table.get("ease") {
                Some(entry) => word(&entry.node, &Ease::NAMES, "ease", "way to ease", log)
                    .and_then(|i| Ease::from_name(Ease::NAMES[i])),
                None => Some(Ease::Cubic),
            };
            let Some(Value::List(items)) = table.get("keys").map(|entry| &entry.node.value) else {
                let message = format!("the motion of `{what}` has no list of `keys`");
                let problem = Problem::error("missing-key", &node.at, message);
                log.push(problem.help("write `keys = [[time, [x, y, z]], …]`"));
                return None;
            };
            motion_keys(node, items, unit, dimensions, ease?, what, log)
        }
        _ => vector(node, unit, dimensions, what, log).map(Motion::constant),
    }
}

fn motion_keys(
    node: &Node,
    items: &[Node],
    unit: Unit,
    dimensions: Dimensions,
    ease: Ease,
    what: &str,
    log: &Log,
) -> Option<Motion> {
    let mut keys: [Vec<Key>; 3] = Default::default();
    let mut complete = !items.is_empty();
    for item in items {
        let pair = match &item.value {
            Value::List(pair) if pair.len() == 2 => pair,
            _ => {
                log.push(wrong_type(item, &format!("a key of {what}"), "a pair [time, [x, y, z]]"));
                complete = false;
                continue;
            }
        };
        let at = quantity(&pair[0], Unit::Second, "time", log);
        let place = vector(&pair[1], unit, dimensions, what, log);
        match at.zip(place) {
            Some((at, place)) => {
                for (keys, value) in keys.iter_mut().zip(place) {
                    keys.push(Key { at, value });
                }
            }
            None => complete = false,
        }
    }
    if !complete {
        return None;
    }
    let curves: Option<Vec<Curve>> =
        keys.into_iter().map(|keys| Curve::new(Driver::Time, ease, keys)).collect();
    if curves.is_none() {
        let message = format!("the keys of `{what}` are not in the order of their times");
        log.push(Problem::error("key-order", &node.at, message).label("times must rise"));
    }
    Some(Motion { components: curves?.try_into().ok()? })
}

/// A constant, keys over time `[[t, v], …]`, or a table `{ over, keys, ease }`.
pub fn curve(node: &Node, range: &Range, what: &str, log: &Log) -> Option<Curve> {
    match &node.value {
        Value::List(keys) => Curve::new(
            Driver::Time,
            Ease::default(),
            curve_keys(node, keys, &Driver::Time, range, what, log)?,
        ),
        Value::Table(table) => curve_table(node, table, range, what, log),
        _ => number(node, range, what, log).map(Curve::constant),
    }
}

fn curve_table(node: &Node, table: &Table, range: &Range, what: &str, log: &Log) -> Option<Curve> {
    for entry in table.entries.iter().filter(|entry| !CURVE_KEYS.contains(&entry.key.as_str())) {
        log.push(
            Problem::error("unknown-key", &entry.key_at, format!("`{}` is not a key of a curve", entry.key))
                .label(did_you_mean(&entry.key, CURVE_KEYS).unwrap_or_default())
                .help(format!("keys of a curve: {}", list_of(CURVE_KEYS))),
        );
    }
    // `over` and `ease` are read even when `keys` is wrong, so that all their problems show.
    let driver = match (table.get("over"), table.get("formula")) {
        (Some(over), Some(formula)) => {
            let message = format!("the curve of `{what}` runs over a column and over a formula");
            log.push(
                Problem::error("key-clash", &formula.key_at, message)
                    .also(&over.key_at, "the column")
                    .help("give `over` or `formula`, not both"),
            );
            None
        }
        (Some(entry), None) => driver(&entry.node, log),
        (None, Some(entry)) => text(&entry.node, "formula", log).and_then(|text| {
            let program = super::forces::formula(text, &entry.node.at, log)?;
            Some(Driver::Formula(Arc::new(Formula { text: text.to_owned(), program })))
        }),
        (None, None) => Some(Driver::Time),
    };
    let ease = match table.get("ease") {
        Some(entry) => word(&entry.node, &Ease::NAMES, "ease", "way to ease", log)
            .and_then(|i| Ease::from_name(Ease::NAMES[i])),
        None => Some(Ease::default()),
    };
    let Some(keys) = table.get("keys") else {
        log.push(
            Problem::error("missing-key", &node.at, format!("the curve of `{what}` has no `keys`"))
                .help("write `keys = [[at, value], …]`"),
        );
        return None;
    };
    let Value::List(items) = &keys.node.value else {
        log.push(wrong_type(&keys.node, "keys", "a list of pairs [at, value]"));
        return None;
    };
    let driver = driver?;
    let keys = curve_keys(&keys.node, items, &driver, range, what, log)?;
    Curve::new(driver, ease?, keys)
}

fn driver(node: &Node, log: &Log) -> Option<Driver> {
    let options: Vec<&str> = std::iter::once("time").chain(DRIVER_COLUMNS.iter().copied()).collect();
    match word(node, &options, "over", "column", log)? {
        0 => Some(Driver::Time),
        i => Some(Driver::Column(DRIVER_COLUMNS[i - 1])),
    }
}

fn driver_name(driver: &Driver) -> &'static str {
    match driver {
        Driver::Time => "time",
        Driver::Formula(_) => "formula",
        Driver::Column(name) => name,
    }
}

/// Unit of a curve's axis.
fn driver_unit(driver: &Driver) -> Unit {
    match driver {
        Driver::Time => Unit::Second,
        Driver::Formula(_) => Unit::One,
        Driver::Column("density") => Unit::KilogramPerCubicMetre,
        Driver::Column("pressure") => Unit::Pascal,
        Driver::Column("speed") => Unit::MetrePerSecond,
        Driver::Column("temperature") => Unit::Kelvin,
        Driver::Column("x" | "y" | "z") => Unit::Metre,
        Driver::Column(_) => Unit::One,
    }
}

fn curve_keys(
    node: &Node,
    items: &[Node],
    driver: &Driver,
    range: &Range,
    what: &str,
    log: &Log,
) -> Option<Vec<Key>> {
    if items.is_empty() {
        let message = format!("the curve of `{what}` has no keys");
        log.push(Problem::error("missing-key", &node.at, message).label("expected [[at, value], …]"));
        return None;
    }
    let keys: Vec<Option<Key>> = items.iter().map(|item| curve_key(item, driver, range, what, log)).collect();
    let keys = keys.into_iter().collect::<Option<Vec<Key>>>()?;
    let mut ordered = true;
    for (pair, item) in keys.windows(2).zip(&items[1..]) {
        if pair[0].at >= pair[1].at {
            let unit = driver_unit(driver);
            let (before, this) = (show_with_unit(pair[0].at, unit), show_with_unit(pair[1].at, unit));
            let message = format!("a key of `{what}` at {this} follows one at {before}");
            log.push(Problem::error("key-order", &item.at, message).label("keys must rise"));
            ordered = false;
        }
    }
    ordered.then_some(keys)
}

fn curve_key(node: &Node, driver: &Driver, range: &Range, what: &str, log: &Log) -> Option<Key> {
    let Value::List(pair) = &node.value else {
        log.push(wrong_type(node, &format!("a key of {what}"), "a pair [at, value]"));
        return None;
    };
    let [at, value] = pair.as_slice() else {
        let message = format!("a key of `{what}` is a list of {}; expected a pair [at, value]", pair.len());
        log.push(Problem::error("wrong-type", &node.at, message).label("expected [at, value]"));
        return None;
    };
    let at = quantity(at, driver_unit(driver), driver_name(driver), log);
    let value = number(value, range, what, log);
    Some(Key { at: at?, value: value? })
}
