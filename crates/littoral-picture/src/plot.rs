//! Line plots for papers: the same figure as SVG and as pixels.
//!
//! Panels stand in a grid, each with its own axes, light grid lines, and a legend beside its title when it has more
//! than one series. Line colours are those of Okabe & Ito (2008), which colour-blind people can tell apart. Layout is
//! ours, in the pixels of the finished figure; `plotters` draws it, on a finer grid than that, since it only knows
//! whole numbers. Text on pictures is our own ([`crate::text`]): plotters' leaves out the space beside letters. Long series are thinned to what a pixel column can show: its first, lowest, highest and last point.
//!
//! What is not a number (or not above zero on a logarithmic axis) leaves a gap. Kept honest by the tests below.

use std::cell::RefCell;

use plotters::backend::{BitMapBackend, SVGBackend};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Text};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontTransform, IntoTextStyle, RGBColor};

use crate::image::Image;
use crate::scale::{self, Range};
use crate::text;

/// One pair of axes.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    pub title: String,
    /// "time, s".
    pub x_label: String,
    /// "energy, J".
    pub y_label: String,
    pub series: Vec<Series>,
    /// Powers of ten at equal distances.
    pub log_y: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Series {
    pub name: String,
    /// In the order in which they are joined.
    pub points: Vec<(f64, f64)>,
}

// Sizes in pixels of the finished figure.
const PANEL: (f64, f64) = (480.0, 290.0);
const MARGIN: Margin = Margin { left: 66.0, right: 20.0, top: 40.0, bottom: 50.0 };
const HEADER: f64 = 40.0;
const TITLE_SIZE: f64 = 21.0;
const TEXT_SIZE: f64 = 16.0;
const TICK_SIZE: f64 = 15.0;
const LINE: f64 = 1.8;
const SWATCH: f64 = 18.0;
const LINE_HEIGHT: f64 = 18.0;

struct Margin {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

const INK: RGBColor = RGBColor(38, 38, 38);
const GRID: RGBColor = RGBColor(228, 228, 228);
const PAPER: RGBColor = RGBColor(255, 255, 255);
const LINE_COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// Steps of plotters' whole numbers in a pixel: a tenth is finer than any screen shows.
const SVG_STEPS: i32 = 10;
/// Pixels of a picture along a pixel of the figure: sharp on dense screens and on paper.
const DENSITY: usize = 2;
/// Samples along each side of a pixel of a picture.
const FINE: usize = 3;

/// The figure as the text of an SVG file.
pub fn svg(panels: &[Panel], title: &str) -> String {
    let (width, height) = figure_size(panels, title);
    let steps = |pixels: u32| pixels * SVG_STEPS as u32;
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (steps(width), steps(height))).into_drawing_area();
    draw(&Pen { area: &area, steps: SVG_STEPS, texts: None }, panels, title);
    drop(area);
    // The drawing is finer than the figure: keep its coordinates, say its size.
    let fine = format!("width=\"{}\" height=\"{}\"", steps(width), steps(height));
    svg.replacen(&fine, &format!("width=\"{width}\" height=\"{height}\""), 1)
}

/// The figure as a picture, with twice as many pixels along each side as the SVG says.
pub fn png(panels: &[Panel], title: &str) -> Image {
    let (width, height) = figure_size(panels, title);
    let steps = (DENSITY * FINE) as u32;
    let mut samples = vec![255; (width * steps * height * steps * 3) as usize];
    let area = BitMapBackend::with_buffer(&mut samples, (width * steps, height * steps)).into_drawing_area();
    let texts = RefCell::new(Vec::new());
    draw(&Pen { area: &area, steps: steps as i32, texts: Some(&texts) }, panels, title);
    drop(area);
    let samples = bytemuck::cast_slice(&samples);
    let mut image = mean_of_samples(samples, width as usize * DENSITY, height as usize * DENSITY);
    texts.into_inner().iter().for_each(|text| text.draw(&mut image));
    image
}

/// The mean of each pixel's samples, as stored rather than in linear light: thin dark letters on white keep their
/// weight, as they do in browsers.
fn mean_of_samples(samples: &[[u8; 3]], width: usize, height: usize) -> Image {
    let count = FINE * FINE;
    let mut image = Image::new(width, height, [255; 3]);
    for y in 0..height {
        for x in 0..width {
            let mut sum = [count / 2; 3];
            for k in 0..count {
                let sample = samples[(y * FINE + k / FINE) * width * FINE + x * FINE + k % FINE];
                (0..3).for_each(|channel| sum[channel] += usize::from(sample[channel]));
            }
            *image.pixel_mut(x, y) = sum.map(|channel| (channel / count) as u8);
        }
    }
    image
}

/// Up to two panels stand above each other; more of them in two columns.
fn columns(panels: &[Panel]) -> usize {
    if panels.len() > 2 { 2 } else { 1 }
}

fn header(title: &str) -> f64 {
    if title.is_empty() { 0.0 } else { HEADER }
}

fn figure_size(panels: &[Panel], title: &str) -> (u32, u32) {
    let rows = panels.len().div_ceil(columns(panels)).max(1);
    let size = (PANEL.0 * columns(panels) as f64, header(title) + PANEL.1 * rows as f64);
    (size.0 as u32, size.1 as u32)
}

// Drawing -----------------------------------------------------------------------------------------------------------

fn draw<Backend: DrawingBackend>(pen: &Pen<Backend>, panels: &[Panel], title: &str) {
    pen.area.fill(&PAPER).unwrap_or_else(|_| unreachable!("drawing into memory"));
    if !title.is_empty() {
        pen.text((0.5 * MARGIN.left, 0.72 * HEADER), title, TITLE_SIZE, HPos::Left);
    }
    for (index, panel) in panels.iter().enumerate() {
        let (column, row) = (index % columns(panels), index / columns(panels));
        let corner = (PANEL.0 * column as f64, header(title) + PANEL.1 * row as f64);
        draw_panel(pen, panel, corner);
    }
}

fn draw_panel<Backend: DrawingBackend>(pen: &Pen<Backend>, panel: &Panel, (x0, y0): (f64, f64)) {
    let (left, right) = (x0 + MARGIN.left, x0 + PANEL.0 - MARGIN.right);
    let names = draw_heading(pen, panel, left, right, y0 + MARGIN.top - 12.0);
    let bottom = y0 + PANEL.1 - MARGIN.bottom;
    let frame = Frame { left, right, top: (y0 + MARGIN.top + names).min(bottom - 80.0), bottom };
    let middle = (0.5 * (frame.left + frame.right), 0.5 * (frame.top + frame.bottom));
    pen.text((middle.0, frame.bottom + 40.0), &panel.x_label, TEXT_SIZE, HPos::Center);
    pen.text_upwards((x0 + 17.0, middle.1), &panel.y_label, TEXT_SIZE);

    let Some((x_axis, y_axis)) = axes(panel) else {
        pen.line(
            &[(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)],
            INK,
            1.0,
        );
        pen.text(middle, "no data", TEXT_SIZE, HPos::Center);
        return;
    };

    // Grid lines and labels first, so that the data lie on top.
    let (ticks, power) = plain_ticks(x_axis, 6);
    for (value, label) in ticks {
        let x = frame.x(x_axis.fraction(value));
        pen.line(&[(x, frame.top), (x, frame.bottom)], GRID, 1.0);
        pen.line(&[(x, frame.bottom), (x, frame.bottom + 4.0)], INK, 1.0);
        pen.text((x, frame.bottom + 18.0), &label, TICK_SIZE, HPos::Center);
    }
    pen.factor((frame.right, frame.bottom + 40.0), power);
    let (ticks, power) = y_axis.labelled_ticks(5);
    for (value, label) in ticks {
        let y = frame.y(y_axis.fraction(value));
        pen.line(&[(frame.left, y), (frame.right, y)], GRID, 1.0);
        pen.line(&[(frame.left - 4.0, y), (frame.left, y)], INK, 1.0);
        pen.number_left_of((frame.left - 7.0, y + 0.31 * TICK_SIZE), &label);
    }
    pen.factor((frame.left - 7.0, frame.top - 8.0), power);

    for (index, series) in panel.series.iter().enumerate() {
        for run in runs(series, x_axis, &y_axis) {
            let places: Vec<(f64, f64)> = run.iter().map(|(x, y)| (frame.x(*x), frame.y(*y))).collect();
            pen.curve(&thinned(&places), line_colour(index));
        }
    }
    pen.line(&[(frame.left, frame.top), (frame.left, frame.bottom), (frame.right, frame.bottom)], INK, 1.0);
}

/// The title, and the names of the lines when there are several: to the right of the title when there is room, else in
/// rows below it. Returns the height of those rows, pixels.
fn draw_heading<Backend: DrawingBackend>(
    pen: &Pen<Backend>,
    panel: &Panel,
    left: f64,
    right: f64,
    baseline: f64,
) -> f64 {
    pen.text((left, baseline), &panel.title, TEXT_SIZE + 1.0, HPos::Left);
    if panel.series.len() < 2 {
        return 0.0;
    }
    let gap = 12.0;
    let widths: Vec<f64> =
        panel.series.iter().map(|series| SWATCH + 5.0 + width_of(&series.name, TICK_SIZE) + gap).collect();
    let all = widths.iter().sum::<f64>() - gap;
    let beside = all + 16.0 + width_of(&panel.title, TEXT_SIZE + 1.0) <= right - left;
    let (mut x, mut y) = if beside { (right - all, baseline) } else { (left, baseline + LINE_HEIGHT) };
    for (index, (series, width)) in panel.series.iter().zip(widths).enumerate() {
        if !beside && x > left && x + width - gap > right {
            (x, y) = (left, y + LINE_HEIGHT);
        }
        let middle = y - 0.3 * TICK_SIZE;
        pen.line(&[(x, middle), (x + SWATCH, middle)], line_colour(index), LINE + 0.6);
        pen.text((x + SWATCH + 5.0, y), &series.name, TICK_SIZE, HPos::Left);
        x += width;
    }
    y - baseline
}

/// Pixels.
fn width_of(line: &str, size: f64) -> f64 {
    f64::from(text::width(line, size as f32))
}

fn line_colour(index: usize) -> RGBColor {
    LINE_COLOURS[index % LINE_COLOURS.len()]
}

/// Where the data go, pixels.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn x(&self, fraction: f64) -> f64 {
        self.left + fraction * (self.right - self.left)
    }

    fn y(&self, fraction: f64) -> f64 {
        self.bottom - fraction * (self.bottom - self.top)
    }
}

// Axes --------------------------------------------------------------------------------------------------------------

/// Values with their labels, and the power of ten taken out of them.
fn plain_ticks(range: Range, count: usize) -> (Vec<(f64, String)>, i32) {
    let ticks = range.ticks(count);
    let (labels, power) = scale::labels(&ticks);
    (ticks.into_iter().zip(labels).collect(), power)
}

struct Axis {
    /// Of the values, or of their decimal logarithms.
    range: Range,
    logarithmic: bool,
}

/// A label on an axis; powers of ten have their exponent raised.
#[derive(Debug, PartialEq)]
enum Label {
    Plain(String),
    /// A factor that may be empty, and the power of ten.
    Power(String, i32),
}

/// `None` when no point can be shown.
fn axes(panel: &Panel) -> Option<(Range, Axis)> {
    let shown = || {
        let points = panel.series.iter().flat_map(|series| &series.points);
        points.filter(|(x, y)| x.is_finite() && y.is_finite() && (!panel.log_y || *y > 0.0))
    };
    let x = Range::of(shown().map(|(x, _)| *x))?;
    let x = if x.high > x.low { x } else { x.rounded() };
    let y = if panel.log_y {
        // To a tenth of a decade, and no less than a decade in all.
        let exponents = Range::of(shown().map(|(_, y)| y.log10()))?;
        let (low, high) = ((10.0 * exponents.low).floor() / 10.0, (10.0 * exponents.high).ceil() / 10.0);
        let room = (0.5 * (1.0 - (high - low))).max(0.0);
        Range::new(low - room, high + room)
    } else {
        Range::of(shown().map(|(_, y)| *y))?.rounded()
    };
    Some((x, Axis { range: y, logarithmic: panel.log_y }))
}

impl Axis {
    fn fraction(&self, value: f64) -> f64 {
        self.range.fraction(if self.logarithmic { value.log10() } else { value })
    }

    /// Values with their labels, and the power of ten taken out of them.
    fn labelled_ticks(&self, count: usize) -> (Vec<(f64, Label)>, i32) {
        if !self.logarithmic {
            let (ticks, power) = plain_ticks(self.range, count);
            return (ticks.into_iter().map(|(value, label)| (value, Label::Plain(label))).collect(), power);
        }
        // Powers of ten, every few of them over many decades; with 2 and 5 times them over few.
        let decades = self.range.high - self.range.low;
        let every = (decades / count as f64).ceil().max(1.0) as i32;
        let factors: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut ticks = Vec::new();
        for power in self.range.low.floor() as i32..=self.range.high.ceil() as i32 {
            if power.rem_euclid(every) != 0 {
                continue;
            }
            for factor in factors {
                let exponent = factor.log10() + f64::from(power);
                if exponent >= self.range.low - 1e-9 && exponent <= self.range.high + 1e-9 {
                    let before = if *factor == 1.0 { String::new() } else { format!("{factor}·") };
                    ticks.push((factor * 10f64.powi(power), Label::Power(before, power)));
                }
            }
        }
        (ticks, 0)
    }
}

/// The points of a series as fractions of the axes, in runs without gaps.
fn runs(series: &Series, x_axis: Range, y_axis: &Axis) -> Vec<Vec<(f64, f64)>> {
    let places: Vec<(f64, f64)> =
        series.points.iter().map(|(x, y)| (x_axis.fraction(*x), y_axis.fraction(*y))).collect();
    let runs = places.split(|(x, y)| !(x.is_finite() && y.is_finite()));
    runs.filter(|run| !run.is_empty()).map(<[_]>::to_vec).collect()
}

/// Keeps the first, lowest, highest and last of the neighbours that share a pixel column: the same picture from fewer
/// points.
fn thinned(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    for column in places.chunk_by(|a, b| a.0.floor() == b.0.floor()) {
        if column.len() <= 4 {
            kept.extend(column);
            continue;
        }
        let by_height = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let lowest = (0..column.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..column.len()).max_by(by_height).unwrap_or(0);
        let mut picks = vec![0, lowest, highest, column.len() - 1];
        picks.sort_unstable();
        picks.dedup();
        kept.extend(picks.into_iter().map(|pick| column[pick]));
    }
    kept
}

// Pen ---------------------------------------------------------------------------------------------------------------

/// Draws in pixels of the finished figure on plotters' finer grid.
struct Pen<'a, Backend: DrawingBackend> {
    area: &'a DrawingArea<Backend, Shift>,
    steps: i32,
    /// For pictures: the texts to draw when the lines are done. Else plotters writes them.
    texts: Option<&'a RefCell<Vec<PictureText>>>,
}

impl<Backend: DrawingBackend> Pen<'_, Backend> {
    fn place(&self, (x, y): (f64, f64)) -> (i32, i32) {
        let steps = f64::from(self.steps);
        ((x * steps).round() as i32, (y * steps).round() as i32)
    }

    fn line(&self, places: &[(f64, f64)], colour: RGBColor, width: f64) {
        for pair in places.windows(2) {
            // A rectangle, exact to a step; axes and grid lines have no diagonal ones.
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let half = 0.5 * width;
            let (low, high) =
                ((x0.min(x1) - half, y0.min(y1) - half), (x0.max(x1) + half, y0.max(y1) + half));
            let (low, high) = if x0 == x1 {
                ((low.0, low.1 + half), (high.0, high.1 - half))
            } else {
                ((low.0 + half, low.1), (high.0 - half, high.1))
            };
            let (a, b) = (self.place(low), self.place(high));
            self.put(&Polygon::new([(a.0, a.1), (b.0, a.1), (b.0, b.1), (a.0, b.1)], colour.filled()));
        }
    }

    fn curve(&self, places: &[(f64, f64)], colour: RGBColor) {
        let points: Vec<(i32, i32)> = places.iter().map(|place| self.place(*place)).collect();
        let width = (LINE * f64::from(self.steps)).round() as u32;
        if points.len() == 1 {
            self.put(&Circle::new(points[0], width, colour.filled()));
        } else if self.texts.is_none() {
            self.put(&PathElement::new(points, colour.stroke_width(width)));
        } else {
            // The bitmap backend makes spikes of sharp corners: each piece alone, with a dot on each joint.
            for pair in points.windows(2).filter(|pair| pair[0] != pair[1]) {
                self.put(&PathElement::new(pair.to_vec(), colour.stroke_width(width)));
                self.put(&Circle::new(pair[1], width / 2, colour.filled()));
            }
        }
    }

    /// Text whose baseline starts (or has its middle, or ends) at a place.
    fn text(&self, place: (f64, f64), text: &str, size: f64, anchor: HPos) {
        self.put_text(place, text, size, anchor, false);
    }

    /// Text that reads upwards, the middle of its baseline at a place.
    fn text_upwards(&self, place: (f64, f64), text: &str, size: f64) {
        self.put_text(place, text, size, HPos::Center, true);
    }

    fn put_text(&self, (x, y): (f64, f64), text: &str, size: f64, anchor: HPos, upwards: bool) {
        if let Some(texts) = self.texts {
            let text = text.to_string();
            texts.borrow_mut().push(PictureText { place: (x, y), text, size, anchor, upwards });
            return;
        }
        // plotters' SVG places the top of a line 0.76 em above its baseline, and makes an em of 1 / 1.24 of the size.
        let ascent = 0.76 / 1.24 * size;
        let (place, turn) = if upwards {
            ((x - ascent, y), FontTransform::Rotate270)
        } else {
            ((x, y - ascent), FontTransform::None)
        };
        let style = ("sans-serif", size * f64::from(self.steps)).into_text_style(self.area).color(&INK);
        let style = style.pos(Pos::new(anchor, VPos::Top)).transform(turn);
        self.put(&Text::new(text.to_string(), self.place(place), style));
    }

    /// A label that ends at a place.
    fn number_left_of(&self, place: (f64, f64), label: &Label) {
        match label {
            Label::Plain(text) => self.text(place, text, TICK_SIZE, HPos::Right),
            Label::Power(before, power) => self.power(place, before, *power),
        }
    }

    /// "×10³" that ends at a place, when a power was taken out of an axis's labels.
    fn factor(&self, place: (f64, f64), power: i32) {
        if power != 0 {
            self.power(place, "×", power);
        }
    }

    fn power(&self, (x, baseline): (f64, f64), before: &str, power: i32) {
        let exponent = scale::number(f64::from(power), 0);
        let small = 0.72 * TICK_SIZE;
        self.text((x, baseline - 0.38 * TICK_SIZE), &exponent, small, HPos::Right);
        let left = x - width_of(&exponent, small) - 1.0;
        self.text((left, baseline), &format!("{before}10"), TICK_SIZE, HPos::Right);
    }

    fn put<'b, Element>(&self, element: &'b Element)
    where
        &'b Element: plotters::element::PointCollection<'b, (i32, i32)>,
        Element: plotters::element::Drawable<Backend>,
    {
        self.area.draw(element).unwrap_or_else(|_| unreachable!("drawing into memory"));
    }
}

/// A text of the figure that still has to be drawn on its picture.
struct PictureText {
    place: (f64, f64),
    text: String,
    size: f64,
    anchor: HPos,
    upwards: bool,
}

impl PictureText {
    fn draw(&self, image: &mut Image) {
        let density = DENSITY as f32;
        let (x, y) = (self.place.0 as f32 * density, self.place.1 as f32 * density);
        let size = self.size as f32 * density;
        let width = text::width(&self.text, size);
        let start = match self.anchor {
            HPos::Left => 0.0,
            HPos::Center => -0.5 * width,
            HPos::Right => -width,
        };
        let mut blend = |px: i64, py: i64, part: f32| {
            if (0..image.width as i64).contains(&px) && (0..image.height as i64).contains(&py) {
                let pixel = image.pixel_mut(px as usize, py as usize);
                let ink = [INK.0, INK.1, INK.2];
                for channel in 0..3 {
                    let (from, to) = (f32::from(pixel[channel]), f32::from(ink[channel]));
                    pixel[channel] = (from + (to - from) * part).round() as u8;
                }
            }
        };
        if self.upwards {
            // A quarter turn: along the text is up, below it is to the right.
            let (x, y) = (x.round() as i64, y.round() as i64);
            text::coverage(&self.text, size, start, 0.0, |along, below, part| {
                blend(x + below, y - 1 - along, part)
            });
        } else {
            text::coverage(&self.text, size, x + start, y, blend);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(name: &str, shift: f64) -> Series {
        let points =
            (0..=200).map(|k| f64::from(k) * 0.02).map(|t| (t, 50.0 * (2.0 * t + shift).cos())).collect();
        Series { name: name.into(), points }
    }

    fn panel(series: Vec<Series>) -> Panel {
        Panel {
            title: "Energy".into(),
            x_label: "time, s".into(),
            y_label: "energy, J".into(),
            series,
            log_y: false,
        }
    }

    fn texts(svg: &str) -> Vec<String> {
        let after_tags = svg.split("<text").skip(1).filter_map(|part| part.split_once('>'));
        after_tags.filter_map(|(_, rest)| Some(rest.split_once('<')?.0.trim().to_string())).collect()
    }

    fn curves(svg: &str) -> Vec<Vec<(f64, f64)>> {
        let lists = svg
            .split("<polyline")
            .skip(1)
            .filter_map(|part| part.split("points=\"").nth(1)?.split('"').next());
        let number = |text: &str| text.parse::<f64>().unwrap() / f64::from(SVG_STEPS);
        let pair = |text: &str| text.split_once(',').map(|(x, y)| (number(x), number(y)));
        lists.map(|list| list.split_whitespace().filter_map(pair).collect()).collect()
    }

    #[test]
    fn a_figure_says_what_it_shows() {
        let figure = svg(&[panel(vec![wave("kinetic", 0.0), wave("potential & more", 1.0)])], "Dam break");
        let texts = texts(&figure);
        for expected in [
            "Dam break",
            "Energy",
            "time, s",
            "energy, J",
            "kinetic",
            "potential &amp; more",
            "−50",
            "0",
            "4",
        ] {
            assert!(texts.iter().any(|text| text == expected), "{expected} is not among {texts:?}");
        }
        assert!(
            figure.starts_with("<svg width=\"480\" height=\"330\" viewBox=\"0 0 4800 3300\""),
            "{}",
            &figure[..90]
        );
        assert!(figure.trim_end().ends_with("</svg>"));
    }

    #[test]
    fn one_series_needs_no_legend() {
        assert!(!texts(&svg(&[panel(vec![wave("kinetic", 0.0)])], "")).contains(&"kinetic".to_string()));
    }

    #[test]
    fn names_too_long_for_the_title_go_below_it_and_cover_nothing() {
        let long = "the kinetic energy of all the water that is still in the tank";
        let figure = svg(&[panel(vec![wave(long, 0.0), wave("short", 1.0)])], "");
        let y_of = |name: &str| {
            let before = &figure[..figure.find(name).unwrap()];
            let tag = &before[before.rfind("<text").unwrap()..];
            tag.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
                / f64::from(SVG_STEPS)
        };
        assert!(y_of("Energy") + 10.0 < y_of(long) && y_of(long) + 10.0 < y_of("short"));
        let highest = curves(&figure).iter().flatten().map(|place| place.1).fold(f64::INFINITY, f64::min);
        assert!(highest > y_of("short") + 10.0, "{highest}");
    }

    #[test]
    fn points_are_where_they_should_be() {
        let line = Series { name: "line".into(), points: vec![(0.0, 0.0), (5.0, 25.0), (10.0, 100.0)] };
        let found = &curves(&svg(&[panel(vec![line])], ""))[0];
        let (left, right) = (MARGIN.left, PANEL.0 - MARGIN.right);
        let (top, bottom) = (MARGIN.top, PANEL.1 - MARGIN.bottom);
        let expected = [(left, bottom), (0.5 * (left + right), bottom + 0.25 * (top - bottom)), (right, top)];
        for ((x, y), (x_expected, y_expected)) in found.iter().zip(expected) {
            let half_step = 0.5 / f64::from(SVG_STEPS) + 1e-9;
            assert!((x - x_expected).abs() <= half_step && (y - y_expected).abs() <= half_step, "{found:?}");
        }
    }

    #[test]
    fn logarithms_have_powers_of_ten_at_equal_distances() {
        let decay = Series {
            name: "step".into(),
            points: (0..=4).map(|k| (f64::from(k), 10f64.powi(-k - 1))).collect(),
        };
        let panel = Panel { log_y: true, ..panel(vec![decay]) };
        let figure = svg(std::slice::from_ref(&panel), "");
        let found = &curves(&figure)[0];
        let steps: Vec<f64> = found.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
        assert!(steps.iter().all(|step| (step - steps[0]).abs() <= 0.11), "{steps:?}"); // rounded to a step
        assert_eq!(texts(&figure).iter().filter(|text| *text == "10").count(), 5);
        let (_, y_axis) = axes(&panel).unwrap();
        assert_eq!(y_axis.labelled_ticks(5).0[1].1, Label::Power(String::new(), -4));
    }

    #[test]
    fn what_is_not_a_number_leaves_a_gap() {
        let mut series = wave("kinetic", 0.0);
        series.points[70].1 = f64::NAN;
        series.points[130].1 = f64::INFINITY;
        assert_eq!(curves(&svg(&[panel(vec![series])], "")).len(), 3);
    }

    #[test]
    fn nothing_constant_and_odd_data_do_not_panic() {
        let series = |points: Vec<(f64, f64)>| vec![Series { name: "a".into(), points }];
        for data in [
            vec![],
            series(vec![]),
            series(vec![(0.0, f64::NAN)]),
            series(vec![(1.0, 5.0)]),
            series(vec![(0.0, 7.0), (1.0, 7.0)]),
            series(vec![(0.0, 0.0), (1.0, 0.0)]),
            series(vec![(0.0, -1e300), (1.0, 1e300)]),
            series(vec![(0.0, 1e-300), (1.0, 2e-300)]),
            series(vec![(1e9, 1.0), (1e9 + 1e-3, 2.0)]),
        ] {
            for log_y in [false, true] {
                let panels = [Panel { log_y, ..panel(data.clone()) }];
                assert!(svg(&panels, "").contains("</svg>"));
                png(&panels, "title");
            }
        }
        assert!(svg(&[], "empty").contains("empty"));
    }

    #[test]
    fn long_series_are_thinned_but_keep_their_peaks() {
        let mut points: Vec<(f64, f64)> = (0..200_000).map(|k| (f64::from(k), f64::from(k % 7))).collect();
        points[123_456].1 = 100.0;
        let figure = svg(&[panel(vec![Series { name: "long".into(), points }])], "");
        let found = &curves(&figure)[0];
        assert!(found.len() < 4 * PANEL.0 as usize, "{} points", found.len());
        let peak = found.iter().map(|place| place.1).fold(f64::INFINITY, f64::min);
        assert!((peak - MARGIN.top).abs() < 0.1, "the peak is at {peak}");
    }

    #[test]
    fn pixels_show_the_same_figure() {
        let panels = [panel(vec![wave("kinetic", 0.0), wave("potential", 1.0)])];
        let image = png(&panels, "Dam break");
        assert_eq!((image.width, image.height), (DENSITY * 480, DENSITY * 330));
        // Each curve of the SVG passes through pixels of its colour.
        let figure = svg(&panels, "Dam break");
        for (index, curve) in curves(&figure).iter().enumerate() {
            let RGBColor(r, g, b) = line_colour(index);
            let close = |pixel: [u8; 3]| pixel.iter().zip([r, g, b]).all(|(a, b)| a.abs_diff(b) < 60);
            let in_picture = |length: f64| (DENSITY as f64 * length) as usize;
            let hits = curve.iter().filter(|(x, y)| close(image.pixel(in_picture(*x), in_picture(*y))));
            let share = hits.count() as f64 / curve.len() as f64;
            assert!(share > 0.9, "{share} of curve {index}"); // the rest is where the other curve crosses
        }
    }
}
