//! A box that spins in empty space, about the one axis that is not stable.

use glam::DVec3;

use super::{Check, Validation};
use crate::world::World;

/// Sides of the box, m: its moments of inertia are as 5 : 10 : 13.
const SIDES: [f64; 3] = [0.3, 0.2, 0.1];
/// About the middle axis, and a little about the first, rad/s.
const SPIN: [f64; 3] = [0.1, 10.0, 0.0];
/// Flips that are followed.
const FLIPS: usize = 6;

pub static TORQUE_FREE: Validation = Validation {
    name: "torque-free",
    what: "a free box, spun about its middle axis in empty space: when it flips (Dzhanibekov), energy, angular momentum",
    run: |tamper| {
        let ([a, b, c], [x, y, z]) = (SIDES.map(|side| 0.5 * side), SPIN);
        let text = format!(
            r#"
            world.gravity = [0, 0, 0]
            sph.spacing = 0.05
            time.until = 20
            time.step = 1e-3
            # A world has at least one body: a speck that rests far away.
            [[body]]
            name = "speck"
            density = 1
            shape.box = {{ min = [9.95, 9.95, 9.95], max = [10, 10, 10] }}
            [[solid]]
            name = "book"
            shape.box = {{ min = [{}, {}, {}], max = [{a}, {b}, {c}] }}
            free = {{ density = 1000, angular_velocity = [{x}, {y}, {z}] }}
            "#,
            -a, -b, -c,
        );
        let mut world = super::world(&text, tamper);
        let expected = flips();
        let mut found = Vec::new();
        let (energy, momentum) = conserved(&world);
        let (mut energy_error, mut momentum_error) = (0.0f64, 0.0f64);
        let mut before = (0.0, SPIN[1]);
        world.advance_with(expected[FLIPS - 1] + 1.0, |world| {
            let now = conserved(world);
            energy_error = energy_error.max((now.0 / energy - 1.0).abs());
            momentum_error = momentum_error.max((now.1 - momentum).length() / momentum.length());
            let solid = &world.solids[0];
            let after = (world.clock.time, (solid.pose.rotation.inverse() * solid.angular_velocity).y);
            if after.1 * before.1 < 0.0 {
                found.push(crossing(before, after));
            }
            before = after;
        })?;
        let last = |times: &[f64]| times.get(FLIPS - 1).copied().unwrap_or(f64::NAN);
        // Order 4 in steps of 0.01 rad leaves 10⁻¹⁰ of energy; times are those of a line between two steps.
        Ok(vec![
            Check::near("time of the sixth flip", "s", last(&found), last(&expected), 1e-5),
            Check::below("change of the energy, largest", "", energy_error, 1e-8),
            Check::below("change of the angular momentum, largest", "", momentum_error, 1e-10),
        ])
    },
};

/// Energy, J, and angular momentum, kg·m²/s, in the world's frame.
fn conserved(world: &World) -> (f64, DVec3) {
    let solid = &world.solids[0];
    let momentum = solid.inverse_inertia().inverse() * solid.angular_velocity;
    let linear = 0.5 * solid.velocity.length_squared() / solid.inverse_mass;
    (linear + 0.5 * momentum.dot(solid.angular_velocity), momentum)
}

fn crossing(a: (f64, f64), b: (f64, f64)) -> f64 {
    a.0 + (b.0 - a.0) * a.1 / (a.1 - b.1)
}

/// When the spin about the middle axis changes its sign: Euler's equations I ω' = I ω × ω, by steps of 10⁻⁴ s of order 4.
fn flips() -> Vec<f64> {
    let squares = DVec3::from(SIDES).powf(2.0);
    let inertia = DVec3::splat(squares.element_sum()) - squares;
    let rate = |w: DVec3| (inertia * w).cross(w) / inertia;
    let (mut t, mut w, h) = (0.0, DVec3::from(SPIN), 1e-4);
    let mut times = Vec::new();
    while times.len() < FLIPS {
        let k1 = rate(w);
        let k2 = rate(w + k1 * (0.5 * h));
        let k3 = rate(w + k2 * (0.5 * h));
        let k4 = rate(w + k3 * h);
        let next = w + (k1 + 2.0 * k2 + 2.0 * k3 + k4) * (h / 6.0);
        if next.y * w.y < 0.0 {
            times.push(crossing((t, w.y), (t + h, next.y)));
        }
        (t, w) = (t + h, next);
    }
    times
}
