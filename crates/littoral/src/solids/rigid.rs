//! Free solids: rigid bodies in rapier.
//!
//! Rapier knows every solid: free ones as dynamic bodies whose mass and inertia come from our own geometry, scripted
//! ones as bodies that nothing pushes, fixed ones and the walls of the box as what things bounce off and rest on. In
//! each step a free body gets the wrench of the fluid, and gravity; contacts, friction and joints are rapier's.
//! In 2-D bodies are as deep as one metre and keep to the plane.
//!
//! Rapier computes in f32, and the steps of a fluid are short: at steps of 0.25 ms, rounding changed the energy of a spinning
//! box by 4 % in 14 s. So a body that touches nothing and hangs on nothing is moved here, in f64 (`fly`); the others are
//! rapier's.
//!
//! Limits: contacts and joints are f32; a body that is not convex collides as a union of convex parts. Contacts between
//! solids know nothing of the fluid between them.
//!
//! The whole of rapier's state is part of a checkpoint, as the bytes that `postcard` makes of it. Kept honest by
//! `a_run_with_free_solids_goes_on_bit_for_bit`, `three_boxes_stay_stacked` and `a_hinge_holds`,
//! and by `littoral validate torque-free`.

use glam::{DMat3, DQuat, DVec3, Vec3};
use rapier3d::prelude::{
    CoefficientCombineRule, ColliderBuilder, ColliderHandle, GenericJoint, JointAxesMask, LockedAxes,
    MassProperties, PhysicsWorld, Pose as Place, RigidBodyBuilder, RigidBodyHandle, SharedShape,
};

use super::{Pose, SolidState};
use crate::discretisation::Discretisation;
use crate::scene::{Dimensions, Joint, JointKind, Mobility, Scene, Shape, Side};

/// Rapier's contacts are made for steps of 1/60 s; longer steps are halved until they are shorter than this, s.
const LONGEST_STEP: f64 = 1.0 / 60.0;

/// Rapier's world, and which of its bodies is which solid.
pub(crate) struct Rigid {
    world: PhysicsWorld,
    handles: Vec<RigidBodyHandle>,
    /// Whether everything happens in the plane z = 0.
    flat: bool,
}

impl Rigid {
    /// `None` where nothing is free.
    pub fn new(scene: &Scene, solids: &[SolidState], d: &Discretisation) -> Option<Rigid> {
        let free = || solids.iter().filter(|solid| solid.is_free());
        free().next()?;
        let gravity = DVec3::from(scene.gravity).as_vec3();
        let mut world = PhysicsWorld { gravity, ..PhysicsWorld::default() };
        // Rapier's tolerances are for things a metre across; these may be smaller.
        world.integration_parameters.length_unit = free().map(size).fold(f64::INFINITY, f64::min) as f32;
        let handles = solids
            .iter()
            .zip(&scene.solids)
            .map(|(solid, written)| {
                let handle = world.insert_body(body(solid, d));
                for part in colliders(solid, &written.shape, d) {
                    world.insert_collider(part, Some(handle));
                }
                handle
            })
            .collect();
        let mut rigid = Rigid { world, handles, flat: d.dimensions == Dimensions::Two };
        rigid.add_box(scene);
        let ground = rigid.world.insert_body(RigidBodyBuilder::fixed());
        for joint in &scene.joints {
            rigid.add_joint(joint, solids, ground);
        }
        Some(rigid)
    }

    /// m/s².
    pub fn gravity(&self) -> DVec3 {
        self.world.gravity.as_dvec3()
    }

    fn add_box(&mut self, scene: &Scene) {
        let domain = &scene.domain;
        for axis in 0..scene.dimensions.count() {
            for end in (0..2).filter(|&end| domain.sides[axis][end] == Side::Wall) {
                let (mut normal, mut at) = (Vec3::ZERO, Vec3::ZERO);
                normal[axis] = if end == 0 { 1.0 } else { -1.0 };
                at[axis] = [domain.min[axis], domain.max[axis]][end] as f32;
                let wall = ColliderBuilder::new(SharedShape::halfspace(normal)).translation(at);
                self.world.insert_collider(plain(wall), None);
            }
        }
    }

    fn add_joint(&mut self, joint: &Joint, solids: &[SolidState], ground: RigidBodyHandle) {
        let locked = match joint.kind {
            JointKind::Fixed => JointAxesMask::LOCKED_FIXED_AXES,
            JointKind::Ball => JointAxesMask::LOCKED_SPHERICAL_AXES,
            JointKind::Hinge => JointAxesMask::LOCKED_REVOLUTE_AXES,
            JointKind::Slider => JointAxesMask::LOCKED_PRISMATIC_AXES,
        };
        // A frame in the joint whose x axis is the joint's axis, as each body sees it.
        let at = DVec3::from(joint.at);
        let turn = DQuat::from_rotation_arc(DVec3::X, joint.axis.into());
        let seen = |pose: &Pose| {
            let rotation = pose.rotation.inverse() * turn;
            Place::from_parts(pose.undo(at).as_vec3(), rotation.as_quat().normalize())
        };
        let rest = Pose { position: DVec3::ZERO, rotation: DQuat::IDENTITY };
        let (other, frame) = match joint.to {
            Some(to) => (self.handles[to], seen(&solids[to].pose)),
            None => (ground, seen(&rest)),
        };
        let mut held = GenericJoint::new(locked);
        held.set_local_frame1(frame).set_local_frame2(seen(&solids[joint.solid].pose));
        held.set_contacts_enabled(false);
        self.world.impulse_joints.insert(other, self.handles[joint.solid], held, true);
    }

    /// One step of `dt` s: free solids take their wrench, scripted ones are taken to the pose they have. Free ones that
    /// touch something then have rapier's pose and velocities, and in rapier the others have ours.
    pub fn step(&mut self, solids: &mut [SolidState], dt: f64) {
        let parts = (dt / LONGEST_STEP).ceil().max(1.0);
        self.world.integration_parameters.dt = (dt / parts) as f32;
        for (solid, &handle) in solids.iter().zip(&self.handles) {
            if solid.is_free() {
                let body = &mut self.world.bodies[handle];
                body.reset_forces(true);
                body.reset_torques(true);
                body.add_force(solid.wrench.force.as_vec3(), true);
                body.add_torque(solid.wrench.torque.as_vec3(), true);
            }
        }
        let mut is_held = vec![false; solids.len()];
        for part in 1..=parts as usize {
            for (solid, &handle) in solids.iter().zip(&self.handles) {
                if matches!(solid.mobility, Mobility::Scripted(_)) {
                    let next = between(&solid.previous, &solid.pose, part as f64 / parts);
                    self.world.bodies[handle].set_next_kinematic_position(next);
                }
            }
            self.world.step();
            for (is_held, &handle) in is_held.iter_mut().zip(&self.handles) {
                *is_held |= self.is_held(handle);
            }
        }
        let gravity = self.gravity();
        for ((solid, &handle), is_held) in solids.iter_mut().zip(&self.handles).zip(is_held) {
            if !solid.is_free() {
                continue;
            }
            let body = &mut self.world.bodies[handle];
            if is_held {
                solid.pose = Pose {
                    position: body.translation().as_dvec3(),
                    rotation: body.rotation().as_dquat().normalize(),
                };
                solid.velocity = body.linvel().as_dvec3();
                solid.angular_velocity = body.angvel().as_dvec3();
                if self.flat {
                    flatten(solid);
                }
            } else {
                fly(solid, gravity, dt, self.flat);
                body.set_position(place_of(solid), true);
                body.set_linvel(solid.velocity.as_vec3(), true);
                body.set_angvel(solid.angular_velocity.as_vec3(), true);
            }
        }
    }

    /// Whether a contact or a joint had a say in a body's last step.
    fn is_held(&self, handle: RigidBodyHandle) -> bool {
        let world = &self.world;
        let touches = |&collider: &ColliderHandle| {
            world.narrow_phase.contact_pairs_with(collider).any(|pair| pair.has_any_active_contact())
        };
        world.impulse_joints.attached_joints(handle).next().is_some()
            || world.bodies[handle].colliders().iter().any(touches)
    }

    /// All of its state.
    pub fn bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.world).expect("rapier's state is plain data")
    }

    /// Puts a state back; `false` where the bytes are not one.
    pub fn restore(&mut self, bytes: &[u8]) -> bool {
        match postcard::from_bytes::<PhysicsWorld>(bytes) {
            Ok(world) if world.bodies.len() == self.world.bodies.len() => {
                self.world = world;
                true
            }
            _ => false,
        }
    }
}

/// Largest turn in one step of the method below, rad: its error is then 10⁻⁹ of it.
const LARGEST_TURN: f64 = 0.02;

/// A step of a solid on its own: velocities take the wrench, then positions take the velocities.
fn fly(solid: &mut SolidState, gravity: DVec3, dt: f64, flat: bool) {
    solid.velocity += dt * (solid.wrench.force * solid.inverse_mass + gravity);
    solid.pose.position += dt * solid.velocity;
    let momentum = if flat {
        // Only the turn about z has an inertia.
        DVec3::Z * (solid.angular_velocity.z / solid.local_inverse_inertia.z_axis.z)
    } else {
        solid.inverse_inertia().inverse() * solid.angular_velocity
    };
    let momentum = momentum + dt * solid.wrench.torque;
    let inverse_inertia = solid.local_inverse_inertia;
    let q = turned(solid.pose.rotation, momentum, inverse_inertia, dt);
    solid.pose.rotation = q;
    solid.angular_velocity = spin(q, momentum, inverse_inertia);
    if flat {
        flatten(solid);
    }
}

/// ω = I⁻¹ L of a body turned by q, with I⁻¹ in its own frame.
fn spin(q: DQuat, momentum: DVec3, inverse_inertia: DMat3) -> DVec3 {
    q * (inverse_inertia * (q.conjugate() * momentum))
}

/// Where a rotation has got after `dt`, s. The angular momentum L stays as it is, and ω = I⁻¹ L changes with the body's own turning:
/// q' = ω q/2, by the Runge–Kutta method of order 4.
pub(crate) fn turned(mut q: DQuat, momentum: DVec3, inverse_inertia: DMat3, dt: f64) -> DQuat {
    let spin = |q: DQuat| spin(q, momentum, inverse_inertia);
    let rate = |q: DQuat| (DQuat::from_vec4(spin(q).extend(0.0)) * q) * 0.5;
    let parts = (spin(q).length() * dt / LARGEST_TURN).ceil().max(1.0);
    let h = dt / parts;
    for _ in 0..parts as usize {
        let a = rate(q);
        let b = rate(q + a * (0.5 * h));
        let c = rate(q + b * (0.5 * h));
        let d = rate(q + c * h);
        q = (q + (a + b * 2.0 + c * 2.0 + d) * (h / 6.0)).normalize();
    }
    q
}

/// Takes out what rounding has moved out of the plane. Fluid pressed into a plane is like a strut that would buckle:
/// 10⁻³⁰ m grew to a spacing within a fifth of a second.
fn flatten(solid: &mut SolidState) {
    let DQuat { z, w, .. } = solid.pose.rotation;
    solid.pose.rotation = DQuat::from_xyzw(0.0, 0.0, z, w).normalize();
    (solid.pose.position.z, solid.velocity.z) = (0.0, 0.0);
    solid.angular_velocity = DVec3::new(0.0, 0.0, solid.angular_velocity.z);
}

/// Part of the way from one pose to the next, in rapier's numbers.
fn between(a: &Pose, b: &Pose, part: f64) -> Place {
    let to = if a.rotation.dot(b.rotation) < 0.0 { -b.rotation } else { b.rotation };
    let rotation = (a.rotation * (1.0 - part) + to * part).normalize();
    Place::from_parts(a.position.lerp(b.position, part).as_vec3(), rotation.as_quat().normalize())
}

/// Longest side of the box around a solid, m.
fn size(solid: &SolidState) -> f64 {
    let (min, max) = solid.geometry.bounds();
    (max - min).max_element()
}

fn place_of(solid: &SolidState) -> Place {
    Place::from_parts(solid.pose.position.as_vec3(), solid.pose.rotation.as_quat().normalize())
}

fn body(solid: &SolidState, d: &Discretisation) -> RigidBodyBuilder {
    let builder = match solid.mobility {
        Mobility::Fixed => return RigidBodyBuilder::fixed().pose(place_of(solid)),
        Mobility::Scripted(_) => return RigidBodyBuilder::kinematic_position_based().pose(place_of(solid)),
        Mobility::Free(_) => RigidBodyBuilder::dynamic(),
    };
    let flat = d.dimensions == Dimensions::Two;
    let inertia = if flat {
        // Only the turn about z is free; the others need a number that is not 0.
        Vec3::splat((1.0 / solid.local_inverse_inertia.z_axis.z) as f32)
    } else {
        Vec3::ZERO
    };
    let mass = (1.0 / solid.inverse_mass) as f32;
    let properties = if flat {
        MassProperties::new(Vec3::ZERO, mass, inertia)
    } else {
        let inertia = solid.local_inverse_inertia.inverse();
        MassProperties::with_inertia_matrix(Vec3::ZERO, mass, inertia.as_mat3())
    };
    let locked = if flat {
        LockedAxes::TRANSLATION_LOCKED_Z | LockedAxes::ROTATION_LOCKED_X | LockedAxes::ROTATION_LOCKED_Y
    } else {
        LockedAxes::empty()
    };
    builder
        .pose(place_of(solid))
        .linvel(solid.velocity.as_vec3())
        .angvel(solid.angular_velocity.as_vec3())
        .additional_mass_properties(properties)
        .locked_axes(locked)
        // The fluid's push changes all the time: nothing gets to sleep.
        .can_sleep(false)
}

/// Without mass of its own, and leaving friction and bounce to what it meets.
fn plain(collider: ColliderBuilder) -> ColliderBuilder {
    collider
        .density(0.0)
        .friction(0.0)
        .restitution(0.0)
        .friction_combine_rule(CoefficientCombineRule::Max)
        .restitution_combine_rule(CoefficientCombineRule::Max)
}

/// Depth of bodies in a 2-D world, to both sides of the plane, m.
const HALF_DEPTH: f64 = 0.5;

fn colliders(solid: &SolidState, shape: &Shape, d: &Discretisation) -> Vec<ColliderBuilder> {
    let flat = d.dimensions == Dimensions::Two;
    let dress = |collider: ColliderBuilder| match solid.mobility {
        Mobility::Free(free) => {
            plain(collider).friction(free.friction as f32).restitution(free.restitution as f32)
        }
        _ => plain(collider),
    };
    let own = |p: DVec3| (p - solid.origin).as_vec3();
    match shape {
        Shape::Box { min, max } if !solid.inside => {
            let (min, max) = (DVec3::from(*min), DVec3::from(*max));
            let half = 0.5 * (max - min);
            let deep = if flat { HALF_DEPTH } else { half.z };
            let middle = 0.5 * (min + max);
            let middle = if flat { middle.with_z(0.0) } else { middle };
            let cuboid = SharedShape::cuboid(half.x as f32, half.y as f32, deep as f32);
            vec![dress(ColliderBuilder::new(cuboid).translation(own(middle)))]
        }
        Shape::Sphere { centre, radius } if !solid.inside => {
            let ball = SharedShape::ball(*radius as f32);
            vec![dress(ColliderBuilder::new(ball).translation(own(DVec3::from(*centre))))]
        }
        Shape::Plane { point, normal } if !solid.inside => {
            let half = SharedShape::halfspace(DVec3::from(*normal).as_vec3());
            vec![dress(ColliderBuilder::new(half).translation(own(DVec3::from(*point))))]
        }
        _ => surface(solid, d, own).into_iter().map(dress).collect(),
    }
}

/// A solid as triangles: hollow for those that stay or follow a script; filled with convex parts for free ones.
fn surface(solid: &SolidState, d: &Discretisation, own: impl Fn(DVec3) -> Vec3) -> Vec<ColliderBuilder> {
    let cell = f64::from(d.spacing);
    let (points, triangles) = if d.dimensions == Dimensions::Two {
        extruded(&solid.geometry.outline(cell), own)
    } else {
        let mesh = solid.geometry.triangles(cell);
        (mesh.positions.into_iter().map(own).collect(), mesh.triangles)
    };
    if triangles.is_empty() {
        return Vec::new();
    }
    if !solid.is_free() {
        return SharedShape::trimesh(points, triangles).map(ColliderBuilder::new).into_iter().collect();
    }
    let volume = solid.geometry.mass_properties().volume;
    let depth = if d.dimensions == Dimensions::Two { 2.0 * HALF_DEPTH } else { 1.0 };
    let hull = SharedShape::convex_hull(&points);
    // A hull that holds little more than the solid is the solid; others are cut into parts.
    let shape = match hull {
        Some(hull) if f64::from(hull.mass_properties(1.0).mass()) < 1.03 * volume * depth => hull,
        _ => SharedShape::convex_decomposition(&points, &triangles),
    };
    vec![ColliderBuilder::new(shape)]
}

/// An outline in the plane as a strip across it.
fn extruded(outline: &[[DVec3; 2]], own: impl Fn(DVec3) -> Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for &[a, b] in outline {
        let first = points.len() as u32;
        for (p, z) in [(a, -HALF_DEPTH), (b, -HALF_DEPTH), (b, HALF_DEPTH), (a, HALF_DEPTH)] {
            points.push(own(p.with_z(z)));
        }
        triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
    }
    (points, triangles)
}
