//! Sand: a granular material as a continuum. Its pressure is that of the common solve; its friction is the stress of
//! `solve/granular.rs`, where the equations stand.
//!
//! Where it is `porous`, the pressure by which grains rub is what they bear themselves: without that of the liquid in full pores, and with what
//! pores that are not full pull [Terzaghi1943; Bishop1959]. Moist sand stands, drenched sand slumps.
//!
//! **Limits.** The material changes no volume when it shears: neither loose nor dense packing is known, and all sand has the
//! one density it is given. Friction does not depend on the rate of shear.
//!
//! Keeps `FRICTION_AXES`, `FRICTION_SHEARS`, `WALL_FRICTION`; changes `VELOCITY`. Kept honest by `littoral validate
//! sand-repose sand-column silo wet-sand moist-column`.

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use crate::behaviour::{BehaviourUse, Default, Kind, Property, Schema, Unit, Value};
use crate::behaviours::{Around, Behaviour, Solved};
use crate::columns::{
    ACCELERATION, FRICTION_AXES, FRICTION_SHEARS, MASS, PORE_STRESS, PRESSURE, VELOCITY, VOLUME,
    WALL_FRICTION,
};
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::solids::Wrench;
use crate::solve::granular::{Friction, Stress, Symmetric, Task};
use crate::structure::Structure;

pub static SCHEMA: Schema = Schema {
    name: "sand",
    summary: "grains that rub: heaps that stay, flows that stop; needs `incompressible`, which gives the pressure",
    law: "the stress s that stops all shear, as far as |s|/√2 ≤ k p + w c lets it, k = ½(t + t/√(1 + t²)) with t = w μ; against walls |t| ≤ w μ_w N",
    half_weight: "half of all friction and cohesion",
    reference: "Narain2010; ZhuBridson2005; Lenaerts2009, 5.2",
    properties: &[
        Property {
            name: "friction",
            meaning: "coefficient of friction μ between layers that shear: the tangent of the angle of repose",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.6), min: 0.01, max: 5.0 },
        },
        Property {
            name: "cohesion",
            meaning: "shear stress c that is borne without any pressure",
            kind: Kind::Number { unit: Unit::Pascal, default: Default::Value(0.0), min: 0.0, max: 1e9 },
        },
        Property {
            name: "wall_friction",
            meaning: "coefficient of friction μ_w with walls and solids, as far as their `slip` lets them hold",
            kind: Kind::Number { unit: Unit::One, default: Default::Value(0.5), min: 0.0, max: 5.0 },
        },
        Property {
            name: "method",
            meaning: "how friction is found: the stress that stops all shear it can, or clusters of grains that move rigidly",
            kind: Kind::Choice { options: &["stress", "clusters"], default: 0 },
        },
    ],
};

pub struct Sand;

impl Behaviour for Sand {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    fn require_columns(&self, particles: &mut Particles) {
        for column in [&FRICTION_AXES, &FRICTION_SHEARS, &WALL_FRICTION] {
            particles.require(column);
        }
    }

    fn has_solve(&self, _used: &BehaviourUse) -> bool {
        true
    }

    /// Before the pressure: the friction of the last step goes on.
    fn solve(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        _pushes: &mut [Wrench],
    ) -> Option<Solved> {
        let friction = &mut structure.friction;
        find_friction(now, particles.len(), &mut friction.friction);
        let mut velocity = particles.take(&VELOCITY);
        let mut stress = std::mem::take(&mut friction.stress);
        read(particles, &mut stress);
        let task = task(around, particles);
        friction.prepare(&task);
        if Method::of(now) == Method::Stress {
            friction.begin(&task, &mut stress, &mut velocity);
        }
        friction.stress = stress;
        particles.put(&VELOCITY, velocity);
        None
    }

    fn rub(
        &self,
        now: &Resolved,
        around: &Around,
        structure: &mut Structure,
        particles: &mut Particles,
        pushes: &mut [Wrench],
    ) -> Option<Solved> {
        let friction = &mut structure.friction;
        let mut velocity = particles.take(&VELOCITY);
        let mut stress = std::mem::take(&mut friction.stress);
        let mut borne = std::mem::take(&mut friction.borne);
        borne_by_grains(particles, &mut borne);
        let task = task(around, particles);
        let pressure = &borne;
        let solved = if Method::of(now) == Method::Clusters {
            friction.solve_by_clusters(&task, pressure, &mut stress, &mut velocity)
        } else {
            let stop = (around.solver.friction_error, around.solver.iterations);
            friction.solve(&task, pressure, &mut stress, &mut velocity, stop)
        };
        if !around.solids.is_empty() {
            let centres: Vec<DVec3> = around.solids.iter().map(|solid| solid.pose.position).collect();
            let mut scratch = Vec::new();
            let mut wrenches = vec![Wrench::default(); pushes.len()];
            friction.push_solids(&task, &stress, &centres, &mut scratch, &mut wrenches);
            for (push, wrench) in pushes.iter_mut().zip(wrenches) {
                *push += wrench;
            }
        }
        write(particles, &stress);
        (friction.stress, friction.borne) = (stress, borne);
        particles.put(&VELOCITY, velocity);
        Some(solved)
    }
}

/// How friction is found. All sand of a world does it in one way: the scene's check sees to that.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Method {
    Stress,
    Clusters,
}

impl Method {
    fn of(now: &Resolved) -> Method {
        match now.uses().any(|used| matches!(used.value("method"), Value::Choice(1))) {
            true => Method::Clusters,
            false => Method::Stress,
        }
    }

    /// How often friction and pressure may take turns in a step. Each spoils what the other has found; both start from where they were, so that
    /// once is mostly enough. A column of loose sand 80 particles high between smooth walls takes three, and falls in with one or two.
    pub(super) fn passes(self) -> u32 {
        match self {
            Method::Stress => 4,
            Method::Clusters => 1,
        }
    }
}

/// Where there is sand.
pub(super) fn method(behaviours: &[Resolved]) -> Option<Method> {
    behaviours.iter().find(|now| std::ptr::eq(now.behaviour.schema(), &SCHEMA)).map(Method::of)
}

/// Friction of each particle.
fn find_friction(now: &Resolved, count: usize, out: &mut Vec<Friction>) {
    let (inner, cohesion) = (now.weighted("friction").coefficient(), now.weighted("cohesion").coefficient());
    let wall = now.weighted("wall_friction").coefficient();
    out.clear();
    out.extend((0..count).map(|i| Friction {
        inner: inner.at(i),
        cohesion: cohesion.at(i),
        wall: wall.at(i),
    }));
}

/// Which particles are sand; `None` where none can be.
pub(super) fn grains(behaviours: &[Resolved], count: usize) -> Option<Vec<bool>> {
    let now = behaviours.iter().find(|now| std::ptr::eq(now.behaviour.schema(), &SCHEMA))?;
    let weight = now.weight().coefficient();
    Some((0..count).map(|i| weight.at(i) > 0.0).collect())
}

/// Pressure that grains bear, Pa: all but that of the liquid in their pores, and what that pulls [Terzaghi1943; Bishop1959].
fn borne_by_grains(particles: &Particles, out: &mut Vec<f32>) {
    out.clear();
    out.extend_from_slice(particles.get(&PRESSURE));
    if let Some(pores) = particles.try_get(&PORE_STRESS) {
        out.iter_mut().zip(pores).for_each(|(pressure, pores)| *pressure -= pores);
    }
}

fn task<'a>(around: &Around<'a>, particles: &'a Particles) -> Task<'a> {
    Task {
        rows: around.rows,
        discretisation: around.discretisation,
        dt: around.dt,
        mass: particles.get(&MASS),
        volume: particles.get(&VOLUME),
        acceleration: particles.get(&ACCELERATION),
    }
}

fn read(particles: &Particles, stress: &mut Vec<Stress>) {
    let columns =
        (particles.get(&FRICTION_AXES), particles.get(&FRICTION_SHEARS), particles.get(&WALL_FRICTION));
    stress.resize(particles.len(), Stress::default());
    let rows = stress.par_iter_mut().with_min_len(4096).zip(columns.into_par_iter());
    rows.for_each(|(stress, (axes, shears, wall))| {
        let inner = Symmetric { axes: axes.truncate(), shears: shears.truncate() };
        *stress = Stress { inner, wall: wall.truncate() };
    });
}

fn write(particles: &mut Particles, stress: &[Stress]) {
    let mut put = |column, part: fn(&Stress) -> Vec4| {
        let rows = particles.get_mut(column).par_iter_mut().with_min_len(4096).zip(stress);
        rows.for_each(|(row, stress)| *row = part(stress));
    };
    put(&FRICTION_AXES, |stress| stress.inner.axes.extend(0.0));
    put(&FRICTION_SHEARS, |stress| stress.inner.shears.extend(0.0));
    put(&WALL_FRICTION, |stress| stress.wall.extend(0.0));
}
