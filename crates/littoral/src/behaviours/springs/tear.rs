//! Springs that are too long are cut.

use rayon::prelude::*;

use super::rows::MIN_ROWS;
use crate::structure::springs::{Net, SpringKind};

impl Net {
    /// Cuts springs that are too long, and those of nodes that are gone. Tells whether it has.
    ///
    /// Of the springs at a node, only the one under the greatest strain is cut in a step: the tear relieves the others, or
    /// they are next. Otherwise a tear would be as wide as the strain around its tip.
    pub(super) fn tear(&mut self) -> bool {
        let gone = self.scratch.is_gone.iter().filter(|gone| **gone).count();
        let mut cut: Vec<u32> = Vec::new();
        if gone > self.scratch.lost {
            self.scratch.lost = gone;
            let ends = |(node, _): (usize, &bool)| self.halves(node).iter().map(|half| half.spring);
            let all = self.scratch.is_gone.iter().enumerate().filter(|(_, gone)| **gone);
            cut.extend(all.flat_map(ends));
        }
        let limit = self.scratch.tear_strain;
        if limit > 0.0 {
            let mut strain = std::mem::take(&mut self.scratch.strain);
            strain.resize(self.springs.len(), 0.0);
            let place = &self.scratch.place;
            let of = |(k, strain): (usize, &mut f32)| {
                let spring = &self.springs[k];
                let [a, b] = spring.ends.map(|end| place[end as usize]);
                let is_asked = spring.kind != SpringKind::Bend && !self.is_cut(k);
                *strain = if is_asked { a.distance(b) / spring.rest - 1.0 } else { f32::NEG_INFINITY };
            };
            strain.par_iter_mut().with_min_len(8 * MIN_ROWS).enumerate().for_each(of);
            let is_most = |&k: &usize| {
                let ahead = |other: &u32| {
                    let other = *other as usize;
                    strain[other] > strain[k] || (strain[other] == strain[k] && other < k)
                };
                let ends = self.springs[k].ends.map(|end| self.halves(end as usize));
                !ends.iter().flat_map(|halves| halves.iter()).any(|half| ahead(&half.spring))
            };
            let long = (0..strain.len()).filter(|&k| strain[k] > limit);
            cut.extend(long.filter(is_most).map(|k| k as u32));
            self.scratch.strain = strain;
        }
        if cut.is_empty() {
            return false;
        }
        self.cut(cut);
        true
    }
}
