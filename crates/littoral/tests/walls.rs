//! Walls do no work: a fluid without friction in a closed box keeps its energy.

use littoral::columns::VELOCITY;
use littoral::scene;
use littoral::world::World;

#[test]
fn a_closed_box_does_not_heat_what_is_in_it() {
    let text = r#"
        dimensions = 2
        [world]
        gravity = [0, 0]
        box = { min = [0, 0], max = [0.5, 0.5] }
        slip = 1
        [sph]
        spacing = 0.02
        [time]
        until = 1
        [[body]]
        name = "water"
        density = 1000
        jitter = 0.1
        shape.box = { min = [0, 0], max = [0.5, 0.5] }
        [body.behaviours.tait]
        sound_speed = 44
        "#;
    let (scene, _) = scene::load("box", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    let mut world = World::new(&scene);
    let mut energy_at = |t: f64| -> f64 {
        world.advance_to(t).unwrap();
        world.particles.get(&VELOCITY).iter().map(|v| f64::from(v.length_squared())).sum()
    };
    // The energy of the shaken lattice has become motion by now, and goes to and fro by a few percent.
    let (early, late) = (energy_at(0.1), energy_at(0.6));
    // With the pressure of the particle mirrored into the wall, it grew 4.9 times in this time.
    assert!((late / early - 1.0).abs() < 0.1, "kinetic energy went from {early} to {late}");
    assert_eq!(world.caught, 0);
}
