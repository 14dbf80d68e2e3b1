//! Colours: sRGB and linear light, and maps from numbers to colours.
//!
//! A map is a list of published colours, joined in Oklab (Ottosson 2020), in which equal steps look equal; turbo is a
//! polynomial. Those that say so grow steadily in lightness and read in grey and by colour-blind people; that is
//! what `maps_are_monotone_in_lightness_where_they_claim_it` keeps honest.
//!
//! - viridis, inferno: Smith & van der Walt, matplotlib 2015 (CC0), eleven samples of each
//! - turbo: Mikhailov, "Turbo, an improved rainbow colormap", Google AI blog 2019; fifth-order fit by Du
//! - blues, blue-red: Brewer, ColorBrewer 2.0, nine-class Blues and RdBu

use std::sync::LazyLock;

use glam::Vec3;

use crate::scale::Range;

// sRGB --------------------------------------------------------------------------------------------------------------

/// IEC 61966-2-1: a stored value (0 to 1) as light.
pub fn linear_from_srgb(stored: f32) -> f32 {
    if stored <= 0.04045 { stored / 12.92 } else { ((stored + 0.055) / 1.055).powf(2.4) }
}

/// IEC 61966-2-1: light as a stored value (0 to 1).
pub fn srgb_from_linear(light: f32) -> f32 {
    if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 }
}

/// The pixel for a linear colour; light beyond 1 is cut off.
pub fn pixel(linear: Vec3) -> [u8; 3] {
    linear.to_array().map(|light| (255.0 * srgb_from_linear(light.clamp(0.0, 1.0)) + 0.5) as u8)
}

/// The linear colour of a pixel.
pub fn linear(pixel: [u8; 3]) -> Vec3 {
    Vec3::from_array(pixel.map(|stored| LINEAR_OF_BYTE[stored as usize]))
}

static LINEAR_OF_BYTE: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|byte| linear_from_srgb(byte as f32 / 255.0)));

// Oklab -------------------------------------------------------------------------------------------------------------

/// Lightness (0 black to 1 white), green–red and blue–yellow of a linear colour.
pub fn oklab_from_linear(c: Vec3) -> Vec3 {
    let l = (0.412_221_46 * c.x + 0.536_332_55 * c.y + 0.051_445_995 * c.z).cbrt();
    let m = (0.211_903_5 * c.x + 0.680_699_5 * c.y + 0.107_396_96 * c.z).cbrt();
    let s = (0.088_302_46 * c.x + 0.281_718_85 * c.y + 0.629_978_7 * c.z).cbrt();
    Vec3::new(
        0.210_454_26 * l + 0.793_617_8 * m - 0.004_072_047 * s,
        1.977_998_5 * l - 2.428_592_2 * m + 0.450_593_7 * s,
        0.025_904_037 * l + 0.782_771_77 * m - 0.808_675_77 * s,
    )
}

pub fn linear_from_oklab(lab: Vec3) -> Vec3 {
    let l = (lab.x + 0.396_337_78 * lab.y + 0.215_803_76 * lab.z).powi(3);
    let m = (lab.x - 0.105_561_346 * lab.y - 0.063_854_17 * lab.z).powi(3);
    let s = (lab.x - 0.089_484_18 * lab.y - 1.291_485_5 * lab.z).powi(3);
    Vec3::new(
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    )
}

// Maps --------------------------------------------------------------------------------------------------------------

/// From a number to a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// Dark violet, green, yellow: the map for most things.
    Viridis,
    /// Black, red, yellow: for heat.
    Inferno,
    /// A rainbow: many colours to tell apart, at the price of an order in grey.
    Turbo,
    /// White to dark blue: for saturation and wetness.
    Blues,
    /// Blue, white, red: for what has a middle, with [`Range::symmetric`].
    BlueRed,
}

impl Map {
    /// The linear colour at a fraction from 0 to 1 of the map; what lies outside gets the end's colour, NaN a grey.
    pub fn colour(self, fraction: f32) -> Vec3 {
        if fraction.is_nan() {
            return NO_NUMBER;
        }
        let x = fraction.clamp(0.0, 1.0);
        match self {
            Map::Viridis => between(&VIRIDIS, x),
            Map::Inferno => between(&INFERNO, x),
            Map::Turbo => turbo(x),
            Map::Blues => between(&BLUES, x),
            Map::BlueRed => between(&BLUE_RED, x),
        }
    }

    /// The linear colour of a value within a range.
    pub fn at(self, value: f32, range: Range) -> Vec3 {
        self.colour(range.fraction(f64::from(value)) as f32)
    }
}

/// What is not a number.
const NO_NUMBER: Vec3 = Vec3::splat(0.2);

type Stops = LazyLock<Vec<Vec3>>;

static VIRIDIS: Stops = LazyLock::new(|| {
    stops(&[
        0x440154, 0x482475, 0x414487, 0x355f8d, 0x2a788e, 0x21918c, 0x22a884, 0x44bf70, 0x7ad151, 0xbddf26,
        0xfde725,
    ])
});
static INFERNO: Stops = LazyLock::new(|| {
    stops(&[
        0x000004, 0x160b39, 0x420a68, 0x6a176e, 0x932667, 0xbc3754, 0xdd513a, 0xf37819, 0xfca50a, 0xf6d746,
        0xfcffa4,
    ])
});
static BLUES: Stops = LazyLock::new(|| {
    stops(&[0xf7fbff, 0xdeebf7, 0xc6dbef, 0x9ecae1, 0x6baed6, 0x4292c6, 0x2171b5, 0x08519c, 0x08306b])
});
static BLUE_RED: Stops = LazyLock::new(|| {
    stops(&[0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b])
});

/// Published sRGB colours (0xRRGGBB) as Oklab.
fn stops(published: &[u32]) -> Vec<Vec3> {
    let channels = |hex: u32| [(hex >> 16) as u8, (hex >> 8) as u8, hex as u8];
    published.iter().map(|hex| oklab_from_linear(linear(channels(*hex)))).collect()
}

fn between(stops: &[Vec3], x: f32) -> Vec3 {
    let place = x * (stops.len() - 1) as f32;
    let left = (place as usize).min(stops.len() - 2);
    linear_from_oklab(stops[left].lerp(stops[left + 1], place - left as f32)).clamp(Vec3::ZERO, Vec3::ONE)
}

fn turbo(x: f32) -> Vec3 {
    // Coefficients of x⁰ … x⁵; the result is sRGB.
    const RED: [f32; 6] = [0.135_721_38, 4.615_392_6, -42.660_32, 132.131_08, -152.942_4, 59.286_38];
    const GREEN: [f32; 6] = [0.091_402_61, 2.194_188_4, 4.842_966_6, -14.185_033, 4.277_298_6, 2.829_566];
    const BLUE: [f32; 6] = [0.106_673_3, 12.641_946, -60.582_05, 110.362_77, -89.903_11, 27.348_25];
    let channel = |coefficients: [f32; 6]| {
        let stored = coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient);
        linear_from_srgb(stored.clamp(0.0, 1.0))
    };
    Vec3::new(channel(RED), channel(GREEN), channel(BLUE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_goes_both_ways() {
        for byte in 0..=255u8 {
            let grey = [byte; 3];
            assert_eq!(pixel(linear(grey)), grey);
        }
        assert!((linear_from_srgb(0.5) - 0.214_041).abs() < 1e-5); // the standard's own example of a mid grey
    }

    #[test]
    fn oklab_goes_both_ways_and_knows_white() {
        let white = oklab_from_linear(Vec3::ONE);
        assert!((white - Vec3::new(1.0, 0.0, 0.0)).length() < 1e-4, "{white}");
        let colour = Vec3::new(0.1, 0.6, 0.3);
        assert!((linear_from_oklab(oklab_from_linear(colour)) - colour).length() < 1e-4); // f32, cubes
    }

    #[test]
    fn maps_pass_through_their_published_colours() {
        assert_eq!(pixel(Map::Viridis.colour(0.0)), [0x44, 0x01, 0x54]);
        assert_eq!(pixel(Map::Viridis.colour(0.5)), [0x21, 0x91, 0x8c]);
        assert_eq!(pixel(Map::Viridis.colour(1.0)), [0xfd, 0xe7, 0x25]);
        assert_eq!(pixel(Map::BlueRed.colour(0.5)), [0xf7, 0xf7, 0xf7]);
        // The table that turbo's polynomial fits has (164, 252, 60) in its middle; the fit strays by up to 20 levels.
        let turbo = pixel(Map::Turbo.colour(0.5));
        assert!(turbo.iter().zip([164u8, 252, 60]).all(|(a, b)| a.abs_diff(b) <= 20), "{turbo:?}");
    }

    #[test]
    fn maps_are_monotone_in_lightness_where_they_claim_it() {
        let lightness = |map: Map| -> Vec<f32> {
            (0..=200).map(|k| oklab_from_linear(map.colour(k as f32 / 200.0)).x).collect()
        };
        for map in [Map::Viridis, Map::Inferno] {
            assert!(lightness(map).is_sorted(), "{map:?}");
        }
        assert!(lightness(Map::Blues).iter().rev().is_sorted());
        let diverging = lightness(Map::BlueRed);
        assert!(diverging[..=100].is_sorted());
        assert!(diverging[100..].iter().rev().is_sorted());
        // Steady as well as monotone: no step of viridis is thrice the mean step.
        let viridis = lightness(Map::Viridis);
        let mean = (viridis[200] - viridis[0]) / 200.0;
        assert!(viridis.windows(2).all(|pair| pair[1] - pair[0] < 3.0 * mean));
    }

    #[test]
    fn ends_hold_and_nan_is_grey() {
        let range = Range::new(0.0, 2.0);
        assert_eq!(Map::Viridis.at(-5.0, range), Map::Viridis.colour(0.0));
        assert_eq!(Map::Viridis.at(9.0, range), Map::Viridis.colour(1.0));
        let grey = Map::Turbo.at(f32::NAN, range);
        assert!(grey.x == grey.y && grey.y == grey.z);
    }
}
