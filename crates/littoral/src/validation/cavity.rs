//! The lid-driven cavity: a square of fluid under a lid that glides along, against the table of Ghia, Ghia & Shin.
//!
//! The flow is steady in the end; single particles are not, so velocities are averaged over several moments. At a
//! station they come from a linear fit through the particles near it and the walls' surfaces, weighted by
//! Wendland's kernel: exact for a linear flow, also beside a wall.

use glam::{DMat3, DVec2, DVec3};

use super::{Check, Tamper, Validation, world};
use crate::columns::{POSITION, VELOCITY};
use crate::step::StepError;
use crate::world::World;

pub static CAVITY: Validation = Validation {
    name: "cavity",
    what: "lid-driven cavity at Re = 100: velocities along both centre lines, against Ghia, Ghia & Shin (1982)",
    // Stated by whoever computes this flow with particles: a few per cent of the lid's speed.
    run: |tamper| {
        cavity(&Flow { reynolds: 100.0, across: 40, settled: 10.0, start: None, tolerance: 0.03 }, tamper)
    },
};

pub static CAVITY_FAST: Validation = Validation {
    name: "cavity-1000",
    what: "the same at Re = 1000, from a coarser run's flow",
    run: |tamper| {
        // Too slow a flow: what little the solve dissipates is as much as this fluid's own friction. Finer is better.
        let start = Some((32, 20.0));
        cavity(&Flow { reynolds: 1000.0, across: 48, settled: 10.0, start, tolerance: 0.2 }, tamper)
    },
};

pub static CAVITY_MEMORY: Validation = Validation {
    name: "cavity-memory",
    what: "the same at Re = 100 with friction that remembers: the steady flow stays as it is",
    run: |tamper| {
        let flow = |memory: &str| -> Result<_, StepError> {
            let mut world = at_rest(100.0, 24, memory, tamper);
            mean_velocities(&mut world, 24, 8.0)
        };
        let without = flow("")?;
        let mut checks = Vec::new();
        for (name, memory) in [
            ("10 steps", "[body.behaviours.viscous-memory]"),
            (
                "the whole past, fading over 0.03 s",
                "[body.behaviours.viscous-memory]\nreach = \"whole\"\nhorizon = 0.03",
            ),
        ] {
            let with = flow(memory)?;
            let change = |which: usize| {
                with.iter().zip(&without).map(|(a, b)| (a[which] - b[which]).abs()).fold(0.0, larger)
            };
            // Two runs differ by about 1 %, by what single particles do at the moments that are averaged. And the mean of a velocity
            // that turns lags: by a third of the window, some 0.03 s, in a flow that turns in about a second.
            let label = |line: &str| format!("largest change of {line}, over the lid's speed ({name})");
            checks.push(Check::below(label("u along the vertical centre line"), "", change(0), 0.03));
            checks.push(Check::below(label("v along the horizontal centre line"), "", change(1), 0.03));
        }
        Ok(checks)
    },
};

struct Flow {
    reynolds: f64,
    /// Particles across the cavity.
    across: u32,
    /// When the flow has become steady, s; the lid passes the cavity once a second.
    settled: f64,
    /// A coarser flow to start from, which takes less time to become nearly steady: particles across, and until when, s.
    start: Option<(u32, f64)>,
    /// Of the velocity, as a part of the lid's.
    tolerance: f64,
}

/// Moments that are averaged, and the time between them, s.
const MOMENTS: u32 = 5;
const BETWEEN: f64 = 0.5;

/// The fluid at rest.
fn at_rest(reynolds: f64, across: u32, more: &str, tamper: &Tamper) -> World {
    let text = format!(
        r#"
        dimensions = 2
        [world]
        gravity = [0, 0]
        box = {{ min = [0, 0], max = [1, 1] }}
        wall_velocity = {{ "+y" = [1, 0] }}
        [sph]
        spacing = {}
        support = 3
        kernel = "wendland"
        [solver]
        shift = true
        [time]
        until = 100
        [[body]]
        name = "fluid"
        density = 1
        shape.box = {{ min = [0, 0], max = [1, 1] }}
        [body.behaviours.incompressible]
        [body.behaviours.viscosity]
        dynamic_viscosity = {}
        {more}
        "#,
        1.0 / f64::from(across),
        1.0 / reynolds
    );
    world(&text, tamper)
}

fn cavity(flow: &Flow, tamper: &Tamper) -> Result<Vec<Check>, StepError> {
    let mut world = at_rest(flow.reynolds, flow.across, "", tamper);
    if let Some((across, until)) = flow.start {
        let mut coarse = at_rest(flow.reynolds, across, "", tamper);
        coarse.advance_to(until)?;
        let points = points(&coarse, across);
        world.particles.update(&VELOCITY, |velocity, particles| {
            for (v, x) in velocity.iter_mut().zip(particles.get(&POSITION)) {
                let place = x.truncate().truncate().as_dvec2();
                *v = velocity_at(&points, place, 2.5 / f64::from(across)).as_vec2().extend(0.0).extend(0.0);
            }
        });
        world.clock.speed = 1.0;
    }
    let means = mean_velocities(&mut world, flow.across, flow.settled)?;
    let column = usize::from(flow.reynolds > 100.0);
    let errors = means.iter().zip(&GHIA).map(|(mean, row)| {
        let (u, v) = (mean[0] - row.u[column], mean[1] - row.v[column]);
        [u.abs(), v.abs()]
    });
    let worst = |which: usize| errors.clone().map(|error| error[which]).fold(0.0, larger);
    let label =
        |line: &str| format!("largest error of {line}, over the lid's speed (Re = {})", flow.reynolds);
    Ok(vec![
        Check::below(label("u along the vertical centre line"), "", worst(0), flow.tolerance),
        Check::below(label("v along the horizontal centre line"), "", worst(1), flow.tolerance),
    ])
}

/// u and v at the stations of the table, averaged over some moments from `settled` on, s.
fn mean_velocities(
    world: &mut World,
    across: u32,
    settled: f64,
) -> Result<[[f64; 2]; GHIA.len()], StepError> {
    let reach = 2.5 / f64::from(across);
    let mut means = [[0.0; 2]; GHIA.len()];
    for moment in 0..MOMENTS {
        world.advance_to(settled + BETWEEN * f64::from(moment))?;
        let points = points(world, across);
        for (mean, row) in means.iter_mut().zip(&GHIA) {
            let share = 1.0 / f64::from(MOMENTS);
            mean[0] += share * velocity_at(&points, DVec2::new(0.5, row.y), reach).x;
            mean[1] += share * velocity_at(&points, DVec2::new(row.x, 0.5), reach).y;
        }
    }
    Ok(means)
}

/// The larger of both; not a number, once either is.
fn larger(worst: f64, error: f64) -> f64 {
    if error > worst || error.is_nan() { error } else { worst }
}

/// Places and velocities of all particles, and of points on the walls' surfaces.
pub fn points(world: &World, across: u32) -> Vec<(DVec2, DVec2)> {
    let p = &world.particles;
    let rows = p.get(&POSITION).iter().zip(p.get(&VELOCITY));
    let particles =
        rows.map(|(x, v)| (x.truncate().truncate().as_dvec2(), v.truncate().truncate().as_dvec2()));
    let walls = (0..across).flat_map(|k| {
        let s = (f64::from(k) + 0.5) / f64::from(across);
        let rest = [DVec2::new(s, 0.0), DVec2::new(0.0, s), DVec2::new(1.0, s)].map(|x| (x, DVec2::ZERO));
        rest.into_iter().chain([(DVec2::new(s, 1.0), DVec2::X)])
    });
    particles.chain(walls).collect()
}

/// The velocity at a place: the constant term of a linear fit through the points within reach.
pub fn velocity_at(points: &[(DVec2, DVec2)], at: DVec2, reach: f64) -> DVec2 {
    let (mut moments, mut sums) = (DMat3::ZERO, [DVec3::ZERO; 2]);
    for (x, v) in points {
        let d = (*x - at) / reach;
        let q = d.length();
        if q < 1.0 {
            let weight = (1.0 - q).powi(4) * (1.0 + 4.0 * q);
            let basis = DVec3::new(1.0, d.x, d.y);
            moments += DMat3::from_cols(basis, basis * d.x, basis * d.y) * weight;
            sums[0] += basis * (weight * v.x);
            sums[1] += basis * (weight * v.y);
        }
    }
    let first = moments.inverse().row(0);
    DVec2::new(first.dot(sums[0]), first.dot(sums[1]))
}

/// A station of the table: u(½, y) and v(x, ½) at Re = 100 and 1000.
pub struct Station {
    pub y: f64,
    pub u: [f64; 2],
    pub x: f64,
    pub v: [f64; 2],
}

const fn station(y: f64, u: [f64; 2], x: f64, v: [f64; 2]) -> Station {
    Station { y, u, x, v }
}

/// Without the ends of the lines, where the walls' velocity is given [Ghia1982, Tables I, II].
pub const GHIA: [Station; 15] = [
    station(0.0547, [-0.03717, -0.18109], 0.0625, [0.09233, 0.27485]),
    station(0.0625, [-0.04192, -0.20196], 0.0703, [0.10091, 0.29012]),
    station(0.0703, [-0.04775, -0.22220], 0.0781, [0.10890, 0.30353]),
    station(0.1016, [-0.06434, -0.29730], 0.0938, [0.12317, 0.32627]),
    station(0.1719, [-0.10150, -0.38289], 0.1563, [0.16077, 0.37095]),
    station(0.2813, [-0.15662, -0.27805], 0.2266, [0.17507, 0.33075]),
    station(0.4531, [-0.21090, -0.10648], 0.2344, [0.17527, 0.32235]),
    station(0.5000, [-0.20581, -0.06080], 0.5000, [0.05454, 0.02526]),
    station(0.6172, [-0.13641, 0.05702], 0.8047, [-0.24533, -0.31966]),
    station(0.7344, [0.00332, 0.18719], 0.8594, [-0.22445, -0.42665]),
    station(0.8516, [0.23151, 0.33304], 0.9063, [-0.16914, -0.51550]),
    station(0.9531, [0.68717, 0.46604], 0.9453, [-0.10313, -0.39188]),
    station(0.9609, [0.73722, 0.51117], 0.9531, [-0.08864, -0.33714]),
    station(0.9688, [0.78871, 0.57492], 0.9609, [-0.07391, -0.27669]),
    station(0.9766, [0.84123, 0.65928], 0.9688, [-0.05906, -0.21388]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Turning the whole plane of scattered points leaves nothing out: a linear flow is fitted exactly, also where
    /// points lie on one side only.
    #[test]
    fn a_linear_flow_is_fitted_exactly() {
        let flow = |x: DVec2| DVec2::new(0.3 + x.x - 2.0 * x.y, 1.0 - x.x);
        let lattice = (0..400).map(|k| {
            let (i, j) = (f64::from(k % 20), f64::from(k / 20));
            DVec2::new(i + 0.3 * (7.0 * j).sin(), j + 0.3 * (5.0 * i).cos()) / 20.0
        });
        let points: Vec<_> = lattice.map(|x| (x, flow(x))).collect();
        for at in [DVec2::new(0.5, 0.5), DVec2::new(0.01, 0.4), DVec2::new(0.97, 0.98)] {
            assert!((velocity_at(&points, at, 0.125) - flow(at)).length() < 1e-9);
        }
    }
}
