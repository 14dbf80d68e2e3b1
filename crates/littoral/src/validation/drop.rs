//! A drop that rings under its surface tension.

use super::{Check, Validation, world};
use crate::columns::{POSITION, VELOCITY};
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
