//! The command `littoral`. It reads arguments and writes text; the library does the work.

mod behaviours;
mod check;
mod correction_map;
mod failure;
mod film;
mod info;
mod input;
mod picture;
mod plot;
mod progress;
mod render;
mod run;
mod scenes;
mod surface;
mod text;
mod validate;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// One particle world for everything that meets at the waterline.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scene and make a film of it
    Film(film::Arguments),
    /// Run a scene, and write its frames
    Run(run::Arguments),
    /// Make pictures of a run's frames
    Render(render::Arguments),
    /// Write the surfaces of a run's bodies as meshes
    Surface(surface::Arguments),
    /// Plot energies, density errors and time steps of a run
    Plot(plot::Arguments),
    /// Draw in which order the edges of cloths are kept from stretching
    CorrectionMap(correction_map::Arguments),
    /// Find everything that is wrong with scenes, and what they would take to run
    Check(check::Arguments),
    /// List the scenes that come with the program, or print one
    Scenes(scenes::Arguments),
    /// List the behaviours that bodies can follow, or explain one
    Behaviours(behaviours::Arguments),
    /// Tell about a run: how far it came, what is in its frames, how fast it was
    Info(info::Arguments),
    /// Check the physics against known answers
    Validate(validate::Arguments),
    /// Print the JSON Schema of scenes, for editors that complete and check as you write
    Schema,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Film(arguments) => film::command(&arguments),
        Command::Run(arguments) => run::command(&arguments),
        Command::Render(arguments) => render::command(&arguments),
        Command::Surface(arguments) => surface::command(&arguments),
        Command::Plot(arguments) => plot::command(&arguments),
        Command::CorrectionMap(arguments) => correction_map::command(&arguments),
        Command::Check(arguments) => check::command(&arguments),
        Command::Scenes(arguments) => scenes::command(&arguments).map(|text| print(&text)),
        Command::Behaviours(arguments) => behaviours::command(&arguments).map(|text| print(&text)),
        Command::Info(arguments) => info::command(&arguments).map(|text| print(&text)),
        Command::Validate(arguments) => validate::command(&arguments),
        Command::Schema => {
            print(&format!("{:#}\n", littoral::scene::json_schema()));
            Ok(())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.show();
            failure.exit_code()
        }
    }
}

/// Prints to stdout. A reader that has gone away (`| head`) has read enough.
fn print(text: &str) {
    let _ = io::stdout().lock().write_all(text.as_bytes());
}
