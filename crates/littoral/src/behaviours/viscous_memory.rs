//! Friction with a memory: viscous forces act on remembered velocities [OzgenSumengen2013, 3.2; Ozgen2013, ch. 4].
//!
//! Fractional SPH puts D^q of the positions in the place of the velocities of the viscous force, f = μ_q ∇² D^q x. D^q x is a sum of past
//! velocities with weights K(τ) ∝ τ^−q, and μ_q has a unit of its own, Pa·s^q. In a steady flow that amounts to a
//! viscosity of μ_q T^{1−q}/Γ(2−q) over a window of T seconds: it depends on the window, and on its steps. Here the sum is divided by that of its
//! weights: v̄ = D^q x / D^q t is a mean of the particle's past velocities, μ keeps its unit and its value, f = μ ∇²v̄, and particles that keep
//! their velocity feel nothing of it. With q → 1 only the present counts, and v̄ = v.
//!
//! Every friction that is a sum over differences of velocities takes v̄ in their place, `viscosity`, `artificial-viscosity` and `implicit-viscosity`, under any
//! pressure. It stays antisymmetric: momentum is kept. Where only colliding flows are to remember, v̄ is blended in by how far the neighbours' velocities
//! disagree, 1 − |Σ V W v|/Σ V W |v|: 0 in a uniform stream, 1 where they cancel. (The paper speaks of "significant variations in velocity", and gives no number.)
//! Kept honest by `littoral validate cavity-memory`.

use glam::Vec4;
use rayon::prelude::*;

use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit};
use crate::behaviours::past::{self, number, reach};
use crate::behaviours::{Around, Behaviour};
use crate::columns::{VELOCITY, VISCOUS_MEAN, VISCOUS_PAST, VISCOUS_VELOCITY};
use crate::kernels::Kernel;
use crate::memory::{MOST_COLUMNS, Measure, PastColumns, Reach, Remembers};
use crate::pair::{Own, Pair, Sum, WallPair};
use crate::particles::{Particles, Vectors};
use crate::resolve::Resolved;
use crate::scene::Body;
use crate::simd::*;
use crate::solve::fractional::{Of, Rule, window};

pub static SCHEMA: Schema = Schema {
    name: "viscous-memory",
    summary: "friction acts on a mean of past velocities, the recent ones weighing most (fractional SPH)",
    law: "v̄ = D^q x / D^q t in the place of v in every friction",
    half_weight: "friction acts on the mean of v and v̄",
    reference: "OzgenSumengen2013, Eqs. 7, 9; Ozgen2013, ch. 4",
    properties: &[
        past::ORDER,
        past::REACH,
        past::steps(10.0),
        Property {
            name: "horizon",
            meaning: "time T over which the whole past fades, as e^(−τ/T)",
            kind: Kind::Number { unit: Unit::Second, default: Default::Value(0.02), min: 1e-9, max: 1e9 },
        },
        past::TOLERANCE,
        Property {
            name: "where",
            meaning: "which friction remembers: all of it, or where velocities of neighbours disagree",
            kind: Kind::Choice { options: &["everywhere", "collisions"], default: 0 },
        },
        Property {
            name: "threshold",
            meaning: "disagreement at which flows count as colliding; at twice of it they do so fully",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.1), min: 1e-3, max: 1.0 },
        },
    ],
};

/// Frictions that it changes: explicit ones, and the one that is solved for.
pub const FRICTIONS: [&str; 3] = ["viscosity", "artificial-viscosity", IMPLICIT];
pub const IMPLICIT: &str = "implicit-viscosity";

pub(super) static COLUMNS: PastColumns<Vectors> =
    PastColumns { source: &VELOCITY, past: &VISCOUS_PAST, result: &VISCOUS_MEAN };

pub struct ViscousMemory;

impl Behaviour for ViscousMemory {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn require_columns(&self, particles: &mut Particles) {
        particles.require(&VISCOUS_VELOCITY);
    }

    fn remembers(&self, now: &Resolved) -> Option<Remembers<Vectors>> {
        let used = now.uses().next()?;
        Some(Remembers {
            order: number(used, "order"),
            of: Of::Rates,
            reach: reach(used),
            measure: Measure::Mean,
            columns: &COLUMNS,
        })
    }

    fn prepare(&self, now: &Resolved, around: &Around, particles: &mut Particles) {
        let (weight, threshold) = (now.weight().coefficient(), now.field("threshold").coefficient());
        let only_collisions = now.field("where");
        let mut disagreement = Vec::new();
        if only_collisions.max() > 0.0 {
            disagreement.resize(particles.len(), 0.0);
            around.rows.sum(&Disagreement(&around.discretisation.density), &mut disagreement);
        }
        particles.update(&VISCOUS_VELOCITY, |out, particles| {
            let (velocity, mean) = (particles.get(&VELOCITY), particles.get(&VISCOUS_MEAN));
            out.par_iter_mut().with_min_len(8192).enumerate().for_each(|(i, out)| {
                let mut share = weight.at(i);
                if only_collisions.at(i) > 0.0 {
                    share *= (disagreement[i] / threshold.at(i) - 1.0).clamp(0.0, 1.0);
                }
                *out = (velocity[i] + (mean[i] - velocity[i]) * share).with_w(share);
            });
        });
    }
}

/// By how much shorter explicit steps of friction must be than without a memory: 1 where they need not be.
///
/// A mode of the flow that friction damps by a part a of its velocity in each step follows v ← v − a Σ w_k v_k, stable for a < 2
/// without a memory. With one, the fastest modes, which change their sign from step to step, are hardly remembered; but a force
/// that comes late feeds a slow swing. For half-derivatives the former wins, and steps could be longer once the window has
/// filled; for low orders the latter does. No window is full at the start, so that the shortest counts too.
pub fn ease(used: &BehaviourUse) -> f64 {
    let (steps, rule) = match reach(used) {
        Reach::Window { steps, rule } => (steps, rule),
        // Long enough that more steps change little.
        Reach::Whole { .. } | Reach::Fading { .. } => (2 * MOST_COLUMNS, Rule::Trapezoid),
    };
    let order = number(used, "order");
    let limits = (1..=steps).map(|steps| largest_damping(&mean_weights(order, rule, steps), false));
    0.5 * limits.fold(2.0, f64::min)
}

/// Whether friction of any strength can be solved for with this memory, v ← v − a Σ w_k v_k with the new velocity among them. A window that is cut off
/// while it still weighs much feeds a swing of its own length. A past that fades does not: looked at for q from 0.1 to 0.7 and
/// fading over 0.3 to 10 steps.
pub fn is_sound_implicitly(used: &BehaviourUse) -> bool {
    let Reach::Window { steps, rule } = reach(used) else { return true };
    let order = number(used, "order");
    let is_sound = |steps| largest_damping(&mean_weights(order, rule, steps), true) == f64::INFINITY;
    (1..=steps).all(is_sound)
}

/// The same for a body: 1 if it has no memory, or no friction.
pub fn ease_of(body: &Body) -> f64 {
    body.behaviours.iter().find(|used| std::ptr::eq(used.schema, &SCHEMA)).map_or(1.0, ease)
}

/// Weights of a mean over equal steps, newest first.
pub fn mean_weights(q: f64, rule: Rule, steps: usize) -> Vec<f64> {
    let weights = window(q, rule, Of::Rates, &vec![1.0; steps]);
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Smallest a for which v ← v − a Σ w_k v_k neither grows nor decays; infinite where none does. The newest v_k is the old velocity, or
/// the new one (implicit).
///
/// With v = zⁿ, a = (1 − z)/Σ w_k z^−k, or 1/z of that; the limit is the smallest positive a that a z of length 1 makes real.
pub fn largest_damping(weights: &[f64], is_implicit: bool) -> f64 {
    let samples = 512;
    let at = |k: u32| {
        let angle = std::f64::consts::PI * f64::from(k) / f64::from(samples);
        let (mut re, mut im) = (0.0, 0.0);
        for (k, weight) in weights.iter().enumerate() {
            re += weight * libm::cos(angle * k as f64);
            im -= weight * libm::sin(angle * k as f64);
        }
        let gap = 1.0 - libm::cos(angle);
        let (top_re, top_im) = (if is_implicit { -gap } else { gap }, -libm::sin(angle));
        let square = re * re + im * im;
        ((top_re * re + top_im * im) / square, (top_im * re - top_re * im) / square)
    };
    let mut smallest = match at(samples).0 {
        alternating if alternating > 0.0 => alternating,
        _ => f64::INFINITY,
    };
    let mut before = at(1);
    for k in 2..samples {
        let now = at(k);
        if before.1 * now.1 < 0.0 && now.0 > 0.0 {
            let between = before.1 / (before.1 - now.1);
            smallest = smallest.min(before.0 + between * (now.0 - before.0));
        }
        before = now;
    }
    smallest
}

/// 1 − |Σ V W v|/Σ V W |v|.
struct Disagreement<'a>(&'a Kernel);

impl Sum for Disagreement<'_> {
    type Partial<S: Simd> = (Lanes3<S>, Lanes<S>);
    type Total = f32;

    #[inline(always)]
    fn start<S: Simd>(&self, simd: S) -> (Lanes3<S>, Lanes<S>) {
        (Lanes3::zero(simd), splat(simd, 0.0))
    }

    #[inline(always)]
    fn add<S: Simd>(&self, _own: &Own, pair: &Pair<S>, (flow, speed): &mut (Lanes3<S>, Lanes<S>)) {
        let weight = pair.volume * pair.own_w(self.0);
        *flow = *flow + pair.velocity * weight;
        *speed += pair.velocity.dot(pair.velocity).sqrt() * weight;
    }

    #[inline(always)]
    fn add_walls<S: Simd>(&self, _own: &Own, _wall: &WallPair<S>, _: &mut (Lanes3<S>, Lanes<S>)) {}

    #[inline(always)]
    fn finish<S: Simd>(&self, _own: &Own, (flow, speed): (Lanes3<S>, Lanes<S>)) -> f32 {
        let [x, y, z] = flow.sum();
        1.0 - Vec4::new(x, y, z, 0.0).length() / sum(speed).max(f32::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::Checkpoint;
    use crate::columns::{ID, MASS, POSITION};
    use crate::scene;
    use crate::world::World;

    #[test]
    fn damping_limits_are_those_of_the_recurrence() {
        assert!((largest_damping(&[1.0], false) - 2.0).abs() < 1e-3);
        for (q, steps) in [(0.1, 5), (0.3, 10), (0.5, 3), (0.5, 10), (0.9, 20)] {
            let weights = mean_weights(q, Rule::Trapezoid, steps);
            let limit = largest_damping(&weights, false);
            let grows = |a: f64| {
                let mut past = vec![0.0; steps + 1];
                past[0] = 1.0;
                for _ in 0..20_000 {
                    let force: f64 = past.iter().zip(&weights).map(|(v, w)| v * w).sum();
                    past.rotate_right(1);
                    past[0] = past[1] - a * force;
                }
                past[0].abs() > 1.0 || past[0].is_nan()
            };
            assert!(!grows(0.98 * limit) && grows(1.02 * limit), "q = {q}, {steps} steps: {limit}");
        }
    }

    /// The same where the new velocity is among those that are remembered.
    #[test]
    fn implicit_limits_are_those_of_the_recurrence() {
        for (q, steps) in [(0.05, 5), (0.1, 10), (0.2, 10), (0.3, 10), (0.5, 3), (0.5, 31), (0.9, 20)] {
            let weights = mean_weights(q, Rule::Trapezoid, steps);
            let grows = |a: f64| {
                let mut past = vec![0.0; steps];
                past[0] = 1.0;
                for _ in 0..20_000 {
                    let known: f64 = past.iter().zip(&weights[1..]).map(|(v, w)| v * w).sum();
                    let new = (past[0] - a * known) / (1.0 + a * weights[0]);
                    past.rotate_right(1);
                    past[0] = new;
                }
                past[0].abs() > 1.0 || past[0].is_nan()
            };
            let limit = largest_damping(&weights, true);
            if limit == f64::INFINITY {
                assert!(![0.1, 1.0, 10.0, 1e6].into_iter().any(grows), "q = {q}, {steps} steps");
            } else {
                assert!(!grows(0.98 * limit) && grows(1.02 * limit), "q = {q}, {steps} steps: {limit}");
            }
        }
    }

    fn colliding(pressure: &str, friction: &str, memory: &str) -> World {
        World::new(&colliding_scene(pressure, friction, memory))
    }

    fn colliding_scene(pressure: &str, friction: &str, memory: &str) -> scene::Scene {
        let text = format!(
            r#"
            dimensions = 2
            [world]
            gravity = [0, 0]
            box = {{ min = [0, 0], max = [1, 1], periodic = ["x", "y"] }}
            [sph]
            spacing = 0.05
            [time]
            until = 1
            [[body]]
            name = "right"
            density = 1000
            velocity = [1, 0.2]
            shape.box = {{ min = [0, 0], max = [0.5, 1] }}
            behaviours.{pressure} = {{}}
            behaviours.{friction}.dynamic_viscosity = 5
            behaviours.viscous-memory = {memory}
            [[body]]
            name = "left"
            density = 1000
            velocity = [-1, 0]
            shape.box = {{ min = [0.5, 0], max = [1, 1] }}
            behaviours.{pressure} = {{}}
            behaviours.{friction}.dynamic_viscosity = 5
            behaviours.viscous-memory = {memory}
            "#
        );
        scene::load("test", &text, &[]).unwrap_or_else(|problems| panic!("{problems}")).0
    }

    fn momentum(world: &World) -> Vec4 {
        let p = &world.particles;
        p.get(&MASS).iter().zip(p.get(&VELOCITY)).map(|(&m, &v)| v * m).sum()
    }

    #[test]
    fn momentum_is_kept_under_every_pressure_and_friction() {
        for pressure in ["incompressible", "tait", "gas"] {
            for friction in FRICTIONS {
                for memory in ["{}", "{ reach = \"whole\", horizon = 0.05 }", "{ where = \"collisions\" }"] {
                    let mut world = colliding(pressure, friction, memory);
                    let before = momentum(&world);
                    world.advance_to(0.02).unwrap();
                    let after = momentum(&world);
                    // f32 round-off of 400 particles of 2.5 kg over some tens of steps; pressures are solved to 10⁻³.
                    let change = (after - before).length() / 1000.0;
                    assert!(change < 2e-4, "{pressure}, {friction}, {memory}: {before} {after}");
                }
            }
        }
    }

    #[test]
    fn a_resumed_run_remembers_the_same_bits() {
        for memory in ["{}", "{ reach = \"whole\", horizon = 0.05 }"] {
            let scene = colliding_scene("incompressible", "viscosity", memory);
            let mut world = World::new(&scene);
            world.advance_to(0.03).unwrap();
            world.forget_neighbours();
            let mut resumed = World::new(&scene);
            resumed.restore(Checkpoint::of(&scene, &world, 1)).unwrap();
            for world in [&mut world, &mut resumed] {
                world.advance_to(0.06).unwrap();
            }
            assert_eq!(world.particles.get(&VISCOUS_MEAN), resumed.particles.get(&VISCOUS_MEAN));
            assert_eq!(world.particles.get(&VELOCITY), resumed.particles.get(&VELOCITY));
        }
    }

    /// Two squares fly at each other and meet at x = 0. Largest difference between a velocity and what friction takes for it, within a
    /// spacing of that line and more than four from it.
    fn near_and_far(pressure: &str, place: &str) -> (f32, f32) {
        let body = |name: &str, from: f32, speed: f32| {
            format!(
                r#"
                [[body]]
                name = "{name}"
                density = 1000
                velocity = [{speed}, 0]
                shape.box = {{ min = [{from}, 0], max = [{}, 0.5] }}
                behaviours.{pressure} = {{}}
                behaviours.viscosity.dynamic_viscosity = 5
                behaviours.viscous-memory.where = "{place}"
                "#,
                from + 0.5
            )
        };
        let text = format!(
            "dimensions = 2\nworld.gravity = [0, 0]\nsph.spacing = 0.05\ntime.until = 1\n{}{}",
            body("right", -0.5, 1.0),
            body("left", 0.0, -1.0)
        );
        let scene = scene::load("test", &text, &[]).unwrap_or_else(|problems| panic!("{problems}")).0;
        let mut world = World::new(&scene);
        world.advance_to(0.02).unwrap();
        // Friction looks at velocities at the start of a step; a step may put particles into another order.
        let p = &world.particles;
        let mut before = vec![(Vec4::ZERO, Vec4::ZERO); p.len()];
        for (k, &id) in p.get(&ID).iter().enumerate() {
            before[id as usize] = (p.get(&POSITION)[k], p.get(&VELOCITY)[k]);
        }
        world.step(1e-4).unwrap();
        let p = &world.particles;
        let (mut near, mut far) = (0.0f32, 0.0f32);
        for (&id, &taken) in p.get(&ID).iter().zip(p.get(&VISCOUS_VELOCITY)) {
            let (place, velocity) = before[id as usize];
            let difference = (taken - velocity).truncate().length();
            if place.x.abs() < 0.05 {
                near = near.max(difference);
            } else if place.x.abs() > 0.2 {
                far = far.max(difference);
            }
        }
        (near, far)
    }

    #[test]
    fn only_flows_that_collide_remember_where_that_is_asked_for() {
        for pressure in ["tait", "incompressible"] {
            let (near, far) = near_and_far(pressure, "collisions");
            assert!(near > 0.02, "{pressure}: {near} m/s where the streams meet");
            assert_eq!(far, 0.0, "{pressure}: not a bit where they do not");
        }
        // There is something to be remembered: all of an incompressible square slows down at once.
        let (near, far) = near_and_far("incompressible", "everywhere");
        assert!(near > 0.02 && far > 0.02, "{near} {far}");
    }
}
