//! Where the camera stands when the scene does not say: far enough to see everything, a little from the side and
//! from above, so that depth reads.

use glam::{Vec3, vec3};
use littoral::scene::{Dimensions, Scene, Side};

/// What a picture should show, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub min: Vec3,
    pub max: Vec3,
}

impl Bounds {
    pub fn centre(&self) -> Vec3 {
        0.5 * (self.min + self.max)
    }

    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|k| {
            let pick = |bit: usize, low: f32, high: f32| if k >> bit & 1 == 0 { low } else { high };
            vec3(
                pick(0, self.min.x, self.max.x),
                pick(1, self.min.y, self.max.y),
                pick(2, self.min.z, self.max.z),
            )
        })
    }
}

/// A 2-D world is drawn as a slab so many spacings deep.
pub fn slab_layers(scene: &Scene) -> usize {
    match scene.dimensions {
        Dimensions::Three => 1,
        Dimensions::Two => {
            let width = bodies(scene).map_or(1.0, |bounds| bounds.size().max_element());
            (0.2 * width / scene.sph.spacing as f32).round().clamp(3.0, 10.0) as usize
        }
    }
}

/// The box where there is one; elsewhere, where the particles are (`seen`) or start.
pub fn bounds(scene: &Scene, seen: Option<Bounds>) -> Bounds {
    let unit = Bounds { min: Vec3::splat(-0.5), max: Vec3::splat(0.5) };
    let start = bodies(scene).unwrap_or(unit);
    let seen =
        seen.map_or(start, |seen| Bounds { min: seen.min.min(start.min), max: seen.max.max(start.max) });
    let mut bounds = seen;
    for axis in 0..3 {
        let finite = |x: f64| x.is_finite() && x.abs() < 1e6;
        if finite(scene.domain.min[axis]) {
            bounds.min[axis] = scene.domain.min[axis] as f32;
        }
        if finite(scene.domain.max[axis]) {
            bounds.max[axis] = scene.domain.max[axis] as f32;
        }
    }
    if scene.dimensions == Dimensions::Two {
        let half = 0.5 * slab_layers(scene) as f32 * scene.sph.spacing as f32;
        (bounds.min.z, bounds.max.z) = (-half, half);
    }
    bounds
}

/// Where matter is at the start.
fn bodies(scene: &Scene) -> Option<Bounds> {
    let vector = |v: [f64; 3]| vec3(v[0] as f32, v[1] as f32, v[2] as f32);
    let half = Vec3::splat(0.5 * scene.sph.spacing as f32);
    scene
        .bodies
        .iter()
        .map(|body| body.source.bounds(scene.dimensions))
        .map(|(min, max)| Bounds { min: vector(min) - half, max: vector(max) + half })
        .reduce(|a, b| Bounds { min: a.min.min(b.min), max: a.max.max(b.max) })
}

/// y of the floor: that of the box, or a little below everything.
pub fn floor(scene: &Scene, bounds: &Bounds) -> f32 {
    match scene.domain.sides[1][0] {
        Side::Wall if scene.domain.min[1].is_finite() => scene.domain.min[1] as f32,
        _ => bounds.min.y - 0.15 * bounds.size().y,
    }
}

/// A camera that sees all of the bounds, for a picture of this shape.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub at: Vec3,
    pub look_at: Vec3,
}

/// Part of the picture's width and height that the scene may fill.
const FILLED: f32 = 0.90;

/// `field_of_view` is vertical, radians; `aspect` is width over height.
pub fn view(bounds: &Bounds, flat: bool, field_of_view: f32, aspect: f32) -> View {
    let size = bounds.size();
    // From the long side; flat worlds nearly straight on.
    let from = match (flat, size.z > 1.5 * size.x) {
        (true, _) => vec3(0.22, 0.14, 1.0),
        (_, false) => vec3(0.42, 0.24, 1.0),
        (_, true) => vec3(1.0, 0.24, -0.42),
    };
    let back = from.normalize();
    let right = Vec3::Y.cross(back).normalize();
    let up = back.cross(right);
    let slope_y = (0.5 * field_of_view).tan() * FILLED;
    let slope_x = slope_y * aspect;

    // Each corner asks for a distance; then what is seen is put into the middle, which changes what they ask for.
    let mut look_at = bounds.centre();
    let mut distance = 0.0;
    for _ in 0..8 {
        let seen = bounds.corners().map(|corner| corner - look_at);
        distance = seen
            .iter()
            .map(|c| (c.dot(right).abs() / slope_x).max(c.dot(up).abs() / slope_y) + c.dot(back))
            .fold(0.0, f32::max);
        let middle = |axis: Vec3| {
            let on_screen = seen.map(|c| c.dot(axis) / (distance - c.dot(back)));
            let (low, high) = on_screen.iter().fold((f32::MAX, f32::MIN), |(l, h), &x| (l.min(x), h.max(x)));
            0.5 * (low + high) * distance
        };
        look_at += right * middle(right) + up * middle(up);
    }
    View { at: look_at + back * distance, look_at }
}

/// A round length (1, 2 or 5 times a power of ten) of about this size.
pub fn round_length(about: f32) -> f32 {
    let power = 10f32.powf(about.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let nearest = steps.into_iter().min_by(|a, b| {
        let away = |step: f32| (step * power / about).ln().abs();
        away(*a).total_cmp(&away(*b))
    });
    nearest.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_seen_and_the_picture_is_filled() {
        for (size, aspect) in
            [(vec3(1.6, 1.2, 0.4), 16.0 / 9.0), (vec3(0.2, 3.0, 0.2), 1.0), (vec3(1.0, 0.1, 4.0), 2.0)]
        {
            let bounds = Bounds { min: vec3(1.0, -2.0, 3.0), max: vec3(1.0, -2.0, 3.0) + size };
            let angle = 0.6;
            let view = view(&bounds, false, angle, aspect);
            let back = (view.at - view.look_at).normalize();
            let right = Vec3::Y.cross(back).normalize();
            let up = back.cross(right);
            let slope = (0.5 * angle).tan();
            let mut reach: f32 = 0.0;
            for corner in bounds.corners() {
                let c = corner - view.at;
                let depth = -c.dot(back);
                assert!(depth > 0.0, "nothing is behind the camera");
                let (x, y) = (c.dot(right) / depth / (slope * aspect), c.dot(up) / depth / slope);
                assert!(x.abs() < 0.95 && y.abs() < 0.95, "{corner} is at {x}, {y}");
                reach = reach.max(x.abs()).max(y.abs());
            }
            assert!(reach > 0.85, "the picture is filled: {reach}");
        }
    }

    #[test]
    fn lengths_are_round() {
        assert_eq!([0.13, 0.24, 4.1, 8.0].map(round_length), [0.1, 0.2, 5.0, 10.0]);
    }
}
