//! The collapse of a water column, against the experiment of Martin & Moyce.
//!
//! On the experiment's own clock the computed front is ahead by up to 14 % between T = 0.8 and 1.6 and by less
//! than 5 % from T = 2 on, at any resolution (20, 40 and 80 particles across were tried), as in other people's
//! simulations. A column cannot be released at once; we fit the delay, report it, and compare the rest.

use super::{Check, Tamper, Validation, world};
use crate::columns::POSITION;
use crate::step::StepError;

pub static DAM_BREAK: Validation = Validation {
    name: "dam-break",
    what: "front of a collapsing column twice as high as wide, against the experiment of Martin & Moyce (1952)",
    run: |tamper| {
        let mut checks = collapse("tait", tamper)?;
        checks.extend(collapse("incompressible", tamper)?);
        Ok(checks)
    },
};

fn collapse(pressure: &str, tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let a: f64 = 0.05715; // 2.25 inches, as in the experiment
    let text = format!(
        r#"
        dimensions = 2
        [world]
        box = {{ min = [0, 0], max = [{}, {}], open = ["+y"] }}
        slip = 0.0
        [sph]
        spacing = {}
        [time]
        until = 1
        [[body]]
        name = "water"
        material = "water"
        shape.box = {{ min = [0, 0], max = [{a}, {}] }}
        [body.behaviours.{pressure}]
        [body.behaviours.artificial-viscosity]
        dynamic_viscosity = 0.05
        "#,
        8.0 * a,
        3.0 * a,
        a / 40.0,
        2.0 * a
    );
    let mut world = world(&text, tamper);
    let unit = (a / (2.0 * 9.81)).sqrt();
    let mut fronts = vec![(0.0, 1.0)];
    while fronts.last().is_some_and(|front| front.0 < 3.0) {
        let time = 0.02 * fronts.len() as f64;
        world.advance_to(time * unit)?;
        let front = world.particles.get(&POSITION).iter().map(|p| f64::from(p.x)).fold(0.0, f64::max) / a;
        fronts.push((time, front));
    }
    let front_at = |time: f64| {
        let k = fronts.partition_point(|front| front.0 <= time).clamp(1, fronts.len() - 1);
        let (before, after) = (fronts[k - 1], fronts[k]);
        before.1 + (after.1 - before.1) * ((time - before.0) / (after.0 - before.0)).clamp(0.0, 1.0)
    };
    // The experiment's clock starts when its diaphragm is released, the column somewhat later: fit that delay.
    let misfit = |delay: f64| {
        MARTIN_MOYCE.iter().map(|(time, z)| (front_at(time - delay) / z - 1.0).powi(2)).sum::<f64>()
    };
    let delays = (0..=60).map(|k| 0.01 * f64::from(k));
    let delay = delays.min_by(|&a, &b| misfit(a).total_cmp(&misfit(b))).expect("there are candidates");

    // 0.3 is 16 ms.
    let mut checks =
        vec![Check::near(format!("delay of the release, in T ({pressure})"), "", delay, 0.15, 0.15)];
    for (time, z) in MARTIN_MOYCE {
        let quantity = format!("front at T = {time}, in column widths ({pressure})");
        checks.push(Check::near(quantity, "", front_at(time - delay), z, 0.1 * z));
    }
    let speed = |from: f64, to: f64| (front_at(to) - front_at(from)) / (to - from);
    // Independent of the clock's start: speed of the front between T = 2 and 3.
    let (first, last) = (MARTIN_MOYCE[6], MARTIN_MOYCE[12]);
    let expected = (last.1 - first.1) / (last.0 - first.0);
    let measured = speed(first.0 - delay, last.0 - delay);
    checks.push(Check::near(
        format!("speed of the front from T = 2 to 3 ({pressure})"),
        "",
        measured,
        expected,
        0.1 * expected,
    ));
    Ok(checks)
}

/// Time T = t√(2g/a) and front Z = x/a for a column of height 2a, a = 2¼ in [MartinMoyce1952, Table 2].
const MARTIN_MOYCE: [(f64, f64); 13] = [
    (0.41, 1.11),
    (0.84, 1.22),
    (1.19, 1.44),
    (1.43, 1.67),
    (1.63, 1.89),
    (1.83, 2.11),
    (1.98, 2.33),
    (2.20, 2.56),
    (2.32, 2.78),
    (2.51, 3.00),
    (2.65, 3.22),
    (2.83, 3.44),
    (2.98, 3.67),
];
