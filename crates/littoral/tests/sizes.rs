//! Particles of several sizes in one fluid, and particles that change theirs.

use glam::DVec3;
use littoral::checkpoint::Checkpoint;
use littoral::columns::{BODY, ID, LEVEL, MASS, POSITION, SUPPORT, VELOCITY, VISCOUS_MEAN, VOLUME};
use littoral::frame::Frame;
use littoral::scene::{self, Scene};
use littoral::world::World;

fn load(text: &str) -> Scene {
    scene::load("sizes", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain())).0
}

/// Mass, first moment and momentum of everything, in f64.
fn sums(world: &World) -> (f64, DVec3, DVec3) {
    let p = &world.particles;
    let rows = p.get(&MASS).iter().zip(p.get(&POSITION)).zip(p.get(&VELOCITY));
    rows.fold((0.0, DVec3::ZERO, DVec3::ZERO), |(mass, moment, momentum), ((&m, x), v)| {
        let m = f64::from(m);
        (mass + m, moment + m * x.truncate().as_dvec3(), momentum + m * v.truncate().as_dvec3())
    })
}

/// Root mean square of the speed, m/s.
fn unrest(world: &World) -> f64 {
    let speeds = world.particles.get(&VELOCITY).iter().map(|v| f64::from(v.length_squared()));
    (speeds.sum::<f64>() / world.particles.len() as f64).sqrt()
}

#[test]
fn a_body_with_a_spacing_of_its_own_is_as_fine_as_it_says() {
    let text = r#"
        dimensions = 2
        sph = { spacing = 0.02, support = 2.5 }
        [[body]]
        material = "water"
        density = 1000
        shape.box = { min = [0, 0], max = [0.2, 0.2] }
        [[body]]
        material = "water"
        density = 1000
        spacing = 0.01
        shape.box = { min = [0.2, 0], max = [0.4, 0.2] }
        "#;
    let world = World::new(&load(text));
    let (body, support) = (world.particles.get(&BODY), world.particles.get(&SUPPORT));
    for (own, count, reach) in [(0, 100, 0.05), (1, 400, 0.025)] {
        let rows: Vec<usize> = (0..body.len()).filter(|&i| body[i] == own).collect();
        assert_eq!(rows.len(), count);
        assert!(rows.iter().all(|&i| (support[i] - reach).abs() < 1e-6)); // f32
    }
    assert!((sums(&world).0 - 80.0).abs() < 1e-3); // 1000 kg/m³ on 0.08 m², in f32
}

/// A drop that flies through a region where it is to be fine: no wall, no weight.
const FLIGHT: &str = r#"
    world.gravity = [0, 0, 0]
    sph.spacing = 0.02
    time = { until = 1, step = 0.002 }
    [[body]]
    name = "drop"
    material = "water"
    velocity = [1, 0.5, 0]
    shape.sphere = { centre = [0, 0, 0], radius = 0.08 }
    [[refine]]
    finest = 0.01
    shape.box = { min = [0.2, -1, -1], max = [0.4, 1, 1] }
    "#;

#[test]
fn halving_and_uniting_keep_mass_momentum_and_the_centre_of_mass() {
    let mut world = World::new(&load(FLIGHT));
    let (mass, moment, momentum) = sums(&world);
    let few = world.particles.len();
    let mut most = few;
    while world.clock.time < 0.9 {
        world.step(0.002).unwrap();
        most = most.max(world.particles.len());
    }
    let refinement = world.refinement.as_ref().unwrap();
    // Nearly all of it has been halved three times, and has become coarse again.
    assert!(most > 4 * few, "at most {most} of {few} particles");
    assert!(refinement.united > 2 * few as u64, "{} pairs were united", refinement.united);
    assert!(world.particles.len() < 2 * few, "{} particles of {few} are left", world.particles.len());
    let (mass_now, moment_now, momentum_now) = sums(&world);
    // Halves of a power of two: not a bit is lost, and two halves are what they were.
    assert_eq!(mass_now, mass);
    // f32 round-off of thousands of means, and of the pressure's sums over 450 steps.
    assert!(
        (momentum_now - momentum).length() < 1e-5 * momentum.length(),
        "{momentum} became {momentum_now}"
    );
    let way = (moment_now - moment) / mass - momentum / mass * world.clock.time;
    // A thousandth of a spacing: f32 round-off of 450 drifts, which is the same for all particles.
    assert!(way.length() < 1e-3 * 0.02, "the centre of mass is off by {way}");
    // Every size fits the volume.
    let p = &world.particles;
    for i in 0..p.len() {
        let size = p.get(&SUPPORT)[i] / (2.0 * 0.02);
        assert!((p.get(&VOLUME)[i] / 8e-6 - size.powi(3)).abs() < 1e-4, "level {}", p.get(&LEVEL)[i]);
    }
    let mut ids = p.get(&ID).to_vec();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), p.len());
}

/// The drop flies on as it always has, so the mean of its past is its velocity. Halves that began without a past, or pairs whose pasts
/// were added up, would have another one.
#[test]
fn halves_and_united_pairs_remember_what_they_were() {
    for reach in ["reach = 'window'", "reach = 'whole'"] {
        let memory = format!("behaviours.viscous-memory = {{ {reach} }}\n[[refine]]");
        let mut world = World::new(&load(&FLIGHT.replace("[[refine]]", &memory)));
        let few = world.particles.len();
        while world.clock.time < 0.6 {
            world.step(0.002).unwrap();
            let p = &world.particles;
            for (mean, velocity) in p.get(&VISCOUS_MEAN).iter().zip(p.get(&VELOCITY)) {
                // Pressure evens out the places of new halves, by some per cent of the speed.
                assert!((*mean - *velocity).length() < 0.1 * 1.12, "{reach}: {mean} for {velocity}");
            }
        }
        let united = world.refinement.as_ref().unwrap().united;
        assert!(united > few as u64 / 4, "{united} pairs were united");
    }
}

#[test]
fn threads_and_restarts_change_nothing() {
    let scene = load(FLIGHT);
    let frame = |world: &World| Frame::of(&scene, world, 1).columns;
    let run = |threads: usize, stop: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = World::new(&scene);
            world.advance_to(0.15).unwrap();
            world.forget_neighbours();
            if stop {
                let checkpoint = Checkpoint::of(&scene, &world, 1);
                world = World::new(&scene);
                world.restore(checkpoint).unwrap();
            }
            world.advance_to(0.25).unwrap();
            assert!(world.particles.get(&LEVEL).iter().any(|&level| level > 0));
            frame(&world)
        })
    };
    let once = run(1, false);
    assert!(once == run(3, false), "three threads made something else");
    assert!(once == run(2, true), "a restart made something else");
}

#[test]
fn still_water_with_a_fine_surface_stays_still() {
    let text = r#"
        dimensions = 2
        [world]
        box = { min = [0, 0], max = [0.8, 0.8], open = ["+y"] }
        slip = 1
        [sph]
        spacing = 0.02
        [time]
        until = 2
        [[body]]
        name = "water"
        density = 1000
        shape.box = { min = [0, 0], max = [0.8, 0.4] }
        [body.behaviours.incompressible]
        [body.behaviours.viscosity]
        dynamic_viscosity = 10
        [[refine]]
        near = "surface"
        finest = 0.01
        "#;
    let mut world = World::new(&load(text));
    let mass = sums(&world).0;
    world.advance_to(1.5).unwrap();
    let changes = |world: &World| world.refinement.as_ref().map_or(0, |one| one.halved + one.united);
    let early = changes(&world);
    world.advance_to(2.0).unwrap();
    let (late, count) = (changes(&world), world.particles.len() as u64);
    assert_eq!(sums(&world).0, mass);
    // Fine at the top, coarse at the foot.
    let rows = world.particles.get(&POSITION).iter().zip(world.particles.get(&LEVEL));
    let (top, foot): (Vec<_>, Vec<_>) = rows.partition(|(x, _)| x.y > 0.37);
    let share = |fine: usize, all: usize| fine as f64 / all as f64;
    let fine = top.iter().filter(|(_, level)| **level == 2).count();
    assert!(share(fine, top.len()) > 0.9, "{fine} of {} at the top are fine", top.len());
    let deep: Vec<_> = foot.iter().filter(|(x, _)| x.y < 0.15).collect();
    let coarse = deep.iter().filter(|(_, level)| **level == 0).count();
    assert!(share(coarse, deep.len()) > 0.9, "{coarse} of {} at the foot are coarse", deep.len());
    // Nothing flickers: in half a second, 75 looks, few change.
    assert!(late - early < count / 10, "{} changes among {count}", late - early);
    assert!(unrest(&world) < 0.02 * (2.0 * 9.81 * 0.4f64).sqrt(), "rms speed {}", unrest(&world));
    assert_eq!(world.caught, 0);
}
