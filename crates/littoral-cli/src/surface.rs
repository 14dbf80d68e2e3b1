//! `littoral surface`: meshes of a run's bodies, for the tools people render with.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::{Args, ValueEnum};
use glam::Vec3;
use littoral::frame::Frame;
use littoral::scene::Draw;
use littoral::table::Values;
use littoral_picture::exchange::{self, ExchangeError};
use littoral_picture::mesh::Attribute;

use crate::failure::Failure;
use crate::picture::album::Cost;
use crate::picture::progress::PictureProgress;
use crate::picture::subjects::Subjects;
use crate::{render, run};

#[derive(Args)]
pub struct Arguments {
    /// The folder of a run
    folder: PathBuf,
    /// Which frame: a number, `last`, or `poster` [default: all]
    #[arg(long, value_name = "N")]
    frame: Option<String>,
    /// What to write
    #[arg(long, value_enum, default_value = "ply")]
    format: Format,
    /// Write the particles too, as PLY points with all their columns
    #[arg(long)]
    particles: bool,
    /// Replace a value of the scene: picture.surface=zhu-bridson, picture.cell=0.4
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Where meshes go [default: DIR/surfaces]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
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

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Binary PLY, with normals, velocity and wetness
    Ply,
    /// Wavefront OBJ, with normals
    Obj,
    /// VTK XML, with normals, velocity and wetness
    Vtp,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Format::Ply => "ply",
            Format::Obj => "obj",
            Format::Vtp => "vtp",
        }
    }
}

pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    let voice = run::voice(arguments.quiet, arguments.json);
    run::heard(voice, || run::threads(arguments.threads)?.install(|| surface(arguments)))
}

fn surface(arguments: &Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let (input, scene) = render::scene_of(folder, None, &arguments.set)?;
    let all = littoral::run_folder::frame_files(folder);
    let frames = render::chosen(&scene, &all, arguments.frame.as_deref())?;
    let Some((_, first)) = all.first() else {
        return Err(Failure::Input(format!("`{}` holds no frames", folder.display())));
    };
    let subjects = Subjects::new(&scene, &input.scene_folder(), first, f32::INFINITY);
    if !scene.bodies.iter().any(|body| body.look.draw == Draw::Surface) && !arguments.particles {
        let message =
            "no body of this scene is drawn as a surface; --particles writes the particles themselves";
        return Err(Failure::Input(message.to_owned()));
    }
    let out = arguments.out.clone().unwrap_or_else(|| folder.join("surfaces"));
    std::fs::create_dir_all(&out)
        .map_err(|error| Failure::Run(format!("cannot write to `{}`: {error}", out.display())))?;
    let voice = run::voice(arguments.quiet, arguments.json);
    let mut progress = PictureProgress::start(voice, "surface", frames.len());
    let stop = run::stop_on_interrupt(voice);
    for (number, path) in &frames {
        if stop.load(Ordering::Relaxed) {
            progress.stopped(&out);
            return Err(Failure::Stopped);
        }
        let start = Instant::now();
        let frame = Frame::read(path).map_err(|error| Failure::Run(error.to_string()))?;
        let failed = |error: ExchangeError| Failure::Run(error.to_string());
        for (name, mesh) in subjects.surfaces(&frame) {
            let file = format!("{name}-{number:06}.{}", arguments.format.ending());
            exchange::write_mesh(&out.join(file), &mesh).map_err(failed)?;
        }
        if arguments.particles {
            let (positions, attributes) = points(&frame);
            let file = out.join(format!("all-particles-{number:06}.ply"));
            exchange::write_points(&file, &positions, &attributes).map_err(failed)?;
        }
        progress.done(*number, Some(Cost { rays: 0, seconds: start.elapsed().as_secs_f64() }));
    }
    progress.end(&[("surfaces", out)]);
    Ok(())
}

/// All particles, with every column but their positions as attributes.
fn points(frame: &Frame) -> (Vec<Vec3>, Vec<Attribute>) {
    let positions =
        frame.vectors("position").unwrap_or_default().iter().map(|&p| Vec3::from_array(p)).collect();
    let attribute = |column: &littoral::table::TableColumn| {
        let (width, values) = match &column.values {
            Values::Scalars(numbers) => (1, numbers.clone()),
            Values::Indices(numbers) => (1, numbers.iter().map(|&number| number as f32).collect()),
            Values::Vectors { width, numbers } => (*width, numbers.clone()),
        };
        Attribute { name: column.name.clone(), width, values }
    };
    let others = frame.columns.iter().filter(|column| column.name != "position");
    (positions, others.map(attribute).collect())
}
