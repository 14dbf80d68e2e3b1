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
    #[command(flatten)]
    pub run: RunArguments,
    /// Go on with the run that is in the folder
    #[arg(long, conflicts_with = "fresh")]
    resume: bool,
}

/// What every command that runs a scene takes.
#[derive(Args)]
pub struct RunArguments {
    /// A scene file, a name from `littoral scenes`, or the folder of an earlier run
    pub scene: String,
    /// Where frames go [default: out/<name of the scene>]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// When to end, in seconds of the scene: short for --set time.until=S
    #[arg(long, value_name = "S", conflicts_with = "frames")]
    until: Option<String>,
    /// End with frame N
    #[arg(long, value_name = "N")]
    pub frames: Option<u64>,
    /// Threads to use [default: all cores]; the result does not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
    /// Where to compute
    #[arg(long, value_enum, default_value = "cpu")]
    backend: BackendName,
    /// Replace a value of the scene: time.until=2, water.viscosity.dynamic_viscosity=0.1
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Remove the run that is in the folder, and start anew
    #[arg(long)]
    pub fresh: bool,
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

impl RunArguments {
    pub fn voice(&self) -> Voice {
        voice(self.quiet, self.json)
    }

    /// Overrides, with the short forms spelled out.
    pub fn overrides(&self) -> Vec<String> {
        let mut overrides = self.set.clone();
        overrides.extend(self.until.iter().map(|until| format!("time.until={until}")));
        overrides
    }

    /// Where the run goes.
    pub fn folder(&self, input: &Input) -> PathBuf {
        self.out.clone().unwrap_or_else(|| input.folder.clone())
    }

    fn options(&self, input: &Input, loaded: &Loaded, existing: Existing) -> Result<Options, Failure> {
        let checkpoint_every = Duration::try_from_secs_f64(self.checkpoint_every)
            .map_err(|error| Failure::Input(format!("--checkpoint-every: {error}")))?;
        Ok(Options {
            existing: if self.fresh { Existing::Remove } else { existing },
            scene_text: input.text.clone(),
            overrides: loaded.overrides.clone(),
            scene_folder: input.scene_folder.clone(),
            warnings: loaded.warnings.iter().map(ToString::to_string).collect(),
            last_frame: self.frames,
            threads: self.threads,
            backend: match self.backend {
                BackendName::Cpu => Backend::Cpu,
                BackendName::Gpu => Backend::Gpu,
            },
            checkpoint_every,
            ..Options::new(self.folder(input))
        })
    }
}

pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    let voice = arguments.run.voice();
    let existing = if arguments.resume { Existing::Resume } else { Existing::Refuse };
    heard(voice, || {
        let input = Input::find(&arguments.run.scene)?;
        let loaded = input.load(&arguments.run.overrides())?;
        simulate(&arguments.run, &input, &loaded, existing, &stop_on_interrupt(voice))
    })
}

pub fn voice(quiet: bool, json: bool) -> Voice {
    match (quiet, json) {
        (true, _) => Voice::Quiet,
        (_, true) => Voice::Json,
        _ => Voice::Human,
    }
}

/// So many threads, or all cores.
pub fn threads(wish: Option<NonZeroUsize>) -> Result<rayon::ThreadPool, Failure> {
    let threads = wish.map_or(0, NonZeroUsize::get);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Failure::Input(format!("cannot start {threads} threads: {error}")))
}

/// Machines get failures as JSON.
pub fn heard(voice: Voice, work: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    work().map_err(|failure| match voice {
        Voice::Json if !matches!(failure, Failure::Stopped) => {
            crate::print(&format!("{}\n", failure.to_json()));
            failure.silenced()
        }
        _ => failure,
    })
}

/// Runs a scene to its end, or until `stop`.
pub fn simulate(
    arguments: &RunArguments,
    input: &Input,
    loaded: &Loaded,
    existing: Existing,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let options = arguments.options(input, loaded, existing)?;
    let mut simulation = Simulation::new(loaded.scene.clone(), options)?;

    let started = Instant::now();
    let mut progress = Progress::start(arguments.voice(), &simulation, &loaded.warnings);
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
pub fn stop_on_interrupt(voice: Voice) -> Arc<AtomicBool> {
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
