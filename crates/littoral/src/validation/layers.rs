//! A light fluid on a heavy one, both incompressible and at rest: air on water.

use super::hydrostatic::mean_pressures;
use super::{Check, Tamper, Validation, world};
use crate::columns::{BODY, DENSITY, ID, MASS, POSITION, VOLUME};
use crate::step::StepError;

pub static HYDROSTATIC_LAYERS: Validation = Validation {
    name: "hydrostatic-layers",
    what: "two incompressible layers, 1000 and 1 kg/m³: pressure against the weight above, and who is where (2-D)",
    run: layers,
};

const SPACING: f64 = 0.025;
/// Height of the interface and of the surface, m.
const LEVELS: [f64; 2] = [0.5, 0.8];
/// kg/m³, from below.
const DENSITIES: [f64; 2] = [1000.0, 1.0];

fn layers(tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let [interface, surface] = LEVELS;
    let body = |name: &str, k: usize, bottom: f64, top: f64, viscosity: f64| {
        format!(
            r#"
            [[body]]
            name = "{name}"
            density = {density}
            shape.box = {{ min = [0, {bottom}], max = [1, {top}] }}
            [body.behaviours.gravity]
            weight = {{ keys = [[0, 0], [1, 1]], ease = "smooth" }}  # so that it does not bounce
            [body.behaviours.incompressible]
            [body.behaviours.implicit-viscosity]
            dynamic_viscosity = {viscosity}  # brings it to rest soon; at rest it does nothing
            "#,
            density = DENSITIES[k]
        )
    };
    let text = format!(
        r#"
        dimensions = 2
        world.box = {{ min = [0, 0], max = [1, 1], open = ["+y"], periodic = ["x"] }}
        sph.spacing = {SPACING}
        time.until = 3
        {}{}
        "#,
        body("heavy", 0, 0.0, interface, 10.0),
        body("light", 1, interface, surface, 0.1)
    );
    let mut world = world(&text, tamper);
    world.advance_to(2.0)?;
    let pressures = mean_pressures(&mut world, 3.0)?;

    let p = &world.particles;
    let weight_above = |y: f64| {
        let thick = [(interface - y).max(0.0), (surface - y.max(interface)).max(0.0)];
        9.81 * (DENSITIES[0] * thick[0] + DENSITIES[1] * thick[1])
    };
    let rows = || {
        let places = p.get(&POSITION).iter().zip(p.get(&BODY)).zip(p.get(&ID));
        places.map(|((x, &body), &id)| (f64::from(x.y), body, pressures[id as usize]))
    };
    // Mean pressures of ten layers, from the bottom to the surface.
    let mut bins = [(0.0, 0.0, 0.0); 10];
    for (y, _, p) in rows() {
        let bin = &mut bins[((y / surface * 10.0) as usize).min(9)];
        *bin = (bin.0 + 1.0, bin.1 + y, bin.2 + p);
    }
    let errors = bins.iter().map(|(n, y, p)| (p / n - weight_above(y / n)).abs() / weight_above(0.0));
    let error = errors.fold(0.0, |worst, error| if error > worst || error.is_nan() { error } else { worst });
    // The light layer's own head: the mean of its pressure, well above the interface.
    let light = rows().filter(|(y, body, _)| *body == 1 && *y > interface + 2.0 * SPACING);
    let (sum, exact) = light.fold((0.0, 0.0), |(sum, exact), (y, _, p)| (sum + p, exact + weight_above(y)));
    let astray = rows().filter(|(y, body, _)| {
        let below = interface - y;
        if *body == 1 { below > 1.5 * SPACING } else { below < -1.5 * SPACING }
    });
    let rest = p.get(&MASS).iter().zip(p.get(&VOLUME)).map(|(mass, volume)| mass / volume);
    let compressions = p.get(&DENSITY).iter().zip(rest).map(|(&d, rest)| f64::from(d / rest - 1.0).max(0.0));
    let n = p.len() as f64;
    Ok(vec![
        Check::below("largest error of the pressure of ten layers, over the bottom's", "", error, 0.04),
        // A 3400th of the pressure at the bottom: the solve knows it only so well.
        Check::near("mean pressure of the light layer over its weight", "", sum / exact, 1.0, 0.25),
        Check::below("particles on the other's side of the interface", "", astray.count() as f64, 0.5),
        Check::below("mean compression", "", compressions.sum::<f64>() / n, 0.001),
    ])
}
