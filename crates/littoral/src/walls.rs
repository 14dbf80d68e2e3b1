//! Walls as boundary samples: those of the box.
//!
//! Each walled side is filled with layers of samples until they are as thick as the kernels' support, the
//! first half a spacing behind the surface: the lattice of the fluid goes on in the wall, density is complete
//! beside it, and the pressure that keeps fluid out starts where it should. Where particles have several sizes, the
//! samples are as fine as the finest and as deep as the longest support: the sums of all of them are complete. A sample's volume is the volume
//! it stands for, corrected where the box is not a whole number of spacings long. Walls that push by contact have
//! one layer, without volume.
//!
//! Samples are not particles: no law moves them. Those of the box, and of solids that stay, are sorted once.
//! Samples of solids (`solids/samples.rs`) follow them in the same rows.

use glam::{Vec3, Vec4};

use crate::discretisation::Discretisation;
use crate::scene::{Dimensions, Domain, Side, WallModel};

/// Boundary samples, in the rows that loops over neighbours load.
#[derive(Clone, Default)]
pub struct Walls {
    /// x, y, z: position, m; w: volume that the sample stands for, m³.
    pub place: Vec<Vec4>,
    /// x, y, z: velocity of the wall, m/s; w: pressure term, Pa, found anew in each step.
    pub motion: Vec<Vec4>,
    /// x, y, z: outward normal, towards the fluid, zero on edges and corners; w: depth behind the surface, m.
    pub face: Vec<Vec4>,
    /// Which solid the sample belongs to: 0 is the box, k + 1 the scene's k-th solid.
    pub owner: Vec<u32>,
    /// Support radius, m.
    pub support: Vec<f32>,
    /// Longest support of any particle of the world, m.
    pub reach: f32,
    /// Part of the sample's kernel that the fluid fills when it is at rest in front of it.
    pub share: Vec<f32>,
    /// How firmly the sample holds the fluid that passes it: 1 for no slip, 0 for free slip.
    pub hold: Vec<f32>,
    /// Samples that see enough of the fluid to press back on it.
    pub pressing: Vec<u32>,
    /// Number of samples that never move; they come first.
    pub fixed: usize,
    /// As `motion`, with the velocity that the fluid before the sample is continued with; for SPH walls only.
    pub flow: Vec<Vec4>,
}

impl Walls {
    pub fn len(&self) -> usize {
        self.place.len()
    }

    pub fn is_empty(&self) -> bool {
        self.place.is_empty()
    }

    /// Takes the volume of all samples away where walls push by contact alone (`behaviours/wall_contact.rs`): they then
    /// count in no density and have no pressure.
    pub fn apply(&mut self, model: WallModel) {
        if model.is_contact() {
            self.place.iter_mut().for_each(|place| place.w = 0.0);
            self.pressing.clear();
        }
    }

    /// Memory, bytes.
    pub fn bytes(&self) -> usize {
        self.len() * (3 * 16 + 4 * 4) + 4 * self.pressing.len() + 16 * self.flow.capacity()
    }
}

/// Places along one axis, with the side they are behind, if any.
#[derive(Clone, Copy)]
struct Place {
    at: f64,
    /// Distance behind the surface of the lower (−1) or upper (1) side, or 0 inside the box.
    depth: f64,
    side: i32,
    /// Length that the sample stands for.
    length: f64,
}

/// Samples that see less of the fluid than this have no pressure of their own: a particle that gets closer than a
/// lattice at rest would be would look like a huge density.
pub const LEAST_SHARE: f32 = 0.02;

/// Fills the walls of a box.
pub fn sample(domain: &Domain, d: &Discretisation) -> Walls {
    let [xs, ys, zs] = [0, 1, 2].map(|axis| places(domain, d, axis));
    let mut walls = Walls { reach: d.longest_support, ..Walls::default() };
    for z in &zs {
        for y in &ys {
            // Whole rows inside the box hold samples at their ends only.
            let inside = y.side == 0 && z.side == 0;
            for x in xs.iter().filter(|x| !inside || x.side != 0) {
                walls.push([*x, *y, *z], domain, d);
                let share = share([x, y, z], [&xs, &ys, &zs], domain, d);
                if share > LEAST_SHARE {
                    walls.pressing.push(walls.share.len() as u32);
                }
                walls.share.push(share);
            }
        }
    }
    walls.fixed = walls.len();
    walls
}

impl Walls {
    fn push(&mut self, sample: [Place; 3], domain: &Domain, d: &Discretisation) {
        let at = Vec3::from_array(sample.map(|place| place.at as f32));
        let volume: f64 = sample.iter().map(|place| place.length).product();
        self.place.push(at.extend(volume as f32));

        let behind = || (0..3).filter(|&axis| sample[axis].side != 0);
        let mut face = Vec4::ZERO;
        if behind().count() == 1 {
            let axis = behind().next().expect("there is one");
            face[axis] = -sample[axis].side as f32;
            face.w = sample[axis].depth as f32;
        }
        self.face.push(face);

        // On an edge between a moving and a resting wall, the sample moves with the moving one.
        let velocities = behind().map(|axis| domain.wall_velocity[axis][(sample[axis].side > 0) as usize]);
        let fastest = velocities.max_by(|a, b| length(a).total_cmp(&length(b))).unwrap_or([0.0; 3]);
        self.motion.push(Vec3::from_array(fastest.map(|v| v as f32)).extend(0.0));
        self.owner.push(0);
        self.hold.push(1.0 - d.slip);
        self.support.push(d.support);
    }
}

/// Σ V W over the lattice of a fluid at rest in the box.
fn share(sample: [&Place; 3], axes: [&[Place]; 3], domain: &Domain, d: &Discretisation) -> f32 {
    let support = f64::from(d.support);
    // Distances and lengths of the places within reach, along each axis, to the nearest image.
    let near = [0, 1, 2].map(|axis| {
        let period = domain.max[axis] - domain.min[axis];
        let periodic = domain.sides[axis][0] == Side::Periodic;
        let distance = |place: &Place| {
            let x = sample[axis].at - place.at;
            if periodic { x - period * (x / period).round() } else { x }
        };
        let inside = axes[axis].iter().filter(|place| place.side == 0);
        let rows = inside.map(|place| (distance(place), place.length)).filter(|(x, _)| x.abs() < support);
        rows.collect::<Vec<_>>()
    });
    let mut sum = 0.0;
    for (z, depth) in &near[2] {
        for (y, height) in &near[1] {
            for (x, width) in &near[0] {
                let r = (x * x + y * y + z * z).sqrt();
                sum += width * height * depth * f64::from(d.density.w_at(r as f32));
            }
        }
    }
    sum as f32
}

fn length(v: &[f64; 3]) -> f64 {
    v.iter().map(|c| c * c).sum()
}

fn places(domain: &Domain, d: &Discretisation, axis: usize) -> Vec<Place> {
    if axis == 2 && d.dimensions == Dimensions::Two {
        return vec![Place { at: 0.0, depth: 0.0, side: 0, length: 1.0 }];
    }
    let spacing = f64::from(d.spacing);
    let layers =
        if d.walls.is_contact() { 1 } else { (f64::from(d.longest_support) / spacing).ceil() as usize };
    let (min, max) = (domain.min[axis], domain.max[axis]);
    let mut places = Vec::new();
    let mut behind = |side: i32, surface: f64| {
        for layer in 0..layers {
            let depth = (layer as f64 + 0.5) * spacing;
            places.push(Place { at: surface + f64::from(side) * depth, depth, side, length: spacing });
        }
    };
    if domain.sides[axis][0] == Side::Wall {
        behind(-1, min);
    }
    if domain.sides[axis][1] == Side::Wall {
        behind(1, max);
    }
    if (max - min).is_finite() {
        let count = ((max - min) / spacing).round().max(1.0);
        let length = (max - min) / count;
        let inside = (0..count as usize).map(|k| Place {
            at: min + (k as f64 + 0.5) * length,
            depth: 0.0,
            side: 0,
            length,
        });
        places.extend(inside);
    }
    places
}
