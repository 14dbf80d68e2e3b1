//! Who is near whom: particles sorted into cells, then lists.
//!
//! Cells are as wide as the longest reach, so that neighbours lie in the 3 × 3 (× 3) cells around a particle.
//! A stable counting sort puts the particles of a cell, and the cells of a row, next to each other: nine
//! ranges hold all candidates, each is swept eight at a time, and no cell has a limit.
//!
//! Two particles are neighbours when |x_i − x_j| < max(h_i, h_j), so that lists are symmetric for any mix of
//! support radii [Lenaerts2009, 3.4] and hold every pair that any mean of the two reaches. A particle is its own neighbour: density needs it, and every force
//! vanishes at distance zero.
//!
//! Lists reach a little further than needed (the *skin*), and are used again until some particle may have
//! moved through half of it. The grid covers the particles' bounding box; where that would take too many
//! cells (a drop that fell for a minute), outliers are filed in the outermost cells. Filing by a clamped cell
//! keeps every pair of neighbours at most one cell apart, so the search stays exact, in unbounded domains too.
//!
//! Kept honest by brute force, in the tests.

use fearless_simd::u32x8;
use glam::Vec4;
use rayon::prelude::*;

use crate::simd::*;
use crate::walls::Walls;

/// Lengths after which space repeats, m; zero along axes where it does not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Periods {
    pub min: [f32; 3],
    pub length: [f32; 3],
}

impl Periods {
    pub fn any(&self) -> bool {
        self.length.iter().any(|&l| l > 0.0)
    }

    /// A difference of places, to the nearest image.
    pub fn nearest(&self, mut x: Vec4) -> Vec4 {
        for axis in (0..3).filter(|&axis| self.length[axis] > 0.0) {
            x[axis] -= self.length[axis] * (x[axis] / self.length[axis]).round();
        }
        x
    }
}

/// Particles of one set, sorted into cells.
#[derive(Default)]
struct Grid {
    min: [f32; 3],
    per_cell: [f32; 3],
    cells: [usize; 3],
    /// First slot of each cell, and the number of slots at the end.
    starts: Vec<u32>,
    /// Particle in each slot.
    order: Vec<u32>,
    /// Positions and reaches by slot, with a block of padding so that whole blocks can be loaded.
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    reach: Vec<f32>,
    /// Longest support of those who look for neighbours here, where that may be longer than any in the grid, m.
    asked: f32,
    /// Longest reach of anyone, here or looking for neighbours here, m.
    widest: f32,
    /// Corners of the box that holds all positions.
    low: [f32; 3],
    high: [f32; 3],
    // Scratch of the sort.
    cell_of: Vec<u32>,
    counts: Vec<u32>,
}

/// Lists of neighbours, as compressed rows in chunks that threads fill independently.
pub struct Neighbourhood {
    particles: Grid,
    /// Samples that never move, and those that do.
    walls: Grid,
    moving: Grid,
    walls_filed: bool,
    moving_filed: bool,
    chunks: Vec<Chunk>,
    /// Wall samples that press back and have particles nearby, and the lists of those particles.
    near_walls: Vec<u32>,
    wall_chunks: Vec<Chunk>,
    len: usize,
    wall_count: usize,
    /// Extra reach of the lists, as a fraction of the reach.
    pub skin: f32,
    /// How far particles may still move before the lists are out of date, m.
    pub slack: f32,
    pub rebuilds: u64,
    /// Lists made since particles last stood in the order of their cells.
    pub since_reorder: u32,
}

/// Particles in a chunk of lists: enough to keep a thread busy for some 100 µs.
const CHUNK: usize = 1024;

/// Lists of a particle: its neighbours among particles, among samples that stay, among samples that move.
const PARTS: usize = 3;

/// Entries that a chunk's lists grow by.
const ROOM: usize = 1024;

#[derive(Default)]
struct Chunk {
    /// Where each list starts; a particle has several.
    starts: Vec<u32>,
    /// Always a block longer than used, so that whole blocks can be loaded.
    list: Vec<u32>,
}

/// Neighbours of one particle; at least a block of readable entries follows `count`.
#[derive(Clone, Copy)]
pub struct List<'a> {
    entries: &'a [u32],
    count: usize,
}

impl<'a> List<'a> {
    pub fn as_slice(&self) -> &'a [u32] {
        &self.entries[..self.count]
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of blocks of eight, the last of which may be partial.
    #[inline(always)]
    pub fn blocks(&self) -> usize {
        self.count.div_ceil(LANES)
    }

    /// Entries of block `b`, and how many of them count. The rest of a partial block names row 0, so that all
    /// eight can be loaded; `tail` is where such a block is put together.
    #[inline(always)]
    pub fn block<'t>(&'t self, b: usize, tail: &'t mut [u32; LANES]) -> (&'t [u32; LANES], usize) {
        let block = self.entries[b * LANES..].first_chunk().expect("lists end in a block of padding");
        let count = self.count - b * LANES;
        if count >= LANES {
            return (block, LANES);
        }
        for (k, entry) in tail.iter_mut().enumerate() {
            *entry = block[k] & TAIL[count][k];
        }
        (tail, count)
    }
}

/// All bits for the lanes that count.
const TAIL: [[u32; LANES]; LANES] = {
    let mut masks = [[0; LANES]; LANES];
    let mut count = 0;
    while count < LANES {
        let mut k = 0;
        while k < count {
            masks[count][k] = u32::MAX;
            k += 1;
        }
        count += 1;
    }
    masks
};

impl Default for Neighbourhood {
    fn default() -> Self {
        Neighbourhood {
            particles: Grid::default(),
            walls: Grid::default(),
            moving: Grid::default(),
            walls_filed: false,
            moving_filed: false,
            chunks: Vec::new(),
            near_walls: Vec::new(),
            wall_chunks: Vec::new(),
            len: 0,
            wall_count: 0,
            skin: 0.0,
            slack: -1.0,
            rebuilds: 0,
            since_reorder: u32::MAX,
        }
    }
}

impl Neighbourhood {
    /// Sorts particles into cells. The lists are not made yet: particles may first be put in that order.
    pub fn sort(&mut self, positions: &[Vec4], support: &[f32], skin: f32, periods: &Periods) {
        self.skin = skin;
        self.particles.file(positions, support, 1.0 + skin, periods);
    }

    /// Order of the last sort: particle in each slot.
    pub fn order(&self) -> &[u32] {
        &self.particles.order
    }

    /// Tells that the particles now stand in the order of the last sort.
    pub fn particles_were_reordered(&mut self) {
        self.since_reorder = 0;
        let grid = &mut self.particles;
        let (cell_of, order) = (&grid.cell_of, &grid.order);
        let sorted: Vec<u32> = order.iter().map(|&i| cell_of[i as usize]).collect();
        grid.cell_of = sorted;
        grid.order.iter_mut().enumerate().for_each(|(slot, i)| *i = slot as u32);
    }

    /// Tells that there are other wall samples than before.
    pub fn walls_changed(&mut self) {
        (self.walls_filed, self.moving_filed) = (false, false);
    }

    /// Tells that those wall samples moved that may.
    pub fn walls_moved(&mut self) {
        self.moving_filed = false;
    }

    /// Makes the lists of all particles, from the last sort.
    pub fn build(&mut self, positions: &[Vec4], support: &[f32], walls: &Walls, periods: &Periods) {
        let (wall_places, wall_support) = (&walls.place[..], &walls.support[..]);
        assert_eq!(self.particles.order.len(), positions.len(), "sort comes before build");
        let fixed = walls.fixed;
        if !self.walls_filed || self.walls.order.len() != fixed {
            // The skin of the walls' grid is the largest one in use, so that it need not be filed again.
            self.walls.asked = walls.reach;
            self.walls.file(&wall_places[..fixed], &wall_support[..fixed], 1.0 + MAX_SKIN, periods);
            self.walls.release_scratch();
            self.walls_filed = true;
        }
        if !self.moving_filed || self.moving.order.len() != wall_places.len() - fixed {
            self.moving.asked = walls.reach;
            self.moving.file(&wall_places[fixed..], &wall_support[fixed..], 1.0 + MAX_SKIN, periods);
            self.moving.order.iter_mut().for_each(|sample| *sample += fixed as u32);
            self.moving_filed = true;
        }
        self.rebuilds += 1;
        self.since_reorder = self.since_reorder.saturating_add(1);
        self.len = positions.len();
        self.wall_count = wall_places.len();
        let stretch = 1.0 + self.skin;
        let (particles, wall_grid, moving) = (&self.particles, &self.walls, &self.moving);
        self.chunks.resize_with(positions.len().div_ceil(CHUNK), Chunk::default);
        let level = Level::new();
        self.chunks.par_iter_mut().enumerate().for_each(|(c, chunk)| {
            let range = c * CHUNK..((c + 1) * CHUNK).min(positions.len());
            let points = range.map(|i| (positions[i], support[i]));
            dispatch!(level, simd => {
                chunk.fill(simd, points, stretch, &[particles, wall_grid, moving], periods);
            });
        });
        let point = |sample: u32| (wall_places[sample as usize], wall_support[sample as usize]);
        let near = |&sample: &u32| {
            let (at, support) = point(sample);
            !particles.order.is_empty() && !particles.out_of_reach(at, support * stretch, periods)
        };
        self.near_walls.clear();
        self.near_walls.extend(walls.pressing.iter().copied().filter(near));
        let near_walls = &self.near_walls;
        self.wall_chunks.resize_with(near_walls.len().div_ceil(CHUNK), Chunk::default);
        self.wall_chunks.par_iter_mut().zip(near_walls.par_chunks(CHUNK)).for_each(|(chunk, samples)| {
            let points = samples.iter().map(|&sample| point(sample));
            dispatch!(level, simd => chunk.fill(simd, points, stretch, &[particles], periods));
        });
        let shortest = support.par_iter().with_min_len(65536).copied().reduce(|| f32::INFINITY, f32::min);
        // Two particles may approach each other, so each may use half of the skin.
        self.slack = 0.5 * self.skin * shortest.min(f32::MAX);
    }

    /// Neighbours among the particles, itself included.
    #[inline(always)]
    pub fn particles(&self, i: usize) -> List<'_> {
        self.chunks[i / CHUNK].lists(PARTS * (i % CHUNK), 1)
    }

    /// Neighbours among the wall samples.
    #[inline(always)]
    pub fn walls(&self, i: usize) -> List<'_> {
        self.chunks[i / CHUNK].lists(PARTS * (i % CHUNK) + 1, 2)
    }

    /// Wall samples that press back and may have particles nearby.
    pub fn near_walls(&self) -> &[u32] {
        &self.near_walls
    }

    /// Neighbours among the particles of the k-th of [`Neighbourhood::near_walls`].
    #[inline(always)]
    pub fn of_near_wall(&self, k: usize) -> List<'_> {
        self.wall_chunks[k / CHUNK].lists(k % CHUNK, 1)
    }

    /// Numbers of particles and of wall samples that entries of the lists may name.
    pub fn bounds(&self) -> (usize, usize) {
        (self.len, self.wall_count)
    }

    /// Entries of all lists.
    pub fn pairs(&self) -> usize {
        self.chunks.iter().map(|c| c.starts.last().map_or(0, |&end| end as usize)).sum()
    }

    /// Memory of the particles' lists and cells, bytes.
    pub fn particle_bytes(&self) -> usize {
        self.chunks.iter().map(Chunk::bytes).sum::<usize>() + self.particles.bytes()
    }

    /// The same for the wall samples.
    pub fn wall_bytes(&self) -> usize {
        let lists: usize = self.wall_chunks.iter().map(Chunk::bytes).sum();
        lists + 4 * self.near_walls.capacity() + self.walls.bytes() + self.moving.bytes()
    }
}

/// Largest skin ever chosen, as a fraction of the reach. A periodic axis must be three times as long as the
/// stretched reach.
pub const MAX_SKIN: f32 = 0.2;

impl Chunk {
    fn bytes(&self) -> usize {
        4 * (self.list.capacity() + self.starts.capacity())
    }

    /// `count` lists that follow each other, as one.
    #[inline(always)]
    fn lists(&self, at: usize, count: usize) -> List<'_> {
        let (start, end) = (self.starts[at] as usize, self.starts[at + count] as usize);
        List { entries: &self.list[start..], count: end - start }
    }

    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        points: impl Iterator<Item = (Vec4, f32)>,
        stretch: f32,
        grids: &[&Grid],
        periods: &Periods,
    ) {
        let mut end = 0;
        self.starts.clear();
        self.starts.push(0);
        for (at, support) in points {
            for grid in grids {
                grid.neighbours(simd, at, support * stretch, stretch, periods, &mut self.list, &mut end);
                self.starts.push(end as u32);
            }
        }
        // Blocks are read whole: keep a block of valid entries behind the last one.
        self.list.truncate(end);
        self.list.resize(end + LANES, 0);
        // Give back what a list will hardly need again.
        if self.list.capacity() > end + end / 4 + ROOM {
            self.list.shrink_to(end + ROOM);
        }
    }
}

impl Grid {
    /// Sorts particles into cells at least as wide as `stretch` times the longest support.
    fn file(&mut self, positions: &[Vec4], support: &[f32], stretch: f32, periods: &Periods) {
        if positions.is_empty() {
            self.order.clear();
            return;
        }
        self.lay_out(positions, support, stretch, periods);
        self.count_sort(positions);
        let n = positions.len();
        for column in [&mut self.x, &mut self.y, &mut self.z, &mut self.reach] {
            column.resize(n + LANES, f32::MAX);
        }
        let order = &self.order;
        let columns = (&mut self.x[..n], &mut self.y[..n], &mut self.z[..n], &mut self.reach[..n]);
        columns.into_par_iter().with_min_len(8192).zip(order).for_each(|((x, y, z, h), &i)| {
            let p = positions[i as usize];
            (*x, *y, *z, *h) = (p.x, p.y, p.z, support[i as usize]);
        });
    }

    /// Chooses the cells: the bounding box, or less where that would be mostly empty space.
    fn lay_out(&mut self, positions: &[Vec4], support: &[f32], stretch: f32, periods: &Periods) {
        let widest =
            support.par_iter().with_min_len(65536).copied().reduce(|| self.asked, f32::max) * stretch;
        self.widest = widest;
        // A particle on the edge of its cell must not miss a neighbour through rounding.
        let width = (widest * 1.0001).max(f32::MIN_POSITIVE);
        let (low, high) = bounding_box(positions);
        (self.low, self.high) = (low, high);
        let budget = 4.0 * positions.len() as f64 + 65536.0;
        let mut box_ = [low, high];
        let cells_along = |box_: &[[f32; 3]; 2], width: f32, a: usize| -> f64 {
            if periods.length[a] > 0.0 {
                // With fewer than three cells, the one before and the one after would be the same.
                return f64::from((periods.length[a] / width).floor().max(3.0));
            }
            f64::from((box_[1][a] - box_[0][a]) / width).floor() + 1.0
        };
        let total =
            |box_: &[[f32; 3]; 2], width: f32| (0..3).map(|a| cells_along(box_, width, a)).product::<f64>();
        if total(&box_, width) > budget {
            box_ = trimmed_box(positions);
        }
        // Still too many (matter in far-apart places): wider cells, which only means more candidates.
        let mut width = width;
        while total(&box_, width) > budget {
            width *= 1.25;
        }
        for a in 0..3 {
            self.cells[a] = cells_along(&box_, width, a) as usize;
            (self.min[a], self.per_cell[a]) = if periods.length[a] > 0.0 {
                (periods.min[a], self.cells[a] as f32 / periods.length[a])
            } else {
                (box_[0][a], 1.0 / width)
            };
        }
    }

    #[inline(always)]
    fn cell(&self, p: Vec4) -> [usize; 3] {
        let along = |a: usize, x: f32| {
            // Casts saturate: NaN and outliers on either side land in a valid cell.
            (((x - self.min[a]) * self.per_cell[a]) as usize).min(self.cells[a] - 1)
        };
        [along(0, p.x), along(1, p.y), along(2, p.z)]
    }

    /// Stable counting sort by cell: the result is the same for any number of threads.
    fn count_sort(&mut self, positions: &[Vec4]) {
        let n = positions.len();
        let cells: usize = self.cells.iter().product();
        let mut cell_of = std::mem::take(&mut self.cell_of);
        cell_of.resize(n, 0);
        cell_of.par_iter_mut().with_min_len(8192).zip(positions).for_each(|(cell, &p)| {
            let [x, y, z] = self.cell(p);
            *cell = ((z * self.cells[1] + y) * self.cells[0] + x) as u32;
        });

        // Each part counts its own particles; a running sum over cells, then parts, gives every part its places.
        let parts = rayon::current_num_threads().min(n / 16384 + 1);
        let part_len = n.div_ceil(parts).max(1);
        self.counts.clear();
        self.counts.resize(parts * cells, 0);
        self.counts.par_chunks_mut(cells).zip(cell_of.par_chunks(part_len)).for_each(|(counts, cell_of)| {
            cell_of.iter().for_each(|&cell| counts[cell as usize] += 1);
        });
        self.starts.resize(cells + 1, 0);
        let mut next = 0;
        for cell in 0..cells {
            self.starts[cell] = next;
            for part in 0..parts {
                let count = &mut self.counts[part * cells + cell];
                (*count, next) = (next, next + *count);
            }
        }
        self.starts[cells] = next;

        self.order.resize(n, 0);
        let order = Scatter(self.order.as_mut_ptr());
        self.counts.par_chunks_mut(cells).zip(cell_of.par_chunks(part_len)).enumerate().for_each(
            |(part, (places, cell_of))| {
                for (k, &cell) in cell_of.iter().enumerate() {
                    let place = &mut places[cell as usize];
                    // SAFETY: the running sum gives every particle a place of its own, below n.
                    unsafe { order.write(*place as usize, (part * part_len + k) as u32) };
                    *place += 1;
                }
            },
        );
        self.cell_of = cell_of;
    }

    /// Appends the neighbours of a point to `list` at `end`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn neighbours<S: Simd>(
        &self,
        simd: S,
        at: Vec4,
        reach: f32,
        stretch: f32,
        periods: &Periods,
        list: &mut Vec<u32>,
        end: &mut usize,
    ) {
        if self.order.is_empty() || self.out_of_reach(at, reach, periods) {
            return;
        }
        let [cx, cy, cz] = self.cell(at);
        let edge = self.cells[0] - 1;
        // Along x, cells beyond a periodic edge are a range of their own.
        let length = periods.length[0];
        let wrapped = (length > 0.0 && (cx == 0 || cx == edge)).then_some(if cx == 0 {
            (edge, length)
        } else {
            (0, -length)
        });
        for dz in -1..=1 {
            let Some((z, shift_z)) = self.beside(2, cz, dz, periods) else { continue };
            for dy in -1..=1 {
                let Some((y, shift_y)) = self.beside(1, cy, dy, periods) else { continue };
                let row = (z * self.cells[1] + y) * self.cells[0];
                let from = [at.x, at.y + shift_y, at.z + shift_z];
                let slots = self.slots(row + cx.saturating_sub(1), row + (cx + 1).min(edge));
                self.sweep(simd, slots, from, reach, stretch, list, end);
                if let Some((cell, shift_x)) = wrapped {
                    let slots = self.slots(row + cell, row + cell);
                    self.sweep(simd, slots, [at.x + shift_x, from[1], from[2]], reach, stretch, list, end);
                }
            }
        }
    }

    /// Whether a point is too far from all positions to have neighbours: true for most wall samples.
    #[inline(always)]
    fn out_of_reach(&self, at: Vec4, reach: f32, periods: &Periods) -> bool {
        let reach = reach.max(self.widest);
        (0..3).any(|a| {
            periods.length[a] == 0.0 && (at[a] + reach < self.low[a] || at[a] - reach > self.high[a])
        })
    }

    /// Slots of the cells `first` to `last` of a row.
    #[inline(always)]
    fn slots(&self, first: usize, last: usize) -> std::ops::Range<usize> {
        self.starts[first] as usize..self.starts[last + 1] as usize
    }

    /// The cell beside `cell` along y or z, and how far to shift a point so that it is near it.
    #[inline(always)]
    fn beside(&self, axis: usize, cell: usize, step: i32, periods: &Periods) -> Option<(usize, f32)> {
        let cells = self.cells[axis] as i32;
        let next = cell as i32 + step;
        if (0..cells).contains(&next) {
            return Some((next as usize, 0.0));
        }
        let length = periods.length[axis];
        (length > 0.0).then(|| if next < 0 { ((cells - 1) as usize, length) } else { (0, -length) })
    }

    /// Tests eight slots at a time and appends those within reach.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn sweep<S: Simd>(
        &self,
        simd: S,
        slots: std::ops::Range<usize>,
        from: [f32; 3],
        reach: f32,
        stretch: f32,
        list: &mut Vec<u32>,
        end: &mut usize,
    ) {
        let from = Lanes3::splat(simd, from);
        let own = splat(simd, reach);
        let room = *end + slots.len() + LANES;
        if list.len() < room {
            // By small amounts, not by doubling: lists are most of the memory of a run.
            if list.capacity() < room {
                list.reserve_exact(room + ROOM - list.len());
            }
            list.resize(room, 0);
        }
        let mut slot = slots.start;
        while slot < slots.end {
            let at = Lanes3 {
                x: Lanes::from_slice(simd, &self.x[slot..slot + LANES]),
                y: Lanes::from_slice(simd, &self.y[slot..slot + LANES]),
                z: Lanes::from_slice(simd, &self.z[slot..slot + LANES]),
            };
            let d = from - at;
            let reach = own.max(Lanes::from_slice(simd, &self.reach[slot..slot + LANES]) * stretch);
            let near = d.dot(d).simd_lt(reach * reach) & first(simd, slots.end - slot);
            let indices = u32x8::from_slice(simd, &padded(&self.order, slot));
            indices.compress(near).store_slice(&mut list[*end..*end + LANES]);
            *end += near.to_bitmask().count_ones() as usize;
            slot += LANES;
        }
    }

    /// Gives back what only sorting needs, for a set that is sorted once.
    fn release_scratch(&mut self) {
        self.cell_of = Vec::new();
        self.counts = Vec::new();
    }

    fn bytes(&self) -> usize {
        4 * (self.starts.capacity()
            + self.order.capacity()
            + self.x.capacity() * 4
            + self.cell_of.capacity()
            + self.counts.capacity())
    }
}

/// Eight entries from `slot` on, zeros past the end.
#[inline(always)]
fn padded(order: &[u32], slot: usize) -> [u32; LANES] {
    match order.get(slot..slot + LANES) {
        Some(block) => block.try_into().expect("a block"),
        None => std::array::from_fn(|k| order.get(slot + k).copied().unwrap_or(0)),
    }
}

/// A place to scatter to from several threads; sound because no two writes share a place.
struct Scatter(*mut u32);
// SAFETY: the sort hands every place to one thread only.
unsafe impl Sync for Scatter {}
impl Scatter {
    /// # Safety
    /// `place` is inside the allocation, and no other thread touches it.
    #[inline(always)]
    unsafe fn write(&self, place: usize, value: u32) {
        // SAFETY: the caller's promise.
        unsafe { *self.0.add(place) = value };
    }
}

pub(crate) fn bounding_box(positions: &[Vec4]) -> ([f32; 3], [f32; 3]) {
    let nothing = (Vec4::MAX, Vec4::MIN);
    let (low, high) = positions
        .par_iter()
        .with_min_len(16384)
        .fold(|| nothing, |(low, high), &p| (low.min(p), high.max(p)))
        .reduce(|| nothing, |a, b| (a.0.min(b.0), a.1.max(b.1)));
    ([low.x, low.y, low.z], [high.x, high.y, high.z])
}

/// The box without the outermost half percent of particles on each end of each axis.
pub(crate) fn trimmed_box(positions: &[Vec4]) -> [[f32; 3]; 2] {
    let mut box_ = [[0.0; 3]; 2];
    let cut = positions.len() / 200;
    let mut values = Vec::with_capacity(positions.len());
    for axis in 0..3 {
        values.clear();
        values.extend(positions.iter().map(|p| p[axis]));
        box_[0][axis] = *values.select_nth_unstable_by(cut, f32::total_cmp).1;
        box_[1][axis] = *values.select_nth_unstable_by(positions.len() - 1 - cut, f32::total_cmp).1;
    }
    box_
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Repeatable numbers in [0, 1).
    fn numbers(mut state: u64) -> impl FnMut() -> f32 {
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f32 / (1u64 << 24) as f32
        }
    }

    fn cloud(n: usize, size: [f32; 3], seed: u64) -> Vec<Vec4> {
        let mut next = numbers(seed);
        (0..n).map(|_| Vec4::new(size[0] * next(), size[1] * next(), size[2] * next(), 0.0)).collect()
    }

    fn brute_force(from: Vec4, reach: f32, others: &[Vec4], reaches: &[f32], periods: &Periods) -> Vec<u32> {
        let distance2 = |a: Vec4, b: Vec4| -> f32 {
            (0..3)
                .map(|k| {
                    let d = a[k] - b[k];
                    let l = periods.length[k];
                    let d = if l > 0.0 { d - l * (d / l).round() } else { d };
                    d * d
                })
                .sum()
        };
        (0..others.len() as u32)
            .filter(|&j| {
                let reach = reach.max(reaches[j as usize]);
                distance2(from, others[j as usize]) < reach * reach
            })
            .collect()
    }

    fn check(positions: &[Vec4], support: &[f32], walls: &[Vec4], skin: f32, periods: Periods) {
        let wall_support = vec![0.1; walls.len()];
        let samples = Walls {
            place: walls.to_vec(),
            support: wall_support.clone(),
            pressing: (0..walls.len() as u32).collect(),
            fixed: walls.len() / 2,
            reach: support.iter().copied().fold(0.0, f32::max),
            ..Walls::default()
        };
        let mut n = Neighbourhood::default();
        n.sort(positions, support, skin, &periods);
        n.build(positions, support, &samples, &periods);
        let stretched = |v: &[f32]| v.iter().map(|h| h * (1.0 + skin)).collect::<Vec<_>>();
        let (support, wall_support) = (stretched(support), stretched(&wall_support));
        let sorted = |list: List| {
            let mut found = list.as_slice().to_vec();
            found.sort_unstable();
            found
        };
        for (i, &at) in positions.iter().enumerate() {
            assert_eq!(sorted(n.particles(i)), brute_force(at, support[i], positions, &support, &periods));
            assert_eq!(sorted(n.walls(i)), brute_force(at, support[i], walls, &wall_support, &periods));
        }
        let mut seen_from_walls = 0;
        for (k, &sample) in n.near_walls().iter().enumerate() {
            let (at, reach) = (walls[sample as usize], wall_support[sample as usize]);
            assert_eq!(sorted(n.of_near_wall(k)), brute_force(at, reach, positions, &support, &periods));
            seen_from_walls += n.of_near_wall(k).len();
        }
        // Nobody is seen by a wall sample that is not on the list.
        assert_eq!(seen_from_walls, (0..positions.len()).map(|i| n.walls(i).len()).sum::<usize>());
    }

    #[test]
    fn finds_what_brute_force_finds() {
        let walls = cloud(300, [1.0, 0.05, 1.0], 9);
        check(&cloud(1500, [1.0, 1.0, 1.0], 1), &vec![0.1; 1500], &walls, 0.0, Periods::default());
        check(&cloud(1500, [1.0, 1.0, 0.0], 2), &vec![0.1; 1500], &[], 0.15, Periods::default());
    }

    #[test]
    fn searches_by_the_larger_of_two_supports() {
        let mut next = numbers(7);
        let support: Vec<f32> = (0..1200).map(|_| if next() < 0.1 { 0.2 } else { 0.07 }).collect();
        let walls = cloud(300, [1.0, 0.05, 1.0], 9);
        check(&cloud(1200, [1.0, 1.0, 1.0], 3), &support, &walls, 0.1, Periods::default());
    }

    #[test]
    fn wraps_around_periodic_axes() {
        for axes in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]] {
            let periods = Periods { min: [0.0; 3], length: axes };
            check(&cloud(1000, [1.0, 1.0, 1.0], 4), &vec![0.12; 1000], &[], 0.1, periods);
        }
    }

    #[test]
    fn unbounded_and_crowded_places_are_no_problem() {
        // Two clusters a kilometre apart, stray drops far away, and 300 particles in one cell.
        let mut positions = cloud(400, [1.0, 1.0, 1.0], 5);
        positions
            .extend(cloud(400, [1.0, 1.0, 1.0], 6).iter().map(|p| *p + Vec4::new(1000.0, 0.0, 0.0, 0.0)));
        positions.extend(cloud(20, [1e5, 1e5, 1e5], 7));
        positions.extend(cloud(300, [0.05, 0.05, 0.05], 8));
        check(&positions, &vec![0.1; positions.len()], &[], 0.0, Periods::default());
    }

    #[test]
    fn thread_count_does_not_change_the_order() {
        let positions = cloud(50_000, [1.0, 1.0, 1.0], 11);
        let support = vec![0.05; positions.len()];
        let order = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut n = Neighbourhood::default();
                n.sort(&positions, &support, 0.1, &Periods::default());
                n.order().to_vec()
            })
        };
        assert_eq!(order(1), order(2));
        assert_eq!(order(1), order(8));
    }

    #[test]
    fn nothing_at_all_is_fine() {
        check(&[], &[], &[], 0.0, Periods::default());
    }
}
