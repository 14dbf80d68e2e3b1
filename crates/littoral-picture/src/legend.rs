//! What the colours of a picture mean: a bar with ticks, a name and a unit; and a caption with a title and the time.
//!
//! Both stand on a panel that blurs and darkens what is behind it, so that light text reads over anything, and scale
//! with the height of the picture. Kept honest by the tests below.

use glam::Vec3;

use crate::colour::{self, Map};
use crate::image::Image;
use crate::scale::{self, Range};
use crate::text;

/// "speed, m/s" from 0 to 3.2 in the colours of a map.
#[derive(Clone, Copy, Debug)]
pub struct Legend<'a> {
    pub map: Map,
    pub range: Range,
    pub name: &'a str,
    pub unit: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
    Vertical,
    Horizontal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corner {
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
}

const INK: Vec3 = Vec3::splat(0.92);

/// Height of a line of text, pixels.
fn text_size(image: &Image) -> f32 {
    (image.height as f32 / 32.0).max(10.0)
}

/// Draws a legend into a corner of the picture.
pub fn draw_legend(image: &mut Image, legend: &Legend, bar: Bar, corner: Corner) {
    let size = text_size(image);
    let (marks, heading) = legend.marks();
    let widest = marks.iter().map(|mark| text::width(&mark.1, size)).fold(0.0, f32::max);
    let (pad, gap) = (0.6 * size, 0.35 * size);
    let capital = text::CAPITAL_HEIGHT * size;
    let heading_width = text::width(&heading, size);
    match bar {
        Bar::Vertical => {
            let (length, thickness) = (9.0 * size, 0.85 * size);
            let width = (thickness + 2.0 * gap + widest).max(heading_width);
            let height = capital + 0.9 * size + length + 0.3 * capital;
            let (x, y) = panel(image, width + 2.0 * pad, height + 2.0 * pad, corner);
            let (x, y) = (x + pad, y + pad);
            text::draw(image, x, y + capital, &heading, size, INK);
            let top = y + capital + 0.9 * size;
            fill(image, x, top, thickness, length, |_, v| legend.map.colour(1.0 - v));
            for (fraction, label) in marks {
                let at = top + (1.0 - fraction) * length;
                fill(image, x + thickness, at - 0.5, 0.7 * gap, 1.0, |_, _| INK);
                text::draw(image, x + thickness + 1.4 * gap, at + 0.5 * capital, &label, size, INK);
            }
        }
        Bar::Horizontal => {
            let (length, thickness) = ((12.0 * size).max(heading_width), 0.7 * size);
            let overhang = 0.5 * widest;
            let height = capital + 0.55 * size + thickness + 1.6 * gap + capital;
            let (x, y) = panel(image, length + 2.0 * (pad + overhang), height + 2.0 * pad, corner);
            let (x, y) = (x + pad + overhang, y + pad);
            text::draw(image, x, y + capital, &heading, size, INK);
            let top = y + capital + 0.55 * size;
            fill(image, x, top, length, thickness, |u, _| legend.map.colour(u));
            for (fraction, label) in marks {
                let at = x + fraction * length;
                fill(image, at - 0.5, top + thickness, 1.0, 0.7 * gap, |_, _| INK);
                let baseline = top + thickness + 1.6 * gap + capital;
                text::draw(image, at - 0.5 * text::width(&label, size), baseline, &label, size, INK);
            }
        }
    }
}

impl Legend<'_> {
    /// Where the ticks are (0 to 1) with their labels, and the heading.
    fn marks(&self) -> (Vec<(f32, String)>, String) {
        let ticks = self.range.ticks(4);
        let (labels, power) = scale::labels(&ticks);
        let places = ticks.iter().map(|tick| self.range.fraction(*tick) as f32);
        (places.zip(labels).collect(), scale::heading(self.name, self.unit, power))
    }
}

/// Draws a title with a line below it (such as [`time`]) into a corner of the picture. Either may be empty.
pub fn draw_caption(image: &mut Image, title: &str, below: &str, corner: Corner) {
    let size = text_size(image);
    let lines: Vec<(&str, f32)> =
        [(title, 1.2 * size), (below, size)].into_iter().filter(|l| !l.0.is_empty()).collect();
    if lines.is_empty() {
        return;
    }
    let pad = 0.6 * size;
    let width = lines.iter().map(|(line, size)| text::width(line, *size)).fold(0.0, f32::max);
    let capitals: f32 = lines.iter().map(|(_, size)| text::CAPITAL_HEIGHT * size).sum();
    let height = capitals + 0.65 * size * (lines.len() - 1) as f32;
    let (x, mut baseline) = panel(image, width + 2.0 * pad, height + 2.0 * pad, corner);
    baseline += pad;
    for (line, line_size) in lines {
        baseline += text::CAPITAL_HEIGHT * line_size;
        text::draw(image, x + pad, baseline, line, line_size, INK);
        baseline += 0.65 * size;
    }
}

/// "t = 1.25 s". As many decimals as a film of this many frames a second needs.
pub fn time(seconds: f64, frames_per_second: f64) -> String {
    let decimals = frames_per_second.max(1.0).log10().ceil().clamp(1.0, 4.0) as usize;
    format!("t = {} s", scale::number(seconds, decimals))
}

/// Blurs and darkens a rounded rectangle in a corner of the picture; returns its own top left corner, pixels.
fn panel(image: &mut Image, width: f32, height: f32, corner: Corner) -> (f32, f32) {
    let margin = 0.6 * text_size(image);
    let (left, top) = match corner {
        Corner::TopLeft => (true, true),
        Corner::TopRight => (false, true),
        Corner::BottomLeft => (true, false),
        Corner::BottomRight => (false, false),
    };
    let place = |at_start: bool, extent: usize, length: f32| {
        (if at_start { margin } else { extent as f32 - margin - length }).max(0.0).round()
    };
    let (x0, y0) = (place(left, image.width, width), place(top, image.height, height));
    let radius = 0.35 * text_size(image);
    let blurred = blurred(image, x0, y0, width, height, (0.5 * text_size(image)) as usize);

    let half = glam::Vec2::new(0.5 * width, 0.5 * height);
    let middle = glam::Vec2::new(x0, y0) + half;
    for (x, y, behind) in blurred {
        // Signed distance to the rounded rectangle, negative inside.
        let from_middle = (glam::Vec2::new(x as f32 + 0.5, y as f32 + 0.5) - middle).abs() - (half - radius);
        let outside =
            from_middle.max(glam::Vec2::ZERO).length() + from_middle.max_element().min(0.0) - radius;
        let coverage = (0.5 - outside).clamp(0.0, 1.0);
        text::blend(image.pixel_mut(x, y), behind * 0.12 + 0.01, coverage);
    }
    (x0, y0)
}

/// The linear mean around each pixel of a rectangle.
fn blurred(
    image: &Image,
    x0: f32,
    y0: f32,
    width: f32,
    height: f32,
    reach: usize,
) -> Vec<(usize, usize, Vec3)> {
    let columns = x0 as usize..((x0 + width).ceil() as usize).min(image.width);
    let rows = y0 as usize..((y0 + height).ceil() as usize).min(image.height);
    // Along rows, then along columns of those means.
    let wide = rows.start.saturating_sub(reach)..(rows.end + reach).min(image.height);
    let around = |at: usize, end: usize| at.saturating_sub(reach)..(at + reach + 1).min(end);
    let mean = |values: &mut dyn Iterator<Item = Vec3>| {
        let (sum, count) = values.fold((Vec3::ZERO, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        sum / count
    };
    let along_rows: Vec<Vec<Vec3>> = wide
        .clone()
        .map(|y| {
            let row: Vec<Vec3> = (0..image.width).map(|x| colour::linear(image.pixel(x, y))).collect();
            columns.clone().map(|x| mean(&mut around(x, image.width).map(|i| row[i]))).collect()
        })
        .collect();
    let mut means = Vec::new();
    for y in rows {
        for x in columns.clone() {
            let mut values = around(y, image.height).map(|j| along_rows[j - wide.start][x - columns.start]);
            means.push((x, y, mean(&mut values)));
        }
    }
    means
}

/// Fills a rectangle, its edges covered in part, with colours by the place within it (0 to 1 across and down).
fn fill(image: &mut Image, x: f32, y: f32, width: f32, height: f32, colour: impl Fn(f32, f32) -> Vec3) {
    let overlap = |pixel: usize, from: f32, length: f32| {
        ((from + length).min(pixel as f32 + 1.0) - from.max(pixel as f32)).clamp(0.0, 1.0)
    };
    let last = |from: f32, length: f32, end: usize| ((from + length).ceil().max(0.0) as usize).min(end);
    for j in y.max(0.0) as usize..last(y, height, image.height) {
        for i in x.max(0.0) as usize..last(x, width, image.width) {
            let (u, v) = ((i as f32 + 0.5 - x) / width, (j as f32 + 0.5 - y) / height);
            let coverage = overlap(i, x, width) * overlap(j, y, height);
            text::blend(image.pixel_mut(i, j), colour(u, v), coverage);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEED: Legend<'static> =
        Legend { map: Map::Viridis, range: Range { low: 0.0, high: 3.2 }, name: "speed", unit: "m/s" };

    #[test]
    fn ticks_are_where_their_values_are() {
        let (marks, heading) = SPEED.marks();
        assert_eq!(heading, "speed, m/s");
        let labels: Vec<&str> = marks.iter().map(|mark| mark.1.as_str()).collect();
        assert_eq!(labels, ["0", "1", "2", "3"]);
        assert!((marks[3].0 - 3.0 / 3.2).abs() < 1e-6);
        let pressure = Legend { range: Range::new(-2e4, 12e4), name: "pressure", unit: "Pa", ..SPEED };
        let (marks, heading) = pressure.marks();
        assert_eq!(heading, "pressure, 10³ Pa");
        assert!(marks.iter().any(|mark| mark.1 == "50" && (mark.0 - 0.5).abs() < 1e-6), "{marks:?}");
    }

    #[test]
    fn the_bar_shows_the_map_from_end_to_end() {
        for (bar, corner) in [(Bar::Vertical, Corner::BottomRight), (Bar::Horizontal, Corner::TopLeft)] {
            let mut image = Image::new(640, 360, [255; 3]);
            draw_legend(&mut image, &SPEED, bar, corner);
            for fraction in [0.02, 0.25, 0.5, 0.75, 0.98] {
                let wanted = colour::pixel(SPEED.map.colour(fraction));
                let close = |pixel: &[u8; 3]| pixel.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 4);
                assert!(image.pixels.iter().any(close), "{bar:?} at {fraction}");
            }
        }
    }

    #[test]
    fn tick_marks_stand_beside_their_colours() {
        let mut image = Image::new(640, 360, [255; 3]);
        draw_legend(&mut image, &SPEED, Bar::Vertical, Corner::TopLeft);
        // The bar lies between the map's highest and lowest colours; the marks are the bright pixels to its right.
        let places_of = |fraction: f32| {
            let wanted = colour::pixel(SPEED.map.colour(fraction));
            let close = move |pixel: &[u8; 3]| pixel.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 3);
            let places = image.pixels.iter().enumerate().filter(move |(_, pixel)| close(pixel));
            places.map(|(place, _)| (place % 640, place / 640)).collect::<Vec<_>>()
        };
        let column = places_of(0.01).iter().map(|place| place.0).max().unwrap();
        let top = places_of(0.99).iter().map(|place| place.1).min().unwrap();
        let bottom = places_of(0.01).iter().map(|place| place.1).max().unwrap() + 3;
        let (mut beside, mut y) = (Vec::new(), top);
        while y < bottom {
            if colour::linear(image.pixel(column + 2, y)).y > 0.3 {
                beside.push(colour::linear(image.pixel(column - 2, y)));
                y += 1; // a mark may share two rows
            }
            y += 1;
        }
        assert_eq!(beside.len(), 4, "marks");
        for (value, found) in [3.0, 2.0, 1.0, 0.0].into_iter().zip(beside) {
            // The last mark lies on the bar's very end: half of that row is panel.
            let expected = SPEED.map.at(if value == 0.0 { 0.02 } else { value }, SPEED.range);
            assert!((found - expected).abs().max_element() < 0.05, "{value}: {found} instead of {expected}");
        }
    }

    #[test]
    fn text_reads_over_any_background() {
        for background in [[255; 3], [0; 3], [255, 255, 0]] {
            let mut image = Image::new(640, 360, background);
            draw_caption(&mut image, "Dam break", &time(1.25, 30.0), Corner::TopLeft);
            let brightness = |pixel: &[u8; 3]| colour::linear(*pixel).dot(Vec3::new(0.2126, 0.7152, 0.0722));
            // The panel's own colour is found inside it, left of the text; the brightest pixel near is text.
            let panel = brightness(&image.pixel(12, 30));
            let ink = (20..100)
                .flat_map(|x| (10..60).map(move |y| (x, y)))
                .map(|(x, y)| brightness(&image.pixel(x, y)));
            let ink = ink.fold(0.0, f32::max);
            // WCAG 2.1, 1.4.3: a contrast of 4.5 reads well.
            assert!((ink + 0.05) / (panel + 0.05) > 4.5, "{background:?}: {ink} on {panel}");
        }
    }

    #[test]
    fn small_pictures_and_odd_values_do_not_panic() {
        for (width, height) in [(1, 1), (40, 30), (5000, 20)] {
            let mut image = Image::new(width, height, [90; 3]);
            draw_legend(&mut image, &SPEED, Bar::Vertical, Corner::TopRight);
            draw_legend(&mut image, &SPEED, Bar::Horizontal, Corner::BottomLeft);
            draw_caption(&mut image, "a title far too long for so small a picture", "", Corner::BottomRight);
        }
        let mut image = Image::new(320, 180, [90; 3]);
        for range in
            [Range::new(0.0, 0.0), Range::new(f64::NAN, 1.0), Range::new(1.0, -1.0), Range::new(0.0, 1e300)]
        {
            draw_legend(&mut image, &Legend { range, ..SPEED }, Bar::Vertical, Corner::TopLeft);
        }
    }

    #[test]
    fn times_have_the_decimals_a_film_needs() {
        assert_eq!(time(1.25, 30.0), "t = 1.25 s");
        assert_eq!(time(2.0, 10.0), "t = 2.0 s");
        assert_eq!(time(0.0125, 1000.0), "t = 0.013 s");
    }
}
