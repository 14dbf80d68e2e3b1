//! Springs against what is known of ropes, cloth and pendulums.

use glam::DVec3;

use super::{Check, Tamper, Validation, world};
use crate::columns::{POSITION, REFERENCE};
use crate::step::StepError;
use crate::world::World;

const GRAVITY: f64 = 9.81;

/// Places of the nodes now and at rest, in the order of their birth.
fn nodes(world: &World) -> Vec<(DVec3, DVec3)> {
    let (position, reference) = (world.particles.get(&POSITION), world.particles.get(&REFERENCE));
    let at = |row: &u32| {
        let row = *row as usize;
        (position[row].truncate().as_dvec3(), reference[row].truncate().as_dvec3())
    };
    world.structure.nodes.rows().iter().map(at).collect()
}

pub static CATENARY: Validation = Validation {
    name: "catenary",
    what: "a rope that hangs from both ends: y = a cosh(x/a)",
    run: |tamper| {
        let (span, length) = (1.0f64, 1.4f64);
        let text = format!(
            r#"
            dimensions = 2
            [sph]
            spacing = 0.014
            [time]
            until = 4
            maximum_step = 2e-3
            [[body]]
            name = "rope"
            density = 1000
            thickness = 0.01
            shape.line = {{ from = [-{half}, 0], to = [{far}, 0] }}
            [body.behaviours.springs]
            stretch_stiffness = 1e6
            bend_stiffness = 0
            [body.behaviours.drag]
            relaxation_time = 0.15
            [[pin]]
            nearest = [[-{half}, 0]]
            [[pin]]
            nearest = [[{far}, 0]]
            motion.position = [[0, [0, 0, 0]], [0.5, [-{back}, 0, 0]]]
            "#,
            half = 0.5 * span,
            far = length - 0.5 * span,
            back = length - span,
        );
        let mut world = world(&text, tamper);
        world.advance_to(4.0)?;
        // 2a sinh(span/2a) = length, by bisection: a longer rope has a smaller a.
        let (mut low, mut high) = (0.1 * span, 10.0 * span);
        for _ in 0..60 {
            let a = 0.5 * (low + high);
            if 2.0 * a * (0.5 * span / a).sinh() > length { low = a } else { high = a }
        }
        let a = 0.5 * (low + high);
        let curve = |x: f64| a * ((x / a).cosh() - (0.5 * span / a).cosh());
        let error = |(p, _): &(DVec3, DVec3)| (p.y - curve(p.x)).abs();
        let worst = nodes(&world).iter().map(error).fold(0.0, f64::max);
        let lowest = nodes(&world).iter().map(|(p, _)| p.y).fold(0.0, f64::min);
        // A hundred straight pieces lie inside the curve by less than a thousandth of the span.
        Ok(vec![
            Check::below("farthest from the curve", "m", worst, 0.01 * span),
            Check::near("sag", "m", -lowest, -curve(0.0), 0.01 * span),
        ])
    },
};

pub static HANGING_CLOTH: Validation = Validation {
    name: "hanging-cloth",
    what: "a strip of cloth under its own weight: each part is stretched by what hangs below it",
    run: |tamper| {
        let (length, stiffness, weight) = (1.0, 200.0, 0.5 * GRAVITY);
        let text = format!(
            r#"
            [sph]
            spacing = 0.025
            [time]
            until = 4
            maximum_step = 4e-3
            [[body]]
            name = "cloth"
            density = 500
            thickness = 0.001
            shape.sheet = {{ corner = [0, 0, 0], along = [0.3, 0, 0], across = [0, -{length}, 0] }}
            [body.behaviours.springs]
            stretch_stiffness = {stiffness}
            shear_stiffness = 40
            [body.behaviours.drag]
            relaxation_time = 0.1
            [[pin]]
            shape.box = {{ min = [-0.1, -0.01, -0.1], max = [0.4, 0.01, 0.1] }}
            "#
        );
        let mut world = world(&text, tamper);
        world.advance_to(4.0)?;
        // A part s below the top has sunk by ∫ w (L − s)/Y ds.
        let expected = |s: f64| weight / stiffness * (length * s - 0.5 * s * s);
        let mut checks = Vec::new();
        for part in [0.25, 0.5, 0.75, 1.0] {
            let row: Vec<f64> = nodes(&world)
                .iter()
                .filter(|(_, rest)| (rest.y + part * length).abs() < 0.01)
                .map(|(p, rest)| rest.y - p.y)
                .collect();
            let sunk = row.iter().sum::<f64>() / row.len() as f64;
            let name = format!("sunk at {part} of its length");
            // The pinned edge cannot get narrower, which stiffens the cloth near it.
            checks.push(Check::near(name, "m", sunk, expected(part * length), 0.03 * expected(length)));
        }
        Ok(checks)
    },
};

pub static PENDULUM: Validation = Validation {
    name: "pendulum",
    what: "a weight that swings by 60° on a stiff spring: the period of the exact pendulum, by each method",
    run: |tamper| {
        let angle = 60f64.to_radians();
        // Gauss: 2π√(l/g) over the arithmetic-geometric mean of 1 and cos(θ/2).
        let (mut a, mut b) = (1.0f64, (0.5 * angle).cos());
        for _ in 0..8 {
            (a, b) = (0.5 * (a + b), (a * b).sqrt());
        }
        let exact = std::f64::consts::TAU / GRAVITY.sqrt() / a;
        let mut checks = Vec::new();
        for (method, step) in [("implicit", 1e-3), ("undamped", 1e-3), ("explicit", 1e-3)] {
            let period = period(method, step, angle, tamper)?;
            // The spring gives by 3·10⁻⁴; backward Euler loses 1 % of the swing in a period.
            checks.push(Check::near(format!("period ({method})"), "s", period, exact, 2e-3 * exact));
        }
        Ok(checks)
    },
};

fn period(method: &str, step: f64, angle: f64, tamper: &Tamper) -> Result<f64, StepError> {
    let (sin, cos) = angle.sin_cos();
    let text = format!(
        r#"
        dimensions = 2
        [sph]
        spacing = 1
        [time]
        until = 3
        step = {step}
        [[body]]
        name = "pendulum"
        density = 100
        thickness = 0.01
        shape.line = {{ from = [0, 0], to = [{sin}, {}] }}
        [body.behaviours.springs]
        stretch_stiffness = 5e4
        method = "{method}"
        [[pin]]
        nearest = [[0, 0]]
        "#,
        -cos
    );
    let mut world = world(&text, tamper);
    let (mut last, mut crossed) = ((0.0, sin), Vec::new());
    while crossed.len() < 2 && world.clock.time < 3.0 {
        world.step(step)?;
        let now = (world.clock.time, nodes(&world)[1].0.x);
        if (last.1 > 0.0) != (now.1 > 0.0) {
            crossed.push(last.0 + (now.0 - last.0) * last.1 / (last.1 - now.1));
        }
        last = now;
    }
    Ok(if let [first, second] = crossed[..] { 2.0 * (second - first) } else { f64::NAN })
}
