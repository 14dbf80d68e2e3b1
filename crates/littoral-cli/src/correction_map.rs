//! `littoral correction-map`: in which order `stretch-limit` puts the edges of cloths right, as a picture.
//!
//! One panel for each cloth and each set of particles that pins hold. The cloth is drawn flat, as it lies at rest; every edge of
//! its list is an arrow from the particle that is right to the one that is moved, coloured by its place in the list.

use std::path::PathBuf;

use clap::Args;
use glam::{Vec2, Vec3};
use littoral::behaviours::stretch_limit::{self, Shown};
use littoral::structure::web::State;
use littoral_picture::colour::Map;
use littoral_picture::image::Image;
use littoral_picture::text;

use crate::failure::Failure;
use crate::input::Input;
use crate::picture::album;
use crate::print;

#[derive(Args)]
pub struct Arguments {
    /// A scene file, or the name of a scene of the gallery
    scene: String,
    /// Change a value of the scene: `body.0.behaviours.stretch-limit.visits=1`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Where the picture goes
    #[arg(long, short, value_name = "FILE", default_value = "correction-map.png")]
    out: PathBuf,
    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

// Pixels.
const PANEL: f32 = 520.0;
const MARGIN: f32 = 26.0;
const HEADER: f32 = 40.0;
const TEXT_SIZE: f32 = 22.0;
const INK: Vec3 = Vec3::splat(0.02);

pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    let loaded = Input::find(&arguments.scene)?.load(&arguments.set)?;
    let shown = stretch_limit::maps(&loaded.scene);
    if shown.is_empty() {
        return Err(Failure::Input(format!(
            "`{}` has no cloth whose stretch is limited along a list: give one `stretch-limit = {{}}`",
            arguments.scene
        )));
    }
    album::write(&arguments.out, &picture(&shown).to_png())?;
    if !arguments.quiet {
        let line = |one: &Shown| {
            let held = one.states.iter().filter(|state| **state == State::Fixed).count();
            let (edges, count) = (one.map.list.len(), one.states.len());
            format!(
                "  {} from {} s: {held} of {count} particles held, {edges} corrections\n",
                one.body, one.time
            )
        };
        print(&shown.iter().map(line).collect::<String>());
        print(&format!("  picture: {}\n", arguments.out.display()));
    }
    Ok(())
}

/// Up to three panels side by side.
fn picture(shown: &[Shown]) -> Image {
    let columns = shown.len().min(3);
    let rows = shown.len().div_ceil(columns);
    let size = |count: usize, extra: f32| (count as f32 * (PANEL + extra)) as usize;
    let mut image = Image::new(size(columns, 0.0), size(rows, HEADER), [255; 3]);
    for (k, one) in shown.iter().enumerate() {
        let corner = Vec2::new((k % columns) as f32 * PANEL, (k / columns) as f32 * (PANEL + HEADER));
        let others = shown.iter().filter(|other| other.body == one.body).count();
        let title = if others > 1 { format!("{}, from {} s", one.body, one.time) } else { one.body.clone() };
        text::draw(&mut image, corner.x + MARGIN, corner.y + HEADER - 8.0, &title, TEXT_SIZE, INK);
        panel(&mut image, one, corner + Vec2::new(0.0, HEADER));
    }
    image
}

fn panel(image: &mut Image, shown: &Shown, corner: Vec2) {
    let flat = flat(shown);
    let low = flat.iter().copied().reduce(Vec2::min).unwrap_or_default();
    let high = flat.iter().copied().reduce(Vec2::max).unwrap_or_default();
    let scale = (PANEL - 2.0 * MARGIN) / (high - low).max_element().max(f32::MIN_POSITIVE);
    // In the middle of its panel, with what is up above.
    let middle = corner + Vec2::splat(0.5 * PANEL);
    let place = |node: u32| {
        let off = (flat[node as usize] - 0.5 * (low + high)) * scale;
        middle + Vec2::new(off.x, -off.y)
    };
    let last = shown.map.list.len().max(2) - 1;
    for (k, one) in shown.map.list.iter().enumerate() {
        let ink = Map::Turbo.colour(0.03 + 0.94 * k as f32 / last as f32);
        arrow(image, place(one.from), place(one.to), ink);
    }
    for (node, _) in shown.states.iter().enumerate().filter(|(_, state)| **state == State::Fixed) {
        let at = place(node as u32);
        line(image, at, at, 4.0, INK);
    }
}

/// The cloth laid flat: along its rows and columns where it has some, else as seen along its shortest side.
fn flat(shown: &Shown) -> Vec<Vec2> {
    let rest = &shown.rest;
    if let Some((_, columns)) = shown.grid {
        // Rows go down the picture, unless the cloth hangs by its rows.
        let (first, along, across) = (rest[0], rest[columns.min(rest.len()) - 1], rest[rest.len() - columns]);
        let (along, across) = (along - first, across - first);
        let is_turned = along.dot(shown.down).abs() > across.dot(shown.down).abs() + 1e-3 * along.length();
        let (right, below) = if is_turned { (across, along) } else { (along, across) };
        let (right_unit, below_unit) = (right.normalize_or_zero(), below.normalize_or_zero());
        let way = if below.dot(shown.down) < -1e-3 * below.length() { 1.0 } else { -1.0 };
        let lay = |p: &Vec3| Vec2::new((*p - first).dot(right_unit), way * (*p - first).dot(below_unit));
        return rest.iter().map(lay).collect();
    }
    let extent = rest.iter().copied().reduce(Vec3::max).unwrap_or_default()
        - rest.iter().copied().reduce(Vec3::min).unwrap_or_default();
    let up = -shown.down;
    let is_level = extent.dot(up.abs()) < 0.1 * extent.max_element();
    let up = if is_level || up == Vec3::ZERO { Vec3::NEG_Z } else { up };
    let sides = [Vec3::X, Vec3::Z, Vec3::Y].into_iter().map(|axis| axis.reject_from(up).normalize_or_zero());
    let right = sides.max_by(|a, b| extent.dot(a.abs()).total_cmp(&extent.dot(b.abs()))).unwrap_or(Vec3::X);
    rest.iter().map(|p| Vec2::new(p.dot(right), p.dot(up))).collect()
}

fn arrow(image: &mut Image, from: Vec2, to: Vec2, ink: Vec3) {
    let way = (to - from).normalize_or_zero();
    let length = from.distance(to);
    // Clear of the particles at both ends; there and back are beside each other.
    let side = way.perp() * (0.08 * length).min(1.6);
    let (tail, head) = (from + way * 0.12 * length + side, to - way * 0.12 * length + side);
    line(image, tail, head, 1.1, ink);
    let barb = (0.3 * length).min(7.0);
    for turn in [2.6f32, -2.6] {
        line(image, head, head + Vec2::from_angle(turn).rotate(way) * barb, 1.1, ink);
    }
}

/// A line with round ends, smooth at its rim.
fn line(image: &mut Image, a: Vec2, b: Vec2, radius: f32, ink: Vec3) {
    let low = (a.min(b) - radius - 1.0).max(Vec2::ZERO);
    let high = (a.max(b) + radius + 1.0).min(Vec2::new(image.width as f32, image.height as f32) - 1.0);
    let along = b - a;
    for y in low.y as usize..=high.y.max(0.0) as usize {
        for x in low.x as usize..=high.x.max(0.0) as usize {
            let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
            let part = ((p - a).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
            let distance = p.distance(a + along * part);
            let coverage = (radius + 0.5 - distance).clamp(0.0, 1.0);
            if coverage > 0.0 {
                text::blend(image.pixel_mut(x, y), ink, coverage);
            }
        }
    }
}
