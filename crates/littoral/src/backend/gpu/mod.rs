//! The whole step on a graphics processor, by wgpu and WGSL.
//!
//! State stays on the device. A frame is a stream of steps sent ahead: the time step is reduced on the device,
//! and once its clock reaches the frame's end, the steps that follow dispatch no work (`clock.wgsl`). The columns
//! come back once a frame. See `docs/gpu.md`.
//!
//! The laws are the behaviours' own, as text ([`crate::backend::wgsl`]); the loops that run them stand once, in
//! this directory; `program.rs` joins the two. Kept honest by `tests/gpu.rs` and by `conformance.rs`, which
//! compare every kernel and law with the CPU's.

mod buffers;
mod clock;
#[cfg(test)]
mod conformance;
mod device;
mod grid;
mod kernels;
mod program;
mod run;

pub use device::Device;
pub use run::GpuWorld;

use thiserror::Error;

use crate::step::StepError;

/// Why a world cannot run on a device.
#[derive(Debug, Error)]
pub enum GpuError {
    #[error(
        "no graphics processor was found that can compute. On Debian, `apt-get install mesa-vulkan-drivers` \
         gives a software one. A headless server with NVIDIA's driver needs `libvulkan.so.1` on the loader's \
         path and the variable VK_DRIVER_FILES naming a JSON file that says \
         {{\"file_format_version\":\"1.0.1\",\"ICD\":{{\"library_path\":\"libEGL_nvidia.so.0\",\
         \"api_version\":\"1.4.312\"}}}}. Or run on the CPU ({reason})"
    )]
    NoAdapter { reason: String },
    #[error("`{adapter}` could not be opened: {reason}")]
    NoDevice { adapter: String, reason: String },
    #[error("{what} not supported on the GPU yet; {remedy}, or run on the CPU")]
    Unsupported { what: String, remedy: &'static str },
    #[error(
        "`{adapter}` binds at most {limit} bytes at once, and the positions of {count} particles are {bytes}. Use \
         a larger spacing, or run on the CPU"
    )]
    TooLarge { adapter: String, count: usize, bytes: u64, limit: u64 },
    #[error("`{adapter}` binds {limit} storage buffers to a kernel, and {needed} are needed. Run on the CPU")]
    TooFewBindings { adapter: String, limit: u32, needed: u32 },
    #[error("`{adapter}` is out of memory for {count} particles ({bytes} bytes). Use a larger spacing")]
    OutOfMemory { adapter: String, count: usize, bytes: u64 },
    #[error("the device was lost: {0}")]
    Lost(String),
    #[error("the world has {now} particles, but {then} were sent to the device")]
    Changed { then: usize, now: usize },
    #[error(transparent)]
    Step(#[from] StepError),
}
