//! Whole steps and frames on the device, against the CPU and against brute force.
//!
//! Needs an adapter: Debian's `mesa-vulkan-drivers` is enough. Without one the tests fail, so that a machine that
//! lost its driver is noticed; LITTORAL_NO_GPU=1 skips them.
#![cfg(feature = "gpu")]

use glam::Vec4;
use littoral::backend::gpu::{Device, GpuError, GpuWorld};
use littoral::columns::*;
use littoral::particles::Vectors;
use littoral::scene;
use littoral::step::StepError;
use littoral::world::World;

fn device() -> Option<Device> {
    match Device::with_checks(true) {
        Ok(device) => Some(device),
        Err(_) if std::env::var("LITTORAL_NO_GPU").is_ok_and(|v| v == "1") => None,
        Err(error) => panic!("{error}. LITTORAL_NO_GPU=1 skips these tests"),
    }
}

fn world(text: &str) -> World {
    let (scene, _) = scene::load("test", text, &[]).unwrap_or_else(|problems| panic!("{problems:?}"));
    World::new(&scene)
}

/// A block of fluid in the corner of a box, shaken so that nothing sits on a threshold.
fn dam(extra_sph: &str, time: &str) -> String {
    format!(
        "[world]
        box = {{ min = [0, 0, 0], max = [0.32, 0.3, 0.16], open = ['+y'] }}
        slip = 0.5
        [sph]
        spacing = 0.02
        {extra_sph}
        [time]
        until = 1
        {time}
        [[body]]
        name = 'water'
        material = 'water'
        behaviours.tait = {{}}
        jitter = 0.2
        velocity = [0.5, -0.5, 0]
        shape.box = {{ min = [0, 0, 0], max = [0.16, 0.2, 0.16] }}
        [body.behaviours.artificial-viscosity]
        dynamic_viscosity = 1.0
        [body.behaviours.cohesion]
        surface_tension = 0.07
        [[body]]
        name = 'oil'
        material = 'olive-oil'
        behaviours.tait = {{}}
        jitter = 0.2
        shape.box = {{ min = [0.16, 0, 0], max = [0.24, 0.2, 0.16] }}
        [body.behaviours.drag]
        relaxation_time = 0.5"
    )
}

/// Fluid that fills a periodic square, with a gas for pressure.
fn periodic(time: &str) -> String {
    format!(
        "dimensions = 2
        [world]
        box = {{ min = [-0.5, 0], max = [0.5, 0.6], periodic = ['x', 'y'] }}
        gravity = [0, 0]
        [sph]
        spacing = 0.02
        [time]
        until = 1
        {time}
        [[body]]
        name = 'fluid'
        density = 1000
        jitter = 0.3
        velocity = [3, 1]
        shape.box = {{ min = [-0.5, 0], max = [0.5, 0.6] }}
        [body.behaviours.gas]
        stiffness = 400
        tension = true
        [body.behaviours.viscosity]
        dynamic_viscosity = 0.5"
    )
}

/// Rows of a world in the order of ids.
fn by_id(world: &World) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..world.particles.len()).collect();
    rows.sort_by_key(|&i| world.particles.get(&ID)[i]);
    rows
}

struct Errors {
    position: f32,
    velocity: f32,
    density: f32,
}

/// Largest differences between two worlds, particle by particle.
fn differences(a: &World, b: &World) -> Errors {
    let (rows_a, rows_b) = (by_id(a), by_id(b));
    assert_eq!(rows_a.len(), rows_b.len());
    let mut errors = Errors { position: 0.0, velocity: 0.0, density: 0.0 };
    for (&i, &j) in rows_a.iter().zip(&rows_b) {
        assert_eq!(a.particles.get(&BODY)[i], b.particles.get(&BODY)[j]);
        assert_eq!(a.particles.get(&MASS)[i], b.particles.get(&MASS)[j]);
        let vector = |key: &'static Vectors| (a.particles.get(key)[i] - b.particles.get(key)[j]).abs();
        // A particle on the edge of a period may stand at either end of it.
        let mut x = vector(&POSITION);
        for axis in 0..3 {
            let length = a.periods.length[axis];
            x[axis] = if length > 0.0 { x[axis].min((length - x[axis]).abs()) } else { x[axis] };
        }
        errors.position = errors.position.max(x.length());
        errors.velocity = errors.velocity.max(vector(&VELOCITY).length());
        let density = (a.particles.get(&DENSITY)[i] - b.particles.get(&DENSITY)[j]).abs();
        errors.density = errors.density.max(density);
    }
    errors
}

/// Steps of 50 µs on both; positions may differ by this share of a spacing, velocities of the fastest.
fn compare(text: &str, steps: u32, tolerance: f32) {
    let Some(device) = device() else { return };
    let (mut cpu, mut on_gpu) = (world(text), world(text));
    let mut gpu = GpuWorld::new(device, &on_gpu).unwrap();
    let end = f64::from(steps) * 5e-5;
    cpu.advance_to(end).unwrap();
    gpu.advance_to(&mut on_gpu, end).unwrap();
    assert_eq!(on_gpu.clock.steps, u64::from(steps));
    assert_eq!(cpu.clock.steps, on_gpu.clock.steps);
    assert_eq!(on_gpu.clock.time, end);
    assert_eq!(cpu.clock.bound, on_gpu.clock.bound);
    let errors = differences(&cpu, &on_gpu);
    let spacing = cpu.discretisation.spacing;
    println!("{steps} steps: {} {} {}", errors.position / spacing, errors.velocity, errors.density);
    assert!(errors.position < tolerance * spacing, "position: {} m", errors.position);
    assert!(errors.velocity < tolerance * cpu.clock.speed, "velocity: {} m/s", errors.velocity);
    let rest = cpu.bodies[0].rest_density;
    assert!(errors.density < tolerance * rest, "density: {} kg/m³", errors.density);
    assert!((cpu.clock.speed - on_gpu.clock.speed).abs() < tolerance * cpu.clock.speed);
    assert!(
        (cpu.clock.acceleration - on_gpu.clock.acceleration).abs()
            < 10.0 * tolerance * cpu.clock.acceleration
    );
}

// One step differs by rounding alone: a sum of some forty f32 terms, 10⁻⁵. Twenty steps of a stiff, shaken fluid
// let rounding grow: measured some 10⁻⁶, allowed ten times that and more.
const ONE_STEP: f32 = 1e-5;
const TWENTY_STEPS: f32 = 1e-4;

#[test]
fn a_walled_dam_in_space_agrees() {
    compare(&dam("", "step = 5e-5"), 1, ONE_STEP);
    compare(&dam("", "step = 5e-5"), 20, TWENTY_STEPS);
}

#[test]
fn a_periodic_plane_agrees() {
    compare(&periodic("step = 5e-5"), 1, ONE_STEP);
    compare(&periodic("step = 5e-5"), 20, TWENTY_STEPS);
}

#[test]
fn a_channel_with_walls_and_periods_agrees() {
    let channel = dam("", "step = 5e-5").replace("open = ['+y']", "open = ['+y'], periodic = ['z']");
    compare(&channel, 20, TWENTY_STEPS);
    let other = dam("", "step = 5e-5").replace("open = ['+y']", "open = ['+y'], periodic = ['x']");
    compare(&other, 20, TWENTY_STEPS);
}

#[test]
fn a_drop_in_the_open_agrees() {
    let drop = "[world]
        [sph]
        spacing = 0.02
        [time]
        until = 1
        step = 5e-5
        [[body]]
        name = 'drop'
        material = 'water'
        behaviours.tait = {}
        velocity = [0, -3, 0]
        jitter = 0.2
        shape.sphere = { centre = [0, 1, 0], radius = 0.15 }";
    compare(drop, 20, TWENTY_STEPS);
}

#[test]
fn velocity_verlet_agrees() {
    compare(&dam("", "step = 5e-5\nintegrator = 'velocity-verlet'"), 20, TWENTY_STEPS);
    compare(&periodic("step = 5e-5\nintegrator = 'velocity-verlet'"), 20, TWENTY_STEPS);
}

#[test]
fn the_other_pressure_form_and_normalised_density_agree() {
    compare(&dam("pressure_form = 'sum'", "step = 5e-5"), 20, TWENTY_STEPS);
    compare(&dam("density = 'normalised'", "step = 5e-5"), 20, TWENTY_STEPS);
    compare(&dam("density = 'normalised'\npressure_form = 'sum'", "step = 5e-5"), 20, TWENTY_STEPS);
}

#[test]
fn neighbours_beyond_the_lists_agree() {
    // A support of four spacings holds 268 neighbours: more than lists are made for, so every sum is swept.
    compare(&dam("support = 4\nkernel = 'wendland'", "step = 5e-5"), 2, ONE_STEP * 10.0);
}

#[test]
fn density_is_the_sum_over_all_others_however_they_lie() {
    let Some(device) = device() else { return };
    let mut world = world(
        "[world]
        gravity = [0, 0, 0]
        [sph]
        spacing = 0.05
        [time]
        until = 1
        step = 1e-9
        minimum_step = 1e-12
        [[body]]
        name = 'cloud'
        density = 1000
        shape.box = { min = [0, 0, 0], max = [0.6, 0.6, 0.6] }
        [body.behaviours.gas]
        stiffness = 1",
    );
    // A third in one cell, a third spread out, the rest ever further away; some at the same place.
    let mut state = 5u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    for (i, x) in world.particles.get_mut(&POSITION).iter_mut().enumerate() {
        let scale = match i % 3 {
            0 => 0.04,
            1 => 1.0,
            _ => 1.004f32.powi(i as i32),
        };
        *x = Vec4::new(next(), next(), next(), 0.0) * scale;
        if i % 50 == 0 {
            *x = Vec4::new(700.0, -20.0, 3.0, 0.0);
        }
    }
    let before: Vec<Vec4> = world.particles.get(&POSITION).to_vec();
    let volume = world.particles.get(&VOLUME).to_vec();
    let mut gpu = GpuWorld::new(device, &world).unwrap();
    gpu.advance_to(&mut world, 1e-9).unwrap();
    let (kernel, support) = (world.discretisation.density, world.discretisation.support);
    for (i, &density) in world.particles.get(&DENSITY).iter().enumerate() {
        let near = |(j, &x): (usize, &Vec4)| {
            let r = (before[i] - x).length();
            if r < support { f64::from(volume[j] * kernel.w_at(r)) } else { 0.0 }
        };
        let exact = 1000.0 * before.iter().enumerate().map(near).sum::<f64>();
        let error = (f64::from(density) - exact).abs() / exact;
        assert!(error < 2e-5, "{i}: {density} for {exact}"); // some 600 terms, summed in f32
    }
}

fn bits(world: &World) -> Vec<u32> {
    let vectors = [&POSITION, &VELOCITY, &ACCELERATION].map(|key| world.particles.get(key));
    let vectors = vectors.into_iter().flatten().flat_map(|v| v.to_array()).map(f32::to_bits);
    vectors.chain(world.particles.get(&DENSITY).iter().map(|v| v.to_bits())).collect()
}

#[test]
fn a_run_repeats_its_own_bits_and_resumes_with_them() {
    let Some(first) = device() else { return };
    let (Some(second), Some(third)) = (device(), device()) else { return };
    let text = dam("", "");
    let (mut a, mut b) = (world(&text), world(&text));
    let mut gpu_a = GpuWorld::new(first, &a).unwrap();
    let mut gpu_b = GpuWorld::new(second, &b).unwrap();
    gpu_a.advance_to(&mut a, 0.02).unwrap();
    gpu_b.advance_to(&mut b, 0.02).unwrap();
    assert_eq!(bits(&a), bits(&b));
    // One goes on, the other is sent to a device anew.
    let mut gpu_b = GpuWorld::new(third, &b).unwrap();
    gpu_a.advance_to(&mut a, 0.03).unwrap();
    gpu_b.advance_to(&mut b, 0.03).unwrap();
    assert_eq!(bits(&a), bits(&b));
    assert_eq!((a.clock.steps, a.clock.bound), (b.clock.steps, b.clock.bound));
}

#[test]
fn adaptive_steps_are_the_cpus_and_frames_end_exactly() {
    let Some(device) = device() else { return };
    let text = dam("", "");
    let (mut cpu, mut on_gpu) = (world(&text), world(&text));
    let mut gpu = GpuWorld::new(device, &on_gpu).unwrap();
    for frame in 1..=3 {
        let end = f64::from(frame) / 60.0;
        cpu.advance_to(end).unwrap();
        gpu.advance_to(&mut on_gpu, end).unwrap();
        assert_eq!(on_gpu.clock.time, end);
        assert_eq!(cpu.clock.binding, on_gpu.clock.binding);
        // The fastest of a thousand shaken particles sets the step: it differs by percents after a while.
        let steps = (cpu.clock.steps as f64, on_gpu.clock.steps as f64);
        assert!((steps.0 - steps.1).abs() <= 1.0 + 0.02 * steps.0, "{steps:?}");
        assert_eq!(on_gpu.clock.bound.iter().sum::<u64>(), on_gpu.clock.steps);
        for (a, b) in cpu.clock.bound.iter().zip(on_gpu.clock.bound) {
            assert!(
                a.abs_diff(b) as f64 <= 2.0 + 0.05 * steps.0,
                "{:?} {:?}",
                cpu.clock.bound,
                on_gpu.clock.bound
            );
        }
    }
    assert!(on_gpu.clock.steps > 20);
    // To be there already is no step at all.
    let steps = on_gpu.clock.steps;
    gpu.advance_to(&mut on_gpu, 0.05).unwrap();
    assert_eq!(on_gpu.clock.steps, steps);
}

fn refusal(text: &str) -> String {
    let world = world(text);
    match device().map(|device| GpuWorld::new(device, &world)) {
        None => "leave it out, give it one number, or run on the CPU".to_owned(),
        Some(Err(error @ GpuError::Unsupported { .. })) => error.to_string(),
        Some(Err(error)) => panic!("another error: {error}"),
        Some(Ok(_)) => panic!("not refused"),
    }
}

#[test]
fn what_cannot_run_yet_is_refused_with_a_remedy() {
    let plain = dam("", "");
    let sink = format!("{plain}\n[[sink]]\nshape.box = {{ min = [0, 0, 0], max = [0.1, 0.1, 0.1] }}");
    assert!(refusal(&sink).contains("run on the CPU"));
    let jet = "[world]
        box = { min = [0, 0, 0], max = [0.5, 0.5, 0.2], open = ['+y'] }
        [sph]
        spacing = 0.02
        [time]
        until = 1
        [[body]]
        name = 'jet'
        material = 'water'
        behaviours.tait = {}
        emitter.jet = { at = [0.1, 0.4, 0.1], direction = [1, 0, 0], radius = 0.04, speed = 1, until = 1 }";
    assert!(refusal(jet).contains("run on the CPU"));
    let fading = plain.replace("surface_tension = 0.07", "surface_tension = 0.07\nweight = [[0, 1], [1, 0]]");
    assert!(refusal(&fading).contains("give it one number"));
}

#[test]
fn a_state_that_is_no_number_stops_the_run() {
    let Some(device) = device() else { return };
    let mut world = world(&dam("", ""));
    world.particles.get_mut(&VELOCITY)[17].x = f32::NAN;
    let mut gpu = GpuWorld::new(device, &world).unwrap();
    let error = gpu.advance_to(&mut world, 0.01).unwrap_err();
    assert!(matches!(error, GpuError::Step(StepError::NotFinite { step: 1, .. })), "{error}");
    assert_eq!(world.clock.steps, 1);
}

#[test]
fn a_step_that_is_too_small_stops_the_run() {
    let Some(device) = device() else { return };
    let mut world = world(&dam("", ""));
    // A hundred metres a second in one particle.
    world.particles.get_mut(&VELOCITY)[17].y = 100.0;
    world.clock.settings.minimum_step = 1e-4;
    let mut gpu = GpuWorld::new(device, &world).unwrap();
    let error = gpu.advance_to(&mut world, 0.01).unwrap_err();
    assert!(matches!(error, GpuError::Step(StepError::TooSmall { .. })), "{error}");
}

#[test]
fn a_changed_world_is_noticed() {
    let Some(device) = device() else { return };
    let mut world = world(&dam("", ""));
    let mut gpu = GpuWorld::new(device, &world).unwrap();
    let count = world.particles.len();
    world.particles.resize(count + 1);
    assert!(matches!(gpu.advance_to(&mut world, 0.01), Err(GpuError::Changed { .. })));
}
