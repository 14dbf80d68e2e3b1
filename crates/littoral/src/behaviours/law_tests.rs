//! What must hold for every pair law: the value for two particles, momentum, and force = −gradient of energy.

use glam::{Vec3, Vec4};

use super::{Law, adhesion, artificial_viscosity, cohesion, pressure, viscosity, wall_contact};
use crate::discretisation::Discretisation;
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::resolve::Coefficient;
use crate::scene::{self, WallModel};
use crate::simd::*;

fn discretisation(dimensions: usize) -> Discretisation {
    let text = format!(
        "dimensions = {dimensions}\n[sph]\nspacing = 0.1\n[time]\nuntil = 1\n[[body]]\nname = \"b\"\ndensity = 1\nshape.box = {{ min = {0}, max = {1} }}",
        if dimensions == 2 { "[0, 0]" } else { "[0, 0, 0]" },
        if dimensions == 2 { "[1, 1]" } else { "[1, 1, 1]" }
    );
    Discretisation::new(&scene::load("test", &text, &[]).unwrap_or_else(|p| panic!("{p}")).0)
}

#[derive(Clone, Copy)]
struct Row {
    position: Vec4,
    velocity: Vec4,
    volume: f32,
    pressure: f32,
}

/// Force of `b` on `a` under a law.
fn force(law: &Law, a: Row, b: Row) -> [f32; 3] {
    let own =
        Own { index: 0, position: a.position, velocity: a.velocity, pressure: a.pressure, volume: a.volume };
    dispatch!(Level::new(), simd => {
        let x = Lanes3::splat(simd, (a.position - b.position).truncate().into());
        let pair = Pair {
            simd,
            others: &[0; LANES],
            x,
            r: x.dot(x).sqrt(),
            volume: splat(simd, b.volume),
            velocity: Lanes3::splat(simd, b.velocity.truncate().into()),
            pressure: splat(simd, b.pressure),
            shrink: None,
        };
        let f = law.force(&own, &pair);
        [f.x.to_array()[0], f.y.to_array()[0], f.z.to_array()[0]]
    })
}

/// Force on `a` of a wall sample in the place of `b`, half a spacing below a surface across z.
fn wall_force(law: &Law, a: Row, b: Row) -> [f32; 3] {
    let own =
        Own { index: 0, position: a.position, velocity: a.velocity, pressure: a.pressure, volume: a.volume };
    dispatch!(Level::new(), simd => {
        let x = Lanes3::splat(simd, (a.position - b.position).truncate().into());
        let wall = WallPair {
            simd,
            others: &[0; LANES],
            x,
            r: x.dot(x).sqrt(),
            volume: splat(simd, b.volume),
            velocity: Lanes3::splat(simd, b.velocity.truncate().into()),
            pressure: splat(simd, b.pressure),
            normal: Lanes3::splat(simd, [0.0, 0.0, 1.0]),
            depth: splat(simd, 0.05),
            holds: &[1.0],
            shrink: None,
        };
        let f = law.wall_force(&own, &wall);
        [f.x.to_array()[0], f.y.to_array()[0], f.z.to_array()[0]]
    })
}

fn laws(d: &Discretisation) -> [(&'static str, Law<'static>); 5] {
    let one = Coefficient::Uniform(0.7);
    [
        ("pressure", Law::Pressure(pressure::Law::new(d))),
        ("viscosity", Law::Viscosity(viscosity::Law::new(one, d))),
        (
            "artificial, approaching",
            Law::ArtificialViscosity(artificial_viscosity::Law::new(one, Coefficient::Uniform(1.0), d)),
        ),
        (
            "artificial, all",
            Law::ArtificialViscosity(artificial_viscosity::Law::new(one, Coefficient::Uniform(0.0), d)),
        ),
        ("cohesion", Law::Cohesion(cohesion::Law::new(one, d))),
    ]
}

fn rows(distance: f32) -> (Row, Row) {
    let a = Row {
        position: Vec4::new(0.02, -0.01, 0.03, 0.0),
        velocity: Vec4::new(0.3, -0.8, 0.1, 0.0),
        volume: 0.9e-3,
        pressure: 120.0,
    };
    let direction = Vec4::new(0.6, 0.64, 0.48, 0.0);
    let b = Row {
        position: a.position + direction * distance,
        velocity: Vec4::new(-0.5, 0.2, 0.7, 0.0),
        volume: 1.1e-3,
        pressure: 340.0,
    };
    (a, b)
}

#[test]
fn action_is_reaction() {
    for d in [discretisation(2), discretisation(3)] {
        for (name, law) in laws(&d) {
            for distance in [0.01, 0.05, 0.1, 0.15, 0.19] {
                let (a, b) = rows(distance);
                let (on_a, on_b) = (force(&law, a, b), force(&law, b, a));
                for k in 0..3 {
                    let scale = on_a.iter().map(|f| f.abs()).fold(0.0, f32::max);
                    // Differences of positions are exact; a few products may round differently.
                    assert!((on_a[k] + on_b[k]).abs() <= 4e-6 * scale, "{name}: {on_a:?} and {on_b:?}");
                }
            }
        }
    }
}

#[test]
fn nothing_acts_beyond_the_support_or_on_itself() {
    for d in [discretisation(2), discretisation(3)] {
        for (name, law) in laws(&d) {
            let (a, b) = rows(0.201);
            assert_eq!(force(&law, a, b), [0.0; 3], "{name}");
            assert_eq!(force(&law, a, a), [0.0; 3], "{name}");
        }
    }
}

/// Size of the force along the line from `b` to `a`.
fn along(law: &Law, a: Row, b: Row) -> f64 {
    let direction = (a.position - b.position).normalize();
    f64::from(Vec4::new(force(law, a, b)[0], force(law, a, b)[1], force(law, a, b)[2], 0.0).dot(direction))
}

#[test]
fn pressure_of_two_particles_is_the_gradient_of_the_energy_in_their_density() {
    // With δ_i = V_i W(0) + V_j W(r) and energy V e(δ), p = δ² de/dδ: F = −V_i V_j (p_i/δ_i² + p_j/δ_j²) W'.
    let d = discretisation(3);
    let law = Law::Pressure(pressure::Law::new(&d));
    for distance in [0.05, 0.1, 0.15] {
        let (a, b) = rows(distance);
        let slope = f64::from(d.pressure.slope_at((a.position - b.position).length()));
        let expected = -f64::from(a.volume * b.volume * (a.pressure + b.pressure)) * slope;
        assert!((along(&law, a, b) - expected).abs() < 1e-5 * expected.abs());
        assert!(expected > 0.0, "compressed particles push each other apart");
    }
}

#[test]
fn cohesion_pulls_with_the_work_of_its_surface_tension() {
    // Parting a plane: σ = (π/8) ∫ r⁴ u' dr over V² in 3-D, (1/3) ∫ r³ u' dr over V² in 2-D, u' the attraction.
    for (dimensions, power, factor) in [(2, 3, 1.0 / 3.0), (3, 4, std::f64::consts::PI / 8.0)] {
        let d = discretisation(dimensions);
        let law = Law::Cohesion(cohesion::Law::new(Coefficient::Uniform(0.7), &d));
        let n = 2000;
        let step = f64::from(d.support) / f64::from(n);
        let tension: f64 = (0..n)
            .map(|k| {
                let r = step * (f64::from(k) + 0.5);
                let (a, b) = rows(r as f32);
                -along(&law, a, b) / f64::from(a.volume * b.volume) * r.powi(power) * step
            })
            .sum();
        assert!((tension * factor - 0.7).abs() < 0.7 * 2e-3, "{dimensions}-D: {}", tension * factor);
    }
}

#[test]
fn viscosity_brings_velocities_together() {
    let d = discretisation(3);
    for (name, law) in &laws(&d)[1..4] {
        // Head on, so that all three act.
        let (mut a, mut b) = rows(0.1);
        let direction = (b.position - a.position).normalize();
        (a.velocity, b.velocity) = (direction, -direction);
        let f = force(law, a, b);
        let power = Vec4::new(f[0], f[1], f[2], 0.0).dot(a.velocity - b.velocity);
        assert!(power < 0.0, "{name} must take energy, not give it");
        // Parting: only the law for approaching pairs rests.
        (a.velocity, b.velocity) = (-direction, direction);
        let f = force(law, a, b);
        let power = Vec4::new(f[0], f[1], f[2], 0.0).dot(a.velocity - b.velocity);
        assert!(if *name == "artificial, approaching" { power == 0.0 } else { power < 0.0 }, "{name}");
    }
}

#[test]
fn adhesion_pulls_with_the_work_that_is_asked_for() {
    for dimensions in [2, 3] {
        let d = discretisation(dimensions);
        let law = Law::Adhesion(adhesion::Law::new(Coefficient::Uniform(0.7), &d));
        let cell = 0.1f32.powi(dimensions as i32);
        let row = |x: f32, y: f32, z: f32| Row {
            position: Vec4::new(x, y, z, 0.0),
            velocity: Vec4::ZERO,
            volume: cell,
            pressure: 0.0,
        };
        // All samples that a particle at this height above the uppermost layer can see.
        let side = if dimensions == 2 { 0 } else { 2 };
        let pull = |height: f32| -> f64 {
            let mut sum = 0.0;
            for (a, b) in (-2..=2).flat_map(|a| (-side..=side).map(move |b| (a, b))) {
                for layer in 0..2 {
                    let sample = row(0.1 * a as f32, 0.1 * b as f32, -0.1 * layer as f32);
                    sum -= f64::from(wall_force(&law, row(0.0, 0.0, height), sample)[2]);
                }
            }
            sum
        };
        // A column of the lattice is lifted off, until nothing holds it any more.
        let step = 0.2 / 500.0;
        let work: f64 = (1..=2)
            .flat_map(|layer| (0..500).map(move |k| 0.1 * f64::from(layer) + step * (f64::from(k) + 0.5)))
            .map(|height| pull(height as f32) * step)
            .sum();
        let area = 0.1f64.powi(dimensions as i32 - 1);
        assert!((work / area - 0.7).abs() < 0.7 * 5e-3, "{dimensions}-D: {}", work / area);
        let (a, b) = rows(0.1);
        assert_eq!(force(&law, a, b), [0.0; 3], "particles are not concerned");
    }
}

/// Lets a particle fall onto a plane of samples at the speed U that the wall is made for: how close it gets to the
/// surface, in spacings, and with what part of its speed it comes back.
fn bounce(dimensions: usize, walls: WallModel, aside: f32) -> (f32, f32) {
    let d = Discretisation { walls, slip: 0.0, fastest_flow: 2.0, ..discretisation(dimensions) };
    let law = Law::WallContact(wall_contact::Law::new(&d, &[0.5]).expect("a wall that pushes"));
    let zero = Row { position: Vec4::ZERO, velocity: Vec4::ZERO, volume: 0.0, pressure: 0.0 };
    let mut ball = Row { position: Vec4::new(aside, 0.0, 0.1, 0.0), velocity: Vec4::ZERO, ..zero };
    ball.velocity.z = -2.0;
    let (dt, reach) = (2e-5, if dimensions == 2 { 0 } else { 3 });
    let mut closest = f32::INFINITY;
    while ball.position.z < 0.11 {
        let mut total = Vec3::ZERO;
        for i in -3..=3 {
            for j in -reach..=reach {
                let at = Vec4::new(0.1 * i as f32, 0.1 * j as f32, -0.05, 0.0);
                total += Vec3::from_array(wall_force(&law, ball, Row { position: at, ..zero }));
            }
        }
        ball.velocity += (total / 0.5).extend(0.0) * dt;
        ball.position += ball.velocity * dt;
        closest = closest.min(ball.position.z / 0.1);
    }
    (closest, ball.velocity.z / 2.0)
}

#[test]
fn walls_that_push_stop_the_fastest_flow_before_their_surface() {
    for dimensions in [2, 3] {
        for aside in [0.0, 0.02, 0.05] {
            let (closest, back) = bounce(dimensions, WallModel::LennardJones, aside);
            assert!(closest > -0.02 && back < 1.0, "{dimensions}-D: {closest}, {back}");
            let (closest, back) = bounce(dimensions, WallModel::DiscreteElement, aside);
            assert!((0.3..0.4).contains(&closest) && back < 0.4, "{dimensions}-D: {closest}, {back}");
        }
    }
}
