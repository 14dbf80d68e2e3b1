//! Solids: what is in the world but not made of particles. Obstacles and containers, things that a scene moves,
//! rigid bodies that the fluid moves.
//!
//! A solid is a shape with a pose. To the fluid it is a set of boundary samples among the walls' (`samples.rs`),
//! which move with it and push back; what they push with is added up to one [`Wrench`]. A scripted solid goes where
//! its keys say (`script.rs`), a free one where rapier puts it (`rigid.rs`). No particle gets through, whatever the
//! samples do (`guard.rs`).
//!
//! Kept honest by the tests in `tests.rs` and by `littoral validate archimedes`.

mod coupling;
mod guard;
mod rigid;
mod samples;
pub(crate) mod script;
#[cfg(test)]
mod tests;

use glam::{DMat3, DQuat, DVec3, Vec3};
use serde::{Deserialize, Serialize};

pub use coupling::{Coupling, WallPush};
pub(crate) use guard::Guard;
pub(crate) use rigid::{Rigid, turned};
pub(crate) use samples::{Calibration, LocalSample};

use crate::discretisation::Discretisation;
use crate::geometry::Geometry;
use crate::scene::{Mobility, Scene, Solid, Weight};
use crate::walls::Walls;
use crate::world::World;

/// Where a solid is: a turn, then a shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// m.
    pub position: DVec3,
    pub rotation: DQuat,
}

impl Pose {
    /// From the solid's own coordinates to the world's.
    pub fn apply(&self, p: DVec3) -> DVec3 {
        self.position + self.rotation * p
    }

    /// The way back.
    pub fn undo(&self, p: DVec3) -> DVec3 {
        self.rotation.inverse() * (p - self.position)
    }
}

/// Force, N, and torque about a solid's centre, N·m (per metre of depth in 2-D).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    pub force: DVec3,
    pub torque: DVec3,
}

impl std::ops::Mul<f64> for Wrench {
    type Output = Wrench;

    fn mul(self, factor: f64) -> Wrench {
        Wrench { force: self.force * factor, torque: self.torque * factor }
    }
}

impl std::ops::AddAssign for Wrench {
    fn add_assign(&mut self, other: Wrench) {
        self.force += other.force;
        self.torque += other.torque;
    }
}

/// A solid during a run.
pub struct SolidState {
    pub name: String,
    pub mobility: Mobility,
    pub geometry: Geometry,
    /// The shape is a hollow.
    pub inside: bool,
    /// The point of the shape, as the scene places it, that `pose` places: the centre of mass, where it has one.
    pub origin: DVec3,
    pub pose: Pose,
    /// Where it was before it last moved.
    pub previous: Pose,
    /// Of the centre, m/s. Of a scripted solid: the mean over the step.
    pub velocity: DVec3,
    /// rad/s.
    pub angular_velocity: DVec3,
    /// 1/kg; 0 unless it is free.
    pub inverse_mass: f64,
    /// About the centre, along the solid's own axes, 1/(kg·m²); 0 unless it is free.
    local_inverse_inertia: DMat3,
    /// What the fluid does to it: of the last evaluation of forces, and of the solves since.
    pub wrench: Wrench,
    /// Its rows among the walls.
    pub rows: std::ops::Range<usize>,
    /// The same in its own coordinates.
    local: Vec<LocalSample>,
    /// Farthest sample or point of the shape from the centre, m.
    reach: f64,
    /// It goes on for ever.
    endless: bool,
}

/// Where a solid is and how it moves, as frames and reports tell it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolidRecord {
    pub name: String,
    /// Of the centre, m.
    pub position: [f64; 3],
    /// Point of the shape, as the scene places it, that is at `position`, m.
    pub origin: [f64; 3],
    /// Quaternion x, y, z, w.
    pub rotation: [f64; 4],
    /// m/s.
    pub velocity: [f64; 3],
    /// rad/s.
    pub angular_velocity: [f64; 3],
    /// Of the fluid on the solid, N.
    pub force: [f64; 3],
    /// N·m.
    pub torque: [f64; 3],
}

impl SolidState {
    fn new(solid: &Solid, d: &Discretisation) -> SolidState {
        let geometry = Geometry::of(&solid.shape, d.dimensions);
        let mass = geometry.mass_properties();
        let (min, max) = geometry.bounds();
        let middle = if min.is_finite() && max.is_finite() { 0.5 * (min + max) } else { DVec3::ZERO };
        let origin = if matches!(solid.mobility, Mobility::Free(_)) { mass.centre } else { middle };
        let (inverse_mass, local_inverse_inertia, velocity, angular_velocity) = match &solid.mobility {
            Mobility::Free(free) => {
                let kilograms = match free.weight {
                    Weight::Density(density) => density * mass.volume,
                    Weight::Mass(mass) => mass,
                };
                let inertia = mass.inertia * (kilograms / mass.volume);
                (1.0 / kilograms, inverse(inertia, d), free.velocity.into(), free.angular_velocity.into())
            }
            _ => (0.0, DMat3::ZERO, DVec3::ZERO, DVec3::ZERO),
        };
        let pose = match &solid.mobility {
            Mobility::Scripted(script) => script::pose(script, origin, 0.0),
            _ => Pose { position: origin, rotation: DQuat::IDENTITY },
        };
        let reach =
            if min.is_finite() && max.is_finite() { (origin - min).max(max - origin).length() } else { 0.0 };
        SolidState {
            name: solid.name.clone(),
            mobility: solid.mobility.clone(),
            geometry,
            inside: solid.inside,
            origin,
            pose,
            previous: pose,
            velocity,
            angular_velocity,
            inverse_mass,
            local_inverse_inertia,
            wrench: Wrench::default(),
            rows: 0..0,
            local: Vec::new(),
            reach,
            endless: !(min.is_finite() && max.is_finite()),
        }
    }

    pub fn is_fixed(&self) -> bool {
        matches!(self.mobility, Mobility::Fixed)
    }

    pub fn is_free(&self) -> bool {
        matches!(self.mobility, Mobility::Free(_))
    }

    /// v + ω × r, m/s.
    pub fn velocity_at(&self, point: DVec3) -> DVec3 {
        self.velocity + self.angular_velocity.cross(point - self.pose.position)
    }

    /// About the centre, in the world's frame, 1/(kg·m²).
    pub fn inverse_inertia(&self) -> DMat3 {
        let turn = DMat3::from_quat(self.pose.rotation);
        turn * self.local_inverse_inertia * turn.transpose()
    }

    /// Changes of velocity and angular velocity that a wrench makes in unit time, m/s² and rad/s².
    pub fn response(&self, wrench: Wrench) -> (DVec3, DVec3) {
        (wrench.force * self.inverse_mass, self.inverse_inertia() * wrench.torque)
    }

    /// From the world to the shape as the scene places it.
    pub fn to_shape(&self, p: DVec3) -> DVec3 {
        self.pose.undo(p) + self.origin
    }

    /// Distance of a point of the world to the solid, negative in it, m.
    pub fn distance(&self, p: DVec3) -> f64 {
        let distance = self.geometry.distance(self.to_shape(p));
        if self.inside { -distance } else { distance }
    }

    /// Whether a point of the world may be closer than so much, m; a quick look that may say yes too often.
    pub fn may_be_within(&self, p: DVec3, distance: f64) -> bool {
        self.inside || self.endless || p.distance(self.pose.position) < self.reach + distance
    }

    /// Outwards, at the nearest point of the surface to a point of the world.
    pub fn normal(&self, p: DVec3) -> DVec3 {
        let normal = self.pose.rotation * self.geometry.normal(self.to_shape(p));
        if self.inside { -normal } else { normal }
    }

    /// Where it will be after a time, s, at the velocities it has.
    pub fn pose_after(&self, dt: f64) -> Pose {
        let turn = DQuat::from_scaled_axis(self.angular_velocity * dt);
        Pose {
            position: self.pose.position + self.velocity * dt,
            rotation: (turn * self.pose.rotation).normalize(),
        }
    }

    /// A bound on how fast any point of it moves, m/s.
    pub fn fastest(&self) -> f64 {
        self.velocity.length() + self.angular_velocity.length() * self.reach
    }

    pub fn record(&self) -> SolidRecord {
        SolidRecord {
            name: self.name.clone(),
            position: self.pose.position.to_array(),
            origin: self.origin.to_array(),
            rotation: self.pose.rotation.to_array(),
            velocity: self.velocity.to_array(),
            angular_velocity: self.angular_velocity.to_array(),
            force: self.wrench.force.to_array(),
            torque: self.wrench.torque.to_array(),
        }
    }

    /// Writes the samples' rows: positions and normals from the pose, velocities from v + ω × r.
    fn write_rows(&self, walls: &mut Walls) {
        for (row, sample) in self.rows.clone().zip(&self.local) {
            let arm = self.pose.rotation * sample.position;
            let at = self.pose.position + arm;
            let normal = (self.pose.rotation * sample.normal).as_vec3();
            walls.place[row] = at.as_vec3().extend(walls.place[row].w);
            walls.face[row] = normal.extend(walls.face[row].w);
        }
        self.write_velocities(self.velocity, self.angular_velocity, walls);
    }

    fn write_velocities(&self, velocity: DVec3, angular_velocity: DVec3, walls: &mut Walls) {
        self.write_moves(velocity, angular_velocity, |row, moves| {
            walls.motion[row] = moves.extend(walls.motion[row].w);
        });
    }

    /// v + ω × r at each sample, with its row.
    pub(crate) fn write_moves(&self, along: DVec3, around: DVec3, mut write: impl FnMut(usize, Vec3)) {
        for (row, sample) in self.rows.clone().zip(&self.local) {
            let arm = self.pose.rotation * sample.position;
            write(row, (along + around.cross(arm)).as_vec3());
        }
    }
}

/// In the plane, a body turns about z alone.
fn inverse(inertia: DMat3, d: &Discretisation) -> DMat3 {
    if d.dimensions.count() == 2 {
        return DMat3::from_diagonal(DVec3::new(0.0, 0.0, 1.0 / inertia.z_axis.z));
    }
    inertia.inverse()
}

/// The scene's solids; where anybody needs them, with samples among the walls: those that stay first, so that they need to be
/// sorted only once.
pub(crate) fn place(
    scene: &Scene,
    d: &Discretisation,
    has_samples: bool,
    walls: &mut Walls,
) -> Vec<SolidState> {
    let mut solids: Vec<SolidState> = scene.solids.iter().map(|solid| SolidState::new(solid, d)).collect();
    if !has_samples {
        return solids;
    }
    let calibration = Calibration::new(d);
    for moves in [false, true] {
        for k in 0..solids.len() {
            if solids[k].is_fixed() == moves {
                continue;
            }
            let slip = scene.solids[k].slip as f32;
            let samples = samples::sample(&solids, k, &scene.solids[k].shape, &scene.domain, d, &calibration);
            let start = walls.len();
            walls.extend(&samples, k as u32 + 1, slip, d);
            let solid = &mut solids[k];
            solid.rows = start..walls.len();
            let own = |sample: &LocalSample| sample.position.length();
            solid.reach = samples.iter().map(own).fold(solid.reach, f64::max);
            solid.local = samples;
            solid.write_rows(walls);
        }
        if !moves {
            walls.fixed = walls.len();
        }
    }
    solids
}

impl World {
    /// Before a step: scripted solids take the mean velocity of the step, so that they arrive where their keys say.
    pub(crate) fn aim_solids(&mut self, dt: f64) {
        for solid in &mut self.solids {
            let Mobility::Scripted(script) = &solid.mobility else { continue };
            let next = script::pose(script, solid.origin, self.clock.time + dt);
            solid.velocity = (next.position - solid.pose.position) / dt;
            solid.angular_velocity = script::turn(solid.pose.rotation, next.rotation) / dt;
            solid.write_velocities(solid.velocity, solid.angular_velocity, &mut self.walls);
        }
    }

    /// Before a solve: the samples of free solids move as they will if the solve does nothing.
    pub(crate) fn predict_solids(&mut self, dt: f64) {
        let Some(rigid) = &self.rigid else { return };
        for solid in self.solids.iter().filter(|solid| solid.is_free()) {
            let (along, around) = solid.response(solid.wrench);
            let velocity = solid.velocity + dt * (along + rigid.gravity());
            solid.write_velocities(velocity, solid.angular_velocity + dt * around, &mut self.walls);
        }
    }

    /// Moves all solids through one step, and their samples with them. Returns how far a sample moved at most, m.
    pub(crate) fn move_solids(&mut self, dt: f64) -> f32 {
        if self.solids.iter().all(SolidState::is_fixed) {
            return 0.0;
        }
        let time = self.clock.time + dt;
        for solid in &mut self.solids {
            solid.previous = solid.pose;
            if let Mobility::Scripted(script) = &solid.mobility {
                solid.pose = script::pose(script, solid.origin, time);
            }
        }
        if let Some(rigid) = &mut self.rigid {
            rigid.step(&mut self.solids, dt);
        }
        let mut travel = 0.0f64;
        for solid in self.solids.iter().filter(|solid| !solid.is_fixed()) {
            solid.write_rows(&mut self.walls);
            let shift = solid.pose.position.distance(solid.previous.position);
            let turn = script::turn(solid.previous.rotation, solid.pose.rotation).length();
            travel = travel.max(shift + turn * solid.reach);
        }
        self.neighbourhood.walls_moved();
        travel as f32
    }

    /// A bound on how fast any solid moves, now or within the longest step that could come, m/s.
    pub(crate) fn fastest_solid(&self) -> f32 {
        let speed = |solid: &SolidState| match &solid.mobility {
            Mobility::Fixed => 0.0,
            Mobility::Free(_) => solid.fastest(),
            Mobility::Scripted(script) => {
                let ahead = self.clock.settings.maximum_step;
                script::fastest(script, solid.origin, solid.reach, self.clock.time, ahead)
                    .max(solid.fastest())
            }
        };
        self.solids.iter().map(speed).fold(0.0, f64::max) as f32
    }

    /// Puts solids where they were at a checkpoint.
    pub(crate) fn place_solids(&mut self, poses: &[[u64; 19]]) {
        for (solid, bits) in self.solids.iter_mut().zip(poses) {
            let n = bits.map(f64::from_bits);
            solid.pose = Pose {
                position: DVec3::new(n[0], n[1], n[2]),
                rotation: DQuat::from_xyzw(n[3], n[4], n[5], n[6]),
            };
            solid.previous = solid.pose;
            solid.velocity = DVec3::new(n[7], n[8], n[9]);
            solid.angular_velocity = DVec3::new(n[10], n[11], n[12]);
            solid.wrench.force = DVec3::new(n[13], n[14], n[15]);
            solid.wrench.torque = DVec3::new(n[16], n[17], n[18]);
            solid.write_rows(&mut self.walls);
        }
        self.neighbourhood.walls_moved();
    }
}

impl SolidState {
    /// All that changes during a run, as bits.
    pub(crate) fn bits(&self) -> [u64; 19] {
        let mut all = [0.0; 19];
        all[..3].copy_from_slice(&self.pose.position.to_array());
        all[3..7].copy_from_slice(&self.pose.rotation.to_array());
        all[7..10].copy_from_slice(&self.velocity.to_array());
        all[10..13].copy_from_slice(&self.angular_velocity.to_array());
        all[13..16].copy_from_slice(&self.wrench.force.to_array());
        all[16..].copy_from_slice(&self.wrench.torque.to_array());
        all.map(f64::to_bits)
    }
}
