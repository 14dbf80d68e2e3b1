//! Friction inside a granular material: the stress that stops it from shearing, as far as it can.
//!
//! After the pressure is known, a deviatoric stress s is found for each particle that takes as much out of the kinetic
//! energy as it can, within the cone of Drucker and Prager,
//!
//!   √J₂ = |s|/√2 ≤ k p + c,
//!
//! with |s|² = Σ s_ab² [Narain2010 on a grid], and k next to μ ([`Friction::slope`]). Where the bound is not reached nothing shears: regions at rest,
//! or moving as a rigid body, come out by themselves. Where it is reached, s lies along the rate of strain D. The flow changes no volume, whatever μ is:
//! it is not associated with the cone. In simple shear the shear stress is k p.
//!
//! With the gradient of velocities corrected so that turning as a whole is no strain, L_i = Σ_j V_j (v_j − v_i) ⊗ K_i ∇W,
//! K_i⁻¹ = Σ_j V_j (x_j − x_i) ⊗ ∇W, the force is the adjoint of D,
//!
//!   F_i = V_i Σ_j V_j (s_i K_i + s_j K_j) ∇W:
//!
//! it keeps momentum and angular momentum, and takes exactly the power Σ V_i s_i:D_i out of the motion.
//!
//! **Walls** pull with a force t tangential to them, |t| ≤ μ_w N with N the force of the particle's pressure on them: Coulomb's law,
//! sticking included. s and t are found together, by projected gradients with Nesterov's acceleration: s ← Π(s + γ D), t ← Π(t − ½ m u_t/Δt).
//!
//! The stress of the last step, turned with the material, is where a step starts from. Its force is added before the pressure
//! is solved for, so that the two know of each other: sand at rest has both from the step before, and stays there. Where much changes, the two take
//! turns within a step (`World::solve_pressure`): friction that has been found compresses the sand a little, and pressure that has been found shears it.

use glam::{DVec3, Mat3, Vec3, Vec4};
use rayon::prelude::*;

use crate::backend::cpu::{Rows, Slopes};
use crate::behaviours::Solved;
use crate::discretisation::Discretisation;
use crate::kernels::Kernel;
use crate::pair::{Own, Pair, PairLaw, SlopedPair, SlopedSum, Sum, WallPair};
use crate::scene::Dimensions;
use crate::simd::*;
use crate::solids::Wrench;
use crate::solve::clusters::{Clusters, Kind};
use crate::solve::pressure::sum_parts;

/// What a particle's own friction is: μ, c and μ_w, each times its weight; all zero for who is no sand.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Friction {
    /// μ.
    pub inner: f32,
    /// c, Pa.
    pub cohesion: f32,
    /// μ_w.
    pub wall: f32,
}

impl Friction {
    /// k of the cone. A layer that shears along a slope has p k across it: it flows down to an angle of atan k. But while nothing moves, a slope may
    /// stand up to asin k, as the stress need not lie along any flow. Heaps come to rest between the two, and μ is to be the tangent of what one sees:
    /// half of atan k and asin k make atan μ, within 0.6° up to μ = 0.7, for
    ///
    ///   k = ½ (tan φ + sin φ), tan φ = μ.
    fn slope(&self) -> f32 {
        let tangent = self.inner;
        0.5 * (tangent + tangent / (1.0 + tangent * tangent).sqrt())
    }

    fn is_sand(&self) -> bool {
        self.inner > 0.0 || self.cohesion > 0.0
    }
}

/// Memory of the solve, kept from step to step.
#[derive(Default)]
pub struct FrictionSolve {
    /// What friction does to each particle, while a step lasts.
    pub stress: Vec<Stress>,
    pub friction: Vec<Friction>,
    /// Pressure that grains bear, Pa.
    pub borne: Vec<f32>,
    slopes: Slopes,
    /// x, y, z: position; w: volume, zero for who is no sand.
    place: Vec<Vec4>,
    near: Vec<Near>,
    /// Stress now, before, and as it would be after another such step.
    now: Vec<Stress>,
    before: Vec<Stress>,
    ahead: Vec<Stress>,
    /// Velocities of the same three.
    moving: [Vec<Vec4>; 3],
    /// Rows of s K.
    pulls: [Vec<Vec4>; 3],
    change: Vec<Vec4>,
    rates: Vec<Symmetric>,
    bounds: Vec<Bound>,
    smooth: Vec<f32>,
    parts: Vec<[f64; 2]>,
    kinds: Vec<Kind>,
    clusters: Clusters,
}

/// A symmetric tensor: xx, yy, zz and yz, xz, xy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Symmetric {
    pub axes: Vec3,
    pub shears: Vec3,
}

impl Symmetric {
    /// Of the tensor with these rows.
    fn of([x, y, z]: [Vec3; 3]) -> Symmetric {
        let shears = Vec3::new(y.z + z.y, x.z + z.x, x.y + y.x) * 0.5;
        Symmetric { axes: Vec3::new(x.x, y.y, z.z), shears }
    }

    fn rows(&self) -> [Vec3; 3] {
        let Symmetric { axes: a, shears: s } = *self;
        [Vec3::new(a.x, s.z, s.y), Vec3::new(s.z, a.y, s.x), Vec3::new(s.y, s.x, a.z)]
    }

    /// Σ s_ab².
    fn squared(&self) -> f32 {
        self.axes.length_squared() + 2.0 * self.shears.length_squared()
    }

    /// Without the part that changes volume.
    fn deviator(&self, dimensions: Dimensions) -> Symmetric {
        let trace = self.axes.element_sum();
        let mean = match dimensions {
            Dimensions::Two => Vec3::new(0.5, 0.5, 0.0) * trace,
            Dimensions::Three => Vec3::splat(trace / 3.0),
        };
        Symmetric { axes: self.axes - mean, ..*self }
    }

    /// The nearest that is no longer than this.
    fn within(self, bound: f32) -> Symmetric {
        let length = self.squared().sqrt();
        if length <= bound { self } else { self * (bound / length) }
    }
}

impl std::ops::Add for Symmetric {
    type Output = Symmetric;
    fn add(self, o: Symmetric) -> Symmetric {
        Symmetric { axes: self.axes + o.axes, shears: self.shears + o.shears }
    }
}

impl std::ops::Sub for Symmetric {
    type Output = Symmetric;
    fn sub(self, o: Symmetric) -> Symmetric {
        Symmetric { axes: self.axes - o.axes, shears: self.shears - o.shears }
    }
}

impl std::ops::Mul<f32> for Symmetric {
    type Output = Symmetric;
    fn mul(self, f: f32) -> Symmetric {
        Symmetric { axes: self.axes * f, shears: self.shears * f }
    }
}

/// What friction does to a particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stress {
    /// s, Pa.
    pub inner: Symmetric,
    /// t/m, m/s².
    pub wall: Vec3,
}

/// What positions make of a particle's neighbourhood.
#[derive(Clone, Copy, Default)]
struct Near {
    /// K; zero where there are too few to tell a strain by.
    correction: Mat3,
    /// Σ V ∇W over the sand.
    gradient: Vec3,
    /// How fast the neighbourhood turns, as L's antisymmetric part: ω.
    spin: Vec3,
    /// Of the walls: Σ V ∇W, and the mean velocity and hold of their samples, weighed by V |∇W|.
    walls: Vec3,
    wall_velocity: Vec3,
    hold: f32,
    /// Σ V |∇W|.
    wall_weight: f32,
}

/// How much a particle's friction can bear, and how far an iteration goes.
#[derive(Clone, Copy, Default)]
struct Bound {
    /// Largest |s|, Pa.
    inner: f32,
    /// Largest |t|/m, m/s².
    wall: f32,
    /// γ, Pa·s.
    step: f32,
}

/// Fewest directions: below this determinant of K⁻¹ (1 in a full neighbourhood, ½ at a flat surface), particles are single grains.
const SINGLE: f32 = 0.06;

/// Part of the longest stable step of the gradients: s and t are moved together.
const CAREFUL: f32 = 0.7;

/// Part of the strain that a step has to stop which it may leave.
const PART: f32 = 0.03;

/// Distance of neighbours in a cluster, in spacings.
const NEIGHBOURS: f32 = 1.5;

/// One step's numbers.
pub struct Task<'a> {
    pub rows: Rows<'a>,
    pub discretisation: &'a Discretisation,
    /// s.
    pub dt: f32,
    pub mass: &'a [f32],
    pub volume: &'a [f32],
    /// By all forces but pressure and friction, m/s².
    pub acceleration: &'a [Vec4],
}

impl FrictionSolve {
    /// Looks at the neighbourhoods. `motion` are velocities; the rows' volumes are all particles'.
    pub fn prepare(&mut self, task: &Task) {
        let n = task.rows.place().len();
        self.place.clear();
        let places = task.rows.place().iter().zip(task.volume).zip(&self.friction);
        self.place.extend(places.map(|((place, &volume), friction)| {
            place.truncate().extend(if friction.is_sand() { volume } else { 0.0 })
        }));
        self.near.resize(n, Near::default());
        let kernel = &task.discretisation.pressure;
        let sums = Neighbours { kernel, dimensions: task.discretisation.dimensions };
        let rows = task.rows.with_place(&self.place);
        rows.sum_and_slopes(&sums, &mut self.near, kernel, &mut self.slopes);
    }

    /// Turns the stresses with the material, lets go of walls that are left, and adds the forces to the velocities.
    pub fn begin(&mut self, task: &Task, stress: &mut [Stress], velocity: &mut [Vec4]) {
        let dt = task.dt;
        let rows = stress.par_iter_mut().with_min_len(2048).zip(&self.near).zip(&self.friction);
        rows.for_each(|((stress, near), friction)| {
            if !friction.is_sand() {
                *stress = Stress::default();
                return;
            }
            // dS/dt = Ω S − S Ω with Ω a = ω × a.
            let [x, y, z] = stress.inner.rows();
            let s = Mat3::from_cols(x, y, z);
            let turn = cross_matrix(near.spin * dt);
            let turned = s + turn * s - s * turn;
            stress.inner = Symmetric::of([turned.row(0), turned.row(1), turned.row(2)]);
            if near.correction == Mat3::ZERO {
                stress.inner = Symmetric::default();
            }
            let normal = near.walls.normalize_or_zero();
            stress.wall =
                if normal == Vec3::ZERO { Vec3::ZERO } else { stress.wall.reject_from_normalized(normal) };
        });
        self.now.clear();
        self.now.extend_from_slice(stress);
        self.before.clear();
        self.before.resize(stress.len(), Stress::default());
        self.force_of_difference(task);
        let rows = velocity.par_iter_mut().with_min_len(8192).zip(&self.change);
        rows.for_each(|(velocity, change)| *velocity += *change * dt);
    }

    /// Acceleration by what `now` is more than `before`, into `change`.
    fn force_of_difference(&mut self, task: &Task) {
        let n = self.now.len();
        for pulls in &mut self.pulls {
            pulls.resize(n, Vec4::ZERO);
        }
        let [x, y, z] = &mut self.pulls;
        let rows = (x, y, z, &self.now, &self.before, &self.near).into_par_iter().with_min_len(2048);
        rows.for_each(|(x, y, z, now, before, near)| {
            if near.correction == Mat3::ZERO {
                (*x, *y, *z) = (Vec4::ZERO, Vec4::ZERO, Vec4::ZERO);
                return;
            }
            let [a, b, c] = (now.inner - before.inner).rows();
            // K is symmetric.
            *x = (near.correction * a).extend(0.0);
            *y = (near.correction * b).extend(0.0);
            *z = (near.correction * c).extend(0.0);
        });
        self.change.resize(n, Vec4::ZERO);
        let law = Divergence { pulls: [&self.pulls[0], &self.pulls[1], &self.pulls[2]], near: &self.near };
        task.rows.with_place(&self.place).sum_sloped(&law, &self.slopes, &mut self.change);
        let rows = (&mut self.change, &self.now, &self.before, &self.friction, task.mass, task.volume);
        rows.into_par_iter().with_min_len(4096).for_each(|(change, now, before, friction, mass, volume)| {
            *change = if friction.is_sand() {
                *change * (volume / mass) + (now.wall - before.wall).extend(0.0)
            } else {
                Vec4::ZERO
            };
        });
    }

    /// What friction can bear, from the pressures.
    fn find_bounds(&mut self, task: &Task, pressure: &[f32]) {
        let d = task.discretisation;
        let n = pressure.len();
        // The mean pressure about each particle: at the surface its own is zero, and inside it flickers.
        let mut weighed = std::mem::take(&mut self.change);
        weighed.clear();
        weighed.extend(pressure.iter().map(|p| Vec4::new(*p, 0.0, 0.0, 0.0)));
        self.smooth.resize(n, 0.0);
        let rows = task.rows.with_place(&self.place).with_motion(&weighed);
        rows.sum(&Mean { kernel: &d.density }, &mut self.smooth);
        self.change = weighed;
        let (dt, steepest) = (task.dt, steepest(d));
        self.bounds.resize(n, Bound::default());
        let columns = (&self.smooth, &self.friction, &self.near, pressure, task.mass, task.volume);
        let rows = self.bounds.par_iter_mut().with_min_len(2048).zip(columns.into_par_iter());
        rows.for_each(|(bound, (smooth, friction, near, pressure, mass, volume))| {
            if !friction.is_sand() {
                *bound = Bound::default();
                return;
            }
            let stretched = near.correction.x_axis.length_squared()
                + near.correction.y_axis.length_squared()
                + near.correction.z_axis.length_squared();
            let full = d.dimensions.count() as f32;
            let density = mass / volume;
            let inner = std::f32::consts::SQRT_2 * (friction.slope() * smooth.max(0.0) + friction.cohesion);
            // The walls' force on a particle is 2 V p Σ V ∇W.
            let normal = 2.0 * pressure.max(0.0) * near.walls.length() / density;
            *bound = Bound {
                inner: if near.correction == Mat3::ZERO { 0.0 } else { inner },
                wall: friction.wall * near.hold * normal,
                step: CAREFUL * density / (dt * steepest * steepest) / (stretched / full).max(1.0),
            };
        });
    }

    /// Finds stresses that stop what shears, and takes it out of the velocities.
    pub fn solve(
        &mut self,
        task: &Task,
        pressure: &[f32],
        stress: &mut [Stress],
        velocity: &mut [Vec4],
        (error, most_iterations): (f32, u32),
    ) -> Solved {
        self.find_bounds(task, pressure);
        let n = stress.len();
        let (dt, dimensions) = (task.dt, task.discretisation.dimensions);
        let sand = self.friction.iter().filter(|friction| friction.is_sand()).count().max(1);
        // Pressures have changed: what friction bore before may be too much now.
        self.before.clear();
        self.before.extend_from_slice(stress);
        let rows = stress.par_iter_mut().with_min_len(2048).zip(&self.bounds);
        rows.for_each(|(stress, bound)| *stress = bound.hold(*stress));
        self.now.clear();
        self.now.extend_from_slice(stress);
        self.force_of_difference(task);
        let [moving, moved, ahead] = &mut self.moving;
        for copy in [&mut *moving, &mut *moved, &mut *ahead] {
            copy.clear();
            copy.extend_from_slice(velocity);
        }
        for copy in [moving, ahead] {
            copy.par_iter_mut().with_min_len(8192).zip(&self.change).for_each(|(v, a)| *v += *a * dt);
        }
        self.ahead.clear();
        self.ahead.extend_from_slice(&self.now);
        self.rates.resize(n, Symmetric::default());

        let mut iterations = 0;
        let mut left = f32::INFINITY;
        let mut run = 0;
        let mut first = 0.0f32;
        while iterations < most_iterations && left > error.max(PART * first) {
            iterations += 1;
            run += 1;
            // Gradient at the point ahead.
            let rows = task.rows.with_place(&self.place).with_motion(&self.moving[2]);
            rows.sum_sloped(&Rate { near: &self.near, dimensions }, &self.slopes, &mut self.rates);
            std::mem::swap(&mut self.now, &mut self.before);
            let rows = (&mut self.now, &self.ahead, &self.rates, &self.bounds, &self.near, &self.moving[2]);
            rows.into_par_iter().with_min_len(2048).for_each(|(now, ahead, rate, bound, near, v)| {
                if !bound.is_sand() {
                    return;
                }
                let mut next = *ahead;
                if bound.inner > 0.0 {
                    next.inner = next.inner + *rate * bound.step;
                }
                if bound.wall > 0.0 {
                    let normal = near.walls.normalize_or_zero();
                    let slip = (v.truncate() - near.wall_velocity).reject_from_normalized(normal);
                    next.wall -= slip * (0.5 * CAREFUL / dt);
                }
                *now = bound.hold(next);
            });
            self.force_of_difference(task);
            // How far it still goes, and whether on: against the last direction, acceleration starts anew.
            let (now, before, ahead, bounds) = (&self.now, &self.before, &self.ahead, &self.bounds);
            let [change, uphill] = sum_parts(&mut self.parts, n, |i| {
                if !bounds[i].is_sand() {
                    return [0.0; 2];
                }
                let (step, back) = (now[i].inner - before[i].inner, ahead[i].inner - now[i].inner);
                let along = step.axes.dot(back.axes) + 2.0 * step.shears.dot(back.shears);
                [f64::from(back.squared() / bounds[i].step.powi(2)), f64::from(along / bounds[i].step)]
            });
            left = (change / sand as f64).sqrt() as f32 * dt;
            if iterations == 1 {
                first = left;
            }
            if uphill > 0.0 {
                run = 0;
            }
            let onward = if run == 0 { 0.0 } else { run as f32 / (run as f32 + 3.0) };
            let [moving, moved, ahead] = &mut self.moving;
            let rows = (moving, moved, ahead, &self.change, &self.bounds).into_par_iter().with_min_len(4096);
            rows.filter(|row| row.4.is_sand()).for_each(|(moving, moved, ahead, change, _)| {
                *moved = *moving;
                *moving += *change * dt;
                *ahead = *moving + (*moving - *moved) * onward;
            });
            let rows = (&mut self.ahead, &self.now, &self.before, &self.bounds).into_par_iter();
            rows.with_min_len(4096).filter(|row| row.3.is_sand()).for_each(|(ahead, now, before, _)| {
                *ahead = Stress {
                    inner: now.inner + (now.inner - before.inner) * onward,
                    wall: now.wall + (now.wall - before.wall) * onward,
                };
            });
        }
        stress.copy_from_slice(&self.now);
        let rows = velocity.par_iter_mut().with_min_len(8192).zip(&self.moving[0]).zip(&self.friction);
        rows.for_each(|((velocity, moving), friction)| {
            if friction.is_sand() {
                *velocity = *moving;
            }
        });
        Solved { iterations, residual: left }
    }

    /// The seed's way [ZhuBridson2005; Lenaerts2009, 5.2]: particles whose shear a stress of ρ D h²/Δt could stop within the cone
    /// are rigid, and clusters of them move as bodies; the others get the stress of the cone along D, once, and may overshoot. What friction was in
    /// the last step is not known: a heap at rest is found anew in each.
    pub fn solve_by_clusters(
        &mut self,
        task: &Task,
        pressure: &[f32],
        stress: &mut [Stress],
        velocity: &mut [Vec4],
    ) -> Solved {
        self.find_bounds(task, pressure);
        let (dt, d) = (task.dt, task.discretisation);
        let n = velocity.len();
        self.rates.resize(n, Symmetric::default());
        let rows = task.rows.with_place(&self.place).with_motion(velocity);
        rows.sum_sloped(&Rate { near: &self.near, dimensions: d.dimensions }, &self.slopes, &mut self.rates);
        self.kinds.resize(n, Kind::Loose);
        let columns = (&self.rates, &self.bounds, &self.near, &*velocity, task.mass, task.volume);
        let rows = (&mut *stress, &mut self.kinds).into_par_iter().zip(columns.into_par_iter());
        rows.with_min_len(2048).for_each(|((stress, kind), (rate, bound, near, v, mass, volume))| {
            let stops = *rate * (mass / volume * d.smoothing_length().powi(2) / dt);
            let is_rigid = bound.inner > 0.0 && stops.squared() <= bound.inner.powi(2);
            let normal = near.walls.normalize_or_zero();
            let slip = (v.truncate() - near.wall_velocity).reject_from_normalized(normal);
            let wall = (slip * (-1.0 / dt)).clamp_length_max(bound.wall);
            let is_held = bound.wall > 0.0 && slip.length() <= bound.wall * dt;
            *kind = match (is_rigid, is_held) {
                (false, _) => Kind::Loose,
                (true, false) => Kind::Rigid,
                (true, true) => Kind::Held(near.wall_velocity),
            };
            let inner = if is_rigid { Symmetric::default() } else { stops.within(bound.inner) };
            *stress = Stress { inner, wall };
        });
        self.now.clear();
        self.now.extend_from_slice(stress);
        self.before.clear();
        self.before.resize(n, Stress::default());
        self.force_of_difference(task);
        let rows = velocity.par_iter_mut().with_min_len(8192).zip(&self.change);
        rows.for_each(|(velocity, change)| *velocity += *change * dt);
        let (kinds, reach) = (&self.kinds, NEIGHBOURS * d.spacing);
        let gained = |i: usize| task.acceleration[i] * dt;
        self.clusters.stiffen(&task.rows, task.mass, |i| kinds[i], reach, gained, velocity);
        Solved { iterations: 1, residual: 0.0 }
    }

    /// Adds what sand does to solids by friction.
    pub fn push_solids(
        &self,
        task: &Task,
        stress: &[Stress],
        centres: &[DVec3],
        scratch: &mut Vec<Wrench>,
        pushes: &mut [Wrench],
    ) {
        let law = Drag { kernel: task.discretisation.pressure, near: &self.near, stress, mass: task.mass };
        task.rows.reactions(&[law], centres, scratch, pushes);
    }

    /// Memory, bytes.
    pub fn bytes(&self) -> usize {
        let vectors: usize = self.moving.iter().chain(&self.pulls).map(Vec::capacity).sum();
        let stresses = self.now.capacity() + self.before.capacity() + self.ahead.capacity();
        16 * (vectors + self.change.capacity() + self.place.capacity())
            + size_of::<Stress>() * stresses
            + size_of::<Near>() * self.near.capacity()
            + self.slopes.bytes()
    }
}

impl Bound {
    fn is_sand(&self) -> bool {
        self.step > 0.0
    }

    fn hold(&self, stress: Stress) -> Stress {
        Stress { inner: stress.inner.within(self.inner), wall: stress.wall.clamp_length_max(self.wall) }
    }
}

/// Largest |Σ V ∇W sin(k·x)| over wave vectors k of the lattice at rest, 1/m: how steep a velocity field the gradient can see.
fn steepest(d: &Discretisation) -> f32 {
    let (kernel, a) = (&d.pressure, d.spacing);
    let reach = (d.support / a).ceil() as i32;
    let depth = if d.dimensions == Dimensions::Two { 0 } else { reach };
    let volume = a.powi(d.dimensions.count() as i32);
    let mut most = 0.0f32;
    for step in 1..32 {
        let k = std::f32::consts::PI * step as f32 / 32.0;
        let mut sum = 0.0;
        for x in -reach..=reach {
            for y in -reach..=reach {
                for z in -depth..=depth {
                    let r = a * ((x * x + y * y + z * z) as f32).sqrt();
                    if r > 0.0 && r < d.support {
                        sum -= volume * kernel.slope_at(r) * (x as f32 * a / r) * (k * x as f32).sin();
                    }
                }
            }
        }
        most = most.max(sum);
    }
    // Diagonal waves and disorder.
    1.5 * most
}

/// Ω with Ω a = ω × a.
fn cross_matrix(w: Vec3) -> Mat3 {
    Mat3::from_cols(Vec3::new(0.0, w.z, -w.y), Vec3::new(-w.z, 0.0, w.x), Vec3::new(w.y, -w.x, 0.0))
}

/// [`Near`] of each particle.
struct Neighbours<'a> {
    kernel: &'a Kernel,
    dimensions: Dimensions,
}

#[derive(Clone, Copy)]
struct NeighbourSums<S: Simd> {
    gradient: Lanes3<S>,
    /// −Σ V x ∇W, diagonal and off it.
    square: Lanes3<S>,
    cross: Lanes3<S>,
    /// Rows of Σ V v ∇W over neighbours.
    turning: [Lanes3<S>; 3],
    walls: Lanes3<S>,
    wall_velocity: Lanes3<S>,
    hold: Lanes<S>,
    wall_weight: Lanes<S>,
}

impl Sum for Neighbours<'_> {
    type Partial<S: Simd> = NeighbourSums<S>;
    type Total = Near;

    /// Who is no sand.
    #[inline(always)]
    fn skips(&self, own: &Own) -> bool {
        own.volume == 0.0
    }

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> NeighbourSums<S> {
        let (zero, none) = (Lanes3::zero(simd), splat(simd, 0.0));
        NeighbourSums {
            gradient: zero,
            square: zero,
            cross: zero,
            turning: [zero; 3],
            walls: zero,
            wall_velocity: zero,
            hold: none,
            wall_weight: none,
        }
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &Pair<S>, sums: &mut NeighbourSums<S>) {
        let (x, weight) = (pair.x, pair.own_gradient_over_r(self.kernel) * pair.volume);
        let slope = x * weight;
        sums.gradient = sums.gradient + slope;
        sums.square = sums.square - Lanes3 { x: x.x * slope.x, y: x.y * slope.y, z: x.z * slope.z };
        sums.cross = sums.cross - Lanes3 { x: x.y * slope.z, y: x.x * slope.z, z: x.x * slope.y };
        let v = pair.velocity;
        sums.turning[0] = sums.turning[0] + slope * v.x;
        sums.turning[1] = sums.turning[1] + slope * v.y;
        sums.turning[2] = sums.turning[2] + slope * v.z;
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, _own: &Own, wall: &WallPair<S>, sums: &mut NeighbourSums<S>) {
        // −dW/dr V.
        let weight = wall.gradient_over_r(self.kernel) * wall.volume;
        sums.walls = sums.walls + wall.x * weight;
        let size = -weight * wall.r;
        sums.wall_velocity = sums.wall_velocity + wall.velocity * size;
        sums.hold += wall.hold() * size;
        sums.wall_weight += size;
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, sums: NeighbourSums<S>) -> Near {
        if own.volume == 0.0 {
            return Near::default();
        }
        let ([xx, yy, mut zz], [yz, xz, xy]) = (sums.square.sum(), sums.cross.sum());
        if self.dimensions == Dimensions::Two {
            zz = 1.0;
        }
        let shape = Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz));
        let correction = if shape.determinant() > SINGLE { shape.inverse() } else { Mat3::ZERO };
        let gradient = Vec3::from(sums.gradient.sum());
        let v = own.velocity.truncate();
        let rows = sum_rows(sums.turning);
        let rows = [rows[0] - gradient * v.x, rows[1] - gradient * v.y, rows[2] - gradient * v.z];
        let [x, y, z] = rows.map(|row| correction * row);
        let wall_weight = sum(sums.wall_weight);
        let share = 1.0 / wall_weight.max(f32::MIN_POSITIVE);
        Near {
            correction,
            gradient,
            spin: Vec3::new(z.y - y.z, x.z - z.x, y.x - x.y) * 0.5,
            walls: Vec3::from(sums.walls.sum()),
            wall_velocity: Vec3::from(sums.wall_velocity.sum()) * share,
            hold: sum(sums.hold) * share,
            wall_weight,
        }
    }
}

/// Of each row, over its lanes. (Written out: closures are not compiled for the instruction set.)
#[inline(always)]
fn sum_rows<S: Simd>([x, y, z]: [Lanes3<S>; 3]) -> [Vec3; 3] {
    [Vec3::from(x.sum()), Vec3::from(y.sum()), Vec3::from(z.sum())]
}

/// The deviator of D, for the rows' motion.
struct Rate<'a> {
    near: &'a [Near],
    dimensions: Dimensions,
}

impl SlopedSum for Rate<'_> {
    const OF_OTHERS: bool = false;
    type Partial<S: Simd> = [Lanes3<S>; 3];
    type Total = Symmetric;

    /// Who is no sand.
    #[inline(always)]
    fn skips(&self, own: &Own) -> bool {
        own.volume == 0.0
    }

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> [Lanes3<S>; 3] {
        [Lanes3::zero(simd); 3]
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &SlopedPair<S>, rows: &mut [Lanes3<S>; 3]) {
        let slope = pair.x * (pair.gradient_over_r * pair.volume);
        rows[0] = rows[0] + slope * pair.velocity.x;
        rows[1] = rows[1] + slope * pair.velocity.y;
        rows[2] = rows[2] + slope * pair.velocity.z;
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, rows: [Lanes3<S>; 3]) -> Symmetric {
        let (near, v) = (&self.near[own.index], own.velocity.truncate());
        let [x, y, z] = sum_rows(rows);
        let rows = [x - near.gradient * v.x, y - near.gradient * v.y, z - near.gradient * v.z];
        Symmetric::of(rows.map(|row| near.correction * row)).deviator(self.dimensions)
    }
}

/// Σ_j V_j (s_i K_i + s_j K_j) ∇W.
struct Divergence<'a> {
    pulls: [&'a [Vec4]; 3],
    near: &'a [Near],
}

impl SlopedSum for Divergence<'_> {
    const OF_OTHERS: bool = true;
    type Partial<S: Simd> = Lanes3<S>;
    type Total = Vec4;

    /// Who is no sand.
    #[inline(always)]
    fn skips(&self, own: &Own) -> bool {
        own.volume == 0.0
    }

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &SlopedPair<S>, sum: &mut Lanes3<S>) {
        let slope = pair.x * (pair.gradient_over_r * pair.volume);
        let [x, y, z] = self.pulls;
        // SAFETY: the loop only offers valid rows, and there is one pull for each. (No closure: those are not compiled for the instruction set.)
        let (x, y, z) = unsafe {
            (
                gather(pair.simd, x, pair.others).0,
                gather(pair.simd, y, pair.others).0,
                gather(pair.simd, z, pair.others).0,
            )
        };
        *sum = *sum + Lanes3 { x: x.dot(slope), y: y.dot(slope), z: z.dot(slope) };
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, sum: Lanes3<S>) -> Vec4 {
        let gradient = self.near[own.index].gradient;
        let own_pull = self.pulls.map(|rows| rows[own.index].truncate().dot(gradient));
        (Vec3::from(sum.sum()) + Vec3::from(own_pull)).extend(0.0)
    }
}

/// Σ V p W/Σ V W, with p the x of the rows' motion.
struct Mean<'a> {
    kernel: &'a Kernel,
}

impl Sum for Mean<'_> {
    type Partial<S: Simd> = (Lanes<S>, Lanes<S>);
    type Total = f32;

    /// Who is no sand.
    #[inline(always)]
    fn skips(&self, own: &Own) -> bool {
        own.volume == 0.0
    }

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> (Lanes<S>, Lanes<S>) {
        (splat(simd, 0.0), splat(simd, 0.0))
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &Pair<S>, (sum, weight): &mut (Lanes<S>, Lanes<S>)) {
        let w = pair.volume * pair.own_w(self.kernel);
        *sum += w * pair.velocity.x;
        *weight += w;
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, (total, weight): (Lanes<S>, Lanes<S>)) -> f32 {
        sum(total) / sum(weight).max(f32::MIN_POSITIVE)
    }
}

/// Friction with walls as a force between a particle and each sample: by its part in [`Near::wall_weight`].
#[derive(Clone, Copy)]
struct Drag<'a> {
    kernel: Kernel,
    near: &'a [Near],
    stress: &'a [Stress],
    mass: &'a [f32],
}

impl PairLaw for Drag<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, _own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        Lanes3::zero(pair.simd)
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let force = self.stress[own.index].wall * self.mass[own.index];
        let share = wall.gradient_over_r(&self.kernel)
            * wall.volume
            * wall.r
            * (-1.0 / self.near[own.index].wall_weight.max(f32::MIN_POSITIVE));
        Lanes3::splat(wall.simd, force.into()) * share
    }
}
