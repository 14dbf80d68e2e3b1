//! Numerics that laws share.

pub mod conjugate_gradients;
pub mod elastic;
pub mod fractional;
pub mod pressure;
mod workspace;

pub use workspace::Workspace;
