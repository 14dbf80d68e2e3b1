//! Laws as text for a device.
//!
//! A law is two small files side by side: `viscosity.rs` and `viscosity.wgsl`. The text takes part in a stage
//! by defining a function for it; names start with the behaviour's, with `_` for `-`:
//!
//! | function                                    | stage                                      |
//! |---------------------------------------------|--------------------------------------------|
//! | `x_pressure(body, ratio) -> f32`            | 3: its share of the pressure, Pa           |
//! | `x_acceleration(body, velocity) -> vec3f`   | 4: its share of the acceleration, m/s²     |
//! | `x_force(own, other, x, r) -> vec3f`        | 4: force of one neighbour, N               |
//! | `x_wall_force(own, wall, x, r) -> vec3f`    | 4: the same from a wall sample             |
//! | `x_limit(speed) -> f32`                     | 11: longest step, s                        |
//!
//! Numbers reach the text as constants, or, where bodies may differ, as functions of the body.

/// A law's text and its numbers.
pub struct Wgsl {
    pub text: &'static str,
    /// Names without the behaviour's prefix.
    pub constants: Vec<(&'static str, f32)>,
    /// One value for each body.
    pub tables: Vec<(&'static str, Vec<f32>)>,
}

impl Wgsl {
    pub fn new(text: &'static str) -> Wgsl {
        Wgsl { text, constants: Vec::new(), tables: Vec::new() }
    }

    pub fn constant(mut self, name: &'static str, value: f32) -> Wgsl {
        self.constants.push((name, value));
        self
    }

    pub fn table(mut self, name: &'static str, values: Vec<f32>) -> Wgsl {
        self.tables.push((name, values));
        self
    }

    /// Whether the text defines `<prefix>_<stage>`.
    pub fn defines(&self, prefix: &str, stage: &str) -> bool {
        self.text.contains(&format!("fn {prefix}_{stage}("))
    }
}

/// A number as WGSL reads it back, bit for bit. Infinities become the largest numbers: WGSL has none.
pub fn number(value: f32) -> String {
    format!("{:?}f", value.clamp(f32::MIN, f32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_bits() {
        for value in [0.1f32, 1e-12, -3.5e20, 7.0, f32::MIN_POSITIVE] {
            let text = number(value);
            assert_eq!(text.trim_end_matches('f').parse::<f32>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(number(f32::INFINITY), number(f32::MAX));
    }

    #[test]
    fn a_text_says_which_stages_it_takes_part_in() {
        let wgsl = Wgsl::new("fn drag_wall_force(own: Own) -> vec3f { return vec3f(); }");
        assert!(wgsl.defines("drag", "wall_force"));
        assert!(!wgsl.defines("drag", "force"));
    }
}
