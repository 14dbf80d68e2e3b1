//! Where a run computes: the one place that knows of every backend.

use thiserror::Error;

use crate::step::StepError;
use crate::world::World;

/// What a user may choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Cpu,
    Gpu,
}

impl Backend {
    pub const ALL: [Backend; 2] = [Backend::Cpu, Backend::Gpu];

    pub fn name(self) -> &'static str {
        match self {
            Backend::Cpu => "cpu",
            Backend::Gpu => "gpu",
        }
    }
}

#[derive(Debug, Error)]
pub enum BackendError {
    #[error(transparent)]
    Step(#[from] StepError),
    /// The scene cannot run there, or there is no such device.
    #[error("{0}")]
    Unavailable(String),
    #[error("{0}")]
    Failed(String),
}

/// A backend at work.
pub enum Engine {
    Cpu,
    #[cfg(feature = "gpu")]
    Gpu(Box<super::gpu::GpuWorld>),
}

impl Engine {
    #[cfg(feature = "gpu")]
    pub fn new(backend: Backend, world: &World) -> Result<Engine, BackendError> {
        use super::gpu::{Device, GpuWorld};
        let unavailable = |error: super::gpu::GpuError| BackendError::Unavailable(error.to_string());
        match backend {
            Backend::Cpu => Ok(Engine::Cpu),
            Backend::Gpu => {
                let device = Device::new().map_err(unavailable)?;
                Ok(Engine::Gpu(Box::new(GpuWorld::new(device, world).map_err(unavailable)?)))
            }
        }
    }

    #[cfg(not(feature = "gpu"))]
    pub fn new(backend: Backend, _world: &World) -> Result<Engine, BackendError> {
        match backend {
            Backend::Cpu => Ok(Engine::Cpu),
            Backend::Gpu => Err(BackendError::Unavailable(
                "this littoral was built without GPU support: rebuild with --features gpu".to_owned(),
            )),
        }
    }

    /// The device, where it is not the machine itself.
    pub fn device(&self) -> Option<String> {
        match self {
            Engine::Cpu => None,
            #[cfg(feature = "gpu")]
            Engine::Gpu(gpu) => Some(gpu.device().name()),
        }
    }

    /// Steps until `end`, s; `world` is then up to date. `tell` hears of steps where they are ours to count.
    pub fn advance_to(
        &mut self,
        world: &mut World,
        end: f64,
        tell: impl FnMut(&World) + Send,
    ) -> Result<(), BackendError> {
        match self {
            Engine::Cpu => Ok(world.advance_with(end, tell)?),
            #[cfg(feature = "gpu")]
            Engine::Gpu(gpu) => gpu.advance_to(world, end).map_err(|error| match error {
                super::gpu::GpuError::Step(error) => BackendError::Step(error),
                other => BackendError::Failed(other.to_string()),
            }),
        }
    }
}
