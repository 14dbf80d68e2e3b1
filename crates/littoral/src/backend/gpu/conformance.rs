//! The texts of kernels and laws, against the CPU's, on random rows.
//!
//! WGSL may contract products and sums, and rounds divisions and roots to about 2.5 units in the last place, so a
//! handful of operations agree to 10⁻⁵ of the terms they add up.

use glam::{Vec3, Vec4};

use super::device::{Device, Kernel, read, write};
use super::program::{Program, scaled_kernel};
use crate::behaviours::Law;
use crate::behaviours::pressure;
use crate::columns::{BODY, VELOCITY};
use crate::kernels;
use crate::pair::{Own, Pair, PairLaw, WallPair};
use crate::scene::{self, Dimensions, KernelName};
use crate::simd::*;
use crate::world::World;

/// A device, or a reason to fail: a test that finds none must not look as if it had passed.
fn device() -> Option<Device> {
    match Device::with_checks(true) {
        Ok(device) => Some(device),
        Err(_) if std::env::var("LITTORAL_NO_GPU").is_ok_and(|v| v == "1") => None,
        Err(error) => panic!("{error}. LITTORAL_NO_GPU=1 skips these tests"),
    }
}

/// Repeatable numbers in [0, 1).
fn numbers(mut state: u64) -> impl FnMut() -> f32 {
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// Runs `evaluate`, which turns rows of input into rows of output.
fn evaluate(device: &Device, text: &str, tables: &[f32], input: &[Vec4], rows: usize) -> Vec<Vec4> {
    use wgpu::BufferUsages as Use;
    let text = format!(
        "{text}
        @group(0) @binding(0) var<storage, read> input: array<vec4f>;
        @group(0) @binding(1) var<storage, read_write> output: array<vec4f>;
        @compute @workgroup_size(64)
        fn evaluate(@builtin(global_invocation_id) id: vec3u) {{
            if id.x < arrayLength(&output) {{ output[id.x] = row(id.x); }}
        }}"
    );
    let input = device.filled("input", input, Use::STORAGE);
    let tables = device.filled("tables", tables, Use::STORAGE);
    let output = device.buffer("output", 16 * rows as u64, Use::COPY_SRC);
    let readable = device.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: output.size(),
        usage: Use::MAP_READ | Use::COPY_DST,
        mapped_at_creation: false,
    });
    let module = device.module("evaluate", &text);
    let groups: [&[_]; 4] = [&[read(&input), write(&output)], &[], &[], &[read(&tables)]];
    let kernel = Kernel::new(device, "evaluate", &module, &groups);
    let mut encoder = device.device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    kernel.run(&mut pass, [(rows as u32).div_ceil(64), 1]);
    drop(pass);
    encoder.copy_buffer_to_buffer(&output, 0, &readable, 0, output.size());
    device.queue.submit([encoder.finish()]);
    device.read(&readable, bytemuck::pod_collect_to_vec).unwrap()
}

#[test]
fn kernels_agree() {
    let Some(device) = device() else { return };
    let mut next = numbers(1);
    for dimensions in [Dimensions::Two, Dimensions::Three] {
        for (_, name) in KernelName::NAMES {
            let kernel = kernels::Kernel::new(name, dimensions, 0.3);
            let flat = dimensions == Dimensions::Two;
            let text = format!(
                "const flat = {flat}; const sides = {}.0; {} {}
                fn row(i: u32) -> vec4f {{
                    let r = input[i].x;
                    return vec4f(tested_w(r), tested_slope(r), tested_laplacian(r), tested_gradient_over_r(r));
                }}",
                dimensions.count() - 1,
                include_str!("kernels.wgsl"),
                scaled_kernel("tested", &kernel)
            );
            // A little beyond the support, too; not at the centre, where some are singular.
            let input: Vec<Vec4> = (0..1000).map(|_| Vec4::splat(0.3 * (0.02 + 1.1 * next()))).collect();
            let output = evaluate(&device, &text, &[], &input, input.len());
            let [_, value, slope, curvature] = kernel.factors();
            for (r, got) in input.iter().map(|row| row.x).zip(output) {
                let want = Vec4::new(
                    kernel.w_at(r),
                    kernel.slope_at(r),
                    kernel.laplacian_at(r),
                    kernel.slope_at(r) / r,
                );
                // Shapes are sums of terms of order one, or of 1/q² where the viscosity kernel rises.
                let terms = Vec4::new(value, slope, curvature, slope / r);
                let error = (got - want).abs() - 1e-5 * (want.abs() + terms);
                assert!(error.max_element() <= 0.0, "{kernel:?} at {r}: {got} for {want}");
            }
        }
    }
}

/// Two bodies that differ in everything, so that tables are looked up.
fn two_bodies(dimensions: usize) -> World {
    let (low, mid, high) = match dimensions {
        2 => ("[0, 0]", ("[0.1, 0.1]", "[0.1, 0]"), "[0.2, 0.1]"),
        _ => ("[0, 0, 0]", ("[0.1, 0.1, 0.1]", "[0.1, 0, 0]"), "[0.2, 0.1, 0.1]"),
    };
    let body = |name: &str, min: &str, max: &str, scale: f64| {
        format!(
            "[[body]]
            name = '{name}'
            density = {}
            shape.box = {{ min = {min}, max = {max} }}
            [body.behaviours.tait]
            sound_speed = {}
            exponent = {}
            background = {}
            [body.behaviours.gas]
            stiffness = {}
            weight = 0.5
            [body.behaviours.viscosity]
            dynamic_viscosity = {}
            [body.behaviours.artificial-viscosity]
            dynamic_viscosity = {}
            weight = 0.75
            [body.behaviours.cohesion]
            surface_tension = {}
            [body.behaviours.drag]
            relaxation_time = {}
            ",
            1000.0 * scale,
            20.0 * scale,
            if scale > 1.0 { 7.0 } else { 3.5 },
            0.02 * scale,
            100.0 * scale,
            0.1 * scale,
            0.5 * scale,
            0.07 * scale,
            0.3 * scale,
        )
    };
    let text = format!(
        "dimensions = {dimensions}
        [world]
        box = {{ min = {low}, max = {high} }}
        slip = 0.3
        [sph]
        spacing = 0.02
        [time]
        until = 1
        {} {}",
        body("light", low, mid.0, 1.0),
        body("heavy", mid.1, high, 1.7)
    );
    let (scene, _) = scene::load("two-bodies", &text, &[]).unwrap_or_else(|problems| panic!("{problems:?}"));
    World::new(&scene)
}

/// A particle and its neighbour, of which the sort of neighbour is for the law to say.
struct Rows {
    i: usize,
    j: usize,
    own_velocity: Vec3,
    velocity: Vec3,
    own_pressure: f32,
    pressure: f32,
    own_volume: f32,
    volume: f32,
    x: Vec3,
    normal: Vec3,
    depth: f32,
}

impl Rows {
    fn random(next: &mut impl FnMut() -> f32, world: &World) -> Rows {
        let d = &world.discretisation;
        let flat = d.dimensions == Dimensions::Two;
        let mut vector = |scale: f32| {
            let v = Vec3::new(next() - 0.5, next() - 0.5, if flat { 0.0 } else { next() - 0.5 });
            v * 2.0 * scale
        };
        let (own_velocity, velocity) = (vector(1.0), vector(1.0));
        // Not on top of each other, where direction is noise, nor at the edge, where nothing is left of W.
        let x = vector(1.0).try_normalize().unwrap_or(Vec3::X);
        let x = x * (0.1 + 0.8 * next()) * d.support;
        let axis = (next() * d.dimensions.count() as f32) as usize;
        let mut normal = Vec3::ZERO;
        // Edges and corners have no normal.
        if next() > 0.2 {
            normal[axis] = 1.0;
        }
        let count = world.particles.len() as f32;
        Rows {
            i: (next() * count) as usize,
            j: (next() * count) as usize,
            own_velocity,
            velocity,
            own_pressure: 3000.0 * (next() - 0.3),
            pressure: 3000.0 * (next() - 0.3),
            own_volume: 1e-5 * (1.0 + next()),
            volume: 1e-5 * (1.0 + next()),
            x,
            normal,
            depth: d.spacing * (0.5 + (2.0 * next()).floor()),
        }
    }

    fn pack(&self, bodies: &[u32]) -> [Vec4; 5] {
        [
            self.own_velocity.extend(self.own_pressure),
            Vec4::new(self.depth, self.own_volume, bodies[self.i] as f32, bodies[self.j] as f32),
            self.velocity.extend(self.pressure),
            self.x.extend(self.volume),
            self.normal.extend(0.0),
        ]
    }

    /// The CPU's force, by eight lanes of the same.
    fn force(&self, law: &Law, wall: bool, slip: f32) -> Vec3 {
        let own = Own {
            index: self.i,
            position: Vec4::ZERO,
            velocity: self.own_velocity.extend(0.0),
            pressure: self.own_pressure,
            volume: self.own_volume,
        };
        dispatch!(Level::baseline(), simd => {
            let x = Lanes3::splat(simd, self.x.into());
            let r = splat(simd, self.x.length());
            let volume = splat(simd, self.volume);
            let velocity = Lanes3::splat(simd, self.velocity.into());
            let force = if wall {
                let normal = Lanes3::splat(simd, self.normal.into());
                let (pressure, depth) = (splat(simd, self.pressure), splat(simd, self.depth));
                law.wall_force(&own, &WallPair { simd, others: &[0; LANES], x, r, volume, velocity, pressure, normal, depth, holds: &[1.0 - slip], shrink: None })
            } else {
                let others = &[self.j as u32; LANES];
                law.force(&own, &Pair { simd, others, x, r, volume, velocity, pressure: splat(simd, self.pressure), shrink: None })
            };
            Vec3::new(force.x.to_array()[0], force.y.to_array()[0], force.z.to_array()[0])
        })
    }
}

/// Reads what [`Rows::pack`] wrote, and calls a law.
fn law_text(program: &Program, call: &str) -> String {
    let text = format!(
        "fn row(i: u32) -> vec4f {{
            let at = 5u * i;
            let a = input[at]; let b = input[at + 1u]; let c = input[at + 2u]; let d = input[at + 3u];
            let own = Own(0u, vec3f(), a.xyz, a.w, b.y, u32(b.z));
            let other = Other(c.xyz, c.w, d.w, u32(b.w));
            let wall = Wall(c.xyz, input[at + 4u].xyz, b.x, d.w, c.w);
            let x = d.xyz;
            let r = length(x);
            return vec4f({call}, 0.0);
        }}"
    );
    program.text(&[&text])
}

#[test]
fn pair_laws_agree() {
    let Some(device) = device() else { return };
    for dimensions in [2, 3] {
        let world = two_bodies(dimensions);
        let program = Program::new(&world, u64::MAX).unwrap();
        assert!(!program.tables.is_empty());
        let d = &world.discretisation;
        let others = world.behaviours.iter().filter_map(|now| {
            let name = now.behaviour.schema().name.replace('-', "_");
            now.behaviour.pair_law(now, d).map(|law| (name, law))
        });
        let laws: Vec<(String, Law)> = [("pressure".to_owned(), Law::Pressure(pressure::Law::new(d)))]
            .into_iter()
            .chain(others)
            .collect();
        assert_eq!(laws.len(), 4, "the scene should use every pair law");

        let mut next = numbers(7);
        let rows: Vec<Rows> = (0..500).map(|_| Rows::random(&mut next, &world)).collect();
        let input: Vec<Vec4> = rows.iter().flat_map(|row| row.pack(world.particles.get(&BODY))).collect();
        for (name, law) in &laws {
            for (wall, call) in [(false, "force(own, other, x, r)"), (true, "wall_force(own, wall, x, r)")] {
                if wall && name == "cohesion" {
                    continue; // walls do not attract
                }
                let text = law_text(&program, &format!("{name}_{call}"));
                let got = evaluate(&device, &text, &program.tables, &input, rows.len());
                let want: Vec<Vec3> =
                    rows.iter().map(|row| row.force(law, wall, world.discretisation.slip)).collect();
                let largest = want.iter().map(|f| f.length()).fold(0.0, f32::max);
                assert!(largest > 0.0, "{name}");
                for (got, want) in got.iter().map(|row| row.truncate()).zip(want) {
                    // Products of a dozen factors; and differences of pressures or kernel terms may cancel.
                    let error = (got - want).length() - 1e-5 * want.length() - 1e-6 * largest;
                    assert!(error <= 0.0, "{name} {call} in {dimensions}-D: {got} for {want}");
                }
            }
        }
    }
}

#[test]
fn pressures_and_accelerations_agree() {
    let Some(device) = device() else { return };
    let mut world = two_bodies(3);
    world.particles.get_mut(&VELOCITY).fill(Vec4::new(3.0, -2.0, 1.0, 0.0));
    let program = Program::new(&world, u64::MAX).unwrap();
    let mut next = numbers(3);
    let ratio: Vec<f32> = (0..world.particles.len()).map(|_| 0.9 + 0.2 * next()).collect();
    let body = world.particles.get(&BODY);
    let rest_density: Vec<f32> = world.bodies.iter().map(|body| body.rest_density).collect();
    let mut pressure = vec![0.0; ratio.len()];
    let mut acceleration = vec![Vec4::ZERO; ratio.len()];
    for now in &world.behaviours {
        if let Some(law) = now.behaviour.pressure_law(now) {
            for (i, pressure) in pressure.iter_mut().enumerate() {
                *pressure += law(i, ratio[i], rest_density[body[i] as usize]);
            }
        }
        now.behaviour.accelerate(now, &world.particles, &mut acceleration);
    }
    let text = "fn row(i: u32) -> vec4f {
        let body = u32(input[i].x);
        return vec4f(acceleration_of(body, vec3f(3.0, -2.0, 1.0)), pressure_of(body, input[i].y));
    }";
    let rows = body.iter().zip(&ratio).map(|(&body, &ratio)| Vec4::new(body as f32, ratio, 0.0, 0.0));
    let input: Vec<Vec4> = rows.collect();
    let got = evaluate(&device, &program.text(&[text]), &program.tables, &input, input.len());
    for (i, got) in got.iter().enumerate() {
        // `pow` is exp2 of a product with log2, each good to 3 units; then 1 is taken away.
        let stiffness = rest_density[body[i] as usize] * 34.0f32.powi(2);
        assert!((got.w - pressure[i]).abs() < 2e-6 * stiffness, "{} for {}", got.w, pressure[i]);
        let error = (got.truncate() - acceleration[i].truncate()).length();
        assert!(error < 1e-6 * acceleration[i].length(), "{got} for {}", acceleration[i]); // a quotient
    }
}
