//! Integrators where steps are uneven, forces depend on velocity and time, and particles meet.

use glam::Vec4;

use crate::columns::{ID, MASS, POSITION, VELOCITY};
use crate::scene;
use crate::world::World;

fn world(text: &str) -> World {
    let (scene, _) = scene::load("test", text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    World::new(&scene)
}

/// One particle at x = 1 m under a formula.
fn particle(formula: &str, integrator: &str, time: &str) -> World {
    world(&format!(
        "world.gravity = [0, 0, 0]\nsph.spacing = 10\ntime = {{ integrator = \"{integrator}\", until = 100, {time} }}\n\
         [[body]]\ndensity = 1\nshape.box = {{ min = [-4, -5, -5], max = [6, 5, 5] }}\n\
         [[force]]\nexpression = [\"{formula}\", \"0\", \"0\"]"
    ))
}

fn x(world: &World) -> f64 {
    f64::from(world.particles.get(&POSITION)[0].x)
}

/// How often the error is halved when steps are.
fn order(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log2()
}

#[test]
fn friction_and_forcing_keep_the_order() {
    // x'' = −x − x'/2 + cos 2t: a swing that decays, and one that stays.
    let exact = |t: f64| {
        // (1 − 4) A + B = 1, −A − 3 B = 0 for A cos 2t + B sin 2t.
        let (a, b) = (-0.3, 0.1);
        let (decay, rate) = (0.25, (1.0f64 - 0.0625).sqrt());
        let c = 1.0 - a;
        let d = (c * decay - 2.0 * b) / rate;
        (-decay * t).exp() * (c * (rate * t).cos() + d * (rate * t).sin())
            + a * (2.0 * t).cos()
            + b * (2.0 * t).sin()
    };
    let end = 4.0;
    let cases = [
        ("explicit-euler", 256, 1.0),
        ("symplectic-euler", 256, 1.0),
        // Friction sees the velocity in the middle of the step.
        ("velocity-verlet", 256, 1.0),
        ("verlet", 64, 2.0),
        ("rk4", 10, 4.0),
    ];
    for (integrator, steps, expected) in cases {
        let error = |steps: u32| {
            let time = format!("step = {}", end / f64::from(steps));
            let mut world = particle("-x - 0.5*vx + cos(2*t)", integrator, &time);
            world.advance_to(end).unwrap();
            (x(&world) - exact(end)).abs()
        };
        let measured = order(error(steps), error(2 * steps));
        assert!((measured - expected).abs() < 0.15 * expected, "{integrator}: {measured}");
    }
}

#[test]
fn verlet_is_of_second_order_in_uneven_steps() {
    let error = |h: f64| {
        let mut world = particle("-x", "verlet", "step = 1");
        while world.clock.time < 5.0 - 1e-9 {
            for part in [0.5, 2.0, 0.25, 1.25] {
                world.step(part * h).unwrap();
            }
        }
        (x(&world) - world.clock.time.cos()).abs()
    };
    let measured = order(error(5.0 / 64.0), error(5.0 / 128.0));
    assert!((measured - 2.0).abs() < 0.2, "{measured}");
}

#[test]
fn verlet_and_velocity_verlet_take_the_same_way() {
    let end = |integrator: &str| {
        let mut world = particle("-x*x*x", integrator, "step = 0.05");
        world.advance_to(10.0).unwrap();
        x(&world)
    };
    let (a, b) = (end("verlet"), end("velocity-verlet"));
    assert!((a - b).abs() < 1e-5, "{a} and {b}"); // rounding over 200 steps
}

#[test]
fn a_step_with_too_large_an_error_is_repeated() {
    // Ten radians at once are far too many.
    let mut world = particle("-x", "rk45", "tolerance = 1e-5, maximum_step = 10");
    world.step(10.0).unwrap();
    let taken = world.clock.time;
    assert!(taken > 0.1 && taken < 1.0, "{taken}");
    assert!((x(&world) - taken.cos()).abs() < 1e-5, "{} after {taken}", x(&world));
    // The next step is chosen by the error of this one.
    assert_eq!(world.clock.binding, crate::timestep::Limit::Tolerance);
    assert!(world.clock.step > 0.5 * taken && world.clock.step < 2.0 * taken);
}

#[test]
fn a_close_pass_is_resolved() {
    // A planet on an orbit of eccentricity 0.9 comes back to where it was.
    let text = "world.gravity = [0, 0, 0]\nsph.spacing = 1\ntime = { integrator = 'rk45', tolerance = 1e-6, until = 10, maximum_step = 10 }\n\
         [[body]]\ndensity = 1\nshape.box = { min = [0.5, -0.5, -0.5], max = [1.5, 0.5, 0.5] }\n\
         velocity = [0, 0.31622776, 0]\n\
         [[force]]\nattractor = { at = [0, 0, 0], acceleration = 10000, radius = 0.01, power = 2 }";
    // From the far end, 1 m away: v² = (1 − e)/r, a = 1/1.9 m, T = 2π a^(3/2).
    let mut world = world(text);
    let period = std::f64::consts::TAU * (1.0f64 / 1.9).powf(1.5);
    let mut steps = Vec::new();
    let mut before = 0.0;
    world
        .advance_with(period, |world| {
            steps.push(world.clock.time - before);
            before = world.clock.time;
        })
        .unwrap();
    let p = world.particles.get(&POSITION)[0];
    assert!((p - Vec4::X).length() < 3e-3, "{p}");
    let range = steps.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &h| (a.min(h), b.max(h)));
    assert!(range.1 > 10.0 * range.0, "{range:?}");
    assert!(steps.len() < 400, "{}", steps.len());
}

#[test]
fn a_step_below_the_shortest_stops_the_run() {
    let mut world = particle("-1e8*x", "rk45", "tolerance = 1e-9, minimum_step = 1e-3");
    let told = world.advance_to(1.0).unwrap_err().to_string();
    assert!(told.contains("limited by tolerance"), "{told}");
}

/// Two slabs of a gas that collide in a periodic box, and drift through its sides.
fn collision(integrator: &str, time: &str) -> World {
    let slab = |low: f64, high: f64, speed: f64| {
        format!(
            "[[body]]\ndensity = 1\nvelocity = [{speed}, 4]\n\
             shape.box = {{ min = [{low}, 0.3], max = [{high}, 0.7] }}\n\
             behaviours.gas = {{ stiffness = 16 }}\nbehaviours.viscosity = {{ dynamic_viscosity = 0.01 }}\n"
        )
    };
    world(&format!(
        "dimensions = 2\nworld = {{ gravity = [0, 0], box = {{ min = [0, 0], max = [1, 1], periodic = [\"x\", \"y\"] }} }}\n\
         sph = {{ spacing = 0.05, support = 2.5, kernel = \"wendland\" }}\n\
         time = {{ integrator = \"{integrator}\", until = 1, {time} }}\n{}{}",
        slab(0.2, 0.5, 3.0),
        slab(0.5, 0.8, -1.0)
    ))
}

fn rows(world: &World) -> Vec<(u32, Vec4, Vec4)> {
    let p = &world.particles;
    let mut rows: Vec<_> =
        (0..p.len()).map(|i| (p.get(&ID)[i], p.get(&POSITION)[i], p.get(&VELOCITY)[i])).collect();
    rows.sort_by_key(|row| row.0);
    rows
}

/// Largest distance between the same particles of two worlds, across the sides of the box.
fn apart(a: &World, b: &World) -> f32 {
    let way = |a: Vec4, b: Vec4| {
        let way = a - b;
        (way - way.round()).length()
    };
    rows(a).iter().zip(&rows(b)).map(|(a, b)| way(a.1, b.1)).fold(0.0, f32::max)
}

#[test]
fn particles_that_meet_go_the_same_way_with_every_integrator() {
    let end = 0.1;
    // Shorter steps would be less exact: each rounds the positions.
    let mut exact = collision("rk4", "step = 5e-4");
    exact.advance_to(end).unwrap();
    for (integrator, time, tolerance) in [
        ("explicit-euler", "step = 1e-4", 2e-3),
        ("symplectic-euler", "step = 1e-4", 2e-3),
        ("velocity-verlet", "step = 5e-4", 1e-3),
        ("verlet", "step = 5e-4", 5e-5),
        ("rk4", "step = 2e-3", 2e-4),
        ("rk45", "tolerance = 1e-6", 1e-4),
    ] {
        let mut world = collision(integrator, time);
        let start = momentum(&world);
        world.advance_to(end).unwrap();
        let off = apart(&world, &exact);
        println!("{integrator}: {off} after {} steps", world.clock.steps);
        assert!(off < tolerance, "{integrator}: {off}");
        let change = (momentum(&world) - start).length();
        assert!(change < 1e-5 * start.length(), "{integrator}: {change}");
    }
}

fn momentum(world: &World) -> Vec4 {
    let rows = world.particles.get(&MASS).iter().zip(world.particles.get(&VELOCITY));
    rows.map(|(&m, &v)| v * m).sum()
}

#[test]
fn walls_hold_with_every_integrator() {
    for integrator in ["explicit-euler", "verlet", "rk4", "rk45"] {
        let mut world = world(&format!(
            "dimensions = 2\nworld.box = {{ min = [0, 0], max = [1, 1] }}\nsph.spacing = 0.05\n\
             time = {{ integrator = \"{integrator}\", until = 1 }}\n\
             [[body]]\nname = \"dust\"\ndensity = 1\nvelocity = [2, 0]\nshape.box = {{ min = [0.4, 0.4], max = [0.6, 0.6] }}\n\
             behaviours.gravity = {{}}"
        ));
        world.advance_to(1.0).unwrap();
        for (_, x, v) in rows(&world) {
            assert!(x.x > 0.9 && x.x <= 1.0 && x.y >= 0.0 && x.y < 0.1, "{integrator}: {x}");
            assert!(v.length() < 0.3, "{integrator}: {v}");
        }
    }
}

#[test]
fn every_integrator_goes_on_bit_for_bit() {
    use crate::checkpoint::Checkpoint;
    for integrator in ["explicit-euler", "verlet", "rk4", "rk45"] {
        // Particles come, go, meet walls, and change their density on the way.
        let text = format!(
            "dimensions = 2\nworld.box = {{ min = [0, 0], max = [0.6, 0.5], open = [\"+y\"] }}\nsph.spacing = 0.025\n\
             time = {{ integrator = \"{integrator}\", until = 1 }}\n\
             [[body]]\nshape.box = {{ min = [0, 0], max = [0.6, 0.15] }}\nbehaviours.tait = {{}}\n\
             behaviours.viscosity.dynamic_viscosity = 1\n\
             [[body]]\ndensity = [[0, 1000], [0.3, 900]]\nbehaviours.tait = {{}}\n\
             emitter.jet = {{ at = [0.05, 0.35], direction = [1, 0], radius = 0.05, speed = 1.5 }}\n\
             [[sink]]\nshape.box = {{ min = [0.5, 0], max = [0.6, 0.05] }}"
        );
        let (scene, _) = scene::load("test", &text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
        let run = |threads: usize, stop: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut world = World::new(&scene);
                world.advance_to(0.1).unwrap();
                world.forget_neighbours();
                if stop {
                    let saved = Checkpoint::of(&scene, &world, 3);
                    world = World::new(&scene);
                    world.restore(saved).unwrap();
                }
                world.advance_to(0.15).unwrap();
                let bits =
                    |row: (u32, Vec4, Vec4)| (row.0, [row.1, row.2].map(|v| v.to_array().map(f32::to_bits)));
                (
                    rows(&world).into_iter().map(bits).collect::<Vec<_>>(),
                    world.clock.steps,
                    world.clock.step.to_bits(),
                )
            })
        };
        let whole = run(1, false);
        assert!(whole == run(1, true), "{integrator}: a resumed run differs");
        assert!(whole == run(2, false), "{integrator}: another number of threads differs");
    }
}
