//! Every integrator on a mass on a spring: its order, its stability limit, what it makes of energy.

use std::f64::consts::TAU;

use super::{Check, Tamper, Validation};
use crate::columns::{POSITION, VELOCITY};
use crate::step::StepError;
use crate::world::World;

/// Integrators of a fixed step, with what theory says of them: order, and largest stable ω Δt.
const FIXED: [(&str, f64, f64); 5] = [
    ("explicit-euler", 1.0, 0.0),
    ("symplectic-euler", 1.0, 2.0),
    ("velocity-verlet", 2.0, 2.0),
    ("verlet", 2.0, 2.0),
    ("rk4", 4.0, 2.0 * std::f64::consts::SQRT_2),
];

pub static INTEGRATOR_ORDERS: Validation = Validation {
    name: "integrator-orders",
    what: "a mass on a spring with every integrator: orders of the error, stability limits, energy after 1000 periods",
    run: |tamper| {
        let mut checks = Vec::new();
        for (integrator, order, limit) in FIXED {
            checks.extend(fixed(integrator, order, limit, tamper)?);
        }
        checks.extend(adaptive(tamper)?);
        Ok(checks)
    },
};

/// One particle at x = 1 m, at rest, that a force pulls back with −x: ω = 1/s.
fn spring(time: &str, tamper: &Tamper) -> World {
    let text = format!(
        r#"
        world.gravity = [0, 0, 0]
        sph.spacing = 10
        [time]
        until = 10000
        frames_per_second = 0.01
        {time}
        [[body]]
        name = "mass"
        density = 1
        shape.box = {{ min = [-4, -5, -5], max = [6, 5, 5] }}
        [[force]]
        expression = ["-x", "0", "0"]
        "#
    );
    super::world(&text, tamper)
}

fn state(world: &World) -> (f64, f64) {
    (f64::from(world.particles.get(&POSITION)[0].x), f64::from(world.particles.get(&VELOCITY)[0].x))
}

/// Distance from the exact (cos t, −sin t).
fn error(world: &World) -> f64 {
    let (x, v) = state(world);
    let t = world.clock.time;
    (x - t.cos()).hypot(v + t.sin())
}

fn energy(world: &World) -> f64 {
    let (x, v) = state(world);
    0.5 * (x * x + v * v)
}

/// Exponent of y(x) by least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / points.len() as f64;
    let (x, y) = (mean(&|p| p.0.ln()), mean(&|p| p.1.ln()));
    mean(&|p| (p.0.ln() - x) * (p.1.ln() - y)) / mean(&|p| (p.0.ln() - x).powi(2))
}

fn fixed(integrator: &str, order: f64, limit: f64, tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let with_step = |h: f64| spring(&format!("step = {h}\nintegrator = \"{integrator}\""), tamper);

    // Not at a whole period: there, the first-order error of symplectic Euler is zero. Single precision ends the fit for
    // rk4 at 10⁻⁶.
    let end = 5.0;
    let steps: [u32; 4] = match order {
        4.0 => [8, 12, 16, 24],
        2.0 => [32, 64, 128, 256],
        _ => [256, 512, 1024, 2048],
    };
    let mut errors = Vec::new();
    for steps in steps {
        let mut world = with_step(end / f64::from(steps));
        world.advance_to(end)?;
        errors.push((end / f64::from(steps), error(&world)));
    }

    // What grows by less than a factor of 1000 in 2000 steps goes unseen: explicit Euler below 0.083.
    let is_stable = |h: f64| {
        let mut world = with_step(h);
        (0..2000).all(|_| world.step(h).is_ok() && energy(&world) < 0.5e6)
    };
    let (mut stable, mut unstable) = (0.0, 4.0);
    while unstable - stable > 2e-3 {
        let middle = 0.5 * (stable + unstable);
        if is_stable(middle) {
            stable = middle;
        } else {
            unstable = middle;
        }
    }

    let name = |what: &str| format!("{what} ({integrator})");
    let mut checks = vec![
        Check::near(name("order of the error"), "", slope(&errors), order, 0.05 * order),
        Check::near(name("largest stable ωΔt"), "", stable, limit, if limit > 0.0 { 5e-3 } else { 0.1 }),
    ];

    // Forty steps a period, for a thousand periods; explicit Euler has more energy than numbers by then.
    if limit > 0.0 {
        let h = TAU / 40.0;
        let mut world = with_step(h);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for step in 0..40_000 {
            world.step(h)?;
            // The last period: energies swing twice in each.
            if step >= 39_960 {
                least = least.min(2.0 * energy(&world));
                most = most.max(2.0 * energy(&world));
            }
        }
        let (lowest, highest) = energies(integrator, h);
        // The steps of a period meet the extremes to (h/2)² of the swing; the rest is rounding.
        let tolerance = 1e-4 + 0.25 * h * h * (highest - lowest);
        checks.push(Check::near(name("least energy after 1000 periods"), "", least, lowest, tolerance));
        checks.push(Check::near(name("most energy after 1000 periods"), "", most, highest, tolerance));
    }
    Ok(checks)
}

/// Between which parts of the first energy it swings after 1000 periods, for ω = 1 and steps h.
///
/// Each of the symplectic ones keeps an energy of its own: x² − h x v + v² (Euler), v² + (1 − h²/4) x² (Verlet). Verlet's own
/// form tells a velocity that is larger by h²/2. rk4 loses h⁶/72 of the energy in every step.
fn energies(integrator: &str, h: f64) -> (f64, f64) {
    match integrator {
        "symplectic-euler" => (1.0 / (1.0 + 0.5 * h), 1.0 / (1.0 - 0.5 * h)),
        "velocity-verlet" => (1.0 - 0.25 * h * h, 1.0),
        "verlet" => (1.0, (1.0 - 0.25 * h * h) * (1.0 + 0.5 * h * h).powi(2)),
        _ => {
            let left = (-40_000.0 * h.powi(6) / 72.0).exp();
            (left, left)
        }
    }
}

/// The error at the end follows the tolerance, and is less than that of all steps together.
fn adaptive(tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let end = 20.0;
    let (mut errors, mut worst) = (Vec::new(), 0.0f64);
    for tolerance in [1e-3, 3e-4, 1e-4, 3e-5, 1e-5] {
        let time = format!("integrator = \"rk45\"\ntolerance = {tolerance}\nmaximum_step = 100");
        let mut world = spring(&time, tamper);
        world.advance_to(end)?;
        let error = error(&world);
        errors.push((tolerance, error));
        worst = worst.max(error / (tolerance * world.clock.steps as f64));
    }
    Ok(vec![
        Check::near("error over tolerance, exponent (rk45)", "", slope(&errors), 1.0, 0.1),
        Check::below("error over steps × tolerance, largest (rk45)", "", worst, 1.0),
    ])
}
