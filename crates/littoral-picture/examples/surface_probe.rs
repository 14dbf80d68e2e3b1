//! Measures every field on bodies with known answers: how rough flat water gets, how thick a sheet, how much volume.
//!
//! `cargo run --release -p littoral-picture --example surface_probe`

use glam::Vec3;
use littoral_picture::mesh::Mesh;
use littoral_picture::surface::{Cloud, Field, Options, surface};

/// Uniform in −1 … 1, by a hash of a counter.
fn noise(counter: &mut u64) -> f32 {
    *counter += 1;
    let mut x = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ x >> 31) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// Lattice points in a box of cells, moved at random by up to `jitter` spacings.
fn block(size: [i32; 3], jitter: f32) -> Vec<Vec3> {
    let mut counter = 1;
    let mut positions = vec![];
    for z in 0..size[2] {
        for y in 0..size[1] {
            for x in 0..size[0] {
                let shake = Vec3::new(noise(&mut counter), noise(&mut counter), noise(&mut counter)) * jitter;
                positions.push(Vec3::new(x as f32, y as f32, z as f32) + 0.5 + shake);
            }
        }
    }
    positions
}

/// Mean and rms height of the upward vertices well within the pool.
fn heights(mesh: &Mesh, size: f32) -> (f32, f32) {
    let inner = |p: &&Vec3| p.x > 5.0 && p.z > 5.0 && p.x < size - 5.0 && p.z < size - 5.0 && p.y > 4.0;
    let heights: Vec<f32> = mesh.positions.iter().filter(inner).map(|p| p.y).collect();
    let mean = heights.iter().sum::<f32>() / heights.len() as f32;
    let square = heights.iter().map(|h| (h - mean).powi(2)).sum::<f32>() / heights.len() as f32;
    (mean, square.sqrt())
}

fn main() {
    let measure = |positions: &[Vec3], options: &Options| {
        surface(&Cloud { positions, spacing: 1.0, volumes: None }, options)
    };
    println!("Heights in spacings above where they should be; volumes over what they should be.");
    println!(
        "{:12} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "field", "passes", "still", "shaken", "rms", "sheet", "drop", "ball 10", "ball 4"
    );
    for (name, field) in Field::NAMES {
        let usual = field.smoothing(0.5);
        for passes in [0, 10, usual].into_iter().filter(|&passes| passes <= usual) {
            let options = Options { field, smoothing: Some(passes), ..Options::default() };
            let still = heights(&measure(&block([30, 8, 30], 0.0), &options), 30.0);
            let shaken = heights(&measure(&block([30, 8, 30], 0.25), &options), 30.0);
            let sheet = measure(&block([30, 1, 30], 0.1), &options).volume() / 900.0;
            let drop = measure(&[Vec3::splat(0.3)], &options).volume();
            let ball = |radius: f32| {
                let inside = |p: &Vec3| (*p - 15.0).length() < radius;
                let ball: Vec<Vec3> = block([30, 30, 30], 0.0).into_iter().filter(inside).collect();
                measure(&ball, &options).volume() / ball.len() as f64
            };
            println!(
                "{name:12} {passes:6} {:8.3} {:8.3} {:8.4} {sheet:8.3} {drop:8.3} {:8.3} {:8.3}",
                still.0 - 8.0,
                shaken.0 - 8.0,
                shaken.1,
                ball(10.0),
                ball(4.0)
            );
            if passes == usual {
                break;
            }
        }
    }
}
