//! Films: pictures as H.264 in an MP4 file that browsers play.
//!
//! - Colour: BT.709 matrix in limited range, halved chroma sited to the left as H.264 assumes. The stream says so, with
//!   the primaries and the transfer curve of sRGB (ITU-T H.264, annex E: 1, 13, 1).
//! - Quality: one quantiser for all frames, so that quality is constant and size is what it takes.
//! - File: the index comes before the frames, so that a browser starts before it has all of it. The file is written
//!   aside and renamed: it is there whole or not at all.
//! - Limits: 3840 × 2160 or 2160 × 3840 pixels, the most openh264 does; an odd width or height gets its last column or
//!   row twice, since half-size chroma needs even sizes. Compressed frames stay in memory until the end
//!   (about 1 MB for 2 s of 640 × 360).
//!
//! Kept honest by `tests/films.rs`, which decodes what was encoded.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use muxide::api::{Muxer, MuxerBuilder, MuxerError, VideoCodec};
use openh264::encoder::{
    BitRate, Complexity, Encoder, EncoderConfig, FrameRate, FrameType, IntraFramePeriod, Profile, QpRange,
    RateControlMode, TransferCharacteristics, VuiConfig,
};
use openh264::formats::YUVSlices;
use openh264::{OpenH264API, Timestamp};
use rayon::prelude::*;

use crate::image::Image;

#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    #[error(
        "a film of {width} × {height} pixels cannot be encoded: at least {LEAST} × {LEAST} and at most 3840 × 2160 \
         (or 2160 × 3840) pixels can; change the size of the pictures"
    )]
    Size { width: usize, height: usize },
    #[error("a film cannot have {0} frames a second; choose from 0.1 to 1000")]
    FrameRate(f64),
    #[error(
        "frame {frame} is {width} × {height} pixels, but the film is {film_width} × {film_height}; all frames must have one size"
    )]
    FrameSize { frame: u64, width: usize, height: usize, film_width: usize, film_height: usize },
    #[error("a film needs at least one frame; `{0}` was not written")]
    NoFrames(PathBuf),
    #[error("the encoder failed at frame {frame}: {reason}")]
    Encoder { frame: u64, reason: openh264::Error },
    #[error("`{path}` could not be put together: {reason}")]
    Muxer { path: PathBuf, reason: MuxerError },
    #[error("`{path}` could not be written: {reason}; is there room, and may we write there?")]
    Write { path: PathBuf, reason: std::io::Error },
}

/// Smallest side, pixels: one block of the encoder.
const LEAST: usize = 16;
/// H.264's quantiser, 0 (finest) to 51. At 20 a gradient of water or sky shows neither bands nor blocks, and 2 s of
/// moving particles at 640 × 360 take about 1 MB.
const QUANTISER: u8 = 20;
/// How often one may jump into a film, s.
const SECONDS_BETWEEN_KEY_FRAMES: f64 = 2.0;

/// Whether films can have this size, pixels.
pub fn check_size(width: usize, height: usize) -> Result<(), FilmError> {
    let (long, short) = (width.max(height), width.min(height));
    if short < LEAST || long > 3840 || short > 2160 { Err(FilmError::Size { width, height }) } else { Ok(()) }
}

/// Writes a film, frame by frame.
pub struct FilmWriter {
    path: PathBuf,
    /// Where the film is written until it is whole.
    aside: PathBuf,
    /// There from the start to the end.
    muxer: Option<Muxer<BufWriter<File>>>,
    encoder: Encoder,
    /// As given, pixels.
    width: usize,
    height: usize,
    frames_per_second: f64,
    frames: u64,
    planes: Planes,
}

impl FilmWriter {
    /// Starts a film of pictures of this size. Nothing appears at `path` before [`FilmWriter::finish`].
    pub fn create(
        path: impl AsRef<Path>,
        width: usize,
        height: usize,
        frames_per_second: f64,
    ) -> Result<FilmWriter, FilmError> {
        check_size(width, height)?;
        if !(0.1..=1000.0).contains(&frames_per_second) {
            return Err(FilmError::FrameRate(frames_per_second));
        }
        let frames_per_second = exact_rate(frames_per_second);
        let planes = Planes::new(width, height);

        // The quantiser's range of one value is what fixes the quality; the rate only chooses the level of the stream.
        // Of openh264's modes the buffer-based one keeps to that range and to every frame without a warning.
        let rate = 0.15 * (planes.width * planes.height) as f64 * frames_per_second.min(60.0);
        let config = EncoderConfig::new()
            .rate_control_mode(RateControlMode::Bufferbased)
            .bitrate(BitRate::from_bps(rate as u32))
            .qp(QpRange::new(QUANTISER, QUANTISER))
            .skip_frames(false)
            .max_frame_rate(FrameRate::from_hz(frames_per_second as f32))
            .intra_frame_period(IntraFramePeriod::from_num_frames(
                (SECONDS_BETWEEN_KEY_FRAMES * frames_per_second).ceil() as u32,
            ))
            .profile(Profile::Main)
            .complexity(Complexity::High)
            // These trade truth for bits: blocks that barely change would not be sent.
            .background_detection(false)
            .scene_change_detect(false) // would coarsen the quantiser at a cut
            .adaptive_quantization(false)
            .num_threads(1) // the same bits on any machine
            .vui(VuiConfig::bt709().transfer_characteristics(TransferCharacteristics::Srgb));
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config)
            .map_err(|reason| FilmError::Encoder { frame: 0, reason })?;

        let path = path.as_ref().to_path_buf();
        let aside = crate::exchange::aside(&path);
        let file = File::create(&aside).map_err(|reason| FilmError::Write { path: aside.clone(), reason })?;
        // From here on the file is removed by whatever ends the writer, this function's errors included.
        let mut film = FilmWriter {
            path,
            aside,
            muxer: None,
            encoder,
            width,
            height,
            frames_per_second,
            frames: 0,
            planes,
        };
        let muxer = MuxerBuilder::new(BufWriter::new(file))
            .video(VideoCodec::H264, film.planes.width as u32, film.planes.height as u32, frames_per_second)
            .with_fast_start(true)
            .build()
            .map_err(|reason| FilmError::Muxer { path: film.path.clone(), reason })?;
        film.muxer = Some(muxer);
        Ok(film)
    }

    /// Adds the next frame.
    pub fn push(&mut self, image: &Image) -> Result<(), FilmError> {
        if (image.width, image.height) != (self.width, self.height) {
            return Err(FilmError::FrameSize {
                frame: self.frames,
                width: image.width,
                height: image.height,
                film_width: self.width,
                film_height: self.height,
            });
        }
        self.planes.fill(image);
        let time = self.frames as f64 / self.frames_per_second;
        self.write_planes(time)?;
        self.frames += 1;
        Ok(())
    }

    /// Ends the film, which appears whole at its path.
    pub fn finish(mut self) -> Result<(), FilmError> {
        if self.frames == 0 {
            return Err(FilmError::NoFrames(self.path.clone()));
        }
        // The file says how long a frame lasts by when the next one comes. A single frame is stored twice, each for
        // half of its time.
        if self.frames == 1 {
            self.write_planes(0.5 / self.frames_per_second)?;
        }
        let mut muxer = self.muxer.take().expect("there until the end");
        muxer.finish_in_place().map_err(|reason| FilmError::Muxer { path: self.path.clone(), reason })?;
        let mut writer = muxer.into_writer();
        writer
            .flush()
            .and_then(|()| writer.get_ref().sync_all())
            .and_then(|()| std::fs::rename(&self.aside, &self.path))
            .map_err(|reason| FilmError::Write { path: self.path.clone(), reason })
    }

    /// Encodes the planes as the frame at a time, s.
    fn write_planes(&mut self, time: f64) -> Result<(), FilmError> {
        let frame = self.frames;
        let milliseconds = Timestamp::from_millis((1000.0 * time).round() as u64);
        let stream = self
            .encoder
            .encode_at(&self.planes.slices(), milliseconds)
            .map_err(|reason| FilmError::Encoder { frame, reason })?;
        let key = matches!(stream.frame_type(), FrameType::IDR);
        self.muxer
            .as_mut()
            .expect("there until the end")
            .write_video(time, &stream.to_vec(), key)
            .map_err(|reason| FilmError::Muxer { path: self.path.clone(), reason })
    }
}

impl Drop for FilmWriter {
    /// A film that was not finished leaves nothing behind. (After a rename there is nothing left to remove.)
    fn drop(&mut self) {
        drop(self.muxer.take());
        let _ = std::fs::remove_file(&self.aside);
    }
}

/// 23.976, 29.97 and 59.94 stand for 24000, 30000 and 60000 / 1001.
fn exact_rate(rate: f64) -> f64 {
    let ntsc = [24_000.0, 30_000.0, 60_000.0, 120_000.0].map(|thousands| thousands / 1001.0);
    ntsc.into_iter().find(|exact| (rate / exact - 1.0).abs() < 1e-4).unwrap_or(rate)
}

// RGB to Y'CbCr -----------------------------------------------------------------------------------------------------

/// Luma, and chroma at half size, in bytes.
struct Planes {
    /// Even.
    width: usize,
    height: usize,
    luma: Vec<u8>,
    blue: Vec<u8>,
    red: Vec<u8>,
}

impl Planes {
    fn new(width: usize, height: usize) -> Planes {
        let (width, height) = (width.next_multiple_of(2), height.next_multiple_of(2));
        let chroma = vec![128; width * height / 4];
        Planes { width, height, luma: vec![16; width * height], blue: chroma.clone(), red: chroma }
    }

    fn slices(&self) -> YUVSlices<'_> {
        let half = self.width / 2;
        YUVSlices::new(
            (&self.luma, &self.blue, &self.red),
            (self.width, self.height),
            (self.width, half, half),
        )
    }

    /// ITU-R BT.709, 3: from 8-bit R'G'B' to 8-bit Y'CbCr in limited range.
    fn fill(&mut self, image: &Image) {
        let width = self.width;
        let (last_x, last_y) = (image.width - 1, image.height - 1);
        let rgb = |x: usize, y: usize| image.pixel(x.min(last_x), y.min(last_y)).map(f32::from);

        self.luma.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
            for (x, luma) in row.iter_mut().enumerate() {
                *luma = (16.5 + 219.0 / 255.0 * brightness(rgb(x, y))) as u8;
            }
        });

        // Left-sited: weights 1 2 1 across about an even column, 1 1 down.
        let rows = self.blue.par_chunks_mut(width / 2).zip(self.red.par_chunks_mut(width / 2));
        rows.enumerate().for_each(|(j, (blue_row, red_row))| {
            for (i, (blue, red)) in blue_row.iter_mut().zip(red_row).enumerate() {
                let mut mean = [0.0; 3];
                for y in [2 * j, 2 * j + 1] {
                    for (x, weight) in [((2 * i).saturating_sub(1), 0.125), (2 * i, 0.25), (2 * i + 1, 0.125)]
                    {
                        let pixel = rgb(x, y);
                        for channel in 0..3 {
                            mean[channel] += weight * pixel[channel];
                        }
                    }
                }
                let brightness = brightness(mean);
                *blue = (128.5 + 224.0 / 255.0 * (mean[2] - brightness) / 1.8556) as u8;
                *red = (128.5 + 224.0 / 255.0 * (mean[0] - brightness) / 1.5748) as u8;
            }
        });
    }
}

/// Luma of gamma-coded red, green and blue, on their scale.
fn brightness([red, green, blue]: [f32; 3]) -> f32 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_the_bytes_of_the_standard() {
        // 8-bit limited-range BT.709 values of the 100 % colour bars (ITU-R BT.709, and any test chart).
        for (rgb, expected) in [
            ([255, 255, 255], [235, 128, 128]),
            ([0, 0, 0], [16, 128, 128]),
            ([255, 0, 0], [63, 102, 240]),
            ([0, 255, 0], [173, 42, 26]),
            ([0, 0, 255], [32, 240, 118]),
        ] {
            let mut planes = Planes::new(16, 16);
            planes.fill(&Image::new(16, 16, rgb));
            assert_eq!([planes.luma[0], planes.blue[0], planes.red[0]], expected, "{rgb:?}");
        }
    }

    #[test]
    fn american_rates_are_exact() {
        assert_eq!(exact_rate(29.97), 30_000.0 / 1001.0);
        assert_eq!(exact_rate(30.0), 30.0);
        assert_eq!(exact_rate(12.5), 12.5);
    }
}
