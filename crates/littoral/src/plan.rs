//! What a scene will take, before it runs.

use std::f64::consts::PI;

use crate::scene::{
    Dimensions, Scene, Source, at_most, particle_count, solid_sample_count, step_limit, wall_sample_count,
};
use crate::simulation::last_frame;

/// Estimates for a scene, made without putting a single particle in place.
#[derive(Clone, Debug)]
pub struct Plan {
    /// At the start.
    pub particles: f64,
    /// From emitters, until the end of the run.
    pub emitted: f64,
    /// Boundary samples, those of solids included.
    pub walls: f64,
    /// Those of solids alone.
    pub solid_samples: f64,
    /// Memory with all particles there, bytes.
    pub bytes: f64,
    /// Memory of a particle with its list of neighbours.
    pub bytes_per_particle: f64,
    /// The time step once the flow is at its fastest, s, and what limits it.
    pub step: f64,
    pub limit: &'static str,
    pub steps: f64,
    /// Number of the last frame.
    pub frames: u64,
}

/// Columns, the rows that loops load, spare memory to sort with, and cells; measured, bytes.
const BYTES_PER_PARTICLE: f64 = 170.0;
const BYTES_PER_WALL_SAMPLE: f64 = 92.0;
/// An entry of a neighbour list, with the usual skin and the room that lists grow into, bytes.
const BYTES_PER_NEIGHBOUR: f64 = 6.0;

/// What the solve of an incompressible fluid keeps for a particle and for a neighbour, bytes.
const SOLVE_BYTES_PER_PARTICLE: f64 = 110.0;
const SOLVE_BYTES_PER_NEIGHBOUR: f64 = 6.0;

impl Plan {
    pub fn of(scene: &Scene) -> Plan {
        let (mut particles, mut emitted) = (0.0, 0.0);
        for body in &scene.bodies {
            let count = particle_count(&body.source, body.spacing, scene.dimensions, scene.time.until)
                * body.layers as f64;
            match body.source {
                Source::Shape(_) => particles += count,
                _ => emitted += at_most(count, body.maximum),
            }
        }
        let solids: f64 =
            scene.solids.iter().map(|solid| solid_sample_count(solid, &scene.sph, scene.dimensions)).sum();
        let walls = wall_sample_count(&scene.domain, &scene.sph, scene.coarsest(), scene.dimensions) + solids;
        let neighbours = match scene.dimensions {
            Dimensions::Two => PI * scene.sph.support.powi(2),
            Dimensions::Three => 4.0 / 3.0 * PI * scene.sph.support.powi(3),
        };
        let mut each = BYTES_PER_PARTICLE + BYTES_PER_NEIGHBOUR * neighbours;
        let mut used = scene.bodies.iter().flat_map(|body| &body.behaviours);
        if used.any(|own| own.schema.name == "incompressible") {
            each += SOLVE_BYTES_PER_PARTICLE + SOLVE_BYTES_PER_NEIGHBOUR * neighbours;
        }
        let (step, limit) = longest_step(scene);
        Plan {
            particles,
            emitted,
            walls,
            solid_samples: solids,
            bytes_per_particle: each,
            bytes: (particles + emitted) * each + walls * BYTES_PER_WALL_SAMPLE,
            step,
            limit,
            steps: (scene.time.until / step).ceil(),
            frames: last_frame(&scene.time),
        }
    }
}

fn longest_step(scene: &Scene) -> (f64, &'static str) {
    let time = &scene.time;
    if let Some(step) = time.fixed_step {
        return (step, "fixed by the scene");
    }
    match step_limit(scene) {
        Some(limit) if limit.step * time.caution < time.maximum_step => {
            (limit.step * time.caution, limit.reason)
        }
        _ => (time.maximum_step, "no longer than a frame, or than `time.maximum_step`"),
    }
}
