//! `littoral render`: pictures of a run's frames.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use littoral::frame::Frame;
use littoral::run_folder;
use littoral::scene::Scene;

use crate::failure::Failure;
use crate::input::Input;
use crate::picture::album::{self, Album, Settings};
use crate::picture::paint::Paint;
use crate::picture::progress::PictureProgress;
use crate::run;

/// How pictures are to look: what `film` and `render` share.
#[derive(Args)]
pub struct Looks {
    /// Balls instead of light and matter: pictures in a moment
    #[arg(long)]
    preview: bool,
    /// Colour particles by a column: speed, density-error, pressure, velocity.x, …
    #[arg(long, value_name = "COLUMN")]
    colour: Option<String>,
    /// Values of the first and the last colour [default: from the frames]
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, requires = "colour", allow_hyphen_values = true)]
    range: Option<[f32; 2]>,
    /// Pixels [default: the scene's]
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<[u32; 2]>,
    /// Light paths for each pixel [default: the scene's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub samples: Option<u32>,
}

impl Looks {
    pub fn settings(&self, scene: &Scene) -> Settings {
        Settings {
            size: self.size.unwrap_or(scene.picture.size),
            samples: self.samples.unwrap_or(scene.picture.samples),
            preview: self.preview,
            paint: None,
        }
    }

    /// Whether there will be such a column.
    pub fn check_colour(&self, scene: &Scene) -> Result<(), Failure> {
        match &self.colour {
            Some(name) => Paint::check(name, scene),
            None => Ok(()),
        }
    }

    /// With the colours that suit the run's frames.
    pub fn painted(&self, settings: Settings, scene: &Scene, run: &Path) -> Result<Settings, Failure> {
        let Some(name) = &self.colour else { return Ok(settings) };
        let paint = Paint::new(name, self.range, scene, &run_folder::frame_files(run))?;
        Ok(Settings { paint: Some(paint), ..settings })
    }
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let parts: Option<Vec<u32>> = text.split(['x', '×']).map(|part| part.trim().parse().ok()).collect();
    match parts.as_deref() {
        Some(&[width, height]) if (16..=16_384).contains(&width) && (16..=16_384).contains(&height) => {
            Ok([width, height])
        }
        _ => Err("expected for instance 1280x720, from 16 to 16384 each".to_owned()),
    }
}

fn png_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_png = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    if is_png {
        Ok(path)
    } else {
        Err("pictures are PNG files: choose a name that ends with .png".to_owned())
    }
}

fn range(text: &str) -> Result<[f32; 2], String> {
    let parts: Option<Vec<f32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match parts.as_deref() {
        Some(&[low, high]) if low < high && low.is_finite() && high.is_finite() => Ok([low, high]),
        _ => Err("expected two numbers, the lower one first: 0,2.5".to_owned()),
    }
}

#[derive(Args)]
pub struct Arguments {
    /// The folder of a run, also of one that goes on
    folder: PathBuf,
    /// Which frame: a number, `last`, or `poster` [default: all]
    #[arg(long, value_name = "N")]
    frame: Option<String>,
    #[command(flatten)]
    looks: Looks,
    /// Take camera, light and looks from this scene file instead of the run's own
    #[arg(long, value_name = "FILE")]
    scene: Option<String>,
    /// Replace a value of the scene: camera.at=[1,1,3], water.look.colour="#88ccff"
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Where a single picture goes (a PNG), instead of the run's folder
    #[arg(long, value_name = "FILE", requires = "frame", value_parser = png_file)]
    out: Option<PathBuf>,
    /// Largest file that --out may become: fewer colours if need be
    #[arg(long, value_name = "BYTES", requires = "out")]
    limit: Option<usize>,
    /// Make pictures again that are there already
    #[arg(long)]
    again: bool,
    /// Threads to use [default: all cores]; the result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Speak JSON, one object a line
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
}

pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    let voice = run::voice(arguments.quiet, arguments.json);
    run::heard(voice, || {
        let pool = run::threads(arguments.threads)?;
        pool.install(|| render(arguments))
    })
}

/// The scene to look at a run with.
pub fn scene_of(folder: &Path, other: Option<&str>, set: &[String]) -> Result<(Input, Scene), Failure> {
    let run = Input::from_run(folder)?;
    let original = run.load(&[])?.scene;
    let Some(other) = other else {
        let scene = run.load(set)?.scene;
        return same_run(run, scene, &original);
    };
    // The run's own overrides go with it: they made the frames.
    let mut input = Input::find(other)?;
    input.overrides = run.overrides;
    let scene = input.load(set)?.scene;
    same_run(input, scene, &original)
}

/// Looks may differ from those of the run, nothing else.
fn same_run(input: Input, scene: Scene, original: &Scene) -> Result<(Input, Scene), Failure> {
    if scene.hash == original.hash {
        return Ok((input, scene));
    }
    let message = "this changes more than looks: the frames in the folder are of another scene. Run it first: \
                   littoral film, or littoral run";
    Err(Failure::Input(message.to_owned()))
}

/// Without a wish of the scene's, the poster is the frame at this part of the run.
const POSTER_AT: f64 = 0.4;

/// The frame that stands for the film.
pub fn poster_frame(scene: &Scene, frames: &[(u64, PathBuf)]) -> Option<u64> {
    let last = frames.last()?.0 as f64;
    let at = match scene.picture.poster {
        Some(time) => time * scene.time.frames_per_second,
        None => POSTER_AT * last,
    };
    let wanted = at.round().clamp(0.0, last) as u64;
    frames.iter().map(|(number, _)| *number).min_by_key(|number| number.abs_diff(wanted))
}

/// The frames a user asked for.
pub fn chosen(
    scene: &Scene,
    frames: &[(u64, PathBuf)],
    wish: Option<&str>,
) -> Result<Vec<(u64, PathBuf)>, Failure> {
    let Some(wish) = wish else { return Ok(frames.to_vec()) };
    let last = frames.last().map(|(number, _)| *number);
    let number = match wish {
        "last" => last,
        "poster" => poster_frame(scene, frames),
        _ => wish.parse().ok(),
    };
    let Some(number) = number else {
        return Err(Failure::Input(format!("--frame is `{wish}`; expected a number, `last` or `poster`")));
    };
    match frames.iter().find(|(known, _)| *known == number) {
        Some(found) => Ok(vec![found.clone()]),
        None => {
            let last = last.map_or_else(|| "no frames".to_owned(), |last| format!("frames 0 to {last}"));
            Err(Failure::Input(format!("there is no frame {number}; the run has {last}")))
        }
    }
}

fn render(arguments: &Arguments) -> Result<(), Failure> {
    let voice = run::voice(arguments.quiet, arguments.json);
    let folder = &arguments.folder;
    let (input, scene) = scene_of(folder, arguments.scene.as_deref(), &arguments.set)?;
    let settings = arguments.looks.painted(arguments.looks.settings(&scene), &scene, folder)?;
    let mut album = Album::open(&scene, folder, &input.scene_folder(), settings)?;
    let frames = chosen(&scene, &album.frames, arguments.frame.as_deref())?;
    let stop = run::stop_on_interrupt(voice);
    let mut progress = PictureProgress::start(voice, "picture", frames.len());
    let mut last = None;
    for (number, path) in &frames {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            progress.stopped(&album.file(*number));
            return Err(Failure::Stopped);
        }
        last = Some(match &arguments.out {
            // A still for elsewhere leaves the pictures of a film alone.
            Some(out) => {
                let frame = Frame::read(path).map_err(|error| Failure::Run(error.to_string()))?;
                let (image, cost) = album.picture(&frame)?;
                progress.done(*number, Some(cost));
                let png = match arguments.limit {
                    Some(limit) => {
                        image.to_small_png(limit).map_err(|error| Failure::Input(error.to_string()))?
                    }
                    None => image.to_png(),
                };
                album::write(out, &png)?;
                out.clone()
            }
            None => {
                let (_, cost) = album.page(*number, path, arguments.again)?;
                progress.done(*number, cost);
                album.file(*number)
            }
        });
    }
    progress.end(&last.map(|file| ("picture", file)).into_iter().collect::<Vec<_>>());
    Ok(())
}
