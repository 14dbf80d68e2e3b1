//! Clusters: regions of a granular material that do not shear, moved as rigid bodies [ZhuBridson2005; Lenaerts2009, 5.2].
//!
//! Friction leaves no shear where it is strong enough; an iteration leaves a little, and a heap would creep for ever. So
//! particles that do not yield, and are neighbours of each other, are given the one rigid motion that has their momentum and angular
//! momentum. A cluster that sticks to a wall, and is no faster against it than weight could make it within a step, rests there.

use glam::{DMat3, DVec3, Vec3, Vec4};

use crate::backend::cpu::Rows;

/// A particle in the eyes of its cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Moves on its own.
    Loose,
    /// Does not yield.
    Rigid,
    /// Nor does it slip along a wall that moves at this velocity, m/s.
    Held(Vec3),
}

/// Memory of the search.
#[derive(Default)]
pub struct Clusters {
    parent: Vec<u32>,
    bodies: Vec<Body>,
    /// Which body each root has become.
    body_of: Vec<u32>,
}

/// What a cluster has in sum.
#[derive(Clone, Copy, Default)]
struct Body {
    mass: f64,
    /// Σ m x.
    moment: DVec3,
    momentum: DVec3,
    /// Of it, what other forces have added in the step.
    gained: DVec3,
    /// About the origin.
    spin: DVec3,
    /// Σ m x xᵀ.
    second: DMat3,
    members: u32,
    held: u32,
    /// Sum over those held.
    wall_velocity: DVec3,
    /// The motion that comes out: of the centre, and turning.
    centre: DVec3,
    velocity: DVec3,
    turning: DVec3,
}

/// How fast a cluster that is held may be against its wall and rest all the same, as a part of what weight adds to its speed in a step.
const RESTS: f64 = 0.5;

/// Fewest that make a cluster.
const FEWEST: u32 = 8;

impl Clusters {
    /// Gives every cluster its rigid motion. `near`: how close neighbours are, m; `gained`: what forces other than pressure and
    /// friction have made of each velocity in the step, m/s. Returns how many particles are in clusters.
    pub fn stiffen(
        &mut self,
        rows: &Rows,
        mass: &[f32],
        kind: impl Fn(usize) -> Kind,
        near: f32,
        gained: impl Fn(usize) -> Vec4,
        velocity: &mut [Vec4],
    ) -> usize {
        let place = rows.place();
        self.parent.clear();
        self.parent.extend(0..place.len() as u32);
        let is_rigid = |i: usize| kind(i) != Kind::Loose;
        for i in (0..place.len()).filter(|&i| is_rigid(i)) {
            for j in rows.lists().particles(i).as_slice().iter().map(|&j| j as usize).filter(|&j| j < i) {
                let x = rows.periods().nearest(place[i] - place[j]).truncate();
                if x.length_squared() < near * near && is_rigid(j) {
                    self.unite(i as u32, j as u32);
                }
            }
        }
        // In the order of the particles: the same bits for any number of threads.
        self.bodies.clear();
        self.body_of.clear();
        self.body_of.resize(place.len(), u32::MAX);
        for i in (0..place.len()).filter(|&i| is_rigid(i)) {
            let root = self.root(i as u32) as usize;
            if self.body_of[root] == u32::MAX {
                self.body_of[root] = self.bodies.len() as u32;
                self.bodies.push(Body::default());
            }
            let body = &mut self.bodies[self.body_of[root] as usize];
            let (m, x, v) =
                (f64::from(mass[i]), place[i].truncate().as_dvec3(), velocity[i].truncate().as_dvec3());
            body.mass += m;
            body.moment += x * m;
            body.momentum += v * m;
            body.spin += x.cross(v) * m;
            body.second += DMat3::from_cols(x * (x.x * m), x * (x.y * m), x * (x.z * m));
            body.gained += gained(i).truncate().as_dvec3() * m;
            body.members += 1;
            if let Kind::Held(wall) = kind(i) {
                body.held += 1;
                body.wall_velocity += wall.as_dvec3();
            }
        }
        let has_periods = rows.periods().length.iter().any(|&length| length > 0.0);
        self.bodies.iter_mut().for_each(|body| body.find_motion(has_periods));
        let mut inside = 0;
        for i in (0..place.len()).filter(|&i| is_rigid(i)) {
            let root = self.root(i as u32) as usize;
            let body = &self.bodies[self.body_of[root] as usize];
            if body.members >= FEWEST {
                let arm = place[i].truncate().as_dvec3() - body.centre;
                velocity[i] = (body.velocity + body.turning.cross(arm)).as_vec3().extend(velocity[i].w);
                inside += 1;
            }
        }
        inside
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let up = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = up;
            i = up;
        }
        i
    }

    fn unite(&mut self, i: u32, j: u32) {
        let (a, b) = (self.root(i), self.root(j));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}

impl Body {
    fn find_motion(&mut self, has_periods: bool) {
        self.centre = self.moment / self.mass;
        self.velocity = self.momentum / self.mass;
        let spin = self.spin - self.centre.cross(self.momentum);
        let c = self.centre;
        let about = self.second - DMat3::from_cols(c * c.x, c * c.y, c * c.z) * self.mass;
        let inertia =
            DMat3::from_diagonal(DVec3::splat(about.x_axis.x + about.y_axis.y + about.z_axis.z)) - about;
        // Particles in a row, or on both sides of a periodic box, do not turn.
        let size = about.x_axis.x + about.y_axis.y + about.z_axis.z;
        let turns = !has_periods && inertia.determinant() > 1e-9 * size.powi(3);
        self.turning = if turns { inertia.inverse() * spin } else { DVec3::ZERO };
        if self.held > 0 {
            let wall = self.wall_velocity / f64::from(self.held);
            let reach = (size / self.mass).sqrt();
            let slow = RESTS * self.gained.length() / self.mass;
            if (self.velocity - wall).length() + self.turning.length() * reach < slow {
                (self.velocity, self.turning) = (wall, DVec3::ZERO);
            }
        }
    }
}
