//! The outer loop: frames, output, restarts.
//!
//! Frame k is the state at k / `frames_per_second`; frame 0 is the scene before anything has moved, with its
//! density and pressure. Density and pressure of the others are those that the last forces were made of: where
//! particles were one drift before.
//!
//! At the end of every frame the world forgets its lists of neighbours. That costs one search a frame, and
//! makes a run that goes on from a checkpoint the same, bit for bit, as one that was never stopped.

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use thiserror::Error;

use crate::backend::{Backend, BackendError, Engine};
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::diagnostics;
use crate::frame::{Frame, VERSION};
use crate::report::{Amount, FrameRecord, Report, WallTime};
use crate::run_folder::{self, Existing, FolderError, RunFolder};
use crate::scene::{Scene, Time};
use crate::solids::SolidState;
use crate::sources::{Drain, Emitter};
use crate::table::TableError;
use crate::timers::Stage;
use crate::timestep::Limit;
use crate::world::World;

/// How a scene is run, as opposed to what it is.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where frames go.
    pub folder: PathBuf,
    pub existing: Existing,
    /// The scene's text and overrides, which are kept with the frames.
    pub scene_text: String,
    pub overrides: Vec<String>,
    /// Where the scene came from, and with it the files it names.
    pub scene_folder: Option<PathBuf>,
    /// What looked wrong with the scene, for the report.
    pub warnings: Vec<String>,
    /// The frame to end with; that of the scene's `until` when absent.
    pub last_frame: Option<u64>,
    /// As many as there are cores when absent. The result does not depend on it.
    pub threads: Option<NonZeroUsize>,
    pub backend: Backend,
    /// A checkpoint is written at most this often, and at the end.
    pub checkpoint_every: Duration,
}

impl Options {
    /// Into a folder, with everything else as usual.
    pub fn new(folder: impl Into<PathBuf>) -> Options {
        Options {
            folder: folder.into(),
            existing: Existing::default(),
            scene_text: String::new(),
            overrides: Vec::new(),
            scene_folder: None,
            warnings: Vec::new(),
            last_frame: None,
            threads: None,
            backend: Backend::Cpu,
            checkpoint_every: Duration::from_secs(30),
        }
    }
}

/// What happens during a run.
pub enum Event<'a> {
    /// A time step was taken.
    Step(&'a World),
    /// A frame is on disk.
    Frame(&'a FrameRecord),
}

/// How a run ended, if not with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Finished,
    /// The listener asked for it; the checkpoint is that of the last frame.
    Stopped,
    /// There was nothing left to do.
    AlreadyComplete,
}

#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Table(#[from] TableError),
    #[error("cannot write `{}`: {source}", path.display())]
    Report { path: PathBuf, source: io::Error },
    #[error("cannot start {wanted} threads: {source}")]
    Threads { wanted: usize, source: rayon::ThreadPoolBuildError },
    #[error(transparent)]
    Backend(#[from] BackendError),
}

impl RunError {
    /// Whether the run cannot be done as asked, as opposed to having failed on its way.
    pub fn is_bad_input(&self) -> bool {
        matches!(self, RunError::Folder(_) | RunError::Checkpoint(_) | RunError::Threads { .. })
            || matches!(self, RunError::Backend(BackendError::Unavailable(_)))
    }
}

/// Number of the last frame of a run that ends at `until`.
pub fn last_frame(time: &Time) -> u64 {
    // 0.3 s at 10 frames a second are 3 frames, although 0.3 · 10 is a little less in binary.
    (time.until * time.frames_per_second * (1.0 + 1e-9)).floor() as u64
}

/// A scene on its way.
pub struct Simulation {
    scene: Scene,
    folder: RunFolder,
    world: World,
    engine: Engine,
    pool: ThreadPool,
    report: Report,
    /// Wall time of earlier sessions.
    before: WallTime,
    started: Instant,
    output: Duration,
    checkpointed: Instant,
    checkpoint_every: Duration,
    /// The frame to make next.
    next: u64,
}

impl Simulation {
    /// Takes hold of the folder and puts the scene, or the state to go on from, into place.
    pub fn new(scene: Scene, options: Options) -> Result<Simulation, RunError> {
        let threads = options.threads.map_or(0, NonZeroUsize::get);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|source| RunError::Threads { wanted: threads, source })?;
        let mut world = pool.install(|| World::new(&scene));
        // Whatever can fail comes before anything is removed.
        let ready = match options.existing {
            Existing::Resume => None,
            _ => Some(Engine::new(options.backend, &world)?),
        };
        let folder = RunFolder::open(&options.folder, &scene, options.existing)?;
        let mut next = 0;
        let (mut earlier, mut found) = (Report::default(), None);
        if options.existing == Existing::Resume {
            found = Report::read(&folder.report()).ok();
            earlier = found.clone().unwrap_or_default();
            if folder.checkpoint().exists() {
                let checkpoint = Checkpoint::read(&folder.checkpoint())?;
                if checkpoint.state.scene_hash != scene.hash {
                    let what = "it is of another scene; --fresh starts anew".to_owned();
                    return Err(CheckpointError::Unfit { what }.into());
                }
                next = checkpoint.state.frame + 1;
                world.restore(checkpoint)?;
            }
            earlier.frames.retain(|record| record.frame < next);
        }

        let engine = match ready {
            Some(engine) => engine,
            None => Engine::new(options.backend, &world)?,
        };
        let report = Report {
            littoral: VERSION.to_owned(),
            title: scene.title.clone(),
            scene_hash: scene.hash.clone(),
            overrides: options.overrides,
            scene_folder: options.scene_folder,
            seed: scene.seed,
            dimensions: scene.dimensions.count(),
            spacing: scene.sph.spacing,
            frames_per_second: scene.time.frames_per_second,
            bodies: scene.bodies.iter().map(|body| body.name.clone()).collect(),
            backend: options.backend.name().to_owned(),
            device: engine.device(),
            threads: pool.current_num_threads(),
            last_frame: options.last_frame.unwrap_or_else(|| last_frame(&scene.time)),
            warnings: options.warnings,
            wall_time: earlier.wall_time.clone(),
            frames: earlier.frames,
            ..Report::default()
        };
        let now = Instant::now();
        let mut simulation = Simulation {
            scene,
            folder,
            world,
            engine,
            pool,
            report,
            before: earlier.wall_time,
            started: now,
            output: Duration::ZERO,
            checkpointed: now,
            checkpoint_every: options.checkpoint_every,
            next,
        };
        // Looks may have changed since, in the text or in the overrides.
        let written = simulation.folder.write_scene(&options.scene_text);
        let path = run_folder::scene_file(simulation.folder.path());
        written.map_err(|source| RunError::Report { path, source })?;
        match found {
            // A complete run keeps the report it has, but for those.
            Some(found) if simulation.is_complete() => {
                let Report { title, mut overrides, scene_folder, .. } = simulation.report.clone();
                let is_end = |one: &&String| one.trim_start().starts_with("time.until");
                let rest =
                    |all: &[String]| all.iter().filter(|one| !is_end(one)).cloned().collect::<Vec<_>>();
                if rest(&overrides) == rest(&found.overrides) {
                    overrides.clone_from(&found.overrides);
                }
                let report = Report { title, overrides, scene_folder, ..found };
                let written = report.write(&simulation.folder.report());
                written.map_err(|source| simulation.report_error(source))?;
            }
            _ => {
                simulation.report.finished = simulation.is_complete();
                simulation.write_report()?;
            }
        }
        Ok(simulation)
    }

    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    pub fn report(&self) -> &Report {
        &self.report
    }

    pub fn folder(&self) -> &RunFolder {
        &self.folder
    }

    /// Time spent on writing frames and checkpoints in this session.
    pub fn output_time(&self) -> Duration {
        self.output
    }

    /// The frame that comes next.
    pub fn next_frame(&self) -> u64 {
        self.next
    }

    pub fn is_complete(&self) -> bool {
        self.next > self.report.last_frame
    }

    /// Runs until the last frame, an error, or until the listener breaks at a frame.
    pub fn run(
        &mut self,
        mut on_event: impl FnMut(Event) -> ControlFlow<()> + Send,
    ) -> Result<Outcome, RunError> {
        if self.is_complete() {
            return Ok(Outcome::AlreadyComplete);
        }
        self.started = Instant::now();
        self.checkpointed = self.started;
        let result = self.make_frames(&mut on_event);
        match &result {
            Ok(outcome) => self.report.finished = *outcome == Outcome::Finished,
            Err(error) => self.report.error = Some(error.to_string()),
        }
        // What went wrong first matters more than a report that cannot be written.
        let written = self.write_report();
        result.and_then(|outcome| written.map(|()| outcome))
    }

    fn make_frames(
        &mut self,
        on_event: &mut (impl FnMut(Event) -> ControlFlow<()> + Send),
    ) -> Result<Outcome, RunError> {
        loop {
            let start = Instant::now();
            let frame = self.next;
            self.advance(frame, on_event)?;
            self.write_frame(frame, start)?;
            self.next += 1;
            // Before the checkpoint: a report may know of frames that a resumed run makes again, not the reverse.
            self.write_report()?;

            let record = self.report.frames.last().expect("just added");
            let asked_to_stop = on_event(Event::Frame(record)).is_break();
            let ends = asked_to_stop || self.is_complete();
            if ends || self.checkpointed.elapsed() >= self.checkpoint_every {
                self.write_checkpoint(frame)?;
            }
            if ends {
                return Ok(if self.is_complete() { Outcome::Finished } else { Outcome::Stopped });
            }
        }
    }

    /// From the frame before to this one.
    fn advance(
        &mut self,
        frame: u64,
        on_event: &mut (impl FnMut(Event) -> ControlFlow<()> + Send),
    ) -> Result<(), BackendError> {
        let (world, engine) = (&mut self.world, &mut self.engine);
        let end = frame as f64 / self.scene.time.frames_per_second;
        self.pool.install(|| {
            if frame == 0 {
                world.evaluate();
            } else {
                // A step is no place to stop: the listener is only told.
                engine.advance_to(world, end, |world| _ = on_event(Event::Step(world)))?;
            }
            world.forget_neighbours();
            Ok(())
        })
    }

    fn write_frame(&mut self, frame: u64, start: Instant) -> Result<(), RunError> {
        let (scene, world) = (&self.scene, &self.world);
        let diagnostics = self.pool.install(|| diagnostics::measure(scene, world));
        let clock = &world.clock;
        let written = Instant::now();
        Frame::of(scene, world, frame).write(&self.folder.frame(frame))?;
        self.output += written.elapsed();
        self.report.frames.push(FrameRecord {
            frame,
            time: clock.time,
            steps: clock.steps,
            dt: clock.step,
            limit: clock.binding.name().to_owned(),
            particles: world.particles.len(),
            solids: world.solids.iter().map(SolidState::record).collect(),
            solves: self.world.solves.take(),
            diagnostics,
            wall_seconds: start.elapsed().as_secs_f64(),
        });
        Ok(())
    }

    fn write_checkpoint(&mut self, frame: u64) -> Result<(), RunError> {
        let start = Instant::now();
        Checkpoint::of(&self.scene, &self.world, frame).write(&self.folder.checkpoint())?;
        self.output += start.elapsed();
        self.checkpointed = Instant::now();
        Ok(())
    }

    fn write_report(&mut self) -> Result<(), RunError> {
        let world = &self.world;
        let report = &mut self.report;
        report.steps = world.clock.steps;
        report.particles = world.particles.len();
        report.walls = world.walls.len();
        report.bytes_per_particle = world.particle_bytes() as f64 / world.particles.len().max(1) as f64;
        report.bytes_per_wall_sample = world.wall_bytes() as f64 / world.walls.len().max(1) as f64;
        report.drained = world.drained;
        let into = |drain: &Drain| Amount { particles: drain.count, volume: drain.volume };
        report.sinks = world.sinks.iter().map(into).collect();
        let out_of = |emitter: &Emitter| {
            let amount = Amount { particles: emitter.ledger.count, volume: emitter.ledger.volume };
            (world.bodies[emitter.body as usize].name.clone(), amount)
        };
        report.emitted = world.emitters.iter().map(out_of).collect();
        report.caught = world.caught;
        let bound = |limit: Limit| (limit.name().to_owned(), world.clock.bound[limit as usize]);
        report.limits = Limit::ALL.into_iter().map(bound).filter(|(_, steps)| *steps > 0).collect();

        let before = &self.before;
        let stage = |stage: Stage| {
            let earlier = before.stages.get(stage.name()).copied().unwrap_or(0.0);
            (stage.name().to_owned(), earlier + world.timers.spent(stage).as_secs_f64())
        };
        report.wall_time = WallTime {
            total: before.total + self.started.elapsed().as_secs_f64(),
            output: before.output + self.output.as_secs_f64(),
            stages: Stage::ALL.into_iter().map(stage).collect(),
        };
        report.write(&self.folder.report()).map_err(|source| self.report_error(source))
    }

    fn report_error(&self, source: io::Error) -> RunError {
        RunError::Report { path: self.folder.report(), source }
    }
}
