//! Double-density relaxation: a soft pressure that keeps particles evenly apart and rounds off surfaces [Clavet2005, 4; Ozgen2013,
//! Eqs. 5.1–5.6].
//!
//! Each particle has two densities, over those of the lattice at rest: δ with a kernel (1 − r/h)² and δ' with one that is
//! sharper, (1 − r/h)³. The first makes a pressure P that pulls where the fluid is thin, the second one N that always
//! pushes, most of all who is near:
//!
//!   P = ρ₀c² (δ − 1 − κ m'/m),   N = κ ρ₀c² δ',   f_i = −V_i Σ_j V_j [(P_i + P_j) ∇W + (N_i + N_j) ∇W'].
//!
//! m and m' are the lattice sums of r W and r W' slopes; with them the lattice at rest has no stress, where the seed's comes to rest at
//! some lower density. The seed's numbers per particle are thus Pa, and its pairs of displacements one force.
//!
//! **Prediction and relaxation.** Densities and forces are taken where velocities will have brought the particles, x + Δt v, and change velocities by
//! Δt f/m before positions take them. That is the seed's displacement of predicted positions by Δt² f/m, with velocities made
//! from positions afterwards: the same numbers. It takes energy from what is not resolved: an oscillation of frequency ω
//! keeps 1 − (ωΔt)² of its energy in a step. The seed goes from pair to pair and moves both at once, which depends on their
//! order; here all move at once, as the order of a sum must not matter.
//!
//! Walls and solids count in the densities of the particles near them and have no pressure of their own, which makes their
//! push the gradient of an energy; solids feel the opposite.
//!
//! Changes `VELOCITY`; writes `DENSITY`, `PRESSURE`. Kept honest by the tests below.

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit};
use crate::behaviours::{Around, Behaviour, LimitState, Solved};
use crate::columns::{DENSITY, MASS, PRESSURE, VELOCITY, VOLUME};
use crate::discretisation::Discretisation;
use crate::kernels::lattice_sum;
use crate::pair::{Own, Pair, PairLaw, Sum, WallPair};
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::simd::*;
use crate::solids::Wrench;
use crate::structure::Structure;
use crate::timestep::{Limit, Limits};

pub static SCHEMA: Schema = Schema {
    name: "double-density",
    summary: "a soft pressure of two densities, which evens out particles and rounds off surfaces",
    law: "f = −w V_i Σ V_j [(P_i + P_j) ∇W + (N_i + N_j) ∇W'], P = ρ₀c²(δ − 1 − κ m'/m), N = κρ₀c²δ', at the positions that velocities lead to",
    half_weight: "half the pressures",
    reference: "Clavet2005, 4; Ozgen2013, Eqs. 5.1–5.6",
    properties: &[
        Property {
            name: "sound_speed",
            meaning: "speed c of sound, by which both pressures are measured; surfaces are tense by about ρ₀c²h/100",
            kind: Kind::Number {
                unit: Unit::MetrePerSecond,
                default: Default::Automatic("10 × the fastest flow the scene can make"),
                min: 1e-6,
                max: 1e5,
            },
        },
        Property {
            name: "near",
            meaning: "strength κ of the pressure that always pushes",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.5), min: 0.0, max: 10.0 },
        },
    ],
};

pub struct DoubleDensity;

impl Behaviour for DoubleDensity {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
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
        let kernels = Kernels::new(around.discretisation, around.dt);
        let mut densities = vec![[0.0f32; 2]; particles.len()];
        around.rows.sum(&Densities(kernels), &mut densities);

        let (weight, speed, near) = (
            now.weight().coefficient(),
            now.field("sound_speed").coefficient(),
            now.field("near").coefficient(),
        );
        let (mass, volume) = (particles.get(&MASS), particles.get(&VOLUME));
        let pressures = |(i, [density, sharp]): (usize, &[f32; 2])| {
            let stiffness = weight.at(i) * mass[i] / volume[i] * speed.at(i) * speed.at(i);
            let pushing = stiffness * near.at(i);
            (stiffness * (density - 1.0) - pushing * kernels.balance, pushing * sharp)
        };
        let (far, close): (Vec<f32>, Vec<f32>) = densities.par_iter().enumerate().map(pressures).unzip();

        let law = Push { kernels, far: &far, close: &close };
        let mut acceleration = particles.workspace.borrow(particles.len());
        acceleration.fill(Vec4::ZERO);
        around.rows.add_forces(&[law], particles.get(&MASS), &mut acceleration);
        let velocity = particles.get_mut(&VELOCITY);
        velocity.par_iter_mut().with_min_len(8192).zip(&acceleration).for_each(|(v, a)| *v += *a * around.dt);
        particles.workspace.give_back([acceleration]);

        let centres: Vec<DVec3> = around.solids.iter().map(|solid| solid.pose.position).collect();
        around.rows.reactions(&[law], &centres, &mut Vec::new(), pushes);
        particles.update2((&DENSITY, &PRESSURE), |density, pressure, particles| {
            let columns = (particles.get(&MASS), particles.get(&VOLUME));
            for (i, (mass, volume)) in columns.0.iter().zip(columns.1).enumerate() {
                // Bodies of another pressure have written theirs.
                if weight.at(i) != 0.0 {
                    density[i] = densities[i][0] * mass / volume;
                    pressure[i] = far[i] + close[i];
                }
            }
        });
        None
    }

    fn limit(&self, now: &Resolved, state: &LimitState, limits: &mut Limits) {
        let stiffer = 1.0 + now.field("near").max();
        let speed = now.field("sound_speed").max() * (now.weight().max().max(0.0) * stiffer).sqrt();
        let length = state.discretisation.smoothing_length();
        limits.offer(Limit::Sound, 0.4 * length / (speed + state.speed).max(f32::MIN_POSITIVE));
    }
}

/// The two kernels, scaled so that the lattice at rest has δ = δ' = 1.
#[derive(Clone, Copy)]
struct Kernels {
    support: f32,
    scale: [f32; 2],
    /// m'/m.
    balance: f32,
    dt: f32,
}

impl Kernels {
    fn new(d: &Discretisation, dt: f32) -> Kernels {
        let (support, spacing) = (f64::from(d.support), f64::from(d.spacing));
        let q = |r: f64| (1.0 - r / support).max(0.0);
        let sum = |f: &dyn Fn(f64) -> f64| lattice_sum(&d.density, spacing, |_, r| f(r));
        let own = f64::from(d.cell_volume());
        let scale = [2, 3].map(|power| 1.0 / (own + sum(&|r| q(r).powi(power))));
        let slopes = [sum(&|r| r * 2.0 * q(r)), sum(&|r| r * 3.0 * q(r).powi(2))];
        let balance = scale[1] * slopes[1] / (scale[0] * slopes[0]);
        Kernels { support: d.support, scale: scale.map(|s| s as f32), balance: balance as f32, dt }
    }

    /// x_i − x_j where velocities lead to, and its length.
    #[inline(always)]
    fn predict<S: Simd>(
        &self,
        own: &Own,
        x: Lanes3<S>,
        r: Lanes<S>,
        velocity: Lanes3<S>,
    ) -> (Lanes3<S>, Lanes<S>) {
        let simd = r.simd;
        let moved = (Lanes3::splat(simd, own.velocity.truncate().into()) - velocity) * splat(simd, self.dt);
        let x = x + moved;
        // Lanes that do not count are far away, and stay there.
        let is_real = r.simd_lt(splat(simd, 1e4 * self.support));
        (x, is_real.select(x.dot(x).sqrt(), r))
    }

    /// 1 − r/h, nowhere negative.
    #[inline(always)]
    fn nearness<S: Simd>(&self, r: Lanes<S>) -> Lanes<S> {
        (splat(r.simd, 1.0) - r * (1.0 / self.support)).max(splat(r.simd, 0.0))
    }

    /// What (P_i + P_j) and (N_i + N_j) are multiplied by to give a force along x, over the volumes.
    #[inline(always)]
    fn slopes<S: Simd>(&self, r: Lanes<S>) -> [Lanes<S>; 2] {
        let q = self.nearness(r);
        let over_r = splat(r.simd, 1.0 / self.support) / r.max(splat(r.simd, 1e-6 * self.support));
        [q * over_r * (2.0 * self.scale[0]), q * q * over_r * (3.0 * self.scale[1])]
    }
}

/// δ and δ'.
struct Densities(Kernels);

impl Densities {
    #[inline(always)]
    fn add_terms<S: Simd>(&self, r: Lanes<S>, volume: Lanes<S>, partial: &mut [Lanes<S>; 2]) {
        let q = self.0.nearness(r);
        let square = volume * q * q;
        partial[0] += square * self.0.scale[0];
        partial[1] += square * q * self.0.scale[1];
    }
}

impl Sum for Densities {
    type Partial<S: Simd> = [Lanes<S>; 2];
    type Total = [f32; 2];

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> [Lanes<S>; 2] {
        [splat(simd, 0.0); 2]
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &Pair<S>, partial: &mut [Lanes<S>; 2]) {
        let (_, r) = self.0.predict(own, pair.x, pair.r, pair.velocity);
        self.add_terms(r, pair.volume, partial);
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, own: &Own, wall: &WallPair<S>, partial: &mut [Lanes<S>; 2]) {
        let (_, r) = self.0.predict(own, wall.x, wall.r, wall.velocity);
        self.add_terms(r, wall.volume, partial);
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, partial: [Lanes<S>; 2]) -> [f32; 2] {
        partial.map(sum)
    }
}

#[derive(Clone, Copy)]
struct Push<'a> {
    kernels: Kernels,
    /// P and N, Pa.
    far: &'a [f32],
    close: &'a [f32],
}

impl PairLaw for Push<'_> {
    #[inline(always)]
    fn force<S: Simd>(&self, own: &Own, pair: &Pair<S>) -> Lanes3<S> {
        let (x, r) = self.kernels.predict(own, pair.x, pair.r, pair.velocity);
        let [far, close] = self.kernels.slopes(r);
        // SAFETY: the loop only offers valid rows, and there is a pressure for each.
        let [p, n] = unsafe {
            [
                gather_scalar(pair.simd, self.far, pair.others),
                gather_scalar(pair.simd, self.close, pair.others),
            ]
        };
        let push = (p + self.far[own.index]) * far + (n + self.close[own.index]) * close;
        x * (push * pair.volume * own.volume)
    }

    #[inline(always)]
    fn wall_force<S: Simd>(&self, own: &Own, wall: &WallPair<S>) -> Lanes3<S> {
        let (x, r) = self.kernels.predict(own, wall.x, wall.r, wall.velocity);
        let [far, close] = self.kernels.slopes(r);
        x * ((far * self.far[own.index] + close * self.close[own.index]) * wall.volume * own.volume)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::POSITION;
    use crate::scene;
    use crate::world::World;

    fn blob(more: &str) -> World {
        let text = format!(
            r#"
            world.gravity = [0, 0, 0]
            sph.spacing = 0.01
            time.until = 1
            [[body]]
            name = "blob"
            density = 1000
            {more}
            [body.behaviours.double-density]
            sound_speed = 2
            [body.behaviours.impulse-viscosity]
            linear = 5
            quadratic = 10
            "#
        );
        World::new(&scene::load("blob", &text, &[]).unwrap_or_else(|p| panic!("{}", p.plain())).0)
    }

    fn momenta(world: &World) -> [DVec3; 2] {
        let p = &world.particles;
        let rows = p.get(&POSITION).iter().zip(p.get(&VELOCITY)).zip(p.get(&MASS));
        rows.fold([DVec3::ZERO; 2], |[along, around], ((x, v), &m)| {
            let (x, momentum) = (x.truncate().as_dvec3(), v.truncate().as_dvec3() * f64::from(m));
            [along + momentum, around + x.cross(momentum)]
        })
    }

    /// All forces lie between the predicted places of two particles: linear momentum is kept, and angular momentum at the
    /// positions that the step ends with nearly so.
    #[test]
    fn a_cube_becomes_a_ball_and_stays_where_it_is() {
        let mut world =
            blob("jitter = 0.1\nshape.box = { min = [-0.04, -0.04, -0.04], max = [0.04, 0.04, 0.04] }");
        let corner = |world: &World| {
            world.particles.get(&POSITION).iter().map(|x| x.truncate().length()).fold(0.0, f32::max)
        };
        let mass: f64 = world.particles.get(&MASS).iter().map(|&m| f64::from(m)).sum();
        let before = corner(&world);
        world.advance_to(0.3).expect("steps");
        // f32 round-off of speeds of about 0.1 m/s over 500 steps.
        let [along, around] = momenta(&world);
        assert!(along.length() < 1e-6 * mass, "{along}");
        assert!(around.length() < 1e-4 * 0.04 * mass, "{around}");
        // A ball of the same volume reaches to 0.0496 m; the cube's corners were at 0.061 m.
        assert!(corner(&world) < 0.92 * before, "{before} to {}", corner(&world));
        let inside = world.particles.get(&DENSITY).iter().filter(|&&density| density > 900.0).count();
        assert!(2 * inside > world.particles.len(), "{inside} of {}", world.particles.len());
    }

    #[test]
    fn the_lattice_at_rest_has_no_stress() {
        let mut world = blob("shape.box = { min = [-0.05, -0.05, -0.05], max = [0.05, 0.05, 0.05] }");
        world.step(1e-4).expect("a step");
        let nearest = |a: &Vec4, b: &Vec4| a.length_squared().total_cmp(&b.length_squared());
        let (i, _) =
            world.particles.get(&POSITION).iter().enumerate().min_by(|a, b| nearest(a.1, b.1)).expect("some");
        let (density, pressure) = (world.particles.get(&DENSITY)[i], world.particles.get(&PRESSURE)[i]);
        assert!((density - 1000.0).abs() < 0.1, "{density}");
        // P and N: not zero, but of no effect; ρ₀c² is 4000 Pa.
        assert!(pressure.abs() < 4000.0, "{pressure}");
        assert!(world.particles.get(&VELOCITY)[i].length() < 1e-5);
    }
}
