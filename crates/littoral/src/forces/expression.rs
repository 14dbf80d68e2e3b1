//! Formulas in a scene, such as `"-4*x + sin(2*pi*t)"`: parsed once, then run as a small stack program.
//!
//! Numbers, `+ - * / % ^`, comparisons (1 where true, 0 where not), brackets, the variables of [`VARIABLES`], `pi`
//! and `e`, and the functions of [`FUNCTIONS`]. As on paper, −x² is −(x²) and 2^3^2 is 2^(3^2).
//!
//! Not one of the crates for this (exmex, fasteval, evalexpr, meval): their errors do not say where in the text they
//! are, and they call the platform's sine, while a run must have the same bits on every machine (`libm` has).
//!
//! Kept honest by values computed by hand, and by errors that point at what is wrong.

use std::ops::Range;

/// Names of what a formula may depend on, in the order of [`Program::eval`]'s argument.
pub const VARIABLES: [&str; 7] = ["x", "y", "z", "vx", "vy", "vz", "t"];

/// Numbers that a program may keep on its stack.
const DEPTH: usize = 32;

/// Brackets and functions inside each other; bounds recursion on hostile text.
const NESTED: usize = 100;

type One = fn(f64) -> f64;
type Two = fn(f64, f64) -> f64;
type Three = fn(f64, f64, f64) -> f64;

/// A function by the number of its arguments.
#[derive(Clone, Copy, Debug)]
enum Function {
    One(One),
    Two(Two),
    Three(Three),
}

impl Function {
    fn arguments(self) -> usize {
        match self {
            Function::One(_) => 1,
            Function::Two(_) => 2,
            Function::Three(_) => 3,
        }
    }
}

/// Every function, in the order it is listed to a user.
const TABLE: [(&str, Function); 25] = [
    ("sin", Function::One(libm::sin)),
    ("cos", Function::One(libm::cos)),
    ("tan", Function::One(libm::tan)),
    ("asin", Function::One(libm::asin)),
    ("acos", Function::One(libm::acos)),
    ("atan", Function::One(libm::atan)),
    ("atan2", Function::Two(libm::atan2)),
    ("sinh", Function::One(libm::sinh)),
    ("cosh", Function::One(libm::cosh)),
    ("tanh", Function::One(libm::tanh)),
    ("exp", Function::One(libm::exp)),
    ("log", Function::One(libm::log)),
    ("sqrt", Function::One(f64::sqrt)),
    ("abs", Function::One(f64::abs)),
    ("sign", Function::One(sign)),
    ("floor", Function::One(f64::floor)),
    ("ceil", Function::One(f64::ceil)),
    ("round", Function::One(f64::round)),
    ("hypot", Function::Two(libm::hypot)),
    ("pow", Function::Two(libm::pow)),
    ("min", Function::Two(f64::min)),
    ("max", Function::Two(f64::max)),
    ("clamp", Function::Three(|x, low, high| x.max(low).min(high))),
    ("smoothstep", Function::Three(smoothstep)),
    ("if", Function::Three(|test, yes, no| if test != 0.0 { yes } else { no })),
];

/// Names of all functions.
pub const FUNCTIONS: [&str; TABLE.len()] = {
    let mut names = [""; TABLE.len()];
    let mut k = 0;
    while k < TABLE.len() {
        names[k] = TABLE[k].0;
        k += 1;
    }
    names
};

fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// 0 up to a, 1 from b on, smooth in between.
fn smoothstep(a: f64, b: f64, x: f64) -> f64 {
    let s = ((x - a) / (b - a)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Number(f64),
    Variable(u8),
    Negate,
    One(One),
    Two(Two),
    Three(Three),
}

/// A formula, ready to run from any thread.
#[derive(Clone, Debug)]
pub struct Program {
    ops: Vec<Op>,
}

/// What is wrong with a formula, and where in its text (bytes).
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    pub at: Range<usize>,
    pub message: String,
    /// The word that is not known, where that is what is wrong.
    pub unknown: Option<String>,
}

impl Program {
    pub fn parse(text: &str) -> Result<Program, Mistake> {
        let mut parser = Parser { text, at: 0, nested: 0, ops: Vec::new() };
        parser.expression(0)?;
        parser.skip_space();
        if parser.at < text.len() {
            let end = parser.at + parser.rest().chars().next().map_or(0, char::len_utf8);
            return Err(mistake(parser.at..end, format!("`{}` is not expected here", &text[parser.at..end])));
        }
        let program = Program { ops: parser.ops };
        if program.depth() > DEPTH {
            return Err(mistake(0..text.len(), "the formula is too deeply nested"));
        }
        Ok(program)
    }

    /// Its value; allocates nothing.
    pub fn eval(&self, variables: &[f64; VARIABLES.len()]) -> f64 {
        let mut stack = [0.0; DEPTH];
        let mut top = 0;
        for op in &self.ops {
            match *op {
                Op::Number(value) => {
                    stack[top] = value;
                    top += 1;
                }
                Op::Variable(k) => {
                    stack[top] = variables[k as usize];
                    top += 1;
                }
                Op::Negate => stack[top - 1] = -stack[top - 1],
                Op::One(f) => stack[top - 1] = f(stack[top - 1]),
                Op::Two(f) => {
                    top -= 1;
                    stack[top - 1] = f(stack[top - 1], stack[top]);
                }
                Op::Three(f) => {
                    top -= 2;
                    stack[top - 1] = f(stack[top - 1], stack[top], stack[top + 1]);
                }
            }
        }
        stack[0]
    }

    /// Whether a variable occurs in it.
    pub fn depends_on(&self, name: &str) -> bool {
        let index = VARIABLES.iter().position(|one| *one == name);
        self.ops.iter().any(|op| matches!(op, Op::Variable(k) if Some(*k as usize) == index))
    }

    fn depth(&self) -> usize {
        let (mut now, mut most) = (0, 0);
        for op in &self.ops {
            match op {
                Op::Number(_) | Op::Variable(_) => now += 1,
                Op::Negate | Op::One(_) => {}
                Op::Two(_) => now -= 1,
                Op::Three(_) => now -= 2,
            }
            most = most.max(now);
        }
        most
    }
}

fn mistake(at: Range<usize>, message: impl Into<String>) -> Mistake {
    Mistake { at, message: message.into(), unknown: None }
}

/// Infix operators: text, how tightly they bind to the left and to the right, what they do. Longer ones first.
const INFIX: [(&str, u8, u8, Two); 10] = [
    ("<=", 1, 2, |a, b| truth(a <= b)),
    (">=", 1, 2, |a, b| truth(a >= b)),
    ("<", 1, 2, |a, b| truth(a < b)),
    (">", 1, 2, |a, b| truth(a > b)),
    ("+", 3, 4, |a, b| a + b),
    ("-", 3, 4, |a, b| a - b),
    ("*", 5, 6, |a, b| a * b),
    ("/", 5, 6, |a, b| a / b),
    ("%", 5, 6, |a, b| a % b),
    ("^", 10, 9, power),
];

/// How tightly a sign binds: less than a power, more than a product.
const SIGN: u8 = 7;

fn truth(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

/// Whole powers by multiplication, which is exact where the general one is slow.
fn power(a: f64, b: f64) -> f64 {
    if b.fract() == 0.0 && b.abs() <= 8.0 {
        let product = (0..b.abs() as u32).fold(1.0, |product, _| product * a);
        return if b < 0.0 { 1.0 / product } else { product };
    }
    libm::pow(a, b)
}

/// Top-down operator precedence [Pratt1973]; operators are written out after their operands as they are met.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    nested: usize,
    ops: Vec<Op>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn accept(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str, message: &str) -> Result<(), Mistake> {
        if self.accept(token) {
            return Ok(());
        }
        let width = self.rest().chars().next().map_or(0, char::len_utf8);
        Err(mistake(self.at..self.at + width, message))
    }

    /// An expression whose operators bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<(), Mistake> {
        self.nested += 1;
        if self.nested > NESTED {
            return Err(mistake(self.at..self.text.len(), "the formula is too deeply nested"));
        }
        self.operand()?;
        loop {
            self.skip_space();
            let found =
                INFIX.iter().find(|(token, left, ..)| *left >= least && self.rest().starts_with(token));
            let Some(&(token, _, right, apply)) = found else { break };
            self.at += token.len();
            self.expression(right)?;
            self.ops.push(Op::Two(apply));
        }
        self.nested -= 1;
        Ok(())
    }

    fn operand(&mut self) -> Result<(), Mistake> {
        self.skip_space();
        let start = self.at;
        if self.accept("-") {
            self.expression(SIGN)?;
            self.ops.push(Op::Negate);
            return Ok(());
        }
        if self.accept("+") {
            return self.expression(SIGN);
        }
        if self.accept("(") {
            self.expression(0)?;
            return self.expect(")", "expected `)`");
        }
        match self.rest().chars().next() {
            None => Err(mistake(start..start, "the formula ends where a value is expected")),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(),
            Some(c) => Err(mistake(start..start + c.len_utf8(), format!("expected a value, not `{c}`"))),
        }
    }

    fn number(&mut self) -> Result<(), Mistake> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut end = digits(0);
        if bytes.get(end) == Some(&b'.') {
            end += 1 + digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits((end + 1 + sign).min(bytes.len()));
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        let at = self.at..self.at + end;
        let value = self.text[at.clone()].parse::<f64>();
        let value = value.map_err(|_| mistake(at.clone(), "this is not a number"))?;
        self.at = at.end;
        self.ops.push(Op::Number(value));
        Ok(())
    }

    fn name(&mut self) -> Result<(), Mistake> {
        let length = self.rest().find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let at = self.at..self.at + length.unwrap_or(self.rest().len());
        let name = &self.text[at.clone()];
        self.at = at.end;
        if let Some((_, function)) = TABLE.iter().find(|(known, _)| *known == name) {
            return self.call(name, *function, at);
        }
        let op = match name {
            "pi" => Op::Number(std::f64::consts::PI),
            "e" => Op::Number(std::f64::consts::E),
            _ => match VARIABLES.iter().position(|known| *known == name) {
                Some(k) => Op::Variable(k as u8),
                None => {
                    let message = format!("there is no variable and no function `{name}`");
                    return Err(Mistake { at, message, unknown: Some(name.to_owned()) });
                }
            },
        };
        self.ops.push(op);
        Ok(())
    }

    fn call(&mut self, name: &str, function: Function, at: Range<usize>) -> Result<(), Mistake> {
        self.expect("(", &format!("`{name}` is a function: expected `(`"))?;
        let mut given = 0;
        if !self.accept(")") {
            loop {
                self.expression(0)?;
                given += 1;
                if self.accept(")") {
                    break;
                }
                self.expect(",", "expected `,` or `)`")?;
            }
        }
        let wanted = function.arguments();
        if given != wanted {
            let values = if wanted == 1 { "value" } else { "values" };
            return Err(mistake(at.start..self.at, format!("`{name}` takes {wanted} {values}, not {given}")));
        }
        self.ops.push(match function {
            Function::One(f) => Op::One(f),
            Function::Two(f) => Op::Two(f),
            Function::Three(f) => Op::Three(f),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let program = Program::parse(text).unwrap_or_else(|m| panic!("{text}: {m:?}"));
        program.eval(&[1.0, 2.0, 3.0, 10.0, 20.0, 30.0, 0.5])
    }

    #[test]
    fn formulas_have_the_values_they_have_on_paper() {
        for (text, expected) in [
            ("1 + 2*3", 7.0),
            ("(1 + 2)*3", 9.0),
            ("2^3^2", 512.0),
            ("-2^2", -4.0),
            ("2^-1", 0.5),
            ("8 - 3 - 2", 3.0),
            ("7 % 4 / 3", 1.0),
            ("x + 10*y + 100*z", 321.0),
            ("vx + vy - vz * t", 15.0),
            ("sin(pi*t) + cos(0)", 2.0),
            ("if(x < y, 5, 6) + (z >= 3)", 6.0),
            ("clamp(vx, 0, 2) * min(y, z) ^ 2", 8.0),
            ("1.5e2 + .5", 150.5),
            ("smoothstep(0, 1, t)", 0.5),
            ("hypot(3, 4) * sqrt(4) - - 1", 11.0),
            ("pow(2, 0.5)^2", libm::pow(2.0, 0.5) * libm::pow(2.0, 0.5)),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
        assert_eq!(value("e"), std::f64::consts::E);
        assert!(Program::parse("x*vy").unwrap().depends_on("vy"));
        assert!(!Program::parse("x*vy").unwrap().depends_on("y"));
    }

    #[test]
    fn mistakes_point_at_what_is_wrong() {
        for (text, at) in [
            ("1 + ", 4..4),
            ("2 * * 3", 4..5),
            ("sin x", 4..5),
            ("sine(x)", 0..4),
            ("3 + speed", 4..9),
            ("max(1)", 0..6),
            ("(1 + 2", 6..6),
            ("1 2", 2..3),
            ("x² + 1", 1..3),
            ("", 0..0),
        ] {
            let found = Program::parse(text).map(|_| ()).unwrap_err();
            assert_eq!(found.at, at, "{text}: {found:?}");
        }
    }

    #[test]
    fn hostile_text_is_refused_in_time() {
        assert!(Program::parse(&"(".repeat(100_000)).is_err());
        assert!(Program::parse(&"-".repeat(100_000)).is_err());
        assert!(
            Program::parse(&format!("{}1{}", "1+(".repeat(60), ")".repeat(60))).is_err(),
            "too deep a stack"
        );
        assert_eq!(value("1+".repeat(5000).trim_end_matches('+')), 5000.0);
    }
}
