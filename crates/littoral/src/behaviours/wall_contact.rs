//! Walls that push by contact alone: Lennard-Jones and discrete-element walls. Not a behaviour, but a pair law
//! that the scene's `world.walls` brings along.
//!
//! Samples of such walls have no volume: they take no part in density, pressure or viscosity. What they do is all
//! here, and depends on a speed U, the fastest flow that the scene can make, so that nothing has to be tuned.
//!
//! Lennard-Jones [Monaghan1994; Bayraktar2010, Eq. 5.3]: every sample pushes a particle at r < r₀ with
//!
//!   a = U²/r ((r₀/r)¹² − (r₀/r)⁶) e_r − s (U/r₀)(1 − r/r₀)(v − v_w),
//!
//! r₀ the spacing. A particle that arrives with U is stopped at 0.8 r₀: U²/12 ((r₀/r)⁶ − 1)² = U²/2. s is 1 for no slip
//! and 0 for free slip.
//!
//! Discrete elements [Bayraktar2010, Eqs. 4.9, 4.10]: a particle is a ball of half a spacing that touches the wall's
//! surface. With u how deep it is pressed in,
//!
//!   a = max(0, ω² u − ω v_n) n − s ω v_t,   ω = 4U/Δx:
//!
//! half the critical damping. A particle that arrives with U is pressed in by less than a fifth of a spacing and
//! comes back with less than 0.4 of its speed.
//! The seed's friction has a fixed size, and so shakes what is at rest; ours is linear in the speed, which also makes
//! the step between free slip and no slip a number. Height and normal are those of the plane through each sample; samples
//! share the push between them by their distance along the plane, (1 − t²/R²), so that the wall is smooth: from
//! particles that touch particles it would be as rough as sand.
//!
//! Neither knows how dense the fluid is: beside such a wall the density is too low, as at a free surface, and the
//! fluid moves closer. `docs/walls.md` has it measured. Kept honest by the tests below and `tests/walls.rs`.

use std::f32::consts::PI;

use crate::discretisation::Discretisation;
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::scene::{Dimensions, WallModel};
use crate::simd::*;
use crate::timestep::{Limit, Limits};

/// The push of a wall without volume.
#[derive(Clone, Copy)]
pub struct Law<'a> {
    model: WallModel,
    mass: &'a [f32],
    /// U, m/s.
    speed: f32,
    spacing: f32,
    /// 1: no slip; 0: free slip.
    hold: f32,
    /// R, m.
    spread: f32,
    /// Makes the shares of all samples of a plane one.
    share: f32,
}

impl<'a> Law<'a> {
    /// `None` where walls press by their density instead.
    pub fn new(d: &Discretisation, mass: &'a [f32]) -> Option<Law<'a>> {
        if !d.walls.is_contact() {
            return None;
        }
        // Particles see samples within their support; those of the plane are a spacing away when they first touch.
        let (s, h) = (d.spacing, d.support);
        let spread = (h * h - s * s).sqrt().min(2.0 * s);
        let shares = match d.dimensions {
            Dimensions::Two => 4.0 / 3.0 * spread / s,
            Dimensions::Three => 0.5 * PI * (spread / s).powi(2),
        };
        let (speed, hold) = (d.fastest_flow, 1.0 - d.slip);
        Some(Law { model: d.walls, mass, speed, spacing: s, hold, spread, share: 1.0 / shares })
    }

    #[inline(always)]
    fn lennard_jones<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let simd = wall.simd;
        let zero = splat(simd, 0.0);
        // Closer than a third of r₀ a particle cannot get by itself; a bound keeps the force of one that starts there finite.
        let r = wall.r.max(splat(simd, self.spacing / 3.0));
        let q = splat(simd, self.spacing) / r;
        let q6 = q * q * q * q * q * q;
        let push = (q6 * q6 - q6).max(zero) / (r * r) * (self.speed * self.speed);
        let near = (splat(simd, 1.0) - wall.r * (1.0 / self.spacing)).max(zero);
        let velocity = Lanes3::splat(simd, own.velocity.truncate().into()) - wall.velocity;
        let drag = near * (self.hold * self.speed / self.spacing);
        wall.x * push - velocity * drag
    }

    #[inline(always)]
    fn discrete_element<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let simd = wall.simd;
        let (zero, one) = (splat(simd, 0.0), splat(simd, 1.0));
        let above = wall.x.dot(wall.normal);
        let along2 = (wall.r * wall.r - above * above).max(zero);
        // Only the layer next to the surface, where that has a normal.
        let outermost = wall.depth.simd_lt(splat(simd, 0.75 * self.spacing));
        let flat = outermost.select(wall.normal.dot(wall.normal), zero);
        let share = (one - along2 * (1.0 / (self.spread * self.spread))).max(zero) * flat * self.share;

        let rate = 4.0 * self.speed / self.spacing;
        let depth = (wall.depth + 0.5 * self.spacing - above).max(zero);
        let velocity = Lanes3::splat(simd, own.velocity.truncate().into()) - wall.velocity;
        let away = velocity.dot(wall.normal);
        let push = (depth * (rate * rate) - away * rate).max(zero);
        let touching = depth.simd_gt(zero).select(share, zero);
        let sideways = velocity - wall.normal * away;
        wall.normal * (push * touching) - sideways * (touching * (self.hold * rate))
    }
}

impl PairLaw for Law<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, _own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        Lanes3::zero(pair.simd)
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let acceleration = match self.model {
            WallModel::LennardJones => self.lennard_jones(own, wall),
            _ => self.discrete_element(own, wall),
        };
        acceleration * splat(wall.simd, self.mass[own.index])
    }
}

/// The longest step that such walls can bear: both are about as stiff where a particle that arrives with U turns
/// around, with ω of 14 and 4 U/Δx; a step of 0.5/ω resolves that.
pub fn offer_limit(d: &Discretisation, limits: &mut Limits) {
    let turns = match d.walls {
        WallModel::LennardJones => 14.0,
        WallModel::DiscreteElement => 4.0,
        WallModel::Samples | WallModel::Sph => return,
    };
    limits.offer(Limit::Stiffness, 0.5 * d.spacing / (turns * d.fastest_flow));
}
