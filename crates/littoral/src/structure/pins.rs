//! Pins: particles of shaped bodies that are held, or moved as the scene says.
//!
//! A pin takes the particles that are in its region when it starts, and keeps each where it stood, in the frame of what
//! it is pinned to: the world, a motion, or a solid. A held particle has the velocity that brings it to its place at the end
//! of the step, and no force or solve changes that: to everyone else its mass is infinite. A free solid feels what it takes
//! to hold them.

use glam::{DVec3, Vec4};

use crate::columns::{ACCELERATION, MASS, NODE, PIN, PIN_PLACE, POSITION, VELOCITY};
use crate::particles::Particles;
use crate::scene::{Dimensions, PinTo, Where};
use crate::solids::{Pose, SolidState, Wrench, script};
use crate::sources;

/// All pins of a world, in the scene's order.
#[derive(Default)]
pub struct Pins {
    pins: Vec<Pin>,
}

struct Pin {
    settings: crate::scene::Pin,
    /// Whether it has taken its particles, and whether it has let go of them.
    is_set: bool,
    is_over: bool,
}

impl Pins {
    pub fn new(pins: &[crate::scene::Pin]) -> Pins {
        let pin =
            |settings: &crate::scene::Pin| Pin { settings: settings.clone(), is_set: false, is_over: false };
        Pins { pins: pins.iter().map(pin).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.pins.is_empty()
    }

    /// The solid that a pin holds its particles to, by the pin's number and 1.
    pub(crate) fn holder(&self, number: u32) -> Option<usize> {
        self.pins.get((number as usize).checked_sub(1)?)?.settings.solid()
    }

    /// After a checkpoint was read: pins whose time has come have their particles already.
    pub(crate) fn resume(&mut self, time: f64) {
        for pin in &mut self.pins {
            pin.is_set = pin.settings.from < time;
            pin.is_over = pin.settings.until < time;
        }
    }

    /// The solid that a pin holds its particles to, by the pin's number in `PIN`.
    pub(crate) fn solid_of(&self, number: u32) -> Option<usize> {
        self.pins[number as usize - 1].settings.solid()
    }

    /// Takes and lets go of particles, as the time has come.
    pub(crate) fn set(&mut self, time: f64, solids: &[SolidState], d: Dimensions, particles: &mut Particles) {
        for (k, pin) in self.pins.iter_mut().enumerate() {
            let number = k as u32 + 1;
            if !pin.is_set && pin.settings.from <= time {
                pin.is_set = true;
                let frame = pin.settings.frame(solids, pin.settings.from);
                let taken = pin.settings.finds(d, particles);
                for row in taken {
                    let place = frame.undo(particles.get(&POSITION)[row].truncate().as_dvec3());
                    particles.get_mut(&PIN)[row] = number;
                    particles.get_mut(&PIN_PLACE)[row] = place.as_vec3().extend(0.0);
                }
            }
            if pin.is_set && !pin.is_over && pin.settings.until <= time {
                pin.is_over = true;
                particles.get_mut(&PIN).iter_mut().filter(|held| **held == number).for_each(|held| *held = 0);
            }
        }
    }

    /// Gives held particles the velocities that bring them to their places within the step from `time` to `time + dt`.
    pub(crate) fn aim(&self, time: f64, dt: f64, solids: &[SolidState], particles: &mut Particles) {
        let frames: Vec<Pose> =
            self.pins.iter().map(|pin| pin.settings.frame_after(solids, time, dt)).collect();
        particles.update(&VELOCITY, |velocity, particles| {
            let rows = particles.get(&PIN).iter().zip(particles.get(&PIN_PLACE));
            let rows = velocity.iter_mut().zip(particles.get(&POSITION)).zip(rows);
            for ((velocity, position), (&pin, place)) in rows {
                if pin > 0 {
                    let goal = frames[pin as usize - 1].apply(place.truncate().as_dvec3());
                    let way = goal - position.truncate().as_dvec3();
                    *velocity = (way / dt).as_vec3().extend(0.0);
                }
            }
        });
    }

    /// Takes the forces on held particles, and gives them to free solids that hold them.
    pub(crate) fn hold(&self, solids: &mut [SolidState], particles: &mut Particles) {
        let holder: Vec<Option<usize>> = self.pins.iter().map(|pin| pin.settings.solid()).collect();
        particles.update(&ACCELERATION, |acceleration, particles| {
            let rows = particles.get(&PIN).iter().zip(particles.get(&MASS)).zip(particles.get(&POSITION));
            for (acceleration, ((&pin, &mass), position)) in acceleration.iter_mut().zip(rows) {
                if pin == 0 {
                    continue;
                }
                if let Some(solid) = holder[pin as usize - 1].map(|k| &mut solids[k]).filter(|s| s.is_free())
                {
                    let force = acceleration.truncate().as_dvec3() * f64::from(mass);
                    let arm = position.truncate().as_dvec3() - solid.pose.position;
                    solid.wrench += Wrench { force, torque: arm.cross(force) };
                }
                *acceleration = Vec4::ZERO;
            }
        });
    }
}

impl crate::scene::Pin {
    fn solid(&self) -> Option<usize> {
        if let PinTo::Solid(k) = self.to { Some(k) } else { None }
    }

    /// The frame it holds its particles in, at a time.
    fn frame(&self, solids: &[SolidState], time: f64) -> Pose {
        match &self.to {
            PinTo::World => Pose { position: DVec3::ZERO, rotation: glam::DQuat::IDENTITY },
            PinTo::Motion(motion) => script::pose(motion, DVec3::ZERO, time),
            PinTo::Solid(k) => solids[*k].pose,
        }
    }

    /// The same at the end of a step; solids know how they move.
    fn frame_after(&self, solids: &[SolidState], time: f64, dt: f64) -> Pose {
        match &self.to {
            PinTo::Solid(k) => solids[*k].pose_after(dt),
            _ => self.frame(solids, time + dt),
        }
    }

    /// Rows of the particles it takes.
    fn finds(&self, d: Dimensions, particles: &Particles) -> Vec<usize> {
        let bodies = particles.get(&crate::columns::BODY);
        let nodes = particles.get(&NODE);
        let is_for =
            |row: &usize| nodes[*row] > 0 && self.on.as_ref().is_none_or(|on| on.contains(&bodies[*row]));
        let position = particles.get(&POSITION);
        let all = (0..position.len()).filter(is_for);
        match &self.at {
            Where::Region(shape) => all.filter(|&row| sources::contains(shape, position[row], d)).collect(),
            Where::Nearest(points) => {
                let all: Vec<usize> = all.collect();
                let nearest = |point: &[f64; 3]| {
                    let distance = |row: &usize| {
                        position[*row].truncate().as_dvec3().distance_squared(DVec3::from(*point))
                    };
                    // Of two that are as near, the one with the lower number: rows may stand in any order.
                    all.iter()
                        .copied()
                        .min_by(|a, b| distance(a).total_cmp(&distance(b)).then(nodes[*a].cmp(&nodes[*b])))
                };
                points.iter().filter_map(nearest).collect()
            }
        }
    }
}
