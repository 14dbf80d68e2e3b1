//! `littoral check`.

use clap::Args;
use littoral::plan::Plan;
use littoral::scene::Scene;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::input::{Input, Loaded};
use crate::{print, text};

#[derive(Args)]
pub struct Arguments {
    /// Scene files, or names from `littoral scenes`
    #[arg(required = true)]
    scenes: Vec<String>,
    /// Replace a value of the scene, as in `littoral run`
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Speak JSON, one object for each scene
    #[arg(long)]
    json: bool,
}

pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    let mut sound = true;
    for name in &arguments.scenes {
        let checked = Input::find(name).and_then(|input| input.load(&arguments.set));
        sound &= checked.is_ok();
        match (checked, arguments.json) {
            (Ok(loaded), false) => {
                loaded.warnings.iter().for_each(|warning| eprintln!("{}", warning.plain()));
                print(&describe(name, &loaded.scene));
            }
            (Err(failure), false) => failure.show(),
            (Ok(loaded), true) => print(&format!("{}\n", to_json(name, &loaded))),
            (Err(failure), true) => {
                let mut line = failure.to_json();
                line.as_object_mut().expect("an object").remove("event");
                line["scene"] = json!(name);
                line["ok"] = json!(false);
                print(&format!("{line}\n"));
            }
        }
    }
    if sound { Ok(()) } else { Err(Failure::Silent(2)) }
}

fn describe(name: &str, scene: &Scene) -> String {
    let plan = Plan::of(scene);
    let particles = match (plan.particles, plan.emitted) {
        (start, 0.0) => format!("{} particles", text::about(start)),
        (0.0, emitted) => format!("{} particles from emitters", text::about(emitted)),
        (start, emitted) => {
            format!("{} particles, {} more from emitters", text::about(start), text::about(emitted))
        }
    };
    let solids = match plan.solid_samples {
        0.0 => String::new(),
        samples => format!(" ({} of them on solids)", text::about(samples)),
    };
    format!(
        "{name}: all right\n  \
         about {particles}, {} wall samples{solids}, {}\n  \
         frames 0 to {}, about {} steps of {:.1e} s: {}\n",
        text::about(plan.walls),
        text::bytes(plan.bytes),
        plan.frames,
        text::about(plan.steps),
        plan.step,
        plan.limit,
    )
}

fn to_json(name: &str, loaded: &Loaded) -> Value {
    let plan = Plan::of(&loaded.scene);
    json!({
        "scene": name,
        "ok": true,
        "problems": loaded.warnings,
        "title": loaded.scene.title,
        "scene_hash": loaded.scene.hash,
        "particles": plan.particles.round(),
        "emitted": plan.emitted.round(),
        "walls": plan.walls.round(),
        "solid_samples": plan.solid_samples.round(),
        "bytes": plan.bytes.round(),
        "step": plan.step,
        "limit": plan.limit,
        "steps": plan.steps,
        "last_frame": plan.frames,
    })
}
