//! How fast kernel sums over a lattice approach the integrals they stand for.

use super::{Check, Validation};
use crate::kernels::{Kernel, lattice_sum};
use crate::scene::{Dimensions, KernelName};

pub static KERNEL_MOMENTS: Validation = Validation {
    name: "kernel-moments",
    what: "zeroth and second moment of every kernel on a lattice, and their order of convergence",
    run: |_| Ok(checks()),
};

fn checks() -> Vec<Check> {
    let mut checks = Vec::new();
    for dimensions in [Dimensions::Two, Dimensions::Three] {
        for &(name, kernel) in &KernelName::NAMES {
            let error = |neighbours_across: f64| moment_error(kernel, dimensions, neighbours_across);
            let d = dimensions.count();
            let fine = error(6.0);
            let quantity = |what: &str| format!("{name}, {d}-D: {what}");
            // The spiky kernel has a cusp where a particle sits: on a plane, its sum is one percent high.
            checks.push(Check::below(quantity("error of its moments at h = 6 spacings"), "", fine, 0.02));
            // Lattice sums oscillate about the integral: compare means over a range of supports.
            let mean =
                |from: f64| (0..8).map(|k| error(from * (1.0 + f64::from(k) / 16.0))).sum::<f64>() / 8.0;
            let order = (mean(3.0) / mean(6.0)).log2();
            // Second order or better: every kernel is at least once differentiable at its edge.
            checks.push(Check {
                passed: order >= 2.0,
                ..Check::near(
                    quantity("measured order of convergence (at least)"),
                    "",
                    order,
                    2.0,
                    f64::INFINITY,
                )
            });
        }
    }
    checks
}

/// |Σ V W − 1|; for the viscosity kernel, which is singular, |Σ V ∇²W r²/(2d) − 1|.
fn moment_error(name: KernelName, dimensions: Dimensions, support: f64) -> f64 {
    let kernel = Kernel::new(name, dimensions, support);
    let sum = if name == KernelName::Viscosity {
        let d = dimensions.count() as f64;
        lattice_sum(&kernel, 1.0, |_, r| f64::from(kernel.laplacian_at(r as f32)) * r * r / (2.0 * d))
    } else {
        f64::from(kernel.w_at(0.0)) + lattice_sum(&kernel, 1.0, |_, r| f64::from(kernel.w_at(r as f32)))
    };
    (sum - 1.0).abs()
}
