//! `littoral scenes`.

use clap::Args;
use littoral::gallery::{self, GALLERY};
use littoral::plan::Plan;
use littoral::scene;

use crate::failure::Failure;
use crate::text;

#[derive(Args)]
pub struct Arguments {
    /// The scene to print
    name: Option<String>,
    /// List names only, one a line
    #[arg(long, conflicts_with = "name")]
    names: bool,
}

pub fn command(arguments: &Arguments) -> Result<String, Failure> {
    match &arguments.name {
        Some(name) => print_one(name),
        None if arguments.names => Ok(gallery::names().join("\n") + "\n"),
        None => list(),
    }
}

fn print_one(name: &str) -> Result<String, Failure> {
    gallery::find(name).map(str::to_owned).ok_or_else(|| {
        let near = gallery::suggest(name).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let known = gallery::names().join(", ");
        Failure::Input(format!("there is no scene `{name}`{near}\n  scenes of the gallery: {known}"))
    })
}

fn list() -> Result<String, Failure> {
    let mut rows = Vec::new();
    for (name, scene_text) in GALLERY {
        let (scene, _) = scene::load(name, scene_text, &[])?;
        let plan = Plan::of(&scene);
        let size = text::about(plan.particles + plan.emitted);
        let summary = gallery::summary(scene_text).to_owned();
        rows.push(vec![
            (*name).to_owned(),
            format!("{}-D", scene.dimensions.count()),
            format!("{size:>8} particles"),
            summary,
        ]);
    }
    let first = GALLERY[0].0;
    Ok(format!(
        "{}\nA film of one: littoral film {first}; its frames only: littoral run {first}\n",
        text::columns(&rows)
    ))
}
