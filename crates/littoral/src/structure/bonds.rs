//! Reference neighbourhoods: who was near whom when a body was at rest, and what a body's places now make of that.
//!
//! A node i keeps its neighbours j with the vectors X_ji = X_j − X_i to them at rest, and a weight
//! w_ij = V_i V_j |∇W(X_ij)|/|X_ij|, the same at both ends. The deformation gradient is the linear map that takes the vectors
//! at rest to those of now, x_ji, as nearly as it can:
//!
//!   F_i = (Σ_j w_ij x_ji ⊗ X_ji) A_i⁻¹,   A_i = Σ_j w_ij X_ji ⊗ X_ji.
//!
//! That is the corrected gradient of SPH [BonetLok1999], and it is a least-squares fit as well; so that what the fit leaves,
//! e_ij = x_ji − F_i X_ji, is orthogonal to what it explains: Σ_j w_ij e_ij ⊗ X_ji = 0. `solve/elastic.rs` builds on that.
//!
//! Where the neighbours of a node lie in a plane or on a line, A has no inverse: its pseudo-inverse takes the place, and the map
//! says nothing of directions that nobody spans. One layer is treated like that on purpose: its curvature at rest is what the
//! fit leaves at rest.
//!
//! Bonds can be cut, never mended. Pieces that no bond joins any more get numbers of their own.

use std::collections::HashMap;

use glam::{DMat3, DVec3, Mat3, Vec3};

use crate::kernels::Kernel;
use crate::scene::{Dimensions, KernelName};

/// How far bonds reach, in spacings: to the corners of the cube around a node.
pub const REACH: f64 = 2.0;

/// Directions in which the neighbours spread less than this, compared with that of most, are left out of the fit.
const LEAST_SPREAD: f64 = 0.02;

/// The neighbourhoods of one body. Its nodes are numbered from 0 here: members.
#[derive(Clone, Debug, Default)]
pub struct Bonds {
    /// First bond of each member, and the number of bonds at the end.
    starts: Vec<u32>,
    bonds: Vec<Bond>,
    pub fits: Vec<Fit>,
    /// Members of bonds that were cut, in the order of cutting, the lower one first.
    cuts: Vec<[u32; 2]>,
    is_layer: bool,
}

/// One end of a bond.
#[derive(Clone, Copy, Debug)]
pub struct Bond {
    pub partner: u32,
    /// w_ij, m⁴ (m² in 2-D); 0 once it is cut.
    pub weight: f32,
    /// X_ji, m.
    pub rest: Vec3,
}

/// What the neighbours of a member span at rest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fit {
    /// A⁻¹, or what is nearest to it.
    pub inverse: Mat3,
    /// Projects on the directions that are spanned.
    pub span: Mat3,
    /// Across a layer; zero where three directions are spanned, or less than two.
    pub normal: Vec3,
    /// Volume at rest, m³ (m² in 2-D).
    pub volume: f32,
    /// Σ w r² for each direction spanned.
    pub spread: f32,
    /// Σ w r⁴.
    pub fourth: f32,
}

impl Bonds {
    /// Neighbourhoods of nodes with these places and volumes at rest. A layer spans two directions and no more.
    pub fn new(
        places: &[DVec3],
        volumes: &[f32],
        spacing: f64,
        dimensions: Dimensions,
        is_layer: bool,
    ) -> Bonds {
        let reach = REACH * spacing;
        let kernel = Kernel::new(KernelName::CubicSpline, dimensions, reach);
        let cell = |place: DVec3| (place / reach).floor().as_ivec3();
        let mut cells: HashMap<glam::IVec3, Vec<u32>> = HashMap::new();
        for (k, &place) in places.iter().enumerate() {
            cells.entry(cell(place)).or_default().push(k as u32);
        }
        let mut bonds = Bonds { is_layer, starts: vec![0], ..Bonds::default() };
        for (k, &place) in places.iter().enumerate() {
            let mut near = Vec::new();
            for offset in 0..27 {
                let at = cell(place) + glam::IVec3::new(offset % 3, offset / 3 % 3, offset / 9) - 1;
                near.extend(cells.get(&at).into_iter().flatten().copied());
            }
            near.retain(|&other| {
                let r = places[other as usize].distance(place);
                r > 1e-6 * spacing && r < reach
            });
            near.sort_unstable();
            bonds.bonds.extend(near.into_iter().map(|other| {
                let rest = places[other as usize] - place;
                let slope = f64::from(kernel.slope_at(rest.length() as f32)) / rest.length();
                // The same bits at both ends: a product of two does not depend on their order.
                let weight = f64::from(volumes[k]) * f64::from(volumes[other as usize]) * -slope;
                Bond { partner: other, weight: weight as f32, rest: rest.as_vec3() }
            }));
            bonds.starts.push(bonds.bonds.len() as u32);
        }
        bonds.fits = volumes.iter().map(|&volume| Fit { volume, ..Fit::default() }).collect();
        (0..places.len()).for_each(|k| bonds.fit(k));
        bonds
    }

    pub fn len(&self) -> usize {
        self.fits.len()
    }

    pub fn is_empty(&self) -> bool {
        self.fits.is_empty()
    }

    /// Bonds of a member, in the order of its partners. Those that were cut have no weight.
    #[inline]
    pub fn of(&self, member: usize) -> &[Bond] {
        &self.bonds[self.starts[member] as usize..self.starts[member + 1] as usize]
    }

    /// Members of bonds that were cut so far.
    pub fn cuts(&self) -> &[[u32; 2]] {
        &self.cuts
    }

    /// Cuts bonds, at both ends, and fits again what has lost some.
    pub fn cut(&mut self, pairs: &[[u32; 2]]) {
        for &[a, b] in pairs {
            for (from, to) in [(a, b), (b, a)] {
                let range = self.starts[from as usize] as usize..self.starts[from as usize + 1] as usize;
                let bonds = &mut self.bonds[range];
                if let Ok(k) = bonds.binary_search_by_key(&to, |bond| bond.partner) {
                    bonds[k].weight = 0.0;
                }
            }
            self.cuts.push([a.min(b), a.max(b)]);
        }
        let mut changed: Vec<u32> = pairs.iter().flatten().copied().collect();
        changed.sort_unstable();
        changed.dedup();
        changed.into_iter().for_each(|member| self.fit(member as usize));
    }

    /// Number of the piece that each member belongs to, counted from 0 in the order of their first members.
    pub fn pieces(&self) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let mut piece = vec![NONE; self.len()];
        let (mut count, mut open) = (0, Vec::new());
        for first in 0..self.len() {
            if piece[first] != NONE {
                continue;
            }
            piece[first] = count;
            open.push(first);
            while let Some(member) = open.pop() {
                for bond in self.of(member).iter().filter(|bond| bond.weight > 0.0) {
                    let partner = bond.partner as usize;
                    if piece[partner] == NONE {
                        piece[partner] = count;
                        open.push(partner);
                    }
                }
            }
            count += 1;
        }
        piece
    }

    fn fit(&mut self, member: usize) {
        let (mut spread, mut fourth) = (DMat3::ZERO, 0.0);
        for bond in self.of(member) {
            let (x, weight) = (bond.rest.as_dvec3(), f64::from(bond.weight));
            spread += outer(x, x) * weight;
            fourth += weight * x.length_squared().powi(2);
        }
        let (values, axes) = eigen(spread);
        let largest = values.max_element();
        let smallest = (0..3).min_by(|&a, &b| values[a].total_cmp(&values[b])).expect("three of them");
        let is_spanned = |k: usize| values[k] > LEAST_SPREAD * largest && !(self.is_layer && k == smallest);
        let (mut inverse, mut span, mut total, mut count) = (DMat3::ZERO, DMat3::ZERO, 0.0, 0);
        for k in (0..3).filter(|&k| is_spanned(k)) {
            let axis = axes.col(k);
            inverse += outer(axis, axis) * (1.0 / values[k]);
            span += outer(axis, axis);
            total += values[k];
            count += 1;
        }
        let normal = if count == 2 { axes.col(smallest).as_vec3() } else { Vec3::ZERO };
        let fit = &mut self.fits[member];
        *fit = Fit {
            inverse: inverse.as_mat3(),
            span: span.as_mat3(),
            normal,
            volume: fit.volume,
            spread: if count > 0 { (total / f64::from(count)) as f32 } else { 0.0 },
            fourth: fourth as f32,
        };
    }
}

/// a ⊗ b.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix, by Jacobi's rotations.
pub(crate) fn eigen(mut a: DMat3) -> (DVec3, DMat3) {
    let mut axes = DMat3::IDENTITY;
    for _ in 0..30 {
        let size = a.x_axis.abs().max_element().max(a.y_axis.abs().max_element()).max(a.z_axis.z.abs());
        let off = a.y_axis.x.abs() + a.z_axis.x.abs() + a.z_axis.y.abs();
        if off <= 1e-15 * size {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (app, aqq, apq) = (a.col(p)[p], a.col(q)[q], a.col(q)[p]);
            if apq == 0.0 {
                continue;
            }
            let theta = (aqq - app) / (2.0 * apq);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            let mut turn = DMat3::IDENTITY;
            (turn.col_mut(p)[p], turn.col_mut(q)[q]) = (c, c);
            (turn.col_mut(q)[p], turn.col_mut(p)[q]) = (s, -s);
            a = turn.transpose() * a * turn;
            axes *= turn;
        }
    }
    (DVec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z), axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(n: i32, layers: i32) -> Vec<DVec3> {
        let place = |k: i32| DVec3::new(f64::from(k % n), f64::from(k / n % n), f64::from(k / (n * n)));
        (0..n * n * layers).map(place).collect()
    }

    /// The fit of any linear map is that map, in corners too; what it leaves of others is orthogonal to what it explains.
    #[test]
    fn a_linear_map_is_found_everywhere() {
        let places = block(4, 4);
        let bonds = Bonds::new(&places, &vec![1.0; places.len()], 1.0, Dimensions::Three, false);
        let map = Mat3::from_cols_array(&[1.1, 0.2, 0.0, -0.1, 0.9, 0.3, 0.05, 0.0, 1.3]);
        for k in 0..bonds.len() {
            let sum: Mat3 = bonds.of(k).iter().fold(Mat3::ZERO, |sum, bond| {
                let now = map * bond.rest * bond.weight;
                sum + Mat3::from_cols(now * bond.rest.x, now * bond.rest.y, now * bond.rest.z)
            });
            let found = sum * bonds.fits[k].inverse;
            assert!(found.abs_diff_eq(map, 1e-5), "{k}: {found}");
        }
        // The node in the middle has the 26 around it.
        assert_eq!(bonds.of(21).len(), 26);
    }

    #[test]
    fn a_layer_spans_its_plane_and_pieces_are_told_apart() {
        let places = block(4, 1);
        let mut bonds = Bonds::new(&places, &vec![1.0; places.len()], 1.0, Dimensions::Three, true);
        for fit in &bonds.fits {
            assert!(fit.normal.abs().abs_diff_eq(Vec3::Z, 1e-6));
            assert!((fit.span * Vec3::Z).length() < 1e-6 && (fit.span * Vec3::X - Vec3::X).length() < 1e-6);
        }
        // Between the columns x = 1 and x = 2.
        let pairs: Vec<[u32; 2]> = (0..16u32)
            .flat_map(|a| bonds.of(a as usize).iter().map(move |bond| [a, bond.partner]))
            .filter(|[a, b]| a % 4 < 2 && b % 4 >= 2)
            .collect();
        bonds.cut(&pairs);
        assert_eq!(bonds.pieces(), (0..16).map(|k| u32::from(k % 4 >= 2)).collect::<Vec<_>>());
        // A strip of two columns still spans its plane; a lone node spans nothing.
        assert!((bonds.fits[0].span * Vec3::X - Vec3::X).length() < 1e-6);
        let of_corner: Vec<[u32; 2]> = bonds.of(0).iter().map(|bond| [0, bond.partner]).collect();
        bonds.cut(&of_corner);
        assert_eq!(bonds.fits[0].span, Mat3::ZERO);
        assert_eq!(bonds.pieces()[0], 0);
        assert_eq!(bonds.pieces()[1], 1);
    }

    #[test]
    fn eigenvectors_are_found() {
        let a = DMat3::from_cols_array(&[4.0, 1.0, -2.0, 1.0, 2.0, 0.0, -2.0, 0.0, 3.0]);
        let (values, axes) = eigen(a);
        for k in 0..3 {
            assert!((a * axes.col(k)).abs_diff_eq(axes.col(k) * values[k], 1e-12));
        }
    }
}
