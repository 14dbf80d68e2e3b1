//! Ties: springs between the particles of a fluid, which appear, yield and break as it flows.
//!
//! A tie belongs to a pair of neighbours and knows its length at rest. Both ends keep it, each beside its own list of
//! neighbours, and both change it by the same numbers: they agree to the bit, and every loop gathers. Lists are made anew when particles have
//! moved too far, and particles change places in memory; ties then find their pair again by the particles' ids.

use rayon::prelude::*;

use crate::backend::cpu::{PIECE, Rows, SlopePiece, Slopes};
use crate::neighbourhood::Neighbourhood;
use crate::pair::{Own, Pair};
use crate::simd::*;

/// All ties of a world.
#[derive(Default)]
pub struct Ties {
    /// Which lists of neighbours they stand beside; `None` until they were put beside some.
    beside: Option<u64>,
    /// Id of the particle in each row, as it was then.
    ids: Vec<u32>,
    pieces: Vec<Piece>,
    /// A number of each pair, for who solves with ties: in the blocks that loops over neighbours load.
    pub(crate) strength: Slopes,
}

/// What becomes of ties, eight at a time. Both ends must come to the same bits.
pub(crate) trait TieLaw: Sync {
    type Partial<S: Simd>;
    type Total: Send;

    fn start<S: Simd>(&self, simd: S) -> Self::Partial<S>;

    /// From the length at rest, 0 where there is no tie yet: the one from now on, 0 where there is none any more, and the
    /// number to be kept. Lanes that do not count are out of every reach.
    fn add<S: Simd>(
        &self,
        own: &Own,
        pair: &Pair<S>,
        length: Lanes<S>,
        partial: &mut Self::Partial<S>,
    ) -> (Lanes<S>, Lanes<S>);

    fn finish<S: Simd>(&self, partial: Self::Partial<S>) -> Self::Total;
}

/// Ties of some particles.
#[derive(Default)]
struct Piece {
    /// First entry of each particle, and the number of entries at the end.
    starts: Vec<u32>,
    /// Ids of the others.
    others: Vec<u32>,
    /// Lengths at rest, m; 0 where there is no tie.
    length: Vec<f32>,
}

impl Piece {
    fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.starts[k] as usize..self.starts[k + 1] as usize
    }
}

impl Ties {
    /// Puts them beside the lists as these are now; `ids` are those of the particles as they stand.
    pub(crate) fn follow(&mut self, lists: &Neighbourhood, ids: &[u32]) {
        if self.beside == Some(lists.rebuilds) && self.ids.len() == ids.len() {
            return;
        }
        // Rows as they were, by id.
        let last = self.ids.iter().max().map_or(0, |&id| id as usize + 1);
        let mut row_of = vec![u32::MAX; last];
        self.ids.iter().enumerate().for_each(|(row, &id)| row_of[id as usize] = row as u32);
        let before = std::mem::take(&mut self.pieces);
        let ties_of = |id: u32| -> Option<(&[u32], &[f32])> {
            let row = *row_of.get(id as usize).filter(|&&row| row != u32::MAX)? as usize;
            let piece = &before[row / PIECE];
            let range = piece.range(row % PIECE);
            Some((&piece.others[range.clone()], &piece.length[range]))
        };
        let pieces = ids.par_chunks(PIECE).enumerate().map(|(piece, own)| {
            let mut made = Piece { starts: vec![0], ..Piece::default() };
            for (k, &id) in own.iter().enumerate() {
                let (others, length) = ties_of(id).unwrap_or_default();
                // Lists change little: the next one is most often where the last one was, and one further.
                let mut next = 0;
                let list = lists.particles(piece * PIECE + k);
                made.others.reserve(list.as_slice().len());
                made.length.reserve(list.as_slice().len());
                for &j in list.as_slice() {
                    let other = ids[j as usize];
                    let place = (next..others.len()).chain(0..next).find(|&place| others[place] == other);
                    next = place.map_or(next, |place| place + 1);
                    made.others.push(other);
                    made.length.push(place.map_or(0.0, |place| length[place]));
                }
                made.starts.push(made.others.len() as u32);
            }
            made
        });
        self.pieces = pieces.collect();
        self.ids.clear();
        self.ids.extend_from_slice(ids);
        self.beside = Some(lists.rebuilds);
    }

    /// Lets a law change every tie, and keeps its numbers in [`Ties::strength`]; totals go to the particles' places of `out`.
    pub(crate) fn each<L: TieLaw>(&mut self, rows: &Rows, law: &L, out: &mut [L::Total]) {
        let lists = rows.lists();
        assert!(self.beside == Some(lists.rebuilds) && self.ids.len() == out.len());
        let level = Level::new();
        let kept = self.strength.pieces_for(out.len());
        let pieces = (&mut self.pieces, kept, out.par_chunks_mut(PIECE)).into_par_iter().enumerate();
        pieces.for_each(|(piece, (ties, kept, out)): (usize, (&mut Piece, &mut SlopePiece, &mut [_]))| {
            kept.clear();
            dispatch!(level, simd => {
                for (k, out) in out.iter_mut().enumerate() {
                    let own = rows.own(piece * PIECE + k);
                    let mut partial = law.start(simd);
                    let mut place = ties.starts[k] as usize;
                    kept.begin();
                    rows.each_block(simd, &own, |pair, count| {
                        let lengths = &mut ties.length[place..place + count];
                        let mut block = [0.0; LANES];
                        block[..count].copy_from_slice(lengths);
                        let before = Lanes::load_array(simd, block);
                        let (after, strength) = law.add(&own, pair, before, &mut partial);
                        lengths.copy_from_slice(&after.to_array()[..count]);
                        kept.push(strength.to_array());
                        place += count;
                    });
                    *out = law.finish(partial);
                }
            });
        });
    }

    /// Number of ties.
    pub fn count(&self) -> usize {
        self.pairs().count()
    }

    /// The ends of every tie, by id, and its length at rest, m.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        self.ids
            .iter()
            .enumerate()
            .flat_map(|(row, &id)| {
                let piece = &self.pieces[row / PIECE];
                let entries = piece.range(row % PIECE);
                entries.map(move |k| (id, piece.others[k], piece.length[k]))
            })
            .filter(|&(id, other, length)| id < other && length > 0.0)
    }

    /// All of them, for a checkpoint.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.pairs().flat_map(|(a, b, length)| [a, b, length.to_bits()]).flat_map(u32::to_le_bytes).collect()
    }

    /// Ties as a checkpoint has kept them; `false` if the bytes are not what [`Ties::bytes`] makes.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> bool {
        let (words, rest) = bytes.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let (ties, more) = words.as_chunks::<3>();
        if !rest.is_empty() || !more.is_empty() {
            return false;
        }
        let both_ways = ties.iter().flat_map(|&[a, b, length]| [(a, b, length), (b, a, length)]);
        let mut ends: Vec<(u32, u32, u32)> = both_ways.collect();
        ends.sort_unstable();
        *self = Ties::default();
        for (id, other, length) in ends {
            if self.ids.last() != Some(&id) {
                if self.ids.len().is_multiple_of(PIECE) {
                    self.pieces.push(Piece { starts: vec![0], ..Piece::default() });
                }
                self.ids.push(id);
                let piece = self.pieces.last_mut().expect("one has been made");
                piece.starts.push(piece.others.len() as u32);
            }
            let piece = self.pieces.last_mut().expect("one has been made");
            piece.others.push(other);
            piece.length.push(f32::from_bits(length));
            *piece.starts.last_mut().expect("it has a particle") += 1;
        }
        true
    }
}
