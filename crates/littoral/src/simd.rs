//! Eight neighbours at a time.
//!
//! Laws are written over [`Lanes`], eight f32 values, and compiled once for each instruction set
//! (`fearless_simd`); the best one is chosen when the program starts. Only operations that IEEE 754 rounds
//! exactly are used (no fused multiply–add, no approximate reciprocal), and sums over lanes are taken in one
//! fixed order, so that every machine computes the same bits.

pub use fearless_simd::{Level, Simd, dispatch, prelude::*};
use fearless_simd::{f32x4, f32x8, mask32x8};
use glam::Vec4;

/// Lanes in a block of neighbours.
pub const LANES: usize = 8;

/// One value for each of eight neighbours.
pub type Lanes<S> = f32x8<S>;
/// Which of eight neighbours count.
pub type Mask<S> = mask32x8<S>;

/// The four values of one row.
pub type Row<S> = f32x4<S>;

/// A vector for each of eight neighbours.
#[derive(Clone, Copy)]
pub struct Lanes3<S: Simd> {
    pub x: Lanes<S>,
    pub y: Lanes<S>,
    pub z: Lanes<S>,
}

impl<S: Simd> Lanes3<S> {
    #[inline(always)]
    pub fn splat(simd: S, v: [f32; 3]) -> Self {
        Lanes3 { x: splat(simd, v[0]), y: splat(simd, v[1]), z: splat(simd, v[2]) }
    }

    #[inline(always)]
    pub fn zero(simd: S) -> Self {
        Self::splat(simd, [0.0; 3])
    }

    #[inline(always)]
    pub fn dot(self, other: Self) -> Lanes<S> {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Sum over the lanes, of all three at once in the order of [`sum`].
    #[inline(always)]
    pub fn sum(self) -> [f32; 3] {
        let ((a, b), (c, d), (e, f)) = (self.x.split(), self.y.split(), self.z.split());
        let (x, y, z) = (a + b, c + d, e + f);
        // x₀+x₂, z₀+z₂, x₁+x₃, z₁+z₃; and the same of y, twice.
        let (ends, middle) = (x.zip_low(z) + x.zip_high(z), y.zip_low(y) + y.zip_high(y));
        let [x, y, z, _] = (ends.zip_low(middle) + ends.zip_high(middle)).to_array();
        [x, y, z]
    }
}

impl<S: Simd> std::ops::Add for Lanes3<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Lanes3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

impl<S: Simd> std::ops::Sub for Lanes3<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Lanes3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

impl<S: Simd> std::ops::Mul<Lanes<S>> for Lanes3<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: Lanes<S>) -> Self {
        Lanes3 { x: self.x * s, y: self.y * s, z: self.z * s }
    }
}

#[inline(always)]
pub fn splat<S: Simd>(simd: S, value: f32) -> Lanes<S> {
    Lanes::splat(simd, value)
}

/// Sum over the lanes, always as ((0+4)+(2+6)) + ((1+5)+(3+7)).
#[inline(always)]
pub fn sum<S: Simd>(v: Lanes<S>) -> f32 {
    let (low, high) = v.split();
    let [a, b, c, d] = (low + high).to_array();
    (a + c) + (b + d)
}

/// The first `count` lanes, all of them if `count` is 8 or more.
#[inline(always)]
pub fn first<S: Simd>(simd: S, count: usize) -> Mask<S> {
    Mask::from_bitmask(simd, (1u64 << count.min(LANES)) - 1)
}

/// Loads rows `indices[0..8]` and turns them into columns: x, y, z and w of all eight.
///
/// # Safety
/// Every index is less than `rows.len()`.
#[inline(always)]
pub unsafe fn gather<S: Simd>(simd: S, rows: &[Vec4], indices: &[u32; LANES]) -> (Lanes3<S>, Lanes<S>) {
    // Eight 16-byte loads and a transpose: twice as fast as hardware gathers on the machines we measured.
    let [a, b, c, d, e, f, g, h] = *indices;
    // SAFETY: the caller's promise.
    let (low, high) = unsafe { (transposed(simd, rows, [a, b, c, d]), transposed(simd, rows, [e, f, g, h])) };
    let ([x0, y0, z0, w0], [x1, y1, z1, w1]) = (low, high);
    (Lanes3 { x: x0.combine(x1), y: y0.combine(y1), z: z0.combine(z1) }, w0.combine(w1))
}

/// Four rows as columns. No closure: one that is not inlined knows nothing of the instruction set of its caller, and
/// each of its operations becomes a call. Without full optimisation, that took most of the time of a step.
///
/// # Safety
/// Every index is less than `rows.len()`.
#[inline(always)]
unsafe fn transposed<S: Simd>(simd: S, rows: &[Vec4], indices: [u32; 4]) -> [f32x4<S>; 4] {
    debug_assert!(indices.iter().all(|&i| (i as usize) < rows.len()));
    // SAFETY: the caller's promise.
    let [r0, r1, r2, r3] = unsafe {
        [
            row(simd, rows, indices[0]),
            row(simd, rows, indices[1]),
            row(simd, rows, indices[2]),
            row(simd, rows, indices[3]),
        ]
    };
    let (a, b) = (r0.zip_low(r2), r1.zip_low(r3));
    let (c, d) = (r0.zip_high(r2), r1.zip_high(r3));
    [a.zip_low(b), a.zip_high(b), c.zip_low(d), c.zip_high(d)]
}

/// One row.
#[inline(always)]
pub fn load<S: Simd>(simd: S, row: &Vec4) -> f32x4<S> {
    f32x4::load_array_ref(simd, row.as_ref())
}

/// # Safety
/// The index is less than `rows.len()`.
#[inline(always)]
unsafe fn row<S: Simd>(simd: S, rows: &[Vec4], index: u32) -> f32x4<S> {
    // SAFETY: the caller's promise.
    let row: &[f32; 4] = unsafe { rows.get_unchecked(index as usize) }.as_ref();
    f32x4::load_array_ref(simd, row)
}

/// Loads one scalar for each of eight neighbours.
///
/// # Safety
/// Every index is less than `column.len()`.
#[inline(always)]
pub unsafe fn gather_scalar<S: Simd>(simd: S, column: &[f32], indices: &[u32; LANES]) -> Lanes<S> {
    debug_assert!(indices.iter().all(|&i| (i as usize) < column.len()));
    // SAFETY: the caller's promise.
    let values: [f32; LANES] = std::array::from_fn(|k| unsafe { *column.get_unchecked(indices[k] as usize) });
    Lanes::load_array(simd, values)
}
