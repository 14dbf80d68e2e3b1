//! The numbers that every law shares: spacing, support, kernels.
//!
//! A kernel integrates to one, but its sum over particles at rest does not: for a cubic spline on a lattice the
//! sum is off by up to a few percent. A Tait fluid answers one percent of density with its full hydrostatic
//! pressure, so a block of fluid would start with a bang. We therefore scale the kernels so that the sums over
//! the lattice at rest are exact: Σ V W = 1 for density, and, where pressure has a kernel of its own,
//! −Σ V x ∂W/∂x = 1. With one kernel for both, one factor serves both, and the pressure force stays the exact
//! gradient of the energy stored in the density.

use crate::kernels::{Kernel, lattice_sum};
use crate::scene::{Dimensions, PressureForm, Scene, WallModel, fastest_flow};

/// Resolution and kernels of a run.
#[derive(Clone, Copy, Debug)]
pub struct Discretisation {
    pub dimensions: Dimensions,
    /// Distance of particles at rest, of the finest if there are several sizes, m.
    pub spacing: f32,
    /// Support radius h of all kernels, m. Those of larger particles are stretched: see `pair.rs`.
    pub support: f32,
    /// Of the largest particles, m; as `support` where all have one size.
    pub longest_support: f32,
    pub density: Kernel,
    pub pressure: Kernel,
    pub viscosity: Kernel,
    pub normalised_density: bool,
    pub pressure_form: PressureForm,
    /// 0: walls hold the fluid; 1: it glides along them.
    pub slip: f32,
    pub walls: WallModel,
    /// Fastest flow that the scene can make, m/s: what walls that push by contact must stop.
    pub fastest_flow: f32,
}

impl Discretisation {
    pub fn new(scene: &Scene) -> Discretisation {
        let sph = &scene.sph;
        let support = sph.spacing * sph.support;
        let kernel = |name| Kernel::new(name, scene.dimensions, support);

        let density = kernel(sph.density_kernel);
        let own = sph.spacing.powi(scene.dimensions.count() as i32) * f64::from(density.w_at(0.0));
        let value = own + lattice_sum(&density, sph.spacing, |_, r| f64::from(density.w_at(r as f32)));

        let pressure = kernel(sph.pressure_kernel);
        let gradient = -lattice_sum(&pressure, sph.spacing, |x, r| {
            x[0] * x[0] / r * f64::from(pressure.slope_at(r as f32))
        });
        let same = sph.pressure_kernel == sph.density_kernel;

        Discretisation {
            dimensions: scene.dimensions,
            spacing: sph.spacing as f32,
            support: support as f32,
            longest_support: (scene.coarsest() * sph.support) as f32,
            density: density.scaled(1.0 / value),
            pressure: pressure.scaled(1.0 / if same { value } else { gradient }),
            viscosity: kernel(sph.viscosity_kernel),
            normalised_density: sph.normalised_density,
            pressure_form: sph.pressure_form,
            slip: scene.domain.slip as f32,
            walls: scene.domain.walls,
            fastest_flow: fastest_flow(scene) as f32,
        }
    }

    /// Whether particles have different sizes.
    pub fn has_sizes(&self) -> bool {
        self.longest_support > self.support
    }

    /// Spacing and support of a body with a spacing of its own, m; kernels stay those of the world.
    pub fn of_body(&self, spacing: f64) -> Discretisation {
        let support = self.support / self.spacing * spacing as f32;
        // The same bits where the body has the world's spacing.
        if spacing as f32 == self.spacing {
            *self
        } else {
            Discretisation { spacing: spacing as f32, support, ..*self }
        }
    }

    /// Volume of one lattice cell, m³ (m² in 2-D).
    pub fn cell_volume(&self) -> f32 {
        self.spacing.powi(self.dimensions.count() as i32)
    }

    /// Half the support: the length ℓ that time-step limits are stated in.
    pub fn smoothing_length(&self) -> f32 {
        0.5 * self.support
    }
}
