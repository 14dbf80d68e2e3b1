//! What `littoral run` says while it runs: a bar on a terminal, a line now and then elsewhere, JSON for machines.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use littoral::plan::Plan;
use littoral::report::FrameRecord;
use littoral::scene::Problem;
use littoral::simulation::{Outcome, Simulation};
use littoral::timers::Stage;
use littoral::world::World;
use serde_json::{Value, json};

use crate::print;
use crate::text;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    Human,
    Json,
    Quiet,
}

pub struct Progress {
    voice: Voice,
    /// On a terminal only.
    bar: Option<ProgressBar>,
    last_frame: u64,
    /// Simulated time at the start and at the end, s.
    span: (f64, f64),
    frame: u64,
    started: Instant,
    spoken: Option<Instant>,
    /// Particles times steps, and the steps they were counted up to.
    work: (f64, u64),
}

const BAR_STEPS: u64 = 10_000;
const BETWEEN_BARS: Duration = Duration::from_millis(100);
const BETWEEN_LINES: Duration = Duration::from_secs(1);

impl Progress {
    /// Says what is about to run.
    pub fn start(voice: Voice, simulation: &Simulation, warnings: &[Problem]) -> Progress {
        match voice {
            Voice::Quiet => {}
            Voice::Json => speak(json!({ "event": "start" }), start_event(simulation, warnings)),
            Voice::Human => {
                for warning in warnings {
                    eprintln!("{}", warning.plain());
                }
                print(&introduction(simulation));
            }
        }
        let report = simulation.report();
        let end = report.last_frame as f64 / report.frames_per_second;
        let with_bar = voice == Voice::Human && !simulation.is_complete() && io::stderr().is_terminal();
        let bar = with_bar.then(|| {
            let style = ProgressStyle::with_template("{bar:16} {wide_msg}").expect("the template is ours");
            ProgressBar::new(BAR_STEPS).with_style(style.progress_chars("━╸─"))
        });
        Progress {
            voice,
            bar,
            last_frame: report.last_frame,
            span: (simulation.world().clock.time, end),
            frame: simulation.next_frame().saturating_sub(1),
            started: Instant::now(),
            spoken: None,
            work: (0.0, simulation.world().clock.steps),
        }
    }

    pub fn step(&mut self, world: &World) {
        self.count(world.particles.len(), world.clock.steps);
        let Some(bar) = &self.bar else { return };
        if self.spoken.is_some_and(|spoken| spoken.elapsed() < BETWEEN_BARS) {
            return;
        }
        let clock = &world.clock;
        let state = State {
            time: clock.time,
            particles: world.particles.len(),
            steps: clock.steps,
            dt: clock.step,
            limit: clock.binding.name(),
        };
        bar.set_position((self.done(clock.time) * BAR_STEPS as f64) as u64);
        bar.set_message(self.line(&state));
        self.spoken = Some(Instant::now());
    }

    pub fn frame(&mut self, record: &FrameRecord) {
        self.count(record.particles, record.steps);
        self.frame = record.frame;
        match self.voice {
            Voice::Quiet => {}
            Voice::Json => speak(json!({ "event": "frame" }), json!(record)),
            Voice::Human if self.bar.is_some() => {}
            Voice::Human => {
                let last = record.frame == self.last_frame;
                if last || self.spoken.is_none_or(|spoken| spoken.elapsed() >= BETWEEN_LINES) {
                    let state = State {
                        time: record.time,
                        particles: record.particles,
                        steps: record.steps,
                        dt: record.dt,
                        limit: &record.limit,
                    };
                    print(&format!("  {}\n", self.line(&state)));
                    self.spoken = Some(Instant::now());
                }
            }
        }
    }

    /// Takes the bar away, so that what follows stands on its own line.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    pub fn end(&self, simulation: &Simulation, outcome: Outcome, elapsed: Duration) {
        match self.voice {
            Voice::Quiet => {}
            Voice::Json => speak(json!({ "event": "end" }), self.end_event(simulation, outcome, elapsed)),
            Voice::Human => print(&self.summary(simulation, outcome, elapsed)),
        }
    }

    /// Backends that do not tell of steps are counted frame by frame.
    fn count(&mut self, particles: usize, steps: u64) {
        self.work.0 += particles as f64 * steps.saturating_sub(self.work.1) as f64;
        self.work.1 = steps;
    }

    /// Fraction of this session's work that is done.
    fn done(&self, time: f64) -> f64 {
        ((time - self.span.0) / (self.span.1 - self.span.0).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }

    fn line(&self, state: &State) -> String {
        let done = self.done(state.time);
        let left = match done {
            0.0 | 1.0 => String::new(),
            _ => {
                let seconds = self.started.elapsed().as_secs_f64() * (1.0 - done) / done;
                // Beyond a century nobody wants to know.
                format!("{} left, ", text::duration(Duration::from_secs_f64(seconds.min(3e9))))
            }
        };
        format!(
            "frame {}/{}, {left}{} particles, dt {:.2e} s ({}), step {}",
            self.frame,
            self.last_frame,
            text::count(state.particles as u64),
            state.dt,
            state.limit,
            text::count(state.steps),
        )
    }

    fn rate(&self, elapsed: Duration) -> f64 {
        self.work.0 / elapsed.as_secs_f64().max(1e-9)
    }

    fn summary(&self, simulation: &Simulation, outcome: Outcome, elapsed: Duration) -> String {
        let report = simulation.report();
        let folder = simulation.folder().path().display();
        let how = match outcome {
            Outcome::AlreadyComplete => {
                return format!(
                    "already complete: frames 0 to {} are in {folder}/frames; --until or --frames make it longer\n",
                    simulation.next_frame() - 1
                );
            }
            Outcome::Finished => "finished",
            Outcome::Stopped => "stopped",
        };
        let mut lines = format!(
            "{how} at frame {} in {}: {} steps, {:.2} million particle·steps/s, {} a particle with its neighbours\n",
            self.frame,
            text::duration(elapsed),
            text::count(report.steps),
            1e-6 * self.rate(elapsed),
            text::bytes(report.bytes_per_particle),
        );
        let timers = &simulation.world().timers;
        let total = elapsed.as_secs_f64().max(1e-9);
        let mut stages: Vec<(&str, f64)> =
            Stage::ALL.into_iter().map(|stage| (stage.name(), timers.spent(stage).as_secs_f64())).collect();
        stages.push(("output", simulation.output_time().as_secs_f64()));
        stages.sort_by(|a, b| b.1.total_cmp(&a.1));
        let told = stages.iter().filter(|(_, spent)| *spent >= 0.005 * total);
        let told: Vec<String> =
            told.map(|(name, spent)| format!("{name} {:.0} %", 100.0 * spent / total)).collect();
        lines += &format!("  time spent: {}\n", told.join(", "));
        if report.caught > 0 {
            lines += &format!("  walls had to catch particles {} times\n", text::count(report.caught));
        }
        lines += &format!("  frames: {folder}/frames\n");
        if outcome == Outcome::Stopped {
            lines += &format!("  go on with: littoral run {folder} --resume\n");
        }
        lines
    }

    fn end_event(&self, simulation: &Simulation, outcome: Outcome, elapsed: Duration) -> Value {
        let report = simulation.report();
        json!({
            "outcome": match outcome {
                Outcome::Finished => "finished",
                Outcome::Stopped => "stopped",
                Outcome::AlreadyComplete => "complete",
            },
            "frame": simulation.next_frame() - 1,
            "steps": report.steps,
            "seconds": elapsed.as_secs_f64(),
            "particle_steps_per_second": self.rate(elapsed),
            "bytes_per_particle": report.bytes_per_particle,
            "limits": report.limits,
            "wall_time": report.wall_time,
            "out": simulation.folder().path(),
        })
    }
}

/// What a line of progress tells.
struct State<'a> {
    time: f64,
    particles: usize,
    steps: u64,
    dt: f64,
    limit: &'a str,
}

fn introduction(simulation: &Simulation) -> String {
    let (scene, world, report) = (simulation.scene(), simulation.world(), simulation.report());
    let plan = Plan::of(scene);
    let particles = text::count(world.particles.len() as u64);
    let more = match plan.emitted {
        0.0 => String::new(),
        emitted => format!(" (about {} more from emitters)", text::about(emitted)),
    };
    let mut lines = format!("{}\n", scene.title);
    lines += &format!(
        "  {particles} particles{more}, {} wall samples, {} in all: about {} a particle with its neighbours\n",
        text::count(world.walls.len() as u64),
        text::bytes(plan.bytes),
        text::bytes(plan.bytes_per_particle),
    );
    lines += &format!(
        "  time step {:.2e} s ({}); about {:.1e} s at the fastest, {} steps\n",
        world.clock.step,
        world.clock.binding.name(),
        plan.step,
        text::about(report.last_frame as f64 / report.frames_per_second / plan.step),
    );
    let threads = text::plural(report.threads, "thread");
    let device = report.device.clone().unwrap_or(threads);
    lines += &format!("  {} ({device}), into {}\n", report.backend, simulation.folder().path().display());
    if simulation.next_frame() > 0 && !simulation.is_complete() {
        lines += &format!("  going on after frame {}\n", simulation.next_frame() - 1);
    }
    lines
}

fn start_event(simulation: &Simulation, warnings: &[Problem]) -> Value {
    let (world, report) = (simulation.world(), simulation.report());
    json!({
        "littoral": report.littoral,
        "title": report.title,
        "scene_hash": report.scene_hash,
        "backend": report.backend,
        "device": report.device,
        "threads": report.threads,
        "particles": world.particles.len(),
        "walls": world.walls.len(),
        "dt": world.clock.step,
        "limit": world.clock.binding.name(),
        "next_frame": simulation.next_frame(),
        "last_frame": report.last_frame,
        "warnings": warnings,
        "out": simulation.folder().path(),
    })
}

/// One object a line: the fields of `more` after those of `head`.
fn speak(head: Value, more: Value) {
    let mut event = head;
    if let (Value::Object(event), Value::Object(more)) = (&mut event, more) {
        event.extend(more);
    }
    print(&format!("{event}\n"));
}
