//! A path tracer on all cores.
//!
//! ```
//! use littoral_picture::trace::{Ground, Scene, Settings, Sun, render, tone_map};
//! let scene = Scene { sun: Some(Sun::default()), ground: Some(Ground::default()), ..Scene::default() };
//! let picture = render(&scene, &Settings { width: 64, height: 36, samples: 4, ..Settings::default() });
//! let pixels = tone_map(&picture, 1.0);
//! assert_eq!(pixels.len(), 64 * 36);
//! ```
//!
//! A [`Scene`] is plain data (`scene`). [`Prepared`] adds the hierarchy of boxes that rays search (`bvh`).
//! Paths (`integrator`) ask surfaces (`looks`) and lights (`light`) with low-discrepancy numbers (`sampler`)
//! and add up to a [`Picture`] of linear radiance, which [`denoise()`] cleans and [`tone_map`] turns into
//! bytes. Frames of a film use the same seed, so that what stands still does not flicker. For motion blur
//! render moments with disjoint ranges of samples (`Settings::first_sample`) and without denoising,
//! [`Picture::add`] them, then [`denoise()`].
//!
//! The same bits on any number of threads. Kept honest by `tests/radiance.rs`.

mod bvh;
mod denoise;
mod integrator;
mod light;
mod looks;
mod picture;
mod sampler;
mod scene;
mod surface;
mod tone;

pub use denoise::denoise;
pub use picture::Picture;
pub use scene::{Camera, Ground, Lamp, Look, Scene, Settings, Shape, Sky, Sun, Thing, Tiles, View};
pub use surface::Prepared;
pub use tone::tone_map;

/// Renders a scene, and denoises the picture if the settings say so.
pub fn render(scene: &Scene, settings: &Settings) -> Picture {
    Prepared::new(scene).render(settings)
}
