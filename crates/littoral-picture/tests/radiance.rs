//! The path tracer against radiances that are known: furnaces, planes under sky, sun and lamp, slabs of glass.

use glam::{Vec3, vec3};
use littoral_picture::mesh::Mesh;
use littoral_picture::trace::*;
use std::f32::consts::{FRAC_1_PI, PI};

/// No compression, no denoising, paths as long as they like: the exact solution plus noise.
fn exact(size: usize, samples: usize) -> Settings {
    Settings {
        width: size,
        height: size,
        samples,
        bounces: 200,
        firefly: f32::INFINITY,
        denoise: false,
        ..Settings::default()
    }
}

fn looking(at: Vec3, look_at: Vec3, height: f32) -> Camera {
    let up = if (look_at - at).normalize().y.abs() > 0.9 { Vec3::X } else { Vec3::Y };
    Camera { at, look_at, up, view: View::Orthographic(height), ..Camera::default() }
}

fn mean(picture: &Picture) -> Vec3 {
    picture.radiance.iter().sum::<Vec3>() / picture.radiance.len() as f32
}

fn ball(centre: Vec3, radius: f32) -> Shape {
    Shape::Spheres { centres: vec![centre], radii: vec![radius], colours: vec![], wetness: vec![] }
}

fn ground(look: Look) -> Option<Ground> {
    Some(Ground { height: 0.0, look, tiles: None, fade: 1e9 })
}

fn matt(albedo: f32) -> Look {
    Look::Diffuse { colour: Vec3::splat(albedo), porosity: 0.0 }
}

fn clear(index: f32, absorption: Vec3) -> Look {
    Look::Clear { index, absorption, roughness: 0.0 }
}

/// Bright below, dark above.
fn lit_from_below() -> Sky {
    let (below, black) = (Vec3::ONE, Vec3::ZERO);
    Sky::Gradient { zenith: black, horizon: black, below, glow: black, towards: Vec3::Y }
}

/// Quads between rings of a globe; closed, with smooth normals.
fn globe(centre: Vec3, radius: f32, rings: u32) -> Mesh {
    let sectors = 2 * rings;
    let mut mesh = Mesh::default();
    for ring in 0..=rings {
        for sector in 0..sectors {
            let (down, around) = (ring as f32 / rings as f32 * PI, sector as f32 / sectors as f32 * 2.0 * PI);
            let normal = vec3(down.sin() * around.cos(), down.cos(), down.sin() * around.sin());
            mesh.positions.push(centre + radius * normal);
            mesh.normals.push(normal);
        }
    }
    for ring in 0..rings {
        for sector in 0..sectors {
            let next = (sector + 1) % sectors;
            let corners = [(0, sector), (0, next), (1, sector), (1, next)];
            let [a, b, c, d] = corners.map(|(down, sector)| (ring + down) * sectors + sector);
            mesh.triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    mesh
}

/// A closed box, 100 m wide.
fn slab(low: f32, high: f32) -> Shape {
    let positions = (0..8)
        .map(|i| {
            let side = |bit: usize| if i >> bit & 1 == 1 { 50.0 } else { -50.0 };
            vec3(side(0), if i >> 1 & 1 == 1 { high } else { low }, side(2))
        })
        .collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Shape::Mesh(Mesh { positions, triangles, ..Mesh::default() })
}

/// Whatever does not absorb is invisible in front of a uniform sky.
#[test]
fn white_things_vanish_in_a_furnace() {
    let white = Vec3::ONE;
    let looks = [
        ("diffuse", matt(1.0), 0.005),
        // The coat's albedo comes from a table with linear interpolation.
        ("glossy", Look::Glossy { colour: white, roughness: 0.3 }, 0.02),
        ("rough glossy", Look::Glossy { colour: white, roughness: 0.8 }, 0.02),
        ("metal", Look::Metal { colour: white, roughness: 0.3 }, 0.02),
        ("rough metal", Look::Metal { colour: white, roughness: 0.9 }, 0.02),
        ("clear", clear(1.5, Vec3::ZERO), 0.005),
        ("frosted", Look::Clear { index: 1.5, absorption: Vec3::ZERO, roughness: 0.4 }, 0.005),
        ("wax", Look::Wax { colour: white, mean_free_path: 0.1, roughness: 0.4 }, 0.02),
        ("fibre", Look::Fibre { colour: white, translucency: 0.4, porosity: 0.0 }, 0.005),
    ];
    for (name, look, tolerance) in looks {
        let mut shapes = vec![ball(Vec3::ZERO, 1.0), Shape::Mesh(globe(Vec3::ZERO, 1.0, 24))];
        // Threads have no inside.
        if !matches!(look, Look::Clear { .. } | Look::Wax { .. }) {
            shapes.push(Shape::Curves {
                points: vec![
                    vec3(-0.9, -0.2, 0.0),
                    vec3(-0.3, 0.3, 0.1),
                    vec3(0.2, -0.3, 0.0),
                    vec3(0.9, 0.4, 0.0),
                ],
                radii: vec![0.2, 0.25, 0.2, 0.3],
                strands: vec![4],
                colours: vec![],
                wetness: vec![],
            });
        }
        for (number, shape) in shapes.into_iter().enumerate() {
            let scene = Scene {
                camera: looking(vec3(0.0, 1.0, 4.0), Vec3::ZERO, 2.2),
                sky: Sky::Uniform(Vec3::ONE),
                things: vec![Thing { shape, look }],
                ..Scene::default()
            };
            let picture = render(&scene, &exact(16, 64));
            let value = mean(&picture);
            assert!((value - 1.0).abs().max_element() < tolerance, "{name}, shape {number}: mean {value}");
            let worst = picture.radiance.iter().map(|c| (*c - 1.0).abs().max_element()).fold(0.0, f32::max);
            // 64 samples: weights of rough lobes scatter by some tenths each.
            assert!(worst < 0.15, "{name}, shape {number}: worst pixel off by {worst}");
        }
    }
}

#[test]
fn a_plane_under_a_uniform_sky_and_sun() {
    let (albedo, sky) = (0.4, 0.7);
    let under_sky = Scene {
        camera: looking(vec3(0.0, 2.0, 0.0), Vec3::ZERO, 1.0),
        sky: Sky::Uniform(Vec3::splat(sky)),
        ground: ground(matt(albedo)),
        ..Scene::default()
    };
    let value = mean(&render(&under_sky, &exact(4, 16)));
    // Cosine-weighted samples of a uniform sky have no noise.
    assert!((value - albedo * sky).abs().max_element() < 1e-4, "{value}");

    // The sun alone, at 50°, small and large: E cos θ / π times the albedo.
    let angle = 50f32.to_radians();
    for angular_radius in [0.005, 0.1] {
        let irradiance = vec3(3.0, 2.0, 1.0);
        let sun = Sun { direction: vec3(angle.sin(), angle.cos(), 0.0), irradiance, angular_radius };
        let under_sun = Scene { sky: Sky::Uniform(Vec3::ZERO), sun: Some(sun), ..under_sky.clone() };
        let expected = albedo * irradiance * angle.cos() * FRAC_1_PI;
        let value = mean(&render(&under_sun, &exact(4, 256)));
        // The power heuristic hands a share to rare hits of the disc by chance.
        assert!((value / expected - 1.0).abs().max_element() < 0.01, "{angular_radius}: {value} {expected}");
    }
}

/// Below a studio's light that is straight overhead: a 2π ∫ L(μ) μ dμ / π over the cosine μ.
#[test]
fn a_plane_in_a_studio() {
    let (surround, light, albedo) = (0.2, 3.0, 0.5);
    let scene = Scene {
        camera: looking(vec3(0.0, 2.0, 0.0), Vec3::ZERO, 1.0),
        sky: Sky::Studio { surround: Vec3::splat(surround), light: Vec3::splat(light), towards: Vec3::Y },
        ground: ground(matt(albedo)),
        ..Scene::default()
    };
    let steps = 10_000;
    let sum: f32 = (0..steps)
        .map(|step| {
            let cosine = (step as f32 + 0.5) / steps as f32;
            let edge = ((cosine - 0.45) / 0.35).clamp(0.0, 1.0);
            let radiance = surround * (0.7 + 0.3 * cosine) + light * edge * edge * (3.0 - 2.0 * edge);
            radiance * cosine / steps as f32
        })
        .sum();
    let value = mean(&render(&scene, &exact(4, 256)));
    assert!((value.x / (2.0 * albedo * sum) - 1.0).abs() < 0.01, "{value} {}", 2.0 * albedo * sum);
}

/// The view factor from a point on the ground to a rectangle parallel to it, with a corner above the point
/// (Howell, "A Catalog of Radiation Heat Transfer Configuration Factors", B-3).
fn view_factor(a: f32, b: f32, height: f32) -> f32 {
    let (x, y) = (a / height, b / height);
    let (root_x, root_y) = ((1.0 + x * x).sqrt(), (1.0 + y * y).sqrt());
    (x / root_x * (y / root_x).atan() + y / root_y * (x / root_y).atan()) / (2.0 * PI)
}

#[test]
fn a_lamp_lights_a_plane_by_its_view_factor() {
    let (a, b, height) = (0.8, 0.5, 0.6);
    let lamp = Lamp {
        corner: vec3(0.0, height, 0.0),
        edge_u: vec3(a, 0.0, 0.0),
        edge_v: vec3(0.0, 0.0, b),
        radiance: Vec3::splat(5.0),
    };
    let shining_up = Lamp { edge_u: lamp.edge_v, edge_v: lamp.edge_u, ..lamp };
    for (lamp, factor) in [(lamp, view_factor(a, b, height)), (shining_up, 0.0)] {
        let scene = Scene {
            // A point beside the lamp, seen from below its edge.
            camera: looking(vec3(-0.5, 0.4, -0.2), Vec3::ZERO, 1e-3),
            sky: Sky::Uniform(Vec3::ZERO),
            lamps: vec![lamp],
            ground: ground(matt(0.6)),
            ..Scene::default()
        };
        let expected = 0.6 * 5.0 * factor;
        let value = mean(&render(&scene, &exact(4, 512))).x;
        // Standard error of 8192 samples whose spread is about their mean: 1%.
        assert!((value - expected).abs() <= 0.02 * expected, "{value} {expected}");
    }
}

/// Lamps are opaque from their bright side alone, here without any light of their own.
#[test]
fn a_lamp_shades_the_plane_from_sun_and_lamps_behind_it() {
    let square = |height: f32, edge: f32, radiance: f32| Lamp {
        corner: vec3(-0.5 * edge, height, -0.5 * edge),
        edge_u: vec3(edge, 0.0, 0.0),
        edge_v: vec3(0.0, 0.0, edge),
        radiance: Vec3::splat(radiance),
    };
    let (dark, behind) = (square(0.5, 2.0, 0.0), square(1.0, 0.2, 40.0));
    let turned = Lamp { edge_u: dark.edge_v, edge_v: dark.edge_u, ..dark };
    let sun = Sun { direction: Vec3::Y, irradiance: Vec3::ONE, angular_radius: 0.01 };
    let value = |lamps: Vec<Lamp>, sun: Option<Sun>| {
        let scene = Scene {
            camera: looking(vec3(0.9, 0.2, 0.0), Vec3::ZERO, 1e-3),
            sky: Sky::Uniform(Vec3::ZERO),
            ground: ground(matt(0.5)),
            sun,
            lamps,
            ..Scene::default()
        };
        mean(&render(&scene, &exact(4, 256))).x
    };
    assert_eq!(value(vec![dark], Some(sun)), 0.0);
    assert!((value(vec![turned], Some(sun)) / (0.5 * FRAC_1_PI) - 1.0).abs() < 0.01);
    assert_eq!(value(vec![dark, behind], None), 0.0);
    let expected = 0.5 * 40.0 * 4.0 * view_factor(0.1, 0.1, 1.0);
    assert!((value(vec![turned, behind], None) / expected - 1.0).abs() < 0.03);
}

/// A black ball of radius R whose centre is at height h above a point takes (R/h)² of its skylight.
#[test]
fn a_ball_shades_the_plane_below_it() {
    let (radius, height) = (0.4, 1.0);
    let scene = Scene {
        camera: looking(vec3(0.9, 0.5, 0.0), Vec3::ZERO, 1e-3),
        sky: Sky::Uniform(Vec3::ONE),
        ground: ground(matt(0.5)),
        things: vec![Thing { shape: ball(vec3(0.0, height, 0.0), radius), look: matt(0.0) }],
        ..Scene::default()
    };
    let expected = 0.5 * (1.0 - (radius / height).powi(2));
    let value = mean(&render(&scene, &exact(4, 512)));
    // Standard error of a share of 16% from 8192 samples: 0.4% of the whole.
    assert!((value.x - expected).abs() < 0.5 * 0.008, "{value} {expected}");
}

/// A sphere of radius r at height h lights the plane below it with E = π L (r/h)², however its limb is darkened; in its
/// middle it is brighter by a quarter.
#[test]
fn what_glows_is_seen_and_lights_the_plane_below_it() {
    let (radiance, radius, height) = (2.0, 1.0, 1.5);
    let glow =
        Thing { shape: ball(height * Vec3::Y, radius), look: Look::Glow { radiance: Vec3::splat(radiance) } };
    let dark = Scene { sky: Sky::Uniform(Vec3::ZERO), things: vec![glow], ..Scene::default() };
    let above = Scene { camera: looking(vec3(0.0, 5.0, 0.0), height * Vec3::Y, 0.01), ..dark.clone() };
    assert!((mean(&render(&above, &exact(4, 4))) - 1.25 * radiance).abs().max_element() < 1e-3);

    // From the side, under the sphere; light that comes back from the ball's ash is 4 % of 4 %.
    let camera = looking(vec3(3.0, 0.2, 0.0), vec3(0.0, 0.0, 0.0), 0.002);
    let below = Scene { camera, ground: ground(matt(0.5)), ..dark };
    let expected = 0.5 * radiance * (radius / height).powi(2);
    let seen = mean(&render(&below, &exact(16, 256)));
    assert!((seen / expected - 1.0).abs().max_element() < 0.03, "{seen} {expected}");
}

/// Looking squarely through a slab: all reflections between its faces summed. With one face's reflectance
/// R = ((n − 1)/(n + 1))² and the passage τ = exp(−σ d), the slab lets pass T = (1 − R)² τ / (1 − R² τ²) and throws
/// back R (1 + T τ).
#[test]
fn a_slab_follows_beer_lambert_and_fresnel() {
    let (index, thickness) = (1.5f32, 0.3);
    let absorption = vec3(0.0, 1.0, 5.0);
    let from = |height: f32| {
        let scene = Scene {
            camera: looking(vec3(0.0, height, 0.0), Vec3::ZERO, 0.1),
            sky: lit_from_below(),
            things: vec![Thing { shape: slab(-thickness, 0.0), look: clear(index, absorption) }],
            ..Scene::default()
        };
        mean(&render(&scene, &exact(8, 64)))
    };
    let r = ((index - 1.0) / (index + 1.0)).powi(2);
    let (through, back) = (from(3.0), from(-3.0));
    for channel in 0..3 {
        let tau = (-absorption[channel] * thickness).exp();
        let passed = (1.0 - r).powi(2) * tau / (1.0 - r * r * tau * tau);
        let thrown_back = r * (1.0 + passed * tau);
        // Two boundaries are split without noise; later ones toss a coin over R = 4% of what is left.
        assert!((through[channel] - passed).abs() < 1e-3, "{through} {passed}");
        assert!((back[channel] - thrown_back).abs() < 1e-3, "{back} {thrown_back}");
    }
}

/// Ground that does not absorb, under water that does not absorb: as bright as the sky, whatever way light takes.
#[test]
fn white_ground_under_water_vanishes_in_a_furnace() {
    let scene = Scene {
        camera: looking(vec3(0.3, 2.0, 1.0), Vec3::ZERO, 0.5),
        sky: Sky::Uniform(Vec3::ONE),
        ground: ground(matt(1.0)),
        things: vec![Thing { shape: slab(-0.1, 0.5), look: clear(1.333, Vec3::ZERO) }],
        ..Scene::default()
    };
    let value = mean(&render(&scene, &exact(16, 64)));
    // 16384 paths whose weights scatter by about 1, mostly by the n² of refraction.
    assert!((value - 1.0).abs().max_element() < 0.03, "{value}");
}

/// Sunlight reaches the ground under water straight, less Fresnel's and Beer–Lambert's shares.
#[test]
fn the_sun_shines_through_water() {
    let (depth, index, irradiance, albedo, absorption) = (0.5, 1.333f32, 3.0, 0.3, 1.4);
    let direction = vec3(0.3, 1.0, 0.0).normalize();
    let scene = Scene {
        camera: looking(vec3(0.0, 2.0, 0.0), Vec3::ZERO, 0.2),
        sky: Sky::Uniform(Vec3::ZERO),
        sun: Some(Sun { direction, irradiance: Vec3::splat(irradiance), angular_radius: 0.001 }),
        ground: ground(matt(albedo)),
        things: vec![Thing { shape: slab(-0.1, depth), look: clear(index, Vec3::splat(absorption)) }],
        ..Scene::default()
    };
    let r = ((index - 1.0) / (index + 1.0)).powi(2);
    let arrives = irradiance * direction.y * (1.0 - r) * (-absorption * depth / direction.y).exp();
    let expected = albedo * FRAC_1_PI * arrives * (1.0 - r) * (-absorption * depth).exp() / (index * index);
    let value = mean(&render(&scene, &Settings { bounces: 1, ..exact(8, 64) }));
    // Fresnel at the sun's angle of 17° differs from that at 0° in the fourth digit.
    assert!((value.x / expected - 1.0).abs() < 0.005, "{value} {expected}");
}

/// Honey in water: one mesh overlaps the other, the denser counts; a gap is closed; a camera may be inside.
#[test]
fn overlapping_media_and_gaps() {
    let (water, honey) = (clear(1.333, Vec3::splat(1.0)), clear(1.5, Vec3::splat(3.0)));
    let look_down = |bottom_of_water: f32, height: f32, gap: f32| {
        let scene = Scene {
            camera: looking(vec3(0.0, height, 0.0), Vec3::ZERO, 0.1),
            sky: lit_from_below(),
            things: vec![
                Thing { shape: slab(-0.2, 0.0), look: honey },
                Thing { shape: slab(bottom_of_water, 0.3), look: water },
            ],
            ..Scene::default()
        };
        mean(&render(&scene, &Settings { gap, ..exact(8, 256) })).x
    };
    let overlapping = look_down(-0.1, 2.0, 0.0);
    let closed = look_down(0.0001, 2.0, 0.001);
    let open = look_down(0.0001, 2.0, 0.0);
    let passes = |a: f32, b: f32| 1.0 - ((a - b) / (a + b)).powi(2);
    let expected = (-0.3 - 3.0 * 0.2f32).exp() * passes(1.0, 1.333) * passes(1.333, 1.5) * passes(1.5, 1.0);
    // Reflections back and forth add less than half a per cent.
    assert!((overlapping / expected - 1.0).abs() < 0.006, "{overlapping} {expected}");
    assert!((closed / expected - 1.0).abs() < 0.006, "{closed} {expected}");
    assert!(open < 0.97 * expected, "{open} {expected}");
    // From inside the water: one boundary and 0.2 m of water less, and radiance that is n² times higher.
    let inside = look_down(-0.1, 0.1, 0.0);
    let expected = expected / passes(1.0, 1.333) * 0.2f32.exp() * 1.333 * 1.333;
    assert!((inside / expected - 1.0).abs() < 0.01, "{inside} {expected}");
}

fn small_still_life() -> Scene {
    let globes = [(-0.7, Look::WATER), (0.0, Look::WAX), (0.7, Look::GOLD)];
    let thing = |(x, look)| Thing { shape: Shape::Mesh(globe(vec3(x, 0.3, 0.0), 0.3, 16)), look };
    Scene {
        camera: Camera { at: vec3(0.3, 1.0, 3.0), look_at: vec3(0.0, 0.25, 0.0), ..Camera::default() },
        sun: Some(Sun::default()),
        ground: Some(Ground::default()),
        things: globes.into_iter().map(thing).collect(),
        ..Scene::default()
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let scene = small_still_life();
    let settings = Settings { width: 60, height: 34, samples: 3, ..Settings::default() };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&scene, &settings))
    };
    let one = on(1);
    for threads in [2, 5] {
        let other = on(threads);
        assert_eq!(one.radiance, other.radiance);
        assert_eq!(one.rays, other.rays);
    }
    let reseeded = render(&scene, &Settings { seed: 2, ..settings });
    assert_ne!(one.radiance, reseeded.radiance);
}

#[test]
fn pictures_average_by_their_samples() {
    let scene = small_still_life();
    let settings = Settings { width: 40, height: 24, samples: 6, denoise: false, ..Settings::default() };
    let whole = render(&scene, &settings);
    let mut parts = render(&scene, &Settings { samples: 2, ..settings });
    parts.add(&render(&scene, &Settings { samples: 4, first_sample: 2, ..settings }));
    assert_eq!((parts.samples, parts.rays), (6, whole.rays));
    for (a, b) in whole.radiance.iter().zip(&parts.radiance) {
        // The same samples, summed in another order.
        assert!((*a - *b).abs().max_element() <= 1e-4 * (1.0 + a.max_element()), "{a} {b}");
    }
}

#[test]
fn denoising_keeps_edges_and_lowers_errors() {
    // A constant, and a sharp edge without noise: both stay.
    let (width, height) = (32, 24);
    for bright in [0.2, 0.9] {
        let value = |at: usize| Vec3::splat(if at % width < 16 { 0.2 } else { bright });
        let picture = Picture {
            width,
            height,
            radiance: (0..width * height).map(value).collect(),
            glint: vec![Vec3::ZERO; width * height],
            albedo: vec![Vec3::ONE; width * height],
            normal: vec![Vec3::Y; width * height],
            nearness: vec![1.0; width * height],
            variance: vec![0.0; width * height],
            samples: 8,
            rays: 0,
        };
        for (a, b) in picture.radiance.iter().zip(&denoise(&picture).radiance) {
            assert!((*a - *b).abs().max_element() < 1e-5, "{a} {b}");
        }
    }

    // A real picture against a converged one.
    let scene = small_still_life();
    let settings = Settings { width: 128, height: 72, samples: 8, denoise: false, ..Settings::default() };
    let reference = render(&scene, &Settings { samples: 256, first_sample: 1024, ..settings });
    let noisy = render(&scene, &settings);
    let error = |picture: &Picture| {
        // Relative squared error, so that dark places count.
        let pixels = picture.radiance.iter().zip(&reference.radiance);
        let sum: f32 = pixels.map(|(a, b)| (*a - *b).length_squared() / (b.length_squared() + 0.01)).sum();
        sum / picture.radiance.len() as f32
    };
    let (before, after) = (error(&noisy), error(&denoise(&noisy)));
    assert!(after < 0.4 * before, "relative squared error {before} before, {after} after");
}
