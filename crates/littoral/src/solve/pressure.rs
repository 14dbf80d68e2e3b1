//! The pressure that keeps a fluid incompressible: divergence-free SPH on rest volumes, after [Bender2017].
//!
//! Let δ_i = Σ V_j W_ij be the density over the rest density. In every step, after all other forces, velocities are
//! changed as little as possible (in the sense of kinetic energy) so that
//!
//!   Δt dδ/dt = −β (δ − 1)    where the fluid is slightly compressed: a part β of that is taken back (more of more),
//!   dδ/dt = 0                inside, where neighbourhoods are nearly complete,
//!   Δt dδ/dt ≤ γ (1 − δ)     at free surfaces, which may also tear,
//!   Δt dδ/dt ≤ 1 − δ         for drops, which may fly together.
//!
//! This is done by pressures, one for each particle: of any sign inside, p ≥ 0 at surfaces and in spray, where they
//! push if the condition would fail and vanish if it holds with room to spare. Their force is the gradient of what
//! they hold down, F_i = −V_i Σ_j V_j (p_i + p_j) ∇W − 2 V_i Σ_b V_b p_i ∇W over particles j and wall samples b: it conserves
//! momentum, does no work on walls at rest, and knows volumes only, so that fluids of any density ratio share it.
//! With a = F/m, what the pressures take away from d²δ/dt² is
//!
//!   (A p)_i = −a_i·g_i + Σ_j V_j a_j·∇W,   g_i = Σ_j V_j ∇W + 2 Σ_b V_b ∇W,
//!
//! where A is symmetric and positive in the product Σ V_i p_i q_i: the pressures minimise ½pᵀAp − sᵀp.
//! Peers relax this by Jacobi's method; we take runs of conjugate gradients, scaled by the diagonal, on the particles
//! that are pushed, and let go of those that would pull after each run.
//!
//! Particles of a rigid body have no pressure of their own and give way as one: a becomes P a, with a projection P (`structure/rigid.rs`) that leaves A
//! symmetric and positive.
//!
//! Where particles have different supports, δ_i and g_i take that of particle i, and the push of p_j takes that of j:
//! F_i = −V_i Σ_j V_j (p_i ∇W(h_i) + p_j ∇W(h_j)) − … is still the gradient of what the pressures hold down, keeps momentum,
//! and leaves A symmetric.
//!
//! [Bender2017] solves twice in a step, for dδ/dt ≤ 0 before the forces and for δ + Δt dδ/dt ≤ 1 after them. Once is
//! enough: the velocity that the second solve adds to take back compression at once is what makes the first one
//! necessary, and what shakes water at rest. The one pressure is then also the one that a gauge would read.
//!
//! Even so, β turns disorder of the particles into motion and takes from the flow: vortices in a closed box decayed
//! five times too fast. Where `[solver] shift` is on, β = 0, and a second solve shifts positions, not
//! velocities, so that the density evens out. Free surfaces do not bear that: a tank of water caved in.
//!
//! Kept honest by `littoral validate hydrostatic-incompressible hydrostatic-layers archimedes cavity`.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use crate::backend::cpu::{Rows, Slopes};
use crate::behaviours::Solved;
use crate::kernels::Kernel;
use crate::pair::{Own, Pair, SlopedPair, SlopedSum, Sum, WallPair};
use crate::simd::*;
use crate::solids::{Coupling, WallPush};
use crate::structure::RigidBodies;

/// How well a condition is to be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Root mean square over all particles of how far δ may be from where it should be at the end of the step.
    pub error: f32,
    /// Part of what a step has to do that it may leave: errors add up over steps.
    pub part: f32,
    /// Part of the error below which no step need go.
    pub least: f32,
    /// How much larger the error of any one particle may be: a few that hit a wall hardly count in the mean of all.
    pub largest: f32,
    pub iterations: u32,
    /// What stands for `part` and `least` in the mean over grains alone.
    pub of_grains: Option<[f32; 2]>,
}

impl Tolerance {
    pub fn new(error: f32, iterations: u32) -> Tolerance {
        Tolerance { error, part: 0.2, least: 0.01, largest: 5.0, iterations, of_grains: None }
    }

    /// Where grains rub, friction takes up what pressures leave, one step this way and the next that way: a heap creeps.
    pub fn for_grains(self) -> Tolerance {
        Tolerance { of_grains: Some([1e-3, 1e-4]), ..self }
    }

    /// The error to reach, where it would be `task` without any pressure.
    fn goal(&self, task: Error) -> Error {
        let most = f64::from(self.error);
        let mean =
            |task: f64, part: f32, least: f32| (f64::from(part) * task).clamp(f64::from(least) * most, most);
        Error {
            mean: mean(task.mean, self.part, self.least),
            largest: f64::from(self.largest) * most,
            of_grains: match self.of_grains {
                Some([part, least]) => mean(task.of_grains, part, least),
                None => f64::INFINITY,
            },
        }
    }
}

/// The particles' rows, kernels and step.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// Motion: velocity, and as fourth entry the inverse of the rest density, m³/kg.
    pub rows: Rows<'a>,
    pub density: &'a Kernel,
    pub pressure: &'a Kernel,
    /// s.
    pub dt: f32,
    /// Time in which compression is taken back, s.
    pub relaxation: f32,
    /// Compression that a step may take back at once.
    pub haste: f32,
    /// Whether shifts of positions even out the density.
    pub shifts: bool,
    /// Which particles are of a granular material; `None` where all are fluid.
    pub grains: Option<&'a [bool]>,
    /// Whose pressures are to be found; `None` where it is everyone's.
    pub region: Option<&'a Region>,
    /// Free solids, which pressures accelerate too.
    pub coupling: Option<&'a Coupling<'a>>,
    /// Particles that pressures accelerate as one.
    pub rigid: &'a RigidBodies,
}

/// Particles near grains: what friction has spoilt there is mended there, with the pressures of all others as they are.
#[derive(Default)]
pub struct Region {
    /// Grains and their neighbours: their pressures change.
    pub changes: Vec<bool>,
    /// Those and their neighbours: what pushes them changes.
    pub is_pushed: Vec<bool>,
}

impl Region {
    /// What holds a shape is all pushed: its particles may move as one.
    pub fn find(&mut self, grains: &[bool], rows: &Rows, holds_shape: impl Fn(usize) -> bool) {
        let widen = |from: &[bool], to: &mut Vec<bool>| {
            to.clear();
            to.extend_from_slice(from);
            for i in (0..from.len()).filter(|&i| from[i]) {
                for &j in rows.lists().particles(i).as_slice() {
                    to[j as usize] = true;
                }
            }
        };
        widen(grains, &mut self.changes);
        widen(&self.changes, &mut self.is_pushed);
        let all = self.is_pushed.iter_mut().enumerate();
        all.for_each(|(i, is_pushed)| *is_pushed |= holds_shape(i));
    }
}

impl Setting<'_> {
    /// Whether a particle's pressure is to be found.
    fn changes(&self, i: usize) -> bool {
        self.region.is_none_or(|region| region.changes[i])
    }
}

/// Memory of the solve, kept from step to step.
#[derive(Default)]
pub struct PressureSolve {
    filled: Vec<Filled>,
    slopes: Slopes,
    /// s, what A p must reach, 1/s².
    source: Vec<f32>,
    /// s − A p.
    residual: Vec<f32>,
    direction: Vec<f32>,
    /// The lowest pressure that each particle may have, Pa: none inside, zero at surfaces.
    floor: Vec<f32>,
    /// Inverse diagonal of A for those that take part, zero for the others.
    free: Vec<f32>,
    /// A times the direction.
    image: Vec<f32>,
    /// x, y, z: position; w: V p.
    pushing: Vec<Vec4>,
    /// Acceleration by the pressures, m/s²; and by the direction.
    acceleration: Vec<Vec4>,
    change: Vec<Vec4>,
    /// Pressures of the shift.
    shifting: Vec<f32>,
    /// Whether `acceleration` holds one.
    shifts: bool,
    parts: Vec<[f64; 2]>,
    /// Of the last solve, before its first iteration.
    first_error: f32,
}

/// What the neighbours' positions make of a particle.
#[derive(Clone, Copy, Default)]
pub struct Filled {
    /// x, y, z: Σ V ∇W over particles and walls, 1/m; w: inverse of the diagonal of A, zero if nothing can push.
    gradient: Vec4,
    /// δ.
    ratio: f32,
    /// How often walls count.
    pub mirror: f32,
}

/// How often walls count in gradients. Twice, what is behind them is the mirror image of what is before, with the same
/// pressure and the opposite velocity towards the wall: pressures beside it are then right within a few per cent, a
/// fifth too high with once. But twice holds back flows along walls: in a lid-driven cavity, velocities were off by a
/// fifth of the lid's. And δ itself counts them once: what
/// leaves a wall while others press on makes room for half of what twice would say. So for those that are compressed
/// by more than half a per cent it goes down to once: 5 per cent of compression, where a surge hit a wall, became 2.
fn mirror(shifts: bool, ratio: f32) -> f32 {
    if shifts { 1.0 } else { 2.0 - ((ratio - 1.005) / 0.01).clamp(0.0, 1.0) }
}

/// From this δ on, a neighbourhood is filled: approach is compression. Below it, lone drops may fly together. (At the
/// surface of water at rest it is 0.6 to 0.8, by kernel and support.)
const FILLED: f32 = 0.5;

/// Above this δ, a particle is inside the fluid: it is neither let go of nor let torn.
const INSIDE: f32 = 0.9;

/// β, the most of a slight compression that a step takes back. All of it at once would be thrown out as speed.
const RETURN: f32 = 0.1;

/// Compression that is slight. What goes beyond it comes from impacts, and is taken back at once, up to [`HASTE`].
const SLIGHT: f32 = 0.002;

/// δ from which on grains bear a load. Were it 1, half of a lattice at rest would bear all, be compressed a little, and never come back; at
/// any δ, loose sand would never close.
const LOOSEST: f32 = 0.995;

/// Compression that grains keep. More is taken back by shifts of positions: as speed, friction would oppose it, and the two stresses
/// would drive each other up until the whole heap is lifted.
const PACKED: f32 = 0.01;

/// Part of what is beyond that which a shift takes back. With half of it, shifts lifted a deep column faster than it settled, and shook it to pieces.
const LOOSEN: f32 = 0.05;

/// Compression that a step may take back at once, as a part of how far, in smoothing lengths, the fastest particle goes in
/// it: where all is slow, haste would throw drops out.
pub const HASTE: f32 = 0.1;

/// γ, the part of the room between neighbours at a surface that a step lets them close. With none, pores stay for ever.
const CLOSE: f32 = 0.05;

/// Part of the error of the density that a shift of positions takes back.
const EVEN: f32 = 0.5;

/// Steps of conjugate gradients before pressures below zero are let go of. (Letting go after each step took twice as
/// many products with A for a breaking dam; after 8 or 16 instead of 4, as many or more.)
const RUN: u32 = 4;

/// Particles in a part of a sum over all: parts are added in order, whatever the number of threads.
const PART: usize = 4096;

impl PressureSolve {
    /// Finds what depends on positions alone; must come first in a step.
    pub fn prepare(&mut self, setting: &Setting) {
        self.filled.resize(setting.rows.place().len(), Filled::default());
        let sums = Positions { density: setting.density, pressure: setting.pressure, shifts: setting.shifts };
        setting.rows.sum_and_slopes(&sums, &mut self.filled, setting.pressure, &mut self.slopes);
    }

    /// Particles that have no pressure of their own, and only take that of others.
    pub fn leave_out(&mut self, is_left_out: impl Fn(usize) -> bool + Sync) {
        let rows = self.filled.par_iter_mut().with_min_len(8192).enumerate();
        rows.filter(|(i, _)| is_left_out(*i)).for_each(|(_, filled)| {
            filled.gradient.w = 0.0;
            filled.ratio = 0.0;
        });
    }

    /// What pushes solids.
    pub fn wall_push(&self, kernel: Kernel) -> WallPush<'_> {
        WallPush { kernel, filled: &self.filled }
    }

    /// Memory, bytes.
    pub fn bytes(&self) -> usize {
        let rows = self.pushing.capacity() + self.acceleration.capacity() + self.change.capacity();
        let numbers = [
            &self.source,
            &self.residual,
            &self.direction,
            &self.floor,
            &self.free,
            &self.image,
            &self.shifting,
        ];
        let numbers: usize = numbers.iter().map(|column| column.capacity()).sum();
        size_of::<Filled>() * self.filled.capacity() + 16 * rows + 4 * numbers + self.slopes.bytes()
    }

    /// δ of each particle.
    pub fn ratios(&self) -> impl IndexedParallelIterator<Item = f32> + '_ {
        self.filled.par_iter().map(|filled| filled.ratio)
    }

    /// How far δ would have been off at the end of the step with the pressures that the last solve began with: root mean square, over grains
    /// where there are any.
    pub fn first_error(&self) -> f32 {
        self.first_error
    }

    /// Takes out of the velocities what would compress the fluid. `pressure` is the last step's, and then this one's, Pa.
    pub fn solve(
        &mut self,
        setting: &Setting,
        velocity: &mut [Vec4],
        pressure: &mut [f32],
        tolerance: Tolerance,
    ) -> Solved {
        self.shifts = false;
        self.rate_of_change(setting);
        self.find_floors(setting, INSIDE);
        let dt = setting.dt;
        let rows = self.source.par_iter_mut().with_min_len(8192).zip(&self.filled).enumerate();
        // Where sizes meet, δ is off by some per cent whatever the particles do: that must not be taken for an impact.
        let slight = if setting.rows.have_sizes() { f32::INFINITY } else { SLIGHT };
        rows.for_each(|(i, (source, filled))| {
            let room = 1.0 - filled.ratio;
            let is_grain = setting.grains.is_some_and(|grains| grains[i]);
            let change = match filled.ratio {
                compressed if compressed > 1.0 && !setting.shifts && !is_grain => {
                    let gently = (dt / setting.relaxation).min(RETURN);
                    gently * room + (1.0 - gently) * (room + slight).clamp(-setting.haste, 0.0)
                }
                loose if is_grain && loose > FILLED => CLOSE * (LOOSEST - loose).max(0.0),
                inside if inside > INSIDE => 0.0,
                full if full > FILLED => CLOSE * room,
                _ => room,
            };
            *source = (*source - change / dt) / dt;
        });
        let solved = self.minimise(setting, pressure, tolerance);
        self.push(velocity, dt, setting.region);
        solved
    }

    /// Adds what the pressures of the last solve make of the velocities in a time, s, or takes it out.
    pub fn push(&self, velocity: &mut [Vec4], dt: f32, region: Option<&Region>) {
        let rows = velocity.par_iter_mut().with_min_len(8192).zip(&self.acceleration).enumerate();
        rows.filter(|(i, _)| region.is_none_or(|region| region.is_pushed[*i]))
            .for_each(|(_, (velocity, acceleration))| *velocity += *acceleration * dt);
    }

    /// Finds the shift of positions, m, that takes back what is compressed.
    pub fn shift(&mut self, setting: &Setting, tolerance: Tolerance) -> Solved {
        let dt = setting.dt;
        let rows = self.source.par_iter_mut().with_min_len(8192).zip(&self.filled);
        rows.for_each(|(source, filled)| *source = EVEN * (filled.ratio - 1.0) / (dt * dt));
        // What one step leaves, the next takes up: there is no need to be exact.
        let tolerance = Tolerance { part: 0.3, least: 0.2, largest: f32::INFINITY, ..tolerance };
        self.find_shift(setting, tolerance)
    }

    /// Finds the shift that makes room for grains that are packed too closely; `None` where none are.
    pub fn loosen(&mut self, setting: &Setting, tolerance: Tolerance) -> Option<Solved> {
        let grains = setting.grains?;
        let dt = setting.dt;
        let rows = self.source.par_iter_mut().with_min_len(8192).zip(&self.filled).enumerate();
        let densest = rows.map(|(i, (source, filled))| {
            let excess = if grains[i] { (filled.ratio - 1.0 - PACKED).max(0.0) } else { 0.0 };
            *source = LOOSEN * excess / (dt * dt);
            excess
        });
        let densest = densest.reduce(|| 0.0, f32::max);
        self.shifts = densest > 0.0;
        if !self.shifts {
            return None;
        }
        let tolerance = Tolerance { part: 0.3, least: 0.05, largest: f32::INFINITY, ..tolerance };
        let solved = self.find_shift(setting, tolerance);
        let rows = self.acceleration.par_iter_mut().with_min_len(8192).enumerate();
        rows.filter(|(i, _)| !grains[*i]).for_each(|(_, shift)| *shift = Vec4::ZERO);
        Some(solved)
    }

    /// The shift that the source asks for.
    fn find_shift(&mut self, setting: &Setting, tolerance: Tolerance) -> Solved {
        let dt = setting.dt;
        self.shifts = true;
        let mut pressure = std::mem::take(&mut self.shifting);
        pressure.clear();
        pressure.resize(self.filled.len(), 0.0);
        self.find_floors(setting, f32::INFINITY);
        let solved = self.minimise(setting, &mut pressure, tolerance);
        self.shifting = pressure;
        self.acceleration.par_iter_mut().with_min_len(8192).for_each(|shift| *shift *= dt * dt);
        solved
    }

    /// The shift that goes with the last solve, m, if any.
    pub fn shifts(&self) -> Option<&[Vec4]> {
        self.shifts.then_some(&self.acceleration)
    }

    /// dδ/dt of the rows' motion, into the source.
    fn rate_of_change(&mut self, setting: &Setting) {
        self.source.resize(self.filled.len(), 0.0);
        setting.rows.sum(&Change::of_velocity(setting, &self.filled), &mut self.source);
    }

    /// With δ above `inside` fluids may have any pressure; grains, and all at surfaces and in spray, none below zero.
    fn find_floors(&mut self, setting: &Setting, inside: f32) {
        self.floor.resize(self.filled.len(), 0.0);
        let rows = self.floor.par_iter_mut().with_min_len(8192).zip(&self.filled).enumerate();
        rows.for_each(|(i, (floor, filled))| {
            let is_grain = setting.grains.is_some_and(|grains| grains[i]);
            *floor = if filled.ratio > inside && !is_grain { f32::NEG_INFINITY } else { 0.0 };
        });
    }

    /// Finds pressures with A p = s where p is above its floor, and A p ≥ s where it is there; and what they push.
    fn minimise(&mut self, setting: &Setting, pressure: &mut [f32], tolerance: Tolerance) -> Solved {
        let n = pressure.len();
        for scratch in [&mut self.residual, &mut self.direction, &mut self.image] {
            scratch.resize(n, 0.0);
        }
        self.acceleration.resize(n, Vec4::ZERO);
        self.change.resize(n, Vec4::ZERO);
        self.pushing.resize(n, Vec4::ZERO);

        // The last step's pressures may pull a little; see below.
        release(pressure, &self.floor);
        self.start_from(setting, pressure);
        let goal = tolerance.goal(self.task(setting));
        self.choose_free(setting, pressure);
        let mut error = self.error(setting);
        self.first_error = if setting.grains.is_some() { error.of_grains } else { error.mean } as f32;
        let mut iterations = 0;
        let mut run = RUN;
        while iterations < tolerance.iterations && !goal.is_met(error) {
            // Conjugate gradients on those that are pushed, or should be; some pressures may fall below zero.
            let mut last = f64::INFINITY;
            for _ in 0..run {
                iterations += 1;
                last = self.turn(setting.rows.place(), last);
                // Those that take part have nothing left to do; others may have.
                if last == 0.0 {
                    break;
                }
                apply(
                    setting,
                    (&self.filled, &self.slopes),
                    &self.direction,
                    &mut self.pushing,
                    &mut self.change,
                    &mut self.image,
                );
                let length = self.length(setting.rows.place());
                self.advance(pressure, length);
                error = self.error(setting);
                if goal.is_met(error) {
                    // Whoever pulls now does so within the tolerance, and is let go of in the next step.
                    return Solved { iterations, residual: error.mean as f32 };
                }
            }
            // What grains ask for is nearly exact, which takes longer runs.
            if setting.grains.is_some() {
                run *= 2;
            }
            // Pressures do not pull: what this leaves must be found anew.
            if release(pressure, &self.floor) {
                self.start_from(setting, pressure);
            }
            self.choose_free(setting, pressure);
            error = self.error(setting);
        }
        Solved { iterations, residual: error.mean as f32 }
    }

    /// Acceleration and residual of the pressures as they are.
    fn start_from(&mut self, setting: &Setting, pressure: &[f32]) {
        apply(
            setting,
            (&self.filled, &self.slopes),
            pressure,
            &mut self.pushing,
            &mut self.acceleration,
            &mut self.image,
        );
        let rows = (&mut self.residual, &self.source, &self.image).into_par_iter().with_min_len(8192);
        rows.for_each(|(residual, source, image)| *residual = source - image);
    }

    /// What is left of the error of δ at the end of the step: compression, and expansion by too much pressure.
    fn error(&mut self, setting: &Setting) -> Error {
        let (residual, free, filled) = (&self.residual, &self.free, &self.filled);
        let left = |i: usize| match (free[i] > 0.0, filled[i].gradient.w > 0.0 && setting.changes(i)) {
            (true, _) => residual[i].abs(),
            (false, true) => residual[i].max(0.0),
            // Nothing can push it, or it has been left out.
            (false, false) => 0.0,
        };
        Error::of(&mut self.parts, residual.len(), left, setting.grains, setting.dt)
    }

    /// The same for no pressure at all.
    fn task(&mut self, setting: &Setting) -> Error {
        let (source, filled) = (&self.source, &self.filled);
        let counts = |i: usize| filled[i].gradient.w > 0.0 && setting.changes(i);
        let left = |i: usize| if counts(i) { source[i].max(0.0) } else { 0.0 };
        Error::of(&mut self.parts, source.len(), left, setting.grains, setting.dt)
    }

    /// Inverse diagonal for those that take part, zero for the others.
    fn choose_free(&mut self, setting: &Setting, pressure: &[f32]) {
        self.free.resize(pressure.len(), 0.0);
        let (residual, filled, floor) = (&self.residual, &self.filled, &self.floor);
        self.free.par_iter_mut().with_min_len(8192).enumerate().for_each(|(i, free)| {
            let takes_part = setting.changes(i) && (pressure[i] > floor[i] || residual[i] > 0.0);
            *free = if takes_part { filled[i].gradient.w } else { 0.0 };
        });
    }

    /// Sets the direction: the scaled residual, conjugate to the last one.
    fn turn(&mut self, place: &[Vec4], last: f64) -> f64 {
        let (residual, free) = (&self.residual, &self.free);
        let [product, _] = sum_parts(&mut self.parts, residual.len(), |i| {
            if free[i] == 0.0 {
                [0.0; 2]
            } else {
                [f64::from(place[i].w * residual[i] * residual[i] * free[i]), 0.0]
            }
        });
        let turn = (product / last) as f32;
        self.direction.par_iter_mut().with_min_len(8192).enumerate().for_each(|(i, direction)| {
            *direction = if free[i] == 0.0 { 0.0 } else { residual[i] * free[i] + turn * *direction };
        });
        product
    }

    /// How far to go along the direction: to where the residual has no part along it left.
    fn length(&mut self, place: &[Vec4]) -> f32 {
        let (direction, residual, image) = (&self.direction, &self.residual, &self.image);
        let [slope, curvature] = sum_parts(&mut self.parts, direction.len(), |i| {
            let d = f64::from(direction[i] * place[i].w);
            if d == 0.0 { [0.0; 2] } else { [d * f64::from(residual[i]), d * f64::from(image[i])] }
        });
        if curvature > 0.0 { (slope / curvature) as f32 } else { 0.0 }
    }

    /// Takes the step.
    fn advance(&mut self, pressure: &mut [f32], length: f32) {
        let rows = (pressure, &self.direction, &mut self.residual, &self.image).into_par_iter();
        rows.with_min_len(8192).for_each(|(pressure, direction, residual, image)| {
            *pressure += length * direction;
            *residual -= length * image;
        });
        let rows = self.acceleration.par_iter_mut().with_min_len(8192).zip(&self.change);
        rows.for_each(|(acceleration, change)| *acceleration += *change * length);
    }
}

/// How far δ is from where it should be at the end of a step.
#[derive(Clone, Copy, Debug)]
struct Error {
    /// Root mean square over all particles.
    mean: f64,
    largest: f64,
    /// Root mean square over grains.
    of_grains: f64,
}

impl Error {
    /// From what is left of d²δ/dt² for each particle.
    fn of(
        parts: &mut Vec<[f64; 2]>,
        n: usize,
        left: impl Fn(usize) -> f32 + Sync,
        grains: Option<&[bool]>,
        dt: f32,
    ) -> Error {
        let add = |[squares, most]: [f64; 2], [square, one]: [f64; 2]| [squares + square, most.max(one)];
        let [squares, most] = fold_parts(parts, n, add, |i| {
            let left = f64::from(left(i));
            [left * left, left]
        });
        let of_grains = grains.map_or([0.0; 2], |grains| {
            sum_parts(parts, n, |i| match grains[i] {
                true => [f64::from(left(i)).powi(2), 1.0],
                false => [0.0; 2],
            })
        });
        let dt = f64::from(dt);
        let mean = |[squares, count]: [f64; 2]| (squares / count.max(1.0)).sqrt() * dt * dt;
        Error { mean: mean([squares, n as f64]), largest: most * dt * dt, of_grains: mean(of_grains) }
    }

    /// As what is to be reached.
    fn is_met(&self, error: Error) -> bool {
        error.mean <= self.mean && error.largest <= self.largest && error.of_grains <= self.of_grains
    }
}

/// Takes out what is below its floor; tells whether there was any.
fn release(pressure: &mut [f32], floor: &[f32]) -> bool {
    let rows = pressure.par_iter_mut().with_min_len(8192).zip(floor);
    let released = rows.map(|(pressure, floor)| {
        let pulls = *pressure < *floor;
        if pulls {
            *pressure = *floor;
        }
        pulls
    });
    released.reduce(|| false, |a, b| a | b)
}

/// Accelerations that pressures make, and A times the pressures.
fn apply(
    setting: &Setting,
    (filled, slopes): (&[Filled], &Slopes),
    pressure: &[f32],
    pushing: &mut [Vec4],
    acceleration: &mut [Vec4],
    image: &mut [f32],
) {
    let rows = (&mut *pushing, setting.rows.place(), pressure).into_par_iter();
    rows.with_min_len(8192).for_each(|(row, place, pressure)| {
        *row = place.truncate().extend(place.w * pressure);
    });
    let pushed = setting.rows.with_place(pushing);
    pushed.sum_sloped(&Push { filled, pressure, region: setting.region }, slopes, acceleration);
    setting.rigid.project(acceleration);
    let rows = setting.rows.with_motion(acceleration);
    let mut change = Change::of_push(setting, filled);
    match setting.coupling {
        None => rows.sum_sloped(&change, slopes, image),
        Some(coupling) => {
            change.walls_move = true;
            let law = WallPush { kernel: *setting.pressure, filled };
            coupling.with_accelerations(&pushed, law, |walls| {
                rows.with_wall_motion(walls).sum(&change, image);
            });
        }
    }
}

/// Σ over all particles of two numbers each, in f64 and in a fixed order.
pub(super) fn sum_parts(
    parts: &mut Vec<[f64; 2]>,
    n: usize,
    term: impl Fn(usize) -> [f64; 2] + Sync,
) -> [f64; 2] {
    fold_parts(parts, n, |sum, term| [sum[0] + term[0], sum[1] + term[1]], term)
}

/// The same for any way to put two together.
fn fold_parts(
    parts: &mut Vec<[f64; 2]>,
    n: usize,
    join: impl Fn([f64; 2], [f64; 2]) -> [f64; 2] + Sync,
    term: impl Fn(usize) -> [f64; 2] + Sync,
) -> [f64; 2] {
    parts.resize(n.div_ceil(PART), [0.0; 2]);
    parts.par_iter_mut().enumerate().for_each(|(part, sum)| {
        let range = part * PART..((part + 1) * PART).min(n);
        *sum = range.fold([0.0; 2], |sum, i| join(sum, term(i)));
    });
    parts.iter().fold([0.0; 2], |sum, part| join(sum, *part))
}

/// δ, g and the diagonal of A: |g|²/ρ_i + V_i Σ_j V_j |∇W|²/ρ_j.
struct Positions<'a> {
    density: &'a Kernel,
    pressure: &'a Kernel,
    shifts: bool,
}

/// Σ V W, Σ V ∇W over particles and over walls, Σ V |∇W|²/ρ.
type PositionSums<S> = (Lanes<S>, Lanes3<S>, Lanes3<S>, Lanes<S>);

impl Sum for Positions<'_> {
    type Partial<S: Simd> = PositionSums<S>;
    type Total = Filled;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> PositionSums<S> {
        (splat(simd, 0.0), Lanes3::zero(simd), Lanes3::zero(simd), splat(simd, 0.0))
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &Pair<S>, (ratio, gradient, _, reaction): &mut PositionSums<S>) {
        *ratio += pair.volume * pair.own_w(self.density);
        let nabla = pair.x * pair.own_gradient_over_r(self.pressure);
        *gradient = *gradient + nabla * pair.volume;
        *reaction += nabla.dot(nabla) * pair.volume * pair.pressure;
    }

    #[inline(always)]
    fn add_walls<S: Simd>(
        &self,
        _own: &Own,
        wall: &WallPair<S>,
        (ratio, _, gradient, _): &mut PositionSums<S>,
    ) {
        *ratio += wall.volume * wall.w(self.density);
        *gradient = *gradient + wall.x * (wall.gradient_over_r(self.pressure) * wall.volume);
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, (ratio, gradient, walls, reaction): PositionSums<S>) -> Filled {
        let ratio = sum(ratio);
        let mirror = mirror(self.shifts, ratio);
        let gradient = Vec3::from(gradient.sum()) + Vec3::from(walls.sum()) * mirror;
        let diagonal = gradient.length_squared() * own.pressure + own.volume * sum(reaction);
        // A particle on its own has none.
        let inverse = if diagonal > f32::MIN_POSITIVE { 1.0 / diagonal } else { 0.0 };
        Filled { gradient: gradient.extend(inverse), ratio, mirror }
    }
}

/// a_i = −(p_i g_i + Σ_j V_j p_j ∇W)/ρ_i. The rows' volume is V p.
struct Push<'a> {
    filled: &'a [Filled],
    pressure: &'a [f32],
    region: Option<&'a Region>,
}

impl SlopedSum for Push<'_> {
    const OF_OTHERS: bool = true;
    type Partial<S: Simd> = Lanes3<S>;
    type Total = Vec4;

    #[inline(always)]
    fn skips(&self, own: &Own) -> bool {
        self.region.is_some_and(|region| !region.is_pushed[own.index])
    }

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &SlopedPair<S>, partial: &mut Lanes3<S>) {
        *partial = *partial + pair.x * (pair.gradient_over_r * pair.volume);
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, partial: Lanes3<S>) -> Vec4 {
        let [x, y, z] = partial.sum();
        let own_push = self.filled[own.index].gradient.truncate() * self.pressure[own.index];
        (own_push + Vec3::new(x, y, z)).extend(0.0) * -own.pressure
    }
}

/// Σ_j V_j (u_i − u_j)·∇W for the rows' motion u: dδ/dt of velocities, and −A p of the accelerations that p makes.
struct Change<'a> {
    kernel: &'a Kernel,
    filled: &'a [Filled],
    region: Option<&'a Region>,
    sign: f32,
    /// Walls have a velocity; pressure accelerates only those that are free.
    walls_move: bool,
}

impl<'a> Change<'a> {
    fn of_velocity(setting: &Setting<'a>, filled: &'a [Filled]) -> Change<'a> {
        Change { kernel: setting.pressure, filled, region: setting.region, sign: 1.0, walls_move: true }
    }

    fn of_push(setting: &Setting<'a>, filled: &'a [Filled]) -> Change<'a> {
        Change { sign: -1.0, walls_move: false, ..Change::of_velocity(setting, filled) }
    }

    #[inline(always)]
    fn total(&self, own: &Own, others: f32) -> f32 {
        let own_part = own.velocity.truncate().dot(self.filled[own.index].gradient.truncate());
        (own_part - others) * self.sign
    }
}

/// Without walls, or with walls at rest: their part is in the own gradient.
impl SlopedSum for Change<'_> {
    const OF_OTHERS: bool = false;
    type Partial<S: Simd> = Lanes<S>;
    type Total = f32;

    #[inline(always)]
    fn skips(&self, own: &Own) -> bool {
        self.region.is_some_and(|region| !region.changes[own.index])
    }

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes<S> {
        splat(simd, 0.0)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &SlopedPair<S>, partial: &mut Lanes<S>) {
        *partial += pair.velocity.dot(pair.x) * (pair.gradient_over_r * pair.volume);
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, partial: Lanes<S>) -> f32 {
        self.total(own, sum(partial))
    }
}

impl Sum for Change<'_> {
    type Partial<S: Simd> = Lanes<S>;
    type Total = f32;

    #[inline(always)]
    fn skips(&self, own: &Own) -> bool {
        self.region.is_some_and(|region| !region.changes[own.index])
    }

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes<S> {
        splat(simd, 0.0)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &Pair<S>, partial: &mut Lanes<S>) {
        *partial += pair.velocity.dot(pair.x) * (pair.own_gradient_over_r(self.kernel) * pair.volume);
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, own: &Own, wall: &WallPair<S>, partial: &mut Lanes<S>) {
        if self.walls_move {
            let volume = wall.volume * self.filled[own.index].mirror;
            *partial += wall.velocity.dot(wall.x) * (wall.gradient_over_r(self.kernel) * volume);
        }
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, partial: Lanes<S>) -> f32 {
        self.total(own, sum(partial))
    }
}
