//! Free solids in a solve for pressure.
//!
//! A pressure p_i pushes a particle away from a wall sample with −2 V_i V_b p_i ∇W, and the sample's solid with the
//! opposite. A solve that took solids for immovable would overshoot with light ones: it must know how they give
//! way. To the operator that takes pressures to changes of density, solids add 2 Σ_b V_b a_b·∇W, where a_b is the
//! acceleration that all pressures together give to the solid of sample b, at the sample. That keeps the operator
//! symmetric and positive: it adds Jᵀ M⁻¹ J, with J the way from pressures to wrenches. Contacts and joints are
//! not known to the solve. Kept honest by `littoral validate archimedes`.

use std::sync::Mutex;

use glam::{DVec3, Vec4};

use super::{SolidState, Wrench};
use crate::backend::cpu::Rows;
use crate::kernels::Kernel;
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::simd::{Lanes3, Simd};
use crate::solve::pressure::Filled;
use crate::walls::Walls;

/// The push of walls on particles, for rows that have V p in place of their volume.
#[derive(Clone, Copy)]
pub struct WallPush<'a> {
    pub kernel: Kernel,
    pub filled: &'a [Filled],
}

impl PairLaw for WallPush<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, _own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        Lanes3::zero(pair.simd)
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let mirror = self.filled[own.index].mirror;
        wall.x * (wall.gradient_over_r(&self.kernel) * wall.volume * (-mirror * own.volume))
    }
}

/// How free solids give way to pressures.
pub struct Coupling<'a> {
    solids: &'a [SolidState],
    centres: Vec<DVec3>,
    scratch: Mutex<Scratch>,
}

#[derive(Default)]
struct Scratch {
    wrenches: Vec<Wrench>,
    pieces: Vec<Wrench>,
    /// Acceleration of each wall sample, m/s²; zero for all that are not free.
    accelerations: Vec<Vec4>,
}

impl<'a> Coupling<'a> {
    /// `None` where nothing is free.
    pub fn new(solids: &'a [SolidState], walls: &Walls) -> Option<Coupling<'a>> {
        solids.iter().any(SolidState::is_free).then(|| {
            let accelerations = vec![Vec4::ZERO; walls.len()];
            let wrenches = vec![Wrench::default(); solids.len()];
            let scratch = Mutex::new(Scratch { wrenches, pieces: Vec::new(), accelerations });
            Coupling { solids, centres: solids.iter().map(|solid| solid.pose.position).collect(), scratch }
        })
    }

    /// Hands the accelerations of all wall samples, under the pressures that the rows hold as V p, to `run`.
    pub fn with_accelerations<R>(&self, rows: &Rows, law: WallPush, run: impl FnOnce(&[Vec4]) -> R) -> R {
        let mut scratch = self.scratch.lock().expect("nobody panics with it");
        let Scratch { wrenches, pieces, accelerations } = &mut *scratch;
        wrenches.fill(Wrench::default());
        rows.reactions(&[law], &self.centres, pieces, wrenches);
        for (solid, wrench) in self.solids.iter().zip(wrenches).filter(|(solid, _)| solid.is_free()) {
            let (along, around) = solid.response(*wrench);
            solid.write_moves(along, around, |row, moves| accelerations[row] = moves.extend(0.0));
        }
        run(accelerations)
    }
}
