//! What a run says about itself: `run.json`, written whole after every frame.
//!
//! Everything that depends on the clock or on the machine stands here, and nowhere in frames.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::diagnostics::Diagnostics;
use crate::files;
use crate::solids::SolidRecord;
use crate::solves::Tally;

/// A run, as far as it has come.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Version of littoral that wrote it.
    pub littoral: String,
    pub title: String,
    pub scene_hash: String,
    /// `--set` texts, which go with `scene.toml`.
    pub overrides: Vec<String>,
    /// Where the scene came from: files that it names are looked for there.
    pub scene_folder: Option<PathBuf>,
    pub seed: u64,
    pub dimensions: usize,
    /// m.
    pub spacing: f64,
    pub frames_per_second: f64,
    pub bodies: Vec<String>,
    pub backend: String,
    /// Name of the graphics processor, if one computed.
    pub device: Option<String>,
    pub threads: usize,
    /// The frame that ends the run.
    pub last_frame: u64,
    /// Whether that frame is there.
    pub finished: bool,
    /// Why the run ended before its time.
    pub error: Option<String>,
    /// What looked wrong with the scene.
    pub warnings: Vec<String>,
    pub steps: u64,
    pub particles: usize,
    /// Boundary samples.
    pub walls: usize,
    /// Memory of a particle with its list of neighbours.
    pub bytes_per_particle: f64,
    /// The same for a wall sample.
    pub bytes_per_wall_sample: f64,
    /// Particles removed by sinks.
    pub drained: u64,
    /// What went into each sink, in their order.
    #[serde(default)]
    pub sinks: Vec<Amount>,
    /// What each emitter's body was given.
    #[serde(default)]
    pub emitted: BTreeMap<String, Amount>,
    /// Times a wall had to catch a particle.
    pub caught: u64,
    /// Steps that each limit bound.
    pub limits: BTreeMap<String, u64>,
    pub wall_time: WallTime,
    pub frames: Vec<FrameRecord>,
}

/// Particles, and their volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    pub particles: u64,
    /// m³ (m² in 2-D).
    pub volume: f64,
}

/// Seconds on the clock on the wall, all sessions of a resumed run together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WallTime {
    pub total: f64,
    /// Writing frames and checkpoints.
    pub output: f64,
    /// Stages of the time step.
    pub stages: BTreeMap<String, f64>,
}

/// One line of the run's table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameRecord {
    pub frame: u64,
    /// s.
    pub time: f64,
    /// Steps so far.
    pub steps: u64,
    /// The next time step, s, and what limits it.
    pub dt: f64,
    pub limit: String,
    pub particles: usize,
    /// Implicit solves since the frame before.
    #[serde(default)]
    pub solves: BTreeMap<String, Tally>,
    /// Where the solids are, and how the fluid pushes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solids: Vec<SolidRecord>,
    #[serde(flatten)]
    pub diagnostics: Diagnostics,
    /// Time that this frame took to compute and to write, s.
    pub wall_seconds: f64,
}

impl Report {
    pub fn read(path: &Path) -> io::Result<Report> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }

    pub fn write(&self, path: &Path) -> io::Result<()> {
        files::write_whole(path, |file| Ok(serde_json::to_writer_pretty(file, self)?))
    }
}
