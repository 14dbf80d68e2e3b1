//! Which points are near a place: a uniform grid of cells, in a hash table, so that stray points cost nothing.
//!
//! Cells along x lie side by side in the table: a search reads nine short runs of memory. Rows of cells that share
//! slots are told apart by a number of their own. The order of visits depends on the points alone.
//! The surface has bins of its own, which hold images behind walls and are walked bin by bin.
//! Kept honest by `finds_what_brute_force_finds`.

use glam::{IVec3, Vec3};
use rayon::prelude::*;

/// Points in cells as wide as the largest radius one may ask for.
pub struct Nearby {
    reach: f32,
    cells_per_metre: f32,
    mask: u32,
    /// Slot s holds `points[starts[s]..starts[s + 1]]`.
    starts: Vec<u32>,
    /// Sorted by slot, and by index in a slot.
    points: Vec<Vec3>,
    indices: Vec<u32>,
    /// The row of cells that each point lies in.
    rows: Vec<u32>,
}

/// A point found: its index in the slice the grid was made from, and its squared distance in m².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    pub index: usize,
    pub squared_distance: f32,
}

impl Nearby {
    /// `reach`: the largest radius of a search, m, above 0.
    pub fn new(points: &[Vec3], reach: f32) -> Nearby {
        assert!(reach > 0.0 && reach.is_finite(), "a search needs a radius above 0, not {reach}");
        let slots = (2 * points.len()).next_power_of_two().max(16);
        let mut nearby = Nearby {
            reach,
            // A hair wider than the reach: rounding must not hide a point at the very edge.
            cells_per_metre: 1.0 / (reach * 1.0001),
            mask: (slots - 1) as u32,
            starts: vec![0; slots + 1],
            points: vec![Vec3::ZERO; points.len()],
            indices: vec![0; points.len()],
            rows: vec![0; points.len()],
        };

        // Counting sort by slot; stable, so that points of a slot keep their order.
        let cells: Vec<IVec3> = points.par_iter().map(|&p| nearby.cell(p)).collect();
        for &cell in &cells {
            let slot = nearby.slot(cell.x, row(cell.y, cell.z)) as usize;
            nearby.starts[slot + 1] += 1;
        }
        for slot in 0..slots {
            nearby.starts[slot + 1] += nearby.starts[slot];
        }
        let mut next = nearby.starts.clone();
        for (index, cell) in cells.iter().enumerate() {
            let row = row(cell.y, cell.z);
            let slot = nearby.slot(cell.x, row) as usize;
            let place = next[slot] as usize;
            next[slot] += 1;
            nearby.points[place] = points[index];
            nearby.indices[place] = index as u32;
            nearby.rows[place] = row;
        }
        nearby
    }

    fn cell(&self, point: Vec3) -> IVec3 {
        floor(point * self.cells_per_metre)
    }

    fn slot(&self, x: i32, row: u32) -> u32 {
        row.wrapping_add(x as u32) & self.mask
    }

    /// Visits every point at most `radius` from `at`; `radius` is at most the grid's reach.
    #[inline]
    pub fn within(&self, at: Vec3, radius: f32, visit: impl FnMut(Found)) {
        debug_assert!(radius <= self.reach);
        self.search(at, radius, 1, visit);
    }

    /// The point nearest to `at`, of equals the first, if one is at most `reaches` times the grid's reach away.
    pub fn nearest(&self, at: Vec3, reaches: u32) -> Option<Found> {
        (1..=reaches as i32).find_map(|ring| {
            let mut best: Option<Found> = None;
            self.search(at, self.reach * ring as f32, ring, |found| {
                let rank = |f: &Found| (f.squared_distance, f.index);
                if best.is_none_or(|best| rank(&found) < rank(&best)) {
                    best = Some(found);
                }
            });
            best
        })
    }

    /// Points at most `radius` from `at`, where `ring` cells on each side cover the radius.
    #[inline]
    fn search(&self, at: Vec3, radius: f32, ring: i32, mut visit: impl FnMut(Found)) {
        debug_assert!(ring <= 7, "a run of cells must not be longer than the smallest table");
        let centre = self.cell(at);
        let squared_radius = radius * radius;
        for z in -ring..=ring {
            for y in -ring..=ring {
                let row = row(centre.y.wrapping_add(y), centre.z.wrapping_add(z));
                let mut look = |first: u32, last: u32| {
                    let run = self.starts[first as usize] as usize..self.starts[last as usize + 1] as usize;
                    for place in run {
                        let squared_distance = self.points[place].distance_squared(at);
                        if squared_distance <= squared_radius && self.rows[place] == row {
                            visit(Found { index: self.indices[place] as usize, squared_distance });
                        }
                    }
                };
                let first = self.slot(centre.x.wrapping_sub(ring), row);
                let last = (first + 2 * ring as u32) & self.mask;
                if first <= last {
                    look(first, last);
                } else {
                    look(first, self.mask);
                    look(0, last);
                }
            }
        }
    }
}

/// A number for the row of cells along x at y and z. Two rows of one search never share it: that would take
/// a·73856093 + b·19349663 = 0 modulo 2³² for |a|, |b| < 15, and these are primes whose multiples stay below 2³².
fn row(y: i32, z: i32) -> u32 {
    (y as u32).wrapping_mul(73_856_093).wrapping_add((z as u32).wrapping_mul(19_349_663))
}

/// Rounds down. Without the instruction for it, which not every x86-64 has, `f32::floor` is a call.
pub(crate) fn floor(v: Vec3) -> IVec3 {
    let axis = |x: f32| {
        let towards_zero = x as i32;
        towards_zero.wrapping_sub((towards_zero as f32 > x) as i32)
    };
    IVec3::new(axis(v.x), axis(v.y), axis(v.z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    #[test]
    fn floor_rounds_down() {
        for x in [-2.0, -1.5, -1e-9, 0.0, 0.5, 1.0, 2.999, -7e8] {
            assert_eq!(floor(Vec3::splat(x)), Vec3::splat(x).floor().as_ivec3());
        }
    }

    #[test]
    fn finds_what_brute_force_finds() {
        let mut chance = Chance::of([7]);
        for (count, size) in [(0, 1.0), (1, 1.0), (5, 0.1), (700, 1.0), (700, 4.0), (300, 1e4)] {
            let mut points: Vec<Vec3> = (0..count).map(|_| size * chance.in_ball()).collect();
            // A point twice, one far away, one that is no number.
            points.extend(points.last().copied());
            points.push(Vec3::splat(1e9));
            points.push(Vec3::NAN);
            let reach = 0.3;
            let nearby = Nearby::new(&points, reach);
            for k in 0..200 {
                let at = if k % 2 == 0 { points[k % points.len()] } else { size * chance.in_ball() };
                for radius in [0.0, 0.17, reach] {
                    let mut found = Vec::new();
                    nearby.within(at, radius, |f| found.push(f.index));
                    found.sort();
                    let near = |&i: &usize| points[i].distance_squared(at) <= radius * radius;
                    assert_eq!(found, (0..points.len()).filter(near).collect::<Vec<_>>());
                }
                let nearest = (0..points.len())
                    .map(|index| Found { index, squared_distance: points[index].distance_squared(at) })
                    .filter(|f| f.squared_distance <= (2.0 * reach) * (2.0 * reach))
                    .min_by(|a, b| a.squared_distance.total_cmp(&b.squared_distance));
                assert_eq!(nearby.nearest(at, 2), nearest);
            }
        }
    }
}
