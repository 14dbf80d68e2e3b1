//! A quick look: particles as shaded balls, in a fraction of a second.
//!
//! Each ball is an exact sphere (or disc), each pixel has four samples. Light is a sun with shadows (a depth buffer
//! seen from the sun, filtered by percentage: Reeves et al. 1987), a sky that is brighter above, and the part of
//! that sky which the depth buffer says is hidden (volumetric obscurance: Loos & Sloan 2010). Lines are drawn where
//! they are in front. There is no refraction, no reflection and no film tone: what a colour map says is
//! what a fully lit ball shows, so that a legend can be read.
//!
//! Limits: a ball that touches the plane of the camera is left out. Occlusion knows only what the picture shows. The
//! depth buffer takes 8 bytes a sample: 30 MB at 1280 × 720, 270 MB at 3840 × 2160.
//! The same bits on any number of threads. Kept honest by the tests below.

use std::f32::consts::TAU;
use std::ops::Range;
use std::sync::LazyLock;

use glam::{Vec2, Vec3};
use rayon::prelude::*;

use crate::colour::srgb_from_linear;
use crate::image::Image;
use crate::splat::{Camera, Depths, NOTHING, Projected, splat};

/// From where, and to where, we look.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// m.
    pub at: Vec3,
    /// m.
    pub look_at: Vec3,
    pub up: Vec3,
    pub lens: Lens,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens {
    /// Vertical angle of view, radians.
    Perspective { field_of_view: f32 },
    /// Parallel rays; what the picture shows from bottom to top, m.
    Orthographic { height: f32 },
}

impl View {
    /// Right, up and forward: unit vectors at right angles, whatever the fields say.
    fn axes(&self) -> (Vec3, Vec3, Vec3) {
        let forward = (self.look_at - self.at).try_normalize().unwrap_or(-Vec3::Z);
        let right =
            forward.cross(self.up).try_normalize().unwrap_or_else(|| forward.any_orthonormal_vector());
        (right, right.cross(forward), forward)
    }

    fn camera(&self, width: usize, height: usize) -> Camera {
        let (right, up, forward) = self.axes();
        let (perspective, top) = match self.lens {
            Lens::Perspective { field_of_view } => (true, (0.5 * field_of_view).tan()),
            Lens::Orthographic { height } => (false, 0.5 * height),
        };
        let step = 2.0 * top / height as f32;
        let left = -0.5 * step * width as f32;
        Camera { at: self.at, right, up, forward, perspective, width, height, left, top, step }
    }
}

/// Balls of one kind. `radii` and `colours` have one entry for each centre, or one for all.
#[derive(Clone, Copy, Debug)]
pub struct Balls<'a> {
    /// m. What is not a number is left out.
    pub centres: &'a [Vec3],
    /// m.
    pub radii: &'a [f32],
    /// Linear RGB.
    pub colours: &'a [Vec3],
}

impl Balls<'_> {
    fn radius(&self, index: usize) -> f32 {
        if self.radii.len() == 1 { self.radii[0] } else { self.radii[index] }
    }

    fn colour(&self, index: usize) -> Vec3 {
        if self.colours.len() == 1 { self.colours[0] } else { self.colours[index] }
    }
}

/// A straight line, hidden where something is in front of it.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// m.
    pub a: Vec3,
    /// m.
    pub b: Vec3,
    /// Pixels.
    pub width: f32,
    /// Linear RGB.
    pub colour: Vec3,
}

/// A floor with a grid; it hides what is below it, and is not drawn when seen from below.
#[derive(Clone, Copy, Debug)]
pub struct GroundGrid {
    /// y of the floor, m.
    pub height: f32,
    /// Between lines, m; every fifth is stronger.
    pub spacing: f32,
    /// Linear RGB.
    pub colour: Vec3,
}

impl GroundGrid {
    pub fn new(height: f32, spacing: f32) -> GroundGrid {
        GroundGrid { height, spacing, colour: Vec3::new(0.60, 0.60, 0.585) }
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// Pixels.
    pub width: usize,
    pub height: usize,
    pub shading: Shading,
    /// Background at the top and at the bottom, linear RGB.
    pub sky: [Vec3; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shading {
    /// Sun, sky and shadows. The direction points to the sun; without one it stands behind the camera's left
    /// shoulder.
    Lit { sun: Option<Vec3> },
    /// Discs in exactly the colours given, with a thin darker rim.
    Flat,
}

impl Default for Settings {
    fn default() -> Settings {
        let sky = [Vec3::new(0.42, 0.52, 0.64), Vec3::new(0.86, 0.88, 0.90)];
        Settings { width: 1280, height: 720, shading: Shading::Lit { sun: None }, sky }
    }
}

/// Samples along each side of a pixel.
const FINE: usize = 2;
/// Rows of pixels that are shaded together.
const BAND: usize = 16;
/// Even a distant particle covers about a pixel, or clouds of them would flicker. Samples.
const LEAST_RADIUS: f32 = 0.6 * FINE as f32;

/// Draws balls, lines and a floor.
pub fn preview(
    view: &View,
    balls: &[Balls],
    lines: &[Segment],
    ground: Option<&GroundGrid>,
    settings: &Settings,
) -> Image {
    for group in balls {
        let fits = |length: usize| length == 1 || length == group.centres.len();
        assert!(
            fits(group.radii.len()) && fits(group.colours.len()),
            "one radius and colour for each ball, or for all"
        );
    }
    let (width, height) = (settings.width, settings.height);
    let camera = view.camera(width * FINE, height * FINE);
    let projected = project(&camera, balls, LEAST_RADIUS);
    let floor = |place| ground.map_or(f32::INFINITY, |ground| camera.depth_of_plane(ground.height, place));
    let depths = splat(&camera, &projected, floor);

    let light = match settings.shading {
        Shading::Flat => None,
        Shading::Lit { sun } => Some(Light::new(&camera, sun, balls, &depths, &projected, view)),
    };
    let scene = Scene { view, settings, camera, projected, depths, balls, ground, light };
    let strokes: Vec<Stroke> = lines.iter().filter_map(|line| Stroke::new(&scene.camera, line)).collect();

    let mut pixels = vec![[0; 3]; width * height];
    pixels.par_chunks_mut(width * BAND).enumerate().for_each(|(band, pixels)| {
        let rows = band * BAND..band * BAND + pixels.len() / width;
        let mut colours: Vec<Vec3> = rows
            .clone()
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| scene.colour(x, y))
            .collect();
        for stroke in &strokes {
            stroke.draw(&scene, rows.clone(), &mut colours);
        }
        for (place, (pixel, colour)) in pixels.iter_mut().zip(colours).enumerate() {
            *pixel = dithered(colour, place % width, rows.start + place / width);
        }
    });
    Image { width, height, pixels }
}

fn project(camera: &Camera, balls: &[Balls], least: f32) -> Vec<Projected> {
    let mut projected = Vec::new();
    let mut before = 0;
    for group in balls {
        projected.par_extend(group.centres.par_iter().enumerate().filter_map(|(index, centre)| {
            Projected::new(camera, *centre, group.radius(index), least, (before + index) as u32)
        }));
        before += group.centres.len();
    }
    projected
}

/// Rounds to 8 bits with a pattern that hides the steps of gradients (interleaved gradient noise: Jimenez 2014).
fn dithered(linear: Vec3, x: usize, y: usize) -> [u8; 3] {
    let noise = (52.982_918 * (0.067_110_56 * x as f32 + 0.005_837_15 * y as f32).fract()).fract();
    linear.to_array().map(|light| (255.0 * fast_srgb(light) + noise).clamp(0.0, 255.0) as u8)
}

/// sRGB from a table: powers for every pixel would take as long as drawing the balls.
fn fast_srgb(light: f32) -> f32 {
    const LENGTH: usize = 4096;
    static TABLE: LazyLock<Vec<f32>> = LazyLock::new(|| {
        // Even steps in the square root: dense where the curve is steep.
        (0..=LENGTH + 1).map(|k| srgb_from_linear((k as f32 / LENGTH as f32).powi(2).min(1.0))).collect()
    });
    let place = light.clamp(0.0, 1.0).sqrt() * LENGTH as f32;
    let left = place as usize;
    TABLE[left] + (TABLE[left + 1] - TABLE[left]) * (place - left as f32)
}

// Shading -----------------------------------------------------------------------------------------------------------

struct Scene<'a> {
    view: &'a View,
    settings: &'a Settings,
    camera: Camera,
    projected: Vec<Projected>,
    depths: Depths,
    balls: &'a [Balls<'a>],
    ground: Option<&'a GroundGrid>,
    light: Option<Light>,
}

impl Scene<'_> {
    /// The mean colour of a pixel's samples. Samples on one ball, or on none, are shaded once, in their middle.
    fn colour(&self, x: usize, y: usize) -> Vec3 {
        const SAMPLES: usize = FINE * FINE;
        let places: [(usize, usize); SAMPLES] =
            std::array::from_fn(|k| (x * FINE + k % FINE, y * FINE + k / FINE));
        let seen = places.map(|(i, j)| {
            let (depth, ball) = self.depths.at(i, j);
            (ball, depth.is_finite())
        });
        let mut sum = Vec3::ZERO;
        for k in 0..SAMPLES {
            if seen[..k].contains(&seen[k]) {
                continue;
            }
            let (mut middle, mut count) = (Vec2::ZERO, 0.0);
            for ((i, j), _) in places.iter().zip(&seen).filter(|(_, other)| **other == seen[k]) {
                middle += Vec2::new(*i as f32 + 0.5, *j as f32 + 0.5);
                count += 1.0;
            }
            let middle = middle / count;
            sum += count * self.shade(seen[k], middle, (x, y));
        }
        sum / SAMPLES as f32
    }

    fn shade(&self, (ball, finite): (u32, bool), middle: Vec2, pixel: (usize, usize)) -> Vec3 {
        let place = self.camera.plane(middle.x, middle.y);
        if ball != NOTHING {
            self.shade_ball(&self.projected[ball as usize], place, pixel)
        } else if let Some(ground) = self.ground.filter(|_| finite) {
            self.shade_ground(ground, middle, pixel)
        } else {
            self.sky(middle.y)
        }
    }

    fn sky(&self, y: f32) -> Vec3 {
        self.settings.sky[0].lerp(self.settings.sky[1], y / self.camera.height as f32)
    }

    fn shade_ball(&self, ball: &Projected, place: (f32, f32), pixel: (usize, usize)) -> Vec3 {
        let point = self.camera.point(place, ball.depth_at(&self.camera, place));
        let normal = (point - ball.centre) / ball.radius;
        let albedo = self.colour_of(ball.source as usize);
        match &self.light {
            Some(light) => light.on(albedo, point, normal, 0.4 * ball.radius, pixel),
            None => {
                // Rim: where the outline is near, seen along the ray.
                let towards = if self.camera.perspective { -point.normalize() } else { -Vec3::Z };
                let edge = smooth_step(0.55, 0.35, normal.dot(towards));
                albedo * (1.0 - 0.35 * edge)
            }
        }
    }

    fn colour_of(&self, source: usize) -> Vec3 {
        let mut index = source;
        for group in self.balls {
            if index < group.centres.len() {
                return group.colour(index);
            }
            index -= group.centres.len();
        }
        unreachable!("every projected ball comes from a group")
    }

    fn shade_ground(&self, ground: &GroundGrid, middle: Vec2, pixel: (usize, usize)) -> Vec3 {
        let on_ground = |x: f32, y: f32| {
            let place = self.camera.plane(x, y);
            self.camera.point(place, self.camera.depth_of_plane(ground.height, place))
        };
        let point = on_ground(middle.x, middle.y);
        let world = self.camera.to_world(point);
        // What a pixel covers of the ground, to draw lines no thinner than that.
        let sideways = self.camera.to_world(on_ground(middle.x + FINE as f32, middle.y)) - world;
        let upwards = self.camera.to_world(on_ground(middle.x, middle.y + FINE as f32)) - world;
        let footprint =
            Vec2::new(sideways.x.abs().max(upwards.x.abs()), sideways.z.abs().max(upwards.z.abs()));

        let mut albedo = ground.colour;
        for (spacing, strength) in [(ground.spacing, 0.16), (5.0 * ground.spacing, 0.22)] {
            let across = line_coverage(world.x, footprint.x, spacing).max(line_coverage(
                world.z,
                footprint.y,
                spacing,
            ));
            albedo *= 1.0 - strength * across;
        }
        let lit = match &self.light {
            Some(light) => light.on(albedo, point, self.camera.turn(Vec3::Y), 0.0, pixel),
            None => albedo,
        };
        // The floor melts into the background away from what we look at.
        let scale = 2.2 * (self.view.look_at - self.view.at).length();
        let away = Vec2::new(world.x - self.view.look_at.x, world.z - self.view.look_at.z).length() / scale;
        let kept = (-away.powi(4)).exp();
        self.sky(middle.y).lerp(lit, if kept.is_finite() { kept } else { 0.0 })
    }
}

/// How much of a pixel a set of parallel lines covers: box-filtered, and even grey where lines are closer than pixels.
fn line_coverage(position: f32, footprint: f32, spacing: f32) -> f32 {
    let width = 0.012 * spacing;
    let drawn = width.max(footprint);
    let distance = (position / spacing - (position / spacing).round()).abs() * spacing;
    let coverage = smooth_step(drawn, 0.4 * drawn, distance) * (width / drawn).sqrt();
    coverage * smooth_step(0.5, 0.15, footprint / spacing)
}

/// 0 at `from`, 1 at `to`, smooth between; the ends may be in either order.
fn smooth_step(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

// Light -------------------------------------------------------------------------------------------------------------

/// Light in camera coordinates.
struct Light {
    towards_sun: Vec3,
    up: Vec3,
    shadows: Option<Shadows>,
    /// For each pixel, how much of the sky it sees: 0 to 1.
    openness: Vec<f32>,
    width: usize,
}

const SUN: Vec3 = Vec3::new(0.80, 0.77, 0.72);
const SKY_ABOVE: Vec3 = Vec3::new(0.37, 0.40, 0.44);
const SKY_BELOW: Vec3 = Vec3::new(0.20, 0.19, 0.18);

impl Light {
    fn new(
        camera: &Camera,
        sun: Option<Vec3>,
        balls: &[Balls],
        depths: &Depths,
        projected: &[Projected],
        view: &View,
    ) -> Light {
        let sun = sun.and_then(Vec3::try_normalize).unwrap_or_else(|| over_the_shoulder(camera));
        Light {
            towards_sun: camera.turn(sun),
            up: camera.turn(Vec3::Y),
            shadows: Shadows::new(camera, sun, balls),
            openness: openness(camera, depths, projected, view),
            width: camera.width / FINE,
        }
    }

    /// What reaches the eye from a surface; `lift` is how far above it its shadow is looked up, m.
    fn on(&self, albedo: Vec3, point: Vec3, normal: Vec3, lift: f32, (x, y): (usize, usize)) -> Vec3 {
        let facing = normal.dot(self.towards_sun).max(0.0);
        let unshaded = match &self.shadows {
            Some(shadows) if facing > 0.0 => shadows.light_at(point + lift * normal),
            _ => 1.0,
        };
        let sky = SKY_BELOW.lerp(SKY_ABOVE, 0.5 + 0.5 * normal.dot(self.up));
        let open = self.openness[y * self.width + x];
        // Where little sky is seen the sun has a harder way in, too: half of the obscurance.
        albedo * (SUN * facing * unshaded * (0.5 + 0.5 * open) + sky * open)
    }
}

/// Behind the camera, to its left and well above.
fn over_the_shoulder(camera: &Camera) -> Vec3 {
    let level = |direction: Vec3| Vec3::new(direction.x, 0.0, direction.z).normalize_or_zero();
    (1.25 * Vec3::Y - 0.75 * level(camera.right) - 0.7 * level(camera.forward)).normalize()
}

/// The depth buffer the sun sees.
struct Shadows {
    sun: Camera,
    depths: Depths,
    /// From the eye's camera coordinates to the sun's.
    turn: glam::Mat3,
    shift: Vec3,
}

impl Shadows {
    const SIDE: usize = 1024;

    fn new(camera: &Camera, towards_sun: Vec3, balls: &[Balls]) -> Option<Shadows> {
        let forward = -towards_sun;
        let right = forward.any_orthonormal_vector();
        let up = right.cross(forward);
        let mut sun = Camera {
            at: Vec3::ZERO,
            right,
            up,
            forward,
            perspective: false,
            width: Shadows::SIDE,
            height: Shadows::SIDE,
            left: 0.0,
            top: 0.0,
            step: 1.0,
        };

        // A square around nearly all balls: the few that flew far away must not take the shadows' sharpness.
        let total: usize = balls.iter().map(|group| group.centres.len()).sum();
        let mut sample: Vec<Vec3> = balls
            .iter()
            .flat_map(|group| group.centres)
            .step_by(total / 20_000 + 1)
            .filter(|centre| centre.is_finite())
            .map(|centre| sun.turn(*centre))
            .collect();
        if sample.is_empty() {
            return None;
        }
        let largest =
            balls.iter().flat_map(|group| group.radii).fold(0.0f32, |most, radius| most.max(*radius));
        let (x, y) = (most_of(&mut sample, |p| p.x), most_of(&mut sample, |p| p.y));
        let half = 0.5 * (x.1 - x.0).max(y.1 - y.0) * 1.1 + 2.0 * largest;
        sun.left = 0.5 * (x.0 + x.1) - half;
        sun.top = 0.5 * (y.0 + y.1) + half;
        sun.step = 2.0 * half / Shadows::SIDE as f32;

        // Far enough back that all balls of the sample, and what else may cast a shadow on them, lie in front.
        let nearest = sample.iter().fold(f32::INFINITY, |least, point| least.min(point.z));
        sun.at = (nearest - 4.0 * half - largest) * forward;
        let depths = splat(&sun, &project(&sun, balls, 0.7), |_| f32::INFINITY);

        let turn =
            glam::Mat3::from_cols(sun.turn(camera.right), sun.turn(camera.up), sun.turn(camera.forward));
        let shift = sun.to_camera(camera.at);
        Some(Shadows { sun, depths, turn, shift })
    }

    /// The part of the sun seen from a point (in the eye's camera coordinates): the mean over 3 × 3 texels, moving
    /// smoothly with the point.
    fn light_at(&self, point: Vec3) -> f32 {
        let point = self.turn * point + self.shift;
        let x = (point.x - self.sun.left) / self.sun.step - 2.0;
        let y = (self.sun.top - point.y) / self.sun.step - 2.0;
        let last = (Shadows::SIDE - 4) as f32;
        let inside = x >= 0.0 && y >= 0.0 && x < last && y < last;
        if !inside {
            return 1.0;
        }
        let (column, row) = (x as usize, y as usize);
        let weights = |part: f32| [1.0 - part, 1.0, 1.0, part];
        let (across, down) = (weights(x.fract()), weights(y.fract()));
        let depth = point.z - 1.5 * self.sun.step;
        let mut light = 0.0;
        for (j, weight_down) in down.iter().enumerate() {
            for (i, weight_across) in across.iter().enumerate() {
                if self.depths.at(column + i, row + j).0 > depth {
                    light += weight_down * weight_across;
                }
            }
        }
        light / 9.0
    }
}

/// The range of a coordinate but for half a per cent at either end.
fn most_of(points: &mut [Vec3], coordinate: impl Fn(&Vec3) -> f32) -> (f32, f32) {
    points.sort_unstable_by(|a, b| coordinate(a).total_cmp(&coordinate(b)));
    let cut = points.len() / 200;
    (coordinate(&points[cut]), coordinate(&points[points.len() - 1 - cut]))
}

/// For each pixel, how much of the space around what it shows is empty: 1 on a plain, less in hollows.
///
/// Taps in a disc; each asks how much of the line through a sphere about the point lies in front of the depth
/// buffer. A plane fills half of the sphere, however it is tilted.
fn openness(camera: &Camera, depths: &Depths, projected: &[Projected], view: &View) -> Vec<f32> {
    // Hollows are smooth: one value for 2 × 2 pixels will do.
    let coarse = 2 * FINE;
    let (width, height) = (camera.width.div_ceil(coarse), camera.height.div_ceil(coarse));
    let mut depth_of = vec![0.0; width * height];
    depth_of.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        for (x, depth) in row.iter_mut().enumerate() {
            *depth = depths.at(x * coarse, y * coarse).0;
        }
    });

    // Hollows of several balls, and of some per cent of the scene, are what tells its shape.
    let typical = projected.iter().step_by(projected.len() / 1000 + 1).map(|ball| ball.radius);
    let (sum, count) = typical.fold((0.0, 0.0), |(sum, count), radius| (sum + radius, count + 1.0));
    let distance = match view.lens {
        Lens::Perspective { field_of_view } => {
            (view.look_at - view.at).length() * (0.5 * field_of_view).tan()
        }
        Lens::Orthographic { height } => 0.5 * height,
    };
    let reach = (5.0 * sum / f32::max(count, 1.0)).max(0.06 * distance);

    let in_cells = |depth: f32| {
        let cell = camera.sample_width(depth) * coarse as f32;
        // Tiny pictures: the lower bound wins.
        (reach / cell).min(0.12 * height as f32).max(1.5)
    };

    let mut open = vec![1.0; width * height];
    open.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        for (x, open) in row.iter_mut().enumerate() {
            let depth = depth_of[y * width + x];
            if depth.is_finite() {
                *open = openness_at(&depth_of, (width, height), (x, y), depth, reach, in_cells(depth));
            }
        }
    });

    // Neighbours used different taps: their mean over 4 × 4 cells at about the same depth has no grain left.
    let (fine_width, fine_height) = (camera.width / FINE, camera.height / FINE);
    let mut smooth = vec![1.0; fine_width * fine_height];
    smooth.par_chunks_mut(fine_width).enumerate().for_each(|(y, row)| {
        let rows = (y / 2).saturating_sub(2 - y % 2)..(y / 2 + 2 + y % 2).min(height);
        for (x, smooth) in row.iter_mut().enumerate() {
            let depth = depths.at(x * FINE, y * FINE).0;
            let columns = (x / 2).saturating_sub(2 - x % 2)..(x / 2 + 2 + x % 2).min(width);
            let (mut sum, mut count) = (0.0, 0.0);
            for j in rows.clone() {
                for i in columns.clone() {
                    let near = (depth_of[j * width + i] - depth).abs() < 0.5 * reach;
                    sum += if near { open[j * width + i] } else { 0.0 };
                    count += if near { 1.0 } else { 0.0 };
                }
            }
            *smooth = if count > 0.0 { sum / count } else { 1.0 };
        }
    });
    smooth
}

fn openness_at(
    depth_of: &[f32],
    (width, height): (usize, usize),
    (x, y): (usize, usize),
    depth: f32,
    reach: f32,
    in_cells: f32,
) -> f32 {
    // A 4 × 4 pattern of turns for the spiral of taps.
    let turn = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5][(y % 4) * 4 + x % 4];
    let shift = 0.5 * turn as f32 / TURNS as f32;
    let mut filled = 0.0;
    let mut weights = 0.0;
    for tap in 0..TAPS {
        let radius = ((tap as f32 + 0.5 + shift) / (TAPS as f32 + 0.5)).sqrt();
        let (sine, cosine) = SPIRAL[tap * TURNS + turn];
        let i = x as f32 + 0.5 + in_cells * radius * cosine;
        let j = y as f32 + 0.5 + in_cells * radius * sine;
        if i < 0.0 || j < 0.0 || i >= width as f32 || j >= height as f32 {
            continue;
        }
        let in_front = depth - depth_of[j as usize * width + i as usize];
        let half = reach * (1.0 - radius * radius).max(0.0).sqrt();
        // What is much nearer belongs to something else: it says as little as a plane does.
        let belongs = smooth_step(3.0 * reach, reach, in_front);
        let part = (0.5 + 0.5 * in_front / half).clamp(0.0, 1.0);
        filled += half * (belongs * part + (1.0 - belongs) * 0.5);
        weights += half;
    }
    if weights == 0.0 {
        return 1.0;
    }
    let empty = 2.0 * (1.0 - filled / weights);
    let empty = empty.clamp(0.0, 1.0);
    empty * (0.6 + 0.4 * empty) // a little darker than the truth, so that it shows
}

const TAPS: usize = 12;
const TURNS: usize = 16;

/// Sine and cosine of each tap for each turn of the spiral: the golden angle apart.
static SPIRAL: LazyLock<[(f32, f32); TAPS * TURNS]> = LazyLock::new(|| {
    std::array::from_fn(|k| {
        (2.399_963_1 * (k / TURNS) as f32 + TAU * (k % TURNS) as f32 / TURNS as f32).sin_cos()
    })
});

// Lines -------------------------------------------------------------------------------------------------------------

/// A line on the picture: ends in pixels, with their depths.
struct Stroke {
    from: Vec2,
    to: Vec2,
    /// What changes evenly along the line on the picture: 1 / depth in perspective, else the depth.
    ends: (f32, f32),
    width: f32,
    colour: Vec3,
}

impl Stroke {
    /// `None` for a line behind the camera or with an end that is not a number.
    fn new(camera: &Camera, line: &Segment) -> Option<Stroke> {
        let (mut a, mut b) = (camera.to_camera(line.a), camera.to_camera(line.b));
        if !(a.is_finite() && b.is_finite()) {
            return None;
        }
        // Cut off what is behind the camera.
        let near = 1e-3 * a.z.max(b.z);
        if near <= 0.0 {
            return None;
        }
        if a.z < near {
            a = b + (a - b) * ((b.z - near) / (b.z - a.z));
        } else if b.z < near {
            b = a + (b - a) * ((a.z - near) / (a.z - b.z));
        }
        let pixel = |point: Vec3| {
            let scale = if camera.perspective { 1.0 / point.z } else { 1.0 };
            let (u, v) = (point.x * scale, point.y * scale);
            Vec2::new((u - camera.left) / camera.step, (camera.top - v) / camera.step) / FINE as f32
        };
        let even = |depth: f32| if camera.perspective { 1.0 / depth } else { depth };
        let (from, to) = (pixel(a), pixel(b));
        Some(Stroke { from, to, ends: (even(a.z), even(b.z)), width: line.width, colour: line.colour })
    }

    /// Draws the part that falls on these rows of the picture.
    fn draw(&self, scene: &Scene, rows: Range<usize>, colours: &mut [Vec3]) {
        let width = scene.settings.width;
        // A line thinner than a pixel is drawn a pixel wide, but fainter.
        let half = 0.5 * self.width.max(1.0);
        let strength = self.width.clamp(0.0, 1.0);
        let along = self.to - self.from;
        let length_squared = along.length_squared().max(1e-12);
        let touched = |low: f32, high: f32, end: usize| {
            (low - half - 1.0).clamp(0.0, end as f32) as usize
                ..(high + half + 2.0).clamp(0.0, end as f32) as usize
        };
        let own_rows = touched(self.from.y.min(self.to.y), self.from.y.max(self.to.y), scene.settings.height);
        let own_columns = touched(self.from.x.min(self.to.x), self.from.x.max(self.to.x), width);
        for y in own_rows.start.max(rows.start)..own_rows.end.min(rows.end) {
            // Where the line crosses the row, and how far it may reach to either side.
            let crossing = self.from.x + (y as f32 + 0.5 - self.from.y) * along.x / along.y;
            let reach = (half + 1.0) * length_squared.sqrt() / along.y.abs();
            let columns = if (crossing + reach).is_finite() && reach < width as f32 {
                touched(crossing - reach, crossing + reach, width)
            } else {
                0..width
            };
            for x in own_columns.start.max(columns.start)..own_columns.end.min(columns.end) {
                let middle = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let part = ((middle - self.from).dot(along) / length_squared).clamp(0.0, 1.0);
                let distance = (self.from + part * along - middle).length();
                let coverage = (half + 0.5 - distance).clamp(0.0, 1.0);
                if coverage > 0.0 {
                    let seen = scene.part_behind((x, y), self.depth(part, &scene.camera));
                    let colour = &mut colours[(y - rows.start) * width + x];
                    *colour = colour.lerp(self.colour, strength * coverage * seen);
                }
            }
        }
    }

    fn depth(&self, part: f32, camera: &Camera) -> f32 {
        let even = self.ends.0 + (self.ends.1 - self.ends.0) * part;
        if camera.perspective { 1.0 / even } else { even }
    }
}

impl Scene<'_> {
    /// The part of a pixel's samples that show nothing in front of this depth.
    fn part_behind(&self, (x, y): (usize, usize), depth: f32) -> f32 {
        let slack = 1.0 - 2e-3; // a line on the floor is not under it
        let behind = (0..FINE * FINE).filter(|k| {
            let sample = self.depths.at(x * FINE + k % FINE, y * FINE + k / FINE).0;
            sample > depth * slack
        });
        behind.count() as f32 / (FINE * FINE) as f32
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::PI;

    use super::*;

    const RED: Vec3 = Vec3::new(0.8, 0.05, 0.05);
    const BLUE: Vec3 = Vec3::new(0.05, 0.05, 0.8);
    const WHITE: [Vec3; 2] = [Vec3::ONE; 2];

    /// From 5 m along z, 90° high: a metre at the origin is a tenth of the picture.
    fn view() -> View {
        View {
            at: 5.0 * Vec3::Z,
            look_at: Vec3::ZERO,
            up: Vec3::Y,
            lens: Lens::Perspective { field_of_view: 0.5 * PI },
        }
    }

    fn flat(width: usize, height: usize) -> Settings {
        Settings { width, height, shading: Shading::Flat, sky: WHITE }
    }

    fn one(centre: &[Vec3], radius: &'static [f32], colour: &'static [Vec3]) -> Balls<'static> {
        Balls { centres: Box::leak(centre.to_vec().into_boxed_slice()), radii: radius, colours: colour }
    }

    /// Middle and half-widths of what is not white, pixels.
    fn blob(image: &Image) -> (Vec2, Vec2) {
        let (mut columns, mut rows) = (vec![0.0f32; image.width], vec![0.0f32; image.height]);
        for (place, pixel) in image.pixels.iter().enumerate() {
            let (column, row) = (&mut columns[place % image.width], &mut rows[place / image.width]);
            // Green, in linear light: 1 in the background and nearly 0 on the balls.
            let covered = (1.0 - crate::colour::linear(*pixel).y).clamp(0.0, 1.0);
            *column = column.max(covered);
            *row = row.max(covered);
        }
        let extent = |covered: &[f32]| {
            let first = covered.iter().position(|part| *part > 0.2).unwrap();
            let last = covered.iter().rposition(|part| *part > 0.2).unwrap();
            (first as f32, last as f32 + 1.0)
        };
        let ((left, right), (top, bottom)) = (extent(&columns), extent(&rows));
        (0.5 * Vec2::new(left + right, top + bottom), 0.5 * Vec2::new(right - left, bottom - top))
    }

    #[test]
    fn a_ball_is_where_and_as_large_as_it_should_be() {
        // Seen along the axis: the outline's half angle is asin(r / d).
        let image = preview(&view(), &[one(&[Vec3::ZERO], &[1.0], &[RED])], &[], None, &flat(320, 200));
        let (middle, half) = blob(&image);
        let expected = 100.0 * (1.0f32 / 5.0).asin().tan();
        assert!((middle - Vec2::new(160.0, 100.0)).length() <= 0.5, "{middle}");
        assert!((half - expected).abs().max_element() <= 0.75, "{half} instead of {expected}"); // half a pixel, each side

        // Off the axis: the centre projects to 100 + 100·y/5, and the outline runs between the two tangents.
        let image =
            preview(&view(), &[one(&[Vec3::new(0.0, 2.0, 0.0)], &[0.5], &[RED])], &[], None, &flat(320, 200));
        let (middle, half) = blob(&image);
        let (towards, around) = ((2.0f32 / 5.0).atan(), (0.5 / 29.0f32.sqrt()).asin());
        let (top, bottom) =
            (100.0 - 100.0 * (towards + around).tan(), 100.0 - 100.0 * (towards - around).tan());
        assert!(
            (middle.y - 0.5 * (top + bottom)).abs() <= 0.6 && (half.y - 0.5 * (bottom - top)).abs() <= 0.75
        );
        assert!((middle.x - 160.0).abs() <= 0.5);

        // Without perspective: r / height of the picture, anywhere.
        let lens = Lens::Orthographic { height: 10.0 };
        let ball = one(&[Vec3::new(4.0, -2.0, 0.0)], &[1.5], &[RED]);
        let (middle, half) = blob(&preview(&View { lens, ..view() }, &[ball], &[], None, &flat(320, 200)));
        assert!((middle - Vec2::new(240.0, 140.0)).length() <= 0.5, "{middle}");
        assert!((half - 30.0).abs().max_element() <= 0.75, "{half}");
    }

    #[test]
    fn the_nearest_ball_wins_whatever_the_order() {
        let (near, far) = (Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.0, 0.0, -1.0));
        let (red, blue) = (one(&[near], &[0.5], &[RED]), one(&[far], &[0.9], &[BLUE]));
        for order in [[red, blue], [blue, red]] {
            let image = preview(&view(), &order, &[], None, &flat(320, 200));
            let middle = image.pixel(160, 100);
            assert!(middle[0] > 200 && middle[2] < 80, "{middle:?}");
            // Beside the red one (12.5 px) the blue one (15.2 px) shows.
            let beside = image.pixel(160 + 14, 100);
            assert!(beside[2] > 150 && beside[0] < 80, "{beside:?}");
        }
    }

    #[test]
    fn flat_discs_have_exactly_the_colour_given() {
        let image = preview(&view(), &[one(&[Vec3::ZERO], &[1.0], &[RED])], &[], None, &flat(320, 200));
        let exact = crate::colour::pixel(RED);
        // Dither may round either way.
        assert!(image.pixel(160, 100).iter().zip(exact).all(|(a, b)| a.abs_diff(b) <= 1));
    }

    #[test]
    fn edges_are_smooth() {
        let image =
            preview(&view(), &[one(&[Vec3::ZERO], &[1.0], &[Vec3::ZERO])], &[], None, &flat(320, 200));
        let between = image.pixels.iter().filter(|pixel| (20..250).contains(&pixel[1])).count();
        assert!(between > 60, "{between} pixels between black and white around a ball of 20 pixels");
    }

    #[test]
    fn what_is_behind_or_not_a_number_is_left_out() {
        let empty = preview(&view(), &[], &[], None, &flat(64, 40));
        let nan = Vec3::new(f32::NAN, 0.0, 0.0);
        let infinite = Vec3::new(0.0, f32::INFINITY, 0.0);
        let behind = Vec3::new(0.0, 0.0, 7.0);
        let at_camera = Vec3::new(0.1, 0.0, 5.0);
        let odd = one(&[nan, infinite, behind, at_camera], &[0.5], &[RED]);
        let odd_radii = one(&[Vec3::ZERO; 3], &[f32::NAN, f32::INFINITY, -1.0], &[RED]);
        let line = Segment { a: nan, b: behind, width: 2.0, colour: RED };
        for shading in [Shading::Flat, Shading::Lit { sun: None }] {
            let settings = Settings { shading, ..flat(64, 40) };
            let cloud = [odd, one(&[], &[], &[])];
            let image = preview(&view(), &cloud, &[line], None, &settings);
            assert_eq!(image, empty, "{shading:?}");
            preview(&view(), &[odd_radii], &[line], Some(&GroundGrid::new(-1.0, 0.5)), &settings);
        }
        // Views that make no sense still give a picture.
        let nowhere = View { at: Vec3::ZERO, look_at: Vec3::ZERO, up: Vec3::ZERO, ..view() };
        preview(&nowhere, &[odd], &[], Some(&GroundGrid::new(0.0, 1.0)), &flat(64, 40));
    }

    #[test]
    fn pictures_may_be_tiny() {
        let ball = one(&[Vec3::ZERO], &[2.0], &[RED]);
        for size in [1, 2, 8, 24] {
            let settings = Settings { shading: Shading::Lit { sun: None }, ..flat(size, size) };
            let image = preview(&view(), &[ball], &[], Some(&GroundGrid::new(-1.0, 0.5)), &settings);
            // In a picture of a pixel or two, the least radius of a ball takes in the camera.
            let [red, green, _] = image.pixel((size - 1) / 2, (size - 1) / 2);
            assert!(size < 8 || red > green, "{size}: the ball is in the middle, not {red} {green}");
        }
    }

    fn cloud(count: usize) -> (Vec<Vec3>, Vec<Vec3>) {
        let mut chance = crate::chance::Chance::of([3]);
        let mut random = || chance.unit();
        let centres: Vec<Vec3> = (0..count)
            .map(|_| Vec3::new(4.0 * random() - 2.0, random() - 1.0, 4.0 * random() - 2.0))
            .collect();
        let colours = centres.iter().map(|centre| RED.lerp(BLUE, 0.5 + 0.25 * centre.x)).collect();
        (centres, colours)
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let (centres, colours) = cloud(5000);
        let balls = [Balls { centres: &centres, radii: &[0.05], colours: &colours }];
        let corners: [Vec3; 8] = std::array::from_fn(|k| {
            let side = |bit: usize, size: f32| if k & bit == 0 { -size } else { size };
            Vec3::new(side(1, 2.0), side(2, 1.0), side(4, 2.0))
        });
        let line = |a: Vec3, b: Vec3| Segment { a, b, width: 1.5, colour: Vec3::ZERO };
        let lines: Vec<Segment> = (1..8).map(|k| line(corners[k - 1], corners[k])).collect();
        let ground = GroundGrid::new(-1.05, 0.5);
        let settings = Settings { width: 331, height: 203, ..Settings::default() };
        let from_above = View { at: Vec3::new(2.0, 3.0, 5.0), ..view() };
        let images = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| preview(&from_above, &balls, &lines, Some(&ground), &settings))
        });
        assert!(images[0] == images[1] && images[0] == images[2]);
    }

    #[test]
    fn a_ball_casts_a_shadow_away_from_the_sun() {
        let ground = GroundGrid { height: 0.0, spacing: 100.0, colour: Vec3::splat(0.6) };
        let above = View { at: 10.0 * Vec3::Y, look_at: Vec3::ZERO, up: -Vec3::Z, ..view() };
        let sun = Some(Vec3::new(-1.0, 1.0, 0.0)); // 45° up in the west: the shadow falls east
        let settings = Settings { shading: Shading::Lit { sun }, ..flat(200, 200) };
        let image = preview(&above, &[one(&[2.0 * Vec3::Y], &[0.5], &[RED])], &[], Some(&ground), &settings);
        // 100 px are 10 m on the ground: the shadow's middle is 2 m, 20 px, from the ball's foot.
        let brightness = |x: usize| u32::from(image.pixel(x, 97)[1]);
        assert!(brightness(120) + 40 < brightness(80), "{} and {}", brightness(120), brightness(80));
        assert!(brightness(150).abs_diff(brightness(50)) < 12, "{} and {}", brightness(150), brightness(50));
    }

    #[test]
    fn hollows_are_darker_than_plains() {
        // A wall of balls on a plain of balls: the foot of the wall sees less of the sky.
        let row = |z: f32, y: f32| (-30..=30).map(move |i| Vec3::new(0.1 * i as f32, y, z));
        let plain = (0..30).flat_map(|j| row(0.1 * j as f32, 0.0));
        let wall = (0..15).flat_map(|j| row(0.0, 0.1 * j as f32));
        let centres: Vec<Vec3> = plain.chain(wall).collect();
        let lens = Lens::Orthographic { height: 4.0 };
        let view = View { at: Vec3::new(0.0, 5.0, 6.0), look_at: Vec3::new(0.0, 0.0, 1.0), lens, ..view() };
        let camera = view.camera(400, 400);
        let projected =
            project(&camera, &[Balls { centres: &centres, radii: &[0.06], colours: &[RED] }], 0.0);
        let depths = splat(&camera, &projected, |_| f32::INFINITY);
        let open = openness(&camera, &depths, &projected, &view);
        let mean_at = |point: Vec3| {
            let place = camera.to_camera(point);
            let (x, y) =
                ((place.x - camera.left) / camera.step / 2.0, (camera.top - place.y) / camera.step / 2.0);
            let around = (-6i32..=6).flat_map(|j| (-6i32..=6).map(move |i| (x as i32 + i, y as i32 + j)));
            around.map(|(i, j)| open[(j * 200 + i) as usize]).sum::<f32>() / 169.0
        };
        let (foot, plain) = (mean_at(Vec3::new(0.0, 0.06, 0.12)), mean_at(Vec3::new(0.0, 0.06, 1.6)));
        assert!(foot < 0.8 * plain, "{foot} at the foot, {plain} on the plain");
    }

    #[test]
    fn lines_hide_behind_balls_and_hide_nothing_in_front() {
        let ball = one(&[Vec3::ZERO], &[1.0], &[RED]);
        for (z, seen) in [(2.0, true), (-2.0, false)] {
            let line =
                Segment { a: Vec3::new(-9.0, 0.0, z), b: Vec3::new(9.0, 0.0, z), width: 3.0, colour: BLUE };
            let image = preview(&view(), &[ball], &[line], None, &flat(320, 200));
            let middle = image.pixel(160, 100);
            assert_eq!(middle[2] > 200, seen, "{middle:?} at {z}");
            let beside = image.pixel(40, 100);
            assert!(beside[0] < 80 && beside[2] > 200, "{beside:?}");
            assert_eq!(image.pixel(40, 104), [255; 3]);
        }
    }
}
