//! The known columns, with their units.
//!
//! A column is named here once; a behaviour that needs another adds a line. Who reads and writes which column
//! is said in the behaviours.

use crate::particles::{ColumnSpec, Indices, Scalars, Vectors};

/// Where the particle is, m.
pub static POSITION: Vectors = Vectors(ColumnSpec { name: "position", unit: "m", in_frames: true });
/// m/s.
pub static VELOCITY: Vectors = Vectors(ColumnSpec { name: "velocity", unit: "m/s", in_frames: true });
/// Sum of all forces over mass, at the last evaluation, m/s².
pub static ACCELERATION: Vectors =
    Vectors(ColumnSpec { name: "acceleration", unit: "m/s²", in_frames: false });
/// kg (kg per metre of depth in 2-D).
pub static MASS: Scalars = Scalars(ColumnSpec { name: "mass", unit: "kg", in_frames: true });
/// Volume that the particle fills at rest, m³ (m² in 2-D).
pub static VOLUME: Scalars = Scalars(ColumnSpec { name: "volume", unit: "m³", in_frames: false });
/// Support radius of the particle's kernel, m.
pub static SUPPORT: Scalars = Scalars(ColumnSpec { name: "support", unit: "m", in_frames: true });
/// kg/m³.
pub static DENSITY: Scalars = Scalars(ColumnSpec { name: "density", unit: "kg/m³", in_frames: true });
/// Pa.
pub static PRESSURE: Scalars = Scalars(ColumnSpec { name: "pressure", unit: "Pa", in_frames: true });
/// Never used twice in a run; the order of rows in a frame.
pub static ID: Indices = Indices(ColumnSpec { name: "id", unit: "", in_frames: true });
/// Place of the particle's body in the scene.
pub static BODY: Indices = Indices(ColumnSpec { name: "body", unit: "", in_frames: true });
