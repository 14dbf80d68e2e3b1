//! A net of springs as a few patches: what carries a pull across many springs at once.
//!
//! Conjugate gradients carry a pull from node to node, one spring in each iteration: where a hundred springs hang on each
//! other, a hundred iterations are needed. With P the patch that each node is in, the preconditioner
//!
//!   D⁻¹ + P (Pᵀ A P)⁻¹ Pᵀ
//!
//! moves whole patches at once by solving the small system of their mean motions, and leaves to the iterations, with the blocks D of
//! the diagonal, what is within a patch [Nicolaides1987]. After a last x += P (Pᵀ A P)⁻¹ Pᵀ r, the residual of each patch adds up to nothing: its
//! momentum is right, however early the iterations have stopped.

use std::collections::VecDeque;

use glam::{DVec3, DVec4, Vec4};
use rayon::prelude::*;

use super::skyline::Skyline;

/// Nodes of a patch, at least; and how many patches there should be.
const LEAST: usize = 48;
const MOST_PATCHES: usize = 160;

/// Nodes in patches, and the system of the patches.
#[derive(Default)]
pub struct Patches {
    /// Patch of each node.
    of: Vec<u32>,
    /// Nodes of each patch, one patch after the other, and where they start.
    nodes: Vec<u32>,
    starts: Vec<u32>,
    /// Springs between patches, their ends, and which pair of patches they join.
    crossing: Vec<(u32, [u32; 2], u32)>,
    /// Those pairs, the higher patch first.
    pairs: Vec<[u32; 2]>,
    /// Sums of the springs' matrices: of each patch, then of each pair.
    blocks: Vec<Block>,
    system: Skyline,
    sums: Vec<DVec3>,
    rows: Vec<f64>,
    /// How patches move, m/s.
    moves: Vec<Vec4>,
}

impl Patches {
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Of so many nodes, joined by springs.
    pub fn new(count: usize, springs: &[[u32; 2]]) -> Patches {
        let graph = Graph::new(count, springs);
        let (of, patches) = graph.patches(LEAST.max(count / MOST_PATCHES));
        let mut starts = vec![0u32; patches + 1];
        of.iter().for_each(|&patch| starts[patch as usize + 1] += 1);
        for patch in 0..patches {
            starts[patch + 1] += starts[patch];
        }
        let mut nodes: Vec<u32> = (0..count as u32).collect();
        nodes.sort_by_key(|&node| of[node as usize]);
        let patch = |node: u32| of[node as usize];
        let joined = |ends: &[u32; 2]| {
            let [a, b] = ends.map(patch);
            [a.max(b), a.min(b)]
        };
        let all = springs.iter().enumerate().map(|(k, ends)| (k as u32, *ends, joined(ends)));
        let crossing: Vec<_> = all.filter(|(_, _, [high, low])| high != low).collect();
        let mut pairs: Vec<[u32; 2]> = crossing.iter().map(|(_, _, pair)| *pair).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let place = |pair: [u32; 2]| pairs.binary_search(&pair).expect("it is among them") as u32;
        let crossing = crossing.into_iter().map(|(spring, ends, pair)| (spring, ends, place(pair))).collect();
        let mut first: Vec<u32> = (0..patches as u32).collect();
        for &[high, low] in &pairs {
            first[high as usize] = first[high as usize].min(low);
        }
        let system = Skyline::new(first.iter().flat_map(|first| [3 * first; 3]));
        Patches {
            of,
            nodes,
            starts,
            crossing,
            blocks: vec![Block::default(); patches + pairs.len()],
            pairs,
            system,
            sums: vec![DVec3::ZERO; patches],
            rows: vec![0.0; 3 * patches],
            moves: vec![Vec4::ZERO; patches],
        }
    }

    /// Takes up the matrix A: masses, kg, and for each spring a + s sᵀ as (s, a). `around` tells the springs at a node, each with its
    /// other end. Nodes that are held do not move.
    pub fn set<'a, I>(&mut self, mass: &[f32], is_held: &[bool], stiff: &[Vec4], around: impl Fn(usize) -> I)
    where
        I: Iterator<Item = (u32, u32)> + 'a,
    {
        self.system.clear();
        let Patches { of, nodes, starts, crossing, pairs, blocks, system, .. } = self;
        let count = starts.len() - 1;
        blocks.fill(Block::default());
        for &(spring, [a, b], pair) in &*crossing {
            let own = block(stiff[spring as usize]);
            let is_free = [a, b].map(|end| !is_held[end as usize]);
            if is_free[0] {
                add(&mut blocks[of[a as usize] as usize], &own);
            }
            if is_free[1] {
                add(&mut blocks[of[b as usize] as usize], &own);
            }
            if is_free == [true, true] {
                add(&mut blocks[count + pair as usize], &own);
            }
        }
        // Springs from a held node into its own patch.
        for held in (0..of.len()).filter(|&node| is_held[node]) {
            for (spring, partner) in around(held) {
                if of[partner as usize] == of[held] && !is_held[partner as usize] {
                    add(&mut blocks[of[held] as usize], &block(stiff[spring as usize]));
                }
            }
        }
        for (patch, block) in blocks[..count].iter().enumerate() {
            let own = &nodes[starts[patch] as usize..starts[patch + 1] as usize];
            let free = own.iter().filter(|&&node| !is_held[node as usize]);
            let sum: f64 = free.map(|&node| f64::from(mass[node as usize])).sum();
            for i in 0..3 {
                for j in 0..=i {
                    *system.at(3 * patch + i, 3 * patch + j) = block[ENTRY[i][j]];
                }
                // A patch of held nodes has no equation.
                *system.at(3 * patch + i, 3 * patch + i) += if sum > 0.0 { sum } else { 1.0 };
            }
        }
        for (&[high, low], block) in pairs.iter().zip(&blocks[count..]) {
            for (i, entries) in ENTRY.iter().enumerate() {
                for (j, &entry) in entries.iter().enumerate() {
                    *system.at(3 * high as usize + i, 3 * low as usize + j) = -block[entry];
                }
            }
        }
        system.factor();
    }

    /// Finds how patches move for a residual; returns the residual times these moves.
    pub fn solve(&mut self, residual: &[Vec4], is_held: &[bool]) -> f64 {
        let Patches { nodes, starts, system, sums, rows, moves, .. } = self;
        sums.par_iter_mut().with_min_len(16).enumerate().for_each(|(patch, sum)| {
            let own = &nodes[starts[patch] as usize..starts[patch + 1] as usize];
            let free = own.iter().filter(|&&node| !is_held[node as usize]);
            let sum4: DVec4 = free.map(|&node| residual[node as usize].as_dvec4()).sum();
            *sum = sum4.truncate();
        });
        rows.chunks_exact_mut(3).zip(&*sums).for_each(|(row, sum)| row.copy_from_slice(&sum.to_array()));
        system.solve(rows);
        let moved = |row: &[f64]| Vec4::new(row[0] as f32, row[1] as f32, row[2] as f32, 0.0);
        moves.iter_mut().zip(rows.chunks_exact(3)).for_each(|(moves, row)| *moves = moved(row));
        sums.iter().zip(&*moves).map(|(sum, moves)| sum.dot(moves.truncate().as_dvec3())).sum()
    }

    /// How patches move, m/s, and which one each node moves with.
    pub fn moves(&self) -> (&[Vec4], &[u32]) {
        (&self.moves, &self.of)
    }
}

/// A symmetric matrix of 3 × 3: xx, xy, yy, xz, yz, zz.
type Block = [f64; 6];

/// Where in a block each entry of the matrix is.
const ENTRY: [[usize; 3]; 3] = [[0, 1, 3], [1, 2, 4], [3, 4, 5]];

/// a + s sᵀ of a spring (s, a).
fn block(stiff: Vec4) -> Block {
    let [x, y, z, w] = stiff.to_array();
    [x * x + w, x * y, y * y + w, x * z, y * z, z * z + w].map(f64::from)
}

fn add(to: &mut Block, block: &Block) {
    to.iter_mut().zip(block).for_each(|(to, value)| *to += value);
}

/// Who is joined with whom.
struct Graph {
    starts: Vec<u32>,
    around: Vec<u32>,
}

impl Graph {
    fn new(count: usize, springs: &[[u32; 2]]) -> Graph {
        let mut starts = vec![0u32; count + 1];
        springs.iter().flatten().for_each(|&node| starts[node as usize + 1] += 1);
        for node in 0..count {
            starts[node + 1] += starts[node];
        }
        let mut filled = starts.clone();
        let mut around = vec![0u32; 2 * springs.len()];
        for &[a, b] in springs {
            for (node, other) in [(a, b), (b, a)] {
                let slot = &mut filled[node as usize];
                around[*slot as usize] = other;
                *slot += 1;
            }
        }
        Graph { starts, around }
    }

    fn neighbours(&self, node: u32) -> &[u32] {
        &self.around[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    /// The patch of each node, and their number. Each grows around the first node that is left, breadth first, so
    /// that patches with near numbers are near each other; what is left over in between joins a patch beside it.
    fn patches(&self, size: usize) -> (Vec<u32>, usize) {
        const NONE: u32 = u32::MAX;
        let count = self.starts.len() - 1;
        let (mut of, mut patches) = (vec![NONE; count], 0);
        let mut queue = VecDeque::new();
        let mut own = Vec::new();
        for seed in self.breadth_first() {
            if of[seed as usize] != NONE {
                continue;
            }
            own.clear();
            queue.clear();
            queue.push_back(seed);
            of[seed as usize] = patches;
            while let Some(node) = queue.pop_front() {
                own.push(node);
                for &other in self.neighbours(node) {
                    if of[other as usize] == NONE && own.len() + queue.len() < size {
                        of[other as usize] = patches;
                        queue.push_back(other);
                    }
                }
            }
            let beside = own.iter().flat_map(|&node| self.neighbours(node)).map(|&node| of[node as usize]);
            let beside = beside.filter(|&patch| patch != NONE && patch != patches).max();
            match beside {
                Some(beside) if 3 * own.len() < size => {
                    own.iter().for_each(|&node| of[node as usize] = beside);
                }
                _ => patches += 1,
            }
        }
        (of, patches as usize)
    }

    /// Nodes breadth first, from the far end of whatever they are part of: fronts are short from there.
    fn breadth_first(&self) -> Vec<u32> {
        let count = self.starts.len() - 1;
        let walk = |first: u32, seen: &mut Vec<bool>, found: &mut Vec<u32>| {
            let mut queue = VecDeque::from([first]);
            seen[first as usize] = true;
            while let Some(node) = queue.pop_front() {
                found.push(node);
                for &other in self.neighbours(node) {
                    if !std::mem::replace(&mut seen[other as usize], true) {
                        queue.push_back(other);
                    }
                }
            }
        };
        let (mut order, mut seen, mut tried) =
            (Vec::with_capacity(count), vec![false; count], vec![false; count]);
        for node in 0..count as u32 {
            if !seen[node as usize] {
                let mut part = Vec::new();
                walk(node, &mut tried, &mut part);
                walk(*part.last().expect("the first at least"), &mut seen, &mut order);
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_cover_a_grid() {
        let (rows, columns) = (60u32, 70u32);
        let node = |row: u32, column: u32| row * columns + column;
        let mut springs = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                if column + 1 < columns {
                    springs.push([node(row, column), node(row, column + 1)]);
                }
                if row + 1 < rows {
                    springs.push([node(row, column), node(row + 1, column)]);
                }
            }
        }
        let patches = Patches::new((rows * columns) as usize, &springs);
        let sizes: Vec<u32> = patches.starts.windows(2).map(|two| two[1] - two[0]).collect();
        assert_eq!(sizes.iter().sum::<u32>(), rows * columns);
        assert!(sizes.len() < 120 && sizes.iter().all(|&size| (16..200).contains(&size)), "{sizes:?}");
        // Compact: most springs are within one.
        assert!(
            3 * patches.crossing.len() < springs.len(),
            "{} of {}",
            patches.crossing.len(),
            springs.len()
        );
    }
}
