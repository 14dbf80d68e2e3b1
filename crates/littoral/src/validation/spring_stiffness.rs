//! How a yielding spring stiffens while it is worked, and softens afterwards: [Ozgen2013, figs. 5.5, 5.6].

use glam::Vec4;
use libm::{pow, tgamma};

use super::{Check, Tamper, Validation, world};
use crate::columns::{POSITION, STIFFNESS, VELOCITY};
use crate::step::StepError;

pub static SPRING_STIFFNESS: Validation = Validation {
    name: "spring-stiffness",
    what: "a spring worked at a constant rate, for 20 ms and for half a second: its stiffness, during and after, against the faded D^q in closed form for q = 0.2, 0.5, 0.8, \
           by exponentials and over a window of steps",
    run: |tamper| {
        let mut checks = Vec::new();
        for order in [0.2, 0.5, 0.8] {
            for worked in [0.02, 0.5] {
                checks.push(compare(&Course { order, worked, window: None }, tamper)?);
            }
        }
        for rule in ["trapezoid", "coimbra"] {
            checks.push(compare(&Course { order: 0.5, worked: 0.02, window: Some(rule) }, tamper)?);
        }
        Ok(checks)
    },
};

/// s; uneven steps, about half a millisecond.
const STEP: f64 = 5e-4;
/// Steps of a window.
const WINDOW: usize = 32;
/// Rate of strain, 1/s, of which the onset is taken away.
const RATE: f64 = 10.0;
const ONSET: f64 = 2.0;
/// Moduli, Pa; memory, s.
const LEAST: f64 = 100.0;
const HISTORY: f64 = 1000.0;
const MEMORY: f64 = 0.5;

/// What a spring goes through, and how it remembers.
struct Course {
    order: f64,
    /// s.
    worked: f64,
    /// The rule over a window; else exponentials.
    window: Option<&'static str>,
}

impl Course {
    /// From ∫ τ^(−q) e^(−τ/T) dτ/Γ(1−q), at time t: that of a path which starts, less that of one which starts when the work ends. A window
    /// knows only its own time.
    fn exact(&self, t: f64, end: f64) -> f64 {
        let response = |age: f64| match self.window {
            Some(_) => pow(age.clamp(0.0, WINDOW as f64 * STEP), 1.0 - self.order) / tgamma(2.0 - self.order),
            None => pow(MEMORY, 1.0 - self.order) * incomplete_gamma(1.0 - self.order, age.max(0.0) / MEMORY),
        };
        let strain = response(t) - response(t - end);
        LEAST + HISTORY * pow(MEMORY, self.order) * (RATE - ONSET) * strain
    }
}

/// Lower incomplete gamma function over Γ(a), by its series: x^a e^(−x) Σ x^n/Γ(a + n + 1).
fn incomplete_gamma(a: f64, x: f64) -> f64 {
    let mut term = pow(x, a) * libm::exp(-x) / tgamma(a + 1.0);
    let mut sum = 0.0;
    for n in 1..200 {
        sum += term;
        term *= x / (a + f64::from(n));
    }
    sum
}

/// Largest error of the stiffness over a second, over the largest that is gained.
fn compare(course: &Course, tamper: &Tamper) -> Result<Check, StepError> {
    let mut worst = 0.0f64;
    let mut most = 0.0f64;
    let (seen, end) = stiffness(course, tamper)?;
    for (t, stiffness) in seen {
        // A rate that jumps is a ramp to the memory, one step long: half a step late.
        let exact = course.exact(t - 0.5 * STEP, end);
        most = most.max(exact - LEAST);
        let error = (stiffness - exact).abs();
        let jumps = t < 4.0 * STEP || (t - end).abs() < 4.0 * STEP;
        if !jumps && (error > worst || error.is_nan()) {
            worst = error;
        }
    }
    let Course { order, worked, window } = course;
    let how = window.map_or_else(|| "exponentials".to_owned(), |rule| format!("{rule}, {WINDOW} steps"));
    let quantity =
        format!("error of the stiffness, q = {order}, worked for {worked} s ({how}), over what was gained");
    // Exponentials follow the kernel to 0.1 %; of ramps that differ in length, half of the difference is left.
    Ok(Check::below(quantity, "", worst / most, 0.02))
}

/// Stiffness, Pa, after each step of a second, and when the work ended, s.
fn stiffness(course: &Course, tamper: &Tamper) -> Result<(Vec<(f64, f64)>, f64), StepError> {
    let Course { order, window, .. } = course;
    let history = window.unwrap_or("exponentials");
    let springs = format!(
        "yielding-springs = {{ shear_modulus = {LEAST}, history_modulus = {HISTORY}, order = {order}, memory = {MEMORY}, onset = {ONSET}, \
         history = \"{history}\", window = {WINDOW} }}"
    );
    let mut world = world(
        &format!(
            r#"
            title = "One spring"
            world.gravity = [0, 0, 0]
            sph.spacing = 0.01
            time.until = 1
            [[body]]
            name = "left"
            density = 1000
            shape.box = {{ min = [0, 0, 0], max = [0.01, 0.01, 0.01] }}
            [body.behaviours]
            {springs}
            [[body]]
            name = "right"
            density = 1000
            shape.box = {{ min = [0.01, 0, 0], max = [0.02, 0.01, 0.01] }}
            [body.behaviours]
            {springs}
            "#
        ),
        tamper,
    );
    let mut seen = Vec::new();
    let (mut time, mut end) = (0.0, 0.0);
    for step in 0..2000 {
        // To and fro, so that the spring keeps its length. A window is measured by its time, and so has equal steps.
        let dt = if window.is_some() { STEP } else { STEP * (1.0 + 0.5 * libm::sin(f64::from(step))) };
        let x = world.particles.get(&POSITION);
        let apart = x[1] - x[0];
        let is_worked = time + 0.5 * dt < course.worked;
        end = if is_worked { time + dt } else { end };
        // With one neighbour, γ̇ = √15 v/r.
        let rate = if is_worked { RATE / 15f64.sqrt() } else { 0.0 };
        let sign = if step % 2 == 0 { 1.0 } else { -1.0 };
        let velocity = world.particles.get_mut(&VELOCITY);
        velocity[0] = Vec4::ZERO;
        velocity[1] = apart * (sign * rate) as f32;
        world.step(dt)?;
        time += dt;
        // What the step took in is felt in the next one.
        seen.push((time - dt, f64::from(world.particles.get(&STIFFNESS)[0])));
    }
    Ok((seen, end))
}
