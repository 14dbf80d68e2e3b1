//! Friction that is solved for, with a memory: a shear wave against explicit friction, and in fluids of any thickness.

use glam::Vec4;
use littoral::behaviours::viscous_memory::IMPLICIT;
use littoral::columns::{POSITION, VELOCITY};
use littoral::scene;
use littoral::world::World;

/// How much of a shear wave is left after 0.2 s, in steps of so many seconds; never more than there was.
fn wave(friction: &str, viscosity: f64, memory: &str, step: f64) -> f32 {
    let text = format!(
        r#"
        dimensions = 2
        [world]
        gravity = [0, 0]
        box = {{ min = [0, 0], max = [1, 1], periodic = ["x", "y"] }}
        [sph]
        spacing = 0.05
        [time]
        until = 1
        step = {step}
        [[body]]
        name = "all"
        density = 1000
        shape.box = {{ min = [0, 0], max = [1, 1] }}
        behaviours.incompressible = {{}}
        behaviours.{friction}.dynamic_viscosity = {viscosity}
        {memory}
        "#
    );
    let scene = scene::load("wave", &text, &[]).unwrap_or_else(|problems| panic!("{problems}")).0;
    let mut world = World::new(&scene);
    let shape = |x: f32| (std::f32::consts::TAU * x).sin();
    world.particles.update(&VELOCITY, |velocity, particles| {
        for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
            *v = Vec4::Y * (0.1 * shape(x.x));
        }
    });
    let mut largest = 0.0f32;
    let mut left = 0.0;
    while world.clock.time < 0.2 - 1e-6 {
        world.step(step).unwrap();
        let p = &world.particles;
        let rows = p.get(&VELOCITY).iter().zip(p.get(&POSITION));
        left = rows.map(|(v, x)| v.y * shape(x.x)).sum::<f32>() / (0.05 * p.len() as f32);
        largest = largest.max(left.abs());
    }
    assert!(largest < 1.01, "{friction}, {viscosity} Pa·s, {memory}: grew to {largest}");
    left
}

/// With short steps, friction that is solved for remembers as explicit friction does.
#[test]
fn implicit_friction_remembers_the_same() {
    for memory in ["reach = 'whole', horizon = 0.2", "steps = 32"] {
        let memory = format!("behaviours.viscous-memory = {{ {memory} }}");
        let explicit = wave("viscosity", 200.0, &memory, 1e-3);
        let implicit = wave(IMPLICIT, 200.0, &memory, 1e-3);
        let forgetful = wave(IMPLICIT, 200.0, "", 1e-3);
        // A step takes 0.8 % of the wave: of the fifth that is left without a memory, the two differ by about 1 %.
        assert!((implicit - explicit).abs() < 0.006, "{memory}: {implicit} for {explicit}");
        assert!((forgetful - explicit).abs() > 0.012, "{memory}: {forgetful} without, {explicit} with it");
    }
}

/// And with long ones it is stable however thick the fluid: here friction would take the wave twenty times in a step, and the shortest modes 800 times.
/// What is left rings: the newest velocity makes up for all that are remembered.
#[test]
fn thick_fluids_may_remember() {
    for memory in ["", "steps = 31, order = 0.4", "reach = 'coimbra'", "reach = 'whole', horizon = 0.1"] {
        let left = wave(IMPLICIT, 1e5, &format!("behaviours.viscous-memory = {{ {memory} }}"), 5e-3);
        assert!(left.abs() < 0.5, "{memory}: {left}");
    }
}
