//! Colour by any column: what is shown, in which unit, over which range.

use std::path::PathBuf;

use glam::Vec3;
use littoral::frame::Frame;
use littoral::scene::{self, Scene};
use littoral::table::Values;
use littoral::world::World;
use littoral_picture::colour::Map;
use littoral_picture::image::Image;
use littoral_picture::legend::{self, Bar, Corner, Legend};
use littoral_picture::scale::Range;

use crate::failure::Failure;

/// A number for each particle, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Paint {
    /// As the user wrote it: `speed`, `pressure`, `velocity.x`, `density-error`.
    pub name: String,
    pub unit: String,
    /// Values that get the first and the last colour.
    pub range: [f32; 2],
    /// Whether the range is the same to both sides of 0.
    pub diverging: bool,
    /// Whether it is a vector, of which the length is shown.
    is_length: bool,
}

/// Names that are no columns of their own.
const DERIVED: [&str; 2] = ["speed", "density-error"];

/// Frames that are looked at for a range that suits them all.
const SAMPLED_FRAMES: usize = 12;

impl Paint {
    /// Finds a range that suits all frames, so that colours mean the same throughout a film.
    pub fn new(
        name: &str,
        range: Option<[f32; 2]>,
        scene: &Scene,
        frames: &[(u64, PathBuf)],
    ) -> Result<Paint, Failure> {
        let step = frames.len().div_ceil(SAMPLED_FRAMES).max(1);
        let mut unit = String::new();
        let mut is_length = false;
        let mut values = Vec::new();
        // The last frame always counts: early ones are often at rest.
        let sampled = frames.iter().rev().step_by(step);
        for (_, path) in sampled {
            let frame = Frame::read(path).map_err(|error| Failure::Run(error.to_string()))?;
            let (more, found) = column(name, scene, &frame)?;
            unit = found;
            is_length =
                matches!(frame.column(name), Some(column) if matches!(column.values, Values::Vectors { .. }));
            values.extend(more.into_iter().filter(|value| value.is_finite()));
        }
        let diverging = name == "density-error";
        let range = range.unwrap_or_else(|| suitable_range(values, diverging));
        Ok(Paint { name: name.to_owned(), unit, range, diverging, is_length })
    }

    /// Whether frames of this scene will have such a column.
    pub fn check(name: &str, scene: &Scene) -> Result<(), Failure> {
        let world = World::new(scene);
        column(name, scene, &Frame::of(scene, &world, 0)).map(|_| ())
    }

    fn map(&self) -> Map {
        match self.name.as_str() {
            _ if self.diverging => Map::BlueRed,
            "saturation" => Map::Blues,
            "temperature" => Map::Inferno,
            _ => Map::Viridis,
        }
    }

    fn scale(&self) -> Range {
        Range::new(f64::from(self.range[0]), f64::from(self.range[1]))
    }

    /// The linear colour of a value.
    pub fn colour(&self, value: f32) -> Vec3 {
        self.map().at(value, self.scale())
    }

    pub fn draw_legend(&self, image: &mut Image) {
        // Vectors are shown by their length.
        let name = if self.is_length { format!("|{}|", self.name) } else { self.name.clone() };
        let legend = Legend { map: self.map(), range: self.scale(), name: &name, unit: &self.unit };
        legend::draw_legend(image, &legend, Bar::Vertical, Corner::TopRight);
    }

    pub fn values(&self, scene: &Scene, frame: &Frame) -> Result<Vec<f32>, Failure> {
        Ok(column(&self.name, scene, frame)?.0)
    }
}

/// From 0, where nothing is negative, to what all but one in a thousand stay below.
fn suitable_range(mut values: Vec<f32>, diverging: bool) -> [f32; 2] {
    values.sort_unstable_by(f32::total_cmp);
    let quantile = |part: f32| values.get((part * values.len().saturating_sub(1) as f32) as usize).copied();
    let (low, high) = (quantile(0.001).unwrap_or(0.0), quantile(0.999).unwrap_or(1.0));
    let (low, high) = match (diverging, low >= 0.0 && low < 0.5 * high) {
        (true, _) => (-low.abs().max(high.abs()), low.abs().max(high.abs())),
        (_, true) => (0.0, high),
        _ => (low, high),
    };
    let range = Range::new(f64::from(low), f64::from(high)).rounded();
    [range.low as f32, range.high as f32]
}

/// A number for each particle, and its unit.
fn column(name: &str, scene: &Scene, frame: &Frame) -> Result<(Vec<f32>, String), Failure> {
    let length = |v: &[f32; 3]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
    match name {
        "speed" => {
            let velocities = frame.vectors("velocity").unwrap_or_default();
            return Ok((velocities.iter().map(length).collect(), "m/s".to_owned()));
        }
        "density-error" => {
            let rest: Vec<f32> =
                scene.bodies.iter().map(|body| body.rest_density.at(frame.info.time) as f32).collect();
            let densities = frame.scalars("density").unwrap_or_default();
            let bodies = frame.indices("body").unwrap_or_default();
            let error = |(density, body): (&f32, &u32)| {
                let rest = rest.get(*body as usize).copied().unwrap_or(f32::NAN);
                100.0 * (density / rest - 1.0)
            };
            return Ok((densities.iter().zip(bodies).map(error).collect(), "%".to_owned()));
        }
        _ => {}
    }
    let (stem, axis) = match name.rsplit_once('.') {
        Some((stem, axis)) => (stem, Some(["x", "y", "z"].iter().position(|known| *known == axis))),
        None => (name, None),
    };
    let Some(column) = frame.column(stem) else { return Err(unknown(name, frame)) };
    let numbers = match (&column.values, axis) {
        (Values::Scalars(numbers), None) => numbers.clone(),
        (Values::Indices(numbers), None) => numbers.iter().map(|&number| number as f32).collect(),
        (Values::Vectors { width, numbers }, Some(Some(axis))) if axis < *width => {
            numbers.chunks_exact(*width).map(|row| row[axis]).collect()
        }
        (Values::Vectors { width, numbers }, None) => {
            numbers.chunks_exact(*width).map(|row| row.iter().map(|x| x * x).sum::<f32>().sqrt()).collect()
        }
        _ => return Err(unknown(name, frame)),
    };
    Ok((numbers, column.unit.clone()))
}

fn unknown(name: &str, frame: &Frame) -> Failure {
    let mut known: Vec<&str> = DERIVED.to_vec();
    known.extend(frame.columns.iter().map(|column| column.name.as_str()));
    let likely =
        scene::nearest_name(name, &known).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Failure::Input(format!(
        "frames have no column `{name}`{likely}\n  columns: {}; of vectors also a component, such as velocity.x",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_start_at_zero_where_that_suits() {
        let speeds = (0..1000).map(|i| i as f32 / 1000.0).collect();
        let [low, high] = suitable_range(speeds, false);
        assert!(low == 0.0 && (0.98..1.2).contains(&high), "{high}");
        let densities = (0..1000).map(|i| 990.0 + i as f32 / 50.0).collect();
        let [low, high] = suitable_range(densities, false);
        assert!(low > 989.0 && high > low);
        let [low, high] = suitable_range(vec![-1.0, 0.0, 3.0], true);
        assert_eq!(low, -high);
        let [low, high] = suitable_range(vec![5.0; 9], false);
        assert!(low < 5.0 && high > 5.0);
        assert_eq!(suitable_range(Vec::new(), false), [0.0, 1.0]);
    }
}
