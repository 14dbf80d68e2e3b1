//! The pressure force between two particles: not a behaviour, but what every pressure law ends in.
//!
//! Written on rest volumes V, with δ the density over the rest density, so that fluids of any density ratio
//! share it. The force of j on i is
//!
//!   quotients: −V_i V_j (p_i/δ_i² + p_j/δ_j²) ∇W    [Lenaerts2009, Eq. 3.10; Bayraktar2010, Eq. 3.20]
//!   sum:       −V_i V_j (p_i + p_j)/(δ_i δ_j) ∇W    [Bayraktar2010, Eq. 3.21]
//!
//! For one fluid, V = m/ρ₀ turns these into the published forms. The ½ printed in Eq. 3.21 halves the force:
//! Σ V_j p_i ∇W vanishes inside the fluid, so only p_j carries the gradient, and it must carry all of it. A
//! hydrostatic column shows it: with the ½, the pressure at its foot is twice the weight above.
//!
//! A wall sample has a pressure of its own: that of the fluid before it, from the density that the fluid has as
//! seen from the sample, δ_b = Σ_j V_j W_bj / s_b, where s_b is the same sum for a fluid at rest. The force is
//! −V_i V_b (P_i + P_b) ∇W: exactly what follows from giving each sample the energy V_b s_b e(δ_b). It pushes as
//! much as a fluid behind the wall would, and cannot heat the fluid. (The customary P_b = P_i is the gradient of
//! no energy: a tank of water at rest boiled within a second. P_b = 0 is, but then a narrow tank carried 20 %
//! too much pressure.)

use crate::discretisation::Discretisation;
use crate::kernels::Kernel;
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::scene::PressureForm;
use crate::simd::*;

/// Pressure force.
#[derive(Clone, Copy)]
pub struct Law {
    kernel: Kernel,
}

impl Law {
    pub fn new(d: &Discretisation) -> Law {
        Law { kernel: d.pressure }
    }
}

/// What each particle brings to the pair: its volume and its pressure term.
///
/// Both forms are −A_i A_j (P_i + P_j) ∇W, with A = V and P = p/δ² for quotients, A = V/δ and P = p for the sum.
#[inline(always)]
pub fn pair_terms(form: PressureForm, volume: f32, pressure: f32, ratio: f32) -> (f32, f32) {
    match form {
        PressureForm::Quotients => (volume, pressure / (ratio * ratio)),
        PressureForm::Sum => (volume / ratio, pressure),
    }
}

/// The pressure term of a wall sample. A wall never pulls; and one that sees a single drop, δ_b close to zero,
/// must not divide by it.
#[inline(always)]
pub fn wall_term(form: PressureForm, pressure: f32, ratio: f32) -> f32 {
    pair_terms(form, 1.0, pressure.max(0.0), ratio.max(1.0)).1
}

impl PairLaw for Law {
    #[inline(always)]
    fn force<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        let strength = (pair.pressure + own.pressure) * pair.volume * -own.volume;
        pair.x * (strength * pair.gradient_over_r(&self.kernel))
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let strength = (wall.pressure + own.pressure) * wall.volume * -own.volume;
        wall.x * (strength * wall.gradient_over_r(&self.kernel))
    }
}
