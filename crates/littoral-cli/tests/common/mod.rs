//! Running the program in a folder of its own, and looking at what it left there.
#![allow(dead_code)] // every test file uses a part of this

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A small dam: some 200 particles.
pub const DAM: &str = r#"
title = "A small dam"
dimensions = 2
world.box = { min = [0, 0], max = [0.8, 0.6], open = ["+y"] }
sph.spacing = 0.025
time = { until = 0.2, frames_per_second = 50 }

[[body]]
name = "water"
material = "water"
shape.box = { min = [0, 0], max = [0.25, 0.5] }
jitter = 0.1
behaviours.tait = {}
behaviours.artificial-viscosity.dynamic_viscosity = 1.0
"#;

/// The same, incompressible.
pub fn incompressible_dam() -> String {
    DAM.replace("behaviours.tait", "behaviours.incompressible")
}

/// Two bodies, one of which flows in, and a drain; a weight and a density change on the way.
pub const JET: &str = r#"
title = "In and out"
dimensions = 2
world.box = { min = [0, 0], max = [0.6, 0.5], open = ["+y"] }
sph.spacing = 0.025
time = { until = 0.4, frames_per_second = 25 }

[[body]]
name = "pool"
material = "water"
shape.box = { min = [0, 0], max = [0.6, 0.15] }
behaviours.tait = {}
behaviours.artificial-viscosity.dynamic_viscosity = 1.0

[[body]]
name = "jet"
density = [[0.1, 1000], [0.3, 900]]
emitter.jet = { at = [0.05, 0.35], direction = [1, 0], radius = 0.05, speed = 1.5 }
behaviours.tait = {}
behaviours.viscosity = { dynamic_viscosity = 2.0, weight = [[0.1, 0.2], [0.3, 1.0]] }

[[sink]]
shape.box = { min = [0.5, 0], max = [0.6, 0.05] }
"#;

/// A folder that goes away with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("littoral-test-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// With a scene in it.
    pub fn with(scene: &str) -> Folder {
        let folder = Folder::new();
        fs::write(folder.path("scene.toml"), scene).unwrap();
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_littoral"));
        command.args(arguments).current_dir(&self.0).env("NO_COLOR", "1");
        command
    }

    pub fn littoral(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Expects success, and gives what was printed.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.littoral(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Expects an exit code, and gives the complaint.
    pub fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.littoral(arguments);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        told
    }

    /// Names and bytes of a run's frames; whatever else is in the folder fails the test.
    pub fn frames(&self, run: &str) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.path(run).join("frames")).unwrap();
        let read =
            |path: &Path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap());
        entries.map(|entry| read(&entry.unwrap().path())).collect()
    }

    pub fn report(&self, run: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(run).join("run.json")).unwrap()).unwrap()
    }

    /// The table of a report, without the clock on the wall.
    pub fn records(&self, run: &str) -> Vec<Value> {
        let mut records = self.report(run)["frames"].as_array().unwrap().clone();
        for record in &mut records {
            record.as_object_mut().unwrap().remove("wall_seconds");
        }
        records
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub fn assert_same_frames(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in a {
        assert!(bytes == &b[name], "{name} differs");
    }
}
