//! Particles that come and go while a run goes on: how much, where, how fast, and never on top of each other.

use littoral::checkpoint::Checkpoint;
use littoral::columns::{BODY, ID, MASS, POSITION, VELOCITY, VOLUME};
use littoral::scene::{self, Scene};
use littoral::world::World;

/// A scene of one emitter in free space, without weight.
fn scene_of(emitter: &str, more: &str) -> Scene {
    let text = format!(
        "[world]\ngravity = [0, 0, 0]\n[sph]\nspacing = 0.02\n[time]\nuntil = 1\n\
         [[body]]\nname = \"water\"\ndensity = 1000\n{emitter}\n{more}"
    );
    load(&text)
}

fn load(text: &str) -> Scene {
    match scene::load("sources", text, &[]) {
        Ok((scene, _)) => scene,
        Err(problems) => panic!("{}", problems.plain()),
    }
}

/// Runs in steps of uneven length.
fn run(world: &mut World, until: f64) {
    let mut k = 0;
    while world.clock.time < until - 1e-12 {
        let dt: f64 = [1e-3, 3.7e-3, 0.4e-3, 2.2e-3, 5e-3][k % 5];
        world.step(dt.min(until - world.clock.time)).unwrap();
        k += 1;
    }
}

fn volume(world: &World) -> f64 {
    world.particles.get(&VOLUME).iter().map(|&v| f64::from(v)).sum()
}

/// The closest that any two particles are, in spacings.
fn closest(world: &World) -> f32 {
    let x = world.particles.get(&POSITION);
    let pairs = (0..x.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs.map(|(i, j)| x[i].distance(x[j])).fold(f32::INFINITY, f32::min) / world.discretisation.spacing
}

#[test]
fn a_jet_emits_speed_times_area_times_time() {
    // Area, and the volume of a layer of the nozzle.
    let disc = std::f64::consts::PI * 0.05f64.powi(2);
    let cases = [
        ("radius = 0.05, speed = 2", disc, 2.0 * 0.6),
        ("radius = 0.05, speed = 2, profile = \"parabolic\"", disc, 2.0 * 0.6),
        ("width = 0.1, height = 0.06, speed = 2", 0.006, 2.0 * 0.6),
        ("width = 0.1, height = 0.06, speed = 2, profile = \"parabolic\"", 0.006, 2.0 * 0.6),
        ("radius = 0.05, speed = 2, from = 0.1, until = 0.35", disc, 2.0 * 0.25),
        // Opened, held, and shut again.
        ("radius = 0.05, speed = [[0, 1], [0.3, 2], [0.5, 2], [0.6, 0]]", disc, 0.45 + 0.4 + 0.1),
    ];
    for (opening, area, way) in cases {
        let scene =
            scene_of(&format!("emitter.jet = {{ at = [0, 0, 0], direction = [1, 2, 0], {opening} }}"), "");
        let mut world = World::new(&scene);
        run(&mut world, 0.6);
        let (found, exact) = (volume(&world), area * way);
        // Half a layer, as a whole one leaves or does not.
        assert!((found - exact).abs() <= 0.51 * area * 0.02 + 1e-9, "{opening}: {found} of {exact}");
        let ledger = &world.emitters[0].ledger;
        assert_eq!(ledger.count, world.particles.len() as u64);
        assert!((ledger.volume - found).abs() < 1e-6 * found);
        let mass: f64 = world.particles.get(&MASS).iter().map(|&m| f64::from(m)).sum();
        assert!((mass / found - 1000.0).abs() < 1e-2);
        // Dust of a jet that gets faster catches up with itself.
        assert!(opening.contains("[[") || closest(&world) > 0.89, "{opening}: {} spacings", closest(&world));
    }
}

#[test]
fn layers_are_evenly_spaced_whatever_the_step() {
    let scene =
        scene_of("emitter.jet = { at = [0, 0, 0], direction = [1, 0, 0], radius = 0.01, speed = 1.3 }", "");
    let mut world = World::new(&scene);
    run(&mut world, 0.5);
    let mut x: Vec<f32> = world.particles.get(&POSITION).iter().map(|p| p.x).collect();
    x.sort_by(f32::total_cmp);
    for pair in x.windows(2) {
        assert!((pair[1] - pair[0] - 0.02).abs() < 1e-5, "{pair:?}");
    }
}

#[test]
fn developed_flow_is_fastest_in_the_middle() {
    let scene = scene_of(
        "emitter.jet = { at = [0, 0, 0], direction = [1, 0, 0], radius = 0.1, speed = 1, profile = \"parabolic\" }",
        "",
    );
    let mut world = World::new(&scene);
    run(&mut world, 0.3);
    for (x, v) in world.particles.get(&POSITION).iter().zip(world.particles.get(&VELOCITY)) {
        let r2 = x.y * x.y + x.z * x.z;
        assert!((v.x - 2.0 * (1.0 - r2 / 0.01)).abs() < 0.05, "{} at r = {}", v.x, r2.sqrt());
    }
}

#[test]
fn a_nozzle_that_moves_carries_its_jet_along() {
    let at = "at = { keys = [[0, [0, 0, 0]], [1, [0, 0, 2]]], ease = \"linear\" }";
    let scene =
        scene_of(&format!("emitter.jet = {{ {at}, direction = [1, 0, 0], radius = 0.01, speed = 1 }}"), "");
    let mut world = World::new(&scene);
    run(&mut world, 0.5);
    assert!(world.particles.len() > 20);
    for (x, v) in world.particles.get(&POSITION).iter().zip(world.particles.get(&VELOCITY)) {
        assert!((v.truncate() - glam::Vec3::new(1.0, 0.0, 2.0)).length() < 1e-4);
        // Left at t, they all are where the nozzle is now: in free flight.
        assert!((x.z - 1.0).abs() < 0.02, "{x}");
    }
}

/// Under velocity Verlet the first half kick is part of the motion: a thrown stone is exact.
#[test]
fn newborns_fall_from_their_first_moment_on() {
    for integrator in ["symplectic-euler", "velocity-verlet"] {
        let text = format!(
            "[sph]\nspacing = 0.02\n[time]\nuntil = 1\nintegrator = \"{integrator}\"\n[[body]]\nname = \"water\"\n\
             density = 1000\nemitter.jet = {{ at = [0, 0, 0], direction = [1, 0, 0], radius = 0.01, speed = 1 }}"
        );
        let mut world = World::new(&load(&text));
        (0..400).for_each(|_| world.step(1e-3).unwrap());
        for (x, v) in world.particles.get(&POSITION).iter().zip(world.particles.get(&VELOCITY)) {
            // Age from how far it has come. It is born up to a step late.
            let late = (-v.y / 9.81 - x.x).abs();
            assert!(late < 1.1e-3, "{integrator}: {late} s");
            if integrator == "velocity-verlet" {
                let age = -v.y / 9.81;
                assert!((x.y + 0.5 * 9.81 * age * age).abs() < 1e-5, "{} after {age} s", x.y);
            }
        }
    }
}

#[test]
fn nobody_is_born_on_top_of_somebody_else() {
    // Something sits before one half of the nozzle.
    let obstacle = "[[body]]\nname = \"cork\"\ndensity = 1000\nshape.box = { min = [0, 0, -0.1], max = [0.1, 0.1, 0.1] }\n\
                    behaviours.gravity.weight = 0";
    let scene = scene_of(
        "emitter.jet = { at = [0.005, 0, 0], direction = [1, 0, 0], radius = 0.06, speed = 1 }",
        obstacle,
    );
    let mut world = World::new(&scene);
    assert!(world.particles.get(&BODY).iter().all(|&body| body == 1));
    run(&mut world, 0.2);
    let born = world.particles.get(&BODY).iter().filter(|&&body| body == 0).count();
    let whole = std::f64::consts::PI * 0.06f64.powi(2) * 0.2 / 0.02f64.powi(3);
    assert!((born as f64) < 0.7 * whole && born as f64 > 0.35 * whole, "{born} of {whole}");
    assert!(closest(&world) > 0.89, "{} spacings", closest(&world));
}

#[test]
fn rain_falls_at_its_rate_from_its_region() {
    for (drop, count) in [("", 1), ("diameter = 0.06,", 8)] {
        let rain = format!(
            "emitter.rain = {{ at = [0, 1, 0], width = 1, height = 0.5, {drop} rate = \"40 mm/s\", speed = 3 }}"
        );
        let scene = scene_of(&rain, "");
        let mut world = World::new(&scene);
        run(&mut world, 0.5);
        let (found, exact) = (volume(&world), 0.04 * 0.5 * 0.5);
        assert!((found - exact).abs() <= 0.51 * f64::from(count) * 8e-6 + 1e-9, "{found} of {exact}");
        assert_eq!(world.particles.len() % count as usize, 0);
        assert!(closest(&world) > 0.89);
        let x = world.particles.get(&POSITION);
        assert!(x.iter().all(|x| x.x.abs() < 0.54 && x.z.abs() < 0.29 && x.y < 1.03 && x.y > -0.53));
        let mean = x.iter().map(|x| x.x).sum::<f32>() / x.len() as f32;
        // Uniform on [−½, ½]: 0.29/√n, three times over.
        assert!(mean.abs() < 0.87 / (x.len() as f32 / count as f32).sqrt(), "{mean}");
    }
}

#[test]
fn a_shape_is_filled_to_its_level_and_no_further() {
    let fill = "emitter.fill = { shape.box = { min = [0, 0, 0], max = [0.2, 0.3, 0.1] }, rate = \"10 l/s\", level = 0.2 }";
    let scene = scene_of(fill, "");
    let mut world = World::new(&scene);
    run(&mut world, 0.2);
    // Half a particle.
    assert!((volume(&world) - 0.002).abs() < 0.51 * 8e-6, "{}", volume(&world));
    assert!(world.particles.get(&POSITION).iter().all(|x| x.y < 0.11), "from the bottom up");
    run(&mut world, 1.0);
    assert!((volume(&world) - 0.004).abs() < 1e-8, "{}", volume(&world));
    assert!(world.particles.get(&POSITION).iter().all(|x| x.y < 0.2));
    assert!(closest(&world) > 0.99);
}

/// The same in a tank, with weight and pressure: what is there already makes place, and the level is right.
#[test]
fn a_tank_is_filled_with_water_at_rest() {
    let text = "dimensions = 2\n[world]\nbox = { min = [0, 0], max = [0.4, 0.6], open = [\"+y\"] }\n[sph]\nspacing = 0.02\n\
                [time]\nuntil = 2\n[[body]]\nname = \"water\"\nmaterial = \"water\"\nbehaviours.tait = {}\n\
                behaviours.artificial-viscosity.dynamic_viscosity = 2\n\
                emitter.fill = { shape.box = { min = [0, 0], max = [0.4, 0.5] }, rate = 0.2, level = 0.3 }";
    let mut world = World::new(&load(text));
    world.advance_to(1.5).unwrap();
    assert!((volume(&world) - 0.12).abs() < 1e-6, "{}", volume(&world));
    let speed = world.particles.get(&VELOCITY).iter().map(|v| v.length()).fold(0.0, f32::max);
    let top = world.particles.get(&POSITION).iter().map(|x| x.y).fold(0.0, f32::max);
    assert!(speed < 0.3, "{speed} m/s");
    assert!((top - 0.29).abs() < 0.03, "{top} m");
}

#[test]
fn a_surface_lets_particles_out_along_its_normal() {
    let ball =
        "emitter.surface = { shape.sphere = { centre = [0, 0, 0], radius = 0.1 }, speed = 1, rate = 0.2 }";
    let mut world = World::new(&scene_of(ball, ""));
    run(&mut world, 0.3);
    let exact = 4.0 * std::f64::consts::PI * 0.01 * 0.2 * 0.3;
    assert!((volume(&world) / exact - 1.0).abs() < 0.06, "{} of {exact}", volume(&world));
    for (x, v) in world.particles.get(&POSITION).iter().zip(world.particles.get(&VELOCITY)) {
        assert!((v.length() - 1.0).abs() < 1e-4 && v.normalize().dot(x.normalize()) > 0.98);
        assert!(x.length() > 0.0999);
    }
    assert!(closest(&world) > 0.7);

    let head = "emitter.surface = { shape.box = { min = [0, 0.5, 0], max = [0.2, 0.54, 0.2] }, facing = [0, -1, 0], \
                speed = 1, rate = 0.5, motion = { keys = [[0, [0, 0, 0]], [1, [1, 0, 0]]], ease = \"linear\" } }";
    let mut world = World::new(&scene_of(head, ""));
    run(&mut world, 0.2);
    assert!((volume(&world) / (0.04 * 0.5 * 0.2) - 1.0).abs() < 0.06, "{}", volume(&world));
    assert!(world.particles.get(&VELOCITY).iter().all(|v| (v.x - 1.0).abs() < 0.2 && v.y < -0.95));
}

#[test]
fn a_full_body_waits_until_a_sink_makes_room() {
    let more = "maximum = 300\n[[sink]]\nfrom = 0.31\nuntil = 0.6\nshape.box = { min = [0.2, -1, -1], max = [9, 1, 1] }";
    let scene =
        scene_of("emitter.jet = { at = [0, 0, 0], direction = [1, 0, 0], radius = 0.05, speed = 1 }", more);
    let mut world = World::new(&scene);
    let mut most = 0;
    for k in 1..=10 {
        run(&mut world, 0.1 * f64::from(k));
        most = most.max(world.particles.len());
        if k == 3 {
            assert_eq!(world.particles.len(), 300);
            assert_eq!(world.drained, 0, "the sink is not at work yet");
        }
    }
    assert_eq!(most, 300);
    let (drain, ledger) = (&world.sinks[0], &world.emitters[0].ledger);
    assert!(drain.count > 50 && drain.count == world.drained);
    assert_eq!(ledger.count, world.particles.len() as u64 + drain.count);
    assert!((ledger.volume - drain.volume - volume(&world)).abs() < 1e-7);
    let mut ids = world.particles.get(&ID).to_vec();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), world.particles.len());
}

/// Every kind of source and several fields, stopped half way and gone on with.
#[test]
fn sources_and_forces_go_on_from_a_checkpoint_bit_for_bit() {
    let text = "dimensions = 2\nseed = 5\n[world]\nbox = { min = [0, 0], max = [1, 1], open = [\"+y\"] }\n[sph]\nspacing = 0.02\n\
        [time]\nuntil = 1\n\
        [[body]]\nname = \"jet\"\nmaterial = \"water\"\nmaximum = 150\nbehaviours.artificial-viscosity.dynamic_viscosity = 1\n\
        emitter.jet = { at = [[0, [0.1, 0.5]], [1, [0.1, 0.8]]], direction = [1, 0.2], width = 0.1, \
        speed = [[0, 0.5], [0.3, 1.5]], profile = \"parabolic\" }\n\
        [[body]]\nname = \"rain\"\nmaterial = \"water\"\nemitter.rain = { at = [0.5, 0.95], width = 0.8, rate = 0.1, diameter = 0.05 }\n\
        [[body]]\nname = \"pool\"\nmaterial = \"water\"\nemitter.fill = { shape.box = { min = [0, 0], max = [1, 0.1] }, rate = 0.3 }\n\
        [[body]]\nname = \"ball\"\nmaterial = \"water\"\nemitter.surface = { shape.sphere = { centre = [0.7, 0.6], radius = 0.1 }, \
        speed = 0.5, rate = 0.1 }\n\
        [[sink]]\nshape.box = { min = [0.9, 0], max = [1, 0.05] }\n\
        [[force]]\nvortex = { at = [0.5, 0.3], speed = 1, radius = 0.1, relaxation_time = 0.1 }\n\
        [[force]]\nfrom = 0.15\non = [\"rain\"]\nwind = { velocity = [-1, 0], relaxation_time = 0.2 }\n\
        [[force]]\nexplosion = { at = [0.5, 0.1], time = 0.2, duration = 0.05, radius = 0.5, speed = 1 }";
    let scene = load(text);
    let frames = |world: &mut World, from: u64, to: u64| {
        for frame in from..=to {
            world.advance_to(frame as f64 * 0.04).unwrap();
            world.forget_neighbours();
        }
    };
    let mut whole = World::new(&scene);
    frames(&mut whole, 1, 4);
    let half = Checkpoint::of(&scene, &whole, 4);
    let text = serde_json::to_string(&half.state).unwrap();
    let mut other = World::new(&scene);
    let state = serde_json::from_str(&text).unwrap();
    other.restore(Checkpoint { state, columns: half.columns }).unwrap();
    frames(&mut whole, 5, 8);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| frames(&mut other, 5, 8));
    let (a, b) = (Checkpoint::of(&scene, &whole, 8), Checkpoint::of(&scene, &other, 8));
    assert_eq!(a.state, b.state);
    assert!(a.columns == b.columns, "columns differ");
    for (emitter, body) in whole.emitters.iter().zip(&whole.bodies) {
        assert!(emitter.ledger.count > 20, "{} takes part: {}", body.name, emitter.ledger.count);
    }
}
