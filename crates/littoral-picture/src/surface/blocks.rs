//! The lattice, in blocks of 8³ points, evaluated only where the surface passes.
//!
//! Blocks near bins that are not deep inside the fluid are evaluated first. A block that was not is taken to be all
//! inside or all outside; whenever a neighbour's points next to it say otherwise, it is evaluated too, until
//! nothing changes. So every edge of the lattice that crosses the surface has both its ends evaluated, and the mesh
//! is closed by construction.

use super::bins::{Bins, Directory, pack, packable, unpack};
use super::fields::{Bell, POINTS, REACH, Rows, SIDE, Shaper};
use super::{Field, Wall};
use glam::{IVec3, Vec3};
use rayon::prelude::*;
use std::collections::HashSet;

/// Lattice points are origin + step · (i, j, k), m.
#[derive(Clone, Copy, Debug)]
pub struct Lattice {
    pub origin: Vec3,
    pub step: Vec3,
}

impl Lattice {
    /// Anchored at the origin of the world, so that frames agree; or at walls along an axis, with steps that fit a
    /// whole number of times between two of them: a mesh that meets a wall at lattice points has a clean rim there.
    pub fn new(cell: f32, walls: &[Wall]) -> Self {
        let mut lattice = Self { origin: Vec3::ZERO, step: Vec3::splat(cell) };
        for axis in 0..3 {
            let along = walls.iter().filter(|wall| wall.normal[axis].abs() > 1.0 - 1e-6);
            let mut planes: Vec<f32> = along.map(|wall| wall.offset * wall.normal[axis].signum()).collect();
            planes.sort_by(f32::total_cmp);
            if let (Some(&first), Some(&last)) = (planes.first(), planes.last()) {
                lattice.origin[axis] = first;
                if last - first > cell {
                    lattice.step[axis] = (last - first) / ((last - first) / cell).round();
                }
            }
        }
        lattice
    }

    pub fn point(&self, at: IVec3) -> Vec3 {
        self.origin + self.step * at.as_vec3()
    }

    /// The block that holds the lattice point at or below a position.
    fn block(&self, position: Vec3) -> IVec3 {
        ((position - self.origin) / (self.step * SIDE as f32)).floor().as_ivec3()
    }
}

/// Values and sides of 8³ lattice points; x runs fastest.
pub struct Block {
    pub at: IVec3,
    /// Field less iso value.
    pub values: Box<[f32; POINTS]>,
    /// One byte for each row of x, one bit for each point that is inside the fluid and not behind a wall.
    pub inside: [u8; SIDE * SIDE],
    /// A wall crosses the block or the cells above it.
    pub walled: bool,
}

pub struct Blocks {
    pub lattice: Lattice,
    /// Sorted by packed coordinates.
    pub blocks: Vec<Block>,
    directory: Directory,
    filled: Filled,
}

/// Blocks that are all inside without having been evaluated.
struct Filled {
    keys: Vec<u64>,
    directory: Directory,
}

impl Blocks {
    pub fn find(&self, at: IVec3) -> Option<&Block> {
        self.directory.find(pack(at)).map(|index| &self.blocks[index])
    }

    pub fn index(&self, at: IVec3) -> Option<usize> {
        self.directory.find(pack(at))
    }

    /// What an unevaluated block is taken for.
    pub fn is_filled(&self, at: IVec3) -> bool {
        self.filled.directory.find(pack(at)).is_some()
    }

    /// Puts fluid wherever the open air cannot get to: floods the air from outside all blocks, first from block to
    /// block where none was evaluated, then from point to point, also across corners; what it does not reach is
    /// taken for fluid. Behind walls is air: a hollow that touches one stays.
    pub fn fill_hollows(&mut self) {
        let outdoors = self.open_blocks();
        let mut open = vec![[0u8; SIDE * SIDE]; self.blocks.len()];
        let mut waiting: Vec<IVec3> = vec![];
        for block in &self.blocks {
            if !around(block.at).any(|at| outdoors.contains(&pack(at))) {
                continue;
            }
            let is_open = |at: IVec3| outdoors.contains(&pack(at.div_euclid(IVec3::splat(SIDE as i32))));
            for (row, bits) in block.inside.iter().enumerate() {
                let points = (0..SIDE).filter(|x| bits >> x & 1 == 0).map(|x| point_at(block.at, row, x));
                waiting.extend(points.filter(|&at| around(at).any(is_open)));
            }
        }
        while let Some(at) = waiting.pop() {
            let home = at.div_euclid(IVec3::splat(SIDE as i32));
            let Some(index) = self.index(home) else { continue };
            let local = at - home * SIDE as i32;
            let (row, bit) = ((local.z * SIDE as i32 + local.y) as usize, 1u8 << local.x);
            if (self.blocks[index].inside[row] | open[index][row]) & bit == 0 {
                open[index][row] |= bit;
                waiting.extend(around(at));
            }
        }
        for (block, open) in self.blocks.iter_mut().zip(&open) {
            for (row, open) in open.iter().enumerate() {
                let hollow = !block.inside[row] & !open;
                block.inside[row] |= hollow;
                for x in (0..SIDE).filter(|x| hollow >> x & 1 == 1) {
                    block.values[row * SIDE + x] = 1.0;
                }
            }
        }
        // Air blocks that nothing reached are fluid now, too.
        let (low, high) = self.bounds();
        let enclosed = boxed(low, high)
            .filter(|&at| self.index(at).is_none() && !self.is_filled(at))
            .map(pack)
            .filter(|key| !outdoors.contains(key));
        let mut keys: Vec<u64> = self.filled.keys.iter().copied().chain(enclosed).collect();
        keys.sort_unstable();
        self.filled = Filled { directory: Directory::new(keys.iter().copied()), keys };
    }

    /// Of all evaluated blocks, and one more to each side.
    fn bounds(&self) -> (IVec3, IVec3) {
        let corners = self
            .blocks
            .iter()
            .fold((IVec3::MAX, IVec3::MIN), |(low, high), block| (low.min(block.at), high.max(block.at)));
        (corners.0 - 1, corners.1 + 1)
    }

    /// Blocks of air, not evaluated, that the open air outside all blocks gets to without passing an evaluated one.
    /// Where an evaluated block lies between, points decide.
    fn open_blocks(&self) -> HashSet<u64> {
        let mut open = HashSet::new();
        if self.blocks.is_empty() {
            return open;
        }
        let (low, high) = self.bounds();
        let mut waiting = vec![low];
        while let Some(at) = waiting.pop() {
            let inside = at.cmpge(low).all() && at.cmple(high).all();
            if inside && self.index(at).is_none() && !self.is_filled(at) && open.insert(pack(at)) {
                waiting.extend(around(at));
            }
        }
        open
    }
}

/// The lattice point at a place in a row of a block.
fn point_at(block: IVec3, row: usize, x: usize) -> IVec3 {
    block * SIDE as i32 + IVec3::new(x as i32, (row % SIDE) as i32, (row / SIDE) as i32)
}

/// What evaluation needs to know.
pub struct Evaluator<'a> {
    bins: &'a Bins,
    shaper: &'a Shaper<'a>,
    lattice: Lattice,
    walls: &'a [Wall],
    field: Field,
    iso: f32,
    /// m.
    spacing: f32,
    /// Bells of each bin, empty until needed.
    bells: Vec<Vec<Bell>>,
}

/// How far from the nearest particle the surface can be, spacings.
const FARTHEST: f32 = 1.25;

impl<'a> Evaluator<'a> {
    pub fn new(
        bins: &'a Bins,
        shaper: &'a Shaper<'a>,
        lattice: Lattice,
        walls: &'a [Wall],
        field: Field,
        iso: f32,
        spacing: f32,
    ) -> Self {
        let bells = vec![vec![]; bins.len()];
        Self { bins, shaper, lattice, walls, field, iso, spacing, bells }
    }

    /// Of each bin near the surface.
    pub fn bells(&self) -> &[Vec<Bell>] {
        &self.bells
    }

    pub fn run(&mut self) -> Blocks {
        let deep = self.deep_bins();
        let mut wanted = self.candidates(&deep);
        let filled = self.filled(&deep, &wanted);
        let mut result = Blocks {
            lattice: self.lattice,
            blocks: vec![],
            directory: Directory::new([].into_iter()),
            filled: Filled { directory: Directory::new(filled.iter().copied()), keys: filled },
        };
        // Filled blocks next to nothing at all: the surface runs between them.
        let exposed = |key: &&u64| {
            let known = |at| wanted.binary_search(&pack(at)).is_ok() || result.is_filled(at);
            !around(unpack(**key)).all(known)
        };
        let exposed: Vec<u64> = result.filled.keys.par_iter().filter(exposed).copied().collect();
        wanted.extend(exposed);
        loop {
            wanted.retain(|&key| !self.behind_a_wall(unpack(key)));
            wanted.par_sort_unstable();
            wanted.dedup();
            if wanted.is_empty() {
                return result;
            }
            let reached = self.shape(&wanted);
            let evaluate = |(&key, reached): (&u64, &Vec<u32>)| self.evaluate(unpack(key), reached);
            result.blocks.par_extend(wanted.par_iter().zip(&reached).map(evaluate));
            result.blocks.sort_unstable_by_key(|block| pack(block.at));
            result.directory = Directory::new(result.blocks.iter().map(|block| pack(block.at)));
            wanted = wanted
                .par_iter()
                .flat_map_iter(|&key| {
                    let block = result.find(unpack(key)).expect("a block just evaluated");
                    disagreeing(block, &result)
                })
                .collect();
        }
    }

    /// Bins surrounded by bins that hold at least half of what they should, and away from walls.
    fn deep_bins(&self) -> Vec<bool> {
        let expected = (self.bins.edge / self.spacing).powi(3);
        let full = |at: IVec3| {
            self.bins.find(at).is_some_and(|bin| self.bins.range(bin).len() as f32 > 0.5 * expected)
        };
        let deep = |bin: usize| {
            let at = self.bins.at(bin);
            let middle = (at.as_vec3() + 0.5) * self.bins.edge;
            full(at) && around(at).all(full) && self.walls.iter().all(|w| w.distance(middle) > self.bins.edge)
        };
        (0..self.bins.len()).into_par_iter().map(deep).collect()
    }

    /// Blocks within reach of what the shallow bins hold.
    fn candidates(&self, deep: &[bool]) -> Vec<u64> {
        let shallow = |bin: usize| {
            let sites = &self.bins.sites[self.bins.range(bin)];
            let (low, high) = sites.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), site| {
                (low.min(site.position), high.max(site.position))
            });
            let grow = FARTHEST * self.spacing;
            // The cells of a block reach one step above its points.
            let (low, high) =
                (self.lattice.block(low - grow - self.lattice.step), self.lattice.block(high + grow));
            boxed(low, high).map(pack)
        };
        let shallow_bins = (0..self.bins.len()).into_par_iter().filter(|&bin| !deep[bin]);
        let mut keys: Vec<u64> = shallow_bins.flat_map_iter(shallow).collect();
        keys.par_sort_unstable();
        keys.dedup();
        keys
    }

    /// Other blocks that touch deep bins.
    fn filled(&self, deep: &[bool], candidates: &[u64]) -> Vec<u64> {
        let touched = |bin: usize| {
            let low = self.bins.at(bin).as_vec3() * self.bins.edge;
            boxed(self.lattice.block(low), self.lattice.block(low + self.bins.edge)).map(pack)
        };
        let deep_bins = (0..self.bins.len()).into_par_iter().filter(|&bin| deep[bin]);
        let mut keys: Vec<u64> =
            deep_bins.flat_map_iter(touched).filter(|key| candidates.binary_search(key).is_err()).collect();
        keys.par_sort_unstable();
        keys.dedup();
        keys
    }

    /// Lowest and highest lattice point of a block, m.
    fn bounds(&self, at: IVec3) -> (Vec3, Vec3) {
        let first = at * SIDE as i32;
        (self.lattice.point(first), self.lattice.point(first + (SIDE as i32 - 1)))
    }

    fn behind_a_wall(&self, at: IVec3) -> bool {
        let (low, high) = self.bounds(at);
        // The cells of a block reach one step above its points.
        let high = high + self.lattice.step;
        self.walls.iter().any(|wall| wall.highest(low, high) < -wall_tolerance(&self.lattice))
            || !packable(at.as_vec3())
    }

    /// Bins within reach of each block; they have bells from now on.
    fn shape(&mut self, blocks: &[u64]) -> Vec<Vec<u32>> {
        let reached = |&key: &u64| {
            let (low, high) = self.bounds(unpack(key));
            let grow = REACH * self.spacing;
            self.bins.touching(low - grow, high + grow).map(|bin| bin as u32).collect()
        };
        let lists: Vec<Vec<u32>> = blocks.par_iter().map(reached).collect();
        let mut needed = vec![false; self.bins.len()];
        for &bin in lists.iter().flatten() {
            needed[bin as usize] = true;
        }
        let shaper = self.shaper;
        let bare =
            self.bells.par_iter_mut().enumerate().filter(|(bin, bells)| needed[*bin] && bells.is_empty());
        bare.for_each(|(bin, bells)| *bells = shaper.bells(bin));
        lists
    }

    fn evaluate(&self, at: IVec3, reached: &[u32]) -> Block {
        let (low, high) = self.bounds(at);
        let rows = Rows { origin: low, step: self.lattice.step };
        let nearby = reached.iter().flat_map(|&bin| &self.bells[bin as usize]);
        let values = if self.field == Field::ZhuBridson {
            rows.mean_position(&nearby.copied().collect::<Vec<_>>(), self.iso, self.spacing)
        } else {
            let mut values = Box::new([-self.iso; POINTS]);
            nearby.for_each(|bell| rows.add(bell, &mut values));
            values
        };
        let mut inside = [0; SIDE * SIDE];
        for (row, bits) in inside.iter_mut().enumerate() {
            for x in 0..SIDE {
                *bits |= ((values[row * SIDE + x] > 0.0) as u8) << x;
            }
        }
        let walled = self
            .walls
            .iter()
            .any(|wall| wall.lowest(low, high + self.lattice.step) < self.lattice.step.max_element());
        if walled {
            let tolerance = wall_tolerance(&self.lattice);
            for (row, bits) in inside.iter_mut().enumerate() {
                for x in 0..SIDE {
                    let point = low
                        + self.lattice.step
                            * IVec3::new(x as i32, (row % SIDE) as i32, (row / SIDE) as i32).as_vec3();
                    if self.walls.iter().any(|wall| wall.distance(point) < -tolerance) {
                        *bits &= !(1 << x);
                    }
                }
            }
        }
        Block { at, values, inside, walled }
    }
}

/// Points nearer to a wall than this lie on it, m.
pub fn wall_tolerance(lattice: &Lattice) -> f32 {
    2e-3 * lattice.step.min_element()
}

fn boxed(low: IVec3, high: IVec3) -> impl Iterator<Item = IVec3> {
    (low.z..=high.z).flat_map(move |z| {
        (low.y..=high.y).flat_map(move |y| (low.x..=high.x).map(move |x| IVec3::new(x, y, z)))
    })
}

/// The 26 neighbours.
fn around(at: IVec3) -> impl Iterator<Item = IVec3> {
    boxed(at - 1, at + 1).filter(move |&other| other != at)
}

/// Neighbours that are not evaluated, but next to points that contradict what they are taken for.
fn disagreeing(block: &Block, blocks: &Blocks) -> Vec<u64> {
    let all_in = block.inside.iter().all(|&bits| bits == 0xff);
    let all_out = block.inside.iter().all(|&bits| bits == 0);
    let disagrees = |&at: &IVec3| {
        if blocks.index(at).is_some() {
            return false;
        }
        let filled = blocks.is_filled(at);
        if (all_in && filled) || (all_out && !filled) {
            return false;
        }
        // Points next to the neighbour: the first or last layer along each axis on which it differs.
        let step = at - block.at;
        let layer = |step: i32| match step {
            -1 => 0..1,
            1 => SIDE - 1..SIDE,
            _ => 0..SIDE,
        };
        let touching = |y: usize, z: usize, x: usize| (block.inside[z * SIDE + y] >> x & 1 == 1) != filled;
        layer(step.z).any(|z| layer(step.y).any(|y| layer(step.x).any(|x| touching(y, z, x))))
    };
    around(block.at).filter(disagrees).map(pack).collect()
}
