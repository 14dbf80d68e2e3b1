//! `littoral behaviours`: the schemas, as help.

use clap::Args;
use littoral::behaviour::{Default, Default3, Kind, Property, Schema, Unit};
use littoral::behaviours::{REGISTRY, by_name};
use littoral::scene::nearest_name;

use crate::failure::Failure;
use crate::text;

#[derive(Args)]
pub struct Arguments {
    /// The behaviour to explain
    name: Option<String>,
}

pub fn command(arguments: &Arguments) -> Result<String, Failure> {
    let Some(name) = &arguments.name else { return Ok(list()) };
    by_name(name).map(explain).ok_or_else(|| {
        let known: Vec<&str> = REGISTRY.iter().map(|behaviour| behaviour.schema().name).collect();
        let near = nearest_name(name, &known).map(|near| format!("; did you mean `{near}`?"));
        let near = near.unwrap_or_default();
        Failure::Input(format!("there is no behaviour `{name}`{near}\n  behaviours: {}", known.join(", ")))
    })
}

fn list() -> String {
    let row = |schema: &Schema| vec![schema.name.to_owned(), schema.summary.to_owned()];
    let rows: Vec<Vec<String>> = REGISTRY.iter().map(|behaviour| row(behaviour.schema())).collect();
    format!("{}\nMore about one: littoral behaviours {}\n", text::columns(&rows), REGISTRY[0].schema().name)
}

fn explain(schema: &Schema) -> String {
    let mut help = format!("{}: {}\n\n", schema.name, schema.summary);
    help += &format!("  law          {}\n", schema.law);
    help += &format!("  half weight  {}\n", schema.half_weight);
    help += &format!("  reference    {}\n\n", schema.reference);
    help += &format!("[body.behaviours.{}]\n", schema.name);
    let mut rows = vec![vec![
        "weight".to_owned(),
        "0 to 1".to_owned(),
        "1".to_owned(),
        "how much of the law the particles feel; may be keyframed".to_owned(),
    ]];
    rows.extend(schema.properties.iter().map(property));
    help + &text::columns(&rows)
}

fn property(property: &Property) -> Vec<String> {
    let (values, default) = match &property.kind {
        Kind::Number { unit, default, min, max } => {
            (range(*min, *max, *unit), number_default(default, *unit))
        }
        Kind::Vector { unit, default } => {
            let default = match default {
                Default3::Value(v) => format!("{v:?}"),
                Default3::Automatic(how) => (*how).to_owned(),
            };
            (with_unit("vector", *unit), default)
        }
        Kind::Choice { options, default } => (options.join(" | "), options[*default].to_owned()),
        Kind::Switch { default } => ("true | false".to_owned(), default.to_string()),
    };
    vec![property.name.to_owned(), values, default, property.meaning.to_owned()]
}

fn number_default(default: &Default, unit: Unit) -> String {
    match default {
        Default::Value(value) => with_unit(&value.to_string(), unit),
        Default::Automatic(how) => (*how).to_owned(),
        Default::Required => "required, or from the material".to_owned(),
    }
}

fn range(min: f64, max: f64, unit: Unit) -> String {
    let range = match (min.is_finite(), max.is_finite()) {
        (true, true) => format!("{min} to {max}"),
        (true, false) => format!("{min} or more"),
        (false, true) => format!("{max} or less"),
        (false, false) => "any number".to_owned(),
    };
    with_unit(&range, unit)
}

fn with_unit(text: &str, unit: Unit) -> String {
    format!("{text} {}", unit.symbol()).trim_end().to_owned()
}
