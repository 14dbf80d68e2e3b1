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

/// A strip hangs, is let go of, and falls in folds.
#[test]
fn cloth_that_falls_in_folds_does_not_pass_through_itself() {
    let mut world = world(
        r#"
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
        behaviours.springs = { bend_stiffness = 1e-6 }
        behaviours.contact.friction = 0.4
        "#,
    );
    let mut worst = 0;
    for frame in 1..=16 {
        world.advance_to(0.05 * f64::from(frame)).unwrap();
        worst = worst.max(crossings(&world));
    }
    let height = nodes(&world).iter().map(|p| p.y).fold(0.0, f64::max);
    println!("{worst} crossings, {height} m high");
    assert_eq!(worst, 0);
    assert!(height < 0.2, "it has fallen: {height}");
}

/// A rod a third of a spacing thick, in the way of a cloth at 10 m/s.
#[test]
fn a_cloth_shot_at_a_thin_rod_does_not_pass() {
    let mut world = world(
        r#"
        [world]
        gravity = [0, 0, 0]
        [sph]
        spacing = 0.01
        [[body]]
        name = "cloth"
        density = 400
        thickness = 0.5e-3
        velocity = [0, 0, 10]
        shape.sheet = { corner = [-0.15, -0.15, -0.1], along = [0.3, 0, 0], across = [0, 0.3, 0] }
        behaviours.springs = {}
        [[solid]]
        name = "rod"
        shape.capsule = { from = [-0.5, 0.0033, 0], to = [0.5, 0.0033, 0], radius = 0.0017 }
        "#,
    );
    let (from, to) = (DVec3::new(-0.5, 0.0033, 0.0), DVec3::new(0.5, 0.0033, 0.0));
    let mut cut = 0;
    for frame in 1..=50 {
        world.advance_to(0.001 * f64::from(frame)).unwrap();
        let places = nodes(&world);
        let is_cut = |corners: &[usize; 3]| passes(from, to, corners.map(|k| places[k]));
        cut = cut.max(triangles(&world).iter().filter(|corners| is_cut(corners)).count());
    }
    let speed = momentum(&world).z / world.particles.get(&MASS).iter().map(|m| f64::from(*m)).sum::<f64>();
    println!("{cut} triangles cut, {speed} m/s left");
    assert_eq!(cut, 0);
    // It has been stopped in the middle, and not just slowed down on its way past.
    let middle = nodes(&world).iter().filter(|p| p.y.abs() < 0.01).map(|p| p.z).fold(f64::INFINITY, f64::min);
    assert!(middle < 0.02, "{middle}");
}

/// Two sheets and a block of springs collide in weightlessness: nothing is lost, and nothing passes.
#[test]
fn contacts_keep_momentum() {
    let mut world = world(
        r#"
        [world]
        gravity = [0, 0, 0]
        [sph]
        spacing = 0.01
        [[body]]
        name = "heavy"
        density = 900
        thickness = 1e-3
        velocity = [0.3, 0, 2]
        shape.sheet = { corner = [-0.1, -0.1, -0.02], along = [0.2, 0, 0], across = [0, 0.2, 0] }
        behaviours.springs = {}
        behaviours.contact.friction = 0.5
        [[body]]
        name = "light"
        density = 200
        thickness = 0.5e-3
        shape.sheet = { corner = [-0.1, -0.1, 0.02], along = [0.2, 0, 0], across = [0, 0.2, 0] }
        behaviours.springs = {}
        "#,
    );
    let before = momentum(&world);
    world.advance_to(0.05).unwrap();
    let after = momentum(&world);
    println!("{before} and {after}, {} crossings", crossings(&world));
    assert!(before.distance(after) < 2e-5 * before.length());
    assert_eq!(crossings(&world), 0);
    // The light one has been hit.
    let light: Vec<f32> = (world.particles.get(&VELOCITY).iter().zip(world.particles.get(&BODY)))
        .filter(|(_, body)| **body == 1)
        .map(|(v, _)| v.z)
        .collect();
    assert!(light.iter().sum::<f32>() / light.len() as f32 > 1.0);
}

/// Water poured into a hammock of stretchy cloth: none of it gets through, all of it with pores of 1.
#[test]
fn water_stays_in_a_hammock() {
    let under = |pores: f64| {
        let mut world = world(&format!(
            r#"
            [world]
            box = {{ min = [-0.4, -0.5, -0.4], max = [0.4, 0.5, 0.4], open = ["x", "y", "z"] }}
            [sph]
            spacing = 0.01
            [[body]]
            name = "water"
            material = "water"
            shape.box = {{ min = [-0.05, 0.02, -0.05], max = [0.05, 0.12, 0.05] }}
            velocity = [0, -0.7, 0]
            [[body]]
            name = "cloth"
            density = 400
            thickness = 0.5e-3
            shape.sheet = {{ corner = [-0.25, 0, -0.25], along = [0.5, 0, 0], across = [0, 0, 0.5] }}
            behaviours.springs = {{ stretch_stiffness = 300 }}
            behaviours.contact.pores = {pores}
            [[pin]]
            shape.difference = {{ of = [{{ box = {{ min = [-0.3, -0.1, -0.3], max = [0.3, 0.1, 0.3] }} }}, {{ box = {{ min = [-0.245, -0.2, -0.245], max = [0.245, 0.2, 0.245] }} }}] }}
            "#
        ));
        world.advance_to(0.3).unwrap();
        // Below the cloth: a ray upwards from the particle meets a triangle.
        let (places, triangles) = (nodes(&world), triangles(&world));
        let water = world.particles.get(&POSITION).iter().zip(world.particles.get(&BODY));
        let water = water.filter(|(_, body)| **body == 0).map(|(x, _)| x.truncate().as_dvec3());
        let is_under = |p: &DVec3| {
            let up = *p + DVec3::Y;
            triangles.iter().any(|corners| passes(*p, up, corners.map(|k| places[k])))
        };
        water.filter(is_under).count()
    };
    let (closed, open) = (under(0.0), under(1.0));
    println!("{closed} particles under closed cloth, {open} under open cloth");
    assert_eq!(closed, 0);
    assert!(open > 900, "{open} of 1000");
}

/// Water hits a cloth and a rubber block in weightlessness, far from any wall: what one gains, the others lose.
#[test]
fn water_cloth_and_rubber_keep_momentum() {
    let mut world = world(
        r#"
        [world]
        gravity = [0, 0, 0]
        [sph]
        spacing = 0.01
        [[body]]
        name = "water"
        material = "water"
        velocity = [0, 0, 1]
        shape.box = { min = [-0.04, -0.04, -0.1], max = [0.04, 0.04, -0.02] }
        [[body]]
        name = "cloth"
        density = 500
        thickness = 2e-3
        shape.sheet = { corner = [-0.1, -0.1, 0], along = [0.2, 0, 0], across = [0, 0.2, 0] }
        behaviours.springs = {}
        [[body]]
        name = "rubber"
        density = 1100
        shape.box = { min = [-0.03, -0.03, 0.02], max = [0.03, 0.03, 0.06] }
        behaviours.elastic = { young_modulus = 1e6 }
        "#,
    );
    let before = momentum(&world);
    world.advance_to(0.15).unwrap();
    let after = momentum(&world);
    let mean = |body: u32| {
        let rows = world.particles.get(&VELOCITY).iter().zip(world.particles.get(&BODY));
        let own: Vec<f32> = rows.filter(|(_, b)| **b == body).map(|(v, _)| v.z).collect();
        own.iter().sum::<f32>() / own.len() as f32
    };
    println!("{before} and {after}; water {}, cloth {}, rubber {} m/s", mean(0), mean(1), mean(2));
    assert!(before.distance(after) < 1e-4 * before.length());
    assert!(mean(0) < 0.9 && mean(1) > 0.1 && mean(2) > 0.1);
}

/// A block of foam, half as heavy as water, floats half immersed; a cloth floats on the surface.
#[test]
fn light_bodies_float() {
    let mut world = world(
        r#"
        [world]
        box = { min = [0, 0, 0], max = [0.3, 0.4, 0.2], open = ["+y"] }
        slip = 1
        [sph]
        spacing = 0.01
        [[body]]
        name = "water"
        material = "water"
        shape.box = { min = [0, 0, 0], max = [0.3, 0.12, 0.2] }
        behaviours.artificial-viscosity.dynamic_viscosity = 2
        [[body]]
        name = "foam"
        density = 500
        shape.box = { min = [0.03, 0.125, 0.06], max = [0.11, 0.205, 0.14] }
        behaviours.elastic = { young_modulus = 1e5 }
        [[body]]
        name = "cloth"
        density = 500
        thickness = 2e-3
        shape.sheet = { corner = [0.17, 0.14, 0.05], along = [0.1, 0, 0], across = [0, 0, 0.1] }
        behaviours.springs = {}
        "#,
    );
    world.advance_to(1.2).unwrap();
    let heights = |body: u32| -> Vec<f64> {
        let rows = world.particles.get(&POSITION).iter().zip(world.particles.get(&BODY));
        rows.filter(|(_, b)| **b == body).map(|(x, _)| f64::from(x.y)).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // The water rises by what the foam displaces: half of 0.08³ m³ on 0.06 m².
    let surface = 0.12 + 0.5 * 0.08f64.powi(3) / 0.06;
    let (foam, cloth) = (mean(&heights(1)), mean(&heights(2)));
    println!("surface {surface}, middle of the foam {foam}, cloth {cloth}");
    assert!((foam - surface).abs() < 0.012, "{foam}");
    assert!((cloth - surface).abs() < 0.02, "{cloth}");
}
