//! Which ball is nearest, for each sample of a picture: exact spheres into a depth buffer of tiles.
//!
//! Balls go in from front to back. A tile whose samples are all covered by something nearer than the next ball is
//! closed, so a deep cloud costs little more than its front. Tiles are independent and the order of balls is fixed by
//! depth and index: the same bits on any number of threads.
//!
//! Limits: a ball that touches the plane of the camera is left out, as is one whose centre is not a number.
//! Kept honest by the tests of [`crate::preview`], and by `tiles_agree_with_brute_force` below.

use glam::Vec3;
use rayon::prelude::*;

/// Samples along the side of a tile.
pub const TILE: usize = 64;
/// No ball, and nothing else either.
pub const NOTHING: u32 = u32::MAX;

/// A camera for a raster of samples. In its own coordinates x points right, y up and z into the picture.
#[derive(Clone, Debug)]
pub struct Camera {
    pub at: Vec3,
    pub right: Vec3,
    pub up: Vec3,
    pub forward: Vec3,
    /// Rays start at `at`; else they are parallel.
    pub perspective: bool,
    /// Samples.
    pub width: usize,
    pub height: usize,
    /// Where the raster starts, and the distance of its samples: at depth 1 m (perspective) or anywhere (parallel), m.
    pub left: f32,
    pub top: f32,
    pub step: f32,
}

impl Camera {
    /// Position (in its own coordinates, m) of a place on the raster; sample (i, j) has its middle at (i + ½, j + ½).
    pub fn plane(&self, x: f32, y: f32) -> (f32, f32) {
        (self.left + self.step * x, self.top - self.step * y)
    }

    pub fn to_camera(&self, point: Vec3) -> Vec3 {
        self.turn(point - self.at)
    }

    pub fn turn(&self, direction: Vec3) -> Vec3 {
        Vec3::new(direction.dot(self.right), direction.dot(self.up), direction.dot(self.forward))
    }

    /// The point at a depth behind a place on the plane, in camera coordinates.
    pub fn point(&self, (u, v): (f32, f32), depth: f32) -> Vec3 {
        if self.perspective { Vec3::new(u * depth, v * depth, depth) } else { Vec3::new(u, v, depth) }
    }

    pub fn to_world(&self, point: Vec3) -> Vec3 {
        self.at + self.right * point.x + self.up * point.y + self.forward * point.z
    }

    /// How much wide a sample is at this depth, m.
    pub fn sample_width(&self, depth: f32) -> f32 {
        if self.perspective { self.step * depth } else { self.step }
    }

    /// Depth of a horizontal plane as seen from above; infinite where it is not seen.
    pub fn depth_of_plane(&self, height: f32, (u, v): (f32, f32)) -> f32 {
        let sideways = u * self.right.y + v * self.up.y;
        let depth = if self.perspective {
            (height - self.at.y) / (sideways + self.forward.y)
        } else {
            (height - self.at.y - sideways) / self.forward.y
        };
        let from_above = if self.perspective { self.at.y > height } else { self.forward.y < 0.0 };
        if from_above && depth > 0.0 { depth } else { f32::INFINITY }
    }
}

/// A ball in camera coordinates, and the samples it may cover.
#[derive(Clone, Copy, Debug)]
pub struct Projected {
    pub centre: Vec3,
    pub radius: f32,
    /// Which ball of the caller's this is.
    pub source: u32,
    columns: (u16, u16),
    rows: (u16, u16),
}

impl Projected {
    /// `None` for a ball that is not in the picture. `least` is the smallest radius to draw, in samples.
    pub fn new(camera: &Camera, centre: Vec3, radius: f32, least: f32, source: u32) -> Option<Projected> {
        let centre = camera.to_camera(centre);
        let radius = radius.max(least * camera.sample_width(centre.z));
        // Also false where anything is not a number.
        let in_front = centre.z - radius > 0.0 && centre.is_finite() && radius > 0.0 && radius.is_finite();
        if !in_front {
            return None;
        }
        let (u, v) = if camera.perspective {
            (tangents(centre.x, centre.z, radius), tangents(centre.y, centre.z, radius))
        } else {
            ((centre.x - radius, centre.x + radius), (centre.y - radius, centre.y + radius))
        };
        let columns = ((u.0 - camera.left) / camera.step, (u.1 - camera.left) / camera.step);
        let rows = ((camera.top - v.1) / camera.step, (camera.top - v.0) / camera.step);
        let columns = samples_between(columns, camera.width)?;
        let rows = samples_between(rows, camera.height)?;
        Some(Projected { centre, radius, source, columns, rows })
    }

    /// No point of the ball is nearer than this.
    pub fn nearest_depth(&self) -> f32 {
        self.centre.z - self.radius
    }

    /// Depth of the ball's front at a place on the plane; where the ray misses, that of the rim beside it.
    pub fn depth_at(&self, camera: &Camera, (u, v): (f32, f32)) -> f32 {
        let (middle, half_squared) = chord(camera.perspective, self, u, v);
        middle - half_squared.max(0.0).sqrt()
    }
}

/// Where the two lines through the eye that touch a circle about (x, z) cross the plane at depth 1.
///
/// With s = x / z: (x z ∓ r √(x² + z² − r²)) / (z² − r²).
fn tangents(x: f32, z: f32, r: f32) -> (f32, f32) {
    let reach = r * (x * x + z * z - r * r).max(0.0).sqrt();
    let below = z * z - r * r;
    ((x * z - reach) / below, (x * z + reach) / below)
}

/// The samples whose middles lie between two places, if any is on the raster: first, and one past the last.
fn samples_between((from, to): (f32, f32), count: usize) -> Option<(u16, u16)> {
    let first = (from - 0.5).ceil().max(0.0);
    let end = ((to - 0.5).floor() + 1.0).min(count as f32);
    (first < end).then_some((first as u16, end as u16))
}

/// Depth of the middle of a ray's chord through a ball, and the square of half its extent in depth (negative: a miss).
///
/// The distance of the ray from the centre is measured from the foot of the perpendicular, since b² − ac loses all
/// digits for small far balls (Haines et al., Ray Tracing Gems, ch. 7).
#[inline(always)]
fn chord(perspective: bool, ball: &Projected, u: f32, v: f32) -> (f32, f32) {
    let (c, r) = (ball.centre, ball.radius);
    if perspective {
        let per_length = 1.0 / (u * u + v * v + 1.0);
        let foot = (u * c.x + v * c.y + c.z) * per_length;
        let (x, y, z) = (c.x - foot * u, c.y - foot * v, c.z - foot);
        (foot, (r * r - (x * x + y * y + z * z)) * per_length)
    } else {
        let (x, y) = (c.x - u, c.y - v);
        (c.z, r * r - (x * x + y * y))
    }
}

/// A square of samples.
struct Tile {
    depth: [f32; TILE * TILE],
    ball: [u32; TILE * TILE],
}

/// The nearest thing at each sample.
pub struct Depths {
    across: usize,
    tiles: Vec<Tile>,
}

impl Depths {
    /// Depth of the nearest thing, m, and the index of the ball that is (or [`NOTHING`]).
    pub fn at(&self, x: usize, y: usize) -> (f32, u32) {
        let tile = &self.tiles[(y / TILE) * self.across + x / TILE];
        let place = (y % TILE) * TILE + x % TILE;
        (tile.depth[place], tile.ball[place])
    }
}

/// Balls a batch may have, and entries in the lists of tiles: bounds the memory, and lets tiles close between batches.
const BATCH_BALLS: usize = 1 << 16;
const BATCH_ENTRIES: usize = 1 << 22;

/// Puts balls into a depth buffer that holds `backdrop` (depth at a place on the plane) to begin with.
pub fn splat(camera: &Camera, balls: &[Projected], backdrop: impl Fn((f32, f32)) -> f32 + Sync) -> Depths {
    let (across, down) = (camera.width.div_ceil(TILE), camera.height.div_ceil(TILE));
    let mut tiles: Vec<Tile> = (0..across * down)
        .into_par_iter()
        .map(|tile| {
            let (x0, y0) = ((tile % across) * TILE, (tile / across) * TILE);
            // What hangs over the edge of the raster must not keep a tile open.
            let depth = std::array::from_fn(|place| {
                let (x, y) = (x0 + place % TILE, y0 + place / TILE);
                let inside = x < camera.width && y < camera.height;
                if inside { backdrop(camera.plane(x as f32 + 0.5, y as f32 + 0.5)) } else { 0.0 }
            });
            Tile { depth, ball: [NOTHING; TILE * TILE] }
        })
        .collect();

    // Front to back. Depths are positive, so their bits sort as they do.
    let key =
        |(index, ball): (usize, &Projected)| u64::from(ball.nearest_depth().to_bits()) << 32 | index as u64;
    let mut order: Vec<u64> = balls.par_iter().enumerate().map(key).collect();
    order.par_sort_unstable();

    let mut closed = vec![false; tiles.len()];
    let mut next = 0;
    while next < order.len() {
        // The tiles each ball of the batch touches, side by side in memory.
        let end = (next + BATCH_BALLS).min(order.len());
        let spans: Vec<Span> = order[next..end].par_iter().map(|key| Span::new(*key as u32, balls)).collect();

        // Count what each open tile gets, list it in order, and draw tile by tile.
        let mut starts = vec![0u32; tiles.len() + 1];
        let mut entries = 0;
        let mut taken = 0;
        while taken < spans.len() && entries < BATCH_ENTRIES {
            for tile in spans[taken].tiles(across).filter(|tile| !closed[*tile]) {
                starts[tile + 1] += 1;
                entries += 1;
            }
            taken += 1;
        }
        for tile in 0..tiles.len() {
            starts[tile + 1] += starts[tile];
        }
        let mut filled = starts.clone();
        let mut lists = vec![0u32; entries];
        for span in &spans[..taken] {
            for tile in span.tiles(across).filter(|tile| !closed[*tile]) {
                lists[filled[tile] as usize] = span.ball;
                filled[tile] += 1;
            }
        }
        tiles.par_iter_mut().zip(closed.par_iter_mut()).enumerate().for_each(|(index, (tile, closed))| {
            let list = &lists[starts[index] as usize..starts[index + 1] as usize];
            *closed |= tile.draw(camera, balls, list, (index % across) * TILE, (index / across) * TILE);
        });
        next += taken;
    }
    Depths { across, tiles }
}

/// A ball and the first and last column and row of tiles it touches.
struct Span {
    ball: u32,
    columns: (u16, u16),
    rows: (u16, u16),
}

impl Span {
    fn new(ball: u32, balls: &[Projected]) -> Span {
        let Projected { columns, rows, .. } = &balls[ball as usize];
        let in_tiles = |(first, end): (u16, u16)| (first / TILE as u16, (end - 1) / TILE as u16);
        Span { ball, columns: in_tiles(*columns), rows: in_tiles(*rows) }
    }

    fn tiles(&self, across: usize) -> impl Iterator<Item = usize> + use<> {
        let columns = usize::from(self.columns.0)..=usize::from(self.columns.1);
        let rows = usize::from(self.rows.0)..=usize::from(self.rows.1);
        rows.flat_map(move |row| columns.clone().map(move |column| row * across + column))
    }
}

impl Tile {
    /// Draws the listed balls, nearest first; the tile's first sample is at (x0, y0). Says whether the tile is closed:
    /// nothing that comes later can be seen.
    fn draw(&mut self, camera: &Camera, balls: &[Projected], list: &[u32], x0: usize, y0: usize) -> bool {
        // Looking for the farthest sample costs as much as drawing a tile full: only after several of those.
        let mut samples_until_look = 0i64;
        for index in list {
            let ball = &balls[*index as usize];
            if samples_until_look <= 0 {
                let farthest = self.depth.iter().fold(0.0f32, |most, depth| most.max(*depth));
                if ball.nearest_depth() >= farthest {
                    return true;
                }
                samples_until_look = 2 * (TILE * TILE) as i64;
            }
            samples_until_look -= if camera.perspective {
                self.draw_ball::<true>(camera, ball, *index, x0, y0)
            } else {
                self.draw_ball::<false>(camera, ball, *index, x0, y0)
            };
        }
        false
    }

    /// Says how many samples it looked at.
    fn draw_ball<const PERSPECTIVE: bool>(
        &mut self,
        camera: &Camera,
        ball: &Projected,
        index: u32,
        x0: usize,
        y0: usize,
    ) -> i64 {
        let clip = |(first, end): (u16, u16), from: usize| {
            (first as usize).saturating_sub(from).min(TILE)..(end as usize).saturating_sub(from).min(TILE)
        };
        let (columns, rows) = (clip(ball.columns, x0), clip(ball.rows, y0));
        for row in rows.clone() {
            let v = camera.top - camera.step * ((y0 + row) as f32 + 0.5);
            let places = row * TILE + columns.start..row * TILE + columns.end;
            let depths = &mut self.depth[places.clone()];
            let owners = &mut self.ball[places];
            let first = (x0 + columns.start) as f32 + 0.5;
            for (column, (depth, owner)) in depths.iter_mut().zip(owners).enumerate() {
                let u = camera.left + camera.step * (first + column as f32);
                let (middle, half_squared) = chord(PERSPECTIVE, ball, u, v);
                let front = middle - half_squared.max(0.0).sqrt();
                let wins = half_squared > 0.0 && front < *depth;
                *depth = if wins { front } else { *depth };
                *owner = if wins { index } else { *owner };
            }
        }
        (columns.len() * rows.len()) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera(perspective: bool) -> Camera {
        Camera {
            at: Vec3::ZERO,
            right: Vec3::X,
            up: Vec3::Y,
            forward: -Vec3::Z,
            perspective,
            width: 150,
            height: 100,
            left: -0.75,
            top: 0.5,
            step: 0.01,
        }
    }

    fn cloud(count: usize) -> Vec<(Vec3, f32)> {
        let mut chance = crate::chance::Chance::of([7]);
        let mut random = || chance.unit();
        (0..count)
            .map(|_| {
                let centre = Vec3::new(2.0 * random() - 1.0, 2.0 * random() - 1.0, -1.0 - 2.0 * random());
                (centre, 0.02 + 0.1 * random())
            })
            .collect()
    }

    #[test]
    fn tiles_agree_with_brute_force() {
        for perspective in [true, false] {
            let camera = camera(perspective);
            let balls: Vec<Projected> = cloud(3000)
                .iter()
                .enumerate()
                .filter_map(|(index, (centre, radius))| {
                    Projected::new(&camera, *centre, *radius, 0.0, index as u32)
                })
                .collect();
            let depths = splat(&camera, &balls, |_| 2.5);
            for (x, y) in (0..150).step_by(7).flat_map(|x| (0..100).step_by(3).map(move |y| (x, y))) {
                let (u, v) = camera.plane(x as f32 + 0.5, y as f32 + 0.5);
                let nearest = balls
                    .iter()
                    .filter(|ball| chord(perspective, ball, u, v).1 > 0.0)
                    .map(|ball| ball.depth_at(&camera, (u, v)))
                    .fold(2.5, f32::min);
                assert_eq!(depths.at(x, y).0, nearest, "({x}, {y}) perspective {perspective}");
            }
        }
    }

    #[test]
    fn of_many_balls_over_the_whole_raster_the_nearest_is_seen() {
        // Half a million balls in many batches, each over all six tiles, the nearest last.
        let camera = camera(true);
        let balls: Vec<Projected> = (0..500_000)
            .filter_map(|k| {
                let z = -20.0 + 10.0 * k as f32 / 500_000.0;
                Projected::new(&camera, Vec3::new(0.0, 0.0, z), 9.0, 0.0, k)
            })
            .collect();
        let depths = splat(&camera, &balls, |_| f32::INFINITY);
        assert_eq!(balls[depths.at(75, 50).1 as usize].source, 499_999);
    }
}
