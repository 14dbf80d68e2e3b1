//! Terrain: heights over a rectangle, closed by walls and a floor, so that it is a mesh like any other.
//!
//! Heights come from a grey picture (PNG, PGM), from a table of numbers, or from noise. Whatever their range, they are
//! scaled so that the lowest lies at the bottom and the highest at the top of the box that the scene gives.

use glam::{DVec2, DVec3};

use super::{Defect, Mesh, chance};

/// Points along one side at most.
const MOST: usize = 1025;

/// Heights in rows: x runs fastest, then z.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    pub columns: usize,
    pub rows: usize,
    pub heights: Vec<f64>,
}

/// Hills of a few sizes on top of each other: fractional Brownian motion over smooth value noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Distance between the largest hills, m.
    pub size: f64,
    /// How many sizes, each half as wide as the one before.
    pub octaves: u32,
    /// Height of each size over that of the one before.
    pub roughness: f64,
    pub seed: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum GridError {
    #[error("it is no {format} file: {reason}")]
    Broken { format: &'static str, reason: String },
    #[error("row {row} has {found} numbers, the first has {expected}")]
    Uneven { row: usize, found: usize, expected: usize },
    #[error("`{word}` in row {row} is not a number")]
    NotANumber { word: String, row: usize },
    #[error("it has {columns} × {rows} heights; expected at least 2 × 2 and at most {MOST} × {MOST}")]
    Size { columns: usize, rows: usize },
}

impl Grid {
    /// PNG and PGM by how they start; anything else is rows of numbers.
    pub fn read(bytes: &[u8]) -> Result<Grid, GridError> {
        let grid = if bytes.starts_with(b"\x89PNG") {
            png(bytes)
        } else if bytes.starts_with(b"P2") || bytes.starts_with(b"P5") {
            pgm(bytes)
        } else {
            text(bytes)
        }?;
        let Grid { columns, rows, .. } = grid;
        let fits = |count: usize| (2..=MOST).contains(&count);
        if fits(columns) && fits(rows) { Ok(grid) } else { Err(GridError::Size { columns, rows }) }
    }
}

impl Noise {
    /// Heights over a rectangle of this size, m, fine enough for the smallest hills.
    pub fn grid(&self, width: DVec2) -> Grid {
        let finest = self.size / 2f64.powi(self.octaves as i32 - 1);
        let count = |length: f64| ((6.0 * length / finest).ceil() as usize + 1).clamp(9, 513);
        let (columns, rows) = (count(width.x), count(width.y));
        let step = width / DVec2::new((columns - 1) as f64, (rows - 1) as f64);
        let place = |i: usize| DVec2::new((i % columns) as f64, (i / columns) as f64) * step;
        Grid { columns, rows, heights: (0..columns * rows).map(|i| self.height(place(i))).collect() }
    }

    fn height(&self, p: DVec2) -> f64 {
        let octave = |k: u32| {
            let (finer, lower) = (2f64.powi(k as i32), self.roughness.powi(k as i32));
            lower * self.smooth(p * (finer / self.size), k)
        };
        (0..self.octaves).map(octave).sum()
    }

    /// Random values at whole numbers, blended by 6t⁵ − 15t⁴ + 10t³: smooth to the second derivative.
    fn smooth(&self, p: DVec2, octave: u32) -> f64 {
        let (cell, t) = (p.floor(), p - p.floor());
        let t = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
        let value = |i: f64, j: f64| {
            let (x, z) = ((cell.x + i) as i64 as u64, (cell.y + j) as i64 as u64);
            let place = (x & 0xFF_FFFF) << 24 | (z & 0xFF_FFFF);
            chance(place ^ self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ u64::from(octave) << 50, 4)
        };
        let row = |j: f64| value(0.0, j) + (value(1.0, j) - value(0.0, j)) * t.x;
        row(0.0) + (row(1.0) - row(0.0)) * t.y
    }
}

/// A closed mesh over x and z from `min` to `max`, with its surface between their heights and a floor at `base`.
pub fn terrain(grid: &Grid, min: DVec3, max: DVec3, base: f64) -> Result<Mesh, Defect> {
    let Grid { columns, rows, heights } = grid;
    let (columns, rows) = (*columns, *rows);
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let part = |height: f64| if high > low { (height - low) / (high - low) } else { 0.0 };
    let place = |i: usize, j: usize| {
        let across = DVec2::new(i as f64 / (columns - 1) as f64, j as f64 / (rows - 1) as f64);
        let y = min.y + (max.y - min.y) * part(heights[j * columns + i]);
        DVec3::new(min.x + (max.x - min.x) * across.x, y, min.z + (max.z - min.z) * across.y)
    };
    let mut positions: Vec<DVec3> = (0..columns * rows).map(|k| place(k % columns, k / columns)).collect();
    let mut triangles = Vec::new();
    for j in 0..rows - 1 {
        for i in 0..columns - 1 {
            let a = (j * columns + i) as u32;
            let [b, c, d] = [a + 1, a + columns as u32 + 1, a + columns as u32];
            triangles.extend([[a, d, c], [a, c, b]]);
        }
    }
    // Around the rim: a wall down to the floor, and the floor as a fan.
    let rim: Vec<u32> = (0..columns)
        .chain((1..rows).map(|j| j * columns + columns - 1))
        .chain((0..columns - 1).rev().map(|i| (rows - 1) * columns + i))
        .chain((1..rows - 1).rev().map(|j| j * columns))
        .map(|k| k as u32)
        .collect();
    let start = positions.len() as u32;
    for &k in &rim {
        positions.push(positions[k as usize].with_y(base));
    }
    positions.push((0.5 * (min + max)).with_y(base));
    let middle = positions.len() as u32 - 1;
    for k in 0..rim.len() {
        let next = (k + 1) % rim.len();
        let (a, b) = (rim[k], rim[next]);
        let (c, d) = (start + k as u32, start + next as u32);
        triangles.extend([[a, b, d], [a, d, c], [c, d, middle]]);
    }
    Mesh::new(&positions, &triangles)
}

fn broken(format: &'static str, reason: impl std::fmt::Display) -> GridError {
    GridError::Broken { format, reason: reason.to_string() }
}

/// The first channel of a picture: its grey, or its red.
fn png(bytes: &[u8]) -> Result<Grid, GridError> {
    let told = |error: png::DecodingError| broken("PNG", error);
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(told)?;
    let size = reader.output_buffer_size().ok_or_else(|| broken("PNG", "it is too large"))?;
    let mut buffer = vec![0; size];
    let info = reader.next_frame(&mut buffer).map_err(told)?;
    let (columns, rows) = (info.width as usize, info.height as usize);
    let wide = usize::from(info.bit_depth == png::BitDepth::Sixteen) + 1;
    let pixel = info.color_type.samples() * wide;
    let value = |at: usize| match wide {
        2 => f64::from(u16::from_be_bytes([buffer[at], buffer[at + 1]])),
        _ => f64::from(buffer[at]),
    };
    let heights =
        (0..columns * rows).map(|k| value(k / columns * info.line_size + k % columns * pixel)).collect();
    Ok(Grid { columns, rows, heights })
}

fn pgm(bytes: &[u8]) -> Result<Grid, GridError> {
    // Four words, comments left out; the pixels follow a single white space.
    let mut words = Vec::new();
    let mut at = 0;
    while words.len() < 4 && at < bytes.len() {
        if bytes[at] == b'#' {
            at += bytes[at..].iter().take_while(|&&byte| byte != b'\n').count();
        } else if bytes[at].is_ascii_whitespace() {
            at += 1;
        } else {
            let word: Vec<u8> =
                bytes[at..].iter().copied().take_while(|byte| !byte.is_ascii_whitespace()).collect();
            at += word.len();
            words.push(String::from_utf8_lossy(&word).into_owned());
        }
    }
    let whole = |k: usize| words.get(k).and_then(|word: &String| word.parse::<usize>().ok());
    let (Some(columns), Some(rows), Some(most)) = (whole(1), whole(2), whole(3)) else {
        return Err(broken("PGM", "its head is not `P5 width height maximum`"));
    };
    if columns > MOST || rows > MOST {
        return Err(GridError::Size { columns, rows });
    }
    let rest = bytes.get(at + 1..).unwrap_or_default();
    let heights: Vec<f64> = if words[0] == "P2" {
        let text = String::from_utf8_lossy(rest);
        text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
    } else if most < 256 {
        rest.iter().map(|&byte| f64::from(byte)).collect()
    } else {
        rest.chunks_exact(2).map(|pair| f64::from(u16::from_be_bytes([pair[0], pair[1]]))).collect()
    };
    if heights.len() < columns * rows {
        return Err(broken("PGM", "it ends too early"));
    }
    Ok(Grid { columns, rows, heights: heights[..columns * rows].to_vec() })
}

/// Rows of numbers between spaces or commas; `#` starts a comment.
fn text(bytes: &[u8]) -> Result<Grid, GridError> {
    let text = std::str::from_utf8(bytes).map_err(|_| broken("PNG, PGM or text", "it holds other bytes"))?;
    let mut grid = Grid { columns: 0, rows: 0, heights: Vec::new() };
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        let words = line.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty());
        let mut found = 0;
        for word in words {
            let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
            let row = grid.rows + 1;
            grid.heights.push(number.ok_or_else(|| GridError::NotANumber { word: word.to_owned(), row })?);
            found += 1;
        }
        if found == 0 {
            continue;
        }
        grid.rows += 1;
        if grid.rows == 1 {
            grid.columns = found;
        } else if found != grid.columns {
            return Err(GridError::Uneven { row: grid.rows, found, expected: grid.columns });
        }
    }
    Ok(grid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_pictures_are_the_same_terrain() {
        let numbers = Grid::read(b"# hills\n0 1 2\n3, 4, 255\n").unwrap();
        assert_eq!((numbers.columns, numbers.rows), (3, 2));
        assert_eq!(Grid::read(b"P2 3 2 255\n0 1 2 3 4 255\n").unwrap(), numbers);
        assert_eq!(Grid::read(b"P5\n# by hand\n3 2\n255\n\x00\x01\x02\x03\x04\xff").unwrap(), numbers);
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 3, 2);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header().unwrap().write_image_data(&[0, 1, 2, 3, 4, 255]).unwrap();
        assert_eq!(Grid::read(&bytes).unwrap(), numbers);
        for bad in [&b"1 2\n3\n"[..], b"1 x\n", b"1\n", b"P5 9", b"\x89PNG", b"\xff\xfe"] {
            assert!(Grid::read(bad).is_err());
        }
    }

    #[test]
    fn terrain_is_closed_and_fills_its_box() {
        let noise = Noise { size: 0.5, octaves: 3, roughness: 0.5, seed: 2 };
        let (min, max) = (DVec3::new(1.0, 0.0, 0.0), DVec3::new(3.0, 0.4, 1.0));
        let mesh = terrain(&noise.grid(DVec2::new(2.0, 1.0)), min, max, -0.2).unwrap();
        assert!(mesh.is_closed());
        assert!(mesh.bounds().0.abs_diff_eq(DVec3::new(1.0, -0.2, 0.0), 1e-12));
        assert!(mesh.bounds().1.abs_diff_eq(max, 1e-12));
        assert!(mesh.distance(DVec3::new(2.0, -0.1, 0.5)) < 0.0);
        assert!(mesh.distance(DVec3::new(2.0, 0.5, 0.5)) > 0.0);
        let other = Noise { seed: 3, ..noise };
        assert_ne!(noise.grid(DVec2::ONE), other.grid(DVec2::ONE));
    }

    #[test]
    fn a_ramp_has_the_distance_of_its_plane() {
        let grid = Grid { columns: 2, rows: 2, heights: vec![0.0, 1.0, 0.0, 1.0] };
        let mesh = terrain(&grid, DVec3::ZERO, DVec3::ONE, -1.0).unwrap();
        let p = DVec3::new(0.5, 0.7, 0.5);
        assert!((mesh.distance(p) - 0.2 / 2f64.sqrt()).abs() < 1e-12);
    }
}
