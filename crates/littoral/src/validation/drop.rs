//! A drop that rings under its surface tension.

use super::{Check, Tamper, Validation, world};
use crate::columns::{BODY, POSITION, PRESSURE, VELOCITY, VOLUME};
use crate::step::StepError;
use crate::world::World;
use std::f64::consts::PI;

pub static DROP_OSCILLATION: Validation = Validation {
    name: "drop-oscillation",
    what: "a 2-D drop with its lowest mode excited, under cohesion: period against Rayleigh's",
    run: |tamper| {
        let (radius, density, tension): (f64, f64, f64) = (0.01, 1000.0, 0.07);
        let text = format!(
            r#"
            dimensions = 2
            [world]
            gravity = [0, 0]
            [sph]
            spacing = {}
            kernel = "spiky"  # pushes at short range too, where attraction would let particles clump
            support = 4
            [time]
            until = 2
            [[body]]
            name = "drop"
            density = {density}
            shape.sphere = {{ centre = [0, 0], radius = {radius} }}
            [body.behaviours.tait]
            sound_speed = 3
            tension = true
            [body.behaviours.viscosity]
            dynamic_viscosity = [[0, 0.1], [0.12, 0.1], [0.15, 0.0003]]  # settles as honey, rings as water
            [body.behaviours.cohesion]
            surface_tension = {tension}
            "#,
            radius / 24.0
        );
        let mut world = world(&text, tamper);
        // Lowest mode of a cylinder: ω² = n(n² − 1) σ/(ρR³), n = 2 [Rayleigh1879].
        let expected = 2.0 * PI / (6.0 * tension / (density * radius * radius * radius)).sqrt();
        // Let it settle into its round shape, then stretch it: v = A (x, −y), the flow of that mode.
        let settled = 0.5 * expected;
        world.advance_to(settled)?;
        let amplitude = 0.2 * 2.0 * PI / expected;
        world.particles.update(&VELOCITY, |velocity, particles| {
            for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                *v = glam::Vec4::new(x.x, -x.y, 0.0, 0.0) * amplitude as f32;
            }
        });
        // It stretches, comes back, and is round again after half a period.
        let mut period = f64::NAN;
        let mut last = (0.0, 0.0);
        for k in 1..=80 {
            let t = 2.0 * expected * f64::from(k) / 80.0;
            world.advance_to(settled + t)?;
            let p = world.particles.get(&POSITION);
            let moment = |axis: usize| p.iter().map(|x| f64::from(x[axis]).powi(2)).sum::<f64>();
            let stretch = moment(0) - moment(1);
            if last.1 > 0.0 && stretch <= 0.0 {
                period = 2.0 * (last.0 + (t - last.0) * last.1 / (last.1 - stretch));
                break;
            }
            last = (t, stretch);
        }
        // The order must be right, no more: attraction between neighbours makes a surface tension only on
        // average over the kernel, a cold drop of particles is a little plastic, and the measured period goes
        // from one half to twice Rayleigh's with the kernel, its support and the speed of sound.
        Ok(vec![Check::near("period over Rayleigh's, in octaves", "", (period / expected).log2(), 0.0, 1.0)])
    },
};

const RADIUS: f64 = 0.01;
const DENSITY: f64 = 1000.0;
const TENSION: f64 = 0.07;

/// When a drop has settled, s.
const SETTLED: f64 = 0.2;

/// A drop, and what holds it.
struct Drop {
    dimensions: usize,
    /// The behaviour that makes its pressure.
    law: &'static str,
    model: &'static str,
    /// Particles along its radius.
    across: f64,
    /// Of the kernel, in spacings.
    support: f64,
}

const INCOMPRESSIBLE: &str = "incompressible = {}";
const TAIT: &str = "tait = { sound_speed = 1 }";

/// A 2-D drop of about 450 particles.
const fn disc(law: &'static str, model: &'static str) -> Drop {
    Drop { dimensions: 2, law, model, across: 12.0, support: 3.5 }
}

/// A drop of about 4,200 particles.
const fn ball(law: &'static str, model: &'static str) -> Drop {
    Drop { dimensions: 3, law, model, across: 10.0, support: 3.0 }
}

impl Drop {
    fn label(&self) -> String {
        let law = self.law.split(' ').next().unwrap_or_default();
        format!("{}-D, {}, {law}", self.dimensions, self.model)
    }

    /// The drop after it has settled as honey; from then on it is as thin as to ring some periods.
    ///
    /// Wendland's kernel: splines let particles pair up, and a surface of pairs is rough.
    fn settled(&self, tamper: &Tamper) -> Result<World, StepError> {
        let zero = ["[0, 0]", "[0, 0, 0]"][self.dimensions - 2];
        let text = format!(
            r#"
            dimensions = {}
            [world]
            gravity = {zero}
            [sph]
            spacing = {}
            support = {}
            kernel = "wendland"
            [[body]]
            name = "drop"
            density = {DENSITY}
            shape.sphere = {{ centre = {zero}, radius = {RADIUS} }}
            behaviours.{}
            behaviours.{} = {{ surface_tension = {TENSION} }}
            [body.behaviours.viscosity]
            dynamic_viscosity = [[0, 0.5], [{}, 0.5], [{SETTLED}, 0.06]]
            "#,
            self.dimensions,
            RADIUS / self.across,
            self.support,
            self.law,
            self.model,
            0.8 * SETTLED
        );
        let mut world = world(&text, tamper);
        world.advance_to(SETTLED)?;
        Ok(world)
    }

    /// Radius of a disc or ball as large as all particles of the first body, m.
    fn radius(&self, world: &World) -> f64 {
        let rows = world.particles.get(&VOLUME).iter().zip(world.particles.get(&BODY));
        let volume: f64 = rows.filter(|(_, body)| **body == 0).map(|(&v, _)| f64::from(v)).sum();
        if self.dimensions == 2 { (volume / PI).sqrt() } else { (0.75 * volume / PI).cbrt() }
    }
}

/// Mean pressure deep inside, less that of what is far outside, over some time: particles at rest are not quite.
fn pressure_jump(world: &mut World, radius: f64) -> Result<f64, StepError> {
    let moments = 20;
    let mut jump = 0.0;
    for k in 1..=moments {
        world.advance_to(SETTLED + 0.005 * f64::from(k))?;
        let mean = |counts: &dyn Fn(f64) -> bool| {
            let rows = world.particles.get(&POSITION).iter().zip(world.particles.get(&PRESSURE));
            let inside = rows.filter(|(x, _)| counts(f64::from(x.length()) / radius));
            let (sum, count) = inside.fold((0.0, 0.0), |(s, n), (_, &p)| (s + f64::from(p), n + 1.0));
            if count == 0.0 { 0.0 } else { sum / count }
        };
        jump += (mean(&|r| r < 0.6) - mean(&|r| r > 1.4)) / f64::from(moments);
    }
    Ok(jump)
}

pub static DROP_PRESSURE: Validation = Validation {
    name: "drop-pressure",
    what: "pressure in a drop at rest, by curvature and by centroids: σ/R in 2-D, 2σ/R in 3-D",
    run: |tamper| {
        // Curvature is a second derivative of a surface of particles. Centroids saturate at a surface whose layers are pressed
        // together, and how far they are depends on the pressure law.
        let cases = [
            (disc(INCOMPRESSIBLE, "curvature-tension"), 0.1),
            (ball(INCOMPRESSIBLE, "curvature-tension"), 0.1),
            (disc(TAIT, "curvature-tension"), 0.12),
            (disc(INCOMPRESSIBLE, "centroid-tension"), 0.12),
            (disc(TAIT, "centroid-tension"), 0.2),
        ];
        let mut checks = Vec::new();
        for (drop, tolerance) in cases {
            let mut world = drop.settled(tamper)?;
            let radius = drop.radius(&world);
            let pressure = pressure_jump(&mut world, radius)?;
            let expected = (drop.dimensions - 1) as f64 * TENSION / radius;
            let label = format!("pressure inside ({})", drop.label());
            checks.push(Check::near(label, "Pa", pressure, expected, tolerance * expected));
        }
        Ok(checks)
    },
};

pub static DROP_PERIOD: Validation = Validation {
    name: "drop-period",
    what: "a drop with its lowest mode excited, by curvature and by pairs: period against Rayleigh's, 2-D and 3-D",
    run: |tamper| {
        // Smoothing takes a few per cent from the curvature of a wave as long as the drop. Cohesion is calibrated
        // between the two pressure laws.
        let cases = [
            (disc(INCOMPRESSIBLE, "curvature-tension"), 0.1),
            (ball(INCOMPRESSIBLE, "curvature-tension"), 0.1),
            (disc(TAIT, "pairwise-tension"), 0.15),
            (disc(INCOMPRESSIBLE, "pairwise-tension"), 0.15),
        ];
        let mut checks = Vec::new();
        for (drop, tolerance) in cases {
            let mut world = drop.settled(tamper)?;
            let radius = drop.radius(&world);
            // ω² = n(n² − 1) σ/(ρR³) of a cylinder, n(n − 1)(n + 2) σ/(ρR³) of a ball, n = 2 [Rayleigh1879]. Viscosity
            // changes it by less than a hundredth here: waves decay at 4ν/R² or 5ν/R², an eighth of ω at most.
            let factor = [6.0, 8.0][drop.dimensions - 2];
            let expected = 2.0 * PI / (factor * TENSION / (DENSITY * radius.powi(3))).sqrt();
            let amplitude = (0.15 * 2.0 * PI / expected) as f32;
            let shape = [glam::Vec4::new(1.0, -1.0, 0.0, 0.0), glam::Vec4::new(1.0, -0.5, -0.5, 0.0)];
            world.particles.update(&VELOCITY, |velocity, particles| {
                for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                    *v = *x * shape[drop.dimensions - 2] * amplitude;
                }
            });
            world.clock.speed = amplitude * radius as f32;
            let period = period(&mut world, SETTLED, expected)?;
            let label = format!("period ({})", drop.label());
            checks.push(Check::near(label, "s", period, expected, tolerance * expected));
        }
        Ok(checks)
    },
};

/// From when a stretched drop is round for the first time to when it is for the third, s; not a number if that takes more
/// than two periods.
fn period(world: &mut World, start: f64, expected: f64) -> Result<f64, StepError> {
    let mut last = (0.0, 0.0);
    let mut round = Vec::new();
    for k in 1..=80 {
        let t = expected * f64::from(k) / 40.0;
        world.advance_to(start + t)?;
        let p = world.particles.get(&POSITION);
        let moment = |axis: usize| {
            let mean = p.iter().map(|x| f64::from(x[axis])).sum::<f64>() / p.len() as f64;
            p.iter().map(|x| (f64::from(x[axis]) - mean).powi(2)).sum::<f64>()
        };
        let stretch = moment(0) - moment(1);
        if last.1 * stretch < 0.0 {
            round.push(last.0 + (t - last.0) * last.1 / (last.1 - stretch));
        }
        if let [first, _, third] = round[..] {
            return Ok(third - first);
        }
        last = (t, stretch);
    }
    Ok(f64::NAN)
}

pub static DROP_IN_FLUID: Validation = Validation {
    name: "drop-in-fluid",
    what: "a 2-D drop of one fluid in another, both with the same tension against air: pressure jump σ₁₂/R of the interface",
    run: |tamper| {
        let (width, tension) = (2.0 * RADIUS, 0.03);
        let mut checks = Vec::new();
        // The box is full of fluid, so that pairs need no cohesion to hold together.
        for (model, more) in [("curvature-tension", ""), ("pairwise-tension", ", cohesion = 0")] {
            let fluid = format!(
                r#"
                behaviours.incompressible = {{}}
                behaviours.{model} = {{ surface_tension = {TENSION}{more} }}
                [body.behaviours.viscosity]
                dynamic_viscosity = [[0, 0.5], [{}, 0.5], [{SETTLED}, 0.06]]
                "#,
                0.8 * SETTLED
            );
            let text = format!(
                r#"
                dimensions = 2
                [world]
                gravity = [0, 0]
                box = {{ min = [-{width}, -{width}], max = [{width}, {width}], periodic = ["x", "y"] }}
                [sph]
                spacing = {}
                support = 3.5
                kernel = "wendland"
                [solver]
                shift = true
                [[body]]
                name = "drop"
                density = {DENSITY}
                shape.sphere = {{ centre = [0, 0], radius = {RADIUS} }}
                {fluid}
                [[body]]
                name = "sea"
                density = {DENSITY}
                shape.difference.of = [
                    {{ box = {{ min = [-{width}, -{width}], max = [{width}, {width}] }} }},
                    {{ sphere = {{ centre = [0, 0], radius = {RADIUS} }} }},
                ]
                {fluid}
                [[interface]]
                between = ["drop", "sea"]
                tension = {tension}
                "#,
                RADIUS / 12.0
            );
            let mut world = world(&text, tamper);
            world.advance_to(SETTLED)?;
            let radius = disc(INCOMPRESSIBLE, model).radius(&world);
            let expected = tension / radius;
            let jump = pressure_jump(&mut world, radius)?;
            checks.push(Check::near(
                format!("pressure jump ({model})"),
                "Pa",
                jump,
                expected,
                0.1 * expected,
            ));
        }
        Ok(checks)
    },
};
