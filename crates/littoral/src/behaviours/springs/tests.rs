use glam::{DVec3, Vec3, Vec4};

use crate::checkpoint::Checkpoint;
use crate::columns::{MASS, POSITION, TORN, VELOCITY};
use crate::scene::{self, Scene};
use crate::solve::fractional::Of;
use crate::timestep::Limit;
use crate::world::World;

fn scene(text: &str) -> Scene {
    let (scene, _) =
        scene::load("springs", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    scene
}

/// A piece of cloth, crumpled by its own velocities, in weightlessness.
fn thrown(method: &str, step: f64) -> World {
    let text = format!(
        r#"
        world.gravity = [0, 0, 0]
        sph.spacing = 0.05
        time = {{ until = 1, step = {step} }}
        [[body]]
        density = 300
        thickness = 0.001
        shape.sheet = {{ corner = [0.3, 0.2, 0], along = [0.5, 0, 0], across = [0, 0.4, 0] }}
        [body.behaviours.springs]
        stretch_stiffness = 100
        shear_stiffness = 30
        bend_stiffness = 1e-4
        error = 1e-4
        method = "{method}"
        "#
    );
    let mut world = World::new(&scene(&text));
    world.particles.update(&VELOCITY, |velocity, particles| {
        for (velocity, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
            let spin = Vec3::new(0.3, 1.0, 2.0).cross(x.truncate());
            let wave = Vec3::new((9.0 * x.y).sin(), (7.0 * x.x).cos(), (11.0 * (x.x + x.y)).sin());
            *velocity = (Vec3::new(0.5, 0.2, -0.1) + spin + 0.5 * wave).extend(0.0);
        }
    });
    world
}

/// Momentum and angular momentum, f64.
fn momenta(world: &World) -> (DVec3, DVec3) {
    let (x, v) = (world.particles.get(&POSITION), world.particles.get(&VELOCITY));
    let rows = x.iter().zip(v).zip(world.particles.get(&MASS));
    rows.fold((DVec3::ZERO, DVec3::ZERO), |(p, l), ((x, v), m)| {
        let push = v.truncate().as_dvec3() * f64::from(*m);
        (p + push, l + x.truncate().as_dvec3().cross(push))
    })
}

#[test]
fn momentum_is_kept_and_angular_momentum_nearly() {
    // What the angular momentum may lose in 0.2 s, as a part of it: explicit forces lie on the lines between nodes and
    // keep it; backward Euler damps turning at the rate ω²Δt/2 where it stretches the cloth; the isotropic
    // approximations take it for a motion that springs resist.
    for (method, loss) in [("explicit", 1e-5), ("undamped", 2e-2), ("implicit", 5e-2), ("filter", 1.0)] {
        let mut world = thrown(method, 5e-4);
        let (p, l) = momenta(&world);
        world.advance_to(0.2).unwrap();
        let (q, k) = momenta(&world);
        assert!((q - p).length() < 2e-5 * p.length(), "{method}: momentum {p} became {q}");
        assert!((k - l).length() < loss * l.length(), "{method}: angular momentum {l} became {k}");
    }
}

/// A weight on a spring with a memory, pulled and let go, against the same equation of one number, its convolution summed
/// over the whole past in f64: m x'' = −k x − k_d D^½ x.
#[test]
fn a_spring_remembers_as_its_convolution_says() {
    let (stiffness, memory, until) = (40.0, 0.15, 0.5);
    // A rope of two nodes 0.1 m apart and 0.01 m thick, pinned at one: the spring has k = Y × thickness/length.
    let scene = |method: &str, step: f64| {
        scene(&format!(
            r#"
            world.gravity = [0, 0, 0]
            sph.spacing = 0.1
            time = {{ until = 1, step = {step} }}
            [[body]]
            density = 1000
            thickness = 0.01
            shape.line = {{ from = [0, 0, 0], to = [0.1, 0, 0] }}
            [body.behaviours.springs]
            stretch_stiffness = {stiffness}
            shear_stiffness = 0
            memory = {memory}
            reach = "whole"
            horizon = 5
            error = 1e-6
            method = "{method}"
            [[pin]]
            nearest = [[0, 0, 0]]
            "#
        ))
    };
    let far_end = |world: &World| {
        let x = world.particles.get(&POSITION);
        (0..x.len()).max_by(|&a, &b| x[a].x.total_cmp(&x[b].x)).expect("two nodes")
    };
    let speed = 0.2f64;
    let run = |method: &str, step: f64| {
        let mut world = World::new(&scene(method, step));
        assert_eq!(world.particles.len(), 2);
        let end = far_end(&world);
        world.particles.get_mut(&VELOCITY)[end].x = speed as f32;
        world.advance_to(until).unwrap();
        let end = far_end(&world);
        f64::from(world.particles.get(&POSITION)[end].x) - 0.1
    };
    let mass = {
        let world = World::new(&scene("implicit", 1e-3));
        f64::from(world.particles.get(&MASS)[far_end(&world)])
    };
    // The trapezoidal rule throughout, which is of second order: D = known + γ v.
    let k = stiffness * 0.01 / 0.1;
    let exact = {
        let count = 2000;
        let h = until / f64::from(count);
        let (mut x, mut rates, mut force) = (0.0, vec![speed], 0.0);
        for n in 1..=count as usize {
            let weights = crate::solve::fractional::window(
                0.5,
                crate::solve::fractional::Rule::Trapezoid,
                Of::Rates,
                &vec![h; n],
            );
            let known: f64 = weights[1..].iter().zip(rates.iter().rev()).map(|(w, v)| w * v).sum();
            // m (v' − v) = ½ h (f + f'), f' = −k (x + ½ h (v + v')) − k_d (known + γ v').
            let v = rates[n - 1];
            let still = -k * (x + 0.5 * h * v) - memory * k * known;
            let matrix = mass + 0.5 * h * (0.5 * h * k + memory * k * weights[0]);
            let new = (mass * v + 0.5 * h * (force + still)) / matrix;
            x += 0.5 * h * (v + new);
            force = -k * x - memory * k * (known + weights[0] * new);
            rates.push(new);
        }
        x
    };
    // By then it has all but come to rest. Backward Euler is of the first order in the step.
    let errors = [2e-3, 1e-3, 5e-4].map(|step| (run("implicit", step) - exact).abs() / exact.abs());
    assert!(errors[2] < 0.2 && errors[1] / errors[2] > 1.7 && errors[0] / errors[1] > 1.7, "{errors:?}");
    let undamped = (run("undamped", 1e-3) - exact).abs() / exact.abs();
    assert!(undamped < 0.05, "{undamped} of {exact}");
}

/// Whatever springs remember, they pull both ends alike.
#[test]
fn springs_with_a_memory_keep_momentum() {
    for memory in ["reach = \"coimbra\"", "reach = \"whole\""] {
        let scene = scene(&format!(
            r#"
            world.gravity = [0, 0, 0]
            sph.spacing = 0.05
            time = {{ until = 1, step = 2e-3 }}
            [[body]]
            density = 300
            thickness = 0.001
            velocity = [1, 0.3, 0.2]
            shape.sheet = {{ corner = [0.3, 0.2, 0], along = [0.5, 0, 0], across = [0, 0.4, 0] }}
            [body.behaviours.springs]
            memory = 0.05
            {memory}
            "#
        ));
        let mut world = World::new(&scene);
        world.particles.get_mut(&VELOCITY)[0] += Vec4::new(0.0, 3.0, 3.0, 0.0);
        let (p, _) = momenta(&world);
        world.advance_to(0.2).unwrap();
        let (q, _) = momenta(&world);
        assert!((q - p).length() < 2e-5 * p.length(), "{memory}: momentum {p} became {q}");
    }
}

/// With short steps, all methods follow the same motion.
#[test]
fn methods_agree_on_short_steps() {
    let after = |method: &str| {
        let mut world = thrown(method, 2e-5);
        world.advance_to(0.02).unwrap();
        let rows = world.structure.nodes.rows().to_vec();
        rows.iter().map(|&row| world.particles.get(&POSITION)[row as usize]).collect::<Vec<_>>()
    };
    let explicit = after("explicit");
    let start = thrown("explicit", 2e-5);
    let way = start.particles.get(&POSITION)[0].distance(explicit[0]);
    // The approximations resist turning: at this step, by some per cent.
    for (method, part) in [("implicit", 0.02), ("undamped", 0.02), ("filter", 0.1), ("neighbours", 0.1)] {
        let worst = after(method).iter().zip(&explicit).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(worst < part * way, "{method}: {worst} m apart after {way} m");
    }
}

/// Cloth that hangs from two corners and tears.
fn tearing() -> Scene {
    scene(
        r#"
        sph.spacing = 0.05
        time = { until = 1, maximum_step = 2e-3 }
        [[body]]
        density = 300
        thickness = 0.001
        shape.sheet = { corner = [0, 0, 0], along = [0.6, 0, 0], across = [0, 0, 0.6] }
        [body.behaviours.springs]
        stretch_stiffness = 30
        shear_stiffness = 5
        tear_strain = 0.15
        [[pin]]
        nearest = [[0, 0, 0], [0.6, 0, 0]]
        "#,
    )
}

fn bits(world: &World) -> Vec<[u32; 4]> {
    world.particles.get(&POSITION).iter().map(|p| p.to_array().map(f32::to_bits)).collect()
}

#[test]
fn cuts_survive_a_checkpoint_and_go_on_with_the_same_bits() {
    let scene = tearing();
    let mut world = World::new(&scene);
    world.advance_to(0.4).unwrap();
    let cuts: Vec<_> = world.structure.nets[0].cuts().collect();
    let triangles = world.structure.sheets[0].triangles.clone();
    assert!(!cuts.is_empty() && triangles.len() < 2 * 12 * 12, "nothing has torn");
    assert!(world.particles.get(&TORN).iter().any(|torn| *torn != 0));
    world.forget_neighbours();
    let checkpoint = Checkpoint::of(&scene, &world, 0);
    let mut other = World::new(&scene);
    other.restore(checkpoint).unwrap();
    assert_eq!(other.structure.nets[0].cuts().collect::<Vec<_>>(), cuts);
    assert_eq!(other.structure.sheets[0].triangles, triangles);
    for world in [&mut world, &mut other] {
        world.advance_to(0.6).unwrap();
    }
    assert_eq!(bits(&world), bits(&other));
}

/// What has torn is not kept together by a limit to stretch either, before and after a checkpoint.
#[test]
fn a_tear_lets_go_of_the_limits_edges() {
    let scene = scene(
        r#"
        sph.spacing = 0.05
        time = { until = 1, maximum_step = 2e-3 }
        [[body]]
        density = 300
        thickness = 0.001
        shape.sheet = { corner = [0, 0, 0], along = [0.6, 0, 0], across = [0, 0, 0.6] }
        [body.behaviours.springs]
        stretch_stiffness = 30
        shear_stiffness = 5
        tear_strain = 0.15
        [body.behaviours.stretch-limit]
        limit = 0.2
        [[pin]]
        nearest = [[0, 0, 0], [0.6, 0, 0]]
        "#,
    );
    let mut world = World::new(&scene);
    let edges = world.structure.limited[0].web.edges.len();
    world.advance_to(0.4).unwrap();
    world.forget_neighbours();
    let mut other = World::new(&scene);
    other.restore(Checkpoint::of(&scene, &world, 0)).unwrap();
    for world in [&mut world, &mut other] {
        world.advance_to(0.6).unwrap();
        let (net, web) = (&world.structure.nets[0], &world.structure.limited[0].web);
        let cuts: Vec<[u32; 2]> = net.cuts().collect();
        assert!(!cuts.is_empty() && web.edges.len() < edges, "nothing has torn");
        assert!(!web.edges.iter().any(|edge| cuts.contains(&edge.ends)));
        // The tear gapes wider than the limit would let it.
        let x = world.particles.get(&POSITION);
        let place = |node: u32| x[world.structure.nodes.row(node).expect("it is there")];
        let widest = cuts.iter().map(|ends| place(ends[0]).distance(place(ends[1]))).fold(0.0, f32::max);
        assert!(widest > 0.15, "{widest} m apart");
    }
    assert_eq!(bits(&world), bits(&other));
}

#[test]
fn threads_do_not_change_bits() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let mut world = World::new(&tearing());
            world.advance_to(0.3).unwrap();
            bits(&world)
        })
    };
    let mut world = World::new(&tearing());
    world.advance_alone(0.3, |_| {}).unwrap();
    assert_eq!(on(1), on(3));
    assert_eq!(on(3), bits(&world));
}

/// Explicit springs at their own limit neither blow up nor hang through.
#[test]
fn explicit_springs_are_stable_at_their_limit() {
    let scene = scene(
        r#"
        sph.spacing = 0.05
        time = { until = 1 }
        [[body]]
        density = 300
        thickness = 0.001
        shape.sheet = { corner = [0, 0, 0], along = [0.4, 0, 0], across = [0, 0, 0.4] }
        [body.behaviours.springs]
        method = "explicit"
        stretch_damping = 1e-4
        [[pin]]
        nearest = [[0, 0, 0], [0.4, 0, 0]]
        "#,
    );
    let mut world = World::new(&scene);
    world.advance_to(0.05).unwrap();
    assert_eq!(world.clock.binding, Limit::Stiffness);
    world.advance_to(0.8).unwrap();
    let lowest = world.particles.get(&POSITION).iter().map(|p| p.y).fold(0.0, f32::min);
    // It swings, from corners at a height of 0.
    assert!((-0.75..-0.05).contains(&lowest), "{lowest}");
}

/// A ball of jelly, pressed flat along y by 1 % everywhere, pushes back as Hooke's law says: the stress of a bar with
/// free sides is E ε.
#[test]
fn a_filled_bar_has_its_young_modulus() {
    let scene = scene(
        r#"
        world.gravity = [0, 0, 0]
        sph.spacing = 0.05
        time = { until = 3, maximum_step = 5e-3 }
        [[body]]
        density = 1000
        shape.box = { min = [0, 0, 0], max = [0.4, 1, 0.4] }
        [body.behaviours.springs]
        young_modulus = 1e4
        [body.behaviours.drag]
        relaxation_time = 0.1
        [[pin]]
        shape.box = { min = [-1, -1, -1], max = [2, 0.05, 2] }
        [[pin]]
        shape.box = { min = [-1, 0.95, -1], max = [2, 2, 2] }
        motion.position = [[0, [0, 0, 0]], [0.5, [0, 0.0475, 0]]]
        "#,
    );
    let mut world = World::new(&scene);
    world.advance_to(3.0).unwrap();
    // 19 gaps of 0.05 m pulled by 5 %: the force through the middle, from its springs.
    let net = &mut world.structure.nets[0];
    let place: Vec<Vec4> = net.scratch.place.clone();
    let mut force = 0.0;
    for spring in &net.springs {
        let [a, b] = spring.ends.map(|end| place[end as usize]);
        if (a.y < 0.525) != (b.y < 0.525) {
            let stretch = a.distance(b) - spring.rest;
            force += spring.share * 1e4 * stretch * ((a.y - b.y).abs() / a.distance(b));
        }
    }
    let expected = 1e4 * 0.05 * 0.4 * 0.4;
    // Springs in the surface carry all of their force, though half of their cell is missing: 8 nodes across make
    // about a tenth; clamped ends add a little.
    assert!((0.85..1.1).contains(&(force / expected)), "{force} N instead of {expected}");
}
