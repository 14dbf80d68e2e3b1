//! From what a user typed to a scene's text: a file, the folder of an earlier run, or a name of the gallery.

use std::fs;
use std::path::{Path, PathBuf};

use littoral::report::Report;
use littoral::scene::{self, Files, Problem, Scene};
use littoral::{gallery, run_folder};

use crate::failure::Failure;

/// A scene's text, and where it came from.
pub struct Input {
    /// As shown in messages.
    pub name: String,
    pub text: String,
    /// Overrides of the earlier run.
    pub overrides: Vec<String>,
    /// Where frames go if nothing else is said.
    pub folder: PathBuf,
    /// Whether it is an earlier run's, in `folder`.
    pub is_run: bool,
    /// Where the scene came from; scenes of the gallery come from nowhere.
    pub scene_folder: Option<PathBuf>,
}

impl Input {
    /// A file comes before a scene of the gallery with the same name.
    pub fn find(argument: &str) -> Result<Input, Failure> {
        let path = Path::new(argument);
        // A folder that merely has the name of a gallery scene is not meant.
        let is_run = run_folder::scene_file(path).is_file();
        if path.is_dir() && (is_run || gallery::find(argument).is_none()) {
            return Input::from_run(path);
        }
        if path.is_file() || looks_like_file(argument) {
            let text = fs::read_to_string(path).map_err(|error| missing(argument, &error.to_string()))?;
            let stem = path.file_stem().unwrap_or_default();
            let folder = Path::new("out").join(stem);
            let scene_folder =
                std::path::absolute(path).ok().and_then(|path| Some(path.parent()?.to_owned()));
            return Ok(Input {
                name: argument.to_owned(),
                text,
                overrides: Vec::new(),
                folder,
                is_run: false,
                scene_folder,
            });
        }
        match gallery::find(argument) {
            Some(text) => Ok(Input {
                name: format!("{argument}.toml"),
                text: text.to_owned(),
                overrides: Vec::new(),
                folder: Path::new("out").join(argument),
                is_run: false,
                scene_folder: None,
            }),
            None => Err(missing(argument, "no such file, and no scene of that name in the gallery")),
        }
    }

    /// The folder of a run holds its scene and its overrides.
    pub fn from_run(folder: &Path) -> Result<Input, Failure> {
        let file = run_folder::scene_file(folder);
        let unreadable = |path: &Path, reason: String| {
            let (folder, path) = (folder.display(), path.display());
            let message = format!(
                "`{folder}` holds no run: cannot read `{path}`: {reason}\n  make one with: littoral run SCENE --out {folder}"
            );
            Failure::Input(message)
        };
        if folder.is_file() {
            let name = folder.display();
            let message = format!(
                "`{name}` is a file; expected the folder of a run. Run it first: littoral run {name}"
            );
            return Err(Failure::Input(message));
        }
        let text = fs::read_to_string(&file).map_err(|error| unreadable(&file, error.to_string()))?;
        let about = run_folder::report_file(folder);
        let report = Report::read(&about).map_err(|error| unreadable(&about, error.to_string()))?;
        Ok(Input {
            name: file.display().to_string(),
            text,
            overrides: report.overrides,
            folder: folder.to_owned(),
            is_run: true,
            scene_folder: report.scene_folder,
        })
    }

    /// Where files that the scene names are looked for.
    pub fn scene_folder(&self) -> PathBuf {
        self.scene_folder.clone().unwrap_or_default()
    }

    /// Checks the scene; `more` overrides come after those of the earlier run, and replace those of the same path.
    pub fn load(&self, more: &[String]) -> Result<Loaded, Failure> {
        let path = |one: &String| one.split('=').next().unwrap_or_default().trim().to_owned();
        let replaced = |one: &&String| more.iter().any(|other| path(other) == path(one));
        let earlier = self.overrides.iter().filter(|one| !replaced(one));
        let overrides: Vec<String> = earlier.chain(more).cloned().collect();
        let files = Files::beside(self.scene_folder.clone());
        let (scene, warnings) = scene::load_with(&self.name, &self.text, &overrides, &files)?;
        Ok(Loaded { scene, warnings, overrides })
    }
}

/// A scene without errors.
pub struct Loaded {
    pub scene: Scene,
    pub warnings: Vec<Problem>,
    pub overrides: Vec<String>,
}

/// Names in the gallery have neither dots nor slashes.
fn looks_like_file(argument: &str) -> bool {
    argument.contains(['/', '\\', '.'])
}

fn missing(argument: &str, reason: &str) -> Failure {
    let mut message = format!("cannot read `{argument}`: {reason}");
    let files = nearby(Path::new(argument));
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let likely = scene::nearest_name(argument, &names).or_else(|| gallery::suggest(argument));
    if let Some(likely) = likely {
        message += &format!("\n  did you mean `{likely}`?");
    }
    if !files.is_empty() {
        message += &format!("\n  scenes nearby: {}", files.join(", "));
    }
    message += &format!("\n  scenes of the gallery: {}", gallery::names().join(", "));
    Failure::Input(message)
}

/// Scene files in the folder that was meant, a handful at most.
fn nearby(path: &Path) -> Vec<String> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = fs::read_dir(listed) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    let scenes =
        names.filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "toml"));
    let mut files: Vec<String> = scenes
        .filter(|name| name != "Cargo.toml" && name != "rustfmt.toml")
        .map(|name| folder.join(name).display().to_string())
        .collect();
    files.sort();
    files.truncate(8);
    files
}
