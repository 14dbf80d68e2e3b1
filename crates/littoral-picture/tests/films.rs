//! Films are decoded again and compared with what went in. The MP4 is taken apart by the few lines at the end, which
//! share nothing with the writer.

use std::path::PathBuf;

use littoral_picture::film::{FilmError, FilmWriter};
use littoral_picture::image::Image;
use openh264::decoder::Decoder;
use openh264::formats::YUVSource;

#[test]
fn colours_come_back() {
    let colours = [[255, 255, 255], [0, 0, 0], [200, 30, 40], [20, 160, 60], [30, 60, 210], [128, 128, 128]];
    let frames: Vec<Image> = colours.iter().map(|colour| Image::new(64, 48, *colour)).collect();
    let film = film("colours", 64, 48, 25.0, &frames);
    let decoded = film.decode();
    assert_eq!(decoded.len(), colours.len());
    for (image, expected) in decoded.iter().zip(colours) {
        for channel in 0..3 {
            let mean =
                image.pixels.iter().map(|pixel| f64::from(pixel[channel])).sum::<f64>() / (64.0 * 48.0);
            // Y'CbCr in limited range has steps of 1.2 in luma and up to 2.1 in blue; half a step each from rounding,
            // and a step of the quantiser (6.5 at 20, of which a flat block sees a fourth) on top.
            assert!(
                (mean - f64::from(expected[channel])).abs() < 4.0,
                "{expected:?} came back as {mean} in {channel}"
            );
        }
    }
}

#[test]
fn a_gradient_stays_smooth() {
    // Blue water from dark to light, drifting: the kind of picture that shows bands and blocks first.
    let frames: Vec<Image> = (0..12).map(|frame| gradient(160, 96, frame)).collect();
    let film = film("gradient", 160, 96, 24.0, &frames);
    for (decoded, original) in film.decode().iter().zip(&frames) {
        let squares = decoded.pixels.as_flattened().iter().zip(original.pixels.as_flattened());
        let sum: f64 = squares.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
        let rms = (sum / original.pixels.len() as f64 / 3.0).sqrt();
        assert!(rms < 2.0, "rms {rms}"); // 42 dB: no difference is seen
    }
}

#[test]
fn the_file_is_built_for_browsers() {
    let frames: Vec<Image> = (0..50).map(|frame| gradient(64, 48, frame)).collect();
    let film = film("boxes", 64, 48, 12.5, &frames);
    let names: Vec<String> = boxes(&film.bytes).iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, ["ftyp", "moov", "mdat"], "the index must come first");
    assert_eq!(film.sizes().len(), 50);
    assert!((film.duration() - 4.0).abs() < 1e-4);
    // A key frame each 2 s: one can jump into the film.
    let keys = film.find(&["moov", "trak", "mdia", "minf", "stbl", "stss"]);
    assert_eq!((number(&keys[4..]), number(&keys[8..]), number(&keys[12..])), (2, 1, 26));
    // The stream says what its colours are: BT.709 primaries, sRGB curve, BT.709 matrix, limited range.
    assert_eq!(colour_description(&film.parameter_set()), (false, 1, 13, 1));
}

#[test]
fn frame_rates_hold() {
    for (rate, exact) in
        [(29.97, 30_000.0 / 1001.0), (24.0, 24.0), (12.5, 12.5), (1000.0, 1000.0), (0.5, 0.5)]
    {
        let frames: Vec<Image> = (0..7).map(|frame| gradient(32, 32, frame)).collect();
        let film = film(&format!("rate_{rate}"), 32, 32, rate, &frames);
        // Times are stored in 1/90000 s.
        assert!((film.duration() - 7.0 / exact).abs() < 1.0 / 90_000.0, "{rate}: {}", film.duration());
    }
}

#[test]
fn one_frame_lasts_its_time() {
    let film = film("single", 32, 32, 10.0, &[gradient(32, 32, 0)]);
    assert!((film.duration() - 0.1).abs() < 1e-4, "{}", film.duration());
}

#[test]
fn odd_sizes_get_a_pixel_more() {
    let frames = vec![gradient(51, 37, 3); 2];
    let film = film("odd", 51, 37, 25.0, &frames);
    let decoded = &film.decode()[1];
    assert_eq!((decoded.width, decoded.height), (52, 38));
    let original = frames[1].pixel(25, 18);
    let shown = decoded.pixel(25, 18);
    assert!(shown.iter().zip(original).all(|(a, b)| a.abs_diff(b) < 8), "{shown:?} for {original:?}");
}

#[test]
fn what_cannot_be_a_film_is_an_error_and_leaves_no_file() {
    let path = path("refused");
    assert!(matches!(FilmWriter::create(&path, 4000, 3000, 25.0), Err(FilmError::Size { .. })));
    assert!(matches!(FilmWriter::create(&path, 8, 8, 25.0), Err(FilmError::Size { .. })));
    for rate in [0.0, -5.0, f64::NAN, f64::INFINITY, 2000.0] {
        assert!(matches!(FilmWriter::create(&path, 64, 64, rate), Err(FilmError::FrameRate(_))));
    }
    let empty = FilmWriter::create(&path, 64, 64, 25.0).unwrap();
    assert!(matches!(empty.finish(), Err(FilmError::NoFrames(_))));
    let mut film = FilmWriter::create(&path, 64, 64, 25.0).unwrap();
    film.push(&gradient(64, 64, 0)).unwrap();
    let error = film.push(&gradient(64, 48, 0)).unwrap_err();
    assert!(error.to_string().contains("frame 1 is 64 × 48"), "{error}");
    assert!(!path.exists(), "nothing may appear before the end");
    drop(film);
    let left: Vec<_> = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.starts_with("refused"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let nowhere = path.join("no/such/folder/film.mp4");
    assert!(matches!(FilmWriter::create(nowhere, 64, 64, 25.0), Err(FilmError::Write { .. })));
}

#[test]
fn the_same_frames_make_the_same_file() {
    let frames: Vec<Image> = (0..5).map(|frame| gradient(80, 60, frame)).collect();
    assert_eq!(film("same_a", 80, 60, 25.0, &frames).bytes, film("same_b", 80, 60, 25.0, &frames).bytes);
}

// Films -------------------------------------------------------------------------------------------------------------

fn gradient(width: usize, height: usize, frame: usize) -> Image {
    let mut image = Image::new(width, height, [0; 3]);
    for y in 0..height {
        for x in 0..width {
            let wave = ((x + 2 * frame) as f32 * 0.06).sin() * 6.0;
            let depth = y as f32 / height as f32;
            *image.pixel_mut(x, y) =
                [20.0 + 60.0 * depth, 70.0 + 90.0 * depth + wave, 120.0 + 100.0 * depth].map(|c| c as u8);
        }
    }
    image
}

fn path(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("{name}.mp4"))
}

fn film(name: &str, width: usize, height: usize, rate: f64, frames: &[Image]) -> Film {
    let path = path(name);
    let mut writer = FilmWriter::create(&path, width, height, rate).unwrap();
    for frame in frames {
        writer.push(frame).unwrap();
    }
    writer.finish().unwrap();
    Film { bytes: std::fs::read(path).unwrap() }
}

struct Film {
    bytes: Vec<u8>,
}

impl Film {
    /// The contents of the box at the end of a path of boxes.
    fn find(&self, path: &[&str]) -> &[u8] {
        path.iter().fold(&self.bytes[..], |within, name| {
            let inner = boxes(within);
            inner
                .iter()
                .find(|(found, _)| found == name)
                .unwrap_or_else(|| panic!("no `{name}` of {path:?}"))
                .1
        })
    }

    fn table(&self, name: &str) -> &[u8] {
        self.find(&["moov", "trak", "mdia", "minf", "stbl", name])
    }

    /// s, from the track's own clock.
    fn duration(&self) -> f64 {
        let header = self.find(&["moov", "trak", "mdia", "mdhd"]);
        assert_eq!(header[0], 0, "version");
        f64::from(number(&header[16..])) / f64::from(number(&header[12..]))
    }

    fn sizes(&self) -> Vec<usize> {
        let table = self.table("stsz");
        assert_eq!(number(&table[4..]), 0, "each sample has its own size");
        (0..number(&table[8..]) as usize).map(|k| number(&table[12 + 4 * k..]) as usize).collect()
    }

    /// The sequence parameter set: the first NAL unit of the first sample of type 7.
    fn parameter_set(&self) -> Vec<u8> {
        let entry = self.table("stsd");
        let start = entry.windows(4).position(|bytes| bytes == b"avcC").expect("a decoder configuration") + 4;
        let length = usize::from(u16::from_be_bytes([entry[start + 6], entry[start + 7]]));
        entry[start + 8..start + 8 + length].to_vec()
    }

    fn decode(&self) -> Vec<Image> {
        // All samples lie in one chunk, one after the other.
        let chunks = self.table("stco");
        assert_eq!(number(&chunks[4..]), 1);
        let mut at = number(&chunks[8..]) as usize;
        let mut decoder = Decoder::new().unwrap();
        let mut images = Vec::new();
        for size in self.sizes() {
            // Length-prefixed units become units with start codes.
            let (mut stream, end) = (Vec::new(), at + size);
            while at < end {
                let length = number(&self.bytes[at..]) as usize;
                stream.extend([0, 0, 0, 1]);
                stream.extend(&self.bytes[at + 4..at + 4 + length]);
                at += 4 + length;
            }
            assert_eq!(at, end);
            images.extend(decoder.decode(&stream).unwrap().map(|yuv| rgb(&yuv)));
        }
        images.extend(decoder.flush_remaining().unwrap().iter().map(rgb));
        images
    }
}

/// BT.709, limited range, back to RGB.
fn rgb(yuv: &impl YUVSource) -> Image {
    let (width, height) = yuv.dimensions();
    let (luma_stride, chroma_stride, _) = yuv.strides();
    let mut image = Image::new(width, height, [0; 3]);
    for y in 0..height {
        for x in 0..width {
            let luma = (f32::from(yuv.y()[y * luma_stride + x]) - 16.0) * 255.0 / 219.0;
            let chroma =
                |plane: &[u8]| (f32::from(plane[(y / 2) * chroma_stride + x / 2]) - 128.0) * 255.0 / 224.0;
            let (blue, red) = (luma + 1.8556 * chroma(yuv.u()), luma + 1.5748 * chroma(yuv.v()));
            let green = (luma - 0.2126 * red - 0.0722 * blue) / 0.7152;
            *image.pixel_mut(x, y) = [red, green, blue].map(|c| (c + 0.5).clamp(0.0, 255.0) as u8);
        }
    }
    image
}

/// The boxes of an MP4, one after the other: name and contents.
fn boxes(bytes: &[u8]) -> Vec<(String, &[u8])> {
    let mut at = 0;
    let mut found = Vec::new();
    while at + 8 <= bytes.len() {
        let length = number(&bytes[at..]) as usize;
        assert!(length >= 8 && at + length <= bytes.len(), "a box of {length} bytes at {at}");
        found.push((
            String::from_utf8_lossy(&bytes[at + 4..at + 8]).into_owned(),
            &bytes[at + 8..at + length],
        ));
        at += length;
    }
    found
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[..4].try_into().unwrap())
}

/// Full range, primaries, transfer curve and matrix of a sequence parameter set (ITU-T H.264, 7.3.2.1.1 and E.1.1).
fn colour_description(unit: &[u8]) -> (bool, u32, u32, u32) {
    let payload: Vec<u8> = (0..unit.len())
        .filter(|k| !(*k >= 2 && unit[*k] == 3 && unit[k - 1] == 0 && unit[k - 2] == 0)) // emulation prevention
        .map(|k| unit[k])
        .collect();
    assert_eq!(payload[1], 77, "Main profile, whose set has no chroma format");
    let mut bits = Bits { bytes: &payload, at: 32 };
    bits.golomb(); // id
    bits.golomb(); // frame number
    match bits.golomb() {
        0 => _ = bits.golomb(),
        2 => {}
        other => panic!("picture order of type {other}"),
    }
    bits.golomb(); // reference frames
    bits.read(1);
    bits.golomb(); // width
    bits.golomb(); // height
    if bits.read(1) == 0 {
        bits.read(1);
    }
    bits.read(1);
    if bits.read(1) == 1 {
        (0..4).for_each(|_| _ = bits.golomb()); // cropping
    }
    assert_eq!(bits.read(1), 1, "usability information");
    if bits.read(1) == 1 && bits.read(8) == 255 {
        bits.read(32);
    }
    if bits.read(1) == 1 {
        bits.read(1);
    }
    assert_eq!(bits.read(1), 1, "signal type");
    bits.read(3);
    let full_range = bits.read(1) == 1;
    assert_eq!(bits.read(1), 1, "colour description");
    (full_range, bits.read(8), bits.read(8), bits.read(8))
}

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    fn read(&mut self, count: usize) -> u32 {
        (0..count).fold(0, |value, _| {
            let bit = self.bytes[self.at / 8] >> (7 - self.at % 8) & 1;
            self.at += 1;
            value << 1 | u32::from(bit)
        })
    }

    /// An unsigned Exp-Golomb code.
    fn golomb(&mut self) -> u32 {
        let mut zeros = 0;
        while self.read(1) == 0 {
            zeros += 1;
        }
        (1 << zeros) - 1 + self.read(zeros)
    }
}
