//! A tank of still water, half of it fine and half of it coarse.

use super::{Check, Tamper, Validation, world};
use crate::columns::{BODY, POSITION, PRESSURE, VELOCITY};
use crate::step::StepError;

pub static TWO_SIZES: Validation = Validation {
    name: "two-sizes",
    what: "a tank of still water, half of it with twice the spacing: pressure against ρg × depth in both halves, and rest",
    run: tank,
};

/// Height of the water, m.
const HEIGHT: f64 = 0.5;

fn tank(tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let text = format!(
        r#"
        dimensions = 2
        [world]
        box = {{ min = [0, 0], max = [1, 0.7], open = ["+y"] }}
        slip = 1
        [sph]
        spacing = 0.0125
        [time]
        until = 3
        [[body]]
        name = "fine"
        density = 1000
        shape.box = {{ min = [0, 0], max = [0.5, {HEIGHT}] }}
        [body.behaviours.gravity]
        weight = {{ keys = [[0, 0], [1, 1]], ease = "smooth" }}  # so that the column does not bounce
        [body.behaviours.incompressible]
        [body.behaviours.viscosity]
        dynamic_viscosity = 20  # brings it to rest soon; at rest it does nothing
        [[body]]
        name = "coarse"
        density = 1000
        spacing = 0.025
        shape.box = {{ min = [0.5, 0], max = [1, {HEIGHT}] }}
        [body.behaviours.gravity]
        weight = {{ keys = [[0, 0], [1, 1]], ease = "smooth" }}
        [body.behaviours.incompressible]
        [body.behaviours.viscosity]
        dynamic_viscosity = 20
        "#
    );
    let mut world = world(&text, tamper);
    // Pressures swing from step to step: those of ten layers of each half, in the mean over half a second.
    const MOMENTS: u32 = 20;
    let (g, rest) = (9.81, 1000.0);
    let mut layers = [[(0.0, 0.0); 10]; 2];
    let mut unrest = [0.0; 2];
    let mut tops = [0.0; 2];
    for k in 1..=MOMENTS {
        world.advance_to(1.5 + 0.5 * f64::from(k) / f64::from(MOMENTS))?;
        let p = &world.particles;
        let mut sums = [(0.0, 0.0, 0.0); 2];
        for (i, &body) in p.get(&BODY).iter().enumerate() {
            let (y, half) = (f64::from(p.get(&POSITION)[i].y), body as usize);
            let layer = &mut layers[half][((y / HEIGHT * 10.0) as usize).min(9)];
            let error = f64::from(p.get(&PRESSURE)[i]) - rest * g * (HEIGHT - y);
            *layer = (layer.0 + 1.0, layer.1 + error);
            let sum = &mut sums[half];
            *sum = (sum.0 + 1.0, sum.1 + y, sum.2 + f64::from(p.get(&VELOCITY)[i].length_squared()));
        }
        for half in 0..2 {
            let (n, y, square) = sums[half];
            tops[half] += 2.0 * y / n / f64::from(MOMENTS);
            unrest[half] += square / n / f64::from(MOMENTS);
        }
    }
    // Between a wall and the fine half, the coarse one is 20 particles wide. Its pressure is too steep by a tenth; that of a
    // tank filled with coarse particles alone, by 5 % (see `hydrostatic.rs`).
    let mut checks = Vec::new();
    for (half, (name, tolerance)) in [("fine", 0.04), ("coarse", 0.13)].into_iter().enumerate() {
        let errors = layers[half].iter().map(|(n, error)| (error / n).abs() / (rest * g * HEIGHT));
        let worst =
            errors.fold(0.0, |worst, error| if error > worst || error.is_nan() { error } else { worst });
        let speed = unrest[half].sqrt() / (2.0 * g * HEIGHT).sqrt();
        checks.push(Check::below(
            format!("largest error of the pressure of ten layers, over ρgh ({name})"),
            "",
            worst,
            tolerance,
        ));
        checks.push(Check::near(format!("level ({name})"), "m", tops[half], HEIGHT, 0.03 * HEIGHT));
        checks.push(Check::below(format!("rms speed over √(2gh) ({name})"), "", speed, 0.01));
    }
    checks.push(Check::below("particles that got past a wall", "", world.caught as f64, 0.0));
    Ok(checks)
}
