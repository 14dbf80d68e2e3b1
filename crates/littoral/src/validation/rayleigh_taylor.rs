//! A heavy fluid above a light one: how fast a small wave between them grows.
//!
//! Two layers of depth H between slipping walls, with a wave of wave number k in the velocity. Without viscosity its
//! height η obeys η'' = σ² η, σ² = A g k tanh kH with Atwood's number A = (ρ₁ − ρ₂)/(ρ₁ + ρ₂) [Taylor1950];
//! viscosity adds −2νk² η'. The flow starts as the wave's own potential flow through a flat interface, so that
//! no particle need be displaced; what is measured is the part of the velocity that has this shape.
//! The band of the ratio to theory is wide, since particles smear the interface over a kernel: it is the order of the
//! rates, and their dependence on A and k, that is asked for.

use std::f64::consts::PI;

use super::{Check, Tamper, Validation, world};
use crate::columns::{POSITION, VELOCITY};
use crate::step::StepError;
use crate::world::World;

pub static RAYLEIGH_TAYLOR: Validation = Validation {
    name: "rayleigh-taylor",
    what: "heavy over light fluid (2-D): growth rate of a small wave, for two wave numbers and two density ratios",
    run: |tamper| {
        let waves = [
            Wave { waves: 1.0, heavy: 2000.0 },
            Wave { waves: 2.0, heavy: 2000.0 },
            Wave { waves: 1.0, heavy: 9000.0 },
            Wave { waves: 2.0, heavy: 9000.0 },
        ];
        let mut checks = Vec::new();
        let mut rates = Vec::new();
        for wave in waves {
            let ratio = wave.measure(tamper)? / wave.rate();
            rates.push(ratio * wave.rate());
            let label = format!("growth rate over theory ({}), in octaves", wave.label());
            checks.push(Check::below(label, "", ratio.log2(), 1.0));
        }
        let grows = |quantity: &str, a: usize, b: usize| {
            let expected = waves[b].rate() / waves[a].rate();
            Check::near(quantity, "", rates[b] / rates[a], expected, 0.35 * expected)
        };
        checks.push(grows("growth rate of twice the wave number over once (A = 1/3)", 0, 1));
        checks.push(grows("growth rate at A = 0.8 over A = 1/3", 0, 2));
        Ok(checks)
    },
};

#[derive(Clone, Copy)]
struct Wave {
    /// In the width of 1 m.
    waves: f64,
    /// Density above, kg/m³; below it is 1000.
    heavy: f64,
}

/// Depth of each layer, m; kinematic viscosity of both, m²/s; acceleration, m/s².
const DEPTH: f64 = 0.5;
const NU: f64 = 0.002;
const G: f64 = 9.81;
/// Speed of the wave at the start, m/s, as part of its rate: small enough to stay small for two or three e-foldings.
const START: f64 = 0.005;

impl Wave {
    fn label(&self) -> String {
        format!("A = {:.2}, k = {:.1} 1/m", self.atwood(), self.k())
    }

    fn atwood(&self) -> f64 {
        (self.heavy - 1000.0) / (self.heavy + 1000.0)
    }

    fn k(&self) -> f64 {
        2.0 * PI * self.waves
    }

    /// σ, 1/s, without viscosity.
    fn rate(&self) -> f64 {
        (self.atwood() * G * self.k() * (self.k() * DEPTH).tanh()).sqrt()
    }

    /// The wave's flow through a flat interface at y = 0, of speed 1 there.
    fn shape(&self, x: f64, y: f64) -> [f64; 2] {
        let (k, above) = (self.k(), self.k() * (DEPTH - y.abs()));
        let scale = 1.0 / (k * DEPTH).sinh();
        [y.signum() * (k * x).sin() * above.cosh() * scale, (k * x).cos() * above.sinh() * scale]
    }

    /// Speed of a wave that grows at rate σ, over its speed at the start: η' of η'' + 2νk² η' = σ² η.
    fn growth(&self, sigma: f64, t: f64) -> f64 {
        let damping = NU * self.k().powi(2);
        let root = (damping * damping + sigma * sigma).sqrt();
        let (up, down) = (root - damping, -root - damping);
        (up * (up * t).exp() - down * (down * t).exp()) / (up - down)
    }

    /// The rate at which the wave grows in a simulation.
    fn measure(&self, tamper: &Tamper) -> Result<f64, StepError> {
        let text = format!(
            r#"
            dimensions = 2
            [world]
            box = {{ min = [0, -{DEPTH}], max = [1, {DEPTH}], periodic = ["x"] }}
            slip = 1
            [sph]
            spacing = 0.025
            support = 3
            kernel = "wendland"
            [solver]
            shift = true
            density_error = 1e-5  # the wave moves a fluid by less in a step than 0.1 % of the density may hide
            [time]
            until = 10
            [[body]]
            name = "heavy"
            density = {}
            shape.box = {{ min = [0, 0], max = [1, {DEPTH}] }}
            [body.behaviours.incompressible]
            [body.behaviours.viscosity]
            dynamic_viscosity = {}
            [[body]]
            name = "light"
            density = 1000
            shape.box = {{ min = [0, -{DEPTH}], max = [1, 0] }}
            [body.behaviours.incompressible]
            [body.behaviours.viscosity]
            dynamic_viscosity = {}
            "#,
            self.heavy,
            NU * self.heavy,
            NU * 1000.0
        );
        let mut world = world(&text, tamper);
        let start = START * self.rate();
        world.particles.update(&VELOCITY, |velocity, particles| {
            for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                let [u, w] = self.shape(f64::from(x.x), f64::from(x.y));
                (v.x, v.y) = ((start * u) as f32, (start * w) as f32);
            }
        });
        world.clock.speed = start as f32;

        // Sampled over two and a half e-foldings.
        let first = self.amplitude(&world);
        let mut samples = Vec::new();
        for sample in 1..=10 {
            let t = 0.25 * f64::from(sample) / self.rate();
            world.advance_to(t)?;
            samples.push((t, (self.amplitude(&world) / first).ln()));
        }
        let misfit = |sigma: f64| {
            samples.iter().map(|(t, grown)| (self.growth(sigma, *t).ln() - grown).powi(2)).sum::<f64>()
        };
        let candidates = (0..=400).map(|k| 0.005 * f64::from(k) * self.rate());
        Ok(candidates.min_by(|&a, &b| misfit(a).total_cmp(&misfit(b))).expect("there are candidates"))
    }

    /// The part of the velocity that has the wave's shape, m/s.
    fn amplitude(&self, world: &World) -> f64 {
        let p = &world.particles;
        let (mut sum, mut norm) = (0.0, 0.0);
        for (x, v) in p.get(&POSITION).iter().zip(p.get(&VELOCITY)) {
            let [u, w] = self.shape(f64::from(x.x), f64::from(x.y));
            sum += u * f64::from(v.x) + w * f64::from(v.y);
            norm += u * u + w * w;
        }
        sum / norm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wave_grows_from_its_own_speed_and_does_not_compress() {
        let wave = Wave { waves: 2.0, heavy: 2000.0 };
        assert!((wave.growth(wave.rate(), 0.0) - 1.0).abs() < 1e-12);
        let (x, y, d) = (0.21, 0.17, 1e-5);
        let along = (wave.shape(x + d, y)[0] - wave.shape(x - d, y)[0]) / (2.0 * d);
        let up = (wave.shape(x, y + d)[1] - wave.shape(x, y - d)[1]) / (2.0 * d);
        assert!((along + up).abs() < 1e-6 * along.abs());
    }
}
