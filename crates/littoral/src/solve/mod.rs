//! Numerics that laws share.

pub mod clusters;
pub mod conjugate_gradients;
pub mod elastic;
pub mod fractional;
pub mod granular;
pub mod patches;
pub mod pressure;
pub mod skyline;
mod workspace;

pub use workspace::Workspace;
