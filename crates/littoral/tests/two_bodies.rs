//! Two bodies with different numbers for the same behaviour: each particle feels its own body's, also after the
//! particles have been put in another order.

use littoral::columns::{BODY, VELOCITY};
use littoral::scene;
use littoral::world::World;

const SCENE: &str = r#"
dimensions = 2
world.box = { min = [0, 0], max = [1, 1] }
sph.spacing = 0.05

[[body]]
name = "thick"
material = "water"
shape.box = { min = [0, 0], max = [1, 0.5] }
behaviours.viscosity.dynamic_viscosity = 8.0

[[body]]
name = "thin"
material = "water"
shape.box = { min = [0, 0.5], max = [1, 1] }
behaviours.viscosity.dynamic_viscosity = 2.0
"#;

#[test]
fn every_particle_feels_its_own_body() {
    let (scene, _) = scene::load("two", SCENE, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    let mut world = World::new(&scene);
    // Fills the cells from right to left, so that sorting has something to do.
    let backwards: Vec<u32> = (0..world.particles.len() as u32).rev().collect();
    world.particles.reorder(&backwards);
    for _ in 0..3 {
        world.step(world.clock.step).unwrap();
        world.forget_neighbours();
        let viscosity = world.behaviours.iter().find(|one| one.behaviour.schema().name == "viscosity");
        let viscosity = viscosity.unwrap().field("dynamic_viscosity");
        for (i, &body) in world.particles.get(&BODY).iter().enumerate() {
            assert_eq!(viscosity.at(i), [8.0, 2.0][body as usize], "particle {i} of body {body}");
        }
    }
}

#[test]
fn a_property_keyframed_on_one_body_leaves_the_other_alone() {
    let text = r#"
        dimensions = 2
        world.gravity = [0, 0]
        sph.spacing = 0.1
        time.until = 1
        [[body]]
        name = "slowed"
        density = 1
        velocity = [1, 0]
        shape.box = { min = [0, 0], max = [0.5, 0.5] }
        behaviours.drag.relaxation_time = [[0, 1], [2, 5]]
        [[body]]
        name = "free"
        density = 1
        velocity = [1, 0]
        shape.box = { min = [0, 3], max = [0.5, 3.5] }
        "#;
    let (scene, _) = scene::load("one", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    let mut world = World::new(&scene);
    world.advance_to(0.5).unwrap();
    for (v, &body) in world.particles.get(&VELOCITY).iter().zip(world.particles.get(&BODY)) {
        assert!(if body == 0 { v.x < 0.9 } else { v.x == 1.0 }, "{v} of body {body}");
    }
}

#[test]
fn jets_that_differ_have_limits_before_they_have_particles() {
    let text = r#"
        sph.spacing = 0.05
        time.until = 0.5
        world.gravity = [0, 0, 0]
        [[body]]
        name = "thin"
        density = 1000
        emitter.jet = { at = [0, 0, 0], direction = [1, 0, 0], radius = 0.1, speed = 1, until = 0.32 }
        behaviours.drag.relaxation_time = 0.5
        [[body]]
        name = "thick"
        density = 1000
        emitter.jet = { at = [0, 2, 0], direction = [1, 0, 0], radius = 0.1, speed = 1, from = 0.18 }
        behaviours.drag.relaxation_time = 2.0
        "#;
    let (scene, _) = scene::load("jets", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    let mut world = World::new(&scene);
    world.advance_to(0.5).unwrap();
    let count = |body: u32| world.particles.get(&BODY).iter().filter(|&&b| b == body).count();
    // 13 places in the nozzle; 0.32 s of flow are 6.4 layers of 0.05 m, to the nearest whole one.
    assert_eq!((count(0), count(1)), (13 * 6, 13 * 6));
}
