//! How fast a breaking dam runs on this machine's graphics processor.
//!
//!     gpu_probe [particles] [steps] [fixed|adaptive]
//!
//! Builds a dam of about that many particles, warms up, and times steps that never leave the device. Needs no
//! files, so that the binary alone can be carried to a borrowed machine.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use littoral::backend::gpu::{Device, GpuWorld};
use littoral::columns::{DENSITY, POSITION};
use littoral::scene;
use littoral::world::World;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, default: f64| arguments.get(k).map_or(Ok(default), |text| text.parse::<f64>());
    let (particles, steps) = (number(0, 1e6)?, number(1, 200.0)? as u32);
    let adaptive = arguments.get(2).is_none_or(|word| word != "fixed");

    let (scene, _) = scene::load("dam", &dam(particles), &[]).map_err(|problems| format!("{problems:?}"))?;
    let mut world = World::new(&scene);
    let count = world.particles.len();
    let start = Instant::now();
    let mut gpu = GpuWorld::new(Device::new()?, &world)?;
    println!("{}", gpu.device().name());
    println!("{count} particles, {} wall samples, compiled in {:.2?}", world.walls.len(), start.elapsed());
    println!("{} bytes a particle", gpu.bytes() / count as u64);

    let dt = (!adaptive).then_some(world.clock.step as f32);
    gpu.upload(&mut world)?;
    gpu.run_steps(steps.div_ceil(4).max(20), dt)?;
    let start = Instant::now();
    gpu.run_steps(steps, dt)?;
    let each = start.elapsed().as_secs_f64() / f64::from(steps);
    println!("{:.3} ms/step, {:.0} M particle·steps/s", each * 1e3, count as f64 / each * 1e-6);

    for (kernel, time) in gpu.profile(10, dt)? {
        println!("  {kernel:<12} {:>8.1} µs", time.as_secs_f64() * 1e6);
    }

    // A whole frame, with the columns brought back.
    let (before, time) = (world.clock.steps, world.clock.time);
    let start = Instant::now();
    gpu.advance_to(&mut world, time + 1.0 / 30.0)?;
    let took = start.elapsed().as_secs_f64();
    let taken = world.clock.steps - before;
    println!("frame of {taken} steps in {took:.3} s, {:.3} ms/step with readback", took * 1e3 / taken as f64);
    let density = world.particles.get(&DENSITY).iter().map(|&v| f64::from(v)).sum::<f64>() / count as f64;
    println!(
        "speed {:.3} m/s, mean density {density:.2} kg/m³, limited by {}, {:.1} neighbours on average",
        world.clock.speed,
        world.clock.binding.name(),
        neighbours(&world),
    );
    // The same on every run of the same build on the same device.
    let mut hasher = DefaultHasher::new();
    world
        .particles
        .get(&POSITION)
        .iter()
        .flat_map(|x| x.to_array())
        .for_each(|x| x.to_bits().hash(&mut hasher));
    println!("positions {:016x}", hasher.finish());
    Ok(())
}

/// A dam of about this many particles, 1.6 m long; scaled by the spacing alone.
fn dam(particles: f64) -> String {
    let spacing = (0.4 * 0.7 * 0.4 / particles).cbrt();
    format!(
        "[world]
        box = {{ min = [0, 0, 0], max = [1.6, 1.2, 0.4], open = [\"+y\"] }}
        slip = 1.0
        [sph]
        spacing = {spacing}
        [time]
        until = 1.0
        [[body]]
        name = \"water\"
        material = \"water\"
        shape.box = {{ min = [0, 0, 0], max = [0.4, 0.7, 0.4] }}
        [body.behaviours.artificial-viscosity]
        dynamic_viscosity = 1.0"
    )
}

/// Neighbours of a few hundred particles, by looking at all others.
fn neighbours(world: &World) -> f64 {
    let positions = world.particles.get(&POSITION);
    let reach2 = world.discretisation.support.powi(2);
    let sample: Vec<_> = positions.iter().step_by(positions.len() / 200 + 1).collect();
    let near = |a: &glam::Vec4| positions.iter().filter(|b| (*a - **b).length_squared() < reach2).count();
    sample.iter().map(|a| near(a)).sum::<usize>() as f64 / sample.len() as f64
}
