#![allow(dead_code)]
//! Nothing passes: cloth against cloth, rods, balls and water, counted.

use glam::DVec3;
use littoral::columns::{BODY, MASS, POSITION, VELOCITY};
use littoral::scene;
use littoral::world::World;

fn world(text: &str) -> World {
    let (scene, _) =
        scene::load("contact", text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    World::new(&scene)
}

/// Place of each node, m.
fn nodes(world: &World) -> Vec<DVec3> {
    let position = world.particles.get(&POSITION);
    let place = |&row: &u32| position[row as usize].truncate().as_dvec3();
    world.structure.nodes.rows().iter().map(place).collect()
}

/// Triangles of all sheets, as nodes.
fn triangles(world: &World) -> Vec<[usize; 3]> {
    let all = world.structure.sheets.iter().flat_map(|sheet| &sheet.triangles);
    all.map(|corners| corners.map(|node| node as usize)).collect()
}

/// Whether a stretch of a line passes through a triangle.
fn passes(from: DVec3, to: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    let normal = (b - a).cross(c - a);
    let (s, t) = ((from - a).dot(normal), (to - a).dot(normal));
    if s * t >= 0.0 {
        return false;
    }
    let at = from + (to - from) * (s / (s - t));
    let side = |p: DVec3, q: DVec3| (q - p).cross(at - p).dot(normal);
    side(a, b) > 0.0 && side(b, c) > 0.0 && side(c, a) > 0.0
}

/// How many edges of sheets pass through triangles that they have no corner in common with.
fn crossings(world: &World) -> usize {
    let (places, triangles) = (nodes(world), triangles(world));
    let middle = |corners: &[usize; 3]| corners.iter().map(|&k| places[k]).sum::<DVec3>() / 3.0;
    let middles: Vec<DVec3> = triangles.iter().map(middle).collect();
    let mut count = 0;
    for (first, at) in triangles.iter().zip(&middles) {
        let near = triangles.iter().zip(&middles).filter(|(_, other)| at.distance(**other) < 0.05);
        for (second, _) in near.filter(|(second, _)| first.iter().all(|k| !second.contains(k))) {
            let face = second.map(|k| places[k]);
            for edge in 0..3 {
                count += usize::from(passes(places[first[edge]], places[first[(edge + 1) % 3]], face));
            }
        }
    }
    count
}

fn momentum(world: &World) -> DVec3 {
    let rows = world.particles.get(&MASS).iter().zip(world.particles.get(&VELOCITY));
    rows.map(|(mass, v)| v.truncate().as_dvec3() * f64::from(*mass)).sum()
}

fn main() {
    let b = std::env::args().nth(1).unwrap_or("1e-6".into());
    let mut world = world(
        &r#"
        [world]
        box = { min = [-0.5, 0, -0.5], max = [0.5, 1, 0.5], open = ["x", "z", "+y"] }
        [sph]
        spacing = 0.01
        [[body]]
        name = "strip"
        density = 400
        thickness = 0.5e-3
        jitter = 0.02
        shape.sheet = { corner = [-0.05, 0.01, 0], along = [0.1, 0, 0], across = [0, 0.4, 0.01] }
        behaviours.springs = { bend_stiffness = BEND }
        behaviours.contact.friction = 0.4
        "#
        .replace("BEND", &b),
    );
    let mut worst = 0;
    for frame in 1..=16 {
        world.advance_to(0.05 * f64::from(frame)).unwrap();
        let c = crossings(&world);
        println!(
            "{frame} {c} {} steps {:.2e} h {:.3}",
            world.clock.steps,
            world.clock.step,
            nodes(&world).iter().map(|p| p.y).fold(0.0, f64::max)
        );
        worst = worst.max(c);
    }
    let height = nodes(&world).iter().map(|p| p.y).fold(0.0, f64::max);
    println!("{worst} crossings, {height} m high");

    assert!(height < 0.2, "it has fallen: {height}");
}
