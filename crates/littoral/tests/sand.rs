//! Sand that slides, bears a ball, stands, and does so on any number of threads.

use littoral::columns::{POSITION, VELOCITY};
use littoral::scene;
use littoral::world::World;

fn world(text: &str) -> World {
    let loaded = scene::load("sand", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    World::new(&loaded.0)
}

fn mean_x(world: &World) -> f64 {
    let places = world.particles.get(&POSITION);
    places.iter().map(|p| f64::from(p.x)).sum::<f64>() / places.len() as f64
}

fn top(world: &World) -> f32 {
    world.particles.get(&POSITION).iter().map(|p| p.y).fold(0.0, f32::max)
}

/// A block that holds together slides v²/(2 μ_w g) far.
#[test]
fn a_block_slides_as_far_as_coulomb_lets_it() {
    for wall_friction in [0.2, 0.4] {
        let text = format!(
            r#"
            dimensions = 2
            world.box = {{ min = [-0.1, 0], max = [1, 0.3], open = ["+y"] }}
            sph.spacing = 0.01
            time.until = 2
            [[body]]
            name = "block"
            material = "sand"
            velocity = [0.8, 0]
            shape.box = {{ min = [0, 0], max = [0.2, 0.06] }}
            [body.behaviours.sand]
            cohesion = 1e4
            wall_friction = {wall_friction}
            "#
        );
        let mut world = world(&text);
        let start = mean_x(&world);
        world.advance_to(0.8 / (9.81 * wall_friction) + 0.2).unwrap();
        let (way, expected) = (mean_x(&world) - start, 0.8f64.powi(2) / (2.0 * 9.81 * wall_friction));
        assert!(
            (way / expected - 1.0).abs() < 0.03,
            "{way} m, and not {expected} m, for μ_w = {wall_friction}"
        );
        assert!((top(&world) - 0.055).abs() < 0.005, "the block is {} m high", top(&world));
    }
}

/// Sand carries a heavy ball that water would not, and rests with it.
#[test]
fn a_ball_rests_on_sand() {
    let text = r#"
        dimensions = 2
        world.box = { min = [-0.2, 0], max = [0.2, 0.5], open = ["+y"] }
        sph.spacing = 0.008
        time.until = 2
        [[body]]
        name = "bed"
        material = "sand"
        shape.box = { min = [-0.2, 0], max = [0.2, 0.12] }
        [[solid]]
        name = "ball"
        shape.sphere = { centre = [0, 0.2], radius = 0.04 }
        free = { density = 3000, friction = 0.4 }
    "#;
    let mut world = world(text);
    world.advance_to(1.2).unwrap();
    let height = |world: &World| world.solids[0].pose.position.y;
    let (before, sunk) = (height(&world), 0.16 - height(&world));
    assert!(sunk > 0.0 && sunk < 0.06, "it has sunk by {sunk} m");
    world.advance_to(1.7).unwrap();
    let creep = before - height(&world);
    assert!(creep.abs() < 1e-3, "and by {creep} m in half a second more");
}

/// A low step of sand stands in both ways of finding friction; of the same as a fluid nothing would be left.
#[test]
fn steps_stand() {
    for method in ["stress", "clusters"] {
        let text = format!(
            r#"
            dimensions = 2
            world.box = {{ min = [0, 0], max = [0.5, 0.3], open = ["+y"] }}
            sph.spacing = 0.01
            time.until = 1
            [[body]]
            name = "step"
            material = "sand"
            shape.box = {{ min = [0, 0], max = [0.2, 0.1] }}
            [body.behaviours.sand]
            cohesion = 2000
            method = "{method}"
            "#
        );
        let mut world = world(&text);
        world.advance_to(0.5).unwrap();
        assert!(top(&world) > 0.085, "{method}: {} m are left of 0.1 m", top(&world));
    }
}

#[test]
fn threads_do_not_matter() {
    let text = r#"
        dimensions = 2
        world.box = { min = [0, 0], max = [0.6, 0.4], open = ["+y"] }
        sph.spacing = 0.004
        time.until = 1
        [[body]]
        name = "column"
        material = "sand"
        shape.box = { min = [0, 0], max = [0.2, 0.2] }
    "#;
    let motion = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut world = world(text);
            world.advance_to(0.03).unwrap();
            world.particles.get(&VELOCITY).to_vec()
        })
    };
    assert!(motion(1) == motion(3));
}
