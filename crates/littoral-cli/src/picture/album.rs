//! A run's pictures: one PNG for each frame, made once, and made again only when something about them has changed.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use glam::Vec3;
use littoral::files;
use littoral::frame::Frame;
use littoral::run_folder;
use littoral::scene::{Container, Dimensions, Draw, Scene};
use littoral::table::Values;
use littoral_picture::image::{self, Image};
use littoral_picture::preview::{self, Balls, GroundGrid, Lens, Segment, Shading};
use littoral_picture::trace;
use sha2::{Digest, Sha256};

use super::framing::Bounds;
use super::paint::Paint;
use super::solids;
use super::stage::{Stage, linear};
use super::subjects::Subjects;
use crate::failure::Failure;

/// How pictures are made, as opposed to what they show.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub size: [u32; 2],
    /// Paths for each pixel.
    pub samples: u32,
    /// Balls and a grid instead of light and matter: a picture in a moment.
    pub preview: bool,
    pub paint: Option<Paint>,
}

/// Exposures that a blurred picture is the mean of.
const SHUTTER_STEPS: usize = 12;

/// The text in a PNG that tells what it was made from.
const MADE_FROM: &str = "littoral-made-from";

pub struct Album<'a> {
    scene: &'a Scene,
    run: PathBuf,
    settings: Settings,
    stage: Stage<'a>,
    subjects: Subjects<'a>,
    /// Frames that are there.
    pub frames: Vec<(u64, PathBuf)>,
}

/// What a picture cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub rays: u64,
    pub seconds: f64,
}

impl<'a> Album<'a> {
    /// `scene_folder` is where the scene's own files are looked for.
    pub fn open(
        scene: &'a Scene,
        run: &Path,
        scene_folder: &Path,
        settings: Settings,
    ) -> Result<Album<'a>, Failure> {
        let frames = run_folder::frame_files(run);
        let Some((_, first)) = frames.first() else {
            let message = format!("`{}` holds no frames; make some with: littoral run", run.display());
            return Err(Failure::Input(message));
        };
        let seen = extent(scene, &frames)?;
        let stage = Stage::new(scene, settings.size, seen);
        Ok(Album {
            scene,
            run: run.to_owned(),
            subjects: Subjects::new(scene, scene_folder, first, stage.pixel()),
            stage,
            settings,
            frames,
        })
    }

    /// `film`, `film-preview`, `pictures-speed`: different kinds do not overwrite each other.
    pub fn name(&self, of: &str) -> String {
        let preview = if self.settings.preview { "-preview" } else { "" };
        let paint = self.settings.paint.as_ref().map_or(String::new(), |paint| format!("-{}", paint.name));
        format!("{of}{preview}{paint}")
    }

    /// The file of a frame's picture.
    pub fn file(&self, frame: u64) -> PathBuf {
        self.run.join(self.name("pictures")).join(format!("{frame:06}.png"))
    }

    /// The picture of a frame: as it is on disk, if nothing about it has changed since and `again` is not asked for;
    /// else made, and kept. With the picture, what it cost to make.
    pub fn page(&mut self, number: u64, path: &Path, again: bool) -> Result<(Image, Option<Cost>), Failure> {
        let identity = self.identity(path)?;
        if let Some(image) = self.kept(number, &identity).filter(|_| !again) {
            return Ok((image, None));
        }
        let frame = Frame::read(path).map_err(|error| Failure::Run(error.to_string()))?;
        let (image, cost) = self.picture(&frame)?;
        let png = image.to_png_with(&[("Software", "littoral"), (MADE_FROM, &identity)]);
        write(&self.file(number), &png)?;
        Ok((image, Some(cost)))
    }

    fn kept(&self, number: u64, identity: &str) -> Option<Image> {
        let png = fs::read(self.file(number)).ok()?;
        let texts = image::texts_in_png(&png).ok()?;
        let same = texts.iter().any(|(key, text)| key == MADE_FROM && text == identity);
        same.then(|| Image::from_png(&png).ok()).flatten()
    }

    /// Everything a picture depends on, as one number: the frame, the meshes, the looks, the surroundings.
    fn identity(&self, frame: &Path) -> Result<String, Failure> {
        let mut hasher = Sha256::new();
        let unreadable =
            |error: io::Error| Failure::Run(format!("cannot read `{}`: {error}", frame.display()));
        hasher.update(fs::read(frame).map_err(unreadable)?);
        let bodies = self.scene.bodies.iter().map(|body| &body.look);
        let looks: Vec<_> = bodies.chain(self.scene.solids.iter().map(|solid| &solid.look)).collect();
        for look in &looks {
            if let Some(bytes) = look.mesh.as_ref().and_then(|mesh| fs::read(self.subjects.find(mesh)).ok()) {
                hasher.update(bytes);
            }
        }
        let version = env!("CARGO_PKG_VERSION");
        let Settings { size, samples, preview, paint } = &self.settings;
        hasher.update(format!(
            "{version} {size:?} {samples} {preview} {paint:?} {looks:?} {:?}",
            self.scene.picture
        ));
        hasher.update(format!("{:?} {}", self.stage.bounds, self.stage.floor));
        Ok(hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }

    /// A frame's picture.
    pub fn picture(&mut self, frame: &Frame) -> Result<(Image, Cost), Failure> {
        let start = std::time::Instant::now();
        let (mut image, rays) =
            if self.settings.preview { (self.preview(frame)?, 0) } else { self.trace(frame)? };
        if let Some(paint) = &self.settings.paint {
            paint.draw_legend(&mut image);
        }
        Ok((image, Cost { rays, seconds: start.elapsed().as_secs_f64() }))
    }

    /// Balls on a grid, in the colours of their bodies or of a column.
    fn preview(&self, frame: &Frame) -> Result<Image, Failure> {
        let bodies = frame.indices("body").unwrap_or_default();
        let body = |row: usize| self.scene.bodies.get(bodies[row] as usize);
        let shown: Vec<usize> = (0..bodies.len())
            .filter(|&row| body(row).is_some_and(|body| body.look.draw != Draw::Nothing))
            .collect();
        let all = frame.vectors("position").unwrap_or_default();
        let mut positions: Vec<Vec3> = shown.iter().map(|&row| Vec3::from_array(all[row])).collect();
        let mut colours: Vec<Vec3> = match &self.settings.paint {
            Some(paint) => {
                let values = paint.values(self.scene, frame)?;
                shown.iter().map(|&row| paint.colour(values[row])).collect()
            }
            None => {
                let colour = |&row: &usize| body(row).map_or(Vec3::ONE, |body| linear(body.look.colour));
                shown.iter().map(colour).collect()
            }
        };
        let supports = frame.scalars("support").unwrap_or_default();
        let mut radii: Vec<f32> =
            shown.iter().map(|&row| 0.5 * supports[row] / self.scene.sph.support as f32).collect();
        for (dot, colour) in solids::dots(self.scene, frame) {
            positions.push(dot);
            radii.push(0.5 * self.scene.sph.spacing as f32);
            colours.push(linear(colour));
        }
        let balls = Balls { centres: &positions, radii: &radii, colours: &colours };
        let edge = |[a, b]: [Vec3; 2]| Segment { a, b, width: 1.5, colour: Vec3::splat(0.12) };
        let framed = self.scene.picture.container != Container::Nothing;
        let lines: Vec<Segment> = self.stage.edges().into_iter().filter(|_| framed).map(edge).collect();
        let camera = self.stage.camera(frame.info.time);
        let lens = match camera.view {
            trace::View::Perspective(field_of_view) => Lens::Perspective { field_of_view },
            trace::View::Orthographic(height) => Lens::Orthographic { height },
        };
        let view = preview::View { at: camera.at, look_at: camera.look_at, up: camera.up, lens };
        let ground =
            self.scene.picture.ground.show.then(|| GroundGrid::new(self.stage.floor, self.stage.tile()));
        let [width, height] = self.settings.size.map(|pixels| pixels as usize);
        let settings = preview::Settings {
            width,
            height,
            shading: Shading::Lit { sun: Some(self.stage.sun_direction()) },
            ..preview::Settings::default()
        };
        Ok(preview::preview(&view, &[balls], &lines, ground.as_ref(), &settings))
    }

    fn trace(&mut self, frame: &Frame) -> Result<(Image, u64), Failure> {
        let blur = self.scene.picture.motion_blur;
        let steps = if blur > 0.0 { SHUTTER_STEPS.min(self.settings.samples as usize) } else { 1 };
        let open = blur / self.scene.time.frames_per_second;
        let samples = (self.settings.samples as usize).div_ceil(steps);
        let mut sum: Option<trace::Picture> = None;
        for step in 0..steps {
            // The shutter is open around the frame's own time.
            let later = open * ((step as f64 + 0.5) / steps as f64 - 0.5);
            let time = frame.info.time + later;
            let moved = if later == 0.0 { frame } else { &advanced(frame, later as f32) };
            let set = match &self.settings.paint {
                Some(paint) => {
                    let mut set = self.stage.plain_set(time);
                    set.things.push(self.subjects.painted(moved, paint)?);
                    set.things.extend(solids::things(self.scene, moved));
                    set
                }
                None => {
                    let mut set = self.stage.set(time);
                    set.things.extend(self.subjects.things(moved)?);
                    set
                }
            };
            let settings = trace::Settings {
                width: self.settings.size[0] as usize,
                height: self.settings.size[1] as usize,
                samples,
                first_sample: step * samples,
                gap: 0.6 * self.scene.sph.spacing as f32,
                denoise: false,
                // The same noise in all frames: what stands still does not flicker.
                seed: if self.stage.is_moving() { frame.info.frame } else { 0 },
                ..trace::Settings::default()
            };
            let exposure = trace::render(&set, &settings);
            sum = Some(match sum {
                None => exposure,
                Some(mut sum) => {
                    sum.add(&exposure);
                    sum
                }
            });
        }
        let picture = sum.expect("at least one step");
        let rays = picture.rays;
        let clean = trace::denoise(&picture);
        let exposure = 2f32.powf(self.scene.picture.exposure as f32);
        let [width, height] = self.settings.size.map(|pixels| pixels as usize);
        Ok((Image { width, height, pixels: trace::tone_map(&clean, exposure) }, rays))
    }
}

/// The frame a moment later (or earlier), each particle carried on by its velocity.
fn advanced(frame: &Frame, seconds: f32) -> Frame {
    let mut later = frame.clone();
    solids::advance(&mut later.info.solids, seconds);
    let velocities = frame.vectors("velocity").unwrap_or_default().as_flattened();
    if let Some(column) = later.columns.iter_mut().find(|column| column.name == "position")
        && let Values::Vectors { numbers, .. } = &mut column.values
    {
        for (place, velocity) in numbers.iter_mut().zip(velocities) {
            *place += seconds * velocity;
        }
    }
    later
}

/// Writes a file, whole or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Run(format!("cannot write `{}`: {error}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    files::write_whole(path, |file| file.write_all(bytes)).map_err(failed)
}

/// Where particles are, in worlds that do not end: from the first, the middle and the last frame.
fn extent(scene: &Scene, frames: &[(u64, PathBuf)]) -> Result<Option<Bounds>, Failure> {
    let axes = if scene.dimensions == Dimensions::Two { 2 } else { 3 };
    let bounded =
        (0..axes).all(|axis| scene.domain.min[axis].is_finite() && scene.domain.max[axis].is_finite());
    if bounded {
        return Ok(None);
    }
    // One particle that got away does not count: a thousandth on each side is left out.
    let mut bounds: Option<Bounds> = None;
    for k in [0, frames.len() / 2, frames.len() - 1] {
        let frame = Frame::read(&frames[k].1).map_err(|error| Failure::Run(error.to_string()))?;
        let positions = frame.vectors("position").unwrap_or_default();
        let (mut min, mut max) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for axis in 0..3 {
            let mut places: Vec<f32> = positions.iter().map(|p| p[axis]).filter(|x| x.is_finite()).collect();
            if places.is_empty() {
                continue;
            }
            places.sort_unstable_by(f32::total_cmp);
            let left_out = places.len() / 1000;
            (min[axis], max[axis]) = (places[left_out], places[places.len() - 1 - left_out]);
        }
        if min.is_finite() && max.is_finite() {
            let one = bounds.unwrap_or(Bounds { min, max });
            bounds = Some(Bounds { min: one.min.min(min), max: one.max.max(max) });
        }
    }
    Ok(bounds)
}
