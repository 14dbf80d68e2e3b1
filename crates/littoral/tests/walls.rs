//! Walls do no work: a fluid without friction in a closed box keeps its energy.

use littoral::columns::{POSITION, PRESSURE, VELOCITY};
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

/// What a still tank and a breaking dam measure for a model of walls.
#[derive(Debug)]
struct Tank {
    /// Pressure at the foot over ρgH.
    foot: f64,
    /// Root mean square of the speed, over √(gH).
    unrest: f64,
    /// Height of the middle of the water over H/2.
    height: f64,
    /// Times a particle had got past a wall.
    caught: u64,
}

const MODELS: [&str; 4] = ["samples", "sph", "lennard-jones", "discrete-element"];

fn water(dimensions: usize, walls: &str, width: f64, until: f64) -> World {
    let (zero, corner, top) = match dimensions {
        2 => ("[0, 0]", format!("[{width}, 0.5]"), "[0.5, 1]"),
        _ => ("[0, 0, 0]", format!("[{width}, 0.5, 0.2]"), "[0.5, 1, 0.2]"),
    };
    let spacing = if dimensions == 2 { 0.02 } else { 0.04 };
    let text = format!(
        r#"
        dimensions = {dimensions}
        [world]
        box = {{ min = {zero}, max = {top}, open = ["+y"] }}
        walls = "{walls}"
        [sph]
        spacing = {spacing}
        [time]
        until = {until}
        [[body]]
        name = "water"
        density = 1000
        shape.box = {{ min = {zero}, max = {corner} }}
        [body.behaviours.tait]
        [body.behaviours.viscosity]
        dynamic_viscosity = 20
        "#
    );
    let (scene, _) =
        scene::load("tank", &text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    World::new(&scene)
}

fn still_tank(dimensions: usize, walls: &str) -> Tank {
    let mut world = water(dimensions, walls, 0.5, 2.0);
    world.advance_to(2.0).unwrap();
    let p = &world.particles;
    let n = p.len() as f64;
    let middle = p.get(&POSITION).iter().map(|x| f64::from(x.y)).sum::<f64>() / n;
    let low: Vec<(f64, f64)> = p
        .get(&POSITION)
        .iter()
        .zip(p.get(&PRESSURE))
        .map(|(x, p)| (f64::from(x.y), f64::from(*p)))
        .filter(|(y, _)| *y < 0.1)
        .collect();
    // The mean of the lowest fifth, continued to the floor.
    let foot = low.iter().map(|(y, p)| p + 9810.0 * y).sum::<f64>() / low.len() as f64;
    let square = p.get(&VELOCITY).iter().map(|v| f64::from(v.length_squared())).sum::<f64>() / n;
    Tank {
        foot: foot / (9810.0 * 0.5),
        unrest: (square / (9.81 * 0.5)).sqrt(),
        height: middle / 0.25,
        caught: world.caught,
    }
}

#[test]
fn every_kind_of_wall_holds_a_still_tank() {
    for dimensions in [2, 3] {
        for walls in MODELS {
            let tank = still_tank(dimensions, walls);
            println!("{dimensions}-D {walls}: {tank:?}");
            assert!(tank.unrest < 0.01 && tank.caught == 0, "{dimensions}-D {walls}: {tank:?}");
            // Where walls count in the density, the fluid keeps its level and its pressure; where they only push, it
            // comes up to half a spacing closer to each of them, and in the smaller tank of 3-D that is a quarter of it.
            let (foot, height) = match (walls, dimensions) {
                ("samples" | "sph", _) => (0.03, 0.015),
                (_, 2) => (0.15, 0.05),
                _ => (0.4, 0.3),
            };
            assert!((tank.foot - 1.0).abs() < foot, "{dimensions}-D {walls}: {tank:?}");
            assert!((tank.height - 1.0).abs() < height, "{dimensions}-D {walls}: {tank:?}");
        }
    }
}

#[test]
fn every_kind_of_wall_holds_a_breaking_dam() {
    for dimensions in [2, 3] {
        for walls in MODELS {
            let mut world = water(dimensions, walls, 0.2, 1.0);
            world.advance_to(1.0).unwrap();
            assert_eq!(world.caught, 0, "{dimensions}-D {walls}");
        }
    }
}
