//! Who already stands where a particle is about to be born.
//!
//! Particles near an emitter are filed in a grid of cells as wide as the clearance, each cell a linked list: a
//! newborn is checked against the 3 × 3 (× 3) cells around it, and filed in turn, so that newborns keep their
//! distance from each other too. Kept honest by brute force, in the tests.

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use crate::neighbourhood::Periods;

/// More cells than this are not worth having: cells grow instead.
const MOST_CELLS: f64 = 4e6;

/// Marks the end of a cell's list.
const NOBODY: u32 = u32::MAX;

/// Particles inside a box, for questions of who is near.
pub struct Crowd {
    min: DVec3,
    width: DVec3,
    cells: [usize; 3],
    first: Vec<u32>,
    next: Vec<u32>,
    places: Vec<DVec3>,
    clearance: f64,
}

impl Crowd {
    /// Files all particles that come within `clearance` of the box from `min` to `max`.
    pub fn near(positions: &[Vec4], periods: &Periods, min: DVec3, max: DVec3, clearance: f64) -> Crowd {
        let (min, max) = (min - clearance, max + clearance);
        let size = max - min;
        let per_cell = (size.x * size.y * size.z / MOST_CELLS).cbrt().max(clearance);
        let cells = (size / per_cell).floor().max(DVec3::ONE);
        let count = [cells.x as usize, cells.y as usize, cells.z as usize];
        let mut crowd = Crowd {
            min,
            width: size / cells,
            cells: count,
            first: vec![NOBODY; count.iter().product()],
            next: Vec::new(),
            places: Vec::new(),
            clearance,
        };
        let inside = |p: &DVec3| p.cmpge(min).all() && p.cmple(max).all();
        let shifts = images(periods);
        let found: Vec<DVec3> = positions
            .par_iter()
            .with_min_len(8192)
            .flat_map_iter(|p| {
                let p = p.truncate().as_dvec3();
                shifts.iter().map(move |shift| p + shift).filter(inside)
            })
            .collect();
        found.into_iter().for_each(|place| crowd.join(place));
        crowd
    }

    /// Whether nobody is closer than the clearance.
    pub fn has_room_at(&self, place: DVec3) -> bool {
        let cell = self.cell(place);
        let near = |axis: usize| cell[axis].saturating_sub(1)..=(cell[axis] + 1).min(self.cells[axis] - 1);
        for z in near(2) {
            for y in near(1) {
                for x in near(0) {
                    let mut other = self.first[self.index([x, y, z])];
                    while other != NOBODY {
                        if self.places[other as usize].distance_squared(place) < self.clearance.powi(2) {
                            return false;
                        }
                        other = self.next[other as usize];
                    }
                }
            }
        }
        true
    }

    /// From now on, somebody stands there.
    pub fn join(&mut self, place: DVec3) {
        let index = self.index(self.cell(place));
        self.next.push(self.first[index]);
        self.first[index] = self.places.len() as u32;
        self.places.push(place);
    }

    fn cell(&self, place: DVec3) -> [usize; 3] {
        let at = (place - self.min) / self.width;
        // Whoever stands outside is filed in the outermost cell: neighbours stay at most one cell apart.
        std::array::from_fn(|axis| (at[axis].max(0.0) as usize).min(self.cells[axis] - 1))
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.cells[1] + y) * self.cells[0] + x
    }
}

/// Displacements under which space repeats, the zero one first.
fn images(periods: &Periods) -> Vec<DVec3> {
    let mut shifts = vec![DVec3::ZERO];
    for axis in (0..3).filter(|&axis| periods.length[axis] > 0.0) {
        let length = f64::from(periods.length[axis]);
        for sign in [-1.0, 1.0] {
            let mut shift = DVec3::ZERO;
            shift[axis] = sign * length;
            // Corners: what was shifted along the axes before is shifted along this one too.
            let before: Vec<DVec3> = shifts.iter().copied().filter(|s| s[axis] == 0.0).collect();
            shifts.extend(before.into_iter().map(|s| s + shift));
        }
    }
    shifts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::uniform;

    #[test]
    fn answers_like_brute_force() {
        let point = |seed: u64, i: u32| DVec3::from_array([0, 1, 2].map(|axis| uniform(seed, i, axis)));
        let positions: Vec<Vec4> = (0..400).map(|i| point(1, i).as_vec3().extend(0.0)).collect();
        let periods = Periods { min: [0.0; 3], length: [1.0, 0.0, 1.0] };
        let (min, max) = (DVec3::splat(0.2), DVec3::new(1.0, 0.9, 1.0));
        let mut crowd = Crowd::near(&positions, &periods, min, max, 0.08);
        let mut all: Vec<DVec3> = Vec::new();
        for p in &positions {
            for shift in [-1.0, 0.0, 1.0] {
                for other in [-1.0, 0.0, 1.0] {
                    all.push(p.truncate().as_dvec3() + DVec3::new(shift, 0.0, other));
                }
            }
        }
        let mut free = 0;
        for i in 0..500 {
            let place = min + (max - min) * point(2, i);
            let expected = all.iter().all(|other| other.distance_squared(place) >= 0.08f64.powi(2));
            assert_eq!(crowd.has_room_at(place), expected, "{place}");
            if expected {
                free += 1;
                crowd.join(place);
                all.push(place);
            }
        }
        assert!(free > 10, "the test is not about nothing");
    }
}
