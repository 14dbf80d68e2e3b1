//! Two bodies with different numbers for the same behaviour: each particle feels its own body's, also after the
//! particles have been put in another order.

use littoral::columns::BODY;
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
