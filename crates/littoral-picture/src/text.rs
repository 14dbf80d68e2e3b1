//! Text on pictures: one typeface (Ubuntu Light, of the crate `epaint_default_fonts`), drawn by `ab_glyph`.
//!
//! Letters are blended in linear light, so that light text on dark keeps its weight. One line, left to right; letters
//! the typeface lacks come from Hack, which has more of them.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, GlyphId, Point, PxScale, ScaleFont};
use glam::Vec3;

use crate::colour;
use crate::image::Image;

const TYPEFACE: &[u8] = epaint_default_fonts::UBUNTU_LIGHT;

static MAIN: LazyLock<FontRef<'static>> = LazyLock::new(|| font(TYPEFACE));
static SPARE: LazyLock<FontRef<'static>> = LazyLock::new(|| font(epaint_default_fonts::HACK_REGULAR));

fn font(bytes: &'static [u8]) -> FontRef<'static> {
    FontRef::try_from_slice(bytes).expect("the crate's typefaces are sound")
}

/// The typeface that has the letter, and its glyph there.
fn glyph_of(letter: char) -> (&'static FontRef<'static>, GlyphId) {
    let id = MAIN.glyph_id(letter);
    if id.0 != 0 { (&MAIN, id) } else { (&SPARE, SPARE.glyph_id(letter)) }
}

/// The glyphs of a line and where each starts, in pixels from the left, and the width of all.
fn layout(text: &str, size: f32) -> (Vec<(&'static FontRef<'static>, GlyphId, f32)>, f32) {
    let mut x = 0.0;
    let mut previous: Option<GlyphId> = None;
    let mut glyphs = Vec::new();
    for letter in text.chars() {
        let (font, id) = glyph_of(letter);
        let scaled = font.as_scaled(PxScale::from(size));
        if let Some(previous) = previous.filter(|_| std::ptr::eq(font, &*MAIN)) {
            x += scaled.kern(previous, id);
        }
        previous = std::ptr::eq(font, &*MAIN).then_some(id);
        glyphs.push((font, id, x));
        x += scaled.h_advance(id);
    }
    (glyphs, x)
}

/// How wide a line is, pixels. `size` is the height from the lowest descender to the highest ascender, pixels.
pub fn width(text: &str, size: f32) -> f32 {
    layout(text, size).1
}

/// How high a capital letter is above the baseline, as a part of the size.
pub const CAPITAL_HEIGHT: f32 = 0.6;

/// Draws a line whose first letter starts at `x` and whose baseline is at `y`, pixels from the top left corner.
/// What falls outside the picture is cut off.
pub fn draw(image: &mut Image, x: f32, y: f32, text: &str, size: f32, ink: Vec3) {
    coverage(text, size, x, y, |px, py, part| {
        if (0..image.width as i64).contains(&px) && (0..image.height as i64).contains(&py) {
            blend(image.pixel_mut(px as usize, py as usize), ink, part);
        }
    });
}

/// Tells which part (0 to 1) of which pixels a line of text covers.
pub fn coverage(text: &str, size: f32, x: f32, y: f32, mut covers: impl FnMut(i64, i64, f32)) {
    for (font, id, offset) in layout(text, size).0 {
        let place = Point { x: x + offset, y };
        let Some(outline) = font.outline_glyph(id.with_scale_and_position(PxScale::from(size), place)) else {
            continue; // a space
        };
        let corner = outline.px_bounds().min;
        outline.draw(|dx, dy, part| {
            covers(corner.x as i64 + i64::from(dx), corner.y as i64 + i64::from(dy), part.clamp(0.0, 1.0));
        });
    }
}

/// Covers a part of a pixel with a linear colour.
pub fn blend(pixel: &mut [u8; 3], ink: Vec3, coverage: f32) {
    *pixel = colour::pixel(colour::linear(*pixel).lerp(ink, coverage));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_leave_ink_where_they_should() {
        let mut image = Image::new(120, 40, [0; 3]);
        draw(&mut image, 10.0, 30.0, "H", 30.0, Vec3::ONE);
        let inked: Vec<(usize, usize)> = (0..40)
            .flat_map(|y| (0..120).map(move |x| (x, y)))
            .filter(|(x, y)| image.pixel(*x, *y)[0] > 128)
            .collect();
        assert!(!inked.is_empty());
        // A capital stands on the baseline and is CAPITAL_HEIGHT of the size high.
        let (top, bottom) =
            (inked.iter().map(|p| p.1).min().unwrap(), inked.iter().map(|p| p.1).max().unwrap());
        assert_eq!(bottom, 29);
        assert!((30.0 - top as f32 - CAPITAL_HEIGHT * 30.0).abs() < 1.5, "top {top}");
        let right = inked.iter().map(|p| p.0).max().unwrap() as f32;
        assert!(right < 10.0 + width("H", 30.0));
    }

    #[test]
    fn width_grows_with_text_and_size() {
        assert!(width("speed", 20.0) > width("spee", 20.0));
        assert!((width("speed", 40.0) / width("speed", 20.0) - 2.0).abs() < 1e-3);
        assert_eq!(width("", 20.0), 0.0);
    }

    #[test]
    fn every_letter_we_write_exists() {
        for letter in "0123456789−.,=%/·°αβγδεζημνρστφω²³¹⁰⁴⁵⁶⁷⁸⁹⁻×±∞→…–".chars()
        {
            assert_ne!(glyph_of(letter).1.0, 0, "{letter}");
        }
    }

    #[test]
    fn text_over_the_edge_is_cut_off() {
        let mut image = Image::new(8, 8, [0; 3]);
        draw(&mut image, -20.0, 5.0, "a long line of text", 12.0, Vec3::ONE);
    }
}
