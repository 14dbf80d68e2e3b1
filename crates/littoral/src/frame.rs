//! A frame is a table: one row for each particle, in the order of their ids, one column for each column of the
//! particles that is meant to be seen. `docs/frames.md` describes the file.

use std::collections::BTreeMap;
use std::path::Path;

use glam::Vec4;

use crate::columns::ID;
use crate::particles::{Column, Data};
use crate::scene::{Dimensions, Scene};
use crate::solids::{SolidRecord, SolidState};
use crate::table::{Table, TableColumn, TableError, Values};
use crate::world::World;

/// The version that is written into files.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The state of all particles at one time, as it is kept on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub info: FrameInfo,
    pub columns: Vec<TableColumn>,
}

/// What a frame says about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameInfo {
    /// Version of littoral that wrote it.
    pub version: String,
    pub scene_hash: String,
    pub title: String,
    /// From 0, the initial state.
    pub frame: u64,
    /// s.
    pub time: f64,
    /// Time steps taken so far.
    pub steps: u64,
    /// 2 or 3.
    pub dimensions: usize,
    /// Distance of particles at rest, m.
    pub spacing: f64,
    /// Names of the bodies that the column `body` counts.
    pub bodies: Vec<String>,
    /// Where the solids are.
    pub solids: Vec<SolidRecord>,
}

impl FrameInfo {
    pub fn of(scene: &Scene, world: &World, frame: u64) -> FrameInfo {
        FrameInfo {
            version: VERSION.to_owned(),
            scene_hash: scene.hash.clone(),
            title: scene.title.clone(),
            frame,
            time: world.clock.time,
            steps: world.clock.steps,
            dimensions: scene.dimensions.count(),
            spacing: scene.sph.spacing,
            bodies: world.bodies.iter().map(|body| body.name.clone()).collect(),
            solids: world.solids.iter().map(SolidState::record).collect(),
        }
    }

    pub fn to_metadata(&self) -> BTreeMap<String, String> {
        let bodies = serde_json::to_string(&self.bodies).expect("text is always JSON");
        let entries = [
            ("littoral", self.version.clone()),
            ("scene_hash", self.scene_hash.clone()),
            ("title", self.title.clone()),
            ("frame", self.frame.to_string()),
            ("time", self.time.to_string()),
            ("steps", self.steps.to_string()),
            ("dimensions", self.dimensions.to_string()),
            ("spacing", self.spacing.to_string()),
            ("bodies", bodies),
        ];
        let solids = serde_json::to_string(&self.solids).expect("plain numbers and texts");
        let solids = Some(("solids", solids)).filter(|_| !self.solids.is_empty());
        entries.into_iter().chain(solids).map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// `Err` names the entry that is missing or makes no sense.
    pub fn from_metadata(metadata: &BTreeMap<String, String>) -> Result<FrameInfo, &'static str> {
        let text = |key: &'static str| metadata.get(key).cloned().ok_or(key);
        Ok(FrameInfo {
            version: text("littoral")?,
            scene_hash: text("scene_hash")?,
            title: text("title")?,
            frame: text("frame")?.parse().map_err(|_| "frame")?,
            time: text("time")?.parse().map_err(|_| "time")?,
            steps: text("steps")?.parse().map_err(|_| "steps")?,
            dimensions: text("dimensions")?.parse().map_err(|_| "dimensions")?,
            spacing: text("spacing")?.parse().map_err(|_| "spacing")?,
            bodies: serde_json::from_str(&text("bodies")?).map_err(|_| "bodies")?,
            solids: match metadata.get("solids") {
                Some(text) => serde_json::from_str(text).map_err(|_| "solids")?,
                None => Vec::new(),
            },
        })
    }
}

impl Frame {
    /// The world as it is now.
    pub fn of(scene: &Scene, world: &World, frame: u64) -> Frame {
        let ids = world.particles.get(&ID);
        let mut order: Vec<u32> = (0..ids.len() as u32).collect();
        order.sort_unstable_by_key(|&i| ids[i as usize]); // ids differ, so the order is the only one
        let shown = world.particles.columns().iter().filter(|column| column.spec.in_frames);
        let columns = shown.map(|column| rows(column, &order, scene.dimensions)).collect();
        Frame { info: FrameInfo::of(scene, world, frame), columns }
    }

    /// Writes the file, whole or not at all.
    pub fn write(self, path: &Path) -> Result<(), TableError> {
        Table { metadata: self.info.to_metadata(), columns: self.columns }.write(path)
    }

    pub fn read(path: &Path) -> Result<Frame, TableError> {
        let table = Table::read(path)?;
        let info = FrameInfo::from_metadata(&table.metadata).map_err(|key| missing(path, key))?;
        Ok(Frame { info, columns: table.columns })
    }

    /// What the frame says about itself, without its particles.
    pub fn read_info(path: &Path) -> Result<FrameInfo, TableError> {
        FrameInfo::from_metadata(&Table::read_metadata(path)?).map_err(|key| missing(path, key))
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// A column of scalars, by name.
    pub fn scalars(&self, name: &str) -> Option<&[f32]> {
        match &self.column(name)?.values {
            Values::Scalars(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// A column of vectors, by name.
    pub fn vectors(&self, name: &str) -> Option<&[[f32; 3]]> {
        match &self.column(name)?.values {
            Values::Vectors { width: 3, numbers } => Some(numbers.as_chunks().0),
            _ => None,
        }
    }

    /// A column of whole numbers, by name.
    pub fn indices(&self, name: &str) -> Option<&[u32]> {
        match &self.column(name)?.values {
            Values::Indices(numbers) => Some(numbers),
            _ => None,
        }
    }
}

fn missing(path: &Path, key: &str) -> TableError {
    TableError::Foreign { path: path.to_owned(), what: format!("no usable `{key}` in its metadata") }
}

/// A column in the order of ids; the fourth component of vectors is padding and stays behind.
fn rows(column: &Column, order: &[u32], dimensions: Dimensions) -> TableColumn {
    fn pick<T: Copy>(values: &[T], order: &[u32]) -> Vec<T> {
        order.iter().map(|&i| values[i as usize]).collect()
    }
    let values = match &column.data {
        Data::Scalars(numbers) => Values::Scalars(pick(numbers, order)),
        Data::Indices(numbers) => Values::Indices(pick(numbers, order)),
        Data::Vectors(vectors) => {
            let row = |&i: &u32| Vec4::to_array(&vectors[i as usize]);
            let numbers = order.iter().map(row).flat_map(|[x, y, z, _]| [x, y, z]).collect();
            Values::Vectors { width: 3, numbers }
        }
    };
    TableColumn { name: column.spec.name.to_owned(), unit: unit(column, dimensions).to_owned(), values }
}

/// In the plane, masses are per metre of depth and volumes are areas.
fn unit(column: &Column, dimensions: Dimensions) -> &'static str {
    match (column.spec.unit, dimensions) {
        ("kg", Dimensions::Two) => "kg/m",
        ("m³", Dimensions::Two) => "m²",
        (unit, _) => unit,
    }
}
