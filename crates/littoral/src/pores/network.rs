//! Which pores lead where: the ways between the particles of a porous body, from its places at rest.
//!
//! A flow that loses pressure by Darcy's law dissipates ½ ∫ ∇Φ·κ∇Φ dV, with κ the permeability in parts of its mean. Between
//! particles that is ½ Σ G_ij (Φ_i − Φ_j)² over pairs, each with a conductance G_ij ≥ 0, which makes every flow antisymmetric, and
//! never lets it run uphill. For a potential that rises evenly in any direction both are the same if
//!
//!   ½ Σ_j G_ij X_ji ⊗ X_ji = V_i κ        for every particle i inside; along an axis that it has neighbours on one side of only, half of that.
//!
//! We take G_ij = ½ w_ij (t_i + t_j)(X̂), with the weights w of `structure/bonds.rs` and t(X̂) = Σ_a t_a X̂_a² for three numbers t_a
//! along the axes, which the three diagonal entries of that equation determine. So a particle at a face, which has neighbours on
//! one side only, conducts along the face as well as one inside does. (With the customary Σ V_j ∇²W, a column of 4 × 4 particles
//! lets through a fifth too little.)
//!
//! Slanted ways serve two axes at once. Where neighbours are missing along one of them, or little is to pass along it, they must bear
//! little too, or no t_a ≥ 0 would do: weights are multiplied by r⁻⁶ and by (X̂·κ⁻¹X̂)⁻².

use glam::{DMat3, DVec3, Mat3, Vec3};

use crate::structure::bonds::{Bond, Bonds};

/// A body's particles are at its surface where their neighbours lie to one side by so much: Σ w X over Σ w |X|. At a flat face
/// it is 0.4, one layer below 0.1.
const LEAN: f32 = 0.2;

/// The ways of one body. Its nodes are numbered from 0 here: members.
pub struct Network {
    pub body: u32,
    /// Node of the first member.
    pub first: u32,
    /// First way of each member, and the number of ways at the end.
    starts: Vec<u32>,
    ways: Vec<Way>,
    pub members: Vec<Member>,
    bonds: Bonds,
    /// Spans less than three directions: its shape says nothing of its pores, only what presses on it does.
    is_thin: bool,
}

/// One end of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    pub partner: u32,
    /// G_ij for a permeability of 1 m², m.
    pub conductance: f32,
}

/// What a member's place at rest says of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Member {
    /// Of the material around it, m³ (m² in 2-D).
    pub volume: f32,
    /// Area over distance from its middle to the outside, m; 0 inside.
    pub opening: f32,
    /// That distance, m.
    pub depth: f32,
    /// Of a layer, what contacts press on, m² (m in 2-D); of a rope, a side of its particle.
    pub area: f32,
}

/// What is known of a body at rest.
pub struct Rest<'a> {
    pub places: &'a [DVec3],
    /// Volumes of the material, m³ (m² in 2-D).
    pub volumes: &'a [f32],
    /// Permeability along the axes over its mean.
    pub along: DVec3,
    pub is_flat: bool,
    /// Spacing of its particles, m.
    pub size: f64,
    /// Of one layer, m; 0 where it is not.
    pub thickness: f64,
}

impl Network {
    /// `bonds` are those of the places at rest.
    pub fn new(body: u32, first: u32, rest: &Rest, bonds: Bonds) -> Network {
        let n = bonds.len();
        let is_thin = rest.thickness > 0.0 || !rest.is_flat && (0..n).any(|k| spanned(&bonds, k) < 3.0);
        let scales: Vec<DVec3> = (0..n).map(|k| scales(&bonds, rest, k, is_thin)).collect();
        let mut network =
            Network { body, first, starts: vec![0], ways: Vec::new(), members: Vec::new(), bonds, is_thin };
        for k in 0..n {
            for bond in network.bonds.of(k) {
                let along = bond.rest.as_dvec3().normalize_or_zero();
                let scale = 0.5 * (scales[k] + scales[bond.partner as usize]).dot(along * along);
                let conductance = (rest.weight(bond) * scale) as f32;
                network.ways.push(Way { partner: bond.partner, conductance });
            }
            network.starts.push(network.ways.len() as u32);
            let volume = rest.volumes[k];
            network.members.push(member(network.bonds.of(k), volume, rest));
        }
        network
    }

    pub fn count(&self) -> usize {
        self.members.len()
    }

    pub fn of(&self, member: usize) -> &[Way] {
        &self.ways[self.starts[member] as usize..self.starts[member + 1] as usize]
    }

    /// J, the volume of a member over that at rest, from where its neighbours are now; and the way out of the body there.
    pub fn shape(&self, member: usize, way_to: impl Fn(usize) -> Option<Vec3>) -> (f32, Vec3) {
        let fit = &self.bonds.fits[member];
        let (mut sum, mut lean) = (Mat3::ZERO, Vec3::ZERO);
        for bond in self.bonds.of(member) {
            let Some(way) = way_to(bond.partner as usize) else { continue };
            let y = way * bond.weight;
            sum.x_axis += y * bond.rest.x;
            sum.y_axis += y * bond.rest.y;
            sum.z_axis += y * bond.rest.z;
            lean += y;
        }
        let f = sum * fit.inverse;
        if fit.normal != Vec3::ZERO && self.is_thin {
            let [a, b, c] = [f.x_axis, f.y_axis, f.z_axis];
            let normal = Mat3::from_cols(b.cross(c), c.cross(a), a.cross(b)) * fit.normal;
            return (1.0, normal.normalize_or_zero());
        }
        let out = -lean.normalize_or_zero();
        if self.is_thin { (1.0, out) } else { ((f + Mat3::IDENTITY - fit.span).determinant(), out) }
    }

    pub fn is_thin(&self) -> bool {
        self.is_thin
    }
}

/// t along the three axes, or one for all where those do not say enough.
fn scales(bonds: &Bonds, rest: &Rest, member: usize, is_thin: bool) -> DVec3 {
    let (mut moments, mut spread) = (DMat3::ZERO, 0.0);
    let (mut above, mut below) = (DVec3::ZERO, DVec3::ZERO);
    for bond in bonds.of(member) {
        let x = bond.rest.as_dvec3();
        let (square, weight) = (x * x, rest.weight(bond));
        let part = square / x.length_squared();
        moments += DMat3::from_cols(square * part.x, square * part.y, square * part.z) * weight;
        spread += weight * x.length_squared();
        above += square * weight * DVec3::select(x.cmpgt(DVec3::ZERO), DVec3::ONE, DVec3::ZERO);
        below += square * weight * DVec3::select(x.cmplt(DVec3::ZERO), DVec3::ONE, DVec3::ZERO);
    }
    let twice = 2.0 * f64::from(rest.volumes[member]);
    let axes = if rest.is_flat { 2 } else { 3 };
    if !is_thin && spread > 0.0 {
        // Sides that have no neighbours lead out: that is the opening's part.
        let sides = (above + below) / (2.0 * above.max(below)).max(DVec3::splat(f64::MIN_POSITIVE));
        let mut target = rest.along * sides * twice;
        if rest.is_flat {
            moments.z_axis.z = 1.0;
            target.z = 0.0;
        }
        let size = (spread / f64::from(axes)).powi(axes);
        let found = moments.inverse() * target;
        if moments.determinant() > 1e-4 * size && found.is_finite() && found.min_element() >= 0.0 {
            return found;
        }
    }
    // The sum of the diagonal, over the directions that its neighbours span.
    if spread > 0.0 { rest.along * (twice * spanned(bonds, member) / spread) } else { DVec3::ZERO }
}

/// Number of directions that a member's neighbours span.
fn spanned(bonds: &Bonds, member: usize) -> f64 {
    let span = &bonds.fits[member].span;
    f64::from(span.x_axis.x + span.y_axis.y + span.z_axis.z).round()
}

impl Rest<'_> {
    fn weight(&self, bond: &Bond) -> f64 {
        let along = bond.rest.as_dvec3().normalize_or_zero();
        // What hardly lets anything pass must not divide by nothing.
        let part = self.along / self.along.max_element();
        let resistance = (along * along / part.max(DVec3::splat(1e-3))).element_sum();
        let near = self.size * self.size / bond.rest.as_dvec3().length_squared();
        f64::from(bond.weight) * near.powi(3) / (resistance * resistance).max(f64::MIN_POSITIVE)
    }
}

/// What a member's neighbours at rest say of its way out.
fn member(bonds: &[Bond], volume: f32, rest: &Rest) -> Member {
    if rest.thickness > 0.0 {
        // Both faces of a layer are half its thickness away.
        let opening = (4.0 * f64::from(volume) / (rest.thickness * rest.thickness)) as f32;
        return Member { volume, opening, depth: 0.0, area: volume / rest.thickness as f32 };
    }
    let (lean, reach) = bonds.iter().fold((Vec3::ZERO, 0.0), |(lean, reach), bond| {
        (lean + bond.rest * bond.weight, reach + bond.weight * bond.rest.length())
    });
    let (side, area) = if rest.is_flat {
        (volume.sqrt(), volume.sqrt())
    } else {
        (libm::cbrtf(volume), libm::cbrtf(volume).powi(2))
    };
    if lean.length() < LEAN * reach {
        return Member { volume, area, ..Member::default() };
    }
    let out = lean.as_dvec3().normalize_or_zero();
    let along = (out * out).dot(rest.along) as f32;
    // A face of a cell of this volume, from its middle; in 2-D, for each metre of depth.
    let opening = if rest.is_flat { 2.0 } else { 2.0 * side };
    Member { volume, opening: opening * along, depth: 0.5 * side, area }
}
