use super::flow::{Cell, Change, Flow, Ways};
use super::law::{Law, Pull};
use super::network::Way;
use crate::checkpoint::Checkpoint;
use crate::columns::*;
use crate::scene::{self, Scene};
use crate::sources::uniform;
use crate::world::World;

fn load(text: &str) -> Scene {
    scene::load("test", text, &[]).unwrap_or_else(|problems| panic!("{problems}")).0
}

/// A block of pores, and a drop that flies at it.
fn block_and_drop() -> Scene {
    load(
        r#"
        dimensions = 2
        world.gravity = [0, 0]
        sph.spacing = 2e-3
        time.until = 10
        [[body]]
        name = "block"
        density = 300
        shape.box = { min = [0, 0], max = [0.03, 0.02] }
        behaviours.elastic = { young_modulus = 1e5 }
        behaviours.porous = { porosity = 0.7, permeability = 1e-9, capillary_pressure = 2e3, saturation = 0.1 }
        [[body]]
        name = "water"
        material = "water"
        velocity = [0, -0.3]
        shape.box = { min = [0.01, 0.022], max = [0.02, 0.03] }
        "#,
    )
}

fn momentum(world: &World) -> f64 {
    let rows = world.particles.get(&MASS).iter().zip(world.particles.get(&VELOCITY));
    rows.map(|(&m, v)| f64::from(m) * f64::from(v.y)).sum()
}

#[test]
fn a_drop_is_soaked_up_with_its_momentum() {
    let mut world = World::new(&block_and_drop());
    let (water, before) = (world.water().unwrap(), momentum(&world));
    for _ in 0..400 {
        world.step(world.clock.step.min(1e-3)).unwrap();
    }
    let now = world.water().unwrap();
    assert!(now.absorbed > water.absorbed + 0.5 * water.free, "{water:?} {now:?}");
    assert!((now.total() / water.total() - 1.0).abs() < 1e-7, "{water:?} {now:?}");
    // Masses and velocities are of single precision.
    assert!((momentum(&world) / before - 1.0).abs() < 1e-3, "{} {before}", momentum(&world));
    assert!(world.particles.get(&SATURATION).iter().all(|s| (0.0..=1.0).contains(s)));
    let heaviest = world.particles.get(&MASS).iter().zip(world.particles.get(&DRY_MASS));
    for (i, (&mass, &dry)) in heaviest.enumerate().filter(|(_, (_, dry))| **dry > 0.0) {
        let wet = dry + world.particles.get(&LIQUID)[i] + world.particles.get(&FILM)[i];
        assert!((mass / wet - 1.0).abs() < 1e-6);
    }
}

#[test]
fn a_resumed_run_goes_on_with_the_same_bits() {
    let scene = block_and_drop();
    let mut world = World::new(&scene);
    // No multiple of four: liquid has yet to flow for some of the time.
    for _ in 0..61 {
        world.step(1e-3).unwrap();
    }
    world.forget_neighbours();
    let mut other = World::new(&scene);
    other.restore(Checkpoint::of(&scene, &world, 0)).unwrap();
    for _ in 0..41 {
        world.step(1e-3).unwrap();
        other.step(1e-3).unwrap();
    }
    for (a, b) in world.particles.columns().iter().zip(other.particles.columns()) {
        assert!(a.data == b.data, "{}", a.spec.name);
    }
}

/// A body that swells is as much larger as its pores are full, and what they hold is the same.
#[test]
fn wet_sponges_swell() {
    let scene = load(
        "world.gravity = [0, 0, 0]\nsph.spacing = 0.1\ntime.until = 10\n[[body]]\nname = \"block\"\n\
         shape.box = { min = [0, 0, 0], max = [0.4, 0.4, 0.4] }\n\
         behaviours.elastic = { young_modulus = 1e5, viscosity = 1e3 }\n\
         behaviours.porous = { porosity = 0.5, permeability = 1e-18, saturation = 0.8, swelling = 0.05 }",
    );
    let mut world = World::new(&scene);
    for _ in 0..400 {
        world.step(5e-3).unwrap();
    }
    let x = |k: usize| {
        world
            .particles
            .get(&POSITION)
            .iter()
            .map(|p| p[k])
            .fold((f32::MAX, f32::MIN), |(a, b), x| (a.min(x), b.max(x)))
    };
    let saturation = world.particles.get(&SATURATION).iter().sum::<f32>() / world.particles.len() as f32;
    assert!(saturation < 0.8, "wider pores are less full: {saturation}");
    for axis in 0..3 {
        let (low, high) = x(axis);
        let strain = (high - low) / 0.3 - 1.0;
        assert!((strain / (0.05 * saturation) - 1.0).abs() < 0.03, "{strain} {saturation}");
    }
}

/// Whatever the pores and the step: nothing is lost, nobody has less than nothing.
#[test]
fn flows_keep_their_liquid() {
    let n = 60;
    let number = |k: usize, axis: u32| uniform(3, k as u32, axis);
    let mut ways = Ways { starts: vec![0], ..Ways::default() };
    for k in 0..n {
        for step in [1, 7] {
            for l in [k + step, k + n - step] {
                ways.all.push(Way { partner: (l % n) as u32, conductance: 1e-3 });
            }
        }
        ways.starts.push(ways.all.len() as u32);
    }
    for (pull, dt) in [(Pull::Power(0.1), 1e-3), (Pull::Power(0.1), 10.0), (Pull::Leverett, 1.0)] {
        let laws = [Law::new(pull, 7.0)];
        let mut cells: Vec<Cell> = (0..n)
            .map(|k| Cell {
                capacity: 1e-3,
                liquid: 1.2e-3 * number(k, 0),
                strength: 15e3,
                stiffness: 5e4,
                mobility: 1e-5 * number(k, 1),
                head: 1e3 * number(k, 2),
                mass: 1.0,
                ..Cell::default()
            })
            .collect();
        let total = |cells: &[Cell]| cells.iter().map(|cell| cell.liquid).sum::<f64>();
        let before = total(&cells);
        let (mut flow, mut changes) = (Flow::default(), Vec::<Change>::new());
        for _ in 0..50 {
            flow.step(&cells, &ways, &laws, dt, &mut changes);
            cells.iter_mut().zip(&changes).for_each(|(cell, change)| cell.liquid += change.gained);
            assert!(cells.iter().all(|cell| cell.liquid > -1e-18 && cell.fill() < 1.25), "{pull:?} {dt}");
        }
        assert!((total(&cells) / before - 1.0).abs() < 1e-13);
    }
}

#[test]
fn permeability_follows_a_formula() {
    let scene = load(
        "dimensions = 2\nsph.spacing = 0.01\n[[body]]\nname = \"block\"\nshape.box = { min = [0, 0], max = [0.1, 0.1] }\n\
         behaviours.elastic = { young_modulus = 1e5 }\n\
         behaviours.porous = { porosity = 0.5, permeability = { formula = \"x - y\", keys = [[0, 1e-12], [0.001, 1e-10]] } }",
    );
    let world = World::new(&scene);
    let rows = world.particles.get(&PERMEABILITY).iter().zip(world.particles.get(&REFERENCE));
    for (&permeability, x) in rows {
        let expected = if x.x - x.y > 5e-4 { 1e-10 } else { 1e-12 };
        assert!((permeability / expected - 1.0).abs() < 0.01, "{permeability} at {x}");
    }
}

#[test]
fn a_fluid_has_no_pores() {
    let text = "sph.spacing = 0.01\n[[body]]\nname = \"pool\"\nmaterial = \"water\"\n\
                shape.box = { min = [0, 0, 0], max = [0.1, 0.1, 0.1] }\n\
                behaviours.porous = { porosity = 0.5, permeability = 1e-12 }";
    let problems = scene::load("test", text, &[]).unwrap_err();
    assert!(format!("{problems:?}").contains("neither holds a shape nor is sand"), "{problems:?}");
}

/// Knitwear by Leverett's function: it draws water from a drop that lies on it.
#[test]
fn knitwear_soaks() {
    let scene = load(
        r#"
        world.gravity = [0, 0, 0]
        sph.spacing = 7e-3
        time.until = 10
        [[body]]
        name = "knit"
        density = 120
        thickness = 4e-3
        layers = 3
        shape.sheet = { corner = [0, 0, 0], along = [0.07, 0, 0], across = [0, 0, 0.07] }
        behaviours.springs = { stretch_stiffness = 150, young_modulus = 5e3 }
        behaviours.porous = { porosity = 0.9, permeability = 1e-9, capillarity = "leverett", flow_exponent = 3 }
        [[body]]
        name = "drop"
        material = "water"
        velocity = [0, -0.1, 0]
        shape.box = { min = [0.028, 0.008, 0.028], max = [0.042, 0.022, 0.042] }
        "#,
    );
    let mut world = World::new(&scene);
    let before = world.water().unwrap();
    for _ in 0..200 {
        world.step(world.clock.step.min(2e-3)).unwrap();
    }
    let after = world.water().unwrap();
    assert!(after.absorbed > 0.5 * before.free, "{before:?} {after:?}");
    assert!((after.total() / before.total() - 1.0).abs() < 1e-7);
}

/// A layer of water on pores that pull hard, held as a whole: the first step must know that water falls, and none is thrown about.
#[test]
fn hard_pulling_pores_take_a_layer_in() {
    let scene = load(
        r#"
        dimensions = 2
        world.box = { min = [0, 0], max = [0.05, 0.1], open = ["+y"] }
        sph.spacing = 2.5e-3
        time.until = 10
        [[body]]
        name = "block"
        density = 800
        shape.box = { min = [0, 0], max = [0.05, 0.03] }
        behaviours.elastic = { young_modulus = 1e5 }
        behaviours.porous = { porosity = 0.5, permeability = 1e-10, capillary_pressure = 1.5e4 }
        [[pin]]
        on = ["block"]
        shape.box = { min = [-1, -1], max = [1, 1] }
        [[body]]
        name = "water"
        material = "water"
        shape.box = { min = [0, 0.03], max = [0.05, 0.04] }
        "#,
    );
    let mut world = World::new(&scene);
    let before = world.water().unwrap();
    assert!(world.clock.step < 0.005, "{}", world.clock.step);
    for _ in 0..150 {
        world.step(world.clock.step).unwrap();
        let speed = world.particles.get(&VELOCITY).iter().map(|v| v.length()).fold(0.0, f32::max);
        assert!(speed < 3.0, "{speed} m/s at {} s", world.clock.time);
    }
    let after = world.water().unwrap();
    assert!(after.absorbed > 0.2 * before.free, "{before:?} {after:?}");
    assert!((after.total() / before.total() - 1.0).abs() < 1e-7);
}

/// A film on an upright sheet runs down by Nusselt's law: its middle falls by ρ g h²/3μ in a second.
#[test]
fn films_run_down() {
    let scene = load(
        r#"
        sph.spacing = 5e-3
        time.until = 10
        [[body]]
        name = "sheet"
        density = 300
        thickness = 2e-3
        shape.sheet = { corner = [0, 0, 0], along = [0.02, 0, 0], across = [0, 0.1, 0] }
        behaviours.springs = { stretch_stiffness = 100 }
        behaviours.porous = { porosity = 0.8, permeability = 1e-18, saturation = 1, liquid_viscosity = 10 }
        [[pin]]
        on = ["sheet"]
        shape.box = { min = [-1, -1, -1], max = [1, 1, 1] }
        "#,
    );
    let mut world = World::new(&scene);
    let (thickness, liquid) = (2e-3, 1000.0 * 5e-3 * 5e-3 * 2e-3);
    for row in 0..world.particles.len() {
        let is_wet = (world.particles.get(&POSITION)[row].y - 0.07).abs() < 0.011;
        world.particles.get_mut(&FILM)[row] = if is_wet { liquid } else { 0.0 };
    }
    let height = |world: &World| {
        let (film, at) = (world.particles.get(&FILM), world.particles.get(&POSITION));
        let (moment, mass) =
            film.iter().zip(at).fold((0.0, 0.0), |(a, b), (film, x)| (a + film * x.y, b + film));
        (moment / mass, mass)
    };
    let ((start, mass), time) = (height(&world), 0.4);
    for _ in 0..40 {
        world.step(time / 40.0).unwrap();
    }
    let (end, left) = height(&world);
    let expected = 1000.0 * 9.81 * thickness * thickness / (3.0 * 10.0) * time as f32;
    // Where it has run from it is thinner, and slower.
    assert!(((start - end) / expected - 1.0).abs() < 0.1, "{} {expected}", start - end);
    assert!((left / mass - 1.0).abs() < 1e-5);
}

/// Wet cloth that lies on the floor is pressed by its weight, from below: what its pores lose is what van Wyk's law says.
#[test]
fn pressed_cloth_gives_water() {
    let scene = load(
        r#"
        world.box = { min = [-1, 0, -1], max = [1, 1, 1], open = ["x", "z", "+y"] }
        sph.spacing = 1e-2
        time.until = 10
        [[body]]
        name = "cloth"
        density = 300
        thickness = 2e-3
        shape.sheet = { corner = [0, 5.2e-3, 0], along = [0.1, 0, 0], across = [0, 0, 0.1] }
        behaviours.springs = { stretch_stiffness = 100 }
        behaviours.porous = { porosity = 0.8, permeability = 1e-9, saturation = 1, squeeze_pressure = 10 }
        "#,
    );
    let mut world = World::new(&scene);
    let before = world.water().unwrap();
    for _ in 0..200 {
        world.step(2e-3).unwrap();
    }
    let mean = |column: &[f32]| column.iter().sum::<f32>() / column.len() as f32;
    let pressure = 0.5 * 9.81 * (300.0 + 800.0) * 2e-3;
    let felt = mean(world.particles.get(&SQUEEZE));
    assert!((felt / pressure - 1.0).abs() < 0.1, "{felt} {pressure}");
    let after = world.water().unwrap();
    let thinner = f64::from(1.0 + pressure / 10.0).powf(-1.0 / 3.0);
    let expected = (thinner - 1.0 + 0.8) / 0.8;
    assert!((after.absorbed / before.absorbed - expected).abs() < 0.05, "{after:?} {expected}");
    assert!((after.total() / before.total() - 1.0).abs() < 1e-7);
}

/// Sand that is poured, with water in it, on a wet bed with a puddle: grains are filled as they come, and nothing is lost.
#[test]
fn poured_sand_brings_its_water() {
    let mut world = World::new(&load(
        r#"
        dimensions = 2
        world.box = { min = [0, 0], max = [0.1, 0.3], open = ["+y"] }
        sph.spacing = 5e-3
        time.until = 1
        [[body]]
        name = "bed"
        material = "sand"
        shape.box = { min = [0, 0], max = [0.1, 0.03] }
        behaviours.porous = { porosity = 0.4, permeability = 1e-10, saturation = 0.2 }
        [[body]]
        name = "wet"
        material = "sand"
        emitter.jet = { at = [0.05, 0.2], direction = [0, -1], radius = 0.015, speed = 1, until = 0.2 }
        behaviours.porous = { porosity = 0.4, permeability = 1e-10, saturation = 0.5 }
        [[body]]
        name = "puddle"
        material = "water"
        shape.box = { min = [0, 0.03], max = [0.02, 0.05] }
        "#,
    ));
    world.advance_to(0.25).unwrap();
    let grains =
        |world: &World, of: u32| world.particles.get(&BODY).iter().filter(|b| **b == of).count() as f64;
    let density = f64::from(world.bodies[2].rest_density);
    let held = density * 0.4 * 25e-6;
    let brought = held * (0.2 * grains(&world, 0) + 0.5 * grains(&world, 1));
    let total = brought + density * 0.02 * 0.02;
    assert!(grains(&world, 1) > 200.0);
    let water = world.water().unwrap();
    assert!((water.total() / total - 1.0).abs() < 2e-6, "{water:?} {total}");
    assert!(water.absorbed > 1.02 * brought, "the bed drinks: {water:?} {brought}");
    let mass: f32 = world.particles.get(&MASS).iter().sum();
    let dry = 1600.0 * 25e-6 * (grains(&world, 0) + grains(&world, 1));
    assert!((f64::from(mass) / (dry + total) - 1.0).abs() < 1e-5);
    assert!(world.particles.get(&SATURATION).iter().all(|s| (0.0..=1.0).contains(s)));
}
