//! Where light comes from: the sky, the sun's disc and rectangular lamps.
//!
//! Sun, lamps and the light of a studio are sampled directly; the sky is smooth and left to the surfaces' own
//! sampling. Kept honest by `tests/radiance.rs`: a plane under sky, sun and lamp has known radiances.

use super::bvh::Ray;
use super::scene::{Lamp, Sky, Sun};
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// Cosine of the studio light's half angle.
const STUDIO_COSINE: f32 = 0.45;
/// Radians.
const GLINT_RADIUS: f32 = 0.07;

/// A direction towards a light: radiance over density is what it would bring without obstacles.
pub(crate) struct Beam {
    pub direction: Vec3,
    pub distance: f32,
    pub radiance: Vec3,
    /// Per steradian.
    pub density: f32,
}

/// Uniform in the solid angle of the directions whose cosine to the axis is at most `drop` below 1.
fn in_cone(axis: Vec3, drop: f32, place: Vec2) -> Vec3 {
    let disc = super::looks::disc(place);
    // 1 − cos θ is proportional to the squared radius on the disc.
    let drop = drop * disc.length_squared();
    let around = disc.normalize_or_zero() * (drop * (2.0 - drop)).max(0.0).sqrt();
    let (x, y) = axis.any_orthonormal_pair();
    (x * around.x + y * around.y + axis * (1.0 - drop)).normalize()
}

impl Sky {
    /// Without a studio's light, which is sampled like a sun.
    pub(crate) fn radiance(&self, direction: Vec3) -> Vec3 {
        match *self {
            Sky::Uniform(radiance) => radiance,
            Sky::Gradient { zenith, horizon, below, glow, towards } => {
                let height = direction.y;
                let base = if height >= 0.0 {
                    horizon.lerp(zenith, 1.0 - (1.0 - height).powi(6))
                } else {
                    horizon.lerp(below, 1.0 - (1.0 + height).powi(8))
                };
                // Two lobes: a wide haze and a brighter core around the sun.
                let cosine = direction.dot(towards).max(0.0);
                base + glow
                    * (0.35 * cosine.powi(4) + 0.65 * cosine.powi(32))
                    * (1.0 + height.min(0.0)).powi(8)
            }
            Sky::Studio { surround, .. } => surround * (0.7 + 0.3 * direction.y),
        }
    }

    /// A direction towards the studio's light.
    pub(crate) fn sample(&self, place: Vec2) -> Option<Beam> {
        let Sky::Studio { towards, .. } = *self else { return None };
        let direction = in_cone(towards, 1.0 - STUDIO_COSINE, place);
        let (radiance, density) = self.light_seen(direction)?;
        Some(Beam { direction, distance: f32::INFINITY, radiance, density })
    }

    /// Radiance of the studio's light and density of sampling it.
    pub(crate) fn light_seen(&self, direction: Vec3) -> Option<(Vec3, f32)> {
        let Sky::Studio { light, towards, .. } = *self else { return None };
        let edge = ((direction.dot(towards) - STUDIO_COSINE) / 0.35).min(1.0);
        (edge > 0.0)
            .then(|| (light * (edge * edge * (3.0 - 2.0 * edge)), 1.0 / (TAU * (1.0 - STUDIO_COSINE))))
    }

    /// What the ground fades into.
    pub(crate) fn at_horizon(&self, direction: Vec3) -> Vec3 {
        let flat = Vec3::new(direction.x, 0.0, direction.z).normalize_or(direction);
        self.radiance(flat)
    }
}

impl Sun {
    fn cosine(&self) -> f32 {
        self.angular_radius.max(1e-4).cos()
    }

    fn solid_angle(&self) -> f32 {
        // 2π (1 − cos r), without its cancellation.
        2.0 * TAU * (0.5 * self.angular_radius.max(1e-4)).sin().powi(2)
    }

    /// E = L π sin² r for a disc faced squarely.
    fn disc_radiance(&self) -> Vec3 {
        self.irradiance / (0.5 * TAU * self.angular_radius.max(1e-4).sin().powi(2))
    }

    pub(crate) fn sample(&self, place: Vec2) -> Beam {
        let direction =
            in_cone(self.direction, 2.0 * (0.5 * self.angular_radius.max(1e-4)).sin().powi(2), place);
        Beam {
            direction,
            distance: f32::INFINITY,
            radiance: self.disc_radiance(),
            density: 1.0 / self.solid_angle(),
        }
    }

    /// Radiance of a disc that is widened to a radius of 0.07 and fades towards its rim, with the sun's
    /// irradiance.
    pub(crate) fn softly_seen(&self, direction: Vec3) -> Vec3 {
        let radius2 = GLINT_RADIUS.max(self.angular_radius).powi(2);
        // |a − b|² is the squared angle, for small ones; ∫ (1 − x²)² 2π x dx = π/3.
        let profile = (1.0 - direction.distance_squared(self.direction) / radius2).max(0.0);
        self.irradiance * (profile * profile * 3.0 / (0.5 * TAU * radius2))
    }

    /// Radiance and density of sampling, for a ray that meets nothing.
    pub(crate) fn seen(&self, direction: Vec3) -> Option<(Vec3, f32)> {
        (direction.dot(self.direction) >= self.cosine())
            .then(|| (self.disc_radiance(), 1.0 / self.solid_angle()))
    }
}

impl Lamp {
    fn normal_times_area(&self) -> Vec3 {
        self.edge_u.cross(self.edge_v)
    }

    pub(crate) fn sample(&self, from: Vec3, place: Vec2) -> Option<Beam> {
        let to = self.corner + self.edge_u * place.x + self.edge_v * place.y - from;
        let distance = to.length();
        let direction = to / distance;
        let facing = -self.normal_times_area().dot(direction);
        (facing > 0.0).then(|| Beam {
            direction,
            distance,
            radiance: self.radiance,
            density: distance * distance / facing,
        })
    }

    /// Distance, radiance and density of sampling, where a ray meets the lamp's bright side.
    pub(crate) fn seen(&self, ray: &Ray) -> Option<(f32, Vec3, f32)> {
        let normal = self.normal_times_area();
        let facing = -normal.dot(ray.direction);
        if facing <= 0.0 {
            return None;
        }
        let distance = -normal.dot(self.corner - ray.origin) / facing;
        let place = ray.origin + ray.direction * distance - self.corner;
        let area2 = normal.length_squared();
        let u = place.cross(self.edge_v).dot(normal) / area2;
        let v = self.edge_u.cross(place).dot(normal) / area2;
        let inside =
            distance > 0.0 && distance < ray.reach && (0.0..1.0).contains(&u) && (0.0..1.0).contains(&v);
        inside.then(|| (distance, self.radiance, distance * distance / facing))
    }
}
