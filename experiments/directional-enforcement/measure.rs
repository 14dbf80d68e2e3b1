//! Measures how far cloths stretch, and what it costs to keep them from it.
//!
//!   measure SCENE VARIANT…
//!
//! A variant is the text between the braces of the scene's `stretch-limit = {}`, and after a `;` changes to other keys as for
//! `--set`: `method = "iterative", iterations = 5; time.step=1e-3`. One line for each cloth of each variant.

use std::path::Path;
use std::time::Duration;

use littoral::behaviours::stretch_limit;
use littoral::scene::{self, Files};
use littoral::world::World;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a scene");
    let text = std::fs::read_to_string(&path).expect("a scene that can be read");
    println!(
        "| variant | cloth | largest stretch | in the last quarter | mean | fastest | µs a step | lists | ms a list |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for variant in arguments {
        let (law, others) = variant.split_once(';').unwrap_or((&variant, ""));
        let text = text.replace("stretch-limit = {}", &format!("stretch-limit = {{ {law} }}"));
        let others: Vec<String> = others.split_whitespace().map(str::to_owned).collect();
        let folder = Path::new(&path).parent().map(Path::to_owned);
        let files = Files::beside(folder);
        let (scene, _) =
            scene::load_with(&path, &text, &others, &files).unwrap_or_else(|all| panic!("{all}"));
        measure(&variant, &scene);
    }
}

/// What is kept of a cloth over a run.
#[derive(Clone, Copy, Default)]
struct Record {
    most: f32,
    most_late: f32,
    mean: f64,
}

fn measure(variant: &str, scene: &scene::Scene) {
    let mut world = World::new(scene);
    let until = scene.time.until;
    let mut records = vec![Record::default(); world.structure.limited.len()];
    // The median of all steps: other programs on the machine delay some of them.
    let mut times = vec![Vec::new(); records.len()];
    let mut spent = vec![Duration::ZERO; records.len()];
    let mut fastest = 0.0f32;
    let ended = world.advance_with(until, |world| {
        fastest = fastest.max(world.clock.speed);
        for (k, cloth) in world.structure.limited.iter().enumerate() {
            times[k].push(cloth.spent - std::mem::replace(&mut spent[k], cloth.spent));
        }
        for (record, (most, mean)) in records.iter_mut().zip(stretch_limit::stretch(world)) {
            record.most = record.most.max(most);
            record.mean += f64::from(mean);
            if world.clock.time > 0.75 * until {
                record.most_late = record.most_late.max(most);
            }
        }
    });
    if let Err(error) = ended {
        println!("| {variant} | {error} |");
    }
    let steps = world.clock.steps as f64;
    for ((cloth, record), times) in world.structure.limited.iter().zip(&records).zip(&mut times) {
        times.sort();
        let name = &scene.bodies[cloth.body as usize].name;
        println!(
            "| {variant} | {name} | {:.2} % | {:.2} % | {:.3} % | {fastest:.1} | {:.1} | {} | {:.2} |",
            100.0 * record.most,
            100.0 * record.most_late,
            100.0 * record.mean / steps,
            1e6 * times[times.len() / 2].as_secs_f64(),
            cloth.lists_made,
            1e3 * cloth.listing.as_secs_f64() / f64::from(cloth.lists_made.max(1)),
        );
    }
}
