//! Runs a scene to its end, times it, and prints one line of JSON: `flow SCENE THREADS SAMPLES FOLDER [overrides]`.
//!
//! At evenly spaced moments the state goes into FOLDER (rows of x, y, z and density over rest density, f32), for
//! `bench/density.py` to look at. Start-up and writing are not timed.

use std::time::{Duration, Instant};

use littoral::columns::{DENSITY, POSITION};
use littoral::scene;
use littoral::timers::Stage;
use littoral::world::World;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, path, threads, samples, folder, overrides @ ..] = &args[..] else {
        eprintln!("usage: flow SCENE THREADS SAMPLES FOLDER [overrides]");
        std::process::exit(2);
    };
    let number = |text: &String| text.parse::<usize>().expect("a whole number");
    let (threads, samples) = (number(threads), number(samples));
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("a thread pool");
    let text = std::fs::read_to_string(path).expect("a scene file");
    let (scene, _) = scene::load(path, &text, overrides).unwrap_or_else(|problems| panic!("{problems}"));
    let mut world = World::new(&scene);

    let mut spent = Duration::ZERO;
    let mut longest: f64 = 0.0;
    for sample in 1..=samples {
        let end = scene.time.until * sample as f64 / samples as f64;
        let start = Instant::now();
        let mut before = world.clock.time;
        world
            .advance_with(end, |world| {
                longest = longest.max(world.clock.time - before);
                before = world.clock.time;
            })
            .expect("a stable run");
        spent += start.elapsed();
        std::fs::write(format!("{folder}/{end:.6}.f32"), state(&mut world)).expect("a folder to write to");
    }

    let (seconds, steps) = (spent.as_secs_f64(), world.clock.steps as f64);
    let stages: serde_json::Map<_, _> = Stage::ALL
        .map(|stage| (stage.name().into(), (world.timers.spent(stage).as_secs_f64() * 1e3 / steps).into()))
        .into_iter()
        .collect();
    let tallies = world.solves.take();
    let iterations: serde_json::Map<_, _> = tallies
        .iter()
        .map(|(name, tally)| (name.clone(), (tally.iterations as f64 / tally.solves as f64).into()))
        .collect();
    println!(
        "{}",
        serde_json::json!({
            "program": "littoral", "version": env!("CARGO_PKG_VERSION"), "threads": threads,
            "fluid_particles": world.particles.len(), "wall_particles": world.walls.len(),
            "tolerance_density": scene.solver.density_error,
            "simulated_s": world.clock.time, "wall_s": seconds,
            "wall_s_per_simulated_s": seconds / world.clock.time,
            "steps": world.clock.steps, "ms_per_step": seconds * 1e3 / steps, "ms_stages": stages,
            "mean_step_s": world.clock.time / steps, "longest_step_s": longest,
            "iterations": iterations,
            "bytes_per_particle": world.particle_bytes() / world.particles.len().max(1),
            "searches": world.neighbourhood.rebuilds, "max_speed": world.clock.speed, "caught": world.caught,
        })
    );
}

/// Positions and densities as they are now: those of the last step belong to where it began.
fn state(world: &mut World) -> Vec<u8> {
    world.evaluate();
    let p = &world.particles;
    let rest = world.bodies[0].rest_density;
    let rows = p.get(&POSITION).iter().zip(p.get(&DENSITY));
    rows.flat_map(|(x, d)| [x.x, x.y, x.z, d / rest]).flat_map(f32::to_le_bytes).collect()
}
