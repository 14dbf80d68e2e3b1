//! The folder of a run, and who may write to it.
//!
//! ```text
//! frames/000000.arrow …   one table for each frame
//! checkpoint.arrow        the whole state, to go on from
//! run.json                what the run says about itself
//! scene.toml              the scene's text
//! .lock                   held while a run writes here
//! ```
//! Every file appears whole or not at all, so a run may be killed at any moment. Nothing that we did not write
//! is ever removed, and nothing that we did write without being told to.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::files;
use crate::frame::Frame;
use crate::report::Report;
use crate::scene::Scene;

/// What to do with a run that is already in the folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Leave it alone, and say so.
    #[default]
    Refuse,
    /// Go on with it.
    Resume,
    /// Remove it, and start anew.
    Remove,
}

#[derive(Debug, Error)]
pub enum FolderError {
    #[error("cannot write to `{}`: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("another run is writing to `{}`", path.display())]
    Locked { path: PathBuf },
    #[error(
        "`{}` holds {frames} frames of this scene. Go on with them (--resume), replace them (--fresh), or \
         write elsewhere (--out)", path.display()
    )]
    Occupied { path: PathBuf, frames: usize },
    #[error(
        "`{}` holds another run, \"{title}\": its scene or its overrides differ from this one's. Replace it \
         (--fresh), or write elsewhere (--out)", path.display()
    )]
    OtherScene { path: PathBuf, title: String },
}

/// A folder that we hold the lock of.
pub struct RunFolder {
    path: PathBuf,
    _lock: File,
}

impl RunFolder {
    /// Makes the folder, if need be, and takes hold of it.
    pub fn open(path: &Path, scene: &Scene, existing: Existing) -> Result<RunFolder, FolderError> {
        let unwritable = |source| FolderError::Unwritable { path: path.to_owned(), source };
        fs::create_dir_all(path.join("frames")).map_err(unwritable)?;
        let lock = File::create(path.join(".lock")).map_err(unwritable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::Locked { path: path.to_owned() }),
            // A file system without locks: two runs at once are then the user's business.
            Err(TryLockError::Error(_)) => {}
        }
        let folder = RunFolder { path: path.to_owned(), _lock: lock };

        if existing == Existing::Remove {
            folder.remove_run().map_err(unwritable)?;
            return Ok(folder);
        }
        let frames = frame_files(path).len();
        let Some(found) = folder.identity().filter(|_| frames > 0) else { return Ok(folder) };
        if found.hash != scene.hash {
            return Err(FolderError::OtherScene { path: path.to_owned(), title: found.title });
        }
        if existing == Existing::Refuse {
            return Err(FolderError::Occupied { path: path.to_owned(), frames });
        }
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn frame(&self, frame: u64) -> PathBuf {
        self.path.join("frames").join(format!("{frame:06}.arrow"))
    }

    pub fn checkpoint(&self) -> PathBuf {
        self.path.join("checkpoint.arrow")
    }

    pub fn report(&self) -> PathBuf {
        report_file(&self.path)
    }

    pub fn write_scene(&self, text: &str) -> io::Result<()> {
        files::write_whole(&scene_file(&self.path), |file| file.write_all(text.as_bytes()))
    }

    /// The run that is here: from its report, or where that was lost, from its first frame.
    fn identity(&self) -> Option<Identity> {
        if let Ok(report) = Report::read(&self.report()) {
            return Some(Identity { hash: report.scene_hash, title: report.title });
        }
        let (_, first) = frame_files(&self.path).into_iter().next()?;
        let info = Frame::read_info(&first).ok()?;
        Some(Identity { hash: info.scene_hash, title: info.title })
    }

    /// Removes what a run writes, and nothing else.
    fn remove_run(&self) -> io::Result<()> {
        // Frames that a kill left unfinished stand aside.
        for entry in fs::read_dir(self.path.join("frames"))?.flatten() {
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
            if name.is_some_and(|name| frame_number(Path::new(name)).is_some()) {
                files::remove(&entry.path())?;
            }
        }
        for (_, frame) in frame_files(&self.path) {
            files::remove(&frame)?;
        }
        for file in [self.checkpoint(), scene_file(&self.path), self.report()] {
            files::remove(&files::aside(&file))?;
            files::remove(&file)?;
        }
        Ok(())
    }
}

struct Identity {
    hash: String,
    title: String,
}

pub fn report_file(run: &Path) -> PathBuf {
    run.join("run.json")
}

pub fn scene_file(run: &Path) -> PathBuf {
    run.join("scene.toml")
}

/// The frames of a run, by number. A folder that does not exist has none.
pub fn frame_files(run: &Path) -> Vec<(u64, PathBuf)> {
    let Ok(entries) = fs::read_dir(run.join("frames")) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut frames: Vec<(u64, PathBuf)> =
        paths.filter_map(|path| Some((frame_number(&path)?, path))).collect();
    frames.sort();
    frames
}

/// 12 for `000012.arrow`; `None` for files that are not ours.
fn frame_number(path: &Path) -> Option<u64> {
    let digits = path.file_name()?.to_str()?.strip_suffix(".arrow")?;
    let ours = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    ours.then(|| digits.parse().ok()).flatten()
}
