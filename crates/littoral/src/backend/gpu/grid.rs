//! Where the cells lie, and wall samples in them.
//!
//! As in `neighbourhood.rs`, but laid out once a frame: the box holds every particle that does not get further
//! than its speed now would take it. Outliers are filed in the outermost cells, which keeps the search exact.

use bytemuck::{Pod, Zeroable};
use glam::Vec4;

use super::program::{SCAN_GROUP_SIZE, SCAN_ROWS};
use crate::neighbourhood::{Periods, bounding_box, trimmed_box};
use crate::scene::{Domain, Side};
use crate::walls::Walls;

/// As `Grid` in `grid.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct GridRow {
    pub low: [f32; 3],
    pub blocks: u32,
    pub per_cell: [f32; 3],
    pub unused: u32,
    pub cells: [u32; 3],
    pub unused2: u32,
    pub width: [f32; 3],
    pub unused3: u32,
}

/// Cells that one workgroup of the scan takes.
pub(super) const CELLS_IN_BLOCK: u32 = SCAN_GROUP_SIZE * SCAN_ROWS * 4;

/// Most cells worth having, on a device that binds at most so many bytes: more are mostly empty.
pub(super) fn cell_budget(count: usize, largest_binding: u64) -> u64 {
    (8 * count as u64 + 65536).min(largest_binding / 4 - 2 * u64::from(CELLS_IN_BLOCK))
}

impl GridRow {
    /// At most `budget` cells, of which `per_reach` hold a distance of `reach` along each axis, for these
    /// positions, give or take `margin`.
    pub fn lay_out(
        positions: &[Vec4],
        reach: f32,
        per_reach: [u32; 3],
        budget: u64,
        margin: f32,
        domain: &Domain,
        periods: &Periods,
    ) -> GridRow {
        // A particle on the edge of its cell must not miss a neighbour through rounding.
        let mut reach = (reach * 1.0001).max(f32::MIN_POSITIVE);
        let (low, high) = bounding_box(positions);
        let mut box_ = grown([low, high], margin, domain);
        let budget = budget as f64;
        let along = |box_: &[[f32; 3]; 2], reach: f32, a: usize| -> f64 {
            let width = reach / per_reach[a] as f32;
            if periods.length[a] > 0.0 {
                // With fewer cells, the first and the last that a search visits would be the same.
                let fewest = (2 * per_reach[a] + 1) as f32;
                return f64::from((periods.length[a] / width).floor().max(fewest));
            }
            f64::from((box_[1][a] - box_[0][a]) / width).floor() + 1.0
        };
        let total = |box_: &[[f32; 3]; 2], reach: f32| (0..3).map(|a| along(box_, reach, a)).product::<f64>();
        if total(&box_, reach) > budget {
            box_ = grown(trimmed_box(positions), margin, domain);
        }
        // Still too many (matter in far-apart places): wider cells, which only means more candidates.
        while total(&box_, reach) > budget {
            reach *= 1.25;
        }
        let cells = [0, 1, 2].map(|a| along(&box_, reach, a) as u32);
        let periodic = |a: usize| periods.length[a] > 0.0;
        let width = [0, 1, 2].map(|a| {
            if periodic(a) { periods.length[a] / cells[a] as f32 } else { reach / per_reach[a] as f32 }
        });
        GridRow {
            low: [0, 1, 2].map(|a| if periodic(a) { periods.min[a] } else { box_[0][a] }),
            per_cell: width.map(|width| 1.0 / width),
            cells,
            width,
            // One more than there are cells: the end of the last one is looked up too.
            blocks: (cells.iter().product::<u32>() + 1).div_ceil(CELLS_IN_BLOCK),
            unused: 0,
            unused2: 0,
            unused3: 0,
        }
    }

    fn cell(&self, p: Vec4) -> [u32; 3] {
        [0, 1, 2].map(|a| (((p[a] - self.low[a]) * self.per_cell[a]).max(0.0) as u32).min(self.cells[a] - 1))
    }

    fn index(&self, [x, y, z]: [u32; 3]) -> usize {
        ((z * self.cells[1] + y) * self.cells[0] + x) as usize
    }
}

/// The box with a margin, but not past the domain's walls: nothing gets there.
fn grown(box_: [[f32; 3]; 2], margin: f32, domain: &Domain) -> [[f32; 3]; 2] {
    let [mut low, mut high] = box_;
    for a in 0..3 {
        (low[a], high[a]) = (low[a] - margin, high[a] + margin);
        if domain.sides[a][0] == Side::Wall {
            low[a] = low[a].max(domain.min[a] as f32);
        }
        if domain.sides[a][1] == Side::Wall {
            high[a] = high[a].min(domain.max[a] as f32);
        }
        high[a] = high[a].max(low[a]);
    }
    [low, high]
}

/// Wall samples in the order of their cells.
pub(super) struct FiledWalls {
    pub grid: GridRow,
    /// First sample of each cell, with [`NEAR_WALL`] where samples may be within reach.
    pub starts: Vec<u32>,
    pub place: Vec<Vec4>,
    pub motion: Vec<Vec4>,
    pub face: Vec<Vec4>,
    pub share: Vec<f32>,
}

const NEAR_WALL: u32 = 1 << 31;

impl FiledWalls {
    pub fn new(walls: &Walls, support: f32, domain: &Domain, periods: &Periods) -> FiledWalls {
        // Samples lie behind the walls, so the domain must not cut them off.
        let open = Domain { sides: [[Side::Open; 2]; 3], ..*domain };
        let budget = 8 * walls.len() as u64 + 65536;
        let grid = GridRow::lay_out(&walls.place, support, [1; 3], budget, 0.0, &open, periods);
        let cell_of: Vec<usize> = walls.place.iter().map(|&p| grid.index(grid.cell(p))).collect();
        let mut order: Vec<u32> = (0..walls.len() as u32).collect();
        order.sort_by_key(|&i| cell_of[i as usize]);

        let cells = grid.cells.iter().product::<u32>() as usize;
        let mut starts = vec![0u32; cells + 1];
        cell_of.iter().for_each(|&cell| starts[cell + 1] += 1);
        (0..cells).for_each(|cell| starts[cell + 1] += starts[cell]);
        mark_neighbours(&grid, periods, &mut starts);
        let sorted = |rows: &[Vec4]| order.iter().map(|&i| rows[i as usize]).collect();
        let (place, motion, face) = (sorted(&walls.place), sorted(&walls.motion), sorted(&walls.face));
        let share = order.iter().map(|&i| walls.share[i as usize]).collect();
        FiledWalls { grid, starts, place, motion, face, share }
    }
}

/// Sets the flag of every cell that has samples in it or beside it.
fn mark_neighbours(grid: &GridRow, periods: &Periods, starts: &mut [u32]) {
    let count = |cell: usize, starts: &[u32]| (starts[cell + 1] & !NEAR_WALL) - (starts[cell] & !NEAR_WALL);
    let beside = |cell: u32, step: i32, a: usize| -> Option<u32> {
        let (next, cells) = (cell as i32 + step, grid.cells[a] as i32);
        if periods.length[a] > 0.0 {
            return Some(next.rem_euclid(cells) as u32);
        }
        (0..cells).contains(&next).then_some(next as u32)
    };
    for z in 0..grid.cells[2] {
        for y in 0..grid.cells[1] {
            for x in 0..grid.cells[0] {
                let near = (0..27).any(|k| {
                    let step = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
                    let cell = (beside(x, step[0], 0), beside(y, step[1], 1), beside(z, step[2], 2));
                    let (Some(x), Some(y), Some(z)) = cell else { return false };
                    count(grid.index([x, y, z]), starts) > 0
                });
                if near {
                    starts[grid.index([x, y, z])] |= NEAR_WALL;
                }
            }
        }
    }
}
