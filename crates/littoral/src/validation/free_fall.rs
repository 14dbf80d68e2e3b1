//! A body in free fall, with both integrators.

use super::{Check, Validation, world};
use crate::columns::POSITION;

pub static FREE_FALL: Validation = Validation {
    name: "free-fall",
    what: "a sphere thrown up in empty space: its centre follows a parabola, with either integrator",
    run: |tamper| {
        let mut checks = Vec::new();
        // Symplectic Euler is off by g Δt t/2, velocity Verlet only by rounding.
        for (integrator, step, tolerance) in
            [("symplectic-euler", 1e-3, 5.5e-3), ("velocity-verlet", 1e-3, 1e-4)]
        {
            let text = format!(
                r#"
                [sph]
                spacing = 0.05
                [time]
                until = 1
                step = {step}
                integrator = "{integrator}"
                [[body]]
                name = "ball"
                density = 1000
                velocity = [1, 3, 0]
                shape.sphere = {{ centre = [0, 0, 0], radius = 0.2 }}
                "#
            );
            let mut world = world(&text, tamper);
            world.advance_to(1.0)?;
            let positions = world.particles.get(&POSITION);
            let centre = positions.iter().map(|p| p.as_dvec4()).sum::<glam::DVec4>() / positions.len() as f64;
            checks.push(Check::near(
                format!("height after 1 s ({integrator})"),
                "m",
                centre.y,
                3.0 - 0.5 * 9.81,
                tolerance,
            ));
            checks.push(Check::near(format!("distance after 1 s ({integrator})"), "m", centre.x, 1.0, 1e-4));
        }
        Ok(checks)
    },
};
