//! A drop that rings under its surface tension.

use super::{Check, Tamper, Validation, world};
use crate::columns::{POSITION, PRESSURE, VELOCITY, VOLUME};
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

/// A 2-D drop under a model of surface tension, after it has settled as honey; from then on it is thin.
fn settled(model: &str, until: f64, tamper: &Tamper) -> Result<World, StepError> {
    let text = format!(
        r#"
        dimensions = 2
        [world]
        gravity = [0, 0]
        [sph]
        spacing = {}
        support = 3
        [[body]]
        name = "drop"
        density = {DENSITY}
        shape.sphere = {{ centre = [0, 0], radius = {RADIUS} }}
        behaviours.tait = {{ sound_speed = 1 }}
        behaviours.{model} = {{ surface_tension = {TENSION} }}
        [body.behaviours.viscosity]
        dynamic_viscosity = [[0, 0.5], [{}, 0.5], [{until}, 0.01]]
        "#,
        RADIUS / 12.0,
        0.9 * until
    );
    let mut world = world(&text, tamper);
    world.advance_to(until)?;
    Ok(world)
}

/// Radius of a disc as large as all particles, m.
fn radius(world: &World) -> f64 {
    let area: f64 = world.particles.get(&VOLUME).iter().map(|&v| f64::from(v)).sum();
    (area / PI).sqrt()
}

pub static DROP_PRESSURE: Validation = Validation {
    name: "drop-pressure",
    what: "pressure in a 2-D drop at rest, by curvature and by centroids: σ/R",
    run: |tamper| {
        let mut checks = Vec::new();
        for model in ["curvature-tension", "centroid-tension"] {
            let mut world = settled(model, 0.2, tamper)?;
            let radius = radius(&world);
            // Particles at rest are not quite: the mean over some time.
            let samples = 10;
            let mut pressure = 0.0;
            for k in 1..=samples {
                world.advance_to(0.2 + 0.01 * f64::from(k))?;
                let rows = world.particles.get(&POSITION).iter().zip(world.particles.get(&PRESSURE));
                let inner = rows.filter(|(x, _)| f64::from(x.length()) < 0.6 * radius);
                let (sum, count) = inner.fold((0.0, 0.0), |(s, n), (_, &p)| (s + f64::from(p), n + 1.0));
                pressure += sum / count / f64::from(samples);
            }
            let expected = TENSION / radius;
            // Twelve particles to a radius: curvature is a second derivative of a rough surface.
            checks.push(Check::near(format!("pressure, {model}"), "Pa", pressure, expected, 0.25 * expected));
        }
        Ok(checks)
    },
};

pub static DROP_PERIOD: Validation = Validation {
    name: "drop-period",
    what: "a 2-D drop with its lowest mode excited, by curvature and by pairs: half a period against Rayleigh's",
    run: |tamper| {
        let mut checks = Vec::new();
        for model in ["curvature-tension", "pairwise-tension"] {
            let start = 0.2;
            let mut world = settled(model, start, tamper)?;
            let radius = radius(&world);
            let expected = 2.0 * PI / (6.0 * TENSION / (DENSITY * radius.powi(3))).sqrt();
            let amplitude = 0.15 * 2.0 * PI / expected;
            world.particles.update(&VELOCITY, |velocity, particles| {
                for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                    *v = glam::Vec4::new(x.x, -x.y, 0.0, 0.0) * amplitude as f32;
                }
            });
            let period = first_period(&mut world, start, expected)?;
            // The surface is a kernel wide, a quarter of the radius.
            checks.push(Check::near(format!("period, {model}"), "s", period, expected, 0.15 * expected));
        }
        Ok(checks)
    },
};

/// Twice the time until a stretched drop is round again, s; not a number if it is not within a period.
fn first_period(world: &mut World, start: f64, expected: f64) -> Result<f64, StepError> {
    let mut last = (0.0, 0.0);
    for k in 1..=60 {
        let t = expected * f64::from(k) / 60.0;
        world.advance_to(start + t)?;
        let p = world.particles.get(&POSITION);
        let moment = |axis: usize| p.iter().map(|x| f64::from(x[axis]).powi(2)).sum::<f64>();
        let stretch = moment(0) - moment(1);
        if last.1 > 0.0 && stretch <= 0.0 {
            return Ok(2.0 * (last.0 + (t - last.0) * last.1 / (last.1 - stretch)));
        }
        last = (t, stretch);
    }
    Ok(f64::NAN)
}
