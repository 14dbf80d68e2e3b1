//! Tables on disk: Arrow IPC files, compressed with zstd.
//!
//! Frames and checkpoints are tables. Nothing in the bytes depends on the clock, the path or the machine: equal
//! tables make equal files. Arrow writes metadata in the order of its keys, and zstd at a fixed level on one
//! thread always says the same.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, Float32Array, RecordBatch, UInt32Array};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType, Field, Metadata, Schema};
use thiserror::Error;

use crate::files;

/// Positions and velocities hardly compress at any level; constant columns vanish at the lowest.
const ZSTD_LEVEL: i32 = 1;

/// Key of a column's unit in the metadata of its field.
const UNIT: &str = "unit";

/// Columns of equal length, with what there is to say about all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub metadata: BTreeMap<String, String>,
    pub columns: Vec<TableColumn>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    pub name: String,
    /// Empty for pure numbers.
    pub unit: String,
    pub values: Values,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Scalars(Vec<f32>),
    /// Rows of `width` numbers, one after the other.
    Vectors {
        width: usize,
        numbers: Vec<f32>,
    },
    Indices(Vec<u32>),
}

/// Why a table could not be written or read.
#[derive(Debug, Error)]
pub enum TableError {
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}` is not a whole Arrow file: {source}", path.display())]
    Damaged { path: PathBuf, source: ArrowError },
    #[error("`{}` is an Arrow file, but not one of ours: {what}", path.display())]
    Foreign { path: PathBuf, what: String },
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Scalars(numbers) => numbers.len(),
            Values::Vectors { width, numbers } => numbers.len() / width,
            Values::Indices(numbers) => numbers.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn into_array(self) -> ArrayRef {
        match self {
            Values::Scalars(numbers) => Arc::new(Float32Array::from(numbers)),
            Values::Indices(numbers) => Arc::new(UInt32Array::from(numbers)),
            Values::Vectors { width, numbers } => {
                let item = Arc::new(Field::new("item", DataType::Float32, false));
                let numbers = Arc::new(Float32Array::from(numbers));
                Arc::new(FixedSizeListArray::new(item, width as i32, numbers, None))
            }
        }
    }

    /// `None` for types that we do not write, and for columns with gaps.
    fn from_array(array: &dyn Array) -> Option<Values> {
        if array.null_count() > 0 {
            return None;
        }
        match array.data_type() {
            DataType::Float32 => Some(Values::Scalars(array.as_primitive::<Float32Type>().values().to_vec())),
            DataType::UInt32 => Some(Values::Indices(array.as_primitive::<UInt32Type>().values().to_vec())),
            DataType::FixedSizeList(_, width @ 1..) => {
                let numbers = array.as_fixed_size_list().values().as_primitive_opt::<Float32Type>()?;
                Some(Values::Vectors { width: *width as usize, numbers: numbers.values().to_vec() })
            }
            _ => None,
        }
    }

    /// Adds the rows of a later batch; false if the kinds differ.
    fn append(&mut self, more: Values) -> bool {
        match (self, more) {
            (Values::Scalars(all), Values::Scalars(more)) => all.extend(more),
            (Values::Indices(all), Values::Indices(more)) => all.extend(more),
            (Values::Vectors { width: a, numbers: all }, Values::Vectors { width: b, numbers: more })
                if *a == b =>
            {
                all.extend(more);
            }
            _ => return false,
        }
        true
    }
}

impl Table {
    pub fn column(&self, name: &str) -> Option<&TableColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the file, whole or not at all.
    pub fn write(self, path: &Path) -> Result<(), TableError> {
        let (schema, batch) = self.into_batch();
        let to_io = |error| match error {
            ArrowError::IoError(_, error) => error,
            other => io::Error::other(other),
        };
        files::write_whole(path, |file| {
            let mut writer =
                FileWriter::try_new_with_options(file, &schema, write_options()).map_err(to_io)?;
            writer.write(&batch).map_err(to_io)?;
            writer.finish().map_err(to_io)
        })
        .map_err(|source| TableError::Write { path: path.to_owned(), source })
    }

    fn into_batch(self) -> (Arc<Schema>, RecordBatch) {
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for column in self.columns {
            let array = column.values.into_array();
            let mut field = Field::new(column.name, array.data_type().clone(), false);
            if !column.unit.is_empty() {
                field = field.with_metadata(Metadata::new().with(UNIT, column.unit));
            }
            fields.push(field);
            arrays.push(array);
        }
        let metadata =
            self.metadata.into_iter().fold(Metadata::new(), |all, (key, value)| all.with(key, value));
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        let batch = RecordBatch::try_new(schema.clone(), arrays).expect("columns of equal length");
        (schema, batch)
    }

    /// Reads a file that [`Table::write`] wrote.
    pub fn read(path: &Path) -> Result<Table, TableError> {
        let damaged = |source| TableError::Damaged { path: path.to_owned(), source };
        let foreign = |what: String| TableError::Foreign { path: path.to_owned(), what };
        let file = File::open(path).map_err(|source| TableError::Read { path: path.to_owned(), source })?;
        let reader = FileReader::try_new_buffered(file, None).map_err(damaged)?;

        let schema = reader.schema();
        let metadata = schema.metadata().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut columns: Vec<TableColumn> = Vec::new();
        for batch in reader {
            let batch = batch.map_err(damaged)?;
            for (k, (field, array)) in schema.fields().iter().zip(batch.columns()).enumerate() {
                let unusual = || foreign(format!("column `{}` is {}", field.name(), field.data_type()));
                let values = Values::from_array(array).ok_or_else(unusual)?;
                match columns.get_mut(k) {
                    Some(column) => {
                        if !column.values.append(values) {
                            return Err(unusual());
                        }
                    }
                    None => columns.push(TableColumn {
                        name: field.name().clone(),
                        unit: field.metadata().get(UNIT).cloned().unwrap_or_default(),
                        values,
                    }),
                }
            }
        }
        Ok(Table { metadata, columns })
    }

    /// The metadata alone: no column is decompressed.
    pub fn read_metadata(path: &Path) -> Result<BTreeMap<String, String>, TableError> {
        let file = File::open(path).map_err(|source| TableError::Read { path: path.to_owned(), source })?;
        let reader = FileReader::try_new_buffered(file, None)
            .map_err(|source| TableError::Damaged { path: path.to_owned(), source })?;
        let schema = reader.schema();
        Ok(schema.metadata().iter().map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

fn write_options() -> IpcWriteOptions {
    IpcWriteOptions::default()
        .try_with_compression(Some(CompressionType::ZSTD))
        .and_then(|options| options.try_with_compression_level(Some(ZSTD_LEVEL)))
        .expect("Arrow knows zstd")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn sample(rows: usize) -> Table {
        let scalars = (0..rows).map(|i| i as f32 * 0.1).collect();
        let numbers = (0..3 * rows).map(|i| i as f32).collect();
        let column = |name: &str, unit: &str, values| TableColumn {
            name: name.to_owned(),
            unit: unit.to_owned(),
            values,
        };
        let metadata = ["zebra", "apple", "mango", "time", "title"];
        Table {
            metadata: metadata.iter().map(|&key| (key.to_owned(), format!("{key}!"))).collect(),
            columns: vec![
                column("id", "", Values::Indices((0..rows as u32).collect())),
                column("density", "kg/m³", Values::Scalars(scalars)),
                column("position", "m", Values::Vectors { width: 3, numbers }),
            ],
        }
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("littoral-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn what_is_written_is_read_and_equal_tables_make_equal_bytes() {
        let folder = folder("table");
        for rows in [0, 1, 1000] {
            let (a, b) = (folder.join("a.arrow"), folder.join("b.arrow"));
            sample(rows).write(&a).unwrap();
            sample(rows).write(&b).unwrap();
            assert_eq!(Table::read(&a).unwrap(), sample(rows));
            assert_eq!(Table::read_metadata(&a).unwrap(), sample(rows).metadata);
            assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn damaged_files_are_errors() {
        let folder = folder("damaged");
        let path = folder.join("a.arrow");
        sample(1000).write(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        for keep in [0, 5, 100, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..keep]).unwrap();
            assert!(matches!(Table::read(&path), Err(TableError::Damaged { .. })), "{keep} bytes");
        }
        assert!(matches!(Table::read(&folder.join("none.arrow")), Err(TableError::Read { .. })));
        fs::remove_dir_all(folder).unwrap();
    }
}
