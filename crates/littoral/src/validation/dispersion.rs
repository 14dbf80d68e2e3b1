//! A sharp front between two fluids that mix.

use super::{Check, Validation, world};
use crate::columns::{CONCENTRATION, CONCENTRATION_REST, POSITION, VOLUME};
use crate::world::World;

pub static DISPERSION: Validation = Validation {
    name: "dispersion",
    what: "solute across a sharp front at rest: error function; all of it kept",
    run: |tamper| {
        let mut checks = Vec::new();
        for (name, jitter) in [("on the lattice", 0.0), ("among disordered particles", 0.2)] {
            let text = format!(
                r#"
                dimensions = 2
                [world]
                gravity = [0, 0]
                box = {{ min = [0, 0], max = [0.1, 0.01], periodic = ["y"] }}
                [sph]
                spacing = 1e-3
                support = 3
                [time]
                until = 5
                [[body]]
                name = "dyed"
                jitter = {jitter}
                shape.box = {{ min = [0, 0], max = [0.05, 0.01] }}
                behaviours.dispersion = {{ diffusivity = 1e-5, concentration = 1 }}
                [[body]]
                name = "clear"
                jitter = {jitter}
                shape.box = {{ min = [0.05, 0], max = [0.1, 0.01] }}
                behaviours.dispersion = {{ diffusivity = 1e-5 }}
                "#
            );
            // Without a pressure nothing moves: diffusion alone.
            let mut world = world(&text, tamper);
            let before = solute(&world);
            let end = 5.0;
            world.advance_to(end)?;
            let width = 2.0 * (1e-5 * end).sqrt();
            let profile = world.particles.get(&POSITION).iter().zip(world.particles.get(&CONCENTRATION));
            let errors = profile
                .map(|(x, &c)| f64::from(c) - 0.5 * libm::erfc((f64::from(x.x) - 0.05) / width))
                .collect::<Vec<_>>();
            let largest = errors.iter().map(|e| e.abs()).fold(0.0, f64::max);
            checks.push(Check::below(format!("largest deviation, {name}"), "", largest, 0.02));
            // Two columns hold 48 bits.
            let drift = (solute(&world) - before).abs() / before;
            checks.push(Check::below(format!("solute lost, {name}"), "", drift, 1e-12));
        }
        Ok(checks)
    },
};

/// Σ V c, m³.
fn solute(world: &World) -> f64 {
    let p = &world.particles;
    let rows = p.get(&VOLUME).iter().zip(p.get(&CONCENTRATION)).zip(p.get(&CONCENTRATION_REST));
    rows.map(|((&v, &c), &rest)| f64::from(v) * (f64::from(c) + f64::from(rest))).sum()
}
