//! Pictures of 8-bit sRGB pixels, and their PNG files.
//!
//! [`Image::to_png`] keeps every pixel. [`Image::to_small_png`] keeps a file below a size: every pixel where that
//! fits, else fewer colours, chosen by median cut (Heckbert 1982) and refined by k-means (Lloyd 1982), spread by
//! error diffusion (Floyd & Steinberg 1976). Kept honest by the tests below.

use std::borrow::Cow;

use png::{BitDepth, ColorType, Compression, Filter, SrgbRenderingIntent, Transformations};

/// Rows from top to bottom, each from left to right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    /// sRGB, `width * height` of them.
    pub pixels: Vec<[u8; 3]>,
}

#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error("this is not a PNG we can read: {0}")]
    Read(#[from] png::DecodingError),
    #[error(
        "the picture takes {smallest} bytes even with {FEWEST_COLOURS} colours; allow at least that many, not {limit}"
    )]
    TooBig { smallest: usize, limit: usize },
}

const FEWEST_COLOURS: usize = 8;

impl Image {
    pub fn new(width: usize, height: usize, colour: [u8; 3]) -> Image {
        Image { width, height, pixels: vec![colour; width * height] }
    }

    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        self.pixels[y * self.width + x]
    }

    pub fn pixel_mut(&mut self, x: usize, y: usize) -> &mut [u8; 3] {
        &mut self.pixels[y * self.width + x]
    }

    /// A PNG tagged as sRGB.
    pub fn to_png(&self) -> Vec<u8> {
        self.to_png_with(&[])
    }

    /// A PNG that also says things about itself: pairs of a key (1 to 79 Latin letters, such as `Software`,
    /// `Description`, `Scene`) and any text.
    pub fn to_png_with(&self, texts: &[(&str, &str)]) -> Vec<u8> {
        self.full_colour_png(texts, Compression::Balanced, Filter::Adaptive)
    }

    /// A PNG of at most `limit` bytes, as faithful as that allows. For posters in a repository; takes about a second.
    pub fn to_small_png(&self, limit: usize) -> Result<Vec<u8>, ImageError> {
        // Every pixel as it is, if the best filter makes it small enough.
        for filter in [Filter::Adaptive, Filter::Paeth, Filter::Sub, Filter::NoFilter] {
            let png = self.full_colour_png(&[], Compression::High, filter);
            if png.len() <= limit {
                return Ok(png);
            }
        }

        // Fewer colours: diffusing the error hides bands, but its grain takes room, so it goes before colours do.
        let mut smallest = usize::MAX;
        for colours in [256, 160, 96, 64, 32, 16, FEWEST_COLOURS] {
            let palette = palette_of(&self.pixels, colours);
            for diffusion in [0.9, 0.6, 0.3, 0.0] {
                let png = self.palette_png(&palette, diffusion);
                if png.len() <= limit {
                    return Ok(png);
                }
                smallest = smallest.min(png.len());
            }
        }
        Err(ImageError::TooBig { smallest, limit })
    }

    /// Reads any PNG; grey, palettes and 16 bits become 8-bit RGB, and transparency is ignored.
    pub fn from_png(bytes: &[u8]) -> Result<Image, ImageError> {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let mut samples = vec![0; reader.output_buffer_size().ok_or(png::DecodingError::LimitsExceeded)?];
        let info = reader.next_frame(&mut samples)?;
        let pixels = samples[..info.buffer_size()]
            .chunks_exact(info.color_type.samples())
            .map(|s| if s.len() < 3 { [s[0]; 3] } else { [s[0], s[1], s[2]] })
            .collect();
        Ok(Image { width: info.width as usize, height: info.height as usize, pixels })
    }

    fn full_colour_png(&self, texts: &[(&str, &str)], compression: Compression, filter: Filter) -> Vec<u8> {
        self.write_png(texts, ColorType::Rgb, None, compression, filter, bytemuck::cast_slice(&self.pixels))
    }

    fn palette_png(&self, palette: &[[u8; 3]], diffusion: f32) -> Vec<u8> {
        let indices = indices_into(palette, self, diffusion);
        // Neighbouring indices have nothing to do with each other: no filter.
        let flat = palette.as_flattened();
        self.write_png(&[], ColorType::Indexed, Some(flat), Compression::High, Filter::NoFilter, &indices)
    }

    fn write_png(
        &self,
        texts: &[(&str, &str)],
        colour: ColorType,
        palette: Option<&[u8]>,
        compression: Compression,
        filter: Filter,
        samples: &[u8],
    ) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(colour);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
        encoder.set_compression(compression);
        encoder.set_filter(filter);
        if let Some(palette) = palette {
            encoder.set_palette(Cow::Owned(palette.to_vec()));
        }
        for (key, text) in texts {
            encoder.add_itxt_chunk(key.to_string(), text.to_string()).expect("writing to memory");
        }
        let mut writer =
            encoder.write_header().expect("a picture with pixels, and keys of 1 to 79 Latin letters");
        writer.write_image_data(samples).expect("as many samples as the header says");
        writer.finish().expect("writing to memory");
        bytes
    }
}

/// What a PNG says about itself, in the order of the file.
pub fn texts_in_png(bytes: &[u8]) -> Result<Vec<(String, String)>, ImageError> {
    let reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info()?;
    let texts = reader.info().utf8_text.iter();
    texts.map(|chunk| Ok((chunk.keyword.clone(), chunk.get_text()?))).collect()
}

// Few colours -------------------------------------------------------------------------------------------------------

/// The `count` or fewer colours that stand best for these pixels.
fn palette_of(pixels: &[[u8; 3]], count: usize) -> Vec<[u8; 3]> {
    // Every k-th pixel is enough to know the colours of a picture.
    let mut sample: Vec<[u8; 3]> = pixels.iter().step_by(pixels.len() / 60_000 + 1).copied().collect();

    // Median cut: halve the box whose colours differ most, across the channel in which they do.
    let mut boxes: Vec<&mut [[u8; 3]]> = vec![&mut sample];
    while boxes.len() < count {
        let (widest, channel, spread) = boxes
            .iter()
            .enumerate()
            .map(|(index, colours)| {
                let (channel, spread) = widest_channel(colours);
                (index, channel, spread)
            })
            .max_by(|a, b| a.2.total_cmp(&b.2))
            .expect("at least one box");
        if spread == 0.0 {
            break; // no more colours than boxes
        }
        let colours = boxes.swap_remove(widest);
        let (left, right) = split_at_mean(colours, channel);
        boxes.push(left);
        boxes.push(right);
    }
    let mut palette: Vec<[f32; 3]> = boxes.iter().map(|colours| mean(colours)).collect();
    let rounded = |palette: &[[f32; 3]]| -> Vec<[u8; 3]> {
        palette.iter().map(|colour| colour.map(|channel| channel.round() as u8)).collect()
    };

    // Three rounds of k-means move each colour to the middle of the pixels nearest to it.
    for _ in 0..3 {
        let current = rounded(&palette);
        let mut sums = vec![([0u64; 3], 0u64); palette.len()];
        for pixel in sample.iter() {
            let (sum, members) = &mut sums[nearest(&current, pixel.map(f32::from))];
            *members += 1;
            for channel in 0..3 {
                sum[channel] += u64::from(pixel[channel]);
            }
        }
        for (colour, (sum, members)) in palette.iter_mut().zip(sums) {
            if members > 0 {
                *colour = sum.map(|channel| channel as f32 / members as f32);
            }
        }
    }
    let mut palette = rounded(&palette);
    palette.sort_unstable();
    palette.dedup();
    palette
}

fn mean(colours: &[[u8; 3]]) -> [f32; 3] {
    let mut sum = [0u64; 3];
    for colour in colours {
        for channel in 0..3 {
            sum[channel] += u64::from(colour[channel]);
        }
    }
    sum.map(|channel| channel as f32 / colours.len() as f32)
}

/// The channel with the largest sum of squares about its mean, weighted as the eye does, and that sum.
fn widest_channel(colours: &[[u8; 3]]) -> (usize, f32) {
    let middle = mean(colours);
    (0..3)
        .map(|channel| {
            let squares = colours.iter().map(|colour| (f32::from(colour[channel]) - middle[channel]).powi(2));
            (channel, EYE_WEIGHTS[channel] * squares.sum::<f32>())
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .expect("three channels")
}

/// How much an error in red, green and blue is seen.
const EYE_WEIGHTS: [f32; 3] = [0.3, 0.55, 0.15];

fn split_at_mean(colours: &mut [[u8; 3]], channel: usize) -> (&mut [[u8; 3]], &mut [[u8; 3]]) {
    let middle = mean(colours)[channel];
    colours.sort_unstable_by_key(|colour| (colour[channel], *colour));
    let split = colours.partition_point(|colour| f32::from(colour[channel]) <= middle);
    colours.split_at_mut(split.clamp(1, colours.len() - 1))
}

fn nearest(palette: &[[u8; 3]], colour: [f32; 3]) -> usize {
    let distance = |entry: &[u8; 3]| -> f32 {
        (0..3)
            .map(|channel| EYE_WEIGHTS[channel] * (f32::from(entry[channel]) - colour[channel]).powi(2))
            .sum()
    };
    let (mut best, mut least) = (0, f32::INFINITY);
    for (index, entry) in palette.iter().enumerate() {
        let d = distance(entry);
        if d < least {
            (best, least) = (index, d);
        }
    }
    best
}

/// For each pixel the colour that stands for it; `diffusion` (0 to 1) of the error goes to the neighbours yet to come.
fn indices_into(palette: &[[u8; 3]], image: &Image, diffusion: f32) -> Vec<u8> {
    let width = image.width;
    let mut indices = vec![0; image.pixels.len()];
    // Errors carried to this row and the next, with a column to spare on both sides.
    let mut here = vec![[0.0f32; 3]; width + 2];
    let mut below = vec![[0.0f32; 3]; width + 2];
    for y in 0..image.height {
        let leftwards = y % 2 == 1; // back and forth, so that the grain does not lean
        let ahead: isize = if leftwards { -1 } else { 1 };
        for step in 0..width {
            let x = if leftwards { width - 1 - step } else { step };
            let pixel = image.pixel(x, y);
            let wanted: [f32; 3] =
                std::array::from_fn(|c| (f32::from(pixel[c]) + here[x + 1][c]).clamp(0.0, 255.0));
            let index = nearest(palette, wanted);
            indices[y * width + x] = index as u8;
            for c in 0..3 {
                let error = diffusion * (wanted[c] - f32::from(palette[index][c])) / 16.0;
                let column = |offset: isize| (x as isize + 1 + offset) as usize;
                here[column(ahead)][c] += 7.0 * error;
                below[column(-ahead)][c] += 3.0 * error;
                below[column(0)][c] += 5.0 * error;
                below[column(ahead)][c] += error;
            }
        }
        std::mem::swap(&mut here, &mut below);
        below.fill([0.0; 3]);
    }
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A smooth picture with some grain: harder to pack than a plot, easier than noise.
    fn sunset(width: usize, height: usize) -> Image {
        let mut image = Image::new(width, height, [0; 3]);
        let mut chance = crate::chance::Chance::of([1]);
        for y in 0..height {
            for x in 0..width {
                let noise = (4.0 * chance.unit()).floor();
                let (u, v) = (x as f32 / width as f32, y as f32 / height as f32);
                *image.pixel_mut(x, y) =
                    [255.0 * v * 0.9 + noise, 80.0 + 120.0 * u * v + noise, 220.0 - 150.0 * v]
                        .map(|c| c as u8);
            }
        }
        image
    }

    #[test]
    fn png_round_trip_keeps_every_pixel_and_text() {
        let image = sunset(37, 21);
        let png = image.to_png_with(&[("Description", "ρ in kg/m³"), ("Scene", "dam.toml")]);
        assert_eq!(Image::from_png(&png).unwrap(), image);
        let texts = texts_in_png(&png).unwrap();
        assert_eq!(texts[0], ("Description".into(), "ρ in kg/m³".into()));
        assert_eq!(texts[1], ("Scene".into(), "dam.toml".into()));
        assert!(png.windows(4).any(|bytes| bytes == b"sRGB"));
    }

    #[test]
    fn a_file_that_is_no_png_is_an_error() {
        assert!(matches!(Image::from_png(b"GIF89a"), Err(ImageError::Read(_))));
        let png = sunset(30, 20).to_png();
        assert!(Image::from_png(&png[..png.len() / 2]).is_err());
    }

    #[test]
    fn small_png_keeps_every_pixel_where_that_fits() {
        let image = sunset(64, 36);
        let png = image.to_small_png(100_000).unwrap();
        assert_eq!(Image::from_png(&png).unwrap(), image);
    }

    #[test]
    fn small_png_stays_below_its_limit_and_close_to_the_picture() {
        let image = sunset(320, 180);
        let limit = 30_000;
        let full = image.to_png();
        assert!(full.len() > limit, "the picture must be hard enough to test anything: {}", full.len());
        let png = image.to_small_png(limit).unwrap();
        assert!(png.len() <= limit, "{} bytes", png.len());
        let small = Image::from_png(&png).unwrap();
        let squares = small.pixels.as_flattened().iter().zip(image.pixels.as_flattened());
        let error = squares.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>();
        let rms = (error / (image.pixels.len() * 3) as f64).sqrt();
        // 256 colours over a two-dimensional family of them: a 16 × 16 net whose cells are about 14 × 8 levels, of
        // which the rms is 14/√12 ≈ 4; diffusion adds as much again.
        assert!(rms < 8.0, "rms {rms}");
    }

    #[test]
    fn a_limit_nothing_meets_is_an_error_that_says_how_much_is_needed() {
        let error = sunset(64, 36).to_small_png(100).unwrap_err();
        assert!(matches!(error, ImageError::TooBig { smallest, limit: 100 } if smallest > 100));
    }

    #[test]
    fn few_colours_survive_exactly() {
        let mut image = Image::new(16, 16, [200, 30, 10]);
        for y in 0..16 {
            for x in 0..5 {
                *image.pixel_mut(x, y) = [10, 20, 240];
            }
        }
        assert_eq!(palette_of(&image.pixels, 256), vec![[10, 20, 240], [200, 30, 10]]);
    }
}
