//! Yielding springs: a fluid that is also elastic, flows when strained too far, and stiffens when it is stirred
//! [Clavet2005, 5; Ozgen2013, 5.3].
//!
//! Neighbours are tied by springs (`structure/ties.rs`). One appears without force when two particles come within each
//! other's support h, and breaks when they leave it. In between it yields: of an elongation r − L, what is beyond γL flows,
//!
//!   dL/dt = α sign(r − L) max(0, |r − L| − γL)    [Ozgen2013, Eq. 5.8].
//!
//! **Stiffness.** The seed gives each spring a constant k. We give the fluid a shear modulus G, Pa, and each pair as
//! much of it as implicit viscosity gives it of μ (`implicit_viscosity.rs`): f_ij = −K_ij (r − L) r x_ij with
//! K_ij = V_i V_j c G_ij Λ/(r² + 0.01h²), Λ ∝ 1 − r/h. Shear of the lattice at rest meets exactly G, whatever the
//! spacing; a spring fades out before it breaks; and a fluid with γ = 0 has the viscosity G/α (Maxwell's).
//!
//! **History.** G = G_min + G_hist S, with S the strain that the particle remembers,
//!
//!   S = T^q D^q ∫γ̇ dt = T^q/Γ(1−q) ∫ τ^(−q) e^(−τ/T) γ̇(t − τ) dτ,
//!
//! of the order q and the memory T: a steady flow comes to S = γ̇T, the strain of its last T seconds. The seed takes D^q of the way that two particles go past each other, |v_i − v_j|
//! summed up, for every spring (Eq. 5.13); that counts turning as a whole as strain. We take the rate of strain about
//! each particle, γ̇² = N ⟨(v_ij·x_ij)²/r⁴⟩ over the neighbours, with N = 15 (8 in 2-D): exact for shear in an isotropic
//! neighbourhood, and zero for turning. It is one number for each particle, not for each spring, and a spring has the
//! harmonic mean of its ends': a fluid without springs ties nobody.
//!
//! `memory.rs` keeps the past: as a sum of exponentials, or as a window of the last d steps, which has no e^(−τ/T) and ends at once
//! as the seed's does. Steps may be of any length. The seed takes q = ½; then half of the stiffness is gone by the time that a ball would
//! bounce.
//!
//! Only what exceeds the onset γ̇₀ is remembered: suspensions thicken above a rate of their own, and the trembling of particles at rest is
//! no strain.
//!
//! A spring that stiffens goes on pulling as it did: what is added to it appears without force, as a new spring does, and L moves
//! towards r. With the seed's force, G times all of r − L, stiffening does work: a ball that had come to rest was thrown up again.
//!
//! **Solve.** Springs pull with the elongation that they lead to, (r − L) r + Δt (v_ij − φ v*_ij)·x_ij: a system like that of
//! implicit viscosity with GΔt for μ, solved with it. φ = 0 is backward Euler. An oscillation of frequency ω keeps (1 + φs)/(1 + s) of its energy in
//! a step, s = (ωΔt)²: it is stable at any stiffness and any step, where the seed had to tune k_hist for that. φ = ½ damps what steps
//! resolve half as much.
//!
//! **Sticky walls.** Walls and solids hold the fluid by an implicit friction of the viscosity b (G − G_min)/α: firmly where it is stiff,
//! and not at all where it has rested [Ozgen2013, 5.3, lowers tangential velocities instead]. Solids feel the opposite.
//!
//! Reads `MASS`, `ID`, `REMEMBERED_STRAIN`; changes `VELOCITY`; writes `STIFFNESS`, `STRAIN_RATE`; keeps `TIE_CHANGE`. Kept honest by `littoral validate
//! spring-stiffness` and by the tests below.

use glam::{Mat3, Vec3, Vec4};
use rayon::prelude::*;

use crate::backend::cpu::{Rows, Slopes};
use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit, Value};
use crate::behaviours::implicit_viscosity::{self, Friction, Resistance, Solids};
use crate::behaviours::{Around, Behaviour, Solved};
use crate::columns::{ID, REMEMBERED_STRAIN, STIFFNESS, STRAIN_PAST, STRAIN_RATE, TIE_CHANGE, VELOCITY};
use crate::memory::{MOST_COLUMNS, Measure, PastColumns, Reach, Remembers};
use crate::pair::{Own, Pair, SlopedPair, SlopedSum, Sum, WallPair};
use crate::particles::{Particles, Scalars};
use crate::resolve::{Coefficient, Resolved};
use crate::scene::Dimensions;
use crate::simd::*;
use crate::solids::Wrench;
use crate::solve::conjugate_gradients::Stop;
use crate::solve::fractional::{Of, Rule};
use crate::structure::Structure;
use crate::structure::ties::TieLaw;
use crate::timeline::Curve;

pub static SCHEMA: Schema = Schema {
    name: "yielding-springs",
    summary: "springs between near particles that appear, yield and break, and stiffen with what they went through",
    law: "f = −w G Σ V_i V_j c Λ (r − L) r x_ij/(r² + 0.01 h²), G = G_min + G_hist T^q D^q∫γ̇dt, dL/dt = α sign(r − L) max(0, |r − L| − γL), solved for the velocities it leads to",
    half_weight: "half the moduli, and walls that hold half as firmly",
    reference: "Clavet2005, 5; Ozgen2013, 5.3",
    properties: &[
        Property {
            name: "shear_modulus",
            meaning: "shear modulus G_min of the fluid at rest",
            kind: Kind::Number { unit: Unit::Pascal, default: Default::Required, min: 0.0, max: 1e9 },
        },
        Property {
            name: "history_modulus",
            meaning: "shear modulus G_hist that is added for each unit of strain remembered",
            kind: Kind::Number { unit: Unit::Pascal, default: Default::Required, min: 0.0, max: 1e9 },
        },
        Property {
            name: "onset",
            meaning: "rate of strain γ̇₀ below which nothing is remembered",
            kind: Kind::Number { unit: Unit::PerSecond, default: Default::Value(2.0), min: 0.0, max: 1e6 },
        },
        Property {
            name: "order",
            meaning: "order q of the memory: near 0 it weighs all its time alike, near 1 it knows only the present",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.2), min: 0.05, max: 0.95 },
        },
        Property {
            name: "memory",
            meaning: "how long strain is remembered: it fades as e^(−t/T)",
            kind: Kind::Number { unit: Unit::Second, default: Default::Value(0.5), min: 1e-3, max: 1e4 },
        },
        Property {
            name: "history",
            meaning: "how the past is kept: all of it, by exponentials; or the last steps, by the product-trapezoidal rule or Coimbra's",
            kind: Kind::Choice { options: &["exponentials", "trapezoid", "coimbra"], default: 0 },
        },
        Property {
            name: "window",
            meaning: "number of last steps d, where only these are remembered",
            kind: Kind::Number {
                unit: Unit::One,
                default: Default::Value(32.0),
                min: 1.0,
                max: MOST_COLUMNS as f64,
            },
        },
        Property {
            name: "yield_strain",
            meaning: "elongation over length γ that a spring bears without flowing",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.3), min: 0.0, max: 10.0 },
        },
        Property {
            name: "plasticity",
            meaning: "rate α at which the elongation beyond that flows",
            kind: Kind::Number { unit: Unit::PerSecond, default: Default::Value(10.0), min: 0.0, max: 1e6 },
        },
        Property {
            name: "stickiness",
            meaning: "how firmly walls and solids hold what has stiffened: factor b of the viscosity (G − G_min)/α",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(1.0), min: 0.0, max: 100.0 },
        },
    ],
};

pub struct YieldingSprings;

impl Behaviour for YieldingSprings {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn require_columns(&self, particles: &mut Particles) {
        particles.require(&STIFFNESS);
        particles.require(&STRAIN_RATE);
        particles.require(&TIE_CHANGE);
    }

    /// The order, the memory and the method are the same for all bodies: the scene's check sees to that.
    fn remembers_scalar(&self, now: &Resolved) -> Option<Remembers<Scalars>> {
        let used = now.uses().find(|used| number(used, "history_modulus").max() > 0.0)?;
        let (time, steps) = (constant(used, "memory"), constant(used, "window") as usize);
        let reach = match used.value("history") {
            Value::Choice(TRAPEZOID) => Reach::Window { steps, rule: Rule::Trapezoid },
            Value::Choice(COIMBRA) => Reach::Window { steps, rule: Rule::Coimbra },
            _ => Reach::Fading { tolerance: 1e-3, time },
        };
        let order = constant(used, "order");
        Some(Remembers { order, of: Of::Rates, reach, measure: Measure::Derivative, columns: &PAST })
    }

    fn has_solve(&self, _used: &BehaviourUse) -> bool {
        true
    }

    fn solve(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        pushes: &mut [Wrench],
    ) -> Option<Solved> {
        let law = SpringLaw::of(now);
        let (dt, rows) = (around.dt, &around.rows);
        structure.ties.follow(rows.lists(), particles.get(&ID));
        let before = particles.get(&STIFFNESS).to_vec();
        law.stiffen(particles);

        // Springs yield, and their pulls and blocks are added up.
        let mut sums = vec![Sums::default(); particles.len()];
        let (stiffness, flow) = (particles.get(&STIFFNESS), law.flow(particles.len(), dt));
        let ties = TieStep {
            before: Coefficient::Column(&before),
            now: Coefficient::Column(stiffness),
            yield_strain: law.yield_strain,
            flow: flow.coefficient(),
            friction: Friction::new(Coefficient::Uniform(1.0), around.discretisation, 1.0),
            support: around.discretisation.support,
            dt,
        };
        let velocity = particles.get(&VELOCITY);
        structure.ties.each(&rows.with_motion(velocity), &ties, &mut sums);

        law.measure(&sums, around.discretisation.dimensions, particles.get_mut(&STRAIN_RATE));
        let sticky: Vec<f32> =
            particles.get(&STIFFNESS).iter().enumerate().map(|(i, g)| law.stick(i, *g)).collect();
        let wall = Friction::new(Coefficient::Column(&sticky), around.discretisation, dt);
        let springs = Springs { strength: &structure.ties.strength, sums: &sums, wall };
        let stop =
            Stop { error: around.solver.viscosity_error.into(), most_iterations: around.solver.iterations };
        let mut solids = Solids::new(around, &wall, particles);
        let solved = implicit_viscosity::solve(&springs, stop, rows, &mut solids, &TIE_CHANGE, particles);
        for (push, impulse) in pushes.iter_mut().zip(&solids.impulses) {
            *push += *impulse * f64::from(1.0 / dt);
        }
        particles.workspace.give_back([solids.motion]);
        Some(solved)
    }
}

static PAST: PastColumns<Scalars> =
    PastColumns { source: &STRAIN_RATE, past: &STRAIN_PAST, result: &REMEMBERED_STRAIN };

/// Ways to remember, as in the schema.
const TRAPEZOID: usize = 1;
const COIMBRA: usize = 2;

/// Properties that all bodies share, and that never change.
pub(crate) const SHARED: [&str; 4] = ["order", "memory", "history", "window"];

fn number<'a>(used: &'a BehaviourUse, property: &str) -> &'a Curve {
    let Value::Number(curve) = used.value(property) else { unreachable!("`{property}` is a number") };
    curve
}

fn constant(used: &BehaviourUse, property: &str) -> f64 {
    number(used, property).at(0.0)
}

/// φ.
const KEPT: f32 = 0.5;

/// The law's properties now.
struct SpringLaw<'a> {
    least: Coefficient<'a>,
    history: Coefficient<'a>,
    onset: Coefficient<'a>,
    yield_strain: Coefficient<'a>,
    plasticity: Coefficient<'a>,
    stickiness: Coefficient<'a>,
    /// T^q.
    scale: f32,
}

impl<'a> SpringLaw<'a> {
    fn of(now: &'a Resolved) -> SpringLaw<'a> {
        let used = now.uses().next().expect("a behaviour in use");
        let scale = libm::pow(constant(used, "memory"), constant(used, "order")) as f32;
        SpringLaw {
            least: now.weighted("shear_modulus").coefficient(),
            history: now.weighted("history_modulus").coefficient(),
            onset: now.field("onset").coefficient(),
            yield_strain: now.field("yield_strain").coefficient(),
            plasticity: now.field("plasticity").coefficient(),
            stickiness: now.field("stickiness").coefficient(),
            scale,
        }
    }

    /// Part of the elongation beyond the yield strain that flows in a step: 1 − e^(−αΔt).
    fn flow(&self, count: usize, dt: f32) -> Flow {
        let flow = |rate: f32| 1.0 - libm::expf(-rate * dt);
        match self.plasticity {
            Coefficient::Uniform(rate) => Flow::Uniform(flow(rate)),
            Coefficient::Column(rates) => {
                Flow::Column(rates[..count].iter().map(|&rate| flow(rate)).collect())
            }
        }
    }

    /// Moduli from what is remembered.
    fn stiffen(&self, particles: &mut Particles) {
        particles.update(&STIFFNESS, |stiffness, particles| {
            let remembered = particles.try_get(&REMEMBERED_STRAIN);
            stiffness.par_iter_mut().with_min_len(8192).enumerate().for_each(|(i, modulus)| {
                let strain = remembered.map_or(0.0, |strain| self.scale * strain[i].max(0.0));
                *modulus = self.least.at(i) + self.history.at(i) * strain;
            });
        });
    }

    /// The rates of strain of this step, for the memory.
    fn measure(&self, sums: &[Sums], dimensions: Dimensions, rates: &mut [f32]) {
        // 1/⟨(xy/r²)²⟩ over all directions.
        let directions = if dimensions == Dimensions::Two { 8.0 } else { 15.0 };
        rates.par_iter_mut().with_min_len(8192).zip(sums).enumerate().for_each(|(i, (rate, sums))| {
            let square = if sums.weight > 0.0 { directions * sums.rate2 / sums.weight } else { 0.0 };
            *rate = (square.sqrt() - self.onset.at(i)).max(0.0);
        });
    }

    /// Viscosity that walls hold a particle of this modulus with, Pa·s.
    fn stick(&self, i: usize, modulus: f32) -> f32 {
        let gained = (modulus - self.least.at(i)).max(0.0);
        self.stickiness.at(i) * gained / self.plasticity.at(i).max(1.0)
    }
}

/// What the springs of a particle add up to.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Σ Δt² K x xᵀ: xx, yy, zz; yz, xz, xy.
    square: Vec3,
    cross: Vec3,
    /// Impulse of the elongations that there are, N·s.
    pull: Vec3,
    /// Of γ̇²/N, and its weights.
    rate2: f32,
    weight: f32,
}

/// As a [`Coefficient`], with numbers of its own.
enum Flow {
    Uniform(f32),
    Column(Vec<f32>),
}

impl Flow {
    fn coefficient(&self) -> Coefficient<'_> {
        match self {
            Flow::Uniform(value) => Coefficient::Uniform(*value),
            Flow::Column(values) => Coefficient::Column(values),
        }
    }
}

/// A step of the springs: they stiffen and yield, and pulls and blocks are added up.
struct TieStep<'a> {
    /// Moduli of the last step and of this one.
    before: Coefficient<'a>,
    now: Coefficient<'a>,
    yield_strain: Coefficient<'a>,
    flow: Coefficient<'a>,
    /// Of a modulus of 1 Pa, as a viscosity in 1 s.
    friction: Friction<'a>,
    support: f32,
    dt: f32,
}

impl TieLaw for TieStep<'_> {
    /// Sums of squares, products and pulls; of rates, and their weights.
    type Partial<S: Simd> = ([Lanes3<S>; 3], [Lanes<S>; 2]);
    type Total = Sums;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Self::Partial<S> {
        ([Lanes3::zero(simd); 3], [splat(simd, 0.0); 2])
    }

    #[inline(always)]
    fn add<S: Simd>(
        &self,
        own: &Own,
        pair: &Pair<S>,
        length: Lanes<S>,
        ([square, cross, pull], [rate2, weights]): &mut Self::Partial<S>,
    ) -> (Lanes<S>, Lanes<S>) {
        let (simd, x, r, i) = (pair.simd, pair.x, pair.r, own.index);
        let zero = splat(simd, 0.0);
        // SAFETY: the loop only offers valid rows.
        let [now, before, yield_strain, flow] = unsafe {
            [
                self.now.harmonic_mean(simd, i, pair.others),
                self.before.harmonic_mean(simd, i, pair.others),
                self.yield_strain.mean(simd, i, pair.others),
                self.flow.mean(simd, i, pair.others),
            ]
        };
        let tied = r.simd_lt(splat(simd, self.support)) & r.simd_gt(zero) & now.simd_gt(zero);

        // What is gained appears without force; of what is beyond the yield strain, a part flows; new springs pull nobody.
        let kept = (before / now.max(splat(simd, f32::MIN_POSITIVE))).min(splat(simd, 1.0));
        let stiffened = r - (r - length) * kept;
        let elongation = r - stiffened;
        let allowed = yield_strain * stiffened;
        let beyond = elongation - elongation.max(-allowed).min(allowed);
        let yielded = length.simd_gt(zero).select(stiffened + beyond * flow, r);
        let length = tied.select(yielded, zero);

        // Δt² K.
        let weight = tied.select(self.friction.weight(r), zero);
        let strength = pair.volume * own.volume * (self.dt * self.dt) * now * weight;
        *square = *square + Lanes3 { x: x.x * x.x, y: x.y * x.y, z: x.z * x.z } * strength;
        *cross = *cross + Lanes3 { x: x.y * x.z, y: x.x * x.z, z: x.x * x.y } * strength;
        let parting = (Lanes3::splat(simd, own.velocity.truncate().into()) - pair.velocity).dot(x);
        let stretched = (r - length) * r * (1.0 / self.dt);
        *pull = *pull - x * (strength * (stretched - parting * KEPT));
        // Λr²: with that weight the lattice at rest is nearly isotropic, shear 3 % and stretching 5 % off. The rate is
        // parting/r².
        *rate2 += weight * parting * parting;
        *weights += weight * (r * r) * (r * r);
        (length, strength)
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, ([square, cross, pull], [rate2, weight]): Self::Partial<S>) -> Sums {
        // One by one: a closure would not be inlined, and knows nothing of the instruction set.
        let (square, cross, pull) = (square.sum().into(), cross.sum().into(), pull.sum().into());
        Sums { square, cross, pull, rate2: sum(rate2), weight: sum(weight) }
    }
}

/// The system's resistance: springs between particles, friction with walls.
struct Springs<'a> {
    strength: &'a Slopes,
    sums: &'a [Sums],
    wall: Friction<'a>,
}

impl Resistance for Springs<'_> {
    fn blocks(&self, rows: &Rows, mass: &[f32], out: &mut [[Vec4; 3]]) {
        let mut sums = self.sums.to_vec();
        rows.each_near_walls(&WallBlocks(&self.wall), &mut sums, |sums, of_walls| {
            sums.square += of_walls.square;
            sums.cross += of_walls.cross;
            sums.pull += of_walls.pull;
        });
        let rows = (out, &sums, mass).into_par_iter().with_min_len(4096);
        rows.for_each(|(out, sums, &mass)| {
            let (square, cross) = (sums.square, sums.cross);
            let block = Mat3::from_cols(
                Vec3::new(square.x, cross.z, cross.y),
                Vec3::new(cross.z, square.y, cross.x),
                Vec3::new(cross.y, cross.x, square.z),
            );
            let per_mass = 1.0 / mass;
            let inverse = (block * per_mass + Mat3::IDENTITY).inverse() * per_mass;
            *out = [
                inverse.x_axis.extend(sums.pull.x),
                inverse.y_axis.extend(sums.pull.y),
                inverse.z_axis.extend(sums.pull.z),
            ];
        });
    }

    fn product(&self, rows: &Rows, mass: &[f32], walls_move: bool, out: &mut [Vec4]) {
        rows.sum_sloped(&SpringProduct(mass), self.strength, out);
        rows.each_near_walls(&WallProduct { wall: &self.wall, walls_move }, out, |out, of_walls| {
            *out += of_walls;
        });
    }
}

/// m v + Σ Δt² K (v_ij·x) x.
struct SpringProduct<'a>(&'a [f32]);

impl SlopedSum for SpringProduct<'_> {
    const OF_OTHERS: bool = false;
    type Partial<S: Simd> = Lanes3<S>;
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, own: &Own, pair: &SlopedPair<S>, partial: &mut Lanes3<S>) {
        let simd = pair.gradient_over_r.simd;
        let velocity = Lanes3::splat(simd, own.velocity.truncate().into()) - pair.velocity;
        // Not a slope here, but Δt² K.
        *partial = *partial + pair.x * (pair.gradient_over_r * velocity.dot(pair.x));
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, own: &Own, partial: Lanes3<S>) -> Vec4 {
        let [x, y, z] = partial.sum();
        (own.velocity.truncate() * self.0[own.index] + Vec3::new(x, y, z)).extend(0.0)
    }
}

/// The walls' part of it.
struct WallProduct<'a> {
    wall: &'a Friction<'a>,
    walls_move: bool,
}

impl Sum for WallProduct<'_> {
    type Partial<S: Simd> = Lanes3<S>;
    type Total = Vec4;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> Lanes3<S> {
        Lanes3::zero(simd)
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, _pair: &Pair<S>, _partial: &mut Lanes3<S>) {}

    #[inline(always)]
    fn add_walls<S: Simd>(&self, own: &Own, wall: &WallPair<S>, partial: &mut Lanes3<S>) {
        let mut velocity = Lanes3::splat(wall.simd, own.velocity.truncate().into());
        if self.walls_move {
            velocity = velocity - wall.velocity;
        }
        *partial = *partial + wall.x * (self.wall.of_wall(own, wall) * velocity.dot(wall.x));
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, partial: Lanes3<S>) -> Vec4 {
        let [x, y, z] = partial.sum();
        Vec4::new(x, y, z, 0.0)
    }
}

/// The walls' part of a particle's own block, and of what is given: friction with the wall's own velocity.
struct WallBlocks<'a>(&'a Friction<'a>);

impl Sum for WallBlocks<'_> {
    type Partial<S: Simd> = [Lanes3<S>; 3];
    type Total = Sums;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> [Lanes3<S>; 3] {
        [Lanes3::zero(simd); 3]
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, _pair: &Pair<S>, _partial: &mut [Lanes3<S>; 3]) {}

    #[inline(always)]
    fn add_walls<S: Simd>(&self, own: &Own, wall: &WallPair<S>, partial: &mut [Lanes3<S>; 3]) {
        let ([square, cross, pull], x) = (partial, wall.x);
        let strength = self.0.of_wall(own, wall);
        *square = *square + Lanes3 { x: x.x * x.x, y: x.y * x.y, z: x.z * x.z } * strength;
        *cross = *cross + Lanes3 { x: x.y * x.z, y: x.x * x.z, z: x.x * x.y } * strength;
        *pull = *pull + x * (strength * wall.velocity.dot(x));
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, [square, cross, pull]: [Lanes3<S>; 3]) -> Sums {
        let (square, cross, pull) = (square.sum().into(), cross.sum().into(), pull.sum().into());
        Sums { square, cross, pull, ..Sums::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Checkpoint;
    use crate::columns::{MASS, POSITION};
    use crate::scene::{self, Scene};
    use crate::world::World;
    use glam::DVec3;

    fn load(text: &str) -> Scene {
        scene::load("springs", text, &[]).unwrap_or_else(|p| panic!("{}", p.plain())).0
    }

    /// A ball in space, of this stiffness.
    fn blob(springs: &str) -> Scene {
        load(&format!(
            r#"
            world.gravity = [0, 0, 0]
            sph.spacing = 0.01
            time.until = 1
            [[body]]
            name = "blob"
            density = 1000
            jitter = 0.1
            shape.sphere = {{ centre = [0, 0, 0], radius = 0.05 }}
            [body.behaviours]
            yielding-springs = {{ {springs} }}
            "#
        ))
    }

    /// Squeezes it along y.
    fn squeeze(world: &mut World, rate: f32) {
        world.particles.update(&VELOCITY, |velocity, particles| {
            for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                *v = Vec4::new(0.5 * x.x, -x.y, 0.5 * x.z, 0.0) * rate + Vec4::new(0.1, 0.0, 0.2, 0.0);
            }
        });
    }

    fn sums(world: &World) -> (DVec3, DVec3, f64) {
        let p = &world.particles;
        let rows = p.get(&POSITION).iter().zip(p.get(&VELOCITY)).zip(p.get(&MASS));
        rows.fold((DVec3::ZERO, DVec3::ZERO, 0.0), |(along, around, energy), ((x, v), &m)| {
            let (x, v, m) = (x.truncate().as_dvec3(), v.truncate().as_dvec3(), f64::from(m));
            (along + v * m, around + x.cross(v) * m, energy + 0.5 * m * v.length_squared())
        })
    }

    /// At the step of a flow of 0.2 m/s, 2 ms, with a modulus 10 and 10,000 times that of the softest: explicit steps would
    /// have to be 20 times shorter.
    #[test]
    fn springs_of_any_stiffness_keep_momentum_and_make_no_energy() {
        for modulus in [500.0, 5e3, 5e6] {
            let mut world = World::new(&blob(&format!(
                "shear_modulus = {modulus}, history_modulus = {modulus}, yield_strain = 0.05"
            )));
            squeeze(&mut world, 4.0);
            let (along, around, energy) = sums(&world);
            for _ in 0..200 {
                world.step(2e-3).expect("a step");
                // What has gone into springs may come back; more than there was may not.
                let now = sums(&world).2;
                assert!(now < 1.001 * energy, "{modulus}: {now} of {energy}");
            }
            let (along_now, around_now, _) = sums(&world);
            // f32 round-off over 200 steps.
            assert!(
                (along_now - along).length() < 1e-4 * along.length(),
                "{modulus}: {along} to {along_now}"
            );
            assert!((around_now - around).length() < 1e-4 * 0.05 * along.length(), "{modulus}: {around_now}");
        }
    }

    /// Sheared by a strain below the yield strain: the stress is G times it. The lattice is periodic, and so without ends.
    #[test]
    fn a_small_shear_meets_the_modulus() {
        for (dimensions, box_of) in [
            (2, "min = [0, 0], max = [0.2, 0.2], periodic = [\"x\", \"y\"]"),
            (3, "min = [0, 0, 0], max = [0.1, 0.1, 0.1], periodic = [\"x\", \"y\", \"z\"]"),
        ] {
            let shape = box_of.split(", periodic").next().expect("a box");
            let mut world = World::new(&load(&format!(
                r#"
                dimensions = {dimensions}
                world.gravity = [0, 0{zero}]
                world.box = {{ {box_of} }}
                sph.spacing = 0.01
                time.until = 1
                [[body]]
                name = "block"
                density = 1000
                shape.box = {{ {shape} }}
                [body.behaviours]
                yielding-springs = {{ shear_modulus = 1000, history_modulus = 0 }}
                "#,
                zero = if dimensions == 3 { ", 0" } else { "" }
            )));
            // A standing wave u = a sin(ky) along x swings at ω = k √(G/ρ).
            let length = if dimensions == 2 { 0.2 } else { 0.1 };
            let k = std::f32::consts::TAU / length;
            let omega = k * 1.0; // √(1000 Pa / 1000 kg/m³) = 1 m/s
            let amplitude = 1e-3;
            world.particles.update(&VELOCITY, |velocity, particles| {
                for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                    *v = Vec4::new(amplitude * (k * x.y).sin(), 0.0, 0.0, 0.0);
                }
            });
            let swing = |world: &World| -> f32 {
                let rows = world.particles.get(&VELOCITY).iter().zip(world.particles.get(&POSITION));
                rows.map(|(v, x)| v.x * (k * x.y).sin()).sum()
            };
            let start = swing(&world);
            let dt = 0.01 / omega;
            let mut crossing = 0.0;
            for step in 1..400 {
                let before = swing(&world);
                world.step(f64::from(dt)).expect("a step");
                let now = swing(&world);
                if now < 0.0 {
                    crossing = (step as f32 - 1.0 + before / (before - now)) * dt;
                    break;
                }
            }
            assert!(start > 0.0);
            let quarter = 0.5 * std::f32::consts::PI / omega;
            // Ten or twenty particles to a wave: springs of the length 2Δx see less of it, by (kΔx)²/6.
            assert!((crossing / quarter - 1.0).abs() < 0.06, "{dimensions}-D: {crossing} for {quarter}");
        }
    }

    #[test]
    fn springs_appear_yield_and_break() {
        let scene = load(
            r#"
            world.gravity = [0, 0, 0]
            sph.spacing = 0.01
            sph.support = 2
            time.until = 1
            [[body]]
            name = "a"
            density = 1000
            shape.box = { min = [0, 0, 0], max = [0.01, 0.01, 0.01] }
            [body.behaviours.yielding-springs]
            shear_modulus = 1
            history_modulus = 0
            yield_strain = 0.2
            plasticity = 1e3
            [[body]]
            name = "b"
            density = 1000
            shape.box = { min = [0.03, 0, 0], max = [0.04, 0.01, 0.01] }
            [body.behaviours.yielding-springs]
            shear_modulus = 1
            history_modulus = 0
            yield_strain = 0.2
            plasticity = 1e3
            "#,
        );
        let mut world = World::new(&scene);
        let gap = |world: &World| {
            let x = world.particles.get(&POSITION);
            (x[0] - x[1]).length()
        };
        let move_to = |world: &mut World, to: f32| {
            let speed = (to - gap(world)) / 0.1;
            let sign = (world.particles.get(&POSITION)[1].x - world.particles.get(&POSITION)[0].x).signum();
            for _ in 0..100 {
                world.particles.get_mut(&VELOCITY)[0] = Vec4::ZERO;
                world.particles.get_mut(&VELOCITY)[1] = Vec4::new(sign * speed, 0.0, 0.0, 0.0);
                world.step(1e-3).expect("a step");
            }
        };
        let length = |world: &World| world.structure.ties.pairs().next().map(|(_, _, length)| length);
        assert_eq!((world.particles.len(), length(&world)), (2, None));
        move_to(&mut world, 0.015);
        move_to(&mut world, 0.015);
        // It appeared at the support, 0.02 m, and has yielded to 0.015/(1 − 0.2).
        let squeezed = length(&world).expect("a spring");
        assert!((squeezed - 0.01875).abs() < 2e-4, "{squeezed}");
        move_to(&mut world, 0.019);
        // Within the yield strain nothing flows.
        assert_eq!(length(&world), Some(squeezed));
        move_to(&mut world, 0.025);
        assert_eq!(length(&world), None);
    }

    #[test]
    fn both_ends_agree_and_a_resumed_run_makes_the_same_bits() {
        let scene = blob("shear_modulus = 2000, history_modulus = 20000, onset = 0.5");
        let mut straight = World::new(&scene);
        squeeze(&mut straight, 6.0);
        straight.advance_to(0.04).expect("steps");
        straight.forget_neighbours();
        let mut resumed = World::new(&scene);
        resumed.restore(Checkpoint::of(&scene, &straight, 1)).expect("a checkpoint that fits");
        assert!(straight.structure.ties.count() > 10 * straight.particles.len());
        // In the order of the particles, and in that of ids.
        let ties = |world: &World| -> Vec<(u32, u32, u32)> {
            let mut ties: Vec<_> =
                world.structure.ties.pairs().map(|(a, b, l)| (a, b, l.to_bits())).collect();
            ties.sort_unstable();
            ties
        };
        assert_eq!(ties(&straight), ties(&resumed));
        for world in [&mut straight, &mut resumed] {
            world.advance_to(0.08).expect("steps");
        }
        let bits = |world: &World| -> Vec<[u32; 4]> {
            world.particles.get(&POSITION).iter().map(|p| p.to_array().map(f32::to_bits)).collect()
        };
        assert_eq!(bits(&straight), bits(&resumed));
        assert_eq!(straight.particles.get(&STIFFNESS), resumed.particles.get(&STIFFNESS));
        let stiffest = straight.particles.get(&STIFFNESS).iter().copied().fold(0.0, f32::max);
        assert!(stiffest > 4000.0, "{stiffest}");
    }

    #[test]
    fn turning_is_no_strain() {
        let mut world = World::new(&blob("shear_modulus = 2000, history_modulus = 20000, onset = 0"));
        world.particles.update(&VELOCITY, |velocity, particles| {
            for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                *v = Vec3::new(0.0, 0.0, 2.0).cross(x.truncate()).extend(0.0);
            }
        });
        world.step(1e-3).expect("a step");
        let fastest = world.particles.get(&STRAIN_RATE).iter().copied().fold(0.0, f32::max);
        assert!(fastest < 1e-4 * 2.0, "{fastest}");
        squeeze(&mut world, 1.0);
        world.step(1e-3).expect("a step");
        // √(2 e:e) of (½, −1, ½)/s is √3/s.
        let places = world.particles.get(&POSITION).iter().map(|x| x.length_squared()).enumerate();
        let (middle, _) = places.min_by(|a, b| a.1.total_cmp(&b.1)).expect("some");
        let rate = world.particles.get(&STRAIN_RATE)[middle];
        // Few neighbours, and not quite in a lattice.
        assert!((rate - 3f32.sqrt()).abs() < 0.25, "{rate}");
    }
}
