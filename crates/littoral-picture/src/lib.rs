//! From particles to pictures. Takes slices and knows nothing of the engine that made them.

pub mod carry;
mod chance;
pub mod colour;
pub mod exchange;
pub mod figures;
pub mod film;
pub mod grains;
pub mod image;
pub mod legend;
pub mod mesh;
pub mod nearby;
pub mod obj;
pub mod plot;
pub mod preview;
pub mod rope;
pub mod scale;
pub mod sheet;
mod splat;
mod spline;
pub mod surface;
pub mod text;
pub mod trace;
pub mod yarn;
