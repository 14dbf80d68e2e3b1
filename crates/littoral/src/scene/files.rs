//! Files that a scene names: meshes and terrain.
//!
//! Looked for beside the scene, then where the command was given, then among those that come with the gallery. What
//! was read is remembered by its digest: it is part of what is simulated.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::gallery;

/// Where files are looked for.
#[derive(Clone, Debug)]
pub struct Files {
    /// The scene's folder; `None` for scenes that come from nowhere.
    folder: Option<PathBuf>,
    /// Whether the disk is looked at.
    disk: bool,
}

impl Files {
    /// Only those of the gallery.
    pub fn embedded() -> Files {
        Files { folder: None, disk: false }
    }

    /// Beside a scene in this folder, then in the current one, then those of the gallery.
    pub fn beside(folder: Option<PathBuf>) -> Files {
        Files { folder, disk: true }
    }

    /// What a file holds, or why it cannot be read.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        if self.disk {
            let beside = self.folder.iter().map(|folder| folder.join(name));
            let found = beside.chain([PathBuf::from(name)]).find(|path| path.is_file());
            if let Some(path) = found {
                return std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
            }
        }
        let embedded = gallery::FILES.iter().find(|(known, _)| *known == name);
        embedded.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "no such file".to_owned())
    }
}

/// Files, and what has been read of them.
pub struct Shelf<'a> {
    files: &'a Files,
    used: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl<'a> Shelf<'a> {
    pub fn new(files: &'a Files) -> Shelf<'a> {
        Shelf { files, used: RefCell::default() }
    }

    pub fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let bytes = self.files.read(name)?;
        self.used.borrow_mut().insert(name.to_owned(), Sha256::digest(&bytes).to_vec());
        Ok(bytes)
    }

    /// Name and digest of each file that was read.
    pub fn used(&self) -> BTreeMap<String, Vec<u8>> {
        self.used.borrow().clone()
    }
}
