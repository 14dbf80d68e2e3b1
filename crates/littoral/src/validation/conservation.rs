//! What must not change: mass, momentum, angular momentum of a body left alone.

use super::{Check, Validation, world};
use crate::columns::{MASS, POSITION, VELOCITY};
use crate::particles::Particles;
use glam::DVec3;

pub static CONSERVATION: Validation = Validation {
    name: "conservation",
    what: "two drops that collide in empty space under every law: mass, momentum, angular momentum",
    run: |tamper| {
        let text = r#"
            [world]
            gravity = [0, 0, 0]
            [sph]
            spacing = 0.01
            [time]
            until = 0.2
            [[body]]
            name = "left"
            density = 1000
            velocity = [0.5, 0.05, 0.2]
            shape.sphere = { centre = [-0.06, 0, 0], radius = 0.05 }
            [body.behaviours.tait]
            [body.behaviours.viscosity]
            dynamic_viscosity = 0.1
            [body.behaviours.cohesion]
            surface_tension = 0.07
            [[body]]
            name = "right"
            density = 800
            velocity = [-0.5, 0, 0]
            shape.sphere = { centre = [0.06, 0.02, 0], radius = 0.05 }
            [body.behaviours.gas]
            [body.behaviours.artificial-viscosity]
            dynamic_viscosity = 0.2
            "#;
        let mut world = world(text, tamper);
        let before = totals(&world.particles);
        world.advance_to(0.2)?;
        let after = totals(&world.particles);
        // f32 rounding of some 10³ particles over some 10³ steps.
        Ok(vec![
            Check::below("change of mass", "kg", after.mass - before.mass, 0.0),
            Check::below(
                "change of momentum, over the sum of its magnitudes",
                "",
                (after.momentum - before.momentum).length() / before.scale,
                1e-5,
            ),
            Check::below(
                "change of angular momentum from central forces, over its scale",
                "",
                (after.spin - before.spin).length() / (before.scale * 0.1),
                5e-3, // the Laplacian viscosity is not central: it keeps momentum, not spin, exactly
            ),
        ])
    },
};

struct Totals {
    mass: f64,
    momentum: DVec3,
    spin: DVec3,
    scale: f64,
}

fn totals(p: &Particles) -> Totals {
    let mut totals = Totals { mass: 0.0, momentum: DVec3::ZERO, spin: DVec3::ZERO, scale: 0.0 };
    for ((x, v), &m) in p.get(&POSITION).iter().zip(p.get(&VELOCITY)).zip(p.get(&MASS)) {
        let (x, momentum) = (x.truncate().as_dvec3(), v.truncate().as_dvec3() * f64::from(m));
        totals.mass += f64::from(m);
        totals.momentum += momentum;
        totals.spin += x.cross(momentum);
        totals.scale += momentum.length();
    }
    totals
}
