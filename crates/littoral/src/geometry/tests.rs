//! Shapes against brute force and textbooks.

use std::f64::consts::PI;

use super::*;

fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

fn cylinder() -> Shape {
    Shape::Cone { from: [0.1, 0.0, 0.0], to: [0.1, 1.0, 0.3], radii: [0.4; 2] }
}

fn torus() -> Shape {
    Shape::Torus { centre: [0.2, 0.1, 0.0], axis: [0.0, 0.6, 0.8], radius: 0.5, tube: 0.15 }
}

fn shapes() -> Vec<Shape> {
    let cube = Shape::Box { min: [-0.3, 0.0, 0.2], max: [0.5, 0.7, 0.6] };
    let turn = Placement { at: v(0.1, 0.2, 0.3), rotation: DQuat::from_rotation_z(0.6), scale: 1.3 };
    vec![
        cube.clone(),
        cube.placed(&turn),
        Shape::Sphere { centre: [0.1, 0.2, 0.3], radius: 0.5 },
        cylinder(),
        Shape::Cone { from: [0.0; 3], to: [0.0, 0.8, 0.0], radii: [0.5, 0.0] },
        Shape::Cone { from: [0.0; 3], to: [0.2, 0.8, 0.0], radii: [0.2, 0.5] },
        Shape::Capsule { from: [-0.3, 0.0, 0.0], to: [0.4, 0.2, 0.1], radius: 0.3 },
        torus(),
    ]
}

/// Points all over a box of ±1.5.
fn points(count: u64) -> impl Iterator<Item = DVec3> {
    (0..count).map(|i| v(chance(3 * i, 7), chance(3 * i + 1, 7), chance(3 * i + 2, 7)) * 3.0 - 1.5)
}

fn meshed(shape: &Shape, cell: f64) -> Shape {
    let triangles = Geometry::new(shape).triangles(cell);
    Shape::Mesh(Arc::new(Mesh::new(&triangles.positions, &triangles.triangles).unwrap()))
}

fn union(smooth: f64, of: Vec<Shape>) -> Shape {
    Shape::Tree(Tree::new(Operation::Union { smooth }, of))
}

fn difference(of: Vec<Shape>) -> Shape {
    Shape::Tree(Tree::new(Operation::Difference { smooth: 0.0 }, of))
}

/// A cup: a cone cut off, less a smaller one; the wall is 0.05 thick.
fn cup() -> Shape {
    let outer = Shape::Cone { from: [0.0; 3], to: [0.0, 0.6, 0.0], radii: [0.3, 0.4] };
    let inner = Shape::Cone { from: [0.0, 0.05, 0.0], to: [0.0, 0.7, 0.0], radii: [0.25, 0.37] };
    difference(vec![outer, inner])
}

/// Formulas and tessellations agree: neither was made from the other.
#[test]
fn distances_match_the_nearest_point_of_the_surface() {
    for shape in shapes() {
        let (geometry, mesh) = (Geometry::new(&shape), Geometry::new(&meshed(&shape, 0.012)));
        assert!(!mesh.is_thin(), "{shape:?}");
        for p in points(400) {
            let (exact, found) = (geometry.distance(p), mesh.distance(p));
            // Chords of 0.012 leave a circle of 0.15 by 0.012²/8/0.15, and rings are a little wider.
            assert!((exact - found).abs() < 1e-3, "{shape:?} at {p}: {exact} and {found}");
        }
    }
}

#[test]
fn bounds_hold_the_shape_and_are_tight() {
    for shape in shapes() {
        let bounds = Geometry::new(&shape).bounds();
        let mesh = Geometry::new(&meshed(&shape, 0.01)).bounds();
        assert!(bounds.0.abs_diff_eq(mesh.0, 2e-3) && bounds.1.abs_diff_eq(mesh.1, 2e-3), "{shape:?}");
    }
    let hollow = difference(vec![
        Shape::Sphere { centre: [0.0; 3], radius: 1.0 },
        Shape::Plane { point: [0.0; 3], normal: [0.0, 1.0, 0.0] },
    ]);
    let (min, max) = Geometry::new(&hollow).bounds();
    assert!(min.y.abs() < 1e-3 && (max.y - 1.0).abs() < 1e-3, "half a ball: {min} {max}");
}

#[test]
fn normals_point_away() {
    for shape in shapes() {
        let geometry = Geometry::new(&shape);
        for p in points(200).filter(|&p| geometry.distance(p) > 0.05) {
            let n = geometry.normal(p);
            let nearer = geometry.distance(p - n * geometry.distance(p));
            assert!(nearer.abs() < 1e-4, "{shape:?} at {p}: {nearer} left");
        }
    }
}

/// Trees never promise more than there is, and change no faster than the way.
#[test]
fn trees_are_bounded_by_the_true_distance() {
    let trees = [
        cup(),
        union(0.1, shapes()),
        Shape::Tree(Tree::new(Operation::Shell { thickness: 0.04 }, vec![torus()])),
        Shape::Tree(Tree::new(Operation::Round { radius: 0.1 }, vec![cylinder()])),
        Shape::Tree(Tree::new(Operation::Intersection { smooth: 0.05 }, vec![cylinder(), torus()])),
    ];
    for tree in trees {
        let geometry = Geometry::new(&tree);
        let mesh = Geometry::new(&meshed(&tree, 0.01));
        let mut last: Option<(DVec3, f64)> = None;
        for p in points(300) {
            let d = geometry.distance(p);
            assert!(d.abs() <= mesh.distance(p).abs() + 5e-3, "{tree:?} at {p}");
            assert!(d.abs() < 5e-3 || (d < 0.0) == (mesh.distance(p) < 0.0), "{tree:?} at {p}: {d}");
            if let Some((q, e)) = last {
                assert!((d - e).abs() <= p.distance(q) * (1.0 + 1e-9));
            }
            last = Some((p, d));
        }
    }
}

#[test]
fn masses_are_those_of_the_textbook() {
    let near = |a: f64, b: f64, what: &str| assert!((a / b - 1.0).abs() < 2e-3, "{what}: {a} and {b}");
    let mass = |shape: &Shape| Geometry::new(shape).mass_properties();
    let ball = Shape::Sphere { centre: [1.0, 2.0, 3.0], radius: 0.5 };
    let of_ball = mass(&ball);
    near(of_ball.volume, 4.0 / 3.0 * PI * 0.125, "ball");
    near(of_ball.inertia.x_axis.x, 0.4 * of_ball.volume * 0.25, "inertia of a ball");
    assert!(of_ball.centre.abs_diff_eq(v(1.0, 2.0, 3.0), 1e-6));
    near(mass(&meshed(&ball, 0.02)).volume, 4.0 / 3.0 * PI * 0.125, "ball of triangles");

    let height = 1.09f64.sqrt();
    near(mass(&cylinder()).volume, PI * 0.16 * height, "cylinder");
    near(mass(&torus()).volume, 2.0 * PI * PI * 0.5 * 0.15 * 0.15, "torus");
    let rod = Shape::Cone { from: [0.0; 3], to: [0.0, 2.0, 0.0], radii: [0.5; 2] };
    let of_rod = mass(&rod);
    near(of_rod.inertia.y_axis.y, 0.5 * of_rod.volume * 0.25, "about a rod");
    near(of_rod.inertia.x_axis.x, of_rod.volume * (3.0 * 0.25 + 4.0) / 12.0, "across a rod");

    let frustum = |h: f64, a: f64, b: f64| PI * h * (a * a + a * b + b * b) / 3.0;
    let inner = 0.25 + 0.12 * 0.55 / 0.65;
    let of_cup = mass(&cup()).volume;
    near(of_cup, frustum(0.6, 0.3, 0.4) - frustum(0.55, 0.25, inner), "cup");
}

#[test]
fn flat_shapes_have_areas() {
    let cut = difference(vec![
        Shape::Box { min: [0.0; 3], max: [2.0, 1.0, 0.0] },
        Shape::Sphere { centre: [1.0, 0.5, 0.0], radius: 0.3 },
    ]);
    let geometry = Geometry::flat(&cut);
    let mass = geometry.mass_properties();
    assert!((mass.volume - (2.0 - PI * 0.09)).abs() < 2e-3, "{}", mass.volume);
    assert!(mass.centre.abs_diff_eq(v(1.0, 0.5, 0.0), 1e-3));
    assert_eq!((geometry.distance(v(1.0, 0.5, 7.0)), geometry.distance(v(0.1, 0.5, 0.0))), (0.3, -0.1));
    let ring = Shape::Torus { centre: [0.0; 3], axis: [0.0, 1.0, 0.0], radius: 1.0, tube: 0.1 };
    let area = Geometry::flat(&ring).mass_properties().volume;
    assert!((area - 0.4 * PI).abs() < 2e-2, "{area}");

    let samples = geometry.surface_samples(0.05, 0.0);
    let length: f64 = samples.iter().map(|sample| sample.area).sum();
    assert!((length - (6.0 + 0.6 * PI)).abs() < 0.05, "{length}");
    let around = samples.iter().filter(|sample| sample.position.distance(v(1.0, 0.5, 0.0)) < 0.35);
    assert!((around.count() as i64 - 38).abs() <= 1);
}

/// Farthest that any part of a level of the shape is from a sample, in spacings.
fn widest_gap(geometry: &Geometry, spacing: f64, depth: f64, samples: &[SurfaceSample]) -> f64 {
    let level = geometry.level_set(0.3 * spacing, depth, None);
    let probes: Vec<DVec3> = level.corners().flat_map(|[a, b, c]| [a, (a + b + c) / 3.0]).collect();
    gap_at(&probes, spacing, samples)
}

/// Farthest that any of these points is from a sample, in spacings.
fn gap_at(probes: &[DVec3], spacing: f64, samples: &[SurfaceSample]) -> f64 {
    let grid = sample::Grid::new(samples.iter().map(|sample| sample.position), spacing);
    let away = |p: &DVec3| {
        let nearest = grid.nearest(*p, 3.0 * spacing).map(|i| samples[i].position.distance(*p));
        nearest.unwrap_or(3.0 * spacing)
    };
    probes.iter().map(away).fold(0.0, f64::max) / spacing
}

#[test]
fn samples_leave_no_gaps() {
    let spacing = 0.05;
    let mut all = shapes();
    all.push(union(0.1, vec![shapes().remove(2), torus()]));
    all.push(meshed(&torus(), 0.05));
    for shape in all {
        let geometry = Geometry::new(&shape);
        for depth in [0.0, 0.5 * spacing] {
            let samples = geometry.surface_samples(spacing, depth);
            let gap = widest_gap(&geometry, spacing, depth, &samples);
            assert!(gap < 0.8, "{shape:?} at {depth}: a gap of {gap}");
            let area: f64 = samples.iter().map(|sample| sample.area).sum();
            let each = area / samples.len() as f64 / spacing.powi(2);
            assert!((0.75..1.15).contains(&each), "{shape:?}: {each} spacing² each");
            // Cells of half a spacing cut sharp edges off, by less than a tenth of their width.
            let skin = 0.05 * spacing;
            let off = |sample: &&SurfaceSample| (geometry.distance(sample.position) + depth).abs() > skin;
            let tips: Vec<&SurfaceSample> = samples.iter().filter(off).collect();
            // A tip that is thinner than twice the depth has no level: its samples are as deep as there is room.
            assert!(tips.len() * 200 <= samples.len(), "{shape:?}: {} off", tips.len());
            assert!(tips.iter().all(|tip| (-depth..skin).contains(&geometry.distance(tip.position))));
        }
    }
}

/// A cup of triangles whose wall is one spacing thick: one layer in the middle of the wall, without a gap.
#[test]
fn thin_walls_have_one_layer() {
    let spacing = 0.05;
    let cup = Geometry::new(&meshed(&cup(), 0.01));
    for depth in [0.5 * spacing, 0.8 * spacing] {
        let samples = cup.surface_samples(spacing, depth);
        // The middle of the wall, as seen from both sides; edges have less room.
        let half = 0.5 * spacing;
        let surface = cup.triangles(0.01);
        let middle: Vec<DVec3> = surface
            .corners()
            .map(|[a, b, c]| (a + b + c) / 3.0 - (b - a).cross(c - a).normalize() * 0.9 * half)
            .filter(|&p| cup.distance(p) < -0.8 * half)
            .collect();
        assert!(middle.len() > 1000);
        let gap = gap_at(&middle, spacing, &samples);
        // Wider than on a plain surface (0.8) where wall and floor meet: there the layers come to an end at an angle.
        assert!(gap < 0.95, "a gap of {gap} at {depth}");
        let grid = sample::Grid::new(samples.iter().map(|sample| sample.position), spacing);
        let crowded = samples.iter().filter(|sample| {
            let apart = sample.position;
            (0..samples.len()).any(|i| {
                let other = samples[i].position;
                other != apart && other.distance(apart) < 0.4 * spacing
            })
        });
        assert_eq!(crowded.count(), 0, "{} samples", samples.len());
        assert!(grid.nearest(v(0.0, 0.025, 0.0), spacing).is_some());
        assert!(samples.iter().all(|sample| cup.distance(sample.position) < 0.2 * spacing));
    }
}

#[test]
fn an_open_mesh_is_a_thin_sheet() {
    let cube = tessellate::cuboid(DVec3::ZERO, DVec3::ONE);
    // Without its lid.
    let lid = |corners: &[DVec3; 3]| corners.iter().all(|p| p.y == 1.0);
    let triangles: Vec<[u32; 3]> =
        cube.triangles.iter().zip(cube.corners()).filter(|(_, c)| !lid(c)).map(|(t, _)| *t).collect();
    let tray = Shape::Mesh(Arc::new(Mesh::new(&cube.positions, &triangles).unwrap()));
    let geometry = Geometry::new(&tray);
    assert!(geometry.is_thin());
    assert!((geometry.distance(v(0.5, 0.4, 0.5)) - 0.4).abs() < 1e-12);
    let samples = geometry.surface_samples(0.1, 0.05);
    assert!(widest_gap(&geometry, 0.1, 0.0, &samples) < 0.8);
    assert!((samples.iter().map(|sample| sample.area).sum::<f64>() - 5.0).abs() < 0.05);

    let thick = Shape::Tree(Tree::new(Operation::Shell { thickness: 0.1 }, vec![tray]));
    let thick = Geometry::new(&thick);
    assert!(!thick.is_thin());
    assert!((thick.distance(v(0.5, 0.02, 0.5)) + 0.03).abs() < 1e-12);
}

#[test]
fn a_plane_is_sampled_within_a_box() {
    let plane = Geometry::new(&Shape::Plane { point: [0.0, 0.5, 0.0], normal: [0.0, 1.0, 0.0] });
    assert!(plane.surface_samples(0.1, 0.0).is_empty(), "it has no end");
    let samples = plane.surface_samples_within(0.1, 0.05, (DVec3::ZERO, DVec3::ONE));
    assert!((90..150).contains(&samples.len()), "{}", samples.len());
    assert!(samples.iter().all(|s| (s.position.y - 0.45).abs() < 1e-6 && s.normal.y > 0.999));
}

#[test]
fn shapes_can_be_moved() {
    let place = Placement {
        at: v(0.5, -0.2, 0.1),
        rotation: DQuat::from_axis_angle(v(0.6, 0.8, 0.0), 0.7),
        scale: 2.0,
    };
    let mut all = shapes();
    all.extend([cup(), union(0.1, shapes()), meshed(&torus(), 0.05)]);
    for shape in all {
        let (here, there) = (Geometry::new(&shape), Geometry::new(&shape.placed(&place).placed(&place)));
        for p in points(50) {
            let moved = place.apply(place.apply(p));
            assert!((4.0 * here.distance(p) - there.distance(moved)).abs() < 1e-9, "{shape:?}");
        }
    }
}

#[test]
fn particles_keep_their_distance_from_curved_walls() {
    let spacing = 0.05;
    for shape in [torus(), cup(), meshed(&cylinder(), 0.02), union(0.1, shapes())] {
        let geometry = Geometry::new(&shape);
        let (min, max) = geometry.bounds();
        let count = ((max - min) / spacing).ceil().as_i64vec3();
        let mut places: Vec<DVec3> = (0..count.element_product())
            .map(|i| v((i % count.x) as f64, (i / count.x % count.y) as f64, (i / count.x / count.y) as f64))
            .map(|at| min + (at + 0.5) * spacing)
            .filter(|&p| geometry.contains(p))
            .collect();
        let at_first = places.len();
        settle(&mut places, &geometry, spacing);
        let grid = sample::Grid::new(places.iter().copied(), spacing);
        let apart = |(i, p): (usize, &DVec3)| {
            let mut least = f64::INFINITY;
            grid.for_each_near(*p, spacing, |j| {
                if j != i {
                    least = least.min(p.distance(places[j]));
                }
            });
            least
        };
        let closest = places.iter().enumerate().map(apart).fold(f64::INFINITY, f64::min) / spacing;
        let depth = |p: &DVec3| -geometry.distance(*p) / spacing;
        let mut depths: Vec<f64> = places.iter().map(depth).collect();
        depths.sort_by(f64::total_cmp);
        println!(
            "{at_first}: {closest} apart, {} deep, a hundredth below {}",
            depths[0],
            depths[at_first / 100]
        );
        assert!(closest > 0.55 && depths[0] > 0.2, "{shape:?}: {closest} apart, {} deep", depths[0]);
    }
}
