//! Contact between bodies that hold a shape, by impulses: with themselves, each other, walls and solids.
//!
//! Every node is a ball as wide as the body's contact distance d. After all forces and solves, and before positions take
//! the velocities, two nodes at r with the normal n = (x_i − x_j)/r must satisfy
//!
//!   (v_i − v_j)·n Δt ≥ −(r − d)           while they are apart: they may come as close as touching, within the step;
//!   (v_i − v_j)·n Δt ≥ β (d − r)          where they overlap: a part β of that is taken back.
//!
//! The first is why nothing passes: a contact acts before it is there, however fast the bodies are. Impulses never
//! pull, and friction is Coulomb's: sideways, at most μ times the impulse along n. Balls that stand a spacing apart leave no
//! hole that another ball would fit through: cloth of such balls stops cloth of such balls.
//!
//! Impulses are found by Jacobi's method with split masses [Tonge2012]: a node that takes part in c contacts brings the
//! mass m/c to each, so that no sum of impulses overshoots, and both ends compute the same impulse: momentum is kept to
//! rounding, and the order of nodes does not matter. Pinned nodes have infinite mass. A pair that touched in the step before
//! starts from the impulse it had then: a pile of cloth carries its weight down to the floor over several steps, which no
//! small number of sweeps could. (What is remembered is forgotten at the end of each frame, so that runs can be resumed.)
//!
//! A rigid body of nodes answers as a whole: after each sweep, what its nodes have gained becomes one motion (`structure/rigid.rs`). It brings
//! its own mass and inertia, as a node sees them, and splits them among the contacts of all its nodes.
//!
//! Walls and solids are not balls: their distance function tells r and n, and a node stands half of d away. Between
//! its nodes, a sheet would let a thin rod through: every triangle also looks at its middle and at the middles of its
//! edges, and the deepest of those is a contact that its three corners share. Free solids feel all of it.
//!
//! Discrete elements [Bayraktar2010, Eqs. 4.8–4.10] are there to compare with: springs and dampers in place of impulses,
//!
//!   F = max(0, k u − c v_n) n − min(μ k u, c |v_t|) t,   u = d − r,
//!
//! with the friction's sign and its size at rest put right (as printed it pushes forwards, and shakes what rests). They are
//! forces like all others, go with any integrator, ask for time steps that resolve k, and give way if hit too hard.
//!
//! Nodes that hold on to each other do not collide: those of one body (and one fragment) whose places at rest are closer
//! than [`BONDED`] contact distances.

use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::Structure;
use super::closing::Closing;
use super::nodes::GONE;
use super::rigid::RigidBodies;
use crate::columns::{BODY, MASS, NODE, PIN, POSITION, REFERENCE, VELOCITY};
use crate::neighbourhood::{Neighbourhood, Periods};
use crate::particles::Particles;
use crate::resolve::Resolved;
use crate::scene::{Domain, Side};
use crate::simd::*;
use crate::solids::{SolidState, Wrench};

/// Distance at rest, in contact distances, below which nodes of one body hold on to each other instead.
pub const BONDED: f32 = 1.5;

/// β, the part of an overlap that a step takes back.
const RETURN: f32 = 0.1;

/// Sweeps of Jacobi's method. What is left, the next step takes up.
const SWEEPS: usize = 8;

/// The same where rigid bodies touch: what one node takes changes all others of the body, and each sweep goes about a quarter of the way. After an impact, with 8 of
/// them, part of the blow was remembered, and threw the bodies apart in the next step.
const RIGID_SWEEPS: usize = 32;

/// Nodes nearer than so many contact distances are compared, to see how fast they come together.
pub const NEAR: f32 = 6.0;

/// Nodes that a thread looks at in one go.
const CHUNK: usize = 256;

/// Contacts of a step; memory is kept from step to step.
#[derive(Default)]
pub struct Contacts {
    chunks: Vec<Chunk>,
    /// Those of the step before, and its length, s.
    before: Vec<Chunk>,
    dt: f32,
    nodes: Vec<Node>,
    next: Vec<Vec3>,
    /// Of each sheet's triangle that touches a solid.
    faces: Vec<Face>,
    /// Where each node's faces stand in `faces_of`, and those with the corner that the node is.
    face_starts: Vec<u32>,
    faces_of: Vec<(u32, u8)>,
    /// Whether a node of each rigid body touches anything.
    bodies_touch: Vec<bool>,
    lightest: f32,
    speeds: Option<(f32, f32)>,
    closing: Closing,
}

/// Discrete elements.
struct Springs {
    /// k, N/m.
    stiffness: f32,
    /// Of the critical one.
    damping_ratio: f32,
}

impl Springs {
    #[inline]
    fn force(&self, relative: Vec3, normal: Vec3, gap: f32, friction: f32, inverse_mass: f32) -> Vec3 {
        if gap >= 0.0 || inverse_mass <= 0.0 {
            return Vec3::ZERO;
        }
        let damping = 2.0 * self.damping_ratio * (self.stiffness / inverse_mass).sqrt();
        let approach = relative.dot(normal);
        let along = (-self.stiffness * gap - damping * approach).max(0.0);
        let sideways = relative - normal * approach;
        let slip = sideways.length();
        let held = if slip > 0.0 { (-friction * self.stiffness * gap / slip).min(damping) } else { 0.0 };
        normal * along - sideways * held
    }
}

/// That makes a spring and damper give back this part of the speed they are hit with.
fn damping_ratio(restitution: f32) -> f32 {
    if restitution <= 0.0 {
        return 1.0;
    }
    let log = restitution.ln();
    -log / (std::f32::consts::PI.powi(2) + log * log).sqrt()
}

/// A node as contacts see it.
#[derive(Clone, Copy, Default)]
struct Node {
    velocity: Vec3,
    /// Over mass, 1/kg; 0 where it is pinned or touches nothing.
    inverse_mass: f32,
    /// The same times the number of its contacts.
    split: f32,
    /// d, m.
    distance: f32,
    friction: f32,
}

#[derive(Default)]
struct Chunk {
    /// Where the contacts of each node start.
    starts: Vec<u32>,
    touches: Vec<Touch>,
    rest_starts: Vec<u32>,
    rests: Vec<Rest>,
    /// How far each node is from solids, or a bound below that, m; and from which, if that is certain.
    clear: Vec<(f32, u32)>,
    /// Whether any of its nodes touches anything.
    is_busy: bool,
}

/// A node against another.
#[derive(Clone, Copy)]
struct Touch {
    other: u32,
    /// From the other one to this.
    normal: Vec3,
    /// r − d, m.
    gap: f32,
    impulse: Impulse,
}

/// What a contact has done in a step, N·s.
#[derive(Clone, Copy, Default)]
struct Impulse {
    along: f32,
    sideways: Vec3,
}

/// A node against a wall or a solid.
#[derive(Clone, Copy)]
struct Rest {
    normal: Vec3,
    gap: f32,
    surface: Surface,
    impulse: Impulse,
}

/// What is not made of particles, where it is touched.
#[derive(Clone, Copy)]
struct Surface {
    velocity: Vec3,
    owner: Owner,
}

#[derive(Clone, Copy, PartialEq)]
enum Owner {
    /// Axis and end of the box.
    Wall(u8, u8),
    /// Place of the solid.
    Solid(u32),
}

/// A triangle against a solid.
#[derive(Clone, Copy)]
struct Face {
    corners: [u32; 3],
    weights: [f32; 3],
    normal: Vec3,
    gap: f32,
    surface: Surface,
    impulse: Impulse,
    /// What the last sweep has added, N·s; of discrete elements, the force, N.
    last: Vec3,
}

/// Where contacts are looked for.
pub struct Surroundings<'a> {
    pub lists: &'a Neighbourhood,
    pub periods: &'a Periods,
    pub domain: &'a Domain,
    pub solids: &'a [SolidState],
    /// s.
    pub dt: f32,
}

impl Contacts {
    /// Changes velocities so that nothing passes; adds what solids feel of it to `pushes`.
    pub fn resolve(
        &mut self,
        now: &Resolved,
        at: &Surroundings,
        structure: &Structure,
        particles: &mut Particles,
        pushes: &mut [Wrench],
    ) {
        structure.rigid.project(particles.get_mut(&VELOCITY));
        self.gather(now, structure, particles);
        std::mem::swap(&mut self.chunks, &mut self.before);
        self.find(at, structure, particles);
        self.find_faces(at, structure, particles);
        self.split();
        self.split_bodies(&structure.rigid);
        self.remember(at.dt, &structure.rigid);
        let is_rigid = self.bodies_touch.contains(&true);
        for _ in 0..if is_rigid { RIGID_SWEEPS } else { SWEEPS } {
            self.sweep(at.dt, &structure.rigid);
        }
        self.measure(structure, particles);
        self.scatter(structure, particles);
        self.push(at.solids, at.dt, structure, particles, pushes);
    }

    /// Finds [`Contacts::speeds`].
    fn measure(&mut self, structure: &Structure, particles: &Particles) {
        let most = |of: fn(&Node) -> f32| self.nodes.par_iter().map(of).reduce(|| 0.0, f32::max);
        let fastest = most(|node| node.velocity.length_squared()).sqrt();
        let reach = NEAR * most(|node| node.distance);
        let (nodes, position) = (&self.nodes, particles.get(&POSITION));
        let velocity = |k: usize| nodes[k].velocity;
        let closing = self.closing.bound(reach, velocity, structure.nodes.rows(), position);
        self.speeds = Some((closing.min(2.0 * fastest), fastest));
    }

    /// Adds what springs and dampers between bodies do, m/s²; and to `pushes`, what solids feel of it.
    pub fn press(
        &mut self,
        now: &Resolved,
        at: &Surroundings,
        structure: &Structure,
        particles: &Particles,
        (acceleration, pushes): (&mut [Vec4], &mut [Wrench]),
    ) {
        self.gather(now, structure, particles);
        self.find(at, structure, particles);
        self.find_faces(at, structure, particles);
        let springs = Springs {
            stiffness: now.field("stiffness").max(),
            damping_ratio: damping_ratio(now.field("restitution").max()),
        };
        let nodes = &self.nodes;
        let lightest = nodes.iter().filter(|node| node.inverse_mass > 0.0).map(|node| node.inverse_mass);
        self.lightest = 1.0 / lightest.fold(0.0, f32::max);
        for face in &mut self.faces {
            face.press(nodes, &springs);
        }
        let (faces, starts, faces_of) = (&self.faces, &self.face_starts, &self.faces_of);
        let rows = self.chunks.par_iter_mut().zip(self.next.par_chunks_mut(CHUNK)).enumerate();
        rows.for_each(|(c, (chunk, next))| {
            for (k, next) in next.iter_mut().enumerate() {
                let index = c * CHUNK + k;
                let node = &nodes[index];
                let mut force = Vec3::ZERO;
                for touch in &chunk.touches[chunk.starts[k] as usize..chunk.starts[k + 1] as usize] {
                    let other = &nodes[touch.other as usize];
                    let friction = 0.5 * (node.friction + other.friction);
                    let inverse_mass = node.inverse_mass + other.inverse_mass;
                    let relative = node.velocity - other.velocity;
                    force += springs.force(relative, touch.normal, touch.gap, friction, inverse_mass);
                }
                for rest in &mut chunk.rests[chunk.rest_starts[k] as usize..chunk.rest_starts[k + 1] as usize]
                {
                    let relative = node.velocity - rest.surface.velocity;
                    let one =
                        springs.force(relative, rest.normal, rest.gap, node.friction, node.inverse_mass);
                    // Over one second.
                    rest.impulse = Impulse::of(one, rest.normal);
                    force += one;
                }
                for &(face, corner) in &faces_of[starts[index] as usize..starts[index + 1] as usize] {
                    let face = &faces[face as usize];
                    force += face.last * face.weights[corner as usize];
                }
                *next = force * node.inverse_mass;
            }
        });
        for (next, &row) in self.next.iter().zip(structure.nodes.rows()) {
            if row != GONE {
                acceleration[row as usize] += next.extend(0.0);
            }
        }
        self.faces.iter_mut().for_each(|face| face.impulse = Impulse::of(face.last, face.normal));
        self.push(at.solids, 1.0, structure, particles, pushes);
    }

    /// As of the last step: a bound on how fast two nodes come together that are within [`NEAR`] contact distances, and the
    /// speed of the fastest one, m/s.
    pub fn speeds(&self) -> Option<(f32, f32)> {
        self.speeds
    }

    /// How hard a node was pressed in the last step by all that touches it, each along its normal, N. Of impulses only.
    pub fn pressing(&self, node: usize) -> f32 {
        let (chunk, k) = (node / CHUNK, node % CHUNK);
        let Some(chunk) = self.chunks.get(chunk).filter(|_| self.dt > 0.0) else { return 0.0 };
        let touches = &chunk.touches[chunk.starts[k] as usize..chunk.starts[k + 1] as usize];
        let rests = &chunk.rests[chunk.rest_starts[k] as usize..chunk.rest_starts[k + 1] as usize];
        let faces = &self.faces_of[self.face_starts[node] as usize..self.face_starts[node + 1] as usize];
        let of_faces = faces.iter().map(|&(face, corner)| {
            let face = &self.faces[face as usize];
            face.impulse.along * face.weights[corner as usize]
        });
        let impulses = touches.iter().map(|touch| touch.impulse.along);
        impulses.chain(rests.iter().map(|rest| rest.impulse.along)).chain(of_faces).sum::<f32>() / self.dt
    }

    /// Mass of the lightest node that is not held, kg, as discrete elements last saw it.
    pub fn lightest(&self) -> f32 {
        self.lightest
    }

    /// What nodes bring.
    fn gather(&mut self, now: &Resolved, structure: &Structure, particles: &Particles) {
        let rows = structure.nodes.rows();
        self.nodes.resize(rows.len(), Node::default());
        self.next.resize(rows.len(), Vec3::ZERO);
        let (velocity, mass) = (particles.get(&VELOCITY), particles.get(&MASS));
        let pins = particles.try_get(&PIN);
        let (distance, friction) = (now.weighted("distance"), now.field("friction"));
        self.nodes.par_iter_mut().with_min_len(1024).zip(rows).for_each(|(node, &row)| {
            let i = row as usize;
            if row == GONE {
                *node = Node::default();
                return;
            }
            let is_held = pins.is_some_and(|pins| pins[i] > 0);
            *node = Node {
                velocity: velocity[i].truncate(),
                inverse_mass: if is_held { 0.0 } else { 1.0 / mass[i] },
                split: 0.0,
                distance: distance.at(i),
                friction: friction.at(i),
            };
        });
    }

    /// Pairs of nodes, and nodes near walls and solids.
    fn find(&mut self, at: &Surroundings, structure: &Structure, particles: &Particles) {
        let rows = structure.nodes.rows();
        let chunks = rows.len().div_ceil(CHUNK);
        self.chunks.resize_with(chunks, Chunk::default);
        let level = Level::new();
        let seen = Seen {
            at,
            nodes: &self.nodes,
            longest: self.nodes.par_iter().map(|node| node.distance).reduce(|| 0.0, f32::max),
            position: particles.get(&POSITION),
            velocity: particles.get(&VELOCITY),
            reference: particles.get(&REFERENCE),
            number: particles.get(&NODE),
            body: particles.get(&BODY),
        };
        assert!(
            at.lists.bounds().0 <= seen.position.len().min(seen.velocity.len()),
            "lists of other particles"
        );
        self.chunks.par_iter_mut().enumerate().for_each(|(c, chunk)| {
            chunk.starts.clear();
            chunk.touches.clear();
            chunk.rest_starts.clear();
            chunk.rests.clear();
            chunk.clear.clear();
            let nodes = c * CHUNK..(c * CHUNK + CHUNK).min(rows.len());
            for node in nodes {
                chunk.starts.push(chunk.touches.len() as u32);
                chunk.rest_starts.push(chunk.rests.len() as u32);
                if rows[node] != GONE && seen.nodes[node].distance > 0.0 {
                    let row = rows[node] as usize;
                    dispatch!(level, simd => seen.touches(simd, node, row, &mut chunk.touches));
                    chunk.clear.push(seen.rests(node, rows[node] as usize, &mut chunk.rests));
                } else {
                    chunk.clear.push((0.0, NONE));
                }
            }
            chunk.starts.push(chunk.touches.len() as u32);
            chunk.rest_starts.push(chunk.rests.len() as u32);
        });
    }

    /// Triangles that come between their nodes against a solid.
    fn find_faces(&mut self, at: &Surroundings, structure: &Structure, particles: &Particles) {
        self.faces.clear();
        if !at.solids.is_empty() {
            let (nodes, chunks, position) = (&self.nodes, &self.chunks, particles.get(&POSITION));
            let face = |corners: &[u32; 3]| face(*corners, at, nodes, chunks, structure, position);
            for sheet in &structure.sheets {
                self.faces.par_extend(sheet.triangles.par_iter().with_min_len(256).filter_map(face));
            }
        }
        // Which faces a node is a corner of: a counting sort, which keeps their order.
        self.face_starts.clear();
        self.face_starts.resize(self.nodes.len() + 1, 0);
        for face in &self.faces {
            face.corners.iter().for_each(|&node| self.face_starts[node as usize + 1] += 1);
        }
        for node in 0..self.nodes.len() {
            self.face_starts[node + 1] += self.face_starts[node];
        }
        self.faces_of.resize(3 * self.faces.len(), (0, 0));
        for (k, face) in self.faces.iter().enumerate() {
            for (corner, &node) in face.corners.iter().enumerate() {
                let place = &mut self.face_starts[node as usize];
                self.faces_of[*place as usize] = (k as u32, corner as u8);
                *place += 1;
            }
        }
        // Each start has become the end.
        self.face_starts.rotate_right(1);
        self.face_starts[0] = 0;
    }

    /// Shares each node's mass among its contacts.
    fn split(&mut self) {
        let starts = &self.face_starts;
        let chunks = self.chunks.par_iter_mut().zip(self.nodes.par_chunks_mut(CHUNK)).with_min_len(4);
        chunks.enumerate().for_each(|(c, (chunk, nodes))| {
            chunk.is_busy = false;
            for (k, node) in nodes.iter_mut().enumerate() {
                let faces = starts[c * CHUNK + k + 1] - starts[c * CHUNK + k];
                let count = chunk.count(k) + faces;
                node.split = node.inverse_mass * count as f32;
                chunk.is_busy |= count > 0;
            }
        });
    }

    /// The same for rigid bodies: the whole of one takes part in all contacts of its nodes.
    fn split_bodies(&mut self, rigid: &RigidBodies) {
        self.bodies_touch.clear();
        for piece in &rigid.pieces {
            let faces = |node: usize| self.face_starts[node + 1] - self.face_starts[node];
            let count = |node: usize| self.chunks[node / CHUNK].count(node % CHUNK) + faces(node);
            let contacts: u32 = piece.present().map(|member| count(member.node as usize)).sum();
            self.bodies_touch.push(contacts > 0);
            for member in piece.present().filter(|_| contacts > 0) {
                let node = &mut self.nodes[member.node as usize];
                // Who is pinned gives way to nothing.
                if node.inverse_mass > 0.0 {
                    node.split = (1.0 - member.part) * node.split + contacts as f32 * piece.mobility(member);
                }
                self.chunks[member.node as usize / CHUNK].is_busy = true;
            }
        }
    }

    /// Lets nodes take the velocities that a sweep has found; those of rigid bodies move these.
    fn take_next(&mut self, rigid: &RigidBodies) {
        let (nodes, next) = (&self.nodes, &mut self.next);
        let gain = |next: &[Vec3], k: usize| next[k] - nodes[k].velocity;
        for (piece, _) in rigid.pieces.iter().zip(&self.bodies_touch).filter(|(_, touches)| **touches) {
            let whole = piece.motion(|member| gain(next, member.node as usize));
            for member in piece.present() {
                let k = member.node as usize;
                next[k] = nodes[k].velocity + member.follow(gain(next, k), &whole);
            }
        }
        let rows =
            self.chunks.par_iter().zip(self.nodes.par_chunks_mut(CHUNK)).zip(self.next.par_chunks(CHUNK));
        rows.with_min_len(4).filter(|((chunk, _), _)| chunk.is_busy).for_each(|((_, nodes), next)| {
            nodes.iter_mut().zip(next).for_each(|(node, next)| node.velocity = *next);
        });
    }

    /// Starts pairs that touched in the step before with what they did then.
    fn remember(&mut self, dt: f32, rigid: &RigidBodies) {
        let part = if self.dt > 0.0 { dt / self.dt } else { 0.0 };
        self.dt = dt;
        if self.before.len() != self.chunks.len() {
            return;
        }
        let nodes = &self.nodes;
        let rows = self.chunks.par_iter_mut().zip(&self.before).zip(self.next.par_chunks_mut(CHUNK));
        rows.enumerate().filter(|(_, ((chunk, _), _))| chunk.is_busy).for_each(
            |(c, ((chunk, before), next))| {
                for (k, next) in next.iter_mut().enumerate() {
                    let node = &nodes[c * CHUNK + k];
                    let mut impulse = Vec3::ZERO;
                    let old = &before.touches[before.starts[k] as usize..before.starts[k + 1] as usize];
                    for touch in &mut chunk.touches[chunk.starts[k] as usize..chunk.starts[k + 1] as usize] {
                        if let Some(old) = old.iter().find(|old| old.other == touch.other) {
                            touch.impulse = old.impulse.turned_to(touch.normal, part);
                            impulse += touch.impulse.total(touch.normal);
                        }
                    }
                    let old =
                        &before.rests[before.rest_starts[k] as usize..before.rest_starts[k + 1] as usize];
                    let rests = chunk.rest_starts[k] as usize..chunk.rest_starts[k + 1] as usize;
                    for rest in &mut chunk.rests[rests] {
                        if let Some(old) = old.iter().find(|old| old.surface.owner == rest.surface.owner) {
                            rest.impulse = old.impulse.turned_to(rest.normal, part);
                            impulse += rest.impulse.total(rest.normal);
                        }
                    }
                    *next = node.velocity + impulse * node.inverse_mass;
                }
            },
        );
        self.take_next(rigid);
    }

    /// Makes the next step start without memory.
    pub(crate) fn forget(&mut self) {
        self.dt = 0.0;
    }

    /// All impulses once.
    fn sweep(&mut self, dt: f32, rigid: &RigidBodies) {
        let nodes = &self.nodes;
        self.faces.par_iter_mut().with_min_len(256).for_each(|face| face.push(nodes, dt));
        let (faces, starts, faces_of) = (&self.faces, &self.face_starts, &self.faces_of);
        let rows = self.chunks.par_iter_mut().zip(self.next.par_chunks_mut(CHUNK)).enumerate();
        rows.filter(|(_, (chunk, _))| chunk.is_busy).for_each(|(c, (chunk, next))| {
            for (k, next) in next.iter_mut().enumerate() {
                let index = c * CHUNK + k;
                let node = &nodes[index];
                let mut impulse = Vec3::ZERO;
                for touch in &mut chunk.touches[chunk.starts[k] as usize..chunk.starts[k + 1] as usize] {
                    let other = &nodes[touch.other as usize];
                    let inverse_mass = node.split + other.split;
                    let friction = 0.5 * (node.friction + other.friction);
                    let relative = node.velocity - other.velocity;
                    impulse +=
                        touch.impulse.push(relative, touch.normal, touch.gap, friction, inverse_mass, dt);
                }
                let rests = chunk.rest_starts[k] as usize..chunk.rest_starts[k + 1] as usize;
                for rest in &mut chunk.rests[rests] {
                    let relative = node.velocity - rest.surface.velocity;
                    impulse +=
                        rest.impulse.push(relative, rest.normal, rest.gap, node.friction, node.split, dt);
                }
                for &(face, corner) in &faces_of[starts[index] as usize..starts[index + 1] as usize] {
                    let face = &faces[face as usize];
                    impulse += face.last * face.weights[corner as usize];
                }
                *next = node.velocity + impulse * node.inverse_mass;
            }
        });
        self.take_next(rigid);
    }

    /// Velocities back to the particles.
    fn scatter(&self, structure: &Structure, particles: &mut Particles) {
        let velocity = particles.get_mut(&VELOCITY);
        for (node, &row) in self.nodes.iter().zip(structure.nodes.rows()) {
            if row != GONE && node.split > 0.0 {
                velocity[row as usize] = node.velocity.extend(0.0);
            }
        }
    }

    /// What solids feel of impulses over a time, s.
    fn push(
        &self,
        solids: &[SolidState],
        dt: f32,
        structure: &Structure,
        particles: &Particles,
        pushes: &mut [Wrench],
    ) {
        let position = particles.get(&POSITION);
        let place = |node: usize| position[structure.nodes.rows()[node] as usize].truncate().as_dvec3();
        let mut add = |surface: &Surface, impulse: Vec3, place: DVec3| {
            let Owner::Solid(solid) = surface.owner else { return };
            let force = -impulse.as_dvec3() / f64::from(dt);
            let arm = place - solids[solid as usize].pose.position;
            pushes[solid as usize] += Wrench { force, torque: arm.cross(force) };
        };
        for (c, chunk) in self.chunks.iter().enumerate() {
            for k in 0..chunk.rest_starts.len() - 1 {
                for rest in &chunk.rests[chunk.rest_starts[k] as usize..chunk.rest_starts[k + 1] as usize] {
                    if rest.impulse.along > 0.0 {
                        add(&rest.surface, rest.impulse.total(rest.normal), place(c * CHUNK + k));
                    }
                }
            }
        }
        for face in &self.faces {
            let corners = face.corners.iter().zip(face.weights);
            let middle = corners.map(|(&node, weight)| place(node as usize) * f64::from(weight)).sum();
            add(&face.surface, face.impulse.total(face.normal), middle);
        }
    }

    /// Memory, bytes.
    pub fn bytes(&self) -> usize {
        let chunk = |chunk: &Chunk| {
            4 * (chunk.starts.capacity() + chunk.rest_starts.capacity())
                + size_of::<Touch>() * chunk.touches.capacity()
                + size_of::<Rest>() * chunk.rests.capacity()
        };
        self.chunks.iter().chain(&self.before).map(chunk).sum::<usize>()
            + size_of::<Node>() * self.nodes.capacity()
            + size_of::<Vec3>() * self.next.capacity()
            + size_of::<Face>() * self.faces.capacity()
            + 4 * self.face_starts.capacity()
            + 8 * self.faces_of.capacity()
    }
}

impl Chunk {
    /// Contacts of its k-th node.
    fn count(&self, k: usize) -> u32 {
        self.starts[k + 1] - self.starts[k] + self.rest_starts[k + 1] - self.rest_starts[k]
    }
}

impl Impulse {
    /// Adds what a contact still asks for; returns that. Along the normal the sum never pulls, and sideways it is at most
    /// `friction` as much.
    #[inline]
    fn push(
        &mut self,
        relative: Vec3,
        normal: Vec3,
        gap: f32,
        friction: f32,
        inverse_mass: f32,
        dt: f32,
    ) -> Vec3 {
        if inverse_mass <= 0.0 {
            return Vec3::ZERO;
        }
        let approach = relative.dot(normal);
        let wanted = if gap > 0.0 { -gap / dt } else { -RETURN * gap / dt };
        let along = (self.along + (wanted - approach) / inverse_mass).max(0.0);
        let sideways = self.sideways - (relative - normal * approach) / inverse_mass;
        let sideways = sideways.clamp_length_max(friction * along);
        let added = normal * (along - self.along) + (sideways - self.sideways);
        *self = Impulse { along, sideways };
        added
    }

    /// A part of it, with another normal.
    fn turned_to(&self, normal: Vec3, part: f32) -> Impulse {
        let sideways = self.sideways - normal * self.sideways.dot(normal);
        Impulse { along: part * self.along, sideways: part * sideways }
    }

    fn of(all: Vec3, normal: Vec3) -> Impulse {
        let along = all.dot(normal);
        Impulse { along, sideways: all - normal * along }
    }

    fn total(&self, normal: Vec3) -> Vec3 {
        normal * self.along + self.sideways
    }
}

impl Face {
    fn push(&mut self, nodes: &[Node], dt: f32) {
        let (mut velocity, mut split, mut friction) = (Vec3::ZERO, 0.0, 0.0);
        for (&node, weight) in self.corners.iter().zip(self.weights) {
            let node = &nodes[node as usize];
            velocity += node.velocity * weight;
            split += node.split * weight * weight;
            friction += node.friction * weight;
        }
        let relative = velocity - self.surface.velocity;
        self.last = self.impulse.push(relative, self.normal, self.gap, friction, split, dt);
    }
}

impl Face {
    fn press(&mut self, nodes: &[Node], springs: &Springs) {
        let (mut velocity, mut inverse_mass, mut friction) = (Vec3::ZERO, 0.0, 0.0);
        for (&node, weight) in self.corners.iter().zip(self.weights) {
            let node = &nodes[node as usize];
            velocity += node.velocity * weight;
            inverse_mass += node.inverse_mass * weight * weight;
            friction += node.friction * weight;
        }
        let relative = velocity - self.surface.velocity;
        self.last = springs.force(relative, self.normal, self.gap, friction, inverse_mass);
    }
}

/// What contacts are looked for in.
struct Seen<'a> {
    at: &'a Surroundings<'a>,
    nodes: &'a [Node],
    /// Largest contact distance of any node, m.
    longest: f32,
    position: &'a [Vec4],
    velocity: &'a [Vec4],
    reference: &'a [Vec4],
    number: &'a [u32],
    body: &'a [u32],
}

impl Seen<'_> {
    #[inline(always)]
    fn touches<S: Simd>(&self, simd: S, node: usize, row: usize, found: &mut Vec<Touch>) {
        let own = &self.nodes[node];
        let (place, velocity, body) = (self.position[row], self.velocity[row], self.body[row]);
        let list = self.at.lists.particles(row);
        let mut tail = [0; LANES];
        for b in 0..list.blocks() {
            let (others, count) = list.block(b, &mut tail);
            let mut near = self.near(simd, row, others) & ((1 << count) - 1);
            while near != 0 {
                let j = others[near.trailing_zeros() as usize] as usize;
                near &= near - 1;
                if j == row {
                    continue;
                }
                let x = self.at.periods.nearest(place - self.position[j]).truncate();
                let r2 = x.length_squared();
                // They cannot touch within the step; friction and pushes of others may change what they do by as much again.
                let reach2 = (velocity - self.velocity[j]).length_squared() * (2.0 * self.at.dt).powi(2);
                let number = self.number[j];
                if number == 0 {
                    continue;
                }
                let rest = self.reference[row] - self.reference[j];
                let is_fragment = body == self.body[j] && rest.w == 0.0;
                let other = &self.nodes[number as usize - 1];
                let distance = 0.5 * (own.distance + other.distance);
                if is_fragment && rest.length_squared() < (BONDED * distance).powi(2) {
                    continue;
                }
                let r = r2.sqrt();
                if other.distance <= 0.0 || r - distance > reach2.sqrt().max(0.05 * distance) {
                    continue;
                }
                let normal = if r > 0.0 { x / r } else { Vec3::Y };
                let (other, gap) = (number - 1, r - distance);
                found.push(Touch { other, normal, gap, impulse: Impulse::default() });
            }
        }
    }

    /// Which of eight others may touch a particle in the step, as bits. Most are seen off by (d + reach)² ≤ 2 (d² + reach²).
    #[inline(always)]
    fn near<S: Simd>(&self, simd: S, row: usize, others: &[u32; LANES]) -> u64 {
        // Images of a periodic box are left to whoever asks.
        if self.at.periods.any() {
            return u64::MAX;
        }
        // SAFETY: `find` compared the lists' bounds with the columns.
        let (at, motion) =
            unsafe { (gather(simd, self.position, others).0, gather(simd, self.velocity, others).0) };
        let x = Lanes3::splat(simd, self.position[row].truncate().into()) - at;
        let v = Lanes3::splat(simd, self.velocity[row].truncate().into()) - motion;
        let square = self.longest * self.longest;
        let reach2 = v.dot(v) * (2.0 * self.at.dt).powi(2);
        // A little more, for what is rounded in another order.
        let most = (reach2 + square).max(splat(simd, 1.2 * square)) * 2.001;
        x.dot(x).simd_le(most).to_bitmask()
    }

    /// Walls and solids that a node may touch in the step. Tells how far it is from solids, as [`Chunk::clear`].
    fn rests(&self, node: usize, row: usize, found: &mut Vec<Rest>) -> (f32, u32) {
        let own = &self.nodes[node];
        let place = self.position[row];
        let radius = 0.5 * own.distance;
        let reach = (2.0 * own.velocity.length() * self.at.dt).max(0.05 * own.distance);
        for axis in 0..3 {
            for (end, sign) in [(0, 1.0), (1, -1.0)] {
                if self.at.domain.sides[axis][end] != Side::Wall {
                    continue;
                }
                let wall = if end == 0 { self.at.domain.min[axis] } else { self.at.domain.max[axis] } as f32;
                let gap = sign * (place[axis] - wall) - radius;
                if gap < reach {
                    let mut normal = Vec3::ZERO;
                    normal[axis] = sign;
                    let velocity = Vec3::from(self.at.domain.wall_velocity[axis][end].map(|v| v as f32));
                    let surface = Surface { velocity, owner: Owner::Wall(axis as u8, end as u8) };
                    found.push(Rest { normal, gap, surface, impulse: Impulse::default() });
                }
            }
        }
        let place = place.truncate().as_dvec3();
        let mut clear = (f32::INFINITY, NONE);
        for (k, solid) in self.at.solids.iter().enumerate() {
            let speed = own.velocity.as_dvec3() - solid.velocity_at(place);
            let reach = (2.0 * speed.length() as f32 * self.at.dt).max(0.05 * own.distance);
            let reach = f64::from(reach + radius);
            // Its triangles may touch before it does.
            let beyond = reach + f64::from(FACE_REACH * own.distance);
            if !solid.may_be_within(place, beyond) {
                clear = if beyond < f64::from(clear.0) { (beyond as f32, NONE) } else { clear };
                continue;
            }
            let distance = solid.distance(place);
            clear = if distance < f64::from(clear.0) { (distance as f32, k as u32) } else { clear };
            if distance < reach {
                let surface =
                    Surface { velocity: solid.velocity_at(place).as_vec3(), owner: Owner::Solid(k as u32) };
                let gap = distance as f32 - radius;
                found.push(Rest {
                    normal: solid.normal(place).as_vec3(),
                    gap,
                    surface,
                    impulse: Impulse::default(),
                });
            }
        }
        clear
    }
}

/// No solid.
const NONE: u32 = u32::MAX;

/// How much farther than itself a node looks for solids, in contact distances: as far as its triangles do.
const FACE_REACH: f32 = 1.5;

/// Where a triangle's middle is as far from a solid as its corners are in the mean, to this part of the contact
/// distance, the solid is flat there, and corners do.
const FLAT: f32 = 0.05;

/// Points of a triangle besides its corners: its middle, and those of its edges.
const POINTS: [[f32; 3]; 4] =
    [[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]];

/// The deepest contact of a triangle between its corners, if it has one that is deeper than those of its corners.
fn face(
    corners: [u32; 3],
    at: &Surroundings,
    nodes: &[Node],
    chunks: &[Chunk],
    structure: &Structure,
    position: &[Vec4],
) -> Option<Face> {
    let clear = corners.map(|node| chunks[node as usize / CHUNK].clear[node as usize % CHUNK]);
    let nearest = clear.iter().map(|clear| clear.0).fold(f32::INFINITY, f32::min);
    if nearest == f32::INFINITY {
        return None;
    }
    let own = corners.map(|node| nodes[node as usize]);
    let radius = 0.5 * own.iter().map(|node| node.distance).fold(f32::INFINITY, f32::min);
    let rows = corners.map(|node| structure.nodes.rows()[node as usize]);
    if radius <= 0.0 || rows.contains(&GONE) {
        return None;
    }
    let places = rows.map(|row| position[row as usize].truncate().as_dvec3());
    let middle = (places[0] + places[1] + places[2]) / 3.0;
    let size = places.iter().map(|p| p.distance(middle)).fold(0.0, f64::max);
    let mean = (clear[0].0 + clear[1].0 + clear[2].0) / 3.0;
    let mut deepest: Option<Face> = None;
    for (k, solid) in at.solids.iter().enumerate() {
        let motion = solid.velocity_at(middle).as_vec3();
        let speed = own.iter().map(|node| (node.velocity - motion).length()).fold(0.0, f32::max);
        let margin = (2.0 * speed * at.dt).max(0.1 * radius);
        let reach = f64::from(radius + margin);
        if f64::from(nearest) > reach + 1.2 * size || !solid.may_be_within(middle, reach + size) {
            continue;
        }
        let distance = solid.distance(middle);
        let is_flat = || (distance as f32 - mean).abs() < 2.0 * FLAT * radius;
        if distance > reach + size || (clear.iter().all(|clear| clear.1 == k as u32) && is_flat()) {
            continue;
        }
        for weights in POINTS {
            let point: DVec3 = places.iter().zip(weights).map(|(p, w)| *p * f64::from(w)).sum();
            let gap = solid.distance(point) as f32 - radius;
            if gap < margin && deepest.as_ref().is_none_or(|face| gap < face.gap) {
                let surface =
                    Surface { velocity: solid.velocity_at(point).as_vec3(), owner: Owner::Solid(k as u32) };
                deepest = Some(Face {
                    corners,
                    weights,
                    normal: solid.normal(point).as_vec3(),
                    gap,
                    surface,
                    impulse: Impulse::default(),
                    last: Vec3::ZERO,
                });
            }
        }
    }
    deepest
}
