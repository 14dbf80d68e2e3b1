//! From the frames of a run to pictures: what `film`, `render` and `surface` share.

pub mod album;
pub mod framing;
pub mod paint;
pub mod progress;
pub mod solids;
pub mod stage;
pub mod subjects;
