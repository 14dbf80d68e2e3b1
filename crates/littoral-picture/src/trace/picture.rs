//! Rays through pixels, and the picture they make.

use super::bvh::{Ray, Stack};
use super::integrator::{Sample, Tracer};
use super::looks::disc;
use super::sampler::Sampler;
use super::scene::{Camera, Settings, View};
use super::surface::Prepared;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// Pixels are sampled with a tent of this half width around their centre, in pixels.
const FILTER: f32 = 0.8;
/// Edge of the squares that are handed to threads.
const SQUARE: usize = 16;

/// Linear radiance, and what helps to tell detail from noise. Row after row from the top left.
#[derive(Clone, Debug)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub radiance: Vec<Vec3>,
    /// The part of the radiance that comes from sun and lamps straight or in clear surfaces. Small, bright and
    /// without noise, so that denoising leaves it alone.
    pub glint: Vec<Vec3>,
    /// Colour of what is seen, also through and in clear surfaces.
    pub albedo: Vec<Vec3>,
    pub normal: Vec<Vec3>,
    /// One over the distance to the first surface, 1/m; 0 for the sky.
    pub nearness: Vec<f32>,
    /// Of the mean brightness, divided by that of the albedo and without glints.
    pub variance: Vec<f32>,
    /// Paths for each pixel.
    pub samples: usize,
    /// Rays that were followed to make it.
    pub rays: u64,
}

/// Perceived brightness of linear RGB (Rec. 709).
pub(crate) fn brightness(colour: Vec3) -> f32 {
    colour.dot(Vec3::new(0.2126, 0.7152, 0.0722))
}

/// Keeps divisions by an albedo finite, and dark surfaces from blowing up noise.
pub(crate) const LEAST_ALBEDO: f32 = 0.02;

impl Prepared<'_> {
    pub fn render(&self, settings: &Settings) -> Picture {
        let mut picture = self.render_raw(settings);
        if settings.denoise {
            picture = super::denoise(&picture);
        }
        picture
    }

    fn render_raw(&self, settings: &Settings) -> Picture {
        let (width, height) = (settings.width, settings.height);
        let pixels = width * height;
        let mut picture = Picture {
            width,
            height,
            radiance: vec![Vec3::ZERO; pixels],
            glint: vec![Vec3::ZERO; pixels],
            albedo: vec![Vec3::ZERO; pixels],
            normal: vec![Vec3::ZERO; pixels],
            nearness: vec![0.0; pixels],
            variance: vec![0.0; pixels],
            samples: settings.samples,
            rays: 0,
        };
        let lens = Lens::new(&self.scene.camera, width, height);
        let inside = self.media_at(self.scene.camera.at, &mut Stack::new());
        let columns = width.div_ceil(SQUARE);
        let squares: Vec<(Vec<(Sample, f32)>, u64)> = (0..columns * height.div_ceil(SQUARE))
            .into_par_iter()
            .map(|square| {
                let mut tracer = Tracer::new(self, settings);
                let samples = pixels_of(square, columns, width, height)
                    .map(|(x, y)| {
                        let mut sum = Sum::default();
                        for number in settings.first_sample..settings.first_sample + settings.samples {
                            let sampler = Sampler::new(settings.seed, (y * width + x) as u32, number as u32);
                            let ray = lens.ray(x, y, &sampler);
                            sum.add(&tracer.sample(ray, inside, lens.spread, &sampler));
                        }
                        sum.mean(settings.samples)
                    })
                    .collect();
                (samples, tracer.rays)
            })
            .collect();
        for (square, (samples, rays)) in squares.into_iter().enumerate() {
            picture.rays += rays;
            for ((x, y), (sample, variance)) in pixels_of(square, columns, width, height).zip(samples) {
                let at = y * width + x;
                picture.radiance[at] = sample.radiance;
                picture.glint[at] = sample.glint;
                picture.albedo[at] = sample.albedo;
                picture.normal[at] = sample.normal;
                picture.nearness[at] = sample.nearness;
                picture.variance[at] = variance;
            }
        }
        picture
    }
}

fn pixels_of(
    square: usize,
    columns: usize,
    width: usize,
    height: usize,
) -> impl Iterator<Item = (usize, usize)> {
    let (left, top) = (square % columns * SQUARE, square / columns * SQUARE);
    let (right, bottom) = ((left + SQUARE).min(width), (top + SQUARE).min(height));
    (top..bottom).flat_map(move |y| (left..right).map(move |x| (x, y)))
}

/// Sums over the samples of a pixel.
#[derive(Default)]
struct Sum {
    sample: Sample,
    demodulated: f32,
    demodulated_squared: f32,
}

impl Sum {
    fn add(&mut self, sample: &Sample) {
        // A path through degenerate geometry must not spoil the picture.
        if !sample.radiance.is_finite() {
            return;
        }
        self.sample.radiance += sample.radiance;
        self.sample.glint += sample.glint;
        self.sample.albedo += sample.albedo;
        self.sample.normal += sample.normal;
        self.sample.nearness += sample.nearness;
        let demodulated =
            brightness(sample.radiance - sample.glint) / brightness(sample.albedo).max(LEAST_ALBEDO);
        self.demodulated += demodulated;
        self.demodulated_squared += demodulated * demodulated;
    }

    fn mean(&self, samples: usize) -> (Sample, f32) {
        let n = samples.max(1) as f32;
        let mean = self.demodulated / n;
        let spread = (self.demodulated_squared / n - mean * mean).max(0.0);
        // Of the mean. One sample says nothing about its own error.
        let variance = if samples > 1 { spread / (n - 1.0) } else { mean * mean };
        let sample = Sample {
            radiance: self.sample.radiance / n,
            glint: self.sample.glint / n,
            albedo: self.sample.albedo / n,
            normal: self.sample.normal / n,
            nearness: self.sample.nearness / n,
        };
        (sample, variance)
    }
}

impl Picture {
    /// Averages with another picture of the same size, each weighted by its samples.
    pub fn add(&mut self, other: &Picture) {
        assert_eq!((self.width, self.height), (other.width, other.height), "pictures of different sizes");
        let share = other.samples as f32 / (self.samples + other.samples).max(1) as f32;
        let blend =
            |a: &mut [Vec3], b: &[Vec3]| a.iter_mut().zip(b).for_each(|(a, &b)| *a = a.lerp(b, share));
        blend(&mut self.radiance, &other.radiance);
        blend(&mut self.glint, &other.glint);
        blend(&mut self.albedo, &other.albedo);
        blend(&mut self.normal, &other.normal);
        for (a, &b) in self.nearness.iter_mut().zip(&other.nearness) {
            *a += (b - *a) * share;
        }
        for (a, &b) in self.variance.iter_mut().zip(&other.variance) {
            *a = (1.0 - share) * (1.0 - share) * *a + share * share * b;
        }
        self.samples += other.samples;
        self.rays += other.rays;
    }
}

/// The camera for one size of picture.
struct Lens {
    at: Vec3,
    forward: Vec3,
    /// Spans of half the picture's height, at distance 1 or for parallel rays in metres.
    right: Vec3,
    up: Vec3,
    size: Vec2,
    aperture: f32,
    focus: f32,
    parallel: bool,
    /// Angle of a pixel.
    spread: f32,
}

impl Lens {
    fn new(camera: &Camera, width: usize, height: usize) -> Self {
        let forward = (camera.look_at - camera.at).normalize_or(-Vec3::Z);
        let right = forward.cross(camera.up).normalize_or(forward.any_orthonormal_vector());
        let up = right.cross(forward);
        let (half, parallel) = match camera.view {
            View::Perspective(angle) => ((0.5 * angle).tan(), false),
            View::Orthographic(size) => (0.5 * size, true),
        };
        let spread = if parallel { 0.0 } else { 2.0 * half / height as f32 };
        Self {
            at: camera.at,
            forward,
            right: right * half,
            up: up * half,
            size: Vec2::new(width as f32, height as f32),
            aperture: camera.aperture,
            focus: camera.focus,
            parallel,
            // Samples within a pixel smooth textures as well: half is enough.
            spread: 0.5 * spread,
        }
    }

    fn ray(&self, x: usize, y: usize, sampler: &Sampler) -> Ray {
        let tent =
            |u: f32| FILTER * if u < 0.5 { (2.0 * u).sqrt() - 1.0 } else { 1.0 - (2.0 - 2.0 * u).sqrt() };
        let (u, v) = sampler.pair(0);
        let place = Vec2::new(x as f32 + 0.5 + tent(u), y as f32 + 0.5 + tent(v));
        let across = (2.0 * place.x - self.size.x) / self.size.y;
        let upwards = 1.0 - 2.0 * place.y / self.size.y;
        let offset = self.right * across + self.up * upwards;
        let (mut origin, mut direction) =
            if self.parallel { (self.at + offset, self.forward) } else { (self.at, self.forward + offset) };
        if self.aperture > 0.0 {
            let on_lens = disc(sampler.pair(1).into()) * self.aperture;
            let sharp = origin + direction * self.focus;
            origin += self.right.normalize() * on_lens.x + self.up.normalize() * on_lens.y;
            direction = sharp - origin;
        }
        Ray { origin, direction: direction.normalize(), reach: f32::INFINITY }
    }
}
