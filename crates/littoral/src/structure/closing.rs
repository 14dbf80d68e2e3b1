//! How fast nodes may come together: a bound for steps in which no pair meets that nobody looks at.
//!
//! The fastest node of a flapping cloth moves with all those around it; the difference is what counts. Space is cut into cells
//! of twice the reach. Every node enters those that the box of one reach around it overlaps, so that any two within a reach of
//! each other are in one cell together; a cell keeps the box of its velocities, whose diagonal bounds all differences.

use glam::{IVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::nodes::GONE;

/// Velocities of the nodes in a cell.
#[derive(Clone, Copy)]
struct Cell {
    at: IVec3,
    lowest: Vec3,
    highest: Vec3,
}

const EMPTY: Cell = Cell { at: IVec3::MAX, lowest: Vec3::INFINITY, highest: Vec3::NEG_INFINITY };

/// Cells by where they are: open addressing. One that is too full knows nothing.
#[derive(Default)]
struct Table {
    slots: Vec<Cell>,
    /// Slots that are not empty: a few nodes do not pay for a table that many would need.
    used: Vec<u32>,
}

impl Table {
    fn clear(&mut self, size: usize) {
        self.slots.resize(size, EMPTY);
        self.used.drain(..).for_each(|k| self.slots[k as usize] = EMPTY);
    }

    fn is_full(&self) -> bool {
        4 * self.used.len() > 3 * self.slots.len()
    }

    fn add(&mut self, cell: Cell) {
        if self.is_full() {
            return;
        }
        let mask = self.slots.len() - 1;
        let mixed = |k: i32, prime: u32| (k as u32).wrapping_mul(prime);
        let hash = mixed(cell.at.x, 0x9E37_79B1)
            ^ mixed(cell.at.y, 0x85EB_CA77).rotate_left(11)
            ^ mixed(cell.at.z, 0xC2B2_AE3D).rotate_left(22);
        let mut k = (hash ^ (hash >> 15)) as usize & mask;
        while self.slots[k].at != cell.at && self.slots[k].at != EMPTY.at {
            k = (k + 1) & mask;
        }
        let slot = &mut self.slots[k];
        if slot.at == EMPTY.at {
            self.used.push(k as u32);
        }
        slot.at = cell.at;
        slot.lowest = slot.lowest.min(cell.lowest);
        slot.highest = slot.highest.max(cell.highest);
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.used.iter().map(|&k| &self.slots[k as usize])
    }
}

/// Tables, kept from step to step.
#[derive(Default)]
pub struct Closing {
    pieces: Vec<Table>,
    all: Table,
}

/// Nodes that share a table before all are joined.
const PIECE: usize = 4096;
const PIECE_SLOTS: usize = 1024;
const ALL_SLOTS: usize = 16384;

impl Closing {
    /// A bound on the difference in velocity, m/s, of any two nodes within `reach`, m. Velocities are those of the nodes;
    /// positions stand in the rows.
    pub fn bound(
        &mut self,
        reach: f32,
        velocity: impl Fn(usize) -> Vec3 + Sync,
        rows: &[u32],
        position: &[Vec4],
    ) -> f32 {
        let per_cell = 0.5 / reach;
        self.pieces.resize_with(rows.len().div_ceil(PIECE), Table::default);
        self.pieces.par_iter_mut().zip(rows.par_chunks(PIECE)).enumerate().for_each(
            |(piece, (table, rows))| {
                table.clear(PIECE_SLOTS);
                for (k, &row) in rows.iter().enumerate().filter(|(_, row)| **row != GONE) {
                    let velocity = velocity(piece * PIECE + k);
                    let at = position[row as usize].truncate();
                    let first = ((at - 0.5 * reach) * per_cell).floor().as_ivec3();
                    let last = ((at + 0.5 * reach) * per_cell).floor().as_ivec3();
                    for x in first.x..=last.x {
                        for y in first.y..=last.y {
                            for z in first.z..=last.z {
                                table.add(Cell {
                                    at: IVec3::new(x, y, z),
                                    lowest: velocity,
                                    highest: velocity,
                                });
                            }
                        }
                    }
                }
            },
        );
        self.all.clear(ALL_SLOTS);
        self.pieces.iter().flat_map(Table::cells).for_each(|cell| self.all.add(*cell));
        if self.all.is_full() || self.pieces.iter().any(Table::is_full) {
            return f32::INFINITY;
        }
        self.all.cells().map(|cell| cell.highest.distance(cell.lowest)).fold(0.0, f32::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_nodes_are_compared_and_far_ones_are_not() {
        let mut closing = Closing::default();
        let rows = [0, 1, 2];
        let speed = |k: usize| Vec3::X * [1.0, 2.5, 100.0][k];
        // Anywhere on the cells' grid.
        for shift in 0..50 {
            let at = |x: f32| Vec4::new(x + 0.13 * shift as f32, -0.07 * shift as f32, 0.0, 0.0);
            let mut bound = |far: f32| closing.bound(0.5, speed, &rows, &[at(0.0), at(0.45), at(far)]);
            assert_eq!(bound(3.0), 1.5);
            // The first and the third may share a cell, or not.
            assert!([97.5, 99.0].contains(&bound(0.9)));
        }
    }

    #[test]
    fn what_does_not_fit_is_not_bounded() {
        let mut closing = Closing::default();
        let count = 2000;
        let position: Vec<Vec4> = (0..count).map(|k| Vec4::new(10.0 * k as f32, 0.0, 0.0, 0.0)).collect();
        let rows: Vec<u32> = (0..count).collect();
        assert_eq!(closing.bound(1.0, |_| Vec3::ZERO, &rows, &position), f32::INFINITY);
    }
}
