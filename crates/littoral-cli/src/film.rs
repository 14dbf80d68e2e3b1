//! `littoral film`: from a scene to a film, in one command.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use littoral::run_folder::Existing;
use littoral::scene::{Body, Scene};
use littoral::simulation;
use littoral_picture::film::{self, FilmWriter};

use crate::failure::Failure;
use crate::input::{Input, Loaded};
use crate::picture::album::{self, Album, Settings};
use crate::picture::progress::PictureProgress;
use crate::picture::subjects::Subjects;
use crate::progress::Voice;
use crate::render::{self, Looks};
use crate::run::{self, RunArguments};

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    #[command(flatten)]
    looks: Looks,
    /// A first look: fewer particles, smaller pictures, less light
    #[arg(long)]
    quick: bool,
}

/// How much coarser, and how much smaller, a first look is.
const QUICK_SPACING: f64 = 1.3;
const QUICK_SIZE: [u32; 2] = [640, 360];
const QUICK_SAMPLES: u32 = 8;

pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    let voice = arguments.run.voice();
    run::heard(voice, || {
        let mut input = Input::find(&arguments.run.scene)?;
        let loaded = load(arguments, &mut input)?;
        let mut settings = arguments.looks.settings(&loaded.scene);
        if arguments.quick {
            settings.size = arguments.looks.size.unwrap_or(QUICK_SIZE);
            settings.samples = arguments.looks.samples.unwrap_or(QUICK_SAMPLES);
        }
        check(&settings, &arguments.looks, &input, &loaded.scene)?;
        let stop = run::stop_on_interrupt(voice);
        // What is there is gone on with: a film can be asked for again and again.
        let run = run::simulate(&arguments.run, &input, &loaded, Existing::Resume, &stop);
        if matches!(run, Err(Failure::Stopped)) && voice == Voice::Human {
            crate::print("  or make the film: the same command goes on\n");
        }
        run?;
        let folder = arguments.run.folder(&input);
        let pool = run::threads(arguments.run.threads)?;
        let mut making = Making { scene: &loaded.scene, folder: &folder, stop: &stop };
        pool.install(|| making.make(&input.scene_folder(), settings, arguments))
    })
}

/// The scene; for a first look, a coarser one in a folder of its own. A run that is there stays as fine as it is.
fn load(arguments: &Arguments, input: &mut Input) -> Result<Loaded, Failure> {
    let overrides = arguments.run.overrides();
    let loaded = input.load(&overrides)?;
    if !arguments.quick || input.is_run {
        return Ok(loaded);
    }
    let name = input.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    input.folder.set_file_name(format!("{name}-quick"));
    // Before the user's own overrides, which win.
    let scene = &loaded.scene;
    let coarser = if scene.coarsest() > scene.sph.spacing {
        let body = |body: &Body| format!("{}.spacing={}", body.name, QUICK_SPACING * body.spacing);
        scene.bodies.iter().map(body).collect()
    } else {
        vec![format!("sph.spacing={}", QUICK_SPACING * scene.sph.spacing)]
    };
    let chosen = overrides.iter().any(|one| one.trim_start().starts_with("sph"));
    if chosen { Ok(loaded) } else { input.load(&[coarser, overrides].concat()) }
}

/// What would go wrong after the run, found before it.
fn check(settings: &Settings, looks: &Looks, input: &Input, scene: &Scene) -> Result<(), Failure> {
    let bad = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let [width, height] = settings.size.map(|pixels| pixels as usize);
    film::check_size(width, height).map_err(|error| bad(&error))?;
    looks.check_colour(scene)?;
    Subjects::new(scene, &input.scene_folder(), Path::new(""), 0.0).check_meshes()
}

struct Making<'a> {
    scene: &'a Scene,
    folder: &'a Path,
    stop: &'a AtomicBool,
}

impl Making<'_> {
    fn make(&mut self, files: &Path, settings: Settings, arguments: &Arguments) -> Result<(), Failure> {
        let settings = arguments.looks.painted(settings, self.scene, self.folder)?;
        let [width, height] = settings.size.map(|pixels| pixels as usize);
        let mut album = Album::open(self.scene, self.folder, files, settings)?;
        // A folder may hold a longer run than was asked for.
        let last = arguments.run.frames.unwrap_or_else(|| simulation::last_frame(&self.scene.time));
        let mut frames = album.frames.clone();
        frames.retain(|(number, _)| *number <= last);
        let file = self.folder.join(album.name("film") + ".mp4");
        let poster = self.folder.join(album.name("poster") + ".png");
        let poster_frame = render::poster_frame(self.scene, &frames);

        let failed = |error: film::FilmError| Failure::Run(error.to_string());
        let rate = self.scene.picture.frames_per_second;
        let mut writer = FilmWriter::create(&file, width, height, rate).map_err(failed)?;
        let mut progress = PictureProgress::start(arguments.run.voice(), "picture", frames.len());
        for (number, path) in &frames {
            if self.stop.load(Ordering::Relaxed) {
                progress.stopped(&file);
                return Err(Failure::Stopped);
            }
            let (image, cost) = album.page(*number, path, false)?;
            progress.done(*number, cost);
            writer.push(&image).map_err(failed)?;
            if Some(*number) == poster_frame {
                album::write(&poster, &image.to_png())?;
            }
        }
        writer.finish().map_err(failed)?;
        progress.end(&[("film", file), ("poster", poster)]);
        Ok(())
    }
}
