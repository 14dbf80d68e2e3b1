//! `littoral run`.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use littoral::backend::Backend;
use littoral::run_folder::Existing;
use littoral::simulation::{Event, Options, Outcome, Simulation};

use crate::failure::Failure;
use crate::input::{Input, Loaded};
use crate::progress::{Progress, Voice};

#[derive(Args)]
pub struct Arguments {
    /// A scene file, a name from `littoral scenes`, or the folder of an earlier run
    scene: String,
    /// Where frames go [default: out/<name of the scene>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// When to end, in seconds of the scene: short for --set time.until=S
    #[arg(long, value_name = "S", conflicts_with = "frames")]
    until: Option<String>,
    /// End with frame N
    #[arg(long, value_name = "N")]
    frames: Option<u64>,
    /// Threads to use [default: all cores]; the result does not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Where to compute
    #[arg(long, value_enum, default_value = "cpu")]
    backend: BackendName,
    /// Replace a value of the scene: time.until=2, water.viscosity.dynamic_viscosity=0.1
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Go on with the run that is in the folder
    #[arg(long, conflicts_with = "fresh")]
    resume: bool,
    /// Remove the run that is in the folder, and start anew
    #[arg(long)]
    fresh: bool,
    /// Seconds between checkpoints, at least
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    checkpoint_every: f64,
    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Speak JSON, one object a line
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum BackendName {
    Cpu,
    Gpu,
}

impl Arguments {
    fn voice(&self) -> Voice {
        match (self.quiet, self.json) {
            (true, _) => Voice::Quiet,
            (_, true) => Voice::Json,
            _ => Voice::Human,
        }
    }

    fn options(&self, input: &Input, loaded: &Loaded) -> Result<Options, Failure> {
        let existing = match (self.resume, self.fresh) {
            (true, _) => Existing::Resume,
            (_, true) => Existing::Remove,
            _ => Existing::Refuse,
        };
        let checkpoint_every = Duration::try_from_secs_f64(self.checkpoint_every)
            .map_err(|error| Failure::Input(format!("--checkpoint-every: {error}")))?;
        Ok(Options {
            existing,
            scene_text: input.text.clone(),
            overrides: loaded.overrides.clone(),
            warnings: loaded.warnings.iter().map(ToString::to_string).collect(),
            last_frame: self.frames,
            threads: self.threads,
            backend: match self.backend {
                BackendName::Cpu => Backend::Cpu,
                BackendName::Gpu => Backend::Gpu,
            },
            checkpoint_every,
            ..Options::new(self.out.clone().unwrap_or_else(|| input.folder.clone()))
        })
    }
}

pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    let voice = arguments.voice();
    run(arguments, voice).map_err(|failure| match voice {
        Voice::Json if !matches!(failure, Failure::Stopped) => {
            crate::print(&format!("{}\n", failure.to_json()));
            failure.silenced()
        }
        _ => failure,
    })
}

fn run(arguments: &Arguments, voice: Voice) -> Result<(), Failure> {
    let input = Input::find(&arguments.scene)?;
    let mut overrides = arguments.set.clone();
    overrides.extend(arguments.until.iter().map(|until| format!("time.until={until}")));
    let loaded = input.load(&overrides)?;
    let options = arguments.options(&input, &loaded)?;
    let mut simulation = Simulation::new(loaded.scene, options)?;

    let started = Instant::now();
    let mut progress = Progress::start(voice, &simulation, &loaded.warnings);
    let stop = stop_on_interrupt(voice);
    let outcome = simulation.run(|event| {
        match event {
            Event::Step(world) => progress.step(world),
            Event::Frame(record) => progress.frame(record),
        }
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.clear();
    let outcome = outcome?;
    progress.end(&simulation, outcome, started.elapsed());
    if outcome == Outcome::Stopped { Err(Failure::Stopped) } else { Ok(()) }
}

/// The first Ctrl-C (or SIGTERM) asks for an end after the frame, the second does not ask.
fn stop_on_interrupt(voice: Voice) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let heard = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        if voice == Voice::Human {
            eprintln!("\nstopping after this frame; press Ctrl-C again to stop at once");
        }
    });
    if let Err(error) = heard {
        eprintln!("warning: Ctrl-C will stop at once: {error}");
    }
    stop
}
