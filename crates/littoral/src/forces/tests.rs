use glam::{Vec3, Vec4};

use crate::columns::{POSITION, VELOCITY};
use crate::scene;
use crate::world::World;

/// Dust in free space, four particles wide around the origin, under the given forces.
fn dust(more: &str) -> World {
    world(&format!(
        "[world]\ngravity = [0, 0, 0]\n[sph]\nspacing = 0.01\n[time]\nuntil = 2\nmaximum_step = 0.01\nintegrator = \"velocity-verlet\"\n\
         [[body]]\nname = \"dust\"\ndensity = 1\nshape.box = {{ min = [-0.02, -0.02, -0.02], max = [0.02, 0.02, 0.02] }}\n{more}"
    ))
}

fn world(text: &str) -> World {
    let (scene, _) = scene::load("forces", text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    World::new(&scene)
}

fn at(world: &World, x: [f32; 3], v: [f32; 3], t: f64) -> Vec3 {
    world.forces.at(0, Vec3::from(x).extend(0.0), Vec3::from(v).extend(0.0), t).truncate()
}

#[track_caller]
fn assert_near(a: Vec3, b: [f32; 3]) {
    assert!((a - Vec3::from(b)).length() < 1e-5 * (1.0 + Vec3::from(b).length()), "{a} is not {b:?}");
}

#[test]
fn a_push_fades_towards_the_rim_of_its_region() {
    let push = "localised = { at = [1, 0, 0], radius = 0.5, acceleration = [0, 4, 0] }";
    let world = dust(&format!("[[force]]\nstrength = [[0, 1], [2, 3]]\n{push}"));
    assert_near(at(&world, [1.0, 0.0, 0.0], [0.0; 3], 0.0), [0.0, 4.0, 0.0]);
    assert_near(at(&world, [1.0, 0.0, 0.0], [0.0; 3], 1.0), [0.0, 8.0, 0.0]);
    // Half way: (1 − 1/4)² = 9/16.
    assert_near(at(&world, [1.25, 0.0, 0.0], [0.0; 3], 0.0), [0.0, 2.25, 0.0]);
    assert_near(at(&world, [1.6, 0.0, 0.0], [0.0; 3], 0.0), [0.0; 3]);
}

#[test]
fn an_attractor_is_a_planet() {
    let world = dust("[[force]]\nattractor = { at = [0, 0, 0], acceleration = 9, radius = 2 }");
    assert_near(at(&world, [0.0, 2.0, 0.0], [0.0; 3], 0.0), [0.0, -9.0, 0.0]);
    assert_near(at(&world, [0.0, 6.0, 0.0], [0.0; 3], 0.0), [0.0, -1.0, 0.0]);
    assert_near(at(&world, [0.0, 0.0, -1.0], [0.0; 3], 0.0), [0.0, 0.0, 4.5]);
    assert_near(at(&world, [0.0; 3], [0.0; 3], 0.0), [0.0; 3]);
    let line =
        "repeller = { at = [0, 0, 0], axis = [0, 0, 2], acceleration = 8, radius = 1, power = 1, reach = 8 }";
    let world = dust(&format!("[[force]]\n{line}"));
    // 8/4, faded by (1 − 1/4)².
    assert_near(at(&world, [4.0, 0.0, 7.0], [0.0; 3], 0.0), [1.125, 0.0, 0.0]);
    assert_near(at(&world, [9.0, 0.0, 0.0], [0.0; 3], 0.0), [0.0; 3]);
}

#[test]
fn a_vortex_drives_its_swirl_and_nothing_else() {
    let vortex =
        "vortex = { at = [0, 0, 0], axis = [0, 0, 1], speed = 2, radius = 0.5, relaxation_time = 0.1 }";
    let world = dust(&format!("[[force]]\n{vortex}"));
    assert_near(at(&world, [0.5, 0.0, 3.0], [0.0; 3], 0.0), [0.0, 20.0, 0.0]);
    // At its speed, whatever else it does, a particle feels nothing.
    assert_near(at(&world, [0.5, 0.0, 0.0], [5.0, 2.0, 1.0], 0.0), [0.0; 3]);
    // Nowhere is it faster than at its core's radius.
    let size = |x: f32| at(&world, [x, 0.0, 0.0], [0.0; 3], 0.0).length();
    assert!(size(0.48) < size(0.5) && size(0.52) < size(0.5) && size(5.0) < 0.1 * size(0.5));
}

#[test]
fn wind_and_formulas() {
    let world = dust(
        "[[force]]\nwind = { velocity = [3, 0, 0], relaxation_time = 0.5 }\n\
         [[force]]\nfrom = 1\nuntil = 2\nexpression = [\"-4*x\", \"10*t + vy\", \"if(z > 1, 7, 0)\"]",
    );
    assert_near(at(&world, [0.0; 3], [1.0, 1.0, 0.0], 0.5), [4.0, -2.0, 0.0]);
    assert_near(at(&world, [2.0, 0.0, 3.0], [3.0, 0.0, 0.0], 1.5), [-8.0, 15.0, 7.0]);
    assert_near(at(&world, [2.0, 0.0, 3.0], [3.0, 0.0, 0.0], 2.0), [0.0; 3]);
}

#[test]
fn fields_know_their_bodies_and_the_period_of_space() {
    let world = world(
        "dimensions = 2\n[world]\ngravity = [0, 0]\nbox = { min = [0, 0], max = [1, 1], periodic = [\"x\", \"y\"] }\n\
         [sph]\nspacing = 0.05\n[[body]]\nname = \"a\"\ndensity = 1\nshape.box = { min = [0, 0], max = [0.2, 0.2] }\n\
         [[body]]\nname = \"b\"\ndensity = 1\nshape.box = { min = [0.5, 0.5], max = [0.7, 0.7] }\n\
         [[force]]\non = [\"b\"]\nlocalised = { at = [0.95, 0.5], radius = 0.2, acceleration = [1, 0], falloff = \"flat\" }",
    );
    let x = Vec4::new(0.05, 0.5, 0.0, 0.0);
    assert_eq!(world.forces.at(0, x, Vec4::ZERO, 0.0), Vec4::ZERO);
    assert_eq!(world.forces.at(1, x, Vec4::ZERO, 0.0), Vec4::X);
}

/// In a box that is shaken by A sin ωt, free dust that moved along with the box at first drifts by A(ωt − sin ωt).
#[test]
fn dust_in_a_shaken_box_stays_where_it_was_in_space() {
    let mut world = dust("[[force]]\nshake = { amplitude = 0.03, frequency = 2, direction = [0, 0, 5] }");
    let before = world.particles.get(&POSITION)[0];
    world.advance_to(0.6).unwrap();
    let phase = std::f64::consts::TAU * 2.0 * 0.6;
    let expected = 0.03 * (phase - phase.sin()) as f32;
    let moved = world.particles.get(&POSITION)[0] - before;
    // Forty steps a period at second order, (2π/40)²/12: a fifth of a per cent.
    assert!((moved.z - expected).abs() < 0.01 * expected && moved.x == 0.0, "{moved}: not {expected}");
    assert!(world.clock.steps >= 48, "every period has its forty steps");
}

/// Leaves Δv (1 − r/R)² behind, although nothing but the field itself asks for short steps.
#[test]
fn an_explosion_between_two_steps_is_met_in_time() {
    for integrator in ["symplectic-euler", "velocity-verlet"] {
        let text = format!(
            "[world]\ngravity = [0, 0, 0]\n[sph]\nspacing = 0.01\n\
             [time]\nuntil = 2\nframes_per_second = 1\nintegrator = \"{integrator}\"\n\
             [[body]]\nname = \"dust\"\ndensity = 1\nshape.box = {{ min = [0.3, 0, 0], max = [0.32, 0.02, 0.02] }}\n\
             [[force]]\nexplosion = {{ at = [0, 0.01, 0.01], time = 0.7003, duration = 0.004, radius = 1, speed = 3 }}"
        );
        let mut world = world(&text);
        world.advance_to(0.7).unwrap();
        assert_eq!(world.particles.get(&VELOCITY)[0], Vec4::ZERO);
        world.advance_to(1.0).unwrap();
        for (v, x) in world.particles.get(&VELOCITY).iter().zip(world.particles.get(&POSITION)) {
            let start = *x - *v * (1.0 - 0.7003 - 0.0017);
            let r = start.truncate() - Vec3::new(0.0, 0.01, 0.01);
            let expected = 3.0 * (1.0 - r.length()).powi(2);
            assert!((v.length() / expected - 1.0).abs() < 0.03, "{integrator}: {} of {expected}", v.length());
            assert!(v.truncate().normalize().dot(r.normalize()) > 0.999);
        }
        assert!(world.clock.steps < 200, "{} steps: short ones are for the explosion", world.clock.steps);
    }
}

/// A field that starts between two steps is neither passed over nor met with the long step of the rest before it.
#[test]
fn a_sudden_field_is_met_with_a_step_it_can_bear() {
    // Velocity Verlet would give the field half of the step before it, too.
    let text = "[world]\ngravity = [0, 0, 0]\n[sph]\nspacing = 0.01\n[time]\nuntil = 2\nmaximum_step = 0.01\n\
         [[body]]\nname = \"dust\"\ndensity = 1\nshape.box = { min = [-0.02, -0.02, -0.02], max = [0.02, 0.02, 0.02] }\n\
         [[force]]\nfrom = 0.1234\nexpression = [\"0\", \"4e4\", \"0\"]";
    let mut world = world(text);
    world.advance_to(0.13).unwrap();
    let v = world.particles.get(&VELOCITY)[0].y;
    let exact = 4e4 * (0.13 - 0.1234);
    // Within the step that follows: 0.25 √(ℓ/a) = 0.1 ms.
    assert!((v - exact).abs() < 4e4 * 1.5e-4, "{v} of {exact}");
}
