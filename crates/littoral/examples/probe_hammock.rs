use glam::DVec3;
use littoral::columns::{BODY, POSITION};
use littoral::scene;
use littoral::world::World;
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
fn main() {
    let k: f64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(300.0);
    let t: f64 = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(0.5e-3);
    let text = format!(
        r#"
            [world]
            box = {{ min = [-0.3, -0.5, -0.3], max = [0.3, 0.5, 0.3], open = ["x", "y", "z"] }}
            [sph]
            spacing = 0.01
            [[body]]
            name = "water"
            material = "water"
            shape.box = {{ min = [-0.05, 0.02, -0.05], max = [0.05, 0.12, 0.05] }}
            velocity = [0, -1.5, 0]
            [[body]]
            name = "cloth"
            density = 400
            thickness = {t}
            shape.sheet = {{ corner = [-0.15, 0, -0.15], along = [0.3, 0, 0], across = [0, 0, 0.3] }}
            behaviours.springs = {{ stretch_stiffness = {k} }}
            [[pin]]
            shape.difference = {{ of = [{{ box = {{ min = [-0.2, -0.1, -0.2], max = [0.2, 0.1, 0.2] }} }}, {{ box = {{ min = [-0.145, -0.2, -0.145], max = [0.145, 0.2, 0.145] }} }}] }}
            "#
    );
    let (scene, _) =
        scene::load("contact", &text, &[]).unwrap_or_else(|problems| panic!("{}", problems.plain()));
    let mut world = World::new(&scene);
    for f in (3..=30).step_by(3) {
        world.advance_to(0.01 * f as f64).unwrap();
        let position = world.particles.get(&POSITION);
        let places: Vec<DVec3> = world
            .structure
            .nodes
            .rows()
            .iter()
            .map(|&r| position[r as usize].truncate().as_dvec3())
            .collect();
        let tris: Vec<[usize; 3]> =
            world.structure.sheets[0].triangles.iter().map(|c| c.map(|n| n as usize)).collect();
        let mut longest = 0.0f64;
        for t in &tris {
            for e in 0..3 {
                longest = longest.max(places[t[e]].distance(places[t[(e + 1) % 3]]));
            }
        }
        let low = places.iter().map(|p| p.y).fold(0.0, f64::min);
        let mut under = 0;
        let mut deep = 0.0f64;
        for (x, b) in position.iter().zip(world.particles.get(&BODY)) {
            if *b != 0 {
                continue;
            }
            let p = x.truncate().as_dvec3();
            if tris.iter().any(|c| passes(p, p + DVec3::Y, c.map(|k| places[k]))) {
                under += 1;
                if under < 6 {
                    println!("   {p:.3}");
                }
                deep = deep.min(p.y - low);
            }
        }
        println!(
            "{:.2} steps {} dt {:.2e} {} under {under} deep {deep:.4} caught {} longest {longest:.4} low {low:.4} fast {:.2}",
            0.01 * f as f64,
            world.clock.steps,
            world.clock.step,
            world.clock.binding.name(),
            world.caught,
            world.clock.speed
        );
    }
}
