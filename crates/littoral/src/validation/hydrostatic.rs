//! A column of water at rest.

use super::{Check, Tamper, Validation, world};
use crate::columns::{DENSITY, ID, POSITION, PRESSURE, VELOCITY};
use crate::step::StepError;
use crate::world::World;

pub static HYDROSTATIC_COLUMN: Validation = Validation {
    name: "hydrostatic-column",
    what: "a tank of water at rest: pressure against ρg × depth, density against ρ₀ (2-D and 3-D, both pressure forms)",
    run: |tamper| {
        let mut checks = column(2, "quotients", "tait", tamper)?;
        checks.extend(column(2, "sum", "tait", tamper)?);
        checks.extend(column(3, "quotients", "tait", tamper)?);
        Ok(checks)
    },
};

pub static HYDROSTATIC_INCOMPRESSIBLE: Validation = Validation {
    name: "hydrostatic-incompressible",
    what: "the same with an incompressible fluid: mean density within 0.1 % (2-D and 3-D)",
    run: |tamper| {
        let mut checks = column(2, "quotients", "incompressible", tamper)?;
        checks.extend(column(3, "quotients", "incompressible", tamper)?);
        Ok(checks)
    },
};

/// Mean pressure of each particle, by its id, over all steps up to a time: that of an incompressible fluid swings by a few
/// per cent from step to step.
pub fn mean_pressures(world: &mut World, end: f64) -> Result<Vec<f64>, StepError> {
    let mut sums = vec![0.0; world.particles.len()];
    let mut steps = 0.0;
    world.advance_with(end, |world| {
        steps += 1.0;
        let p = &world.particles;
        for (&id, &pressure) in p.get(&ID).iter().zip(p.get(&PRESSURE)) {
            sums[id as usize] += f64::from(pressure);
        }
    })?;
    Ok(sums.into_iter().map(|sum| sum / steps).collect())
}

/// One tank.
pub fn column(dimensions: usize, form: &str, law: &str, tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let (spacing, corner) = if dimensions == 2 { (0.02, "[0.5, 1.0]") } else { (0.025, "[0.25, 1.0, 0.25]") };
    let zero = if dimensions == 2 { "[0, 0]" } else { "[0, 0, 0]" };
    let top = if dimensions == 2 { "[0.5, 1.2]" } else { "[0.25, 1.2, 0.25]" };
    // Beside a wall, an incompressible fluid knows the pressure of one side only, and carries its weight with a steeper
    // one: by 2 % in a tank 25 particles wide, 6 % in one of 10 by 10. So the column has no sides.
    let sides = match (law, dimensions) {
        ("incompressible", 2) => r#", periodic = ["x"]"#,
        ("incompressible", _) => r#", periodic = ["x", "z"]"#,
        _ => "",
    };
    let text = format!(
        r#"
        dimensions = {dimensions}
        [world]
        box = {{ min = {zero}, max = {top}, open = ["+y"]{sides} }}
        [sph]
        spacing = {spacing}
        pressure_form = "{form}"
        [time]
        until = 3
        [[body]]
        name = "water"
        density = 1000
        shape.box = {{ min = {zero}, max = {corner} }}
        [body.behaviours.gravity]
        weight = {{ keys = [[0, 0], [1, 1]], ease = "smooth" }}  # so that the column does not bounce
        [body.behaviours.{law}]
        [body.behaviours.viscosity]
        dynamic_viscosity = 50  # brings it to rest soon; at rest it does nothing
        "#
    );
    let mut world = world(&text, tamper);
    world.advance_to(2.0)?;
    let pressures = mean_pressures(&mut world, 3.0)?;

    let (g, rest) = (9.81, 1000.0);
    let p = &world.particles;
    let rows =
        || p.get(&POSITION).iter().zip(p.get(&ID)).map(|(x, &id)| (f64::from(x.y), pressures[id as usize]));
    // The surface is half a spacing above the highest layer.
    let n = p.len() as f64;
    let level = 2.0 * rows().map(|(y, _)| y).sum::<f64>() / n;
    let foot = rest * g * level;
    // Mean pressure of ten layers, against the pressure at their mean height: the worst.
    let mut layers = [(0.0, 0.0, 0.0); 10];
    for (y, p) in rows() {
        let layer = &mut layers[((y / level * 10.0) as usize).min(9)];
        *layer = (layer.0 + 1.0, layer.1 + y, layer.2 + p);
    }
    let errors = layers.iter().map(|(n, y, p)| (p / n - rest * g * (level - y / n)).abs());
    let error = errors.fold(0.0, |worst, error| if error > worst || error.is_nan() { error } else { worst });
    let (sy, sp) = (level / 2.0, rows().map(|(_, p)| p).sum::<f64>() / n);
    let slope = rows().map(|(y, p)| (y - sy) * (p - sp)).sum::<f64>()
        / rows().map(|(y, _)| (y - sy).powi(2)).sum::<f64>();
    let densest = p.get(&DENSITY).iter().map(|&d| (f64::from(d) - rest) / rest).fold(0.0, f64::max);
    let fastest = p.get(&VELOCITY).iter().map(|v| f64::from(v.length())).fold(0.0, f64::max);
    let label = |what: &str| match law {
        "tait" => format!("{what} ({dimensions}-D, {form})"),
        _ => format!("{what} ({dimensions}-D, {law})"),
    };
    // Taking compression back adds a little to the pressure of an incompressible fluid.
    let tolerance = if law == "incompressible" { 0.03 } else { 0.02 };
    let mut checks = vec![
        Check::near(label("pressure gradient over ρg"), "", -slope / (rest * g), 1.0, tolerance),
        Check::below(label("largest error of the pressure of ten layers, over ρgh"), "", error / foot, 0.02),
        Check::below(label("largest compression"), "", densest, 0.01),
        Check::near(label("level"), "m", level, 1.0, 0.02),
        // At rest, but for single particles that still look for their place.
        Check::below(label("fastest particle, over √(2gh)"), "", fastest / (2.0 * g * level).sqrt(), 0.02),
    ];
    if law == "incompressible" {
        let compressions = p.get(&DENSITY).iter().map(|&d| (f64::from(d) / rest - 1.0).max(0.0));
        checks.push(Check::below(label("mean compression"), "", compressions.sum::<f64>() / n, 0.001));
    }
    Ok(checks)
}
