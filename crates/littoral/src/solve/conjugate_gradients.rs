//! Preconditioned conjugate gradients, with the same bits on any number of threads.
//!
//! Solves A x = b for a symmetric positive definite A of which only the product with a vector is known. Vectors
//! are f32; sums over all particles are made of pieces of fixed size, each added up in order in f64, so that
//! neither their value nor the number of iterations depends on who computed which piece. Kept honest by the
//! tests below, against a system with a known solution.

use glam::Vec4;
use rayon::prelude::*;

use crate::behaviours::Solved;

/// Entries in a piece of a sum.
const PIECE: usize = 1024;

/// What a vector of the system consists of: numbers, or rows of numbers.
pub trait Entry: Copy + Default + Send + Sync {
    fn times(self, other: Self) -> f64;
    /// self + s · other.
    fn plus(self, s: f32, other: Self) -> Self;
}

impl Entry for f32 {
    #[inline(always)]
    fn times(self, other: f32) -> f64 {
        f64::from(self) * f64::from(other)
    }

    #[inline(always)]
    fn plus(self, s: f32, other: f32) -> f32 {
        self + s * other
    }
}

impl Entry for Vec4 {
    #[inline(always)]
    fn times(self, other: Vec4) -> f64 {
        // Products rounded to f32, as the vectors are; their sum is not. Half the time of products in f64.
        let product = (self * other).as_dvec4();
        (product.x + product.z) + (product.y + product.w)
    }

    #[inline(always)]
    fn plus(self, s: f32, other: Vec4) -> Vec4 {
        self + other * s
    }
}

/// A system of equations, by what it does to vectors.
pub struct System<A, P, M, W> {
    /// Writes A p.
    pub apply: A,
    /// Entry i of M⁻¹ r, from entry i of r: M is close to A and easily inverted.
    pub precondition: P,
    /// Adds to M⁻¹ r what depends on all of r.
    pub widen: W,
    /// The part of entry i, from its x and its residual, in the squares of the error and of what it is measured by.
    pub measure: M,
}

/// Adds to M⁻¹ r what depends on all of r.
pub trait Widen<T> {
    /// Whether it does.
    const IS_NEEDED: bool;
    /// Returns the residual times what was added.
    fn add(&mut self, residual: &[T], to: &mut [T]) -> f64;
}

/// Entries are enough.
pub struct Narrow;

impl<T> Widen<T> for Narrow {
    const IS_NEEDED: bool = false;
    fn add(&mut self, _residual: &[T], _to: &mut [T]) -> f64 {
        0.0
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Error over what it is measured by.
    pub error: f64,
    pub most_iterations: u32,
}

/// Vectors that the method needs beside x and r; what they hold does not matter.
pub struct Scratch<'a, T> {
    pub direction: &'a mut [T],
    pub product: &'a mut [T],
    pub sums: &'a mut Vec<[f64; 3]>,
}

/// Improves `x` until the error is small enough. `residual` must be b − A x; it is so again at the end, but for
/// rounding.
pub fn solve<T: Entry, A, P, M, W>(
    system: System<A, P, M, W>,
    stop: Stop,
    x: &mut [T],
    residual: &mut [T],
    scratch: Scratch<T>,
) -> Solved
where
    A: FnMut(&[T], &mut [T]),
    W: Widen<T>,
    P: Fn(usize, T) -> T + Sync,
    M: Fn(usize, T, T) -> [f64; 2] + Sync,
{
    let Scratch { direction, product, sums } = scratch;
    let System { mut apply, precondition, mut widen, measure } = system;
    let error_of = |[_, error, size]: [f64; 3]| if error > 0.0 { (error / size).sqrt() } else { 0.0 };
    // Goes along the direction, and writes M⁻¹ r of what is left in the place of the product. It is the one place where errors are
    // measured: called from two, `measure` would be a call for every entry.
    let mut walk = |sums: &mut Vec<_>, step: f32, x: &mut [T], r: &mut [T], p: &[T], q: &mut [T]| {
        let mut total = pieces(sums, x.len(), |sums| {
            let rows = (x.par_chunks_mut(PIECE), r.par_chunks_mut(PIECE), p.par_chunks(PIECE));
            let rows = rows.into_par_iter().zip(q.par_chunks_mut(PIECE)).zip(sums).enumerate();
            rows.for_each(|(piece, (((x, r, p), q), sum))| {
                let mut own = [0.0; 3];
                for (k, (((x, r), p), q)) in x.iter_mut().zip(r).zip(p).zip(q).enumerate() {
                    let i = piece * PIECE + k;
                    *x = x.plus(step, *p);
                    *r = r.plus(-step, *q);
                    *q = precondition(i, *r);
                    let [error, size] = measure(i, *x, *r);
                    add(&mut own, [r.times(*q), error, size]);
                }
                *sum = own;
            });
        });
        if W::IS_NEEDED {
            total[0] += widen.add(r, q);
        }
        total
    };

    // The first direction is M⁻¹ r.
    direction.fill(T::default());
    product.fill(T::default());
    let (mut now, mut iterations) = (walk(sums, 0.0, x, residual, direction, product), 0);
    direction.copy_from_slice(product);
    while error_of(now) > stop.error && iterations < stop.most_iterations {
        iterations += 1;
        apply(direction, product);
        let (along, curvature) = (now[0], dot(sums, direction, product));
        // Not a number, or no longer positive: rounding has eaten up what was left to gain.
        if !(curvature > 0.0 && along > 0.0) {
            break;
        }
        now = walk(sums, (along / curvature) as f32, x, residual, direction, product);
        let turn = (now[0] / along) as f32;
        direction.par_iter_mut().with_min_len(8192).zip(&*product).for_each(|(p, z)| *p = z.plus(turn, *p));
    }
    Solved { iterations, residual: error_of(now) as f32 }
}

#[inline(always)]
fn add(sum: &mut [f64; 3], terms: [f64; 3]) {
    for (sum, term) in sum.iter_mut().zip(terms) {
        *sum += term;
    }
}

fn dot<T: Entry>(sums: &mut Vec<[f64; 3]>, a: &[T], b: &[T]) -> f64 {
    pieces(sums, a.len(), |sums| {
        let rows = (a.par_chunks(PIECE), b.par_chunks(PIECE), sums);
        rows.into_par_iter().for_each(|(a, b, sum)| sum[0] = a.iter().zip(b).map(|(a, b)| a.times(*b)).sum());
    })[0]
}

/// Adds up what `fill` makes of the pieces, in their order.
fn pieces(
    sums: &mut Vec<[f64; 3]>,
    len: usize,
    fill: impl FnOnce(rayon::slice::IterMut<'_, [f64; 3]>),
) -> [f64; 3] {
    sums.clear();
    sums.resize(len.div_ceil(PIECE), [0.0; 3]);
    fill(sums.par_iter_mut());
    let mut total = [0.0; 3];
    sums.iter().for_each(|sum| add(&mut total, *sum));
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of springs, held at its ends: A = tridiagonal(−1, 2.5 + i/n, −1): no eigenvalue is below ½.
    fn chain(x: &[f32], out: &mut [f32]) {
        for i in 0..x.len() {
            let left = if i > 0 { x[i - 1] } else { 0.0 };
            let right = x.get(i + 1).copied().unwrap_or(0.0);
            out[i] = (2.5 + i as f32 / x.len() as f32) * x[i] - left - right;
        }
    }

    fn solve_chain(n: usize) -> (Vec<f32>, Solved) {
        let exact: Vec<f32> = (0..n).map(|i| (i as f32 * 0.37).sin()).collect();
        let mut b = vec![0.0; n];
        chain(&exact, &mut b);
        let (mut x, mut r) = (vec![0.0; n], b.clone());
        let (mut direction, mut product, mut sums) = (vec![0.0; n], vec![0.0; n], Vec::new());
        let system = System {
            apply: chain,
            precondition: |i, r: f32| r / (2.5 + i as f32 / n as f32),
            widen: Narrow,
            measure: |i: usize, _, r: f32| [r.times(r), b[i].times(b[i])],
        };
        let scratch = Scratch { direction: &mut direction, product: &mut product, sums: &mut sums };
        let stop = Stop { error: 1e-6, most_iterations: 500 };
        let solved = solve(system, stop, &mut x, &mut r, scratch);
        let norm = |v: &mut dyn Iterator<Item = f32>| v.map(|v| v * v).sum::<f32>().sqrt();
        let error = norm(&mut x.iter().zip(&exact).map(|(x, e)| x - e));
        // The error is the residual over an eigenvalue.
        assert!(
            solved.residual <= 1e-6 && error <= 2e-6 * norm(&mut b.iter().copied()),
            "{solved:?}: {error}"
        );
        (x, solved)
    }

    #[test]
    fn a_chain_of_springs_is_solved() {
        for n in [1, 2, 1023, 5000] {
            solve_chain(n);
        }
    }

    #[test]
    fn threads_do_not_change_bits() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| solve_chain(5000))
        };
        assert_eq!(on(1), on(3));
    }
}
