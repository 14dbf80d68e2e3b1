//! From linear radiance to bytes: a film-like curve, sRGB, and dithering.
//!
//! Each channel x becomes xᵃ / (xᵃ + b), a straight line around mid-grey in stops with soft shoulders: the
//! response of eyes and film (Naka & Rushton 1966). Before, channels are mixed a little, and unmixed after:
//! bright saturated colours then run to white instead of to the next primary. Dither is a hash of the pixel's
//! place, below one step, and the same in every frame. Kept honest by
//! `tone_is_monotone_and_black_stays_black`.

use super::picture::Picture;
use super::sampler::mix;
use crate::colour::srgb_from_linear;
use glam::Vec3;
use rayon::prelude::*;

/// Steepness a: contrast around mid-grey.
const CONTRAST: f32 = 1.35;
/// This radiance keeps its value.
const GREY: f32 = 0.18;
/// This radiance becomes white.
const WHITE: f32 = 16.0;
/// Part of a channel that is mixed into each of the others.
const MIX: f32 = 0.06;

/// Bytes of sRGB, row after row from the top left. An exposure of 2 is one stop brighter.
pub fn tone_map(picture: &Picture, exposure: f32) -> Vec<[u8; 3]> {
    let pixels = picture.radiance.par_iter().enumerate();
    pixels
        .map(|(at, &radiance)| {
            let display = film(radiance * exposure);
            [0, 1, 2].map(|channel: usize| {
                let encoded = srgb_from_linear(display[channel]) * 255.0;
                let dither = mix(at as u32 * 3 + channel as u32) as f32 / 4_294_967_296.0;
                // Between half a step down and half a step up; black and white stay.
                let dither = (dither - 0.5).clamp(-encoded, 255.0 - encoded);
                (encoded + dither + 0.5).clamp(0.0, 255.0) as u8
            })
        })
        .collect()
}

fn film(radiance: Vec3) -> Vec3 {
    let mixed = blend(radiance.max(Vec3::ZERO), MIX);
    let power = GREY.powf(CONTRAST);
    // GREY → GREY fixes b; the scale takes WHITE to 1.
    let b = power / GREY - power;
    let curve = |x: f32| {
        let x = x.powf(CONTRAST);
        x / (x + b)
    };
    let curved = Vec3::new(curve(mixed.x), curve(mixed.y), curve(mixed.z)) / curve(WHITE);
    blend(curved.min(Vec3::ONE), -MIX / (1.0 - 3.0 * MIX)).clamp(Vec3::ZERO, Vec3::ONE)
}

/// Adds this part of every other channel; white stays white. −m/(1 − 3m) undoes m.
fn blend(colour: Vec3, part: f32) -> Vec3 {
    colour * (1.0 - 3.0 * part) + Vec3::splat(colour.element_sum() * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tone_is_monotone_and_black_stays_black() {
        assert_eq!(film(Vec3::ZERO), Vec3::ZERO);
        assert_eq!(srgb_from_linear(0.0), 0.0);
        assert!((film(Vec3::splat(GREY)).x - GREY).abs() < 0.01);
        assert!((film(Vec3::splat(WHITE)) - Vec3::ONE).abs().max_element() < 1e-5);
        let mut last = -1.0;
        for step in 0..4000 {
            let x = 1e-4 * 1.003f32.powi(step);
            let value = srgb_from_linear(film(Vec3::splat(x)).y);
            assert!(value >= last, "{x}");
            last = value;
        }
        let colour = Vec3::new(0.3, 0.5, 0.1);
        assert!((blend(blend(colour, MIX), -MIX / (1.0 - 3.0 * MIX)) - colour).length() < 1e-6);
    }
}
