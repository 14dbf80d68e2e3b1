//! Quantities written with their unit: `"5 mm"`, `"1 mPa·s"`, `"20 °C"`.
//!
//! Plain numbers are SI. A unit in a text is converted here, at the border, and nowhere else.

use crate::behaviour::Unit;

/// One way to write a unit: value in SI = number × factor + offset.
struct Spelling {
    name: &'static str,
    factor: f64,
    offset: f64,
}

const fn times(name: &'static str, factor: f64) -> Spelling {
    Spelling { name, factor, offset: 0.0 }
}

const DEGREES_PER_RADIAN: f64 = 180.0 / std::f64::consts::PI;

/// Every kind of quantity: what it is called and how its unit may be written. The first spelling is SI.
///
/// Spellings are in the normal form of [`normalise`]: `·` for products, plain digits for powers.
const KINDS: &[(Unit, &str, &[Spelling])] = &[
    (Unit::One, "a number", &[times("%", 0.01)]),
    (
        Unit::Metre,
        "a length",
        &[
            times("m", 1.0),
            times("mm", 1e-3),
            times("cm", 1e-2),
            times("km", 1e3),
            times("um", 1e-6),
            times("in", 0.0254),
            times("ft", 0.3048),
        ],
    ),
    (
        Unit::SquareMetre,
        "a permeability",
        &[times("m2", 1.0), times("mm2", 1e-6), times("um2", 1e-12), times("D", 9.869_233e-13)],
    ),
    (
        Unit::Second,
        "a time",
        &[times("s", 1.0), times("ms", 1e-3), times("us", 1e-6), times("min", 60.0), times("h", 3600.0)],
    ),
    (
        Unit::MetrePerSecond,
        "a speed",
        &[
            times("m/s", 1.0),
            times("cm/s", 1e-2),
            times("mm/s", 1e-3),
            times("km/h", 1.0 / 3.6),
            times("mm/h", 1e-3 / 3600.0),
        ],
    ),
    (Unit::MetrePerSecondSquared, "an acceleration", &[times("m/s2", 1.0), times("cm/s2", 1e-2)]),
    (
        Unit::KilogramPerCubicMetre,
        "a density",
        &[
            times("kg/m3", 1.0),
            times("g/cm3", 1e3),
            times("g/ml", 1e3),
            times("g/l", 1.0),
            times("kg/l", 1e3),
        ],
    ),
    (
        Unit::Pascal,
        "a pressure",
        &[
            times("Pa", 1.0),
            times("hPa", 1e2),
            times("kPa", 1e3),
            times("MPa", 1e6),
            times("GPa", 1e9),
            times("mbar", 1e2),
            times("bar", 1e5),
            times("atm", 101_325.0),
        ],
    ),
    (
        Unit::PascalSecond,
        "a dynamic viscosity",
        &[
            times("Pa·s", 1.0),
            times("mPa·s", 1e-3),
            times("uPa·s", 1e-6),
            times("kPa·s", 1e3),
            times("P", 0.1),
            times("cP", 1e-3),
        ],
    ),
    (
        Unit::NewtonPerMetre,
        "a force over a length",
        &[times("N/m", 1.0), times("mN/m", 1e-3), times("dyn/cm", 1e-3)],
    ),
    (Unit::SquareMetrePerSecondSquared, "a squared speed", &[times("m2/s2", 1.0), times("cm2/s2", 1e-4)]),
    (
        Unit::SquareMetrePerSecond,
        "a diffusivity",
        &[times("m2/s", 1.0), times("cm2/s", 1e-4), times("mm2/s", 1e-6)],
    ),
    (Unit::PerSecond, "a rate", &[times("1/s", 1.0), times("Hz", 1.0), times("fps", 1.0), times("kHz", 1e3)]),
    (
        Unit::CubicMetrePerSecond,
        "a flow",
        &[
            times("m3/s", 1.0),
            times("l/s", 1e-3),
            times("ml/s", 1e-6),
            times("l/min", 1e-3 / 60.0),
            times("m3/h", 1.0 / 3600.0),
        ],
    ),
    (
        Unit::NewtonMetre,
        "a bending stiffness",
        &[times("N·m", 1.0), times("mN·m", 1e-3), times("uN·m", 1e-6)],
    ),
    (Unit::PascalSecondPerMetre, "a drag of a surface", &[times("Pa·s/m", 1.0), times("kPa·s/m", 1e3)]),
    (Unit::PascalSecondToTheOrderPerMetre, "a history drag", &[times("Pa·s^q/m", 1.0)]),
    (Unit::SecondToTheOrder, "a memory", &[times("s^q", 1.0)]),
    (Unit::Degree, "an angle", &[times("deg", 1.0), times("°", 1.0), times("rad", DEGREES_PER_RADIAN)]),
    (Unit::Kelvin, "a temperature", &[times("K", 1.0), Spelling { name: "°C", factor: 1.0, offset: 273.15 }]),
];

fn kind(unit: Unit) -> (&'static str, &'static [Spelling]) {
    // Every unit has its row: a test says so.
    KINDS.iter().find(|row| row.0 == unit).map_or(("a number", &[]), |row| (row.1, row.2))
}

/// Every unit, in the order they are listed to a user.
pub fn all() -> impl Iterator<Item = Unit> {
    KINDS.iter().map(|row| row.0)
}

/// What is measured, with its article: "a length".
pub fn quantity(unit: Unit) -> &'static str {
    kind(unit).0
}

/// The accepted spellings, for messages and tables.
pub fn accepted(unit: Unit) -> String {
    let pretty = |name: &str| match name.strip_prefix('u') {
        Some(rest) => format!("µ{rest}"),
        None => name.replace('2', "²").replace('3', "³"),
    };
    kind(unit).1.iter().map(|spelling| pretty(spelling.name)).collect::<Vec<_>>().join(", ")
}

/// Why a text is not a quantity of the wanted kind.
#[derive(Debug, PartialEq)]
pub enum Trouble {
    /// Does not start with a number.
    NoNumber,
    /// A number and nothing else.
    NoUnit,
    /// A unit of something else, named.
    OtherKind { unit: String, measures: &'static str },
    /// Not a unit we know; perhaps a near miss.
    Unknown { unit: String, near: Option<&'static str> },
}

/// Reads `"5 mm"` as a value in SI.
pub fn parse(text: &str, wanted: Unit) -> Result<f64, Trouble> {
    let (number, unit) = split(text.trim()).ok_or(Trouble::NoNumber)?;
    let unit = normalise(unit);
    if unit.is_empty() {
        return if wanted == Unit::One { Ok(number) } else { Err(Trouble::NoUnit) };
    }
    let spellings = kind(wanted).1;
    if let Some(spelling) = spellings.iter().find(|spelling| matches(&unit, spelling.name)) {
        return Ok(number * spelling.factor + spelling.offset);
    }
    let other = KINDS.iter().find(|row| row.2.iter().any(|spelling| matches(&unit, spelling.name)));
    Err(match other {
        Some(row) => Trouble::OtherKind { unit, measures: row.1 },
        None => {
            let near =
                spellings.iter().map(|spelling| spelling.name).find(|name| name.eq_ignore_ascii_case(&unit));
            Trouble::Unknown { unit, near }
        }
    })
}

/// Products may be written without a sign: `mPas`.
fn matches(unit: &str, name: &str) -> bool {
    unit == name || unit == name.replace('·', "")
}

/// The number a text starts with, and the rest.
fn split(text: &str) -> Option<(f64, &str)> {
    // An exponent's letter also starts units ("5 erg"): take the longest beginning that is a number.
    let ends = text.char_indices().map(|(i, c)| i + c.len_utf8());
    let longest = ends
        .take_while(|&end| text[..end].chars().all(|c| c.is_ascii_digit() || "+-.eE_".contains(c)))
        .filter_map(|end| Some((text[..end].replace('_', "").parse::<f64>().ok()?, &text[end..])))
        .last();
    longest.filter(|(number, _)| number.is_finite())
}

/// One spelling for each of the ways to write powers, products and the micro sign.
fn normalise(unit: &str) -> String {
    let mut normal = String::new();
    for part in unit.split([' ', '\u{a0}', '*', '·', '⋅', '×']).filter(|part| !part.is_empty()) {
        let joined = normal.is_empty() || normal.ends_with('/') || part.starts_with('/');
        if !joined {
            normal.push('·');
        }
        normal.extend(part.chars().filter(|&c| c != '^').map(|c| match c {
            '²' => '2',
            '³' => '3',
            'µ' | 'μ' => 'u',
            'º' => '°',
            other => other,
        }));
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, unit: Unit, si: f64) {
        let got = parse(text, unit).unwrap();
        assert!((got - si).abs() <= 1e-12 * si.abs(), "{text}: {got}, expected {si}");
    }

    #[test]
    fn common_spellings() {
        reads("5 mm", Unit::Metre, 0.005);
        reads("5mm", Unit::Metre, 0.005);
        reads("-1.5e1 cm", Unit::Metre, -0.15);
        reads("20 µm", Unit::Metre, 20e-6);
        for text in ["1 mPa·s", "1 mPa s", "1 mPa*s", "1 mPas", "1mPa⋅s", "1 cP"] {
            reads(text, Unit::PascalSecond, 1e-3);
        }
        for text in ["9.81 m/s²", "9.81 m/s^2", "9.81 m/s2", "9.81 m / s2"] {
            reads(text, Unit::MetrePerSecondSquared, 9.81);
        }
        reads("1 g/cm³", Unit::KilogramPerCubicMetre, 1000.0);
        reads("20 °C", Unit::Kelvin, 293.15);
        reads("90 deg", Unit::Degree, 90.0);
        reads("50 %", Unit::One, 0.5);
        reads("0.5", Unit::One, 0.5);
        reads("30 fps", Unit::PerSecond, 30.0);
    }

    #[test]
    fn a_metre_second_is_not_a_millisecond() {
        assert!(matches!(parse("1 m s", Unit::Second), Err(Trouble::Unknown { .. })));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(parse("mm", Unit::Metre), Err(Trouble::NoNumber));
        assert_eq!(parse("", Unit::Metre), Err(Trouble::NoNumber));
        assert_eq!(parse("5", Unit::Metre), Err(Trouble::NoUnit));
        let other = Trouble::OtherKind { unit: "s".into(), measures: "a time" };
        assert_eq!(parse("5 s", Unit::Metre), Err(other));
        let near = Trouble::Unknown { unit: "MM".into(), near: Some("mm") };
        assert_eq!(parse("5 MM", Unit::Metre), Err(near));
    }

    #[test]
    fn every_unit_has_a_row_that_starts_with_si() {
        for row in KINDS.iter().filter(|row| row.0 != Unit::One) {
            assert_eq!(row.2[0].factor, 1.0, "{}", row.1);
        }
        // The match keeps this list complete: a new unit does not compile until it is added here and above.
        let all = |unit: Unit| match unit {
            Unit::One | Unit::Metre | Unit::Second | Unit::MetrePerSecond | Unit::MetrePerSecondSquared => (),
            Unit::KilogramPerCubicMetre | Unit::Pascal | Unit::PascalSecond | Unit::NewtonPerMetre => (),
            Unit::SquareMetre | Unit::SquareMetrePerSecond => (),
            Unit::SquareMetrePerSecondSquared | Unit::PerSecond | Unit::Degree | Unit::Kelvin => (),
            Unit::CubicMetrePerSecond | Unit::NewtonMetre | Unit::PascalSecondPerMetre => (),
            Unit::PascalSecondToTheOrderPerMetre | Unit::SecondToTheOrder => (),
        };
        KINDS.iter().for_each(|row| all(row.0));
        assert_eq!(KINDS.len(), 20);
    }
}
