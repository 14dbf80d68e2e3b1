//! Bodies of particles that move as one.
//!
//! Let u be any motion of a piece's particles: velocities, or what forces or contacts make of them. Of all motions V + Ω × (x − c) as one, the
//! nearest to u in the sense of kinetic energy has the same momentum and angular momentum:
//!
//!   V = Σ m u/M,   Ω = I⁻¹ Σ m (x − c) × u,   c = Σ m x/M,   I = Σ m (|x − c|² − (x − c)(x − c)ᵀ).
//!
//! That is a projection P, symmetric in the product Σ m u·u′: whatever a solve does to single particles, it may do to the body by putting
//! P behind it, and stays symmetric. The pressure does so (`solve/pressure.rs`), and contacts do (`structure/contact.rs`).
//!
//! Particles may belong to the body by a part w of them: u becomes u + w (Pu − u), with masses w m in the sums above, so that momentum and angular
//! momentum are kept whatever the parts are, and symmetry with them. At 1 the body is rigid, at 0 its particles are on their own.
//!
//! Pinned particles have [`PINNED`] times the mass of all: the piece hangs on one as on a ball joint, on two as on a hinge, and
//! follows three.
//!
//! Nothing but the particles is remembered. In every step the rotation R that takes places at rest, X, to those of now is found anew: the one
//! with the least Σ m |x − c − R (X − X̄)|² [Horn1987]. After positions took the velocities, x = c + R′ (X − X̄) puts them back into
//! shape, with R′ turned on from R by the angular momentum that they have.
//!
//! What no bond joins at rest (`structure/bonds.rs`) is another piece, and moves on its own. Kept honest by the tests of
//! `tests/rigid.rs` and by `littoral validate archimedes-particles soaked-block`.

use glam::{DMat3, DMat4, DQuat, DVec3, DVec4, Vec3, Vec4};
use rayon::prelude::*;

use super::bonds::{Bonds, eigen};
use super::nodes::{GONE, Nodes};
use crate::columns::{MASS, PIN, POSITION, VELOCITY};
use crate::neighbourhood::Periods;
use crate::particles::Particles;
use crate::resolve::Field;
use crate::solids::turned;

/// Mass of a pinned particle, in masses of its piece.
const PINNED: f64 = 1e6;

/// About axes with less than this part of the largest moment of inertia, nothing turns: particles in a row have none about it.
const LEAST_INERTIA: f64 = 1e-12;

/// The rigid bodies of a world, piece by piece.
#[derive(Default)]
pub struct RigidBodies {
    pub pieces: Vec<Piece>,
}

/// Particles that hold together, as this step finds them.
#[derive(Default)]
pub struct Piece {
    /// Each after the one that it is near to.
    pub members: Vec<Member>,
    /// Whether all is in the plane z = 0.
    is_flat: bool,
    /// c and X̄, m.
    centre: DVec3,
    rest_centre: DVec3,
    /// R.
    rotation: DQuat,
    /// 1/M and I⁻¹; zero where no particle belongs to it.
    inverse_mass: f64,
    inverse_inertia: DMat3,
}

#[derive(Clone, Copy)]
pub struct Member {
    pub node: u32,
    /// Row of the node, or [`GONE`].
    pub row: u32,
    /// Place among the members of one that it was near to at rest.
    near: u32,
    /// X, m.
    rest: DVec3,
    /// x, m; of the image that is nearest to that of `near`, where space is periodic.
    place: DVec3,
    /// w.
    pub part: f32,
    /// w m, kg; more where it is pinned.
    mass: f64,
}

/// A motion as one, about a piece's centre.
#[derive(Clone, Copy)]
pub struct Motion {
    centre: DVec3,
    /// V.
    along: DVec3,
    /// Ω.
    around: DVec3,
}

impl RigidBodies {
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Adds a body by the bonds between its nodes, which are `first` and those after it. Says in the places at rest which piece each belongs to.
    pub fn add(&mut self, bonds: &Bonds, first: u32, rows: &[u32], is_flat: bool, reference: &mut [Vec4]) {
        let mut is_taken = vec![false; rows.len()];
        let mut count = 0;
        for start in 0..rows.len() {
            if is_taken[start] || rows[start] == GONE {
                continue;
            }
            is_taken[start] = true;
            // Those found, with the place in this list of whom they were found by.
            let mut found = vec![(start, 0)];
            let mut next = 0;
            while next < found.len() {
                for bond in bonds.of(found[next].0) {
                    let partner = bond.partner as usize;
                    if !std::mem::replace(&mut is_taken[partner], true) {
                        found.push((partner, next as u32));
                    }
                }
                next += 1;
            }
            let member = |&(member, near): &(usize, u32)| {
                let row = &mut reference[rows[member] as usize];
                row.w = count as f32;
                let rest = row.truncate().as_dvec3();
                let node = first + member as u32;
                Member { node, row: GONE, near, rest, place: rest, part: 0.0, mass: 0.0 }
            };
            let members = found.iter().map(member).collect();
            self.pieces.push(Piece { members, is_flat, ..Piece::default() });
            count += 1;
        }
    }

    /// Finds where the pieces are, and how they resist.
    pub fn find(&mut self, weight: &Field, nodes: &Nodes, periods: &Periods, particles: &Particles) {
        let (position, mass) = (particles.get(&POSITION), particles.get(&MASS));
        let pins = particles.try_get(&PIN);
        self.pieces.par_iter_mut().for_each(|piece| {
            let mut total = 0.0;
            for member in &mut piece.members {
                (member.row, member.part, member.mass) = (nodes.rows()[member.node as usize], 0.0, 0.0);
                if member.row != GONE {
                    member.part = weight.at(member.row as usize).clamp(0.0, 1.0);
                    member.mass = f64::from(member.part) * f64::from(mass[member.row as usize]);
                    total += member.mass;
                }
            }
            if let Some(pins) = pins {
                let is_held = |member: &&mut Member| member.row != GONE && pins[member.row as usize] > 0;
                for member in piece.members.iter_mut().filter(is_held) {
                    member.mass = f64::from(member.part) * PINNED * total;
                }
            }
            piece.locate(periods, position);
            piece.weigh();
        });
    }

    /// Makes a motion of all particles one of rigid bodies, as far as those are rigid.
    pub fn project(&self, motion: &mut [Vec4]) {
        for piece in &self.pieces {
            let whole = piece.motion(|member| motion[member.row as usize].truncate());
            for member in piece.present() {
                let row = &mut motion[member.row as usize];
                *row = member.follow(row.truncate(), &whole).extend(row.w);
            }
        }
    }

    /// After positions took the velocities over `dt`, s: puts pieces back into shape. Returns how far the farthest has moved for that, m.
    pub fn settle(&mut self, dt: f64, periods: &Periods, particles: &mut Particles) -> f32 {
        particles.update2((&POSITION, &VELOCITY), |position, velocity, _| {
            let mut farthest = 0.0f32;
            for piece in &mut self.pieces {
                piece.locate(periods, position);
                let (momentum, spin) = piece.momenta(|member| velocity[member.row as usize].truncate());
                // In the body's own frame.
                let own = DMat3::from_quat(piece.rotation);
                let inverse_inertia = own.transpose() * piece.inverse_inertia * own;
                piece.rotation = turned(piece.rotation, spin, inverse_inertia, dt);
                let own = DMat3::from_quat(piece.rotation);
                piece.inverse_inertia = own * inverse_inertia * own.transpose();
                let motion = piece.motion_of(momentum, spin);
                for member in piece.present() {
                    let row = member.row as usize;
                    let place = piece.goal(member);
                    let way = (place - member.place) * f64::from(member.part);
                    let v = velocity[row];
                    velocity[row] = v + (motion.at(place).extend(v.w) - v) * member.part;
                    let moved = position[row].truncate().as_dvec3() + way;
                    position[row] = moved.as_vec3().extend(position[row].w);
                    farthest = farthest.max(way.length() as f32);
                }
            }
            farthest
        })
    }
}

impl Piece {
    /// Members that are not gone.
    pub fn present(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.row != GONE)
    }

    /// Finds the places of all members, and c.
    fn locate(&mut self, periods: &Periods, position: &[Vec4]) {
        let (mut moment, mut mass) = (DVec3::ZERO, 0.0);
        for k in 0..self.members.len() {
            let near = self.members[self.members[k].near as usize].place;
            let member = &mut self.members[k];
            if member.row == GONE {
                continue;
            }
            let mut place = position[member.row as usize].truncate().as_dvec3();
            // The first one is near to itself.
            for axis in (0..3).filter(|&axis| k > 0 && periods.length[axis] > 0.0) {
                let length = f64::from(periods.length[axis]);
                place[axis] += length * ((near[axis] - place[axis]) / length).round();
            }
            member.place = place;
            moment += place * member.mass;
            mass += member.mass;
        }
        self.centre = if mass > 0.0 { moment / mass } else { DVec3::ZERO };
    }

    /// Finds 1/M, I⁻¹, X̄ and R of the places.
    fn weigh(&mut self) {
        let (mut mass, mut rest) = (0.0, DVec3::ZERO);
        for member in self.present() {
            mass += member.mass;
            rest += member.rest * member.mass;
        }
        (self.inverse_mass, self.inverse_inertia) = (0.0, DMat3::ZERO);
        if mass <= 0.0 {
            return;
        }
        self.inverse_mass = 1.0 / mass;
        self.rest_centre = rest / mass;
        let (mut inertia, mut turn) = (DMat3::ZERO, DMat3::ZERO);
        for member in self.present() {
            let (now, then) = (member.place - self.centre, member.rest - self.rest_centre);
            inertia +=
                (DMat3::from_diagonal(DVec3::splat(now.length_squared())) - outer(now, now)) * member.mass;
            turn += outer(now, then) * member.mass;
        }
        if self.is_flat {
            // Only the turn about z is free.
            let about = inertia.z_axis.z;
            self.inverse_inertia.z_axis.z = if about > 0.0 { 1.0 / about } else { 0.0 };
            let (along, across) = (turn.x_axis.x + turn.y_axis.y, turn.x_axis.y - turn.y_axis.x);
            self.rotation = DQuat::from_rotation_z(libm::atan2(across, along));
        } else {
            self.inverse_inertia = inverse(inertia);
            self.rotation = nearest_rotation(turn);
        }
    }

    /// Σ m u and Σ m (x − c) × u of the members' motion u.
    fn momenta(&self, of: impl Fn(&Member) -> Vec3) -> (DVec3, DVec3) {
        let mut sums = (DVec3::ZERO, DVec3::ZERO);
        for member in self.present() {
            let own = of(member).as_dvec3() * member.mass;
            sums.0 += own;
            sums.1 += (member.place - self.centre).cross(own);
        }
        sums
    }

    fn motion_of(&self, momentum: DVec3, spin: DVec3) -> Motion {
        Motion {
            centre: self.centre,
            along: momentum * self.inverse_mass,
            around: self.inverse_inertia * spin,
        }
    }

    /// P of the members' motion u.
    pub fn motion(&self, of: impl Fn(&Member) -> Vec3) -> Motion {
        let (momentum, spin) = self.momenta(of);
        self.motion_of(momentum, spin)
    }

    /// c + R (X − X̄).
    fn goal(&self, member: &Member) -> DVec3 {
        self.centre + self.rotation * (member.rest - self.rest_centre)
    }

    /// What an impulse on a member makes of its velocity by moving the body, at most, 1/kg: the size of w² (1/M − [r] I⁻¹ [r]).
    pub fn mobility(&self, member: &Member) -> f32 {
        let arm = member.place - self.centre;
        let answer =
            |push: DVec3| push * self.inverse_mass + (self.inverse_inertia * arm.cross(push)).cross(arm);
        let square: f64 =
            [DVec3::X, DVec3::Y, DVec3::Z].map(|push| answer(push).length_squared()).iter().sum();
        member.part * member.part * square.sqrt() as f32
    }
}

impl Member {
    /// u + w (Pu − u).
    #[inline]
    pub fn follow(&self, own: Vec3, whole: &Motion) -> Vec3 {
        own + (whole.at(self.place) - own) * self.part
    }
}

impl Motion {
    fn at(&self, place: DVec3) -> Vec3 {
        (self.along + self.around.cross(place - self.centre)).as_vec3()
    }
}

/// a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The inverse of a tensor of inertia, with nothing about axes that have none.
fn inverse(inertia: DMat3) -> DMat3 {
    let (values, axes) = eigen(inertia);
    let least = LEAST_INERTIA * values.max_element();
    let own = |k: usize| {
        let axis = axes.col(k);
        if values[k] > least { outer(axis, axis) * (1.0 / values[k]) } else { DMat3::ZERO }
    };
    own(0) + own(1) + own(2)
}

/// The rotation R with the largest Σ m y·RY, from Σ m y Yᵀ. As a quaternion q that is qᵀNq, so that q is the eigenvector of N with
/// the largest eigenvalue [Horn1987]; vectors in a plane or in a row will do.
fn nearest_rotation(sum: DMat3) -> DQuat {
    let s = |a: usize, b: usize| sum.col(b)[a];
    let around = DVec3::new(s(2, 1) - s(1, 2), s(0, 2) - s(2, 0), s(1, 0) - s(0, 1));
    let trace = s(0, 0) + s(1, 1) + s(2, 2);
    // Rows and columns of N in the order x, y, z, w.
    let own = |k: usize| {
        let mut column = (sum.col(k) + sum.transpose().col(k)).extend(around[k]);
        column[k] -= trace;
        column
    };
    let mut n = DMat4::from_cols(own(0), own(1), own(2), around.extend(trace));
    let mut axes = DMat4::IDENTITY;
    // Jacobi's rotations.
    for _ in 0..30 {
        let size = (0..4).map(|k| n.col(k).abs().max_element()).fold(0.0, f64::max);
        let off: f64 = (0..4).flat_map(|p| (0..p).map(move |q| (p, q))).map(|(p, q)| n.col(p)[q].abs()).sum();
        if off <= 1e-15 * size {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            if n.col(q)[p] == 0.0 {
                continue;
            }
            let slope = (n.col(q)[q] - n.col(p)[p]) / (2.0 * n.col(q)[p]);
            let tangent = slope.signum() / (slope.abs() + (slope * slope + 1.0).sqrt());
            let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
            let sine = tangent * cosine;
            let mut turn = DMat4::IDENTITY;
            (turn.col_mut(p)[p], turn.col_mut(q)[q]) = (cosine, cosine);
            (turn.col_mut(p)[q], turn.col_mut(q)[p]) = (-sine, sine);
            n = turn.transpose() * n * turn;
            axes *= turn;
        }
    }
    let largest = (0..4).max_by(|&a, &b| n.col(a)[a].total_cmp(&n.col(b)[b])).expect("four of them");
    let q: DVec4 = axes.col(largest);
    DQuat::from_vec4(q).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of vectors in space, in a plane and in a row.
    #[test]
    fn a_rotation_is_found_again() {
        let all = [DVec3::new(1.0, 0.2, 0.0), DVec3::new(-0.3, 2.0, 0.5), DVec3::new(0.1, -0.4, 0.7)];
        for count in 1..=3 {
            for k in 0..50 {
                let angle = 0.13 * f64::from(k);
                let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), angle);
                let sum = all[..count].iter().fold(DMat3::ZERO, |sum, &x| sum + outer(turn * x, x) * 2.0);
                let found = nearest_rotation(sum);
                for &x in &all[..count] {
                    assert!((found * x).abs_diff_eq(turn * x, 1e-12), "{count} vectors, turned by {angle}");
                }
            }
        }
        assert_eq!(nearest_rotation(DMat3::ZERO).length(), 1.0);
    }

    #[test]
    fn a_row_has_no_inertia_about_itself() {
        let axis = DVec3::new(1.0, 2.0, 2.0) / 3.0;
        let inertia = (DMat3::IDENTITY - outer(axis, axis)) * 5.0;
        let inverse = inverse(inertia);
        assert!((inverse * axis).length() < 1e-12);
        let across = axis.any_orthogonal_vector();
        assert!((inverse * across).abs_diff_eq(across / 5.0, 1e-12));
    }
}
