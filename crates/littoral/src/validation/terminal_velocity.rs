//! A disc that sinks between two plates as fast as its weight and the fluid's friction allow.

use super::{Check, Tamper, Validation};
use crate::step::StepError;
use crate::world::World;

pub static TERMINAL_VELOCITY: Validation = Validation {
    name: "terminal-velocity",
    what: "a disc that sinks between plates in a viscous fluid: its speed against Faxén's drag (2-D, both viscosities)",
    run: |tamper| {
        let mut checks = disc("viscosity", tamper)?;
        checks.extend(disc("implicit-viscosity", tamper)?);
        Ok(checks)
    },
};

fn disc(law: &str, tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let (spacing, width, radius, viscosity, excess) = (0.01, 0.4, 0.05, 20.0, 1000.0);
    let text = format!(
        r#"
        dimensions = 2
        world.box = {{ min = [0, 0], max = [{width}, 1.2], open = ["+y"] }}
        sph = {{ spacing = {spacing}, support = 4, kernel = "wendland" }}
        time.until = 3
        [[body]]
        name = "syrup"
        density = 1000
        shape.box = {{ min = [0, 0], max = [{width}, 1.0] }}
        [body.behaviours.gravity]
        [body.behaviours.incompressible]
        [body.behaviours.{law}]
        dynamic_viscosity = {viscosity}
        [[solid]]
        name = "disc"
        shape.sphere = {{ centre = [{middle}, 0.7], radius = {radius} }}
        free.density = {density}
        "#,
        middle = 0.5 * width,
        density = 1000.0 + excess,
    );
    let mut world = super::world(&text, tamper);
    // Its inertia is gone after ρR²/μ, some tenths of a second. It is then far from the surface and from the floor.
    let place = |world: &World| world.solids[0].pose.position;
    world.advance_to(0.5)?;
    let start = place(&world);
    world.advance_to(1.5)?;
    let speed = start.y - place(&world).y;
    let q: f64 = 2.0 * radius / width;
    let drag =
        4.0 * std::f64::consts::PI * viscosity / (-q.ln() - 0.9157 + 1.7244 * q.powi(2) - 1.7302 * q.powi(4));
    let expected = excess * 9.81 * std::f64::consts::PI * radius * radius / drag;
    Ok(vec![
        // Half of the spacing brings it to 0.95 of that; and the drag has no inertia in it, where at Re = 0.8 there is a little.
        Check::near(format!("speed ({law})"), "m/s", speed, expected, 0.12 * expected),
        Check::below(
            format!("way to the side ({law})"),
            "m",
            (place(&world).x - 0.5 * width).abs(),
            0.25 * radius,
        ),
    ])
}
