//! Removes the noise of few samples.
//!
//! An edge-avoiding à-trous filter (Dammertz et al. 2010) with weights by variance (Schied et al. 2017): five
//! passes of a 5 × 5 B-spline whose taps move apart by powers of two. Colour is filtered after division by
//! the albedo, so that textures and what is seen through water keep their detail. A neighbour counts as far
//! as it agrees with the pixel in albedo, normal and nearness, and in colour measured by the noise that both
//! are expected to have: where the variance is small nothing is blurred, be it flat or full of detail.
//!
//! Deterministic: every pass gathers. Kept honest by `denoising_keeps_edges_and_lowers_errors` in
//! `tests/radiance.rs`.

use super::picture::{LEAST_ALBEDO, Picture, brightness};
use glam::{Vec2, Vec3, Vec4, vec2};
use rayon::prelude::*;

const PASSES: usize = 5;
/// B₃-spline, by distance.
const SPLINE: [f32; 3] = [3.0 / 8.0, 1.0 / 4.0, 1.0 / 16.0];
/// How many standard deviations of noise two colours may differ, for many samples; and what is added for few,
/// whose variance is less certain. The sum of squared errors of the still life is least around these.
const COLOUR: f32 = 1.5;
const COLOUR_OF_FEW: f32 = 10.0;
/// Differences at which a neighbour counts by 1/e: albedo, normal, nearness relative to the pixel's.
const ALBEDO: f32 = 0.06;
const NORMAL: f32 = 0.25;
const NEARNESS: f32 = 0.04;
/// Standard deviations of its neighbours by which a noisy pixel may stand out.
const OUTLIER: f32 = 2.0;

/// What guides the filter at a pixel.
#[derive(Clone, Copy)]
struct Guide {
    albedo: Vec3,
    normal: Vec3,
    nearness: f32,
}

/// The picture with its radiance denoised and its variance lowered accordingly.
pub fn denoise(picture: &Picture) -> Picture {
    let (width, height) = (picture.width, picture.height);
    let floor = Vec3::splat(LEAST_ALBEDO);
    let guides: Vec<Guide> = (0..width * height)
        .map(|at| Guide {
            albedo: picture.albedo[at],
            normal: picture.normal[at],
            nearness: picture.nearness[at],
        })
        .collect();
    // Colour without albedo, and variance of its brightness, in one vector.
    let variance = smoothed_variance(picture);
    let mut now: Vec<Vec4> = (0..width * height)
        .map(|at| {
            ((picture.radiance[at] - picture.glint[at]) / picture.albedo[at].max(floor)).extend(variance[at])
        })
        .collect();
    now = without_outliers(&now, &guides, picture, &variance);
    let colour = COLOUR + COLOUR_OF_FEW / picture.samples.max(1) as f32;
    for pass in 0..PASSES {
        let step = 1isize << pass;
        let soft = softened(&now, width, height);
        now = (0..height)
            .into_par_iter()
            .flat_map_iter(|y| {
                let (now, guides, soft) = (&now, &guides, &soft);
                (0..width)
                    .map(move |x| filter_pixel(now, guides, soft, colour, (width, height), (x, y), step))
            })
            .collect();
    }
    let radiance = (0..width * height)
        .map(|at| now[at].truncate() * picture.albedo[at].max(floor) + picture.glint[at])
        .collect();
    Picture { radiance, variance: now.iter().map(|c| c.w).collect(), ..picture.clone() }
}

fn filter_pixel(
    now: &[Vec4],
    guides: &[Guide],
    soft: &[Vec2],
    colour: f32,
    (width, height): (usize, usize),
    (x, y): (usize, usize),
    step: isize,
) -> Vec4 {
    let at = y * width + x;
    let (own, guide) = (now[at], guides[at]);
    let noise = 1.0 / (colour * colour * soft[at].y + 1e-8);
    let near = nearness_scale(&guide, step);
    let centre = SPLINE[0] * SPLINE[0];
    let mut sum = own.truncate() * centre;
    let mut variance = own.w * centre * centre;
    let mut total = centre;
    for dy in -2..=2isize {
        let row = y as isize + dy * step;
        if row < 0 || row >= height as isize {
            continue;
        }
        for dx in -2..=2isize {
            let column = x as isize + dx * step;
            if (dx == 0 && dy == 0) || column < 0 || column >= width as isize {
                continue;
            }
            let there = row as usize * width + column as usize;
            let mut apart = apart(&guide, &guides[there], near);
            if apart > 12.0 {
                continue;
            }
            let value = now[there];
            apart += (soft[there].x - soft[at].x).powi(2) * noise;
            let weight = SPLINE[dx.unsigned_abs()] * SPLINE[dy.unsigned_abs()] * falloff(apart);
            sum += value.truncate() * weight;
            variance += value.w * weight * weight;
            total += weight;
        }
    }
    (sum / total).extend(variance / (total * total))
}

/// How far two pixels' guides are apart, in units of the tolerances; `near` scales the squared nearness.
#[inline]
fn apart(a: &Guide, b: &Guide, near: f32) -> f32 {
    (a.albedo - b.albedo).length_squared() * (1.0 / (ALBEDO * ALBEDO))
        + (a.normal - b.normal).length_squared() * (1.0 / (NORMAL * NORMAL))
        + (a.nearness - b.nearness).powi(2) * near
}

/// Close to exp(−x), and cheap: (1 − x/16)¹⁶.
#[inline]
fn falloff(x: f32) -> f32 {
    let a = (1.0 - x * (1.0 / 16.0)).max(0.0);
    let a = (a * a) * (a * a);
    (a * a) * (a * a)
}

/// One bright sample among n dark ones lifts a pixel by about its own standard deviation. Such a pixel is
/// lowered to what its neighbours on the same surface make plausible. What all samples agree on stays,
/// however bright.
fn without_outliers(now: &[Vec4], guides: &[Guide], picture: &Picture, variance: &[f32]) -> Vec<Vec4> {
    let (width, height) = (picture.width, picture.height);
    (0..width * height)
        .into_par_iter()
        .map(|at| {
            let (x, y) = (at % width, at / width);
            let own = now[at];
            let near = nearness_scale(&guides[at], 1);
            let (mut sum, mut square, mut count) = (0.0, 0.0, 0.0);
            for row in y.saturating_sub(2)..(y + 3).min(height) {
                for column in x.saturating_sub(2)..(x + 3).min(width) {
                    let there = row * width + column;
                    if there != at && apart(&guides[at], &guides[there], near) < 4.0 {
                        let value = brightness(now[there].truncate());
                        sum += value;
                        square += value * value;
                        count += 1.0;
                    }
                }
            }
            if count < 6.0 {
                return own;
            }
            let mean = sum / count;
            let spread = (square / count - mean * mean).max(0.0).sqrt();
            let plausible = mean + OUTLIER * spread;
            let bright = brightness(own.truncate());
            let noise = picture.variance[at].sqrt();
            if bright <= plausible || bright - mean > 2.5 * noise {
                return own;
            }
            (own.truncate() * (plausible / bright)).extend(variance[at].min(spread * spread + 1e-8))
        })
        .collect()
}

fn nearness_scale(guide: &Guide, step: isize) -> f32 {
    1.0 / (NEARNESS * NEARNESS * guide.nearness * guide.nearness * (step * step) as f32 + 1e-6)
}

/// A pixel's variance from few samples is itself uncertain: the mean over 5 × 5 pixels joins in, the more the
/// fewer samples there were.
fn smoothed_variance(picture: &Picture) -> Vec<f32> {
    let trust = (picture.samples as f32 - 1.0) / (picture.samples as f32 + 7.0);
    let (width, height) = (picture.width, picture.height);
    (0..width * height)
        .into_par_iter()
        .map(|at| {
            let (x, y) = (at % width, at / width);
            let mut sum = 0.0;
            let mut count = 0.0;
            for row in y.saturating_sub(2)..(y + 3).min(height) {
                for value in
                    &picture.variance[row * width + x.saturating_sub(2)..row * width + (x + 3).min(width)]
                {
                    sum += value;
                    count += 1.0;
                }
            }
            trust * picture.variance[at] + (1.0 - trust) * sum / count
        })
        .collect()
}

/// Brightness after a 3 × 3 Gaussian, and the variance of that: comparing these tells noise from detail
/// better than comparing single pixels, which favours whoever shares the pixel's own noise.
fn softened(now: &[Vec4], width: usize, height: usize) -> Vec<Vec2> {
    (0..width * height)
        .into_par_iter()
        .map(|at| {
            let (x, y) = ((at % width) as isize, (at / width) as isize);
            let mut sum = Vec2::ZERO;
            for dy in -1..=1isize {
                for dx in -1..=1isize {
                    let row = (y + dy).clamp(0, height as isize - 1) as usize;
                    let column = (x + dx).clamp(0, width as isize - 1) as usize;
                    let weight = 1.0 / (1 << (2 + dx.abs() + dy.abs())) as f32;
                    let value = now[row * width + column];
                    sum += vec2(weight * brightness(value.truncate()), weight * weight * value.w);
                }
            }
            sum
        })
        .collect()
}
