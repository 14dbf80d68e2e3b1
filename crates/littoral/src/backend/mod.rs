//! The generic loops that run laws.

pub mod cpu;
mod engine;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod wgsl;

pub use engine::{Backend, BackendError, Engine};
