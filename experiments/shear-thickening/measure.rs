//! Prints what `README.md` beside this file shows, as CSV: `shear-thickening stiffness`, or `shear-thickening flow SCENE`.

use glam::Vec4;
use littoral::columns::{POSITION, STIFFNESS, VELOCITY};
use littoral::scene::{self, Scene};
use littoral::world::World;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["stiffness"] => stiffness(),
        ["flow", path] => flow(path),
        _ => eprintln!("usage: shear-thickening stiffness | shear-thickening flow SCENE"),
    }
}

fn load(text: &str, overrides: &[String]) -> Scene {
    scene::load("measure", text, overrides).unwrap_or_else(|problems| panic!("{problems}")).0
}

/// Stiffness of a spring that is worked for 20 ms or 0.5 s, over a second. A window of d steps of length Δt ends after dΔt, so
/// that 32 steps of 1, 2 and 4 ms stand for three lengths of memory.
fn stiffness() {
    println!("worked_s,order,memory,time_s,stiffness_pa");
    for worked in [0.02, 0.5] {
        for order in [0.2, 0.5, 0.8] {
            for (memory, history, step) in [
                ("all", "exponentials", 1e-3),
                ("32ms", "trapezoid", 1e-3),
                ("64ms", "trapezoid", 2e-3),
                ("128ms", "trapezoid", 4e-3),
            ] {
                for (time, stiffness) in work(order, history, step, worked) {
                    println!("{worked},{order},{memory},{time:.4},{stiffness:.1}");
                }
            }
        }
    }
}

fn work(order: f64, history: &str, step: f64, worked: f64) -> Vec<(f64, f32)> {
    let body = |name: &str, from: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\ndensity = 1000\n\
             shape.box = {{ min = [{from}, 0, 0], max = [{}, 0.01, 0.01] }}\n\
             [body.behaviours]\nyielding-springs = {{ shear_modulus = 100, history_modulus = 1000, \
             onset = 0, order = {order}, history = \"{history}\" }}\n",
            from + 0.01
        )
    };
    let head = "world.gravity = [0, 0, 0]\nsph.spacing = 0.01\ntime.until = 1\n";
    let text = format!("{head}{}{}", body("left", 0.0), body("right", 0.01));
    let mut world = World::new(&load(&text, &[]));
    let mut seen = Vec::new();
    for k in 0..(1.0 / step) as usize {
        let time = k as f64 * step;
        let x = world.particles.get(&POSITION);
        let apart = x[1] - x[0];
        // 10/s, to and fro: with one neighbour, γ̇ = √15 v/r.
        let rate = if time < worked { 10.0 / 15f32.sqrt() } else { 0.0 };
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        let velocity = world.particles.get_mut(&VELOCITY);
        (velocity[0], velocity[1]) = (Vec4::ZERO, apart * (sign * rate));
        world.step(step).expect("a step");
        seen.push((time, world.particles.get(&STIFFNESS)[0]));
    }
    seen
}

/// Steady flow under a force A sin(ky) along x, in a box without ends: the stress is τ = ρA cos(ky)/k. The rate of strain is that of the
/// wave in the velocity, and τ over it the apparent viscosity.
fn flow(path: &str) {
    let text = std::fs::read_to_string(path).expect("a scene file");
    println!("history_modulus_pa,stress_pa,rate_per_s,viscosity_pa_s,stiffness_pa");
    for history in [200_000.0, 0.0] {
        for stress in [30.0, 60.0, 125.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0] {
            let length = 0.1;
            let k = std::f64::consts::TAU / length;
            let push = stress * k / 1255.0;
            let scene = load(
                &text.replace("PUSH", &format!("{push} * sin({k} * y)")),
                &[format!("fluid.yielding-springs.history_modulus={history}")],
            );
            let mut world = World::new(&scene);
            let (mut speed, mut stiffness, mut samples) = (0.0, 0.0, 0.0);
            let half = 0.5 * scene.time.until;
            let result = world.advance_with(scene.time.until, |world| {
                if world.clock.time > half {
                    let rows = world.particles.get(&VELOCITY).iter().zip(world.particles.get(&POSITION));
                    let wave: f64 = rows.map(|(v, x)| f64::from(v.x) * (k * f64::from(x.y)).sin()).sum();
                    let count = world.particles.len() as f64;
                    speed += 2.0 * wave / count;
                    let sum: f64 = world.particles.get(&STIFFNESS).iter().map(|g| f64::from(*g)).sum();
                    stiffness += sum / count;
                    samples += 1.0;
                }
            });
            result.expect("a steady flow");
            let rate = k * speed / samples;
            println!("{history},{stress},{rate:.4},{:.3},{:.0}", stress / rate, stiffness / samples);
        }
    }
}
