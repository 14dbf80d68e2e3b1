//! Times the steps of a scene and prints one line of JSON: `bench SCENE WARMUP STEPS THREADS [--set-like overrides]`.

use std::time::Instant;

use littoral::columns::{DENSITY, POSITION};
use littoral::scene;
use littoral::timers::{Stage, Timers};
use littoral::world::World;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, path, warmup, steps, threads, overrides @ ..] = &args[..] else {
        eprintln!("usage: bench SCENE WARMUP STEPS THREADS [overrides]");
        std::process::exit(2);
    };
    let number = |text: &String| text.parse::<usize>().expect("a whole number");
    let (warmup, steps, threads) = (number(warmup), number(steps), number(threads));
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().expect("a thread pool");
    let text = std::fs::read_to_string(path).expect("a scene file");
    let (scene, _) = scene::load(path, &text, overrides).unwrap_or_else(|problems| panic!("{problems}"));
    let mut world = World::new(&scene);

    let run = |world: &mut World, steps: usize| {
        let start = Instant::now();
        for _ in 0..steps {
            let dt = world.clock.step;
            world.step(dt).expect("a stable run");
        }
        start.elapsed().as_secs_f64()
    };
    run(&mut world, warmup);
    world.timers = Timers::default();
    let rebuilds = world.neighbourhood.rebuilds;
    let seconds = run(&mut world, steps);

    let n = world.particles.len();
    let ms = |seconds: f64| seconds * 1e3 / steps as f64;
    let stages: serde_json::Map<_, _> = Stage::ALL
        .map(|stage| (stage.name().into(), ms(world.timers.spent(stage).as_secs_f64()).into()))
        .into_iter()
        .collect();
    let rest = f64::from(world.bodies[0].rest_density);
    let errors = world.particles.get(&DENSITY).iter().map(|&d| (f64::from(d) / rest - 1.0).max(0.0));
    println!(
        "{}",
        serde_json::json!({
            "program": "littoral", "version": env!("CARGO_PKG_VERSION"), "threads": threads,
            "fluid_particles": n, "wall_particles": world.walls.len(), "dt": world.clock.step,
            "warmup": warmup, "steps": steps, "ms_per_step": ms(seconds), "ms_stages": stages,
            "ns_per_particle_step": seconds * 1e9 / (n * steps) as f64,
            "mean_neighbours": neighbours(&world),
            "searches": world.neighbourhood.rebuilds - rebuilds,
            "bytes_per_particle": world.particle_bytes() / n,
            "bytes_per_wall_sample": world.wall_bytes() / world.walls.len().max(1),
            "max_speed": world.clock.speed,
            "mean_density_error": errors.clone().sum::<f64>() / n as f64,
            "max_density_error": errors.fold(0.0, f64::max),
        })
    );
}

/// Mean number of neighbours within the support, the particle itself not counted.
fn neighbours(world: &World) -> f64 {
    let positions = world.particles.get(&POSITION);
    let reach2 = world.discretisation.support.powi(2);
    let count: usize = (0..positions.len())
        .map(|i| {
            let near = |p: &glam::Vec4| (positions[i] - *p).truncate().length_squared() < reach2;
            let particles =
                world.neighbourhood.particles(i).as_slice().iter().filter(|&&j| near(&positions[j as usize]));
            let walls = world
                .neighbourhood
                .walls(i)
                .as_slice()
                .iter()
                .filter(|&&j| near(&world.walls.place[j as usize]));
            particles.count() + walls.count() - 1
        })
        .sum();
    count as f64 / positions.len() as f64
}
