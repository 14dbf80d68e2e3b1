//! Ours against splashsurf_lib: the same particles, the same lattice, the same two threads, one run.
//!
//! `littoral-surface-bench` for the made frame; `littoral-surface-bench FILE SPACING` for a frame of little-endian f32 x y z.

use glam::Vec3;
use littoral_picture::mesh::Mesh;
use littoral_picture::surface::{Cloud, Field, Options, surface};
use rayon::prelude::*;
use splashsurf_lib::mesh::{Mesh3d, TriMesh3d};
use splashsurf_lib::nalgebra::Vector3;
use splashsurf_lib::sph_interpolation::SphInterpolator;
use splashsurf_lib::{Parameters, SurfaceReconstruction, postprocessing, reconstruct_surface};
use std::time::Instant;

/// m.
const SPACING: f32 = 0.01;

/// Uniform in −1 … 1, by a hash of a counter.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 += 1;
        let mut x = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ x >> 31) >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

/// Half of the pool is flat, to measure how flat it stays; the other half is a swell.
fn height(x: f32, z: f32) -> f32 {
    let swell = ((x - 110.0) / 30.0).clamp(0.0, 1.0);
    30.0 + swell * (4.0 * (x * 0.09).sin() + 3.0 * (z * 0.13 + x * 0.05).cos())
}

/// About a million particles: a pool, a sheet one particle thick that curls over it, and 20,000 drops.
fn splash() -> Vec<Vec3> {
    let mut noise = Noise(1);
    let mut positions = vec![];
    for z in 0..150 {
        for x in 0..212 {
            let (px, pz) = (x as f32 + 0.5, z as f32 + 0.5);
            for y in 0..44 {
                if (y as f32 + 1.0) <= height(px, pz) {
                    positions.push(Vec3::new(px, y as f32 + 0.5, pz) + noise.vector() * 0.2);
                }
            }
        }
    }
    for z in 0..110 {
        for along in 0..100 {
            let angle = along as f32 / 40.0;
            let at = Vec3::new(160.0 - 40.0 * angle.sin(), 90.0 - 40.0 * angle.cos(), z as f32 + 20.5);
            positions.push(at + noise.vector() * 0.1);
        }
    }
    for _ in 0..20_000 {
        positions.push(Vec3::new(106.0, 95.0, 75.0) + noise.vector() * Vec3::new(106.0, 55.0, 75.0));
    }
    positions.iter().map(|position| *position * SPACING).collect()
}

fn converted(mesh: &TriMesh3d<f32>) -> Mesh {
    Mesh {
        positions: mesh.vertices.iter().map(|v| Vec3::new(v.x, v.y, v.z)).collect(),
        triangles: mesh.triangles.iter().map(|t| t.map(|vertex| vertex as u32)).collect(),
        ..Mesh::default()
    }
}

/// What its command line does for smooth meshes: reconstruction (kernel of 4 radii, threshold 0.6), weights from a
/// weighted count of neighbours (full at 13), Laplacian smoothing, normals.
fn splashsurf(positions: &[Vec3], spacing: f32, cell: f32, passes: usize) -> TriMesh3d<f32> {
    let points: Vec<Vector3<f32>> = positions.par_iter().map(|p| Vector3::new(p.x, p.y, p.z)).collect();
    // A cube of half a spacing is one radius.
    let mut parameters = Parameters::new_relative(spacing / 2.0, 4.0, 2.0 * cell);
    parameters.global_neighborhood_list = passes > 0;
    let result: SurfaceReconstruction<i64, f32> =
        reconstruct_surface(&points, &parameters).expect("a surface");
    let mut mesh = result.mesh;
    if passes > 0 {
        let reach = parameters.compact_support_radius;
        let densities = result.particle_densities.expect("densities");
        let mass = 1000.0 * spacing.powi(3);
        let interpolator = SphInterpolator::new(&points, &densities, mass, reach);
        let lists = result.particle_neighbors.expect("neighbours");
        let count = |(i, list): (usize, &Vec<usize>)| -> f32 {
            let weight =
                |&j: &usize| (1.0 - (points[i] - points[j]).norm_squared() / (reach * reach)).max(0.0);
            list.iter().map(weight).sum()
        };
        let counts: Vec<f32> = lists.par_iter().enumerate().map(count).collect();
        let mut weights = interpolator.interpolate_scalar_quantity(&counts, &mesh.vertices, true);
        weights.par_iter_mut().for_each(|weight| {
            let x = (*weight / 13.0).clamp(0.0, 1.0);
            *weight = x * x * x * (x * (x * 6.0 - 15.0) + 10.0);
        });
        let connectivity = mesh.vertex_vertex_connectivity();
        postprocessing::par_laplacian_smoothing_inplace(&mut mesh, &connectivity, passes, 1.0, &weights);
    }
    std::hint::black_box(mesh.par_vertex_normals());
    mesh
}

/// User and system time of this process, s. On a shared machine it says more than the clock.
fn processor_time() -> f32 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    // Fields 14 and 15, in hundredths of a second; the name in brackets may hold blanks.
    let fields = stat.rsplit(')').next().expect("fields").split_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<f32>().expect("a number") / 100.0).sum()
}

/// A way to make a surface.
#[derive(Clone, Copy)]
enum Maker {
    Ours(Field),
    /// Passes of smoothing.
    Splashsurf(usize),
}

impl Maker {
    fn name(self) -> String {
        match self {
            Maker::Ours(field) => format!("ours, {field:?}").to_lowercase(),
            Maker::Splashsurf(0) => "splashsurf, not smoothed".into(),
            Maker::Splashsurf(passes) => format!("splashsurf, {passes} passes"),
        }
    }

    /// The mesh, and how long it took on the clock and on the processors, s; conversions for measuring are not counted.
    fn make(self, positions: &[Vec3], spacing: f32, cell: f32) -> (Mesh, [f32; 2]) {
        let (start, used) = (Instant::now(), processor_time());
        let time = || [start.elapsed().as_secs_f32(), processor_time() - used];
        match self {
            Maker::Ours(field) => {
                let cloud = Cloud { positions, spacing, volumes: None };
                let mesh = surface(&cloud, &Options { field, cell, ..Options::default() });
                (mesh, time())
            }
            Maker::Splashsurf(passes) => {
                let mesh = splashsurf(positions, spacing, cell, passes);
                let time = time();
                (converted(&mesh), time)
            }
        }
    }
}

/// Cells of edge 1 within a shape, each shaken, as particles of SPACING.
fn shaped(size: i32, jitter: f32, inside: impl Fn(Vec3) -> bool) -> Vec<Vec3> {
    let mut noise = Noise(77);
    let cells = (0..size.pow(3))
        .map(|i| Vec3::new((i % size) as f32, (i / size % size) as f32, (i / size / size) as f32));
    let middles = cells.map(|cell| cell + 0.5).filter(|p| inside(*p));
    middles.map(|p| (p + noise.vector() * jitter) * SPACING).collect()
}

/// Known answers: the volume of a ball of 4 spacings and of drops of one particle, over what they should be; the thickness of
/// a sheet of one particle, spacings.
fn known(maker: Maker, cell: f32) -> [f64; 3] {
    let volume =
        |positions: &[Vec3]| maker.make(positions, SPACING, cell).0.volume() / (SPACING as f64).powi(3);
    let ball = shaped(12, 0.0, |p| p.distance(Vec3::splat(6.0)) < 4.0);
    let mut noise = Noise(5);
    // Far from each other, anywhere in the lattice.
    let lone = |i: i32| Vec3::new((i % 5) as f32, (i / 5 % 5) as f32, (i / 25) as f32) * 6.0;
    let drops: Vec<Vec3> = (0..125).map(|i| (lone(i) + noise.vector()) * SPACING).collect();
    let sheet = shaped(40, 0.1, |p| p.y > 20.0 && p.y < 21.0);
    let (mesh, _) = maker.make(&sheet, SPACING, cell);
    let middle = |p: &&Vec3| (p.x / SPACING - 20.0).abs() < 14.0 && (p.z / SPACING - 20.0).abs() < 14.0;
    let offsets: Vec<f64> =
        mesh.positions.iter().filter(middle).map(|p| (p.y / SPACING - 20.5).abs() as f64).collect();
    let thickness = 2.0 * offsets.iter().sum::<f64>() / offsets.len() as f64;
    [volume(&ball) / ball.len() as f64, volume(&drops) / drops.len() as f64, thickness]
}

/// Mean and rms of the height of the pool's flat part, spacings.
fn flatness(mesh: &Mesh) -> (f32, f32) {
    let flat = |p: &Vec3| p.x > 6.0 && p.x < 100.0 && p.z > 6.0 && p.z < 144.0 && p.y > 29.0 && p.y < 31.0;
    let heights: Vec<f32> =
        mesh.positions.iter().map(|p| *p / SPACING).filter(flat).map(|p| p.y - 30.0).collect();
    let mean = heights.iter().sum::<f32>() / heights.len() as f32;
    let square = heights.iter().map(|h| (h - mean).powi(2)).sum::<f32>() / heights.len() as f32;
    (mean, square.sqrt())
}

fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(2).build_global().expect("a pool of threads");
    let mut arguments = std::env::args().skip(1);
    let (positions, spacing) = match (arguments.next(), arguments.next()) {
        (Some(file), Some(spacing)) => {
            let bytes = std::fs::read(file).expect("a readable file");
            let floats = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            let floats: Vec<f32> = floats.collect();
            (floats.chunks_exact(3).map(Vec3::from_slice).collect(), spacing.parse().expect("a number"))
        }
        _ => (splash(), SPACING),
    };
    println!("{} particles, 2 threads; the better of two runs\n", positions.len());
    println!(
        "| cell | | s | CPU s | vertices | triangles | manifold | volume | flat water: mean | rms | ball of 4 | drop | sheet |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let makers = [
        Maker::Ours(Field::Anisotropic),
        Maker::Ours(Field::Smoothed),
        Maker::Splashsurf(25),
        Maker::Splashsurf(0),
    ];
    for (cell, makers) in [(0.5, &makers[..]), (0.25, &[makers[0], makers[2]])] {
        // In turns, so that a neighbour's load falls on all.
        let firsts: Vec<[f32; 2]> =
            makers.iter().map(|maker| maker.make(&positions, spacing, cell).1).collect();
        for (&maker, first) in makers.iter().zip(firsts) {
            let (mesh, second) = maker.make(&positions, spacing, cell);
            let volume = mesh.volume() / (positions.len() as f64 * (spacing as f64).powi(3));
            let (mean, rms) = flatness(&mesh);
            let [ball, drop, sheet] = known(maker, cell);
            println!(
                "| {cell} | {} | {:.2} | {:.2} | {} | {} | {} | {volume:.3} | {mean:+.3} | {rms:.4} | {ball:.3} | {drop:.2} | {sheet:.2} |",
                maker.name(),
                first[0].min(second[0]),
                first[1].min(second[1]),
                mesh.positions.len(),
                mesh.triangles.len(),
                if mesh.is_manifold() { "yes" } else { "no" },
            );
        }
    }
}
