//! Implicit viscosity: friction of any strength, at the flow's own time step [Weiler2018].
//!
//! Momentum is diffused with the velocities that it leads to (backward Euler):
//!
//!   m_i v_i + Δt Σ_j K_ij (v_ij·x_ij) x_ij = m_i v*_i,   K_ij = V_i V_j c μ_ij L_ij/(x_ij² + 0.01h²),
//!
//! with v* the velocities after all other forces and v_ij = v_i − v_j. The force between two particles lies on the
//! line between them: momentum and angular momentum are kept, and a spinning blob goes on spinning. The matrix is
//! symmetric and positive definite as long as L is nowhere negative. [Weiler2018] takes the slope of the kernel for
//! L. We take the Laplacian of the viscosity kernel: with few neighbours, the slope weighs the nearest ones so
//! much that the friction of a lattice depends on its direction (by half, for two spacings of support; for ours
//! by 8 %). c makes shear along the axes of the lattice at rest exact.
//!
//! μ_ij is the harmonic mean 2μ_iμ_j/(μ_i + μ_j): through two layers that slide over each other goes one and the
//! same stress, so their resistances add up. Honey in water is held by water, not by half the viscosity of honey;
//! and a fluid without this behaviour takes no part.
//!
//! A wall's velocity is given: samples add to the diagonal and to the right-hand side only (`WallFriction`). That goes
//! for SPH walls too: a velocity continued from that of the last step would swing to and fro. A free solid's is not: a
//! light one in a thick fluid would be thrown about. Its own equation of motion, u = u* + M⁻¹ q with q = J(v, u) the
//! impulse that friction gives it, joins the system, as M⁻¹ q − M⁻¹ J(v, M⁻¹ q) = M⁻¹ J(0, u*): still symmetric.
//!
//! The system is solved by conjugate gradients, preconditioned by the blocks of 3 × 3 on the diagonal, starting from
//! last step's change. When they stop at x with the residual r, velocities become x + r/m, which is
//! v* − Δt/m Σ K (v_ij·x_ij) x_ij: what is left of the error is in the strength of the friction, not in the momentum.
//!
//! Where friction has a memory (`viscous_memory.rs`), it acts on v̄ = c + g v, of which all but the new velocity is known. Written for v̄, the system is the
//! same, with masses m/g that start from v̄* = c + g v*: as symmetric as before. The impulse m/g (v̄ − v̄*) is what friction gives,
//! so that momentum is kept.
//!
//! Reads `MASS`, changes `VELOCITY`, keeps `VISCOUS_CHANGE`. Kept honest by `littoral validate
//! poiseuille-implicit` and by the tests below.

use glam::{DVec3, Mat3, Vec3, Vec4};
use rayon::prelude::*;

use crate::backend::cpu::Rows;
use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit};
use crate::behaviours::viscosity::WallFriction;
use crate::behaviours::{Around, Behaviour, Solved, viscous_memory};
use crate::columns::{MASS, VELOCITY, VISCOUS_CHANGE, VISCOUS_VELOCITY};
use crate::discretisation::Discretisation;
use crate::kernels::{Kernel, lattice_sum};
use crate::memory::History;
use crate::pair::{Own, Pair, PairLaw, Sum, WallPair};
use crate::particles::{Particles, Vectors};
use crate::resolve::{Coefficient, Resolved};
use crate::scene::KernelName;
use crate::simd::*;
use crate::solids::{SolidState, Wrench};
use crate::solve::conjugate_gradients::{self, Entry, Narrow, Scratch, Stop, System};
use crate::structure::Structure;

pub static SCHEMA: Schema = Schema {
    name: "implicit-viscosity",
    summary: "inner friction of thick liquids, at any time step; keeps angular momentum",
    law: "m v + Δt w c μ V_i Σ V_j (v_ij·x_ij)/(x_ij² + 0.01 h²) x_ij L = m v*, solved for v",
    half_weight: "half the dynamic viscosity",
    reference: "Weiler2018; Monaghan2005",
    properties: &[Property {
        name: "dynamic_viscosity",
        meaning: "dynamic viscosity μ",
        kind: Kind::Number { unit: Unit::PascalSecond, default: Default::Required, min: 0.0, max: 1e7 },
    }],
};

pub struct ImplicitViscosity;

impl Behaviour for ImplicitViscosity {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn require_columns(&self, particles: &mut Particles) {
        particles.require(&VISCOUS_CHANGE);
    }

    fn has_solve(&self, _used: &BehaviourUse) -> bool {
        true
    }

    fn solve(
        &self,
        now: &Resolved,
        around: &Around,
        _structure: &mut Structure,
        particles: &mut Particles,
        pushes: &mut [Wrench],
    ) -> Option<Solved> {
        let strength = now.weighted("dynamic_viscosity").coefficient();
        let friction = Friction::new(strength, around.discretisation, around.dt);
        let (error, most_iterations) = (around.solver.viscosity_error, around.solver.iterations);
        let stop = Stop { error: error.into(), most_iterations };
        let mut solids = Solids::new(around, &friction, particles);
        let past = around.histories.iter().find(|history| history.keeps(&viscous_memory::COLUMNS));
        let own = past.map(|past| Unremembered::exchange(past, around.dt, particles));
        let solved = solve(&friction, stop, &around.rows, &mut solids, &VISCOUS_CHANGE, particles);
        if let Some(own) = own {
            own.give_back(particles);
        }
        for (push, impulse) in pushes.iter_mut().zip(&solids.impulses) {
            *push += *impulse * f64::from(1.0 / around.dt);
        }
        particles.workspace.give_back([solids.motion]);
        Some(solved)
    }
}

/// Velocities and masses, while those that friction with a memory sees stand in their columns.
struct Unremembered {
    velocity: Vec<Vec4>,
    mass: Vec<f32>,
    /// v̄*.
    start: Vec<Vec4>,
}

impl Unremembered {
    /// Puts v̄* = c + g v* and m/g in the place of v* and m.
    fn exchange(past: &History<Vectors>, dt: f32, particles: &mut Particles) -> Unremembered {
        let mut start = particles.workspace.borrow(particles.len());
        let slope = past.foresee(f64::from(dt), particles, &mut start);
        let (velocity, mass) = (particles.take(&VELOCITY), particles.take(&MASS));
        let mut heavier = mass.clone();
        let remembered = particles.get(&VISCOUS_VELOCITY);
        let rows = (&mut start, &mut heavier, &velocity, remembered).into_par_iter().with_min_len(8192);
        rows.for_each(|(start, mass, velocity, remembered)| {
            // Of v̄, the part that this particle's friction takes; the rest is v.
            let share = remembered.w;
            let g = 1.0 - share * (1.0 - slope);
            *start = *start * share + *velocity * g;
            *mass /= g;
        });
        particles.put(&VELOCITY, start.clone());
        particles.put(&MASS, heavier);
        Unremembered { velocity, mass, start }
    }

    /// Takes them back, with the impulses that friction has given.
    fn give_back(mut self, particles: &mut Particles) {
        let (reached, heavier) = (particles.take(&VELOCITY), particles.take(&MASS));
        let rows = (&mut self.velocity, &self.mass, &heavier, &reached, &self.start).into_par_iter();
        rows.with_min_len(8192).for_each(|(velocity, mass, heavier, reached, start)| {
            *velocity += (*reached - *start) * (heavier / mass);
        });
        particles.put(&VELOCITY, self.velocity);
        particles.put(&MASS, self.mass);
        particles.workspace.give_back([self.start]);
    }
}

/// What resists differences of velocity within a step: A, less the masses, and what is given of it.
pub(super) trait Resistance {
    /// The inverse of each particle's own block of A, row by row; fourth entries: what adds to m v*.
    fn blocks(&self, rows: &Rows, mass: &[f32], out: &mut [[Vec4; 3]]);

    /// A times the rows' motion. Whether walls move too: those of free solids, in a search.
    fn product(&self, rows: &Rows, mass: &[f32], walls_move: bool, out: &mut [Vec4]);
}

impl Resistance for Friction<'_> {
    fn blocks(&self, rows: &Rows, mass: &[f32], out: &mut [[Vec4; 3]]) {
        rows.sum(&Diagonal { friction: self, mass }, out);
    }

    fn product(&self, rows: &Rows, mass: &[f32], walls_move: bool, out: &mut [Vec4]) {
        rows.sum(&Product { friction: self, mass, walls_move }, out);
    }
}

/// Velocities that the resistance leads to; `kept` holds what it made of them, to start from in the next step.
pub(super) fn solve<R: Resistance>(
    resistance: &R,
    stop: Stop,
    rows: &Rows,
    solids: &mut Solids,
    kept: &'static Vectors,
    particles: &mut Particles,
) -> Solved {
    let count = particles.len();
    let (mut velocity, mut change) = (particles.take(&VELOCITY), particles.take(kept));
    // The particles' velocities, then the impulses of free solids.
    let mut borrow = || particles.workspace.borrow(count + 2 * solids.free.len());
    let (mut x, mut residual, mut direction, mut product) = (borrow(), borrow(), borrow(), borrow());
    let mut blocks = particles.workspace.borrow(3 * count);
    let mut sums = std::mem::take(&mut particles.workspace.sums);
    let mass = particles.get(&MASS);

    // The blocks of the diagonal, inverted, and what walls add to the right-hand side.
    let (blocks_by_row, _) = blocks.as_chunks_mut::<3>();
    resistance.blocks(rows, mass, blocks_by_row);
    let blocks_by_row = &*blocks_by_row;

    // Starts from last step's change; r = m v* + (walls) − A x.
    let (moving, impulses) = x.split_at_mut(count);
    moving.par_iter_mut().with_min_len(8192).enumerate().for_each(|(i, x)| *x = velocity[i] + change[i]);
    impulses.fill(Vec4::ZERO);
    let (left, left_of_solids) = residual.split_at_mut(count);
    resistance.product(&rows.with_motion(moving), mass, false, left);
    left.par_iter_mut().with_min_len(8192).enumerate().for_each(|(i, r)| {
        let [a, b, c] = blocks_by_row[i];
        *r = velocity[i] * mass[i] + Vec4::new(a.w, b.w, c.w, 0.0) - *r;
    });
    solids.start(&rows.with_motion(moving), left_of_solids);

    let heaviness = solids.heaviness();
    let system = System {
        apply: |p: &[Vec4], out: &mut [Vec4]| {
            let ((p, q), (out, out_of_solids)) = (p.split_at(count), out.split_at_mut(count));
            let rows = rows.with_motion(p);
            if q.is_empty() {
                resistance.product(&rows, mass, false, out);
            } else {
                solids.apply(&rows, q, out_of_solids);
                resistance.product(&rows.with_wall_motion(&solids.motion), mass, true, out);
            }
        },
        widen: Narrow,
        precondition: |i: usize, r: Vec4| {
            if i >= count {
                return heaviness[i - count] * r;
            }
            let [a, b, c] = blocks_by_row[i];
            Vec4::new(a.dot(r), b.dot(r), c.dot(r), 0.0)
        },
        // The error of the momentum that friction carries, against that momentum (and against what f32 can tell).
        measure: |i: usize, x: Vec4, r: Vec4| {
            if i >= count {
                return [r.times(heaviness[i - count] * r), 0.0];
            }
            let (mass, carried) = (f64::from(mass[i]), x - velocity[i]);
            let doubtful = ROUNDING / stop.error.powi(2) * x.times(x);
            [r.times(r) / mass, mass * (carried.times(carried) + doubtful)]
        },
    };
    let scratch = Scratch { direction: &mut direction, product: &mut product, sums: &mut sums };
    let solved = conjugate_gradients::solve(system, stop, &mut x, &mut residual, scratch);
    solids.finish(&rows.with_motion(&x[..count]), &x[count..]);
    x.truncate(count);
    residual.truncate(count);

    let rows = (&mut velocity, &mut change, &x, &residual, mass).into_par_iter().with_min_len(8192);
    rows.for_each(|(velocity, change, x, residual, mass)| {
        let now = *x + *residual / *mass;
        *change = now - *velocity;
        *velocity = now;
    });
    particles.workspace.sums = sums;
    particles.workspace.give_back([x, residual, direction, product, blocks]);
    particles.put(&VELOCITY, velocity);
    particles.put(kept, change);
    solved
}

/// Square of the part of a velocity that rounding makes doubtful.
const ROUNDING: f64 = 1e-13;

/// What is multiplied by (v_ij·x_ij) x_ij.
#[derive(Clone, Copy)]
pub(super) struct Friction<'a> {
    kernel: Kernel,
    strength: Coefficient<'a>,
    /// c Δt.
    factor: f32,
    softening: f32,
    wall: WallFriction,
}

impl<'a> Friction<'a> {
    pub(super) fn new(strength: Coefficient<'a>, d: &Discretisation, dt: f32) -> Friction<'a> {
        // Whatever the scene takes for explicit friction: no other kernel's Laplacian is nowhere negative.
        let kernel = Kernel::new(KernelName::Viscosity, d.dimensions, f64::from(d.support));
        let softening = 0.01 * f64::from(d.support).powi(2);
        // For v = (y²/2, 0, 0) the force must be 1.
        let sum = lattice_sum(&kernel, f64::from(d.spacing), |x, r| {
            0.5 * (x[0] * x[1]).powi(2) / (r * r + softening) * f64::from(kernel.laplacian_at(r as f32))
        });
        Friction {
            kernel,
            strength,
            factor: dt / sum as f32,
            softening: softening as f32,
            wall: WallFriction::mirrored(d),
        }
    }

    /// c Δt L/(x² + 0.01h²) at a distance, m.
    #[inline(always)]
    pub(super) fn weight<S: Simd>(&self, r: Lanes<S>) -> Lanes<S> {
        self.kernel.laplacian(r) * self.factor / (r * r + self.softening)
    }

    #[inline(always)]
    fn of_pair<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes<S> {
        // SAFETY: the loop only offers valid rows.
        let strength = unsafe { self.strength.harmonic_mean(pair.simd, own.index, pair.others) };
        let weight = pair.laplacian(&self.kernel) / (pair.r * pair.r + pair.area(self.softening));
        strength * pair.volume * (own.volume * self.factor) * weight
    }

    #[inline(always)]
    pub(super) fn of_wall<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes<S> {
        let strength = self.strength.at(own.index) * own.volume * self.factor;
        let weight = wall.laplacian(&self.kernel) / (wall.r * wall.r + wall.area(self.softening));
        wall.volume * strength * weight * self.wall.grip(wall)
    }
}

/// The impulse that friction with a wall gives a particle in a step.
#[derive(Clone, Copy)]
struct Grip<'a>(Friction<'a>);

impl PairLaw for Grip<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, _own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        Lanes3::zero(pair.simd)
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let velocity = wall.velocity - Lanes3::splat(wall.simd, own.velocity.truncate().into());
        wall.x * (self.0.of_wall(own, wall) * velocity.dot(wall.x))
    }
}

/// The solids' part of the system; its vectors have two rows for each free solid: impulse, and impulse of turning.
pub(super) struct Solids<'a> {
    grip: Grip<'a>,
    all: &'a [SolidState],
    /// Which of them are free.
    free: Vec<usize>,
    centres: Vec<DVec3>,
    /// Velocity of each wall sample that impulses lead to; zero for all that are not free.
    pub(super) motion: Vec<Vec4>,
    /// J of each solid, N·s and N·m·s.
    pub(super) impulses: Vec<Wrench>,
    scratch: Vec<Wrench>,
}

impl<'a> Solids<'a> {
    pub(super) fn new(around: &Around<'a>, friction: &Friction<'a>, particles: &mut Particles) -> Solids<'a> {
        let all = around.solids;
        let free: Vec<usize> = (0..all.len()).filter(|&k| all[k].is_free()).collect();
        let samples = if free.is_empty() { 0 } else { around.rows.wall_motion().len() };
        let mut motion = particles.workspace.borrow(samples);
        motion.fill(Vec4::ZERO);
        Solids {
            grip: Grip(*friction),
            all,
            free,
            centres: all.iter().map(|solid| solid.pose.position).collect(),
            motion,
            impulses: vec![Wrench::default(); all.len()],
            scratch: Vec::new(),
        }
    }

    fn free(&self) -> impl Iterator<Item = (usize, &'a SolidState)> + '_ {
        self.free.iter().map(|&k| (k, &self.all[k]))
    }

    /// J of the rows' motion.
    fn collect(&mut self, rows: &Rows) {
        self.impulses.fill(Wrench::default());
        rows.reactions(&[self.grip], &self.centres, &mut self.scratch, &mut self.impulses);
    }

    /// r = M⁻¹ J(v, u*), while no impulse is known.
    fn start(&mut self, rows: &Rows, residual: &mut [Vec4]) {
        if !self.free.is_empty() {
            self.collect(rows);
            for ((k, solid), out) in self.free().zip(residual.chunks_exact_mut(2)) {
                write_pair(out, solid.response(self.impulses[k]));
            }
        }
    }

    /// M⁻¹ q − M⁻¹ J(p, M⁻¹ q), and the samples' motion M⁻¹ q.
    fn apply(&mut self, rows: &Rows, q: &[Vec4], out: &mut [Vec4]) {
        self.write_motion(q);
        let motion = std::mem::take(&mut self.motion);
        self.collect(&rows.with_wall_motion(&motion));
        self.motion = motion;
        for (((k, solid), q), out) in self.free().zip(q.chunks_exact(2)).zip(out.chunks_exact_mut(2)) {
            let (along, around) = solid.response(read_pair(q));
            let (back, turn) = solid.response(self.impulses[k]);
            write_pair(out, (along - back, around - turn));
        }
    }

    /// Velocities that impulses lead to, at each sample.
    fn write_motion(&mut self, q: &[Vec4]) {
        let mut motion = std::mem::take(&mut self.motion);
        for ((_, solid), q) in self.free().zip(q.chunks_exact(2)) {
            let (along, around) = solid.response(read_pair(q));
            solid.write_moves(along, around, |row, moves| motion[row] = moves.extend(0.0));
        }
        self.motion = motion;
    }

    /// J at the end of the step.
    fn finish(&mut self, rows: &Rows, q: &[Vec4]) {
        if self.free.is_empty() {
            if !self.all.is_empty() {
                self.collect(rows);
            }
            return;
        }
        self.write_motion(q);
        let mut motion = std::mem::take(&mut self.motion);
        motion.par_iter_mut().zip(rows.wall_motion()).for_each(|(row, own)| *row += *own);
        self.collect(&rows.with_wall_motion(&motion));
        self.motion = motion;
    }

    /// M, as far as its diagonal goes; zero where a solid does not turn.
    fn heaviness(&self) -> Vec<Vec4> {
        let inverse = |x: f64| if x > 0.0 { (1.0 / x) as f32 } else { 0.0 };
        let pair = |(_, solid): (usize, &SolidState)| {
            let turning = solid.inverse_inertia();
            let mass = inverse(solid.inverse_mass);
            [
                Vec4::new(mass, mass, mass, 0.0),
                Vec4::new(
                    inverse(turning.x_axis.x),
                    inverse(turning.y_axis.y),
                    inverse(turning.z_axis.z),
                    0.0,
                ),
            ]
        };
        self.free().flat_map(pair).collect()
    }
}

fn read_pair(rows: &[Vec4]) -> Wrench {
    let [force, torque] = [rows[0], rows[1]].map(|row| row.truncate().as_dvec3());
    Wrench { force, torque }
}

fn write_pair(rows: &mut [Vec4], (along, around): (DVec3, DVec3)) {
    (rows[0], rows[1]) = (along.as_vec3().extend(0.0), around.as_vec3().extend(0.0));
}

/// A v.
struct Product<'a> {
    friction: &'a Friction<'a>,
    mass: &'a [f32],
    /// Walls have a velocity of their own: those of free solids, in a search.
    walls_move: bool,
}

impl Sum for Product<'_> {
    type Partial<S: Simd> = Lanes3<S>;
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut Lanes3<S>) {
        let velocity = Lanes3::splat(pair.simd, own.velocity.truncate().into()) - pair.velocity;
        *partial = *partial + pair.x * (self.friction.of_pair(own, pair) * velocity.dot(pair.x));
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, own: &Own, wall: &WallPair<S>, partial: &mut Lanes3<S>) {
        let mut velocity = Lanes3::splat(wall.simd, own.velocity.truncate().into());
        if self.walls_move {
            velocity = velocity - wall.velocity;
        }
        *partial = *partial + wall.x * (self.friction.of_wall(own, wall) * velocity.dot(wall.x));
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, partial: Lanes3<S>) -> Vec4 {
        let [x, y, z] = partial.sum();
        (own.velocity.truncate() * self.mass[own.index] + Vec3::new(x, y, z)).extend(0.0)
    }
}

/// The inverse of a particle's own block of A, row by row; fourth entries: Δt Σ K (v_w·x) x over the walls.
struct Diagonal<'a> {
    friction: &'a Friction<'a>,
    mass: &'a [f32],
}

/// xx, yy, zz; xy, xz, yz; walls.
type BlockPartial<S> = [Lanes3<S>; 3];

impl Diagonal<'_> {
    #[inline(always)]
    fn square<S: Simd>(strength: Lanes<S>, x: Lanes3<S>, [square, cross, _]: &mut BlockPartial<S>) {
        *square = *square + Lanes3 { x: x.x * x.x, y: x.y * x.y, z: x.z * x.z } * strength;
        *cross = *cross + Lanes3 { x: x.x * x.y, y: x.x * x.z, z: x.y * x.z } * strength;
    }
}

impl Sum for Diagonal<'_> {
    type Partial<S: Simd> = BlockPartial<S>;
    type Total = [Vec4; 3];

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> BlockPartial<S> {
        [Lanes3::zero(simd); 3]
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut BlockPartial<S>) {
        Self::square(self.friction.of_pair(own, pair), pair.x, partial);
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, own: &Own, wall: &WallPair<S>, partial: &mut BlockPartial<S>) {
        let strength = self.friction.of_wall(own, wall);
        Self::square(strength, wall.x, partial);
        partial[2] = partial[2] + wall.x * (strength * wall.velocity.dot(wall.x));
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, [square, cross, walls]: BlockPartial<S>) -> [Vec4; 3] {
        let ([xx, yy, zz], [xy, xz, yz], [a, b, c]) = (square.sum(), cross.sum(), walls.sum());
        let block = Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz));
        // Over the mass, so that the determinant of a tiny particle is not rounded to zero.
        let per_mass = 1.0 / self.mass[own.index];
        let inverse = (block * per_mass + Mat3::IDENTITY).inverse() * per_mass;
        [inverse.x_axis.extend(a), inverse.y_axis.extend(b), inverse.z_axis.extend(c)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::POSITION;
    use crate::scene;
    use crate::world::World;
    use glam::DVec3;

    /// A blob as thick as pitch, in space.
    fn blob(gravity: f64) -> World {
        let text = format!(
            r#"
            world.gravity = [0, -{gravity}, 0]
            sph.spacing = 0.01
            time.until = 1
            [[body]]
            name = "blob"
            density = 1000
            jitter = 0.1
            shape.sphere = {{ centre = [0, 0, 0], radius = 0.05 }}
            [body.behaviours.tait]
            sound_speed = 10
            [body.behaviours.implicit-viscosity]
            dynamic_viscosity = 1000
            "#
        );
        World::new(&scene::load("blob", &text, &[]).unwrap_or_else(|p| panic!("{}", p.plain())).0)
    }

    fn spin(world: &World) -> DVec3 {
        let p = &world.particles;
        let rows = p.get(&POSITION).iter().zip(p.get(&VELOCITY)).zip(p.get(&MASS));
        rows.map(|((x, v), &m)| x.truncate().as_dvec3().cross(v.truncate().as_dvec3()) * f64::from(m)).sum()
    }

    #[test]
    fn a_spinning_blob_goes_on_spinning() {
        let mut world = blob(0.0);
        let axis = Vec3::new(0.0, 0.6, 0.8);
        world.particles.update(&VELOCITY, |velocity, particles| {
            for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                *v = axis.cross(x.truncate()).extend(0.0);
            }
        });
        let before = spin(&world);
        world.advance_to(0.5).expect("steps");
        let change = (spin(&world) - before).length() / before.length();
        // f32 round-off over 700 steps; without the residual's part of the velocity it is 100 times as much.
        assert!(change < 1e-4, "angular momentum changed by {change}");
    }

    #[test]
    fn a_thick_blob_falls_as_fast_as_any() {
        let mut world = blob(9.81);
        world.advance_to(0.5).expect("steps");
        for v in world.particles.get(&VELOCITY) {
            // The jitter's energy is spent within the blob.
            assert!((v.y + 9.81 * 0.5).abs() < 1e-3, "falls at {v}");
        }
    }
}
