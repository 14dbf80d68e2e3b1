//! Decaying vortices in a periodic box.

use super::{Check, Tamper, Validation, world};
use crate::columns::{MASS, POSITION, VELOCITY};
use crate::step::StepError;
use std::f64::consts::PI;

pub static TAYLOR_GREEN: Validation = Validation {
    name: "taylor-green",
    what: "four vortices in a periodic square at Re = 100: rate at which their speed decays",
    run: |tamper| {
        // A pressure that follows from density must be able to pull, or the vortices' centres open.
        let tait = "tait]\nsound_speed = 10\nexponent = 1\ntension = true";
        decay("tait", tait, tamper)
    },
};

fn decay(name: &str, pressure: &str, tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let nu = 0.01;
    let text = format!(
        r#"
        dimensions = 2
        [world]
        gravity = [0, 0]
        box = {{ min = [0, 0], max = [1, 1], periodic = ["x", "y"] }}
        [sph]
        spacing = 0.0125
        support = 3.5
        kernel = "wendland"
        [time]
        until = 2
        [[body]]
        name = "fluid"
        density = 1
        jitter = 0.3
        shape.box = {{ min = [0, 0], max = [1, 1] }}
        [body.behaviours.{pressure}
        [body.behaviours.viscosity]
        dynamic_viscosity = {nu}
        "#
    );
    let mut world = world(&text, tamper);
    // u = −cos 2πx sin 2πy, v = sin 2πx cos 2πy.
    world.particles.update(&VELOCITY, |velocity, particles| {
        for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
            let (kx, ky) = (2.0 * PI * f64::from(x.x), 2.0 * PI * f64::from(x.y));
            (v.x, v.y) = ((-kx.cos() * ky.sin()) as f32, (kx.sin() * ky.cos()) as f32);
        }
    });
    world.clock.speed = 1.0;

    // Slope of ln(kinetic energy)/2 over one second, by least squares.
    let mut samples = Vec::new();
    for k in 0..=20 {
        let t = 0.05 * f64::from(k);
        world.advance_to(t)?;
        let p = &world.particles;
        let rows = p.get(&VELOCITY).iter().zip(p.get(&MASS));
        let energy: f64 = rows.map(|(v, &m)| 0.5 * f64::from(m) * f64::from(v.length_squared())).sum();
        samples.push((t, 0.5 * energy.ln()));
    }
    let n = samples.len() as f64;
    let (st, se) = samples.iter().fold((0.0, 0.0), |(a, b), (t, e)| (a + t / n, b + e / n));
    let rate = -samples.iter().map(|(t, e)| (t - st) * (e - se)).sum::<f64>()
        / samples.iter().map(|(t, _)| (t - st).powi(2)).sum::<f64>();
    let expected = 8.0 * PI * PI * nu;
    Ok(vec![Check::near(format!("decay rate of the speed ({name})"), "1/s", rate, expected, 0.05 * expected)])
}
