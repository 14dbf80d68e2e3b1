//! Stage 10 of a step: particles come and go.
//!
//! Emitters add theirs one after the other, in the order of the bodies, each heeding those before; then sinks take
//! what is inside them. Everything is counted, so that a run can account for its volume.

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use super::crowd::Crowd;
use super::emitter::{Born, Room};
use crate::columns::{ACCELERATION, BODY, POSITION, VELOCITY, VOLUME};
use crate::scene::{Domain, Side, Sink};
use crate::world::World;

/// A sink, with what has gone into it so far.
#[derive(Clone, Debug)]
pub struct Drain {
    pub sink: Sink,
    pub count: u64,
    /// m³ (m² in 2-D).
    pub volume: f64,
}

impl Drain {
    pub fn new(sink: &Sink) -> Drain {
        Drain { sink: sink.clone(), count: 0, volume: 0.0 }
    }
}

/// Emits and drains what is due at the clock's time.
pub fn exchange(world: &mut World) {
    let mut emitters = std::mem::take(&mut world.emitters);
    let t = world.clock.time;
    let due: Vec<bool> = emitters.iter_mut().map(|emitter| emitter.advance(t)).collect();
    if due.contains(&true) {
        let mut counts = body_counts(world);
        for (emitter, _) in emitters.iter_mut().zip(due).filter(|(_, due)| *due) {
            let (min, max) = emitter.bounds(t);
            let positions = world.particles.get(&POSITION);
            let body = emitter.body as usize;
            let maximum = world.bodies[body].maximum.unwrap_or(usize::MAX);
            let domain = world.domain;
            let mut room = Room {
                crowd: Crowd::near(positions, &world.periods, min, max, emitter.clearance),
                left: maximum.saturating_sub(counts[body]),
                inside: &|place| is_inside(&domain, place),
            };
            let born = emitter.emit(t, &mut room);
            counts[body] += born.newborns.len();
            give_birth(world, emitter.body, &born);
        }
    }
    world.emitters = emitters;
    drain(world, t);
}

/// Particles of each body; not counted where nobody asks.
fn body_counts(world: &World) -> Vec<usize> {
    let mut counts = vec![0; world.bodies.len()];
    if world.bodies.iter().any(|body| body.maximum.is_some()) {
        world.particles.get(&BODY).iter().for_each(|&body| counts[body as usize] += 1);
    }
    counts
}

/// Whether a place is not behind a wall. Beyond an open side the world goes on; beyond a periodic one it begins.
pub(crate) fn is_inside(domain: &Domain, place: DVec3) -> bool {
    (0..3).all(|axis| {
        let wall = |end: usize| domain.sides[axis][end] == Side::Wall;
        (!wall(0) || place[axis] >= domain.min[axis]) && (!wall(1) || place[axis] <= domain.max[axis])
    })
}

fn give_birth(world: &mut World, body: u32, born: &Born) {
    if born.newborns.is_empty() {
        return;
    }
    let start = world.particles.len();
    world.add(body, &born.newborns, glam::Vec3::ZERO, 0.0);
    let velocities = &mut world.particles.get_mut(&VELOCITY)[start..];
    for (velocity, own) in velocities.iter_mut().zip(&born.velocities) {
        *velocity = own.as_vec3().extend(0.0);
        world.clock.speed = world.clock.speed.max(velocity.length());
    }
    // Velocity Verlet's first half kick comes before anybody has found its neighbours: weight and force fields are
    // known without them.
    let t = world.clock.time;
    let weight = world.weight_of(body, t);
    world.particles.update(&ACCELERATION, |acceleration, particles| {
        let rows = particles.get(&POSITION)[start..].iter().zip(&particles.get(&VELOCITY)[start..]);
        for (a, (x, v)) in acceleration[start..].iter_mut().zip(rows) {
            *a = weight + world.forces.at(body, *x, *v, t);
        }
    });
}

/// Removes whoever is inside a sink; the first one on the list has it.
fn drain(world: &mut World, t: f64) {
    let dimensions = world.discretisation.dimensions;
    let at_work = |drain: &Drain| drain.sink.from <= t && t < drain.sink.until;
    if !world.sinks.iter().any(at_work) {
        return;
    }
    let sinks = &world.sinks;
    let into = |p: &Vec4| {
        let takes = |drain: &Drain| at_work(drain) && super::contains(&drain.sink.shape, *p, dimensions);
        sinks.iter().position(takes)
    };
    let positions = world.particles.get(&POSITION);
    let gone: Vec<Option<usize>> = positions.par_iter().with_min_len(8192).map(into).collect();
    if gone.iter().all(Option::is_none) {
        return;
    }
    for (sink, &volume) in gone.iter().zip(world.particles.get(&VOLUME)) {
        if let Some(sink) = sink {
            world.sinks[*sink].count += 1;
            world.sinks[*sink].volume += f64::from(volume);
            world.drained += 1;
        }
    }
    let keep: Vec<bool> = gone.iter().map(Option::is_none).collect();
    world.particles.retain(&keep);
    world.neighbourhood.slack = -1.0;
}
