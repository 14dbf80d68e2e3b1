//! A still life of all shapes and looks, for the eye; and rays per second, for the record.
//!
//! `cargo run --release -p littoral-picture --example trace_probe -- OUT.png [WIDTH HEIGHT SAMPLES] [raw] [low|close|under] [studio]`
//! `cargo run --release -p littoral-picture --example trace_probe -- quality`
//! `cargo run --release -p littoral-picture --example trace_probe -- speed [MESH.bin]`
//!
//! `speed` traces a mesh of some 500 000 triangles; `MESH.bin`, written when a path is given, lets another
//! tracer repeat it: u32 numbers of vertices, triangles, camera rays and bounced rays; f32 positions; u32
//! corners; f32 origin and direction of each ray.

use glam::{Vec3, vec3};
use littoral_picture::mesh::Mesh;
use littoral_picture::trace::*;
use std::f32::consts::TAU;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "speed") {
        return speed(arguments.get(1).map(String::as_str));
    }
    if arguments.first().is_some_and(|first| first == "quality") {
        return quality();
    }
    let out = arguments.first().cloned().unwrap_or("trace_probe.png".into());
    let number =
        |at: usize, default: usize| arguments.get(at).and_then(|a| a.parse().ok()).unwrap_or(default);
    let mut scene = still_life();
    if arguments.iter().any(|a| a == "low") {
        // From close above the ground, against the light.
        scene.camera.at = vec3(0.9, 0.30, 2.4);
        scene.camera.look_at = vec3(0.0, 0.24, 0.0);
        scene.sun = Some(Sun { direction: vec3(-0.5, 0.45, -0.6).normalize(), ..Sun::default() });
    }
    if arguments.iter().any(|a| a == "close") {
        // Nothing but water.
        scene.camera.at = vec3(0.1, 0.75, 1.1);
        scene.camera.look_at = vec3(0.0, 0.1, 0.0);
    }
    if arguments.iter().any(|a| a == "under") {
        scene.camera.at = vec3(0.5, 0.08, 0.36);
        scene.camera.look_at = vec3(-0.1, 0.14, 0.0);
        scene.camera.view = View::Perspective(1.0);
    }
    if arguments.iter().any(|a| a == "studio") {
        let towards = vec3(-0.4, 0.8, 0.45).normalize();
        scene.sky = Sky::Studio { surround: Vec3::splat(0.25), light: Vec3::splat(2.5), towards };
        scene.sun = None;
        scene.lamps = vec![Lamp {
            corner: vec3(1.5, 1.2, -1.5),
            edge_u: vec3(0.0, 0.8, 0.0),
            edge_v: vec3(0.5, 0.0, 1.2),
            radiance: vec3(6.0, 5.0, 4.0),
        }];
    }
    let settings = Settings {
        width: number(1, 640),
        height: number(2, 360),
        samples: number(3, 32),
        denoise: !arguments.iter().any(|a| a == "raw"),
        ..Settings::default()
    };
    let start = Instant::now();
    let prepared = Prepared::new(&scene);
    let built = start.elapsed().as_secs_f64();
    let raw = prepared.render(&Settings { denoise: false, ..settings });
    let traced = start.elapsed().as_secs_f64() - built;
    let picture = if settings.denoise { denoise(&raw) } else { raw };
    let cleaned = start.elapsed().as_secs_f64() - built - traced;
    println!(
        "hierarchy {built:.3} s, {} samples {traced:.2} s ({:.2} million rays/s), denoising {cleaned:.3} s",
        settings.samples,
        picture.rays as f64 / traced / 1e6
    );
    write_png(&out, settings.width, settings.height, &tone_map(&picture, 1.0));
}

/// Relative squared error of few samples, before and after denoising.
fn quality() {
    let scene = still_life();
    let prepared = Prepared::new(&scene);
    let settings = Settings { width: 240, height: 135, denoise: false, ..Settings::default() };
    let reference = prepared.render(&Settings { samples: 160, first_sample: 4096, ..settings });
    let error = |picture: &Picture| {
        let pixels = picture.radiance.iter().zip(&reference.radiance);
        let sum: f32 = pixels.map(|(a, b)| (*a - *b).length_squared() / (b.length_squared() + 0.01)).sum();
        sum / picture.radiance.len() as f32
    };
    for samples in [4, 8, 32] {
        let noisy = prepared.render(&Settings { samples, ..settings });
        println!("{samples} samples: error {:.5}, denoised {:.5}", error(&noisy), error(&denoise(&noisy)));
    }
}

fn write_png(path: &str, width: usize, height: usize, pixels: &[[u8; 3]]) {
    let file =
        std::io::BufWriter::new(std::fs::File::create(path).expect("the picture's path can be written"));
    let mut encoder = png::Encoder::new(file, width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(pixels.as_flattened()).expect("the picture's bytes");
}

fn still_life() -> Scene {
    let ball = |at: Vec3, radius: f32, look: Look| Thing { shape: Shape::Mesh(sphere(at, radius, 5)), look };
    let mut things = vec![
        Thing { shape: Shape::Mesh(wavy_slab(160)), look: Look::WATER },
        // Half in the water.
        ball(vec3(0.62, 0.16, 0.30), 0.16, Look::HONEY),
        ball(vec3(-0.05, 0.12, 0.10), 0.14, Look::Glossy { colour: vec3(0.75, 0.10, 0.07), roughness: 0.15 }),
        ball(vec3(-0.85, 0.20, 0.45), 0.20, Look::WAX),
        ball(vec3(1.18, 0.20, 0.10), 0.20, Look::GOLD),
        ball(vec3(-1.25, 0.16, -0.05), 0.16, Look::GLASS),
        ball(vec3(1.05, 0.13, 0.75), 0.13, Look::WATER),
        ball(vec3(0.30, 0.10, 0.95), 0.10, Look::Glossy { colour: vec3(0.08, 0.25, 0.5), roughness: 0.3 }),
    ];

    // A heap of sand, wet on its right side.
    let (mut centres, mut radii, mut colours, mut wetness) = (vec![], vec![], vec![], vec![]);
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        ((random >> ((random >> 28) + 4)) ^ random).wrapping_mul(277_803_737) as f32 / u32::MAX as f32
    };
    for _ in 0..40_000 {
        let (radius, angle, height) = (0.28 * next().sqrt(), TAU * next(), next());
        let top = 0.17 * (1.0 - radius / 0.28);
        let at = vec3(-0.42 + radius * angle.cos(), 0.003 + top * height, 0.95 + radius * angle.sin());
        centres.push(at);
        radii.push(0.003 + 0.0025 * next());
        colours.push(Vec3::splat(0.7 + 0.5 * next()) * vec3(1.0, 0.95 + 0.1 * next(), 0.9 + 0.2 * next()));
        wetness.push(((at.x + 0.42) * 12.0 + 0.5).clamp(0.0, 1.0));
    }
    things.push(Thing { shape: Shape::Spheres { centres, radii, colours, wetness }, look: Look::SAND });

    // A knitted-looking row of threads.
    let (mut points, mut radii, mut strands) = (vec![], vec![], vec![]);
    for strand in 0..14 {
        for step in 0..40 {
            let t = step as f32 / 39.0;
            let wave = (t * 20.0 * TAU / 2.0 + strand as f32 * 1.5).sin();
            points.push(vec3(
                0.50 + 0.38 * t + 0.01 * (t * 40.0).cos(),
                0.018 + 0.010 * wave + 0.05 * (3.0 * t).sin().max(0.0),
                1.12 + 0.02 * strand as f32,
            ));
            radii.push(0.009);
        }
        strands.push(40);
    }
    let yarn = Look::Fibre { colour: vec3(0.78, 0.42, 0.36), translucency: 0.3, porosity: 0.6 };
    things.push(Thing {
        shape: Shape::Curves { points, radii, strands, colours: vec![], wetness: vec![] },
        look: yarn,
    });

    let (at, look_at) = (vec3(0.35, 1.05, 3.1), vec3(0.02, 0.16, 0.25));
    let camera = Camera {
        at,
        look_at,
        view: View::Perspective(0.55),
        focus: at.distance(look_at),
        ..Camera::default()
    };
    Scene { camera, sun: Some(Sun::default()), ground: Some(Ground::default()), things, ..Scene::default() }
}

/// A block of water with waves, its bottom a little below the ground.
fn wavy_slab(n: u32) -> Mesh {
    let (low, high) = (vec3(-0.62, -0.01, -0.62), vec3(0.62, 0.22, 0.42));
    let mut mesh = Mesh::default();
    let wave = |x: f32, z: f32| {
        0.022 * (9.0 * x + 2.0 * (4.0 * z).sin()).sin() * (7.0 * z).cos()
            + 0.006 * (31.0 * x - 17.0 * z).sin()
    };
    let vertex = |mesh: &mut Mesh, at: Vec3| {
        mesh.positions.push(at);
        mesh.positions.len() as u32 - 1
    };
    // Top, bottom, then the four sides; edges are shared by position only, so that they stay sharp.
    let patch = |mesh: &mut Mesh, n: u32, m: u32, place: &dyn Fn(f32, f32) -> Vec3| {
        let first = mesh.positions.len() as u32;
        for j in 0..=m {
            for i in 0..=n {
                vertex(mesh, place(i as f32 / n as f32, j as f32 / m as f32));
            }
        }
        for j in 0..m {
            for i in 0..n {
                let a = first + j * (n + 1) + i;
                mesh.triangles.push([a, a + n + 1, a + 1]);
                mesh.triangles.push([a + 1, a + n + 1, a + n + 2]);
            }
        }
    };
    let (lx, lz) = (high.x - low.x, high.z - low.z);
    let top = |x: f32, z: f32| vec3(x, high.y + wave(x, z), z);
    patch(&mut mesh, n, n, &|u, v| top(low.x + lx * u, low.z + lz * v));
    patch(&mut mesh, 1, 1, &|u, v| vec3(low.x + lx * (1.0 - u), low.y, low.z + lz * v));
    let side = |x: f32, z: f32, v: f32| {
        let at = top(x, z);
        vec3(at.x, low.y + (at.y - low.y) * (1.0 - v), at.z)
    };
    patch(&mut mesh, n, 1, &|u, v| side(low.x + lx * u, high.z, v));
    patch(&mut mesh, n, 1, &|u, v| side(high.x - lx * u, low.z, v));
    patch(&mut mesh, n, 1, &|u, v| side(high.x, high.z - lz * u, v));
    patch(&mut mesh, n, 1, &|u, v| side(low.x, low.z + lz * u, v));
    smooth(&mut mesh);
    mesh
}

/// Vertex normals: the sum of the triangles' area vectors.
fn smooth(mesh: &mut Mesh) {
    mesh.normals = vec![Vec3::ZERO; mesh.positions.len()];
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|vertex| mesh.positions[vertex as usize]);
        for vertex in triangle {
            mesh.normals[*vertex as usize] += (b - a).cross(c - a);
        }
    }
    mesh.normals.iter_mut().for_each(|normal| *normal = normal.normalize_or(Vec3::Y));
}

/// An icosahedron, subdivided and blown up.
fn sphere(centre: Vec3, radius: f32, subdivisions: usize) -> Mesh {
    let g = 0.5 * (1.0 + 5f32.sqrt());
    let mut positions: Vec<Vec3> = Vec::new();
    for (a, b) in [(1.0, g), (-1.0, g), (1.0, -g), (-1.0, -g)] {
        positions.extend([vec3(a, b, 0.0), vec3(0.0, a, b), vec3(b, 0.0, a)]);
    }
    // The 20 faces are the triples of corners at mutual distance 2.
    let near = |a: usize, b: usize| (positions[a].distance(positions[b]) - 2.0).abs() < 0.01;
    let mut triangles = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(a, c) {
                    let out =
                        (positions[b] - positions[a]).cross(positions[c] - positions[a]).dot(positions[a]);
                    triangles.push(if out > 0.0 {
                        [a as u32, b as u32, c as u32]
                    } else {
                        [a as u32, c as u32, b as u32]
                    });
                }
            }
        }
    }
    for _ in 0..subdivisions {
        let mut middles = std::collections::BTreeMap::new();
        let mut middle = |positions: &mut Vec<Vec3>, a: u32, b: u32| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                positions.push(0.5 * (positions[a as usize] + positions[b as usize]));
                positions.len() as u32 - 1
            })
        };
        let mut finer = Vec::new();
        for [a, b, c] in triangles {
            let (ab, bc, ca) =
                (middle(&mut positions, a, b), middle(&mut positions, b, c), middle(&mut positions, c, a));
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    let normals: Vec<Vec3> = positions.iter().map(|p| p.normalize()).collect();
    let positions = normals.iter().map(|normal| centre + radius * *normal).collect();
    Mesh { positions, normals, triangles, attributes: vec![] }
}

/// Millions of rays per second on one and on two threads: rays of a camera, and diffuse bounces from what
/// they hit.
fn speed(dump: Option<&str>) {
    let mut mesh = wavy_slab(300);
    for (number, x) in [-0.9, -0.3, 0.3, 0.9].into_iter().enumerate() {
        let ball = sphere(vec3(x, 0.45, 0.2 * number as f32 - 0.3), 0.25, 6);
        let first = mesh.positions.len() as u32;
        mesh.positions.extend(ball.positions);
        mesh.normals.extend(ball.normals);
        mesh.triangles.extend(ball.triangles.iter().map(|triangle| triangle.map(|vertex| vertex + first)));
    }
    let look = Look::Diffuse { colour: Vec3::splat(0.5), porosity: 0.0 };
    let scene = Scene { things: vec![Thing { shape: Shape::Mesh(mesh.clone()), look }], ..Scene::default() };
    let start = Instant::now();
    let prepared = Prepared::new(&scene);
    println!("{} triangles, hierarchy in {:.3} s", mesh.triangles.len(), start.elapsed().as_secs_f64());

    let (width, height) = (1024, 768);
    let at = vec3(0.4, 1.1, 2.0);
    let target = vec3(0.0, 0.2, 0.0);
    let forward = (target - at).normalize();
    let right = forward.cross(Vec3::Y).normalize();
    let up = right.cross(forward);
    let primary: Vec<(Vec3, Vec3)> = (0..width * height)
        .map(|i| {
            let (x, y) = ((i % width) as f32 / width as f32 - 0.5, 0.5 - (i / width) as f32 / height as f32);
            (at, (forward + right * x * 0.9 + up * y * 0.68).normalize())
        })
        .collect();
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (random >> 8) as f32 / 16_777_216.0
    };
    let mut bounced = Vec::new();
    for ((origin, direction), distance) in primary.iter().zip(prepared.distances(&primary)) {
        if distance.is_finite() {
            // Uniform over the side that the ray came from, as if the surface faced the camera.
            let z = 2.0 * next() - 1.0;
            let angle = TAU * next();
            let sine = (1.0 - z * z).sqrt();
            let to = vec3(sine * angle.cos(), sine * angle.sin(), z);
            let to = if to.dot(*direction) > 0.0 { -to } else { to };
            bounced.push((*origin + *direction * (distance * 0.9999), to));
        }
    }
    for (name, rays) in [("primary", &primary), ("bounced", &bounced)] {
        for threads in [1, 2] {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
            // Batch by batch, the best of several runs: other work on the machine disturbs least.
            let (mut seconds, mut hits) = (0.0, 0);
            for batch in rays.chunks(1 << 16) {
                let mut best = f64::INFINITY;
                let mut distances = Vec::new();
                for _ in 0..7 {
                    let start = Instant::now();
                    distances = pool.install(|| prepared.distances(batch));
                    best = best.min(start.elapsed().as_secs_f64());
                }
                seconds += best;
                hits += distances.iter().filter(|distance| distance.is_finite()).count();
            }
            let speed = rays.len() as f64 / seconds / 1e6;
            println!("{name}, {threads} threads: {speed:.2} million rays/s, {hits} hits of {}", rays.len());
        }
    }
    if let Some(path) = dump {
        let mut bytes = Vec::new();
        for count in [mesh.positions.len(), mesh.triangles.len(), primary.len(), bounced.len()] {
            bytes.extend((count as u32).to_le_bytes());
        }
        let floats = mesh.positions.iter().flat_map(|p| p.to_array());
        bytes.extend(floats.flat_map(f32::to_le_bytes));
        bytes.extend(mesh.triangles.iter().flatten().flat_map(|vertex| vertex.to_le_bytes()));
        for (origin, direction) in primary.iter().chain(&bounced) {
            let numbers = origin.to_array().into_iter().chain(direction.to_array());
            bytes.extend(numbers.flat_map(f32::to_le_bytes));
        }
        std::fs::write(path, bytes).expect("the dump's path can be written");
    }
}
