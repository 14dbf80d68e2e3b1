//! The matrix of a net, eight springs of a node at a time.
//!
//! A solve multiplies with it some twenty times, and nothing else in a step of cloth takes as long. Each node has its springs in blocks of eight, those that resist
//! stretching apart from those that only bend; a cloth's inner nodes have one of each. What is missing in a block are springs from the node to itself, which do
//! nothing. Kept honest by a test below, spring by spring.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::rows::MIN_ROWS;
use crate::simd::*;
use crate::structure::springs::{Half, Net};

/// Springs that resist stretching, as a + s sᵀ.
#[derive(Clone, Copy)]
struct Firm {
    partners: [u32; LANES],
    s: [[f32; LANES]; 3],
    a: [f32; LANES],
}

/// Springs that only bend, as a.
#[derive(Clone, Copy)]
struct Loose {
    partners: [u32; LANES],
    a: [f32; LANES],
}

/// The matrix of a step.
#[derive(Default)]
pub struct Eights {
    /// Where the blocks of each node start, firm and loose ones; and where those of the last one end.
    starts: Vec<[u32; 2]>,
    firm: Vec<Firm>,
    loose: Vec<Loose>,
    /// Which springs are in the blocks.
    firm_springs: Vec<[u32; LANES]>,
    loose_springs: Vec<[u32; LANES]>,
}

impl Eights {
    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// For the springs of a net, cut or not.
    pub(super) fn new(net: &Net) -> Eights {
        let mut all = Eights { starts: vec![[0; 2]], ..Eights::default() };
        for node in 0..net.nodes.len() {
            let (firm, loose) = net.firm_and_loose(node);
            let filled = |halves: &[Half], of: fn(&Half) -> u32, rest: u32| -> [u32; LANES] {
                std::array::from_fn(|k| halves.get(k).map_or(rest, of))
            };
            for halves in firm.chunks(LANES) {
                let partners = filled(halves, |half| half.partner, node as u32);
                all.firm.push(Firm { partners, s: [[0.0; LANES]; 3], a: [0.0; LANES] });
                all.firm_springs.push(filled(halves, |half| half.spring, halves[0].spring));
            }
            for halves in loose.chunks(LANES) {
                let partners = filled(halves, |half| half.partner, node as u32);
                all.loose.push(Loose { partners, a: [0.0; LANES] });
                all.loose_springs.push(filled(halves, |half| half.spring, halves[0].spring));
            }
            all.starts.push([all.firm.len() as u32, all.loose.len() as u32]);
        }
        all
    }

    /// Takes up the springs of a step, each as (s, a).
    pub(super) fn set(&mut self, stiff: &[Vec4]) {
        let firm = self.firm.par_iter_mut().zip(&self.firm_springs).with_min_len(MIN_ROWS);
        firm.for_each(|(block, springs)| {
            for (k, &spring) in springs.iter().enumerate() {
                let stiff = stiff[spring as usize];
                (0..3).for_each(|axis| block.s[axis][k] = stiff[axis]);
                block.a[k] = stiff.w;
            }
        });
        let loose = self.loose.par_iter_mut().zip(&self.loose_springs).with_min_len(MIN_ROWS);
        loose.for_each(|(block, springs)| block.a = springs.map(|spring| stiff[spring as usize].w));
    }

    /// Writes what `finish` makes of each node and its part of K x.
    pub(super) fn times(&self, x: &[Vec4], out: &mut [Vec4], finish: impl Fn(usize, Vec4) -> Vec4 + Sync) {
        // Partners are nodes of the net, so that all rows they name are there.
        assert!(x.len() + 1 == self.starts.len() && out.len() == x.len());
        let level = Level::new();
        out.par_chunks_mut(MIN_ROWS).enumerate().for_each(|(piece, out)| {
            dispatch!(level, simd => self.piece(simd, piece * MIN_ROWS, x, out, &finish));
        });
    }

    #[inline(always)]
    fn piece<S: Simd>(
        &self,
        simd: S,
        first: usize,
        x: &[Vec4],
        out: &mut [Vec4],
        finish: &impl Fn(usize, Vec4) -> Vec4,
    ) {
        for (k, out) in out.iter_mut().enumerate() {
            let node = first + k;
            let own = Lanes3::splat(simd, x[node].truncate().into());
            let ([firm, loose], [firm_end, loose_end]) = (self.starts[node], self.starts[node + 1]);
            let mut sum = Lanes3::zero(simd);
            for block in &self.firm[firm as usize..firm_end as usize] {
                // SAFETY: see `times`.
                let d = own - unsafe { gather(simd, x, &block.partners) }.0;
                let s = Lanes3 {
                    x: Lanes::load_array_ref(simd, &block.s[0]),
                    y: Lanes::load_array_ref(simd, &block.s[1]),
                    z: Lanes::load_array_ref(simd, &block.s[2]),
                };
                sum = sum + d * Lanes::load_array_ref(simd, &block.a) + s * s.dot(d);
            }
            for block in &self.loose[loose as usize..loose_end as usize] {
                // SAFETY: see `times`.
                let d = own - unsafe { gather(simd, x, &block.partners) }.0;
                sum = sum + d * Lanes::load_array_ref(simd, &block.a);
            }
            *out = finish(node, Vec3::from(sum.sum()).extend(0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::structure::Sheet;
    use crate::structure::springs::Builder;

    #[test]
    fn eight_at_a_time_as_one_by_one() {
        let (rows, columns) = (30, 40);
        let nodes = 0..(rows * columns) as u32;
        let sheet = Sheet::grid(0, nodes.clone(), (rows, columns), 1, 1e-3);
        let place = |k: usize| DVec3::new((k % columns) as f64, (k / columns) as f64, 0.0);
        let net =
            Builder::new(0, nodes, (0..rows * columns).map(place).collect()).grid(&sheet, (rows, columns));
        let number = |k: usize| (k as f32 * 0.7).sin();
        let row = |k: usize| Vec4::new(number(k), number(k + 5), number(2 * k), number(3 * k));
        let stiff: Vec<Vec4> = (0..net.springs.len()).map(row).collect();
        let x: Vec<Vec4> = (0..rows * columns).map(|k| row(k + 9).with_w(0.0)).collect();
        let mass: Vec<f32> = (0..x.len()).map(|k| 2.0 + number(k)).collect();
        let mut expected: Vec<Vec4> = x.iter().zip(&mass).map(|(x, m)| *x * *m).collect();
        for (spring, stiff) in net.springs.iter().zip(&stiff) {
            let [a, b] = spring.ends.map(|end| end as usize);
            // Springs that only bend have no s.
            let s = if spring.share > 0.0 { stiff.with_w(0.0) } else { Vec4::ZERO };
            let d = x[a] - x[b];
            let pull = d * stiff.w + s * s.dot(d);
            expected[a] += pull;
            expected[b] -= pull;
        }
        let mut eights = Eights::new(&net);
        eights.set(&stiff);
        let mut out = vec![Vec4::ZERO; x.len()];
        eights.times(&x, &mut out, |node, pull| x[node] * mass[node] + pull);
        for (out, expected) in out.iter().zip(&expected) {
            // Rounding of 16 terms.
            assert!((*out - *expected).length() < 1e-5, "{out} for {expected}");
        }
    }
}
