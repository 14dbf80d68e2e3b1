use super::*;
use crate::mesh::Mesh;

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

/// The middles of cubic cells of edge 1, each shaken by up to `jitter` along each axis.
fn block(size: [i32; 3], jitter: f32) -> Vec<Vec3> {
    let mut noise = Noise(1);
    let mut positions = vec![];
    for z in 0..size[2] {
        for y in 0..size[1] {
            for x in 0..size[0] {
                positions.push(Vec3::new(x as f32, y as f32, z as f32) + 0.5 + noise.vector() * jitter);
            }
        }
    }
    positions
}

fn ball(radius: f32) -> Vec<Vec3> {
    let centre = Vec3::splat(radius.ceil() + 1.0);
    let size = 2 * radius.ceil() as i32 + 2;
    block([size; 3], 0.0).into_iter().filter(|p| p.distance(centre) < radius).collect()
}

fn wrapped(positions: &[Vec3], options: &Options) -> Mesh {
    surface(&Cloud { positions, spacing: 1.0, volumes: None }, options)
}

fn with(field: Field) -> Options {
    Options { field, ..Options::default() }
}

fn check(mesh: &Mesh, what: &str) {
    assert!(mesh.is_manifold(), "{what}");
    assert_eq!(mesh.normals.len(), mesh.positions.len());
    assert!(mesh.positions.iter().all(|p| p.is_finite()), "{what}");
    assert!(mesh.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-4), "{what}");
}

/// Mean and rms height of the top, away from the edges.
fn top(mesh: &Mesh, size: f32, above: f32) -> (f32, f32) {
    let inner = |p: &&Vec3| p.x > 5.0 && p.z > 5.0 && p.x < size - 5.0 && p.z < size - 5.0 && p.y > above;
    let heights: Vec<f32> = mesh.positions.iter().filter(inner).map(|p| p.y).collect();
    let mean = heights.iter().sum::<f32>() / heights.len() as f32;
    let square = heights.iter().map(|h| (h - mean).powi(2)).sum::<f32>() / heights.len() as f32;
    (mean, square.sqrt())
}

#[test]
fn still_water_stands_right() {
    let pool = block([20, 7, 20], 0.0);
    for (name, field) in Field::NAMES {
        let (mean, _) = top(&wrapped(&pool, &with(field)), 20.0, 4.0);
        assert!((mean - 7.0).abs() < 0.03, "{name}: {mean}");
    }
}

#[test]
fn flat_water_is_flat() {
    let pool = block([24, 7, 24], 0.25);
    let roughness = |field| top(&wrapped(&pool, &with(field)), 24.0, 4.0).1;
    for field in [Field::Colour, Field::ZhuBridson, Field::Bayraktar] {
        assert!(roughness(field) < 0.15, "{field:?}: {}", roughness(field));
    }
    assert!(roughness(Field::Anisotropic) < 0.04, "{}", roughness(Field::Anisotropic));
    assert!(roughness(Field::Smoothed) < 0.04, "{}", roughness(Field::Smoothed));
    assert!(roughness(Field::Anisotropic) < 0.5 * roughness(Field::Colour));
}

#[test]
fn balls_keep_their_volume() {
    for (radius, tolerance) in [(10.0, 0.03), (4.0, 0.07)] {
        let particles = ball(radius);
        let mesh = wrapped(&particles, &Options::default());
        check(&mesh, "ball");
        assert_eq!(mesh.euler_characteristic(), 2);
        let volume = mesh.volume() / particles.len() as f64;
        assert!((volume - 1.0).abs() < tolerance, "{radius}: {volume}");
        // A sphere has the least area for its volume.
        let least = (36.0 * std::f64::consts::PI * mesh.volume().powi(2)).cbrt();
        assert!(mesh.area() < 1.03 * least, "{radius}: {}", mesh.area() / least);
    }
}

#[test]
fn a_drop_is_small_and_round() {
    for (name, field) in Field::NAMES.into_iter().filter(|(_, field)| *field != Field::Bayraktar) {
        // Wherever it lies in the lattice.
        for shift in [0.0, 0.1, 0.25] {
            let mesh = wrapped(&[Vec3::splat(3.0 + shift)], &with(field));
            check(&mesh, name);
            assert_eq!(mesh.euler_characteristic(), 2);
            let volume = mesh.volume();
            let most = if field == Field::Anisotropic { 1.3 } else { 1.8 };
            assert!(volume > 0.3 && volume < most, "{name}: {volume}");
        }
    }
}

#[test]
fn a_sheet_stays_thin_and_whole() {
    for jitter in [0.0, 0.15] {
        let mesh = wrapped(&block([24, 1, 24], jitter), &Options::default());
        check(&mesh, "sheet");
        assert_eq!(mesh.euler_characteristic(), 2, "holes in the sheet");
        let (mean, _) = top(&mesh, 24.0, 0.5);
        let thickness = 2.0 * (mean - 0.5);
        assert!(thickness > 0.7 && thickness < 1.2, "{thickness}");
    }
}

#[test]
fn two_bodies_do_not_bridge() {
    // A gap of three spacings between two blocks; the mean position alone would fill it.
    let mut positions = block([6, 6, 6], 0.0);
    positions.extend(block([6, 6, 6], 0.0).iter().map(|p| *p + Vec3::X * 8.5));
    for (name, field) in Field::NAMES {
        assert_eq!(wrapped(&positions, &with(field)).euler_characteristic(), 4, "{name}");
    }
}

#[test]
fn any_cloud_is_closed_and_manifold() {
    let slanted = Vec3::new(1.0, 2.0, 0.5).normalize();
    let walls = [
        Wall { normal: Vec3::Y, offset: 0.0 },
        Wall { normal: Vec3::X, offset: 0.13 },
        Wall { normal: -Vec3::Z, offset: -7.3 },
        Wall { normal: slanted, offset: 1.0 },
    ];
    for seed in 0..60 {
        let mut noise = Noise(seed * 1000);
        let count = [3, 40, 300, 900][seed as usize % 4];
        // Clumps, threads and dust.
        let squeeze = [Vec3::ONE, Vec3::new(1.0, 0.1, 1.0), Vec3::new(1.0, 0.1, 0.1)][seed as usize % 3];
        let positions: Vec<Vec3> = (0..count).map(|_| (noise.vector() * squeeze + 1.0) * 4.0).collect();
        let field = Field::NAMES[seed as usize % 5].1;
        for walls in [&walls[..0], &walls[..1], &walls[..3], &walls[1..], &walls[..]] {
            let mesh = wrapped(&positions, &Options { walls: walls.to_vec(), ..with(field) });
            if !mesh.positions.is_empty() {
                check(&mesh, &format!("seed {seed}, {field:?}, {} walls", walls.len()));
            }
            for wall in walls {
                let lowest = mesh.positions.iter().map(|p| wall.distance(*p)).fold(0.0, f32::min);
                assert!(lowest > -1e-4, "seed {seed}: {lowest} behind {wall:?}");
            }
        }
    }
}

/// A tank of 16 × 12 cells, filled 6 deep.
fn tank() -> (Vec<Vec3>, Vec<Wall>) {
    let walls = vec![
        Wall { normal: Vec3::Y, offset: 0.0 },
        Wall { normal: Vec3::X, offset: 0.0 },
        Wall { normal: -Vec3::X, offset: -16.0 },
        Wall { normal: Vec3::Z, offset: 0.0 },
        Wall { normal: -Vec3::Z, offset: -12.0 },
    ];
    (block([16, 6, 12], 0.1), walls)
}

#[test]
fn a_tank_is_flat_at_its_walls() {
    for shift in [0.0, 0.17] {
        let (mut positions, mut walls) = tank();
        positions.iter_mut().for_each(|p| *p += shift);
        walls.iter_mut().for_each(|wall| wall.offset += wall.normal.dot(Vec3::splat(shift)));
        let mesh = wrapped(&positions, &Options { walls: walls.clone(), ..Options::default() });
        check(&mesh, "tank");
        assert_eq!(mesh.euler_characteristic(), 2);
        let volume = mesh.volume() / positions.len() as f64;
        assert!((volume - 1.0).abs() < 0.01, "{volume}");
        for p in &mesh.positions {
            // On a wall or on top.
            let nearest = walls.iter().map(|wall| wall.distance(*p).abs()).fold(f32::INFINITY, f32::min);
            assert!(nearest < 1e-4 || (p.y - 6.0 - shift).abs() < 0.2, "{p} is {nearest} from the walls");
        }
        // The free surface is shaded as such up to the wall, the walls as walls.
        for (p, n) in mesh.positions.iter().zip(&mesh.normals) {
            if walls.iter().all(|wall| wall.distance(*p) > 0.1) {
                assert!(n.y > 0.8, "{n} at {p}");
            } else if p.y > 1.0 + shift && p.y < 4.0 + shift {
                assert!(walls.iter().any(|wall| (*n + wall.normal).length() < 1e-4), "{n} at {p}");
            }
        }
    }
}

#[test]
fn threads_do_not_matter() {
    let (mut positions, walls) = tank();
    let mut noise = Noise(7);
    positions.extend((0..300).map(|_| Vec3::new(8.0, 10.0, 6.0) + noise.vector() * 5.0));
    let mesh = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut mesh = wrapped(&positions, &Options { walls: walls.clone(), ..Options::default() });
            let heights: Vec<f32> = positions.iter().map(|p| p.y).collect();
            interpolate(
                &Cloud { positions: &positions, spacing: 1.0, volumes: None },
                &mut mesh,
                "y",
                1,
                &heights,
            );
            mesh
        })
    };
    let one = mesh(1);
    for threads in [2, 5] {
        let other = mesh(threads);
        assert_eq!(one.positions, other.positions);
        assert_eq!(one.normals, other.normals);
        assert_eq!(one.triangles, other.triangles);
        assert_eq!(one.attributes[0].values, other.attributes[0].values);
    }
}

#[test]
fn moving_by_whole_cells_moves_the_mesh() {
    let mut noise = Noise(3);
    let positions: Vec<Vec3> = (0..400).map(|_| noise.vector() * 4.0).collect();
    let shift = Vec3::new(3.5, -8.0, 16.5);
    let moved: Vec<Vec3> = positions.iter().map(|p| *p + shift).collect();
    let (here, there) = (wrapped(&positions, &Options::default()), wrapped(&moved, &Options::default()));
    assert_eq!(here.positions.len(), there.positions.len());
    // Vertices are numbered by blocks, and blocks lie otherwise after a move that is not a whole number of them.
    let sorted = |mesh: &Mesh, shift: Vec3| {
        let mut keys: Vec<[i64; 3]> =
            mesh.positions.iter().map(|p| ((*p - shift) * 256.0).round().as_i64vec3().to_array()).collect();
        keys.sort_unstable();
        keys
    };
    let (a, b) = (sorted(&here, Vec3::ZERO), sorted(&there, shift));
    let agreeing = a.iter().filter(|key| b.binary_search(key).is_ok()).count();
    assert!(agreeing as f32 > 0.97 * a.len() as f32, "{agreeing} of {}", a.len()); // the rest rounds the other way
}

#[test]
fn volumes_make_drops_smaller() {
    let positions = [Vec3::splat(2.1), Vec3::splat(9.6)];
    let mesh = |volumes: &[f32]| {
        surface(
            &Cloud { positions: &positions, spacing: 1.0, volumes: Some(volumes) },
            &Options { cell: 0.25, ..Options::default() },
        )
        .volume()
    };
    let (full, small) = (mesh(&[1.0, 1.0]), mesh(&[0.3, 0.3]));
    assert!((small / full - 0.3).abs() < 0.05, "{}", small / full);
    assert!(mesh(&[1.0, 0.0]) < 0.6 * full);
}

#[test]
fn bad_particles_are_left_out() {
    assert!(wrapped(&[], &Options::default()).positions.is_empty());
    let good = block([4, 4, 4], 0.0);
    let mut bad = good.clone();
    bad.extend([Vec3::NAN, Vec3::new(1.0, f32::INFINITY, 2.0), Vec3::splat(1e30), Vec3::splat(-1e12)]);
    for (_, field) in Field::NAMES {
        let walls = vec![Wall { normal: Vec3::Y, offset: 0.0 }];
        assert_eq!(wrapped(&bad, &with(field)).positions, wrapped(&good, &with(field)).positions);
        let walled = |p| wrapped(p, &Options { walls: walls.clone(), ..with(field) });
        assert_eq!(walled(&bad).positions, walled(&good).positions);
    }
}

#[test]
fn a_drop_far_away_costs_little() {
    let mut positions = block([4, 4, 4], 0.0);
    positions.push(Vec3::splat(100_000.0));
    let mesh = wrapped(&positions, &Options::default());
    check(&mesh, "far");
    assert_eq!(mesh.euler_characteristic(), 4);
}

#[test]
fn coarse_and_fine_lattices_agree() {
    let particles = ball(6.0);
    for cell in [0.25, 0.35, 0.75, 1.0] {
        let mesh = wrapped(&particles, &Options { cell, smoothing: Some(0), ..Options::default() });
        check(&mesh, "cell");
        let volume = mesh.volume() / particles.len() as f64;
        assert!((volume - 1.0).abs() < 0.06, "{cell}: {volume}");
    }
}

#[test]
fn linear_fields_reach_the_vertices() {
    let particles = block([12, 12, 12], 0.0);
    let cloud = Cloud { positions: &particles, spacing: 1.0, volumes: None };
    let mut mesh = surface(&cloud, &Options::default());
    let velocity: Vec<f32> = particles.iter().flat_map(|p| [p.y, 2.0, -p.x]).collect();
    let ones = vec![1.0; particles.len()];
    interpolate_columns(
        &cloud,
        &mut mesh,
        &[
            Column { name: "velocity", width: 3, values: &velocity },
            Column { name: "one", width: 1, values: &ones },
        ],
    );
    let values = &mesh.attribute("velocity").expect("velocity").values;
    for (p, v) in mesh.positions.iter().zip(values.chunks(3)) {
        // One-sided means at a surface: within a spacing of the truth, times the gradient of 1.
        assert!(
            (v[0] - p.y).abs() < 1.0 && (v[1] - 2.0).abs() < 1e-5 && (v[2] + p.x).abs() < 1.0,
            "{p}: {v:?}"
        );
    }
    assert!(mesh.attribute("one").expect("one").values.iter().all(|one| (one - 1.0).abs() < 1e-5));
}

#[test]
fn drops_are_shaded_round() {
    let centre = Vec3::new(3.1, 2.2, 5.3);
    let mesh = wrapped(&[centre], &Options::default());
    for (p, n) in mesh.positions.iter().zip(&mesh.normals) {
        assert!((p.distance(centre) - 0.62).abs() < 0.03, "{}", p.distance(centre)); // a ball of one spacing³
        assert!(n.dot((*p - centre).normalize()) > 0.99, "{n} at {}", *p - centre);
    }
}

#[test]
fn splitting_makes_rims_sharp() {
    let (positions, walls) = tank();
    let cloud = Cloud { positions: &positions, spacing: 1.0, volumes: None };
    let mut mesh = wrapped(&positions, &Options { walls: walls.clone(), ..Options::default() });
    let heights: Vec<f32> = positions.iter().map(|p| p.y).collect();
    interpolate(&cloud, &mut mesh, "y", 1, &heights);
    let split = split_at_walls(&mesh, &walls);
    assert!((split.volume() - mesh.volume()).abs() < 1e-6 * mesh.volume());
    assert_eq!(split.attributes[0].values.len(), split.positions.len());
    for &triangle in &split.triangles {
        let [a, b, c] = triangle.map(|vertex| split.positions[vertex as usize]);
        let Some(face) = (b - a).cross(c - a).try_normalize() else { continue };
        for vertex in triangle {
            // Every corner is shaded as its triangle lies.
            assert!(
                split.normals[vertex as usize].dot(face) > 0.7,
                "{face} {}",
                split.normals[vertex as usize]
            );
        }
    }
}

/// A ball with a hollow in it, and one in the hollow; the hollow narrower and wider than a block of the lattice.
#[test]
fn hollows_are_filled_when_asked() {
    let ball = |low: f32, high: f32| {
        let points =
            (-22..=22).flat_map(|x| (-22..=22).flat_map(move |y| (-22..=22).map(move |z| (x, y, z))));
        points
            .map(|(x, y, z)| Vec3::new(x as f32, y as f32, z as f32))
            .filter(move |p| (low..high).contains(&p.length()))
    };
    for (hollow, outer, cell) in [(6.5, 11.0, 0.5), (17.0, 21.0, 0.5), (10.0, 13.0, 0.25)] {
        let positions: Vec<Vec3> = ball(0.0, 2.5).chain(ball(hollow, outer)).collect();
        let cloud = Cloud { positions: &positions, spacing: 1.0, volumes: None };
        let wrap = |hollows| surface(&cloud, &Options { hollows, cell, ..Options::default() });
        // Three surfaces, one within the other; then the outer one alone.
        let (shown, filled) = (wrap(true), wrap(false));
        let found = (shown.euler_characteristic(), filled.euler_characteristic());
        assert_eq!(found, (6, 2), "hollow {hollow}, cell {cell}");
        assert!(filled.is_manifold());
        let whole = 4.0 / 3.0 * std::f64::consts::PI * f64::from(outer).powi(3);
        assert!((filled.volume() / whole - 1.0).abs() < 0.05, "{}", filled.volume() / whole);
    }
}
