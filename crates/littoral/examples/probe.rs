use littoral::{columns::*, scene, timers::Stage, world::World};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let steps: u64 = args[2].parse().unwrap();
    let scene = match scene::load(&args[1], &text, &args[3..].to_vec()) {
        Ok((s, _)) => s,
        Err(p) => {
            println!("{p:?}");
            return;
        }
    };
    let mut w = World::new(&scene);
    println!(
        "{} particles {} walls dt {} {:?}",
        w.particles.len(),
        w.walls.len(),
        w.clock.step,
        w.clock.binding
    );
    let mut t = std::time::Instant::now();
    let mut s0 = 0;
    for k in 0..steps {
        let dt = w.clock.step;
        if let Err(e) = w.step(dt) {
            println!("{e}");
            return;
        }
        if (k + 1) % (steps / 5).max(1) == 0 {
            let e: f64 = w
                .particles
                .get(&VELOCITY)
                .iter()
                .zip(w.particles.get(&MASS))
                .map(|(v, &m)| 0.5 * (m * v.length_squared()) as f64)
                .sum();
            let dmax = w.particles.get(&DENSITY).iter().copied().fold(0.0, f32::max);
            println!(
                "step {} t {:.4} dt {:.2e} {:?} speed {:.3} KE {:.4e} maxrho {:.2} caught {} rebuilds {} skin {} nb {:.1} bytes/p {:.0} ms/step {:.2}",
                w.clock.steps,
                w.clock.time,
                w.clock.step,
                w.clock.binding,
                w.clock.speed,
                e,
                dmax,
                w.caught,
                w.neighbourhood.rebuilds,
                w.neighbourhood.skin,
                w.neighbourhood.pairs() as f64 / w.particles.len() as f64,
                w.bytes() as f64 / w.particles.len() as f64,
                t.elapsed().as_secs_f64() * 1e3 / (w.clock.steps - s0) as f64
            );
            t = std::time::Instant::now();
            s0 = w.clock.steps;
        }
    }
    for s in Stage::ALL {
        println!("{:12} {:.3} ms/step", s.name(), w.timers.spent(s).as_secs_f64() * 1e3 / steps as f64);
    }
}
