//! Tension between bodies, as a scene gives it.

/// Interface tension of each pair of bodies, N/m, for those pairs that a scene names.
#[derive(Clone, Debug, Default)]
pub struct Interfaces {
    bodies: usize,
    /// One row for each body; [`Interfaces::UNNAMED`] for pairs that are not named, 0 for a body with itself.
    tension: Vec<f32>,
}

impl Interfaces {
    /// What stands for a pair that the scene does not name.
    pub const UNNAMED: f32 = -1.0;

    pub fn new(bodies: usize, named: impl IntoIterator<Item = ([usize; 2], f64)>) -> Interfaces {
        let mut tension = vec![Interfaces::UNNAMED; bodies * bodies];
        for body in 0..bodies {
            tension[body * bodies + body] = 0.0;
        }
        for ([a, b], value) in named {
            tension[a * bodies + b] = value as f32;
            tension[b * bodies + a] = value as f32;
        }
        Interfaces { bodies, tension }
    }

    pub fn bodies(&self) -> usize {
        self.bodies
    }

    /// The tensions of one body with all bodies.
    #[inline(always)]
    pub fn of(&self, body: u32) -> &[f32] {
        let start = body as usize * self.bodies;
        &self.tension[start..start + self.bodies]
    }

    /// Largest tension that is named, N/m; 0 without any.
    pub fn max(&self) -> f32 {
        self.tension.iter().copied().fold(0.0, f32::max)
    }
}
